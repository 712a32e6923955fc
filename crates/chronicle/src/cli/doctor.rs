//! `chronicle doctor`: checks this machine.

mod agents;
mod walls;

use std::path::PathBuf;

use chronicle_core::definition::settings::Settings;
use chronicle_core::definition::workflow::Severity;
use chronicle_core::words;
use chronicle_runtime::handle::{self, definitions, machine, trust};
use clap::Args;
use serde::Serialize;

use super::{Setting, json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// Check whether this machine has what Chronicle needs
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle doctor")]
pub(super) struct DoctorArgs {}

/// One thing looked at.
#[derive(Debug, Serialize)]
struct CheckResult {
    what: &'static str,
    good: bool,
    found: String,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more: Vec<String>,
    /// What to do about it.
    advice: Option<&'static str>,
}

/// The JSON output of this command.
#[derive(Serialize)]
struct Looked<'a> {
    /// Whether all is well.
    good: bool,
    findings: &'a [CheckResult],
}

pub(super) fn cmd_doctor(setting: &Setting, _: &DoctorArgs) -> Result<Exit, Failure> {
    let mut findings =
        vec![keeper(setting), disk(setting), lock(setting), link(), git(setting), proc_folder()];
    findings.push(walls::look(setting));
    let (settings, finding) = settings(setting);
    findings.push(trees(setting, &settings));
    findings.extend(unmerged(setting));
    findings.push(finding);
    findings.extend(agents::look(setting, &settings));
    findings.extend(agents::fallbacks(setting, &settings));
    findings.extend(personas(setting));
    findings.push(notices(setting, &settings));
    findings.push(trusted(setting, &settings));
    let all_good = findings.iter().all(|finding| finding.good);
    if setting.json {
        json::say_document(&Looked { good: all_good, findings: &findings })?;
    } else {
        say(&findings);
    }
    Ok(if all_good { Exit::Done } else { Exit::RunFailed })
}

fn say(findings: &[CheckResult]) {
    let paint = Paint::stdout();
    for finding in findings {
        let sign =
            if finding.good { paint.ink(Ink::Good, "✓") } else { paint.ink(Ink::Bad, "✗") };
        terminal::say_wrapped(&format!("  {sign} {:<12} {}", finding.what, finding.found));
        for line in &finding.more {
            terminal::say_wrapped(&format!("      {line}"));
        }
        if let Some(advice) = finding.advice.filter(|_| !finding.good) {
            terminal::say_wrapped(&format!("      {advice}"));
        }
    }
}

/// A real process under a real keeper.
fn keeper(setting: &Setting) -> CheckResult {
    let advice = Some("agents cannot be held here; on Linux, /proc must be mounted and readable");
    let tried = try_keeper(setting);
    let (good, found) = match tried {
        Ok(()) => (true, "a process was started and ended under a keeper".to_owned()),
        Err(why) => (false, why),
    };
    CheckResult { more: Vec::new(), what: "processes", good, found, advice }
}

fn try_keeper(setting: &Setting) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    machine::try_keeper(&setting.asker.chronicle, folder.path())
}

/// Whether the project can be written, and synced.
fn disk(setting: &Setting) -> CheckResult {
    let root = setting.project.root();
    let tried = tempfile::tempfile_in(root).and_then(|file| file.sync_data());
    let (good, found) = match tried {
        Ok(()) => (true, format!("`{}` can be written and synced", root.display())),
        Err(error) => (false, format!("`{}`: {error}", root.display())),
    };
    CheckResult {
        more: Vec::new(),
        what: "disk",
        good,
        found,
        advice: Some("make the folder writable, and make room"),
    }
}

/// Whether a lock of one file is seen by another.
fn lock(setting: &Setting) -> CheckResult {
    let tried = tempfile::NamedTempFile::new_in(setting.project.root()).and_then(|file| {
        file.as_file().try_lock().map_err(std::io::Error::from)?;
        // By a second handle: on some network disks each of them gets the lock, and two supervisors would write.
        Ok(std::fs::File::open(file.path())?.try_lock().is_err())
    });
    let (good, found) = match tried {
        Ok(true) => (true, "locks hold".to_owned()),
        Ok(false) => (false, "a locked file could be locked again".to_owned()),
        Err(error) => (false, error.to_string()),
    };
    let advice = Some("this disk has no locks: do not drive one run from two machines");
    CheckResult { more: Vec::new(), what: "locks", good, found, advice }
}

/// Whether a driven run can be reached by other commands.
fn link() -> CheckResult {
    let (good, found) = match machine::link_folder() {
        Ok(folder) => (true, format!("driven runs are reached through `{}`", folder.display())),
        Err(why) => (false, why),
    };
    let advice = Some("remove it, or set `XDG_RUNTIME_DIR`: `pause`, `cancel` and others need it");
    CheckResult { more: Vec::new(), what: "link", good, found, advice }
}

