//! Reads frontmatter line by line, for files that no YAML parser accepts.

use std::ops::Range;

use super::tool_lists::{is_tool_list, value_without_comment};
use crate::definition::workflow::draft::{Field, Node, Span, Value};

/// One line of a text, without its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    pub text: &'t str,
    pub span: Span,
}

impl<'t> Line<'t> {
    /// The lines of a part of a text. Files of an old Mac end them with `\r` alone.
    pub(super) fn all(text: &'t str, part: Range<usize>) -> impl Iterator<Item = Self> {
        let mut start = part.start;
        text.get(part).unwrap_or_default().split_inclusive(['\n', '\r']).map(move |line| {
            let text = line.trim_end();
            let span = Span { source: 0, start, end: start + text.len() };
            start += line.len();
            Self { text, span }
        })
    }

    pub(super) fn is_indented(&self) -> bool {
        self.text.starts_with(char::is_whitespace)
    }

    /// True if it has no content: blank, or a comment.
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim_start().starts_with('#') || self.text.is_empty()
    }

    /// The item of a list, `- item`.
    pub(super) fn item(&self) -> Option<&'t str> {
        self.text.trim().strip_prefix("- ").map(str::trim)
    }
}

/// `key: value`, split at the first colon of each line; `- item` below a key without a value. A field that is written twice is
/// in the result twice.
pub(super) fn read_lines(text: &str, head: Range<usize>) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    for line in Line::all(text, head) {
        // Items belong to the field above them, at any depth: this reader is for files that no YAML parser accepts.
        if let (Some(item), Some(last)) = (line.item(), fields.last_mut()) {
            add(last, item, line.span);
        } else if let Some((key, value)) = line.text.split_once(':')
            && !line.is_indented()
            && !line.is_empty()
            && !key.trim().is_empty()
        {
            let key = key.trim();
            // Other values are texts, in which `#` is common.
            let value = if is_tool_list(key) { value_without_comment(value) } else { value };
            fields.push(Field::said(key, value.trim().trim_matches(['"', '\'']), line.span));
        } else if let Some(last) = fields.last_mut() {
            go_on(last, &line);
        }
    }
    fields
}

/// A value below its key: `maxTurns:` and `  3` in the next line. A list of tools in that form is refused elsewhere, since more than
/// one line of it may be meant.
fn go_on(field: &mut Field, line: &Line<'_>) {
    let is_value = line.is_indented() && !line.is_empty() && !is_tool_list(&field.name);
    if let Value::Scalar(text) = &mut field.value.value
        && text.is_empty()
        && is_value
    {
        line.text.trim().trim_matches(['"', '\'']).clone_into(text);
    }
}

fn add(field: &mut Field, item: &str, span: Span) {
    let item = Node { span, value: Value::Scalar(item.to_owned()) };
    match &mut field.value.value {
        Value::List(items) => items.push(item),
        // `tools:` with its items below it. A field with a value of its own on its line is no list.
        Value::Scalar(text) if text.is_empty() => field.value.value = Value::List(vec![item]),
        Value::Null | Value::Scalar(_) | Value::Map(_) => {}
    }
}
