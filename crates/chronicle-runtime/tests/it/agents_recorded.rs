//! The adapters of published agents over what those really printed: text in, text out.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use chronicle_core::definition::settings::Settings;
use chronicle_core::definition::workflow::Tools;
use chronicle_runtime::for_tests::agents::{Adapter, Order, Seen, find};
use expect_test::expect_file;
use serde_json::Value;

use crate::agents::order;

fn adapter(agent: &str) -> Box<dyn Adapter> {
    find(agent, Path::new("/project"), &Settings::default()).unwrap()
}

/// What is seen in every recording of an agent; pieces of the same kind together.
fn seen(agent: &str, folder: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(folder);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort_unstable();
    let mut text = String::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let mut adapter = adapter(agent);
        adapter.open(&Order { project: PathBuf::from("/project"), ..order() });
        // The recordings were made without the hook or the greeting that prove a guard.
        adapter.start_unproven();
        let _ = writeln!(text, "{name}");
        for line in fs::read_to_string(&file).unwrap().lines() {
            let is_ours = |line: &Value| line.get("type").is_none();
            if is_ours(&serde_json::from_str(line).unwrap()) {
                continue;
            }
            // The recordings were made with a gate of their own, whose questions have the same shape and a shorter title.
            let line = line.replace(r#""title":"permission""#, r#""title":"chronicle:permission""#);
            for seen in adapter.read(&line).into_iter().filter(|seen| *seen != Seen::Alive) {
                let _ = writeln!(text, "  {:.400}", format!("{seen:?}"));
            }
        }
    }
    text
}

#[test]
fn claude_is_understood() {
    expect_file!["seen/claude.txt"].assert_eq(&seen("claude", "claude"));
}

#[test]
fn both_versions_of_pi_are_understood_alike() {
    expect_file!["seen/pi.txt"].assert_eq(&seen("pi", "pi"));
    expect_file!["seen/pi-0.87.txt"].assert_eq(&seen("pi", "pi-0.87"));
}

#[test]
fn published_agents_are_started_so() {
    let shown = |agent: &str| {
        let allow = Some(["read", "bash", "mcp__docs__find"].map(str::to_owned).to_vec());
        let tools = Tools { allow, ..order().tools };
        let order = Order { persona: Some("You are Ward.".to_owned()), tools, ..order() };
        let launch = adapter(agent).launch(&order, Path::new("/bin/c"));
        let argv: Vec<String> =
            launch.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let files: Vec<&str> = launch.files.iter().map(|file| file.name).collect();
        format!("{}\n{:?}\n{files:?}\n", argv.join(" "), launch.env)
    };
    expect_file!["seen/launch.txt"].assert_eq(&format!("{}\n{}", shown("claude"), shown("pi")));
}
