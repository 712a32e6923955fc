//! Calls git with a repository, index and settings of our own, and none of the person's.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{TreesError, config, pipes};
use crate::process::{Cut, Leash, Tool, ToolOutput};

/// Time limit of one call: the first tree of a large project on a slow disk.
const TIME_MAX: Duration = Duration::from_mins(15);
/// Longest list of paths, in bytes.
const OUTPUT_MAX: usize = 512 * 1024 * 1024;
/// Git variables that do not change where and how git works.
const HARMLESS: [&str; 2] = ["GIT_EXEC_PATH", "GIT_SSL_CAINFO"];

/// Settings that the person's configuration must not change, whatever an old repository of ours has.
const SETTINGS: [&str; 23] = [
    "core.bare=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "core.logAllRefUpdates=false",
    "core.protectHFS=false",
    "core.protectNTFS=false",
    "core.fsync=objects",
    "core.fsyncMethod=batch",
    "core.commitGraph=false",
    // Larger files are read and written in pieces, and compared as binary: git would hold several copies in memory otherwise.
    "core.bigFileThreshold=8m",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "diff.renames=true",
    "diff.renameLimit=1000",
    "diff.suppressBlankEmpty=false",
    "index.sparse=false",
    // We have a sum of our own over every index, and a faster one.
    "index.skipHash=true",
];

/// What a repository of the person's cannot have git run, whatever a worker wrote into its settings.
const QUIET: [&str; 5] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.alternateRefsCommand=",
    "log.showSignature=false",
    "diff.external=",
];

/// What git says of a repository that lacks something, or has something else in its place.
const DAMAGE: [&str; 17] = [
    "not a git repository",
    "bad config",
    "bad object",
    "bad tree object",
    "invalid object",
    "missing object",
    "missing blob",
    "missing tree",
    "nonexistent object",
    "not a tree object",
    "not a valid object",
    "unable to read",
    "unable to unpack",
    "unable to parse",
    "could not read",
    "corrupt",
    "packfile",
];

/// Git with our repository and the project's files.
#[derive(Debug, Clone)]
pub(super) struct Git {
    /// Path of our repository, `.chronicle/trees.git`.
    pub(super) dir: PathBuf,
    /// Folder whose files are recorded.
    pub(super) work: PathBuf,
    /// The person's list of what is ignored everywhere, which git reads too.
    pub(super) everywhere: PathBuf,
    /// Ends calls that would not end by themselves.
    pub(super) leash: Leash,
}

impl Git {
    /// A call on an index, with further settings as `name=value`.
    pub(super) fn call(
        &self,
        index: &Path,
        settings: &[OsString],
        args: &[impl AsRef<OsStr>],
    ) -> Tool {
        let mut line: Vec<OsString> = vec!["git".into()];
        for setting in SETTINGS.iter().map(OsString::from).chain(settings.iter().cloned()) {
            line.extend(["-c".into(), setting]);
        }
        line.extend(args.iter().map(|arg| arg.as_ref().to_owned()));
        Tool::new(line, &self.work)
            // Variables such as `GIT_DIR` of whoever started us would lead git to another repository.
            .without(foreign(|_| true))
            .limits(TIME_MAX, OUTPUT_MAX)
            .leash(&self.leash)
            .env("LC_ALL", "C")
            .env("GIT_DIR", &self.dir)
            .env("GIT_WORK_TREE", &self.work)
            .env("GIT_INDEX_FILE", index)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            // No setting of the machine or the user applies: the same files must give the same tree everywhere.
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            // A file may be called `*` or `:(top)`. Names are names here, never patterns.
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            // Nothing is ever fetched, by whatever program a planted remote names.
            .env("GIT_ALLOW_PROTOCOL", "none")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_DEFAULT_REF_FORMAT", "files")
            .env("GIT_DEFAULT_HASH", "sha1")
    }

    /// A call that must succeed. One that was killed is repeated once: each call can be repeated safely.
    pub(super) fn run(&self, what: &'static str, tool: Tool) -> Result<ToolOutput, TreesError> {
        self.check()?;
        let run = |tool: Tool| tool.run().map_err(|error| self.failed(what, error));
        let mut ran = run(tool.clone())?;
        if is_killed(&ran) {
            ran = run(tool)?;
        }
        if ran.status.success() { Ok(ran) } else { Err(self.refused(what, &ran)) }
    }

    /// The error for a git that ran and did not succeed.
    pub(super) fn refused(&self, what: &'static str, ran: &ToolOutput) -> TreesError {
        let why = why(ran);
        if DAMAGE.iter().any(|sign| ran.stderr.contains(sign)) {
            return TreesError::Damaged { path: self.dir.clone(), what, why };
        }
        // Git has many words for a socket in the place of a file, and none of them names the cause.
        match pipes::strange_below(&self.dir) {
            Some(strange) => TreesError::strange(self.dir.clone(), &strange),
            None => TreesError::Git { what, why },
        }
    }

    /// Fails if git would wait for a pipe in the place of a file that it always reads, write through a link, or meet anything else that is no file.
    pub(super) fn check(&self) -> Result<(), TreesError> {
        if let Some(path) = pipes::strange_in(&self.dir) {
            return Err(TreesError::strange(self.dir.clone(), &path));
        }
        match self.excludes_pipe().or_else(|| pipes::in_ours(&self.work, &self.dir)) {
            Some(path) => Err(TreesError::Pipe(Some(path))),
            None => config::make_ours(&self.dir),
        }
    }

