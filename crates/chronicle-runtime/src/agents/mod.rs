//! How each agent is spoken to: one file per agent, each a translator.
//!
//! An adapter turns an `Order` into the agent's own words and the agent's lines into `Seen`. It may not start anything, read
//! a file, look at a clock or sleep: whoever runs the process does that. So recorded lines are enough to test it, and a
//! line that makes no sense is something seen, never an error.
//!
//! Start reading at [`Adapter`], then `protocol.rs`, the one protocol that is our own (`docs/agent-protocol.md`).

mod about;
mod call;
mod claude;
mod command_line;
mod figures;
mod line;
mod pi;
mod protocol;
mod tools;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::{AttemptId, PhaseId, Place, RunId, SessionId};
use chronicle_core::base::limits::bounded;
use chronicle_core::base::quote::quoted;
use chronicle_core::base::time::Millis;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::definition::settings::Settings;
use chronicle_core::definition::workflow::{Tools, closest};
use chronicle_core::event::input::Answer;
use chronicle_core::event::signal::Signal;
use chronicle_core::event::{Change, CrashClass};

use claude::Claude;
pub(crate) use command_line::split as command_words;
use pi::Pi;
use protocol::{Program, Protocol};

pub use about::{About, about};
pub(crate) use call::RawCall;
pub use protocol::{FROM_AGENT, PROTOCOL, TO_AGENT};
pub use tools::signal_tools;

/// Longest line of an agent that is read; the rest of a longer one is thrown away.
pub const LINE_MAX: usize = 4 * 1024 * 1024;
/// Longest id or name that an agent may use. Longer ones are not cut: an answer must bear the very same id.
pub const NAME_MAX: usize = 200;
/// Longest path that an agent may report.
pub const PATH_MAX: usize = 4_096;

/// The variable that tells the signal server where its run is.
pub const RUN_FOLDER: &str = "CHRONICLE_RUN_FOLDER";

/// The variable that tells the signal server the secret of its attempt.
pub const SECRET: &str = "CHRONICLE_SECRET";

/// The variable that says where the signal server listens, where there is one that listens.
pub(crate) const SIGNALS: &str = "CHRONICLE_SIGNALS";

/// Translates between Chronicle and one agent process. Lines have no line end.
pub trait Adapter: Send {
    /// The command that starts the agent, in the order's project. `chronicle` is our own binary, as our keeper starts it.
    fn launch(&self, order: &Order, chronicle: &Path) -> Launch;
    /// What is written to it first.
    fn open(&mut self, order: &Order) -> Vec<String>;
    /// What one of its lines means.
    fn read(&mut self, line: &str) -> Vec<Seen>;
    /// What one of its lines means by itself, without remembering it. Secrets are taken out of a line before it is read; this is
    /// asked of the line as it was printed, since calls that differ in a secret are not the same, and a piece of text may end in
    /// the middle of one.
    fn glance(&self, line: &str) -> Vec<Seen>;
    /// Answers a `Permission`, `Signal` or `Question` by its id.
    fn answer(&mut self, id: &str, answer: &Answer) -> Vec<String>;
    /// Asks for another turn in the same session, after `Finished`.
    fn prompt(&mut self, text: &str) -> Vec<String>;
    /// Tells it something while it works.
    fn note(&mut self, text: &str) -> Vec<String>;
    /// Asks it to end its turn now.
    fn interrupt(&mut self) -> Vec<String>;
    /// Tells from its standard error what ended it, where it says so nowhere else.
    fn died_of(&self) -> fn(&str) -> Option<CrashClass> {
        |_| None
    }
}

/// What an agent is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The run.
    pub run: RunId,
    /// The attempt.
    pub attempt: AttemptId,
    /// Where.
    pub place: Place,
    /// Which logical try at this place, over all visits.
    pub try_number: u32,
    /// The session: to be made, or to go on in.
    pub session: SessionId,
    /// Whether that session exists already.
    pub resume: bool,
    /// What the person asked for.
    pub task: String,
    /// The text that opens the attempt.
    pub handover: String,
    /// Who the agent is to be.
    pub persona: Option<String>,
    /// The persona whose help was asked for, where the attempt is help.
    pub followup: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// How hard it is to think.
    pub thinking: Option<String>,
    /// Which tools it has.
    pub tools: Tools,
    /// Where it may go from here.
    pub targets: Vec<PhaseId>,
    /// The folder to work in.
    pub project: PathBuf,
    /// Our own binary, by a name under which any process can start it.
    pub chronicle: PathBuf,
    /// The run's own folder, where its supervisor is found.
    pub run_folder: PathBuf,
    /// What its signals must bear.
    pub secret: String,
    /// The address of the signal server for agents that prefer HTTP, if there is one.
    pub signals: Option<String>,
    /// The home that it works in, where that is not the person's own.
    pub home: Option<PathBuf>,
    /// The attempt's private folder: where the files of its launch are written.
    pub given: PathBuf,
}

/// A command to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Variables beside those of the user.
    pub env: BTreeMap<String, String>,
    /// Files that must be there before it starts, in the attempt's private folder.
    pub files: Vec<GivenFile>,
}

/// A file that an agent is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenFile {
    /// Its name in the private folder.
    pub name: &'static str,
    /// What is in it.
    pub text: String,
}

