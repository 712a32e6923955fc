//! `state.cache`: the state as it was after some line, so that opening a long run need not fold it all.
//!
//! A projection: it may be deleted at any time, and is not believed unless everything about it fits, the ledger above
//! all. It begins with one line of JSON, what it must fit; the rest is the state.

use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::chain::stands;
use super::durable::write_whole;
use super::files::LedgerFile;
use super::{Folder, disk, io_error};
use crate::ledger::{Head, LedgerError, Sum};

pub(super) const CACHE: &str = "state.cache";
/// Rises when the layout of this file or the shape of the state changes.
const FORMAT: u32 = 14;
/// A larger cache is not written and not read.
const CACHE_BYTES_MAX: u64 = 256 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Fits {
    format: u32,
    version: String,
    head: Head,
    /// The name of the run's folder; absent in caches of earlier versions.
    #[serde(default)]
    run: String,
    /// Of the head, the run and the state: a head that was changed would have the next line taken for damage.
    sum: Sum,
}

/// Keeps the state as it is after the line that ends at `head`.
pub fn save(folder: &Folder, head: &Head, state: &impl Serialize) -> Result<(), LedgerError> {
    let path = folder.path().join(CACHE);
    let saved = encode(folder, head, state).and_then(|bytes| match bytes.len() as u64 {
        ..=CACHE_BYTES_MAX => write_whole(folder.disk(), &path, &bytes),
        _ => Ok(()),
    });
    saved.map_err(|error| io_error("write", &path, error))
}

/// The state that was kept, and after which line; none when there is any doubt.
pub fn load<T: DeserializeOwned>(folder: &Folder) -> Option<(Head, T)> {
    let Kept { fits, bytes, body } = kept(folder)?;
    let is_ours = fits.format == FORMAT
        && fits.version == env!("CARGO_PKG_VERSION")
        && stands(&mut LedgerFile::of(folder), &fits.head).ok()?;
    if !is_ours {
        return None;
    }
    let body = std::str::from_utf8(&bytes[body..]).ok()?;
    Some((fits.head, serde_json::from_str(body).ok()?))
}

/// How far the ledger went when the cache was written, whatever became of it since. A cache is written after the ledger is
/// synced, so that a ledger without this line has lost it. One that was copied from another run says nothing about this one.
pub fn known(folder: &Folder) -> Option<Head> {
    kept(folder).filter(|kept| kept.fits.run == name(folder)).map(|kept| kept.fits.head)
}

fn name(folder: &Folder) -> String {
    folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A cache that is whole.
struct Kept {
    fits: Fits,
    bytes: Vec<u8>,
    /// Where the state begins.
    body: usize,
}

fn kept(folder: &Folder) -> Option<Kept> {
    let bytes = disk::read(folder.disk(), &folder.path().join(CACHE), CACHE_BYTES_MAX).ok()??;
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let fits: Fits = serde_json::from_slice(&bytes[..end]).ok()?;
    let body = end + 1;
    let is_whole = fits.sum == sum(&fits.head, &fits.run, &bytes[body..]).ok()?;
    is_whole.then_some(Kept { fits, bytes, body })
}

fn encode(folder: &Folder, head: &Head, state: &impl Serialize) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec(state)?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let run = name(folder);
    let sum = sum(head, &run, &body)?;
    let fits = Fits { format: FORMAT, version, head: *head, run, sum };
    let mut bytes = serde_json::to_vec(&fits)?;
    bytes.push(b'\n');
    bytes.extend_from_slice(&body);
    Ok(bytes)
}

fn sum(head: &Head, run: &str, body: &[u8]) -> io::Result<Sum> {
    Ok(Sum::of(&serde_json::to_vec(&(head, run))?).then(body))
}
