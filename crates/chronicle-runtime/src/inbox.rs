//! What comes to a driven run, and from whom.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use chronicle_core::base::ids::AttemptId;
use chronicle_core::base::limits::cut;
use chronicle_core::base::redact::Redactor;
use chronicle_core::event::input::{Actor, Answer, By, Command, Input, Report, What};
use chronicle_core::event::signal::Signal;
use chronicle_core::state::{State, Status};
use chronicle_core::words;

use crate::clock;
use crate::ledger::{Holder, Torn};
use crate::requests::Requests;
use crate::secrets;

/// Most inputs that wait; whoever sends more waits too.
pub const INBOX_MAX: usize = 1_024;
/// Most bytes of a person's name that are kept.
const WHO_MAX: usize = 100;

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
    reported(Report::TailSetAside { bytes: torn.bytes, file: torn.kept.clone() })
}

/// What a person asks for.
pub fn asked(who: &str, command: Command) -> Input {
    let by = By { actor: Actor::Person(who.to_owned()), request: None };
    Input { at: clock::now(), by, what: What::Command(command) }
}

/// That the supervisor is about to leave a run which waits for a person.
pub(crate) fn leaving() -> Message {
    told(reported(Report::SupervisorLeaves))
}

/// A message that nobody waits to hear of.
pub(crate) fn told(input: Input) -> Message {
    Message::Input(Box::new(input), None)
}

/// A message, and where its answer will come.
pub(crate) fn asking(input: Input) -> (Message, Receiver<Answer>) {
    let (reply, answer) = sync_channel(1);
    (Message::Input(Box::new(input), Some(reply)), answer)
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
    /// Once all that came in is decided, whatever the run would go on with: nobody is there to perform it.
    AtOnce,
    /// Once nothing works any more, be it that a person is needed.
    AtGates,
    /// Not while a person is needed: they may answer through the link.
    WhenOver,
}

impl Rest {
    /// Who drives it is to leave: it rests at the next gate, if it does not rest at once anyway.
    pub(crate) fn leave(self) -> Self {
        match self {
            Self::AtOnce => Self::AtOnce,
            Self::AtGates | Self::WhenOver => Self::AtGates,
        }
    }

    /// Whether there is something to wait for.
    pub(crate) fn stays(self, state: &State, is_idle: impl FnOnce() -> bool) -> bool {
        match self {
            Self::AtOnce => !is_idle(),
            Self::AtGates => state.goes_on() || state.owes(),
            Self::WhenOver => state.goes_on() || state.status() == Status::Waiting || state.owes(),
        }
    }
}

/// Who asks, and with which executable keepers are started.
#[derive(Debug, Clone)]
pub struct Asker {
    /// The person's name.
    pub who: String,
    /// What this process was started as, for the lock.
    pub command: String,
    /// Our own executable; it has the keeper.
    pub chronicle: PathBuf,
    /// Where agents that prefer HTTP find the signal server, if the face has one.
    pub signals: Option<String>,
}

/// Reaches a driven run from another thread.
#[derive(Debug, Clone)]
pub struct Remote {
    who: String,
    inbox: SyncSender<Message>,
    redactor: Arc<Redactor>,
    requests: Requests,
    /// What marks the next command in the ledger.
    mark: Option<String>,
}

impl Remote {
    /// Reaches the run that reads this inbox.
    pub(crate) fn new(asker: &Asker, inbox: SyncSender<Message>, redactor: Arc<Redactor>) -> Self {
        let (requests, mark) = (Requests::default(), None);
        Self { who: asker.who.clone(), inbox, redactor, requests, mark }
    }

    /// Asks for something; the answer comes once it is on disk. `None` if the run rests already.
    pub fn submit(&self, command: Command) -> Option<Answer> {
        let (command, had_secrets) = secrets::spoken(&self.redactor, command);
        let mut input = asked(&self.who, command);
        input.by.request.clone_from(&self.mark);
        Some(secrets::answered(self.exchange(input)?, had_secrets))
    }

    /// Hands a worker's call on.
    pub(crate) fn signal(
        &self,
        attempt: AttemptId,
        request: &str,
        signal: Signal,
    ) -> Option<Answer> {
        if let Err(why) = self.requests.check(attempt, request, &signal) {
            return Some(Answer::Refused(why));
        }
        let request = request.to_owned();
        let by = By { actor: Actor::Worker(attempt), request: Some(request.clone()) };
        let what = What::Command(Command::Signal { attempt, request, signal });
        self.exchange(Input { at: clock::now(), by, what })
    }

    /// The same run, asked by somebody else. The name is their own word: it is kept short and plain.
    pub(crate) fn named(&self, who: &str) -> Self {
        let who = words::one_line(cut(who, WHO_MAX));
        Self { who, ..self.clone() }
    }

    /// The same, whose commands bear this mark in the ledger.
    pub(crate) fn marked(&self, mark: Option<String>) -> Self {
        Self { mark, ..self.clone() }
    }

    /// Does not stay for a person any longer: once nothing else works, the run rests.
    pub fn leave(&self) {
        let _ = self.inbox.send(Message::Leave);
    }

    /// Stops at once, whatever is going on; what was on its way is found lost at the next resume.
    pub fn quit(&self) {
        let _ = self.inbox.send(Message::Quit);
    }

    fn exchange(&self, input: Input) -> Option<Answer> {
        let (message, answer) = asking(input);
        self.inbox.send(message).ok()?;
        answer.recv().ok()
    }
}
