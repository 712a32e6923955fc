//! Claude Code, driven over lines of JSON both ways. What it prints was seen by running it: `docs/agents/claude.md`.
//!
//! This file writes; `claude/reading.rs` reads. It asks before every tool, reads included (`claude/lock.rs`); signals come through
//! the MCP server `chronicle mcp`, which it is told to start, and which is answered by the supervisor itself.

mod after;
mod background;
mod lock;
mod long;
mod reading;
mod tools;
mod totals;
mod turns;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use chronicle_core::event::input::Answer;
use serde_json::{Value, json};

use super::{Adapter, GivenFile, Launch, MissingProof, Order, Seen, Trial, servers};
use lock::Waiting;
use reading::ClaudeReader;

/// Its own retries of a failed request; ours come after them.
const RETRIES: &str = "2";
/// How long its tools may wait for us: a person's answer may take days. Milliseconds.
const TOOL_PATIENCE: &str = "1000000000";
/// Name of the file with the persona.
const PERSONA: &str = "persona.md";
/// Tools of its own that would lead around the workflow: questions to nobody, other folders, another time.
const NOT_HERE: &str = "AskUserQuestion,EnterPlanMode,ExitPlanMode,EnterWorktree,ExitWorktree,\
    ScheduleWakeup,CronCreate,CronDelete,CronList";

