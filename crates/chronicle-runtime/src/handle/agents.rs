//! The agents that can work here: which are known, which are installed, what they say about themselves, and whether they start.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chronicle_core::base::quote::both_ends;
use chronicle_core::definition::settings::Settings;

use crate::agents::{Trial, command_words};
use crate::discover::has_program;
use crate::discover::versions::{self, numbers};
use crate::effects;
use crate::home;
use crate::process::{self, ProgramQuestion, Unanswered};
use crate::project::Project;

pub use crate::agents::{PublishedAgent, UnknownAgent, about};
pub use crate::environment::{EnvReport, report as environment};

pub use crate::discover::{
    AGENT_PROGRAMS, InstalledAgent, SignedIn, installed_agents as installed, is_missing, signed_in,
};

/// How long an agent may take to say its version, or to answer when it is tried. Only one that hangs takes so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether Chronicle can drive the agent of that name.
pub fn check(name: &str, project: &Project, settings: &Settings) -> Result<(), UnknownAgent> {
    crate::agents::find(name, project.root(), settings).map(drop)
}

/// Whether the script or program that an agent's name contains is there. A run that would fail at its first start is not begun.
pub fn check_there(name: &str, project: &Project) -> Result<(), UnknownAgent> {
    let missing = |why: String, hint: &str| UnknownAgent {
        agent: name.to_owned(),
        why,
        hint: hint.to_owned(),
    };
    match name.split_once(':') {
        Some(("scripted", script)) if !project.root().join(script.trim()).is_file() => {
            let why = format!("names a script that is not there: `{}`", script.trim());
            Err(missing(why, "name a script by its path, relative to the project"))
        }
        Some(("command", line)) => {
            let words = command_words(line).unwrap_or_default();
            let Some(program) = words.first() else { return Ok(()) };
            if has_program(program, project.root()) {
                return Ok(());
            }
            let why = format!("names a program that is not there: `{program}`");
            Err(missing(why, "name a program on your `PATH`, or by its path"))
        }
        Some(_) | None => Ok(()),
    }
}

/// The line with its version, from the program started the same way as for work; or why there is none.
pub fn version(agent: &InstalledAgent, project: &Project) -> Result<String, String> {
    let mut argv: Vec<OsString> = vec![agent.program.clone().into()];
    argv.extend(agent.first.iter().map(OsString::from));
    argv.push("--version".into());
    let question = ProgramQuestion {
        argv: &argv,
        cwd: project.root(),
        env: &BTreeMap::new(),
        without: &effects::NOT_FOR_AGENTS,
        input: "",
        time: PATIENCE,
    };
    process::ask(&question, |line| numbers(line).is_some())
        .map_err(|why| words("`--version` printed no version", &why))
}

/// Starts an agent as for work, asks it something that needs no model, and ends it; or why it does not answer. `given` is an empty
/// folder for its files.
pub fn try_start(
    name: &str,
    project: &Project,
    settings: &Settings,
    given: &Path,
) -> Result<(), String> {
    let adapter = crate::agents::find(name, project.root(), settings);
    let adapter = adapter.map_err(|error| error.to_string())?;
    let Some(Trial { launch, input, is_answer }) = adapter.trial(given) else { return Ok(()) };
    effects::give(given, &launch.files).map_err(|error| error.to_string())?;
    let question = ProgramQuestion {
        argv: &from_anywhere(launch.argv, project),
        cwd: &aside(),
        env: &launch.env,
        without: &effects::NOT_FOR_AGENTS,
        input: &input,
        time: PATIENCE,
    };
    process::ask(&question, is_answer)
        .map(drop)
        .map_err(|why| words("started for work, it gave no answer", &why))
}

/// A folder that no worker can write. An agent runs what it finds in the folder that it is started in, such as extensions and hooks, and
/// no wall stands around one that is only tried.
fn aside() -> PathBuf {
    let folder = home::state().map(|state| state.join("trial"));
    let made = folder.filter(|folder| std::fs::create_dir_all(folder).is_ok());
    made.unwrap_or_else(|| PathBuf::from("/"))
}

/// The same program, started from another folder. What stands before its options may name files of the project: `sh tools/agent.sh`.
fn from_anywhere(mut argv: Vec<OsString>, project: &Project) -> Vec<OsString> {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let named = argv.iter().position(is_option).unwrap_or(argv.len());
    for (at, word) in argv.iter_mut().take(named).enumerate() {
        let whole = project.root().join(&*word);
        let is_path = Path::new(word).components().count() > 1;
        if is_path || at > 0 && whole.is_file() {
            *word = whole.into();
        }
    }
    argv
}

/// Whether a version is one that Chronicle's own tests run, newer than all of them, or neither.
pub fn standing(about: &PublishedAgent, version: &str) -> TestedVersion {
    let tested = || about.tested.iter().copied().filter_map(numbers);
    let Some(found) = numbers(version) else { return TestedVersion::Unknown };
    if tested().any(|it| it == found) {
        TestedVersion::Tested
    } else if tested().min().is_some_and(|oldest| found < oldest) {
        TestedVersion::Older
    } else {
        TestedVersion::Unknown
    }
}

/// How a version stands to those that were tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestedVersion {
    /// It is one of them.
    Tested,
    /// It is older than all of them.
    Older,
    /// It is newer, or between them.
    Unknown,
}

/// Why an agent's program cannot do the work of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// What is wrong with it.
    pub what: String,
    /// One thing to type.
    pub hint: String,
}

/// Finds out, before a run begins, whether an agent's program is the agent it is taken for. One that was found to be stays so until its
/// files change; one that is older than all tested versions is started to see. `given` is an empty folder for its files.
pub fn fit(name: &str, project: &Project, settings: &Settings, given: &Path) -> Result<(), Unfit> {
    let Some(about) = about(name) else { return Ok(()) };
    let found = installed(settings).into_iter().find(|agent| agent.name == name);
    let Some(agent) = found.filter(|agent| !versions::is_known(agent)) else { return Ok(()) };
    let at = format!("agent `{name}` (`{}`)", agent.program.display());
    let hint = format!("`chronicle doctor` tries it; `{}` installs it anew", about.install);
    let version = version(&agent, project)
        .map_err(|why| Unfit { what: format!("{at} cannot be used: {why}"), hint: hint.clone() })?;
    if standing(&about, &version) == TestedVersion::Older {
        try_start(name, project, settings, given).map_err(|why| Unfit {
            what: format!("{at} is too old ({}): {why}", both_ends(&version)),
            hint,
        })?;
    }
    versions::remember(&agent);
    Ok(())
}

fn words(what: &str, why: &Unanswered) -> String {
    let saying = |said: &str| match both_ends(said) {
        said if said.is_empty() => ", without a word".to_owned(),
        said => format!("; it said: {said}"),
    };
    match why {
        Unanswered::NotStarted(error) => format!("it cannot be started: {error}"),
        Unanswered::Ended(said) => format!("{what}{}", saying(said)),
        Unanswered::TooLong(said) => {
            format!("{what} within {} seconds{}", PATIENCE.as_secs(), saying(said))
        }
    }
}
