//! How each event changes the state: the only mutator, and total.

use std::sync::Arc;

use super::frame::{Repeat, Still, edge};
use super::stages::{after, answered};
use super::{
    Answered, Attempt, Check, Commands, Counters, Departure, Frame, Gate, Stage, State, Unworded,
    Visit, number,
};
use crate::base::ids::{AttemptId, Cause, FramePath, GateId, Outcome, Place, SessionId};
use crate::base::limits::{ANSWERS_MAX, PARTIAL_MAX, bounded};
use crate::base::time::Millis;
use crate::base::usage::{Scope, Usage};
use crate::event::notice::About;
use crate::event::record::Line;
use crate::event::signal::is_ours;
use crate::event::{
    AttemptEnded, AttemptStarted, EdgeTaken, End, Event, GateAnswer, GateKind, GateOpened, Leave,
    Mover, StopCause, ToolCalled, Why,
};

impl State {
    /// Takes in one line of the ledger.
    pub fn apply(&mut self, line: &Line) {
        for (index, event) in (0u32..).zip(&line.events) {
            self.apply_event(Cause { seq: line.seq, index }, line.at, event);
        }
        self.seq = line.seq;
    }

    /// Takes in one event of the line that `cause` names.
    pub(crate) fn apply_event(&mut self, cause: Cause, at: Millis, event: &Event) {
        self.updated_at = at;
        self.take_down(event);
        self.apply_kind(cause, at, event);
        if let Some(attempt) = came_of(event) {
            self.stir(cause, attempt);
        }
    }

    /// Something came of what an attempt does: from now on it is counted anew how long nothing did.
    fn stir(&mut self, cause: Cause, id: AttemptId) {
        let from_ms = self.attempt(id).map_or(0, |attempt| attempt.active_ms);
        self.change_frame_of(id, |frame| {
            frame.still = Still { since: Some(cause), from_ms, before_ms: 0 };
        });
    }

    fn apply_kind(&mut self, cause: Cause, at: Millis, event: &Event) {
        match event {
            Event::RunStarted(run) => {
                self.run = Some(Arc::clone(run));
                self.started_at = at;
            }
            Event::SupervisorStarted(supervisor) => self.take_over(cause, supervisor),
            Event::TailSetAside { .. } | Event::ClaimsUnproven(_) => {}
            Event::FileChanged { attempt, .. } => {
                self.change_frame_of(*attempt, |frame| frame.repeats.clear());
            }
            Event::RunPaused { reason } => self.paused = Some(reason.clone()),
            Event::RunResumed => self.paused = None,
            Event::RunFailed { .. } | Event::RunCancelled { .. } | Event::RunDone => {
                self.end_run(event);
                self.owe(cause, About::End);
            }
            Event::FrameEntered { frame, workflow } => self.enter_frame(frame, workflow),
            Event::PhaseEntered { place } => self.enter_phase(at, place),
            Event::EdgeTaken(edge) => self.take_edge(edge),
            Event::FrameEnded { frame, summary } => self.end_frame(frame, summary),
            Event::AttemptStarted(intent) => self.start_attempt(cause, at, intent),
            Event::SessionOpened { attempt, session } => self.open_session(*attempt, session),
            Event::ToolCalled(called) => self.call_tool(called),
            Event::ToolEnded { attempt, call, ok, active_ms } => {
                self.end_call(*attempt, call, *ok, *active_ms);
            }
            Event::UsageReported { attempt, scope, usage, active_ms } => {
                self.add_usage(*attempt, scope, usage, *active_ms);
            }
            Event::CommandEnded { attempt, index, code, output } => {
                self.end_command(*attempt, *index, *code, output);
            }
            Event::SignalAccepted { attempt, request, leave, answer } => {
                self.accept(cause, *attempt, (request, answer), leave);
            }
            Event::SignalRefused { attempt, request, answer } => {
                self.refuse(*attempt, request, answer);
            }
            Event::StopAsked { attempt, cause, active_ms } => {
                self.stop(*attempt, *cause, *active_ms);
            }
            Event::AttemptEnded(ended) => self.end_attempt(cause, at, ended),
            Event::TreeRecorded(_)
            | Event::TreeMissed { .. }
            | Event::UndoStarted { .. }
            | Event::UndoEnded { .. } => self.apply_tree(cause, event),
            Event::GateOpened(opened) => {
                self.open_gate(at, opened);
                self.owe(cause, About::Gate(opened.gate));
            }
            Event::NoticeGiven(given) => self.settle_notice(given),
            Event::GateAnswered { gate, answer, who, note, agent } => {
                self.answer_gate(at, *gate, answer, (who, note, agent.as_ref()));
            }
            Event::WaitBegan(began) => self.begin_wait(cause, began),
            Event::WaitEnded(ended) => self.end_wait(ended),
            Event::BudgetWarned(warned) => self.budgets.warn(warned),
            Event::BudgetRaised(raised) => self.budgets.raise(cause, raised),
            Event::BreakAccepted { .. }
            | Event::GoAsked { .. }
            | Event::SnapshotUpdated { .. }
            | Event::CancelAsked { .. }
            | Event::CancelDropped { .. }
            | Event::FollowUpBegan { .. }
            | Event::FollowUpEnded { .. }
            | Event::NoteGiven { .. }
            | Event::MessageDelivered { .. } => self.apply_said(cause, event),
        }
    }

