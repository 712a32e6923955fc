//! The signal tools, as agents see them. Their arguments are parsed in `chronicle_core::event::signal`: what is described here
//! must be understood there.

use serde_json::{Value, json};

/// A tool as agents expect it to be described.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalTool {
    /// Name that the model calls it by.
    pub name: &'static str,
    /// Description for the model.
    pub about: &'static str,
    /// JSON schema of its arguments.
    pub schema: Value,
}

/// All that this version understands; plans come with the phases that want them.
pub fn signal_tools() -> Vec<SignalTool> {
    vec![transition(), signal_back(), step(), snapshot(), plan(), ask(), status()]
}

fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn texts(about: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": about})
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

fn transition() -> SignalTool {
    SignalTool {
        name: "workflow_transition",
        about: "Leave your phase when its work is done. End your turn after it was accepted; \
            ending your turn without it does not end the phase.",
        schema: object(
            &json!({
                "target_state": text("The phase to go to, one of those that you were told."),
                "summary": text("What you did and found; the next phase reads it."),
                "outcome": text("How it went, where the workflow asks for that: `pass`, `fail`, …"),
                "task": text("What the next phase is to do, in your words."),
                "issues_opened": texts("Issues that you found, each by a short name."),
                "issues_resolved": texts("Issues that are settled now, by the same names."),
                "assist_reason": text("Why you need help, if you do."),
            }),
            &["target_state", "summary"],
        ),
    }
}

fn signal_back() -> SignalTool {
    SignalTool {
        name: "signal_back",
        about: "Tell the supervisor how your work stands, then end your turn. `complete` needs \
            `summary`; `partially-complete` needs `progress` and `continuationPoint`; \
            `needs-user-input` needs `question` and `context`; `needs-role-followup` needs \
            `targetRole`, `reason`, `context` and `resume`.",
        schema: object(
            &json!({
                "signal": {
                    "type": "string",
                    "enum": [
                        "complete", "partially-complete", "needs-user-input", "needs-role-followup",
                    ],
                },
                "summary": text("complete: what you did and found."),
                "outcome": text("complete: how it went, where the workflow asks for that."),
                "progress": text("partially-complete: what is done by now."),
                "continuationPoint": text("partially-complete: where to continue."),
                "question": text("needs-user-input: what you want to know."),
                "options": texts("needs-user-input: answers to choose from, if any."),
                "context": text("needs-user-input, needs-role-followup: what one must know."),
                "targetRole": text("needs-role-followup: the persona that is to help."),
                "reason": text("needs-role-followup: what for."),
                "resume": {
                    "type": "boolean",
                    "description": "needs-role-followup: true if you continue afterwards.",
                },
                "stepId": text("Your attempt or phase, as `workflow_status` names it. May be left out."),
            }),
            &["signal"],
        ),
    }
}

fn step() -> SignalTool {
    SignalTool {
        name: "workflow_step",
        about: "Walk on in the workflow: `next` leaves your phase for the following one, `status` \
            says where you are, `loop` begins the workflow anew, `cancel` gives it up.",
        schema: object(
            &json!({
                "action": {"type": "string", "enum": ["next", "status", "loop", "cancel"]},
                "summary": text("What you did and found."),
                "outcome": text("next: how it went, where the workflow asks for that."),
            }),
            &["action"],
        ),
    }
}

fn snapshot() -> SignalTool {
    let lists = json!({
        "type": "object",
        "properties": {
            "findings": texts("What was found out."),
            "pending": texts("What is still to be done."),
            "done": texts("What of that is done."),
            "files": texts("Files that matter."),
            "custom": {"type": "object", "description": "Anything else, by name; null removes."},
            "remove": texts("What is carried and settled by now: its words, or how it begins."),
            "replace": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "What is carried and no longer right: its words or how it begins, and what it becomes.",
            },
        },
        "additionalProperties": false,
    });
    SignalTool {
        name: "workflow_update_snapshot",
        about: "Keep something for the phases after yours: a text, or lists by their names.",
        schema: object(&json!({"data": {"anyOf": [text("One finding."), lists]}}), &["data"]),
    }
}

fn plan() -> SignalTool {
    let files = json!({
        "type": "object",
        "properties": {
            "create": texts("Files that it makes."),
            "change": texts("Files that it changes."),
        },
        "additionalProperties": false,
    });
    let about = "All that its worker is told beside the task: what to do, where, and how to see that it is done.";
    let step = json!({
        "type": "object",
        "properties": {
            "id": text("Short and unique: letters, digits, dashes."),
            "name": text("What people see."),
            "description": text(about),
            "depends_on": texts("Ids of steps that must be merged first."),
            "files": files,
        },
        "required": ["id"],
    });
    let version =
        "The plan that you change, by its number, if its steps are being worked on already.";
    SignalTool {
        name: "workflow_plan",
        about: "Plan the steps that several workers do next, some of them at the same time; only in a \
            phase that is for planning, or as its helper. Called again, it replaces what has not begun.",
        schema: object(
            &json!({
                "steps": {"type": "array", "items": step, "description": "All steps, in order."},
                "version": {"type": "integer", "description": version},
            }),
            &["steps"],
        ),
    }
}

fn ask() -> SignalTool {
    SignalTool {
        name: "workflow_ask",
        about: "Ask a person and wait for the answer, without leaving your phase. It may take \
            long: ask only what you cannot find out.",
        schema: object(
            &json!({
                "question": text("What you want to know."),
                "options": texts("Answers to choose from, if any."),
                "allow_free_text": {
                    "type": "boolean",
                    "description": "Whether another answer than one of the options may be given.",
                },
                "context": text("What one must know to answer."),
            }),
            &["question"],
        ),
    }
}

fn status() -> SignalTool {
    SignalTool {
        name: "workflow_status",
        about: "Say where you are in the workflow, and where you may go.",
        schema: object(&json!({}), &[]),
    }
}
