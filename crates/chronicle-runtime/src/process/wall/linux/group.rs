//! The limit on processes that binds root too: a group of processes that the kernel counts (a cgroup with the controller `pids`).
//!
//! The number is on a folder, and the processes are in another one below it. Whoever is in there can at most make its own folder the root of
//! a file system of its own, and the number is not in it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use rustix::fs::statfs;

use super::At as _;
use super::mountinfo::{Mounted, mounted};
use crate::process::table::{self, Process};
use crate::process::wall::{Wall, WallRefusal, WallStep};

/// What the names of our folders begin with.
const PREFIX: &str = "chronicle-";
/// The folder with the processes, in that with the number.
const MEMBERS: &str = "in";
/// The two processes that hold the wall are counted with those behind it.
const OWN_PROCESSES: u64 = 2;
/// More than any kernel counts to. It refuses larger numbers.
const COUNTED_MAX: u64 = 4 << 20;
/// Folders within folders that are removed with a group: a worker with rights of its own could have made some.
const DEPTH_MAX: usize = 8;
/// How file systems of groups are marked: those of the first version, and of the second.
const MAGIC: [u64; 2] = [0x0027_e0eb, 0x6367_7270];

/// A group for what is behind one wall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    folder: PathBuf,
}

impl Group {
    /// Whether a wall needs one: where no limit is wanted, or another one binds the user, it does not.
    pub fn is_wanted(wall: &Wall) -> bool {
        wall.layers.namespaces && wall.processes.is_some() && rustix::process::getuid().is_root()
    }

    /// Where the group that this process makes would be. Nothing is made yet.
    pub fn here() -> Result<Self, WallRefusal> {
        let name = own_name().ok_or_else(|| refused("this process has no name"))?;
        Ok(Self { folder: around(&read("mountinfo")?, &read("cgroup")?)?.join(name) })
    }

    /// One that was made before; `None` if nothing of ours is there.
    pub fn at(folder: &Path) -> Option<Self> {
        let is_named = folder.file_name()?.to_str()?.starts_with(PREFIX);
        let is_plain = folder.components().all(|it| it != Component::ParentDir);
        let about = statfs(folder).ok().filter(|_| is_named && is_plain && !folder.is_symlink())?;
        let kind = u64::try_from(about.f_type).ok()?;
        MAGIC.contains(&kind).then(|| Self { folder: folder.to_owned() })
    }

    /// The folder with the number, by which it is found again.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder that processes join it by.
    pub fn entrance(&self) -> PathBuf {
        self.folder.join(MEMBERS)
    }

    /// Makes it, with room for this many processes behind the wall.
    pub fn make(&self, most: u64) -> Result<(), WallRefusal> {
        let most = most.saturating_add(OWN_PROCESSES).min(COUNTED_MAX);
        let made = make_folder(&self.folder)
            .and_then(|()| fs::write(self.folder.join("pids.max"), most.to_string()))
            .and_then(|()| make_folder(&self.entrance()));
        if made.is_err() {
            self.remove();
        }
        made.at(WallStep::Group, &format!("`{}`", self.folder.display()))
    }

    /// Who is in it.
    pub(in crate::process) fn members(&self) -> Vec<Process> {
        let mut all = Vec::new();
        each(&self.folder, DEPTH_MAX, &mut |folder| {
            let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
            all.extend(text.lines().filter_map(|line| table::read(line.parse().ok()?)));
        });
        all
    }

    /// Removes it, unless somebody is still in it.
    pub fn remove(&self) {
        each(&self.folder, DEPTH_MAX, &mut |folder| {
            let _ = fs::remove_dir(folder);
        });
    }

    /// Removes what was left beside it by processes that are gone: one that was killed cannot do it, and nobody may ask for its run again.
    pub fn remove_left(&self) {
        let beside = self.folder.parent().and_then(|parent| fs::read_dir(parent).ok());
        for entry in beside.into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(is_of_the_dead)
                && let Some(group) = Self::at(&entry.path())
            {
                group.remove();
            }
        }
    }
}

/// Joins this process to a group, and so everything that it starts.
pub(super) fn join(entrance: &Path) -> Result<(), WallRefusal> {
    let procs = entrance.join("cgroup.procs");
    fs::write(&procs, "0").at(WallStep::Group, &format!("`{}`", procs.display()))
}

fn make_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        // Left by a wall of ours that was not put up: our name is nobody else's.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Folders below one and itself, the deepest first.
fn each(folder: &Path, depth: usize, act: &mut impl FnMut(&Path)) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|_| depth > 0) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            each(&entry.path(), depth - 1, act);
        }
    }
    act(folder);
}

/// Names this process for good: ids are given again, and others see other processes by them.
fn own_name() -> Option<String> {
    let Process { pid, started } = table::read(std::process::id())?;
    Some(format!("{PREFIX}{}-{pid}-{started}", own_namespace()?))
}

fn own_namespace() -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self/ns/pid").ok().map(|about| about.ino())
}

/// Whether who made a group is known here, and gone.
fn is_of_the_dead(name: &str) -> bool {
    let parts = name.strip_prefix(PREFIX).map(|rest| rest.split('-').map(str::parse::<u64>));
    let parts: Option<Vec<u64>> = parts.and_then(|parts| parts.collect::<Result<_, _>>().ok());
    let Some([namespace, pid, started]) = parts.as_deref() else { return false };
    let Ok(pid) = u32::try_from(*pid) else { return false };
    own_namespace() == Some(*namespace)
        && table::read(pid).is_none_or(|process| process.started != *started)
}

