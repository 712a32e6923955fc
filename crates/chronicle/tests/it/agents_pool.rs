//! Real agents in the slots of a pool: each works in a folder of its own, one resolves a conflict, and one plans anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::{Started, of_run, until, within};

/// Three steps at once, of which two change the same line. The one that is merged last is in conflict.
const POOL: &str = "name: Main
phases:
  - id: build
    run: pool
    slots: 3
    instructions: Do this step.
    merge: in_order
    on: {conflict: mend}
    next: [check]
    steps: [{id: a}, {id: b}, {id: c}]
  - {id: check, run: command, commands: [test -e c.txt], next: [done]}
  - {id: mend, instructions: Resolve the conflict.}
";

/// What git knows beside the files themselves.
const REPOSITORY: &str = "git for-each-ref; git worktree list; git stash list; git log --all --oneline; cat .git/config; ls .git/hooks";

/// How long the runner's own limit lets a test wait.
const PATIENCE: Duration = Duration::from_mins(2);

/// How long anything of a run may live on after its supervisor was killed.
const NOTHING_LEFT: Duration = Duration::from_secs(10);

/// A file of the folder that an agent works in: its first call says where that is.
fn here(path: &str) -> String {
    format!("{{{{result 1}}}}/{path}")
}

/// The call that says where the agent works.
fn where_am_i(kind: Kind) -> Value {
    kind.shell("printf %s \"$PWD\"")
}

fn write(kind: Kind, path: &str, text: &str) -> Value {
    write_at(kind, &here(path), text)
}

/// Writes a file by its whole path.
fn write_at(kind: Kind, path: &str, text: &str) -> Value {
    match kind {
        Kind::Claude => json!({"tool": "Write", "input": {"file_path": path, "content": text}}),
        Kind::PiOld | Kind::PiNew => {
            json!({"tool": "write", "input": {"path": path, "content": text}})
        }
    }
}

fn read(kind: Kind, path: &str) -> Value {
    match kind {
        Kind::Claude => json!({"tool": "Read", "input": {"file_path": here(path)}}),
        Kind::PiOld | Kind::PiNew => json!({"tool": "read", "input": {"path": here(path)}}),
    }
}

/// One call in each turn.
fn turns(calls: &[Value]) -> Vec<Value> {
    calls.iter().map(|call| json!({"calls": [call]})).collect()
}

/// The last two turns of a worker.
fn leaves(kind: Kind, summary: &str) -> Vec<Value> {
    vec![json!({"calls": [kind.leave("done", summary)]}), json!({"say": "Done."})]
}

fn conversation(place: &str, parts: &[Vec<Value>]) -> Value {
    talk(place, &format!("`{place}`: "), &json!(parts.concat()))
}

/// A turn that waits until the test lets it go.
fn stalls(name: &str) -> Value {
    json!({"say": format!("Thinking about {name}."), "stall": {"name": name, "at": "middle"}})
}

fn repository(kind: Kind, workflow: &str, talks: &Value) -> AgentYard {
    let yard = AgentYard::new(kind, workflow, talks);
    yard.session.write("lines.txt", "one\ntwo\nthree\n");
    yard.session.write(".gitignore", ".chronicle\n");
    let init = "git init -q . && git config user.email a@example.org && git config user.name a && git add -A && git commit -qm first";
    yard.session.shell(init).exits(0);
    yard
}

/// Merges that were written into the project.
fn project_merges(yard: &AgentYard) -> Vec<Value> {
    let written = yard.session.events_of("merge_written");
    let is_one =
        |it: &Value| it["data"]["into"]["is"] == "project" && it["data"]["error"].is_null();
    written.into_iter().filter(is_one).collect()
}

/// Every step wrote into the project exactly once, nothing else is new there, and git knows nothing of it.
#[track_caller]
fn assert_merged(yard: &AgentYard, repository: &str, new: &[&str]) {
    let session = &yard.session;
    assert_eq!(session.read("lines.txt"), "one\nTWO and 2\nthree\n", "{}", yard.transcripts());
    assert_eq!(session.read("a.txt"), "a\n");
    assert_eq!(session.read("c.txt"), "c\n");
    let status = session.shell("git status --porcelain --untracked-files=all").exits(0).stdout;
    let new: Vec<String> = new.iter().map(|name| format!("?? {name}\n")).collect();
    assert_eq!(status, format!(" M lines.txt\n{}", new.concat()));
    assert_eq!(session.shell(REPOSITORY).stdout, repository, "nothing of it is in the repository");
    let merges = project_merges(yard);
    let folders: BTreeSet<String> =
        merges.iter().map(|it| it["data"]["folder"].to_string()).collect();
    assert!(merges.len() == 3 && folders.len() == 3, "{merges:?}");
    assert_eq!(session.json(&["status"])["status"], "done");
    assert_eq!(session.json(&["status"])["folders"], Value::Null, "folders go with their pool");
    session.assert_whole();
}

