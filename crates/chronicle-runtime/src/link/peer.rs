//! Who is at the other end, according to the kernel.

use std::io;
use std::os::unix::net::UnixStream;

use chronicle_core::base::ids::AttemptId;

use crate::cookie::Cookies;
use crate::process::lineage;

/// The identity of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Peer {
    /// A process of the same user that no agent of ours started.
    Person,
    /// This process itself: the HTTP signal server relays workers.
    Own,
    /// A process below the keeper of an attempt of this run.
    Worker(AttemptId),
    /// A process with the mark of some agent, or below this one, that is below no keeper of this run.
    Stray,
    /// A process of another user.
    Stranger,
}

/// The process at the other end: the one that connected or listens.
pub(super) fn pid(stream: &UnixStream) -> io::Result<u32> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    Ok(u32::try_from(peer.pid.as_raw_nonzero().get()).unwrap_or(0))
}

/// Identifies the process that connected by itself and its ancestors.
pub(super) fn of(stream: &UnixStream, cookies: &Cookies) -> io::Result<Peer> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    // First of all: nothing else is looked up for another user's process.
    if peer.uid != rustix::process::getuid() {
        return Ok(Peer::Stranger);
    }
    let pid = pid(stream)?;
    // Before the lineage, where this process is among its own ancestors and would be taken for a stray.
    if pid == std::process::id() {
        return Ok(Peer::Own);
    }
    let found = lineage::of(pid);
    // By its place among the processes, and not by what it has in its environment: that can be copied, and cleared. Keepers are children of
    // this process, which we started with their cookies; orphans of an agent are adopted by its keeper.
    if let Some(child) = found.child_of(std::process::id()) {
        let attempt = lineage::cookie_of(child).and_then(|cookie| cookies.attempt_of(&cookie));
        return Ok(attempt.map_or(Peer::Stray, Peer::Worker));
    }
    // Somebody else's worker is no person either, nor is one that only bears the mark of a worker. A process that is gone by now may have
    // been anybody.
    let is_marked = found.cookie.is_some();
    Ok(if is_marked || !found.is_whole { Peer::Stray } else { Peer::Person })
}
