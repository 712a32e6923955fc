//! Text with its JSON escapes resolved, and where each character was in the original.

use std::ops::Range;

/// Replaces a bare quote: it ends a string and is part of none.
const STRUCTURE: char = '\0';
/// Begins a terminal's escape sequence.
pub(crate) const ESCAPE: char = '\u{1b}';

/// Text without its escapes.
pub(crate) struct Plain {
    text: String,
    /// Offset of each byte in the original text, and finally the length of the original.
    from: Vec<usize>,
}

impl Plain {
    /// `None` if the text has no unnecessary escapes and can be searched as is.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let from = (0..=text.len()).collect();
        Self { text: text.to_owned(), from }.again()
    }

    /// The text without a terminal's colours and other sequences; `None` if it has none.
    pub(crate) fn without_colours(text: &str) -> Option<Self> {
        if !text.contains(ESCAPE) {
            return None;
        }
        Self { text: text.to_owned(), from: (0..=text.len()).collect() }.uncoloured()
    }

    /// The same of text whose escapes were resolved.
    pub(crate) fn uncoloured(&self) -> Option<Self> {
        if !self.text.contains(ESCAPE) {
            return None;
        }
        let mut plain = Self { text: String::new(), from: Vec::new() };
        let mut at = 0;
        while let Some(sign) = self.text[at..].chars().next() {
            if sign == ESCAPE {
                at += sequence(&self.text[at..]);
                continue;
            }
            plain.text.push(sign);
            plain.from.resize(plain.text.len(), self.from[at]);
            at += sign.len_utf8();
        }
        plain.from.push(self.from[at]);
        Some(plain)
    }

    /// The text to search in.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The range of the original text that this part came from.
    pub(crate) fn origin(&self, part: Range<usize>) -> Range<usize> {
        self.from[part.start]..self.from[part.end]
    }

    /// Resolves escapes once more, for JSON inside of JSON.
    pub(crate) fn again(&self) -> Option<Self> {
        if !self.text.contains("\\/") && !self.text.contains("\\u") {
            return None;
        }
        let mut plain = Self { text: String::new(), from: Vec::new() };
        let mut at = 0;
        while let Some((sign, bytes)) = sign(&self.text[at..]) {
            plain.text.push(sign);
            plain.from.resize(plain.text.len(), self.from[at]);
            at += bytes;
        }
        plain.from.push(self.from[at]);
        Some(plain)
    }
}

/// Length of the escape sequence that a text begins with: `ESC [ … letter`, or the escape alone.
fn sequence(text: &str) -> usize {
    let Some(inner) = text[1..].strip_prefix('[') else { return 1 };
    // Any sequence and not only colours: what moves the cursor also cuts a secret in two.
    let parameters = inner.bytes().take_while(|byte| (0x20..0x40).contains(byte)).count();
    let ends = inner.as_bytes().get(parameters).is_some_and(|byte| (0x40..0x7f).contains(byte));
    2 + parameters + usize::from(ends)
}

/// The first character of a text and the number of bytes it takes, escaped or not.
fn sign(text: &str) -> Option<(char, usize)> {
    let mut signs = text.chars();
    let first = signs.next()?;
    let escaped = if first == '\\' { signs.next() } else { None };
    Some(match (first, escaped) {
        // A bare quote ends a text of JSON. Replaced by a sign that is in no secret, nothing can match across it.
        ('"', _) => (STRUCTURE, 1),
        // What is no escape after all stays as it is, one sign at a time.
        (_, Some('u')) => unicode(text).unwrap_or(('\\', 1)),
        (_, Some(sign @ ('"' | '\\' | '/'))) => (sign, 2),
        (_, Some('n')) => ('\n', 2),
        (_, Some('r')) => ('\r', 2),
        (_, Some('t')) => ('\t', 2),
        (_, Some('b')) => ('\u{8}', 2),
        (_, Some('f')) => ('\u{c}', 2),
        _ => (first, first.len_utf8()),
    })
}

/// `\u002d`, or the surrogate pair of a character beyond the first plane.
fn unicode(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
    };
    let first = unit(0)?;
    // Characters beyond 16 bits are written as two escapes.
    let pair = unit(6).map(|second| [first, second]);
    if let Some(Ok(sign)) = pair.and_then(|pair| char::decode_utf16(pair).next())
        && sign.len_utf16() == 2
    {
        return Some((sign, 12));
    }
    Some((char::from_u32(u32::from(first)).unwrap_or(char::REPLACEMENT_CHARACTER), 6))
}
