//! Paths on disk: a project and the folders of its runs.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::{AttemptId, FolderId, RunId, TreeId};
use chronicle_core::base::time::Millis;
use chronicle_core::event::Event;
use chronicle_core::state::OWN_FOLDER;

use crate::cookie::Cookies;
use crate::home;
use crate::ledger::{Folder, Head, Ledger as _, atomic_write, sweep_beside};
use crate::regular::{self, Links};

/// Git's id of a tree without any files.
pub(crate) const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/// Content of `.chronicle/.gitignore`: records stay on this machine, definitions are shared.
const GITIGNORE: &str = "/runs/\n/trees.git/\n/worktrees/\n/merge/\n*.unfinished\n";
/// What earlier versions wrote there.
const GITIGNORES_BEFORE: [&str; 2] =
    ["/runs/\n/trees.git/\n/worktrees/\n", "/runs/\n/trees.git/\n/worktrees/\n*.unfinished\n"];
/// Held by the supervisor whose run works on the project's files.
const FILES_LOCK: &str = "worktrees/shared.lock";
/// A longer file was written by a person and is left alone.
const GITIGNORE_MAX: u64 = 64 * 1024;
/// Longer than any run's id.
const RUN_ID_MAX: u64 = 100;
/// File beside a work folder: the tree that it was made from, and on a second line why it is a plain copy.
pub(crate) const MADE: &str = "made";
/// Longest file of that kind that is read.
const MADE_MAX: u64 = 64 * 1024;

/// A new run's id: it starts with the time, so that runs sort by age.
pub fn new_run_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// The id of the run that continues one of another program. Always the same one, so that two processes that continue it at once
/// meet at one lock, and one that was killed before its first line is tried again in the same folder.
pub fn continuing_run_id(project: &Project, older: &str, begun_ms: u64) -> String {
    let mut sum = blake3::Hasher::new();
    // The zero byte keeps a path and an id from being joined in two ways.
    sum.update(project.root.as_os_str().as_encoded_bytes()).update(&[0]).update(older.as_bytes());
    let mut random = [0; 10];
    sum.finalize_xof().fill(&mut random);
    uuid::Builder::from_unix_timestamp_millis(begun_ms, &random).into_uuid().to_string()
}

/// The folder that agents work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    root: PathBuf,
}

/// The folder of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    /// Id of the run, which is the name of its folder.
    pub id: RunId,
    /// `.chronicle/runs/ID` in the project.
    pub path: PathBuf,
    /// Root of the project that it belongs to.
    pub project: PathBuf,
}

/// A work folder, by its number, that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("work folder w{0} of this run does not exist: it is made again if its step begins again")]
pub struct NoSuchFolder(u32);

/// Whether the project's files could be claimed.
#[derive(Debug)]
pub enum Claimed {
    /// Claimed until this is dropped.
    Ours(FilesLock),
    /// Another run works on them. `None` if it has only just taken them, and has not written its name yet.
    By(Option<RunId>),
    /// Another run had them last, and left them in a state that must be fixed first.
    LeftBy(RunId),
}

/// Marks that a process waits to drive a run, for as long as it lives.
#[derive(Debug)]
pub struct Waits {
    file: File,
    path: PathBuf,
}

impl Waits {
    /// Whether a person has said that nobody is to wait any more.
    pub fn is_dismissed(&self) -> bool {
        let same = |(ours, there): (Metadata, Metadata)| ours.ino() == there.ino();
        let found = self.file.metadata().and_then(|ours| Ok((ours, fs::metadata(&self.path)?)));
        // What cannot be looked at was not taken away.
        found.map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |both| !same(both))
    }
}

/// Holds the project's files for one run.
#[derive(Debug)]
pub struct FilesLock {
    _file: File,
}

impl Project {
    /// The nearest folder upwards that has `.chronicle` or `.git`, otherwise the folder itself.
    pub fn find(from: &Path) -> Self {
        let mark =
            |folder: &&Path| folder.join(".chronicle").is_dir() || folder.join(".git").exists();
        let root = from.ancestors().find(mark).unwrap_or(from);
        Self { root: root.to_owned() }
    }

