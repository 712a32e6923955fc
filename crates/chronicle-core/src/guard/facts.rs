//! What a call is judged by: the call itself, what it would run and touch, and where its paths lead.

use std::collections::BTreeMap;

use serde_json::Value;

use super::acts;
use super::folders::{FolderSeen, PatchText, WholeFolder};
use super::made::MadeOf;
use super::paths::joined;
use crate::base::tools::ToolKind;

/// A tool call as a guard sees it: complete.
#[derive(Debug, Clone, Copy)]
pub struct AskedCall<'c> {
    /// The tool's name as the agent calls it.
    pub tool: &'c str,
    /// What its adapter knows of it.
    pub kind: ToolKind,
    /// The input, of which nothing is cut.
    pub input: &'c Value,
    /// True if a sub-agent of the worker makes it.
    pub by_sub_agent: bool,
    /// True for a tool of Chronicle's own, by which workers signal.
    pub is_signal: bool,
}

/// Where a worker works. Paths are absolute and have no links in them, except where both forms are given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Whereabouts {
    /// The folder of the project or work tree.
    pub project: String,
    /// Where relative paths begin: the worker's current folder.
    pub folder: String,
    /// The user's home, as the environment says it and as it really is.
    pub homes: Vec<String>,
    /// Folders and files of Chronicle's own outside of the project, such as its settings.
    pub own: Vec<String>,
    /// The person's own folder of the project, if the worker works in a copy of it. It may be read, and not changed.
    pub origin: Vec<String>,
    /// Where copies of projects lie. Those of others may be neither read nor changed.
    pub others: Vec<String>,
    /// Those of them that the worker may read all the same, and not change: it chooses among them.
    pub seen: Vec<String>,
}

/// What a command or a tool does with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    /// Looks at names only.
    List,
    /// Reads what is in it.
    Read,
    /// Something that is not known. The program may do anything with it.
    Maybe,
    /// Most likely creates or changes it.
    Likely,
    /// Changes its rights or times.
    Meta,
    /// Creates or changes it.
    Write,
    /// Removes it, or moves it away.
    Delete,
}

impl Access {
    /// True if it surely changes something.
    pub(super) fn changes(self) -> bool {
        matches!(self, Self::Meta | Self::Write | Self::Delete)
    }

    /// True if it may change something, and nobody knows.
    pub(super) fn may_change(self) -> bool {
        matches!(self, Self::Maybe | Self::Likely)
    }
}

/// What a shell command would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Acts {
    /// Programs that it would start, without their wrappers, and the wrappers themselves.
    pub(super) runs: Vec<Run>,
    /// What it would do to which paths.
    pub(super) touches: Vec<Touch>,
    /// Folders of which it would read all that lies below.
    pub(super) deep: Vec<acts::DeepTouch>,
    /// Files with patches that it would apply.
    pub(super) patches: Vec<acts::PatchFile>,
    /// What cannot be known about it.
    pub(super) unclear: Vec<Unclear>,
    /// Programs in other languages that it hands to an interpreter.
    pub(super) code: Vec<Code>,
    /// Statements that clients of databases read from their input, each with the client's name.
    pub(super) fed: Vec<(String, String)>,
    /// Every text that a shell would read: the command itself first, then what `-c`, `eval` or a here-document hand to one.
    pub(super) texts: Vec<String>,
    /// Programs among those that it would start which make links, or copies of links, and where each runs.
    pub(super) links: Vec<(Folder, Run)>,
    /// True if it gets something from the network by itself, and not only by a script whose text it has.
    pub(super) fetches: bool,
}

/// A program in another language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    /// The name of its interpreter.
    pub(super) by: String,
    pub(super) text: String,
    /// Where it may run: its paths begin there.
    pub(super) folders: Vec<Folder>,
}

/// One program that would be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// Its words: the program as written, then its arguments.
    pub(super) words: Vec<Word>,
    /// The variables that it is given, each as `NAME=value`.
    pub(super) sets: Vec<String>,
}

impl Run {
    /// A program without variables of its own.
    #[cfg(test)]
    pub(super) fn of(words: Vec<Word>) -> Self {
        Self { words, sets: Vec::new() }
    }

    /// The same variables for other words.
    pub(super) fn with(&self, words: Vec<Word>) -> Self {
        Self { words, sets: self.sets.clone() }
    }

    /// The program's name without its folder; empty if it is not known.
    pub(super) fn program(&self) -> &str {
        match self.words.first() {
            Some(Word::Known(name)) => name.rsplit('/').next().unwrap_or(name),
            Some(Word::Glob(_) | Word::Unknown { .. }) | None => "",
        }
    }

    /// The arguments that are known, in order.
    pub(super) fn known(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).filter_map(|word| match word {
            Word::Known(text) => Some(text.as_str()),
            Word::Glob(_) | Word::Unknown { .. } => None,
        })
    }
}

/// One word of a command, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// Exactly this text, nothing else.
    Known(String),
    /// Whatever this pattern finds.
    Glob(String),
    /// Something that only the running shell knows.
    Unknown {
        /// What it certainly begins with.
        begins: String,
        /// True if a program makes it up: a name, and no option.
        is_name: bool,
    },
}

/// What a command does to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Touch {
    /// The most that is done to it.
    pub(super) access: Access,
    /// The path as the program gets it.
    pub(super) path: Word,
    /// Where a relative path begins.
    pub(super) folder: Folder,
    /// The program that does it, for people.
    pub(super) by: String,
    /// What of the path is meant.
    pub(super) extent: Extent,
    /// What comes to lie there.
    pub(super) put: acts::Put,
    /// What a pattern finds that it is made of.
    pub(super) made_of: Option<acts::FoundName>,
}

