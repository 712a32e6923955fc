//! Secrets and what looks like them, held against the redactor. The held-out files were not looked at while the rules were written.

use std::fmt::Write as _;

use chronicle_core::base::redact::{REDACTED, Redactor};
use serde_json::json;

const SECRETS: &str = include_str!("data/redact/secrets.txt");
const HELD_OUT_SECRETS: &str = include_str!("data/redact/held-out-secrets.txt");
const LOOK_ALIKES: &str = include_str!("data/redact/look-alikes.txt");
const HELD_OUT_LOOK_ALIKES: &str = include_str!("data/redact/held-out-look-alikes.txt");

/// How much of a secret may be left: less than any key can be used by.
const LEFT_MAX: usize = 8;

/// Makes letters, other ones for each line, the same ones each time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap()
    }

    fn letters(&mut self, from: &str, count: usize) -> String {
        let from: Vec<char> = from.chars().collect();
        (0..count).map(|_| from[self.next() % from.len()]).collect()
    }
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

/// What stands for a placeholder such as `alnum:36`.
fn filled(word: &str, dice: &mut Dice) -> String {
    let (kind, count) = word.rsplit_once(':').unwrap_or((word, "1"));
    let count: usize = count.parse().unwrap();
    let alnum = [LOWER, UPPER, DIGITS].concat();
    let base64 = format!("{alnum}+/");
    let lines = |dice: &mut Dice, between: &str| {
        let lines: Vec<String> = (0..count).map(|_| dice.letters(&base64, 64)).collect();
        lines.join(between)
    };
    match kind.split(':').next().unwrap() {
        "alnum" => dice.letters(&alnum, count),
        "alpha" => dice.letters(&[LOWER, UPPER].concat(), count),
        "lower" => dice.letters(&[LOWER, DIGITS].concat(), count),
        "upper" => dice.letters(&[UPPER, "234567"].concat(), count),
        "digit" => dice.letters(DIGITS, count),
        "hex" => dice.letters("0123456789abcdef", count),
        "b64" => dice.letters(&base64, count),
        "b64url" => dice.letters(&[alnum.as_str(), "_-"].concat(), count - 1) + "x",
        "uuid" => "8c1f0e3a-5b7d-4c2e-9f10-2a3b4c5d6e7f".to_owned(),
        "pem" => lines(dice, "\n"),
        "pemn" => lines(dice, "\\n"),
        "pemcat" => lines(dice, "\n     3\t"),
        "basic" => base64_of(&format!(
            "{}:{}",
            kind.split(':').nth(1).unwrap(),
            dice.letters(&alnum, count)
        )),
        other => panic!("no placeholder `{other}`"),
    }
}

fn base64_of(text: &str) -> String {
    let table: Vec<char> = [UPPER, LOWER, DIGITS, "+/"].concat().chars().collect();
    let mut out = String::new();
    for group in text.as_bytes().chunks(3) {
        let bits = group.iter().fold(0usize, |sum, byte| sum << 8 | usize::from(*byte))
            << (8 * (3 - group.len()));
        let signs = (0..4).map(|at| table[bits >> (18 - 6 * at) & 63]);
        out.extend(signs.take(group.len() + 1));
        out.push_str(&"=".repeat(3 - group.len()));
    }
    out
}

/// The samples of a file: each text with its placeholders filled in.
fn samples(file: &str) -> Vec<String> {
    let lines = file.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.enumerate().map(|(number, line)| sample(line, number)).collect()
}

fn sample(line: &str, number: usize) -> String {
    let mut dice = Dice(number as u64 * 7_919 + 12_345);
    let (mut out, mut rest) = (String::new(), line);
    let kinds = "alnum alpha lower upper digit hex b64 b64url uuid pem pemn pemcat basic";
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let inner = rest[open + 1..].split('}').next().unwrap();
        if kinds.split(' ').any(|kind| inner.split(':').next() == Some(kind)) {
            out.push_str(&filled(inner, &mut dice));
            rest = &rest[open + inner.len() + 2..];
        } else {
            out.push('{');
            rest = &rest[open + 1..];
        }
    }
    out.push_str(rest);
    out.replace('␤', "\n").replace('⇥', "\t").replace('␛', "\u{1b}")
}

