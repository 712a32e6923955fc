//! What files, modules and public types may not be called.

use std::collections::BTreeMap;

use super::{Finding, Repo};
use crate::code::source::{find_words, is_name, line_of};

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] =
    &["util", "utils", "helper", "helpers", "common", "manager", "service", "imp", "types"];
const FIX: &str = "name it after what it does; a thing without a name has no place yet";

/// Rust files, and the folders they are in.
pub(super) fn file_names(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        let parts = file.path.trim_end_matches(".rs").split('/');
        for name in parts.filter(|part| EMPTY_NAMES.contains(part)) {
            let what = format!("the name `{name}` says nothing");
            findings.push(Finding::new(&file.path, 1, what, FIX));
        }
    }
    findings
}

/// Modules inside a file.
pub(super) fn module_names(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        let code = &file.source.code;
        for at in find_words(code, "mod") {
            let after = code[at + 3..].trim_start();
            let length = after.bytes().take_while(|byte| is_name(*byte)).count();
            let (name, rest) = after.split_at(length);
            if EMPTY_NAMES.contains(&name) && rest.trim_start().starts_with('{') {
                let what = format!("the module name `{name}` says nothing");
                findings.push(Finding::new(&file.path, line_of(code, at), what, FIX));
            }
        }
    }
    findings
}

/// Public types of the workspace that share a name: a reader should need no path to know which one is meant.
pub(super) fn type_names(repo: &Repo) -> Vec<Finding> {
    let mut first: BTreeMap<&str, String> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in repo.rust().filter(|file| file.path.contains("/src/")) {
        for (index, line) in file.source.code.lines().enumerate() {
            let Some(name) = public_type(line) else { continue };
            let here = format!("{}:{}", file.path, index + 1);
            if let Some(before) = first.get(name) {
                let what = format!("`{name}` is a public type at {before} too");
                let fix = "name the less central one after its concern";
                findings.push(Finding::new(&file.path, index + 1, what, fix));
            } else {
                first.insert(name, here);
            }
        }
    }
    findings
}

/// The name of a public type that a line at the left margin declares.
pub(super) fn public_type(line: &str) -> Option<&str> {
    let after = line.strip_prefix("pub ")?;
    let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
    let after = kinds.iter().find_map(|kind| after.strip_prefix(kind))?;
    let length = after.bytes().take_while(|byte| is_name(*byte)).count();
    Some(&after[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_types_of_one_name_are_found() {
        let repo = Repo::of(&[
            ("a/src/a.rs", "pub struct Entry<T> {\n}\nstruct Row;\npub(crate) struct Node;\n"),
            ("b/src/b.rs", "pub struct Row;\npub struct Node;\npub enum Entry {}\n"),
            ("b/tests/it/c.rs", "pub struct Entry;\n"),
        ]);
        let found: Vec<_> =
            type_names(&repo).into_iter().map(|finding| (finding.path, finding.line)).collect();
        assert_eq!(found, [("b/src/b.rs".to_owned(), 3)]);
    }

    #[test]
    fn empty_names_are_found_in_files_and_folders() {
        let repo = Repo::of(&[("a/utils.rs", ""), ("a/common/mod.rs", ""), ("a/timeutils.rs", "")]);
        let paths: Vec<_> = file_names(&repo).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["a/common/mod.rs", "a/utils.rs"]);
    }

    #[test]
    fn empty_names_of_inline_modules_are_found() {
        let repo = Repo::of(&[("a.rs", "mod a {}\npub(crate) mod helpers {\n}\nmod utils;\n")]);
        let lines: Vec<_> = module_names(&repo).into_iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [2]);
    }
}
