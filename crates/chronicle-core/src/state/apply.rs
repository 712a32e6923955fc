//! How each event changes the state: the only mutator, and total.

use std::sync::Arc;

use super::anomaly::{ANOMALIES_MAX, Anomaly, Impossible};
use super::frame::Still;
use super::stages::{after, answered};
use super::{
    Answered, Attempt, Commands, Counters, Departure, Facts, Frame, Gate, Note, OpenCall, Stage,
    Unworded, Visit, WayOut, number, v1,
};
use crate::base::ids::{AttemptId, Cause, FolderId, FramePath, GateId, Outcome, Place, SessionId};
use crate::base::limits::{ANSWERS_MAX, PARTIAL_MAX, bounded};
use crate::base::time::Millis;
use crate::base::usage::{Scope, Usage};
use crate::event::notice::About;
use crate::event::record::Line;
use crate::event::{
    AttemptEnded, AttemptStarted, EdgeTaken, End, Event, FrameEntered, GateAnswer, GateKind,
    GateOpened, Leave, Mover, RunStarted, StopCause, ToolCalled, Why,
};

impl Facts {
    /// Takes in one line of the ledger.
    pub(super) fn apply(&mut self, line: &Line) {
        for (index, event) in (0u32..).zip(&line.events) {
            self.apply_event(Cause { seq: line.seq, index }, line.at, event);
        }
        self.seq = line.seq;
    }

    /// Takes in one event of the line that `cause` names.
    pub(super) fn apply_event(&mut self, cause: Cause, at: Millis, event: &Event) {
        self.updated_at = at;
        self.take_in(cause, at, event);
    }

    /// What each event changes. The only list of all events in this layer: what one changes is in the
    /// file of its concern.
    fn take_in(&mut self, cause: Cause, at: Millis, event: &Event) {
        match event {
            Event::RunStarted(run) => self.start_run(at, run),
            Event::SupervisorStarted(supervisor) => self.take_over(cause, supervisor),
            Event::TailSetAside { .. } => {}
            Event::RunPaused { reason } => self.paused = Some(reason.clone()),
            Event::RunResumed => self.paused = None,
            Event::RunFailed { reason } => self.end_run(cause, RunEnd::Failed(reason)),
            Event::RunCancelled { reason } => self.end_run(cause, RunEnd::Cancelled(reason)),
            Event::RunDone => self.end_run(cause, RunEnd::Done),
            Event::FrameEntered(entered) => self.enter_frame(entered),
            Event::PhaseEntered { place } => self.enter_phase(at, place),
            Event::EdgeTaken(edge) => self.take_edge(edge),
            Event::Rewound { carried, .. } => self.rewind(at, carried),
            Event::FrameEnded { frame, outcome, summary } => {
                self.end_frame(frame, outcome, summary);
            }
            Event::AttemptStarted(intent) => self.start_attempt(cause, at, intent),
            Event::SessionOpened { attempt, session } => self.open_session(*attempt, session),
            Event::ToolCalled(called) => self.call_tool(called),
            Event::ToolEnded { attempt, call, ok, active_ms } => {
                self.end_call(*attempt, call, *ok, *active_ms);
            }
            Event::FileChanged { attempt, path, .. } => self.change_file(cause, *attempt, path),
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
            Event::BreakAccepted { attempt, request, parting, answer } => {
                self.break_off(cause, *attempt, (request, answer), parting);
            }
            Event::SnapshotUpdated { attempt, request, update, answer } => {
                self.update_snapshot(cause, *attempt, (request, answer), update);
            }
            Event::ClaimsUnproven(said) => self.doubt(said),
            Event::CancelAsked { attempt, request, answer } => {
                self.ask_cancel(*attempt, request, answer);
            }
            Event::CancelDropped { attempt } => self.drop_cancel(*attempt),
            Event::FollowUpBegan { place, follow_up } => self.begin_follow_up(place, follow_up),
            Event::FollowUpEnded { place, persona, outcome, summary, .. } => {
                self.end_follow_up(place, persona, (outcome, summary));
            }
            Event::StopAsked { attempt, cause, active_ms } => {
                self.stop(*attempt, *cause, *active_ms);
            }
            Event::AttemptEnded(ended) => self.end_attempt(cause, at, ended),
            Event::TreeRecorded(recorded) => self.record_tree(cause, recorded),
            Event::TreeMissed { moment, folder, why } => self.miss_tree(*moment, *folder, why),
            Event::UndoStarted { folder, to, .. } => self.begin_undo(cause, *folder, to),
            Event::UndoEnded { folder, .. } => self.end_undo(*folder),
            Event::GateOpened(opened) => self.open_gate(cause, at, opened),
            Event::GateAnswered { gate, answer, who, note, agent } => {
                self.answer_gate(at, *gate, answer, (who, note, agent.as_ref()));
            }
            Event::WaitBegan(began) => self.begin_wait(cause, began),
            Event::WaitEnded(ended) => self.end_wait(ended),
            Event::BudgetWarned(warned) => self.budgets.warn(warned),
            Event::BudgetRaised(raised) => self.budgets.raise(cause, raised),
            Event::NoteGiven { note, place, who, text, attempt } => {
                self.give_note(place, Note::new(*note, who, text, *attempt));
            }
            Event::NoticeGiven(given) => self.settle_notice(given),
            Event::MessageDelivered { attempt, message, .. } => {
                self.deliver(cause, *attempt, *message);
            }
            Event::GoAsked { place, who, note } => self.send(place, who, note),
        }
    }

