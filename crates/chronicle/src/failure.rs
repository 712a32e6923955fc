//! Why a command failed, in words: what, where, and the one thing to type next.

use std::error::Error;
use std::fmt;

use chronicle_core::definition::workflow::{Problem, closest};
use chronicle_runtime::handle::definitions::DiscoverError;
use chronicle_runtime::handle::{FindError, HandleError, LedgerError, LinkError, TreesError};

use crate::exit_code::Exit;

/// What to do where the system gives no thread.
pub(crate) const MORE_THREADS: &str = "raise the limits that `ulimit -u` and `ulimit -v` show";

/// A failure that a person reads.
#[derive(Debug)]
pub(crate) struct Failure {
    /// How the program ends.
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) causes: Vec<String>,
    pub(crate) hint: Option<String>,
    /// What is wrong with a definition; people were shown it before.
    pub(crate) problems: Vec<Problem>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), causes: Vec::new(), hint: None, problems: Vec::new() }
    }

    /// The command line makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// We could not do our own work.
    pub(crate) fn internal(message: impl Into<String>, source: &dyn Error) -> Self {
        Self::new(Exit::Internal, message).caused_by(source)
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the problems of a definition, for programs that read the failure.
    #[must_use]
    pub(crate) fn with_problems(mut self, problems: &[Problem]) -> Self {
        self.problems.extend_from_slice(problems);
        self
    }

    fn caused_by(mut self, source: &dyn Error) -> Self {
        let mut next = Some(source);
        while let Some(error) = next {
            self.causes.push(error.to_string());
            next = error.source();
        }
        self
    }

    fn of(exit: Exit, error: &dyn Error) -> Self {
        let failure = Self::new(exit, error.to_string());
        match error.source() {
            Some(source) => failure.caused_by(source),
            None => failure,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error: {}", self.message)?;
        for cause in &self.causes {
            write!(f, "\nCaused by: {cause}")?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\nHint: {hint}"),
            None => Ok(()),
        }
    }
}

/// What was recorded of the project's files cannot be read any more.
pub(crate) fn damaged_trees(message: impl Into<String>) -> Failure {
    Failure::new(Exit::Damaged, message).hint(
        "put `.chronicle/trees.git` back from a copy; without one move it away, and files are recorded anew from then on",
    )
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        let exit = match &error {
            LedgerError::Held { .. } | LedgerError::Fenced { .. } => Exit::Held,
            LedgerError::Damaged { .. }
            | LedgerError::Gone { .. }
            | LedgerError::Removed { .. }
            | LedgerError::Conflict { .. }
            | LedgerError::Copied { .. }
            | LedgerError::Artifact { .. }
            | LedgerError::Replaced { .. }
            | LedgerError::UnknownKind { .. }
            | LedgerError::NewerVersion { .. } => Exit::Damaged,
            LedgerError::Missing { .. } => Exit::Usage,
            LedgerError::Stale { .. }
            | LedgerError::Poisoned { .. }
            | LedgerError::TooLarge { .. }
            | LedgerError::Unwritable { .. }
            | LedgerError::Unavailable { .. }
            | LedgerError::Full { .. }
            | LedgerError::Limited { .. }
            | LedgerError::Denied { .. }
            | LedgerError::Io { .. } => Exit::Internal,
        };
        Self::of(exit, &error).hint(error.hint())
    }
}

