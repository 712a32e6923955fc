//! Plays whole runs in a simulated world, for as long as one likes, or one of them again with its story.
//!
//! The simulation is a test of the runtime; here it is built in release and told how much to play. It prints its own report.

use std::path::Path;
use std::process::{Command, Stdio};

/// What may follow the name, each with a number.
pub(crate) const OPTIONS: [&str; 3] = ["--seed N", "--runs N", "--seconds N"];

/// How the test hears of them.
const VARIABLES: [(&str, &str); 3] = [
    ("--seed", "CHRONICLE_SIM_SEED"),
    ("--runs", "CHRONICLE_SIM_RUNS"),
    ("--seconds", "CHRONICLE_SIM_SECONDS"),
];
const ARGUMENTS: [&str; 12] = [
    "test",
    "--quiet",
    "--release",
    "-p",
    "chronicle-runtime",
    "--test",
    "it",
    "simulate::every_run_in_every_world_keeps_its_word_and_ends",
    "--",
    "--exact",
    "--nocapture",
    "--quiet",
];
/// Long enough to be sure of the rate.
const RUNS: &str = "20000";

/// `cargo xtask simulate [--seed N] [--runs N | --seconds N]`. Says whether everything held in every run.
pub(crate) fn run(root: &Path, words: &[String]) -> bool {
    let mut command = Command::new("cargo");
    command.args(ARGUMENTS).current_dir(root).stdin(Stdio::null());
    if words.is_empty() {
        command.env("CHRONICLE_SIM_RUNS", RUNS);
    }
    for pair in words.chunks(2) {
        let known = VARIABLES.iter().find(|(option, _)| *option == pair[0]);
        let (Some((_, variable)), Some(number)) = (known, pair.get(1)) else {
            eprintln!("Error: `{}` needs a number after it", pair[0]);
            return false;
        };
        command.env(variable, number);
    }
    command.status().is_ok_and(|status| status.success())
}
