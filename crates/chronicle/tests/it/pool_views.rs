//! What people see of pools, and what they say to a step by its place: the whole words.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::session::{Session, until};

/// One step is done, one asks, one failed, one waits for another; one after the other, so that every number is the same each time.
const FOUR: &str = "name: Main
phases:
  - id: build
    run: pool
    slots: 1
    isolation: worktree
    instructions: do it
    next: [done]
    steps:
      - {id: schema, name: Database schema}
      - {id: asks}
      - {id: fails}
      - {id: after, depends_on: [asks]}
";
const FOUR_SCRIPT: &str = "
build/schema/work: [{usage: {input: 5000, output: 200}}, {write: {path: a, text: a}}, {complete: {summary: made it}}]
build/asks/work:
  1: [{need: {question: Which one?, options: [x, y]}}]
  otherwise: [{complete: {summary: took one}}]
build/fails/work: [{transition: {to: done, outcome: fail, summary: there is no such table}}]
work: [{complete: {summary: made it}}]
";

fn repository(workflow: &str, script: &str) -> Session {
    let session = Session::with(workflow, script);
    session.write(".gitignore", "script.yaml\n");
    session
        .shell("git init -q && git config user.email a@example.org && git config user.name a")
        .exits(0);
    session.shell("git add -A && git commit -qm first").exits(0);
    session
}

fn four() -> Session {
    let session = repository(FOUR, FOUR_SCRIPT);
    session.run().exits(4);
    session
}

#[track_caller]
fn shown(session: &Session, args: &[&str], expected: &Expect) {
    let said = session.chronicle(args).exits(0);
    expected.assert_eq(&session.redact(&said.stdout));
}

