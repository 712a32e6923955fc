//! One agent, one project, one scripted model: alone, or under Chronicle.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use chronicle_model::real::{Claude, Pi, PiVersion, Yard};
use chronicle_model::{Script, Server};
use serde_json::{Value, json};

use crate::memory::{self, Used};
use crate::span;

const PROMPT: &str = "Say hello";
/// Events of a stream come this far apart in a long turn, about as a model writes.
const PACE_MS: u64 = 25;
/// What a model says before each call of a long turn: about a second and a half at that pace.
const TALK_PIECES: usize = 60;
const WORKFLOW: &str = "name: One\nphases: {work: {next: [done]}}\n";
/// Longer than an agent takes to its second request.
const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    Claude,
    Pi,
}

/// What the model does in one prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BenchTurn {
    /// One call of a tool and two answers, all of them at once.
    Short,
    /// Five calls of tools and six answers at a model's pace, ten seconds in all.
    Long,
}

pub(crate) struct BenchScene {
    agent: Agent,
    yard: Yard,
}

impl Agent {
    pub(crate) const ALL: [Self; 2] = [Self::Claude, Self::Pi];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Pi => "pi",
        }
    }

    fn program(self) -> Result<Vec<String>, String> {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        Ok(match self {
            Self::Claude => vec![shown(Claude::find()?.program())],
            Self::Pi => Pi::find(PiVersion::New)?.program().map(shown).into(),
        })
    }

    /// The call of a tool that ends the prompt under Chronicle.
    fn leaves(self) -> Value {
        let tool = match self {
            Self::Claude => "mcp__chronicle__workflow_transition",
            Self::Pi => "workflow_transition",
        };
        json!({"tool": tool, "input": {"target_state": "done", "summary": "hello"}})
    }

    /// The call that stands in its place without Chronicle.
    fn reads(self) -> Value {
        let path = "{{project}}/a.txt";
        match self {
            Self::Claude => json!({"tool": "Read", "input": {"file_path": path}}),
            Self::Pi => json!({"tool": "read", "input": {"path": path}}),
        }
    }

    fn writes(self) -> Value {
        let (path, text) = ("{{project}}/b.txt", "hello again\n".repeat(20));
        match self {
            Self::Claude => {
                json!({"tool": "Write", "input": {"file_path": path, "content": text}})
            }
            Self::Pi => json!({"tool": "write", "input": {"path": path, "content": text}}),
        }
    }

    fn counts(self) -> Value {
        let tool = match self {
            Self::Claude => "Bash",
            Self::Pi => "bash",
        };
        json!({"tool": tool, "input": {"command": "wc -l a.txt b.txt"}})
    }

    /// What the model says; `ends` is its last call.
    fn turns(self, turn: BenchTurn, ends: &Value) -> Vec<Value> {
        let calls = match turn {
            BenchTurn::Short => return vec![json!({"calls": [ends]}), json!({"say": "Done."})],
            BenchTurn::Long => {
                [self.reads(), self.writes(), self.counts(), self.reads(), ends.clone()]
            }
        };
        let talk = "I think about what to do. ".repeat(TALK_PIECES);
        let calls = calls.into_iter().map(|call| json!({"calls": [call]}));
        let mut turns: Vec<Value> = calls.chain([json!({})]).collect();
        for turn in &mut turns {
            turn["say"] = json!(talk);
            turn["pace_ms"] = json!(PACE_MS);
        }
        turns
    }
}

impl BenchScene {
    pub(crate) fn new(agent: Agent) -> Result<Self, String> {
        let yard = Yard::new().map_err(|error| error.to_string())?;
        yard.write("a.txt", "hello\n").map_err(|error| error.to_string())?;
        Ok(Self { agent, yard })
    }

    /// How long the agent takes by itself, as a person would start it for one prompt.
    pub(crate) fn alone(&self, turn: BenchTurn) -> Result<Duration, String> {
        let server = self.server(&self.agent.turns(turn, &self.agent.reads()))?;
        let words = self.agent.program()?;
        let mut command = self.command(Path::new(&words[0]), &server)?;
        command.args(&words[1..]);
        match self.agent {
            Agent::Claude => {
                command.args(["-p", PROMPT, "--output-format", "stream-json", "--verbose"]);
                command.args(["--allowedTools", "Read,Write,Bash"])
            }
            Agent::Pi => {
                command.args(["--mode", "json", "--model", "scripted/scripted-model", PROMPT])
            }
        };
        let took = timed(command)?;
        played(&server)?;
        Ok(took)
    }

