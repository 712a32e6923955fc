//! Watching a run that another process drives: all a face needs is the connection.

use super::{Asker, HandleError, News, RunFolder};
use crate::link::{self, Client};

/// A run as it happens. It ends when the run rests or its supervisor is gone; the ledger has the rest.
pub struct Watching {
    link: link::LinkWatch,
}

/// Watches a run: first everything after the line `since`, then each change once it is synced and, if wanted, what attempts say
/// and do. `None` if the run is not driven: then use `follow` and `view`.
pub fn watch(
    folder: &RunFolder,
    asker: &Asker,
    since: u64,
    activity: bool,
) -> Result<Option<Watching>, HandleError> {
    // Not an error: a run that nobody drives has nothing live to tell, and its ledger can be followed instead.
    let Some(client) = Client::connect(&folder.path, &asker.who)? else { return Ok(None) };
    // From a line that the caller knows: what happened between its reading and this connection is sent first.
    Ok(Some(Watching { link: client.watch(since, activity)? }))
}

impl Iterator for Watching {
    type Item = Result<News, HandleError>;

    /// Waits for the next message.
    fn next(&mut self) -> Option<Self::Item> {
        Some(self.link.next()?.map_err(HandleError::from))
    }
}
