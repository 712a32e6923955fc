//! A person's session with the real binary: a project, a home and an environment of its own.
//!
//! Nothing of the outer environment is inherited but `PATH`, so that no test knows who runs it or from where. Start with
//! [`Session::with`] and [`Session::chronicle`]; [`Session::spawn`] is for what must be killed.

mod processes;
mod redact;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::walls_yard::Who;

pub(crate) use processes::{agents, inits, keepers, of_run, outers, workers, working_in};
pub(crate) use redact::redact_any;

/// Longer than anything here takes on a busy machine; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_mins(2);
const LOOK: Duration = Duration::from_millis(5);
const CHRONICLE: &str = env!("CARGO_BIN_EXE_chronicle");

/// Looks until it is so, for as long as anybody could want.
pub(crate) fn until(what: &str, is_so: impl FnMut() -> bool) {
    within(PATIENCE, what, is_so);
}

/// Looks until it is so, which must not take longer; the only place that polls.
pub(crate) fn within(most: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + most;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::park_timeout(LOOK);
    }
}

/// Lets the user's own settings, in `home`, trust every project below a folder.
pub(crate) fn trust_all(folder: &Path) {
    let config = folder.join("home/.config/chronicle");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), format!("trust.folders = ['{}']\n", folder.display()))
        .unwrap();
}

/// Runs the test's commands.
pub(crate) struct Session {
    folder: TempDir,
    count: AtomicU32,
    /// The person whose session it is.
    who: Who,
}

/// A script whose command of several lines stands in a file of the project instead. No guard reads that file, so that what a hostile
/// worker does is stopped behind the guards, or nowhere.
pub(crate) fn in_a_file(project: &Path, script: &str) -> String {
    let Some((before, rest)) = script.split_once("command: |\n") else { return script.to_owned() };
    let is_inside = |line: &&str| line.starts_with("        ");
    let inside: Vec<&str> = rest.lines().take_while(is_inside).map(str::trim_start).collect();
    let after: Vec<&str> = rest.lines().skip(inside.len()).collect();
    fs::write(project.join("worker.sh"), inside.join("\n") + "\n").unwrap();
    format!("{before}command: sh ./worker.sh\n{}\n", after.join("\n"))
}

impl Session {
    pub(crate) fn new() -> Self {
        Self::of(Who::ours())
    }

    /// One of that person.
    pub(crate) fn of(who: Who) -> Self {
        let (folder, count) = (tempfile::tempdir().unwrap(), AtomicU32::new(0));
        let session = Self { folder, count, who };
        for name in ["project/.chronicle/workflows", "home", "sessions", "tmp", "out"] {
            fs::create_dir_all(session.folder.path().join(name)).unwrap();
        }
        trust_all(session.folder.path());
        session
    }

    /// A project with the workflow `main` and a script for its agent.
    pub(crate) fn with(workflow: &str, script: &str) -> Self {
        let session = Self::new();
        session.write(".chronicle/workflows/main.yaml", workflow);
        session.write("script.yaml", in_a_file(&session.project(), script));
        session
    }

    /// Commands with this text need a person's leave in every run that begins from now on.
    pub(crate) fn ask_about(&self, text: &str) {
        let rule =
            format!("{{pattern: '{text}', reason: 'calls with `{text}` need leave', ask: true}}");
        self.write(".chronicle/rules.yaml", format!("bashToolPatterns: [{rule}]\n"));
    }

    /// Where the user's own settings and workflows are.
    pub(crate) fn user(&self) -> PathBuf {
        self.folder.path().join("home/.config/chronicle")
    }

