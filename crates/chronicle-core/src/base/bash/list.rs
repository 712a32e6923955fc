//! Lists of commands, and the pipelines that they consist of.

use super::cursor::{Reader, Reading};
use super::tree::{Item, Joint, Pipeline, Script};

/// Words that end a list where a command could begin.
const CLOSING: &[&str] = &["then", "do", "done", "fi", "else", "elif", "esac", "}"];

impl Reader<'_> {
    /// Commands up to the end of the text, a closing word, `)` or `;;`, none of which is taken.
    pub(super) fn list(&mut self) -> Reading<Script> {
        self.deeper(|reader| {
            let mut items = Vec::new();
            loop {
                reader.skip_newlines()?;
                if reader.is_at_end_of_list() {
                    return Ok(Script { items });
                }
                let mut item = reader.item()?;
                reader.skip_blanks();
                let goes_on = reader.separator(&mut item)?;
                items.push(item);
                if !goes_on {
                    return Ok(Script { items });
                }
            }
        })
    }

    /// A list that has to have a command.
    pub(super) fn body(&mut self) -> Reading<Script> {
        let script = self.list()?;
        if script.items.is_empty() {
            return self.unread("a command is missing");
        }
        Ok(script)
    }

    /// What ends an item; whether another one may follow.
    fn separator(&mut self, item: &mut Item) -> Reading<bool> {
        match self.peek() {
            Some(b'\n') => Ok(true),
            Some(b';') if matches!(self.peek_second(), Some(b';' | b'&')) => Ok(false),
            Some(b';') => {
                self.at += 1;
                Ok(true)
            }
            Some(b'&') => {
                self.at += 1;
                item.is_background = true;
                Ok(true)
            }
            _ if self.is_at_end_of_list() => Ok(false),
            _ => self.unread("two commands have nothing between them"),
        }
    }

    fn is_at_end_of_list(&mut self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.peek_second(), Some(b';' | b'&')),
            _ => self.peek_word().is_some_and(|word| CLOSING.contains(&word.as_str())),
        }
    }

    fn item(&mut self) -> Reading<Item> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let joint = match (self.peek(), self.peek_second()) {
                (Some(b'&'), Some(b'&')) => Joint::And,
                (Some(b'|'), Some(b'|')) => Joint::Or,
                _ => return Ok(Item { first, rest, is_background: false }),
            };
            self.take(if joint == Joint::And { "&&" } else { "||" });
            self.skip_newlines()?;
            rest.push((joint, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Reading<Pipeline> {
        let mut is_negated = false;
        let mut has_prefix = false;
        loop {
            self.skip_blanks();
            match self.peek_word().as_deref() {
                Some("!") => {
                    // With `extglob` set, `!(…)` is a pattern.
                    if self.peek_second() == Some(b'(') && self.text.contains("extglob") {
                        return self.unread("`!(` may be a pattern or a command");
                    }
                    self.take_word();
                    is_negated = !is_negated;
                }
                Some("time") => self.timed()?,
                _ => break,
            }
            has_prefix = true;
        }
        let mut commands = Vec::new();
        let ends = matches!(self.peek(), None | Some(b'\n' | b';' | b'&' | b')'));
        if has_prefix && ends {
            return Ok(Pipeline { is_negated, commands });
        }
        loop {
            commands.push(self.command()?);
            self.skip_blanks();
            match (self.peek(), self.peek_second()) {
                (Some(b'|'), Some(b'|')) => break,
                (Some(b'|'), Some(b'&')) => {
                    self.only_bash();
                    self.take("|&");
                }
                (Some(b'|'), _) => {
                    self.take("|");
                }
                _ => break,
            }
            self.skip_newlines()?;
        }
        Ok(Pipeline { is_negated, commands })
    }

    /// The word `time` and its options.
    fn timed(&mut self) -> Reading<()> {
        self.take_word();
        self.skip_blanks();
        while matches!(self.peek_word().as_deref(), Some("-p" | "--")) {
            self.take_word();
            self.skip_blanks();
        }
        if self.peek() == Some(b'-') {
            return self.unread("`time` has an option that is not known");
        }
        Ok(())
    }

    /// The next word if it is written without any quoting; the reader does not move.
    pub(super) fn peek_word(&mut self) -> Option<String> {
        self.word_ahead().map(|(word, _)| word)
    }

    /// Goes over the word that [`Self::peek_word`] showed.
    pub(super) fn take_word(&mut self) {
        if let Some((_, end)) = self.word_ahead() {
            self.at = end;
        }
    }

    fn word_ahead(&mut self) -> Option<(String, usize)> {
        /// Longer ones are never looked for.
        const LONGEST: usize = 9;
        self.peek();
        let mut at = self.at;
        let mut word = String::new();
        loop {
            at = self.skipped(at);
            let byte = self.byte(at);
            let after = self.byte(self.skipped(at + 1));
            match byte {
                Some(b'<' | b'>') if after == Some(b'(') => return None,
                _ if super::cursor::ends_word(byte) => break,
                Some(b'\\' | b'\'' | b'"' | b'`' | b'$') => return None,
                Some(byte) if byte.is_ascii() && word.len() < LONGEST => {
                    word.push(char::from(byte));
                }
                _ => return None,
            }
            at += 1;
        }
        (!word.is_empty()).then_some((word, at))
    }
}
