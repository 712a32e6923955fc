//! Simple commands, their assignments, and definitions of functions that look like one at first.

use std::rc::Rc;

use super::cursor::{Reader, Reading, ends_word, is_identifier};
use super::tree::{Assigned, Assignment, Command, Element, What, Word};

/// Commands after whose name `a=(…)` is an assignment too.
const DECLARING: &[&str] = &["declare", "typeset", "local", "export", "readonly"];

impl Reader<'_> {
    pub(super) fn simple(&mut self) -> Reading<Command> {
        self.peek();
        let start = self.at;
        let (mut sets, mut words, mut lists) = (Vec::new(), Vec::<Word>::new(), Vec::new());
        let mut redirections = Vec::new();
        loop {
            self.skip_blanks();
            if let Some(redirection) = self.redirection()? {
                redirections.push(redirection);
                continue;
            }
            if self.peek() == Some(b'(') {
                let is_alone = sets.is_empty() && redirections.is_empty();
                return match words.as_slice() {
                    [name] if is_alone => self.function_after(&name.clone(), start),
                    _ => self.unread("a bracket stands where none can"),
                };
            }
            let starts_process =
                matches!(self.peek(), Some(b'<' | b'>')) && self.peek_second() == Some(b'(');
            if ends_word(self.peek()) && !starts_process {
                break;
            }
            let is_declaring =
                words.first().and_then(Word::plain).is_some_and(|it| DECLARING.contains(&it));
            if words.is_empty() {
                if let Some(assignment) = self.assignment(false)? {
                    sets.push(assignment);
                    continue;
                }
            } else if is_declaring && let Some(assignment) = self.assignment(true)? {
                lists.push(assignment);
                continue;
            }
            words.push(self.some_word()?);
        }
        if words.is_empty() && sets.is_empty() && redirections.is_empty() {
            return self.unread("a command is missing");
        }
        let what = What::Simple { sets, words, lists };
        Ok(Command { what, redirections, span: self.span_from(start) })
    }

    fn function_after(&mut self, name: &Word, start: usize) -> Reading<Command> {
        let Some(name) = name.plain().map(str::to_owned) else {
            return self.unread("the name of a function is not plain");
        };
        self.take("(");
        self.skip_blanks();
        if !self.take(")") {
            return self.unread("a bracket stands where none can");
        }
        self.function_body(name, start)
    }

    /// What a function does, after its name and brackets.
    pub(super) fn function_body(&mut self, name: String, start: usize) -> Reading<Command> {
        if name.chars().any(|letter| "{}[]*?!=~".contains(letter)) {
            return self.unread("the name of a function is unusual");
        }
        self.skip_newlines()?;
        let body = self.deeper(Self::command)?;
        if matches!(body.what, What::Simple { .. } | What::Function { .. } | What::Coprocess { .. })
        {
            return self.unread("a function has no body");
        }
        let what = What::Function { name, body: Rc::new(body) };
        Ok(Command { what, redirections: Vec::new(), span: self.span_from(start) })
    }

    /// The assignment that begins here, if one does; with `only_lists` one of the form `a=(…)`.
    fn assignment(&mut self, only_lists: bool) -> Reading<Option<Assignment>> {
        self.peek();
        let start = self.at;
        let name = self.name();
        if !is_identifier(&name) {
            self.at = start;
            return Ok(None);
        }
        let index = match self.peek() {
            // bash reads on to the closing bracket here, over whatever stands between.
            Some(b'[') if !only_lists => {
                let from = self.at;
                let index = self.subscript()?;
                let inside = self.text.get(from..self.at).unwrap_or_default();
                if inside.contains(|it: char| it.is_whitespace() || ";&|()<>\"'#".contains(it)) {
                    let is_set = self.peek() == Some(b'=') || self.take_ahead("+=");
                    if !is_set {
                        return self.unread("a bracket after a name is unusual");
                    }
                }
                Some(index)
            }
            _ => None,
        };
        let is_appended = self.take_ahead("+=");
        let is_set = is_appended && self.take("+=") || self.take("=");
        if !is_set || only_lists && self.peek() != Some(b'(') {
            self.at = start;
            return Ok(None);
        }
        if is_appended {
            self.only_bash();
        }
        let value = if self.peek() == Some(b'(') {
            if index.is_some() {
                return self.unread("a list is assigned to a member");
            }
            Assigned::List(self.members()?)
        } else {
            Assigned::Word(self.word()?)
        };
        let span = self.span_from(start);
        Ok(Some(Assignment { name, index, is_appended, value, span }))
    }

    fn take_ahead(&mut self, wanted: &str) -> bool {
        let at = self.at;
        let is_there = self.take(wanted);
        self.at = at;
        is_there
    }

    /// The list `(…)` after `a=`.
    fn members(&mut self) -> Reading<Vec<Element>> {
        self.only_bash();
        if !self.pending.is_empty() {
            return self.unread("a list follows a here-document on its line");
        }
        self.take("(");
        let mut members = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.take(")") {
                return Ok(members);
            }
            let mut index = None;
            if self.peek() == Some(b'[') {
                let start = self.at;
                let found = self.subscript()?;
                if self.take("=") || self.take("+=") {
                    index = Some(found);
                } else {
                    self.at = start;
                }
            }
            let word = self.word()?;
            if word.parts.is_empty() && index.is_none() {
                return self.unread("a list has something that is no word");
            }
            members.push(Element { index, word });
        }
    }
}
