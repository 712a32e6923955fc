//! Runs of The Chronicle in a project: one JSON file each, `.pi/chronicle/sessions/ID.json`.
//!
//! They are only read. Older files lack some fields, which get that program's defaults. Mirrors of our own runs are skipped.

use std::collections::BTreeMap;
use std::path::Path;

use chronicle_core::base::ids::{
    COMPLETE, FolderId, FramePath, HUMAN_INTERVENTION, Outcome, PhaseId,
};
use chronicle_core::base::limits::{SNAPSHOT_BYTES_MAX, SNAPSHOT_ENTRIES_MAX, bounded};
use chronicle_core::base::redact::Redactor;
use chronicle_core::base::time::Millis;
use chronicle_core::definition::workflow::Workflow;
use chronicle_core::event::carried::{Carried, CarriedEdge, CarriedFrame, CarriedVisit};
use chronicle_core::event::snapshot::Snapshot;
use serde_json::{Map, Value};

use super::{files, session_file};
use crate::project::Project;

/// Their folder in the project.
const FOLDER: &str = ".pi/chronicle/sessions";
/// That program's name for a finished run.
const DONE: &str = "done";
/// Limits for what is carried over of its history: number of visits, and length of each summary.
const VISITS_MAX: usize = 100;
const SUMMARY_MAX: usize = 1_000;

/// A run of The Chronicle.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OlderRun {
    /// Its id: 16 hex digits.
    pub id: String,
    /// Name of its workflow.
    pub workflow_name: String,
    /// Its workflow, frozen at its start.
    pub workflow_def: Value,
    /// The names of its states in the order of the file.
    pub(super) state_order: Vec<String>,
    /// When it was started, in milliseconds.
    pub created: u64,
    /// When it was last written, in milliseconds.
    pub last_updated: u64,
    /// The state it is at.
    pub current_state: String,
    /// The task for that state.
    pub current_state_task: String,
    /// The task of the run.
    pub initial_task: String,
    /// `running`, `done`, `paused` or `human_intervention`.
    pub status: String,
    /// Every worker so far, oldest first.
    pub history: Vec<OlderRecord>,
    pub(super) total_tokens: u64,
    pub(super) snapshot: OlderSnapshot,
    pub(super) transition_counts: BTreeMap<String, u32>,
    /// Path of the file, as people see it.
    pub file: String,
}

/// The work of one worker.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OlderRecord {
    /// The state that it worked in.
    pub state: String,
    /// What it said at its end.
    pub summary: String,
    pub(super) exit_code: Option<i64>,
}

/// A file in the place of such a run that cannot be read as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRun {
    /// Name of the file without its ending, which is the id of its run.
    pub id: String,
    /// Path of the file, as people see it.
    pub file: String,
    /// What is wrong with it.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct OlderSnapshot {
    pub(super) modified_files: Vec<String>,
    pub(super) key_findings: Vec<String>,
    pub(super) pending_tasks: Vec<String>,
    pub(super) custom: Map<String, Value>,
}

/// Every run of The Chronicle in a project, last changed first, and the files that cannot be read as one.
pub(crate) fn older_runs(project: &Project) -> (Vec<OlderRun>, Vec<BrokenRun>) {
    let (entries, trouble) = files::entries(&project.root().join(FOLDER));
    let (mut runs, mut broken) = (Vec::new(), Vec::new());
    broken.extend(trouble.map(|it| broken_run(&project.root().join(FOLDER), it.message)));
    for entry in entries.iter().filter(|it| !it.is_folder && files::has_ending(&it.path, "json")) {
        match read(&entry.path) {
            Ok(run) => runs.extend(run),
            Err(why) => broken.push(broken_run(&entry.path, why)),
        }
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.last_updated));
    let ids: Vec<String> = runs.iter().map(|run| run.id.clone()).collect();
    let is_single = |run: &OlderRun| ids.iter().filter(|id| **id == run.id).count() == 1;
    let (runs, doubled): (Vec<OlderRun>, Vec<OlderRun>) = runs.into_iter().partition(is_single);
    broken.extend(doubled.iter().map(|run| twin(run, &doubled)));
    (runs, broken)
}

