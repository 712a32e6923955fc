//! Mermaid output, which many Markdown viewers draw.

use std::fmt::Write as _;

use super::{EdgeWay, Graph, Node, NodeKind};
use crate::definition::workflow::PhaseKind;

const STYLES: &str = "  classDef command fill:#0d948822,stroke:#0d9488
  classDef workflow fill:#7c3aed22,stroke:#7c3aed
  classDef person fill:#d9770622,stroke:#d97706
  classDef worker fill:#2563eb22,stroke:#2563eb
  classDef finish fill:#16a34a22,stroke:#16a34a
  classDef unreached stroke-dasharray:4 4
";

/// The picture as a Mermaid flowchart.
pub fn mermaid(graph: &Graph) -> String {
    let title = quoted_title(&graph.title);
    let mut out = format!("---\ntitle: {title}\n---\nflowchart TD\n");
    draw(graph, "n", 1, &mut out);
    out.push_str(STYLES);
    out
}

fn draw(graph: &Graph, prefix: &str, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    for (index, node) in graph.nodes.iter().enumerate() {
        // By number, since the name of a phase may have signs, or be a word, that mean something here.
        let id = format!("{prefix}{index}");
        match &node.inside {
            Some(inside) => {
                let _ = writeln!(out, "{indent}subgraph {id}[\"{}\"]", label(node));
                draw(inside, &format!("{id}_"), depth + 1, out);
                let _ = writeln!(out, "{indent}end");
            }
            None => {
                let _ = writeln!(out, "{indent}{}", shape(&id, node));
            }
        }
        let class = class(node);
        let _ = writeln!(out, "{indent}class {id} {class}");
        if !node.is_reached {
            let _ = writeln!(out, "{indent}class {id} unreached");
        }
    }
    for edge in &graph.edges {
        let (from, to) = (format!("{prefix}{}", edge.from), format!("{prefix}{}", edge.to));
        let arrow = if edge.way == EdgeWay::Back { "-.->" } else { "-->" };
        let said = match edge.label.as_str() {
            "" => String::new(),
            label => format!("|\"{}\"|", escaped(label)),
        };
        let _ = writeln!(out, "{indent}{from} {arrow}{said} {to}");
    }
}

fn shape(id: &str, node: &Node) -> String {
    let label = label(node);
    match node.kind {
        NodeKind::Start => format!("{id}((\" \"))"),
        NodeKind::Done => format!("{id}([\"{label}\"])"),
        NodeKind::Person => format!("{id}{{{{\"{label}\"}}}}"),
        NodeKind::Phase(_) => format!("{id}[\"{label}\"]"),
    }
}

fn class(node: &Node) -> &'static str {
    match node.kind {
        NodeKind::Start | NodeKind::Done => "finish",
        NodeKind::Person => "person",
        NodeKind::Phase(kind) => match kind {
            PhaseKind::Worker | PhaseKind::Inline => "worker",
            PhaseKind::Command => "command",
            PhaseKind::Pool | PhaseKind::Race | PhaseKind::Workflow => "workflow",
            PhaseKind::Human => "person",
        },
    }
}

fn label(node: &Node) -> String {
    let mut label = format!("<b>{}</b>", escaped(&node.title));
    for line in &node.lines {
        let _ = write!(label, "<br>{}", escaped(line));
    }
    label
}

/// Escapes everything that Mermaid or HTML could interpret, by character number.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        // Signs beyond ASCII mean nothing there, and numbers in their place would be hard to read in the source.
        if letter.is_alphanumeric() || " .,:-_+/·…⏸$()".contains(letter) || !letter.is_ascii()
        {
            out.push(letter);
        } else {
            let _ = write!(out, "#{};", u32::from(letter));
        }
    }
    out
}

fn quoted_title(title: &str) -> String {
    // The head is YAML, which reads a text in JSON's quotes.
    serde_json::Value::from(super::cells::one_line(title)).to_string()
}
