//! `chronicle wall-init`: PID 1 behind a wall. *Outer* starts it in new namespaces; its stdin is a socket.
//!
//! It puts the wall up, gives every right away, starts the program and reaps. It ends when the program has ended, and the kernel ends
//! whatever is left in the namespace with it. The program gets its three streams and nothing else.
//!
//! The order matters. The death signal first, so that nothing stays if *outer* dies meanwhile. Mounts need rights, so they come before
//! the rights go. Landlock comes last: behind it nobody can mount.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal as Name, kill};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_parent_process_death_signal,
    setsid, wait,
};

use super::line::{
    WallReport, WallWord, WallWords, is_closed, let_go_of_output, receive, send, take_stdin,
};
use super::mounts::Put;
use super::outer::{code, enter_folder, is_wanted};
use super::signals::{EarlySignals, Signals};
use super::{At as _, landlocked, loopback, mounts, rights};
use crate::process::exec::cannot_start;
use crate::process::programs::find;
use crate::process::sweep::{Process, count};
use crate::process::table;
use crate::process::wall::{
    Network, REFUSED, Wall, WallLayers, WallOrder, WallRefusal, WallStands, WallStep,
};

/// Our own process id.
const INIT: u32 = 1;

/// Runs PID 1 of a wall to its end.
pub fn main(_args: &[OsString]) -> ExitCode {
    if getpid() != Pid::INIT {
        let _ = writeln!(io::stderr(), "Error: `wall-init` is for Chronicle itself");
        return ExitCode::from(2);
    }
    serve().unwrap_or(ExitCode::from(REFUSED))
}

/// `None` if *outer* is gone: then nobody is there to tell.
fn serve() -> Option<ExitCode> {
    let outer = take_stdin().ok()?;
    let (order, descriptors) = receive::<WallOrder>(&outer).ok()??;
    let mut descriptors = descriptors.into_iter();
    let (line, stdin) = (UnixStream::from(descriptors.next()?), descriptors.next()?);
    // Before the wall stands: whoever ends it meanwhile is to be heard.
    let early = EarlySignals::remember().ok()?;
    let done = put_up(&outer, &order).and_then(|stands| {
        let mut words = WallWords::default();
        if !is_wanted(&line, &mut words, stands)? {
            return Ok(ExitCode::from(REFUSED));
        }
        Ok(run(&line, words, &order, stdin, &early))
    });
    Some(done.unwrap_or_else(|refusal| {
        let _ = send(&line, &WallReport::Refused { refusal }, &[]);
        ExitCode::from(REFUSED)
    }))
}

fn put_up(outer: &UnixStream, order: &WallOrder) -> Result<WallStands, WallRefusal> {
    let wall = &order.wall;
    set_parent_process_death_signal(Some(Signal::KILL)).at(WallStep::Init, "the death signal")?;
    // *Outer* may have died before the line above. Its process id cannot be seen from here, but its socket can.
    if is_closed(outer) {
        return Err(WallRefusal::plain(WallStep::Init, "outer is gone"));
    }
    // A group of its own: what a program sends to its group must not reach *outer*.
    let _ = setsid();
    let Put { missing, replaceable } = mounts::put_up(wall)?;
    // Again, by its path: the folder that this process is in lies on the mounts outside.
    enter_folder(order)?;
    if wall.network == Network::Off {
        loopback::up().at(WallStep::Loopback, "turning the loopback on")?;
    }
    let limit = |most| rights::limit_processes(most, order.group.is_some());
    let processes = wall.processes.map_or(Ok(true), limit)?;
    rights::give_up_all()?;
    let landlock_abi = second_layer(wall)?;
    rights::keep_to_itself()?;
    let layers = WallLayers {
        namespaces: true,
        own_proc: wall.layers.own_proc,
        landlock: landlock_abi.is_some(),
    };
    Ok(WallStands { layers, landlock_abi, processes, network: true, missing, replaceable })
}

fn second_layer(wall: &Wall) -> Result<Option<u32>, WallRefusal> {
    wall.layers.landlock.then(|| landlocked::restrict(wall, false)).transpose()
}

