//! What the person's git ignores, so that our trees ignore it too.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::git::ask_theirs;
use super::names::{below, parts};
use crate::process::Leash;
use crate::regular::{self, Links};
use crate::threads;

/// Never part of a tree, whatever the rules say.
pub(super) const OURS: [&str; 5] = [
    ".chronicle/runs/",
    ".chronicle/trees.git/",
    ".chronicle/worktrees/",
    ".chronicle/merge/",
    ".pi/chronicle/sessions/",
];
/// Longest exclude file of a person that is used.
const EXCLUDE_MAX: u64 = 1024 * 1024;

/// The person's ignore rules that are not in the project's own files.
#[derive(Debug)]
pub(crate) struct Excludes {
    pub(super) everywhere: PathBuf,
    /// Their `info/exclude` for this project.
    of_project: Option<PathBuf>,
    /// True if the project is a folder inside their repository, so that rules above it apply.
    is_inside: bool,
    pub(super) leash: Leash,
}

impl Excludes {
    /// Asks the person's git, both questions in parallel. The leash says whether one of them stayed without an answer.
    pub(crate) fn find(work: &Path, leash: &Leash) -> Self {
        let of_place = ["rev-parse", "--show-prefix", "--git-path", "info/exclude"];
        // Both at once: each is a start of git, and they are waited for before the first agent starts.
        let everywhere = ["config", "--type=path", "--get", "core.excludesFile"];
        let ask_place = || ask_theirs(work, leash, &of_place);
        let (place, everywhere) =
            threads::both("place", ask_place, || ask_theirs(work, leash, &everywhere));
        let place = place.ok().flatten();
        let everywhere =
            everywhere.map_or_else(by_default, |bytes| below(work, bytes.trim_ascii_end()));
        let place = place.unwrap_or_default();
        let mut lines = place.split(|byte| *byte == b'\n');
        let is_inside = lines.next().is_some_and(|prefix| !prefix.is_empty());
        let path = lines.next().filter(|path| !path.is_empty() && !is_inside);
        let of_project = path.map(|path| below(work, path));
        Self { everywhere, of_project, is_inside, leash: leash.clone() }
    }

    /// The person's own files of rules.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.everywhere.as_path()).chain(self.of_project.as_deref())
    }

    /// Git's setting for the rules that apply everywhere. Not as text: the path may be anything.
    pub(super) fn rule(&self) -> OsString {
        let mut rule = OsString::from("core.excludesFile=");
        rule.push(&self.everywhere);
        rule
    }

    /// The content of our `info/exclude`.
    pub(super) fn text(&self, work: &Path) -> String {
        let mut text = OURS.map(|path| format!("/{path}\n")).concat();
        if let Some(theirs) = self.of_project.as_deref().and_then(read) {
            text.push_str(&theirs);
        }
        // The project is a folder inside a repository. Rules of the folders above it do not reach our own repository, whose
        // root is the project, so what they ignore is listed name by name.
        if self.is_inside {
            let args =
                ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
            // Asked of the person's git: what is ignored there is theirs to say.
            let ignored = ask_theirs(work, &self.leash, &args).unwrap_or_default();
            for name in parts(&ignored).filter_map(|name| std::str::from_utf8(name).ok()) {
                let _ = writeln!(text, "/{}", literal(name));
            }
        }
        text
    }

    /// Files that match the rules but are tracked in the person's repository.
    pub(super) fn kept_anyway(work: &Path, leash: &Leash) -> Vec<u8> {
        let args = ["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"];
        ask_theirs(work, leash, &args).unwrap_or_default()
    }
}

fn by_default() -> PathBuf {
    let folder = std::env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    let folder = folder.map(PathBuf::from).or_else(home).unwrap_or_else(|| "/nonexistent".into());
    folder.join("git/ignore")
}

fn read(path: &Path) -> Option<String> {
    let bytes = regular::read(path, EXCLUDE_MAX, Links::Followed).ok()?;
    Some(format!("{}\n", String::from_utf8_lossy(&bytes)))
}

/// A path as a rule that means exactly it.
fn literal(path: &str) -> String {
    let mut rule = String::new();
    for sign in path.chars() {
        if matches!(sign, '*' | '?' | '[' | ']' | '\\' | ' ' | '!' | '#') {
            rule.push('\\');
        }
        rule.push(sign);
    }
    rule
}
