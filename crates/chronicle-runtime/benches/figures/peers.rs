//! Other systems that keep steps durable, beside ours, in turns. They are installed in folders of the build's own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::measure::{Pairs, Row, Target, rate, time};
use crate::{scene, steps};

/// Where `cargo xtask bench --peers` says which Python has some of them.
const PYTHON: &str = "CHRONICLE_BENCH_PYTHON";
/// Where it says which program has duroxide.
const DUROXIDE: &str = "CHRONICLE_BENCH_DUROXIDE";
/// Where it says which folder has Restate.
const RESTATE: &str = "CHRONICLE_BENCH_RESTATE";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/figures/peers.py");
const STEPS: u64 = 200;
const TURNS: usize = 9;

pub(crate) fn rows(folder: &Path) -> Vec<Row> {
    let systems =
        [("langgraph", PYTHON), ("dbos", PYTHON), ("duroxide", DUROXIDE), ("restate", RESTATE)];
    let rows = systems.into_iter().flat_map(|(system, variable)| {
        let Some(place) = std::env::var_os(variable).map(PathBuf::from) else {
            return vec![Row::told(system, "SKIPPED: it is not installed")];
        };
        Peer { place, system, folder: folder.join(system) }.rows()
    });
    rows.collect()
}

struct Peer {
    /// Where it is installed.
    place: PathBuf,
    system: &'static str,
    folder: PathBuf,
}

impl Peer {
    fn rows(&self) -> Vec<Row> {
        let Some(version) = self.say(&["version"], "") else {
            return vec![Row::told(self.system, "SKIPPED: it cannot be loaded")];
        };
        let mut run = steps::open_at_work(&self.folder.join("ours"));
        let mut turns = Vec::new();
        for turn in 0..TURNS {
            let count = u64::try_from(turn).unwrap() * STEPS;
            let inputs: Vec<_> = (count..count + STEPS).map(|at| scene::work(1, at)).collect();
            let ours = time(|| steps::step_all(&mut run, &inputs)).0;
            let said = self.say(&["steps", &STEPS.to_string()], &format!("turn-{turn}"));
            let Some(theirs) = said.and_then(|said| said.parse().ok()) else {
                return vec![Row::told(self.system, "SKIPPED: its steps failed")];
            };
            turns.push((ours, Duration::from_secs_f64(theirs)));
        }
        let (pairs, steps) = (Pairs::of(turns), usize::try_from(STEPS).unwrap());
        let figures = (rate(steps, pairs.one()), rate(steps, pairs.other()));
        let what = format!("durable steps, each synced, against {version}{}", self.settings());
        vec![Row::judged(what, figures, pairs.speed_ratio(), Target::None), self.after_kill()]
    }

    /// Which steps had an effect, in order, when the second one died half-way and the system went on.
    fn after_kill(&self) -> Row {
        let _ = self.say(&["crash"], "crash");
        let again = self.say(&["again"], "crash");
        let effects =
            std::fs::read_to_string(self.folder.join("crash/effects")).unwrap_or_default();
        let took = again.and_then(|said| said.parse::<f64>().ok());
        let end = took.map_or("stuck".to_owned(), |took| format!("done after {took:.1} s"));
        let what = format!("{}: steps 1 2 3, `kill -9` inside 2, then started again", self.system);
        Row::told(what, format!("ran {}and was {end}", effects.replace('\n', " ")))
    }

    /// How it is made to sync at each step, as ours does.
    fn settings(&self) -> &'static str {
        match self.system {
            "restate" => " (its log, as it comes)",
            "langgraph" => " (`durability=\"sync\"`) on SQLite (`synchronous = FULL`)",
            _ => " on SQLite (`synchronous = FULL`)",
        }
    }

    /// What speaks for the system: all of them know the same words.
    fn command(&self) -> Command {
        let mut command = match self.system {
            "restate" => Command::new("node"),
            _ => Command::new(&self.place),
        };
        match self.system {
            "restate" => command.arg("peer.mjs").current_dir(&self.place),
            "duroxide" => &mut command,
            system => command.args([SCRIPT, system]),
        };
        command
    }

    /// Runs the script; the last line that it says, or none when it fails.
    fn say(&self, words: &[&str], folder: &str) -> Option<String> {
        let (verb, rest) = words.split_first()?;
        let mut command = self.command();
        command.arg(verb).arg(self.folder.join(folder)).args(rest);
        let output = command.output().ok().filter(|output| output.status.success())?;
        String::from_utf8_lossy(&output.stdout).lines().last().map(str::to_owned)
    }
}
