//! `chronicle schema`: prints the JSON Schema.

use chronicle_core::definition::workflow;
use clap::Args;

use crate::exit_code::Exit;
use crate::terminal;

/// Print the JSON Schema of workflow files, for editors
///
/// An editor with a YAML language server completes and checks a file that begins with
/// `# yaml-language-server: $schema=PATH`.
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle schema > .chronicle/workflow.schema.json")]
pub(super) struct SchemaArgs {}

pub(super) fn cmd_schema(_: &SchemaArgs) -> Exit {
    terminal::say(workflow::schema().trim_end());
    Exit::Done
}
