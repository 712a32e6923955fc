//! Redaction of text that arrives in pieces. A secret may be split anywhere, so a piece is held back until the end of its word is
//! known.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{REDACTED, Redactor, VALUE_MIN};

/// Most bytes that are held back. Longer text without a break matches no known kind of secret.
const HELD_MAX: usize = 16 * 1024;
/// Words after which a secret may follow behind a space: their whole line is held back.
static CONTEXT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words =
        "bearer|basic|auth|pass|pwd|secret|token|key|credential|login|curl|mysql|-u |-p|value:";
    Regex::new(&format!("(?i){words}")).ok()
});

/// From so many letters on, the beginning of a word may be half of a key.
const TELLING_MIN: usize = 16;

impl Redactor {
    /// The end of a text that stops in the middle of a word, or of a known secret: the first half of what the next text of the same
    /// worker may go on with. Empty if the text stops after a sentence, a line or a space.
    pub fn unfinished<'t>(&self, text: &'t str) -> &'t str {
        let goes_on = |it: char| it.is_alphanumeric() || "_-+/=".contains(it);
        let word = match text.chars().next_back() {
            Some(last) if goes_on(last) => text.rsplit(char::is_whitespace).next(),
            Some(_) | None => None,
        };
        let length = self.begun(text).max(word.map_or(0, str::len));
        // Longer text without a break matches no known kind of secret.
        if length > HELD_MAX { "" } else { &text[text.len() - length..] }
    }
}

impl Redactor {
    /// How many bytes at the end of a text are the beginning of a known secret.
    fn begun(&self, text: &str) -> usize {
        self.values.iter().map(|value| value.begun_at_end_of(text)).max().unwrap_or(0)
    }
}

/// Text that arrives in pieces and is passed on redacted as soon as that is safe.
#[derive(Debug, Default)]
pub struct Stream {
    held: String,
    inside_key: bool,
    /// The unfinished end of the text before, which was passed on already.
    before: String,
}

impl Stream {
    /// Adds a piece. Returns what can be passed on now.
    pub fn push(&mut self, redactor: &Redactor, piece: &str) -> String {
        self.held.push_str(piece);
        // A known secret may have spaces in it.
        let begun = redactor.begun(&self.held);
        let safe = self.safe().min(self.held.len() - begun);
        self.hand_on(redactor, safe)
    }

    /// Returns what is still held back, since something else follows. The next text may go on in the middle of a word.
    pub fn finish(&mut self, redactor: &Redactor) -> String {
        let all = [self.before.as_str(), self.held.as_str()].concat();
        let end = redactor.unfinished(&all).to_owned();
        let shown = self.hand_on(redactor, self.held.len());
        // The next text of the same stream is another one. A key that was cut off must not hide it.
        self.inside_key = false;
        self.before = end;
        shown
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
        // The first thing that is passed on ends the word that the text before began.
        let mut before =
            if safe.is_empty() { String::new() } else { std::mem::take(&mut self.before) };
        safe.split_inclusive('\n')
            .map(|line| {
                let text = line.strip_suffix('\n').unwrap_or(line);
                let end = &line[text.len()..];
                let plain = redactor.redact_line(text, inside);
                match std::mem::take(&mut before) {
                    none if none.is_empty() => [&*plain, end].concat(),
                    before => [after(redactor, before, text).as_str(), end].concat(),
                }
            })
            .collect()
    }
}

/// A text without its secrets, those that the text before began among them.
fn after(redactor: &Redactor, before: String, text: &str) -> String {
    let mut pieces = Pieces::carrying(before);
    pieces.add(text);
    pieces.take(redactor).map_or_else(|| text.to_owned(), |all| all.concat())
}

/// Pieces of one text that are written one by one: even joined they must not contain a secret.
///
/// Something else may come between two pieces. A text that stopped in the middle of a word there is searched as if nothing did.
#[derive(Debug, Default)]
pub struct Pieces {
    joined: String,
    ranges: Vec<Range<usize>>,
    /// How much of the joined text was written before.
    carried: usize,
    /// Where something came between two halves of a word.
    breaks: Vec<usize>,
}

/// Pieces in the form in which they may be written.
#[derive(Debug, Default)]
pub struct TakenPieces {
    /// The pieces; `None` if they contain no secret.
    pub pieces: Option<Vec<String>>,
    /// Parts of secrets between which something else came. Other lines may repeat each part, and none looks like a secret by itself.
    pub halves: Vec<String>,
}

impl Pieces {
    /// No pieces yet, after the unfinished end of a text that was written before.
    pub fn carrying(end: String) -> Self {
        let carried = end.len();
        Self { joined: end, ranges: Vec::new(), carried, breaks: vec![carried] }
    }

    /// Adds a piece at the end.
    pub fn add(&mut self, piece: &str) {
        let begin = self.joined.len();
        self.joined.push_str(piece);
        self.ranges.push(begin..self.joined.len());
    }

    /// Something else comes. Whatever follows an unfinished word may be its other half; any other text ends.
    pub fn break_off(&mut self, redactor: &Redactor) {
        if redactor.unfinished(&self.joined).is_empty() {
            self.end();
        } else if self.breaks.last() != Some(&self.joined.len()) {
            self.breaks.push(self.joined.len());
        }
    }

    /// The text ends: nothing of it goes on in the next one.
    pub fn end(&mut self) {
        if !self.joined.is_empty() && !self.joined.ends_with('\n') {
            self.joined.push('\n');
        }
    }

