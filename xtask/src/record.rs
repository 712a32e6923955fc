//! Records the streams of the real agents anew. The cases are in `crates/chronicle-model/src/bin/record/`.

use std::path::Path;
use std::process::Command;

use crate::agents;

/// Says whether every case could be recorded.
pub(crate) fn run(root: &Path) -> bool {
    if !agents::run(root) {
        eprintln!("Error: every agent must be installed to record");
        return false;
    }
    let arguments = ["run", "--quiet", "--package", "chronicle-model", "--bin", "record"];
    let status = Command::new("cargo").args(arguments).current_dir(root).status();
    status.is_ok_and(|status| status.success())
}
