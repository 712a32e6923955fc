//! How a keeper starts its agent: directly, or behind a wall, and how it hears the end.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Signal, WaitStatus};

use super::exec::{NOT_FOUND, NOT_STARTED};
use super::keeper::STRAY_GRACE;
use super::lock::{self, LockEntry};
use super::order::{COOKIE_VARIABLE, own_executable};
use super::sweep;
use super::table::{self, Process};
use super::wall::{
    Group, Wall, WallEnd, WallError, WallOrder, WallRefusal, WallStep, Walled, raise, wall_command,
};
use super::wire::{self, WireOrder};
use crate::fail::{self, Point};

/// An agent that runs, with the wall around it if there is one.
pub(super) struct Begun {
    /// The child of the keeper: the agent itself, or the outer side of its wall.
    pub(super) child: Pid,
    /// `None` if no wall stands around it.
    walled: Option<Walled>,
    /// What limits its processes, if that is not the wall itself. After the wall, so that it goes last.
    _limit: Option<Limit>,
}

/// A group that limits the processes of an agent. Nobody is left in it when it is dropped.
struct Limit(Group);

impl Drop for Limit {
    fn drop(&mut self) {
        sweep::end_group(&self.0);
    }
}

/// How the agent ended, as far as it is told.
pub(super) enum BegunEnd {
    /// It ran, and this is how it ended.
    Ended { code: Option<i32>, signal: Option<i32>, strays: u32 },
    /// It was never started, for this reason.
    CannotStart { text: String },
}

impl Begun {
    /// Starts the agent of an order. `lock` is held, and gets the names of what was started.
    pub(super) fn start(order: &WireOrder, stdin: File, lock: &File) -> Result<Self, String> {
        let begun = match &order.wall {
            Some(wall) => behind(order, wall, &stdin, lock)?,
            None => Self { child: directly(order, stdin)?, walled: None, _limit: None },
        };
        // Only for people who look into the file. Nothing is decided by it, so a full disk does not end the agent.
        let pid = begun.child.as_raw_pid().cast_unsigned();
        let _ = lock::add(lock, &LockEntry::Agent { pid });
        Ok(begun)
    }

    /// PID 1 behind the wall, as it is called here; `None` where nothing but the keeper ends what the agent leaves.
    pub(super) fn init(&self) -> Option<u32> {
        self.walled.as_ref().and_then(|walled| walled.init)
    }

    /// Whether the agent itself has ended, where a wall around it is still busy with what it left.
    pub(super) fn has_left(&mut self) -> bool {
        self.walled.as_mut().is_some_and(Walled::has_left)
    }

    /// Lets both sides of the wall go on if somebody stopped them by a signal: they would never tell the end. What is behind it may
    /// stand still for as long as somebody wants.
    pub(super) fn wake_wall(&self) {
        let Some(walled) = &self.walled else { return };
        // Without an inside, the outer side has become the agent.
        let sides = walled.init.map(|init| [init, walled.outer.id()]);
        let still = sides.into_iter().flatten().filter(|pid| table::stands_still(*pid));
        for process in still.filter_map(table::read) {
            table::signal(process, Signal::CONT);
        }
    }

    /// Says to PID 1 who is about to be asked to end: it asks what the agent leaves, and nobody is to hear it twice.
    pub(super) fn tell_asked(&self, these: &[Process]) {
        let Some(walled) = self.walled.as_ref().filter(|walled| walled.init.is_some()) else {
            return;
        };
        let inside = |process: &Process| Some((table::id_inside(*process)?, process.started));
        let these: Vec<(u32, u64)> = these.iter().filter_map(inside).collect();
        if !these.is_empty() {
            walled.asked(&these);
        }
    }

    /// How it ended, once the child has. `status` is the child's.
    pub(super) fn end(mut self, status: Option<WaitStatus>, order: &WireOrder) -> BegunEnd {
        let has_init = self.init().is_some();
        let told = self.walled.as_mut().and_then(Walled::told);
        let (code, signal) = (
            status.and_then(WaitStatus::exit_status),
            status.and_then(WaitStatus::terminating_signal),
        );
        match told {
            Some(WallEnd::Ended { code, signal, strays }) => {
                BegunEnd::Ended { code, signal, strays }
            }
            Some(WallEnd::CannotStart { text }) => BegunEnd::CannotStart { text },
            // The wall was killed with all behind it. Its own exit code is not the agent's.
            Some(WallEnd::Killed) | None if has_init => {
                BegunEnd::Ended { code: None, signal: Some(SIGKILL), strays: 0 }
            }
            Some(WallEnd::Killed) | None => match why_not_started(code, order) {
                Some(text) => BegunEnd::CannotStart { text },
                None => BegunEnd::Ended { code, signal, strays: 0 },
            },
        }
    }
}

/// The signal that ends everything behind a wall.
const SIGKILL: i32 = Signal::KILL.as_raw();

