//! What the record shows of the work at one visit.

use std::collections::BTreeSet;

use super::super::{Facts, Frame};
use crate::base::shell::{self, CommandLine, Part, Proof};
use crate::event::claims::Claim;

/// Parts of words in commands that run tests.
const TESTING: [&str; 12] = [
    "test", "spec", "jest", "tox", "nox", "mocha", "phpunit", "check", "verify", "e2e", "bats",
    "junit",
];
/// Programs that run project-defined targets, which may be the tests.
const RUNNERS: [&str; 11] =
    ["make", "just", "task", "mage", "gradle", "gradlew", "mvn", "mvnw", "bazel", "nix", "act"];
/// Words of commands that build, format or lint, and test nothing.
const NO_TESTS: [&str; 10] =
    ["build", "lint", "fmt", "format", "install", "clean", "clippy", "tsc", "ls", "git"];

/// Programs that only show, search or move files, whatever words they are given.
const ONLY_SHOW: [&str; 22] = [
    "ls", "cat", "head", "tail", "less", "grep", "rg", "find", "fd", "wc", "echo", "printf", "sed",
    "cd", "cp", "mv", "mkdir", "rm", "touch", "test", "[", "diff",
];

/// What the record shows.
pub(super) struct Record<'s> {
    /// Every file that changed after an attempt of this run, or that an agent's tools changed in this visit.
    pub(super) files: BTreeSet<&'s str>,
    /// True if the list of files is complete.
    pub(super) knows_files: bool,
    /// Commands of this visit, and whether they succeeded; `None` if their end was not seen.
    pub(super) commands: Vec<(CommandLine, Option<bool>)>,
    pub(super) knows_commands: bool,
    /// Absolute path of the project's folder.
    pub(super) project: &'s str,
}

impl<'s> Record<'s> {
    pub(super) fn of(state: &'s Facts, frame: &'s Frame) -> Self {
        let mut files: BTreeSet<&str> = frame.evidence.files.iter().map(String::as_str).collect();
        // Of the whole run and not only this visit: a worker may rightly sum up what was done before it.
        for file in state.places.values().flat_map(|tally| &tally.changes.list) {
            files.insert(&file.path);
            // A worker that renamed a file may name it by either name.
            files.extend(file.from.as_deref());
        }
        // A list that was cut lacks files which the worker may have changed.
        let is_cut = state.places.values().any(|tally| tally.changes.is_cut());
        let commands = state.visit_at(&frame.place()).map(|visit| &visit.commands);
        let folder = state.trees.folder(frame.folder);
        Self {
            files,
            // Where the record has gaps it can contradict nobody. Only what it surely does not show is marked.
            knows_files: folder.last.is_some() && folder.missed.is_none() && !is_cut,
            commands: commands.map_or_else(Vec::new, |commands| {
                commands.list.iter().map(|ran| (ran.line(), ran.ok)).collect()
            }),
            knows_commands: commands.is_some_and(|commands| commands.forgotten == 0),
            project: state.project(),
        }
    }

    pub(super) fn shows(&self, claim: &Claim) -> bool {
        match claim {
            Claim::Changed(path) => {
                !self.knows_files || self.files.iter().any(|file| is_of(file, path))
            }
            Claim::Ran(command) => !self.knows_commands || self.ran(command).next().is_some(),
            Claim::Passed(command) => {
                // The last run counts: a test that passed once and fails now does not pass.
                let last = self.ran(command).last();
                !self.knows_commands || last == Some((Proof::Proven, Some(true)))
            }
            Claim::TestsPass => !self.knows_commands || self.tested(),
        }
    }

    /// Options may be described differently from how they were typed: only the words before them are compared, without wrappers.
    fn ran(&self, command: &str) -> impl Iterator<Item = (Proof, Option<bool>)> {
        let words: Vec<&str> =
            command.split_whitespace().take_while(|word| !word.starts_with("--")).collect();
        // Compared by what the wrapper runs: a claim `cargo test` is shown by `timeout 60 cargo test`.
        let own = &words[shell::begins(&words).last().copied().unwrap_or_default()..];
        // `npm run` alone says nothing.
        let count = if own.get(1) == Some(&"run") { 3 } else { 2 };
        let own = own.iter().take_while(|word| !word.starts_with('-')).take(count);
        let wanted = own.copied().collect::<Vec<_>>().join(" ");
        let proofs = self
            .commands
            .iter()
            .map(move |(line, ok)| (shell::proof(line, &wanted, self.project), *ok));
        proofs.filter(|(proof, _)| *proof != Proof::Absent)
    }

    /// True if the last line that may have run the tests succeeded, and that proves each command of it that may test.
    fn tested(&self) -> bool {
        let tests = self.commands.iter().rev().map(|(line, ok)| {
            let parts = shell::parts(line, self.project).into_iter().filter(may_test);
            (parts.collect::<Vec<_>>(), *ok)
        });
        // The last one that may have tested, even if a later command did something else.
        let last = tests.into_iter().find(|(parts, _)| !parts.is_empty());
        last.is_some_and(|(parts, ok)| {
            ok == Some(true)
                && parts.iter().all(|part| part.doubt.is_none() && part.turns.is_empty())
        })
    }
}

/// True if a command may run tests. Scripts and targets with names of their own may do anything.
fn may_test(part: &Part) -> bool {
    let words: Vec<&str> = part.words.iter().map(String::as_str).collect();
    let begin = shell::begins(&words).last().copied().unwrap_or_default();
    let program = words.get(begin).copied().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or(program);
    let tests = words.iter().any(|word| TESTING.iter().any(|it| word.to_lowercase().contains(it)));
    // A project's own script or task may run its tests under any name, so it is given the benefit of the doubt.
    let is_own = program.starts_with("./")
        || name.rsplit_once('.').is_some_and(|(_, end)| end == "sh")
        || RUNNERS.contains(&name);
    !ONLY_SHOW.contains(&name)
        && (tests || (is_own && !words.iter().any(|word| NO_TESTS.contains(word))))
}

/// True if a file matches a path: by its whole path or the end of it; a folder matches what is below it.
pub(super) fn is_of(file: &str, path: &str) -> bool {
    let within = format!("/{path}");
    let is_below = file.starts_with(path) || file.contains(&within);
    file == path
        || file.ends_with(&within)
        || path.ends_with(&format!("/{file}"))
        || (path.ends_with('/') && is_below)
}
