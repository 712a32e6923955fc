//! What can be seen and changed behind a wall, by mounts of its own.
//!
//! Every mount is read-only except for what is listed. A listed path is mounted on itself, so that it has flags of its own. Where
//! lists nest, the deepest entry decides.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use rustix::fs::{StatVfsMountFlags, statvfs};

use super::At as _;
use super::group::Group;
use super::landlocked::is_kept_from_root;
use super::links::{Placed, leads_elsewhere, open_exactly, path_of, place};
use super::mountinfo::{Mounted, mounted};
use crate::process::wall::{Wall, WallRefusal, WallStep};

/// What has mounts of its own already, or needs none.
const TERMINALS: [&str; 3] = ["/dev/pts", "/dev/ptmx", "/dev/pts/ptmx"];

/// Where groups of processes usually are.
const GROUPS: &str = "/sys/fs/cgroup";

/// What a listed path is; the later one wins if a path is in two lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    Writable,
    ReadOnly,
    Hidden,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    path: PathBuf,
    rule: Rule,
    /// True if a link leads there that a worker may have left.
    is_linked: bool,
}

/// What is listed, parents before what is in them, each path once.
struct Entries(Vec<Entry>);

/// What does not stand as it was asked for, for those who asked.
pub(super) struct Put {
    /// Writable paths that do not exist.
    pub(super) missing: Vec<PathBuf>,
    /// Read-only paths whose names a link gives that can be replaced.
    pub(super) replaceable: Vec<PathBuf>,
}

/// Puts the mounts up. Only in a mount namespace of its own.
pub(super) fn put_up(wall: &Wall) -> Result<Put, WallRefusal> {
    // Private, not slave: what somebody mounts outside later would come in writable.
    let all = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount_at("none", Path::new("/"), "", all).at(WallStep::Mounts, "private mounts")?;
    if wall.layers.own_proc {
        own_proc()?;
    }
    own_terminals().at(WallStep::Mounts, "terminals of its own")?;
    let (entries, missing) = Entries::new(wall)?;
    entries.bind()?;
    entries.hide()?;
    cover_fresh(wall)?;
    entries.close_the_rest()?;
    let is_straight =
        |path: &Path| entries.0.binary_search_by(|it| by_place(&it.path, path)).is_ok();
    let linked = wall.read_only.iter().filter(|path| !is_straight(path));
    let replaceable = linked.filter(|path| entries.is_replaceable(path));
    Ok(Put { missing, replaceable: replaceable.cloned().collect() })
}

/// What limits the processes of root is hidden from it: whoever can open the folder of another group starts processes in that, on a read-only
/// mount too.
fn groups_of_processes(wall: &Wall) -> Result<Vec<Entry>, WallRefusal> {
    if !Group::is_wanted(wall) {
        return Ok(Vec::new());
    }
    let table = fs::read("/proc/self/mountinfo").at(WallStep::Hidden, "reading mounts")?;
    let points = mounted(&table).into_iter().filter(Mounted::counts_processes).map(|it| it.point);
    let all = points.chain([PathBuf::from(GROUPS)]).filter(|path| path.is_dir());
    Ok(all.map(|path| Entry { path, rule: Rule::Hidden, is_linked: false }).collect())
}

/// Covers folders with empty ones that can be written.
fn cover_fresh(wall: &Wall) -> Result<(), WallRefusal> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    for path in wall.fresh.iter().filter(|path| path.is_dir()) {
        let what = format!("covering `{}`", path.display());
        mount_with(path, flags, "mode=0700,size=64m").at(WallStep::Hidden, &what)?;
    }
    Ok(())
}

/// Shows the processes of this namespace alone.
fn own_proc() -> Result<(), WallRefusal> {
    let proc = Path::new("/proc");
    let mut flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    // The kernel's settings below it belong to root, and it asks for no capability to change some of them.
    if is_kept_from_root(proc) {
        flags |= MsFlags::MS_RDONLY;
    }
    mount_at("proc", proc, "proc", flags).at(WallStep::Proc, "mounting /proc")
}

