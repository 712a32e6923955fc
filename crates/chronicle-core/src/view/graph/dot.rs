//! Output in the language of Graphviz.

use std::fmt::Write as _;

use super::{EdgeWay, Graph, Node, NodeKind, cells};
use crate::definition::workflow::PhaseKind;

/// The picture as a Graphviz digraph.
pub fn dot(graph: &Graph) -> String {
    let mut out = format!(
        "digraph workflow {{\n  label={}\n  labelloc=t\n  compound=true\n  \
         node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"Helvetica\"]\n  \
         edge [fontname=\"Helvetica\", fontsize=11]\n",
        quoted(&graph.title)
    );
    draw(graph, "n", 1, &mut out);
    out.push_str("}\n");
    out
}

fn draw(graph: &Graph, prefix: &str, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    for (index, node) in graph.nodes.iter().enumerate() {
        // By number, since the name of a phase may have signs that no id may have here.
        let id = format!("{prefix}{index}");
        let _ = writeln!(out, "{indent}{id} [{}]", attributes(node));
        if let Some(inside) = &node.inside {
            let _ = writeln!(out, "{indent}subgraph cluster_{id} {{");
            let _ = writeln!(out, "{indent}  label={}", quoted(&inside.title));
            let _ = writeln!(out, "{indent}  style=\"rounded,dashed\"");
            draw(inside, &format!("{id}_"), depth + 1, out);
            let _ = writeln!(out, "{indent}}}");
            let _ = writeln!(out, "{indent}{id} -> {id}_0 [style=dotted, arrowhead=none]");
        }
    }
    for edge in &graph.edges {
        let style = match edge.way {
            EdgeWay::On | EdgeWay::Itself => "",
            // Without a say in the order: an edge that goes back would otherwise pull its target below its source.
            EdgeWay::Back => ", style=dashed, constraint=false",
        };
        let label = quoted(&edge.label);
        let _ = writeln!(
            out,
            "{indent}{prefix}{} -> {prefix}{} [label={label}{style}]",
            edge.from, edge.to
        );
    }
}

fn attributes(node: &Node) -> String {
    let reached = if node.is_reached { "" } else { ", style=\"rounded,dashed\"" };
    match node.kind {
        NodeKind::Start => "shape=point, width=0.15, label=\"\"".to_owned(),
        NodeKind::Done => format!("shape=oval, color=\"#16a34a\", label={}", quoted(&node.title)),
        NodeKind::Person => {
            format!("shape=hexagon, color=\"#d97706\", label={}", quoted(&node.title))
        }
        NodeKind::Phase(kind) => {
            let lines: Vec<&str> = [node.title.as_str()]
                .into_iter()
                .chain(node.lines.iter().map(String::as_str))
                .collect();
            let label = quoted(&lines.join("\n"));
            format!("color=\"{}\", label={label}{reached}", colour(kind))
        }
    }
}

fn colour(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Worker | PhaseKind::Inline => "#2563eb",
        PhaseKind::Command => "#0d9488",
        PhaseKind::Pool | PhaseKind::Race | PhaseKind::Workflow => "#7c3aed",
        PhaseKind::Human => "#d97706",
    }
}

/// A quoted string: only quotes and backslashes need an escape.
fn quoted(text: &str) -> String {
    // Backslashes first: the other way round, those before the quotes would be doubled too.
    let escaped = |line: &str| cells::one_line(line).replace('\\', "\\\\").replace('"', "\\\"");
    let lines: Vec<String> = text.lines().map(escaped).collect();
    format!("\"{}\"", lines.join("\\n"))
}
