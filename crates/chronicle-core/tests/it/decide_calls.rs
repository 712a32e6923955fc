//! Decisions about tool calls: which are the same, and whose end is told.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::definition::persona::Persona;
use chronicle_core::definition::workflow::Tools;
use chronicle_core::event::input::{Answer, AttemptReport, Command, Input};
use chronicle_core::event::record::Line;
use chronicle_core::event::{Call, Caller, Event, ToolCalled, ToolKind, Verdict};
use chronicle_core::guard::Judgement;
use chronicle_core::state::{State, Status};
use serde_json::{Value, json};

use crate::world::{World, about, person, signal, start, workflows};

const CIRCLE: &str = "{name: C, phases: {dig: {limits: {repeats: 3}}}}";
const DENIES: &str = "{name: D, phases: {dig: {tools: {deny: [bash]}}}}";
const DEMANDS: &str = "{name: E, phases: {dig: {requires: [make test]}}}";

fn call(id: &str, tool: &str, input: &Value) -> Call {
    Call::new(id, tool, input, &["description"])
}

fn asks(call: &Call) -> Input {
    about(
        AttemptId(1),
        AttemptReport::ToolCalled { call: Box::new(call.clone()), judged: Judgement::Clear },
    )
}

fn ends(world: &mut World, id: &str, ok: bool) {
    world.step(&about(AttemptId(1), AttemptReport::ToolEnded { call: id.to_owned(), ok }));
}

fn shell(id: &str, command: &str) -> Call {
    call(id, "bash", &json!({ "command": command }))
}

fn may_run(world: &mut World, call: &Call) -> bool {
    matches!(world.step(&asks(call)), Answer::Verdict(Verdict::Allowed))
}

fn calls_of(world: &World) -> Vec<&ToolCalled> {
    let events = world.lines.iter().flat_map(|line: &Line| &line.events);
    let calls = events.filter_map(|event| match event {
        Event::ToolCalled(called) => Some(called),
        _ => None,
    });
    calls.collect()
}

/// How many of these calls may run before one is denied.
fn allowed(inputs: impl Iterator<Item = Value>) -> usize {
    let mut world = World::started(CIRCLE, "");
    let calls = inputs.enumerate().map(|(at, input)| call(&format!("c{at}"), "Write", &input));
    calls.take_while(|call| may_run(&mut world, call)).count()
}

#[test]
fn long_calls_are_counted_by_all_that_they_say() {
    let text = "x".repeat(2_500);
    let same = || json!({ "file_path": "a.txt", "content": text });
    assert_eq!(allowed((0..12).map(|_| same())), 3);
    let other = |at| json!({ "file_path": "a.txt", "content": format!("{text}{at}") });
    assert_eq!(allowed((0..12).map(other)), 12, "they differ where no event shows it");
}

