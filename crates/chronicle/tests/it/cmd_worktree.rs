//! Runs that work apart: several at once on one project, each merged when a person says so.

use std::fs;

use serde_json::{Value, json};

use crate::session::{Session, until};

const WORKFLOW: &str = "name: Main\nphases: [{id: work, instructions: do it}]\n";
/// Waits in its own folder until somebody lets it go on.
const SLOW: &str = "work:
  - wait_for: {file: go}
  - edit: {path: lines.txt, find: one, replace: ONE}
  - write: {path: slow.txt, text: slow}
  - complete: {summary: made slow}
";
const QUICK: &str = "work:
  - edit: {path: lines.txt, find: three, replace: THREE}
  - write: {path: quick.txt, text: quick}
  - complete: {summary: made quick}
";
/// Changes the line that `SLOW` changes too.
const RIVAL: &str = "work:
  - edit: {path: lines.txt, find: one, replace: '1'}
  - write: {path: rival.txt, text: rival}
  - complete: {summary: made rival}
";

fn project(has_git: bool) -> Session {
    let session = Session::with(WORKFLOW, QUICK);
    session.write("slow.yaml", SLOW);
    session.write("rival.yaml", RIVAL);
    session.write("lines.txt", "one\n\n\n\ntwo\n\n\n\nthree\n");
    session.write(".gitignore", "script.yaml\nslow.yaml\nrival.yaml\ngo\n");
    if has_git {
        let first = "git init -q && git config user.email a@example.org && git config user.name a";
        session.shell(first).exits(0);
        session.shell("git add -A && git commit -qm first").exits(0);
    }
    session
}

fn args(script: &'static str) -> [&'static str; 6] {
    ["run", "main", "task", "--agent", script, "--worktree"]
}

/// Runs apart to its end. Returns the run.
fn ran(session: &Session, script: &'static str) -> String {
    let before = session.runs();
    session.chronicle(&args(script)).exits(0);
    newest(session, &before)
}

fn newest(session: &Session, before: &[String]) -> String {
    let run = session.runs().into_iter().find(|run| !before.contains(run)).unwrap();
    crate::session::short(&run).to_owned()
}

fn apart(session: &Session, run: &str) -> Value {
    session.json(&["status", run])["apart"].clone()
}

fn folder(session: &Session, run: &str) -> String {
    apart(session, run)["path"].as_str().unwrap().to_owned()
}

fn gate(session: &Session, run: &str) -> String {
    let view = session.json(&["status", run]);
    view["needs_you"][0]["gate"].as_str().unwrap().to_owned()
}

fn whole(session: &Session) {
    for run in session.runs() {
        session.chronicle(&["audit", &run, "--replay"]).exits(0);
    }
    let merges = session.path(".chronicle/merge");
    assert!(!merges.exists() || fs::read_dir(merges).unwrap().next().is_none());
}

#[test]
fn needs_git_runs_work_at_once_and_all_are_merged() {
    let session = project(true);
    let slow = session.spawn(&args("scripted:slow.yaml"));
    until("it works", || session.runs().len() == 1);
    let first = newest(&session, &[]);
    until("its folder is there", || {
        let said = session.chronicle(&["status", &first, "--json"]);
        said.code == Some(0) && said.json()["working"][0]["attempt"] == json!("a1")
    });
    // Neither a second run apart nor one in the project waits for the first.
    let second = ran(&session, "scripted:script.yaml");
    assert_eq!(session.read("lines.txt"), "one\n\n\n\ntwo\n\n\n\nthree\n", "nothing is merged");
    session.write(
        "plain.yaml",
        "work: [{write: {path: plain.txt, text: p}}, {complete: {summary: made}}]",
    );
    session.chronicle(&["run", "main", "task", "--agent", "scripted:plain.yaml"]).exits(0);
    assert_eq!(session.read("plain.txt"), "p");
    session.chronicle(&["merge", &first]).exits(2).talks("the run is not over");
    fs::write(format!("{}/go", folder(&session, &first)), "").unwrap();
    assert_eq!(slow.wait().code, Some(0));
    session.chronicle(&["status", &second]).exits(0).prints("not merged yet");
    session.chronicle(&["runs"]).exits(0).prints("(not merged)");
    session.chronicle(&["merge"]).exits(2).talks("say which run is meant");
    for run in [&second, &first] {
        session.chronicle(&["diff", run, "--name-only"]).exits(0).prints("lines.txt");
        session.chronicle(&["merge", run]).exits(0).prints("is merged: 2 files");
    }
    assert_eq!(session.read("lines.txt"), "ONE\n\n\n\ntwo\n\n\n\nTHREE\n");
    assert_eq!(session.read("slow.txt") + &session.read("quick.txt"), "slowquick");
    session.chronicle(&["merge", &first]).exits(0).prints("merged already");
    assert_eq!(apart(&session, &first)["path"], json!(null), "its folder is gone");
    session.chronicle(&["diff", &first, "--name-only"]).exits(0).prints("slow.txt");
    session.chronicle(&["undo", &first, "--all", "--yes"]).exits(2).talks("was merged");
    whole(&session);
}

