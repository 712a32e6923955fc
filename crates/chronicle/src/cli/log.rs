//! `chronicle log`: shows the events of a run.

use std::time::Duration;

use chronicle_core::view::TimelineEntry;
use chronicle_runtime::handle::{self, RunFolder};
use clap::Args;

use super::meant::{self, Meant};
use super::{Setting, json, older};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// How often a ledger that grows is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Show what happened in a run, from its ledger
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle log                    the run that changed last
  chronicle log 5f3a9c1e --follow  go on as it happens, until the run rests
  chronicle log --json | jq -r .event.kind")]
pub(super) struct LogArgs {
    /// Id of the run; the one that changed last if omitted
    run: Option<String>,

    /// Follow new events for as long as a supervisor is running
    #[arg(short, long)]
    follow: bool,

    /// Also show tool calls, file changes and usage
    #[arg(long)]
    tools: bool,

    /// Start after this line of the ledger
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    since: u64,
}

pub(super) fn cmd_log(setting: &Setting, args: &LogArgs) -> Result<Exit, Failure> {
    let folder = match meant::shown(setting, args.run.as_deref())? {
        Meant::Ours(folder) => folder,
        Meant::Older(older) => return older::log(setting, &older),
    };
    // The lines that are left may all be whole: that some are gone, or are not ours, shows only beside the ledger.
    if let Err(failure) = handle::view(&folder).map_err(Failure::from)
        && failure.exit == Exit::Damaged
    {
        return Err(failure);
    }
    let mut follow = handle::follow(&folder);
    loop {
        // Asked before the look: what was written before it went away is still shown.
        let more = args.follow && follow.is_supervised();
        let news = follow.poll()?;
        let caught_up = news.is_empty();
        for entry in news {
            let wanted = entry.seq > args.since && (args.tools || setting.json || !entry.detail);
            if wanted && !terminal::say_wrapped(&line(setting, &entry)?) {
                return Ok(Exit::Done);
            }
        }
        // Only once nothing came: the last lines are often written just before a supervisor goes.
        if caught_up && !more {
            return Ok(Exit::Done);
        }
        if caught_up {
            std::thread::sleep(LOOK);
        }
    }
}

/// Prints the whole of a run for people, without its details.
pub(super) fn say_all(setting: &Setting, folder: &RunFolder) -> Result<(), Failure> {
    let mut follow = handle::follow(folder);
    loop {
        let news = follow.poll()?;
        if news.is_empty() {
            return Ok(());
        }
        for entry in news.iter().filter(|entry| !entry.detail) {
            terminal::say_wrapped(&line(setting, entry)?);
        }
    }
}

/// One entry: a sentence, or with `--json` an object on a line of its own.
fn line(setting: &Setting, entry: &TimelineEntry) -> Result<String, Failure> {
    if setting.json {
        return json::document_line(entry);
    }
    let paint = Paint::stdout();
    let place = format!("{:>5}  {}", entry.seq, terminal::clock(entry.at));
    Ok(format!("{}  {}", paint.ink(Ink::Dim, &place), entry.text))
}
