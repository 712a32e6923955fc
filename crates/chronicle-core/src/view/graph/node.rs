//! Text of a node: name, worker, tools, and approvals.

use super::{Node, NodeKind, cells};
use crate::base::ids::{DONE, HUMAN_INTERVENTION};
use crate::definition::workflow::{Approval, Judge, Phase, PhaseKind, Workflow};

/// Longest line of a node, in columns.
const LINE_MAX: usize = 44;

pub(super) fn start() -> Node {
    Node { title: "start".to_owned(), ..plain("", NodeKind::Start) }
}

pub(super) fn done() -> Node {
    Node { title: DONE.to_owned(), ..plain(DONE, NodeKind::Done) }
}

pub(super) fn person() -> Node {
    Node { title: "a person decides".to_owned(), ..plain(HUMAN_INTERVENTION, NodeKind::Person) }
}

fn plain(id: &str, kind: NodeKind) -> Node {
    Node {
        id: id.to_owned(),
        kind,
        title: String::new(),
        lines: Vec::new(),
        is_gated: false,
        is_reached: true,
        rank: 0,
        inside: None,
    }
}

pub(super) fn of_phase(phase: &Phase, workflow: &Workflow) -> Node {
    let kind = match phase.id.as_str() {
        // Files of other programs may give a phase the name of an end. It never works, and is drawn as the end.
        DONE => NodeKind::Done,
        HUMAN_INTERVENTION => NodeKind::Person,
        _ => NodeKind::Phase(phase.run),
    };
    let sign = phase.emoji.as_ref().filter(|sign| !sign.trim().is_empty());
    let title = sign.map_or_else(|| phase.name.clone(), |sign| format!("{sign} {}", phase.name));
    let lines = match kind {
        NodeKind::Phase(_) => lines(phase, workflow),
        NodeKind::Start | NodeKind::Done | NodeKind::Person => Vec::new(),
    };
    Node {
        title: cells::shorten(&cells::one_line(&title), LINE_MAX),
        lines,
        is_gated: phase.approval != Approval::None,
        ..plain(phase.id.as_str(), kind)
    }
}

fn lines(phase: &Phase, workflow: &Workflow) -> Vec<String> {
    let said = [
        work(phase),
        each_step(phase),
        judge(phase),
        phase.persona.clone().filter(|_| works(phase)),
        agent(phase, workflow),
        many("else", &phase.fallback),
        tools(phase),
        many("verify", &phase.verify),
        asked(phase.approval).map(str::to_owned),
    ];
    let said = said.into_iter().flatten().map(|line| cells::one_line(&line));
    said.filter(|line| !line.is_empty()).map(|line| cells::shorten(&line, LINE_MAX)).collect()
}

fn works(phase: &Phase) -> bool {
    matches!(phase.run, PhaseKind::Worker | PhaseKind::Inline | PhaseKind::Pool | PhaseKind::Race)
}

fn work(phase: &Phase) -> Option<String> {
    let inner = phase.workflow.as_deref().unwrap_or("?");
    match phase.run {
        PhaseKind::Worker => None,
        PhaseKind::Inline => Some("in the host's session".to_owned()),
        PhaseKind::Command => many("$", &phase.commands),
        PhaseKind::Pool => Some(pool(phase)),
        PhaseKind::Race => Some(race(phase)),
        PhaseKind::Workflow => Some(format!("workflow {inner}")),
        PhaseKind::Human => Some("done by a person".to_owned()),
    }
}

/// How many work at once, and on what.
fn pool(phase: &Phase) -> String {
    let slots = match phase.slots() {
        1 => "1 slot".to_owned(),
        slots => format!("{slots} slots"),
    };
    let steps = match (phase.steps.len(), &phase.steps_from) {
        (0, Some(file)) => format!("steps from {file}"),
        (0, None) => "planned steps".to_owned(),
        (1, _) => "1 step".to_owned(),
        (count, _) => format!("{count} steps"),
    };
    format!("pool, {slots}: {steps}")
}

/// What each step of a pool walks, if it is more than one worker.
fn each_step(phase: &Phase) -> Option<String> {
    let key = phase.workflow.as_ref().filter(|_| phase.run == PhaseKind::Pool)?;
    Some(format!("each step: workflow {key}"))
}

/// Who takes one of the results.
fn judge(phase: &Phase) -> Option<String> {
    match phase.judge.as_ref()? {
        Judge::Phase(judge) => Some(format!("judged by {judge}")),
        Judge::Commands(commands) => many("judged by $", commands),
        Judge::Person => Some("judged by a person".to_owned()),
    }
}

fn race(phase: &Phase) -> String {
    let names: Vec<&str> = phase.workers.iter().map(|racer| racer.id.as_str()).collect();
    format!("race of {}: {}", names.len(), names.join(", "))
}

fn agent(phase: &Phase, workflow: &Workflow) -> Option<String> {
    if !works(phase) {
        return None;
    }
    let agent = phase.agent.as_ref().or(workflow.agent.as_ref());
    let model = phase.model.as_ref().or(workflow.model.as_ref());
    let said: Vec<&str> = [agent, model].into_iter().flatten().map(String::as_str).collect();
    (!said.is_empty()).then(|| said.join(" · "))
}

fn tools(phase: &Phase) -> Option<String> {
    match (&phase.tools.allow, phase.tools.deny.as_slice()) {
        (Some(allow), _) if allow.is_empty() => Some("no tools".to_owned()),
        (Some(allow), _) => Some(format!("only {}", allow.join(", "))),
        (None, []) => None,
        (None, deny) => Some(format!("no {}", deny.join(", "))),
    }
}

fn many(word: &str, commands: &[String]) -> Option<String> {
    let first = commands.first()?;
    let rest = match commands.len() {
        1 => String::new(),
        count => format!(" (+{})", count - 1),
    };
    let first = cells::shorten(&cells::one_line(first), LINE_MAX - 8 - word.len());
    Some(format!("{word} {first}{rest}"))
}

fn asked(approval: Approval) -> Option<&'static str> {
    match approval {
        Approval::None => None,
        Approval::Before => Some("⏸ asks before"),
        Approval::After => Some("⏸ asks after"),
        Approval::Both => Some("⏸ asks before and after"),
    }
}