    /// Something came of what an attempt does: from now on it is counted anew how long nothing did.
    pub(super) fn stir(&mut self, cause: Cause, id: AttemptId) {
        let from_ms = self.attempt(id).map_or(0, |attempt| attempt.active_ms);
        self.change_frame_of(id, |frame| {
            frame.worker.still = Still { since: Some(cause), from_ms, before_ms: 0 };
        });
    }

    fn start_run(&mut self, at: Millis, run: &Arc<RunStarted>) {
        (self.run, self.started_at) = (Some(Arc::clone(run)), at);
        if let Some(carried) = &run.carried {
            self.enter_carried(at, carried);
        }
    }

    fn end_run(&mut self, cause: Cause, end: RunEnd<'_>) {
        match end {
            RunEnd::Done => self.done = true,
            RunEnd::Cancelled(reason) => self.cancelled = Some(reason.to_owned()),
            RunEnd::Failed(reason) => self.failed = Some(reason.to_owned()),
        }
        self.owe(cause, About::End);
    }

    fn enter_frame(&mut self, entered: &FrameEntered) {
        let path = &entered.frame;
        let Some(initial) = self.workflow(&entered.workflow).map(|it| it.initial.clone()) else {
            return self.impossible(Impossible::Workflow(entered.workflow.clone()));
        };
        let at = entered.at.clone().or_else(|| v1::at(path));
        let outer = at.as_ref().map(Place::frame);
        if let Some(outer) = &outer {
            self.change_frame(outer, |frame| frame.stage = Stage::Inside);
        }
        let outer = outer.and_then(|outer| self.frames.get(&outer));
        let before = outer.and_then(|outer| outer.before.clone());
        let folder = outer.map_or(FolderId::Project, |outer| outer.folder);
        let frame = Frame::new(path.clone(), &entered.workflow, initial);
        let frame = Frame { at, step: entered.step.clone(), folder, before, ..frame };
        self.frames.insert(path.clone(), frame);
    }

