//! The side that wants a wall: starts *outer*, gives it the order, and hears how it goes.

use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;

use chronicle_core::definition::walls::PROCESSES_DEFAULT;

use super::Group;
use super::line::{WallReport, WallWord, has_come, send, send_aside};
use crate::process::order::shell_argv;
use crate::process::wall::{
    Network, Wall, WallEnd, WallError, WallLayers, WallOrder, WallProbe, WallRefusal, WallStands,
    WallStep,
};
use crate::process::wire::{self, Got, HANDSHAKE_PATIENCE, Inbox};
use rustix::event::{PollFd, PollFlags};

/// Most processes in one word to *init*; more than anybody starts, and far less than the socket has room for.
const ASKED_MAX: usize = 1_000;
/// An exit code that no shell uses by itself.
const EXPECTED_CODE: i32 = 7;

/// A wall that stands. Dropping it before [`Walled::go`] takes it down; afterwards its processes live until `outer` is killed.
#[derive(Debug)]
pub struct Walled {
    /// The outer process; killing it ends everything.
    pub outer: Child,
    /// PID 1 of the inside as it is called outside; `None` without namespaces.
    pub init: Option<u32>,
    /// What stands of it, and what was left out.
    pub stands: WallStands,
    line: UnixStream,
    inbox: Inbox,
    /// What was told of the end so far.
    end: Option<WallEnd>,
}

/// The command that puts a wall up. Its environment and output become the program's.
pub fn wall_command(chronicle: &Path) -> Command {
    let mut command = Command::new(chronicle);
    // The order does not come by the command line: everybody inside can read that of PID 1's parent where `/proc` is shared.
    command.arg0("chronicle").arg("wall").arg(std::process::id().to_string());
    command
}

/// Puts a wall up. Returns once it stands; nothing runs behind it before [`Walled::go`].
///
/// It dies with the *thread* that calls this.
pub fn raise(
    mut command: Command,
    order: &WallOrder,
    stdin: impl AsFd,
) -> Result<Walled, WallError> {
    let (line, other) = UnixStream::pair().map_err(WallError::Silent)?;
    command.stdin(OwnedFd::from(other));
    let outer = command.spawn().map_err(WallError::Silent)?;
    // It holds the other end of the socket, whose closing tells that outer is gone.
    drop(command);
    let (stands, inbox) = (WallStands::default(), Inbox::default());
    let mut walled = Walled { outer, init: None, stands, line, inbox, end: None };
    let stood = walled.order(order, &stdin);
    if stood.is_err() {
        let _ = (walled.outer.kill(), walled.outer.wait());
    }
    stood.map(|()| walled)
}

impl Walled {
    fn order(&mut self, order: &WallOrder, stdin: &impl AsFd) -> Result<(), WallError> {
        // An outer side that ended at once says why, if it can.
        let sent = send(&self.line, order, &[stdin.as_fd()]);
        let deadline = Some(Instant::now() + HANDSHAKE_PATIENCE);
        loop {
            match self.next(deadline).map_err(WallError::Silent)? {
                Some(WallReport::Init { pid }) => self.init = Some(pid),
                Some(WallReport::Up { stands }) => {
                    self.stands = stands;
                    return Ok(());
                }
                Some(WallReport::Refused { refusal }) => return Err(WallError::Refused(refusal)),
                Some(
                    WallReport::CannotStart { .. }
                    | WallReport::Left { .. }
                    | WallReport::Ended { .. },
                )
                | None => {
                    let gone = || ErrorKind::UnexpectedEof.into();
                    return Err(WallError::Silent(sent.err().unwrap_or_else(gone)));
                }
            }
        }
    }

    /// Starts the program that was ordered.
    pub fn go(&self) -> io::Result<()> {
        send(&self.line, &WallWord::Exec, &[])
    }

