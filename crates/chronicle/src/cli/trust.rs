//! `chronicle trust`, and the question that `run` asks before a project's own files decide what runs.

use chronicle_core::base::quote;
use chronicle_core::definition::settings::Settings;
use chronicle_runtime::handle::Project;
use chronicle_runtime::handle::trust::{self, Item, TrustError, Unknown};
use clap::Args;
use serde::Serialize;

use super::{Setting, json, only_for_people};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Most lines of a list that a person is shown before they are asked.
const SHOWN_MAX: usize = 12;

/// Trust what a project's own files run on this machine
///
/// A project's workflows, rules, settings and check commands decide what runs on this machine. Trust is stored by content, for
/// you alone and outside of the project: files that change later are asked about again, by name. Your own and the built-in
/// workflows need no trust. `trust.folders` in your settings trusts whole folders.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle trust              this project, as it is now
  chronicle trust --list       every project that you trust
  chronicle trust --revoke     ask again before anything of this project runs")]
pub(super) struct TrustArgs {
    /// Show every project that is trusted
    #[arg(long, conflicts_with = "revoke")]
    list: bool,

    /// Withdraw the trust in this project
    #[arg(long)]
    revoke: bool,
}

/// What is trusted in a project, as JSON.
#[derive(Debug, Serialize)]
struct Trusted {
    project: String,
    items: Vec<String>,
}

/// What `--list` prints as JSON.
#[derive(Debug, Serialize)]
struct AllTrusted {
    projects: Vec<Trusted>,
}

/// What `--revoke` prints as JSON.
#[derive(Debug, Serialize)]
struct Revoked {
    project: String,
    /// False if the project was not trusted.
    revoked: bool,
}

pub(super) fn cmd_trust(setting: &Setting, args: &TrustArgs) -> Result<Exit, Failure> {
    if args.list {
        return list(setting);
    }
    only_for_people()?;
    let root = setting.project.root().to_string_lossy();
    let shown = quote::plain(&root);
    if args.revoke {
        let was_known = trust::revoke(&setting.project)?;
        if setting.json {
            let project = root.to_string();
            return json::say_document(&Revoked { project, revoked: was_known })
                .map(|()| Exit::Done);
        }
        let text = if was_known { "is no longer trusted" } else { "was not trusted" };
        terminal::say_wrapped(&format!("`{shown}` {text}."));
        return Ok(Exit::Done);
    }
    let names = trust::agree_to_all(&setting.project)?;
    if setting.json {
        let trusted = Trusted { project: root.to_string(), items: names };
        return json::say_document(&trusted).map(|()| Exit::Done);
    }
    for name in &names {
        terminal::say_wrapped(&format!("  {name}"));
    }
    terminal::say_wrapped(&format!("`{shown}` is trusted as it is now."));
    Ok(Exit::Done)
}

fn list(setting: &Setting) -> Result<Exit, Failure> {
    let trusted: Vec<Trusted> = trust::all()
        .into_iter()
        .map(|record| Trusted {
            project: record.project.display().to_string(),
            items: record.items.into_keys().collect(),
        })
        .collect();
    if setting.json {
        return json::say_document(&AllTrusted { projects: trusted }).map(|()| Exit::Done);
    }
    if trusted.is_empty() {
        terminal::talk("No project is trusted yet.");
    }
    for Trusted { project, items } in trusted {
        let what =
            if items.len() == 1 { "1 thing".to_owned() } else { format!("{} things", items.len()) };
        terminal::say_wrapped(&format!("{}  ({what})", quote::plain(&project)));
    }
    Ok(Exit::Done)
}

/// Asks about what nobody agreed to yet: once for the whole project, never a worker, and never without a terminal.
pub(super) fn confirm(
    project: &Project,
    used: &[Item],
    brought: &Brought,
    settings: &Settings,
) -> Result<(), Failure> {
    let unknown = trust::judge(project, used, settings);
    if unknown.is_empty() {
        return Ok(());
    }
    only_for_people()?;
    let root = quote::plain(&project.root().to_string_lossy());
    // Never assumed: in CI nobody has looked at the files.
    if !terminal::can_ask() {
        let names: Vec<String> =
            unknown.changed.iter().chain(&unknown.new).map(|it| format!("`{it}`")).collect();
        let what = if unknown.is_known_folder {
            "has changed since you trusted it"
        } else {
            "is not trusted on this machine yet"
        };
        return Err(Failure::usage(format!("`{root}` {what}: {}", names.join(", "))).hint(
            "look at what it would run, then type `chronicle trust`; or say `--trust` for this once",
        ));
    }
    terminal::talk(&question(&root, &unknown, brought));
    let answer = terminal::ask("Trust this project as it is now? [y/N] ").unwrap_or_default();
    if !["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
        return Err(Failure::usage("the project is not trusted, so nothing was started")
            .hint("look at the files named above, then try again"));
    }
    trust::agree(project, used)?;
    Ok(())
}

