//! Which commands are found for which build files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::fs;

use chronicle_runtime::for_tests::discover::verify_commands;

/// The commands for a project of these files.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    verify_commands(folder.path()).into_iter().map(|one| one.command).collect()
}

#[test]
fn each_language_has_its_own() {
    let none: [&str; 0] = [];
    assert_eq!(found(&[]), none);
    assert_eq!(found(&[("Cargo.toml", "[package]\n")]), ["cargo test"]);
    assert_eq!(found(&[("Cargo.toml", "[workspace]\n")]), ["cargo test --workspace"]);
    assert_eq!(found(&[("go.mod", "module x\n")]), ["go vet ./...", "go test ./..."]);
    assert_eq!(found(&[("pom.xml", "")]), ["mvn -q verify"]);
    assert_eq!(found(&[("pom.xml", ""), ("mvnw", "")]), ["./mvnw -q verify"]);
    assert_eq!(found(&[("build.gradle.kts", ""), ("gradlew", "")]), ["./gradlew check"]);
    assert_eq!(found(&[("mix.exs", "")]), ["mix test"]);
}

#[test]
fn python_only_where_pytest_is_meant() {
    assert_eq!(found(&[("pyproject.toml", "[project]\nname = 'x'\n")]), Vec::<String>::new());
    let pytest = ("pyproject.toml", "[tool.pytest.ini_options]\n");
    assert_eq!(found(&[pytest]), ["python3 -m pytest"]);
    assert_eq!(found(&[pytest, ("uv.lock", "")]), ["uv run pytest"]);
    assert_eq!(found(&[pytest, ("poetry.lock", "")]), ["poetry run pytest"]);
}

#[test]
fn node_by_its_scripts_and_its_package_manager() {
    let scripts = r#"{"scripts": {"test": "vitest", "typecheck": "tsc", "build": "vite build"}}"#;
    assert_eq!(found(&[("package.json", scripts)]), ["npm run typecheck", "npm test"]);
    let with = |lock| found(&[("package.json", scripts), (lock, "")]);
    assert_eq!(with("pnpm-lock.yaml"), ["pnpm run typecheck", "pnpm test"]);
    assert_eq!(with("yarn.lock"), ["yarn run typecheck", "yarn test"]);
    assert_eq!(with("bun.lock"), ["bun run typecheck", "bun run test"]);
    let said = r#"{"packageManager": "pnpm@9.1.0", "scripts": {"test": "x"}}"#;
    assert_eq!(found(&[("package.json", said)]), ["pnpm test"]);
}

#[test]
fn what_npm_init_wrote_is_no_test() {
    let fresh = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    assert_eq!(found(&[("package.json", fresh)]), Vec::<String>::new());
    let built =
        r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1", "build": "tsc"}}"#;
    assert_eq!(found(&[("package.json", built)]), ["npm run build"]);
    assert_eq!(found(&[("package.json", "{")]), Vec::<String>::new());
}

#[test]
fn the_projects_own_recipes_have_the_first_word() {
    let cargo = ("Cargo.toml", "[package]\n");
    assert_eq!(
        found(&[cargo, ("Makefile", "all: build\n\ntest: all\n\tcargo test\n")]),
        ["make test"]
    );
    assert_eq!(found(&[cargo, ("Makefile", "check:\n\ntest:\n")]), ["make check"]);
    assert_eq!(found(&[cargo, ("justfile", "test *args:\n  cargo test\n")]), ["just test"]);
    for text in
        ["test := 1\n", "test = 1\n", "testing: x\n", "\ttest: x\n", "# test: x\n", "run: test\n"]
    {
        assert_eq!(found(&[cargo, ("Makefile", text)]), ["cargo test"], "{text}");
    }
}

