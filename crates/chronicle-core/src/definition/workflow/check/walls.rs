//! The walls around workers and commands, as a workflow or a phase says them; and those that follow from a phase's tools.

use super::super::draft::Named;
use super::super::model::{PhaseKind, Workflow};
use super::super::problem::{Finding, quoted};
use super::super::suggest::closest;
use super::fields::Fields;
use crate::definition::walls::{
    OPENABLE, PROCESSES_MAX, WallFiles, WallNetwork, Walls, unfit_to_hide, unfit_to_open,
};

const FILES: &[(&str, WallFiles)] = &[("read", WallFiles::Read), ("write", WallFiles::Write)];
/// Some writers of YAML make a flag of `on` and `off`.
const NETWORKS: &[(&str, WallNetwork)] = &[
    ("on", WallNetwork::On),
    ("off", WallNetwork::Off),
    ("true", WallNetwork::On),
    ("false", WallNetwork::Off),
];

/// What a workflow or a phase says of its walls.
pub(crate) fn read(fields: &mut Fields<'_, '_>) -> Walls {
    let said = fields.within("walls", |fields| Walls {
        files: fields.choice("files", FILES),
        paths: fit(fields, "paths", |path| unfit_to_open(path).map(|why| (why, None))),
        hide: fit(fields, "hide", |path| unfit_to_hide(path).map(|why| (why, None))),
        open: fit(fields, "open", unknown_name),
        network: fields.choice("network", NETWORKS),
        processes: processes(fields),
        require: fields.flag("require").unwrap_or_default(),
        own_sandbox: fields.flag("own_sandbox"),
    });
    said.unwrap_or_default()
}

/// What is wrong with an entry, and what was probably meant.
type Unfit = (String, Option<&'static str>);

/// The entries of a list without those that are told.
fn fit(
    fields: &mut Fields<'_, '_>,
    name: &'static str,
    judge: impl Fn(&str) -> Option<Unfit>,
) -> Vec<String> {
    let said = fields.named_list(name).unwrap_or_default();
    let mut is_fit = |entry: &Named| {
        let Some((why, meant)) = judge(&entry.text) else { return true };
        fields.problems.push(Finding::error("bad-wall", entry.at, why).did_you_mean(meant));
        false
    };
    said.into_iter().filter(|entry| is_fit(entry)).map(|entry| entry.text).collect()
}

fn unknown_name(name: &str) -> Option<Unfit> {
    if OPENABLE.contains(&name) {
        return None;
    }
    let known: Vec<String> = OPENABLE.iter().map(|name| quoted(name)).collect();
    let (name_said, known) = (quoted(name), known.join(", "));
    let message = format!("nothing is hidden by the name {name_said}; known are {known}");
    Some((message, closest(name, OPENABLE.iter().copied())))
}

fn processes(fields: &mut Fields<'_, '_>) -> Option<u64> {
    let count = fields.positive("processes")?;
    let at = fields.take("processes")?.value.span;
    if count > PROCESSES_MAX {
        let message = format!("`processes` is at most {PROCESSES_MAX}, not {count}");
        let finding = Finding::error("bad-wall", at, message);
        fields.problems.push(finding.hint("leave it out for no limit"));
        return None;
    }
    Some(count)
}

/// Makes the project read-only for workers whose tools neither write nor run anything, where nobody said otherwise. What such a worker
/// starts all the same, a server or a hook, then cannot write either. Commands that verify or clean up are not held by it.
pub(crate) fn follow_tools(workflow: &mut Workflow) {
    if workflow.walls.files.is_some() {
        return;
    }
    for phase in &mut workflow.phases {
        let is_worker = matches!(
            phase.run,
            PhaseKind::Worker | PhaseKind::Inline | PhaseKind::Pool | PhaseKind::Race
        );
        let only_reads = is_worker && phase.tools.changes_nothing();
        if only_reads && phase.walls.files.is_none() {
            phase.walls.files = Some(WallFiles::Read);
        }
    }
}
