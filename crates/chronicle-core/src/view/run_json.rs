//! `run.json`: the run with the field names that tools of the older, one-file format read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::base::ids::DONE;
use crate::definition::workflow::{Phase, Workflow};
use crate::event::{End, GateKind};
use crate::state::{Attempt, Frame, State, Status, Visit};
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
        "workflowDef": template(state, main),
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

/// The workflow as a template of that format, without what the format cannot express.
fn template(state: &State, main: &Workflow) -> Value {
    let states = main.phases.iter().filter(|phase| phase.id.as_str() != DONE);
    let states: Map<String, Value> =
        states.map(|phase| (phase.id.to_string(), template_state(state, phase))).collect();
    let mut def = json!({"name": main.name, "initial": main.initial, "states": states});
    if let Some(about) = &main.description {
        def["description"] = json!(about);
    }
    def
}

fn template_state(state: &State, phase: &Phase) -> Value {
    let about = phase.description.as_ref().unwrap_or(&phase.name);
    let mut said = json!({"description": about, "next": phase.next});
    match (state.persona_of(phase), &phase.persona) {
        (Some(persona), _) => said["agent"] = json!(persona.name),
        (None, Some(text)) => said["persona"] = json!(text),
        (None, None) => {}
    }
    if let Some(allowed) = &state.tools_of(phase).allow {
        said["tools"] = json!(allowed.join(","));
    }
    if !phase.extra_skills.is_empty() {
        said["extra_skills"] = json!(phase.extra_skills);
    }
    if phase.approval.is_before() || phase.approval.is_after() {
        said["requires_approval"] = json!(true);
        said["approval_mode"] = json!(if phase.approval.is_before() { "pre" } else { "post" });
    }
    if let Some(ms) = phase.limits.timeout_ms {
        // Rounded up: the older format has whole minutes, and a limit of seconds must not become 0.
        said["timeout_minutes"] = json!(ms.div_ceil(60_000));
    }
    said
}

/// The older format has four statuses, and only `done` is final: a cancelled run must not look as if it could be resumed, and a
/// failed one needs a person. `standing` has the exact status. Everything else that waits is `paused`.
fn status(state: &State) -> &'static str {
    let intervention =
        state.open_gates().any(|gate| gate.opened.gate_kind == GateKind::Intervention);
    match state.status() {
        Status::Running | Status::Ending => "running",
        Status::Done | Status::Cancelled => "done",
        Status::Failed => "human_intervention",
        Status::Waiting if intervention => "human_intervention",
        Status::Waiting | Status::Paused => "paused",
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
    record.insert("state".into(), json!(attempt.intent.shown_place()));
    record.insert("agentName".into(), json!(words::performer(&attempt.intent)));
    if let Some(model) = state.model_for(&attempt.intent) {
        record.insert("modelUsed".into(), json!(model));
    }
    record.insert("startedAt".into(), json!(attempt.started_at.0));
    record.insert("completedAt".into(), json!(at.0));
    record.insert("summary".into(), json!(summary));
    record.insert("tokensUsed".into(), json!(attempt.usage.tokens()));
    record.insert("elapsed".into(), json!(attempt.active_ms));
    record.insert("taskGiven".into(), json!(given(state, attempt).unwrap_or(&run.task)));
    let preview: String = summary.chars().take(PREVIEW_MAX).collect();
    record.insert("outputPreview".into(), json!(preview));
    record.insert("exitCode".into(), json!(exit_code(end)));
    Some(Value::Object(record))
}

/// The task that the previous phase gave to the visit of an attempt.
fn given<'a>(state: &'a State, attempt: &Attempt) -> Option<&'a String> {
    let is_then = |visit: &&Arc<Visit>| {
        let number = usize::try_from(attempt.intent.attempt.0).unwrap_or(usize::MAX);
        visit.place == attempt.intent.place && visit.attempts_before < number
    };
    state.visits.iter().rfind(is_then)?.task.as_ref()
}

fn exit_code(end: &End) -> i32 {
    match end {
        End::Left | End::BrokeOff | End::CommandsDone => 0,
        End::Crashed(crash) => crash.code.filter(|code| *code != 0).unwrap_or(1),
        // As the program `timeout` exits: the older format has no other field for the end of an attempt.
        End::StoppedBy(_) => 124,
        End::CommandFailed { .. } | End::Stopped | End::Lost | End::Unclear { .. } => 1,
    }
}

/// How often each edge was taken, in the older format.
fn transitions(frame: &Frame) -> BTreeMap<String, u32> {
    frame.moves.iter().map(|edge| (format!("{}->{}", edge.from, edge.to), edge.taken)).collect()
}
