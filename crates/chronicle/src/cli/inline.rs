//! Asking the person at the terminal, while the run that needs them goes on being driven here.
//!
//! The answer goes to the gate that was shown: if somebody else answered meanwhile, the person is told so. In the background
//! nobody is asked, since whoever reads the terminal there is stopped: the person is told how to answer from elsewhere.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chronicle_core::base::ids::{GateId, Place};
use chronicle_core::event::budget::Lack;
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::event::{GateKind, GrantScope, chosen, has_numbers};
use chronicle_core::view::{GateRow, RunView};
use chronicle_core::words::{self, GateWay};
use chronicle_runtime::handle::{Remote, threads};

use crate::keyboard::{self, Keyboard, Typed};
use crate::terminal;

/// Asks about one gate at a time, and reads every line that is typed while the run is driven here: a line that nobody reads would
/// be taken by the shell afterwards.
pub(super) struct Inline {
    remote: Remote,
    asked: BTreeSet<GateId>,
    /// Gates that were told of in the background.
    told: BTreeSet<GateId>,
    shared: Arc<Mutex<InlineState>>,
    is_listening: bool,
}

/// What the thread that reads lines must know.
#[derive(Default)]
struct InlineState {
    /// Read and thrown away only under the lock: a line that is taken before a question is shown can never answer it.
    keyboard: Keyboard,
    /// The gate that the next line answers.
    gate: Option<GateRow>,
    /// A gate that was answered, and the last line of the ledger that was seen before: if it stays open, it is asked about again.
    answered: Option<(GateId, u64)>,
    /// The last line of the ledger that was seen.
    seq: u64,
}

impl Inline {
    pub(super) fn new(remote: Remote) -> Self {
        let (asked, told) = (BTreeSet::new(), BTreeSet::new());
        Self { remote, asked, told, shared: Arc::default(), is_listening: false }
    }

    /// Asks about the first gate that was not asked about. Whether a line is being waited for.
    pub(super) fn ask(&mut self, view: &RunView, say: impl Fn(&str)) -> bool {
        let mut shared = lock(&self.shared);
        shared.seq = view.seq;
        let is_open = |id: GateId| view.needs_you.iter().any(|gate| gate.gate == id);
        if let Some((id, before)) = shared.answered
            && view.seq > before
        {
            // A line after the answer shows that the answer was decided on. If the gate is still open, the answer was not
            // enough, such as a raise that is too small, and it is asked about again.
            shared.answered = None;
            self.asked.remove(&id);
        }
        let is_front = keyboard::is_foreground();
        if let Some(gate) = shared.gate.as_ref().map(|gate| gate.gate) {
            if is_open(gate) && is_front {
                return true;
            }
            shared.gate = None;
            if is_open(gate) {
                // Asked again in the foreground: by then the question has scrolled away.
                self.asked.remove(&gate);
            } else {
                say(&format!("{gate} was answered elsewhere."));
            }
        }
        let waits = shared.answered.map(|(id, _)| id);
        let mut new = view
            .needs_you
            .iter()
            .filter(|gate| waits != Some(gate.gate) && !self.asked.contains(&gate.gate));
        if !is_front {
            new.filter(|gate| self.told.insert(gate.gate)).for_each(|gate| say(&elsewhere(gate)));
            return false;
        }
        let Some(gate) = new.next() else { return false };
        self.asked.insert(gate.gate);
        if shared.keyboard.discard() {
            say(terminal::TYPED_BEFORE);
        }
        say(&shown(gate));
        shared.gate = Some(gate.clone());
        // Released before the thread begins: it takes the same lock for the first line.
        drop(shared);
        self.listen()
    }

    /// Reads lines from now on. Nothing is read before the first question: what was piped in is for whoever comes next.
    fn listen(&mut self) -> bool {
        if !self.is_listening {
            let (remote, shared) = (self.remote.clone(), Arc::clone(&self.shared));
            let hear = move || hear_all(&remote, &shared);
            self.is_listening = threads::spawn("inline", hear).is_ok();
        }
        self.is_listening
    }
}

/// A thread that panicked while it held this has changed nothing by halves.
fn lock(shared: &Mutex<InlineState>) -> MutexGuard<'_, InlineState> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is being asked, and what may be typed.
fn shown(gate: &GateRow) -> String {
    let mut lines = vec![
        String::new(),
        format!("{} at `{}`: {}", gate.gate, gate.place, plain(gate.kind, &gate.about)),
    ];
    lines.extend(super::gate::lines(gate).into_iter().map(|line| format!("  {line}")));
    lines.push(choices(gate));
    lines.join("\n")
}

/// What is told of a gate in the background.
fn elsewhere(gate: &GateRow) -> String {
    format!(
        "\n{} at `{}`: {}\nThis run is in the background: `fg` lets you answer here, or type\n  {}",
        gate.gate,
        gate.place,
        plain(gate.kind, &gate.about),
        gate.next
    )
}

