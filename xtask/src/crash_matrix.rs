//! Kills Chronicle at every point that it has and prints what came of it: a certificate.
//!
//! The deaths themselves are tests of the runtime (in memory, with a disk that forgets) and of the binary (real kills).
//! Here they are run alone, each leaves a row in a folder, and the rows become tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs, io, process};

/// Where tests leave their rows, and whether they die at every hit.
const REPORT: &str = "CHRONICLE_CRASH_REPORT";
const ALL: &str = "CHRONICLE_CRASH_ALL";
/// The option that lets them.
pub(crate) const EVERY_HIT: &str = "--all";

/// What is shown, in this order.
const TABLES: [(&str, &str); 3] = [
    ("real", "The real binary, killed with SIGKILL"),
    ("trees", "The real binary in the middle of git's work: a tree, an undo"),
    ("memory", "In memory, over a disk that may forget what was not synced"),
];

/// Says whether everything held.
pub(crate) fn run(root: &Path, options: &[String]) -> bool {
    let every_hit = options.iter().any(|option| option == EVERY_HIT);
    let folder = env::temp_dir().join(format!("chronicle-crash-{}", process::id()));
    let began = Instant::now();
    let passed = fs::create_dir_all(&folder).and_then(|()| test(root, &folder, every_hit));
    let rows = read(&folder);
    let _ = fs::remove_dir_all(&folder);
    let passed = passed.unwrap_or_else(|error| {
        eprintln!("Error: the tests cannot be run: {error}");
        false
    });
    let rows = rows.unwrap_or_default();
    for (kind, title) in TABLES {
        println!("{}", table(&rows, kind, title));
    }
    let deaths: u64 = rows.values().map(|cell| cell.deaths).sum();
    let held = passed && is_whole(&rows);
    let word = if held { "everything held" } else { "NOT EVERYTHING HELD" };
    let hits = if every_hit { "every hit" } else { "the first, a middle and the last hit" };
    println!(
        "{deaths} deaths, the real ones at {hits} of each point, in {} s: {word}",
        began.elapsed().as_secs()
    );
    held
}

/// Runs the tests; what they print is shown only when one fails.
fn test(root: &Path, folder: &Path, every_hit: bool) -> io::Result<bool> {
    let mut command = Command::new("cargo");
    command.args(["test", "-p", "chronicle-runtime", "-p", "chronicle", "--test", "it"]);
    command.args(["--no-fail-fast", "crash::"]).current_dir(root).env(REPORT, folder);
    if every_hit {
        command.env(ALL, "1");
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        println!("{}", String::from_utf8_lossy(&output.stdout));
    }
    Ok(output.status.success())
}

/// How one point went in one scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    held: bool,
    deaths: u64,
    millis: u64,
}

/// By kind, point and scenario.
type Rows = BTreeMap<(String, String, String), Cell>;

fn read(folder: &Path) -> io::Result<Rows> {
    let mut rows = Rows::new();
    for entry in fs::read_dir(folder)? {
        for line in fs::read_to_string(entry?.path())?.lines() {
            add(&mut rows, line);
        }
    }
    Ok(rows)
}

/// Takes one row into account: kind, scenario, point, word, deaths, milliseconds.
fn add(rows: &mut Rows, line: &str) {
    let fields: Vec<&str> = line.split('\t').collect();
    let [kind, scenario, point, word, deaths, millis] = fields[..] else { return };
    let key = [kind, point, scenario].map(str::to_owned).into();
    let cell = rows.entry(key).or_insert(Cell { held: true, deaths: 0, millis: 0 });
    cell.held &= word == "held";
    cell.deaths += deaths.parse::<u64>().unwrap_or(0);
    cell.millis += millis.parse::<u64>().unwrap_or(0);
}

fn points(rows: &Rows, kind: &str) -> BTreeSet<String> {
    rows.keys().filter(|key| key.0 == kind).map(|key| key.1.clone()).collect()
}

fn scenarios(rows: &Rows, kind: &str) -> BTreeSet<String> {
    rows.keys().filter(|key| key.0 == kind).map(|key| key.2.clone()).collect()
}

fn cell(rows: &Rows, kind: &str, point: &str, scenario: &str) -> Option<Cell> {
    rows.get(&[kind, point, scenario].map(str::to_owned).into()).copied()
}

/// Every kind is there, every point in every scenario, and each of them held.
fn is_whole(rows: &Rows) -> bool {
    TABLES.iter().all(|(kind, _)| {
        let points = points(rows, kind);
        !points.is_empty()
            && points.iter().all(|point| {
                let mut all = scenarios(rows, kind).into_iter();
                all.all(|it| cell(rows, kind, point, &it).is_some_and(|cell| cell.held))
            })
    })
}

/// Points down, scenarios across; in a cell whether it held, the deaths and the seconds.
fn table(rows: &Rows, kind: &str, title: &str) -> String {
    let scenarios = scenarios(rows, kind);
    let mut text = format!("{title}:\n\n{:<22}", "point");
    for scenario in &scenarios {
        let _ = write!(text, "{scenario:<17}");
    }
    for point in points(rows, kind) {
        text = format!("{}\n{point:<22}", text.trim_end());
        for scenario in &scenarios {
            let shown = cell(rows, kind, &point, scenario).map_or("MISSING".to_owned(), show);
            let _ = write!(text, "{shown:<17}");
        }
    }
    format!("{}\n", text.trim_end())
}

fn show(cell: Cell) -> String {
    let Cell { held, deaths, millis } = cell;
    match (held, deaths) {
        (true, 0) => "-".to_owned(),
        (true, _) => format!("held {deaths:>3} {:>2}.{} s", millis / 1_000, millis % 1_000 / 100),
        (false, _) => format!("BROKEN {deaths}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(lines: &[&str]) -> Rows {
        let mut rows = Rows::new();
        for line in lines {
            add(&mut rows, line);
        }
        rows
    }

    const GOOD: [&str; 4] = [
        "real\tedits\tafter-sync\theld\t3\t1234",
        "trees\ttwo\tin-tree\theld\t5\t1234",
        "memory\tloop\tafter-sync\theld\t40\t100",
        "memory\tloop\tafter-sync\theld\t2\t50",
    ];

    #[test]
    fn rows_of_one_cell_are_summed() {
        let rows = rows(&GOOD);
        assert!(is_whole(&rows));
        let expected = Cell { held: true, deaths: 42, millis: 150 };
        assert_eq!(cell(&rows, "memory", "after-sync", "loop"), Some(expected));
        let text = table(&rows, "real", "Real");
        assert!(text.ends_with("after-sync            held   3  1.2 s\n"), "{text}");
    }

    #[test]
    fn what_broke_or_is_missing_is_no_certificate() {
        let with = |more: &[&str]| is_whole(&rows(&[&GOOD, more].concat()));
        assert!(with(&[]));
        assert!(!with(&["real\tedits\tafter-stop\tBROKEN\t3\t1"]));
        assert!(!with(&["real\tinside\tafter-stop\theld\t3\t1"]), "`edits` has no such row");
        assert!(!is_whole(&rows(&GOOD[..1])), "nothing in memory");
    }
}
