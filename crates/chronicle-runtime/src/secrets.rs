//! The one redactor: knows the secrets of this process's environment. Everything that workers say passes it first.

use std::path::Path;

use chronicle_core::base::redact::{Redactor, is_secret_name};

use crate::discover;
use crate::project::Project;

/// Takes out the values of secret variables, and whatever looks like a key.
pub(crate) fn redactor(project: &Path) -> Redactor {
    let more = more_secrets(project);
    let secrets = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_str()?;
        let is_secret = is_secret_name(name) || more.iter().any(|it| it == name);
        is_secret.then(|| value.into_string().ok()).flatten()
    });
    Redactor::new(secrets)
}

/// Variables that people call secrets beside those whose names say so. Settings that cannot be read say nothing more.
fn more_secrets(project: &Path) -> Vec<String> {
    let found = discover::settings(&Project::at(project));
    found.settings.texts("redact.variables").to_vec()
}
