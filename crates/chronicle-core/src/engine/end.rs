//! Classifies the end of an attempt, and decides what is kept of its last message.

use crate::base::ids::SHELL;
use crate::base::limits::{PARTIAL_MAX, TEXT_MAX, bounded};
use crate::event::input::EndSeen;
use crate::event::{Chore, Crash, CrashClass, Duty, End, StopCause};
use crate::state::{Attempt, State};
use crate::words;

/// Classifies an end. An accepted signal stands, whatever happened to the process afterwards. But while some of its processes may
/// still run, no attempt may start beside them. A stop by Chronicle is a pause only if the run was paused.
pub(super) fn end_of(state: &State, attempt: &Attempt, seen: &EndSeen) -> End {
    let place = &attempt.intent.place;
    let commands = state.phase_at(place).map_or(0, |phase| phase.commands.len());
    let done =
        state.frames.get(&place.frame()).map_or(0, |frame| frame.worker.counters.commands_done);
    let is_shell = attempt.intent.agent == SHELL;
    let given_up = state.cancelled.is_some() || state.failed.is_some();
    // Reasons of the run to end an attempt. Without one of them, an attempt that was stopped was stopped by somebody else.
    let rests = state.paused.is_some() || given_up || state.is_sent(&place.frame());
    // First of all: even an accepted signal must not let another attempt start beside a process that may still be running.
    if let Some(why) = &seen.unclear {
        return End::Unclear { why: why.clone() };
    }
    if let Some(chore) = &attempt.intent.chore {
        return end_of_chore(attempt, chore, seen, rests);
    }
    if let Some(end) = unjudged(attempt, seen) {
        return end;
    }
    // An accepted signal was answered and is on record, so a later crash or kill does not take it back.
    if attempt.leave.is_some() {
        return End::Left;
    }
    if attempt.parting.is_some() {
        return End::BrokeOff;
    }
    if is_shell && usize::try_from(done).is_ok_and(|done| done >= commands) {
        return End::CommandsDone;
    }
    if let Some((index, _)) = attempt.failed_command {
        return End::CommandFailed { index };
    }
    match attempt.stop {
        // Before the stop cause: a lost attempt was not seen to end because of it.
        _ if seen.lost => End::Lost,
        Some(cause) => End::StoppedBy(cause),
        None if seen.stopped && rests => End::Stopped,
        // Also if somebody else stopped it, for example with `kill`: no reason of the run says that it was to end.
        None => End::Crashed(crash(seen)),
    }
}

/// The end of an attempt in which a call ran that nobody had judged. Before any signal of its: whatever it says of its work, a person
/// has to look first.
fn unjudged(attempt: &Attempt, seen: &EndSeen) -> Option<End> {
    if seen.error.as_ref().is_some_and(|(class, _)| *class == CrashClass::Unjudged) {
        return Some(End::Crashed(crash(seen)));
    }
    let is_stopped = attempt.stop == Some(StopCause::Unjudged);
    let end = if seen.lost { End::Lost } else { End::StoppedBy(StopCause::Unjudged) };
    is_stopped.then_some(end)
}

/// A failed `verify` command ends the list; a failed `cleanup` command does not.
fn end_of_chore(attempt: &Attempt, chore: &Chore, seen: &EndSeen, rests: bool) -> End {
    let all = usize::try_from(attempt.chores_done).is_ok_and(|it| it >= chore.commands.len());
    match (&attempt.failed_command, attempt.stop) {
        (Some((index, _)), _) if all || chore.duty == Duty::Verify => {
            End::CommandFailed { index: *index }
        }
        (None, _) if all => End::CommandsDone,
        _ if seen.lost => End::Lost,
        (_, Some(cause)) => End::StoppedBy(cause),
        (_, None) if seen.stopped && rests => End::Stopped,
        (_, None) => End::Crashed(crash(seen)),
    }
}

fn crash(seen: &EndSeen) -> Crash {
    let (class, text) = match &seen.error {
        Some((class, text)) => (*class, text.as_str()),
        // It ended its turn properly, and forgot to leave. A reminder in the same session usually helps.
        None if seen.finished => (CrashClass::NoSignal, ""),
        None => (CrashClass::Died, seen.stderr.as_str()),
    };
    // An error without words is explained by what the agent printed last, if anything.
    let text = if text.is_empty() { &seen.stderr } else { text }.to_owned();
    Crash { class, code: seen.code, signal: seen.signal, text }
}

/// Its last message, for whoever needs it: the next step of a chain, a person who is shown its verdict, or the attempt that
/// continues in its place.
pub(super) fn said_last(state: &State, attempt: &Attempt, end: &End, seen: &EndSeen) -> String {
    let said = seen.final_text.as_ref().map_or("", |said| said.0.as_str());
    let phase = state.phase_at(&attempt.intent.place);
    let is_read = phase.is_some_and(|phase| phase.chained || phase.shows_verdict);
    match end {
        // In a chain the last words are what the next step works with, so they are kept whatever the end was.
        _ if is_read => bounded(said, TEXT_MAX),
        End::StoppedBy(StopCause::Timeout) => bounded(said, TEXT_MAX),
        End::Left | End::BrokeOff => String::new(),
        End::CommandsDone
        | End::CommandFailed { .. }
        | End::Crashed(_)
        | End::StoppedBy(_)
        | End::Stopped
        | End::Lost
        | End::Unclear { .. } => bounded(said.trim(), PARTIAL_MAX),
    }
}

/// What is kept of the work of a worker that timed out.
pub(super) fn partial(state: &State, attempt: &Attempt, end: &End, said: &str) -> String {
    let is_over = *end == End::StoppedBy(StopCause::Timeout) && attempt.duty().is_none();
    let phase = state.phase_at(&attempt.intent.place);
    let phase = phase.filter(|_| is_over && !said.trim().is_empty());
    phase.map_or_else(String::new, |phase| words::partial(&phase.name, said))
}