fn refused(why: &str) -> WallRefusal {
    WallRefusal::plain(WallStep::Group, why)
}

fn read(name: &str) -> Result<Vec<u8>, WallRefusal> {
    fs::read(format!("/proc/self/{name}")).at(WallStep::Group, name)
}

/// The folder that a group is made in, by the kernel's list of mounts and the groups that this process is in.
fn around(mounts: &[u8], groups: &[u8]) -> Result<PathBuf, WallRefusal> {
    let (mounts, groups) = (mounted(mounts), String::from_utf8_lossy(groups));
    let counts = |it: &&Mounted| it.kind == b"cgroup" && it.options.iter().any(|it| it == b"pids");
    if let Some(mount) = mounts.iter().find(counts) {
        let path = own_path(&groups, |names| names.split(',').any(|name| name == "pids"));
        // The first version lets groups be made in one that has processes.
        return below(mount, path);
    }
    let second = mounts.iter().find(|it| it.kind == b"cgroup2");
    let second = second.ok_or_else(|| refused("no cgroups are mounted here"))?;
    let own = below(second, own_path(&groups, str::is_empty))?;
    // The second version does not, unless it is the root: the group is made in the nearest one that hands `pids` on.
    let hands_on = |folder: &&Path| {
        let text = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
        text.split_ascii_whitespace().any(|name| name == "pids")
    };
    let within = own.ancestors().take_while(|folder| folder.starts_with(&second.point));
    let found = within.into_iter().find(hands_on).map(Path::to_owned);
    found.ok_or_else(|| refused("no cgroup around this process hands the controller `pids` on"))
}

/// The group of this process in a hierarchy: `8:cpu,pids:/path`, or `0::/path` in the second version.
fn own_path(groups: &str, is_it: impl Fn(&str) -> bool) -> Option<&Path> {
    groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (names, path) = (fields.next()?, fields.next()?);
        is_it(names).then(|| Path::new(path))
    })
}

/// Where a group lies, by the mount of its hierarchy. A mount may show a part of it alone, as in containers.
fn below(mount: &Mounted, path: Option<&Path>) -> Result<PathBuf, WallRefusal> {
    let path = path.ok_or_else(|| refused("this process is in no cgroup with `pids`"))?;
    let inside = path.strip_prefix(&mount.root).ok();
    let is_seen = |it: &&Path| it.components().all(|part| part != Component::ParentDir);
    let inside = inside.filter(is_seen).ok_or_else(|| {
        refused("the cgroup of this process lies outside of what is mounted here")
    })?;
    // Without the slash that joining nothing would leave.
    Ok(mount.point.join(inside).components().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(mounts: &str, groups: &str) -> Result<PathBuf, String> {
        around(mounts.as_bytes(), groups.as_bytes()).map_err(|refusal| refusal.text)
    }

    #[test]
    fn a_group_of_the_first_version_is_made_below_our_own() {
        let mounts = "39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
            41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";
        let at = |groups| found(mounts, groups).unwrap();
        assert_eq!(at("8:pids:/\n0::/"), Path::new("/sys/fs/cgroup/pids"));
        assert_eq!(at("8:cpu,pids:/a/b\n0::/x"), Path::new("/sys/fs/cgroup/pids/a/b"));
        let part = "39 31 0:36 /docker/1 /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids";
        assert_eq!(found(part, "8:pids:/docker/1/x").unwrap(), Path::new("/sys/fs/cgroup/pids/x"));
        assert!(found(part, "8:pids:/docker/2").unwrap_err().contains("outside"));
        assert!(found(mounts, "8:pids:/../x").unwrap_err().contains("outside"));
        assert!(found(mounts, "7:cpu:/").unwrap_err().contains("in no cgroup"));
        assert!(found("1 0 0:1 / / rw - ext4 x rw", "").unwrap_err().contains("no cgroups"));
    }

    #[test]
    fn a_group_of_the_second_version_is_made_in_the_nearest_that_hands_the_controller_on() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("user.slice/user-0.slice/session-1.scope")).unwrap();
        let mounts = format!("41 31 0:38 / {} rw - cgroup2 cgroup2 rw", root.display());
        let groups = "0::/user.slice/user-0.slice/session-1.scope";
        let why = found(&mounts, groups).unwrap_err();
        assert!(why.contains("hands the controller `pids` on"), "{why}");
        for (name, text) in [("", "cpu pids\n"), ("user.slice/user-0.slice", "memory pids\n")] {
            fs::write(root.join(name).join("cgroup.subtree_control"), text).unwrap();
        }
        assert_eq!(found(&mounts, groups).unwrap(), root.join("user.slice/user-0.slice"));
        assert_eq!(found(&mounts, "0::/").unwrap(), root);
    }

    #[test]
    fn only_groups_of_the_dead_are_left_over() {
        let namespace = own_namespace().unwrap();
        assert!(!is_of_the_dead(&own_name().unwrap()));
        assert!(is_of_the_dead(&format!("chronicle-{namespace}-{}-1", std::process::id())));
        for other in ["chronicle-1-1-1", "chronicle-x-1-1", "chronicle-", "other-1-1-1"] {
            assert!(!is_of_the_dead(other), "{other}");
        }
        assert_eq!(Group::at(Path::new("/tmp")), None);
    }
}
