//! How each event changes the state: the only mutator. It never fails.

use std::sync::Arc;

use super::anomaly::{ANOMALIES_MAX, Anomaly, Impossible};
use super::apart::Apart;
use super::gate::Spoken;
use super::{
    Attempt, Commands, Departure, Facts, Frame, Note, Stage, Status, Visit, WayOut, number, v1,
};
use crate::base::ids::{AttemptId, Cause, FolderId, FramePath, Outcome, Place};
use crate::base::time::Millis;
use crate::event::input::Actor;
use crate::event::notice::About;
use crate::event::record::Line;
use crate::event::{EdgeTaken, End, Event, FrameEntered, Mover, RunStarted};

impl Facts {
    /// Applies one line of the ledger.
    pub(super) fn apply(&mut self, line: &Line) {
        let is_person = matches!(line.by.actor, Actor::Person(_));
        // Asked before the line: it may itself lead on to an attempt that nobody has started yet.
        let rested = is_person && self.live.is_empty() && self.status() == Status::Waiting;
        for (index, event) in (0u32..).zip(&line.events) {
            self.apply_event(Cause { seq: line.seq, index }, line.at, event);
        }
        // What is written down without a supervisor after a person's command is nobody's work.
        let still = is_person || line.events.first().is_some_and(|event| self.is_no_work(event));
        self.is_ready = still && (self.is_ready || rested);
        // Only at the end: while a line is applied, `seq` is the line before it, and anomalies count from there.
        self.seq = line.seq;
    }

    /// True for what may follow a person's command although nobody drives the run: files are recorded, notices are missed, and an
    /// attempt that never began is stopped.
    fn is_no_work(&self, event: &Event) -> bool {
        if let Event::AttemptEnded(ended) = event {
            let never_began = |attempt: &Attempt| attempt.active_ms == 0 && !attempt.session_seen;
            return ended.end == End::Stopped
                && self.attempt(ended.attempt).is_some_and(never_began);
        }
        matches!(event, Event::TreeRecorded(_) | Event::NoticeGiven(_))
    }

    /// Applies one event of the line that `cause` names.
    pub(super) fn apply_event(&mut self, cause: Cause, at: Millis, event: &Event) {
        // The only clock that the state has: the time of the last line. Waits are worked out from it, so that deciding a line
        // again gives the same times.
        self.updated_at = at;
        self.take_in(cause, at, event);
    }