    /// True if the last piece ends with what is worth hiding if the other half of a secret comes after something else. A plain word is
    /// not: it is the beginning of many things, and what is held back for it is missing after a kill.
    pub fn is_broken_off(&self, redactor: &Redactor) -> bool {
        let is_open =
            self.joined.len() > self.carried && self.breaks.last() == Some(&self.joined.len());
        let end = redactor.unfinished(&self.joined);
        let is_odd = |it: char| it.is_ascii_digit() || "_-+/=".contains(it);
        let is_telling = end.len() >= TELLING_MIN || end.contains(is_odd);
        is_open && (is_telling || redactor.begun(&self.joined) > 0)
    }

    /// True if more is held back than any secret is long.
    pub fn is_full(&self) -> bool {
        self.joined.len() > HELD_MAX
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Takes all pieces in the form in which they may be written; `None` if they contain no secret.
    pub fn take(&mut self, redactor: &Redactor) -> Option<Vec<String>> {
        std::mem::take(self).written(redactor).pieces
    }

    /// Takes all pieces, and remembers the unfinished end of their text for the next ones.
    pub fn take_and_carry(&mut self, redactor: &Redactor) -> TakenPieces {
        let end = redactor.unfinished(&self.joined).to_owned();
        std::mem::replace(self, Self::carrying(end)).written(redactor)
    }

    fn written(self, redactor: &Redactor) -> TakenPieces {
        let mut secrets = redactor.secrets(&self.joined);
        let halves = secrets.iter().flat_map(|secret| self.halves(secret)).collect();
        // What was written before cannot be marked any more: the mark stands where the rest begins.
        secrets.retain(|secret| secret.end > self.carried);
        for secret in &mut secrets {
            secret.start = secret.start.max(self.carried);
        }
        let piece = |piece: &Range<usize>| part(&self.joined, piece.clone(), &secrets);
        let pieces = (!secrets.is_empty()).then(|| self.ranges.iter().map(piece).collect());
        TakenPieces { pieces, halves }
    }

    /// The parts of a secret between breaks, as far as they are long enough to be told from words.
    fn halves(&self, secret: &Range<usize>) -> Vec<String> {
        let inside =
            self.breaks.iter().copied().filter(|at| secret.start < *at && *at < secret.end);
        let mut cuts: Vec<usize> = inside.collect();
        if cuts.is_empty() {
            return Vec::new();
        }
        cuts.push(secret.end);
        let mut begin = secret.start;
        let parts = cuts.into_iter().map(|end| std::mem::replace(&mut begin, end)..end);
        let halves = parts.map(|part| self.joined[part].to_owned());
        halves.filter(|half| half.len() >= VALUE_MIN).collect()
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
    fn half_a_secret_is_known_by_the_half_before_it() {
        let redactor = Redactor::new(["plum, harbor, velvet".to_owned()]);
        let (key, known) = (key(), "plum, harbor, velvet");
        for (secret, at) in [(key.as_str(), 2), (&key, 4), (&key, 20), (&key, 39), (known, 12)] {
            let (first, second) = secret.split_at(at);
            let mut stream = Stream::default();
            let mut out = stream.push(&redactor, &format!("It is {first}"));
            out.push_str(&stream.finish(&redactor));
            // Several things come in between.
            out.push_str(&stream.finish(&redactor));
            let shown =
                stream.push(&redactor, &format!("{second} here.")) + &stream.finish(&redactor);
            assert_eq!(shown, "[redacted] here.", "after {first}");
        }
        let mut stream = Stream::default();
        let first = stream.push(&redactor, &format!("It is {}. ", &key[..4]));
        let second =
            stream.finish(&redactor) + &stream.push(&redactor, "Ab3dEf6hIj9lMn2pQr5tUv8xYz ");
        assert_eq!((first.len(), second.as_str()), (12, "Ab3dEf6hIj9lMn2pQr5tUv8xYz "));
    }

    #[test]
    fn a_text_is_unfinished_in_the_middle_of_a_word_only() {
        let redactor = Redactor::new(["plum, harbor, velvet".to_owned()]);
        let long = "a".repeat(HELD_MAX + 1);
        for (text, end) in [
            ("I look at ghp_Ab3", "ghp_Ab3"),
            ("it is plum, harbor, ", "plum, harbor, "),
            ("I look at it.", ""),
            ("I look at it: ", ""),
            ("one\n", ""),
            ("", ""),
            (&long, ""),
        ] {
            assert_eq!(redactor.unfinished(text), end, "{text}");
        }
    }

    #[test]
    fn halves_of_a_secret_are_named_and_what_was_written_is_not_written_again() {
        let (redactor, key) = (Redactor::default(), key());
        let mut pieces = Pieces::default();
        pieces.add(&["a ", &key[..20]].concat());
        pieces.break_off(&redactor);
        assert!(pieces.is_broken_off(&redactor));
        pieces.add(&[&key[20..], " b."].concat());
        pieces.break_off(&redactor);
        assert!(!pieces.is_broken_off(&redactor));
        pieces.add("c");
        let written = pieces.take_and_carry(&redactor);
        let expected = ["a [redacted]", " b.", "c"].map(str::to_owned).to_vec();
        assert_eq!(written.pieces, Some(expected));
        assert_eq!(written.halves, [&key[..20], &key[20..]]);
        pieces.end();
        pieces.add(&key[..20]);
        assert_eq!(pieces.take_and_carry(&redactor).pieces, None);
        assert!(!pieces.is_broken_off(&redactor), "nothing waits");
        pieces.add(&key[20..]);
        let written = pieces.take_and_carry(&redactor);
        assert_eq!(written.pieces, Some(vec![REDACTED.to_owned()]));
        assert_eq!(written.halves, [&key[..20], &key[20..]]);
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
