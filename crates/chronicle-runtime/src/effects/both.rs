//! Two performers of one run: what is due goes to the one that it names.

use chronicle_core::event::Performer;
use chronicle_core::event::input::Input;
use chronicle_core::state::State;
use chronicle_core::state::effect::Effect;

use crate::driver::World;

/// The supervisor's own world, and that of the session which hosts the run.
pub struct Both<'w> {
    supervisor: &'w mut dyn World,
    host: &'w mut dyn World,
}

impl<'w> Both<'w> {
    /// Each of them hears only what it is to perform.
    pub fn new(supervisor: &'w mut dyn World, host: &'w mut dyn World) -> Self {
        Self { supervisor, host }
    }
}

impl World for Both<'_> {
    fn reconcile(&mut self, state: &State, due: &[Effect]) -> Vec<Input> {
        let (host, supervisor): (Vec<Effect>, Vec<Effect>) =
            due.iter().cloned().partition(|effect| effect.by == Performer::Host);
        // Each world sees only its own effects: one that is missing from a list counts as no longer due, and is stopped.
        let mut at_once = self.supervisor.reconcile(state, &supervisor);
        at_once.extend(self.host.reconcile(state, &host));
        at_once
    }

    fn is_idle(&self) -> bool {
        // Both: a run must not be left while either of them still performs something.
        self.supervisor.is_idle() && self.host.is_idle()
    }
}
