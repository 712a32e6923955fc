//! Pools: who has which slot, and what each step adds to the snapshot.
//!
//! `step.rs` has the steps themselves, `merge.rs` how the work of a step comes into the project, `work.rs` the folders that steps work in.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::merge::MergeStage;
use super::race::Race;
use super::step::{Leaving, PoolStep, StepStage};
use super::{Answered, Attempt, Facts, Frame, Impossible, Note, Stage, Unworded, WayOut};
use crate::base::ids::{Cause, FolderId, FramePath, GateId, Outcome, Place, StepId};
use crate::definition::workflow::{PhaseKind, SETUP, derived_key};
use crate::event::pool::{
    Plan, PlanMade, PoolPlanned, SlotFreed, SlotTaken, StepAsked, StepEnd, StepSettled,
};
use crate::event::snapshot::{Snapshot, SnapshotUpdate};
use crate::event::{GateAnswer, GateOpened};
use crate::state::effect::{Action, Effect};

/// A phase whose steps are done by several workers at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// The event that entered it.
    pub cause: Cause,
    /// Number of the plan; 0 before there is one.
    pub version: u32,
    /// The steps, in the order in which slots take them.
    pub steps: Vec<PoolStep>,
    /// What was passed on when the pool was entered. Steps add their own to it.
    pub snapshot: Arc<Snapshot>,
    /// Why its steps could not be read from their file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// The choice among its steps, if it is a race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<Race>,
    /// Steps whose work was merged before, in an earlier visit or before they were begun again.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub merged: BTreeSet<StepId>,
    /// True once its phase was left: it is only shown from then on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
}

impl Pool {
    fn new(cause: Cause, snapshot: Arc<Snapshot>) -> Self {
        Self {
            cause,
            version: 0,
            steps: Vec::new(),
            snapshot,
            unread: None,
            race: None,
            merged: BTreeSet::new(),
            left: false,
        }
    }

    /// Everybody whose work is in the project by now.
    fn all_merged(&self) -> BTreeSet<StepId> {
        let done = self.steps.iter().filter(|step| step.stage == StepStage::Done);
        self.merged.iter().chain(done.map(|step| &step.id)).cloned().collect()
    }

    /// The step with that id.
    pub fn step(&self, id: &StepId) -> Option<&PoolStep> {
        self.steps.iter().find(|step| step.id == *id)
    }

    fn step_mut(&mut self, id: &StepId) -> Option<&mut PoolStep> {
        self.steps.iter_mut().find(|step| step.id == *id)
    }

    /// Ids of the steps that others may build on.
    pub fn done(&self) -> BTreeSet<&str> {
        let done = self.steps.iter().filter(|step| step.stage.is_done());
        done.map(|step| step.item.id.as_str()).collect()
    }

    /// True if every step that it depends on is done.
    pub fn is_ready(&self, step: &PoolStep) -> bool {
        let done = self.done();
        step.item.depends_on.iter().all(|id| done.contains(id.as_str()))
    }

    /// Ids of the steps for which this holds, and of those that have not begun and need one of them, directly or not.
    pub fn behind(&self, holds: impl Fn(&PoolStep) -> bool) -> BTreeSet<&str> {
        let known: BTreeSet<&str> = self.steps.iter().map(|step| step.item.id.as_str()).collect();
        let mut found: BTreeSet<&str> = BTreeSet::new();
        for step in self.in_order() {
            let mut needs = step.item.depends_on.iter().map(String::as_str);
            let is_behind = step.stage == StepStage::Pending
                && needs.any(|id| found.contains(id) || !known.contains(id));
            if is_behind || holds(step) {
                found.insert(&step.item.id);
            }
        }
        found
    }

    /// The steps in an order in which each comes after those that it depends on; ties as in the plan.
    pub fn in_order(&self) -> Vec<&PoolStep> {
        let mut left: BTreeSet<usize> = (0..self.steps.len()).collect();
        let mut placed: BTreeSet<&str> = BTreeSet::new();
        let known: BTreeSet<&str> = self.steps.iter().map(|step| step.item.id.as_str()).collect();
        let mut sorted = Vec::with_capacity(self.steps.len());
        while let Some(first) = left.first().copied() {
            let is_free = |at: &usize| {
                let mut needs = self.steps[*at].item.depends_on.iter().map(String::as_str);
                needs.all(|id| placed.contains(id) || !known.contains(id))
            };
            // A circle is refused before; a ledger that has one all the same is taken in the order of the plan.
            let next = left.iter().copied().find(is_free).unwrap_or(first);
            left.remove(&next);
            placed.insert(&self.steps[next].item.id);
            sorted.push(&self.steps[next]);
        }
        sorted
    }