/// What may be typed.
fn choices(gate: &GateRow) -> String {
    match gate.kind {
        GateKind::ApprovalBefore | GateKind::ApprovalAfter => {
            "Type `yes`, or `no` and why; an empty line answers later:".to_owned()
        }
        GateKind::Permission => {
            "Type `yes` for this call, `phase` or `run` for every call like it there, or `no` and why; an \
             empty line answers later:"
                .to_owned()
        }
        GateKind::Budget if gate.lack == Some(Lack::Price) => {
            "Type `yes` to let it spend what cannot be counted, `no` (and why), or `cancel`; an empty line \
             answers later:"
                .to_owned()
        }
        GateKind::Budget => {
            let raise = gate.raise.as_deref().unwrap_or("+50000 tokens");
            format!("Type how much more (`{raise}`) or `cancel`; an empty line answers later:")
        }
        GateKind::Conflict => {
            let words: Vec<String> = gate.options.iter().map(|it| format!("`{it}`")).collect();
            format!("Type one of {}; an empty line answers later:", words.join(", "))
        }
        GateKind::Question if gate.closed => {
            let how = if has_numbers(&gate.options) { "the number" } else { "the text" };
            format!(
                "Type {how} of an answer, and a note behind it if you like; an empty line answers later:"
            )
        }
        GateKind::Question if gate.options.is_empty() || !has_numbers(&gate.options) => {
            "Type your answer; an empty line answers later:".to_owned()
        }
        GateKind::Question => {
            "Type your answer, or the number of one; an empty line answers later:".to_owned()
        }
        GateKind::Intervention => {
            let typed = |way: &GateWay| match way {
                GateWay::Loops => "`loops +3` for three more rounds",
                GateWay::Retry => "`retry`",
                GateWay::Skip => "`skip`",
                GateWay::Go => "`go PLACE`",
                GateWay::Cancel => "`cancel`",
            };
            let ways: Vec<&str> = gate.ways.iter().map(typed).collect();
            // The last two stand beside each other at every gate of this kind.
            let ways = ways.join(", ").replace("`, `cancel`", "` or `cancel`");
            format!("Type {ways}; an empty line answers later:")
        }
    }
}

/// Many lines may be approved, but none may fool the terminal.
fn plain(kind: GateKind, text: &str) -> String {
    text.lines().map(|line| words::about(kind, line)).collect::<Vec<_>>().join("\n  ")
}

/// Reads lines until there are none left. The lock is not held while an answer is given: the screen needs it too.
fn hear_all(remote: &Remote, shared: &Mutex<InlineState>) {
    loop {
        keyboard::wait();
        let (typed, gate) = {
            let mut shared = lock(shared);
            (shared.keyboard.take(), shared.gate.clone())
        };
        let line = match typed {
            Typed::Line(line) => line,
            Typed::Nothing => continue,
            Typed::End => break,
        };
        let Some(gate) = gate else {
            if !line.trim().is_empty() {
                terminal::talk("Nothing is asked now: that line was not used.");
            }
            continue;
        };
        if line.trim().is_empty() {
            lock(shared).gate = None;
            remote.leave();
            continue;
        }
        hear(remote, shared, &gate, line.trim());
    }
    lock(shared).gate = None;
    remote.leave();
}

/// A line that does not count leaves the question open.
fn hear(remote: &Remote, shared: &Mutex<InlineState>, gate: &GateRow, line: &str) {
    let Some(command) = command(gate, line) else {
        return terminal::talk(&format!("That is no answer here. {}", choices(gate)));
    };
    let before = lock(shared).seq;
    if let Some(Answer::Refused(why)) = remote.submit(command) {
        return terminal::talk(&format!("Refused: {why}. {}", choices(gate)));
    }
    let mut shared = lock(shared);
    shared.gate = None;
    shared.answered = Some((gate.gate, before));
}

fn command(gate: &GateRow, line: &str) -> Option<Command> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (id, note, place) = (Some(gate.gate), rest.trim().to_owned(), Some(gate.place.clone()));
    match (gate.kind, word.to_lowercase().as_str()) {
        (GateKind::Question | GateKind::Conflict, _) => Some(answer(gate, line)),
        (
            GateKind::ApprovalBefore | GateKind::ApprovalAfter | GateKind::Budget,
            "y" | "yes" | "approve",
        ) => Some(Command::Approve { gate: id, note, scope: None }),
        (
            GateKind::ApprovalBefore | GateKind::ApprovalAfter | GateKind::Permission,
            "n" | "no" | "reject",
        ) => Some(Command::Reject { gate: id, note }),
        (GateKind::Permission, word) => {
            let scope = match word {
                "y" | "yes" | "approve" | "once" => None,
                "phase" => Some(GrantScope::Phase),
                "run" => Some(GrantScope::Run),
                _ => return None,
            };
            Some(Command::Approve { gate: id, note, scope })
        }
        (GateKind::Budget, "n" | "no" | "reject") if gate.lack == Some(Lack::Price) => {
            Some(Command::Reject { gate: id, note })
        }
        (GateKind::Budget | GateKind::Intervention, "cancel") => {
            Some(Command::Cancel { reason: note })
        }
        (GateKind::Budget, _) => {
            let more = chronicle_core::definition::budget::read(line).ok()?;
            Some(Command::Budget { place: None, more })
        }
        (GateKind::Intervention, "loops") if gate.lack == Some(Lack::Rounds) => {
            let more = note.trim_start_matches('+').parse().ok()?;
            Some(Command::Loops { place, more })
        }
        (GateKind::Intervention, "retry") => {
            Some(Command::Retry { place, note, agent: None, from: None })
        }
        (GateKind::Intervention, "skip") => Some(Command::Skip { place, note }),
        (GateKind::Intervention, "go") if !note.is_empty() => {
            Some(Command::Go { place: Place::new(note), note: String::new() })
        }
        _ => None,
    }
}

/// Where only options count, what stands behind one is a note for the worker.
fn answer(gate: &GateRow, line: &str) -> Command {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let has_note = gate.closed
        && chosen(&gate.options, line).is_none()
        && chosen(&gate.options, word).is_some();
    let (text, note) = if has_note { (word, rest.trim()) } else { (line, "") };
    Command::Answer { gate: Some(gate.gate), text: text.to_owned(), note: note.to_owned() }
}
