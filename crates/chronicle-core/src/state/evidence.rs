//! Evidence of the work at one visit, for the `requires` of phases and for claims of workers.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::base::limits::{EVIDENCE_FILES_MAX, bounded};
use crate::base::shell::{self, CommandLine, Proof};
use crate::definition::workflow::CHANGED_FILES;
use crate::event::trees::TREE_PATH_MAX;
use crate::event::{ToolCalled, ToolKind};

/// Tools that change nothing, in lower case. Any other tool may.
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

/// True if a tool may change files, judging by its name.
fn is_able(tool: &str) -> bool {
    // Tools of servers are named `mcp__server__tool`. An unknown tool counts as able to change files: that only delays a
    // verdict until the tree is recorded.
    let name = tool.rsplit("__").next().unwrap_or(tool).to_ascii_lowercase();
    !READ_ONLY.contains(&name.as_str()) && !crate::event::signal::is_ours(tool)
}

/// True if a call may change files, as far as its tool is known.
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

/// Evidence of one visit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "findings, each by itself")]
pub struct Evidence {
    /// Required commands that were run, and whether the last run succeeded.
    pub commands: BTreeMap<String, Option<bool>>,
    /// Required commands whose last run proves nothing, and the line that ran them. Why it proves nothing is said by whoever
    /// puts it into words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub doubts: BTreeMap<String, CommandLine>,
    /// True if a tool that may change files was called since files were last recorded.
    pub touched: bool,
    /// True if files differed after an attempt.
    pub changed: bool,
    /// True if files changed and it is unknown who changed them: that proves nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unclear: bool,
    /// Files that an agent's tools reported as changed, up to a limit.
    pub files: BTreeSet<String>,
    /// True if the folder of the work was removed before its files were recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
}

impl Evidence {
    /// Records a call of a tool that is not a shell.
    pub(crate) fn called(&mut self, tool: &str) {
        self.touched |= is_able(tool);
    }

    /// Records the start or end of a command in the project of that path.
    pub(crate) fn ran(
        &mut self,
        line: &CommandLine,
        ok: Option<bool>,
        demands: &[String],
        project: &str,
    ) {
        self.touched = true;
        for wanted in demands {
            match shell::proof(line, wanted, project) {
                Proof::Absent => {}
                Proof::Proven => {
                    // The last run decides: one that proves its command clears the doubt about an earlier one.
                    self.doubts.remove(wanted);
                    self.commands.insert(wanted.clone(), ok);
                }
                // What an earlier run proved may no longer hold.
                Proof::Doubtful(_) => {
                    self.doubts.insert(wanted.clone(), line.clone());
                    self.commands.insert(wanted.clone(), None);
                }
            }
        }
    }

    /// Records a file that an agent's tool changed.
    pub(crate) fn wrote(&mut self, path: &str) {
        self.touched = true;
        // Files beyond that are in the tree, which is recorded when the attempt ends.
        if self.files.len() < EVIDENCE_FILES_MAX {
            self.files.insert(bounded(path, TREE_PATH_MAX));
        }
    }

    /// Records a tree after an attempt: whether the attempt changed files, and whether there are changes of unknown origin.
    pub(crate) fn recorded(&mut self, differs: bool, unclear: bool) {
        // The tree has spoken. That a tool could have changed files no longer counts.
        (self.changed, self.touched) = (self.changed || differs, false);
        self.unclear |= unclear;
    }

    /// The files of the work are gone, so nothing that was found out about them counts.
    pub(crate) fn lose(&mut self) {
        let changed = self.changed;
        *self = Self { changed, lost: true, ..Self::default() };
    }

    /// Requirements that the record does not show. Until files are recorded, a worker that may have changed some is believed.
    pub fn lacks<'a>(&'a self, demands: &'a [String]) -> Vec<Unmet<'a>> {
        demands.iter().filter_map(|wanted| self.lack(wanted)).collect()
    }

    fn lack<'a>(&'a self, wanted: &'a str) -> Option<Unmet<'a>> {
        if wanted == CHANGED_FILES {
            let lack = if self.unclear { Unmet::UnclearChanges } else { Unmet::Changes };
            return (!self.changed && !self.touched).then_some(lack);
        }
        if let Some(line) = self.doubts.get(wanted) {
            return Some(Unmet::Doubtful { wanted, line });
        }
        match self.commands.get(wanted) {
            Some(Some(true)) => None,
            Some(Some(false)) => Some(Unmet::Failed(wanted)),
            Some(None) => Some(Unmet::Unended(wanted)),
            None => Some(Unmet::NotRun(wanted)),
        }
    }
}

/// A requirement that the record does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmet<'a> {
    /// The trees before and after the work do not differ.
    Changes,
    /// Files changed, but nobody knows by whom.
    UnclearChanges,
    /// The success of the last line that ran this command would not prove the command's.
    Doubtful {
        /// The command that the phase requires.
        wanted: &'a str,
        /// The line that ran it, in which something hides how it ended.
        line: &'a CommandLine,
    },
    /// This command failed when it was last run.
    Failed(&'a str),
    /// The end of this command was not seen.
    Unended(&'a str),
    /// This command was never run.
    NotRun(&'a str),
}
