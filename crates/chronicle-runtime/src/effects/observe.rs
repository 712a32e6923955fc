//! An attempt of a supervisor that died: what is left of it is ended, then it is reported lost.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::input::{AttemptReport, EndSeen};

use super::agent::unclear;
use super::report::Reporter;
use crate::cookie::Cookies;
use crate::fail::{self, Point};
use crate::process::sweep;
use crate::project::RunFolder;

/// How long a keeper may take to end its agent after its supervisor died.
const KEEPER_PATIENCE: Duration = Duration::from_secs(30);

/// Waits for the keeper and ends everything with the cookie, on a thread of its own.
pub(super) fn start(keeper: PathBuf, cookie: String, reporter: Reporter) -> Result<(), String> {
    let thread = std::thread::Builder::new().name("observe".to_owned());
    let observe = move || {
        fail::at(Point::BeforeObserve);
        let seen = observed(&keeper, &cookie);
        fail::at(Point::AfterObserve);
        reporter.tell(AttemptReport::Ended(seen));
    };
    thread.spawn(observe).map(drop).map_err(|error| format!("no thread to observe it: {error}"))
}

/// Whether an attempt of an earlier supervisor never began: an agent is let go only once its keeper holds its lock, so where
/// there is no lock there was no agent. What was on its way is ended.
pub(super) fn is_absent(folder: &RunFolder, cookies: &Cookies, id: AttemptId) -> bool {
    let absent = !folder.keeper(id).exists();
    if absent {
        sweep::sweep(&cookies.cookie(id));
    }
    absent
}

/// Waits for the keeper of an attempt whose supervisor died, and ends everything with the cookie.
pub(super) fn observed(keeper: &Path, cookie: &str) -> EndSeen {
    match sweep::await_keeper(keeper, cookie, KEEPER_PATIENCE) {
        Ok(swept) => EndSeen {
            lost: true,
            strays: swept.ended,
            unclear: unclear(swept.survivors),
            ..EndSeen::default()
        },
        // Something of it may still work: nobody may start a second one beside it.
        Err(error) => EndSeen { unclear: Some(error.to_string()), ..EndSeen::default() },
    }
}
