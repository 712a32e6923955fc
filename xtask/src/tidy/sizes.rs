//! How long files may be.

use super::{File, Finding, Repo, missing};

/// A file above this is hard to hold in mind.
const FILE_SOFT: usize = 400;
/// A file above this is refused.
const FILE_HARD: usize = 800;
/// Files with a limit of their own: what a newcomer reads first.
const PAGES: &[(&str, usize)] =
    &[("ARCHITECTURE.md", 200), ("crates/chronicle-runtime/src/driver.rs", 200)];

/// Rust files, without the unit tests at their end.
pub(super) fn file_sizes(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        let lines = file.product_lines();
        let what = format!("{lines} lines before its tests");
        if lines > FILE_HARD {
            let fix = format!("split it: {FILE_HARD} is the most, {FILE_SOFT} is the aim");
            findings.push(Finding::new(&file.path, 1, what, fix));
        } else if lines > FILE_SOFT {
            let fix = format!("{FILE_SOFT} is the aim");
            findings.push(Finding::new(&file.path, 1, what, fix).note());
        }
    }
    findings
}

/// Files with a limit of their own.
pub(super) fn page_sizes(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, most) in PAGES {
        findings.extend(missing(repo, path));
        let lines = repo.get(path).map_or(0, File::product_lines);
        if lines > *most {
            let fix = format!("{most} is the most: move something out");
            findings.push(Finding::new(path, 1, format!("{lines} lines"), fix));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::Weight;

    fn lines(count: usize) -> String {
        "// x\n".repeat(count)
    }

    fn weights(text: &str) -> Vec<Weight> {
        file_sizes(&Repo::of(&[("a.rs", text)])).into_iter().map(|found| found.weight).collect()
    }

    #[test]
    fn long_files_are_noted_and_longer_ones_refused() {
        assert_eq!(weights(&lines(400)), []);
        assert_eq!(weights(&lines(401)), [Weight::Note]);
        assert_eq!(weights(&lines(801)), [Weight::Wrong]);
    }

    #[test]
    fn unit_tests_at_the_end_do_not_count() {
        let text = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(10), lines(900));
        assert_eq!(weights(&text), []);
    }

    #[test]
    fn the_driver_has_its_own_limit() {
        let path = "crates/chronicle-runtime/src/driver.rs";
        assert_eq!(page_sizes(&Repo::of(&[(path, &lines(200))])), []);
        assert_eq!(page_sizes(&Repo::of(&[(path, &lines(201))])).len(), 1);
        assert_eq!(page_sizes(&Repo::of(&[("README.md", "")])).len(), PAGES.len());
    }
}
