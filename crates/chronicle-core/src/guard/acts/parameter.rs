//! What `$x` and `${x…}` stand for.

use super::super::globs::fits;
use super::expand::Got;
use super::state::State;
use super::value::{Field, Piece, Value};
use super::walk::Walker;
use super::{ByteSpan, DoubtKind};
use crate::base::bash::tree::{Parameter, Part};

/// Longest text of which parts are cut off by a pattern.
const CUT_MAX: usize = 512;

/// Variables whose values are numbers unless the text sets them.
const NUMBERS: &[&str] = &[
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "UID",
    "EUID",
    "PPID",
    "BASHPID",
    "EPOCHSECONDS",
    "OPTIND",
    "SHLVL",
    "COLUMNS",
    "LINES",
    "#",
    "?",
    "$",
    "!",
];

/// Variables that every shell is given, so that they are not empty.
const USUAL: &[&str] =
    &["PATH", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "HOSTNAME", "BASH", "BASH_VERSION", "0"];

impl Walker<'_> {
    pub(super) fn parameter(
        &mut self,
        it: &Parameter,
        state: &mut State,
        span: ByteSpan,
        is_double: bool,
    ) -> Got {
        let is_all = it.index.as_deref().is_some_and(is_every);
        if let Some(index) = it.index.as_deref().filter(|_| !is_all) {
            self.expression(index, state, span);
        }
        if it.operator == "@" && !is_harmless_transformation(&it.operand) {
            self.doubt(
                DoubtKind::Text,
                "a variable's value is expanded as a prompt, which may run commands",
                span,
            );
        }
        if it.is_indirect {
            return self.indirect(it, state, span);
        }
        if it.is_length {
            return Got::One(Field::of(Piece::Number));
        }
        let value = self.value(&it.name, state);
        if it.operator.is_empty() {
            return plain_value(&it.name, value, it.index.as_deref(), is_all, is_double);
        }
        self.operated(it, &value, state, span)
    }

    /// `${x:-word}` and its kin.
    pub(super) fn operated(
        &mut self,
        it: &Parameter,
        value: &Value,
        state: &mut State,
        span: ByteSpan,
    ) -> Got {
        if it.operator == ":" {
            self.expression(&it.operand, state, span);
            return Got::One(cut(value, &it.operand).unwrap_or_else(Field::unknown));
        }
        let operand = self.single(&it.operand, state, span);
        let now = match value {
            Value::One(field) if it.index.is_none() => Some(field.clone()),
            Value::Unset => Some(Field::default()),
            Value::One(_) | Value::List(_) => None,
        };
        let has_colon = it.operator.starts_with(':');
        let is_unset = matches!(value, Value::Unset);
        let is_missing = now
            .as_ref()
            .and_then(Field::known)
            .map(|text| is_unset || has_colon && text.is_empty());
        let now = now.unwrap_or_else(Field::unknown);
        // Either of the two is a folder for a while.
        let is_temp = now.pieces == [Piece::Temp] && operand.known() == Some(super::output::TEMP);
        if is_temp && matches!(it.operator.as_str(), ":-" | "-") {
            return Got::One(operand);
        }
        Got::One(match (it.operator.as_str(), is_missing) {
            (":-" | "-" | ":=" | "=", Some(false)) | (":?" | "?", _) => now,
            (":-" | "-", Some(true)) | (":+" | "+", Some(false)) => operand,
            (":=" | "=", is_missing) => {
                let value = if is_missing == Some(true) { operand } else { Field::unknown() };
                self.assign(&it.name, Value::One(value.clone()), state, span);
                value
            }
            (":+" | "+", Some(true)) => Field::default(),
            ("," | ",," | "^" | "^^", _) if it.operand.is_empty() => {
                now.known().map_or_else(Field::unknown, |now| in_case(now, &it.operator))
            }
            ("%" | "%%" | "#" | "##", _) => super::cut::of_pattern(&now, it, state.has_dotglob)
                .unwrap_or_else(|| trimmed(&now, &operand, it)),
            ("/" | "//", _) => replaced(&now, it).unwrap_or_else(Field::unknown),
            _ => Field::unknown(),
        })
    }

    pub(super) fn indirect(&mut self, it: &Parameter, state: &mut State, span: ByteSpan) -> Got {
        self.single(&it.operand, state, span);
        // `${!list[@]}` gives indices, `${!prefix*}` names.
        if it.index.is_some() {
            return Got::One(Field::unknown());
        }
        let value = self.value(&it.name, state);
        let name = match &value {
            Value::One(field) => field.known().map(str::to_owned),
            Value::List(_) | Value::Unset => None,
        };
        let is_given = matches!(&value, Value::One(field) if matches!(field.pieces.as_slice(), [Piece::Given | Piece::Line]));
        match name {
            Some(name) if crate::base::bash::is_identifier(&name) && it.operator.is_empty() => {
                match self.value(&name, state) {
                    Value::One(field) => Got::One(field),
                    Value::List(_) | Value::Unset => Got::One(Field::unknown()),
                }
            }
            Some(name) if crate::base::bash::is_identifier(&name) => Got::One(Field::unknown()),
            None if is_given => Got::One(Field::unknown()),
            Some(name) => {
                // A member of a list, whose index is evaluated.
                self.named(&Field::text(&name), state, span);
                Got::One(Field::unknown())
            }
            None => {
                self.doubt(
                    DoubtKind::Number,
                    "a variable names another one in a way that may run commands",
                    span,
                );
                Got::One(Field::unknown())
            }
        }
    }

    /// What is taken for a variable that nobody set, where such ones are taken to be empty.
    fn emptied(&self, name: &str, state: &State) -> Option<Value> {
        let has_own = ["HOME", "PWD", "IFS", "TMPDIR", "_", "REPLY"].contains(&name);
        let is_usual = has_own || USUAL.contains(&name) || NUMBERS.contains(&name);
        let is_argument = matches!(name, "@" | "*") || name.parse::<usize>().is_ok();
        let is_told = is_argument && state.arguments.is_some() && !self.is_at_top(name, state);
        if !self.is_emptied || is_usual || is_told {
            return None;
        }
        Some(match name {
            "@" | "*" => Value::List(Vec::new()),
            // Most likely where it began.
            "OLDPWD" => {
                self.setting.folder.map_or(Value::unknown(), |it| Value::One(Field::text(it)))
            }
            _ => Value::Unset,
        })
    }

    /// True for `$1` and the like where nobody handed words over: a person is asked about what is made of one, as it is most likely a slip.
    fn is_at_top(&self, name: &str, state: &State) -> bool {
        let is_none = state.arguments.as_ref().is_some_and(Vec::is_empty);
        is_none && name.parse::<usize>().is_ok() && self.calls.is_empty() && self.place.is_none()
    }

    /// What a variable or a special parameter holds.
    pub(super) fn value(&self, name: &str, state: &State) -> Value {
        if let Some(value) = state.variables.get(name) {
            return value.clone();
        }
        let given =
            Value::One(Field::of(if state.is_lost { Piece::Unknown } else { Piece::Given }));
        if let Some(value) = self.emptied(name, state) {
            return value;
        }
        match name {
            "@" | "*" => match &state.arguments {
                Some(fields) => Value::List(fields.clone()),
                None => given,
            },
            "PWD" => match state.folder() {
                Some(folder) => Value::One(Field::text(folder)),
                None => Value::unknown(),
            },
            "HOME" => Value::One(self.home(state)),
            "IFS" if !state.is_lost => Value::One(Field::text(" \t\n")),
            "TMPDIR" if !state.is_lost => Value::One(Field::of(Piece::Temp)),
            "OLDPWD" | "_" | "REPLY" | "BASH_REMATCH" | "PIPESTATUS" | "OPTARG"
            | "BASH_COMMAND" => Value::unknown(),
            _ if NUMBERS.contains(&name) && !state.is_lost => Value::One(Field::of(Piece::Number)),
            _ => match (name.parse::<usize>(), &state.arguments) {
                (Ok(0) | Err(_), _) | (_, None) => given,
                _ if self.is_at_top(name, state) => given,
                (Ok(index), Some(fields)) => {
                    fields.get(index - 1).map_or(Value::Unset, |field| Value::One(field.clone()))
                }
            },
        }
    }
}

