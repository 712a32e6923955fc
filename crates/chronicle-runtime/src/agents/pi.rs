//! Pi, driven in its RPC mode. What it prints was seen by running it: `docs/agents/pi.md`.
//!
//! This file writes; `pi/reading.rs` reads. An extension of ours, `pi/chronicle.cjs`, is written to the attempt's private
//! folder and loaded at the start: it asks before every tool and has the tools for signals. Both wait for our answer.

mod long;
mod proof;
mod reading;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use chronicle_core::event::input::Answer;
use chronicle_core::event::{CrashClass, Verdict};
use serde_json::{Value, json};

use super::{Adapter, GivenFile, Launch, MissingProof, Order, Seen, Trial, signal_tools};
use proof::Proof;
use reading::{Dialog, PiReader, YES};

/// The extension, and where its list of tools goes.
const EXTENSION: &str = include_str!("pi/chronicle.cjs");
const TOOLS_MARK: &str = "[/* TOOLS */]";
/// Where the attempt's nonce goes, by which the extension proves that it was loaded.
const NONCE_MARK: &str = "/* NONCE */";
/// The files that it is given. The extension is plain CommonJS by its name and its content: anything else Pi has transpiled first, in
/// each start anew.
const EXTENSION_FILE: &str = "chronicle.cjs";
const PERSONA_FILE: &str = "persona.md";
/// The session of a trial: nothing is said in it.
const TRIAL_SESSION: &str = "chronicle-trial";
/// Words of the lines in which it tells that a file is locked; its stack and its code are left out.
const LOCKED: [&str; 3] = ["ELOCKED", "Lock file", "file: '"];
const LOCKED_LINE_MAX: usize = 400;
/// The levels that it knows.
const LEVELS: [&str; 7] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/// Drives one Pi process.
pub(super) struct Pi {
    program: Vec<String>,
    reading: PiReader,
    sent: u32,
}

impl Pi {
    pub(super) fn new(program: Vec<String>) -> Self {
        Self { program, reading: PiReader::default(), sent: 0 }
    }

    /// A line with an id of its own.
    fn line(&mut self, mut message: Value) -> String {
        self.sent += 1;
        message["id"] = json!(self.sent.to_string());
        message.to_string()
    }
}

impl Adapter for Pi {
    fn launch(&self, order: &Order, _chronicle: &Path) -> Launch {
        let mut argv: Vec<OsString> = self.program.iter().map(OsString::from).collect();
        let mut option = |name: &str, value: OsString| argv.extend([name.into(), value]);
        option("--mode", "rpc".into());
        option("-e", order.given.join(EXTENSION_FILE).into());
        // One that goes on must exist; the other option would make a new one without a word.
        let session = if order.resume { "--session" } else { "--session-id" };
        option(session, order.session.as_str().into());
        if let Some(model) = &order.model {
            option("--model", model.into());
        }
        // Its list knows no `*`: then each call is judged when it is asked for.
        if let Some(allow) = order.tools.exactly() {
            // Its list counts for extensions, too: without our own tools there would be no way out.
            let ours = signal_tools().into_iter().map(|tool| tool.name.to_owned());
            let all: Vec<String> =
                allow.iter().map(|it| it.to_ascii_lowercase()).chain(ours).collect();
            option("--tools", all.join(",").into());
        }
        let level = order.thinking.as_deref().map(str::to_ascii_lowercase);
        if let Some(level) = level.filter(|level| LEVELS.contains(&level.as_str())) {
            option("--thinking", level.into());
        }
        // Written for each attempt: the list of tools is part of it, and a worker of an earlier attempt could have changed the
        // file.
        let mut files = vec![GivenFile { name: EXTENSION_FILE, text: extension(&order.nonce) }];
        if let Some(persona) = &order.persona {
            option("--append-system-prompt", order.given.join(PERSONA_FILE).into());
            files.push(GivenFile { name: PERSONA_FILE, text: persona.clone() });
        }
        let mut env = environment();
        if let Some(home) = &order.home {
            let own = home.join(".pi/agent").to_string_lossy().into_owned();
            env.insert("PI_CODING_AGENT_DIR".to_owned(), own);
        }
        Launch { argv, env, files }
    }

    fn trial(&self, given: &Path) -> Option<Trial> {
        let mut argv: Vec<OsString> = self.program.iter().map(OsString::from).collect();
        let words = ["--mode", "rpc", "--session-id", TRIAL_SESSION, "--session-dir"];
        argv.extend(words.map(OsString::from));
        argv.extend([given.into(), "-e".into(), given.join(EXTENSION_FILE).into()]);
        Some(Trial {
            launch: Launch {
                argv,
                env: environment(),
                files: vec![GivenFile { name: EXTENSION_FILE, text: extension(TRIAL_SESSION) }],
            },
            input: format!("{}\n", json!({"id": "hello", "type": "get_state"})),
            is_answer: |line| {
                let line: Value = serde_json::from_str(line).unwrap_or_default();
                line["type"] == "response" && line["data"]["sessionId"] == TRIAL_SESSION
            },
        })
    }

    fn open(&mut self, order: &Order) -> Vec<String> {
        // The extension greets before Pi answers anything, so that the answer to this shows whether it was loaded.
        let state = self.line(json!({"type": "get_state"}));
        let proof = Proof::of(order.nonce.clone(), self.prompt(&order.handover));
        self.reading = PiReader::of(order.project.clone(), order.attempt, proof);
        vec![state]
    }

    fn read(&mut self, line: &str) -> Vec<Seen> {
        if line.trim().is_empty() { Vec::new() } else { self.reading.read(line) }
    }

    fn glance(&self, line: &str) -> Vec<Seen> {
        PiReader::default().read(line)
    }