/// What a worker could open of other terminals it could read and write: that of the person who is asked there. Root may open no device of
/// the machine but those that are listed, so each of these is mounted by itself. That cannot be done with the one that makes terminals:
/// it looks for them beside itself.
fn own_terminals() -> io::Result<()> {
    let (terminals, maker) = (Path::new("/dev/pts"), Path::new("/dev/ptmx"));
    if !terminals.is_dir() {
        return Ok(());
    }
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    let options = Some("newinstance,ptmxmode=0666,mode=620");
    mount(Some("devpts"), terminals, Some("devpts"), flags, options)?;
    // Where it is a link, it leads there already.
    if fs::symlink_metadata(maker).is_ok_and(|about| !about.is_symlink()) {
        bind(&terminals.join("ptmx"), maker)?;
    }
    Ok(())
}

/// Parents before what is in them.
fn by_place(one: &Path, other: &Path) -> Ordering {
    let depth = |path: &Path| path.components().count();
    depth(one).cmp(&depth(other)).then_with(|| one.cmp(other))
}

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// What a read-only mount does not keep anybody from writing to.
fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.file_type().is_char_device())
}

impl Entries {
    fn new(wall: &Wall) -> Result<(Self, Vec<PathBuf>), WallRefusal> {
        let lists = [
            (Rule::Writable, &wall.writable),
            (Rule::Writable, &wall.fresh),
            (Rule::ReadOnly, &wall.read_only),
            (Rule::Hidden, &wall.hidden),
        ];
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for (rule, path) in lists.iter().flat_map(|(rule, list)| list.iter().map(|it| (*rule, it)))
        {
            match place(wall, path)? {
                Some(Placed { real, .. }) if rule == Rule::Writable && is_kept_from_root(&real) => {
                }
                // Others may open what they may: the machine's devices belong to root.
                Some(Placed { real, .. })
                    if rule == Rule::Writable && !is_root() && is_device(&real) => {}
                Some(placed) if rule == Rule::Writable && placed.leaves => {
                    return Err(leads_elsewhere(path));
                }
                // A link to what is around itself. Nobody protects a folder by a name in it.
                Some(Placed { real, is_linked: true, .. })
                    if rule == Rule::ReadOnly && path.starts_with(&real) => {}
                Some(Placed { real, is_linked: true, .. }) if path.starts_with(&real) => {
                    return Err(leads_elsewhere(path));
                }
                Some(Placed { real, is_linked, .. }) => {
                    found.push(Entry { path: real, rule, is_linked });
                }
                None if rule == Rule::Writable => missing.push(path.clone()),
                // What is not there or cannot be reached needs no protection.
                None => {}
            }
        }
        found.extend(groups_of_processes(wall)?);
        Ok((Self::sorted(found), missing))
    }

    fn sorted(mut found: Vec<Entry>) -> Self {
        // The strictest of each path comes first, and is the one that is kept.
        found.sort_by(|one, other| {
            by_place(&one.path, &other.path).then_with(|| other.rule.cmp(&one.rule))
        });
        found.dedup_by(|later, first| later.path == first.path);
        let all = Self(found);
        // What is hidden comes back by names that are ours, and never by a link.
        let is_kept = |entry: &&Entry| {
            !entry.is_linked || entry.rule == Rule::Hidden || all.rule_around(entry) != Rule::Hidden
        };
        Self(all.0.iter().filter(is_kept).cloned().collect())
    }

    /// The rule for a path: that of the deepest entry at or above it.
    fn rule(&self, path: &Path) -> Rule {
        let above = self.0.iter().rev().find(|entry| path.starts_with(&entry.path));
        above.map_or(Rule::ReadOnly, |entry| entry.rule)
    }

    /// The rule for what an entry is in.
    fn rule_around(&self, entry: &Entry) -> Rule {
        entry.path.parent().map_or(Rule::ReadOnly, |parent| self.rule(parent))
    }

    /// Mounts on itself what differs from its surroundings, and what must not be moved. What lies in something hidden comes back with
    /// that.
    fn bind(&self) -> Result<(), WallRefusal> {
        let differs = |entry: &&Entry| {
            let around = self.rule_around(entry);
            let is_own = TERMINALS.iter().any(|it| entry.path == Path::new(it));
            entry.rule != Rule::Hidden && around != Rule::Hidden && around != entry.rule && !is_own
        };
        let differing = self.0.iter().filter(differs).map(|entry| entry.path.as_path());
        // Parents come first in it.
        let all: BTreeSet<&Path> = differing.chain(self.pins()).collect();
        for path in all {
            let what = format!("mounting `{}`", path.display());
            bind_to_itself(path).at(WallStep::Mounts, &what)?;
        }
        Ok(())
    }

