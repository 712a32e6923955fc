//! How a performer tells the driver what it sees.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Instant;

use chronicle_core::ids::AttemptId;
use chronicle_core::input::{Actor, Answer, AttemptReport, By, Command, Input, Report, What};
use chronicle_core::signal::Signal;

use crate::clock;
use crate::driver::{Message, reported};

/// One attempt's line to the driver. It is bounded: a flood waits until the ledger has caught up.
#[derive(Clone)]
pub(super) struct Reporter {
    inbox: SyncSender<Message>,
    attempt: AttemptId,
    began: Instant,
}

impl Reporter {
    pub(super) fn new(inbox: SyncSender<Message>, attempt: AttemptId) -> Self {
        Self { inbox, attempt, began: Instant::now() }
    }

    /// Reports; a driver that is gone needs no report.
    pub(super) fn tell(&self, what: AttemptReport) {
        let _ = self.inbox.send(Message::Input(Box::new(self.input(what)), None));
    }

    /// Reports and waits for the answer; none when the driver is gone.
    pub(super) fn ask(&self, what: AttemptReport) -> Option<Answer> {
        self.exchange(self.input(what))
    }

    /// Hands a worker's call on and waits for the answer.
    pub(super) fn signal(&self, request: &str, signal: Signal) -> Option<Answer> {
        let (attempt, request) = (self.attempt, request.to_owned());
        let by = By { actor: Actor::Worker(attempt), request: Some(request.clone()) };
        let what = What::Command(Command::Signal { attempt, request, signal });
        self.exchange(Input { at: clock::now(), by, what })
    }

    fn exchange(&self, input: Input) -> Option<Answer> {
        let (reply, answer) = sync_channel(1);
        self.inbox.send(Message::Input(Box::new(input), Some(reply))).ok()?;
        answer.recv().ok()
    }

    fn input(&self, what: AttemptReport) -> Input {
        let active_ms = clock::active_ms(self.began);
        reported(Report::Attempt { attempt: self.attempt, active_ms, what })
    }
}
