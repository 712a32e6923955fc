//! Messages to one agent: its reader sends answers, the driver sends notes.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chronicle_core::event::input::Answer;

use crate::agents::{Adapter, MissingProof, Seen};

/// One message to the agent: its lines, as soon as they are known. A place is taken in the queue before the adapter translates: what
/// it has translated counts as said, so it must not find out afterwards that there is no room, and half a message is worse than none.
pub(super) type Message = Receiver<Vec<String>>;

/// Translates and sends. Nothing is sent once the turn has ended.
pub(super) struct Voice {
    adapter: Mutex<Box<dyn Adapter>>,
    outbox: Mutex<Option<SyncSender<Message>>>,
    /// Questions and calls from this agent's own output that a person is asked about; others wait at the link.
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
    pub(super) fn new(adapter: Box<dyn Adapter>, outbox: SyncSender<Message>) -> Self {
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

    /// Says what follows from the agent's last line, from the reader's thread too.
    pub(super) fn inquire(&self) -> Vec<String> {
        let lines = lock(&self.adapter).inquire();
        self.say(lines)
    }

    /// What is missing before its guard is proven.
    pub(super) fn unproven(&self) -> Option<MissingProof> {
        lock(&self.adapter).unproven()
    }

    /// Whether it was given its handover.
    pub(super) fn has_begun(&self) -> bool {
        lock(&self.adapter).has_begun()
    }

    /// Has it work although its guard is not proven.
    pub(super) fn start_unproven(&self) -> Vec<String> {
        let lines = lock(&self.adapter).start_unproven();
        self.say(lines)
    }

    fn say(&self, lines: Vec<String>) -> Vec<String> {
        // Cloned, so that the lock is not held while `send` waits for the agent to read: closing must stay possible.
        let Some(outbox) = lock(&self.outbox).clone() else { return Vec::new() };
        if lines.is_empty() {
            return lines;
        }
        let (slot, message) = sync_channel(1);
        // Never blocks: there is room for one. Filled before it is queued, since its lines are known.
        let _ = slot.send(lines.clone());
        // Only what was really sent is returned: the caller writes it into the transcript.
        if outbox.send(message).is_ok() { lines } else { Vec::new() }
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
        self.try_say(|adapter| adapter.note(text))
    }

    /// Whether this agent waits for an answer that comes later.
    pub(super) fn is_asked(&self, request: &str) -> bool {
        lock(&self.asked).contains(request)
    }

    /// Sends a person's answer to what this agent asked in its output.
    pub(super) fn answer_later(&self, request: &str, answer: &Answer) -> Spoken {
        // The question was withdrawn or answered meanwhile. An agent may take an answer that it does not expect for something
        // else.
        if !lock(&self.asked).contains(request) {
            return Spoken::Nothing;
        }
        let said = self.try_say(|adapter| adapter.answer(request, answer));
        if matches!(said, Spoken::Lines(_)) {
            // Only once it was sent. Otherwise it stays due and is tried again.
            lock(&self.asked).remove(request);
        }
        said
    }

    /// Asks for the end of the turn.
    pub(super) fn interrupt(&self) -> Spoken {
        self.try_say(|adapter| adapter.interrupt())
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

    fn try_say(&self, translate: impl FnOnce(&mut dyn Adapter) -> Vec<String>) -> Spoken {
        let outbox = lock(&self.outbox);
        let (slot, message) = sync_channel(1);
        // Never waits: the driver's thread speaks here, and one agent that does not read must not stop the whole run. What was not
        // said stays due.
        let has_room = outbox.as_ref().is_some_and(|outbox| outbox.try_send(message).is_ok());
        if !has_room {
            return Spoken::Nothing;
        }
        // No other thread takes these two locks in the opposite order: translations release the adapter before anything is sent.
        let lines = translate(lock(&self.adapter).as_mut());
        if lines.is_empty() || slot.send(lines.clone()).is_err() {
            return Spoken::Nothing;
        }
        Spoken::Lines(lines)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use chronicle_core::definition::settings::Settings;

    use super::*;
    use crate::agents;

    /// A Pi that waits for the answers to three questions of an extension.
    fn voice(room: usize) -> (Voice, Receiver<Message>) {
        let (outbox, to_agent) = sync_channel(room);
        let mut adapter = agents::find("pi", Path::new("/p"), &Settings::default()).unwrap();
        adapter.start_unproven();
        for id in ["q1", "q2", "q3"] {
            let asks = format!(
                r#"{{"type":"extension_ui_request","id":"{id}","method":"input","title":"Which?"}}"#
            );
            assert!(matches!(adapter.read(&asks)[..], [Seen::Question { .. }]));
        }
        let voice = Voice::new(adapter, outbox);
        for id in ["q1", "q2", "q3"] {
            voice.asks(id);
        }
        (voice, to_agent)
    }

    fn lines(to_agent: &Receiver<Message>) -> Vec<String> {
        to_agent.try_iter().flat_map(|message| message.recv().unwrap_or_default()).collect()
    }

    fn is_said(spoken: &Spoken) -> bool {
        matches!(spoken, Spoken::Lines(_))
    }

    #[test]
    fn a_message_of_several_lines_is_said_whole_or_not_at_all() {
        let (voice, to_agent) = voice(1);
        assert!(is_said(&voice.note("first")));
        assert!(!is_said(&voice.interrupt()), "there is no room");
        assert_eq!(lines(&to_agent).len(), 1, "nothing but the note");
        assert!(is_said(&voice.interrupt()));
        let said = lines(&to_agent);
        assert_eq!(
            said.len(),
            4,
            "it is told to end, and all of its questions are closed: {said:?}"
        );
        assert!(said[0].contains("abort") && said[3].contains("q3"), "{said:?}");
    }

    #[test]
    fn an_answer_that_finds_no_room_is_said_later() {
        let (voice, to_agent) = voice(1);
        let blue = Answer::Accepted("blue".to_owned());
        assert!(is_said(&voice.note("first")));
        assert!(!is_said(&voice.answer_later("q2", &blue)));
        lines(&to_agent);
        assert!(is_said(&voice.answer_later("q2", &blue)));
        assert!(lines(&to_agent).concat().contains("blue"));
        assert!(!is_said(&voice.answer_later("q2", &blue)), "once");
    }
}
