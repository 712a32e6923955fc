//! Turns the rules of the house into findings, all of them at once.
//!
//! A check is a function from the files to findings; [`CHECKS`] is the list. One file per family of checks. A check reads
//! text and never changes it. What may break a rule stands in `exceptions.rs`, with its reason.

mod dependencies;
mod docs;
mod events;
mod exceptions;
mod functions;
mod glossary;
mod imports;
mod layers;
mod leftovers;
mod links;
mod named_files;
mod names;
mod sizes;
mod test_files;
mod whitespace;

use std::path::Path;

use crate::code::repo::{File, Repo};

/// Something to be put right at a line, or only to be known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    what: String,
    fix: String,
    weight: Weight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Wrong,
    Note,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>, fix: impl Into<String>) -> Self {
        let (what, fix) = (what.into(), fix.into());
        Self { path: path.to_owned(), line, what, fix, weight: Weight::Wrong }
    }

    fn note(self) -> Self {
        Self { weight: Weight::Note, ..self }
    }

    fn to_line(&self) -> String {
        let mark = if self.weight == Weight::Note { "note: " } else { "" };
        format!("{}:{}: {mark}{} ({})", self.path, self.line, self.what, self.fix)
    }
}

type Check = fn(&Repo) -> Vec<Finding>;

const CHECKS: &[Check] = &[
    sizes::file_sizes,
    sizes::page_sizes,
    functions::function_sizes,
    names::file_names,
    names::module_names,
    names::type_names,
    glossary::every_noun_is_explained,
    imports::forbidden_paths,
    imports::faces_use_the_handle,
    imports::adapters_stand_alone,
    imports::idle_rules,
    imports::ledger_file_name,
    layers::layers,
    events::every_event_is_told,
    test_files::every_test_file_is_declared,
    leftovers::unfinished_work,
    leftovers::attributes,
    leftovers::sleeping_tests,
    docs::short_docs,
    whitespace::whitespace,
    links::dead_links,
    named_files::named_files,
    exceptions::stale_exceptions,
];

/// Prints what is to be put right; says whether there was nothing.
pub(crate) fn run(root: &Path) -> bool {
    let repo = match Repo::load(root) {
        Ok(repo) => repo,
        Err(error) => {
            eprintln!("Error: the repository cannot be read: {error}");
            return false;
        }
    };
    let mut findings = check(&repo);
    findings.extend(dependencies::core_without_tokio(root));
    for finding in &findings {
        println!("{}", finding.to_line());
    }
    let (notes, wrong): (Vec<_>, Vec<_>) =
        findings.iter().partition(|finding| finding.weight == Weight::Note);
    let files = repo.files().count();
    println!("tidy: {files} files, {} to put right, {} notes", wrong.len(), notes.len());
    wrong.is_empty()
}

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(repo)).collect();
    findings.sort();
    findings.dedup();
    findings
}

/// A finding when something that a check looks at is gone from a repository that claims to be whole.
fn missing(repo: &Repo, path: &str) -> Option<Finding> {
    let is_missing = repo.is_whole() && !repo.has(path);
    is_missing.then(|| {
        Finding::new(path, 1, "is missing", "write it, or move the check in xtask/src/tidy with it")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_one_line_with_its_way_out() {
        let finding = Finding::new("a.rs", 3, "is long", "split it");
        assert_eq!(finding.to_line(), "a.rs:3: is long (split it)");
        assert_eq!(finding.note().to_line(), "a.rs:3: note: is long (split it)");
    }

    #[test]
    fn what_is_missing_counts_once_there_is_a_readme() {
        assert_eq!(missing(&Repo::of(&[]), "a.rs"), None);
        assert!(missing(&Repo::of(&[("README.md", "")]), "a.rs").is_some());
        assert_eq!(missing(&Repo::of(&[("README.md", ""), ("a.rs", "")]), "a.rs"), None);
    }

    #[test]
    fn findings_of_all_checks_come_at_once_and_in_order() {
        let repo = Repo::of(&[("b/utils.rs", "fn a() {} \n"), ("a.md", "\tx\n")]);
        let paths: Vec<_> = check(&repo).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["a.md", "b/utils.rs", "b/utils.rs"]);
    }
}
