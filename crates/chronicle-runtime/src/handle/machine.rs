//! What this machine can do for Chronicle.

use std::path::{Path, PathBuf};

use chronicle_core::event::WallsFound;

use crate::inbox::Asker;
use crate::link;
use crate::process::wall;
use crate::process::{self, KeeperEnd, KeeperOrder, image};
use crate::project::Project;
use crate::walls;

pub use crate::process::wall::{WallProbe, WallRefusal, WallStep};

/// An exit code that no shell uses by itself.
const EXPECTED_CODE: i32 = 7;

/// Starts and ends a real process under a real keeper, whose lock is made in that folder. The error says what failed.
pub fn try_keeper(chronicle: &Path, folder: &Path) -> Result<(), String> {
    let cookie = format!("doctor-{}", std::process::id());
    let argv = process::shell_argv(&format!("exit {EXPECTED_CODE}"));
    let lock = folder.join("doctor.lock");
    let mut order = KeeperOrder::new(cookie, lock, folder.to_owned(), argv);
    chronicle.clone_into(&mut order.chronicle);
    let kept = process::start(&order).map_err(|error| error.to_string())?;
    drop(kept.stdin);
    match kept.control.wait() {
        // An unusual code, so that a program which fails for another reason is not taken for a success.
        KeeperEnd::Ended { code: Some(EXPECTED_CODE), .. } => Ok(()),
        other => Err(format!("it ended otherwise than it should: {other:?}")),
    }
}

/// Folder of the sockets through which other commands reach driven runs. The error says why there can be none.
pub fn link_folder() -> Result<PathBuf, String> {
    link::folder().map_err(|error| error.to_string())
}

/// Runs a short program in a folder. Returns its output; `None` if it is missing or failed.
pub fn run(argv: &[&str], folder: &Path) -> Option<String> {
    let output = process::tool(argv, folder).ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What walls a run that this asker drives gets.
pub fn walls_found(asker: &Asker) -> WallsFound {
    walls::found(&asker.chronicle, asker.no_walls)
}

/// Why no wall of this project can be told to open a path; `None` if it can. Definitions alone do not tell where the home is.
pub fn unfit_to_open(path: &str, project: &Project) -> Option<String> {
    walls::unfit_to_open(path, project.root())
}

/// Why agents behind walls could not reach our own program; `None` if they can.
pub fn unreachable_program() -> Option<String> {
    let folder = crate::home::state()?.join("bin");
    // What is not there yet is made by the first run.
    let there = folder.ancestors().find(|it| it.is_dir())?;
    image::is_fit(there).err().map(|error| error.to_string())
}

/// What of walls holds here, and why not more: found by putting some up around nothing. `folder` is one that can be written.
pub fn walls(chronicle: &Path, folder: &Path) -> WallProbe {
    wall::probe(chronicle, folder)
}