/// Its own names for tools, which it wants to the letter.
const TOOLS: [&str; 16] = [
    "Agent",
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "LS",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "Skill",
    "Task",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// Lines of its standard error that explain no end, by how they begin and what else they contain. It prints them at each start in a
/// project that nobody opened in Claude Code itself: settings of the project that allow something count only after its own
/// question about trust. Their texts are those of 2.1.325: "Ignoring 1 permissions.allow entry from .claude/settings.json:
/// this workspace has not been trusted. …".
const NOISE: [(&str, &str); 2] = [("Ignoring ", " entry from "), ("Ignoring ", " entries from ")];

/// Drives one Claude Code process.
pub(super) struct Claude {
    program: Vec<String>,
    prefers_http: bool,
    reading: ClaudeReader,
    interrupts: u32,
}

impl Claude {
    pub(super) fn new(program: Vec<String>, prefers_http: bool) -> Self {
        Self { program, prefers_http, reading: ClaudeReader::default(), interrupts: 0 }
    }
}

impl Adapter for Claude {
    fn launch(&self, order: &Order, _chronicle: &Path) -> Launch {
        let mut argv: Vec<OsString> = self.program.iter().map(OsString::from).collect();
        argv.extend(MODE.iter().map(OsString::from));
        let mut option = |name: &str, value: OsString| argv.extend([name.into(), value]);
        option("--settings", settings().to_string().into());
        option("--disallowedTools", NOT_HERE.into());
        // Its own list would bind its sub-agents, too, and it knows no `*`: where they are free, and where names are open, the
        // worker's calls are judged one by one.
        if let Some(allow) = order.tools.exactly().filter(|_| !order.tools.own_only) {
            option("--tools", own_names(allow).join(",").into());
        }
        option("--mcp-config", order.given.join(servers::FILE).into());
        let session = if order.resume { "--resume" } else { "--session-id" };
        option(session, order.session.as_str().into());
        if let Some(model) = &order.model {
            option("--model", model.into());
        }
        if let Some(effort) = order.thinking.as_deref().and_then(effort) {
            option("--effort", effort.into());
        }
        let mut files = vec![servers::file(order, self.prefers_http)];
        if let Some(persona) = &order.persona {
            option("--append-system-prompt-file", order.given.join(PERSONA).into());
            files.push(GivenFile { name: PERSONA, text: persona.clone() });
        }
        let mut env = environment();
        if let Some(home) = &order.home {
            env.insert(
                "CLAUDE_CONFIG_DIR".to_owned(),
                home.join(".claude").to_string_lossy().into(),
            );
        }
        Launch { argv, env, files }
    }

    fn trial(&self, _given: &Path) -> Option<Trial> {
        let mut argv: Vec<OsString> = self.program.iter().map(OsString::from).collect();
        argv.extend(MODE.iter().map(OsString::from));
        let request = json!({"subtype": "initialize"});
        let hello = json!({"type": "control_request", "request_id": "hello", "request": request});
        Some(Trial {
            launch: Launch { argv, env: environment(), files: Vec::new() },
            input: format!("{hello}\n"),
            is_answer: |line| {
                let line: Value = serde_json::from_str(line).unwrap_or_default();
                line["type"] == "control_response" && line["response"]["subtype"] == "success"
            },
        })
    }

    fn open(&mut self, order: &Order) -> Vec<String> {
        let lock = Waiting::of(order.nonce.clone(), self.prompt(&order.handover));
        self.reading = ClaudeReader::of(order.project.clone(), lock);
        vec![lock::request(&order.nonce)]
    }

    fn read(&mut self, line: &str) -> Vec<Seen> {
        if line.trim().is_empty() { Vec::new() } else { self.reading.read(line) }
    }

    fn glance(&self, line: &str) -> Vec<Seen> {
        ClaudeReader::default().read(line)
    }

    fn answer(&mut self, id: &str, answer: &Answer) -> Vec<String> {
        self.reading.answer(id, answer).into_iter().collect()
    }

    fn prompt(&mut self, text: &str) -> Vec<String> {
        let message = json!({"role": "user", "content": text});
        vec![json!({"type": "user", "message": message}).to_string()]
    }

    fn note(&mut self, text: &str) -> Vec<String> {
        // Not before the handover. A note that came to nothing is given again.
        if self.reading.lock().has_begun() { self.prompt(text) } else { Vec::new() }
    }

    fn unproven(&self) -> Option<MissingProof> {
        self.reading.lock().unproven()
    }

    fn has_begun(&self) -> bool {
        self.reading.lock().has_begun()
    }

    fn start_unproven(&mut self) -> Vec<String> {
        self.reading.lock_mut().waive()
    }

    fn inquire(&mut self) -> Vec<String> {
        let mut lines = self.reading.lock_mut().take_lines();
        lines.extend(self.reading.inquiry());
        lines
    }

    fn has_open_request(&self) -> bool {
        self.reading.has_open_request()
    }

    fn is_noise(&self) -> fn(&str) -> bool {
        |line| {
            let line = line.trim_start();
            NOISE.iter().any(|(begin, inside)| line.starts_with(begin) && line.contains(inside))
        }
    }

    fn interrupt(&mut self) -> Vec<String> {
        self.reading.interrupted();
        self.interrupts += 1;
        let id = format!("chronicle-{}", self.interrupts);
        let request = json!({"subtype": "interrupt"});
        vec![json!({"type": "control_request", "request_id": id, "request": request}).to_string()]
    }
}

/// Lines of JSON both ways, every event, and a question before every tool.
const MODE: [&str; 14] = [
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--include-hook-events",
    "--permission-prompt-tool",
    "stdio",
    // Whatever mode the user's own settings choose.
    "--permission-mode",
    "default",
    // A persona given to a session that goes on counts, too.
    "--system-prompt-snapshot",
    "off",
];

/// Settings that stand above those of its user and of the project.
fn settings() -> Value {
    // Variables too: its user's settings may set them, which counts for more than the environment that it is started with.
    json!({"permissions": {"ask": ["*"]}, "env": environment()})
}

/// Without the memory that it keeps per project by itself: a fresh worker would read what another one wrote there.
fn environment() -> BTreeMap<String, String> {
    let variables = [
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", RETRIES),
        ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
        ("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1"),
        ("MCP_TOOL_TIMEOUT", TOOL_PATIENCE),
    ];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// The tools that a phase allows, as it calls them; those of servers are no part of this list.
fn own_names(allow: &[String]) -> Vec<&str> {
    let own = |name: &'_ String| TOOLS.iter().find(|own| own.eq_ignore_ascii_case(name)).copied();
    let built_in = allow.iter().filter(|name| !name.starts_with("mcp__"));
    built_in.map(|name| own(name).unwrap_or(name)).collect()
}

/// Its word for how hard to think; none for words that are not known.
fn effort(thinking: &str) -> Option<&'static str> {
    match thinking.to_ascii_lowercase().as_str() {
        "off" | "none" | "minimal" | "low" => Some("low"),
        "medium" => Some("medium"),
        "high" => Some("high"),
        "xhigh" => Some("xhigh"),
        "max" => Some("max"),
        _ => None,
    }
}
