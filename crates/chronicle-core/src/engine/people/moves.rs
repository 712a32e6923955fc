//! Commands that move a run: `retry`, `skip` and `go`.

use super::super::scratch::Scratch;
use super::super::sent;
use super::super::target::resolve;
use super::gate::instead;
use super::steps;
use super::{emit_answer, refuse_over, who};
use crate::base::ids::{AttemptId, DONE, GateId, Outcome, PhaseId, Place, SKIPPED};
use crate::definition::workflow::{Phase, PhaseKind};
use crate::event::budget::Lack;
use crate::event::input::{Answer, By};
use crate::event::wait::WaitEnded;
use crate::event::{Break, Event, GateAnswer, GateKind, Mover};
use crate::state::{Frame, Sent, Stage, State, WayOut};
use crate::words;

/// Most places that a refusal names.
const PLACES_MAX: usize = 8;

/// How a person wants a phase tried again.
pub(in crate::engine) struct Wish<'w> {
    pub(in crate::engine) note: &'w str,
    pub(in crate::engine) agent: Option<&'w String>,
    /// The command to begin with, from 1.
    pub(in crate::engine) from: Option<u32>,
}

/// Starts again in a fresh session: the topmost helper if there is one, otherwise the phase's own worker.
pub(in crate::engine) fn retry(
    scratch: &mut Scratch<'_>,
    by: &By,
    place: Option<&Place>,
    wish: &Wish<'_>,
) -> Answer {
    if let Some(answer) = steps::retry(scratch, by, place, wish) {
        return answer;
    }
    if let Some((place, attempt)) = waiting(scratch.state(), place) {
        return cut_short(scratch, by, place, attempt, wish);
    }
    let (gate, place, asks_again, is_done) = match held(scratch.state(), place) {
        Ok((gate, frame)) => (gate, frame.place(), was_refused(frame), lacks_verify(frame)),
        Err(refusal) => return refusal,
    };
    let opened = scratch.state().gate(gate).map(|gate| (gate.opened.gate_kind, gate.opened.lack));
    let (kind, lack) = opened.map_or((None, None), |(kind, lack)| (Some(kind), lack));
    // Starting the worker is exactly what this gate prevents.
    if kind == Some(GateKind::ApprovalBefore) {
        return Answer::Refused(format!(
            "{gate} asks whether `{place}` may begin, and nothing was tried yet: `approve` or `reject`"
        ));
    }
    // The same agent would run into the same limit at once, and any agent into one that is used up. Another agent may be one whose
    // price is known.
    let may_help = lack == Some(Lack::Price) && wish.agent.is_some();
    if kind == Some(GateKind::Budget) && !may_help {
        let state = scratch.state();
        let opened = state.gate(gate);
        return Answer::Refused(opened.map_or_else(String::new, |gate| instead(state, gate)));
    }
    let Some(phase) = scratch.state().phase_at(&place) else {
        return Answer::Refused(format!("there is no phase at `{place}`: use `go` with a phase"));
    };
    if let Err(why) = check_from(phase, wish.from).and_then(|()| check_agent(phase, wish.agent)) {
        return Answer::Refused(why);
    }
    if asks_again && let Some(refused) = say_beforehand(scratch, by, &place, wish) {
        return refused;
    }
    let (who, note, from) = (who(by), wish.note.to_owned(), wish.from);
    let (answer, agent) = (GateAnswer::Retry, wish.agent.cloned());
    scratch.emit(Event::GateAnswered { gate, answer, who, note, agent, from });
    let again = match (asks_again, is_done && wish.agent.is_none() && wish.from.is_none()) {
        (true, _) => "asks again whether it may begin",
        (false, true) => "is verified again",
        (false, false) => "is tried again",
    };
    Answer::Accepted(format!("`{place}` {again}"))
}

/// True if a person said that the phase may not begin.
fn was_refused(frame: &Frame) -> bool {
    matches!(&frame.stage, Stage::Gated { held, .. } if matches!(**held, Stage::Refused { .. }))
}

/// True if the work is done, and only its `verify` could not be started.
fn lacks_verify(frame: &Frame) -> bool {
    let Stage::Gated { held, .. } = &frame.stage else { return false };
    matches!(&**held, Stage::Left(way) if way.check.is_unstarted())
}

/// Nothing starts before the next approval: what the person says is kept as a note for whoever begins then.
fn say_beforehand(
    scratch: &mut Scratch<'_>,
    by: &By,
    place: &Place,
    wish: &Wish<'_>,
) -> Option<Answer> {
    if wish.from.is_some() {
        let why = format!("`{place}` has not begun: there is no command to go on from");
        return Some(Answer::Refused(why));
    }
    if wish.note.trim().is_empty() {
        return None;
    }
    let answer = super::note(scratch, by, Some(place), wish.note);
    matches!(answer, Answer::Refused(_)).then_some(answer)
}