#[test]
fn the_order_of_keys_and_volatile_fields_make_no_other_call() {
    let orders = [r#"{"a":1,"b":{"c":2,"d":3}}"#, r#"{"b":{"d":3,"c":2},"a":1}"#];
    let ordered = (0..12).map(|at| serde_json::from_str(orders[at % 2]).unwrap());
    assert_eq!(allowed(ordered), 3);
    assert_eq!(allowed((0..12).map(|at| json!({ "a": 1, "description": at }))), 3);
    assert_eq!(allowed((0..12).map(|at| json!({ "a": 1, "other": at }))), 12);
}

#[test]
fn another_call_under_a_known_id_is_judged_by_itself_and_written() {
    let mut world = World::started(DENIES, "");
    let read = call("x", "read", &json!({ "path": "a" }));
    assert!(may_run(&mut world, &read));
    assert!(!may_run(&mut world, &shell("x", "rm -rf /")), "the verdict was on another call");
    assert!(!may_run(&mut world, &shell("x", "rm -rf /")));
    assert!(may_run(&mut world, &read), "the same call gets the same answer");
    let told: Vec<_> = calls_of(&world).iter().map(|it| (&*it.tool, &it.verdict)).collect();
    let denied = Verdict::Denied("this phase denies the tool `bash`".to_owned());
    assert_eq!(told, [("read", &Verdict::Allowed), ("bash", &denied)]);
}

#[test]
fn what_was_allowed_before_the_leaving_signal_is_not_allowed_again_after_it() {
    let mut world = World::started(DENIES, "");
    let read = call("x", "read", &json!({ "path": "a" }));
    assert!(may_run(&mut world, &read));
    let left = json!({"signal": "complete", "summary": "done"});
    let left = chronicle_core::event::signal::parse("signal_back", &left);
    world.step(&signal(AttemptId(1), "r", left));
    assert!(!may_run(&mut world, &read), "it could run a second time");
}

#[test]
fn a_call_that_has_ended_is_a_new_one_when_it_comes_again() {
    let mut world = World::started(DENIES, "");
    let read = call("x", "read", &json!({ "path": "a" }));
    for _ in 0..3 {
        assert!(may_run(&mut world, &read));
        ends(&mut world, "x", true);
    }
    assert_eq!(calls_of(&world).len(), 3);
}

/// Runs `make test`, then whatever `with` does, and tells whether the phase may be left.
fn is_proven(with: impl FnOnce(&mut World)) -> bool {
    let mut world = World::started(DEMANDS, "");
    assert!(may_run(&mut world, &shell("x", "make test")));
    with(&mut world);
    let evidence = &world.state.frames.values().next().unwrap().evidence;
    let proven = evidence.lacks(&["make test".to_owned()]).is_empty();
    let leave = chronicle_core::event::signal::parse("signal_back", &json!({"signal": "complete"}));
    world.step(&signal(AttemptId(1), "r", leave));
    assert_eq!(world.state.status(), Status::Running);
    proven
}

#[test]
fn an_ambiguous_end_of_a_call_proves_nothing() {
    assert!(is_proven(|world| ends(world, "x", true)));
    assert!(!is_proven(|world| ends(world, "x", false)));
    assert!(!is_proven(|world| {
        assert!(may_run(world, &shell("x", "true")));
        ends(world, "x", true);
        ends(world, "x", true);
    }));
    // One that was denied does not run, so the end is not its own.
    assert!(is_proven(|world| {
        let cancel = call("x", "no_such_tool", &json!({}));
        assert!(may_run(world, &cancel));
        ends(world, "x", false);
        assert!(may_run(world, &shell("x", "make test")));
        ends(world, "x", true);
    }));
}

#[test]
fn the_end_of_a_running_call_is_not_taken_for_a_denied_one() {
    let workflow = "{name: E, phases: {dig: {tools: {deny: [web]}, requires: [make test]}}}";
    let mut world = World::started(workflow, "");
    assert!(may_run(&mut world, &shell("x", "make test")));
    assert!(!may_run(&mut world, &call("x", "web", &json!({}))));
    ends(&mut world, "x", true);
    let evidence = &world.state.frames.values().next().unwrap().evidence;
    assert!(evidence.lacks(&["make test".to_owned()]).is_empty());
}

#[test]
fn the_event_has_all_of_the_call() {
    let mut world = World::started(CIRCLE, "");
    let long = call("x", "bash", &json!({ "command": "é".repeat(9_000), "description": "d" }));
    let call = Call { kind: ToolKind::Run, by: Caller::SubAgent, ..long };
    assert!(call.command_cut && call.shown.ends_with(" bytes cut]"));
    assert!(may_run(&mut world, &call));
    let line = serde_json::to_string(world.lines.last().unwrap()).unwrap();
    let line: Line = serde_json::from_str(&line).unwrap();
    let [Event::ToolCalled(called)] = line.events.as_slice() else { panic!("{line:?}") };
    assert_eq!(called.reported(), Some(call));
}

#[test]
fn a_call_without_a_sum_is_counted_by_its_text_as_it_was() {
    let mut world = World::started(CIRCLE, "");
    for (at, input) in ["{}", "{… [12 bytes cut]", "{}"].iter().enumerate() {
        let data = json!({ "attempt": "a1", "call": format!("c{at}"), "tool": "read", "input": input,
            "verdict": {"is": "allowed"}, "active_ms": 0 });
        let event: Event =
            serde_json::from_value(json!({ "kind": "tool_called", "data": data })).unwrap();
        let Event::ToolCalled(called) = &event else { panic!("{event:?}") };
        assert_eq!(called.reported(), None);
        let last = world.lines.last().unwrap().clone();
        let line = Line { seq: last.seq + 1, events: vec![event], ..last };
        State::apply(&mut world.state, &line);
        world.lines.push(line);
    }
    let frame = world.state.frames.values().next().unwrap();
    let counted: Vec<_> = frame.worker.repeats.iter().map(|it| (&*it.mark, it.count)).collect();
    assert_eq!(counted, [("36914b37ad966d89", 2)]);
}

#[test]
fn lists_bind_sub_agents_unless_they_are_free() {
    let free = DENIES.replace("deny: [bash]", "deny: [bash], subagents: free");
    for (workflow, is_free) in [(DENIES, false), (free.as_str(), true)] {
        let mut world = World::started(workflow, "");
        let own = shell("c1", "ls");
        let helpers = Call { by: Caller::SubAgent, ..shell("c2", "ls") };
        assert!(!may_run(&mut world, &own), "{workflow}");
        assert_eq!(may_run(&mut world, &helpers), is_free, "{workflow}");
    }
}

/// Which of these tools a worker may call whose persona and phase have these lists.
fn may_call(persona: Tools, phase: &str) -> Vec<&'static str> {
    let mut started = start(workflows(&format!("{{name: T, phases: {{a: {phase}}}}}")));
    started.personas =
        vec![Persona { name: "lim".to_owned(), tools: persona, ..Persona::default() }];
    let mut world = World::new("");
    world.step(&person(Command::Start(Box::new(started))));
    let mut tools = vec!["read", "write", "bash"];
    tools.retain(|tool| may_run(&mut world, &call(tool, tool, &json!({}))));
    tools
}

