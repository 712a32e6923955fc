//! Which folder may name what: the arrows of the architecture, as a table.

use super::exceptions::{FORBIDDEN_PATH, excepted};
use super::source::{find_words, is_name, line_of};
use super::{File, Finding, Repo, missing};

const RUNTIME: &str = "crates/chronicle-runtime/src/";
const BINARY: &str = "crates/chronicle/src/";
const LEDGER: &str = "crates/chronicle-runtime/src/ledger/";
const PROCESS: &str = "crates/chronicle-runtime/src/process/";
const AGENTS: &str = "crates/chronicle-runtime/src/agents/";

/// Paths that only some folders may name.
struct Rule {
    paths: &'static [&'static str],
    /// Where the rule counts.
    inside: &'static [&'static str],
    /// Where it does not.
    except: &'static [&'static str],
    fix: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        paths: &["std::process::Command", "process::Command", "std::process::*", "tokio::process"],
        inside: &[RUNTIME, BINARY],
        except: &[PROCESS],
        fix: "only process/ starts programs: go through it, so that a keeper holds them",
    },
    Rule {
        paths: &["chronicle_runtime::for_tests"],
        inside: &[BINARY],
        except: &[],
        fix: "faces use the handle alone: give it what is missing",
    },
    Rule {
        paths: &["std::process", "std::fs", "std::thread", "tokio"],
        inside: &[AGENTS],
        except: &[],
        fix: "an adapter only translates: let process/ and effects/ do the work",
    },
    Rule {
        paths: &["ratatui"],
        inside: &["crates/"],
        except: &["crates/chronicle/src/tui/"],
        fix: "only tui/ knows ratatui",
    },
    Rule {
        paths: &["axum"],
        inside: &["crates/"],
        except: &["crates/chronicle/src/web/"],
        fix: "only web/ knows HTTP",
    },
    Rule {
        paths: &["rmcp"],
        inside: &["crates/"],
        except: &["crates/chronicle/src/mcp/"],
        fix: "only mcp/ knows MCP",
    },
    Rule {
        paths: &["clap", "clap_complete"],
        inside: &["crates/"],
        except: &["crates/chronicle/src/cli/"],
        fix: "only cli/ knows clap",
    },
];

/// Code that names what its folder may not. Tests may.
pub(super) fn forbidden_paths(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(missing(repo, PROCESS.trim_end_matches('/')));
    findings.extend(missing(repo, AGENTS.trim_end_matches('/')));
    for rule in RULES {
        let watched = rule.inside.iter().flat_map(|folder| repo.under(folder));
        let is_free = |file: &&File| rule.except.iter().any(|free| file.path.starts_with(free));
        for file in watched.filter(|file| !is_free(file)) {
            findings.extend(broken(rule, file));
        }
    }
    findings
}

fn broken(rule: &Rule, file: &File) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for path in rule.paths {
        for line in lines_naming(&file.source.code, path) {
            let is_known = findings.iter().any(|finding| finding.line == line);
            if is_known || file.is_test_line(line) {
                continue;
            }
            let what = format!("names `{path}`");
            findings.push(match excepted(FORBIDDEN_PATH, &file.path, path) {
                Some(reason) => Finding::new(&file.path, line, what, reason).note(),
                None => Finding::new(&file.path, line, what, rule.fix),
            });
        }
    }
    findings
}

/// The name of the ledger's file, as a text in code.
pub(super) fn ledger_file_name(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(missing(repo, LEDGER.trim_end_matches('/')));
    for file in repo.under("crates/").filter(|file| !file.path.starts_with(LEDGER)) {
        for (at, _) in file.source.said.match_indices("ledger.jsonl") {
            let line = line_of(&file.source.said, at);
            if !file.is_test_line(line) {
                let fix = "only ledger/ opens ledger files: ask it";
                findings.push(Finding::new(&file.path, line, "names `ledger.jsonl`", fix));
            }
        }
    }
    findings
}