    /// The snapshot that a step reads: the pool's, what the merged steps that it depends on added, and its own.
    pub fn snapshot_of(&self, step: &StepId) -> Snapshot {
        let mut wanted: BTreeSet<&str> = BTreeSet::from([step.as_str()]);
        // Backwards, each comes before those that it depends on.
        for it in self.in_order().into_iter().rev() {
            if wanted.contains(it.item.id.as_str()) {
                wanted.extend(it.item.depends_on.iter().map(String::as_str));
            }
        }
        self.joined(|it| {
            let is_merged = it.stage == StepStage::Done && wanted.contains(it.item.id.as_str());
            is_merged || it.id == *step
        })
    }

    /// The snapshot with what these steps added, in the order of the plan.
    fn joined(&self, counts: impl Fn(&PoolStep) -> bool) -> Snapshot {
        let mut snapshot = (*self.snapshot).clone();
        for update in self.steps.iter().filter(|step| counts(step)).flat_map(|step| &step.layer) {
            // What has no room any more is left out, as for any worker whose update is refused.
            if let Ok(more) = snapshot.joined(update) {
                snapshot = more;
            }
        }
        snapshot
    }

    /// Its phase is left: whatever is not done by now is given up. Returns what nobody was told there.
    fn leave(&mut self) -> Vec<Note> {
        self.left = true;
        let notes = self.steps.iter_mut().flat_map(|step| std::mem::take(&mut step.notes));
        let notes = notes.collect();
        for step in self.steps.iter_mut().filter(|step| !step.stage.is_settled()) {
            (step.slot, step.gate, step.leaving) = (None, None, None);
            step.stage = StepStage::Dropped;
        }
        notes
    }

    /// Replaces what has not begun. Steps that have begun keep their order and come first where the plan does not name them. Returns
    /// what people said to steps that are gone.
    fn replan(&mut self, made: &PlanMade) -> Vec<Note> {
        self.version = made.version;
        let is_named = |step: &PoolStep| made.steps.iter().any(|item| item.id == step.item.id);
        let (mut steps, mut named): (Vec<_>, Vec<_>) = std::mem::take(&mut self.steps)
            .into_iter()
            .partition(|step| step.has_begun() && !is_named(step));
        for item in &made.steps {
            // What stays as it was keeps what people said about it.
            let is_kept = |step: &PoolStep| {
                step.item.id == item.id && (step.has_begun() || *step.item == *item)
            };
            let known = named.iter().position(is_kept);
            let step = known.map(|at| named.remove(at));
            steps.push(step.unwrap_or_else(|| {
                let same = named.iter_mut().find(|step| step.item.id == item.id);
                let notes = same.map(|step| std::mem::take(&mut step.notes)).unwrap_or_default();
                PoolStep { notes, ..PoolStep::new(item.clone()) }
            }));
        }
        self.steps = steps;
        named.into_iter().flat_map(|step| step.notes).collect()
    }
}

/// What the open frame of a step is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepWork {
    /// The step's own work.
    Own,
    /// Its folder is made ready.
    Setup,
    /// The result of its merge is verified.
    Verify,
    /// A conflict is resolved.
    Resolve,
    /// Commands judge its work.
    Judge,
}

impl Facts {
    /// The pool and the step that a frame belongs to, directly or as one inside of the step's.
    pub fn step_at(&self, path: &FramePath) -> Option<(&Place, &Pool, &PoolStep)> {
        self.pools.iter().filter(|(_, pool)| !pool.left).find_map(|(place, pool)| {
            let rest = path.as_str().strip_prefix(place.as_str())?.strip_prefix('/')?;
            let of = |step: &&PoolStep| {
                let below = rest.strip_prefix(step.id.as_str());
                below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
            };
            pool.steps.iter().find(of).map(|step| (place, &**pool, step))
        })
    }

