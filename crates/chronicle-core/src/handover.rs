//! The text that opens an attempt: a pure function of the state, so the ledger need not keep it.
//!
//! A worker starts with nothing. The handover tells it the task, where it is, what happened before, what it is to do and
//! how to say that it is done. Bounded: what happened before is cut first, then the task, then the instructions; the way out
//! never.

use std::fmt::Write as _;

use crate::carried;
use crate::chain;
use crate::engine::allowed_targets;
use crate::event::Why;
use crate::ids::DONE;
use crate::limits::{HANDOVER_MAX, HANDOVER_SUMMARIES_MAX, TEXT_MAX, bounded};
use crate::state::{Attempt, State};
use crate::template::Stand;
use crate::workflow::{Phase, Text, Tools};

/// Room for a section's title and for the words that say how much was cut.
const TITLE_MAX: usize = 100;
/// What a worker hears that ended its turn too soon, unless the workflow has its own words.
const NOT_DONE: &str = "Your turn ended without a leaving signal, so this phase is not done. \
    Go on where you were; when the work is done, send the signal.";

/// What the worker of an attempt is told.
pub fn handover(state: &State, attempt: &Attempt) -> String {
    let Some(run) = &state.run else { return String::new() };
    let Some(stand) = Stand::of(state, attempt) else { return bounded(&run.task, HANDOVER_MAX) };
    let place = &attempt.intent.place;
    let Some(phase) = state.phase_at(place) else { return bounded(&run.task, HANDOVER_MAX) };
    let mut opening = String::new();
    if state.places.values().all(|tally| tally.departures == 0) {
        paragraph(&mut opening, &stand.initial_message().unwrap_or_default());
    }
    for (title, body) in carried::opening(state, attempt, |reason| why(reason, stand)) {
        section(&mut opening, title, &body);
    }
    let mut closing = String::new();
    section(
        &mut closing,
        "Tools",
        &state.tools_for(&attempt.intent).map(tools).unwrap_or_default(),
    );
    if attempt.intent.persona.is_none() {
        section(&mut closing, "When you are done", &way_out(phase, stand));
    }
    let mut here = String::new();
    section(&mut here, "Your role", &stand.text(Text::RoleInstruction).unwrap_or_default());
    section(&mut here, "Your phase", &where_it_is(phase, state, stand, place.as_str()));
    // However long the task, its worker must learn how to leave: the_longest_task_and_instructions_leave_room_for_the_way_out
    let room = HANDOVER_MAX.saturating_sub(opening.len() + here.len() + closing.len());
    let most = (HANDOVER_MAX / 2).min(room / 2);
    // A chain has words of its own, and no others.
    let instructions = if phase.chained {
        bounded(&chain::instructions(state, place, phase), most)
    } else {
        stand.instructions(most)
    };
    section(&mut here, "Instructions", &instructions);
    let room = room.saturating_sub(instructions.len() + 3 * TITLE_MAX);
    let mut text = opening;
    section(&mut text, "Task", &bounded(&run.task, room));
    text.push_str(&here);
    text.push_str(&closing);
    section(&mut text, "Snapshot", &carried::snapshot(state));
    section(&mut text, "What people said, newest first", &people(state));
    section(&mut text, "What happened before, newest first", &before(state));
    bounded(text.trim_end(), HANDOVER_MAX)
}

fn paragraph(text: &mut String, body: &str) {
    if !body.trim().is_empty() {
        let _ = write!(text, "{}\n\n", body.trim());
    }
}

fn section(text: &mut String, title: &str, body: &str) {
    if !body.trim().is_empty() {
        let _ = write!(text, "## {title}\n\n{}\n\n", body.trim());
    }
}

