//! Commands that hold others: groups, loops, definitions.

use super::cursor::{Reader, Reading, is_identifier};
use super::tree::{Command, Redirection, Script, What, Word};

/// Words that may not stand where a command begins.
const MISPLACED: &[&str] = &["then", "do", "done", "fi", "else", "elif", "esac", "}", "!", "]]"];

impl Reader<'_> {
    pub(super) fn command(&mut self) -> Reading<Command> {
        self.skip_blanks();
        let start = self.at;
        let word = self.peek_word();
        let what = match (self.peek(), self.peek_second()) {
            (Some(b'('), Some(b'(')) => self.expression()?,
            (Some(b'('), _) => self.subshell()?,
            _ => match word.as_deref() {
                Some("{") => What::Group(self.group()?),
                Some("if") => self.branches()?,
                Some("while" | "until") => self.repeated()?,
                Some("for") => self.counted()?,
                Some("select") => {
                    self.only_bash();
                    self.each(true)?
                }
                Some("case") => self.cases()?,
                Some("[[") => self.test()?,
                Some("function") => return self.function(start),
                Some("coproc") => self.coprocess()?,
                Some(word) if word != "]]" && MISPLACED.contains(&word) => {
                    return self.unread("a word of the language stands where it cannot");
                }
                _ => return self.simple(),
            },
        };
        let redirections = self.redirections()?;
        Ok(Command { what, redirections, span: self.span_from(start) })
    }

    fn redirections(&mut self) -> Reading<Vec<Redirection>> {
        let mut redirections = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirection()? {
                Some(redirection) => redirections.push(redirection),
                None => return Ok(redirections),
            }
        }
    }

    /// Takes a word of the language that has to be next.
    pub(super) fn keyword(&mut self, word: &str) -> Reading<()> {
        self.skip_blanks();
        if self.peek_word().as_deref() != Some(word) {
            return self.unread("a word of the language is missing");
        }
        self.take_word();
        Ok(())
    }

    fn subshell(&mut self) -> Reading<What> {
        self.take("(");
        let script = self.body()?;
        if !self.take(")") {
            return self.unread("a bracket is not closed");
        }
        Ok(What::Subshell(script))
    }

    fn group(&mut self) -> Reading<Script> {
        self.keyword("{")?;
        let script = self.body()?;
        self.keyword("}")?;
        Ok(script)
    }

    /// `((…))`, which is commands in brackets unless both brackets close together.
    fn expression(&mut self) -> Reading<What> {
        self.only_bash();
        self.take("((");
        Ok(What::Arithmetic(self.deeper(|reader| reader.arithmetic(b')'))?))
    }

    /// `while` and `until`, up to `done`.
    fn repeated(&mut self) -> Reading<What> {
        self.take_word();
        let test = self.body()?;
        let body = self.do_group()?;
        Ok(What::While { test, body })
    }

    /// `do … done`, as after `while`.
    fn do_group(&mut self) -> Reading<Script> {
        self.keyword("do")?;
        let body = self.body()?;
        self.keyword("done")?;
        Ok(body)
    }

    fn counted(&mut self) -> Reading<What> {
        let start = self.at;
        self.take_word();
        self.skip_blanks();
        if self.peek() != Some(b'(') {
            self.at = start;
            return self.each(false);
        }
        self.only_bash();
        if !self.take("((") {
            return self.unread("a bracket stands where none can");
        }
        let parts = self.deeper(|reader| reader.arithmetic(b')'))?;
        self.skip_blanks();
        if self.peek() == Some(b';') && self.peek_second() != Some(b';') {
            self.at += 1;
        }
        self.skip_newlines()?;
        let body = self.loop_body()?;
        Ok(What::Count { parts, body })
    }

    /// The body of `for`, which may also stand in braces.
    fn loop_body(&mut self) -> Reading<Script> {
        if self.peek_word().as_deref() == Some("{") {
            self.only_bash();
            return self.group();
        }
        self.do_group()
    }

    /// `for` over words, and `select`.
    fn each(&mut self, is_select: bool) -> Reading<What> {
        self.take_word();
        let name = self.some_word()?;
        let Some(name) = name.plain().filter(|name| is_identifier(name)).map(str::to_owned) else {
            return self.unread("the variable of a loop has no plain name");
        };
        self.skip_blanks();
        let mut words = None;
        if self.peek() == Some(b';') && self.peek_second() != Some(b';') {
            self.at += 1;
            self.skip_newlines()?;
        } else {
            self.skip_newlines()?;
            if self.peek_word().as_deref() == Some("in") {
                self.take_word();
                words = Some(self.words_of_loop()?);
            }
        }
        let body = self.loop_body()?;
        Ok(What::For { name, words, is_select, body })
    }

    /// The words after `in`, and what ends them.
    fn words_of_loop(&mut self) -> Reading<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => break,
                Some(b';') if self.peek_second() != Some(b';') => {
                    self.at += 1;
                    break;
                }
                _ => words.push(self.some_word()?),
            }
        }
        self.skip_newlines()?;
        Ok(words)
    }

    /// `function name`, with brackets or without.
    fn function(&mut self, start: usize) -> Reading<Command> {
        self.only_bash();
        self.take_word();
        let name = self.some_word()?;
        let Some(name) = name.plain().map(str::to_owned) else {
            return self.unread("the name of a function is not plain");
        };
        self.skip_blanks();
        if self.peek() == Some(b'(') {
            // Without `()` the body may be a subshell.
            let at = self.at;
            self.take("(");
            self.skip_blanks();
            if !self.take(")") {
                self.at = at;
            }
        }
        self.function_body(name, start)
    }

    fn coprocess(&mut self) -> Reading<What> {
        self.only_bash();
        self.take_word();
        self.skip_blanks();
        let start = self.at;
        // `coproc NAME { …; }` has a name, `coproc NAME arguments` has none.
        let word = self.word()?;
        self.skip_blanks();
        let is_compound = self.peek() == Some(b'(')
            || self.peek_word().is_some_and(|next| {
                ["{", "if", "while", "until", "for", "case", "select", "[["]
                    .contains(&next.as_str())
            });
        let name = word.plain().filter(|name| is_identifier(name) && is_compound);
        let is_keyword = word.plain().is_some_and(|name| {
            ["if", "while", "until", "for", "case", "select", "function", "coproc"].contains(&name)
        });
        if is_keyword || word.parts.is_empty() || name.is_none() {
            self.at = start;
            let body = Box::new(self.deeper(Self::command)?);
            return Ok(What::Coprocess { name: None, body });
        }
        let name = name.map(str::to_owned);
        let body = Box::new(self.deeper(Self::command)?);
        Ok(What::Coprocess { name, body })
    }
}
