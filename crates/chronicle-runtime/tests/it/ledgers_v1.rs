//! Ledgers of version 1, kept for ever: each must fold to the facts that it had when it was written.
//!
//! What is hashed are the facts of a run, as text: the JSON of states and views may get more fields without any ledger
//! changing its meaning.
//! `UPDATE_LEDGERS=1` adds what is missing; what is there is never written again.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use chronicle_core::event::record::Line;
use chronicle_core::state::State;
use chronicle_runtime::for_tests::ledger::{Head, Ledger};
use chronicle_testkit::Memory;
use serde_json::Value;

use crate::world::Story;

/// The story whose supervisor dies while it writes its fifth line, and whose agents forget their sessions.
const TORN: &str = "torn";

/// File name, workflow, what the world does.
const STORIES: [(&str, &str, &str); 41] = [
    (
        "straight",
        "{name: Straight, phases: {plan: {tools: {deny: [bash]}, next: [build]}, build: {}}}",
        "plan: session s; tool read; tool-end c1; tool bash; tool-fail c3; create a; change b; \
            delete c; usage 10 at 5; usage-turn 30 at 9; usage-session 70; go build
         build: go done; tool read; grace",
    ),
    (
        "persons",
        "{name: Persons, phases: {plan: {approval: both, next: [build]}, build: {approval: before}}}",
        "plan: go build\nbuild: go done\ng1: approve\ng2: reject not yet\ng3: approve good\ng4: reject never
         g5: go plan\ng6: approve\ng7: approve\ng8: go done",
    ),
    (
        "crashes",
        "{name: Crashes, phases: {plan: {limits: {nudges: 9, retries: 2}, next: [build]}, \
            build: {next: [done], on: {crash: mend}}, mend: {}}}",
        "plan 1: finish\nplan 2: died\nplan 3: crash quota later\nplan 4: crash overload\nplan 5: crash context_full
         plan 6: crash protocol not json\nplan 7: crash other odd\nplan 8: crash session_gone\nplan 9: go build
         build: crash cannot_start no such file\nmend 1: crash auth sign in\nmend 2: go done\ng1: retry signed in",
    ),
    (
        "retries",
        "{name: Retries, phases: {plan: {limits: {nudges: 1, retries: 1}}}}",
        "plan 1: nonsense; go nowhere; finish\nplan 2: finish\nplan 3: finish\nplan 4: go done\ng1: retry once more",
    ),
    (
        TORN,
        "{name: Torn, phases: {plan: {next: [build]}, build: {}}}",
        "plan: tool read; lost; person pause lunch; go build\nbuild: go done\npaused: resume",
    ),
    (
        "limits",
        "{name: Limits, phases: {plan: {limits: {timeout: 5m}, next: [build], on: {timeout: build}}, \
            build: {next: [test], on: {stuck: test}}, test: {limits: {loop: 1}, next: [test, done]}}}",
        "plan: timeout\nbuild: idle\ntest 1: unclear\ntest: go test\ng1: retry\ng2: go done",
    ),
    (
        "loops",
        "{name: Loops, limits: {loop: 1}, phases: {build: {limits: {tool: 5m}, next: [test]}, \
            test: {next: [done], on: {fail: build}}}}",
        r#"build 1: session s; tool bash; tool-over
         build: go test
         test 1: call workflow_transition {"target_state": "build", "outcome": "fail", "summary": "it leaks", "issues_opened": ["leak"]}
         test 2: go build fail
         test 3: crash refused no such model
         test 4: go done
         g1: loops 2
         g2: retry"#,
    ),
    (
        "commands-inside",
        "{name: Outer, phases: {in: {run: workflow, workflow: i, next: [ship]}, \
            ship: {next: [human_intervention]}}}\n=== i\n\
            {name: Inner, limits: {loop: 9}, phases: {test: {run: command, commands: [a, b], next: [done], \
            on: {fail: mend}}, mend: {next: [test]}}}",
        "in/test 1: run 0 0; run 1 2\nin/test 2: run 0 -\nin/mend: go test\nship: go human_intervention\ng1: go done",
    ),
    (
        "cancelled",
        "{name: Cancelled, phases: {plan: {}}}",
        "plan: usage 4; person cancel changed my mind",
    ),
    (
        "unreachable",
        "{name: Unreachable, phases: {plan: {}}}",
        "plan 1: crash unreachable no route\nplan 2: go done",
    ),
    (
        "titled",
        "{name: Titled, phases: {plan: {}}}",
        "plan: person title second try; person title ; person title third try; go done",
    ),
    (
        "signals",
        "{name: Signals, phases: {plan: {limits: {continuations: 1}, next: [build]}, build: {next: [ship]}, \
            ship: {run: human, next: [done, plan]}}}",
        r#"plan 1: session s; call workflow_update_snapshot {"data": {"findings": ["it leaks"], "custom": {"port": 80}}}; call workflow_step {"action": "cancel"}; call workflow_status {}; call signal_back {"signal": "partially-complete", "progress": "half", "continuationPoint": "the rest"}
         plan 2: person note mind the tests; call signal_back {"signal": "partially-complete", "progress": "more", "continuationPoint": "the end"}
         plan 3: call workflow_transition {"target_state": "build", "summary": "planned", "task": "build it"}
         build: session b; call workflow_ask {"question": "which?", "options": ["red", "blue"]}; call signal_back {"signal": "needs-user-input", "question": "how?", "context": "c"}; go ship
         g1: retry-with scripted:other.yaml
         g2: answer 2
         g3: answer like this
         g4: answer done"#,
    ),
    (
        "permissions",
        "{name: Permissions, phases: {plan: {next: [build]}, build: {}}}",
        "plan: session s; held rm a; person approve; forbidden rm -rf b; held rm c; person approve-phase; \
            held rm c; held rm d; go build
         build: session b; held rm c; person approve-run; held rm c; held rm e; person reject keep it; held rm e; go done",
    ),
    (
        "help",
        "{name: Help, phases: {build: {limits: {depth: 1}}}}",
        r#"build: session s; call signal_back {"signal": "needs-role-followup", "targetRole": "mender", "reason": "broken", "context": "c", "resume": true}; go done
         build@mender: session m; call signal_back {"signal": "needs-role-followup", "targetRole": "seeker", "reason": "lost", "context": "c", "resume": false}; complete
         g1: skip look yourself"#,
    ),
    (
        "budget",
        "{name: Budget, budget: {tokens: 100, time: 1m}, phases: {plan: {next: [build]}, build: {budget: {tokens: 10}}}}",
        "plan: session s; usage 85 at 5; usage 20 at 9; go build
         build: session b; time-over; usage 10; go done
         g1: budget +100 tokens\ng2: budget +30s\ng3: budget +5 tokens",
    ),
    (
        "waits",
        "{name: Waits, phases: {plan: {next: [build]}, build: {}}}",
        "plan: session s; quota 2099-01-01T00:00:00.000Z; go build
         build: session b; crash overload no room; quota 2000-01-01T00:00:00.000Z; go done",
    ),
    (
        "fallback",
        "{name: Fallback, phases: {plan: {fallback: [other, 'third:small'], limits: {nudges: 0, retries: 0}}}}",
        "plan 1: session s; usage 5; quota 2099-01-01T00:00:00.000Z
         plan 2: session o; crash auth sign in
         plan 3: session t; finish
         plan 4: session s; crash refused no such model
         plan 5: session o; go done
         g1: retry",
    ),
    (
        "chores",
        "{name: Chores, verify: [all], phases: {build: {verify: [lint, test], cleanup: [stop, rm]}}}",
        "build: session s; go done\nbuild!verify 1: run 0 0; run 1 2\nbuild!cleanup: run 0 1; run 1 0",
    ),
    (
        "fails",
        "{name: Fails, phases: {plan: {approval: before}}}",
        "plan: go done",
    ),
    (
        "circle",
        "{name: Circle, phases: {dig: {limits: {repeats: 1}}}}",
        "dig 1: session s; tool read; tool read; tool read; tool read\ndig 2: go done
         g1: retry look elsewhere
         trees: same; change a; same",
    ),
    (
        "standstill",
        "{name: Standstill, phases: {dig: {limits: {standstill: 20m}}}}",
        "dig 1: session s; tool read; still; tool read; still\ndig 2: create a.rs; go done
         g1: retry look elsewhere
         trees: same; change a; same",
    ),
    (
        "notices",
        "{name: Notices, phases: {plan: {approval: both, next: [build]}, build: {}}}",
        "plan: session s; go build\nbuild: session b; go done\ng1: approve\ng2: approve
         notices: failed exit code 22; unknown; nobody",
    ),
    (
        "walls",
        "{name: Walls, phases: {plan: {next: [build]}, build: {walls: {files: read, paths: [target]}}}}",
        "plan: session s; go build\nbuild: session b; wall Read-only file system; tool read; tool-end c3; go done\nwalls: stand",
    ),
    (
        "walls_after_all",
        "{name: Walls, phases: {plan: {}}}",
        "plan: other-walls; session s; go done\nwalls: stand",
    ),
    (
        "room",
        "{name: Room, phases: {plan: {limits: {timeout: 5m}, next: [build]}, build: {}}}",
        "plan: full 8; full 2 claude; room; session s; go build\nbuild: full 1; room; session b; go done",
    ),
    (
        "trees",
        "{name: Trees, phases: {plan: {next: [build]}, build: {approval: after, next: [done]}}}",
        "plan 1: finish\nplan 2: go build\nbuild: go done\ng1: undo plan; reject not yet\ng2: approve
         trees: missed git cannot be started; same; change a; change b; same",
    ),
    (
        "evidence",
        "{name: Evidence, phases: {build: {requires: [changed_files, make], next: [check]}, check: {approval: after}}}",
        r#"build: session s; go check; shell make; tool-end c2; call workflow_transition {"target_state": "check", "summary": "Changed a.rs and b.rs. Ran `go vet`. `cargo test` passes."}
         check: call workflow_transition {"target_state": "done", "summary": "All tests pass."}
         g1: approve
         trees: same; same; change a.rs; same"#,
    ),
    (
        "calls",
        "{name: Calls, phases: {build: {limits: {repeats: 2}, requires: [make], tools: {deny: [web]}}}}",
        "build 1: session s; shell make; tool-fail c1; tool web; shell make; tool-end c4; shell make; go done
         build 2: go done\ng1: retry look elsewhere",
    ),
    (
        "failed",
        "{name: Outer, phases: {in: {run: workflow, workflow: i}}}\n=== i\n\
            {name: Inner, phases: {look: {limits: {nudges: 0, retries: 0}, next: [judge]}, judge: {}}}",
        "in/look: session s; finish\ng1: skip look yourself\nin/judge: session j; go done fail",
    ),
    (
        "sent",
        "{name: Sent, phases: {plan: {next: [build]}, build: {}}}",
        "plan: session s; person go build; go build\nbuild: session b; go done",
    ),
    (
        "repaired",
        "{name: Repaired, phases: {plan: {approval: after}}}",
        "plan: session s; go done\ng1: repair its sum is wrong; approve",
    ),
    (
        "rewound",
        "{name: Rewound, phases: {plan: {next: [build]}, build: {approval: after}}}",
        "plan: session s; go build\nbuild: go done\ng1: rewind plan\ng2: approve",
    ),
    (
        "withdrawn",
        "{name: Withdrawn, phases: {plan: {}}}",
        r#"plan 1: session s; call workflow_ask {"question": "sure?"}; withdraw r1; died
         plan 2: go done"#,
    ),
    (
        "background",
        "{name: Background, phases: {work: {}}}",
        "work: session s; shell npm run dev; tool-on c1; shell ls; tool-end c3; tool-end c1; go done",
    ),
    (
        "guards",
        "{name: Guards, phases: {plan: {next: [build]}, build: {}}}",
        "plan 1: crash unguarded no hook
         plan 2: session s; unproven no hook; go build
         build: go done
         g1: retry",
    ),
    (
        "unjudged",
        "{name: Unjudged, phases: {plan: {next: [build]}, build: {}}}",
        "plan 1: session s; crash unjudged it ran
         plan 2: session s; ran rm b; died
         plan 3: session s; go build
         build: go done
         g1: retry
         g2: retry",
    ),
    (
        "doubts",
        "{name: Doubts, phases: {work: {requires: [make]}}}",
        "work: session s; shell make | tail; tool-end c1; go done; died
         work 2: session s; shell make &; tool-end c1; died
         work 3: session s; shell make; tool-end c1; go done",
    ),
    (
        "pool",
        "{name: Pool, phases: [{id: plan, produces: steps}, {id: build, run: pool, slots: 2}, \
            {id: more, run: pool, slots: 2, steps_from: plan.json}]}",
        r#"plan: call workflow_plan {"steps": [{"id": "a"}, {"id": "nofolder"}, {"id": "clash", "depends_on": ["a"]}, {"id": "asks"}]}; go build
         build/a/work: go done
         build/clash/work: go done
         build/asks/work: session s; call signal_back {"signal": "needs-user-input", "question": "which?", "context": "there are two"}; go done
         g1: answer this
         g2: answer ours
         g3: skip-step build/nofolder
         g4: go done"#,
    ),
    (
        "race",
        "{name: Race, phases: [{id: build, run: race, judge: pick, workers: [{id: a}, {id: clash}], next: [last]}, \
            {id: last, run: race, judge: {commands: [t]}, workers: [{id: a}, {id: b}], next: [ask]}, \
            {id: ask, run: race, workers: [{id: a}, {id: b}], next: [done]}, {id: pick, next: [done]}]}",
        r#"build/a/work: go done
         build/clash/work: go done
         build/pick: call workflow_transition {"target_state": "done", "outcome": "a", "summary": "it is smaller"}
         last/a/work: go done
         last/b/work: go done
         ask/a/work: go done
         ask/b/work: go done
         g1: answer b"#,
    ),
    (
        "apart",
        "{name: Apart, phases: {plan: {next: [build]}, build: {}}}",
        "plan: session s; go build
         build: go done
         over: merge
         g1: answer theirs",
    ),
    (
        "apart-dropped",
        "{name: Apart, phases: {plan: {}}}",
        "plan: session s; go done\nover: merge\ng1: answer drop",
    ),
];

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/ledgers/v1")
}