/// Two runs that changed the same line; the first of them is merged.
fn in_conflict() -> (Session, String) {
    let session = project(true);
    session.write("slow.yaml", SLOW.replace("  - wait_for: {file: go}\n", ""));
    let (one, two) = (ran(&session, "scripted:slow.yaml"), ran(&session, "scripted:rival.yaml"));
    session.chronicle(&["merge", &one]).exits(0);
    let said = session.chronicle(&["merge", &two]).exits(4);
    said.prints("in conflict with the project").prints("lines.txt").prints("resolved");
    assert_eq!(session.read("lines.txt"), "ONE\n\n\n\ntwo\n\n\n\nthree\n", "it is left as it is");
    assert!(!session.has("rival.txt"));
    (session, two)
}

#[test]
fn needs_git_a_conflict_is_resolved_in_the_runs_folder() {
    let (session, run) = in_conflict();
    let marked = format!("{}/lines.txt", folder(&session, &run));
    let text = fs::read_to_string(&marked).unwrap();
    assert!(text.contains("<<<<<<<") && text.contains(">>>>>>>"), "{text}");
    session.chronicle(&["merge", &run]).exits(2).talks("asks about the merge");
    let said = session.chronicle(&["answer", &run, &gate(&session, &run), "resolved"]).exits(4);
    said.prints("still has conflict marks");
    fs::write(&marked, "ONE and 1\n\n\n\ntwo\n\n\n\nthree\n").unwrap();
    // What a person edits meanwhile is part of the merge.
    session.write("lines.txt", "ONE\n\n\n\ntwo\n\n\n\nthree\nmine\n");
    session.chronicle(&["answer", &run, &gate(&session, &run), "resolved"]).exits(0);
    assert_eq!(session.read("lines.txt"), "ONE and 1\n\n\n\ntwo\n\n\n\nthree\nmine\n");
    assert_eq!(session.read("rival.txt"), "rival");
    assert_eq!(apart(&session, &run)["merged"], json!(true));
    whole(&session);
}

#[test]
fn needs_git_one_side_wins_or_the_work_is_dropped() {
    for (word, line) in [("ours", "ONE"), ("theirs", "1"), ("drop", "ONE")] {
        let (session, run) = in_conflict();
        // Marks that are left are nobody's side.
        session.chronicle(&["answer", &run, &gate(&session, &run), "resolved"]).exits(4);
        session.chronicle(&["answer", &run, &gate(&session, &run), word]).exits(0);
        assert_eq!(
            session.read("lines.txt"),
            format!("{line}\n\n\n\ntwo\n\n\n\nthree\n"),
            "{word}"
        );
        assert_eq!(session.has("rival.txt"), word != "drop", "{word}");
        assert_eq!(apart(&session, &run)["path"], json!(null), "{word}");
        whole(&session);
    }
}

