//! Builds the release programs and the measurements, and runs the latter. What is measured, and how, is in
//! `crates/chronicle-runtime/benches/figures/`; what it means is in `docs/benchmarks.md`.

mod node;
mod peers;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is built before anything is measured: the product, and the smallest program with a command line.
const BUILDS: [&[&str]; 2] = [
    &["build", "--release", "-p", "chronicle", "--bin", "chronicle"],
    &["build", "--release", "-p", "xtask", "--example", "hello"],
];
const FIGURES: [&str; 6] = ["bench", "--quiet", "-p", "chronicle-runtime", "--bench", "figures"];
/// Also measures other systems, where they can be installed.
const PEERS: &str = "--peers";
/// The part of the measurements that does so.
const PEERS_PART: &str = "peers";
/// The part with the real agents, which are installed for it; only on request.
const AGENTS_PART: &str = "agents";
const AGENTS_BENCH: [&str; 7] =
    ["run", "--release", "--quiet", "-p", "chronicle-model", "--bin", "agents-bench"];
/// The part that needs Node and its package `yaml` beside it.
const LIST_PART: &str = "list";

/// What may follow the name: the other systems too, or only some parts.
pub(crate) const OPTIONS: [&str; 14] = [
    PEERS,
    AGENTS_PART,
    "step",
    "many",
    "whole",
    "history",
    "open",
    "start",
    "agent",
    "guard",
    LIST_PART,
    "trees",
    "walls",
    "pools",
];

/// `cargo xtask bench [--peers] [PART…]`. Says whether everything could be measured; a missed target is no failure, since
/// machines differ.
pub(crate) fn run(root: &Path, words: &[String]) -> bool {
    let is_ours = |word: &&str| ![PEERS, AGENTS_PART].contains(word);
    let parts: Vec<&str> = words.iter().map(String::as_str).filter(is_ours).collect();
    if !BUILDS.iter().all(|words| cargo(root, words)) {
        return false;
    }
    println!(
        "Both sides of each ratio take turns in one run; other work on the machine makes them noisy."
    );
    if words.iter().any(|word| word == AGENTS_PART) && !agents(root) {
        return false;
    }
    if parts.is_empty() && !words.is_empty() && !words.iter().any(|word| word == PEERS) {
        return true;
    }
    // Parts that were asked for by name are measured alone; `--peers` alone measures everything and the peers.
    let modules =
        if parts.is_empty() || parts.contains(&LIST_PART) { node_modules(root) } else { None };
    let modules: Vec<_> = modules.map(|path| (node::MODULES, path)).into_iter().collect();
    let mut all_well = figures(root, &parts, &modules);
    if words.iter().any(|word| word == PEERS) {
        let (there, missing) = peers::install(root);
        all_well &= figures(root, &[PEERS_PART], &there);
        for why in missing {
            println!("SKIPPED: {why}");
        }
    }
    all_well
}

/// The real agents, with the release program.
fn agents(root: &Path) -> bool {
    let missing = crate::agents::missing(root);
    if !missing.is_empty() {
        for need in missing {
            println!("SKIPPED: {}", need.why());
        }
        return false;
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let chronicle = root.join(target).join("release/chronicle");
    let mut command = command(root, &AGENTS_BENCH);
    command.arg("--").arg(chronicle);
    command.status().is_ok_and(|status| status.success())
}

fn node_modules(root: &Path) -> Option<PathBuf> {
    node::modules(root)
        .map_err(|why| println!("SKIPPED: nothing is measured beside Node: {why}"))
        .ok()
}

fn figures(root: &Path, parts: &[&str], beside: &[(&str, PathBuf)]) -> bool {
    let mut words = FIGURES.to_vec();
    if !parts.is_empty() {
        words.push("--");
        words.extend(parts);
    }
    let mut command = command(root, &words);
    command.envs(beside.iter().map(|(name, path)| (name, path)));
    command.status().is_ok_and(|status| status.success())
}

fn cargo(root: &Path, words: &[&str]) -> bool {
    command(root, words).status().is_ok_and(|status| status.success())
}

fn command(root: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(words).current_dir(root).stdin(Stdio::null());
    command
}
