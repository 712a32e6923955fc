//! What the tools of agents do: their kinds, as data per agent and version, and the fields of their input that a guard must look at.
//!
//! A tool that no table has is [`ToolKind::Unknown`] and counts as able to do anything. `table.rs` is the data, `fields.rs` finds
//! commands, code, paths, patterns and addresses in an input, with `patch.rs` and `statement.rs` for texts that name more, and `dressed.rs`
//! for what is said about a command beside it.

mod dressed;
mod fields;
pub(crate) mod patch;
mod statement;
mod table;

use serde::{Deserialize, Serialize};

pub use fields::{Finding, file_address, found_in, looks_like_a_path};
pub use patch::{Patched, patched};
pub use table::Version;

/// What a tool does. Adapters set it only for tools that they know for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// It runs a command.
    Run,
    /// It reads a file.
    Read,
    /// It writes a whole file.
    Write,
    /// It changes a part of a file.
    Edit,
    /// It deletes a file.
    Delete,
    /// It searches or lists files.
    Search,
    /// It gets something from the network.
    Fetch,
    /// It starts a sub-agent.
    Agent,
    /// It belongs to an MCP server, which may do anything.
    Mcp,
    /// It is known, and does none of these.
    Other,
    /// Nobody knows it, or it is known to do whatever a file says.
    #[default]
    Unknown,
}

impl ToolKind {
    /// True if it may be of any kind.
    pub fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

/// Words of lists that stand for every tool of a kind, whatever an agent calls it.
const ALIASES: [(&str, ToolKind); 11] = [
    ("bash", ToolKind::Run),
    ("shell", ToolKind::Run),
    ("read", ToolKind::Read),
    ("write", ToolKind::Write),
    ("edit", ToolKind::Edit),
    ("delete", ToolKind::Delete),
    ("search", ToolKind::Search),
    ("fetch", ToolKind::Fetch),
    ("agent", ToolKind::Agent),
    ("task", ToolKind::Agent),
    ("mcp", ToolKind::Mcp),
];

/// The kind that a word of a list stands for; `None` if it is only a name. Case does not count.
pub fn alias(word: &str) -> Option<ToolKind> {
    let word = word.trim();
    ALIASES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, kind)| *kind)
}

/// Every word that stands for a kind.
pub fn aliases() -> impl Iterator<Item = (&'static str, ToolKind)> {
    ALIASES.into_iter()
}

/// What an agent's tool does, to the letter of its name; `None` if no table has it.
///
/// Without a version every row counts. One of a version that is not in a row's range does not: the name may mean something else there.
pub fn kind_in(agent: &str, version: Option<Version>, tool: &str) -> Option<ToolKind> {
    // Every agent names the tools of servers so.
    if tool.starts_with("mcp__") {
        return Some(ToolKind::Mcp);
    }
    table::rows(agent).iter().find(|row| row.is(tool, version)).map(|row| row.kind)
}

/// What a tool of that name does with every agent that has it; case does not count. It is for calls whose agent is not known.
pub fn usual_kind(tool: &str) -> ToolKind {
    let name = super::tool_name::unwrapped(tool).to_ascii_lowercase();
    if name.starts_with("mcp__") {
        return ToolKind::Mcp;
    }
    table::usual(&name)
}

/// True if a tool of this name and kind may do what a kind stands for.
pub fn may_be(tool: &str, kind: ToolKind, wanted: ToolKind) -> bool {
    kind == wanted || kind.is_unknown() || table::also(tool).contains(&wanted)
}

/// True if a tool of a server is called by what a kind stands for: nothing else is known of it.
pub fn says_it_does(tool: &str, wanted: ToolKind) -> bool {
    let words: &[&str] = match wanted {
        ToolKind::Run => &[
            "run", "exec", "execute", "shell", "bash", "sh", "terminal", "command", "cmd", "eval",
            "spawn", "process", "script", "ssh",
        ],
        ToolKind::Edit | ToolKind::Write => &[
            "edit", "write", "patch", "replace", "append", "insert", "save", "put", "move", "mv",
            "rename", "create", "mkdir", "copy", "delete", "remove", "unlink",
        ],
        ToolKind::Delete => &["delete", "remove", "unlink", "rm", "trash"],
        ToolKind::Read => &["read", "cat", "view"],
        ToolKind::Search => &["search", "grep", "glob", "find"],
        ToolKind::Fetch | ToolKind::Agent | ToolKind::Mcp | ToolKind::Other | ToolKind::Unknown => {
            &[]
        }
    };
    words_of(tool).iter().any(|part| words.contains(&part.as_str()))
}

/// True if a tool of a server is called by what nobody can take back.
pub fn says_it_destroys(tool: &str) -> bool {
    const WORDS: [&str; 6] = ["delete", "destroy", "drop", "purge", "wipe", "erase"];
    words_of(tool).first().is_some_and(|first| WORDS.contains(&first.as_str()))
}

/// True if a tool is called by moving files.
fn moves(tool: &str) -> bool {
    words_of(tool).iter().any(|word| ["move", "rename", "mv"].contains(&word.as_str()))
}

