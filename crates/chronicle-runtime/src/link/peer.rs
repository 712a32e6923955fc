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
    /// A process below an attempt of this run.
    Worker(AttemptId),
    /// A process below some agent that cannot be assigned to a live attempt of this run.
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
    if let Some(cookie) = &found.cookie {
        // A cookie of another run, or of another copy of this one, is no worker of ours, and no person either.
        return Ok(cookies.attempt_of(cookie).map_or(Peer::Stray, Peer::Worker));
    }
    // A worker that cleared its environment is still below this process, since agents are children of our keepers. A process
    // that is gone by now may have been anybody, so it is not taken for a person.
    let below_us = found.ancestors.contains(&std::process::id());
    Ok(if below_us || !found.is_whole { Peer::Stray } else { Peer::Person })
}