    /// The step that a person names by its place: `build/step-2`.
    pub fn step_called(&self, place: &Place) -> Option<(&Place, &Pool, &PoolStep)> {
        let found = self.step_at(&place.frame_below())?;
        (found.0.of_step(&found.2.id) == *place).then_some(found)
    }

    /// The step that works, or worked, in a folder.
    pub fn step_in(&self, folder: u32) -> Option<(&Place, &PoolStep)> {
        let work = self.works.get(&folder)?;
        let step = self.pools.get(&work.place)?.step(&work.step)?;
        // A later visit of the pool has other folders for the same steps.
        (step.folder == Some(FolderId::Work(folder))).then_some((&work.place, step))
    }

    /// The snapshot that workers of a frame read.
    pub fn snapshot_at(&self, path: &FramePath) -> Arc<Snapshot> {
        match self.step_at(path) {
            Some((_, pool, step)) => Arc::new(pool.snapshot_of(&step.id)),
            None => Arc::clone(&self.snapshot),
        }
    }

    /// True if the frame belongs to a step without a slot: nothing may go on there. The check of a merge needs none, nor does
    /// a judge.
    pub(crate) fn lacks_slot(&self, path: &FramePath) -> bool {
        let is_checked = |step: &PoolStep| {
            step.stage == StepStage::Judging
                || step.merging().is_some_and(|merging| merging.at == MergeStage::Verifying)
        };
        self.step_at(path).is_some_and(|(.., step)| step.slot.is_none() && !is_checked(step))
    }

    /// The pool whose pending steps a worker may change: only a helper of the persona that plans them may.
    pub(crate) fn replans(&self, attempt: &Attempt) -> Option<(&Place, &Pool)> {
        let (place, pool, _) = self.step_at(&attempt.intent.place.frame())?;
        let helper = attempt.intent.persona.as_deref()?;
        let workflow = self.workflow(&self.frames.get(&place.frame())?.workflow)?;
        let mut planners = workflow.phases.iter().filter(|phase| phase.produces.is_some());
        planners.any(|phase| phase.is_by(helper)).then_some((place, pool))
    }

    /// The workflow that was derived from a pool for its setup or its checks, by its key.
    pub(crate) fn derived_workflow(&self, pool: &Place, part: &str) -> Option<String> {
        let frame = self.frames.get(&pool.frame())?;
        let key = derived_key(&frame.workflow, &pool.phase(), Some(part));
        self.workflow(&key).map(|workflow| workflow.key.clone())
    }

    /// What the frame of a step is for; `None` for any other frame.
    pub(crate) fn step_work(&self, frame: &Frame) -> Option<StepWork> {
        let (place, id) = (frame.at.as_ref()?, frame.step.as_ref()?);
        let step = self.pools.get(place)?.step(id)?;
        Some(match step.merging() {
            Some(merging) if merging.at == MergeStage::Verifying => StepWork::Verify,
            Some(_) => StepWork::Resolve,
            None if step.stage == StepStage::Judging => StepWork::Judge,
            None => {
                let setup = self.derived_workflow(place, SETUP);
                let is_setup = !step.is_set_up && setup.as_ref() == Some(&frame.workflow);
                if is_setup { StepWork::Setup } else { StepWork::Own }
            }
        })
    }

    /// True if a pool makes a folder, reads its steps or merges: something goes on without any attempt.
    pub(crate) fn is_pool_busy(&self) -> bool {
        let reads = self.pools.iter().any(|(place, pool)| self.wants_steps(place, pool));
        let mut folders = self.works.values();
        let makes =
            folders.any(|work| work.at == super::FolderStage::Wanted) || self.is_own_wanted();
        reads || makes || self.is_merge_busy()
    }

    /// True if its steps are to be read from a file.
    pub(crate) fn wants_steps(&self, place: &Place, pool: &Pool) -> bool {
        let phase = self.phase_at(place);
        pool.version == 0
            && !pool.left
            && pool.unread.is_none()
            && phase.is_some_and(|phase| phase.steps_from.is_some())
    }

    /// What pools need done beside attempts.
    pub(super) fn due_in_pools(&self, rests: bool) -> impl Iterator<Item = Effect> {
        let reads =
            self.pools.iter().filter(move |(place, pool)| !rests && self.wants_steps(place, pool));
        let reads = reads.map(|(_, pool)| (pool.cause, Action::ReadSteps));
        let all = reads.chain(self.due_folders(rests)).chain(self.due_merges(rests));
        all.map(|(cause, action)| Effect::of_run(cause, action))
    }

