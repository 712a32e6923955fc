//! Where the process tests let agents run: real shells under the real keeper.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]

use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use chronicle_runtime::for_tests::process::sweep::by_cookie;
use chronicle_runtime::for_tests::process::wall::{Wall, WallPlan, usual};
use chronicle_runtime::for_tests::process::{
    Control, KeeperEnd, KeeperOrder, Kept, OutputLines, ReadLine, shell_argv, start,
};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Longer than anything here takes on a busy machine; only a failing test waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// A grace that is never used up: the agent must end by itself.
pub(crate) const AMPLE: Duration = Duration::from_secs(50);
const LOOK: Duration = Duration::from_millis(5);
/// Set in a copy of the test binary that runs one test alone.
const ALONE: &str = "YARD_ALONE";

/// What no process has as its id.
const NOBODY: u32 = u32::MAX;

/// Tries each of these twice: with an agent that the keeper starts directly, and with one behind a wall.
macro_rules! with_and_without_walls {
    ($($name:ident)*) => {
        mod directly {
            $(#[test] fn $name() { super::$name(&super::Yard::new()); })*
        }
        mod needs_namespaces {
            $(#[test] fn $name() { super::$name(&super::Yard::walled()); })*
        }
    };
}
pub(crate) use with_and_without_walls;

/// A folder and a cookie for one agent.
pub(crate) struct Yard {
    pub(crate) folder: TempDir,
    pub(crate) cookie: String,
    pub(crate) is_walled: bool,
}

impl Yard {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = tempfile::tempdir().unwrap();
        let cookie = format!("yard-{}-{count}", std::process::id());
        Self { folder, cookie, is_walled: false }
    }

    /// One whose agents are started behind walls.
    pub(crate) fn walled() -> Self {
        Self { is_walled: true, ..Self::new() }
    }

    /// Another one like it.
    pub(crate) fn another(&self) -> Self {
        Self { is_walled: self.is_walled, ..Self::new() }
    }

    /// The name of a test that is tried in this yard.
    pub(crate) fn test(&self, module: &str, name: &str) -> String {
        let way = if self.is_walled { "needs_namespaces" } else { "directly" };
        format!("{module}::{way}::{name}")
    }

    pub(crate) fn lock_file(&self) -> PathBuf {
        self.folder.path().join("attempt.lock")
    }

    pub(crate) fn order(&self, script: &str) -> KeeperOrder {
        order(&self.cookie, self.folder.path(), self.is_walled, script)
    }

    /// The process that the agent calls so. Behind a wall it is called otherwise than here.
    pub(crate) fn named(&self, inside: u32) -> u32 {
        if self.is_walled { outside(&self.lock_file(), inside) } else { inside }
    }

    /// Starts a shell that runs the script.
    pub(crate) fn start(&self, script: &str) -> Running {
        Running::start(&self.order(script))
    }

    /// Nothing that carries the cookie lives.
    pub(crate) fn assert_empty(&self) {
        assert_eq!(by_cookie(&self.cookie), [], "left over from {}", self.cookie);
    }
}

pub(crate) fn order(cookie: &str, folder: &Path, is_walled: bool, script: &str) -> KeeperOrder {
    KeeperOrder {
        chronicle: env!("CARGO_BIN_EXE_chronicle").into(),
        wall: is_walled.then(|| wall(folder)),
        ..KeeperOrder::new(
            cookie.to_owned(),
            folder.join("attempt.lock"),
            folder.to_owned(),
            shell_argv(script),
        )
    }
}

/// The usual wall around a project.
fn wall(folder: &Path) -> Wall {
    let (project, home) = (folder.canonicalize().unwrap(), folder.join("home"));
    let plan = WallPlan::plain(&project, &home);
    usual(&plan).unwrap()
}

/// What the keeper has noted of a wall: its first process, as it is called here.
pub(crate) fn init_of(lock_file: &Path) -> u32 {
    let text = fs::read_to_string(lock_file).unwrap();
    let mut lines =
        text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let init = lines.find_map(|line| line["init"]["pid"].as_u64());
    init.unwrap_or_else(|| panic!("no wall in {text}")).try_into().unwrap()
}

/// The process behind a wall that has this id there; nobody if it has ended.
fn outside(lock_file: &Path, inside: u32) -> u32 {
    let namespace = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    let Some(own) = namespace(init_of(lock_file)) else { return NOBODY };
    let named = |pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
        ids.split_ascii_whitespace().last() == Some(inside.to_string().as_str())
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    let mut ids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.find(|pid| namespace(*pid).as_ref() == Some(&own) && named(pid)).unwrap_or(NOBODY)
}

/// A started agent with its stdout as lines.
pub(crate) struct Running {
    pub(crate) lines: OutputLines<ChildStdout>,
    pub(crate) stdin: Option<std::process::ChildStdin>,
    pub(crate) stderr: std::process::ChildStderr,
    pub(crate) control: Control,
    /// The lock file that says which wall it is behind, if it is behind one.
    walled: Option<PathBuf>,
}

impl Running {
    pub(crate) fn start(order: &KeeperOrder) -> Self {
        let Kept { stdin, stdout, stderr, control } = start(order).unwrap();
        let walled = order.wall.is_some().then(|| order.lock_file.clone());
        Self { lines: OutputLines::new(stdout), stdin, stderr, control, walled }
    }

    /// The next line, which must be whole text.
    pub(crate) fn line(&mut self) -> String {
        match self.lines.next() {
            Some(Ok(ReadLine::Line(line))) => line,
            other => panic!("no line but {other:?}"),
        }
    }

    /// The next line as a process id.
    pub(crate) fn pid(&mut self) -> u32 {
        let line = self.line();
        let said = line.trim().parse().unwrap_or_else(|_| panic!("no process id but `{line}`"));
        self.walled.as_ref().map_or(said, |lock_file| outside(lock_file, said))
    }

    pub(crate) fn end(&self) -> KeeperEnd {
        let control = self.control.clone();
        within_patience("the end", move || control.wait())
    }

    pub(crate) fn stop(&self, grace: Duration) -> KeeperEnd {
        self.control.stop(grace);
        self.end()
    }
}

pub(crate) fn ended(code: i32, strays: u32) -> KeeperEnd {
    KeeperEnd::Ended { code: Some(code), signal: None, strays, survivors: 0, stopped: false }
}

pub(crate) fn killed(signal: Signal, strays: u32) -> KeeperEnd {
    let signal = Some(signal.as_raw());
    KeeperEnd::Ended { code: None, signal, strays, survivors: 0, stopped: true }
}

/// Runs what may block for ever on a thread of its own.
fn within_patience<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{what} did not come"))
}

/// Looks until `wanted` is seen; the only place that polls.
pub(crate) fn eventually<T: PartialEq + Debug>(wanted: &T, look: impl Fn() -> T) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let seen = look();
        if seen == *wanted {
            return;
        }
        assert!(Instant::now() < deadline, "wanted {wanted:?}, still saw {seen:?}");
        std::thread::park_timeout(LOOK);
    }
}

/// Whether a process runs; one that has ended and waits to be reaped does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    !['Z', 'X', ' '].contains(&state(pid))
}

/// The letter that the kernel has for what a process does; blank if there is none.
pub(crate) fn state(pid: u32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or(' ')
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// Runs the body in a copy of the test binary where no other test opens files or uses memory.
pub(crate) fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let output = copy_of_tests(test).env(ALONE, "1").output().unwrap();
    let mut said = output.stdout;
    said.extend(output.stderr);
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// The test binary itself, to run one test.
pub(crate) fn copy_of_tests(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).stdin(Stdio::null());
    command
}
