//! Code without what is compiled for tests alone.

use super::functions::closing_brace;

const TEST: &str = "#[cfg(test)]";

/// Blanks each item behind `#[cfg(test)]`; every line stays where it was.
pub(crate) fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = 0;
    while let Some(found) = code[rest..].find(TEST) {
        let start = rest + found;
        let end = item_end(code, start + TEST.len());
        kept.push_str(&code[rest..start]);
        kept.extend(code[start..end].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        rest = end;
    }
    kept.push_str(&code[rest..]);
    kept
}

/// Where an item ends: behind its `;`, or behind the brace that closes it. A comma ends a field, a variant or an arm.
fn item_end(code: &str, from: usize) -> usize {
    let mut depth = 0_i32;
    let is_use = code[from..].trim_start().starts_with("use ");
    for (at, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'{' if depth == 0 && !is_use => {
                return closing_brace(code, at).map_or(code.len(), |close| close + 1);
            }
            b';' | b',' if depth == 0 => return at + 1,
            // The item was the last in a list whose end this is.
            b')' | b']' | b'}' if depth == 0 => return at,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_tests_are_blanked_in_place() {
        let code = "#[cfg(test)]\nuse a::{b, c};\nfn d(e: [u8; 2]) {}\n#[cfg(test)]\n#[x(y)]\nfn f(g: [u8; 2]) { h(); }\n\
            struct S {\n    #[cfg(test)]\n    i: I,\n    k: K,\n}\n#[cfg(test)]\nmod tests {\n    fn l() {}\n}\n";
        let product = without_tests(code);
        assert_eq!(product.lines().count(), code.lines().count());
        let words: Vec<_> = product.split_whitespace().collect();
        assert_eq!(words.join(" "), "fn d(e: [u8; 2]) {} struct S { k: K, }");
    }
}
