//! `chronicle resume` of a run of The Chronicle: a new run continues at its position.
//!
//! The old file is only read. The first line of the new run says where it came from.

use chronicle_core::base::ids::RunId;
use chronicle_core::definition::workflow::{Format, Source, expand_pools, unsupported};
use chronicle_core::event::RunStarted;
use chronicle_core::event::input::Command;
use chronicle_runtime::handle::definitions::{self, OlderRun, Places};
use chronicle_runtime::handle::{self, HandleError, LedgerError};

use super::detach::{self, StayArgs};
use super::prepare::{Wishes, prepare};
use super::{Setting, agents, config, live, problems, run, walls, with_rules};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Starts a run at the position of the other one.
pub(super) fn adopt(
    setting: &Setting,
    stay: &StayArgs,
    older: &OlderRun,
    wishes: &Wishes<'_>,
) -> Result<Exit, Failure> {
    if older.is_over() {
        return Err(Failure::usage(format!("run {} is over: done", older.short())));
    }
    // Made from the old id: whoever continues the same run at the same time gets the same folder, and only one of them its
    // lock.
    let run = RunId::new(handle::continuing_run_id(&setting.project, &older.id, older.created));
    check_continuation(setting, older, &run)?;
    let found = config::load(setting)?;
    let places = Places { limits: found.settings.limits(), ..Places::of(&setting.project) };
    let catalog = definitions::find_in(&places);
    let key = older.workflow_name.clone();
    // The definition comes from the old run's own file, not from the project: what was edited since must not change a run
    // that goes on.
    let source = Source { file: None, name: older.file.clone(), key, text: older.definition() };
    let mut loaded = catalog.of_text(&places, source, Format::Template);
    problems::judge(&loaded)?;
    expand_pools(&mut loaded.workflows);
    let rules = with_rules::judge(&setting.project, &catalog, &found.settings, &loaded.workflows)?;
    let mut personas = catalog.personas_of(&loaded.workflows);
    personas.extend(catalog.helpers(&loaded.workflows));
    let chosen = prepare(setting, &found.settings, &catalog, &mut loaded, wishes)?;
    let main = loaded.workflows.first().ok_or_else(|| nowhere(older, "it has no workflow"))?;
    let carried = older.position(main).map_err(|why| nowhere(older, &why))?;
    let unenforced = loaded.workflows.iter().flat_map(unsupported).map(|field| field.to_string());
    let walls = walls::frozen(setting, &found.settings, &loaded.workflows)?;
    let start = RunStarted {
        run,
        task: older.initial_task.clone(),
        who: setting.asker.who.clone(),
        project: setting.project.root().display().to_string(),
        agent: chosen.agent,
        model: chosen.model,
        personas,
        unenforced: unenforced.chain(rules.unenforced).collect(),
        workflows: loaded.workflows,
        source: older.file.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        on_gate: None,
        isolated: false,
        keep_folders: false,
        apart: false,
        inputs: true,
        rules: Some(rules.frozen),
        walls: Some(walls),
        carried: Some(Box::new(carried)),
    };
    agents::check(setting, &found.settings, &start)?;
    let folder = run::make_run(setting, &start)?;
    handle::mark_adopted(&folder, &older.id)
        .map_err(|error| Failure::internal("the run's folder cannot be written", &error))?;
    terminal::talk(&format!(
        "Run {} continues as run {}, at `{}`. Its own file is left as it is: `{}`.",
        older.short(),
        folder.id.short(),
        older.current_state,
        older.file
    ));
    if stay.detach {
        handle::record(&folder, &setting.asker, Command::Prepare(Box::new(start)))?;
        return detach::detach(setting, &folder);
    }
    live::stay(setting, &folder, Command::Start(Box::new(start)), stay.rest(&found.settings))
}

/// A run that was continued before, and whose ledger somebody removed, is not begun again in silence: its work was done, and is
/// unknown here.
fn check_continuation(setting: &Setting, older: &OlderRun, run: &RunId) -> Result<(), Failure> {
    let folder = setting.project.run(run.clone());
    let is_gone = handle::gone_runs(&setting.project).iter().any(|gone| gone.id == *run);
    // A folder without a line, of which more is known: what was there before was removed. One that never had a line is begun.
    let is_empty = || {
        let lost =
            matches!(handle::row(&folder), Err(HandleError::Ledger(LedgerError::Conflict { .. })));
        folder.path.is_dir() && lost
    };
    let (what, remove) = if is_gone {
        ("folder", String::new())
    } else if is_empty() {
        ("ledger", format!("rm -r '{}' && ", folder.path.display()))
    } else {
        return Ok(());
    };
    let (older, run) = (older.short(), run.short());
    let what = format!("run {older} was continued as run {run}, whose {what} is gone");
    Err(Failure::new(Exit::Damaged, what).hint(format!(
        "put it back from a copy; without one, `{remove}chronicle gc --yes && chronicle resume {older}` forgets run {run} and \
         begins again where The Chronicle left it"
    )))
}

fn nowhere(older: &OlderRun, why: &str) -> Failure {
    let what = format!("run {} of `{}` cannot continue: {why}", older.short(), older.file);
    Failure::new(Exit::Definition, what)
}
