//! Agents that keep to no protocol: each is given up after as many attempts as the workflow allows.

use crate::session::{Session, until};

const ONE: &str = "
name: One
limits: {nudges: 1, retries: 0}
phases:
  work: {next: [done]}
";

/// Starts `main`, and waits until the run rests or has begun more attempts than any limit allows.
fn rests_within(session: &Session, agent: &str, attempts: usize) {
    let mut supervisor = session.spawn(&["run", "main", "the task", "--agent", agent]);
    let count =
        || session.runs().len() == 1 && session.events_of("attempt_started").len() > attempts;
    until("the run rests", || supervisor.has_ended() || count());
    assert!(!count(), "more than {attempts} attempts, and no end in sight");
    supervisor.wait().exits(4);
    session.assert_whole();
}

#[test]
fn a_program_that_is_no_agent_is_given_up() {
    let session = Session::with(ONE, "{}");
    session.write("chatter.sh", "while :; do echo chatter; done\n");
    rests_within(&session, "command:sh chatter.sh", 2);
    let ended = session.events_of("attempt_ended");
    let crash = ended[0]["data"]["end"].to_string();
    assert!(
        crash.contains("1000 lines in a row meant nothing; the first was `chatter`"),
        "{crash}"
    );
    assert!(ended[0]["data"]["not_understood"].as_u64().unwrap() >= 1_000, "{ended:?}");
}

#[test]
fn an_agent_that_works_before_it_names_its_session_is_given_up() {
    let session = Session::with(ONE, "{}");
    let hasty = r#"read -r order; echo '{"type":"permission","id":"1","tool":"bash"}'; read -r answer; sleep 600"#;
    session.write("hasty.sh", hasty);
    rests_within(&session, "command:sh hasty.sh", 2);
}

