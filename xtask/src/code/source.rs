//! Reads Rust text just well enough to tell code, comments and string literals apart.
//!
//! It is no parser. It exists so that a brace inside a string or a banned word inside a comment does not mislead a check.

/// What a byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// A Rust file, seen three ways. Each keeps every line and column where it was and blanks out the rest.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// Neither comments nor literals.
    pub(crate) code: String,
    /// Code with its literals.
    pub(crate) said: String,
    pub(crate) comments: String,
    /// Per line: whether its end lies inside a literal.
    open_ends: Vec<bool>,
}

impl Source {
    pub(crate) fn read(text: &str) -> Self {
        let kinds = kinds(text);
        let open_ends = text
            .bytes()
            .zip(&kinds)
            .filter(|(byte, _)| *byte == b'\n')
            .map(|(_, kind)| *kind == Kind::Literal)
            .collect();
        Self {
            code: keep(text, &kinds, &[Kind::Code]),
            said: keep(text, &kinds, &[Kind::Code, Kind::Literal]),
            comments: keep(text, &kinds, &[Kind::Comment]),
            open_ends,
        }
    }

    /// Whether a line (from 1) ends inside a literal, so that its end is data.
    pub(crate) fn ends_in_literal(&self, line: usize) -> bool {
        line > 0 && self.open_ends.get(line - 1).copied().unwrap_or(false)
    }

    /// Whether a line (from 1) lies wholly inside a literal: an inline snapshot, a text block.
    pub(crate) fn is_literal(&self, line: usize) -> bool {
        line > 1 && self.ends_in_literal(line - 1) && self.ends_in_literal(line)
    }

    /// The line (from 1) where the unit tests at the end of the file begin.
    pub(crate) fn test_tail(&self) -> Option<usize> {
        test_modules(&self.code).into_iter().find(|(_, rest)| rest.contains('{')).map(|(at, _)| at)
    }

    /// Names of modules in files of their own that are compiled for tests alone.
    pub(crate) fn test_files(&self) -> Vec<&str> {
        test_modules(&self.code)
            .into_iter()
            .filter_map(|(_, rest)| rest.strip_suffix(';'))
            .collect()
    }
}

/// Each `#[cfg(test)]` module at the left margin: its line, and what follows `mod`.
fn test_modules(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut since = None;
    for (index, line) in code.lines().enumerate() {
        if line.trim_end() == "#[cfg(test)]" {
            since = Some(index + 1);
        } else if let Some(at) = since
            && !line.trim().is_empty()
            && !line.starts_with("#[")
        {
            let module = line.split_once("mod ").filter(|(before, _)| !before.contains('='));
            found.extend(module.map(|(_, rest)| (at, rest.trim())));
            since = None;
        }
    }
    found
}

/// The line (from 1) of a byte.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Whether a byte may stand in a name.
pub(crate) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Where a word stands in a text, not as a part of a longer name.
pub(crate) fn find_words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = text.as_bytes();
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = at.checked_sub(1).is_none_or(|before| !is_name(bytes[before]));
        before && bytes.get(at + word.len()).is_none_or(|after| !is_name(*after))
    })
}

