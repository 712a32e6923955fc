//! Recording the project's files, against what `git status` takes on the same project.

use std::path::Path;
use std::process::{Command, Stdio};

use chronicle_runtime::for_tests::trees::Trees;

use crate::measure::{Pairs, Row, Target, seconds, time};

const FOLDERS: usize = 500;
const FILES: usize = 100;
const TURNS: usize = 15;

pub(crate) fn rows(folder: &Path) -> Vec<Row> {
    make(folder);
    let trees = Trees::open(folder).unwrap();
    let (first, _) = time(|| trees.record(None).unwrap());
    let same = Pairs::take(TURNS, || time(|| trees.record(None).unwrap()).0, || status(folder));
    let mut round = 0;
    let changed = Pairs::take(
        TURNS,
        || {
            round += 1;
            for file in 0..10 {
                let path = folder.join(format!("d{file}/f{file}.txt"));
                std::fs::write(path, format!("changed {round}\n")).unwrap();
            }
            time(|| trees.record(Some(&format!("run/{round}"))).unwrap()).0
        },
        || status(folder),
    );
    let row = |what: &str, pairs: &Pairs| {
        let figures = (seconds(pairs.one()), seconds(pairs.other()));
        let what = format!("{what}, against `git status`");
        Row::judged(what, figures, pairs.time_ratio(), Target::AtMost(2.0))
    };
    vec![
        Row::told("the first tree of 50000 files", seconds(first.as_secs_f64())),
        row("a further tree of 50000 files, nothing changed", &same),
        row("a further tree of 50000 files, 10 changed, and kept", &changed),
    ]
}

/// A project that git looks after.
pub(crate) fn make(folder: &Path) {
    for number in 0..FOLDERS {
        let inner = folder.join(format!("d{number}"));
        std::fs::create_dir_all(&inner).unwrap();
        for file in 0..FILES {
            let text = format!("file {file} of {number}\n").repeat(20);
            std::fs::write(inner.join(format!("f{file}.txt")), text).unwrap();
        }
    }
    let who = ["-c", "user.name=a", "-c", "user.email=a@b.c"];
    for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "all"]] {
        git(folder, &[&who, words].concat());
    }
    status(folder);
}

fn status(folder: &Path) -> std::time::Duration {
    time(|| git(folder, &["status", "--porcelain"])).0
}

pub(crate) fn git(folder: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(words).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    assert!(command.status().unwrap().success(), "git {words:?}");
}
