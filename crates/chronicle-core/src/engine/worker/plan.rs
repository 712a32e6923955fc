//! `workflow_plan`: a worker plans the steps of a pool, or a helper in a pool changes those that have not begun.

use super::super::scratch::Scratch;
use super::{CallKey, caller, is_still_open};
use crate::base::ids::GateId;
use crate::definition::workflow::{STEPS_MAX, StepItem, judge_steps};
use crate::event::input::Answer;
use crate::event::pool::PlanMade;
use crate::event::{Event, GateAnswer};
use crate::state::{Pool, PoolStep};
use crate::words;

pub(super) fn plan(
    scratch: &mut Scratch<'_>,
    call: &CallKey,
    version: Option<u32>,
    steps: &[StepItem],
) -> Result<Answer, String> {
    let state = scratch.state();
    let (attempt, phase) = caller(state, call)?;
    is_still_open(attempt)?;
    let frame = attempt.intent.place.frame();
    let (pool, before) = match state.step_at(&frame) {
        Some(_) => {
            let found = state.replans(attempt).ok_or_else(|| words::REPLAN_REFUSED.to_owned())?;
            let (place, pool) = found;
            if version.is_none() {
                return Err(words::which_plan(pool.version));
            }
            (Some((place.clone(), pool)), pool.version)
        }
        // A helper helps; whoever leaves the phase plans it.
        None if phase.produces.is_some() && attempt.intent.persona.is_none() => {
            let known = state.frames.get(&frame).and_then(|frame| frame.plan.as_ref());
            (None, known.map_or(0, |plan| plan.version))
        }
        None => return Err(words::plans_nothing(phase)),
    };
    if let Some(version) = version.filter(|version| *version != before) {
        return Err(words::other_plan(version, before));
    }
    judge(pool.as_ref().map(|(_, pool)| *pool), steps)?;
    let outdated = pool.as_ref().map_or_else(Vec::new, |(_, pool)| outdated(pool, steps));
    let pool = pool.map(|(place, _)| place);
    let version = before.saturating_add(1);
    let answer = words::plan_kept(version, steps);
    // Whether a step may begin that is no longer in the plan is not asked any more.
    for gate in outdated {
        let (answer, who, note) = (GateAnswer::Withdrawn, call.id.to_string(), String::new());
        scratch.emit(Event::GateAnswered { gate, answer, who, note, agent: None, from: None });
    }
    let (attempt, request, steps) = (call.id, call.request.clone(), steps.to_vec());
    let made = PlanMade { attempt, request, pool, version, steps, answer: answer.clone() };
    scratch.emit(Event::PlanMade(made));
    Ok(Answer::Accepted(answer))
}

/// Gates of pending steps that a new plan drops or changes.
fn outdated(pool: &Pool, steps: &[StepItem]) -> Vec<GateId> {
    let stays = |step: &PoolStep| steps.iter().any(|item| *item == *step.item);
    let pending = pool.steps.iter().filter(|step| !step.has_begun() && !stays(step));
    pending.filter_map(|step| step.gate).collect()
}

/// What has begun stays as it is; what is new may depend on anything.
fn judge(pool: Option<&Pool>, steps: &[StepItem]) -> Result<(), String> {
    let begun: Vec<&PoolStep> = pool
        .map_or_else(Vec::new, |pool| pool.steps.iter().filter(|step| step.has_begun()).collect());
    let has_begun = |id: &str| begun.iter().find(|step| step.item.id == id);
    let changed =
        steps.iter().find(|item| has_begun(&item.id).is_some_and(|begun| *begun.item != **item));
    if let Some(item) = changed {
        return Err(words::step_has_begun(&item.id));
    }
    if let Some(problem) = judge_steps(steps, &|id| has_begun(id).is_some()).into_iter().next() {
        return Err(problem);
    }
    let is_named = |step: &&&PoolStep| steps.iter().any(|item| item.id == step.item.id);
    let all = steps.len() + begun.iter().filter(|step| !is_named(step)).count();
    match all {
        0 => Err("a plan needs at least one step".to_owned()),
        1..=STEPS_MAX => Ok(()),
        _ => Err(format!("the pool would have {all} steps, and {STEPS_MAX} fit")),
    }
}
