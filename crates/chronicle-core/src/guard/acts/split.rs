//! Splits what was expanded into words, and finds the patterns in them.

use super::expand::Got;
use super::state::State;
use super::value::{Field, Piece, Value};

/// The fields of one word while they are put together.
#[derive(Default)]
pub(super) struct Building {
    pub(super) done: Vec<Field>,
    pub(super) now: Field,
    /// There is a word here even if it is empty.
    pub(super) is_there: bool,
    /// Names of files were not quoted: blanks in them make more words.
    pub(super) may_be_more: bool,
}

impl Building {
    pub(super) fn close(&mut self) {
        let mut field = std::mem::take(&mut self.now);
        close_classes(&mut field);
        if self.is_there || !field.pieces.is_empty() {
            self.done.push(field);
        }
        self.is_there = false;
    }
}

/// Splits what an unquoted expansion gave into fields.
pub(super) fn split(got: Got, state: &State, building: &mut Building) {
    let fields = match got {
        Got::One(field) => vec![field],
        Got::Many(fields) => fields,
    };
    let separators = match state.variables.get("IFS") {
        None if !state.is_lost => Some(" \t\n".to_owned()),
        Some(Value::Unset) => Some(" \t\n".to_owned()),
        Some(Value::One(field)) => field.known().map(str::to_owned),
        None | Some(Value::List(_)) => None,
    };
    let count = fields.len();
    for (index, field) in fields.into_iter().enumerate() {
        let Some(separators) = &separators else {
            building.now.push(Piece::Unknown);
            continue;
        };
        for piece in field.pieces {
            match piece {
                Piece::Text(text) if text.contains('\\') && text.contains(['*', '?', '[']) => {
                    building.now.push(Piece::Unknown);
                }
                Piece::Text(text) => split_text(&text, separators, building),
                // Names of files may have blanks, and be split too.
                names @ (Piece::Glob(_) | Piece::Cut(_)) => {
                    building.now.push(names);
                    building.may_be_more = true;
                }
                Piece::Number
                    if separators.contains(|it: char| it.is_ascii_digit() || it == '-') =>
                {
                    building.now.push(Piece::Unknown);
                }
                other @ (Piece::Number
                | Piece::Given
                | Piece::Unknown
                | Piece::Listed(_)
                | Piece::Temp
                | Piece::Name
                | Piece::Part
                | Piece::Line
                | Piece::Read) => {
                    building.now.push(other);
                }
            }
        }
        if index + 1 < count {
            building.close();
        }
    }
}

fn split_text(text: &str, separators: &str, building: &mut Building) {
    let is_blank =
        |letter: char| matches!(letter, ' ' | '\t' | '\n') && separators.contains(letter);
    let mut run = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if !separators.contains(letter) {
            run.push(letter);
            continue;
        }
        push_pattern(&mut building.now, &std::mem::take(&mut run));
        let mut has_mark = !is_blank(letter);
        while let Some(next) = letters.peek().copied().filter(|next| separators.contains(*next)) {
            if !is_blank(next) {
                if has_mark {
                    break;
                }
                has_mark = true;
            }
            letters.next();
        }
        // A separator that is no blank leaves an empty word between two of them.
        building.is_there |= has_mark;
        building.close();
    }
    push_pattern(&mut building.now, &run);
}

/// Text in which patterns are looked for. Whether a bracket is one is told by the whole word.
pub(super) fn push_pattern(into: &mut Field, text: &str) {
    for letter in text.chars() {
        if matches!(letter, '*' | '?' | '[' | ']') {
            into.push(Piece::Glob(letter.to_string()));
        } else {
            into.push_text(letter.encode_utf8(&mut [0; 4]));
        }
    }
}

/// Makes text of brackets that open or close nothing. One that holds what is not known, but cannot be chosen, fits any letter.
fn close_classes(field: &mut Field) {
    let is = |piece: &Piece, mark: &str| matches!(piece, Piece::Glob(glob) if glob == mark);
    let has_any = field.pieces.iter().any(|piece| is(piece, "[") || is(piece, "]"));
    if !has_any {
        return;
    }
    let pieces = std::mem::take(&mut field.pieces);
    let last = pieces.iter().rposition(|piece| is(piece, "]"));
    let (mut at, mut is_open) = (0, false);
    while let Some(piece) = pieces.get(at) {
        let opens = is(piece, "[") && last.is_some_and(|last| last > at);
        let inner = pieces.get(at + 1..).unwrap_or_default();
        let end = inner.iter().position(|piece| is(piece, "]")).filter(|_| opens);
        let is_given = |piece: &Piece| {
            matches!(piece, Piece::Given | Piece::Line | Piece::Number | Piece::Name)
        };
        is_open |= opens;
        at += 1;
        match end {
            Some(end) if inner[..end].iter().any(is_given) => {
                field.push(Piece::Glob("?".to_owned()));
                at += end + 1;
            }
            _ if is(piece, "[") && !opens => field.push_text("["),
            _ if is(piece, "]") && !is_open => field.push_text("]"),
            _ => field.push(piece.clone()),
        }
    }
}
