//! Signals as something to read, with who sent them.

use std::io;
use std::time::Instant;

use nix::sys::signal::{SigSet, Signal as Name};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags};
use rustix::process::Signal;

use crate::process::wire;

/// Those that are passed on. What the kernel sends for a terminal reaches the program by itself.
const PASSED: [(Name, Signal); 6] = [
    (Name::SIGHUP, Signal::HUP),
    (Name::SIGINT, Signal::INT),
    (Name::SIGQUIT, Signal::QUIT),
    (Name::SIGTERM, Signal::TERM),
    (Name::SIGUSR1, Signal::USR1),
    (Name::SIGUSR2, Signal::USR2),
];

/// The signals of this process, and the ends of its children.
pub(super) struct Signals(SignalFd);

/// A signal that some process sent.
pub(super) struct SentSignal {
    pub(super) signal: Signal,
    /// The sender; 0 for one that cannot be seen from here, which is outside.
    pub(super) by: u32,
}

/// Lets every signal through. A mask is handed down: without this, the program would be deaf to what our parent happened to block.
pub(super) fn unblock() -> io::Result<()> {
    SigSet::all().thread_unblock()?;
    Ok(())
}

impl Signals {
    /// From now on signals wait to be read. Only after the start of a child: it would inherit the mask, and be deaf to SIGTERM.
    pub(super) fn block() -> io::Result<Self> {
        let mut set: SigSet = PASSED.iter().map(|(name, _)| *name).collect();
        set.add(Name::SIGCHLD);
        set.thread_block()?;
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        Ok(Self(SignalFd::with_flags(&set, flags)?))
    }

    /// Waits for anything. Returns what other processes sent; a child's end is for the caller to look for.
    pub(super) fn wait(&self, until: Option<Instant>) -> io::Result<Vec<SentSignal>> {
        wire::wait_until(&mut [PollFd::new(&self.0, PollFlags::IN)], until)?;
        let mut sent = Vec::new();
        while let Some(info) = self.0.read_signal()? {
            let number = i32::try_from(info.ssi_signo).ok();
            let found = PASSED.iter().find(|(name, _)| Some(*name as i32) == number);
            // Above 0 the kernel sent it, for example for Ctrl-C: the program has got that one too.
            if let Some((_, signal)) = found.filter(|_| info.ssi_code <= 0) {
                sent.push(SentSignal { signal: *signal, by: info.ssi_pid });
            }
        }
        Ok(sent)
    }
}