/// Both ways out of its folder were refused to the worker, and it was told: the one that guards see, and the one that only walls see.
#[track_caller]
fn assert_stopped(yard: &AgentYard) {
    let asked = yard.server.asked();
    let mut mine = asked.iter().filter(|it| it.first().contains("`build/c/work`: "));
    let results = mine.next_back().unwrap().results();
    assert!(results[1].contains("only a merge changes the project"), "{results:#?}");
    assert!(results[3].contains("Read-only file system"), "{results:#?}");
    let calls = yard.session.events_of("tool_called");
    let denied: Vec<&Value> =
        calls.iter().filter(|it| it["data"]["verdict"]["is"] == "denied").collect();
    assert!(denied.len() == 1 && denied[0]["data"]["path"].to_string().contains("stolen.txt"));
    assert_eq!(yard.session.events_of("wall_hit").len(), 1);
}

/// Each step's session began in a folder of its own, outside of the project, and whoever resolved the conflict worked in the step's.
#[track_caller]
fn assert_apart(yard: &AgentYard) {
    let asked = yard.server.asked();
    let folder = |place: &str| {
        let mut mine = asked.iter().filter(|it| it.first().contains(&format!("`{place}`: ")));
        let first = mine.find_map(|it| it.results().first().map(|text| text.trim().to_owned()));
        first.unwrap_or_else(|| panic!("nobody worked at {place}"))
    };
    let own: BTreeSet<String> = ["build/a/work", "build/b/work", "build/c/work"].map(folder).into();
    assert_eq!(own.len(), 3, "{own:?}");
    let project = yard.session.project().canonicalize().unwrap();
    assert!(own.iter().all(|it| !Path::new(it).starts_with(&project)), "{own:?}");
    assert_eq!(folder("build/b/mend"), folder("build/b/work"));
    for request in &asked {
        let text = format!("{}{:?}", request.system, request.messages);
        assert!(own.iter().any(|it| text.contains(it)), "{text:.3000}");
    }
}

/// What three steps and the resolver of a conflict do. The third tries to write into the project, and commits where it works.
fn at_once(kind: Kind) -> Value {
    let steal = "sh steal.sh";
    let commit = "git add -A && git commit -qm mine && git branch mine && git stash list && git log --oneline | wc -l";
    json!([
        conversation(
            "build/a/work",
            &[
                turns(&[
                    where_am_i(kind),
                    read(kind, "lines.txt"),
                    write(kind, "lines.txt", "one\nTWO\nthree\n"),
                    write(kind, "a.txt", "a\n")
                ]),
                vec![stalls("a")],
                leaves(kind, "shouts"),
            ]
        ),
        conversation(
            "build/b/work",
            &[
                turns(&[
                    where_am_i(kind),
                    read(kind, "lines.txt"),
                    write(kind, "lines.txt", "one\n2\nthree\n")
                ]),
                vec![stalls("b")],
                leaves(kind, "counts"),
            ]
        ),
        conversation(
            "build/c/work",
            &[
                turns(&[
                    where_am_i(kind),
                    write_at(kind, "{{project}}/stolen.txt", "stolen\n"),
                    write(kind, "steal.sh", "echo stolen > {{project}}/stolen.txt\n"),
                    kind.shell(steal),
                    kind.shell("rm steal.sh"),
                    write(kind, "c.txt", "c\n"),
                    kind.shell(commit)
                ]),
                vec![stalls("c")],
                leaves(kind, "adds"),
            ]
        ),
        conversation(
            "build/b/mend",
            &[
                turns(&[
                    where_am_i(kind),
                    read(kind, "lines.txt"),
                    write(kind, "lines.txt", "one\nTWO and 2\nthree\n")
                ]),
                leaves(kind, "both"),
            ]
        ),
    ])
}

