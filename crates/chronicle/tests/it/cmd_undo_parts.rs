//! How much an undo undoes, what it tells, and what it leaves alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::cmd_undo_killed::copy;
use crate::session::{Session, until};

const WORKFLOW: &str = "{name: Two, phases: [{id: plan}, {id: build}]}";
const SCRIPT: &str = r#"
plan:
  - write: {path: notes.md, text: "a plan\n"}
  - write: {path: both.txt, text: "plan\n"}
  - complete: {summary: planned}
build:
  - write: {path: main.c, text: "built\n"}
  - write: {path: src/a.c, text: "built\n"}
  - write: {path: src/b.c, text: "built\n"}
  - write: {path: both.txt, text: "build\n"}
  - complete: {summary: built}
"#;

fn project(workflow: &str, script: &str) -> Session {
    let session = Session::with(workflow, script);
    session.write(".gitignore", "script.yaml\n");
    session
}

fn done(workflow: &str, script: &str) -> (Session, String) {
    let session = project(workflow, script);
    session.run().exits(0);
    let run = session.short();
    (session, run)
}

#[test]
fn needs_git_undos_are_a_stack_and_are_listed() {
    let session = project(WORKFLOW, SCRIPT);
    let empty = copy(&session);
    session.run().exits(0);
    let (run, built) = (session.short(), copy(&session));
    let undo =
        |args: &[&str]| session.chronicle(&[&["undo", run.as_str()], args, &["--yes"]].concat());
    undo(&["build"]).exits(0).prints("4 files restored.").prints("src/a.c");
    let planned = copy(&session);
    undo(&["plan"]).exits(0);
    assert_eq!(copy(&session), empty);
    // Step by step, and no further.
    let said = undo(&["--back"]).exits(0);
    assert!(!said.stderr.contains("takes this back"), "{}", said.stderr);
    assert_eq!(copy(&session), planned);
    undo(&["--back"]).exits(0);
    assert_eq!(copy(&session), built);
    undo(&["--back"]).exits(2).talks("nothing is undone");
    // Two at once.
    undo(&["build"]).exits(0);
    undo(&["plan"]).exits(0);
    undo(&["--back", "3"]).exits(2).talks("has 2 undone, and not 3");
    undo(&["--back", "2"]).exits(0);
    assert_eq!(copy(&session), built);
    let list = session.chronicle(&["undo", &run, "--list"]).exits(0).stdout;
    let told: Vec<&str> =
        list.lines().filter_map(|line| line.split_once("Z  ")).map(|it| it.1).collect();
    assert_eq!(told.first(), Some(&"taken back: undo of plan, undo of build, 5 files"), "{list}");
    assert_eq!(told.len(), 7, "{list}");
    let rows = session.json(&["undo", &run, "--list"]);
    assert!(rows["undos"].as_array().unwrap().iter().all(|row| row["files"].is_number()));
    session.chronicle(&["audit", &run]).exits(0);
}

#[test]
fn needs_git_a_run_an_attempt_and_single_files_are_undone() {
    let (session, run) = done(WORKFLOW, SCRIPT);
    let built = copy(&session);
    let undo =
        |args: &[&str]| session.chronicle(&[&["undo", run.as_str()], args, &["--yes"]].concat());
    undo(&["--all"]).exits(0).prints("5 files restored.");
    assert!(!session.has("notes.md") && !session.has("both.txt"));
    undo(&["--back"]).exits(0);
    undo(&["--attempt", "a2"]).exits(0);
    assert_eq!((session.read("both.txt").as_str(), session.has("main.c")), ("plan\n", false));
    undo(&["--back"]).exits(0);
    assert_eq!(copy(&session), built);
    let said = undo(&["build", "--file", "src", "--file", "./both.txt"]).exits(0);
    said.prints("3 files restored.\n  both.txt\n  src/a.c\n  src/b.c\n");
    assert_eq!((session.read("both.txt").as_str(), session.has("main.c")), ("plan\n", true));
    undo(&["--back"]).exits(0);
    let absolute = session.path("src").canonicalize().unwrap();
    undo(&["build", "--file", absolute.to_str().unwrap()]).exits(0).prints("2 files restored.");
    undo(&["build", "--file", "/etc/hosts"]).exits(2).talks("`/etc/hosts` is not in the project");
    undo(&["build", "--file", "nothing.c"]).exits(2).talks("`nothing.c` is as it was");
    undo(&["--back"]).exits(0);
    assert_eq!(copy(&session), built);
    let json = session.json(&["undo", &run, "build", "--yes"]);
    assert_eq!(json["list"], json!(["both.txt", "main.c", "src/a.c", "src/b.c"]));
}