    /// Says who was asked to end, or is about to be: the process id that each has inside, and when it started. Said before they are
    /// asked, *init* knows it by the time that the program has ended.
    pub fn asked(&self, these: &[(u32, u64)]) {
        for these in these.chunks(ASKED_MAX) {
            // Lost words are only heard twice by those that they name.
            send_aside(&self.line, &WallWord::Asked { these: these.to_vec() });
        }
    }

    /// Whether the program itself has ended, as far as it was told. Never waits.
    pub fn has_left(&mut self) -> bool {
        while has_come(&self.line)
            && let Ok(Some(report)) = self.next(None)
        {
            self.note(report);
        }
        self.end.is_some()
    }

    /// Takes the wall down before anything was started behind it.
    pub fn give_up(mut self) -> io::Result<WallEnd> {
        self.line.shutdown(Shutdown::Both)?;
        Ok(own_end(self.outer.wait()?))
    }

    /// Waits for the end of the program and of everything behind the wall.
    pub fn wait(mut self) -> io::Result<WallEnd> {
        let end = self.last_report()?;
        // Without namespaces the line closes when the program starts. With them, when all is over.
        let status = self.outer.wait()?;
        let alone = || if self.init.is_none() { own_end(status) } else { WallEnd::Killed };
        Ok(end.unwrap_or_else(alone))
    }

    /// What was told of the end, for whoever has waited for *outer* by itself; `None` if it could not be told.
    pub fn told(&mut self) -> Option<WallEnd> {
        self.last_report().ok().flatten()
    }

    /// Reads until the line closes.
    fn last_report(&mut self) -> io::Result<Option<WallEnd>> {
        while let Some(report) = self.next(None)? {
            self.note(report);
        }
        Ok(self.end.clone())
    }

    fn note(&mut self, report: WallReport) {
        let end = match report {
            WallReport::Left { code, signal } => WallEnd::Ended { code, signal, strays: 0 },
            WallReport::Ended { code, signal, strays } => WallEnd::Ended { code, signal, strays },
            WallReport::CannotStart { text } => WallEnd::CannotStart { text },
            WallReport::Init { .. } | WallReport::Up { .. } | WallReport::Refused { .. } => return,
        };
        self.end = Some(end);
    }

    fn next(&mut self, deadline: Option<Instant>) -> io::Result<Option<WallReport>> {
        loop {
            if let Some(report) = self.inbox.next()? {
                return Ok(Some(report));
            }
            wire::wait_until(&mut [PollFd::new(&self.line, PollFlags::IN)], deadline)?;
            if deadline.is_some_and(|at| Instant::now() >= at) {
                return Err(ErrorKind::TimedOut.into());
            }
            if self.inbox.fill(&self.line)? == Got::Closed {
                return Ok(None);
            }
        }
    }
}

/// The end of a program that outer became.
fn own_end(status: ExitStatus) -> WallEnd {
    use std::os::unix::process::ExitStatusExt as _;
    WallEnd::Ended { code: status.code(), signal: status.signal(), strays: 0 }
}

/// Finds out what this machine can do, by doing it: puts walls up around a shell that does nothing, the best one first. What settings
/// say is not enough: containers and security modules refuse single steps. `folder` is some folder that can be written.
pub fn probe(chronicle: &Path, folder: &Path) -> WallProbe {
    let mut probe = probe_each(chronicle, folder);
    // A limit that does not bind matters least: what says why a layer is missing is told first.
    probe.refusals.sort_by_key(|it| matches!(it.step, WallStep::Processes | WallStep::Group));
    probe
}

fn probe_each(chronicle: &Path, folder: &Path) -> WallProbe {
    let (mut refusals, mut wanted) = (Vec::<WallRefusal>::new(), Wanted::ALL);
    // Each round asks for less than the one before.
    loop {
        let refusal = match try_one(chronicle, folder, wanted) {
            Ok(stands) => {
                // Another limit may bind who is called root here.
                refusals.retain(|it| it.step != WallStep::Group || !stands.processes);
                return WallProbe { stands, refusals };
            }
            Err(refusal) => refusal,
        };
        wanted = wanted.less(refusal.step);
        // The same step may be refused whatever else is asked for.
        if refusals.last() != Some(&refusal) {
            refusals.push(refusal);
        }
        if wanted.layers.is_nothing() {
            return WallProbe { stands: WallStands::default(), refusals };
        }
    }
}

