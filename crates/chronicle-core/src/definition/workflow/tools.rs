//! Lists of tools: which calls they let through.
//!
//! A name that is not exactly known must never be freer than the known one that it may stand for. So a denied name also counts
//! below a namespace, an allowed one only as it is written, and a name that only looks like another one is let through by no list.

use serde::{Deserialize, Serialize};

use crate::base::{shell, tool_name};

/// Tools that change nothing: all that an unknown persona may use.
pub const READ_ONLY: [&str; 4] = ["read", "grep", "find", "ls"];

/// Which tools a worker may call. Empty lists restrict nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tools {
    /// If set, only these. `*` in a name stands for any characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// Denied even if they are allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// True if the lists apply to the worker's own calls only, not to its sub-agents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_only: bool,
}

impl Tools {
    /// Only tools that read, as The Chronicle gives them to an unknown agent. The other names are what the same tools are called
    /// elsewhere.
    pub fn read_only() -> Self {
        let names = READ_ONLY.into_iter().chain(["glob"]);
        Self { allow: Some(names.map(str::to_owned).collect()), ..Self::default() }
    }

    /// What both lists let through. Only lists that both spare sub-agents spare them together.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        let mut deny = self.deny.clone();
        deny.extend(other.deny.iter().filter(|tool| !is_named(&self.deny, tool)).cloned());
        let mut allow = match (&self.allow, &other.allow) {
            (Some(own), Some(other)) => Some(in_both(own, other)),
            // No list is no limit, so the only list holds.
            (only, None) | (None, only) => only.clone(),
        };
        if let Some(allow) = &mut allow {
            // A tool that either of the two denies is denied, even if both also name it as allowed.
            allow.retain(|tool| !is_denied(&deny, tool));
        }
        Self { allow, deny, own_only: self.own_only && other.own_only }
    }

    /// The allowed tools as a list of exact names, for agents that take no other; `None` if there is no list, or a name stands for several
    /// tools.
    pub fn exactly(&self) -> Option<&[String]> {
        // A pattern stands for tools that nobody can list beforehand, so such a list cannot be handed to an agent. Nor can a name
        // with other letters: an agent may read a comma or a blank in it as the end of a name.
        let is_exact = |name: &String| {
            let name = name.trim();
            tool_name::is_plain(name) && !is_server(name)
        };
        self.allow.as_deref().filter(|allow| allow.iter().all(is_exact))
    }

    /// True if a tool that runs commands may be called.
    pub fn may_run_commands(&self) -> bool {
        let is_listed = |allow: &Vec<String>| {
            let runs = |name: &String| shell::runs_commands(name) && !is_denied(&self.deny, name);
            COMMANDS.iter().any(|usual| is_named(allow, usual)) || allow.iter().any(runs)
        };
        let is_denied = COMMANDS.iter().any(|usual| is_denied(&self.deny, usual));
        !is_denied && self.allow.as_ref().is_none_or(is_listed)
    }

    /// True if there is a list, and this name is none that a list can judge: it may be a look-alike of one that is denied.
    pub fn cannot_judge(&self, tool: &str) -> bool {
        !self.is_unsaid() && !tool_name::is_plain(tool)
    }

    /// True if it neither allows nor denies anything.
    pub fn is_unsaid(&self) -> bool {
        self.allow.is_none() && self.deny.is_empty()
    }
}

/// True if a list names a tool. Case does not count, `*` stands for any characters, and a server alone (`mcp__github`) for all of its
/// tools.
pub fn is_named(list: &[String], tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    list.iter().any(|name| fits(&name.trim().to_ascii_lowercase(), &tool))
}

/// Tools that do the same under another name, or the same and more. Who denies the first of a row means all of it.
const FAMILIES: [&[&str]; 4] = [
    &["edit", "multiedit", "notebookedit", "edit_file", "replace", "patch", "apply_patch"],
    &["write", "write_file"],
    &["agent", "task"],
    &["task", "agent"],
];

/// Usual names of tools that run commands. Who denies one of them means every tool that does.
const COMMANDS: [&str; 2] = ["bash", "shell"];

/// True if a list denies a tool: by its name, by the usual name of tools that do the same, or by a part of a name that has a
/// namespace before the tool (`functions.bash`).
pub fn is_denied(deny: &[String], tool: &str) -> bool {
    tool_name::readings(tool).into_iter().any(|reading| is_denied_as(deny, reading))
}

fn is_denied_as(deny: &[String], tool: &str) -> bool {
    let is_of = |family: &&[&str]| family.iter().any(|name| name.eq_ignore_ascii_case(tool));
    let families = FAMILIES.into_iter().filter(is_of).filter_map(<[&str]>::first);
    // Not a family of its own: the names that run commands are listed once, where commands are read.
    let commands = COMMANDS.iter().filter(|_| shell::runs_commands(tool));
    is_named(deny, tool) || families.chain(commands).any(|usual| is_named(deny, usual))
}

fn fits(pattern: &str, tool: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        let of_server = || tool.strip_prefix(pattern).is_some_and(|rest| rest.starts_with("__"));
        return pattern == tool || (is_server(pattern) && of_server());
    };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(between) = tool.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    // The earliest place of each part leaves the most for the next.
    let mut parts = middle.split('*').filter(|part| !part.is_empty());
    parts.try_fold(between, |left, part| left.split_once(part).map(|(_, after)| after)).is_some()
}

/// True for the name of a server without a tool, as Claude Code's own lists may have it.
fn is_server(name: &str) -> bool {
    // With `get`, since a name may have a letter of several bytes where it would be cut.
    name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("mcp__"))
        && name.get(5..).is_some_and(|server| !server.is_empty() && !server.contains("__"))
}

/// Names of one list that the other has too, a name that another one covers included.
fn in_both(own: &[String], other: &[String]) -> Vec<String> {
    let mut both: Vec<String> = own.iter().filter(|tool| is_named(other, tool)).cloned().collect();
    // Both ways round: either list may have the pattern that the other one's name fits.
    let more = other.iter().filter(|tool| is_named(own, tool) && !is_named(&both, tool));
    let more: Vec<String> = more.cloned().collect();
    both.extend(more);
    both
}
