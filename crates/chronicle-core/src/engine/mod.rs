//! What follows: `decide` is total, deterministic, and touches nothing.
//!
//! An input is judged by one of the handlers (`people.rs`, `worker.rs`, `world.rs`); then `follow.rs`, one table over the
//! stages of frames, adds whatever follows by itself until nothing does. So a ledger that ends with a whole line never
//! lacks a consequence, and opening it needs no catching up.

mod attempt;
mod budget;
mod chore;
mod enter;
mod evidence;
mod follow;
mod gates;
mod mend;
mod out;
mod parting;
mod people;
mod preview;
pub mod rehearsal;
mod scratch;
mod sent;
mod target;
mod trees;
mod wait;
pub mod work;
mod worker;
mod world;

use crate::event::Event;
use crate::event::input::{Actor, Answer, By, Command, Input, What};
use crate::event::record::{Line, VERSION};
use crate::state::State;
use scratch::Scratch;

pub use preview::{Next, next};

/// What an input leads to. It counts only once it is on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What happened. Empty when an input changes nothing.
    pub events: Vec<Event>,
    /// Texts whose sums the events name. They must be on disk before the events are.
    pub bodies: Vec<String>,
    /// What the asker hears.
    pub answer: Answer,
}

/// Decides what an input leads to.
pub fn decide(state: &State, input: &Input) -> Decision {
    let mut scratch = Scratch::new(state, input.at);
    let answer = match &input.what {
        What::Report(report) => world::report(&mut scratch, report),
        What::Command(command) => match forbidden(&input.by, command) {
            Some(refusal) => Answer::Refused(refusal),
            None => obey(&mut scratch, &input.by, command),
        },
    };
    follow::advance(&mut scratch);
    let (events, bodies) = scratch.into_parts();
    Decision { events, bodies, answer }
}

/// What was decided as the next line of the ledger; none when nothing happened.
pub fn line(state: &State, input: &Input, events: Vec<Event>) -> Option<Line> {
    (!events.is_empty()).then(|| Line {
        seq: state.seq + 1,
        at: input.at,
        v: VERSION,
        by: input.by.clone(),
        events,
    })
}

/// A worker is not a person, and a person does not signal.
fn forbidden(by: &By, command: &Command) -> Option<String> {
    match (&by.actor, command) {
        (Actor::Worker(own), Command::Signal { attempt, .. }) if own == attempt => None,
        (Actor::Worker(own), Command::Signal { attempt, .. }) => {
            Some(format!("{own} cannot signal for {attempt}"))
        }
        (Actor::Worker(_), _) => Some("a worker cannot give a person's commands".to_owned()),
        (_, Command::Signal { .. }) => Some("only the worker of an attempt can signal".to_owned()),
        (Actor::Person(_) | Actor::Supervisor, _) => None,
    }
}

fn obey(scratch: &mut Scratch<'_>, by: &By, command: &Command) -> Answer {
    match command {
        Command::Start(start) => people::start(scratch, start),
        Command::Prepare(start) => people::prepare(scratch, start),
        Command::Pause { reason } => people::pause(scratch, reason),
        Command::Resume => people::resume(scratch),
        Command::Cancel { reason } => people::cancel(scratch, reason),
        Command::Approve { gate, note } => people::approve(scratch, by, *gate, note),
        Command::Reject { gate, note } => people::reject(scratch, by, *gate, note),
        Command::Answer { gate, text } => people::answer(scratch, by, *gate, text),
        Command::Retry { place, note, agent } => {
            people::retry(scratch, by, place.as_ref(), (note, agent.as_ref()))
        }
        Command::Skip { place, note } => people::skip(scratch, by, place.as_ref(), note),
        Command::Budget { place, more } => budget::raise(scratch, by, place.as_ref(), more),
        Command::Go { place, note } => people::go(scratch, by, place, note),
        Command::Note { place, text } => people::note(scratch, by, place.as_ref(), text),
        Command::Undo { what, from, to } => trees::undo(scratch, what, from, to),
        Command::Signal { attempt, request, signal } => {
            worker::signal(scratch, *attempt, request, signal)
        }
    }
}