/// Three agents at once, each in its folder, one conflict that a fourth resolves, and a worker who tries to write elsewhere.
fn works_in_slots(kind: Kind) {
    let yard = repository(kind, POOL, &at_once(kind));
    let before = yard.session.shell(REPOSITORY).stdout;
    let supervisor = yard.spawn(&yard.run_args());
    for name in ["a", "b", "c"] {
        // A turn that ends while the test waits for it lets the agent go on: all three are at work at this moment.
        assert!(yard.server.wait_for_stall(name, PATIENCE), "{name}: {}", yard.transcripts());
    }
    for name in ["a", "b", "c"] {
        yard.server.release(name);
    }
    yard.exits(supervisor.wait(), 0);
    assert!(!yard.session.has("stolen.txt"), "{}", yard.transcripts());
    assert_stopped(&yard);
    assert_apart(&yard);
    assert_merged(&yard, &before, &["a.txt", "c.txt"]);
}

#[test]
fn needs_namespaces_needs_git_needs_claude_works_in_slots() {
    works_in_slots(Kind::Claude);
}

#[test]
fn needs_namespaces_needs_git_needs_pi_new_works_in_slots() {
    works_in_slots(Kind::PiNew);
}

/// What is killed three times: all steps in the middle of a turn, then whoever resolves the conflict, then the end of that attempt.
fn kills(kind: Kind) -> Value {
    let step = |name: &str, calls: &[Value], summary: &str| {
        let place = format!("build/{name}/work");
        let mark = format!("echo {name} >> {name}.txt");
        let marked = json!({"say": format!("Marking {name}."), "calls": [kind.shell(&mark)]});
        let calls = [&[where_am_i(kind), read(kind, "lines.txt")], calls].concat();
        conversation(&place, &[turns(&calls), vec![marked, stalls(name)], leaves(kind, summary)])
    };
    let resolved = write(kind, "lines.txt", "one\nTWO and 2\nthree\n");
    let found = json!({"say": "Reading both sides.", "calls": [read(kind, "lines.txt")]});
    let parts = json!({"say": "Done.", "stall": {"name": "parted"}});
    json!([
        step("a", &[write(kind, "lines.txt", "one\nTWO\nthree\n")], "shouts"),
        step("b", &[write(kind, "lines.txt", "one\n2\nthree\n")], "counts"),
        step("c", &[], "adds"),
        conversation(
            "build/b/mend",
            &[
                turns(&[where_am_i(kind)]),
                vec![found, stalls("mend")],
                turns(&[
                    read(kind, "lines.txt"),
                    resolved,
                    kind.shell("echo b >> mended.txt"),
                    kind.leave("done", "both")
                ]),
                vec![parts],
            ]
        ),
    ])
}

/// Kills the supervisor without a warning, and sees that nothing of the run lives on.
fn dies(yard: &AgentYard, supervisor: Started, stalled: &[&str]) {
    let run = yard.session.run_id();
    supervisor.kill();
    within(NOTHING_LEFT, "nothing of it lives", || of_run(&run).is_empty());
    for name in stalled {
        yard.server.release(name);
    }
}

/// The same with a supervisor that is killed three times: nothing is lost, and nothing is done twice.
fn goes_on_after_kills(kind: Kind) {
    let yard = repository(kind, POOL, &kills(kind));
    let before = yard.session.shell(REPOSITORY).stdout;
    let merged = |yard: &AgentYard| project_merges(yard).len();
    let supervisor = yard.spawn(&yard.run_args());
    for name in ["a", "b", "c"] {
        assert!(yard.server.wait_for_stall(name, PATIENCE), "{name}: {}", yard.transcripts());
        until("the agent keeps what it did", || yard.keeps(&[&format!("Marking {name}.")]));
    }
    dies(&yard, supervisor, &["a", "b", "c"]);
    assert_eq!(merged(&yard), 0);
    let supervisor = yard.spawn(&["resume"]);
    assert!(yard.server.wait_for_stall("mend", PATIENCE), "{}", yard.transcripts());
    until("the agent keeps what it did", || yard.keeps(&["Reading both sides."]));
    until("two steps are merged", || merged(&yard) == 2);
    dies(&yard, supervisor, &["mend"]);
    let supervisor = yard.spawn(&["resume"]);
    assert!(yard.server.wait_for_stall("parted", PATIENCE), "{}", yard.transcripts());
    until("everybody has left", || yard.session.events_of("signal_accepted").len() == 4);
    dies(&yard, supervisor, &["parted"]);
    yard.exits(yard.chronicle(&["resume"]), 0);
    // Each of the four was lost once in the middle of its work, and went on in its own session; the end that was lost needs nobody.
    let started = yard.session.events_of("attempt_started");
    let started = started.iter().filter(|it| it["data"]["place"] != "check");
    let mut sessions: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in started {
        let place = event["data"]["place"].as_str().unwrap().to_owned();
        sessions.entry(place).or_default().push(event["data"]["session"].clone());
    }
    assert_eq!(sessions.len(), 4, "{sessions:?}");
    for (place, sessions) in &sessions {
        assert!(sessions.len() == 2 && sessions[0] == sessions[1], "{place}: {sessions:?}");
    }
    assert_eq!(yard.session.read("b.txt"), "b\n");
    assert_eq!(yard.session.read("mended.txt"), "b\n");
    assert_merged(&yard, &before, &["a.txt", "b.txt", "c.txt", "mended.txt"]);
}

