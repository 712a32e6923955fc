//! Phases that are left by a verdict: only a verdict takes the way of a pass.
//!
//! A wrong no costs a round, a wrong yes lets unfinished work through. So nothing else leads where a pass leads: not silence, not
//! `complete`, not a target that is named without a verdict, and not an outcome that the workflow gives no way of its own.

use super::super::target::{allowed, resolve};
use super::leave::LeaveRequest;
use crate::base::ids::{COMPLETE, DONE, HUMAN_INTERVENTION, Outcome, PhaseId};
use crate::base::quote::quoted;
use crate::base::verdict::{Judged, verdict};
use crate::definition::workflow::Phase;

const HOW: &str = "say `outcome` (`pass` or `fail`), or end your summary with the line `Verdict: \
                   PASS` or `Verdict: FAIL`";

/// The exit of a phase that asks for a verdict, or what is missing.
pub(super) fn exit(phase: &Phase, asked: &LeaveRequest<'_>) -> Result<(PhaseId, Outcome), String> {
    let outcome = given(phase, asked)?;
    let target = match phase.on.get(&outcome) {
        Some(way) => agreed(phase, asked, &outcome, way)?,
        None if outcome.as_str() == PASS => resolve(phase, asked.target, &outcome)?,
        None if outcome.is_failure() => refusal(phase, asked, &outcome)?,
        None => other(phase, asked, &outcome)?,
    };
    Ok((target, outcome))
}

const PASS: &str = "pass";
const FAIL: &str = "fail";

/// The way of a pass, if the workflow names it.
pub(super) fn way_of_pass(phase: &Phase) -> Option<&PhaseId> {
    phase.on.get(&Outcome::from(PASS))
}

/// The outcome that the worker gave: in `outcome`, or as a verdict in its summary.
fn given(phase: &Phase, asked: &LeaveRequest<'_>) -> Result<Outcome, String> {
    let said = verdict(asked.summary);
    match asked.outcome {
        Some(outcome) if outcome.as_str() == PASS && said == Some(Judged::Fail) => Err(format!(
            "`outcome` is `pass`, and the verdict in your summary is not a clear PASS: make both \
             say the same; `{}` goes on with a pass only if nothing speaks against it",
            phase.id
        )),
        // `complete` says that the work is over, not what was found, unless the workflow gives it a way of its own.
        Some(outcome) if outcome.as_str() != COMPLETE || phase.on.contains_key(outcome) => {
            Ok(outcome.clone())
        }
        Some(_) | None => match said {
            Some(Judged::Pass) => Ok(Outcome::from(PASS)),
            Some(Judged::Fail) => Ok(Outcome::from(FAIL)),
            // A person decides there, whatever the worker said, and is shown that it gave no verdict.
            None if phase.shows_verdict => Ok(Outcome::from(FAIL)),
            // Told at once, while it can still decide: taken for a no, its silence would send the run round after round to work
            // that nobody found fault with.
            None => Err(format!("`{}` asks for a verdict, and you gave none: {HOW}", phase.id)),
        },
    }
}

/// The way of this outcome, unless the worker named another target: following either one could be the opposite of what was meant.
fn agreed(
    phase: &Phase,
    asked: &LeaveRequest<'_>,
    outcome: &Outcome,
    way: &PhaseId,
) -> Result<PhaseId, String> {
    match asked.target {
        Some(target) if target != way => Err(format!(
            "`{}` asks for a verdict, and `{said}` leads to `{way}`, not to `{}`: if you mean `{said}`, \
             leave for `{way}`; otherwise give another verdict",
            phase.id,
            quoted(target.as_str()),
            said = quoted(outcome.as_str()),
        )),
        Some(_) | None => Ok(way.clone()),
    }
}

/// Where a no leads that the workflow gives no way: where the worker says, otherwise to the end of the workflow if a pass would
/// have ended it, which then has failed, otherwise to a person. Never where a pass leads.
fn refusal(phase: &Phase, asked: &LeaveRequest<'_>, outcome: &Outcome) -> Result<PhaseId, String> {
    let end = PhaseId::from(DONE);
    match asked.target {
        Some(target) if target.as_str() == HUMAN_INTERVENTION => Ok(target.clone()),
        Some(target) if way_of_pass(phase) == Some(target) && *target != end => {
            Err(only_a_pass(phase, target, outcome))
        }
        Some(_) => resolve(phase, asked.target, outcome),
        // `gaps` where only `fail` has a way: the worker may mean that way, and can say so.
        None if phase.on.contains_key(&Outcome::from(FAIL)) => Err(no_way(phase, outcome)),
        None => {
            let pass = resolve(phase, None, &Outcome::from(PASS));
            Ok(if pass == Ok(end) {
                PhaseId::from(DONE)
            } else {
                PhaseId::from(HUMAN_INTERVENTION)
            })
        }
    }
}

/// An outcome that is neither a yes nor a no may lead where the workflow or the worker says, never where a pass leads, and never
/// to an end that nobody wrote down.
fn other(phase: &Phase, asked: &LeaveRequest<'_>, outcome: &Outcome) -> Result<PhaseId, String> {
    // First: an unknown outcome is told as such.
    allowed(phase, outcome)?;
    match asked.target {
        Some(target) if target.as_str() == HUMAN_INTERVENTION => Ok(target.clone()),
        Some(target) if way_of_pass(phase) == Some(target) => {
            Err(only_a_pass(phase, target, outcome))
        }
        Some(target) if phase.next.contains(target) || phase.on.values().any(|to| to == target) => {
            Ok(target.clone())
        }
        Some(_) | None => Err(no_way(phase, outcome)),
    }
}

fn no_way(phase: &Phase, outcome: &Outcome) -> String {
    let outcome = quoted(outcome.as_str());
    format!("`{}` asks for a verdict, and gives `{outcome}` no way: {HOW}", phase.id)
}

fn only_a_pass(phase: &Phase, target: &PhaseId, outcome: &Outcome) -> String {
    format!(
        "`{}` asks for a verdict: only a pass leads to `{}`, and `{}` is none; name another target, \
         such as `human_intervention`",
        phase.id,
        quoted(target.as_str()),
        quoted(outcome.as_str())
    )
}
