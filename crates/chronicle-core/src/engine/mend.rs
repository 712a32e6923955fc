//! What follows an attempt that ended without leaving its phase.

use std::sync::Arc;

use super::attempt::attempt;
use super::fallback::fall_back;
use super::gate::intervene;
use super::out::take;
use super::wait;
use crate::base::ids::{AttemptId, DONE, Outcome, PhaseId};
use crate::definition::workflow::{Phase, PhaseKind};
use crate::event::wait::WaitBegan;
use crate::event::{Crash, CrashClass, End, Event, StopCause, Why};
use crate::state::{Attempt, Frame, Repeat, State, StepWork, WayOut};
use crate::words;

/// Attempts of one visit that may be stopped because a tool call was open for too long.
const TOOL_STOPS_MAX: usize = 2;

pub(super) fn mend(state: &State, frame: &Frame, id: AttemptId, end: &End) -> Event {
    let place = frame.place();
    let (Some(phase), Some(broken)) = (state.phase_at(&place), state.attempt(id)) else {
        return intervene(state, frame, words::no_such_phase(&place));
    };
    match end {
        End::Stopped => attempt(state, frame, Why::Paused),
        End::StoppedBy(StopCause::Budget) => attempt(state, frame, Why::Raised),
        End::StoppedBy(StopCause::Asks) => match frame.questions.last() {
            Some(gate) => attempt(state, frame, Why::Answered { gate: *gate }),
            // Its question was taken back before it was stopped, so there is no answer to tell.
            None => attempt(state, frame, Why::Paused),
        },
        // The decision to stop it stands although it died before it was stopped. If it made progress after all, it counts as
        // lost like any other.
        End::Lost if broken.stop == Some(StopCause::Repeats) && turns(frame) => {
            circle(state, frame, phase)
        }
        End::Lost if broken.stop == Some(StopCause::Standstill) && stands(frame) => {
            standstill(state, frame, phase)
        }
        // What ran is not undone by the death of whoever saw it.
        End::Lost | End::StoppedBy(_) if broken.stop == Some(StopCause::Unjudged) => {
            let end = End::StoppedBy(StopCause::Unjudged);
            intervene(state, frame, words::needs_person(phase, frame, &end, "", &broken.said))
        }
        // A worker whose command kills the machine or the supervisor would otherwise be resumed without end.
        End::Lost if frame.worker.counters.losses <= phase.limits.losses => {
            attempt(state, frame, Why::Lost)
        }
        End::Lost => intervene(state, frame, words::lost_too_often(phase, frame)),
        // Never restarted automatically: something of it may still be working on the same files.
        End::Unclear { .. } => {
            intervene(state, frame, words::needs_person(phase, frame, end, "", &broken.said))
        }
        End::StoppedBy(StopCause::Timeout) => {
            edge_or_person(state, frame, phase, broken, "timeout", end)
        }
        End::StoppedBy(StopCause::Repeats) => circle(state, frame, phase),
        End::StoppedBy(StopCause::Standstill) => standstill(state, frame, phase),
        End::StoppedBy(StopCause::Idle | StopCause::Tool) if has_edge(phase, "stuck") => {
            edge_or_person(state, frame, phase, broken, "stuck", end)
        }
        // Each such call may take as long as `limits.tool` says: what hung twice is not tried until all retries are used up.
        End::StoppedBy(StopCause::Tool) if tool_stops(state, frame) >= TOOL_STOPS_MAX => {
            edge_or_person(state, frame, phase, broken, "stuck", end)
        }
        // What failed because its folder was gone is tried in the one that was made again.
        End::CommandFailed { .. } if may_redo(frame, phase) => {
            attempt(state, frame, Why::Lacking { missing: words::work_is_gone().to_owned() })
        }
        End::CommandFailed { .. } => mend_command(state, frame, phase, broken),
        End::Crashed(crash) => mend_crash(state, frame, phase, broken, crash),
        // Our own decisions never lead here with the last three. A ledger that says so leads to another try, not to success.
        End::StoppedBy(
            StopCause::Idle | StopCause::Tool | StopCause::Grace | StopCause::Unjudged,
        )
        | End::Left
        | End::BrokeOff
        | End::CommandsDone => again(state, frame, phase, broken, end),
    }
}

/// True if the folder of the work was removed under it, and it may be sent back for that once more.
fn may_redo(frame: &Frame, phase: &Phase) -> bool {
    frame.evidence.lost && frame.worker.counters.lacking < phase.limits.nudges
}

