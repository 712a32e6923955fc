//! What the agent remembers of its sessions, one small file each.
//!
//! A file is replaced as a whole after each step, so that a process killed at any instant finds the last completed step.
//! It is not forced to the disk: what survives the process is enough, as with the agents that it stands for.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Stop;

/// Where sessions are kept.
pub(super) struct Home(PathBuf);

/// One session: which list it plays, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Session {
    /// Its id, chosen by the supervisor.
    pub(super) id: String,
    /// The place whose list is played.
    pub(super) place: String,
    /// The try whose list is played.
    #[serde(rename = "try")]
    pub(super) try_number: u32,
    /// How many lists were played in this session, with this one: ids are made of it, so that they never repeat.
    pub(super) list: u32,
    /// The first step not completed.
    pub(super) next: usize,
    /// A change of a file that was begun: the step, and the file's length before it.
    #[serde(default)]
    pub(super) begun: Option<Begun>,
}

/// A change of a file that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Begun {
    pub(super) step: usize,
    /// The file's length before; none when it was not there.
    pub(super) length: Option<u64>,
}

impl Session {
    /// A new one, at the start of a list.
    pub(super) fn new(id: &str, place: &str, try_number: u32) -> Self {
        Self {
            id: id.to_owned(),
            place: place.to_owned(),
            try_number,
            list: 1,
            next: 0,
            begun: None,
        }
    }

    /// The same session for an order: goes on with the same list, or begins another.
    pub(super) fn at(self, place: &str, try_number: u32) -> Self {
        if self.place == place && self.try_number == try_number {
            return self;
        }
        // Part of each step's id: the same step number of another list must not be taken for the same call.
        let list = self.list + 1;
        Self { list, ..Self::new(&self.id, place, try_number) }
    }

    /// The id of what the current step asks or reports: the same when it is repeated after a kill.
    pub(super) fn step_id(&self) -> String {
        format!("{}.{}", self.list, self.next + 1)
    }
}

impl Home {
    /// The folder that the environment names.
    pub(super) fn from_environment() -> Result<Self, Stop> {
        let folder = |name: &str| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        folder("CHRONICLE_SCRIPTED_HOME")
            .or_else(|| folder("XDG_STATE_HOME").map(|state| state.join("chronicle/scripted")))
            .or_else(|| folder("HOME").map(|home| home.join(".local/state/chronicle/scripted")))
            .map(Self)
            .ok_or_else(|| {
                let source = io::Error::new(io::ErrorKind::NotFound, "`HOME` is not set");
                Stop::io("keep sessions")(source)
            })
    }

    /// A session that was saved before.
    pub(super) fn load(&self, session: &str) -> Result<Option<Session>, Stop> {
        let path = self.path(session);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| Stop::io(format!("read `{}`", path.display()))(error.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Stop::io(format!("read `{}`", path.display()))(error)),
        }
    }

    /// Replaces what was saved.
    pub(super) fn save(&self, session: &Session) -> Result<(), Stop> {
        let path = self.path(&session.id);
        // In the same folder: a file can be moved in one step only within its file system.
        let beside = path.with_extension("new");
        serde_json::to_vec(session)
            .map_err(io::Error::from)
            .and_then(|bytes| {
                fs::create_dir_all(&self.0)?;
                fs::write(&beside, bytes)?;
                // Moved into its place: a process that is killed while it writes leaves the session as it was.
                fs::rename(&beside, &path)
            })
            .map_err(Stop::io(format!("write `{}`", path.display())))
    }

    fn path(&self, session: &str) -> PathBuf {
        self.0.join(format!("{}.json", file_name(session)))
    }
}

/// A session's id as a file name: bytes that a name might not bear are written as `%2f`.
fn file_name(session: &str) -> String {
    session.bytes().fold(String::new(), |mut name, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
            name.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(name, "%{byte:02x}");
        }
        name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_goes_on_with_the_same_list_and_begins_another_one() {
        let session = Session { next: 3, ..Session::new("s", "plan", 1) };
        assert_eq!(session.clone().at("plan", 1), session);
        let other = session.at("plan", 2);
        assert_eq!((other.list, other.next, other.step_id().as_str()), (2, 0, "2.1"));
    }

    #[test]
    fn no_id_leaves_the_folder() {
        assert_eq!(file_name("../a b"), "%2e%2e%2fa%20b");
    }
}
