//! A person's command to a run: to its supervisor while one lives, else into its ledger.

use chronicle_core::input::{Answer, AttemptReport, Command, Report};
use chronicle_core::work;

use super::{Asker, HandleError};
use crate::clock;
use crate::driver::{Run, asked, reported};
use crate::effects::{observed, perform_now};
use crate::ledger::{Holder, LedgerError};
use crate::link::{Ask, Client, Reply};
use crate::project::RunFolder;
use crate::projections::Projections;

/// Where a command arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// At a supervisor, who acts on it.
    Supervisor,
    /// In the ledger alone; `resume` acts on it.
    Ledger,
}

/// Gives a person's command to whoever drives the run, or records it when nobody does.
pub fn tell(
    folder: &RunFolder,
    asker: &Asker,
    command: &Command,
) -> Result<(Answer, Told), HandleError> {
    if let Some(answer) = ask(folder, asker, command)? {
        return Ok((answer, Told::Supervisor));
    }
    match record(folder, asker, command.clone()) {
        Ok(answer) => Ok((answer, Told::Ledger)),
        // It was on its way up when we looked.
        Err(HandleError::Ledger(held @ LedgerError::Held { .. })) => {
            match ask(folder, asker, command)? {
                Some(answer) => Ok((answer, Told::Supervisor)),
                None => Err(held.into()),
            }
        }
        Err(error) => Err(error),
    }
}

fn ask(
    folder: &RunFolder,
    asker: &Asker,
    command: &Command,
) -> Result<Option<Answer>, HandleError> {
    let Some(ask) = Ask::of(command.clone()) else { return Ok(None) };
    let Some(mut client) = Client::connect(&folder.path, &asker.who)? else { return Ok(None) };
    Ok(match client.ask(ask)? {
        Reply::Accepted { text, .. } => Some(Answer::Accepted(text)),
        Reply::Refused { text, .. } => Some(Answer::Refused(text)),
        Reply::Rests { .. } | Reply::View { .. } => None,
    })
}

/// Writes a person's command into a run that nobody drives: decided and recorded, nothing performed.
pub fn record(folder: &RunFolder, asker: &Asker, command: Command) -> Result<Answer, HandleError> {
    let holder = Holder::current(&asker.command, clock::now());
    let mut run = Run::open(&folder.ledger(), holder, None)?;
    if let Some(torn) = run.torn() {
        run.step(&torn)?;
    }
    let (answer, line) = run.step(&asked(&asker.who, command))?;
    if line.is_some() {
        run.sync()?;
        find_lost(folder, &mut run)?;
        Projections::new(folder.clone()).write(run.state(), run.head());
    }
    Ok(answer)
}

/// A run that is to rest, and whose supervisor died, rests only once what it left has ended: then it can be sent elsewhere.
fn find_lost(folder: &RunFolder, run: &mut Run) -> Result<(), HandleError> {
    if run.state().paused.is_none() && run.state().cancelled.is_none() {
        return Ok(());
    }
    for attempt in run.state().live.clone() {
        let Some(cookie) = work::cookie(run.state(), attempt) else { continue };
        let seen = observed(&folder.keeper(attempt), &cookie);
        let what = AttemptReport::Ended(seen);
        run.step(&reported(Report::Attempt { attempt, active_ms: 0, what }))?;
    }
    settle_trees(folder, run)
}

/// Records the files after what has ended, and finishes putting files back: nobody else will.
pub(super) fn settle_trees(folder: &RunFolder, run: &mut Run) -> Result<(), HandleError> {
    for input in perform_now(folder, run.state()) {
        run.step(&input)?;
    }
    Ok(run.sync()?)
}
