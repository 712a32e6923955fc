//! Decisions about time and about turning in circles.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::Call;
use chronicle_core::event::input::{Answer, AttemptReport, EndSeen, FinalText, Report, TimerKind};
use chronicle_core::event::trees::Moment;
use chronicle_core::guard::Judgement;
use chronicle_core::state::Status;
use chronicle_core::state::effect::Action;
use expect_test::expect;

use crate::world::{World, about, calls, report, tree};

const WORKFLOW: &str =
    "{name: T, phases: {Dig: {timeout_minutes: 1.5, next: [fill], on: {timeout: fill}}, fill: {}}}";

fn timed_out(said: &str) -> World {
    let mut world = World::started(WORKFLOW, "fill: go done");
    let attempt = AttemptId(1);
    world.step(&report(Report::TimerFired { attempt, timer: TimerKind::Timeout }));
    let final_text = Some(Box::new(FinalText(said.to_owned())));
    let seen = EndSeen { stopped: true, final_text, ..EndSeen::default() };
    world.step(&about(attempt, AttemptReport::Ended(seen)));
    world
}

#[test]
fn the_last_words_before_a_timeout_become_a_finding() {
    let world = timed_out("The hole is two metres deep.\nRock below.");
    expect![[r#"
        [
            "[Partial – Dig timed out] The hole is two metres deep.\nRock below.",
        ]
    "#]]
    .assert_eq(&format!("{:#?}\n", world.state.snapshot.findings));
    let told = chronicle_core::engine::work::work(&world.state, AttemptId(2)).unwrap().handover;
    assert!(told.contains("[Partial – Dig timed out] The hole is two metres deep."), "{told}");
}

#[test]
fn long_last_words_are_cut_and_empty_ones_are_dropped() {
    let world = timed_out(&"x".repeat(5_000));
    let finding = world.state.snapshot.findings[0].clone();
    assert!(finding.ends_with("x… [3800 bytes cut]"), "{finding}");
    assert!(timed_out("  \n").state.snapshot.is_empty());
}

/// A phase that allows the same call three times.
const CIRCLE: &str = "{name: C, phases: {dig: {limits: {repeats: 3}, next: [fill]}, fill: {}}}";

#[test]
fn a_worker_that_repeats_a_call_is_stopped_and_a_person_sees_the_call() {
    let script = "dig: same read a; same read b; same read a; same read a; same read a; go fill";
    let world = World::started(CIRCLE, script).play();
    expect![[r#"
        run started: `C` on "the task"
          workflow `main` entered
          phase `dig` entered
          a1 started at `dig` (scripted)
        a1 called `read` a
        a1 called `read` b
        a1 called `read` a
        a1 called `read` a
        a1 was denied `read`: you repeated this call too often without progress, so a person is asked. End your turn now.
          a1 is being stopped: it repeated the same call without progress
        a1 was stopped: it repeated the same call without progress
          g1 waits at `dig` for intervention: `dig` is looping: `read` a was asked for 4 times without progress, and the limit is 3
    "#]]
    .assert_eq(&world.told());
    assert!(world.answers.iter().any(|answer| matches!(
        answer,
        Answer::Verdict(chronicle_core::event::Verdict::Denied(_))
    )));
}

/// Each of them costs a request to the model, whatever comes of it.
#[test]
fn a_call_that_the_agent_refuses_and_one_of_our_tools_are_counted_too() {
    let input = serde_json::json!({});
    for (tool, refused) in [("nonesuch", true), ("workflow_status", false)] {
        let mut world = World::started(CIRCLE, "");
        for at in 0..5 {
            let call = Box::new(Call::new(&format!("c{at}"), tool, &input, &[]));
            let why = "there is no such tool".to_owned();
            let what = if refused {
                AttemptReport::ToolRefused { call, why, judged: Judgement::Clear }
            } else {
                AttemptReport::ToolCalled { call, judged: Judgement::Clear }
            };
            world.step(&about(AttemptId(1), what));
        }
        let stops = world.told().matches("a1 is being stopped: it repeated the same call").count();
        assert_eq!(stops, 1, "{tool}: {}", world.told());
    }
}

#[test]
fn a_workflow_may_have_its_own_answer_to_a_circle() {
    let workflow = "{name: C, phases: {dig: {limits: {repeats: 1}, on: {stuck: fill}, next: [fill]}, fill: {}}}";
    let world = World::started(workflow, "dig: same x y; same x y\nfill: go done").play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    assert!(world.told().contains("`dig` left for `fill` (stuck)"), "{}", world.told());
}

#[test]
fn progress_resets_the_count_of_repeated_calls() {
    for between in ["file a.rs", "snap found it"] {
        let calls = "same test all; same test all; same test all";
        let script = format!("dig: {calls}; {between}; {calls}; go fill\nfill: go done");
        let world = World::started(CIRCLE, &script).play();
        assert_eq!(world.state.status(), Status::Done, "{between}: {}", world.told());
    }
    let off = "{name: C, phases: {dig: {limits: {repeats: 0}}}}";
    let calls = vec!["same test all"; 50].join("; ");
    let world = World::started(off, &format!("dig: {calls}; go done")).play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
}

#[test]
fn a_retry_resets_the_count_of_repeated_calls() {
    let script = "dig 1: same x y; same x y; same x y; same x y\ndig 2: same x y; go fill\n\
                  fill: go done\ng1: retry look elsewhere";
    let world = World::started(CIRCLE, script).play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
}

#[test]
fn nothing_is_timed_while_a_person_is_asked() {
    let workflow = "{name: A, budget: {time: 1h}, phases: {dig: {limits: {timeout: 5m}}}}";
    let mut world = World::started(workflow, "dig: ask which?; go done");
    let timed = |world: &World| {
        let due = world.state.due().into_iter();
        due.filter(|effect| matches!(effect.action, Action::RunTimer { .. })).count()
    };
    // First its files are recorded.
    assert!(world.one_move());
    assert_eq!(timed(&world), 3, "its time-out, the budget and a standstill");
    while !world.state.live_attempts().any(|attempt| world.state.is_asking(attempt)) {
        assert!(world.one_move());
    }
    assert_eq!(timed(&world), 0);
}

#[test]
fn a_phase_says_how_long_a_worker_may_go_on_after_its_signal() {
    let workflow = "{name: G, phases: {dig: {limits: {grace: 5s}}}}";
    let mut world = World::started(workflow, "dig: go done");
    while !world.state.live_attempts().any(chronicle_core::state::Attempt::is_leaving) {
        assert!(world.one_move());
    }
    let grace =
        Action::RunTimer { attempt: AttemptId(1), timer: TimerKind::Grace, active_ms: 5_000 };
    assert!(world.state.due().iter().any(|effect| effect.action == grace));
}

#[test]
fn a_worker_that_changed_files_was_not_looping() {
    let script = "dig 1: same x y; same x y; same x y; same x y; go fill\nfill: go done";
    let mut world = World::started(CIRCLE, script);
    while !world.told().contains("without progress\na1 was stopped") {
        assert!(world.one_move(), "{}", world.told());
    }
    world.step(&tree(Moment::After(AttemptId(1)), &["a.rs"]));
    let told = world.told();
    assert!(told.ends_with("a2 resumed at `dig` (scripted): it had changed files\n"), "{told}");
    let played = world.play();
    assert_eq!(played.state.status(), Status::Done, "{}", played.told());
}

fn timers(world: &World) -> Vec<(TimerKind, u64)> {
    let due = world.state.due().into_iter();
    due.filter_map(|effect| match effect.action {
        Action::RunTimer { timer, active_ms, .. } => Some((timer, active_ms)),
        _ => None,
    })
    .collect()
}

#[test]
fn a_worker_may_be_silent_while_a_call_that_it_was_allowed_is_open() {
    let workflow = "{name: I, phases: {dig: {tools: {deny: [rm]}, limits: {standstill: none}}}}";
    let mut world = World::started(workflow, "");
    world.one_move();
    let id = AttemptId(1);
    let at = |active_ms, what| report(Report::Attempt { attempt: id, active_ms, what });
    let is_ended = |world: &World| world.told().contains("a1 is being stopped");
    world.step(&at(5_000, calls("c1", "bash", "cargo test")));
    world.step(&at(6_000, AttemptReport::Idle));
    assert!(!is_ended(&world), "{}", world.told());
    // The call has a time of its own, from when it began.
    assert_eq!(timers(&world), [(TimerKind::Tool, 3_600_000)]);
    world.step(&at(65_000, calls("c2", "read", "a.rs")));
    assert_eq!(timers(&world), [(TimerKind::Tool, 3_540_000)], "the one that is open for longest");
    world.step(&at(66_000, AttemptReport::ToolEnded { call: "c1".to_owned(), ok: true }));
    assert_eq!(timers(&world), [(TimerKind::Tool, 3_599_000)]);
    world.step(&at(66_000, AttemptReport::ToolEnded { call: "c2".to_owned(), ok: true }));
    assert_eq!(timers(&world), []);
    // What was denied does not run: whoever is silent after it is silent.
    world.step(&at(67_000, calls("c3", "rm", "")));
    assert_eq!(timers(&world), []);
    world.step(&at(68_000, AttemptReport::Idle));
    assert!(is_ended(&world), "{}", world.told());
}

#[test]
fn what_goes_on_in_the_background_can_change_files_but_is_not_waited_for() {
    let mut world = World::started("{name: B, phases: {dig: {limits: {standstill: none}}}}", "");
    world.one_move();
    let id = AttemptId(1);
    let at = |active_ms, what| report(Report::Attempt { attempt: id, active_ms, what });
    let is_open = |world: &World| world.state.attempt(id).unwrap().hands()[0].to.is_none();
    world.step(&at(5_000, calls("c1", "bash", "npm run dev")));
    world.step(&at(6_000, AttemptReport::ToolWentOn { call: "c1".to_owned() }));
    assert_eq!((timers(&world), is_open(&world)), (vec![], true));
    world.step(&at(7_000, calls("c2", "bash", "ls")));
    world.step(&at(8_000, AttemptReport::ToolEnded { call: "c2".to_owned(), ok: true }));
    assert!(is_open(&world), "c1 still runs");
    world.step(&at(9_000, AttemptReport::ToolEnded { call: "c1".to_owned(), ok: true }));
    assert!(!is_open(&world));
    world.step(&at(10_000, calls("c3", "bash", "npm run dev")));
    world.step(&at(11_000, AttemptReport::ToolWentOn { call: "c3".to_owned() }));
    world.step(&at(12_000, AttemptReport::Idle));
    assert!(world.told().contains("a1 is being stopped"), "{}", world.told());
}

#[test]
fn calls_that_hang_are_not_tried_until_all_retries_are_used_up() {
    let workflow = "{name: T, phases: {dig: {limits: {standstill: none}}}}";
    // The changed file is progress, which resets every other counter.
    let script = "dig: tool bash; tool-over; file a.rs; tool bash; tool-over; tool bash; tool-over";
    let world = World::started(workflow, script).play();
    let told = world.told();
    assert!(told.contains("g1 waits at `dig` for intervention"), "{told}");
    assert_eq!(world.state.attempts.len(), 2, "{told}");
    assert_eq!(world.state.status(), Status::Waiting, "{told}");
}

#[test]
fn a_call_that_is_open_for_too_long_ends_the_attempt_as_silence_does() {
    let limits = "{tool: 5m, nudges: 1, retries: 0}";
    let workflow = format!("{{name: T, phases: {{dig: {{limits: {limits}}}}}}}");
    let world = World::started(&workflow, "dig 1: tool bash; tool-over\ndig 2: go done").play();
    let told = world.told();
    let over = "a1 is being stopped: one of its tool calls took longer than the phase allows\n";
    assert!(told.contains(over), "{told}");
    // It is reminded, and goes on after the call.
    assert_eq!(world.state.status(), Status::Done, "{told}");
    let workflow = "{name: T, phases: {dig: {on: {stuck: fill}, next: [fill]}, fill: {}}}";
    let world = World::started(workflow, "dig: tool bash; tool-over\nfill: go done").play();
    assert!(world.told().contains("`dig` left for `fill` (stuck)"), "{}", world.told());
    // A timer that comes after the call's end says nothing.
    let world =
        World::started(workflow, "dig: tool bash; tool-end c0; tool-over; go fill\nfill: go done");
    assert!(!world.play().told().contains("being ended"));
}

#[test]
fn commands_may_be_silent_and_have_an_hour_where_nothing_else_is_said() {
    let workflow = "{name: C, phases: {make: {run: command, commands: [a]}}}";
    let mut world = World::started(workflow, "");
    world.one_move();
    assert_eq!(timers(&world), [(TimerKind::Timeout, 3_600_000)]);
    world.step(&about(AttemptId(1), AttemptReport::Idle));
    assert_eq!(timers(&world).len(), 1, "{}", world.told());
    let world = World::started(workflow, "make: timeout").play();
    assert_eq!((world.state.status(), world.state.attempts.len()), (Status::Waiting, 1));
    // So have those that verify, however long the worker may work.
    let workflow = "{name: V, phases: {dig: {verify: [cargo test]}}}";
    let mut world = World::started(workflow, "dig: go done");
    while !world.state.live_attempts().any(|it| it.duty().is_some()) {
        assert!(world.one_move(), "{}", world.told());
    }
    world.one_move();
    assert_eq!(timers(&world), [(TimerKind::Timeout, 3_600_000)]);
}

#[test]
fn commands_have_an_hour_unless_somebody_says_that_they_have_no_limit() {
    let timeout = |limits: &str| {
        let phases = "phases: {make: {run: command, commands: [make]}}";
        let mut world = World::started(&format!("{{name: W, {limits}{phases}}}"), "make: hang");
        // Nothing runs before the files are recorded.
        assert!(world.one_move());
        let due = world.state.due().into_iter().find_map(|effect| match effect.action {
            Action::RunTimer { timer: TimerKind::Timeout, active_ms, .. } => Some(active_ms),
            _ => None,
        });
        due.map(|ms| ms / 60_000)
    };
    assert_eq!(timeout(""), Some(60));
    assert_eq!(timeout("limits: {timeout: 5m}, "), Some(5));
    assert_eq!(timeout("limits: {timeout: none}, "), None);
    assert_eq!(timeout("limits: {retries: 1}, "), Some(60));
}
