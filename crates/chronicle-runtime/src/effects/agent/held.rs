//! Lines with a piece of streamed text in them, held back until the text is joined: a secret may be cut over several of them.

use std::borrow::Cow;

use chronicle_core::base::redact::{Pieces, Redactor};
use chronicle_core::base::time::Millis;
use serde_json::Value;

use crate::agents::Seen;
use crate::clock;
use crate::effects::transcript::{From, Transcript};

/// Most lines that wait. More in a row belong to no text that anybody streams.
const LINES_MAX: usize = 1_000;
/// Most bytes of lines between two halves of a text that wait: a tool may print a lot.
const BETWEEN_MAX: usize = 4 * 1024 * 1024;
/// Most halves of secrets that are remembered of one attempt.
const HALVES_MAX: usize = 64;

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
    /// Bytes of lines that came between two pieces.
    between: usize,
    /// Halves of secrets that were said with something in between, and a redactor that knows them.
    halves: Vec<String>,
    knowing: Option<Redactor>,
}

struct HeldLine {
    at: Millis,
    from: From,
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
        self.lines.push(HeldLine { at: clock::now(), from: From::Agent, text, piece });
    }

    fn pieces_of(&mut self, kind: HeldKind) -> &mut Pieces {
        match kind {
            HeldKind::Said => &mut self.said,
            HeldKind::Thought => &mut self.thought,
            HeldKind::Typed => &mut self.typed,
        }
    }

    /// Something that ends a text came. What was said stays held back if it stopped in the middle of a word: the rest of a secret
    /// may follow after a tool call, and no half looks like one. Nothing is lost by that: transcripts are read after the attempt.
    pub(super) fn break_off(&mut self, redactor: &Redactor, transcript: &Transcript) {
        self.said.break_off(redactor);
        self.thought.break_off(redactor);
        self.typed.end();
        if !self.said.is_broken_off(redactor) && !self.thought.is_broken_off(redactor) {
            self.write(redactor, transcript);
        }
    }

    /// Adds a line without a piece, after those that wait.
    pub(super) fn pass(
        &mut self,
        from: From,
        text: &str,
        redactor: &Redactor,
        transcript: &Transcript,
    ) {
        if self.keep(from, text) {
            return;
        }
        self.write(redactor, transcript);
        transcript.add(from, &self.plain(redactor, text));
    }

    /// Keeps a line that came between two pieces in its place. False if no text has begun, or too much waits.
    fn keep(&mut self, from: From, text: &str) -> bool {
        let has_room = (1..LINES_MAX).contains(&self.lines.len())
            && self.between.saturating_add(text.len()) <= BETWEEN_MAX;
        if has_room {
            self.between += text.len();
            let (at, text) = (clock::now(), text.to_owned());
            self.lines.push(HeldLine { at, from, text, piece: None });
        }
        has_room
    }

    fn plain<'t>(&self, redactor: &Redactor, text: &'t str) -> Cow<'t, str> {
        self.knowing.as_ref().unwrap_or(redactor).line(text)
    }

    /// Writes every line, without the secrets of the text that their pieces make.
    pub(super) fn write(&mut self, redactor: &Redactor, transcript: &Transcript) {
        let lines = std::mem::take(&mut self.lines);
        self.between = 0;
        let said = self.said.take_and_carry(redactor);
        let thought = self.thought.take_and_carry(redactor);
        // `None` if the joined text has no secret.
        let mut typed = self.typed.take(redactor).map(Vec::into_iter);
        // Before any line is written: agents repeat each message as a whole, and with it half of the secret.
        self.remember(redactor, said.halves.into_iter().chain(thought.halves));
        let mut said = said.pieces.map(Vec::into_iter);
        let mut thought = thought.pieces.map(Vec::into_iter);
        let redactor = self.knowing.as_ref().unwrap_or(redactor);
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
            transcript.add_at(line.at, line.from, &text);
        }
    }

    fn remember(&mut self, redactor: &Redactor, halves: impl Iterator<Item = String>) {
        let room = HALVES_MAX.saturating_sub(self.halves.len());
        let new: Vec<String> = halves.filter(|it| !self.halves.contains(it)).take(room).collect();
        if !new.is_empty() {
            self.halves.extend(new);
            self.knowing = Some(redactor.clone().knowing(self.halves.iter().cloned()));
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

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = concat!("gh", "p_Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j");

    /// The transcript of an attempt that says the parts, with so many bytes of a tool's output between them; each message is repeated
    /// as a whole.
    fn transcript(parts: &[&str], between: usize) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript");
        let (redactor, transcript) = (Redactor::default(), Transcript::create(&path));
        let mut held = Held::default();
        let tool = format!(r#"{{"type":"tool","output":"{}"}}"#, "x".repeat(between));
        for part in parts {
            let line = serde_json::json!({"type": "text", "text": part}).to_string();
            held.add(HeldKind::Said, part, &line, &redactor, &transcript);
            let whole = serde_json::json!({"type": "message", "content": part}).to_string();
            held.break_off(&redactor, &transcript);
            held.pass(From::Agent, &whole, &redactor, &transcript);
            held.pass(From::Agent, &tool, &redactor, &transcript);
            held.pass(From::Supervisor, "an answer", &redactor, &transcript);
        }
        held.write(&redactor, &transcript);
        transcript.finish();
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn halves_of_a_secret_with_a_tool_call_between_them_are_hidden() {
        for at in [9, 20, 30] {
            let (first, second) = KEY.split_at(at);
            let text = transcript(&[&format!("It is {first}"), &format!("{second} now.")], 10);
            for half in [first, second] {
                assert!(!text.contains(half), "{half}: {text}");
            }
            let from = |line: &str| line.contains("\"from\":\"agent\"");
            let order: Vec<bool> = text.lines().map(from).collect();
            assert_eq!(order, [true, true, true, false, true, true, true, false]);
            assert!(text.contains("It is [redacted]") && text.contains(" now."), "{text}");
        }
    }

    #[test]
    fn what_follows_half_a_secret_is_hidden_however_much_comes_between() {
        let (first, second) = KEY.split_at(20);
        let text = transcript(&[&format!("It is {first}"), &format!("{second} now.")], BETWEEN_MAX);
        assert!(text.contains(first), "as the guide says: too much came between");
        assert!(!text.contains(second));
    }

    #[test]
    fn only_what_may_be_half_a_secret_waits() {
        let folder = tempfile::tempdir().unwrap();
        let (redactor, path) = (Redactor::default(), folder.path().join("transcript"));
        let transcript = Transcript::create(&path);
        for (text, waits) in [("Now I run the tests", false), ("It is ghp_Ab3", true)] {
            let mut held = Held::default();
            held.add(HeldKind::Said, text, text, &redactor, &transcript);
            held.break_off(&redactor, &transcript);
            assert_eq!(!held.lines.is_empty(), waits, "{text}");
        }
    }

    #[test]
    fn words_around_a_tool_call_stay() {
        let text = transcript(&["I look at commit 3f2a9c1b", "Then at README", "2 files."], 10);
        for said in ["commit 3f2a9c1b", "Then at README", "2 files."] {
            assert_eq!(text.matches(said).count(), 2, "{text}");
        }
    }
}