/// Every ledger there is, by its file's name.
pub(crate) fn ledgers() -> BTreeMap<String, Vec<Line>> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .map(|path| {
            let memory = Memory::new();
            memory.replace(fs::read(&path).unwrap());
            let lines = memory.read(Head::EMPTY).unwrap().map(|line| line.unwrap().0);
            (path.file_name().unwrap().to_str().unwrap().to_owned(), lines.collect())
        })
        .collect()
}

fn hash(lines: &[Line]) -> String {
    let mut state = State::default();
    for line in lines {
        state.apply(line);
    }
    blake3::hash(facts(&state).as_bytes()).to_hex().to_string()
}

/// Status, path, attempts, gates and what was spent.
fn facts(state: &State) -> String {
    let mut text = format!("{:?} {} {:?}\n", state.status(), state.seq, state.usage);
    for visit in state.visits.iter() {
        writeln!(text, "{} {:?}", visit.place, visit.left).unwrap();
    }
    for attempt in state.attempts.iter() {
        let (intent, ended) = (&attempt.intent, &attempt.ended);
        let (id, place, number) = (intent.attempt, &intent.place, intent.try_number);
        let why = &intent.why;
        writeln!(text, "{id} {place} {number} {why:?} {ended:?} {:?}", attempt.usage).unwrap();
    }
    for gate in state.gates.iter() {
        writeln!(text, "{} {:?}", gate.opened.gate, gate.answered).unwrap();
    }
    text
}