    pub(super) fn enter_phase(&mut self, at: Millis, place: &Place) {
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
                Mover::Run => frame.count_edge(&taken.from, &taken.to),
                Mover::Person => frame.edges.clear(),
            }
            frame.phase = taken.to.clone();
            frame.stage = Stage::Bound;
            frame.stack.clear();
            frame.left = Some((taken.from.clone(), taken.outcome.clone()));
            frame.summary.clone_from(&taken.summary);
            frame.task.clone_from(&taken.task);
            frame.said = std::mem::take(&mut frame.said_here);
            if !behind.is_empty() {
                frame.behind = Some((taken.from.clone(), behind));
            }
            (frame.cleaned, frame.sent) = (false, None);
            // What puts away may be lost as often as the work.
            frame.worker.counters.losses = 0;
        });
        let departure = Departure {
            to: taken.to.clone(),
            outcome: taken.outcome.clone(),
            summary: taken.summary.clone(),
        };
        self.depart(&place, departure);
    }

    /// The last visit of a place is over.
    pub(super) fn depart(&mut self, place: &Place, departure: Departure) {
        let Some(last) = self.tally(place).filter(|it| it.visits > 0).map(|it| it.last_visit)
        else {
            return;
        };
        self.tally_mut(place).leave(&departure);
        if let Some(visit) = self.visits.get_mut(last) {
            visit.left = Some(departure);
        }
    }

    fn end_frame(&mut self, path: &FramePath, outcome: &Outcome, summary: &str) {
        let at = self.frames.get(path).and_then(|frame| frame.at.clone());
        let Some(at) = at else {
            return self.change_frame(path, |frame| frame.stage = Stage::Ended(outcome.clone()));
        };
        let Some(inner) = self.frames.remove(path) else { return };
        self.change_frame(&at.frame(), |frame| {
            frame.before = inner.before;
            frame.notes.extend(inner.notes.into_iter().filter(|note| note.told.is_none()));
            let way = WayOut::new(outcome.clone(), summary.to_owned());
            frame.stage = Stage::Left(WayOut { task: inner.task, ..way });
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
            let worker = &mut frame.worker;
            worker.session_seen &= worker.session.as_ref() == Some(&intent.session);
            worker.session = Some(intent.session.clone());
            worker.counters.begin(intent);
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
    pub(super) fn begin_told(&mut self, intent: &AttemptStarted) {
        self.change(intent.attempt, |attempt| attempt.intent.handover.clone_from(&intent.handover));
    }

    fn open_session(&mut self, id: AttemptId, session: &SessionId) {
        self.change(id, |attempt| {
            attempt.intent.session = session.clone();
            attempt.session_seen = true;
        });
        self.change_frame_of(id, |frame| {
            frame.worker.session = Some(session.clone());
            frame.worker.session_seen = true;
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
            attempt.calls.push_back(OpenCall {
                id: called.call.clone(),
                sum: called.sum,
                verdict: called.verdict.clone(),
            });
            attempt.tools = attempt.tools.saturating_add(1);
            attempt.cancel_asked = false;
        });
        self.change_frame_of(called.attempt, |frame| frame.worker.call(called));
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
            self.change_frame_of(id, |frame| frame.worker.counters.commands_done = done);
        }
        if code != Some(0) {
            self.change(id, |attempt| attempt.failed_command = Some((index, output.to_owned())));
        }
    }

    fn refuse(&mut self, id: AttemptId, request: &str, answer: &str) {
        let answered = Answered::Refused(answer.to_owned());
        self.change(id, |attempt| attempt.remember(request, answered));
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
        self.change_frame_of(id, |frame| frame.worker.progress());
    }

    fn end_attempt(&mut self, cause: Cause, at: Millis, ended: &AttemptEnded) {
        let Some(attempt) = self.attempt(ended.attempt) else {
            return self.impossible(Impossible::Attempt(ended.attempt));
        };
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
            frame.worker.still.end(ended.active_ms);
            let counters = &mut frame.worker.counters;
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

    fn open_gate(&mut self, cause: Cause, at: Millis, opened: &GateOpened) {
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
                let held = Box::new(frame.stage.hold());
                frame.stage = Stage::Gated { gate: opened.gate, held };
            }
        });
        self.owe(cause, About::Gate(opened.gate));
        if let Some(asker) = &opened.asker {
            self.stir(cause, asker.attempt);
        }
    }

    fn answer_gate(
        &mut self,
        at: Millis,
        id: GateId,
        answer: &GateAnswer,
        (who, note, agent): (&str, &str, Option<&String>),
    ) {
        self.remark_at_gate(id, answer, who, note);
        let Some(gate) = self.gates.get_mut(number(id.0)) else {
            return self.impossible(Impossible::Gate(id));
        };
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
                frame.worker.progress();
            }
            if *answer == GateAnswer::Retry {
                frame.worker.progress();
                let counters = &mut frame.worker.counters;
                (counters.continuations, counters.unverified) = (0, 0);
                frame.agent = agent.cloned().or_else(|| frame.agent.take());
            }
        });
    }

    /// An attempt that ended long ago is known no more, and one that was never started was never known.
    pub(super) fn change(&mut self, id: AttemptId, with: impl FnOnce(&mut Attempt)) {
        match self.attempts.get_mut(number(id.0)) {
            Some(attempt) => with(attempt),
            None => self.impossible(Impossible::Attempt(id)),
        }
    }

    pub(super) fn change_frame(&mut self, path: &FramePath, with: impl FnOnce(&mut Frame)) {
        match self.frames.get_mut(path) {
            Some(frame) => with(frame),
            None => self.impossible(Impossible::Frame(path.clone())),
        }
    }

    pub(super) fn change_frame_of(&mut self, id: AttemptId, with: impl FnOnce(&mut Frame)) {
        match self.attempt(id).map(|attempt| attempt.intent.place.frame()) {
            Some(path) => self.change_frame(&path, with),
            None => self.impossible(Impossible::Attempt(id)),
        }
    }

    /// Takes down that the ledger says what cannot have happened. Nothing is refused here: a fold is total. Whoever writes or
    /// checks a ledger looks at it.
    pub(super) fn impossible(&mut self, what: Impossible) {
        if self.anomalies.len() < ANOMALIES_MAX {
            self.anomalies.push(Anomaly { seq: self.seq.saturating_add(1), what });
        }
    }
}

/// How a run ends.
#[derive(Clone, Copy)]
enum RunEnd<'a> {
    Done,
    Cancelled(&'a str),
    Failed(&'a str),
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
