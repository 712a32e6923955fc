//! Starting attempts: the intent, and which session it continues.
//!
//! Every start comes through `attempt`, so whatever must hold before any of them (budgets, a tree of the files) is checked there.

use super::enter::begin;
use super::gate::{self, intervene};
use crate::base::ids::{AttemptId, Place, RunId, SHELL, SessionId};
use crate::definition::workflow::{Phase, PhaseKind, SessionUse, agent_and_model};
use crate::event::{AttemptStarted, Event, Performer, Why};
use crate::state::budget::{Doing, Shortage, shortage};
use crate::state::{Frame, State};
use crate::words;

/// Starts a phase again: an attempt, or the workflow inside of it from the beginning.
pub(super) fn start(state: &State, frame: &Frame, why: Why) -> Event {
    let is_pool = state.pools.get(&frame.place()).is_some_and(|pool| !pool.left);
    if let (true, Why::Rejected { note }) = (is_pool, &why) {
        // Which steps are to be done again only a person can say.
        return intervene(state, frame, words::pool_rejected(&frame.place(), note));
    }
    match state.phase_at(&frame.place()).map(|phase| phase.run) {
        Some(PhaseKind::Worker | PhaseKind::Command) | None => attempt(state, frame, why),
        Some(
            PhaseKind::Workflow
            | PhaseKind::Inline
            | PhaseKind::Pool
            | PhaseKind::Race
            | PhaseKind::Human,
        ) => begin(state, frame, true),
    }
}

pub(super) fn attempt(state: &State, frame: &Frame, why: Why) -> Event {
    let place = frame.place();
    let Some(phase) = state.phase_at(&place) else {
        return intervene(state, frame, words::no_such_phase(&place));
    };
    // A loss or a pause continues the same try. Only a failure of the work itself begins another one, so a machine that
    // restarts does not use up tries.
    let same_try = why.is_same_try() && frame.worker.try_number > 0;
    // `once` commands may have run partly before a crash. Only a person can find out, so nothing but a person's request
    // starts them again.
    let by_itself = !matches!(why, Why::First | Why::Asked { .. });
    if phase.once && by_itself && frame.worker.session.is_some() {
        return intervene(state, frame, words::once_only(phase, frame));
    }
    // A loop, a new round or a person's `go` leads here again, and none of them says that the commands may run twice.
    if phase.once && why == Why::First && tries_at(state, &place) > 0 {
        return intervene(state, frame, words::once_ran(phase));
    }
    let id = state.next_attempt();
    let agent = agent_of(state, frame, phase);
    // The budget is checked here and nowhere else before a start, so that no way of starting can get around it.
    if let Some(short) = shortage(state, &place, Doing::Begins(&agent, &why)) {
        return gate::budget(state, frame, &short);
    }
    let known = known_session(frame, &why, phase, &agent);
    Event::AttemptStarted(AttemptStarted {
        folder: frame.folder,
        attempt: id,
        try_number: if same_try { frame.worker.try_number } else { tries_at(state, &place) + 1 },
        agent,
        // The id is chosen before the agent runs, so that a crash before its first report leaves a session that can be asked
        // for.
        resume: known.is_some(),
        session: known.unwrap_or_else(|| new_session(state, id)),
        first_command: first_command(frame, phase, &why),
        fallback: frame.worker.fallback.as_ref().map(|it| it.agent.clone()),
        persona: frame.helper().map(|helper| helper.persona.clone()),
        handover: None,
        recorded: true,
        walls: state.walls_for(&place, None).map(Box::new),
        place,
        why,
        performer: performer_of(state, frame),
        chore: None,
    })
}

/// The command that an attempt begins with: where a person says so; else where the same try was. What may run only once and is
/// known to have ended well is not run again by itself, whoever asks for another try.
fn first_command(frame: &Frame, phase: &Phase, why: &Why) -> u32 {
    let done = frame.worker.counters.commands_done;
    match (why, frame.worker.begins_with) {
        (_, Some(number)) => number.saturating_sub(1),
        // A person's retry of `once` commands begins behind those that are known to have succeeded; anything else would run
        // them twice.
        (Why::Asked { .. }, None) if phase.once => done,
        // What they made is gone with their folder.
        (_, None) if frame.evidence.lost => 0,
        (why, None) if why.is_same_try() && frame.worker.try_number > 0 => done,
        (_, None) => 0,
    }
}

/// The performer of the visit's last attempt: only it has the session.
fn performer_of(state: &State, frame: &Frame) -> Performer {
    let place = frame.place();
    let mut before = state.attempts.iter().rev().map(|attempt| &attempt.intent);
    let last = before.find(|intent| intent.place == place && intent.chore.is_none());
    // Whoever performed the last attempt of this visit also has its session.
    last.filter(|_| frame.worker.try_number > 0)
        .map_or_else(Performer::default, |last| last.performer)
}