#[test]
fn the_lists_of_a_phase_and_of_its_persona_both_hold() {
    let names = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let reads = || Tools { allow: Some(names(&["Read"])), ..Tools::default() };
    let writes = || Tools { deny: names(&["bash"]), ..Tools::default() };
    assert_eq!(may_call(reads(), "{persona: lim}"), ["read"]);
    assert_eq!(may_call(reads(), "{persona: lim, tools: {deny: [bash]}}"), ["read"]);
    assert_eq!(may_call(reads(), "{persona: lim, tools: {allow: [bash, read]}}"), ["read"]);
    assert_eq!(may_call(reads(), "{persona: lim, tools: {allow: [bash]}}"), [""; 0]);
    assert_eq!(may_call(reads(), "{persona: lim, tools: {deny: [read]}}"), [""; 0]);
    assert_eq!(may_call(writes(), "{persona: lim, tools: {allow: [bash, write]}}"), ["write"]);
    assert_eq!(may_call(writes(), "{persona: lim, tools: {deny: [read]}}"), ["write"]);
    let free = "{persona: lim, tools: {allow: [bash, read], subagents: free}}";
    assert_eq!(may_call(Tools::default(), free), ["read", "bash"]);
}

#[test]
fn who_denies_a_tool_denies_its_other_names() {
    let denied = |deny: &str, tool: &str| {
        let workflow = format!("{{name: D, phases: {{dig: {{tools: {{deny: [{deny}]}}}}}}}}");
        let mut world = World::started(&workflow, "");
        !may_run(&mut world, &call("c1", tool, &json!({})))
    };
    for (deny, tool) in [
        ("bash", "Bash"),
        ("bash", "Monitor"),
        ("shell", "Bash"),
        ("shell", "Monitor"),
        ("edit", "MultiEdit"),
        ("Edit", "NotebookEdit"),
        ("task", "Agent"),
        ("agent", "Task"),
        ("mcp__mine", "mcp__mine__delete"),
    ] {
        assert!(denied(deny, tool), "{deny} {tool}");
    }
    for tool in
        "sh zsh exec exec_command execute execute_command local_shell PowerShell run_command \
        run_shell_command run_terminal_cmd terminal mcp__box__bash mcp__q__Shell"
            .split_whitespace()
    {
        assert!(denied("bash", tool) && denied("shell", tool), "{tool}");
    }
    for (deny, tool) in [
        ("monitor", "Bash"),
        ("sh", "Bash"),
        ("mcp__box__bash", "Bash"),
        ("bash", "mcp__box__monitor"),
        ("multiedit", "Edit"),
        ("edit", "Write"),
        ("bash", "BashOutput"),
        ("mcp__mine", "mcp__mine2__delete"),
    ] {
        assert!(!denied(deny, tool), "{deny} {tool}");
    }
    // A persona's list takes the other names out of what the phase allows.
    let persona = Tools { deny: vec!["bash".to_owned()], ..Tools::default() };
    let allow = vec!["Monitor".to_owned(), "read".to_owned()];
    let phase = Tools { allow: Some(allow), ..Tools::default() };
    assert_eq!(phase.within(&persona).allow, Some(vec!["read".to_owned()]));
}

