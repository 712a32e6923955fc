//! Where things are on disk: the project's root, its runs, and which run a person means.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::fs;

use chronicle_core::base::ids::{AttemptId, RunId};
use chronicle_runtime::for_tests::ledger::Folder;
use chronicle_runtime::handle::{FindError, Project, find_run, new_run, new_run_id};
use expect_test::expect;

/// A project with runs of these ids.
fn project(ids: &[&str]) -> (tempfile::TempDir, Project) {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::at(folder.path());
    for id in ids {
        new_run(&project, RunId::from(*id)).unwrap();
    }
    (folder, project)
}

#[test]
fn a_run_is_found_by_any_beginning_or_end_that_only_it_has() {
    let (_folder, project) = project(&["0199-aaaa-1111", "0199-bbbb-2222", "0200-aaaa-2222"]);
    let found = |text: &str| find_run(&project, text).map(|run| run.id.to_string());
    for (text, id) in [
        ("0199-a", "0199-aaaa-1111"),
        ("1111", "0199-aaaa-1111"),
        ("bbbb-2222", "0199-bbbb-2222"),
        ("0200", "0200-aaaa-2222"),
        ("bbb-", "0199-bbbb-2222"),
        ("0199-bbbb-2222", "0199-bbbb-2222"),
    ] {
        assert_eq!(found(text).unwrap(), id, "{text}");
    }
    let many = found("2222").unwrap_err();
    expect!["`2222` could be several runs: 0200-aaaa-2222, 0199-bbbb-2222"]
        .assert_eq(&many.to_string());
    assert!(matches!(found("0199").unwrap_err(), FindError::Many { runs, .. } if runs.len() == 2));
    // The middle of an id names nothing: people see its end and copy its beginning.
    for text in ["9-aa", "0199-aaaa-1111-", "../runs"] {
        assert!(matches!(found(text), Err(FindError::None { .. })), "{text}");
    }
    // So few characters could name a run by accident.
    for text in ["", "/", "x", "111"] {
        assert!(matches!(found(text), Err(FindError::Short { .. })), "{text}");
    }
}

#[test]
fn a_run_that_is_nowhere_is_named_with_the_place_that_was_looked_at() {
    let (_folder, project) = project(&[]);
    let error = find_run(&project, "beef").unwrap_err().to_string();
    assert_eq!(error, format!("no run `beef` in `{}`", project.root().display()));
    assert_eq!(project.runs(), []);
}

#[test]
fn runs_are_listed_newest_first_and_files_are_none() {
    let (_folder, project) = project(&["0199-b", "0200-a", "0199-a"]);
    fs::write(project.definitions().join("runs/0201-a"), "no folder").unwrap();
    let ids: Vec<String> = project.runs().iter().map(|run| run.id.to_string()).collect();
    assert_eq!(ids, ["0200-a", "0199-b", "0199-a"]);
}

#[test]
fn ids_of_new_runs_sort_by_age() {
    let ids: Vec<String> = (0..50).map(|_| new_run_id()).collect();
    assert!(ids.is_sorted(), "{ids:#?}");
    assert!(ids.iter().all(|id| id.len() == 36 && id.as_bytes()[14] == b'7'), "{ids:#?}");
}

#[test]
fn the_first_run_hides_records_from_git_and_never_writes_over_a_persons_file() {
    let (_folder, project) = project(&["0199-a"]);
    let ignore = project.definitions().join(".gitignore");
    expect![[r#"
        /runs/
        /trees.git/
        /worktrees/
        /merge/
        *.unfinished
    "#]]
    .assert_eq(&fs::read_to_string(&ignore).unwrap());
    fs::write(&ignore, "# mine\n").unwrap();
    new_run(&project, RunId::from("0199-b")).unwrap();
    assert_eq!(fs::read_to_string(&ignore).unwrap(), "# mine\n");
}

#[test]
fn a_project_is_the_nearest_folder_upwards_that_looks_like_one() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let deep = root.join("a/b/c/d");
    fs::create_dir_all(&deep).unwrap();
    let found = |from: &str| Project::find(&root.join(from)).root().to_owned();
    // A work tree of git has a file there, a clone a folder.
    fs::write(root.join("a/.git"), "gitdir: elsewhere").unwrap();
    assert_eq!(found("a/b/c/d"), root.join("a"));
    fs::create_dir(root.join("a/b/c/.git")).unwrap();
    assert_eq!(found("a/b/c/d"), root.join("a/b/c"));
    assert_eq!(found("a/b"), root.join("a"));
    fs::create_dir(root.join("a/b/.chronicle")).unwrap();
    assert_eq!(found("a/b"), root.join("a/b"));
    assert_eq!(found("a/b/c/d"), root.join("a/b/c"), "the nearest counts, whatever its mark");
    // A file of that name makes no project.
    fs::write(deep.join(".chronicle"), "").unwrap();
    assert_eq!(found("a/b/c/d"), root.join("a/b/c"));
}

#[test]
fn a_run_has_its_places() {
    let (_folder, project) = project(&["0199-a"]);
    let run = find_run(&project, "0199-a").unwrap();
    let inside =
        |path: std::path::PathBuf| path.strip_prefix(project.root()).unwrap().display().to_string();
    assert!(run.transcripts().is_dir() && run.keepers().is_dir());
    assert_eq!(
        inside(Folder::new(run.path.clone()).ledger_path()),
        ".chronicle/runs/0199-a/ledger.jsonl"
    );
    assert_eq!(inside(run.run_json()), ".chronicle/runs/0199-a/run.json");
    let transcript = inside(run.transcript(AttemptId(7)));
    assert_eq!(transcript, ".chronicle/runs/0199-a/transcripts/a7.jsonl");
    assert_eq!(inside(run.keeper(AttemptId(7))), ".chronicle/runs/0199-a/keepers/a7.lock");
    assert_eq!(run.mirror(), None, "nobody here uses the older format");
    fs::create_dir(project.root().join(".pi")).unwrap();
    assert_eq!(inside(run.mirror().unwrap()), ".pi/chronicle/sessions/0199-a.json");
}
