//! Our repository: created once, locked by the OS, cleaned up after killed processes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::FolderId;
use chronicle_core::definition::settings::TREES_MAX_FILE_MB;

use super::excludes::Excludes;
use super::git::Git;
use super::ignored::Ignored;
use super::{OWN_MAX, Trees, TreesError};
use crate::ledger::{is_unfinished, quick_write};
use crate::process::Leash;
use crate::project::RunFolder;
use crate::regular::{self, Links};

/// Held while trees are written.
const LOCK: &str = "worktrees/trees.lock";
/// Folder of the indexes in our repository.
const INDEXES: &str = "chronicle";
/// Name of the index of the project's own folder.
const PROJECT: &str = "project";
/// How the file of an index ends.
const INDEX: &str = "index";
/// Prefix of incomplete indexes.
const HALF: &str = "half-";
/// File in a run's folder that lists what was ignored when it began.
const IGNORED: &str = "ignored";
/// What git writes there; no branch of ours is ever made.
const HEAD: &str = "ref: refs/heads/main\n";
/// No filters, line endings or keywords: contents are stored byte for byte.
///
/// Nor does an attribute of the project choose how files are merged, or how conflicts are marked.
const ATTRIBUTES: &str =
    "* -text -ident -filter -eol -crlf !working-tree-encoding !merge !conflict-marker-size\n";

/// Begins the line that tells the runs apart whose trees ignore different files.
const RUN: &str = "# chronicle run: ";

/// What the rules were before they were written anew.
pub(super) struct RulesBefore {
    pub(super) changed: bool,
    /// True if the last tree belongs to a run that ignores other files from its start.
    pub(super) other_run: bool,
}

