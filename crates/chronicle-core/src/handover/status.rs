//! What a worker hears that asks where it is.

use super::{artifact_at, told_to};
use crate::base::limits::{HANDOVER_MAX, bounded};
use crate::base::quote::list;
use crate::definition::workflow::allowed_targets;
use crate::state::{Attempt, State};
use crate::words;

/// What `workflow_status` answers.
pub(crate) fn for_worker(state: &State, attempt: &Attempt) -> String {
    let place = &attempt.intent.place;
    let targets = state.phase_at(place).map(allowed_targets).unwrap_or_default();
    let targets: Vec<String> = targets.iter().map(|target| format!("`{target}`")).collect();
    let crumbs: Vec<String> =
        words::breadcrumbs(state).into_iter().map(|crumb| crumb.text).collect();
    let way = match &attempt.intent.persona {
        Some(persona) => format!(
            "You help as `{persona}`: when you are done, call `signal_back` with `complete`."
        ),
        None => format!("You may go to: {}.", list(&targets, ", ")),
    };
    format!(
        "{}\nYou are {} at `{place}`, try {}.\n{}\n{way}\nCarried on: {}.\nSpent so far: {}.{}",
        words::status_line(state),
        attempt.intent.attempt,
        attempt.intent.try_number,
        crumbs.join("\n"),
        words::carried(&state.snapshot),
        words::spent(&state.usage),
        rest_of(state, attempt),
    )
}

/// The part of its handover that did not fit: where it is, and itself for whoever cannot read files.
fn rest_of(state: &State, attempt: &Attempt) -> String {
    let handed = attempt.intent.handover.as_ref();
    let rest = state.run.as_ref().zip(handed.and_then(|handed| handed.rest.as_ref()));
    rest.map_or_else(String::new, |(run, sum)| {
        let path = artifact_at(&run.run, sum);
        let whole = told_to(state, attempt).rest.unwrap_or_default();
        let whole = bounded(whole.trim(), HANDOVER_MAX);
        format!("\nWhat did not fit into your handover is in the file `{path}`:\n\n{whole}")
    })
}