    fn end_run(&mut self, event: &Event) {
        match event {
            Event::RunFailed { reason } => self.failed = Some(reason.clone()),
            Event::RunCancelled { reason } => self.cancelled = Some(reason.clone()),
            _ => self.done = true,
        }
    }

    fn enter_frame(&mut self, path: &FramePath, key: &str) {
        let Some(initial) = self.workflow(key).map(|workflow| workflow.initial.clone()) else {
            return;
        };
        if !path.is_root() {
            let outer = Place::new(path.as_str());
            self.change_frame(&outer.frame(), |frame| frame.stage = Stage::Inside);
        }
        let before = self.frames.get(&Place::new(path.as_str()).frame());
        let before = before.and_then(|outer| outer.before.clone());
        let frame = Frame { before, ..Frame::new(path.clone(), key, initial) };
        self.frames.insert(path.clone(), frame);
    }

    fn enter_phase(&mut self, at: Millis, place: &Place) {
        self.change_frame(&place.frame(), |frame| {
            frame.phase = place.phase();
            frame.stage = Stage::Entered { approved: false };
            frame.begin_visit();
        });
        let number = self.visits.len();
        self.tally_mut(place).enter(number);
        let (commands, unproven) = (Commands::default(), Vec::new());
        let (place, left) = (place.clone(), None);
        self.visits.push(Visit { place, entered_at: at, commands, unproven, left });
        self.forget_visits();
    }

    fn take_edge(&mut self, taken: &EdgeTaken) {
        let place = taken.frame.place(&taken.from);
        // A person may leave a phase from outside of the workflow in it.
        let below = place.frame_below();
        let behind = match taken.by {
            Mover::Person => self.left_behind(&taken.frame, &below),
            Mover::Run => Vec::new(),
        };
        self.frames.retain(|path, _| !path.is_within(&below));
        self.change_frame(&taken.frame, |frame| {
            match taken.by {
                Mover::Run => *frame.edges.entry(edge(&taken.from, &taken.to)).or_default() += 1,
                Mover::Person => frame.edges.clear(),
            }
            frame.phase = taken.to.clone();
            frame.stage = Stage::Bound;
            frame.stack.clear();
            frame.summary.clone_from(&taken.summary);
            frame.task.clone_from(&taken.task);
            frame.said = std::mem::take(&mut frame.said_here);
            if !behind.is_empty() {
                frame.behind = Some((taken.from.clone(), behind));
            }
            (frame.cleaned, frame.sent) = (false, None);
            // What puts away may be lost as often as the work.
            frame.counters.losses = 0;
        });
        let departure = Departure {
            to: taken.to.clone(),
            outcome: taken.outcome.clone(),
            summary: taken.summary.clone(),
        };
        let Some(last) = self.tally(&place).filter(|it| it.visits > 0).map(|it| it.last_visit)
        else {
            return;
        };
        self.tally_mut(&place).leave(&departure);
        if let Some(visit) = self.visits.get_mut(last) {
            visit.left = Some(departure);
        }
    }

    fn end_frame(&mut self, path: &FramePath, summary: &str) {
        if path.is_root() {
            self.change_frame(path, |frame| frame.stage = Stage::Ended);
            return;
        }
        let Some(inner) = self.frames.remove(path) else { return };
        let outer = Place::new(path.as_str());
        self.change_frame(&outer.frame(), |frame| {
            frame.before = inner.before;
            frame.notes.extend(inner.notes.into_iter().filter(|note| note.told.is_none()));
            frame.stage = Stage::Left {
                target: None,
                outcome: Outcome::from("complete"),
                summary: summary.to_owned(),
                approved: false,
                task: inner.task,
                check: Check::Due,
            };
        });
    }

    fn start_attempt(&mut self, cause: Cause, at: Millis, intent: &AttemptStarted) {
        self.add_attempt(cause, at, intent);
        if intent.chore.is_some() {
            return self.start_chore(intent);
        }
        self.tally_mut(&intent.place).begin(intent);
        self.change_frame(&intent.place.frame(), |frame| {
            frame.stage = Stage::Working { attempt: intent.attempt };
            frame.session_seen &= frame.session.as_ref() == Some(&intent.session);
            frame.session = Some(intent.session.clone());
            frame.counters.begin(intent);
            frame.begin_attempt(intent);
        });
    }

