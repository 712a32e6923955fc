//! A real agent under the real binary, with a scripted model behind it: a home, a project and a server of its own.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use chronicle_model::real::{Claude, Pi, PiVersion};
use chronicle_model::{Script, Server};
use serde_json::{Value, json};

use crate::session::{Said, Session, Started};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Claude,
    PiOld,
    PiNew,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::PiOld | Self::PiNew => "pi",
        }
    }

    /// A call that writes a file of the project.
    pub(crate) fn write(self, path: &str, text: &str) -> Value {
        match self {
            Self::Claude => {
                let path = format!("{{{{project}}}}/{path}");
                json!({"tool": "Write", "input": {"file_path": path, "content": text}})
            }
            Self::PiOld | Self::PiNew => {
                json!({"tool": "write", "input": {"path": path, "content": text}})
            }
        }
    }

    /// A call that reads a file of the project.
    pub(crate) fn read(self, path: &str) -> Value {
        match self {
            Self::Claude => {
                let path = format!("{{{{project}}}}/{path}");
                json!({"tool": "Read", "input": {"file_path": path}})
            }
            Self::PiOld | Self::PiNew => json!({"tool": "read", "input": {"path": path}}),
        }
    }

    /// A call of the shell.
    pub(crate) fn shell(self, command: &str) -> Value {
        match self {
            Self::Claude => {
                json!({"tool": "Bash", "input": {"command": command, "description": "Do it"}})
            }
            Self::PiOld | Self::PiNew => json!({"tool": "bash", "input": {"command": command}}),
        }
    }

    /// A call of one of our tools, under the name that the model sees.
    pub(crate) fn signal(self, tool: &str, input: &Value) -> Value {
        let prefix = if self == Self::Claude { "mcp__chronicle__" } else { "" };
        json!({"tool": format!("{prefix}{tool}"), "input": input})
    }

    /// The call that leaves a phase.
    pub(crate) fn leave(self, target: &str, summary: &str) -> Value {
        self.signal("workflow_transition", &json!({"target_state": target, "summary": summary}))
    }

    fn command(self) -> Vec<PathBuf> {
        match self {
            Self::Claude => vec![Claude::find().unwrap().program().to_owned()],
            Self::PiOld => Pi::find(PiVersion::Old).unwrap().program().map(Into::into).into(),
            Self::PiNew => Pi::find(PiVersion::New).unwrap().program().map(Into::into).into(),
        }
    }
}

/// A session of a person whose agent talks to a scripted model.
pub(crate) struct AgentYard {
    pub(crate) session: Session,
    pub(crate) server: Server,
    kind: Kind,
}

impl AgentYard {
    /// A project with the workflow `main`, in any of the formats, and the conversations that its model has.
    pub(crate) fn new(kind: Kind, workflow: &str, conversations: &Value) -> Self {
        let session = Session::new();
        session.write(".chronicle/workflows/main.yaml", workflow);
        let script = json!({"conversations": conversations}).to_string();
        let project = session.project().canonicalize().unwrap();
        let script = Script::parse(&script).unwrap().with("project", project.to_string_lossy());
        let server = Server::start(script).unwrap();
        let yard = Self { session, server, kind };
        yard.also(kind);
        yard
    }

    /// Makes an agent known, beside those that are.
    pub(crate) fn also(&self, kind: Kind) {
        let words: Vec<String> =
            kind.command().iter().map(|word| format!("\"{}\"", word.display())).collect();
        self.set(&format!("[agents.{}]\ncommand = '{}'\n", kind.name(), words.join(" ")));
        if kind != Kind::Claude {
            Pi::prepare(&self.pi_home(), &self.server).unwrap();
        }
    }

    /// Starts the agent by another program, which is given the agent's own command.
    pub(crate) fn wrap(&self, wrapper: &str) {
        let config = self.session.user().join("config.toml");
        let settings = fs::read_to_string(&config).unwrap();
        fs::write(config, settings.replace("command = '", &format!("command = '{wrapper} ")))
            .unwrap();
    }

    /// Adds to the user's settings.
    pub(crate) fn set(&self, text: &str) {
        let config = self.session.user().join("config.toml");
        let mut file = OpenOptions::new().append(true).open(config).unwrap();
        file.write_all(format!("\n{text}").as_bytes()).unwrap();
    }

