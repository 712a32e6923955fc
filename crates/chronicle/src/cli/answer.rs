//! What a person says to a run that waits: `approve`, `reject`, `retry`, `go`, `cancel`.
//!
//! While a supervisor lives it hears and acts; else they are written into the ledger, and `chronicle resume` acts on them.

use chronicle_core::ids::{GateId, Place};
use chronicle_core::input::{Answer, Command};
use chronicle_runtime::handle::{self, Told};
use clap::Args;

use super::{Setting, only_for_people, say_json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Say yes at an approval
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle approve 5f3a9c1e g2 && chronicle resume 5f3a9c1e")]
pub(super) struct ApproveArgs {
    /// The run
    run: String,
    /// The gate, as `chronicle status` shows it; the only open one when omitted
    gate: Option<GateId>,
    /// What else is to be said
    #[arg(long, default_value = "")]
    note: String,
}

/// Say no at an approval; the note goes back to the worker
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle reject 5f3a9c1e g2 \"the tests are missing\"")]
pub(super) struct RejectArgs {
    /// The run
    run: String,
    /// The gate, unless only one is open, and why not
    #[arg(value_name = "[GATE] WHY")]
    words: Vec<String>,
}

/// Try a phase again that waits for a person, with a fresh worker
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle retry 5f3a9c1e --note \"use the other library\"")]
pub(super) struct RetryArgs {
    /// The run
    run: String,
    /// The place; the only one that waits when omitted
    place: Option<String>,
    /// What the worker should know
    #[arg(long, default_value = "")]
    note: String,
}

/// Go to a phase, whatever the workflow says; it is recorded as a person's word
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle go 5f3a9c1e verify")]
pub(super) struct GoArgs {
    /// The run
    run: String,
    /// The phase, as a place: `verify`, `review/look`, or `done`
    place: String,
    /// What is to be remembered about it
    #[arg(long, default_value = "")]
    note: String,
}

/// Give a run up; its ledger stays
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle cancel 5f3a9c1e \"not needed any more\"")]
pub(super) struct CancelArgs {
    /// The run
    run: String,
    /// Why
    #[arg(default_value = "")]
    reason: String,
}

pub(super) fn cmd_approve(setting: &Setting, args: ApproveArgs) -> Result<Exit, Failure> {
    tell(setting, &args.run, &Command::Approve { gate: args.gate, note: args.note })
}

pub(super) fn cmd_reject(setting: &Setting, args: &RejectArgs) -> Result<Exit, Failure> {
    let gate: Option<GateId> = args.words.first().and_then(|word| word.parse().ok());
    let note = args.words.get(usize::from(gate.is_some())..).unwrap_or_default().join(" ");
    tell(setting, &args.run, &Command::Reject { gate, note })
}

pub(super) fn cmd_retry(setting: &Setting, args: RetryArgs) -> Result<Exit, Failure> {
    let place = args.place.map(Place::new);
    tell(setting, &args.run, &Command::Retry { place, note: args.note })
}

pub(super) fn cmd_go(setting: &Setting, args: GoArgs) -> Result<Exit, Failure> {
    let place = Place::new(args.place);
    tell(setting, &args.run, &Command::Go { place, note: args.note })
}

pub(super) fn cmd_cancel(setting: &Setting, args: CancelArgs) -> Result<Exit, Failure> {
    tell(setting, &args.run, &Command::Cancel { reason: args.reason })
}

/// Gives a command to a run and says what came of it.
pub(super) fn tell(setting: &Setting, run: &str, command: &Command) -> Result<Exit, Failure> {
    only_for_people()?;
    let folder = setting.project.find_run(run)?;
    let (answer, told) = handle::tell(&folder, &setting.asker, command)?;
    let text = match answer {
        Answer::Accepted(text) => text,
        Answer::Noted | Answer::Verdict(_) => "noted".to_owned(),
        Answer::Refused(why) => {
            return Err(Failure::usage(why)
                .hint(format!("chronicle status {} shows what it waits for", folder.id.short())));
        }
    };
    let (view, _) = handle::view(&folder)?;
    if setting.json {
        say_json(&view)?;
    } else {
        terminal::say(&format!("Run {}: {text}.", folder.id.short()));
        if let Some(next) = view.next.first().filter(|_| told == Told::Ledger) {
            terminal::talk(&format!("Next: {next}"));
        }
    }
    Ok(Exit::Done)
}
