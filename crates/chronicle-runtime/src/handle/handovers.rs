//! Handovers of past workers from the record, and of the next one.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::engine::work;
use chronicle_core::engine::{self, Next};
use chronicle_core::event::{AttemptStarted, Event, Handed};
use chronicle_core::handover::{self, Told};
use chronicle_core::state::State;
use chronicle_core::view::{self, HandoverView};

use super::HandleError;
use crate::ledger::{ArtifactId, Head, Ledger, LedgerError};
use crate::project::RunFolder;

/// The handover of an attempt, or of the last one that had any.
pub fn handover(
    folder: &RunFolder,
    attempt: Option<AttemptId>,
) -> Result<HandoverView, HandleError> {
    // First, as every reader does: a ledger whose lines are gone would look like one of a run that never started.
    super::reading::read(folder)?;
    let short = || folder.id.short().to_owned();
    let (mut state, mut found) = (State::default(), None);
    for next in folder.ledger().read(Head::EMPTY)? {
        let line = match next {
            Ok((line, _)) => line,
            Err(LedgerError::UnknownKind { .. } | LedgerError::NewerVersion { .. }) => break,
            Err(error) => return Err(error.into()),
        };
        // Walls that it gets after all come with another handover, and that is the one which the worker was told.
        let told = line.events.iter().filter_map(|event| match event {
            Event::AttemptStarted(intent) => Some(intent.attempt),
            Event::AttemptRewalled(rewalled) => Some(rewalled.attempt),
            _ => None,
        });
        let told: Vec<AttemptId> = told.collect();
        state.apply(&line);
        let mut known =
            told.into_iter().rev().filter_map(|id| state.attempt(id)).map(|it| &it.intent);
        if let Some(intent) = known.find(|intent| is_asked_for(intent, attempt)) {
            // With the state right after that line, as it was when the worker was told.
            found = Some(told_then(folder, &state, intent));
        }
    }
    if state.run.is_none() {
        return Err(HandleError::NotStarted { run: short() });
    }
    found.ok_or_else(|| HandleError::NothingTold { run: short(), attempt })
}

fn is_asked_for(intent: &AttemptStarted, attempt: Option<AttemptId>) -> bool {
    intent.agent != chronicle_core::base::ids::SHELL
        && attempt.is_none_or(|asked| asked == intent.attempt)
}

/// As stored; derived again from the ledger if it was not stored.
fn told_then(folder: &RunFolder, state: &State, intent: &AttemptStarted) -> HandoverView {
    let kept = intent.handover.as_ref().and_then(|handed| kept(folder, handed));
    let is_kept = kept.is_some();
    let again = || state.attempt(intent.attempt).map(|it| handover::told_to(state, it));
    let told = kept.or_else(again).unwrap_or(Told { text: String::new(), rest: None });
    let persona = work::work(state, intent.attempt).and_then(|work| work.persona);
    view::handover(&folder.id, intent, persona, told, is_kept)
}

fn kept(folder: &RunFolder, handed: &Handed) -> Option<Told> {
    let read = |sum: &String| {
        let id: ArtifactId = sum.parse().ok()?;
        String::from_utf8(folder.ledger().artifact(&id).ok()?).ok()
    };
    let rest = match &handed.rest {
        // If one of the two is missing, neither is used: a text that names a file which is not the one beside it would mislead.
        Some(sum) => Some(read(sum)?),
        None => None,
    };
    Some(Told { text: read(&handed.text)?, rest })
}

/// The handover that the next worker would get now.
pub fn next_handover(folder: &RunFolder) -> Result<HandoverView, HandleError> {
    let (state, _) = super::reading::read(folder)?;
    let Next { assumed, intent, told, persona } = engine::next(&state)
        .map_err(|why| HandleError::NobodyNext { run: folder.id.short().to_owned(), why })?;
    let view = view::handover(&folder.id, &intent, persona, told, false);
    Ok(HandoverView { assumed, ..view })
}
