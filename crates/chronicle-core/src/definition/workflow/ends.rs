//! A state named `done` in files of other programs: there it may do work, here `done` is the end.
//!
//! Such a state is renamed. In a map of states, edges to `done` lead to it, and it leads to the end. In a list it is a phase like
//! any other.

use std::collections::BTreeSet;

use super::draft::{Draft, Field, Node, PhaseDraft, PhaseEntry, Phases, Value};
use super::from_phased::free;
use super::problem::{Finding, Problems, Severity};
use crate::base::ids::{DONE, HUMAN_INTERVENTION};

/// The new name, unless it is taken.
const INSTEAD: &str = "finish";
/// Fields that make it a state that does work.
const WORKS: [&str; 5] = ["persona", "instructions", "commands", "workflow", "subworkflow"];

/// Fields that would ask a person, or test something, if the state did work.
const HOLDS: [&str; 5] = ["requires_approval", "approval", "verify", "requires", "cleanup"];

/// Refuses what an end cannot keep: nothing works there, so nothing would ask or be tested.
fn check(phase: &PhaseDraft, problems: &mut Problems) {
    let is_said = |field: &&Field| match &field.value.value {
        Value::Null => false,
        Value::Scalar(text) => !["false", "none", ""].contains(&text.trim()),
        Value::List(items) => !items.is_empty(),
        Value::Map(_) => true,
    };
    let held = phase.fields.iter().filter(|field| HOLDS.contains(&field.name.as_str()));
    for field in held.filter(is_said) {
        let id = phase.id().unwrap_or_default();
        let message = format!("`{}` has no effect: no work is done at `{id}`", field.name);
        let finding = Finding::error("misplaced-field", field.at, message);
        problems.push(finding.hint("write it at the state before, or add `agent`"));
    }
}

/// Renames a state named `done` that does work.
pub(super) fn mend(draft: &mut Draft, problems: &mut Problems) {
    for phase in draft.entries_mut().iter().filter_map(phase_of) {
        let is_end = [DONE, HUMAN_INTERVENTION].into_iter().any(|id| phase.id() == Some(id));
        if is_end && !WORKS.into_iter().any(|name| phase.says(name)) {
            check(phase, problems);
        }
    }
    let works = |phase: &PhaseDraft| {
        phase.id() == Some(DONE) && WORKS.into_iter().any(|name| phase.says(name))
    };
    let phases = draft.entries_mut().iter().filter_map(phase_of);
    let taken: BTreeSet<String> = phases.filter_map(|it| it.id().map(str::to_owned)).collect();
    // The new name may be one that the file uses already.
    let id = free(INSTEAD, &taken);
    let mut found = None;
    for phase in draft.entries_mut().iter_mut().filter_map(phase_of_mut) {
        if works(phase) {
            found = Some(phase.key.as_ref().map_or(phase.span, |key| key.at));
            rename(phase, &id);
        }
    }
    let Some(at) = found else { return };
    let message = format!("`{DONE}` is the word for the end: this one is called `{id}` here");
    problems.push(Finding::new(Severity::Note, "done-works", at, message));
    // In a list it is a phase like any other: the order leads to it, and on from it.
    if !matches!(draft.phases, Phases::Map(_)) {
        return;
    }
    for phase in draft.entries_mut().iter_mut().filter_map(phase_of_mut) {
        if phase.id() == Some(id.as_str()) {
            // Whatever it says of what comes after it, nothing does.
            phase.fields.retain(|field| field.name != "next");
        } else {
            phase.fields.iter_mut().for_each(|field| lead(field, &id));
        }
    }
    // Fields of the workflow too: `initial` may name it.
    draft.fields.iter_mut().for_each(|field| lead(field, &id));
}

fn rename(phase: &mut PhaseDraft, id: &str) {
    let span = phase.span;
    if let Some(key) = &mut phase.key {
        id.clone_into(&mut key.text);
    } else {
        phase.fields.retain(|field| field.name != "id");
        phase.fields.push(Field::said("id", id, span));
    }
    // People find it under the name that they gave it, in `status` as well as in its old runs.
    if !phase.says("name") {
        phase.fields.push(Field::said("name", DONE, span));
    }
}

/// Redirects an edge, or the start, to the renamed state.
fn lead(field: &mut Field, id: &str) {
    match (field.name.as_str(), &mut field.value.value) {
        ("next", Value::List(items)) => items.iter_mut().for_each(|item| point(item, id)),
        ("next" | "initial", Value::Scalar(_)) => point(&mut field.value, id),
        ("on", Value::Map(ways)) => ways.iter_mut().for_each(|way| point(&mut way.value, id)),
        _ => {}
    }
}

fn point(node: &mut Node, id: &str) {
    if node.text() == Some(DONE) {
        node.value = Value::Scalar(id.to_owned());
    }
}

fn phase_of(entry: &PhaseEntry) -> Option<&PhaseDraft> {
    match entry {
        PhaseEntry::Phase(phase) => Some(phase),
        PhaseEntry::File { .. } | PhaseEntry::Other(_) | PhaseEntry::Told => None,
    }
}

fn phase_of_mut(entry: &mut PhaseEntry) -> Option<&mut PhaseDraft> {
    match entry {
        PhaseEntry::Phase(phase) => Some(phase),
        PhaseEntry::File { .. } | PhaseEntry::Other(_) | PhaseEntry::Told => None,
    }
}
