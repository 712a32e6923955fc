//! Why an attempt was started, in the words that its worker reads first: what failed, what was said, where the rest is.

use crate::base::ids::{AttemptId, Outcome, Place, SHELL};
use crate::base::quote::cited;
use crate::definition::workflow::Text;
use crate::event::{Crash, CrashClass, Duty, End, Why};
use crate::state::{Attempt, Frame, State};
use crate::words;

use super::template::Stand;

/// Reminder for a worker that ended its turn too early, unless the workflow has its own.
const NOT_DONE: &str = "Your turn ended without a leaving signal, so this phase is not done. \
    Go on where you were; when the work is done, send the signal.";

/// For whoever goes on, or begins afresh, after files of the phase were lost.
const LOST: &str = "The folder of this phase was removed meanwhile. It is made again as it was before the last attempt: \
    what that attempt changed is gone, so do that work again.";

pub(super) fn why(why: &Why, state: &State, attempt: &Attempt, stand: Stand<'_>) -> String {
    let frame = state.frames.get(&attempt.intent.place.frame());
    let said = reason(why, state, attempt, stand);
    // Where that is the reason itself, it is said already.
    let is_told = matches!(why, Why::Lacking { .. });
    if !is_told && frame.is_some_and(|frame| frame.evidence.lost) {
        return format!("{said}\n\n{LOST}");
    }
    said
}

fn reason(why: &Why, state: &State, attempt: &Attempt, stand: Stand<'_>) -> String {
    match why {
        Why::First => first(state, attempt),
        Why::Nudge { .. } | Why::Again { .. } => reminder(state, attempt, stand),
        Why::Retry { .. } => {
            let end = previous(state, attempt).and_then(|before| before.ended.as_ref());
            let end = end.map(|(end, _)| end);
            let what = if end.is_some_and(is_crash) { "crashed" } else { "ended too early" };
            let how = end.map_or_else(String::new, |end| format!(": it {}", words::end(end)));
            format!(
                "An earlier attempt at this phase {what}{how}. You start afresh: look at the \
                 files as they are now before you go on."
            )
        }
        Why::Fallback { agent, said } => format!(
            "Another agent (`{}`) worked on this phase before you and could not go on: it {said}. You \
             take over, and its conversation is gone: look at the files as they are now, and do not do \
             again what is done.",
            words::one_line(agent)
        ),
        Why::Lost | Why::Paused | Why::Raised | Why::Waited | Why::Progressed => {
            "The work was interrupted. Go on exactly where you were; do not \
            do again what is done."
                .to_owned()
        }
        Why::SessionGone => {
            "An earlier attempt at this phase was interrupted and its conversation \
            is gone. Look at the files as they are now, and do not do again what is done."
                .to_owned()
        }
        Why::Lacking { missing } => format!(
            "You left, and the record does not show what this phase demands: {missing}. Do it, then \
             send the signal again; if it cannot be done, leave with the outcome `fail`."
        ),
        Why::Rejected { note } => {
            format!("A person looked at your work and said no: {}", on_its_own(note))
        }
        Why::Unverified { said, .. } => format!(
            "You said that this phase is done. The commands that verify it say that it is not; put \
             that right, then leave the phase again.\n\n{}{}",
            cited(said, ""),
            printed(state, verified(state, &attempt.intent.place)),
        ),
        Why::Asked { note } => {
            format!("A person asked for another try at this phase. {}", on_its_own(note))
        }
        Why::Continued { progress, point } => format!(
            "Another worker began this phase and could not finish it in one go. You go on in its \
             place.\nDone so far: {}\nGo on here: {}",
            on_its_own(progress),
            on_its_own(point),
        ),
        Why::Answered { .. } => {
            "What you asked has been answered, see below. Go on where you were.".to_owned()
        }
        Why::Helps { asker } => {
            let frame = state.frames.get(&attempt.intent.place.frame());
            // Who asked for somebody in its place does not come back.
            if frame.and_then(Frame::helper).is_some_and(|help| !help.resume) {
                format!("`{asker}` asked for you, and does not go on itself: you finish the phase.")
            } else {
                format!("`{asker}` needs your help and waits for it.")
            }
        }
        Why::Helped { persona, summary } => format!(
            "You asked `{persona}` for help. The result: {}\nGo on where you were.",
            on_its_own(summary),
        ),
    }
}

/// True if the agent's program broke. One that merely stopped working has not crashed.
fn is_crash(end: &End) -> bool {
    let End::Crashed(crash) = end else { return false };
    matches!(crash.class, CrashClass::Died | CrashClass::Protocol | CrashClass::Other)
}

/// Quoted text after a colon: on lines of its own if it has several.
fn on_its_own(text: &str) -> String {
    let cited = cited(text, "");
    // A quotation of several lines must begin its own paragraph, or its first line would be part of our sentence.
    if cited.starts_with('>') { format!("\n\n{cited}\n") } else { cited }
}

