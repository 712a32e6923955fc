//! The walls of a run: what its supervisor's machine can put up, what stands around attempts, and who ran into them.

use super::{Attempt, Facts};
use crate::base::ids::{AttemptId, Place};
use crate::definition::walls::Walls;
use crate::event::{AttemptRewalled, AttemptWalls, Chore, WallsFound};

impl Facts {
    /// What the machine of the supervisor that drives the run can do; `None` if nobody has looked.
    pub fn walls_found(&self) -> Option<&WallsFound> {
        let later = self.supervisor.as_ref().and_then(|it| it.walls.as_ref());
        later.or_else(|| Some(&self.run.as_ref()?.walls.as_ref()?.found))
    }

    /// The walls around an attempt at a place; `None` where nobody has looked, or a person wanted none and none are required.
    pub(crate) fn walls_for(&self, place: &Place, chore: Option<&Chore>) -> Option<AttemptWalls> {
        let found = self.walls_found()?;
        let asked = self.walls_asked(place, chore);
        // Walls that are required are not given up by a flag: with none of them, nobody starts.
        let is_given_up = found.off && !asked.require;
        (!is_given_up).then(|| AttemptWalls::new(asked, found))
    }

    /// True if an attempt was decided for other walls than the supervisor of now puts up: with those of somebody else it must not start.
    pub fn has_other_walls(&self, attempt: &Attempt) -> bool {
        let intent = &attempt.intent;
        let now = self.walls_for(&intent.place, intent.chore.as_ref());
        now.as_ref() != intent.walls.as_deref()
    }

    /// True if the ledger knows that an attempt works: its walls stand, and nobody can give it others.
    pub fn has_begun(&self, attempt: &Attempt) -> bool {
        let intent = &attempt.intent;
        let frame = self.frames.get(&intent.place.frame()).filter(|_| intent.chore.is_none());
        let done = frame.map_or(0, |frame| frame.worker.counters.commands_done);
        // Commands name no session, and their reports no time.
        let ran = done > intent.first_command
            || attempt.chores_done > 0
            || attempt.failed_command.is_some();
        attempt.session_seen || attempt.active_ms > 0 || attempt.wall_hits > 0 || ran
    }

    fn walls_asked(&self, place: &Place, chore: Option<&Chore>) -> Walls {
        let run = self.run.as_ref().and_then(|run| run.walls.as_ref());
        let said = run.map(|walls| walls.said.clone()).unwrap_or_default();
        let inner = chore.and_then(|chore| chore.workflow.as_ref());
        let frame = || self.frames.get(&place.frame()).map(|frame| &frame.workflow);
        let workflow = inner.or_else(frame).and_then(|key| self.workflow(key));
        let said = workflow.map_or(said.clone(), |workflow| said.and(&workflow.walls));
        let phase = self.phase_at(place).filter(|_| inner.is_none());
        let Some(phase) = phase else { return said };
        match chore {
            None => said.and(&phase.walls),
            // What a phase may not change is about its worker. Commands that verify or clean up are the author's, and may have to
            // build.
            Some(_) => said.and(&Walls { files: None, ..phase.walls.clone() }),
        }
    }

    /// An attempt that has not begun gets other walls, and other words about them.
    pub(super) fn rewall(&mut self, rewalled: &AttemptRewalled) {
        self.change(rewalled.attempt, |attempt| {
            attempt.intent.walls.clone_from(&rewalled.walls);
            if rewalled.handover.is_some() {
                attempt.intent.handover.clone_from(&rewalled.handover);
            }
        });
    }

    /// A worker ran into its wall.
    pub(super) fn hit_wall(&mut self, id: AttemptId) {
        self.change(id, |attempt| attempt.wall_hits = attempt.wall_hits.saturating_add(1));
    }
}

impl Attempt {
    /// Whether it is to be told that a wall stopped it: once, at the first time.
    pub(crate) fn owes_wall_words(&self) -> bool {
        self.wall_hits > 0 && !self.wall_told
    }
}
