//! Finds a project's test commands from its build files. Nothing is run.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::regular::{self, Links};

const PYPROJECT: &str = "pyproject.toml";
/// How much of a build file is looked at.
const BUILD_FILE_MAX: u64 = 1024 * 1024;
/// The files that configure clippy.
const CLIPPY: &[&str] = &["clippy.toml", ".clippy.toml"];
/// Files that may ask for clippy as a part of the toolchain.
const TOOLCHAINS: &[&str] = &["rust-toolchain.toml", "rust-toolchain"];
/// Files whose attributes may configure clippy.
const CRATE_ROOTS: &[&str] = &["src/lib.rs", "src/main.rs"];
/// The folder of workflows for GitHub.
const ACTIONS: &str = ".github/workflows";
/// Most of those workflows that are looked at.
const ACTIONS_MAX: usize = 20;
/// What `npm init` writes if there are no tests.
const NO_TESTS: &str = "no test specified";

/// A command that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyCommand {
    /// The command, to be run in the project's folder.
    pub command: String,
    /// The file that suggested it.
    pub from: String,
}

/// How to check projects of one language.
pub(super) struct Language {
    /// Finds the commands for one folder.
    pub(super) find: fn(&Path) -> Vec<VerifyCommand>,
    /// True if they also check the projects below that folder.
    pub(super) is_workspace: fn(&Path) -> bool,
}

/// All languages, in the order in which they are tried.
pub(super) const LANGUAGES: [Language; 7] = [
    Language { find: cargo, is_workspace: is_cargo_workspace },
    Language { find: node, is_workspace: is_node_workspace },
    // Every module of Go is checked by itself.
    Language { find: go, is_workspace: |_| false },
    Language { find: python, is_workspace: |_| true },
    Language { find: gradle, is_workspace: |_| true },
    Language { find: maven, is_workspace: |_| true },
    Language { find: others, is_workspace: |_| true },
];

/// The project's own recipes, and whether they test. Those that do come alone: whoever wrote `make test` meant it.
pub(super) fn recipes(folder: &Path) -> (Vec<VerifyCommand>, bool) {
    let tests = |all: &[VerifyCommand]| all.iter().any(|it| !it.command.ends_with(" lint"));
    let all = just(folder).or_else(|| make(folder)).unwrap_or_default();
    let is_tested = tests(&all);
    (all, is_tested)
}

fn found(from: &str, commands: &[&str]) -> Vec<VerifyCommand> {
    let one =
        |command: &&str| VerifyCommand { command: (*command).to_owned(), from: from.to_owned() };
    commands.iter().map(one).collect()
}

fn text_of(root: &Path, name: &str) -> Option<String> {
    let mut bytes = Vec::new();
    // Links are followed, as build tools do; pipes are not opened, which would block.
    let file = regular::open(&root.join(name), File::options().read(true), Links::Followed).ok()?;
    file.take(BUILD_FILE_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn has(root: &Path, name: &str) -> bool {
    root.join(name).is_file()
}

fn first_of<'n>(root: &Path, names: &[&'n str]) -> Option<&'n str> {
    names.iter().copied().find(|name| has(root, name))
}

fn just(root: &Path) -> Option<Vec<VerifyCommand>> {
    let file = first_of(root, &["justfile", "Justfile", ".justfile"])?;
    recipes_of(&text_of(root, file)?, file, "just")
}

fn make(root: &Path) -> Option<Vec<VerifyCommand>> {
    let file = first_of(root, &["GNUmakefile", "makefile", "Makefile"])?;
    recipes_of(&text_of(root, file)?, file, "make")
}

/// The recipes that check, in a file whose recipes are `name …: …`. `check` is taken to be all of them.
fn recipes_of(text: &str, file: &str, program: &str) -> Option<Vec<VerifyCommand>> {
    let is_recipe = |line: &str, wanted: &str| {
        let Some(rest) = line.strip_prefix('@').unwrap_or(line).strip_prefix(wanted) else {
            return false;
        };
        let Some((between, after)) = rest.split_once(':') else { return false };
        // `check:` or `check arg:` is a recipe; `checks:`, `check := x` and `check = x` are not.
        (between.is_empty() || between.starts_with(' '))
            && !between.contains('=')
            && !after.starts_with('=')
    };
    let has = |wanted: &&str| text.lines().any(|line| is_recipe(line, wanted));
    // `check` usually runs lint and tests itself: naming those too would run them twice.
    let names: Vec<&str> = match Some("check").filter(has) {
        Some(check) => vec![check],
        None => ["lint", "test"].into_iter().filter(has).collect(),
    };
    let commands: Vec<String> = names.iter().map(|name| format!("{program} {name}")).collect();
    let commands = found(file, &commands.iter().map(String::as_str).collect::<Vec<_>>());
    Some(commands).filter(|commands| !commands.is_empty())
}

fn cargo(root: &Path) -> Vec<VerifyCommand> {
    let Some(text) = text_of(root, "Cargo.toml") else { return Vec::new() };
    let all = if is_cargo_workspace(root) { " --workspace" } else { "" };
    let lint = format!("cargo clippy{all} --all-targets");
    let run = format!("cargo test{all}");
    let lint = uses_clippy(root, &text).then_some(lint.as_str());
    found("Cargo.toml", &lint.into_iter().chain([run.as_str()]).collect::<Vec<_>>())
}

