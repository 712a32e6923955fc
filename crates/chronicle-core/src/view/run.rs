//! The view of one run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::apart::{ApartRow, apart};
use super::attempt::{AttemptRow, attempt_row};
use super::budget::{BudgetRow, budget_row};
use super::fallback::{FallbackRow, fallbacks};
use super::gate::{GateRow, gates};
use super::guard::{ForbiddenRow, GuardsRow, forbidden, guards};
use super::permission::{GrantRow, grants};
use super::phase::{PhaseRow, phases};
use super::pool::{FolderRow, PoolRow, StepRow, folders, pools};
use super::proof::{UnprovenRow, unproven};
use super::wait::{WaitRow, waits};
use super::walls::{WallsRow, walls};
use super::{Breadcrumb, VIEW_VERSION};
use crate::base::time::Millis;
use crate::base::usage::Usage;
use crate::event::OnGate;
use crate::event::snapshot::Snapshot;
use crate::handover;
use crate::state::budget::all_balances;
use crate::state::{Standing, State, Status};
use crate::words;

/// Everything about one run that a face may show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and a field of the JSON"
)]
pub struct RunView {
    /// `VIEW_VERSION` of the writer.
    pub version: u32,
    /// The run's full id.
    pub run: String,
    /// Its last eight digits, which people type.
    pub short: String,
    /// The workflow's name, for people.
    pub workflow: String,
    /// The task of the run.
    pub task: String,
    /// The title that a person gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its status, as people see it.
    pub status: Standing,
    /// True if a supervisor drives it.
    pub supervised: bool,
    /// Process id of its supervisor, if a signal has stopped it: it does nothing and answers nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<u32>,
    /// File of the other program's run that it continues, if any. Chronicle only reads that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// True if `resume` has something to do: work, pending cleanup, or a pause to end. False if an answer is needed first.
    pub goes_on: bool,
    /// Why it is paused, was cancelled or failed.
    pub reason: Option<String>,
    /// What is still done before a run that was paused, cancelled or has failed is at rest, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// The workflow's own text for the end of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<String>,
    /// Workflow fields that a person accepted as not enforced.
    pub unenforced: Vec<String>,
    /// What the run does on its own when a person is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_gate: Option<OnGate>,
    /// One per frame, outermost first.
    pub breadcrumbs: Vec<Breadcrumb>,
    /// Where the run is, innermost last: `Release > Review [2/3] > 🔍 Analysis [1/2]`.
    pub line: String,
    /// What is passed from phase to phase.
    pub snapshot: Arc<Snapshot>,
    /// Every phase in the order of its workflow; phases of an entered sub-workflow follow the phase that runs it.
    pub phases: Vec<PhaseRow>,
    /// Pools with their steps, also those that were left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolRow>,
    /// Work folders of steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<FolderRow>,
    /// Its own folder, if it works apart from the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<ApartRow>,
    /// Attempts that are live now.
    pub working: Vec<AttemptRow>,
    /// Gates that wait for a person.
    pub needs_you: Vec<GateRow>,
    /// Where another agent took over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<FallbackRow>,
    /// Waits that end by themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitRow>,
    /// The run that occupies the project's files, if a live process of this run waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// What was spent in total.
    pub spent: Spent,
    /// Calls that people allowed and that are still to be made, or may be made again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<GrantRow>,
    /// The rules about tool calls that were frozen into it; `None` for a run of a version that had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guards: Option<GuardsRow>,
    /// The walls around its workers; `None` for a run of a version that had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walls: Option<WallsRow>,
    /// Every limit with its spending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<BudgetRow>,
    /// Active time of all attempts.
    pub active_ms: u64,
    /// How many attempts were started.
    pub attempts: usize,
    /// True while the supervisor records the project's files: before an attempt begins, or after it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recording: bool,
    /// Changes of workers that the rules forbid, and how to take each of them back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden: Vec<ForbiddenRow>,
    /// Why the project's files could not be recorded the last time.
    pub no_trees: Option<String>,
    /// Attempts that worked although their guard was not proven; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproven: Option<UnprovenRow>,
    /// Why people could not be notified the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untold: Option<String>,
    /// True if files are being restored, or a restore was interrupted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undoing: bool,
    /// What an interrupted undo was about; `None` if none was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_undone: Option<String>,
    /// Time of the first line.
    pub started_at: Millis,
    /// Time of the last line.
    pub updated_at: Millis,
    /// Number of the last line.
    pub seq: u64,
    /// Commands to type next, most urgent first.
    pub next: Vec<String>,
}

/// Tokens and cost, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Tokens of every kind.
    pub tokens: u64,
    /// Millionths of a dollar, as far as known.
    pub usd_micros: u64,
    /// True if all of it has a known price.
    pub priced: bool,
    /// True if part of the price comes from Chronicle's table and not from the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl From<&Usage> for Spent {
    fn from(usage: &Usage) -> Self {
        Self {
            tokens: usage.tokens(),
            usd_micros: usage.usd_micros,
            priced: !usage.unpriced,
            estimated: usage.estimated,
        }
    }
}

