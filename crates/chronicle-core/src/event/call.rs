//! A tool call as data: what an adapter parsed from it, cut to what an event keeps.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::trees::TREE_PATH_MAX;
use crate::base::limits::{CALL_COMMAND_MAX, TOOL_INPUT_MAX, bounded, cut};
use crate::base::start_files::runs_at_start;
pub use crate::base::tools::ToolKind;
use crate::base::{as_text, shell, tool_name};

/// A tool call that a worker wants to make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The agent's id of the call. Agents may reuse ids: only id and sum together identify a call.
    pub id: String,
    /// The tool's name as the agent calls it.
    pub tool: String,
    /// What the tool does.
    #[serde(default, skip_serializing_if = "ToolKind::is_unknown")]
    pub kind: ToolKind,
    /// The worker itself, or one of its sub-agents.
    #[serde(default, skip_serializing_if = "Caller::is_worker")]
    pub by: Caller,
    /// Identifies the tool, its whole input, and the folder if it begins in another one than its worker.
    pub sum: CallSum,
    /// The folder that it begins in, if that is another one than its worker was started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The input as people read it, bounded.
    pub shown: String,
    /// The shell command, if the tool runs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// True if the command was cut to the length that is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub command_cut: bool,
    /// True if the tool answers before the command ends. `command` then ends with `&`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// The only file that it may change, if its tool names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// True if that file can make a program run commands at its next start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub start_file: bool,
}

impl Call {
    /// The same call in another folder, which is another call: `rm -r build` removes something else there.
    #[must_use]
    pub fn at(self, folder: &str) -> Self {
        let sum = self.sum.at(folder);
        Self { sum, folder: Some(folder.to_owned()), ..self }
    }

    /// A call of which nothing but its id is known.
    pub fn unknown(id: &str) -> Self {
        Self { shown: String::new(), ..Self::new(id, "unknown", &Value::Null, &[]) }
    }

    /// A call by the worker itself to a tool of unknown kind. Input fields named in `volatile` do not count towards its sum.
    pub fn new(id: &str, tool: &str, input: &Value, volatile: &[&str]) -> Self {
        let command = shell::command_in(tool, input);
        let background = command.is_some() && shell::asks_background(input);
        let command = command.map(|it| if background { shell::in_background(&it) } else { it });
        Self {
            id: id.to_owned(),
            tool: tool.to_owned(),
            kind: ToolKind::Unknown,
            by: Caller::Worker,
            // Of the whole input, before anything is cut: two long calls that differ only at the end are different calls.
            sum: CallSum::of(tool, input, volatile),
            folder: None,
            shown: bounded(&input.to_string(), TOOL_INPUT_MAX),
            command_cut: command.as_ref().is_some_and(|text| text.len() > CALL_COMMAND_MAX),
            command: command.map(|text| cut(&text, CALL_COMMAND_MAX).to_owned()),
            background,
            // Judged before it is known whether the path is short enough to be kept.
            // By all that the name may stand for: a namespace before it must not make it freer.
            start_file: tool_name::readings(tool)
                .into_iter()
                .any(|reading| changed_file(reading, input).is_some_and(runs_at_start)),
            path: changed_file(tool, input)
                .filter(|path| path.len() <= TREE_PATH_MAX)
                .map(str::to_owned),
        }
    }
}

/// Names of tools that change the one file that their input names, in lower case. A tool of an MCP server may do anything.
const FILE_TOOLS: [&str; 8] = [
    "write",
    "edit",
    "multiedit",
    "notebookedit",
    "delete",
    "write_file",
    "edit_file",
    "delete_file",
];
/// Input fields that name it.
const FILE_FIELDS: [&str; 4] = ["path", "file_path", "filePath", "notebook_path"];

/// The only file that a call may change. A path that is too long is not kept: cut, it would name another file, and without one the call
/// may have changed anything.
fn changed_file<'i>(tool: &str, input: &'i Value) -> Option<&'i str> {
    let is_one = FILE_TOOLS.iter().any(|name| name.eq_ignore_ascii_case(tool));
    let path = FILE_FIELDS.iter().find_map(|field| input.get(field)?.as_str());
    path.filter(|path| is_one && !path.is_empty())
}

/// Who makes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caller {
    /// The agent that Chronicle started.
    #[default]
    Worker,
    /// A sub-agent that the worker started.
    SubAgent,
}

impl Caller {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    pub(super) fn is_worker(&self) -> bool {
        *self == Self::Worker
    }
}

/// BLAKE3 sum of a tool's name and its whole input, written as 64 lower-case hex digits.
///
/// It covers canonical JSON, so key order and whitespace do not matter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CallSum(blake3::Hash);

impl CallSum {
    /// The sum of a call, without the `volatile` fields of its input.
    pub fn of(tool: &str, input: &Value, volatile: &[&str]) -> Self {
        let mut text = String::from("[");
        // Quoted and in a list: no tool and input can be joined in another way to the same text.
        canonical(&Value::from(tool), &[], &mut text);
        text.push(',');
        canonical(input, volatile, &mut text);
        text.push(']');
        Self(blake3::hash(text.as_bytes()))
    }

    /// The sum of the same call in another folder than its worker's.
    fn at(self, folder: &str) -> Self {
        let mut text = format!("[\"{self}\",");
        canonical(&Value::from(folder), &[], &mut text);
        text.push(']');
        Self(blake3::hash(text.as_bytes()))
    }
}

