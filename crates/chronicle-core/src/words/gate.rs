//! Words about gates: what a person is asked, what they answer, what to type next.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::quote::{one_line, quote, saying};
use super::{agent_name, budget, end, permission};
use crate::base::ids::{COMPLETE, DONE, Outcome, PhaseId, Place, StepId};
use crate::base::verdict::Judged;
use crate::definition::workflow::{Phase, is_skippable};
use crate::event::budget::Lack;
use crate::event::{Break, End, GateAnswer, GateKind, GateOpened, has_numbers};
use crate::state::{Check, Did, Frame, Gate, Stage, State, WayOut};

pub(super) fn gate_opened(gate: &GateOpened) -> String {
    let is_price = gate.lack == Some(Lack::Price);
    let kind = if is_price { "approval" } else { asked_for(gate.gate_kind) };
    format!("{} waits at `{}` for {kind}: {}", gate.gate, gate.shown_place(), gate.about)
}

/// What a gate waits for.
pub(crate) fn asked_for(kind: GateKind) -> &'static str {
    match kind {
        GateKind::ApprovalBefore | GateKind::ApprovalAfter => "approval",
        GateKind::Intervention => "intervention",
        GateKind::Question => "an answer",
        GateKind::Budget => "a budget",
        GateKind::Permission => "permission",
        GateKind::Conflict => "a decision on a conflict",
    }
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
        GateAnswer::Allowed(scope) => format!("allowed {}", permission::reach(*scope)),
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
        GateAnswer::Allowed(scope) => format!("allowed a call {}", permission::reach(*scope)),
    }
}

/// What to type next at a gate.
pub fn gate_next(state: &State, gate: &GateOpened, run: &str) -> String {
    let id = gate.gate;
    match gate.gate_kind {
        GateKind::ApprovalBefore | GateKind::ApprovalAfter => {
            format!("chronicle approve {run} {id}  (or: chronicle reject {run} {id} \"why\")")
        }
        GateKind::Permission => permission::next(run, id),
        GateKind::Budget if gate.lack == Some(Lack::Price) => format!(
            "chronicle approve {run} {id}  (or: chronicle reject {run} {id} \"why\", chronicle retry {run} {} \
             --agent AGENT, chronicle cancel {run})",
            gate.place
        ),
        GateKind::Budget => {
            format!("{}  (or: chronicle cancel {run})", budget::next(state, gate, run))
        }
        GateKind::Conflict => {
            let others = gate.options.iter().skip(1).map(|it| format!("`{it}`"));
            let others = others.collect::<Vec<_>>().join(", ");
            let first = gate.options.first().map_or("", String::as_str);
            format!("chronicle answer {run} {id} {first}  (or: {others})")
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
        GateKind::Intervention => {
            let typed = |way: &GateWay| match way {
                GateWay::Loops => format!("chronicle go {run} {} --loops +3", gate.place),
                GateWay::Retry => format!("chronicle retry {run} {}", again(state, gate)),
                GateWay::Skip => format!("chronicle skip {run}"),
                GateWay::Go => format!("chronicle go {run} {}", some_phase(gate)),
                GateWay::Cancel => format!("chronicle cancel {run}"),
            };
            let ways = ways(state, gate);
            let ways: Vec<String> = match step_of(state, gate) {
                Some(step) => {
                    ways.iter().filter_map(|it| in_step(state, gate, &step, run, *it)).collect()
                }
                None => ways.iter().map(typed).collect(),
            };
            let (first, others) = ways.split_first().map_or(("", &[][..]), |(a, b)| (a, b));
            format!("{first}  (or: {}{})", others.join(", "), what_skip_does(state, gate))
        }
    }
}

/// What another try begins with. A pool whose steps are all done would only ask the same again: one of them is meant, and where there
/// are several, the person says which.
fn again(state: &State, gate: &GateOpened) -> Place {
    let place = &gate.place;
    let Some(pool) = state.pools.get(place).filter(|pool| !pool.left && pool.race.is_none()) else {
        return place.clone();
    };
    match pool.steps.as_slice() {
        [] => place.clone(),
        steps if !steps.iter().all(|step| step.stage.is_done()) => place.clone(),
        [only] => place.of_step(&only.id),
        [..] => place.of_step(&StepId::from("STEP")),
    }
}

/// The step that a gate belongs to, if it waits inside of one.
fn step_of(state: &State, gate: &GateOpened) -> Option<Place> {
    let (place, _, step) = state.step_at(&gate.place.frame())?;
    Some(place.of_step(&step.id))
}

/// What a person types at a gate of one step. Others may wait too, so each names what it is about; and what gives the step up is nearer
/// than what ends the whole run.
fn in_step(
    state: &State,
    gate: &GateOpened,
    step: &Place,
    run: &str,
    way: GateWay,
) -> Option<String> {
    let place = &gate.place;
    let workflow = || state.workflow(&state.frames.get(&place.frame())?.workflow);
    Some(match way {
        GateWay::Loops => format!("chronicle go {run} {place} --loops +3"),
        GateWay::Retry => format!("chronicle retry {run} {}", again(state, gate)),
        // Without a helper's work the step is as it was. Without its own phase, half of its work would be merged: the step itself is what
        // can be done without.
        GateWay::Skip if is_about_help(state, gate) => format!("chronicle skip {run} {place}"),
        GateWay::Skip => format!("chronicle skip {run} {step}"),
        // Where there is one phase only, that is `retry`.
        GateWay::Go if workflow().is_none_or(|it| it.phases.len() < 2) => return None,
        GateWay::Go => format!("chronicle go {run} {}", some_phase(gate)),
        GateWay::Cancel => format!("chronicle cancel {run} {step}"),
    })
}

/// What a person may do at a gate where the run cannot go on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateWay {
    /// Allow more rounds than the limit of the loop.
    Loops,
    /// Try the waiting phase again.
    Retry,
    /// Go on without the phase or the help that waits.
    Skip,
    /// Go to a phase that the person names.
    Go,
    /// Give the run up for good.
    Cancel,
}

