//! Where a run is, on one line: every frame it is inside of, and how far each is.

use crate::ids::DONE;
use crate::state::{Frame, Stage, State};
use crate::workflow::{Phase, Workflow};

/// `Release > Review [2/3] > 🔍 Analysis [1/2]`: the workflow, then for each frame the phase it is at, of how many.
pub(super) fn status_line(state: &State) -> String {
    let main = state.run.as_ref().and_then(|run| run.workflows.first());
    let name = main.map_or_else(String::new, |main| main.name.clone());
    let frames = state.frames.values().filter(|frame| frame.stage != Stage::Ended);
    let parts = frames.filter_map(|frame| part(state, frame));
    std::iter::once(name).chain(parts).collect::<Vec<_>>().join(" > ")
}

fn part(state: &State, frame: &Frame) -> Option<String> {
    let workflow = state.workflow(&frame.workflow)?;
    let phases = || workflow.phases.iter().filter(|phase| phase.id.as_str() != DONE);
    let at = phases().position(|phase| phase.id == frame.phase)?;
    let name = name(state, phases().nth(at)?);
    Some(format!("{name} [{}/{}]", at + 1, phases().count()))
}

/// A phase that holds a workflow goes by that workflow's name.
fn name(state: &State, phase: &Phase) -> String {
    let inner = phase.workflow.as_deref().and_then(|key| state.workflow(key));
    match (inner, &phase.emoji) {
        (Some(Workflow { name, .. }), _) => name.clone(),
        (None, Some(emoji)) => format!("{emoji} {}", phase.name),
        (None, None) => phase.name.clone(),
    }
}
