//! `chronicle run`: starts a workflow on a task.

use std::io::Read;
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::RunId;
use chronicle_core::base::limits::TASK_MAX;
use chronicle_core::definition::settings::Settings;
use chronicle_core::definition::workflow::{Loaded, Show, expand_pools, unsupported};
use chronicle_core::event::input::Command;
use chronicle_core::event::{OnGate, RunStarted};
use chronicle_core::state::Standing;
use chronicle_core::view::RunRow;
use chronicle_core::words::thousands;
use chronicle_runtime::handle::definitions::{self, Catalog, Places};
use chronicle_runtime::handle::{self, Rest, RunFolder};
use clap::{Args, ValueEnum};

use super::budget::{self, LimitArgs};
use super::detach::{self, StayArgs};
use super::prepare::{Wishes, prepare};
use super::{
    Setting, agents, check_folder, config, dry_run, live, only_for_people, problems, walls,
    with_rules,
};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Start a workflow on a task and stay with it
///
/// This process supervises the run until it is done, needs a person, or is interrupted. Ctrl-C once pauses it cleanly; twice
/// stops it at once. `chronicle resume` continues in every case.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle run feature \"Add a --verbose flag\" --agent scripted:script.yaml
  chronicle run ./review.yaml --task-file task.md --agent \"command:python3 my_agent.py\"
  chronicle run feature \"Add a --verbose flag\" --dry-run
  chronicle run feature \"Add a --quiet flag\" --worktree    beside another run; `chronicle merge` brings it in
  echo \"Fix the build\" | chronicle run bugfix --task-file - --agent scripted:fix.yaml")]
pub(super) struct RunArgs {
    /// A workflow's name, or the path of its file
    name: String,

    /// The task: what should be done
    task: Option<String>,

    /// Read the task from a file, or from standard input with `-`
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    task_file: Option<PathBuf>,

    /// The agent of every phase: `claude`, `pi`, `scripted:SCRIPT`, `command:PROGRAM ARGS`, or a name from your
    /// settings. Without it: the phase's, the workflow's, the project's, yours, else the only one there is
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    /// The model of every phase
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// Use only the personas of this team
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    stay: StayArgs,

    /// Show the path, every handover and every question to people, without starting anything
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    own: OwnArgs,

    /// What happens when a person is needed: the run fails (exit code 1), or its supervisor waits. For CI; nothing is ever
    /// approved automatically
    #[arg(long, value_name = "WHAT", conflicts_with = "wait")]
    on_gate: Option<OnGateArg>,

    #[command(flatten)]
    folders: FolderArgs,

    /// Run even if this version cannot enforce every field of the workflow
    #[arg(long)]
    accept_unenforced: bool,
}

/// Where the run works.
#[derive(Debug, Args)]
struct FolderArgs {
    /// Keep the work folders of steps when their pool is done
    #[arg(long)]
    keep: bool,

    /// Work in a folder of its own, made from the project's files as they are now, so that other runs can work at the same time.
    /// `chronicle merge` brings the work into the project
    #[arg(long)]
    worktree: bool,
}

/// Whose files the run uses.
#[derive(Debug, Args)]
struct OwnArgs {
    /// Trust the project's own files for this run, without asking
    #[arg(long)]
    trust: bool,

    /// Give the agents a home of the run's own: none of your settings, logins, hooks and plugins, so keys must be in the
    /// environment
    #[arg(long)]
    isolated: bool,

    /// Start the agents and commands without walls of the operating system around them
    #[arg(long)]
    no_walls: bool,
}

