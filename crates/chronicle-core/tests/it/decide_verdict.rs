//! Phases that are left by a verdict: only a verdict takes the way of a pass.

use std::fmt::Write as _;

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::input::Answer;
use chronicle_core::event::signal::parse;
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
            - / it is fine                     accepted: leaving for `mend`.
              - / it is fine → ship            refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `ship`
              - / it is fine → mend            accepted: leaving for `mend`.
              - / it is fine → done            refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `done`
            complete / it is fine              accepted: leaving for `mend`.
              complete / it is fine → ship     refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `ship`
              complete / it is fine → mend     accepted: leaving for `mend`.
              complete / it is fine → done     refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `done`
            pass / it is fine                  accepted: leaving for `ship`.
              pass / it is fine → ship         accepted: leaving for `ship`.
              pass / it is fine → mend         refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`
              pass / it is fine → done         refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `done`
            fail / it is fine                  accepted: leaving for `mend`.
              fail / it is fine → ship         refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `ship`
              fail / it is fine → mend         accepted: leaving for `mend`.
              fail / it is fine → done         refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `done`
            gaps / it is fine                  refused: `look` asks for a verdict, and gives `gaps` no way
              gaps / it is fine → ship         refused: `look` asks for a verdict: only a pass leads to `ship`, and `gaps` is none; name another target, such as `human_intervention`
              gaps / it is fine → mend         accepted: leaving for `mend`.
              gaps / it is fine → done         accepted: the workflow ends here, and has failed (`gaps`).
            - / Verdict: PASS                  accepted: leaving for `ship`.
              - / Verdict: PASS → ship         accepted: leaving for `ship`.
              - / Verdict: PASS → mend         refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`
              - / Verdict: PASS → done         refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `done`
            complete / Verdict: PASS           accepted: leaving for `ship`.
              complete / Verdict: PASS → ship  accepted: leaving for `ship`.
              complete / Verdict: PASS → mend  refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`
              complete / Verdict: PASS → done  refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `done`
            pass / Verdict: PASS               accepted: leaving for `ship`.
              pass / Verdict: PASS → ship      accepted: leaving for `ship`.
              pass / Verdict: PASS → mend      refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`
              pass / Verdict: PASS → done      refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `done`
            fail / Verdict: PASS               accepted: leaving for `mend`.
              fail / Verdict: PASS → ship      refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `ship`
              fail / Verdict: PASS → mend      accepted: leaving for `mend`.
              fail / Verdict: PASS → done      refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `done`
            gaps / Verdict: PASS               refused: `look` asks for a verdict, and gives `gaps` no way
              gaps / Verdict: PASS → ship      refused: `look` asks for a verdict: only a pass leads to `ship`, and `gaps` is none; name another target, such as `human_intervention`
              gaps / Verdict: PASS → mend      accepted: leaving for `mend`.
              gaps / Verdict: PASS → done      accepted: the workflow ends here, and has failed (`gaps`).
            - / Verdict: FAIL                  accepted: leaving for `mend`.
              - / Verdict: FAIL → ship         refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `ship`
              - / Verdict: FAIL → mend         accepted: leaving for `mend`.
              - / Verdict: FAIL → done         refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `done`
            complete / Verdict: FAIL           accepted: leaving for `mend`.
              complete / Verdict: FAIL → ship  refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `ship`
              complete / Verdict: FAIL → mend  accepted: leaving for `mend`.
              complete / Verdict: FAIL → done  refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `done`
            pass / Verdict: FAIL               refused: `outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both say the same; `look` goes on with a pass only if nothing speaks against it
              pass / Verdict: FAIL → ship      refused: `outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both say the same; `look` goes on with a pass only if nothing speaks against it
              pass / Verdict: FAIL → mend      refused: `outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both say the same; `look` goes on with a pass only if nothing speaks against it
              pass / Verdict: FAIL → done      refused: `outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both say the same; `look` goes on with a pass only if nothing speaks against it
            fail / Verdict: FAIL               accepted: leaving for `mend`.
              fail / Verdict: FAIL → ship      refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `ship`
              fail / Verdict: FAIL → mend      accepted: leaving for `mend`.
              fail / Verdict: FAIL → done      refused: `look` asks for a verdict, and `fail` leads to `mend`, not to `done`
            gaps / Verdict: FAIL               refused: `look` asks for a verdict, and gives `gaps` no way
              gaps / Verdict: FAIL → ship      refused: `look` asks for a verdict: only a pass leads to `ship`, and `gaps` is none; name another target, such as `human_intervention`
              gaps / Verdict: FAIL → mend      accepted: leaving for `mend`.
              gaps / Verdict: FAIL → done      accepted: the workflow ends here, and has failed (`gaps`).
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
              pass / it is fine → mend         refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`
            fail / it is fine                  accepted: leaving for `human_intervention`.
              fail / it is fine → ship         refused: `look` asks for a verdict: only a pass leads to `ship`, and `fail` is none; name another target, such as `human_intervention`
              fail / it is fine → mend         accepted: leaving for `mend`.
            gaps / it is fine                  accepted: leaving for `human_intervention`.
              gaps / it is fine → ship         refused: `look` asks for a verdict: only a pass leads to `ship`, and `gaps` is none; name another target, such as `human_intervention`
              gaps / it is fine → mend         accepted: leaving for `mend`.
            - / Verdict: PASS                  accepted: leaving for `ship`.
              - / Verdict: PASS → ship         accepted: leaving for `ship`.
              - / Verdict: PASS → mend         refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`
            complete / Verdict: PASS           accepted: leaving for `ship`.
              complete / Verdict: PASS → ship  accepted: leaving for `ship`.
              complete / Verdict: PASS → mend  refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`
            pass / Verdict: PASS               accepted: leaving for `ship`.
              pass / Verdict: PASS → ship      accepted: leaving for `ship`.
              pass / Verdict: PASS → mend      refused: `look` asks for a verdict, and `pass` leads to `ship`, not to `mend`
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
