//! Other systems to be measured beside ours, installed into a folder of the build and nowhere else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the measurements read from their environment: which Python has some of the other systems.
const PYTHON: &str = "CHRONICLE_BENCH_PYTHON";
/// The program that has duroxide.
const DUROXIDE: &str = "CHRONICLE_BENCH_DUROXIDE";
/// The folder that has Restate, and what plays on it.
const RESTATE: &str = "CHRONICLE_BENCH_RESTATE";

const PYTHON_PACKAGES: [&str; 3] = ["langgraph", "langgraph-checkpoint-sqlite", "dbos"];
const NODE_PACKAGES: [&str; 2] =
    ["@restatedev/restate-server@1.7.12", "@restatedev/restate-sdk@1.17.2"];
/// What is copied for duroxide and for Restate: nothing is built or installed where the sources are.
const DUROXIDE_FILES: [&str; 2] = ["Cargo.toml", "src/main.rs"];
const RESTATE_FILES: [&str; 1] = ["peer.mjs"];

/// Installs whatever can be installed. What the measurements need to find each, and why others are not there.
pub(super) fn install(root: &Path) -> (Vec<(&'static str, PathBuf)>, Vec<String>) {
    let target = target(root);
    let sources = root.join("xtask/peers");
    let found = [
        ("LangGraph and DBOS", PYTHON, python(&target.join("bench-peers"))),
        ("duroxide", DUROXIDE, duroxide(&sources.join("duroxide"), &target.join("bench-duroxide"))),
        ("Restate", RESTATE, restate(&sources.join("restate"), &target.join("bench-restate"))),
    ];
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for (name, variable, installed) in found {
        match installed {
            Ok(path) => there.push((variable, path)),
            Err(why) => missing.push(format!("{name}: {why}")),
        }
    }
    (there, missing)
}

/// A Python that has its packages; else why there is none.
fn python(folder: &Path) -> Result<PathBuf, String> {
    let python = folder.join("bin/python");
    if !python.is_file() {
        let words = ["-m", "venv"].map(OsString::from).into_iter().chain([folder.into()]);
        run(Command::new("python3").args(words), "make a virtual environment")?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&python).args(install).args(PYTHON_PACKAGES), "install the packages")?;
    Ok(python)
}

/// The folder of the build.
pub(super) fn target(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    target.map_or_else(|| root.join("target"), |folder| root.join(folder))
}

fn duroxide(sources: &Path, folder: &Path) -> Result<PathBuf, String> {
    copy(sources, folder, &DUROXIDE_FILES)?;
    let mut build = Command::new("cargo");
    build.args(["build", "--release", "--quiet"]).current_dir(folder);
    run(build.env("CARGO_TARGET_DIR", folder.join("target")), "build it")?;
    Ok(folder.join("target/release/bench-duroxide"))
}

fn restate(sources: &Path, folder: &Path) -> Result<PathBuf, String> {
    copy(sources, folder, &RESTATE_FILES)?;
    std::fs::write(folder.join("package.json"), "{\"private\": true}\n")
        .map_err(|error| format!("cannot write its package: {error}"))?;
    let mut install = Command::new("npm");
    install.args(["install", "--silent", "--no-audit", "--no-fund"]).args(NODE_PACKAGES);
    run(install.current_dir(folder), "install the packages")?;
    run(Command::new("node").arg("--version").stdout(Stdio::null()), "start node")?;
    Ok(folder.to_owned())
}

fn copy(from: &Path, to: &Path, files: &[&str]) -> Result<(), String> {
    for name in files {
        let (from, to) = (from.join(name), to.join(name));
        let folder = to.parent().unwrap_or(&to);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::read(&from))
            .and_then(|bytes| std::fs::write(&to, bytes))
            .map_err(|error| format!("cannot copy `{}`: {error}", from.display()))?;
    }
    Ok(())
}

pub(super) fn run(command: &mut Command, doing: &str) -> Result<(), String> {
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cannot {doing}: {status}")),
        Err(error) => Err(format!("cannot {doing}: {error}")),
    }
}
