//! A cold start: what every command of a person, and every hook of an agent, costs before it does anything.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::measure::{Pairs, Row, Target, seconds, time};
use crate::program::{self, Project};

const TURNS: usize = 200;

pub(crate) fn rows(folder: &Path) -> Vec<Row> {
    let project = Project::new(folder);
    project.run(&project.script("short.yaml", "  - say: hello\n"));
    let hello = program::hello();
    let run = |mut command: Command| time(|| assert!(command.status().unwrap().success())).0;
    let pairs = Pairs::take(
        TURNS,
        || run(project.command(&["status"])),
        || {
            let mut command = Command::new(&hello);
            command.stdin(Stdio::null()).stdout(Stdio::null());
            run(command)
        },
    );
    let figures = (seconds(pairs.one()), seconds(pairs.other()));
    let what = "`chronicle status`, against a hello-world with clap";
    let size = std::fs::metadata(program::chronicle()).unwrap().len();
    vec![
        Row::judged(what, figures, pairs.time_ratio(), Target::AtMost(3.0)),
        Row::told("the program, release build without LTO", format!("{} MB", size / 1_000_000)),
    ]
}
