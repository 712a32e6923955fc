//! Races: once nobody works any more, one result is chosen, and only that one is merged.
//!
//! Who chooses is a person, commands, or the worker of a phase. Whatever comes of the last two, a person is asked if nobody was chosen.

use super::super::chore;
use super::super::gate::opened;
use super::Here;
use crate::base::ids::{FramePath, Place, StepId};
use crate::definition::workflow::{Judge, PhaseKind, RACE_JUDGE, StepItem};
use crate::event::pool::{PlanOrigin, PoolPlanned, RaceDecided, RaceJudge, StepEnd, StepSettled};
use crate::event::{Event, FrameEntered, GateKind, GateOpened};
use crate::state::{PoolStep, Stage, State, StepStage};
use crate::words;

/// The answer of a person who takes no result.
const NONE: &str = "none";

impl Here<'_> {
    pub(super) fn is_race(&self) -> bool {
        self.phase.run == PhaseKind::Race
    }

    /// The racers, in the order of the file.
    pub(super) fn plan_race(&self) -> Event {
        let steps = self.phase.workers.iter().map(|racer| StepItem {
            id: racer.id.clone(),
            name: words::racer_name(self.phase, racer),
            ..StepItem::default()
        });
        let (place, steps, from) = (self.place.clone(), steps.collect(), PlanOrigin::Workflow);
        Event::PoolPlanned(PoolPlanned { place, version: 1, steps, from, race: true })
    }

    /// What comes between the work of the racers and the end of the race.
    pub(super) fn race(&self) -> Option<Event> {
        // Somebody is about to be changed: nothing is decided beside that.
        if self.pool.steps.iter().any(|step| step.leaving.is_some()) {
            return None;
        }
        match self.pool.winner() {
            Some(winner) if winner.stage == StepStage::Done => self.lose(),
            Some(_) => self.merge_next(),
            None => self.choose(),
        }
    }

    /// Nobody is put away before the winner's work is merged: if that is given up, another one may be taken.
    fn lose(&self) -> Option<Event> {
        let lost = self.pool.finishers().next()?;
        let event = self.settled(lost, StepEnd::Lost, String::new());
        Some(Event::StepSettled(StepSettled { tree: lost.tree.clone(), ..event }))
    }

    fn choose(&self) -> Option<Event> {
        let steps = &self.pool.steps;
        let is_out = |step: &PoolStep| step.stage.is_settled() && step.stage != StepStage::Done;
        if !steps.iter().all(|step| is_out(step) || step.stage == StepStage::Finished) {
            return None;
        }
        let first = self.pool.finishers().next()?;
        // A winner whose work could not be merged: whoever chose it would choose it again.
        if self.pool.decided().is_some() {
            return Some(self.ask_person());
        }
        match &self.phase.judge {
            Some(Judge::Commands(_)) => Some(self.by_commands()),
            Some(Judge::Phase(_) | Judge::Person) | None
                if self.pool.finishers().nth(1).is_none() =>
            {
                Some(self.decided(Some(&first.id), RaceJudge::Alone, String::new()))
            }
            Some(Judge::Phase(_)) => self.by_phase(),
            Some(Judge::Person) | None => Some(self.ask_person()),
        }
    }

    fn decided(&self, winner: Option<&StepId>, by: RaceJudge, why: String) -> Event {
        let (place, winner) = (self.place.clone(), winner.cloned());
        Event::RaceDecided(RaceDecided { place, winner, by, why })
    }

    /// One racer after the other: commands that measure must not run beside each other. The first that passes is taken.
    fn by_commands(&self) -> Event {
        let passed = self.pool.finishers().find(|step| step.passed == Some(true));
        if let Some(winner) = passed {
            return self.decided(Some(&winner.id), RaceJudge::Commands, String::new());
        }
        let next = self.pool.finishers().find(|step| step.passed.is_none());
        let workflow = self.state.derived_workflow(&self.place, RACE_JUDGE);
        match next.zip(workflow) {
            Some((next, workflow)) => self.open(next, workflow),
            None => self.ask_person(),
        }
    }

    fn by_phase(&self) -> Option<Event> {
        if let Some(said) = &self.pool.race.as_ref()?.said {
            let choice = self.pool.finishers().find(|step| said.choice.as_ref() == Some(&step.id));
            return Some(choice.map_or_else(
                || self.ask_person(),
                |winner| {
                    let by = RaceJudge::Phase(said.by.clone());
                    self.decided(Some(&winner.id), by, said.summary.clone())
                },
            ));
        }
        if self.state.judge_of(&self.place).is_some() {
            return None;
        }
        let Some(workflow) = self.state.derived_workflow(&self.place, RACE_JUDGE) else {
            return Some(self.ask_person());
        };
        let (frame, at) = (self.place.frame_below(), Some(self.place.clone()));
        Some(Event::FrameEntered(FrameEntered { frame, workflow, at, step: None }))
    }

    fn ask_person(&self) -> Event {
        let about = words::race_asks(&self.place);
        let context = words::racers(self.state, &self.place, self.phase, self.pool);
        let racers = self.pool.finishers().map(|step| step.id.to_string());
        let options = racers.chain([NONE.to_owned()]).collect();
        let gate = opened(self.state, self.frame, GateKind::Question, about);
        Event::GateOpened(GateOpened { options, closed: true, context, ..gate })
    }

    /// True if something goes on in the frame of the judge that cannot be broken off in the middle.
    pub(super) fn is_judging(&self) -> bool {
        let judge = self.state.judge_of(&self.place);
        judge.is_some_and(|frame| is_judging(self.state, &frame.path))
    }

    /// What puts away what the judge has begun.
    pub(super) fn clean_judge(&self) -> Option<Event> {
        chore::of_judge(self.state, &self.state.judge_of(&self.place)?.path)
    }
}

/// True if something goes on in the frame of a judge that cannot be broken off in the middle.
fn is_judging(state: &State, path: &FramePath) -> bool {
    let mut live = state.live_attempts().map(|attempt| attempt.intent.place.frame());
    let mut recorded = state.trees.after.values().map(|(_, place)| place.frame());
    live.any(|frame| frame == *path) || recorded.any(|frame| frame == *path)
}

/// What follows from a person's answer to whose work is taken.
pub(super) fn chosen(state: &State, gate: &GateOpened, said: &str, who: &str) -> Option<Event> {
    let pool = state.pools.get(&gate.place).filter(|pool| !pool.left && pool.race.is_some())?;
    let frame = state.frames.get(&gate.place.frame())?;
    let is_it = matches!(&frame.stage, Stage::Gated { gate: id, .. } if *id == gate.gate);
    if !is_it || gate.asker.is_some() {
        return None;
    }
    let winner = pool.finishers().find(|step| step.id.as_str() == said).map(|step| &step.id);
    if winner.is_none() && said != NONE {
        return None;
    }
    let (place, winner, by) = (gate.place.clone(), winner.cloned(), RaceJudge::Person(who.into()));
    Some(Event::RaceDecided(RaceDecided { place, winner, by, why: String::new() }))
}

/// Why a person cannot change a racer any more.
pub(in crate::engine) fn too_late(state: &State, place: &Place, step: &PoolStep) -> Option<String> {
    let winner = state.pools.get(place)?.winner()?;
    (winner.id != step.id).then(|| words::race_is_decided(place, &winner.id, &step.id))
}
