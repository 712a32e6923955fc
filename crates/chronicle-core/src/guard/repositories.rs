//! Repositories that git would change, for a worker that works in a copy of a project: what git keeps for itself is no file of its own
//! folder where it lies in the project's.

use super::acts::{self, CommandWord, ProgramRun};
use super::facts::{Access, Extent, Folder, Touch, Word};
use super::taken::folder;

/// By whom a repository is changed. No rule over paths is about it.
pub(super) const REPOSITORY: &str = "the repository of git";

/// Commands that change nothing.
const READING: &str = "log show status diff blame annotate grep ls-files ls-tree ls-remote cat-file rev-parse rev-list shortlog describe \
    name-rev merge-base for-each-ref show-ref show-branch diff-tree diff-index diff-files range-diff whatchanged cherry count-objects \
    check-ignore check-attr check-ref-format archive format-patch bundle version help var fsck verify-commit verify-tag verify-pack \
    upload-pack";
/// Commands that only show something if they are given nothing, or one of these words first.
const SHOWING: &str = "branch tag remote stash config worktree reflog notes symbolic-ref submodule";
const SHOW: &str = "-a -r -v -vv -l --list --all --remotes --show-current --merged --no-merged --contains --sort list show get get-url \
    --get --get-all --get-regexp --get-urlmatch --show-origin --show-scope -n HEAD status summary";
/// Options before the command that take the next word.
const VALUED: [&str; 6] =
    ["-c", "--namespace", "--super-prefix", "--attr-source", "--config-env", "--work-tree"];

/// What git would change of repositories, by the folders that it is led to.
pub(super) fn changed(found: &acts::Acts) -> Vec<Touch> {
    found.runs.iter().flat_map(of_run).collect()
}

fn of_run(run: &ProgramRun) -> Vec<Touch> {
    let words: Vec<Option<&str>> = run.words.iter().skip(1).map(known).collect();
    let (mut rest, mut at, mut dir) = (&words[..], Some(String::new()), None);
    let name = match run.program.strip_prefix("git-") {
        Some(name) => Some(name),
        None if run.program == "git" => {
            while let Some((Some(option), more)) = rest.split_first()
                && option.starts_with('-')
            {
                let next = more.first().copied().flatten();
                rest = more;
                match option.split_once('=').unwrap_or((option, "")) {
                    ("-C", _) => at = at.zip(next).map(|(at, next)| below(&at, next)),
                    ("--git-dir", "") => dir = next,
                    ("--git-dir", said) => dir = Some(said),
                    _ => {}
                }
                if ["-C", "--git-dir"].contains(option) || VALUED.contains(option) {
                    rest = rest.get(1..).unwrap_or_default();
                }
            }
            let first = rest.first().copied().flatten();
            rest = rest.get(1..).unwrap_or_default();
            first
        }
        None => return Vec::new(),
    };
    let place = folder(&run.folder);
    let mut all = Vec::new();
    if !name.is_some_and(|name| only_shows(name, rest)) {
        let repository = match dir {
            Some(dir) => at.as_deref().map(|at| below(at, dir)),
            None => at.as_deref().map(|at| below(at, ".git")),
        };
        all.extend(repository.map(|path| touch(path, &place)));
    }
    // What is sent to a path changes the repository there, and who gives it a name sends it later.
    if matches!(name, Some("push" | "send-pack" | "remote")) {
        let addresses = rest.iter().flatten().filter(|word| !word.starts_with('-'));
        let paths = addresses.filter_map(|word| {
            let path = word.strip_prefix("file://").unwrap_or(word);
            let is_path = path.starts_with(['/', '.', '~']);
            at.as_deref().filter(|_| is_path).map(|at| below(at, path))
        });
        all.extend(paths.map(|path| touch(path, &place)));
    }
    all
}

fn only_shows(name: &str, rest: &[Option<&str>]) -> bool {
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|it| it == word);
    let shows = || match rest.first() {
        None => name != "stash",
        Some(Some(first)) => is_in(SHOW, first.split('=').next().unwrap_or(first)),
        Some(None) => false,
    };
    is_in(READING, name) || is_in(SHOWING, name) && shows()
}

fn below(folder: &str, path: &str) -> String {
    let is_whole = folder.is_empty() || path.starts_with(['/', '~']);
    if is_whole { path.to_owned() } else { format!("{}/{path}", folder.trim_end_matches('/')) }
}

fn known(word: &CommandWord) -> Option<&str> {
    match word {
        CommandWord::Known(text) => Some(text),
        CommandWord::Glob(_) | CommandWord::Unknown { .. } => None,
    }
}

fn touch(path: String, folder: &Folder) -> Touch {
    Touch {
        access: Access::Write,
        path: Word::Known(path),
        folder: folder.clone(),
        by: REPOSITORY.to_owned(),
        extent: Extent::All,
        put: acts::Put::default(),
        made_of: None,
    }
}
