//! Commands for editors that work on lines: `ed`, `ex`, and `vim` without a screen. Those that only change the text are ordinary.

use std::borrow::Cow;

use super::invoke::Call;
use super::options::Read;
use super::state::State;
use super::value::Field;
use super::walk::{Input, Walker};
use super::{DoubtKind, TouchKind};

/// Settings of `vim` that change how a text is laid out, and start nothing.
const SETTINGS: &[&str] = &[
    "ff",
    "fileformat",
    "et",
    "noet",
    "expandtab",
    "noexpandtab",
    "ts",
    "tabstop",
    "sw",
    "shiftwidth",
    "sts",
    "nomodeline",
    "noswapfile",
    "nobackup",
    "nowritebackup",
    "ic",
    "noic",
    "ignorecase",
    "fixeol",
    "nofixeol",
    "eol",
    "noeol",
    "bomb",
    "nobomb",
    "fenc",
    "fileencoding",
    "nocompatible",
    "nomore",
    "tw",
    "textwidth",
    "hidden",
];

/// True for a program that takes commands for lines.
pub(super) fn is_editor(name: &str) -> bool {
    matches!(name, "ed" | "ex" | "vi" | "vim" | "nvim" | "view")
}

/// The words of an editor without `-s` where it only means to be silent: elsewhere it is a file.
pub(super) fn words_of<'f>(name: &str, words: &'f [Field]) -> Cow<'f, [Field]> {
    let is_lines = |it: &Field| matches!(it.known(), Some("-e" | "-E" | "-es" | "-Es"));
    if !is_editor(name) || name != "ed" && !words.iter().any(is_lines) {
        return Cow::Borrowed(words);
    }
    let plain = |it: &Field| match it.known() {
        Some("-es" | "-Es") => Some(Field::text("-e")),
        Some("-s") => None,
        _ => Some(it.clone()),
    };
    Cow::Owned(words.iter().filter_map(plain).collect())
}

impl Walker<'_> {
    /// Commands that an editor is given by options, by words with a plus, or to read.
    pub(super) fn edited(&mut self, name: &str, found: &Read, state: &State, call: Call<'_>) {
        let mut given: Vec<&Field> = found.values(&["c", "cmd"]).collect();
        let by_plus: Vec<Field> = found
            .operands
            .iter()
            .filter(|it| it.begins().starts_with('+'))
            .map(|it| it.after(1))
            .collect();
        given.extend(&by_plus);
        let reads = matches!(name, "ed" | "ex") || found.has(&["e", "s", "es"]);
        let is_plain = |text: &str| text.lines().all(|line| plain(line, name == "ed"));
        let mut is_known = given.iter().all(|it| it.known().is_some_and(is_plain));
        if reads {
            is_known &= match call.input {
                Input::Given => true,
                Input::Text(text) => text.known().is_some_and(|text| lines_of(text, name == "ed")),
                Input::Piped | Input::File | Input::Listed(_) => false,
            };
        }
        // A file with commands for `vim`.
        for file in found.values(&["S", "s"]) {
            self.touch(TouchKind::Read, file, state, name, call.span);
            is_known = false;
        }
        if !is_known {
            let why = format!("`{name}` is given commands of its own");
            self.doubt(DoubtKind::Code, &why, call.span);
        }
    }
}

/// True if all lines that an editor reads only change its text. Lines that are put in follow some commands, up to a dot.
fn lines_of(text: &str, is_ed: bool) -> bool {
    let mut puts_in = false;
    for line in text.lines() {
        if puts_in {
            puts_in = line != ".";
            continue;
        }
        let command = without_address(line.trim());
        if command.is_some_and(|it| ["a", "i", "c"].contains(&it)) {
            puts_in = true;
        } else if !plain(line, is_ed) {
            return false;
        }
    }
    true
}

