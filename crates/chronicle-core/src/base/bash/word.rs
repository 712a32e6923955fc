//! Words: plain text, quotes, and what is put together of them.

use std::rc::Rc;

use super::cursor::{Reader, Reading, ends_word, is_strange_blank};
use super::tree::{Command, Part, Script, What, Word};

/// Collects parts, and joins text that stands side by side.
#[derive(Default)]
pub(super) struct Parts(pub(super) Vec<Part>);

impl Parts {
    pub(super) fn plain(&mut self, letter: char) {
        if let Some(Part::Plain(text)) = self.0.last_mut() {
            text.push(letter);
        } else {
            self.0.push(Part::Plain(letter.to_string()));
        }
    }

    pub(super) fn quoted(&mut self, letter: char) {
        if let Some(Part::Quoted(text)) = self.0.last_mut() {
            text.push(letter);
        } else {
            self.0.push(Part::Quoted(letter.to_string()));
        }
    }

    /// Text as one more character of a kind, or a part of its own.
    pub(super) fn add(&mut self, part: Part) {
        self.0.push(part);
    }
}

impl Reader<'_> {
    /// A word, which may turn out to be empty where the caller allows it.
    pub(super) fn word(&mut self) -> Reading<Word> {
        self.peek();
        let start = self.at;
        let parts = self.deeper(Self::parts_of_word)?;
        Ok(Word { parts, span: self.span_from(start) })
    }

    /// A word that has to be there.
    pub(super) fn some_word(&mut self) -> Reading<Word> {
        self.skip_blanks();
        let word = self.word()?;
        if word.parts.is_empty() {
            return self.unread("a word is missing");
        }
        Ok(word)
    }

    fn parts_of_word(&mut self) -> Reading<Vec<Part>> {
        let mut parts = Parts::default();
        loop {
            let Some(byte) = self.peek() else { return Ok(parts.0) };
            match byte {
                b'<' | b'>' if self.peek_second() == Some(b'(') => {
                    let part = self.process()?;
                    parts.add(part);
                }
                b'?' | b'*' | b'+' | b'@' | b'!' if self.peek_second() == Some(b'(') => {
                    let part = self.pattern()?;
                    parts.add(part);
                }
                _ if ends_word(Some(byte)) => return Ok(parts.0),
                _ => self.unquoted(byte, &mut parts)?,
            }
        }
    }

    /// One step of a text that is not quoted: an escape, a quotation, an expansion, or a character.
    pub(super) fn unquoted(&mut self, byte: u8, parts: &mut Parts) -> Reading<()> {
        match byte {
            b'\\' => {
                self.at += 1;
                let Some(letter) = self.take_char() else {
                    return self.unread("it ends with a backslash");
                };
                parts.quoted(letter);
            }
            b'\'' => {
                let part = self.single()?;
                parts.add(part);
            }
            b'"' => {
                let part = self.double()?;
                parts.add(part);
            }
            b'`' => {
                let part = self.backquoted(false)?;
                parts.add(part);
            }
            b'$' => self.dollar(false, parts)?,
            _ => {
                let Some(letter) = self.take_char() else { return Ok(()) };
                if is_strange_blank(letter) {
                    return self.unread("a character looks like a blank and is none");
                }
                parts.plain(letter);
            }
        }
        Ok(())
    }

    fn single(&mut self) -> Reading<Part> {
        let rest = self.text.get(self.at + 1..).unwrap_or_default();
        let Some(length) = rest.find('\'') else {
            return self.unread("a quotation is not closed");
        };
        self.at += length + 2;
        Ok(Part::Quoted(rest.get(..length).unwrap_or_default().to_owned()))
    }

    /// From one double quote to the next.
    pub(super) fn double(&mut self) -> Reading<Part> {
        self.at += 1;
        let parts = self.deeper(|reader| {
            let mut parts = Parts::default();
            loop {
                match reader.peek() {
                    None => return reader.unread("a quotation is not closed"),
                    Some(b'"') => {
                        reader.at += 1;
                        return Ok(parts.0);
                    }
                    Some(byte) => reader.in_double(byte, "$`\"\\", &mut parts)?,
                }
            }
        })?;
        Ok(Part::Double(parts))
    }

    /// One step of a text between double quotes, or one like it; a backslash means something before `escapable` only.
    pub(super) fn in_double(
        &mut self,
        byte: u8,
        escapable: &str,
        parts: &mut Parts,
    ) -> Reading<()> {
        match byte {
            b'\\' => {
                self.at += 1;
                match self.take_char() {
                    Some(letter) if escapable.contains(letter) => parts.quoted(letter),
                    Some(letter) => {
                        parts.quoted('\\');
                        parts.quoted(letter);
                    }
                    None => return self.unread("it ends with a backslash"),
                }
            }
            b'`' => {
                let part = self.backquoted(escapable.contains('"'))?;
                parts.add(part);
            }
            b'$' => self.dollar(true, parts)?,
            _ => {
                if let Some(letter) = self.take_char() {
                    parts.quoted(letter);
                }
            }
        }
        Ok(())
    }

    /// From one backquote to the next. Quotes inside do not hide the second one.
    fn backquoted(&mut self, is_double: bool) -> Reading<Part> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.take_char() {
                None => return self.unread("a backquote is not closed"),
                Some('`') => break,
                Some('\\') => match self.take_char() {
                    None => return self.unread("a backquote is not closed"),
                    Some(letter @ ('`' | '\\' | '$')) => text.push(letter),
                    Some('"') if is_double => text.push('"'),
                    Some(letter) => {
                        text.push('\\');
                        text.push(letter);
                    }
                },
                Some(letter) => text.push(letter),
            }
        }
        let span = self.span_from(start);
        let mut reader = self.apart(&text, span)?;
        let script = reader.whole_script()?;
        self.learn(&reader);
        Ok(Part::Substitution(Rc::new(script)))
    }

    /// Commands behind a path: `<(…)` or `>(…)`.
    pub(super) fn process(&mut self) -> Reading<Part> {
        self.only_bash();
        self.at += 1;
        let script = self.parenthesized()?;
        Ok(Part::Process(Rc::new(script)))
    }

    /// The list in `$(…)` and its kin; the reader stands before the bracket.
    pub(super) fn parenthesized(&mut self) -> Reading<Script> {
        self.take("(");
        let (start, waiting) = (self.at, self.pending.len());
        self.documents.push(0);
        let script = self.list()?;
        let documents = self.documents.pop().unwrap_or(0);
        if !self.take(")") {
            return self.unread("a bracket is not closed");
        }
        // Where the bodies of such here-documents begin differs between versions of bash.
        let has_lines = self.text.get(start..self.at).is_some_and(|inside| inside.contains('\n'));
        if self.pending.len() != waiting || (waiting > 0 && has_lines) {
            return self.unread("a here-document and a substitution cross each other");
        }
        // bash writes such a list anew before it runs it, and some versions lose a `;` after a here-document.
        if documents > 0 && !is_one_pipeline(&script) {
            return self.unread("a here-document stands in a substitution with other commands");
        }
        Ok(script)
    }

    /// `@(a|b)` and its kin, as far as it is written plainly.
    fn pattern(&mut self) -> Reading<Part> {
        self.only_bash();
        let mut text = String::new();
        let mut depth = 0_usize;
        loop {
            let Some(byte) = self.peek() else { return self.unread("a pattern is not closed") };
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                b'\\' | b'\'' | b'"' | b'`' | b'$' | b'<' | b'>' | b'&' | b';' | b'\n' | b' '
                | b'\t' | b'#' => {
                    return self.unread("an extended pattern is written in an unusual way");
                }
                _ => {}
            }
            let Some(letter) = self.take_char() else {
                return self.unread("a pattern is not closed");
            };
            text.push(letter);
            if byte == b')' && depth == 0 {
                break;
            }
        }
        if text.ends_with("()") {
            return self.unread("it may be a pattern or a function");
        }
        Ok(Part::Pattern(text))
    }
}

fn is_one_pipeline(script: &Script) -> bool {
    let [item] = script.items.as_slice() else { return false };
    let is_simple = |command: &Command| matches!(command.what, What::Simple { .. });
    item.rest.is_empty() && !item.is_background && item.first.commands.iter().all(is_simple)
}
