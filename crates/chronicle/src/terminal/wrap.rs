//! Breaking lines for a terminal: between words, with the rest indented.

use chronicle_core::base::cells::{uncoloured, width};

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
    for (gap, word) in words(line).iter().enumerate().flat_map(|(at, word)| pieces(at, word)) {
        let needs = width(word);
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

/// Where a word may be broken: Chinese and Japanese have no spaces. Each piece has the spaces in front of it.
fn pieces(index: usize, word: &str) -> Vec<(usize, &str)> {
    let (mut pieces, mut from, mut gap) = (Vec::new(), 0, usize::from(index > 0));
    let letters: Vec<(usize, char)> = word.char_indices().collect();
    for pair in letters.windows(2) {
        let [(_, letter), (at, next)] = *pair else { continue };
        // A line never begins with what belongs to the letter before it.
        let may_end = is_ideograph(letter) || matches!(letter, '、' | '。');
        if may_end && (is_ideograph(next) || next.is_alphanumeric()) {
            pieces.push((gap, &word[from..at]));
            (from, gap) = (at, 0);
        }
    }
    pieces.push((gap, &word[from..]));
    pieces
}

/// A letter behind which a line may be broken.
fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{2e80}'..='\u{2fff}' | '\u{3041}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Words of a line. A number and its unit are one, and so is what stands in backticks: a command that is broken in two would be another
/// one where it is pasted.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut left = line.matches('`').count();
    let mut is_open = false;
    for word in line.split(' ') {
        let joins = |before: &&mut String| is_open || is_number(before) && is_unit(word);
        match words.last_mut().filter(joins) {
            Some(before) => *before = format!("{before} {word}"),
            None => words.push(word.to_owned()),
        }
        for _ in word.matches('`') {
            left -= 1;
            // One that nothing closes is a letter like any other.
            is_open = !is_open && left > 0;
        }
    }
    words
}

fn is_number(word: &str) -> bool {
    let word = uncoloured(word);
    let word = word.trim_start_matches(['(', '+', '~']);
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == ',';
    word.ends_with(|letter: char| letter.is_ascii_digit()) && word.chars().all(is_part)
}

fn is_unit(word: &str) -> bool {
    let word = uncoloured(word);
    let word = word.trim_end_matches([',', '.', ')', ':', ';']);
    ["ms", "s", "min", "h", "d", "bytes", "KB", "KiB", "MB", "MiB", "GB", "GiB"].contains(&word)
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
    fn wide_letters_count_twice() {
        assert_eq!(wrapped("計画 実装 検証", 14), "計画 実装 検証");
        assert_eq!(wrapped("計画 実装 検証", 13), "計画 実装 検\n    証");
        assert_eq!(wrapped("  計画と実装。次は検証", 12), "  計画と実\n    装。次は\n    検証");
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(wrapped("1 attempt, 17 ms, 1 file", 14), "1 attempt,\n    17 ms, 1\n    file");
        assert_eq!(wrapped("it took 3 min 20 s.", 16), "it took 3 min\n    20 s.");
    }

    #[test]
    fn a_command_is_not_broken_in_two() {
        assert_eq!(
            wrapped("type `ln -s a b`, then go on", 18),
            "type `ln -s a b`,\n    then go on"
        );
        assert_eq!(wrapped("then type `ln -s a b` now", 18), "then type\n    `ln -s a b`\n    now");
        assert_eq!(wrapped("type `ln -s aa bb cc` now", 12), "type\n    `ln -s aa bb cc`\n    now");
        assert_eq!(
            wrapped("a lone ` and words after it", 12),
            "a lone ` and\n    words\n    after it"
        );
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
