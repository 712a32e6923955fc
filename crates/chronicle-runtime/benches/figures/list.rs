//! Finding, reading and judging a thousand workflows, beside a program that only reads and parses the same files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chronicle_runtime::for_tests::discover::{self, Places};

use crate::measure::{Pairs, Row, Target, own_memory_kib, seconds, time};
use crate::program::Project;

/// Where `cargo xtask bench` says which folder has the package `yaml`.
const MODULES: &str = "CHRONICLE_BENCH_NODE_MODULES";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/figures/list.js");
/// This program finds the workflows of a folder and says what memory that took.
pub(crate) const CHILD: &str = "list-child";
const FOLDERS: usize = 1_000;
const PHASES: usize = 5;
const TURNS: usize = 15;
/// Limit of a supervisor's memory, in KiB.
const MEMORY_MAX: f64 = 64.0 * 1024.0;

pub(crate) fn rows(folder: &Path) -> Vec<Row> {
    write_all(&folder.join(".pi/workflows"));
    let project = Project::new(folder);
    let listed = project.command(&["list", "--json"]).stdout(Stdio::piped()).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert_eq!(listed.matches("\"key\": \"flow-").count(), FOLDERS, "every workflow is found");
    assert!(!listed.contains("\"usable\": false"), "every workflow is whole");
    let mut rows = vec![beside_node(&project, &folder.join(".pi/workflows"))];
    let own = std::env::current_exe().unwrap();
    let said = Command::new(own).arg(CHILD).arg(folder).output().unwrap();
    let kib: f64 = String::from_utf8_lossy(&said.stdout).trim().parse().unwrap();
    let what =
        format!("peak memory of a process that finds {FOLDERS} workflows of {PHASES} phases");
    let figures = (format!("{:.1} MiB", kib / 1024.0), "64 MiB".to_owned());
    rows.push(Row::judged(what, figures, kib / MEMORY_MAX, Target::AtMost(1.0)));
    rows
}

fn beside_node(project: &Project, workflows: &Path) -> Row {
    let what = format!(
        "`chronicle list` of {FOLDERS} folders of {PHASES} phases, against Node and `yaml` that only parse"
    );
    let Some(modules) = std::env::var_os(MODULES).map(PathBuf::from) else {
        return Row::told(what, "SKIPPED: there is no Node with the package `yaml`");
    };
    let run = |mut command: Command| time(|| assert!(command.status().unwrap().success())).0;
    let node = || {
        let mut command = Command::new("node");
        command.arg(SCRIPT).arg(&modules).arg(workflows);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    let said = node().stdout(Stdio::piped()).output().unwrap();
    let count = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    assert_eq!(count, (FOLDERS * PHASES).to_string(), "Node reads every phase");
    let pairs = Pairs::take(TURNS, || run(project.command(&["list"])), || run(node()));
    let figures = (seconds(pairs.one()), seconds(pairs.other()));
    Row::judged(what, figures, pairs.speed_ratio(), Target::AtLeast(5.0))
}

/// Finds everything and says the most memory that was in use.
pub(crate) fn child(folder: &Path) {
    let catalog = discover::find_in(&Places::only(folder));
    assert_eq!(catalog.workflows.len(), FOLDERS + 1);
    println!("{}", own_memory_kib("VmHWM"));
}

fn write_all(root: &Path) {
    for index in 0..FOLDERS {
        let folder = root.join(format!("flow-{index:04}"));
        std::fs::create_dir_all(&folder).unwrap();
        let mut workflow = format!(
            "name: Flow {index}\ncommandName: flow-{index}\ninitialMessage: 'Begin {{description}}'\nloopable: true\nphases:\n"
        );
        for phase in 0..PHASES {
            writeln!(workflow, "  - phase-{phase}.md").unwrap();
            std::fs::write(folder.join(format!("phase-{phase}.md")), phase_text(phase)).unwrap();
        }
        std::fs::write(folder.join("workflow.yaml"), workflow).unwrap();
    }
}

fn phase_text(phase: usize) -> String {
    let lines =
        "Look at what the phase before left, and go on from there; say what you did.\n".repeat(10);
    format!(
        "---\nid: phase-{phase}\nname: Phase {phase}\nemoji: \"🔹\"\ntools:\n  blacklist: [edit, write]\navailableProfiles: [scout, planner]\n---\n\n# Phase {phase}\n\n{lines}"
    )
}
