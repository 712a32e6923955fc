//! Systems without namespaces and Landlock: there are no walls, and that is said.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, ExitCode};

use super::{REFUSED, WallEnd, WallError, WallOrder, WallProbe, WallRefusal, WallStands, WallStep};

/// Refuses: a program that asks for a wall must not run without one.
pub fn outer(_args: &[OsString]) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "Error: {}", refusal());
    ExitCode::from(REFUSED)
}

/// Refuses, as [`outer`] does.
pub fn init(args: &[OsString]) -> ExitCode {
    outer(args)
}

/// Says that nothing stands here.
pub fn probe(_chronicle: &Path, _folder: &Path) -> WallProbe {
    let is_root = rustix::process::getuid().is_root();
    WallProbe { stands: WallStands::default(), refusals: vec![refusal()], is_root }
}

fn refusal() -> WallRefusal {
    WallRefusal::plain(WallStep::System, "only Linux has namespaces and Landlock")
}

/// What a wall that stands would be; there is none here.
#[derive(Debug)]
pub struct NeverWalled {
    /// The outer process, which is never started.
    pub outer: Child,
    /// PID 1 of the inside; always `None`.
    pub init: Option<u32>,
}

impl NeverWalled {
    /// Starts the program that was ordered.
    pub fn go(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Says who was asked to end.
    pub fn asked(&self, _these: &[(u32, u64)]) {}

    /// Whether the program itself has ended.
    pub fn has_left(&mut self) -> bool {
        false
    }

    /// What was told of the end.
    pub fn told(&mut self) -> Option<WallEnd> {
        None
    }
}

/// The command that would put a wall up.
pub fn wall_command(chronicle: &Path) -> Command {
    Command::new(chronicle)
}

/// Refuses, as [`outer`] does.
pub fn raise(
    _command: Command,
    _order: &WallOrder,
    _stdin: impl AsFd,
) -> Result<NeverWalled, WallError> {
    Err(WallError::Refused(refusal()))
}
