//! The throw-away project of `chronicle demo`: a workflow, a script for the scripted agent, and where they go.

use std::fs;
use std::io;
use std::path::Path;

/// The task that the demo's run is given.
pub(crate) const TASK: &str = "Add a greeting that knows the time of the day";
/// The name of its workflow.
pub(crate) const WORKFLOW: &str = "feature";
/// Its script, relative to the project.
pub(crate) const SCRIPT: &str = "demo-script.yaml";

const FILES: [(&str, &str); 4] = [
    (".chronicle/workflows/feature.yaml", include_str!("feature.yaml")),
    (SCRIPT, include_str!("script.yaml")),
    ("README.md", "# Greeter\n\nSays hello.\n"),
    ("greet.sh", "#!/bin/sh\necho \"Hello\"\n"),
];

/// Writes the project's files.
pub(crate) fn write_project(root: &Path) -> io::Result<()> {
    for (name, text) in FILES {
        let path = root.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}
