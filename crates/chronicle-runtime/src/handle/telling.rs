//! Commands of people: sent to the supervisor if there is one, otherwise recorded in the ledger.

use std::sync::mpsc::sync_channel;

use chronicle_core::base::redact::Redactor;
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::event::record::Line;
use chronicle_core::state::State;

use super::{HandleError, witnesses};
use crate::anchor;
use crate::clock;
use crate::driver::{self, Run, Watch};
use crate::effects::Recorder;
use crate::inbox::{self, Asker, InboxMessage, Rest, asked};
use crate::ledger::{Head, Holder, Ledger, LedgerError};
use crate::link::{Ask, Client};
use crate::project::{RunFolder, new_run_id};
use crate::projections::Projections;
use crate::secrets;

/// Where a command was handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandledBy {
    /// By a supervisor, which acts on it.
    Supervisor,
    /// In the ledger only; `resume` acts on it.
    Ledger,
}

/// Sends a person's command to the process that drives the run, or records it if there is none.
pub fn tell(
    folder: &RunFolder,
    asker: &Asker,
    command: &Command,
) -> Result<(Answer, HandledBy), HandleError> {
    // Written into the line with the command, so that a command whose answer was lost can be found in the ledger.
    let mark = new_run_id();
    match ask(folder, asker, command, &mark) {
        Ok(Some(answer)) => return Ok((answer, HandledBy::Supervisor)),
        Ok(None) => {}
        // It died under the command. Its ledger says whether it was heard; if not, it is told again.
        Err(HandleError::Link(error)) if error.is_hang_up() => {
            if was_heard(folder, &mark)? {
                let text = "done; the supervisor ended before it could answer";
                return Ok((Answer::Accepted(text.to_owned()), HandledBy::Ledger));
            }
        }
        Err(error) => return Err(stopped_or(folder, error)),
    }
    match record(folder, asker, command.clone()) {
        Ok(answer) => Ok((answer, HandledBy::Ledger)),
        // It was on its way up when we looked.
        Err(HandleError::Ledger(held @ LedgerError::Held { .. })) => {
            match ask(folder, asker, command, &mark)? {
                Some(answer) => Ok((answer, HandledBy::Supervisor)),
                None => Err(unreachable(folder, held)),
            }
        }
        Err(error) => Err(error),
    }
}

/// Says why it did not answer, if that can be seen.
fn stopped_or(folder: &RunFolder, error: HandleError) -> HandleError {
    let HandleError::Link(_) = error else { return error };
    match super::holder(folder).filter(Holder::is_stopped) {
        Some(holder) => {
            HandleError::Stopped { run: folder.id.short().to_owned(), holder: Box::new(holder) }
        }
        None => error,
    }
}

/// A process on this machine that holds the run for longer than an instant drives it, and should have a link.
fn unreachable(folder: &RunFolder, held: LedgerError) -> HandleError {
    match held {
        LedgerError::Held { holder: Some(holder), .. } if holder.is_here() => {
            HandleError::Unreachable { run: folder.id.short().to_owned(), holder }
        }
        held => held.into(),
    }
}

fn ask(
    folder: &RunFolder,
    asker: &Asker,
    command: &Command,
    mark: &str,
) -> Result<Option<Answer>, HandleError> {
    // Not for a supervisor: such a command needs the run's lock, and is refused while somebody holds it.
    if command.barred().is_some() {
        return Ok(None);
    }
    let Some(mut client) = Client::connect(&folder.path, &asker.who)? else { return Ok(None) };
    Ok(client.ask_marked(Ask::Command(command.clone()), Some(mark.to_owned()))?)
}

/// True if a command with this mark is in the ledger. Its writer is dead, so it cannot appear later.
fn was_heard(folder: &RunFolder, mark: &str) -> Result<bool, HandleError> {
    // The lock is free once the one who held it is gone for good.
    drop(folder.ledger().claim(Holder::current("chronicle", clock::now()))?);
    for next in folder.ledger().read(Head::EMPTY)? {
        if next?.0.by.request.as_deref() == Some(mark) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Records a person's command in a run that is not driven, and finishes what is past.
pub fn record(folder: &RunFolder, asker: &Asker, command: Command) -> Result<Answer, HandleError> {
    let redactor = secrets::redactor(&folder.project);
    let mut run = witnesses::open(folder, holder(asker, &redactor))?;
    let started = run.state().run.as_ref();
    let redactor = secrets::of_run(redactor, started.map_or(&[], |run| &run.workflows));
    let world = Recorder::new(folder, run.state()).after(run.state().seq);
    let (command, had_secrets) = secrets::spoken(&redactor, command);
    let (message, answer) = inbox::asking(asked(&asker.who, command));
    // What a crash tore off is reported before the command is decided, so that the ledger says why bytes are missing before
    // anything follows them.
    let first = run.torn().map(inbox::told).into_iter().chain([message]).collect();
    record_in(folder, &mut run, world, first)?;
    let answer = answer.recv().map_err(|_| HandleError::Driver {
        run: folder.id.short().to_owned(),
        why: "gave no answer".to_owned(),
    })?;
    Ok(secrets::answered(answer, had_secrets))
}

/// Who takes the lock. The lock says by which command, and a command line has a person's own words: a task, a note, an answer.
pub(super) fn holder(asker: &Asker, redactor: &Redactor) -> Holder {
    Holder::current(redactor.redact(&asker.command), clock::now())
}

/// Drives a run in a world that starts nothing, and rests at once. Returns what was recorded.
pub(super) fn record_in(
    folder: &RunFolder,
    run: &mut Run,
    mut world: Recorder,
    first: Vec<InboxMessage>,
) -> Result<Vec<Line>, HandleError> {
    let mut kept =
        LineCollector { projections: Projections::new(folder.clone()), lines: Vec::new() };
    // Nobody else has anything to say to it.
    let (_inbox, messages) = sync_channel(1);
    // Before the first line: otherwise a kill in between would leave a line after an anchor that says "rests".
    witnesses::wake(folder)?;
    driver::drive(run, first, Rest::AtOnce, &messages, &mut world, &mut kept)?;
    // After the last sync, and while the lock is still held.
    anchor::rest(folder, run.head());
    Ok(kept.lines)
}

/// Collects the recorded lines, and keeps projections up to date.
struct LineCollector {
    projections: Projections,
    lines: Vec<Line>,
}

impl Watch for LineCollector {
    fn shown(&mut self, _: &State, _: Head, lines: &[Line]) {
        self.lines.extend_from_slice(lines);
    }

    fn quiet(&mut self, state: &State, head: Head) {
        if !self.lines.is_empty() {
            self.projections.write(state, head);
        }
    }
}

/// Takes a run from a holder on another machine, at a person's request. Returns that holder; `None` if there is none. A holder on
/// this machine is known to live and can be asked instead, so that is refused as held.
pub fn force(folder: &RunFolder) -> Result<Option<Holder>, HandleError> {
    let ledger = folder.ledger();
    let Some(holder) = ledger.holder() else { return Ok(None) };
    if holder.is_here() {
        let place = folder.path.display().to_string();
        return Err(LedgerError::Held { place, holder: Some(Box::new(holder)) }.into());
    }
    ledger.force()?;
    Ok(Some(holder))
}
