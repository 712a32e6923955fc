//! Orders nodes so that every edge leads down, except those that go back.

use std::collections::BTreeMap;

use super::{Edge, EdgeWay, NamedEdge, Node, NodeKind};

/// Resolves edges to node indexes; those without a target are left out.
pub(super) fn join(nodes: &[Node], said: Vec<NamedEdge>) -> Vec<Edge> {
    let index: BTreeMap<&str, usize> =
        nodes.iter().enumerate().map(|(index, node)| (node.id.as_str(), index)).collect();
    let known = |id: &str| index.get(id).copied();
    said.into_iter()
        .filter_map(|said| {
            let (from, to) = (known(&said.from)?, known(&said.to)?);
            let way = if from == to { EdgeWay::Itself } else { EdgeWay::On };
            Some(Edge { from, to, label: said.label, way })
        })
        .collect()
}

/// Sorts nodes from top to bottom, with ranks, and sets the direction of edges.
pub(super) fn sort(nodes: Vec<Node>, mut edges: Vec<Edge>) -> (Vec<Node>, Vec<Edge>) {
    let leaving = leaving(nodes.len(), &edges);
    let reached = mark_back(&nodes, &leaving, &mut edges);
    // After the edges back are marked: without them there is no cycle, and an order exists.
    let order = order(&nodes, &edges);
    let mut place = vec![0; nodes.len()];
    for (row, node) in order.iter().enumerate() {
        place[*node] = row;
    }
    for edge in &mut edges {
        (edge.from, edge.to) = (place[edge.from], place[edge.to]);
    }
    let mut sorted: Vec<(usize, Node)> = nodes
        .into_iter()
        .enumerate()
        .map(|(index, node)| (place[index], Node { is_reached: reached[index], ..node }))
        .collect();
    sorted.sort_by_key(|(row, _)| *row);
    let mut nodes: Vec<Node> = sorted.into_iter().map(|(_, node)| node).collect();
    rank(&mut nodes, &edges);
    (nodes, edges)
}

fn leaving(count: usize, edges: &[Edge]) -> Vec<Vec<usize>> {
    let mut leaving = vec![Vec::new(); count];
    for (index, edge) in edges.iter().enumerate() {
        leaving[edge.from].push(index);
    }
    leaving
}

/// Walks from the start, then from every node not reached yet: an edge to a node on the current path goes back. Returns the nodes
/// that the first walk reached.
fn mark_back(nodes: &[Node], leaving: &[Vec<usize>], edges: &mut [Edge]) -> Vec<bool> {
    let mut seen = vec![Visited::Never; nodes.len()];
    let mut reached = Vec::new();
    for begin in 0..nodes.len() {
        if seen[begin] == Visited::Never {
            walk(begin, leaving, edges, &mut seen);
        }
        // The first node is the start. What only later walks reach has no way to it.
        if begin == 0 {
            reached = seen.iter().map(|seen| *seen != Visited::Never).collect();
        }
    }
    reached
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visited {
    Never,
    Inside,
    Left,
}

/// Depth-first without recursion: a workflow may have hundreds of phases.
fn walk(begin: usize, leaving: &[Vec<usize>], edges: &mut [Edge], seen: &mut [Visited]) {
    seen[begin] = Visited::Inside;
    // A list instead of recursion: a workflow may have hundreds of phases in a row.
    let mut trail = vec![(begin, 0)];
    while let Some((node, next)) = trail.last_mut() {
        let Some(edge) = leaving[*node].get(*next) else {
            seen[*node] = Visited::Left;
            trail.pop();
            continue;
        };
        *next += 1;
        let to = edges[*edge].to;
        match seen[to] {
            Visited::Inside if edges[*edge].way == EdgeWay::On => edges[*edge].way = EdgeWay::Back,
            Visited::Inside | Visited::Left => {}
            Visited::Never => {
                seen[to] = Visited::Inside;
                trail.push((to, 0));
            }
        }
    }
}

/// From top to bottom: after all predecessors, otherwise in the file's order; ends last.
fn order(nodes: &[Node], edges: &[Edge]) -> Vec<usize> {
    let on = || edges.iter().filter(|edge| edge.way == EdgeWay::On);
    let mut before = vec![0; nodes.len()];
    on().for_each(|edge| before[edge.to] += 1);
    let mut order = Vec::new();
    let mut waiting: Vec<usize> = (0..nodes.len()).collect();
    while !waiting.is_empty() {
        let free = |index: &&usize| before[**index] == 0;
        let is_end = |node: usize| matches!(nodes[node].kind, NodeKind::Done | NodeKind::Person);
        let phases = waiting.iter().filter(|index| !is_end(**index));
        // Phases before ends, so that an end stands below all that leads to it.
        let next = phases.clone().find(free).or_else(|| waiting.iter().find(free));
        // No cycle is left once the edges back are not counted.
        let Some(next) = next.or(waiting.first()).copied() else { break };
        waiting.retain(|index| *index != next);
        order.push(next);
        on().filter(|edge| edge.from == next).for_each(|edge| before[edge.to] -= 1);
    }
    order
}

/// The longest way from a start.
fn rank(nodes: &mut [Node], edges: &[Edge]) {
    for row in 0..nodes.len() {
        // Nodes are in their order by now: an edge on comes from a row above, whose rank is known already.
        let leading = edges.iter().filter(|edge| edge.to == row && edge.way == EdgeWay::On);
        nodes[row].rank = leading.map(|edge| nodes[edge.from].rank + 1).max().unwrap_or(0);
    }
    // Ends stand below everything.
    let last = nodes.iter().filter(|node| !is_end(node)).map(|node| node.rank).max().unwrap_or(0);
    for node in nodes.iter_mut().filter(|node| is_end(node)) {
        node.rank = node.rank.max(last + 1);
    }
}

fn is_end(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Done | NodeKind::Person)
}
