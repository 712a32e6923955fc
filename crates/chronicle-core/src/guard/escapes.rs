//! Letters that languages write as numbers in their texts.

/// A text with the letters that its numbers stand for; `None` if there are none.
pub(super) fn decoded(text: &str) -> Option<String> {
    if !text.contains('\\') {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let Some((letter, length)) = number(after) else {
            // Before any other letter it is nothing here.
            let next = after.chars().next();
            out.extend(next.filter(|it| !it.is_alphanumeric()));
            out.extend(
                next.filter(|it| it.is_alphanumeric()).into_iter().flat_map(|it| ['\\', it]),
            );
            rest = after.get(next.map_or(0, char::len_utf8)..).unwrap_or_default();
            continue;
        };
        out.push(letter);
        rest = after.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    (out != text).then_some(out)
}

/// The letter that a number behind a backslash stands for, and how long that is.
fn number(text: &str) -> Option<(char, usize)> {
    let first = text.chars().next()?;
    let after = text.get(first.len_utf8()..).unwrap_or_default();
    let (digits, radix, around) = match first {
        'x' | 'u' if after.starts_with('{') => {
            let end = after.find('}')?;
            (&after[1..end], 16, 3)
        }
        'x' => (leading(after, 2, 16), 16, 1),
        'u' => (leading(after, 4, 16), 16, 1),
        'U' => (leading(after, 8, 16), 16, 1),
        '0'..='7' => (leading(text, 3, 8), 8, 0),
        _ => return None,
    };
    let letter = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
    Some((letter, digits.len() + around))
}

/// The digits that a text begins with.
fn leading(text: &str, most: usize, radix: u32) -> &str {
    let count = text.chars().take(most).take_while(|it| it.is_digit(radix)).count();
    &text[..count]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_letters() {
        for text in ["\\x73ecret", "\\u0073ecret", "\\u{73}ecret", "\\163ecret", "\\x{73}ecret"] {
            assert_eq!(decoded(text).as_deref(), Some("secret"), "{text}");
        }
        assert_eq!(decoded("a\\/b").as_deref(), Some("a/b"));
        for text in ["plain", "a\\nb", "\\d+", "\\"] {
            assert!(decoded(text).is_none_or(|it| it.is_empty()), "{text}");
        }
    }
}
