//! Words about what a phase demands and the record does not show.

use crate::base::quote::list;
use crate::base::shell::{Proof, proof};
use crate::definition::workflow::Phase;
use crate::state::Unmet;

/// What the record does not show, and why, of a run in the project of that path.
pub(crate) fn lack(lack: &Unmet<'_>, project: &str) -> String {
    match lack {
        Unmet::Changes => "changed files (no file of the project changed)".to_owned(),
        Unmet::UnclearChanges => {
            "changed files (files changed, but not while it used a tool that changes files)"
                .to_owned()
        }
        Unmet::Doubtful { wanted, line } => match proof(line, wanted, project) {
            Proof::Doubtful(why) => format!("`{wanted}` ({why}: run it by itself)"),
            Proof::Absent | Proof::Proven => format!("`{wanted}` (run it by itself)"),
        },
        Unmet::Failed(wanted) => format!("`{wanted}` (it failed the last time)"),
        Unmet::Unended(wanted) => format!("`{wanted}` (it was not seen to end)"),
        Unmet::NotRun(wanted) => format!("`{wanted}` (it was not run)"),
    }
}

/// Why nothing is recorded of a folder.
pub(crate) fn folder_gone() -> &'static str {
    "the folder was removed, with all that was changed in it"
}

/// What a worker lacks whose folder was removed.
pub(crate) fn work_is_gone() -> &'static str {
    "the work itself (the folder was removed under it, and is made again without the changes since the attempt began: do the work again)"
}

/// Why a worker may not leave yet.
pub(crate) fn not_proven(phase: &Phase, missing: &[String]) -> String {
    format!(
        "`{}` cannot be left yet: it requires {}, which the record does not show. Do it, then send \
         the signal again; if it cannot be done, leave with the outcome `fail`, or ask a person",
        phase.id,
        list(missing, ", ")
    )
}

/// Why a person is asked about a worker that does not do what its phase demands.
pub(crate) fn never_proven(phase: &Phase, missing: &[String]) -> String {
    format!("`{}` was left without what it requires: {}", phase.name, list(missing, ", "))
}
