//! Attributes changed files: a change belongs to an attempt only if it happened while the attempt could change that file.
//!
//! A file's ctime says when it last changed, by the system's clock, and cannot be set back. A file that is gone has none: the
//! time of its folder is used, if nothing else happened there. A file that came with its folder keeps its old ctime: that of the
//! folder is used, if the same content went elsewhere by the attempt's hands. In doubt, a change belongs to nobody.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::TreeId;
use chronicle_core::state::Stretch;

use super::diff::{DiffEntry, NO_MODE};
use super::names::{below, obstacle};
use super::{Trees, TreesError};

const SECOND: i128 = 1_000_000_000;
const MILLI: i128 = 1_000_000;
/// How far the file system's clock may be behind ours: a tick of the slowest kernel, plus rounding to a millisecond.
const SLACK: i128 = 20 * MILLI;

/// When an attempt could change files, and until when it is known to have lived.
#[derive(Debug, Clone, Default)]
pub(crate) struct Whose {
    /// Those time spans, by the lines of the ledger.
    pub(crate) hands: Vec<Stretch>,
    /// The last sign of life of its keeper, in nanoseconds; `None` if it never lived.
    pub(crate) last_sign: Option<i128>,
    /// Files that this process itself writes its output to: they change whatever the attempt does.
    pub(crate) outputs: Vec<FileId>,
}

/// Device and inode of a file.
pub(crate) type FileId = (u64, u64);

/// Regular files that this process's standard output and standard error go to.
pub(crate) fn own_outputs() -> Vec<FileId> {
    let ours =
        [io::stdout().as_fd().try_clone_to_owned(), io::stderr().as_fd().try_clone_to_owned()];
    let metas = ours.into_iter().flatten().filter_map(|output| File::from(output).metadata().ok());
    metas.filter(Metadata::is_file).map(|meta| file_id(&meta)).collect()
}

/// A file of the project that this process's output goes to, by its path there. Chronicle's own files are never recorded.
pub fn output_in(project: &Path) -> Option<PathBuf> {
    let project = project.canonicalize().ok()?;
    let ids = own_outputs();
    let is_ours = |path: &PathBuf| fs::metadata(path).is_ok_and(|it| ids.contains(&file_id(&it)));
    // The system knows the file; its name is only asked for what is told, and checked.
    let links = [1, 2].map(|output| fs::read_link(format!("/proc/self/fd/{output}")));
    let paths = links.into_iter().flatten().filter(is_ours);
    let mut inside = paths.filter_map(|path| Some(path.strip_prefix(&project).ok()?.to_owned()));
    inside.find(|path| !path.starts_with(".chronicle"))
}

fn file_id(meta: &Metadata) -> FileId {
    (meta.dev(), meta.ino())
}

impl Whose {
    /// True if a change of a file at that time is its work.
    fn covers(&self, changed: i128, is_meant: impl Fn(&str) -> bool) -> bool {
        // Some file systems know seconds only: then it may have been later within that one.
        let coarse = |time: i128| if time % SECOND == 0 { SECOND } else { 0 };
        let lived = self.last_sign.is_some_and(|last| changed <= last + coarse(last));
        let within = |Stretch { from, to, path }: &Stretch| {
            let latest = changed + coarse(changed) + SLACK;
            let ended = to.map(|to| i128::from(to.0) * MILLI + SLACK);
            let in_time =
                latest >= i128::from(from.0) * MILLI && ended.is_none_or(|to| changed <= to);
            in_time && path.as_ref().is_none_or(|path| is_meant(path))
        };
        lived && self.hands.iter().any(within)
    }

    /// True if the attempt had not yet touched any file at that time.
    fn begins_after(&self, changed: i128) -> bool {
        let first = self.hands.first().map(|span| i128::from(span.from.0) * MILLI);
        first.is_some_and(|first| changed + SLACK < first)
    }
}

/// Modification time of the keeper's lock file, in nanoseconds.
pub(crate) fn touched_at(path: &Path) -> Option<i128> {
    let meta = fs::metadata(path).ok()?;
    Some(i128::from(meta.mtime()) * SECOND + i128::from(meta.mtime_nsec()))
}

