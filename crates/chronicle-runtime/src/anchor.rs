//! Anchors: what is known of each run outside of its project, in the user's state folder.
//!
//! A ledger's sums detect damage, not malice: whoever can write the ledger can truncate it, or chain a line of their own to it.
//! An anchor names the last line that Chronicle itself wrote, and whether the run came to rest there. A ledger without that line
//! was truncated or replaced; one that continues after a rest was written by another program.
//!
//! An anchor may lag behind its ledger, since no line waits for it, but never leads: it is written after the line is synced.
//! Known limits: lines appended between a crash and the next start are not detected, nor is somebody who can also write the state
//! folder. A project that was moved or copied has no anchor until it is driven there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::home;
use crate::ledger::{Head, atomic_write, quick_write};
use crate::project::RunFolder;
use crate::regular::{self, Links};

/// Longest anchor that is read; ours are shorter.
const ANCHOR_MAX: u64 = 64 * 1024;
/// Digits of the sum of the folder's path in an anchor's name.
const PATH_DIGITS: usize = 16;

/// How far Chronicle wrote the ledger of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Anchor {
    /// The run's folder: a copy of it has an anchor of its own.
    folder: String,
    /// The last line that Chronicle wrote.
    pub(crate) head: Head,
    /// True if the ledger must end there, because nothing was written since.
    pub(crate) rests: bool,
}

/// The anchor of a run; `None` if there is none or it cannot be read.
pub(crate) fn read(run: &RunFolder) -> Option<Anchor> {
    let (path, folder) = place(run)?;
    let bytes = regular::read(&path, ANCHOR_MAX, Links::Refused).ok()?;
    let anchor: Anchor = serde_json::from_slice(&bytes).ok()?;
    // The name of the file has only a part of the path's sum, so the path inside decides.
    (anchor.folder == folder).then_some(anchor)
}

/// Records that the ledger is synced up to there and may grow. A failure only makes the anchor lag.
pub(crate) fn keep(run: &RunFolder, head: Head) {
    write_quickly(run, head, false);
}

/// Records that the ledger ends there. Only for the holder of the run's lock, after its last line.
pub(crate) fn rest(run: &RunFolder, head: Head) {
    // Without a sync, like `keep`: after a power cut the anchor may be older, which only makes it say less.
    write_quickly(run, head, true);
}

/// Records that the ledger may grow. Synced before the next line is: otherwise that line would look foreign after a power cut.
pub(crate) fn wake(run: &RunFolder) -> io::Result<()> {
    // One that does not rest says nothing that the next line could contradict.
    let Some(anchor) = read(run).filter(|anchor| anchor.rests) else { return Ok(()) };
    let Some((path, _)) = place(run) else { return Ok(()) };
    let awake = serde_json::to_vec(&Anchor { rests: false, ..anchor })?;
    // Where there is no room for another anchor, none at all is as good.
    atomic_write(&path, &awake).or_else(|_| fs::remove_file(&path))
}

fn write_quickly(run: &RunFolder, head: Head, rests: bool) {
    let Some((path, folder)) = place(run) else { return };
    let Ok(bytes) = serde_json::to_vec(&Anchor { folder, head, rests }) else { return };
    // The folder is made only after a failure: it is almost always there, and this happens every second.
    if quick_write(&path, &bytes).is_err()
        && path.parent().is_some_and(|it| fs::create_dir_all(it).is_ok())
    {
        let _ = quick_write(&path, &bytes);
    }
}

/// Forgets a run whose folder is gone: another one may come to its place, with the same id if it continues the same older run.
pub(crate) fn forget(run: &RunFolder) {
    if let Some((path, _)) = place(run) {
        let _ = fs::remove_file(path);
    }
}

/// The path without links, also if its last parts are gone.
fn canonical(path: &Path) -> Option<PathBuf> {
    match path.canonicalize() {
        Ok(path) => Some(path),
        // A run whose folder was removed must still find its anchor, to forget it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Some(canonical(path.parent()?)?.join(path.file_name()?))
        }
        Err(_) => None,
    }
}

/// Path of a run's anchor, and the name of the run's folder in it; `None` if the user has no home.
fn place(run: &RunFolder) -> Option<(PathBuf, String)> {
    let folder = canonical(&run.path)?;
    // Of the path itself and not of its text: two paths that are not text may look the same.
    let sum = blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
    let name = format!("{}-{}", run.id, &sum[..PATH_DIGITS]);
    let folder = folder.to_string_lossy().into_owned();
    Some((home::state()?.join("anchors").join(name), folder))
}
