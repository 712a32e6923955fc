//! Answers to gates: the first one wins, and later ones are told who was first.

use super::super::scratch::Scratch;
use super::super::{apart, budget, pool};
use super::{emit_answer, refuse_over, who};
use crate::base::ids::GateId;
use crate::event::budget::Lack;
use crate::event::input::{Answer, By};
use crate::event::pool::{StepEnd, StepSettled};
use crate::event::{Event, GateAnswer, GateKind, GateOpened, GrantScope, chosen};
use crate::state::{Gate, Stage, State};
use crate::words;

/// Which gates an answer is for.
type Fits = fn(&GateOpened) -> bool;

pub(in crate::engine) fn approve(
    scratch: &mut Scratch<'_>,
    by: &By,
    gate: Option<GateId>,
    note: &str,
    scope: Option<GrantScope>,
) -> Answer {
    let meant = meant(scratch.state(), gate);
    // Nothing but a call is made again and again: elsewhere a person who says how far their yes reaches means another gate.
    if let Some((id, kind)) = meant.filter(|(_, kind)| *kind != GateKind::Permission)
        && scope.is_some()
    {
        let kind = words::asked_for(kind);
        return Answer::Refused(format!(
            "{id} asks for {kind}, which is answered once: `approve` without `--for`"
        ));
    }
    match meant {
        Some((gate, GateKind::Budget)) => budget::allow(scratch, by, gate),
        Some((gate, GateKind::Permission)) => {
            let answer = GateAnswer::Allowed(scope.unwrap_or_default());
            answer_approval(scratch, by, Some(gate), answer, note)
        }
        Some(_) | None => answer_approval(scratch, by, gate, GateAnswer::Approved, note),
    }
}

/// The gate that a yes or no is meant for, and its kind.
fn meant(state: &State, gate: Option<GateId>) -> Option<(GateId, GateKind)> {
    let gate = pick(state, gate, is_approvable).ok()?;
    Some((gate.opened.gate, gate.opened.gate_kind))
}

pub(in crate::engine) fn reject(
    scratch: &mut Scratch<'_>,
    by: &By,
    gate: Option<GateId>,
    note: &str,
) -> Answer {
    match meant(scratch.state(), gate) {
        Some((gate, GateKind::Budget)) => budget::refuse(scratch, by, gate, note),
        Some(_) | None => answer_approval(scratch, by, gate, GateAnswer::Rejected, note),
    }
}

fn answer_approval(
    scratch: &mut Scratch<'_>,
    by: &By,
    gate: Option<GateId>,
    answer: GateAnswer,
    note: &str,
) -> Answer {
    let gate = match pick(scratch.state(), gate, is_approval) {
        Ok(gate) => gate.opened.clone(),
        Err(refusal) => return refusal,
    };
    let is_call = gate.gate_kind == GateKind::Permission;
    // Without a reason the worker would start again without knowing what to change. A call that may not run needs none.
    if let Some(step) = gate.step.clone().filter(|_| answer == GateAnswer::Rejected) {
        // A step that may not begin is given up.
        emit_answer(scratch, by, gate.gate, answer, note);
        let (place, how, why) = (gate.place.clone(), StepEnd::Dropped, note.to_owned());
        let who = Some(who(by));
        // It has not begun, so there is nothing of it anywhere.
        let (tree, in_project) = (None, false);
        let settled = StepSettled { place, step, how, why, who, tree, in_project };
        scratch.emit(Event::StepSettled(settled));
        return Answer::Accepted(format!("rejected {} at `{}`", gate.gate, gate.shown_place()));
    }
    if answer == GateAnswer::Rejected && note.trim().is_empty() && !is_call {
        return Answer::Refused(format!(
            "rejecting {} needs a reason, which the worker is told",
            gate.gate
        ));
    }
    let said = if answer == GateAnswer::Rejected { "rejected" } else { "approved" };
    let reach = if let GateAnswer::Allowed(scope) = &answer {
        format!(": this call, {}", words::reach(*scope))
    } else {
        String::new()
    };
    let text = format!("{said} {} at `{}`{reach}", gate.gate, gate.shown_place());
    // The worker goes on while it is asked: what a person adds to their yes reaches it as any other note does.
    let is_yes = matches!(answer, GateAnswer::Allowed(_));
    if is_yes
        && !note.trim().is_empty()
        && let refused @ Answer::Refused(_) = super::note(scratch, by, Some(&gate.place), note)
    {
        return refused;
    }
    emit_answer(scratch, by, gate.gate, answer, if is_yes { "" } else { note });
    Answer::Accepted(text)
}

