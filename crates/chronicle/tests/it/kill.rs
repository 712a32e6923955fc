//! Whatever is killed, and whenever: `chronicle resume` goes on to the same end, and nothing is left running.

use std::fs::{self, OpenOptions};

use rustix::process::{Pid, Signal, kill_process};

use crate::session::{Session, Started, agents, keepers, of_run, send, until};

const WORKFLOW: &str = "
name: Three
phases:
  plan: {next: [build]}
  build: {next: [check]}
  check: {run: command, commands: ['echo one >> commands', 'test -f log'], next: [done]}
";

/// Stops in the middle of `build`, until the file `go` is there.
const SCRIPT: &str = r#"
plan:
  - append: {path: log, text: "plan\n"}
  - usage: {input: 100, output: 10, usd: 0.001}
  - transition: {to: build, summary: planned}
build:
  - append: {path: log, text: "build 1\n"}
  - touch: {file: reached}
  - wait_for: {file: go}
  - append: {path: log, text: "build 2\n"}
  - usage: {input: 200, output: 20, usd: 0.002}
  - transition: {to: check, summary: built}
"#;
const LOG: &str = "plan\nbuild 1\nbuild 2\n";
const PHASES: [&str; 3] = ["plan", "build", "check"];

/// A supervisor whose agent is in the middle of `build`.
fn in_the_middle() -> (Session, Started) {
    let session = Session::with(WORKFLOW, SCRIPT);
    let supervisor = session.spawn_run();
    until("the agent is in the middle", || session.has("reached"));
    (session, supervisor)
}

/// The run came to the end that it would have come to by itself.
fn assert_same_end(session: &Session) {
    let view = session.json(&["status"]);
    assert_eq!(view["status"], "done", "{view}");
    // What an agent had said and nobody had read yet is lost with its supervisor, but nothing counts twice.
    assert!(view["spent"]["tokens"].as_u64().unwrap() <= 330, "{view}");
    assert_eq!(session.path_of_phases(), PHASES);
    assert_eq!(session.read("log"), LOG);
    session.assert_whole();
}

