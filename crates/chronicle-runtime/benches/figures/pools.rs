//! What a pool costs over its workers alone: slots that stay filled, merges by what changed, and a supervisor that has little to do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chronicle_core::base::ids::TreeId;
use chronicle_runtime::for_tests::trees::{Planned, Trees};

use crate::measure::{Pairs, Row, Target, seconds, time};
use crate::program;
use crate::trees;

const STEPS: u32 = 64;
const SLOTS: u32 = 16;
/// How long the worker of each step works.
const WORK: Duration = Duration::from_secs(1);
/// How many files each side of a merge changes.
const CHANGED: usize = 20;
const MERGES: usize = 11;
/// How long the supervisor of many live agents is watched.
const WATCHED: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_mins(2);
const LOOK: Duration = Duration::from_millis(20);
/// Ticks of the kernel's clock for processes in a second, on every Linux that we build for.
const TICKS: f64 = 100.0;

pub(crate) fn rows(folder: &Path) -> Vec<Row> {
    vec![
        filled(&folder.join("filled")),
        merged(&folder.join("merged")),
        watched(&folder.join("watched")),
    ]
}

/// The steps of a pool, against the time that their workers need if no slot is ever empty.
fn filled(folder: &Path) -> Row {
    let work = format!("  - shell: {{command: sleep {}}}\n", WORK.as_secs());
    let pool = PoolProject::new(folder, STEPS, &format!("{work}  - complete: {{summary: done}}\n"));
    let (took, status) = time(|| pool.command().status().unwrap());
    assert!(status.success(), "the pool ended with {status}");
    let ideal = WORK * (STEPS / SLOTS);
    let what = format!(
        "a pool of {STEPS} steps of {} s on {SLOTS} slots, against its workers alone",
        WORK.as_secs()
    );
    let shown = (seconds(took.as_secs_f64()), seconds(ideal.as_secs_f64()));
    Row::judged(what, shown, took.as_secs_f64() / ideal.as_secs_f64(), Target::AtMost(1.15))
}

/// A merge of a few changed files among very many, planned and written, against git's own merge and a checkout of what it changed.
fn merged(folder: &Path) -> Row {
    trees::make(folder);
    let trees = Trees::open(folder).unwrap();
    let base = trees.record(Some("bench/base")).unwrap().tree;
    edit(folder, "ours", 0);
    let ours = trees.record(Some("bench/ours")).unwrap().tree;
    undo(folder);
    edit(folder, "theirs", 200);
    let theirs = trees.record(Some("bench/theirs")).unwrap().tree;
    undo(folder);
    edit(folder, "ours", 0);
    let staging = folder.join(".chronicle/staging");
    let plan = || {
        let outcome = trees.plan_merge(&base, &ours, &theirs, None, "bench/merge").unwrap();
        let Planned::Clean { result, .. } = outcome else { panic!("a conflict") };
        result
    };
    let alone = Bare { folder, sides: [&base, &ours, &theirs] };
    let pairs = Pairs::take(
        MERGES,
        || {
            let (took, result) = time(|| {
                let result = plan();
                let written = trees.write(folder, &staging, &ours, &result).unwrap();
                assert_eq!(written.files as usize, CHANGED);
                result
            });
            // Not measured: back to our side.
            trees.write(folder, &staging, &result, &ours).unwrap();
            took
        },
        || {
            let took = time(|| alone.merge()).0;
            alone.restore();
            took
        },
    );
    let what = format!(
        "a merge of {CHANGED} changed files among 50000, against `git merge-tree` and a checkout of those"
    );
    let shown = (seconds(pairs.one()), seconds(pairs.other()));
    Row::judged(what, shown, pairs.time_ratio(), Target::AtMost(2.0))
}

/// The processor time of a supervisor whose agents are all at work and say nothing.
fn watched(folder: &Path) -> Row {
    let pool = PoolProject::new(folder, SLOTS, "  - hang\n");
    let mut child = pool.command().spawn().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while pool.sessions() < SLOTS as usize {
        assert!(Instant::now() < deadline, "not all agents began");
        assert!(child.try_wait().unwrap().is_none(), "the run ended");
        std::thread::sleep(LOOK);
    }
    let before = processor_seconds(child.id());
    std::thread::sleep(WATCHED);
    let spent = processor_seconds(child.id()) - before;
    // The keepers find their pipes closed and end what they hold.
    child.kill().unwrap();
    child.wait().unwrap();
    let share = spent / WATCHED.as_secs_f64() * 100.0;
    let what = format!("processor time of the supervisor of {SLOTS} live agents that say nothing");
    Row::told(what, format!("{share:.1} % of one processor"))
}