#[test]
fn several_languages_add_up() {
    let files = [("Cargo.toml", "[package]\n"), ("package.json", r#"{"scripts": {"test": "x"}}"#)];
    assert_eq!(found(&files), ["cargo test", "npm test"]);
}

#[test]
fn linters_are_run_where_somebody_configured_them() {
    let lints = ("Cargo.toml", "[workspace]\n[workspace.lints.clippy]\nall = 'warn'\n");
    let workspace = ["cargo clippy --workspace --all-targets", "cargo test --workspace"];
    assert_eq!(found(&[lints]), workspace);
    let alone = found(&[("Cargo.toml", "[package]\n"), ("clippy.toml", "")]);
    assert_eq!(alone, ["cargo clippy --all-targets", "cargo test"]);
    let scripts = r#"{"scripts": {"test": "x", "lint": "eslint ."}}"#;
    assert_eq!(found(&[("package.json", scripts)]), ["npm run lint", "npm test"]);
    let ruff = ("pyproject.toml", "[tool.ruff]\n[tool.pytest.ini_options]\n");
    assert_eq!(found(&[ruff]), ["python3 -m ruff check", "python3 -m pytest"]);
    assert_eq!(found(&[ruff, ("uv.lock", "")]), ["uv run ruff check", "uv run pytest"]);
}

#[test]
fn projects_inside_are_checked_unless_a_workspace_above_does_it() {
    let build = ("package.json", r#"{"scripts": {"build": "x"}}"#);
    let test = r#"{"scripts": {"test": "x", "lint": "y"}}"#;
    let crates = [build, ("core/Cargo.toml", "[package]\n"), ("apps/web/package.json", test)];
    assert_eq!(
        found(&crates),
        [
            "npm run build",
            "cd core && cargo test",
            "cd apps/web && npm run lint",
            "cd apps/web && npm test",
        ]
    );
    let members = [("Cargo.toml", "[workspace]\n"), ("a/Cargo.toml", "[package]\n")];
    assert_eq!(found(&members), ["cargo test --workspace"]);
    let modules = [("go.mod", "module x\n"), ("tool/go.mod", "module y\n")];
    assert_eq!(found(&modules).len(), 4, "each module of Go by itself");
    let own = [build, ("tool/Makefile", "check:\n"), ("tool/Cargo.toml", "[package]\n")];
    assert_eq!(found(&own), ["npm run build", "cd tool && make check"]);
}

#[test]
fn what_was_brought_or_made_is_no_project_of_ones_own() {
    let test = r#"{"scripts": {"test": "x"}}"#;
    for folder in ["node_modules/a", "vendor/a", "target/package", ".hidden", "a/b/c/d", "examples"]
    {
        let name = format!("{folder}/package.json");
        assert_eq!(found(&[(name.as_str(), test)]), Vec::<String>::new(), "{folder}");
    }
    let odd = found(&[("my app's/package.json", test)]);
    assert_eq!(odd, [r"cd 'my app'\''s' && npm test"]);
}

#[test]
fn a_root_that_only_builds_leaves_the_checks_to_its_members() {
    let root = r#"{"workspaces": ["packages/*"], "scripts": {"build": "turbo build"}}"#;
    let member = r#"{"scripts": {"test": "vitest", "lint": "eslint ."}}"#;
    let files = [("package.json", root), ("packages/a/package.json", member)];
    assert_eq!(
        found(&files),
        ["npm run build", "cd packages/a && npm run lint", "cd packages/a && npm test"]
    );
    let tests =
        r#"{"workspaces": ["packages/*"], "scripts": {"build": "x", "test": "turbo test"}}"#;
    assert_eq!(
        found(&[("package.json", tests), ("packages/a/package.json", member)]),
        ["npm test"]
    );
}

#[test]
fn makefiles_lint_and_test() {
    let both = "all:\n\ttrue\nlint:\n\ttrue\ntest: all\n\ttrue\n";
    assert_eq!(found(&[("Makefile", both)]), ["make lint", "make test"]);
    assert_eq!(found(&[("Makefile", &format!("{both}check: lint test\n"))]), ["make check"]);
    let lint = ("Makefile", "lint:\n\ttrue\n");
    assert_eq!(found(&[lint, ("go.mod", "")]), ["make lint", "go vet ./...", "go test ./..."]);
}

#[test]
fn clippy_where_somebody_uses_it() {
    let cargo = ("Cargo.toml", "[package]\n");
    let with = ["cargo clippy --all-targets", "cargo test"];
    assert_eq!(found(&[cargo, ("src/lib.rs", "#![warn(clippy::all)]\n")]), with);
    assert_eq!(found(&[cargo, ("rust-toolchain.toml", "components = [\"clippy\"]\n")]), with);
    assert_eq!(found(&[cargo, (".github/workflows/ci.yml", "- run: cargo clippy\n")]), with);
    assert_eq!(found(&[cargo, ("src/lib.rs", "fn a() {}\n")]), ["cargo test"]);
}
