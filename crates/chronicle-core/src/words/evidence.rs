//! Words about what a phase demands and the record does not show.

use crate::base::quote::list;
use crate::definition::workflow::Phase;

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
