//! The engine: `decide` is total, deterministic and has no side effects.
//!
//! An input is cut to what is kept (`heard.rs`) and judged by one of the handlers (`people/`, `worker/`, `world.rs`). Then
//! `follow.rs`, one table over the stages of frames, adds all consequences. So a ledger that ends with a complete line never
//! lacks a consequence, and opening it needs no catching up. `replay.rs` decides a line again.
//!
//! Start reading at [`step`], then `follow.rs`.

mod apart;
mod attempt;
mod budget;
mod chore;
mod end;
mod enter;
mod evidence;
mod fallback;
mod follow;
mod gate;
mod heard;
mod loops;
mod mend;
mod out;
mod parting;
mod people;
mod permission;
mod pool;
mod preview;
mod proof;
pub mod rehearsal;
mod replay;
mod rewind;
mod room;
mod scratch;
mod sent;
mod target;
mod trees;
mod unasked;
mod wait;
mod walls;
pub mod work;
mod worker;
mod world;

use crate::base::limits::LINE_TEXT_MAX;
use crate::event::Event;
use crate::event::input::{Actor, Answer, By, Command, Input, What};
use crate::event::record::{Line, VERSION};
use crate::state::State;
use scratch::Scratch;

pub use preview::{Next, next};
pub use replay::{Unlike, decide_again};

/// What an input leads to.
struct Decision {
    events: Vec<Event>,
    bodies: Vec<String>,
    answer: Answer,
}

/// The result of one input. It counts only once it is on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The next line; `None` if nothing happened.
    pub line: Option<Line>,
    /// Texts whose sums the line names and that are too long to be in it. They must be on disk before the line is.
    pub bodies: Vec<String>,
    /// The reply to the sender, to be sent after the sync.
    pub answer: Answer,
}

/// Decides on an input and makes its line. Only what is stored of the input is used, so that the line can be decided again.
pub fn step(state: &State, input: &Input) -> Step {
    // Cut first, then decide: the line stores exactly what the decision was based on.
    let heard = heard::heard(state, input);
    let Decision { events, bodies, answer } = decide(state, &heard);
    // A short text goes into the line, which is written anyway. A file of its own would have to be on disk before the line.
    let (texts, bodies) = bodies.into_iter().partition(|body| body.len() <= LINE_TEXT_MAX);
    let line = line(state, heard, events, texts);
    Step { line, bodies, answer }
}

/// Decides on an input that is already cut.
fn decide(state: &State, input: &Input) -> Decision {
    let mut scratch = Scratch::new(state, input.at);
    let answer = match &input.what {
        What::Report(report) => world::report(&mut scratch, report),
        What::Command(command) => match forbidden(&input.by, command) {
            Some(refusal) => Answer::Refused(refusal),
            None => people::obey(&mut scratch, &input.by, command),
        },
    };
    // In the same decision, so that one line holds an input and all of its consequences. A crash cannot separate them.
    follow::advance(&mut scratch);
    let (events, bodies) = scratch.into_parts();
    Decision { events, bodies, answer }
}

/// The decision as the next line of the ledger; `None` if nothing happened.
fn line(state: &State, heard: Input, events: Vec<Event>, texts: Vec<String>) -> Option<Line> {
    let (seq, Input { at, by, what }) = (state.seq + 1, heard);
    let line = Line { seq, at, v: VERSION, by, input: None, events, texts };
    // An input that changes nothing leaves no line. A refused command must not make the ledger grow.
    (!line.events.is_empty()).then(|| line.with_input(what))
}

/// A worker may not give a person's commands, and a person may not signal.
fn forbidden(by: &By, command: &Command) -> Option<String> {
    match (&by.actor, command) {
        (Actor::Worker(own), Command::Signal { attempt, .. }) if own == attempt => None,
        (Actor::Worker(own), Command::Signal { attempt, .. }) => {
            Some(format!("{own} cannot signal for {attempt}"))
        }
        // The link checks this too; here it also holds for tests, hosts and ledgers that are decided again.
        (Actor::Worker(_), _) => Some("a worker cannot give a person's commands".to_owned()),
        (_, Command::Signal { .. }) => Some("only the worker of an attempt can signal".to_owned()),
        (Actor::Person(_) | Actor::Supervisor, _) => None,
    }
}
