//! Disk space that trees use, and what of it can be freed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::TreeId;

use super::record::lock_of;
use super::{Trees, TreesError};
use crate::ledger::{atomic_write, quick_write};
use crate::regular::{self, Links};

/// Longest figure that is read; ours has a line.
const FIGURE_MAX: u64 = 100;

/// Longest settings of our own repository; git's have a few lines.
const CONFIG_MAX: u64 = 1024 * 1024;

/// Settings of a repository as git makes it.
const CORE: [&str; 3] = ["repositoryformatversion", "filemode", "bare"];

/// Used and freeable space.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Room {
    /// Total size of the repository.
    pub bytes: u64,
    /// Estimated bytes that would be freed.
    pub frees_bytes: u64,
    /// Runs whose trees would be removed.
    pub runs: Vec<String>,
}

impl Trees {
    /// Disk space of a project's trees; `None` if there are none.
    pub(crate) fn bytes(project: &Path) -> Option<u64> {
        let folder = project.join(".chronicle/trees.git");
        folder.is_dir().then(|| bytes_below(&folder))
    }

    /// Disk space as it was when a run last came to rest here. A look at every file would make `status` slower with each recording.
    pub(crate) fn bytes_at_rest(project: &Path) -> Option<u64> {
        let known = regular::read(&figure(project), FIGURE_MAX, Links::Refused).ok();
        let known = known.and_then(|text| String::from_utf8(text).ok()?.trim().parse().ok());
        known.or_else(|| Self::bytes(project))
    }

    /// Notes the disk space for `bytes_at_rest`. If that fails, the figure before it stays, and `doctor` has the exact one.
    pub(crate) fn measure(project: &Path) {
        if let Some(bytes) = Self::bytes(project) {
            let _ = quick_write(&figure(project), format!("{bytes}\n").as_bytes());
        }
    }

    /// What would be freed if only the trees of these runs stayed.
    pub fn room(&self, stay: &BTreeSet<String>) -> Result<Room, TreesError> {
        let kept = self.kept()?;
        let staying: Vec<&str> =
            kept.iter().filter(|it| stay.contains(&it.run)).map(|it| it.tree.as_str()).collect();
        let runs: BTreeSet<&str> =
            kept.iter().map(|it| it.run.as_str()).filter(|run| !stay.contains(*run)).collect();
        let bytes = bytes_below(&self.git.dir);
        let needed = self.needed(&staying)?;
        let objects = bytes_below(&self.git.dir.join("objects"));
        Ok(Room {
            bytes,
            frees_bytes: objects.saturating_sub(needed),
            runs: runs.into_iter().map(str::to_owned).collect(),
        })
    }

    /// Frees what no remaining run needs. Which runs remain is asked under the lock, when no other tree can begin. Returns the
    /// number of bytes.
    pub fn clear(&self, staying: impl FnOnce() -> BTreeSet<String>) -> Result<u64, TreesError> {
        let _lock = self.lock()?;
        self.sweep()?;
        // Asked under the lock: a run that starts meanwhile cannot have recorded a tree that is about to be removed.
        let stay = staying();
        let _ = fs::remove_file(lock_of(&self.git.dir.join("packed-refs")));
        self.clear_config();
        let before = bytes_below(&self.git.dir);
        let gone = self.kept()?.into_iter().filter(|it| !stay.contains(&it.run));
        let orders: Vec<String> = gone.map(|it| format!("delete {}\n", it.name)).collect();
        if !orders.is_empty() {
            let call = self.git.call(&self.index(), &[], &["update-ref", "--stdin"]);
            self.git.run("let trees go", call.input(orders.concat().into_bytes()))?;
        }
        // An index names files by their contents, which must stay too: it goes, and the next tree makes it anew.
        for index in self.indexes() {
            let _ = fs::remove_file(index);
        }
        for (what, args) in [
            ("pack references", &["pack-refs", "--all", "--prune"][..]),
            // One thread: cleaning up must not take the machine from the agents.
            ("pack trees", &["repack", "-a", "-d", "-q", "--threads=1"][..]),
            ("clear away", &["prune", "--expire=now"][..]),
        ] {
            self.git.run(what, self.git.call(&self.index(), &[], args))?;
        }
        let kept: BTreeSet<String> = self.kept()?.into_iter().map(|it| it.tree).collect();
        self.clear_modes(|tree| std::str::from_utf8(tree).is_ok_and(|tree| kept.contains(tree)));
        Self::measure(&self.project);
        Ok(before.saturating_sub(bytes_below(&self.git.dir)))
    }

    /// Removes settings that we did not make. A worker can write to this file, and git runs programs that settings name, such as
    /// `gc.recentObjectsHook`, with the rights of whoever clears up.
    fn clear_config(&self) {
        let file = self.git.dir.join("config");
        let text = regular::read(&file, CONFIG_MAX, Links::Refused).ok();
        let Some(text) = text.and_then(|text| String::from_utf8(text).ok()) else { return };
        let (mut section, mut kept) = (String::new(), String::new());
        for line in text.lines() {
            let word = line.trim().to_ascii_lowercase();
            if word.starts_with('[') {
                section.clone_from(&word);
            }
            let is_own = match section.as_str() {
                "[core]" => word == "[core]" || CORE.iter().any(|name| word.starts_with(name)),
                "[extensions]" => !word.contains("worktreeconfig"),
                _ => false,
            };
            if is_own {
                kept.push_str(line);
                kept.push('\n');
            }
        }
        if kept != text {
            let _ = atomic_write(&file, kept.as_bytes());
        }
    }

    /// Bytes of what these trees need.
    fn needed(&self, trees: &[&str]) -> Result<u64, TreesError> {
        if trees.is_empty() {
            return Ok(0);
        }
        let args = ["rev-list", "--objects", "--no-object-names", "--disk-usage", "--stdin"];
        let input = trees.join("\n").into_bytes();
        let ran = self.git.run("measure", self.git.call(&self.index(), &[], &args).input(input))?;
        Ok(String::from_utf8_lossy(&ran.stdout).trim().parse().unwrap_or(0))
    }

    /// True if a tree is kept for a run, whether or not it can be read; also if the references themselves cannot be read.
    pub(super) fn is_named(&self, tree: &TreeId) -> bool {
        self.kept().map_or(true, |kept| kept.iter().any(|it| it.tree == tree.as_str()))
    }

    fn kept(&self) -> Result<Vec<KeptTree>, TreesError> {
        let args = ["for-each-ref", "--format=%(objectname) %(refname)", "refs/runs/"];
        let ran = self.git.run("list trees", self.git.call(&self.index(), &[], &args))?;
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        let kept = text.lines().filter_map(|line| {
            let (tree, name) = line.split_once(' ')?;
            let run = name.strip_prefix("refs/runs/")?.split('/').next()?;
            Some(KeptTree { tree: tree.to_owned(), name: name.to_owned(), run: run.to_owned() })
        });
        Ok(kept.collect())
    }
}

/// A tree that is kept for a run.
struct KeptTree {
    tree: String,
    name: String,
    run: String,
}

/// The file with the last measured size.
fn figure(project: &Path) -> PathBuf {
    project.join(".chronicle/trees.git/chronicle/bytes")
}

/// Bytes on the disk of all files below.
fn bytes_below(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let bytes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => bytes_below(&entry.path()),
        Ok(meta) => meta.blocks() * 512,
        Err(_) => 0,
    });
    bytes.sum()
}
