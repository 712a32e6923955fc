//! `chronicle undo` as a person meets it: the question on a terminal, what a program reads, files that cannot be read, and
//! the room that all of it takes.

use serde_json::json;

use crate::session::{Session, until};
use crate::terminal::Terminal;

const WORKFLOW: &str = "{name: Two, phases: [{id: plan}, {id: build}]}";
const SCRIPT: &str = r#"
plan:
  - write: {path: notes.md, text: "a plan\n"}
  - complete: {summary: planned}
build:
  - edit: {path: main.c, find: "1", replace: "2"}
  - delete: {path: old.txt}
  - complete: {summary: built}
"#;

fn project() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write("main.c", "return 1;\n");
    session.write("old.txt", "old\n");
    session.write(".gitignore", "script.yaml\n");
    session
}

fn done() -> (Session, String) {
    let session = project();
    session.run().exits(0);
    let run = session.json(&["status"])["short"].as_str().unwrap().to_owned();
    (session, run)
}

#[test]
fn needs_tmux_needs_git_a_person_is_shown_what_goes_and_asked() {
    let (session, run) = done();
    session.write("main.c", "return 2; // mine\n");
    let ask = format!("chronicle undo {run} build");
    // Each round has its number on the screen, so that the screen of one is not taken for that of the next.
    let next = |round: u32| format!("echo was $?; read go; clear; echo round {round}");
    let line = format!("echo round 1; {ask}; {}; {ask}; {}; {ask} --also-mine", next(2), next(3));
    let terminal = Terminal::new(&session, &line);
    let answer = |round: u32, word: &str, then: &str| {
        let round = format!("round {round}");
        until("the question is asked", || {
            let screen = terminal.screen();
            screen.contains(&round) && screen.contains("Put them back? [y/N]")
        });
        let asked = terminal.screen();
        terminal.tmux(&["send-keys", word, "Enter"]);
        until("it is answered", || terminal.screen().contains(then));
        (asked, terminal.screen())
    };
    let (asked, said) = answer(1, "n", "was 2");
    for line in
        ["changes     main.c, changed since", "comes back  old.txt", "2 files, +2 -1 in all."]
    {
        assert!(asked.contains(line), "{line}:\n{asked}");
    }
    assert_eq!(asked.matches("main.c").count(), 1, "it is named once:\n{asked}");
    assert!(said.contains("Error: nothing was undone"), "{said}");
    assert_eq!(session.read("main.c"), "return 2; // mine\n");

    // A yes does not mean one's own work: that is said by name, and stays.
    terminal.tmux(&["send-keys", "Enter"]);
    let (_, said) = answer(2, "y", "was 2");
    assert!(said.contains("these files were changed since: main.c"), "{said}");
    assert!(!session.has("old.txt"));

    terminal.tmux(&["send-keys", "Enter"]);
    let (_, said) = answer(3, "y", "ended with 0");
    assert!(said.contains("2 files restored."), "{said}");
    assert_eq!((session.read("main.c"), session.has("old.txt")), ("return 1;\n".to_owned(), true));
    session.assert_whole();
}

#[test]
fn needs_git_a_program_reads_what_was_undone_and_freed() {
    let (session, run) = done();
    let undone = session.json(&["undo", &run, "plan", "--yes"]);
    assert_eq!((&undone["files"], &undone["kept"]), (&json!(3), &json!([])));
    let undone = session.json(&["undo", &run, "plan"]);
    assert_eq!(undone["files"], 0, "there is nothing left, so nobody is asked");
    session.chronicle(&["undo", &run, "--back", "--yes"]).exits(0);
    session.write("notes.md", "mine\n");
    let refused = session.chronicle(&["undo", &run, "plan", "--yes", "--json"]).exits(2);
    assert!(refused.stdout.is_empty(), "{}", refused.stdout);
    assert!(refused.stderr.contains("these files were changed since: notes.md"));
    // The run is young: only what no tree names any more goes, and then nothing.
    assert_eq!(session.json(&["gc", "--yes"])["runs"], json!([]));
    session.chronicle(&["diff", &run, "--phase", "plan"]).exits(0);
    let freed = session.json(&["gc", "--days", "0", "--yes"]);
    assert_eq!(freed["runs"].as_array().map(Vec::len), Some(1));
    let freed = session.json(&["gc", "--days", "0", "--yes"]);
    assert_eq!((&freed["freed_bytes"], &freed["runs"]), (&json!(0), &json!([])));
}

