//! What `date` prints: a format is mostly text that the command chose itself.

use super::value::{Field, Piece};

/// What `date` prints; `None` if its options are not known.
pub(super) fn printed(words: &[&str]) -> Option<Field> {
    let mut formats = words.iter().filter_map(|word| word.strip_prefix('+'));
    let (Some(format), None) = (formats.next(), formats.next()) else { return None };
    let mut field = Field::default();
    let mut letters = format.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            field.push_text(letter.encode_utf8(&mut [0; 4]));
            continue;
        }
        // Flags and a width may stand before the letter.
        while letters.next_if(|it| "-_0^#+:EO123456789".contains(*it)).is_some() {}
        match letters.next()? {
            '%' => field.push_text("%"),
            'n' => field.push_text("\n"),
            't' => field.push_text("\t"),
            'C' | 'd' | 'G' | 'g' | 'H' | 'I' | 'j' | 'M' | 'm' | 'N' | 'S' | 's' | 'U' | 'u'
            | 'V' | 'W' | 'w' | 'Y' | 'y' => field.push(Piece::Number),
            'F' => push_numbers(&mut field, "-"),
            'T' | 'X' => push_numbers(&mut field, ":"),
            'R' => {
                field.push(Piece::Number);
                field.push_text(":");
                field.push(Piece::Number);
            }
            // These are nothing in some places of the world.
            'p' | 'P' | 'Z' | 'z' => field.push(Piece::Part),
            'D' | 'x' | 'c' | '+' | 'h' | 'a' | 'A' | 'b' | 'B' | 'e' | 'k' | 'l' | 'q' | 'r'
            | 'v' => field.push(Piece::Name),
            _ => return None,
        }
    }
    Some(field)
}

fn push_numbers(field: &mut Field, between: &str) {
    for at in 0..3 {
        if at > 0 {
            field.push_text(between);
        }
        field.push(Piece::Number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_text_with_numbers_in_it() {
        let known = |words: &[&str]| printed(words).and_then(|it| it.known().map(str::to_owned));
        assert_eq!(known(&["+apply"]).as_deref(), Some("apply"));
        assert_eq!(known(&["-u", "+a%%b"]).as_deref(), Some("a%b"));
        assert_eq!(known(&["+%Y"]), None);
        assert!(printed(&["+%s"]).is_some_and(|it| it.is_number()));
        let begins = printed(&["+run-%F"]).map(|it| it.begins().to_owned());
        assert_eq!(begins.as_deref(), Some("run-"));
        assert_eq!(printed(&["-I"]), None);
    }
}
