//! `chronicle audit`: verifies a ledger and looks for leftover processes.

use chronicle_core::base::limits::bounded;
use chronicle_core::event::Event;
use chronicle_core::words;
use chronicle_runtime::handle::{self, Audit, Replayed};
use clap::Args;
use serde::Serialize;

use super::{Setting, json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// Most bytes of a differing event that are shown.
const EVENT_MAX: usize = 400;

/// Check a run's ledger line by line, and look for leftover processes
///
/// Every line is chained to the one before it. Keep the printed head to prove later that nothing before it was changed. With
/// --replay every line is decided again from its recorded input: the same Chronicle decides the same, and another version shows
/// what it would change.
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle audit 5f3a9c1e --json | jq -r .head")]
pub(super) struct AuditArgs {
    /// Id of the run; the one that changed last if omitted
    run: Option<String>,
    /// Also decide every line again from its input, and report the first difference
    #[arg(long)]
    replay: bool,
}

/// The JSON output of this command.
#[derive(Serialize)]
struct AuditDocument<'a> {
    #[serde(flatten)]
    audit: &'a Audit,
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<&'a Replayed>,
}

pub(super) fn cmd_audit(setting: &Setting, args: &AuditArgs) -> Result<Exit, Failure> {
    let folder = setting.run(args.run.as_deref())?;
    let audit = handle::audit(&folder)?;
    let replayed = if args.replay { Some(handle::replay(&folder)?) } else { None };
    if setting.json {
        json::say_document(&AuditDocument { audit: &audit, replay: replayed.as_ref() })?;
    } else {
        say(&audit, folder.id.short());
        replayed.iter().for_each(say_replayed);
    }
    // Events that cannot have happened were written by somebody else: good sums do not make it a good ledger.
    if !audit.impossible.is_empty() {
        return Ok(Exit::Damaged);
    }
    let is_same = !matches!(replayed, Some(Replayed::Differs { .. } | Replayed::Untold { .. }));
    let is_well = audit.orphans.is_empty() && audit.lost_artifacts.is_empty() && is_same;
    Ok(if is_well { Exit::Done } else { Exit::RunFailed })
}

/// Prints the results for people.
pub(super) fn say(audit: &Audit, run: &str) {
    let paint = Paint::stdout();
    let good = |text: String| format!("  {} {text}", paint.ink(Ink::Good, "✓"));
    let bad = |text: String| format!("  {} {text}", paint.ink(Ink::Bad, "✗"));
    let mut lines = vec![good(format!(
        "chain whole: {} lines, {} events, {} bytes",
        words::thousands(audit.lines),
        words::thousands(audit.events),
        words::thousands(audit.bytes)
    ))];
    lines.push(match (audit.supervised, audit.orphans.as_slice()) {
        // Its processes are at work and no leftovers.
        (true, _) => good("a supervisor has the run".to_owned()),
        (false, []) => good("no process of this run is left".to_owned()),
        (false, left) => {
            let ids: Vec<String> = left.iter().map(ToString::to_string).collect();
            bad(format!("processes left behind: {}", ids.join(", ")))
        }
    });
    if !audit.lost_artifacts.is_empty() {
        let names = audit.lost_artifacts.join(", ");
        lines.push(bad(format!("texts that the ledger names are lost or changed: {names}")));
    }
    lines.extend(audit.impossible.iter().map(|what| bad(format!("cannot have happened: {what}"))));
    if audit.unasked_calls > 0 {
        let calls = words::thousands(audit.unasked_calls);
        lines.push(format!(
            "  · tool calls that ran without leave, which prove nothing: {calls}; \
            `chronicle log {run} --tools` shows them"
        ));
    }
    if !audit.open_attempts.is_empty() {
        let open = audit.open_attempts.join(", ");
        lines.push(format!("  · without an end: {open}; `chronicle resume {run}` takes them up"));
    }
    if audit.unmerged {
        lines.push(format!(
            "  · its work is not in the project; `chronicle merge {run}` brings it in"
        ));
    }
    lines.push(format!("  head {}", audit.head));
    terminal::say(&lines.join("\n"));
}

/// Prints the result of a replay. A difference is not damage: another version may decide differently.
fn say_replayed(replayed: &Replayed) {
    let paint = Paint::stdout();
    let bad = |text: String| format!("  {} {text}", paint.ink(Ink::Bad, "✗"));
    terminal::say(&match replayed {
        Replayed::Same { lines } => {
            let (mark, lines) = (paint.ink(Ink::Good, "✓"), words::thousands(*lines));
            format!("  {mark} replayed: all {lines} decisions come out the same")
        }
        Replayed::NoInputs => {
            "  · not replayed: this run was begun by an earlier Chronicle, which did \
            not write down what came in"
                .to_owned()
        }
        Replayed::Untold { line } => bad(format!("line {line} does not tell what came in")),
        Replayed::Differs { line, version, written, decided } => {
            let this = env!("CARGO_PKG_VERSION");
            let by = format!("written by Chronicle {version}, decided again by {this}");
            let head = bad(format!("replayed: line {line} comes out otherwise ({by})"));
            let rows = differing(written, decided);
            [head].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
        }
    });
}

/// The events that only one of both has, in the ledger's own words: two sentences may be the same where two events are not.
fn differing(written: &[Event], decided: &[Event]) -> Vec<String> {
    let row = |mark: &str, event: &Event| {
        let event = serde_json::to_string(event).unwrap_or_else(|_| words::sentence(event));
        format!("    {mark} {}", words::plain_line(&bounded(&event, EVENT_MAX)))
    };
    let gone = written.iter().filter(|event| !decided.contains(event));
    let new = decided.iter().filter(|event| !written.contains(event));
    gone.map(|event| row("-", event)).chain(new.map(|event| row("+", event))).collect()
}