/// The phase begins, for the first time or again. What led here comes first.
fn first(state: &State, attempt: &Attempt) -> String {
    let place = &attempt.intent.place;
    let visits = state.tally(place).map_or(1, |tally| tally.visits);
    let came = came_from(state, place);
    let led = came.as_ref().map(|came| came.led_here(state));
    let begins = match (visits, &came) {
        // The ledger knows no earlier visit, but the files may show one. A worker that is told to begin would do it again.
        (0 | 1, None) if is_carried(state, place) => "This run continues one that was begun elsewhere, at \
             this phase: others may have worked here before you. What they reported is below; look at \
             the files before you change them."
            .to_owned(),
        (0 | 1, None) => "This phase begins: no worker was here before you.".to_owned(),
        (0 | 1, Some(_)) => "No worker was at this phase before you.".to_owned(),
        _ => format!(
            "The run came back to this phase: this is visit {visits}. What was done here before stands; look \
             at it before you change it."
        ),
    };
    led.into_iter().chain([begins]).collect::<Vec<_>>().join("\n\n")
}

/// True if the run was begun by another run or program, and continued here at this place.
fn is_carried(state: &State, place: &Place) -> bool {
    let carried = state.run.as_ref().and_then(|run| run.carried.as_ref());
    let frame = carried.and_then(|carried| carried.innermost());
    frame.is_some_and(|frame| frame.frame.place(&frame.phase) == *place)
}

/// The phase that was left for this one.
pub(super) struct Came<'s> {
    pub(super) place: Place,
    outcome: &'s Outcome,
    summary: &'s str,
}

/// What was left for this place: in its own frame, or in the parent if this frame has just begun.
pub(super) fn came_from<'s>(state: &'s State, place: &Place) -> Option<Came<'s>> {
    let mut frame = state.frames.get(&place.frame())?;
    loop {
        if let Some((from, outcome)) = &frame.left {
            let place = frame.path.place(from);
            return Some(Came { place, outcome, summary: frame.summary.trim() });
        }
        // The first phase of a workflow inside was led to by the phase before it outside.
        frame = state.frames.get(&frame.at.as_ref()?.frame())?;
    }
}

impl Came<'_> {
    fn led_here(&self, state: &State) -> String {
        let Self { place, outcome, summary } = self;
        let opens = if outcome.is_failure() {
            format!("`{place}` ended with `{outcome}`, and it is for you to put that right.")
        } else {
            format!("`{place}` was left for this phase ({outcome}).")
        };
        let said = if summary.is_empty() {
            String::new()
        } else {
            format!(" It says: {}", on_its_own(summary))
        };
        format!("{opens}{}{}", said.trim_end(), printed(state, ran_at(state, place)))
    }
}

/// The last attempt of a command phase.
fn ran_at(state: &State, place: &Place) -> Option<AttemptId> {
    let mut all = state.attempts.iter().rev();
    let ran = all.find(|it| it.intent.place == *place && it.intent.agent == SHELL);
    ran.filter(|it| it.failed_command.is_some()).map(|it| it.intent.attempt)
}

/// The last attempt that verified a phase.
fn verified(state: &State, place: &Place) -> Option<AttemptId> {
    let mut all = state.attempts.iter().rev();
    let ran = all.find(|it| it.intent.place == *place && it.duty() == Some(Duty::Verify));
    ran.map(|it| it.intent.attempt)
}

/// Where the complete output is: the handover has only its end.
fn printed(state: &State, attempt: Option<AttemptId>) -> String {
    let Some((run, attempt)) = state.run.as_ref().zip(attempt) else { return String::new() };
    format!(
        "\n\nAll that the commands printed is in the file `.chronicle/runs/{}/transcripts/{attempt}.jsonl`.",
        run.run
    )
}

fn reminder(state: &State, attempt: &Attempt, stand: Stand<'_>) -> String {
    if let Some(text) = stand.text(Text::NotDoneReminder) {
        return text;
    }
    match previous(state, attempt).and_then(|before| before.ended.as_ref()) {
        None | Some((End::Crashed(Crash { class: CrashClass::NoSignal, .. }), _)) => {
            NOT_DONE.to_owned()
        }
        Some((end, _)) => format!(
            "Your last turn broke off: it {}. Go on where you were; when the work is done, send \
             the signal.",
            words::end(end)
        ),
    }
}

/// The previous attempt of the same worker, unless it was dropped.
fn previous<'s>(state: &'s State, attempt: &Attempt) -> Option<&'s Attempt> {
    let intent = &attempt.intent;
    let mut before = state.attempts.iter().rev().filter(|other| {
        let other = &other.intent;
        other.chore.is_none()
            && other.attempt < intent.attempt
            && other.place == intent.place
            // A helper and the worker that it helps share a place, and have nothing else in common.
            && other.persona == intent.persona
    });
    before.next().map(std::convert::AsRef::as_ref)
}

/// Last message of the worker that this one replaces in a fresh session.
pub(super) fn said_last(state: &State, attempt: &Attempt) -> String {
    // A continued session remembers its own last words.
    let before = previous(state, attempt).filter(|_| !attempt.intent.resume);
    before.map_or_else(String::new, |before| cited(&before.said, ""))
}