/// How much of what lies at a path is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Extent {
    /// All that lies there.
    #[default]
    All,
    /// Some of what lies below it, picked by name, or because git does not need it.
    Some,
    /// Anything of that name, wherever it is.
    Named,
}

/// The folder that a command runs in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Folder {
    /// Where the command line begins.
    #[default]
    Start,
    /// This one. A relative one begins where the command line begins.
    Known(String),
    /// Only the running shell knows.
    Unknown,
}

impl Folder {
    /// The folder itself, of a command line that begins in this one; `None` if only the running shell knows.
    pub(super) fn from(&self, start: &str) -> Option<String> {
        match self {
            Self::Start => Some(start.to_owned()),
            Self::Known(folder) if folder.starts_with(['/', '~']) => Some(folder.clone()),
            Self::Known(folder) => Some(format!("{}/{folder}", start.trim_end_matches('/'))),
            Self::Unknown => None,
        }
    }
}

/// Something about a command that cannot be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unclear {
    /// What it is about.
    pub(super) kind: UnclearKind,
    /// A sentence for people, without a full stop.
    pub(super) why: String,
}

/// What cannot be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnclearKind {
    /// Which program runs, or what a shell is told.
    Command,
    /// What a program in another language does, if its text is not in the command.
    Code,
    /// Which folder it runs in.
    Folder,
    /// The text itself: it is no shell, or too large.
    Text,
}

/// One path that a call would use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reach {
    /// The most that is done to it.
    pub(super) access: Access,
    /// The path as written, or as far as it is known.
    pub(super) path: Word,
    /// The absolute path with everything as written, `..` included; `None` if nobody knows where it begins.
    pub(super) whole: Option<String>,
    /// Who does it, for people.
    pub(super) by: String,
    /// True if nothing says that it is a path.
    pub(super) is_guess: bool,
    /// How much of what lies there is meant.
    pub(super) extent: Extent,
    /// What comes to lie there, by absolute paths.
    pub(super) put: acts::Put,
    /// What a pattern finds that it is made of; the path is what all of that fits.
    pub(super) made_of: Option<MadeOf>,
}

impl Reach {
    pub(super) fn of(
        access: Access,
        path: Word,
        folder: Option<&str>,
        place: &Whereabouts,
        by: &str,
    ) -> Self {
        let whole = match &path {
            Word::Known(text) | Word::Glob(text) => joined(text, folder, place),
            Word::Unknown { .. } => None,
        };
        let by = by.to_owned();
        let (put, made_of) = (acts::Put::default(), None);
        Self { access, path, whole, by, is_guess: false, extent: Extent::All, put, made_of }
    }

    /// What the disk must be asked about it.
    fn to_resolve(&self) -> impl Iterator<Item = &str> {
        let source = match &self.put.what {
            acts::PutWhat::Same(source) => Some(source),
            acts::PutWhat::Anything | acts::PutWhat::File => None,
        };
        let made_of = self.made_of.as_ref().map(|made| &made.glob);
        let behind = self.put.behind.as_ref();
        let all = [self.whole.as_ref(), self.put.inside.as_ref(), source, made_of, behind];
        all.into_iter().flatten().map(String::as_str)
    }
}

/// Everything that a call would run and touch, as far as the call itself tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Looked {
    /// What its commands would do.
    pub(super) acts: Vec<Acts>,
    /// What texts of it would do that may be commands, or only words.
    pub(super) perhaps: Vec<Acts>,
    /// What its commands would run if the variables that it does not set were empty, where that is something else.
    pub(super) emptied: Vec<Run>,
    /// Every path that it would use.
    pub(super) reaches: Vec<Reach>,
    /// Every path of which it would read all that lies below, if it is a folder.
    pub(super) folders: Vec<WholeFolder>,
    /// Every file with a patch that it would apply.
    pub(super) patches: Vec<PatchText>,
    /// True if the input is too deep or too large to be looked at as a whole.
    pub(super) is_partial: bool,
}

impl Looked {
    /// Absolute paths and patterns whose real places the runtime must find out, each once.
    pub fn to_resolve(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.reaches.iter().flat_map(Reach::to_resolve).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Where a path leads, as the runtime found it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PathSeen {
    /// The real paths, without links: one, or what a pattern finds. A path that does not exist is resolved as far as it does.
    pub real: Vec<String>,
    /// The same paths as they are named, with the links in them.
    pub found: Vec<String>,
    /// True if it exists.
    pub exists: bool,
    /// True if it is a folder.
    pub is_dir: bool,
    /// True if case does not count there.
    pub case_insensitive: bool,
}

/// A call's commands and paths, and where these lead.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallFacts {
    /// What the call would run and touch.
    pub looked: Looked,
    /// By the paths of [`Looked::to_resolve`].
    pub seen: BTreeMap<String, PathSeen>,
    /// By the places of [`Looked::folders`].
    pub folders_seen: Vec<FolderSeen>,
}

impl CallFacts {
    /// Facts without links: every path is what it says. For calls whose paths do not exist here.
    pub fn as_written(looked: Looked) -> Self {
        let seen =
            looked.to_resolve().into_iter().map(|path| (path.to_owned(), PathSeen::default()));
        let folders_seen = looked.folders.iter().map(|_| FolderSeen::default()).collect();
        Self { seen: seen.collect(), folders_seen, looked }
    }
}
