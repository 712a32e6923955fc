//! Words about gates: what a person is asked, what they answer, what to type next.

use super::quote::{one_line, quote, saying};
use super::{agent_name, budget, end, loops};
use crate::base::ids::{COMPLETE, DONE, HUMAN_INTERVENTION, PhaseId, Place};
use crate::base::verdict::Judged;
use crate::definition::workflow::Phase;
use crate::event::budget::Lack;
use crate::event::{End, GateAnswer, GateKind, GateOpened, has_numbers};
use crate::state::{Did, State, WayOut};

pub(super) fn gate_opened(gate: &GateOpened) -> String {
    let kind = match gate.gate_kind {
        GateKind::ApprovalBefore | GateKind::ApprovalAfter => "approval",
        GateKind::Intervention => "intervention",
        GateKind::Question => "an answer",
        GateKind::Budget if gate.lack == Some(Lack::Price) => "approval",
        GateKind::Budget => "a budget",
    };
    format!("{} waits at `{}` for {kind}: {}", gate.gate, gate.place, gate.about)
}

pub(super) fn with_agent(agent: Option<&str>) -> String {
    agent.map_or_else(String::new, |agent| format!(" (with {})", agent_name(agent)))
}

pub(super) fn answered(answer: &GateAnswer) -> String {
    match answer {
        GateAnswer::Approved => "approved".to_owned(),
        GateAnswer::Rejected => "rejected".to_owned(),
        GateAnswer::Retry => "answered with `retry`".to_owned(),
        GateAnswer::Go(to) => format!("answered with `go {to}`"),
        GateAnswer::Raised => "cleared".to_owned(),
        GateAnswer::Skip => "answered with `skip`".to_owned(),
        GateAnswer::Said(text) => format!("answered {}", quote(text)),
        GateAnswer::Withdrawn => "withdrawn".to_owned(),
    }
}

/// What a person did at a gate, as a worker is told it later.
pub(crate) fn did(did: &Did) -> String {
    match did {
        Did::Noted => "noted".to_owned(),
        Did::Answered { answer, about } => did_at_gate(answer, about),
    }
}

pub(super) fn did_at_gate(answer: &GateAnswer, about: &str) -> String {
    match answer {
        GateAnswer::Approved => "approved".to_owned(),
        GateAnswer::Rejected => "rejected".to_owned(),
        GateAnswer::Retry => "asked for another try".to_owned(),
        GateAnswer::Go(to) => format!("sent the run to `{to}`"),
        GateAnswer::Skip => "went on without it".to_owned(),
        GateAnswer::Raised => "let the work continue".to_owned(),
        GateAnswer::Said(_) => format!("answered {}", quote(about)),
        GateAnswer::Withdrawn => format!("no longer asked {}", quote(about)),
    }
}

/// What to type next at a gate.
pub fn gate_next(state: &State, gate: &GateOpened, run: &str) -> String {
    let id = gate.gate;
    match gate.gate_kind {
        GateKind::ApprovalBefore | GateKind::ApprovalAfter => {
            format!("chronicle approve {run} {id}  (or: chronicle reject {run} {id} \"why\")")
        }
        GateKind::Budget if gate.lack == Some(Lack::Price) => format!(
            "chronicle approve {run} {id}  (or: chronicle reject {run} {id} \"why\", chronicle cancel {run})"
        ),
        GateKind::Budget => {
            format!("{}  (or: chronicle cancel {run})", budget::next(state, gate, run))
        }
        GateKind::Question if gate.options.is_empty() => {
            format!("chronicle answer {run} {id} \"your answer\"")
        }
        // Its number would mean another option.
        GateKind::Question if !has_numbers(&gate.options) => {
            let options = gate.options.iter().map(|option| quote(option));
            let options = options.collect::<Vec<_>>().join(", ");
            let any = if gate.closed { "" } else { ", or any other text" };
            format!("chronicle answer {run} {id} \"the text of an option\"  ({options}{any})")
        }
        // By its number: what an agent wrote is not to be pasted into a shell.
        GateKind::Question if gate.closed => {
            format!("chronicle answer {run} {id} 1  ({})", choices(gate))
        }
        GateKind::Question => {
            format!("chronicle answer {run} {id} 1  (or: any text; {})", choices(gate))
        }
        // The worker asked for a person: there is no phase to try again.
        GateKind::Intervention if gate.place.phase().as_str() == HUMAN_INTERVENTION => {
            format!("chronicle go {run} {}  (or: chronicle cancel {run})", some_phase(gate))
        }
        GateKind::Intervention if gate.lack == Some(Lack::Rounds) => loops::next(gate, run),
        GateKind::Intervention => format!(
            "chronicle retry {run} {}  (or: chronicle skip {run}, chronicle go {run} {}, chronicle cancel {run})",
            gate.place,
            some_phase(gate)
        ),
    }
}

pub(super) fn choices(gate: &GateOpened) -> String {
    let options = (1..).zip(&gate.options);
    let options = options.map(|(number, option)| format!("{number} = {}", one_line(option)));
    options.collect::<Vec<_>>().join(", ")
}

pub(super) fn some_phase(gate: &GateOpened) -> Place {
    gate.place.frame().place(&PhaseId::from("PHASE"))
}

pub(crate) fn may_begin(phase: &Phase) -> String {
    format!("may `{}` begin?", phase.name)
}

/// A worker's verdict, for the person who decides.
pub(crate) fn verdict(verdict: Option<Judged>) -> &'static str {
    match verdict {
        None => " no verdict",
        Some(Judged::Pass) => " verdict: APPROVE",
        Some(Judged::Fail) => " verdict: BLOCK",
    }
}

/// Where a yes leads is said unless the work is complete: whoever agrees to a `fail` sends the run somewhere.
pub(crate) fn may_leave(
    phase: &Phase,
    way: &WayOut,
    to: Option<&PhaseId>,
    verdict: &str,
) -> String {
    let said = if way.summary.trim().is_empty() {
        String::new()
    } else {
        format!(" {}", quote(&way.summary))
    };
    if way.outcome.as_str() == COMPLETE {
        return format!("is `{}` done?{verdict}{said}", phase.name);
    }
    // A person who approves a failed phase should know that this sends the run back, or ends it.
    let leads = match to.map(PhaseId::as_str) {
        Some(DONE) => "approval ends the workflow".to_owned(),
        Some(to) => format!("approval leads to `{to}`"),
        None => "is that right?".to_owned(),
    };
    format!("`{}` ended with `{}`{verdict}{said}; {leads}", phase.name, way.outcome)
}

/// Why a frame bound for `human_intervention` waits.
pub(crate) fn worker_asked(summary: &str) -> String {
    format!("the worker asks for a person{}", saying(summary))
}

pub(crate) fn rejected_before(note: &str) -> String {
    format!("a person rejected it{}", saying(note))
}

/// Why a person is asked, with the worker's last words: it may have said what it needs.
pub(crate) fn needs_person(phase: &Phase, end_of: &End, waited: &str, said: &str) -> String {
    let said = match said.trim() {
        "" => String::new(),
        said => format!("; its last words: {}", quote(said)),
    };
    format!("`{}` cannot continue: the last attempt {}{waited}{said}", phase.name, end(end_of))
}
