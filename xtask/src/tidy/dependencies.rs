//! What the pure half may not depend on, as cargo sees it.

use std::path::Path;
use std::process::{Command, Stdio};

use super::Finding;

const MANIFEST: &str = "crates/chronicle-core/Cargo.toml";

/// `chronicle-core` decides and does not act: nothing below it brings an async runtime.
pub(super) fn core_without_tokio(root: &Path) -> Option<Finding> {
    let arguments = ["tree", "--locked", "-p", "chronicle-core", "-e", "normal", "-i", "tokio"];
    let output =
        Command::new("cargo").args(arguments).current_dir(root).stdin(Stdio::null()).output();
    match output {
        Ok(output) => judge(
            output.status.success(),
            &String::from_utf8_lossy(&output.stdout),
            &String::from_utf8_lossy(&output.stderr),
        ),
        Err(error) => judge(false, "", &error.to_string()),
    }
}

/// Reads the answer of `cargo tree`. It fails when nothing at all uses tokio, and prints nothing when only others do.
fn judge(is_success: bool, tree: &str, said: &str) -> Option<Finding> {
    if is_success && tree.trim().is_empty() || said.contains("did not match any packages") {
        return None;
    }
    if is_success {
        let what = "chronicle-core depends on tokio";
        return Some(Finding::new(
            MANIFEST,
            1,
            what,
            "core is pure: move what needs it to the runtime",
        ));
    }
    let last = said.lines().last().unwrap_or("it said nothing");
    let what = format!("`cargo tree` failed: {last}");
    Some(Finding::new(MANIFEST, 1, what, "run `cargo tree -p chronicle-core`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokio_below_core_is_found() {
        let absent = "error: package ID specification `tokio` did not match any packages\n";
        assert_eq!(judge(false, "", absent), None);
        assert_eq!(judge(true, "", "warning: nothing to print.\n"), None);
        assert!(judge(true, "tokio v1.0.0\n└── chronicle-core v0.1.0\n", "").is_some());
        assert!(judge(false, "", "error: no network\n").is_some());
    }
}
