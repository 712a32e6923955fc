//! Loops that end at a person, through the real binary.

use crate::session::{RUN, Session};

/// The example of the README, whose test never passes.
const FIX: &str = "
name: Fix
phases:
  build: {next: [test]}
  test: {run: command, commands: ['echo tested >> tests; false'], next: [done], on: {fail: build}}
";
const BUILDS: &str = "build:\n  - transition: {to: test, summary: built}\n";

fn tests(session: &Session) -> usize {
    session.read("tests").lines().count()
}

#[test]
fn the_readmes_loop_goes_back_three_times_and_every_repair_is_tested() {
    let session = Session::with(FIX, BUILDS);
    let question =
        "needs you g1 at `test`: `test` was left for `build` 3 times, which is the limit";
    session.run().exits(4).prints(question);
    assert_eq!(tests(&session), 4);
    let run = session.short();
    let next = session.json(&["status"])["next"][0].clone();
    assert!(next.as_str().unwrap().starts_with(&format!("chronicle go {run} test --loops +3")));
    session.chronicle(&["go", &run, "--loops", "+2"]).exits(0).prints("2 more rounds allowed");
    session.chronicle(&["resume"]).exits(4).talks("`test` was left for `build` 5 times");
    assert_eq!(tests(&session), 6);
    // What cannot be meant is refused, and leaves no trace.
    let lines = session.ledger_lines();
    session.chronicle(&["go", &run]).exits(2);
    session.chronicle(&["go", &run, "--loops", "many"]).exits(2).talks("+3");
    session.chronicle(&["go", &run, "--loops", "0"]).exits(2).talks("say how many more rounds");
    session.chronicle(&["go", &run, "nowhere", "--loops", "1"]).exits(2);
    assert_eq!(session.ledger_lines(), lines);
    session.assert_whole();
}

/// Rounds and agents are taken only where they can be of use.
#[test]
fn what_a_place_does_not_wait_for_is_refused() {
    let workflow = "name: One\nphases: {test: {run: command, commands: ['false'], next: [done]}}\n";
    let session = Session::with(workflow, "{}");
    session.run().exits(4);
    let (run, lines) = (session.short(), session.ledger_lines());
    let said = session.chronicle(&["go", &run, "test", "--loops", "+1"]).exits(2);
    said.talks("g1 at `test` does not wait for more rounds")
        .talks(&format!("chronicle retry {run}"));
    let said = session.chronicle(&["retry", &run, "--agent", "command:true"]).exits(2);
    said.talks("runs commands, and no agent: `retry` without `--agent` tries it again");
    assert_eq!(session.ledger_lines(), lines);
    session.chronicle(&["retry", &run]).exits(0);
    session.assert_whole();
}

#[test]
fn the_same_words_and_the_same_help_again_and_again_end_at_a_person() {
    let limits = "limits: {nudges: 1, retries: 0, followups: 2}";
    let workflow = format!("name: Again\n{limits}\nphases: {{work: {{next: [done]}}}}\n");
    let script = "work:\n  - snapshot: {findings: [it leaks]}\n  - finish\n";
    let session = Session::with(&workflow, script);
    session.run().exits(4);
    assert_eq!(session.events_of("attempt_started").len(), 2);
    let help =
        "  - followup: {persona: spiritmender, reason: broken, context: all, resume: true}\n";
    let script =
        format!("work:\n{}work@spiritmender:\n  - complete: {{summary: mended}}\n", help.repeat(9));
    let session = Session::with(&workflow, &script);
    session.run().exits(4).talks("`work` had help 2 times, which is the limit");
    assert_eq!(session.events_of("attempt_started").len(), 5);
}

#[test]
fn a_silent_command_is_neither_ended_nor_run_again() {
    let limits = "limits: {idle: 100ms, retries: 2}";
    let commands = "['echo ran >> tests; sleep 1']";
    let workflow = format!(
        "name: Silent\n{limits}\nphases: {{make: {{run: command, commands: {commands}}}}}\n"
    );
    let session = Session::with(&workflow, "");
    session.chronicle(RUN).exits(0);
    assert_eq!(tests(&session), 1);
    // Its time-out ends it, and nobody runs it again without a word.
    let workflow =
        workflow.replace("idle: 100ms", "timeout: 100ms").replace("sleep 1", "sleep 600");
    let session = Session::with(&workflow, "");
    session.chronicle(RUN).exits(4).talks("it took longer than the phase allows");
    assert_eq!(tests(&session), 1);
}
