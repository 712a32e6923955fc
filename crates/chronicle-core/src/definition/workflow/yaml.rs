//! Parses YAML, and JSON as its subset, into nodes.
//!
//! It works on the parser's events with its own stack, so that depth, copies through aliases and duplicate keys are bounded and
//! reported here, and every scalar keeps its spelling.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_saphyr::granit_parser::{self, ErrorKind, Event, Parser, ScalarStyle, ScanError, Tag};

use super::draft::{Field, Node, Span, Value};
use super::problem::{Finding, Problems, quoted};

/// Largest workflow file in bytes.
pub const FILE_MAX: usize = 1024 * 1024;
/// Deepest nesting of lists and maps; a workflow needs five.
const DEPTH_MAX: usize = 64;
/// Most that all aliases together may copy, in bytes of text plus `NODE_WEIGHT` per node. It also bounds the depth of aliases
/// within aliases to some hundreds.
const COPIED_MAX: usize = 1024 * 1024;
const NODE_WEIGHT: usize = 16;

/// The single document of a text; `None` if it is empty or cannot be read, which is reported.
pub(crate) fn read(source: usize, text: &str, problems: &mut Problems) -> Option<Node> {
    let root = read_part(source, text, 0..text.len(), problems).ok()?;
    if root.is_none() {
        let whole = Span { source, start: 0, end: 0 };
        problems.push(Finding::error("empty-file", whole, "nothing in it"));
    }
    root
}

/// Parsing failed, and the problem was already reported.
pub(crate) struct AlreadyTold;

/// The single document in a part of a text, with positions in the whole text; `None` if it is empty.
pub(crate) fn read_part(
    source: usize,
    whole: &str,
    part: Range<usize>,
    problems: &mut Problems,
) -> Result<Option<Node>, AlreadyTold> {
    // Checked before parsing: memory and time of a parser grow with its input.
    if whole.len() > FILE_MAX {
        // A text that was cut when it was read has a size that means nothing.
        let message = format!("larger than {FILE_MAX} bytes");
        let at = Span { source, start: 0, end: 0 };
        problems.push(Finding::error("too-large", at, message));
        return Err(AlreadyTold);
    }
    // Positions are those in the whole file: what is wrong in frontmatter must be shown where the person wrote it.
    let (offset, text) = (part.start, whole.get(part).unwrap_or_default());
    let options = granit_parser::options! {
        emit_comments: false,
        // Later passes go through the tree recursively, and must not run out of stack on a hostile file.
        flow_nesting_limit: DEPTH_MAX,
        block_nesting_limit: DEPTH_MAX,
    };
    let mut builder = Builder::new(source, offset, problems);
    for event in Parser::new_from_str_with_options(text, options) {
        let step = match event {
            Ok((event, span)) => builder.take(event, span.byte_range().unwrap_or(0..0)),
            Err(error) => Err(syntax(source, offset, text, &error)),
        };
        // Nothing after a syntax error can be relied on to mean what it says, so nothing of the file is used.
        if let Err(finding) = step {
            builder.problems.push(finding);
            return Err(AlreadyTold);
        }
    }
    Ok(builder.root)
}

fn syntax(source: usize, offset: usize, text: &str, error: &ScanError) -> Finding {
    let start = error.marker().byte_offset().unwrap_or(0).min(text.len());
    let length = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    // An error at the very begin still has a place.
    let span = Span { source, start: offset + start, end: (offset + start + length).max(1) };
    if *error.kind() == ErrorKind::RecursionLimitExceeded {
        return Finding::error("too-deep", span, format!("nested deeper than {DEPTH_MAX} levels"));
    }
    let message = format!("not readable as YAML: {}", error.info().replace('\n', " "));
    let finding = Finding::error("syntax", span, message);
    if matches!(error.kind(), ErrorKind::TabInBlockIndentation | ErrorKind::TabNotAllowed) {
        finding.hint("indent with spaces")
    } else {
        finding
    }
}

/// A list or map that is not closed yet.
struct OpenNode {
    start: usize,
    end: usize,
    anchor: usize,
    inside: OpenContent,
}

enum OpenContent {
    List(Vec<Node>),
    Map { fields: Vec<Field>, seen: BTreeSet<String>, key: MapKey },
}

/// What an open map expects next.
enum MapKey {
    Awaited,
    /// The value of this key.
    Given(String, Span),
    /// The value of a key that was reported as a problem.
    Refused,
}

struct Builder<'p> {
    source: usize,
    offset: usize,
    problems: &'p mut Problems,
    stack: Vec<OpenNode>,
    anchors: BTreeMap<usize, Node>,
    copied: usize,
    documents: usize,
    root: Option<Node>,
}

