//! Files of tasks that a text writes and then has run, such as the scripts of a package: they are commands of it as well.

use serde_json::Value;

use super::invoke::{Call, base};
use super::state::State;
use super::value::Field;
use super::walk::Walker;

/// Programs, and the files that their tasks are in.
const TASKS: &[(&str, &str)] = &[
    ("npm pnpm yarn bun node", "package.json"),
    ("composer", "composer.json"),
    ("deno", "deno.json deno.jsonc"),
    ("task go-task", "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml"),
    ("poe pdm hatch rye pixi", "pyproject.toml pixi.toml"),
    ("pipenv", "Pipfile"),
    ("mise", "mise.toml .mise.toml"),
];
/// Scripts that a package manager runs unasked.
const UNASKED: [&str; 8] = [
    "preinstall",
    "install",
    "postinstall",
    "prepare",
    "preprepare",
    "postprepare",
    "prepublish",
    "prepublishOnly",
];
/// Most tasks of one file that are walked.
const TASKS_MAX: usize = 100;

impl Walker<'_> {
    /// Walks the tasks that a program may run of files that this text wrote.
    pub(super) fn tasks(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        if self.written.is_empty() {
            return;
        }
        let row = TASKS.iter().find(|(names, _)| names.split(' ').any(|it| it == name));
        let Some((_, files)) = row else { return };
        // Whatever folder it is told: a file that was written is there to be used.
        let is_theirs = |place: &str| files.split(' ').any(|file| file == base(place));
        let written = self.written.iter().filter(|(place, _)| is_theirs(place));
        let texts: Vec<String> = written.map(|(_, text)| text.clone()).collect();
        for text in texts {
            let tasks = if text.trim_start().starts_with('{') {
                of_package(&text, words)
            } else {
                of_lines(&text)
            };
            for task in tasks.into_iter().take(TASKS_MAX) {
                self.joined_text(&[Field::text(&task)], state, call);
            }
        }
    }
}

/// The scripts of a package that are called, with those before and after them.
fn of_package(text: &str, words: &[Field]) -> Vec<String> {
    let Ok(package) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let is_open = words.iter().any(|word| !word.is_known());
    let is_word = |name: &str| {
        let is_it = |word: &Field| {
            let word = word.known().unwrap_or_default();
            word == name || word.starts_with(['t', 'T']) && word.len() < 4 && name == "test"
        };
        words.iter().any(is_it)
    };
    let is_called = |name: &str| {
        let around = ["pre", "post"].iter().find_map(|it| name.strip_prefix(it));
        is_open || is_word(name) || around.is_some_and(is_word) || UNASKED.contains(&name)
    };
    let all = ["scripts", "tasks"].iter().filter_map(|it| package.get(it)?.as_object()).flatten();
    let called = all.filter(|(name, _)| is_called(name));
    called.flat_map(|(_, task)| texts_in(task)).collect()
}

fn texts_in(task: &Value) -> Vec<String> {
    match task {
        Value::String(text) => vec![text.clone()],
        Value::Array(all) => all.iter().flat_map(texts_in).collect(),
        Value::Object(all) => all.values().flat_map(texts_in).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Lines of a file of tasks that may be commands: all of them are walked, whichever task is called.
fn of_lines(text: &str) -> Vec<String> {
    const OTHERS: [&str; 14] = [
        "desc",
        "summary",
        "help",
        "description",
        "version",
        "sources",
        "generates",
        "deps",
        "dir",
        "vars",
        "env",
        "silent",
        "method",
        "aliases",
    ];
    let is_table = text.lines().any(|line| line.starts_with('['));
    let mut is_task = !is_table;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if is_table && line.starts_with('[') && line.ends_with(']') {
            is_task = line.contains("script") || line.contains("task");
            continue;
        }
        if !is_task || line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("- ").unwrap_or(line).trim();
        let sign = if is_table { "=" } else { ": " };
        let (key, value) = match line.split_once(sign) {
            Some((key, value)) if !key.trim().contains(' ') => (key.trim(), value.trim()),
            _ => ("", line),
        };
        if OTHERS.contains(&key) || value.ends_with(':') && !value.contains(' ') {
            continue;
        }
        let quoted = quoted_in(value);
        match quoted.as_slice() {
            _ if !value.starts_with(['"', '\'', '[', '{']) => found.push(value.to_owned()),
            [] => {}
            [one] => found.push((*one).to_owned()),
            // Each of them may be a command, or all of them its words.
            more => {
                found.extend(more.iter().map(|it| (*it).to_owned()));
                found.push(more.join(" "));
            }
        }
    }
    found
}

fn quoted_in(value: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = value;
    while let Some(at) = rest.find(['"', '\'']) {
        let (quote, inner) = rest.get(at..).unwrap_or_default().split_at(1);
        let Some((text, after)) = inner.split_once(quote) else { break };
        found.push(text);
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_found_in_files_of_several_kinds() {
        let package =
            r#"{"scripts": {"a": "ls 1", "prea": "ls 2", "b": "ls 3", "prepare": "ls 4"}}"#;
        assert_eq!(
            of_package(package, &[Field::text("run"), Field::text("a")]),
            ["ls 1", "ls 2", "ls 4"]
        );
        let lines =
            "version: 3\ntasks:\n  a:\n    desc: it lists\n    cmds:\n      - ls 1\n  b: ls 2\n";
        assert_eq!(of_lines(lines), ["ls 1", "ls 2"]);
        let table =
            "[project]\nname = \"ls 0\"\n[tool.poe.tasks]\na = \"ls 1\"\nb = [\"ls\", \"2\"]\n";
        assert_eq!(of_lines(table), ["ls 1", "ls", "2", "ls 2"]);
    }
}
