//! Tool calls of lines without sums: everything is read from the cut text of their input.
//!
//! Such lines are no longer written. What is read from them must not change, or old ledgers would fold to other states.

use serde_json::Value;

use super::frame::Repeat;
use crate::base::limits::{REPEAT_INPUT_MAX, bounded};
use crate::base::shell::{self, CommandLine, FIELDS};
use crate::event::ToolCalled;
use crate::event::signal::is_ours;

/// How the text of an input ends that was cut. These lines say it nowhere else.
const CUT_MARK: &str = " bytes cut]";

/// The command of a call, as far as its text has it.
pub(super) fn command(called: &ToolCalled) -> Option<CommandLine> {
    let text = command_text(called)?;
    Some(CommandLine { is_cut: text.ends_with(CUT_MARK), text })
}

fn command_text(called: &ToolCalled) -> Option<String> {
    let input = called.input.as_str();
    match serde_json::from_str::<Value>(input) {
        Ok(whole) => shell::command_in(&called.tool, &whole),
        Err(_) if shell::is_shell_tool(&called.tool) => {
            let said = FIELDS.iter().find_map(|field| begun(input, field))?;
            Some(said.trim().to_owned()).filter(|text| !text.is_empty())
        }
        Err(_) => None,
    }
}

/// True if the input lets its command run in the background, as far as its text has it. Lines that say it themselves need not be
/// asked. Where the text was cut nothing is known, and a `&` at the end may be the worker's own.
pub(super) fn asks_background(called: &ToolCalled) -> bool {
    let input = serde_json::from_str::<Value>(&called.input);
    input.is_ok_and(|input| shell::asks_background(&input))
}

/// Counts it for repetition; `None` for Chronicle's tools, and if only a part of the call is known.
pub(super) fn repeat(called: &ToolCalled) -> Option<Repeat> {
    let ToolCalled { tool, input, .. } = called;
    // Two calls that differ only behind the cut would look the same. Such lines never counted, and must not begin to.
    if input.ends_with(CUT_MARK) || is_ours(tool) {
        return None;
    }
    // Frozen, with its length: under another mark an old ledger would fold to another state.
    let mark = blake3::hash(format!("{tool}\0{input}").as_bytes()).to_hex();
    let input = bounded(input, REPEAT_INPUT_MAX);
    Some(Repeat { tool: tool.clone(), input, mark: mark[..16].to_owned(), count: 0 })
}

/// The beginning of a text field whose JSON was cut.
fn begun(input: &str, field: &str) -> Option<String> {
    // What was cut is no valid JSON any more, so the one field is read by hand up to the cut.
    let (_, after) = input.split_once(&format!("\"{field}\":"))?;
    let text = after.trim_start().strip_prefix('"')?;
    let mut said = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Some(said),
            '\\' => match letters.next() {
                Some('n' | 'r') => said.push('\n'),
                Some('t') => said.push('\t'),
                Some(other) => said.push(other),
                None => break,
            },
            other => said.push(other),
        }
    }
    Some(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::AttemptId;
    use crate::event::{Caller, ToolKind, Verdict};

    fn called(tool: &str, input: &str) -> ToolCalled {
        ToolCalled {
            attempt: AttemptId(1),
            call: "c".to_owned(),
            tool: tool.to_owned(),
            input: input.to_owned(),
            sum: None,
            kind: ToolKind::Unknown,
            by: Caller::Worker,
            command: None,
            command_cut: false,
            background: false,
            path: None,
            start_file: false,
            folder: None,
            verdict: Verdict::Allowed,
            unasked: false,
            judged: crate::guard::Judgement::Clear,
            gate: None,
            active_ms: 0,
        }
    }

    #[test]
    fn a_command_is_found_in_text_that_was_cut() {
        for (tool, input, expected) in [
            ("Bash", r#"{"command":"cargo test","timeout":5}"#, Some("cargo test")),
            (
                "bash",
                r#"{"command":"echo \"a\"\nmake… [12 bytes cut]"#,
                Some("echo \"a\"\nmake… [12 bytes cut]"),
            ),
            ("bash", "\"ls\"", Some("ls")),
            ("bash", "", None),
            ("read", r#"{"command":"vi… [12 bytes cut]"#, None),
        ] {
            let line = command(&called(tool, input));
            let cut = line.as_ref().is_some_and(|line| line.is_cut);
            assert_eq!(cut, expected.is_some_and(|text| text.ends_with(']')), "{tool} {input}");
            assert_eq!(line.map(|line| line.text).as_deref(), expected, "{tool} {input}");
        }
    }

    #[test]
    fn a_call_known_in_part_is_not_counted() {
        let mark = |tool: &str, input: &str| repeat(&called(tool, input)).map(|call| call.mark);
        assert_eq!(mark("read", "{}").as_deref(), Some("36914b37ad966d89"));
        assert_eq!(mark("read", "{… [12 bytes cut]"), None);
        assert_eq!(mark("workflow_status", "{}"), None);
    }
}
