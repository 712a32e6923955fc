//! Programs that are not agents: short tools, and other `chronicle` processes that supervise on their own.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use super::programs::search_path;
use crate::regular::{self, Links};

/// Where the output of a program beside us goes.
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

/// Starts a program that goes on by itself. It is not ours to keep: it ends when it wants to.
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
    // Without our input: two programs that read one terminal take each other's letters.
    command.stdin(Stdio::null()).envs(env.iter().copied()).spawn()
}

fn command<S: AsRef<OsStr>>(argv: &[S], cwd: &Path) -> io::Result<Command> {
    let (program, rest) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(rest).current_dir(cwd).envs(search_path().map(|path| ("PATH", path)));
    Ok(command)
}
