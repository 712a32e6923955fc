//! Updates of the snapshot by a worker.

use super::super::scratch::Scratch;
use super::{CallKey, caller, is_still_open};
use crate::event::input::Answer;
use crate::event::{Event, SnapshotUpdate};
use crate::words;

pub(super) fn update(
    scratch: &mut Scratch<'_>,
    call: &CallKey,
    update: &SnapshotUpdate,
) -> Result<Answer, String> {
    let state = scratch.state();
    is_still_open(caller(state, call)?.0)?;
    let answer = words::snapshot_kept(&state.snapshot.with(update)?);
    let (attempt, request, update) = (call.id, call.request.clone(), update.clone());
    scratch.record(Event::SnapshotUpdated { attempt, request, update, answer: answer.clone() });
    Ok(Answer::Accepted(answer))
}
