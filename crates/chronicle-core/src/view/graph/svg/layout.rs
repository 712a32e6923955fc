//! Positions of nodes: one centred layer per rank, with its nodes side by side.

use super::super::{Graph, Node, NodeKind, cells};
use super::routes::{self, Route};

/// Padding inside a box.
pub(super) const PAD: f64 = 14.0;
/// Height of a box's title.
pub(super) const HEAD: f64 = 20.0;
/// Height of a text line in a box.
pub(super) const LINE: f64 = 17.0;

const GAP_X: f64 = 44.0;
const GAP_Y: f64 = 52.0;
const WIDTH_MIN: f64 = 150.0;

/// Position and size of a node.
#[derive(Debug)]
pub(super) struct Spot {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    /// Layout of the sub-workflow, if it is drawn.
    pub inside: Option<Layout>,
}

impl Spot {
    pub(super) fn left(&self) -> f64 {
        self.x - self.width / 2.0
    }

    pub(super) fn right(&self) -> f64 {
        self.x + self.width / 2.0
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// A whole graph, with its corner at 0, 0.
#[derive(Debug)]
pub(super) struct Layout {
    pub spots: Vec<Spot>,
    pub routes: Vec<Route>,
    pub width: f64,
    pub height: f64,
}

impl Layout {
    pub(super) fn of(graph: &Graph) -> Self {
        let mut spots: Vec<Spot> = graph.nodes.iter().map(size).collect();
        let layers = layers(graph);
        place(&layers, &mut spots);
        let mut routes = routes::routes(graph, &layers, &spots);
        // Lanes on the left lie at negative positions. Everything is moved once it is known how far they reach.
        let (low, high) = routes::extent(&spots, &routes);
        for spot in &mut spots {
            spot.x -= low;
        }
        let height = spots.iter().map(Spot::bottom).fold(0.0, f64::max);
        for route in &mut routes {
            route.shift(-low);
        }
        Self { spots, routes, width: high - low, height }
    }
}

/// Estimated width of a text in common fonts.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a line has a few dozen letters")]
    let cells = cells::width(text) as f64;
    cells * size * 0.58
}

/// Height of a node's own text.
pub(super) fn words_height(node: &Node) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a node has a handful of lines")]
    let lines = node.lines.len() as f64;
    2.0 * PAD + HEAD - 4.0 + LINE * lines
}

fn size(node: &Node) -> Spot {
    let spot = |width, height, inside| Spot { x: 0.0, y: 0.0, width, height, inside };
    match node.kind {
        NodeKind::Start => spot(14.0, 14.0, None),
        NodeKind::Done | NodeKind::Person => {
            spot(text_width(&node.title, 14.0) + 3.0 * PAD, 34.0, None)
        }
        NodeKind::Phase(_) => {
            let lines = node.lines.iter().map(|line| text_width(line, 12.2));
            let words = lines.fold(text_width(&node.title, 14.6), f64::max) + 2.0 * PAD + 8.0;
            let height = words_height(node);
            match node.inside.as_ref().map(Layout::of) {
                None => spot(words.max(WIDTH_MIN), height, None),
                Some(inside) => {
                    let width = words.max(inside.width + 2.0 * PAD + 24.0).max(WIDTH_MIN);
                    spot(width, height + inside.height + PAD, Some(inside))
                }
            }
        }
    }
}

/// Nodes of each rank from left to right: each below the centre of its predecessors.
fn layers(graph: &Graph) -> Vec<Vec<usize>> {
    let count = graph.nodes.iter().map(|node| node.rank + 1).max().unwrap_or(0);
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (index, node) in graph.nodes.iter().enumerate() {
        layers[node.rank].push(index);
    }
    let mut column = vec![0.0; graph.nodes.len()];
    for layer in &mut layers {
        let weight = |node: &usize| {
            // Only from above: an edge that goes back says nothing about where this node belongs.
            let leading = graph.edges.iter().filter(|edge| edge.to == *node && edge.from < edge.to);
            let above: Vec<f64> = leading.map(|edge| column[edge.from]).collect();
            #[expect(clippy::cast_precision_loss, reason = "a node has a few edges")]
            let count = above.len().max(1) as f64;
            above.iter().sum::<f64>() / count
        };
        let mut weighed: Vec<(f64, usize)> =
            layer.iter().map(|node| (weight(node), *node)).collect();
        // By number where the weight is the same, so that a workflow is drawn the same each time.
        weighed.sort_by(|(a, i), (b, j)| a.total_cmp(b).then(i.cmp(j)));
        *layer = weighed.into_iter().map(|(_, node)| node).collect();
        #[expect(clippy::cast_precision_loss, reason = "a layer has a few nodes")]
        let middle = (layer.len() as f64 - 1.0) / 2.0;
        for (index, node) in layer.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "a layer has a few nodes")]
            let index = index as f64;
            column[*node] = index - middle;
        }
    }
    layers
}

fn place(layers: &[Vec<usize>], spots: &mut [Spot]) {
    let mut y = 0.0;
    for layer in layers.iter().filter(|layer| !layer.is_empty()) {
        let widths: f64 = layer.iter().map(|node| spots[*node].width + GAP_X).sum::<f64>() - GAP_X;
        let height = layer.iter().map(|node| spots[*node].height).fold(0.0, f64::max);
        let mut x = -widths / 2.0;
        for node in layer {
            let spot = &mut spots[*node];
            spot.x = x + spot.width / 2.0;
            spot.y = y + (height - spot.height) / 2.0;
            x += spot.width + GAP_X;
        }
        y += height + GAP_Y;
    }
}
