//! Trees: what is known of the project's files, before and after every attempt.

use super::scratch::Scratch;
use crate::base::ids::{FolderId, TreeId};
use crate::base::limits::{TEXT_MAX, bounded};
use crate::event::Event;
use crate::event::input::Answer;
use crate::event::tree::{
    Moment, TREE_FILES_MAX, TREE_PATH_MAX, TREE_UNREADABLE_MAX, TreeRecorded,
};

/// The files were recorded. What nobody waits for any more says nothing new, but for what a person asked for.
pub(super) fn recorded(scratch: &mut Scratch<'_>, recorded: &TreeRecorded) {
    if !is_awaited(scratch, recorded.moment) {
        return;
    }
    let mut kept = recorded.clone();
    kept.changes.list.truncate(TREE_FILES_MAX);
    for file in &mut kept.changes.list {
        file.path = bounded(&file.path, TREE_PATH_MAX);
        file.from = file.from.as_ref().map(|from| bounded(from, TREE_PATH_MAX));
    }
    kept.unreadable_files = names(&recorded.unreadable_files);
    scratch.emit(Event::TreeRecorded(kept));
}

/// The files could not be recorded: the run goes on, and says so.
pub(super) fn missed(scratch: &mut Scratch<'_>, moment: Moment, why: &str) {
    if is_awaited(scratch, moment) {
        let folder = scratch.state().folder_of(moment);
        scratch.emit(Event::TreeMissed { moment, folder, why: bounded(why, TEXT_MAX) });
    }
}

fn is_awaited(scratch: &Scratch<'_>, moment: Moment) -> bool {
    scratch.state().run.is_some() && scratch.state().trees.is_awaited(moment)
}

/// Files are put back only while nobody works on them.
pub(super) fn undo(scratch: &mut Scratch<'_>, what: &str, from: &TreeId, to: &TreeId) -> Answer {
    let state = scratch.state();
    if state.run.is_none() {
        return Answer::Refused("the run has not started".to_owned());
    }
    if let Some(attempt) = state.live_attempts().next() {
        let (id, place) = (attempt.intent.attempt, &attempt.intent.place);
        return Answer::Refused(format!("{id} works at `{place}`: pause the run first"));
    }
    if state.trees.is_busy() {
        return Answer::Refused("the files are being recorded or put back: wait for it".to_owned());
    }
    let what = bounded(what, TREE_PATH_MAX);
    let text = format!("undoing `{what}`");
    let (folder, from, to) = (FolderId::Project, from.clone(), to.clone());
    scratch.emit(Event::UndoStarted { what, folder, from, to });
    Answer::Accepted(text)
}

pub(super) fn restored(
    scratch: &mut Scratch<'_>,
    files: u32,
    kept: &[String],
    error: Option<&str>,
) {
    if let Some((folder, _)) = scratch.state().trees.undo() {
        let error = error.map(|error| bounded(error, TEXT_MAX));
        scratch.emit(Event::UndoEnded { folder, files, kept: names(kept), error });
    }
}

fn names(list: &[String]) -> Vec<String> {
    list.iter().take(TREE_UNREADABLE_MAX).map(|name| bounded(name, TREE_PATH_MAX)).collect()
}
