//! Which parts of a command line are only text: quoted, commented out, or the body of a here-document.
//!
//! It does not decide what runs; `Acts` do. It keeps a rule over whole lines from matching inside a message.

use std::collections::BTreeMap;
use std::ops::Range;

/// A command line with what is only text marked.
pub(super) struct Marked<'t> {
    text: &'t str,
    is_text: Vec<bool>,
    documents: Vec<Document>,
}

/// A here-document that has an end.
struct Document {
    /// Where its `<<` stands.
    at: usize,
    body: Range<usize>,
    is_quoted: bool,
}

impl<'t> Marked<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut scan = Scan {
            bytes: text.as_bytes(),
            at: 0,
            is_text: vec![false; text.len()],
            open: Vec::new(),
            waiting: Vec::new(),
            documents: Vec::new(),
            lines: None,
            counted: 0,
            numbers: 0,
        };
        scan.all();
        Self { text, is_text: scan.is_text, documents: scan.documents }
    }

    /// The here-documents that begin at a place of the line: where, and their bodies.
    pub(super) fn documents_in(&self, place: &Range<usize>) -> Vec<(usize, Range<usize>)> {
        let here = self.documents.iter().filter(|it| place.contains(&it.at));
        here.map(|it| (it.at, it.body.clone())).collect()
    }

    /// True if the shell changes nothing in the here-documents of a place.
    pub(super) fn is_quoted_document(&self, place: &Range<usize>) -> bool {
        self.documents.iter().filter(|it| place.contains(&it.at)).all(|it| it.is_quoted)
    }

    /// True if all of it is text.
    pub(super) fn is_text(&self, range: &Range<usize>) -> bool {
        !range.is_empty()
            && self.is_text.get(range.clone()).is_some_and(|part| part.iter().all(|it| *it))
    }

    /// True if it goes over a `|` that joins two commands.
    pub(super) fn has_pipe(&self, range: &Range<usize>) -> bool {
        let mut places = range.clone();
        places.any(|at| self.is_plain(at, b'|'))
    }

    /// The pipelines of the line: what stands between `;`, `&`, `&&`, `||` and line ends.
    pub(super) fn pipelines(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut start = 0;
        for at in 0..self.text.len() {
            let before = at.checked_sub(1).and_then(|at| self.text.as_bytes().get(at));
            // `|&` and `>&` are no ends, and neither is the `&` of `&>`.
            let joins =
                || matches!(before, Some(b'|' | b'>' | b'<')) || self.is_plain(at + 1, b'>');
            let ends = self.is_plain(at, b';')
                || self.is_plain(at, b'\n')
                || self.is_plain(at, b'&') && !joins()
                || self.is_plain(at, b'|') && self.is_plain(at + 1, b'|');
            if ends {
                found.push(start..at);
                // `&&` and `||` are two.
                let is_double = self.text.as_bytes().get(at + 1) == self.text.as_bytes().get(at);
                start = at + 1 + usize::from(is_double);
            }
        }
        found.push(start..self.text.len());
        found.retain(|range| !range.is_empty());
        found
    }

    fn is_plain(&self, at: usize, byte: u8) -> bool {
        self.text.as_bytes().get(at) == Some(&byte) && self.is_text.get(at) == Some(&false)
    }
}

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    is_text: Vec<bool>,
    /// What is open: `"` for quotes, `(` for everything in parentheses, which is read as commands.
    open: Vec<u8>,
    /// Ends of here-documents whose bodies begin on the next line.
    waiting: Vec<Waiting>,
    documents: Vec<Document>,
    /// Where each line begins, by what it says without the blanks before it. Made once: every here-document looks for its end.
    lines: Option<BTreeMap<&'t [u8], Vec<usize>>>,
    /// Up to where `((` and `))` were counted, and how many more of the first there are.
    counted: usize,
    numbers: i64,
}

/// A here-document whose body has not begun.
struct Waiting {
    at: usize,
    end: Vec<u8>,
    is_quoted: bool,
}

