//! The checks: a parsed file becomes a workflow, and everything wrong with it becomes a problem.
//!
//! All checks run, whatever failed before, so that a person sees everything at once. Nothing in a file is dropped silently: a
//! field is read, or it is a problem.

mod edges;
mod env;
mod fallback;
mod fields;
mod misplaced;
mod notes;
mod phase;
mod places;
mod pools;
mod reach;
mod shared;
mod steps;
mod tools;
mod unsupported;
pub(crate) mod values;
mod walls;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use self::edges::connect;
use self::fields::Fields;
pub(crate) use self::fields::described;
pub use self::notes::unbounded;
use self::phase::PhaseRead;
pub(crate) use self::phase::unfit_id;
pub(crate) use self::places::Places;
pub(crate) use self::tools::{List, doubt, whole_tool};
pub use self::unsupported::{Unsupported, unsupported};
pub(crate) use self::values::{DURATION_PATTERN, decimal, duration_ms};
use super::draft::{Draft, Named, PhaseEntry, Phases, Span};
use super::format::WORKFLOW;
use super::model::{Guards, Show, Workflow};
use super::problem::{Finding, Problems, quoted};
use super::suggest::closest;
use super::unit::Format;
use crate::base::ids::PhaseId;
use crate::base::limits::Limits;

/// Most phases of one workflow, including those that are only named in a `next`.
const PHASES_MAX: usize = 500;

const SHOWS: &[(&str, Show)] = &[("user", Show::User), ("workflows", Show::Workflows)];
/// Texts for the host's session, kept under their names in the phased format.
const TEMPLATES: [&str; 8] = [
    "initialMessage",
    "roleInstruction",
    "advanceReminder",
    "blockReasonTemplate",
    "completionMessage",
    "notDoneReminder",
    "sessionNamePrefix",
    "sessionNameMaxLength",
];

/// The result of checking a draft.
pub(crate) struct Checked {
    /// `None` if there is no phase to begin with.
    pub workflow: Option<Workflow>,
    /// The workflows that it runs, with the positions of their names.
    pub calls: Vec<Named>,
    /// Positions of its fields.
    pub places: Option<Places>,
}

/// What a draft is checked against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Upon<'u> {
    /// The key of the workflow.
    pub key: &'u str,
    /// Applies where neither the workflow nor a phase sets a limit.
    pub limits: &'u Limits,
    /// Native files are checked more strictly than files written for other programs.
    pub format: Format,
}

/// Checks a draft and reports everything that is wrong with it.
pub(crate) fn check(draft: &Draft, upon: Upon<'_>, problems: &mut Problems) -> Checked {
    let mut fields = Fields::new(&WORKFLOW, &draft.fields, problems);
    // First: the phases inherit them.
    let limits = shared::limits(&mut fields, upon.limits);
    let initial = fields.named("initial");
    refuse_second_phases(&mut fields);
    let head = read_head(&mut fields, upon, limits.clone());
    fields.finish();

    let upon = Upon { limits: &limits, ..upon };
    let (shape, reads) = read_phases(draft, upon, problems);
    let calls = reads.iter().filter_map(|read| read.call.clone()).collect();
    let origins: BTreeMap<String, Span> =
        reads.iter().map(|read| (read.phase.id.as_str().to_owned(), read.at)).collect();
    if upon.format == Format::Native && !head.verify.is_empty() {
        edges::tell_unverified_ends(&reads, problems);
    }
    let phases = connect(reads, shape, upon, problems);
    // Without a phase there is nothing that the later checks could judge.
    let Some(first) = phases.first().map(|phase| phase.id.clone()) else {
        return Checked { workflow: None, calls, places: None };
    };
    let mut workflow = Workflow { initial: first, phases, ..head };
    if let Some(initial) = initial {
        begin_at(&mut workflow, &initial, problems);
    }
    if upon.format == Format::Native {
        walls::follow_tools(&mut workflow);
    }
    reach::judge(&workflow, &origins, problems);
    fallback::judge(&workflow, draft, problems);
    pools::judge(&workflow, draft, problems);
    // Only our own format is strict about words in braces; files of other programs may use braces for something else.
    if upon.format == Format::Native {
        words::judge(&workflow, draft, problems);
    }
    refuse_unsupported(&workflow, draft, problems);
    let places = Some(Places::of(draft, &workflow));
    Checked { workflow: Some(workflow), calls, places }
}

/// Reads everything but the phases.
fn read_head(fields: &mut Fields<'_, '_>, upon: Upon<'_>, limits: Limits) -> Workflow {
    let key = upon.key;
    check_key(fields, key);
    let templates = TEMPLATES
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), fields.text_or_blank(name)?)))
        .collect();
    let (env, env_names) = env::read(fields);
    let guards = fields
        .within("guards", |fields| Guards { rules: fields.texts("rules").unwrap_or_default() });
    Workflow {
        key: key.to_owned(),
        name: phase::read_name(fields).unwrap_or_else(|| key.to_owned()),
        description: fields.text_or_blank("description"),
        command_name: fields.text("commandName"),
        show: fields.forgiving(upon, |fields| fields.choice("show", SHOWS)).unwrap_or_default(),
        initial: PhaseId::new(""),
        phases: Vec::new(),
        agent: fields.text("agent"),
        model: fields.text("model"),
        budget: shared::budget(fields),
        limits,
        guards,
        verify: fields.texts("verify").unwrap_or_default(),
        cleanup: fields.texts("cleanup").unwrap_or_default(),
        env,
        env_names,
        walls: walls::read(fields),
        loopable: fields.forgiving(upon, |fields| fields.flag("loopable")).unwrap_or(false),
        templates,
    }
}