#[test]
fn an_agent_that_finishes_without_a_signal_and_stays_is_reminded_and_given_up() {
    let session = Session::with(ONE, r#"work: [{raw: '{"type":"finished"}'}, hang]"#);
    rests_within(&session, "scripted:script.yaml", 2);
}

#[test]
fn an_agent_that_makes_the_same_long_call_again_and_again_is_ended() {
    let workflow = "{name: One, phases: {work: {limits: {repeats: 3}}}}";
    let input = format!("{{file_path: a.txt, content: {}}}", "x".repeat(2_500));
    let calls = format!("{{tool: {{name: Write, input: {input}}}}}, ").repeat(12);
    let session =
        Session::with(workflow, &format!("work: [{calls}{{complete: {{summary: wrote}}}}]"));
    session.run().exits(4);
    let called = session.events_of("tool_called");
    let verdicts: Vec<_> = called.iter().map(|it| it["data"]["verdict"]["is"].as_str()).collect();
    // It may get some more said until it is gone.
    let [a, b, c, denied, ..] = verdicts.as_slice() else { panic!("{called:?}") };
    assert_eq!(
        [a, b, c, denied],
        [&Some("allowed"), &Some("allowed"), &Some("allowed"), &Some("denied")]
    );
    assert!(session.events_of("run_done").is_empty());
    session.assert_whole();
}

#[test]
fn an_agent_that_asks_for_something_else_under_a_known_id_gets_no_leave_for_it() {
    let session = Session::with("{name: One, phases: {work: {tools: {deny: [bash]}}}}", "{}");
    session.write(
        "sly.sh",
        r#"
        read -r order
        echo '{"type":"session","protocol":1,"session":"s1"}'
        echo '{"type":"permission","id":"x","tool":"read","input":{"path":"a"}}'; read -r read
        echo '{"type":"permission","id":"x","tool":"bash","input":{"command":"rm -rf /"}}'; read -r bash
        echo '{"type":"permission","id":"x","tool":"read","input":{"path":"a"}}'; read -r again
        printf '%s\n' "$read" "$bash" "$again" > answers
        echo '{"type":"signal","id":"s","tool":"signal_back","arguments":{"signal":"complete","summary":"tried"}}'
        read -r accepted; echo '{"type":"finished"}'
        "#,
    );
    session.chronicle(&["run", "main", "the task", "--agent", "command:sh sly.sh"]).exits(0);
    let answers = session.read("answers");
    let answers: Vec<&str> = answers.lines().collect();
    let is = |line: &str, answer: &str| line.contains(&format!(r#""answer":"{answer}""#));
    assert!(is(answers[0], "allow") && is(answers[1], "deny"), "{answers:?}");
    assert_eq!(answers[0], answers[2], "the same call gets the same answer");
    let called = session.events_of("tool_called");
    let told: Vec<_> = called.iter().map(|it| it["data"]["tool"].as_str().unwrap()).collect();
    assert_eq!(told, ["read", "bash"], "{called:?}");
    assert_eq!(called[1]["data"]["command"], "rm -rf /");
}

/// Speaks the protocol with these lines between its session and its leaving, and reads an answer after each that asks.
fn says(lines: &str) -> String {
    format!(
        r#"
        read -r order
        echo '{{"type":"session","protocol":1,"session":"s1"}}'
        {lines}
        echo '{{"type":"signal","id":"s","tool":"signal_back","arguments":{{"signal":"complete","summary":"tried"}}}}'
        read -r accepted; echo '{{"type":"finished"}}'
        "#
    )
}

const NO_SHELL: &str =
    "{name: One, limits: {nudges: 0, retries: 0}, phases: {work: {tools: {deny: [bash]}}}}";

/// It announces a call, asks for it in other words, is told no, and says that it failed.
#[test]
fn a_call_that_was_denied_and_failed_has_not_run() {
    let session = Session::with(NO_SHELL, "{}");
    let lines = r#"
        echo '{"type":"tool_call","id":"x","tool":"bash","input":{"command":"ls"}}'
        echo '{"type":"permission","id":"x","tool":"bash","input":{"command":"ls -l"}}'; read -r answer
        echo '{"type":"tool_end","id":"x","ok":false}'
    "#;
    session.write("meek.sh", says(lines));
    session.chronicle(&["run", "main", "the task", "--agent", "command:sh meek.sh"]).exits(0);
    let log = session.chronicle(&["log", "--tools"]).exits(0).prints("a1 was denied `bash`");
    assert!(!log.stdout.contains("a1 ran"), "{}", log.stdout);
    session.assert_whole();
}

/// It asks, is told no, and says that it worked all the same.
#[test]
fn a_call_that_was_denied_and_ran_is_not_told_as_one_that_nobody_asked_for() {
    let session = Session::with(NO_SHELL, "{}");
    let lines = r#"
        echo '{"type":"permission","id":"x","tool":"bash","input":{"command":"ls"}}'; read -r answer
        echo '{"type":"tool_end","id":"x","ok":true}'
        read -r never
    "#;
    session.write("bold.sh", says(lines));
    let said = session.chronicle(&["run", "main", "the task", "--agent", "command:sh bold.sh"]);
    let ran = "ran `bash` {\"command\":\"ls\"} although it was denied";
    let said = said.exits(4).talks(ran);
    assert!(!said.stderr.contains("without asking"), "{}", said.stderr);
    let log = session.chronicle(&["log", "--tools"]).exits(0).prints(&format!("a1 {ran}"));
    assert!(!log.stdout.contains("without asking"), "{}", log.stdout);
    session.assert_whole();
}

/// Says a line with a text that is longer than a line may be, at `LARGE`.
fn long(line: &str) -> String {
    let (head, tail) = line.split_once("LARGE").unwrap();
    format!(
        "printf '%s' '{head}'; head -c 5000000 /dev/zero | tr '\\0' x; printf '%s\\n' '{tail}'; read -r answer; \
         printf '%s\\n' \"$answer\" >> answers\n"
    )
}

#[test]
fn what_is_too_large_to_be_judged_is_denied_with_that_reason() {
    let session = Session::with("{name: One, phases: {work: {}}}", "{}");
    let call =
        long(r#"{"type":"permission","id":"x","tool":"bash","input":{"command":"ls LARGE"}}"#);
    let signal = r#"{"type":"signal","id":"y","tool":"workflow_snapshot","arguments":{"findings":["LARGE"]}}"#;
    session.write("large.sh", says(&(call + &long(signal))));
    session.chronicle(&["run", "main", "the task", "--agent", "command:sh large.sh"]).exits(0);
    let answers = session.read("answers");
    let answers: Vec<&str> = answers.lines().collect();
    assert!(answers[0].contains(r#""answer":"deny""#), "{answers:?}");
    assert!(answers[0].contains("its input is too large to be judged (50000"), "{answers:?}");
    assert!(answers[1].contains(r#""answer":"refused""#), "{answers:?}");
    assert!(answers[1].contains("too large"), "{answers:?}");
    session
        .chronicle(&["log", "--tools"])
        .exits(0)
        .prints("a1 was denied `bash`: its input is too");
    session.assert_whole();
}

/// Nobody knows whom to answer: that is said at once, and not after a long silence.
#[test]
fn a_question_that_hides_its_id_behind_too_much_breaks_the_protocol() {
    let session = Session::with(NO_SHELL, "{}");
    let call =
        long(r#"{"type":"permission","input":{"command":"ls LARGE"},"id":"x","tool":"bash"}"#);
    session.write("large.sh", says(&call));
    let said = session.chronicle(&["run", "main", "the task", "--agent", "command:sh large.sh"]);
    said.exits(4).talks("broke the protocol").talks("cannot be answered");
    session.assert_whole();
}

/// Asks once, waits for the word of the test, then asks and signals whatever it likes. It does not end at SIGTERM.
const STUBBORN: &str = r#"
    trap '' TERM
    read -r order
    echo '{"type":"session","protocol":1,"session":"s1"}'
    echo '{"type":"permission","id":"1","tool":"bash","input":{"command":"ls"}}'; read -r answer
    read -r word < word
    ask() { echo "$1"; while read -r answer; do
        case "$answer" in *'"type":"answer"'*) printf '%s\n' "$answer" >> answers; return;; esac
    done; }
    ask '{"type":"signal","id":"4","tool":"workflow_snapshot","arguments":{"findings":["late"]}}'
    ask '{"type":"signal","id":"5","tool":"signal_back","arguments":{"signal":"complete","summary":"late"}}'
    echo '{"type":"permission","id":"1","tool":"bash","input":{"command":"ls"}}'
    echo '{"type":"permission","id":"2","tool":"bash","input":{"command":"rm -rf /"}}'
    echo '{"type":"permission","id":"3","tool":"read","input":{"path":"a"}}'
    echo done >> asked
    while :; do read -r more || exit; done
"#;

/// What a stubborn agent got after a person's word.
fn after(command: &[&str], event: &str) {
    let session = Session::with(
        "{name: One, phases: {work: {next: [rest]}, rest: {run: command, commands: ['true']}}}",
        "{}",
    );
    session.write("stubborn.sh", STUBBORN);
    session.shell("mkfifo word").exits(0);
    let supervisor =
        session.spawn(&["run", "main", "the task", "--agent", "command:sh stubborn.sh"]);
    until("the agent asks", || {
        !session.runs().is_empty() && !session.events_of("tool_called").is_empty()
    });
    let short = session.short();
    let words: Vec<&str> =
        command.iter().map(|word| if *word == "R" { &short } else { *word }).collect();
    let told = session.spawn(&words);
    until("the word is written down", || !session.events_of(event).is_empty());
    session.shell("echo go > word").exits(0);
    told.wait().exits(0);
    supervisor.wait();
    let events = session.events();
    let at = events.iter().position(|it| it["kind"] == event).unwrap();
    for late in &events[at..] {
        assert_ne!(late["data"]["verdict"]["is"], "allowed", "after {event}: {late}");
        assert_ne!(late["kind"], "signal_accepted", "after {event}: {late}");
        assert_ne!(late["kind"], "snapshot_updated", "after {event}: {late}");
    }
    // A very slow machine may end it before it has asked for everything.
    if session.has("answers") {
        let answers = session.read("answers");
        let is_no = |line: &str| line.contains(r#""answer":"refused""#);
        assert!(answers.lines().all(is_no), "{answers}");
    }
    session.assert_whole();
    session.assert_nothing_lives();
}

#[test]
fn nothing_is_allowed_after_a_cancel() {
    after(&["cancel", "R"], "run_cancelled");
}

#[test]
fn nothing_is_allowed_after_a_pause() {
    after(&["pause", "R"], "run_paused");
}

#[test]
fn nothing_is_allowed_once_the_run_is_sent_elsewhere() {
    after(&["go", "R", "rest"], "go_asked");
}

/// What is missing or wrong is so the next time too: a person is asked at once, and told in the agent's own words.
#[test]
fn what_cannot_be_played_is_asked_about_at_once() {
    let workflow = "name: One\nphases:\n  work: {next: [done]}\n";
    let agents = [("scripted:wrong.yaml", "wrong.yaml"), ("command:./broken", "broken")];
    for (agent, words) in agents {
        let session = Session::with(workflow, "{}");
        session.write("wrong.yaml", "work:\n  - dance: {}\n");
        session.write("broken", "#!/no/such/interpreter\n");
        session.shell("chmod +x broken").exits(0);
        let said = session.chronicle(&["run", "main", "t", "--agent", agent]).exits(4);
        assert!(said.stderr.contains(words), "{agent}: {}", said.stderr);
        assert_eq!(session.events_of("attempt_started").len(), 1, "{agent}");
        let about = session.events_of("gate_opened")[0]["data"]["about"].to_string();
        assert!(about.contains(words), "{about}");
        session.assert_whole();
    }
}

/// Reports that it tries again by itself, once more than it may.
const TRIES_AGAIN: &str = r#"
    read -r order
    echo '{"type":"session","protocol":1,"session":"s1"}'
    for number in 1 2 3; do
        echo '{"type":"error","class":"overload","text":"529","retry_in_ms":7200000}'
    done
    while read -r more; do :; done
"#;

#[test]
fn how_long_a_service_asks_to_wait_is_how_long_the_run_waits() {
    let session = Session::with("{name: One, phases: {work: {}}}", "{}");
    session.write("tries.sh", TRIES_AGAIN);
    let run = session.spawn(&["run", "main", "the task", "--agent", "command:sh tries.sh"]);
    until("it waits", || !session.runs().is_empty() && !session.events_of("wait_began").is_empty());
    let view = session.json(&["status"]);
    let (until, now) = (&view["waits"][0]["until"], &view["updated_at"]);
    let hours = |time: &serde_json::Value| -> i64 {
        let time = time.as_str().unwrap();
        // Day and hour are enough to tell two hours from two seconds.
        time[8..10].parse::<i64>().unwrap() * 24 + time[11..13].parse::<i64>().unwrap()
    };
    let waited = hours(until) - hours(now);
    assert!(waited == 2 || waited < 0, "{view}");
    session.chronicle(&["cancel", &session.short()]).exits(0);
    run.wait().exits(1);
}