    /// That folder, without looking at its parents.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder that agents work in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `.chronicle`, the folder of its definitions and runs.
    pub fn definitions(&self) -> PathBuf {
        self.root.join(".chronicle")
    }

    /// Creates the folder of a new run. It is not in the index yet: `handle::new_run` also adds it there.
    pub(crate) fn make_run(&self, id: RunId) -> io::Result<RunFolder> {
        let definitions = self.definitions();
        fs::create_dir_all(definitions.join("runs"))?;
        let ignore = definitions.join(".gitignore");
        let ignored = regular::read(&ignore, GITIGNORE_MAX, Links::Followed);
        if ignored.is_ok_and(|text| GITIGNORES_BEFORE.iter().all(|it| text != it.as_bytes())) {
            // Nobody writes it any more. Who was just about to finds that it is there.
            let _ = sweep_beside(&ignore);
        } else if let Err(error) = atomic_write(&ignore, GITIGNORE.as_bytes())
            && !ignore.exists()
        {
            return Err(error);
        }
        let folder = self.run(id);
        fs::create_dir_all(folder.transcripts())?;
        fs::create_dir_all(folder.keepers())?;
        Ok(folder)
    }

    /// Every run, newest first: ids start with the time.
    pub fn runs(&self) -> Vec<RunFolder> {
        let Ok(entries) = fs::read_dir(self.definitions().join("runs")) else { return Vec::new() };
        let mut ids: Vec<String> = entries
            .flatten()
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        ids.sort_unstable();
        // Ids begin with the time, so this is the newest first.
        ids.into_iter().rev().map(|id| self.run(RunId::new(id))).collect()
    }