#[test]
fn needs_git_an_earlier_visit_of_a_phase_is_undone() {
    let workflow = "{name: Loop, phases: {a: {next: [b]}, b: {next: [a, done]}}}";
    let script = r#"
a:
  - shell: {command: "echo a >> a.txt"}
  - transition: {to: b, summary: did}
b:
  1:
    - shell: {command: "echo b >> b.txt"}
    - transition: {to: a, summary: once more}
  otherwise:
    - shell: {command: "echo b >> b.txt"}
    - transition: {to: done, summary: enough}
"#;
    let (session, run) = done(workflow, script);
    let undo = |visit: &str| session.chronicle(&["undo", &run, "b", "--visit", visit, "--yes"]);
    undo("3").exits(2).talks("`b` was visited 2 times: there is no visit 3");
    undo("2").exits(0);
    assert_eq!((session.read("a.txt"), session.read("b.txt")), ("a\na\n".into(), "b\n".into()));
    undo("1").exits(0);
    assert_eq!((session.read("a.txt").as_str(), session.has("b.txt")), ("a\n", false));
}

#[test]
fn needs_git_modes_come_back() {
    let script = r#"
a:
  - shell: {command: "chmod 644 secret other; echo open > secret; rm gone; echo x > tool; chmod 600 tool"}
  - complete: {summary: did}
"#;
    let session = project("{name: One, phases: [{id: a}]}", script);
    for (name, mode) in [("secret", 0o600), ("gone", 0o640), ("tool", 0o755), ("other", 0o644)] {
        session.write(name, "closed\n");
        fs::set_permissions(session.path(name), PermissionsExt::from_mode(mode)).unwrap();
    }
    let before = copy(&session);
    session.run().exits(0);
    let after = copy(&session);
    let run = session.short();
    session.chronicle(&["undo", &run, "a", "--yes"]).exits(0);
    assert_eq!(copy(&session), before);
    session.chronicle(&["undo", &run, "--back", "--yes"]).exits(0);
    assert_eq!(copy(&session), after);
}

/// Whoever may write everywhere gives that up first.
#[test]
fn needs_git_what_cannot_be_put_back_is_named_and_the_exit_code_says_so() {
    let script = r#"
a:
  - shell: {command: "echo new > locked/a; rm locked/b; echo new > locked/c; echo new > free"}
  - complete: {summary: did}
"#;
    let session = project("{name: One, phases: [{id: a}]}", script);
    for name in ["locked/a", "locked/b", "free"] {
        session.write(name, "old\n");
    }
    let before = copy(&session);
    session.run().exits(0);
    let run = session.short();
    session.shell("chmod 555 locked").exits(0);
    let line = format!(
        "if [ \"$(id -u)\" = 0 ]; then drop='setpriv --bounding-set=-dac_override,-dac_read_search'; fi; \
        $drop chronicle undo {run} a --yes"
    );
    let said = session.shell(&line).exits(70);
    said.prints("1 file restored.\n  free\n")
        .prints("not restored: locked/a: Permission denied")
        .prints("not restored: locked/b: Permission denied")
        .prints("not restored: locked/c: Permission denied")
        .talks("not every file could be restored");
    assert_eq!((session.read("free"), session.read("locked/a")), ("old\n".into(), "new\n".into()));
    // Nobody edited them since: the same again does the rest.
    session.shell("chmod 755 locked").exits(0);
    session.chronicle(&["undo", &run, "a", "--yes"]).exits(0).prints("3 files restored.");
    assert_eq!(copy(&session), before);
}

