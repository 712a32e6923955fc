//! What files and modules may not be called.

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

#[cfg(test)]
mod tests {
    use super::*;

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