    pub(super) fn enter_pool(&mut self, cause: Cause, place: &Place) {
        let snapshot = Arc::clone(&self.snapshot_at(&place.frame()));
        self.change_frame(&place.frame(), Frame::go_inside);
        if let Some(pool) = self.pools.get_mut(place).filter(|pool| !pool.left) {
            // Tried again by a person: what is done stays done, and what failed begins anew.
            let pool = Arc::make_mut(pool);
            (pool.unread, pool.cause) = (None, cause);
            for step in &mut pool.steps {
                match step.stage {
                    StepStage::Failed(_) | StepStage::Dropped => {
                        step.stage = StepStage::Pending;
                        (step.sent_back, step.resolved) = (0, 0);
                    }
                    StepStage::Pending
                    | StepStage::Making
                    | StepStage::Working
                    | StepStage::Finished
                    | StepStage::Judging
                    | StepStage::Merging(_)
                    | StepStage::Done
                    | StepStage::Skipped
                    | StepStage::Lost => {}
                }
            }
            self.judge_anew(place);
            return;
        }
        let merged = self.pools.get(place).map(|before| before.all_merged()).unwrap_or_default();
        let pool = Pool { merged, ..Pool::new(cause, snapshot) };
        self.pools.insert(place.clone(), Arc::new(pool));
    }

    /// Drops the pools of a phase that is left, and those inside. Their folders go, unless somebody wants to keep them.
    pub(super) fn leave_pools(&mut self, cause: Cause, below: &FramePath) {
        let is_inside = |(place, pool): &(&Place, &Arc<Pool>)| {
            !pool.left && place.frame_below().is_within(below)
        };
        let left = self.pools.iter().filter(is_inside).map(|(place, _)| place.clone());
        let left: Vec<Place> = left.collect();
        for place in left {
            let mut notes = Vec::new();
            self.change_pool(&place, |pool| notes = pool.leave());
            self.tell_next(&place, notes);
            self.leave_folders(cause, &place);
        }
    }

    pub(super) fn plan_pool(&mut self, planned: &PoolPlanned) {
        let (steps, version) = (&planned.steps, planned.version);
        let is_race = self.phase_at(&planned.place).is_some_and(|it| it.run == PhaseKind::Race);
        self.change_pool(&planned.place, |pool| {
            pool.race = is_race.then(Race::default);
            pool.version = version;
            pool.steps = steps.iter().cloned().map(PoolStep::new).collect();
        });
    }

    pub(super) fn make_plan(&mut self, made: &PlanMade) {
        let answered = Answered::kept(&made.answer, Unworded::Snapshot);
        self.change(made.attempt, |attempt| attempt.remember(&made.request, answered));
        if let Some(place) = &made.pool {
            let mut notes = Vec::new();
            self.change_pool(place, |pool| notes = pool.replan(made));
            return self.tell_next(place, notes);
        }
        let plan = Arc::new(Plan { version: made.version, steps: made.steps.clone() });
        self.change_frame_of(made.attempt, |frame| frame.plan = Some(plan));
    }

    pub(super) fn unread_steps(&mut self, place: &Place, why: &str) {
        self.change_pool(place, |pool| pool.unread = Some(why.to_owned()));
    }

    pub(super) fn take_slot(&mut self, cause: Cause, taken: &SlotTaken) {
        let SlotTaken { place, step, slot, folder } = taken;
        self.want_folder(cause, *folder, (place, step));
        self.change_step(place, step, |step| {
            (step.slot, step.folder) = (Some(*slot), Some(*folder));
            if step.stage == StepStage::Pending {
                step.stage = StepStage::Making;
            }
        });
    }

    /// The frame of a step is open: its work begins, or the check of a merge, or the work on a conflict.
    pub(super) fn begin_step(&mut self, place: &Place, step: &StepId) {
        let mut notes = Vec::new();
        self.change_step(place, step, |step| {
            notes = std::mem::take(&mut step.notes);
            if let StepStage::Merging(merging) = &mut step.stage {
                if merging.at == MergeStage::Conflict {
                    merging.at = MergeStage::Resolving;
                }
            } else if step.stage == StepStage::Finished {
                step.stage = StepStage::Judging;
            } else {
                step.stage = StepStage::Working;
            }
        });
        if !notes.is_empty() {
            self.change_frame(&place.step_frame(step), |frame| frame.notes.extend(notes));
        }
    }

