//! Walls in workflow files: what they become, which follow from a phase's tools, and where an agent could not reach its model.

use std::sync::Arc;

use chronicle_core::definition::walls::{WallFiles, WallNetwork, Walls};
use chronicle_core::definition::workflow::{
    Format, Known, Loaded, Source, Workflow, assemble, offline, read,
};

use super::workflow::{load_with, rendered};

fn loaded(text: &str) -> Workflow {
    let loaded = load_with(text, &[]);
    assert!(loaded.is_usable(), "{}", rendered(&loaded));
    loaded.workflows.into_iter().next().unwrap()
}

fn files_of(text: &str, phase: usize) -> Option<WallFiles> {
    loaded(text).phases[phase].walls.files
}

#[test]
fn a_workflow_and_its_phases_say_their_walls() {
    let workflow = loaded(
        "walls: {hide: secrets, require: true, processes: 300}\nphases:\n  - {id: a, walls: {files: read, paths: [target, ~/x], open: [ssh], own_sandbox: true}}\n  - {id: b, commands: make, walls: {network: off}}\n",
    );
    let around = Walls {
        hide: vec!["secrets".into()],
        require: true,
        processes: Some(300),
        ..Walls::default()
    };
    assert_eq!(workflow.walls, around);
    let phase = Walls {
        files: Some(WallFiles::Read),
        paths: vec!["target".into(), "~/x".into()],
        open: vec!["ssh".into()],
        own_sandbox: Some(true),
        ..Walls::default()
    };
    assert_eq!(workflow.phases[0].walls, phase);
    assert_eq!(workflow.phases[1].walls.network, Some(WallNetwork::Off));
    let plain = loaded("walls: {require: false}\nphases: {a: }");
    assert!(plain.walls.is_empty() && plain.phases[0].walls.is_empty());
}

#[test]
fn a_network_is_off_in_every_spelling() {
    for (word, expected) in [
        ("off", WallNetwork::Off),
        ("'off'", WallNetwork::Off),
        ("false", WallNetwork::Off),
        ("on", WallNetwork::On),
        ("true", WallNetwork::On),
    ] {
        let text = format!("phases: {{a: {{commands: make, walls: {{network: {word}}}}}}}");
        assert_eq!(loaded(&text).phases[0].walls.network, Some(expected), "{word}");
    }
}

#[test]
fn a_worker_whose_tools_change_nothing_can_only_read() {
    for tools in [
        "{deny: [write, edit, bash]}",
        "{deny: [Write, Edit, shell, webfetch]}",
        "{deny: ['*']}",
        "{allow: [read, grep, find, ls]}",
        "{allow: [Read, Glob, WebFetch, Task, TodoWrite]}",
        "{allow: []}",
    ] {
        let text = format!("phases: {{a: {{tools: {tools}}}}}");
        assert_eq!(files_of(&text, 0), Some(WallFiles::Read), "{tools}");
    }
    for tools in [
        "{deny: [bash]}",
        "{deny: [write, edit]}",
        "{deny: [multiedit, write_file, bash]}",
        "{deny: [write, edit, bash], subagents: free}",
        "{allow: [read, edit]}",
        "{allow: [read, bash]}",
        "{allow: [read, delete_file]}",
        "{allow: [read, mcp__github__create_issue]}",
        "{allow: [read, mcp__github]}",
        "{allow: [read, mcp]}",
        "{allow: [read, 'web*']}",
        "{allow: [read, my_own_tool]}",
        "{}",
    ] {
        let text = format!("phases: {{a: {{tools: {tools}}}}}");
        assert_eq!(files_of(&text, 0), None, "{tools}");
    }
}

#[test]
fn what_a_file_says_of_files_counts_before_its_tools() {
    let tools = "tools: {deny: [write, edit, bash]}";
    let own = format!("phases: {{a: {{{tools}, walls: {{files: write}}}}}}");
    assert_eq!(files_of(&own, 0), Some(WallFiles::Write));
    let around = format!("walls: {{files: write}}\nphases: {{a: {{{tools}}}}}");
    assert_eq!(files_of(&around, 0), None);
    let others = format!("walls: {{network: on}}\nphases: {{a: {{{tools}, walls: {{hide: x}}}}}}");
    assert_eq!(files_of(&others, 0), Some(WallFiles::Read));
}

