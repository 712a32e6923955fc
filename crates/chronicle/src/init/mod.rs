//! The files that `chronicle init` writes: settings with everything explained, and a first workflow.

use chronicle_core::definition::settings::{Value, commented};
use chronicle_core::definition::workflow::schema as schema_text;

/// The name of the first workflow.
pub(crate) const WORKFLOW: &str = "change";
/// Its file, relative to the project.
pub(crate) const WORKFLOW_FILE: &str = ".chronicle/workflows/change.yaml";

/// What editors check workflows by, relative to the project.
pub(crate) const SCHEMA_FILE: &str = ".chronicle/workflow.schema.json";
/// Tells an editor where that is, as seen from a workflow.
const SCHEMA_LINE: &str = "# yaml-language-server: $schema=../workflow.schema.json";

/// A file to write.
pub(crate) struct NewFile {
    /// Its path, relative to the project.
    pub(crate) name: &'static str,
    /// What it will contain.
    pub(crate) text: String,
}

/// Settings with these check commands.
pub(crate) fn settings(verify: &[String]) -> NewFile {
    let said = ("verify", Value::Texts(verify.to_vec()));
    let text = commented(if verify.is_empty() { &[] } else { std::slice::from_ref(&said) });
    NewFile { name: ".chronicle/config.toml", text }
}

/// A workflow that is judged by the project's commands, or by a reviewer where there are none.
pub(crate) fn workflow(verify: &[String]) -> NewFile {
    let text = if verify.is_empty() {
        include_str!("reviewed.yaml")
    } else {
        include_str!("verified.yaml")
    };
    NewFile { name: WORKFLOW_FILE, text: format!("{SCHEMA_LINE}\n{text}") }
}

/// The schema of workflow files, of this version.
pub(crate) fn schema() -> NewFile {
    NewFile { name: SCHEMA_FILE, text: schema_text() }
}
