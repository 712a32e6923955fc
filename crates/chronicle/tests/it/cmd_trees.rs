//! `chronicle diff`, `undo` and `gc`, after whole runs with the real git.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use expect_test::expect;

use crate::session::{Session, until};

const WORKFLOW: &str = "
name: Four
phases:
  - id: plan
  - id: build
  - id: polish
  - id: ship
";

/// Edits, renames, deletions, binaries and a file of 30 MB.
const SCRIPT: &str = r#"
plan:
  - write: {path: notes.md, text: "a plan\nof two lines\n"}
  - complete: {summary: planned}
build:
  - edit: {path: src/main.c, find: "return 1", replace: "return 0"}
  - write: {path: src/new.c, text: "int added;\n"}
  - delete: {path: old.txt}
  - shell: {command: "head -c 20000000 /dev/zero | tr '\\0' 'x' > big.bin; printf '\\0\\1\\2' > image.bin"}
  - complete: {summary: built}
polish:
  - shell: {command: "mv notes.md docs.md && chmod +x tool.sh"}
  - complete: {summary: polished}
ship:
  - shell: {command: "printf '\\0\\1\\3' > image.bin; rm -r src"}
  - complete: {summary: shipped}
"#;

fn project() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write("src/main.c", "int main() {\n  return 1;\n}\n");
    session.write("old.txt", "old\n");
    session.write("tool.sh", "#!/bin/sh\n");
    session.write(".gitignore", "*.log\nscript.yaml\n");
    session.write("debug.log", "ignored\n");
    session
}

fn done() -> Session {
    let session = project();
    session.run().exits(0);
    session
}

/// Every file of the project but our own records: its bytes, and whether it can be run.
pub(crate) fn files(root: &Path) -> BTreeMap<PathBuf, (bool, Vec<u8>)> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_owned();
            if path.is_dir() && !name.starts_with(".chronicle") {
                folders.push(path);
            } else if path.is_file() {
                let runs = fs::metadata(&path).unwrap().permissions().mode() & 0o111 != 0;
                found.insert(name, (runs, fs::read(path).unwrap()));
            }
        }
    }
    found
}

fn run_of(session: &Session) -> String {
    session.json(&["status"])["short"].as_str().unwrap().to_owned()
}

