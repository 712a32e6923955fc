//! Redaction: every text of an agent or a person passes here before it is written anywhere.
//!
//! A line of JSON is parsed first and its values are redacted one by one (`json.rs`), so keys, ids and phase names stay intact.
//! Any other text is searched as it is, by the rules of `rules.yaml` and for known secret values. Text that an agent streams in
//! pieces is joined first (`stream.rs`), since no piece alone may look like a secret.

mod json;
mod keys;
mod looks;
mod rules;
mod stream;

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;

use crate::base::plain::{ESCAPE, Plain};
use rules::RULES;

pub use stream::{Pieces, Stream, TakenPieces};

/// The mark that replaces each secret.
pub const REDACTED: &str = "[redacted]";
/// Values shorter than this are too common to be treated as secrets.
const VALUE_MIN: usize = 8;
/// Levels of JSON inside JSON in which secrets are found behind unnecessary escapes.
const ESCAPES_MAX: usize = 2;

/// Finds secrets by their shape and by known values.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    values: Vec<KnownSecret>,
    patterns: Vec<Regex>,
}

/// A known value in the forms in which it may appear.
#[derive(Debug, Clone)]
struct KnownSecret {
    raw: String,
    /// Escaped as in JSON, and as in JSON inside of JSON. `None` if no character needs an escape.
    escaped: Option<[String; 2]>,
}

impl KnownSecret {
    fn new(raw: String) -> Self {
        let once = escaped(&raw);
        let escaped = (once != raw).then(|| [once.clone(), escaped(&once)]);
        Self { raw, escaped }
    }

    /// Finds the value in a text. If the value needs escapes, an unescaped match inside JSON is structure and does not count.
    fn find(&self, text: &str, is_json: impl FnOnce() -> bool) -> Vec<Range<usize>> {
        let all = |value: &str| -> Vec<Range<usize>> {
            text.match_indices(value).map(|(at, found)| at..at + found.len()).collect()
        };
        // Without characters that JSON escapes, the value looks the same everywhere, and one search is enough.
        let Some(escaped) = &self.escaped else { return all(&self.raw) };
        let mut found: Vec<_> = escaped.iter().flat_map(|value| all(value)).collect();
        let bare = all(&self.raw);
        if !bare.is_empty() && !is_json() {
            found.extend(bare);
        }
        found
    }

    /// How much of the value a text ends with; 0 if it does not end with its beginning.
    fn begun_at_end_of(&self, text: &str) -> usize {
        let ends = self.raw.char_indices().map(|(at, _)| at).rev();
        ends.into_iter().find(|at| text.ends_with(&self.raw[..*at])).unwrap_or(0)
    }
}

fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

impl Redactor {
    /// Also hides these values, such as those of secret environment variables.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        // A short value, such as `dev`, occurs in ordinary words. Redacting it everywhere would make texts unreadable.
        let values = values.into_iter().filter(|value| value.len() >= VALUE_MIN);
        Self { values: values.map(KnownSecret::new).collect(), patterns: Vec::new() }
    }

    /// Also hides what these patterns match. Invalid patterns are reported when settings are read.
    #[must_use]
    pub fn with_patterns(mut self, patterns: &[String]) -> Self {
        self.patterns = patterns.iter().filter_map(|it| Regex::new(it).ok()).collect();
        self
    }

    /// The same redactor, which also hides these values.
    #[must_use]
    pub fn knowing(mut self, values: impl IntoIterator<Item = String>) -> Self {
        self.values.extend(Self::new(values).values);
        self
    }

    /// The text with every secret replaced.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.secrets(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(without(text, &found))
    }

    /// Replaces every secret of a text. Returns true if it had any.
    pub fn redact_in_place(&self, text: &mut String) -> bool {
        let Cow::Owned(plain) = self.redact(text) else { return false };
        *text = plain;
        true
    }

    /// Replaces every secret of each text. Returns true if there were any.
    pub fn redact_each<'t>(&self, texts: impl Iterator<Item = &'t mut String>) -> bool {
        // Each of them, not only up to the first that had one.
        texts.filter_map(|text| self.redact_in_place(text).then_some(())).count() > 0
    }

    /// Finds secrets in a text, in order; overlapping ones are merged.
    fn secrets(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = self.shaped(text);
        let is_json = || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        found.extend(self.values.iter().flat_map(|value| value.find(text, is_json)));
        found.extend(self.behind_escapes(text));
        merged(text, found)
    }
}

impl Redactor {
    /// Finds secrets by their shape. If the rules cannot be loaded, all text counts as secret.
    fn shaped(&self, text: &str) -> Vec<Range<usize>> {
        // Rules that cannot be read redact everything: better an unreadable record than one with secrets.
        let Some(rules) = RULES.as_ref() else { return std::iter::once(0..text.len()).collect() };
        let mut found = Vec::new();
        rules.find(text, &mut found);
        keys::find(text, &mut found);
        let own = self.patterns.iter().flat_map(|pattern| pattern.find_iter(text));
        found.extend(own.filter(|secret| !secret.is_empty()).map(|secret| secret.range()));
        found
    }

    /// True if it is worth a closer look: the text has a keyword of a rule, or escapes that could hide one.
    fn may_have_secrets(&self, text: &str) -> bool {
        let has_value = |value: &KnownSecret| {
            let escaped = value.escaped.iter().flatten().map(String::as_str);
            escaped.chain([value.raw.as_str()]).any(|it| text.contains(it))
        };
        RULES.as_ref().is_none_or(|rules| rules.may_match(text))
            || text.contains("-----BEGIN ")
            || text.contains("\\u")
            || text.contains(ESCAPE)
            || text.contains("\\/")
            || self.values.iter().any(has_value)
            || !self.patterns.is_empty()
    }