    /// Nothing is trusted any more, as for a person who begins.
    pub(crate) fn distrust(&self) {
        fs::remove_file(self.user().join("config.toml")).unwrap();
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Where the scripted agent keeps its sessions.
    pub(crate) fn agent_sessions(&self) -> PathBuf {
        self.folder.path().join("sessions")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.project().join(path)
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        let path = self.path(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Runs to its end.
    pub(crate) fn chronicle(&self, args: &[&str]) -> Said {
        self.spawn(args).wait()
    }

    /// Runs `main` on its script to its end.
    pub(crate) fn run(&self) -> Said {
        self.chronicle(RUN)
    }

    /// Runs what is typed at a shell to its end.
    pub(crate) fn shell(&self, line: &str) -> Said {
        let mut command = self.command("sh");
        command.args(["-c", line]);
        self.start(command, "").wait()
    }

    /// Runs with a text on its standard input.
    pub(crate) fn chronicle_told(&self, args: &[&str], input: &str) -> Said {
        let mut command = self.command(CHRONICLE);
        command.args(args);
        self.start(command, input).wait()
    }

    /// What a command prints as JSON; it must end well.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let said = self.chronicle(&[args, &["--json"]].concat());
        assert_eq!(said.code, Some(0), "{args:?}: {}", said.stderr);
        said.json()
    }

    /// Starts and does not wait.
    pub(crate) fn spawn(&self, args: &[&str]) -> Started {
        let mut command = self.command(CHRONICLE);
        command.args(args);
        self.start(command, "")
    }

    /// Starts `main` on its script and does not wait.
    pub(crate) fn spawn_run(&self) -> Started {
        self.spawn(RUN)
    }

    /// A command in the project, with nothing of the outer environment.
    pub(crate) fn command(&self, program: &str) -> Command {
        let folder = self.folder.path();
        let binaries = Path::new(CHRONICLE).parent().unwrap().display();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = self.who.program(program);
        command.env_clear().current_dir(self.project());
        command.env("PATH", format!("{binaries}:{path}"));
        command.env("HOME", folder.join("home")).env("TMPDIR", folder.join("tmp"));
        command.env("CHRONICLE_SCRIPTED_HOME", self.agent_sessions());
        command.env("NO_COLOR", "1").env("USER", "ann").env("TZ", "UTC");
        command
    }

    /// Starts a command of [`Self::command`]; its output goes to files, so that it never waits for a reader.
    pub(crate) fn start(&self, command: Command, input: &str) -> Started {
        self.launch(command, input, None)
    }

    /// Starts a command of [`Self::command`] that prints somewhere else.
    pub(crate) fn start_into(&self, command: Command, output: impl Into<Stdio>) -> Started {
        self.launch(command, "", Some(output.into()))
    }

    fn launch(&self, mut command: Command, input: &str, output: Option<Stdio>) -> Started {
        // What the test wrote since the last command is that person's too.
        self.who.own(self.folder.path());
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let file = |name: &str| self.folder.path().join("out").join(format!("{number}.{name}"));
        let (stdout, stderr) = (file("stdout"), file("stderr"));
        command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
        let out = File::create(&stdout).unwrap();
        command.stdout(output.unwrap_or_else(|| out.into()));
        command.stderr(File::create(&stderr).unwrap());
        let mut child = command.spawn().unwrap();
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes()).unwrap();
        }
        Started { child, stdout, stderr }
    }

