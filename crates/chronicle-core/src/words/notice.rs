//! Words about telling people that a run needs them or has ended.

use super::{one_line, sentence};
use crate::event::Event;
use crate::event::notice::{About, Failed, Missed, NoticeGiven, Way};
use crate::state::State;

pub(super) fn given(notice: &NoticeGiven) -> String {
    let what = match notice.about {
        About::Gate(gate) => format!("that {gate} waits"),
        About::End => "that the run ended".to_owned(),
    };
    match (notice.missed, failed(&notice.failed)) {
        (Some(Missed::Unknown), _) => {
            format!(
                "it is unknown whether people were notified {what}: a supervisor died while sending the notice"
            )
        }
        (Some(Missed::NobodyDrove), _) => {
            format!("no notice was sent {what}: the run was not being driven")
        }
        (None, None) => format!("people were notified {what}: {}", ways(&notice.given)),
        (None, Some(failed)) if notice.given.is_empty() => {
            format!("people could not be notified {what}: {failed}")
        }
        (None, Some(failed)) => {
            format!("people were notified {what}: {}; but {failed}", ways(&notice.given))
        }
    }
}

/// What went wrong; none if nothing did.
pub(crate) fn failed(failed: &[Failed]) -> Option<String> {
    let said =
        |failed: &Failed| format!("the {} failed: {}", way(failed.way), one_line(&failed.why));
    (!failed.is_empty()).then(|| failed.iter().map(said).collect::<Vec<_>>().join("; "))
}

fn ways(given: &[Way]) -> String {
    if given.is_empty() {
        return "no way is configured".to_owned();
    }
    given.iter().map(|one| format!("by the {}", way(*one))).collect::<Vec<_>>().join(", ")
}

fn way(way: Way) -> &'static str {
    match way {
        Way::Command => "command",
        Way::Webhook => "webhook",
    }
}

/// What people are told, in a sentence.
pub(crate) fn text(state: &State, about: About) -> Option<String> {
    let run = state.run.as_ref()?;
    let name = run.workflows.first().map_or("", |workflow| workflow.name.as_str());
    let what = match about {
        About::Gate(gate) => Event::GateOpened(state.gate(gate)?.opened.clone()),
        About::End => end(state)?,
    };
    Some(format!("Chronicle {} ({name}): {}", run.run.short(), sentence(&what)))
}

fn end(state: &State) -> Option<Event> {
    let failed = state.failed.as_ref().map(|reason| Event::RunFailed { reason: reason.clone() });
    let cancelled =
        || state.cancelled.as_ref().map(|reason| Event::RunCancelled { reason: reason.clone() });
    failed.or_else(cancelled).or_else(|| state.done.then_some(Event::RunDone))
}
