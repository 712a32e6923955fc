//! Takes out of a recording what is different on every machine and every day.

use std::collections::BTreeMap;
use std::path::Path;

use chronicle_model::real::Yard;
use regex::{Captures, Regex};

/// What is replaced by a fixed text.
const FIXED: &[(&str, &str)] = &[
    (r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "2026-01-01T00:00:00.000Z"),
    (r"\b20\d\d-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z", "2026-01-01T00-00-00-000Z"),
    (r"\b20\d\d-\d\d-\d\d\b", "2026-01-01"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:1"),
    (r"/cc-socks/\d+\.sock", "/cc-socks/1.sock"),
    (r#"(?P<key>(_ms|Ms|timestamp|_at|At|_time|_seconds)\\?":)\d+(\.\d+)?"#, "${key}0"),
];
/// Long ids, each replaced by a number of its own, so that equal ones stay equal.
const LONG: &str = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b";
/// Short ones, known by their field.
const SHORT: &str =
    r#"(?P<key>(id|Id)":")(?P<id>[0-9a-f]{8}|a[0-9a-f]{16}|0[0-9a-z]{8}-[0-9a-f]{8})""#;

/// Remembers what it replaced, for one recording.
pub(crate) struct Scrub {
    paths: Vec<(String, String)>,
    fixed: Vec<(Regex, &'static str)>,
    long: Regex,
    short: Regex,
    known: Numbered,
}

#[derive(Default)]
struct Numbered(BTreeMap<String, usize>);

impl Numbered {
    fn number(&mut self, id: &str) -> usize {
        let next = self.0.len() + 1;
        *self.0.entry(id.to_owned()).or_insert(next)
    }
}

impl Scrub {
    pub(crate) fn new(yard: &Yard) -> Result<Self, regex::Error> {
        let compiled = FIXED.iter().map(|(text, to)| Ok((Regex::new(text)?, *to)));
        Ok(Self {
            paths: places(yard),
            fixed: compiled.collect::<Result<_, regex::Error>>()?,
            long: Regex::new(LONG)?,
            short: Regex::new(SHORT)?,
            known: Numbered::default(),
        })
    }

    pub(crate) fn line(&mut self, line: &str) -> String {
        let mut line = line.to_owned();
        for (from, to) in &self.paths {
            line = line.replace(from, to);
        }
        let Self { known, .. } = self;
        let long =
            |it: &Captures<'_>| format!("00000000-0000-4000-8000-{:012}", known.number(&it[0]));
        line = self.long.replace_all(&line, long).into_owned();
        let short = |it: &Captures<'_>| format!("{}{:08}\"", &it["key"], known.number(&it["id"]));
        line = self.short.replace_all(&line, short).into_owned();
        for (pattern, to) in &self.fixed {
            line = pattern.replace_all(&line, *to).into_owned();
        }
        line
    }
}

/// Folders and what they are called in recordings, the innermost first; each also as agents write it in a file's name.
fn places(yard: &Yard) -> Vec<(String, String)> {
    let named =
        [(yard.project(), "/project"), (yard.home(), "/home"), (yard.folder().into(), "/yard")];
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut places: Vec<(String, String)> =
        named.iter().map(|(path, name)| (text(path), (*name).to_owned())).collect();
    for (path, name) in &named {
        let dashed = |it: &str| it.replace(['/', '.'], "-");
        places.push((dashed(&text(path)), dashed(name)));
    }
    if let Some(agents) = chronicle_model::real::agents() {
        places.push((text(&agents), "/agents".to_owned()));
    }
    if let Ok(own) = std::env::current_exe() {
        places.push((text(&own), "/record".to_owned()));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_taken_out_and_what_is_equal_stays_so() {
        let yard = Yard::new().unwrap();
        let mut scrub = Scrub::new(&yard).unwrap();
        let (one, two) =
            ("01a1dcaf-37fe-70f2-8aa9-2ed9133707cd", "11a1dcaf-37fe-70f2-8aa9-2ed9133707cd");
        let line = format!(
            r#"{{"a":"{one}","b":"{two}","c":"{one}","id":"b4c5220e","cwd":"{}","at":"2026-11-15T00:50:33.406Z","durationMs":17,"u":"http://127.0.0.1:4711/v1"}}"#,
            yard.project().display()
        );
        assert_eq!(
            scrub.line(&line),
            r#"{"a":"00000000-0000-4000-8000-000000000001","b":"00000000-0000-4000-8000-000000000002","c":"00000000-0000-4000-8000-000000000001","id":"00000003","cwd":"/project","at":"2026-01-01T00:00:00.000Z","durationMs":0,"u":"http://127.0.0.1:1/v1"}"#
        );
    }
}
