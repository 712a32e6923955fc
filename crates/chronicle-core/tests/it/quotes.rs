//! Sentences around values that are too long: the value is cut, what happened and what to do next is not.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::definition::budget;
use chronicle_core::event::input::{Answer, AttemptReport, EndSeen};
use chronicle_core::event::signal;
use chronicle_core::event::{CrashClass, Event, GateKind};
use chronicle_core::words;
use serde_json::{Value, json};

use crate::world::{World, about, calls, signal as call};

const WORKFLOW: &str = "
name: Long
limits: {retries: 0, nudges: 0}
phases:
  dig: {limits: {repeats: 1}, next: [fill, rest], followups: [mender]}
  fill: {next: [rest]}
  rest: {}
";

/// Far longer than any sentence, yet short enough for a worker's call.
fn long() -> String {
    "word ".repeat(1_500).trim_end().to_owned()
}

/// What a worker hears that calls with an over-long value.
fn refusal(tool: &str, arguments: &Value) -> String {
    let mut world = World::started(WORKFLOW, "");
    match world.step(&call(AttemptId(1), "r1", signal::parse(tool, arguments))) {
        Answer::Refused(text) => text,
        other => panic!("{tool}: {other:?}"),
    }
}

#[test]
fn a_refusal_names_what_would_be_accepted_however_long_the_mistake_is() {
    let help = json!({"signal": "needs-role-followup", "targetRole": long(), "reason": "r", "context": "c", "resume": true});
    for (tool, arguments, end) in [
        (
            "workflow_transition",
            json!({"target_state": long(), "summary": "s"}),
            "word… [7300 bytes cut]`; allowed: `fill`, `rest`",
        ),
        (
            "workflow_transition",
            json!({"target_state": "fill", "outcome": long(), "summary": "s"}),
            "` is no outcome of `dig`; use `complete`, `pass`, `fail`, `gaps`",
        ),
        ("signal_back", help, "` for help; it may ask `mender`"),
        ("signal_back", json!({"signal": long()}), "word… [7300 bytes cut]`"),
        ("workflow_step", json!({"action": long()}), "word… [7300 bytes cut]`"),
        (
            &*long(),
            json!({}),
            "`workflow_step`, `signal_back`, `workflow_ask`, `workflow_plan`, `workflow_status`",
        ),
    ] {
        let text = refusal(tool, &arguments);
        assert!(text.ends_with(end) && text.len() < 600, "{text}");
    }
    let text = refusal("workflow_update_snapshot", &json!({"data": {long(): "x"}}));
    assert!(text.starts_with("`data` has no `word word") && text.len() < 600, "{text}");
}

fn gate_text(world: &World) -> String {
    let gate = &world.state.open_gates().next().unwrap().opened;
    assert_eq!(gate.gate_kind, GateKind::Intervention);
    // Nothing more is lost where it is shown on one line, or told as an event.
    assert_eq!(words::about(gate.gate_kind, &gate.about), gate.about);
    assert!(words::sentence(&Event::GateOpened(gate.clone())).ends_with(&gate.about));
    gate.about.clone()
}

#[test]
fn a_gate_says_why_it_waits_however_long_the_call_is() {
    let mut world = World::started(WORKFLOW, "");
    for id in ["c1", "c2", "c3"] {
        world.step(&about(AttemptId(1), calls(id, &"tool ".repeat(60), &long())));
    }
    let seen = EndSeen { stopped: true, ..EndSeen::default() };
    world.step(&about(AttemptId(1), AttemptReport::Ended(seen)));
    let text = gate_text(&world);
    assert!(text.starts_with("`dig` is looping: `tool tool"), "{text}");
    assert!(text.ends_with(" times without progress, and the limit is 1"), "{text}");
}

#[test]
fn an_error_is_quoted_to_a_whole_word() {
    let mut world = World::started(WORKFLOW, "");
    let error = Some((CrashClass::Auth, long()));
    let seen = EndSeen { error, code: Some(1), ..EndSeen::default() };
    world.step(&about(AttemptId(1), AttemptReport::Ended(seen)));
    let text = gate_text(&world);
    let start =
        "`dig` cannot continue: the last attempt is not signed in (exit code 1): \"word word";
    assert!(text.starts_with(start) && text.ends_with(" word word\""), "{text}");
    assert!(text.contains(" word … [7101 bytes cut] … word "), "{text}");
}

#[test]
fn a_reason_that_quotes_is_not_quoted_again() {
    let reason = format!("a1 cancelled it: \"{}\"", words::one_line(&long()));
    let told = words::sentence(&Event::RunCancelled { reason: reason.clone() });
    assert_eq!(told, format!("cancelled: {reason}"));
    assert!(words::whole(&format!("it failed: {}", long())).len() < 1_300);
}

#[test]
fn a_worker_s_question_is_a_quotation() {
    let shown = words::about(GateKind::Question, &long());
    assert!(shown.ends_with(" word… [7300 bytes cut]"), "{shown}");
}

#[test]
fn what_to_say_instead_stays_whole() {
    let why = budget::read(&long()).unwrap_err();
    let end = "cut]` is no budget: say `+50000 tokens`, `+2.50 usd`, `+30m` or `+3 attempts`";
    assert!(why.starts_with("`word word") && why.ends_with(end), "{why}");
}
