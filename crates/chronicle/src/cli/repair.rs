//! `chronicle repair`: continues with a damaged ledger.

use chronicle_core::words;
use chronicle_runtime::handle::{self, Damage, Repaired};
use clap::Args;
use serde::Serialize;

use super::{Setting, json, meant, only_for_people};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Show what is wrong with a ledger, and continue from its last good line
///
/// A copy of the damaged ledger is kept beside it. Everything after the good line is cut off and forgotten, so work recorded
/// there may be done again. Your decision is recorded.
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle repair 5f3a9c1e && chronicle resume 5f3a9c1e")]
pub(super) struct RepairArgs {
    /// Id of the run; the one that changed last if omitted
    run: Option<String>,

    /// Keep every intact line, whoever wrote it; for a run that was driven on another machine
    #[arg(long)]
    keep: bool,

    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

/// The JSON output of this command.
#[derive(Serialize)]
struct RepairDocument<'a> {
    damage: Option<&'a Damage>,
    repaired: Option<&'a Repaired>,
}

pub(super) fn cmd_repair(setting: &Setting, args: &RepairArgs) -> Result<Exit, Failure> {
    only_for_people()?;
    let folder = match &args.run {
        Some(_) => None,
        None => meant::damaged(setting)?,
    };
    let folder = folder.map_or_else(|| setting.run(args.run.as_deref()), Ok)?;
    let run = folder.id.short();
    let Some(damage) = handle::damage(&folder)? else {
        terminal::talk(&format!("The ledger of run {run} is whole: there is nothing to repair."));
        if setting.json {
            json::say_document(&RepairDocument { damage: None, repaired: None })?;
        }
        return Ok(Exit::Done);
    };
    // Shown even with `--yes`: a log of a script must say what was cut off.
    show(&damage, args.keep);
    let asks =
        if args.keep { "Keep every intact line and continue?" } else { "Continue from there?" };
    if !args.yes && !terminal::agrees(asks) {
        return Err(Failure::new(Exit::Damaged, "nothing was repaired")
            .hint("`--yes` confirms beforehand, without a terminal"));
    }
    // Cut at the line that was shown: a second look could find another one than the person agreed to.
    let repaired = handle::repair(&folder, &setting.asker, &damage, args.keep)?;
    if setting.json {
        json::say_document(&RepairDocument { damage: Some(&damage), repaired: Some(&repaired) })?;
        return Ok(Exit::Done);
    }
    terminal::say(&format!("Run {run}: repaired, continues from line {}.", repaired.line));
    if let Some(file) = &repaired.kept {
        let path = folder.path.join(file);
        terminal::say(&format!("The ledger as it was found: `{}`", path.display()));
    }
    terminal::talk(&format!("Next: chronicle status {run}"));
    Ok(Exit::Done)
}

fn show(damage: &Damage, keep: bool) {
    let Damage { why, line, at, says, bytes, lines, .. } = damage;
    terminal::talk(&format!("{}.", words::whole(why)));
    terminal::talk(&format!("  The last line that can be trusted is {line}, of {at}:"));
    for sentence in says {
        terminal::talk(&format!("    {}", words::one_line(sentence)));
    }
    if *bytes == 0 {
        terminal::talk("  Nothing follows it: what was lost is not in the ledger any more.");
    } else if keep {
        terminal::talk(&format!("  {} after it stay as far as they are whole.", counted(*lines)));
    } else {
        let (lines, bytes) = (counted(*lines), words::bytes(*bytes));
        terminal::talk(&format!(
            "  {lines} after it ({bytes}) would be cut off, and kept in a file."
        ));
    }
    if !keep {
        terminal::talk(
            "  What was done after that line is unknown to the run then, and may be done again.",
        );
    }
}

fn counted(lines: u64) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{} lines", words::thousands(lines)) }
}
