//! Lines with a piece of streamed text in them, held back until the text is joined: a secret may be cut over several of them.

use chronicle_core::base::redact::{Pieces, Redactor};
use chronicle_core::base::time::Millis;
use serde_json::Value;

use crate::agents::Seen;
use crate::clock;
use crate::effects::transcript::{From, Transcript};

/// Most lines that wait. More in a row belong to no text that anybody streams.
const LINES_MAX: usize = 1_000;

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
    /// The piece of streamed text in it. `None` for a line that came between two pieces.
    piece: Option<String>,
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

/// True if a line says nothing that ends a text: signs of life and counts come between the pieces of one.
pub(super) fn is_between(seen: &[Seen]) -> bool {
    seen.iter().all(|seen| matches!(seen, Seen::Alive | Seen::Usage { .. }))
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
        let (text, piece) = (text.to_owned(), Some(piece.to_owned()));
        self.lines.push(HeldLine { at: clock::now(), text, piece });
    }

    /// Keeps a line that came between two pieces in its place. False if no text has begun, or too much waits.
    pub(super) fn keep(&mut self, text: &str) -> bool {
        let has_room = (1..LINES_MAX).contains(&self.lines.len());
        if has_room {
            self.lines.push(HeldLine { at: clock::now(), text: text.to_owned(), piece: None });
        }
        has_room
    }

    /// Writes every line, without the secrets of the text that their pieces make.
    pub(super) fn write(&mut self, redactor: &Redactor, transcript: &Transcript) {
        let lines = std::mem::take(&mut self.lines);
        // `None` if the joined text has no secret.
        let mut pieces = self.pieces.take(redactor).map(Vec::into_iter);
        for line in &lines {
            let other = pieces.as_mut().filter(|_| line.piece.is_some()).and_then(Iterator::next);
            let text = match (&line.piece, other) {
                // Only the piece is replaced. The rest of the line is redacted by itself.
                (Some(old), Some(new)) => with_piece(redactor, &line.text, old, &new),
                (Some(_) | None, _) => redactor.line(&line.text).into_owned(),
            };
            transcript.add_at(line.at, From::Agent, &text);
        }
    }
}

/// The line with another piece in place of its own. One that cannot be read again is left out but for the piece.
fn with_piece(redactor: &Redactor, line: &str, old: &str, new: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(line) else { return new.to_owned() };
    put(&mut value, old, new);
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
