//! A pattern without what only a slow engine can tell: it matches at least everything that the pattern itself matches, in time that
//! grows with the text alone. Texts that it does not match need not be tried any further.

/// The pattern without its looks ahead and behind, and with anything at all in the place of references back. `None` if there is nothing
/// to leave out, or if it is not known how.
pub(super) fn relaxed(source: &str) -> Option<String> {
    let letters: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let (mut at, mut is_other) = (0, false);
    while let Some(&letter) = letters.get(at) {
        let rest = &letters[at..];
        let (length, stand_in) = match rest {
            ['\\', 'k', ..] => (rest.iter().position(|it| *it == '>')? + 1, Some("(?s:.*)")),
            ['\\', '1'..='9', ..] => {
                let digits = rest[1..].iter().take_while(|it| it.is_ascii_digit()).count();
                (digits + 1, Some("(?s:.*)"))
            }
            ['\\', ..] => (2, None),
            ['[', ..] => (class_length(rest)?, None),
            ['(', '?', '=' | '!', ..] | ['(', '?', '<', '=' | '!', ..] => {
                (group_length(rest)?, Some("(?:)"))
            }
            ['(', '?', '>', ..] => (3, Some("(?:")),
            // A choice by what was found before, and a way of writing in which blanks mean nothing.
            ['(', '?', '(', ..] => return None,
            ['(', '?', flags @ ..] if has_blanks(flags) => return None,
            _ => (1, None),
        };
        match stand_in {
            Some(text) => {
                is_other = true;
                out.push_str(text);
            }
            None => out.extend(rest.get(..length)?),
        }
        debug_assert!(length > 0, "{letter} is passed over");
        at += length;
    }
    is_other.then_some(out)
}

fn has_blanks(flags: &[char]) -> bool {
    flags.iter().take_while(|it| it.is_ascii_alphabetic() || **it == '-').any(|it| *it == 'x')
}

/// The length of a class whose own brackets are escaped.
fn class_length(rest: &[char]) -> Option<usize> {
    let mut at = 1;
    loop {
        match rest.get(at)? {
            '\\' => at += 2,
            ']' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The length of a group with everything in it.
fn group_length(rest: &[char]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        match rest.get(at)? {
            '\\' => at += 1,
            '[' => at += class_length(&rest[at..])? - 1,
            '(' => depth += 1,
            ')' if depth == 1 => return Some(at + 1),
            ')' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_looks_is_left_out() {
        for (source, expected) in [
            (r"^a(?!b(c)|[)\]])d", Some(r"^a(?:)d")),
            (r"(?<=a)b(?<!c)", Some("(?:)b(?:)")),
            (r"(a)\1b", Some("(a)(?s:.*)b")),
            (r"(?<n>a)\k<n>b", Some("(?<n>a)(?s:.*)b")),
            (r"(?>a)b", Some("(?:a)b")),
            (r"a(?=b(?=c))d", Some("a(?:)d")),
            (r"^git\s(?:.*\s)?--x", None),
            (r"\(?=a[(?=]", None),
            (r"(?x) a (?=b)", None),
            (r"(a)?(?(1)b|c)(?=d)", None),
        ] {
            assert_eq!(relaxed(source).as_deref(), expected, "{source}");
        }
    }
}
