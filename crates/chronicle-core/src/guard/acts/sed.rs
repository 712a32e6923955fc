//! `sed`, whose scripts can read and write files and run commands.

use super::invoke::Call;
use super::options::{Valued, read};
use super::state::State;
use super::value::{Field, Piece};
use super::walk::Walker;
use super::{DoubtKind, TouchKind};

const VALUED: &str = "e expression f:r file:r l line-length";

/// What a script does besides editing lines.
#[derive(Debug, PartialEq, Eq)]
enum Deed {
    Read(String),
    Write(String),
    /// A command; empty if a line of the input is run.
    Run(String),
}

impl Walker<'_> {
    pub(super) fn sed(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        // `-i` and `-E` with a suffix are letters that may hold more: what follows `i` is the suffix.
        let words: Vec<Field> = words.iter().map(without_suffix).collect();
        let (found, _) = read(&words, Valued(VALUED), false);
        let mut files = found.operands.as_slice();
        let mut scripts: Vec<Field> = found.values(&["e", "expression"]).cloned().collect();
        for file in found.values(&["f", "file"]) {
            self.touch(TouchKind::Read, file, state, "sed", call.span);
            scripts.extend(self.code_in(file, state, call));
        }
        if !found.has(&["e", "expression", "f", "file"])
            && let Some((script, more)) = files.split_first()
        {
            scripts.push(script.clone());
            files = more;
        }
        let is_open = |it: &Field| !it.is_known() && ["", "-"].contains(&it.begins());
        let may_be_option = words.iter().any(|it| is_open(it) && !scripts.contains(it));
        if found.has_unknown && may_be_option && scripts.iter().all(|it| filled_in(it).is_some()) {
            self.doubt(
                DoubtKind::Option,
                "an argument of `sed` is not known, and may be an option",
                call.span,
            );
        }
        for script in &scripts {
            self.script_of_sed(script, state, call);
        }
        let changes = found.options.iter().any(|(name, _)| {
            name == "i" || name == "I" || (name.len() > 1 && "in-place".starts_with(name.as_str()))
        });
        for file in files {
            self.touches(if changes { "rw" } else { "r" }, file, state, "sed", call);
        }
    }

    fn script_of_sed(&mut self, script: &Field, state: &State, call: Call<'_>) {
        // What is not known may be a part of a text, but not of a path or a command.
        let deeds = filled_in(script).as_deref().and_then(deeds);
        let deeds = deeds.filter(|deeds| script.is_known() || deeds.is_empty());
        let Some(deeds) = deeds else {
            self.doubt(
                DoubtKind::Code,
                "`sed` is given a script that is not known, which may run commands",
                call.span,
            );
            return;
        };
        for deed in deeds {
            match deed {
                Deed::Read(path) => {
                    self.touch(TouchKind::Read, &Field::text(&path), state, "sed", call.span);
                }
                Deed::Write(path) => {
                    self.wrote_unknown(&Field::text(&path), state);
                    self.touch(TouchKind::Write, &Field::text(&path), state, "sed", call.span);
                }
                Deed::Run(text) if text.is_empty() => {
                    self.doubt(DoubtKind::Text, "`sed` runs lines that it reads", call.span);
                }
                Deed::Run(text) => self.joined_text(&[Field::text(&text)], state, call),
            }
        }
    }
}

/// A script with a letter, or at its beginning a line number, in the place of all that the text cannot have chosen; `None` if it may have
/// chosen something that is not known.
fn filled_in(script: &Field) -> Option<String> {
    let is_chosen = |piece: &Piece| {
        matches!(
            piece,
            Piece::Unknown | Piece::Glob(_) | Piece::Listed(_) | Piece::Part | Piece::Cut(_)
        )
    };
    if script.pieces.iter().any(is_chosen) {
        return None;
    }
    let part = |piece: &Piece| {
        if let Piece::Text(text) = piece { text.clone() } else { "1".to_owned() }
    };
    // What begins it must be the number of a line, as what follows shows. Alone it may be anything.
    let ends = |text: &str| text.starts_with(|it: char| ",pdqQ=!{;".contains(it));
    let is_number = match script.pieces.as_slice() {
        [Piece::Text(_) | Piece::Number, ..] | [] => true,
        [_, Piece::Text(text), ..] => ends(text),
        _ => false,
    };
    is_number.then(|| script.pieces.iter().map(part).collect())
}

/// The option `-i.bak` as a plain `-i`.
fn without_suffix(field: &Field) -> Field {
    let Some(letters) = field.begins().strip_prefix('-').filter(|it| !it.starts_with('-')) else {
        return field.clone();
    };
    let flags = letters.bytes().take_while(|letter| b"nErsuz".contains(letter)).count();
    if letters.as_bytes().get(flags) == Some(&b'i') {
        return Field::text(&format!("-{}", letters.get(..=flags).unwrap_or_default()));
    }
    field.clone()
}

