//! `[[ … ]]`, which has words and operators of its own.

use super::cursor::{Reader, Reading};
use super::tree::{Check, What, Word};
use super::word::Parts;

const BINARY: &[&str] =
    &["=", "==", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

impl Reader<'_> {
    pub(super) fn test(&mut self) -> Reading<What> {
        self.only_bash();
        if !self.pending.is_empty() {
            return self.unread("a test follows a here-document on its line");
        }
        self.take_word();
        let mut checks = Vec::new();
        self.any_of(&mut checks)?;
        self.keyword("]]")?;
        Ok(What::Test(checks))
    }

    /// Checks joined by `&&` and `||`.
    fn any_of(&mut self, checks: &mut Vec<Check>) -> Reading<()> {
        loop {
            self.skip_newlines()?;
            self.one_of(checks)?;
            self.skip_newlines()?;
            if !self.take("&&") && !self.take("||") {
                return Ok(());
            }
        }
    }

    fn one_of(&mut self, checks: &mut Vec<Check>) -> Reading<()> {
        self.skip_newlines()?;
        if self.peek() == Some(b'(') {
            self.take("(");
            self.deeper(|reader| reader.any_of(checks))?;
            self.skip_newlines()?;
            if !self.take(")") {
                return self.unread("a bracket is not closed");
            }
            return Ok(());
        }
        let word = self.peek_word();
        match word.as_deref() {
            Some("!") => {
                if self.peek_second() == Some(b'(') {
                    return self.unread("`!(` may be a pattern or a test");
                }
                self.take_word();
                return self.deeper(|reader| reader.one_of(checks));
            }
            Some("]]") => return self.unread("a test is empty"),
            Some(operator) if is_unary(operator) => {
                let operator = operator.to_owned();
                let start = self.at;
                self.take_word();
                self.skip_blanks();
                // `[[ -f ]]` asks whether the text `-f` is empty, and `[[ -a == x ]]` compares it.
                let is_operator = !self.is_at_end_of_check()
                    && !self.peek_word().is_some_and(|next| BINARY.contains(&next.as_str()));
                if is_operator {
                    let words = vec![self.some_word()?];
                    checks.push(Check { operator, words });
                    return Ok(());
                }
                self.at = start;
            }
            _ => {}
        }
        let left = self.some_word()?;
        self.skip_blanks();
        if self.is_at_end_of_check() {
            checks.push(Check { operator: String::new(), words: vec![left] });
            return Ok(());
        }
        let operator = self.comparison()?;
        self.skip_blanks();
        let right = if operator == "=~" { self.expression_of_match()? } else { self.some_word()? };
        checks.push(Check { operator, words: vec![left, right] });
        Ok(())
    }

    fn comparison(&mut self) -> Reading<String> {
        let is_order = matches!(self.peek(), Some(b'<' | b'>'));
        if is_order && !matches!(self.peek_second(), Some(b'(' | b'<' | b'>' | b'&' | b'|')) {
            let operator = if self.peek() == Some(b'<') { "<" } else { ">" };
            self.at += 1;
            return Ok(operator.to_owned());
        }
        match self.peek_word() {
            Some(word) if BINARY.contains(&word.as_str()) => {
                self.take_word();
                Ok(word)
            }
            _ => self.unread("a test compares in a way that is not known"),
        }
    }

    fn is_at_end_of_check(&mut self) -> bool {
        match (self.peek(), self.peek_second()) {
            (Some(b'&'), Some(b'&'))
            | (Some(b'|'), Some(b'|'))
            | (Some(b')' | b'\n') | None, _) => true,
            _ => self.peek_word().as_deref() == Some("]]"),
        }
    }

    /// The word after `=~`, in which brackets and bars belong to the expression.
    fn expression_of_match(&mut self) -> Reading<Word> {
        let start = self.at;
        let mut parts = Parts::default();
        let mut depth = 0_usize;
        loop {
            let Some(byte) = self.peek() else { return self.unread("a test is not closed") };
            match byte {
                b')' | b' ' | b'\t' | b'\n' if depth == 0 => break,
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'|' => {
                    if depth == 0 && self.peek_second() == Some(b'|') {
                        return self.unread("an expression ends in an unusual way");
                    }
                }
                b'<' | b'>' | b';' | b'&' | b'\n' => {
                    return self.unread("an expression has an unusual character");
                }
                // Read as plain text, but quotes and expansions hide brackets.
                _ => {
                    self.unquoted(byte, &mut parts)?;
                    continue;
                }
            }
            if let Some(letter) = self.take_char() {
                parts.plain(letter);
            }
        }
        if parts.0.is_empty() {
            return self.unread("an expression is missing");
        }
        Ok(Word { parts: parts.0, span: self.span_from(start) })
    }
}

fn is_unary(word: &str) -> bool {
    let mut letters = word.chars();
    let letter = (letters.next(), letters.next(), letters.next());
    matches!(letter, (Some('-'), Some(letter), None) if "abcdefghknoprstuvwxzGLNORS".contains(letter))
}
