//! What Chronicle costs a real agent: the wall time of one prompt through Chronicle against the agent alone, side by side, and the
//! memory of Chronicle's own processes while an agent works. `cargo xtask bench agents` builds and runs it.
//!
//! Both sides do one call of a tool and two answers of the scripted model: alone the agent reads a file, under Chronicle it leaves
//! its phase. They take turns, and the median of the ratios of neighbours counts.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a terminal")]

mod memory;
mod scene;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use scene::{Agent, Scene};

/// How often each side runs.
const TURNS: usize = 9;
/// A prompt may take this much longer: 5 %.
const RATIO_MOST: f64 = 1.05;
/// What Chronicle may use for one live agent.
const MEMORY_MOST_KIB: u64 = 8 * 1024;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(chronicle) = words.next() else {
        eprintln!("usage: agents-bench CHRONICLE [TURNS]");
        return ExitCode::FAILURE;
    };
    let turns = words.next().and_then(|it| it.to_str()?.parse().ok()).unwrap_or(TURNS);
    println!("| agent | alone | through Chronicle | ratio | goal |\n|---|--:|--:|--:|--:|");
    for agent in Agent::ALL {
        if let Err(why) = wall_time(agent, Path::new(&chronicle), turns) {
            eprintln!("Error: {} cannot be measured: {why}", agent.name());
            return ExitCode::FAILURE;
        }
    }
    println!(
        "\n| agent | keeper | signal server | both | goal | supervisor |\n|---|--:|--:|--:|--:|--:|"
    );
    for agent in Agent::ALL {
        if let Err(why) = memory(agent, Path::new(&chronicle)) {
            eprintln!("Error: {} cannot be measured: {why}", agent.name());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn wall_time(agent: Agent, chronicle: &Path, count: usize) -> Result<(), String> {
    let mut turns = Vec::new();
    // The first of each fills the caches of the disk.
    for turn in 0..=count {
        let pair = (Scene::new(agent)?.alone()?, Scene::new(agent)?.through(chronicle)?);
        if turn > 0 {
            turns.push(pair);
        }
    }
    let seconds = |pick: fn(&(Duration, Duration)) -> Duration| {
        median(turns.iter().map(|turn| pick(turn).as_secs_f64()).collect())
    };
    let ratio = median(turns.iter().map(|(a, b)| b.as_secs_f64() / a.as_secs_f64()).collect());
    let (alone, through) = (seconds(|turn| turn.0), seconds(|turn| turn.1));
    let verdict = if ratio <= RATIO_MOST { "met" } else { "missed" };
    println!(
        "| {} | {alone:.2} s | {through:.2} s | {ratio:.2}× | ≤ {RATIO_MOST}×: {verdict} |",
        agent.name()
    );
    Ok(())
}

fn memory(agent: Agent, chronicle: &Path) -> Result<(), String> {
    let used = Scene::new(agent)?.memory(chronicle)?;
    let both = used.keeper + used.server;
    let verdict = if both <= MEMORY_MOST_KIB { "met" } else { "missed" };
    let mib = |kib: u64| format!("{}.{} MiB", kib / 1024, kib % 1024 * 10 / 1024);
    println!(
        "| {} | {} | {} | {} | ≤ 8 MiB: {verdict} | {} |",
        agent.name(),
        mib(used.keeper),
        mib(used.server),
        mib(both),
        mib(used.supervisor)
    );
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
