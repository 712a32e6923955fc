//! What may break a rule, each with its reason. The aim is an empty table.

use super::functions::long_functions;
use super::{Finding, Repo};

/// The rule of `functions.rs`; the item is the function's name.
pub(super) const LONG_FUNCTION: &str = "long function";
/// The rules of `imports.rs`; the item is the forbidden path.
pub(super) const FORBIDDEN_PATH: &str = "forbidden path";

#[derive(Debug)]
struct Exception {
    rule: &'static str,
    path: &'static str,
    item: &'static str,
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        rule: FORBIDDEN_PATH,
        path: "crates/chronicle/src/scripted/calls.rs",
        item: "std::process::Command",
        reason: "the scripted agent is a worker: what it starts is under its keeper already",
    },
    Exception {
        rule: FORBIDDEN_PATH,
        path: "crates/chronicle/src/scripted/mischief.rs",
        item: "std::process::Command",
        reason: "the scripted agent leaves strays on purpose, for the keeper to end",
    },
];

/// Why something may break a rule; none when it may not.
pub(super) fn excepted(rule: &str, path: &str, item: &str) -> Option<&'static str> {
    find(EXCEPTIONS, rule, path, item)
}

fn find(table: &[Exception], rule: &str, path: &str, item: &str) -> Option<&'static str> {
    let is_it = |one: &&Exception| one.rule == rule && one.path == path && one.item == item;
    table.iter().find(is_it).map(|one| one.reason)
}

/// A permission that nothing needs any more.
pub(super) fn stale_exceptions(repo: &Repo) -> Vec<Finding> {
    stale(EXCEPTIONS, repo)
}

fn stale(table: &[Exception], repo: &Repo) -> Vec<Finding> {
    let unneeded = table.iter().filter(|one| !is_needed(one, repo));
    unneeded
        .map(|one| {
            let what = format!("the exception for `{}` ({}) is not needed", one.item, one.rule);
            Finding::new(one.path, 1, what, "take it out of xtask/src/tidy/exceptions.rs")
        })
        .collect()
}

fn is_needed(one: &Exception, repo: &Repo) -> bool {
    let Some(file) = repo.get(one.path) else { return !repo.is_whole() };
    match one.rule {
        LONG_FUNCTION => long_functions(file).iter().any(|(name, ..)| *name == one.item),
        _ => file.source.code.contains(one.item.rsplit("::").next().unwrap_or(one.item)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Exception] =
        &[Exception { rule: LONG_FUNCTION, path: "a.rs", item: "a", reason: "a table" }];

    #[test]
    fn an_exception_is_for_one_item_of_one_file() {
        assert_eq!(find(TABLE, LONG_FUNCTION, "a.rs", "a"), Some("a table"));
        assert_eq!(find(TABLE, LONG_FUNCTION, "b.rs", "a"), None);
        assert_eq!(find(TABLE, FORBIDDEN_PATH, "a.rs", "a"), None);
    }

    #[test]
    fn an_exception_that_nothing_needs_is_found() {
        let long = format!("fn a() {{\n{}}}\n", "b();\n".repeat(80));
        assert_eq!(stale(TABLE, &Repo::of(&[("a.rs", &long)])), []);
        assert_eq!(stale(TABLE, &Repo::of(&[("a.rs", "fn a() {}\n")])).len(), 1);
        assert_eq!(stale(TABLE, &Repo::of(&[])), []);
        assert_eq!(stale(TABLE, &Repo::of(&[("README.md", "")])).len(), 1);
    }
}
