//! Updates of the snapshot by a worker.

use super::super::scratch::Scratch;
use super::{CallKey, caller, is_still_open};
use crate::event::input::Answer;
use crate::event::{Event, SnapshotUpdate};
use crate::words;

/// Most changes of the snapshot by the workers of one step.
const LAYER_MAX: usize = 200;

pub(super) fn update(
    scratch: &mut Scratch<'_>,
    call: &CallKey,
    update: &SnapshotUpdate,
) -> Result<Answer, String> {
    let state = scratch.state();
    let (attempt, _) = caller(state, call)?;
    is_still_open(attempt)?;
    let frame = attempt.intent.place.frame();
    // What a step writes down is kept as it came until its work is merged.
    if state.step_at(&frame).is_some_and(|(.., step)| step.layer.len() >= LAYER_MAX) {
        return Err(format!(
            "this step has changed the snapshot {LAYER_MAX} times: say the rest in the summary when you leave"
        ));
    }
    let snapshot = state.snapshot_at(&frame);
    let answer = words::snapshot_kept(&snapshot.with(update)?);
    let (attempt, request, update) = (call.id, call.request.clone(), update.clone());
    scratch.record(Event::SnapshotUpdated { attempt, request, update, answer: answer.clone() });
    Ok(Answer::Accepted(answer))
}
