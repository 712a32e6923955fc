//! Programs that are no agents: a short tool, or another `chronicle` that supervises by itself.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

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
    let log = File::options().create(true).append(true).open(log)?;
    let mut command = command(argv, cwd)?;
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()
}

/// Runs a short tool to its end; it asks nobody anything.
pub fn tool<S: AsRef<OsStr>>(argv: &[S], cwd: &Path) -> io::Result<Output> {
    command(argv, cwd)?.stdin(Stdio::null()).output()
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
