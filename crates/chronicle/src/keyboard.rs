//! What a person types at the terminal.
//!
//! Only a process in the foreground of its terminal may read or flush it. The kernel stops any other one (SIGTTIN, SIGTTOU), and
//! a supervisor that is stopped answers nobody. And only what is typed after a question answers it.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionread, read};
use rustix::process::getpgrp;
use rustix::stdio::stdin;
use rustix::termios::{QueueSelector, tcflush, tcgetpgrp};

/// Longest line that is read.
const LINE_MAX: usize = 8_000;

/// How often a process in the background looks whether it was brought to the foreground.
const LOOK: Duration = Duration::from_millis(200);

/// What was found at one look.
#[derive(Debug)]
pub(crate) enum Typed {
    Line(String),
    /// No whole line, or nothing that may be read now.
    Nothing,
    /// There will be no more lines.
    End,
}

/// Lines from standard input, read without ever blocking.
#[derive(Debug, Default)]
pub(crate) struct Keyboard {
    /// Read already, and not yet given to anybody.
    held: Vec<u8>,
}

impl Keyboard {
    /// The next line if there is one.
    pub(crate) fn take(&mut self) -> Typed {
        if let Some(line) = self.line() {
            return Typed::Line(line);
        }
        // Both are asked for right before the read: it must neither block nor be made from the background.
        if !is_foreground() || !is_ready(Duration::ZERO) {
            return Typed::Nothing;
        }
        let mut bytes = [0; LINE_MAX];
        match read(stdin(), &mut bytes) {
            Ok(0) => Typed::End,
            Ok(count) => {
                self.held.extend_from_slice(bytes.get(..count).unwrap_or_default());
                self.line().map_or(Typed::Nothing, Typed::Line)
            }
            Err(Errno::INTR | Errno::AGAIN) => Typed::Nothing,
            Err(_) => Typed::End,
        }
    }

    /// Waits for a line; `None` at the end of input.
    pub(crate) fn wait_for_line(&mut self) -> Option<String> {
        loop {
            match self.take() {
                Typed::Line(line) => return Some(line),
                Typed::End => return None,
                Typed::Nothing => wait(),
            }
        }
    }

    /// Throws away what was typed so far, also a line that is not whole yet. Returns true if there was any.
    pub(crate) fn discard(&mut self) -> bool {
        if !is_foreground() {
            return false;
        }
        let was_typed =
            !self.held.is_empty() || ioctl_fionread(stdin()).is_ok_and(|count| count > 0);
        self.held.clear();
        // Fails only where there is no terminal, and there nobody is asked.
        let _ = tcflush(stdin(), QueueSelector::IFlush);
        was_typed
    }

    fn line(&mut self) -> Option<String> {
        let end = self.held.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let end = end.or_else(|| (self.held.len() >= LINE_MAX).then_some(self.held.len()))?;
        let line: Vec<u8> = self.held.drain(..end).collect();
        Some(String::from_utf8_lossy(&line).into_owned())
    }
}

/// Whether this process may read its terminal. A terminal that does not control this process stops nobody.
pub(crate) fn is_foreground() -> bool {
    tcgetpgrp(stdin()).map_or(true, |front| front == getpgrp())
}

/// Waits a short while, less if there is something to read.
pub(crate) fn wait() {
    if is_foreground() {
        is_ready(LOOK);
    } else {
        // Not polled: what is typed for the process in the foreground would end the wait at once.
        std::thread::sleep(LOOK);
    }
}

fn is_ready(patience: Duration) -> bool {
    let stdin = stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    let patience = Timespec::try_from(patience).ok();
    poll(&mut fds, patience.as_ref()).is_ok_and(|count| count > 0)
}
