//! The line at the bottom of the talk that moves while a run works.
//!
//! It belongs to the process, not to whoever draws it: every thread may talk, and none may leave a stale copy of the line above its
//! words. The cursor stays right behind it, so that what is typed is echoed in the same line and erased with it.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chronicle_core::base::cells::shorten;

/// Back to the first column, and the line is empty.
pub(super) const ERASE: &str = "\r\u{1b}[2K";

/// Columns that are left free behind it for what is typed: an echo that begins a line of its own would stay.
const FREE: usize = 8;

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

struct Moving {
    /// None while nothing is shown.
    shown: Option<String>,
    /// How often it was drawn.
    count: usize,
}

static LINE: Mutex<Moving> = Mutex::new(Moving { shown: None, count: 0 });

/// A thread that panicked while it held this has drawn less, nothing worse.
fn line() -> MutexGuard<'static, Moving> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One write: a process that is killed leaves no half of a line. Where nobody reads any more there is nobody to tell.
fn write(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Writes lines of talk above it.
pub(super) fn talk(text: &str) {
    // The lock is held while it is written: a drawing in between would be left above the words.
    match &line().shown {
        Some(shown) => write(&format!("{ERASE}{text}{shown}")),
        None => write(text),
    }
}

/// Shows it with that text, as much of it as fits.
pub(super) fn draw(text: &str, columns: usize) {
    let mut line = line();
    line.count = line.count.wrapping_add(1);
    let spinner = SPINNER[line.count % SPINNER.len()];
    let shown = format!("{spinner} {}", shorten(text, columns.saturating_sub(FREE)));
    write(&format!("{ERASE}{shown}"));
    line.shown = Some(shown);
}

/// Erases it, if it is shown.
pub(crate) fn erase() {
    if line().shown.take().is_some() {
        write(ERASE);
    }
}

/// Leaves it as it is: in the background the last line belongs to the shell that is typed into.
pub(crate) fn abandon() {
    line().shown = None;
}
