//! Secrets out: the one function that every line of an agent passes before it is written anywhere.
//!
//! It works on text, before anything is parsed, so that no later code can forget it. What it puts in place of a secret
//! keeps JSON whole: a pattern never matches a quote, and an escape of which a secret would take half goes with it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::base::plain::Plain;

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";
/// Values shorter than this are too common to be taken for secrets.
const VALUE_MIN: usize = 8;
/// How often JSON may stand inside of JSON for a secret in it to be found behind escapes that it needs not.
const ESCAPES_MAX: usize = 2;

/// Shapes of keys that are secrets wherever they stand.
static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shapes = [
        r"sk-[A-Za-z0-9_-]{16,}",
        r"gh[pousr]_[A-Za-z0-9]{20,}",
        r"github_pat_[A-Za-z0-9_]{20,}",
        r"glpat-[A-Za-z0-9_-]{16,}",
        r"AKIA[0-9A-Z]{16}",
        r"AIza[0-9A-Za-z_-]{30,}",
        r"xox[abprs]-[A-Za-z0-9-]{10,}",
        r"npm_[A-Za-z0-9]{30,}",
        r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\s]|\\[nr])*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
        r"(?i)bearer [A-Za-z0-9._~+/=-]{16,}",
    ];
    Regex::new(&shapes.join("|")).ok()
});

/// Finds secrets by their shape and by the values it was told.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    values: Vec<Value>,
}

/// A value as it may stand in a line.
#[derive(Debug, Clone)]
struct Value {
    raw: String,
    /// As it stands in JSON, and in JSON inside of JSON; none when nothing in it needs an escape.
    escaped: Option<[String; 2]>,
}

impl Value {
    fn new(raw: String) -> Self {
        let once = escaped(&raw);
        let escaped = (once != raw).then(|| [once.clone(), escaped(&once)]);
        Self { raw, escaped }
    }

    /// Where it stands in a text. What needs an escape is no value where JSON has it without: there it is structure.
    fn find(&self, text: &str, is_json: impl FnOnce() -> bool) -> Vec<Range<usize>> {
        let all = |value: &str| -> Vec<Range<usize>> {
            text.match_indices(value).map(|(at, found)| at..at + found.len()).collect()
        };
        let Some(escaped) = &self.escaped else { return all(&self.raw) };
        let mut found: Vec<_> = escaped.iter().flat_map(|value| all(value)).collect();
        let bare = all(&self.raw);
        if !bare.is_empty() && !is_json() {
            found.extend(bare);
        }
        found
    }
}

fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

impl Redactor {
    /// Also hides these values, such as those of secret environment variables.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let values = values.into_iter().filter(|value| value.len() >= VALUE_MIN);
        Self { values: values.map(Value::new).collect() }
    }

    /// The text without secrets.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut found: Vec<Range<usize>> = Vec::new();
        if let Some(shapes) = SHAPES.as_ref() {
            found.extend(shapes.find_iter(text).map(|secret| secret.range()));
        }
        let is_json = || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        found.extend(self.values.iter().flat_map(|value| value.find(text, is_json)));
        found.extend(self.behind_escapes(text));
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(without(text, found))
    }
}

impl Redactor {
    /// Secrets in which JSON escapes signs that need none: `\/`, or any sign as `\u002d`, once or twice over.
    fn behind_escapes(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut plain = Plain::of(text);
        for _ in 0..ESCAPES_MAX {
            let Some(read) = plain else { break };
            let shapes = SHAPES.iter().flat_map(|shapes| shapes.find_iter(read.text()));
            found.extend(shapes.map(|secret| read.origin(secret.range())));
            for value in &self.values {
                let all = read.text().match_indices(value.raw.as_str());
                found.extend(all.map(|(at, secret)| read.origin(at..at + secret.len())));
            }
            plain = read.again();
        }
        found
    }
}

/// The text with one mark in place of each stretch of secrets; those that overlap are one.
fn without(text: &str, mut secrets: Vec<Range<usize>>) -> String {
    secrets.sort_unstable_by_key(|secret| secret.start);
    let (mut out, mut kept) = (String::with_capacity(text.len()), 0);
    for secret in secrets {
        let start = before_escape(text, secret.start);
        if start >= kept {
            out.push_str(&text[kept..start]);
            out.push_str(REDACTED);
        }
        kept = kept.max(secret.end);
    }
    out.push_str(&text[kept..]);
    out
}

