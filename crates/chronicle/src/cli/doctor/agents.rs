//! The agents that are installed: where, which version, whether signed in, and what of Chronicle they can take part in.

use chronicle_core::definition::settings::Settings;
use chronicle_core::words::one_line;
use chronicle_runtime::handle::agents::{
    self, AGENT_PROGRAMS, InstalledAgent, PublishedAgent, SignedIn, about,
};

use super::Finding;
use crate::cli::Setting;

/// Each agent, and what it says about itself. None is no fault.
pub(super) fn look(setting: &Setting, settings: &Settings) -> Vec<Finding> {
    let installed = agents::installed(settings);
    if installed.is_empty() {
        return vec![none()];
    }
    installed.iter().map(|agent| one(setting, agent)).collect()
}

fn finding(found: String, more: Vec<String>) -> Finding {
    Finding { what: "agent", good: true, found, more, advice: None }
}

fn none() -> Finding {
    let install = AGENT_PROGRAMS.into_iter().filter_map(about);
    let install = install.map(|it| format!("`{}` brings `{}`", it.install, it.name));
    let without = "without any: `chronicle demo`, or `--agent scripted:SCRIPT.yaml`".to_owned();
    let found = format!("none of {} is installed", AGENT_PROGRAMS.join(", "));
    finding(found, install.chain([without]).collect())
}

fn one(setting: &Setting, agent: &InstalledAgent) -> Finding {
    let version = version(setting, agent);
    let at = format!("{} at `{}`", agent.name, agent.program.display());
    let said = version.as_deref().unwrap_or("says no version");
    let Some(about) = about(agent.name) else {
        let found = format!("{at}, {said}; this version of Chronicle cannot drive it yet");
        return finding(found, Vec::new());
    };
    finding(format!("{at}, {said}{}", tested(&about, said)), more(&about))
}

/// The first line of what it says of itself.
fn version(setting: &Setting, agent: &InstalledAgent) -> Option<String> {
    let said = agents::version(agent, &setting.project)?;
    said.lines().find(|line| !line.trim().is_empty()).map(one_line)
}

fn tested(about: &PublishedAgent, said: &str) -> String {
    if about.tested.iter().any(|version| said.contains(version)) {
        return ", a version that was tested".to_owned();
    }
    let versions = about.tested.join(" and ");
    format!("; tested with {versions}, and another one may talk otherwise")
}

fn more(about: &PublishedAgent) -> Vec<String> {
    let login = match agents::signed_in(about) {
        SignedIn::Key(variable) => format!("signed in: a key is in `{variable}`"),
        SignedIn::Login(file) => format!("signed in, as `{}` says", file.display()),
        SignedIn::Unknown => format!("no login was found; {}", about.sign_in),
    };
    vec![login, format!("signals: {}", about.signals), format!("guards: {}", about.guards)]
}
