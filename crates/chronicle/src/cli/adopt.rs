//! `chronicle resume` of a run of The Chronicle: a new run continues at its position.
//!
//! The old file is only read. The first line of the new run says where it came from.

use chronicle_core::base::ids::RunId;
use chronicle_core::definition::workflow::{Format, Source, unsupported};
use chronicle_core::event::RunStarted;
use chronicle_core::event::input::Command;
use chronicle_runtime::handle;
use chronicle_runtime::handle::definitions::{self, OlderRun, Places};

use super::detach::StayArgs;
use super::prepare::{Wishes, prepare};
use super::{Setting, config, live, problems, with_rules};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Starts a run at the position of the other one.
pub(super) fn adopt(
    setting: &Setting,
    stay: &StayArgs,
    older: &OlderRun,
    trust: bool,
) -> Result<Exit, Failure> {
    if older.is_over() {
        return Err(Failure::usage(format!("run {} is over: done", older.short())));
    }
    let found = config::load(setting)?;
    let places = Places { limits: found.settings.limits(), ..Places::of(&setting.project) };
    let catalog = definitions::find_in(&places);
    let key = older.workflow_name.clone();
    // The definition comes from the old run's own file, not from the project: what was edited since must not change a run
    // that goes on.
    let source = Source { file: None, name: older.file.clone(), key, text: older.definition() };
    let mut loaded = catalog.of_text(&places, source, Format::Template);
    problems::judge(&loaded)?;
    let rules = with_rules::judge(&catalog)?;
    let mut personas = catalog.personas_of(&loaded.workflows);
    personas.extend(catalog.helpers(&loaded.workflows));
    let wishes = Wishes { trust, ..Wishes::default() };
    let chosen = prepare(setting, &found.settings, &catalog, &mut loaded, &wishes)?;
    let main = loaded.workflows.first().ok_or_else(|| nowhere(older, "it has no workflow"))?;
    let carried = older.position(main).map_err(|why| nowhere(older, &why))?;
    let unenforced = loaded.workflows.iter().flat_map(unsupported).map(|field| field.to_string());
    let start = RunStarted {
        // Made from the old id: whoever continues the same run at the same time gets the same folder, and only one of them
        // its lock.
        run: RunId::new(handle::continuing_run_id(&setting.project, &older.id, older.created)),
        task: older.initial_task.clone(),
        who: setting.asker.who.clone(),
        project: setting.project.root().display().to_string(),
        agent: chosen.agent,
        model: chosen.model,
        personas,
        unenforced: unenforced.chain(rules).collect(),
        workflows: loaded.workflows,
        source: older.file.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        on_gate: None,
        isolated: false,
        inputs: true,
        carried: Some(Box::new(carried)),
    };
    handle::check_paths(setting.project.root(), &setting.asker)?;
    let folder = handle::new_run(&setting.project, start.run.clone())
        .map_err(|error| Failure::internal("no run can be made here", &error))?;
    handle::mark_adopted(&folder, &older.id)
        .map_err(|error| Failure::internal("the run's folder cannot be written", &error))?;
    terminal::talk(&format!(
        "Run {} continues as run {}, at `{}`. Its own file is left as it is: `{}`.",
        older.short(),
        folder.id.short(),
        older.current_state,
        older.file
    ));
    live::stay(setting, &folder, Command::Start(Box::new(start)), stay.rest(&found.settings))
}

fn nowhere(older: &OlderRun, why: &str) -> Failure {
    let what = format!("run {} of `{}` cannot continue: {why}", older.short(), older.file);
    Failure::new(Exit::Definition, what)
}
