//! Width of text in terminal columns.

use crate::base::quote;

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(of_letter).sum()
}

/// A rough table: combining characters take none, East Asian characters and emoji take two.
fn of_letter(letter: char) -> usize {
    match u32::from(letter) {
        0..=0x1f
        | 0x7f..=0x9f
        | 0x300..=0x36f
        | 0x200b..=0x200f
        | 0x202a..=0x202e
        | 0x2060..=0x2069
        | 0xfe00..=0xfe0f
        | 0x20d0..=0x20ff
        | 0xe0000..=0xe007f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe4f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x231a..=0x231b
        | 0x23e9..=0x23ec
        | 0x2614..=0x2615
        | 0x2705
        | 0x270a..=0x270b
        | 0x26a1
        | 0x2728
        | 0x274c
        | 0x2753..=0x2757
        | 0x2795..=0x2797
        | 0x2b50
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f7e0..=0x1f7eb
        | 0x1f900..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Cuts a text to that many columns.
pub(super) fn shorten(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    // One column is for the sign that shows the cut.
    let mut room = most.saturating_sub(1);
    for letter in text.chars() {
        let cells = of_letter(letter);
        if cells > room {
            break;
        }
        room -= cells;
        kept.push(letter);
    }
    format!("{}…", kept.trim_end())
}

/// A text on one line, safe for a terminal.
pub(super) fn one_line(text: &str) -> String {
    quote::plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{one_line, shorten, width};

    #[test]
    fn wide_letters_take_two_cells_and_joiners_none() {
        assert_eq!(["plan", "🧭", "計画", "e\u{301}", "✓"].map(width), [4, 2, 4, 1, 1]);
    }

    #[test]
    fn a_text_is_cut_where_its_cells_end() {
        assert_eq!(shorten("planning", 8), "planning");
        assert_eq!(shorten("planning", 5), "plan…");
        assert_eq!(shorten("計画する", 4), "計…");
        assert_eq!(width(&shorten("計画する", 4)), 3);
    }

    #[test]
    fn no_escape_reaches_a_terminal() {
        assert_eq!(one_line("a\u{1b}[31m\n b\u{202e}c"), "a [31m b c");
    }
}
