//! Runs of The Chronicle: how they are listed, and how they go on here.

use crate::session::Session;

/// Finishes what such a run has left.
const SCRIPT: &str = "build:
  - transition: {to: finish, summary: built}
finish:
  - complete: {summary: told}
";

/// As a program of another author left it: by its own names, without those that came later.
const OLDER: &str = r#"{
  "id": "00c0ffee12345678", "workflowName": "quest", "workflowPath": "quest.json",
  "workflowDef": {"name": "quest", "initial": "plan", "states": {
    "plan": {"persona": "You plan it.", "next": ["build"]},
    "build": {"persona": "You build it.", "next": ["done"]},
    "done": {"persona": "You write it up.", "next": []}}},
  "created": 1700000000000, "lastUpdated": 1700000100000, "currentState": "build",
  "currentStateTask": "build the left half", "initialTask": "a door",
  "history": [{"state": "plan", "agentName": "x", "startedAt": 1, "summary": "two halves", "tokensUsed": 5, "elapsed": 1, "taskGiven": "a door", "outputPreview": "two"}],
  "snapshot": {"modifiedFiles": ["door.md"], "keyFindings": ["oak is best"], "pendingTasks": ["paint"], "custom": {"port": 80}},
  "transitionCounts": {"plan->build": 1}, "totalTokens": 5, "totalElapsed": 1000, "status": "paused"
}"#;

#[test]
fn a_run_of_the_chronicle_is_listed_and_goes_on_where_it_stood() {
    let session = Session::new();
    session.write(".pi/chronicle/sessions/00c0ffee12345678.json", OLDER);
    session.write(".pi/chronicle/sessions/broken.json", "{");
    session.write("script.yaml", SCRIPT);
    session.write(".chronicle/config.toml", "agent = \"scripted:script.yaml\"\n");
    let listed = session.chronicle(&["runs"]).exits(0).prints("00c0ffee").prints("quest");
    listed.prints("build").talks("Run broken of The Chronicle cannot be read").talks("broken.json");
    assert_eq!(session.json(&["runs"])["unreadable"][0]["run"], "broken");
    session.chronicle(&["status", "broken"]).exits(6).talks("sessions/broken.json");
    let status = session.chronicle(&["status"]).exits(0).prints("00c0ffee  paused  quest: a door");
    let status = status.prints("a run of The Chronicle, at `build`").prints("two halves");
    status.prints("Next: chronicle resume 00c0ffee");
    session.chronicle(&["log", "00C0FFEE"]).exits(0).prints("plan").prints("two halves");
    assert_eq!(session.json(&["status", "00c0ffee"])["history"][0]["state"], "plan");
    session.chronicle(&["audit", "00c0ffee"]).exits(2).talks("is a run of The Chronicle");
    session.chronicle(&["cancel", "00c0ffee"]).exits(2).talks("`chronicle resume 00c0ffee`");
    let resumed = session.chronicle(&["resume"]).exits(0);
    let resumed = resumed.talks("Run 00c0ffee continues as run").talks("a1 started at `build`");
    resumed.talks("a2 started at `finish`");
    let handover = session.chronicle(&["handover", &session.short(), "a1"]).exits(0);
    let handover = handover.prints("build the left half").prints("oak is best").prints("paint");
    let handover = handover.prints("`plan` → `build` (complete): two halves").prints("a door");
    let handover = handover.prints("This run continues one that was begun elsewhere");
    assert!(!handover.stdout.contains("no worker was here before you"), "{}", handover.stdout);
    let listed = session.chronicle(&["runs"]).exits(0);
    assert!(!listed.stdout.contains("00c0ffee"), "it goes on elsewhere: {}", listed.stdout);
    assert_eq!(session.read(".pi/chronicle/sessions/00c0ffee12345678.json"), OLDER);
    session.assert_whole();
    let status = session.chronicle(&["status", "00c0ffee"]).exits(0).prints(&session.short());
    let status = status.prints("✓ plan").prints("two halves");
    status.prints("continues a run of The Chronicle").prints("00c0ffee12345678.json");
    session
        .chronicle(&["resume", "00c0ffee"])
        .exits(2)
        .talks(&format!("run {} is over", session.short()));
    let over = OLDER.replace("00c0ffee12345678", "00dead0012345678").replace("paused", "done");
    session.write(".pi/chronicle/sessions/00dead0012345678.json", &over);
    session.chronicle(&["resume", "00dead00"]).exits(2).talks("is over: done");
}

