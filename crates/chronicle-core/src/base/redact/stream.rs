//! Redaction of text that arrives in pieces. A secret may be split anywhere, so a piece is held back until the end of its word is
//! known.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{REDACTED, Redactor};

/// Most bytes that are held back. Longer text without a break matches no known kind of secret.
const HELD_MAX: usize = 16 * 1024;
/// Words after which a secret may follow behind a space: their whole line is held back.
static CONTEXT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words =
        "bearer|basic|auth|pass|pwd|secret|token|key|credential|login|curl|mysql|-u |-p|value:";
    Regex::new(&format!("(?i){words}")).ok()
});

/// Text that arrives in pieces and is passed on redacted as soon as that is safe.
#[derive(Debug, Default)]
pub struct Stream {
    held: String,
    inside_key: bool,
}

impl Stream {
    /// Adds a piece. Returns what can be passed on now.
    pub fn push(&mut self, redactor: &Redactor, piece: &str) -> String {
        self.held.push_str(piece);
        let safe = self.safe();
        self.hand_on(redactor, safe)
    }

    /// Returns what is still held back; nothing follows.
    pub fn finish(&mut self, redactor: &Redactor) -> String {
        let all = self.hand_on(redactor, self.held.len());
        // The next text of the same stream is another one. A key that was cut off must not hide it.
        self.inside_key = false;
        all
    }

    /// How much of the held text cannot be the start of a secret: whole lines, and whole words of the last line.
    fn safe(&self) -> usize {
        let lines = self.held.rfind('\n').map_or(0, |at| at + 1);
        let last = &self.held[lines..];
        // A line without an end, from a program that prints no line feeds, must be shown some time.
        if last.len() > HELD_MAX {
            return self.held.len();
        }
        let may_follow = CONTEXT.as_ref().is_none_or(|context| context.is_match(last));
        // `token: ` may be followed by the secret in the next piece, so the line is held until it is complete.
        if may_follow || self.inside_key || last.contains("-----") {
            return lines;
        }
        last.rfind(' ').map_or(lines, |at| lines + at + 1)
    }

    fn hand_on(&mut self, redactor: &Redactor, end: usize) -> String {
        let rest = self.held.split_off(end);
        let safe = std::mem::replace(&mut self.held, rest);
        let inside = &mut self.inside_key;
        safe.split_inclusive('\n')
            .map(|line| {
                let text = line.strip_suffix('\n').unwrap_or(line);
                let end = &line[text.len()..];
                [&*redactor.redact_line(text, inside), end].concat()
            })
            .collect()
    }
}

/// Pieces of one text that are written one by one: even joined they must not contain a secret.
#[derive(Debug, Default)]
pub struct Pieces {
    joined: String,
    ends: Vec<usize>,
}

impl Pieces {
    /// Adds a piece at the end.
    pub fn add(&mut self, piece: &str) {
        self.joined.push_str(piece);
        self.ends.push(self.joined.len());
    }

    /// True if more is held back than any secret is long.
    pub fn is_full(&self) -> bool {
        self.joined.len() > HELD_MAX
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Takes all pieces in the form in which they may be written; `None` if they contain no secret.
    pub fn take(&mut self, redactor: &Redactor) -> Option<Vec<String>> {
        let all = std::mem::take(self);
        let secrets = redactor.secrets(&all.joined);
        if secrets.is_empty() {
            return None;
        }
        let mut begin = 0;
        let piece = |end: &usize| {
            let piece = std::mem::replace(&mut begin, *end)..*end;
            part(&all.joined, piece, &secrets)
        };
        Some(all.ends.iter().map(piece).collect())
    }
}

/// A part of a text without the secrets that reach into it; each is marked where it starts.
fn part(text: &str, part: Range<usize>, secrets: &[Range<usize>]) -> String {
    let (mut out, mut kept) = (String::new(), part.start);
    for secret in secrets.iter().filter(|it| it.start < part.end && it.end > part.start) {
        // A secret over several pieces is marked in the first of them alone: each mark would look like a secret of its own.
        if secret.start >= kept {
            out.push_str(&text[kept..secret.start]);
            out.push_str(REDACTED);
        }
        kept = kept.max(secret.end);
    }
    if kept < part.end {
        out.push_str(&text[kept..part.end]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> String {
        ["gh", "p_Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j"].concat()
    }

    #[test]
    fn a_secret_in_pieces_is_never_handed_on() {
        let redactor = Redactor::default();
        let text = format!("Use {} here.\nThen go on with Bearer {} and end", key(), key());
        for size in [1, 2, 3, 7, 20] {
            let mut stream = Stream::default();
            let mut out = String::new();
            let letters: Vec<char> = text.chars().collect();
            for piece in letters.chunks(size) {
                out.push_str(&stream.push(&redactor, &piece.iter().collect::<String>()));
            }
            out.push_str(&stream.finish(&redactor));
            let expected = "Use [redacted] here.\nThen go on with Bearer [redacted] and end";
            assert_eq!(out, expected, "pieces of {size}");
        }
    }

    #[test]
    fn words_are_handed_on_as_they_come() {
        let (redactor, mut stream) = (Redactor::default(), Stream::default());
        assert_eq!(stream.push(&redactor, "I look at the fi"), "I look at the ");
        assert_eq!(stream.push(&redactor, "les.\nNext"), "files.\n");
        assert_eq!(stream.finish(&redactor), "Next");
    }

    #[test]
    fn pieces_stay_pieces() {
        let (redactor, mut pieces) = (Redactor::default(), Pieces::default());
        let key = key();
        for piece in ["a ", &key[..3], &key[3..20], &[&key[20..], " b"].concat(), "c"] {
            pieces.add(piece);
        }
        let out = pieces.take(&redactor);
        let expected = ["a ", "[redacted]", "", " b", "c"].map(str::to_owned).to_vec();
        assert_eq!(out, Some(expected));
        pieces.add("nothing");
        assert_eq!((pieces.take(&redactor), pieces.count()), (None, 0));
    }
}
