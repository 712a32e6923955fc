//! Decisions about agents that take over where another cannot go on.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::engine::work::work;
use chronicle_core::event::input::Command;
use chronicle_core::event::{Event, Why};
use chronicle_core::handover::handover;
use chronicle_core::state::Status;
use chronicle_core::{view, words};
use expect_test::expect;

use crate::world::{World, person, start, workflows};

const WORKFLOW: &str = "{name: W, phases: {plan: {fallback: [pi, 'claude:haiku'], limits: {nudges: 1, retries: 1}, \
    next: [build]}, build: {}}}";

fn started(script: &str) -> World {
    World::started(WORKFLOW, script)
}

/// The agents of the attempts, each with why it was started.
fn agents(world: &World) -> Vec<String> {
    let events = world.lines.iter().flat_map(|line| &line.events);
    let started = events.filter_map(|event| match event {
        Event::AttemptStarted(intent) => {
            Some(format!("{} {}", words::agent_name(&intent.agent), why(&intent.why)))
        }
        _ => None,
    });
    started.collect()
}

fn why(why: &Why) -> String {
    serde_json::to_value(why).unwrap()["is"].as_str().unwrap().to_owned()
}

fn retry(agent: Option<&str>) -> Command {
    Command::Retry { place: None, note: String::new(), agent: agent.map(str::to_owned), from: None }
}

