//! A person's command to a run: to its supervisor while one lives, else into its ledger.

use chronicle_core::engine;
use chronicle_core::event::input::{Answer, AttemptReport, Command, EndSeen, Input, Report};
use chronicle_core::event::notice::{Missed, NoticeGiven};
use chronicle_core::state::Owed;
use chronicle_core::state::State;

use super::HandleError;
use crate::clock;
use crate::driver::Run;
use crate::effects::{observed, perform_now};
use crate::inbox::{Asker, asked, reported};
use crate::ledger::{Holder, Ledger, LedgerError};
use crate::link::{self, Ask, Client};
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
    if link::barred(command).is_some() {
        return Ok(None);
    }
    let Some(mut client) = Client::connect(&folder.path, &asker.who)? else { return Ok(None) };
    Ok(client.ask(Ask::Command(command.clone()))?)
}

/// Writes a person's command into a run that nobody drives: decided and recorded, nothing performed.
pub fn record(folder: &RunFolder, asker: &Asker, command: Command) -> Result<Answer, HandleError> {
    let holder = Holder::current(&asker.command, clock::now());
    let mut run = Run::open(&folder.ledger(), holder, None)?;
    if let Some(torn) = run.torn() {
        run.step(&torn)?;
    }
    let (before, owed) = (run.head(), run.state().notices.owed.clone());
    let answer = match &command {
        Command::Go { .. } if is_left_alone(run.state()) => go(folder, asker, &command, &mut run)?,
        _ => run.step(&asked(&asker.who, command))?.0,
    };
    if run.head() != before {
        run.sync()?;
        find_lost(folder, &mut run)?;
        settle_notices(&owed, &mut run)?;
        Projections::new(folder.clone()).write(run.state(), run.head());
    }
    Ok(answer)
}

/// Nobody is here to tell people: whoever gives the command is there. What a supervisor died over may have been told.
fn settle_notices(before: &[Owed], run: &mut Run) -> Result<(), HandleError> {
    for owed in run.state().notices.owed.clone() {
        let why = if before.contains(&owed) { Missed::Unknown } else { Missed::NobodyDrove };
        run.step(&reported(Report::NoticeGiven(NoticeGiven::missed(owed.about, why))))?;
    }
    Ok(run.sync()?)
}

/// Whether a supervisor died over work: the ledger calls it live, and nobody drives the run.
fn is_left_alone(state: &State) -> bool {
    !state.live.is_empty() && state.paused.is_none() && state.cancelled.is_none()
}

/// Sends a run elsewhere whose supervisor died: it is paused, what was left is ended, it is sent, and it may go on. A move that
/// would be refused even then leaves no trace.
fn go(
    folder: &RunFolder,
    asker: &Asker,
    command: &Command,
    run: &mut Run,
) -> Result<Answer, HandleError> {
    let pause = Command::Pause { reason: "it is sent elsewhere after its supervisor died".into() };
    let (pause, go) = (asked(&asker.who, pause), asked(&asker.who, command.clone()));
    let lost = |attempt| {
        let what = AttemptReport::Ended(EndSeen { lost: true, ..EndSeen::default() });
        reported(Report::Attempt { attempt, active_ms: 0, what })
    };
    let first = std::iter::once(pause.clone()).chain(run.state().live.iter().copied().map(lost));
    let would = would_be(run.state(), first, &go);
    if !matches!(would, Answer::Accepted(_)) {
        return Ok(would);
    }
    run.step(&pause)?;
    find_lost(folder, run)?;
    let (answer, _) = run.step(&go)?;
    run.step(&asked(&asker.who, Command::Resume))?;
    Ok(answer)
}

/// The answer to the last input after the others; nothing is written.
fn would_be(state: &State, first: impl Iterator<Item = Input>, last: &Input) -> Answer {
    let mut state = state.clone();
    for input in first {
        if let Some(line) = engine::step(&state, &input).line {
            state.apply(&line);
        }
    }
    engine::step(&state, last).answer
}

/// A run that is to rest, and whose supervisor died, rests only once what it left has ended: then it can be sent elsewhere.
fn find_lost(folder: &RunFolder, run: &mut Run) -> Result<(), HandleError> {
    if run.state().paused.is_none() && !run.state().is_given_up() {
        return Ok(());
    }
    let cookies = folder.cookies();
    for attempt in run.state().live.clone() {
        let seen = observed(&folder.keeper(attempt), &cookies.cookie(attempt));
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

/// Takes a run from a holder on another host, at a person's word. Who held it; none when nobody does. A holder on this host is
/// known to live, so that it can be asked instead: it is refused as held.
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
