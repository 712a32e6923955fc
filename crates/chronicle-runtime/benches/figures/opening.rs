//! Opening a long run: read, verify and fold, beside parsing the same bytes into the same type and nothing else.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use chronicle_core::base::time::Millis;
use chronicle_core::engine;
use chronicle_core::event::input::Input;
use chronicle_core::event::record::Line;
use chronicle_core::state::State;
use chronicle_runtime::for_tests::driver::Run;
use chronicle_runtime::for_tests::ledger::{self, Cursor, Folder, Head, Holder, Sum};

use crate::measure::{Pairs, Row, Target, median, own_memory_kib, seconds, time};
use crate::scene;

const LONG: u64 = 1_000_000;
const SHORT: u64 = 1_000;
const TURNS: usize = 5;
const CACHED_TURNS: usize = 51;
/// The word that makes this program a child which only opens a ledger and says how much memory that took.
pub(crate) const CHILD: &str = "open-and-tell";

pub(crate) fn rows(folder: &Path) -> Vec<Row> {
    let (long, short) = (folder.join("long"), folder.join("short"));
    let (events, attempts) = write(&long, LONG, scene::ROUNDS);
    write(&short, SHORT, scene::ROUNDS);
    let bytes = std::fs::read(Folder::new(&long).ledger_path()).unwrap();
    let pairs = Pairs::take(TURNS, || time(|| open(&long, false)).0, || time(|| parse(&bytes)).0);
    let what = format!(
        "open {events} events ({} MB) without a cache, against parsing alone",
        bytes.len() >> 20
    );
    let figures = (seconds(pairs.one()), seconds(pairs.other()));
    let cold = Row::judged(what, figures, pairs.time_ratio(), Target::AtMost(2.0));
    drop(bytes);
    let mut rows = vec![cold, memory(&long)];
    let what =
        format!("open {events} events of {attempts} attempts with the cache, against {SHORT}");
    rows.push(cached(&what, &long, &short));
    rows.push(save(&long, attempts));
    drop(std::fs::remove_dir_all(&long));
    let one = folder.join("one");
    write(&one, LONG, LONG);
    let what = format!("open {LONG} events of one attempt with the cache, against {SHORT}");
    rows.push(cached(&what, &one, &short));
    rows
}

/// With the cache it should not matter how long the run is.
fn cached(what: &str, long: &Path, short: &Path) -> Row {
    for folder in [long, short] {
        let run = open(folder, false);
        ledger::save(&Folder::new(folder), &run.head(), run.state()).unwrap();
    }
    let pairs =
        Pairs::take(CACHED_TURNS, || time(|| open(long, true)).0, || time(|| open(short, true)).0);
    let figures = (seconds(pairs.one()), seconds(pairs.other()));
    Row::judged(what, figures, pairs.time_ratio(), Target::AtMost(2.0))
}

/// What the driver does at most once a second while a run works.
fn save(folder: &Path, attempts: usize) -> Row {
    let run = open(folder, true);
    let save = || {
        time(|| ledger::save(&Folder::new(folder), &run.head(), run.state()).unwrap())
            .0
            .as_secs_f64()
    };
    let time = median((0..TURNS).map(|_| save()).collect());
    Row::told(format!("write the cache of a run of {attempts} attempts"), seconds(time))
}

fn memory(folder: &Path) -> Row {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).arg(CHILD).arg(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Row::told(format!("peak memory of a process that opens {LONG} events"), said)
}

/// What the child does.
pub(crate) fn child(folder: &Path) {
    let before = own_memory_kib("VmHWM");
    let run = open(folder, false);
    let after = own_memory_kib("VmHWM");
    println!("{:.1} MiB ({:.1} before)", mib(after), mib(before));
    drop(run);
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn mib(kib: u64) -> f64 {
    kib as f64 / 1_024.0
}

fn open(folder: &Path, with_cache: bool) -> Run {
    let cached = with_cache.then(|| ledger::load::<State>(&Folder::new(folder)).unwrap());
    let run = Run::open(&Folder::new(folder), Holder::current("bench", Millis(0)), cached).unwrap();
    assert!(run.state().seq > 0, "something must have been read");
    run
}

fn parse(bytes: &[u8]) -> usize {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.map(|line| serde_json::from_slice::<Line>(line).unwrap().events.len()).sum()
}

/// Writes a ledger of so many events as the engine decides them, without a sync for each. How many events and attempts it has.
fn write(folder: &Path, events: u64, rounds: u64) -> (u64, usize) {
    let ledger = Folder::create(folder).unwrap();
    let mut out = Out {
        file: BufWriter::new(File::create(ledger.ledger_path()).unwrap()),
        state: State::default(),
        head: Head::EMPTY,
        events: 0,
    };
    out.add(&scene::start_circle());
    let attempts = (1..).map(|number| scene::attempt(number, rounds, scene::round_target(number)));
    for input in attempts.flatten() {
        out.add(&input);
        if out.events >= events {
            break;
        }
    }
    out.file.into_inner().unwrap().sync_all().unwrap();
    (out.events, out.state.attempts.len())
}

struct Out {
    file: BufWriter<File>,
    state: State,
    head: Head,
    events: u64,
}

impl Out {
    fn add(&mut self, input: &Input) {
        let line = engine::step(&self.state, input).line.unwrap();
        let (bytes, sum): (Vec<u8>, Sum) = ledger::encode(&line, &self.head.sum).unwrap();
        self.file.write_all(&bytes).unwrap();
        self.state.apply(&line);
        let at = Cursor::of_backend(self.head.at.for_backend() + bytes.len() as u64);
        self.head = Head { seq: line.seq, sum, at };
        self.events += line.events.len() as u64;
    }
}