    /// Claims the project's files for one run, so that no two runs work on them at once. First asks whether the run that had them
    /// last left them fit for work; until then it stays recorded as the last one.
    pub(crate) fn claim_files(
        &self,
        run: &RunId,
        is_fit: impl FnOnce(&RunFolder) -> bool,
    ) -> io::Result<Claimed> {
        let path = self.files_lock();
        path.parent().map(fs::create_dir_all).transpose()?;
        let mut options = File::options();
        options.create(true).truncate(false).read(true).write(true);
        let mut file = regular::open(&path, &mut options, Links::Refused)?;
        match file.try_lock() {
            Ok(()) => {
                let last = holder(&file)?;
                // The last run that had the files may have left an undo half done. Whoever works on them now would build on
                // that.
                if last != *run && !is_fit(&self.run(last.clone())) {
                    return Ok(Claimed::LeftBy(last));
                }
                // Written in place: a rename would leave the lock on a file that has no name any more.
                file.set_len(0)?;
                file.rewind()?;
                file.write_all(run.as_str().as_bytes())?;
                Ok(Claimed::Ours(FilesLock { _file: file }))
            }
            Err(TryLockError::WouldBlock) => {
                let named = holder(&file)?;
                Ok(Claimed::By(Some(named).filter(|run| !run.as_str().is_empty())))
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The run that had the project's files last.
    pub(crate) fn last_with_files(&self) -> Option<RunFolder> {
        let last = holder(&File::open(self.files_lock()).ok()?).ok()?;
        Some(self.run(last)).filter(|run| run.path.is_dir())
    }

    /// The lock of the project's files.
    pub(crate) fn files_lock(&self) -> PathBuf {
        self.definitions().join(FILES_LOCK)
    }

    /// The folder of a run, whether or not it exists.
    pub fn run(&self, id: RunId) -> RunFolder {
        let path = self.definitions().join("runs").join(id.as_str());
        RunFolder { id, path, project: self.root.clone() }
    }
}

/// True for a folder, not for a link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// The run that is named in a lock.
fn holder(file: &File) -> io::Result<RunId> {
    let mut holder = String::new();
    file.take(RUN_ID_MAX).read_to_string(&mut holder)?;
    Ok(RunId::new(holder))
}

impl RunFolder {
    /// When the run began, as its id tells. 0 if it does not: then everything happened since.
    pub(crate) fn begun(&self) -> Millis {
        let id = uuid::Uuid::parse_str(self.id.as_str()).ok();
        let (seconds, nanos) =
            id.and_then(|id| id.get_timestamp()).map_or((0, 0), |at| at.to_unix());
        Millis(seconds.saturating_mul(1_000).saturating_add(u64::from(nanos) / 1_000_000))
    }

    /// True if the run works apart: what it calls the project is a folder of its own. The first line of its ledger says so, and nothing
    /// that could be lost beside it. What cannot be read counts as apart: nobody may work in the person's own folder by mistake.
    pub fn is_apart(&self) -> bool {
        let Ok(mut lines) = self.ledger().read(Head::EMPTY) else { return true };
        match lines.next() {
            // Nothing works for a run that has not begun.
            None => false,
            Some(Ok((line, _))) => line
                .events
                .iter()
                .any(|event| matches!(event, Event::RunStarted(started) if started.apart)),
            Some(Err(_)) => true,
        }
    }

    /// Which folder on disk stands for one that the run works in.
    pub(crate) fn on_disk(&self, folder: FolderId) -> FolderId {
        if folder.is_project() && self.is_apart() { FolderId::Work(OWN_FOLDER) } else { folder }
    }

    /// The path of a folder that the run works in. A work folder that does not exist must never be taken for the person's own
    /// folder.
    pub fn path_of(&self, folder: FolderId) -> Result<PathBuf, NoSuchFolder> {
        match self.on_disk(folder) {
            FolderId::Project => Ok(self.project.clone()),
            FolderId::Work(number) => {
                let whole = self.work(number).filter(|_| self.made_from(number).is_some());
                let whole = whole.filter(|path| is_folder(path) && !self.is_emptied(number, path));
                whole.ok_or(NoSuchFolder(number))
            }
        }
    }

    /// True if a folder that was made with files has none at all any more: that is a folder somebody removed, and no work of a worker. To
    /// merge it would empty the project.
    fn is_emptied(&self, number: u32, path: &Path) -> bool {
        let had_files =
            || self.made_from(number).is_some_and(|(tree, _)| tree.as_str() != EMPTY_TREE);
        let mut entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.all(|entry| entry.file_name() == ".git") && had_files()
    }

    /// Folder of the run's work folders; `None` if the user has no home. Outside the project: programs look for their settings in
    /// the folders above.
    pub(crate) fn works(&self) -> Option<PathBuf> {
        Some(home::works()?.join(self.id.as_str()))
    }

    /// The work folder of that number, whether or not it exists; `None` if the user has no home. It has the name of the project's
    /// folder, which some programs show or build upon.
    pub fn work(&self, number: u32) -> Option<PathBuf> {
        let name = self.project.file_name().unwrap_or(OsStr::new("project"));
        Some(self.works()?.join(format!("w{number}")).join(name))
    }

    /// The tree that a work folder was made from, and why it is a plain copy if it is one. `None` if there is no whole work folder.
    pub(crate) fn made_from(&self, number: u32) -> Option<(TreeId, Option<String>)> {
        let path = self.works()?.join(format!("w{number}")).join(MADE);
        let text = String::from_utf8(regular::read(&path, MADE_MAX, Links::Refused).ok()?).ok()?;
        let (tree, plain) = text.trim_end().split_once('\n').unwrap_or((text.trim_end(), ""));
        let plain = Some(plain.to_owned()).filter(|why| !why.is_empty());
        (!tree.is_empty()).then(|| (TreeId::new(tree), plain))
    }

    /// When a work folder was whole: what was written in it later is somebody's work.
    pub(crate) fn made_at(&self, number: u32) -> Option<Millis> {
        let path = self.works()?.join(format!("w{number}")).join(MADE);
        let at = std::fs::symlink_metadata(path).ok()?.modified().ok()?;
        let since = at.duration_since(std::time::UNIX_EPOCH).ok()?;
        // What was brought in the same moment was there before.
        u64::try_from(since.as_millis()).ok().map(|ms| Millis(ms.saturating_add(1)))
    }

    /// Cookies of its attempts' processes.
    pub(crate) fn cookies(&self) -> Cookies {
        Cookies::of(&self.path, &self.id)
    }

    /// The ledger in this folder.
    pub(crate) fn ledger(&self) -> Folder {
        Folder::new(self.path.clone())
    }

    /// `run.json`, the run in the older format.
    pub fn run_json(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// Folder of the agents' redacted output.
    pub fn transcripts(&self) -> PathBuf {
        self.path.join("transcripts")
    }

    /// Redacted output of one attempt.
    pub fn transcript(&self, attempt: AttemptId) -> PathBuf {
        self.transcripts().join(format!("{attempt}.jsonl"))
    }

    /// Home folder of agents that do not use the person's own.
    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    /// Files that one attempt's agent reads at its start.
    pub(crate) fn given(&self, attempt: AttemptId) -> PathBuf {
        self.path.join("given").join(attempt.to_string())
    }

    /// The folders that are written to while the run is driven, beside those of its ledger.
    pub(crate) fn written(&self) -> [PathBuf; 4] {
        [self.transcripts(), self.keepers(), self.path.join("given"), self.home()]
    }

    /// Folder of the keepers' locks.
    pub fn keepers(&self) -> PathBuf {
        self.path.join("keepers")
    }

    /// The lock that the keeper of an attempt holds while it lives.
    pub fn keeper(&self, attempt: AttemptId) -> PathBuf {
        self.keepers().join(format!("{attempt}.lock"))
    }

    /// Active time of an attempt, updated while it works.
    pub(crate) fn worked(&self, attempt: AttemptId) -> PathBuf {
        self.keepers().join(format!("{attempt}.worked"))
    }

    /// Locked while a process waits for another run before it drives this one; names that run.
    fn waiting(&self) -> PathBuf {
        self.path.join("waiting")
    }

    /// Marks that this process waits for that run. If another process already does, that is enough.
    pub fn wait_for(&self, run: &RunId) -> io::Result<Waits> {
        let mut options = File::options();
        options.create(true).truncate(false).read(true).write(true);
        let mut file = regular::open(&self.waiting(), &mut options, Links::Refused)?;
        if file.try_lock().is_ok() {
            file.set_len(0)?;
            file.write_all(run.as_str().as_bytes())?;
        }
        Ok(Waits { file, path: self.waiting() })
    }

    /// Lets nobody wait any more to drive this run. Whether somebody did.
    pub fn stop_waiting(&self) -> io::Result<bool> {
        let waited = self.waits_for().is_some();
        match fs::remove_file(self.waiting()) {
            Ok(()) => Ok(waited),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The run that a live process waits for before it drives this one.
    pub(crate) fn waits_for(&self) -> Option<RunId> {
        let file =
            regular::open(&self.waiting(), File::options().read(true), Links::Refused).ok()?;
        // A shared lock does not stop others who only look.
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {}
            Ok(()) | Err(TryLockError::Error(_)) => return None,
        }
        let mut run = String::new();
        file.take(RUN_ID_MAX).read_to_string(&mut run).ok()?;
        Some(RunId::new(run)).filter(|run| !run.as_str().is_empty())
    }

    /// Where tools of the older format look for runs; only in a project that uses it.
    pub fn mirror(&self) -> Option<PathBuf> {
        let pi = self.project.join(".pi");
        pi.is_dir().then(|| pi.join("chronicle/sessions").join(format!("{}.json", self.id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_without_a_name_is_nobodys_yet() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::at(folder.path());
        let claim = |run: &str| project.claim_files(&RunId::from(run), |_| true).unwrap();
        fs::create_dir_all(project.files_lock().parent().unwrap()).unwrap();
        // Whoever takes the files locks first, and writes its name then.
        let taking = File::create(project.files_lock()).unwrap();
        taking.lock().unwrap();
        assert!(matches!(claim("r1"), Claimed::By(None)));
        drop(taking);
        let Claimed::Ours(_lock) = claim("r1") else { panic!("nobody has it") };
        assert!(matches!(claim("r2"), Claimed::By(Some(run)) if run.as_str() == "r1"));
    }
}
