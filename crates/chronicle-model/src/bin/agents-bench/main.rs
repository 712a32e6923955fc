//! What Chronicle costs a real agent: the wall time of one prompt through Chronicle against the agent alone, side by side, and the
//! memory of Chronicle's own processes while an agent works. `cargo xtask bench agents` builds and runs it.
//!
//! Both sides do the same number of calls and answers: where the agent alone reads a file, under Chronicle it leaves its phase. They
//! take turns, and the medians of what neighbours differ by count. Each side has a project and a home of its own; what is measured
//! first in them is said apart, since an agent and Chronicle both set up house there.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a terminal")]

mod memory;
mod scene;
mod span;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use scene::{Agent, BenchScene, BenchTurn};

/// How often each side takes the short turn, and how often the long one.
const PAIRS: Pairs = Pairs { short: 9, long: 5 };
/// A prompt may take this much longer: 5 %.
const RATIO_MOST: f64 = 1.05;
/// What Chronicle may use for one live agent.
const MEMORY_MOST_KIB: u64 = 8 * 1024;

/// How often each kind of turn is measured.
#[derive(Clone, Copy)]
struct Pairs {
    short: usize,
    long: usize,
}

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(chronicle) = words.next() else {
        eprintln!("usage: agents-bench CHRONICLE [SHORT [LONG]]");
        return ExitCode::FAILURE;
    };
    let mut count = |usual| words.next().and_then(|it| it.to_str()?.parse().ok()).unwrap_or(usual);
    let pairs = Pairs { short: count(PAIRS.short), long: count(PAIRS.long) };
    println!(
        "| agent | turn | alone | through Chronicle | added | of it by itself | ratio | goal |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|");
    for agent in Agent::ALL {
        if let Err(why) = wall_time(agent, Path::new(&chronicle), pairs) {
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

/// Alone, and through Chronicle: in all, and before and after the agent.
type Pair = (Duration, (Duration, Duration));

fn wall_time(agent: Agent, chronicle: &Path, most: Pairs) -> Result<(), String> {
    let (mut first, mut short, mut long) = (Vec::new(), Vec::new(), Vec::new());
    // The first of all fills the caches of the disk.
    for number in 0..=most.short.max(most.long) {
        let (alone, through) = (BenchScene::new(agent)?, BenchScene::new(agent)?);
        let take =
            |turn| Ok::<Pair, String>((alone.alone(turn)?, through.through(turn, chronicle)?));
        let pairs = [take(BenchTurn::Short)?, take(BenchTurn::Short)?];
        if (1..=most.short).contains(&number) {
            first.push(pairs[0]);
            short.push(pairs[1]);
        }
        if (1..=most.long).contains(&number) {
            long.push(take(BenchTurn::Long)?);
        }
    }
    for (turn, pairs) in [("short, first in a project", first), ("short", short), ("long", long)] {
        if !pairs.is_empty() {
            print_row(agent, turn, &pairs);
        }
    }
    Ok(())
}

fn print_row(agent: Agent, turn: &str, pairs: &[Pair]) {
    let of = |pick: fn(f64, f64) -> f64| {
        median(pairs.iter().map(|(a, (b, _))| pick(a.as_secs_f64(), b.as_secs_f64())).collect())
    };
    let own = median(pairs.iter().map(|(_, (_, own))| own.as_secs_f64() * 1_000.0).collect());
    let (alone, through) = (of(|alone, _| alone), of(|_, through| through));
    let (added, ratio) = (of(|a, b| (b - a) * 1_000.0), of(|a, b| b / a));
    let verdict = if ratio <= RATIO_MOST { "met" } else { "missed" };
    println!(
        "| {} | {turn} | {alone:.2} s | {through:.2} s | {added:.0} ms | {own:.0} ms | {ratio:.2}× | ≤ {RATIO_MOST}×: {verdict} |",
        agent.name()
    );
}

fn memory(agent: Agent, chronicle: &Path) -> Result<(), String> {
    let used = BenchScene::new(agent)?.memory(chronicle)?;
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
