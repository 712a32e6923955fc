//! Pools and races inside of steps, which cannot run: the work of a step is merged as a whole, and nobody would know whose it is.

use std::collections::BTreeSet;

use super::load::{FieldAt, Loaded};
use super::model::{Phase, PhaseKind, Workflow};
use super::problem::{Finding, Problems, quoted};
use crate::base::ids::Outcome;

/// Reports every workflow that steps walk and that leads to a pool or a race, where it is named.
pub(super) fn tell_nested(loaded: &Loaded, problems: &mut Problems) {
    for workflow in &loaded.workflows {
        for phase in workflow.phases.iter().filter(|phase| is_pool(phase)) {
            let steps = phase.workflow.as_deref().map(|key| ("workflow", "for each step", key));
            let resolver = phase.on.get(&Outcome::from("conflict"));
            let resolver = resolver.and_then(|target| workflow.phase(target)?.workflow.as_deref());
            let resolver = resolver.map(|key| ("on", "for conflicts", key));
            for (field, why, key) in steps.into_iter().chain(resolver) {
                let Some((inner, found)) = first_pool(&loaded.workflows, key) else { continue };
                let at = FieldAt { workflow: &workflow.key, phase: Some(&phase.id), field };
                let kind = if found.run == PhaseKind::Race { "race" } else { "pool" };
                let message = format!(
                    "{} runs {} {why}, and phase {} of {} is a {kind}: no pool or race can be inside of a step",
                    quoted(phase.id.as_str()),
                    quoted(key),
                    quoted(found.id.as_str()),
                    quoted(&inner.key),
                );
                let finding = Finding::error("nested-pool", loaded.span(&at), message);
                let hint = if field == "on" {
                    "name a worker phase, or leave it out: then a person is asked"
                } else if kind == "race" {
                    "have one worker do it in the step, or run the race in a phase of its own"
                } else {
                    "put its steps into the outer pool, with `depends_on`"
                };
                problems.push(finding.hint(hint));
            }
        }
    }
}

fn is_pool(phase: &Phase) -> bool {
    matches!(phase.run, PhaseKind::Pool | PhaseKind::Race)
}

/// The first pool or race that a workflow has, or one that it runs. Each is looked at once, so that cycles end.
fn first_pool<'w>(all: &'w [Workflow], key: &'w str) -> Option<(&'w Workflow, &'w Phase)> {
    let (mut seen, mut waiting) = (BTreeSet::from([key]), vec![key]);
    while let Some(key) = waiting.pop() {
        let Some(workflow) = all.iter().find(|it| it.key == key) else { continue };
        if let Some(found) = workflow.phases.iter().find(|phase| is_pool(phase)) {
            return Some((workflow, found));
        }
        let inner = workflow.phases.iter().filter_map(|phase| phase.workflow.as_deref());
        waiting.extend(inner.filter(|key| seen.insert(key)));
    }
    None
}
