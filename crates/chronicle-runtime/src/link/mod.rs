//! How other processes reach a driven run: a unix socket with one line of JSON per message.
//!
//! The supervisor listens (`server.rs`), others connect (`client.rs`); `wire.rs` has the messages. The identity of a client comes
//! from the kernel, not from what it says (`peer.rs`): another user is refused, and a process below one of the run's agents is a
//! worker, which may signal but not command. Commands cross as the core has them; `Command::barred` says which of them a person may
//! not give. Reports are for hosts, which do not exist yet: they are refused. Each client has a thread of its own, so that a slow or
//! hostile one affects nobody else.
//!
//! Watchers get everything that happened from any line on (`feed.rs`) once it is synced, and views; on request also what attempts
//! say and do. The driver only publishes what is new (`board.rs`) and rings a bell: it never waits for a watcher.

mod board;
mod client;
mod feed;
mod peer;
mod seats;
mod secrets;
mod server;
mod watchers;
mod wire;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::project::Project;
use crate::regular::{self, Links};

pub(crate) use client::LinkWatch;
pub use client::{ANSWER_PATIENCE, Client, LinkError, News};
pub(crate) use secrets::Secrets;
pub(crate) use server::{Inside, Publisher, Server};
pub use wire::{Ask, LINE_MAX, RunUpdate};

/// Longest note with the path of a socket.
const NOTE_MAX: u64 = 4 * 1024;

/// File in a run's folder that has the path of its socket, since the client's environment may differ from the supervisor's.
pub(crate) const LINK_FILE: &str = "link";

/// A folder for sockets that no other user can enter. Socket paths are limited to about 100 bytes.
///
/// A folder of the user's own that others can enter is closed to them first. One that belongs to another user, or is a link, is
/// refused.
pub(crate) fn folder() -> io::Result<PathBuf> {
    let uid = rustix::process::getuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    // A relative path would lead each process to another folder, depending on where it was started.
    let own = match runtime.filter(|path| path.is_absolute() && path.is_dir()) {
        Some(runtime) => runtime.join("chronicle"),
        None => std::env::temp_dir().join(format!("chronicle-{uid}")),
    };
    match DirBuilder::new().mode(0o700).create(&own) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    // Checked after creating, not before: in a shared folder such as `/tmp` another user may have been first.
    let found = fs::symlink_metadata(&own)?;
    if !found.is_dir() || found.uid() != uid {
        let why = format!("`{}` is not a folder of yours alone", own.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    if found.mode() & 0o777 != 0o700 {
        // It is ours and no link. Whoever came in before can do nothing in it from here on, and a socket that they left is
        // removed before ours takes its name.
        fs::set_permissions(&own, fs::Permissions::from_mode(0o700))?;
    }
    Ok(own)
}

/// A run's folder as both sides name it: a copied run is another one.
fn whole_name(run_folder: &Path) -> io::Result<String> {
    Ok(run_folder.canonicalize()?.to_string_lossy().into_owned())
}

/// The socket of a run, and the folder where those of other runs are; `None` if there can be none.
pub(crate) fn place(run_folder: &Path) -> Option<(PathBuf, PathBuf)> {
    Some((socket_path(run_folder).ok()?, folder().ok()?))
}

/// Other folders where supervisors of this user may listen: those whose environment says otherwise than ours, and those that runs of this
/// project noted.
pub(crate) fn other_folders(project: &Project) -> Vec<PathBuf> {
    let uid = rustix::process::getuid().as_raw();
    let shared = format!("chronicle-{uid}");
    let session = PathBuf::from(format!("/run/user/{uid}/chronicle"));
    let usual = [session, PathBuf::from("/tmp").join(&shared), std::env::temp_dir().join(&shared)];
    let noted = project.runs().into_iter().filter_map(|run| {
        let note = regular::read(&run.path.join(LINK_FILE), NOTE_MAX, Links::Refused).ok()?;
        Some(Path::new(std::ffi::OsStr::from_bytes(&note)).parent()?.to_owned())
    });
    // Of what is noted only what can be a folder of sockets: nothing else is to be hidden by it.
    let is_ours = |path: &PathBuf| {
        let is_named = path.ends_with("chronicle") || path.ends_with(&shared);
        path.is_absolute() && path.is_dir() && is_named
    };
    let mut all: Vec<PathBuf> = usual.into_iter().chain(noted).filter(is_ours).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Path of the socket for the run in that folder.
fn socket_path(run_folder: &Path) -> io::Result<PathBuf> {
    let whole = run_folder.canonicalize()?;
    // A sum instead of the path: the name of a socket may have about 100 bytes only.
    // Of the whole path, so that a copied run does not take the socket of the original.
    let name = blake3::hash(whole.as_os_str().as_encoded_bytes()).to_hex();
    Ok(folder()?.join(format!("{}.sock", &name[..24])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::new_run_id;
    use chronicle_core::base::ids::RunId;

    #[test]
    fn folders_that_other_runs_noted_are_known_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = Project::at(root.join("project"));
        let (noted, odd) = (root.join("session/chronicle"), root.join("odd"));
        for (place, made) in [&noted, &odd].into_iter().zip(["a.sock", "b.sock"]) {
            fs::create_dir_all(place).unwrap();
            let run = project.make_run(RunId::new(new_run_id())).unwrap();
            fs::write(run.path.join(LINK_FILE), place.join(made).as_os_str().as_bytes()).unwrap();
        }
        let found = other_folders(&project);
        assert!(found.contains(&noted) && !found.contains(&odd), "{found:?}");
    }
}
