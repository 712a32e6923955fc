//! The redactor of this process: it knows the secrets of the environment, of the project's `.env` files and of the settings.
//! Everything that workers and people say passes it first: a task or a note may contain a key that was meant to be helpful.

use std::fs;
use std::path::Path;

use chronicle_core::base::redact::{REDACTED, Redactor, dotenv, is_secret_name};
use chronicle_core::definition::workflow::Workflow;
use chronicle_core::event::input::{Answer, Command};

use crate::discover;
use crate::project::Project;

/// Most `.env` files of a project that are read.
const DOTENV_FILES_MAX: usize = 50;
/// Largest `.env` file that is read.
const DOTENV_BYTES_MAX: u64 = 256 * 1024;
/// Names of sample files, whose values are not secret.
const SAMPLES: [&str; 5] = ["example", "sample", "template", "dist", "defaults"];

/// A redactor for the values of secret variables and for everything that looks like a key.
pub(crate) fn redactor(project: &Path) -> Redactor {
    let settings = discover::settings(&Project::at(project)).settings;
    // Settings that cannot be read say nothing more.
    // Only what is known when the run starts: a variable that a worker sets itself was never ours to protect.
    let more = settings.texts("redact.variables");
    let secrets = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_str()?;
        let is_secret = is_secret_name(name) || more.iter().any(|it| it == name);
        is_secret.then(|| value.into_string().ok()).flatten()
    });
    let set = settings.variables().filter(|(name, _)| is_secret_name(name));
    let set = set.map(|(_, value)| value.to_owned());
    let files = dotenv_files(project).into_iter().flat_map(|text| dotenv(&text, more));
    Redactor::new(secrets.chain(set).chain(files)).with_patterns(settings.texts("redact.patterns"))
}

/// The redactor of a run, which also knows what its workflows set for workers. The definitions themselves stay as they were written.
pub(crate) fn of_run(redactor: Redactor, workflows: &[Workflow]) -> Redactor {
    let set = workflows.iter().flat_map(|workflow| {
        let of_phases = workflow.phases.iter().flat_map(|phase| &phase.env);
        workflow.env.iter().chain(of_phases)
    });
    let secret = set.filter(|(name, _)| is_secret_name(name)).map(|(_, value)| value.clone());
    redactor.knowing(secret)
}

/// Contents of the project's `.env` files, if they are regular files of a sensible size.
fn dotenv_files(project: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(project) else { return Vec::new() };
    let is_it = |name: &str| {
        let kind = name.strip_prefix(".env").unwrap_or("-");
        (kind.is_empty() || kind.starts_with('.')) && !SAMPLES.iter().any(|it| kind.contains(it))
    };
    let files = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_it));
    let readable = |path: &Path| {
        // A pipe in its place would be waited for.
        let is_file =
            fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() <= DOTENV_BYTES_MAX);
        if is_file { fs::read_to_string(path).ok() } else { None }
    };
    files.take(DOTENV_FILES_MAX).filter_map(|entry| readable(&entry.path())).collect()
}

/// A person's command without secrets; true if there were any.
pub(crate) fn spoken(redactor: &Redactor, mut command: Command) -> (Command, bool) {
    let had_secrets = command.redact(redactor);
    (command, had_secrets)
}

/// Adds to the answer that secrets were removed.
pub(crate) fn answered(answer: Answer, had_secrets: bool) -> Answer {
    match answer {
        Answer::Accepted(text) if had_secrets => Answer::Accepted(format!(
            "{text}. What looked like a secret in it was replaced by {REDACTED}; give secrets by environment variables"
        )),
        other => other,
    }
}
