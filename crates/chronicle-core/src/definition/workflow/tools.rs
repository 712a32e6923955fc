//! Lists of tools: which calls they let through.
//!
//! A word in a list is the name of a tool, a pattern of names, a server, or stands for a kind (`bash`, `edit`). A name that is not
//! exactly known must never be freer than the known one that it may stand for. So a denied name also counts below a namespace, an
//! allowed one only as it is written, and a name that only looks like another one is let through by no list.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::base::quote::line;
use crate::base::tools::{Patched, ToolKind, alias, aliases, may_be, says_it_does, usual_kind};
use crate::base::{shell, tool_name};

/// Usual names of tools that run commands.
const COMMANDS: [&str; 2] = ["bash", "shell"];

/// Longest name that a reason repeats.
const NAME_MAX: usize = 120;

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
    /// True if a word is the name of one tool and never stands for a kind, as in files of pi-workflows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_only: bool,
}

impl Tools {
    /// Only tools that read, as The Chronicle gives them to an unknown agent. The other names are what the same tools are called
    /// elsewhere.
    pub fn read_only() -> Self {
        let names = READ_ONLY.into_iter().chain(["glob"]);
        Self { allow: Some(names.map(str::to_owned).collect()), ..Self::default() }
    }

    /// These lists together with those of a persona, if there is one. Both hold: neither can give more than the other.
    pub fn with<'t>(&'t self, persona: Option<&'t Self>) -> Cow<'t, Self> {
        match persona {
            Some(tools) if self.is_unsaid() => Cow::Borrowed(tools),
            Some(tools) if !tools.is_unsaid() => Cow::Owned(self.within(tools)),
            Some(_) | None => Cow::Borrowed(self),
        }
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
            // Not because nobody knows what it does: a call of an unknown tool is judged by itself.
            allow.retain(|tool| denied(&deny, tool, usual_kind(tool), true).is_none());
        }
        let own_only = self.own_only && other.own_only;
        // Where one of them means kinds, the narrower reading would let through what it denies.
        Self { allow, deny, own_only, names_only: self.names_only && other.names_only }
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

    /// True if no tool that changes files or runs commands may be called, by the worker or by those that it starts. What servers and unknown
    /// tools of an allow list do is not known, so they may.
    pub fn changes_nothing(&self) -> bool {
        let is_denied = |kind| aliases().any(|(word, of)| of == kind && is_named(&self.deny, word));
        let denies = [ToolKind::Write, ToolKind::Edit, ToolKind::Run].into_iter().all(is_denied);
        let only_reads = |name: &String| {
            let name = name.trim();
            match alias(name).unwrap_or_else(|| usual_kind(name)) {
                ToolKind::Read
                | ToolKind::Search
                | ToolKind::Fetch
                | ToolKind::Agent
                | ToolKind::Other => true,
                ToolKind::Run
                | ToolKind::Write
                | ToolKind::Edit
                | ToolKind::Delete
                | ToolKind::Mcp
                | ToolKind::Unknown => false,
            }
        };
        let only_reads = self.allow.as_ref().is_some_and(|allow| allow.iter().all(only_reads));
        // A list of one agent's names says nothing of other tools, and one that spares sub-agents nothing of what they do.
        (denies || only_reads) && !self.names_only && !self.own_only
    }

    /// Why a tool may not be called; `None` if the lists let it through. `kind` is what its adapter knows of it.
    pub fn refusal(&self, tool: &str, kind: ToolKind) -> Option<String> {
        if self.is_unsaid() {
            return None;
        }
        let shown = line(tool, NAME_MAX);
        // It may be a look-alike of one that is denied.
        if !tool_name::is_plain(tool) {
            return Some(format!(
                "this phase limits its tools, and `{shown}` is no name that it can judge: call the tool by its exact name, of the \
                 letters a-z, digits and `_ - . : /`"
            ));
        }
        let kind = known_kind(tool, kind);
        match denied(&self.deny, tool, kind, self.names_only) {
            Some(Denied::Surely) => return Some(format!("this phase denies the tool `{shown}`")),
            Some(Denied::Perhaps(word)) => {
                return Some(format!(
                    "this phase denies `{word}`, and Chronicle does not know what the tool `{shown}` does: it may do that too"
                ));
            }
            None => {}
        }
        match self.allow.as_deref() {
            None => None,
            Some([]) => Some(format!("this phase allows no tools, so not `{shown}` either")),
            Some(allow) if allows(allow, tool, kind, self.names_only) => None,
            Some(allow) => Some(format!(
                "this phase allows only the tools {}",
                allow.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            )),
        }
    }