    pub(super) fn free_slot(&mut self, freed: &SlotFreed) {
        self.change_step(&freed.place, &freed.step, |step| step.slot = None);
    }

    /// The frame of a step ends: its work waits for the merge, a merge goes on, or it failed.
    pub(super) fn end_step_frame(
        &mut self,
        cause: Cause,
        inner: Frame,
        outcome: &Outcome,
        summary: &str,
    ) {
        let (Some(place), Some(id)) = (inner.at.clone(), inner.step.clone()) else { return };
        let work = self.step_work(&inner);
        let is_good = !outcome.is_failure();
        let tree = self.trees.folder(inner.folder).last.as_ref().map(|(tree, _)| tree.clone());
        let is_race = self.pools.get(&place).is_some_and(|pool| pool.race.is_some());
        let is_whole = self.trees.folder(inner.folder).missed.is_none();
        let tree = tree.filter(|_| is_race && is_whole);
        let untold = inner.notes.into_iter().filter(|note| note.told.is_none());
        let untold: Vec<Note> = untold.collect();
        self.change_step(&place, &id, |step| {
            step.notes.extend(untold);
            if work == Some(StepWork::Setup) && is_good {
                // The same slot goes on with the work.
                (step.is_set_up, step.stage) = (true, StepStage::Making);
                return;
            }
            if work == Some(StepWork::Judge) {
                return step.judged(outcome, summary);
            }
            (step.slot, step.ended) = (None, cause.seq);
            if matches!(work, Some(StepWork::Own | StepWork::Resolve)) {
                (step.tree, step.passed) = (tree, None);
            }
            step.before = inner.before.or_else(|| step.before.take());
            if work == Some(StepWork::Own) {
                (step.summary, step.task) = (summary.to_owned(), None);
            }
            step.resolved =
                step.resolved.saturating_add(u32::from(work == Some(StepWork::Resolve)));
            if work == Some(StepWork::Verify) && !is_good {
                step.sent_back = step.sent_back.saturating_add(1);
                step.task = Some(summary.to_owned());
            }
            step.stage = match std::mem::replace(&mut step.stage, StepStage::Pending) {
                StepStage::Merging(merging) => merging.after_frame(cause, outcome),
                StepStage::Pending
                | StepStage::Making
                | StepStage::Working
                | StepStage::Finished
                | StepStage::Judging
                | StepStage::Done
                | StepStage::Failed(_)
                | StepStage::Skipped
                | StepStage::Dropped
                | StepStage::Lost => {
                    let failed = || StepStage::Failed(summary.to_owned());
                    if is_good { StepStage::Finished } else { failed() }
                }
            };
        });
        self.step_is_over(&place);
    }

    pub(super) fn settle_step(&mut self, settled: &StepSettled) {
        let (place, why) = (&settled.place, &settled.why);
        // A frame that is still open goes with it, and what its workers were not told stays with the step.
        let path = place.step_frame(&settled.step);
        let open = self.frames.get(&path).map(|frame| frame.notes.clone()).unwrap_or_default();
        self.frames.retain(|it, _| !it.is_within(&path));
        self.settle_judge(settled);
        if settled.how == StepEnd::Again {
            // What was merged stays in the project, whatever comes of the next try.
            self.change_pool(place, |pool| {
                if pool.step(&settled.step).is_some_and(|it| it.stage == StepStage::Done) {
                    pool.merged.insert(settled.step.clone());
                }
            });
        }
        self.change_step(place, &settled.step, |step| {
            (step.slot, step.gate, step.leaving) = (None, None, None);
            step.notes.extend(open.into_iter().filter(|note| note.told.is_none()));
            step.stage = match settled.how {
                StepEnd::Failed => StepStage::Failed(why.clone()),
                StepEnd::Skipped => StepStage::Skipped,
                StepEnd::Dropped => StepStage::Dropped,
                StepEnd::Done => StepStage::Done,
                StepEnd::Again => StepStage::Pending,
                StepEnd::Lost => StepStage::Lost,
            };
            if settled.how == StepEnd::Again {
                // Its folder is made ready anew: what is missing there may be why a person begins it again.
                (step.passed, step.is_set_up) = (None, false);
                (step.sent_back, step.resolved, step.approved) = (0, 0, true);
                step.task = Some(why.clone()).filter(|why| !why.is_empty());
            }
        });
        self.step_is_over(place);
    }