#[test]
fn needs_git_what_was_ignored_when_the_run_began_is_not_the_runs() {
    let script = r#"
a:
  - shell: {command: "printf 'script.yaml\\n' > .gitignore; echo made > build/new; echo more >> .own"}
  - write: {path: notes.md, text: "notes\n"}
  - complete: {summary: did}
"#;
    let session = project("{name: One, phases: [{id: a}]}", script);
    session.write(".gitignore", "script.yaml\n.own\nbuild/\n");
    session.write(".own", "TOKEN=hunter2\n");
    session.write("build/old", "old\n");
    session.run().exits(0);
    let run = session.short();
    let log = session.chronicle(&["log", &run]).exits(0).stdout;
    assert!(log.contains("a1 changed 2 files, +1 -2: `.gitignore`, `notes.md`"), "{log}");
    let diff = session.chronicle(&["diff", &run, "--all"]).exits(0).stdout;
    assert!(!diff.contains("hunter2") && !diff.contains("build/new"), "{diff}");
    session.chronicle(&["undo", &run, "a", "--yes"]).exits(0).prints("2 files restored.");
    assert_eq!(session.read(".own"), "TOKEN=hunter2\nmore\n");
    assert_eq!((session.read("build/old").as_str(), session.has("build/new")), ("old\n", true));
    assert_eq!(session.read(".gitignore"), "script.yaml\n.own\nbuild/\n");
    let store = "git --git-dir=.chronicle/trees.git cat-file --batch-all-objects --batch";
    session.shell(&format!("{store} | grep -a hunter2")).exits(1);
}

#[test]
fn needs_git_a_file_that_is_tracked_though_ignored_is_seen_again_after_it_was_gone() {
    let script = "a:\n  - delete: {path: kept.log}\n  - complete: {summary: did}\n\
        b:\n  - write: {path: kept.log, text: \"again\\n\"}\n  - complete: {summary: did}\n";
    let session = project("{name: Two, phases: [{id: a}, {id: b}]}", script);
    session.write(".gitignore", "script.yaml\n*.log\n");
    session.write("kept.log", "kept\n");
    let git = "git init -q -b main && git add -f kept.log .gitignore && \
        git -c user.name=a -c user.email=a@b.c commit -qm x";
    session.shell(git).exits(0);
    session.run().exits(0);
    let run = session.short();
    let log = session.chronicle(&["log", &run]).exits(0).stdout;
    assert!(log.contains("a1 changed 1 file, -1: `kept.log`"), "{log}");
    assert!(log.contains("a2 changed 1 file, +1: `kept.log`"), "{log}");
    session.chronicle(&["undo", &run, "b", "--yes"]).exits(0);
    assert!(!session.has("kept.log"));
    session.chronicle(&["undo", &run, "a", "--yes"]).exits(0);
    assert_eq!(session.read("kept.log"), "kept\n");
    let again = session.chronicle(&["undo", &run, "a", "--yes"]).exits(0);
    again.prints("0 files restored.");
}

#[test]
fn needs_git_commits_and_branches_of_a_worker_are_told() {
    let script = r#"
a:
  - shell: {command: "git checkout -q -b side && echo new > new.txt && git add new.txt && git -c user.name=w -c user.email=w@b.c commit -qm 'Add a file'"}
  - complete: {summary: did}
"#;
    let session = project("{name: One, phases: [{id: a}]}", script);
    session.shell("git init -q -b main && git add .gitignore && git -c user.name=a -c user.email=a@b.c commit -qm x").exits(0);
    session.run().exits(0);
    let log = session.chronicle(&["log"]).exits(0).stdout;
    let line = log.lines().find(|line| line.contains("a1 changed")).unwrap();
    assert!(line.contains("the repository moved from `main` at "), "{line}");
    assert!(line.contains("to `side` at ") && line.contains("Add a file"), "{line}");
    // Its files are put back; what it committed is the person's to decide.
    session.chronicle(&["undo", &session.short(), "a", "--yes"]).exits(0);
    assert!(!session.has("new.txt"));
    session.shell("git log --oneline side").exits(0).prints("Add a file");
}

