//! Files of a project by which the next agent is told what to run: hooks, servers, extensions.
//!
//! Guards deny them to tools, and a wall keeps those that exist. What does not exist cannot be protected: a script of a worker can make
//! one, and the agent of a later phase would load it. So they are compared over each attempt. What came or changed meanwhile is
//! remembered in the user's state, and no agent starts while it is there, in this run or a later one, until a person has agreed to it.
//!
//! Each folder that workers work in is compared by itself. What is remembered belongs to the project: a merge may bring it there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chronicle_core::base::ids::FolderId;
use chronicle_core::guard::GUARDS;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::home;
use crate::ledger::{atomic_write, quick_write};
use crate::process::wall::LOADED;
use crate::project::{Project, RunFolder};
use crate::regular::{self, Links};
use crate::trust::{self, Item};

/// File in a run's folder with what was in the project before its attempts there; gone when none of them lives. Those of work folders
/// have a number at the end.
const BEFORE_FILE: &str = "loaded";
/// Whose files they are. Not `.claude.json`, which is loaded from a home alone, and written at every start.
const OWNERS: [&str; 6] = [".claude", ".mcp.json", ".pi", ".codex", ".gemini", ".opencode"];
/// What forbids something and starts nothing; trust asks about it.
const RULES: [&str; 3] = ["chronicle", "damage-control-rules.yaml", "damage-control-rules.yml"];
/// Folders within folders that are looked into: agents load what lies near.
const DEPTH_MAX: usize = 8;
/// Packages in there are loaded by what lies beside them, and are many.
const PACKAGES: &str = "node_modules";
/// Most files of one name whose content is compared.
const FILES_MAX: usize = 2_000;
/// Largest file whose content is compared.
const READ_MAX: u64 = 4 * 1024 * 1024;
/// Most files that are compared in all.
const ITEMS_MAX: usize = 100_000;
/// Most names that a person is shown.
const SHOWN_MAX: usize = 5;
/// Largest record that is read.
const RECORD_MAX: u64 = 64 * 1024 * 1024;
/// The sum of what cannot be read. Whoever makes it readable changes it.
const UNREADABLE: &str = "unreadable";

/// Each file by its name, with the sum of what it holds.
type Sums = BTreeMap<String, String>;
/// The same for files of several folders.
type Suspects = BTreeMap<String, SuspectSums>;

/// Everything that workers left by one name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum SuspectSums {
    /// As earlier versions wrote it.
    One(String),
    Several(BTreeSet<String>),
}

impl SuspectSums {
    fn has(&self, sum: &str) -> bool {
        match self {
            Self::One(one) => one == sum,
            Self::Several(all) => all.contains(sum),
        }
    }

    fn with(self, sum: String) -> Self {
        let mut all = match self {
            Self::One(one) => BTreeSet::from([one]),
            Self::Several(all) => all,
        };
        all.insert(sum);
        Self::Several(all)
    }
}

/// Compares over the attempts of one run.
#[derive(Debug)]
pub(crate) struct LoadedFiles {
    run: RunFolder,
    /// How many attempts live in each folder.
    live: Mutex<BTreeMap<FolderId, usize>>,
}

/// The time of one attempt.
#[derive(Debug)]
pub(crate) struct AttemptTime {
    files: Arc<LoadedFiles>,
    folder: FolderId,
    is_over: AtomicBool,
}

impl LoadedFiles {
    pub(crate) fn new(run: RunFolder) -> Self {
        Self { run, live: Mutex::default() }
    }

    /// Begins the time of an attempt in a folder.
    pub(crate) fn begin(self: &Arc<Self>, folder: FolderId) -> io::Result<AttemptTime> {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let here = live.entry(folder).or_default();
        if *here == 0 {
            // There is something if a supervisor was killed while an attempt lived.
            self.compare(folder)?;
            let now = self.now(folder)?;
            quick_write(&self.before(folder), &serde_json::to_vec(&now)?)?;
        }
        *here += 1;
        Ok(AttemptTime { files: Arc::clone(self), folder, is_over: AtomicBool::new(false) })
    }

