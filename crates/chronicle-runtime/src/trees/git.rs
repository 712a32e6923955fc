//! How git is called: with a repository, index and settings of ours, and none of the person's.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::TreesError;
use crate::process::{Ran, Tool};

/// Longest time for one call: the first tree of a large project on a slow disk.
const TIME_MAX: Duration = Duration::from_mins(15);
/// Longest list of paths.
const OUTPUT_MAX: usize = 512 * 1024 * 1024;
/// Variables that are not about where and how git works.
const HARMLESS: [&str; 2] = ["GIT_EXEC_PATH", "GIT_SSL_CAINFO"];

/// What no setting of the person may change, whatever an old repository of ours says.
const SETTINGS: [&str; 22] = [
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

/// A git that works for us.
#[derive(Debug, Clone)]
pub(super) struct Git {
    /// Our repository.
    pub(super) dir: PathBuf,
    /// The files.
    pub(super) work: PathBuf,
}

impl Git {
    /// A call on an index; further settings as `name=value`.
    pub(super) fn call(&self, index: &Path, settings: &[String], args: &[&str]) -> Tool {
        let mut line: Vec<OsString> = vec!["git".into()];
        for setting in SETTINGS.iter().map(ToString::to_string).chain(settings.iter().cloned()) {
            line.extend(["-c".into(), setting.into()]);
        }
        line.extend(args.iter().map(OsString::from));
        Tool::new(line, &self.work)
            .without(foreign(|_| true))
            .limits(TIME_MAX, OUTPUT_MAX)
            .env("LC_ALL", "C")
            .env("GIT_DIR", &self.dir)
            .env("GIT_WORK_TREE", &self.work)
            .env("GIT_INDEX_FILE", index)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_DEFAULT_REF_FORMAT", "files")
            .env("GIT_DEFAULT_HASH", "sha1")
    }

    /// A call that must work. One that was killed is made once more: each does the same when done again.
    pub(super) fn run(what: &'static str, tool: Tool) -> Result<Ran, TreesError> {
        let run = |tool: Tool| tool.run().map_err(|error| failed(what, error));
        let mut ran = run(tool.clone())?;
        if is_killed(&ran) {
            ran = run(tool)?;
        }
        if ran.status.success() {
            return Ok(ran);
        }
        Err(TreesError::Git { what, why: why(&ran) })
    }
}

/// Git did not run to its end.
pub(super) fn failed(what: &'static str, error: io::Error) -> TreesError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => TreesError::NoGit(error),
        _ => TreesError::Git { what, why: error.to_string() },
    }
}

/// Whether somebody ended it, or it broke.
pub(super) fn is_killed(ran: &Ran) -> bool {
    ran.status.code().is_none()
}

/// The last thing it said, else how it ended.
pub(super) fn why(ran: &Ran) -> String {
    let said = ran.stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
    said.map_or_else(|| ran.status.to_string(), str::to_owned)
}

/// Asks the person's own repository something that changes nothing and runs nothing. None when there is no repository.
pub(super) fn ask_theirs(work: &Path, args: &[&str]) -> Option<Vec<u8>> {
    let quiet = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
    let tool = Tool::new(quiet.iter().chain(args), work)
        .without(foreign(|name| !name.starts_with("GIT_CONFIG")))
        .limits(TIME_MAX, OUTPUT_MAX)
        .env("LC_ALL", "C")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0");
    let mut ran = tool.clone().run().ok()?;
    if is_killed(&ran) {
        // Nothing heard is not the same as nothing there: it is asked once more.
        ran = tool.run().ok()?;
    }
    ran.status.success().then_some(ran.stdout)
}

/// Variables of our environment that would lead git astray.
fn foreign(which: fn(&str) -> bool) -> Vec<OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    let astray = |name: &OsString| {
        name.to_str().is_some_and(|name| {
            name.starts_with("GIT_") && !HARMLESS.contains(&name) && which(name)
        })
    };
    names.filter(astray).collect()
}
