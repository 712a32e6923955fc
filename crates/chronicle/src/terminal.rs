//! What goes to the terminal: results to standard output, talk to standard error.
//!
//! Nothing else in this crate prints. A reader that has gone away (a broken pipe) is not an error: there is nobody to tell.

pub(crate) mod moving;
mod wrap;

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;

use chronicle_core::base::quote::line;
use chronicle_core::base::time::Millis;
use chronicle_core::state::Standing;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::harmless::harmless;
use crate::keyboard::{self, Keyboard};

/// Columns of a page.
const COLUMNS: usize = 100;

/// Longest text that a terminal is to show beside its bell.
const RING_MAX: usize = 200;

/// Said before a question if something was typed that could have been taken for its answer.
pub(crate) const TYPED_BEFORE: &str = "What was typed before this question was not used.";

/// Whether colours may be used there.
fn colours(stream: &impl IsTerminal) -> bool {
    stream.is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && is_smart()
}

/// Whether the terminal understands escapes.
fn is_smart() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb")
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
            Standing::Ending | Standing::Ready | Standing::Waiting | Standing::Paused => Ink::Busy,
        };
        self.ink(ink, standing.as_str())
    }
}

/// Writes a line of the result, without what could fool a terminal. False once nobody reads any more.
pub(crate) fn say(line: &str) -> bool {
    print(&harmless(line, colours(&io::stdout())))
}

/// Writes lines of the result for people. On a terminal, lines that are too long are broken between words; for programs each stays
/// one line.
pub(crate) fn say_wrapped(text: &str) -> bool {
    if !io::stdout().is_terminal() {
        return say(text);
    }
    // Broken after the escapes are gone: the widths are those of what is shown.
    print(&wrap::wrap(&harmless(text, colours(&io::stdout())), columns()))
}

/// Writes a text that is asked for word for word: as it is, but to a person's terminal without what could fool it.
pub(crate) fn say_text(text: &str) -> bool {
    if io::stdout().is_terminal() { say(text) } else { print(text) }
}

fn print(text: &str) -> bool {
    let mut out = io::stdout().lock();
    // Flushed each time: what follows may go to standard error, and both must be in order on a terminal.
    kept(&writeln!(out, "{text}").and_then(|()| out.flush()))
}

/// Why a result could not be written, such as a full disk. A reader that went away is none.
static LOST: OnceLock<String> = OnceLock::new();

/// Why part of the result was lost; `None` if nothing was.
pub(crate) fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Notes a result that could not be written. False if it was not.
pub(crate) fn kept(written: &io::Result<()>) -> bool {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = LOST.set(error.to_string());
    }
    written.is_ok()
}

/// Writes lines of talk, without what could fool a terminal. On a terminal, lines that are too long are broken between words.
pub(crate) fn talk(text: &str) {
    moving::talk(&format!("{}\n", for_people(text)));
}

/// Writes lines of talk that are laid out already, or that programs read: they are not broken.
pub(crate) fn talk_as_is(text: &str) {
    moving::talk(&format!("{}\n", harmless(text, has_colours())));
}

fn for_people(text: &str) -> String {
    let text = harmless(text, has_colours());
    if is_watched() { wrap::wrap(&text, columns_of(io::stderr())) } else { text }
}

/// Shows a text in the line at the bottom that moves, as much of it as fits.
pub(crate) fn move_line(text: &str) {
    moving::draw(&harmless(text, false), columns_of(io::stderr()));
}

/// Erases the last line of the talk, which a killed process has left there: the one that moved.
pub(crate) fn erase_left_line() {
    if can_move() {
        moving::talk(moving::ERASE);
    }
}

/// Rings the bell of the terminal that the talk goes to, and says why by OSC 9. Nothing where it goes elsewhere.
pub(crate) fn ring(why: &str) {
    let mut err = io::stderr().lock();
    if err.is_terminal() {
        // The text comes from workers: an escape in it would end the sequence and begin another one.
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

/// Whether a line of the talk can be drawn anew.
pub(crate) fn can_move() -> bool {
    is_watched() && is_smart()
}

/// Whether a person sits there who can be asked now.
pub(crate) fn can_ask() -> bool {
    is_answered() && keyboard::is_foreground()
}

/// Asks for a line; none when nobody answers.
pub(crate) fn ask(question: &str) -> Option<String> {
    let mut keyboard = Keyboard::default();
    if keyboard.discard() {
        self::talk(TYPED_BEFORE);
    }
    moving::talk(&for_people(question));
    // The end of input is no answer. An empty line is one, and it means no.
    keyboard.wait_for_line()
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
    columns_of(io::stdout())
}

fn columns_of(stream: impl AsFd) -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || terminal_size::terminal_size_of(stream).map(|(width, _)| width.0.into());
    said.or_else(seen).unwrap_or(COLUMNS)
}

/// Whether standard output is a terminal.
pub(crate) fn is_result_watched() -> bool {
    io::stdout().is_terminal()
}
