//! A worker ends its turn and needs something first.

use super::super::scratch::Scratch;
use super::super::target::resolve;
use super::{CallKey, caller, code, has_no_question, is_still_open, may_send};
use crate::base::ids::Outcome;
use crate::base::quote::{list, quoted};
use crate::definition::workflow::{Phase, PhaseKind};
use crate::event::input::Answer;
use crate::event::signal::ALREADY;
use crate::event::{Break, Event, FollowUp};
use crate::state::{Attempt, State};
use crate::words;

pub(super) fn part(
    scratch: &mut Scratch<'_>,
    call: &CallKey,
    parting: &Break,
) -> Result<Answer, String> {
    let state = scratch.state();
    let (attempt, phase) = caller(state, call)?;
    if phase.run == PhaseKind::Command {
        return Err(format!("`{}` runs commands: there is no session to continue", phase.id));
    }
    match parting {
        Break::Continue { .. } => may_send(phase, "partially-complete")?,
        Break::Ask(_) => may_send(phase, "needs-user-input")?,
        Break::FollowUp(wanted) => may_follow_up(state, attempt, phase, wanted)?,
        Break::Helped { .. } => {}
    }
    accept(scratch, call, parting.clone())
}

/// Accepts the first signal that ends the turn; a repeated one gets the same answer.
pub(super) fn accept(
    scratch: &mut Scratch<'_>,
    call: &CallKey,
    parting: Break,
) -> Result<Answer, String> {
    let state = scratch.state();
    let (attempt, _) = caller(state, call)?;
    // A session that was stopped before it got the answer sends the same call again. What it asked for has happened since.
    let frame = state.frames.get(&attempt.intent.place.frame());
    let parted = frame.and_then(|frame| frame.worker.parted.as_ref());
    let is_old = attempt.parting.is_none()
        && parted.is_some_and(|parted| {
            parted.session == attempt.intent.session
                && parted.request == call.request
                && parted.parting == parting
        });
    if is_old {
        return Ok(Answer::Accepted(ALREADY.to_owned()));
    }
    let answer = words::breaking_off(&parting, frame);
    if attempt.parting.as_ref().is_some_and(|(before, _)| *before == parting) {
        return Ok(Answer::Accepted(answer));
    }
    is_still_open(attempt)?;
    has_no_question(scratch.state(), attempt)?;
    let (attempt, request) = (call.id, call.request.clone());
    scratch.record(Event::BreakAccepted { attempt, request, parting, answer: answer.clone() });
    Ok(Answer::Accepted(answer))
}

fn may_follow_up(
    state: &State,
    attempt: &Attempt,
    phase: &Phase,
    wanted: &FollowUp,
) -> Result<(), String> {
    may_send(phase, "needs-role-followup")?;
    // Models write names with other case and spaces than the files have.
    let persona = wanted.persona.trim();
    let is_it = |name: &str| name.trim().eq_ignore_ascii_case(persona);
    // A helper is bound by the `followups` of its own phase, if it has one.
    let helper = attempt.intent.persona.as_deref();
    let asker = match helper {
        Some(name) => state.phase_of_persona(&attempt.intent.place, name),
        None => Some(phase),
    };
    if let Some(asker) = asker
        && let Some(allowed) = &asker.followups
        && !allowed.iter().any(|name| is_it(name))
    {
        let names: Vec<String> = allowed.iter().map(code).collect();
        let choice = if names.is_empty() { "nobody".to_owned() } else { list(&names, ", ") };
        let persona = quoted(persona);
        return Err(format!(
            "`{}` may not ask `{persona}` for help; it may ask {choice}",
            asker.id
        ));
    }
    is_there(state, attempt, asker, persona)?;
    let chain = chain(state, attempt, phase);
    // A worker that asks one who waits for it would wait for itself.
    if chain.iter().any(|name| is_it(name)) || phase.is_by(persona) {
        let names: Vec<String> = chain.iter().map(|name| code(quoted(name))).collect();
        let persona = quoted(persona);
        return Err(format!(
            "`{persona}` waits for you already ({}): do it yourself, ask somebody else, or ask a \
             person with `needs-user-input`",
            list(&names, " → ")
        ));
    }
    if !wanted.resume && helper.is_none() {
        // The phase would be left as `complete` by a helper that was never asked for the verdict.
        if phase.asks_verdict() {
            return Err(format!(
                "`{}` is left by a verdict, and that is yours to give: say `resume: true`, and send \
                 your verdict when the help is done",
                phase.id
            ));
        }
        resolve(phase, None, &Outcome::from("complete")).map_err(|why| {
            format!(
                "with `resume: false` the phase is done afterwards, but {why}; say `resume: true`"
            )
        })?;
    }
    Ok(())
}

/// Only personas that were frozen with the run can help: others would have neither prompt nor limits.
fn is_there(
    state: &State,
    attempt: &Attempt,
    asker: Option<&Phase>,
    persona: &str,
) -> Result<(), String> {
    let place = &attempt.intent.place;
    let is_known = |name: &str| {
        state.persona_called(name).is_some() || state.phase_of_persona(place, name).is_some()
    };
    if is_known(persona) {
        return Ok(());
    }
    let allowed = asker.and_then(|asker| asker.followups.as_ref());
    let frozen = state.run.iter().flat_map(|run| &run.personas).map(|persona| &persona.name);
    let names: Vec<String> = match allowed {
        Some(allowed) => allowed.iter().filter(|name| is_known(name)).map(code).collect(),
        None => frozen.map(code).collect(),
    };
    let choice = if names.is_empty() { "nobody".to_owned() } else { list(&names, ", ") };
    Err(format!("no persona is called `{}`; you may ask {choice}", quoted(persona)))
}

/// Who waits for whom: the phase's own worker first, the caller last.
fn chain(state: &State, attempt: &Attempt, phase: &Phase) -> Vec<String> {
    let frame = state.frames.get(&attempt.intent.place.frame());
    let helpers = frame.into_iter().flat_map(|frame| frame.stack.iter());
    let helpers = helpers.map(|waiting| waiting.follow_up.persona.clone());
    std::iter::once(phase.worker_name().to_owned()).chain(helpers).collect()
}