/// How many attempts of this visit were stopped because a tool call was open for too long. Progress does not reset it.
fn tool_stops(state: &State, frame: &Frame) -> usize {
    let place = frame.place();
    let before = state.visit_at(&place).map_or(0, |visit| visit.attempts_before);
    let stopped = |attempt: &&Arc<Attempt>| {
        let is_new = usize::try_from(attempt.intent.attempt.0).is_ok_and(|it| it > before);
        let is_here = is_new && attempt.intent.place == place;
        let end = attempt.ended.as_ref().map(|(end, _)| end);
        is_here && end == Some(&End::StoppedBy(StopCause::Tool))
    };
    state.attempts.iter().filter(stopped).count()
}

/// The worker or person that fixes it is told which command failed and how it ended.
fn mend_command(state: &State, frame: &Frame, phase: &Phase, broken: &Attempt) -> Event {
    let outcome = Outcome::from("fail");
    let said = words::command_failed(phase, broken.failed_command.as_ref());
    // The check of a merge, or the setup of a folder: its failure is the step's.
    if is_step_check(state, frame) {
        return take(state, frame, &PhaseId::from(DONE), &WayOut::new(outcome, said));
    }
    match phase.on.get(&outcome) {
        Some(to) => take(state, frame, to, &WayOut::new(outcome, said)),
        None => intervene(state, frame, said),
    }
}

/// True for a frame that only sets up the folder of a step, verifies its merge or judges a racer.
fn is_step_check(state: &State, frame: &Frame) -> bool {
    match state.step_work(frame) {
        Some(StepWork::Setup | StepWork::Verify | StepWork::Judge) => true,
        Some(StepWork::Own | StepWork::Resolve) | None => false,
    }
}

fn mend_crash(
    state: &State,
    frame: &Frame,
    phase: &Phase,
    broken: &Attempt,
    crash: &Crash,
) -> Event {
    let end = End::Crashed(crash.clone());
    let may_wait = frame.worker.counters.waits < phase.limits.waits;
    match crash.class {
        // Only once: a fresh session that is gone too counts as a crash below, or this would go on without a limit.
        CrashClass::SessionGone if broken.intent.resume => attempt(state, frame, Why::SessionGone),
        // A quota may take hours to reset. Another agent that can work now does not have to wait for it.
        CrashClass::Quota if may_wait => fall_back(state, frame, phase, broken, &end)
            .unwrap_or_else(|| wait(state, frame, broken, crash)),
        // Only time helps here, so it does not count as a crash.
        CrashClass::Overload | CrashClass::Unreachable if may_wait => {
            wait(state, frame, broken, crash)
        }
        CrashClass::Refused if may_redo(frame, phase) => again(state, frame, phase, broken, &end),
        // Trying again cannot help: the program is missing, rejects the request or lets nobody judge its tools, nobody is signed in,
        // or all waits are used up.
        CrashClass::CannotStart
        | CrashClass::Auth
        | CrashClass::Refused
        | CrashClass::Unguarded
        | CrashClass::Quota
        | CrashClass::Overload
        | CrashClass::Unreachable => give_up(state, frame, phase, broken, &end),
        // A person at once, before any other agent and the workflow's own edge: something was done that nobody had judged.
        CrashClass::Unjudged => {
            intervene(state, frame, words::needs_person(phase, frame, &end, "", &broken.said))
        }
        CrashClass::ContextFull => out_of_context(state, frame, phase, &end),
        // What broke the rules once is in the session: it would only go on there. A session that was gone as soon as it began
        // cannot be resumed either.
        CrashClass::Protocol | CrashClass::SessionGone => afresh(state, frame, phase, broken, &end),
        CrashClass::NoSignal | CrashClass::Died | CrashClass::Other => {
            again(state, frame, phase, broken, &end)
        }
    }
}

/// It repeats a call. If it had changed files without reporting them, there was progress after all.
fn circle(state: &State, frame: &Frame, phase: &Phase) -> Event {
    // The tree after the attempt showed changed files, which cleared the counts: it was not a circle after all.
    if !turns(frame) {
        return attempt(state, frame, Why::Progressed);
    }
    if frame.progress.is_used_up() {
        return stuck(state, frame, phase, words::never_leaves(phase, &frame.progress));
    }
    stuck(state, frame, phase, words::repeated(phase, most_made(frame)))
}

/// It made no progress in time, with the same exception.
fn standstill(state: &State, frame: &Frame, phase: &Phase) -> Event {
    if !stands(frame) {
        return attempt(state, frame, Why::Progressed);
    }
    if frame.progress.is_used_up() {
        return stuck(state, frame, phase, words::never_leaves(phase, &frame.progress));
    }
    let said = words::stands_still(phase, frame.worker.still.before_ms, most_made(frame));
    stuck(state, frame, phase, said)
}

