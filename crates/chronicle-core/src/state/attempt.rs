//! Attempts: what is known of each, and how its start, calls and end change the state.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::anomaly::Impossible;
use super::evidence;
use super::frame::is_zero;
use super::stages::after;
use super::{Counters, Facts, Hands, Held, OpenCommand, Stage, number, v1_calls};
use crate::base::ids::{AttemptId, Cause, GateId, SessionId};
use crate::base::limits::{ANSWERS_MAX, PARTIAL_MAX, bounded};
use crate::base::shell;
use crate::base::time::Millis;
use crate::base::usage::{Scope, Usage};
use crate::event::room::RoomLimit;
use crate::event::signal::is_ours;
use crate::event::trees::Changes;
use crate::event::{
    AttemptEnded, AttemptStarted, Break, Call, CallSum, Duty, End, Leave, StopCause, ToolCalled,
    Verdict, Why,
};

/// One start of one agent at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The event that started it.
    pub intent: AttemptStarted,
    /// The event that made it due.
    pub cause: Cause,
    /// Time of the line that started it, or gave it room.
    pub started_at: Millis,
    /// True once the agent itself has named its session.
    pub session_seen: bool,
    /// The accepted leaving signal, and the event that accepted it.
    pub leave: Option<(Leave, Cause)>,
    /// The signal that ended its turn but not its phase, and the event that accepted it.
    pub parting: Option<(Break, Cause)>,
    /// Questions that it waits for, by request id.
    pub asking: Vec<(String, GateId)>,
    /// Calls that wait for a person's leave, or whose verdict it has not heard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<Held>,
    /// True if it asked once to cancel the run.
    pub cancel_asked: bool,
    /// Set once it is being stopped because of a limit.
    pub stop: Option<StopCause>,
    /// Calls that have not ended, with their verdicts.
    pub calls: VecDeque<OpenCall>,
    /// Shell commands that have not ended.
    pub running: VecDeque<OpenCommand>,
    /// Answers to its calls, by request id, to be repeated word for word.
    pub answers: VecDeque<(String, Answered)>,
    /// What it spent; sessions shared with other attempts are counted once.
    pub usage: Usage,
    /// Active milliseconds, as far as known.
    pub active_ms: u64,
    /// Number of tool calls.
    pub tools: u32,
    /// A failed command of its phase: index, and the end of its output.
    pub failed_command: Option<(u32, String)>,
    /// Its last message, if it was stopped early.
    pub said: String,
    /// When the quota resets, if the agent said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_until: Option<Millis>,
    /// How long the service asked to wait, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Number of finished `verify` or `cleanup` commands.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub chores_done: u32,
    /// The limit that it waits for before it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<RoomLimit>,
    /// How often a wall stopped something that it tried.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wall_hits: u32,
    /// True if it was told so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wall_told: bool,
    /// When it could change files.
    #[serde(default, skip_serializing_if = "Hands::is_none")]
    pub hands: Hands,
    /// How and when it ended.
    pub ended: Option<(End, Millis)>,
    /// Its changes to files; `None` until they are recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Arc<Changes>>,
}

/// A tool call that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCall {
    /// The agent's id of the call.
    pub id: String,
    /// Identifies the call together with the id; `None` for lines written by versions without sums.
    pub sum: Option<CallSum>,
    /// Allowed or denied, as it was answered.
    pub verdict: Verdict,
    /// The event that answered it.
    pub since: Cause,
    /// Time of that event; `None` in states of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Millis>,
    /// Active time of the attempt when it was answered.
    pub from_ms: u64,
    /// True if it may change files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changes: bool,
    /// The only file that it may change, if its tool names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// True if the call returned and what it started goes on in the background. Nobody waits for it, but it can change files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_background: bool,
    /// The command as the worker wrote it, if its tool was asked to run it in the background. It counts once the agent is known to
    /// follow the command to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

impl OpenCall {
    /// True if this is the same call. The id alone proves nothing: agents may reuse it.
    pub(crate) fn is(&self, call: &Call) -> bool {
        self.sum == Some(call.sum) && self.id == call.id
    }
}

impl Attempt {
    /// Set if it runs `verify` or `cleanup` commands.
    pub fn duty(&self) -> Option<Duty> {
        self.intent.chore.as_ref().map(|chore| chore.duty)
    }