    fn end(&self, folder: FolderId) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let is_kept = self.compare(folder).is_ok();
        let here = live.entry(folder).or_default();
        *here = here.saturating_sub(1);
        // What could not be remembered is compared again before the next attempt, which does not start without it.
        if *here == 0 && is_kept {
            let _ = fs::remove_file(self.before(folder));
        }
    }

    /// Compares what a killed supervisor left, once nothing of its attempts lives: the folder may be merged before another attempt begins
    /// there.
    pub(crate) fn settle(&self, folder: FolderId) {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let is_live = live.get(&folder).is_some_and(|here| *here > 0);
        if !is_live && self.before(folder).exists() && self.compare(folder).is_ok() {
            let _ = fs::remove_file(self.before(folder));
        }
    }

    /// Why no agent may start in a folder: something that it would load came or changed while a worker ran, there or in another folder
    /// of the project, and nobody has agreed to it.
    pub(crate) fn refusal(&self, folder: FolderId) -> Option<String> {
        let suspects: Suspects = read(&suspects_file(&self.run)).unwrap_or_default();
        if suspects.is_empty() {
            return None;
        }
        let project = Project::at(&self.run.project);
        let agreed = trust::recorded(&project).map(|record| record.items).unwrap_or_default();
        // Without the folder nothing starts there anyway.
        let now = self.now(folder).ok()?;
        let is_open = |(name, sum): &(&String, &String)| {
            suspects.get(*name).is_some_and(|it| it.has(sum)) && agreed.get(*name) != Some(*sum)
        };
        let names: Vec<String> =
            now.iter().filter(is_open).map(|(name, _)| format!("`{name}`")).collect();
        let more = match names.len().saturating_sub(SHOWN_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let shown = names.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| {
            format!(
                "{shown}{more} came or changed while a worker ran, and agents run what such files name: look at it, and remove it or \
                 agree to it by `chronicle trust`"
            )
        })
    }

    /// Remembers what is other in a folder than before the attempts that live there.
    fn compare(&self, folder: FolderId) -> io::Result<()> {
        let Some(before) = read::<Sums>(&self.before(folder)) else { return Ok(()) };
        let came = self.now(folder)?.into_iter();
        let came: Sums = came.filter(|(name, sum)| before.get(name) != Some(sum)).collect();
        if came.is_empty() {
            return Ok(());
        }
        let place = suspects_file(&self.run);
        // What is gone from here may still be in another folder, so that all of it is kept.
        let mut all: Suspects = read(&place).unwrap_or_default();
        for (name, sum) in came {
            let known = all.remove(&name);
            let sums = known.unwrap_or_else(|| SuspectSums::Several(BTreeSet::new())).with(sum);
            all.insert(name, sums);
        }
        place.parent().map_or(Ok(()), fs::create_dir_all)?;
        atomic_write(&place, &serde_json::to_vec_pretty(&all)?)
    }

    fn before(&self, folder: FolderId) -> PathBuf {
        match folder {
            FolderId::Project => self.run.path.join(BEFORE_FILE),
            FolderId::Work(number) => self.run.path.join(format!("{BEFORE_FILE}-{number}")),
        }
    }

    /// What is in a folder now.
    fn now(&self, folder: FolderId) -> io::Result<Sums> {
        let root = self.run.path_of(folder).map_err(io::Error::other)?;
        Ok(items_in(&root).into_iter().map(|item| (item.name, item.sum)).collect())
    }
}

impl AttemptTime {
    /// Ends it, before the end of the attempt is told: the next one may begin at once. Only the first call counts.
    pub(crate) fn over(&self) {
        if !self.is_over.swap(true, Ordering::Relaxed) {
            self.files.end(self.folder);
        }
    }
}

impl Drop for AttemptTime {
    fn drop(&mut self) {
        self.over();
    }
}

