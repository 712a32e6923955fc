//! What follows by itself: one table over the stages of frames.

use super::scratch::Scratch;
use super::target::resolve;
use crate::event::{
    AttemptStarted, Crash, CrashClass, EdgeTaken, End, Event, GateKind, GateOpened, Mover,
    StopCause, Why,
};
use crate::ids::{
    AttemptId, DONE, FramePath, HUMAN_INTERVENTION, Outcome, PhaseId, Place, RunId, SessionId,
};
use crate::limits::{DECISION_EVENTS_MAX, LoopCount};
use crate::state::{Attempt, Frame, Stage, State};
use crate::words;
use crate::workflow::{Phase, PhaseKind};

/// What the attempts of command phases are called where others have an agent.
pub const SHELL: &str = "shell";

/// Adds what follows until nothing does. A workflow that turns without ever working is held for a person.
pub(super) fn advance(scratch: &mut Scratch<'_>) {
    if !scratch.is_changed() {
        return;
    }
    while let Some(event) = follows(scratch.state()) {
        if scratch.count() >= DECISION_EVENTS_MAX {
            hold_all(scratch);
            return;
        }
        scratch.emit(event);
    }
}

fn hold_all(scratch: &mut Scratch<'_>) {
    let turning: Vec<FramePath> = scratch.state().frames.keys().cloned().collect();
    for path in turning {
        let state = scratch.state();
        if let Some(frame) = state.frames.get(&path)
            && next_of(state, frame).is_some()
        {
            let event = intervene(state, frame, words::TURNS_WITHOUT_WORK.to_owned());
            scratch.emit(event);
        }
    }
}

/// The next event that needs nobody's word; none when the run waits for the world or for a person.
fn follows(state: &State) -> Option<Event> {
    if state.done
        || state.cancelled.is_some()
        || state.paused.is_some()
        || state.trees.undo.is_some()
    {
        return None;
    }
    if state.frames.get(&FramePath::root())?.stage == Stage::Ended {
        return Some(Event::RunDone);
    }
    state.frames.values().find_map(|frame| next_of(state, frame))
}

fn next_of(state: &State, frame: &Frame) -> Option<Event> {
    if state.trees.is_awaited_at(&frame.path) {
        return None;
    }
    match &frame.stage {
        Stage::Bound => Some(enter(state, frame)),
        Stage::Entered { approved } => Some(begin(state, frame, *approved)),
        Stage::Ready { why } => Some(start(state, frame, why.clone())),
        Stage::Broken { attempt, end } => Some(mend(state, frame, *attempt, end)),
        Stage::Left { target, outcome, summary, approved } => {
            Some(leave(state, frame, (target.as_ref(), outcome, summary), *approved))
        }
        Stage::Refused { note } => Some(refused(state, frame, note)),
        Stage::Working { .. } | Stage::Inside | Stage::Gated { .. } | Stage::Ended => None,
    }
}

fn enter(state: &State, frame: &Frame) -> Event {
    match frame.phase.as_str() {
        DONE => Event::FrameEnded { frame: frame.path.clone(), summary: frame.summary.clone() },
        HUMAN_INTERVENTION => intervene(state, frame, words::worker_asked(&frame.summary)),
        _ => Event::PhaseEntered { place: frame.place() },
    }
}

fn begin(state: &State, frame: &Frame, approved: bool) -> Event {
    let place = frame.place();
    let Some(phase) = state.phase_at(&place) else {
        return intervene(state, frame, words::no_such_phase(&place));
    };
    if phase.approval.is_before() && !approved {
        return gate(state, frame, GateKind::ApprovalBefore, words::may_begin(phase));
    }
    match (phase.run, &phase.workflow) {
        (PhaseKind::Worker | PhaseKind::Command, _) => attempt(state, frame, Why::First),
        (PhaseKind::Workflow, Some(key)) if state.workflow(key).is_some() => {
            Event::FrameEntered { frame: place.frame_below(), workflow: key.clone() }
        }
        (PhaseKind::Workflow | PhaseKind::Inline | PhaseKind::Pool | PhaseKind::Human, _) => {
            intervene(state, frame, words::cannot_run(phase))
        }
    }
}

/// Tries a phase again: an attempt, or the workflow inside it from its beginning.
fn start(state: &State, frame: &Frame, why: Why) -> Event {
    match state.phase_at(&frame.place()).map(|phase| phase.run) {
        Some(PhaseKind::Worker | PhaseKind::Command) | None => attempt(state, frame, why),
        Some(PhaseKind::Workflow | PhaseKind::Inline | PhaseKind::Pool | PhaseKind::Human) => {
            begin(state, frame, true)
        }
    }
}