/// A project with a pool whose workers all do the same, and a user whose machine has room for all of them.
struct PoolProject {
    root: PathBuf,
}

impl PoolProject {
    fn new(folder: &Path, steps: u32, work: &str) -> Self {
        let (root, config) = (folder.join("project"), folder.join("config/chronicle"));
        for folder in [&root.join(".chronicle/workflows"), &config] {
            fs::create_dir_all(folder).unwrap();
        }
        let all: Vec<String> = (0..steps).map(|number| format!("{{id: s{number}}}")).collect();
        let workflow = format!(
            "name: Pool\nphases:\n  - {{id: build, run: pool, slots: {SLOTS}, instructions: Work, steps: [{}]}}\n",
            all.join(", ")
        );
        fs::write(root.join(".chronicle/workflows/pool.yaml"), workflow).unwrap();
        let script = |number| format!("build/s{number}/work:\n{work}");
        let script: String = (0..steps).map(script).collect();
        fs::write(folder.join("script.yaml"), script).unwrap();
        fs::write(config.join("config.toml"), format!("machine.agents = {SLOTS}\n")).unwrap();
        fs::write(root.join("file"), "text\n").unwrap();
        trees::git(&root, &["init", "-q"]);
        Self { root }
    }

    fn command(&self) -> Command {
        let agent = format!("scripted:{}", self.root.with_file_name("script.yaml").display());
        self.asked(&["run", "pool", "a task", "--agent", &agent, "--trust"])
    }

    fn asked(&self, words: &[&str]) -> Command {
        let beside = |name: &str| self.root.with_file_name(name);
        let mut command = Command::new(program::chronicle());
        command.args(words);
        command.current_dir(&self.root).env("CHRONICLE_SCRIPTED_HOME", beside("agent-home"));
        command.env("XDG_CONFIG_HOME", beside("config")).env("XDG_STATE_HOME", beside("state"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// How many agents have named their session.
    fn sessions(&self) -> usize {
        let output = self.asked(&["log", "--json"]).stdout(Stdio::piped()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).matches("\"session_opened\"").count()
    }
}

/// The same merge by git alone, in the same repository of trees.
struct Bare<'a> {
    folder: &'a Path,
    sides: [&'a TreeId; 3],
}

impl Bare<'_> {
    fn merge(&self) {
        let [base, ours, theirs] = self.sides.map(TreeId::as_str);
        let merge_base = format!("--merge-base={base}");
        let tree = self.git(&["merge-tree", "--write-tree", &merge_base, ours, theirs]);
        let tree = tree.trim();
        let names = self.git(&["diff", "--name-only", ours, tree]);
        self.checkout(tree, &names);
    }

    /// Back to our side.
    fn restore(&self) {
        let [_, ours, theirs] = self.sides.map(TreeId::as_str);
        let [base, ..] = self.sides.map(TreeId::as_str);
        let names = self.git(&["diff", "--name-only", base, theirs]);
        self.checkout(ours, &names);
    }

    fn checkout(&self, tree: &str, names: &str) {
        let names: Vec<&str> = names.lines().collect();
        self.git(&[&["checkout", tree, "--"], &names[..]].concat());
    }

    fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("git");
        command.arg("--git-dir").arg(self.folder.join(".chronicle/trees.git"));
        command.arg("--work-tree").arg(self.folder).args(words).current_dir(self.folder);
        // An index of its own: that of the trees stays as it is.
        command.env("GIT_INDEX_FILE", self.folder.join(".chronicle/bench-index"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {words:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Changes one file in each of some folders.
fn edit(folder: &Path, text: &str, first: usize) {
    for number in first..first + CHANGED {
        let path = folder.join(format!("d{number}/f{}.txt", number % 100));
        fs::write(path, format!("{text} {number}\n")).unwrap();
    }
}

/// Puts all files back as they were committed.
fn undo(folder: &Path) {
    trees::git(folder, &["checkout", "-q", "--", "."]);
}

/// The time that the processors have spent on a process.
fn processor_seconds(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Behind its name, which may contain anything, in brackets.
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|it| it.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / TICKS
}
