//! The answer to `workflow_status`: everything that a worker needs after its context was compacted.

use std::fmt::Write as _;

use super::parts::before;
use super::{artifact_at, instructions, told_to};
use crate::base::ids::FramePath;
use crate::base::limits::{HANDOVER_MAX, HANDOVER_SUMMARIES_MAX, bounded};
use crate::base::quote::list;
use crate::definition::workflow::allowed_targets;
use crate::state::{Attempt, State};
use crate::words;

use super::template::Stand;

/// Longest task or instructions in it, in bytes.
const PART_MAX: usize = 16_000;
/// Number of transitions from which on an edge is marked.
const OFTEN: u32 = 3;

/// The answer, as Markdown-like text for the worker.
pub(crate) fn for_worker(state: &State, attempt: &Attempt) -> String {
    let place = &attempt.intent.place;
    let targets = state.phase_at(place).map(allowed_targets).unwrap_or_default();
    let targets: Vec<String> = targets.iter().map(|target| format!("`{target}`")).collect();
    let crumbs: Vec<String> =
        words::breadcrumbs_to(state, place).into_iter().map(|crumb| crumb.text).collect();
    let way = match &attempt.intent.persona {
        Some(persona) => format!(
            "You help as `{persona}`: when you are done, call `signal_back` with `complete`."
        ),
        None => format!("You may go to: {}.", list(&targets, ", ")),
    };
    let text = format!(
        "{}\nYou are {} at `{place}`, try {}. Started: {}.\n{}\n{way}\n{}Carried on: {}.\nSpent so far: {}.\n{}{}{}",
        words::status_line(state),
        attempt.intent.attempt,
        attempt.intent.try_number,
        state.started_at,
        crumbs.join("\n"),
        roles(state, attempt),
        words::carried(&state.snapshot_at(&place.frame())),
        words::spent(&state.usage),
        transitions(state, &place.frame()),
        plan(state, attempt) + &work(state, attempt),
        rest_of(state, attempt),
    );
    text.trim_end().to_owned()
}

/// The plan that it may change, as it is now.
fn plan(state: &State, attempt: &Attempt) -> String {
    let plan = state.replans(attempt).map(|(place, pool)| words::plan_told(place, pool));
    plan.map_or_else(String::new, |plan| format!("{}\n", bounded(&plan, PART_MAX)))
}

/// The personas of the run, and the profiles that the phase has for sub-agents.
fn roles(state: &State, attempt: &Attempt) -> String {
    let code = |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
    let personas = state.run.iter().flat_map(|run| &run.personas).map(|it| it.name.as_str());
    let phase = state.phase_at(&attempt.intent.place);
    let profiles = phase.and_then(|phase| phase.available_profiles.as_deref()).unwrap_or_default();
    let lists = [
        ("Personas", code(personas.collect())),
        ("Profiles for your own sub-agents", code(profiles.iter().map(String::as_str).collect())),
    ];
    lists.iter().filter(|(_, names)| !names.is_empty()).fold(
        String::new(),
        |mut text, (title, names)| {
            let _ = writeln!(text, "{title}: {}.", list(names, ", "));
            text
        },
    )
}

/// How often each edge was taken; frequent ones are marked.
fn transitions(state: &State, reader: &FramePath) -> String {
    let frames = state.frames.values().filter(|frame| state.may_know(reader, &frame.place()));
    let edges = frames.flat_map(|frame| frame.edges.iter().map(move |edge| (frame, edge)));
    let told: Vec<String> = edges
        .map(|(frame, edge)| {
            let mark = if edge.taken >= OFTEN { " (!)" } else { "" };
            format!("`{}` → `{}` {}×{mark}", frame.path.place(&edge.from), edge.to, edge.taken)
        })
        .collect();
    if told.is_empty() { String::new() } else { format!("Transitions: {}.\n", list(&told, ", ")) }
}

/// The task, the instructions, and what was done before.
fn work(state: &State, attempt: &Attempt) -> String {
    let mut text = String::new();
    let mut part = |title: &str, body: &str| {
        if !body.trim().is_empty() {
            let _ = write!(text, "\n## {title}\n\n{}\n", bounded(body.trim(), PART_MAX));
        }
    };
    part("Task", state.run.as_ref().map_or("", |run| run.task.as_str()));
    let place = &attempt.intent.place;
    if let (Some(phase), Some(stand)) = (state.phase_at(place), Stand::of(state, attempt)) {
        part("Instructions", &instructions(state, attempt, phase, stand));
    }
    // Nothing is told at the top of this answer, so no summary may be left out.
    let history = before(state, &place.frame(), None).into_iter().take(HANDOVER_SUMMARIES_MAX);
    let history: Vec<String> = history.map(|entry| format!("- {entry}")).collect();
    part("What happened before, newest first", &history.join("\n"));
    text
}

/// The part of its handover that did not fit: the file and, for workers that cannot read files, its content.
fn rest_of(state: &State, attempt: &Attempt) -> String {
    let handed = attempt.intent.handover.as_ref();
    let rest = state.run.as_ref().zip(handed.and_then(|handed| handed.rest.as_ref()));
    rest.map_or_else(String::new, |(run, sum)| {
        let path = artifact_at(&run.run, sum);
        // Worked out again: the core has no files. It is the same text as long as the state still has what it was made from.
        let whole = told_to(state, attempt).rest.unwrap_or_default();
        let whole = bounded(whole.trim(), HANDOVER_MAX);
        format!("\nWhat did not fit into your handover is in the file `{path}`:\n\n{whole}")
    })
}
