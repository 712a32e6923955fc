//! Words about what workers and people say to each other through the supervisor.

use super::{code, one_line, quote, saying};
use crate::base::ids::{AttemptId, Outcome, Place};
use crate::base::limits::{PARTIAL_MAX, TEXT_MAX, bounded};
use crate::base::quote::{excerpt, quoted};
use crate::definition::workflow::Phase;
use crate::event::claims::Unproven;
use crate::event::snapshot::{Snapshot, SnapshotUpdate};
use crate::event::{Break, End, FollowUp, GateOpened, Message, Mover, OnGate};
use crate::state::{Attempt, Frame, State, Unworded};

/// The answer to a worker's first wish to give the run up.
pub(crate) const CANCEL_AGAIN: &str = "this cancels the whole run. To confirm, call \
    `workflow_step` with `cancel` again now; any other call withdraws it.";
/// The answer to the second.
pub(crate) const CANCELLED: &str = "the run is cancelled. End your turn now.";

pub(super) fn claims_unproven(said: &Unproven) -> String {
    match said.claims.as_slice() {
        [] => format!("`{}`: the record supports all claims of its worker", said.place),
        claims => format!("`{}`: {}", said.place, super::unproven(claims)),
    }
}

pub(super) fn follow_up_began(place: &Place, follow_up: &FollowUp) -> String {
    format!("`{}` helps at `{place}`{}", follow_up.persona, saying(&follow_up.reason))
}

pub(super) fn follow_up_ended(
    place: &Place,
    persona: &str,
    outcome: &Outcome,
    summary: &str,
    by: Mover,
) -> String {
    let by = match by {
        Mover::Run => "has helped",
        Mover::Person => "is not needed",
    };
    let outcome = unless_complete(outcome);
    format!("`{persona}` {by} at `{place}`{outcome}{}", saying(summary))
}

pub(super) fn message_delivered(attempt: AttemptId, message: Message, repeated: bool) -> String {
    let again = if repeated { ", perhaps for the second time" } else { "" };
    format!("{attempt} was told {}{again}", self::message(message))
}

/// What is left of a worker's work whose time was over.
pub(crate) fn partial(phase: &str, text: &str) -> String {
    format!("[Partial – {phase} timed out] {}", bounded(text.trim(), PARTIAL_MAX))
}

/// What a worker asked for when it ended its turn.
pub(crate) fn parting(parting: &Break) -> String {
    match parting {
        Break::Continue { point, .. } => format!("to be continued{}", saying(point)),
        Break::Ask(question) => format!("asks{}", saying(&question.question)),
        Break::FollowUp(FollowUp { persona, reason, .. }) => {
            format!("asks {} for help{}", code(one_line(persona)), saying(reason))
        }
        Break::Helped { outcome, summary } => {
            format!("has helped{}{}", unless_complete(outcome), saying(summary))
        }
    }
}

/// The answer to a signal that ends a turn and not its phase.
pub(crate) fn other_step(attempt: &Attempt, step: &str) -> String {
    format!(
        "`stepId` is `{}`, and you are {} at `{}`: name one of these, or leave `stepId` out",
        quoted(step),
        attempt.intent.attempt,
        attempt.intent.place
    )
}

pub(crate) fn breaking_off(parting: &Break, frame: Option<&Frame>) -> String {
    let is_last = || frame.and_then(Frame::helper).is_some_and(|help| !help.resume);
    let what = match parting {
        Break::Continue { .. } => "a fresh worker continues from there".to_owned(),
        Break::Ask(_) => "a person is asked, and you continue with the answer".to_owned(),
        Break::FollowUp(FollowUp { persona, resume: true, .. }) => {
            format!("{} is asked, and you continue afterwards", code(one_line(persona)))
        }
        Break::FollowUp(FollowUp { persona, resume: false, .. }) => {
            format!("{} is asked, and the phase is done afterwards", code(one_line(persona)))
        }
        Break::Helped { .. } if is_last() => "the phase is left with what you report".to_owned(),
        Break::Helped { .. } => "the worker that asked continues".to_owned(),
    };
    format!("accepted: {what}. End your turn now.")
}

/// The answer to a call whose line does not have it, as it would be answered now.
pub(crate) fn accepted(state: &State, attempt: &Attempt, what: Unworded) -> String {
    let left = || attempt.leave.as_ref().map(|(leave, _)| super::leaving(leave));
    let frame = state.frames.get(&attempt.intent.place.frame());
    let parted = || attempt.parting.as_ref().map(|(parting, _)| breaking_off(parting, frame));
    match what {
        Unworded::Leave => left().unwrap_or_default(),
        Unworded::Break => parted().unwrap_or_default(),
        Unworded::Snapshot => snapshot_kept(&state.snapshot_at(&attempt.intent.place.frame())),
        Unworded::Cancel => CANCEL_AGAIN.to_owned(),
    }
}

/// The answer to an update of the snapshot.
pub(crate) fn snapshot_kept(snapshot: &Snapshot) -> String {
    format!("kept: {}", carried(snapshot))
}

