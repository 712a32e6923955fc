//! The command line: one file per command, its help text the doc comment of its arguments.

mod adopt;
mod agents;
mod answer;
mod audit;
mod budget;
mod check;
mod completions;
mod config;
mod config_set;
mod demo;
mod detach;
mod diff;
mod doctor;
mod dry_run;
mod environment;
mod gate;
mod gc;
mod graph;
mod guard;
mod handover;
mod init;
mod inline;
mod json;
mod list;
mod live;
mod log;
mod meant;
mod merge;
mod older;
mod pause;
mod pool;
mod prepare;
mod problems;
mod repair;
mod resume;
mod run;
mod runs;
mod schema;
mod status;
mod suggest;
mod tell;
mod title;
mod trust;
mod undo;
mod walls;
mod with_rules;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chronicle_runtime::handle::programs::Starter;
use chronicle_runtime::handle::{Asker, Project, RunFolder, programs};
use clap::{Parser, Subcommand};

use self::meant::Meant;
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Runs long coding-agent workflows that survive anything
///
/// Every fact is on disk before anything acts on it. Kill any process at any time: `chronicle resume` continues exactly where it
/// was.
#[derive(Debug, Parser)]
#[command(
    name = "chronicle",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "Exit codes:\n  \
        0 done                      4 waiting for a person\n  \
        1 run failed or cancelled   5 another supervisor has the run\n  \
        2 usage                     6 record damaged, gone or newer\n  \
        3 definition invalid       70 internal, 130 interrupted\n\n\
        Try it:  chronicle demo"
)]
struct Cli {
    /// Work on the project in this folder instead of the current one
    #[arg(short = 'C', long, global = true, value_name = "FOLDER")]
    project: Option<PathBuf>,

    /// Print the result as JSON on standard output
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Init(init::InitArgs),
    List(list::ListArgs),
    Check(check::CheckArgs),
    Graph(graph::GraphArgs),
    Guard(guard::GuardArgs),
    Run(run::RunArgs),
    Resume(resume::ResumeArgs),
    Runs(runs::RunsArgs),
    Status(status::StatusArgs),
    Log(log::LogArgs),
    Handover(handover::HandoverArgs),
    Diff(diff::DiffArgs),
    Audit(audit::AuditArgs),
    Repair(repair::RepairArgs),
    Approve(answer::ApproveArgs),
    Reject(answer::RejectArgs),
    Answer(answer::AnswerArgs),
    Retry(answer::RetryArgs),
    Skip(answer::SkipArgs),
    Go(answer::GoArgs),
    Note(answer::NoteArgs),
    Title(title::TitleArgs),
    Budget(budget::BudgetArgs),
    Pause(pause::PauseArgs),
    Cancel(answer::CancelArgs),
    Undo(undo::UndoArgs),
    Merge(merge::MergeArgs),
    Gc(gc::GcArgs),
    Config(config::ConfigArgs),
    Trust(trust::TrustArgs),
    Doctor(doctor::DoctorArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
}

/// What every command needs to know.
#[derive(Clone)]
pub(crate) struct Setting {
    pub(crate) project: Project,
    pub(crate) json: bool,
    pub(crate) asker: Asker,
}

impl Setting {
    /// The same for a supervisor whose workers have no walls, if a person says so.
    fn without_walls(mut self, no_walls: bool) -> Self {
        self.asker.no_walls |= no_walls;
        self
    }
}

/// Reads the command line and does what it says.
pub(crate) fn main(args: &[OsString]) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return not_parsed(&suggest::suggesting(error), args),
    };
    let json = cli.json;
    // No git goes on once this process is gone, however it ended.
    programs::tools_die_with_us();
    // Their exit codes say how a run stands, whoever reads what they print.
    let drives = matches!(cli.command, Command::Run(_) | Command::Resume(_) | Command::Demo(_));
    let done = setting(&cli).and_then(|setting| dispatch(&setting, cli.command));
    match done.and_then(|exit| told(exit, drives)) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            if json {
                terminal::talk_as_is(&json::failure_line(&failure));
            } else {
                terminal::talk(&failure.to_string());
            }
            failure.exit.into()
        }
    }
}

/// A result that nobody can read is a failure, unless its reader went away.
fn told(exit: Exit, drives: bool) -> Result<Exit, Failure> {
    let Some(why) = terminal::lost() else { return Ok(exit) };
    let failure = Failure::new(Exit::Internal, format!("the output could not be written: {why}"));
    if drives && exit != Exit::Done {
        terminal::talk(&failure.to_string());
        return Ok(exit);
    }
    Err(failure)
}

/// Help, a version, or what is wrong with the command line.
fn not_parsed(error: &clap::Error, args: &[OsString]) -> ExitCode {
    // Help and version are no errors, and a reader that has gone away is none either.
    if !error.use_stderr() {
        terminal::kept(&error.print());
        return told(Exit::Done, false).map_or_else(
            |failure| {
                terminal::talk(&failure.to_string());
                failure.exit.into()
            },
            Into::into,
        );
    }
    if wants_json(args) {
        let failure = not_understood(error);
        terminal::talk_as_is(&json::failure_line(&failure));
        return failure.exit.into();
    }
    let text = error.render();
    let text = if terminal::has_colours() { text.ansi().to_string() } else { text.to_string() };
    terminal::talk_as_is(text.trim_end());
    Exit::Usage.into()
}

