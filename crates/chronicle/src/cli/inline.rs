//! Asking the person at the terminal, while the run that needs them goes on being driven here.
//!
//! The answer goes to the gate that was shown: if somebody else answered meanwhile, the person is told so.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chronicle_core::base::ids::{GateId, Place};
use chronicle_core::event::GateKind;
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::view::{GateRow, RunView};
use chronicle_core::words;
use chronicle_runtime::handle::Remote;

use crate::terminal;

/// Asks about one gate at a time.
pub(super) struct Inline {
    remote: Remote,
    asked: BTreeSet<GateId>,
    /// A line is being waited for.
    is_asking: Arc<AtomicBool>,
}

impl Inline {
    pub(super) fn new(remote: Remote) -> Self {
        Self { remote, asked: BTreeSet::new(), is_asking: Arc::default() }
    }

    /// Asks about the first gate that was not asked about. Whether a line is being waited for.
    pub(super) fn ask(&mut self, view: &RunView, say: impl FnOnce(&str)) -> bool {
        if self.is_asking.load(Ordering::SeqCst) {
            return true;
        }
        let new = view.needs_you.iter().find(|gate| !self.asked.contains(&gate.gate));
        let Some(gate) = new else { return false };
        self.asked.insert(gate.gate);
        say(&shown(gate));
        self.is_asking.store(true, Ordering::SeqCst);
        let (remote, gate) = (self.remote.clone(), gate.clone());
        let is_asking = Arc::clone(&self.is_asking);
        let hear = move || {
            hear(&remote, &gate);
            is_asking.store(false, Ordering::SeqCst);
        };
        std::thread::Builder::new().name("inline".to_owned()).spawn(hear).is_ok()
    }
}

/// What is being asked, and what may be typed.
fn shown(gate: &GateRow) -> String {
    let mut lines = vec![
        String::new(),
        format!("{} at `{}`: {}", gate.gate, gate.place, plain(gate.kind, &gate.about)),
    ];
    if !gate.context.trim().is_empty() {
        lines.push(format!("  {}", plain(gate.kind, &gate.context)));
    }
    let options = (1..).zip(&gate.options);
    lines
        .extend(options.map(|(number, option)| format!("  {number}  {}", words::one_line(option))));
    lines.push(match gate.kind {
        GateKind::ApprovalBefore | GateKind::ApprovalAfter => {
            "Type `yes`, or `no` and why; an empty line answers later:".to_owned()
        }
        GateKind::Budget => {
            "Type how much more (`+50000 tokens`, `+2.50 usd`), `yes` where a price is missing, or \
             `cancel`; an empty line answers later:"
                .to_owned()
        }
        GateKind::Question => "Type your answer; an empty line answers later:".to_owned(),
        GateKind::Intervention => {
            "Type `retry`, `skip`, `go PLACE` or `cancel`; an empty line answers later:".to_owned()
        }
    });
    lines.join("\n")
}

/// Many lines may be approved, but none may fool the terminal.
fn plain(kind: GateKind, text: &str) -> String {
    text.lines().map(|line| words::about(kind, line)).collect::<Vec<_>>().join("\n  ")
}

/// Reads lines until one is an answer that counts.
fn hear(remote: &Remote, gate: &GateRow) {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap_or_default();
        if line.trim().is_empty() {
            break;
        }
        let Some(command) = command(gate, line.trim()) else {
            terminal::talk("That is no answer here.");
            continue;
        };
        if let Some(Answer::Refused(why)) = remote.submit(command) {
            terminal::talk(&format!("Refused: {why}."));
        }
        return;
    }
    remote.leave();
}

fn command(gate: &GateRow, line: &str) -> Option<Command> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (id, note, place) = (Some(gate.gate), rest.trim().to_owned(), Some(gate.place.clone()));
    match (gate.kind, word.to_lowercase().as_str()) {
        (GateKind::Question, _) => Some(Command::Answer { gate: id, text: line.to_owned() }),
        (GateKind::ApprovalBefore | GateKind::ApprovalAfter, "y" | "yes" | "approve") => {
            Some(Command::Approve { gate: id, note })
        }
        (GateKind::ApprovalBefore | GateKind::ApprovalAfter, "n" | "no" | "reject") => {
            Some(Command::Reject { gate: id, note })
        }
        (GateKind::Budget, "y" | "yes" | "approve") => Some(Command::Approve { gate: id, note }),
        (GateKind::Budget | GateKind::Intervention, "cancel") => {
            Some(Command::Cancel { reason: note })
        }
        (GateKind::Budget, _) => {
            let more = chronicle_core::definition::budget::read(line).ok()?;
            Some(Command::Budget { place: None, more })
        }
        (GateKind::Intervention, "retry") => Some(Command::Retry { place, note, agent: None }),
        (GateKind::Intervention, "skip") => Some(Command::Skip { place, note }),
        (GateKind::Intervention, "go") if !note.is_empty() => {
            Some(Command::Go { place: Place::new(note), note: String::new() })
        }
        _ => None,
    }
}
