//! The Chronicle agent protocol, version 1: lines of JSON both ways. `docs/agent-protocol.md` is its definition.
//!
//! This file writes; `protocol/reading.rs` reads. Nothing is remembered but whether the session was named, since work before
//! that could not be resumed.

mod reading;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chronicle_core::event::Verdict;
use chronicle_core::event::input::Answer;
use serde_json::{Value, json};

use super::{Adapter, Launch, Order, Seen, servers};

/// The version that both sides name in their first message.
pub const PROTOCOL: u64 = 1;
/// Every type of message to an agent.
pub const TO_AGENT: [&str; 6] = ["start", "resume", "prompt", "note", "interrupt", "answer"];
/// Every type of message from an agent.
pub const FROM_AGENT: [&str; 12] = [
    "session",
    "text",
    "tool_call",
    "permission",
    "tool_end",
    "file_change",
    "usage",
    "question",
    "signal",
    "error",
    "quota",
    "finished",
];

/// The program that speaks it.
pub(super) enum Program {
    /// Our own binary, which plays a script.
    Scripted(PathBuf),
    /// A program from the user's command line.
    Command(Vec<String>),
}

/// Drives one process that speaks the protocol.
pub(super) struct Protocol {
    program: Program,
    session_named: bool,
}

impl Protocol {
    pub(super) fn new(program: Program) -> Self {
        Self { program, session_named: false }
    }
}

impl Adapter for Protocol {
    fn launch(&self, order: &Order, chronicle: &Path) -> Launch {
        let argv = match &self.program {
            Program::Scripted(script) => {
                vec![chronicle.into(), "scripted-agent".into(), script.into()]
            }
            Program::Command(words) => words.iter().map(Into::into).collect(),
        };
        Launch { argv, env: BTreeMap::new(), files: vec![servers::file(order, false)] }
    }

    fn open(&mut self, order: &Order) -> Vec<String> {
        self.session_named = false;
        vec![opening(order)]
    }

    fn read(&mut self, line: &str) -> Vec<Seen> {
        if line.trim().is_empty() {
            return Vec::new();
        }
        let seen = reading::read(line, self.session_named);
        self.session_named |= matches!(seen, Seen::Session(_));
        vec![seen]
    }

    fn glance(&self, line: &str) -> Vec<Seen> {
        vec![reading::read(line, true)]
    }

    fn answer(&mut self, id: &str, answer: &Answer) -> Vec<String> {
        let (word, text) = match answer {
            // The answer comes once a person has given it; to one that is being stopped, none comes.
            Answer::Waits | Answer::Stopped(_) => return Vec::new(),
            Answer::Verdict(Verdict::Allowed) => ("allow", ""),
            Answer::Verdict(Verdict::Denied(why)) => ("deny", why.as_str()),
            Answer::Accepted(text) => ("accepted", text.as_str()),
            Answer::Refused(text) => ("refused", text.as_str()),
            Answer::Noted => ("accepted", ""),
        };
        vec![line(json!({"type": "answer", "id": id, "answer": word, "text": text}))]
    }

    fn prompt(&mut self, text: &str) -> Vec<String> {
        vec![line(json!({"type": "prompt", "text": text}))]
    }

    fn note(&mut self, text: &str) -> Vec<String> {
        vec![line(json!({"type": "note", "text": text}))]
    }

    fn interrupt(&mut self) -> Vec<String> {
        vec![line(json!({"type": "interrupt"}))]
    }
}

fn opening(order: &Order) -> String {
    line(json!({
        "type": if order.resume { "resume" } else { "start" },
        "protocol": PROTOCOL,
        "run": order.run,
        "attempt": order.attempt,
        "place": order.place,
        "try": order.try_number,
        "session": order.session,
        "task": order.task,
        "handover": order.handover,
        "persona": order.persona,
        "followup": order.followup,
        "model": order.model,
        "thinking": order.thinking,
        "tools": {"allow": order.tools.allow, "deny": order.tools.deny},
        "targets": order.targets,
        "project": order.project.to_string_lossy(),
        "servers": order.given.join(servers::FILE).to_string_lossy(),
    }))
}

/// One line of JSON; `null` fields are left out.
fn line(mut message: Value) -> String {
    if let Value::Object(fields) = &mut message {
        fields.retain(|_, value| !value.is_null());
    }
    message.to_string()
}