    /// The table of all events. What an event changes is in the file of its concern.
    fn take_in(&mut self, cause: Cause, at: Millis, event: &Event) {
        // One arm per event and no wildcard: a new event does not compile until somebody has decided what it changes.
        match event {
            Event::RunStarted(run) => self.start_run(cause, at, run),
            Event::SupervisorStarted(supervisor) => self.take_over(cause, supervisor),
            Event::TailSetAside { .. } | Event::LedgerRepaired(_) => {}
            Event::RunTitled { title, .. } => {
                self.title = Some(title.clone()).filter(|title| !title.is_empty());
            }
            Event::RunPaused { reason } => self.paused = Some(reason.clone()),
            Event::RunResumed => self.resume(cause),
            Event::RunFailed { reason } => self.end_run(cause, RunEnd::Failed(reason)),
            Event::RunCancelled { reason } => self.end_run(cause, RunEnd::Cancelled(reason)),
            Event::RunDone => self.end_run(cause, RunEnd::Done),
            Event::FrameEntered(entered) => self.enter_frame(entered),
            Event::PhaseEntered { place } => self.enter_phase(at, place),
            Event::EdgeTaken(edge) => self.take_edge(cause, edge),
            Event::Rewound { carried, .. } => self.rewind(cause, at, carried),
            Event::FrameEnded { frame, outcome, summary } => {
                self.end_frame(cause, frame, outcome, summary);
            }
            Event::AttemptStarted(intent) => self.start_attempt(cause, at, intent),
            Event::SessionOpened { attempt, session } => self.open_session(*attempt, session),
            Event::GuardUnproven { attempt, why } => self.work_unproven(*attempt, why),
            Event::AttemptRewalled(rewalled) => self.rewall(rewalled),
            Event::RoomAwaited(awaited) => self.await_room(cause, awaited),
            Event::RoomTaken { attempt } => self.take_room(at, *attempt),
            Event::WallHit { attempt, .. } => self.hit_wall(*attempt),
            Event::ToolCalled(called) => self.call_tool(cause, at, called),
            Event::ToolEnded { attempt, call, goes_on: true, active_ms, .. } => {
                self.leave_call(*attempt, call, *active_ms);
            }
            Event::ToolEnded { attempt, call, ok, active_ms, .. } => {
                self.end_call(*attempt, call, *ok, at, *active_ms);
            }
            Event::FileChanged { attempt, path, .. } => self.change_file(cause, *attempt, path),
            Event::UsageReported { attempt, scope, usage, active_ms } => {
                self.add_usage(*attempt, scope, usage, *active_ms);
            }
            Event::CommandEnded { attempt, index, code, output } => {
                self.end_command(*attempt, *index, *code, output);
            }
            Event::SignalAccepted { attempt, request, leave, answer } => {
                self.accept(cause, *attempt, request, answer, leave);
            }
            Event::SignalRefused { attempt, request, answer } => {
                self.refuse(*attempt, request, answer);
            }
            Event::BreakAccepted { attempt, request, parting, answer } => {
                self.break_off(cause, *attempt, request, answer, parting);
            }
            Event::SnapshotUpdated { attempt, request, update, answer } => {
                self.update_snapshot(cause, *attempt, request, answer, update);
            }
            Event::ClaimsUnproven(said) => self.doubt(said),
            Event::CancelAsked { attempt, request, answer } => {
                self.ask_cancel(*attempt, request, answer);
            }
            Event::CancelDropped { attempt } => self.drop_cancel(*attempt),
            Event::FollowUpBegan { place, follow_up } => self.begin_follow_up(place, follow_up),
            Event::FollowUpEnded { place, persona, outcome, summary, .. } => {
                self.end_follow_up(place, persona, outcome, summary);
            }
            Event::StopAsked { attempt, cause, active_ms } => {
                self.stop(*attempt, *cause, *active_ms);
            }
            Event::AttemptEnded(ended) => self.end_attempt(cause, at, ended),
            Event::TreeRecorded(recorded) => self.record_tree(cause, recorded),
            Event::TreeMissed { moment, folder, why } => self.miss_tree(*moment, *folder, why),
            Event::UndoStarted(undo) => self.begin_undo(cause, undo),
            Event::UndoEnded(restored) => self.end_undo(restored),
            Event::PoolEntered { place, .. } => self.enter_pool(cause, place),
            Event::PoolPlanned(planned) => self.plan_pool(planned),
            Event::StepsUnread { place, why } => self.unread_steps(place, why),
            Event::PlanMade(made) => self.make_plan(made),
            Event::SlotTaken(taken) => self.take_slot(cause, taken),
            Event::SlotFreed(freed) => self.free_slot(freed),
            Event::StepAsked(asked) => self.ask_step(asked),
            Event::StepSettled(settled) => self.settle_step(settled),
            Event::RaceDecided(decided) => self.decide_race(decided),
            Event::PoolEnded { place, outcome, summary, .. } => {
                self.end_pool(place, outcome, summary);
            }
            Event::FolderMade(made) => self.make_folder(made),
            Event::FolderLost { folder } => self.lose_folder(cause, *folder),
            Event::FolderFailed { folder, why } => self.fail_folder(*folder, why),
            Event::FolderDropped { folder, error } => self.drop_folder(*folder, error.as_ref()),
            Event::MergeBegan(began) => self.begin_merge(cause, began),
            Event::MergePlanned(planned) => self.plan_merge(cause, planned),
            Event::MergeWritten(written) => self.write_merge(cause, written),
            Event::RunMergeBegan(began) => self.begin_own_merge(cause, began),
            Event::WorkDropped { .. } => self.drop_work(cause),
            Event::GateOpened(opened) => self.open_gate(cause, at, opened),
            Event::GateAnswered { gate, answer, who, note, agent, from } => {
                self.answer_gate(cause, at, *gate, answer, &Spoken { who, note, agent, from });
            }
            Event::CallHeld(held) => self.hold_call(cause, at, held),
            Event::FellBack(fell) => self.fall_back(fell),
            Event::WaitBegan(began) => self.begin_wait(cause, began),
            Event::WaitEnded(ended) => self.end_wait(ended),
            Event::BudgetWarned(warned) => self.budgets.warn(warned),
            Event::BudgetRaised(raised) => self.budgets.raise(cause, raised),
            Event::LoopsAllowed { place, more, .. } => self.allow_rounds(place, *more),
            Event::NoteGiven { note, place, who, text, attempt } => {
                self.give_note(cause, place, Note::new(*note, who, text, *attempt));
            }
            Event::NoticeGiven(given) => self.settle_notice(given),
            Event::MessageDelivered { attempt, message, .. } => {
                self.deliver(cause, *attempt, *message);
            }
            Event::GoAsked { place, who, note } => self.send(place, who, note),
        }
    }

