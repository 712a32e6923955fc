//! What one step of a script may be, and its fields.
//!
//! Each variant is a word of the script; `docs/agent-protocol.md` lists them for people.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// One thing to do.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    Say(String),
    /// Takes this many milliseconds.
    Think(u64),
    /// Calls a tool, as far as the supervisor can see.
    Tool(Tool),
    Write(FileText),
    /// Adds to the end of a file, exactly once.
    Append(FileText),
    /// Replaces a piece of a file.
    Edit(Edit),
    Delete(FilePath),
    /// Runs a command for real.
    Shell(Shell),
    Usage(UsageStep),
    /// Leaves for a phase.
    Transition(Transition),
    /// Leaves with an outcome.
    Complete(Complete),
    /// Leaves for the next phase.
    Next(Next),
    /// Asks where it is.
    Status,
    /// Ends its turn: somebody fresh is to go on.
    Partial(Partial),
    /// Ends its turn: a person is to answer first.
    Need(Need),
    /// Ends its turn: somebody is to help.
    Followup(Followup),
    /// Writes down what later phases must know.
    Snapshot(Value),
    /// Begins its workflow anew.
    Loop(Next),
    /// Gives the run up; must be said twice.
    Cancel(Next),
    /// Asks a person with the supervisor's tool, and waits.
    WorkflowAsk(Need),
    /// Calls any of the supervisor's tools.
    Signal(SignalStep),
    Ask(Ask),
    /// Reports an error, and goes on.
    Error(ErrorStep),
    /// Says when the quota is renewed.
    Quota(Quota),
    /// Whether steps after an accepted leaving signal are played too.
    KeepGoing(bool),
    /// Ends the turn; later steps wait for a prompt.
    Finish,
    /// Ends the turn and the process, with this code.
    Exit(u8),
    /// Ends the process with this code, without ending the turn.
    Crash(u8),
    /// Does nothing for ever.
    Hang,
    /// Does not end at SIGTERM any more.
    IgnoreTerm,
    Flood(Flood),
    /// Sends one long line.
    LongLine(LongLine),
    /// Sends a line that is no JSON.
    Garbage(String),
    /// Sends a line as it stands.
    Raw(String),
    /// Sends a line of these bytes, in hexadecimal.
    Bytes(String),
    /// Closes its output, and lives on.
    CloseStdout,
    /// Leaves a process behind.
    Stray(Stray),
    /// Waits until a file exists.
    WaitFor(MarkFile),
    /// Makes a file, to tell somebody that this step was reached.
    Touch(MarkFile),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tool {
    pub(super) name: String,
    #[serde(default)]
    pub(super) input: Value,
    #[serde(default)]
    pub(super) output: String,
    /// Ends with a failure instead of success.
    #[serde(default)]
    pub(super) fails: bool,
    /// It is called without asking, as a bad agent would.
    #[serde(default)]
    pub(super) unasked: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileText {
    pub(super) path: String,
    pub(super) text: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    pub(super) path: String,
    pub(super) find: String,
    pub(super) replace: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilePath {
    pub(super) path: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shell {
    pub(super) command: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UsageStep {
    #[serde(default)]
    pub(super) of: Of,
    /// The message's id; made by itself when not given.
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) input: u64,
    #[serde(default)]
    pub(super) output: u64,
    #[serde(default)]
    pub(super) cache_read: u64,
    #[serde(default)]
    pub(super) cache_write: u64,
    #[serde(default)]
    pub(super) usd: Option<f64>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Of {
    #[default]
    Message,
    Turn,
    Session,
}

impl Of {
    /// As the protocol writes it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Turn => "turn",
            Self::Session => "session",
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Transition {
    pub(super) to: String,
    #[serde(default = "did_it")]
    pub(super) summary: String,
    #[serde(default)]
    pub(super) task: Option<String>,
    #[serde(default)]
    pub(super) outcome: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Complete {
    #[serde(default = "did_it")]
    pub(super) summary: String,
    #[serde(default)]
    pub(super) outcome: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Next {
    #[serde(default)]
    pub(super) summary: String,
}

/// What a worker says that says nothing: a summary is required.
fn did_it() -> String {
    "did it".to_owned()
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Partial {
    pub(super) progress: String,
    pub(super) point: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Need {
    pub(super) question: String,
    #[serde(default)]
    pub(super) context: Option<String>,
    #[serde(default)]
    pub(super) options: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Followup {
    pub(super) persona: String,
    pub(super) reason: String,
    #[serde(default)]
    pub(super) context: Option<String>,
    #[serde(default)]
    pub(super) resume: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignalStep {
    pub(super) tool: String,
    #[serde(default)]
    pub(super) arguments: Value,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ask {
    pub(super) question: String,
    #[serde(default)]
    pub(super) options: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrorStep {
    pub(super) class: Class,
    #[serde(default)]
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Class {
    Auth,
    Quota,
    Overload,
    Unreachable,
    ContextFull,
    SessionGone,
    Refused,
    Protocol,
    Other,
}

impl Class {
    /// As the protocol writes it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Quota => "quota",
            Self::Overload => "overload",
            Self::Unreachable => "unreachable",
            Self::ContextFull => "context_full",
            Self::SessionGone => "session_gone",
            Self::Refused => "refused",
            Self::Protocol => "protocol",
            Self::Other => "other",
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Quota {
    /// A time, or else how soon.
    #[serde(default)]
    pub(super) until: Option<String>,
    #[serde(default)]
    pub(super) in_ms: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Flood {
    pub(super) lines: u64,
    pub(super) bytes: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LongLine {
    pub(super) bytes: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a word of the script, free of the others"
)]
pub(super) struct Stray {
    #[serde(default)]
    pub(super) ignore_term: bool,
    #[serde(default)]
    pub(super) setsid: bool,
    #[serde(default)]
    pub(super) double_fork: bool,
    /// It keeps the agent's output open.
    #[serde(default)]
    pub(super) keep_stdout: bool,
    /// Where it writes its process id.
    #[serde(default)]
    pub(super) pid: Option<PathBuf>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MarkFile {
    pub(super) file: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_error_that_the_protocol_has_can_be_played() {
        let protocol = include_str!("../../../../docs/agent-protocol.md");
        let (_, table) = protocol.split_once("| class | meaning | what follows |").unwrap();
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        let classes: Vec<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
        assert!(classes.len() > 5, "{classes:?}");
        for class in classes {
            let read: Class = serde_json::from_value(class.into()).unwrap();
            assert_eq!(read.word(), class);
        }
    }
}
