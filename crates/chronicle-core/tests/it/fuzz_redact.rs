//! Secrets go, and a line of JSON stays one.

use chronicle_core::base::redact::{REDACTED, Redactor};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::fuzz::cases;

/// Whole secrets of each shape.
fn shaped() -> Vec<String> {
    let letters = "ab7cdefgh4ijklmnop1qrstuv9wxyz0123456";
    vec![
        format!("sk-{letters}"),
        format!("ghp_{letters}"),
        format!("github_pat_{letters}"),
        format!("glpat-{letters}"),
        "AKIA0123456789ABCDEF".to_owned(),
        format!("AIza{letters}"),
        format!("xoxb-{letters}"),
        format!("npm_{letters}"),
        format!("eyJ{letters}.eyJ{letters}.{letters}"),
        format!("-----BEGIN RSA PRIVATE KEY-----\n{letters}\n-----END RSA PRIVATE KEY-----"),
        format!("bearer {letters}"),
    ]
}

/// Values that are secrets because somebody said so; some look like the half of an escape, some need escapes.
fn told() -> Vec<String> {
    ["n0thing-to-see", "00e9secret", "u0041-secret", "tab\there!", "pa\"ss\\word", "bearerless-b"]
        .map(str::to_owned)
        .to_vec()
}

/// What may stand beside a secret: no letter of a word that it could be the end of.
fn around() -> impl Strategy<Value = String> {
    let ends_in_a_word =
        |text: &String| text.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '_');
    prop_oneof![
        select(vec!["", "\n", "\\", "\\\\", "\t", "\u{8}", "\u{1}", "\"", "é", "key="])
            .prop_map(str::to_owned),
        any::<String>().prop_filter("a word", move |text| !ends_in_a_word(text)),
    ]
}

/// JSON as some agents write it: nothing but ASCII.
fn ascii(text: &str) -> String {
    use std::fmt::Write as _;
    let mut units = [0; 2];
    text.chars().fold(String::new(), |mut out, letter| {
        if letter.is_ascii() {
            out.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut units) {
                write!(out, "\\u{unit:04x}").unwrap();
            }
        }
        out
    })
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn a_line_stays_json_and_its_secrets_go(
        parts in prop::collection::vec((around(), select([shaped(), told()].concat())), 1..4),
        after in around(),
        nested in any::<bool>(),
    ) {
        let redactor = Redactor::new(told());
        let mut said: String = parts.iter().flat_map(|(text, secret)| [text.as_str(), secret, " "]).collect();
        said.push_str(&after);
        let inner = if nested { json!({"input": said}).to_string() } else { said };
        let line = json!({"type": "text", "text": inner}).to_string();
        for line in [ascii(&line), line] {
            let out = redactor.line(&line).into_owned();
            let read: Result<Value, _> = serde_json::from_str(&out);
            prop_assert!(read.is_ok(), "{line}\n{out}");
            let shown = read.unwrap()["text"].as_str().unwrap_or_default().to_owned();
            prop_assert!(shown.contains(REDACTED), "{line}\n{out}");
            for (_, secret) in &parts {
                prop_assert!(!shown.contains(secret.as_str()), "{secret:?} is left in {out}");
            }
        }
    }

    #[test]
    fn plain_text_loses_its_secrets_too(before in around(), after in around()) {
        let redactor = Redactor::new(told());
        for secret in [shaped(), told()].concat() {
            let line = format!("{before}{secret}{after}");
            let out = redactor.redact(&line);
            prop_assert!(!out.contains(&secret), "{secret:?} is left in {out:?}");
        }
    }

    #[test]
    fn any_json_stays_json(text in any::<String>(), values in prop::collection::vec("[a-fnrtu0-9/\"\\\\]{8,12}", 0..4)) {
        let redactor = Redactor::new(values);
        let line = ascii(&json!({"a": text, "b": [text]}).to_string());
        let out = redactor.line(&line);
        prop_assert!(serde_json::from_str::<Value>(&out).is_ok(), "{line}\n{out}");
    }
}

#[test]
fn an_escape_is_no_part_of_what_follows_it() {
    let redactor = Redactor::new(["00e9secret".to_owned(), "nothing-here".to_owned()]);
    let letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    for (line, out) in [
        (format!(r#"{{"t":"a\\npm_{letters}"}}"#), r#"{"t":"a[redacted]"}"#),
        (r#"{"t":"a\u00e9secret"}"#.to_owned(), r#"{"t":"a\u00e9secret"}"#),
        (r#"{"t":"\nothing-here"}"#.to_owned(), r#"{"t":"\nothing-here"}"#),
        (r#"{"t":"\u123AKIA0123456789ABCDEF"}"#.to_owned(), r#"{"t":"\u123AKIA0123456789ABCDEF"}"#),
    ] {
        assert_eq!(redactor.line(&line), out, "{line}");
    }
}
