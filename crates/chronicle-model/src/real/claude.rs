//! Claude Code, installed for tests.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{Program, Yard, installed};
use crate::Server;

/// The settings that make it ask before every tool, reads included.
const ASK_ALWAYS: &str = r#"{"permissions":{"ask":["*"]}}"#;

/// The installed program, and how often it tries again by itself.
pub struct Claude {
    program: PathBuf,
    /// Its own retries of a failed request.
    pub retries: u32,
}

impl Claude {
    /// Finds the installed program; the error says what is missing.
    pub fn find() -> Result<Self, String> {
        let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
        let path =
            format!("claude/node_modules/@anthropic-ai/claude-code-{system}-{machine}/claude");
        Ok(Self { program: installed(Path::new(&path))?, retries: 0 })
    }

    /// The program, for whoever starts it otherwise.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Starts it, to be talked to line by line.
    pub fn start(&self, yard: &Yard, server: &Server, extra: &[&str]) -> io::Result<Program> {
        Program::start(self.command(yard, server, extra))
    }

    /// The command, in the mode in which a supervisor drives it.
    pub fn command(&self, yard: &Yard, server: &Server, extra: &[&str]) -> Command {
        let mut command = yard.command(&self.program);
        command.env("ANTHROPIC_BASE_URL", server.url());
        command.env("ANTHROPIC_API_KEY", ["not", "a", "key"].join("-"));
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        command.env("DISABLE_AUTOUPDATER", "1");
        // Its own retries wait for minutes. Tests of failures want to see the first one.
        command.env("CLAUDE_CODE_MAX_RETRIES", self.retries.to_string());
        command.args(["-p", "--input-format", "stream-json", "--output-format", "stream-json"]);
        command.args(["--verbose", "--include-partial-messages", "--include-hook-events"]);
        command.args(["--permission-prompt-tool", "stdio", "--settings", ASK_ALWAYS]);
        command.args(extra);
        command
    }
}

impl Claude {
    /// What a person says.
    pub fn prompt(text: &str) -> Value {
        json!({"type": "user", "message": {"role": "user", "content": text}})
    }

    /// Whether a line ends a turn.
    pub fn is_end(line: &Value) -> bool {
        line["type"] == "result"
    }

    /// Whether a line asks for leave.
    pub fn is_question(line: &Value) -> bool {
        line["type"] == "control_request" && line["request"]["subtype"] == "can_use_tool"
    }

    /// Leave to do what was asked.
    pub fn allow(question: &Value) -> Value {
        let input = &question["request"]["input"];
        Self::answer(question, &json!({"behavior": "allow", "updatedInput": input}))
    }

    /// No leave, and why.
    pub fn deny(question: &Value, why: &str) -> Value {
        Self::answer(question, &json!({"behavior": "deny", "message": why}))
    }

    fn answer(question: &Value, response: &Value) -> Value {
        let id = &question["request_id"];
        let inner = json!({"subtype": "success", "request_id": id, "response": response});
        json!({"type": "control_response", "response": inner})
    }
}
