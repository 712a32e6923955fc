//! Leaving of a worker that judges a race: it names a racer, or gives up.

use super::leave::LeaveRequest;
use crate::base::ids::{DONE, Outcome, PhaseId};
use crate::state::{Attempt, Pool, State};
use crate::words;

/// What a judge may say instead of a name, if nothing will do.
const GIVES_UP: [&str; 2] = ["fail", "gaps"];

/// Who was chosen; `None` if the worker does not judge.
pub(super) fn choice(
    state: &State,
    attempt: &Attempt,
    asked: &LeaveRequest<'_>,
) -> Option<Result<(PhaseId, Outcome), String>> {
    let frame = state.frames.get(&attempt.intent.place.frame())?;
    let (_, pool) = state.judged_by(frame)?;
    Some(named(pool, asked).map(|outcome| (PhaseId::from(DONE), outcome)))
}

/// By its outcome, or by a target: workers name it in either. A name in both must be the same.
fn named(pool: &Pool, asked: &LeaveRequest<'_>) -> Result<Outcome, String> {
    let is_choice = |name: &str| pool.finishers().any(|step| step.id.as_str() == name);
    let target = asked.target.map(PhaseId::as_str).filter(|target| *target != DONE);
    let outcome = asked.outcome.map(Outcome::as_str);
    let said = match (target, outcome) {
        (Some(target), Some(outcome)) if target != outcome => None,
        (Some(name), _) | (None, Some(name)) => Some(name),
        (None, None) => None,
    };
    let said = said.filter(|name| is_choice(name) || GIVES_UP.contains(name));
    said.map(Outcome::from).ok_or_else(|| words::judge_names(pool))
}