    fn answer(&mut self, id: &str, answer: &Answer) -> Vec<String> {
        let Some((dialog, request)) = self.reading.take_dialog(id) else { return Vec::new() };
        vec![match dialog {
            Dialog::Permission => value(&request, &leave(answer).to_string()),
            Dialog::Signal => value(&request, &heard(answer).to_string()),
            Dialog::Foreign | Dialog::Confirm => match answer {
                Answer::Accepted(text) if dialog == Dialog::Confirm => confirmed(&request, text),
                Answer::Accepted(text) => value(&request, text),
                // A question that nobody will answer is cancelled; Pi would wait for it for ever.
                _ => cancelled(&request),
            },
        }]
    }

    fn prompt(&mut self, text: &str) -> Vec<String> {
        vec![self.line(json!({"type": "prompt", "message": text}))]
    }

    fn note(&mut self, text: &str) -> Vec<String> {
        // Not before the handover. A note that came to nothing is given again.
        if !self.reading.proof().has_begun() {
            return Vec::new();
        }
        vec![self.line(json!({"type": "steer", "message": text}))]
    }

    fn unproven(&self) -> Option<MissingProof> {
        self.reading.proof().unproven()
    }

    fn has_begun(&self) -> bool {
        self.reading.proof().has_begun()
    }

    fn start_unproven(&mut self) -> Vec<String> {
        self.reading.proof_mut().waive()
    }

    fn inquire(&mut self) -> Vec<String> {
        self.reading.proof_mut().take_lines()
    }

    fn interrupt(&mut self) -> Vec<String> {
        // It does not end while a question is open.
        let abort = self.line(json!({"type": "abort"}));
        let open = self.reading.interrupted();
        std::iter::once(abort).chain(open.iter().map(|request| cancelled(request))).collect()
    }

    fn has_open_request(&self) -> bool {
        self.reading.has_open_request()
    }

    fn is_noise(&self) -> fn(&str) -> bool {
        // Said of each fresh session, since its id is of our choosing.
        |line| line.trim_start().starts_with("Warning: No project session found with id")
    }

    fn died_of(&self) -> fn(&str) -> Option<(CrashClass, String)> {
        |errors| {
            if errors.contains("No session found matching") {
                return Some((CrashClass::SessionGone, errors.to_owned()));
            }
            // A Pi that was killed leaves the lock of a file behind, and it counts for some seconds: that passes by itself, as a
            // service does that cannot be reached.
            let told = errors.lines().map(str::trim).filter(|line| tells_of_lock(line));
            let told: Vec<&str> = told.collect();
            let is_locked = told.iter().any(|line| line.contains("ELOCKED"));
            is_locked.then(|| (CrashClass::Unreachable, told.join(" ")))
        }
    }

    fn is_cause(&self) -> fn(&str) -> bool {
        // They stand among a line of its own code that is longer than all that is kept, and a stack.
        |line| tells_of_lock(line.trim())
    }
}

/// Whether a line says that a file is locked: its own code has these words too, in lines that are far longer.
fn tells_of_lock(line: &str) -> bool {
    LOCKED.iter().any(|word| line.contains(word)) && line.len() <= LOCKED_LINE_MAX
}

fn environment() -> BTreeMap<String, String> {
    // No side traffic: a worker must not depend on an update server, and what it does is nobody else's business.
    let env = [("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0")];
    env.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// The extension with its tools and the attempt's nonce filled in.
fn extension(nonce: &str) -> String {
    let tools = signal_tools()
        .into_iter()
        .map(|tool| json!({"name": tool.name, "description": tool.about, "schema": tool.schema}));
    let tools = Value::Array(tools.collect()).to_string();
    EXTENSION.replace(TOOLS_MARK, &tools).replace(NONCE_MARK, nonce)
}

fn leave(answer: &Answer) -> Value {
    match answer {
        Answer::Verdict(Verdict::Allowed) => json!({"allow": true}),
        Answer::Verdict(Verdict::Denied(why)) | Answer::Refused(why) => json!({"deny": why}),
        // Whatever is not a clear yes is a no.
        _ => json!({"deny": "the attempt is over: end your turn now"}),
    }
}

fn heard(answer: &Answer) -> Value {
    match answer {
        Answer::Accepted(text) => json!({"accepted": true, "text": text}),
        Answer::Refused(text) => json!({"accepted": false, "text": text}),
        _ => json!({"accepted": false, "text": "the attempt is over: end your turn now"}),
    }
}

fn value(request: &str, value: &str) -> String {
    json!({"type": "extension_ui_response", "id": request, "value": value}).to_string()
}

/// Anything but a clear yes is a no.
fn confirmed(request: &str, answer: &str) -> String {
    let confirmed = answer.trim().eq_ignore_ascii_case(YES);
    json!({"type": "extension_ui_response", "id": request, "confirmed": confirmed}).to_string()
}

fn cancelled(request: &str) -> String {
    json!({"type": "extension_ui_response", "id": request, "cancelled": true}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_a_killed_pi_left_behind_passes_by_itself() {
        let errors = "file:///x/chunk.js:3\nvar x=`ELOCKED`;".to_owned()
            + &"x".repeat(LOCKED_LINE_MAX)
            + "\n\nError: Lock file is already being held\n    at lock (file:///x/chunk.js:3:19796) {\n"
            + "  code: 'ELOCKED',\n  file: '/home/me/.pi/agent'\n}\n\nNode.js v24.21.0";
        let died_of = Pi::new(Vec::new()).died_of();
        let told =
            "Error: Lock file is already being held code: 'ELOCKED', file: '/home/me/.pi/agent'";
        assert_eq!(died_of(&errors), Some((CrashClass::Unreachable, told.to_owned())));
        assert_eq!(died_of("Error: it is broken"), None);
    }
}