impl Trees {
    /// The tree with only the attempt's own work, if not every change is known to be its own.
    pub(crate) fn own(
        &self,
        before: &TreeId,
        now: &TreeId,
        whose: &Whose,
        keep: &str,
    ) -> Result<Option<TreeId>, TreesError> {
        if before == now {
            return Ok(None);
        }
        let entries = self.entries(before, now)?;
        let work = &self.git.work;
        let (mut own, unclear): (Vec<&DiffEntry>, Vec<&DiffEntry>) =
            entries.iter().partition(|entry| is_own(work, entry, whose));
        // Only what it took away can it have brought: otherwise somebody else moved the folder.
        let gone = own.iter().filter(|entry| entry.after.0 == NO_MODE);
        let taken: BTreeSet<&str> = gone.map(|entry| entry.before.1.as_str()).collect();
        let (carried, unclear): (Vec<&DiffEntry>, Vec<&DiffEntry>) =
            unclear.into_iter().partition(|entry| {
                taken.contains(entry.after.1.as_str()) && is_carried(work, entry, whose)
            });
        own.extend(carried);
        if unclear.is_empty() {
            return Ok(None);
        }
        if own.is_empty() {
            return Ok(Some(before.clone()));
        }
        let own = own.into_iter().map(|entry| (entry.name.as_slice(), &entry.after));
        self.compose(before, now, own, keep).map(Some)
    }
}

fn is_own(work: &Path, entry: &DiffEntry, whose: &Whose) -> bool {
    let path = below(work, &entry.name);
    let is_meant = |named: &str| is_same(&work.join(named), &path);
    let is_output = |meta: Metadata| whose.outputs.contains(&file_id(&meta));
    if !whose.outputs.is_empty() && fs::symlink_metadata(&path).is_ok_and(is_output) {
        return false;
    }
    changed_at(work, entry).is_some_and(|time| whose.covers(time, is_meant))
}

/// True if both name the same file. An agent may know the project by another way, through a link; a file that is gone is
/// compared by its folder.
fn is_same(named: &Path, path: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let in_folder = |path: &Path| Some((real(path.parent()?)?, path.file_name()?.to_owned()));
    named.components().eq(path.components())
        || real(named).is_some_and(|named| real(path) == Some(named))
        || in_folder(named).is_some_and(|named| in_folder(path) == Some(named))
}

/// When a file last changed, as far as known.
fn changed_at(work: &Path, entry: &DiffEntry) -> Option<i128> {
    let path = below(work, &entry.name);
    if entry.after.0 == NO_MODE {
        if let Some(instead) = obstacle(work, &path) {
            return Some(ctime(&instead));
        }
        let mut above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(work));
        return above.find_map(touched_at);
    }
    Some(ctime(&fs::symlink_metadata(&path).ok()?))
}

fn ctime(meta: &Metadata) -> i128 {
    i128::from(meta.ctime()) * SECOND + i128::from(meta.ctime_nsec())
}

/// True if a new file is older than the attempt, so that it came with a folder above it, and the attempt alone changed the
/// folders there.
fn is_carried(work: &Path, entry: &DiffEntry, whose: &Whose) -> bool {
    let path = below(work, &entry.name);
    let is_old = |meta: &Metadata| whose.begins_after(ctime(meta));
    if entry.before.0 != NO_MODE || !fs::symlink_metadata(&path).is_ok_and(|meta| is_old(&meta)) {
        return false;
    }
    let above = path.ancestors().skip(1).take_while(|folder| *folder != work);
    let metas = above.filter_map(|folder| fs::symlink_metadata(folder).ok());
    let changed: Vec<i128> = metas.filter(|meta| !is_old(meta)).map(|meta| ctime(&meta)).collect();
    // A call that names one file moves no folder.
    !changed.is_empty() && changed.into_iter().all(|time| whose.covers(time, |_| false))
}

#[cfg(test)]
mod tests {
    use chronicle_core::base::time::Millis;

    use super::*;

    #[test]
    fn a_change_is_an_attempts_only_while_it_could_and_lived() {
        let at = |ms: i128| ms * MILLI + 1;
        let span = |from, to: Option<u64>, path: Option<&str>| Stretch {
            from: Millis(from),
            to: to.map(Millis),
            path: path.map(str::to_owned),
        };
        let hands = vec![span(1_000, Some(2_000), None), span(5_000, None, None)];
        let whose = Whose { hands, last_sign: Some(at(6_000)), outputs: Vec::new() };
        let told = [990, 1_000, 2_000, 2_019, 2_100, 4_900, 5_000, 6_000, 6_001];
        let covered: Vec<i128> =
            told.into_iter().filter(|time| whose.covers(at(*time), |_| false)).collect();
        assert_eq!(covered, [990, 1_000, 2_000, 2_019, 5_000, 6_000]);
        assert!(
            !Whose { last_sign: None, ..whose.clone() }.covers(at(1_500), |_| false),
            "it never lived"
        );
        // A clock of whole seconds.
        let covers = |time| whose.covers(time, |_| false);
        assert!(covers(4_000 * MILLI) && !covers(3_000 * MILLI));
        // A call that names its file.
        let hands = vec![span(1_000, None, Some("a"))];
        let whose = Whose { hands, last_sign: Some(at(6_000)), outputs: Vec::new() };
        let meant = |path: &'static str| move |named: &str| named == path;
        assert!(whose.covers(at(1_500), meant("a")) && !whose.covers(at(1_500), meant("b")));
    }
}
