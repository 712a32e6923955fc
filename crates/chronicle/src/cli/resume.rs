//! `chronicle resume`: drives an existing run.

use chronicle_core::event::OnGate;
use chronicle_core::event::input::Command;
use chronicle_core::state::Standing;
use chronicle_core::words;
use chronicle_runtime::handle::definitions::OlderRun;
use chronicle_runtime::handle::{
    self, FindError, HandleError, LedgerError, Project, Rest, RunFolder, definitions, programs,
    trust,
};
use clap::Args;

use super::detach::{self, StayArgs};
use super::trust::confirm;
use super::{Setting, adopt, answer, live, only_for_people, undo};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Fewest characters that mean a run of another program.
const ID_MIN: usize = 4;

/// Continue a run that was paused, interrupted, killed, or answered
///
/// Processes that its old supervisor left running are killed first. Finished work is not repeated: an interrupted worker
/// continues in its own session.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle resume             the run that was left last
  chronicle resume 5f3a9c1e    by the digits that `chronicle runs` shows
  chronicle resume 5f3a9c1e --force    its supervisor was on a host that is gone")]
pub(super) struct ResumeArgs {
    /// Id of the run; the one that was left last if omitted
    run: Option<String>,

    #[command(flatten)]
    stay: StayArgs,

    /// Take the run from a supervisor on another machine, which may still be running
    ///
    /// If it is, it stops at its next write, after ten seconds at the latest. Until then its agent and the one started here may
    /// work on the same files.
    #[arg(long)]
    force: bool,

    /// Continue a run that came with the project's files, without asking
    #[arg(long)]
    trust: bool,

    /// Used by `--detach` for the process that it starts
    #[arg(long, hide = true)]
    detached: bool,
}

pub(super) fn cmd_resume(setting: &Setting, args: &ResumeArgs) -> Result<Exit, Failure> {
    only_for_people()?;
    let folder = match find(setting, args.run.as_deref())? {
        Found::Ours(folder) => folder,
        Found::Older(older) => return adopt::adopt(setting, &args.stay, &older, args.trust),
    };
    let (view, _) = handle::view(&folder)?;
    // A run goes on as it began; settings that are wrong by now must not keep it from that.
    let project = Project::at(&folder.project);
    let settings = definitions::settings(&project).settings;
    match view.status {
        Standing::Done | Standing::Cancelled | Standing::Failed if view.half_undone.is_some() => {
            return undo::finish_over(setting, &folder);
        }
        Standing::Done | Standing::Cancelled | Standing::Failed if !view.goes_on => {
            let over = format!("run {} is over: {}", view.short, view.status);
            return Err(Failure::usage(over)
                .hint(format!("chronicle log {} shows what happened", view.short)));
        }
        Standing::Waiting
            if view.waits.is_empty()
                && view.waits_for.is_none()
                && !args.stay.stays(&settings)
                && !live::is_inline(setting) =>
        {
            let failure = Failure::new(
                Exit::Waiting,
                format!("run {} waits for a person: {}", view.short, about(&view)),
            );
            return Err(match view.next.first() {
                Some(next) => failure.hint(next.clone()),
                None => failure,
            });
        }
        Standing::Running
        | Standing::Ending
        | Standing::Interrupted
        | Standing::Waiting
        | Standing::Paused
        | Standing::Done
        | Standing::Cancelled
        | Standing::Failed => {}
    }
    if !args.trust && !handle::was_begun(&folder) {
        confirm(&project, &[trust::run(&folder)], &[], &settings)?;
    }
    // After the question of trust: the lock must not be taken if the person then declines.
    if args.force
        && let Some(holder) = handle::force(&folder)?
    {
        terminal::talk(&format!(
            "Taken from {holder}. If it still lives, its agent may work on the same files until it \
             notices: at its next write, at the latest after ten seconds."
        ));
    }
    if args.detached {
        programs::leave_terminal()
            .map_err(|error| Failure::internal("the terminal cannot be left", &error))?;
    }
    if args.stay.detach {
        return detach::detach(setting, &folder);
    }
    // What the run was started with wins over this command's flags: a run that waits for answers keeps doing so.
    let rest = match view.on_gate {
        Some(OnGate::Wait) => Rest::WhenOver,
        Some(OnGate::Fail) | None => args.stay.rest(&settings),
    };
    answer::mention_copies(&folder);
    live::stay(setting, &folder, Command::Resume, rest)
}

