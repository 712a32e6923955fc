//! The step and the loop: decide → append → apply, sync, then show → answer → perform. In this order, and nowhere else.
//!
//! `Run::step` is synchronous and knows no agents; tests, simulation and every mode use the same one. `drive` drains the
//! queue, takes all that waits through the step, syncs once, and only then lets anybody know. What is due then is computed
//! once and given to a `World`: which one is all that tells the modes apart. Opening a ledger finds attempts that nothing
//! here runs: the world observes them and reports them lost. That is all there is to recovery.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use chronicle_core::engine;
use chronicle_core::event::input::{Answer, Input};
use chronicle_core::event::record::Line;
use chronicle_core::state::effect::Effect;
use chronicle_core::state::{State, Status};

use crate::fail::{self, Point};
use crate::inbox::{self, Message, Rest};
use crate::ledger::{self, HEARTBEAT_EVERY, Head, Holder, Ledger, LedgerError, Writer};
use crate::patience::Patience;

/// Most inputs that share one sync.
const BATCH_MAX: usize = 256;
/// How often projections catch up while nothing happens.
const TICK: Duration = Duration::from_secs(1);

/// A run whose ledger is in hand.
pub struct Run {
    state: State,
    writer: Box<dyn Writer>,
    beaten: Instant,
    /// Retries for a ledger that is temporarily unavailable.
    pub patience: Patience,
}

impl Run {
    /// Claims the ledger and folds what is new since the cached state.
    pub fn open(
        ledger: &dyn Ledger,
        who: Holder,
        cached: Option<(Head, State)>,
    ) -> Result<Self, LedgerError> {
        let (from, mut state) = cached.unwrap_or((Head::EMPTY, State::default()));
        let writer = ledger::open(ledger, who, from, |line| state.apply(&line))?;
        Ok(Self { state, writer, beaten: Instant::now(), patience: Patience::default() })
    }

    /// Decides and appends. The answer counts, and the state may be acted upon, only after `sync`.
    pub fn step(&mut self, input: &Input) -> Result<(Answer, Option<Line>), LedgerError> {
        let step = engine::step(&self.state, input);
        if let Some(line) = &step.line {
            let mut keep = |body: &String| self.writer.put_artifact(body.as_bytes());
            step.bodies.iter().try_for_each(|body| self.patience.ask(|| keep(body)).map(drop))?;
            self.patience.ask(|| self.writer.append(line.seq, line))?;
            self.state.apply(line);
            debug_assert!(self.state.anomalies.is_empty(), "{:?}", self.state.anomalies);
        }
        Ok((step.answer, step.line))
    }

    /// Brings all that was decided to the disk; retries while the ledger is unavailable.
    pub fn sync(&mut self) -> Result<(), LedgerError> {
        self.patience.ask(|| self.writer.sync())
    }

    /// Shows now and then that somebody lives, where the system's locks do not.
    fn beat(&mut self) -> Result<(), LedgerError> {
        if self.beaten.elapsed() >= HEARTBEAT_EVERY {
            self.patience.ask(|| self.writer.heartbeat())?;
            self.beaten = Instant::now();
        }
        Ok(())
    }

    /// What is known about the run.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Where its ledger stands.
    pub fn head(&self) -> Head {
        self.writer.head()
    }

    /// What a supervisor says first: who it is, whether it tells people, and what it found torn.
    pub fn introduce(&self, who: &Holder, notifies: bool) -> Vec<Input> {
        let started = inbox::started(who, self.writer.epoch(), notifies);
        self.torn().into_iter().chain([started]).collect()
    }

    /// What was found torn and set aside.
    pub fn torn(&self) -> Option<Input> {
        self.writer.torn().map(inbox::set_aside)
    }
}

/// What performs effects: the real one starts processes, a recorder begins nothing, a simulated one plays.
pub trait World: Send {
    /// Compares what is due with what runs, starts and stops. Returns what could be reported at once.
    fn reconcile(&mut self, state: &State, due: &[Effect]) -> Vec<Input>;
    /// Whether nothing that it began goes on.
    fn is_idle(&self) -> bool;
}

/// Who is told what is on disk by now.
pub trait Watch {
    /// After each sync that brought something new.
    fn shown(&mut self, state: &State, head: Head, lines: &[Line]);
    /// Now and then while nothing happens, and once at the end.
    fn quiet(&mut self, state: &State, head: Head);
}

/// Why a drive came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// Nothing works any more: the run is over, paused, or waits for a person.
    Rests(Status),
    /// It was told to stop at once.
    Quit,
}

/// Drives a run until nothing works any more.
pub fn drive(
    run: &mut Run,
    first: Vec<Message>,
    mut rest: Rest,
    inbox: &Receiver<Message>,
    world: &mut dyn World,
    watch: &mut dyn Watch,
) -> Result<Finish, LedgerError> {
    let mut batch = first;
    loop {
        if !take(run, batch, &mut rest, watch)? {
            watch.quiet(run.state(), run.head());
            return Ok(Finish::Quit);
        }
        let at_once = world.reconcile(run.state(), &run.state().due());
        let stays = rest.stays(run.state(), || world.is_idle());
        let may_leave = rest == Rest::AtOnce || run.state().live.is_empty();
        if at_once.is_empty() && !stays && may_leave {
            watch.quiet(run.state(), run.head());
            return Ok(Finish::Rests(run.state().status()));
        }
        batch = match at_once.is_empty() {
            true if stays => next_batch(run, inbox, watch)?,
            true => vec![inbox::leaving()],
            false => at_once.into_iter().map(inbox::told).collect(),
        };
    }
}

/// Takes a batch through the step and one sync, then answers. False when told to quit.
fn take(
    run: &mut Run,
    batch: Vec<Message>,
    rest: &mut Rest,
    watch: &mut dyn Watch,
) -> Result<bool, LedgerError> {
    let (mut lines, mut answers, mut goes_on) = (Vec::new(), Vec::new(), true);
    for message in batch {
        match message {
            Message::Quit => goes_on = false,
            Message::Leave => *rest = rest.leave(),
            Message::Input(input, reply) => {
                let (answer, line) = run.step(&input)?;
                lines.extend(line);
                answers.extend(reply.map(|reply| (reply, answer)));
            }
        }
    }
    if !lines.is_empty() {
        run.sync()?;
        watch.shown(run.state(), run.head(), &lines);
    }
    for (reply, answer) in answers {
        fail::at(Point::BeforeAnswer);
        // Whoever asked may be gone by now: the decision stands all the same.
        let _ = reply.try_send(answer);
    }
    Ok(goes_on)
}

/// Waits for input; meanwhile the lock shows that somebody lives, and projections catch up.
fn next_batch(
    run: &mut Run,
    inbox: &Receiver<Message>,
    watch: &mut dyn Watch,
) -> Result<Vec<Message>, LedgerError> {
    loop {
        run.beat()?;
        match inbox.recv_timeout(TICK) {
            Ok(first) => {
                let more = inbox.try_iter().take(BATCH_MAX - 1);
                return Ok(std::iter::once(first).chain(more).collect());
            }
            Err(RecvTimeoutError::Timeout) => watch.quiet(run.state(), run.head()),
            Err(RecvTimeoutError::Disconnected) => return Ok(vec![Message::Quit]),
        }
    }
}