fn broken_run(path: &Path, why: String) -> BrokenRun {
    let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    BrokenRun { id, file: super::places::Places::shown(path), why }
}

/// A run whose id another file has too. Which of them is meant is not guessed.
fn twin(run: &OlderRun, doubled: &[OlderRun]) -> BrokenRun {
    let others = doubled.iter().filter(|it| it.id == run.id && it.file != run.file);
    let others: Vec<String> = others.map(|it| format!("`{}`", it.file)).collect();
    let verb = if others.len() == 1 { "has" } else { "have" };
    let why = format!("{} {verb} the same id: remove what is not meant", others.join(" and "));
    BrokenRun { id: run.id.clone(), file: run.file.clone(), why }
}

/// The run in a file; `None` for the mirror of one of ours.
fn read(path: &Path) -> Result<Option<OlderRun>, String> {
    let text = files::text(path).map_err(|trouble| trouble.message)?;
    let value = session_file::parse(&text)?;
    // The mirror of our own runs is in the same folder, and only it has `standing`. Adopting one would start the same run twice.
    if value.get("standing").is_some() {
        return Ok(None);
    }
    let run = session_file::run(&text, &value)?;
    // The id becomes part of file names and of what people paste into a shell.
    if run.id.is_empty() || !run.id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err("its `id` has to be one of letters and digits".to_owned());
    }
    Ok(Some(OlderRun { file: super::places::Places::shown(path), ..run }))
}

impl OlderRecord {
    /// Older files have no exit codes, and mean that all went well.
    fn outcome(&self) -> Outcome {
        Outcome::from(if self.exit_code.unwrap_or(0) == 0 { COMPLETE } else { "fail" })
    }
}

impl OlderRun {
    /// Its first eight digits, which people see and type.
    pub fn short(&self) -> &str {
        self.id.get(..8).unwrap_or(&self.id)
    }

    /// Whether nothing is left to do.
    pub fn is_over(&self) -> bool {
        self.status == DONE
    }

    /// Why it cannot continue although it is not over.
    pub fn stuck(&self) -> Option<String> {
        let states = self.workflow_def["states"].as_object()?;
        // A state that is only named as a target is added when the workflow is read.
        let is_target = |state: &Value| {
            let mut targets = state["next"].as_array().into_iter().flatten();
            targets.any(|it| it.as_str() == Some(&self.current_state))
        };
        let is_known = self.current_state == HUMAN_INTERVENTION
            || states.contains_key(&self.current_state)
            || states.values().any(is_target);
        (!self.is_over() && !is_known).then(|| self.unknown_state())
    }

    fn unknown_state(&self) -> String {
        format!("it is at `{}`, which its workflow does not have", self.current_state)
    }

    /// When it was last written.
    pub fn updated_at(&self) -> Millis {
        Millis(self.last_updated)
    }

    /// Tokens that it used, as far as that program counted them.
    pub fn tokens(&self) -> u64 {
        self.total_tokens
    }

    /// Removes secrets from what people and workers wrote. Its workflow stays as it is: a redacted one would be another.
    pub(crate) fn redact(&mut self, redactor: &Redactor) {
        let of_history = self.history.iter_mut().map(|record| &mut record.summary);
        let texts = [&mut self.current_state_task, &mut self.initial_task];
        redactor.redact_each(texts.into_iter().chain(of_history));
        let OlderSnapshot { modified_files, key_findings, pending_tasks, custom } =
            &mut self.snapshot;
        redactor.redact_each(modified_files.iter_mut().chain(key_findings).chain(pending_tasks));
        for (name, value) in custom {
            redactor.named_value(name, value);
        }
    }

    /// Its workflow as text, to be parsed like a file.
    pub fn definition(&self) -> String {
        let fields = self.workflow_def.as_object().into_iter().flatten();
        let others = fields.filter(|(name, _)| *name != "states");
        let others: Vec<String> = others.map(|(name, value)| field(name, value)).collect();
        let states = &self.workflow_def["states"];
        // The path is drawn in the order in which states are named, and a parsed object has them sorted.
        let states =
            self.state_order.iter().filter_map(|name| Some(field(name, states.get(name)?)));
        let states = format!("\"states\":{{{}}}", states.collect::<Vec<_>>().join(","));
        format!("{{{}}}", others.into_iter().chain([states]).collect::<Vec<_>>().join(","))
    }

