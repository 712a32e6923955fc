//! `chronicle log`: shows the events of a run.

use std::time::Duration;

use chronicle_core::event::{Event, GateAnswer};
use chronicle_core::view::TimelineEntry;
use chronicle_runtime::handle::{self, RunFolder};
use clap::Args;

use super::meant::{self, Meant};
use super::{Setting, json, older};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// Most gates in a row whose withdrawal is told one by one.
const WITHDRAWN_SHOWN: usize = 3;
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
        let wanted = |entry: &TimelineEntry| {
            entry.seq > args.since && (args.tools || setting.json || !entry.detail)
        };
        let news: Vec<TimelineEntry> = news.into_iter().filter(wanted).collect();
        let news = if setting.json { news } else { together(&news) };
        for entry in news {
            if !terminal::say_wrapped(&line(setting, &entry)?) {
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
        let news: Vec<TimelineEntry> = news.into_iter().filter(|entry| !entry.detail).collect();
        for entry in together(&news) {
            terminal::say_wrapped(&line(setting, &entry)?);
        }
    }
}

/// Gates that were withdrawn one after the other, as one entry where there are many: after a kill there may be hundreds.
fn together(news: &[TimelineEntry]) -> Vec<TimelineEntry> {
    let mut all: Vec<TimelineEntry> = Vec::new();
    for many in news.chunk_by(|one, other| is_withdrawal(one) && is_withdrawal(other)) {
        match many {
            [first, .., last] if many.len() > WITHDRAWN_SHOWN => {
                let text =
                    format!("{} gates were withdrawn, the last one: {}", many.len(), last.text);
                all.push(TimelineEntry { text, ..first.clone() });
            }
            few => all.extend_from_slice(few),
        }
    }
    all
}

fn is_withdrawal(entry: &TimelineEntry) -> bool {
    let withdrawn = |answer: &GateAnswer| *answer == GateAnswer::Withdrawn;
    matches!(&entry.event, Some(Event::GateAnswered { answer, .. }) if withdrawn(answer))
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

#[cfg(test)]
mod tests {
    use chronicle_core::base::ids::GateId;
    use chronicle_core::base::time::Millis;
    use chronicle_core::event::input::{Actor, By};

    use super::*;

    fn entry(number: u32, answer: GateAnswer) -> TimelineEntry {
        let (who, note) = ("the supervisor".to_owned(), String::new());
        let gate = GateId(number);
        let event = Event::GateAnswered { gate, answer, who, note, agent: None, from: None };
        let by = By { actor: Actor::Supervisor, request: None };
        let (seq, at, text) = (number.into(), Millis(0), format!("g{number}"));
        TimelineEntry { seq, at, by, text, detail: false, event: Some(event) }
    }

    #[test]
    fn many_gates_that_are_withdrawn_are_told_at_once() {
        let texts = |all: Vec<TimelineEntry>| -> Vec<String> {
            together(&all).into_iter().map(|entry| entry.text).collect()
        };
        let withdrawn = |count: u32| (1..=count).map(|it| entry(it, GateAnswer::Withdrawn));
        assert_eq!(texts(withdrawn(3).collect()), ["g1", "g2", "g3"]);
        let all = withdrawn(150).chain([entry(151, GateAnswer::Approved)]).chain(withdrawn(1));
        let told = ["150 gates were withdrawn, the last one: g150", "g151", "g1"];
        assert_eq!(texts(all.collect()), told);
    }
}