fn why(why: &Why, stand: Stand<'_>) -> String {
    match why {
        Why::First => String::new(),
        Why::Nudge { .. } => {
            stand.text(Text::NotDoneReminder).unwrap_or_else(|| NOT_DONE.to_owned())
        }
        Why::Retry { .. } => "An earlier attempt at this phase crashed. You start afresh: look at \
            the files as they are now before you go on."
            .to_owned(),
        Why::Lost | Why::Paused | Why::Raised | Why::Waited | Why::Progressed => {
            "The work was interrupted. Go on exactly where you were; do not \
            do again what is done."
                .to_owned()
        }
        Why::SessionGone => {
            "An earlier attempt at this phase was interrupted and its conversation \
            is gone. Look at the files as they are now, and do not do again what is done."
                .to_owned()
        }
        Why::Rejected { note } => format!("A person looked at your work and said no: {note}"),
        Why::Asked { note } => format!("A person asked for another try at this phase. {note}"),
        Why::Continued { progress, point } => format!(
            "Another worker began this phase and could not finish it in one go. You go on in its \
             place.\nDone so far: {progress}\nGo on here: {point}"
        ),
        Why::Answered { .. } => {
            "What you asked has been answered, see below. Go on where you were.".to_owned()
        }
        Why::Helps { asker } => format!("`{asker}` needs your help and waits for it."),
        Why::Helped { persona, summary } => format!(
            "You asked `{persona}` for help. This came of it: {summary}\nGo on where you were."
        ),
    }
}

fn where_it_is(phase: &Phase, state: &State, stand: Stand<'_>, place: &str) -> String {
    let mut text = format!("`{place}`: {}", phase.name);
    if let Some(description) = &phase.description {
        let _ = write!(text, ". {description}");
    }
    let done: usize = state.places.values().map(|tally| tally.departures).sum();
    text.push('\n');
    if let Some((index, count, workflow)) = stand.progress() {
        let _ = write!(text, "Phase {index} of {count} in `{workflow}`. ");
    }
    let _ = write!(text, "Phases left so far: {done}.");
    bounded(&text, TEXT_MAX)
}

fn tools(tools: &Tools) -> String {
    let list = |names: &[String]| bounded(&names.join(", "), TEXT_MAX);
    match (&tools.allow, tools.deny.as_slice()) {
        (Some(allow), _) => format!("You may use only: {}.", list(allow)),
        (None, []) => String::new(),
        (None, deny) => format!("You may not use: {}.", list(deny)),
    }
}

fn way_out(phase: &Phase, stand: Stand<'_>) -> String {
    let targets = allowed_targets(phase);
    let names: Vec<String> = targets.iter().map(|target| format!("`{target}`")).collect();
    let first = targets.first().map_or(DONE, |target| target.as_str());
    let reminder = stand.text(Text::AdvanceReminder).unwrap_or_default();
    format!(
        "Call the tool `workflow_transition` with `target_state` and a `summary` of what you did \
         and found; then end your turn. Ending your turn without it does not end the phase.\n\
         You may go to: {}. For example: `workflow_transition(target_state: \"{first}\", summary: …)`.\n\n{reminder}",
        bounded(&names.join(", "), TEXT_MAX)
    )
}

/// Notes given at gates, wherever in the run.
fn people(state: &State) -> String {
    let mut text = String::new();
    let noted = state.gates.iter().rev().filter(|gate| !gate.note.trim().is_empty());
    for gate in noted.take(HANDOVER_SUMMARIES_MAX) {
        let _ = writeln!(text, "- at `{}`: {}", gate.opened.place, gate.note);
    }
    text
}

fn before(state: &State) -> String {
    let mut text = String::new();
    let told = state.visits.iter().rev().filter_map(|visit| Some((visit, visit.left.as_ref()?)));
    for (visit, left) in told.take(HANDOVER_SUMMARIES_MAX) {
        let summary = if left.summary.is_empty() { "(nothing said)" } else { &left.summary };
        let _ = writeln!(text, "- `{}` → `{}` ({}): {summary}", visit.place, left.to, left.outcome);
    }
    text
}