#[test]
fn an_agent_that_is_not_signed_in_falls_back_at_once() {
    let world = started("plan 1: usage 3; auth please sign in\nplan 2: go build\nbuild: go done");
    expect![[r#"
        run started: `W` on "the task"
          workflow `main` entered
          phase `plan` entered
          a1 started at `plan` (scripted)
        a1 reported 3 tokens
        a1 is not signed in: "please sign in"
          `plan` falls back to `pi`: a1 with `scripted:script.yaml` is not signed in: "please sign in"
          a2 started at `plan` (pi): takes over from `scripted:script.yaml`
        a2 leaves for `build`: "did it"
        a2 ended
          `plan` left for `build`
          phase `build` entered
          a3 started at `build` (scripted)
        a3 leaves for `done`: "did it"
        a3 ended
          `build` done, workflow complete
          the workflow ended
          run done
    "#]]
    .assert_eq(&world.play().told());
}

#[test]
fn a_used_up_quota_falls_back_instead_of_waiting() {
    let world = started(
        "plan 1: quota 600\nplan 2: quota 600\nplan 3: quota 600; go build\nbuild: go done",
    );
    let world = world.play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    // The last one waits, as if it were alone.
    assert_eq!(
        agents(&world),
        ["scripted first", "pi fallback", "claude fallback", "claude waited", "scripted first"]
    );
}

#[test]
fn retries_are_used_up_first_and_each_agent_has_its_own() {
    let crashes = "finish; crash odd; crash odd";
    let world = started(&format!("plan 1: {crashes}\nplan: crash odd")).play();
    assert_eq!(
        agents(&world),
        [
            "scripted first",
            "scripted nudge",
            "scripted retry",
            "pi fallback",
            "pi again",
            "pi retry",
            "claude fallback",
            "claude again",
            "claude retry",
        ]
    );
}

#[test]
fn a_service_without_room_is_waited_for_before_another_agent_starts() {
    let workflow = "{name: W, limits: {waits: 2}, phases: {plan: {fallback: [pi]}}}";
    let world =
        World::started(workflow, "plan 1: overload; overload; overload\nplan 2: go done").play();
    assert_eq!(
        agents(&world),
        ["scripted first", "scripted waited", "scripted waited", "pi fallback"]
    );
    assert_eq!(world.state.status(), Status::Done);
}

#[test]
fn after_the_last_agent_a_person_is_asked_and_retry_starts_with_the_first() {
    let mut world =
        started("plan 1: auth please sign in\nplan 2: quota 0\nplan 3: auth no key\nplan: hang")
            .play();
    let gate = world.state.open_gates().next().unwrap();
    expect![[r#"`plan` cannot continue: `scripted:script.yaml` is not signed in: "please sign in"; then `pi` has used up its quota; then `claude:haiku` is not signed in: "no key""#]]
    .assert_eq(&gate.opened.about);
    world.step(&person(retry(None)));
    assert_eq!(agents(&world).last().unwrap(), "scripted asked");
    assert!(world.state.fallbacks().next().is_none());
}

#[test]
fn whom_a_person_names_begins_and_is_not_tried_again() {
    let script = "plan 1: auth x\nplan 2: auth x\nplan 3: auth x\nplan 4: auth x\nplan 5: auth x";
    let mut world = started(script).play();
    world.step(&person(retry(Some("pi"))));
    let world = world.play();
    assert_eq!(agents(&world)[3..], ["pi asked", "claude fallback"], "{}", world.told());
    let gates = world.state.open_gates().count();
    assert_eq!(gates, 1);
}

#[test]
fn the_workflows_own_answer_to_a_crash_comes_after_the_last_agent() {
    let workflow =
        "{name: W, phases: {plan: {fallback: [pi], next: [build], on: {crash: build}}, build: {}}}";
    let world = World::started(workflow, "plan 1: auth a\nplan 2: auth b\nbuild: go done").play();
    assert_eq!(world.state.status(), Status::Done);
    let events = world.lines.iter().flat_map(|line| &line.events);
    let mut summaries = events.filter_map(|event| match event {
        Event::EdgeTaken(edge) => Some(edge.summary.as_str()),
        _ => None,
    });
    assert_eq!(
        summaries.next(),
        Some("`scripted:script.yaml` is not signed in: \"a\"; then `pi` is not signed in: \"b\"")
    );
}

#[test]
fn timeouts_and_repeated_calls_do_not_fall_back() {
    let workflow = "{name: W, phases: {plan: {fallback: [pi], limits: {timeout: 5m, repeats: 1}}}}";
    for moves in ["timeout", "same read a; same read a; same read a; same read a"] {
        let world = World::started(workflow, &format!("plan: {moves}")).play();
        assert_eq!(world.state.open_gates().count(), 1, "{}", world.told());
        assert!(agents(&world).iter().all(|agent| !agent.starts_with("pi")), "{}", world.told());
    }
}

#[test]
fn spending_of_earlier_agents_still_counts() {
    let workflow = "{name: W, budget: {tokens: 10}, phases: {plan: {fallback: [pi]}}}";
    let script = "plan 1: usage 9; auth a\nplan 2: usage 2; go done\nplan: go done";
    let world = World::started(workflow, script).play();
    let gate = world.state.open_gates().next().unwrap();
    assert!(gate.opened.about.contains("11 tokens of 10"), "{}", gate.opened.about);
    // What is used up already keeps the next agent from starting; once there is more, it is the next one that starts.
    let script = "plan 1: usage 10; auth a\nplan 2: go done\ng1: budget 5 tokens";
    let world = World::started(
        "{name: W, budget: {attempts: 1}, phases: {plan: {fallback: [pi]}}}",
        &script.replace("5 tokens", "1 attempts"),
    )
    .play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    assert_eq!(agents(&world), ["scripted first", "pi fallback"]);
}

#[test]
fn the_next_worker_is_told_that_another_agent_was_here() {
    let world = started("plan 1: auth please sign in\nplan 2: hang");
    let mut world = world;
    while world.state.attempts.len() < 2 {
        assert!(world.one_move(), "{}", world.told());
    }
    let attempt = world.state.attempt(AttemptId(2)).unwrap();
    let text = handover(&world.state, attempt);
    assert!(
        text.contains("Another agent (`scripted:script.yaml`) worked on this phase before you"),
        "{text}"
    );
    assert!(text.contains("it is not signed in: \"please sign in\""), "{text}");
    let row = &view::run(&world.state, true).unwrap().fallbacks[0];
    assert_eq!(
        row.text,
        "`pi` instead of `scripted:script.yaml`, which is not signed in: \"please sign in\""
    );
}

#[test]
fn a_model_is_meant_for_the_first_agent_alone() {
    let workflow = "{name: W, model: opus, phases: {plan: {fallback: [pi, 'claude:haiku']}}}";
    let run = start(workflows(workflow));
    let run = chronicle_core::event::RunStarted { model: Some("big".to_owned()), ..run };
    let mut world = World::new("plan 1: auth a\nplan 2: auth b\nplan 3: hang");
    world.step(&person(Command::Start(Box::new(run))));
    let mut models = Vec::new();
    loop {
        let live = world.state.live.first().copied();
        if let Some(order) = live.and_then(|id| work(&world.state, id)) {
            models.push((order.intent.agent.clone(), order.model));
            models.dedup();
        }
        if models.len() == 3 || !world.one_move() {
            break;
        }
    }
    let model = |name: &str| Some(name.to_owned());
    let said = [("scripted:script.yaml", model("opus")), ("pi", None), ("claude", model("haiku"))];
    assert_eq!(models, said.map(|(agent, model)| (agent.to_owned(), model)));
}

#[test]
fn a_helper_falls_back_and_the_waiting_worker_keeps_its_agent() {
    let workflow = "{name: W, phases: {build: {fallback: [pi], next: [mend]}, \
        mend: {persona: mender, fallback: [other]}}}";
    let script = "build 1: auth a\nbuild 2: help mender; go mend\nbuild@mender 3: auth b\n\
        build@mender 4: complete\nmend: go done";
    let world = World::started(workflow, script).play();
    let told = world.told();
    assert!(told.contains("`build` falls back to `other`"), "{told}");
    let helped = told.lines().find(|line| line.ends_with(": `mender` has helped")).unwrap();
    assert!(helped.contains("resumed at `build` (pi)"), "{told}");
}

#[test]
fn a_run_that_was_started_without_the_promise_stays_without() {
    let run = start(workflows("{name: W, phases: {plan: {fallback: [pi]}}}"));
    let unenforced = vec!["`fallback` of phase `plan`".to_owned()];
    let run = chronicle_core::event::RunStarted { unenforced, ..run };
    let mut world = World::new("plan: auth a");
    world.step(&person(Command::Start(Box::new(run))));
    let world = world.play();
    assert_eq!(agents(&world), ["scripted first"]);
}
