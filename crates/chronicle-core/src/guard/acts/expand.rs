//! Makes fields of words, and walks what they run on the way.

use super::parameter::together;
use super::split::{Building, push_pattern, split};
use super::state::State;
use super::value::{Field, Piece, Value};
use super::walk::Walker;
use super::{ByteSpan, DoubtKind};
use crate::base::bash::braces;
use crate::base::bash::tree::{Part, Word};

/// Most words that one list of words may become.
const FIELDS_MAX: usize = 4096;

/// What one expansion gives.
pub(super) enum Got {
    One(Field),
    /// `"$@"` and `"${list[@]}"`: a word each.
    Many(Vec<Field>),
}

impl Walker<'_> {
    /// The fields of words: braces, tildes, expansions, splitting and patterns.
    pub(super) fn words(&mut self, words: &[Word], state: &mut State) -> Vec<Field> {
        let mut fields = Vec::new();
        for word in words {
            if self.is_spent(word.span) {
                fields.push(Field::unknown());
                break;
            }
            let Ok(expanded) = braces::expanded(word) else {
                self.doubt(DoubtKind::TooLarge, "braces stand for too many words", word.span);
                fields.push(Field::unknown());
                continue;
            };
            for word in expanded {
                self.steps += 1;
                self.fields(&word, state, &mut fields);
            }
            if fields.len() > FIELDS_MAX {
                self.doubt(DoubtKind::TooLarge, "a command has too many words", word.span);
                fields.truncate(FIELDS_MAX);
                fields.push(Field::unknown());
                break;
            }
        }
        fields
    }

    fn fields(&mut self, word: &Word, state: &mut State, fields: &mut Vec<Field>) {
        let mut building = Building::default();
        let is_bare = word.plain().is_some();
        for (index, part) in word.parts.iter().enumerate() {
            match part {
                Part::Plain(text) => {
                    let is_whole = word.parts.len() == 1;
                    let rest = if index == 0 {
                        self.tilde(text, is_whole, &mut building.now, state)
                    } else {
                        text
                    };
                    push_pattern(&mut building.now, rest);
                }
                Part::Quoted(text) => {
                    building.is_there = true;
                    building.now.push_text(text);
                }
                Part::Double(inside) => self.in_double(inside, state, word.span, &mut building),
                Part::Pattern(text) => building.now.push(Piece::Glob(text.clone())),
                other @ (Part::Parameter(_)
                | Part::Substitution(_)
                | Part::Arithmetic(_)
                | Part::Process(_)) => {
                    let got = self.expanded(other, state, word.span, false);
                    split(got, state, &mut building);
                }
            }
        }
        building.close();
        if self.is_emptied {
            building.done.iter_mut().for_each(Field::close_gaps);
        }
        if let [field] = building.done.as_mut_slice() {
            field.is_bare = is_bare;
        }
        fields.append(&mut building.done);
        if building.may_be_more {
            fields.push(Field::unknown());
        }
    }

    fn in_double(
        &mut self,
        inside: &[Part],
        state: &mut State,
        span: ByteSpan,
        building: &mut Building,
    ) {
        let mut has_many = false;
        for part in inside {
            match self.expanded(part, state, span, true) {
                Got::One(field) => building.now.extend(&field),
                Got::Many(fields) => {
                    has_many = true;
                    for (index, field) in fields.iter().enumerate() {
                        if index > 0 {
                            building.is_there = true;
                            building.close();
                        }
                        building.is_there = true;
                        building.now.extend(field);
                    }
                }
            }
        }
        // `"$@"` is nothing at all if there are no arguments.
        building.is_there |= !has_many || inside.len() > 1;
    }

    /// A word that is not split: the value of an assignment, the subject of `case`.
    pub(super) fn single(&mut self, parts: &[Part], state: &mut State, span: ByteSpan) -> Field {
        let mut value = Field::default();
        let whole = parts.len() == 1;
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Plain(text) => {
                    let mut rest = text.as_str();
                    if index == 0 {
                        rest = self.tilde(rest, whole, &mut value, state);
                    }
                    // A tilde after a colon counts too, as in a list of folders.
                    if rest.contains(":~") {
                        value.push(Piece::Unknown);
                    } else {
                        value.push_text(rest);
                    }
                }
                Part::Quoted(text) | Part::Pattern(text) => value.push_text(text),
                Part::Double(inside) => {
                    let inside = self.quoted(inside, state, span);
                    value.extend(&inside);
                }
                other @ (Part::Parameter(_)
                | Part::Substitution(_)
                | Part::Arithmetic(_)
                | Part::Process(_)) => match self.expanded(other, state, span, true) {
                    Got::One(field) => value.extend(&field),
                    Got::Many(fields) => value.extend(&together(&fields)),
                },
            }
        }
        value
    }

    /// A text in which quotes mean nothing more: between double quotes, or a here-document.
    pub(super) fn quoted(&mut self, parts: &[Part], state: &mut State, span: ByteSpan) -> Field {
        let mut value = Field::default();
        for part in parts {
            match self.expanded(part, state, span, true) {
                Got::One(field) => value.extend(&field),
                Got::Many(fields) => value.extend(&together(&fields)),
            }
        }
        value
    }

    /// A tilde at the beginning of a word; what is left of the text after it.
    fn tilde<'t>(
        &mut self,
        text: &'t str,
        is_whole: bool,
        into: &mut Field,
        state: &State,
    ) -> &'t str {
        let mut text = text;
        // bash looks for a tilde after the sign of a word that looks like an assignment.
        if let Some((name, value)) = text.split_once('=')
            && looks_like_variable(name)
            && (value.starts_with('~') || value.contains(":~"))
        {
            into.push_text(name);
            into.push_text("=");
            if value.contains(":~") {
                into.push(Piece::Unknown);
                return "";
            }
            text = value;
        }
        let Some(after) = text.strip_prefix('~') else { return text };
        let length = after.find('/').unwrap_or(after.len());
        let (name, rest) = after.split_at(length);
        // What follows could still belong to the name.
        if rest.is_empty() && !is_whole {
            into.push(Piece::Unknown);
            return "";
        }
        match name {
            "" => into.extend(&self.home(state)),
            "+" => match state.folder() {
                Some(folder) => into.push_text(folder),
                None => into.push(Piece::Unknown),
            },
            // Most likely where it began.
            "-" | "1" => match self.setting.folder.filter(|_| self.is_emptied) {
                Some(folder) => into.push_text(folder),
                None => into.push(Piece::Unknown),
            },
            _ => into.push(Piece::Given),
        }
        rest
    }

    pub(super) fn home(&self, state: &State) -> Field {
        match (state.variables.get("HOME"), self.setting.home) {
            (Some(Value::One(field)), _) => field.clone(),
            (Some(Value::List(_) | Value::Unset), _) => Field::unknown(),
            (None, _) if state.is_lost => Field::unknown(),
            (None, Some(home)) => Field::text(home),
            (None, None) => Field::of(Piece::Given),
        }
    }

    fn expanded(&mut self, part: &Part, state: &mut State, span: ByteSpan, is_double: bool) -> Got {
        match part {
            Part::Plain(text) | Part::Quoted(text) | Part::Pattern(text) => {
                Got::One(Field::text(text))
            }
            Part::Double(inside) => Got::One(self.quoted(inside, state, span)),
            Part::Parameter(parameter) => self.parameter(parameter, state, span, is_double),
            Part::Substitution(script) => Got::One(self.output(script, state)),
            Part::Arithmetic(parts) => {
                self.expression(parts, state, span);
                Got::One(Field::of(Piece::Number))
            }
            Part::Process(script) => Got::One(self.process(script, state)),
        }
    }
}

/// `a`, `a+` and `a[1]`.
fn looks_like_variable(name: &str) -> bool {
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    crate::base::bash::is_identifier(name)
}
