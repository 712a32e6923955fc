//! Undo and files of every kind: unrecorded ones, moved folders, hard links, and files that ignore rules come to hide.

use std::fs;

use crate::cmd_undo_killed::copy;
use crate::session::{Said, Session};

const ONE: &str = "{name: One, phases: [{id: a}]}";
const TWO: &str = "{name: Two, phases: [{id: a}, {id: b}]}";
/// Root reads every file: it gives that up first, for itself and its workers.
const DROP: &str = "if [ \"$(id -u)\" = 0 ]; then \
    drop='setpriv --bounding-set=-dac_override,-dac_read_search'; fi; $drop";

/// A project whose worker runs one command per phase.
fn project(commands: &[&str]) -> Session {
    let phases = ["a", "b"].iter().zip(commands);
    let script: Vec<String> = phases
        .map(|(phase, command)| {
            format!(
                "{phase}:\n  - shell: {{command: {command:?}}}\n  - complete: {{summary: did}}\n"
            )
        })
        .collect();
    let session = Session::with(if commands.len() == 1 { ONE } else { TWO }, &script.concat());
    session.write(".gitignore", "script.yaml\n");
    session
}

fn undo(session: &Session, args: &[&str]) -> Said {
    let run = session.short();
    session.chronicle(&[&["undo", run.as_str()], args, &["--yes"]].concat())
}

/// What the log says of the files of an attempt.
fn changed(session: &Session, attempt: &str) -> String {
    let log = session.chronicle(&["log", &session.short()]).exits(0).stdout;
    let of = format!("{attempt} changed ");
    let line = log.lines().find_map(|line| line.split_once(&of));
    line.unwrap_or_else(|| panic!("{attempt}:\n{log}")).1.to_owned()
}

#[test]
fn needs_git_a_file_that_could_not_be_read_is_never_removed() {
    let session = project(&["chmod 644 s; chmod 755 d; echo mine > new"]);
    session.write("s", "precious\n");
    session.write("d/in", "precious\n");
    session.shell("chmod 000 s d").exits(0);
    let line = "chronicle run main task --agent scripted:script.yaml";
    session.shell(&format!("{DROP} {line}")).exits(0);
    let log = session.chronicle(&["log"]).exits(0).stdout;
    assert!(log.contains("files recorded before a1, could not be read: `d/`, `s`"), "{log}");
    let told =
        "3 files, +1: `d`, `new`, `s`; changed meanwhile, origin unknown: 1 file, +1: `d/in`";
    assert_eq!(changed(&session, "a1"), told);
    let said = undo(&session, &["--all"]).exits(0).prints("1 file restored.\n  new\n");
    assert!(said.stderr.contains("content was not recorded: d, s\n"), "{}", said.stderr);
    assert_eq!(
        (session.read("s"), session.read("d/in")),
        ("precious\n".into(), "precious\n".into())
    );
    undo(&session, &["--back"]).exits(0).prints("1 file restored.");
    assert_eq!((session.read("s"), session.read("new")), ("precious\n".into(), "mine\n".into()));
    // Nor when it is asked for by name.
    undo(&session, &["--all", "--file", "s"]).exits(0).prints("0 files restored.");
    assert_eq!(session.read("s"), "precious\n");
}

#[test]
fn needs_git_a_file_that_was_too_large_is_never_replaced_and_its_end_is_told() {
    let session = project(&[
        "truncate -s 500000 big; truncate -s 2000000 grows; rm gone",
        "truncate -s 400 grows",
    ]);
    session.write(".chronicle/config.toml", "[trees]\nmax_file_mb = 1\n");
    session.write("big", vec![b'x'; 2_000_000]);
    session.write("gone", vec![b'x'; 2_000_000]);
    session.write("grows", "small\n");
    session.run().exits(0);
    assert_eq!(
        changed(&session, "a1"),
        "3 files: `big`, `gone`, `grows`, too large to record: `grows (2.0 MB)`"
    );
    let json = session.json(&["diff", "--phase", "a"]);
    assert_eq!(json["changes"]["list"][1]["change"], "deleted", "{json}");
    // Its content before `b` is in no tree: nothing is put in its place.
    let said = undo(&session, &["b"]).exits(0);
    assert!(said.stderr.contains("content was not recorded: grows\n"), "{}", said.stderr);
    assert_eq!(fs::metadata(session.path("grows")).unwrap().len(), 400);
    let said = undo(&session, &["--all"]).exits(0).prints("1 file restored.\n  grows\n");
    assert!(said.stderr.contains("content was not recorded: big, gone\n"), "{}", said.stderr);
    assert_eq!(session.read("grows"), "small\n");
    assert_eq!(fs::metadata(session.path("big")).unwrap().len(), 500_000);
    let json = session.json(&["undo", &session.short(), "--all", "--yes"]);
    assert_eq!(json["unrecorded"], serde_json::json!(["big", "gone"]));
}