    fn start_run(&mut self, cause: Cause, at: Millis, run: &Arc<RunStarted>) {
        (self.run, self.started_at) = (Some(Arc::clone(run)), at);
        self.apart = run.apart.then(|| Box::new(Apart::new(cause)));
        if let Some(carried) = &run.carried {
            self.enter_carried(at, carried);
        }
    }

    fn resume(&mut self, cause: Cause) {
        self.paused = None;
        self.try_own_again(cause);
    }

    fn end_run(&mut self, cause: Cause, end: RunEnd<'_>) {
        match end {
            RunEnd::Done => self.done = true,
            RunEnd::Cancelled(reason) => self.cancelled = Some(reason.to_owned()),
            RunEnd::Failed(reason) => self.failed = Some(reason.to_owned()),
        }
        // In the fold, as for gates: if the supervisor dies before it has told anybody, the notice is still owed.
        self.owe(cause, About::End);
    }

    fn enter_frame(&mut self, entered: &FrameEntered) {
        let path = &entered.frame;
        let Some(initial) = self.workflow(&entered.workflow).map(|it| it.initial.clone()) else {
            return self.impossible(Impossible::Workflow(entered.workflow.clone()));
        };
        // Lines of the first version name only the path, which was parsed then. New ones say it themselves.
        let at = entered.at.clone().or_else(|| v1::at(path));
        let outer = at.as_ref().map(Place::frame);
        if let Some(outer) = &outer {
            // From here on the outer frame rests: otherwise it would go on beside the one inside of it.
            self.change_frame(outer, Frame::go_inside);
        }
        let outer = outer.and_then(|outer| self.frames.get(&outer));
        // A phase inside may continue in the session of the phase before it outside.
        let before = outer.and_then(|outer| outer.before.clone());
        let folder = outer.map_or(FolderId::Project, |outer| outer.folder);
        let of_step = at.as_ref().zip(entered.step.as_ref());
        let of_step = of_step.and_then(|(at, step)| self.pools.get(at)?.step(step));
        // A step has a folder, a session and a task of its own.
        let (before, folder, task) = match of_step {
            Some(step) => (step.before.clone(), step.folder.unwrap_or_default(), step.task.clone()),
            None => (before, folder, None),
        };
        let frame = Frame::new(path.clone(), &entered.workflow, initial);
        let frame = Frame { at, task, step: entered.step.clone(), folder, before, ..frame };
        self.frames.insert(path.clone(), frame);
        if let Some((place, step)) = entered.at.as_ref().zip(entered.step.as_ref()) {
            self.begin_step(place, step);
        }
    }

    pub(super) fn enter_phase(&mut self, at: Millis, place: &Place) {
        self.change_frame(&place.frame(), |frame| {
            frame.phase = place.phase();
            frame.stage = Stage::Entered { approved: false };
            frame.begin_visit();
        });
        if self.phase_at(place).is_some_and(|phase| phase.produces.is_some()) {
            // Whoever plans here plans anew.
            self.change_frame(&place.frame(), |frame| frame.plan = None);
        }
        self.begin_visit(at, place);
    }

