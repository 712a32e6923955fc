//! Reports: what the world says about effects. They cannot be refused.

use super::end::{end_of, partial};
use super::permission::{self, Leave};
use super::proof;
use super::room;
use super::scratch::Scratch;
use super::unasked::{self, Ran};
use super::walls;
use crate::base::ids::{AttemptId, GateId, SHELL};
use crate::definition::workflow::Tools;
use crate::event::input::{Answer, AttemptReport, EndSeen, Report, TimerKind};
use crate::event::signal::is_ours;
use crate::event::wait::WaitEnded;
use crate::event::{
    AttemptEnded, Call, Caller, Event, GateAnswer, Message, StopCause, SupervisorStarted,
    ToolCalled, Verdict,
};
use crate::guard::Judgement;
use crate::handover::Stand;
use crate::state::budget;
use crate::state::{Attempt, State};
use crate::words;

pub(super) fn report(scratch: &mut Scratch<'_>, report: &Report) -> Answer {
    match report {
        // The first line freezes the run, so nothing may precede it.
        Report::SupervisorStarted { .. } | Report::TailSetAside { .. }
            if scratch.state().run.is_none() => {}
        Report::SupervisorStarted { pid, host, epoch, version, notifies, walls } => {
            scratch.emit(Event::SupervisorStarted(SupervisorStarted {
                pid: *pid,
                host: host.clone(),
                epoch: *epoch,
                version: version.clone(),
                notifies: *notifies,
                walls: walls.clone(),
            }));
        }
        Report::TailSetAside { bytes, file } => {
            scratch.record(Event::TailSetAside { bytes: *bytes, file: file.clone() });
        }
        Report::SupervisorLeaves => leave_alone(scratch),
        Report::TimerFired { attempt, timer: TimerKind::Wait } => end_wait(scratch, *attempt),
        Report::TimerFired { attempt, timer } => fire(scratch, *attempt, *timer),
        Report::TreeRecorded(recorded) => super::trees::recorded(scratch, recorded),
        Report::TreeMissed { moment, why } => super::trees::missed(scratch, *moment, why),
        Report::TreeRestored(restored) => super::trees::restored(scratch, restored),
        Report::StepsRead { .. }
        | Report::StepsUnread { .. }
        | Report::FolderMade(_)
        | Report::FolderFailed { .. }
        | Report::FolderDropped { .. }
        | Report::FolderLost { .. }
        | Report::MergePlanned(_)
        | Report::MergeMissed { .. }
        | Report::MergeWritten(_) => super::pool::report(scratch, report),
        Report::NoticeGiven(given) => {
            // A notice is settled once. A second report would say that the person was told twice.
            if scratch.state().notices.owed.iter().any(|owed| owed.about == given.about) {
                scratch.record(Event::NoticeGiven(given.clone()));
            }
        }
        Report::Attempt { attempt, active_ms, what } => {
            return about(scratch, *attempt, *active_ms, what);
        }
    }
    Answer::Noted
}

/// Stops attempts that wait for an answer: their sessions get it later. Calls that wait for leave are told that nobody is there.
fn leave_alone(scratch: &mut Scratch<'_>) {
    let state = scratch.state();
    let asking = state.live_attempts().filter(|attempt| state.is_asking(attempt));
    let asking: Vec<AttemptId> = asking.map(|attempt| attempt.intent.attempt).collect();
    for attempt in asking {
        // Who only waits for leave goes on without it: its call is answered, and its gate stays for the next try.
        if !scratch.state().attempt(attempt).is_some_and(|it| scratch.state().has_asked(it)) {
            permission::unanswered(scratch, attempt, usize::MAX);
            continue;
        }
        // The time is not known here. 0 is safe: the fold takes the longer one, so nothing that was reported is taken back.
        scratch.emit(Event::StopAsked { attempt, cause: StopCause::Asks, active_ms: 0 });
    }
}

/// Ends a wait. A paused run keeps waiting: its timer is due again when it continues.
fn end_wait(scratch: &mut Scratch<'_>, id: AttemptId) {
    let state = scratch.state();
    // A wait that ends during a pause stays open: the timer is due again when the run is resumed, and fires at once.
    let rests = state.paused.is_some() || state.is_given_up();
    let Some((frame, _)) = state.waits_after(id).filter(|_| !rests) else { return };
    let (who, agent, note) = (None, None, String::new());
    let ended = WaitEnded { place: frame.place(), attempt: id, who, agent, note };
    scratch.emit(Event::WaitEnded(ended));
}

