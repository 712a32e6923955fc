//! Programs that are no agents: a short tool, or another `chronicle` that supervises by itself.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::regular::{self, Links};

/// How much of a short tool's output is read.
const TOOL_OUTPUT_MAX: u64 = 64 * 1024;

/// Where the output of a program beside us goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// To where ours goes.
    Both,
    /// Its talk to where ours goes, its result nowhere.
    Talk,
}

/// Leaves the terminal and everybody on it: what happens to them does not happen to us.
pub fn leave_terminal() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

/// Starts a program that outlives us; what it says goes into a file.
pub fn detached<S: AsRef<OsStr>>(argv: &[S], cwd: &Path, log: &Path) -> io::Result<Child> {
    let mut options = File::options();
    let log = regular::open(log, options.create(true).append(true), Links::Refused)?;
    let mut command = command(argv, cwd)?;
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()
}

/// Runs a short tool to its end; it asks nobody anything.
pub(crate) fn tool<S: AsRef<OsStr>>(argv: &[S], cwd: &Path) -> io::Result<Output> {
    command(argv, cwd)?.stdin(Stdio::null()).output()
}

/// Runs a short tool that may not end by itself: what it printed, or none when it took longer or printed no text.
///
/// It has a process group of its own, all of which is ended, and it is not waited for beyond the time, whoever holds its
/// output open.
pub(crate) fn tool_within<S: AsRef<OsStr>>(
    argv: &[S],
    cwd: &Path,
    time: Duration,
) -> Option<String> {
    let mut command = command(argv, cwd).ok()?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    let (said, heard) = sync_channel(1);
    let read = move || {
        let mut text = String::new();
        let whole = stdout.take(TOOL_OUTPUT_MAX).read_to_string(&mut text);
        let _ = said.send(whole.is_ok().then_some(text));
    };
    let reading = std::thread::Builder::new().name("tool".to_owned()).spawn(read);
    let text = reading.ok().and_then(|_| heard.recv_timeout(time).ok()).flatten();
    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    text
}

/// Starts a program that goes on by itself. It is not ours to keep: it ends when it wants to.
pub fn beside<S: AsRef<OsStr>>(
    argv: &[S],
    cwd: &Path,
    env: &[(&str, &OsStr)],
    show: Show,
) -> io::Result<Child> {
    let mut command = command(argv, cwd)?;
    if show == Show::Talk {
        command.stdout(Stdio::null());
    }
    command.stdin(Stdio::null()).envs(env.iter().copied()).spawn()
}

fn command<S: AsRef<OsStr>>(argv: &[S], cwd: &Path) -> io::Result<Command> {
    let (program, rest) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(rest).current_dir(cwd);
    Ok(command)
}
