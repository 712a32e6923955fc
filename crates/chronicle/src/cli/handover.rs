//! `chronicle handover`: shows what a worker was told.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::view::HandoverView;
use chronicle_runtime::handle;
use clap::Args;

use super::{Setting, json, meant};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Show what a worker was told when it started, word for word
///
/// The text is printed as it was sent. With `--next`, what the next worker would be told if it were
/// started now; nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle handover               the last worker of the run that changed last
  chronicle handover a3            an attempt of the run that changed last
  chronicle handover 5f3a9c1e a3   one attempt, by the id that `chronicle log` shows
  chronicle handover --next        what would be told now")]
pub(super) struct HandoverArgs {
    /// Id of the run; the one that changed last if omitted, and then an attempt may be the only word
    run: Option<String>,

    /// The attempt; the last one with a handover if omitted
    attempt: Option<AttemptId>,

    /// Show what the next worker would be told, and under which assumptions
    #[arg(long, conflicts_with = "attempt")]
    next: bool,
}

pub(super) fn cmd_handover(setting: &Setting, args: &HandoverArgs) -> Result<Exit, Failure> {
    let (run, attempt) = match (args.run.as_deref(), args.attempt) {
        // A single word may be the attempt: no run has an id as short as that.
        (Some(word), None) if word.len() < meant::ID_MIN && !args.next => match word.parse() {
            Ok(attempt) => (None, Some(attempt)),
            Err(_) => (Some(word), None),
        },
        both => both,
    };
    let folder = setting.run(run)?;
    let view = if args.next {
        handle::next_handover(&folder)?
    } else {
        handle::handover(&folder, attempt)?
    };
    if setting.json {
        json::say_view(&view)?;
    } else {
        say(&view, args.next);
    }
    Ok(Exit::Done)
}

/// The text goes to standard output, what it is to standard error.
fn say(view: &HandoverView, is_next: bool) {
    let HandoverView { attempt, place, try_number, agent, .. } = view;
    let (would, assumed) = match (is_next, view.assumed.as_slice()) {
        (false, _) => ("was told", String::new()),
        (true, []) => ("would be told", String::new()),
        (true, assumed) => ("would be told", format!(", once {}", assumed.join(", then "))),
    };
    terminal::talk(&format!(
        "{attempt} at `{place}`, try {try_number} ({agent}) {would}{assumed}:"
    ));
    // Said aloud: a later version may word a handover in another way than the one that the worker got.
    if !view.kept && !is_next {
        terminal::talk("It was not kept: this version has worked it out again from the ledger.");
    }
    let persona = view.persona.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let persona = persona.map(|text| format!("## Persona (system prompt)\n\n{text}\n\n"));
    terminal::say_text(&format!("{}{}", persona.unwrap_or_default(), view.text));
    if let Some(file) = view.rest_file.as_ref().filter(|_| view.kept) {
        terminal::talk(&format!("What did not fit is in `{file}`."));
    }
}
