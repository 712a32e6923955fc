//! Whether a person has agreed to what a project brings along: its commands, rules, workflows and personas.
//!
//! A project comes from anywhere, and its files decide what runs on this machine. So a person confirms a folder once, and
//! what they confirmed is remembered by its content in the user's own state, never in the project. A file that has changed
//! since, or that was not there, is asked about again, by name. What is built in and what the user's own folders hold
//! needs no question.
//!
//! Who may agree is for the faces to check: never a worker.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use chronicle_core::definition::settings::Settings;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::home;
use crate::ledger::atomic_write;
use crate::project::{Project, RunFolder};
use crate::regular::{self, Links};

/// Where definitions may be in a project.
const PLACES: [&str; 13] = [
    ".chronicle/config.toml",
    ".chronicle/rules.yaml",
    ".chronicle/rules.yml",
    ".chronicle/rules",
    ".chronicle/workflows",
    ".chronicle/personas",
    ".pi/workflows",
    ".pi/chronicle/workflows",
    ".pi/agents",
    ".pi/damage-control-rules.yaml",
    ".pi/damage-control-rules.yml",
    ".claude/agents",
    "agents",
];
/// Those that forbid something.
const RULES: [&str; 2] = [".chronicle/rules", ".pi/damage-control-rules"];
/// Files that can be definitions.
const ENDINGS: [&str; 5] = ["yaml", "yml", "json", "md", "toml"];
/// Folders within folders that are looked into.
const DEPTH_MAX: usize = 4;
/// Most files of a project that can be agreed to.
const FILES_MAX: usize = 5_000;
/// Largest record that is read.
const RECORD_MAX: u64 = 4 * 1024 * 1024;
/// What the project's check commands are called where others have a path.
const COMMANDS: &str = "verify commands";

/// Something of a project that decides what runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// Its path in the project, or `verify commands`.
    pub name: String,
    /// The hash of what it holds.
    pub sum: String,
}

/// What a person agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Root of the project that was trusted.
    #[serde(with = "path")]
    pub project: PathBuf,
    /// Each thing by name, with the hash of what it held.
    pub items: BTreeMap<String, String>,
}

/// What a person has not agreed to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unknown {
    /// Whether they agreed to anything in this folder before.
    pub is_known_folder: bool,
    /// What was not there then.
    pub new: Vec<String>,
    /// What was other then.
    pub changed: Vec<String>,
}

impl Unknown {
    /// Whether there is nothing to ask.
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.changed.is_empty()
    }
}

/// Why trust cannot be recorded, or judged.
#[derive(Debug, Error)]
pub enum TrustError {
    /// The user has no place for it.
    #[error("there is nowhere to remember it: neither `XDG_STATE_HOME` nor `HOME` is set")]
    NoHome,
    /// A definition cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// Path of the definition that could not be read.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There are more definitions than a person can have agreed to.
    #[error(
        "more than {FILES_MAX} files of this project could be definitions (`.chronicle`, `.pi`, \
         `.claude`, `agents`): too many to ask about"
    )]
    TooMany,
    /// The record cannot be written.
    #[error("cannot write `{}`: {why}", path.display())]
    Unwritable {
        /// Path of the user's record of trust.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
}

/// Everything in a project's usual places, as it is now.
pub fn items(project: &Project) -> Result<Vec<Item>, TrustError> {
    let mut files = Vec::new();
    for place in PLACES {
        collect(&project.root().join(place), DEPTH_MAX, &mut files);
    }
    // Refused rather than cut: a file that is left out would run without anybody having agreed to it.
    if files.len() > FILES_MAX {
        return Err(TrustError::TooMany);
    }
    files.sort_unstable();
    files.iter().map(|file| item(project, file)).collect()
}

/// The files that a workflow at this path is made of. None of them when it is the user's own.
pub(crate) fn items_of(project: &Project, workflow: &Path) -> Result<Vec<Item>, TrustError> {
    let path = std::path::absolute(workflow)
        .map_err(|source| TrustError::Unreadable { path: workflow.to_owned(), source })?;
    if is_the_users(project, &path) {
        return Ok(Vec::new());
    }
    let mut files = vec![path.clone()];
    // Whatever its ending: `workflow.yaml` in a folder brings the files beside it.
    let folder = path.parent().filter(|_| path.file_stem().is_some_and(|it| it == "workflow"));
    if let Some(folder) = folder {
        files.clear();
        collect(folder, DEPTH_MAX, &mut files);
    }
    files.iter().map(|file| item(project, file)).collect()
}

/// Commands that were found in the project rather than said by the user.
pub(crate) fn commands(commands: &[String]) -> Item {
    let sum = blake3::hash(commands.join("\n").as_bytes());
    Item { name: COMMANDS.to_owned(), sum: sum.to_hex().to_string() }
}

/// A run that somebody else began: its ledger came with the project's files, and holds commands of its own.
pub fn run(run: &RunFolder) -> Item {
    Item { name: format!("run {}", run.id.short()), sum: run.id.as_str().to_owned() }
}

/// What of these things nobody agreed to yet.
pub fn judge(project: &Project, used: &[Item], settings: &Settings) -> Unknown {
    // Only the user's own settings can name such folders, so a project cannot trust itself.
    if is_below_trusted(project, settings.texts("trust.folders")) {
        return Unknown { is_known_folder: true, ..Unknown::default() };
    }
    let record = recorded(project);
    let mut unknown = Unknown { is_known_folder: record.is_some(), ..Unknown::default() };
    for item in used {
        match record.as_ref().and_then(|record| record.items.get(&item.name)) {
            Some(sum) if *sum == item.sum => {}
            // By content and not by time: a checkout touches files without changing them.
            Some(_) => unknown.changed.push(item.name.clone()),
            None => unknown.new.push(item.name.clone()),
        }
    }
    // Where a file of rules is gone, less is forbidden than the person agreed to.
    let items = record.iter().flat_map(|record| record.items.keys());
    unknown.changed.extend(items.filter(|name| is_gone_rule(project, name)).cloned());
    unknown
}

