//! Phases that are left by a verdict: only a verdict takes the way of a pass.

use std::fmt::Write as _;

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::GateKind;
use chronicle_core::event::input::Answer;
use chronicle_core::event::signal::parse;
use chronicle_core::handover::handover;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::world::{World, signal};

fn call(workflow: &str, tool: &str, arguments: &Value) -> String {
    let mut world = World::started(workflow, "");
    match world.step(&signal(AttemptId(1), "r1", parse(tool, arguments))) {
        Answer::Accepted(text) => text.replace(" End your turn now.", ""),
        Answer::Refused(text) => format!("refused: {text}"),
        other => panic!("{other:?}"),
    }
}

/// Every way to leave, in each of the three tools: with nothing said, each outcome, each verdict line, each target.
fn all_ways(workflow: &str, targets: &[&str]) -> String {
    let mut told = String::new();
    let mut tell = |what: String, tool: &str, arguments: &Value| {
        let answer = call(workflow, tool, arguments);
        let answer = answer.split_once(": say `outcome`").map_or(&*answer, |(it, _)| it).to_owned();
        let _ = writeln!(told, "{what:<34} {answer}");
    };
    for said in ["it is fine", "Verdict: PASS", "Verdict: FAIL"] {
        for outcome in [None, Some("complete"), Some("pass"), Some("fail"), Some("gaps")] {
            let shown = format!("{} / {said}", outcome.unwrap_or("-"));
            let back = json!({"signal": "complete", "summary": said, "outcome": outcome});
            tell(shown.clone(), "signal_back", &back);
            let step = json!({"action": "next", "summary": said, "outcome": outcome});
            assert_eq!(
                call(workflow, "workflow_step", &step),
                call(workflow, "signal_back", &back),
                "{shown}: both tools mean the same"
            );
            for target in targets {
                let arguments =
                    json!({"target_state": target, "summary": said, "outcome": outcome});
                tell(format!("  {shown} → {target}"), "workflow_transition", &arguments);
            }
        }
    }
    told
}

fn check(workflow: &str, targets: &[&str], ways: &Expect) {
    ways.assert_eq(&all_ways(workflow, targets));
}

