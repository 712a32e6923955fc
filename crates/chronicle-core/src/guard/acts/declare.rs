//! Commands of the shell that set variables, functions and aliases.

use super::invoke::Call;
use super::state::State;
use super::value::{Field, Piece, Value};
use super::walk::{Dialect, Input, Walker, Ways};
use super::{DoubtKind, TouchKind};
use crate::base::bash::is_identifier;

pub(super) const DECLARING: &[&str] = &["declare", "typeset", "local", "export", "readonly"];

impl Walker<'_> {
    pub(super) fn declared(
        &mut self,
        name: &str,
        words: &[Field],
        state: &mut State,
        call: Call<'_>,
    ) -> Option<Ways> {
        match name {
            _ if DECLARING.contains(&name) => self.declaration(name, words, state, call),
            "unset" => self.unset(words, state, call),
            "read" => self.read_into(words, "adinNptu", "REPLY", state, call),
            "mapfile" | "readarray" => self.read_into(words, "dnOsuCc", "MAPFILE", state, call),
            "getopts" => {
                self.read_into(words.get(1..).unwrap_or_default(), "", "REPLY", state, call);
                state.variables.insert("OPTARG".to_owned(), Value::unknown());
            }
            "printf" => self.printed(words, state, call),
            "wait" => {
                if let [option, variable, ..] = words
                    && option.known() == Some("-p")
                {
                    self.given_name(variable, Value::unknown(), state, call);
                }
            }
            "let" => {
                for word in words {
                    self.evaluated(word, state, call.span, 0);
                }
            }
            "alias" => self.alias(words, state, call),
            "unalias" => {
                // Only those that are certain to be gone are forgotten: none.
            }
            "test" | "[" => {
                self.tested(words, state, call);
            }
            _ => return None,
        }
        Some(Ways::same(state))
    }

    fn declaration(&mut self, by: &str, words: &[Field], state: &mut State, call: Call<'_>) {
        let (mut is_shown, mut is_handed) = (false, by == "export");
        for word in words {
            let text = word.begins().to_owned();
            if text.len() > 1 && text.starts_with(['-', '+']) && word.is_known() {
                let has = |letters: &str| text.chars().any(|letter| letters.contains(letter));
                is_shown |= has("pfF");
                is_handed = is_handed && !has("n") || text.starts_with('-') && has("x");
                state.has_integers |= has("i");
                if has("nluc") && by != "export" {
                    self.doubt(
                        DoubtKind::Variable,
                        "a variable is declared to change its values, or to stand for another",
                        call.span,
                    );
                }
                continue;
            }
            if is_shown {
                continue;
            }
            let (name, has_value) = match text.split_once('=') {
                Some((name, _)) => (name, true),
                None => (text.as_str(), false),
            };
            let is_appended = name.ends_with('+');
            let name = name.trim_end_matches('+').to_owned();
            if !is_identifier(&name) || (!has_value && !word.is_known()) {
                self.named(word, state, call.span);
                if !word.is_known() || !name.contains('[') {
                    self.doubt(
                        DoubtKind::Variable,
                        "which variable is set is not known",
                        call.span,
                    );
                }
                continue;
            }
            if is_handed {
                state.handed.insert(name.clone());
            }
            if by != "export" && by != "readonly" {
                let before = state.variables.get(&name).cloned();
                if let Some(locals) = self.locals.last_mut() {
                    locals.entry(name.clone()).or_insert(before);
                }
            }
            if has_value {
                let mut value = word.after(name.len() + 1 + usize::from(is_appended));
                if is_appended {
                    let mut now = match self.value(&name, state) {
                        Value::One(now) => now,
                        Value::List(_) | Value::Unset => Field::unknown(),
                    };
                    now.extend(&value);
                    value = now;
                }
                self.assign(&name, Value::One(value), state, call.span);
            } else if by == "local"
                || !matches!(by, "export" | "readonly") && !self.returns.is_empty()
            {
                self.assigned.push((name.clone(), Value::Unset));
                state.variables.insert(name, Value::Unset);
            }
        }
    }

    fn unset(&mut self, words: &[Field], state: &mut State, call: Call<'_>) {
        for word in words {
            self.named(word, state, call.span);
            match word.known() {
                Some(text) if text.starts_with('-') => {}
                Some(text) => {
                    let name = text.split('[').next().unwrap_or(text);
                    let is_whole = name == text;
                    let value = if is_whole { Value::Unset } else { Value::unknown() };
                    self.assigned.push((name.to_owned(), value.clone()));
                    state.variables.insert(name.to_owned(), value);
                    // Without `-v` a function of that name may be meant.
                    if let Some(function) = state.functions.get_mut(name) {
                        function.is_certain = false;
                    }
                }
                None => state.lose(),
            }
        }
    }

    /// `read` and others that set the variables that they are given.
    fn read_into(
        &mut self,
        words: &[Field],
        valued: &str,
        usual: &str,
        state: &mut State,
        call: Call<'_>,
    ) {
        let mut rest = words.iter();
        let mut has_name = false;
        let mut names: Vec<&str> = Vec::new();
        let mut letters_seen = String::new();
        while let Some(word) = rest.next() {
            let text = word.begins();
            let is_option = text.len() > 1 && text.starts_with('-') && !has_name;
            if is_option {
                let letters = text.get(1..).unwrap_or_default();
                letters_seen.push_str(letters);
                let Some(at) = letters.find(|letter| valued.contains(letter)) else { continue };
                let letter = letters.get(at..=at).unwrap_or_default();
                let attached = word.after(at + 2);
                let value = if at + 1 < letters.len() || !word.is_known() {
                    Some(attached)
                } else {
                    rest.next().cloned()
                };
                match (letter, value) {
                    ("a", Some(value)) => {
                        self.given_name(&value, Value::unknown(), state, call);
                        has_name = true;
                    }
                    ("C", Some(value)) => match value.known() {
                        Some(text) => {
                            let mut own = state.clone();
                            own.lose();
                            self.text(text, &mut own, &Input::Piped, Dialect::Bash, call.span);
                        }
                        None => self.doubt(
                            DoubtKind::Text,
                            "a text that is not known is run for each line",
                            call.span,
                        ),
                    },
                    _ => {}
                }
                continue;
            }
            has_name = true;
            names.extend(word.known());
            let is_elsewhere = letters_seen.contains('u') || usual != "REPLY";
            let value = if is_elsewhere { Value::unknown() } else { self.read_from(call.input) };
            self.given_name(word, value, state, call);
        }
        if !has_name {
            state.variables.insert(usual.to_owned(), Value::unknown());
        }
        let is_whole = words.iter().all(Field::is_known) && !letters_seen.contains(['a', 'u']);
        let name = match names.as_slice() {
            [] if !has_name => Some(usual),
            [name] => Some(*name),
            _ => None,
        };
        if let Some(name) = name.filter(|name| is_whole && usual == "REPLY" && is_identifier(name))
            && let Some(value) = line_read(call.input, &letters_seen)
        {
            self.assign(name, Value::One(value), state, call.span);
        }
    }

    /// What `read` gets: nothing that a text chose which has written nothing, if it comes from a file.
    fn read_from(&self, input: &Input) -> Value {
        match input {
            Input::File if self.is_old_source() => Value::One(Field::of(Piece::Line)),
            Input::File if !self.has_changed => Value::One(Field::of(Piece::Given)),
            // One of the names that are there.
            Input::Text(text) if matches!(text.pieces.as_slice(), [Piece::Glob(_)]) => {
                Value::One(text.clone())
            }
            Input::Given | Input::Piped | Input::Text(_) | Input::File | Input::Listed(_) => {
                Value::unknown()
            }
        }
    }

    /// The name of a variable that gets a value which is not known.
    fn given_name(&mut self, name: &Field, value: Value, state: &mut State, call: Call<'_>) {
        self.named(name, state, call.span);
        if let Some(text) = name.known() {
            let name = text.split('[').next().unwrap_or(text).to_owned();
            self.assign(&name, value, state, call.span);
        } else {
            self.doubt(DoubtKind::Variable, "which variable is set is not known", call.span);
            state.lose();
        }
    }

    fn printed(&mut self, words: &[Field], state: &mut State, call: Call<'_>) {
        match words {
            [first, name, rest @ ..] if first.known() == Some("-v") => {
                self.given_name(name, filled_in(rest), state, call);
            }
            [first, rest @ ..] if first.begins().starts_with("-v") => {
                let name = first.after(2);
                self.given_name(&name, filled_in(rest), state, call);
            }
            [first, ..]
                if !first.is_known() && first.begins().is_empty()
                // Could be `-v` only if a name follows, which then is named as well.
                && words.len() > 1
                    && first.pieces.iter().all(|piece| matches!(piece, Piece::Unknown | Piece::Read)) =>
            {
                state.lose();
            }
            _ => {}
        }
    }

    fn alias(&mut self, words: &[Field], state: &mut State, call: Call<'_>) {
        const WORDS: &[&str] = &[
            "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until",
            "do", "done", "in", "function", "time", "coproc", "{", "}", "!", "[[", "]]",
        ];
        for word in words {
            let Some(text) = word.known() else {
                self.doubt(
                    DoubtKind::Command,
                    "an alias that is not known changes which commands run",
                    call.span,
                );
                continue;
            };
            let Some((name, value)) = text.split_once('=') else { continue };
            let is_plain = !WORDS.contains(&name)
                && !value.ends_with([' ', '\t', '\n', '\\'])
                && !value.contains("<<")
                && !value.contains('#')
                && crate::base::bash::read(value).is_ok();
            if !is_plain {
                self.doubt(DoubtKind::Command, "an alias changes how commands are read", call.span);
            }
            let texts = state.aliases.entry(name.to_owned()).or_default();
            if !texts.iter().any(|text| text == value) {
                texts.push(value.to_owned());
            }
        }
    }

    /// `test` and `[`: names of files are looked at, and `-v` names a variable.
    fn tested(&mut self, words: &[Field], state: &mut State, call: Call<'_>) {
        for pair in words.windows(2) {
            let [operator, operand] = pair else { continue };
            match operator.known() {
                Some("-v" | "-R") => self.named(operand, state, call.span),
                Some(text)
                    if text.len() == 2
                        && text.starts_with('-')
                        && "abcdefghkprstuwxGLNOS".contains(text.get(1..).unwrap_or("-")) =>
                {
                    self.touch(TouchKind::List, operand, state, "test", call.span);
                }
                _ => {}
            }
        }
    }
}

/// What `read` gets, if there is one line at most, or names that a program found.
fn line_read(input: &Input, letters: &str) -> Option<Field> {
    match input {
        Input::Listed(listing) => Some(Field::of(Piece::Listed(listing.clone()))),
        Input::Text(text) => {
            let line = text.known()?;
            let line = line.strip_suffix('\n').unwrap_or(line);
            let is_one = !line.contains(['\n', '\\']) && line.trim() == line;
            (is_one && !letters.contains(['d', 'n', 'N'])).then(|| Field::text(line))
        }
        Input::Given | Input::Piped | Input::File => None,
    }
}

/// What `printf` makes of a format that only puts known words into a text.
fn filled_in(words: &[Field]) -> Value {
    let known: Option<Vec<&str>> = words.iter().map(Field::known).collect();
    let text = known.as_deref().and_then(|known| match known.split_first() {
        Some((format, rest)) => {
            let is_plain = !format.contains('\\') && !format.starts_with('-');
            let has_only_words = format.split('%').skip(1).all(|it| it.starts_with('s'));
            super::written::formatted(format, rest).filter(|_| is_plain && has_only_words)
        }
        None => None,
    });
    text.map_or_else(Value::unknown, |text| Value::One(Field::text(&text)))
}