/// A text without its marks, and the secret between them.
fn marked(sample: &str) -> (String, String) {
    let (before, rest) = sample.split_once('⟦').unwrap();
    let (secret, after) = rest.split_once('⟧').unwrap();
    (format!("{before}{secret}{after}"), secret.to_owned())
}

/// Whether a stretch of the secret is left.
fn is_left(out: &str, secret: &str) -> bool {
    let letters: Vec<char> = secret.chars().collect();
    let mut parts = letters.windows(LEFT_MAX + 1);
    let known = |part: &&[char]| !part.iter().any(|it| it.is_whitespace());
    parts.any(|part| known(&part) && out.contains(&part.iter().collect::<String>()))
}

/// Which samples keep their secret, as text and as a line of JSON.
fn missed(file: &str) -> (usize, Vec<String>) {
    let redactor = Redactor::default();
    let all = samples(file);
    let missed = all.iter().filter_map(|sample| {
        let (text, secret) = marked(sample);
        let line = json!({"type": "text", "text": text}).to_string();
        let read: serde_json::Value = serde_json::from_str(&redactor.line(&line)).unwrap();
        let (as_text, as_json) = (redactor.redact(&text), read["text"].as_str().unwrap());
        let is_left = is_left(&as_text, &secret) || is_left(as_json, &secret);
        is_left.then(|| format!("{text}\n  -> {as_text}"))
    });
    (all.len(), missed.collect())
}

/// Which samples are changed, as text and as a line of JSON.
fn damaged(file: &str) -> (usize, Vec<String>) {
    let redactor = Redactor::default();
    let all = samples(file);
    let damaged = all.iter().filter_map(|text| {
        let line = json!({"type": "text", "text": text}).to_string();
        let out = redactor.redact(text);
        (out != text.as_str() || redactor.line(&line) != line)
            .then(|| format!("{text}\n  -> {out}"))
    });
    (all.len(), damaged.collect())
}

#[expect(clippy::print_stderr, reason = "the rate is what this test is read for")]
fn rate(what: &str, all: usize, bad: &[String]) -> usize {
    let mut text = format!("{what}: {} of {all}", bad.len());
    for it in bad {
        write!(text, "\n  {it}").unwrap();
    }
    eprintln!("{text}");
    (all - bad.len()) * 1_000 / all
}

#[test]
fn of_the_secrets_at_least_95_in_100_are_caught() {
    let (all, bad) = missed(SECRETS);
    let (more, held_out) = missed(HELD_OUT_SECRETS);
    let seen = rate("secrets missed", all, &bad);
    let unseen = rate("held-out secrets missed", more, &held_out);
    assert!(all + more >= 200 && seen >= 990 && unseen >= 950, "{seen} and {unseen} of 1000");
}

#[test]
fn of_the_look_alikes_none_is_damaged() {
    let (all, bad) = damaged(LOOK_ALIKES);
    let (more, held_out) = damaged(HELD_OUT_LOOK_ALIKES);
    rate("look-alikes damaged", all, &bad);
    rate("held-out look-alikes damaged", more, &held_out);
    assert!(all + more >= 200 && bad.is_empty() && held_out.is_empty());
}

#[test]
fn names_of_phases_and_ids_are_not_redacted() {
    let redactor = Redactor::new(["a-phase-that-is-a-value".to_owned()]);
    let key = ["gh", "p_Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j"].concat();
    let line = json!({
        "id": key, "request_id": key, "toolCallId": key, key.as_str(): 1,
        "arguments": {"target_state": "a-phase-that-is-a-value", "summary": format!("used {key}")},
        "placeholder": json!({"id": key, "input": {"command": key}}).to_string(),
    });
    let read: serde_json::Value = serde_json::from_str(&redactor.line(&line.to_string())).unwrap();
    let expected = json!({
        "id": key, "request_id": key, "toolCallId": key, key.as_str(): 1,
        "arguments": {"target_state": "a-phase-that-is-a-value", "summary": format!("used {REDACTED}")},
        "placeholder": json!({"id": key, "input": {"command": REDACTED}}).to_string(),
    });
    assert_eq!(read, expected);
}

#[test]
fn what_a_person_calls_a_secret_is_one() {
    let redactor = Redactor::default().with_patterns(&["ACME-[0-9]{4}".to_owned(), "(".to_owned()]);
    assert_eq!(redactor.redact("see ACME-1234, not ACME-12"), "see [redacted], not ACME-12");
}
