//! Commands to one step of a pool: done again, skipped, or given up. Whoever works on it is stopped first.

use super::super::pool::{gates_of, gates_of_judge, too_late};
use super::super::scratch::Scratch;
use super::moves::Wish;
use super::{emit_answer, refuse_over, who};
use crate::base::ids::{GateId, Place};
use crate::event::input::{Answer, By};
use crate::event::pool::{StepAsked, StepEnd};
use crate::event::{Event, GateAnswer};
use crate::state::{MergeStage, PoolStep, Stage, State, StepStage};
use crate::words;

/// `retry` of a step; `None` if the place is none.
pub(super) fn retry(
    scratch: &mut Scratch<'_>,
    by: &By,
    place: Option<&Place>,
    wish: &Wish<'_>,
) -> Option<Answer> {
    let place = place.filter(|place| scratch.state().step_called(place).is_some())?;
    if wish.agent.is_some() || wish.from.is_some() {
        return Some(Answer::Refused(format!(
            "`{place}` is a step with phases of its own: `retry {place}` starts it again, and `retry` with a phase \
             of it takes `--agent` and `--from`"
        )));
    }
    Some(ask(scratch, by, place, StepEnd::Again, wish.note))
}

/// `skip` of a step; `None` if the place is none.
pub(super) fn skip(
    scratch: &mut Scratch<'_>,
    by: &By,
    place: Option<&Place>,
    note: &str,
) -> Option<Answer> {
    let place = place.filter(|place| scratch.state().step_called(place).is_some())?;
    Some(ask(scratch, by, place, StepEnd::Skipped, note))
}

pub(super) fn give_up(scratch: &mut Scratch<'_>, by: &By, place: &Place, note: &str) -> Answer {
    if let Err(over) = refuse_over(scratch.state()) {
        return over;
    }
    if scratch.state().step_called(place).is_none() {
        return Answer::Refused(no_step(scratch.state(), place));
    }
    ask(scratch, by, place, StepEnd::Dropped, note)
}

/// What is wrong with a place that is no phase and no frame, if it is in a pool: a step as such, one that has not begun, or none at all.
pub(super) fn no_phase(state: &State, place: &Place) -> Option<String> {
    if let Some((.., step)) = state.step_called(place) {
        let began = if step.has_begun() { "begins it again" } else { "is for one that has begun" };
        return Some(format!(
            "`{place}` is a step: `retry {place}` {began}, `skip {place}` counts it as done without its work, and `cancel {place}` gives it up"
        ));
    }
    let frame = place.frame();
    if let Some((at, pool, step)) = state.step_at(&frame) {
        let is_open = state.frames.contains_key(&at.step_frame(&step.id));
        let place = at.of_step(&step.id);
        return (!is_open).then(|| words::nobody_inside(&place, pool, step));
    }
    let pools = state.pools.iter().filter(|(_, pool)| !pool.left);
    let mut around = pools.filter(|(at, _)| place.frame().is_within(&at.frame_below()));
    around.next().map(|_| no_step(state, place))
}

fn no_step(state: &State, place: &Place) -> String {
    let steps = state.pools.iter().filter(|(_, pool)| !pool.left);
    let steps =
        steps.flat_map(|(at, pool)| pool.steps.iter().map(move |step| at.of_step(&step.id)));
    let known: Vec<String> = steps.take(8).map(|step| format!("`{step}`")).collect();
    if known.is_empty() {
        return format!(
            "there is no step `{place}`, and no pool is being worked at: `cancel` without a place ends the run"
        );
    }
    format!("there is no step `{place}`; there are {}", known.join(", "))
}

fn ask(scratch: &mut Scratch<'_>, by: &By, named_as: &Place, how: StepEnd, note: &str) -> Answer {
    if let Err(over) = refuse_over(scratch.state()) {
        return over;
    }
    let state = scratch.state();
    let Some((place, pool, step)) = state.step_called(named_as) else {
        return Answer::Refused(no_step(state, named_as));
    };
    let (is_race, in_project) = (pool.race.is_some(), step.is_in_project());
    if let Some(why) = refusal(named_as, step, how).or_else(|| too_late(state, place, step)) {
        return Answer::Refused(why);
    }
    let (place, id) = (place.clone(), step.id.clone());
    let around = match around(state, &place) {
        Ok(around) => around,
        Err(why) => return Answer::Refused(why),
    };
    let gates: Vec<GateId> = gates_of(state, &place, &id).map(|gate| gate.gate).collect();
    let answer = if how == StepEnd::Again { GateAnswer::Retry } else { GateAnswer::Skip };
    for gate in gates {
        emit_answer(scratch, by, gate, answer.clone(), note);
    }
    let judge: Vec<GateId> = gates_of_judge(scratch.state(), &place).collect();
    for gate in judge.into_iter().chain(around) {
        emit_answer(scratch, by, gate, GateAnswer::Withdrawn, note);
    }
    let (who, note) = (who(by), note.to_owned());
    scratch.emit(Event::StepAsked(StepAsked { place, step: id, how, who, note }));
    let said = match how {
        StepEnd::Again => "begins again",
        StepEnd::Skipped if is_race => "is skipped: it is out of the race",
        StepEnd::Skipped if in_project => {
            "is skipped: it counts as done, and what it changed stays in the project"
        }
        StepEnd::Skipped => "is skipped: it counts as done, and its work is not merged",
        StepEnd::Dropped if in_project => "is given up, and what it changed stays in the project",
        StepEnd::Dropped | StepEnd::Failed | StepEnd::Done | StepEnd::Lost => "is given up",
    };
    Answer::Accepted(format!("`{named_as}` {said}"))
}

/// The gate of the pool itself, which is out of date once one of its steps is changed.
fn around(state: &State, place: &Place) -> Result<Option<GateId>, String> {
    match state.frames.get(&place.frame()).map(|frame| &frame.stage) {
        Some(Stage::Inside) => Ok(None),
        Some(Stage::Gated { gate, .. }) => Ok(Some(*gate)),
        Some(_) | None => Err(format!("`{place}` is being left: `go {place}` begins it again")),
    }
}

/// Why a step cannot be changed any more.
fn refusal(place: &Place, step: &PoolStep, how: StepEnd) -> Option<String> {
    match &step.stage {
        StepStage::Done if how != StepEnd::Again => Some(format!(
            "`{place}` is done: `undo` takes its files back, and `retry` does it again on top"
        )),
        StepStage::Merging(merging) if merging.at == MergeStage::Writing => {
            Some(format!("the work of `{place}` is being merged: wait for it"))
        }
        StepStage::Skipped if how == StepEnd::Skipped => {
            Some(format!("`{place}` is skipped already"))
        }
        StepStage::Dropped if how == StepEnd::Dropped => {
            Some(format!("`{place}` was given up already"))
        }
        StepStage::Pending if how == StepEnd::Again && !step.has_begun() => {
            Some(format!("`{place}` has not begun: nothing was tried yet"))
        }
        StepStage::Pending
        | StepStage::Making
        | StepStage::Working
        | StepStage::Finished
        | StepStage::Judging
        | StepStage::Merging(_)
        | StepStage::Done
        | StepStage::Failed(_)
        | StepStage::Skipped
        | StepStage::Dropped
        | StepStage::Lost => None,
    }
}
