//! Width of text in the cells of a terminal: East Asian letters and emoji take two, combining marks and colours none.
//!
//! Whoever pads, cuts or breaks text for a terminal does it here: counted by letters, columns shift and lines overflow.

use unicode_width::UnicodeWidthStr;

/// What a colour begins with; it ends with an `m`.
const ESCAPE: char = '\u{1b}';

/// Cells that a text takes.
pub fn width(text: &str) -> usize {
    if text.contains(ESCAPE) { uncoloured(text).width() } else { text.width() }
}

/// The text without its colours.
pub fn uncoloured(text: &str) -> String {
    let mut is_code = false;
    let is_shown = |letter: &char| {
        is_code |= *letter == ESCAPE;
        let is_shown = !is_code;
        is_code &= *letter != 'm';
        is_shown
    };
    text.chars().filter(is_shown).collect()
}

/// Cuts a text without colours to that many cells, with `…` where something is missing.
pub fn shorten(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(1);
    // Measured as a whole each time: what stands behind a letter may change how wide it is shown.
    let ends = text.char_indices().map(|(at, letter)| at + letter.len_utf8());
    let end = ends.take_while(|end| width(&text[..*end]) <= room).last().unwrap_or(0);
    format!("{}…", text[..end].trim_end())
}

/// Fills a text with spaces up to that many cells.
pub fn pad(text: &str, cells: usize) -> String {
    format!("{text}{}", " ".repeat(cells.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::{pad, shorten, width};

    #[test]
    fn wide_letters_take_two_cells_and_joiners_none() {
        assert_eq!(["plan", "🧭", "計画", "e\u{301}", "✓", "●"].map(width), [4, 2, 4, 1, 1, 1]);
        assert_eq!(width("👩\u{200d}💻"), 2);
        assert_eq!(width("\u{1b}[31m計画\u{1b}[0m"), 4);
    }

    #[test]
    fn a_text_is_cut_where_its_cells_end() {
        assert_eq!(shorten("planning", 8), "planning");
        assert_eq!(shorten("planning", 5), "plan…");
        assert_eq!(shorten("計画する", 4), "計…");
        assert_eq!(shorten("計画する", 5), "計画…");
        assert_eq!(shorten("work", 0), "…");
    }

    #[test]
    fn columns_line_up_whatever_they_contain() {
        for text in ["plan", "計画", "🧭 go", "e\u{301}"] {
            assert_eq!(width(&pad(text, 8)), 8, "{text}");
        }
        assert_eq!(pad("too long", 3), "too long");
    }
}
