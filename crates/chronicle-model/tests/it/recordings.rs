//! The recordings of the real agents: whole, and free of the machine that made them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What may not be in them: where they were made.
const TRACES: &[&str] = &["/tmp/", "/root/", "/Users/", "yard-", "/target/"];

fn all() -> Vec<PathBuf> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../chronicle-runtime/tests/recordings");
    let agents = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let files = agents.flat_map(|agent| fs::read_dir(agent).unwrap());
    files.map(|it| it.unwrap().path()).collect()
}

#[test]
fn every_line_is_json_between_a_case_and_an_end() {
    let files = all();
    assert!(files.len() > 50, "{}", files.len());
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{path:?}: {line}")))
            .collect();
        assert!(lines[0]["case"]["about"].is_string(), "{path:?}");
        assert!(lines.last().unwrap()["ended"].is_object(), "{path:?}");
    }
}

#[test]
fn nothing_tells_where_they_were_made() {
    for path in all() {
        let text = fs::read_to_string(&path).unwrap();
        let found: Vec<_> = TRACES.iter().filter(|trace| text.contains(*trace)).collect();
        assert!(found.is_empty(), "{path:?} has {found:?}");
    }
}
