//! Signals as something to read, with who sent them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Signals that came before they could be read.
///
/// The kernel drops what PID 1 has no handler for, whoever sends it, and signals cannot be blocked before the program is started:
/// it would inherit that. Handlers are not inherited.
pub(super) struct EarlySignals([Arc<AtomicBool>; PASSED.len()]);

impl EarlySignals {
    pub(super) fn remember() -> io::Result<Self> {
        let flags: [Arc<AtomicBool>; PASSED.len()] = std::array::from_fn(|_| Arc::default());
        for ((name, _), flag) in PASSED.iter().zip(&flags) {
            signal_hook::flag::register(*name as i32, Arc::clone(flag))?;
        }
        Ok(Self(flags))
    }

    /// Those that came. Asked once later ones wait to be read.
    pub(super) fn came(&self) -> impl Iterator<Item = Signal> {
        let pairs = PASSED.iter().zip(&self.0);
        pairs.filter(|(_, flag)| flag.load(Ordering::Relaxed)).map(|((_, signal), _)| *signal)
    }
}

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
