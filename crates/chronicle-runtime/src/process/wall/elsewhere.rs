//! Systems without namespaces and Landlock: there are no walls, and that is said.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use super::{REFUSED, WallProbe, WallRefusal, WallStands, WallStep};

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