#[test]
fn needs_git_a_file_that_is_too_large_is_named_and_left_alone() {
    let script = r#"
a:
  - shell: {command: "head -c 3000000 /dev/urandom > new.bin; head -c 3000000 /dev/urandom >> grows.bin; echo x > small"}
  - complete: {summary: did}
"#;
    let session = project("{name: One, phases: [{id: a}]}", script);
    session.write(".chronicle/config.toml", "[trees]\nmax_file_mb = 2\n");
    session.write("grows.bin", vec![b'x'; 500]);
    session.run().exits(0);
    let run = session.short();
    let log = session.chronicle(&["log", &run]).exits(0).stdout;
    let told = "a1 changed 3 files, +1: `grows.bin`, `new.bin`, `small`, too large to record: \
        `grows.bin (3.0 MB)`, `new.bin (3.0 MB)`";
    assert!(log.contains(told), "{log}");
    let store = session.shell("du -sk .chronicle/trees.git").exits(0).stdout;
    let kilobytes: u64 = store.split_whitespace().next().unwrap().parse().unwrap();
    assert!(kilobytes < 1_000, "{store}");
    session.chronicle(&["undo", &run, "a", "--yes"]).exits(0);
    assert!(session.has("new.bin") && !session.has("small"));
    assert_eq!(fs::metadata(session.path("grows.bin")).unwrap().len(), 3_000_500);
    // Once it is small again, its content is recorded and can be restored. But by then it is the person's own.
    session.write("grows.bin", vec![b'y'; 600]);
    let undo = ["undo", &run, "--all", "--yes"];
    session.chronicle(&undo).exits(2).talks("these files were changed since: grows.bin");
    assert_eq!(session.read("grows.bin"), "y".repeat(600));
    let said = session.chronicle(&[&undo[..], &["--also-mine"]].concat()).exits(0);
    said.prints("1 file restored.\n  grows.bin\n").talks("content was not recorded: new.bin\n");
    assert_eq!(session.read("grows.bin"), "x".repeat(500));
    session.chronicle(&["undo", &run, "--back", "--yes"]).exits(0);
    assert_eq!(session.read("grows.bin"), "y".repeat(600));
}

#[test]
fn needs_git_large_files_are_compared_without_lines_and_the_largest_are_only_named() {
    let script = r#"
a:
  - shell: {command: "echo more >> lines.txt; truncate -s 26000000 image"}
  - complete: {summary: did}
"#;
    let session = project("{name: One, phases: [{id: a}]}", script);
    let lines = "a line of text\n".repeat(600_000);
    session.write("lines.txt", &lines);
    session.run().exits(0);
    let run = session.short();
    let log = session.chronicle(&["log", &run]).exits(0).stdout;
    let told = "a1 changed 2 files: `image`, `lines.txt`, too large to record: `image (26.0 MB)`";
    assert!(log.contains(told), "{log}");
    session
        .chronicle(&["diff", &run])
        .exits(0)
        .prints("Binary files a/lines.txt and b/lines.txt differ");
    session.chronicle(&["undo", &run, "a", "--yes"]).exits(0).prints("1 file restored.");
    assert!(session.read("lines.txt") == lines, "it is as it was, byte for byte");
}

/// A git that waits for a person before it reads files.
const SLOW_GIT: &str = r#"#!/bin/sh
case "$*" in *update-index*--stdin*) [ -e "$SLOW/fast" ] || { : > "$SLOW/reads"; cat "$SLOW/go"; } ;; esac
PATH="$REAL" exec git "$@"
"#;

#[test]
fn needs_git_what_takes_long_before_an_attempt_is_said() {
    let session = project("{name: One, phases: [{id: a}]}", "a: [{complete: {summary: did}}]");
    let slow = session.project().parent().unwrap().join("slow");
    fs::create_dir(&slow).unwrap();
    fs::write(slow.join("git"), SLOW_GIT).unwrap();
    fs::set_permissions(slow.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    session.shell("mkfifo ../slow/go").exits(0);
    let mut command = session.command(crate::link_yard::CHRONICLE);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", slow.display())).env("REAL", &path);
    command.env("SLOW", &slow).args(crate::session::RUN);
    let run = session.start(command, "");
    until("git reads files", || slow.join("reads").exists());
    session.chronicle(&["status"]).exits(0).prints("  recording the project's files\n");
    assert_eq!(session.json(&["status"])["recording"], json!(true));
    fs::write(slow.join("fast"), "").unwrap();
    fs::write(slow.join("go"), "").unwrap();
    run.wait().exits(0);
    let said = session.chronicle(&["status"]).exits(0);
    assert!(!said.stdout.contains("recording"), "{}", said.stdout);
}
