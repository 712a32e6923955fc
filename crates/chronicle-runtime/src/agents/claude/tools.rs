//! The tools of Claude Code.

use chronicle_core::base::tools::kind_in;

use crate::agents::call::KnownTool;

/// What is known of a tool by the name that Claude Code itself gives it.
pub(super) fn known(tool: &str) -> KnownTool {
    let kind = kind_in("claude", None, tool).unwrap_or_default();
    // The model words its `description` anew each time.
    let volatile: &[&str] = if tool == "Bash" { &["description"] } else { &[] };
    KnownTool { kind, volatile }
}
