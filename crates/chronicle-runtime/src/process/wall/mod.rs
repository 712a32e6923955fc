//! Walls: what a phase may not do, its processes cannot do.
//!
//! A [`Wall`] says which files can be changed behind it, which cannot even be seen, and whether there is a network. It is put up by two
//! small single-threaded processes of our own binary, since a user namespace cannot be made with threads, nor without `unsafe` between
//! fork and exec: *outer* unshares and waits, *init* is PID 1 inside and does the rest. Everything that is started behind the wall
//! inherits it, and nothing can shed it. Kill init, and the kernel ends everything.
//!
//! A wall stands as it was asked for or not at all: what this machine can do is found out beforehand, by [`probe`], which puts one up
//! around nothing. Nothing here decides what a phase may do: [`usual`] turns that into lists.
//!
//! Start reading at `linux/outer.rs`, then `linux/init.rs`; the reasons for the order are in `docs/design/0005-walls.md`.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod end;
#[cfg(target_os = "linux")]
mod linux;
mod lists;
mod refusal;
mod usual;
mod way;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use chronicle_core::definition::walls::{WallFiles, WallNetwork as Network};
use serde::{Deserialize, Serialize};

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{
    NeverGroup as Group, NeverWalled as Walled, init, outer, probe, raise, wall_command,
};
pub use end::{WallEnd, WallError};
#[cfg(target_os = "linux")]
pub use linux::{Group, Walled, init, outer, probe, raise, wall_command};
pub(crate) use lists::LOADED;
pub use refusal::{WallRefusal, WallStep};
pub use usual::{
    PlanError, ProjectGit, WallPlan, made_for, refuse_in_origin, refuse_to_open, usual,
    usual_folder, whole,
};

pub use way::{PathWay, way_to};

/// Exit code of a wall that was not put up. Nothing ran.
pub const REFUSED: u8 = 125;

/// What stands between some processes and the machine. Later lists win: what is hidden is hidden even in a writable folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wall {
    /// Folders and files that can be changed, with all below them. One that does not exist is left out, and told.
    #[serde(with = "as_os")]
    pub writable: Vec<PathBuf>,
    /// Those below a writable one that cannot. Only mounts hold them: Landlock can add rights below a folder, not take them away.
    #[serde(with = "as_os")]
    pub read_only: Vec<PathBuf>,
    /// Those that are empty behind the wall. What another list names below them stays as it is. Only mounts hold them.
    #[serde(with = "as_os")]
    pub hidden: Vec<PathBuf>,
    /// Folders that are empty behind the wall, and can be written: what is written there is gone with it. Only mounts hold them.
    #[serde(with = "as_os", default)]
    pub fresh: Vec<PathBuf>,
    /// Folders that are made before the wall stands, since what does not exist can neither be opened nor protected.
    #[serde(with = "as_os")]
    pub made: Vec<PathBuf>,
    /// Folders where workers may have left links. What is writable by its name in one of them must really lie there.
    #[serde(with = "as_os")]
    pub worked_in: Vec<PathBuf>,
    /// Whether there is a network.
    pub network: Network,
    /// Most processes behind the wall; held by namespaces alone, and for root by a [`Group`].
    pub processes: Option<u64>,
    /// Which layers it is made of.
    pub layers: WallLayers,
}

impl Wall {
    /// Whether its lists let a path be changed: the deepest one decides, and of those for one path the strictest. Looks at no disk.
    pub fn lets_change(&self, path: &Path) -> bool {
        let deepest = |lists: &[&[PathBuf]]| {
            let above = lists.iter().copied().flatten().filter(|it| path.starts_with(it));
            above.map(|it| it.components().count()).max()
        };
        let open = deepest(&[&self.writable, &self.fresh]);
        open.is_some() && open > deepest(&[&self.read_only, &self.hidden])
    }
}

/// What a wall is made of: of what is asked for, and of what stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallLayers {
    /// Users, mounts, processes and messages of its own.
    pub namespaces: bool,
    /// A `/proc` that shows nobody else. A container that hides parts of its own refuses it.
    pub own_proc: bool,
    /// Landlock. Left out where the agent brings a sandbox of its own: that cannot mount anything behind it.
    pub landlock: bool,
}

impl WallLayers {
    /// Every layer that there is.
    pub const ALL: Self = Self { namespaces: true, own_proc: true, landlock: true };
    /// Landlock alone, as in most containers.
    pub const LANDLOCK: Self = Self { namespaces: false, own_proc: false, landlock: true };
    /// Namespaces alone, for agents with a sandbox of their own.
    pub const NAMESPACES: Self = Self { namespaces: true, own_proc: true, landlock: false };

    /// True if nothing stands.
    pub fn is_nothing(self) -> bool {
        !self.namespaces && !self.landlock
    }
}

/// A program to be started behind a wall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallOrder {
    /// What stands around the program.
    pub wall: Wall,
    /// The folder that it is started in.
    pub cwd: OsString,
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// How long what it leaves running may take to end by itself, in milliseconds.
    pub grace_ms: u64,
    /// Where the wall joins the group that limits its processes, if no other limit binds its user.
    pub group: Option<OsString>,
}

/// What stands, told by whoever put it up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallStands {
    /// Which layers it is made of.
    pub layers: WallLayers,
    /// The version of Landlock that the kernel has.
    pub landlock_abi: Option<u32>,
    /// Whether the limit on processes holds; true where none was asked for. For a probe, whether one can.
    pub processes: bool,
    /// Whether the network is as it was asked for; for a probe, whether it can be off.
    pub network: bool,
    /// Names of writable paths that do not exist, and so are not.
    #[serde(with = "as_os")]
    pub missing: Vec<PathBuf>,
    /// Read-only paths that a link leads to which can itself be replaced: what it led to is held, its name is not.
    #[serde(with = "as_os")]
    pub replaceable: Vec<PathBuf>,
}

/// What this machine can do, and why not more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WallProbe {
    /// The best wall that stood.
    pub stands: WallStands,
    /// Why each better one did not, the best one first.
    pub refusals: Vec<WallRefusal>,
}

/// Paths need not be UTF-8, and serde refuses those that are not.
mod as_os {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        let paths: Vec<&std::ffi::OsStr> = paths.iter().map(|path| path.as_os_str()).collect();
        paths.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let paths = Vec::<OsString>::deserialize(from)?;
        Ok(paths.into_iter().map(PathBuf::from).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    #[test]
    fn an_order_keeps_paths_that_are_no_text() {
        let odd = OsString::from_vec(b"/p/\xff\n".to_vec());
        let wall = Wall { writable: vec![odd.clone().into()], ..Wall::default() };
        let order = WallOrder { wall, cwd: odd.clone(), argv: vec![odd], grace_ms: 1, group: None };
        let line = serde_json::to_string(&order).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<WallOrder>(&line).unwrap(), order);
    }
}