/// Answers a question: with an option, by its text or number, or with free text.
pub(in crate::engine) fn answer(
    scratch: &mut Scratch<'_>,
    by: &By,
    gate: Option<GateId>,
    text: &str,
    note: &str,
) -> Answer {
    let state = scratch.state();
    let gate = match pick(state, gate, is_question) {
        Ok(gate) => gate.opened.clone(),
        Err(refusal) => return refusal,
    };
    let said = match choice(&gate, text, gate.closed || is_choice(state, &gate)) {
        Ok(said) => said,
        Err(why) => return Answer::Refused(why),
    };
    let (id, place) = (gate.gate, &gate.place);
    // The answer stays the option, word for word; what the person adds reaches the worker as any other note does.
    if !note.is_empty()
        && let refused @ Answer::Refused(_) = super::note(scratch, by, Some(place), note)
    {
        return refused;
    }
    let place = gate.shown_place();
    // What follows is worked out before the answer closes the gate, and recorded behind it.
    let (state, who) = (scratch.state(), who(by));
    let then = pool::answered(state, &gate, &said, &who);
    let then = then.or_else(|| apart::answered(state, &gate, &said, &who));
    emit_answer(scratch, by, id, GateAnswer::Said(said), "");
    if let Some(then) = then {
        scratch.emit(then);
    }
    Answer::Accepted(format!("answered {id} at `{place}`"))
}

/// True if only an option may be the answer, for gates opened by older versions: where a person's own phase has several targets.
fn is_choice(state: &State, gate: &GateOpened) -> bool {
    let frame = state.frames.get(&gate.place.frame());
    frame.is_some_and(|frame| {
        let Stage::Gated { held, .. } = &frame.stage else { return false };
        matches!(**held, Stage::Entered { .. } | Stage::Ready { .. })
    })
}

fn choice(gate: &GateOpened, text: &str, only_options: bool) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(format!("an answer to {} needs words", gate.gate));
    }
    // Words before numbers: an option may itself be a number.
    match chosen(&gate.options, text) {
        Some(option) => Ok(option.clone()),
        None if only_options => {
            let options: Vec<String> =
                gate.options.iter().map(|option| format!("`{option}`")).collect();
            Err(format!("{} must be answered with one of {}", gate.gate, options.join(", ")))
        }
        None => Ok(text.to_owned()),
    }
}

fn is_approval(gate: &GateOpened) -> bool {
    match gate.gate_kind {
        GateKind::ApprovalBefore | GateKind::ApprovalAfter | GateKind::Permission => true,
        GateKind::Intervention | GateKind::Question | GateKind::Budget | GateKind::Conflict => {
            false
        }
    }
}

/// A budget gate for an unknown price takes an approval. One for a used-up budget does not: a yes says no amount. Gates of early
/// versions do not say which they are.
fn is_approvable(gate: &GateOpened) -> bool {
    let is_used_up = matches!(gate.lack, Some(Lack::More(_)));
    is_approval(gate) || (gate.gate_kind == GateKind::Budget && !is_used_up)
}

fn is_question(gate: &GateOpened) -> bool {
    matches!(gate.gate_kind, GateKind::Question | GateKind::Conflict)
}

/// The gate that an answer is meant for: the one named, or the only open one of its kind.
fn pick(state: &State, gate: Option<GateId>, fits: Fits) -> Result<&Gate, Answer> {
    // A late answer is told who was first, even if the run is over by now.
    let known = gate.and_then(|id| state.gate(id)).filter(|gate| gate.answered.is_some());
    let own = state.apart.as_ref().and_then(|apart| apart.gate);
    // One gate is answered after the end: that about the merge of the run's own folder.
    let is_own = own.is_some() && gate.is_none_or(|gate| Some(gate) == own);
    if known.is_none() && !is_own {
        refuse_over(state)?;
    }
    let found = match gate {
        Some(id) => named(state, id, fits),
        None => only(state, fits),
    };
    found.map_err(Answer::Refused)
}

