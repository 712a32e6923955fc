//! The client side of the link: commands, signals and watchers.

use std::io::{self, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chronicle_core::event::input::Answer;
use chronicle_core::view::{NewerView, check_version};
use serde::Deserialize;
use thiserror::Error;

use super::wire::{self, Ask, Greeting, LINK_VERSION, Reply, Request, RunUpdate, VIEW_LINE_MAX};
use super::{LINK_FILE, NOTE_MAX, peer, whole_name};
use crate::activity::RunActivity;
use crate::ledger::{Folder, Holder, Ledger as _};
use crate::process::{self, lineage};
use crate::regular::{self, Links};

/// How long a supervisor may take to answer: it syncs its disk first.
pub const ANSWER_PATIENCE: Duration = Duration::from_secs(30);
/// How many connections to other processes are tried before that is reported.
const CONNECTS_MAX: u32 = 4;
const CONNECT_PAUSE: Duration = Duration::from_millis(50);

/// Why a running supervisor could not be asked.
#[derive(Debug, Error)]
pub enum LinkError {
    /// It speaks another version of the protocol.
    #[error("the supervisor is Chronicle {theirs}, this is {}: they cannot talk", env!("CARGO_PKG_VERSION"))]
    Version {
        /// Version of the supervisor.
        theirs: String,
    },
    /// The process that answers does not hold the run's lock.
    #[error("process {pid} answers for this run, and is not its supervisor: that is {holder}")]
    Impostor {
        /// Process id of the one that answers.
        pid: u32,
        /// Who holds the run's lock.
        holder: Box<Holder>,
    },
    /// It refused the connection.
    #[error("the supervisor said: {text}")]
    TurnedAway {
        /// The reason that it gave.
        text: String,
    },
    /// Its views are of a version that this Chronicle does not know.
    #[error(transparent)]
    Newer(#[from] NewerView),
    /// The connection was closed or failed in the middle.
    #[error("the supervisor did not answer")]
    Broken(#[source] io::Error),
}

/// A connection to a supervisor.
pub struct Client {
    lines: BufReader<UnixStream>,
    asked: u64,
}

/// The first line is a greeting or a refusal.
#[derive(Deserialize)]
struct First {
    link: Option<u32>,
    chronicle: Option<String>,
    run: Option<String>,
    folder: Option<String>,
    refused: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    text: String,
}

impl Client {
    /// Connects to the supervisor of the run in that folder; `None` if there is none. A copied folder has the link file of the
    /// original run, whose supervisor is not asked.
    ///
    /// The link file is inside the project, where a worker can write. So the process that answers must hold the run's lock.
    pub fn connect(run_folder: &Path, who: &str) -> Result<Option<Self>, LinkError> {
        for _ in 1..CONNECTS_MAX {
            match Self::reach(run_folder, who, driver_of) {
                // One supervisor may have replaced another between reading the note and checking the lock. Then the note has
                // changed by now.
                Err(LinkError::Impostor { .. }) => std::thread::sleep(CONNECT_PAUSE),
                reached => return reached,
            }
        }
        Self::reach(run_folder, who, driver_of)
    }

    /// The same for a worker's signal. The lock is not checked: below an attempt the system may show other process ids, and a
    /// worker that deceives itself harms only itself.
    pub(crate) fn connect_as_worker(run_folder: &Path) -> Result<Option<Self>, LinkError> {
        Self::reach(run_folder, "worker", |_, _| Ok(true))
    }

    fn reach(
        run_folder: &Path,
        who: &str,
        is_driver: fn(&UnixStream, &Path) -> Result<bool, LinkError>,
    ) -> Result<Option<Self>, LinkError> {
        // No file, or one that is not ours, is the same as no supervisor. Whether there is one is decided by the run's lock, not
        // here.
        let note = regular::read(&run_folder.join(LINK_FILE), NOTE_MAX, Links::Refused);
        let Ok(note) = note else { return Ok(None) };
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(&note));
        // The note of a dead supervisor stays behind, and nothing listens at its path.
        let Ok(stream) = UnixStream::connect(&path) else { return Ok(None) };
        // Checked before anything is sent: an impostor must not see a person's command.
        if !is_driver(&stream, run_folder)? {
            return Ok(None);
        }
        // With a limit from the first byte on: the kernel takes the connection even for a supervisor that is stopped.
        stream.set_read_timeout(Some(ANSWER_PATIENCE)).map_err(LinkError::Broken)?;
        stream.set_write_timeout(Some(ANSWER_PATIENCE)).map_err(LinkError::Broken)?;
        let mut client = Self { lines: BufReader::new(stream), asked: 0 };
        match client.greet(run_folder, who) {
            Ok(is_ours) => Ok(is_ours.then_some(client)),
            // The supervisor was shutting down. Nothing was asked yet, so this is the same as no supervisor.
            Err(LinkError::Broken(error)) if hung_up(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// True if the supervisor drives the run in that folder. Also tells it the person's name.
    fn greet(&mut self, run_folder: &Path, who: &str) -> Result<bool, LinkError> {
        let first: First = self.read()?;
        if let Some(Refusal { text }) = first.refused {
            return Err(LinkError::TurnedAway { text });
        }
        if first.link != Some(LINK_VERSION) {
            let theirs = first.chronicle.unwrap_or_else(|| "of another kind".to_owned());
            return Err(LinkError::Version { theirs });
        }
        let name = run_folder.file_name().map(std::ffi::OsStr::to_string_lossy);
        let is_ours =
            // Run and folder: a copied project has the same run, and its note may still lead to the original's supervisor.
            first.run.as_deref() == name.as_deref() && first.folder == whole_name(run_folder).ok();
        if is_ours {
            // Only to the right one: another run's supervisor need not learn who asks.
            self.write(&Greeting { link: LINK_VERSION, who: who.to_owned() })?;
        }
        Ok(is_ours)
    }

    /// Sends a request and waits for the answer; `None` if the run rests and the request was not handled.
    pub fn ask(&mut self, ask: Ask) -> Result<Option<Answer>, LinkError> {
        self.ask_marked(ask, None)
    }

    /// Sends a request that carries this mark in the ledger.
    pub(crate) fn ask_marked(
        &mut self,
        ask: Ask,
        mark: Option<String>,
    ) -> Result<Option<Answer>, LinkError> {
        self.asked += 1;
        if let Ask::Signal { .. } = ask {
            // No time limit: a worker's question may wait days for a person.
            self.lines.get_ref().set_read_timeout(None).map_err(LinkError::Broken)?;
        }
        self.write(&Request { id: self.asked, ask, mark })?;
        match self.read()? {
            Reply::Answer { answer, .. } => Ok(Some(answer)),
            Reply::Rests { .. } => Ok(None),
            Reply::Refused { text } => Err(LinkError::TurnedAway { text }),
            Reply::Update(_) | Reply::Activity(_) => {
                Err(nonsense("it tells, and was not asked to"))
            }
        }
    }

    /// Watches from now on: everything after that line and, if wanted, what attempts say and do.
    pub fn watch(mut self, since: u64, activity: bool) -> Result<LinkWatch, LinkError> {
        // The limit ends after the request is sent: from then on a run may be silent for hours.
        self.write(&Request { id: 0, ask: Ask::Watch { since, activity }, mark: None })?;
        self.lines.get_ref().set_read_timeout(None).map_err(LinkError::Broken)?;
        Ok(LinkWatch { client: Some(self) })
    }

    fn read<T: for<'de> Deserialize<'de>>(&mut self) -> Result<T, LinkError> {
        let gone = || LinkError::Broken(io::ErrorKind::UnexpectedEof.into());
        wire::read(&mut self.lines, VIEW_LINE_MAX).map_err(silent)?.ok_or_else(gone)
    }

    fn write(&mut self, message: &impl serde::Serialize) -> Result<(), LinkError> {
        wire::write(self.lines.get_mut(), message).map_err(LinkError::Broken)
    }
}

/// What a watcher receives.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// Synced events, or a new view.
    Update(RunUpdate),
    /// Live output of an attempt; may be incomplete.
    Activity(RunActivity),
}

/// A run that another process drives, as it happens. It ends when the run rests or its supervisor is gone; the ledger has the
/// rest.
pub struct LinkWatch {
    client: Option<Client>,
}

impl Iterator for LinkWatch {
    type Item = Result<News, LinkError>;

    /// Waits for the next message.
    fn next(&mut self) -> Option<Self::Item> {
        let news = self.client.as_mut()?.news().transpose();
        // After an error the stream may stand in the middle of a line, and whatever is read next would be nonsense.
        if !matches!(news, Some(Ok(_))) {
            self.client = None;
        }
        news
    }
}

impl Client {
    fn news(&mut self) -> Result<Option<News>, LinkError> {
        let line = match wire::line(&mut self.lines, VIEW_LINE_MAX) {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(None),
            // A supervisor that is killed resets the connection. For a watcher that is an end like any other: the ledger has the
            // rest.
            Err(error) if hung_up(&error) => return Ok(None),
            Err(error) => return Err(LinkError::Broken(error)),
        };
        match wire::understood(&line) {
            Ok(Reply::Update(update)) => {
                check_version(update.v)?;
                Ok(Some(News::Update(update)))
            }
            Ok(Reply::Activity(activity)) => Ok(Some(News::Activity(activity))),
            Ok(Reply::Refused { text }) => Err(LinkError::TurnedAway { text }),
            Ok(Reply::Answer { .. } | Reply::Rests { .. }) => Err(nonsense("nothing was asked")),
            Err(error) => {
                // A view of a newer version may not parse at all, so its version is checked by itself.
                newer(&line)?;
                Err(LinkError::Broken(error))
            }
        }
    }
}

/// True if the process at the other end drives the run; false if no process on this machine does; an error if another one does.
fn driver_of(stream: &UnixStream, run_folder: &Path) -> Result<bool, LinkError> {
    // A socket does not reach another machine, so a holder elsewhere cannot be the one that answered.
    let Some(holder) = Folder::new(run_folder).holder().filter(Holder::is_here) else {
        return Ok(false);
    };
    // The process id comes from the socket, where the kernel has recorded it.
    let peer = peer::pid(stream).map_err(LinkError::Broken)?;
    // A worker can write the lock's text, so the kernel is asked who really holds the lock. A worker that put a locked file
    // of its own there is still below its attempt, which the cookie shows.
    let lockers = process::lockers(&Folder::new(run_folder).lock_path());
    let is_holder = peer == holder.pid
        // An unknown start time is 0. It must not lock people out of their run where the system does not tell it.
        && (holder.started == 0 || process::started(peer) == Some(holder.started))
        // Empty where the kernel does not list locks: then the process id and its start time have to do.
        && (lockers.is_empty() || lockers.contains(&peer))
        && lineage::of(peer).cookie.is_none();
    if is_holder {
        Ok(true)
    } else {
        Err(LinkError::Impostor { pid: peer, holder: Box::new(holder) })
    }
}

/// Fails if a line is an update with views of an unknown version.
fn newer(line: &[u8]) -> Result<(), NewerView> {
    #[derive(Deserialize)]
    struct VersionedLine {
        update: Version,
    }
    #[derive(Deserialize)]
    struct Version {
        v: u32,
    }
    wire::understood::<VersionedLine>(line).map_or(Ok(()), |line| check_version(line.update.v))
}

/// A read that timed out, in words: the system calls it a resource that is temporarily unavailable.
fn silent(error: io::Error) -> LinkError {
    use io::ErrorKind::{TimedOut, WouldBlock};
    if !matches!(error.kind(), TimedOut | WouldBlock) {
        return LinkError::Broken(error);
    }
    let seconds = ANSWER_PATIENCE.as_secs();
    let why = format!("it was silent for {seconds} seconds; it may still act on the command later");
    LinkError::Broken(io::Error::new(TimedOut, why))
}

fn nonsense(why: &str) -> LinkError {
    LinkError::Broken(io::Error::new(io::ErrorKind::InvalidData, why.to_owned()))
}

impl LinkError {
    /// True if the supervisor went away in the middle: the request may have been handled.
    pub(crate) fn is_hang_up(&self) -> bool {
        matches!(self, Self::Broken(error) if hung_up(error))
    }
}

fn hung_up(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}