    /// The error for a git that could not be run, or that was ended.
    pub(super) fn failed(&self, what: &'static str, error: io::Error) -> TreesError {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => TreesError::NoGit(error),
            io::ErrorKind::Deadlock => self.cut(Cut::Pipe),
            io::ErrorKind::Interrupted => self.cut(Cut::GivenUp),
            _ => TreesError::Git { what, why: error.to_string() },
        }
    }

    /// The error for a git that was ended before its time, if one was since this was asked last: an answer that is missing must
    /// not pass for an empty one.
    pub(super) fn ended_early(&self) -> Result<(), TreesError> {
        self.leash.take().map_or(Ok(()), |cut| Err(self.cut(cut)))
    }

    /// The person's own list of what is ignored everywhere, if it is a pipe.
    fn excludes_pipe(&self) -> Option<PathBuf> {
        Some(&self.everywhere).filter(|path| pipes::is_pipe(path)).cloned()
    }

    fn cut(&self, cut: Cut) -> TreesError {
        match cut {
            Cut::Pipe => {
                let found = self.excludes_pipe();
                TreesError::Pipe(found.or_else(|| pipes::search(&self.work, &self.dir)))
            }
            Cut::GivenUp => TreesError::GivenUp,
        }
    }
}

/// A repository of ours that is just being made in a new folder, and that workers use later.
pub(crate) struct NewRepository(Git);

impl NewRepository {
    /// Makes one, with nothing in it.
    pub(crate) fn make(folder: &Path, leash: &Leash) -> Result<Self, TreesError> {
        let (dir, everywhere) = (folder.join(".git"), PathBuf::from("/dev/null"));
        let new = Self(Git { dir, work: folder.to_owned(), everywhere, leash: leash.clone() });
        let init = new.call(&["init", "--quiet", "--template="]);
        // Not by `run`, which looks into a repository that is there.
        let ran = init.clone().run().map_err(|error| new.0.failed(MAKE, error))?;
        let ran = if is_killed(&ran) {
            init.run().map_err(|error| new.0.failed(MAKE, error))?
        } else {
            ran
        };
        if ran.status.success() { Ok(new) } else { Err(new.0.refused(MAKE, &ran)) }
    }

    /// Runs git there, with nothing of the person's settings.
    pub(crate) fn run(&self, args: &[&str]) -> Result<(), TreesError> {
        self.0.run(MAKE, self.call(args)).map(drop)
    }

    fn call(&self, args: &[&str]) -> Tool {
        // Programs other than git read this index too.
        self.0.call(&self.0.dir.join("index"), &["index.skipHash=false".into()], args)
    }
}

const MAKE: &str = "make a work folder";

/// True if a signal killed it.
pub(super) fn is_killed(ran: &ToolOutput) -> bool {
    ran.status.code().is_none()
}

/// Its last line of stderr, otherwise its exit status.
pub(super) fn why(ran: &ToolOutput) -> String {
    let said = ran.stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
    said.map_or_else(|| ran.status.to_string(), str::to_owned)
}

/// Asks the person's own repository something that changes and runs nothing. `None` if there is no repository, or if git had to be
/// ended, which the leash says.
pub(crate) fn ask_theirs(work: &Path, leash: &Leash, args: &[&str]) -> Option<Vec<u8>> {
    if pipes::in_theirs(work).is_some() {
        leash.note(Cut::Pipe);
        return None;
    }
    let quiet = QUIET.iter().flat_map(|setting| ["-c", setting]);
    let line = std::iter::once("git").chain(quiet).chain(args.iter().copied());
    let tool = Tool::new(line, work)
        .without(foreign(|name| !name.starts_with("GIT_CONFIG")))
        .limits(TIME_MAX, OUTPUT_MAX)
        .leash(leash)
        .env("LC_ALL", "C")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_PAGER", "cat")
        .env("GIT_TERMINAL_PROMPT", "0");
    let mut ran = tool.clone().run().ok()?;
    if is_killed(&ran) {
        // Nothing heard is not the same as nothing there: it is asked once more.
        ran = tool.run().ok()?;
    }
    ran.status.success().then_some(ran.stdout)
}

/// Files of the repository that a folder is in, by their paths below the folder: those that it keeps, and with `others` also those
/// that it is not told to ignore. `None` if it is in none, or git does not say.
pub(crate) fn files_of_theirs(folder: &Path, others: bool) -> Option<Vec<PathBuf>> {
    let is_kept = folder.ancestors().any(|above| above.join(".git").exists());
    let leash = Leash::default();
    leash.hurry(true);
    let kept = ["ls-files", "-z", "--cached"];
    let all = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let args: &[&str] = if others { &all } else { &kept };
    let listed = is_kept.then(|| ask_theirs(folder, &leash, args))??;
    let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Some(names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect())
}

/// Environment variables that would change how git works.
fn foreign(which: fn(&str) -> bool) -> Vec<OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    let astray = |name: &OsString| {
        name.to_str().is_some_and(|name| {
            name.starts_with("GIT_") && !HARMLESS.contains(&name) && which(name)
        })
    };
    names.filter(astray).collect()
}
