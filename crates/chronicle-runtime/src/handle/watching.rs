//! Watching a run that another process drives: all a face needs is the connection.

use super::{Asker, HandleError, News, RunFolder};
use crate::link::{self, Client};

/// A run as it happens. It ends when the run rests or its supervisor is gone: the ledger has the rest.
pub struct Watching {
    link: link::Watching,
}

/// Watches a run: first all after the line `since`, then each change once it is on disk, and what its attempts say and do if that is
/// wanted. None when nobody drives it: then all there is can be read (`follow`, `view`).
pub fn watch(
    folder: &RunFolder,
    asker: &Asker,
    since: u64,
    activity: bool,
) -> Result<Option<Watching>, HandleError> {
    let Some(client) = Client::connect(&folder.path, &asker.who)? else { return Ok(None) };
    Ok(Some(Watching { link: client.watch(since, activity)? }))
}

impl Iterator for Watching {
    type Item = Result<News, HandleError>;

    /// Waits for what comes next.
    fn next(&mut self) -> Option<Self::Item> {
        Some(self.link.next()?.map_err(HandleError::from))
    }
}
