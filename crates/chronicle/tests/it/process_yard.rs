//! Where the process tests let agents run: real shells under the real keeper.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]

use std::fmt::Debug;
use std::path::PathBuf;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use chronicle_runtime::for_tests::process::sweep::by_cookie;
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

/// A folder and a cookie for one agent.
pub(crate) struct Yard {
    pub(crate) folder: TempDir,
    pub(crate) cookie: String,
}

impl Yard {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = tempfile::tempdir().unwrap();
        let cookie = format!("yard-{}-{count}", std::process::id());
        Self { folder, cookie }
    }

    pub(crate) fn lock_file(&self) -> PathBuf {
        self.folder.path().join("attempt.lock")
    }

    pub(crate) fn order(&self, script: &str) -> KeeperOrder {
        order(&self.cookie, self.folder.path().to_owned(), script)
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

pub(crate) fn order(cookie: &str, folder: PathBuf, script: &str) -> KeeperOrder {
    KeeperOrder {
        chronicle: env!("CARGO_BIN_EXE_chronicle").into(),
        ..KeeperOrder::new(
            cookie.to_owned(),
            folder.join("attempt.lock"),
            folder,
            shell_argv(script),
        )
    }
}

/// A started agent with its stdout as lines.
pub(crate) struct Running {
    pub(crate) lines: OutputLines<ChildStdout>,
    pub(crate) stdin: Option<std::process::ChildStdin>,
    pub(crate) stderr: std::process::ChildStderr,
    pub(crate) control: Control,
}

impl Running {
    pub(crate) fn start(order: &KeeperOrder) -> Self {
        let Kept { stdin, stdout, stderr, control } = start(order).unwrap();
        Self { lines: OutputLines::new(stdout), stdin, stderr, control }
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
        line.trim().parse().unwrap_or_else(|_| panic!("no process id but `{line}`"))
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
