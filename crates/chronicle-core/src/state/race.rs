//! Races: who of those that did the same work is taken, and who said so.
//!
//! A race is a pool whose steps are its racers. What is here comes between the end of their work and the one merge.

use serde::{Deserialize, Serialize};

use super::pool::Pool;
use super::step::{PoolStep, StepStage};
use super::{Facts, Frame};
use crate::base::ids::{FolderId, FramePath, Outcome, PhaseId, Place, StepId};
use crate::definition::workflow::{RACE_JUDGE, WORK};
use crate::event::pool::{RaceDecided, RaceJudge, StepEnd, StepSettled};
use crate::event::trees::{Changes, TreeRecorded};

/// How far the choice among racers is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Race {
    /// What the worker of the judging phase said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<JudgeSaid>,
    /// Who was taken, once anybody was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<Decided>,
}

/// What the worker of the judging phase said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeSaid {
    /// The phase that judges.
    pub by: PhaseId,
    /// The racer that it named; `None` if it gave up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<StepId>,
    /// What it gave as the reason.
    pub summary: String,
}

/// Whose work a race takes, and by whose choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The racer whose work is merged; `None` if nobody's is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<StepId>,
    /// A person, commands, a worker, or nobody since one was left.
    pub by: RaceJudge,
}

impl Pool {
    /// The racer that was taken, as long as its work can still be merged, or is.
    pub fn winner(&self) -> Option<&PoolStep> {
        let winner = self.decided().and_then(|decided| decided.winner.as_ref());
        winner.and_then(|id| self.step(id)).filter(|step| !has_fallen(step))
    }

    /// Who was taken in a race, whatever became of it.
    pub fn decided(&self) -> Option<&Decided> {
        self.race.as_ref()?.decided.as_ref()
    }

    /// The racers whose work is done and can be chosen, in the order of the file.
    pub fn finishers(&self) -> impl Iterator<Item = &PoolStep> {
        self.steps.iter().filter(|step| step.stage == StepStage::Finished)
    }
}

/// True if nothing of a racer can be merged any more.
fn has_fallen(step: &PoolStep) -> bool {
    step.stage.is_settled() && step.stage != StepStage::Done
}

impl Facts {
    /// The race that a frame judges: that of a phase that chooses one racer.
    pub fn judged_by(&self, frame: &Frame) -> Option<(&Place, &Pool)> {
        let at = frame.at.as_ref().filter(|_| frame.step.is_none())?;
        let (place, pool) = self.pools.get_key_value(at)?;
        (!pool.left && pool.race.is_some()).then_some((place, &**pool))
    }

    /// The open frame in which a worker judges a race.
    pub fn judge_of(&self, place: &Place) -> Option<&Frame> {
        let frame = self.frames.get(&place.frame_below())?;
        self.judged_by(frame).is_some_and(|(race, _)| race == place).then_some(frame)
    }

    /// True if a person changes a racer while a worker judges: it is stopped, since it would judge what is no longer there.
    pub(super) fn is_judge_unwanted(&self, path: &FramePath) -> bool {
        let frame = self.frames.get(path);
        let judged = frame.and_then(|frame| self.judged_by(frame));
        judged.is_some_and(|(_, pool)| pool.steps.iter().any(|step| step.leaving.is_some()))
    }

    /// What a racer changed in all of its attempts.
    pub(crate) fn raced(&self, place: &Place, step: &StepId) -> Option<&Changes> {
        self.changes_at(&place.step_frame(step).place(&PhaseId::from(WORK)))
    }

    /// True if the work in a folder would be lost with it: no tree has it, and it was not merged.
    pub(super) fn is_only_there(&self, place: &Place, step: &StepId) -> bool {
        let pool = self.pools.get(place).filter(|pool| pool.race.is_some());
        let step = pool.and_then(|pool| pool.step(step));
        step.and_then(|step| step.folder)
            .is_some_and(|folder| self.trees.folder(folder).missed.is_some())
    }

    /// Keeps which files of a racer are in no tree. Only the winner is looked at again when it is merged.
    pub(super) fn leave_out(&mut self, recorded: &TreeRecorded) {
        let FolderId::Work(number) = recorded.folder else { return };
        let Some(work) = self.works.get_mut(&number) else { return };
        if self.pools.get(&work.place).is_some_and(|pool| pool.race.is_some()) {
            let left_out = recorded.too_large_files.iter().chain(&recorded.unreadable_files);
            work.unrecorded = left_out.cloned().collect();
        }
    }

    pub(super) fn decide_race(&mut self, decided: &RaceDecided) {
        let (winner, by) = (decided.winner.clone(), decided.by.clone());
        self.change_pool(&decided.place, |pool| {
            if winner.is_none() {
                for step in &mut pool.steps {
                    if step.stage == StepStage::Finished {
                        step.stage = StepStage::Dropped;
                    }
                }
            }
            pool.race.get_or_insert_default().decided = Some(Decided { winner, by });
        });
        self.step_is_over(&decided.place);
    }

    /// The worker that judges has ended.
    pub(super) fn end_judge(&mut self, inner: Frame, summary: &str) {
        let Some(place) = inner.at.clone() else { return };
        let left = inner.left.clone();
        self.change_frame(&place.frame(), |frame| {
            frame.notes.extend(inner.notes.into_iter().filter(|note| note.told.is_none()));
        });
        self.change_pool(&place, |pool| {
            let chosen = left.as_ref().map(|(_, outcome)| StepId::new(outcome.as_str()));
            let choice = chosen.filter(|id| pool.step(id).is_some());
            let by = left.map_or_else(|| PhaseId::from(RACE_JUDGE), |(phase, _)| phase);
            let said = JudgeSaid { by, choice, summary: summary.to_owned() };
            pool.race.get_or_insert_default().said = Some(said);
        });
    }

    /// A person has changed a racer: whoever was judging goes, and judges anew if there is still a choice.
    pub(super) fn settle_judge(&mut self, settled: &StepSettled) {
        let place = &settled.place;
        let is_changed = match settled.how {
            StepEnd::Again | StepEnd::Skipped | StepEnd::Dropped => true,
            StepEnd::Failed | StepEnd::Done | StepEnd::Lost => false,
        };
        if is_changed && self.pools.get(place).is_some_and(|pool| pool.race.is_some()) {
            if self.judge_of(place).is_some() {
                self.frames.remove(&place.frame_below());
            }
            if settled.how == StepEnd::Again || self.judge_chose(place, &settled.step) {
                self.judge_anew(place);
            }
        }
    }

    /// True if the worker that judges a race named that racer.
    fn judge_chose(&self, place: &Place, step: &StepId) -> bool {
        let race = self.pools.get(place).and_then(|pool| pool.race.as_ref());
        let said = race.and_then(|race| race.said.as_ref());
        said.is_some_and(|said| said.choice.as_ref() == Some(step))
    }

    /// A racer works again: what was said about the others is out of date, and so is a decision for somebody who fell.
    pub(super) fn judge_anew(&mut self, place: &Place) {
        self.change_pool(place, |pool| {
            let is_standing = pool.winner().is_some();
            let Some(race) = &mut pool.race else { return };
            race.said = None;
            if !is_standing {
                race.decided = None;
            }
        });
    }
}

impl PoolStep {
    /// Keeps what the commands of the judge found.
    pub(super) fn judged(&mut self, outcome: &Outcome, summary: &str) {
        self.passed = Some(outcome.is_complete());
        summary.clone_into(&mut self.verdict);
        self.stage = StepStage::Finished;
    }
}
