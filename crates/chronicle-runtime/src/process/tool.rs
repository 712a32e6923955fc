//! Short programs that are no agents: they ask nobody anything, take their input at once and have a time limit.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::exec::{NOT_FOUND, NOT_STARTED};
use super::order::own_executable;

/// How much of what a tool says about itself is kept.
const TALK_MAX: u64 = 64 * 1024;
/// How long a tool may take unless it is given a limit of its own.
const TIME_MAX: Duration = Duration::from_mins(1);
/// How much a tool may print unless it is given a limit of its own.
const OUTPUT_MAX: usize = 16 * 1024 * 1024;

/// Whether this process is our binary, which has the command that tools are started by.
static DIE_WITH_US: AtomicBool = AtomicBool::new(false);

/// From now on no tool outlives this process, not even if it is killed. Only for a program that has the command `tool-exec`.
///
/// The kernel tells a child when the *thread* that started it ends. Whoever runs a tool waits for it, so that is no sooner.
pub fn tools_die_with_us() {
    DIE_WITH_US.store(cfg!(target_os = "linux"), Ordering::Relaxed);
}

/// A program to be run to its end.
#[derive(Debug, Clone)]
#[must_use]
pub struct Tool {
    argv: Vec<OsString>,
    cwd: PathBuf,
    env: Vec<(OsString, OsString)>,
    unset: Vec<OsString>,
    input: Vec<u8>,
    time_max: Duration,
    output_max: usize,
}

/// How it ended, and what it said.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it said about itself, as far as kept.
    pub stderr: String,
}

impl Tool {
    /// A program in a folder, with this process's environment.
    pub fn new(argv: impl IntoIterator<Item = impl Into<OsString>>, cwd: &Path) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            cwd: cwd.to_owned(),
            env: Vec::new(),
            unset: Vec::new(),
            input: Vec::new(),
            time_max: TIME_MAX,
            output_max: OUTPUT_MAX,
        }
    }

    /// Adds to its environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Takes variables out of its environment.
    pub(crate) fn without(mut self, names: impl IntoIterator<Item = OsString>) -> Self {
        self.unset.extend(names);
        self
    }

    /// What it reads.
    pub fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = bytes;
        self
    }

    /// How long it may take, and how much it may print.
    pub(crate) fn limits(mut self, time: Duration, output: usize) -> Self {
        (self.time_max, self.output_max) = (time, output);
        self
    }

    /// Runs it and keeps what it prints. One that takes too long or prints too much is ended.
    pub fn run(self) -> io::Result<Ran> {
        let mut child = self.spawn()?;
        let until = Instant::now() + self.time_max;
        let stdin = child.stdin.take();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let max = self.output_max;
        feed(stdin, self.input);
        let printed = reading(stdout, max as u64 + 1)?;
        let said = reading(stderr, TALK_MAX)?;
        let too_long = (io::ErrorKind::TimedOut, "it took too long");
        let stdout = match heard(&printed, until) {
            Some(bytes) if bytes.len() <= max => bytes,
            Some(_) => {
                return Err(end(&mut child, (io::ErrorKind::FileTooLarge, "it printed too much")));
            }
            None => return Err(end(&mut child, too_long)),
        };
        let Some(stderr) = heard(&said, until) else { return Err(end(&mut child, too_long)) };
        let status = started(child.wait()?)?;
        Ok(Ran { status, stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() })
    }

    /// Runs it and passes on what it prints as it comes.
    pub(crate) fn stream(self, to: &mut dyn Write) -> io::Result<Ran> {
        let mut child = self.spawn()?;
        let stdin = child.stdin.take();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        feed(stdin, self.input);
        let said = reading(stderr, TALK_MAX)?;
        let copied = stdout.map_or(Ok(0), |mut from| io::copy(&mut from, to));
        if let Err(error) = copied {
            // Whoever reads has gone away.
            let _ = (child.kill(), child.wait());
            return Err(error);
        }
        let status = started(child.wait()?)?;
        let stderr = said.recv().unwrap_or_default();
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        Ok(Ran { status, stdout: Vec::new(), stderr })
    }

    fn spawn(&self) -> io::Result<Child> {
        let (program, rest) = self.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = if DIE_WITH_US.load(Ordering::Relaxed) {
            let mut command = Command::new(own_executable());
            let parent = std::process::id().to_string();
            command.arg0("chronicle").arg("tool-exec").arg(parent).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(rest).current_dir(&self.cwd);
        for name in &self.unset {
            command.env_remove(name);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        let stdin = if self.input.is_empty() { Stdio::null() } else { Stdio::piped() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    }
}

/// Writes beside the reading: a tool that answers while it reads would wait for ever else. One that stops reading says why
/// by its exit code.
fn feed(stdin: Option<ChildStdin>, input: Vec<u8>) {
    if let Some(mut stdin) = stdin {
        let writer = std::thread::Builder::new().name("tool-input".to_owned());
        let _ = writer.spawn(move || stdin.write_all(&input));
    }
}

/// Reads so much beside us; the rest is read and forgotten only once somebody has heard of it.
fn reading(pipe: Option<impl Read + Send + 'static>, max: u64) -> io::Result<Receiver<Vec<u8>>> {
    let (told, heard) = channel();
    let read = move || {
        let Some(mut pipe) = pipe else { return };
        let mut bytes = Vec::new();
        let _ = pipe.by_ref().take(max).read_to_end(&mut bytes);
        let _ = told.send(bytes);
        let _ = io::copy(&mut pipe, &mut io::sink());
    };
    std::thread::Builder::new().name("tool-output".to_owned()).spawn(read)?;
    Ok(heard)
}

fn heard(from: &Receiver<Vec<u8>>, until: Instant) -> Option<Vec<u8>> {
    from.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
}

/// Tells a program that could not be started from one that failed, where another one starts it for us.
fn started(status: ExitStatus) -> io::Result<ExitStatus> {
    let code = |code: u8| Some(i32::from(code));
    match status.code() {
        _ if !DIE_WITH_US.load(Ordering::Relaxed) => Ok(status),
        it if it == code(NOT_FOUND) => Err(io::ErrorKind::NotFound.into()),
        it if it == code(NOT_STARTED) => Err(io::ErrorKind::PermissionDenied.into()),
        _ => Ok(status),
    }
}

fn end(child: &mut Child, (kind, why): (io::ErrorKind, &str)) -> io::Error {
    let _ = (child.kill(), child.wait());
    io::Error::new(kind, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str) -> Tool {
        Tool::new(["sh", "-c", text], Path::new("/"))
    }

    #[test]
    fn needs_sh_what_goes_in_comes_out() {
        let input = vec![b'x'; 300_000];
        let ran = shell("cat; echo said >&2; exit 3").input(input.clone()).run().unwrap();
        assert_eq!((ran.stdout, ran.stderr.as_str()), (input, "said\n"));
        assert_eq!(ran.status.code(), Some(3));
        let mut out = Vec::new();
        shell("echo \"$A$B\"").env("A", "1").without(["B".into()]).stream(&mut out).unwrap();
        assert_eq!(out, b"1\n");
    }

    #[test]
    fn needs_sh_too_long_and_too_much_are_ended() {
        let slow = shell("exec sleep 600").limits(Duration::from_millis(20), 10).run();
        assert_eq!(slow.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let loud = shell("exec cat /dev/zero").limits(TIME_MAX, 1_000).run();
        assert_eq!(loud.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
