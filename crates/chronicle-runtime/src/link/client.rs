//! The asker's side.

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
use super::{LINK_FILE, peer, whole_name};
use crate::activity::RunActivity;
use crate::ledger::{Folder, Holder, Ledger as _};
use crate::process::{self, lineage};
use crate::regular::{self, Links};

/// How long a supervisor may take to answer: it syncs its disk first.
const ANSWER_PATIENCE: Duration = Duration::from_secs(30);
/// Longer than any path of a socket.
const NOTE_MAX: u64 = 4 * 1024;
/// How often somebody who is not the supervisor is met before that is said.
const CONNECTS_MAX: u32 = 4;
const CONNECT_PAUSE: Duration = Duration::from_millis(50);

/// Why a running supervisor could not be asked.
#[derive(Debug, Error)]
pub enum LinkError {
    /// It listens, and speaks another version.
    #[error("the supervisor is Chronicle {theirs}, this is {}: they cannot talk", env!("CARGO_PKG_VERSION"))]
    Version {
        /// Its version.
        theirs: String,
    },
    /// Who answers is not who drives the run.
    #[error("process {pid} answers for this run, and is not its supervisor: that is {holder}")]
    Impostor {
        /// Who answers.
        pid: u32,
        /// Who holds the run's lock.
        holder: Box<Holder>,
    },
    /// It turned us away.
    #[error("the supervisor said: {text}")]
    TurnedAway {
        /// Its words.
        text: String,
    },
    /// It shows a run in a way that is not known here.
    #[error(transparent)]
    Newer(#[from] NewerView),
    /// The connection broke.
    #[error("the supervisor did not answer")]
    Broken(#[source] io::Error),
}

/// A connection to a supervisor.
pub struct Client {
    lines: BufReader<UnixStream>,
    asked: u64,
}

/// The first line is a greeting, or a refusal.
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
    /// Connects to whoever drives the run in that folder; none when nobody does. A copied folder has the note of the run that
    /// it was copied from, whose supervisor is not asked.
    ///
    /// The note lies in the project, where a worker can write. So whoever answers must be the process that holds the run's lock.
    pub fn connect(run_folder: &Path, who: &str) -> Result<Option<Self>, LinkError> {
        for _ in 1..CONNECTS_MAX {
            match Self::reach(run_folder, who, driver_of) {
                // One supervisor may have followed another meanwhile: then the note is another one by now.
                Err(LinkError::Impostor { .. }) => std::thread::sleep(CONNECT_PAUSE),
                reached => return reached,
            }
        }
        Self::reach(run_folder, who, driver_of)
    }

    /// The same for a worker's signal. Who answers is not looked at: below an attempt the system may show other process numbers,
    /// and a worker that deceives itself harms nobody else.
    pub(crate) fn connect_as_worker(run_folder: &Path) -> Result<Option<Self>, LinkError> {
        Self::reach(run_folder, "worker", |_, _| Ok(true))
    }

    fn reach(
        run_folder: &Path,
        who: &str,
        is_driver: fn(&UnixStream, &Path) -> Result<bool, LinkError>,
    ) -> Result<Option<Self>, LinkError> {
        let note = regular::read(&run_folder.join(LINK_FILE), NOTE_MAX, Links::Refused);
        let Ok(note) = note else { return Ok(None) };
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(&note));
        // A dead supervisor leaves its note behind.
        let Ok(stream) = UnixStream::connect(&path) else { return Ok(None) };
        if !is_driver(&stream, run_folder)? {
            return Ok(None);
        }
        stream.set_read_timeout(Some(ANSWER_PATIENCE)).map_err(LinkError::Broken)?;
        stream.set_write_timeout(Some(ANSWER_PATIENCE)).map_err(LinkError::Broken)?;
        let mut client = Self { lines: BufReader::new(stream), asked: 0 };
        match client.greet(run_folder, who) {
            Ok(is_ours) => Ok(is_ours.then_some(client)),
            // It was on its way down: nothing was asked yet.
            Err(LinkError::Broken(error)) if hung_up(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the supervisor drives the run in that folder, and was told who asks.
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
            first.run.as_deref() == name.as_deref() && first.folder == whole_name(run_folder).ok();
        if is_ours {
            self.write(&Greeting { link: LINK_VERSION, who: who.to_owned() })?;
        }
        Ok(is_ours)
    }

    /// Asks and waits for the answer; none when the run has come to rest and nothing was heard.
    pub fn ask(&mut self, ask: Ask) -> Result<Option<Answer>, LinkError> {
        self.ask_marked(ask, None)
    }

    /// Asks for something that bears this mark in the ledger.
    pub(crate) fn ask_marked(
        &mut self,
        ask: Ask,
        mark: Option<String>,
    ) -> Result<Option<Answer>, LinkError> {
        self.asked += 1;
        if let Ask::Signal { .. } = ask {
            // A worker's question may take days.
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

    /// Watches from now on: all that happens after that line, and what attempts say and do if that is wanted.
    pub fn watch(mut self, since: u64, activity: bool) -> Result<Watching, LinkError> {
        self.write(&Request { id: 0, ask: Ask::Watch { since, activity }, mark: None })?;
        self.lines.get_ref().set_read_timeout(None).map_err(LinkError::Broken)?;
        Ok(Watching { client: Some(self) })
    }

    fn read<T: for<'de> Deserialize<'de>>(&mut self) -> Result<T, LinkError> {
        let gone = || LinkError::Broken(io::ErrorKind::UnexpectedEof.into());
        wire::read(&mut self.lines, VIEW_LINE_MAX).map_err(LinkError::Broken)?.ok_or_else(gone)
    }

    fn write(&mut self, message: &impl serde::Serialize) -> Result<(), LinkError> {
        wire::write(self.lines.get_mut(), message).map_err(LinkError::Broken)
    }
}

/// What a watcher is told.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// What happened and is on disk, or how the run stands.
    Update(RunUpdate),
    /// What an attempt says and does: live, and not all of it.
    Activity(RunActivity),
}

/// A run that another process drives, as it happens. It ends when the run rests or its supervisor is gone: the ledger has the rest.
pub struct Watching {
    client: Option<Client>,
}

impl Iterator for Watching {
    type Item = Result<News, LinkError>;

    /// Waits for what comes next.
    fn next(&mut self) -> Option<Self::Item> {
        let news = self.client.as_mut()?.news().transpose();
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
                // A newer view need not even have the shape of ours.
                newer(&line)?;
                Err(LinkError::Broken(error))
            }
        }
    }
}

/// Whether the process at the other end drives the run: false when nobody here does, an error when somebody else does.
fn driver_of(stream: &UnixStream, run_folder: &Path) -> Result<bool, LinkError> {
    let Some(holder) = Folder::new(run_folder).holder().filter(Holder::is_here) else {
        return Ok(false);
    };
    let peer = peer::pid(stream).map_err(LinkError::Broken)?;
    // The lock's text is in the project too, so that the system is asked who has it; and a worker that put a lock of its own
    // there is still below its attempt.
    let lockers = process::lockers(&Folder::new(run_folder).lock_path());
    let is_holder = peer == holder.pid
        && (holder.started == 0 || process::started(peer) == Some(holder.started))
        && (lockers.is_empty() || lockers.contains(&peer))
        && lineage::of(peer).cookie.is_none();
    if is_holder {
        Ok(true)
    } else {
        Err(LinkError::Impostor { pid: peer, holder: Box::new(holder) })
    }
}

/// Whether a line is an update with views of a version that is not known here.
fn newer(line: &[u8]) -> Result<(), NewerView> {
    #[derive(Deserialize)]
    struct Line {
        update: Version,
    }
    #[derive(Deserialize)]
    struct Version {
        v: u32,
    }
    wire::understood::<Line>(line).map_or(Ok(()), |line| check_version(line.update.v))
}

fn nonsense(why: &str) -> LinkError {
    LinkError::Broken(io::Error::new(io::ErrorKind::InvalidData, why.to_owned()))
}

impl LinkError {
    /// Whether the supervisor went away in the middle: what was asked may have been heard.
    pub(crate) fn is_hang_up(&self) -> bool {
        matches!(self, Self::Broken(error) if hung_up(error))
    }
}

fn hung_up(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}
