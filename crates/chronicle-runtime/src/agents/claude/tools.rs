//! The tools of Claude Code, as far as they are known for sure.

use chronicle_core::event::ToolKind;

use crate::agents::call::KnownTool;

/// What is known of a tool by the name that Claude Code itself gives it.
pub(super) fn known(tool: &str) -> KnownTool {
    let kind = match tool {
        // The model words its `description` anew each time.
        "Bash" => return KnownTool { kind: ToolKind::Run, volatile: &["description"] },
        "Read" => ToolKind::Read,
        "Write" => ToolKind::Write,
        "Edit" | "MultiEdit" | "NotebookEdit" => ToolKind::Edit,
        "Glob" | "Grep" | "LS" => ToolKind::Search,
        "WebFetch" | "WebSearch" => ToolKind::Fetch,
        "Agent" | "Task" => ToolKind::Agent,
        "AskUserQuestion" | "EnterPlanMode" | "ExitPlanMode" | "TodoWrite" | "ToolSearch" => {
            ToolKind::Other
        }
        _ if tool.starts_with("mcp__") => ToolKind::Mcp,
        _ => ToolKind::Unknown,
    };
    kind.into()
}
