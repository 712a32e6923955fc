//! Transcripts: an agent's output after redaction. They are evidence, not truth: a full disk costs the transcript, never the run.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use chronicle_core::base::time::Millis;

use crate::clock;
use crate::regular::{self, Links};

/// Longest transcript of one attempt; later output only counts in the activity.
const TRANSCRIPT_MAX: u64 = 256 * 1024 * 1024;

/// Who a line is from.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum From {
    Agent,
    Stderr,
    Supervisor,
}

#[derive(Serialize)]
struct TranscriptLine<'a> {
    at: Millis,
    from: From,
    line: &'a str,
}

/// The transcript of one attempt, shared by the readers of its pipes.
pub(super) struct Transcript {
    inner: Mutex<Inner>,
}

struct Inner {
    file: Option<BufWriter<File>>,
    bytes: u64,
}

impl Transcript {
    pub(super) fn create(path: &Path) -> Self {
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        // Buffered and never synced: agents print thousands of lines, and no decision depends on them.
        let file = regular::open(path, &mut options, Links::Refused).ok().map(BufWriter::new);
        Self { inner: Mutex::new(Inner { file, bytes: 0 }) }
    }

    /// Adds a redacted line.
    pub(super) fn add(&self, from: From, line: &str) {
        self.add_at(clock::now(), from, line);
    }

    /// Adds a line that was held back since that time.
    pub(super) fn add_at(&self, at: Millis, from: From, line: &str) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        // An agent that prints without end must not fill the disk that the ledger needs.
        if inner.bytes > TRANSCRIPT_MAX {
            return;
        }
        let Ok(mut text) = serde_json::to_string(&TranscriptLine { at, from, line }) else {
            return;
        };
        text.push('\n');
        if let Some(file) = &mut inner.file {
            match file.write_all(text.as_bytes()) {
                Ok(()) => inner.bytes += text.len() as u64,
                // A failed write ends the transcript, not the run: it is evidence and nothing is decided by it.
                Err(_) => inner.file = None,
            }
        }
    }

    /// Flushes it to the file and returns its length.
    pub(super) fn finish(&self) -> u64 {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &mut inner.file {
            let _ = file.flush();
        }
        inner.bytes
    }
}
