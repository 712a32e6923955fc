//! What happened, line by line, the run in the names of the older format, and views that cross processes.

use std::fmt::Debug;

use chronicle_core::base::ids::{AttemptId, Place};
use chronicle_core::event::input::Command;
use chronicle_core::event::signal as signals;
use chronicle_core::handover::Told;
use chronicle_core::view;
use expect_test::expect;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::views::{TWO, pause, stop, told};
use crate::world::{World, person, signal};

/// Who reads its JSON in another process has the same view.
pub(crate) fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(view: &T) {
    let text = serde_json::to_string(view).unwrap();
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), *view, "{text}");
}

#[test]
fn a_newer_view_is_not_read_as_if_it_were_known() {
    assert_eq!(view::check_version(view::VIEW_VERSION), Ok(()));
    let newer = view::check_version(view::VIEW_VERSION + 1).unwrap_err().to_string();
    assert_eq!(newer, "these are views of version 3, and this Chronicle reads up to 2: update it");
}

#[test]
fn the_timeline_has_each_event_with_its_line_its_asker_and_its_weight() {
    let world = World::started(TWO, "plan: tool read; usage 5; go build\nbuild: go done").play();
    let entries = world.lines.iter().flat_map(view::timeline);
    let told: Vec<String> = entries
        .map(|entry| {
            comes_back(&entry);
            let weight = if entry.detail { "detail" } else { "      " };
            let by = serde_json::to_string(&entry.by.actor).unwrap();
            format!("{} {weight} {} {by}", entry.seq, entry.text)
        })
        .collect();
    expect![[r#"
        1        run started: `Two` on "the task" {"is":"person","id":"ann"}
        1        workflow `main` entered {"is":"person","id":"ann"}
        1        phase `plan` entered {"is":"person","id":"ann"}
        1        a1 started at `plan` (scripted) {"is":"person","id":"ann"}
        2 detail files recorded before a1 {"is":"supervisor"}
        3 detail a1 works in session `dd0a8080-a14b-8574-91fb-fff2e9596d46` {"is":"supervisor"}
        4 detail a1 called `read` {"is":"supervisor"}
        5 detail a1 reported 5 tokens {"is":"supervisor"}
        6        a1 leaves for `build`: "did it" {"is":"worker","id":"a1"}
        7        a1 ended {"is":"supervisor"}
        8 detail a1 changed no files {"is":"supervisor"}
        8        `plan` left for `build` {"is":"supervisor"}
        8        phase `build` entered {"is":"supervisor"}
        8        a2 started at `build` (scripted) {"is":"supervisor"}
        9 detail a2 works in session `6a0c2e62-feea-8a97-876f-7e8cd891b4c3` {"is":"supervisor"}
        10        a2 leaves for `done`: "did it" {"is":"worker","id":"a2"}
        11        a2 ended {"is":"supervisor"}
        12 detail a2 changed no files {"is":"supervisor"}
        12        `build` done, workflow complete {"is":"supervisor"}
        12        the workflow ended {"is":"supervisor"}
        12        run done {"is":"supervisor"}"#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn run_json_has_the_names_of_the_older_format() {
    let script = "plan 1: usage 3; crash boom\nplan 2: usage 4; go build\nbuild: go done";
    let world = World::started(TWO, script).play();
    let mut json = view::run_json(&world.state).unwrap();
    let states = json!({
        "plan": {"description": "Planning", "next": ["build"]},
        "build": {"description": "build", "next": []},
    });
    let workflow = json!({"name": "Two", "initial": "plan", "states": states});
    assert_eq!(json["workflowDef"].take(), workflow, "a template of that format");
    expect![[r#"
        created: 1794709850000
        currentState: "done"
        currentStateTask: "the task"
        history:
          - {"agentName":"scripted","completedAt":1794709850000,"elapsed":10,"exitCode":1,"outputPreview":"reported an error: \"boom\"","startedAt":1794709850000,"state":"plan","summary":"reported an error: \"boom\"","taskGiven":"the task","tokensUsed":3}
          - {"agentName":"scripted","completedAt":1794709850000,"elapsed":10,"exitCode":0,"outputPreview":"did it","startedAt":1794709850000,"state":"plan","summary":"did it","taskGiven":"the task","tokensUsed":1}
          - {"agentName":"scripted","completedAt":1794709850000,"elapsed":10,"exitCode":0,"outputPreview":"did it","startedAt":1794709850000,"state":"build","summary":"did it","taskGiven":"the task","tokensUsed":0}
        id: "01997f3a-0000-7000-8000-0000c0ffee01"
        initialTask: "the task"
        lastUpdated: 1794709850000
        snapshot: {"custom":{},"doneTasks":[],"keyFindings":[],"modifiedFiles":[],"pendingTasks":[]}
        standing: "done"
        status: "done"
        totalElapsed: 30
        totalTokens: 4
        transitionCounts: {"build->done":1,"plan->build":1}
        trees:
          - "0000000000000000000000000000000000000000"
        workflowDef: null
        workflowName: "Two"
        workflowPath: "main.yaml"
    "#]].assert_eq(&told(&json));
}

const TASKS: &str = "{name: Tasks, model: big, phases: {plan: {next: [build]}, \
    build: {model: small, next: [plan, done], approval: after, tools: {allow: [read, edit]}, limits: {timeout: 90s}}}}";

#[test]
fn run_json_says_what_each_worker_was_given_and_never_counts_back() {
    let mut world = World::started(TASKS, "plan 2: go build\nbuild 1: go plan\nbuild: go done");
    let arguments = json!({"to_state": "build", "task": "lay bricks", "summary": "x"});
    let leave = signals::parse("workflow_transition", &arguments);
    world.step(&signal(AttemptId(1), "r1", leave));
    let mut world = world.play();
    world.step(&person(Command::Approve { gate: None, note: String::new(), scope: None }));
    let mut world = world.play();
    let json = view::run_json(&world.state).unwrap();
    let given: Vec<(&Value, &Value)> = json["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| (&record["taskGiven"], &record["modelUsed"]))
        .collect();
    let [task, bricks] = ["the task", "lay bricks"].map(Value::from);
    let [big, small] = ["big", "small"].map(Value::from);
    assert_eq!(given, [(&task, &big), (&bricks, &small), (&task, &big), (&task, &small)]);
    assert_eq!(json["transitionCounts"]["plan->build"], 2);
    let build = &json["workflowDef"]["states"]["build"];
    assert_eq!(build["tools"], "read,edit");
    assert_eq!(
        (&build["requires_approval"], &build["approval_mode"]),
        (&true.into(), &"post".into())
    );
    assert_eq!(build["timeout_minutes"], 2);
    let go = Command::Go { place: Place::new("plan"), note: String::new() };
    world.step(&person(go));
    let json = view::run_json(&world.state).unwrap();
    assert_eq!(json["transitionCounts"]["plan->build"], 2, "a person's word takes nothing back");
    assert_eq!(json["transitionCounts"]["build->plan"], 2);
}

#[test]
fn run_json_knows_four_statuses() {
    let status = |world: &World| view::run_json(&world.state).unwrap()["status"].clone();
    let mut world = World::started(TWO, "");
    assert_eq!(status(&world), "running");
    world.step(&person(pause("")));
    stop(&mut world, 1);
    assert_eq!(status(&world), "paused");
    let gated = World::started("{name: A, phases: {plan: {approval: before}}}", "");
    assert_eq!(status(&gated), "paused");
    let done = World::started(TWO, "plan: go build\nbuild: go done").play();
    assert_eq!(status(&done), "done");
    world.step(&person(Command::Cancel { reason: String::new() }));
    assert_eq!(status(&world), "done", "nothing may go on with it");
    assert_eq!(view::run_json(&world.state).unwrap()["standing"], "cancelled");
}

#[test]
fn a_handover_is_read_back_as_it_was() {
    let world = World::started(TWO, "");
    let intent = &world.state.attempt(AttemptId(1)).unwrap().intent;
    let run = &world.state.run.as_ref().unwrap().run;
    for rest in [None, Some("more".to_owned())] {
        let told = Told { text: "do it".to_owned(), rest };
        let mut shown = view::handover(run, intent, Some("a planner".to_owned()), told, true);
        comes_back(&shown);
        shown.assumed.push("it goes well".to_owned());
        comes_back(&shown);
    }
}
