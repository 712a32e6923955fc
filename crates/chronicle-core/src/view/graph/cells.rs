//! What a graph shows of a text from outside.

pub(super) use crate::base::cells::{shorten, width};
use crate::base::quote;

/// A text on one line, safe for a terminal.
pub(super) fn one_line(text: &str) -> String {
    quote::plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn no_escape_reaches_a_terminal() {
        assert_eq!(one_line("a\u{1b}[31m\n b\u{202e}c"), "a [31m b c");
    }
}
