//! Which file a workflow's name means, and what is said of files that cannot be read.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use chronicle_core::definition::workflow::FILE_MAX;
use chronicle_runtime::for_tests::discover::{self, DiscoverError};
use chronicle_runtime::handle::Project;

/// Says in the child of `the_users_workflows_come_after_the_projects` where its project is.
const CHILD: &str = "CHRONICLE_TEST_DISCOVER_PROJECT";

fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Project) {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::at(folder.path());
    let workflows = project.definitions().join("workflows");
    fs::create_dir_all(&workflows).unwrap();
    for (name, text) in files {
        write(&workflows.join(name), text);
    }
    (folder, project)
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn named(name: &str) -> String {
    format!("{{name: {name}, phases: {{plan: {{}}}}}}")
}

/// The key and the name of the workflow that is found.
fn found(project: &Project, name: &str) -> (String, String) {
    let loaded = discover::workflow(project, name).unwrap();
    assert!(loaded.is_usable(), "{:?}", loaded.problems);
    (loaded.workflows[0].key.clone(), loaded.workflows[0].name.clone())
}

fn pair(key: &str, name: &str) -> (String, String) {
    (key.to_owned(), name.to_owned())
}

#[test]
fn of_several_files_of_one_name_the_first_ending_counts() {
    let names = ["zz.yaml", "zz.yml", "zz.json", "zz/workflow.yaml"];
    let texts = ["A", "B", "C", "D"].map(named);
    let json = r#"{"name": "C", "phases": {"plan": {}}}"#;
    let files = [&*texts[0], &*texts[1], json, &*texts[3]];
    let files: Vec<(&str, &str)> = names.into_iter().zip(files).collect();
    let (_folder, project) = project(&files);
    for (name, expected) in names.into_iter().zip(["A", "B", "C", "D"]) {
        assert_eq!(found(&project, "zz"), pair("zz", expected));
        fs::remove_file(project.definitions().join("workflows").join(name)).unwrap();
    }
    assert!(matches!(discover::workflow(&project, "zz"), Err(DiscoverError::Unknown { .. })));
}

#[test]
fn a_path_names_its_file_or_folder_and_the_key_comes_from_it() {
    let (folder, project) = project(&[]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    write(&folder.path().join("flows/one.v2.yaml"), &named("One"));
    write(&folder.path().join("flows/two.v2/workflow.yaml"), &named("Two"));
    assert_eq!(found(&project, &path("flows/one.v2.yaml")), pair("one.v2", "One"));
    assert_eq!(found(&project, &path("flows/two.v2")), pair("two.v2", "Two"));
    assert_eq!(found(&project, &path("flows/two.v2/workflow.yaml")), pair("two.v2", "Two"));
}

#[test]
fn a_key_with_a_dot_stays_whole() {
    let (_folder, project) = project(&[
        ("zz.v2.yaml", &named("File")),
        ("yy.v2/workflow.yaml", &named("Folder")),
        ("workflow.yaml", &named("Plain")),
    ]);
    assert_eq!(found(&project, "zz.v2"), pair("zz.v2", "File"));
    assert_eq!(found(&project, "yy.v2"), pair("yy.v2", "Folder"));
    assert_eq!(found(&project, "workflow"), pair("workflow", "Plain"));
    let known = discover::known(&project);
    for name in ["zz.v2", "yy.v2", "workflow"] {
        assert!(known.contains(&name.to_owned()), "`{name}` is not in {known:?}");
        assert_eq!(found(&project, name).0, name, "what is listed can be run");
    }
}

#[test]
fn what_is_no_workflow_is_not_listed_and_a_folder_named_like_one_is_broken() {
    let (_folder, project) =
        project(&[("zz.yaml", &named("Z")), (".zz-hidden.yaml", "x"), ("zz.md", "x")]);
    let folder = project.definitions().join("workflows/zz-empty.yaml");
    fs::create_dir(folder).unwrap();
    let known = discover::known(&project);
    let ours: Vec<&String> = known.iter().filter(|name| name.contains("zz")).collect();
    assert_eq!(ours, ["zz", "zz-empty"]);
    assert!(!discover::workflow(&project, "zz-empty").unwrap().is_usable());
}

#[test]
fn a_name_that_nothing_has_is_told_with_those_there_are() {
    let (_folder, project) = project(&[("zz-build.yaml", &named("Z"))]);
    let error = discover::workflow(&project, "zz-bild").unwrap_err();
    let begin = format!("no workflow `zz-bild` in `{}/.chronicle", project.root().display());
    assert!(error.to_string().starts_with(&begin), "{error}");
    let DiscoverError::Unknown { known, .. } = error else { panic!("{error}") };
    assert!(known.contains(&"zz-build".to_owned()), "{known:?}");
}

#[test]
fn a_name_that_may_be_in_a_broken_chain_file_is_told_with_that_file() {
    for ending in ["yaml", "yml"] {
        let (_folder, project) = project(&[]);
        let file = project.root().join("agents").join(format!("agent-chain.{ending}"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "zz-ship: {steps: [\n").unwrap();
        let error = discover::workflow(&project, "zz-ship").unwrap_err().to_string();
        assert!(error.contains("; it may be in `"), "{error}");
        assert!(error.contains(&format!("agent-chain.{ending}`, which cannot be read")), "{error}");
    }
}

#[test]
fn chains_of_one_name_are_refused() {
    let step = "{agent: a, prompt: go}";
    let in_lines = "zz-twice:\n  steps:\n    - agent: a\n      prompt: go\n";
    for text in [
        format!(
            "chains: [{{name: zz-twice, steps: [{step}]}}, {{name: zz-twice, steps: [{step}]}}]"
        ),
        format!("{in_lines}{in_lines}"),
    ] {
        let (_folder, project) = project(&[]);
        fs::create_dir_all(project.root().join("agents")).unwrap();
        fs::write(project.root().join("agents/agent-chain.yaml"), &text).unwrap();
        let loaded = discover::workflow(&project, "zz-twice").unwrap();
        let codes: Vec<&str> = loaded.problems.iter().map(|problem| problem.code).collect();
        assert!(codes.contains(&"duplicate-id") && !loaded.is_usable(), "{text}: {codes:?}");
    }
}

#[test]
fn a_key_is_never_a_way_out_of_the_folder() {
    let outside = named("Outside");
    let (_folder, project) = project(&[("../zz-secret.yaml", &outside), (".zz.yaml", &outside)]);
    for key in ["..", ".", "", ".zz", "..\\zz-secret", "zz\0"] {
        let error = discover::workflow(&project, key).unwrap_err();
        assert!(matches!(error, DiscoverError::Unknown { .. }), "{key:?}: {error}");
    }
    // A workflow inside another one is a key, never a path.
    for key in ["../zz-secret", "../zz-secret.yaml", "/etc/passwd", "a/../../zz-secret"] {
        let outer = format!("{{name: O, phases: {{in: {{run: workflow, workflow: '{key}'}}}}}}");
        write(&project.definitions().join("workflows/zz-outer.yaml"), &outer);
        let loaded = discover::workflow(&project, "zz-outer").unwrap();
        assert!(!loaded.is_usable(), "{key}");
        assert_eq!(loaded.sources.len(), 1, "{key} was read");
    }
}

#[test]
fn an_inner_workflow_that_cannot_be_read_is_said_so_and_not_called_missing() {
    let outer = "{name: O, phases: {in: {run: workflow, workflow: zz-inner}}}";
    let (_folder, project) = project(&[("zz-outer.yaml", outer)]);
    let inner = project.definitions().join("workflows/zz-inner.yaml");

    let missing = discover::workflow(&project, "zz-outer").unwrap();
    let codes: Vec<&str> = missing.problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, ["workflow-not-found"]);

    fs::write(&inner, b"name: \xff").unwrap();
    let loaded = discover::workflow(&project, "zz-outer").unwrap();
    let told = "not text in UTF-8: byte 6 is none (hint: save it as UTF-8)";
    let expected = format!("error[not-text] {}: {told}", inner.display());
    let problems: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    assert!(problems[0].contains("`zz-inner` cannot run: it has errors"), "{problems:?}");
    assert_eq!(problems[1..], [expected]);

    fs::write(&inner, named("I")).unwrap();
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser reads it all the same.
    if fs::read(&inner).is_ok() {
        assert_eq!(found(&project, "zz-outer"), pair("zz-outer", "O"));
    } else {
        let loaded = discover::workflow(&project, "zz-outer").unwrap();
        let codes: Vec<&str> = loaded.problems.iter().map(|problem| problem.code).collect();
        assert_eq!(codes, ["broken-workflow", "permission-denied"]);
    }
}

#[test]
fn a_file_that_is_too_large_is_a_problem_in_it_even_when_cut_inside_a_letter() {
    let text = format!("name: {}", "é".repeat(FILE_MAX / 2 + 1));
    assert!(text.len() > FILE_MAX && !text.is_char_boundary(FILE_MAX + 1));
    let (_folder, project) = project(&[("zz.yaml", &text)]);
    let loaded = discover::workflow(&project, "zz").unwrap();
    assert!(!loaded.is_usable());
    assert!(loaded.problems[0].to_string().contains("large"), "{}", loaded.problems[0]);
}

/// Runs itself once more with another home: an environment cannot be changed for one test alone.
#[test]
fn the_users_workflows_come_after_the_projects() {
    if let Some(root) = std::env::var_os(CHILD) {
        let project = Project::at(root);
        assert_eq!(found(&project, "zz-both").1, "Project");
        assert_eq!(found(&project, "zz-mine").1, "User");
        assert_eq!(
            discover::known(&project),
            ["bugfix", "feature", "review", "zz-both", "zz-mine"]
        );
        return;
    }
    let (folder, _project) = project(&[("zz-both.yaml", &named("Project"))]);
    let config = folder.path().join("home/.config");
    write(&config.join("chronicle/workflows/zz-both.yaml"), &named("User"));
    write(&config.join("chronicle/workflows/zz-mine/workflow.yaml"), &named("User"));
    for (name, value) in [("XDG_CONFIG_HOME", config.clone()), ("HOME", folder.path().join("home"))]
    {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "discover::the_users_workflows_come_after_the_projects"])
            .env_remove("XDG_CONFIG_HOME")
            .env(name, value)
            .env(CHILD, folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "by {name}: {said}");
    }
}