fn check_key(fields: &mut Fields<'_, '_>, key: &str) {
    // Taken only so that it is not unknown: editors want it in the file, and it says nothing to us.
    fields.text_or_blank("$schema");
    let Some(said) = fields.named("key").filter(|said| said.text != key) else { return };
    let message =
        format!("the key is {}, as the file is named, not {}", quoted(key), quoted(&said.text));
    fields.problems.push(Finding::warning("key-differs", said.at, message));
}

/// The parser takes the first of `phases` and `states`; a second one must not be ignored.
fn refuse_second_phases(fields: &mut Fields<'_, '_>) {
    // The draft has taken the first ones out of the fields, so whatever is still there under one of their names is said twice.
    if let Some(second) = fields.take("phases") {
        let message = format!("phases are said twice, the second time as {}", quoted(&second.name));
        fields.problems.push(Finding::error("conflicting-fields", second.at, message));
    }
}

/// Where a phase leads if it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PhasesForm {
    /// To the next phase of the list.
    List,
    /// To the end of the workflow.
    Map,
}

fn read_phases(
    draft: &Draft,
    upon: Upon<'_>,
    problems: &mut Problems,
) -> (PhasesForm, Vec<PhaseRead>) {
    let (shape, entries) = match &draft.phases {
        Phases::List(entries) => (PhasesForm::List, entries.as_slice()),
        Phases::Map(entries) => (PhasesForm::Map, entries.as_slice()),
        Phases::Missing => (PhasesForm::List, [].as_slice()),
        Phases::Other(node) => {
            let message = "`phases` must be a list or a map";
            problems.push(Finding::error("wrong-type", node.span, message));
            return (PhasesForm::List, Vec::new());
        }
    };
    if entries.is_empty() {
        let finding = Finding::error("no-phases", draft.span, "a workflow without phases");
        problems.push(finding.hint("add `phases:` with at least one phase"));
    }
    let mut reads: Vec<PhaseRead> = Vec::new();
    let mut ids = BTreeSet::new();
    for entry in entries {
        let Some(read) = read_entry(entry, upon, problems) else { continue };
        if reads.len() >= PHASES_MAX {
            let message = format!("more than {PHASES_MAX} phases");
            problems.push(Finding::error("too-many-phases", read.at, message));
            // One problem for all that follow: a file with thousands of phases would otherwise fill the list.
            break;
        }
        // The first one is kept, so that edges to it are judged as its author meant, and only the second one is told.
        if ids.insert(read.phase.id.clone()) {
            reads.push(read);
        } else {
            let message = format!("another phase is called {}", quoted(read.phase.id.as_str()));
            problems.push(Finding::error("duplicate-id", read.at, message));
        }
    }
    (shape, reads)
}

fn read_entry(entry: &PhaseEntry, upon: Upon<'_>, problems: &mut Problems) -> Option<PhaseRead> {
    let finding = match entry {
        PhaseEntry::Phase(draft) => return phase::read(draft, upon, problems),
        PhaseEntry::Told => return None,
        // Files were read before; here only where there are none to read from.
        PhaseEntry::File { file, .. } => {
            let message = format!("there is no phase file {} here", quoted(&file.text));
            Finding::error("phase-file", file.at, message)
                .hint("write the phase inline: `id:`, `instructions:`")
        }
        PhaseEntry::Other(node) => Finding::error(
            "wrong-type",
            node.span,
            format!("a phase must be a map of fields, not {}", fields::described(node)),
        ),
    };
    problems.push(finding);
    None
}

fn begin_at(workflow: &mut Workflow, initial: &Named, problems: &mut Problems) {
    let id = PhaseId::new(initial.text.clone());
    // A phase that exists only because an edge names it cannot be where the work begins.
    let known = workflow.phase(&id).is_some_and(|phase| !phase.implicit);
    if known {
        workflow.initial = id;
        return;
    }
    let ids = workflow.phases.iter().map(|phase| phase.id.as_str());
    let message = format!("no phase is called {}, where it is to begin", quoted(&initial.text));
    let finding = Finding::error("unknown-initial", initial.at, message);
    problems.push(finding.did_you_mean(closest(&initial.text, ids)));
}

/// Code of problems about fields that this version cannot enforce.
pub const NOT_SUPPORTED_YET: &str = "not-supported-yet";

fn refuse_unsupported(workflow: &Workflow, draft: &Draft, problems: &mut Problems) {
    for found in unsupported(workflow) {
        let span = draft.locate(found.phase.as_ref().map(PhaseId::as_str), found.field);
        let message =
            format!("this version cannot enforce `{}`, and will not ignore it", found.said);
        let hint = "take it out, or accept that with `--accept-unenforced`";
        problems.push(Finding::error(NOT_SUPPORTED_YET, span, message).hint(hint));
    }
}