impl From<HandleError> for Failure {
    fn from(error: HandleError) -> Self {
        match error {
            HandleError::Ledger(error) => error.into(),
            HandleError::Link(LinkError::Impostor { ref holder, .. }) => {
                Self::of(Exit::Damaged, &error).hint(format!(
                    "something changed the run's file `link`; `kill -TERM {}` pauses the run",
                    holder.pid
                ))
            }
            HandleError::Stopped { ref holder, .. } => Self::of(Exit::Held, &error).hint(format!(
                "`kill -CONT {}` lets it continue, or `fg` in its own terminal; then look at `chronicle status` \
                 before you repeat the command",
                holder.pid
            )),
            HandleError::Unreachable { ref holder, .. } => {
                Self::of(Exit::Held, &error).hint(format!(
                    "`kill -TERM {}` pauses it; `chronicle doctor` looks why it has no link",
                    holder.pid
                ))
            }
            // It drives the run, and cannot be talked to.
            HandleError::Link(_) => Self::of(Exit::Held, &error)
                .hint("`chronicle status` shows its status; Ctrl-C in its own terminal pauses it"),
            HandleError::Driver { .. } => {
                Self::of(Exit::Internal, &error).hint("`chronicle resume` continues where it was")
            }
            HandleError::NotText { .. } => Self::of(Exit::Usage, &error)
                .hint("rename or move it: ledgers and agents name paths as text"),
            HandleError::NoThread { ref run, .. } => Self::of(Exit::Internal, &error)
                .hint(format!("{MORE_THREADS}, then `chronicle resume {run}`")),
            HandleError::Trees(TreesError::Gone(_)) => Self::of(Exit::Usage, &error)
                .hint("`chronicle log` still says which files each attempt changed"),
            HandleError::Trees(TreesError::Damaged { .. }) => damaged_trees(error.to_string()),
            HandleError::Trees(TreesError::Pipe(_)) => {
                Self::of(Exit::Internal, &error).hint("remove the pipe, then type the same again")
            }
            HandleError::Trees(_) => {
                Self::of(Exit::Internal, &error).hint("`chronicle doctor` says what is missing")
            }
            HandleError::NoTree { ref known, .. } if known.is_empty() => {
                Self::of(Exit::Usage, &error).hint("`chronicle log` says what happened")
            }
            HandleError::NoTree { ref known, .. } => {
                Self::of(Exit::Usage, &error).hint(format!("there are: {}", known.join(", ")))
            }
            HandleError::AtStake { .. } => Self::of(Exit::Usage, &error)
                .hint("commit or move them away, or say `--also-mine`: nothing is ever gone"),
            HandleError::Busy { ref run } => {
                Self::of(Exit::Held, &error).hint(format!("`chronicle pause {run}` lets it rest"))
            }
            HandleError::HalfUndone { ref run, .. } => {
                let hint = format!("`chronicle undo {run} --finish`, or `--back` to take it back");
                Self::of(Exit::Usage, &error).hint(hint)
            }
            HandleError::HalfMerged { ref run } => Self::of(Exit::Usage, &error)
                .hint(format!("`chronicle merge {run}` finishes it")),
            HandleError::Refused { .. } => {
                Self::of(Exit::Usage, &error).hint("`chronicle status` shows its status")
            }
            HandleError::NotStarted { ref run } => Self::of(Exit::Usage, &error)
                .hint(format!("`chronicle cancel {run}` removes it; then start a new run")),
            HandleError::NothingWhole { .. } => {
                Self::of(Exit::Damaged, &error).hint("restore its ledger from a copy")
            }
            HandleError::NothingTold { .. } => Self::of(Exit::Usage, &error)
                .hint("`chronicle log` shows every attempt of a run by its id"),
            HandleError::NobodyNext { .. } => Self::of(Exit::Usage, &error)
                .hint("`chronicle handover` without `--next` shows what was told last"),
        }
    }
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Self {
        let hint = match &error {
            FindError::None { .. } => "`chronicle runs` lists the runs there are",
            FindError::Many { .. } => "give more of the id",
            FindError::Short { .. } => "`chronicle runs` shows the ids",
            FindError::Gone { .. } => {
                "put `.chronicle` back from a copy; without one they are lost, and `chronicle gc` forgets them"
            }
            FindError::Empty { .. } => "start one with `chronicle run NAME \"TASK\"`",
        };
        // Known runs whose ledgers are gone are damage; everything else was only typed wrong.
        let is_lost = matches!(error, FindError::Gone { .. });
        Self::of(if is_lost { Exit::Damaged } else { Exit::Usage }, &error).hint(hint)
    }
}

impl From<DiscoverError> for Failure {
    fn from(error: DiscoverError) -> Self {
        let failure = |exit| Self::of(exit, &error);
        match &error {
            DiscoverError::Unknown { broken, .. } if !broken.is_empty() => {
                failure(Exit::Usage).hint("`chronicle check` shows what is wrong with it")
            }
            DiscoverError::Unknown { name, known, .. } => {
                let all = format!("there are: {}", known.join(", "));
                failure(Exit::Usage).hint(match closest(name, known.iter().map(String::as_str)) {
                    Some(meant) => format!("did you mean `{meant}`? {all}"),
                    None => all,
                })
            }
            DiscoverError::Several { chains, .. } => {
                let first = chains.first().map_or("NAME", String::as_str);
                failure(Exit::Usage).hint(format!("name one of them, like `{first}`"))
            }
            DiscoverError::Unreadable { .. } => {
                failure(Exit::Definition).hint("give the path of a file that you may read")
            }
        }
    }
}
