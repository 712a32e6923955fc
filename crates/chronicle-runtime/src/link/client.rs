//! The asker's side.

use std::io::{self, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::wire::{self, Ask, Greeting, LINK_VERSION, Reply, Request, VIEW_LINE_MAX};
use super::{LINK_FILE, whole_name};

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

    /// Asks and waits for the answer.
    pub fn ask(&mut self, ask: Ask) -> Result<Reply, LinkError> {
        self.asked += 1;
        self.write(&Request { id: self.asked, ask })?;
        self.read()
    }

    /// Watches: each call waits for the next view.
    pub fn watch(mut self) -> Result<impl Iterator<Item = Value>, LinkError> {
        self.write(&Request { id: 0, ask: Ask::Watch })?;
        let stream = self.lines.get_ref();
        stream.set_read_timeout(None).map_err(LinkError::Broken)?;
        Ok(std::iter::from_fn(move || match self.read() {
            Ok(Reply::View { view }) => Some(view),
            Ok(Reply::Accepted { .. } | Reply::Refused { .. } | Reply::Rests { .. }) | Err(_) => {
                None
            }
        }))
    }

    fn read<T: for<'de> Deserialize<'de>>(&mut self) -> Result<T, LinkError> {
        let gone = || LinkError::Broken(io::ErrorKind::UnexpectedEof.into());
        wire::read(&mut self.lines, VIEW_LINE_MAX).map_err(LinkError::Broken)?.ok_or_else(gone)
    }

    fn write(&mut self, message: &impl serde::Serialize) -> Result<(), LinkError> {
        wire::write(self.lines.get_mut(), message).map_err(LinkError::Broken)
    }
}

fn hung_up(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}