/// True if somebody uses clippy here. It may not be installed, and elsewhere its findings are nobody's concern.
fn uses_clippy(root: &Path, manifest: &str) -> bool {
    let says = |file: &&str, word: &str| text_of(root, file).is_some_and(|it| it.contains(word));
    manifest.contains("lints.clippy")
        || first_of(root, CLIPPY).is_some()
        || TOOLCHAINS.iter().any(|file| says(file, "clippy"))
        || CRATE_ROOTS.iter().any(|file| says(file, "clippy::"))
        || workflow_files(root).iter().any(|file| says(&file.as_str(), "clippy"))
}

/// The project's workflows for GitHub, relative to its root.
fn workflow_files(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root.join(ACTIONS)).into_iter().flatten().flatten();
    let names = entries.take(ACTIONS_MAX).filter_map(|entry| entry.file_name().into_string().ok());
    names.map(|name| format!("{ACTIONS}/{name}")).collect()
}

fn is_cargo_workspace(root: &Path) -> bool {
    let text = text_of(root, "Cargo.toml").unwrap_or_default();
    text.lines().any(|line| line.trim().starts_with("[workspace"))
}

/// A root that only builds checks nothing of its members.
fn is_node_workspace(root: &Path) -> bool {
    let says = || text_of(root, "package.json").is_some_and(|it| it.contains("\"workspaces\""));
    (has(root, "pnpm-workspace.yaml") || says())
        && node(root).iter().any(|one| !one.command.ends_with(" build"))
}

fn node(root: &Path) -> Vec<VerifyCommand> {
    let package =
        text_of(root, "package.json").and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(package) = package else { return Vec::new() };
    let manager = package_manager(root, &package);
    // A script that only says that there are no tests would pass or fail whatever the work is worth.
    let script =
        |name: &str| package["scripts"][name].as_str().filter(|said| !said.contains(NO_TESTS));
    let named = |names: &[&'static str]| names.iter().copied().find(|name| script(name).is_some());
    let types = named(&["typecheck", "type-check", "check-types", "tsc"]);
    let lint = named(&["lint"]);
    let tests = named(&["test", "test:unit"]);
    // Only where nothing else tells whether it is well.
    let others = [types, lint, tests];
    let build = named(&["build"]).filter(|_| others.iter().all(Option::is_none));
    let run = |name: &str| match name {
        "test" if manager != "bun" => format!("{manager} test"),
        name => format!("{manager} run {name}"),
    };
    let commands: Vec<String> = others.into_iter().chain([build]).flatten().map(run).collect();
    found("package.json", &commands.iter().map(String::as_str).collect::<Vec<_>>())
}

fn package_manager(root: &Path, package: &Value) -> &'static str {
    let said = package["packageManager"].as_str().unwrap_or_default();
    let managers = ["pnpm", "yarn", "bun", "npm"];
    if let Some(manager) = managers.into_iter().find(|name| said.starts_with(&format!("{name}@"))) {
        return manager;
    }
    let locks = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
    ];
    locks.into_iter().find(|(lock, _)| has(root, lock)).map_or("npm", |(_, manager)| manager)
}

fn go(root: &Path) -> Vec<VerifyCommand> {
    if has(root, "go.mod") {
        found("go.mod", &["go vet ./...", "go test ./..."])
    } else {
        Vec::new()
    }
}

fn python(root: &Path) -> Vec<VerifyCommand> {
    let says = |file: &&str| text_of(root, file).is_some_and(|text| text.contains("pytest"));
    let files = [
        "pytest.ini",
        PYPROJECT,
        "setup.cfg",
        "tox.ini",
        "requirements-dev.txt",
        "requirements.txt",
    ];
    let tests = files.into_iter().find(says);
    let ruff = first_of(root, &["ruff.toml", ".ruff.toml"]);
    let in_project = || text_of(root, PYPROJECT).filter(|text| text.contains("[tool.ruff"));
    let ruff = ruff.or_else(|| in_project().map(|_| PYPROJECT));
    let (with, module) = match first_of(root, &["uv.lock", "poetry.lock"]) {
        Some("uv.lock") => ("uv run ", ""),
        Some(_) => ("poetry run ", ""),
        // By module: the interpreter of an activated environment is on the path, its scripts may not be.
        None => ("", "python3 -m "),
    };
    let command = |from: &str, what: &str| found(from, &[&format!("{with}{module}{what}")]);
    let lint = ruff.map(|from| command(from, "ruff check"));
    lint.into_iter().chain(tests.map(|from| command(from, "pytest"))).flatten().collect()
}

fn gradle(root: &Path) -> Vec<VerifyCommand> {
    let Some(from) = first_of(
        root,
        &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
    ) else {
        return Vec::new();
    };
    found(from, &[if has(root, "gradlew") { "./gradlew check" } else { "gradle check" }])
}

fn maven(root: &Path) -> Vec<VerifyCommand> {
    if !has(root, "pom.xml") {
        return Vec::new();
    }
    found("pom.xml", &[if has(root, "mvnw") { "./mvnw -q verify" } else { "mvn -q verify" }])
}

/// Build systems whose file alone is enough.
fn others(root: &Path) -> Vec<VerifyCommand> {
    let known = [
        ("mix.exs", "mix test"),
        (".rspec", "bundle exec rspec"),
        ("deno.json", "deno test"),
        ("phpunit.xml", "vendor/bin/phpunit"),
        ("build.zig", "zig build test"),
        ("Package.swift", "swift test"),
    ];
    known
        .into_iter()
        .filter(|(file, _)| has(root, file))
        .flat_map(|(file, command)| found(file, &[command]))
        .collect()
}
