//! Finds functions in Rust text.

use std::ops::Range;

use super::source::{Source, find_words, is_name, line_of};

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) line: usize,
    /// Byte range between its braces.
    pub(crate) body: Range<usize>,
}

impl Function<'_> {
    /// How many lines it has, from `fn` to its closing brace; lines of a text literal do not count.
    pub(crate) fn lines(&self, source: &Source) -> usize {
        let last = line_of(&source.code, self.body.end);
        (self.line..=last).filter(|line| !source.is_literal(*line)).count()
    }
}

/// Every function of the code that has a body.
pub(crate) fn functions(code: &str) -> Vec<Function<'_>> {
    find_words(code, "fn").filter_map(|at| function(code, at)).collect()
}

fn function(code: &str, at: usize) -> Option<Function<'_>> {
    let after = code[at + 2..].trim_start();
    let length = after.bytes().take_while(|byte| is_name(*byte)).count();
    let start = code.len() - after.len();
    let open = body_start(code, start + length).filter(|_| length > 0)?;
    let close = closing_brace(code, open)?;
    Some(Function {
        name: &code[start..start + length],
        line: line_of(code, at),
        body: open + 1..close,
    })
}

/// The brace that opens the body; none when a `;` ends the signature.
pub(crate) fn body_start(code: &str, from: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth == 0 => return Some(at),
            b';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The brace that closes the one at `open`.
pub(crate) fn closing_brace(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_without_a_body_and_pointers_are_no_functions() {
        assert_eq!(functions("trait A { fn a(b: [u8; 4]); } type B = fn(u8) -> u8;"), []);
        assert_eq!(functions("fn a<T>(b: [u8; 4]) -> T where T: C { d }").len(), 1);
    }
}
