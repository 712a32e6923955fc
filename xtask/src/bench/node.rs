//! Node's package `yaml`, installed into a folder of the build and nowhere else.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::peers::{run, target};

/// The measurements read from this variable which folder has the package.
pub(super) const MODULES: &str = "CHRONICLE_BENCH_NODE_MODULES";
const PACKAGE: &str = "yaml@2";

/// A folder of modules that has it; else why there is none.
pub(super) fn modules(root: &Path) -> Result<PathBuf, String> {
    let folder = target(root).join("bench-node");
    let modules = folder.join("node_modules");
    if !modules.join("yaml/package.json").is_file() {
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("cannot make a folder: {error}"))?;
        let install = ["install", "--silent", "--no-audit", "--no-fund", "--prefix"];
        let mut command = Command::new("npm");
        run(command.args(install).arg(&folder).arg(PACKAGE), "install the package `yaml`")?;
    }
    Ok(modules)
}
