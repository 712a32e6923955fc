//! `chronicle graph`: draws a workflow.

use chronicle_core::view::graph::{Graph, LineStyle, dot, mermaid, svg, text};
use chronicle_runtime::handle::definitions;
use clap::{Args, ValueEnum};

use super::{Setting, json, problems};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Draw a workflow: its phases, approvals and edges
///
/// Text output fits the width of the terminal. `svg` needs no other program and follows the reader's light or dark setting;
/// `mermaid` is drawn by many Markdown viewers, `dot` by Graphviz.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle graph feature
  chronicle graph feature --format svg > feature.svg
  chronicle graph ./review.yaml --format mermaid")]
pub(super) struct GraphArgs {
    /// A workflow's name, or the path of its file
    name: String,

    /// Format of the picture
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Use ASCII characters only
    #[arg(long)]
    ascii: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for a terminal
    Text,
    /// Source for Markdown viewers
    Mermaid,
    /// Source for Graphviz programs
    Dot,
    /// A complete SVG image
    Svg,
}

pub(super) fn cmd_graph(setting: &Setting, args: &GraphArgs) -> Result<Exit, Failure> {
    let loaded = definitions::workflow(&setting.project, &args.name)?;
    problems::show(&loaded);
    // What is wrong may be just what a person wants to see: it is drawn as far as it was read.
    let Some(graph) = Graph::new(&loaded.workflows) else {
        return Err(problems::failure(&loaded, "drawn"));
    };
    let lines = if args.ascii { LineStyle::Ascii } else { LineStyle::Boxes };
    let drawn = match args.format {
        Format::Text => text(&graph, terminal::columns(), lines),
        Format::Mermaid => mermaid(&graph),
        Format::Dot => dot(&graph),
        Format::Svg => svg(&graph),
    };
    if setting.json {
        let name = args.format.to_possible_value().map(|it| it.get_name().to_owned());
        json::say_document(
            &serde_json::json!({ "key": graph.key, "format": name, "text": drawn }),
        )?;
    } else {
        terminal::say(drawn.trim_end());
    }
    Ok(if loaded.is_usable() { Exit::Done } else { Exit::Definition })
}