/// How the attempts of the newest run began: `First`, or why there was another.
fn whys(session: &Session) -> Vec<String> {
    let started = session.events_of("attempt_started");
    started.iter().map(|event| event["data"]["why"]["is"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_run_without_kills_ends_as_expected() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write("go", "");
    session.run().exits(0);
    assert_same_end(&session);
    assert_eq!(session.json(&["status"])["spent"]["tokens"], 330);
    assert_eq!(whys(&session), ["first", "first", "first"]);
    assert_eq!(session.read("commands"), "one\n");
}

#[test]
fn the_supervisor_in_the_middle_of_a_phase() {
    let (session, supervisor) = in_the_middle();
    supervisor.kill();
    assert_eq!(session.json(&["status"])["status"], "interrupted");
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    assert_same_end(&session);
    assert_eq!(whys(&session), ["first", "first", "lost", "first"]);
    assert_eq!(session.read("commands"), "one\n");
}

#[test]
fn all_that_it_started_dies_with_the_supervisor() {
    let (session, supervisor) = in_the_middle();
    let run = session.run_id();
    assert_eq!((keepers(&run).len(), agents(&run).len()), (1, 1));
    supervisor.kill();
    until("nothing of the run lives", || of_run(&run).is_empty());
}

#[test]
fn the_supervisor_again_and_again() {
    let (session, supervisor) = in_the_middle();
    supervisor.kill();
    for _ in 0..5 {
        fs::remove_file(session.path("reached")).unwrap();
        // `touch` was done before the kill, so that only a ledger that grows tells of the new agent.
        let before = session.events_of("session_opened").len();
        let supervisor = session.spawn(&["resume"]);
        until("the next agent works", || session.events_of("session_opened").len() > before);
        session.write("reached", "");
        supervisor.kill();
    }
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    assert_same_end(&session);
    assert_eq!(whys(&session).iter().filter(|why| *why == "lost").count(), 6);
}

#[test]
fn the_supervisor_at_every_line_of_the_ledger() {
    let whole = Session::with(WORKFLOW, SCRIPT);
    whole.write("go", "");
    whole.run().exits(0);
    let lines = whole.ledger_lines();
    assert!(lines > 15, "{lines}");
    for killed_at in 1..=lines {
        let session = Session::with(WORKFLOW, SCRIPT);
        session.write("go", "");
        let mut supervisor = session.spawn_run();
        until("the ledger has grown", || {
            session.ledger_lines() >= killed_at || supervisor.has_ended()
        });
        supervisor.kill();
        finish(&session);
        assert_same_end(&session);
    }
}

/// Resumes, unless the run was faster than the kill.
fn finish(session: &Session) {
    if session.json(&["status"])["status"] != "done" {
        session.chronicle(&["resume"]).exits(0);
    }
}

#[test]
fn the_supervisor_that_resumes_at_every_line_of_the_ledger() {
    let (session, supervisor) = in_the_middle();
    supervisor.kill();
    session.write("go", "");
    let before = session.ledger_lines();
    session.chronicle(&["resume"]).exits(0);
    for killed_at in 1..=session.ledger_lines() - before {
        let (session, supervisor) = in_the_middle();
        supervisor.kill();
        session.write("go", "");
        let wanted = session.ledger_lines() + killed_at;
        let mut supervisor = session.spawn(&["resume"]);
        until("the ledger has grown", || {
            session.ledger_lines() >= wanted || supervisor.has_ended()
        });
        supervisor.kill();
        finish(&session);
        assert_same_end(&session);
    }
}

#[test]
fn the_keeper() {
    let (session, supervisor) = in_the_middle();
    let keeper = keepers(&session.run_id());
    assert_eq!(keeper.len(), 1);
    send(keeper[0], Signal::KILL);
    until("the attempt is resumed", || whys(&session).contains(&"lost".to_owned()));
    session.write("go", "");
    supervisor.wait().exits(0);
    assert_same_end(&session);
    assert_eq!(whys(&session), ["first", "first", "lost", "first"]);
}

#[test]
fn the_agent() {
    let (session, supervisor) = in_the_middle();
    let agent = agents(&session.run_id());
    assert_eq!(agent.len(), 1);
    send(agent[0], Signal::KILL);
    until("the agent is reminded", || whys(&session).contains(&"again".to_owned()));
    session.write("go", "");
    supervisor.wait().exits(0).talks("a2 died before its turn ended (signal 9)");
    assert_eq!(whys(&session), ["first", "first", "again", "first"]);
    assert_eq!(session.path_of_phases(), PHASES);
    // A reminder is another try: the script is played anew.
    assert_eq!(session.read("log"), "plan\nbuild 1\nbuild 1\nbuild 2\n");
    session.assert_whole();
}

#[test]
fn keeper_and_supervisor_at_once() {
    let (session, supervisor) = in_the_middle();
    let run = session.run_id();
    let keeper = keepers(&run)[0];
    // First the supervisor, so that nobody is there to see the keeper die.
    supervisor.kill();
    // It may have ended already.
    let _ = kill_process(Pid::from_raw(keeper.cast_signed()).unwrap(), Signal::KILL);
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    assert_same_end(&session);
}

#[test]
fn a_command_phase_goes_on_with_the_command_that_was_not_done() {
    let workflow = "
name: Commands
phases:
  work:
    run: command
    commands:
      - echo one >> commands
      - echo two >> commands; touch reached; until test -f go; do sleep 0.01; done
      - echo three >> commands
";
    let session = Session::with(workflow, "{}");
    let supervisor = session.spawn_run();
    until("the second command runs", || session.has("reached"));
    supervisor.kill();
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.read("commands"), "one\ntwo\ntwo\nthree\n");
    assert_eq!(whys(&session), ["first", "lost"]);
    session.assert_whole();
}

#[test]
fn a_command_phase_that_may_run_once_asks_a_person() {
    let workflow = "
name: Once
phases:
  ship:
    run: command
    once: true
    commands: ['echo shipped >> shipped; touch reached; until test -f go; do sleep 0.01; done']
";
    let session = Session::with(workflow, "{}");
    let supervisor = session.spawn_run();
    until("the command runs", || session.has("reached"));
    supervisor.kill();
    session.write("go", "");
    session
        .chronicle(&["resume"])
        .exits(4)
        .talks("`ship` may run only once, and it is unknown whether it did");
    assert_eq!(session.read("shipped"), "shipped\n");
    session.chronicle(&["go", &session.short(), "done"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], "done");
    assert_eq!(session.read("shipped"), "shipped\n");
    session.assert_whole();
}

#[test]
fn of_commands_that_may_run_once_a_person_says_where_to_go_on() {
    let workflow = "
name: Once
phases:
  pay:
    run: command
    once: true
    commands:
      - echo order >> log
      - echo charge >> log; touch reached; until test -f go; do sleep 0.01; done
      - echo thank >> log
";
    for (from, log) in [
        (None, "order\ncharge\ncharge\nthank\n"),
        (Some("3"), "order\ncharge\nthank\n"),
        (Some("1"), "order\ncharge\norder\ncharge\nthank\n"),
    ] {
        let session = Session::with(workflow, "{}");
        let supervisor = session.spawn_run();
        until("the second command runs", || session.has("reached"));
        supervisor.kill();
        session.write("go", "");
        session
            .chronicle(&["resume"])
            .exits(4)
            .talks("it is unknown whether command 2 of 3 did: \"echo charge")
            .talks("`retry --from 3` goes on behind it if it did run");
        let short = session.short();
        session.chronicle(&["retry", &short, "--from", "4"]).exits(2).talks("has no command 4");
        let retry = ["retry", &short].into_iter().chain(from.iter().flat_map(|it| ["--from", it]));
        session.chronicle(&retry.collect::<Vec<_>>()).exits(0);
        session.chronicle(&["resume"]).exits(0);
        assert_eq!(session.read("log"), log, "{from:?}");
        session.assert_whole();
    }
}

#[test]
fn a_torn_last_line_is_set_aside() {
    for torn in [1, 5, 40] {
        let (session, supervisor) = in_the_middle();
        supervisor.kill();
        let ledger = session.run_file("ledger.jsonl");
        let file = OpenOptions::new().write(true).open(ledger).unwrap();
        file.set_len(file.metadata().unwrap().len() - torn).unwrap();
        session.write("go", "");
        session
            .chronicle(&["resume"])
            .exits(0)
            .talks("the last line was torn by a crash")
            .talks("bytes set aside in");
        let view = session.json(&["status"]);
        assert_eq!(view["status"], "done", "{torn}: {view}");
        assert_eq!(session.read("log"), LOG, "{torn}");
        session.assert_whole();
    }
}

#[test]
fn projections_may_be_lost_or_garbage() {
    let (session, supervisor) = in_the_middle();
    supervisor.kill();
    let status = session.chronicle(&["status"]).exits(0).stdout;
    let whole = fs::read(session.run_file("state.cache")).unwrap();
    for name in ["state.cache", "run.json"] {
        let file = session.run_file(name);
        for garbage in [&b""[..], b"{", b"\xff\xfe garbage", &whole[..whole.len() / 2]] {
            fs::write(&file, garbage).unwrap();
            assert_eq!(session.chronicle(&["status"]).exits(0).stdout, status, "{name}");
        }
        fs::remove_file(&file).unwrap();
        assert_eq!(session.chronicle(&["status"]).exits(0).stdout, status, "{name}");
    }
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    assert_same_end(&session);
}

#[test]
fn a_state_cache_of_another_run_is_not_believed() {
    let (session, supervisor) = in_the_middle();
    supervisor.kill();
    let status = session.chronicle(&["status"]).exits(0).stdout;
    let other = Session::with(WORKFLOW, SCRIPT);
    other.write("go", "");
    other.run().exits(0);
    fs::copy(other.run_file("state.cache"), session.run_file("state.cache")).unwrap();
    assert_eq!(session.chronicle(&["status"]).exits(0).stdout, status);
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    assert_same_end(&session);
}

#[test]
fn a_second_supervisor_names_the_first() {
    let (session, supervisor) = in_the_middle();
    let first = format!("process {}", supervisor.pid());
    session.chronicle(&["resume", &session.short()]).exits(5).talks(&first);
    session.chronicle(&["resume"]).exits(5).talks(&first).talks(&session.short());
    session.write("go", "");
    supervisor.wait().exits(0);
    assert_same_end(&session);
    session.chronicle(&["resume"]).exits(2).talks("no run can continue");
}

#[test]
fn a_run_that_is_driven_hears_what_is_said_elsewhere() {
    let (session, supervisor) = in_the_middle();
    session.chronicle(&["cancel", &session.short(), "enough"]).exits(0).prints("cancelled");
    supervisor.wait().exits(1);
    assert_eq!(session.events_of("run_cancelled").len(), 1);
    assert!(agents(&session.run_id()).is_empty());
}

#[test]
fn a_run_that_is_driven_is_paused_from_elsewhere() {
    let (session, supervisor) = in_the_middle();
    session.chronicle(&["pause", &session.short()]).exits(0);
    supervisor.wait().exits(130);
    assert_eq!(session.json(&["status"])["status"], "paused");
    session.assert_whole();
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    assert_same_end(&session);
}

#[test]
fn only_one_of_many_supervisors_gets_a_run() {
    let (session, supervisor) = in_the_middle();
    supervisor.kill();
    let run = session.short();
    let all: Vec<Started> = (0..4).map(|_| session.spawn(&["resume", &run])).collect();
    until("one drives the run", || session.json(&["status"])["supervised"] == true);
    until("a second agent works", || !agents(&session.run_id()).is_empty());
    assert_eq!(agents(&session.run_id()).len(), 1);
    session.write("go", "");
    let codes: Vec<Option<i32>> = all.into_iter().map(|one| one.wait().code).collect();
    let count = |code| codes.iter().filter(|seen| **seen == Some(code)).count();
    // Who comes when all is over is told so.
    assert_eq!((count(0), count(5) + count(2)), (1, 3), "{codes:?}");
    assert_same_end(&session);
}

#[test]
fn a_run_that_is_killed_again_and_again_asks_a_person() {
    let workflow = WORKFLOW.replace("build: {", "build: {limits: {losses: 0}, ");
    let session = Session::with(&workflow, SCRIPT);
    let supervisor = session.spawn_run();
    until("the agent is in the middle", || session.has("reached"));
    supervisor.kill();
    // It had changed files: that was progress. The next one does not come so far.
    let supervisor = session.spawn(&["resume"]);
    let again = || session.events_of("attempt_started").len() == 3;
    until("its next agent lives", || again() && !agents(&session.run_id()).is_empty());
    supervisor.kill();
    session.chronicle(&["resume"]).exits(4);
    let view = session.json(&["status"]);
    let about = view["needs_you"][0]["about"].as_str().unwrap();
    assert!(about.contains("lost"), "{about}");
    assert_eq!(whys(&session), ["first", "first", "lost"]);
    session.write("go", "");
    session.chronicle(&["retry", &session.short(), "build"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], "done");
    session.assert_whole();
}

/// How long the newest run's attempt has worked, as far as it is on disk.
fn worked_ms(session: &Session, attempt: &str) -> u64 {
    let file = format!(".chronicle/runs/{}/keepers/{attempt}.worked", session.run_id());
    fs::read_to_string(session.path(&file)).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[test]
fn a_kill_gives_no_time_back() {
    let workflow = "name: Long\nbudget: {time: 10m}\nphases: {work: {next: [done]}}\n";
    let script =
        "work:\n  - touch: {file: reached}\n  - wait_for: {file: go}\n  - transition: {to: done}\n";
    let session = Session::with(workflow, script);
    let supervisor = session.spawn_run();
    // It says nothing, and nothing is reported of it.
    until("its time is on disk", || session.has("reached") && worked_ms(&session, "a1") > 0);
    supervisor.kill();
    let known = worked_ms(&session, "a1");
    let view = session.json(&["status"]);
    // Before anybody resumes it: what is spent is spent.
    assert_eq!(view["active_ms"], known, "{view}");
    assert_eq!(view["budgets"][0]["spent"], known, "{view}");
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    let ended = session.events_of("attempt_ended");
    let (lost, next) = (&ended[0]["data"], &ended[1]["data"]);
    assert_eq!((&lost["end"]["is"], &lost["active_ms"]), (&"lost".into(), &known.into()));
    let spent = session.json(&["status"])["active_ms"].as_u64().unwrap();
    assert_eq!(spent, known + next["active_ms"].as_u64().unwrap());
}

#[test]
fn a_run_that_is_killed_again_and_again_reaches_its_budget() {
    let workflow = "name: Long\nbudget: {time: 1s}\nphases: {work: {next: [done]}}\n";
    let session = Session::with(workflow, "work: [{wait_for: {file: never}}]\n");
    let mut supervisor = session.spawn_run();
    for attempt in 1..=20 {
        let id = format!("a{attempt}");
        until("its time is on disk, or used up", || {
            let is_begun = !session.runs().is_empty();
            (is_begun && worked_ms(&session, &id) > 0) || supervisor.has_ended()
        });
        if supervisor.has_ended() {
            supervisor.wait().exits(4);
            return;
        }
        supervisor.kill();
        supervisor = session.spawn(&["resume"]);
    }
    panic!("its time was never used up");
}