/// Everything that is accepted at a gate where the run cannot go on by itself, the most likely first. None at other gates.
pub(crate) fn ways(state: &State, gate: &GateOpened) -> Vec<GateWay> {
    if gate.gate_kind != GateKind::Intervention {
        return Vec::new();
    }
    // Without a phase, as at `human_intervention`, nothing can be tried again or skipped.
    let has_phase = state.phase_at(&gate.place).is_some();
    let mut ways = Vec::new();
    ways.extend((gate.lack == Some(Lack::Rounds)).then_some(GateWay::Loops));
    ways.extend(has_phase.then_some(GateWay::Retry));
    ways.extend((has_phase && may_skip(state, gate)).then_some(GateWay::Skip));
    ways.extend([GateWay::Go, GateWay::Cancel]);
    ways
}

/// True if the engine accepts `skip` there.
fn may_skip(state: &State, gate: &GateOpened) -> bool {
    let held = held(state, gate);
    if let Some((_, Stage::BrokeOff { parting: Break::FollowUp(_) })) = held {
        return true;
    }
    // The worker's target stands. If it was left for too often, the same gate would open again.
    if let Some((_, Stage::Left(WayOut { target: Some(_), .. }))) = held {
        return gate.lack != Some(Lack::Rounds);
    }
    let has_helper = held.is_some_and(|(frame, _)| frame.helper().is_some());
    has_helper || state.phase_at(&gate.place).is_some_and(is_skippable)
}

/// What becomes of a step that is skipped, where that is suggested: nobody should lose work by a word that sounds harmless.
fn what_skip_does(state: &State, gate: &GateOpened) -> String {
    let is_suggested = ways(state, gate).contains(&GateWay::Skip) && !is_about_help(state, gate);
    match state.step_at(&gate.place.frame()).filter(|_| is_suggested) {
        None => String::new(),
        Some((_, pool, step)) if pool.race.is_some() => {
            format!("; `skip` leaves `{}` out of the race", step.id)
        }
        Some((.., step)) if step.is_in_project() => {
            format!(
                "; `skip` counts `{}` as done, and what it changed stays in the project",
                step.id
            )
        }
        Some((.., step)) => {
            format!("; `skip` counts `{}` as done, and merges none of its work", step.id)
        }
    }
}

/// True if `skip` goes on without the work of a helper, and not without that of the phase.
fn is_about_help(state: &State, gate: &GateOpened) -> bool {
    match held(state, gate) {
        Some((_, Stage::BrokeOff { parting: Break::FollowUp(_) })) => true,
        Some((_, Stage::Left(WayOut { target: Some(_), .. }))) | None => false,
        Some((frame, _)) => frame.helper().is_some(),
    }
}