/// Killed at each point of making the folder, it goes on where it was; killed at each point of a merge, the next one finishes it.
#[test]
fn needs_git_deaths_change_nothing() {
    for point in ["in-work:1", "before-merge-stage:1"] {
        let session = project(true);
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.env("CHRONICLE_FAILPOINT", point).args(args("scripted:script.yaml"));
        let died = session.start(command, "").wait();
        assert_ne!(died.code, Some(0), "{point} was not reached: {}", died.stderr);
        session.chronicle(&["resume"]).exits(0);
        let run = newest(&session, &[]);
        assert!(!session.has("quick.txt"), "{point}");
        session.chronicle(&["merge", &run]).exits(0);
        assert_eq!(session.read("quick.txt"), "quick", "{point}");
        whole(&session);
        session.assert_nothing_lives();
    }
    let points = [
        "before-merge-stage:1",
        "before-merge-write:1",
        "in-merge-write:1",
        "in-merge-swap:1",
        "before-merge-end:1",
        "before-answer:1",
    ];
    for (point, how) in points.iter().flat_map(|point| [(point, "merge"), (point, "resume")]) {
        let session = project(true);
        let run = ran(&session, "scripted:script.yaml");
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.env("CHRONICLE_FAILPOINT", point).args(["merge", &run]);
        let died = session.start(command, "").wait();
        assert_ne!(died.code, Some(0), "{point} was not reached: {}", died.stderr);
        let said = session.chronicle(&[how, &run]).exits(0);
        assert_eq!(session.read("quick.txt"), "quick", "{point} {how}: {}", said.stderr);
        assert_eq!(session.read("lines.txt"), "one\n\n\n\ntwo\n\n\n\nTHREE\n", "{point} {how}");
        assert_eq!(apart(&session, &run)["merged"], json!(true), "{point} {how}");
        assert_eq!(session.events_of("run_merge_began").len(), 1, "{point} {how}");
        whole(&session);
    }
}

/// Nothing begins on a project that has half of a merge.
#[test]
fn needs_git_no_run_begins_on_half_a_merge() {
    let session = project(true);
    let run = ran(&session, "scripted:script.yaml");
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.env("CHRONICLE_FAILPOINT", "in-merge-write:1").args(["merge", &run]);
    session.start(command, "").wait();
    session.run().exits(2).talks("was interrupted").talks(&format!("chronicle merge {run}"));
    session.chronicle(&["status", &run]).exits(0).prints("its merge was interrupted");
    session.chronicle(&["merge", &run]).exits(0);
    whole(&session);
}

#[test]
fn needs_git_a_folder_that_is_gone_is_made_again_from_its_last_files() {
    let session = project(true);
    let run = ran(&session, "scripted:script.yaml");
    fs::remove_dir_all(folder(&session, &run)).unwrap();
    session.chronicle(&["merge", &run]).exits(0);
    assert_eq!(session.read("quick.txt"), "quick");
    assert_eq!(session.events_of("folder_lost").len(), 1);
    whole(&session);
}

#[test]
fn needs_git_work_that_went_with_its_folder_is_done_again() {
    let session = project(true);
    let go = session.path("go");
    let script = format!(
        "work:
  1:
    - write: {{path: made.txt, text: made}}
    - wait_for: {{file: '{}'}}
    - complete: {{summary: made it}}
  otherwise:
    - write: {{path: made.txt, text: again}}
    - complete: {{summary: made it again}}
",
        go.display()
    );
    session.write("lossy.yaml", script);
    let supervisor = session.spawn(&args("scripted:lossy.yaml"));
    until("it works", || session.runs().len() == 1);
    let run = newest(&session, &[]);
    let made = || {
        let said = session.chronicle(&["status", &run, "--json"]);
        // Its first line may not be there yet.
        let view = (said.code == Some(0)).then(|| said.json())?;
        let own = view["apart"]["path"].as_str().map(str::to_owned)?;
        fs::exists(format!("{own}/made.txt")).is_ok_and(|is_there| is_there).then_some(own)
    };
    until("it has written", || made().is_some());
    fs::remove_dir_all(made().unwrap()).unwrap();
    fs::write(&go, "").unwrap();
    supervisor.wait().exits(0).talks("the folder was removed, with all that was changed in it");
    session.chronicle(&["merge"]).exits(0).prints("is merged: 1 file");
    assert_eq!(session.read("made.txt"), "again");
    whole(&session);
}

