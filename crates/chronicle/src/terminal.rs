//! What goes to the terminal: results to standard output, talk to standard error.
//!
//! Nothing else in this crate prints. A reader that has gone away (a broken pipe) is not an error: there is nobody to tell.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use chronicle_core::base::quote::line;
use chronicle_core::base::time::Millis;
use chronicle_core::state::Standing;
use chronicle_core::words;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Columns of a page.
const COLUMNS: usize = 100;

/// Longest text that a terminal is to show beside its bell.
const RING_MAX: usize = 200;

/// Most bytes of a line that are shown at once.
const SHOWN_MAX: usize = 64 * 1024;

/// Longest answer that is read.
const ANSWER_MAX: u64 = 8_000;

/// Whether colours may be used there.
fn colours(stream: &impl IsTerminal) -> bool {
    stream.is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// How a word is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ink {
    Good,
    Bad,
    Busy,
    Dim,
    Strong,
}

/// Colours words, or not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    colours: bool,
}

impl Paint {
    pub(crate) fn stdout() -> Self {
        Self { colours: colours(&io::stdout()) }
    }

    pub(crate) fn stderr() -> Self {
        Self { colours: colours(&io::stderr()) }
    }

    pub(crate) fn ink(self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Good => "32",
            Ink::Bad => "31",
            Ink::Busy => "33",
            Ink::Dim => "2",
            Ink::Strong => "1",
        };
        if self.colours { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Whether words are coloured.
    pub(crate) fn has_colours(self) -> bool {
        self.colours
    }

    /// The word for a run's standing.
    pub(crate) fn standing(self, standing: Standing) -> String {
        let ink = match standing {
            Standing::Done => Ink::Good,
            Standing::Cancelled | Standing::Failed | Standing::Interrupted => Ink::Bad,
            Standing::Running => Ink::Strong,
            Standing::Ending | Standing::Waiting | Standing::Paused => Ink::Busy,
        };
        self.ink(ink, standing.as_str())
    }
}

/// Writes a line of the result. False once nobody reads any more.
pub(crate) fn say(line: &str) -> bool {
    put(&harmless(line, Paint::stdout().colours))
}

fn put(text: &str) -> bool {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).is_ok()
}

/// A text without anything that a terminal would obey: names, tasks and files come from anybody. Colours stay where they are used.
fn harmless(text: &str, colours: bool) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let colour = if colours { colour(rest) } else { 0 };
        let (kept, after) = rest.split_at(if colour > 0 { colour } else { sign.len_utf8() });
        match sign {
            _ if colour > 0 => plain.push_str(kept),
            '\n' | '\t' => plain.push(sign),
            _ => plain.push_str(&words::plain_line(kept)),
        }
        rest = after;
    }
    plain
}

/// How long the colour is that a text begins with; 0 when it begins with none. One that hides text or lets it blink is none.
fn colour(text: &str) -> usize {
    const HIDING: [&str; 3] = ["5", "6", "8"];
    let Some(after) = text.strip_prefix("\u{1b}[") else { return 0 };
    let Some(end) = after.find(|sign: char| !sign.is_ascii_digit() && sign != ';') else {
        return 0;
    };
    let numbers = &after[..end];
    let is_extended = numbers.starts_with("38;5;") || numbers.starts_with("48;5;");
    let hides = !is_extended && numbers.split(';').any(|number| HIDING.contains(&number));
    if after[end..].starts_with('m') && !hides { "\u{1b}[".len() + end + 1 } else { 0 }
}

/// Writes what anybody may have had a hand in, such as the contents of files: to a terminal without what it would obey, line by
/// line; as it is to anything else.
pub(crate) struct Shown<W: Write> {
    to: W,
    is_watched: bool,
    line: Vec<u8>,
}

impl<W: Write> Shown<W> {
    pub(crate) fn new(to: W, is_watched: bool) -> Self {
        Self { to, is_watched, line: Vec::new() }
    }

