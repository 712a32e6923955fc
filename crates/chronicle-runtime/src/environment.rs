//! Which of this process's environment variables workers get: `definition/environment.rs` of the core has the rules, this reads the
//! variables. Names leave this module, and values never do.

use std::ffi::OsString;

use chronicle_core::base::ids::SHELL;
use chronicle_core::definition::environment::{EnvGiven, EnvList};
use chronicle_core::definition::settings::Settings;

use crate::agents;

/// What of the user's variables the workers of an agent have otherwise than everybody else, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvReport {
    /// They do not have them: they look like secrets of other services.
    pub secrets: Vec<String>,
    /// They do not have them: a definition drops them.
    pub dropped: Vec<String>,
    /// They have them although they look like secrets.
    pub passed: Vec<String>,
}

/// The variables of this process that a worker must not have.
pub(crate) fn withheld(agent: &str, names: &EnvList, settings: &Settings) -> Vec<OsString> {
    let fates = fates(agent, names, settings).into_iter();
    fates.filter(|(_, fate)| !fate.is_given()).map(|(name, _)| name).collect()
}

/// What a worker loses of this process's variables, and what it is passed.
pub fn report(agent: &str, names: &EnvList, settings: &Settings) -> EnvReport {
    let mut report = EnvReport::default();
    for (name, fate) in fates(agent, names, settings) {
        let list = match fate {
            EnvGiven::Kept => continue,
            EnvGiven::Passed => &mut report.passed,
            EnvGiven::Secret => &mut report.secrets,
            EnvGiven::Dropped => &mut report.dropped,
        };
        list.push(name.to_string_lossy().into_owned());
    }
    report
}

fn fates(agent: &str, names: &EnvList, settings: &Settings) -> Vec<(OsString, EnvGiven)> {
    // Commands of a workflow are no agent: no key is theirs, and no setting speaks of them.
    let is_shell = agent == SHELL;
    let names = if is_shell { names.clone() } else { settings.agent_env_names(agent).and(names) };
    let own = agents::about(agent).filter(|_| !is_shell).map(own_keys).unwrap_or_default();
    let mut fates: Vec<(OsString, EnvGiven)> = std::env::vars_os()
        .map(|(name, value)| {
            // What is no text is judged by what of it is text.
            let fate = names.fate(&name.to_string_lossy(), &value.to_string_lossy(), &own);
            (name, fate)
        })
        .collect();
    fates.sort();
    fates
}

/// The variables that an agent needs to reach its model.
fn own_keys(about: agents::PublishedAgent) -> Vec<&'static str> {
    let is_set = |switch: &str| std::env::var_os(switch).is_some_and(|it| !it.is_empty());
    let switched = about.needs_with.iter().filter(|(switch, _)| is_set(switch));
    about.needs.iter().copied().chain(switched.map(|(_, name)| *name)).collect()
}
