//! Finds definitions: workflows of the project, then of the user, then those that are built in; and settings.

pub mod builtin;
mod programs;
mod settings;
mod verify;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use chronicle_core::limits::Limits;
use chronicle_core::workflow::{FILE_MAX, Loaded, Source, load_upon};
use thiserror::Error;

pub use programs::{AGENT_PROGRAMS, InstalledAgent, installed_agents};
pub use settings::{FoundSettings, settings, settings_files};
pub use verify::{VerifyCommand, verify_commands};

use crate::home;
use crate::project::Project;

/// Endings of a workflow file, in the order in which they are looked for.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// A workflow that could not be read at all. What is wrong *in* a file is a problem in `Loaded`.
#[derive(Debug, Error)]
pub enum DiscoverError {
    /// Nothing has that name.
    #[error("no workflow `{name}` in {}", folder_list(looked))]
    Unknown {
        /// What was asked for.
        name: String,
        /// Where was looked.
        looked: Vec<PathBuf>,
        /// What there is.
        known: Vec<String>,
    },
    /// The file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is no text.
    #[error("`{}` is not text in UTF-8: byte {at} is none", path.display())]
    NotText {
        /// Which.
        path: PathBuf,
        /// Where.
        at: usize,
    },
}

fn folder_list(folders: &[PathBuf]) -> String {
    let names: Vec<String> =
        folders.iter().map(|folder| format!("`{}`", folder.display())).collect();
    names.join(" or ")
}

/// Where workflows are looked for, the first first.
fn folders(project: &Project) -> Vec<PathBuf> {
    let user = home::config().map(|config| config.join("workflows"));
    std::iter::once(project.definitions().join("workflows")).chain(user).collect()
}

/// Loads a workflow by its name, or by the path of its file, with every workflow inside it.
pub fn workflow(project: &Project, name: &str) -> Result<Loaded, DiscoverError> {
    workflow_upon(&Limits::default(), project, name)
}

/// The same, with the limits that hold where a workflow sets none.
pub fn workflow_upon(
    limits: &Limits,
    project: &Project,
    name: &str,
) -> Result<Loaded, DiscoverError> {
    let main = main_source(project, name)?;
    // `load` can only be told that a workflow is not there; why it cannot be read is told here.
    let mut unreadable = None;
    let mut loaded = load_upon(limits, main, &mut |key| match source_by_key(project, key)? {
        Ok(source) => Some(source),
        Err(error) => {
            unreadable.get_or_insert(error);
            None
        }
    });
    for phase in loaded.workflows.iter_mut().flat_map(|workflow| &mut workflow.phases) {
        let known = phase.persona.as_deref().and_then(builtin::persona);
        phase.persona = known.map(|text| builtin::body(text).to_owned()).or(phase.persona.take());
    }
    unreadable.map_or(Ok(loaded), Err)
}

/// What a key finds: a file, else what is built in.
fn source_by_key(project: &Project, key: &str) -> Option<Result<Source, DiscoverError>> {
    match locate_by_key(project, key) {
        Some(path) => Some(read(&path, key.to_owned())),
        None => builtin::workflow(key).map(Ok),
    }
}

/// The names of the workflows there are.
pub fn known(project: &Project) -> Vec<String> {
    let entries = folders(project).into_iter().filter_map(|folder| fs::read_dir(folder).ok());
    let files = entries.flat_map(Iterator::flatten).filter_map(|entry| listed(&entry.path()));
    let mut names: Vec<String> = files.chain(builtin::workflows().map(str::to_owned)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The key of a file or folder among workflows; none when no key would find it.
fn listed(path: &Path) -> Option<String> {
    let name = match has_ending(path) {
        true if path.is_file() => path.file_stem(),
        false if path.join("workflow.yaml").is_file() => path.file_name(),
        _ => None,
    };
    name?.to_str().filter(|key| is_key(key)).map(str::to_owned)
}

fn has_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// A name with a slash or a known ending is a path.
fn main_source(project: &Project, name: &str) -> Result<Source, DiscoverError> {
    let path = Path::new(name);
    if name.contains('/') || has_ending(path) {
        let folder = path.join("workflow.yaml");
        let path = if folder.is_file() { folder } else { path.to_owned() };
        let key = key_of(&path).unwrap_or(name).to_owned();
        return read(&path, key);
    }
    source_by_key(project, name).unwrap_or_else(|| {
        Err(DiscoverError::Unknown {
            name: name.to_owned(),
            looked: folders(project),
            known: known(project),
        })
    })
}

/// A key is a name, never a way out of the folder.
fn is_key(text: &str) -> bool {
    !text.is_empty() && !text.contains(['/', '\\', '\0']) && !text.starts_with('.')
}

fn locate_by_key(project: &Project, key: &str) -> Option<PathBuf> {
    if !is_key(key) {
        return None;
    }
    folders(project).into_iter().find_map(|folder| {
        let files = ENDINGS.iter().map(|ending| folder.join(format!("{key}.{ending}")));
        files.chain([folder.join(key).join("workflow.yaml")]).find(|path| path.is_file())
    })
}

/// The key of a workflow given by path: the file's name, or its folder's.
fn key_of(path: &Path) -> Option<&str> {
    let stem = path.file_stem()?.to_str()?;
    let folder = path.parent().and_then(Path::file_name).and_then(|folder| folder.to_str());
    Some(if stem == "workflow" { folder.unwrap_or(stem) } else { stem })
}

/// Reads a little more than the largest file allowed, so that a larger one is seen to be too large.
fn read(path: &Path, key: String) -> Result<Source, DiscoverError> {
    let unreadable = |source| DiscoverError::Unreadable { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(FILE_MAX as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // Cut in the middle of a character by the limit: too large, which the reader says better.
        Err(error) if error.as_bytes().len() > FILE_MAX => {
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        }
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            return Err(DiscoverError::NotText { path: path.to_owned(), at });
        }
    };
    Ok(Source { name: path.display().to_string(), key, text })
}
