//! Attempts of a supervisor that died: what is left of them is killed, then they are reported lost.

use std::path::Path;
use std::time::Duration;

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::input::{AttemptReport, EndSeen};

use super::agent::unclear;
use super::report::Reporter;
use crate::cookie::Cookies;
use crate::fail::{self, Point};
use crate::process::sweep;
use crate::project::RunFolder;
use crate::threads;

/// How long a keeper may take to kill its agent after its supervisor died.
const KEEPER_PATIENCE: Duration = Duration::from_secs(30);

/// Waits for the keeper and kills everything with the cookie, on a thread of its own. Where there is none, it is done here, and
/// what was seen is returned: no other attempt may start before.
pub(super) fn start(keeper: &Path, cookie: &str, reporter: Reporter) -> Option<EndSeen> {
    // Copies for the thread: where none can be started, the same is done here with the originals.
    let (its_keeper, its_cookie) = (keeper.to_owned(), cookie.to_owned());
    let observe = move || {
        fail::at(Point::BeforeObserve);
        let seen = observed(&its_keeper, &its_cookie);
        fail::at(Point::AfterObserve);
        reporter.tell(AttemptReport::Ended(seen));
    };
    threads::spawn("observe", observe).err().map(|_| observed(keeper, cookie))
}

/// True if an attempt of an earlier supervisor never started: a keeper takes its lock before it starts the agent, so without a
/// lock there was no agent. A keeper that is just starting is killed.
pub(super) fn is_absent(folder: &RunFolder, cookies: &Cookies, id: AttemptId) -> bool {
    let absent = !folder.keeper(id).exists();
    if absent {
        // A keeper may be on its way to its lock. It is killed first, so that "absent" stays true.
        sweep::sweep(&cookies.cookie(id));
    }
    absent
}

/// Waits for the keeper of an attempt whose supervisor died, and kills everything with the cookie.
pub(super) fn observed(keeper: &Path, cookie: &str) -> EndSeen {
    // Longer than a keeper needs for its grace periods and kill rounds, so that one that still kills is not disturbed.
    match sweep::await_keeper(keeper, cookie, KEEPER_PATIENCE) {
        Ok(swept) => EndSeen {
            lost: true,
            strays: swept.ended,
            unclear: unclear(swept.survivors),
            ..EndSeen::default()
        },
        // Some of its processes may still run, so it is not reported as lost: the next attempt must not start beside them.
        Err(error) => EndSeen { unclear: Some(error.to_string()), ..EndSeen::default() },
    }
}