/// How much is carried from phase to phase.
pub(crate) fn carried(snapshot: &Snapshot) -> String {
    format!(
        "{} findings, {} pending, {} done, {} files, {} named values",
        snapshot.findings.len(),
        snapshot.pending.len(),
        snapshot.done.len(),
        snapshot.files.len(),
        snapshot.custom.len()
    )
}

/// What an update of the snapshot adds.
pub(super) fn updated(update: &SnapshotUpdate) -> String {
    let counts = [
        (update.findings.len(), "finding", "findings"),
        (update.pending.len(), "pending", "pending"),
        (update.done.len(), "done", "done"),
        (update.files.len(), "file", "files"),
        (update.custom.len(), "named value", "named values"),
        (update.remove.len(), "removed", "removed"),
        (update.replace.len(), "replaced", "replaced"),
    ];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many }))
        .collect();
    let first = [&update.findings, &update.pending, &update.done, &update.files];
    // One example is enough to recognise the update. The log has all of it.
    let first = first.iter().find_map(|texts| texts.first());
    format!("{}{}", parts.join(", "), first.map_or_else(String::new, |text| saying(text)))
}

pub(super) fn message(message: Message) -> String {
    match message {
        Message::Note(note) => note.to_string(),
        Message::Answer(gate) => format!("the answer to {gate}"),
        Message::Wall => "what a wall around it does".to_owned(),
        Message::Verdict(gate) => format!("what becomes of its call at {gate}"),
    }
}

/// What a run does by itself when a person is needed.
pub fn on_gate(on_gate: OnGate) -> &'static str {
    match on_gate {
        OnGate::Fail => "it fails",
        OnGate::Wait => "its supervisor waits",
    }
}

/// Why a run failed that was started to fail when a person is needed.
pub(crate) fn nobody_stays(gate: &GateOpened) -> String {
    let about = super::about(gate.gate_kind, &gate.about);
    format!("{} at {} needs a person: {about}", gate.gate, code(&gate.place))
}

/// Why a run ended by a worker's word.
pub(crate) fn worker_cancelled(attempt: AttemptId, summary: &str) -> String {
    format!("{attempt} cancelled it{}", saying(summary))
}

/// What a person is to do themselves.
pub(crate) fn by_hand(phase: &Phase) -> String {
    let what = [phase.instructions.trim(), phase.description.as_deref().unwrap_or_default().trim()];
    let what = what.into_iter().find(|text| !text.is_empty());
    let what = what.map_or_else(String::new, |text| format!(": {}", excerpt(text, TEXT_MAX)));
    format!("{} is yours to do{what}", code(&phase.name))
}

/// What is known of a worker whose conversation grew too long: how far it was, and where to go on.
pub(crate) fn out_of_context() -> (String, String) {
    let progress = "its context was full, so it could not report";
    let point = "look at the current files, and do not repeat finished work";
    (progress.to_owned(), point.to_owned())
}

pub(crate) fn continued_too_often(phase: &Phase, point: &str) -> String {
    format!("{}; it stopped at {}", continued(phase), quote(point))
}

/// The same for a worker whose conversation was too long. How it ended is all that is known: it could not report.
pub(crate) fn full_too_often(phase: &Phase, frame: &Frame, end: &End) -> String {
    format!("{}; {} {}", continued(phase), super::gate::last_attempt(frame), super::end(end))
}

fn continued(phase: &Phase) -> String {
    let times = match phase.limits.continuations {
        0 => "may not be continued".to_owned(),
        count => format!("was continued {}, which is the limit", super::times(count)),
    };
    format!("{} {times}", code(&phase.name))
}

/// Who waits for whom, when one more would be too many.
pub(crate) fn too_deep(phase: &Phase, frame: &Frame, wanted: &FollowUp) -> String {
    let helpers = frame.stack.iter().map(|waiting| waiting.follow_up.persona.as_str());
    let chain = std::iter::once(phase.worker_name()).chain(helpers);
    let chain: Vec<String> =
        chain.chain([wanted.persona.as_str()]).map(one_line).map(code).collect();
    let levels = match phase.limits.depth {
        1 => "1 level".to_owned(),
        many => format!("{many} levels"),
    };
    let reason = saying(&wanted.reason);
    format!("{} would nest help deeper than {levels}{reason}", chain.join(" → "))
}

/// Why nobody more may help at this visit, and who was asked for.
pub(crate) fn helped_too_often(phase: &Phase, wanted: &FollowUp) -> String {
    let times = match phase.limits.followups {
        0 => "may have no help".to_owned(),
        count => format!("had help {}, which is the limit", super::times(count)),
    };
    let persona = code(one_line(&wanted.persona));
    format!("{} {times}; now it asks for {persona}{}", code(&phase.name), saying(&wanted.reason))
}

pub(super) fn unless_complete(outcome: &Outcome) -> String {
    match outcome.as_str() {
        "complete" => String::new(),
        other => format!(" ({other})"),
    }
}
