//! Systems without namespaces and Landlock: there are no walls, and that is said.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};

use super::{
    REFUSED, Wall, WallEnd, WallError, WallOrder, WallProbe, WallRefusal, WallStands, WallStep,
};
use crate::process::table::Process;

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
    WallProbe { stands: WallStands::default(), refusals: vec![refusal()] }
}

fn refusal() -> WallRefusal {
    WallRefusal::plain(WallStep::System, "only Linux has namespaces and Landlock")
}

/// A group that limits processes; there is none here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeverGroup {
    folder: PathBuf,
}

impl NeverGroup {
    /// Whether a wall needs one.
    pub fn is_wanted(_wall: &Wall) -> bool {
        false
    }

    /// Refuses, as [`outer`] does.
    pub fn here() -> Result<Self, WallRefusal> {
        Err(refusal())
    }

    /// One that was made before; always `None`.
    pub fn at(_folder: &Path) -> Option<Self> {
        None
    }

    /// The folder that has the number; never asked for here.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder that processes join it by.
    pub fn entrance(&self) -> PathBuf {
        self.folder.clone()
    }

    /// Refuses, as [`outer`] does.
    pub fn make(&self, _most: u64) -> Result<(), WallRefusal> {
        Err(refusal())
    }

    /// Who is in it.
    pub(in crate::process) fn members(&self) -> Vec<Process> {
        Vec::new()
    }

    /// Removes what was never made.
    pub fn remove(&self) {}

    /// Removes what was left beside it.
    pub fn remove_left(&self) {}
}

/// What a wall that stands would be; there is none here.
#[derive(Debug)]
pub struct NeverWalled {
    /// The outer process, which is never started.
    pub outer: Child,
    /// PID 1 of the inside; always `None`.
    pub init: Option<u32>,
    /// What stands of it.
    pub stands: WallStands,
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
