//! The variants of an enum, read from its text.

use super::functions::closing_brace;
use super::source::{find_words, is_name, line_of};

/// The variants of an enum, each with its line; none when the code has no such enum.
pub(crate) fn variants<'a>(code: &'a str, name: &str) -> Vec<(&'a str, usize)> {
    let header = format!("enum {name}");
    let start = find_words(code, &header).next();
    let Some(open) = start.and_then(|at| code[at..].find('{').map(|brace| at + brace)) else {
        return Vec::new();
    };
    let close = closing_brace(code, open).unwrap_or(code.len());
    let mut found = Vec::new();
    let mut depth = 0_i32;
    let mut is_fresh = true;
    for (at, byte) in code.bytes().enumerate().take(close).skip(open + 1) {
        if depth == 0 && is_fresh && byte.is_ascii_uppercase() {
            let length = code[at..].bytes().take_while(|byte| is_name(*byte)).count();
            found.push((&code[at..at + length], line_of(code, at)));
            is_fresh = false;
        }
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth -= 1,
            b',' if depth == 0 => is_fresh = true,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::source::Source;

    #[test]
    fn variants_are_read_from_the_text() {
        let text = "/// Facts.\npub enum Event {\n    /// One.\n    RunStarted(Arc<RunStarted>),\n\
            \x20   #[serde(rename = \"x\")]\n    TailSetAside {\n        /// Bytes.\n        bytes: Kind,\n    },\n\
            \x20   RunDone,\n}\npub enum Other { A }\n";
        let code = Source::read(text).code;
        let expected = [("RunStarted", 4), ("TailSetAside", 6), ("RunDone", 10)];
        assert_eq!(variants(&code, "Event"), expected);
        assert_eq!(variants(&code, "Other"), [("A", 12)]);
        assert!(variants(&code, "Eve").is_empty());
    }
}
