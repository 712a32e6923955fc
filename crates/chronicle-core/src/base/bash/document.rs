//! Here-documents: their bodies begin after the line that names them, and bash reads them before it looks inside.

use std::cell::OnceCell;
use std::rc::Rc;

use super::cursor::{Reader, Reading};
use super::tree::{Part, Target};
use super::word::Parts;

/// A here-document whose body was not reached yet.
pub(super) struct Pending {
    end: String,
    is_quoted: bool,
    /// `<<-`: tabs at the beginning of a line do not count.
    strips_tabs: bool,
    body: Rc<OnceCell<Vec<Part>>>,
}

impl Reader<'_> {
    /// The word after `<<`, which ends the body.
    pub(super) fn document(&mut self, strips_tabs: bool) -> Reading<Target> {
        let word = self.some_word()?;
        let mut end = String::new();
        let mut is_quoted = false;
        for part in &word.parts {
            match part {
                Part::Plain(text) => end.push_str(text),
                Part::Quoted(text) => {
                    end.push_str(text);
                    is_quoted = true;
                }
                Part::Double(inside) => {
                    is_quoted = true;
                    for part in inside {
                        let Part::Quoted(text) = part else {
                            return self.unread("the end of a here-document is not plain");
                        };
                        end.push_str(text);
                    }
                }
                Part::Parameter(_)
                | Part::Substitution(_)
                | Part::Arithmetic(_)
                | Part::Process(_)
                | Part::Pattern(_) => {
                    return self.unread("the end of a here-document is not plain");
                }
            }
        }
        let written = self.text.get(word.span.start..word.span.end).unwrap_or_default();
        let is_strange = end.contains('\n') || self.fixed.is_none() && written.contains('$');
        if is_strange || end.contains('$') || end.contains('\\') {
            return self.unread("the end of a here-document is not plain");
        }
        if let Some(count) = self.documents.last_mut() {
            *count += 1;
        }
        let body = Rc::new(OnceCell::new());
        self.pending.push(Pending { end, is_quoted, strips_tabs, body: Rc::clone(&body) });
        Ok(Target::Document(body))
    }

    /// Reads the bodies that begin here.
    pub(super) fn read_documents(&mut self) -> Reading<()> {
        for pending in std::mem::take(&mut self.pending) {
            let start = self.at;
            let text = self.raw_body(&pending)?;
            let parts = if pending.is_quoted {
                vec![Part::Quoted(text)]
            } else {
                let span = self.span_from(start);
                let mut reader = self.apart(&text, span)?;
                let parts = reader.body_of_document()?;
                self.learn(&reader);
                parts
            };
            // Each is read once: it was taken off the list.
            let _ = pending.body.set(parts);
        }
        Ok(())
    }

    /// The lines up to the one that ends the body, which is taken too.
    fn raw_body(&mut self, pending: &Pending) -> Reading<String> {
        let mut body = String::new();
        loop {
            let Some(line) = self.raw_line(pending) else {
                return self.unread("a here-document does not end");
            };
            let bare = line.strip_suffix('\n').unwrap_or(&line);
            if bare == pending.end {
                return Ok(body);
            }
            // Inside of a substitution bash also takes `EOF)` for the end, with a warning.
            if !self.documents.is_empty() && bare.starts_with(&pending.end) && bare.contains(')') {
                return self.unread("a here-document may end in the middle of a line");
            }
            body.push_str(&line);
        }
    }

    /// One line as the body has it; `None` at the end of the text.
    fn raw_line(&mut self, pending: &Pending) -> Option<String> {
        let mut line = String::new();
        self.byte(self.at)?;
        if pending.strips_tabs {
            while self.byte(self.at) == Some(b'\t') {
                self.at += 1;
            }
        }
        while let Some(letter) = self.take_char() {
            if letter == '\\' && !pending.is_quoted {
                match self.take_char() {
                    // Joined with the next line, before anything is compared with the end.
                    Some('\n') => {}
                    Some(next) => {
                        line.push('\\');
                        line.push(next);
                    }
                    None => line.push('\\'),
                }
                continue;
            }
            line.push(letter);
            if letter == '\n' {
                break;
            }
        }
        Some(line)
    }

    /// A body whose expansions are performed; quotes mean nothing in it.
    pub(super) fn body_of_document(&mut self) -> Reading<Vec<Part>> {
        let mut parts = Parts::default();
        while let Some(byte) = self.peek() {
            self.in_double(byte, "$`\\", &mut parts)?;
        }
        Ok(parts.0)
    }
}