/// What a line of an agent means.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    /// The session it works in.
    Session(SessionId),
    /// It says something: a piece of text.
    Text(String),
    /// It thinks aloud: a piece of text.
    Thought(String),
    /// It writes what a tool is to be given: a piece, which means nothing before it is whole.
    Typed(String),
    /// It calls a tool: an announcement, nothing to answer.
    ToolCall(Box<RawCall>),
    /// It wants to call a tool and waits for the answer, which bears the id of the call.
    Permission(Box<RawCall>),
    /// A tool call ended.
    ToolEnd {
        /// Its id of the call.
        call: String,
        /// Whether it worked.
        ok: bool,
    },
    /// It changed a file.
    FileChange {
        /// Which.
        path: String,
        /// How.
        change: Change,
    },
    /// Tokens were used.
    Usage {
        /// What the figure covers.
        scope: Scope,
        /// The figure.
        usage: Usage,
        /// The model that it is about, where the agent says so.
        model: Option<String>,
    },
    /// It tells the supervisor something and waits for the answer.
    Signal {
        /// Its id of the call: the same one repeated gets the same answer.
        request: String,
        /// What it says.
        signal: Signal,
    },
    /// It asks a person and waits for the answer.
    Question {
        /// Its id of the question, and of the answer.
        request: String,
        /// What it wants to know.
        question: String,
        /// Answers to choose from; none = free.
        options: Vec<String>,
    },
    /// Something went wrong. If nothing better follows, this is why the attempt crashed.
    Error {
        /// What kind.
        class: CrashClass,
        /// Its words.
        text: String,
    },
    /// Something went wrong which the agent gets over by itself.
    Retrying {
        /// What kind.
        class: CrashClass,
        /// Its words.
        text: String,
        /// How long it waits before, in milliseconds.
        after_ms: u64,
    },
    /// Its quota is used up until then.
    QuotaReset {
        /// When there is a new one.
        until: Millis,
    },
    /// Its terminal event: the turn ended, as far as the agent is concerned well.
    Finished,
    /// Its terminal event: the turn ended, and badly.
    Failed {
        /// What kind.
        class: CrashClass,
        /// Its words.
        text: String,
    },
    /// It lives; nothing else follows from the line.
    Alive,
    /// A line that means nothing here; to be kept in the transcript and counted.
    NotUnderstood {
        /// Why.
        why: String,
    },
}

/// The forms of an agent's name, for help and errors.
pub(crate) const KNOWN: [&str; 4] = ["claude", "pi", "scripted:SCRIPT", "command:PROGRAM ARGS"];

/// An agent's name that leads to no adapter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("agent `{agent}` {why}")]
pub struct UnknownAgent {
    /// The name.
    pub agent: String,
    /// What is wrong with it.
    pub why: String,
    /// One thing to type instead.
    pub hint: String,
}

/// Finds the adapter for an agent's name, one of `KNOWN`. The program of a published agent is the one of the settings,
/// else the one on the path.
pub fn find(
    agent: &str,
    project: &Path,
    settings: &Settings,
) -> Result<Box<dyn Adapter>, UnknownAgent> {
    let unknown = |why: &str, hint: &str| UnknownAgent {
        agent: quoted(agent),
        why: why.to_owned(),
        hint: hint.to_owned(),
    };
    let command = |name: &str| {
        let line = settings.agent_command(name).unwrap_or(name);
        command_words(line)
            .map_err(|why| unknown(why, &format!("set `agents.{name}.command`, quotes in pairs")))
    };
    let program = match agent.split_once(':') {
        None if agent == "claude" => {
            return Ok(Box::new(Claude::new(command(agent)?, settings.prefers_http(agent))));
        }
        None if agent == "pi" => return Ok(Box::new(Pi::new(command(agent)?))),
        Some(("scripted", script)) if !script.trim().is_empty() => {
            Program::Scripted(project.join(script.trim()))
        }
        Some(("command", line)) => {
            let words = command_words(line)
                .map_err(|why| unknown(why, "write `command:PROGRAM ARGS`, quotes in pairs"))?;
            Program::Command(words)
        }
        _ => return Err(unknown(&not_known(), &hint(agent, settings))),
    };
    Ok(Box::new(Protocol::new(program)))
}

fn not_known() -> String {
    format!("is not known; known agents: {}", KNOWN.map(|form| format!("`{form}`")).join(", "))
}

fn hint(agent: &str, settings: &Settings) -> String {
    let name = agent.split_once(':').map_or(agent, |(name, _)| name);
    let forms = KNOWN.iter().map(|form| form.split_once(':').map_or(*form, |(name, _)| name));
    match closest(name, forms.chain(settings.agents())) {
        Some("scripted") => {
            "name the script: `scripted:SCRIPT.yaml`, relative to the project".to_owned()
        }
        Some(meant) if meant != name => format!("did you mean `{meant}`?"),
        _ => "a program that speaks the agent protocol is `command:PROGRAM ARGS`".to_owned(),
    }
}

/// A file's name as people read it: below the project where it is there.
fn shown_path(path: &str, project: &Path) -> String {
    let below = Path::new(path).strip_prefix(project).ok().and_then(Path::to_str);
    bounded(below.unwrap_or(path), PATH_MAX)
}