#[test]
fn needs_git_status_has_a_row_for_each_step() {
    let session = four();
    shown(
        &session,
        &["status"],
        &expect![[r#"
            <run>  waiting  Main: the task

              build [●]

              ● build

              build: 1 of 4 done, 1 needs you, 1 not done (1 slot)
                ? build/asks               waits for an answer, needs you (g1), <duration>
                ✗ build/fails              failed, <duration>
                  there is no such table
                · waiting: after
                ✓ done: schema

              work folders in <folder>/home/.local/state/chronicle/work/<run>:
                w2/project build/asks, nobody works there
                w3/project build/fails, nobody works there
                and 1 more: `chronicle status <run> --json` has them all

              3 attempts, 5,200 tokens, cost unknown, <duration> of work
              guards: <number> rules (<number> built in)

              needs you g1 at `build/asks/work`: Which one?
                  nothing more is known
                  1  x
                  2  y

              Next: chronicle answer <run> g1 1  (or: any text; 1 = x, 2 = y)
        "#]],
    );
}

/// What the log says of one step: steps are mixed with each other in an order that differs from run to run.
#[test]
fn needs_git_the_log_of_a_step_is_short() {
    let session = four();
    let log = session.redact(&session.chronicle(&["log"]).exits(0).stdout);
    let is_its = |text: &&str| {
        let words = ["`build/schema", "a1 ", "folder 1"];
        words.iter().any(|word| text.contains(word)) && !text.contains("has 4 steps")
    };
    let texts = log.lines().filter_map(|line| Some(line.split_once("<time>")?.1.trim()));
    let texts: Vec<&str> = texts.filter(is_its).collect();
    expect![[r#"
        `build/schema` works in slot 1, in work folder 1
        phase `build/schema/work` entered
        a1 started at `build/schema/work` (scripted)
        a1 leaves for `done`: "made it"
        a1 ended
        a1 changed 1 file, +1: `a`
        `build/schema/work` done, workflow complete
        the workflow in `build/schema` ended
        merging 1 file, +1: `a` of folder 1
        the work in folder 1 is merged
    "#]]
    .assert_eq(&(texts.join("\n") + "\n"));
}

/// Many steps that all wait for a person: the first are shown, the others are counted, and nothing is left out unsaid.
#[test]
fn needs_git_a_large_pool_stays_readable() {
    let step = |number: u32| {
        let needs = if number > 15 { ", depends_on: [s1]" } else { "" };
        format!("      - {{id: s{number}{needs}}}\n")
    };
    let steps: String = (1..=200).map(step).collect();
    let workflow = format!(
        "name: Main\nphases:\n  - id: build\n    run: pool\n    slots: 8\n    instructions: do it\n    next: [done]\n    steps:\n{steps}"
    );
    let session = repository(&workflow, "work: [{need: {question: Which one?}}]\n");
    session.run().exits(4);
    let text = session.chronicle(&["status"]).exits(0).stdout;
    let has = |line: &str| assert!(text.contains(line), "`{line}` is missing in\n{text}");
    has("build: 0 of 200 done, 15 need you (8 slots)");
    has("? also waiting for you: s13, s14, s15\n");
    has("· waiting: s16, s17, s18, s19, s20, s21, s22, s23, s24, s25, s26, s27 and 173 more\n");
    has("needs you 3 more times: `chronicle status");
    assert_eq!(text.matches("\n    ? build/").count(), 12, "{text}");
    assert_eq!(text.matches("\n  Next: chronicle answer ").count(), 12, "{text}");
    assert!(text.lines().count() < 120, "{text}");
    let view = session.json(&["status"]);
    assert_eq!(view["needs_you"].as_array().map(Vec::len), Some(15));
    assert_eq!(view["line"], "Main > build [1/1] > 0 of 200 steps done");
    assert_eq!(view["breadcrumbs"].as_array().map(Vec::len), Some(1));
    let steps = view["pools"][0]["steps"].as_array().cloned().unwrap_or_default();
    assert_eq!(steps.len(), 200);
}

/// What was cut off is not said to work.
#[test]
fn needs_git_a_step_whose_supervisor_was_killed_is_stopped() {
    let script = "build/a/work: [{hang: }]\n";
    let workflow =
        FOUR.split("      - {id: schema").next().unwrap().to_owned() + "      - {id: a}\n";
    let session = repository(&workflow, script);
    let supervisor = session.spawn_run();
    until("the step is worked on", || {
        let said = session.chronicle(&["status", "--json"]);
        said.code == Some(0) && said.json()["pools"][0]["steps"][0]["worker"].is_string()
    });
    supervisor.kill();
    let step = session.json(&["status"])["pools"][0]["steps"][0].clone();
    assert_eq!((&step["state"], &step["worker"]), (&json!("stopped"), &Value::Null), "{step}");
    session.chronicle(&["cancel"]).exits(0);
}

/// Every command on every kind of place of a step, undriven: what it says, and how it ends.
#[test]
fn needs_git_commands_take_steps_by_their_place() {
    let session = four();
    let run = session.short();
    let commands: &[&[&str]] = &[
        &["note", &run, "mind x"],
        &["note", &run, "--place", "build/asks", "mind x"],
        &["note", &run, "--place", "build/after", "mind x"],
        &["note", &run, "--place", "build/typo", "mind x"],
        &["go", &run, "build/asks"],
        &["go", &run, "build/after/work"],
        &["go", &run, "build/typo/work"],
        &["go", &run, "build/asks/typo"],
        &["retry", &run, "build/typo"],
        &["retry", &run, "build/after"],
        &["retry", &run, "build/asks/typo"],
        &["skip", &run, "build/typo"],
        &["skip", &run, "build/schema/work"],
        &["approve", &run, "build/asks"],
        &["approve", &run, "build/typo"],
        &["reject", &run, "build/asks", "no"],
        &["budget", &run, "+500 tokens", "--place", "build/asks"],
        &["cancel", &run, "build"],
        &["cancel", &run, "build/typo"],
        &["answer", &run, "build/typo", "x"],
        &["answer", &run, "build/asks", "x"],
        &["skip", &run, "build/fails"],
        &["cancel", &run, "build/after"],
    ];
    let mut told = String::new();
    for command in commands {
        let said = session.chronicle(command);
        let code = said.code.unwrap_or(-1);
        let (words, out, err) = (command.join(" "), said.stdout, said.stderr);
        write!(told, "$ {words} -> {code}\n{out}{err}").unwrap();
    }
    expect![[r#"
        $ note <run> mind x -> 0
        Run <run>: n1 waits for the next worker at `build/asks/work`.
        Next: chronicle answer <run> g1 1  (or: any text; 1 = x, 2 = y)
        $ note <run> --place build/asks mind x -> 0
        Run <run>: n2 waits for the next worker at `build/asks/work`.
        Next: chronicle answer <run> g1 1  (or: any text; 1 = x, 2 = y)
        $ note <run> --place build/after mind x -> 0
        Run <run>: n3 waits for the next worker at `build/after`.
        Next: chronicle answer <run> g1 1  (or: any text; 1 = x, 2 = y)
        $ note <run> --place build/typo mind x -> 2
        Error: there is no step `build/typo`; there are `build/schema`, `build/asks`, `build/fails`, `build/after`
        Hint: chronicle status <run> shows what it waits for
        $ go <run> build/asks -> 2
        Error: `build/asks` is a step: `retry build/asks` begins it again, `skip build/asks` counts it as done without its work, and `cancel build/asks` gives it up
        Hint: chronicle status <run> shows what it waits for
        $ go <run> build/after/work -> 2
        Error: nobody is inside of `build/after` (waits for other steps)
        Hint: chronicle status <run> shows what it waits for
        $ go <run> build/typo/work -> 2
        Error: there is no step `build/typo/work`; there are `build/schema`, `build/asks`, `build/fails`, `build/after`
        Hint: chronicle status <run> shows what it waits for
        $ go <run> build/asks/typo -> 2
        Error: workflow `build` has no phase `typo`; it has `work`
        Hint: chronicle status <run> shows what it waits for
        $ retry <run> build/typo -> 2
        Error: there is no step `build/typo`; there are `build/schema`, `build/asks`, `build/fails`, `build/after`
        Hint: chronicle status <run> shows what it waits for
        $ retry <run> build/after -> 2
        Error: `build/after` has not begun: nothing was tried yet
        Hint: chronicle status <run> shows what it waits for
        $ retry <run> build/asks/typo -> 2
        Error: `build/asks/typo` does not wait for a person; waiting: `build/asks/work`
        Hint: chronicle status <run> shows what it waits for
        $ skip <run> build/typo -> 2
        Error: there is no step `build/typo`; there are `build/schema`, `build/asks`, `build/fails`, `build/after`
        Hint: chronicle status <run> shows what it waits for
        $ skip <run> build/schema/work -> 2
        Error: nobody is inside of `build/schema` (done)
        Hint: chronicle status <run> shows what it waits for
        $ approve <run> build/asks -> 2
        Error: g1 is a question: `answer` answers it
        Hint: chronicle status <run> shows what it waits for
        $ approve <run> build/typo -> 2
        Error: no gate waits at `build/typo`
        Hint: chronicle status <run> shows what waits
        $ reject <run> build/asks no -> 2
        Error: g1 is a question: `answer` answers it
        Hint: chronicle status <run> shows what it waits for
        $ budget <run> +500 tokens --place build/asks -> 2
        Error: `build/asks` has no limit on tokens that could be raised
        Hint: chronicle status <run> shows what it waits for
        $ cancel <run> build -> 2
        Error: `build` is a phase, and only a run or a step of a pool can be cancelled
        Hint: chronicle cancel <run> ends the run; chronicle skip <run> build goes on without the phase
        $ cancel <run> build/typo -> 2
        Error: there is no step `build/typo`; there are `build/schema`, `build/asks`, `build/fails`, `build/after`
        Hint: chronicle status <run> shows what it waits for
        $ answer <run> build/typo x -> 2
        Error: no gate waits at `build/typo`
        Hint: chronicle status <run> shows what waits
        $ answer <run> build/asks x -> 0
        Run <run>: answered g1 at `build/asks/work`.
        Next: chronicle resume <run>
        $ skip <run> build/fails -> 0
        Run <run>: `build/fails` is skipped: it counts as done, and its work is not merged.
        Next: chronicle resume <run>
        $ cancel <run> build/after -> 0
        Run <run>: `build/after` is given up.
        Next: chronicle resume <run>
    "#]].assert_eq(&session.redact(&told));
}
