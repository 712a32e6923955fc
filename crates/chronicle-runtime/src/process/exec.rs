//! `chronicle keeper-exec`: the last step between a keeper and its agent.
//!
//! It does in the agent's own process what must happen before the agent's first instruction, then replaces itself with the agent:
//! `keeper-exec KEEPER-PID LOCK-FILE FOLDER PROGRAM [ARGUMENT…]`.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::lock::{self, LockEntry};
use super::programs;

/// Exit codes that shells use for a program that cannot be started.
pub(super) const NOT_FOUND: u8 = 127;
pub(super) const NOT_STARTED: u8 = 126;

/// Runs `keeper-exec`; `args` are the whole command line. Returns only if it failed.
pub fn main(args: &[OsString]) -> ExitCode {
    let [_, _, keeper, lock_file, cwd, program, arguments @ ..] = args else {
        let _ = writeln!(std::io::stderr(), "Error: `keeper-exec` is for keepers only");
        return ExitCode::from(2);
    };
    // A keeper that died meanwhile kills nobody any more, so the agent must not start.
    if !bind_to(keeper) {
        return ExitCode::from(NOT_STARTED);
    }
    let (code, text) = become_agent(Path::new(cwd), program, arguments);
    // Reached only if the exec failed. The agent's own output is no place for it: people would take it for the agent's words.
    say_why(Path::new(lock_file), text);
    ExitCode::from(code)
}

/// Runs `tool-exec PARENT-PID PROGRAM [ARGUMENT…]`: becomes a short program that does not outlive its parent. Returns only if it
/// failed.
pub fn tool(args: &[OsString]) -> ExitCode {
    let [_, _, parent, program, arguments @ ..] = args else {
        let _ = writeln!(std::io::stderr(), "Error: `tool-exec` is for Chronicle itself");
        return ExitCode::from(2);
    };
    // Whoever started it is gone: nobody would read what the tool says, and nobody would end it.
    if !dies_with(parent) {
        return ExitCode::from(NOT_STARTED);
    }
    let error = Command::new(program).args(arguments).exec();
    ExitCode::from(if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_STARTED })
}

/// A session of its own detaches it from terminals; the death signal keeps it from outliving the keeper.
fn bind_to(keeper: &OsStr) -> bool {
    // Fails only for the leader of a process group, which a fresh child is not.
    let _ = rustix::process::setsid();
    dies_with(keeper)
}

/// Asks the kernel to kill this process when its parent dies, even after an exec.
pub(super) fn dies_with(parent: &OsStr) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        if set_parent_process_death_signal(Some(Signal::KILL)).is_err() {
            return false;
        }
    }
    // The parent may have died before the line above; then no signal comes any more, and this process has been adopted.
    let above = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().to_string());
    above.as_deref().map(OsStr::new) == Some(parent)
}

fn become_agent(cwd: &Path, program: &OsStr, arguments: &[OsString]) -> (u8, String) {
    if let Err(error) = std::env::set_current_dir(cwd) {
        let text = format!("cannot enter the folder `{}`: {error}", cwd.display());
        return (NOT_STARTED, text);
    }
    let Some(found) = programs::find(program) else { return cannot_start(program, None) };
    let error = Command::new(found).arg0(program).args(arguments).exec();
    cannot_start(program, Some(&error))
}

/// The exit code and the words for a program that could not be started; without an error, it was not found.
pub(super) fn cannot_start(program: &OsStr, error: Option<&io::Error>) -> (u8, String) {
    let name = program.display();
    let Some(error) = error else {
        return (NOT_FOUND, format!("cannot start `{name}`: no such program in PATH"));
    };
    if error.kind() != ErrorKind::NotFound {
        return (NOT_STARTED, format!("cannot start `{name}`: {error}"));
    }
    let path = Path::new(program);
    let text = if path.exists() {
        format!("cannot start `{name}`: the interpreter that it names does not exist")
    } else {
        format!("cannot start `{name}`: no such file")
    };
    (NOT_FOUND, text)
}

/// The standard streams already belong to the agent, so the keeper reads the reason from the lock file.
fn say_why(lock_file: &Path, text: String) {
    if let Ok(file) = OpenOptions::new().append(true).open(lock_file) {
        let _ = lock::add(&file, &LockEntry::CannotStart { text });
    }
}
