//! Evidence before done, and claims held against the record.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::input::{Answer, AttemptReport, Command, EndSeen, SaidBefore};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::{Call, Issues, Verdict};
use chronicle_core::guard::Judgement;
use expect_test::{Expect, expect};

use crate::world::{World, about, calls, person, signal, tree};

const WORKFLOW: &str = "
name: Proof
limits: {nudges: 1}
phases:
  build:
    requires: [changed_files, cargo test]
    next: [check]
    on: {fail: check}
  check: {approval: after}
";

fn call(world: &mut World, attempt: u32, tool: &str, input: &str, ok: Option<bool>) {
    let (id, call) = (AttemptId(attempt), format!("c{}", world.lines.len()));
    world.step(&about(id, calls(&call, tool, input)));
    if let Some(ok) = ok {
        world.step(&about(id, AttemptReport::ToolEnded { call, ok }));
    }
}

fn run(world: &mut World, attempt: u32, command: &str, ok: Option<bool>) {
    let input = serde_json::json!({ "command": command }).to_string();
    call(world, attempt, "Bash", &input, ok);
}

fn leave(world: &mut World, attempt: u32, outcome: Option<&str>, summary: &str) -> String {
    let (outcome, summary) = (outcome.map(Into::into), summary.to_owned());
    let request = format!("r{}", world.lines.len());
    let what =
        Signal::Leave { target: None, outcome, summary, task: None, issues: Issues::default() };
    match world.step(&signal(AttemptId(attempt), &request, what)) {
        Answer::Accepted(text) => format!("accepted: {text}"),
        Answer::Refused(text) => format!("refused: {text}"),
        other => format!("{other:?}"),
    }
}

/// The attempt ends, and these files have changed.
fn end(world: &mut World, attempt: u32, files: &[&str]) {
    let seen = EndSeen { finished: true, ..EndSeen::default() };
    world.step(&about(AttemptId(attempt), AttemptReport::Ended(seen)));
    world.step(&tree(chronicle_core::event::trees::Moment::After(AttemptId(attempt)), files));
}

fn begun(workflow: &str) -> World {
    let mut world = World::started(workflow, "");
    begin(&mut world, 1);
    world
}

/// The files are recorded before an attempt, which then names its session.
fn begin(world: &mut World, attempt: u32) {
    world.step(&tree(chronicle_core::event::trees::Moment::Before(AttemptId(attempt)), &[]));
    let session = world.state.attempt(AttemptId(attempt)).unwrap().intent.session.clone();
    world.step(&about(AttemptId(attempt), AttemptReport::Session(session)));
}

fn told(world: &World, lines: usize, expected: &Expect) {
    let text: Vec<String> = world.told().lines().map(|line| line.trim().to_owned()).collect();
    expected.assert_eq(&text[text.len().saturating_sub(lines)..].join("\n"));
}

#[test]
fn a_command_in_the_background_proves_nothing_before_it_ends() {
    for (asked, ok) in [(false, true), (true, true), (true, false)] {
        let mut world = begun("{name: B, phases: {build: {requires: [cargo test]}}}");
        let input = serde_json::json!({"command": "cargo test", "run_in_background": asked});
        world.step(&about(AttemptId(1), calls("c", "Bash", &input.to_string())));
        world.step(&about(AttemptId(1), AttemptReport::ToolWentOn { call: "c".to_owned() }));
        let early = leave(&mut world, 1, None, "done");
        let unseen = "it requires `cargo test` (it was not seen to end)";
        assert!(early.contains(unseen), "{early}");
        world.step(&about(AttemptId(1), AttemptReport::ToolEnded { call: "c".to_owned(), ok }));
        let late = leave(&mut world, 1, None, "done");
        let expected = if ok { "accepted" } else { "refused" };
        assert!(late.starts_with(expected), "{late}");
        let ran = &world.state.visits.iter().next_back().unwrap().commands.list;
        let ran: Vec<_> = ran.iter().map(|ran| (ran.command.as_str(), ran.ok)).collect();
        assert_eq!(ran, [("cargo test", Some(ok))]);
    }
}

