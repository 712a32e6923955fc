//! A test file that nobody declares is a test that never runs.

use super::{Finding, Repo};
use crate::code::repo::module_folder;
use crate::code::source::{find_words, is_name};

/// Every Rust file below `tests/it/` is declared by the file above it.
pub(super) fn every_test_file_is_declared(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        let Some((parents, module)) = parents(&file.path) else { continue };
        let declares = |path: &String| {
            repo.get(path).is_some_and(|parent| declared(&parent.source.code).contains(&module))
        };
        if !parents.iter().any(declares) {
            let what = format!("no file declares `mod {module};`");
            let fix = format!("declare it in {}", parents.join(" or "));
            findings.push(Finding::new(&file.path, 1, what, fix));
        }
    }
    findings
}

/// Where a test file may be declared, and as what; none for the root and for files elsewhere.
fn parents(path: &str) -> Option<(Vec<String>, &str)> {
    let below = path.split_once("tests/it/").map(|(_, below)| below)?;
    if below == "main.rs" {
        return None;
    }
    let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let (folder, module) = module.rsplit_once('/')?;
    let parents = if folder.ends_with("tests/it") {
        vec![format!("{folder}/main.rs")]
    } else {
        vec![format!("{folder}/mod.rs"), format!("{folder}.rs")]
    };
    debug_assert!(parents.iter().all(|parent| module_folder(parent) == format!("{folder}/")));
    Some((parents, module))
}

fn declared(code: &str) -> Vec<&str> {
    find_words(code, "mod")
        .filter_map(|at| {
            let after = code[at + 3..].trim_start();
            let length = after.bytes().take_while(|byte| is_name(*byte)).count();
            let (name, rest) = after.split_at(length);
            rest.trim_start().starts_with(';').then_some(name)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undeclared_files_are_found_at_every_depth() {
        let repo = Repo::of(&[
            ("crates/a/tests/it/main.rs", "mod told;\nmod folder;\n// mod silent;\n"),
            ("crates/a/tests/it/told.rs", ""),
            ("crates/a/tests/it/silent.rs", ""),
            ("crates/a/tests/it/folder/mod.rs", "mod inner;\n"),
            ("crates/a/tests/it/folder/inner.rs", ""),
            ("crates/a/tests/it/folder/lost.rs", ""),
            ("crates/a/src/silent.rs", ""),
        ]);
        let found = every_test_file_is_declared(&repo);
        let paths: Vec<_> = found.iter().map(|finding| finding.path.as_str()).collect();
        assert_eq!(paths, ["crates/a/tests/it/folder/lost.rs", "crates/a/tests/it/silent.rs"]);
    }
}