    /// Records a new visit of a place.
    pub(super) fn begin_visit(&mut self, at: Millis, place: &Place) {
        let number = self.visits.len();
        self.tally_mut(place).enter(number);
        let (commands, unproven) = (Commands::default(), Vec::new());
        let task = self.frames.get(&place.frame()).and_then(|frame| frame.task.clone());
        let (place, left, attempts_before) = (place.clone(), None, self.attempts.len());
        self.visits.push(Visit {
            place,
            entered_at: at,
            attempts_before,
            task,
            commands,
            unproven,
            left,
        });
        self.forget_visits();
    }

    fn take_edge(&mut self, cause: Cause, taken: &EdgeTaken) {
        let place = taken.frame.place(&taken.from);
        if self.frames.get(&taken.frame).is_some_and(|frame| frame.phase != taken.from) {
            // A defect, or not written by us. Applied all the same, it would leave a phase that the frame is not at.
            return self.impossible(Impossible::Left(place));
        }
        // A person may leave a phase from outside of the workflow in it.
        let below = place.frame_below();
        let behind = match taken.by {
            Mover::Person => self.left_behind(&taken.frame, &below),
            Mover::Run => Vec::new(),
        };
        // Frames inside the phase that is left go with it, whatever they were doing.
        self.frames.retain(|path, _| !path.is_within(&below));
        self.leave_pools(cause, &below);
        let is_watched = self.phase_at(&place).is_some_and(|it| it.limits.loops.progress.is_some());
        self.change_frame(&taken.frame, |frame| {
            frame.count_move(&taken.from, &taken.to);
            match taken.by {
                Mover::Run => frame.count_edge(&taken.from, &taken.to),
                // Counts begin anew after a person's move: they have seen how often it went round, and decided to go on.
                Mover::Person => frame.edges.clear(),
            }
            match taken.by {
                Mover::Run if is_watched => {
                    frame.rounds.take(&taken.from, &taken.to, &taken.issues);
                }
                Mover::Run => {}
                Mover::Person => frame.rounds.forget_ways(),
            }
            frame.phase = taken.to.clone();
            frame.stage = Stage::Bound;
            // Whoever waited for help at this phase is not needed any more.
            frame.stack.clear();
            frame.left = Some((taken.from.clone(), taken.outcome.clone()));
            // Handed to the next phase, and overwritten by the one after it. The visit below keeps its own copy.
            frame.summary.clone_from(&taken.summary);
            frame.task.clone_from(&taken.task);
            frame.said = std::mem::take(&mut frame.said_here);
            frame.behind = behind;
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

    /// Closes the last visit of a place.
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

    fn end_frame(&mut self, cause: Cause, path: &FramePath, outcome: &Outcome, summary: &str) {
        let at = self.frames.get(path).and_then(|frame| frame.at.clone());
        let Some(at) = at else {
            // The root frame stays: views show where the run ended.
            return self.change_frame(path, |frame| frame.stage = Stage::Ended(outcome.clone()));
        };
        // What nobody was told yet moves out with the frame: a note must reach the next worker, wherever that is.
        let Some(inner) = self.frames.remove(path) else { return };
        if inner.step.is_some() {
            return self.end_step_frame(cause, inner, outcome, summary);
        }
        if self.judged_by(&inner).is_some() {
            return self.end_judge(inner, summary);
        }
        self.change_frame(&at.frame(), |frame| {
            // The pool after a phase that is a workflow has the plan that was made inside.
            frame.plan = inner.plan.or_else(|| frame.plan.take());
            // The next phase may continue in the session of the last one inside.
            frame.before = inner.before;
            frame.notes.extend(inner.notes.into_iter().filter(|note| note.told.is_none()));
            let way = WayOut::new(outcome.clone(), summary.to_owned());
            frame.stage = Stage::Left(WayOut { task: inner.task, ..way });
        });
    }

    /// Changes an attempt. One that ended long ago is dropped and ignored; one that never started is an anomaly.
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

    /// Records an anomaly. Nothing is refused here, since a fold never fails: writers and audits look at the list.
    pub(super) fn impossible(&mut self, what: Impossible) {
        // Bounded: a damaged or hostile ledger can have one in every line.
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
