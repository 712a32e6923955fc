//! The command line: one file per command, its help text the doc comment of its arguments.

mod adopt;
mod answer;
mod audit;
mod budget;
mod check;
mod completions;
mod config;
mod demo;
mod detach;
mod diff;
mod doctor;
mod dry_run;
mod gc;
mod graph;
mod handover;
mod init;
mod inline;
mod list;
mod live;
mod log;
mod pause;
mod prepare;
mod problems;
mod repair;
mod resume;
mod run;
mod runs;
mod schema;
mod status;
mod trust;
mod undo;
mod with_rules;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use chronicle_runtime::handle::{self, Asker, Project, RunFolder, programs};
use clap::{Parser, Subcommand};

use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Runs long coding-agent workflows that survive anything
///
/// Every fact is on disk before anything acts on it. Kill any process at any time: `chronicle
/// resume` goes on exactly where it was.
#[derive(Debug, Parser)]
#[command(
    name = "chronicle",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "Exit codes:\n  \
        0 done                      4 waiting for a person\n  \
        1 run failed or cancelled   5 another supervisor has the run\n  \
        2 usage                     6 ledger damaged\n  \
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
    Budget(budget::BudgetArgs),
    Pause(pause::PauseArgs),
    Cancel(answer::CancelArgs),
    Undo(undo::UndoArgs),
    Gc(gc::GcArgs),
    Config(config::ConfigArgs),
    Trust(trust::TrustArgs),
    Doctor(doctor::DoctorArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
}

/// What every command needs to know.
pub(crate) struct Setting {
    pub(crate) project: Project,
    pub(crate) json: bool,
    pub(crate) asker: Asker,
}

/// Reads the command line and does what it says.
pub(crate) fn main(args: &[OsString]) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors, and a reader that has gone away is none either.
            let _ = error.print();
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            return exit.into();
        }
    };
    match setting(&cli).and_then(|setting| dispatch(&setting, cli.command)) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            terminal::talk(&failure.to_string());
            failure.exit.into()
        }
    }
}

/// Ends before anything began.
pub(crate) fn refuse(why: &str) -> ExitCode {
    let failure = Failure::usage(why);
    terminal::talk(&failure.to_string());
    failure.exit.into()
}

fn setting(cli: &Cli) -> Result<Setting, Failure> {
    let from = match &cli.project {
        Some(folder) => folder.canonicalize().map_err(|error| {
            Failure::usage(format!("there is no folder `{}`: {error}", folder.display()))
        })?,
        None => std::env::current_dir()
            .map_err(|error| Failure::internal("the current folder cannot be found", &error))?,
    };
    let project = match &cli.project {
        Some(_) => Project::at(from),
        None => Project::find(&from),
    };
    let who = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    let asker = Asker {
        who: who.unwrap_or_else(|_| "somebody".to_owned()),
        command: std::iter::once("chronicle".to_owned())
            .chain(std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()))
            .collect::<Vec<_>>()
            .join(" "),
        chronicle: programs::own_executable(),
        signals: None,
    };
    Ok(Setting { project, json: cli.json, asker })
}

fn dispatch(setting: &Setting, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Demo(args) => demo::cmd_demo(setting, &args),
        Command::Init(args) => init::cmd_init(setting, &args),
        Command::List(args) => list::cmd_list(setting, &args),
        Command::Check(args) => check::cmd_check(setting, &args),
        Command::Graph(args) => graph::cmd_graph(setting, &args),
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
        Command::Answer(args) => answer::cmd_answer(setting, &args),
        Command::Retry(args) => answer::cmd_retry(setting, args),
        Command::Skip(args) => answer::cmd_skip(setting, args),
        Command::Note(args) => answer::cmd_note(setting, args),
        Command::Budget(args) => budget::cmd_budget(setting, args),
        Command::Go(args) => answer::cmd_go(setting, args),
        Command::Pause(args) => pause::cmd_pause(setting, args),
        Command::Cancel(args) => answer::cmd_cancel(setting, args),
        Command::Undo(args) => undo::cmd_undo(setting, &args),
        Command::Gc(args) => gc::cmd_gc(setting, &args),
        Command::Config(args) => config::cmd_config(setting, &args),
        Command::Trust(args) => trust::cmd_trust(setting, &args),
        Command::Doctor(args) => doctor::cmd_doctor(setting, &args),
        Command::Schema(args) => Ok(schema::cmd_schema(&args)),
        Command::Completions(args) => Ok(completions::cmd_completions(&args)),
    }
}

impl Setting {
    /// The run that was named, else the newest.
    fn run(&self, text: Option<&str>) -> Result<RunFolder, Failure> {
        Ok(match text {
            Some(text) => handle::find_run(&self.project, text)?,
            None => handle::newest_run(&self.project)?,
        })
    }
}

/// Prints a value as JSON.
fn say_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::internal("the result cannot be put into JSON", &error))?;
    terminal::say(&text);
    Ok(())
}

/// A worker is not a person: what only a person may say is refused from inside an attempt.
fn only_for_people() -> Result<(), Failure> {
    let Some(worker) = programs::working_for() else { return Ok(()) };
    Err(Failure::usage(format!("this is a person's command, and {worker} is a worker"))
        .hint("leave your phase with the tool `workflow_transition`; a person decides the rest"))
}
