//! What a person answers while nobody drives the run is done by the next `resume`, as it was said.

use crate::session::Session;

/// A run that waits at an approval after its only phase.
fn at_approval() -> Session {
    let workflow = "name: Gate\nphases:\n  work: {approval: after, next: [done]}\n";
    let session = Session::with(workflow, "work: [{complete: {summary: worked}}]");
    session.run().exits(4);
    session
}

#[test]
fn the_note_of_a_rejection_reaches_the_worker() {
    let session = at_approval();
    session.chronicle(&["reject", &session.short(), "g1", "the tests are missing"]).exits(0);
    session.chronicle(&["resume"]).exits(4);
    let started = session.events_of("attempt_started");
    assert_eq!(started.len(), 2, "the rejection's attempt, and none that is lost: {started:?}");
    assert_eq!(started[1]["data"]["why"]["is"], "rejected");
}

#[test]
fn what_a_person_answers_loses_no_attempt() {
    let session = at_approval();
    session.chronicle(&["retry", &session.short()]).exits(0);
    session.chronicle(&["resume"]).exits(4);
    assert_eq!(session.events_of("attempt_started").len(), 2);
    assert_eq!(session.events_of("attempt_ended").len(), 2);
}

#[test]
fn a_phase_that_may_run_once_runs_after_its_approval() {
    let workflow = "name: Ship\nphases:\n  ship: {run: command, once: true, approval: before, commands: ['echo x >> shipped']}\n";
    let session = Session::with(workflow, "{}");
    session.run().exits(4);
    session.chronicle(&["approve", &session.short()]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.read("shipped"), "x\n");
}

#[test]
fn what_to_type_next_is_not_refused() {
    let workflow = "name: Ask\nphases:\n  work: {next: [done, human_intervention]}\n";
    let session = Session::with(workflow, "work: [{transition: {to: human_intervention}}]");
    session.run().exits(4);
    let next = session.json(&["status"])["next"][0].as_str().unwrap().to_owned();
    let first = next.split("  (or:").next().unwrap();
    session.shell(&first.replace("PHASE", "work")).exits(0);
}

/// As users of The Chronicle have it: whatever the worker decides, a person is asked, and sees what it decided.
#[test]
fn a_verdict_is_shown_to_whoever_approves_and_the_run_is_paused_for_other_tools() {
    let session = Session::new();
    session.write(
        ".pi/chronicle/workflows/review.json",
        r#"{"name": "Review", "initial_state": "look", "states": {"look": {"agent": "looker", "requires_approval": true,
            "approval_mode": "post", "next": ["ship"]}, "ship": {"agent": "shipper", "next": []}}}"#,
    );
    session.write(".pi/agents/looker.md", "---\nname: looker\ntools: read\n---\nYou look.\n");
    session.write(".pi/agents/shipper.md", "---\nname: shipper\ntools: read\n---\nYou ship.\n");
    session.write(
        "script.yaml",
        "look:\n  - complete: {summary: \"It leaks.\\n\\n**Verdict:** BLOCK\"}\nship:\n  - complete: {summary: shipped}\n",
    );
    let run = ["run", "review", "t", "--agent", "scripted:script.yaml"];
    session.chronicle(&run).exits(4).prints("is `look` done? verdict: BLOCK");
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(session.run_file("run.json")).unwrap()).unwrap();
    assert_eq!(json["status"], "paused");
    session.chronicle(&["approve", &session.short(), "g1"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    session.assert_whole();
}

/// A worker that asks with these options, and keeps what it is told.
fn asking(options: &str) -> Session {
    let script = format!(
        "work: [{{workflow_ask: {{question: 'How many?', options: {options}}}}}, {{complete: {{}}}}]"
    );
    let session = Session::with("{name: Asks, phases: {work: {next: [done]}}}", &script);
    session.run().exits(4);
    session
}

fn said(session: &Session) -> serde_json::Value {
    session.events_of("gate_answered")[0]["data"]["answer"]["to"].clone()
}

#[test]
fn a_number_that_is_an_option_is_that_option_and_not_a_place_in_the_list() {
    let session = asking("['3', '1', '2']");
    let next = session.json(&["status"])["next"][0].as_str().unwrap().to_owned();
    let run = session.short();
    assert_eq!(
        next,
        format!(
            "chronicle answer {run} g1 \"the text of an option\"  (\"3\", \"1\", \"2\", or any other text)"
        )
    );
    let status = session.chronicle(&["status"]).exits(0).prints("      -  3\n      -  1\n");
    assert!(!status.stdout.contains("1  3"), "{}", status.stdout);
    session.chronicle(&["answer", &run, "2"]).exits(0);
    assert_eq!(said(&session), "2");
    let even = asking("['2', '4', '8']");
    even.chronicle(&["answer", "3"]).exits(0);
    assert_eq!(said(&even), "3", "no place in the list either");
    let plain = asking("[red, '2']");
    let next = plain.json(&["status"])["next"][0].as_str().unwrap().to_owned();
    assert!(next.ends_with("g1 1  (or: any text; 1 = red, 2 = 2)"), "{next}");
    plain.chronicle(&["answer", "1"]).exits(0);
    assert_eq!(said(&plain), "red");
}

#[test]
fn a_note_goes_with_an_answer_and_reaches_the_worker() {
    let session = asking("[red, blue]");
    let run = session.short();
    session.chronicle(&["answer", &run, "2", "--note", "but not on Windows"]).exits(0);
    assert_eq!(said(&session), "blue");
    let next = session.chronicle(&["handover", &run, "--next"]).exits(0);
    next.prints("but not on Windows");
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.events_of("note_given")[0]["data"]["text"], "but not on Windows");
    session.chronicle(&["audit", "--replay"]).exits(0).prints("come out the same");
    session.assert_whole();
}