    /// How long the same takes through Chronicle, its own start and end included; and how much of it was before the agent could
    /// start and after it had ended, by the ledger's times.
    pub(crate) fn through(
        &self,
        turn: BenchTurn,
        chronicle: &Path,
    ) -> Result<(Duration, Duration), String> {
        let server = self.server(&self.agent.turns(turn, &self.agent.leaves()))?;
        let began = SystemTime::now();
        let took = timed(self.run(chronicle, &server)?)?;
        let ended = SystemTime::now();
        played(&server)?;
        let mut log = self.command(chronicle, &server)?;
        let log = log.args(["log", "--json"]).stdout(Stdio::piped()).output();
        let log =
            String::from_utf8_lossy(&log.map_err(|error| error.to_string())?.stdout).into_owned();
        let own = span::between(began, span::first(&log, "tree_recorded")?)
            + span::between(span::first(&log, "attempt_ended")?, ended);
        Ok((took, own))
    }

    /// What Chronicle's processes use while the agent waits for its model.
    pub(crate) fn memory(&self, chronicle: &Path) -> Result<Used, String> {
        let late = json!({"say": "Done.", "stall": {"name": "late"}});
        let server = self.server(&[json!({"calls": [self.agent.leaves()]}), late])?;
        let mut command = self.run(chronicle, &server)?;
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        if !server.wait_for_stall("late", PATIENCE) {
            return Err("the agent never came to its second request".to_owned());
        }
        let used = memory::of(child.id());
        server.release("late");
        child.wait().map_err(|error| error.to_string())?;
        Ok(used)
    }

    fn server(&self, turns: &[Value]) -> Result<Server, String> {
        let script = json!({"conversations": [{"name": "main", "turns": turns}]}).to_string();
        let script = Script::parse(&script).map_err(|error| error.to_string())?;
        let project = self.yard.project().canonicalize().map_err(|error| error.to_string())?;
        Server::start(script.with("project", project.to_string_lossy()))
            .map_err(|error| error.to_string())
    }

    fn run(&self, chronicle: &Path, server: &Server) -> Result<Command, String> {
        let write = |path: &Path, text: &str| {
            let folder = path.parent().unwrap_or(path);
            fs::create_dir_all(folder).and_then(|()| fs::write(path, text))
        };
        let words: Vec<String> =
            self.agent.program()?.iter().map(|it| format!("\"{it}\"")).collect();
        let settings = format!(
            "trust.folders = ['{}']\n[agents.{}]\ncommand = '{}'\n",
            self.yard.folder().display(),
            self.agent.name(),
            words.join(" ")
        );
        write(&self.yard.home().join(".config/chronicle/config.toml"), &settings)
            .and_then(|()| {
                write(&self.yard.project().join(".chronicle/workflows/one.yaml"), WORKFLOW)
            })
            .map_err(|error| error.to_string())?;
        let mut command = self.command(chronicle, server)?;
        command.args(["run", "one", PROMPT, "--agent", self.agent.name()]);
        if self.agent == Agent::Pi {
            command.args(["--model", "scripted/scripted-model"]);
        }
        Ok(command)
    }

    /// A command that sees this scene's model and nothing of the machine's.
    fn command(&self, program: &Path, server: &Server) -> Result<Command, String> {
        let home = self.yard.home().join("pi");
        Pi::prepare(&home, server).map_err(|error| error.to_string())?;
        let mut command = self.yard.command(program);
        command.env("PI_CODING_AGENT_DIR", home).env("PI_OFFLINE", "1").env("PI_TELEMETRY", "0");
        command.env("ANTHROPIC_BASE_URL", server.url());
        command.env("ANTHROPIC_API_KEY", ["not", "a", "key"].join("-"));
        command
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }
}

fn timed(mut command: Command) -> Result<Duration, String> {
    let began = Instant::now();
    let status = command.status().map_err(|error| error.to_string())?;
    let took = began.elapsed();
    if status.success() { Ok(took) } else { Err(format!("it ended with {status}")) }
}

fn played(server: &Server) -> Result<(), String> {
    let leftovers = server.leftovers();
    if leftovers.is_empty() { Ok(()) } else { Err(leftovers.join("; ")) }
}
