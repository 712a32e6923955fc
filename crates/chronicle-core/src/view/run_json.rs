//! `run.json`: the run with the field names that tools of the older, one-file format read.

use std::collections::BTreeMap;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::event::{End, GateKind};
use crate::state::{Attempt, Frame, State, Status};
use crate::words;

/// How much of an attempt's summary is shown as its output.
const PREVIEW_MAX: usize = 300;

/// The content of the file; `None` before the run has started.
pub fn run_json(state: &State) -> Option<Value> {
    let run = state.run.as_ref()?;
    let main = run.workflows.first()?;
    let root = state.frames.values().next();
    let mut json = json!({
        "id": run.run,
        "workflowName": main.name,
        "workflowPath": run.source,
        "workflowDef": main,
        "created": state.started_at.0,
        "lastUpdated": state.updated_at.0,
        "currentState": root.map(|frame| frame.phase.to_string()).unwrap_or_default(),
        "currentStateTask": root.and_then(|frame| frame.task.clone()).unwrap_or_else(|| run.task.clone()),
        "initialTask": run.task,
        "history": state.attempts.iter().filter_map(|attempt| record(state, attempt)).collect::<Vec<_>>(),
        "snapshot": {
            "modifiedFiles": modified(state),
            "keyFindings": state.snapshot.findings,
            "pendingTasks": state.snapshot.pending,
            "doneTasks": state.snapshot.done,
            "custom": state.snapshot.custom,
        },
        "transitionCounts": root.map(transitions).unwrap_or_default(),
        "totalTokens": state.usage.tokens(),
        "totalElapsed": state.active_ms(),
        "status": status(state),
        "standing": state.status(),
        "trees": state.trees.project().last.iter().map(|(tree, _)| tree).collect::<Vec<_>>(),
    });
    if let (Some(earlier), Some(fields)) = (earlier(state, run.run.short()), json.as_object_mut()) {
        fields.insert("historyEarlier".into(), earlier);
    }
    Some(json)
}

/// How many attempts `history` omits, and how to see them; `None` if it has all.
fn earlier(state: &State, run: &str) -> Option<Value> {
    let count = state.attempts.forgotten();
    (count > 0).then(|| json!({"attempts": count, "see": format!("chronicle log {run}")}))
}

/// Files that any attempt changed, by name.
fn modified(state: &State) -> Vec<&str> {
    let files = state.places.values().flat_map(|tally| &tally.changes.list);
    let names: BTreeSet<&str> = files.map(|file| file.path.as_str()).collect();
    names.into_iter().collect()
}

/// The older format has four statuses; everything that waits is `paused` there, except interventions.
fn status(state: &State) -> &'static str {
    let intervention =
        state.open_gates().any(|gate| gate.opened.gate_kind == GateKind::Intervention);
    match state.status() {
        Status::Running | Status::Ending => "running",
        Status::Done => "done",
        Status::Waiting if intervention => "human_intervention",
        Status::Waiting | Status::Paused | Status::Cancelled | Status::Failed => "paused",
    }
}

fn record(state: &State, attempt: &Attempt) -> Option<Value> {
    let (end, at) = attempt.ended.as_ref()?;
    let run = state.run.as_ref()?;
    let summary = match &attempt.leave {
        Some((leave, _)) => leave.summary.clone(),
        None => attempt
            .parting
            .as_ref()
            .map_or_else(|| words::end(end), |(parting, _)| words::parting(parting)),
    };
    let mut record = Map::new();
    record.insert("state".into(), json!(attempt.intent.place));
    record.insert("agentName".into(), json!(words::performer(&attempt.intent)));
    record.insert("startedAt".into(), json!(attempt.started_at.0));
    record.insert("completedAt".into(), json!(at.0));
    record.insert("summary".into(), json!(summary));
    record.insert("tokensUsed".into(), json!(attempt.usage.tokens()));
    record.insert("elapsed".into(), json!(attempt.active_ms));
    record.insert("taskGiven".into(), json!(run.task));
    let preview: String = summary.chars().take(PREVIEW_MAX).collect();
    record.insert("outputPreview".into(), json!(preview));
    record.insert("exitCode".into(), json!(exit_code(end)));
    Some(Value::Object(record))
}

fn exit_code(end: &End) -> i32 {
    match end {
        End::Left | End::BrokeOff | End::CommandsDone => 0,
        End::Crashed(crash) => crash.code.filter(|code| *code != 0).unwrap_or(1),
        End::StoppedBy(_) => 124,
        End::CommandFailed { .. } | End::Stopped | End::Lost | End::Unclear { .. } => 1,
    }
}

/// How often each edge was taken, in the older format.
fn transitions(frame: &Frame) -> BTreeMap<String, u32> {
    frame.edges.iter().map(|edge| (format!("{}->{}", edge.from, edge.to), edge.taken)).collect()
}
