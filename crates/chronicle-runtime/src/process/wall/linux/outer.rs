//! `chronicle wall PARENT-PID`: the outer side of a wall. Its stdin is a socket, its stdout and stderr are the program's.
//!
//! It takes the order, makes the namespaces, starts *init* in them, passes signals on to it and ends as it does. Single-threaded: the
//! kernel refuses a new user namespace to a process with threads, and the death signal follows the thread that started a process.
//!
//! Without namespaces there is no inside to wait for. It then restricts itself, and becomes the program.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use nix::sched::{CloneFlags, unshare};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::process::{
    Pid, WaitOptions, WaitStatus, getegid, geteuid, kill_process, setsid, waitpid,
};
use rustix::stdio::dup2_stdin;

use super::line::{
    WallReport, WallWord, WallWords, is_closed, let_go_of_output, receive, send, take_stdin,
};
use super::signals::{Signals, unblock};
use super::{At as _, group, landlocked, links, rights};
use crate::process::exec::{cannot_start, dies_with};
use crate::process::order::own_executable;
use crate::process::programs::find;
use crate::process::wall::{
    Network, REFUSED, Wall, WallLayers, WallOrder, WallRefusal, WallStands, WallStep,
};

/// What the numbers of streams begin after.
const LAST_STREAM: RawFd = 2;

/// Runs the outer side to its end; `args` are the whole command line.
pub fn main(args: &[OsString]) -> ExitCode {
    let [_, _, parent] = args else {
        let _ = writeln!(io::stderr(), "Error: `wall` is for Chronicle itself");
        return ExitCode::from(2);
    };
    // Whoever wanted the wall is gone, or is not who it says: nobody would hear how this ends.
    if !dies_with(parent) {
        return ExitCode::from(REFUSED);
    }
    let Ok(line) = take_stdin() else { return ExitCode::from(REFUSED) };
    let stood = ordered(&line).and_then(|(order, stdin)| stand(&line, parent, &order, stdin));
    stood.unwrap_or_else(|refusal| {
        let _ = send(&line, &WallReport::Refused { refusal }, &[]);
        ExitCode::from(REFUSED)
    })
}

fn ordered(line: &UnixStream) -> Result<(WallOrder, OwnedFd), WallRefusal> {
    let came = receive::<WallOrder>(line).at(WallStep::Order, "the order")?;
    let gone = || WallRefusal::plain(WallStep::Order, "whoever wanted the wall is gone");
    let (order, descriptors) = came.ok_or_else(gone)?;
    let stdin = descriptors.into_iter().next();
    let stdin =
        stdin.ok_or_else(|| WallRefusal::plain(WallStep::Order, "the order has no stdin"))?;
    Ok((order, stdin))
}

fn stand(
    line: &UnixStream,
    parent: &OsString,
    order: &WallOrder,
    stdin: OwnedFd,
) -> Result<ExitCode, WallRefusal> {
    close_all_but(&[line.as_raw_fd(), stdin.as_raw_fd()])
        .at(WallStep::Streams, "closing descriptors")?;
    refuse_folders(&stdin)?;
    links::make(&order.wall);
    // With mounts, each is refused where it is mounted. It is not looked for twice.
    if !order.wall.layers.namespaces {
        links::refuse_planted(&order.wall)?;
    }
    unblock().at(WallStep::Init, "signals")?;
    // Fails only for the leader of a process group, which a fresh child is not.
    let _ = setsid();
    if order.wall.layers.namespaces {
        surround(line, parent, order, stdin)
    } else {
        restrict_and_become(line, order, &stdin)
    }
}

