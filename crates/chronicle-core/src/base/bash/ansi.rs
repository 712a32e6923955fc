//! The escapes of `$'…'`.

/// The text that the escapes stand for; `None` if they make bytes that are no text.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            push(&mut bytes, letter);
            continue;
        }
        let Some(letter) = letters.next() else {
            bytes.push(b'\\');
            break;
        };
        match escape(letter, &mut letters)? {
            // A zero byte ends the text for bash.
            Escape::Byte(0) | Escape::Letter('\0') => return None,
            Escape::Byte(byte) => bytes.push(byte),
            Escape::Letter(letter) => push(&mut bytes, letter),
            Escape::None => {
                bytes.push(b'\\');
                push(&mut bytes, letter);
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// What stands for a backslash and the letter after it.
enum Escape {
    Byte(u8),
    Letter(char),
    /// The two mean themselves.
    None,
}

type Letters<'t> = std::iter::Peekable<std::str::Chars<'t>>;

fn escape(letter: char, letters: &mut Letters<'_>) -> Option<Escape> {
    let byte = match letter {
        'a' => 7,
        'b' => 8,
        'e' | 'E' => 27,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'v' => 11,
        '\\' | '\'' | '"' | '?' => u8::try_from(letter).ok()?,
        '0'..='7' => {
            let first = letter.to_digit(8)?;
            let value = digits(letters, 8, 2).iter().fold(first, |sum, digit| sum * 8 + digit);
            u8::try_from(value & 0xff).ok()?
        }
        // With braces any number of digits may follow, which only some versions know.
        'x' if letters.peek() == Some(&'{') => return None,
        'x' => match digits(letters, 16, 2).as_slice() {
            [] => return Some(Escape::None),
            more => u8::try_from(more.iter().fold(0, |sum, digit| sum * 16 + digit)).ok()?,
        },
        'u' | 'U' => match digits(letters, 16, if letter == 'u' { 4 } else { 8 }).as_slice() {
            [] => return Some(Escape::None),
            more => {
                let value = more.iter().fold(0_u32, |sum, digit| sum.wrapping_mul(16) + digit);
                return char::from_u32(value).map(Escape::Letter);
            }
        },
        'c' => {
            let control = letters.next()?;
            // `\c\\` takes two backslashes in some versions.
            if control == '\\' || !control.is_ascii() {
                return None;
            }
            u8::try_from(control.to_ascii_uppercase()).ok()? & 0x1f
        }
        _ => return Some(Escape::None),
    };
    Some(Escape::Byte(byte))
}

fn push(bytes: &mut Vec<u8>, letter: char) {
    bytes.extend(letter.encode_utf8(&mut [0; 4]).as_bytes());
}

fn digits(letters: &mut Letters<'_>, radix: u32, most: usize) -> Vec<u32> {
    let mut found = Vec::new();
    while found.len() < most {
        let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(radix)) else { break };
        found.push(digit);
        letters.next();
    }
    found
}
