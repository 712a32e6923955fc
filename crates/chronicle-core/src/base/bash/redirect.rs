//! Redirections, before, between and after the words of a command.

use super::cursor::{Reader, Reading, is_identifier};
use super::tree::{Redirection, Target};

/// Longer ones first, so that none is taken for a shorter one.
const OPERATORS: &[&str] =
    &["&>>", "<<<", "<<-", "&>", ">>", "<<", "<>", ">|", ">&", "<&", ">", "<"];

impl Reader<'_> {
    /// The redirection that begins here, if one does.
    pub(super) fn redirection(&mut self) -> Reading<Option<Redirection>> {
        self.peek();
        let start = self.at;
        let (number, variable) = self.descriptor()?;
        let has_descriptor = number.is_some() || variable.is_some();
        let begins = match (self.peek(), self.peek_second()) {
            (Some(b'<' | b'>'), Some(b'(')) => has_descriptor && variable.is_some(),
            (Some(b'<' | b'>'), _) => true,
            (Some(b'&'), Some(b'>')) => !has_descriptor,
            _ => false,
        };
        if !begins {
            self.at = start;
            return Ok(None);
        }
        let Some(operator) = OPERATORS.iter().copied().find(|operator| self.take(operator)) else {
            return self.unread("a redirection is not known");
        };
        if matches!(operator, "&>>" | "<<<" | "&>") || variable.is_some() {
            self.only_bash();
        }
        let target = match operator {
            "<<" | "<<-" => self.document(operator == "<<-")?,
            _ => Target::Word(self.some_word()?),
        };
        Ok(Some(Redirection { operator, number, variable, target, span: self.span_from(start) }))
    }

    /// The number or `{name}` in front of a redirection.
    fn descriptor(&mut self) -> Reading<(Option<u32>, Option<String>)> {
        let start = self.at;
        let mut digits = String::new();
        while let Some(byte) = self.peek().filter(u8::is_ascii_digit) {
            digits.push(char::from(byte));
            self.at += 1;
        }
        let is_before = |byte| matches!(byte, Some(b'<' | b'>'));
        if !digits.is_empty() {
            if !is_before(self.peek()) {
                self.at = start;
                return Ok((None, None));
            }
            return match digits.parse() {
                Ok(number) if digits.len() < 6 => Ok((Some(number), None)),
                _ => self.unread("the number of a redirection is too large"),
            };
        }
        if self.take("{") {
            let name = self.name();
            if is_identifier(&name) && self.take("}") && is_before(self.peek()) {
                return Ok((None, Some(name)));
            }
            // `{a[1]}>` names a member of a list.
            if is_identifier(&name) && self.peek() == Some(b'[') {
                return self.unread("a brace is followed by a bracket");
            }
        }
        self.at = start;
        Ok((None, None))
    }
}
