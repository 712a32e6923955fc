//! The walls that a new run is frozen with, and what they may not open here.

use chronicle_core::base::ids::PhaseId;
use chronicle_core::definition::settings::Settings;
use chronicle_core::definition::walls::Walls;
use chronicle_core::definition::workflow::{FieldAt, Loaded, Problem, Severity, Workflow};
use chronicle_core::event::{RunWalls, WallsFound};
use chronicle_core::words;
use chronicle_runtime::handle::machine;

use super::Setting;
use crate::exit_code::Exit;
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

/// A path that would leave nothing of the walls in this project.
pub(super) struct TooWide<'w> {
    /// The workflow that names it; `None` for the user's settings.
    workflow: Option<&'w Workflow>,
    /// The phase that names it; `None` if its workflow does.
    phase: Option<&'w PhaseId>,
    why: String,
}

/// Every such path that the settings or a workflow names. What is wrong with a path wherever the home is was told before.
pub(super) fn too_wide<'w>(
    setting: &Setting,
    settings: &Settings,
    workflows: &'w [Workflow],
) -> Vec<TooWide<'w>> {
    let unfit = |walls: &Walls| {
        walls.paths.iter().find_map(|path| machine::unfit_to_open(path, &setting.project))
    };
    let own = unfit(&settings.walls()).map(|why| TooWide { workflow: None, phase: None, why });
    let named = workflows.iter().flat_map(|workflow| {
        let of_phases = workflow.phases.iter().map(|phase| (Some(&phase.id), &phase.walls));
        let all = std::iter::once((None, &workflow.walls)).chain(of_phases);
        all.filter_map(move |(phase, walls)| {
            Some(TooWide { workflow: Some(workflow), phase, why: unfit(walls)? })
        })
    });
    own.into_iter().chain(named).collect()
}

impl TooWide<'_> {
    /// Where it is said, for `check`.
    pub(super) fn problem(&self, settings: &Settings, loaded: &Loaded) -> Problem {
        let hint = Some(HINT.to_owned());
        if let Some(workflow) = self.workflow {
            let at = FieldAt { workflow: &workflow.key, phase: self.phase, field: "walls" };
            return loaded.problem(&at, Severity::Error, "bad-wall", self.why.clone(), hint);
        }
        let said = settings.said("walls.paths");
        Problem {
            code: "bad-wall",
            severity: Severity::Error,
            file: said.map_or_else(String::new, |said| said.file.clone()),
            span: None,
            line: said.map_or(1, |said| said.line),
            column: 1,
            message: format!("`walls.paths`: {}", self.why),
            hint,
        }
    }

    /// The same for a run that is not started.
    pub(super) fn failure(&self) -> Failure {
        let place = match self.workflow {
            Some(workflow) => format!("workflow `{}`", workflow.key),
            None => "`walls.paths` of your settings".to_owned(),
        };
        Failure::new(Exit::Definition, format!("{place}: {}", self.why)).hint(HINT)
    }
}

/// What to do about it.
const HINT: &str = "name the folders in it that workers need";
