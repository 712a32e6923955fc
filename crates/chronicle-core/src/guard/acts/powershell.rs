//! PowerShell: its language is not read. Only what obviously shows something is known to be harmless.

use super::TouchKind;
use super::invoke::Call;
use super::state::State;
use super::value::Field;
use super::walk::{Input, Walker};

/// Commands that show something, in lower case.
const SHOWING: [&str; 21] = [
    "get-childitem",
    "get-item",
    "get-date",
    "get-location",
    "get-process",
    "get-host",
    "get-command",
    "get-module",
    "get-help",
    "get-member",
    "get-psdrive",
    "test-path",
    "select-object",
    "sort-object",
    "measure-object",
    "format-table",
    "format-list",
    "out-string",
    "write-output",
    "write-host",
    "convertto-json",
];
/// Those that show what is in files.
const READING: [&str; 2] = ["get-content", "select-string"];

impl Walker<'_> {
    /// A call of PowerShell; whether it is known to be harmless.
    pub(super) fn powershell(
        &mut self,
        name: &str,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) -> bool {
        let known: Option<Vec<&str>> = words.iter().map(Field::known).collect();
        let Some(known) = known.filter(|_| matches!(call.input, Input::Given)) else {
            return false;
        };
        let quiet = ["-noprofile", "-nop", "-nologo", "-noninteractive", "-noni"];
        let is_quiet = |word: &str| quiet.contains(&word.to_ascii_lowercase().as_str());
        let skipped = known.iter().take_while(|word| is_quiet(word)).count();
        let rest = known.get(skipped..).unwrap_or_default();
        let Some((first, more)) = rest.split_first() else { return skipped == 0 };
        match first.to_ascii_lowercase().as_str() {
            "-v" | "-version" | "--version" | "-h" | "-help" | "--help" | "-?" => more.is_empty(),
            "-c" | "-command" => self.shows(name, &more.join(" "), state, call),
            "-f" | "-file" => self.script_of_powershell(name, words, skipped + 1, state, call),
            word if word.rsplit_once('.').is_some_and(|(_, end)| end == "ps1") => {
                self.script_of_powershell(name, words, skipped, state, call)
            }
            _ => false,
        }
    }

    /// A script that is there already is one like any other.
    fn script_of_powershell(
        &mut self,
        name: &str,
        words: &[Field],
        at: usize,
        state: &State,
        call: Call<'_>,
    ) -> bool {
        let Some(file) = words.get(at) else { return false };
        if file.known() == Some("-") || self.code_in(file, state, call).is_some() {
            return false;
        }
        self.touch(TouchKind::Read, file, state, name, call.span);
        self.maybe(words.get(at + 1..).unwrap_or_default(), state, name, call.span);
        true
    }

    fn shows(&mut self, name: &str, text: &str, state: &State, call: Call<'_>) -> bool {
        if text.strip_prefix("$PSVersionTable").is_some_and(is_member) {
            return true;
        }
        let is_plain =
            |letter: char| letter.is_ascii_alphanumeric() || "-_./,:'\" |".contains(letter);
        if !text.chars().all(is_plain) {
            return false;
        }
        for (at, part) in text.split('|').enumerate() {
            let mut words = part.split([' ', ',']).filter(|word| !word.is_empty());
            let command = words.next().unwrap_or_default().to_ascii_lowercase();
            // What another command hands over may be any file.
            let reads = at == 0 && READING.contains(&command.as_str());
            if !reads && !SHOWING.contains(&command.as_str()) {
                return false;
            }
            let words: Vec<Field> =
                words.map(|it| Field::text(it.trim_matches(['"', '\'']))).collect();
            self.maybe(&words, state, name, call.span);
        }
        true
    }
}

fn is_member(rest: &str) -> bool {
    rest.is_empty()
        || rest.starts_with('.') && rest.chars().all(|it| it.is_alphanumeric() || it == '.')
}