/// Where the escape of JSON begins that reaches over this byte: `\n` and `\u00e9` may look like the begin of a secret.
fn before_escape(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let opens = |back: usize| {
        let slashes = bytes[..back].iter().rev().take_while(|byte| **byte == b'\\').count();
        slashes % 2 == 1
    };
    if opens(at) {
        return at - 1;
    }
    let unicode = (1..5).filter_map(|back| at.checked_sub(back)).find(|back| bytes[*back] == b'u');
    unicode.filter(|u| opens(*u)).map_or(at, |u| u - 1)
}

impl Redactor {
    /// One line of a stream whose secrets may go over several lines: a private key is hidden from its first line to its last.
    pub fn redact_line<'a>(&self, line: &'a str, inside_key: &mut bool) -> Cow<'a, str> {
        let begins = line.contains("-----BEGIN ") && line.contains("PRIVATE KEY-----");
        let ends = line.contains("-----END ") && line.contains("PRIVATE KEY-----");
        let hidden = *inside_key;
        *inside_key = (*inside_key || begins) && !ends;
        if hidden { Cow::Borrowed(REDACTED) } else { self.redact(line) }
    }
}

/// Whether a variable of that name usually holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "CREDENTIAL"]
        .iter()
        .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_behind_escapes_that_it_needs_not_is_found() {
        let redactor = Redactor::new(["pa/ss-\u{e9}\u{1f511}\"word".to_owned()]);
        let whole = [
            r#"{"a":"x pa\/ss-\u00e9\ud83d\udd11\"word y"}"#,
            r#"{"a":"x \u0070a/ss\u002dé🔑\u0022word y"}"#,
            r#"{"a":"x pa/ss-é\ud83d\udd11\"word y"}"#,
        ];
        for line in whole {
            assert_eq!(redactor.redact(line), r#"{"a":"x [redacted] y"}"#);
        }
        let inner = serde_json::Value::from(whole[0]).to_string();
        assert_eq!(redactor.redact(&inner), r#""{\"a\":\"x [redacted] y\"}""#);
        let key = ["sk", "\\u002dabcdefghijkl\\u006dnop"].concat();
        assert_eq!(redactor.redact(&format!("\"{key}\"")), "\"[redacted]\"");
        let bare = r#"{"a":"pa/ss-é🔑","word":"\/"}"#;
        assert_eq!(redactor.redact(bare), bare, "a quote of JSON itself is none of the secret's");
    }

    #[test]
    fn known_shapes_go() {
        let redactor = Redactor::default();
        let letters = "abcdefghijklmnopqrstuvwxyz";
        for secret in [
            format!("sk-{letters}"),
            format!("ghp_{letters}"),
            format!("AKIA{}", &letters.to_uppercase()[..16]),
            format!("Bearer {letters}"),
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\\n{letters}+/=\\n-----END RSA PRIVATE KEY-----"
            ),
        ] {
            let line = format!(r#"{{"text":"the key is {secret} ok"}}"#);
            let out = redactor.redact(&line);
            assert_eq!(out, r#"{"text":"the key is [redacted] ok"}"#, "{secret}");
        }
    }

    #[test]
    fn known_values_go_and_the_line_stays_json() {
        let redactor = Redactor::new(["hunter2hunter2".to_owned(), "short".to_owned()]);
        let out = redactor.redact(r#"{"text":"hunter2hunter2 and short"}"#).into_owned();
        assert_eq!(out, r#"{"text":"[redacted] and short"}"#);
        assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok());
    }

    #[test]
    fn a_key_over_several_lines_goes_whole() {
        let mut inside = false;
        let lines =
            ["a", "-----BEGIN PRIVATE KEY-----", "c2VjcmV0", "-----END PRIVATE KEY-----", "b"];
        let out: Vec<_> =
            lines.map(|line| Redactor::default().redact_line(line, &mut inside)).to_vec();
        assert_eq!(out, ["a", REDACTED, REDACTED, REDACTED, "b"]);
    }

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(Redactor::default().redact("nothing here"), Cow::Borrowed(_)));
    }
}
