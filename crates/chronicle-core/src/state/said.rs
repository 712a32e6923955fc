//! How signals, help, notes and messages change the state.

use std::sync::Arc;

use super::stages::left_as;
use super::{
    Answered, Did, Facts, Frame, Impossible, Note, Parted, Stage, Unworded, Waiting, number, v1,
};
use crate::base::ids::{AttemptId, Cause, Outcome, Place, SHELL};
use crate::event::{
    AttemptEnded, AttemptStarted, Break, FollowUp, GateAnswer, Message, SnapshotUpdate, Why,
};

/// Most reasons of one try that are kept: the first, and the latest.
const REASONS_MAX: usize = 16;

impl Facts {
    pub(super) fn drop_cancel(&mut self, id: AttemptId) {
        self.change(id, |attempt| attempt.cancel_asked = false);
    }

    pub(super) fn break_off(
        &mut self,
        cause: Cause,
        id: AttemptId,
        request: &str,
        answer: &str,
        parting: &Break,
    ) {
        let answered = Answered::kept(answer, Unworded::Break);
        self.change(id, |attempt| {
            attempt.parting = Some((parting.clone(), cause));
            attempt.remember(request, answered);
        });
        let session = self.attempt(id).map(|attempt| attempt.intent.session.clone());
        self.change_frame_of(id, |frame| {
            // Kept with the session: if the agent repeats the call after a restart, it is told that it was heard already.
            frame.worker.parted = session.map(|session| {
                let (request, parting) = (request.to_owned(), parting.clone());
                Box::new(Parted { session, request, parting })
            });
        });
    }

    pub(super) fn update_snapshot(
        &mut self,
        cause: Cause,
        id: AttemptId,
        request: &str,
        answer: &str,
        update: &SnapshotUpdate,
    ) {
        let frame = self.attempt(id).map(|attempt| attempt.intent.place.frame());
        // Looked at before merging. Saying the same again is not progress.
        let before =
            frame.as_ref().map_or_else(|| Arc::clone(&self.snapshot), |it| self.snapshot_at(it));
        let is_new = before.gains(update);
        if !frame.is_some_and(|frame| self.add_to_layer(&frame, update)) {
            Arc::make_mut(&mut self.snapshot).merge(update);
        }
        let answered = Answered::kept(answer, Unworded::Snapshot);
        self.change(id, |attempt| attempt.remember(request, answered));
        if is_new {
            self.get_on(cause, id);
        }
    }

    /// Keeps what a worker that timed out had said, if there is room.
    pub(super) fn keep_partial(&mut self, ended: &AttemptEnded) {
        let place = self.attempt(ended.attempt).map(|attempt| attempt.intent.place.clone());
        let Some(place) = place else { return };
        let Some(phase) = self.phase_at(&place) else { return };
        let finding = match ended.partial.as_str() {
            "" => v1::partial(phase, ended),
            kept => Some(kept.to_owned()),
        };
        let Some(finding) = finding else { return };
        let findings = vec![finding];
        let update = SnapshotUpdate { findings, ..SnapshotUpdate::default() };
        // A snapshot that is full keeps what workers chose to write rather than the last words of one that timed out.
        let Ok(snapshot) = self.snapshot_at(&place.frame()).with(&update) else { return };
        if !self.add_to_layer(&place.frame(), &update) {
            self.snapshot = Arc::new(snapshot);
        }
    }

    pub(super) fn ask_cancel(&mut self, id: AttemptId, request: &str, answer: &str) {
        let answered = Answered::kept(answer, Unworded::Cancel);
        self.change(id, |attempt| {
            attempt.remember(request, answered);
            attempt.cancel_asked = true;
        });
    }

    pub(super) fn begin_follow_up(&mut self, place: &Place, follow_up: &FollowUp) {
        let asker = self.phase_at(place).map(|phase| phase.worker_name().to_owned());
        self.change_frame(&place.frame(), |frame| {
            let asker = frame.helper().map(|helper| helper.persona.clone()).or(asker);
            frame.progress.followups = frame.progress.followups.saturating_add(1);
            // The whole worker is put on the stack, with session and counters. The helper starts with none of its failures.
            let (follow_up, worker) = (follow_up.clone(), std::mem::take(&mut frame.worker));
            frame.stack.push(Waiting { follow_up, worker });
            frame.stage = Stage::Ready { why: Why::Helps { asker: asker.unwrap_or_default() } };
        });
    }