impl<'p> Builder<'p> {
    fn new(source: usize, offset: usize, problems: &'p mut Problems) -> Self {
        Self {
            source,
            offset,
            problems,
            stack: Vec::new(),
            anchors: BTreeMap::new(),
            copied: 0,
            documents: 0,
            root: None,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the parser may add kinds of its own")]
    fn take(&mut self, event: Event<'_>, bytes: Range<usize>) -> Result<(), Finding> {
        let (start, end) = (self.offset + bytes.start, self.offset + bytes.end);
        let span = Span { source: self.source, start, end };
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.check_tag(tag.as_deref(), span);
                let value = scalar(&text, style, tag.is_some());
                self.place(Node { span, value }, anchor)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.check_tag(tag.as_deref(), span);
                self.open(span, anchor, OpenContent::List(Vec::new()));
            }
            Event::MappingStart(_, anchor, tag) => {
                self.check_tag(tag.as_deref(), span);
                let inside = OpenContent::Map {
                    fields: Vec::new(),
                    seen: BTreeSet::new(),
                    key: MapKey::Awaited,
                };
                self.open(span, anchor, inside);
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
            Event::Alias(anchor) => self.copy(anchor, span)?,
            Event::DocumentStart(..) => return self.start_document(span),
            // What remains carries no values.
            _ => {}
        }
        Ok(())
    }

    fn start_document(&mut self, span: Span) -> Result<(), Finding> {
        self.documents += 1;
        if self.documents == 1 {
            return Ok(());
        }
        let message = "a second document begins here; a workflow file holds one";
        Err(Finding::error("several-documents", span, message))
    }

    fn check_tag(&mut self, tag: Option<&Tag>, span: Span) {
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
            let message = format!("the tag {} means nothing here", quoted(&tag.original()));
            self.problems.push(Finding::error("unknown-tag", span, message));
        }
    }

    fn open(&mut self, span: Span, anchor: usize, inside: OpenContent) {
        self.stack.push(OpenNode { start: span.start, end: span.end, anchor, inside });
    }

    fn close(&mut self, span: Span) -> Result<(), Finding> {
        let Some(open) = self.stack.pop() else { return Ok(()) };
        // The end of an indented one is where the next thing begins: what it holds is a better end.
        let end = if span.start < span.end { span.end } else { open.end };
        let span = Span { start: open.start, end, ..span };
        let value = match open.inside {
            OpenContent::List(items) => Value::List(items),
            OpenContent::Map { fields, .. } => Value::Map(fields),
        };
        self.place(Node { span, value }, open.anchor)
    }

    /// Adds a complete node to its parent.
    fn place(&mut self, node: Node, anchor: usize) -> Result<(), Finding> {
        if anchor != 0 {
            // Keeping an anchor copies it too. A few lines of nested anchors could otherwise expand to gigabytes.
            self.count_copy(weight(&node), node.span)?;
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.stack.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        // A copy made by an alias stands elsewhere in the text.
        open.end = open.end.max(if node.span.start >= open.start { node.span.end } else { 0 });
        match &mut open.inside {
            OpenContent::List(items) => items.push(node),
            OpenContent::Map { fields, seen, key } => {
                let found = match std::mem::replace(key, MapKey::Awaited) {
                    MapKey::Awaited => {
                        let (next, finding) = read_key(node, seen);
                        *key = next;
                        finding
                    }
                    MapKey::Given(name, at) => {
                        fields.push(Field { name, at, value: node });
                        None
                    }
                    MapKey::Refused => None,
                };
                if let Some(finding) = found {
                    self.problems.push(finding);
                }
            }
        }
        Ok(())
    }

    fn copy(&mut self, anchor: usize, span: Span) -> Result<(), Finding> {
        // An anchor is known once its node is closed, so an alias to it from inside finds nothing.
        let Some(node) = self.anchors.get(&anchor) else {
            return Err(Finding::error("alias-loop", span, "an alias inside its own anchor"));
        };
        // Aliases are expanded here and not later: every other pass may then take the tree as it is.
        let (node, weight) = (node.clone(), weight(node));
        self.count_copy(weight, span)?;
        self.place(node, 0)
    }

    /// Anchors are stored separately, so each of them is a copy too.
    fn count_copy(&mut self, weight: usize, span: Span) -> Result<(), Finding> {
        self.copied = self.copied.saturating_add(weight);
        if self.copied <= COPIED_MAX {
            return Ok(());
        }
        let message = format!("anchors and aliases copy more than {COPIED_MAX} bytes");
        Err(Finding::error("too-many-aliases", span, message))
    }
}

fn scalar(text: &str, style: ScalarStyle, tagged: bool) -> Value {
    let is_null = matches!(text, "" | "~" | "null" | "Null" | "NULL");
    // `""` and `"null"` are texts that somebody wrote. Only the bare forms mean nothing.
    if is_null && style == ScalarStyle::Plain && !tagged {
        Value::Null
    } else {
        Value::Scalar(text.to_owned())
    }
}

fn read_key(node: Node, seen: &mut BTreeSet<String>) -> (MapKey, Option<Finding>) {
    let Value::Scalar(name) = node.value else {
        let finding = Finding::error("bad-key", node.span, "a key must be a text");
        // Its value is skipped with it, so that one mistake is told once.
        return (MapKey::Refused, Some(finding));
    };
    if seen.insert(name.clone()) {
        return (MapKey::Given(name, node.span), None);
    }
    let message = format!("{} is said twice", quoted(&name));
    (MapKey::Refused, Some(Finding::error("duplicate-key", node.span, message)))
}

fn weight(node: &Node) -> usize {
    // Nodes without any text count too: millions of them need memory as well.
    NODE_WEIGHT
        + match &node.value {
            Value::Null => 0,
            Value::Scalar(text) => text.len(),
            Value::List(items) => items.iter().map(weight).sum(),
            Value::Map(fields) => {
                fields.iter().map(|field| field.name.len() + weight(&field.value)).sum()
            }
        }
}
