//! Passes the agent's stdin from the supervisor to the keeper.
//!
//! A child gets three files as standard streams: for the keeper these are the socket and the agent's stdout and stderr. The
//! fourth, the agent's stdin, cannot be inherited by number: safe code cannot close a number again, and it would leak into the
//! agent and all its children.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::AsRawFd;

/// On Linux the keeper opens the pipe through the supervisor's entry in `/proc`: nothing is ever inheritable, so a concurrent
/// spawn in this process cannot catch it.
#[cfg(target_os = "linux")]
pub(super) fn offer(read_end: &PipeReader) -> OsString {
    format!("/proc/{}/fd/{}", std::process::id(), read_end.as_raw_fd()).into()
}

/// Elsewhere it is inherited and stays open in the agent as an extra number: a write to an agent that closed its stdin fails only
/// once the agent has ended.
#[cfg(not(target_os = "linux"))]
pub(super) fn offer(read_end: &PipeReader) -> OsString {
    format!("/dev/fd/{}", read_end.as_raw_fd()).into()
}

/// Opens what was offered.
pub(super) fn fetch(offered: &OsString) -> io::Result<File> {
    File::open(offered)
}

/// Spawns while the read end is inheritable; one spawn at a time, so that no other keeper inherits it.
#[cfg(not(target_os = "linux"))]
pub(super) fn while_offered<T>(
    read_end: &PipeReader,
    spawn: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    use rustix::io::{FdFlags, fcntl_setfd};
    static SPAWNING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one_at_a_time = SPAWNING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    fcntl_setfd(read_end, FdFlags::empty())?;
    // Not returned at once: even if it fails, the number must not stay inheritable.
    let spawned = spawn();
    fcntl_setfd(read_end, FdFlags::CLOEXEC)?;
    spawned
}

/// Nothing is inherited here, so nothing needs a guard.
#[cfg(target_os = "linux")]
pub(super) fn while_offered<T>(
    _read_end: &PipeReader,
    spawn: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    spawn()
}