fn attempt(state: &State, frame: &Frame, why: Why) -> Event {
    let place = frame.place();
    let Some(phase) = state.phase_at(&place) else {
        return intervene(state, frame, words::no_such_phase(&place));
    };
    let tries = tries_at(state, &place);
    let same_try = why.is_same_try() && tries > 0;
    let by_itself = !matches!(why, Why::First | Why::Asked { .. });
    if phase.once && by_itself && frame.session.is_some() {
        return intervene(state, frame, words::once_only(phase));
    }
    let id = state.next_attempt();
    let known = frame.session.clone().filter(|_| resumes(frame, &why, phase));
    Event::AttemptStarted(AttemptStarted {
        attempt: id,
        try_number: if same_try { tries } else { tries + 1 },
        agent: agent_of(state, frame, phase),
        resume: known.is_some(),
        session: known.unwrap_or_else(|| new_session(state, id)),
        first_command: if same_try { frame.counters.commands_done } else { 0 },
        recorded: true,
        place,
        why,
    })
}

/// Logical tries at a place so far, over all visits: what was lost or paused is the same try going on.
fn tries_at(state: &State, place: &Place) -> u32 {
    state.tally(place).map_or(0, |tally| tally.tries)
}

/// Whether an attempt goes on in the session before it. One that ended before our eyes has a session only if it said so;
/// of one that was lost or stopped we may have missed it.
fn resumes(frame: &Frame, why: &Why, phase: &Phase) -> bool {
    phase.run == PhaseKind::Worker
        && match why {
            Why::Lost | Why::Paused => true,
            Why::Nudge { .. } | Why::Rejected { .. } => frame.session_seen,
            Why::First | Why::Retry { .. } | Why::SessionGone | Why::Asked { .. } => false,
        }
}

fn agent_of(state: &State, frame: &Frame, phase: &Phase) -> String {
    if phase.run == PhaseKind::Command {
        return SHELL.to_owned();
    }
    let of_workflow = || state.workflow(&frame.workflow)?.agent.clone();
    let of_run = || state.run.as_ref().map(|run| run.agent.clone());
    phase.agent.clone().or_else(of_workflow).or_else(of_run).unwrap_or_default()
}