#[test]
fn needs_git_a_folder_that_somebody_emptied_is_made_again() {
    let session = project(true);
    let run = ran(&session, "scripted:script.yaml");
    let own = folder(&session, &run);
    let around = std::path::Path::new(&own).parent().unwrap();
    fs::remove_dir_all(around).unwrap();
    fs::create_dir(around).unwrap();
    session.chronicle(&["merge", &run]).exits(0);
    assert_eq!(session.read("quick.txt"), "quick");
    whole(&session);
}

/// Nothing but an empty folder is left: that is no work that removes all files.
#[test]
fn needs_git_a_folder_without_any_files_does_not_empty_the_project() {
    for keeps_git in [true, false] {
        let session = project(true);
        session.write("keep.txt", "not committed");
        let run = ran(&session, "scripted:script.yaml");
        for entry in fs::read_dir(folder(&session, &run)).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if keeps_git && path.ends_with(".git") => {}
                true => fs::remove_dir_all(path).unwrap(),
                false => fs::remove_file(path).unwrap(),
            }
        }
        session.chronicle(&["merge", &run]).exits(0).prints("is merged: 2 files");
        assert_eq!(session.read("keep.txt") + &session.read("quick.txt"), "not committedquick");
        whole(&session);
    }
}

#[test]
fn needs_git_gc_keeps_the_folder_of_a_run_whose_record_is_away() {
    let session = project(true);
    let run = ran(&session, "scripted:script.yaml");
    let own = folder(&session, &run);
    let (runs, away) = (session.path(".chronicle/runs"), session.path("away"));
    fs::rename(&runs, &away).unwrap();
    session.chronicle(&["gc", "--yes"]).exits(0).talks("the record of the run is gone");
    assert!(fs::exists(&own).unwrap());
    fs::remove_dir_all(&runs).ok();
    fs::rename(&away, &runs).unwrap();
    session.chronicle(&["merge", &run]).exits(0);
    assert_eq!(session.read("quick.txt"), "quick");
    let second = ran(&session, "scripted:rival.yaml");
    let own = folder(&session, &second);
    fs::remove_dir_all(&runs).unwrap();
    session.chronicle(&["gc", "--drop", &second]).exits(2).talks("only there");
    session.chronicle(&["gc", "--drop", &second, "--yes"]).exits(0).prints("Removed");
    assert!(!fs::exists(&own).unwrap());
}

#[test]
fn needs_git_gc_keeps_what_is_only_in_a_work_folder() {
    let session = project(true);
    session.write(".chronicle/config.toml", "[trees]\nmax_file_mb = 1\n");
    let script = "work:\n  - shell: {command: 'head -c 2000000 /dev/zero > big.bin'}\n  - complete: {summary: made}\n";
    session.write("big.yaml", script);
    let run = ran(&session, "scripted:big.yaml");
    let own = folder(&session, &run);
    let big = format!("{own}/big.bin");
    session.chronicle(&["merge", &run]).exits(4).prints("big.bin").prints("trees.max_file_mb");
    session.chronicle(&["gc", "--yes"]).exits(0).talks(&format!("`chronicle answer {run} g1`"));
    session.chronicle(&["answer", &run, "g1"]).exits(2).talks("one of `resolved`, `ours`, `drop`");
    session.chronicle(&["answer", &run, "g1", "ours"]).exits(0).prints("its folder is kept");
    session
        .chronicle(&["gc", "--days", "0", "--yes"])
        .exits(0)
        .talks("only there")
        .talks("big.bin");
    assert!(fs::exists(&big).unwrap());
    session.chronicle(&["gc", "--drop", &run, "--yes"]).exits(0).prints("dropped");
    assert!(!fs::exists(&big).unwrap());
    whole(&session);
}