/// The words of a tool's own name, in lower case, without what stands for its server.
fn words_of(tool: &str) -> Vec<String> {
    let own = tool.rsplit("__").next().unwrap_or(tool);
    // `runCommand`, `run_command` and `run-command` are the same words.
    let mut spread = String::new();
    for letter in own.chars() {
        if letter.is_ascii_uppercase() {
            spread.push('_');
        }
        spread.push(letter.to_ascii_lowercase());
    }
    let parts = spread.split(['_', '-', '.', '/', ':']).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_to_the_letter_for_its_agent_and_roughly_for_any() {
        assert_eq!(kind_in("claude", None, "Monitor"), Some(ToolKind::Run));
        assert_eq!(kind_in("claude", None, "monitor"), None);
        assert_eq!(kind_in("pi", None, "bash"), Some(ToolKind::Run));
        assert_eq!(kind_in("pi", None, "Bash"), None);
        assert_eq!(kind_in("nobody", None, "bash"), None);
        assert_eq!(kind_in("nobody", None, "mcp__a__b"), Some(ToolKind::Mcp));
        assert_eq!(usual_kind("BASH"), ToolKind::Run);
        assert_eq!(usual_kind("functions.bash"), ToolKind::Run);
        assert_eq!(usual_kind("functions."), ToolKind::Unknown);
        assert_eq!(usual_kind("MultiEdit"), ToolKind::Edit);
        assert_eq!(usual_kind("no_such_tool"), ToolKind::Unknown);
    }

    #[test]
    fn a_tool_of_a_server_does_what_its_name_says() {
        for tool in ["mcp__box__run", "mcp__box__runCommand", "mcp__t__execute_sql", "mcp__a__bash"]
        {
            assert!(says_it_does(tool, ToolKind::Run), "{tool}");
        }
        assert!(
            says_it_destroys("mcp__github__delete_repository") && says_it_destroys("DropTable")
        );
        assert!(!says_it_destroys("mcp__delete__list") && !says_it_destroys("list_deleted"));
        assert!(says_it_does("mcp__fs__edit_file", ToolKind::Edit));
        for tool in ["write_file", "move_file", "create_directory", "delete_file", "copyFile"] {
            assert!(says_it_does(&format!("mcp__fs__{tool}"), ToolKind::Write), "{tool}");
        }
        assert!(!says_it_does("mcp__fs__list_directory", ToolKind::Write));
        for tool in ["mcp__github__create_issue", "mcp__fs__read_file", "mcp__run__list"] {
            assert!(!says_it_does(tool, ToolKind::Run), "{tool}");
        }
    }

    #[test]
    fn a_tool_of_another_version_is_not_known() {
        let at = |text: &str| Version::read(text);
        assert_eq!(kind_in("pi", at("1.5.0"), "codemode"), Some(ToolKind::Unknown));
        assert_eq!(kind_in("pi", at("0.87.1"), "codemode"), None);
        assert_eq!(kind_in("pi", at("0.87.1"), "bash"), Some(ToolKind::Run));
        assert_eq!(at("2.1.325 (Claude Code)"), Some(Version(2, 1, 325)));
        assert_eq!(at("v1.5"), Some(Version(1, 5, 0)));
        assert_eq!(at("newest"), None);
    }

    #[test]
    fn no_two_agents_disagree_about_a_name() {
        for agent in table::AGENTS {
            for row in table::rows(agent) {
                let usual = usual_kind(row.name);
                assert_eq!(usual, row.kind, "{agent} {}", row.name);
            }
        }
    }

    /// Every tool that the recorded and tested versions print in their list of tools.
    #[test]
    fn the_tools_of_the_tested_versions_have_a_row() {
        let claude = "Task Agent AskUserQuestion Bash CronCreate CronDelete CronList Edit EnterPlanMode EnterWorktree \
            ExitPlanMode ExitWorktree Glob Grep ListAgents Monitor NotebookEdit Read ReportFindings ScheduleWakeup \
            SendMessage Skill TaskStop ToolSearch WebFetch WebSearch Workflow Write DeferredToolPlaceholder";
        let version = Version::read("2.1.325");
        for tool in claude.split_whitespace() {
            assert!(kind_in("claude", version, tool).is_some(), "{tool}");
        }
        for version in ["0.87.1", "1.5.0"] {
            for tool in ["read", "bash", "edit", "write", "grep", "find", "ls"] {
                assert!(kind_in("pi", Version::read(version), tool).is_some(), "{tool}");
            }
        }
    }

    #[test]
    fn a_patch_is_also_a_write_and_a_deletion() {
        assert!(may_be("apply_patch", ToolKind::Edit, ToolKind::Delete));
        assert!(!may_be("Edit", ToolKind::Edit, ToolKind::Delete));
        assert!(may_be("what", ToolKind::Unknown, ToolKind::Run));
        assert!(!may_be("mcp__a__b", ToolKind::Mcp, ToolKind::Run));
    }
}