#[test]
fn only_a_verdict_takes_the_way_of_a_pass() {
    check(
        "{name: V, phases: {look: {on: {pass: ship, fail: mend}}, mend: {}, ship: {}}}",
        &["ship", "mend", "done"],
        &expect![[r#"
            - / it is fine                     refused: `look` asks for a verdict, and you gave none
              - / it is fine → ship            refused: `look` asks for a verdict, and you gave none
              - / it is fine → mend            refused: `look` asks for a verdict, and you gave none
              - / it is fine → done            refused: `look` asks for a verdict, and you gave none
            complete / it is fine              refused: `look` asks for a verdict, and you gave none
              complete / it is fine → ship     refused: `look` asks for a verdict, and you gave none
              complete / it is fine → mend     refused: `look` asks for a verdict, and you gave none
              complete / it is fine → done     refused: `look` asks for a verdict, and you gave none
            pass / it is fine                  accepted: leaving for `ship`.
              pass / it is fine → ship         accepted: leaving for `ship`.
              pass / it is fine → mend         refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`: if you mean `pass`, leave for `ship`; otherwise give another verdict
              pass / it is fine → done         refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `done`: if you mean `pass`, leave for `ship`; otherwise give another verdict
            fail / it is fine                  accepted: leaving for `mend`.
              fail / it is fine → ship         refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `ship`: if you mean `fail`, leave for `mend`; otherwise give another verdict
              fail / it is fine → mend         accepted: leaving for `mend`.
              fail / it is fine → done         refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `done`: if you mean `fail`, leave for `mend`; otherwise give another verdict
            gaps / it is fine                  refused: `look` asks for a verdict, and gives `gaps` no way
              gaps / it is fine → ship         refused: `look` asks for a verdict: only a pass leads to `ship`, and `gaps` is none; name another target, such as `human_intervention`
              gaps / it is fine → mend         accepted: leaving for `mend`.
              gaps / it is fine → done         refused: `look` cannot be left for `done`; allowed: `mend`, `ship`
            - / Verdict: PASS                  accepted: leaving for `ship`.
              - / Verdict: PASS → ship         accepted: leaving for `ship`.
              - / Verdict: PASS → mend         refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`: if you mean `pass`, leave for `ship`; otherwise give another verdict
              - / Verdict: PASS → done         refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `done`: if you mean `pass`, leave for `ship`; otherwise give another verdict
            complete / Verdict: PASS           accepted: leaving for `ship`.
              complete / Verdict: PASS → ship  accepted: leaving for `ship`.
              complete / Verdict: PASS → mend  refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`: if you mean `pass`, leave for `ship`; otherwise give another verdict
              complete / Verdict: PASS → done  refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `done`: if you mean `pass`, leave for `ship`; otherwise give another verdict
            pass / Verdict: PASS               accepted: leaving for `ship`.
              pass / Verdict: PASS → ship      accepted: leaving for `ship`.
              pass / Verdict: PASS → mend      refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`: if you mean `pass`, leave for `ship`; otherwise give another verdict
              pass / Verdict: PASS → done      refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `done`: if you mean `pass`, leave for `ship`; otherwise give another verdict
            fail / Verdict: PASS               accepted: leaving for `mend`.
              fail / Verdict: PASS → ship      refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `ship`: if you mean `fail`, leave for `mend`; otherwise give another verdict
              fail / Verdict: PASS → mend      accepted: leaving for `mend`.
              fail / Verdict: PASS → done      refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `done`: if you mean `fail`, leave for `mend`; otherwise give another verdict
            gaps / Verdict: PASS               refused: `look` asks for a verdict, and gives `gaps` no way
              gaps / Verdict: PASS → ship      refused: `look` asks for a verdict: only a pass leads to `ship`, and `gaps` is none; name another target, such as `human_intervention`
              gaps / Verdict: PASS → mend      accepted: leaving for `mend`.
              gaps / Verdict: PASS → done      refused: `look` cannot be left for `done`; allowed: `mend`, `ship`
            - / Verdict: FAIL                  accepted: leaving for `mend`.
              - / Verdict: FAIL → ship         refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `ship`: if you mean `fail`, leave for `mend`; otherwise give another verdict
              - / Verdict: FAIL → mend         accepted: leaving for `mend`.
              - / Verdict: FAIL → done         refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `done`: if you mean `fail`, leave for `mend`; otherwise give another verdict
            complete / Verdict: FAIL           accepted: leaving for `mend`.
              complete / Verdict: FAIL → ship  refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `ship`: if you mean `fail`, leave for `mend`; otherwise give another verdict
              complete / Verdict: FAIL → mend  accepted: leaving for `mend`.
              complete / Verdict: FAIL → done  refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `done`: if you mean `fail`, leave for `mend`; otherwise give another verdict
            pass / Verdict: FAIL               refused: `outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both say the same; `look` goes on with a pass only if nothing speaks against it
              pass / Verdict: FAIL → ship      refused: `outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both say the same; `look` goes on with a pass only if nothing speaks against it
              pass / Verdict: FAIL → mend      refused: `outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both say the same; `look` goes on with a pass only if nothing speaks against it
              pass / Verdict: FAIL → done      refused: `outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both say the same; `look` goes on with a pass only if nothing speaks against it
            fail / Verdict: FAIL               accepted: leaving for `mend`.
              fail / Verdict: FAIL → ship      refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `ship`: if you mean `fail`, leave for `mend`; otherwise give another verdict
              fail / Verdict: FAIL → mend      accepted: leaving for `mend`.
              fail / Verdict: FAIL → done      refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `done`: if you mean `fail`, leave for `mend`; otherwise give another verdict
            gaps / Verdict: FAIL               refused: `look` asks for a verdict, and gives `gaps` no way
              gaps / Verdict: FAIL → ship      refused: `look` asks for a verdict: only a pass leads to `ship`, and `gaps` is none; name another target, such as `human_intervention`
              gaps / Verdict: FAIL → mend      accepted: leaving for `mend`.
              gaps / Verdict: FAIL → done      refused: `look` cannot be left for `done`; allowed: `mend`, `ship`
        "#]],
    );
}

#[test]
fn a_no_without_a_way_goes_to_a_person() {
    check(
        "{name: V, phases: {look: {next: [mend, ship], on: {pass: ship}}, mend: {}, ship: {}}}",
        &["ship", "mend"],
        &expect![[r#"
            - / it is fine                     refused: `look` asks for a verdict, and you gave none
              - / it is fine → ship            refused: `look` asks for a verdict, and you gave none
              - / it is fine → mend            refused: `look` asks for a verdict, and you gave none
            complete / it is fine              refused: `look` asks for a verdict, and you gave none
              complete / it is fine → ship     refused: `look` asks for a verdict, and you gave none
              complete / it is fine → mend     refused: `look` asks for a verdict, and you gave none
            pass / it is fine                  accepted: leaving for `ship`.
              pass / it is fine → ship         accepted: leaving for `ship`.
              pass / it is fine → mend         refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`: if you mean `pass`, leave for `ship`; otherwise give another verdict
            fail / it is fine                  accepted: leaving for `human_intervention`.
              fail / it is fine → ship         refused: `look` asks for a verdict: only a pass leads to `ship`, and `fail` is none; name another target, such as `human_intervention`
              fail / it is fine → mend         accepted: leaving for `mend`.
            gaps / it is fine                  accepted: leaving for `human_intervention`.
              gaps / it is fine → ship         refused: `look` asks for a verdict: only a pass leads to `ship`, and `gaps` is none; name another target, such as `human_intervention`
              gaps / it is fine → mend         accepted: leaving for `mend`.
            - / Verdict: PASS                  accepted: leaving for `ship`.
              - / Verdict: PASS → ship         accepted: leaving for `ship`.
              - / Verdict: PASS → mend         refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`: if you mean `pass`, leave for `ship`; otherwise give another verdict
            complete / Verdict: PASS           accepted: leaving for `ship`.
              complete / Verdict: PASS → ship  accepted: leaving for `ship`.
              complete / Verdict: PASS → mend  refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`: if you mean `pass`, leave for `ship`; otherwise give another verdict
            pass / Verdict: PASS               accepted: leaving for `ship`.
              pass / Verdict: PASS → ship      accepted: leaving for `ship`.
              pass / Verdict: PASS → mend      refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`: if you mean `pass`, leave for `ship`; otherwise give another verdict
            fail / Verdict: PASS               accepted: leaving for `human_intervention`.
              fail / Verdict: PASS → ship      refused: `look` asks for a verdict: only a pass leads to `ship`, and `fail` is none; name another target, such as `human_intervention`
              fail / Verdict: PASS → mend      accepted: leaving for `mend`.
            gaps / Verdict: PASS               accepted: leaving for `human_intervention`.
              gaps / Verdict: PASS → ship      refused: `look` asks for a verdict: only a pass leads to `ship`, and `gaps` is none; name another target, such as `human_intervention`
              gaps / Verdict: PASS → mend      accepted: leaving for `mend`.
            - / Verdict: FAIL                  accepted: leaving for `human_intervention`.
              - / Verdict: FAIL → ship         refused: `look` asks for a verdict: only a pass leads to `ship`, and `fail` is none; name another target, such as `human_intervention`
              - / Verdict: FAIL → mend         accepted: leaving for `mend`.
            complete / Verdict: FAIL           accepted: leaving for `human_intervention`.
              complete / Verdict: FAIL → ship  refused: `look` asks for a verdict: only a pass leads to `ship`, and `fail` is none; name another target, such as `human_intervention`
              complete / Verdict: FAIL → mend  accepted: leaving for `mend`.
            pass / Verdict: FAIL               refused: `outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both say the same; `look` goes on with a pass only if nothing speaks against it
              pass / Verdict: FAIL → ship      refused: `outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both say the same; `look` goes on with a pass only if nothing speaks against it
              pass / Verdict: FAIL → mend      refused: `outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both say the same; `look` goes on with a pass only if nothing speaks against it
            fail / Verdict: FAIL               accepted: leaving for `human_intervention`.
              fail / Verdict: FAIL → ship      refused: `look` asks for a verdict: only a pass leads to `ship`, and `fail` is none; name another target, such as `human_intervention`
              fail / Verdict: FAIL → mend      accepted: leaving for `mend`.
            gaps / Verdict: FAIL               accepted: leaving for `human_intervention`.
              gaps / Verdict: FAIL → ship      refused: `look` asks for a verdict: only a pass leads to `ship`, and `gaps` is none; name another target, such as `human_intervention`
              gaps / Verdict: FAIL → mend      accepted: leaving for `mend`.
        "#]],
    );
}

#[test]
fn a_no_at_the_end_fails_the_workflow() {
    check(
        "{name: V, phases: {look: {on: {pass: done}}}}",
        &["done"],
        &expect![[r#"
            - / it is fine                     refused: `look` asks for a verdict, and you gave none
              - / it is fine → done            refused: `look` asks for a verdict, and you gave none
            complete / it is fine              refused: `look` asks for a verdict, and you gave none
              complete / it is fine → done     refused: `look` asks for a verdict, and you gave none
            pass / it is fine                  accepted: the work is done.
              pass / it is fine → done         accepted: the work is done.
            fail / it is fine                  accepted: the workflow ends here, and has failed (`fail`).
              fail / it is fine → done         accepted: the workflow ends here, and has failed (`fail`).
            gaps / it is fine                  accepted: the workflow ends here, and has failed (`gaps`).
              gaps / it is fine → done         accepted: the workflow ends here, and has failed (`gaps`).
            - / Verdict: PASS                  accepted: the work is done.
              - / Verdict: PASS → done         accepted: the work is done.
            complete / Verdict: PASS           accepted: the work is done.
              complete / Verdict: PASS → done  accepted: the work is done.
            pass / Verdict: PASS               accepted: the work is done.
              pass / Verdict: PASS → done      accepted: the work is done.
            fail / Verdict: PASS               accepted: the workflow ends here, and has failed (`fail`).
              fail / Verdict: PASS → done      accepted: the workflow ends here, and has failed (`fail`).
            gaps / Verdict: PASS               accepted: the workflow ends here, and has failed (`gaps`).
              gaps / Verdict: PASS → done      accepted: the workflow ends here, and has failed (`gaps`).
            - / Verdict: FAIL                  accepted: the workflow ends here, and has failed (`fail`).
              - / Verdict: FAIL → done         accepted: the workflow ends here, and has failed (`fail`).
            complete / Verdict: FAIL           accepted: the workflow ends here, and has failed (`fail`).
              complete / Verdict: FAIL → done  accepted: the workflow ends here, and has failed (`fail`).
            pass / Verdict: FAIL               refused: `outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both say the same; `look` goes on with a pass only if nothing speaks against it
              pass / Verdict: FAIL → done      refused: `outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both say the same; `look` goes on with a pass only if nothing speaks against it
            fail / Verdict: FAIL               accepted: the workflow ends here, and has failed (`fail`).
              fail / Verdict: FAIL → done      accepted: the workflow ends here, and has failed (`fail`).
            gaps / Verdict: FAIL               accepted: the workflow ends here, and has failed (`gaps`).
              gaps / Verdict: FAIL → done      accepted: the workflow ends here, and has failed (`gaps`).
        "#]],
    );
}

#[test]
fn an_outcome_of_the_workflows_own_does_not_pass_for_a_yes() {
    let workflow = "{name: V, phases: {look: {outcomes: [nit], on: {pass: ship, fail: mend}}, \
                    mend: {}, ship: {}}}";
    let sent = |target: Option<&str>| {
        let arguments = json!({"target_state": target, "summary": "s", "outcome": "nit"});
        match target {
            Some(_) => call(workflow, "workflow_transition", &arguments),
            None => call(workflow, "workflow_step", &json!({"action": "next", "outcome": "nit"})),
        }
    };
    expect!["refused: `look` asks for a verdict: only a pass leads to `ship`, and `nit` is none; name another target, such as `human_intervention`"].assert_eq(&sent(Some("ship")));
    expect!["refused: `look` asks for a verdict, and gives `nit` no way: say `outcome` (`pass` or `fail`), or end your summary with the line `Verdict: PASS` or `Verdict: FAIL`"].assert_eq(&sent(Some("done")));
    expect!["refused: `look` asks for a verdict, and gives `nit` no way: say `outcome` (`pass` or `fail`), or end your summary with the line `Verdict: PASS` or `Verdict: FAIL`"].assert_eq(&sent(None));
    expect!["accepted: leaving for `mend`."].assert_eq(&sent(Some("mend")));
}

#[test]
fn starting_over_is_no_way_around_a_verdict() {
    let workflow = "{name: V, loopable: true, phases: {look: {on: {pass: look, fail: mend}}, \
                    mend: {}}}";
    let arguments = json!({"action": "loop", "summary": "again"});
    expect!["refused: `look` asks for a verdict, and only a pass leads to `look`: leave with `workflow_step`, `next` and a verdict"].assert_eq(&call(workflow, "workflow_step", &arguments));
}

#[test]
fn a_worker_that_gives_no_verdict_is_told_at_once_and_then_a_person_is_asked() {
    let workflow = "{name: V, phases: {look: {limits: {nudges: 1, retries: 0}, on: {pass: done, fail: \
                    mend}}, mend: {next: [look]}}}";
    let world = World::started(workflow, "look: claim it is fine").play();
    expect![[r#"
        run started: `V` on "the task"
          workflow `main` entered
          phase `look` entered
          a1 started at `look` (scripted)
        a1 was refused: `look` asks for a verdict, and you gave none: say `outcome` (`pass` or `fail`), or end your summary with the line `Verdict: PASS` or `Verdict: FAIL`
        a1 finished without a leaving signal
          a2 resumed at `look` (scripted): reminder 1, no signal came
        a2 was refused: `look` asks for a verdict, and you gave none: say `outcome` (`pass` or `fail`), or end your summary with the line `Verdict: PASS` or `Verdict: FAIL`
        a2 finished without a leaving signal
          g1 waits at `look` for intervention: `look` cannot continue: the last attempt finished without a leaving signal, and no verdict was given
    "#]]
    .assert_eq(&world.told());
}

#[test]
fn where_a_person_decides_anyway_silence_is_shown_as_no_verdict() {
    for on in ["{pass: ship, fail: mend}", "{pass: ship}"] {
        let workflow = format!(
            "{{name: V, phases: {{look: {{requires_approval: true, approval_mode: post, next: [mend], \
             on: {on}}}, mend: {{}}, ship: {{}}}}}}"
        );
        let world = World::started(&workflow, "look: claim it is fine").play();
        let gate = world.state.open_gates().next().unwrap_or_else(|| panic!("{}", world.told()));
        assert_eq!(gate.opened.gate_kind, GateKind::ApprovalAfter, "{on}: {gate:?}");
        assert!(gate.opened.about.contains(" no verdict"), "{on}: {}", gate.opened.about);
    }
}

/// The calls that a handover shows as examples, as a worker would send them.
fn examples(handover: &str) -> Vec<Value> {
    let calls = handover.split("`workflow_transition(").skip(1);
    let said = |call: &str, name: &str| {
        let (_, value) = call.split_once(&format!("{name}: \""))?;
        Some(value.split_once('"')?.0.to_owned())
    };
    calls
        .map(|call| call.split_once(")`").unwrap().0)
        .map(|call| {
            let (target, outcome) = (said(call, "target_state"), said(call, "outcome"));
            json!({"target_state": target, "outcome": outcome, "summary": "looked at it"})
        })
        .collect()
}

#[test]
fn each_call_that_a_handover_shows_is_accepted_and_each_target_that_it_names_can_be_taken() {
    for look in [
        "on: {pass: ship, fail: mend}",
        "next: [mend, ship], on: {pass: ship}",
        "next: [mend], on: {pass: ship, gaps: mend}",
        "on: {pass: ship}",
        "on: {pass: done}",
        "outcomes: [pass]",
        "outcomes: [pass], next: [mend, ship]",
        "on: {fail: mend}",
        "next: [ship]",
    ] {
        let workflow = format!("{{name: V, phases: {{look: {{{look}}}, mend: {{}}, ship: {{}}}}}}");
        let world = World::started(&workflow, "");
        let attempt = world.state.attempt(AttemptId(1)).unwrap();
        let text = handover(&world.state, attempt);
        let shown = examples(&text);
        assert!(!shown.is_empty(), "{look}: {text}");
        for arguments in shown {
            let answer = call(&workflow, "workflow_transition", &arguments);
            assert!(answer.starts_with("accepted"), "{look}: {arguments}: {answer}");
        }
        let (_, named) = text.split_once("You may go to: ").unwrap();
        let (named, _) = named.split_once('.').unwrap();
        for target in named.split(", ").map(|name| name.trim_matches('`')) {
            let by = |outcome: &str| {
                let arguments =
                    json!({"target_state": target, "outcome": outcome, "summary": "looked at it"});
                call(&workflow, "workflow_transition", &arguments).starts_with("accepted")
            };
            assert!(["complete", "pass", "fail"].into_iter().any(by), "{look}: {target}");
        }
    }
}
