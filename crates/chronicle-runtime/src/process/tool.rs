//! Short programs that are not agents: no questions, input given at once, and a time limit.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::exec::{NOT_FOUND, NOT_STARTED};
use super::leash::{Cut, LOOK_EVERY, Leash, Lookout};
use super::order::own_executable;
use super::programs::search_path;
use super::table;
use crate::threads;

/// Most bytes of a tool's stderr that are kept.
const TALK_MAX: u64 = 64 * 1024;
/// Default time limit of a tool.
const TIME_MAX: Duration = Duration::from_mins(1);
/// Default limit of a tool's output.
const OUTPUT_MAX: usize = 16 * 1024 * 1024;

/// True in our own binary, which has the command that starts tools.
static DIE_WITH_US: AtomicBool = AtomicBool::new(false);

/// From now on no tool outlives this process, even if it is killed. Only for a program that has the command `tool-exec`.
///
/// The kernel signals a child when the *thread* that started it ends. The thread that runs a tool waits for it, so that is never
/// too early.
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
    leash: Leash,
}

/// How it ended, and what it said.
#[derive(Debug)]
pub struct ToolOutput {
    /// Exit code or signal of the process.
    pub status: ExitStatus,
    /// Everything it printed, up to its limit.
    pub stdout: Vec<u8>,
    /// Its stderr, as far as it was kept.
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
            leash: Leash::default(),
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

    /// Sets what it reads from stdin.
    pub fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = bytes;
        self
    }

    /// Sets its time limit and its output limit.
    pub(crate) fn limits(mut self, time: Duration, output: usize) -> Self {
        (self.time_max, self.output_max) = (time, output);
        self
    }

    /// Says who may end it early.
    pub(crate) fn leash(mut self, leash: &Leash) -> Self {
        self.leash = leash.clone();
        self
    }

    /// Runs it and keeps its output. It is killed if it takes too long or prints too much.
    pub fn run(self) -> io::Result<ToolOutput> {
        let mut child = self.spawn()?;
        let until = Instant::now() + self.time_max;
        let stdin = child.stdin.take();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let max = self.output_max;
        // Input is written on its own thread while output is read: a tool that fills one pipe while we block on the other would
        // hang both.
        let threads = || {
            feed(stdin, self.input)?;
            Ok((reading(stdout, max as u64 + 1)?, reading(stderr, TALK_MAX)?))
        };
        let (printed, said) = threads().map_err(|error| unread(&mut child, &error))?;
        let mut lookout = Lookout::new(child.id(), &self.leash);
        let mut hear = |from: &Receiver<Vec<u8>>| heard(from, until, &mut lookout);
        let stdout = match hear(&printed) {
            Ok(bytes) if bytes.len() <= max => bytes,
            Ok(_) => {
                let why = io::Error::new(io::ErrorKind::FileTooLarge, "it printed too much");
                return Err(end(&mut child, why));
            }
            Err(why) => return Err(end(&mut child, why)),
        };
        let stderr = hear(&said).map_err(|why| end(&mut child, why))?;
        let status = started(child.wait()?)?;
        Ok(ToolOutput { status, stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() })
    }

    /// Runs it and passes its output on as it arrives.
    pub(crate) fn stream(self, to: &mut dyn Write) -> io::Result<ToolOutput> {
        let mut child = self.spawn()?;
        let stdin = child.stdin.take();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let said = feed(stdin, self.input).and_then(|()| reading(stderr, TALK_MAX));
        let said = said.map_err(|error| unread(&mut child, &error))?;
        let watched = watch(child.id(), &self.leash).map_err(|error| unread(&mut child, &error))?;
        let copied = stdout.map_or(Ok(0), |mut from| io::copy(&mut from, to));
        // Before the child is waited for: until then its process id is its own.
        let cut = watched();
        if let Some(cut) = cut {
            return Err(end(&mut child, cut.into()));
        }
        if let Err(error) = copied {
            // The reader of our output is gone, for example a closed pager.
            return Err(end(&mut child, error));
        }
        let status = started(child.wait()?)?;
        let stderr = said.recv().unwrap_or_default();
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        Ok(ToolOutput { status, stdout: Vec::new(), stderr })
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
        command.envs(search_path().map(|path| ("PATH", path)));
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        let stdin = if self.input.is_empty() { Stdio::null() } else { Stdio::piped() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    }
}

/// Writes while others read: a tool that answers while it reads would otherwise wait for ever. One that stops reading reports why
/// by its exit code. Without a thread it is an error: a tool with an empty input would do less than it was asked, and succeed.
fn feed(stdin: Option<ChildStdin>, input: Vec<u8>) -> io::Result<()> {
    let Some(mut stdin) = stdin else { return Ok(()) };
    // A tool that ends without reading its input makes this fail, which is not our concern: its exit code is what counts.
    threads::spawn("tool-input", move || stdin.write_all(&input)).map(drop)
}