    /// Its position in a workflow parsed from its own copy, or why it has none.
    pub fn position(&self, workflow: &Workflow) -> Result<Carried, String> {
        let phase = phase(&self.current_state, workflow).ok_or_else(|| self.unknown_state())?;
        let task = Some(self.current_state_task.clone()).filter(|task| !task.trim().is_empty());
        let frame = CarriedFrame {
            frame: FramePath::root(),
            at: None,
            step: None,
            folder: FolderId::Project,
            plan: None,
            workflow: workflow.key.clone(),
            phase,
            inside: false,
            task,
            summary: self.history.last().map_or_else(String::new, |last| last.summary.clone()),
            said: String::new(),
        };
        Ok(Carried {
            frames: vec![frame],
            snapshot: self.carried_snapshot(),
            edges: self.edges(workflow),
            visits: self.visits(workflow),
        })
    }

    /// The phases that it has left. Its history has one record per worker, so that a state that was tried again has several.
    fn visits(&self, workflow: &Workflow) -> Vec<CarriedVisit> {
        let following = self.history.iter().skip(1).map(|it| &it.state);
        let following = following.chain([&self.current_state]);
        let left = self.history.iter().zip(following).filter(|(record, to)| record.state != **to);
        let visits = left.filter_map(|(record, to)| {
            Some(CarriedVisit {
                place: FramePath::root().place(&phase(&record.state, workflow)?),
                to: phase(to, workflow)?,
                outcome: record.outcome(),
                summary: bounded(&record.summary, SUMMARY_MAX),
            })
        });
        let visits: Vec<CarriedVisit> = visits.collect();
        visits[visits.len().saturating_sub(VISITS_MAX)..].to_vec()
    }

    fn carried_snapshot(&self) -> Snapshot {
        let OlderSnapshot { modified_files, key_findings, pending_tasks, custom } =
            self.snapshot.clone();
        let mut snapshot = Snapshot {
            findings: key_findings,
            pending: pending_tasks,
            done: Vec::new(),
            files: modified_files,
            custom: custom.into_iter().collect(),
        };
        // Nothing there bounds what is carried; here the newest of it is.
        while !snapshot.findings.is_empty() && is_too_large(&snapshot) {
            snapshot.findings.remove(0);
        }
        while !snapshot.pending.is_empty() && is_too_large(&snapshot) {
            snapshot.pending.remove(0);
        }
        snapshot
    }

    fn edges(&self, workflow: &Workflow) -> Vec<CarriedEdge> {
        let edge = |(way, taken): (&String, &u32)| {
            let (from, to) = way.split_once("->")?;
            let (from, to) = (phase(from, workflow)?, phase(to, workflow)?);
            Some(CarriedEdge { frame: FramePath::root(), from, to, taken: *taken })
        };
        self.transition_counts.iter().filter_map(edge).collect()
    }
}

/// A field of an object as JSON.
fn field(name: &str, value: &Value) -> String {
    format!("{}:{value}", Value::from(name))
}

/// The phase for a state; one named like an end was renamed.
fn phase(state: &str, workflow: &Workflow) -> Option<PhaseId> {
    let named = workflow.phases.iter().find(|phase| phase.id.as_str() == state);
    // Every workflow of that program has it: the run waits for a person.
    if named.is_none() && state == HUMAN_INTERVENTION {
        return Some(HUMAN_INTERVENTION.into());
    }
    // A state called `done` was renamed when the workflow was read, and kept its name for people.
    let renamed = || workflow.phases.iter().find(|phase| phase.name == state);
    Some(named.or_else(renamed)?.id.clone())
}

fn is_too_large(snapshot: &Snapshot) -> bool {
    let lists = [&snapshot.findings, &snapshot.pending, &snapshot.files];
    let entries = lists.iter().map(|list| list.len()).sum::<usize>() + snapshot.custom.len();
    let bytes = serde_json::to_string(snapshot).map_or(usize::MAX, |text| text.len());
    entries > SNAPSHOT_ENTRIES_MAX || bytes > SNAPSHOT_BYTES_MAX
}
