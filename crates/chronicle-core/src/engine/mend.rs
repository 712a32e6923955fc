//! An attempt ended, and not by leaving: who goes on, and where.

use super::attempt::attempt;
use super::gate::intervene;
use super::out::take;
use super::wait;
use crate::base::ids::{AttemptId, Outcome};
use crate::definition::workflow::{Phase, PhaseKind};
use crate::event::wait::WaitBegan;
use crate::event::{Crash, CrashClass, End, Event, StopCause, Why};
use crate::state::{Attempt, Frame, Repeat, State, WayOut};
use crate::words;

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
            None => attempt(state, frame, Why::Paused),
        },
        // What was decided stands, though it died before it was ended. If it got on after all, it is lost as any other.
        End::Lost if broken.stop == Some(StopCause::Repeats) && turns(frame) => {
            circle(state, frame, phase)
        }
        End::Lost if broken.stop == Some(StopCause::Standstill) && stands(frame) => {
            standstill(state, frame, phase)
        }
        End::Lost if frame.worker.counters.losses <= phase.limits.losses => {
            attempt(state, frame, Why::Lost)
        }
        End::Lost => intervene(state, frame, words::lost_too_often(phase)),
        End::Unclear { .. } => intervene(state, frame, words::needs_person(phase, end)),
        End::StoppedBy(StopCause::Timeout) => edge_or_person(state, frame, phase, "timeout", end),
        End::StoppedBy(StopCause::Repeats) => circle(state, frame, phase),
        End::StoppedBy(StopCause::Standstill) => standstill(state, frame, phase),
        End::StoppedBy(StopCause::Idle | StopCause::Tool) if has_edge(phase, "stuck") => {
            edge_or_person(state, frame, phase, "stuck", end)
        }
        End::CommandFailed { .. } => mend_command(state, frame, phase, broken),
        End::Crashed(crash) => mend_crash(state, frame, (phase, broken), crash),
        End::StoppedBy(StopCause::Idle | StopCause::Tool | StopCause::Grace)
        | End::Left
        | End::BrokeOff
        | End::CommandsDone => again(state, frame, phase, end),
    }
}

/// Whoever mends it, a worker or a person, is told which command failed and how it ended.
fn mend_command(state: &State, frame: &Frame, phase: &Phase, broken: &Attempt) -> Event {
    let outcome = Outcome::from("fail");
    let said = words::command_failed(phase, broken.failed_command.as_ref());
    match phase.on.get(&outcome) {
        Some(to) => take(state, frame, to, &WayOut::new(outcome, said)),
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
        // Only time mends this, and nobody is to blame.
        CrashClass::Quota | CrashClass::Overload
            if frame.worker.counters.waits < phase.limits.waits =>
        {
            wait(state, frame, broken, crash)
        }
        // Trying again cannot help: the program is missing or does not do what it is asked, nobody is signed in, or it was waited
        // for in vain.
        CrashClass::CannotStart
        | CrashClass::Auth
        | CrashClass::Refused
        | CrashClass::Quota
        | CrashClass::Overload => edge_or_person(state, frame, phase, "crash", &end),
        CrashClass::ContextFull => out_of_context(state, frame, phase),
        CrashClass::NoSignal
        | CrashClass::Died
        | CrashClass::SessionGone
        | CrashClass::Protocol
        | CrashClass::Other => again(state, frame, phase, &end),
    }
}

/// It turns in a circle. Unless it had changed files that nobody told of: then there was progress.
fn circle(state: &State, frame: &Frame, phase: &Phase) -> Event {
    if !turns(frame) {
        return attempt(state, frame, Why::Progressed);
    }
    if frame.progress.is_used_up() {
        return stuck(state, frame, phase, words::never_leaves(phase, &frame.progress));
    }
    stuck(state, frame, phase, words::repeated(phase, most_made(frame)))
}

/// It works, and nothing comes of it; with the same exception.
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

/// Whether nothing has come since the calls that it makes again and again.
fn turns(frame: &Frame) -> bool {
    !frame.worker.repeats.is_empty()
}

/// Whether nothing has come of its time.
fn stands(frame: &Frame) -> bool {
    frame.worker.still.before_ms > 0
}

fn most_made(frame: &Frame) -> Option<&Repeat> {
    frame.worker.repeats.iter().max_by_key(|call| call.count)
}

/// Reminding it or beginning anew would begin the same again: the workflow's own answer, or a person.
fn stuck(state: &State, frame: &Frame, phase: &Phase, said: String) -> Event {
    let outcome = Outcome::from("stuck");
    match phase.on.get(&outcome) {
        Some(to) => take(state, frame, to, &WayOut::new(outcome, said)),
        None => intervene(state, frame, said),
    }
}

/// Until the agent has a quota again, or its service has room.
fn wait(state: &State, frame: &Frame, broken: &Attempt, crash: &Crash) -> Event {
    let number = frame.worker.counters.waits.saturating_add(1);
    let named = broken.quota_until.filter(|_| crash.class == CrashClass::Quota);
    let asked_ms = broken.retry_after_ms.unwrap_or(0);
    let (wait_kind, until) = wait::after(named, asked_ms, number, state.updated_at);
    let (place, attempt) = (frame.place(), broken.intent.attempt);
    Event::WaitBegan(WaitBegan { place, attempt, wait_kind, until, number })
}

/// The same session would be too long again: a fresh one goes on in its place.
fn out_of_context(state: &State, frame: &Frame, phase: &Phase) -> Event {
    let (progress, point) = words::out_of_context();
    if frame.worker.counters.continuations >= phase.limits.continuations {
        return intervene(state, frame, words::continued_too_often(phase, &point));
    }
    attempt(state, frame, Why::Continued { progress, point })
}

/// First reminders in the same session, then fresh starts, then the workflow's own answer to a crash or a person.
fn again(state: &State, frame: &Frame, phase: &Phase, end: &End) -> Event {
    let counters = &frame.worker.counters;
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
        Some(to) => take(state, frame, to, &WayOut::new(outcome, words::end(end))),
        None => intervene(state, frame, words::needs_person(phase, end)),
    }
}
