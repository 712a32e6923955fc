//! What a handover carries beside task and phase: the snapshot, what people said, help that was asked for and got.

use std::fmt::Write as _;

use crate::event::{GateAnswer, Why};
use crate::limits::{HANDOVER_SUMMARIES_MAX, TEXT_MAX, bounded};
use crate::state::{Attempt, Frame, Note, State};

/// Most bytes of the snapshot that a handover tells; the rest is cut and said so.
const SNAPSHOT_TOLD_MAX: usize = 16_000;

/// Most bytes of each part of the opening: together they leave room for the way out, which a handover never cuts.
const PART_MAX: usize = 6_000;
/// The same for what is asked of a helper: two texts.
const HELP_MAX: usize = 12_000;

/// What stands before the task, each part with its title: why, what people said to this worker, what others want of it.
pub(crate) fn opening(
    state: &State,
    attempt: &Attempt,
    why: impl Fn(&Why) -> String,
) -> [(&'static str, String); 5] {
    let part = |text: String| bounded(&text, PART_MAX);
    [
        ("Why you are here", part(reasons(state, attempt, why))),
        ("Your help is asked for", bounded(&help(state, attempt), HELP_MAX)),
        ("Answers to your questions", part(answers(state, attempt))),
        ("Notes from people", part(notes(state, attempt))),
        ("What the phase before asks of you", part(task(state, attempt))),
    ]
}

/// Why this attempt exists, and what came to its try since it began: what a person asked for outlives a crash.
fn reasons(state: &State, attempt: &Attempt, why: impl Fn(&Why) -> String) -> String {
    let own = [attempt.intent.why.clone()];
    let known = frame(state, attempt).map(|frame| frame.reasons.as_slice());
    let reasons = known.filter(|reasons| !reasons.is_empty()).unwrap_or(&own);
    reasons.iter().map(why).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn frame<'a>(state: &'a State, attempt: &Attempt) -> Option<&'a Frame> {
    state.frames.get(&attempt.intent.place.frame())
}

/// What the phase before wants done here.
fn task(state: &State, attempt: &Attempt) -> String {
    frame(state, attempt).and_then(|frame| frame.task.clone()).unwrap_or_default()
}

/// What whoever asked for this worker's help wants.
fn help(state: &State, attempt: &Attempt) -> String {
    let helper = frame(state, attempt).and_then(Frame::helper);
    helper.filter(|_| attempt.intent.persona.is_some()).map_or_else(String::new, |wanted| {
        format!(
            "You are `{}`. {}\n\n{}\n\nWhen you are done, call the tool `signal_back` with `signal: complete` \
             and a `summary` of what you did and found; then end your turn. You may also say \
             `partially-complete`, `needs-user-input` or `needs-role-followup`.",
            wanted.persona, wanted.reason, wanted.context
        )
    })
}

/// Questions asked at this visit, with their answers.
fn answers(state: &State, attempt: &Attempt) -> String {
    let questions = frame(state, attempt).map(|frame| frame.questions.as_slice());
    let gates = questions.unwrap_or_default().iter().rev().filter_map(|id| state.gate(*id));
    let mut text = String::new();
    let said = gates.filter_map(|gate| match &gate.answered {
        Some((GateAnswer::Said(said), who, _)) => Some((gate, said, who)),
        Some(_) | None => None,
    });
    for (gate, said, who) in said.take(HANDOVER_SUMMARIES_MAX) {
        let question = bounded(&gate.opened.about, TEXT_MAX);
        let _ = writeln!(text, "- You asked: {question}\n  {who} answered: {said}");
    }
    text
}

/// What people want the worker here to know.
fn notes(state: &State, attempt: &Attempt) -> String {
    let notes = frame(state, attempt).map(|frame| frame.notes.as_slice()).unwrap_or_default();
    let mut text = String::new();
    for note in notes.iter().filter(|note| note.told.is_some()) {
        let _ = writeln!(text, "- {}", told(note, attempt));
    }
    text
}

/// A note as a worker reads it; who may have read it before is told so.
pub fn told(note: &Note, attempt: &Attempt) -> String {
    let id = attempt.intent.attempt;
    let others = [note.told, note.given_to];
    let repeated = others.into_iter().flatten().any(|other| other != id);
    let again = if repeated { " (said before, repeated after an interruption)" } else { "" };
    format!("{}{again}: {}", note.who, note.text)
}

/// What is carried from phase to phase.
pub(crate) fn snapshot(state: &State) -> String {
    let snapshot = &state.snapshot;
    let mut text = String::new();
    for (title, list) in [
        ("Found out", &snapshot.findings),
        ("Still to be done", &snapshot.pending),
        ("Done", &snapshot.done),
        ("Files changed", &snapshot.files),
    ] {
        if !list.is_empty() {
            let _ = writeln!(text, "{title}:");
            for entry in list {
                let _ = writeln!(text, "- {entry}");
            }
        }
    }
    for (name, value) in &snapshot.custom {
        let _ = writeln!(text, "{name}: {value}");
    }
    bounded(&text, SNAPSHOT_TOLD_MAX)
}