/// True if a command only changes the text that is edited, or writes it where it came from.
fn plain(line: &str, is_ed: bool) -> bool {
    let Some(command) = without_address(line.trim()) else { return false };
    let name: &str = {
        let end = command.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(command.len());
        &command[..end]
    };
    let rest = &command[name.len()..];
    if let ("g" | "v" | "global" | "vglobal", Some(inner)) = (name, after_pattern(rest)) {
        return inner.trim().is_empty() || plain(inner, is_ed);
    }
    let is_substitution = ["s", "substitute"].contains(&name) || command.starts_with("s/");
    if is_substitution && let Some(parts) = substitution(rest) {
        let (replaced, flags) = parts;
        let after = flags.trim_start_matches(|it: char| it.is_ascii_alphanumeric() || it == '&');
        return !replaced.contains("\\=") && follows(after, is_ed);
    }
    match name {
        "" => rest.is_empty() || rest.starts_with('"'),
        "w" | "q" | "wq" | "x" | "wqa" | "qa" | "xa" | "wa" | "Q" | "cq" => {
            follows(rest.strip_prefix('!').unwrap_or(rest), is_ed)
        }
        "d" | "delete" | "p" | "n" | "l" | "j" | "join" | "u" | "k" | "H" | "h" | "P" | "sort"
        | "retab" | "nohl" => {
            let is_mild = |it: char| it.is_ascii_alphanumeric() || " /".contains(it);
            let end = rest.find(|it: char| !is_mild(it)).unwrap_or(rest.len());
            follows(rest[end..].trim_start_matches('!'), is_ed)
        }
        "m" | "t" | "copy" | "move" => {
            rest.chars().all(|it| it.is_ascii_digit() || " .$+-".contains(it))
        }
        "normal" | "norm" if !is_ed => {
            // Keys may lead to a line of commands, a filter or a macro.
            !rest.contains([':', '@', '|'])
                && !rest.trim_start_matches('!').contains('!')
                && !rest.contains(char::is_control)
        }
        "set" | "setlocal" | "se" if !is_ed => rest.split_whitespace().all(|word| {
            let (setting, value) = word.split_once('=').unwrap_or((word, ""));
            SETTINGS.contains(&setting)
                && value.chars().all(|it| it.is_ascii_alphanumeric() || it == '-')
        }),
        _ => false,
    }
}

/// True if nothing follows a command, or a further one that is plain.
fn follows(rest: &str, is_ed: bool) -> bool {
    let rest = rest.trim();
    match rest.strip_prefix('|').filter(|_| !is_ed) {
        Some(next) => plain(next, is_ed),
        None => rest.is_empty(),
    }
}

/// A command without the lines that it is about; `None` if these are not understood.
fn without_address(line: &str) -> Option<&str> {
    let mut rest = line.trim_start_matches(':').trim_start();
    loop {
        rest = rest.trim_start_matches(|it: char| it.is_ascii_digit() || ".,;$%+- ".contains(it));
        match rest.chars().next() {
            Some('/' | '?') => rest = after_pattern(rest)?,
            Some('\'') => rest = rest.get(2..)?,
            _ => return Some(rest),
        }
    }
}

/// What follows a pattern between two of the same signs.
fn after_pattern(text: &str) -> Option<&str> {
    let text = text.trim_start_matches('!');
    let sign = text.chars().next().filter(char::is_ascii_punctuation)?;
    let end = end_of(&text[1..], sign)?;
    text.get(end + 2..)
}

/// What a substitution puts in the place of what it finds, and its flags.
fn substitution(text: &str) -> Option<(&str, &str)> {
    let sign =
        text.chars().next().filter(|it| it.is_ascii_punctuation() && !"\\\"|".contains(*it))?;
    let rest = &text[1..];
    let after = rest.get(end_of(rest, sign)? + 1..)?;
    let end = end_of(after, sign).unwrap_or(after.len());
    Some((&after[..end], after.get(end + 1..).unwrap_or_default()))
}

fn end_of(text: &str, sign: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, letter)| {
        let ends = letter == sign && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends.then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_only_change_the_text_are_plain() {
        for line in [
            "1d",
            ",s/a/b/g",
            "w",
            "q",
            "wq",
            "g/x/d",
            "%s/a/b/ge | wq",
            "norm gg=G",
            "/x/,/y/d",
            "$d",
            "x",
            "wq!",
            "set ff=unix",
            "2,5p",
            "g/a/s/b/c/",
            "%s#/a/#/b/#g",
            "v/x/d",
            "",
            "retab",
            "sort u",
            "1,3m5",
        ] {
            assert!(plain(line, false), "{line}");
        }
        for line in [
            "!ls",
            "r !ls",
            "w x",
            "w !sh",
            "e x",
            "%!sort",
            "norm :!ls",
            "s/a/\\=system('x')/",
            "source x",
            "exe 'x'",
            "call system('x')",
            "g/x/!ls",
            "1,$w! x",
            "so x",
            "set shell=x",
            "lua x",
            "py3 x",
            "q | !ls",
            "terminal",
            "d | !ls",
            "norm @a",
        ] {
            assert!(!plain(line, false), "{line}");
        }
        assert!(lines_of("1i\n!not a command\n.\nw\nq", true));
        assert!(!lines_of("1i\nx\n.\n!ls", true) && !lines_of("w x", true));
    }
}
