//! Commands of people. A refusal leaves no trace; its text says what would be accepted.
//!
//! The run as a whole is here; `gate.rs` has answers, `moves.rs` has `retry`, `skip` and `go`, `notes.rs` notes to workers.

mod gate;
mod moves;
mod notes;
mod steps;

use std::sync::Arc;

use super::rewind::fits;
use super::scratch::Scratch;
use super::{apart, budget, loops, rewind, trees, worker};
use crate::base::ids::{FramePath, GateId};
use crate::event::input::{Actor, Answer, By, Command};
use crate::event::{Event, FrameEntered, GateAnswer, LedgerRepaired, RunStarted};
use crate::state::State;

use gate::{answer, approve, reject};
use moves::{Wish, go, retry, skip};
use notes::note;

/// Longest title, in bytes: it is one cell of a list.
const TITLE_MAX: usize = 200;

/// Every command, and who decides on it.
pub(super) fn obey(scratch: &mut Scratch<'_>, by: &By, command: &Command) -> Answer {
    match command {
        Command::Start(begin) => start(scratch, begin),
        Command::Prepare(begin) => prepare(scratch, begin),
        Command::Pause { reason } => pause(scratch, reason),
        Command::Resume => resume(scratch),
        Command::Cancel { reason } => cancel(scratch, reason),
        Command::GiveUp { place, note } => steps::give_up(scratch, by, place, note),
        Command::Approve { gate, note, scope } => approve(scratch, by, *gate, note, *scope),
        Command::Reject { gate, note } => reject(scratch, by, *gate, note),
        Command::Answer { gate, text, note } => answer(scratch, by, *gate, text, note),
        Command::Retry { place, note, agent, from } => {
            let wish = Wish { note, agent: agent.as_ref(), from: *from };
            retry(scratch, by, place.as_ref(), &wish)
        }
        Command::Skip { place, note } => skip(scratch, by, place.as_ref(), note),
        Command::Budget { place, more } => budget::raise(scratch, by, place.as_ref(), more),
        Command::Loops { place, more } => loops::allow(scratch, by, place.as_ref(), *more),
        Command::Go { place, note } => go(scratch, by, place, note),
        Command::Title { text } => title(scratch, by, text),
        Command::Note { place, text } => note(scratch, by, place.as_ref(), text),
        Command::Undo { what, from, to, back } => trees::undo(scratch, what, from, to, *back),
        Command::Merge { keep } => apart::merge(scratch, by, *keep),
        Command::DropWork => apart::drop_work(scratch, by),
        Command::Repair(repaired) => repair(scratch, repaired),
        Command::Rewind { to, carried } => rewind::rewind(scratch, by, *to, carried),
        Command::Signal { attempt, request, signal } => {
            worker::signal(scratch, *attempt, request, signal)
        }
    }
}

fn start(scratch: &mut Scratch<'_>, start: &RunStarted) -> Answer {
    if scratch.state().run.is_some() {
        return Answer::Refused("this run has started already".to_owned());
    }
    let Some(workflow) = start.workflows.first() else {
        return Answer::Refused("there is no workflow to run".to_owned());
    };
    if workflow.phase(&workflow.initial).is_none() {
        let (name, initial) = (&workflow.name, &workflow.initial);
        return Answer::Refused(format!("workflow `{name}` has no phase `{initial}`"));
    }
    if let Some(why) = start.carried.as_ref().and_then(|it| fits(start, it).err()) {
        return Answer::Refused(why);
    }
    let workflow = workflow.key.clone();
    scratch.emit(Event::RunStarted(Arc::new(start.clone())));
    // A carried position brings its frames with it.
    if start.carried.is_none() {
        let (frame, at, step) = (FramePath::root(), None, None);
        scratch.emit(Event::FrameEntered(FrameEntered { frame, workflow, at, step }));
    }
    Answer::Accepted("started".to_owned())
}

