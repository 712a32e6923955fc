//! Decisions about what workers say within a phase: continuations, snapshots, verdicts, loops, giving up.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::Verdict;
use chronicle_core::event::input::{Answer, AttemptReport};
use chronicle_core::event::signal::{Signal, is_ours, is_ours_of_server, parse};
use chronicle_core::state::Status;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::decide::check;
use crate::world::{World, about, calls, signal};

/// Calls a tool as the first attempt, and is answered in words.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "an expectation reads best in its place")]
fn called(world: &mut World, request: &str, tool: &str, arguments: Value, expected: Expect) {
    let answer = world.step(&signal(AttemptId(1), request, parse(tool, &arguments)));
    expected.assert_eq(&match answer {
        Answer::Accepted(text) => format!("accepted: {text}"),
        Answer::Refused(text) => format!("refused: {text}"),
        other => format!("{other:?}"),
    });
}

#[test]
fn who_has_left_is_told_so_whatever_is_wrong_with_a_second_signal() {
    let mut world = World::started("{name: L, phases: {work: {next: [a, b]}, a: {}, b: {}}}", "");
    let leave = json!({"target_state": "b", "summary": "done"});
    called(
        &mut world,
        "r1",
        "workflow_transition",
        leave.clone(),
        expect!["accepted: accepted: leaving for `b`. End your turn now."],
    );
    let over = "refused: `work` is being left for `b` already: the first signal counts, and nothing of this one was kept";
    let late = [
        ("signal_back", json!({"signal": "complete", "summary": "done"})),
        ("workflow_transition", json!({"target_state": "nowhere", "summary": "done"})),
        ("workflow_transition", json!({"target_state": "a", "summary": "done"})),
    ];
    for (number, (tool, arguments)) in late.into_iter().enumerate() {
        let answer =
            world.step(&signal(AttemptId(1), &format!("l{number}"), parse(tool, &arguments)));
        let Answer::Refused(text) = answer else { panic!("{answer:?}") };
        assert_eq!(format!("refused: {text}"), over);
    }
    // The same again, as after a lost answer.
    called(
        &mut world,
        "r2",
        "workflow_transition",
        leave,
        expect!["accepted: accepted: leaving for `b`. End your turn now."],
    );
}

