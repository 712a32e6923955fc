//! How the start and end of `verify` and `cleanup` commands change the state.

use super::frame::{Check, CheckFailure, Uncleaned};
use super::stages::checked;
use super::{Attempt, Facts, Frame, Stage};
use crate::base::ids::FramePath;
use crate::definition::workflow::{Phase, Workflow};
use crate::event::{AttemptEnded, AttemptStarted, Duty, End, LeftPhase};

impl Facts {
    /// The cleanup commands of a phase: its own, otherwise those of its workflow.
    pub(crate) fn cleanup_of(&self, frame: &Frame) -> &[String] {
        let own = self.phase_at(&frame.place()).map(|phase| phase.cleanup.as_slice());
        match own {
            // The workflow's holds only where the phase says nothing: a phase may need its own order.
            Some([]) => self.workflow(&frame.workflow).map_or(&[], |it| it.cleanup.as_slice()),
            Some(own) => own,
            None => &[],
        }
    }

    /// Pending cleanup of a frame and those below it, innermost first.
    pub(super) fn left_behind(&self, path: &FramePath, below: &FramePath) -> Vec<Uncleaned> {
        let inside = self.frames.values().filter(|frame| frame.path.is_within(below));
        // The innermost first, as they would have been left one after the other.
        let inside = inside.collect::<Vec<_>>().into_iter().rev();
        inside.chain(self.frames.get(path)).flat_map(|frame| self.uncleaned(frame)).collect()
    }

    /// Pending cleanup of all frames, innermost first.
    pub(super) fn left_behind_all(&self) -> Vec<Uncleaned> {
        // A path sorts before those inside of it, so the reverse order begins with the innermost.
        self.frames.values().rev().flat_map(|frame| self.uncleaned(frame)).collect()
    }

    /// Pending cleanup of a frame: of phases left before, otherwise of the current one.
    fn uncleaned(&self, frame: &Frame) -> Vec<Uncleaned> {
        let commands = self.cleanup_of(frame);
        if !frame.is_uncleaned() || commands.is_empty() {
            // Moved again before what was left behind could be cleaned up.
            return frame.behind.clone();
        }
        let phase = LeftPhase { place: frame.place(), workflow: frame.workflow.clone() };
        vec![Uncleaned { phase, commands: commands.to_vec() }]
    }

    /// The phase that an attempt works for or cleans up.
    pub(crate) fn phase_for(&self, intent: &AttemptStarted) -> Option<&Phase> {
        match intent.left_phase() {
            Some(left) => self.workflow(&left.workflow)?.phase(&left.place.phase()),
            None => self.phase_at(&intent.place),
        }
    }

    /// The workflow of that phase.
    pub(crate) fn workflow_for(&self, intent: &AttemptStarted) -> Option<&Workflow> {
        let inside = intent.chore.as_ref().and_then(|chore| chore.workflow.as_ref());
        let left = || intent.left_phase().map(|left| &left.workflow);
        let of_frame = || Some(&self.frames.get(&intent.place.frame())?.workflow);
        self.workflow(inside.or_else(left).or_else(of_frame)?)
    }

    pub(super) fn start_chore(&mut self, intent: &AttemptStarted) {
        self.change_frame(&intent.place.frame(), |frame| {
            // Whatever a ledger says, a stage is held once: `any_events_are_taken_in`.
            let held = Box::new(frame.stage.hold());
            frame.stage = Stage::Chore { attempt: intent.attempt, held };
        });
    }

    pub(super) fn end_chore(&mut self, ended: &AttemptEnded, duty: Duty) {
        let attempt = self.attempt(ended.attempt);
        let failed = attempt.map(|attempt| failure(attempt, &ended.end));
        let cleaned = attempt.and_then(|attempt| attempt.intent.left_phase()).cloned();
        let chore = attempt.and_then(|attempt| attempt.intent.chore.as_ref());
        let is_inside = chore.is_some_and(|chore| chore.workflow.is_some());
        if let Some(attempt) = attempt.filter(|_| duty == Duty::Cleanup) {
            let place = attempt.intent.shown_place().clone();
            // The commands after one that failed run all the same, and the attempt ends as one that ran them all.
            let is_clean = ended.end == End::CommandsDone && attempt.failed_command.is_none();
            self.tally_mut(&place).uncleaned = failed.clone().filter(|_| !is_clean).map(Box::new);
        }
        self.change_frame_of(ended.attempt, |frame| {
            let Stage::Chore { held, .. } = std::mem::replace(&mut frame.stage, Stage::Bound)
            else {
                return;
            };
            // Then it has said nothing about the work, and is done again.
            let is_cut_short = matches!(ended.end, End::Lost | End::Stopped);
            frame.stage = match (duty, &ended.end) {
                (Duty::Verify, End::CommandsDone) if is_inside => checked(*held, Check::Inside),
                (Duty::Verify, End::CommandsDone) => checked(*held, Check::Passed),
                // Something of it may still run, so that nobody may start beside it.
                (_, End::Unclear { .. }) if *held != Stage::Bound => {
                    Stage::Broken { attempt: ended.attempt, end: ended.end.clone() }
                }
                (Duty::Verify, _) if !is_cut_short => {
                    let failed = failed.unwrap_or_else(|| CheckFailure::Ended(ended.end.clone()));
                    checked(*held, Check::Failed(Box::new(failed)))
                }
                (Duty::Verify | Duty::Cleanup, _) => *held,
            };
            // Counted like a loss of the work: a command that kills its own supervisor must reach the same limit.
            if ended.end == End::Lost {
                let counters = &mut frame.worker.counters;
                counters.losses = counters.losses.saturating_add(1);
            }
            if duty == Duty::Cleanup && !is_cut_short {
                frame.clean(cleaned.as_ref());
            }
        });
    }
}

/// The command that failed, and the end of its output.
fn failure(attempt: &Attempt, end: &End) -> CheckFailure {
    let commands = attempt.intent.chore.as_ref().map_or(&[][..], |chore| &chore.commands);
    match (&attempt.failed_command, end) {
        (Some((index, output)), _) => {
            let index = usize::try_from(*index).unwrap_or(usize::MAX);
            let command = commands.get(index).cloned().unwrap_or_default();
            CheckFailure::Command { command, output: output.clone() }
        }
        (None, end) => CheckFailure::Ended(end.clone()),
    }
}

impl Frame {
    /// Cleanup has run: of a phase whose frame was left from outside, otherwise of this frame's own phase, which comes last.
    /// Older lines ran the commands of all of them at once.
    fn clean(&mut self, left: Option<&LeftPhase>) {
        if let Some(left) = left {
            self.behind.retain(|it| it.phase != *left);
        } else {
            self.cleaned = self.behind.is_empty();
            self.behind.clear();
        }
    }

    /// True if its cleanup has not run yet. A phase that was skipped or refused before any work needs none.
    pub(crate) fn is_uncleaned(&self) -> bool {
        let is_anywhere = !matches!(self.stage, Stage::Bound | Stage::Ended(_));
        let is_begun = self.worker.try_number > 0 || self.went_inside;
        is_anywhere && is_begun && !self.cleaned
    }
}