/// Whoever may read everything gives that up first: a closed file is closed to the worker and to us.
#[test]
fn needs_git_a_file_that_cannot_be_read_is_named_and_stops_nothing() {
    let session = project();
    session.write("closed", "closed\n");
    session.shell("chmod 000 closed").exits(0);
    let line = "if [ \"$(id -u)\" = 0 ]; then \
        drop='setpriv --bounding-set=-dac_override,-dac_read_search'; fi; \
        $drop chronicle run main task --agent scripted:script.yaml";
    session.shell(line).exits(0);
    let log = session.chronicle(&["log"]).exits(0).stdout;
    assert!(log.contains("could not be read: `closed`"), "{log}");
    let recorded = session.events_of("tree_recorded");
    assert!(recorded.iter().all(|it| it["data"]["unreadable_files"] == json!(["closed"])));
    let names = session.chronicle(&["diff", "--name-only"]).exits(0).stdout;
    assert_eq!(names, "main.c\nnotes.md\nold.txt\n");
}

#[test]
fn needs_git_people_are_told_when_trees_take_much_room() {
    let (session, _) = done();
    let told = |session: &Session| {
        let status = session.chronicle(&["status"]).exits(0).stderr;
        let doctor = session.chronicle(&["doctor"]).stdout;
        let doctor = doctor.lines().find(|line| line.contains("recorded files take"));
        (status.contains("`chronicle gc` frees"), doctor.unwrap().to_owned())
    };
    let (warned, doctor) = told(&session);
    assert!(!warned && doctor.contains('✓'), "{doctor}");
    session.write(".chronicle/config.toml", "[trees]\nwarn_mb = 1\n");
    session.shell("head -c 1500000 /dev/urandom > .chronicle/trees.git/objects/big").exits(0);
    // `doctor` looks at every file. `status` knows what was there when a run last came to rest, whatever became of the files.
    let (warned, doctor) = told(&session);
    assert!(!warned && !doctor.contains('✓'), "{doctor}");
    // This one rests at a gate: what its script is to change is changed already.
    session.run().exits(4);
    let (warned, doctor) = told(&session);
    assert!(warned && !doctor.contains('✓'), "{doctor}");
    session.shell("rm -f .chronicle/trees.git/chronicle/bytes").exits(0);
    assert!(told(&session).0, "what nobody has measured is measured now");
    session.shell("rm .chronicle/trees.git/objects/big").exits(0);
    session.chronicle(&["gc", "--yes"]).exits(0);
    assert!(!told(&session).0, "who frees some measures what is left");
}

/// A run that waits can go on: nothing of it goes, however old it is.
#[test]
fn needs_git_a_run_that_can_go_on_keeps_its_trees() {
    let workflow = "{name: Two, phases: [{id: plan}, {id: build, approval: before}]}";
    let session = project();
    session.write(".chronicle/workflows/main.yaml", workflow);
    session.run().exits(4);
    let run = session.json(&["status"])["short"].as_str().unwrap().to_owned();
    let freed = session.json(&["gc", "--days", "0", "--yes"]);
    assert_eq!(freed["runs"], json!([]));
    session.chronicle(&["diff", &run, "--phase", "plan"]).exits(0);
    session.chronicle(&["approve", &run]).exits(0);
    session.chronicle(&["resume", &run]).exits(0);
    let names = session.chronicle(&["diff", &run, "--name-only"]).exits(0).stdout;
    assert_eq!(names, "main.c\nnotes.md\nold.txt\n");
}