    /// The folders between a writable one and what is protected in it. A mount cannot be moved. If they were none, the folder around
    /// a protected file could be moved away with it, and another one take its place.
    fn pins(&self) -> impl Iterator<Item = &Path> {
        let is_inside = |folder: &&Path| {
            let is_writable = |path: &Path| self.rule(path) == Rule::Writable;
            is_writable(folder) && folder.parent().is_some_and(is_writable)
        };
        let protected = self.0.iter().filter(|entry| entry.rule != Rule::Writable);
        protected.flat_map(move |entry| entry.path.ancestors().skip(1).take_while(is_inside))
    }

    /// True if a link on the way to a path lies in a folder that can be written. A link cannot be mounted on.
    fn is_replaceable(&self, path: &Path) -> bool {
        let lies_in = |link: &Path| link.parent().and_then(|parent| parent.canonicalize().ok());
        let mut links = path.ancestors().filter(|part| part.is_symlink());
        links.any(|link| lies_in(link).is_some_and(|folder| self.rule(&folder) == Rule::Writable))
    }

    fn hide(&self) -> Result<(), WallRefusal> {
        for entry in self.0.iter().filter(|entry| entry.rule == Rule::Hidden) {
            // Gone with a hidden folder around it.
            if self.rule_around(entry) == Rule::Hidden && !entry.path.exists() {
                continue;
            }
            let what = format!("hiding `{}`", entry.path.display());
            self.hide_one(&entry.path).at(WallStep::Hidden, &what)?;
        }
        Ok(())
    }

    fn hide_one(&self, path: &Path) -> io::Result<()> {
        if !path.is_dir() {
            return bind(Path::new("/dev/null"), path);
        }
        let kept: Vec<(&Path, OwnedFd)> =
            self.kept_in(path).map(opened).collect::<io::Result<_>>()?;
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        mount_with(path, flags, "mode=0755,size=1m,nr_inodes=4k")?;
        kept.iter().try_for_each(|(path, original)| bring_back(path, original))
    }

    /// Those directly in a hidden folder that another list names; what is in them comes with them.
    fn kept_in<'a>(&'a self, hidden: &'a Path) -> impl Iterator<Item = &'a Path> {
        self.0
            .iter()
            .filter(move |entry| {
                let is_inside = entry.path.starts_with(hidden) && entry.path != hidden;
                is_inside && entry.rule != Rule::Hidden && self.rule_around(entry) == Rule::Hidden
            })
            .map(|entry| entry.path.as_path())
    }

    /// Makes every mount read-only that no list makes writable.
    fn close_the_rest(&self) -> Result<(), WallRefusal> {
        let table = fs::read("/proc/self/mountinfo").at(WallStep::ReadOnly, "reading mounts")?;
        let mut mounts = mounted(&table);
        // Of several at one place only the last can be reached, and it has flags of its own.
        mounts.reverse();
        // Parents first: what cannot be reached any more is then seen to be read-only with what covers it.
        mounts.sort_by_cached_key(|mounted| {
            (mounted.point.components().count(), mounted.point.clone())
        });
        mounts.dedup_by(|earlier, last| earlier.point == last.point);
        // Looking at one starts what it stands for, which may wait for a network. It is no place to write to.
        for mounted in mounts.iter().filter(|mounted| mounted.kind != b"autofs") {
            self.close(mounted)?;
        }
        Ok(())
    }

    fn close(&self, mounted: &Mounted) -> Result<(), WallRefusal> {
        let point = &mounted.point;
        let rule = self.rule(point);
        if rule == Rule::Writable && !mounted.counts_processes() {
            return Ok(());
        }
        // On a read-only mount devices can still be written to, and those of the machine belong to root. What hides a file is a device itself.
        let is_hidden_file = rule == Rule::Hidden && !point.is_dir();
        let keeps_devices = is_hidden_file || !is_root();
        let devices = if keeps_devices { MsFlags::empty() } else { MsFlags::MS_NODEV };
        let closed =
            MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID;
        match mount_at("none", point, "", closed | devices | mounted.flags) {
            Err(error) if is_open(point) => {
                let what = format!("making `{}` read-only", point.display());
                Err(WallRefusal::new(WallStep::ReadOnly, &what, &error))
            }
            _ => Ok(()),
        }
    }
}