/// A name that is not exactly known is not freer than the known one that an agent may take it for.
#[test]
fn no_spelling_of_a_name_passes_a_list() {
    let may = |tools: &str, tool: &str| {
        let workflow = format!("{{name: D, phases: {{dig: {{tools: {tools}}}}}}}");
        may_run(&mut World::started(&workflow, ""), &call("c1", tool, &json!({})))
    };
    let odd = [
        "Bash ",
        " bash",
        "bash\n",
        "ba\u{200b}sh",
        "ｂａｓｈ",
        "b\u{430}sh",
        "bash\0",
        "",
        "bash,read",
    ];
    for tool in odd {
        for tools in ["{deny: [bash]}", "{deny: [web_fetch]}", "{allow: [bash]}", "{allow: ['*']}"]
        {
            assert!(!may(tools, tool), "{tools} {tool:?}");
        }
        assert!(may("{}", tool), "{tool:?}: without a list nothing is denied");
    }
    let below = ["functions.", "default_api.", "default_api:", "Functions/", "a.b:", "functions__"];
    for before in below {
        let named = |tool: &str| format!("{before}{tool}");
        for tool in ["bash", "BASH", "exec_command", "monitor"] {
            assert!(!may("{deny: [bash]}", &named(tool)), "{before} {tool}");
        }
        assert!(!may("{deny: [edit]}", &named("MultiEdit")), "{before}");
        assert!(!may("{deny: ['web*']}", &named("web_fetch")), "{before}");
        assert!(may("{deny: [bash]}", &named("read")), "{before}");
        // It allows only what it names, or what models write before every tool that they are given.
        let is_wrapper = ["functions.", "default_api.", "default_api:"].contains(&before);
        assert_eq!(may("{allow: [read]}", &named("read")), is_wrapper, "{before}");
    }
    assert!(!may("{deny: [bash]}", "bash.run") && !may("{deny: [bash]}", "x.bash:run"));
    assert!(may("{allow: [functions.read]}", "functions.read"));
    // Of a tool of a server no more is known than what its name says.
    assert!(!may("{deny: [write]}", "mcp__disk__write") && !may("{deny: [bash]}", "mcp__box__run"));
    assert!(may("{deny: [write, bash]}", "mcp__disk__list"), "it says that it does something else");
}

/// Settings, hooks and servers of an agent run commands at its next start.
#[test]
fn who_may_not_run_commands_may_not_write_what_runs_them() {
    let may_write = |tools: &str, tool: &str, input: &Value| {
        let workflow = format!("{{name: D, phases: {{dig: {{tools: {tools}}}}}}}");
        let mut world = World::started(&workflow, "");
        may_run(&mut world, &call("c1", tool, input))
    };
    let settings = json!({"file_path": "/p/.claude/settings.json", "content": "{}"});
    let other = json!({"file_path": "/p/src/settings.json", "content": "{}"});
    for bound in ["{deny: [bash]}", "{deny: [Shell]}", "{allow: [read, write, edit]}"] {
        for tool in ["Write", "Edit"] {
            assert!(!may_write(bound, tool, &settings), "{bound} {tool}");
            assert!(may_write(bound, tool, &other), "{bound} {tool}");
            assert!(!may_write(bound, &format!("functions.{tool}"), &settings), "{bound} {tool}");
        }
        assert!(!may_write(bound, "write", &json!({"path": ".pi/extensions/x.ts"})), "{bound}");
        let long = json!({"path": format!("{}.claude/settings.json", "./".repeat(400))});
        assert!(!may_write(bound, "write", &long), "{bound}: also if it is too long to be kept");
    }
    assert!(may_write("{allow: [read, grep]}", "Read", &settings), "it may be read");
    for free in ["{deny: [web]}", "{allow: [bash, write]}", "{allow: ['*']}"] {
        assert!(may_write(free, "Write", &settings), "{free}: it can write it anyway");
    }
}
