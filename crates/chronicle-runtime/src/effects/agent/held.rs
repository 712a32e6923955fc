//! Lines with a piece of streamed text in them, held back until the text is joined: a secret may be cut over several of them.

use chronicle_core::base::redact::{Pieces, Redactor};
use chronicle_core::base::time::Millis;
use serde_json::Value;

use crate::agents::Seen;
use crate::clock;
use crate::effects::transcript::{From, Transcript};

/// Which text a piece belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeldKind {
    Said,
    Thought,
    Typed,
}

/// Lines that wait for the transcript.
#[derive(Default)]
pub(super) struct Held {
    kind: Option<HeldKind>,
    lines: Vec<HeldLine>,
    pieces: Pieces,
}

struct HeldLine {
    at: Millis,
    text: String,
    piece: String,
}

/// The piece of a streamed text in what was seen.
pub(super) fn piece(seen: &[Seen]) -> Option<(HeldKind, &str)> {
    seen.iter().find_map(|seen| match seen {
        Seen::Text(piece) => Some((HeldKind::Said, piece.as_str())),
        Seen::Thought(piece) => Some((HeldKind::Thought, piece.as_str())),
        Seen::Typed(piece) => Some((HeldKind::Typed, piece.as_str())),
        _ => None,
    })
}

impl Held {
    /// Takes a line as the agent printed it, and the piece in it.
    pub(super) fn add(
        &mut self,
        kind: HeldKind,
        piece: &str,
        text: &str,
        redactor: &Redactor,
        transcript: &Transcript,
    ) {
        // Pieces of another text cannot complete a secret of this one, so this text is finished.
        if self.kind.replace(kind) != Some(kind) || self.pieces.is_full() {
            self.write(redactor, transcript);
        }
        self.pieces.add(piece);
        let (text, piece) = (text.to_owned(), piece.to_owned());
        self.lines.push(HeldLine { at: clock::now(), text, piece });
    }

    /// Writes every line, without the secrets of the text that their pieces make.
    pub(super) fn write(&mut self, redactor: &Redactor, transcript: &Transcript) {
        let lines = std::mem::take(&mut self.lines);
        match self.pieces.take(redactor) {
            None => lines.iter().for_each(|line| {
                transcript.add_at(line.at, From::Agent, &redactor.line(&line.text));
            }),
            Some(pieces) => lines.iter().zip(pieces).for_each(|(line, piece)| {
                // Only the piece is replaced. The rest of the line is redacted by itself.
                let text = with_piece(redactor, line, &piece);
                transcript.add_at(line.at, From::Agent, &text);
            }),
        }
    }
}

/// The line with another piece in place of its own. One that cannot be read again is left out but for the piece.
fn with_piece(redactor: &Redactor, line: &HeldLine, piece: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(&line.text) else { return piece.to_owned() };
    put(&mut value, &line.piece, piece);
    redactor.value(&mut value);
    value.to_string()
}

fn put(value: &mut Value, old: &str, new: &str) {
    match value {
        Value::String(text) if text == old => new.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| put(item, old, new)),
        Value::Object(fields) => fields.values_mut().for_each(|field| put(field, old, new)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