fn keep(text: &str, kinds: &[Kind], wanted: &[Kind]) -> String {
    let kept = |(byte, kind): (u8, &Kind)| {
        if byte == b'\n' || wanted.contains(kind) { byte } else { b' ' }
    };
    let bytes: Vec<u8> = text.bytes().zip(kinds).map(kept).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn kinds(text: &str) -> Vec<Kind> {
    let bytes = text.as_bytes();
    let mut kinds = Vec::with_capacity(bytes.len());
    while kinds.len() < bytes.len() {
        let rest = &bytes[kinds.len()..];
        let (kind, length) = first_piece(rest);
        kinds.resize(kinds.len() + length.clamp(1, rest.len()), kind);
    }
    kinds
}

fn first_piece(rest: &[u8]) -> (Kind, usize) {
    if rest.starts_with(b"//") {
        let end = rest.iter().position(|byte| *byte == b'\n');
        (Kind::Comment, end.unwrap_or(rest.len()))
    } else if rest.starts_with(b"/*") {
        (Kind::Comment, block_comment(rest))
    } else if let Some(length) = string(rest) {
        (Kind::Literal, length)
    } else if let Some(length) = character(rest) {
        (Kind::Literal, length)
    } else {
        (Kind::Code, rest.iter().take_while(|byte| is_name(**byte)).count())
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The length of a string literal of any kind that begins here.
fn string(rest: &[u8]) -> Option<usize> {
    let prefix = rest.iter().take(2).take_while(|byte| b"bcr".contains(byte)).count();
    let is_raw = rest[..prefix].contains(&b'r');
    let after = &rest[prefix..];
    let hashes = after.iter().take_while(|byte| **byte == b'#').count();
    if after.get(hashes) != Some(&b'"') || (hashes > 0 && !is_raw) {
        return None;
    }
    let start = prefix + hashes + 1;
    Some(if is_raw { raw_end(rest, start, hashes) } else { escaped_end(rest, start) })
}

fn raw_end(rest: &[u8], start: usize, hashes: usize) -> usize {
    let mut end = vec![b'#'; hashes + 1];
    end[0] = b'"';
    let found = rest[start..].windows(end.len()).position(|window| window == end);
    found.map_or(rest.len(), |at| start + at + end.len())
}

fn escaped_end(rest: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a character literal that begins here; none for a lifetime.
fn character(rest: &[u8]) -> Option<usize> {
    if rest.first() != Some(&b'\'') {
        return None;
    }
    let close = if rest.get(1) == Some(&b'\\') {
        3 + rest.get(3..)?.iter().position(|byte| *byte == b'\'')?
    } else {
        1 + rest.get(1..)?.iter().take(1).len() + continuation_bytes(rest)
    };
    (rest.get(close) == Some(&b'\'')).then_some(close + 1)
}

fn continuation_bytes(rest: &[u8]) -> usize {
    rest.iter().skip(2).take_while(|byte| **byte & 0xC0 == 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked() {
        let source = Source::read("let a = \"{ // no\"; // } why\nlet b = r#\"\"{\"#;\n");
        assert_eq!(source.code, "let a =          ;         \nlet b =        ;\n");
        assert!(source.said.contains("{ // no"));
        assert_eq!(source.comments.trim(), "// } why");
    }

    #[test]
    fn lifetimes_are_code_and_characters_are_not() {
        let source = Source::read("fn a<'a>(x: &'a str) { ('{', '\\'', 'é', b'}') }");
        assert_eq!(source.code.matches(['{', '}']).count(), 2);
        assert!(source.code.contains("&'a str"));
    }

    #[test]
    fn nested_block_comments_end_where_they_should() {
        assert_eq!(Source::read("a /* b /* c */ d */ e").code.split_whitespace().count(), 2);
    }

    #[test]
    fn lines_inside_a_literal_are_known() {
        let source = Source::read("let a = \"one\ntwo\nthree\";\n");
        assert!(!source.is_literal(1) && source.is_literal(2) && !source.is_literal(3));
        assert!(source.ends_in_literal(1) && !source.ends_in_literal(3));
    }

    #[test]
    fn test_modules_are_found() {
        let source =
            Source::read("fn a() {}\n#[cfg(test)]\nmod one;\n\n#[cfg(test)]\nmod tests {\n}\n");
        assert_eq!(source.test_tail(), Some(5));
        assert_eq!(source.test_files(), ["one"]);
        assert_eq!(Source::read("#[cfg(test)]\nuse a::b;\nmod c {}\n").test_tail(), None);
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(find_words("clap clap_complete overclap clap::x", "clap").count(), 2);
    }
}