    /// Steps that are done add what they wrote down for everybody, and what nobody was told in one that is over goes to whoever works
    /// next.
    pub(super) fn step_is_over(&mut self, place: &Place) {
        let mut notes = Vec::new();
        self.change_pool(place, |pool| {
            for step in pool.steps.iter_mut().filter(|step| step.stage.is_settled()) {
                notes.append(&mut step.notes);
            }
        });
        self.tell_next(place, notes);
        let Some(pool) = self.pools.get(place) else { return };
        let joined = pool.joined(|step| step.stage == StepStage::Done);
        if joined != *self.snapshot {
            self.snapshot = Arc::new(joined);
        }
    }

    /// What nobody was told in a pool is for whoever works next.
    fn tell_next(&mut self, pool: &Place, notes: Vec<Note>) {
        if !notes.is_empty() {
            self.change_frame(&pool.frame(), |frame| frame.notes.extend(notes));
        }
    }

    pub(super) fn ask_step(&mut self, asked: &StepAsked) {
        let StepAsked { place, step, how, who, note } = asked.clone();
        let leaving = Some(Box::new(Leaving { how, who, note }));
        self.change_step(&place, &step, |step| step.leaving = leaving);
        // Also a pool that was about to be left goes on with this.
        self.change_frame(&place.frame(), Frame::go_inside);
    }

    pub(super) fn end_pool(&mut self, place: &Place, outcome: &Outcome, summary: &str) {
        let way = WayOut::new(outcome.clone(), summary.to_owned());
        self.change_frame(&place.frame(), |frame| frame.stage = Stage::Left(way));
    }

    /// Keeps a worker's entries with its step. False outside of pools.
    pub(super) fn add_to_layer(&mut self, path: &FramePath, update: &SnapshotUpdate) -> bool {
        let Some((place, _, step)) = self.step_at(path) else { return false };
        let (place, id) = (place.clone(), step.id.clone());
        let before = self.snapshot_at(path);
        // Said again and again, the same must not make the state larger.
        if before.joined(update).is_ok_and(|after| after != *before) {
            self.change_step(&place, &id, |step| step.layer.push(update.clone()));
        }
        true
    }

    pub(super) fn ask_at_step(&mut self, place: &Place, step: &StepId, gate: GateId) {
        self.change_step(place, step, |step| step.gate = Some(gate));
    }

    /// A person answered at a step. What follows from the answer to a conflict is an event of its own.
    pub(super) fn answer_at_step(
        &mut self,
        opened: &GateOpened,
        step: &StepId,
        answer: &GateAnswer,
    ) {
        let agrees = *answer == GateAnswer::Approved;
        self.change_step(&opened.place, step, |step| {
            (step.gate, step.approved) = (None, step.approved || agrees);
        });
    }

    pub(super) fn change_pool(&mut self, place: &Place, with: impl FnOnce(&mut Pool)) {
        match self.pools.get_mut(place) {
            Some(pool) => with(Arc::make_mut(pool)),
            None => self.impossible(Impossible::Pool(place.clone())),
        }
    }

    pub(super) fn change_step(
        &mut self,
        place: &Place,
        step: &StepId,
        with: impl FnOnce(&mut PoolStep),
    ) {
        let known = self.pools.get_mut(place).map(Arc::make_mut);
        match known.and_then(|pool| pool.step_mut(step)) {
            Some(step) => with(step),
            None => self.impossible(Impossible::Step(place.clone(), step.clone())),
        }
    }

    /// Changes the step that works in a folder.
    pub(super) fn change_step_in(&mut self, folder: u32, with: impl FnOnce(&mut PoolStep)) {
        let Some((place, step)) = self.step_in(folder) else {
            return self.impossible(Impossible::Folder(folder));
        };
        let (place, id) = (place.clone(), step.id.clone());
        self.change_step(&place, &id, with);
    }
}