/// Only a phase that runs commands has one to begin with.
fn check_from(phase: &Phase, from: Option<u32>) -> Result<(), String> {
    let Some(from) = from else { return Ok(()) };
    let (name, count) = (&phase.name, phase.commands.len());
    match (phase.run, from as usize) {
        (PhaseKind::Command, from) if (1..=count).contains(&from) => Ok(()),
        (PhaseKind::Command, _) => Err(format!(
            "`{name}` has no command {from}: it has {count}, and {} without any of them",
            words::goes_on(phase)
        )),
        _ => Err(format!("`{name}` runs no commands: `retry` without `--from` tries it again")),
    }
}

/// Only a phase that an agent works at can have another one.
fn check_agent(phase: &Phase, agent: Option<&String>) -> Result<(), String> {
    let what = match phase.run {
        PhaseKind::Worker | PhaseKind::Inline | PhaseKind::Pool | PhaseKind::Race => {
            return Ok(());
        }
        PhaseKind::Command => "runs commands, and no agent",
        PhaseKind::Workflow => "is a workflow of its own, with agents of its own",
        PhaseKind::Human => "is done by a person, and by no agent",
    };
    let name = &phase.name;
    match agent {
        None => Ok(()),
        Some(_) => Err(format!("`{name}` {what}: `retry` without `--agent` tries it again")),
    }
}

/// The waiting place that `retry` means: the one named, or the only one if no gate is open.
fn waiting(state: &State, place: Option<&Place>) -> Option<(Place, AttemptId)> {
    let is_meant = |at: &Place| match place {
        Some(place) => place == at,
        // Without a place a wait is meant only if nothing else could be.
        None => state.open_gates().next().is_none() && state.waits().count() == 1,
    };
    let (_, wait) = state.waits().find(|(frame, _)| is_meant(&frame.place()))?;
    (!state.is_given_up()).then(|| (wait.began.place.clone(), wait.began.attempt))
}

/// Ends a wait early. The same session continues with the note, unless the person chose another agent.
fn cut_short(
    scratch: &mut Scratch<'_>,
    by: &By,
    place: Place,
    attempt: AttemptId,
    &Wish { note, agent, from }: &Wish<'_>,
) -> Answer {
    if from.is_some() {
        return Answer::Refused(format!(
            "`{place}` waits, and runs no commands: `retry` without `--from` goes on"
        ));
    }
    if agent.is_none()
        && !note.trim().is_empty()
        && let refused @ Answer::Refused(_) = super::note(scratch, by, Some(&place), note)
    {
        return refused;
    }
    let text = format!("`{place}` is tried again");
    // With the same agent the note was recorded above and reaches the running session; a new agent reads it in its handover.
    let note = agent.map_or_else(String::new, |_| note.to_owned());
    let (who, agent) = (Some(who(by)), agent.cloned());
    scratch.emit(Event::WaitEnded(WaitEnded { place, attempt, who, agent, note }));
    Answer::Accepted(text)
}

/// Skips what blocks the run: the topmost helper, otherwise the phase.
pub(in crate::engine) fn skip(
    scratch: &mut Scratch<'_>,
    by: &By,
    place: Option<&Place>,
    note: &str,
) -> Answer {
    if let Some(answer) = steps::skip(scratch, by, place, note) {
        return answer;
    }
    let (gate, skipped) = match held(scratch.state(), place).and_then(|(gate, frame)| {
        let skipped = skipped(scratch.state(), gate, frame).map_err(Answer::Refused)?;
        Ok((gate, skipped))
    }) {
        Ok(found) => found,
        Err(refusal) => return refusal,
    };
    emit_answer(scratch, by, gate, GateAnswer::Skip, note);
    match skipped {
        Skipped::Phase(place) => Answer::Accepted(match step_around(scratch.state(), &place) {
            Some(step) => format!(
                "`{place}` is skipped, and what was done there so far is merged with the rest of `{step}`"
            ),
            None => format!("`{place}` is skipped"),
        }),
        Skipped::Wanted(persona) => Answer::Accepted(format!("the help of `{persona}` is skipped")),
        Skipped::Help(place, persona) => {
            let text = format!("the help of `{persona}` is skipped");
            scratch.emit(Event::FollowUpEnded {
                place,
                persona,
                outcome: Outcome::from(SKIPPED),
                summary: note.to_owned(),
                by: Mover::Person,
            });
            Answer::Accepted(text)
        }
    }
}

/// The step that a phase is inside of.
fn step_around(state: &State, place: &Place) -> Option<Place> {
    let (pool, _, step) = state.step_at(&place.frame())?;
    Some(pool.of_step(&step.id))
}

enum Skipped {
    /// The phase's own work.
    Phase(Place),
    /// Help that has not started.
    Wanted(String),
    /// Help that could not continue.
    Help(Place, String),
}

