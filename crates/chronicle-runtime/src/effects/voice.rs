//! Messages to one agent: its reader sends answers, the driver sends notes.

use std::collections::BTreeSet;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chronicle_core::event::input::Answer;

use crate::agents::{Adapter, Seen};

/// Translates and sends. Nothing is sent once the turn has ended.
pub(super) struct Voice {
    adapter: Mutex<Box<dyn Adapter>>,
    outbox: Mutex<Option<SyncSender<String>>>,
    /// Questions from this agent's own output; others wait at the link.
    asked: Mutex<BTreeSet<String>>,
}

/// Whether a message was sent.
pub(super) enum Spoken {
    /// These lines are on their way.
    Lines(Vec<String>),
    /// Not now, or not possible with this agent.
    Nothing,
}

impl Voice {
    pub(super) fn new(adapter: Box<dyn Adapter>, outbox: SyncSender<String>) -> Self {
        Self {
            adapter: Mutex::new(adapter),
            outbox: Mutex::new(Some(outbox)),
            asked: Mutex::default(),
        }
    }

    /// The meaning of one of the agent's lines.
    pub(super) fn read(&self, line: &str) -> Vec<Seen> {
        lock(&self.adapter).read(line)
    }

    /// The meaning of a line by itself, as the agent printed it.
    pub(super) fn glance(&self, line: &str) -> Vec<Seen> {
        lock(&self.adapter).glance(line)
    }

    /// Answers from the reader's thread, which may wait until the agent reads.
    pub(super) fn answer(&self, id: &str, answer: &Answer) -> Vec<String> {
        let lines = lock(&self.adapter).answer(id, answer);
        self.say(lines)
    }

    /// Asks what the agent's last line left open, from the reader's thread too.
    pub(super) fn inquire(&self) -> Vec<String> {
        let lines = lock(&self.adapter).inquire();
        self.say(lines)
    }

    fn say(&self, lines: Vec<String>) -> Vec<String> {
        // Cloned, so that the lock is not held while `send` waits for the agent to read: closing must stay possible.
        let Some(outbox) = lock(&self.outbox).clone() else { return Vec::new() };
        // Only what was really sent is returned: the caller writes it into the transcript.
        lines.into_iter().filter(|line| outbox.send(line.clone()).is_ok()).collect()
    }

    /// Remembers a question whose answer comes later.
    pub(super) fn asks(&self, request: &str) {
        lock(&self.asked).insert(request.to_owned());
    }

    /// Forgets a question that waits for no answer any more; whether it did until now.
    pub(super) fn forget(&self, request: &str) -> bool {
        lock(&self.asked).remove(request)
    }

    /// Sends a note. Never waits: what does not fit now stays due.
    pub(super) fn note(&self, text: &str) -> Spoken {
        let lines = lock(&self.adapter).note(text);
        self.try_say(lines)
    }

    /// Sends a person's answer to a question from this agent's output.
    pub(super) fn answer_question(&self, request: &str, text: &str) -> Spoken {
        // The question was withdrawn or answered meanwhile. An agent may take an answer that it does not expect for something
        // else.
        if !lock(&self.asked).contains(request) {
            return Spoken::Nothing;
        }
        let lines = lock(&self.adapter).answer(request, &Answer::Accepted(text.to_owned()));
        let said = self.try_say(lines);
        if matches!(said, Spoken::Lines(_)) {
            // Only once it was sent. Otherwise it stays due and is tried again.
            lock(&self.asked).remove(request);
        }
        said
    }

    /// Asks for the end of the turn.
    pub(super) fn interrupt(&self) -> Spoken {
        let lines = lock(&self.adapter).interrupt();
        self.try_say(lines)
    }

    /// Whether a request to its model is on its way.
    pub(super) fn has_open_request(&self) -> bool {
        lock(&self.adapter).has_open_request()
    }

    /// Closes the agent's input.
    pub(super) fn close(&self) {
        // Without a sender the writing thread ends, and with it the agent's standard input.
        *lock(&self.outbox) = None;
    }

    fn try_say(&self, lines: Vec<String>) -> Spoken {
        let outbox = lock(&self.outbox);
        let (Some(outbox), false) = (outbox.as_ref(), lines.is_empty()) else {
            return Spoken::Nothing;
        };
        for line in &lines {
            // Never waits: the driver's thread speaks here, and one agent that does not read must not stop the whole run. What
            // was not said stays due.
            match outbox.try_send(line.clone()) {
                Ok(()) => {}
                Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                    return Spoken::Nothing;
                }
            }
        }
        Spoken::Lines(lines)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
