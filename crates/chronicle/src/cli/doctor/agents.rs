//! The agents that are installed: where, which version, whether signed in, and what of Chronicle they can take part in.

use std::collections::{BTreeMap, BTreeSet};

use chronicle_core::definition::settings::Settings;
use chronicle_core::definition::workflow::agent_and_model;
use chronicle_core::words::one_line;
use chronicle_runtime::handle::agents::{
    self, AGENT_PROGRAMS, InstalledAgent, PublishedAgent, SignedIn, TestedVersion, about,
};
use chronicle_runtime::handle::definitions;

use super::CheckResult;
use crate::cli::{Setting, environment};

/// Each agent, and whether it can work here. Without any there is nobody to do the work.
pub(super) fn look(setting: &Setting, settings: &Settings) -> Vec<CheckResult> {
    let own = settings.agents().filter(|name| !AGENT_PROGRAMS.contains(name)).count();
    let installed = agents::installed(settings);
    let all: Vec<CheckResult> =
        installed.iter().map(|agent| one(setting, settings, agent)).collect();
    let drivable = installed.iter().any(|agent| about(agent.name).is_some());
    if drivable || own > 0 { all } else { all.into_iter().chain([none()]).collect() }
}

/// Agents that take over where another cannot go on: one that is missing shows only when it is needed, so it is looked for here.
pub(super) fn fallbacks(setting: &Setting, settings: &Settings) -> Option<CheckResult> {
    let catalog = definitions::find(&setting.project);
    let workflows = catalog.workflows.iter().filter_map(|found| found.unit.workflow.as_ref());
    let mut named: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for workflow in workflows {
        for fallback in workflow.phases.iter().flat_map(|phase| &phase.fallback) {
            named.entry(agent_and_model(fallback).0).or_default().insert(&workflow.key);
        }
    }
    let fits = |agent: &str| {
        // A name from the settings is known without a look at the path: its command is there.
        let is_known = settings.agents().any(|own| own == agent)
            || agents::check(agent, &setting.project, settings)
                .and_then(|()| agents::check_there(agent, &setting.project))
                .is_ok();
        is_known && !agents::is_missing(agent, settings)
    };
    let row = |(agent, keys): (&&str, &BTreeSet<&str>)| {
        let keys = keys.iter().copied().collect::<Vec<_>>().join(", ");
        let missing = if fits(agent) { "" } else { ", not installed or not known" };
        one_line(&format!("{agent}{missing} (in {keys})"))
    };
    let good = named.keys().all(|agent| fits(agent));
    let found = named.iter().map(row).collect::<Vec<_>>().join("; ");
    let advice = Some("install it, or take it out of `fallback`");
    let found = CheckResult { what: "fallbacks", good, found, more: Vec::new(), advice };
    (!named.is_empty()).then_some(found)
}

fn finding(found: String, more: Vec<String>) -> CheckResult {
    CheckResult { what: "agent", good: true, found, more, advice: None }
}

fn none() -> CheckResult {
    let known: Vec<PublishedAgent> = AGENT_PROGRAMS.into_iter().filter_map(about).collect();
    let install = known.iter().map(|it| format!("`{}` brings `{}`", it.install, it.name));
    let without = "without any: `chronicle demo`, or `--agent scripted:SCRIPT.yaml`".to_owned();
    let names: Vec<&str> = known.iter().map(|it| it.name).collect();
    let found = format!("none that Chronicle can drive is installed: {}", names.join(", "));
    let more = install.chain([without]).collect();
    let advice = Some("install one of them, or set `agents.NAME.command` in your settings");
    CheckResult { good: false, advice, ..finding(found, more) }
}

fn one(setting: &Setting, settings: &Settings, agent: &InstalledAgent) -> CheckResult {
    let version = agents::version(agent, &setting.project).map(|line| one_line(&line));
    let at = format!("{} at `{}`", agent.name, agent.program.display());
    let Some(about) = about(agent.name) else {
        let said = version.unwrap_or_else(|_| "says no version".to_owned());
        let found = format!("{at}, {said}; this version of Chronicle cannot drive it yet");
        return finding(found, Vec::new());
    };
    let more: Vec<String> =
        more(&about).into_iter().chain(environment::of_agent(settings, agent.name)).collect();
    let bad = |why: String| CheckResult {
        good: false,
        advice: Some(about.install),
        ..finding(format!("{at}: {why}"), more.clone())
    };
    let version = match version {
        Ok(version) => version,
        Err(why) => return bad(why),
    };
    let tested = tested(&about, &version);
    // The version alone proves little: an agent may answer it and still fail to start, for want of a runtime or a login.
    match try_start(setting, settings, agent.name) {
        Ok(()) => finding(format!("{at}, {version}, starts and answers{tested}"), more),
        Err(why) => bad(format!("{version}{tested}: {why}")),
    }
}

fn try_start(setting: &Setting, settings: &Settings, name: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    agents::try_start(name, &setting.project, settings, folder.path())
}

fn tested(about: &PublishedAgent, version: &str) -> String {
    let versions = about.tested.join(" and ");
    match agents::standing(about, version) {
        TestedVersion::Tested => ", a version that was tested".to_owned(),
        TestedVersion::Older => {
            format!("; tested with {versions}, and older ones may lack what is needed")
        }
        TestedVersion::Unknown => {
            format!("; tested with {versions}, and another one may talk otherwise")
        }
    }
}

fn more(about: &PublishedAgent) -> Vec<String> {
    let login = match agents::signed_in(about) {
        SignedIn::Key(variable) => format!("signed in: a key is in `{variable}`"),
        SignedIn::Login(file) => format!("signed in, as `{}` says", file.display()),
        SignedIn::Unknown => format!("no login was found; {}", about.sign_in),
    };
    vec![login, format!("signals: {}", about.signals), format!("guards: {}", about.guards)]
}