impl Scan<'_> {
    fn all(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            let is_quoted = self.open.last() == Some(&b'"');
            let starts = self.bytes[self.at..].starts_with(b"$(");
            match byte {
                // What it runs is not told apart, so that nothing after it counts as text.
                b'`' => return,
                b'\\' => self.step(2),
                _ if starts => {
                    self.open.push(b'(');
                    self.at += 2;
                }
                b'"' if is_quoted => {
                    self.step(1);
                    self.open.pop();
                }
                _ if is_quoted => self.step(1),
                b'"' => {
                    self.open.push(b'"');
                    self.step(1);
                }
                b'\'' => self.single(),
                b'(' => {
                    self.open.push(b'(');
                    self.at += 1;
                }
                b')' => {
                    self.open.pop();
                    self.at += 1;
                }
                b'#' if self.begins_word() => self.comment(),
                b'<' if self.bytes[self.at..].starts_with(b"<<") => self.document(),
                b'\n' => {
                    self.at += 1;
                    for waiting in std::mem::take(&mut self.waiting) {
                        self.body(&waiting);
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    /// Goes on by some bytes, which are text within quotes.
    fn step(&mut self, count: usize) {
        let end = self.bytes.len().min(self.at + count);
        if self.open.last() == Some(&b'"') {
            self.is_text[self.at..end].fill(true);
        }
        self.at = end;
    }

    fn begins_word(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.bytes.get(at));
        before.is_none_or(|byte| b" \t\n;&|(".contains(byte))
    }

    fn comment(&mut self) {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.mark(self.at + length);
    }

    fn single(&mut self) {
        let rest = &self.bytes[self.at + 1..];
        // In `$'…'` a quote may be escaped.
        let is_ansi = self.at.checked_sub(1).is_some_and(|at| self.bytes[at] == b'$');
        let mut end = 0;
        while rest.get(end).is_some_and(|byte| *byte != b'\'') {
            end += if is_ansi && rest[end] == b'\\' { 2 } else { 1 };
        }
        self.mark(self.at + 1 + end.min(rest.len()) + 1);
    }

    /// Marks up to a place and goes there.
    fn mark(&mut self, end: usize) {
        let end = end.min(self.bytes.len());
        self.is_text[self.at..end].fill(true);
        self.at = end;
    }

    /// The beginning of a here-document, if it is one and no here-string or arithmetic.
    fn document(&mut self) {
        let rest = &self.bytes[self.at + 2..];
        if rest.first() == Some(&b'<') || self.is_in_number() {
            self.at += 3;
            return;
        }
        let mut word = rest.strip_prefix(b"-").unwrap_or(rest);
        while let [b' ' | b'\t', after @ ..] = word {
            word = after;
        }
        let end = word.iter().position(|byte| b" \t\n;&|<>()".contains(byte)).unwrap_or(word.len());
        let word: Vec<u8> =
            word[..end].iter().copied().filter(|byte| !b"'\"\\".contains(byte)).collect();
        if !word.is_empty() {
            let is_quoted = word.len() < end;
            self.waiting.push(Waiting { at: self.at, end: word, is_quoted });
        }
        self.at += 2;
    }

    /// True if more `((` than `))` stand before this place.
    fn is_in_number(&mut self) -> bool {
        while self.counted + 2 <= self.at {
            match &self.bytes[self.counted..self.counted + 2] {
                b"((" => self.numbers += 1,
                b"))" => self.numbers -= 1,
                _ => {}
            }
            self.counted += 1;
        }
        self.numbers > 0
    }

    /// Where the next line begins that says this, blanks before it aside.
    fn next_line(&mut self, wanted: &[u8]) -> Option<usize> {
        let bytes = self.bytes;
        let lines = self.lines.get_or_insert_with(|| lines_of(bytes));
        let places = lines.get(wanted)?;
        places.get(places.partition_point(|place| *place < self.at)).copied()
    }

    fn body(&mut self, waiting: &Waiting) {
        let start = self.at;
        // Without an end it is no here-document, as far as this goes.
        let Some(at) = self.next_line(&waiting.end) else { return };
        let (place, is_quoted) = (waiting.at, waiting.is_quoted);
        self.documents.push(Document { at: place, body: start..at, is_quoted });
        let body = &self.bytes[start..at];
        let runs = !is_quoted && (body.contains(&b'`') || body.windows(2).any(|it| it == b"$("));
        if !runs {
            self.is_text[start..at].fill(true);
        }
        let line = self.bytes[at..].iter().position(|byte| *byte == b'\n');
        self.at = line.map_or(self.bytes.len(), |length| at + length);
    }
}

/// Where each line begins, by what it says without the blanks before it.
fn lines_of(bytes: &[u8]) -> BTreeMap<&[u8], Vec<usize>> {
    let mut found: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    let mut at = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        found.entry(line.trim_ascii_start()).or_default().push(at);
        at += line.len() + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only_text(text: &str) -> String {
        let marked = Marked::new(text);
        let letters = text.char_indices();
        letters.map(|(at, letter)| if marked.is_text[at] { '.' } else { letter }).collect()
    }

    #[test]
    fn quotes_comments_and_documents_are_text() {
        for (text, expected) in [
            ("echo 'a | b' x", "echo ....... x"),
            ("echo \"a;b\" # c | d", "echo ..... ......."),
            ("echo \"$(a | b)\"", "echo .$(a | b)."),
            ("a \"$(b \"c\" | d)\" e", "a .$(b ... | d). e"),
            ("m \"$(cat <<'E'\na | sh\nE\n)\"", "m .$(cat <<...\n.......E\n)."),
            ("a `b` 'c'", "a `b` 'c'"),
            ("a#b", "a#b"),
            ("echo \\' | x", "echo \\' | x"),
            ("x $'a\\'b' y", "x $...... y"),
            ("cat <<E\na | b\nE\nc", "cat <<E\n......E\nc"),
            ("cat <<'E'\n`a` | sh\nE\nc", "cat <<...\n.........E\nc"),
            ("cat <<E\n$(a)\nE\nc", "cat <<E\n$(a)\nE\nc"),
            ("cat <<E\na | sh", "cat <<E\na | sh"),
            ("echo $((1<<E))\na | sh\nE", "echo $((1<<E))\na | sh\nE"),
            ("'", "."),
            ("\"a", ".."),
            ("é 'é'", "é ..."),
        ] {
            assert_eq!(only_text(text), expected, "{text}");
        }
    }

    #[test]
    fn a_line_is_cut_into_pipelines() {
        let cut = |text: &str| -> Vec<String> {
            let marked = Marked::new(text);
            marked.pipelines().into_iter().map(|range| text[range].trim().to_owned()).collect()
        };
        assert_eq!(cut("a | b && c; d & e"), ["a | b", "c", "d", "e"]);
        assert_eq!(cut("a 2>&1 | b |& c"), ["a 2>&1 | b |& c"]);
        assert_eq!(cut("a &> x"), ["a &> x"]);
        assert_eq!(cut("a '; b' || c"), ["a '; b'", "c"]);
    }
}
