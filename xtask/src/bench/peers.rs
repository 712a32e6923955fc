//! Other systems to be measured beside ours, installed into a folder of the build and nowhere else.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The measurements read from this variable which Python has the other systems.
pub(super) const PYTHON: &str = "CHRONICLE_BENCH_PYTHON";
const PACKAGES: [&str; 3] = ["langgraph", "langgraph-checkpoint-sqlite", "dbos"];

/// A Python that has them; else why there is none.
pub(super) fn python(root: &Path) -> Result<PathBuf, String> {
    let folder = target(root).join("bench-peers");
    let python = folder.join("bin/python");
    if !python.is_file() {
        let words = ["-m", "venv"].map(Into::into).into_iter().chain([folder.into_os_string()]);
        run(Command::new("python3").args(words), "make a virtual environment")?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&python).args(install).args(PACKAGES), "install the packages")?;
    Ok(python)
}

/// The folder of the build.
pub(super) fn target(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    target.map_or_else(|| root.join("target"), |folder| root.join(folder))
}

pub(super) fn run(command: &mut Command, doing: &str) -> Result<(), String> {
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cannot {doing}: {status}")),
        Err(error) => Err(format!("cannot {doing}: {error}")),
    }
}
