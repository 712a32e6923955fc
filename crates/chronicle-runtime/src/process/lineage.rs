//! The ancestors of a process: whether one of our agents is among them.

use std::os::unix::fs::MetadataExt as _;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::order::COOKIE_VARIABLE;

/// More ancestors than any process has.
const ANCESTORS_MAX: usize = 128;
/// How often the walk is repeated if an ancestor died meanwhile.
const WALKS_MAX: usize = 16;

/// What was found above a process, including itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lineage {
    /// Cookie of the nearest ancestor that has one.
    pub cookie: Option<String>,
    /// The process and its ancestors, as far as they are visible.
    pub ancestors: Vec<u32>,
    /// True if no ancestor was missed or hidden. Nothing is known about a process that is gone.
    pub is_whole: bool,
}

impl Lineage {
    /// The process among them that another one started; `None` if that one is not among them, or is the process itself.
    pub(crate) fn child_of(&self, pid: u32) -> Option<u32> {
        let at = self.ancestors.iter().position(|ancestor| *ancestor == pid)?;
        self.ancestors.get(at.checked_sub(1)?).copied()
    }
}

/// Looks at a process and everything above it.
pub(crate) fn of(pid: u32) -> Lineage {
    let mut found = walk(pid);
    for _ in 1..WALKS_MAX {
        // A process that loses its parent is adopted at once, so the next walk finds a complete path.
        if found.is_whole || found.cookie.is_some() || is_gone(pid) {
            break;
        }
        found = walk(pid);
    }
    found
}

fn walk(pid: u32) -> Lineage {
    let mut found = Lineage::default();
    let (mut next, mut is_hidden) = (Some(pid), false);
    while let Some(pid) = next.filter(|pid| *pid > 1 && found.ancestors.len() < ANCESTORS_MAX) {
        found.ancestors.push(pid);
        if found.cookie.is_none() {
            // The nearest one counts: it names the attempt that the process itself belongs to.
            found.cookie = cookie_of(pid);
            is_hidden |= found.cookie.is_none() && hides(pid);
        }
        next = parent_of(pid);
    }
    // Without a `/proc` of its own, a process can say nothing about what is above it.
    is_hidden |= next.is_none() && found.ancestors.len() <= 1;
    // The path is complete if it ends at init or at another user's process, which we may not inspect. Otherwise an ancestor
    // died during the walk.
    found.is_whole = match (found.ancestors.last(), next) {
        (_, Some(next)) => next <= 1,
        (Some(last), None) => !is_gone(*last),
        (None, None) => false,
    } && !is_hidden;
    found
}

/// True if a process of this user keeps its variables from us: we are in a user namespace below it, as a worker may be that wants to
/// pass for a person. Processes of others, and those that the kernel protects, such as `sshd`, belong to root in `/proc`.
fn hides(pid: u32) -> bool {
    let folder = format!("/proc/{pid}");
    let is_own =
        std::fs::metadata(&folder).is_ok_and(|it| it.uid() == rustix::process::geteuid().as_raw());
    let read = std::fs::read(format!("{folder}/environ"));
    is_own && read.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

fn is_gone(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

/// Every live process with a matching cookie, found in one scan.
pub(crate) fn bearing(is_such: impl Fn(&str) -> bool) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| cookie_of(*pid).is_some_and(|cookie| is_such(&cookie))).collect()
}

/// The mark in the environment that a process was started with.
pub(crate) fn cookie_of(pid: u32) -> Option<String> {
    let environ = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut variables = environ.split(|byte| *byte == 0);
    let value = variables.find_map(|variable| {
        variable.strip_prefix(COOKIE_VARIABLE.as_bytes())?.strip_prefix(b"=")
    })?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Field 4 of `/proc/PID/stat`; the name in field 2 may contain spaces and parentheses.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}
