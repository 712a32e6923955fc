//! Other systems that keep steps durable, beside ours, in turns. They run in a Python of the build's own folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::measure::{Pairs, Row, Target, rate, time};
use crate::{scene, steps};

/// Where `cargo xtask bench --peers` says which Python has them.
const PYTHON: &str = "CHRONICLE_BENCH_PYTHON";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/figures/peers.py");
const SYSTEMS: [&str; 2] = ["langgraph", "dbos"];
const STEPS: u64 = 200;
const TURNS: usize = 3;

pub(crate) fn rows(folder: &Path) -> Vec<Row> {
    let Some(python) = std::env::var_os(PYTHON) else {
        return vec![Row::told("other systems", "SKIPPED: use `cargo xtask bench --peers`")];
    };
    let peer =
        |system| Peer { python: PathBuf::from(&python), system, folder: folder.join(system) };
    SYSTEMS.into_iter().map(peer).flat_map(|peer| peer.rows()).collect()
}

struct Peer {
    python: PathBuf,
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
        let what = format!("durable steps, against {version} on SQLite");
        vec![Row::judged(what, figures, pairs.speed_ratio(), Target::None), self.after_kill()]
    }

    /// Which steps had an effect, in order, when the second one died half-way and the system went on.
    fn after_kill(&self) -> Row {
        let _ = self.say(&["crash"], "crash");
        let again = self.say(&["again"], "crash");
        let effects =
            std::fs::read_to_string(self.folder.join("crash/effects")).unwrap_or_default();
        let end = if again.is_some() { "done" } else { "stuck" };
        let what = format!("{}: steps 1 2 3, `kill -9` inside 2, then started again", self.system);
        Row::told(what, format!("ran {}and was {end}", effects.replace('\n', " ")))
    }

    /// Runs the script; the last line that it says, or none when it fails.
    fn say(&self, words: &[&str], folder: &str) -> Option<String> {
        let (verb, rest) = words.split_first()?;
        let mut command = Command::new(&self.python);
        command.arg(SCRIPT).args([self.system, verb]).arg(self.folder.join(folder)).args(rest);
        let output = command.output().ok().filter(|output| output.status.success())?;
        String::from_utf8_lossy(&output.stdout).lines().last().map(str::to_owned)
    }
}
