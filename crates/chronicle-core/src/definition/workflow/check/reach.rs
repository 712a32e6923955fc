//! Reachability: phases that no edge leads to, and phases from which no end can be reached.

use std::collections::{BTreeMap, BTreeSet};

use super::super::draft::Span;
use super::super::model::{Phase, Workflow};
use super::super::pool::Judge;
use super::super::problem::{Finding, Problems, quoted};
use crate::base::ids::{DONE, HUMAN_INTERVENTION, PhaseId};

/// Most phases that one problem names.
const NAMED_MAX: usize = 5;

/// Reports phases that a run never enters, and those that it never gets out of.
pub(crate) fn judge(workflow: &Workflow, places: &BTreeMap<String, Span>, problems: &mut Problems) {
    let reached = reached(workflow);
    let ending = ending(workflow);
    let mut stuck: Vec<&str> = Vec::new();
    for phase in &workflow.phases {
        // An implicit phase has no place of its own: the phase that names it is told instead.
        let id = phase.id.as_str();
        let Some(at) = places.get(id) else { continue };
        if !reached.contains(&phase.id) {
            let message = format!("no edge leads to {}", quoted(id));
            problems.push(Finding::warning("unreachable-phase", *at, message));
        } else if !ending.contains(&phase.id) {
            stuck.push(id);
        }
    }
    tell_stuck(&stuck, places, problems);
}

/// Phases of one cycle have one cause: they are reported as one problem.
fn tell_stuck(stuck: &[&str], places: &BTreeMap<String, Span>, problems: &mut Problems) {
    // Told once, at the first of them: mostly all of them turn in the same circle.
    let Some(at) = stuck.first().and_then(|id| places.get(*id)) else { return };
    let names: Vec<String> = stuck.iter().take(NAMED_MAX).map(|id| quoted(id)).collect();
    let more = match stuck.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("from {}{more} no way leads to an end", names.join(", "));
    let finding = Finding::warning("no-way-out", *at, message);
    problems.push(finding.hint("add `done` to a `next` on the way"));
}

fn reached(workflow: &Workflow) -> BTreeSet<&PhaseId> {
    let by_id: BTreeMap<&PhaseId, &Phase> =
        workflow.phases.iter().map(|phase| (&phase.id, phase)).collect();
    let mut reached = BTreeSet::from([&workflow.initial]);
    // A list instead of recursion: a workflow may have hundreds of phases in a row.
    let mut waiting = vec![&workflow.initial];
    while let Some(id) = waiting.pop() {
        let Some(phase) = by_id.get(id) else { continue };
        waiting.extend(targets(phase).filter(|target| reached.insert(target)));
    }
    reached
}

/// Phases from which an end can be reached, found backwards from the ends. A phase in which a person decides can always end.
fn ending(workflow: &Workflow) -> BTreeSet<&PhaseId> {
    let mut before: BTreeMap<&PhaseId, Vec<&PhaseId>> = BTreeMap::new();
    let mut ending = BTreeSet::new();
    let mut waiting = Vec::new();
    for phase in &workflow.phases {
        // A person is an end too: whoever is asked can lead the run anywhere.
        let is_end = phase.next.is_empty() || targets(phase).chain([&phase.id]).any(is_end);
        if is_end && ending.insert(&phase.id) {
            waiting.push(&phase.id);
        }
        for target in targets(phase) {
            before.entry(target).or_default().push(&phase.id);
        }
    }
    while let Some(id) = waiting.pop() {
        let earlier = before.get(id).into_iter().flatten().copied();
        waiting.extend(earlier.filter(|phase| ending.insert(phase)));
    }
    ending
}

fn targets(phase: &Phase) -> impl Iterator<Item = &PhaseId> {
    let judge = phase.judge.as_ref().and_then(|judge| match judge {
        Judge::Phase(judge) => Some(judge),
        Judge::Commands(_) | Judge::Person => None,
    });
    phase.next.iter().chain(phase.on.values()).chain(judge)
}

fn is_end(id: &PhaseId) -> bool {
    [DONE, HUMAN_INTERVENTION].contains(&id.as_str())
}