    fn end_line(&mut self) -> io::Result<()> {
        let line = harmless(&String::from_utf8_lossy(&self.line), true);
        self.line.clear();
        self.to.write_all(line.as_bytes())
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_watched {
            return self.to.write(bytes);
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            // A line without an end is shown in pieces.
            if piece.ends_with(b"\n") || self.line.len() > SHOWN_MAX {
                self.end_line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end_line()?;
        self.to.flush()
    }
}

impl<W: Write> Drop for Shown<W> {
    fn drop(&mut self) {
        // Whoever read it is gone: there is nobody to tell.
        let _ = self.flush();
    }
}

/// Writes a text that an agent may have had its hand in: as it is, but to a person's terminal without what could fool it.
pub(crate) fn say_text(text: &str) -> bool {
    if !io::stdout().is_terminal() {
        return put(text);
    }
    let plain: Vec<String> = text.lines().map(words::plain_line).collect();
    say(&plain.join("\n"))
}

/// Writes a line of talk.
pub(crate) fn talk(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", harmless(line, has_colours()));
}

/// Rings the bell of the terminal that the talk goes to, and says why by OSC 9. Nothing where it goes elsewhere.
pub(crate) fn ring(why: &str) {
    let mut err = io::stderr().lock();
    if err.is_terminal() {
        let why = line(why, RING_MAX);
        let _ = write!(err, "\u{1b}]9;Chronicle: {why}\u{1b}\\\u{7}").and_then(|()| err.flush());
    }
}

/// Whether a person watches the talk and can type an answer.
pub(crate) fn is_answered() -> bool {
    is_watched() && io::stdin().is_terminal()
}

/// Asks a person for a yes; where nobody can be asked, the answer is no.
pub(crate) fn agrees(question: &str) -> bool {
    let answer = can_ask().then(|| ask(&format!("{question} [y/N] "))).flatten();
    answer.is_some_and(|answer| matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Passes bytes on, and knows whether there were any.
pub(crate) struct Passed<W> {
    to: W,
    bytes: usize,
}

impl<W: Write> Passed<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to, bytes: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

impl<W: Write> Write for Passed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.bytes = self.bytes.saturating_add(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Whether a person watches the talk.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Whether a person sits there who can be asked.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for a line; none when nobody answers.
pub(crate) fn ask(question: &str) -> Option<String> {
    let mut talk = io::stderr().lock();
    write!(talk, "{question}").and_then(|()| talk.flush()).ok()?;
    let mut line = String::new();
    let read = io::stdin().lock().take(ANSWER_MAX).read_line(&mut line).ok()?;
    (read > 0).then_some(line)
}

/// A time of the day where the person is.
pub(crate) fn clock(at: Millis) -> String {
    let ms = i64::try_from(at.0).unwrap_or(i64::MAX);
    match Timestamp::from_millisecond(ms) {
        Ok(time) => time.to_zoned(TimeZone::system()).strftime("%H:%M:%S").to_string(),
        Err(_) => at.to_string(),
    }
}

/// Whether talk may be coloured.
pub(crate) fn has_colours() -> bool {
    colours(&io::stderr())
}

/// Columns of the terminal that shows the result; as many as a page has where there is none.
pub(crate) fn columns() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    said.or_else(seen).unwrap_or(COLUMNS)
}

/// Whether standard output is a terminal.
pub(crate) fn is_result_watched() -> bool {
    io::stdout().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nobody_but_us() {
        let clear = "a\u{1b}[2Jb\u{7}\tc\u{9b}31m\u{202e}d\n\u{1b}]0;title\u{7}";
        assert_eq!(harmless(clear, true), "a [2Jb \tc 31m d\n ]0;title ");
        let ink = "\u{1b}[32mgood\u{1b}[0m \u{1b}[38;5;8mdim\u{1b}[m";
        assert_eq!(harmless(ink, true), ink);
        assert_eq!(harmless(ink, false), " [32mgood [0m  [38;5;8mdim [m");
        assert_eq!(harmless("\u{1b}[8mhidden\u{1b}[1;5mx\u{1b}[", true), " [8mhidden [1;5mx [");
    }

    #[test]
    fn contents_are_shown_whole_and_harmless() {
        let shown = |is_watched, pieces: &[&[u8]]| {
            let mut out = Vec::new();
            let mut shown = Shown::new(&mut out, is_watched);
            for piece in pieces {
                shown.write_all(piece).unwrap();
            }
            drop(shown);
            out
        };
        let pieces: [&[u8]; 3] = [b"+a\x1b[2", b"Jb\n\x1b[31m-c\xff", b"\x1b[m\nend"];
        assert_eq!(shown(false, &pieces), pieces.concat());
        let plain = "+a [2Jb\n\u{1b}[31m-c\u{fffd}\u{1b}[m\nend";
        assert_eq!(String::from_utf8(shown(true, &pieces)).unwrap(), plain);
    }
}