    /// The ids of all runs, the oldest first.
    pub(crate) fn runs(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path(".chronicle/runs")).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.path().is_dir());
        let mut ids: Vec<String> =
            folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
        ids.sort_unstable();
        ids
    }

    /// The id of the newest run.
    pub(crate) fn run_id(&self) -> String {
        self.runs().pop().unwrap_or_else(|| panic!("there is no run"))
    }

    pub(crate) fn short(&self) -> String {
        short(&self.run_id()).to_owned()
    }

    /// A file of the newest run.
    pub(crate) fn run_file(&self, name: &str) -> PathBuf {
        self.path(".chronicle/runs").join(self.run_id()).join(name)
    }

    /// Whole lines in the ledger of the newest run.
    pub(crate) fn ledger_lines(&self) -> usize {
        let Some(run) = self.runs().pop() else { return 0 };
        let file = self.path(".chronicle/runs").join(run).join("ledger.jsonl");
        fs::read(file).map_or(0, |bytes| bytes.split(|byte| *byte == b'\n').count() - 1)
    }

    /// Every event of the newest run.
    pub(crate) fn events(&self) -> Vec<Value> {
        let said = self.chronicle(&["log", "--json"]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let entries = said.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        entries.map(|mut entry| entry["event"].take()).collect()
    }

    /// The kind of every event of the newest run, with who caused it: `person`, `supervisor`, …
    pub(crate) fn events_with_actor(&self) -> Vec<(String, String)> {
        let said = self.chronicle(&["log", "--json"]).exits(0);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let entry = |line: &str| {
            let entry: Value = serde_json::from_str(line).unwrap();
            (text(&entry["by"]["actor"]["is"]), text(&entry["event"]["kind"]))
        };
        said.stdout.lines().map(entry).collect()
    }

    /// A copy of everything: project, home, and what is known outside of the project.
    pub(crate) fn keep(&self) -> TempDir {
        let kept = tempfile::tempdir().unwrap();
        copy_all(self.folder.path(), kept.path());
        kept
    }

    /// Puts everything back as it was kept.
    pub(crate) fn restore(&self, kept: &TempDir) {
        for entry in fs::read_dir(self.folder.path()).unwrap() {
            fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
        copy_all(kept.path(), self.folder.path());
    }

    /// Every event of that kind.
    pub(crate) fn events_of(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["kind"] == kind).collect()
    }

    /// The phases in the order in which they were entered.
    pub(crate) fn path_of_phases(&self) -> Vec<String> {
        let entered = self.events_of("phase_entered");
        entered.iter().map(|event| event["data"]["place"].as_str().unwrap().to_owned()).collect()
    }

    /// The chain is whole, and no process of any run lives.
    pub(crate) fn assert_whole(&self) {
        let said = self.chronicle(&["audit"]);
        assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
        assert!(said.stdout.contains("✓ chain whole"), "{}", said.stdout);
        assert!(said.stdout.contains("✓ no process of this run is left"), "{}", said.stdout);
        self.assert_nothing_lives();
    }

    /// No process of any run lives.
    pub(crate) fn assert_nothing_lives(&self) {
        for run in self.runs() {
            assert_eq!(of_run(&run), Vec::<u32>::new(), "processes of {run}");
        }
    }

    /// What changes from one time to the next is replaced by what it is.
    pub(crate) fn redact(&self, text: &str) -> String {
        redact::redact(text, self.folder.path(), &self.runs())
    }
}

/// With modes and times, which decide whether a cache is believed.
fn copy_all(from: &Path, to: &Path) {
    let source = from.join(".");
    let done = Command::new("cp").arg("-a").arg(source).arg(to).status().unwrap();
    assert!(done.success(), "{} was not copied", from.display());
}

/// Runs `main` on the script.
pub(crate) const RUN: &[&str] = &["run", "main", "the task", "--agent", "scripted:script.yaml"];

/// How people write a run's id.
pub(crate) fn short(run: &str) -> &str {
    &run[run.len() - 8..]
}

/// A started command; one that a test forgets is killed.
pub(crate) struct Started {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Started {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it without a warning.
    pub(crate) fn kill(mut self) -> Said {
        self.child.kill().unwrap();
        self.wait()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        send(self.pid(), signal);
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// What it has said to people so far.
    pub(crate) fn talk(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap()
    }

    /// What it has printed so far.
    pub(crate) fn printed(&self) -> String {
        fs::read_to_string(&self.stdout).unwrap()
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Said {
        let mut status: Option<ExitStatus> = None;
        until("a command ended", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let text = |path: &Path| String::from_utf8(fs::read(path).unwrap()).unwrap();
        let code = status.and_then(|status| status.code());
        Said { code, stdout: text(&self.stdout), stderr: text(&self.stderr) }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process.
pub(crate) fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// How a command ended.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// None when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// Its output as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }

    /// It ended so, or the test ends with all that it said.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\n{}\n{}", self.stdout, self.stderr);
        self
    }

    /// It says this to people.
    #[track_caller]
    pub(crate) fn talks(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "no `{words}` in:\n{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn prints(self, words: &str) -> Self {
        assert!(self.stdout.contains(words), "no `{words}` in:\n{}", self.stdout);
        self
    }
}
