//! What comes to a driven run, and from whom.

use std::sync::mpsc::SyncSender;

use chronicle_core::event::input::{Actor, Answer, By, Command, Input, Report, What};

use crate::clock;
use crate::ledger::{Holder, Torn};

/// Most inputs that wait; whoever sends more waits too.
pub const INBOX_MAX: usize = 1_024;

/// What the supervisor itself has to say.
pub fn reported(report: Report) -> Input {
    let by = By { actor: Actor::Supervisor, request: None };
    Input { at: clock::now(), by, what: What::Report(report) }
}

/// Who takes the run in hand.
pub(crate) fn started(who: &Holder, epoch: u64, notifies: bool) -> Input {
    reported(Report::SupervisorStarted {
        pid: who.pid,
        host: who.host.clone(),
        epoch,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        notifies,
    })
}

/// That a torn last line was set aside.
pub(crate) fn set_aside(torn: &Torn) -> Input {
    reported(Report::TailSetAside { bytes: torn.bytes, file: torn.file.clone() })
}

/// What a person asks for.
pub fn asked(who: &str, command: Command) -> Input {
    let by = By { actor: Actor::Person(who.to_owned()), request: None };
    Input { at: clock::now(), by, what: What::Command(command) }
}

/// That the supervisor is about to leave a run which waits for a person.
pub(crate) fn leaving() -> Message {
    Message::Input(Box::new(reported(Report::SupervisorLeaves)), None)
}

/// What is sent to a run that is being driven.
#[derive(Debug)]
pub enum Message {
    /// Something came in.
    Input(Box<Input>, Option<SyncSender<Answer>>),
    /// Do not stay for a person any longer.
    Leave,
    /// Stop now, whatever is going on.
    Quit,
}

/// When a drive comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Once nothing works any more, be it that a person is needed.
    AtGates,
    /// Not while a person is needed: they may answer through the link.
    WhenOver,
}
