//! `chronicle undo`.

use chronicle_core::base::ids::Place;
use chronicle_core::words;
use chronicle_runtime::handle::{self, UndoPlan, Undoing, Undone};
use clap::Args;

use super::{Setting, only_for_people, say_json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Most files that are named before a person says yes.
const NAMED_MAX: usize = 20;

/// Put the project's files back as they were before a phase
///
/// Everything since then is undone, by whichever phase. The files as they are now are recorded
/// first, so nothing is ever gone: `--back` takes the last undo back. Ignored files, and the run
/// itself, stay as they are; `chronicle go` sends the run somewhere else.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle undo 5f3a9c1e build         asks before it touches anything
  chronicle undo 5f3a9c1e --back --yes")]
pub(super) struct UndoArgs {
    /// The run
    run: String,

    /// The phase, as a place: `build`, `review/look`; its last visit counts
    #[arg(required_unless_present = "back")]
    phase: Option<String>,

    /// Take the last undo back instead
    #[arg(long, conflicts_with = "phase")]
    back: bool,

    /// Also undo what people changed since and did not commit
    #[arg(long)]
    also_mine: bool,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn cmd_undo(setting: &Setting, args: &UndoArgs) -> Result<Exit, Failure> {
    only_for_people()?;
    let folder = setting.run(Some(&args.run))?;
    let undoing = match &args.phase {
        Some(place) => Undoing::Phase(Place::new(place.as_str())),
        None => Undoing::LastUndo,
    };
    if !args.yes {
        let plan = handle::plan_undo(&folder, &undoing)?;
        if plan.changes.is_none() {
            terminal::talk("The files are as they were: there is nothing to undo.");
            if setting.json {
                say_json(&Undone { files: 0, kept: Vec::new() })?;
            }
            return Ok(Exit::Done);
        }
        tell(&plan);
        if !terminal::agrees("Put them back?") {
            return Err(Failure::usage("nothing was undone")
                .hint("`--yes` says so beforehand, where nobody can be asked"));
        }
    }
    let undone = handle::undo(&folder, &setting.asker, &undoing, args.also_mine)?;
    if setting.json {
        say_json(&undone)?;
        return Ok(Exit::Done);
    }
    terminal::say(&format!("{} put back.", words::files(undone.files.into())));
    for name in &undone.kept {
        terminal::say(&format!("  left as it is, being ignored or not ours: {name}"));
    }
    terminal::talk(&format!("`chronicle undo {} --back` takes this back.", folder.id.short()));
    Ok(Exit::Done)
}

fn tell(plan: &UndoPlan) {
    for file in plan.changes.list.iter().take(NAMED_MAX) {
        let does = match file.change {
            chronicle_core::event::Change::Created => "comes back",
            chronicle_core::event::Change::Changed => "changes   ",
            chronicle_core::event::Change::Deleted => "goes      ",
        };
        let from = file.from.as_ref().map_or_else(String::new, |from| format!("{from} -> "));
        terminal::talk(&format!("  {does}  {from}{}", file.path));
    }
    let count = words::files(plan.changes.files.into());
    let count = words::lines_changed(&count, plan.changes.added, plan.changes.removed);
    terminal::talk(&format!("{count} in all."));
    if !plan.at_stake.is_empty() {
        terminal::talk(&format!("Changed by somebody since: {}", plan.at_stake.join(", ")));
    }
}