    /// The allowed call that the worker has waited for longest. While there is one, silence is no sign of being stuck.
    pub(crate) fn open_call(&self) -> Option<&OpenCall> {
        self.calls.iter().find(|open| open.verdict == Verdict::Allowed && !open.in_background)
    }

    /// True if it neither leaves nor is being stopped for a limit.
    pub(crate) fn stays(&self) -> bool {
        self.stop.is_none() && !self.is_leaving()
    }

    /// True if a signal that ends its turn was accepted.
    pub fn is_leaving(&self) -> bool {
        self.leave.is_some() || self.parting.is_some()
    }
}

/// A recorded answer to a worker's call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "text", rename_all = "snake_case")]
pub enum Answered {
    /// It was accepted, with these words.
    Accepted(String),
    /// It was refused, with these words.
    Refused(String),
    /// Accepted by a line that does not contain the wording; it is worded again when repeated.
    Unworded(Unworded),
}

/// What such a line accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unworded {
    /// The signal that leaves the phase.
    Leave,
    /// The signal that ends the turn.
    Break,
    /// An update of the snapshot.
    Snapshot,
    /// The first request to cancel the run.
    Cancel,
}

impl Answered {
    /// The wording from a line, if it has one.
    pub(super) fn kept(answer: &str, otherwise: Unworded) -> Self {
        match answer {
            "" => Self::Unworded(otherwise),
            answer => Self::Accepted(answer.to_owned()),
        }
    }
}

impl Facts {
    pub(super) fn start_attempt(&mut self, cause: Cause, at: Millis, intent: &AttemptStarted) {
        self.add_attempt(cause, at, intent);
        if intent.chore.is_some() {
            return self.start_chore(intent);
        }
        self.tally_mut(&intent.place).begin(intent);
        self.change_frame(&intent.place.frame(), |frame| {
            frame.stage = Stage::Working { attempt: intent.attempt };
            let worker = &mut frame.worker;
            // Known to exist only as long as it is the same session: a fresh one must be named by the agent before it can be
            // resumed.
            worker.session_seen &= worker.session.as_ref() == Some(&intent.session);
            worker.session = Some(intent.session.clone());
            worker.counters.begin(intent);
            // A person's wish holds for one attempt. The next one goes on where this one stops.
            worker.begins_with = None;
            frame.begin_attempt(intent);
        });
    }

    pub(super) fn add_attempt(&mut self, cause: Cause, at: Millis, intent: &AttemptStarted) {
        let attempt = Attempt {
            intent: intent.clone(),
            cause,
            started_at: at,
            session_seen: false,
            leave: None,
            parting: None,
            asking: Vec::new(),
            held: Vec::new(),
            cancel_asked: false,
            stop: None,
            calls: std::collections::VecDeque::new(),
            running: std::collections::VecDeque::new(),
            answers: std::collections::VecDeque::new(),
            usage: Usage::default(),
            active_ms: 0,
            tools: 0,
            failed_command: None,
            said: String::new(),
            quota_until: None,
            retry_after_ms: None,
            chores_done: 0,
            room: None,
            wall_hits: 0,
            wall_told: false,
            hands: Hands::default(),
            ended: None,
            changes: None,
        };
        if let Some(session) = Arc::make_mut(&mut self.sessions).get_mut(&intent.session) {
            // The agent's totals may start over in a new process, so the session must know where it stood.
            session.resume();
        }
        self.attempts.push(attempt);
        self.live.insert(intent.attempt);
        self.trees.begin(cause, intent);
    }

    /// Records the handover of an attempt that just started.
    pub(super) fn begin_told(&mut self, intent: &AttemptStarted) {
        self.change(intent.attempt, |attempt| attempt.intent.handover.clone_from(&intent.handover));
    }

    pub(super) fn open_session(&mut self, id: AttemptId, session: &SessionId) {
        self.change(id, |attempt| {
            attempt.intent.session = session.clone();
            attempt.session_seen = true;
        });
        self.change_frame_of(id, |frame| {
            frame.worker.session = Some(session.clone());
            frame.worker.session_seen = true;
            // The next phase may continue in this session, and has to know it by the name that the agent gave it.
            if let Some((before, _)) = &mut frame.before {
                before.clone_from(session);
            }
        });
        self.forget_sessions();
    }

