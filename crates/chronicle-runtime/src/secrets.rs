//! The one redactor: knows the secrets of this process's environment, of the project's `.env` files and of the settings. What workers
//! say passes it first, and so does what people say: a task or a note may have a key in it that was only meant to be helpful.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use chronicle_core::base::redact::{REDACTED, Redactor, dotenv, is_secret_name};
use chronicle_core::event::input::{Answer, Command};

use crate::discover;
use crate::project::Project;

/// Most `.env` files of a project that are read.
const DOTENV_FILES_MAX: usize = 50;
/// Largest `.env` file that is read.
const DOTENV_BYTES_MAX: u64 = 256 * 1024;
/// Files that show which variables there are, with values that are nobody's.
const SAMPLES: [&str; 5] = ["example", "sample", "template", "dist", "defaults"];

/// Takes out the values of secret variables, and whatever looks like a key.
pub(crate) fn redactor(project: &Path) -> Redactor {
    let settings = discover::settings(&Project::at(project)).settings;
    // Settings that cannot be read say nothing more.
    let more = settings.texts("redact.variables");
    let secrets = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_str()?;
        let is_secret = is_secret_name(name) || more.iter().any(|it| it == name);
        is_secret.then(|| value.into_string().ok()).flatten()
    });
    let files = dotenv_files(project).into_iter().flat_map(|text| dotenv(&text, more));
    Redactor::new(secrets.chain(files)).with_patterns(settings.texts("redact.patterns"))
}

/// What the project's `.env` files say, as far as they are files of a sensible size.
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

/// A person's command without secrets; whether there were any.
pub(crate) fn spoken(redactor: &Redactor, mut command: Command) -> (Command, bool) {
    let mut had_secrets = false;
    for text in texts(&mut command) {
        if let Cow::Owned(plain) = redactor.redact(text) {
            *text = plain;
            had_secrets = true;
        }
    }
    (command, had_secrets)
}

/// The answer to it, which tells what was taken out.
pub(crate) fn answered(answer: Answer, had_secrets: bool) -> Answer {
    match answer {
        Answer::Accepted(text) if had_secrets => Answer::Accepted(format!(
            "{text} What looked like a secret in it was replaced by {REDACTED}; give secrets by environment variables."
        )),
        other => other,
    }
}

/// The words of a person in a command. What names something is none of them.
fn texts(command: &mut Command) -> Vec<&mut String> {
    match command {
        Command::Start(start) | Command::Prepare(start) => vec![&mut start.task],
        Command::Pause { reason } | Command::Cancel { reason } => vec![reason],
        Command::Approve { note, .. }
        | Command::Reject { note, .. }
        | Command::Retry { note, .. }
        | Command::Skip { note, .. }
        | Command::Go { note, .. } => vec![note],
        Command::Answer { text, .. } | Command::Note { text, .. } => vec![text],
        Command::Resume
        | Command::Loops { .. }
        | Command::Budget { .. }
        | Command::Undo { .. }
        | Command::Repair(_)
        | Command::Rewind { .. }
        | Command::Signal { .. } => Vec::new(),
    }
}