pub(super) fn cmd_run(setting: &Setting, args: &RunArgs) -> Result<Exit, Failure> {
    let setting = &setting.clone().without_walls(args.own.no_walls);
    // Before anything is written: a run that a worker left behind would be started by the person's next `resume`. A rehearsal
    // writes and starts nothing.
    if !args.dry_run {
        only_for_people()?;
    }
    let found = config::load(setting)?;
    let places = Places { limits: found.settings.limits(), ..Places::of(&setting.project) };
    let mut catalog = definitions::find_in(&places);
    catalog.accepts_unenforced = args.accept_unenforced;
    let mut loaded = load(&catalog, &places, &args.name)?;
    let task = task(args)?;
    refuse_inner(&loaded)?;
    let rules = with_rules::judge(&setting.project, &catalog, &found.settings, &loaded.workflows)?;
    let mut personas = catalog.personas_of(&loaded.workflows);
    let team = with_rules::check_team(&catalog, args.team.as_deref(), &personas)?;
    let helpers = catalog.helpers(&loaded.workflows).into_iter();
    personas.extend(helpers.filter(|it| team.as_ref().is_none_or(|team| team.has(&it.name))));
    // Flags are applied before the workflow is frozen into the first event: later ones could not be decided again.
    let wishes = Wishes {
        agent: args.agent.as_deref(),
        model: args.model.as_deref(),
        trust: args.own.trust,
        dry_run: args.dry_run,
    };
    let chosen = prepare(setting, &found.settings, &catalog, &mut loaded, &wishes)?;
    budget::limit(&args.limits, loaded.workflows.first_mut())?;
    // The flag is for every phase. A persona's own model would win over the run's.
    personas.iter_mut().filter(|_| args.model.is_some()).for_each(|it| it.model = None);
    let unenforced = loaded.workflows.iter().flat_map(unsupported).map(|field| field.to_string());
    let unenforced = unenforced.chain(catalog.unsupported_of(&loaded.workflows));
    let source = loaded.sources.first().map_or_else(String::new, |source| source.name.clone());
    let walls = walls::frozen(setting, &found.settings, &loaded.workflows)?;
    let start = RunStarted {
        run: new_id(),
        task,
        who: setting.asker.who.clone(),
        project: setting.project.root().display().to_string(),
        agent: chosen.agent,
        model: chosen.model,
        personas,
        unenforced: unenforced.chain(rules.unenforced).collect(),
        workflows: loaded.workflows,
        source,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        on_gate: args.on_gate.map(Into::into),
        isolated: args.own.isolated,
        keep_folders: args.folders.keep,
        apart: args.folders.worktree,
        inputs: true,
        rules: Some(rules.frozen),
        walls: Some(walls),
        carried: None,
    };
    if args.dry_run {
        // Nothing is made for it, and a rehearsal has no use for a folder of its own.
        let is_apart = start.apart;
        let start = RunStarted { apart: false, ..start };
        return dry_run::show(setting, start, &chosen.untrusted, is_apart);
    }
    begin(setting, args, &found.settings, start)
}

fn begin(
    setting: &Setting,
    args: &RunArgs,
    settings: &Settings,
    start: RunStarted,
) -> Result<Exit, Failure> {
    agents::check(setting, settings, &start)?;
    let folder = make_run(setting, &start)?;
    if args.stay.detach {
        // On disk before another process is started for it, which needs nothing but its id.
        handle::record(&folder, &setting.asker, Command::Prepare(Box::new(start)))?;
        return detach::detach(setting, &folder);
    }
    let rest = match start.on_gate {
        Some(OnGate::Wait) => Rest::WhenOver,
        Some(OnGate::Fail) | None => args.stay.rest(settings),
    };
    live::stay(setting, &folder, Command::Start(Box::new(start)), rest)
}

/// Makes the folder of a new run, if one can begin on the project's files as they are.
pub(super) fn make_run(setting: &Setting, start: &RunStarted) -> Result<RunFolder, Failure> {
    // It would begin on files that are half of one state and half of another.
    if let Some(left) = handle::half_undone(&setting.project) {
        return Err(left.into());
    }
    check_folder(setting)?;
    handle::check_paths(setting.project.root(), &setting.asker)?;
    // One that continues another program's run was meant by its id.
    if start.carried.is_none() {
        mention_same(setting, start);
    }
    handle::new_run(&setting.project, start.run.clone()).map_err(|error| {
        let runs = setting.project.definitions().join("runs");
        Failure::internal(format!("no run can be made in `{}`", runs.display()), &error)
            .hint("make the project's folder writable for you, and make room on its disk")
    })
}