/// Starts the program, and ends with it.
fn run(
    line: &UnixStream,
    words: WallWords,
    order: &WallOrder,
    stdin: OwnedFd,
    early: &EarlySignals,
) -> ExitCode {
    let main = match start(order, stdin) {
        Ok(main) => main,
        Err((code, text)) => {
            let _ = send(line, &WallReport::CannotStart { text }, &[]);
            return ExitCode::from(code);
        }
    };
    if let_go_of_output().is_err() {
        return ExitCode::from(REFUSED);
    }
    let Ok(signals) = Signals::block() else { return ExitCode::from(REFUSED) };
    for signal in early.came() {
        let _ = kill_process(main, signal);
    }
    // If watching fails, everything ends rather than being left unwatched.
    let Ok(end) = watch(main, &signals) else { return ExitCode::from(REFUSED) };
    let (exit, signal) = (end.exit_status(), end.terminating_signal());
    let _ = send(line, &WallReport::Left { code: exit, signal }, &[]);
    let grace = Duration::from_millis(order.grace_ms);
    // Said before the program could hear it, so it is here by now.
    let asked = asked(line, words);
    let strays = end_rest(&signals, grace, order.wall.layers.own_proc, &asked);
    let _ = send(line, &WallReport::Ended { code: exit, signal, strays }, &[]);
    ExitCode::from(code(end))
}

fn start(order: &WallOrder, stdin: OwnedFd) -> Result<Pid, (u8, String)> {
    let (program, arguments) =
        order.argv.split_first().ok_or_else(|| cannot_start("".as_ref(), None))?;
    let found = find(program).ok_or_else(|| cannot_start(program, None))?;
    let mut command = Command::new(found);
    // A group of its own, so that what it sends to its group does not come to us.
    command.arg0(program).args(arguments).stdin(File::from(stdin)).process_group(0);
    let child = command.spawn().map_err(|error| cannot_start(program, Some(&error)))?;
    let main = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    main.ok_or_else(|| cannot_start(program, None))
}

/// Reaps and passes signals on until the program has ended.
fn watch(main: Pid, signals: &Signals) -> io::Result<WaitStatus> {
    loop {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == main => return Ok(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(error) => return Err(error.into()),
            }
        }
        // What comes from inside has a sender that can be seen. Nobody inside tells us what to do.
        for sent in signals.wait(None)?.into_iter().filter(|sent| sent.by == 0) {
            let _ = kill_process(main, sent.signal);
        }
    }
}

/// Those that somebody outside has asked to end.
fn asked(line: &UnixStream, mut words: WallWords) -> BTreeSet<Process> {
    let mut all = BTreeSet::new();
    while let Ok(Some(word)) = words.come(line) {
        if let WallWord::Asked { these } = word {
            all.extend(these.into_iter().map(|(pid, started)| Process { pid, started }));
        }
    }
    all
}

/// Asks what is left to end, and gives it time. Returns how many there were, without those that others have asked and counted. What
/// then still runs is ended by the kernel when we end.
fn end_rest(signals: &Signals, grace: Duration, own_proc: bool, asked: &BTreeSet<Process>) -> u32 {
    // Reaped first: what has ended by itself was not left running.
    if !reap(|| ()) {
        return 0;
    }
    let mut seen = left();
    let everybody = nix::unistd::Pid::from_raw(-1);
    if asked.is_empty() {
        // A stopped process takes no notice until it goes on.
        let _ = (kill(everybody, Name::SIGTERM), kill(everybody, Name::SIGCONT));
    } else if own_proc {
        ask_others(asked);
    }
    let (deadline, mut reaped) = (Instant::now().checked_add(grace), 0_u32);
    while reap(|| reaped = reaped.saturating_add(1))
        && deadline.is_some_and(|at| Instant::now() < at)
    {
        if signals.wait(deadline).is_err() {
            break;
        }
    }
    seen.extend(left());
    let _ = kill(everybody, Name::SIGKILL);
    // Every one of them is a child by now or has a parent that is being killed. The kernel waits for the rest.
    while wait_once() {
        reaped = reaped.saturating_add(1);
    }
    match (own_proc, asked.is_empty()) {
        (true, _) => count(seen.difference(asked).count()),
        // A `/proc` that is not ours lists everybody on the machine.
        (false, true) => reaped,
        (false, false) => 0,
    }
}

/// Asks whoever has not been asked. Those that have may take a second time for impatience, and end without tidying up.
fn ask_others(asked: &BTreeSet<Process>) {
    let others = table::all().into_iter().map(|row| row.process).filter(|it| it.pid != INIT);
    for process in others.filter(|it| !asked.contains(it)) {
        table::signal(process, Signal::TERM);
        table::signal(process, Signal::CONT);
    }
}

/// What runs here beside us. A server that the agent started because we told it to was not left behind by anybody.
fn left() -> BTreeSet<Process> {
    let others = table::all().into_iter().map(|row| row.process).filter(|it| it.pid != INIT);
    others.filter(|it| !table::is_signal_server(*it)).collect()
}

/// Waits for the end of one child; false if there is none.
fn wait_once() -> bool {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Reaps what has ended. Returns whether any child is left.
fn reap(mut each: impl FnMut()) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => each(),
            Err(Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}
