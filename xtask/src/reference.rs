//! Writes the pages that are made from code: the schema and the field reference.

use std::path::Path;
use std::process::Command;

/// The tests that keep the pages true also write them, when they are told to.
const TESTS: [&str; 2] =
    ["reference::the_schema_is_as_written", "reference::the_field_reference_is_as_written"];

/// Says whether the pages are written.
pub(crate) fn run(root: &Path) -> bool {
    let status = Command::new("cargo")
        .args(["test", "--quiet", "-p", "chronicle-core", "--test", "it", "--"])
        .args(TESTS)
        .arg("--exact")
        .env("UPDATE_EXPECT", "1")
        .current_dir(root)
        .status();
    match status {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("Error: cargo cannot be started: {error}");
            false
        }
    }
}
