//! The step and the loop: decide → append → apply, sync, then show → answer → perform. In this order, and nowhere else.
//!
//! `Run::step` is synchronous and knows no agents; every mode and the simulation use it. `drive` steps through all waiting
//! inputs, syncs once, and only then shows, answers and gives what is due to a `World`. Which world makes the mode. A
//! ledger that was just opened may have live attempts: the world reports them lost. That is all there is to recovery.

mod opening;

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use chronicle_core::engine;
use chronicle_core::event::WallsFound;
use chronicle_core::event::input::{Answer, Input};
use chronicle_core::event::record::Line;
use chronicle_core::state::State;
use chronicle_core::state::effect::Effect;

use crate::fail::{self, Point};
pub use crate::inbox::Finish;
use crate::inbox::{self, InboxMessage, Rest};
use crate::ledger::{HEARTBEAT_EVERY, Head, Holder, LedgerError, Writer};
use crate::patience::Patience;

/// Most inputs that share one sync.
const BATCH_MAX: usize = 256;
/// How often projections catch up while nothing happens.
const TICK: Duration = Duration::from_secs(1);

/// An open run with its ledger.
pub struct Run {
    state: State,
    writer: Box<dyn Writer>,
    beaten: Instant,
    /// Retries for a ledger that is temporarily unavailable.
    pub patience: Patience,
}

impl Run {
    /// Decides and appends. The answer counts, and the state may be acted on, only after `sync`.
    pub fn step(&mut self, input: &Input) -> Result<(Answer, Option<Line>), LedgerError> {
        let step = engine::step(&self.state, input);
        if let Some(line) = &step.line {
            let mut keep = |body: &String| self.writer.put_artifact(body.as_bytes());
            // Artifacts before the line: a line must never name a text that a crash has lost.
            step.bodies.iter().try_for_each(|body| self.patience.ask(|| keep(body)).map(drop))?;
            self.patience.ask(|| self.writer.append(line.seq, line))?;
            // Before the sync, so that the next input of the batch is decided on it. Nothing leaves before the sync.
            self.state.apply(line);
            debug_assert!(self.state.anomalies.is_empty(), "{:?}", self.state.anomalies);
        }
        Ok((step.answer, step.line))
    }

    /// Syncs all decisions to disk; retries while the ledger is unavailable.
    pub fn sync(&mut self) -> Result<(), LedgerError> {
        self.patience.ask(|| self.writer.sync())
    }

    /// Renews the heartbeat, for disks without OS locks.
    fn beat(&mut self) -> Result<(), LedgerError> {
        if self.beaten.elapsed() >= HEARTBEAT_EVERY {
            self.patience.ask(|| self.writer.heartbeat())?;
            self.beaten = Instant::now();
        }
        Ok(())
    }

    /// The state after all lines so far.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The end of its ledger.
    pub fn head(&self) -> Head {
        self.writer.head()
    }

    /// A supervisor's first reports: who it is, whether it notifies people, which walls it can put up, and what it found torn.
    pub fn introduce(&self, who: &Holder, notifies: bool, walls: Option<WallsFound>) -> Vec<Input> {
        let started = inbox::started(who, self.writer.epoch(), notifies, walls);
        self.torn().into_iter().chain([started]).collect()
    }

    /// The torn line that was moved aside, if any.
    pub fn torn(&self) -> Option<Input> {
        self.writer.torn().map(inbox::set_aside)
    }
}

/// Performs effects: the real world starts processes, a recorder starts nothing, a simulated one plays.
pub trait World: Send {
    /// Compares what is due with what runs, starts and stops. Returns immediate reports.
    fn reconcile(&mut self, state: &State, due: &[Effect]) -> Vec<Input>;
    /// True if nothing that it started still runs.
    fn is_idle(&self) -> bool;
}

/// Receives what is synced.
pub trait Watch {
    /// Called after each sync that brought something new.
    fn shown(&mut self, state: &State, head: Head, lines: &[Line]);
    /// Called periodically while nothing happens, and once at the end.
    fn quiet(&mut self, state: &State, head: Head);
}

/// Drives a run until nothing works any more.
pub fn drive(
    run: &mut Run,
    first: Vec<InboxMessage>,
    mut rest: Rest,
    inbox: &Receiver<InboxMessage>,
    world: &mut dyn World,
    watch: &mut dyn Watch,
) -> Result<Finish, LedgerError> {
    let mut batch = first;
    loop {
        if !take(run, batch, &mut rest, watch)? {
            watch.quiet(run.state(), run.head());
            return Ok(Finish::Quit);
        }
        // Only after `take` has synced: effects must not happen for a decision that a crash could still undo.
        let at_once = world.reconcile(run.state(), &run.state().due());
        let stays = rest.stays(run.state(), || world.is_idle());
        // A live attempt that waits for an answer does not keep the drive going, but it must be stopped before leaving.
        let may_leave = rest == Rest::AtOnce || run.state().live.is_empty();
        if at_once.is_empty() && !stays && may_leave {
            watch.quiet(run.state(), run.head());
            return Ok(Finish::Rests(run.state().status()));
        }
        batch = match at_once.is_empty() {
            true if stays => next_batch(run, inbox, watch)?,
            // Tells the engine to stop attempts that wait for a person; the loop ends once they are gone.
            true => vec![inbox::leaving()],
            false => at_once.into_iter().map(inbox::told).collect(),
        };
    }
}

/// Takes a batch through the step and one sync, then answers. False if told to quit.
fn take(
    run: &mut Run,
    batch: Vec<InboxMessage>,
    rest: &mut Rest,
    watch: &mut dyn Watch,
) -> Result<bool, LedgerError> {
    let (mut lines, mut answers, mut goes_on) = (Vec::new(), Vec::new(), true);
    for message in batch {
        match message {
            // The rest of the batch is still decided: its senders wait for an answer.
            InboxMessage::Quit => goes_on = false,
            InboxMessage::Leave => *rest = rest.leave(),
            InboxMessage::Input(input, reply) => {
                let (answer, line) = run.step(&input)?;
                lines.extend(line);
                answers.extend(reply.map(|reply| (reply, answer)));
            }
        }
    }
    if !lines.is_empty() {
        // One sync for the whole batch. This is the moment at which its decisions become real.
        run.sync()?;
        watch.shown(run.state(), run.head(), &lines);
    }
    for (reply, answer) in answers {
        fail::at(Point::BeforeAnswer);
        // The sender may be gone by now; the decision stands anyway.
        let _ = reply.try_send(answer);
    }
    Ok(goes_on)
}

/// Waits for input; meanwhile renews the heartbeat and catches up with projections.
fn next_batch(
    run: &mut Run,
    inbox: &Receiver<InboxMessage>,
    watch: &mut dyn Watch,
) -> Result<Vec<InboxMessage>, LedgerError> {
    loop {
        // Before waiting, so that an idle run keeps its heartbeat fresh too.
        run.beat()?;
        match inbox.recv_timeout(TICK) {
            Ok(first) => {
                let more = inbox.try_iter().take(BATCH_MAX - 1);
                return Ok(std::iter::once(first).chain(more).collect());
            }
            Err(RecvTimeoutError::Timeout) => watch.quiet(run.state(), run.head()),
            // Nobody is left who could send anything: waiting on would be for ever.
            Err(RecvTimeoutError::Disconnected) => return Ok(vec![InboxMessage::Quit]),
        }
    }
}
