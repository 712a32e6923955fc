//! Projections: files beside the ledger, for speed and for other tools. All of them may be deleted at any time.

use std::path::Path;
use std::time::{Duration, Instant};

use chronicle_core::state::State;
use chronicle_core::view;
use serde_json::json;

use crate::anchor;
use crate::ledger::{self, Head, Pace, sweep_beside, write_from};
use crate::project::RunFolder;

/// How often projections are written while a run works.
const EVERY: Duration = Duration::from_secs(1);

/// Keeps `state.cache`, `run.json` and its mirror, and the anchor. Their failure affects only themselves.
pub(crate) struct Projections {
    folder: RunFolder,
    written: Option<LastWrite>,
}

/// When projections were last written, after which line, and whether that waited for the disk.
struct LastWrite {
    at: Instant,
    seq: u64,
    pace: Pace,
}

impl Projections {
    pub(crate) fn new(folder: RunFolder) -> Self {
        Self { folder, written: None }
    }

    /// Writes if the last time is long enough ago. The run goes on meanwhile, so it does not wait for the disk.
    pub(crate) fn catch_up(&mut self, state: &State, head: Head) {
        if self.written.as_ref().is_none_or(|it| it.at.elapsed() >= EVERY) {
            self.replace(state, head, Pace::Quick);
        }
    }

    /// Writes and waits for the disk, unless nothing has happened since the last time that it did.
    pub(crate) fn write(&mut self, state: &State, head: Head) {
        // What was written quickly may not be on disk yet, so at rest it is written once more.
        let is_new = |it: &LastWrite| it.seq != head.seq || it.pace < Pace::Durable;
        if self.written.as_ref().is_none_or(is_new) {
            self.replace(state, head, Pace::Durable);
        }
    }

    fn replace(&mut self, state: &State, head: Head, pace: Pace) {
        // Noted before it is tried: on a full disk each line of the ledger would otherwise try again.
        let written = LastWrite { at: Instant::now(), seq: head.seq, pace };
        let is_first = self.written.replace(written).is_none();
        let _ = ledger::save(&self.folder.ledger(), &head, state);
        // The head that is passed in is synced. An anchor ahead of its ledger would report damage where there is none.
        anchor::keep(&self.folder, head);
        let Some(mut json) = view::run_json(state) else { return };
        json["ledger"] = json!(head);
        let Ok(mut text) = serde_json::to_string_pretty(&json) else { return };
        text.push('\n');
        let room = &self.folder.path;
        // A projection that cannot be written is only old. The run must not stop for it.
        let _ = write_from(&self.folder.run_json(), room, text.as_bytes(), pace);
        if let Some(mirror) = self.folder.mirror() {
            let made = mirror.parent().map(Path::to_owned).map(std::fs::create_dir_all);
            if made.is_some_and(|made| made.is_ok()) {
                if is_first {
                    // The file bears the run's id, and the run's lock is ours.
                    let _ = sweep_beside(&mirror);
                }
                let _ = write_from(&mirror, room, text.as_bytes(), pace);
            }
        }
    }
}