    /// Whether the agent has kept a conversation that has these words: it writes them in its own time.
    pub(crate) fn keeps(&self, words: &[&str]) -> bool {
        let mut folders =
            vec![self.session.project().parent().unwrap().join("home"), self.pi_home()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|it| it == "jsonl") {
                    let text = fs::read_to_string(path).unwrap_or_default();
                    if words.iter().all(|word| text.contains(word)) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Puts an argument behind the agent's own command.
    pub(crate) fn add_argument(&self, argument: &str) {
        let config = self.session.user().join("config.toml");
        let settings = fs::read_to_string(&config).unwrap();
        let at = settings.find("command = '").unwrap() + "command = '".len();
        let end = at + settings[at..].find('\'').unwrap();
        let (before, after) = settings.split_at(end);
        fs::write(config, format!("{before} {argument}{after}")).unwrap();
    }

    /// Installs an extension into Pi's own home, as `pi install` does; its file.
    pub(crate) fn install(&self, name: &str, extension: &str) -> PathBuf {
        let package = self.session.project().parent().unwrap().join(name);
        fs::create_dir_all(&package).unwrap();
        let manifest =
            json!({"name": name, "version": "1.0.0", "pi": {"extensions": ["./index.ts"]}});
        fs::write(package.join("package.json"), manifest.to_string()).unwrap();
        fs::write(package.join("index.ts"), extension).unwrap();
        let settings = json!({"packages": [package]});
        fs::write(self.pi_home().join("settings.json"), settings.to_string()).unwrap();
        package.join("index.ts")
    }

    pub(crate) fn pi_home(&self) -> PathBuf {
        self.session.project().parent().unwrap().join("pi")
    }

    /// A command of the binary that an agent can be started from.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.args(args);
        command.env("ANTHROPIC_BASE_URL", self.server.url());
        command.env("ANTHROPIC_API_KEY", ["not", "a", "key"].join("-"));
        command.env("PI_CODING_AGENT_DIR", self.pi_home());
        command
    }

    pub(crate) fn spawn(&self, args: &[&str]) -> Started {
        self.session.start(self.command(args), "")
    }

    pub(crate) fn chronicle(&self, args: &[&str]) -> Said {
        self.spawn(args).wait()
    }

    /// What starts `main` with the agent.
    pub(crate) fn run_args(&self) -> Vec<&'static str> {
        let mut args = vec!["run", "main", "Add a greeting", "--agent", self.kind.name()];
        if self.kind != Kind::Claude {
            args.extend(["--model", "scripted/scripted-model"]);
        }
        args
    }

    pub(crate) fn run(&self) -> Said {
        self.chronicle(&self.run_args())
    }

    /// Every transcript of the newest run: for a test that failed.
    pub(crate) fn transcripts(&self) -> String {
        let entries = fs::read_dir(self.session.run_file("transcripts")).into_iter().flatten();
        let text = entries.flatten().map(|entry| fs::read_to_string(entry.path()).unwrap());
        let text: Vec<String> = text.collect();
        let lines: Vec<String> =
            text.iter().flat_map(|it| it.lines()).map(|line| format!("{line:.600}")).collect();
        lines.join("\n")
    }

    /// It ended so, or the test ends with all that was said.
    #[track_caller]
    pub(crate) fn exits(&self, said: Said, code: i32) -> Said {
        if said.code != Some(code) {
            let leftovers = self.server.leftovers();
            panic!("{said:?}\n{leftovers:?}\n{}", self.transcripts());
        }
        said
    }

    /// What the run says it spent is what the server handed out.
    #[track_caller]
    pub(crate) fn assert_spent_as_served(&self) {
        let served = self.server.usage();
        let spent = self.session.json(&["status"])["spent"].clone();
        assert_eq!(spent["tokens"], served.read() + served.output, "{spent} {served:?}");
    }

    /// Every turn was played, and nothing else was asked.
    #[track_caller]
    pub(crate) fn assert_played(&self) {
        assert_eq!(self.server.leftovers(), [""; 0], "\n{}", self.transcripts());
    }
}

/// A conversation for the requests whose first message has a text in it.
pub(crate) fn talk(name: &str, first: &str, turns: &Value) -> Value {
    json!({"name": name, "when": {"first": first}, "turns": turns})
}