/// What a probe asks for: all that an attempt may ask for, as long as nothing of it was refused.
#[derive(Clone, Copy)]
struct Wanted {
    layers: WallLayers,
    network: Network,
    processes: Option<u64>,
    /// A group that limits processes, where it is needed.
    group: bool,
}

impl Wanted {
    const ALL: Self = Self {
        layers: WallLayers::ALL,
        network: Network::Off,
        processes: Some(PROCESSES_DEFAULT),
        group: true,
    };

    /// What is left to try once a step was refused.
    fn less(self, refused: WallStep) -> Self {
        let Self { layers, network, group, .. } = self;
        let of_network = [WallStep::Loopback, WallStep::Namespaces, WallStep::Kinds];
        match refused {
            // A network of its own is a namespace too, and may be the only one that is refused.
            _ if network == Network::Off && of_network.contains(&refused) => {
                Self { network: Network::On, ..self }
            }
            WallStep::Group if self.group => Self { group: false, ..self },
            WallStep::Processes if self.processes.is_some() => Self { processes: None, ..self },
            WallStep::Proc if layers.own_proc => {
                Self { layers: WallLayers { own_proc: false, ..layers }, ..self }
            }
            WallStep::Landlock => Self { layers: WallLayers { landlock: false, ..layers }, ..self },
            _ if layers.namespaces => Self {
                layers: WallLayers { namespaces: false, own_proc: false, ..layers },
                network: Network::On,
                processes: None,
                group,
            },
            _ => {
                Self { layers: WallLayers::default(), network: Network::On, processes: None, group }
            }
        }
    }
}

/// A group for as long as a wall is tried.
struct ProbingGroup(Group);

impl Drop for ProbingGroup {
    fn drop(&mut self) {
        self.0.remove();
    }
}

fn probing_group(most: u64) -> Result<ProbingGroup, WallRefusal> {
    let group = Group::here()?;
    group.remove_left();
    group.make(most)?;
    Ok(ProbingGroup(group))
}

fn try_one(chronicle: &Path, folder: &Path, wanted: Wanted) -> Result<WallStands, WallRefusal> {
    let Wanted { layers, network, processes, .. } = wanted;
    let writable = vec![folder.to_owned()];
    let wall = Wall { writable, network, processes, layers, ..Wall::default() };
    let argv = shell_argv(&format!("exit {EXPECTED_CODE}"));
    let group = match processes.filter(|_| wanted.group && Group::is_wanted(&wall)) {
        Some(most) => Some(probing_group(most)?),
        None => None,
    };
    let joined = group.as_ref().map(|group| group.0.entrance().into());
    let order = WallOrder { wall, cwd: folder.into(), argv, grace_ms: 0, group: joined };
    let mut command = wall_command(chronicle);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let failed =
        |error: &io::Error| WallRefusal::new(WallStep::Init, "a wall around nothing", error);
    let nothing = std::fs::File::open("/dev/null").map_err(|error| failed(&error))?;
    let walled = raise(command, &order, &nothing).map_err(|error| match error {
        WallError::Refused(refusal) => refusal,
        WallError::Silent(error) => failed(&error),
    })?;
    let mut stands = walled.stands.clone();
    stands.network &= network == Network::Off;
    stands.processes &= processes.is_some();
    walled.go().map_err(|error| failed(&error))?;
    match walled.wait().map_err(|error| failed(&error))? {
        WallEnd::Ended { code: Some(EXPECTED_CODE), .. } => Ok(stands),
        other => Err(WallRefusal::plain(
            WallStep::Init,
            format!("a shell ended otherwise than it should: {other:?}"),
        )),
    }
}