#[test]
fn needs_git_a_run_is_compared_as_a_whole_and_by_parts() {
    let session = done();
    // With a line in front, since what a snapshot is indented by is not part of it.
    let stat = |part: &[&str]| {
        let said = session.chronicle(&[&["diff", "--stat"], part].concat()).exits(0);
        format!("stat\n{}", said.stdout)
    };
    expect![[r#"
        stat
         big.bin    | Bin 0 -> 20000000 bytes
         docs.md    |   2 ++
         image.bin  | Bin 0 -> 3 bytes
         old.txt    |   1 -
         src/main.c |   3 ---
         tool.sh    |   0
         6 files changed, 2 insertions(+), 4 deletions(-)
    "#]]
    .assert_eq(&stat(&[]));
    expect![[r#"
        stat
         big.bin    | Bin 0 -> 20000000 bytes
         image.bin  | Bin 0 -> 3 bytes
         old.txt    |   1 -
         src/main.c |   2 +-
         src/new.c  |   1 +
         5 files changed, 2 insertions(+), 2 deletions(-)
    "#]]
    .assert_eq(&stat(&["--phase", "build"]));
    expect![[r#"
        stat
         notes.md => docs.md | 0
         tool.sh             | 0
         2 files changed, 0 insertions(+), 0 deletions(-)
    "#]]
    .assert_eq(&stat(&["--attempt", "a3"]));
    let patch = session.chronicle(&["diff", "--phase", "polish"]).exits(0).stdout;
    expect![[r#"
        diff --git a/notes.md b/docs.md
        similarity index 100%
        rename from notes.md
        rename to docs.md
        diff --git a/tool.sh b/tool.sh
        old mode 100644
        new mode 100755
    "#]]
    .assert_eq(&patch);
    let names = session.chronicle(&["diff", "--phase", "ship", "--name-only"]).exits(0).stdout;
    assert_eq!(names, "image.bin\nsrc/main.c\nsrc/new.c\n");
    let json = session.json(&["diff", "--phase", "ship"]);
    assert_eq!(json["changes"]["files"], 3);
    assert_eq!(json["changes"]["removed"], 4);
    let last = session.ledger_lines().to_string();
    let said = session.chronicle(&["diff", "--since", &last]).exits(0);
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", "No file differs.\n"));
    let status = session.chronicle(&["status"]).exits(0).stdout;
    for part in ["1 file, +2", "5 files, +2 -2", "2 files\n", "3 files, -4"] {
        assert!(status.contains(part), "{part}:\n{status}");
    }
    let log = session.chronicle(&["log"]).exits(0).stdout;
    assert!(log.contains("a1 changed 1 file, +2: `notes.md`"), "{log}");
}

#[test]
fn needs_git_a_part_that_is_not_there_is_named() {
    let session = done();
    let said = session.chronicle(&["diff", "--phase", "nowhere"]).exits(2);
    assert!(said.stderr.contains("has no trees of a phase `nowhere`"), "{}", said.stderr);
    assert!(said.stderr.contains("Hint: there are: build, plan, polish, ship"), "{}", said.stderr);
    session.chronicle(&["diff", "--attempt", "a9"]).exits(2);
    session.chronicle(&["undo", &run_of(&session), "nowhere", "--yes"]).exits(2);
}

#[test]
fn needs_git_files_go_back_to_before_a_phase_and_forth_again() {
    let session = project();
    let before = files(&session.project());
    session.run().exits(0);
    let after = files(&session.project());
    let run = run_of(&session);
    // Nobody can be asked here.
    session.chronicle(&["undo", &run, "build"]).exits(2);
    assert_eq!(files(&session.project()), after);

    session.chronicle(&["undo", &run, "build", "--yes"]).exits(0);
    let mut planned = before.clone();
    let note = b"a plan\nof two lines\n".to_vec();
    planned.insert("notes.md".into(), (false, note));
    assert_eq!(files(&session.project()), planned);
    session.chronicle(&["undo", &run, "plan", "--yes"]).exits(0);
    assert_eq!(files(&session.project()), before);
    // The undone state is a tree too: back, and back from that.
    session.chronicle(&["undo", &run, "--back", "--yes"]).exits(0);
    assert_eq!(files(&session.project()), planned);
    session.chronicle(&["undo", &run, "ship", "--yes"]).exits(0);
    session.chronicle(&["undo", &run, "--back", "--yes"]).exits(0);
    assert_eq!(files(&session.project()), planned);
    let log = session.chronicle(&["log"]).exits(0).stdout;
    assert!(log.contains("`build` is being undone"), "{log}");
    session.chronicle(&["audit"]).exits(0);
}

#[test]
fn needs_git_what_a_person_changed_since_is_named_and_stays() {
    let session = done();
    let run = run_of(&session);
    session.write("docs.md", "mine\n");
    session.write("mine.txt", "mine\n");
    let said = session.chronicle(&["undo", &run, "plan", "--yes"]).exits(2);
    let why = "these files were changed since: docs.md\n";
    assert!(said.stderr.contains(why), "{}", said.stderr);
    assert_eq!(session.read("docs.md"), "mine\n");
    // What no worker touched is nobody's to undo, and an undo that leaves alone what is at stake is none of its business.
    session.chronicle(&["undo", &run, "ship", "--yes"]).exits(0);
    assert_eq!(session.read("mine.txt"), "mine\n");
    session.chronicle(&["undo", &run, "plan", "--yes", "--also-mine"]).exits(0);
    assert!(!session.has("docs.md") && session.has("mine.txt"));
    session.chronicle(&["undo", &run, "--back", "--yes"]).exits(0);
    assert_eq!(session.read("docs.md"), "mine\n");
    // What is committed is not lost.
    let commit =
        "git init -q && git add docs.md && git -c user.name=a -c user.email=a@b.c commit -qm x";
    session.shell(commit).exits(0);
    session.chronicle(&["undo", &run, "plan", "--yes"]).exits(0);
    assert!(!session.has("docs.md"));
}

#[test]
fn needs_git_nothing_is_undone_under_a_workers_hands() {
    let script = "plan:\n  - write: {path: half, text: done}\n  - touch: {file: at-work}\n  - wait_for: {file: go}\n  - complete: {summary: planned}\n";
    let session = Session::with("{name: One, phases: {plan: {next: [done]}}}", script);
    let supervisor = session.spawn_run();
    until("the worker works", || session.has("at-work"));
    let run = run_of(&session);
    let said = session.chronicle(&["undo", &run, "plan", "--yes"]).exits(5);
    assert!(said.stderr.contains("is working on the project's files"), "{}", said.stderr);
    // While it works, the files are compared as they are.
    let names = session.chronicle(&["diff", "--phase", "plan", "--name-only"]).exits(0).stdout;
    assert_eq!(names, "at-work\nhalf\n");
    session.write("go", "");
    supervisor.wait().exits(0);
}

#[test]
fn needs_git_the_persons_repository_is_untouched_by_a_whole_run() {
    let session = project();
    let setup = "git init -q -b main && git config user.name a && git config user.email a@b.c \
        && git add -A && git commit -qm one && echo staged > s && git add s && echo x >> old.txt && git stash -q \
        && echo y >> old.txt && git config core.hooksPath hooks && git config commit.gpgsign true \
        && git config filter.bad.clean false && git config filter.bad.required true \
        && printf '*.c filter=bad\\n' > .gitattributes";
    session.shell(setup).exits(0);
    let before = files(&session.path(".git"));
    session.run().exits(0);
    let run = run_of(&session);
    session.chronicle(&["diff"]).exits(0);
    session.chronicle(&["undo", &run, "build", "--yes"]).exits(0);
    session.chronicle(&["gc", "--days", "0", "--yes"]).exits(0);
    assert_eq!(files(&session.path(".git")), before);
    assert_eq!(session.read("src/main.c"), "int main() {\n  return 1;\n}\n");
}

#[test]
fn needs_git_the_persons_environment_leads_nobody_astray() {
    let session = project();
    session.shell("git init -q").exits(0);
    let before = files(&session.path(".git"));
    let line = "GIT_DIR=/nowhere GIT_INDEX_FILE=/nowhere/i GIT_WORK_TREE=/ GIT_OBJECT_DIRECTORY=/nowhere \
        GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.bare GIT_CONFIG_VALUE_0=true GIT_LITERAL_PATHSPECS=0 \
        chronicle run main task --agent scripted:script.yaml";
    session.shell(line).exits(0);
    assert_eq!(files(&session.path(".git")), before);
    let names = session.chronicle(&["diff", "--phase", "plan", "--name-only"]).exits(0).stdout;
    assert_eq!(names, "notes.md\n");
}

#[test]
fn needs_git_room_is_made_only_of_runs_that_are_over() {
    let session = done();
    let run = run_of(&session);
    session.chronicle(&["gc", "--yes"]).exits(0);
    session.chronicle(&["diff", &run, "--stat"]).exits(0);
    session.chronicle(&["gc", "--days", "0"]).exits(2);
    session.chronicle(&["diff", &run, "--stat"]).exits(0);
    let said = session.chronicle(&["gc", "--days", "0", "--yes"]).exits(0);
    assert!(said.stdout.contains("freed."), "{}", said.stdout);
    let said = session.chronicle(&["diff", &run]).exits(2);
    assert!(said.stderr.contains("is not there any more"), "{}", said.stderr);
    session.chronicle(&["status"]).exits(0);
    session.write("src/main.c", "return 1");
    session.write("old.txt", "old");
    session.run().exits(0);
    session.chronicle(&["diff", "--phase", "plan"]).exits(0);
}

#[test]
fn a_machine_without_git_runs_all_the_same() {
    let script = "plan:\n  - write: {path: notes.md, text: x}\n  - complete: {summary: planned}\n";
    let session = Session::with("{name: One, phases: {plan: {next: [done]}}}", script);
    let empty = session.path("empty");
    fs::create_dir(&empty).unwrap();
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.env("PATH", &empty).args(["run", "main", "task", "--agent", "scripted:script.yaml"]);
    assert!(command.output().unwrap().status.success());
    let status = session.chronicle(&["status"]).exits(0).stdout;
    assert!(status.contains("no trees: git cannot be started"), "{status}");
    let said = session.chronicle(&["diff"]).exits(2);
    assert!(said.stderr.contains("has no trees"), "{}", said.stderr);
}

#[test]
fn needs_git_no_setting_that_a_worker_planted_is_there_when_git_clears_up() {
    let session = Session::with(
        "{name: W, phases: {work: {next: [done]}}}",
        "work: [{append: {path: log, text: x}}, {complete: {summary: worked}}]",
    );
    session.run().exits(0);
    let config = ".chronicle/trees.git/config";
    let before = session.read(config);
    session.write(
        config,
        format!("{before}[gc]\n\trecentObjectsHook = touch ran\n[include]\n\tpath = /x\n"),
    );
    session.chronicle(&["gc", "--days", "0", "--yes"]).exits(0);
    let after = session.read(config);
    assert!(after.contains("repositoryformatversion") && !after.contains("Hook"), "{after}");
    assert!(!after.contains("include") && !session.has("ran"), "{after}");
}

/// All marks of such files have the same content, which is no reason to take one for the other.
#[test]
fn needs_git_a_file_that_was_not_recorded_is_not_renamed_to_another_one() {
    let script = "work: [{shell: {command: 'rm old.bin; head -c 3000000 /dev/zero > new.bin'}}, {complete: {}}]";
    let session = Session::with("{name: W, phases: {work: {next: [done]}}}", script);
    session.write(".chronicle/config.toml", "[trees]\nmax_file_mb = 1\n");
    session.write("old.bin", vec![1; 3_000_000]);
    session.run().exits(0);
    let stat = session.chronicle(&["diff", "--all", "--stat"]).exits(0).stdout;
    assert!(stat.contains("old.bin") && stat.contains("new.bin"), "{stat}");
    assert!(!stat.contains("=>"), "{stat}");
    let list = session.json(&["diff", "--all"])["changes"]["list"].clone();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 2, "{list:?}");
    assert!(
        list.iter().all(|file| file.get("from").is_none_or(serde_json::Value::is_null)),
        "{list:?}"
    );
}

/// As git quotes them; a name that is text stays as it is.
#[test]
fn needs_git_names_that_are_not_text_are_quoted() {
    let script = "work: [{shell: {command: sh ./make.sh}}, {complete: {}}]";
    for (name, shown) in [(r"caf\351", "\"caf\\351\"\n"), (r"caf\303\251", "caf\u{e9}\n")] {
        let session = Session::with("{name: W, phases: {work: {next: [done]}}}", script);
        // In a file that is there before the run: a guard asks about names that only the shell knows.
        session.write("make.sh", format!("touch \"$(printf '{name}')\"\n"));
        session.run().exits(0);
        let names = session.chronicle(&["diff", "--all", "--name-only"]).exits(0).stdout;
        assert_eq!(names, shown, "{name}");
    }
}
