//! A project, a home and several people for the tests of the link: the real binary, nothing of the outer environment.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails there")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Longer than anything here takes on a busy machine; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_mins(2);
const LOOK: Duration = Duration::from_millis(5);
pub(crate) const CHRONICLE: &str = env!("CARGO_BIN_EXE_chronicle");

/// Looks until it is so; the only place that polls.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::park_timeout(LOOK);
    }
}

pub(crate) struct LinkYard {
    folder: TempDir,
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Heard {
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// It was refused, in these words.
    pub(crate) fn refused(&self, words: &str) {
        assert!(self.code != Some(0) && self.err.contains(words), "{self:?}");
    }
}

/// A command that goes on; it is killed when the test ends.
pub(crate) struct Live {
    child: Child,
    err: PathBuf,
}

impl Live {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.err).unwrap_or_default()
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Its exit code, once it ends by itself.
    pub(crate) fn code(&mut self) -> Option<i32> {
        until("the command ends", || self.child.try_wait().unwrap().is_some());
        self.child.wait().unwrap().code()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command to its end.
pub(crate) fn hear(command: &mut Command) -> Heard {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Heard { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// `run` on the script; with `--wait` or `--detach`, or nothing more.
pub(crate) fn run_args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "main", "the task", "--agent", "scripted:script.yaml"], more].concat()
}

impl LinkYard {
    pub(crate) fn new(workflow: &str, script: &str) -> Self {
        let yard = Self { folder: tempfile::tempdir().unwrap() };
        for name in ["p/.chronicle/workflows", "home", "state", "run", "tmp", "out"] {
            fs::create_dir_all(yard.at(name)).unwrap();
        }
        fs::write(yard.at("p/.chronicle/workflows/main.yaml"), workflow).unwrap();
        let script = crate::session::in_a_file(&yard.at("p"), script);
        fs::write(yard.at("p/script.yaml"), script).unwrap();
        crate::session::trust_all(yard.folder.path());
        yard
    }

    /// Adds to the user's settings.
    pub(crate) fn set(&self, text: &str) {
        let config = self.at("home/.config/chronicle/config.toml");
        let settings = fs::read_to_string(&config).unwrap();
        fs::write(config, format!("{settings}\n{text}")).unwrap();
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Makes a file for which a script waits.
    pub(crate) fn touch(&self, name: &str) {
        File::create(self.at("p").join(name)).unwrap();
    }

    pub(crate) fn until_touched(&self, name: &str) {
        let path = self.at("p").join(name);
        until(&format!("`{name}` is there"), || path.exists());
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at("p").join(name)).unwrap_or_default()
    }

    pub(crate) fn command(&self, program: &str, who: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.at("home")).env("TMPDIR", self.at("tmp")).env("USER", who);
        command.env("XDG_STATE_HOME", self.at("state")).env("XDG_RUNTIME_DIR", self.at("run"));
        command.current_dir(self.at("p")).stdin(Stdio::null());
        command
    }

    /// Runs to its end.
    pub(crate) fn chronicle(&self, who: &str, args: &[&str]) -> Heard {
        hear(self.command(CHRONICLE, who).args(args))
    }

    /// Starts and does not wait.
    pub(crate) fn start(&self, name: &str, args: &[&str]) -> Live {
        self.begin(name, self.command(CHRONICLE, "ann").args(args))
    }

    pub(crate) fn begin(&self, name: &str, command: &mut Command) -> Live {
        let err = self.at("out").join(name);
        let child = command.stdout(Stdio::null()).stderr(File::create(&err).unwrap()).spawn();
        Live { child: child.unwrap(), err }
    }

    /// Starts a supervisor that stays, and returns once it can be reached.
    pub(crate) fn supervisor(&self) -> Live {
        let live = self.start("supervisor", &run_args(&["--wait"]));
        until("the supervisor listens", || self.socket().is_some_and(|it| it.exists()));
        until("the run has begun", || self.ledger().contains("run_started"));
        live
    }

    /// Ids of all runs, the oldest first.
    pub(crate) fn runs(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.at("p/.chronicle/runs")) else { return Vec::new() };
        let folders = entries.flatten().filter(|entry| entry.path().is_dir());
        let mut ids: Vec<String> =
            folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
        ids.sort_unstable();
        ids
    }

    pub(crate) fn run(&self) -> String {
        self.runs().pop().unwrap_or_default()
    }

    pub(crate) fn run_file(&self, name: &str) -> PathBuf {
        self.at("p/.chronicle/runs").join(self.run()).join(name)
    }

    pub(crate) fn ledger(&self) -> String {
        fs::read_to_string(self.run_file("ledger.jsonl")).unwrap_or_default()
    }

    /// The socket that the run's note names.
    pub(crate) fn socket(&self) -> Option<PathBuf> {
        fs::read_to_string(self.run_file("link")).ok().map(PathBuf::from)
    }

    pub(crate) fn status(&self) -> Value {
        let heard = self.chronicle("ann", &["status", &self.run(), "--json"]).good();
        serde_json::from_str(&heard.out).unwrap()
    }

    pub(crate) fn until_status(&self, wanted: &str) {
        until(&format!("the run is {wanted}"), || self.status()["status"] == wanted);
    }

    /// Waits for a gate, by its id.
    pub(crate) fn until_gate(&self, gate: &str) {
        let is_open = |row: &Value| row["gate"] == gate;
        until(&format!("{gate} is open"), || {
            self.status()["needs_you"].as_array().is_some_and(|rows| rows.iter().any(is_open))
        });
    }

    /// Who answered a gate, as the ledger has it.
    pub(crate) fn who_answered(&self, gate: u32) -> Vec<String> {
        let lines = self.ledger();
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let events = lines.flat_map(|line| line["events"].as_array().cloned().unwrap_or_default());
        events
            .filter(|event| {
                event["kind"] == "gate_answered" && event["data"]["gate"] == format!("g{gate}")
            })
            .map(|event| event["data"]["who"].as_str().unwrap().to_owned())
            .collect()
    }

    /// A client that has read the supervisor's first line and said nothing.
    pub(crate) fn connect(&self) -> Wire {
        Wire::new(&self.socket().unwrap())
    }
}

/// A connection that speaks line by line, or as it likes.
pub(crate) struct Wire {
    pub(crate) stream: BufReader<UnixStream>,
}

impl Wire {
    pub(crate) fn new(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    pub(crate) fn say(&mut self, line: &str) {
        let bytes = [line.as_bytes(), b"\n"].concat();
        self.stream.get_mut().write_all(&bytes).unwrap();
    }

    /// The next line; null at the end.
    pub(crate) fn hear(&mut self) -> Value {
        let mut line = String::new();
        let _ = self.stream.read_line(&mut line);
        serde_json::from_str(&line).unwrap_or(Value::Null)
    }

    /// Says who it is.
    pub(crate) fn greeted(mut self, who: &str) -> Self {
        assert_eq!(self.hear()["link"], 2);
        self.say(&format!(r#"{{"link":2,"who":"{who}"}}"#));
        self
    }

    /// Asks, and the words of the answer.
    pub(crate) fn ask(&mut self, ask: &str) -> Value {
        self.say(&format!(r#"{{"id":7,"ask":{ask}}}"#));
        let heard = self.hear();
        assert_eq!(heard["answer"]["id"], 7, "{heard}");
        heard["answer"]["answer"]["data"].clone()
    }

    pub(crate) fn ping(&mut self) -> Value {
        self.ask(r#""ping""#)
    }
}