fn named(state: &State, id: GateId, fits: Fits) -> Result<&Gate, String> {
    let gate = state.gate(id).ok_or_else(|| no_gate(state, id))?;
    match &gate.answered {
        // The first answer counts. Whoever comes second must know that theirs had no effect.
        Some((answer, who, at)) => Err(format!("{id} was {} by {who} at {at}", past(gate, answer))),
        None if !fits(&gate.opened) => Err(instead(state, gate)),
        None => Ok(gate),
    }
}

fn only(state: &State, fits: Fits) -> Result<&Gate, String> {
    let mut open =
        state.open_gates().filter(|gate| state.can_answer(gate.opened.gate) && fits(&gate.opened));
    match (open.next(), open.next()) {
        (Some(gate), None) => Ok(gate),
        (Some(one), Some(two)) => Err(format!(
            "several gates are open, name one: {} at `{}`, {} at `{}`",
            one.opened.gate, one.opened.place, two.opened.gate, two.opened.place
        )),
        (None, _) => Err(match state.open_gates().next() {
            Some(gate) => instead(state, gate),
            None => nobody_asked(state, fits),
        }),
    }
}

/// An answer without a gate's name may simply be too late: it is told who was first.
fn nobody_asked(state: &State, fits: Fits) -> String {
    let last = state.gates.iter().rfind(|gate| fits(&gate.opened));
    match last.and_then(|gate| Some((gate, gate.answered.as_ref()?))) {
        Some((gate, (answer, who, at))) => {
            let id = gate.opened.gate;
            format!("nothing is being asked: {id} was {} by {who} at {at}", past(gate, answer))
        }
        None => "nothing is being asked".to_owned(),
    }
}

/// The command that would answer this gate.
pub(super) fn instead(state: &State, gate: &Gate) -> String {
    let id = gate.opened.gate;
    match gate.opened.gate_kind {
        GateKind::ApprovalBefore | GateKind::ApprovalAfter => {
            format!("{id} asks for an approval: `approve` or `reject` answer it")
        }
        GateKind::Permission => {
            format!("{id} asks whether a call may run: `approve` or `reject` answer it")
        }
        GateKind::Conflict => {
            let answers = gate.opened.options.iter().map(|it| format!("`{it}`"));
            let answers = answers.collect::<Vec<_>>().join(", ");
            format!("{id} is a conflict: `answer` it with one of {answers}")
        }
        GateKind::Question => format!("{id} is a question: `answer` answers it"),
        GateKind::Budget if gate.opened.lack == Some(Lack::Price) => {
            format!(
                "{id} asks about an unknown price: `approve` or `reject` answer it, `retry` with \
                 `--agent` lets another agent work"
            )
        }
        GateKind::Budget => words::asks_for_more(id),
        GateKind::Intervention => {
            format!("{id} waits for a decision: use {}", words::ways_in_words(state, &gate.opened))
        }
    }
}

fn no_gate(state: &State, id: GateId) -> String {
    if state.had_gate(id) {
        format!("{id} was answered long ago: `chronicle log` says how")
    } else {
        match words::open_gates(state) {
            Some(open) => format!("there is no gate {id}; open: {open}"),
            None => format!("there is no gate {id}, and nothing is being asked"),
        }
    }
}

fn past(gate: &Gate, answer: &GateAnswer) -> &'static str {
    match answer {
        GateAnswer::Raised if gate.opened.lack == Some(Lack::Price) => "already approved",
        GateAnswer::Approved | GateAnswer::Allowed(_) => "already approved",
        GateAnswer::Rejected => "already rejected",
        GateAnswer::Retry => "already answered with `retry`",
        GateAnswer::Go(_) => "already answered with `go`",
        GateAnswer::Raised => "already answered with `budget`",
        GateAnswer::Skip => "already answered with `skip`",
        GateAnswer::Said(_) => "already answered",
        GateAnswer::Withdrawn => "no longer asked",
    }
}