    pub(super) fn call_tool(&mut self, cause: Cause, at: Millis, called: &ToolCalled) {
        self.run_command(called);
        self.settle_call(called);
        let may_change = evidence::may_change(called);
        let command = called.command.as_ref().filter(|_| !called.command_cut);
        let is_background = called.background || v1_calls::asks_background(called);
        let written = command.filter(|_| is_background).and_then(|it| shell::as_written(it));
        self.change(called.attempt, |attempt| {
            let known = attempt.calls.iter().find(|open| open.id == called.call);
            // A call that was denied never had its hands on a file, unless it is told once more, as it ran all the same.
            let may_run = called.verdict == Verdict::Allowed || called.unasked && known.is_some();
            let changes = may_run && may_change;
            if changes {
                // It ran since it was first asked about.
                let from = known.and_then(|open| open.at).unwrap_or(at);
                attempt.hands.begin(from, called.path.as_ref());
            }
            // An agent that never reports the end of its calls must not make the state grow. The oldest is the least likely to
            // end still.
            if attempt.calls.len() >= ANSWERS_MAX {
                attempt.calls.pop_front();
            }
            attempt.calls.push_back(OpenCall {
                id: called.call.clone(),
                sum: called.sum,
                verdict: called.verdict.clone(),
                since: cause,
                at: Some(at),
                from_ms: called.active_ms,
                changes,
                path: called.path.clone(),
                in_background: false,
                written,
            });
            attempt.tools = attempt.tools.saturating_add(1);
            // A run is cancelled by asking twice in a row. Whoever goes on working in between did not mean it. Agents ask for leave
            // before each call, so the second request itself is seen here too.
            attempt.cancel_asked &= is_ours(&called.tool);
        });
        self.change_frame_of(called.attempt, |frame| frame.worker.call(called));
        self.work(called.attempt, called.active_ms);
    }

    pub(super) fn stop(&mut self, id: AttemptId, cause: StopCause, active_ms: u64) {
        self.change(id, |attempt| attempt.stop = Some(cause));
        self.work(id, active_ms);
    }

    pub(super) fn add_usage(
        &mut self,
        id: AttemptId,
        scope: &Scope,
        usage: &Usage,
        active_ms: u64,
    ) {
        let Some(session) = self.attempt(id).map(|attempt| attempt.intent.session.clone()) else {
            return;
        };
        let counted = Arc::make_mut(&mut self.sessions).entry(session).or_default();
        let before = counted.sum();
        counted.add(scope, usage);
        // Reports overlap: a turn's figure includes its messages, a session's all of it. Only what the sum grows by is spent.
        let after = counted.sum();
        self.usage = self.usage.replaced(&before, &after);
        self.spend(id, &before, &after);
        self.work(id, active_ms);
    }

    pub(super) fn end_command(
        &mut self,
        id: AttemptId,
        index: u32,
        code: Option<i32>,
        output: &str,
    ) {
        self.ran_command(id, index, code);
        let done = index.saturating_add(1);
        if self.attempt(id).is_some_and(|attempt| attempt.duty().is_some()) {
            self.change(id, |attempt| attempt.chores_done = done);
        // Only a command that succeeded is done. A retry begins with the one that failed.
        } else if code == Some(0) {
            self.change_frame_of(id, |frame| frame.worker.counters.commands_done = done);
        }
        if code != Some(0) {
            self.change(id, |attempt| attempt.failed_command = Some((index, output.to_owned())));
        }
    }

    pub(super) fn refuse(&mut self, id: AttemptId, request: &str, answer: &str) {
        let answered = Answered::Refused(answer.to_owned());
        self.change(id, |attempt| attempt.remember(request, answered));
    }

    pub(super) fn accept(
        &mut self,
        cause: Cause,
        id: AttemptId,
        request: &str,
        answer: &str,
        leave: &Leave,
    ) {
        let answered = Answered::kept(answer, Unworded::Leave);
        self.change(id, |attempt| {
            attempt.leave = Some((leave.clone(), cause));
            attempt.remember(request, answered);
        });
        // A signal that leaves is progress: what went wrong before it is not held against the worker any more.
        self.change_frame_of(id, |frame| frame.worker.progress());
    }