#[test]
fn needs_git_undo_and_pools_work_in_the_runs_folder() {
    let workflow = "name: Main
phases:
  - {id: build, run: pool, slots: 2, instructions: do it, steps: [{id: a}, {id: b}]}
  - {id: check, run: command, commands: [cat a b, test -n \"$PWD\", pwd > where]}
";
    let script = "build/a/work: [{write: {path: a, text: a}}, {complete: {summary: made}}]
build/b/work: [{write: {path: b, text: b}}, {complete: {summary: made}}]
";
    let session = project(true);
    session.write(".chronicle/workflows/main.yaml", workflow);
    session.write("script.yaml", script);
    let run = ran(&session, "scripted:script.yaml");
    let own = folder(&session, &run);
    assert_eq!(fs::read_to_string(format!("{own}/where")).unwrap().trim(), own);
    assert!(fs::read_to_string(format!("{own}/a")).is_ok() && !session.has("a"));
    session.chronicle(&["undo", &run, "check", "--yes"]).exits(0).prints("1 file restored");
    assert!(!fs::exists(format!("{own}/where")).unwrap());
    session.chronicle(&["merge", &run, "--keep"]).exits(0).prints("its folder is kept");
    assert_eq!(session.read("a") + &session.read("b"), "ab");
    assert!(!session.has("where") && fs::exists(&own).unwrap());
    session.chronicle(&["gc", "--yes"]).exits(0).talks("can go");
    assert!(!fs::exists(&own).unwrap());
    whole(&session);
}

#[test]
fn needs_git_gc_drops_work_only_when_told() {
    let session = project(true);
    let run = ran(&session, "scripted:script.yaml");
    let own = folder(&session, &run);
    session.chronicle(&["gc", "--days", "0", "--yes"]).exits(0).talks("NOT merged").talks(&own);
    assert!(fs::exists(&own).unwrap());
    session.chronicle(&["gc", "--drop", &run]).exits(2).talks("NOT in the project");
    assert!(fs::exists(&own).unwrap());
    session.chronicle(&["gc", "--drop", &run, "--yes"]).exits(0).prints("dropped");
    assert!(!fs::exists(&own).unwrap() && !session.has("quick.txt"));
    session.chronicle(&["merge", &run]).exits(2).talks("was dropped");
    whole(&session);
}

/// What a person edited and did not commit is part of the folder; what is ignored is not.
#[test]
fn needs_git_a_run_begins_with_what_a_person_has() {
    let session = project(true);
    session.write("mine.txt", "mine");
    session.write("go", "ignored");
    let run = ran(&session, "scripted:script.yaml");
    let own = folder(&session, &run);
    assert_eq!(fs::read_to_string(format!("{own}/mine.txt")).unwrap(), "mine");
    assert!(!fs::exists(format!("{own}/go")).unwrap());
    let refs = "git for-each-ref; git worktree list; git stash list";
    let before = session.shell(refs).stdout;
    session.chronicle(&["merge", &run]).exits(0).prints("2 files");
    assert_eq!(session.shell(refs).stdout, before);
    assert_eq!(session.read("mine.txt"), "mine");
}

#[test]
fn needs_git_a_project_without_a_repository_works_apart_too() {
    let session = project(false);
    let run = ran(&session, "scripted:script.yaml");
    assert!(!session.has("quick.txt"));
    session.chronicle(&["merge", &run]).exits(0);
    assert_eq!(session.read("quick.txt"), "quick");
    whole(&session);
}

#[test]
fn only_the_work_of_a_run_apart_is_merged() {
    let session = project(false);
    session.run().exits(0);
    session.chronicle(&["merge", &session.short()]).exits(2).talks("works in the project itself");
}

/// Without git nothing can be recorded, so nothing can be made: a person is told, and the project is never worked in instead.
#[test]
fn without_git_a_run_apart_asks() {
    let session = project(false);
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.env("PATH", session.path("nothing")).args(args("scripted:script.yaml"));
    let said = session.start(command, "").wait();
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    said.talks("the run's own folder could not be made");
    assert!(!session.has("quick.txt"));
}
