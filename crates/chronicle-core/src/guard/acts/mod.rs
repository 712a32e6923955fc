//! What a text of bash would do: the programs that it starts, the files that they touch, and what cannot be known of it.
//!
//! A small interpreter walks the tree of the text ([`crate::base::bash`]). It knows what the text itself says: variables with
//! literal values, folders that it goes to, functions that it defines. All else is unknown, and said to be. Guards judge
//! the outcome, so it errs on one side only: what may run is told even where it may not, and nothing that may run is left out.
//! The work is bounded; what lies beyond the bound is a [`Doubt`] too.
//!
//! `walk.rs` goes over commands, `loops.rs` over those that run sometimes or often; `state.rs` is what is known on the way, `record.rs`
//! what was found. `cut.rs`, `expand.rs`, `meant.rs`, `parameter.rs`, `split.rs` and `value.rs` make words of it, `output.rs`, `dates.rs`, `folders.rs`, `installed.rs` and `listings.rs` say what commands print, `process.rs` at what stands behind `<(…)`, `reading.rs` those that only print files, `number.rs` looks at arithmetic, `redirect.rs` at
//! redirections. `invoke.rs` is one command: `builtins.rs` and `declare.rs` for those of the shell, `wrappers.rs` with `runners.rs` for
//! programs that start others, `shells.rs`, `written.rs`, `imports.rs`, `recipes.rs` and `copies.rs` for texts that are commands again and programs under other names. `variables.rs` has variables that change what programs
//! do. `options.rs` reads arguments by `table.rs`, `outputs.rs` with `output_names.rs` by what options are called, and `among.rs`, `awk.rs`, `behind.rs`, `beyond.rs`, `changers.rs`, `containers.rs`, `deep.rs`, `editors.rs`, `evaluated.rs`, `fetched.rs`, `github.rs`, `git.rs`, `find.rs`, `landing.rs`, `modules.rs`, `multiplexer.rs`, `packed.rs`, `patches.rs`, `picked.rs`, `remote.rs`, `sed.rs`, `settings.rs`, `special.rs`, `started.rs` and `unpacked.rs` know what a table cannot say.

mod among;
mod awk;
mod behind;
mod beyond;
mod builtins;
mod changers;
mod containers;
mod copies;
mod cut;
mod dates;
mod declare;
mod deep;
mod editors;
mod evaluated;
mod expand;
mod fetched;
mod find;
mod folders;
mod git;
mod github;
mod handed;
mod imports;
mod installed;
mod invoke;
mod landing;
mod listings;
mod loops;
mod making;
mod meant;
mod modules;
mod moved;
mod multiplexer;
mod number;
mod options;
mod output;
mod output_names;
mod outputs;
mod packed;
mod parameter;
mod patches;
mod picked;
mod powershell;
mod process;
mod reached;
mod reading;
mod recipes;
mod record;
mod redirect;
mod remote;
mod renamed;
mod runners;
mod sed;
mod settings;
mod shells;
mod special;
mod split;
mod started;
mod state;
mod table;
mod tasks;
mod unpacked;
mod value;
mod variables;
mod walk;
mod wrappers;
mod written;

pub(super) use cut::FoundName;
pub(super) use find::is_pruned;
pub(super) use output::sieve_of_find;

pub use super::sieve::{KnownToGit, Sieve};
pub use crate::base::bash::tree::ByteSpan;

/// Where a command is to run, as far as the caller knows.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShellSetting<'a> {
    /// The folder that it starts in, an absolute path.
    pub folder: Option<&'a str>,
    /// The folder that `~` and `$HOME` stand for.
    pub home: Option<&'a str>,
    /// The folder of the whole project, which git knows as its top.
    pub project: Option<&'a str>,
}

/// What a command would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acts {
    /// Every program that may be started, with and without what wraps it.
    pub runs: Vec<ProgramRun>,
    /// Every path that may be touched.
    pub touches: Vec<Touch>,
    /// Every folder of which all may be read that lies below it.
    pub deep: Vec<DeepTouch>,
    /// Files with patches that may be applied.
    pub patches: Vec<PatchFile>,
    /// What cannot be known; while there is any, the other lists may be incomplete.
    pub unknown: Vec<Doubt>,
    /// Files that it both writes and runs.
    pub scripts: Vec<WrittenScript>,
}

/// A file that a text both writes and runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenScript {
    /// The shell or the language that runs it, by its name.
    pub by: String,
    /// What is in it.
    pub text: String,
    /// Where it may run: its paths begin there.
    pub folders: Vec<CommandFolder>,
}

/// One program as it is started.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramRun {
    /// The last part of its path: `rm` of `/bin/rm`.
    pub program: String,
    /// Its name and its arguments, after expansion.
    pub words: Vec<CommandWord>,
    /// The variables that it gets from the text and whose values are known, each as `NAME=value`.
    pub sets: Vec<String>,
    /// Where it runs, as far as that is known.
    pub folder: CommandFolder,
    /// The words on one line, quoted only where needed; `…` stands for one that is not known.
    pub text: String,
    /// Which bytes of the command start it.
    pub span: ByteSpan,
}

