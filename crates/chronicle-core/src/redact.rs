//! Secrets out: the one function that every line of an agent passes before it is written anywhere.
//!
//! It works on text, before anything is parsed, so that no later code can forget it. What it puts in place of a secret
//! keeps JSON whole: a pattern never matches a quote, nor half of an escape.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";
/// Values shorter than this are too common to be taken for secrets.
const VALUE_MIN: usize = 8;

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
    values: Vec<String>,
}

impl Redactor {
    /// Also hides these values, such as those of secret environment variables.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> =
            values.into_iter().filter(|value| value.len() >= VALUE_MIN).collect();
        // The longest first, so that a secret inside another does not leave the rest of it.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { values }
    }

    /// The text without secrets.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = match SHAPES.as_ref() {
            Some(shapes) => shapes.replace_all(text, REDACTED),
            None => Cow::Borrowed(text),
        };
        for value in self.values.iter().filter(|value| !value.contains(['"', '\\'])) {
            if out.contains(value.as_str()) {
                out = Cow::Owned(out.replace(value.as_str(), REDACTED));
            }
        }
        out
    }
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