/// Says that a run with the same workflow and task was left unfinished: most people who type that again want to go on with it.
fn mention_same(setting: &Setting, start: &RunStarted) {
    let name = start.workflows.first().map_or("", |main| main.name.as_str());
    let left = [Standing::Ready, Standing::Interrupted, Standing::Paused, Standing::Waiting];
    let is_same =
        |row: &RunRow| row.workflow == name && row.task == start.task && left.contains(&row.status);
    let same = setting.project.runs().into_iter().find_map(|folder| {
        let row = handle::row(&folder).ok().filter(is_same)?;
        Some((row, handle::view(&folder).ok()?.0))
    });
    let Some((row, view)) = same else { return };
    let (run, status) = (&row.short, row.status);
    // A run that waits for a person is not resumed but answered.
    let how = match view.next.first() {
        Some(next) if row.needs_you > 0 => {
            let next = next.split("  (or: ").next().unwrap_or(next);
            format!("answer it instead, for example with `{next}`")
        }
        Some(_) | None => format!("`chronicle resume {run}` continues it"),
    };
    terminal::talk(&format!(
        "Note: run {run} has the same workflow and task, and is {status}: {how}. This is another run."
    ));
}

/// What a run does when a person is needed.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum OnGateArg {
    /// The run fails with exit code 1
    Fail,
    /// The supervisor keeps running and waits
    Wait,
}

impl From<OnGateArg> for OnGate {
    fn from(said: OnGateArg) -> Self {
        match said {
            OnGateArg::Fail => Self::Fail,
            OnGateArg::Wait => Self::Wait,
        }
    }
}

fn new_id() -> RunId {
    RunId::new(handle::new_run_id())
}

fn task(args: &RunArgs) -> Result<String, Failure> {
    let (text, from) = match (&args.task, &args.task_file) {
        (Some(task), _) => (task.clone(), String::new()),
        (None, Some(file)) => (read_task(file)?, format!(" in `{}`", file.display())),
        (None, None) => (String::new(), String::new()),
    };
    if text.trim().is_empty() {
        let again = format!("chronicle run {} \"what is to be done\"", args.name);
        return Err(Failure::usage("there is no task").hint(again));
    }
    // The ledger keeps no more than this of a task; what it would cut is refused instead.
    if text.len() > TASK_MAX {
        let most = thousands(TASK_MAX as u64);
        return Err(Failure::usage(format!("the task{from} is longer than {most} bytes"))
            .hint("put the details into a file of the project, and name it in the task"));
    }
    Ok(text)
}

/// The text of a file, up to just more than a task may have. Bytes are read and not text: the limit may cut a character in two.
fn read_task(file: &Path) -> Result<String, Failure> {
    let failed = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("the task cannot be read from `{}`: {why}", file.display()))
    };
    let from: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(file).map_err(|error| failed(&error))?)
    };
    let (mut bytes, most) = (Vec::new(), TASK_MAX + 1);
    from.take(most as u64).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    let is_cut = bytes.len() == most;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // The text is too long in any case, and is refused for that: a character that the limit cut is not what is wrong
        // with it.
        Err(bad) if is_cut && bad.utf8_error().error_len().is_none() => {
            Ok(String::from_utf8_lossy(bad.as_bytes()).into_owned())
        }
        Err(bad) => Err(failed(&bad.utf8_error())),
    }
}

/// The workflow of that name and all that it runs, if nothing is wrong with them.
fn load(catalog: &Catalog, places: &Places, name: &str) -> Result<Loaded, Failure> {
    let mut loaded = catalog.named(places, name)?;
    problems::judge(&loaded)?;
    // After that: what follows from pools stands in no file, and nothing could be told about it.
    expand_pools(&mut loaded.workflows);
    Ok(loaded)
}

/// A workflow may be meant for others alone.
fn refuse_inner(loaded: &Loaded) -> Result<(), Failure> {
    match loaded.workflows.first().filter(|main| main.show == Show::Workflows) {
        Some(main) => Err(Failure::usage(format!(
            "`{}` can only be used inside other workflows: it says `show: workflows`",
            main.key
        ))),
        None => Ok(()),
    }
}
