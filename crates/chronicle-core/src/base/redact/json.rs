//! Redacts JSON value by value, so that its structure, its keys and every id stay intact.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::{REDACTED, Redactor, looks};

/// How many levels of JSON inside JSON strings are parsed.
const DEPTH_MAX: usize = 3;
/// Fields whose values are secrets if they look like one. In plain text, the rule `assigned` finds them.
static SECRET_FIELD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let word = "passw(?:or[dt]|d)|passphrase|pwd|(?:^|[_.-])pass|secret|token|credential|(?:api|access|auth|private|secret)[_-]?key";
    Regex::new(&format!("(?i)(?:{word}|(?-i:[A-Z0-9]_KEY))(?:[_-]?(?:key|base|value|[0-9]+))*$"))
        .ok()
});
/// Fields whose values are never redacted: an answer must carry the same id, and a phase is entered by its name.
const NAMES: [&str; 16] = [
    "id",
    "uuid",
    "type",
    "subtype",
    "role",
    "model",
    "tool",
    "name",
    "session",
    "method",
    "action",
    "signal",
    "target",
    "target_state",
    "to_state",
    "outcome",
];

impl Redactor {
    /// Redacts a line: as JSON if it is JSON, otherwise as text.
    pub fn line<'a>(&self, line: &'a str) -> Cow<'a, str> {
        // Almost no line has one. Parsing each as JSON would double the cost of reading an agent.
        if !self.may_have_secrets(line) {
            return Cow::Borrowed(line);
        }
        let Ok(mut value) = serde_json::from_str::<Value>(line) else { return self.redact(line) };
        if self.value(&mut value) { Cow::Owned(value.to_string()) } else { Cow::Borrowed(line) }
    }

    /// Redacts a parsed value in place. Returns true if it had secrets.
    pub fn value(&self, value: &mut Value) -> bool {
        self.below(value, "", 0)
    }

    /// Redacts a value that somebody chose a name for. No field of it is an id or a name that has to be matched, so none is exempt.
    pub fn named_value(&self, name: &str, value: &mut Value) -> bool {
        let by_field = self.below(value, name, 0);
        self.every_text(value) || by_field
    }

    fn every_text(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.redact_in_place(text),
            Value::Array(items) => self.each_text(items.iter_mut()),
            Value::Object(fields) => self.each_text(fields.values_mut()),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn each_text<'v>(&self, values: impl Iterator<Item = &'v mut Value>) -> bool {
        // Each of them, not only up to the first that had one.
        values.filter_map(|value| self.every_text(value).then_some(())).count() > 0
    }

    fn below(&self, value: &mut Value, key: &str, depth: usize) -> bool {
        match value {
            Value::String(text) => {
                let Some(plain) = self.text_under(key, text, depth) else { return false };
                *text = plain;
                true
            }
            Value::Array(items) => {
                // Each of them, not only up to the first that had one.
                items
                    .iter_mut()
                    .filter_map(|item| self.below(item, key, depth).then_some(()))
                    .count()
                    > 0
            }
            Value::Object(fields) => fields
                .iter_mut()
                .fold(false, |any, (key, field)| self.below(field, key, depth) || any),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// The redacted text of a field; `None` if it has no secrets.
    fn text_under(&self, key: &str, text: &str, depth: usize) -> Option<String> {
        // Ids and names are how messages are answered. A redacted one could not be matched any more.
        if is_name(key) {
            return None;
        }
        let is_secret = is_secret_field(key) && looks::is_assigned(text)
            || is_password_field(key) && looks::is_chosen(text);
        if is_secret {
            return Some(REDACTED.to_owned());
        }
        // JSON inside a text inside JSON is common in tool results. A few levels are enough; without a limit a text could make
        // this recurse.
        if depth < DEPTH_MAX
            && text.starts_with(['{', '['])
            && let Ok(mut inner) = serde_json::from_str::<Value>(text)
        {
            return self.below(&mut inner, key, depth + 1).then(|| inner.to_string());
        }
        match self.redact(text) {
            Cow::Owned(plain) => Some(plain),
            Cow::Borrowed(_) => None,
        }
    }
}

/// Whether a field holds a name or an id.
fn is_name(key: &str) -> bool {
    NAMES.contains(&key) || ["_id", "Id", "_uuid", "Uuid"].iter().any(|end| key.ends_with(end))
}

/// Whether a field of that name holds a password, which may be made of words.
fn is_password_field(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["password", "passwd", "passwort", "passphrase"].iter().any(|word| key.ends_with(word))
}

/// Whether a field of that name holds a secret.
fn is_secret_field(key: &str) -> bool {
    SECRET_FIELD.as_ref().is_some_and(|field| field.is_match(key))
}
