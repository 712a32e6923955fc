//! Pools and races in workflow files: what they become, and what is told about them.

#![expect(clippy::expect_used, reason = "a helper of a test may fail it")]

use std::fmt::Write as _;

use chronicle_core::base::ids::PhaseId;
use chronicle_core::definition::workflow::{
    Isolation, Judge, MergeOrder, Phase, PhaseKind, Workflow, expand_pools, judge_steps,
    parse_steps, steps_from_json,
};
use expect_test::expect;
use serde_json::json;

use super::workflow::{load_with, rendered};

/// What is told about a file, without that this version cannot run it.
fn told(text: &str) -> String {
    told_with(text, &[])
}

fn told_with(text: &str, others: &[(&str, &str)]) -> String {
    let all = rendered(&load_with(text, others));
    all.lines()
        .filter(|line| !line.contains("not-supported-yet"))
        .fold(String::new(), |all, it| all + it + "\n")
}

fn workflows(text: &str, others: &[(&str, &str)]) -> Vec<Workflow> {
    assert_eq!(told_with(text, others), "");
    load_with(text, others).workflows
}

fn phase<'w>(workflow: &'w Workflow, id: &str) -> &'w Phase {
    workflow.phase(&PhaseId::from(id)).expect("the phase")
}

#[test]
fn a_pool_says_all_of_it() {
    let text = "\
verify: make test
phases:
  - id: build
    run: pool
    slots: 2
    merge: {order: in_order, verify: true}
    worktree: {setup: npm ci, carry: [.env, 'config/*.local']}
    pause_between: true
    instructions: Build it.
    next: [done]
    on: {conflict: resolve, gaps: resolve}
    steps:
      - {id: api, name: The API, files: {create: a.rs, change: [b.rs, c.rs]}}
      - {id: web, depends_on: api, files: [d.ts], owner: {team: web, size: 3}}
  - {id: resolve, next: [done]}
";
    let all = workflows(text, &[]);
    let pool = phase(&all[0], "build");
    assert_eq!((pool.run, pool.slots(), pool.isolation), (PhaseKind::Pool, 2, Isolation::Worktree));
    assert_eq!((pool.merge.order, pool.merge.verify), (MergeOrder::InOrder, true));
    assert_eq!(pool.worktree.setup, ["npm ci"]);
    assert_eq!(pool.worktree.carry, [".env", "config/*.local"]);
    assert!(pool.pause_between);
    assert_eq!(pool.steps[0].files.create, ["a.rs"]);
    assert_eq!(pool.steps[1].files.change, ["d.ts"]);
    assert_eq!(pool.steps[1].more["owner"], json!({"team": "web", "size": "3"}));
    let frozen = serde_json::to_value(&all[0]).expect("it is JSON");
    let thawed: Workflow = serde_json::from_value(frozen).expect("it is read again");
    assert_eq!(thawed, all[0]);
}

#[test]
fn what_holds_if_a_pool_says_nothing() {
    let of = |fields: &str| {
        let text = format!("phases: {{p: {{run: pool, steps: [{{id: s}}], {fields}}}}}");
        let all = workflows(&text, &[]);
        let pool = phase(&all[0], "p");
        (pool.slots(), pool.isolation, pool.merge.order)
    };
    assert_eq!(of(""), (3, Isolation::Worktree, MergeOrder::Completion));
    assert_eq!(of("slots: 1"), (1, Isolation::Shared, MergeOrder::Completion));
    assert_eq!(
        of("slots: 1, isolation: worktree"),
        (1, Isolation::Worktree, MergeOrder::Completion)
    );
    assert_eq!(of("slots: 64, merge: in_order"), (64, Isolation::Worktree, MergeOrder::InOrder));
}

