//! Which commits brought a feature, and how many source files each touched.
//!
//! A feature is told by the core's vocabulary: a commit, not a merge, after which one of [`ENUMS`] has more variants or the
//! table of settings more rows than before. Renaming or moving them is none.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use super::git;
use crate::code::source::Source;
use crate::code::variants::variants;

/// Enums of the core whose variants are things that Chronicle can do.
const ENUMS: [&str; 4] = ["Event", "Command", "Report", "Action"];
/// How the table of settings begins.
const SETTINGS: &str = "const KEYS: &[Key]";
const CORE: &str = "crates/chronicle-core/src/";
/// How many letters of a commit's name are shown.
const NAME: usize = 8;
/// How many are looked at.
const LAST: usize = 10;

/// A commit that brought something new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Feature {
    pub(super) commit: String,
    pub(super) subject: String,
    /// How many source files it touched.
    pub(super) files: usize,
}

/// One commit as `git log --raw` tells of it.
#[derive(Debug, Default)]
struct Commit<'a> {
    name: &'a str,
    subject: &'a str,
    changes: Vec<Change<'a>>,
}

#[derive(Debug)]
struct Change<'a> {
    before: &'a str,
    after: &'a str,
    path: &'a str,
}

/// The last features that a revision has, newest first.
pub(super) fn last(root: &Path, revision: &str) -> io::Result<Vec<Feature>> {
    let format = "--format=%x01%H %s";
    let log = ["log", "--no-merges", "--raw", "--no-abbrev", "--find-renames", format, revision];
    let log = git::text(root, &log)?;
    let commits: Vec<Commit<'_>> = log.split('\u{1}').skip(1).map(read_commit).collect();
    let ids: BTreeSet<&str> = commits.iter().flat_map(objects).collect();
    let texts = git::blobs(root, &ids.into_iter().collect::<Vec<_>>())?;
    let features = commits.iter().filter(|commit| is_feature(commit, &texts));
    Ok(features.take(LAST).map(Commit::feature).collect())
}

impl Commit<'_> {
    fn feature(&self) -> Feature {
        let files = self.changes.iter().filter(|change| git::is_source(change.path)).count();
        Feature {
            commit: self.name.chars().take(NAME).collect(),
            subject: self.subject.to_owned(),
            files,
        }
    }

    fn in_core(&self) -> impl Iterator<Item = &Change<'_>> {
        let is_core = |path: &str| path.starts_with(CORE) && git::is_source(path);
        self.changes.iter().filter(move |change| is_core(change.path))
    }
}

fn read_commit(text: &str) -> Commit<'_> {
    let mut lines = text.lines();
    let (name, subject) = lines.next().unwrap_or_default().split_once(' ').unwrap_or_default();
    Commit { name, subject, changes: lines.filter_map(read_change).collect() }
}

/// Reads `:100644 100644 BEFORE AFTER M\tPATH`, or `R090\tOLD\tNEW` at its end: a file that moved is one file.
fn read_change(line: &str) -> Option<Change<'_>> {
    let (about, path) = line.strip_prefix(':')?.split_once('\t')?;
    let words: Vec<&str> = about.split(' ').collect();
    let path = path.rsplit('\t').next().unwrap_or(path);
    Some(Change { before: words.get(2)?, after: words.get(3)?, path })
}

/// What must be read to tell whether a commit is a feature. Git writes a file that is not there as zeros.
fn objects<'a>(commit: &'a Commit<'a>) -> Vec<&'a str> {
    let both = commit.in_core().flat_map(|change| [change.before, change.after]);
    both.filter(|id| id.bytes().any(|byte| byte != b'0')).collect()
}

fn is_feature(commit: &Commit<'_>, texts: &BTreeMap<String, String>) -> bool {
    let before = vocabulary(commit.in_core().filter_map(|change| texts.get(change.before)));
    let after = vocabulary(commit.in_core().filter_map(|change| texts.get(change.after)));
    after.iter().any(|(of, words)| words.len() > before.get(of).map_or(0, BTreeSet::len))
}

/// The variants of each enum, and the names of settings, in some files.
fn vocabulary<'a>(
    texts: impl Iterator<Item = &'a String>,
) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut found: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for text in texts {
        let has = |name: &&str| text.contains(&format!("enum {name} "));
        let enums: Vec<&str> = ENUMS.into_iter().filter(has).collect();
        if enums.is_empty() && !text.contains(SETTINGS) {
            continue;
        }
        let source = Source::read(text);
        for name in enums {
            let names = variants(&source.code, name).into_iter().map(|(name, _)| name.to_owned());
            found.entry(name).or_default().extend(names);
        }
        found.entry(SETTINGS).or_default().extend(settings(&source.said));
    }
    found
}

/// The name in each row of the table of settings: the first text of a call, or the field `name`.
fn settings(said: &str) -> Vec<String> {
    let Some((_, table)) = said.split_once(SETTINGS) else {
        return Vec::new();
    };
    let table = table.split_once("\n];").map_or(table, |(table, _)| table);
    let pieces: Vec<&str> = table.split('"').collect();
    let is_name =
        |before: &str| before.trim_end().ends_with('(') || before.trim_end().ends_with("name:");
    let pairs = pieces.windows(2).filter(|pair| is_name(pair[0]));
    pairs.map(|pair| pair[1].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "abc Add a thing\n\n:100644 100644 1111 2222 M\tcrates/chronicle-core/src/event.rs\n\
        :000000 100644 0000 3333 A\tcrates/chronicle/src/cli/thing.rs\n\
        :100644 100644 4444 5555 R090\tcrates/chronicle/src/a.rs\tdocs/thing.md\n";

    fn is_new(before: &str, after: &str) -> bool {
        let texts = [("1111", before), ("2222", after)];
        let texts = texts.map(|(id, text)| (id.to_owned(), text.to_owned())).into_iter().collect();
        is_feature(&read_commit(LOG), &texts)
    }

    #[test]
    fn a_commit_is_read_with_what_it_touched() {
        let commit = read_commit(LOG);
        assert_eq!(objects(&commit), ["1111", "2222"]);
        let feature = commit.feature();
        assert_eq!((feature.subject.as_str(), feature.files), ("Add a thing", 2));
    }

    #[test]
    fn a_new_variant_is_a_feature_and_a_new_name_is_none() {
        let one = "pub enum Event { A, B(C) }";
        assert!(is_new(one, "pub enum Event { A, B(C), D }"));
        assert!(is_new("", one));
        assert!(!is_new(one, "pub enum Event { A, E(C) }"));
        assert!(!is_new(one, "pub enum Other { F }"));
    }

    #[test]
    fn a_new_row_of_the_settings_is_a_feature() {
        let table = |rows: &str| {
            format!("pub const KEYS: &[Key] = &[\n{rows}\n];\nfn a() {{ b(\"c\") }}\n")
        };
        let row = "    both(\"agent\", Form::Text, \"\", \"The (\\n) agent.\"),";
        assert_eq!(settings(&table(row)), ["agent"]);
        assert!(is_new(
            &table(row),
            &table(&format!("{row}\n    user(\n        \"model\",\n    ),"))
        ));
        assert!(!is_new(&table(row), &table(&row.replace("agent", "agents"))));
    }
}
