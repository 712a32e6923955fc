//! `chronicle config set` and `unset`.

use std::path::Path;

use chronicle_core::definition::settings::{self, KEYS, Layer, Settings, Target, Whose};
use chronicle_core::definition::workflow::{Source, closest};
use chronicle_runtime::handle::{definitions, trust};
use clap::Args;
use serde::Serialize;

use super::{Setting, check_folder, json, only_for_people, problems};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Set one setting; the rest of the file, comments too, stays as it is
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle config set limits.retries 3
  chronicle config set verify \"make test\" \"make lint\"
  chronicle config set agent claude --user")]
pub(super) struct SetArgs {
    /// Full name of the setting
    key: String,
    /// Its value; several for a list
    #[arg(required = true)]
    value: Vec<String>,
    #[command(flatten)]
    whose: WhoseArgs,
}

/// Take a setting out of a file, so that the other file or the default holds
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle config unset limits.retries")]
pub(super) struct UnsetArgs {
    /// Full name of the setting
    key: String,
    #[command(flatten)]
    whose: WhoseArgs,
}

#[derive(Debug, Args)]
struct WhoseArgs {
    /// In your own file, for every project
    #[arg(long, conflicts_with = "project_file")]
    user: bool,
    /// In the project's file; the default
    #[arg(long = "project-file")]
    project_file: bool,
}

/// The JSON output of this command.
#[derive(Serialize)]
struct Changed<'a> {
    key: &'a str,
    /// As the file has it now; none if it does not say it any more.
    value: Option<String>,
    file: String,
}

pub(super) fn cmd_set(setting: &Setting, args: &SetArgs) -> Result<Exit, Failure> {
    let target = target(&args.key)?;
    let value = settings::literal(target.key.form, &args.value);
    change(setting, &args.key, &target, &args.whose, |text| {
        Ok(settings::set(text, &target, &value))
    })
}

pub(super) fn cmd_unset(setting: &Setting, args: &UnsetArgs) -> Result<Exit, Failure> {
    let target = target(&args.key)?;
    change(setting, &args.key, &target, &args.whose, |text| {
        settings::unset(text, &target).ok_or_else(|| {
            Failure::usage(format!("the file does not set `{}`", args.key))
                .hint(format!("`chronicle config {}` says where it comes from", args.key))
        })
    })
}

fn target(name: &str) -> Result<Target, Failure> {
    settings::target(name).ok_or_else(|| no_such(name))
}

/// A setting that does not exist, with the one that was probably meant.
pub(super) fn no_such(name: &str) -> Failure {
    let failure = Failure::usage(format!("there is no setting `{name}`"));
    match closest(name, KEYS.iter().map(|key| key.name)) {
        Some(meant) => failure.hint(format!("did you mean `{meant}`?")),
        None => failure.hint("`chronicle config` lists the settings"),
    }
}

fn change(
    setting: &Setting,
    key: &str,
    target: &Target,
    whose: &WhoseArgs,
    edit: impl FnOnce(&str) -> Result<String, Failure>,
) -> Result<Exit, Failure> {
    only_for_people()?;
    check_folder(setting)?;
    // What is written into the file for every project is asked for by name.
    if target.key.whose == Whose::User && !whose.user && !whose.project_file {
        return Err(Failure::usage(format!(
            "`{key}` can only be set in your own file, for every project"
        ))
        .hint("add `--user`"));
    }
    let is_users = whose.user;
    let layer = if is_users { Layer::User } else { Layer::Project };
    let files = definitions::settings_files(&setting.project);
    let Some((_, path)) = files.into_iter().find(|(it, _)| *it == layer) else {
        return Err(Failure::usage("you have no folder for settings")
            .hint("set `HOME` or `XDG_CONFIG_HOME` to an absolute folder"));
    };
    // Judged before and after: a file that was wrong already is not touched, and a value that would be wrong is never
    // written.
    let old = read(&path)?;
    let new = edit(&old)?;
    let before = judged(layer, &path, &old)?;
    let after = judged(layer, &path, &new)?;
    // Every other setting must be as it was; a file written in a way that this cannot change is left alone.
    if !is_same_but(&before, &after, key) {
        return Err(Failure::usage(format!("`{}` cannot be changed safely", path.display()))
            .hint("edit it by hand; `chronicle config` says what came of it"));
    }
    // Asked before the file is written: afterwards its content is another one, and trust goes by content.
    let was_trusted = is_trusted(setting, layer, &path, &before)?;
    definitions::save_settings(&path, &new).map_err(|error| {
        Failure::internal(format!("`{}` cannot be written", path.display()), &error)
            .hint("make it writable for you")
    })?;
    if was_trusted {
        trust::agree_to(&setting.project, [path.clone()])?;
    }
    let value = after.said(key).map(|said| said.value.to_string());
    tell(setting, &Changed { key, value, file: path.display().to_string() })?;
    Ok(Exit::Done)
}

fn read(path: &Path) -> Result<String, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Failure::usage(format!("`{}` cannot be read: {error}", path.display()))
            .hint("make it a text file that you may read")),
    }
}

/// What a text says; what is wrong with it is shown, and nothing is written.
fn judged(layer: Layer, path: &Path, text: &str) -> Result<Settings, Failure> {
    let name = path.display().to_string();
    let source =
        Source { file: None, key: String::new(), name: name.clone(), text: text.to_owned() };
    let (settings, problems) = settings::read(&[(layer, source.clone())]);
    if problems.is_empty() {
        return Ok(settings);
    }
    for problem in &problems {
        let shown =
            problems::render(std::slice::from_ref(&source), problem, terminal::has_colours());
        terminal::talk(&format!("{shown}\n"));
    }
    Err(Failure::new(
        Exit::Definition,
        format!("`{name}` would not be right, so nothing was changed"),
    )
    .with_problems(&problems)
    .hint("mend what is marked above, then try again"))
}

fn is_same_but(before: &Settings, after: &Settings, key: &str) -> bool {
    let others = |all: &Settings| -> Vec<(String, String)> {
        let rows = all.rows().into_iter().filter(|row| row.name != key);
        rows.filter_map(|row| Some((row.name, row.said?.value.to_string()))).collect()
    };
    others(before) == others(after)
}

/// Whether the project's file may stay trusted: it was, or it is new. What else is in it was not written by this command.
fn is_trusted(
    setting: &Setting,
    layer: Layer,
    path: &Path,
    settings: &Settings,
) -> Result<bool, Failure> {
    if layer == Layer::User || !path.exists() {
        return Ok(layer == Layer::Project);
    }
    let used = trust::used(&setting.project, [path.to_owned()], &[])?;
    Ok(trust::judge(&setting.project, &used, settings).is_empty())
}

fn tell(setting: &Setting, changed: &Changed<'_>) -> Result<(), Failure> {
    if setting.json {
        return json::say_document(changed);
    }
    let Changed { key, value, file } = changed;
    terminal::say(&match value {
        Some(value) => format!("{key} = {value}  ({file})"),
        None => format!("{key} is not set any more  ({file})"),
    });
    Ok(())
}