#[test]
fn a_conversation_that_is_too_long_goes_on_in_a_fresh_session_until_its_limit() {
    let world = check(
        "{name: Long, phases: {work: {limits: {continuations: 1, nudges: 3}}}}",
        "work: full too many tokens",
        expect![[r#"
            run started: `Long` on "the task"
              workflow `main` entered
              phase `work` entered
              a1 started at `work` (scripted)
            a1 ran out of context: "too many tokens"
              a2 started at `work` (scripted): continues: "look at the current files, and do not repeat finished work"
            a2 ran out of context: "too many tokens"
              g1 waits at `work` for intervention: `work` was continued once, which is the limit; the last attempt ran out of context: "too many tokens"
        "#]],
    );
    assert_eq!(world.state.status(), Status::Waiting);
}

#[test]
fn partially_complete_goes_on_in_a_fresh_session_until_its_limit() {
    let world = check(
        "{name: Long, phases: {work: {limits: {continuations: 2}}}}",
        "work 1: continue after the parser
         work 2: continue after the printer
         work 3: continue after the linker
         work 4: go done
         g1: retry mind the time",
        expect![[r#"
            run started: `Long` on "the task"
              workflow `main` entered
              phase `work` entered
              a1 started at `work` (scripted)
            a1 ends its turn: to be continued: "after the parser"
            a1 ended
              a2 started at `work` (scripted): continues: "after the parser"
            a2 ends its turn: to be continued: "after the printer"
            a2 ended
              a3 started at `work` (scripted): continues: "after the printer"
            a3 ends its turn: to be continued: "after the linker"
            a3 ended
              g1 waits at `work` for intervention: `work` was continued 2 times, which is the limit; it stopped at "after the linker"
            g1 answered with `retry` by ann: "mind the time"
              a4 started at `work` (scripted): asked for: "mind the time"
            a4 leaves for `done`: "did it"
            a4 ended
              `work` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
    assert_eq!(world.state.status(), Status::Done);
}

#[test]
fn a_snapshot_is_carried_and_the_same_call_counts_once() {
    let mut world = World::started(crate::decide::THREE, "");
    let data =
        json!({"findings": ["it leaks"], "pending_tasks": ["mend it"], "modified_files": "a.rs"});
    let tool = "workflow_update_snapshot";
    called(
        &mut world,
        "r1",
        tool,
        json!({"data": data.clone()}),
        expect!["accepted: kept: 1 findings, 1 pending, 0 done, 1 files, 0 named values"],
    );
    called(
        &mut world,
        "r1",
        tool,
        json!({"data": data}),
        expect!["accepted: kept: 1 findings, 1 pending, 0 done, 1 files, 0 named values"],
    );
    called(
        &mut world,
        "r2",
        tool,
        json!({"data": "it leaks twice"}),
        expect!["accepted: kept: 2 findings, 1 pending, 0 done, 1 files, 0 named values"],
    );
    let data = json!({"done": ["mend it"], "custom": {"port": 80}});
    called(
        &mut world,
        "r3",
        tool,
        json!({"data": data}),
        expect!["accepted: kept: 2 findings, 0 pending, 1 done, 1 files, 1 named values"],
    );
    called(
        &mut world,
        "r4",
        tool,
        json!({"data": {"finding": ["x"]}}),
        expect![
            "refused: `data` has no `finding`. `workflow_update_snapshot` needs `data`: a text, or an object with any of `findings`, `pending`, `done`, `files` (lists of texts), `custom` (an object), `remove` (texts that are carried and are to go, word for word or by how they begin) and `replace` (an object: such texts, and what they become)"
        ],
    );
    called(
        &mut world,
        "r5",
        tool,
        json!({"data": "x".repeat(8_001)}),
        expect![
            "refused: `findings` has 8001 bytes, 8000 fit: shorten it, or write the rest into a file and name that"
        ],
    );
    let many: Vec<String> = (0..1_001).map(|number| number.to_string()).collect();
    called(
        &mut world,
        "r6",
        tool,
        json!({"data": {"done": many}}),
        expect![
            "refused: the snapshot would have 1006 entries, and 1000 fit: nothing of this update was kept. Say it in fewer words, take out with `remove` what is settled, or write it into a file of the project and name the file"
        ],
    );
    let snapshot = serde_json::to_string(&*world.state.snapshot).unwrap();
    expect![[r#"{"findings":["it leaks","it leaks twice"],"done":["mend it"],"files":["a.rs"],"custom":{"port":80}}"#]].assert_eq(&snapshot);
}

#[test]
fn each_signal_needs_its_own_fields() {
    let mut world =
        World::started("{name: S, phases: {work: {signals: [complete, needs-user-input]}}}", "");
    let calls = [
        ("signal_back", json!({"type": "complete"})),
        ("signal_back", json!({"signal": "partially-complete", "progress": "p"})),
        ("signal_back", json!({"signal": "needs-user-input", "question": "q"})),
        (
            "signal_back",
            json!({"signal": "needs-role-followup", "targetRole": "m", "reason": "r", "context": "c"}),
        ),
        ("signal_back", json!({"signal": "wave"})),
        (
            "signal_back",
            json!({"signal": "partially_complete", "progress": "p", "continuationPoint": "c"}),
        ),
        ("workflow_plan", json!({"steps": []})),
        ("workflow_transition", json!({"to_state": "done"})),
        ("signal-back", json!({"signal": "complete", "summary": "s", "stepId": "x"})),
        ("signal-back", json!({"signal": "complete", "summary": "s"})),
        ("signal_back", json!({"signal": "needs-user-input", "question": "q", "context": "c"})),
    ];
    let mut told = String::new();
    for (number, (tool, arguments)) in calls.iter().enumerate() {
        let call = signal(AttemptId(1), &format!("r{number}"), parse(tool, arguments));
        let (sign, text) = match world.step(&call) {
            Answer::Accepted(text) => ("+ ", text),
            Answer::Refused(text) => ("- ", text),
            other => ("", format!("{other:?}")),
        };
        told.extend([sign, &text, "\n"]);
    }
    expect![[r#"
        - the signal `complete` needs `summary`: what you did and found
        - the signal `partially-complete` needs `continuationPoint`: where to go on
        - the signal `needs-user-input` needs `context`: why you ask
        - the signal `needs-role-followup` needs `resume`: `true` if you are to go on afterwards, `false` if nothing of yours is left to do
        - `signal_back` takes the signals `complete`, `partially-complete`, `needs-user-input`, `needs-role-followup`, not `wave`
        - `work` may not send `partially-complete`; it may send `complete`, `needs-user-input`
        - a plan needs at least one step
        - `workflow_transition` needs `summary`: what you did and found
        - `stepId` is `x`, and you are a1 at `work`: name one of these, or leave `stepId` out
        + accepted: the work is done. End your turn now.
        - `work` is being left for `done` already: the first signal counts, and nothing of this one was kept
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_phase_that_asks_for_a_verdict_fails_closed() {
    let workflow =
        "{name: V, phases: {look: {next: [mend], on: {pass: done, fail: mend}}, mend: {}}}";
    let answers = |summary: &str| {
        let mut world = World::started(workflow, "");
        let arguments = json!({"signal": "complete", "summary": summary});
        let step = signal(AttemptId(1), "r1", parse("signal_back", &arguments));
        match world.step(&step) {
            Answer::Accepted(text) => text,
            Answer::Refused(text) => format!("refused: {text}"),
            other => panic!("{other:?}"),
        }
    };
    expect!["accepted: the work is done. End your turn now."]
        .assert_eq(&answers("fine\n**Verdict:** PASS"));
    expect!["refused: `look` asks for a verdict, and you gave none: say `outcome` (`pass` or `fail`), or end your summary with the line `Verdict: PASS` or `Verdict: FAIL`"]
        .assert_eq(&answers("it looks fine"));
    expect!["accepted: leaving for `mend`. End your turn now."]
        .assert_eq(&answers("Verdict: PASS\nVerdict: BLOCK"));
    let mut world = World::started(workflow, "");
    let contradicts = json!({"target_state": "done", "summary": "Verdict: FAIL"});
    called(
        &mut world,
        "r1",
        "workflow_transition",
        contradicts,
        expect![
            "refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `done`: if you mean `fail`, leave for `mend`; otherwise give another verdict"
        ],
    );
    let said = json!({"target_state": "done", "summary": "all good", "outcome": "pass"});
    called(
        &mut world,
        "r2",
        "workflow_transition",
        said,
        expect!["accepted: accepted: the work is done. End your turn now."],
    );
}

#[test]
fn a_loop_is_an_edge_and_restarts_the_innermost_workflow() {
    check(
        "
name: Outer
phases:
  in: {run: workflow, workflow: inner, next: [done]}
=== inner
name: Inner
loopable: true
limits: {loop: 2}
phases:
  look: {next: [judge]}
  judge: {next: [done]}
",
        "in/look: go judge\nin/judge: loop once more\ng1: go in/done",
        expect![[r#"
            run started: `Outer` on "the task"
              workflow `main` entered
              phase `in` entered
              workflow `inner` entered
              phase `in/look` entered
              a1 started at `in/look` (scripted)
            a1 leaves for `judge`: "did it"
            a1 ended
              `in/look` left for `in/judge`
              phase `in/judge` entered
              a2 started at `in/judge` (scripted)
            a2 leaves for `look`: "once more"
            a2 ended
              `in/judge` left for `in/look`
              phase `in/look` entered
              a3 started at `in/look` (scripted)
            a3 leaves for `judge`: "did it"
            a3 ended
              `in/look` left for `in/judge`
              phase `in/judge` entered
              a4 started at `in/judge` (scripted)
            a4 leaves for `look`: "once more"
            a4 ended
              `in/judge` left for `in/look`
              phase `in/look` entered
              a5 started at `in/look` (scripted)
            a5 leaves for `judge`: "did it"
            a5 ended
              `in/look` left for `in/judge`
              phase `in/judge` entered
              a6 started at `in/judge` (scripted)
            a6 leaves for `look`: "once more"
            a6 ended
              g1 waits at `in/judge` for intervention: workflow `Inner` was started over 2 times, which is the limit
            g1 answered with `go done` by ann
              `in/judge` left, workflow ended (skipped) by a person
              the workflow in `in` ended (skipped)
              `in` left, workflow ended (skipped)
              the workflow ended (skipped)
              run done
        "#]],
    );
    let mut world = World::started("{name: L, loopable: false, phases: {work: {}}}", "");
    called(
        &mut world,
        "r1",
        "workflow_step",
        json!({"action": "loop"}),
        expect![
            "refused: looping is disabled for workflow `L`: leave with `workflow_step` and `next`"
        ],
    );
}

#[test]
fn a_worker_must_ask_twice_to_cancel() {
    let mut world = World::started(crate::decide::THREE, "");
    let (step, cancel) = ("workflow_step", json!({"action": "cancel", "summary": "hopeless"}));
    called(
        &mut world,
        "r1",
        step,
        cancel.clone(),
        expect![
            "accepted: this cancels the whole run. To confirm, call `workflow_step` with `cancel` again now; any other call withdraws it."
        ],
    );
    called(
        &mut world,
        "r2",
        step,
        json!({"action": "status"}),
        expect![[r#"
            accepted: Three phases > Planning [1/3]
            You are a1 at `plan`, try 1. Started: 2026-11-15T02:30:50.000Z.
            Planning [●] -> Implementation [ ] -> Verification [ ]
            You may go to: `build`.
            Personas: `mender`, `seeker`, `judge`, `a`, `b`, `c`.
            Carried on: 0 findings, 0 pending, 0 done, 0 files, 0 named values.
            Spent so far: 0 tokens.

            ## Task

            the task"#]],
    );
    called(
        &mut world,
        "r3",
        step,
        cancel.clone(),
        expect![
            "accepted: this cancels the whole run. To confirm, call `workflow_step` with `cancel` again now; any other call withdraws it."
        ],
    );
    let read = about(AttemptId(1), calls("c", "read", ""));
    assert_eq!(world.step(&read), Answer::Verdict(Verdict::Allowed));
    called(
        &mut world,
        "r4",
        step,
        cancel.clone(),
        expect![
            "accepted: this cancels the whole run. To confirm, call `workflow_step` with `cancel` again now; any other call withdraws it."
        ],
    );
    assert_eq!(world.state.cancelled, None);
    // An agent asks for leave before each call, so before the second request too.
    let own = about(AttemptId(1), calls("c2", step, ""));
    assert_eq!(world.step(&own), Answer::Verdict(Verdict::Allowed));
    called(
        &mut world,
        "r5",
        step,
        cancel.clone(),
        expect!["accepted: the run is cancelled. End your turn now."],
    );
    called(
        &mut world,
        "r6",
        step,
        cancel,
        expect![
            "refused: the run was cancelled. Nothing was done, and nothing more will be: end your turn now"
        ],
    );
    expect![[r#"a1 cancelled it: "hopeless""#]]
        .assert_eq(world.state.cancelled.as_deref().unwrap_or_default());
}

#[test]
fn after_a_signal_that_ends_the_turn_only_the_first_counts() {
    let mut world = World::started(crate::decide::THREE, "");
    let partial =
        json!({"signal": "partially-complete", "progress": "p", "continuationPoint": "c"});
    called(
        &mut world,
        "r1",
        "signal_back",
        partial.clone(),
        expect!["accepted: accepted: a fresh worker continues from there. End your turn now."],
    );
    called(
        &mut world,
        "r2",
        "signal_back",
        partial,
        expect!["accepted: accepted: a fresh worker continues from there. End your turn now."],
    );
    called(
        &mut world,
        "r3",
        "workflow_step",
        json!({"action": "next"}),
        expect![[
            r#"refused: your turn has ended already (to be continued: "c"): the first signal counts, and nothing of this one was kept"#
        ]],
    );
    called(
        &mut world,
        "r4",
        "workflow_ask",
        json!({"question": "well?"}),
        expect![[
            r#"refused: your turn has ended already (to be continued: "c"): the first signal counts, and nothing of this one was kept"#
        ]],
    );
    let read = about(AttemptId(1), calls("c", "read", ""));
    assert!(matches!(world.step(&read), Answer::Verdict(Verdict::Denied(_))));
}

#[test]
fn the_four_cases_of_workflows_inside_workflows() {
    let world = check(
        "
name: Release
phases:
  first: {run: workflow, workflow: mid, next: [ship]}
  ship: {next: [last]}
  last: {run: workflow, workflow: leaf, next: [done]}
=== mid
name: Review
phases:
  deep: {run: workflow, workflow: leaf, next: [tidy]}
  tidy: {}
=== leaf
name: Leaf
phases:
  look: {name: Analysis, emoji: 🔍, next: [judge]}
  judge: {}
",
        "first/deep/look: go judge
         first/deep/judge: go done
         first/tidy: go done
         ship: go last
         last/look: go judge
         last/judge: go done",
        expect![[r#"
            run started: `Release` on "the task"
              workflow `main` entered
              phase `first` entered
              workflow `mid` entered
              phase `first/deep` entered
              workflow `leaf` entered
              phase `first/deep/look` entered
              a1 started at `first/deep/look` (scripted)
            a1 leaves for `judge`: "did it"
            a1 ended
              `first/deep/look` left for `first/deep/judge`
              phase `first/deep/judge` entered
              a2 started at `first/deep/judge` (scripted)
            a2 leaves for `done`: "did it"
            a2 ended
              `first/deep/judge` done, workflow complete
              the workflow in `first/deep` ended
              `first/deep` left for `first/tidy`
              phase `first/tidy` entered
              a3 started at `first/tidy` (scripted)
            a3 leaves for `done`: "did it"
            a3 ended
              `first/tidy` done, workflow complete
              the workflow in `first` ended
              `first` left for `ship`
              phase `ship` entered
              a4 started at `ship` (scripted)
            a4 leaves for `last`: "did it"
            a4 ended
              `ship` left for `last`
              phase `last` entered
              workflow `leaf` entered
              phase `last/look` entered
              a5 started at `last/look` (scripted)
            a5 leaves for `judge`: "did it"
            a5 ended
              `last/look` left for `last/judge`
              phase `last/judge` entered
              a6 started at `last/judge` (scripted)
            a6 leaves for `done`: "did it"
            a6 ended
              `last/judge` done, workflow complete
              the workflow in `last` ended
              `last` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
    assert_eq!(world.state.status(), Status::Done);
    let at = world.killed_after(1);
    let view = chronicle_core::view::run(&at.state, true).unwrap();
    expect!["Release > Review [1/3] > Leaf [1/2] > 🔍 Analysis [1/2]"].assert_eq(&view.line);
    let crumbs: Vec<&str> = view.breadcrumbs.iter().map(|crumb| crumb.text.as_str()).collect();
    expect![[r#"
        first [●] -> ship [ ] -> last [ ]
        deep [●] -> tidy [ ]
        Analysis [●] -> judge [ ]"#]]
    .assert_eq(&crumbs.join("\n"));
}

#[test]
fn one_session_walks_the_phases_that_say_so() {
    let world = World::started(
        "
name: One session
phases:
  a: {next: [in]}
  in: {run: workflow, workflow: inner, next: [b]}
  b: {session: continue}
=== inner
name: Inner
phases:
  c: {session: continue}
",
        "a: go in\nin/c: go done\nb: go done",
    )
    .play();
    let sessions: Vec<_> =
        world.state.attempts.iter().map(|it| it.intent.session.clone()).collect();
    assert_eq!(sessions.len(), 3);
    assert!(sessions.iter().all(|session| *session == sessions[0]), "{sessions:?}");
    assert!(world.state.attempts.iter().skip(1).all(|attempt| attempt.intent.resume));
}

#[test]
fn what_the_worker_before_wants_done_is_handed_over() {
    let mut world = World::started(crate::decide::THREE, "");
    let arguments =
        json!({"target_state": "build", "summary": "planned", "task": "the parser first"});
    world.step(&signal(AttemptId(1), "r1", parse("workflow_transition", &arguments)));
    world.step(&about(
        AttemptId(1),
        AttemptReport::Ended(chronicle_core::event::input::EndSeen::default()),
    ));
    let next = world.state.attempt(AttemptId(2)).unwrap();
    let text = chronicle_core::handover::handover(&world.state, next);
    assert!(text.contains("## What the phase before asks of you\n\nthe parser first"), "{text}");
    assert!(matches!(parse("workflow_status", &Value::Null), Signal::Status));
}

#[test]
fn a_signal_is_known_under_the_name_of_its_server_too() {
    assert!(is_ours("signal_back") && !is_ours("mcp__chronicle__signal_back"));
    assert!(is_ours_of_server("mcp__chronicle__signal_back"));
    for tool in
        ["signal_back", "mcp__chronicle__bash", "mcp__other__signal_back", "mcp__chronicle__"]
    {
        assert!(!is_ours_of_server(tool), "{tool}");
    }
}
