//! Pi, in both versions that are tested.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{Program, Yard, installed, node};
use crate::Server;

/// A version of Pi that tests run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PiVersion {
    /// Version 0.87.1, installed as `pi-old`.
    Old,
    /// Version 1.5.0, installed as `pi-new`.
    New,
}

/// An installed version of Pi.
pub struct Pi {
    node: PathBuf,
    script: PathBuf,
}

impl Pi {
    /// Finds the installed program; the error says what is missing.
    pub fn find(version: PiVersion) -> Result<Self, String> {
        let folder = match version {
            PiVersion::Old => "pi-0.87",
            PiVersion::New => "pi-1.5",
        };
        let inside = "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js";
        Ok(Self { node: node()?, script: installed(&Path::new(folder).join(inside))? })
    }

    /// The program and its script, for whoever starts it otherwise.
    pub fn program(&self) -> [&Path; 2] {
        [&self.node, &self.script]
    }

    /// Writes its list of models, which has the server's alone, into its home.
    pub fn prepare(home: &Path, server: &Server) -> io::Result<()> {
        fs::create_dir_all(home)?;
        fs::write(home.join("models.json"), models(&server.url()).to_string())
    }

    /// Starts it, to be talked to line by line.
    pub fn start(&self, yard: &Yard, server: &Server, extra: &[&str]) -> io::Result<Program> {
        Program::start(self.command(yard, server, extra)?)
    }

    /// The command, in the mode in which a supervisor drives it, after writing its list of models.
    pub fn command(&self, yard: &Yard, server: &Server, extra: &[&str]) -> io::Result<Command> {
        let home = yard.home().join("agent");
        Self::prepare(&home, server)?;
        let mut command = yard.command(&self.node);
        command.env("PI_CODING_AGENT_DIR", home).env("PI_OFFLINE", "1").env("PI_TELEMETRY", "0");
        command.arg(&self.script).args(["--mode", "rpc", "--model", "scripted/scripted-model"]);
        command.args(extra);
        Ok(command)
    }

    /// What a person says.
    pub fn prompt(id: &str, text: &str) -> Value {
        json!({"id": id, "type": "prompt", "message": text})
    }

    /// Whether a line says that nothing more will come by itself.
    pub fn is_end(line: &Value) -> bool {
        line["type"] == "agent_settled"
    }
}

fn models(url: &str) -> Value {
    let cost = json!({"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75});
    let model = json!({
        "id": "scripted-model", "contextWindow": 200_000, "maxTokens": 8000, "cost": cost,
    });
    let (url, key) = (format!("{url}/v1"), ["not", "a", "key"].join("-"));
    json!({"providers": {"scripted": {
        "baseUrl": url, "api": "openai-completions", "apiKey": key, "models": [model],
    }}})
}
