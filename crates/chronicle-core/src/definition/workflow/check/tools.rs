//! Lists of tools: what a name in them may be, so that no entry is read and never enforced.

use super::super::draft::Named;
use super::super::problem::{Finding, Severity, quoted};
use super::super::suggest::closest;
use super::super::tools::Tools;
use super::super::unit::Format;
use super::fields::Fields;
use crate::base::shell::is_shell_tool;
use crate::base::tool_name;

/// Tools of the agents that Chronicle knows, in lower case. Servers and extensions bring others, under any name.
const KNOWN: &str = "agent apply_patch askuserquestion bash bashoutput delete delete_file edit edit_file enterplanmode exec_command \
    exitplanmode fetch find glob google_web_search grep killshell list list_directory local_shell ls mcp monitor \
    multiedit notebookedit patch read read_file replace run_shell_command search search_file_content shell skill \
    task taskoutput taskstop todoread todowrite toolsearch update_plan view_image web_fetch web_search webfetch \
    websearch write write_file";

/// Words that people write for how many tools they mean. No agent reads them so.
const NO_TOOLS: [&str; 8] =
    ["all", "any", "every", "everything", "none", "nothing", "inherit", "default"];

const SUB_AGENTS: &[(&str, bool)] = &[("bound", false), ("free", true)];

/// Reads `tools` of a phase.
pub(super) fn read(fields: &mut Fields<'_, '_>, format: Format) -> Tools {
    let Some(field) = fields.take("tools") else { return Tools::default() };
    let said = fields.map("tools", &field.value, |fields| Tools {
        allow: names(fields, List::Allow, format),
        // What denies some calls denies the tool: nothing here looks at what it is called with.
        deny: names(fields, List::Deny, format)
            .unwrap_or_default()
            .iter()
            .map(whole_tool)
            .collect(),
        own_only: fields.choice("subagents", SUB_AGENTS).unwrap_or_default(),
        // There a list has the names of Pi's tools, and nothing else is blocked.
        names_only: format == Format::Phased,
    });
    let tools = said.unwrap_or_default();
    if tools.allow.is_some() && !tools.deny.is_empty() {
        let message = "`tools` both allows and denies: what is in neither list?";
        let finding = Finding::error("tools-both-ways", field.at, message);
        fields.problems.push(finding.hint("keep `allow` alone"));
    }
    tools
}

/// Which of the two lists a name is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Allow,
    Deny,
}

fn names(fields: &mut Fields<'_, '_>, list: List, format: Format) -> Option<Vec<String>> {
    let field = match list {
        List::Allow => "allow",
        List::Deny => "deny",
    };
    let said = fields.named_list(field)?;
    for finding in said.iter().filter_map(|name| doubt(name, list, format)) {
        fields.problems.push(finding);
    }
    Some(said.into_iter().map(|name| name.text).collect())
}

/// What is wrong with a name. Files of other programs are only warned about, and only of what is surely a slip.
pub(crate) fn doubt(name: &Named, list: List, format: Format) -> Option<Finding> {
    let text = name.text.trim();
    let error = if format == Format::Native { Severity::Error } else { Severity::Warning };
    let tool = whole_tool(&name.text);
    if tool != text {
        let (said, tool) = (quoted(text), quoted(&tool));
        let message = match list {
            _ if format == Format::Native => {
                format!("{said} is no tool: a list names whole tools, not some calls")
            }
            List::Allow => format!("{said} names some calls, not a tool: it allows nothing"),
            List::Deny => format!("{said} names some calls: {tool} is denied as a whole"),
        };
        let finding = Finding::new(error, "tool-with-arguments", name.at, message);
        return Some(finding.hint(format!("write {tool}")));
    }
    if !tool_name::is_plain(&text.replace('*', "_")) {
        let said = quoted(text);
        let message = match list {
            List::Allow => format!("{said} cannot be the name of a tool: it allows nothing"),
            List::Deny => {
                format!("{said} cannot be the name of a tool: it denies nothing by itself")
            }
        };
        let finding = Finding::new(error, "unknown-tool", name.at, message);
        return Some(finding.hint("names of tools have letters of ASCII, digits and `_ - . : /`"));
    }
    // What a server or a pattern may mean cannot be known beforehand.
    let is_open = text.contains('*') || text.starts_with("mcp__");
    let known = || KNOWN.split_whitespace();
    if is_open || is_shell_tool(text) || known().any(|tool| tool.eq_ignore_ascii_case(text)) {
        return None;
    }
    let message = format!("no agent that Chronicle knows has a tool {}", quoted(text));
    let Some(meant) = closest(text, known()) else {
        // Other programs have tools of their own, but none of them is called `all`: such a list would allow nothing at all.
        let is_a_number = NO_TOOLS.iter().any(|word| word.eq_ignore_ascii_case(text));
        if format != Format::Native && !is_a_number {
            return None;
        }
        let finding = Finding::warning("unknown-tool", name.at, message);
        return Some(
            finding.hint("it counts for a tool of exactly that name, such as an extension's"),
        );
    };
    Some(Finding::new(error, "unknown-tool", name.at, message).did_you_mean(Some(meant)))
}

/// The tool of an entry that names some of its calls: `Bash(rm *)` is `Bash`.
pub(crate) fn whole_tool(entry: impl AsRef<str>) -> String {
    entry.as_ref().trim().split(['(', ' ']).next().unwrap_or_default().to_owned()
}
