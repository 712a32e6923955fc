//! A text as a reader of JSON would see it, and where each sign of it stands.

use std::ops::Range;

/// What stands for a bare quote: it ends a string, and is no part of any.
const STRUCTURE: char = '\0';

/// A text without its escapes.
pub(crate) struct Plain {
    text: String,
    /// Where each byte of it begins in the first text, and at last where that ends.
    from: Vec<usize>,
}

impl Plain {
    /// None when nothing is escaped that needs not be: then it is found as it stands.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let from = (0..=text.len()).collect();
        Self { text: text.to_owned(), from }.again()
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Where that part stands in the first text.
    pub(crate) fn origin(&self, part: Range<usize>) -> Range<usize> {
        self.from[part.start]..self.from[part.end]
    }

    /// The same once more, for JSON inside of JSON.
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

/// The first sign of a text and how many bytes it takes, escaped or not.
fn sign(text: &str) -> Option<(char, usize)> {
    let mut signs = text.chars();
    let first = signs.next()?;
    let escaped = if first == '\\' { signs.next() } else { None };
    Some(match (first, escaped) {
        ('"', _) => (STRUCTURE, 1),
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

/// `\u002d`, or the two of them that one sign beyond the first plane takes.
fn unicode(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
    };
    let first = unit(0)?;
    let pair = unit(6).map(|second| [first, second]);
    if let Some(Ok(sign)) = pair.and_then(|pair| char::decode_utf16(pair).next())
        && sign.len_utf16() == 2
    {
        return Some((sign, 12));
    }
    Some((char::from_u32(u32::from(first)).unwrap_or(char::REPLACEMENT_CHARACTER), 6))
}
