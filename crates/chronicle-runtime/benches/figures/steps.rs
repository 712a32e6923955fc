//! A durable step (decide, append, sync, apply) beside a bare write and fdatasync of the same bytes.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use chronicle_core::base::time::Millis;
use chronicle_core::event::input::Input;
use chronicle_runtime::for_tests::driver::Run;
use chronicle_runtime::for_tests::ledger::{Folder, Holder};

use crate::measure::{Pairs, Row, Target, rate, time};
use crate::scene;

/// Steps in one turn of one writer.
const STEPS: u64 = 300;
const TURNS: usize = 31;
/// Writers side by side.
const MANY: usize = 64;
const STEPS_OF_MANY: u64 = 60;
const TURNS_OF_MANY: usize = 9;
const WHOLE_RUNS: usize = 31;

/// Opens a fresh run in a folder of its own.
pub(crate) fn open(folder: &Path) -> Run {
    let ledger = Folder::create(folder).unwrap();
    Run::open(&ledger, Holder::current("bench", Millis(0)), None).unwrap()
}

/// Opens a run and brings it to its first live attempt.
pub(crate) fn open_at_work(folder: &Path) -> Run {
    let mut run = open(folder);
    step_all(&mut run, &[scene::start_circle()]);
    run
}

/// Takes each input through a step and a sync of its own.
pub(crate) fn step_all(run: &mut Run, inputs: &[Input]) {
    for input in inputs {
        let (_, line) = run.step(input).unwrap();
        assert!(line.is_some(), "each input must lead to a line: {input:?}");
        run.sync().unwrap();
    }
}

fn write_all(file: &mut File, lines: &[Vec<u8>]) {
    for line in lines {
        file.write_all(line).unwrap();
        file.sync_data().unwrap();
    }
}

/// A run at work, a bare file beside it, and how far both are.
struct Pair {
    folder: PathBuf,
    run: Run,
    bare: File,
    done: u64,
}

impl Pair {
    fn new(folder: &Path) -> Self {
        let run = open_at_work(&folder.join("run"));
        let bare = File::create(folder.join("bare")).unwrap();
        Self { folder: folder.to_owned(), run, bare, done: 0 }
    }

    fn inputs(&mut self, count: u64) -> Vec<Input> {
        let inputs = (self.done..self.done + count).map(|number| scene::work(1, number)).collect();
        self.done += count;
        inputs
    }

    /// The last lines of the ledger.
    fn lines(&self, count: u64) -> Vec<Vec<u8>> {
        last_lines(&self.folder.join("run"), usize::try_from(count).unwrap())
    }
}

fn last_lines(folder: &Path, count: usize) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(Folder::new(folder).ledger_path()).unwrap();
    let lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    lines[lines.len() - count..].to_vec()
}

/// One run beside one bare writer.
pub(crate) fn one(folder: &Path) -> Row {
    let mut pair = Pair::new(folder);
    // Both sides warm up, and the bare side has its first bytes to write.
    let inputs = pair.inputs(STEPS);
    step_all(&mut pair.run, &inputs);
    let mut turns = Vec::new();
    for turn in 0..TURNS {
        let (inputs, lines) = (pair.inputs(STEPS), pair.lines(STEPS));
        let mut ours = || time(|| step_all(&mut pair.run, &inputs)).0;
        let mut bare = || time(|| write_all(&mut pair.bare, &lines)).0;
        turns.push(if turn % 2 == 0 {
            let ours = ours();
            (ours, bare())
        } else {
            let bare = bare();
            (ours(), bare)
        });
    }
    let bytes: usize = pair.lines(STEPS).iter().map(Vec::len).sum();
    let each = bytes / usize::try_from(STEPS).unwrap();
    let steps = usize::try_from(STEPS).unwrap();
    row(&format!("durable step, 1 run ({each} bytes a line)"), &Pairs::of(turns), steps, 0.9)
}

/// Many runs beside as many bare writers.
pub(crate) fn many(folder: &Path) -> Row {
    let mut pairs: Vec<Pair> =
        (0..MANY).map(|number| Pair::new(&folder.join(number.to_string()))).collect();
    for pair in &mut pairs {
        let inputs = pair.inputs(STEPS_OF_MANY);
        step_all(&mut pair.run, &inputs);
    }
    let mut turns = Vec::new();
    for _ in 0..TURNS_OF_MANY {
        let mut work: Vec<_> = pairs
            .iter_mut()
            .map(|pair| {
                let (inputs, lines) = (pair.inputs(STEPS_OF_MANY), pair.lines(STEPS_OF_MANY));
                (pair, inputs, lines)
            })
            .collect();
        let ours = together(&mut work, |(pair, inputs, _)| step_all(&mut pair.run, inputs));
        let bare = together(&mut work, |(pair, _, lines)| write_all(&mut pair.bare, lines));
        turns.push((ours, bare));
    }
    let steps = MANY * usize::try_from(STEPS_OF_MANY).unwrap();
    row(&format!("durable step, {MANY} runs, a thread each"), &Pairs::of(turns), steps, 0.9)
}

/// Does something with each on a thread of its own; how long it takes until all have done it.
fn together<T: Send>(items: &mut [T], what: impl Fn(&mut T) + Sync) -> Duration {
    let (begin, end) = (Barrier::new(items.len() + 1), Barrier::new(items.len() + 1));
    std::thread::scope(|scope| {
        for item in items {
            scope.spawn(|| {
                begin.wait();
                what(item);
                end.wait();
            });
        }
        begin.wait();
        let start = Instant::now();
        end.wait();
        start.elapsed()
    })
}

/// Whole runs of three phases, from the start command to `done`, beside bare writers of their bytes.
pub(crate) fn whole_run(folder: &Path) -> Row {
    let inputs: Vec<Input> =
        std::iter::once(scene::start_three()).chain(scene::three_phases()).collect();
    let mut turns = Vec::new();
    for number in 0..WHOLE_RUNS {
        let folder = folder.join(number.to_string());
        let mut run = open(&folder);
        let (ours, ()) = time(|| step_all(&mut run, &inputs));
        assert!(run.state().done, "the run must come to its end");
        let lines = last_lines(&folder, inputs.len());
        let mut bare = File::create(folder.join("bare")).unwrap();
        turns.push((ours, time(|| write_all(&mut bare, &lines)).0));
    }
    let what = format!("a whole run of three phases, {} decisions", inputs.len());
    row(&what, &Pairs::of(turns), inputs.len(), 0.85)
}

fn row(what: &str, pairs: &Pairs, steps: usize, least: f64) -> Row {
    let figures = (rate(steps, pairs.one()), rate(steps, pairs.other()));
    Row::judged(what, figures, pairs.speed_ratio(), Target::AtLeast(least))
}