/// Adds the stories that have no file yet, and hashes that are missing.
fn add_missing() {
    fs::create_dir_all(folder()).unwrap();
    for (name, workflow, script) in STORIES {
        let path = folder().join(format!("{name}.jsonl"));
        if !path.exists() {
            let (memory, mut story) = (Memory::new(), Story::new(workflow, script));
            story.play(&memory).unwrap();
            if name == TORN {
                memory.replace(torn_in_line_5(&memory.bytes()));
                story.cut_after(0).play(&memory).unwrap();
            }
            fs::write(path, memory.bytes()).unwrap();
        }
    }
    let path = folder().join("hashes.txt");
    let mut text = fs::read_to_string(&path).unwrap_or_default();
    for (name, lines) in ledgers() {
        if !text.lines().any(|line| line.ends_with(&format!(" {name}"))) {
            writeln!(text, "{} {name}", hash(&lines)).unwrap();
        }
    }
    fs::write(path, text).unwrap();
}

fn torn_in_line_5(bytes: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    [lines[..4].concat().as_slice(), &lines[4][..50]].concat()
}

#[test]
fn every_ledger_folds_to_the_facts_that_it_always_had() {
    if std::env::var_os("UPDATE_LEDGERS").is_some_and(|value| value == "1") {
        add_missing();
    }
    let text = fs::read_to_string(folder().join("hashes.txt")).unwrap();
    let kept: BTreeMap<&str, &str> = text
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(hash, name)| (name, hash))
        .collect();
    let ledgers = ledgers();
    let names: Vec<&str> = ledgers.keys().map(String::as_str).collect();
    assert_eq!(names, kept.keys().copied().collect::<Vec<_>>(), "each ledger has its hash");
    for (name, _, _) in STORIES {
        assert!(kept.contains_key(format!("{name}.jsonl").as_str()), "`{name}` was never added");
    }
    for (name, lines) in &ledgers {
        assert_eq!(hash(lines), kept[name.as_str()], "{name} is seen otherwise than it was");
    }
}