/// A paused run schedules nothing, so whoever resumes it starts the first attempt.
fn prepare(scratch: &mut Scratch<'_>, begin: &RunStarted) -> Answer {
    let answer = start(scratch, begin);
    if matches!(answer, Answer::Accepted(_)) {
        scratch.emit(Event::RunPaused { reason: "it has not begun yet".to_owned() });
    }
    answer
}

/// Accepted in every state: that the ledger was damaged is worth recording even after the end.
fn repair(scratch: &mut Scratch<'_>, repaired: &LedgerRepaired) -> Answer {
    let state = scratch.state();
    if state.run.is_none() {
        return Answer::Refused("no line of this run is left to continue from".to_owned());
    }
    let from = state.seq;
    scratch.emit(Event::LedgerRepaired(repaired.clone()));
    Answer::Accepted(format!("repaired: the run continues from line {from}"))
}

/// Accepted after the end too: that is when people look for a run in a list.
fn title(scratch: &mut Scratch<'_>, by: &By, text: &str) -> Answer {
    let length = text.len();
    if length > TITLE_MAX {
        return Answer::Refused(format!(
            "the title is too long: it has {length} bytes, and at most {TITLE_MAX} are kept"
        ));
    }
    // Accepted without a line: a command that is repeated after a lost answer must not fill the ledger.
    if scratch.state().title.as_deref().unwrap_or_default() == text {
        return Answer::Accepted("it has that title already".to_owned());
    }
    let said = if text.is_empty() { "title removed" } else { "title given" };
    scratch.emit(Event::RunTitled { title: text.to_owned(), who: who(by) });
    Answer::Accepted(said.to_owned())
}

fn pause(scratch: &mut Scratch<'_>, reason: &str) -> Answer {
    match scratch.state() {
        // What is given up is on its way to its end: a pause would only be one more word about it.
        state if state.is_given_up() => over(state),
        state if state.paused.is_some() => Answer::Accepted("paused already".to_owned()),
        _ => {
            scratch.emit(Event::RunPaused { reason: reason.to_owned() });
            Answer::Accepted("paused".to_owned())
        }
    }
}

fn resume(scratch: &mut Scratch<'_>) -> Answer {
    match scratch.state() {
        state if state.is_over() => over(state),
        // Accepted and not refused: `resume` is also how a person drives an interrupted run.
        state if state.paused.is_none() => Answer::Accepted("not paused".to_owned()),
        _ => {
            scratch.emit(Event::RunResumed);
            Answer::Accepted("resumed".to_owned())
        }
    }
}

fn cancel(scratch: &mut Scratch<'_>, reason: &str) -> Answer {
    let state = scratch.state();
    if state.is_given_up() {
        return over(state);
    }
    scratch.emit(Event::RunCancelled { reason: reason.to_owned() });
    Answer::Accepted("cancelled".to_owned())
}

pub(super) fn emit_answer(
    scratch: &mut Scratch<'_>,
    by: &By,
    gate: GateId,
    answer: GateAnswer,
    note: &str,
) {
    let (who, note) = (who(by), note.to_owned());
    scratch.emit(Event::GateAnswered { gate, answer, who, note, agent: None, from: None });
}

/// The sender's name in the ledger.
pub(super) fn who(by: &By) -> String {
    match &by.actor {
        Actor::Person(name) => name.clone(),
        Actor::Worker(attempt) => attempt.to_string(),
        Actor::Supervisor => "the supervisor".to_owned(),
    }
}

/// Refuses commands to a run in which nothing can follow.
pub(super) fn refuse_over(state: &State) -> Result<(), Answer> {
    if state.is_given_up() { Err(over(state)) } else { Ok(()) }
}

fn over(state: &State) -> Answer {
    Answer::Refused(match (&state.cancelled, &state.failed) {
        (Some(_), _) => "the run has been cancelled".to_owned(),
        (None, Some(_)) => "the run has failed".to_owned(),
        (None, None) => "the run is over".to_owned(),
    })
}