/// Writes JSON with sorted keys and no whitespace. `without` skips fields at the top level only: nested ones are the tool's data.
fn canonical(value: &Value, without: &[&str], out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> =
                fields.iter().filter(|(name, _)| !without.contains(&name.as_str())).collect();
            // The map is sorted by itself only as long as no crate asks serde_json to preserve the order.
            fields.sort_unstable_by_key(|(name, _)| *name);
            list(out, '{', '}', fields, |(name, value), out| {
                canonical(&Value::from(name.as_str()), &[], out);
                out.push(':');
                canonical(value, &[], out);
            });
        }
        Value::Array(items) => list(out, '[', ']', items, |item, out| canonical(item, &[], out)),
        // Writing to a string cannot fail.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let _ = write!(out, "{value}");
        }
    }
}

fn list<T>(
    out: &mut String,
    open: char,
    close: char,
    items: impl IntoIterator<Item = T>,
    put: impl Fn(T, &mut String),
) {
    out.push(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        put(item, out);
    }
    out.push(close);
}

impl fmt::Display for CallSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl fmt::Debug for CallSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As much of it as is needed to tell calls apart by eye.
        write!(f, "{:.16}", self.0.to_hex())
    }
}

impl Serialize for CallSum {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0.to_hex())
    }
}

impl<'de> Deserialize<'de> for CallSum {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        as_text::read(from, |text| {
            let sum = blake3::Hash::from_hex(text);
            sum.map(Self).map_err(|_| format!("`{}` is not a sum of 64 hex digits", cut(text, 80)))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_str, json};

    use super::*;

    #[test]
    fn the_sum_sees_all_of_a_call_but_not_how_it_is_written() {
        let sum = |tool: &str, input: &str| CallSum::of(tool, &from_str(input).unwrap(), &["why"]);
        let one = sum("Bash", r#"{"command":"ls","in":{"a":[1,{"x":1,"y":2}],"b":null}}"#);
        for same in [
            r#"{ "in": {"b": null, "a": [1, {"y": 2, "x": 1}]}, "command": "ls" }"#,
            r#"{"why":"to look","command":"\u006cs","in":{"a":[1,{"x":1,"y":2}],"b":null}}"#,
        ] {
            assert_eq!(sum("Bash", same), one, "{same}");
        }
        for other in [
            r#"{"command":"ls","in":{"a":[{"x":1,"y":2},1],"b":null}}"#,
            r#"{"command":"ls","in":{"a":[1,{"x":1,"y":2}]}}"#,
            r#"{"command":"ls","in":{"a":[1,{"x":1,"y":2,"why":0}],"b":null}}"#,
            r#""ls""#,
        ] {
            assert_ne!(sum("Bash", other), one, "{other}");
        }
        assert_ne!(sum("bash", r#"{"command":"ls"}"#), sum("Bash", r#"{"command":"ls"}"#));
    }

    #[test]
    fn a_call_in_another_folder_is_another_call() {
        let call = || Call::new("c", "bash", &json!({"command": "rm -r build"}), &[]);
        assert_eq!(call().at("sub").sum, call().at("sub").sum);
        assert_ne!(call().at("sub").sum, call().sum);
        assert_ne!(call().at("sub").sum, call().at("other").sum);
        let line = serde_json::to_string(&call()).unwrap();
        assert!(!line.contains("folder"), "as older versions wrote it: {line}");
    }

    #[test]
    fn a_sum_is_written_in_full_and_read_again() {
        let sum = CallSum::of("read", &json!({"path": "a"}), &[]);
        let text = serde_json::to_string(&sum).unwrap();
        assert_eq!(text.len(), 66);
        assert_eq!(serde_json::from_str::<CallSum>(&text).unwrap(), sum);
        for wrong in ["\"\"", "\"00\"", "1", "null"] {
            assert!(serde_json::from_str::<CallSum>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_command_is_kept_whole_up_to_its_limit_and_the_input_is_shown_in_part() {
        let call = |command: &str| Call::new("c", "bash", &json!({ "command": command }), &[]);
        let whole = call(&"x".repeat(CALL_COMMAND_MAX));
        assert_eq!(whole.command.as_ref().map(String::len), Some(CALL_COMMAND_MAX));
        assert!(!whole.command_cut && whole.shown.ends_with(" bytes cut]"));
        let cut = call(&"é".repeat(CALL_COMMAND_MAX));
        assert_eq!(cut.command, Some("é".repeat(CALL_COMMAND_MAX / 2)));
        assert!(cut.command_cut);
        assert_eq!(Call::new("c", "read", &json!({ "command": "ls" }), &[]).command, None);
    }

    #[test]
    fn a_call_names_the_file_that_it_changes_if_it_can_change_no_other() {
        let path = |tool: &str, input: Value| Call::new("c", tool, &input, &[]).path;
        assert_eq!(path("Edit", json!({"file_path": "/p/a.rs"})), Some("/p/a.rs".to_owned()));
        assert_eq!(path("write", json!({"path": "a.rs"})), Some("a.rs".to_owned()));
        for (tool, input) in [
            ("bash", json!({"path": "a.rs"})),
            ("mcp__disk__write", json!({"path": "a.rs"})),
            ("write", json!({"path": ""})),
            ("write", json!({"path": ["a.rs"]})),
            ("write", json!({"path": "x".repeat(TREE_PATH_MAX + 1)})),
        ] {
            assert_eq!(path(tool, input), None, "{tool}");
        }
    }
}