    pub(super) fn end_attempt(&mut self, cause: Cause, at: Millis, ended: &AttemptEnded) {
        let Some(attempt) = self.attempt(ended.attempt) else {
            return self.impossible(Impossible::Attempt(ended.attempt));
        };
        if attempt.ended.is_some() {
            return self.impossible(Impossible::EndedAttempt(ended.attempt));
        }
        match attempt.duty() {
            Some(duty) => self.end_chore(ended, duty),
            None => self.end_work(ended, after(ended, attempt)),
        }
        self.live.remove(&ended.attempt);
        if let Some(attempt) = self.attempts.get(number(ended.attempt.0)) {
            self.trees.end(cause, &attempt.intent);
        }
        self.change(ended.attempt, |attempt| {
            attempt.ended = Some((ended.end.clone(), at));
            attempt.quota_until = ended.quota_until;
            attempt.retry_after_ms = ended.retry_after_ms;
            // What only a live attempt needs is dropped at its end, so that the state stays small in long runs.
            attempt.calls.clear();
            attempt.running.clear();
            attempt.answers.clear();
            if !matches!(ended.end, End::Left | End::BrokeOff) {
                attempt.said = bounded(ended.final_text.trim(), PARTIAL_MAX);
            }
            attempt.asking.clear();
            attempt.held.clear();
            attempt.cancel_asked = false;
        });
        if matches!(ended.end, End::Unclear { .. }) {
            // Something of it may still run, so the run must not move on by itself, not even where a person had sent it.
            self.unsend(ended.attempt);
        }
        self.work(ended.attempt, ended.active_ms);
        // Last of all: whether an attempt is still needed depends on the stage that its end has led to.
        self.forget_attempts();
    }

    pub(super) fn end_work(&mut self, ended: &AttemptEnded, stage: Stage) {
        // Whoever saw the end may know less of the time than was reported while it worked.
        let known_ms = self.attempt(ended.attempt).map_or(0, |attempt| attempt.active_ms);
        let active_ms = ended.active_ms.max(known_ms);
        self.change_frame_of(ended.attempt, |frame| {
            frame.worker.still.end(active_ms);
            frame.progress.worked_ms = frame.progress.worked_ms.saturating_add(active_ms);
            let counters = &mut frame.worker.counters;
            counters.active_ms = counters.active_ms.saturating_add(active_ms);
            if ended.end == End::Lost {
                counters.losses = counters.losses.saturating_add(1);
            }
            // Only of a worker that left: the last words of one that crashed are no input for the next step of a chain.
            if ended.end == End::Left {
                frame.said_here.clone_from(&ended.final_text);
            }
            frame.stage = stage;
        });
        if ended.end == End::StoppedBy(StopCause::Timeout) {
            self.keep_partial(ended);
        }
    }
}

impl Attempt {
    pub(super) fn remember(&mut self, request: &str, answered: Answered) {
        // Whatever else is answered comes between two requests to cancel, which then do not count together.
        self.cancel_asked = false;
        // The oldest goes: a call that is repeated is repeated soon.
        if self.answers.len() >= ANSWERS_MAX {
            self.answers.pop_front();
        }
        self.answers.push_back((request.to_owned(), answered));
    }
}

impl Counters {
    fn begin(&mut self, intent: &AttemptStarted) {
        // What the same try has used and done stays: a loss gives it no new time, and must not run its commands twice.
        if !intent.why.is_same_try() {
            self.commands_done = intent.first_command;
            self.active_ms = 0;
        }
        match intent.why {
            Why::Nudge { number } | Why::Again { number } => self.nudges = number,
            Why::Retry { number } => self.retries = number,
            Why::Unverified { number, .. } => self.unverified = number,
            Why::Continued { .. } => self.continuations = self.continuations.saturating_add(1),
            Why::Lacking { .. } => self.lacking = self.lacking.saturating_add(1),
            Why::First
            | Why::Lost
            | Why::SessionGone
            | Why::Paused
            | Why::Raised
            | Why::Waited
            | Why::Progressed
            | Why::Rejected { .. }
            | Why::Fallback { .. }
            | Why::Asked { .. }
            | Why::Answered { .. }
            | Why::Helps { .. }
            | Why::Helped { .. } => {}
        }
    }

    /// True if something went wrong that progress resets.
    pub(super) fn has_failed(&self) -> bool {
        (self.nudges, self.retries, self.losses, self.waits) != (0, 0, 0, 0)
    }

    pub(super) fn progress(&mut self) {
        (self.nudges, self.retries, self.losses, self.waits) = (0, 0, 0, 0);
    }
}