/// The value of a parameter without an operator.
fn plain_value(
    name: &str,
    value: Value,
    index: Option<&[Part]>,
    is_all: bool,
    is_double: bool,
) -> Got {
    match value {
        Value::Unset => Got::One(Field::default()),
        Value::One(field) if index.is_none() || is_all => Got::One(field),
        Value::One(_) => Got::One(Field::unknown()),
        Value::List(fields) => {
            let number = match index {
                Some([Part::Plain(text)]) if !is_all => text.parse::<usize>().ok(),
                _ => None,
            };
            let is_joined =
                name == "*" || matches!(index, Some([Part::Plain(text)]) if text == "*");
            match (index, number) {
                _ if (is_all || matches!(name, "@" | "*")) && !(is_double && is_joined) => {
                    Got::Many(fields)
                }
                _ if is_all || matches!(name, "@" | "*") => Got::One(together(&fields)),
                (None, _) => Got::One(fields.into_iter().next().unwrap_or_default()),
                (Some(_), Some(number)) => {
                    Got::One(fields.into_iter().nth(number).unwrap_or_default())
                }
                (Some(_), None) => Got::One(Field::unknown()),
            }
        }
    }
}

/// Several words as one, with blanks between them unless `IFS` says otherwise.
pub(super) fn together(fields: &[Field]) -> Field {
    if let [field] = fields {
        return field.clone();
    }
    if fields.is_empty() { Field::default() } else { Field::unknown() }
}

