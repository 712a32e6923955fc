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

const CACHE: &str = "state.cache";
/// Rises when the layout of this file or the shape of the state changes.
const FORMAT: u32 = 13;
/// A larger cache is not written and not read.
const CACHE_BYTES_MAX: u64 = 256 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Fits {
    format: u32,
    version: String,
    head: Head,
    /// Of the head and the state: a head that was changed would have the next line taken for damage.
    sum: Sum,
}

/// Keeps the state as it is after the line that ends at `head`.
pub fn save(folder: &Folder, head: &Head, state: &impl Serialize) -> Result<(), LedgerError> {
    let path = folder.path().join(CACHE);
    let saved = encode(head, state).and_then(|bytes| match bytes.len() as u64 {
        ..=CACHE_BYTES_MAX => write_whole(folder.disk(), &path, &bytes),
        _ => Ok(()),
    });
    saved.map_err(|error| io_error("write", &path, error))
}

/// The state that was kept, and after which line; none when there is any doubt.
pub fn load<T: DeserializeOwned>(folder: &Folder) -> Option<(Head, T)> {
    let bytes = disk::read(folder.disk(), &folder.path().join(CACHE), CACHE_BYTES_MAX).ok()??;
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (first, body) = (&bytes[..end], &bytes[end + 1..]);
    let fits: Fits = serde_json::from_slice(first).ok()?;
    let is_ours = fits.format == FORMAT
        && fits.version == env!("CARGO_PKG_VERSION")
        && fits.sum == sum(&fits.head, body).ok()?
        && stands(&mut LedgerFile::of(folder), &fits.head).ok()?;
    if !is_ours {
        return None;
    }
    Some((fits.head, serde_json::from_str(std::str::from_utf8(body).ok()?).ok()?))
}

fn encode(head: &Head, state: &impl Serialize) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec(state)?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let fits = Fits { format: FORMAT, version, head: *head, sum: sum(head, &body)? };
    let mut bytes = serde_json::to_vec(&fits)?;
    bytes.push(b'\n');
    bytes.extend_from_slice(&body);
    Ok(bytes)
}

fn sum(head: &Head, body: &[u8]) -> io::Result<Sum> {
    Ok(Sum::of(&serde_json::to_vec(head)?).then(body))
}