/// True if a path can be reached and its mount written to.
fn is_open(point: &Path) -> bool {
    statvfs(point).is_ok_and(|about| !about.f_flag.contains(StatVfsMountFlags::RDONLY))
}

fn opened(path: &Path) -> io::Result<(&Path, OwnedFd)> {
    Ok((path, open_exactly(path)?))
}

/// Mounts what was opened before its folder was hidden, at the same path.
fn bring_back(path: &Path, original: &OwnedFd) -> io::Result<()> {
    let from = path_of(original);
    if from.is_dir() {
        fs::create_dir_all(path)?;
    } else {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        File::create(path)?;
    }
    bind(&from, path)
}

/// By what is open, and not by its path a second time: what lies there could be another one by then.
fn bind_to_itself(path: &Path) -> io::Result<()> {
    let opened = open_exactly(path)?;
    bind(&path_of(&opened), &path_of(&opened))
}

fn bind(from: &Path, to: &Path) -> io::Result<()> {
    mount(Some(from), to, None::<&str>, MsFlags::MS_BIND | MsFlags::MS_REC, None::<&str>)?;
    Ok(())
}

fn mount_at(what: &str, point: &Path, kind: &str, flags: MsFlags) -> io::Result<()> {
    let kind = (!kind.is_empty()).then_some(kind);
    mount(Some(what), point, kind, flags, None::<&str>)?;
    Ok(())
}

fn mount_with(point: &Path, flags: MsFlags, options: &str) -> io::Result<()> {
    mount(Some("tmpfs"), point, Some("tmpfs"), flags, Some(options))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(listed: &[(Rule, &str)]) -> Entries {
        Entries::sorted(
            listed
                .iter()
                .map(|(rule, path)| Entry { path: path.into(), rule: *rule, is_linked: false })
                .collect(),
        )
    }

    #[test]
    fn the_deepest_entry_decides() {
        let all = entries(&[
            (Rule::Hidden, "/home/ann"),
            (Rule::Writable, "/home/ann/project"),
            (Rule::ReadOnly, "/home/ann/project/.chronicle"),
            (Rule::Writable, "/home/ann/project/.chronicle/home"),
        ]);
        let rules = [
            ("/", Rule::ReadOnly),
            ("/home", Rule::ReadOnly),
            ("/home/ann", Rule::Hidden),
            ("/home/ann/other", Rule::Hidden),
            ("/home/ann/project", Rule::Writable),
            ("/home/ann/project2", Rule::Hidden),
            ("/home/ann/project/a/b", Rule::Writable),
            ("/home/ann/project/.chronicle/runs", Rule::ReadOnly),
            ("/home/ann/project/.chronicle/home/x", Rule::Writable),
        ];
        for (path, rule) in rules {
            assert_eq!(all.rule(Path::new(path)), rule, "{path}");
        }
        let kept: Vec<_> = all.kept_in(Path::new("/home/ann")).collect();
        assert_eq!(kept, [Path::new("/home/ann/project")]);
    }

    #[test]
    fn folders_around_what_is_protected_are_pinned() {
        let all = entries(&[
            (Rule::Writable, "/p"),
            (Rule::ReadOnly, "/p/.chronicle"),
            (Rule::ReadOnly, "/p/.git/info/attributes"),
            (Rule::Writable, "/p/.chronicle/home"),
            (Rule::Hidden, "/p/.chronicle/home/a/b"),
            (Rule::ReadOnly, "/q/r"),
        ]);
        let pins: BTreeSet<&Path> = all.pins().collect();
        let expected = ["/p/.chronicle/home/a", "/p/.git", "/p/.git/info"].map(Path::new);
        assert_eq!(pins.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_strictest_list_wins_for_one_path() {
        let all = entries(&[(Rule::Writable, "/a"), (Rule::Hidden, "/a"), (Rule::ReadOnly, "/a")]);
        assert_eq!(all.0, [Entry { path: "/a".into(), rule: Rule::Hidden, is_linked: false }]);
    }
}