/// Starts it without a wall, through our own binary: the parent-death signal has to be set in the child, after the fork and before the
/// exec.
fn directly(order: &WireOrder, stdin: File) -> Result<Pid, String> {
    let mut command = Command::new(own_executable());
    command
        .arg0("chronicle")
        .arg("keeper-exec")
        .arg(std::process::id().to_string())
        // The lock file is where the child says why the program could not be started; its exit code alone would be ambiguous.
        .args([&order.lock_file, &order.cwd])
        .args(&order.argv);
    variables(&mut command, order);
    command.stdin(stdin);
    let child = command.spawn().map_err(|error| cannot(order, &error.to_string()))?;
    process_id(child.id())
}

/// Starts it behind a wall. What it is made of has been tried before: one that does not stand now starts nothing.
fn behind(order: &WireOrder, wall: &Wall, stdin: &File, lock: &File) -> Result<Begun, String> {
    let mut command = wall_command(&own_executable());
    variables(&mut command, order);
    let limit = Group::is_wanted(wall).then(|| limit(wall, lock)).transpose();
    let (limit, unlimited) = limit.map_or_else(|why| (None, Some(why)), |it| (it, None));
    let wanted = WallOrder {
        wall: wall.clone(),
        cwd: order.cwd.clone(),
        argv: order.argv.clone(),
        grace_ms: wire::millis(STRAY_GRACE),
        group: limit.as_ref().map(|limit| limit.0.entrance().into()),
    };
    let refused = |error| without_wall(order, &error);
    let walled = raise(command, &wanted, stdin).map_err(refused)?;
    if let Some(refusal) = unlimited.filter(|_| !walled.stands.processes) {
        return Err(refused(WallError::Refused(refusal)));
    }
    fail::at(Point::KeeperAfterWall);
    let child = process_id(walled.outer.id())?;
    // On disk before anything runs behind it: whoever finds this keeper dead ends everything by it.
    if let Some(entry) = walled.init.and_then(LockEntry::init) {
        let kept = lock::add(lock, &entry).and_then(|()| lock.sync_all());
        kept.map_err(|error| cannot(order, &format!("its wall cannot be noted: {error}")))?;
    }
    fail::at(Point::KeeperAfterInit);
    walled.go().map_err(|error| cannot(order, &format!("its wall is gone: {error}")))?;
    Ok(Begun { child, walled: Some(walled), _limit: limit })
}

/// Makes the group that limits processes behind a wall. Its place is on disk before it is made: whoever finds this keeper dead removes it.
fn limit(wall: &Wall, lock: &File) -> Result<Limit, WallRefusal> {
    let group = Group::here()?;
    let entry = LockEntry::Group { folder: group.folder().to_owned(), boot: table::boot() };
    let noted = lock::add(lock, &entry);
    noted.map_err(|error| WallRefusal::new(WallStep::Group, "its place", &error))?;
    group.make(wall.processes.unwrap_or(u64::MAX))?;
    Ok(Limit(group))
}

/// The cookie comes last, so that no variable of the order can replace it.
fn variables(command: &mut Command, order: &WireOrder) {
    command.envs(&order.env_set).env(COOKIE_VARIABLE, &order.cookie);
}

fn cannot(order: &WireOrder, why: &str) -> String {
    let program = order.argv.first().map(OsString::as_os_str).unwrap_or_default();
    format!("cannot start `{}`: {why}", program.display())
}

/// What is told where no wall stands. A folder that is not there is told as it is without a wall.
fn without_wall(order: &WireOrder, error: &WallError) -> String {
    let text = match error {
        WallError::Refused(refusal) if refusal.step == WallStep::Folder => {
            return format!("cannot enter the folder {}", refusal.text);
        }
        WallError::Refused(refusal) if refusal.step == WallStep::Links => {
            format!("{refusal}: {}", refusal.advice())
        }
        WallError::Refused(refusal) => {
            format!("{refusal}: `chronicle doctor` says more, `--no-walls` does without")
        }
        WallError::Silent(why) => format!("{error}: {why}"),
    };
    cannot(order, &format!("no wall stands around it: {text}"))
}

fn process_id(id: u32) -> Result<Pid, String> {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| format!("the system gave the process id {id}"))
}

/// The error that `keeper-exec` wrote, if it failed. A program may exit with these codes by itself. Only if the lock file has a reason
/// was it never started.
fn why_not_started(code: Option<i32>, order: &WireOrder) -> Option<String> {
    if ![NOT_FOUND, NOT_STARTED].map(|it| Some(i32::from(it))).contains(&code) {
        return None;
    }
    lock::entries(Path::new(&order.lock_file)).into_iter().find_map(|entry| match entry {
        LockEntry::CannotStart { text } => Some(text),
        _ => None,
    })
}

impl LockEntry {
    /// The line for PID 1 of a wall; `None` if it has ended already.
    fn init(pid: u32) -> Option<Self> {
        let started = table::started(pid)?;
        Some(Self::Init { pid, started, boot: table::boot() })
    }
}