/// A run that can go on.
enum Found {
    Ours(RunFolder),
    /// One of The Chronicle, which a run of ours goes on with.
    Older(Box<OlderRun>),
}

fn find(setting: &Setting, text: Option<&str>) -> Result<Found, Failure> {
    let Some(text) = text else { return newest(setting).map(Found::Ours) };
    match handle::find_run(&setting.project, text) {
        Ok(folder) => Ok(Found::Ours(folder)),
        Err(error) => match older(setting, text) {
            Some(older) if matches!(error, FindError::None { .. }) => {
                Ok(Found::Older(Box::new(older)))
            }
            Some(_) | None => Err(error.into()),
        },
    }
}

/// The only run of The Chronicle whose id begins with that text.
fn older(setting: &Setting, text: &str) -> Option<OlderRun> {
    let older = handle::older_runs(&setting.project).into_iter();
    let mut fitting = older.filter(|run| run.id.starts_with(text));
    let found = fitting.next().filter(|_| text.len() >= ID_MIN)?;
    fitting.next().is_none().then_some(found)
}

fn about(view: &chronicle_core::view::RunView) -> String {
    view.needs_you.first().map_or_else(String::new, |gate| words::about(gate.kind, &gate.about))
}

pub(super) fn is_damage(error: &HandleError) -> bool {
    matches!(
        error,
        HandleError::Ledger(
            LedgerError::Damaged { .. }
                | LedgerError::Conflict { .. }
                | LedgerError::Replaced { .. }
                | LedgerError::UnknownKind { .. }
                | LedgerError::NewerVersion { .. }
        )
    )
}

/// The runs of a project, the last changed first. When one that cannot be read changed is not known: it counts from its start.
fn by_change(setting: &Setting) -> Vec<RunFolder> {
    let mut last = u64::MAX;
    let mut runs: Vec<(u64, RunFolder)> = Vec::new();
    for folder in setting.project.runs() {
        // They come with the newest start first, so that an unreadable one stays before all that began earlier.
        let row = handle::row(&folder).ok();
        runs.push((row.as_ref().map_or(last, |row| row.updated_at.0), folder));
        last = row.map_or(last, |row| row.started_at.0);
    }
    runs.sort_by_key(|(changed, _)| std::cmp::Reverse(*changed));
    runs.into_iter().map(|(_, folder)| folder).collect()
}

/// The run that was left last, should work and that nobody drives, or whose ledger is damaged; else the last that waits, to say
/// what for.
fn newest(setting: &Setting) -> Result<RunFolder, Failure> {
    let runs = by_change(setting);
    let can_go_on = |folder: &RunFolder| match handle::row(folder) {
        Ok(row) => match row.status {
            Standing::Interrupted | Standing::Paused => true,
            // Given up, and its `cleanup` has still to run.
            Standing::Cancelled | Standing::Failed => row.goes_on,
            Standing::Running | Standing::Ending | Standing::Waiting | Standing::Done => false,
        },
        // Not passed over in silence: the older run behind it is not the one that was meant.
        Err(error) => is_damage(&error),
    };
    let stands = |folder: &&RunFolder, wanted: &[Standing]| {
        handle::row(folder).is_ok_and(|row| wanted.contains(&row.status))
            && !handle::is_supervised(folder)
    };
    let can_go_on = runs.iter().find(|run| can_go_on(run) && !handle::is_supervised(run));
    let waits = || runs.iter().find(|run| stands(run, &[Standing::Waiting]));
    can_go_on.or_else(waits).cloned().ok_or_else(|| {
        let driven = runs.iter().find_map(|run| Some((run.id.short(), handle::holder(run)?)));
        match driven {
            Some((run, holder)) => {
                let what = format!("no run can continue: run {run} is driven already, by {holder}");
                Failure::new(Exit::Held, what).hint(format!("chronicle status {run} shows it"))
            }
            None => Failure::usage("no run can continue")
                .hint("`chronicle runs` lists the runs there are"),
        }
    })
}