/// What an attempt held at a budget gate lacks.
pub(super) fn shortage_of(state: &State, frame: &Frame) -> Option<Shortage> {
    let place = frame.place();
    let agent = agent_of(state, frame, state.phase_at(&place)?);
    let short = |why| shortage(state, &place, Doing::Begins(&agent, &why));
    // Both kinds of start are tried: only a new try counts against a budget of attempts, but either may lack money.
    short(Why::Raised).or_else(|| short(Why::First))
}

/// Logical tries at a place over all visits; lost and paused attempts belong to the try that continues.
fn tries_at(state: &State, place: &Place) -> u32 {
    state.tally(place).map_or(0, |tally| tally.tries)
}

/// The session that an attempt continues. An attempt whose end was observed has a session only if it reported one; one that was
/// lost or stopped may have had it unseen. A phase may continue the previous phase's session if it has the same agent.
fn known_session(frame: &Frame, why: &Why, phase: &Phase, agent: &str) -> Option<SessionId> {
    if phase.run != PhaseKind::Worker {
        return None;
    }
    match why {
        // These ended from outside: the session may exist although its report never arrived. If it does not, the agent says so,
        // and the next attempt gets a fresh one.
        Why::Lost | Why::Paused | Why::Raised | Why::Progressed => frame.worker.session.clone(),
        // The end of these was seen. A session that the agent has not named by then does not exist, and cannot be resumed.
        Why::Nudge { .. }
        | Why::Again { .. }
        | Why::Waited
        | Why::Rejected { .. }
        | Why::Unverified { .. }
        | Why::Lacking { .. }
        | Why::Answered { .. }
        | Why::Helped { .. } => frame.worker.session.clone().filter(|_| frame.worker.session_seen),
        // Another agent cannot read the session.
        Why::First if phase.session == SessionUse::Continue => {
            frame.before.as_ref().filter(|(_, by)| by == agent).map(|(session, _)| session.clone())
        }
        // Another agent cannot resume a session that is not its own.
        Why::First
        | Why::Retry { .. }
        | Why::Fallback { .. }
        | Why::SessionGone
        | Why::Asked { .. }
        | Why::Continued { .. }
        | Why::Helps { .. } => None,
    }
}

/// The phase that says with which agents and models the current worker works: that of a helper's persona, else the one it is at.
pub(super) fn phase_of<'s>(state: &'s State, frame: &Frame, phase: &'s Phase) -> &'s Phase {
    let helper = frame.helper();
    helper.and_then(|it| state.phase_of_persona(&frame.place(), &it.persona)).unwrap_or(phase)
}

/// In this order: the agent that took over, the person's choice, the helper's own, the phase's, the workflow's, the run's.
fn agent_of(state: &State, frame: &Frame, phase: &Phase) -> String {
    if phase.run == PhaseKind::Command {
        return SHELL.to_owned();
    }
    let named = named_agent(state, frame, phase);
    agent_and_model(&named).0.to_owned()
}

/// The same with the model that a phase's `fallback` names beside it.
pub(super) fn named_agent(state: &State, frame: &Frame, phase: &Phase) -> String {
    // Before a person's choice and the workflow's: once an agent has given up here, it is not asked again until a person's `retry` or the next visit.
    if let Some(fallback) = &frame.worker.fallback {
        return fallback.agent.clone();
    }
    let of_helper = || phase_of(state, frame, phase).agent.clone();
    let of_workflow = || state.workflow(&frame.workflow)?.agent.clone();
    let of_run = || state.run.as_ref().map(|run| run.agent.clone());
    let chosen = frame.agent.clone().or_else(of_helper).or_else(|| phase.agent.clone());
    chosen.or_else(of_workflow).or_else(of_run).unwrap_or_default()
}

/// A session id in the shape of a UUID, derived from the run and the attempt so that a replay chooses the same.
pub(super) fn new_session(state: &State, attempt: AttemptId) -> SessionId {
    let run = state.run.as_ref().map_or_else(|| RunId::from(""), |run| run.run.clone());
    // Derived, not random: the same decision, made again from the ledger, must give the same id.
    let hash = blake3::hash(format!("session {run} {attempt}").as_bytes());
    let mut bytes: Vec<u8> = hash.as_bytes()[..16].to_vec();
    // Version 8 and the RFC variant: some agents validate the id.
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = |part: &[u8]| part.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    SessionId::new(format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        hex(&bytes[..4]),
        hex(&bytes[4..6]),
        hex(&bytes[6..8]),
        hex(&bytes[8..10]),
        hex(&bytes[10..])
    ))
}