#[test]
fn steps_come_from_one_source() {
    insta::assert_snapshot!(told("phases: {p: {run: pool}}"), @"error[no-steps] w.yaml:1:14: `p` has no steps, and no phase before it plans any (hint: add `steps:` or `steps_from:`, or `produces: steps` to the phase that plans them)");
    insta::assert_snapshot!(told("phases: {p: {run: pool, steps: []}}"), @"error[no-steps] w.yaml:1:14: `p` has no steps, and no phase before it plans any (hint: add `steps:` or `steps_from:`, or `produces: steps` to the phase that plans them)");
    insta::assert_snapshot!(told("phases: [{id: p, run: pool}, {id: q, produces: steps}]"), @r"
    error[no-steps] w.yaml:1:18: `p` has no steps, and no phase before it plans any (hint: add `steps:` or `steps_from:`, or `produces: steps` to the phase that plans them)
    warning[unused-steps] w.yaml:1:38: no pool takes the steps that `q` plans (hint: add a phase with `run: pool` after it, without `steps`)
    ");
    insta::assert_snapshot!(told("phases: {p: {run: pool, steps: [{id: a}], steps_from: plan.json}}"), @"error[conflicting-fields] w.yaml:1:43: `steps` and `steps_from` are two sources of steps (hint: remove one of them)");
    for sound in [
        "phases: {p: {run: pool, steps_from: out/plan.json}}",
        "phases: [{id: plan, produces: steps}, {id: look}, {id: p, run: pool}]",
        "phases: {plan: {produces: steps, on: {complete: p}, next: [p]}, p: {run: pool}}",
    ] {
        assert_eq!(told(sound), "", "{sound}");
    }
    insta::assert_snapshot!(told("phases: [{id: plan, produces: steps}, {id: p, run: pool, steps: [{id: a}]}]"), @"warning[unused-steps] w.yaml:1:21: no pool takes the steps that `plan` plans (hint: add a phase with `run: pool` after it, without `steps`)");
}

#[test]
fn steps_that_cannot_be() {
    let long = "x".repeat(101);
    let text = format!(
        "\
phases:
  p:
    run: pool
    steps:
      - {{id: a/b}}
      - {{id: ''}}
      - {{id: .}}
      - {{id: ..}}
      - {{id: \"a\\u0007b\"}}
      - {{id: {long}}}
      - {{id: one, depends_on: [one, tow]}}
      - {{id: one}}
      - {{id: two, dependson: one}}
      - {{id: three, name: \"a\\u202Eb\", file: x}}
      - 7
"
    );
    insta::assert_snapshot!(told(&text), @r"
    error[bad-id] w.yaml:5:14: the id `a/b` contains `/`, which separates places
    error[missing-id] w.yaml:6:9: a step without an id (hint: add `id:`)
    error[empty-value] w.yaml:6:14: `id` is empty
    error[bad-id] w.yaml:7:14: the id `.` is no name: paths use it for a folder itself, or the one above
    error[bad-id] w.yaml:8:14: the id `..` is no name: paths use it for a folder itself, or the one above
    error[bad-id] w.yaml:9:14: the id `a�b` contains a control character
    error[bad-id] w.yaml:10:14: the id `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` is longer than 100 bytes
    error[step-circle] w.yaml:11:32: `one` waits for itself
    error[unknown-step] w.yaml:11:37: no step is called `tow` (hint: did you mean `two`?)
    error[duplicate-id] w.yaml:12:14: another step is called `one`
    error[unknown-field] w.yaml:13:19: a step has no field `dependson` (hint: did you mean `depends_on`?)
    error[bad-name] w.yaml:14:14: the name `a�b` contains a control character
    error[unknown-field] w.yaml:14:39: a step has no field `file` (hint: did you mean `files`?)
    error[wrong-type] w.yaml:15:9: `steps` must be a map, not `7`
    ");
    let many: String = (0..501).fold(String::new(), |all, it| format!("{all}\n  - {{id: s{it}}}"));
    let many = format!(
        "phases: [{{id: p, run: pool, steps: [{}]}}]",
        many.replace("\n  - ", ", ").trim_start_matches(", ")
    );
    assert!(told(&many).contains("error[too-many-steps]"), "{}", told(&many));
    let large = format!(
        "phases: {{p: {{run: pool, steps: [{{id: a, description: {}}}]}}}}",
        "x".repeat(8193)
    );
    insta::assert_snapshot!(told(&large), @"error[too-large] w.yaml:1:38: the description is larger than 8 KiB");
}

#[test]
fn folders_and_merges_that_cannot_be() {
    let text = "\
phases:
  - {id: a, run: pool, steps: [{id: s}], isolation: shared}
  - {id: b, run: pool, steps: [{id: s}], slots: 0}
  - {id: c, run: pool, steps: [{id: s}], slots: 65}
  - {id: d, run: pool, steps: [{id: s}], merge: {verify: true}}
  - {id: e, run: pool, steps: [{id: s}], slots: 1, worktree: {setup: make}}
  - {id: f, run: pool, steps: [{id: s}], worktree: {carry: [/etc/passwd, ../x, ~/x, a/../../b, .chronicle/runs]}}
  - {id: g, run: pool, steps_from: /plan.json}
  - {id: h, run: pool, steps: [{id: s}], merge: squash}
  - {id: i, run: race, workers: [claude, codex], isolation: shared}
  - {id: j, run: pool, steps: [{id: s}], on: {conflict: nowhere}}
  - {id: k, run: pool, steps: [{id: s}], on: {conflict: a, gaps: b}}
";
    insta::assert_snapshot!(told(text), @r"
    error[shared-folder] w.yaml:2:42: work that is done at the same time cannot share the project's files: nobody could tell who wrote what (hint: take `isolation` out, or set `slots: 1`)
    error[zero-limit] w.yaml:3:49: `slots` is 0: nothing could happen (hint: leave it out for the default)
    error[too-many-slots] w.yaml:4:49: `slots` is at most 64, not 65 (hint: leave it out for 3)
    error[nothing-to-verify] w.yaml:5:42: `merge.verify` has nothing to run: neither the phase nor the workflow has `verify` (hint: add `verify:` to the phase)
    error[misplaced-field] w.yaml:6:52: `worktree` does nothing here: the phase works on the project's own files (hint: add `isolation: worktree`, or remove it)
    error[bad-path] w.yaml:7:61: `/etc/passwd` must be relative to the project
    error[bad-path] w.yaml:7:74: `../x` leads out of the project
    error[bad-path] w.yaml:7:80: `~/x` must be relative to the project
    error[bad-path] w.yaml:7:85: `a/../../b` leads out of the project
    error[bad-path] w.yaml:7:96: `.chronicle/runs` is Chronicle's own record of runs
    error[bad-path] w.yaml:8:36: `/plan.json` must be relative to the project
    error[unknown-value] w.yaml:9:49: `merge` must be one of `completion`, `in_order`, not `squash`
    error[shared-folder] w.yaml:10:50: work that is done at the same time cannot share the project's files: nobody could tell who wrote what (hint: take `isolation` out)
    error[unknown-target] w.yaml:11:57: no phase is called `nowhere`
    error[bad-conflict] w.yaml:12:42: `a` cannot resolve conflicts: it would begin steps of its own (hint: name a worker phase, or leave it out: then a person is asked)
    ");
    let verified =
        "verify: make\nphases: {a: {run: pool, steps: [{id: s}], merge: {verify: true}}}";
    assert_eq!(told(verified), "");
}

#[test]
fn fields_of_pools_elsewhere() {
    let text = "\
phases:
  a:
    steps: [{id: s}]
    steps_from: plan.json
    slots: 2
    merge: in_order
    pause_between: true
    workers: [claude, codex]
    judge: person
    worktree: {setup: make}
    next: [b]
  b: {run: race, workers: [claude, codex], slots: 2, merge: in_order, steps: [{id: s}], workflow: x, commands: make, next: [c]}
  c: {run: pool, steps: [{id: s}], workers: [claude, codex], judge: a, session: continue, produces: steps, next: [d]}
  d: {run: pool, steps: [{id: s}], workflow: w2, instructions: hm, agent: claude, env: {A: b}, commands: make, next: [e]}
  e: {run: pool, steps: [{id: s}], commands: make, agent: claude, once: true, requires: changed_files}
";
    let others = [("w2", "phases: {x: }"), ("x", "phases: {x: }")];
    insta::assert_snapshot!(told_with(text, &others), @r"
    error[misplaced-field] w.yaml:3:5: `steps` is for `run: pool` only
    error[misplaced-field] w.yaml:4:5: `steps_from` is for `run: pool` only
    error[conflicting-fields] w.yaml:4:5: `steps` and `steps_from` are two sources of steps (hint: remove one of them)
    error[misplaced-field] w.yaml:5:5: `slots` is for `run: pool` only
    error[misplaced-field] w.yaml:6:5: `merge` is for `run: pool` only
    error[misplaced-field] w.yaml:7:5: `pause_between` is for `run: pool` only
    error[misplaced-field] w.yaml:8:5: `workers` is for `run: race` only
    error[misplaced-field] w.yaml:9:5: `judge` is for `run: race` only
    error[misplaced-field] w.yaml:10:5: `worktree` does nothing here: the phase works on the project's own files (hint: add `isolation: worktree`, or remove it)
    error[misplaced-field] w.yaml:12:44: `slots` is for `run: pool` only
    error[misplaced-field] w.yaml:12:54: `merge` is for `run: pool` only
    error[misplaced-field] w.yaml:12:71: `steps` is for `run: pool` only
    error[misplaced-field] w.yaml:12:89: `workflow` is for `run: workflow` only
    error[misplaced-field] w.yaml:12:102: `commands` is for `run: command` only
    error[misplaced-field] w.yaml:13:36: `workers` is for `run: race` only
    error[misplaced-field] w.yaml:13:62: `judge` is for `run: race` only
    error[misplaced-field] w.yaml:13:72: `session` does nothing on a phase with `run: pool` (hint: no step can use it: remove it)
    error[misplaced-field] w.yaml:13:91: `produces` does nothing on a phase with `run: pool` (hint: no step can use it: remove it)
    error[misplaced-field] w.yaml:14:50: `instructions` does nothing on a phase with `run: pool` (hint: put it on the phases of the workflow inside)
    error[misplaced-field] w.yaml:14:68: `agent` does nothing on a phase with `run: pool` (hint: put it on the phases of the workflow inside)
    error[misplaced-field] w.yaml:14:83: `env` does nothing on a phase with `run: pool` (hint: put it on the phases of the workflow inside)
    error[misplaced-field] w.yaml:14:96: `commands` does nothing on a phase with `run: pool` (hint: put it on the phases of the workflow inside)
    error[misplaced-field] w.yaml:15:52: `agent` does nothing on a phase with `run: pool` (hint: no agent works there: remove it)
    error[misplaced-field] w.yaml:15:79: `requires` does nothing on a phase with `run: pool` (hint: no agent works there: remove it)
    ");
}

#[test]
fn races_that_cannot_be() {
    let many = vec!["claude"; 17].join(", ");
    let text = format!(
        "\
phases:
  - {{id: a, run: race}}
  - {{id: b, run: race, workers: [claude]}}
  - {{id: c, run: race, workers: [{many}]}}
  - {{id: d, run: race, workers: [claude, codex], judge: chose}}
  - {{id: e, run: race, workers: [claude, codex], judge: make}}
  - {{id: f, run: race, workers: [claude, codex], judge: f}}
  - {{id: g, run: race, workers: [claude, codex], judge: {{commands: []}}}}
  - {{id: h, run: race, workers: [{{id: x}}, {{id: x}}, {{id: a/b}}]}}
  - {{id: i, run: race, workers: [claude, codex], fallback: [codex]}}
  - {{id: choose, next: [make]}}
  - {{id: make, commands: make}}
"
    );
    insta::assert_snapshot!(told(&text), @r"
    error[race-workers] w.yaml:2:10: `a` is a race of 0: it needs from 2 to 16 workers (hint: write `workers: [claude, pi]`)
    error[race-workers] w.yaml:3:24: `b` is a race of 1: it needs from 2 to 16 workers (hint: write `workers: [claude, pi]`)
    error[race-workers] w.yaml:4:24: `c` is a race of 17: it needs from 2 to 16 workers (hint: write `workers: [claude, pi]`)
    error[unknown-judge] w.yaml:5:50: no phase is called `chose`, which is to judge (hint: did you mean `choose`?)
    error[unknown-judge] w.yaml:6:50: `make` cannot judge: no worker of its own does it (hint: name a worker phase, or write `judge: person`)
    error[unknown-judge] w.yaml:7:50: `f` cannot judge itself (hint: name a worker phase, or write `judge: person`)
    error[no-commands] w.yaml:8:50: `judge` names no commands (hint: write `judge: {commands: [make test]}`)
    error[duplicate-id] w.yaml:9:48: another worker is called `x`
    error[bad-id] w.yaml:9:57: the id `a/b` contains `/`, which separates places
    error[repeated-agent] w.yaml:10:50: `codex` is the agent that works first in this phase (hint: name another agent, or another model of it, such as `claude:MODEL`)
    ");
}

#[test]
fn pools_run_workflows_that_there_are() {
    let text = "phases: {p: {run: pool, steps: [{id: s}], workflow: nowhere}}";
    insta::assert_snapshot!(told(text), @"error[workflow-not-found] w.yaml:1:53: no workflow is called `nowhere` (hint: `chronicle list` shows the workflows)");
    let others = [("inner", "phases: {p: {run: pool, steps: [{id: s}], workflow: inner}}")];
    let text = "phases: {p: {run: pool, steps: [{id: s}], workflow: inner}}";
    assert!(told_with(text, &others).contains("`inner` would run itself: `inner` → `inner`"));
}

#[test]
fn no_pool_is_inside_of_a_step() {
    let others = [
        ("fans", "phases: {fan: {run: pool, steps: [{id: s}]}}"),
        ("races", "phases: {run: {run: race, workers: [x, y]}}"),
        ("deep", "phases: {plain: {next: [below]}, below: {workflow: fans}}"),
        ("sound", "phases: {plain: {}}"),
    ];
    let text = "\
phases:
  - {id: a, run: pool, workflow: fans, steps: [{id: s}]}
  - {id: b, run: pool, workflow: races, steps: [{id: s}]}
  - {id: c, run: pool, workflow: deep, steps: [{id: s}]}
  - {id: d, run: pool, workflow: sound, steps: [{id: s}]}
  - {id: e, run: race, workers: [x, y], on: {conflict: mend}}
  - {id: f, workflow: fans}
  - {id: mend, workflow: deep}
";
    expect![[r#"
        error[nested-pool] w.yaml:2:24: `a` runs `fans` for each step, and phase `fan` of `fans` is a pool: no pool or race can be inside of a step (hint: put its steps into the outer pool, with `depends_on`)
        error[nested-pool] w.yaml:3:24: `b` runs `races` for each step, and phase `run` of `races` is a race: no pool or race can be inside of a step (hint: have one worker do it in the step, or run the race in a phase of its own)
        error[nested-pool] w.yaml:4:24: `c` runs `deep` for each step, and phase `fan` of `fans` is a pool: no pool or race can be inside of a step (hint: put its steps into the outer pool, with `depends_on`)
        error[nested-pool] w.yaml:6:41: `e` runs `deep` for conflicts, and phase `fan` of `fans` is a pool: no pool or race can be inside of a step (hint: name a worker phase, or leave it out: then a person is asked)
    "#]].assert_eq(&told_with(text, &others));
}

#[test]
fn edges_that_a_pool_never_takes_are_told() {
    let text = "\
phases:
  - {id: a, run: pool, steps: [{id: s}], outcomes: [odd], on: {fail: z, odd: z, pass: z, timeout: z, gaps: z, conflict: z, rejected: z, unverified: z}}
  - {id: b, run: pool, slots: 1, steps: [{id: s}], approval: before, verify: [t], on: {conflict: z, rejected: z, unverified: z, complete: z}}
  - {id: c, run: race, workers: [x, y], on: {crash: z, gaps: z, conflict: z}}
  - {id: z}
";
    expect![[r#"
        warning[unsent-outcome] w.yaml:2:64: `a` never ends with `fail`: it ends with `complete` or `gaps`
        warning[unsent-outcome] w.yaml:2:73: `a` never ends with `odd`: it ends with `complete` or `gaps`
        warning[unsent-outcome] w.yaml:2:81: `a` never ends with `pass`: it ends with `complete` or `gaps`
        warning[unsent-outcome] w.yaml:2:90: `a` never ends with `timeout`: it ends with `complete` or `gaps`
        warning[unsent-outcome] w.yaml:2:124: `a` never ends with `rejected`: it needs no approval
        warning[unsent-outcome] w.yaml:2:137: `a` never ends with `unverified`: it has no `verify`
        warning[unsent-outcome] w.yaml:3:88: `b` never ends with `conflict`: its steps work on the project's own files, and nothing is merged
        warning[unsent-outcome] w.yaml:4:46: `c` never ends with `crash`: it ends with `complete` or `gaps`
    "#]].assert_eq(&told(text));
}

#[test]
fn slips_in_steps_are_told() {
    let text = "\
phases:
  - id: a
    run: pool
    worktree: {carry: [.git/config, sub/.GIT/hooks, .gitignore.local]}
    steps:
      - {id: s, others': x, 'de: p': y, dependsOn: [t], owner: z}
      - {id: t}
";
    expect![[r#"
        error[bad-path] w.yaml:4:24: `.git/config` is git's own, and every work tree has a repository of its own
        error[bad-path] w.yaml:4:37: `sub/.GIT/hooks` is git's own, and every work tree has a repository of its own
        error[unknown-field] w.yaml:6:17: a step has no field `others'`
        error[unknown-field] w.yaml:6:29: a step has no field `de: p`
        error[unknown-field] w.yaml:6:41: a step has no field `dependsOn` (hint: did you mean `depends_on`?)
    "#]].assert_eq(&told(text));
    let wrong = steps_from_json(&json!([{"id": "s", "others'": 1}])).unwrap_err();
    expect!["step `s` has the field `others'`, which is no plain name: is a sign left over?"]
        .assert_eq(&wrong.join("\n"));
    let steps = steps_from_json(&json!([{"id": "s"}, {"id": "t", "dependsOn": ["s"]}])).unwrap();
    assert_eq!(steps[1].depends_on, ["s"]);
}

#[test]
fn keys_of_steps_are_their_own() {
    let text = "phases: [{id: a, run: pool, steps: [{id: s}]}, {id: b, workflow: w.a}]";
    insta::assert_snapshot!(told_with(text, &[("w.a", "phases: {x: }")]), @"error[taken-key] w.yaml:1:11: `w.a`, as work at this phase is called, is taken (hint: give the phase another id)");
    let text =
        "phases: [{id: a, run: race, workers: [x, y]}, {id: a.x, run: pool, steps: [{id: s}]}]";
    insta::assert_snapshot!(told(text), @"error[taken-key] w.yaml:1:48: `w.a.x`, as work at this phase is called, is taken (hint: give the phase another id)");
}

#[test]
fn a_race_names_its_workers() {
    let text = "\
phases:
  - id: try
    run: race
    judge: choose
    workers:
      - claude
      - {agent: claude, model: opus}
      - {persona: mason, thinking: high}
      - {persona: You are quick. You are bold.}
      - {id: claude-2, agent: 'command:./mine --fast'}
  - {id: choose, next: [done]}
";
    let all = workflows(text, &[]);
    let race = phase(&all[0], "try");
    let ids: Vec<&str> = race.workers.iter().map(|racer| racer.id.as_str()).collect();
    assert_eq!(ids, ["claude", "claude-3", "mason", "worker-4", "claude-2"]);
    assert_eq!(race.judge, Some(Judge::Phase(PhaseId::from("choose"))));
    assert_eq!(race.isolation, Isolation::Worktree);
    let person = workflows("phases: {a: {run: race, workers: [x, y]}}", &[]);
    assert_eq!(phase(&person[0], "a").judge, Some(Judge::Person));
}

/// Every workflow after expansion: key, phase, kind and what tells it apart.
fn expanded(mut all: Vec<Workflow>) -> String {
    expand_pools(&mut all);
    let once = all.clone();
    expand_pools(&mut all);
    assert_eq!(all, once, "twice is no more than once");
    all.iter().fold(String::new(), |mut said, workflow| {
        for it in &workflow.phases {
            let agent = it.agent.as_deref().unwrap_or("-");
            let inner = it.workflow.as_deref().unwrap_or("-");
            let edges: Vec<&str> =
                it.next.iter().chain(it.on.values()).map(PhaseId::as_str).collect();
            let (key, id, run, commands) = (&workflow.key, &it.id, it.run, &it.commands);
            writeln!(said, "{key} {id}: {run:?} {agent} {inner} {edges:?} {commands:?}")
                .expect("a string takes it");
        }
        said
    })
}

#[test]
fn pools_become_workflows_of_their_steps() {
    let text = "\
agent: claude
verify: make all
cleanup: make clean
phases:
  - {id: a, run: pool, steps: [{id: s}], agent: codex, approval: after, budget: {usd: 1}, on: {conflict: fix}, merge: {verify: true}, next: [b]}
  - {id: b, run: pool, steps: [{id: s}], commands: make, cleanup: make tidy, on: {conflict: fix}, next: [c]}
  - {id: c, run: pool, steps: [{id: s}], workflow: inner, verify: make c, merge: {verify: true}, on: {conflict: human_intervention}}
  - {id: fix, next: [a, done], on: {fail: human_intervention, gaps: b}}
";
    let all = workflows(text, &[("inner", "phases: {x: }")]);
    insta::assert_snapshot!(expanded(all.clone()), @r#"
    w a: Pool codex w.a ["b", "fix"] []
    w b: Pool - w.b ["c", "fix"] ["make"]
    w c: Pool - inner ["fix", "human_intervention"] []
    w fix: Worker - - ["a", "done", "human_intervention", "b"] []
    inner x: Worker - - [] []
    w.a work: Worker codex - [] []
    w.fix fix: Worker - - ["done", "human_intervention"] []
    w.a.verify verify: Command - - [] ["make all"]
    w.b work: Command - - [] ["make"]
    w.c.verify verify: Command - - [] ["make c"]
    "#);
    let mut all = all;
    expand_pools(&mut all);
    let of = |key: &str| all.iter().find(|it| it.key == key).expect("it was added");
    let work = &of("w.a").phases[0];
    assert!(work.budget.is_none() && !work.approval.is_after() && work.verify.is_empty());
    assert_eq!(
        (of("w.a").agent.as_deref(), &of("w.a").cleanup[..]),
        (Some("claude"), &["make clean".to_owned()][..])
    );
    assert!(of("w.b").cleanup.is_empty(), "the pool has its own");
    assert!(of("w.a").verify.is_empty() && of("w.a").budget.is_none());
}

#[test]
fn races_become_workflows_of_their_workers() {
    let text = "\
phases:
  - {id: a, run: race, workers: [x, {id: two, persona: You are two.}], agent: mine, judge: pick, next: [b]}
  - {id: b, run: race, workers: [x, y], judge: {commands: make test}, next: [done]}
  - {id: pick, next: [b]}
";
    insta::assert_snapshot!(expanded(workflows(text, &[])), @r#"
    w a: Race mine - ["b"] []
    w b: Race - - ["done"] []
    w pick: Worker - - ["b"] []
    w.a.x work: Worker x - [] []
    w.a.two work: Worker mine - [] []
    w.a.judge pick: Worker - - ["done", "done", "done", "done", "done", "done", "done", "done"] []
    w.b.x work: Worker x - [] []
    w.b.y work: Worker y - [] []
    w.b.judge judge: Command - - [] ["make test"]
    "#);
}

#[test]
fn plans_are_read_in_every_shape() {
    let steps = json!([
        {"id": "a", "name": "A", "description": "Do a.", "files": {"create": ["x"], "change": "y"}},
        {"id": 2, "depends_on": "a", "files": ["z"], "owner": {"team": 1}, "name": null},
    ]);
    let listed = steps_from_json(&steps).expect("a list");
    assert_eq!(listed, steps_from_json(&json!({"version": 1, "steps": steps})).expect("a plan"));
    assert_eq!((listed[1].id.as_str(), &listed[1].depends_on[..]), ("2", &["a".to_owned()][..]));
    assert_eq!(
        (&listed[0].files.change[..], &listed[1].files.change[..]),
        (&["y".to_owned()][..], &["z".to_owned()][..])
    );
    assert_eq!(listed[1].more["owner"], json!({"team": 1}));
    let quest = json!({"id": "q", "title": "A quest", "status": "in_progress", "steps": [
        {"id": "a", "name": "A", "dependsOn": [], "filesToCreate": ["x"], "filesToModify": ["y"], "status": "pending", "observablesSatisfied": ["o"]},
        {"id": "b", "name": "B", "dependsOn": ["a"], "exportName": "b"},
    ]});
    let quest = steps_from_json(&quest).expect("a quest");
    assert_eq!(
        (&quest[0].files.create[..], &quest[1].depends_on[..]),
        (&["x".to_owned()][..], &["a".to_owned()][..])
    );
    assert_eq!(quest[0].more.keys().collect::<Vec<_>>(), ["observablesSatisfied", "status"]);
}

#[test]
fn plans_that_cannot_be() {
    let wrong = json!([
        {"name": "nobody"},
        {"id": ".."},
        {"id": "a/b"},
        {"id": ["x"]},
        "text",
        {"id": "a", "depends_on": [{"b": 1}], "dependsOn": ["x"], "files": {"modify": ["x"]}, "dependsUpon": [], "filesToModify": 7.5},
        {"id": "b", "description": ["x"], "depnds_on": ["a"]},
    ]);
    let said = parse_steps(&wrong).expect_err("none of it").join("\n");
    insta::assert_snapshot!(said, @r"
    step 1 has no `id`
    step 4 must have a text as `id`
    step 5 must be a map of fields
    step `a` has `modify` in `files`, which has only `create` and `change`
    step `a` says the same with `dependsOn` and `depends_on`: remove one
    step `a` has no field `dependsUpon`: did you mean `depends_on`?
    step `b` must have a text as `description`
    step `b` has no field `depnds_on`: did you mean `depends_on`?
    ");
    let wrong = json!([
        {"id": ".."},
        {"id": "a/b"},
        {"id": "a", "depends_on": ["a", "c", "d"]},
        {"id": "b", "depends_on": ["c"]},
        {"id": "c", "depends_on": ["b"]},
        {"id": "c", "name": "x\u{7}"},
        {"id": "e", "description": "x".repeat(8193)},
    ]);
    let said = steps_from_json(&wrong).expect_err("none of it").join("\n");
    insta::assert_snapshot!(said, @r"
    step `..`: the id `..` is no name: paths use it for a folder itself, or the one above
    step `a/b`: the id `a/b` contains `/`, which separates places
    step `c`: another step is called `c`
    step `c`: the name `x�` contains a control character
    step `e`: the description is larger than 8 KiB
    step `a`: `a` waits for itself
    step `a`: no step is called `d`
    step `a`: steps that wait for each other never begin: `a`, `b`, `c`
    ");
    for (plan, why) in [
        (json!([]), "a plan needs at least one step"),
        (json!({"stpes": []}), "a plan is `{\"steps\": […]}` or a list of steps"),
        (json!("steps"), "a plan is `{\"steps\": […]}` or a list of steps"),
        (json!(vec![json!({"id": "a"}); 501]), "more than 500 steps"),
        (json!([{"id": "a", "note": "x".repeat(256 * 1024)}]), "the plan is larger than 256 KiB"),
    ] {
        assert_eq!(steps_from_json(&plan).expect_err("it is wrong"), [why]);
    }
}

#[test]
fn new_steps_may_wait_for_those_that_are() {
    let plan = json!([{"id": "b", "depends_on": ["a"]}, {"id": "c", "depends_on": ["b", "z"]}]);
    let steps = parse_steps(&plan).expect("they are read");
    assert_eq!(judge_steps(&steps, &|id| id == "a"), ["step `c`: no step is called `z`"]);
    assert_eq!(judge_steps(&steps, &|id| ["a", "z"].contains(&id)), [""; 0]);
}
