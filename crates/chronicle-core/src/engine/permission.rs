//! Calls that need a person's leave: held at a gate, decided by what people said, or told that nobody has answered.

use super::gate::opened;
use super::scratch::Scratch;
use super::world::live;
use crate::base::ids::{AttemptId, GateId};
use crate::base::limits::QUESTIONS_MAX;
use crate::event::input::Answer;
use crate::event::{
    Call, CallHeld, Event, GateAnswer, GateAsker, GateKind, GateOpened, Message, PermissionCall,
    ToolCalled, Verdict,
};
use crate::guard::{Judgement, RuleRef};
use crate::state::{Attempt, Frame, Held, Ruling, State};
use crate::words;

/// What follows from the rules and from what people said.
pub(super) enum Leave {
    /// It is decided, at a gate if one is named.
    Decided(Verdict, Option<GateId>),
    /// A person must be asked.
    Asks,
}

/// Judges a call that no list is against.
pub(super) fn judge(state: &State, attempt: &Attempt, call: &Call, judged: &Judgement) -> Leave {
    match judged {
        Judgement::Clear => Leave::Decided(Verdict::Allowed, None),
        Judgement::Deny { rule, why } => {
            Leave::Decided(Verdict::Denied(words::forbidden(rule, why)), None)
        }
        Judgement::Ask { rule, .. } => {
            let ruling = state.ruling(attempt, &call.id, call.sum, rule);
            ruling.map_or(Leave::Asks, decided)
        }
    }
}

fn decided(ruling: Ruling<'_>) -> Leave {
    match ruling {
        Ruling::Allowed(gate) => Leave::Decided(Verdict::Allowed, Some(gate)),
        Ruling::Rejected(gate, who, note) => {
            Leave::Decided(Verdict::Denied(words::rejected_call(who, note)), Some(gate))
        }
        Ruling::Closed(gate) => {
            Leave::Decided(Verdict::Denied(words::NOT_ANSWERED.to_owned()), Some(gate))
        }
    }
}

/// Holds a call until a person has answered: at the gate that is open for it, or at a new one.
pub(super) fn hold(
    scratch: &mut Scratch<'_>,
    id: AttemptId,
    active_ms: u64,
    call: &Call,
    judged: &Judgement,
) -> Answer {
    let state = scratch.state();
    let Some(attempt) = live(state, id) else { return Answer::Noted };
    if held(state, attempt, call).is_some() {
        return Answer::Waits;
    }
    let path = attempt.intent.place.frame();
    let frame = state.frames.get(&path);
    let (Judgement::Ask { rule, why }, Some(frame)) = (judged, frame) else {
        return Answer::Noted;
    };
    // Answers name a call by its id alone: a second one under it could be taken for the one that a person allowed. And each is a
    // gate that a person sees: a worker in a loop must not fill the screen with them.
    let is_taken = attempt.held.iter().any(|held| held.call == call.id);
    let refused = is_taken.then(|| words::ID_TAKEN.to_owned()).or_else(|| {
        let is_full = attempt.held.len() >= QUESTIONS_MAX;
        is_full.then(|| words::too_many_held(QUESTIONS_MAX))
    });
    if let Some(why) = refused {
        let verdict = Verdict::Denied(why);
        let called = ToolCalled::new(id, call.clone(), verdict.clone(), active_ms).judged(judged);
        scratch.record(Event::ToolCalled(called));
        return Answer::Verdict(verdict);
    }
    let gate = state.free_gate(&path, call.sum, rule);
    let new = gate.is_none().then(|| ask(state, attempt, frame, call, rule, why));
    let gate = gate.unwrap_or_else(|| state.next_gate());
    if let Some(opened) = new {
        scratch.emit(Event::GateOpened(opened));
    }
    let (call, by) = (call.id.clone(), call.by);
    scratch.emit(Event::CallHeld(CallHeld { attempt: id, call, by, gate, active_ms }));
    Answer::Waits
}

fn ask(
    state: &State,
    attempt: &Attempt,
    frame: &Frame,
    call: &Call,
    rule: &RuleRef,
    why: &str,
) -> GateOpened {
    let asks = PermissionCall { call: call.clone(), rule: rule.clone(), why: why.to_owned() };
    let about = words::may_call(&asks);
    GateOpened {
        asks: Some(Box::new(asks)),
        asker: Some(GateAsker {
            attempt: attempt.intent.attempt,
            session: attempt.intent.session.clone(),
            request: call.id.clone(),
        }),
        ..opened(state, frame, GateKind::Permission, about)
    }
}

/// This very call, if it waits already.
fn held<'a>(state: &State, attempt: &'a Attempt, call: &Call) -> Option<&'a Held> {
    let is_it = |held: &&Held| {
        let asked = state.gate(held.gate).and_then(|gate| gate.opened.asks.as_ref());
        held.call == call.id && asked.is_some_and(|asks| asks.call.sum == call.sum)
    };
    attempt.held.iter().find(is_it)
}

/// Nobody is there, or nobody answered in time: the call does not run, its worker goes on, and the gate stays open.
pub(super) fn unanswered(scratch: &mut Scratch<'_>, id: AttemptId, how_many: usize) {
    let state = scratch.state();
    let Some(attempt) = live(state, id) else { return };
    let waiting = state.undecided(attempt).take(how_many);
    let waiting: Vec<ToolCalled> =
        waiting.filter_map(|held| in_vain(state, attempt, held)).collect();
    for called in waiting {
        scratch.emit(Event::ToolCalled(called));
    }
}

/// The agent waits no longer for leave to make this call. Its gate stays: the next attempt may make the call again.
pub(super) fn withdrawn(scratch: &mut Scratch<'_>, id: AttemptId, call: &str) -> bool {
    let state = scratch.state();
    let Some(attempt) = live(state, id) else { return false };
    let Some(held) = attempt.held.iter().find(|held| held.call == call) else { return false };
    let (gate, called) = (held.gate, in_vain(state, attempt, held));
    if let Some(called) = called.filter(|_| held.verdict.is_none()) {
        scratch.emit(Event::ToolCalled(called));
    }
    let message = Message::Verdict(gate);
    scratch.record(Event::MessageDelivered { attempt: id, message, repeated: false });
    true
}

/// The call as one that waited and did not run.
fn in_vain(state: &State, attempt: &Attempt, held: &Held) -> Option<ToolCalled> {
    let (id, gate) = (attempt.intent.attempt, state.gate(held.gate)?);
    let asks = gate.opened.asks.as_ref()?;
    let verdict = Verdict::Denied(words::NOT_ANSWERED.to_owned());
    let called = ToolCalled::new(id, gate.held_call(held)?, verdict, attempt.active_ms);
    let judged = Judgement::Ask { rule: asks.rule.clone(), why: asks.why.clone() };
    Some(ToolCalled { gate: Some(held.gate), ..called.judged(&judged) })
}

/// Closes a gate for a call that nobody will make any more.
pub(super) fn follow(state: &State) -> Option<Event> {
    let gate = state.idle_permission()?;
    let (answer, who) = (GateAnswer::Withdrawn, words::SUPERVISOR.to_owned());
    Some(Event::GateAnswered { gate, answer, who, note: String::new(), agent: None, from: None })
}
