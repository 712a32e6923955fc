//! Tool calls that an agent ran without leave: it had not asked, or was told no. They are recorded as denied, so they prove nothing.

use super::scratch::Scratch;
use super::world::{call_tool, live, repeated, writes_commands};
use crate::base::ids::AttemptId;
use crate::event::input::{Answer, SaidBefore};
use crate::event::signal::is_ours;
use crate::event::{Call, Caller, Event, StopCause, ToolCalled, Verdict};
use crate::guard::Judgement;
use crate::state::{Attempt, State};
use crate::words;

/// A call that ran although nobody had been asked about it as it ran.
pub(super) struct Ran<'r> {
    pub(super) call: &'r Call,
    pub(super) judged: &'r Judgement,
    pub(super) said: SaidBefore,
    /// Whether no such call is tolerated.
    pub(super) stops: bool,
}

/// Records the call. Chronicle's own tools need no permission. Where tools are limited, or none may be called any more, the answer
/// is a denial: the agent cannot be held to that, so its attempt must be stopped. So it is where every call has to be asked for.
pub(super) fn note(
    scratch: &mut Scratch<'_>,
    id: AttemptId,
    active_ms: u64,
    ran: &Ran<'_>,
) -> Answer {
    let Ran { call, judged, said, stops } = *ran;
    if is_ours(&call.tool) && !stops {
        return call_tool(scratch, id, active_ms, call, judged);
    }
    if said == SaidBefore::OfAnother && !stops {
        return note_changed(scratch, id, active_ms, call, judged);
    }
    let state = scratch.state();
    let Some(attempt) = live(state, id) else { return Answer::Noted };
    let stopping = state.stopping(attempt);
    let is_stopped = attempt.stop == Some(StopCause::Unjudged);
    let (limits, too_often) =
        (limits(state, attempt, call, judged), repeated(state, attempt, call));
    let verdict = Verdict::Denied(words::without_leave(said));
    let called = ToolCalled::new(id, call.clone(), verdict, active_ms).judged(judged);
    // In any case, and first: it has run, whatever the answer says.
    scratch.record(Event::ToolCalled(ToolCalled { unasked: true, ..called }));
    // On record with the call: whoever dies next, its attempt does not go on without a person.
    if stops {
        let cause = StopCause::Unjudged;
        if !is_stopped {
            scratch.emit(Event::StopAsked { attempt: id, cause, active_ms });
        }
        let why = limits.unwrap_or_else(|| words::must_have_leave(said));
        return Answer::Verdict(Verdict::Denied(words::ran_unasked(call, said, why)));
    }
    if let Some(why) = stopping {
        return Answer::Stopped(words::stopping(why));
    }
    if let Some(why) = limits {
        return Answer::Verdict(Verdict::Denied(words::ran_unasked(call, said, why)));
    }
    if too_often {
        let cause = StopCause::Repeats;
        scratch.emit(Event::StopAsked { attempt: id, cause, active_ms });
    }
    Answer::Noted
}

/// Records a call as it ran, which somebody else changed after it was allowed. It may run, even now that no other may be called:
/// it did before.
fn note_changed(
    scratch: &mut Scratch<'_>,
    id: AttemptId,
    active_ms: u64,
    call: &Call,
    judged: &Judgement,
) -> Answer {
    let state = scratch.state();
    let Some(attempt) = live(state, id) else { return Answer::Noted };
    let tools = state.tools_for(&attempt.intent);
    let tools = tools.filter(|tools| !tools.own_only || call.by == Caller::Worker);
    if let Some(why) = writes_commands(tools.as_deref(), call) {
        return Answer::Verdict(Verdict::Denied(why));
    }
    let called = ToolCalled::new(id, call.clone(), Verdict::Allowed, active_ms).judged(judged);
    scratch.record(Event::ToolCalled(called));
    Answer::Noted
}

/// Why a call that was not asked for cannot be tolerated.
fn limits(
    state: &State,
    attempt: &Attempt,
    call: &Call,
    judged: &Judgement,
) -> Option<&'static str> {
    if attempt.is_leaving() {
        return Some(words::no_tool_runs(attempt));
    }
    match judged {
        Judgement::Clear => {}
        Judgement::Deny { .. } => return Some("a rule forbids that call"),
        // Whoever could have said yes was not asked, so that it does not matter whether they would have.
        Judgement::Ask { .. } => return Some("a rule wants a person asked first"),
    }
    let tools = state.tools_for(&attempt.intent)?;
    let binds = !tools.own_only || call.by == Caller::Worker;
    let is_limited = tools.allow.is_some() || !tools.deny.is_empty();
    (binds && is_limited).then_some("this phase limits which tools may be called")
}
