//! Messages to a driven run.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use chronicle_core::base::ids::AttemptId;
use chronicle_core::base::limits::cut;
use chronicle_core::base::redact::Redactor;
use chronicle_core::event::WallsFound;
use chronicle_core::event::input::{Actor, Answer, By, Command, Input, Report, What};
use chronicle_core::event::signal::Signal;
use chronicle_core::state::{State, Status};
use chronicle_core::words;

use crate::clock;
use crate::ledger::{Holder, Torn};
use crate::requests::Requests;
use crate::secrets;

/// Most waiting inputs; further senders block.
pub const INBOX_MAX: usize = 1_024;
/// Most bytes of a person's name that are kept.
const WHO_MAX: usize = 100;

/// An input from the supervisor itself.
pub fn reported(report: Report) -> Input {
    let by = By { actor: Actor::Supervisor, request: None };
    Input { at: clock::now(), by, what: What::Report(report) }
}

/// The report that a supervisor took over.
pub(crate) fn started(
    who: &Holder,
    epoch: u64,
    notifies: bool,
    walls: Option<WallsFound>,
) -> Input {
    reported(Report::SupervisorStarted {
        pid: who.pid,
        host: who.host.clone(),
        epoch,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        notifies,
        walls,
    })
}

/// The report that a torn last line was moved aside.
pub(crate) fn set_aside(torn: &Torn) -> Input {
    reported(Report::TailSetAside { bytes: torn.bytes, file: torn.kept.clone() })
}

/// An input from a person.
pub fn asked(who: &str, command: Command) -> Input {
    let by = By { actor: Actor::Person(who.to_owned()), request: None };
    Input { at: clock::now(), by, what: What::Command(command) }
}

/// Announces that the supervisor is about to leave a run that waits for a person.
pub(crate) fn leaving() -> InboxMessage {
    told(reported(Report::SupervisorLeaves))
}

/// A message without an answer.
pub(crate) fn told(input: Input) -> InboxMessage {
    InboxMessage::Input(Box::new(input), None)
}

/// A message, and the channel for its answer.
pub(crate) fn asking(input: Input) -> (InboxMessage, Receiver<Answer>) {
    // Room for one answer: the driver uses `try_send`, which fails on a channel without room if the sender is not waiting yet.
    let (reply, answer) = sync_channel(1);
    (InboxMessage::Input(Box::new(input), Some(reply)), answer)
}

/// What is sent to a run that is being driven.
#[derive(Debug)]
pub enum InboxMessage {
    /// An input, and the channel for its answer if one is wanted.
    Input(Box<Input>, Option<SyncSender<Answer>>),
    /// Do not stay for a person any longer.
    Leave,
    /// Stop now, whatever is in progress.
    Quit,
}

/// Why a drive ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// Nothing works any more: the run is over, paused, or waits for a person.
    Rests(Status),
    /// It was told to stop at once.
    Quit,
}

/// When a drive ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Once all waiting inputs are decided: nothing is performed.
    AtOnce,
    /// Once nothing works any more, even if a person is needed.
    AtGates,
    /// Not while a person is needed: they may answer through the link.
    WhenOver,
}

impl Rest {
    /// Leave at the next gate, unless it rests at once anyway.
    pub(crate) fn leave(self) -> Self {
        match self {
            Self::AtOnce => Self::AtOnce,
            Self::AtGates | Self::WhenOver => Self::AtGates,
        }
    }

    /// True if there is something to wait for.
    pub(crate) fn stays(self, state: &State, is_idle: impl FnOnce() -> bool) -> bool {
        match self {
            // Not by the status: after a command to a resting run it may be `Running`, and this process starts nothing.
            Self::AtOnce => !is_idle(),
            // A notice that is still being sent counts: people are often needed just because nothing else works any more.
            Self::AtGates => state.goes_on() || state.owes(),
            Self::WhenOver => state.goes_on() || state.status() == Status::Waiting || state.owes(),
        }
    }
}

/// The person or program that asks, and the executable for keepers.
#[derive(Debug, Clone)]
pub struct Asker {
    /// User name, recorded in the ledger.
    pub who: String,
    /// Command line of this process, for the lock.
    pub command: String,
    /// Our own executable, which has the `keeper` command.
    pub chronicle: PathBuf,
    /// Address of the HTTP signal server, if the face has one.
    pub signals: Option<String>,
    /// True if workers are to have no walls.
    pub no_walls: bool,
}

/// A handle to a driven run from another thread.
#[derive(Debug, Clone)]
pub struct Remote {
    who: String,
    inbox: SyncSender<InboxMessage>,
    redactor: Arc<Redactor>,
    requests: Requests,
    /// Mark of the next command in the ledger.
    mark: Option<String>,
}

impl Remote {
    /// Reaches the run that reads this inbox.
    pub(crate) fn new(
        asker: &Asker,
        inbox: SyncSender<InboxMessage>,
        redactor: Arc<Redactor>,
    ) -> Self {
        let (requests, mark) = (Requests::default(), None);
        Self { who: asker.who.clone(), inbox, redactor, requests, mark }
    }

    /// Sends a command; the answer comes once it is synced. `None` if the run already rests.
    pub fn submit(&self, command: Command) -> Option<Answer> {
        // Before it reaches the inbox: from there on it may be decided on, stored and shown.
        let (command, had_secrets) = secrets::spoken(&self.redactor, command);
        let mut input = asked(&self.who, command);
        input.by.request.clone_from(&self.mark);
        Some(secrets::answered(self.exchange(input)?, had_secrets))
    }

    /// Relays a worker's call.
    pub(crate) fn signal(
        &self,
        attempt: AttemptId,
        request: &str,
        signal: Signal,
    ) -> Option<Answer> {
        // Before the inbox: the engine repeats the stored answer of an id, and would take another call with the same id for a
        // repetition.
        if let Err(why) = self.requests.check(attempt, request, &signal) {
            return Some(Answer::Refused(why));
        }
        let request = request.to_owned();
        let by = By { actor: Actor::Worker(attempt), request: Some(request.clone()) };
        let what = What::Command(Command::Signal { attempt, request, signal });
        self.exchange(Input { at: clock::now(), by, what })
    }

    /// The same run, used by another person. The name is chosen by them: it is cut and cleaned.
    pub(crate) fn named(&self, who: &str) -> Self {
        // The name comes from the other side of the link, and is shown in logs and terminals.
        let who = words::one_line(cut(who, WHO_MAX));
        Self { who, ..self.clone() }
    }

    /// The same, with this mark on its commands in the ledger.
    pub(crate) fn marked(&self, mark: Option<String>) -> Self {
        Self { mark, ..self.clone() }
    }

    /// Stops waiting for a person: once nothing else works, the run rests.
    pub fn leave(&self) {
        // An error means that the drive has ended, so there is nothing to leave.
        let _ = self.inbox.send(InboxMessage::Leave);
    }

    /// Stops at once; what was in progress is reported lost at the next resume.
    pub fn quit(&self) {
        // An error means that the drive has ended, which is what was wanted.
        let _ = self.inbox.send(InboxMessage::Quit);
    }

    fn exchange(&self, input: Input) -> Option<Answer> {
        let (message, answer) = asking(input);
        // Blocks while the inbox is full: whoever sends a flood waits at the source, and no queue grows.
        self.inbox.send(message).ok()?;
        answer.recv().ok()
    }
}
