//! Retries for a ledger that is temporarily unavailable.

use std::thread;
use std::time::Duration;

use crate::ledger::LedgerError;

/// About half a minute in all: shorter than `HEARTBEAT_LIMIT`, after which another host may take over.
const TRIES_MAX: u32 = 15;
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often to retry, and how long to wait in between. The pause doubles each time.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Attempts in all, the first one included.
    pub tries: u32,
    /// Pause after the first attempt.
    pub first_pause: Duration,
    /// Upper bound of a pause.
    pub longest_pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { tries: TRIES_MAX, first_pause: FIRST_PAUSE, longest_pause: LONGEST_PAUSE }
    }
}

impl Patience {
    /// Retries while the answer is `Unavailable`. It blocks on purpose: until the ledger answers, it is unknown whether the
    /// last decision is stored, so the driver must not answer, show or perform anything.
    pub(crate) fn ask<T>(
        self,
        mut ask: impl FnMut() -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let mut pause = self.first_pause;
        for _ in 1..self.tries {
            match ask() {
                // Only this error promises that the call may be repeated. After any other the writer cannot know what is on
                // disk.
                Err(LedgerError::Unavailable { .. }) => thread::sleep(pause),
                answer => return answer,
            }
            pause = (pause * 2).min(self.longest_pause);
        }
        // The last try stands outside of the loop: a pause after it would only delay the error.
        ask()
    }
}