    fn add_attempt(&mut self, cause: Cause, at: Millis, intent: &AttemptStarted) {
        let attempt = Attempt {
            intent: intent.clone(),
            cause,
            started_at: at,
            session_seen: false,
            leave: None,
            parting: None,
            asking: Vec::new(),
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
            chores_done: 0,
            ended: None,
            changes: None,
        };
        self.attempts.push(attempt);
        self.live.insert(intent.attempt);
        self.trees.begin(cause, intent);
    }

    /// Takes down what the worker of an attempt that just started is told.
    pub(crate) fn begin_told(&mut self, intent: &AttemptStarted) {
        self.change(intent.attempt, |attempt| attempt.intent.handover.clone_from(&intent.handover));
    }

    fn open_session(&mut self, id: AttemptId, session: &SessionId) {
        self.change(id, |attempt| {
            attempt.intent.session = session.clone();
            attempt.session_seen = true;
        });
        self.change_frame_of(id, |frame| {
            frame.session = Some(session.clone());
            frame.session_seen = true;
            if let Some((before, _)) = &mut frame.before {
                before.clone_from(session);
            }
        });
        self.forget_sessions();
    }

    fn call_tool(&mut self, called: &ToolCalled) {
        self.run_command(called);
        self.change(called.attempt, |attempt| {
            if attempt.calls.len() >= ANSWERS_MAX {
                attempt.calls.pop_front();
            }
            attempt.calls.push_back((called.call.clone(), called.verdict.clone()));
            attempt.tools = attempt.tools.saturating_add(1);
            attempt.cancel_asked = false;
        });
        if let Some(call) = watched(&called.tool, &called.input) {
            self.change_frame_of(called.attempt, |frame| frame.repeat(call));
        }
        self.spend(called.attempt, &Usage::default(), called.active_ms);
    }

    fn stop(&mut self, id: AttemptId, cause: StopCause, active_ms: u64) {
        self.change(id, |attempt| attempt.stop = Some(cause));
        self.spend(id, &Usage::default(), active_ms);
    }

    fn add_usage(&mut self, id: AttemptId, scope: &Scope, usage: &Usage, active_ms: u64) {
        let Some(session) = self.attempt(id).map(|attempt| attempt.intent.session.clone()) else {
            return;
        };
        let counted = Arc::make_mut(&mut self.sessions).entry(session).or_default();
        let before = counted.sum();
        counted.add(scope, usage);
        let more = counted.sum().minus(&before);
        self.usage = self.usage.plus(&more);
        self.spend(id, &more, active_ms);
    }

    fn end_command(&mut self, id: AttemptId, index: u32, code: Option<i32>, output: &str) {
        self.ran_command(id, index, code);
        let done = index.saturating_add(1);
        if self.attempt(id).is_some_and(|attempt| attempt.duty().is_some()) {
            self.change(id, |attempt| attempt.chores_done = done);
        } else if code == Some(0) {
            self.change_frame_of(id, |frame| frame.counters.commands_done = done);
        }
        if code != Some(0) {
            self.change(id, |attempt| attempt.failed_command = Some((index, output.to_owned())));
        }
    }

    fn accept(
        &mut self,
        cause: Cause,
        id: AttemptId,
        (request, answer): (&str, &str),
        leave: &Leave,
    ) {
        let answered = Answered::kept(answer, Unworded::Leave);
        self.change(id, |attempt| {
            attempt.leave = Some((leave.clone(), cause));
            attempt.remember(request, answered);
        });
        self.change_frame_of(id, Frame::progress);
    }

    fn refuse(&mut self, id: AttemptId, request: &str, answer: &str) {
        let answered = Answered::Refused(answer.to_owned());
        self.change(id, |attempt| attempt.remember(request, answered));
    }

