//! Breaking lines for a terminal: between words, with the rest indented.

/// How much further a broken line is indented.
const HANGING: usize = 4;

/// Breaks every line of a text that is too long. Empty lines at its ends stay.
pub(super) fn wrap(text: &str, columns: usize) -> String {
    text.split('\n').map(|line| wrapped(line, columns)).collect::<Vec<_>>().join("\n")
}

/// Breaks a line between words, and indents what follows. Words that are longer than a line stay whole.
fn wrapped(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return line.to_owned();
    }
    let lead = lead(line);
    // Capped, so that a deep indent on a narrow terminal leaves room for words.
    let indent = (lead + HANGING).min(columns / 3);
    let mut out = String::with_capacity(line.len());
    let (mut used, mut has_word) = (0, false);
    for (index, word) in line.split(' ').enumerate() {
        let (gap, needs) = (usize::from(index > 0), width(word));
        // Two spaces between words come as an empty word, which never begins a line.
        if has_word && needs > 0 && used + gap + needs > columns {
            out = format!("{}\n{}{word}", out.trim_end_matches(' '), " ".repeat(indent));
            used = indent + needs;
        } else {
            out.push_str(&" ".repeat(gap));
            out.push_str(word);
            used += gap + needs;
        }
        has_word |= needs > 0;
    }
    out
}

/// Spaces that a line begins with, also behind the colour that it begins with.
fn lead(line: &str) -> usize {
    let mut is_code = false;
    let is_before = |letter: &char| {
        is_code |= *letter == '\u{1b}';
        let is_skipped = is_code || *letter == ' ';
        is_code &= *letter != 'm';
        is_skipped
    };
    let before: String = line.chars().take_while(is_before).collect();
    width(&before)
}

/// Columns that a text takes: colours take none.
fn width(text: &str) -> usize {
    let (mut width, mut is_code) = (0, false);
    for letter in text.chars() {
        match letter {
            '\u{1b}' => is_code = true,
            'm' if is_code => is_code = false,
            _ if is_code => {}
            _ => width += 1,
        }
    }
    width
}

#[cfg(test)]
mod tests {
    use super::{wrap, wrapped};

    #[test]
    fn lines_are_broken_between_words_and_indented() {
        assert_eq!(wrapped("  a short one", 20), "  a short one");
        assert_eq!(
            wrapped("  name  words that go on and on", 20),
            "  name  words that\n      go on and on"
        );
        assert_eq!(wrapped("averyveryverylongword and", 10), "averyveryverylongword\n   and");
        assert_eq!(wrapped("  averyverylongword and", 10), "  averyverylongword\n   and");
        let red = "\u{1b}[31mred\u{1b}[0m";
        assert_eq!(wrapped(&format!("  {red} {red}"), 9), format!("  {red} {red}"));
        assert_eq!(wrapped(&format!("  {red} {red}"), 8), format!("  {red}\n  {red}"));
    }

    #[test]
    fn the_indent_is_found_behind_a_colour() {
        let line = "\u{1b}[2m   12\u{1b}[0m  one two three four five";
        assert_eq!(wrapped(line, 24), format!("{}\n       four five", &line[..line.len() - 10]));
    }

    #[test]
    fn empty_lines_and_the_space_behind_a_question_stay() {
        assert_eq!(wrap("\none two\n", 5), "\none\n two\n");
        assert_eq!(wrap("Go on now? [y/N] ", 12), "Go on now?\n    [y/N] ");
    }
}
