//! Workflow files: what is told about them.

use chronicle_core::definition::workflow::unsupported;

use super::workflow::{load_with, problems, rendered};

#[test]
fn unknown_fields_name_what_was_meant() {
    let text = "nmae: x\ncolour: red\nlimits: {retires: 1}\nphases:\n  - id: a\n    instrctions: hm\n    tools: {whitelsit: a}\n";
    insta::assert_snapshot!(problems(text), @r"
    error[unknown-field] w.yaml:1:1: a workflow has no field `nmae` (hint: did you mean `name`?)
    error[unknown-field] w.yaml:2:1: a workflow has no field `colour`
    error[unknown-field] w.yaml:3:10: `limits` has no field `retires` (hint: did you mean `retries`?)
    error[unknown-field] w.yaml:6:5: a phase has no field `instrctions` (hint: did you mean `instructions`?)
    error[unknown-field] w.yaml:7:13: `tools` has no field `whitelsit` (hint: did you mean `whitelist`?)
    ");
}

#[test]
fn wrong_types_are_all_told() {
    let text = "\
name: [a]
env: {A: [1]}
show: everybody
loopable: maybe
limits: {retries: many, idle: soon, loop: [], nudges: -1}
phases:
  - id: a
    run: wroker
    next: {b: c}
    tools: Read
    once: 7
    approval: later
    thinking: hihg
    name: ''
  - 17
  - [b]
";
    insta::assert_snapshot!(problems(text), @r"
    error[wrong-type] w.yaml:1:7: `name` must be a text, not a list
    error[wrong-type] w.yaml:2:10: `A` must be a text, not a list
    error[unknown-value] w.yaml:3:7: `show` must be one of `user`, `workflows`, not `everybody`
    error[wrong-type] w.yaml:4:11: `loopable` must be `true` or `false`, not `maybe`
    error[wrong-type] w.yaml:5:19: `retries` must be a whole number, not `many`
    error[wrong-type] w.yaml:5:31: `idle` must be a time like `90s`, `10m` or `1h`, or `none`, not `soon`
    error[wrong-type] w.yaml:5:43: `loop` must be a whole number or `{count: edge, max: 3}`, not a list
    error[wrong-type] w.yaml:5:55: `nudges` must be a whole number, not `-1`
    error[unknown-value] w.yaml:8:10: `run` must be one of `worker`, `inline`, `command`, `pool`, `race`, `workflow`, `human`, not `wroker` (hint: did you mean `worker`?)
    error[wrong-type] w.yaml:9:11: `next` must be a list of texts, not a map
    error[wrong-type] w.yaml:10:12: `tools` must be a map, not `Read`
    error[misplaced-field] w.yaml:11:5: `once` is for `run: command` only
    error[wrong-type] w.yaml:11:11: `once` must be `true` or `false`, not `7`
    error[unknown-value] w.yaml:12:15: `approval` must be one of `none`, `before`, `after`, `both`, `false`, `true`, not `later`
    error[unknown-value] w.yaml:13:15: `thinking` must be one of `off`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, not `hihg` (hint: did you mean `high`?)
    error[empty-value] w.yaml:14:11: `name` is empty
    error[phase-file] w.yaml:15:5: there is no phase file `17` here (hint: write the phase inline: `id:`, `instructions:`)
    error[wrong-type] w.yaml:16:5: a phase must be a map of fields, not a list
    ");
}

#[test]
fn phases_that_are_none() {
    for text in ["name: a", "phases:", "phases: []", "states: {}"] {
        let told = problems(text);
        assert!(
            told.starts_with("error[no-phases] w.yaml:1:1: a workflow without phases"),
            "{told}"
        );
    }
    insta::assert_snapshot!(problems("phases: 7\n"), @"error[wrong-type] w.yaml:1:9: `phases` must be a list or a map");
    insta::assert_snapshot!(problems("phases: [plan.md, {name: b}]\n"), @r"
    error[phase-file] w.yaml:1:10: there is no phase file `plan.md` here (hint: write the phase inline: `id:`, `instructions:`)
    error[missing-id] w.yaml:1:19: a phase without an id (hint: add `id:`)
    ");
    insta::assert_snapshot!(problems("phases: {a: }\nstates: {b: }\n"), @"error[conflicting-fields] w.yaml:2:1: phases are said twice, the second time as `states`");
}

#[test]
fn ids_that_are_none() {
    let long = "x".repeat(101);
    let text = format!(
        "phases:\n  '': \n  a/b:\n  \"c\\ed\": \n  {long}: \n  ' e':\n  f: {{id: g, next: h/i}}\n"
    );
    insta::assert_snapshot!(problems(&text), @r"
    error[bad-id] w.yaml:2:3: the id `` is empty
    error[bad-id] w.yaml:3:3: the id `a/b` contains `/`, which separates places
    error[bad-id] w.yaml:4:3: the id `c�d` contains a control character
    error[bad-id] w.yaml:5:3: the id `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` is longer than 100 bytes
    error[bad-id] w.yaml:6:3: the id ` e` begins or ends with a space
    error[conflicting-fields] w.yaml:7:11: `f` is called `g` here (hint: remove `id`)
    error[bad-id] w.yaml:7:20: the id `h/i` contains `/`, which separates places
    ");
    insta::assert_snapshot!(problems("phases: [{id: a}, {id: b}, {id: a}]\ninitial: c"), @r"
    error[duplicate-id] w.yaml:1:33: another phase is called `a`
    error[unknown-initial] w.yaml:2:10: no phase is called `c`, where it is to begin
    ");
}

#[test]
fn phases_that_could_never_work_are_errors() {
    let text = "\
phases:
  - {id: a, run: command}
  - {id: b, run: workflow}
  - {id: c, run: worker, commands: make, slots: 2}
  - {id: d, tools: {allow: read, deny: bash}}
  - {id: e, commands: make, next: [a, b]}
  - {id: f, commands: make, next: [a, b], on: {complete: a}}
";
    insta::assert_snapshot!(problems(text), @r"
    error[no-commands] w.yaml:2:10: `a` runs commands but names none (hint: add `commands:`)
    warning[no-way-out] w.yaml:2:10: from `a`, `b`, `c`, `d`, `e` no way leads to an end (hint: add `done` to a `next` on the way)
    error[no-workflow] w.yaml:3:10: `b` runs a workflow but names none (hint: add `workflow:`)
    error[misplaced-field] w.yaml:4:26: `commands` is for `run: command` only
    error[misplaced-field] w.yaml:4:42: `slots` is for `run: pool` only
    error[tools-both-ways] w.yaml:5:13: `tools` both allows and denies: what is in neither list? (hint: keep `allow` alone)
    error[no-choice] w.yaml:6:10: `e` has several `next` and no worker to choose among them (hint: add `on: {complete: a}`)
    warning[unreachable-phase] w.yaml:7:10: no edge leads to `f`
    ");
}

#[test]
fn a_sub_workflow_cannot_choose_its_way_out() {
    let sub = [("s", "phases: {x: }")];
    let told = load_with("phases: [{id: a, workflow: s, next: [b, done]}, {id: b}]", &sub);
    insta::assert_snapshot!(rendered(&told), @"error[no-choice] w.yaml:1:15: `a` has several `next` and no worker to choose among them (hint: add `on: {complete: b}`)");
    let text = "phases: [{id: a, workflow: s, next: [b, done], on: {complete: b}}, {id: b}]";
    assert_eq!(rendered(&load_with(text, &sub)), "");
}

#[test]
fn limits_of_nothing() {
    let text = "\
limits: {loop: 0, idle: 0, timeout: 0s, retries: 0, nudges: 0, losses: 0, continuations: 0, depth: 0, waits: 0, repeats: 0, grace: 0s}
phases: [{id: a, limits: {loop: {max: 0}}, timeout_minutes: 0}]
";
    insta::assert_snapshot!(problems(text), @r"
    error[zero-limit] w.yaml:1:16: `loop` is 0: nothing could happen (hint: leave it out for the default)
    error[zero-limit] w.yaml:1:25: `idle` is 0: nothing could happen (hint: leave it out for the default)
    error[zero-limit] w.yaml:1:37: `timeout` is 0: nothing could happen (hint: leave it out for the default)
    error[zero-limit] w.yaml:1:132: `grace` is 0: nothing could happen (hint: leave it out for the default)
    error[zero-limit] w.yaml:2:39: `max` is 0: nothing could happen (hint: leave it out for the default)
    error[zero-limit] w.yaml:2:61: `timeout_minutes` is 0: nothing could happen (hint: leave it out for the default)
    ");
}

#[test]
fn what_says_the_same_twice() {
    let text = "\
commandName: a
command_name: b
limits: {timeout: 1m}
timeout_minutes: 2
phases: [{id: a, approval: both, approval_mode: pre}]
";
    insta::assert_snapshot!(problems(text), @r"
    error[conflicting-fields] w.yaml:2:1: `commandName` and `command_name` say the same (hint: remove `command_name`)
    error[conflicting-fields] w.yaml:4:1: `timeout_minutes` and `limits.timeout` say the same (hint: remove `timeout_minutes`)
    error[conflicting-fields] w.yaml:5:34: `approval_mode` and `approval` say the same (hint: remove `approval_mode`)
    ");
}

#[test]
fn outcomes_and_phases_that_nothing_leads_to() {
    let text = "phases: {a: {on: {fial: a, postponed: a}}, b: {next: c}, c: {next: b}}";
    insta::assert_snapshot!(problems(text), @r"
    warning[unknown-outcome] w.yaml:1:19: nothing is known to end with `fial` (hint: did you mean `fail`?)
    warning[unknown-outcome] w.yaml:1:28: nothing is known to end with `postponed` (hint: add `outcomes: [postponed]`)
    warning[unreachable-phase] w.yaml:1:44: no edge leads to `b`
    warning[unreachable-phase] w.yaml:1:58: no edge leads to `c`
    ");
}

#[test]
fn sub_workflows_are_found_or_told() {
    let text = "phases: [{subworkflow: sub}, {id: again, workflow: sub}, {subworkflow: gone}]";
    let loaded = load_with(text, &[("sub", "phases: [{id: x}, {nmae: y}]")]);
    insta::assert_snapshot!(rendered(&loaded), @r"
    error[broken-workflow] w.yaml:1:24: `sub` cannot run: it has errors
    error[broken-workflow] w.yaml:1:52: `sub` cannot run: it has errors
    error[workflow-not-found] w.yaml:1:72: no workflow is called `gone` (hint: `chronicle list` shows the workflows)
    error[missing-id] sub.yaml:1:19: a phase without an id (hint: add `id:`)
    error[unknown-field] sub.yaml:1:20: a phase has no field `nmae` (hint: did you mean `name`?)
    ");
    let names: Vec<&str> = loaded.sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["w.yaml", "sub.yaml"]);
}

#[test]
fn cycles_are_named() {
    let others = [
        ("b", "phases: [{subworkflow: c}]"),
        ("c", "phases: [{id: back, workflow: w}, {id: own, workflow: c}]"),
    ];
    insta::assert_snapshot!(rendered(&load_with("phases: [{subworkflow: b}]", &others)), @r"
    error[workflow-cycle] c.yaml:1:31: `w` would run itself: `w` → `b` → `c` → `w`
    error[workflow-cycle] c.yaml:1:55: `c` would run itself: `c` → `c`
    ");
}

#[test]
fn what_this_version_cannot_enforce_stops_it() {
    let text = "\
budget: {usd: 2.5}
guards: {rules: [no-push]}
verify: cargo test
cleanup: [make clean]
phases:
  - id: a
    budget: {tokens: 100}
    verify: make
    cleanup: make
    isolation: worktree
    session: continue
    produces: steps
    signals: complete
    followups: []
  - {id: b, run: pool, slots: 2, workflow: w2}
  - {id: c, run: human}
  - {id: d, run: inline}
";
    let loaded = load_with(text, &[("w2", "phases: {x: }")]);
    insta::assert_snapshot!(rendered(&loaded), @r"
    error[not-supported-yet] w.yaml:10:5: this version cannot enforce `isolation: worktree`, and will not ignore it (hint: take it out, or accept that with `--accept-unenforced`)
    error[not-supported-yet] w.yaml:17:13: this version cannot enforce `run: inline`, and will not ignore it (hint: take it out, or accept that with `--accept-unenforced`)
    ");
    assert!(!loaded.is_usable());
    assert_eq!(
        loaded.workflows[0].budget.as_ref().and_then(|budget| budget.usd_micros),
        Some(2_500_000)
    );
    assert_eq!(unsupported(&loaded.workflows[0]).len(), loaded.problems.len());
    assert!(unsupported(&loaded.workflows[1]).is_empty());
}

#[test]
fn demands_that_are_not_known() {
    let text = "\
name: W
phases:
  a: {requires: [changed_files, cargo test, ./run_tests], next: [b]}
  b: {requires: changed-files, next: [c]}
  c: {requires: [tests_passed], next: [d]}
  d: {run: human, requires: make}
";
    insta::assert_snapshot!(problems(text), @r"
    error[unknown-requirement] w.yaml:4:7: `requires` does not know `changed-files` (hint: did you mean `changed_files`?)
    error[unknown-requirement] w.yaml:5:7: `requires` does not know `tests_passed` (hint: write `changed_files`, or a command as it is typed: `./tests_passed`)
    error[misplaced-field] w.yaml:6:19: `requires` is for `run: worker` only
    ");
}

#[test]
fn fields_that_would_do_nothing() {
    let text = "\
name: W
phases:
  a: {workflow: w2, tools: {deny: [bash]}, cleanup: make, limits: {timeout: 1h, loop: 3}, next: [b]}
  b: {commands: make, persona: p, signals: [complete], limits: {retries: 1, idle: 3m}, next: [c]}
  c: {run: human, agent: claude, instructions: look, budget: {usd: 1}, next: [d, b]}
  d: {commands: make, next: [done], verify: test, cleanup: rm, approval: after}
";
    let other = "{name: O, phases: {x: {}}}";
    insta::assert_snapshot!(rendered(&load_with(text, &[("w2", other)])), @r"
    error[misplaced-field] w.yaml:3:21: `tools` does nothing on a phase with `run: workflow` (hint: put it on the phases of the workflow inside)
    error[misplaced-field] w.yaml:3:44: `cleanup` does nothing on a phase with `run: workflow` (hint: put it on the phases of the workflow inside)
    error[misplaced-field] w.yaml:3:68: `limits.timeout` does nothing on a phase with `run: workflow` (hint: put it on the phases of the workflow inside)
    error[misplaced-field] w.yaml:4:23: `persona` does nothing on a phase with `run: command` (hint: no agent works there: remove it)
    error[misplaced-field] w.yaml:4:35: `signals` does nothing on a phase with `run: command` (hint: no agent works there: remove it)
    error[misplaced-field] w.yaml:4:77: `limits.idle` does nothing on a phase with `run: command` (hint: no agent works there: remove it)
    error[misplaced-field] w.yaml:5:19: `agent` does nothing on a phase with `run: human` (hint: a person works there: remove it)
    error[misplaced-field] w.yaml:5:54: `budget` does nothing on a phase with `run: human` (hint: a person works there: remove it)
    ");
    let quiet = text.replace("workflow: w2", "run: worker").replace("commands: make,", "");
    assert_eq!(problems(&quiet.replace("run: human, ", "")), "");
}