    fn end_attempt(&mut self, cause: Cause, at: Millis, ended: &AttemptEnded) {
        let Some(attempt) = self.attempt(ended.attempt) else { return };
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
            attempt.calls.clear();
            attempt.running.clear();
            attempt.answers.clear();
            if !matches!(ended.end, End::Left | End::BrokeOff) {
                attempt.said = bounded(ended.final_text.trim(), PARTIAL_MAX);
            }
            attempt.asking.clear();
            attempt.cancel_asked = false;
        });
        if matches!(ended.end, End::Unclear { .. }) {
            self.unsend(ended.attempt);
        }
        self.spend(ended.attempt, &Usage::default(), ended.active_ms);
        self.forget_attempts();
    }

    fn end_work(&mut self, ended: &AttemptEnded, stage: Stage) {
        self.change_frame_of(ended.attempt, |frame| {
            frame.still.end(ended.active_ms);
            let counters = &mut frame.counters;
            counters.active_ms = counters.active_ms.saturating_add(ended.active_ms);
            if ended.end == End::Lost {
                counters.losses = counters.losses.saturating_add(1);
            }
            if ended.end == End::Left {
                frame.said_here.clone_from(&ended.final_text);
            }
            frame.stage = stage;
        });
        if ended.end == End::StoppedBy(StopCause::Timeout) {
            self.keep_partial(ended);
        }
    }

    fn open_gate(&mut self, at: Millis, opened: &GateOpened) {
        let gate =
            Gate { opened: opened.clone(), at, answered: None, note: String::new(), told: false };
        self.gates.push(gate);
        self.forget_gates();
        if let Some(asker) = &opened.asker {
            self.change(asker.attempt, |attempt| {
                attempt.asking.push((asker.request.clone(), opened.gate));
                attempt.cancel_asked = false;
            });
        }
        self.change_frame(&opened.place.frame(), |frame| {
            if opened.gate_kind == GateKind::Question {
                frame.questions.push(opened.gate);
            }
            // Who waits without leaving still works.
            if opened.asker.is_none() {
                let held = match std::mem::replace(&mut frame.stage, Stage::Bound) {
                    Stage::Gated { held, .. } | Stage::Chore { held, .. } => held,
                    other => Box::new(other),
                };
                frame.stage = Stage::Gated { gate: opened.gate, held };
            }
        });
    }

    fn answer_gate(
        &mut self,
        at: Millis,
        id: GateId,
        answer: &GateAnswer,
        (who, note, agent): (&str, &str, Option<&String>),
    ) {
        let Some(gate) = self.gates.get_mut(number(id.0)) else { return };
        gate.answered = Some((answer.clone(), who.to_owned(), at));
        note.clone_into(&mut gate.note);
        let (frame, opened) = (gate.opened.place.frame(), gate.opened.clone());
        self.change_frame(&frame, |frame| {
            if opened.asker.is_some() {
                return;
            }
            let Stage::Gated { held, .. } = std::mem::replace(&mut frame.stage, Stage::Bound)
            else {
                return;
            };
            frame.stage = answered(*held, &opened, answer, note);
            if *answer == GateAnswer::Skip {
                frame.progress();
            }
            if *answer == GateAnswer::Retry {
                frame.progress();
                (frame.counters.continuations, frame.counters.unverified) = (0, 0);
                frame.agent = agent.cloned().or_else(|| frame.agent.take());
            }
        });
    }

    pub(super) fn change(&mut self, id: AttemptId, with: impl FnOnce(&mut Attempt)) {
        if let Some(attempt) = self.attempts.get_mut(number(id.0)) {
            with(attempt);
        }
    }

    pub(super) fn change_frame(&mut self, path: &FramePath, with: impl FnOnce(&mut Frame)) {
        if let Some(frame) = self.frames.get_mut(path) {
            with(frame);
        }
    }

    pub(super) fn change_frame_of(&mut self, id: AttemptId, with: impl FnOnce(&mut Frame)) {
        if let Some(path) = self.attempt(id).map(|attempt| attempt.intent.place.frame()) {
            self.change_frame(&path, with);
        }
    }
}

/// The attempt that changed a file, signalled or was told something, and goes on.
fn came_of(event: &Event) -> Option<AttemptId> {
    match event {
        Event::FileChanged { attempt, .. }
        | Event::SnapshotUpdated { attempt, .. }
        | Event::MessageDelivered { attempt, .. } => Some(*attempt),
        Event::GateOpened(opened) => opened.asker.as_ref().map(|asker| asker.attempt),
        _ => None,
    }
}

/// A call that may be made too often: not one of ours, and not one of which only a part is known.
pub(crate) fn watched(tool: &str, input: &str) -> Option<Repeat> {
    let is_whole = !input.ends_with(" bytes cut]");
    (is_whole && !is_ours(tool)).then(|| Repeat::new(tool, input))
}

impl Counters {
    fn begin(&mut self, intent: &AttemptStarted) {
        if !intent.why.is_same_try() {
            self.commands_done = 0;
            self.active_ms = 0;
        }
        match intent.why {
            Why::Nudge { number } => self.nudges = number,
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
            | Why::Asked { .. }
            | Why::Answered { .. }
            | Why::Helps { .. }
            | Why::Helped { .. } => {}
        }
    }

    pub(super) fn progress(&mut self) {
        (self.nudges, self.retries, self.losses, self.waits) = (0, 0, 0, 0);
    }
}

impl Attempt {
    pub(super) fn remember(&mut self, request: &str, answered: Answered) {
        self.cancel_asked = false;
        if self.answers.len() >= ANSWERS_MAX {
            self.answers.pop_front();
        }
        self.answers.push_back((request.to_owned(), answered));
    }
}
