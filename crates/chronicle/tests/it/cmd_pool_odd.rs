//! Pools in odd places: plans that nobody can follow, ids and names that look like something else, repositories in the middle of
//! something, folders that go away, disks without room. Clear words, and nothing lost.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::session::{Session, Started, until};

const TWO: &str = "name: Main
phases:
  - {id: build, run: pool, slots: 2, merge: in_order, instructions: do it, steps: [{id: a}, {id: b}]}
";
/// Each changes a line of its own in the same file, and brings one.
const TWO_SCRIPT: &str = "
build/a/work:
  - edit: {path: lines.txt, find: one, replace: ONE}
  - write: {path: a.txt, text: a}
  - complete: {summary: made a}
build/b/work:
  - edit: {path: lines.txt, find: nine, replace: NINE}
  - write: {path: b.txt, text: b}
  - complete: {summary: made b}
";
const LINES: &str = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n";
const MERGED: &str = "ONE\n2\n3\n4\n5\n6\n7\n8\nNINE\n";
const GIT_INIT: &str =
    "git init -q -b main && git config user.email a@example.org && git config user.name a";

/// A project with that workflow; `made` are further words for the shell, before the first commit.
fn project(workflow: &str, script: &str, made: &str) -> Session {
    let session = Session::with(workflow, script);
    session.write("lines.txt", LINES);
    session.write(".gitignore", "script.yaml\nplan.json\n");
    let line = format!("{GIT_INIT} && {made}git add -A && git commit -qm first");
    session.shell(&line).exits(0);
    session
}

#[track_caller]
fn is_merged(session: &Session) {
    assert_eq!(session.read("lines.txt"), MERGED);
    assert_eq!((session.read("a.txt"), session.read("b.txt")), ("a".to_owned(), "b".to_owned()));
    session.assert_whole();
}

fn folder(session: &Session, step: &str) -> PathBuf {
    let view = session.json(&["status"]);
    let rows = view["folders"].as_array().cloned().unwrap_or_default();
    let row = rows.iter().find(|row| row["place"] == json!(step));
    PathBuf::from(row.and_then(|row| row["path"].as_str()).unwrap())
}

const FROM_FILE: &str = "name: Main
phases:
  - {id: build, run: pool, slots: 2, steps_from: plan.json, instructions: do it}
";

