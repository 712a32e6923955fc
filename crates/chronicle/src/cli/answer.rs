//! What a person says to a run: `approve`, `reject`, `answer`, `retry`, `skip`, `go`, `note`, `cancel`.
//!
//! While a supervisor lives it hears and acts; else they are written into the ledger, and `chronicle resume` acts on them.

use chronicle_core::base::ids::{GateId, Place};
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::state::Standing;
use chronicle_runtime::handle::{self, HandledBy, RunFolder, agents, definitions};
use clap::Args;

use super::{Setting, only_for_people, say_json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Say yes at an approval
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle approve 5f3a9c1e g2")]
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

/// Answer a question
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle answer 5f3a9c1e g2 2               the second of its options
  chronicle answer 5f3a9c1e \"use the blue one\"  the only open question")]
pub(super) struct AnswerArgs {
    /// The run
    run: String,
    /// The gate, unless only one question is open, and the answer: an option, its number, or any text
    #[arg(value_name = "[GATE] ANSWER", required = true)]
    words: Vec<String>,
}

/// Go on without what could not be done: a helper's work, else the phase
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle skip 5f3a9c1e --note \"the linter may complain\"")]
pub(super) struct SkipArgs {
    /// The run
    run: String,
    /// The place; the only one that waits when omitted
    place: Option<String>,
    /// What is to be known instead
    #[arg(long, default_value = "")]
    note: String,
}

/// Tell a worker something: now if it works, else when the next one begins
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle note 5f3a9c1e \"mind the tests in e2e/ too\"")]
pub(super) struct NoteArgs {
    /// The run
    run: String,
    /// What it should know
    text: String,
    /// The place; where the run is when omitted
    #[arg(long)]
    place: Option<String>,
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
    /// Who is to work from now on at this place
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
}

/// Go to a phase, whatever the workflow says; it is recorded as a person's word
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chronicle go 5f3a9c1e verify\n  chronicle go 5f3a9c1e --loops +3    stay, and let it go round three more times"
)]
pub(super) struct GoArgs {
    /// The run
    run: String,
    /// The phase, as a place: `verify`, `review/look`, or `done`
    #[arg(required_unless_present = "loops")]
    place: Option<String>,
    /// What is to be remembered about it
    #[arg(long, default_value = "", conflicts_with = "loops")]
    note: String,
    /// Move nothing, and allow so many more rounds in the workflow of that phase
    #[arg(long, value_name = "+N", value_parser = more_rounds)]
    loops: Option<u32>,
}

/// `+3`, or just `3`.
fn more_rounds(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix('+').unwrap_or(text);
    number.parse().map_err(|_| "say how many more: `+3`".to_owned())
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
    let (gate, note) = gate_and_words(&args.words);
    tell(setting, &args.run, &Command::Reject { gate, note })
}

pub(super) fn cmd_retry(setting: &Setting, args: RetryArgs) -> Result<Exit, Failure> {
    let place = args.place.map(Place::new);
    if let Some(agent) = &args.agent {
        let settings = definitions::settings(&setting.project).settings;
        agents::check(agent, &setting.project, &settings)
            .map_err(|error| Failure::usage(error.to_string()).hint(error.hint))?;
    }
    tell(setting, &args.run, &Command::Retry { place, note: args.note, agent: args.agent })
}

pub(super) fn cmd_answer(setting: &Setting, args: &AnswerArgs) -> Result<Exit, Failure> {
    let (gate, text) = gate_and_words(&args.words);
    tell(setting, &args.run, &Command::Answer { gate, text })
}

pub(super) fn cmd_skip(setting: &Setting, args: SkipArgs) -> Result<Exit, Failure> {
    let place = args.place.map(Place::new);
    tell(setting, &args.run, &Command::Skip { place, note: args.note })
}

pub(super) fn cmd_note(setting: &Setting, args: NoteArgs) -> Result<Exit, Failure> {
    let place = args.place.map(Place::new);
    tell(setting, &args.run, &Command::Note { place, text: args.text })
}

/// A gate's id where the first word is one, and the rest.
fn gate_and_words(words: &[String]) -> (Option<GateId>, String) {
    let gate: Option<GateId> = words.first().and_then(|word| word.parse().ok());
    (gate, words.get(usize::from(gate.is_some())..).unwrap_or_default().join(" "))
}

pub(super) fn cmd_go(setting: &Setting, args: GoArgs) -> Result<Exit, Failure> {
    let place = args.place.map(Place::new);
    let command = match (place, args.loops) {
        (place, Some(more)) => Command::Loops { place, more },
        (Some(place), None) => Command::Go { place, note: args.note },
        (None, None) => return Err(Failure::usage("say where to go")),
    };
    tell(setting, &args.run, &command)
}

pub(super) fn cmd_cancel(setting: &Setting, args: CancelArgs) -> Result<Exit, Failure> {
    only_for_people()?;
    let folder = handle::find_run(&setting.project, &args.run)?;
    // Killed before its first line: there is nothing to write that it was given up.
    if handle::discard(&folder)? {
        let run = folder.id.short();
        terminal::say(&format!("Run {run}: removed, since it never started."));
        return Ok(Exit::Done);
    }
    tell(setting, &args.run, &Command::Cancel { reason: args.reason })
}

/// Gives a command to a run and says what came of it.
pub(super) fn tell(setting: &Setting, run: &str, command: &Command) -> Result<Exit, Failure> {
    only_for_people()?;
    let folder = handle::find_run(&setting.project, run)?;
    let (answer, told) = handle::tell(&folder, &setting.asker, command)?;
    let text = match answer {
        Answer::Accepted(text) => text,
        Answer::Noted | Answer::Verdict(_) | Answer::Stopped(_) | Answer::Waits => {
            "noted".to_owned()
        }
        Answer::Refused(why) => {
            return Err(Failure::usage(why).hint(after_refusal(&folder)));
        }
    };
    let (view, _) = handle::view(&folder)?;
    if setting.json {
        say_json(&view)?;
    } else {
        terminal::say(&format!("Run {}: {text}.", folder.id.short()));
        if view.status == Standing::Done && !view.supervised {
            terminal::say(&format!("Run {} is done.", folder.id.short()));
        }
        if let Some(next) = view.next.first().filter(|_| told == HandledBy::Ledger) {
            terminal::talk(&format!("Next: {next}"));
        }
    }
    if told == HandledBy::Ledger {
        mention_copies(&folder);
    }
    Ok(Exit::Done)
}

/// What to type after a refusal: a run that is over waits for nothing.
fn after_refusal(folder: &RunFolder) -> String {
    let run = folder.id.short();
    let is_over = handle::view(folder).is_ok_and(|(view, _)| {
        let ended = [Standing::Done, Standing::Cancelled, Standing::Failed];
        ended.contains(&view.status) && !view.goes_on
    });
    if is_over {
        format!("chronicle log {run} shows what happened")
    } else {
        format!("chronicle status {run} shows what it waits for")
    }
}

/// Says that the run is at work in another folder too, for whoever thinks that it has ended.
pub(super) fn mention_copies(folder: &RunFolder) {
    let others = handle::elsewhere(folder);
    if others.is_empty() {
        return;
    }
    let ids: Vec<String> = others.iter().map(ToString::to_string).collect();
    terminal::talk(&format!(
        "Note: processes of this run are not this folder's, but a copy's or an older Chronicle's: {}. They are left alone.",
        ids.join(", ")
    ));
}