fn fire(scratch: &mut Scratch<'_>, id: AttemptId, timer: TimerKind) {
    // Of one that waits for room no time passes: a timer may fire just before that is known.
    let began = live(scratch.state(), id).filter(|attempt| !attempt.awaits_room());
    let Some(attempt) = began else { return };
    if timer == TimerKind::Ask {
        // Too late if somebody has answered meanwhile: then nothing waits.
        return permission::unanswered(scratch, id, 1);
    }
    let cause = match (timer, attempt.is_leaving()) {
        (TimerKind::Grace, true) => StopCause::Grace,
        (TimerKind::Timeout, false) => StopCause::Timeout,
        (TimerKind::Budget, _) => StopCause::Budget,
        (TimerKind::Standstill, false) => StopCause::Standstill,
        (TimerKind::Tool, false) if attempt.open_call().is_some() => StopCause::Tool,
        // Too late: a timer may fire just before it is dropped, and what it stood for is no longer so.
        (TimerKind::Grace, false)
        | (TimerKind::Timeout | TimerKind::Standstill, true)
        | (TimerKind::Tool | TimerKind::Wait | TimerKind::Ask, _) => return,
    };
    // The timer has fired, so the attempt has worked exactly until its limit, whatever its last report said.
    let state = scratch.state();
    let left = match timer {
        TimerKind::Budget => budget::time_left_ms(state, &attempt.intent.place),
        TimerKind::Standstill => state.still_left_ms(attempt),
        TimerKind::Grace
        | TimerKind::Timeout
        | TimerKind::Tool
        | TimerKind::Wait
        | TimerKind::Ask => None,
    };
    let active_ms = match timer {
        TimerKind::Budget | TimerKind::Standstill => {
            attempt.active_ms.saturating_add(left.unwrap_or(0))
        }
        TimerKind::Grace
        | TimerKind::Timeout
        | TimerKind::Tool
        | TimerKind::Wait
        | TimerKind::Ask => 0,
    };
    // The first cause stands: a later timer must not change why the attempt was stopped.
    if attempt.stop.is_none() {
        scratch.emit(Event::StopAsked { attempt: id, cause, active_ms });
    }
}

/// A report about an attempt that is over is ignored.
fn about(scratch: &mut Scratch<'_>, id: AttemptId, active_ms: u64, what: &AttemptReport) -> Answer {
    let Some(attempt) = live(scratch.state(), id) else { return Answer::Noted };
    match what {
        AttemptReport::ToolCalled { call, judged } => {
            return call_tool(scratch, id, active_ms, call, judged);
        }
        AttemptReport::ToolUnasked { call, judged, said, stops } => {
            let ran = Ran { call, judged, said: *said, stops: *stops };
            return unasked::note(scratch, id, active_ms, &ran);
        }
        AttemptReport::ToolRefused { call, why, judged } => {
            refused(scratch, id, active_ms, call, why, judged);
        }
        AttemptReport::Ended(seen) => end(scratch, id, active_ms, seen),
        AttemptReport::Told(message) => tell(scratch, id, *message),
        AttemptReport::Withdrew { request } => withdraw(scratch, id, request),
        AttemptReport::Idle => silent(scratch, id),
        AttemptReport::Session(session) => {
            // Agents name their session again and again. Only a new name is worth a line.
            if !attempt.session_seen || attempt.intent.session != *session {
                scratch.record(Event::SessionOpened { attempt: id, session: session.clone() });
            }
        }
        AttemptReport::GuardUnproven { why } => proof::work_unproven(scratch, id, why),
        AttemptReport::OtherWalls => walls::again(scratch, id),
        AttemptReport::RoomAwaited(limit) => room::awaited(scratch, id, limit),
        AttemptReport::RoomTaken => room::taken(scratch, id),
        AttemptReport::WallHit { call, said } => walls::hit(scratch, id, call.as_deref(), said),
        AttemptReport::ToolEnded { call, ok } => {
            let call = call.clone();
            let (ok, goes_on) = (*ok, false);
            scratch.record(Event::ToolEnded { attempt: id, call, ok, goes_on, active_ms });
        }
        AttemptReport::ToolWentOn { call } => {
            let (call, ok, goes_on) = (call.clone(), true, true);
            scratch.record(Event::ToolEnded { attempt: id, call, ok, goes_on, active_ms });
        }
        AttemptReport::FileChanged { path, change } => {
            let path = path.clone();
            scratch.record(Event::FileChanged { attempt: id, path, change: *change });
        }
        AttemptReport::Usage { scope, usage } => {
            let (scope, usage) = (scope.clone(), *usage);
            let event = Event::UsageReported { attempt: id, scope, usage, active_ms };
            // `emit` copies the state to see what follows. Without any budget nothing can follow from usage, which is reported
            // often.
            if budget::is_limited(scratch.state()) {
                scratch.emit(event);
            } else {
                scratch.record(event);
            }
        }
        AttemptReport::CommandEnded { index, code, output } => {
            let output = output.clone();
            let event = Event::CommandEnded { attempt: id, index: *index, code: *code, output };
            scratch.record(event);
        }
    }
    Answer::Noted
}