/// `${x:1}` and `${x:1:2}` of a text that is known.
fn cut(value: &Value, operand: &[Part]) -> Option<Field> {
    let (Value::One(field), [Part::Plain(numbers)]) = (value, operand) else { return None };
    let (from, count) = numbers
        .split_once(':')
        .map_or((numbers.as_str(), None), |(from, count)| (from, Some(count)));
    let from: usize = from.parse().ok()?;
    let count: usize = count.map_or(Some(usize::MAX), |count| count.parse().ok())?;
    let kept: String = field.known()?.chars().skip(from).take(count).collect();
    Some(Field::text(&kept))
}

/// `${x,,}` and its kin: all letters, or the first one, in the other case.
fn in_case(text: &str, operator: &str) -> Field {
    let changed = |text: &str| match operator {
        "," | ",," => text.to_lowercase(),
        _ => text.to_uppercase(),
    };
    let length = text.chars().next().map_or(0, char::len_utf8);
    let (first, rest) = text.split_at(if operator.len() == 1 { length } else { text.len() });
    Field::text(&format!("{}{rest}", changed(first)))
}

/// `${x/a/b}` of a text that is known, if both are plain letters.
fn replaced(now: &Field, it: &Parameter) -> Option<Field> {
    let [Part::Plain(operand) | Part::Quoted(operand)] = it.operand.as_slice() else { return None };
    let (is_every, operand) = match operand.strip_prefix('/') {
        Some(rest) => (true, rest),
        None => (it.operator == "//", operand.as_str()),
    };
    let (from, to) = operand.split_once('/').unwrap_or((operand, ""));
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
    let is_text = !from.is_empty() && from.chars().all(is_plain);
    if !is_text || !to.chars().all(|letter| is_plain(letter) || letter == '/') {
        return None;
    }
    let now = now.known()?;
    Some(Field::text(&if is_every { now.replace(from, to) } else { now.replacen(from, to, 1) }))
}

/// A text without the shortest or longest part at one end that a pattern stands for.
fn without_pattern<'t>(text: &'t str, pattern: &str, operator: &str) -> &'t str {
    let places = || text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let at_end = |at: &usize| fits(pattern, &text[*at..]);
    let at_start = |at: &usize| fits(pattern, &text[..*at]);
    let kept = match operator {
        "%" => places().rfind(at_end).map(|at| &text[..at]),
        "%%" => places().find(at_end).map(|at| &text[..at]),
        "#" => places().find(at_start).map(|at| &text[at..]),
        _ => places().rfind(at_start).map(|at| &text[at..]),
    };
    kept.unwrap_or(text)
}

fn trimmed(now: &Field, operand: &Field, it: &Parameter) -> Field {
    // Between double quotes a pattern is still one, so that a quoted letter may mean more than itself.
    let is_plain = it.operand.iter().all(|part| match part {
        Part::Plain(text) | Part::Quoted(text) => !text.contains(['*', '?', '[', '(', '\\']),
        Part::Double(_)
        | Part::Parameter(_)
        | Part::Substitution(_)
        | Part::Arithmetic(_)
        | Part::Process(_)
        | Part::Pattern(_) => false,
    });
    let is_pattern = !is_plain
        && matches!(it.operand.as_slice(), [Part::Plain(text)] if !text.contains(['(', '\\']));
    match (now.known(), operand.known()) {
        // The last name of a path.
        (now, Some("*/")) if it.operator == "##" => match now {
            Some(path) => Field::text(path.rsplit('/').next().unwrap_or(path)),
            None => Field::of(Piece::Part),
        },
        // Another ending, beside the file that was found.
        (None, Some(ending)) if it.operator == "%" && now.listing().is_some() => {
            if ending.contains('/') { Field::unknown() } else { now.clone() }
        }
        // The known end of a pattern: `for f in *.js; do mv "$f" "${f%.js}.ts"; done`.
        (None, Some(ending)) if it.operator == "%" && is_plain => {
            let mut cut = Field { found_in: None, ..now.clone() };
            match cut.pieces.last_mut() {
                Some(Piece::Text(text)) => {
                    text.truncate(text.strip_suffix(ending).unwrap_or(text).len());
                    cut
                }
                _ => Field::unknown(),
            }
        }
        (Some(now), Some(operand)) if is_pattern && now.len() <= CUT_MAX => {
            Field::text(without_pattern(now, operand, &it.operator))
        }
        (Some(now), Some(operand)) if is_plain => {
            let kept = if it.operator.starts_with('%') {
                now.strip_suffix(operand)
            } else {
                now.strip_prefix(operand)
            };
            Field::text(kept.unwrap_or(now))
        }
        _ => Field::unknown(),
    }
}

fn is_every(index: &[Part]) -> bool {
    matches!(index, [Part::Plain(text)] if text == "@" || text == "*")
}

/// `${x@Q}` and others that run nothing; `${x@P}` does.
fn is_harmless_transformation(operand: &[Part]) -> bool {
    matches!(operand, [Part::Plain(text)] if matches!(text.as_str(), "Q" | "U" | "u" | "L" | "E" | "A" | "a" | "K" | "k"))
}
