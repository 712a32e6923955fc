//! `chronicle audit`.

use chronicle_core::words;
use chronicle_runtime::handle::{self, Audit};
use clap::Args;

use super::{Setting, say_json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// Check a run's ledger line by line, and look for processes that it left behind
///
/// Every line is chained to the one before it. The head that is printed is an anchor: whoever keeps
/// it can tell later that nothing before it was changed.
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle audit 5f3a9c1e --json | jq -r .head")]
pub(super) struct AuditArgs {
    /// The run; the newest when omitted
    run: Option<String>,
}

pub(super) fn cmd_audit(setting: &Setting, args: &AuditArgs) -> Result<Exit, Failure> {
    let folder = setting.run(args.run.as_deref())?;
    let audit = handle::audit(&folder)?;
    if setting.json {
        say_json(&audit)?;
    } else {
        say(&audit, folder.id.short());
    }
    let is_well = audit.orphans.is_empty() && audit.lost_artifacts.is_empty();
    Ok(if is_well { Exit::Done } else { Exit::RunFailed })
}

/// Prints what was found for people.
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
    if !audit.open_attempts.is_empty() {
        let open = audit.open_attempts.join(", ");
        lines.push(format!("  · without an end: {open}; `chronicle resume {run}` takes them up"));
    }
    lines.push(format!("  head {}", audit.head));
    terminal::say(&lines.join("\n"));
}
