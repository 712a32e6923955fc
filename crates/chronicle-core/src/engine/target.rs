//! Targets of leaving signals.

use crate::base::ids::{KNOWN_OUTCOMES, Outcome, PhaseId};
use crate::base::quote::{list, quoted};
use crate::definition::workflow::{Phase, allowed_targets, is_left_by_verdict, only_target};

/// The target of a leaving signal, or what would be valid.
pub(super) fn resolve(
    phase: &Phase,
    target: Option<&PhaseId>,
    outcome: &Outcome,
) -> Result<PhaseId, String> {
    allowed(phase, outcome)?;
    let Some(target) = target else { return implied(phase, outcome) };
    if allowed_targets(phase).contains(target) {
        return Ok(target.clone());
    }
    let wanted = quoted(target.as_str());
    Err(format!("`{}` cannot be left for `{wanted}`; {}", phase.id, choices(phase)))
}

/// Outcomes that a worker may send. Those of the supervisor are refused even if the workflow has an edge for them.
pub(super) fn check_sent(phase: &Phase, outcome: &Outcome) -> Result<(), String> {
    if outcome.is_supervisors() {
        return Err(no_outcome(phase, outcome));
    }
    Ok(())
}

/// Refuses outcomes that this phase does not have.
pub(super) fn allowed(phase: &Phase, outcome: &Outcome) -> Result<(), String> {
    let known = KNOWN_OUTCOMES.contains(&outcome.as_str())
        || phase.outcomes.contains(outcome)
        || phase.on.contains_key(outcome);
    if known {
        return Ok(());
    }
    Err(no_outcome(phase, outcome))
}

fn no_outcome(phase: &Phase, outcome: &Outcome) -> String {
    let own = phase.outcomes.iter().map(Outcome::as_str);
    let words: Vec<String> = KNOWN_OUTCOMES[..4].iter().copied().chain(own).map(code).collect();
    let said = quoted(outcome.as_str());
    format!("`{said}` is no outcome of `{}`; use {}", phase.id, list(&words, ", "))
}

/// `on.<outcome>`, otherwise the only `next`, otherwise `done` at an end. A failure needs an edge of its own: it must not pass as
/// success because there is only one target.
fn implied(phase: &Phase, outcome: &Outcome) -> Result<PhaseId, String> {
    // Before the single `next`: otherwise a failure would take the success path of a linear workflow.
    if outcome.is_failure() && !phase.on.contains_key(outcome) {
        return Err(format!(
            "`{}` says nothing about the outcome `{}`: name a target; {}",
            phase.id,
            quoted(outcome.as_str()),
            choices(phase)
        ));
    }
    if let Some(target) = only_target(phase, outcome) {
        return Ok(target);
    }
    // A yes of nobody: where a worker's verdict decides, a phase without one leads nowhere by itself.
    let why = if is_left_by_verdict(phase, outcome) {
        "is left by a verdict, and there is none"
    } else {
        "has several ways on"
    };
    Err(format!("`{}` {why}: name a target; {}", phase.id, choices(phase)))
}

fn choices(phase: &Phase) -> String {
    let targets: Vec<String> =
        allowed_targets(phase).iter().map(|target| code(target.as_str())).collect();
    format!("allowed: {}", list(&targets, ", "))
}

fn code(word: &str) -> String {
    format!("`{word}`")
}