/// Tests write what they build, and they run behind the walls of the phase that they belong to.
#[test]
fn commands_on_the_way_out_do_not_keep_a_phase_from_being_read_only() {
    let tools = "tools: {deny: [write, edit, bash]}";
    for text in [
        format!("phases: {{a: {{{tools}, verify: make}}}}"),
        format!("cleanup: make clean\nphases: {{a: {{{tools}}}}}"),
    ] {
        assert_eq!(files_of(&text, 0), Some(WallFiles::Read), "{text}");
    }
}

#[test]
fn an_agent_with_a_model_cannot_work_without_a_network() {
    let workflow = loaded(
        "walls: {network: off}\nphases:\n  - {id: test, commands: make}\n  - {id: mine, agent: 'command:./mine'}\n  - {id: play, agent: 'scripted:x.yaml', fallback: ['claude:haiku']}\n  - {id: own, agent: pi, walls: {network: off}}\n  - {id: talks, agent: pi, walls: {network: on}}\n  - {id: open}\n",
    );
    let told = |agent: &str| {
        let found = offline(&workflow, &Walls::default(), agent);
        let row = |it: &chronicle_core::definition::workflow::Offline<'_>| {
            (it.phase.to_string(), it.agent.clone(), it.said_by.is_some())
        };
        found.iter().map(row).collect::<Vec<_>>()
    };
    let play = ("play".to_owned(), "claude".to_owned(), false);
    let own = ("own".to_owned(), "pi".to_owned(), true);
    let open = ("open".to_owned(), "codex".to_owned(), false);
    assert_eq!(told(""), [play.clone(), own.clone()]);
    assert_eq!(told("scripted:x.yaml"), [play.clone(), own.clone()]);
    assert_eq!(told("codex"), [play, own, open]);
}

#[test]
fn settings_that_turn_the_network_off_count_where_no_file_says_it() {
    let off = Walls { network: Some(WallNetwork::Off), ..Walls::default() };
    let plain = loaded("phases: {a: }");
    let found = offline(&plain, &off, "claude");
    assert!(found.len() == 1 && found[0].by_settings, "{found:?}");
    assert!(found[0].hint().contains("`walls: {network: on}` at `a`"), "{}", found[0].hint());
    let on = loaded("walls: {network: on}\nphases: {a: }");
    assert_eq!(offline(&on, &off, "claude"), []);
}

/// A file of another program, whose phases have one Markdown file.
fn foreign(format: Format, text: &str, phase: &str) -> Loaded {
    let source = Source { file: None, name: "w".into(), key: "w".into(), text: text.to_owned() };
    let mut files = |_: &str| {
        let text = phase.to_owned();
        Ok(Source { file: None, name: "p.md".into(), key: "p".into(), text })
    };
    assemble(&Arc::new(read(source, format, &mut files)), Known::default(), &mut |_| None)
}

const PHASED: &str = "name: N\ncommandName: n\ninitialMessage: Go.\nphases: [p.md]\n";
const PHASE: &str = "---\nid: p\nname: P\nemoji: x\n---\nLook.\n";

/// They would be ignored there, and a wall that somebody relies on must not be.
#[test]
fn files_of_other_programs_have_no_walls_and_none_is_ignored() {
    let refused = |loaded: Loaded| {
        let told = rendered(&loaded);
        assert!(
            !loaded.is_usable() && told.contains("has no field `walls`, which would"),
            "{told}"
        );
    };
    assert!(foreign(Format::Phased, PHASED, PHASE).is_usable());
    refused(foreign(Format::Phased, &format!("{PHASED}walls: {{files: read}}\n"), PHASE));
    let walled = PHASE.replace("emoji: x", "emoji: x\nwalls: {files: read}");
    refused(foreign(Format::Phased, PHASED, &walled));
    let template = r#"{"states": {"a": {"persona": "You look. You think."}}}"#;
    let sound = foreign(Format::Template, template, "");
    assert!(sound.is_usable(), "{}", rendered(&sound));
    let around = template.replacen('{', r#"{"walls": {"files": "read"}, "#, 1);
    refused(foreign(Format::Template, &around, ""));
    let inside = template.replace(r#"{"persona""#, r#"{"walls": {"files": "read"}, "persona""#);
    refused(foreign(Format::Template, &inside, ""));
}

#[test]
fn lists_of_other_programs_put_up_no_walls() {
    let reads = PHASE.replace("emoji: x", "emoji: x\ntools: {blacklist: [write, edit, bash]}");
    let loaded = foreign(Format::Phased, PHASED, &reads);
    assert!(loaded.is_usable(), "{}", rendered(&loaded));
    let phase = &loaded.workflows[0].phases[0];
    assert!(!phase.tools.deny.is_empty() && phase.walls.is_empty(), "{phase:?}");
}