fn is_gone_rule(project: &Project, name: &str) -> bool {
    let is_rules = RULES.iter().any(|rules| name.starts_with(rules));
    is_rules && !project.root().join(name).exists()
}

/// Remembers that a person agreed to these, beside what they agreed to before.
pub(crate) fn record(project: &Project, items: &[Item]) -> Result<(), TrustError> {
    let path = record_file(project).ok_or(TrustError::NoHome)?;
    let mut before = recorded(project).map(|record| record.items).unwrap_or_default();
    before.retain(|name, _| !is_gone_rule(project, name));
    let now = items.iter().map(|item| (item.name.clone(), item.sum.clone()));
    let record = Record {
        project: project.root().to_owned(),
        // Kept beside each other: agreeing to one workflow by its path must not forget the rest of the project.
        items: before.into_iter().chain(now).collect(),
    };
    let unwritable = |why: String| TrustError::Unwritable { path: path.clone(), why };
    if let Some(folder) = path.parent() {
        // In the user's state folder: a record inside the project could be written by the project itself.
        fs::create_dir_all(folder).map_err(|error| unwritable(error.to_string()))?;
    }
    let text = serde_json::to_vec_pretty(&record).map_err(|error| unwritable(error.to_string()))?;
    atomic_write(&path, &text).map_err(|error| unwritable(error.to_string()))
}

/// Forgets a project. False when it was not known.
pub fn revoke(project: &Project) -> Result<bool, TrustError> {
    let path = record_file(project).ok_or(TrustError::NoHome)?;
    match fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(TrustError::Unwritable { path, why: error.to_string() }),
    }
}

/// Every project that a person agreed to, by path.
pub fn all() -> Vec<Record> {
    let entries = folder().and_then(|folder| fs::read_dir(folder).ok());
    let mut records: Vec<Record> =
        entries.into_iter().flatten().flatten().filter_map(|entry| read(&entry.path())).collect();
    records.sort_unstable_by(|one, other| one.project.cmp(&other.project));
    records
}

/// What a person agreed to in this project; none when they never did.
pub(crate) fn recorded(project: &Project) -> Option<Record> {
    // The name of the file is a sum of the path; the path inside makes sure.
    read(&record_file(project)?).filter(|record| record.project == project.root())
}

/// Whether the user's settings trust all that is in a folder above.
pub(crate) fn is_below_trusted(project: &Project, folders: &[String]) -> bool {
    let above = |folder: &String| {
        // A folder that is not there trusts nothing.
        Path::new(folder).canonicalize().is_ok_and(|folder| project.root().starts_with(folder))
    };
    folders.iter().any(above)
}

fn folder() -> Option<PathBuf> {
    Some(home::state()?.join("trust"))
}

fn record_file(project: &Project) -> Option<PathBuf> {
    let hash = blake3::hash(project.root().as_os_str().as_encoded_bytes()).to_hex();
    Some(folder()?.join(format!("{}.json", &hash[..32])))
}

/// A record that makes no sense is none: the person is asked again.
fn read(path: &Path) -> Option<Record> {
    let bytes = regular::read(path, RECORD_MAX, Links::Refused).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// The user's own definitions: nobody else put them there.
fn is_the_users(project: &Project, path: &Path) -> bool {
    let pi = std::env::var_os("PI_CODING_AGENT_DIR").map(PathBuf::from);
    let pi = pi.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pi/agent")));
    let own = [home::config(), pi];
    // A project may be inside of the user's own folders. What it brings along is not theirs for that.
    !path.starts_with(project.root()) && own.iter().flatten().any(|own| path.starts_with(own))
}

pub(crate) fn item(project: &Project, path: &Path) -> Result<Item, TrustError> {
    let unreadable = |source| TrustError::Unreadable { path: path.to_owned(), source };
    let mut hasher = blake3::Hasher::new();
    let mut options = File::options();
    // People link their definitions. What they agree to is what would be read, wherever it is.
    let file = regular::open(path, options.read(true), Links::Followed).map_err(unreadable)?;
    // In pieces: the file is somebody else's, and may be larger than the memory.
    hasher.update_reader(file).map_err(unreadable)?;
    // One name for each file, however its path is spelled: under another name it would be asked about again.
    let plain: PathBuf = path.components().collect();
    let name = plain.strip_prefix(project.root()).unwrap_or(&plain).display().to_string();
    Ok(Item { name, sum: hasher.finalize().to_hex().to_string() })
}

/// The definitions at a path: a file, or all below a folder.
fn collect(path: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if ENDINGS.contains(&ending) && files.len() <= FILES_MAX {
            files.push(path.to_owned());
        }
        return;
    }
    let Some(depth) = depth.checked_sub(1) else { return };
    // What cannot be listed is left out: with the same rights, nobody else will read a definition from it.
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        collect(&entry.path(), depth, files);
    }
}

/// A path in JSON: a text, or its bytes if they are not UTF-8.
mod path {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum PathForm {
        Text(PathBuf),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => text.serialize(to),
            None => path.as_os_str().as_bytes().serialize(to),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(match PathForm::deserialize(from)? {
            PathForm::Text(path) => path,
            PathForm::Bytes(bytes) => OsString::from_vec(bytes).into(),
        })
    }
}
