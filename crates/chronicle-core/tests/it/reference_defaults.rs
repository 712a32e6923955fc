//! Every default in the reference is the one in force: a file that says it is read as one that leaves it out.

use chronicle_core::definition::workflow::{Workflow, allowed_targets};

use super::workflow::load_with;

const PAGE: &str = include_str!("../../../../docs/reference/workflow.md");

/// Defaults in words, and what says the same in a file; empty where nothing in a file can.
const IN_WORDS: &[(&str, &str)] = &[
    ("the key", "w"),
    ("the file's name", "w"),
    ("the first phase", "a"),
    ("the id", "a"),
    ("in a list the following phase, in a map `done`", "[done]"),
    // They come from outside of the file, or from the file around.
    ("the run's `--agent`", ""),
    ("the run's `--model`", ""),
    ("the workflow's", ""),
    ("the phase's", ""),
    ("`worktree` for races and for pools with several slots, otherwise `shared`", "shared"),
    // Two workers of one agent are told apart by a number.
    ("after its agent or persona", ""),
    ("the settings'", ""),
    // No list is another thing than a list of all that there is today.
    ("all", ""),
    ("every tool", ""),
    // Two defaults, by what the phase runs: nothing that a file can say means both.
    ("none, 60m for commands", ""),
];

/// A workflow in which a field of that name has a meaning, with it or (`field` is empty) without it.
fn file(section: &str, name: &str, field: &str) -> String {
    let phase = |fields: &str| format!("phases: {{a: {{instructions: go, {fields}}}}}\n");
    let plain = phase("");
    match section {
        "workflow" => format!("{plain}{field}\n"),
        "phase" if ["slots", "merge", "pause_between"].contains(&name) => {
            phase(&format!("run: pool, steps: [{{id: one}}], {field}"))
        }
        "phase" if name == "judge" => {
            phase(&format!("run: race, workers: [claude, codex], {field}"))
        }
        "merge" => phase(&format!("run: pool, steps: [{{id: one}}], merge: {{{field}}}")),
        "phase" if name == "once" => phase(&format!("commands: [ls], {field}")),
        "phase" => phase(field),
        "limits" => format!("{plain}limits: {{{field}}}\n"),
        "loop" if ["bounce", "stagnation", "cap"].contains(&name) => {
            format!("{plain}limits: {{loop: {{policy: progress, {field}}}}}\n")
        }
        "loop" => format!("{plain}limits: {{loop: {{{field}}}}}\n"),
        "guards" => format!("{plain}guards: {{rules: [r], {field}}}\n"),
        "walls" => format!("{plain}walls: {{{field}}}\n"),
        "tools" => phase(&format!("tools: {{deny: [bash], {field}}}")),
        other => panic!("no file for a default of `{other}`"),
    }
}

/// As it is read, with where each phase may lead and its slots in force.
fn read(text: &str) -> Workflow {
    let loaded = load_with(text, &[]);
    let problems: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    let first = loaded.workflows.into_iter().next();
    let mut workflow = first.unwrap_or_else(|| panic!("{text}\n{}", problems.join("\n")));
    for phase in &mut workflow.phases {
        phase.next = allowed_targets(phase);
        phase.slots = Some(phase.slots());
    }
    workflow
}

/// Section, field and default of every row that has one.
fn defaults() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut section = "";
    let mut found = Vec::new();
    for line in PAGE.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            section = name;
        }
        let cells: Vec<&str> = line.split(" | ").collect();
        let [names, _, default, _] = &cells[..] else { continue };
        let Some(name) = names.strip_prefix("| `").and_then(|rest| rest.split('`').next()) else {
            continue;
        };
        if !default.trim().is_empty() {
            found.push((section, name, default.trim()));
        }
    }
    found
}

#[test]
fn a_file_that_says_the_default_is_read_as_one_that_leaves_it_out() {
    let defaults = defaults();
    assert!(defaults.len() > 30, "the page is not read: {defaults:?}");
    for (section, name, default) in defaults {
        let said = IN_WORDS.iter().find(|(words, _)| *words == default);
        let value = said.map_or(default, |(_, value)| value);
        if value.is_empty() {
            continue;
        }
        let (with, without) =
            (file(section, name, &format!("{name}: {value}")), file(section, name, ""));
        assert_eq!(read(&with), read(&without), "`{name}` of {section} is not {default}:\n{with}");
    }
}

#[test]
fn no_default_in_words_is_forgotten() {
    let defaults = defaults();
    for (words, _) in IN_WORDS {
        assert!(defaults.iter().any(|(_, _, default)| default == words), "nothing has `{words}`");
    }
}

/// Names and values of the defaults in the tables of the guide: `10 minutes` as a file says it. Limits that have none are left out.
fn in_the_guide() -> Vec<(String, String)> {
    let page = include_str!("../../../../docs/guide/limits.md");
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains("`limits."));
    let mut found = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let code = row.split('`').skip(1).step_by(2);
        let names: Vec<&str> = code.filter_map(|it| it.strip_prefix("limits.")).collect();
        let values: Vec<&str> = cells.last().unwrap().split(", ").collect();
        if names == ["timeout"] {
            assert_eq!(values, ["none for agents", "60 minutes for commands"]);
            continue;
        }
        assert_eq!(names.len(), values.len(), "{row}");
        for (name, value) in names.into_iter().zip(values).filter(|(_, value)| *value != "none") {
            let (number, unit) = value.split_once(' ').unwrap_or((value, ""));
            let unit = match unit {
                "minutes" => "m",
                "seconds" => "s",
                "" | "calls" | "in a row" => "",
                other => panic!("what is `{other}`? {row}"),
            };
            found.push((name.to_owned(), format!("{number}{unit}")));
        }
    }
    found
}

#[test]
fn the_defaults_in_the_guide_are_those_in_force() {
    let found = in_the_guide();
    assert!(found.len() > 10, "the page is not read: {found:?}");
    for (name, value) in found {
        let (with, without) =
            (file("limits", &name, &format!("{name}: {value}")), file("limits", &name, ""));
        assert_eq!(read(&with), read(&without), "`limits.{name}` is not {value}");
    }
}
