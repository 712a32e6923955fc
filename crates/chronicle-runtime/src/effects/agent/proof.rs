//! Whether an agent has proven that it has its tools judged, and what follows if not: it is given nothing to do, is stopped if it has its
//! handover by then, or works all the same if its user's own settings want that.

use std::sync::atomic::Ordering;

use chronicle_core::event::CrashClass;
use chronicle_core::event::input::AttemptReport;
use chronicle_core::words;

use super::AgentShared;
use crate::effects::STOP_GRACE;
use crate::effects::transcript::From;
use crate::process::Control;

/// What a person can do about it.
const HINT: &str = "update it, or set `guards.proof = \"best-effort\"` in your own settings";

impl AgentShared {
    /// Called after each line: the proof may have come with it.
    pub(super) fn look_at_proof(&self) {
        if self.is_settled.load(Ordering::SeqCst) {
            return;
        }
        match self.voice.unproven() {
            None => {
                self.settle();
            }
            Some(unproven) if unproven.is_due => self.watchdog.proof_is_due(),
            Some(_) => {}
        }
    }

    /// The guard is proven, or was found not to be; the first time counts.
    fn settle(&self) -> bool {
        self.watchdog.proven();
        !self.is_settled.swap(true, Ordering::SeqCst)
    }

    /// It was silent for too long, or took too long, and may have nothing more to say.
    pub(super) fn waited_in_vain(&self, control: &Control) {
        // The proof may have come in this very moment.
        let Some(unproven) = self.voice.unproven() else { return };
        self.is_unguarded(unproven.why);
        if self.last_words().is_unguarded() {
            control.stop(STOP_GRACE);
        }
    }

    /// Its guard is not proven. Where it may not work without, the reader or the watch stops it.
    pub(super) fn is_unguarded(&self, why: String) {
        let is_news = self.settle();
        if !self.context.settings.guards_best_effort() {
            let had_work = if self.voice.has_begun() { words::HAD_WORK } else { "" };
            let text = format!("{had_work}{why}; {HINT}");
            let mut last = self.last_words();
            // Also if it had proven it before: what it shows now weighs more. That a call ran unjudged weighs most of all.
            if !matches!(last.error, Some((CrashClass::Unjudged, _))) {
                last.error = Some((CrashClass::Unguarded, text));
            }
            return;
        }
        // On record before it is given anything to do; without a driver it is about to be ended anyway.
        if is_news && self.reporter.ask(AttemptReport::GuardUnproven { why }).is_none() {
            return;
        }
        for line in self.voice.start_unproven() {
            self.transcript.add(From::Supervisor, &line);
        }
    }
}