fn end(scratch: &mut Scratch<'_>, id: AttemptId, active_ms: u64, seen: &EndSeen) {
    let Some(attempt) = live(scratch.state(), id) else { return };
    let end = end_of(scratch.state(), attempt, seen);
    let said = seen.final_text.as_ref().map_or_else(String::new, |said| said.0.clone());
    let partial = partial(scratch.state(), attempt, &end, &said);
    scratch.emit(Event::AttemptEnded(AttemptEnded {
        attempt: id,
        end,
        active_ms,
        strays: seen.strays,
        not_understood: seen.not_understood,
        remarks: seen.remarks.clone(),
        transcript_bytes: seen.transcript_bytes,
        final_text: said,
        partial,
        quota_until: seen.quota_until,
        retry_after_ms: seen.retry_after_ms,
    }));
}

/// Stops an attempt that was silent for too long, unless its silence is expected.
fn silent(scratch: &mut Scratch<'_>, id: AttemptId) {
    let Some(attempt) = live(scratch.state(), id) else { return };
    // Silence is expected while a tool runs or a person is asked, and commands have a timeout instead.
    let may_rest = attempt.open_call().is_some() || attempt.intent.agent == SHELL;
    let is_asking = scratch.state().is_asking(attempt) || attempt.awaits_room();
    if attempt.stop.is_none() && !attempt.is_leaving() && !is_asking && !may_rest {
        let cause = StopCause::Idle;
        scratch.emit(Event::StopAsked { attempt: id, cause, active_ms: 0 });
    }
}

/// A delivered message is recorded once. A note given to another attempt may have reached that one too.
fn tell(scratch: &mut Scratch<'_>, id: AttemptId, message: Message) {
    let state = scratch.state();
    let Some(attempt) = live(state, id) else { return };
    let frame = state.frames.get(&attempt.intent.place.frame());
    let (is_new, repeated) = match message {
        Message::Note(note) => {
            let mut notes = frame.into_iter().flat_map(|frame| &frame.notes);
            let note = notes.find(|known| known.id == note && known.told.is_none());
            // A note that was handed to an attempt which died may or may not have been read. It is given again, marked as
            // repeated.
            (note.is_some(), note.and_then(|note| note.given_to).is_some_and(|to| to != id))
        }
        Message::Answer(gate) => (attempt.asking.iter().any(|(_, asked)| *asked == gate), false),
        Message::Wall => (attempt.owes_wall_words(), false),
        Message::Verdict(gate) => (attempt.held.iter().any(|held| held.gate == gate), false),
    };
    if is_new {
        scratch.record(Event::MessageDelivered { attempt: id, message, repeated });
    }
}

/// Closes the gate of a question that nobody waits for any more. One that was answered stays as it is.
fn withdraw(scratch: &mut Scratch<'_>, id: AttemptId, request: &str) {
    if permission::withdrawn(scratch, id, request) {
        return;
    }
    let state = scratch.state();
    let is_open = |gate: GateId| state.gate(gate).is_some_and(|it| it.answered.is_none());
    let asking = live(state, id).into_iter().flat_map(|attempt| &attempt.asking);
    let mut asked = asking.filter(|(asked, gate)| asked == request && is_open(*gate));
    let Some(gate) = asked.next().map(|(_, gate)| *gate) else { return };
    // The worker itself took it back, so its id stands where a person's name would.
    let (answer, who) = (GateAnswer::Withdrawn, id.to_string());
    scratch.emit(Event::GateAnswered {
        gate,
        answer,
        who,
        note: String::new(),
        agent: None,
        from: None,
    });
}

pub(super) fn live(state: &State, id: AttemptId) -> Option<&Attempt> {
    state.live.contains(&id).then(|| state.attempt(id)).flatten()
}

