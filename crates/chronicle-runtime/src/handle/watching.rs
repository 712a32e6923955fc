//! Watching a run that another process drives: all a face needs is the connection.

pub use crate::effects::{Bit, RunActivity};
pub use crate::link::{News, RunUpdate, Watching};

use super::{Asker, HandleError};
use crate::link::Client;
use crate::project::RunFolder;

/// Watches a run as it happens: first all after the line `since`, then each change once it is on disk, and what its attempts say and
/// do if that is wanted. None when nobody drives it: then all there is can be read (`follow`, `view`).
pub fn watch(
    folder: &RunFolder,
    asker: &Asker,
    since: u64,
    activity: bool,
) -> Result<Option<Watching>, HandleError> {
    let client = Client::connect(&folder.path, &asker.who)?;
    Ok(client.map(|client| client.watch(since, activity)).transpose()?)
}