#[test]
fn needs_git_needs_claude_goes_on_in_slots_after_kills() {
    goes_on_after_kills(Kind::Claude);
}

#[test]
fn needs_git_needs_pi_new_goes_on_in_slots_after_kills() {
    goes_on_after_kills(Kind::PiNew);
}

const PLANNED: &str = "name: Main
phases:
  - {id: plan, persona: planner, produces: steps, instructions: Plan it., next: [build]}
  - {id: build, run: pool, slots: 2, instructions: Do this step., next: [done]}
";

/// A worker plans; the worker of a step asks for help, and whoever planned changes the steps that have not begun.
fn plans_anew(kind: Kind) {
    let plan = |arguments: &Value| json!({"calls": [kind.signal("workflow_plan", arguments)]});
    let back = |arguments: &Value| json!({"calls": [kind.signal("signal_back", arguments)]});
    let help = json!({"signal": "needs-role-followup", "targetRole": "planner", "reason": "one step is too little", "context": "see a.txt", "resume": true});
    let first = json!({"steps": [{"id": "a", "name": "First"}, {"id": "b", "depends_on": ["a"]}]});
    let second = json!({"version": 1, "steps": [{"id": "c", "depends_on": ["a"]}, {"id": "d"}]});
    let does = |id: &str| {
        let calls = turns(&[where_am_i(kind), write(kind, &format!("{id}.txt"), "made\n")]);
        conversation(&format!("build/{id}/work"), &[calls, leaves(kind, "made it")])
    };
    let asks = vec![
        back(&help),
        json!({"say": "I wait."}),
        back(&json!({"signal": "complete", "summary": "made with help"})),
        json!({"say": "Done."}),
    ];
    let planned = json!({"signal": "complete", "summary": "planned anew"});
    let talks = json!([
        talk(
            "helper",
            "one step is too little",
            &json!([plan(&second), back(&planned), {"say": "Planned."}])
        ),
        conversation(
            "plan",
            &[
                vec![plan(&first)],
                vec![json!({"calls": [kind.leave("build", "two steps")]}), json!({"say": "Done."})]
            ]
        ),
        conversation(
            "build/a/work",
            &[turns(&[where_am_i(kind), write(kind, "a.txt", "made\n")]), asks]
        ),
        does("c"),
        does("d"),
    ]);
    let yard = repository(kind, PLANNED, &talks);
    yard.exits(yard.run(), 0);
    yard.assert_played();
    for name in ["a.txt", "c.txt", "d.txt"] {
        assert_eq!(yard.session.read(name), "made\n");
    }
    let begun = yard.session.events_of("slot_taken");
    let begun: Vec<&str> = begun.iter().map(|it| it["data"]["step"].as_str().unwrap()).collect();
    assert_eq!(begun, ["a", "d", "c"], "`c` needs the work of `a`, and `b` is planned no more");
    let asked = yard.server.asked();
    let helper = asked.iter().find(|it| it.first().contains("one step is too little")).unwrap();
    assert!(helper.first().contains("The plan of `build` is at version 1"), "{}", helper.first());
    let log = yard.session.chronicle(&["log"]).stdout;
    assert!(log.contains("changed the plan of `build` (version 2): `c`, `d`"), "{log}");
    yard.session.assert_whole();
}

#[test]
fn needs_git_needs_claude_plans_anew() {
    plans_anew(Kind::Claude);
}

#[test]
fn needs_git_needs_pi_new_plans_anew() {
    plans_anew(Kind::PiNew);
}
