//! `chronicle init`: prepares a project.

use std::fs;
use std::path::Path;

use chronicle_core::definition::settings::Settings;
use chronicle_runtime::handle::agents::{self, InstalledAgent};
use chronicle_runtime::handle::{definitions, trust};
use clap::Args;
use serde::Serialize;

use super::{Setting, check_folder, json, only_for_people};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::init::{self, NewFile};
use crate::terminal::{self, Ink, Paint};

/// Where others keep definitions that are used as they are.
const OTHERS: [(&str, &str); 5] = [
    (".pi/workflows", "workflows of Pi"),
    (".pi/chronicle/workflows", "workflows of The Chronicle"),
    (".pi/agents", "personas of Pi"),
    (".claude/agents", "personas of Claude Code"),
    ("agents", "personas"),
];

/// Prepare a project: explained settings and a first workflow
///
/// Looks for existing check commands (Cargo, npm, make, just, pytest, go, …), definitions of other tools, and installed agents.
/// Existing files are never changed, so it can be run again at any time.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle init
  chronicle init --yes        ask nothing")]
pub(super) struct InitArgs {
    /// Do not ask questions
    #[arg(long, short)]
    yes: bool,
}

/// What was found and done.
#[derive(Debug, Serialize)]
struct InitReport {
    wrote: Vec<&'static str>,
    kept: Vec<String>,
    verify: Vec<String>,
    agents: Vec<String>,
    definitions: Vec<String>,
}

pub(super) fn cmd_init(setting: &Setting, args: &InitArgs) -> Result<Exit, Failure> {
    only_for_people()?;
    check_folder(setting)?;
    let root = setting.project.root();
    let found = definitions::settings(&setting.project);
    let verify = verify_commands(root, &found.settings, args);
    let mut report = InitReport {
        wrote: Vec::new(),
        kept: Vec::new(),
        agents: agents::installed(&found.settings).iter().map(agent).collect(),
        definitions: definitions(root),
        verify,
    };
    put(setting, init::settings(&report.verify), &mut report)?;
    put(setting, init::schema(), &mut report)?;
    match own_workflow(setting) {
        Some(kept) => report.kept.push(kept),
        None => put(setting, init::workflow(&report.verify), &mut report)?,
    }
    // A person who has them written sees what they say. Where nobody looks, the first run asks, as it does about all else.
    if args.yes || terminal::can_ask() {
        let ours = report.wrote.iter().filter(|name| **name != init::SCHEMA_FILE);
        trust::agree_to(&setting.project, ours.map(|name| root.join(name)))?;
    }
    if setting.json {
        json::say_document(&report)?;
    } else {
        say(&report);
    }
    Ok(Exit::Done)
}

/// Those that are set, else those that are found, else those that a person names.
fn verify_commands(root: &Path, settings: &Settings, args: &InitArgs) -> Vec<String> {
    let said = settings.texts("verify");
    if !said.is_empty() {
        return said.to_vec();
    }
    let found = definitions::verify_commands(root);
    if !found.is_empty() || args.yes || !terminal::can_ask() {
        return found.into_iter().map(|one| one.command).collect();
    }
    let question = "No build files that I know. Which command tells whether this project is well? (empty: none) ";
    let mut commands = Vec::new();
    while let Some(line) =
        terminal::ask(if commands.is_empty() { question } else { "Another one? (empty: no) " })
    {
        if line.trim().is_empty() {
            break;
        }
        commands.push(line.trim().to_owned());
    }
    commands
}

fn agent(agent: &InstalledAgent) -> String {
    format!("{} ({})", agent.name, agent.program.display())
}

fn definitions(root: &Path) -> Vec<String> {
    let is_there = |(place, _): &(&str, &str)| {
        fs::read_dir(root.join(place)).is_ok_and(|mut entries| entries.next().is_some())
    };
    OTHERS.into_iter().filter(is_there).map(|(place, what)| format!("{place} ({what})")).collect()
}

/// A workflow of the project's own, which makes a first one needless.
fn own_workflow(setting: &Setting) -> Option<String> {
    let folder = setting.project.definitions().join("workflows");
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names.into_iter().next().map(|name| format!(".chronicle/workflows/{name}"))
}

/// Writes a file unless there is one, however it came about.
fn put(setting: &Setting, file: NewFile, report: &mut InitReport) -> Result<(), Failure> {
    let NewFile { name, text } = file;
    let path = setting.project.root().join(name);
    let failed = |error| {
        Failure::internal(format!("`{name}` cannot be written"), &error)
            .hint("make the project's folder writable for you")
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    // `create_new` instead of a check before it: a file that appears in between, or a link to elsewhere, is not written
    // over.
    let file = fs::File::options().write(true).create_new(true).open(&path);
    match file.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes())) {
        Ok(()) => report.wrote.push(name),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            report.kept.push(name.to_owned());
        }
        Err(error) => return Err(failed(error)),
    }
    Ok(())
}

fn say(report: &InitReport) {
    let paint = Paint::stdout();
    for name in &report.wrote {
        terminal::say(&format!("  {} {name}", paint.ink(Ink::Good, "wrote ")));
    }
    for name in &report.kept {
        terminal::say(&format!("  {} {name}", paint.ink(Ink::Dim, "kept  ")));
    }
    let list = |what: &str, found: &[String], otherwise: &str| {
        let text = if found.is_empty() { otherwise.to_owned() } else { found.join(", ") };
        terminal::say(&format!("  {what}  {text}"));
    };
    list("checks", &report.verify, "none found; set `verify` in .chronicle/config.toml");
    list("agents", &report.agents, "none of claude, pi, codex, gemini, opencode is installed");
    if !report.definitions.is_empty() {
        list("found ", &report.definitions, "");
    }
    if report.wrote.contains(&init::WORKFLOW_FILE) {
        terminal::talk(&format!("Next: chronicle run {} \"what is to be done\"", init::WORKFLOW));
    }
}