/// A run that asks whether an agent without a price may work under a limit in dollars.
fn at_price() -> Session {
    let workflow = "{name: Price, budget: {usd: 1}, phases: {work: {next: [done]}}}";
    let script = "work: [{usage: {id: m1, input: 100}}, {wait_for: {file: go}}, {complete: {}}]";
    let session = Session::with(workflow, script);
    let waits = session.run().exits(4);
    let said = waits.stdout + &waits.stderr;
    assert!(!said.contains("used up"), "nothing is used up: {said}");
    session
}

#[test]
fn a_person_may_say_no_to_an_unknown_price_and_choose_another_way() {
    let session = at_price();
    let run = session.short();
    let next = session.json(&["status"])["next"][0].as_str().unwrap().to_owned();
    assert_eq!(
        next,
        format!(
            "chronicle approve {run} g1  (or: chronicle reject {run} g1 \"why\", chronicle retry {run} work \
             --agent AGENT, chronicle cancel {run})"
        )
    );
    session.chronicle(&["retry", &run]).exits(2).talks("`approve` or `reject` answer it");
    session.chronicle(&["reject", &run, "g1", "too risky"]).exits(0).prints("rejected g1");
    let status = session.chronicle(&["status"]).exits(0);
    status.prints("g2 at `work`: a person rejected it: \"too risky\"");
    session.chronicle(&["approve", &run, "g1"]).exits(2).talks("already rejected");
    session.write("cheap.yaml", "work: [{usage: {id: m1, input: 1, usd: 0.01}}, {complete: {}}]");
    session.chronicle(&["retry", &run, "--agent", "scripted:cheap.yaml"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    session.chronicle(&["audit", "--replay"]).exits(0).prints("come out the same");
}

#[test]
fn an_agent_with_a_price_may_work_instead_of_one_without() {
    let session = at_price();
    session.write("cheap.yaml", "work: [{usage: {id: m1, input: 1, usd: 0.01}}, {complete: {}}]");
    let run = session.short();
    session.chronicle(&["retry", &run, "work", "--agent", "scripted:cheap.yaml"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], "done");
}

#[test]
fn a_price_is_refused_without_a_word_and_a_worker_only_with_one() {
    at_price().chronicle(&["reject"]).exits(0).prints("rejected g1");
    let session = at_approval();
    session.chronicle(&["reject"]).exits(2).talks("rejecting g1 needs a reason");
    session.chronicle(&["reject", "g1"]).exits(2).talks("rejecting g1 needs a reason");
}

#[test]
fn an_unknown_price_that_was_approved_is_told_as_that() {
    let session = at_price();
    session.chronicle(&["approve"]).exits(0);
    let log = session.chronicle(&["log"]).exits(0).prints("accepted unpriced work");
    assert!(!log.stdout.contains("answered with more"), "{}", log.stdout);
    session.chronicle(&["approve", "g1"]).exits(2).talks("already approved");
    session.write("go", "");
    let resumed = session.chronicle(&["resume"]).exits(0);
    assert!(!resumed.stderr.contains("raised"), "{}", resumed.stderr);
}

#[test]
fn a_used_up_budget_says_how_much_is_lacking() {
    let workflow = "{name: B, budget: {tokens: 1000}, phases: {work: {next: [done]}}}";
    let script = "work: [{usage: {id: m1, input: 3000}}, {wait_for: {file: go}}, {complete: {}}]";
    let session = Session::with(workflow, script);
    session.run().exits(4);
    let status = session.chronicle(&["status"]).exits(0);
    status.prints(
        "it is 2,000 tokens over: only a larger raise lets it continue, such as `+3000 tokens`",
    );
    let gate = &session.json(&["status"])["needs_you"][0];
    assert_eq!(gate["raise"], "+3000 tokens");
    session
        .chronicle(&["budget", "+2000 tokens"])
        .exits(0)
        .prints("still, the run's budget is used up");
    session.write("go", "");
    session.chronicle(&["budget", "+1 token"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
}