/// Whether a command line that makes no sense otherwise asks for JSON.
fn wants_json(args: &[OsString]) -> bool {
    // Behind `--` it may be part of a task or an answer.
    args.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// What is wrong with the command line: the first paragraph says it, the rest is advice.
fn not_understood(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let (what, rest) = text.trim().split_once("\n\n").unwrap_or((text.trim(), ""));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let failure = Failure::usage(words(what.strip_prefix("error: ").unwrap_or(what)));
    if rest.is_empty() { failure } else { failure.hint(words(rest)) }
}

/// Ends before anything began.
pub(crate) fn refuse(why: &str) -> ExitCode {
    let failure = Failure::usage(why);
    terminal::talk(&failure.to_string());
    failure.exit.into()
}

fn setting(cli: &Cli) -> Result<Setting, Failure> {
    let from = match &cli.project {
        Some(folder) => find_folder(folder)?,
        None => std::env::current_dir()
            .map_err(|error| Failure::internal("the current folder cannot be found", &error))?,
    };
    // A folder that was named is meant as it is. Otherwise the project is looked for from here upwards, as git does.
    let project = match &cli.project {
        Some(_) => Project::at(from),
        None => Project::find(&from),
    };
    let asker = Asker {
        who: programs::user_name(),
        // Kept in the lock of a run, so that whoever finds it held is told by which command.
        command: std::iter::once("chronicle".to_owned())
            .chain(std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()))
            .collect::<Vec<_>>()
            .join(" "),
        chronicle: programs::own_executable(),
        signals: None,
        no_walls: false,
    };
    Ok(Setting { project, json: cli.json, asker })
}

/// The folder of `-C`. A file is refused: below it there would simply be nothing.
fn find_folder(folder: &Path) -> Result<PathBuf, Failure> {
    let shown = folder.display();
    let found = folder
        .canonicalize()
        .map_err(|error| Failure::usage(format!("there is no folder `{shown}`: {error}")))?;
    if found.is_dir() {
        return Ok(found);
    }
    Err(Failure::usage(format!("`{shown}` is not a folder"))
        .hint("give `-C` the folder of a project"))
}

fn dispatch(setting: &Setting, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Demo(args) => demo::cmd_demo(setting, &args),
        Command::Init(args) => init::cmd_init(setting, &args),
        Command::List(args) => list::cmd_list(setting, &args),
        Command::Check(args) => check::cmd_check(setting, &args),
        Command::Graph(args) => graph::cmd_graph(setting, &args),
        Command::Guard(args) => guard::cmd_guard(setting, &args),
        Command::Run(args) => run::cmd_run(setting, &args),
        Command::Resume(args) => resume::cmd_resume(setting, &args),
        Command::Runs(args) => runs::cmd_runs(setting, &args),
        Command::Status(args) => status::cmd_status(setting, &args),
        Command::Log(args) => log::cmd_log(setting, &args),
        Command::Handover(args) => handover::cmd_handover(setting, &args),
        Command::Diff(args) => diff::cmd_diff(setting, &args),
        Command::Audit(args) => audit::cmd_audit(setting, &args),
        Command::Repair(args) => repair::cmd_repair(setting, &args),
        Command::Approve(args) => answer::cmd_approve(setting, args),
        Command::Reject(args) => answer::cmd_reject(setting, &args),
        Command::Answer(args) => answer::cmd_answer(setting, args),
        Command::Retry(args) => answer::cmd_retry(setting, args),
        Command::Skip(args) => answer::cmd_skip(setting, args),
        Command::Note(args) => answer::cmd_note(setting, args),
        Command::Title(args) => title::cmd_title(setting, &args),
        Command::Budget(args) => budget::cmd_budget(setting, args),
        Command::Go(args) => answer::cmd_go(setting, args),
        Command::Pause(args) => pause::cmd_pause(setting, &args),
        Command::Cancel(args) => answer::cmd_cancel(setting, &args),
        Command::Undo(args) => undo::cmd_undo(setting, &args),
        Command::Merge(args) => merge::cmd_merge(setting, &args),
        Command::Gc(args) => gc::cmd_gc(setting, &args),
        Command::Config(args) => config::cmd_config(setting, &args),
        Command::Trust(args) => trust::cmd_trust(setting, &args),
        Command::Doctor(args) => doctor::cmd_doctor(setting, &args),
        Command::Schema(args) => Ok(schema::cmd_schema(&args)),
        Command::Completions(args) => Ok(completions::cmd_completions(&args)),
    }
}

impl Setting {
    /// The run that was named, otherwise the one that changed last.
    fn run(&self, text: Option<&str>) -> Result<RunFolder, Failure> {
        match meant::shown(self, text)? {
            Meant::Ours(folder) => Ok(folder),
            Meant::Older(older) => Err(meant::not_ours(&older)),
        }
    }
}

/// A file in the place of the project's folder of definitions: nothing can be written below it.
fn check_folder(setting: &Setting) -> Result<(), Failure> {
    let folder = setting.project.definitions();
    if folder.is_dir() || folder.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(Failure::usage(format!("`{}` is in the way: it must be a folder", folder.display()))
        .hint("move it away, then try again"))
}

/// A worker is not a person: what only a person may say is refused from inside an attempt.
fn only_for_people() -> Result<(), Failure> {
    Err(match programs::working_for() {
        None => return Ok(()),
        Some(Starter::Worker(attempt)) => Failure::usage(format!(
            "this is a person's command, and {attempt} is a worker"
        ))
        .hint("leave your phase with the tool `workflow_transition`; a person decides the rest"),
        Some(Starter::Hidden) => Failure::usage(
            "this is a person's command, and the processes above this one cannot be seen",
        )
        .hint("type it in a shell outside of any namespace, with `/proc` mounted"),
        Some(Starter::Notice) => Failure::usage(
            "this is a person's command, and the command of `notify.command` is not a person",
        )
        .hint("let it tell a person, who answers in a shell of their own"),
    })
}
