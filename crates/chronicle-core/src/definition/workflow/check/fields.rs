//! Takes fields from a map by name and type. Fields that the format does not have are reported; fields that it has must be taken.

use super::super::draft::{Field, Named, Node, Span, Value};
use super::super::format::{FieldInfo, Shape};
use super::super::problem::{Finding, Problems, Severity, quoted};
use super::super::suggest::closest;
use super::super::unit::Format;
use super::Upon;
use super::values::{decimal, duration_ms};

/// The fields of one map, while they are read.
pub(crate) struct Fields<'d, 'p> {
    /// Which fields there may be.
    shape: &'static Shape,
    said: &'d [Field],
    /// Names that were asked for; in the end all names of the shape.
    asked: Vec<&'static str>,
    severity: Severity,
    /// Names that the shape does not have and that are meant.
    passes: Vec<&'d str>,
    pub problems: &'p mut Problems,
}

impl<'d, 'p> Fields<'d, 'p> {
    /// Starts to read a map.
    pub(crate) fn new(
        shape: &'static Shape,
        said: &'d [Field],
        problems: &'p mut Problems,
    ) -> Self {
        Self {
            shape,
            said,
            asked: Vec::new(),
            severity: Severity::Error,
            passes: Vec::new(),
            problems,
        }
    }