#[test]
fn a_command_in_the_background_is_known_by_data_however_long_its_input_is() {
    let mut world = begun("{name: B, phases: {build: {requires: [cargo test]}}}");
    let long = "why it takes so long ".repeat(200);
    let input = serde_json::json!({"description": long, "command": "cargo test", "run_in_background": true});
    world.step(&about(AttemptId(1), calls("c", "Bash", &input.to_string())));
    world.step(&about(AttemptId(1), AttemptReport::ToolWentOn { call: "c".to_owned() }));
    world.step(&about(AttemptId(1), AttemptReport::ToolEnded { call: "c".to_owned(), ok: true }));
    let left = leave(&mut world, 1, None, "done");
    assert!(left.starts_with("accepted"), "{left}");
}

#[test]
fn a_doubt_is_kept_as_the_line_and_put_into_words_when_it_is_said() {
    let mut world = begun("{name: B, phases: {build: {requires: [make]}}}");
    let input = serde_json::json!({"command": "make | tail"});
    world.step(&about(AttemptId(1), calls("c", "Bash", &input.to_string())));
    world.step(&about(AttemptId(1), AttemptReport::ToolEnded { call: "c".to_owned(), ok: true }));
    let state = serde_json::to_string(&world.state).unwrap();
    assert!(state.contains(r#""doubts":{"make":{"text":"make | tail"}}"#), "{state}");
    let refused = leave(&mut world, 1, None, "done");
    let why = "`make` (it ran in a pipe, whose exit code is that of `tail`: run it by itself)";
    assert!(refused.contains(why), "{refused}");
}

#[test]
fn a_call_that_was_not_asked_for_proves_nothing_and_is_a_breach_where_tools_are_limited() {
    let unasked = |world: &mut World, tool: &str| {
        let input = serde_json::json!({ "command": "cargo test" });
        let call = Box::new(Call::new("c1", tool, &input, &[]));
        let answer = world.step(&about(
            AttemptId(1),
            AttemptReport::ToolUnasked {
                call,
                judged: Judgement::Clear,
                said: SaidBefore::Nothing,
                stops: false,
            },
        ));
        world.step(&about(AttemptId(1), AttemptReport::ToolEnded { call: "c1".into(), ok: true }));
        answer
    };
    let free = "{name: Proof, phases: {a: {requires: [changed_files, cargo test], next: [done]}}}";
    let mut world = begun(free);
    assert_eq!(unasked(&mut world, "Bash"), Answer::Noted);
    let refused = leave(&mut world, 1, None, "done");
    assert!(
        refused.contains(
            "changed files (no file of the project changed), `cargo test` (it was not run)"
        )
    );
    assert!(world.state.attempt(AttemptId(1)).unwrap().hands().is_empty());
    told(
        &world,
        3,
        &expect![[r#"
        a1 ran `Bash` {"command":"cargo test"} without asking for permission
        a1's call `c1` succeeded
        a1 was refused: `a` cannot be left yet: it requires changed files (no file of the project changed), `cargo test` (it was not run), which the record does not show. Do it, then send the signal again; if it cannot be done, leave with the outcome `fail`, or ask a person"#]],
    );
    for tools in ["deny: [write]", "allow: [bash]"] {
        let mut world =
            begun(&format!("{{name: P, phases: {{a: {{tools: {{{tools}}}, next: [done]}}}}}}"));
        let why = "it ran `Bash` {\"command\":\"cargo test\"} without asking for permission; this phase limits which tools may be called";
        let denied = Answer::Verdict(Verdict::Denied(why.to_owned()));
        assert_eq!(unasked(&mut world, "Bash"), denied, "{tools}");
        let ours = unasked(&mut world, "workflow_status");
        assert_eq!(ours, Answer::Verdict(Verdict::Allowed), "{tools}");
    }
    let mut world = begun(free.replace("requires: [changed_files, cargo test], ", "").as_str());
    assert!(leave(&mut world, 1, None, "done").starts_with("accepted"));
    let Answer::Verdict(Verdict::Denied(why)) = unasked(&mut world, "Bash") else { panic!() };
    assert_eq!(
        why,
        "it ran `Bash` {\"command\":\"cargo test\"} without asking for permission; the phase is being left, so no tool may run any more"
    );
}

#[test]
fn a_phase_is_left_only_with_what_it_demands() {
    let mut world = begun(WORKFLOW);
    expect!["refused: `build` cannot be left yet: it requires changed files (no file of the project changed), `cargo test` (it was not run), which the record does not show. Do it, then send the signal again; if it cannot be done, leave with the outcome `fail`, or ask a person"].assert_eq(&leave(&mut world, 1, None, "done"));
    call(&mut world, 1, "Read", r#"{"path":"a.rs"}"#, Some(true));
    assert!(
        leave(&mut world, 1, None, "done").contains("no file of the project changed"),
        "to read is no change"
    );
    call(&mut world, 1, "Edit", r#"{"path":"a.rs"}"#, Some(true));
    run(&mut world, 1, "cargo test -p x", None);
    assert!(
        leave(&mut world, 1, None, "done")
            .contains("requires `cargo test` (it was not seen to end), which")
    );
    run(&mut world, 1, "cargo test", Some(false));
    assert!(
        leave(&mut world, 1, None, "done")
            .contains("requires `cargo test` (it failed the last time), which")
    );
    run(&mut world, 1, "echo cargo test", Some(true));
    assert!(leave(&mut world, 1, None, "done").contains("it failed the last time"));
    run(&mut world, 1, "cd core && RUST_LOG=1 cargo test 2>&1", Some(true));
    expect!["accepted: accepted: leaving for `check`. End your turn now."]
        .assert_eq(&leave(&mut world, 1, None, "done"));
    end(&mut world, 1, &["a.rs"]);
    told(
        &world,
        3,
        &expect![[r#"
              `build` left for `check`
              phase `check` entered
              a2 started at `check` (scripted)"#]],
    );
}

#[test]
fn a_line_that_hides_how_a_command_ended_proves_nothing() {
    let mut world = begun("{name: Proof, phases: {build: {requires: [sh bad.sh]}}}");
    for line in [
        "sh bad.sh || true",
        "sh bad.sh 2>&1 | tail -5",
        "sh bad.sh; true",
        "sh bad.sh &",
        "true || sh bad.sh",
        "exit 0; sh bad.sh",
        "(sh bad.sh); true",
        "sh bad.sh\ntrue",
        "x=$(sh bad.sh) true",
        "cat <<E\nsh bad.sh\nE",
        "echo \"\nsh bad.sh\n\"",
        "sh() { true; }; sh bad.sh",
        "trap \"exit 0\" EXIT; sh bad.sh",
        "sh -n bad.sh",
        "PATH=/tmp/fake:$PATH sh bad.sh",
        "cd /outside && sh bad.sh",
        "cd .. && sh bad.sh",
    ] {
        run(&mut world, 1, line, Some(true));
        assert!(leave(&mut world, 1, None, "done").starts_with("refused"), "{line}");
    }
    run(&mut world, 1, "sh bad.sh | tail -5", Some(true));
    expect!["refused: `build` cannot be left yet: it requires `sh bad.sh` (it ran in a pipe, whose exit code is that of `tail`: run it by itself), which the record does not show. Do it, then send the signal again; if it cannot be done, leave with the outcome `fail`, or ask a person"].assert_eq(&leave(&mut world, 1, None, "done"));
    let long = format!("sh bad.sh && echo {} || true", "x".repeat(9_000));
    run(&mut world, 1, &long, Some(true));
    expect!["refused: `build` cannot be left yet: it requires `sh bad.sh` (the line is too long or too deep to be read as a whole, so its exit code says nothing: run it by itself), which the record does not show. Do it, then send the signal again; if it cannot be done, leave with the outcome `fail`, or ask a person"].assert_eq(&leave(&mut world, 1, None, "done"));
    run(&mut world, 1, "cd /project/core && CI=1 sh bad.sh > log", Some(true));
    assert!(leave(&mut world, 1, None, "done").starts_with("accepted"));
}

#[test]
fn a_worker_that_reports_failure_needs_no_evidence() {
    let mut world = begun(WORKFLOW);
    assert!(leave(&mut world, 1, Some("fail"), "cannot").starts_with("accepted"));
    end(&mut world, 1, &[]);
    told(
        &world,
        2,
        &expect![[r#"
              phase `check` entered
              a2 started at `check` (scripted)"#]],
    );
}

#[test]
fn a_worker_that_changed_nothing_is_sent_back_and_then_a_person_is_asked() {
    let mut world = begun(WORKFLOW);
    for attempt in 1..=2 {
        if attempt > 1 {
            begin(&mut world, attempt);
        }
        run(&mut world, attempt, "cargo test", Some(true));
        assert!(
            leave(&mut world, attempt, None, "done").starts_with("accepted"),
            "a shell may change files"
        );
        end(&mut world, attempt, &[]);
    }
    told(
        &world,
        8,
        &expect![[r#"
            a1 leaves for `check`: "done"
            a1 ended
            a2 resumed at `build` (scripted): not shown by the record: changed files (no file of the project changed)
            a2 called `Bash` {"command":"cargo test"}
            a2's call `c9` succeeded
            a2 leaves for `check`: "done"
            a2 ended
            g1 waits at `build` for intervention: `build` was left without what it requires: changed files (no file of the project changed)"#]],
    );
    // A person may go on all the same.
    world.step(&person(Command::Skip { place: None, note: "fine".to_owned() }));
    told(
        &world,
        3,
        &expect![[r#"
            `build` left for `check` (skipped)
            phase `check` entered
            a3 started at `check` (scripted)"#]],
    );
}

#[test]
fn files_changed_before_a_crash_count_as_evidence() {
    let mut world = begun(WORKFLOW);
    run(&mut world, 1, "cargo test", Some(true));
    end(&mut world, 1, &["a.rs"]);
    begin(&mut world, 2);
    assert!(leave(&mut world, 2, None, "done").starts_with("accepted"));
}

#[test]
fn claims_that_the_record_does_not_show_are_marked_everywhere() {
    let mut world =
        begun("{name: Claims, phases: {build: {approval: after, next: [check]}, check: {}}}");
    run(&mut world, 1, "cargo build", Some(true));
    run(&mut world, 1, "npm test", Some(false));
    let summary =
        "Fixed src/a.rs and src/b.rs. Ran `cargo build`; `cargo test` passes. `npm test` is green.";
    leave(&mut world, 1, None, summary);
    end(&mut world, 1, &["src/a.rs"]);
    told(
        &world,
        2,
        &expect![[r#"
              `build`: not proven: that `src/b.rs` was changed; that `cargo test` succeeded; that `npm test` succeeded
              g1 waits at `build` for approval: is `build` done? "Fixed src/a.rs and src/b.rs. Ran `cargo build`; `cargo test` passes. `npm test` is green.""#]],
    );
    let gate = world.state.open_gates().next().unwrap();
    expect!["not proven: that `src/b.rs` was changed; that `cargo test` succeeded; that `npm test` succeeded"].assert_eq(&gate.opened.context);
    world.step(&person(Command::Approve { gate: None, note: String::new(), scope: None }));
    let text = chronicle_core::handover::handover(
        &world.state,
        world.state.live_attempts().next().unwrap(),
    );
    let (_, doubts) = text.split_once("## Said, but not proven\n\n").unwrap();
    expect!["- at `build`, not proven: that `src/b.rs` was changed; that `cargo test` succeeded; that `npm test` succeeded"].assert_eq(doubts.split_once("\n\n##").unwrap().0);
}

#[test]
fn what_the_record_shows_or_cannot_know_is_not_marked() {
    for (files, summary) in [
        (vec!["src/deep/a.rs"], "Fixed `a.rs` and everything in src/."),
        (vec!["b.rs"], "Ran `cargo test --all`: all tests pass."),
        (vec!["b.rs"], "Read a.rs; see c.rs."),
    ] {
        let mut world = begun("{name: Claims, phases: {build: {approval: after}}}");
        run(&mut world, 1, "cargo test", Some(true));
        leave(&mut world, 1, None, summary);
        end(&mut world, 1, &files);
        assert!(!world.told().contains("not proven"), "{summary}\n{}", world.told());
    }
    let mut world = begun("{name: Claims, phases: {build: {approval: after}}}");
    leave(&mut world, 1, None, "Fixed a.rs.");
    let seen = EndSeen { finished: true, ..EndSeen::default() };
    world.step(&about(AttemptId(1), AttemptReport::Ended(seen)));
    let moment = chronicle_core::event::trees::Moment::After(AttemptId(1));
    let why = "no room".to_owned();
    world.step(&crate::world::report(chronicle_core::event::input::Report::TreeMissed {
        moment,
        why,
    }));
    assert!(!world.told().contains("not proven"), "{}", world.told());
}
