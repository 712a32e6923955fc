//! The tables: every tool of every agent that Chronicle drives, and names that other agents use.

use super::ToolKind;
use super::ToolKind::{Agent, Delete, Edit, Fetch, Other, Read, Run, Search, Unknown, Write};
use crate::base::shell;

/// A version of an agent: the first three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The first version in a text, such as `2.1.325 (Claude Code)`; missing numbers are 0.
    pub fn read(text: &str) -> Option<Self> {
        let start = text.find(|letter: char| letter.is_ascii_digit())?;
        let end = text[start..].find(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let end = end.map_or(text.len(), |end| start + end);
        let mut numbers = text[start..end].split('.').map(|number| number.parse().ok());
        let mut next = || numbers.next().unwrap_or(Some(0));
        Some(Self(next()?, next()?, next()?))
    }
}

/// One tool of one agent.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) kind: ToolKind,
    /// First version that has it; `None` if all that we know have it.
    since: Option<Version>,
}

impl Row {
    pub(super) fn is(&self, tool: &str, version: Option<Version>) -> bool {
        let is_in = version.is_none_or(|version| self.since.is_none_or(|since| since <= version));
        self.name == tool && is_in
    }
}

const fn row(name: &'static str, kind: ToolKind) -> Row {
    Row { name, kind, since: None }
}

const fn row_since(name: &'static str, kind: ToolKind, since: Version) -> Row {
    Row { name, kind, since: Some(since) }
}

/// Agents that have a table.
#[cfg(test)]
pub(super) const AGENTS: [&str; 2] = ["claude", "pi"];

pub(super) fn rows(agent: &str) -> &'static [Row] {
    match agent {
        "claude" => CLAUDE,
        "pi" => PI,
        _ => &[],
    }
}

/// Claude Code. Those without a version were there before 2.1.325, or are there now.
const CLAUDE: &[Row] = &[
    row("Bash", Run),
    // It runs a command and tells the model about each line that it prints.
    row("Monitor", Run),
    row("Read", Read),
    row("NotebookRead", Read),
    row("Write", Write),
    row("Edit", Edit),
    row("MultiEdit", Edit),
    row("NotebookEdit", Edit),
    row("Glob", Search),
    row("Grep", Search),
    row("LS", Search),
    row("WebFetch", Fetch),
    row("WebSearch", Fetch),
    row("Task", Agent),
    row("Agent", Agent),
    row("SendMessage", Agent),
    // A script of its own that starts agents, whose calls are judged one by one.
    row("Workflow", Agent),
    // They look at what a command printed, or end it.
    row("BashOutput", Other),
    row("KillShell", Other),
    row("KillBash", Other),
    row("TaskOutput", Other),
    row("TaskStop", Other),
    row("TaskCreate", Other),
    row("TaskGet", Other),
    row("TaskList", Other),
    row("TaskUpdate", Other),
    row("ListAgents", Other),
    row("AskUserQuestion", Other),
    row("EnterPlanMode", Other),
    row("ExitPlanMode", Other),
    row("TodoRead", Other),
    row("TodoWrite", Other),
    row("ToolSearch", Other),
    row("DeferredToolPlaceholder", Other),
    row("ReportFindings", Other),
    row("ScheduleWakeup", Other),
    row("CronList", Other),
    row("CronDelete", Other),
    row("ListMcpResourcesTool", ToolKind::Mcp),
    row("ReadMcpResourceTool", ToolKind::Mcp),
    // It reads instructions. What the model does by them are calls of their own.
    row("Skill", Other),
    // They run git by themselves, and take no command.
    row("EnterWorktree", Other),
    row("ExitWorktree", Other),
    // What these do is said in a file or a text that is not part of the call, or happens after the session.
    row("SlashCommand", Unknown),
    row("CronCreate", Unknown),
];

/// Pi. Its extensions bring others, which stay unknown.
const PI: &[Row] = &[
    row("bash", Run),
    row("read", Read),
    row("write", Write),
    row("edit", Edit),
    row("grep", Search),
    row("find", Search),
    row("ls", Search),
    // It runs code that calls the tools of servers.
    row_since("codemode", Unknown, Version(1, 5, 0)),
];

/// Names of the same tools with other agents, in lower case.
const ELSEWHERE: &[(&str, ToolKind)] = &[
    ("read_file", Read),
    ("read_many_files", Read),
    ("view_image", Read),
    ("view", Read),
    ("write_file", Write),
    ("create_file", Write),
    ("edit_file", Edit),
    ("replace", Edit),
    ("patch", Edit),
    ("apply_patch", Edit),
    ("delete", Delete),
    ("delete_file", Delete),
    ("search", Search),
    ("list", Search),
    ("list_directory", Search),
    ("search_file_content", Search),
    ("grep_search", Search),
    ("fetch", Fetch),
    ("web_fetch", Fetch),
    ("web_search", Fetch),
    ("google_web_search", Fetch),
    ("update_plan", Other),
];

/// The kind of a name in lower case, whoever has it.
pub(super) fn usual(name: &str) -> ToolKind {
    let own = CLAUDE.iter().chain(PI).find(|row| row.name.eq_ignore_ascii_case(name));
    if let Some(row) = own {
        return row.kind;
    }
    // Below a namespace it may be anything.
    if !name.contains("__") && shell::is_shell_tool(name) {
        return Run;
    }
    ELSEWHERE.iter().find(|(other, _)| *other == name).map_or(Unknown, |(_, kind)| *kind)
}

/// What a tool does beside its kind.
pub(super) fn also(tool: &str) -> &'static [ToolKind] {
    // A patch may create files and take them away.
    let is_patch = ["apply_patch", "patch"].iter().any(|name| name.eq_ignore_ascii_case(tool));
    if is_patch { &[Write, Delete] } else { &[] }
}
