//! Arithmetic. bash evaluates the values of variables in it again, and an index may hold a command.

use super::state::State;
use super::value::{Field, Piece, Value};
use super::walk::Walker;
use super::{ByteSpan, DoubtKind};
use crate::base::bash::read_arithmetic;
use crate::base::bash::tree::{Check, Part};

/// Most values of variables that are followed from one to the next.
const FOLLOWED_MAX: usize = 6;

impl Walker<'_> {
    /// An expression as written.
    pub(super) fn expression(&mut self, parts: &[Part], state: &mut State, span: ByteSpan) {
        let value = self.quoted(parts, state, span);
        self.evaluated(&value, state, span, 0);
    }

    /// A text that is evaluated as an expression.
    pub(super) fn evaluated(
        &mut self,
        value: &Field,
        state: &mut State,
        span: ByteSpan,
        depth: usize,
    ) {
        let mut text = String::new();
        for piece in &value.pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Number | Piece::Given | Piece::Temp | Piece::Name | Piece::Line => {
                    text.push('0');
                }
                Piece::Glob(_)
                | Piece::Unknown
                | Piece::Read
                | Piece::Part
                | Piece::Cut(_)
                | Piece::Listed(_) => {
                    self.doubt(
                        DoubtKind::Number,
                        "a number that is not known is evaluated, and may hold commands",
                        span,
                    );
                    text.push('0');
                }
            }
        }
        if depth > FOLLOWED_MAX {
            self.doubt(DoubtKind::TooLarge, "an expression leads too far", span);
            return;
        }
        if text.contains(['$', '`', '\\', '\'', '"']) {
            self.nested(&text, state, span);
        }
        let names = identifiers(&text);
        let is_set = text.contains('=') || text.contains("++") || text.contains("--");
        for name in names {
            self.steps += 1;
            let value = match self.value(&name, state) {
                Value::One(field) => field,
                Value::List(_) if !is_set => continue,
                Value::List(_) => Field::unknown(),
                Value::Unset => Field::text("0"),
            };
            let is_plain = value.is_number()
                || matches!(value.pieces.as_slice(), [Piece::Given | Piece::Line])
                || value.known() == Some("");
            if !is_plain {
                self.evaluated(&value, state, span, depth + 1);
            }
            if is_set {
                let after = if is_plain { Field::of(Piece::Number) } else { Field::unknown() };
                self.assign(&name, Value::One(after), state, span);
            }
        }
    }

    /// Commands inside of an expression that came out of a text.
    fn nested(&mut self, text: &str, state: &mut State, span: ByteSpan) {
        let span = self.place.unwrap_or(span);
        match read_arithmetic(text) {
            Ok(parts) => {
                let before = self.place.replace(span);
                self.quoted(&parts, state, span);
                self.place = before;
            }
            Err(unread) => {
                self.doubt(
                    DoubtKind::Number,
                    &format!("an expression cannot be read: {}", unread.why),
                    span,
                );
            }
        }
    }

    /// The comparisons of `[[ … ]]`.
    pub(super) fn checks(&mut self, checks: &[Check], state: &mut State, span: ByteSpan) {
        for check in checks {
            let values: Vec<Field> =
                check.words.iter().map(|word| self.single(&word.parts, state, word.span)).collect();
            match check.operator.as_str() {
                "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => {
                    for value in &values {
                        self.evaluated(value, state, span, 0);
                    }
                }
                "-v" | "-R" => {
                    for value in &values {
                        self.named(value, state, span);
                    }
                }
                operator
                    if operator.len() == 2 && values.len() == 1 && !"-z-n-o".contains(operator) =>
                {
                    for value in &values {
                        self.touch(super::TouchKind::List, value, state, "[[", span);
                    }
                }
                "=~" => {
                    state.variables.insert("BASH_REMATCH".to_owned(), Value::unknown());
                }
                _ => {}
            }
        }
    }

    /// The name of a variable that a command is given, perhaps with an index, which is evaluated.
    pub(super) fn named(&mut self, name: &Field, state: &mut State, span: ByteSpan) {
        match name.known() {
            Some(text) if text.contains('[') => {
                let index = text.split_once('[').map_or("", |(_, index)| index);
                self.evaluated(&Field::text(index), state, span, 0);
            }
            Some(_) => {}
            None if name.pieces.iter().all(|piece| {
                matches!(piece, Piece::Text(_) | Piece::Given | Piece::Line | Piece::Number)
            }) => {}
            None => self.doubt(
                DoubtKind::Number,
                "the name of a variable is not known, and may hold commands",
                span,
            ),
        }
    }
}

fn identifiers(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_') {
        if crate::base::bash::is_identifier(word) && !names.iter().any(|name| name == word) {
            names.push(word.to_owned());
        }
    }
    names
}
