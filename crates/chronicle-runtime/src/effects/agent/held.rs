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

/// Lines that wait for the transcript. Pieces of several texts may take turns, and each text is joined by itself.
#[derive(Default)]
pub(super) struct Held {
    lines: Vec<HeldLine>,
    said: Pieces,
    thought: Pieces,
    typed: Pieces,
}

struct HeldLine {
    at: Millis,
    text: String,
    /// The piece of streamed text in it. `None` for a line that came between two pieces.
    piece: Option<(HeldKind, String)>,
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

/// True if a line says nothing that ends a text: signs of life, counts and what nobody understands come between the pieces of one.
pub(super) fn is_between(seen: &[Seen]) -> bool {
    seen.iter()
        .all(|seen| matches!(seen, Seen::Alive | Seen::Usage { .. } | Seen::NotUnderstood { .. }))
}

/// True if a text may go on after it.
pub(super) fn goes_on(seen: &Seen) -> bool {
    let seen = std::slice::from_ref(seen);
    piece(seen).is_some() || is_between(seen)
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
        if self.pieces_of(kind).is_full() || self.lines.len() >= LINES_MAX {
            self.write(redactor, transcript);
        }
        self.pieces_of(kind).add(piece);
        let (text, piece) = (text.to_owned(), Some((kind, piece.to_owned())));
        self.lines.push(HeldLine { at: clock::now(), text, piece });
    }

    fn pieces_of(&mut self, kind: HeldKind) -> &mut Pieces {
        match kind {
            HeldKind::Said => &mut self.said,
            HeldKind::Thought => &mut self.thought,
            HeldKind::Typed => &mut self.typed,
        }
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
        let mut said = self.said.take(redactor).map(Vec::into_iter);
        let mut thought = self.thought.take(redactor).map(Vec::into_iter);
        let mut typed = self.typed.take(redactor).map(Vec::into_iter);
        for line in &lines {
            let pieces = match &line.piece {
                Some((HeldKind::Said, _)) => said.as_mut(),
                Some((HeldKind::Thought, _)) => thought.as_mut(),
                Some((HeldKind::Typed, _)) => typed.as_mut(),
                None => None,
            };
            let text = match (&line.piece, pieces.and_then(Iterator::next)) {
                // Only the piece is replaced. The rest of the line is redacted by itself.
                (Some((_, old)), Some(new)) => with_piece(redactor, &line.text, old, &new),
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