#[test]
fn needs_git_plans_that_cannot_be_followed_are_refused_in_words() {
    let session = project(FROM_FILE, "work: [{complete: {summary: made}}]", "");
    let thousands: Vec<Value> =
        (0..5_000).map(|number| json!({"id": format!("s{number}")})).collect();
    session.write("plan.json", json!({"steps": thousands}).to_string());
    session.run().exits(4).talks("the steps cannot be read from `plan.json`: more than 500 steps");
    let run = session.short();
    let refused = [
        (json!([{"id": "a/b"}]), "the id `a/b` contains `/`, which separates places"),
        (json!([{"id": ""}]), "step 1 must have a text as `id`"),
        (json!([{"id": "."}]), "is no name"),
        (json!([{"id": ".."}]), "is no name"),
        (json!([{"id": " a"}]), "begins or ends with a space"),
        (json!([{"id": "a\u{202e}b"}]), "step"),
        (json!([{"id": "a\nb"}]), "step"),
        (json!([{"id": "a"}, {"id": "a"}]), "another step is called `a`"),
        (json!([]), "at least one step"),
        (json!({"steps": "many"}), "a plan is"),
        (json!(7), "a plan is"),
    ];
    for (plan, words) in refused {
        session.write("plan.json", plan.to_string());
        session.chronicle(&["retry", &run, "build"]).exits(0);
        let said = session.chronicle(&["resume"]).exits(4).talks(words);
        assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
    }
    // Long, but not too long.
    let text = (0..2_000_000).fold(String::new(), |mut text, _| {
        text.push(' ');
        text
    });
    session.write("plan.json", format!("[{{\"id\": \"a\"}}]{text}"));
    session.chronicle(&["retry", &run, "build"]).exits(0);
    session
        .chronicle(&["resume"])
        .exits(4)
        .talks("has 2000013 bytes, and at most 1048576 are read");
    // The mark of an encoding that some editors write is no reason to refuse it.
    session.write("plan.json", "\u{feff}[{\"id\": \"a\"}]");
    session.chronicle(&["retry", &run, "build"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    session.assert_whole();
}

#[test]
fn needs_git_ids_that_look_like_something_else_are_only_names() {
    let ids = ["ünï.code", "a b", "step@2", "-rf", "work", "setup", "~", "$HOME", "w1", "*"];
    let mut workflow = TWO[..TWO.find("steps:").unwrap()].to_owned() + "steps: [";
    let mut script = String::new();
    for (number, id) in ids.iter().enumerate() {
        let _ = write!(workflow, "{{id: '{id}'}}, ");
        let _ = writeln!(
            script,
            "'build/{id}/work': [{{write: {{path: f{number}, text: '{number}'}}}}, {{complete: {{summary: made}}}}]"
        );
    }
    let session = project(&(workflow + "]}\n"), &script, "");
    session.run().exits(0);
    for number in 0..ids.len() {
        assert_eq!(session.read(&format!("f{number}")), number.to_string());
    }
    let view = session.json(&["status"]);
    let steps = view["pools"][0]["steps"].as_array().unwrap();
    let shown: Vec<&str> = steps.iter().map(|step| step["place"].as_str().unwrap()).collect();
    let places: Vec<String> = ids.iter().map(|id| format!("build/{id}")).collect();
    assert_eq!(shown, places);
    session.assert_whole();
}

#[test]
fn needs_git_a_rebase_in_the_middle_stays_in_the_middle() {
    let session = project(TWO, TWO_SCRIPT, "");
    let begun = "echo other > other && git add other && git commit -qm two && git checkout -qb side HEAD~1 && \
                 echo mine > other && git add other && git commit -qm three && ! git rebase -q main";
    session.shell(begun).exits(0);
    let stand = || {
        let line = "git status --short -- other; cat other .git/HEAD; ls .git/rebase-merge; git ls-files -s";
        session.shell(line).exits(0).stdout
    };
    let before = stand();
    assert!(before.contains("AA other"), "{before}");
    session.run().exits(0);
    assert_eq!(stand(), before);
    is_merged(&session);
    let on = "echo both > other && git add -A && GIT_EDITOR=true git rebase --continue";
    session.shell(on).exits(0);
    is_merged(&session);
}

#[test]
fn needs_git_submodules_stay_what_they_are() {
    let sub = "mkdir ../sub && (cd ../sub && git init -q && echo s > s && git add s && \
               git -c user.name=a -c user.email=a@example.org commit -qm s) && \
               git -c protocol.file.allow=always submodule --quiet add ../sub sub && ";
    let session = project(TWO, TWO_SCRIPT, &sub.replace("../sub sub", "\"$PWD/../sub\" sub"));
    let stand = || {
        let line =
            "git submodule status; cat sub/s; git -C sub status --porcelain; git ls-files -s sub";
        session.shell(line).exits(0).stdout
    };
    let before = stand();
    session.run().exits(0);
    assert_eq!(stand(), before);
    is_merged(&session);
}

#[test]
fn needs_git_files_that_are_not_checked_out_stay_away() {
    let made = "mkdir far near && echo far > far/f && echo near > near/n && ";
    let session = project(TWO, TWO_SCRIPT, made);
    session.shell("git sparse-checkout set near .chronicle/workflows").exits(0);
    assert!(session.has("near/n") && !session.has("far"));
    session.run().exits(0);
    assert!(session.has("near/n") && !session.has("far"));
    is_merged(&session);
    let changed = session.shell("git status --porcelain -- . ':!.chronicle'").exits(0).stdout;
    assert_eq!(changed, " M lines.txt\n?? a.txt\n?? b.txt\n", "nothing looks removed");
}

#[test]
fn needs_git_line_ends_stay_as_they_are() {
    let session = project(TWO, TWO_SCRIPT, "git config core.autocrlf true && ");
    let crlf = LINES.replace('\n', "\r\n");
    session.write("lines.txt", &crlf);
    session.shell("git add -A").exits(0);
    session.run().exits(0);
    assert_eq!(session.read("lines.txt"), MERGED.replace('\n', "\r\n"));
    session.assert_whole();
}

#[test]
fn needs_git_files_with_odd_names_are_merged() {
    let script = "
build/a/work: [{shell: {command: sh ./odd.sh}}, {complete: {summary: made a}}]
build/b/work: [{complete: {summary: made b}}]
";
    let session = project(TWO, script, "");
    let command = "for f in *; do [ \"$f\" = odd.sh ] || echo a >> \"./$f\"; done\n\
                   printf new > \"$(printf 'n\\351w')\"\nln -s nowhere 'a link'\n";
    session.write("odd.sh", command);
    let names: [&[u8]; 7] =
        [b"-rf", b"two\nlines", b"caf\xe9", b" space ", b"\"quoted\"", "🎉".as_bytes(), b"a\\b"];
    for name in names {
        fs::write(session.project().join(OsStr::from_bytes(name)), "first\n").unwrap();
    }
    session.shell("git add -A && git commit -qm odd").exits(0);
    session.run().exits(0);
    for name in names {
        let text = fs::read_to_string(session.project().join(OsStr::from_bytes(name))).unwrap();
        assert_eq!(text, "first\na\n", "{}", String::from_utf8_lossy(name));
    }
    let new = session.project().join(OsStr::from_bytes(b"n\xe9w"));
    assert_eq!(fs::read_to_string(new).unwrap(), "new");
    assert_eq!(fs::read_link(session.path("a link")).unwrap(), PathBuf::from("nowhere"));
    session.assert_whole();
}

/// The script, with `a` waiting until the file `go` is in the project, which its worker can see.
fn waiting(session: &Session) -> String {
    let go = session.path("go");
    TWO_SCRIPT.replacen(
        "build/a/work:\n",
        &format!("build/a/work:\n  - wait_for: {{file: '{}'}}\n", go.display()),
        1,
    )
}

/// A run with `a` waiting in its folder.
fn held() -> (Session, Started) {
    let session = project(TWO, TWO_SCRIPT, "echo go >> .gitignore && ");
    session.write("script.yaml", waiting(&session));
    let supervisor = session.spawn_run();
    until("`b` is done and `a` waits", || {
        let ended = session.ledger_lines() > 0 && session.events_of("attempt_ended").len() == 1;
        ended && session.events_of("session_opened").len() == 2
    });
    (session, supervisor)
}

#[test]
fn needs_git_a_folder_that_is_removed_under_its_worker_is_made_again() {
    let (session, supervisor) = held();
    fs::remove_dir_all(folder(&session, "build/a")).unwrap();
    session.write("go", "");
    // Its worker fails, and the next one works in a folder that is made from what was recorded last.
    let said = supervisor.wait().exits(0);
    assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
    said.talks("is gone, and is made again from the files that were recorded last");
    is_merged(&session);
}

/// What became of a folder is told, and it is made again before anybody works.
fn made_again(session: &Session) {
    session.write("go", "");
    let said = session.chronicle(&["resume"]).exits(0);
    said.talks("is gone, and is made again from the files that were recorded last");
    is_merged(session);
}

#[test]
fn needs_git_a_folder_that_is_removed_while_nobody_works_is_made_again() {
    let (session, supervisor) = held();
    supervisor.kill();
    fs::remove_dir_all(folder(&session, "build/a")).unwrap();
    made_again(&session);
}

#[test]
fn needs_git_a_link_in_the_place_of_a_folder_leads_nobody_away() {
    let (session, supervisor) = held();
    supervisor.kill();
    let place = folder(&session, "build/a");
    let outside = session.project().parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("lines.txt"), LINES).unwrap();
    fs::remove_dir_all(&place).unwrap();
    symlink(&outside, &place).unwrap();
    made_again(&session);
    assert_eq!(fs::read_to_string(outside.join("lines.txt")).unwrap(), LINES);
    assert!(!outside.join("a.txt").exists());
}

#[test]
fn needs_git_two_runs_in_one_project_come_one_after_the_other() {
    let (session, first) = held();
    session.write(
        "second.yaml",
        "work: [{complete: {summary: nothing}}]\n\
         build/b/work: [{edit: {path: lines.txt, find: ONE, replace: ONE}}, {write: {path: c.txt, text: c}}, {complete: {summary: c}}]",
    );
    let second = session.spawn(&["run", "main", "again", "--agent", "scripted:second.yaml"]);
    until("the second run waits", || second.talk().contains("Waiting: run"));
    session.write("go", "");
    first.wait().exits(0);
    // Its steps find what those of the first one left.
    second.wait().exits(0);
    is_merged(&session);
    assert_eq!((session.runs().len(), session.read("c.txt")), (2, "c".to_owned()));
}

#[test]
fn needs_git_a_disk_that_is_full_in_the_middle_of_a_merge_is_told_and_nothing_has_changed() {
    let script = TWO_SCRIPT.replacen(
        "  - write: {path: a.txt, text: a}\n",
        "  - write: {path: a.txt, text: a}\n  - shell: {command: head -c 3000000 /dev/zero > big}\n",
        1,
    );
    let session = project(TWO, &script, "");
    let disk = session.path(".chronicle/merge");
    fs::create_dir_all(&disk).unwrap();
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(&disk).output();
    if !mounted.is_ok_and(|mounted| mounted.status.success()) {
        return skipped();
    }
    let said = session.run();
    let unmounted = Command::new("umount").arg(&disk).status().unwrap();
    assert!(unmounted.success());
    let said = said.exits(4).talks("No space left");
    assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
    assert!(!session.has("a.txt") && !session.has("big"));
    assert!(session.read("lines.txt").starts_with("one\n"), "{}", session.read("lines.txt"));
    let view = session.json(&["status"]);
    let gate = view["needs_you"][0]["gate"].as_str().unwrap().to_owned();
    session.chronicle(&["answer", &session.short(), &gate, "again"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(fs::metadata(session.path("big")).unwrap().len(), 3_000_000);
    is_merged(&session);
}

#[expect(clippy::print_stderr, reason = "nobody is to believe that it was shown")]
fn skipped() {
    eprintln!("SKIPPED: a full disk was not tried, since this user may not mount one");
}

/// Dies in the call whose number is `$DIES`.
const MORTAL: &str = r#"#!/bin/sh
n=1
while ! mkdir "$CALLS/$n" 2>/dev/null; do n=$((n + 1)); done
[ "$n" = "$DIES" ] || exec REAL "$@"
echo "$*" >"$CALLS/died"
kill -9 $$
"#;

/// Whichever git is killed, the run ends, or a person is asked in words and it ends after another try.
#[test]
fn needs_git_a_git_that_is_killed_while_folders_are_made_and_merged_loses_nothing() {
    let paths = std::env::var_os("PATH").unwrap();
    let mut real = std::env::split_paths(&paths).map(|folder| folder.join("git"));
    let real = real.find(|path| path.is_file()).unwrap();
    let mut died = Vec::new();
    for nth in (1..).step_by(23) {
        let session = project(TWO, TWO_SCRIPT, "");
        let folder = session.project().parent().unwrap().join("mortal");
        let calls = folder.join("calls");
        fs::create_dir_all(&calls).unwrap();
        let git = folder.join("git");
        fs::write(&git, MORTAL.replace("REAL", real.to_str().unwrap())).unwrap();
        fs::set_permissions(&git, PermissionsExt::from_mode(0o755)).unwrap();
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.env("PATH", format!("{}:{}", folder.display(), paths.to_str().unwrap()));
        command.env("CALLS", &calls).env("DIES", nth.to_string());
        command.args(["run", "main", "task", "--agent", "scripted:script.yaml"]);
        let said = session.start(command, "").wait();
        let Ok(what) = fs::read_to_string(calls.join("died")) else { break };
        assert!(!said.stderr.contains("panicked"), "call {nth}, {what}: {}", said.stderr);
        if said.code != Some(0) {
            let said = said.exits(4);
            go_on(&session, &format!("call {nth}, {what}: {}", said.stderr));
        }
        is_merged(&session);
        died.push(what);
    }
    assert!(died.len() > 3, "{died:?}");
}

/// A person has what failed tried again.
fn go_on(session: &Session, told: &str) {
    let view = session.json(&["status"]);
    let (run, gate) = (session.short(), &view["needs_you"][0]);
    let id = gate["gate"].as_str().unwrap_or_else(|| panic!("nobody is asked: {told}"));
    if gate["kind"] == "conflict" {
        session.chronicle(&["answer", &run, id, "again"]).exits(0);
    } else {
        let steps = view["pools"][0]["steps"].as_array().unwrap();
        let failed = steps.iter().filter(|step| step["failed"] == true);
        for step in failed {
            session.chronicle(&["retry", &run, step["place"].as_str().unwrap()]).exits(0);
        }
    }
    let said = session.chronicle(&["resume"]);
    assert_eq!(said.code, Some(0), "{told}\n{}", said.stderr);
}
