//! What is said to one agent, by whoever has something to say: its own reader answers it, the driver tells it.

use std::collections::BTreeSet;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chronicle_core::event::input::Answer;

use crate::agents::{Adapter, Seen};

/// Translates and sends. Once the turn has ended there is nobody to talk to.
pub(super) struct Voice {
    adapter: Mutex<Box<dyn Adapter>>,
    outbox: Mutex<Option<SyncSender<String>>>,
    /// Questions that came over this agent's own lines; others wait at the link.
    asked: Mutex<BTreeSet<String>>,
}

/// What became of something that was to be told.
pub(super) enum Spoken {
    /// These lines are on their way.
    Lines(Vec<String>),
    /// Not now, or not in this agent's words.
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

    /// What one of the agent's lines means.
    pub(super) fn read(&self, line: &str) -> Vec<Seen> {
        lock(&self.adapter).read(line)
    }

    /// What a line means by itself, as the agent printed it.
    pub(super) fn glance(&self, line: &str) -> Vec<Seen> {
        lock(&self.adapter).glance(line)
    }

    /// Answers from the reader's own thread, which may wait until the agent reads.
    pub(super) fn answer(&self, id: &str, answer: &Answer) -> Vec<String> {
        let lines = lock(&self.adapter).answer(id, answer);
        let Some(outbox) = lock(&self.outbox).clone() else { return Vec::new() };
        lines.into_iter().filter(|line| outbox.send(line.clone()).is_ok()).collect()
    }

    /// Remembers a question whose answer comes later.
    pub(super) fn asks(&self, request: &str) {
        lock(&self.asked).insert(request.to_owned());
    }

    /// Tells a note. Never waits: what does not fit now is due still.
    pub(super) fn note(&self, text: &str) -> Spoken {
        let lines = lock(&self.adapter).note(text);
        self.try_say(lines)
    }

    /// Gives a person's answer to a question that came over this agent's lines.
    pub(super) fn answer_question(&self, request: &str, text: &str) -> Spoken {
        if !lock(&self.asked).contains(request) {
            return Spoken::Nothing;
        }
        let lines = lock(&self.adapter).answer(request, &Answer::Accepted(text.to_owned()));
        let said = self.try_say(lines);
        if matches!(said, Spoken::Lines(_)) {
            lock(&self.asked).remove(request);
        }
        said
    }

    /// Nothing more will be said: the agent's input ends.
    pub(super) fn close(&self) {
        *lock(&self.outbox) = None;
    }

    fn try_say(&self, lines: Vec<String>) -> Spoken {
        let outbox = lock(&self.outbox);
        let (Some(outbox), false) = (outbox.as_ref(), lines.is_empty()) else {
            return Spoken::Nothing;
        };
        for line in &lines {
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