/// No tree has the content of a large file, so none shows that it was written to.
#[test]
fn needs_git_a_large_file_that_was_written_to_is_named() {
    for command in ["printf x >> big", "chmod +x big", "cp other big"] {
        let session = project(&[&format!("{command}; echo w >> base")]);
        session.write(".chronicle/config.toml", "[trees]\nmax_file_mb = 1\n");
        session.write("big", vec![b'x'; 2_000_000]);
        session.write("other", vec![b'y'; 2_000_000]);
        session.write("quiet", vec![b'z'; 2_000_000]);
        session.write("base", "b\n");
        session.run().exits(0);
        let said = undo(&session, &["--all", "--file", "big"]).exits(0);
        assert!(said.stderr.contains("not recorded: big\n"), "{command}: {}", said.stderr);
        let said = undo(&session, &["--all"]).exits(0).prints("1 file restored.\n  base\n");
        assert!(said.stderr.contains("not recorded: big\n"), "{command}: {}", said.stderr);
        assert_eq!(session.read("base"), "b\n");
    }
}

#[test]
fn needs_git_a_moved_folder_is_the_workers_on_both_sides() {
    for command in ["mv s s2", "mkdir n; mv s n/s2", "mv s s2; ln -s s2 s"] {
        let session = project(&[command]);
        for name in ["s/a", "s/deep/b", "other"] {
            session.write(name, format!("the text of {name}\n"));
        }
        let before = copy(&session);
        session.run().exits(0);
        let after = copy(&session);
        let told = changed(&session, "a1");
        assert!(!told.contains("origin unknown"), "{command}: {told}");
        let said = undo(&session, &["--all"]).exits(0);
        assert!(!said.stdout.contains("left"), "{command}: {}", said.stdout);
        assert_eq!(copy(&session), before, "{command}");
        undo(&session, &["--back"]).exits(0);
        assert_eq!(copy(&session), after, "{command}");
    }
}

#[test]
fn needs_git_every_name_of_a_hard_link_is_restored() {
    let session = project(&["echo new > hard"]);
    session.write("tgt", "old\n");
    session.shell("ln tgt hard").exits(0);
    session.run().exits(0);
    undo(&session, &["--all"]).exits(0).prints("2 files restored.\n  hard\n  tgt\n");
    assert_eq!((session.read("tgt"), session.read("hard")), ("old\n".into(), "old\n".into()));
    undo(&session, &["--all"]).exits(0).prints("0 files restored.");
}

/// A repository of the person with everything in it.
fn commit(session: &Session) {
    let line = "git init -q -b main && git add -Af . && git -c user.name=a -c user.email=a@b.c commit -qm x";
    session.shell(line).exits(0);
}

#[test]
fn needs_git_a_worker_hides_nothing_behind_a_new_rule() {
    for (first, then, told) in [
        ("rm src/f2", "echo back > src/f2", "2 files, +3: `.gitignore`, `src/f2`"),
        ("mv src/f1 src/g1", "echo w >> src/g1", "2 files, +3: `.gitignore`, `src/g1`"),
        (
            "echo x > own",
            "echo w >> src/f1; echo y > own",
            "3 files, +4 -1: `.gitignore`, `own`, `src/f1`",
        ),
    ] {
        for is_tracked in [true, false] {
            let rule = format!("printf '/src\\n/own\\n' >> .gitignore; {then}");
            let session = project(&[first, &rule]);
            for name in ["src/f1", "src/f2"] {
                session.write(name, format!("the text of {name}\n"));
            }
            if is_tracked {
                commit(&session);
            }
            let before = copy(&session);
            session.run().exits(0);
            let after = copy(&session);
            assert_eq!(changed(&session, "a2"), told, "{then}");
            undo(&session, &["--all"]).exits(0);
            assert_eq!(copy(&session), before, "{then}");
            undo(&session, &["--back"]).exits(0);
            assert_eq!(copy(&session), after, "{then}");
            // The next run finds the rules as they are.
            session.write(
                "script.yaml",
                "a:\n  - complete: {summary: did}\nb:\n  - complete: {summary: did}\n",
            );
            session.run().exits(0);
            let log = session.chronicle(&["log"]).exits(0).stdout;
            assert!(!log.contains("changed"), "{log}");
            let tree =
                session.events_of("tree_recorded")[0]["data"]["tree"].as_str().unwrap().to_owned();
            let list = format!("git --git-dir=.chronicle/trees.git ls-tree -r --name-only {tree}");
            let names = session.shell(&list).exits(0).stdout;
            assert_eq!(names.contains("src/"), is_tracked, "{names}");
        }
    }
}

#[test]
fn needs_git_the_first_attempt_hides_nothing_either() {
    let session = project(&["printf '/src\\n' >> .gitignore; echo w >> src/f; echo n > src/new"]);
    session.write("src/f", "f\n");
    session.run().exits(0);
    // What is new and ignored is left out, as git does.
    assert_eq!(changed(&session, "a1"), "2 files, +2: `.gitignore`, `src/f`");
    undo(&session, &["--all"]).exits(0);
    assert_eq!((session.read("src/f"), session.read("src/new")), ("f\n".into(), "n\n".into()));
}

#[test]
fn needs_git_a_tracked_file_that_rules_hid_and_showed_goes_back_and_forth() {
    let session = project(&["printf '*.tmp\\nscript.yaml\\n' > .gitignore; rm t.log"]);
    session.write(".gitignore", "script.yaml\n*.log\n");
    session.write("t.log", "kept\n");
    commit(&session);
    let before = copy(&session);
    session.run().exits(0);
    let after = copy(&session);
    for _ in 0..2 {
        undo(&session, &["--all"]).exits(0);
        assert_eq!(copy(&session), before);
        undo(&session, &["--back"]).exits(0);
        assert_eq!(copy(&session), after);
    }
}
