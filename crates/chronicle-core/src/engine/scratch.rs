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
        let (cause, at) = (self.cause(self.events.len()), self.at);
        // Copied at the first event with consequences. The real state changes only when the line is applied after its append.
        let state = match self.copy.take() {
            Some(state) => state,
            None => self.caught_up(),
        };
        let state = self.copy.insert(state);
        state.apply_event(cause, at, &event);
        // The handover describes the state in which the attempt has already started, so it is made after the event was applied.
        if let Event::AttemptStarted(intent) = &mut event
            && let Some((handed, told)) = handover::handed(state, intent.attempt)
        {
            intent.handover = Some(handed);
            state.begin_told(intent);
            // Beside the event, which has only their sums: they go into the line, or to the disk before it.
            self.bodies.push(told.text);
            self.bodies.extend(told.rest);
        }
        if let Event::AttemptRewalled(rewalled) = &mut event
            && let Some((handed, told)) = handover::handed(state, rewalled.attempt)
        {
            rewalled.handover = Some(handed);
            state.apply_event(cause, at, &Event::AttemptRewalled(rewalled.clone()));
            self.bodies.push(told.text);
            self.bodies.extend(told.rest);
        }
        self.events.push(event);
    }

    /// Adds an event without consequences. The state is not copied for it; a copy that exists already takes it in.
    pub(super) fn record(&mut self, event: Event) {
        let cause = self.cause(self.events.len());
        if let Some(state) = &mut self.copy {
            state.apply_event(cause, self.at, &event);
        }
        self.events.push(event);
    }

    /// A copy of the state with the events that were only recorded: consequences are judged on what the line makes of it.
    fn caught_up(&self) -> State {
        let mut state = self.base.clone();
        // With the same causes as when the line is folded, although these events were only recorded before.
        for (index, event) in self.events.iter().enumerate() {
            state.apply_event(self.cause(index), self.at, event);
        }
        state
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

    /// The cause of the event with that index.
    fn cause(&self, index: usize) -> Cause {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        // The same as when the line is folded: effects are known by their cause, and must not change between deciding and
        // applying.
        Cause { seq: self.base.seq + 1, index }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consequences_are_judged_on_all_events_so_far() {
        let base = State::default();
        let titled =
            |title: &str| Event::RunTitled { title: title.to_owned(), who: "ann".to_owned() };
        let mut scratch = Scratch::new(&base, Millis(1));
        scratch.record(titled("first"));
        assert_eq!(scratch.state().title, None, "nothing is copied for it");
        scratch.emit(Event::RunPaused { reason: String::new() });
        assert_eq!(scratch.state().title.as_deref(), Some("first"));
        scratch.record(titled("second"));
        assert_eq!(scratch.state().title.as_deref(), Some("second"));
        assert_eq!(scratch.into_parts().0.len(), 3);
    }
}
