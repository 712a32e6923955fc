//! What begins with `$`: parameters, substitutions, numbers, and two more kinds of quotes.

use std::rc::Rc;

use super::ansi;
use super::cursor::{Reader, Reading, is_identifier};
use super::tree::{Parameter, Part};
use super::word::Parts;

/// Operators after a parameter's name, longer ones first.
const OPERATORS: &[&str] = &[
    ":-", ":=", ":?", ":+", "##", "%%", "//", "/#", "/%", "^^", ",,", ":", "-", "=", "?", "+", "#",
    "%", "/", "^", ",", "@",
];
/// The operators that a plain `sh` has too.
const EVERYWHERE: &[&str] = &[":-", ":=", ":?", ":+", "##", "%%", "-", "=", "?", "+", "#", "%", ""];

impl Reader<'_> {
    pub(super) fn dollar(&mut self, is_double: bool, parts: &mut Parts) -> Reading<()> {
        let start = self.at;
        match self.peek_second() {
            Some(b'(') => {
                self.take("$");
                let part = if self.peek_second() == Some(b'(') {
                    self.take("((");
                    Part::Arithmetic(self.deeper(|reader| reader.arithmetic(b')'))?)
                } else {
                    Part::Substitution(Rc::new(self.parenthesized()?))
                };
                parts.add(part);
            }
            Some(b'{') => {
                self.take("${");
                let part = self.deeper(|reader| reader.braced(is_double))?;
                parts.add(part);
            }
            Some(b'[') => {
                self.only_bash();
                self.take("$[");
                parts.add(Part::Arithmetic(self.deeper(|reader| reader.arithmetic(b']'))?));
            }
            Some(b'\'') if !is_double => {
                self.only_bash();
                self.take("$'");
                let part = self.escaped()?;
                parts.add(part);
            }
            Some(b'"') if !is_double => {
                self.only_bash();
                self.take("$");
                let part = self.double()?;
                parts.add(part);
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.take("$");
                let name = self.name();
                parts.add(simple(name));
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                self.take("$");
                self.peek();
                self.at += 1;
                parts.add(simple(char::from(byte).to_string()));
            }
            _ => {
                self.at = start + 1;
                if is_double { parts.quoted('$') } else { parts.plain('$') }
            }
        }
        Ok(())
    }

    /// Letters, digits and underscores.
    pub(super) fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(byte) = self.peek().filter(|it| it.is_ascii_alphanumeric() || *it == b'_') {
            name.push(char::from(byte));
            self.at += 1;
        }
        name
    }

    /// `$'…'` after its first quote.
    fn escaped(&mut self) -> Reading<Part> {
        let start = self.at;
        loop {
            match self.take_char() {
                None => return self.unread("a quotation is not closed"),
                Some('\'') => break,
                Some('\\') => {
                    self.take_char();
                }
                Some(_) => {}
            }
        }
        let inside = self.text.get(start..self.at - 1).unwrap_or_default();
        match ansi::decoded(inside) {
            Some(text) => Ok(Part::Quoted(text)),
            None => self.unread("a quotation has bytes that are no text"),
        }
    }

    /// `${…}` after its brace.
    fn braced(&mut self, is_double: bool) -> Reading<Part> {
        let mut is_length = false;
        let mut is_indirect = false;
        match (self.peek(), self.peek_second()) {
            (Some(b'#' | b'!'), Some(b'}')) => {}
            (Some(b'#'), _) => {
                is_length = true;
                self.at += 1;
            }
            (Some(b'!'), _) => {
                self.only_bash();
                is_indirect = true;
                self.at += 1;
            }
            _ => {}
        }
        let mut name = self.name();
        if name.is_empty() {
            match self.peek() {
                Some(byte) if b"@*#?-$!".contains(&byte) => {
                    name.push(char::from(byte));
                    self.at += 1;
                }
                _ => return self.unread("a parameter has no name"),
            }
        } else if !is_identifier(&name) && !name.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.unread("a parameter has a name that is none");
        }
        let index = if self.peek() == Some(b'[') && is_identifier(&name) {
            Some(self.subscript()?)
        } else {
            None
        };
        let operator = self.operator();
        if !EVERYWHERE.contains(&operator) {
            self.only_bash();
        }
        if is_length && !operator.is_empty() {
            return self.unread("a length has an operator");
        }
        let operand = if is_indirect && operator.is_empty() && self.peek() == Some(b'*') {
            self.at += 1;
            Vec::new()
        } else {
            self.operand(is_double)?
        };
        if operator.is_empty() && !operand.is_empty() {
            return self.unread("an operator after a parameter is not known");
        }
        if !self.take("}") {
            return self.unread("a brace is not closed");
        }
        let operator = operator.to_owned();
        Ok(Part::Parameter(Rc::new(Parameter {
            name,
            is_indirect,
            is_length,
            index,
            operator,
            operand,
            is_double,
        })))
    }

    fn operator(&mut self) -> &'static str {
        OPERATORS.iter().copied().find(|operator| self.take(operator)).unwrap_or_default()
    }

    /// What follows the operator, up to the brace that closes.
    fn operand(&mut self, is_double: bool) -> Reading<Vec<Part>> {
        let mut parts = Parts::default();
        loop {
            match self.peek() {
                None => return self.unread("a brace is not closed"),
                Some(b'}') => return Ok(parts.0),
                // Whether such a quote means itself depends on the operator and on the version.
                Some(b'\'') if is_double => {
                    return self.unread("a quote stands inside of a parameter inside of quotes");
                }
                Some(b'"') if is_double => {
                    let part = self.double()?;
                    parts.add(part);
                }
                Some(byte @ b'`') if is_double => {
                    let rest = self.text.get(self.at + 1..).unwrap_or_default();
                    let inside = rest.split('`').next().unwrap_or_default();
                    if inside.contains('\\') {
                        return self.unread("backquotes and quotes are nested in an unusual way");
                    }
                    self.in_double(byte, "$`\"\\}", &mut parts)?;
                }
                Some(byte) if is_double => self.in_double(byte, "$`\"\\}", &mut parts)?,
                Some(b'<' | b'>') if self.peek_second() == Some(b'(') => {
                    let part = self.process()?;
                    parts.add(part);
                }
                Some(byte) => self.unquoted(byte, &mut parts)?,
            }
        }
    }

    /// `[…]` after a name, brackets and all.
    pub(super) fn subscript(&mut self) -> Reading<Vec<Part>> {
        self.only_bash();
        self.take("[");
        self.deeper(|reader| reader.arithmetic(b']'))
    }

    /// An expression up to what closes it: `))` where `closer` is `)`. Reads every byte once, however it is nested.
    pub(super) fn arithmetic(&mut self, closer: u8) -> Reading<Vec<Part>> {
        let mut parts = Parts::default();
        let mut open: Vec<u8> = Vec::new();
        let start = self.at;
        loop {
            let Some(byte) = self.peek() else { return self.unread("an expression is not closed") };
            match byte {
                _ if byte == closer && open.is_empty() => {
                    // bash counts brackets in everything, commands and here-documents too, and takes it for commands if they
                    // do not fit.
                    if !has_fitting_brackets(self.text.get(start..self.at).unwrap_or_default()) {
                        return self.unread("it may be an expression or commands in brackets");
                    }
                    self.at += 1;
                    // `$((a) )` is no expression: bash runs `a`.
                    if closer == b')' && !self.take(")") {
                        return self.unread("it may be an expression or commands in brackets");
                    }
                    return Ok(parts.0);
                }
                b'(' | b'[' => open.push(if byte == b'(' { b')' } else { b']' }),
                b')' | b']' if open.pop() != Some(byte) => {
                    return self.unread("the brackets of an expression do not fit");
                }
                b'\'' | b'\\' => return self.unread("an expression has quotes"),
                _ => {}
            }
            match byte {
                b'"' => {
                    let part = self.double()?;
                    parts.add(part);
                }
                b'$' | b'`' => self.unquoted(byte, &mut parts)?,
                _ => {
                    if let Some(letter) = self.take_char() {
                        parts.plain(letter);
                    }
                }
            }
        }
    }

    /// An expression that is the whole text.
    pub(super) fn whole_arithmetic(&mut self) -> Reading<Vec<Part>> {
        let mut parts = Parts::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' | b'\\' | b'"' | 0 => return self.unread("an expression has quotes"),
                b'$' | b'`' => self.unquoted(byte, &mut parts)?,
                _ => {
                    if let Some(letter) = self.take_char() {
                        parts.plain(letter);
                    }
                }
            }
        }
        Ok(parts.0)
    }
}

/// Whether every bracket of a text has its partner, and none stands in quotes.
fn has_fitting_brackets(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut quote = None;
    for letter in text.chars() {
        match (letter, quote) {
            ('(' | ')', Some(_)) | ('\\', _) => return false,
            ('(', None) => depth += 1,
            (')', None) => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            ('\'' | '"' | '`', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            _ => {}
        }
    }
    depth == 0 && quote.is_none()
}

fn simple(name: String) -> Part {
    Part::Parameter(Rc::new(Parameter {
        name,
        is_indirect: false,
        is_length: false,
        index: None,
        operator: String::new(),
        operand: Vec::new(),
        is_double: false,
    }))
}