/// Holds the repository for one writer. Released when its holder dies.
#[derive(Debug)]
pub(super) struct TreesLock(#[expect(dead_code, reason = "held, not used")] File);

impl Trees {
    /// Opens the repository of a project; creates it if there is none.
    pub fn open(project: &Path) -> Result<Self, TreesError> {
        let leash = Leash::default();
        Self::open_with(project, Excludes::find(project, &leash))
    }

    /// The same, if the person's ignore rules are already known.
    pub(crate) fn open_with(project: &Path, excludes: Excludes) -> Result<Self, TreesError> {
        let leash = excludes.leash.clone();
        let (dir, work) = (project.join(".chronicle/trees.git"), project.to_owned());
        let git = Git { dir, work, everywhere: excludes.everywhere.clone(), leash };
        // Without an answer to what is ignored, ignored files would be recorded.
        git.ended_early()?;
        let (ignored, max_bytes) = (None, TREES_MAX_FILE_MB * 1_000_000);
        let (project, index) = (project.to_owned(), PROJECT.to_owned());
        let trees = Self { git, excludes, project, index, base: None, ignored, max_bytes };
        let _lock = trees.lock()?;
        if !trees.git.dir.join("HEAD").is_file() && !trees.mend()? {
            // Tried twice: the first may have met leftovers of one that was killed.
            trees.make().or_else(|_| trees.make())?;
        }
        Ok(trees)
    }

    /// The trees of one folder of a run.
    pub fn open_for(run: &RunFolder, of: FolderId) -> Result<Self, TreesError> {
        Self::open_for_with(run, of, Excludes::find(&run.project, &Leash::default()))
    }

    /// The same, if what the person ignores in the project is already known. It is ignored in work folders too.
    pub(crate) fn open_for_with(
        run: &RunFolder,
        of: FolderId,
        excludes: Excludes,
    ) -> Result<Self, TreesError> {
        let trees = Self::open_origin(run, excludes)?;
        Ok(match run.on_disk(of) {
            FolderId::Project => trees,
            FolderId::Work(number) => {
                let place = run.path_of(FolderId::Work(number)).map_err(TreesError::NoFolder)?;
                trees.in_work(run, number, place)
            }
        })
    }

    /// The trees of the person's own folder, also for a run that works apart.
    pub(crate) fn open_origin(run: &RunFolder, excludes: Excludes) -> Result<Self, TreesError> {
        Ok(Self::open_with(&run.project, excludes)?.of_run(&run.path))
    }

    /// The same trees for a work folder, whether or not it is there.
    #[must_use]
    pub(crate) fn in_work(self, run: &RunFolder, number: u32, place: PathBuf) -> Self {
        Self {
            index: work_index(run, number),
            base: run.made_from(number).map(|(tree, _)| tree),
            git: Git { work: place, ..self.git },
            ..self
        }
    }

    /// Removes what is kept here of a work folder that is gone.
    pub(crate) fn forget_work(run: &RunFolder, number: u32) {
        let folder = run.project.join(".chronicle/trees.git").join(INDEXES);
        let index = work_index(run, number);
        for ending in [INDEX, "tree", "modes", "missing", "held"] {
            let _ = fs::remove_file(folder.join(format!("{index}.{ending}")));
        }
    }

    /// The repository of a project, if it has one.
    pub(crate) fn existing(project: &Path) -> Result<Option<Self>, TreesError> {
        let exists = has_contents(&project.join(".chronicle/trees.git"));
        exists.then(|| Self::open(project)).transpose()
    }

    /// The trees of one run: what was ignored when it began is never part of them.
    #[must_use]
    pub fn of_run(self, folder: &Path) -> Self {
        Self { ignored: Some(folder.join(IGNORED)), ..self }
    }

    /// Files above this size are named but not recorded.
    #[must_use]
    pub fn up_to(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// Waits until no other process writes trees here.
    pub(super) fn lock(&self) -> Result<TreesLock, TreesError> {
        let path = self.definitions().join(LOCK);
        let opened = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
            let mut options = File::options();
            options.create(true).truncate(false).write(true);
            let file = regular::open(&path, &mut options, Links::Refused)?;
            // Waits without a limit. Whoever holds it is a recording or an undo, which have limits of their own, and the kernel
            // releases the lock of a process that dies.
            file.lock()?;
            Ok(TreesLock(file))
        });
        opened.map_err(TreesError::io(&path))
    }

    /// Writes the head anew where only it is missing: it says nothing, but git takes a folder without it for no repository. False
    /// if there is no repository to mend. What is recorded is never replaced.
    fn mend(&self) -> Result<bool, TreesError> {
        if !has_contents(&self.git.dir) {
            return Ok(false);
        }
        let head = self.git.dir.join("HEAD");
        let written = quick_write(&head, HEAD.as_bytes());
        written.map_err(std::io::Error::other).map_err(TreesError::io(&head))?;
        Ok(true)
    }

    /// Created beside its place, so that an incomplete one is never used.
    fn make(&self) -> Result<(), TreesError> {
        let half = self.definitions().join("worktrees/trees.git.half");
        let _ = fs::remove_dir_all(&half);
        fs::create_dir_all(half.join(INDEXES)).map_err(TreesError::io(&half))?;
        let git = Git { dir: half.clone(), ..self.git.clone() };
        let init = git.call(&half.join("index"), &[], &["init", "--quiet", "--template="]);
        git.run("make a repository", init)?;
        // Only if it is empty: whatever else is there was put there by somebody, and may be all that they have of it.
        let _ = fs::remove_dir(&self.git.dir);
        if fs::symlink_metadata(&self.git.dir).is_ok_and(|it| it.is_dir()) {
            return Err(TreesError::in_the_way(&self.git.dir));
        }
        // Made elsewhere and moved: a repository is there completely or not at all.
        fs::rename(&half, &self.git.dir).map_err(TreesError::io(&self.git.dir))
    }

    pub(super) fn index(&self) -> PathBuf {
        self.git.dir.join(INDEXES).join(format!("{}.{INDEX}", self.index))
    }

    /// The indexes of the project's own folder and of all work folders.
    pub(super) fn indexes(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.git.dir.join(INDEXES)).into_iter().flatten().flatten();
        let is_index = |path: &PathBuf| path.extension().is_some_and(|ending| ending == INDEX);
        entries.map(|entry| entry.path()).filter(is_index).collect()
    }

    /// Folder of Chronicle's own files.
    fn definitions(&self) -> PathBuf {
        self.project.join(".chronicle")
    }

    /// A name for an incomplete index.
    pub(super) fn half_index(&self, what: &str) -> PathBuf {
        let name = format!("{HALF}{what}-{}", std::process::id());
        self.git.dir.join(INDEXES).join(name)
    }

    /// Removes leftovers of a killed git or supervisor. Only under the lock.
    pub(super) fn sweep(&self) -> Result<(), TreesError> {
        let folder = self.git.dir.join(INDEXES);
        fs::create_dir_all(&folder).map_err(TreesError::io(&folder))?;
        let entries = fs::read_dir(&folder).map_err(TreesError::io(&folder))?;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_left =
                name.starts_with(HALF) || name.ends_with(".lock") || is_unfinished(&entry.path());
            if is_left {
                let _ = fs::remove_file(entry.path());
                // Only under the lock, so nobody else uses them. A name may be a file or a folder; one of the two calls fails.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        // Wherever we write a file of our own beside git's.
        for folder in [self.modes_folder(), self.git.dir.join("info"), self.git.dir.clone()] {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if is_unfinished(&entry.path()) {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        Ok(())
    }

    /// Writes git's attributes, if they changed; returns the folder.
    pub(super) fn attribute(&self) -> Result<PathBuf, TreesError> {
        let info = self.git.dir.join("info");
        fs::create_dir_all(&info).map_err(TreesError::io(&info))?;
        write(&info.join("attributes"), ATTRIBUTES)?;
        Ok(info)
    }

    /// Writes git's attributes and excludes, if they changed.
    pub(super) fn instruct(&self, ignored: &Ignored) -> Result<RulesBefore, TreesError> {
        let info = self.attribute()?;
        let mut text = self.excludes.text(&self.project);
        // Git does not read it: so what another run has in its trees is told from what this one has.
        let mark = ignored.mark().map_or_else(String::new, |mark| format!("{RUN}{mark}"));
        if !mark.is_empty() {
            text = format!("{text}\n{mark}\n");
        }
        let path = info.join("exclude");
        let before = regular::read(&path, OWN_MAX, Links::Refused).unwrap_or_default();
        let before = String::from_utf8_lossy(&before);
        let last = before.lines().next_back().filter(|line| line.starts_with(RUN));
        // The index of a work folder is of one run only.
        let other_run = self.base.is_none() && last.unwrap_or_default() != mark;
        Ok(RulesBefore { changed: write(&path, &text)?, other_run })
    }
}

/// Name of a work folder's index.
fn work_index(run: &RunFolder, number: u32) -> String {
    format!("{}-w{number}", run.id)
}

/// True if there is a repository with something in it, complete or not.
fn has_contents(dir: &Path) -> bool {
    dir.join("objects").is_dir() || dir.join("HEAD").is_file()
}

/// Writes a file if its content differs; true if it did. Not synced: if a power cut spoils it, its content differs the next time.
fn write(path: &Path, text: &str) -> Result<bool, TreesError> {
    let there = regular::read(path, OWN_MAX, Links::Refused);
    let same = there.is_ok_and(|there| there == text.as_bytes());
    if !same {
        let written = quick_write(path, text.as_bytes());
        written.map_err(std::io::Error::other).map_err(TreesError::io(path))?;
    }
    Ok(!same)
}
