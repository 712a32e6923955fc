//! Enforces budgets: an attempt over its limit is stopped in mid-turn, people are warned in time, and only a person can raise a
//! limit.

use super::attempt;
use super::follow::stage_follows;
use super::people::{emit_answer, refuse_over, who};
use super::scratch::Scratch;
use crate::base::ids::{FramePath, GateId, Place};
use crate::definition::budget::{Resource, limit};
use crate::definition::workflow::Budget;
use crate::event::budget::{BudgetRaised, BudgetWarned, Lack};
use crate::event::input::{Answer, By};
use crate::event::{Event, GateAnswer, GateKind, StopCause};
use crate::state::budget::{self, Balance, Doing, Shortage};
use crate::state::{Attempt, Frame, Stage, State};
use crate::words;

/// A warning, or the stop of an attempt that has used up a limit.
pub(super) fn follow(state: &State) -> Option<Event> {
    if !budget::is_limited(state) {
        return None;
    }
    // One event at a time. `advance` asks again until nothing more follows.
    let warning = state.frames.values().find_map(|frame| budget::warning(state, &frame.place()));
    warning.map(|of| Event::BudgetWarned(warned(of))).or_else(|| over(state))
}

fn warned(of: Balance) -> BudgetWarned {
    BudgetWarned { place: of.place, resource: of.resource, spent: of.spent, limit: of.limit }
}

/// Also stops an attempt that is leaving: its signal stands, and it spends nothing more.
fn over(state: &State) -> Option<Event> {
    // `verify` and `cleanup` are not work: stopping a cleanup for lack of budget would leave things behind.
    let is_work = |attempt: &&Attempt| attempt.stop.is_none() && attempt.intent.chore.is_none();
    let mut working = state.live_attempts().filter(is_work);
    let attempt = working.find(|attempt| {
        budget::shortage(state, &attempt.intent.place, Doing::Works(attempt)).is_some()
    })?;
    Some(Event::StopAsked {
        attempt: attempt.intent.attempt,
        cause: StopCause::Budget,
        active_ms: 0,
    })
}

/// Raises a budget. Frames that wait for it continue.
pub(super) fn raise(
    scratch: &mut Scratch<'_>,
    by: &By,
    place: Option<&Place>,
    more: &Budget,
) -> Answer {
    if let Err(over) = refuse_over(scratch.state()) {
        return over;
    }
    let account = match place {
        Some(place) => Some(account_at(scratch.state(), place, more)),
        None => short_account(scratch.state(), more),
    };
    // Kept without effect, a raise of no limit would let a person wait for nothing.
    if let Err(why) = raisable(scratch.state(), account.as_ref(), more) {
        return Answer::Refused(why);
    }
    let mut text = words::raised(account.as_ref(), more);
    if account.as_ref().is_some_and(|it| has_limit(scratch.state(), &budget::inside(it), more)) {
        text.push_str(", and that of the workflow in it");
    }
    let raised = BudgetRaised { place: account, more: more.clone(), unpriced: false, who: who(by) };
    scratch.emit(Event::BudgetRaised(raised));
    // A raise can be too small. It is kept, and the answer says what is still lacking.
    match reopen(scratch, by) {
        None => Answer::Accepted(text),
        Some(still) => Answer::Accepted(format!("{text}; still, {still}")),
    }
}

/// The account that a person means: of a workflow inside a phase only if both limit what is raised.
fn account_at(state: &State, place: &Place, more: &Budget) -> Place {
    let is_known = has_limit(state, place, more);
    budget::around(place).filter(|_| !is_known).unwrap_or_else(|| place.clone())
}

/// Without a place the raise goes to the limit that stopped the work, not always to the run's: it is what the person was asked
/// about. A limit on something else does not get in the way.
fn short_account(state: &State, more: &Budget) -> Option<Place> {
    let mut short = state.frames.values().filter_map(|it| short_at(state, it));
    let of = short.find(|short| is_asked(more, short.balance().resource))?;
    of.balance().place.clone()
}

fn is_asked(more: &Budget, resource: Resource) -> bool {
    limit(more, resource).is_some_and(|it| it > 0)
}

fn has_limit(state: &State, account: &Place, more: &Budget) -> bool {
    let mut all = budget::all_balances(state).into_iter();
    all.any(|of| of.place.as_ref() == Some(account) && is_asked(more, of.resource))
}