/// Reads up to that many bytes on another thread; the rest is discarded only once the excess was noticed.
fn reading(pipe: Option<impl Read + Send + 'static>, max: u64) -> io::Result<Receiver<Vec<u8>>> {
    let (told, heard) = channel();
    let read = move || {
        let Some(mut pipe) = pipe else { return };
        let mut bytes = Vec::new();
        let _ = pipe.by_ref().take(max).read_to_end(&mut bytes);
        let _ = told.send(bytes);
        // The rest is read and dropped, so that a tool with much output does not block on a full pipe before it is killed.
        let _ = io::copy(&mut pipe, &mut io::sink());
    };
    threads::spawn("tool-output", read)?;
    Ok(heard)
}

/// Waits for what a thread has read, and looks at the tool meanwhile.
fn heard(from: &Receiver<Vec<u8>>, until: Instant, lookout: &mut Lookout) -> io::Result<Vec<u8>> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match from.recv_timeout(left.min(LOOK_EVERY)) {
            Ok(bytes) => return Ok(bytes),
            Err(RecvTimeoutError::Timeout) if left > LOOK_EVERY => {
                if let Some(cut) = lookout.look() {
                    return Err(cut.into());
                }
            }
            Err(_) => return Err(io::Error::new(io::ErrorKind::TimedOut, "it took too long")),
        }
    }
}

/// Looks at a tool from another thread, and ends it there if it must be. What is returned ends the looking and says whether.
fn watch(pid: u32, leash: &Leash) -> io::Result<impl FnOnce() -> Option<Cut> + use<>> {
    let mut lookout = Lookout::new(pid, leash);
    let (stop, stopped) = channel::<()>();
    let look = move || {
        while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            if let Some(cut) = lookout.look() {
                end_below(pid);
                if let Some(process) = table::read(pid) {
                    table::signal(process, Signal::KILL);
                }
                return Some(cut);
            }
        }
        None
    };
    let thread = threads::spawn("tool-watch", look)?;
    Ok(move || {
        drop(stop);
        thread.join().unwrap_or_default()
    })
}

/// Distinguishes a program that could not be started from one that failed, if `tool-exec` started it.
fn started(status: ExitStatus) -> io::Result<ExitStatus> {
    let code = |code: u8| Some(i32::from(code));
    match status.code() {
        // Without the wrapper these codes are the tool's own, and a missing program was already an error of `spawn`.
        _ if !DIE_WITH_US.load(Ordering::Relaxed) => Ok(status),
        it if it == code(NOT_FOUND) => Err(io::ErrorKind::NotFound.into()),
        it if it == code(NOT_STARTED) => Err(io::ErrorKind::PermissionDenied.into()),
        _ => Ok(status),
    }
}

/// Kills a tool that nobody can read.
fn unread(child: &mut Child, error: &io::Error) -> io::Error {
    end(child, io::Error::new(error.kind(), format!("no thread to read it: {error}")))
}

/// Kills a tool and everything below it.
fn end(child: &mut Child, why: io::Error) -> io::Error {
    end_below(child.id());
    let _ = (child.kill(), child.wait());
    why
}

/// First, while it is known whose children they are.
fn end_below(pid: u32) {
    for process in table::below(pid, &table::all()) {
        table::signal(process, Signal::KILL);
    }
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

    #[test]
    #[cfg(target_os = "linux")]
    fn needs_sh_a_tool_that_waits_for_a_pipe_is_ended_with_all_below_it() {
        let folder = tempfile::tempdir().unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe"), 0o600.into()).unwrap();
        // The one that waits is below the tool, and says who it is.
        let text = "sh -c 'echo $$ >id; exec cat pipe' & wait";
        let tool = || Tool::new(["sh", "-c", text], folder.path());
        let leash = Leash::default();
        let ran = tool().leash(&leash).run();
        assert_eq!(ran.unwrap_err().kind(), io::ErrorKind::Deadlock);
        assert_eq!((leash.take(), leash.take()), (Some(Cut::Pipe), None));
        let ran = tool().stream(&mut Vec::new());
        assert_eq!(ran.unwrap_err().kind(), io::ErrorKind::Deadlock);
        let id = std::fs::read_to_string(folder.path().join("id")).unwrap();
        if let Some(process) = table::read(id.trim().parse().unwrap()) {
            table::wait_gone(process, Instant::now() + TIME_MAX);
        }
        assert!(table::read(id.trim().parse().unwrap()).is_none());
    }

    #[test]
    fn needs_sh_a_tool_that_nobody_waits_for_is_ended() {
        let leash = Leash::without_grace();
        let ran = shell("exec sleep 600").leash(&leash).run();
        assert_eq!(ran.unwrap_err().kind(), io::ErrorKind::Interrupted);
        assert_eq!(leash.take(), Some(Cut::GivenUp));
    }
}
