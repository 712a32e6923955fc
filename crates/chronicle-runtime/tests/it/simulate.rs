//! Whole runs in a simulated world: the real step and the real ledger, and everything around them made of one seed.
//!
//! No clock, no thread, no file: agents, people, supervisors, disk and power are `simulate/`. What must hold is in
//! `simulate/oracle.rs`, judged by what a power cut could not take away. To replay a seed with its story:
//! `CHRONICLE_SIM_SEED=7 cargo test -p chronicle-runtime --test it simulate -- --nocapture`; for many runs add
//! `CHRONICLE_SIM_RUNS=100000` and `--release`.
mod agent;
mod faults;
mod oracle;
mod people;
mod rng;
mod run;
mod shapes;
mod supervisor;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use run::{Figures, Played, play};
use shapes::Shape;

/// As many as fit into some seconds of a debug build.
const RUNS_IN_CI: u64 = 1_000;
/// How much of the story of a failed run is told.
const STORY_LINES: usize = 150;

/// Plays that many seeds from the first on, until one fails. Of a single one, the story is told.
#[expect(clippy::print_stderr, reason = "who replays a seed wants to read what happens")]
fn simulate(first: u64, runs: u64) -> Result<Figures, String> {
    let shapes = shapes::all()?;
    let mut sum = Figures::default();
    for seed in first..first.saturating_add(runs) {
        let played = caught(seed, &shapes, runs == 1);
        played.story.iter().for_each(|told| eprintln!("{told}"));
        match played.figures {
            Ok(figures) => sum.add(&figures),
            Err(why) => return Err(explain(seed, &shapes, &why)),
        }
    }
    Ok(sum)
}

/// A panic is a failure as any other, with its seed.
fn caught(seed: u64, shapes: &[Shape], told: bool) -> Played {
    catch_unwind(AssertUnwindSafe(|| play(seed, shapes, told))).unwrap_or_else(|_| Played {
        figures: Err("it panics, see above".to_owned()),
        story: Vec::new(),
    })
}

fn explain(seed: u64, shapes: &[Shape], why: &str) -> String {
    let story = caught(seed, shapes, true).story;
    let from = story.len().saturating_sub(STORY_LINES);
    format!(
        "seed {seed}: {why}\n\nwhat happened:\n{}\n\nreplay it with\n  \
        CHRONICLE_SIM_SEED={seed} cargo test -p chronicle-runtime --test it simulate -- --nocapture",
        story[from..].join("\n")
    )
}

impl Figures {
    fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.done += other.done;
        self.cancelled += other.cancelled;
        self.inputs += other.inputs;
        self.lines += other.lines;
        self.attempts += other.attempts;
        self.gates += other.gates;
        self.opens += other.opens;
        self.kills += other.kills;
        self.power_cuts += other.power_cuts;
        self.disk_faults += other.disk_faults;
        self.takeovers += other.takeovers;
        self.damages += other.damages;
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn every_run_in_every_world_keeps_its_word_and_ends() {
    let seed = number("CHRONICLE_SIM_SEED");
    let runs = number("CHRONICLE_SIM_RUNS").unwrap_or(if seed.is_some() { 1 } else { RUNS_IN_CI });
    let start = Instant::now();
    let simulated = simulate(seed.unwrap_or(0), runs);
    let took = start.elapsed();
    match simulated {
        Ok(figures) => {
            let rate = u128::from(runs) * 1_000 / took.as_millis().max(1);
            eprintln!("{figures:?} in {took:.1?}, {rate} runs a second");
        }
        Err(failure) => panic!("{failure}"),
    }
}

#[test]
fn the_same_seed_is_the_same_world() {
    let shapes = shapes::all().unwrap_or_default();
    for seed in 0..20 {
        let [one, two] = [(); 2].map(|()| play(seed, &shapes, true));
        assert_eq!(one.figures, two.figures, "seed {seed}");
        assert_eq!(one.story, two.story, "seed {seed}");
    }
}
