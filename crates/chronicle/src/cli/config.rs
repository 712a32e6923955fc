//! `chronicle config`: shows settings and their origin.

use chronicle_core::base::cells::pad;
use chronicle_core::definition::settings::{Layer, Row};
use chronicle_runtime::handle::definitions::{self, FoundSettings};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::{Setting, config_set, json, problems};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// Show every setting, its value, and where it comes from; or change one
///
/// Settings come from the project's file and the user's; the project's file wins. Fields of a phase or workflow override
/// settings, and flags override everything.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  chronicle config                    every setting
  chronicle config limits.retries     one, explained
  chronicle config path               where the files are
  chronicle config set limits.retries 3",
    args_conflicts_with_subcommands = true
)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    change: Option<ConfigCommand>,

    /// One setting to explain, or `path` for where the files are
    #[arg(value_name = "KEY|path")]
    what: Option<String>,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    Set(config_set::SetArgs),
    Unset(config_set::UnsetArgs),
}

/// A setting, as JSON.
#[derive(Debug, Serialize)]
struct ShownSetting {
    key: String,
    /// As a file would write it; none = nothing.
    value: Option<String>,
    default: Option<&'static str>,
    /// `default`, a file with its line, or the build file that it was found from.
    origin: String,
    about: &'static str,
}

/// A file of settings, as JSON.
#[derive(Debug, Serialize)]
struct File {
    whose: &'static str,
    path: String,
    exists: bool,
}

/// The JSON output of this command.
#[derive(Serialize)]
struct AllSettings<'a> {
    settings: &'a [ShownSetting],
}

/// What `config path --json` prints.
#[derive(Serialize)]
struct ConfigPaths {
    files: Vec<File>,
}

pub(super) fn cmd_config(setting: &Setting, args: &ConfigArgs) -> Result<Exit, Failure> {
    match &args.change {
        Some(ConfigCommand::Set(args)) => return config_set::cmd_set(setting, args),
        Some(ConfigCommand::Unset(args)) => return config_set::cmd_unset(setting, args),
        None => {}
    }
    if args.what.as_deref() == Some("path") {
        return paths(setting);
    }
    let found = definitions::settings(&setting.project);
    let mut rows: Vec<ShownSetting> =
        found.settings.rows().iter().map(|row| shown(setting, row)).collect();
    if let Some(wanted) = &args.what {
        rows.retain(|row| row.key == *wanted);
        if rows.is_empty() {
            return Err(config_set::no_such(wanted));
        }
    }
    // Shown first and judged last: whoever looks for a mistake in a setting wants to see all of them.
    match (setting.json, &args.what) {
        (true, _) => json::say_document(&AllSettings { settings: &rows })?,
        (false, Some(_)) => rows.iter().for_each(explain),
        (false, None) => rows.iter().for_each(say),
    }
    problems::judge_settings(&found)?;
    Ok(Exit::Done)
}

/// The settings that hold here; what is wrong with them is shown, and nothing starts with it.
pub(super) fn load(setting: &Setting) -> Result<FoundSettings, Failure> {
    let found = definitions::settings(&setting.project);
    problems::judge_settings(&found)?;
    Ok(found)
}

fn shown(setting: &Setting, row: &Row<'_>) -> ShownSetting {
    let default = Some(row.key.default).filter(|default| !default.is_empty());
    let (value, origin) = match row.said {
        Some(said) => (Some(said.value.to_string()), format!("{}:{}", said.file, said.line)),
        None if row.name == "verify" => detected(setting),
        None => (default.map(str::to_owned), "default".to_owned()),
    };
    ShownSetting { key: row.name.clone(), value, default, origin, about: row.key.about }
}

/// The commands that hold when nobody sets any.
fn detected(setting: &Setting) -> (Option<String>, String) {
    let found = definitions::verify_commands(setting.project.root());
    let mut files: Vec<&str> = found.iter().map(|one| one.from.as_str()).collect();
    files.dedup();
    if files.is_empty() {
        return (None, "default".to_owned());
    }
    let commands = found.iter().map(|one| one.command.clone()).collect();
    let value = chronicle_core::definition::settings::Value::Texts(commands);
    (Some(value.to_string()), format!("found from {}", files.join(", ")))
}

fn say(row: &ShownSetting) {
    let paint = Paint::stdout();
    let value = row.value.as_deref().unwrap_or("-");
    let line = format!("{:<22} {} ", row.key, pad(value, 30));
    let is_default = row.origin == "default";
    let origin = if is_default { paint.ink(Ink::Dim, "default") } else { row.origin.clone() };
    terminal::say_wrapped(&format!("{line}{origin}"));
}

fn explain(row: &ShownSetting) {
    let value = row.value.as_deref().unwrap_or("(nothing)");
    terminal::say_wrapped(&format!("{} = {value}", row.key));
    terminal::say_wrapped(&format!("  from     {}", row.origin));
    terminal::say_wrapped(&format!("  default  {}", row.default.unwrap_or("(nothing)")));
    terminal::say_wrapped(&format!("  {}", row.about));
}

fn paths(setting: &Setting) -> Result<Exit, Failure> {
    let files: Vec<File> = definitions::settings_files(&setting.project)
        .into_iter()
        .map(|(layer, path)| File {
            whose: match layer {
                Layer::User => "user",
                Layer::Project => "project",
            },
            exists: path.exists(),
            path: path.display().to_string(),
        })
        .collect();
    if setting.json {
        json::say_document(&ConfigPaths { files })?;
        return Ok(Exit::Done);
    }
    for File { whose, path, exists } in files {
        let note = if exists { "" } else { "  (not there)" };
        terminal::say_wrapped(&format!("{whose:<8} {path}{note}"));
    }
    Ok(Exit::Done)
}
