//! Workflows as pictures: for a terminal, as SVG, and as Mermaid and Graphviz source.
//!
//! All four draw a `Graph`: nodes in rows, so that every edge leads down except those that go back. It is made from checked
//! workflows alone; no drawing looks at a run. Names come from people, so each drawing escapes them.
//!
//! Start reading at [`Graph::new`]; `rows.rs` orders the nodes.

mod cells;
mod dot;
mod mermaid;
mod node;
mod rows;
mod svg;
mod text;

pub use dot::dot;
pub use mermaid::mermaid;
pub use svg::svg;
pub use text::{LineStyle, text};

use crate::base::ids::{DONE, HUMAN_INTERVENTION, PhaseId};
use crate::definition::workflow::{Judge, Phase, PhaseKind, Workflow};

/// Most nodes of one picture; sub-workflows beyond that are named, not drawn.
const NODES_MAX: usize = 600;
/// How deep nested workflows are drawn.
const DEPTH_MAX: usize = 3;

/// The picture of a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// Key of the workflow.
    pub key: String,
    /// The workflow's name, for people.
    pub title: String,
    /// A one-line description of the workflow.
    pub about: Option<String>,
    /// Ordered from top to bottom.
    pub nodes: Vec<Node>,
    /// Edges between indexes of `nodes`.
    pub edges: Vec<Edge>,
}

/// One node of the picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Id of the phase; empty for the start.
    pub id: String,
    /// Its kind, which decides its shape.
    pub kind: NodeKind,
    /// Emoji and name of the phase.
    pub title: String,
    /// Persona, agent and model, and approvals.
    pub lines: Vec<String>,
    /// True if a person is asked here.
    pub is_gated: bool,
    /// True if a run can get here.
    pub is_reached: bool,
    /// Distance from the start: every edge that does not go back leads to a higher rank.
    pub rank: usize,
    /// The sub-workflow, if it is drawn.
    pub inside: Option<Graph>,
}

/// Kinds of nodes in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// The start of the workflow.
    Start,
    /// A phase, with the kind of its worker.
    Phase(PhaseKind),
    /// The end of the workflow.
    Done,
    /// Intervention by a person.
    Person,
}

/// An edge of the picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// Index of the node that it leaves.
    pub from: usize,
    /// Index of the node that it enters.
    pub to: usize,
    /// The outcomes that take it; empty for a plain `next`.
    pub label: String,
    /// Its direction, which decides how it is drawn.
    pub way: EdgeWay,
}

/// Which way an edge leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeWay {
    /// Forward, to a higher rank.
    On,
    /// Back to an earlier phase.
    Back,
    /// To the phase itself.
    Itself,
}

impl Graph {
    /// The picture of the first workflow, with the others drawn inside where it runs them.
    pub fn new(workflows: &[Workflow]) -> Option<Self> {
        let mut room = NODES_MAX;
        Some(build(workflows.first()?, workflows, DEPTH_MAX, &mut room))
    }
}

/// An edge before nodes have indexes: phases by name.
struct NamedEdge {
    from: String,
    to: String,
    label: String,
}

fn build(workflow: &Workflow, all: &[Workflow], depth: usize, room: &mut usize) -> Graph {
    // Taken before the workflows inside are drawn: one that several phases run could otherwise grow the picture without
    // limit.
    *room = room.saturating_sub(workflow.phases.len() + 2);
    let mut nodes = vec![node::start()];
    for phase in &workflow.phases {
        let mut drawn = node::of_phase(phase, workflow);
        drawn.inside = inside(phase, all, depth, room);
        nodes.push(drawn);
    }
    let said = edges_of(workflow);
    for (id, make) in [(DONE, node::done as fn() -> Node), (HUMAN_INTERVENTION, node::person)] {
        let is_named = said.iter().any(|edge| edge.to == id);
        if is_named && nodes.iter().all(|node| node.id != id) {
            nodes.push(make());
        }
    }
    let edges = rows::join(&nodes, said);
    let (mut nodes, edges) = rows::sort(nodes, edges);
    // No edge leads to a phase that judges a race, and it works all the same.
    let judges: Vec<&PhaseId> = workflow.phases.iter().filter_map(judge_of).collect();
    for node in nodes.iter_mut().filter(|node| judges.iter().any(|id| id.as_str() == node.id)) {
        node.is_reached = true;
    }
    Graph {
        key: workflow.key.clone(),
        title: cells::one_line(&workflow.name),
        about: workflow.description.as_deref().map(cells::one_line).filter(|it| !it.is_empty()),
        nodes,
        edges,
    }
}

fn judge_of(race: &Phase) -> Option<&PhaseId> {
    match race.judge.as_ref()? {
        Judge::Phase(judge) => Some(judge),
        Judge::Commands(_) | Judge::Person => None,
    }
}

fn inside(phase: &Phase, all: &[Workflow], depth: usize, room: &mut usize) -> Option<Graph> {
    let key = phase.workflow.as_ref()?;
    let workflow = all.iter().find(|workflow| workflow.key == *key)?;
    let fits = depth > 0 && *room > workflow.phases.len() + 2;
    fits.then(|| build(workflow, all, depth - 1, room))
}

/// Every edge of a workflow; those of one phase to the same target are joined.
fn edges_of(workflow: &Workflow) -> Vec<NamedEdge> {
    let mut edges = vec![NamedEdge {
        from: String::new(),
        to: workflow.initial.to_string(),
        label: String::new(),
    }];
    for phase in workflow.phases.iter().filter(|phase| !is_end(&phase.id)) {
        let begin = edges.len();
        let end = phase.next.is_empty().then(|| PhaseId::from(DONE));
        let plain = phase.next.iter().chain(end.iter()).map(|to| (to, String::new()));
        let said = phase.on.iter().map(|(outcome, to)| (to, cells::one_line(outcome.as_str())));
        for (to, label) in plain.chain(said) {
            let to = to.to_string();
            // Only among the edges of this phase: those of others may lead to the same one.
            match edges.iter_mut().skip(begin).find(|edge| edge.to == to) {
                // Several outcomes that lead to one phase are one line with all of their names.
                Some(same) if same.label.is_empty() => same.label = label,
                Some(same) => same.label = format!("{}, {label}", same.label),
                None => edges.push(NamedEdge { from: phase.id.to_string(), to, label }),
            }
        }
    }
    edges
}

fn is_end(id: &PhaseId) -> bool {
    [DONE, HUMAN_INTERVENTION].contains(&id.as_str())
}
