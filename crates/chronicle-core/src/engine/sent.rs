//! Moves by a person: a frame is sent elsewhere, at once or as soon as no attempt is live in it.

use super::chore;
use crate::base::ids::{FramePath, Outcome, SKIPPED};
use crate::event::{EdgeTaken, Event, GateAnswer, Issues, Mover};
use crate::state::{Frame, MergeStage, Sent, State};
use crate::words;

/// The move of a frame once no attempt is live in it. Its gates were answered with the person's note.
pub(super) fn follow(state: &State) -> Option<Event> {
    state.frames.values().find_map(|frame| {
        let sent = frame.sent.as_deref()?;
        // A person's order that had to wait is carried out as soon as nothing hinders it, even if the supervisor was replaced
        // meanwhile.
        if is_busy(state, &frame.path).is_some() {
            return None;
        }
        match chore::of_steps(state, &frame.path) {
            // Nothing starts while the run rests, not even that.
            Some(_) if state.paused.is_some() => None,
            Some(cleanup) => Some(cleanup),
            None => Some(edge(frame, sent)),
        }
    })
}

/// What must end before a frame can move.
pub(super) fn hindrance(state: &State, path: &FramePath) -> Option<String> {
    let steps = || chore::of_steps(state, path).map(|_| words::ONCE_PUT_AWAY.to_owned());
    is_busy(state, path).or_else(steps)
}

/// What is going on in a frame and cannot be broken off in the middle.
pub(super) fn is_busy(state: &State, path: &FramePath) -> Option<String> {
    // A frame must not move under a live attempt, and not before its files are recorded: the next phase would get the blame.
    let mut live = state.live_attempts().map(|attempt| &attempt.intent);
    if let Some(works) = live.find(|intent| intent.place.frame().is_within(path)) {
        return Some(words::once_ended(works.attempt));
    }
    // A begun merge is finished, whoever wants to move the run.
    let writes = state.merges().any(|(place, step, merging)| {
        merging.at == MergeStage::Writing && place.step_frame(&step.id).is_within(path)
    });
    if writes {
        return Some(words::ONCE_MERGED.to_owned());
    }
    // Also of frames inside, which go with the one that moves.
    let mut recorded = state.trees.after.values().map(|(_, place)| place.frame());
    let is_busy = recorded.any(|frame| frame.is_within(path)) || state.trees.undo().is_some();
    is_busy.then(|| words::ONCE_RECORDED.to_owned())
}

/// Answers to the gates that the move closes: the frame's own, and those of frames below.
pub(super) fn answers(state: &State, path: &FramePath, sent: &Sent) -> Vec<Event> {
    let answer = |gate| {
        let (who, note) = (sent.who.clone(), sent.note.clone());
        let answer = GateAnswer::Go(sent.to.clone());
        Event::GateAnswered { gate, answer, who, note, agent: None, from: None }
    };
    let open = state.open_gates().map(|gate| &gate.opened);
    // Gates inside the frame that moves have nobody left to answer to.
    let within = open.filter(|gate| gate.place.frame().is_within(path));
    within.map(|gate| answer(gate.gate)).collect()
}

pub(super) fn edge(frame: &Frame, sent: &Sent) -> Event {
    Event::EdgeTaken(EdgeTaken {
        frame: frame.path.clone(),
        from: frame.phase.clone(),
        to: sent.to.clone(),
        // Never `complete`: a person's move says nothing about whether the work was done.
        outcome: Outcome::from(SKIPPED),
        summary: sent.note.clone(),
        by: Mover::Person,
        task: None,
        issues: Issues::default(),
    })
}
