//! A portable position: where a run was, without anything that belongs to that run alone.
//!
//! Attempts, sessions, gates and spending are not part of it, nor are visits of our own runs. `State::carried` derives a position from the first lines of
//! a ledger. It is checked when a person asks for it and then stored in the event, which needs nothing else to be applied.

use serde::{Deserialize, Serialize};

use crate::base::ids::{FolderId, FramePath, Outcome, PhaseId, Place, StepId};
use crate::base::redact::Redactor;
use crate::event::pool::Plan;
use crate::event::snapshot::Snapshot;

/// Where a run was: frames, snapshot and edge counts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Carried {
    /// Parent frames come before their children.
    pub frames: Vec<CarriedFrame>,
    /// The snapshot at that point.
    #[serde(default, skip_serializing_if = "Snapshot::is_empty")]
    pub snapshot: Snapshot,
    /// How often each edge had been taken, for loop limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<CarriedEdge>,
    /// Phases that another program's run had been at and left, oldest first. Empty for positions of our own runs, whose visits are in
    /// their ledgers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visits: Vec<CarriedVisit>,
}

/// A visit of a phase that ended before the run was continued here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedVisit {
    /// The phase that was left, in the run's own workflow.
    pub place: Place,
    /// The phase it was left for.
    pub to: PhaseId,
    /// The outcome it was left with.
    pub outcome: Outcome,
    /// Summary of its last worker.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
}

/// A frame at rest: its phase is entered again, or the workflow inside of the phase continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedFrame {
    /// Its path; a name that must not be parsed.
    pub frame: FramePath,
    /// The phase that runs this workflow, in the parent frame. `None` for the run's own workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// The step of a pool that it works on; `None` outside of pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// The folder that its workers work in.
    #[serde(default, skip_serializing_if = "FolderId::is_project")]
    pub folder: FolderId,
    /// Key of the workflow that it walks.
    pub workflow: String,
    /// The phase that it was at, or on its way to.
    pub phase: PhaseId,
    /// True if a workflow inside of that phase was active.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inside: bool,
    /// The task that the previous phase gave to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Summary of the previous phase.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Last message of the previous worker, if the workflow is a chain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// Steps that were planned for the pool that comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<Plan>>,
}

/// How often an edge had been taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedEdge {
    /// The frame whose workflow has the edge.
    pub frame: FramePath,
    /// The phase that the edge leaves.
    pub from: PhaseId,
    /// The phase that the edge enters.
    pub to: PhaseId,
    /// Number of times, for loop limits.
    pub taken: u32,
}

impl Carried {
    /// Removes secrets from everything that somebody wrote freely: names of phases, workflows and frames stay, because they are
    /// looked up. Returns true if there were any.
    pub fn redact(&mut self, redactor: &Redactor) -> bool {
        // Taken apart by name: a new field does not compile until somebody has decided whether it may hold a secret.
        let Self { frames, snapshot, edges: _, visits } = self;
        let of_frames = frames
            .iter_mut()
            .flat_map(|frame| frame.task.iter_mut().chain([&mut frame.summary, &mut frame.said]));
        let of_visits = visits.iter_mut().map(|visit| &mut visit.summary);
        let in_texts = redactor.redact_each(of_frames.chain(of_visits));
        let plans = frames.iter_mut().filter_map(|frame| frame.plan.as_mut());
        let in_plans = plans.filter_map(|plan| plan.redact(redactor).then_some(())).count() > 0;
        // The call comes first: behind `||` it would be skipped once a text had a secret.
        snapshot.redact(redactor) || in_texts || in_plans
    }

    /// The phase of the run's own workflow.
    pub fn phase(&self) -> Option<&PhaseId> {
        self.frames.first().map(|root| &root.phase)
    }

    /// The innermost frame, where work continues.
    pub fn innermost(&self) -> Option<&CarriedFrame> {
        self.frames.iter().find(|frame| !frame.inside)
    }
}
