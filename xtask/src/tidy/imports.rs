//! Which folder may name what: the arrows of the architecture, as a table.

use super::exceptions::{FORBIDDEN_PATH, excepted};
use super::{File, Finding, Repo, missing};
use crate::code::paths::{named, resolved};
use crate::code::source::line_of;

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
        paths: &["std::process::Command", "process::Command", "std::process::*", "std::*"],
        inside: &[RUNTIME, BINARY],
        except: &[PROCESS],
        fix: "only process/ starts programs: go through it, so that a keeper holds them",
    },
    Rule {
        paths: &["std::process", "std::fs", "std::thread", "std::net", "std::*"],
        inside: &[AGENTS],
        except: &[],
        fix: "an adapter only translates: let process/ and effects/ do the work",
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

/// Rules about paths that nobody names at all: they promise what they do not hold.
pub(super) fn idle_rules(repo: &Repo) -> Vec<Finding> {
    let is_held = |rule: &Rule| {
        let codes = || repo.under("crates/").map(|file| &file.source.code);
        rule.paths.iter().any(|path| codes().any(|code| !lines_naming(code, path).is_empty()))
    };
    let idle = RULES.iter().filter(|rule| repo.is_whole() && !is_held(rule));
    idle.map(|rule| {
        let what = format!("nobody names `{}`, which a rule is about", rule.paths.join("`, `"));
        Finding::new("xtask/src/tidy/imports.rs", 1, what, "take the rule out")
    })
    .collect()
}

/// Faces know one module of the runtime: its handle.
pub(super) fn faces_use_the_handle(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.under(BINARY) {
        let code = file.product_code();
        let named = named(&code).into_iter().filter(|it| it.is_below("chronicle_runtime"));
        for named in named.filter(|it| !it.is_below("chronicle_runtime::handle")) {
            let what = format!("names `{}`", named.path);
            let fix = "faces use the handle alone: let it offer what is needed";
            findings.push(Finding::new(&file.path, line_of(&code, named.at), what, fix));
        }
    }
    findings
}

/// Adapters know nothing of their crate but one another: the rest of it starts, reads and waits.
pub(super) fn adapters_stand_alone(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.under(AGENTS) {
        let code = file.product_code();
        // From `agents/a/b.rs`, which is the module `agents::a::b`, two `super` lead to `agents` and a third one out of it.
        let module = file.path[AGENTS.len()..].trim_end_matches(".rs").split('/');
        let depth = module.filter(|part| *part != "mod").count();
        for named in resolved(&code) {
            let ups = named.path.split("::").take_while(|part| *part == "super").count();
            let is_outside = named.is_below("crate") && !named.is_below("crate::agents");
            if is_outside || ups > depth {
                let what = format!("names `{}`", named.path);
                let fix = "an adapter only translates: let process/ and effects/ do the work";
                findings.push(Finding::new(&file.path, line_of(&code, named.at), what, fix));
            }
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
    let below = resolved(code).into_iter().filter(|named| named.is_below(path));
    let mut lines: Vec<usize> = below.map(|named| line_of(code, named.at)).collect();
    lines.dedup();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        let findings = forbidden_paths(&Repo::of(&[(path, text)]));
        findings.into_iter().map(|finding| finding.line).collect()
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
    fn another_name_hides_nothing() {
        let path = "crates/chronicle-runtime/src/effects/timer.rs";
        let text = "use std::process as p;\nfn a() { p::Command::new(b) }\n";
        assert_eq!(found(path, text), [2]);
        assert_eq!(found(path, "use std as s;\nfn a() { s::process::Command::new(b) }\n"), [2]);
        assert_eq!(found(path, "use std::process::{self as p, Command as C};\n"), [1]);
        assert_eq!(found(path, "use crate::process as p;\nfn a() { p::start(b) }\n"), []);
        let path = "crates/chronicle-runtime/src/agents/pi.rs";
        assert_eq!(found(path, "use std as s;\nfn a() { s::fs::read(b) }\n"), [2]);
    }

    #[test]
    fn adapters_know_only_one_another() {
        let found = |path: &str, text| {
            let path = format!("crates/chronicle-runtime/src/agents/{path}");
            let findings = adapters_stand_alone(&Repo::of(&[(path.as_str(), text)]));
            findings.into_iter().map(|finding| finding.line).collect::<Vec<_>>()
        };
        let text = "use crate::{process::start, threads::spawn, regular};\n";
        assert_eq!(found("pi.rs", text), [1, 1, 1]);
        assert_eq!(found("pi.rs", "use crate as c;\nfn a() { c::process::start(b) }\n"), [1, 2]);
        assert_eq!(found("pi.rs", "use super::Seen;\nuse super::super::process;\n"), [2]);
        assert_eq!(found("mod.rs", "use super::process;\n"), [1]);
        assert_eq!(
            found("pi/reading.rs", "use super::super::Seen;\nuse crate::agents::call;\n"),
            []
        );
        assert_eq!(found("pi.rs", "#[cfg(test)]\nmod tests {\n    use crate::process;\n}\n"), []);
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
    fn a_rule_about_what_nobody_names_is_found() {
        let all = "use std::process::Command;\nuse std::fs;\nuse clap::Parser;\n";
        let found =
            |text| idle_rules(&Repo::of(&[("README.md", ""), ("crates/a/src/b.rs", text)])).len();
        assert_eq!(found(all), 0);
        assert_eq!(found("use std::process::Command;\nuse std::fs;\n"), 1);
        assert!(idle_rules(&Repo::of(&[])).is_empty());
    }

    #[test]
    fn faces_know_the_handle_alone() {
        let found = |path, text| {
            let findings = faces_use_the_handle(&Repo::of(&[(path, text)]));
            findings.into_iter().map(|finding| finding.line).collect::<Vec<_>>()
        };
        let text = "use chronicle_runtime::handle::{self, Run};\nuse chronicle_runtime::{fail, handle, process};\n\
            fn a() { chronicle_runtime::project::find() }\n#[cfg(test)]\nmod tests {\n    use chronicle_runtime::link;\n}\n";
        assert_eq!(found("crates/chronicle/src/cli/run.rs", text), [2, 2, 3]);
        assert_eq!(
            found("crates/chronicle/src/main.rs", "use chronicle_runtime as runtime;\n"),
            [1]
        );
        assert_eq!(found("crates/chronicle-runtime/tests/it/main.rs", text), []);
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
