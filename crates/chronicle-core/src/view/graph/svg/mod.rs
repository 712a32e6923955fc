//! SVG output without external programs: nodes in layers, and lanes for edges that skip layers or go back.
//!
//! `layout.rs` places nodes, `routes.rs` routes edges, this file writes them. Light and dark follow the reader's setting. Texts
//! are escaped, so a name cannot become a tag.

mod layout;
mod routes;

use std::fmt::Write as _;

use self::layout::{HEAD, LINE, Layout, PAD, Spot};
use self::routes::Route;
use super::{EdgeWay, Graph, Node, NodeKind};
use crate::base::quote::is_deceptive;
use crate::definition::workflow::PhaseKind;

const STYLE: &str = "\
svg{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}
.paper{fill:#ffffff}.head{font-size:18px;font-weight:600;fill:#111827}.about{font-size:13px;fill:#6b7280}
.box{fill:#f9fafb;stroke:#d1d5db;stroke-width:1.2}.inside{fill:#f5f3ff;stroke:#c4b5fd;stroke-width:1.2}
.name{font-size:14px;font-weight:600;fill:#111827}.line{font-size:12px;fill:#4b5563}.gate{font-size:12px;font-weight:600;fill:#b45309}
.mono{font-size:11.5px;fill:#0f766e;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.way{fill:none;stroke:#6b7280;stroke-width:1.5}.back{stroke:#c2410c;stroke-dasharray:5 4}.tip{fill:#6b7280}.tipback{fill:#c2410c}
.label{font-size:11.5px;fill:#374151;stroke:#ffffff;stroke-width:4px;paint-order:stroke;stroke-linejoin:round}
.labelback{fill:#9a3412}.start{fill:#111827}.done{fill:#dcfce7;stroke:#16a34a;stroke-width:1.4}.donename{fill:#166534}
.person{fill:#fef3c7;stroke:#d97706;stroke-width:1.4}.personname{fill:#92400e}.unreached{stroke-dasharray:4 4}
.worker{fill:#2563eb}.command{fill:#0d9488}.workflow{fill:#7c3aed}.human{fill:#d97706}
@media(prefers-color-scheme:dark){
.paper{fill:#0d1117}.head{fill:#f0f6fc}.about{fill:#8b949e}.box{fill:#161b22;stroke:#3d444d}.inside{fill:#1b1730;stroke:#4c3d8f}
.name{fill:#f0f6fc}.line{fill:#adbac7}.gate{fill:#f0b429}.mono{fill:#5eead4}.way{stroke:#8b949e}.back{stroke:#fb923c}
.tip{fill:#8b949e}.tipback{fill:#fb923c}.label{fill:#d1d9e0;stroke:#0d1117}.labelback{fill:#fdba74}.start{fill:#f0f6fc}
.done{fill:#0f2a1a;stroke:#3fb950}.donename{fill:#7ee2a0}.person{fill:#2b1f07;stroke:#d29922}.personname{fill:#f2cc60}
.worker{fill:#58a6ff}.command{fill:#2dd4bf}.workflow{fill:#a78bfa}.human{fill:#d29922}}
";

/// Prefix of a line about an approval.
const GATE: &str = "⏸ ";
/// Margin around the picture.
const MARGIN: f64 = 28.0;

/// The picture as a complete SVG file.
pub fn svg(graph: &Graph) -> String {
    let layout = Layout::of(graph);
    let about = graph.about.as_deref().map(super::cells::one_line);
    let top = MARGIN + if about.is_some() { 58.0 } else { 38.0 };
    let text = about.as_deref().map_or(0.0, |about| layout::text_width(about, 13.0));
    let heading = layout::text_width(&graph.title, 18.0).max(text);
    // The title may be wider than a small graph.
    let width = layout.width.max(heading) + 2.0 * MARGIN;
    let height = layout.height + top + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width:.0}\" \
         height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
        escaped(&graph.title)
    );
    text_at(&mut out, "head", MARGIN, MARGIN + 16.0, &graph.title);
    if let Some(about) = &about {
        text_at(&mut out, "about", MARGIN, MARGIN + 38.0, about);
    }
    let left = MARGIN + (width - 2.0 * MARGIN - layout.width).max(0.0) / 2.0;
    draw(graph, &layout, left, top, &mut out);
    out.push_str("</svg>\n");
    out
}

/// Draws a graph with its corner at a point: edges below, boxes above them.
fn draw(graph: &Graph, layout: &Layout, left: f64, top: f64, out: &mut String) {
    let _ = writeln!(out, "<g transform=\"translate({left:.1} {top:.1})\">");
    let routes = &layout.routes;
    for route in routes {
        way(route, out);
    }
    // Lines first, boxes over them, labels on top: a line that passes behind a box must not cross its text.
    for (node, spot) in graph.nodes.iter().zip(&layout.spots) {
        draw_node(node, spot, out);
    }
    for route in routes.iter().filter(|route| !route.label.is_empty()) {
        let class = if route.way == EdgeWay::On { "label" } else { "label labelback" };
        let (x, y) = route.label_at;
        let _ = writeln!(
            out,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{}\">{}</text>",
            route.anchor,
            escaped(&route.label)
        );
    }
    out.push_str("</g>\n");
}

fn way(route: &Route, out: &mut String) {
    let (class, tip) = match route.way {
        EdgeWay::On => ("way", "tip"),
        EdgeWay::Back | EdgeWay::Itself => ("way back", "tipback"),
    };
    let _ = writeln!(out, "<path class=\"{class}\" d=\"{}\"/>", route.path);
    if !route.has_tip {
        return;
    }
    let (x, y) = route.tip;
    let (dx, dy) = route.heading;
    let (back, side) = (8.0, 4.0);
    let corner = |sign: f64| (x - dx * back - dy * side * sign, y - dy * back + dx * side * sign);
    let ((ax, ay), (bx, by)) = (corner(1.0), corner(-1.0));
    let _ = writeln!(
        out,
        "<path class=\"{tip}\" d=\"M{x:.1} {y:.1}L{ax:.1} {ay:.1}L{bx:.1} {by:.1}Z\"/>"
    );
}

fn draw_node(node: &Node, spot: &Spot, out: &mut String) {
    let Spot { x, y, width, height, .. } = *spot;
    let (left, middle) = (x - width / 2.0, y + height / 2.0);
    match node.kind {
        NodeKind::Start => {
            let _ =
                writeln!(out, "<circle class=\"start\" cx=\"{x:.1}\" cy=\"{middle:.1}\" r=\"7\"/>");
        }
        NodeKind::Done | NodeKind::Person => {
            let (class, name) = match node.kind {
                NodeKind::Person => ("person", "name personname"),
                NodeKind::Start | NodeKind::Done | NodeKind::Phase(_) => ("done", "name donename"),
            };
            rect(out, class, spot, height / 2.0);
            centred(out, name, x, middle + 5.0, &node.title);
        }
        NodeKind::Phase(kind) => {
            let class = if spot.inside.is_some() { "inside" } else { "box" };
            let class =
                if node.is_reached { class.to_owned() } else { format!("{class} unreached") };
            rect(out, &class, spot, 10.0);
            let _ = writeln!(
                out,
                "<rect class=\"{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"4\" height=\"{:.1}\" rx=\"2\"/>",
                colour(kind),
                left + 7.0,
                y + 9.0,
                height - 18.0
            );
            words(node, left + PAD + 6.0, y, kind, out);
        }
    }
    if let (Some(inside), Some(graph)) = (&spot.inside, &node.inside) {
        let head = layout::words_height(node);
        draw(graph, inside, x + 6.0 - inside.width / 2.0, y + head, out);
    }
}

fn words(node: &Node, x: f64, y: f64, kind: PhaseKind, out: &mut String) {
    text_at(out, "name", x, y + PAD + 11.0, &node.title);
    for (index, line) in node.lines.iter().enumerate() {
        let class = match line {
            line if line.starts_with(GATE) => "gate",
            line if line.starts_with("$ ") && kind == PhaseKind::Command => "mono",
            _ => "line",
        };
        #[expect(clippy::cast_precision_loss, reason = "a node has a handful of lines")]
        let down = y + PAD + HEAD + LINE * index as f64 + 10.0;
        match line.strip_prefix(GATE) {
            Some(said) => {
                gate_sign(out, x, down);
                text_at(out, class, x + 14.0, down, said);
            }
            None => text_at(out, class, x, down, line),
        }
    }
}

/// Two bars: not every font has the symbol.
fn gate_sign(out: &mut String, x: f64, y: f64) {
    for x in [x, x + 5.0] {
        let y = y - 9.5;
        let _ = writeln!(
            out,
            "<rect class=\"gate\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"3\" height=\"10\" rx=\"1\"/>"
        );
    }
}

fn rect(out: &mut String, class: &str, spot: &Spot, radius: f64) {
    let Spot { x, y, width, height, .. } = *spot;
    let _ = writeln!(
        out,
        "<rect class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
         height=\"{height:.1}\" rx=\"{radius:.1}\"/>",
        x - width / 2.0
    );
}

fn text_at(out: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let text = escaped(text);
    let _ = writeln!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
}

fn centred(out: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let text = escaped(text);
    let _ = writeln!(
        out,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{text}</text>"
    );
}

fn colour(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Worker | PhaseKind::Inline => "worker",
        PhaseKind::Command => "command",
        PhaseKind::Pool | PhaseKind::Race | PhaseKind::Workflow => "workflow",
        PhaseKind::Human => "human",
    }
}

/// Escapes a text; control characters are not valid in XML.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML allows these two in no form, not even escaped: one of them would make the whole file unreadable.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter if is_deceptive(letter) => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}