fn skipped(state: &State, gate: GateId, frame: &Frame) -> Result<Skipped, String> {
    let place = frame.place();
    let opened = state.gate(gate).ok_or_else(|| format!("there is no gate {gate}"))?;
    if opened.opened.gate_kind != GateKind::Intervention {
        return Err(instead(state, opened));
    }
    if let Stage::Gated { held, .. } = &frame.stage
        && let Stage::BrokeOff { parting: Break::FollowUp(wanted) } = &**held
    {
        return Ok(Skipped::Wanted(wanted.persona.clone()));
    }
    if let Stage::Gated { held, .. } = &frame.stage
        && let Stage::Left(WayOut { target: Some(to), .. }) = &**held
    {
        // The worker's target stands. If its edge was taken too often, skipping would only open the same gate again.
        if opened.opened.lack == Some(Lack::Rounds) {
            return Err(format!(
                "`{place}` would be left for `{to}` again, which has reached its limit: `go` with \
                 `--loops` allows more, `go` with another phase goes elsewhere"
            ));
        }
        return Ok(Skipped::Phase(place));
    }
    if let Some(helper) = frame.helper() {
        return Ok(Skipped::Help(place, helper.persona.clone()));
    }
    let phase = state.phase_at(&place);
    let phase =
        phase.ok_or_else(|| format!("there is no phase at `{place}`: use `go` with a phase"))?;
    resolve(phase, None, &Outcome::from("complete"))
        .map_err(|why| format!("{why}: use `go` with a phase"))?;
    Ok(Skipped::Phase(place))
}

fn held<'a>(state: &'a State, place: Option<&Place>) -> Result<(GateId, &'a Frame), Answer> {
    refuse_over(state)?;
    gated_frame(state, place).map_err(Answer::Refused)
}

/// The gate and frame that `retry` means: at the place, or the only one that is held.
fn gated_frame<'a>(state: &'a State, place: Option<&Place>) -> Result<(GateId, &'a Frame), String> {
    let held = state.frames.values().filter_map(|frame| {
        let Stage::Gated { gate, .. } = &frame.stage else { return None };
        Some((*gate, frame))
    });
    let held: Vec<(GateId, &Frame)> = held.collect();
    let meant = held.iter().filter(|(_, frame)| place.is_none_or(|place| frame.place() == *place));
    let meant: Vec<_> = meant.collect();
    match meant.as_slice() {
        [found] => Ok(**found),
        [_, _, ..] => Err(format!(
            "several places wait for a person, name one: {}",
            places(held.iter().map(|(_, frame)| frame.place()))
        )),
        [] => Err(match place {
            Some(place) => steps::no_phase(state, place).unwrap_or_else(|| {
                let others = match held.len() {
                    0 => String::new(),
                    _ => format!("; waiting: {}", places(held.iter().map(|(_, it)| it.place()))),
                };
                format!("`{place}` does not wait for a person{others}")
            }),
            None => match state.open_gates().next() {
                Some(gate) => instead(state, gate),
                None => "no place waits for a person".to_owned(),
            },
        }),
    }
}

/// The first of some places, for a sentence.
fn places(all: impl Iterator<Item = Place>) -> String {
    let all: Vec<String> = all.map(|place| format!("`{place}`")).collect();
    let more = if all.len() > PLACES_MAX { ", …" } else { "" };
    format!("{}{more}", all.iter().take(PLACES_MAX).cloned().collect::<Vec<_>>().join(", "))
}

/// Moves to another phase. A live worker is stopped first; then the move follows by itself.
pub(in crate::engine) fn go(
    scratch: &mut Scratch<'_>,
    by: &By,
    place: &Place,
    note: &str,
) -> Answer {
    let state = scratch.state();
    let frame = match refuse_over(state).and_then(|()| way(state, place).map_err(Answer::Refused)) {
        Ok(frame) => frame,
        Err(refusal) => return refusal,
    };
    let sent = Sent { to: place.phase(), who: who(by), note: note.to_owned() };
    let hindrance = sent::hindrance(state, &frame.path);
    let moved = if hindrance.is_some() {
        let (who, note) = (sent.who.clone(), sent.note.clone());
        // Recorded at once, carried out later: the person's order must not depend on their terminal staying open.
        Event::GoAsked { place: place.clone(), who, note }
    } else {
        sent::edge(frame, &sent)
    };
    for event in sent::answers(state, &frame.path, &sent).into_iter().chain([moved]) {
        scratch.emit(event);
    }
    // What hinders a run that is `ready` was never started, and is gone as soon as this is written down.
    let when = hindrance.filter(|_| !scratch.state().is_ready);
    let when = when.map_or_else(String::new, |first| format!(" {first}"));
    Answer::Accepted(format!("going to `{place}`{when}"))
}

/// The frame that a person means, if it has that phase.
fn way<'s>(state: &'s State, place: &Place) -> Result<&'s Frame, String> {
    let frame = state.frames.get(&place.frame()).ok_or_else(|| {
        let other = || format!("the run is not inside `{}`", place.frame().as_str());
        steps::no_phase(state, place).unwrap_or_else(other)
    })?;
    check_phase(state, frame, &place.phase())?;
    Ok(frame)
}

fn check_phase(state: &State, frame: &Frame, to: &PhaseId) -> Result<(), String> {
    let Some(workflow) = state.workflow(&frame.workflow) else { return Ok(()) };
    if to.as_str() == DONE || workflow.phase(to).is_some() {
        return Ok(());
    }
    let known: Vec<String> =
        workflow.phases.iter().map(|phase| format!("`{}`", phase.id)).collect();
    Err(format!("workflow `{}` has no phase `{to}`; it has {}", workflow.name, known.join(", ")))
}
