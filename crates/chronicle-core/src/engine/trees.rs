//! Reports about recorded and restored files.

use super::scratch::Scratch;
use crate::base::ids::{FolderId, TreeId};
use crate::event::Event;
use crate::event::input::Answer;
use crate::event::trees::{Moment, Restored, TreeRecorded, UndoStarted};
use crate::words;

/// Files were recorded. A tree that is no longer awaited is ignored, unless a person asked for it.
pub(super) fn recorded(scratch: &mut Scratch<'_>, recorded: &TreeRecorded) {
    // A report that comes twice, or too late, must not replace a tree that others were compared with.
    if !is_awaited(scratch, recorded.moment) {
        return;
    }
    // The attempt says where it works, not whoever recorded it.
    let folder = scratch.state().folder_of(recorded.moment);
    scratch.emit(Event::TreeRecorded(TreeRecorded { folder, ..recorded.clone() }));
}

/// Files could not be recorded: the run continues, and says so.
pub(super) fn missed(scratch: &mut Scratch<'_>, moment: Moment, why: &str) {
    if is_awaited(scratch, moment) {
        let folder = scratch.state().folder_of(moment);
        scratch.emit(Event::TreeMissed { moment, folder, why: why.to_owned() });
    }
}

fn is_awaited(scratch: &Scratch<'_>, moment: Moment) -> bool {
    scratch.state().run.is_some() && scratch.state().trees.is_awaited(moment)
}

/// Files are restored only while no attempt is live.
pub(super) fn undo(
    scratch: &mut Scratch<'_>,
    what: &str,
    from: &TreeId,
    to: &TreeId,
    back: Option<u64>,
) -> Answer {
    let state = scratch.state();
    if state.run.is_none() {
        return Answer::Refused("the run has not started".to_owned());
    }
    if let Some(attempt) = state.live_attempts().next() {
        let (id, place) = (attempt.intent.attempt, &attempt.intent.place);
        return Answer::Refused(format!("{id} works at `{place}`: pause the run first"));
    }
    if let Some(why) = words::own_work_stays(state.apart.as_deref()) {
        return Answer::Refused(why.to_owned());
    }
    // Both would write the same files. A merge that only was planned is planned again afterwards.
    if state.is_writing() || (state.is_merging() && state.paused.is_none()) {
        let text = "the work of a step is being merged: wait for it, or pause the run first";
        return Answer::Refused(text.to_owned());
    }
    if state.trees.is_busy() {
        return Answer::Refused("the files are being recorded or restored: wait for it".to_owned());
    }
    let text = format!("undoing `{what}`");
    let (what, from, to) = (what.to_owned(), from.clone(), to.clone());
    let folder = FolderId::Project;
    scratch.emit(Event::UndoStarted(UndoStarted { what, folder, from, to, back }));
    Answer::Accepted(text)
}

/// Files were restored. A result that is no longer awaited is ignored.
pub(super) fn restored(scratch: &mut Scratch<'_>, restored: &Restored) {
    // The folder of the undo and not of the report: only one restore is ever in progress.
    if let Some((folder, _)) = scratch.state().trees.undo() {
        scratch.emit(Event::UndoEnded(Restored { folder, ..restored.clone() }));
    }
}