#[test]
fn a_run_of_the_chronicle_in_a_state_that_its_workflow_lacks_cannot_continue() {
    let session = Session::new();
    let lost = OLDER.replace("\"currentState\": \"build\"", "\"currentState\": \"polish\"");
    session.write(".pi/chronicle/sessions/00c0ffee12345678.json", &lost);
    let row = &session.json(&["runs"])["runs"][0];
    assert_eq!((&row["short"], &row["goes_on"]), (&"00c0ffee".into(), &false.into()));
    let why = "it is at `polish`, which its workflow does not have";
    let status = session.chronicle(&["status"]).exits(0).prints(why);
    assert!(!status.stdout.contains("Next:"), "{}", status.stdout);
    session.chronicle(&["resume"]).exits(2).talks("no run can continue");
    session.chronicle(&["resume", "00c0ffee"]).exits(3).talks(why);
}

#[test]
fn a_run_of_the_chronicle_that_waits_for_a_person_still_does() {
    let session = Session::new();
    let waits =
        OLDER.replace("\"currentState\": \"build\"", "\"currentState\": \"human_intervention\"");
    session.write(".pi/chronicle/sessions/00c0ffee12345678.json", &waits);
    session.write("script.yaml", SCRIPT);
    session.write(".chronicle/config.toml", "agent = \"scripted:script.yaml\"\n");
    session
        .chronicle(&["resume", "00c0ffee"])
        .exits(4)
        .prints("left for a person")
        .prints("chronicle go");
    session.chronicle(&["go", "build"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    session.assert_whole();
}

#[test]
fn a_run_of_the_chronicle_can_be_continued_again_once_its_continuation_is_forgotten() {
    let session = Session::new();
    session.write(".pi/chronicle/sessions/00c0ffee12345678.json", OLDER);
    session.write("script.yaml", SCRIPT);
    session.write(".chronicle/config.toml", "agent = \"scripted:script.yaml\"\n");
    session.chronicle(&["resume", "00c0ffee"]).exits(0);
    std::fs::remove_dir_all(session.path(".chronicle/runs")).unwrap();
    session.chronicle(&["gc", "--yes"]).exits(0).prints("Forgotten");
    session.chronicle(&["resume", "00c0ffee"]).exits(0);
    session.assert_whole();
}

#[test]
fn secrets_of_a_run_of_the_chronicle_are_neither_listed_nor_carried_over() {
    let session = Session::new();
    let key = |of: &str| format!("ghp_{of}{}", "aB3dE6gH9".repeat(4).split_off(of.len()));
    let mut run: serde_json::Value = serde_json::from_str(OLDER).unwrap();
    run["initialTask"] = format!("a door, {}", key("task")).into();
    run["currentStateTask"] = format!("the left half, {}", key("next")).into();
    run["history"][0]["summary"] = format!("two halves, {}", key("said")).into();
    run["snapshot"]["keyFindings"][0] = key("find").into();
    run["snapshot"]["pendingTasks"][0] = key("todo").into();
    run["snapshot"]["modifiedFiles"][0] = key("file").into();
    run["snapshot"]["custom"] =
        serde_json::json!({"id": key("some"), "in": {"name": [key("deep")]}});
    session.write(".pi/chronicle/sessions/00c0ffee12345678.json", run.to_string());
    let wrong =
        format!("{{\"id\": \"{}\", \"workflowDef\": {{\"states\": \"{}\"}}}}", key("a"), key("b"));
    session.write(".pi/chronicle/sessions/00bad00012345678.json", &wrong);
    session.write("script.yaml", SCRIPT);
    session.write(".chronicle/config.toml", "agent = \"scripted:script.yaml\"\n");
    let is_clean = |args: &[&str]| {
        let said = session.chronicle(args);
        assert!(!format!("{}{}", said.stdout, said.stderr).contains("ghp_"), "{args:?}: {said:?}");
        said.stdout
    };
    for args in [&["runs"][..], &["runs", "--json"], &["status", "00c0ffee"], &["log", "00c0ffee"]]
    {
        is_clean(args);
    }
    assert!(is_clean(&["status", "00c0ffee", "--json"]).contains("[redacted]"));
    is_clean(&["resume", "00c0ffee"]);
    assert!(is_clean(&["handover", "a1"]).contains("[redacted]"));
    for args in [&["status"][..], &["status", "--json"], &["log"], &["audit"], &["runs"]] {
        is_clean(args);
    }
    session.shell("grep -r ghp_ .chronicle && exit 1; exit 0").exits(0);
    session.assert_whole();
}

#[test]
fn a_run_of_the_chronicle_is_not_continued_without_an_agent() {
    let session = Session::new();
    session.write(".pi/chronicle/sessions/00c0ffee12345678.json", OLDER);
    let said = session.chronicle(&["resume", "00c0ffee", "--trust"]).exits(2);
    said.talks("no agent is named for workflow `quest`").talks("--agent");
    assert!(!session.has(".chronicle/runs"), "nothing was made");
    assert_eq!(session.json(&["runs"])["runs"][0]["short"], "00c0ffee");
    session.write("script.yaml", SCRIPT);
    let agent = ["resume", "00c0ffee", "--agent", "scripted:script.yaml"];
    session.chronicle(&agent).exits(0);
    session.chronicle(&agent).exits(2).talks("keeps the agents").talks("chronicle retry");
    let order: Vec<String> = session.json(&["status"])["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase["place"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(order, ["plan", "build", "finish"], "as the file names them");
    session.assert_whole();
}

#[test]
fn the_removed_folder_of_a_continuation_is_told_and_not_made_again() {
    let session = Session::new();
    session.write(".pi/chronicle/sessions/00c0ffee12345678.json", OLDER);
    session.write("script.yaml", SCRIPT);
    session.write(".chronicle/config.toml", "agent = \"scripted:script.yaml\"\n");
    session.chronicle(&["resume", "00c0ffee"]).exits(0);
    let (run, id) = (session.short(), session.run_id());
    std::fs::remove_dir_all(session.path(".chronicle/runs")).unwrap();
    for _ in 0..2 {
        let said = session.chronicle(&["resume", "00c0ffee"]).exits(6);
        said.talks(&format!("continued as run {run}, whose folder is gone")).talks("gc --yes");
        assert!(!session.has(".chronicle/runs"), "nothing was made");
    }
    // As an earlier version left it.
    let folder = session.path(".chronicle/runs").join(&id);
    std::fs::create_dir_all(folder.join("keepers")).unwrap();
    let said = session.chronicle(&["resume", "00c0ffee"]).exits(6).talks("whose ledger is gone");
    said.talks(&format!("`rm -r '{}' && chronicle gc --yes", folder.display()));
    std::fs::remove_dir_all(session.path(".chronicle/runs")).unwrap();
    let asked = session.chronicle(&["gc"]).exits(2).talks("nothing was freed or forgotten");
    assert!(!asked.stderr.contains("will not"), "{}", asked.stderr);
    session.chronicle(&["gc", "--yes"]).exits(0);
    session.chronicle(&["resume", "00c0ffee"]).exits(0);
    session.assert_whole();
}

#[test]
fn two_files_with_the_id_of_one_run_are_both_named() {
    let session = Session::new();
    session.write(".pi/chronicle/sessions/00c0ffee12345678.json", OLDER);
    session.write(".pi/chronicle/sessions/copy.json", OLDER);
    session.write(
        ".pi/chronicle/sessions/00c0ffff12345678.json",
        OLDER.replace("00c0ffee", "00c0ffff"),
    );
    let listed = session.json(&["runs"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1);
    assert_eq!(listed["unreadable"].as_array().unwrap().len(), 2);
    for command in ["resume", "status"] {
        let said = session.chronicle(&[command, "00c0ffee"]).exits(6).talks("the same id");
        said.talks("sessions/00c0ffee12345678.json`").talks("sessions/copy.json`");
    }
    session.write(".pi/chronicle/sessions/copy.json", OLDER.replace("00c0ffee", "00c0fff0"));
    let said = session.chronicle(&["resume", "00c0fff"]).exits(2).talks("could be several runs");
    said.talks("00c0ffff12345678").talks("00c0fff012345678");
}

#[test]
fn a_wrong_file_of_the_chronicle_is_told_by_its_field() {
    let wrong = [
        ("/snapshot", "`snapshot` has to be an object"),
        ("/snapshot/keyFindings", "`snapshot.keyFindings` has to be a list"),
        ("/snapshot/pendingTasks/0", "`snapshot.pendingTasks[0]` has to be a text"),
        ("/snapshot/custom", "`snapshot.custom` has to be an object"),
        ("/history", "`history` has to be a list"),
        ("/history/0", "`history[0]` has to be an object"),
        ("/history/0/summary", "`history[0].summary` has to be a text"),
        ("/created", "`created` has to be a whole number"),
        ("/transitionCounts", "`transitionCounts` has to be an object"),
        (
            "/transitionCounts/plan->build",
            "`transitionCounts.plan->build` has to be a whole number",
        ),
        ("/currentState", "`currentState` has to be a text"),
        ("/workflowDef", "`workflowDef` has to be an object"),
        ("/workflowDef/states", "it has no `workflowDef` with `states`"),
    ];
    let session = Session::new();
    for (place, why) in wrong {
        let mut run: serde_json::Value = serde_json::from_str(OLDER).unwrap();
        *run.pointer_mut(place).unwrap() = true.into();
        session.write(".pi/chronicle/sessions/00c0ffee12345678.json", run.to_string());
        let said = session.chronicle(&["resume", "00c0ffee"]).exits(6).talks(why);
        said.talks("sessions/00c0ffee12345678.json");
        *run.pointer_mut(place).unwrap() = serde_json::Value::Null;
        if !place.starts_with("/workflowDef") && !place.ends_with("/0") {
            session.write(".pi/chronicle/sessions/00c0ffee12345678.json", run.to_string());
            session.chronicle(&["status", "00c0ffee"]).exits(0);
        }
    }
    session.write(".pi/chronicle/sessions/00c0ffee12345678.json", "{\n  'id': 1}");
    let said = session.chronicle(&["resume", "00c0ffee"]).exits(6);
    said.talks("it is not JSON, at line 2, column 3");
}

#[test]
fn two_who_continue_a_run_of_the_chronicle_at_once_do_its_work_once() {
    let session = Session::new();
    session.write(".pi/chronicle/sessions/00c0ffee12345678.json", OLDER);
    let script = "build:\n  - append: {path: log, text: \"x\\n\"}\n  - transition: {to: finish, summary: built}\nfinish:\n  - complete: {summary: told}\n";
    session.write("script.yaml", script);
    session.write(".chronicle/config.toml", "agent = \"scripted:script.yaml\"\n");
    let all: Vec<_> = (0..3).map(|_| session.spawn(&["resume", "00c0ffee"])).collect();
    let codes: Vec<_> = all.into_iter().map(|one| one.wait().code).collect();
    assert!(codes.contains(&Some(0)), "{codes:?}");
    assert_eq!(session.read("log"), "x\n", "{codes:?}");
    assert_eq!(session.json(&["runs"])["runs"].as_array().unwrap().len(), 1);
    session.assert_whole();
}