/// Reads a script; `None` if it is not understood.
fn deeds(script: &str) -> Option<Vec<Deed>> {
    let mut deeds = Vec::new();
    let letters: Vec<char> = script.chars().collect();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        at += 1;
        match letter {
            ' '
            | '\t'
            | '\n'
            | ';'
            | '{'
            | '}'
            | '!'
            | ','
            | '$'
            | '+'
            | '~'
            | '0'..='9'
            | 'I'
            | 'M'
            | 'd'
            | 'D'
            | 'p'
            | 'P'
            | 'g'
            | 'G'
            | 'h'
            | 'H'
            | 'x'
            | 'n'
            | 'N'
            | 'q'
            | 'Q'
            | '='
            | 'l'
            | 'z'
            | 'F' => {}
            '#' => line(&letters, &mut at).map(drop)?,
            '/' => until(&letters, &mut at, '/').map(drop)?,
            '\\' => {
                let mark = *letters.get(at)?;
                at += 1;
                until(&letters, &mut at, mark)?;
            }
            's' => {
                let mark = *letters.get(at)?;
                at += 1;
                until(&letters, &mut at, mark)?;
                literal(&letters, &mut at, mark)?;
                flags(&letters, &mut at, &mut deeds)?;
            }
            'y' => {
                let mark = *letters.get(at)?;
                at += 1;
                literal(&letters, &mut at, mark)?;
                literal(&letters, &mut at, mark)?;
            }
            'a' | 'i' | 'c' => text(&letters, &mut at)?,
            ':' | 'b' | 't' | 'T' | 'v' => label(&letters, &mut at),
            'r' | 'R' => deeds.push(Deed::Read(line(&letters, &mut at)?)),
            'w' | 'W' => deeds.push(Deed::Write(line(&letters, &mut at)?)),
            'e' => deeds.push(Deed::Run(line(&letters, &mut at)?)),
            _ => return None,
        }
    }
    Some(deeds)
}

/// The letters after `s/a/b/`.
fn flags(letters: &[char], at: &mut usize, deeds: &mut Vec<Deed>) -> Option<()> {
    while let Some(&letter) = letters.get(*at) {
        match letter {
            'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => *at += 1,
            'e' => {
                *at += 1;
                deeds.push(Deed::Run(String::new()));
            }
            'w' => {
                *at += 1;
                deeds.push(Deed::Write(line(letters, at)?));
            }
            ' ' | '\t' | '\n' | ';' | '}' | '#' => return Some(()),
            _ => return None,
        }
    }
    Some(())
}

/// Goes over the next mark that is not escaped; brackets hide one only in some versions, so they are not understood with it.
fn until(letters: &[char], at: &mut usize, mark: char) -> Option<()> {
    if mark == '\n' || mark == '\\' {
        return None;
    }
    let mut is_bracket = false;
    loop {
        let letter = *letters.get(*at)?;
        *at += 1;
        match letter {
            '\\' => *at += 1,
            _ if letter == mark && is_bracket => return None,
            _ if letter == mark => return Some(()),
            '[' => is_bracket = true,
            ']' => is_bracket = false,
            _ => {}
        }
    }
}

/// The same where brackets are letters like others: in what is put in place, and in lists of letters.
fn literal(letters: &[char], at: &mut usize, mark: char) -> Option<()> {
    if mark == '\n' || mark == '\\' {
        return None;
    }
    loop {
        let letter = *letters.get(*at)?;
        *at += 1;
        match letter {
            '\\' => *at += 1,
            _ if letter == mark => return Some(()),
            _ => {}
        }
    }
}

/// The rest of the line, without blanks around it.
fn line(letters: &[char], at: &mut usize) -> Option<String> {
    let rest = letters.get(*at..)?;
    let length = rest.iter().position(|it| *it == '\n').unwrap_or(rest.len());
    *at += length;
    let text: String = rest.get(..length)?.iter().collect();
    Some(text.trim().to_owned())
}

/// The text after `a`, `i` and `c`, whose lines go on after a backslash.
fn text(letters: &[char], at: &mut usize) -> Option<()> {
    loop {
        let rest = letters.get(*at..)?;
        let length = rest.iter().position(|it| *it == '\n').unwrap_or(rest.len());
        let goes_on = length > 0 && rest.get(length - 1) == Some(&'\\') && length < rest.len();
        *at += length + usize::from(length < rest.len());
        if !goes_on {
            return Some(());
        }
    }
}

fn label(letters: &[char], at: &mut usize) {
    while letters.get(*at).is_some_and(|it| !matches!(it, '\n' | ';' | '}')) {
        *at += 1;
    }
}
