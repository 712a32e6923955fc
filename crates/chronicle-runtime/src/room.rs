//! Room on this machine: how many agents work at once, over all runs of the user.
//!
//! Each place is a file in `room/` of the user's state folder, locked by the supervisor of whoever works. The kernel gives the lock
//! back when that process ends, however it ends, so no room is ever lost. Which of the waiting runs gets a place that became free is
//! nobody's decision: each looks again after a while, and one that gave a place back lets the others look first.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use chronicle_core::definition::settings::Settings;
use chronicle_core::event::room::RoomLimit;

use crate::home;
use crate::regular::{self, Links};

/// The folder of all places.
const FOLDER: &str = "room";
/// How much of the sum of an agent's name its files are called by: names may contain anything.
const NAME_BYTES: usize = 16;

/// A limit, and what its files are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) limit: RoomLimit,
    pub(crate) stem: String,
}

/// Room for one agent; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    places: Vec<File>,
}

/// Tells other processes that somebody waits for a place of a kind.
#[derive(Debug)]
pub(crate) struct Mark {
    file: File,
}

/// What limits an agent: its own limits, then that of all agents.
pub(crate) fn bounds(settings: &Settings, agent: &str) -> Vec<Bound> {
    let own = settings.agents_at_once(agent).into_iter().map(|(name, most)| {
        let sum = blake3::hash(name.as_bytes()).to_hex();
        let stem = format!("agent-{}", &sum.as_str()[..NAME_BYTES]);
        Bound { limit: RoomLimit { agent: Some(name.to_owned()), most }, stem }
    });
    let most = settings.machine_agents();
    let all = Bound { limit: RoomLimit { agent: None, most }, stem: "machine".to_owned() };
    own.chain([all]).collect()
}

/// The folder of all places; made if it is not there.
pub(crate) fn folder() -> io::Result<PathBuf> {
    let state = home::state();
    let state = state.ok_or_else(|| io::Error::other("set `XDG_STATE_HOME` or `HOME`"))?;
    let folder = state.join(FOLDER);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map(|()| folder.clone()).map_err(|error| at(&folder, &error))
}

/// Takes a place of each kind, or none: then it says which kind has none.
pub(crate) fn take(folder: &Path, bounds: &[Bound]) -> io::Result<Result<Room, Bound>> {
    let mut room = Room { places: Vec::new() };
    for bound in bounds {
        match place(folder, bound)? {
            Some(place) => room.places.push(place),
            // Dropped with the room: nobody holds one place while they wait for another.
            None => return Ok(Err(bound.clone())),
        }
    }
    Ok(Ok(room))
}

/// From the last place to the first: a project that allows fewer agents finds only the first ones, which others then leave free for
/// as long as they can.
fn place(folder: &Path, bound: &Bound) -> io::Result<Option<File>> {
    for number in (0..bound.limit.most).rev() {
        let file = open(folder, &format!("{}-{number}", bound.stem))?;
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(None)
}

/// True if another process waits for a place of that kind. Whoever asks must not have a mark there.
pub(crate) fn is_awaited(folder: &Path, bound: &Bound) -> io::Result<bool> {
    let file = waiting(folder, bound)?;
    match file.try_lock() {
        Ok(()) => file.unlock().map(|()| false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Mark {
    /// Marks that this process waits. `None` if somebody is just asking who does: it is marked at the next look.
    pub(crate) fn set(folder: &Path, bound: &Bound) -> io::Result<Option<Self>> {
        let file = waiting(folder, bound)?;
        match file.try_lock_shared() {
            Ok(()) => Ok(Some(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

fn waiting(folder: &Path, bound: &Bound) -> io::Result<File> {
    open(folder, &format!("{}-waiting", bound.stem))
}

fn open(folder: &Path, name: &str) -> io::Result<File> {
    let (mut options, path) = (OpenOptions::new(), folder.join(name));
    options.create(true).write(true).truncate(false).mode(0o600);
    regular::open(&path, &mut options, Links::Refused).map_err(|error| at(&path, &error))
}

/// What failed, and how to get around it.
fn at(path: &Path, error: &io::Error) -> io::Error {
    let path = path.display();
    io::Error::new(error.kind(), format!("`{path}`: {error}; `XDG_STATE_HOME` moves the folder"))
}

impl Drop for Room {
    /// Not by closing alone: a program that is just being started still has the file open.
    fn drop(&mut self) {
        for place in &self.places {
            // It goes with this process at the latest.
            let _ = place.unlock();
        }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(agent: Option<&str>, most: u32) -> Bound {
        let stem = agent.map_or("machine".to_owned(), |agent| format!("agent-{agent}"));
        Bound { limit: RoomLimit { agent: agent.map(str::to_owned), most }, stem }
    }

    #[test]
    fn there_are_so_many_places_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let all = [bound(None, 2)];
        let first = take(folder.path(), &all).unwrap().unwrap();
        let second = take(folder.path(), &all).unwrap().unwrap();
        assert_eq!(take(folder.path(), &all).unwrap().unwrap_err(), all[0]);
        drop(first);
        let third = take(folder.path(), &all).unwrap().unwrap();
        assert!(take(folder.path(), &all).unwrap().is_err());
        drop((second, third));
    }

    #[test]
    fn whoever_lacks_one_place_keeps_none() {
        let folder = tempfile::tempdir().unwrap();
        let (own, all) = (bound(Some("a"), 1), bound(None, 1));
        let taken = take(folder.path(), std::slice::from_ref(&all)).unwrap().unwrap();
        let lacks = take(folder.path(), &[own.clone(), all.clone()]).unwrap().unwrap_err();
        assert_eq!(lacks, all);
        // Its own place is free again.
        let own_place = take(folder.path(), std::slice::from_ref(&own)).unwrap().unwrap();
        drop(taken);
        let lacks = take(folder.path(), &[own.clone(), all.clone()]).unwrap().unwrap_err();
        assert_eq!(lacks, own);
        drop(own_place);
        assert!(take(folder.path(), &[own, all]).unwrap().is_ok());
    }

    #[test]
    fn a_project_with_fewer_places_finds_one_while_others_have_choice() {
        let folder = tempfile::tempdir().unwrap();
        let many = take(folder.path(), &[bound(None, 8)]).unwrap().unwrap();
        let few = take(folder.path(), &[bound(None, 1)]).unwrap().unwrap();
        assert!(take(folder.path(), &[bound(None, 1)]).unwrap().is_err());
        drop((many, few));
    }

    #[test]
    fn others_see_who_waits() {
        let folder = tempfile::tempdir().unwrap();
        let all = bound(None, 1);
        assert!(!is_awaited(folder.path(), &all).unwrap());
        let mark = Mark::set(folder.path(), &all).unwrap().unwrap();
        let another = Mark::set(folder.path(), &all).unwrap().unwrap();
        assert!(is_awaited(folder.path(), &all).unwrap());
        drop(mark);
        assert!(is_awaited(folder.path(), &all).unwrap());
        drop(another);
        assert!(!is_awaited(folder.path(), &all).unwrap());
    }
}