/// A descriptor that is open already is not held by any wall. Ours are closed by an exec, but what we inherited is not.
fn close_all_but(kept: &[RawFd]) -> io::Result<()> {
    let listed = fs::read_dir("/proc/self/fd")?;
    let numbers =
        listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<RawFd>().ok());
    let numbers: BTreeSet<RawFd> = numbers.collect();
    for number in numbers.into_iter().filter(|it| *it > LAST_STREAM && !kept.contains(it)) {
        // Nothing of this program holds one but what is kept. The one that listed them is closed by now.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// A folder leads around the wall: what is below it is reached by the mounts outside.
fn refuse_folders(stdin: &OwnedFd) -> Result<(), WallRefusal> {
    let (out, err) = (io::stdout(), io::stderr());
    for (name, stream) in
        [("stdin", stdin.as_fd()), ("stdout", out.as_fd()), ("stderr", err.as_fd())]
    {
        let about = rustix::fs::fstat(stream).at(WallStep::Streams, name)?;
        if FileType::from_raw_mode(about.st_mode) == FileType::Directory {
            return Err(WallRefusal::plain(WallStep::Streams, format!("{name} is a folder")));
        }
    }
    Ok(())
}

/// Makes the namespaces, starts *init* in them and waits for it.
fn surround(
    line: &UnixStream,
    parent: &OsString,
    order: &WallOrder,
    stdin: OwnedFd,
) -> Result<ExitCode, WallRefusal> {
    // Before there is anything else of it: everything that is started from here on is counted.
    order.group.as_deref().map_or(Ok(()), |group| group::join(group.as_ref()))?;
    leave(order.wall.network)?;
    // Asked for again: a change of credentials can take it back.
    if !dies_with(parent) {
        return Err(WallRefusal::plain(WallStep::Init, "whoever wanted the wall is gone"));
    }
    rights::hand_down()?;
    let (channel, inner) = UnixStream::pair().at(WallStep::Init, "a socket for init")?;
    let mut command = Command::new(own_executable());
    command.arg0("chronicle").arg("wall-init").stdin(OwnedFd::from(inner));
    let child = command.spawn().at(WallStep::Init, "starting init")?;
    // It holds the other end of the socket, which must close with init.
    drop(command);
    let init = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let init = init.ok_or_else(|| WallRefusal::plain(WallStep::Init, "no process id"))?;
    let_go_of_output().at(WallStep::Streams, "letting go of the output")?;
    // After the start: the mask would be handed down.
    let signals = Signals::block().at(WallStep::Init, "signals")?;
    rights::give_up_own()?;
    rights::keep_to_itself()?;
    send(line, &WallReport::Init { pid: child.id() }, &[]).at(WallStep::Init, "telling of init")?;
    // If it is gone already, its end tells.
    let _ = send(&channel, order, &[line.as_fd(), stdin.as_fd()]);
    drop(stdin);
    let end = wait_for(init, &signals).at(WallStep::Init, "waiting for init")?;
    // Open until here: its end is how init knows that this process is gone.
    drop(channel);
    Ok(ExitCode::from(code(end)))
}

/// Leaves the machine's namespaces, as the same user in new ones.
fn leave(network: Network) -> Result<(), WallRefusal> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS;
    flags |= CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
    if network == Network::Off {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    unshare(flags).map_err(|error| refused(&error.into()))?;
    let maps = [
        // The kernel asks for it before it lets a user name groups.
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ];
    for (file, text) in maps {
        fs::write(file, text).at(WallStep::Users, file)?;
    }
    if user == 0 {
        // Whoever has one can mount the groups of processes anew, and their files are root's. Where it is refused, the limit still
        // holds: its number lies further up.
        let _ = fs::write("/proc/sys/user/max_cgroup_namespaces", "0");
    }
    Ok(())
}

/// Why the kernel makes no namespaces. It has one number for all kinds of which this user may have no more: its settings tell which, as
/// far as they are those of this user namespace and not of one around it.
fn refused(error: &io::Error) -> WallRefusal {
    let is_none_left = error.raw_os_error() == Some(Errno::NOSPC.raw_os_error());
    let most = |kind: &&str| {
        let text = fs::read_to_string(format!("/proc/sys/user/max_{kind}_namespaces"));
        text.is_ok_and(|text| text.trim() == "0")
    };
    // Users first: without those there are none of the others either.
    match ["user", "mnt", "pid", "ipc", "net"].iter().find(|kind| is_none_left && most(kind)) {
        Some(kind) if *kind != "user" => {
            let what = format!("unshare with `user.max_{kind}_namespaces=0`");
            WallRefusal::new(WallStep::Kinds, &what, error)
        }
        _ => WallRefusal::new(WallStep::Namespaces, "unshare", error),
    }
}

/// Passes signals on until *init* has ended. By then the kernel has ended everything inside.
fn wait_for(init: Pid, signals: &Signals) -> io::Result<WaitStatus> {
    loop {
        match waitpid(Some(init), WaitOptions::NOHANG) {
            Ok(Some((_, status))) => return Ok(status),
            Ok(None) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for sent in signals.wait(None)? {
            let _ = kill_process(init, sent.signal);
        }
    }
}

/// The exit code by which shells tell an end.
pub(super) fn code(end: WaitStatus) -> u8 {
    let by_signal = end.terminating_signal().map(|signal| 128 + signal);
    end.exit_status().or(by_signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Restricts this process and becomes the program. Returns only if that failed.
fn restrict_and_become(
    line: &UnixStream,
    order: &WallOrder,
    stdin: &OwnedFd,
) -> Result<ExitCode, WallRefusal> {
    let wall = &order.wall;
    enter_folder(order)?;
    let missing = wall.writable.iter().filter(|path| !path.exists()).cloned().collect();
    let landlock_abi = wall.layers.landlock.then(|| second_layer(wall)).transpose()?;
    let layers = WallLayers { landlock: landlock_abi.is_some(), ..WallLayers::default() };
    // The kernel would count every process of this user, so a limit cannot be set.
    let processes = wall.processes.is_none();
    let network = wall.network == Network::On;
    let stands =
        WallStands { layers, landlock_abi, processes, network, missing, ..WallStands::default() };
    if !is_wanted(line, &mut WallWords::default(), stands)? {
        return Ok(ExitCode::from(REFUSED));
    }
    dup2_stdin(stdin).at(WallStep::Streams, "stdin")?;
    let (code, text) = become_program(order);
    let _ = send(line, &WallReport::CannotStart { text }, &[]);
    Ok(ExitCode::from(code))
}

/// Root's own rights would lead around it: some of them are to read every process.
fn second_layer(wall: &Wall) -> Result<u32, WallRefusal> {
    if geteuid().is_root() {
        rights::give_up_all()?;
    }
    landlocked::restrict(wall, true)
}

fn become_program(order: &WallOrder) -> (u8, String) {
    let Some((program, arguments)) = order.argv.split_first() else {
        return cannot_start("".as_ref(), None);
    };
    let Some(found) = find(program) else { return cannot_start(program, None) };
    let error = Command::new(found).arg0(program).args(arguments).exec();
    cannot_start(program, Some(&error))
}

/// Enters the folder of the program.
pub(super) fn enter_folder(order: &WallOrder) -> Result<(), WallRefusal> {
    let named = format!("`{}`", order.cwd.display());
    std::env::set_current_dir(&order.cwd).at(WallStep::Folder, &named)
}

/// Says that the wall stands. Returns whether the program is still wanted.
pub(super) fn is_wanted(
    line: &UnixStream,
    words: &mut WallWords,
    stands: WallStands,
) -> Result<bool, WallRefusal> {
    send(line, &WallReport::Up { stands }, &[]).at(WallStep::Order, "telling that it stands")?;
    let word = words.wait(line).at(WallStep::Order, "the word to start")?;
    Ok(matches!(word, Some(WallWord::Exec)) && !is_closed(line))
}