/// True if there was no progress since the repeated calls.
fn turns(frame: &Frame) -> bool {
    !frame.worker.repeats.is_empty()
}

/// True if there was no progress in its time.
fn stands(frame: &Frame) -> bool {
    frame.worker.still.before_ms > 0
}

fn most_made(frame: &Frame) -> Option<&Repeat> {
    // The one that was made most often is shown: it tells a person best what the worker was stuck at.
    frame.worker.repeats.iter().max_by_key(|call| call.count)
}

/// A reminder or a fresh start would repeat the same: the workflow's own edge, or a person.
fn stuck(state: &State, frame: &Frame, phase: &Phase, said: String) -> Event {
    let outcome = Outcome::from("stuck");
    match phase.on.get(&outcome) {
        Some(to) => take(state, frame, to, &WayOut::new(outcome, said)),
        None => intervene(state, frame, said),
    }
}

/// Waits until the quota resets, or the service has room or can be reached.
fn wait(state: &State, frame: &Frame, broken: &Attempt, crash: &Crash) -> Event {
    let number = frame.worker.counters.waits.saturating_add(1);
    // The time of a quota means nothing for an overloaded service.
    let named = broken.quota_until.filter(|_| crash.class == CrashClass::Quota);
    let asked_ms = broken.retry_after_ms.unwrap_or(0);
    // Counted from the time of this input: the core has no clock, and the line must give the same end when it is decided again.
    let (wait_kind, until) = wait::after(named, asked_ms, number, state.updated_at);
    let (place, attempt) = (frame.place(), broken.intent.attempt);
    Event::WaitBegan(WaitBegan { place, attempt, wait_kind, until, number })
}

/// The same session would be too long again: a fresh one continues.
fn out_of_context(state: &State, frame: &Frame, phase: &Phase, end: &End) -> Event {
    if frame.worker.counters.continuations >= phase.limits.continuations {
        return intervene(state, frame, words::full_too_often(phase, frame, end));
    }
    let (progress, point) = words::out_of_context();
    attempt(state, frame, Why::Continued { progress, point })
}

/// First reminders in the same session, then fresh sessions, then the agent is given up.
fn again(state: &State, frame: &Frame, phase: &Phase, broken: &Attempt, end: &End) -> Event {
    let counters = &frame.worker.counters;
    if phase.run == PhaseKind::Worker
        // Reminders belong to the first session. After a fresh start the next failure leads to the next fresh start.
        && counters.retries == 0
        && counters.nudges < phase.limits.nudges
    {
        let number = counters.nudges + 1;
        let ended_its_turn = |crash: &Crash| crash.class == CrashClass::NoSignal;
        let is_reminded = matches!(end, End::Crashed(crash) if ended_its_turn(crash));
        let why = if is_reminded { Why::Nudge { number } } else { Why::Again { number } };
        return attempt(state, frame, why);
    }
    afresh(state, frame, phase, broken, end)
}

/// Fresh starts, then the workflow's own answer to a crash or a person.
fn afresh(state: &State, frame: &Frame, phase: &Phase, broken: &Attempt, end: &End) -> Event {
    let number = frame.worker.counters.retries + 1;
    if number <= phase.limits.retries {
        return attempt(state, frame, Why::Retry { number });
    }
    give_up(state, frame, phase, broken, end)
}

/// This agent cannot continue: the next one takes over. After the last, the workflow's own edge for a crash, or a person.
fn give_up(state: &State, frame: &Frame, phase: &Phase, broken: &Attempt, end: &End) -> Event {
    // Another agent before the workflow's own `on: crash`: that edge is for a phase that cannot be done, not for one agent that
    // cannot.
    fall_back(state, frame, phase, broken, end)
        .unwrap_or_else(|| edge_or_person(state, frame, phase, broken, "crash", end))
}

fn has_edge(phase: &Phase, outcome: &str) -> bool {
    phase.on.contains_key(&Outcome::from(outcome))
}

/// Takes the workflow's edge for this outcome, otherwise asks a person.
fn edge_or_person(
    state: &State,
    frame: &Frame,
    phase: &Phase,
    broken: &Attempt,
    outcome: &str,
    end: &End,
) -> Event {
    let outcome = Outcome::from(outcome);
    // Whatever keeps the commands from judging one racer says nothing of the others.
    if state.step_work(frame) == Some(StepWork::Judge) {
        let said = words::not_judged(frame, end);
        return take(state, frame, &PhaseId::from(DONE), &WayOut::new(outcome, said));
    }
    match phase.on.get(&outcome) {
        Some(to) => take(state, frame, to, &WayOut::new(outcome, words::ended(frame, end))),
        None => intervene(state, frame, words::given_up(phase, frame, end, &broken.said)),
    }
}
