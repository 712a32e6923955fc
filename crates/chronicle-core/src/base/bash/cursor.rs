//! Where the reader stands in the text. A backslash before a line's end joins two lines wherever quotes do not forbid it.

use super::tree::ByteSpan;
use super::{DEPTH_MAX, Unread};

/// One text that is being read.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// Here-documents whose bodies begin after the end of this line.
    pub(super) pending: Vec<super::document::Pending>,
    /// How many here-documents each substitution has, innermost last.
    pub(super) documents: Vec<usize>,
    /// Where the first thing stands that a plain `sh` reads in another way.
    pub(super) bash_only: Option<usize>,
    /// For a text that is no part of the original, such as a backquoted one: the place of all of it.
    pub(super) fixed: Option<ByteSpan>,
}

pub(super) type Reading<T> = Result<T, Unread>;

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, depth: usize, fixed: Option<ByteSpan>) -> Self {
        Self {
            text,
            at: 0,
            depth,
            pending: Vec::new(),
            documents: Vec::new(),
            bash_only: None,
            fixed,
        }
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The place of the next byte that counts, from `at` on.
    pub(super) fn skipped(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        at
    }

    /// The next byte; the reader stands on it afterwards.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.at = self.skipped(self.at);
        self.byte(self.at)
    }

    /// The byte after the next one.
    pub(super) fn peek_second(&mut self) -> Option<u8> {
        self.peek()?;
        self.byte(self.skipped(self.at + 1))
    }

    /// Takes these ASCII bytes if they are next.
    pub(super) fn take(&mut self, wanted: &str) -> bool {
        let mut at = self.at;
        for byte in wanted.bytes() {
            at = self.skipped(at);
            if self.byte(at) != Some(byte) {
                return false;
            }
            at += 1;
        }
        self.at = at;
        true
    }

    /// The next character, taken as it is: joins no lines.
    pub(super) fn take_char(&mut self) -> Option<char> {
        let letter = self.text.get(self.at..)?.chars().next()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    pub(super) fn span_from(&self, start: usize) -> ByteSpan {
        self.fixed.unwrap_or(ByteSpan { start, end: self.at })
    }

    pub(super) fn unread<T>(&self, why: &'static str) -> Reading<T> {
        Err(self.refusal(why))
    }

    pub(super) fn refusal(&self, why: &'static str) -> Unread {
        Unread { at: self.fixed.map_or(self.at, |span| span.start), why }
    }

    pub(super) fn only_bash(&mut self) {
        let at = self.fixed.map_or(self.at, |span| span.start);
        self.bash_only.get_or_insert(at);
    }

    /// Reads something one level deeper.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Reading<T>) -> Reading<T> {
        if self.depth >= DEPTH_MAX {
            return self.unread("it is nested too deeply");
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// A reader of another text, such as a backquoted one, whose place is that of `span`.
    pub(super) fn apart<'t>(&self, text: &'t str, span: ByteSpan) -> Reading<Reader<'t>> {
        if self.depth >= DEPTH_MAX {
            return self.unread("it is nested too deeply");
        }
        Ok(Reader::new(text, self.depth + 1, Some(self.fixed.unwrap_or(span))))
    }

    /// Takes over what another reader saw.
    pub(super) fn learn(&mut self, other: &Reader<'_>) {
        if other.bash_only.is_some() {
            self.only_bash();
        }
    }

    /// Goes over blanks and a comment, not over the end of the line.
    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        if self.peek() == Some(b'#') {
            // A backslash at the end of a comment joins nothing.
            while !matches!(self.byte(self.at), None | Some(b'\n')) {
                self.at += 1;
            }
        }
    }

    /// Takes the end of a line, and after it the here-documents that wait for it.
    pub(super) fn take_newline(&mut self) -> Reading<bool> {
        if self.peek() != Some(b'\n') {
            return Ok(false);
        }
        self.at += 1;
        self.read_documents()?;
        Ok(true)
    }

    pub(super) fn skip_newlines(&mut self) -> Reading<()> {
        loop {
            self.skip_blanks();
            if !self.take_newline()? {
                return Ok(());
            }
        }
    }
}

/// Whether an unquoted byte ends a word.
pub(super) fn ends_word(byte: Option<u8>) -> bool {
    matches!(
        byte,
        None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
    )
}

/// Whether this is a blank that looks like one to people or to some system's library, and not to bash.
pub(super) fn is_strange_blank(letter: char) -> bool {
    matches!(letter, '\u{b}' | '\u{c}')
        || (!letter.is_ascii() && letter.is_whitespace())
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{85}')
}

/// Whether this is the name of a variable.
pub(crate) fn is_identifier(text: &str) -> bool {
    let is_first = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    text.as_bytes().first().is_some_and(is_first)
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
