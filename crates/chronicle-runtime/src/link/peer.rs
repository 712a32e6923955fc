//! Who is on the other side, as the system tells it.

use std::io;
use std::os::unix::net::UnixStream;

use chronicle_core::base::ids::AttemptId;

use crate::cookie::Cookies;
use crate::process::lineage;

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Peer {
    /// A process of the same user that no agent of ours started.
    Person,
    /// This very process: a door of ours that others come in by.
    Own,
    /// A process below an attempt of this run.
    Worker(AttemptId),
    /// A process below some agent, and not one of this run's live attempts that could be told.
    Stray,
    /// Another user.
    Stranger,
}

/// The process at the other end: who connected, or who listens.
pub(super) fn pid(stream: &UnixStream) -> io::Result<u32> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    Ok(u32::try_from(peer.pid.as_raw_nonzero().get()).unwrap_or(0))
}

/// Looks at the process that connected, and at everything above it.
pub(super) fn of(stream: &UnixStream, cookies: &Cookies) -> io::Result<Peer> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    if peer.uid != rustix::process::getuid() {
        return Ok(Peer::Stranger);
    }
    let pid = pid(stream)?;
    if pid == std::process::id() {
        return Ok(Peer::Own);
    }
    let found = lineage::of(pid);
    if let Some(cookie) = &found.cookie {
        return Ok(cookies.attempt_of(cookie).map_or(Peer::Stray, Peer::Worker));
    }
    // A worker that cleared its environment is still below us: agents are our keepers' children. One that is gone by now
    // may have been anybody.
    let below_us = found.ancestors.contains(&std::process::id());
    Ok(if below_us || !found.is_whole { Peer::Stray } else { Peer::Person })
}
