//! Programs that are this binary under another name, and how it starts itself again.

use std::path::Path;

use crate::cookie::NOTICE;
use crate::process::lineage;
use crate::regular::{self, Links};

pub use crate::agents::PROTOCOL;
pub use crate::fail::arm as arm_fail_points;
pub use crate::process::keeper::main as keeper;
pub use crate::process::wall::{init as wall_init, outer as wall};
pub use crate::process::{
    ShowOutput, beside, detached, keeper_exec, leave_terminal, own_executable, tool_exec,
    tools_die_with_us,
};

/// Most of a detached supervisor's log that is read.
const LOG_MAX: u64 = 16 * 1024 * 1024;

/// What a detached supervisor has printed so far.
pub fn said_in(log: &Path) -> String {
    let bytes = regular::read(log, LOG_MAX, Links::Refused).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where the names of users are.
const USERS: &str = "/etc/passwd";

/// Most of that file that is read.
const USERS_MAX: u64 = 4 * 1024 * 1024;

/// The name of the person who runs this program: what the environment says, otherwise what the system calls this user id.
pub fn user_name() -> String {
    let said = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    // Set to nothing counts as not set: a decision by nobody would be in the ledger.
    said.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| {
        let id = rustix::process::getuid().as_raw();
        let users = regular::read(Path::new(USERS), USERS_MAX, Links::Followed).unwrap_or_default();
        name_of(&String::from_utf8_lossy(&users), id).unwrap_or_else(|| format!("user {id}"))
    })
}

/// The name of a user in a file such as `/etc/passwd`: `ann:x:1000:…`.
fn name_of(users: &str, id: u32) -> Option<String> {
    users.lines().find_map(|line| {
        let mut parts = line.split(':');
        let (name, _, number) = (parts.next()?, parts.next()?, parts.next()?);
        (number.parse() == Ok(id) && !name.is_empty()).then(|| name.to_owned())
    })
}

/// Environment variable that tells an agent which attempt it works on.
const ATTEMPT: &str = "CHRONICLE_ATTEMPT";

/// What started this process, if not a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Starter {
    /// A worker, with its attempt.
    Worker(String),
    /// The command that sends a notice.
    Notice,
    /// Cannot be seen: the processes above this one are hidden from it.
    Hidden,
}

/// The worker or notice that started this process; `None` if a person did. What cannot be seen is not taken for a person.
pub fn working_for() -> Option<Starter> {
    // The honest case first, since it can name the attempt without reading `/proc`.
    if let Ok(attempt) = std::env::var(ATTEMPT) {
        return Some(Starter::Worker(attempt));
    }
    // A worker can clear a variable, but not the marks of the processes above it.
    let found = lineage::of(std::process::id());
    let Some(mark) = found.cookie else {
        return (!found.is_whole).then_some(Starter::Hidden);
    };
    let mut parts = mark.split('-').skip(1);
    Some(match parts.next() {
        Some(NOTICE) => Starter::Notice,
        Some(attempt) => Starter::Worker(attempt.to_owned()),
        None => Starter::Worker(mark),
    })
}
