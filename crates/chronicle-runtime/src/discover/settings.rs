//! Finds settings: the user's, then the project's, which has the last word.

use std::path::PathBuf;

use chronicle_core::definition::settings::{self, Layer, Settings};
use chronicle_core::definition::workflow::{Problem, Severity, Source};

use super::files;
use super::places::Places;
use crate::home;
use crate::project::Project;

/// Its name, in the project's folder and in the user's.
const FILE: &str = "config.toml";

/// All settings that hold in a project, and what is wrong with them.
#[derive(Debug, Clone, Default)]
pub struct FoundSettings {
    /// What holds.
    pub settings: Settings,
    /// Everything wrong.
    pub problems: Vec<Problem>,
    /// The files that there are, for snippets.
    pub sources: Vec<Source>,
}

impl FoundSettings {
    /// Whether a run may start with them.
    pub fn is_usable(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity != Severity::Error)
    }
}

/// Where settings are looked for, whether or not the files are there.
pub fn settings_files(project: &Project) -> Vec<(Layer, PathBuf)> {
    let user = home::config().map(|folder| (Layer::User, folder.join(FILE)));
    let of_project = (Layer::Project, project.definitions().join(FILE));
    user.into_iter().chain([of_project]).collect()
}

/// Reads the settings. A file that is not there says nothing; one that cannot be read is a problem.
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
