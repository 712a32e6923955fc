//! `if` and `case`, whose bodies run or not.

use super::cursor::{Reader, Reading};
use super::tree::{Arm, What};

impl Reader<'_> {
    pub(super) fn branches(&mut self) -> Reading<What> {
        self.take_word();
        let mut arms = Vec::new();
        loop {
            let test = self.body()?;
            self.keyword("then")?;
            arms.push((test, self.body()?));
            let word = self.peek_word();
            match word.as_deref() {
                Some("elif") => self.take_word(),
                Some("else") => {
                    self.take_word();
                    let other = Some(self.body()?);
                    self.keyword("fi")?;
                    return Ok(What::If { arms, other });
                }
                _ => {
                    self.keyword("fi")?;
                    return Ok(What::If { arms, other: None });
                }
            }
        }
    }

    pub(super) fn cases(&mut self) -> Reading<What> {
        self.take_word();
        let subject = self.some_word()?;
        self.skip_newlines()?;
        self.keyword("in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.peek_word().as_deref() == Some("esac") {
                self.take_word();
                return Ok(What::Case { subject, arms });
            }
            let (arm, is_last) = self.arm()?;
            arms.push(arm);
            if is_last {
                self.skip_newlines()?;
                self.keyword("esac")?;
                return Ok(What::Case { subject, arms });
            }
        }
    }

    /// One arm, and whether it lacks the `;;` that another one would need.
    fn arm(&mut self) -> Reading<(Arm, bool)> {
        if self.take("(") {
            self.skip_blanks();
        }
        let mut patterns = vec![self.some_word()?];
        loop {
            self.skip_blanks();
            if self.take(")") {
                break;
            }
            if !self.take("|") {
                return self.unread("a pattern is not closed");
            }
            patterns.push(self.some_word()?);
        }
        let body = self.list()?;
        self.skip_blanks();
        if self.take(";;&") || self.take(";&") {
            self.only_bash();
            return Ok((Arm { patterns, body, goes_on: true }, false));
        }
        let is_last = !self.take(";;");
        Ok((Arm { patterns, body, goes_on: false }, is_last))
    }
}
