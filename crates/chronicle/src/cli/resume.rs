//! `chronicle resume`: drives an existing run.

use chronicle_core::event::OnGate;
use chronicle_core::event::input::Command;
use chronicle_core::state::Standing;
use chronicle_core::view::RunView;
use chronicle_core::words;
use chronicle_runtime::handle::{self, Project, Rest, RunFolder, definitions, programs, trust};
use clap::Args;

use super::detach::{self, StayArgs};
use super::meant::{self, Meant};
use super::prepare::Wishes;
use super::trust::{Brought, confirm};
use super::{Setting, adopt, live, merge, only_for_people, tell, undo};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Continue a run that was paused, interrupted, killed, or answered
///
/// Processes that its old supervisor left running are killed first. Finished work is not repeated: an interrupted worker
/// continues in its own session.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle resume             the run that changed last, of those that can continue
  chronicle resume 5f3a9c1e    by the digits that `chronicle runs` shows
  chronicle resume 5f3a9c1e --force    its supervisor was on a host that is gone")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct ResumeArgs {
    /// Id of the run; if omitted, the one that changed last of those that can continue
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

    /// The agent of every phase, for a run of The Chronicle that is continued here for the first time
    ///
    /// A run of Chronicle keeps its agents; `chronicle retry --agent` changes the one of a phase.
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    /// Start its agents and commands without walls of the operating system around them, until it is resumed again
    #[arg(long)]
    no_walls: bool,

    /// Used by `--detach` for the process that it starts
    #[arg(long, hide = true)]
    detached: bool,
}

pub(super) fn cmd_resume(setting: &Setting, args: &ResumeArgs) -> Result<Exit, Failure> {
    only_for_people()?;
    let setting = &setting.clone().without_walls(args.no_walls);
    let folder = match meant::resumable(setting, args.run.as_deref())? {
        Meant::Ours(folder) => folder,
        Meant::Older(older) => {
            let wishes =
                Wishes { agent: args.agent.as_deref(), trust: args.trust, ..Wishes::default() };
            return adopt::adopt(setting, &args.stay, &older, &wishes);
        }
    };
    refuse_agent(args, &folder)?;
    let (view, _) = handle::view(&folder)?;
    // A run goes on as it began; settings that are wrong by now must not keep it from that.
    let project = Project::at(&folder.project);
    let settings = definitions::settings(&project).settings;
    match view.status {
        Standing::Done | Standing::Cancelled | Standing::Failed if is_at_rest(&view) => {
            return resume_over(setting, &folder, &view);
        }
        Standing::Waiting
            if view.waits.is_empty()
                && view.waits_for.is_none()
                // What only waits for leave to call a tool can go on without it.
                && !view.goes_on
                && !args.stay.stays(&settings)
                && !live::is_inline(setting) =>
        {
            return Err(waits_for_person(&view));
        }
        Standing::Running
        | Standing::Ending
        | Standing::Ready
        | Standing::Interrupted
        | Standing::Waiting
        | Standing::Paused
        | Standing::Done
        | Standing::Cancelled
        | Standing::Failed => {}
    }
    // A run that this machine did not begin came with the files: its ledger decides what is run here, and nobody has agreed
    // to it.
    if !args.trust && !handle::was_begun(&folder) {
        confirm(&project, &[trust::run(&folder)], &Brought::default(), &settings)?;
    }
    // After the question of trust: the lock must not be taken if the person then declines.
    if args.force {
        take_by_force(&folder)?;
    }
    // Left before anything is started: what this process starts inherits its terminal and its session.
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
    tell::mention_copies(&folder);
    live::stay(setting, &folder, Command::Resume, rest)
}

/// True if a run that is over has nothing to go on with but an undo or a merge.
fn is_at_rest(view: &RunView) -> bool {
    let merges = view.apart.as_ref().is_some_and(|apart| apart.merging);
    view.half_undone.is_some() || merges || !view.goes_on
}

/// Finishes what was interrupted after the end of a run.
fn resume_over(setting: &Setting, folder: &RunFolder, view: &RunView) -> Result<Exit, Failure> {
    if view.half_undone.is_some() {
        return undo::finish_over(setting, folder);
    }
    if view.apart.as_ref().is_some_and(|apart| apart.merging) {
        return merge::go_on(setting, folder);
    }
    let over = Failure::usage(format!("run {} is over: {}", view.short, view.status));
    Err(match view.next.first().filter(|_| view.apart.is_some()) {
        Some(next) => over.hint(next.clone()),
        None => over.hint(format!("chronicle log {} shows what happened", view.short)),
    })
}

/// A run of ours has its agents in its first line.
fn refuse_agent(args: &ResumeArgs, folder: &RunFolder) -> Result<(), Failure> {
    if args.agent.is_none() {
        return Ok(());
    }
    let run = folder.id.short();
    Err(Failure::usage(format!("run {run} keeps the agents that it was started with")).hint(
        format!("`chronicle retry {run} --agent AGENT` tries a phase again with another one"),
    ))
}

fn take_by_force(folder: &RunFolder) -> Result<(), Failure> {
    if let Some(holder) = handle::force(folder)? {
        terminal::talk(&format!(
            "Taken from {holder}. If it still lives, its agent may work on the same files until it \
             notices: at its next write, at the latest after ten seconds."
        ));
    }
    Ok(())
}

fn waits_for_person(view: &RunView) -> Failure {
    let what = format!("run {} waits for a person: {}", view.short, about(view));
    let failure = Failure::new(Exit::Waiting, what);
    match view.next.first() {
        Some(next) => failure.hint(next.clone()),
        None => failure,
    }
}

fn about(view: &RunView) -> String {
    view.needs_you.first().map_or_else(String::new, |gate| words::about(gate.kind, &gate.about))
}