    /// Finds secrets in which JSON escapes characters without need: `\/`, or any character as `\u002d`, up to two levels deep; and
    /// those that a terminal's colours cut in pieces.
    fn behind_escapes(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if let Some(read) = Plain::without_colours(text) {
            self.search(&read, &mut found);
        }
        let mut plain = Plain::of(text);
        // Text in JSON in JSON has its escapes escaped again. Each round takes off one layer.
        for _ in 0..ESCAPES_MAX {
            let Some(read) = plain else { break };
            self.search(&read, &mut found);
            if let Some(read) = read.uncoloured() {
                self.search(&read, &mut found);
            }
            plain = read.again();
        }
        found
    }

    fn search(&self, read: &Plain, found: &mut Vec<Range<usize>>) {
        found.extend(self.shaped(read.text()).into_iter().map(|secret| read.origin(secret)));
        for value in &self.values {
            let all = read.text().match_indices(value.raw.as_str());
            found.extend(all.map(|(at, secret)| read.origin(at..at + secret.len())));
        }
    }
}

/// Merges overlapping secrets. A secret that would cut an escape starts where the escape starts.
fn merged(text: &str, mut secrets: Vec<Range<usize>>) -> Vec<Range<usize>> {
    // Found by several searches, so neither in order nor apart: one mark must replace each stretch of overlapping secrets.
    secrets.sort_unstable_by_key(|secret| secret.start);
    let mut all: Vec<Range<usize>> = Vec::new();
    for secret in secrets {
        // A cut between a backslash and its letter would make the text invalid JSON.
        let start = before_escape(text, secret.start);
        match all.last_mut() {
            Some(last) if start < last.end => last.end = last.end.max(secret.end),
            Some(_) | None => all.push(start..secret.end),
        }
    }
    all
}

/// The text with one mark in place of each secret.
fn without(text: &str, secrets: &[Range<usize>]) -> String {
    let (mut out, mut kept) = (String::with_capacity(text.len()), 0);
    for secret in secrets {
        out.push_str(&text[kept..secret.start]);
        out.push_str(REDACTED);
        kept = secret.end;
    }
    out.push_str(&text[kept..]);
    out
}

/// Start of the JSON escape that covers this byte: `\n` and `\u00e9` may look like the beginning of a secret.
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
    /// Redacts one line of a stream. A private key that spans lines is hidden from its first line to its last, or as long as
    /// lines look like key material.
    pub fn redact_line<'a>(&self, line: &'a str, inside_key: &mut bool) -> Cow<'a, str> {
        // Decided before the state changes: the last line of a key belongs to it.
        let hidden = *inside_key && keys::looks_inside(line) && !line.trim().is_empty();
        *inside_key = keys::goes_on(line, *inside_key);
        if hidden { Cow::Borrowed(REDACTED) } else { self.redact(line) }
    }
}

/// True if a variable of that name usually holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "CREDENTIAL"]
        .iter()
        .any(|word| name.contains(word))
}

/// Secret values of a `.env` file: by name, by the configured list, or because they look random. Ports, names and modes are not
/// secret.
pub fn dotenv(text: &str, named: &[String]) -> Vec<String> {
    let lines =
        text.lines().filter_map(|line| line.trim().trim_start_matches("export ").split_once('='));
    let secrets = lines.filter_map(|(name, value)| {
        let (name, value) = (name.trim(), unquoted(value.trim()));
        let is_named = named.iter().any(|it| it == name) || is_secret_name(name);
        // A `.env` file also holds ports and host names. Only what is named or looks like a secret is taken from it.
        let is_secret = is_named && !looks::is_placeholder(value) || looks::is_strong(value);
        (!name.starts_with('#') && is_secret).then(|| value.to_owned())
    });
    secrets.collect()
}

/// A value without its quotes, or without the comment after it.
fn unquoted(value: &str) -> &str {
    let quoted =
        ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.split(*quote).next());
    quoted.unwrap_or_else(|| value.split(" #").next().unwrap_or_default().trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY_LINE: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";

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
        let key = ["sk", "\\u002dA7cdEf9hijKl\\u006dn0pQrS2u"].concat();
        assert_eq!(redactor.redact(&format!("\"{key}\"")), "\"[redacted]\"");
        let bare = r#"{"a":"pa/ss-é🔑","word":"\/"}"#;
        assert_eq!(redactor.redact(bare), bare, "a quote of JSON itself is none of the secret's");
    }

    #[test]
    fn known_shapes_go() {
        let redactor = Redactor::default();
        let letters = "abcdefghij0123456789klmnop";
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
            let out = redactor.redact(&line).replace("Bearer ", "");
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
            ["a", "-----BEGIN PRIVATE KEY-----", KEY_LINE, "-----END PRIVATE KEY-----", "b"];
        let out: Vec<_> =
            lines.map(|line| Redactor::default().redact_line(line, &mut inside)).to_vec();
        let header = "-----BEGIN PRIVATE KEY-----";
        assert_eq!(out, ["a", header, REDACTED, REDACTED, "b"]);
    }

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(Redactor::default().redact("nothing here"), Cow::Borrowed(_)));
    }
}