/// A session id of our choosing, from the run and the attempt, in the shape of a UUID.
fn new_session(state: &State, attempt: AttemptId) -> SessionId {
    let run = state.run.as_ref().map_or_else(|| RunId::from(""), |run| run.run.clone());
    let hash = blake3::hash(format!("session {run} {attempt}").as_bytes());
    let mut bytes: Vec<u8> = hash.as_bytes()[..16].to_vec();
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

/// An attempt ended, and not by leaving.
fn mend(state: &State, frame: &Frame, id: AttemptId, end: &End) -> Event {
    let place = frame.place();
    let (Some(phase), Some(broken)) = (state.phase_at(&place), state.attempt(id)) else {
        return intervene(state, frame, words::no_such_phase(&place));
    };
    match end {
        End::Stopped => attempt(state, frame, Why::Paused),
        End::Lost if frame.counters.losses <= phase.limits.losses => {
            attempt(state, frame, Why::Lost)
        }
        End::Lost => intervene(state, frame, words::lost_too_often(phase)),
        End::Unclear { .. } => intervene(state, frame, words::needs_person(phase, end)),
        End::StoppedBy(StopCause::Timeout) => edge_or_person(state, frame, phase, "timeout", end),
        End::StoppedBy(StopCause::Idle) if has_edge(phase, "stuck") => {
            edge_or_person(state, frame, phase, "stuck", end)
        }
        End::CommandFailed { .. } => mend_command(state, frame, phase, broken),
        End::Crashed(crash) => mend_crash(state, frame, (phase, broken), crash),
        End::StoppedBy(StopCause::Idle | StopCause::Grace) | End::Left | End::CommandsDone => {
            again(state, frame, phase, end)
        }
    }
}

/// Whoever mends it, a worker or a person, is told which command failed and how it ended.
fn mend_command(state: &State, frame: &Frame, phase: &Phase, broken: &Attempt) -> Event {
    let outcome = Outcome::from("fail");
    let said = words::command_failed(phase, broken.failed_command.as_ref());
    match phase.on.get(&outcome) {
        Some(to) => take(state, frame, to, (&outcome, &said)),
        None => intervene(state, frame, said),
    }
}

fn mend_crash(
    state: &State,
    frame: &Frame,
    (phase, broken): (&Phase, &Attempt),
    crash: &Crash,
) -> Event {
    let end = End::Crashed(crash.clone());
    match crash.class {
        CrashClass::SessionGone if broken.intent.resume => attempt(state, frame, Why::SessionGone),
        // Trying again cannot help: the program is missing, or nobody is signed in.
        CrashClass::CannotStart | CrashClass::Auth => {
            edge_or_person(state, frame, phase, "crash", &end)
        }
        CrashClass::NoSignal
        | CrashClass::Died
        | CrashClass::SessionGone
        | CrashClass::Quota
        | CrashClass::Overload
        | CrashClass::ContextFull
        | CrashClass::Protocol
        | CrashClass::Other => again(state, frame, phase, &end),
    }
}

/// First reminders in the same session, then fresh starts, then the workflow's own answer to a crash or a person.
fn again(state: &State, frame: &Frame, phase: &Phase, end: &End) -> Event {
    let counters = &frame.counters;
    if phase.run == PhaseKind::Worker
        && counters.retries == 0
        && counters.nudges < phase.limits.nudges
    {
        return attempt(state, frame, Why::Nudge { number: counters.nudges + 1 });
    }
    if counters.retries < phase.limits.retries {
        return attempt(state, frame, Why::Retry { number: counters.retries + 1 });
    }
    edge_or_person(state, frame, phase, "crash", end)
}

fn has_edge(phase: &Phase, outcome: &str) -> bool {
    phase.on.contains_key(&Outcome::from(outcome))
}

/// Takes the edge that the workflow has for this outcome, else asks a person.
fn edge_or_person(state: &State, frame: &Frame, phase: &Phase, outcome: &str, end: &End) -> Event {
    let outcome = Outcome::from(outcome);
    match phase.on.get(&outcome) {
        Some(to) => take(state, frame, to, (&outcome, &words::end(end))),
        None => intervene(state, frame, words::needs_person(phase, end)),
    }
}

fn leave(
    state: &State,
    frame: &Frame,
    (target, outcome, summary): (Option<&PhaseId>, &Outcome, &str),
    approved: bool,
) -> Event {
    let place = frame.place();
    let Some(phase) = state.phase_at(&place) else {
        return intervene(state, frame, words::no_such_phase(&place));
    };
    if phase.approval.is_after() && !approved {
        return gate(state, frame, GateKind::ApprovalAfter, words::may_leave(phase, summary));
    }
    match target.map_or_else(|| resolve(phase, None, outcome), |target| Ok(target.clone())) {
        Ok(to) => take(state, frame, &to, (outcome, summary)),
        Err(why) => intervene(state, frame, why),
    }
}

fn refused(state: &State, frame: &Frame, note: &str) -> Event {
    let rejected = Outcome::from("rejected");
    let on = state.phase_at(&frame.place()).and_then(|phase| phase.on.get(&rejected));
    match on {
        Some(to) => take(state, frame, to, (&rejected, note)),
        None => intervene(state, frame, words::rejected_before(note)),
    }
}

/// Takes an edge, unless it has been taken too often.
fn take(state: &State, frame: &Frame, to: &PhaseId, (outcome, summary): (&Outcome, &str)) -> Event {
    let from = &frame.phase;
    let limit = state.phase_at(&frame.place()).map(|phase| phase.limits.loops);
    if let Some(limit) = limit
        && is_phase(to)
    {
        let back = match limit.count {
            LoopCount::Pair if from != to => frame.taken(to, from),
            LoopCount::Pair | LoopCount::Edge => 0,
        };
        let taken = frame.taken(from, to) + back;
        if taken >= limit.max {
            return intervene(state, frame, words::looping(from, to, taken, limit.count));
        }
    }
    Event::EdgeTaken(EdgeTaken {
        frame: frame.path.clone(),
        from: from.clone(),
        to: to.clone(),
        outcome: outcome.clone(),
        summary: summary.to_owned(),
        by: Mover::Run,
    })
}

fn is_phase(target: &PhaseId) -> bool {
    ![DONE, HUMAN_INTERVENTION].contains(&target.as_str())
}

fn intervene(state: &State, frame: &Frame, about: String) -> Event {
    gate(state, frame, GateKind::Intervention, about)
}

fn gate(state: &State, frame: &Frame, gate_kind: GateKind, about: String) -> Event {
    Event::GateOpened(GateOpened {
        gate: state.next_gate(),
        place: frame.place(),
        gate_kind,
        about,
    })
}