/// Accepts an agent whose price is unknown.
pub(super) fn allow(scratch: &mut Scratch<'_>, by: &By, gate: GateId) -> Answer {
    let state = scratch.state();
    let frame = state.gate(gate).and_then(|gate| state.frames.get(&gate.opened.place.frame()));
    match frame.and_then(|frame| short_at(state, frame)) {
        Some(Shortage::Unpriced { of, .. }) => {
            let raised = BudgetRaised {
                place: of.place,
                more: Budget::default(),
                unpriced: true,
                who: who(by),
            };
            scratch.emit(Event::BudgetRaised(raised));
            reopen(scratch, by);
            Answer::Accepted("unpriced work is allowed".to_owned())
        }
        Some(Shortage::UsedUp(_)) | None => Answer::Refused(words::asks_for_more(gate)),
    }
}

/// A person's no to an agent whose price is unknown: the phase is refused, as a phase that may not begin is.
pub(super) fn refuse(scratch: &mut Scratch<'_>, by: &By, gate: GateId, note: &str) -> Answer {
    let opened = scratch.state().gate(gate).map(|gate| gate.opened.clone());
    match opened {
        Some(opened) if opened.lack == Some(Lack::Price) => {
            emit_answer(scratch, by, gate, GateAnswer::Rejected, note);
            Answer::Accepted(format!("rejected {gate} at `{}`", opened.place))
        }
        Some(_) | None => Answer::Refused(words::asks_for_more(gate)),
    }
}

/// Answers every gate whose need is met now. Returns what is still lacking.
fn reopen(scratch: &mut Scratch<'_>, by: &By) -> Option<String> {
    let state = scratch.state();
    // Each is judged by itself: one raise may be enough for one place and too little for another.
    let waiting = state.open_gates().filter(|gate| gate.opened.gate_kind == GateKind::Budget);
    let (mut funded, mut still) = (Vec::new(), None);
    for gate in waiting {
        let frame = state.frames.get(&gate.opened.place.frame());
        match frame.and_then(|frame| short_at(state, frame)) {
            Some(short) => still = Some(words::short(&short)),
            None => funded.push(gate.opened.gate),
        }
    }
    for gate in funded {
        // Every gate that has enough now, not only the one that was asked about: a run's budget may hold several frames.
        emit_answer(scratch, by, gate, GateAnswer::Raised, "");
    }
    still
}

/// What a frame held at a budget gate would lack if it continued now.
fn short_at(state: &State, frame: &Frame) -> Option<Shortage> {
    let Stage::Gated { gate, held } = &frame.stage else { return None };
    if state.gate(*gate)?.opened.gate_kind != GateKind::Budget {
        return None;
    }
    // Tries the held stage on a copy, with the same table that would continue it.
    shortage_at(state, &Frame { stage: (**held).clone(), ..frame.clone() })
}

/// What a frame would ask for if it continued now.
fn shortage_at(state: &State, frame: &Frame) -> Option<Shortage> {
    let Event::GateOpened(opened) = stage_follows(state, frame)? else { return None };
    if opened.gate_kind == GateKind::Budget { attempt::shortage_of(state, frame) } else { None }
}

/// True if a frame lacks something that work beside it lacks too: the budget is not one of the step at that path alone.
pub(super) fn lacks_around(state: &State, frame: &Frame, step: &FramePath) -> bool {
    if !budget::is_limited(state) {
        return false;
    }
    let short = short_at(state, frame).or_else(|| shortage_at(state, frame));
    short.is_some_and(|short| match &short.balance().place {
        None => true,
        Some(place) => !place.frame().is_within(step),
    })
}

/// Refuses to raise a limit that does not exist.
fn raisable(state: &State, account: Option<&Place>, more: &Budget) -> Result<(), String> {
    let asked = Resource::ALL.into_iter().filter(|it| is_asked(more, *it));
    let asked: Vec<Resource> = asked.collect();
    if asked.is_empty() {
        return Err(
            "say how much more: `+50000 tokens`, `+2.50 usd`, `+30m`, `+3 attempts`".to_owned()
        );
    }
    let known = budget::all_balances(state);
    let has = |resource: &Resource| {
        known.iter().any(|of| of.place.as_ref() == account && of.resource == *resource)
    };
    match asked.iter().find(|resource| !has(resource)) {
        Some(resource) => Err(words::no_such_limit(account, *resource)),
        None => Ok(()),
    }
}

/// True if another frame already asks for what this one is about to ask for.
pub(super) fn is_asked_elsewhere(state: &State, frame: &Frame, event: &Event) -> bool {
    let Event::GateOpened(opened) = event else { return false };
    if opened.gate_kind != GateKind::Budget {
        return false;
    }
    let Some(short) = attempt::shortage_of(state, frame) else { return false };
    let others = state.frames.values().filter(|other| other.path != frame.path);
    others
        .filter_map(|other| short_at(state, other))
        .any(|other| other.balance().place == short.balance().place && other.lack() == short.lack())
}
