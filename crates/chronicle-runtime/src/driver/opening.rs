//! Opens a run: the ledger is claimed, read and judged, and only then written to.

use std::time::Instant;

use chronicle_core::state::State;

use super::Run;
use crate::ledger::{ClaimedLines, Head, Holder, Ledger, LedgerError};
use crate::patience::Patience;

impl Run {
    /// Claims the ledger and folds what is new since the cached state.
    pub fn open(
        ledger: &dyn Ledger,
        who: Holder,
        cached: Option<(Head, State)>,
    ) -> Result<Self, LedgerError> {
        Self::open_if(ledger, who, cached, |_, _| Ok(()))
    }

    /// The same, if nothing speaks against what was read. Before that nothing is written, and a torn last line stays where it is:
    /// whoever repairs a damaged ledger has to find all of it.
    pub(crate) fn open_if(
        ledger: &dyn Ledger,
        who: Holder,
        cached: Option<(Head, State)>,
        judge: impl FnOnce(Head, &State) -> Result<(), LedgerError>,
    ) -> Result<Self, LedgerError> {
        let (from, mut state) = cached.unwrap_or((Head::EMPTY, State::default()));
        let read = ClaimedLines::read(ledger, who, from, |line| state.apply(&line))?;
        judge(read.head, &state)?;
        let writer = read.writer()?;
        Ok(Self { state, writer, beaten: Instant::now(), patience: Patience::default() })
    }
}