/// Lines that name a path, in a `use` or in place.
fn lines_naming(code: &str, path: &str) -> Vec<usize> {
    let is_below = |used: &str| {
        let rest = used.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    let mut lines = Vec::new();
    lines.extend(uses(code).into_iter().filter(|(_, used)| is_below(used)).map(|(line, _)| line));
    let is_whole = |at: &usize| !code[..*at].ends_with(':');
    lines.extend(find_words(code, path).filter(is_whole).map(|at| line_of(code, at)));
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Every path that a `use` brings in, groups written out.
pub(super) fn uses(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for at in find_words(code, "use") {
        let after = &code[at + 3..];
        let Some(end) = after.find(';').filter(|_| after.starts_with(char::is_whitespace)) else {
            continue;
        };
        let mut paths = Vec::new();
        write_out("", &after[..end], &mut paths);
        let line = line_of(code, at);
        found.extend(paths.into_iter().map(|path| (line, path)));
    }
    found
}

fn write_out(before: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    if let Some((head, group)) = tree.split_once('{') {
        let group = group.rsplit_once('}').map_or(group, |(group, _)| group);
        let before = format!("{before}{}", head.trim());
        for branch in branches(group) {
            write_out(&before, branch, paths);
        }
    } else if !tree.is_empty() {
        let name = tree.bytes().take_while(|byte| is_name(*byte) || b":*".contains(byte)).count();
        let path = format!("{before}{}", &tree[..name]);
        paths.push(path.trim_start_matches("::").trim_end_matches("::self").to_owned());
    }
}

/// Splits a group at its own commas.
fn branches(group: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let is_own_comma = |byte: char| {
        depth += i32::from(byte == '{') - i32::from(byte == '}');
        byte == ',' && depth == 0
    };
    group.split(is_own_comma).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        let findings = forbidden_paths(&Repo::of(&[(path, text)]));
        findings.into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn groups_are_written_out() {
        let paths: Vec<_> =
            uses("use std::{fs::{self, File as F}, io};\nuse ::a::*;").into_iter().collect();
        let expected = [(1, "std::fs"), (1, "std::fs::File"), (1, "std::io"), (2, "a::*")];
        assert_eq!(paths, expected.map(|(line, path)| (line, path.to_owned())));
    }

    #[test]
    fn programs_are_started_in_one_folder() {
        let text = "use std::process::{Command, Stdio};\n";
        assert_eq!(found("crates/chronicle-runtime/src/effects/verify.rs", text), [1]);
        assert_eq!(found("crates/chronicle/src/cli/run.rs", text), [1]);
        assert_eq!(found("crates/chronicle-runtime/src/process/spawn.rs", text), []);
        assert_eq!(found("crates/chronicle-runtime/tests/it/main.rs", text), []);
        assert_eq!(found("crates/chronicle/src/cli/run.rs", "use std::process::ExitCode;\n"), []);
    }

    #[test]
    fn paths_in_place_are_found() {
        let path = "crates/chronicle-runtime/src/driver.rs";
        assert_eq!(found(path, "use std::process;\nfn a() { process::Command::new(b) }\n"), [2]);
        assert_eq!(found(path, "use chronicle_core::input::Command;\nfn a(b: Command) {}\n"), []);
    }

    #[test]
    fn adapters_read_nothing() {
        let path = "crates/chronicle-runtime/src/agents/claude.rs";
        let tests = "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        assert_eq!(found(path, &format!("use std::{{fmt, fs}};\n{tests}")), [1]);
        assert_eq!(found(path, "// std::fs is not for us\nuse std::fmt;\n"), []);
    }

    #[test]
    fn one_folder_knows_clap() {
        assert_eq!(found("crates/chronicle/src/main.rs", "use clap::Parser;\n"), [1]);
        assert_eq!(found("crates/chronicle/src/cli/mod.rs", "use clap::Parser;\n"), []);
    }

    #[test]
    fn one_folder_knows_the_ledgers_file() {
        let found = |path, text| ledger_file_name(&Repo::of(&[(path, text)])).len();
        let text = "const NAME: &str = \"ledger.jsonl\"; // ledger.jsonl\n";
        assert_eq!(found("crates/chronicle/src/cli/log.rs", text), 1);
        assert_eq!(found("crates/chronicle-runtime/src/ledger/folder.rs", text), 0);
        assert_eq!(found("crates/chronicle/src/cli/log.rs", "// ledger.jsonl\n"), 0);
    }
}