/// Where it is remembered what workers left in a project: out of their reach, and not in the project itself.
fn suspects_file(run: &RunFolder) -> PathBuf {
    let hash = blake3::hash(run.project.as_os_str().as_encoded_bytes()).to_hex();
    let state = home::state().unwrap_or_else(|| run.path.clone());
    state.join("planted").join(format!("{}.json", &hash[..32]))
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let bytes = regular::read(path, RECORD_MAX, Links::Refused).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Everything in a project that agents load and run, as it is now.
pub(crate) fn items(project: &Project) -> Vec<Item> {
    items_in(project.root())
}

fn items_in(root: &Path) -> Vec<Item> {
    let mut found = Found { root, items: Vec::new(), read: 0 };
    for names in GUARDS.iter().filter(|names| is_loaded(names)).chain(LOADED) {
        // Anew for each name: what a person keeps below one must not hide what a worker leaves at another.
        found.read = 0;
        found.collect(&root.join(names.iter().collect::<PathBuf>()), DEPTH_MAX);
    }
    found.items
}

/// What was found so far.
struct Found<'a> {
    root: &'a Path,
    items: Vec<Item>,
    /// How many files of the present name were read.
    read: usize,
}

impl Found<'_> {
    /// Never follows a link out of the project: what lies there is not the project's, and may have no end.
    fn collect(&mut self, path: &Path, depth: usize) {
        let Ok(about) = fs::symlink_metadata(path) else { return };
        let is_link = about.is_symlink();
        if is_link {
            let target = fs::read_link(path).unwrap_or_default();
            let real = fs::canonicalize(path).ok();
            let inside = real.filter(|real| real.starts_with(self.root));
            let content = inside.as_deref().map(|real| self.content(real)).unwrap_or_default();
            self.add(path, &format!("link to {}{content}", target.display()));
            if !inside.is_some_and(|real| real.is_dir()) {
                return;
            }
        } else if !about.is_dir() {
            let content = self.content(path);
            return self.add(path, &content);
        }
        let Some(depth) = depth.checked_sub(1) else { return self.add(path, UNREADABLE) };
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name() != PACKAGES) {
            self.collect(&entry.path(), depth);
        }
    }

    /// What a file holds, as far as it is read: large ones, and all beyond a number, are known by what the system says of them.
    fn content(&mut self, path: &Path) -> String {
        let Ok(about) = fs::symlink_metadata(path) else { return UNREADABLE.to_owned() };
        if about.is_dir() {
            return String::new();
        }
        self.read += 1;
        if about.is_file() && about.len() <= READ_MAX && self.read <= FILES_MAX {
            let read = regular::read(path, READ_MAX, Links::Refused);
            return read.map_or_else(|_| UNREADABLE.to_owned(), |bytes| hash(&bytes));
        }
        let changed = (about.ctime(), about.ctime_nsec());
        format!("{} {} {:?}", about.ino(), about.len(), changed)
    }

    fn add(&mut self, path: &Path, said: &str) {
        let name = path.strip_prefix(self.root).unwrap_or(path).display().to_string();
        if self.items.len() < ITEMS_MAX {
            self.items.push(Item { name, sum: hash(said.as_bytes()) });
        }
    }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn is_loaded(names: &[&str]) -> bool {
    let is_rules = names.get(1).is_some_and(|name| RULES.contains(name));
    names.first().is_some_and(|first| OWNERS.contains(first)) && !is_rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_keeps_all_that_workers_left_by_it() {
        let old: Suspects = serde_json::from_str(r#"{".mcp.json": "a"}"#).unwrap();
        let sums = old[".mcp.json"].clone().with("b".to_owned());
        assert!(sums.has("a") && sums.has("b") && !sums.has("c"));
        let text = serde_json::to_string(&sums).unwrap();
        assert_eq!(text, r#"["a","b"]"#);
        let read: SuspectSums = serde_json::from_str(&text).unwrap();
        assert!(read.has("a") && read.has("b"));
    }
}
