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
use super::{LINK_FILE, whole_name};
use crate::activity::RunActivity;

/// How long a supervisor may take to answer: it syncs its disk first.
const ANSWER_PATIENCE: Duration = Duration::from_secs(30);

/// Why a running supervisor could not be asked.
#[derive(Debug, Error)]
pub enum LinkError {
    /// It listens, and speaks another version.
    #[error("the supervisor is Chronicle {theirs}, this is {}: they cannot talk", env!("CARGO_PKG_VERSION"))]
    Version {
        /// Its version.
        theirs: String,
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
    pub fn connect(run_folder: &Path, who: &str) -> Result<Option<Self>, LinkError> {
        let Ok(note) = std::fs::read(run_folder.join(LINK_FILE)) else { return Ok(None) };
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(&note));
        // A dead supervisor leaves its note behind.
        let Ok(stream) = UnixStream::connect(&path) else { return Ok(None) };
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
        self.asked += 1;
        if let Ask::Signal { .. } = ask {
            // A worker's question may take days.
            self.lines.get_ref().set_read_timeout(None).map_err(LinkError::Broken)?;
        }
        self.write(&Request { id: self.asked, ask })?;
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
        self.write(&Request { id: 0, ask: Ask::Watch { since, activity } })?;
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

fn hung_up(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}
