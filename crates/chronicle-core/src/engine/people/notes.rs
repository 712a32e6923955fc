//! Notes to a worker: delivered while it works, or in the next handover.

use super::super::scratch::Scratch;
use super::{refuse_over, steps, who};
use crate::base::ids::{FramePath, HUMAN_INTERVENTION, Place};
use crate::base::limits::{NOTE_MAX, NOTES_MAX};
use crate::event::Event;
use crate::event::input::{Answer, By};
use crate::state::{Attempt, Frame, State, StepStage};
use crate::words;

pub(in crate::engine) fn note(
    scratch: &mut Scratch<'_>,
    by: &By,
    place: Option<&Place>,
    text: &str,
) -> Answer {
    let state = scratch.state();
    if let Err(over) = refuse_over(state) {
        return over;
    }
    let place = match room(state, place, text) {
        Ok(place) => place,
        Err(why) => return Answer::Refused(why),
    };
    let note = state.next_note();
    let is_to_begin = is_to_begin(state, &place);
    let works = |attempt: &&Attempt| attempt.intent.place.frame() == place.frame();
    let attempt = state
        .live_attempts()
        .filter(|_| !is_to_begin)
        .find(works)
        .map(|attempt| attempt.intent.attempt);
    // Whether that attempt still lives is not known here: its supervisor may be dead.
    let answer = Answer::Accepted(match attempt {
        Some(attempt) => format!("{note} is for {attempt}, or for the next worker, at `{place}`"),
        // Nobody ever works there: whichever phase a person chooses next is told.
        None if place.phase().as_str() == HUMAN_INTERVENTION => {
            format!("{note} waits for the next worker")
        }
        None => format!("{note} waits for the next worker at `{place}`"),
    });
    let (who, text) = (who(by), text.trim().to_owned());
    scratch.emit(Event::NoteGiven { note, place, who, text, attempt });
    answer
}

/// The place that a note is for, if it is valid and there is room.
fn room(state: &State, place: Option<&Place>, text: &str) -> Result<Place, String> {
    if text.trim().is_empty() {
        return Err("a note needs words".to_owned());
    }
    if text.trim().len() > NOTE_MAX {
        let length = text.trim().len();
        return Err(format!(
            "the note has {length} bytes, {NOTE_MAX} fit: put the rest into a file and name that"
        ));
    }
    if let Some(place) = place.filter(|place| is_to_begin(state, place)) {
        let waiting = state.step_called(place).map_or(0, |(.., step)| step.notes.len());
        return full(place, waiting).map(|()| place.clone());
    }
    let frame = frame(state, place)?;
    // Bounded, because every waiting note is part of the next handover.
    let waiting = frame.notes.iter().filter(|note| note.told.is_none()).count();
    full(&frame.place(), waiting).map(|()| frame.place())
}

fn full(place: &Place, waiting: usize) -> Result<(), String> {
    if waiting >= NOTES_MAX {
        return Err(format!("{NOTES_MAX} notes wait at `{place}` already"));
    }
    Ok(())
}

/// True for a step in which nobody is yet, or nobody any more before its merge: whoever works there next is told.
fn is_to_begin(state: &State, place: &Place) -> bool {
    let Some((at, _, step)) = state.step_called(place) else { return false };
    let path = at.step_frame(&step.id);
    let is_open = state.frames.keys().any(|frame| frame.is_within(&path));
    !is_open && matches!(step.stage, StepStage::Pending | StepStage::Making)
}

/// The innermost frame of the run, or the frame of the place that was named.
fn frame<'a>(state: &'a State, place: Option<&Place>) -> Result<&'a Frame, String> {
    if let Some((at, pool, step)) = place.and_then(|place| state.step_called(place)) {
        let path = at.step_frame(&step.id);
        // In this order a frame comes before those inside of it.
        let mut inside = state.frames.values().filter(|frame| frame.path.is_within(&path));
        return inside.next_back().ok_or_else(|| {
            let nobody = words::nobody_inside(&at.of_step(&step.id), pool, step);
            format!("{nobody}: a note is for a step that works or is to begin")
        });
    }
    if place.is_none() {
        only_one(state)?;
    }
    let depth = |path: &&FramePath| path.as_str().split('/').count() - usize::from(path.is_root());
    let path = match place {
        Some(place) => place.frame(),
        None => state.frames.keys().max_by_key(depth).cloned().unwrap_or_default(),
    };
    let frame = state.frames.get(&path);
    let not_there = || match place {
        Some(place) => {
            steps::no_phase(state, place).unwrap_or_else(|| format!("the run is not at `{place}`"))
        }
        None => "the run has not begun".to_owned(),
    };
    frame.filter(|frame| place.is_none_or(|place| frame.place() == *place)).ok_or_else(not_there)
}

/// In a pool many may work: nobody can tell whom a note without a place is for.
fn only_one(state: &State) -> Result<(), String> {
    let steps = state.frames.values().filter(|frame| frame.step.is_some());
    let open: Vec<String> = steps.map(|frame| format!("`{}`", frame.path.as_str())).collect();
    match open.as_slice() {
        [] | [_] => Ok(()),
        [one, ..] => Err(format!(
            "{} steps are open, say which one is meant with `--place`, such as {one}",
            open.len()
        )),
    }
}
