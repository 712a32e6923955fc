//! The walls that a new run is frozen with.

use chronicle_core::definition::settings::Settings;
use chronicle_core::definition::walls::Walls;
use chronicle_core::definition::workflow::Workflow;
use chronicle_core::event::{RunWalls, WallsFound};
use chronicle_core::words;
use chronicle_runtime::handle::machine;

use super::Setting;
use crate::failure::Failure;

/// What the settings say, and what this machine can put up. One that is required and cannot stand is refused here, before anything is
/// written.
pub(super) fn frozen(
    setting: &Setting,
    settings: &Settings,
    workflows: &[Workflow],
) -> Result<Box<RunWalls>, Failure> {
    let walls = RunWalls { said: settings.walls(), found: machine::walls_found(&setting.asker) };
    if is_required(&walls.said, workflows) {
        refuse_without(&walls.found)?;
    }
    Ok(Box::new(walls))
}

fn is_required(said: &Walls, workflows: &[Workflow]) -> bool {
    let of_phases = |workflow: &Workflow| workflow.phases.iter().any(|phase| phase.walls.require);
    said.require || workflows.iter().any(|it| it.walls.require || of_phases(it))
}

fn refuse_without(found: &WallsFound) -> Result<(), Failure> {
    if found.namespaces {
        return Ok(());
    }
    let hint = if found.off {
        "leave `--no-walls` out, or `walls: {require: true}`"
    } else {
        "see `chronicle doctor`, or take `walls: {require: true}` out"
    };
    let stand = words::walls_line(found);
    Err(Failure::usage(format!("walls are required (`walls: {{require: true}}`): {stand}"))
        .hint(hint))
}