/// The variants of an enum as the ledger writes them, read from the source.
fn variants(source: &str, name: &str) -> BTreeSet<String> {
    let (_, after) = source.split_once(&format!("pub enum {name} {{\n")).unwrap();
    let (body, _) = after.split_once("\n}").unwrap();
    let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
    let names = lines.filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()));
    names
        .map(|line| snake_case(line.split(|it: char| !it.is_alphanumeric()).next().unwrap()))
        .collect()
}

fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

/// Every word found in all ledgers at one of these paths below an event, or below a line for `by`.
fn words(lines: &[Value], paths: &[&str]) -> BTreeSet<String> {
    let events = lines.iter().flat_map(|line| line["events"].as_array().unwrap());
    let found = lines.iter().chain(events).flat_map(|value| {
        paths.iter().filter_map(|path| value.pointer(path)?.as_str().map(str::to_owned))
    });
    found.collect()
}

fn read(file: &str) -> String {
    let core = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../chronicle-core/src");
    fs::read_to_string(core.join(file)).unwrap()
}

/// The words of events, all of them.
fn events() -> String {
    ["event/mod.rs", "event/attempt.rs", "event/gate.rs"].map(read).concat()
}

#[test]
fn together_they_have_every_kind_of_event_and_every_word_in_them() {
    let lines: Vec<Value> =
        ledgers().values().flatten().map(|line| serde_json::to_value(line).unwrap()).collect();
    let (event, input, usage) = (events(), read("event/input.rs"), read("base/usage.rs"));
    let tree = read("event/trees.rs");
    let (claims, duties) = (read("event/claims.rs"), read("event/chore.rs"));
    let notice = read("event/notice.rs");
    let places: [(&str, &str, &[&str]); 19] = [
        (&notice, "Way", &["/data/given/0", "/data/failed/0/way"]),
        (&notice, "Missed", &["/data/missed"]),
        (&claims, "Claim", &["/data/claims/0/is", "/data/claims/1/is", "/data/claims/2/is"]),
        (&event, "Event", &["/kind"]),
        (&event, "Mover", &["/data/by"]),
        (&event, "Why", &["/data/why/is"]),
        (&duties, "Duty", &["/data/chore/duty"]),
        (&event, "Verdict", &["/data/verdict/is"]),
        (&event, "Change", &["/data/change"]),
        (&event, "StopCause", &["/data/cause"]),
        (&event, "End", &["/data/end/is"]),
        (&event, "CrashClass", &["/data/end/data/class"]),
        (&event, "GateKind", &["/data/gate_kind"]),
        (&event, "GateAnswer", &["/data/answer/is"]),
        (&event, "Break", &["/data/parting/is"]),
        (&event, "Message", &["/data/message/is"]),
        (&input, "Actor", &["/by/actor/is"]),
        (&usage, "Scope", &["/data/scope/of"]),
        (&tree, "Moment", &["/data/moment/is"]),
    ];
    for (source, name, paths) in places {
        let known = variants(source, name);
        assert!(known.len() > 1, "`{name}` was not found in the source");
        assert_eq!(words(&lines, paths), known, "{name}");
    }
}

#[test]
fn no_enum_of_events_is_left_out() {
    let source = events();
    let enums: Vec<&str> = source
        .lines()
        .filter_map(|line| line.strip_prefix("pub enum ")?.strip_suffix(" {"))
        .collect();
    // Written only where a host performs, and nothing does yet: `hosted.rs` has it.
    let enums: Vec<&str> = enums.into_iter().filter(|name| *name != "Performer").collect();
    let checked = [
        "Event",
        "Mover",
        "Message",
        "Why",
        "Verdict",
        "Change",
        "Break",
        "StopCause",
        "End",
        "CrashClass",
        "GateKind",
        "GateAnswer",
    ];
    assert_eq!(enums, checked, "add the new one to the test above, and a ledger that has it");
}