/// The frame that a gate holds, and where it stood.
fn held<'s>(state: &'s State, gate: &GateOpened) -> Option<(&'s Frame, &'s Stage)> {
    let frame = state.frames.get(&gate.place.frame())?;
    let Stage::Gated { held, .. } = &frame.stage else { return None };
    Some((frame, &**held))
}

/// The ways without the commands' arguments, as in a refusal: `retry`, `skip`, or `go` with a phase.
pub(crate) fn ways_in_words(state: &State, gate: &GateOpened) -> String {
    let typed = |way: &GateWay| match way {
        GateWay::Loops => Some("`go` with `--loops`"),
        GateWay::Retry => Some("`retry`"),
        GateWay::Skip => Some("`skip`"),
        GateWay::Go => Some("`go` with a phase"),
        // Never what is meant by somebody who tried to go on.
        GateWay::Cancel => None,
    };
    let ways: Vec<&str> = ways(state, gate).iter().filter_map(typed).collect();
    match ways.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, [one])) => format!("{one} or {last}"),
        Some((last, others)) => format!("{}, or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// What goes on without a phase, with its verb.
pub(crate) fn goes_on(phase: &Phase) -> &'static str {
    if is_skippable(phase) { "`skip` goes on" } else { "`go` with a phase goes on" }
}

/// The open gates, each with its place; `None` if there are none.
pub(crate) fn open_gates(state: &State) -> Option<String> {
    let named = |gate: &Arc<Gate>| format!("{} at `{}`", gate.opened.gate, gate.opened.place);
    let open: Vec<String> = state.open_gates().map(named).collect();
    (!open.is_empty()).then(|| open.join(", "))
}

/// Why a phase is being left that was left too often: what its worker said, or what its command printed.
pub(crate) fn why_again(state: &State, gate: &GateOpened) -> Option<String> {
    let (frame, held) = held(state, gate)?;
    let said = match held {
        Stage::Left(WayOut { check: Check::Failed(failure), .. }) => super::unverified(failure),
        Stage::Left(way) => quote_if_any(&way.summary),
        Stage::Broken { attempt, end: End::CommandFailed { .. } } => {
            let failed = state.attempt(*attempt)?.failed_command.as_ref();
            super::command_failed(state.phase_at(&gate.place)?, failed)
        }
        Stage::Broken { end, .. } => {
            format!("{} {}", last_attempt(frame), super::ended(frame, end))
        }
        Stage::Refused { note } => rejected_before(note),
        Stage::Bound
        | Stage::Entered { .. }
        | Stage::Ready { .. }
        | Stage::Working { .. }
        | Stage::BrokeOff { .. }
        | Stage::Chore { .. }
        | Stage::Inside
        | Stage::Gated { .. }
        | Stage::Waiting { .. }
        | Stage::Ended(_) => return None,
    };
    Some(said).filter(|said| !said.is_empty())
}

fn quote_if_any(summary: &str) -> String {
    if summary.trim().is_empty() { String::new() } else { format!("it said: {}", quote(summary)) }
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
pub(crate) fn bound_for_person(outcome: Option<&Outcome>, summary: &str) -> String {
    let said = saying(summary);
    match outcome.map(Outcome::as_str) {
        // The worker did not ask: its outcome leads here.
        Some(outcome) if outcome != COMPLETE => {
            format!("the worker ended with `{outcome}`, which leads to a person{said}")
        }
        Some(_) | None => format!("the worker asks for a person{said}"),
    }
}

pub(crate) fn rejected_before(note: &str) -> String {
    format!("a person rejected it{}", saying(note))
}

/// Why a person is asked, with the worker's last words: it may have said what it needs.
pub(crate) fn needs_person(
    phase: &Phase,
    frame: &Frame,
    end_of: &End,
    waited: &str,
    said: &str,
) -> String {
    let said = match said.trim() {
        "" => String::new(),
        said => format!("; its last words: {}", quote(said)),
    };
    let whose = last_attempt(frame);
    format!("`{}` cannot continue: {whose} {}{waited}{said}", shown(phase, frame), end(end_of))
}

/// How people call a phase. The one of a step goes by its place: there are many of the same name.
pub(super) fn shown(phase: &Phase, frame: &Frame) -> String {
    if frame.step.is_some() { frame.place().to_string() } else { phase.name.clone() }
}

/// Whose attempt ended last at a place: a helper is not the worker that waits for it.
pub(super) fn last_attempt(frame: &Frame) -> String {
    match frame.helper() {
        Some(helper) => format!("the helper `{}`", one_line(&helper.persona)),
        None => "the last attempt".to_owned(),
    }
}
