//! A sheet to decide on: the state as it would be after the events so far.

use crate::event::Event;
use crate::ids::Cause;
use crate::state::State;
use crate::time::Millis;

/// Collects events. The state is copied only when an event changes what may follow.
pub(super) struct Scratch<'a> {
    base: &'a State,
    copy: Option<State>,
    at: Millis,
    events: Vec<Event>,
}

impl<'a> Scratch<'a> {
    pub(super) fn new(base: &'a State, at: Millis) -> Self {
        Self { base, copy: None, at, events: Vec::new() }
    }

    /// The state after the events so far.
    pub(super) fn state(&self) -> &State {
        self.copy.as_ref().unwrap_or(self.base)
    }

    /// Adds an event from which others may follow.
    pub(super) fn emit(&mut self, event: Event) {
        let cause = self.next_cause();
        self.copy.get_or_insert_with(|| self.base.clone()).apply_event(cause, self.at, &event);
        self.events.push(event);
    }

    /// Adds the only event of a decision, one from which nothing follows: it costs no copy.
    pub(super) fn record(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Whether anything may follow from what was decided.
    pub(super) fn is_changed(&self) -> bool {
        self.copy.is_some()
    }

    pub(super) fn count(&self) -> usize {
        self.events.len()
    }

    pub(super) fn into_events(self) -> Vec<Event> {
        self.events
    }

    fn next_cause(&self) -> Cause {
        let index = u32::try_from(self.events.len()).unwrap_or(u32::MAX);
        Cause { seq: self.base.seq + 1, index }
    }
}
