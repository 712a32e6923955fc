//! Markdown with YAML frontmatter: `---`, YAML, `---`, text.

use std::ops::Range;

use crate::definition::workflow::draft::{Field, Node, Span, Value};
use crate::definition::workflow::problem::{Finding, Problems};
use crate::definition::workflow::yaml;

/// Where the parts of a Markdown file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Parts {
    /// No frontmatter: the whole text is the body.
    Plain,
    /// The frontmatter has no closing `---`; where its first line begins.
    Unclosed { begin: usize },
    /// Frontmatter and body, as byte ranges.
    Both { head: Range<usize>, body: Range<usize> },
}

/// Finds the frontmatter: the first line that is not blank is `---`, and a later line starts with `---`.
pub(crate) fn split(text: &str) -> Parts {
    // A blank line before the fields is hard to see. If it hid them, a persona would lose its lists of tools.
    let is_blank = |letter: char| letter == '\u{feff}' || letter.is_whitespace();
    let begin = text.len() - text.trim_start_matches(is_blank).len();
    let Some(after) = text[begin..].strip_prefix("---") else { return Parts::Plain };
    let line = after.split(['\n', '\r']).next().unwrap_or_default();
    // `---` with more behind it is a heading or a table of Markdown.
    if !line.trim().is_empty() {
        return Parts::Plain;
    }
    let head = begin + 3;
    // Files from Windows or an old Mac have other line ends, and their fields must be found too.
    let ends = ["\n---", "\r---"].into_iter().filter_map(|end| text[head..].find(end));
    match ends.min() {
        Some(end) => Parts::Both { head: head..head + end, body: head + end + 4..text.len() },
        None => Parts::Unclosed { begin },
    }
}

/// The body as people and workers read it: trimmed, with `\n` line ends.
pub(crate) fn body(text: &str, part: Range<usize>) -> String {
    let text = text.get(part).unwrap_or_default();
    text.replace("\r\n", "\n").replace('\r', "\n").trim().to_owned()
}

/// The frontmatter as fields; `None` if it is no map, which is reported.
pub(crate) fn fields(
    source: usize,
    text: &str,
    head: Range<usize>,
    problems: &mut Problems,
) -> Option<Vec<Field>> {
    match yaml::read_part(source, text, head, problems) {
        Ok(None) => Some(Vec::new()),
        Ok(Some(Node { value: Value::Map(fields), .. })) => Some(fields),
        Ok(Some(node)) => {
            let message = "the text between the `---` lines is not a map of fields";
            problems.push(Finding::error("bad-frontmatter", node.span, message));
            None
        }
        Err(yaml::AlreadyTold) => None,
    }
}

/// Reports frontmatter that is never closed.
pub(crate) fn unclosed(source: usize, begin: usize) -> Finding {
    let at = Span { source, start: begin, end: begin + 3 };
    let message = "the fields begun with `---` have no end";
    Finding::error("bad-frontmatter", at, message).hint("end them with a line `---`")
}

#[cfg(test)]
mod tests {
    use super::{Parts, body, split};

    fn parts(text: &str) -> Option<(&str, String)> {
        match split(text) {
            Parts::Both { head, body: rest } => Some((&text[head], body(text, rest))),
            Parts::Plain | Parts::Unclosed { .. } => None,
        }
    }

    #[test]
    fn fields_and_body_apart() {
        assert_eq!(parts("---\na: 1\n---\n\nx\n"), Some(("\na: 1", "x".to_owned())));
        assert_eq!(parts("---\r\na: 1\r\n---\r\nx\r\ny"), Some(("\r\na: 1\r", "x\ny".to_owned())));
        assert_eq!(parts("---\ra: 1\r---\rx"), Some(("\ra: 1", "x".to_owned())));
        assert_eq!(parts("\u{feff}---\na: 1\n---"), Some(("\na: 1", String::new())));
        assert_eq!(parts("\n \n---\na: 1\n---\nx"), Some(("\na: 1", "x".to_owned())));
        assert_eq!(parts("---\n---\nx"), Some(("", "x".to_owned())));
        assert_eq!(
            parts("---\na: 1\n---\none\n---\ntwo").map(|it| it.1).as_deref(),
            Some("one\n---\ntwo")
        );
    }

    #[test]
    fn markdown_without_fields_has_no_frontmatter() {
        assert_eq!(split("# Title\n---\n"), Parts::Plain);
        assert_eq!(split("--- a\n---\n"), Parts::Plain);
        assert_eq!(split(""), Parts::Plain);
        assert_eq!(split("---"), Parts::Unclosed { begin: 0 });
        assert_eq!(split("\n---\na: 1\n"), Parts::Unclosed { begin: 1 });
    }
}