    /// Why a patch may not be applied although its tool is allowed as one that edits: it makes or removes files, which are kinds of their own.
    pub fn refusal_of_patch(&self, tool: &str, patched: Patched) -> Option<String> {
        let allow = self.allow.as_deref().filter(|_| !self.names_only)?;
        // Who names the tool means all that it does.
        if is_named(allow, tool) || is_named(allow, tool_name::unwrapped(tool)) {
            return None;
        }
        let may = |kind| allow.iter().any(|word| alias(word) == Some(kind));
        let (writes, removes) = (may(ToolKind::Write), may(ToolKind::Delete));
        let (what, word) = match patched {
            Patched { adds: true, .. } if !writes => ("makes a file", "`write`"),
            Patched { removes: true, .. } if !writes && !removes => {
                ("removes a file", "`write` or `delete`")
            }
            Patched { .. } => return None,
        };
        let shown = line(tool, NAME_MAX);
        Some(format!(
            "this phase does not allow {word}, and this patch of `{shown}` {what}: let it change files that are there only"
        ))
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

/// True if a list denies a tool of which no more than the name is known.
pub fn is_denied(deny: &[String], tool: &str) -> bool {
    denied(deny, tool, known_kind(tool, ToolKind::Unknown), false).is_some()
}

/// How a list denies a tool.
enum Denied {
    /// By its name, or by a word for what it does.
    Surely,
    /// By a word for what it may do: nobody knows what it does.
    Perhaps(&'static str),
}

/// How a list denies a tool: by its name, by a word that stands for a kind that it is or may be of, or by a part of a name that has
/// a namespace before the tool (`functions.bash`).
fn denied(deny: &[String], tool: &str, kind: ToolKind, names_only: bool) -> Option<Denied> {
    let words: Vec<(&str, ToolKind)> = aliases().filter(|(word, _)| is_named(deny, word)).collect();
    let is_of = |tool: &str, kind: ToolKind| {
        let is_known = !kind.is_unknown();
        is_known && words.iter().any(|(_, wanted)| may_be(tool, kind, *wanted))
    };
    // A shell of a server is a shell.
    let is_shell = words.iter().any(|(_, wanted)| *wanted == ToolKind::Run);
    let reads_so = |reading: &str| is_named(deny, reading) || is_of(reading, usual_kind(reading));
    if tool_name::readings(tool).into_iter().any(reads_so)
        || is_of(tool, kind)
        || is_shell && shell::runs_commands(tool)
        || kind == ToolKind::Mcp && words.iter().any(|(_, wanted)| says_it_does(tool, *wanted))
    {
        return Some(Denied::Surely);
    }
    let first = words.first().filter(|_| kind.is_unknown() && !names_only);
    first.map(|(word, _)| Denied::Perhaps(word))
}

/// True if a list allows a tool: by its name, or by a word that stands for its kind.
fn allows(allow: &[String], tool: &str, kind: ToolKind, names_only: bool) -> bool {
    // A tool of unknown kind is allowed by its name alone, and so is one below a namespace of somebody: what that is would be a guess.
    let whole = tool;
    let tool = tool_name::unwrapped(tool);
    let is_known = !kind.is_unknown() && tool_name::is_whole(tool);
    let by_kind = |word: &String| is_known && alias(word) == Some(kind);
    is_named(allow, whole) || is_named(allow, tool) || !names_only && allow.iter().any(by_kind)
}

/// What is known of a tool: what its adapter says, otherwise what tools of that name do everywhere, without a namespace before it.
fn known_kind(tool: &str, kind: ToolKind) -> ToolKind {
    let usual = |reading: &&str| usual_kind(reading);
    let names = [Some(tool), tool_name::readings(tool).last().copied()];
    let kinds = std::iter::once(kind).chain(names.iter().flatten().map(usual));
    kinds.into_iter().find(|kind| !kind.is_unknown()).unwrap_or_default()
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
    let is_in = |list: &[String], tool: &str| allows(list, tool, usual_kind(tool), false);
    let mut both: Vec<String> = own.iter().filter(|tool| is_in(other, tool)).cloned().collect();
    // Both ways round: either list may have the pattern that the other one's name fits.
    let more = other.iter().filter(|tool| is_in(own, tool) && !is_named(&both, tool));
    let more: Vec<String> = more.cloned().collect();
    both.extend(more);
    both
}