    /// The waiting worker continues where it was, or its phase is done.
    pub(super) fn end_follow_up(
        &mut self,
        place: &Place,
        persona: &str,
        outcome: &Outcome,
        summary: &str,
    ) {
        let mut nobody_waits = false;
        self.change_frame(&place.frame(), |frame| {
            let Some(waiting) = frame.stack.pop() else { return nobody_waits = true };
            // As it was when it asked, with its session and counters: what went wrong for the helper is not held against it.
            frame.worker = waiting.worker;
            let is_last = frame.stack.is_empty();
            frame.stage = match (waiting.follow_up.resume, is_last) {
                (true, _) => {
                    let persona = persona.to_owned();
                    Stage::Ready { why: Why::Helped { persona, summary: summary.to_owned() } }
                }
                (false, true) => left_as(outcome.as_str(), summary.to_owned()),
                // Whoever asked was help itself, and is done with this.
                (false, false) => {
                    let (outcome, summary) = (outcome.clone(), summary.to_owned());
                    Stage::BrokeOff { parting: Break::Helped { outcome, summary } }
                }
            };
        });
        if nobody_waits {
            self.impossible(Impossible::Help(place.frame()));
        }
    }

    pub(super) fn give_note(&mut self, cause: Cause, place: &Place, note: Note) {
        self.remark(place.clone(), &note.who, Did::Noted, &note.text);
        // Numbers of notes go up over the whole run, also those that a frame has dropped.
        self.notes = self.notes.max(note.id.0);
        // Of a step only where no frame of it is open: it is handed over when the step begins.
        if let Some((at, _, step)) = self.step_called(place) {
            let (at, id) = (at.clone(), step.id.clone());
            return self.change_step(&at, &id, |step| step.notes.push(note));
        }
        self.change_frame(&place.frame(), |frame| frame.notes.push(note));
        // With a new instruction a worker may have to do again what it did before.
        self.renew(cause, place);
    }

    pub(super) fn deliver(&mut self, cause: Cause, id: AttemptId, message: Message) {
        if let Message::Answer(gate) | Message::Verdict(gate) = message
            && self.gates.get(number(gate.0)).is_none()
        {
            return self.impossible(Impossible::Gate(gate));
        }
        self.hear(id, message);
        // Time without progress counts from here: what the worker was told may need a new beginning.
        self.spoken_to(cause, id);
    }

    fn hear(&mut self, id: AttemptId, message: Message) {
        match message {
            Message::Note(note) => self.change_frame_of(id, |frame| {
                // A call that was repeated in vain before may be right after this note.
                frame.worker.repeats.clear();
                for known in frame.notes.iter_mut().filter(|known| known.id == note) {
                    known.told = Some(id);
                }
            }),
            Message::Wall => self.change(id, |attempt| attempt.wall_told = true),
            Message::Verdict(gate) => self.heard_verdict(id, gate),
            Message::Answer(gate) => {
                let Some(known) = self.gates.get_mut(number(gate.0)) else { return };
                known.told = true;
                let said = match &known.answered {
                    Some((GateAnswer::Said(text), ..)) => text.clone(),
                    Some(_) | None => String::new(),
                };
                self.change(id, |attempt| {
                    let asked = attempt.asking.iter().find(|(_, asked)| *asked == gate);
                    let request = asked.map(|(request, _)| request.clone());
                    attempt.asking.retain(|(_, asked)| *asked != gate);
                    if let Some(request) = request {
                        // If the agent sends its question again, it gets this answer and no second gate.
                        attempt.remember(&request, Answered::Accepted(said));
                    }
                });
            }
        }
    }
}

impl Frame {
    /// Records what the next attempt of the same try must be told, and that notes are part of its handover.
    pub(super) fn begin_attempt(&mut self, intent: &AttemptStarted) {
        let worker = &mut self.worker;
        if !intent.why.is_same_try() {
            worker.reasons.clear();
            // Another try may have to make the same call again, and then it is not done already.
            worker.parted = None;
        }
        // An interruption is told once, however often it came; and answers are told together.
        worker.reasons.retain(|why| {
            !matches!(
                why,
                Why::Lost
                    | Why::Paused
                    | Why::Raised
                    | Why::Waited
                    | Why::Progressed
                    | Why::SessionGone
                    | Why::Answered { .. }
            )
        });
        if worker.reasons.len() >= REASONS_MAX {
            // Not the first: it says why the phase began, which every worker must know.
            worker.reasons.remove(1);
        }
        worker.reasons.push(intent.why.clone());
        worker.try_number = intent.try_number;
        // Commands read no handover, so no note was told by this, and they have no session that the next phase could continue in.
        if intent.agent == SHELL {
            return;
        }
        self.before = Some((intent.session.clone(), intent.agent.clone()));
        for note in &mut self.notes {
            // Told with the handover, which is recorded in the same line as this attempt.
            note.told = Some(note.told.unwrap_or(intent.attempt));
        }
    }
}
