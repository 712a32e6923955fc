//! Finds settings: the user's, then the project's, which wins.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use chronicle_core::definition::settings::{self, Layer, Settings};
use chronicle_core::definition::workflow::{Problem, Severity, Source};

use super::files;
use super::places::Places;
use crate::home;
use crate::ledger::atomic_write;
use crate::project::Project;

/// Name of the file, in the project's folder and in the user's.
const FILE: &str = "config.toml";

/// The settings of a project, and their problems.
#[derive(Debug, Clone, Default)]
pub struct FoundSettings {
    /// The settings of both files, merged.
    pub settings: Settings,
    /// Problems of both files.
    pub problems: Vec<Problem>,
    /// Texts of the files, for snippets in messages.
    pub sources: Vec<Source>,
}

impl FoundSettings {
    /// True if a run may start with them.
    pub fn is_usable(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity != Severity::Error)
    }
}

/// Paths of settings files, whether or not they exist.
pub fn settings_files(project: &Project) -> Vec<(Layer, PathBuf)> {
    let user = home::config().map(|folder| (Layer::User, folder.join(FILE)));
    let of_project = (Layer::Project, project.definitions().join(FILE));
    user.into_iter().chain([of_project]).collect()
}

/// Writes a file of settings, whole or not at all. A link to it stays a link.
pub fn save_settings(path: &Path, text: &str) -> io::Result<()> {
    // Through a link to the file itself: many people keep their settings in a repository and link to them, and a rename
    // would replace the link.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.parent().map(fs::create_dir_all).transpose()?;
    // The new file would have the default mode, and one that only its owner may read would be open to others.
    let mode = fs::metadata(&path).ok().map(|known| known.permissions());
    atomic_write(&path, text.as_bytes())?;
    mode.map_or(Ok(()), |mode| fs::set_permissions(&path, mode))
}

/// Reads the settings. A missing file sets nothing; one that cannot be read is a problem.
pub fn settings(project: &Project) -> FoundSettings {
    let (mut files_read, mut unreadable) = (Vec::new(), Vec::new());
    for (layer, path) in settings_files(project) {
        if !files::is_there(&path) {
            continue;
        }
        // People know their own project's file from where they stand.
        let name = match layer {
            Layer::Project => format!(".chronicle/{FILE}"),
            Layer::User => Places::shown(&path),
        };
        match files::source(&path, "settings") {
            Ok(source) => files_read.push((layer, Source { name, ..source })),
            Err(trouble) => unreadable.push(Problem::of_file(name, Severity::Error, trouble)),
        }
    }
    let (settings, mut problems) = settings::read(&files_read);
    problems.extend(unreadable);
    let sources = files_read.into_iter().map(|(_, source)| source).collect();
    FoundSettings { settings, problems, sources }
}
