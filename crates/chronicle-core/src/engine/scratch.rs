//! Working copy for a decision: the state as it would be after the events so far.

use crate::base::ids::Cause;
use crate::base::time::Millis;
use crate::event::Event;
use crate::handover;
use crate::state::State;

/// Collects events. The state is copied only when an event may have consequences.
pub(super) struct Scratch<'a> {
    base: &'a State,
    copy: Option<State>,
    at: Millis,
    events: Vec<Event>,
    bodies: Vec<String>,
}

impl<'a> Scratch<'a> {
    pub(super) fn new(base: &'a State, at: Millis) -> Self {
        Self { base, copy: None, at, events: Vec::new(), bodies: Vec::new() }
    }

    /// The state after the events so far.
    pub(super) fn state(&self) -> &State {
        self.copy.as_ref().unwrap_or(self.base)
    }

    /// Adds an event that may have consequences.
    pub(super) fn emit(&mut self, mut event: Event) {
        let cause = self.next_cause();
        // Copied at the first event with consequences. The real state changes only when the line is applied after its append.
        let state = self.copy.get_or_insert_with(|| self.base.clone());
        state.apply_event(cause, self.at, &event);
        // The handover describes the state in which the attempt has already started, so it is made after the event was applied.
        if let Event::AttemptStarted(intent) = &mut event
            && let Some((handed, told)) = handover::handed(state, intent.attempt)
        {
            intent.handover = Some(handed);
            state.begin_told(intent);
            self.bodies.push(told.text);
            self.bodies.extend(told.rest);
        }
        self.events.push(event);
    }

    /// Adds the only event of a decision without consequences: this avoids the copy.
    pub(super) fn record(&mut self, event: Event) {
        self.events.push(event);
    }

    /// True if anything may follow from the events so far.
    pub(super) fn is_changed(&self) -> bool {
        self.copy.is_some()
    }

    pub(super) fn count(&self) -> usize {
        self.events.len()
    }

    /// The events, and the texts whose sums they name.
    pub(super) fn into_parts(self) -> (Vec<Event>, Vec<String>) {
        (self.events, self.bodies)
    }

    fn next_cause(&self) -> Cause {
        let index = u32::try_from(self.events.len()).unwrap_or(u32::MAX);
        // The same as when the line is folded: effects are known by their cause, and must not change between deciding and
        // applying.
        Cause { seq: self.base.seq + 1, index }
    }
}
