//! Which agents could not go on at a visit, and who works in their place.

use serde::{Deserialize, Serialize};

use super::{Facts, Frame, Stage, Worker};
use crate::event::Why;
use crate::event::fallback::FellBack;

/// An agent that could not go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallen {
    /// Its name, with the model if `fallback` names one.
    pub agent: String,
    /// How its last attempt ended, in words.
    pub said: String,
}

/// The agents of one worker, where the first could not go on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Fallback {
    /// Those that could not go on, oldest first.
    pub fallen: Vec<Fallen>,
    /// Who works now, as the phase's `fallback` names it.
    pub agent: String,
}

impl Facts {
    /// The next agent starts with nothing of what the last one used up. That cannot go on for ever: a list has an end.
    pub(super) fn fall_back(&mut self, fell: &FellBack) {
        self.change_frame(&fell.place.frame(), |frame| {
            // Counters are of one agent. The next one has not failed yet.
            frame.worker.progress();
            frame.worker.fallback.get_or_insert_default().push(fell);
            let (agent, said) = (fell.from.clone(), fell.said.clone());
            frame.stage = Stage::Ready { why: Why::Fallback { agent, said } };
        });
    }

    /// The frames in which another agent took over.
    pub fn fallbacks(&self) -> impl Iterator<Item = (&Frame, &Fallback)> {
        self.frames.values().filter_map(|frame| Some((frame, frame.worker.fallback.as_deref()?)))
    }
}

impl Fallback {
    fn push(&mut self, fell: &FellBack) {
        self.fallen.push(Fallen { agent: fell.from.clone(), said: fell.said.clone() });
        self.agent.clone_from(&fell.to);
    }
}

impl Worker {
    /// Whether an agent of that name has worked here and could not go on.
    pub(crate) fn has_fallen(&self, agent: &str) -> bool {
        self.fallback
            .as_ref()
            .is_some_and(|it| it.fallen.iter().any(|fallen| fallen.agent == agent))
    }
}