pub(super) fn call_tool(
    scratch: &mut Scratch<'_>,
    id: AttemptId,
    active_ms: u64,
    call: &Call,
    judged: &Judgement,
) -> Answer {
    let state = scratch.state();
    let Some(attempt) = live(state, id) else { return Answer::Noted };
    let known = attempt.calls.iter().filter(|open| open.is(call)).map(|open| &open.verdict);
    if let Some(why) = state.stopping(attempt) {
        // Checked before the known verdicts: what was allowed before the stop must not be allowed again after it.
        let is_denied = known.clone().any(|verdict| *verdict != Verdict::Allowed);
        return deny_stopped(scratch, id, active_ms, call, words::stopping(why), is_denied);
    }
    // The same call asked again gets the same verdict without a second line. Not after the leaving signal: what was allowed before
    // it would run once more.
    if let Some(verdict) = known.clone().next() {
        let late = refusal(attempt, None, call).filter(|_| *verdict == Verdict::Allowed);
        let verdict = late.map_or_else(|| verdict.clone(), Verdict::Denied);
        return Answer::Verdict(verdict);
    }
    let too_often = repeated(state, attempt, call);
    let tools = state.tools_for(&attempt.intent);
    // Lists that are the worker's own do not bind the agents that it starts.
    let tools = tools.filter(|tools| !tools.own_only || call.by == Caller::Worker);
    let own_words = || Stand::of(state, attempt)?.refusal(&call.tool);
    let refused = refusal(attempt, tools.as_deref(), call);
    // Our own tools need no leave: what they may do is decided by the signal.
    let clear = Judgement::Clear;
    let judged = if is_ours(&call.tool) { &clear } else { judged };
    let leave = match refused.or_else(|| writes_commands(tools.as_deref(), call)) {
        None if too_often => Leave::Decided(Verdict::Denied(words::REPEATED.to_owned()), None),
        None => permission::judge(state, attempt, call, judged),
        Some(why) if attempt.is_leaving() => Leave::Decided(Verdict::Denied(why), None),
        Some(why) => Leave::Decided(Verdict::Denied(own_words().unwrap_or(why)), None),
    };
    let Leave::Decided(verdict, gate) = leave else {
        return permission::hold(scratch, id, active_ms, call, judged);
    };
    let called = ToolCalled::new(id, call.clone(), verdict.clone(), active_ms).judged(judged);
    scratch.record(Event::ToolCalled(ToolCalled { gate, ..called }));
    // After the call, so that the record shows what it was stopped for.
    if too_often {
        let cause = StopCause::Repeats;
        scratch.emit(Event::StopAsked { attempt: id, cause, active_ms });
    }
    Answer::Verdict(verdict)
}

/// The agent itself has refused a call, or the rules have when its leave arrived. Recorded as denied, it proves nothing.
fn refused(
    scratch: &mut Scratch<'_>,
    id: AttemptId,
    active_ms: u64,
    call: &Call,
    why: &str,
    judged: &Judgement,
) {
    let state = scratch.state();
    let too_often = live(state, id).is_some_and(|attempt| repeated(state, attempt, call));
    let verdict = Verdict::Denied(match judged {
        Judgement::Clear => words::refused_itself(why),
        Judgement::Ask { rule, why } => words::not_as_shown(rule, why),
        Judgement::Deny { rule, why } => words::forbidden(rule, why),
    });
    let called = ToolCalled::new(id, call.clone(), verdict, active_ms).judged(judged);
    scratch.record(Event::ToolCalled(called));
    // Every request costs, also one for a call that cannot be made.
    if too_often {
        let cause = StopCause::Repeats;
        scratch.emit(Event::StopAsked { attempt: id, cause, active_ms });
    }
}

/// Denies a call of an attempt that is being stopped. One that is already recorded as denied needs no further line.
fn deny_stopped(
    scratch: &mut Scratch<'_>,
    id: AttemptId,
    active_ms: u64,
    call: &Call,
    why: String,
    is_recorded: bool,
) -> Answer {
    if !is_recorded {
        let verdict = Verdict::Denied(why.clone());
        scratch.record(Event::ToolCalled(ToolCalled::new(id, call.clone(), verdict, active_ms)));
    }
    Answer::Stopped(why)
}

/// True if it has made this call as often as it may without progress.
pub(super) fn repeated(state: &State, attempt: &Attempt, call: &Call) -> bool {
    let place = &attempt.intent.place;
    let limit = state.phase_at(place).map_or(0, |phase| phase.limits.repeats);
    let frame = state.frames.get(&place.frame());
    let may_stop = attempt.stop.is_none() && !attempt.is_leaving() && !state.is_asking(attempt);
    let is_watched = limit > 0 && may_stop;
    is_watched && frame.is_some_and(|frame| frame.worker.repeated(&call.sum) >= limit)
}

/// Why this file may not be changed: who may not run commands may not write what runs them at an agent's next start either.
pub(super) fn writes_commands(tools: Option<&Tools>, call: &Call) -> Option<String> {
    let is_bound = tools.is_some_and(|tools| !tools.may_run_commands());
    let path = call.path.as_deref().unwrap_or("its file");
    (is_bound && call.start_file).then(|| words::runs_at_start(path))
}

/// Why this tool is refused. Chronicle's own tools are always allowed; no other is after the leaving signal.
fn refusal(attempt: &Attempt, tools: Option<&Tools>, call: &Call) -> Option<String> {
    if is_ours(&call.tool) {
        return None;
    }
    if attempt.is_leaving() {
        return Some(words::no_more_tools(attempt).to_owned());
    }
    tools?.refusal(&call.tool, call.kind)
}
