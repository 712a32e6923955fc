//! Anchors: what is remembered of each run outside of its project, in the user's state folder.
//!
//! A ledger's sums find damage, not malice: whoever can write the ledger can cut it back, or chain a line of their own to it. An
//! anchor names the last line that Chronicle itself wrote, and whether it came to rest there. A ledger without that line was cut
//! or exchanged; one that goes on after a rest was written by somebody else.
//!
//! An anchor may lag behind its ledger, since no line waits for it, and never leads: it is written after the line is synced. Known
//! limits: what is appended after a crash and before the next start is not found, nor what is done by somebody who can write the
//! state folder, too. A project that was moved or copied has no anchor until it is driven there.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::home;
use crate::ledger::{Head, atomic_write, quick_write};
use crate::project::RunFolder;
use crate::regular::{self, Links};

/// An anchor is shorter.
const ANCHOR_MAX: u64 = 64 * 1024;
/// Digits of the sum of the folder's path in an anchor's name.
const PATH_DIGITS: usize = 16;

/// How far Chronicle wrote the ledger of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Anchor {
    /// The run's folder: a copy of it has an anchor of its own.
    folder: String,
    /// The last line that is known.
    pub(crate) head: Head,
    /// Whether nobody has written since: the ledger must end there.
    pub(crate) rests: bool,
}

/// What is remembered of a run; none when nothing is, or it cannot be read.
pub(crate) fn read(run: &RunFolder) -> Option<Anchor> {
    let (path, folder) = place(run)?;
    let bytes = regular::read(&path, ANCHOR_MAX, Links::Refused).ok()?;
    let anchor: Anchor = serde_json::from_slice(&bytes).ok()?;
    (anchor.folder == folder).then_some(anchor)
}

/// Remembers that the ledger is synced up to there, and may go on. Its failure costs nothing but that it lags.
pub(crate) fn keep(run: &RunFolder, head: Head) {
    write_quickly(run, head, false);
}

/// Remembers that the ledger ends there. Only for the one who holds the run's lock, and writes no more.
pub(crate) fn rest(run: &RunFolder, head: Head) {
    write_quickly(run, head, true);
}

/// Remembers that the ledger may go on from here. On disk before the first line is: else that line would be somebody else's
/// after a power cut.
pub(crate) fn wake(run: &RunFolder) -> io::Result<()> {
    let Some(anchor) = read(run).filter(|anchor| anchor.rests) else { return Ok(()) };
    let Some((path, _)) = place(run) else { return Ok(()) };
    let awake = serde_json::to_vec(&Anchor { rests: false, ..anchor })?;
    // Where there is no room for another anchor, none at all is as good.
    atomic_write(&path, &awake).or_else(|_| fs::remove_file(&path))
}

fn write_quickly(run: &RunFolder, head: Head, rests: bool) {
    let Some((path, folder)) = place(run) else { return };
    let Ok(bytes) = serde_json::to_vec(&Anchor { folder, head, rests }) else { return };
    if quick_write(&path, &bytes).is_err()
        && path.parent().is_some_and(|it| fs::create_dir_all(it).is_ok())
    {
        let _ = quick_write(&path, &bytes);
    }
}

/// Where the anchor of a run is, and what its folder is called in there; none when the user has no home.
fn place(run: &RunFolder) -> Option<(PathBuf, String)> {
    let folder = run.path.canonicalize().ok()?.to_string_lossy().into_owned();
    let sum = blake3::hash(folder.as_bytes()).to_hex();
    let name = format!("{}-{}", run.id, &sum[..PATH_DIGITS]);
    Some((home::state()?.join("anchors").join(name), folder))
}
