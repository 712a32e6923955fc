//! Adapters: how Chronicle talks to each agent, one file per agent.
//!
//! An adapter translates an `Order` into the agent's command line and messages, and the agent's lines into `Seen`. It may not
//! start processes, read files, use a clock or sleep; its caller does that. So recorded lines are enough to test it, and an
//! invalid line is something seen, never an error.
//!
//! Start reading at [`Adapter`], then `protocol.rs`, Chronicle's own protocol (`docs/agent-protocol.md`).

mod about;
mod call;
mod claude;
mod command_line;
mod figures;
mod line;
mod long;
mod pi;
mod protocol;
mod servers;
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

pub use about::{PublishedAgent, about};
pub(crate) use call::RawCall;
pub(crate) use long::not_kept;
pub use protocol::{FROM_AGENT, PROTOCOL, TO_AGENT};
pub use tools::signal_tools;

/// Longest line of an agent that is read; the rest of a longer one is discarded.
pub const LINE_MAX: usize = 4 * 1024 * 1024;
/// Longest id or name that an agent may use. Longer ones are not cut: an answer must have the same id.
pub const NAME_MAX: usize = 200;
/// Longest path that an agent may report.
pub const PATH_MAX: usize = 4_096;

/// Environment variable with the run's folder, for the signal server.
pub const RUN_FOLDER: &str = "CHRONICLE_RUN_FOLDER";

/// Environment variable with the secret of the attempt, for the signal server alone: no agent is started with it.
pub const SECRET: &str = "CHRONICLE_SECRET";

/// Environment variable with the address of the HTTP signal server, if there is one.
pub(crate) const SIGNALS: &str = "CHRONICLE_SIGNALS";

/// Translates between Chronicle and one agent process. Lines have no line end.
pub trait Adapter: Send {
    /// The command that starts the agent in the order's project. `chronicle` is our own binary, as our keeper starts it.
    fn launch(&self, order: &Order, chronicle: &Path) -> Launch;
    /// Lines to write first. Where a guard must be proven, the handover is not among them: it follows through `inquire`.
    fn open(&mut self, order: &Order) -> Vec<String>;
    /// The meaning of one of its lines.
    fn read(&mut self, line: &str) -> Vec<Seen>;
    /// The meaning of one of its lines by itself, without changing state. Lines are redacted before they are read; this gets the
    /// line as it was printed, since calls that differ only in a secret are different calls, and a piece of text may end in the
    /// middle of one.
    fn glance(&self, line: &str) -> Vec<Seen>;
    /// Lines that answer a `Permission`, `Signal` or `Question`, by its id.
    fn answer(&mut self, id: &str, answer: &Answer) -> Vec<String>;
    /// Lines that ask for another turn in the same session, after `Finished`.
    fn prompt(&mut self, text: &str) -> Vec<String>;
    /// Lines that pass a note to the agent while it works.
    fn note(&mut self, text: &str) -> Vec<String>;
    /// Lines that ask it to end its turn now.
    fn interrupt(&mut self) -> Vec<String>;
    /// What is missing before its guard is proven: that it has its tools judged. `None` if nothing is, or if it asks call by call
    /// and a result without a verdict shows what it did not ask about.
    fn unproven(&self) -> Option<MissingProof> {
        None
    }
    /// Whether its handover was sent, of one whose guard must be proven.
    fn has_begun(&self) -> bool {
        false
    }
    /// Lines that have it work although its guard is not proven; nothing is waited for any more.
    fn start_unproven(&mut self) -> Vec<String> {
        Vec::new()
    }
    /// Lines that follow from its last line: the handover once its guard is ready, and questions about what that line left open,
    /// such as what its sub-agents have spent.
    fn inquire(&mut self) -> Vec<String> {
        Vec::new()
    }
    /// Whether a request to its model is on its way whose cost it has not told whole.
    fn has_open_request(&self) -> bool {
        false
    }
    /// How to derive the cause of a crash from its stderr, if it says so nowhere else, and what of it tells a person.
    fn died_of(&self) -> fn(&str) -> Option<(CrashClass, String)> {
        |_| None
    }
    /// Tells the lines of its standard error that `died_of` must see, however much is printed around them.
    fn is_cause(&self) -> fn(&str) -> bool {
        |_| false
    }
    /// How it is started to find out whether it works here at all, without asking a model; none where there is nothing to try.
    fn trial(&self, _given: &Path) -> Option<Trial> {
        None
    }
    /// Tells the lines of its standard error that it prints when all is well: they explain no end.
    fn is_noise(&self) -> fn(&str) -> bool {
        |_| false
    }
}

/// A guard that is not proven yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingProof {
    /// What is missing, for people: a whole sentence.
    pub why: String,
    /// True if nothing can delay the proof any more: hooks of its user's own are over, or do not come before it.
    pub is_due: bool,
}

/// The order for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Id of the run, for its environment.
    pub run: RunId,
    /// Id of the attempt, for its environment.
    pub attempt: AttemptId,
    /// The phase it works on.
    pub place: Place,
    /// Number of the logical try at this place, over all visits.
    pub try_number: u32,
    /// The session to create or to resume.
    pub session: SessionId,
    /// True if that session exists already.
    pub resume: bool,
    /// The task of the run.
    pub task: String,
    /// The text that opens the attempt.
    pub handover: String,
    /// The prompt of its persona.
    pub persona: Option<String>,
    /// The persona that helps, if the attempt is a follow-up.
    pub followup: Option<String>,
    /// The model; `None` leaves it to the agent.
    pub model: Option<String>,
    /// Thinking level; `None` leaves it to the agent.
    pub thinking: Option<String>,
    /// Tools that it may use.
    pub tools: Tools,
    /// Targets that it may choose.
    pub targets: Vec<PhaseId>,
    /// Folder that the agent starts in.
    pub project: PathBuf,
    /// Path of our binary that any process can start.
    pub chronicle: PathBuf,
    /// The run's folder, where its supervisor is found.
    pub run_folder: PathBuf,
    /// Secret that its signals must carry.
    pub secret: String,
    /// What the guard of this very attempt proves itself with.
    pub nonce: String,
    /// The address of the signal server for agents that prefer HTTP, if there is one.
    pub signals: Option<String>,
    /// Its home folder, if it is not the person's own.
    pub home: Option<PathBuf>,
    /// Private folder of the attempt, for the files of its launch.
    pub given: PathBuf,
}

