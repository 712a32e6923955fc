//! What native files may not say because nothing would come of it: it is refused, with the name that was probably meant.

use chronicle_core::definition::workflow::{Approval, Tools, signal_named};
use expect_test::{Expect, expect};

use super::workflow::{load_with, problems, rendered};

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&problems(text));
}

#[test]
fn an_edge_to_nowhere_is_an_error() {
    let text = "states:\n  plan: {next: [reveiw, Scribe, done]}\n  review: {on: {fail: Scribe}}";
    check(
        text,
        &expect![[r#"
        error[unknown-target] w.yaml:2:17: no phase is called `reveiw` (hint: did you mean `review`?)
        error[unknown-target] w.yaml:2:25: no phase is called `Scribe`
        warning[unreachable-phase] w.yaml:3:3: no edge leads to `review`
        error[unknown-target] w.yaml:3:23: no phase is called `Scribe`
    "#]],
    );
    assert!(!load_with(text, &[]).is_usable());
}

#[test]
fn the_names_of_the_ends_are_no_phases() {
    check(
        "phases: [{id: a}, {id: done, persona: You write it up.}]",
        &expect![[r#"
        error[reserved-id] w.yaml:1:24: `done` ends the workflow: a phase of that name never works (hint: give it another name)
    "#]],
    );
    check(
        "phases: {done: {}}",
        &expect![[r#"
        error[reserved-id] w.yaml:1:10: `done` ends the workflow: a phase of that name never works (hint: give it another name)
    "#]],
    );
    check(
        "phases: [{id: a}, {id: human_intervention}]",
        &expect![[r#"
        error[reserved-id] w.yaml:1:24: `human_intervention` waits for a person: a phase of that name never works (hint: give it another name)
    "#]],
    );
}

#[test]
fn signals_are_known_and_lead_out_of_the_phase() {
    check(
        "phases:\n  - {id: a, signals: [complet, Needs_User_Input]}\n  - {id: b, signals: []}\n  - {id: c, signals: [needs-user-input]}\n  - {id: d, signals: [fly]}\n  - {id: e, signals: Needs_Role_Followup}\n",
        &expect![[r#"
            error[unknown-signal] w.yaml:2:23: no signal is called `complet` (hint: did you mean `complete`?)
            error[no-leaving-signal] w.yaml:3:13: with these `signals` the phase can never be left (hint: add `complete`, or leave `signals` out)
            error[no-leaving-signal] w.yaml:4:13: with these `signals` the phase can never be left (hint: add `complete`, or leave `signals` out)
            error[unknown-signal] w.yaml:5:23: no signal is called `fly` (hint: the signals are `complete`, `partially-complete`, `needs-user-input`, `needs-role-followup`)
        "#]],
    );
    assert_eq!(signal_named(" Partially_Complete "), Some("partially-complete"));
}

#[test]
fn steps_of_pools_wait_for_steps_that_there_are() {
    let text = "\
phases:
  a:
    run: pool
    steps:
      - {id: one, depends_on: [tow]}
      - {id: two, depends_on: [three]}
      - {id: three, depends_on: [two]}
      - {id: four, depends_on: [three]}
      - {id: one}
  b: {run: pool, steps: [{id: self, depends_on: self}]}
";
    check(
        text,
        &expect![[r#"
            error[unknown-step] w.yaml:5:32: no step is called `tow` (hint: did you mean `two`?)
            error[step-circle] w.yaml:6:32: steps that wait for each other never begin: `two`, `three`, `four`
            error[duplicate-id] w.yaml:9:14: another step is called `one`
            warning[unreachable-phase] w.yaml:10:3: no edge leads to `b`
            error[step-circle] w.yaml:10:49: `self` waits for itself
        "#]],
    );
}

#[test]
fn words_in_braces_that_nothing_replaces() {
    let text = "\
initialMessage: '{workflowNam} {anything}'
completionMessage: '{taskDescription} {phaseCount}'
verify: ['{verfy}', '{verify}']
cleanup: '{verify}'
phases:
  a: {instructions: 'Do {taskk} for {phaseNme}, {id} and {phaseName}; {\"a\": 1}', next: [b]}
  b: {commands: ['{verfiy}', 'echo {x}', '{ls;}', '{verify}']}
";
    check(
        text,
        &expect![[r#"
        warning[unknown-word] w.yaml:1:1: nothing replaces `{workflowNam}` here: it stays as it is (hint: did you mean `workflowName`?)
        warning[unknown-word] w.yaml:1:1: nothing replaces `{anything}` here: it stays as it is
        error[unknown-word] w.yaml:3:1: no commands stand for `{verfy}` here (hint: did you mean `{verify}`?)
        error[unknown-word] w.yaml:4:1: no commands stand for `{verify}` here
        warning[unknown-word] w.yaml:6:7: nothing replaces `{taskk}` here: it stays as it is (hint: the task is `{description}`)
        warning[unknown-word] w.yaml:6:7: nothing replaces `{phaseNme}` here: it stays as it is (hint: did you mean `phaseName`?)
        error[unknown-word] w.yaml:7:7: no commands stand for `{verfiy}` here (hint: did you mean `{verify}`?)
    "#]],
    );
}

#[test]
fn variables_that_chronicle_sets_are_refused_in_env() {
    check(
        "env: {CHRONICLE_RUN: x, chronicle_secret: y, CHRONICLES: z}\nphases: {a: }",
        &expect![[r#"
        error[bad-env] w.yaml:1:7: `CHRONICLE_RUN` is for Chronicle itself to set (hint: take a name without `CHRONICLE_`)
        error[bad-env] w.yaml:1:25: `chronicle_secret` is for Chronicle itself to set (hint: take a name without `CHRONICLE_`)
    "#]],
    );
}

#[test]
fn names_of_variables_are_refused_where_they_stand() {
    check(
        "env: {pass: [CHRONICLE_RUN, GITHUB_TOKEN], drop: ['A=B'], set: {chronicle_x: y}}\nphases: {a: {env: {drop: chronicle_*, B: c, set: {D: e}}}}",
        &expect![[r#"
            error[bad-env] w.yaml:1:14: `CHRONICLE_RUN` is for Chronicle itself to set (hint: take a name without `CHRONICLE_`)
            error[bad-env] w.yaml:1:51: the environment cannot hold `A=B`
            error[bad-env] w.yaml:1:65: `chronicle_x` is for Chronicle itself to set (hint: take a name without `CHRONICLE_`)
            error[bad-env] w.yaml:2:26: `chronicle_*` is for Chronicle itself to set (hint: take a name without `CHRONICLE_`)
            error[unknown-field] w.yaml:2:39: `env` has no field `B`
        "#]],
    );
    check(
        "env: {pass: GITHUB_TOKEN}\nphases: {a: {env: {set: x, PATH: y}}}",
        &expect![[r#"
        warning[unclear-env] w.yaml:1:7: this sets a variable with the name `pass` (hint: if it is not meant so, write `pass: [NAME]`)
        warning[unclear-env] w.yaml:2:20: this sets a variable with the name `set` (hint: if it is not meant so, write `set: {NAME: value}`)
    "#]],
    );
}

#[test]
fn walls_are_refused_where_they_stand() {
    check(
        "walls: {fils: read, files: reed, network: of, open: [dokcer, ssh, wormhole], require: maybe}\nphases:\n  - {id: a, walls: {processes: 0}}\n  - {id: b, walls: [read]}\n  - {id: c, walls: {processes: 9000000}}\n",
        &expect![[r#"
            error[unknown-field] w.yaml:1:9: `walls` has no field `fils` (hint: did you mean `files`?)
            error[unknown-value] w.yaml:1:28: `files` must be one of `read`, `write`, not `reed` (hint: did you mean `read`?)
            error[unknown-value] w.yaml:1:43: `network` must be one of `on`, `off`, `true`, `false`, not `of` (hint: did you mean `off`?)
            error[bad-wall] w.yaml:1:54: nothing is hidden by the name `dokcer`; known are `ssh`, `gpg`, `docker`, `podman`, `containerd`, `dbus`, `tmux`, `screen`, `x11`, `emacs`, `libvirt`, `lxd`, `snap`, `watchman`, `keyring`, `pass`, `aws`, `azure`, `gcloud`, `kube`, `gh`, `glab`, `git`, `netrc`, `cargo`, `pypi`, `gem`, `databases`, `clouds`, `models`, `age`, `history`, `terraform`, `vault`, `op`, `sops`, `rclone`, `browser`, `claude`, `pi`, `codex`, `gemini`, `opencode` (hint: did you mean `docker`?)
            error[bad-wall] w.yaml:1:67: nothing is hidden by the name `wormhole`; known are `ssh`, `gpg`, `docker`, `podman`, `containerd`, `dbus`, `tmux`, `screen`, `x11`, `emacs`, `libvirt`, `lxd`, `snap`, `watchman`, `keyring`, `pass`, `aws`, `azure`, `gcloud`, `kube`, `gh`, `glab`, `git`, `netrc`, `cargo`, `pypi`, `gem`, `databases`, `clouds`, `models`, `age`, `history`, `terraform`, `vault`, `op`, `sops`, `rclone`, `browser`, `claude`, `pi`, `codex`, `gemini`, `opencode`
            error[wrong-type] w.yaml:1:87: `require` must be `true` or `false`, not `maybe`
            error[zero-limit] w.yaml:3:32: `processes` is 0: nothing could happen (hint: leave it out for the default)
            error[wrong-type] w.yaml:4:20: `walls` must be a map, not a list
            error[bad-wall] w.yaml:5:32: `processes` is at most 1000000, not 9000000 (hint: leave it out for no limit)
        "#]],
    );
    check(
        "phases:\n  a:\n    walls:\n      paths: [/, ~, .chronicle/runs, ../x, '*.pem', target, '']\n      hide: [., .chronicle, $HOME/x, \"a\\0b\", secrets]\n",
        &expect![[r#"
            error[bad-wall] w.yaml:4:15: `/` would open everything that the wall is for
            error[wrong-type] w.yaml:4:18: `paths` must be a text, not nothing
            error[bad-wall] w.yaml:4:21: `.chronicle/runs` is Chronicle's own record of runs, which no worker may change
            error[bad-wall] w.yaml:4:38: `../x` leads upwards: name the folder itself
            error[bad-wall] w.yaml:4:44: `*.pem` is a pattern: walls know none, name the folder itself
            error[empty-value] w.yaml:4:61: `paths` is empty
            error[bad-wall] w.yaml:5:14: `.` is needed by the agent and cannot be hidden
            error[bad-wall] w.yaml:5:17: `.chronicle` is needed by the agent and cannot be hidden
            error[bad-wall] w.yaml:5:29: `$HOME/x` is taken to the letter: write `~/` for your own home, or the whole path
            error[bad-wall] w.yaml:5:38: `a b` has a zero byte in it, and no path has one
        "#]],
    );
}

#[test]
fn walls_do_nothing_where_nothing_is_started() {
    check(
        "phases: [{id: a, run: human, instructions: Look., walls: {files: read}}, {id: b, workflow: b, walls: {files: read}}]",
        &expect![[r#"
            error[misplaced-field] w.yaml:1:51: `walls` does nothing on a phase with `run: human` (hint: a person works there: remove it)
            error[workflow-not-found] w.yaml:1:92: no workflow is called `b` (hint: `chronicle list` shows the workflows)
            error[misplaced-field] w.yaml:1:95: `walls` does nothing on a phase with `run: workflow` (hint: put it on the phases of the workflow inside)
        "#]],
    );
}

#[test]
fn a_merge_key_says_why_not() {
    check(
        "phases:\n  a: &a {name: A}\n  b:\n    <<: *a\n",
        &expect![[r#"
        warning[unreachable-phase] w.yaml:3:3: no edge leads to `b`
        error[unknown-field] w.yaml:4:5: a phase has no field `<<` (hint: `<<` does not merge maps here: write the fields out, or use an alias for a whole value)
    "#]],
    );
}

#[test]
fn unsupported_fields_are_refused() {
    check(
        "phases: [{id: a, extra_skills: [tea]}]",
        &expect![[r#"
        error[not-supported-yet] w.yaml:1:18: this version cannot enforce `extra_skills`, and will not ignore it (hint: take it out, or accept that with `--accept-unenforced`)
    "#]],
    );
    let inner = ("inner", "phases: [{id: a, extra_skills: tea}]");
    check_inside(
        "phases: [{id: o, workflow: inner}]",
        inner,
        &expect![[r#"
        error[broken-workflow] w.yaml:1:28: `inner` cannot run: it has errors
        error[not-supported-yet] inner.yaml:1:18: this version cannot enforce `extra_skills`, and will not ignore it (hint: take it out, or accept that with `--accept-unenforced`)
    "#]],
    );
}

#[test]
fn an_agent_that_is_named_twice_would_fail_twice() {
    check(
        "agent: claude\nmodel: opus\nphases:\n  a: {fallback: [pi, pi], next: [b]}\n  b: {fallback: [claude], next: [c]}\n  \
         c: {fallback: ['claude:opus'], next: [d]}\n  d: {agent: pi, fallback: ['claude:haiku', claude], next: [e]}\n  \
         e: {run: command, commands: [x], fallback: [pi]}\n",
        &expect![[r#"
            error[repeated-agent] w.yaml:4:7: `pi` stands in `fallback` twice (hint: name it once)
            error[repeated-agent] w.yaml:5:7: `claude` is the agent that works first in this phase (hint: name another agent, or another model of it, such as `claude:MODEL`)
            error[repeated-agent] w.yaml:6:7: `claude:opus` is the agent that works first in this phase (hint: name another agent, or another model of it, such as `claude:MODEL`)
            error[misplaced-field] w.yaml:8:36: `fallback` is for `run: worker` only
        "#]],
    );
}

fn check_inside(text: &str, inner: (&str, &str), expected: &Expect) {
    expected.assert_eq(&rendered(&load_with(text, &[inner])));
}

#[test]
fn what_the_two_ways_to_ask_for_an_approval_mean() {
    let approval = |said: &str| {
        let loaded = load_with(&format!("phases: [{{id: a, {said}}}]"), &[]);
        assert!(loaded.is_usable(), "{:?}", loaded.problems);
        let phase = &loaded.workflows[0].phases[0];
        assert_eq!(phase.shows_verdict, said.ends_with("post"), "{said}");
        phase.approval
    };
    assert_eq!(approval("approval: true"), Approval::After);
    assert_eq!(approval("requires_approval: true"), Approval::Before);
    assert_eq!(approval("requires_approval: true, approval_mode: post"), Approval::After);
    assert_eq!(approval("requires_approval: false"), Approval::None);
}

#[test]
fn by_default_a_workflow_does_not_loop_and_lists_bind_sub_agents() {
    let workflow = load_with("phases: [{id: a, tools: {deny: bash}}]", &[]).workflows.remove(0);
    assert!(!workflow.loopable);
    assert!(!workflow.phases[0].tools.own_only);
    let free = "phases: [{id: a, tools: {deny: bash, subagents: free}}]";
    assert!(load_with(free, &[]).workflows[0].phases[0].tools.own_only);
    assert!(Tools::default().is_unsaid() && !Tools::read_only().is_unsaid());
}

#[test]
fn an_edge_for_rejected_needs_an_approval() {
    check(
        "phases: [{id: a, on: {rejected: a}}, {id: b, approval: after, on: {rejected: a}}]",
        &expect![[r#"
        warning[unsent-outcome] w.yaml:1:23: `a` never ends with `rejected`: it needs no approval
    "#]],
    );
}

#[test]
fn an_edge_for_complete_is_taken_beside_one_for_pass() {
    check("phases: [{id: a, on: {pass: b, fail: a, complete: c}}, {id: b}, {id: c}]", &expect![""]);
}

#[test]
fn tools_are_whole_and_known() {
    check(
        "phases:\n  a: {tools: {deny: [bsh, 'Bash(rm *)', mcp__mine__*, MultiEdit]}, next: [b]}\n  b: {tools: {allow: [Reed, web_lookup, 'notebook*', ｂａｓｈ]}}",
        &expect![[r#"
            error[unknown-tool] w.yaml:2:22: no agent that Chronicle knows has a tool `bsh` (hint: did you mean `bash`?)
            error[tool-with-arguments] w.yaml:2:27: `Bash(rm *)` is no tool: a list names whole tools, not some calls (hint: write `Bash`)
            error[unknown-tool] w.yaml:3:23: no agent that Chronicle knows has a tool `Reed` (hint: did you mean `read`?)
            warning[unknown-tool] w.yaml:3:29: no agent that Chronicle knows has a tool `web_lookup` (hint: it counts for a tool of exactly that name, such as an extension's)
            error[unknown-tool] w.yaml:3:54: `ｂａｓｈ` cannot be the name of a tool: it allows nothing (hint: names of tools have letters of ASCII, digits and `_ - . : /`)
        "#]],
    );
}

#[test]
fn a_star_in_the_name_of_a_tool_stands_for_anything() {
    use chronicle_core::definition::workflow::is_named;
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    for (pattern, tool, expected) in [
        ("mcp__*", "mcp__mine__delete", true),
        ("mcp__*__delete", "MCP__mine__Delete", true),
        ("mcp__*__delete", "mcp__mine__read", false),
        ("*edit", "MultiEdit", true),
        ("*edit*", "notebookedit", true),
        ("a*ab", "ab", false),
        ("*", "anything", true),
        ("bash", "bashoutput", false),
    ] {
        assert_eq!(is_named(&list(&[pattern]), tool), expected, "{pattern} {tool}");
    }
    let tools = |allow: &[&str]| Tools { allow: Some(list(allow)), ..Tools::default() };
    let both = tools(&["read", "mcp__*"]).within(&tools(&["mcp__mine__*", "bash"]));
    assert_eq!(both.allow, Some(list(&["mcp__mine__*"])));
    assert_eq!(both.exactly(), None, "no agent's own list knows a star");
}

#[test]
fn a_field_without_a_value_is_left_out_before_and_after_its_other_name() {
    let texts = [
        "phases:\n  a: {tools: {allow: [read], whitelist: }}\n",
        "phases:\n  a: {tools: {whitelist: , allow: [read]}}\n",
        "states:\nphases:\n  a: {instructions: work}\n",
        "phases:\n  a: {instructions: work}\nstates:\n",
        "commandName: q\ncommand_name:\nphases:\n  a: {instructions: work}\n",
    ];
    for text in texts {
        assert_eq!(problems(text), "", "{text}");
    }
    let both = "phases:\n  a: {tools: {allow: [read], whitelist: [read]}}\n";
    assert!(problems(both).contains("conflicting-fields"), "{}", problems(both));
    let none = "phases:\nstates:\n";
    assert!(problems(none).contains("no-phases"), "{}", problems(none));
}