/// What a project's workflows would start.
#[derive(Debug, Default)]
pub(super) struct Brought {
    pub(super) commands: Vec<String>,
    /// Agents that the workflows name themselves, also those that only take over where another cannot go on.
    pub(super) agents: Vec<String>,
    /// Variables that look like secrets and that the workflows pass to their workers.
    pub(super) passed: Vec<String>,
    /// Names of what they open to workers although walls hide it otherwise.
    pub(super) opened: Vec<String>,
    /// Paths that they let workers change outside of the project, or beside what guards a run.
    pub(super) written: Vec<String>,
    /// True if a part of the wall is left out for an agent's own sandbox.
    pub(super) own_sandbox: bool,
}

fn question(root: &str, unknown: &Unknown, brought: &Brought) -> String {
    let opening = if unknown.is_known_folder {
        format!("`{root}` has changed since you trusted it:")
    } else {
        format!("`{root}` brings its own definitions. They decide what runs on this machine:")
    };
    let changed = unknown.changed.iter().map(|name| format!("  {name} (changed)"));
    let mut lines: Vec<String> = vec![opening];
    lines.extend(bounded(changed.chain(unknown.new.iter().map(|name| format!("  {name}")))));
    let plain = chronicle_core::words::one_line;
    if !brought.commands.is_empty() {
        lines.push("This run would execute, beside what its agents do:".to_owned());
        lines.extend(bounded(brought.commands.iter().map(|it| format!("  $ {}", plain(it)))));
    }
    if !brought.agents.is_empty() {
        lines.push("Its workflows name these agents:".to_owned());
        lines.extend(bounded(brought.agents.iter().map(|it| format!("  {}", plain(it)))));
    }
    if !brought.passed.is_empty() {
        lines.push(
            "They pass these of your environment variables to workers, secret or not:".to_owned(),
        );
        lines.extend(bounded(brought.passed.iter().map(|it| format!("  {}", plain(it)))));
    }
    lines.extend(told("They open to workers what walls hide otherwise", &brought.opened));
    let written = "They let workers change outside of the project, or beside what guards them";
    lines.extend(told(written, &brought.written));
    if brought.own_sandbox {
        lines.push(
            "They leave out a part of the wall, for a sandbox of the agent's own.".to_owned(),
        );
    }
    lines.join("\n")
}

/// A list in one line, bounded as well; `None` if there is nothing to tell.
fn told(what: &str, names: &[String]) -> Option<String> {
    let plain = chronicle_core::words::one_line;
    let shown: Vec<String> =
        names.iter().take(SHOWN_MAX).map(|name| format!("`{}`", plain(name))).collect();
    let more = match names.len().saturating_sub(SHOWN_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!names.is_empty()).then(|| format!("{what}: {}{more}", shown.join(", ")))
}

fn bounded(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.collect();
    let more = lines.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        lines.truncate(SHOWN_MAX);
        lines.push(format!("  … and {more} more"));
    }
    lines
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Self {
        let hint = match &error {
            TrustError::NoHome => "set `HOME`, then try again",
            TrustError::Unreadable { .. } => "make the file readable for you, or take it away",
            TrustError::TooMany => "move files that are no definitions elsewhere, then try again",
            TrustError::Unwritable { .. } => "make the folder writable for you",
        };
        Self::internal("the project's trust cannot be settled", &error).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_names_commands_and_all_agents() {
        let brought = Brought {
            commands: vec!["make test".to_owned()],
            agents: vec!["claude".to_owned(), "command:./mine".to_owned()],
            passed: vec!["AWS_*".to_owned()],
            opened: vec!["ssh".to_owned(), "docker".to_owned()],
            written: vec!["~/exports".to_owned()],
            own_sandbox: true,
        };
        let asked = question("/p", &Unknown::default(), &brought);
        let lines = [
            "  $ make test",
            "Its workflows name these agents:",
            "  command:./mine",
            "  AWS_*",
            "They open to workers what walls hide otherwise: `ssh`, `docker`",
            "They let workers change outside of the project, or beside what guards them: `~/exports`",
            "They leave out a part of the wall, for a sandbox of the agent's own.",
        ];
        for line in lines {
            assert!(asked.lines().any(|it| it == line), "{asked}");
        }
        let nothing = question("/p", &Unknown::default(), &Brought::default());
        assert!(!nothing.contains("wall") && !nothing.contains("workers"), "{nothing}");
    }
}