/// A command to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Variables in addition to those of the user.
    pub env: BTreeMap<String, String>,
    /// Files to write into the attempt's private folder before it starts.
    pub files: Vec<GivenFile>,
}

/// A start that only shows whether a program is the agent that it is taken for.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The command that starts it.
    pub launch: Launch,
    /// What is written to it.
    pub input: String,
    /// Tells the line by which it answers.
    pub is_answer: fn(&str) -> bool,
}

/// A file that an agent is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenFile {
    /// Name of the file in the private folder.
    pub name: &'static str,
    /// Content of the file.
    pub text: String,
}

/// The meaning of a line.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    /// The session it works in.
    Session(SessionId),
    /// A piece of its message.
    Text(String),
    /// A piece of its thinking.
    Thought(String),
    /// A piece of a tool's input, meaningless until it is complete.
    Typed(String),
    /// It announces a tool call; no answer is expected.
    ToolCall(Box<RawCall>),
    /// It asks for permission to call a tool; the answer has the call's id.
    Permission(Box<RawCall>),
    /// A call runs, or ran, with this input: told where that is not what was asked about, or where nobody was asked.
    Ran(Box<RawCall>),
    /// A call has run with this input, whatever was said to it.
    HasRun(Box<RawCall>),
    /// It does not have its tools judged, or cannot prove that it does: a whole sentence.
    Unguarded {
        /// What is missing, for people.
        why: String,
    },
    /// It called a tool, and refused that by itself before anybody was asked.
    Refused {
        /// The call as the agent announced it.
        call: Box<RawCall>,
        /// Why, in the agent's own words.
        why: String,
    },
    /// A tool call ended.
    ToolEnd {
        /// The agent's id of the call.
        call: String,
        /// True if the tool reported success.
        ok: bool,
    },
    /// A tool call returned, and what it started goes on in the background. Its end follows as a `ToolEnd`.
    ToolGoesOn {
        /// The agent's id of the call.
        call: String,
    },
    /// It reported a changed file.
    FileChange {
        /// Path as the agent reported it.
        path: String,
        /// Whether it was created, changed or deleted.
        change: Change,
    },
    /// It reported token usage.
    Usage {
        /// What the figure covers.
        scope: Scope,
        /// Tokens and price for that scope.
        usage: Usage,
        /// The model, if the agent named it.
        model: Option<String>,
    },
    /// It sends a signal and waits for the answer.
    Signal {
        /// Id of the call. The same call sent again gets the same answer.
        request: String,
        /// What it signals, parsed by the core.
        signal: Signal,
    },
    /// It asks a person and waits for the answer.
    Question {
        /// Id of the question and of its answer.
        request: String,
        /// What the agent wants to know.
        question: String,
        /// Suggested answers; empty if any text is expected.
        options: Vec<String>,
        /// Whether only one of them can be the answer.
        closed: bool,
        /// How long it waits before it goes on without an answer; none = for ever.
        waits_ms: Option<u64>,
    },
    /// It waits no longer for the answer to a question.
    Withdrew {
        /// Its id of the question.
        request: String,
    },
    /// Something that people must know about how it works: a part of a sentence.
    Remark(String),
    /// An error. If nothing better follows, this is why the attempt crashed.
    Error {
        /// How the engine treats it.
        class: CrashClass,
        /// The agent's own message.
        text: String,
    },
    /// An error that the agent retries by itself.
    Retrying {
        /// How the engine would treat it.
        class: CrashClass,
        /// The agent's own message.
        text: String,
        /// Milliseconds until its retry.
        after_ms: u64,
    },
    /// Its quota is used up.
    QuotaReset {
        /// When the quota resets, by the wall clock.
        until: Millis,
    },
    /// Terminal event: the turn ended successfully, as far as the agent knows.
    Finished,
    /// Terminal event: the turn failed.
    Failed {
        /// How the engine treats it.
        class: CrashClass,
        /// The agent's own message.
        text: String,
    },
    /// A sign of life without any other meaning.
    Alive,
    /// A line without a known meaning; kept in the transcript and counted.
    NotUnderstood {
        /// Why it was not understood, for the transcript.
        why: String,
    },
}

/// The forms of an agent's name, for help and errors.
pub(crate) const KNOWN: [&str; 4] = ["claude", "pi", "scripted:SCRIPT", "command:PROGRAM ARGS"];

/// An agent name without an adapter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("agent `{agent}` {why}")]
pub struct UnknownAgent {
    /// The name as it was written.
    pub agent: String,
    /// Why it is not valid.
    pub why: String,
    /// One thing to type instead.
    pub hint: String,
}

/// Finds the adapter for an agent's name, one of `KNOWN`. The program of a published agent comes from the settings, otherwise
/// from the path.
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
        // Names of published agents come first. A setting can say where their program is, but not what they are.
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

/// A file's path as people see it: relative to the project if it is inside.
fn shown_path(path: &str, project: &Path) -> String {
    // Relative, as people know it, and so that a moved project gives the same record.
    let below = Path::new(path).strip_prefix(project).ok().and_then(Path::to_str);
    bounded(below.unwrap_or(path), PATH_MAX)
}
