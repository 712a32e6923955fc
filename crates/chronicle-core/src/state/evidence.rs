//! What the record shows of the work at one visit, for phases that demand it and for what workers claim.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::base::limits::{EVIDENCE_FILES_MAX, bounded};
use crate::base::shell;
use crate::definition::workflow::CHANGED_FILES;
use crate::event::trees::TREE_PATH_MAX;
use crate::event::{ToolCalled, ToolKind};

/// Tools that change nothing, in lower case. Any other may.
const READ_ONLY: [&str; 17] = [
    "read",
    "grep",
    "glob",
    "ls",
    "find",
    "search",
    "list",
    "view",
    "cat",
    "fetch",
    "webfetch",
    "web_fetch",
    "websearch",
    "web_search",
    "todowrite",
    "todoread",
    "think",
];

/// Whether a tool may change files, by its name.
fn is_able(tool: &str) -> bool {
    let name = tool.rsplit("__").next().unwrap_or(tool).to_ascii_lowercase();
    !READ_ONLY.contains(&name.as_str()) && !crate::event::signal::is_ours(tool)
}

/// Whether a call may change files, as far as its tool is known.
pub(crate) fn may_change(called: &ToolCalled) -> bool {
    match called.kind {
        ToolKind::Read | ToolKind::Search | ToolKind::Fetch => false,
        ToolKind::Run
        | ToolKind::Write
        | ToolKind::Edit
        | ToolKind::Delete
        | ToolKind::Agent
        | ToolKind::Mcp
        | ToolKind::Other
        | ToolKind::Unknown => called.command.is_some() || is_able(&called.tool),
    }
}

/// What is known of one visit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// Commands that the phase demands and that were run; whether they ended well the last time.
    pub commands: BTreeMap<String, Option<bool>>,
    /// Whether a tool was called that may change files, since they were recorded last.
    pub touched: bool,
    /// Whether the files differed after an attempt.
    pub changed: bool,
    /// Whether files differed, and nobody knows by whom: that proves nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unclear: bool,
    /// Files that an agent's tools said they changed, the first so many.
    pub files: BTreeSet<String>,
}

impl Evidence {
    /// A tool is called that is not a shell.
    pub(crate) fn called(&mut self, tool: &str) {
        self.touched |= is_able(tool);
    }

    /// A command began, or ended.
    pub(crate) fn ran(&mut self, command: &str, ok: Option<bool>, demands: &[String]) {
        self.touched = true;
        for wanted in demands.iter().filter(|wanted| shell::runs(command, wanted)) {
            self.commands.insert(wanted.clone(), ok);
        }
    }

    /// An agent's tool changed a file.
    pub(crate) fn wrote(&mut self, path: &str) {
        self.touched = true;
        if self.files.len() < EVIDENCE_FILES_MAX {
            self.files.insert(bounded(path, TREE_PATH_MAX));
        }
    }

    /// The files were recorded after an attempt: whether it changed some, and whether others changed that may not be its work.
    pub(crate) fn recorded(&mut self, differs: bool, unclear: bool) {
        (self.changed, self.touched) = (self.changed || differs, false);
        self.unclear |= unclear;
    }

    /// What of these demands the record does not show, each in words. Until the files are recorded, whoever may have changed some
    /// is believed.
    pub fn lacks(&self, demands: &[String]) -> Vec<String> {
        demands.iter().filter_map(|wanted| self.lack(wanted)).collect()
    }

    fn lack(&self, wanted: &str) -> Option<String> {
        if wanted == CHANGED_FILES {
            let why = if self.unclear {
                "files changed, but not while it used a tool that changes files"
            } else {
                "no file changed"
            };
            return (!self.changed && !self.touched).then(|| format!("changed files ({why})"));
        }
        match self.commands.get(wanted) {
            Some(Some(true)) => None,
            Some(Some(false)) => Some(format!("`{wanted}` (it failed the last time)")),
            Some(None) => Some(format!("`{wanted}` (it was not seen to end)")),
            None => Some(format!("`{wanted}` (it was not run)")),
        }
    }
}
