//! Finds settings: the user's, then the project's, which has the last word.

use std::path::PathBuf;

use chronicle_core::settings::{self, Layer, Settings};
use chronicle_core::workflow::{Problem, Severity, Source};

use super::{DiscoverError, read};
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

/// Reads the settings. A file that is not there says nothing.
pub fn settings(project: &Project) -> Result<FoundSettings, DiscoverError> {
    let mut files = Vec::new();
    for (layer, path) in settings_files(project) {
        if path.symlink_metadata().is_ok() {
            files.push((layer, read(&path, "settings".to_owned())?));
        }
    }
    // People know their files from where they stand.
    for (layer, source) in &mut files {
        if *layer == Layer::Project {
            source.name = format!(".chronicle/{FILE}");
        }
    }
    let (settings, problems) = settings::read(&files);
    let sources = files.into_iter().map(|(_, source)| source).collect();
    Ok(FoundSettings { settings, problems, sources })
}
