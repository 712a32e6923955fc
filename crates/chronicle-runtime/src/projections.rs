//! Projections: files beside the ledger, for speed and for other tools. All of them may be deleted at any time.

use std::path::Path;
use std::time::{Duration, Instant};

use chronicle_core::state::State;
use chronicle_core::view;
use serde_json::json;

use crate::anchor;
use crate::ledger::{self, Head, atomic_write, atomic_write_from, sweep_beside};
use crate::project::RunFolder;

/// How often projections are written while a run works.
const EVERY: Duration = Duration::from_secs(1);

/// Keeps `state.cache`, `run.json` and its mirror, and the anchor. Their failure affects only themselves.
pub(crate) struct Projections {
    folder: RunFolder,
    written: Option<(Instant, u64)>,
}

impl Projections {
    pub(crate) fn new(folder: RunFolder) -> Self {
        Self { folder, written: None }
    }

    /// Writes if the last time is long enough ago.
    pub(crate) fn catch_up(&mut self, state: &State, head: Head) {
        if self.written.is_none_or(|(at, _)| at.elapsed() >= EVERY) {
            self.write(state, head);
        }
    }

    /// Writes, unless nothing has happened since.
    pub(crate) fn write(&mut self, state: &State, head: Head) {
        if self.written.is_some_and(|(_, seq)| seq == head.seq) {
            return;
        }
        let is_first = self.written.replace((Instant::now(), head.seq)).is_none();
        let _ = ledger::save(&self.folder.ledger(), &head, state);
        // The head that is passed in is synced. An anchor ahead of its ledger would report damage where there is none.
        anchor::keep(&self.folder, head);
        let Some(mut json) = view::run_json(state) else { return };
        json["ledger"] = json!(head);
        let Ok(mut text) = serde_json::to_string_pretty(&json) else { return };
        text.push('\n');
        // A projection that cannot be written is only old. The run must not stop for it.
        let _ = atomic_write(&self.folder.run_json(), text.as_bytes());
        if let Some(mirror) = self.folder.mirror() {
            let made = mirror.parent().map(Path::to_owned).map(std::fs::create_dir_all);
            if made.is_some_and(|made| made.is_ok()) {
                if is_first {
                    // The file bears the run's id, and the run's lock is ours.
                    let _ = sweep_beside(&mirror);
                }
                let _ = atomic_write_from(&mirror, &self.folder.path, text.as_bytes());
            }
        }
    }
}
