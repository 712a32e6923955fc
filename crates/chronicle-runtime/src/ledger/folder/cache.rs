//! `state.cache`: the state after some line, so that opening a long run need not fold all lines.
//!
//! It is a projection: it may be deleted at any time, and is used only if everything about it matches, above all the ledger. Its
//! first line is JSON that says what it must match; the rest is the state.

use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::chain::stands;
use super::durable::write_quick;
use super::files::LedgerFile;
use super::{Folder, disk, io_error};
use crate::ledger::{Head, LedgerError, Sum};

pub(super) const CACHE: &str = "state.cache";
/// Raised when the layout of this file, the shape of the state or the fold of old lines changes.
const FORMAT: u32 = 33;
/// A larger cache is not written and not read.
const CACHE_BYTES_MAX: u64 = 256 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Fits {
    format: u32,
    version: String,
    head: Head,
    /// Name of the run's folder; missing in caches of earlier versions.
    #[serde(default)]
    run: String,
    /// Covers the head, the run and the state: with a modified head, the next line would look damaged.
    sum: Sum,
}

/// Saves the state after the line that ends at `head`.
pub fn save(folder: &Folder, head: &Head, state: &impl Serialize) -> Result<(), LedgerError> {
    let path = folder.path().join(CACHE);
    let saved = encode(folder, head, state).and_then(|bytes| match bytes.len() as u64 {
        // Larger ones would not be read back. No cache is only slower, so it is not an error. For the same reason it is not
        // synced: one that a power cut spoils fails its own sum.
        ..=CACHE_BYTES_MAX => write_quick(folder.disk(), &path, &bytes),
        _ => Ok(()),
    });
    saved.map_err(|error| io_error("write", &path, error))
}

/// The saved state and its head; `None` if there is any doubt.
pub fn load<T: DeserializeOwned>(folder: &Folder) -> Option<(Head, T)> {
    let CacheFile { fits, bytes, body } = kept(folder)?;
    let is_ours = fits.format == FORMAT
        // Another version may fold the same lines to another state.
        && fits.version == env!("CARGO_PKG_VERSION")
        && stands(&mut LedgerFile::of(folder), &fits.head).ok()?;
    if !is_ours {
        return None;
    }
    let body = std::str::from_utf8(&bytes[body..]).ok()?;
    Some((fits.head, serde_json::from_str(body).ok()?))
}

/// How far the ledger went when the cache was written, whatever happened to it since. The cache is written after a sync, so a
/// ledger without this line has lost it. A cache that was copied from another run says nothing about this one.
pub fn known(folder: &Folder) -> Option<Head> {
    // Whether format and version match does not matter here: how far the ledger went is true in any case.
    kept(folder).filter(|kept| kept.fits.run == name(folder)).map(|kept| kept.fits.head)
}

fn name(folder: &Folder) -> String {
    folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned()
}

struct CacheFile {
    fits: Fits,
    bytes: Vec<u8>,
    /// Offset of the state.
    body: usize,
}

fn kept(folder: &Folder) -> Option<CacheFile> {
    let bytes = disk::read(folder.disk(), &folder.path().join(CACHE), CACHE_BYTES_MAX).ok()??;
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let fits: Fits = serde_json::from_slice(&bytes[..end]).ok()?;
    let body = end + 1;
    // The cache is written without being part of the chain, so its own sum is the only protection against a torn write.
    let is_whole = fits.sum == sum(&fits.head, &fits.run, &bytes[body..]).ok()?;
    is_whole.then_some(CacheFile { fits, bytes, body })
}

fn encode(folder: &Folder, head: &Head, state: &impl Serialize) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec(state)?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let run = name(folder);
    // The run's name is part of the sum: a cache that was copied from another run's folder must not vouch for this ledger.
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