/// A word after expansion.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandWord {
    /// Exactly this text, nothing to expand.
    Known(String),
    /// Whatever fits this pattern; a backslash makes the next character mean itself.
    Glob(String),
    /// Not known, perhaps nothing, perhaps several words.
    Unknown {
        /// What it certainly begins with; empty if even that is not known.
        begins: String,
        /// True if a program makes it up: a name, and no option.
        is_name: bool,
    },
}

/// The folder that something happens in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandFolder {
    /// This folder, an absolute path unless the caller's own was not known.
    Known(String),
    /// A folder that only the run itself will show.
    Unknown,
}

/// One path that is touched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Touch {
    /// What is done to it.
    pub kind: TouchKind,
    /// The path as it is given to the program.
    pub path: CommandWord,
    /// What a relative path starts from.
    pub folder: CommandFolder,
    /// The program that touches it; `>` and the like for a redirection.
    pub by: String,
    /// Which bytes of the command do it.
    pub span: ByteSpan,
    /// True if it is not the path itself, but some of what another program found below it.
    pub is_within: bool,
    /// What comes to lie there.
    pub(super) put: Put,
    /// What a pattern finds that it is made of; `None` if it is not.
    pub(super) made_of: Option<FoundName>,
}

/// What comes to lie at a path, as far as only the disk can tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Put {
    /// It lies there only if this path is a folder.
    pub(super) inside: Option<String>,
    /// Whether it may be a folder.
    pub(super) what: PutWhat,
    /// The text itself made a folder there before, for certain.
    pub(super) is_made: bool,
    /// It happens in a container, and perhaps to another path than this.
    pub(super) is_elsewhere: bool,
    /// It is reached only if this path is a link, of which there is a copy.
    pub(super) behind: Option<String>,
}

/// Whether what is put somewhere may be a folder, which makes one of its place.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PutWhat {
    /// A file or a folder: nobody knows.
    #[default]
    Anything,
    /// A file, and never a folder.
    File,
    /// The same as lies at this path: a folder if that is one.
    Same(String),
}

/// A path of which all is used that lies below it, if it is a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeepTouch {
    /// The most that is done to it.
    pub kind: TouchKind,
    /// The path as it is given to the program.
    pub path: CommandWord,
    /// What a relative path starts from.
    pub folder: CommandFolder,
    /// Where copies of it land.
    pub to: Option<CommandWord>,
    /// What of it is used.
    pub sieve: Sieve,
    /// The program that uses it.
    pub by: String,
}

/// A file that says which other files are changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchFile {
    /// The path of the patch.
    pub path: CommandWord,
    /// What its path, and the paths in it, start from.
    pub folder: CommandFolder,
    /// The folder that its paths are below, if it is told one.
    pub below: Option<String>,
    /// How many folders are cut off the paths in it; several where that is not known.
    pub strips: Vec<usize>,
    /// The program that applies it.
    pub by: String,
}

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TouchKind {
    /// Its content is read.
    Read,
    /// Its name or the names below it are read.
    List,
    /// It is made or changed.
    Write,
    /// It, or something below it, is removed.
    Delete,
    /// Its rights, owner or times are changed.
    Meta,
    /// It is most likely made or changed: an option of the program is called so, or leads to it under another name.
    Likely,
    /// A program that is not known was given it, and may do anything with it.
    Maybe,
}

/// Something that cannot be known before it runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubt {
    /// Which sort of thing.
    pub kind: DoubtKind,
    /// One sentence about it, for people.
    pub why: String,
    /// Which bytes of the command are meant.
    pub span: ByteSpan,
}

/// Which sort of thing is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DoubtKind {
    /// Which program is started.
    Command,
    /// A text that a shell runs.
    Text,
    /// Code in another language.
    Code,
    /// An argument that could be an option of a program whose options run commands or delete.
    Option,
    /// Which folder is gone to.
    Folder,
    /// A variable that changes what programs run or load.
    Variable,
    /// Where programs and their parts are looked for.
    Search,
    /// A number that bash would evaluate, and that may hold commands.
    Number,
    /// The text cannot be read.
    Unread,
    /// It is more than is looked at.
    TooLarge,
}

/// What a text of bash would do in a setting.
pub fn acts(text: &str, setting: ShellSetting<'_>) -> Acts {
    walk::Walker::new(setting).all(text)
}

/// What it would do if every variable that it does not set were empty, as those are that nobody sets: letters on both sides of one
/// belong together then, and `${x:-word}` is the word.
pub fn acts_emptied(text: &str, setting: ShellSetting<'_>) -> Acts {
    let mut walker = walk::Walker::new(setting);
    walker.is_emptied = true;
    walker.all(text)
}

/// The same, and how many steps it took: for tests of the bound.
pub fn acts_counted(text: &str, setting: ShellSetting<'_>) -> (Acts, usize) {
    let mut walker = walk::Walker::new(setting);
    let acts = walker.all(text);
    (acts, walker.steps)
}

impl CommandWord {
    /// The text, if all of it is known.
    pub fn known(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Glob(_) | Self::Unknown { .. } => None,
        }
    }
}
