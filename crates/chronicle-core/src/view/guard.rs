//! The rules that a run was frozen with.

use serde::{Deserialize, Serialize};

use crate::base::ids::AttemptId;
use crate::base::shell::quoted;
use crate::event::RunStarted;
use crate::state::State;

/// How many rules guard a run, and where they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardsRow {
    /// How many there are in all.
    pub rules: usize,
    /// Each file of rules.
    pub files: Vec<GuardFileRow>,
}

/// One file of rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardFileRow {
    /// Its path as people see it, or that they are built in.
    pub file: String,
    /// How many rules it has.
    pub rules: usize,
}

/// `None` for a run of a version without guards.
pub(super) fn guards(run: &RunStarted) -> Option<GuardsRow> {
    let frozen = run.rules.as_ref()?;
    let row = |file: &crate::definition::guard::RuleFile| GuardFileRow {
        file: file.name.clone(),
        rules: file.count,
    };
    Some(GuardsRow { rules: frozen.count(), files: frozen.files().iter().map(row).collect() })
}

/// A change of a worker that a rule forbids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForbiddenRow {
    /// The attempt that left it.
    pub attempt: AttemptId,
    /// The file, in the project.
    pub path: String,
    /// The rule, and where it is written.
    pub rule: String,
    /// True if it is not known to be the attempt's work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub origin_unknown: bool,
    /// What takes back this file, and nothing else.
    pub next: String,
}

/// What somebody changed against the rules, unless it was undone since.
pub(super) fn forbidden(state: &State, run: &str) -> Vec<ForbiddenRow> {
    let row =
        |(attempt, change): &(AttemptId, crate::event::trees::ForbiddenChange)| ForbiddenRow {
            attempt: *attempt,
            path: change.path.clone(),
            rule: change.rule.clone(),
            origin_unknown: change.is_unclear,
            next: {
                let since = if change.is_unclear {
                    "--all --also-mine".to_owned()
                } else {
                    format!("--attempt {attempt}")
                };
                format!("chronicle undo {run} {since} --file {}", quoted(&change.path))
            },
        };
    state.trees.project().forbidden.iter().map(row).collect()
}
