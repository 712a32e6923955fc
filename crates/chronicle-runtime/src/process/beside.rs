//! Programs that are not agents: short tools, and other `chronicle` processes that supervise on their own.

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

/// Where the output of another program goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowOutput {
    /// Both streams go where ours go.
    Both,
    /// Its stderr goes where ours goes, its stdout is discarded.
    Talk,
}

/// Detaches from the terminal: its hang-up or Ctrl-C no longer reaches this process.
pub fn leave_terminal() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

/// Starts a program that outlives this process; its output goes into a file.
pub fn detached<S: AsRef<OsStr>>(argv: &[S], cwd: &Path, log: &Path) -> io::Result<Child> {
    let mut options = File::options();
    let log = regular::open(log, options.create(true).append(true), Links::Refused)?;
    let mut command = command(argv, cwd)?;
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()
}

/// Runs a short tool to its end, without input.
pub(crate) fn tool<S: AsRef<OsStr>>(argv: &[S], cwd: &Path) -> io::Result<Output> {
    command(argv, cwd)?.stdin(Stdio::null()).output()
}

/// Runs a short tool with a time limit. Returns its output, or `None` if it took too long or printed no text.
///
/// It has a process group of its own, all of which is killed, and it is not waited for beyond the limit, whoever holds its output
/// open.
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
        // Also after success: a tool may leave children behind that hold its output open.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    text
}

/// Starts an independent program. It is not kept: it ends when it wants to.
pub fn beside<S: AsRef<OsStr>>(
    argv: &[S],
    cwd: &Path,
    env: &[(&str, &OsStr)],
    show: ShowOutput,
) -> io::Result<Child> {
    let mut command = command(argv, cwd)?;
    if show == ShowOutput::Talk {
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
