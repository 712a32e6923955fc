//! Text for a terminal without what could fool it: names and files of a project may be anybody's.
//!
//! Colours pass where they are wanted, since our own words and `git diff` have some. Every other escape loses its first sign, so that
//! a terminal shows the rest as text; everything else that could fool a reader becomes a space.

use std::io::{self, Write};

use chronicle_core::base::quote::is_deceptive;

const ESCAPE: u8 = 0x1b;
/// What stands for the first sign of an escape.
const SHOWN: &str = "␛";
/// Longest colour that passes.
const COLOUR_MAX: usize = 24;

/// The text as a terminal may get it, without any colours unless they are wanted: then all escapes are somebody else's.
pub(crate) fn harmless(text: &str, has_colours: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let colour = colour(rest.as_bytes()).filter(|_| has_colours);
        let taken = colour.unwrap_or(sign.len_utf8());
        match sign {
            _ if taken > sign.len_utf8() => out.push_str(&rest[..taken]),
            '\n' | '\t' => out.push(sign),
            '\u{1b}' => out.push_str(SHOWN),
            _ if is_deceptive(sign) => out.push(' '),
            _ => out.push(sign),
        }
        rest = &rest[taken..];
    }
    out
}

/// Codes that pass: bold, dim, italic, underlined and their ends, and colours that are read on any ground. Black, white and every
/// background are left out: with them a file could hide its own lines from whoever looks at a difference.
fn is_readable(code: &str) -> bool {
    let known = |code: u8| matches!(code, 0..=4 | 22..=24 | 31..=36 | 39 | 90..=96);
    code.is_empty() || code.len() <= 2 && code.parse().is_ok_and(known)
}

/// How long the colour is that a text begins with: `ESC [ 1 ; 31 m`. One that hides text is none.
fn colour(bytes: &[u8]) -> Option<usize> {
    let inner = bytes.strip_prefix(&[ESCAPE, b'['])?;
    // Bounded: a terminal may swallow text while it waits for the end of a sequence that never ends.
    let end = inner.iter().take(COLOUR_MAX).position(|byte| *byte == b'm')?;
    let codes = std::str::from_utf8(&inner[..end]).ok()?;
    codes.split(';').all(is_readable).then_some(end + 3)
}

/// Passes lines on as a terminal may get them.
pub(crate) struct Harmless<W: Write> {
    to: W,
    line: Vec<u8>,
}

impl<W: Write> Harmless<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to, line: Vec::new() }
    }
}

impl<W: Write> Write for Harmless<W> {
    /// Whole lines are passed on; an escape is never cut.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.line.split_off(end + 1);
            let lines = std::mem::replace(&mut self.line, rest);
            self.to.write_all(harmless(&String::from_utf8_lossy(&lines), true).as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        self.to.write_all(harmless(&String::from_utf8_lossy(&rest), true).as_bytes())?;
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_pass_and_nothing_else_does() {
        for (text, shown) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[1;31mred\u{1b}[0m\u{1b}[m", "\u{1b}[1;31mred\u{1b}[0m\u{1b}[m"),
            ("\u{1b}]0;title\u{7}", "␛]0;title "),
            ("\u{1b}[2J\u{1b}[H", "␛[2J␛[H"),
            ("\u{1b}[8mhidden", "␛[8mhidden"),
            ("\u{1b}[30;40mhidden", "␛[30;40mhidden"),
            ("\u{1b}[38;2;0;0;0;48;2;0;0;0mhidden", "␛[38;2;0;0;0;48;2;0;0;0mhidden"),
            ("\u{1b}[1;30;40;2mhidden", "␛[1;30;40;2mhidden"),
            ("\u{1b}[31;41mhidden", "␛[31;41mhidden"),
            ("\u{1b}[37mhidden\u{1b}[97m", "␛[37mhidden␛[97m"),
            ("over\rwritten\u{8}\u{9b}31m", "over written  31m"),
            ("\u{202e}gnirts\u{2028}\u{2029}\u{2066}\u{200f}", " gnirts    "),
            ("\u{1b}", "␛"),
        ] {
            assert_eq!(harmless(text, true), shown, "{text:?}");
        }
        assert_eq!(harmless("\u{1b}[31mred", false), "␛[31mred");
    }

    #[test]
    fn a_stream_in_pieces_comes_out_the_same() {
        let text = "+a\u{1b}[31mb\u{1b}[0m\n-\u{1b}[2Jx\u{e9}";
        for size in 1..6 {
            let mut out = Vec::new();
            let mut through = Harmless::new(&mut out);
            for piece in text.as_bytes().chunks(size) {
                assert!(through.write_all(piece).is_ok());
            }
            assert!(through.flush().is_ok());
            assert_eq!(String::from_utf8_lossy(&out), harmless(text, true));
        }
    }
}