impl RunView {
    /// Adds the time that passed to every working attempt: the ledger has no line for a silent one. Not from the last line on,
    /// since a line may come from somebody else and say nothing about the attempt's time.
    pub fn pass_until(&mut self, now: Millis) {
        // An upper bound: time in which the machine slept counts here until the next report corrects it.
        let waits = |row: &AttemptRow| row.asks || row.room.is_some();
        self.work(|row| if waits(row) { 0 } else { now.0.saturating_sub(row.started_at.0) });
    }

    /// Takes in how long each open attempt has worked, where that is more than the ledger says.
    pub fn work(&mut self, known_ms: impl Fn(&AttemptRow) -> u64) {
        for row in &mut self.working {
            let passed = known_ms(row).saturating_sub(row.active_ms);
            row.active_ms = row.active_ms.saturating_add(passed);
            // Checks and cleanup do not count as the phase's work.
            if row.is_chore {
                continue;
            }
            self.active_ms = self.active_ms.saturating_add(passed);
            if let Some(phase) = self.phases.iter_mut().find(|phase| phase.place == row.place) {
                phase.active_ms = phase.active_ms.saturating_add(passed);
            }
            let mut steps = self.pools.iter_mut().flat_map(|pool| &mut pool.steps);
            let around = |step: &StepRow| row.place.frame().is_within(&step.place.frame_below());
            if let Some(step) = steps.find(|step| around(step)) {
                step.active_ms = step.active_ms.saturating_add(passed);
            }
            for budget in &mut self.budgets {
                budget.work(&row.place, passed);
            }
        }
    }
}

/// The view of a run; `None` before it has started.
pub fn run(state: &State, supervised: bool) -> Option<RunView> {
    let run = state.run.as_ref()?;
    let short = run.run.short();
    let needs_you: Vec<GateRow> = gates(state, short);
    let gate_next = needs_you.iter().map(|gate| gate.next.clone());
    Some(RunView {
        version: VIEW_VERSION,
        run: run.run.to_string(),
        short: short.to_owned(),
        workflow: run.workflows.first().map_or_else(String::new, |main| main.name.clone()),
        task: run.task.clone(),
        title: state.title.clone(),
        status: state.standing(supervised),
        supervised,
        stopped: None,
        continues: run.carried.as_ref().map(|_| run.source.clone()),
        goes_on: state.can_resume(),
        reason: reason(state),
        ending: words::ending(state, supervised),
        completion: state.done.then(|| handover::completion(state)).flatten(),
        unenforced: run.unenforced.clone(),
        on_gate: run.on_gate,
        breadcrumbs: words::breadcrumbs(state),
        line: words::status_line(state),
        snapshot: Arc::clone(&state.snapshot),
        phases: phases(state),
        pools: pools(state, supervised),
        folders: folders(state),
        apart: apart(state, supervised),
        working: state.live_attempts().map(|attempt| attempt_row(state, attempt)).collect(),
        fallbacks: fallbacks(state),
        waits: waits(state),
        waits_for: None,
        spent: Spent::from(&state.usage),
        grants: grants(state),
        guards: guards(run),
        walls: walls(state),
        budgets: all_balances(state).iter().map(budget_row).collect(),
        active_ms: state.active_ms(),
        attempts: state.places.values().map(|tally| tally.attempts).sum(),
        recording: supervised && state.is_recording(),
        forbidden: forbidden(state, short),
        no_trees: state.trees.project().missed.clone(),
        unproven: unproven(state),
        untold: words::notice_failed(&state.notices.failed),
        undoing: state.trees.undo().is_some(),
        half_undone: half_undone(state, supervised),
        started_at: state.started_at,
        updated_at: state.updated_at,
        seq: state.seq,
        // An interrupted undo before everything else: until it is finished, nothing may work on the files.
        next: undo_next(state, supervised, short)
            .into_iter()
            .chain(gate_next)
            .chain(words::standing_next(state, supervised, short))
            .chain(super::apart::next(state, short))
            .collect(),
        needs_you,
    })
}

fn reason(state: &State) -> Option<String> {
    match state.status() {
        Status::Cancelled | Status::Failed | Status::Paused | Status::Ending => {
            [&state.failed, &state.cancelled, &state.paused].into_iter().flatten().next().cloned()
        }
        Status::Running | Status::Waiting | Status::Done => None,
    }
}

/// What an interrupted undo was about: the files are neither as before nor as requested.
fn half_undone(state: &State, supervised: bool) -> Option<String> {
    let (_, undo) = state.trees.undo().filter(|_| !supervised)?;
    Some(undo.what.clone())
}

fn undo_next(state: &State, supervised: bool, run: &str) -> Option<String> {
    half_undone(state, supervised)?;
    Some(format!("chronicle undo {run} --finish  (or: chronicle undo {run} --back)"))
}