fn git(setting: &Setting) -> CheckResult {
    let version = machine::run(&["git", "--version"], setting.project.root());
    let (good, found) = match version {
        Some(version) => (true, version),
        None => (false, "git is not there".to_owned()),
    };
    let advice =
        Some("install git: without it files are not recorded, and `diff` and `undo` have nothing");
    CheckResult { more: Vec::new(), what: "git", good, found, advice }
}

/// How much room the recorded files take.
fn trees(setting: &Setting, settings: &Settings) -> CheckResult {
    let bytes = handle::recorded_bytes(&setting.project);
    let found = bytes.map_or_else(
        || "no files were recorded here yet".to_owned(),
        |bytes| format!("recorded files take {}", words::bytes(bytes)),
    );
    let good = bytes.is_none_or(|bytes| bytes < settings.trees_warn_bytes());
    let advice = Some("`chronicle gc` frees what is no longer needed");
    CheckResult { more: Vec::new(), what: "trees", good, found, advice }
}

/// Runs whose work is in folders of their own and not in the project.
fn unmerged(setting: &Setting) -> Option<CheckResult> {
    let left = handle::work_left(&setting.project).unmerged;
    let runs: Vec<&str> = left.iter().map(|it| it.run.as_str()).collect();
    let found = format!("work that is not merged: run {}", runs.join(", "));
    let more = left.iter().map(|it| words::one_line(&it.path.display().to_string())).collect();
    let what = "worktrees";
    (!runs.is_empty()).then_some(CheckResult { more, what, good: true, found, advice: None })
}

/// Whether the settings can be used.
fn settings(setting: &Setting) -> (Settings, CheckResult) {
    let advice = Some("`chronicle config` shows where");
    let found = definitions::settings(&setting.project);
    let files: Vec<&str> = found.sources.iter().map(|source| source.name.as_str()).collect();
    let text = match found.problems.as_slice() {
        [] if files.is_empty() => "none, so the defaults hold".to_owned(),
        [] => files.join(", "),
        [only] => only.to_string(),
        [first, more @ ..] => format!("{first} (and {} more)", more.len()),
    };
    let good = found.problems.is_empty();
    (found.settings, CheckResult { more: Vec::new(), what: "settings", good, found: text, advice })
}

/// Personas that cannot be used, and files that another one of the same name hides. Neither shows before a run needs them.
fn personas(setting: &Setting) -> Option<CheckResult> {
    let catalog = definitions::find(&setting.project);
    let told = catalog.personas.iter().flat_map(|found| &found.problems);
    let told: Vec<_> = told.filter(|problem| problem.severity >= Severity::Warning).collect();
    let good = !told.iter().any(|problem| problem.severity == Severity::Error);
    let mut lines = told.iter().map(|problem| words::one_line(&problem.to_string()));
    let found = lines.next()?;
    let advice = Some("`chronicle check` shows where");
    Some(CheckResult { more: lines.collect(), what: "personas", good, found, advice })
}

/// Whether people can be told in the ways that are set.
fn notices(setting: &Setting, settings: &Settings) -> CheckResult {
    let webhook = settings.text("notify.webhook").is_some();
    let curl = || machine::run(&["curl", "--version"], setting.project.root());
    // Looked for only if a webhook needs it: a machine without curl is all right otherwise.
    let good = !webhook || curl().is_some();
    let set = [
        (settings.text("notify.command").is_some(), "a command"),
        (webhook, "a webhook"),
        (settings.flag("notify.bell"), "the terminal's bell"),
    ];
    let ways: Vec<&str> = set.iter().filter(|(is_set, _)| *is_set).map(|(_, way)| *way).collect();
    let found = match ways.as_slice() {
        _ if !good => "a webhook is set, and curl is not there".to_owned(),
        [] => "no notices are configured; `notify` in your settings sets them up".to_owned(),
        ways => format!("people are notified by {}", ways.join(", ")),
    };
    let advice = Some("install curl: it posts to the address");
    CheckResult { more: Vec::new(), what: "notices", good, found, advice }
}

/// Whether a run would ask first. That is no fault either.
fn trusted(setting: &Setting, settings: &Settings) -> CheckResult {
    let project = &setting.project;
    let found = match trust::items(project) {
        Err(error) => error.to_string(),
        Ok(items) if items.is_empty() => "the project brings nothing of its own".to_owned(),
        Ok(items) => {
            let unknown = trust::judge(project, &items, settings);
            match (unknown.is_empty(), unknown.is_known_folder) {
                (true, _) => "the project's files are trusted as they are".to_owned(),
                (false, true) => "some of the project's files are new or changed; a run that uses them asks first".to_owned(),
                (false, false) => "not given yet; the first run asks, or `chronicle trust`".to_owned(),
            }
        }
    };
    CheckResult { more: Vec::new(), what: "trust", good: true, found, advice: None }
}

fn proc_folder() -> CheckResult {
    let own = PathBuf::from("/proc/self/environ");
    let good = std::fs::read(&own).is_ok();
    let found =
        if good { "processes can be found by their cookie" } else { "/proc cannot be read" };
    let advice = Some("what a killed keeper leaves behind cannot be found here");
    CheckResult { more: Vec::new(), what: "cookies", good, found: found.to_owned(), advice }
}
