//! Commands that print a folder: of a path, of where they are, or of where they went.

use super::state::State;
use super::value::{Field, Piece};
use super::walk::{Input, Walker};
use crate::base::bash::tree::{Command, Joint, Script, What};

/// What `dirname`, `realpath` and `readlink -f` print, and `ls` of a folder; `None` if it is not known.
pub(super) fn named(program: &str, words: &[Field], state: &State) -> Option<Field> {
    match program {
        "dirname" => match words {
            [path] => above(path),
            _ => None,
        },
        "realpath" | "readlink" => {
            let (options, paths): (Vec<&Field>, Vec<&Field>) =
                words.iter().partition(|it| it.begins().starts_with('-'));
            let is_whole = |it: &&Field| {
                ["-f", "-e", "-m", "-s", "--canonicalize"].contains(&it.known().unwrap_or("?"))
            };
            let resolves = program == "realpath" || !options.is_empty();
            let [path] = paths.as_slice() else { return None };
            let path = path.known().filter(|_| resolves && options.iter().all(is_whole))?;
            // Where another one leads only the disk knows.
            let is_here = path.split('/').all(|name| ["", ".", ".."].contains(&name));
            let folder = state.folder().filter(|_| is_here && !path.starts_with('/'))?;
            Some(Field::text(&format!("{folder}/{path}")))
        }
        // Names of whatever is there, one on each line.
        "ls" => {
            let is_usual = |it: &Field| {
                let letters = it.known().and_then(|it| it.strip_prefix('-'));
                letters.is_some_and(|it| it.chars().all(|letter| "1trSv".contains(letter)))
            };
            words.iter().all(is_usual).then(|| Field::of(Piece::Glob("*".to_owned())))
        }
        _ => None,
    }
}

/// The folder of a path, as far as its end is known.
fn above(path: &Field) -> Option<Field> {
    if let Some(text) = path.known() {
        return Some(Field::text(folder_of(text)));
    }
    let (last, before) = path.pieces.split_last()?;
    let Piece::Text(text) = last else { return None };
    let (folder, name) = text.rsplit_once('/').filter(|(_, name)| !name.is_empty())?;
    let is_plain = !name.contains(char::is_whitespace);
    let mut field = Field { pieces: before.to_vec(), ..Field::default() };
    field.push_text(folder);
    is_plain.then_some(field)
}

fn folder_of(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit_once('/') {
        Some((folder, _)) if folder.trim_end_matches('/').is_empty() => "/",
        Some((folder, _)) => folder.trim_end_matches('/'),
        None if trimmed.is_empty() && !path.is_empty() => "/",
        None => ".",
    }
}

impl Walker<'_> {
    /// The folder that commands print which only go there: `cd folder && pwd`.
    pub(super) fn gone_to(&mut self, script: &Script, state: &State) -> Option<Field> {
        let mut all: Vec<&Command> = Vec::new();
        for item in &script.items {
            let rest = item.rest.iter();
            if item.is_background || rest.clone().any(|(joint, _)| *joint != Joint::And) {
                return None;
            }
            for pipeline in std::iter::once(&item.first).chain(rest.map(|(_, it)| it)) {
                let [command] = pipeline.commands.as_slice() else { return None };
                all.push(command);
            }
        }
        let (last, before) = all.split_last()?;
        let goes = before.iter().all(|command| first_of(command) == Some("cd"));
        if before.is_empty() || !goes || !is_pwd(last) {
            return None;
        }
        let mut own = state.clone();
        for command in before {
            let ways = self.command(command, &mut own, &Input::Given);
            own.folders = ways.done;
        }
        own.folder().map(Field::text)
    }
}

fn first_of(command: &Command) -> Option<&str> {
    let What::Simple { words, .. } = &command.what else { return None };
    words.first().and_then(|word| word.plain())
}

fn is_pwd(command: &Command) -> bool {
    let What::Simple { words, sets, .. } = &command.what else { return false };
    let is_alone = words.len() == 1 && sets.is_empty() && command.redirections.is_empty();
    is_alone && first_of(command) == Some("pwd")
}