    /// The field of that name or of one of its aliases. A null field counts as absent.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<&'d Field> {
        debug_assert!(
            self.shape.field(name).is_some_and(|field| field.names.first() == Some(&name)),
            "the table of {} has no field `{name}`",
            self.shape.owner
        );
        let info = self.shape.field(name)?;
        self.asked.push(name);
        let names = info.names;
        let mut found: Option<&'d Field> = None;
        // `name:` with nothing behind it is how people leave a field out. It must not hide an alias that is set, nor count as
        // a second value beside it.
        let said = self.said.iter().filter(|field| field.value.value != Value::Null);
        for field in said.filter(|field| names.contains(&field.name.as_str())) {
            match found {
                None => found = Some(field),
                // Two names of one field: whichever were taken, the other one would be ignored in silence.
                Some(first) => self.problems.push(both(first, field)),
            }
        }
        found
    }

    /// Reports every field that a map of this shape does not have.
    pub(crate) fn finish(self) {
        let is_asked = |field: &FieldInfo| self.asked.iter().any(|name| field.names.contains(name));
        debug_assert!(
            self.shape.fields.iter().all(is_asked),
            "the table of {} has a field that nobody reads",
            self.shape.owner
        );
        for field in self.others() {
            if self.passes.contains(&field.name.as_str()) {
                continue;
            }
            let message = format!("{} has no field {}", self.shape.owner, quoted(&field.name));
            let finding = Finding::error("unknown-field", field.at, message);
            // YAML 1.2 has no merge keys, but many readers have. As a plain field it would only be unknown, without a word
            // about why.
            if field.name == "<<" {
                let hint = "`<<` does not merge maps here: write the fields out, or use an alias for a whole value";
                self.problems.push(finding.hint(hint));
                continue;
            }
            // Suggestions compare every name with every other. A hostile file with thousands of fields must not make that
            // slow.
            let meant = if self.problems.is_full() {
                None
            } else {
                closest(&field.name, self.shape.names())
            };
            self.problems.push(finding.did_you_mean(meant));
        }
    }

    /// Takes a field that a map of this shape does not have, so that it is not told as unknown.
    pub(crate) fn pass(&mut self, field: &'d Field) {
        self.passes.push(&field.name);
    }

    /// Fields that a map of this shape does not have.
    pub(crate) fn others(&self) -> Vec<&'d Field> {
        self.said.iter().filter(|field| self.shape.field(&field.name).is_none()).collect()
    }

    /// Reads with problems downgraded, so that they do not stop workflows of other programs, which ignore them too.
    pub(crate) fn forgiving<T>(&mut self, upon: Upon<'_>, read: impl FnOnce(&mut Self) -> T) -> T {
        if upon.format != Format::Native {
            self.severity = Severity::Warning;
        }
        let value = read(self);
        // Set back at once: only this field is forgiven, not those that are read after it.
        self.severity = Severity::Error;
        value
    }

    /// A text that is not blank.
    pub(crate) fn text(&mut self, name: &'static str) -> Option<String> {
        self.named(name).map(|named| named.text)
    }

    /// A non-blank text with its position.
    pub(crate) fn named(&mut self, name: &'static str) -> Option<Named> {
        let field = self.take(name)?;
        self.name(&field.name, &field.value)
    }

    /// A text, possibly empty.
    pub(crate) fn text_or_blank(&mut self, name: &'static str) -> Option<String> {
        let field = self.take(name)?;
        let text = field.value.text();
        if text.is_none() {
            self.wrong(&field.name, &field.value, "a text");
        }
        text.map(str::to_owned)
    }

    /// Non-blank texts; a single one counts as a list.
    pub(crate) fn texts(&mut self, name: &'static str) -> Option<Vec<String>> {
        let list = self.named_list(name)?;
        Some(list.into_iter().map(|named| named.text).collect())
    }

    /// Non-blank texts with their positions; a single one counts as a list.
    pub(crate) fn named_list(&mut self, name: &'static str) -> Option<Vec<Named>> {
        let field = self.take(name)?;
        let nodes = match &field.value.value {
            Value::List(items) => items.as_slice(),
            // A single text is a list of one: that is how people write it.
            Value::Scalar(_) => std::slice::from_ref(&field.value),
            Value::Null | Value::Map(_) => {
                self.wrong(&field.name, &field.value, "a list of texts");
                return None;
            }
        };
        Some(nodes.iter().filter_map(|node| self.name(&field.name, node)).collect())
    }

    /// The entries of a map from name to text; blank texts are kept.
    pub(crate) fn pairs(&mut self, name: &'static str) -> Vec<(Named, Named)> {
        let Some(field) = self.take(name) else { return Vec::new() };
        let Value::Map(entries) = &field.value.value else {
            self.wrong(&field.name, &field.value, "a map");
            return Vec::new();
        };
        let mut pairs = Vec::new();
        for entry in entries {
            match entry.value.text() {
                Some(text) => pairs.push((
                    Named { text: entry.name.clone(), at: entry.at },
                    Named { text: text.to_owned(), at: entry.value.span },
                )),
                None => self.wrong(&entry.name, &entry.value, "a text"),
            }
        }
        pairs
    }

    pub(crate) fn flag(&mut self, name: &'static str) -> Option<bool> {
        let field = self.take(name)?;
        let flag = field.value.text().and_then(as_flag);
        if flag.is_none() {
            self.wrong(&field.name, &field.value, "`true` or `false`");
        }
        flag
    }

    pub(crate) fn count(&mut self, name: &'static str) -> Option<u32> {
        let field = self.take(name)?;
        self.parsed(field, "a whole number", |text| text.parse().ok())
    }

    /// A whole number above 0; 0 is reported.
    pub(crate) fn positive<T>(&mut self, name: &'static str) -> Option<T>
    where
        T: std::str::FromStr + Default + PartialEq,
    {
        let field = self.take(name)?;
        let number = self.parsed(field, "a whole number", |text| text.parse().ok())?;
        self.above_zero(field, number)
    }

    /// A decimal number with at most that many digits, in units of the last one; 0 is reported.
    pub(crate) fn decimal(&mut self, name: &'static str, digits: usize) -> Option<u64> {
        let field = self.take(name)?;
        let number = self.parsed(field, "a number", |text| decimal(text, digits))?;
        self.above_zero(field, number)
    }

    /// A time in milliseconds; 0 is reported.
    pub(crate) fn duration(&mut self, name: &'static str) -> Option<u64> {
        let field = self.take(name)?;
        let expected = "a time like `90s`, `10m` or `1h`";
        let number = self.parsed(field, expected, duration_ms)?;
        self.above_zero(field, number)
    }

    /// A time in milliseconds, or `none` for no limit; the outer value if absent.
    pub(crate) fn duration_or_none(
        &mut self,
        name: &'static str,
        outer: Option<u64>,
    ) -> Option<u64> {
        let Some(field) = self.take(name) else { return outer };
        // Not 0: a limit of nothing is more often a mistake than a wish for no limit, and is reported as one.
        if field.value.text() == Some("none") {
            return None;
        }
        let expected = "a time like `90s`, `10m` or `1h`, or `none`";
        let number = self.parsed(field, expected, duration_ms)?;
        self.above_zero(field, number)
    }

    /// One of some words.
    pub(crate) fn choice<T: Copy>(&mut self, name: &'static str, table: &[(&str, T)]) -> Option<T> {
        let field = self.take(name)?;
        let said = field.value.text();
        let found = table.iter().find(|(word, _)| Some(*word) == said);
        if found.is_none() {
            let words: Vec<String> = table.iter().map(|(word, _)| format!("`{word}`")).collect();
            let message = format!(
                "{} must be one of {}, not {}",
                quoted(&field.name),
                words.join(", "),
                described(&field.value)
            );
            let finding = Finding::new(self.severity, "unknown-value", field.value.span, message);
            let meant = closest(said.unwrap_or(""), table.iter().map(|(word, _)| *word));
            self.problems.push(finding.did_you_mean(meant));
        }
        found.map(|(_, value)| *value)
    }

    /// The fields of a map inside this one.
    pub(crate) fn within<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Fields<'d, '_>) -> T,
    ) -> Option<T> {
        let field = self.take(name)?;
        self.map(name, &field.value, read)
    }

    /// The fields of a node that must be a map of the shape that this field holds.
    pub(crate) fn map<T>(
        &mut self,
        name: &'static str,
        node: &'d Node,
        read: impl FnOnce(&mut Fields<'d, '_>) -> T,
    ) -> Option<T> {
        let (Value::Map(said), Some(shape)) = (&node.value, self.shape_inside(name)) else {
            self.wrong(name, node, "a map");
            return None;
        };
        let mut fields = Fields::new(shape, said, self.problems);
        let value = read(&mut fields);
        fields.finish();
        Some(value)
    }

    fn shape_inside(&self, name: &str) -> Option<&'static Shape> {
        self.shape.field(name)?.kind.inside()
    }

    /// Reports a value of the wrong kind.
    pub(crate) fn wrong(&mut self, name: &str, node: &Node, expected: &str) {
        let message = format!("{} must be {expected}, not {}", quoted(name), described(node));
        self.problems.push(Finding::new(self.severity, "wrong-type", node.span, message));
    }

    fn name(&mut self, name: &str, node: &Node) -> Option<Named> {
        let Some(text) = node.text() else {
            self.wrong(name, node, "a text");
            return None;
        };
        if text.trim().is_empty() {
            let message = format!("{} is empty", quoted(name));
            self.problems.push(Finding::new(self.severity, "empty-value", node.span, message));
            return None;
        }
        Some(Named { text: text.to_owned(), at: node.span })
    }

    fn parsed<T>(
        &mut self,
        field: &Field,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = field.value.text().and_then(parse);
        if value.is_none() {
            self.wrong(&field.name, &field.value, expected);
        }
        value
    }

    fn above_zero<T: Default + PartialEq>(&mut self, field: &Field, number: T) -> Option<T> {
        if number != T::default() {
            return Some(number);
        }
        self.problems.push(zero(&field.name, field.value.span));
        None
    }
}

/// Reports that 0 is not valid for a field.
pub(crate) fn zero(name: &str, span: Span) -> Finding {
    let message = format!("{} is 0: nothing could happen", quoted(name));
    Finding::error("zero-limit", span, message).hint("leave it out for the default")
}

fn both(first: &Field, second: &Field) -> Finding {
    let message = format!("{} and {} say the same", quoted(&first.name), quoted(&second.name));
    Finding::error("conflicting-fields", second.at, message)
        .hint(format!("remove {}", quoted(&second.name)))
}

/// The boolean words of YAML, in three spellings.
fn as_flag(text: &str) -> Option<bool> {
    match text {
        // YAML 1.2's words. `yes` and `on` were flags in YAML 1.1 alone, and here they are texts.
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// A value in a message.
pub(crate) fn described(node: &Node) -> String {
    match &node.value {
        Value::Null => "nothing".to_owned(),
        Value::Scalar(text) => quoted(text),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a map".to_owned(),
    }
}
