//! How a performer reports to the driver.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::input::{
    Actor, Answer, AttemptReport, By, Command, Input, Report, What,
};
use chronicle_core::event::signal::Signal;

use crate::clock::{self, Ticks};
use crate::inbox::{InboxMessage, reported};
use crate::requests::Requests;

/// One attempt's channel to the driver. It is bounded: a flood waits until the ledger has caught up.
#[derive(Clone)]
pub(super) struct Reporter {
    inbox: SyncSender<InboxMessage>,
    attempt: AttemptId,
    worked: Arc<Mutex<ActiveTime>>,
    requests: Requests,
}

/// Active time: neither waiting for a person counts, nor time in which this process was stopped and could not supervise. The
/// attempt's watchdog looks at least once per tick.
struct ActiveTime {
    /// Start, shifted by all rests.
    since: Instant,
    /// Start of the current rest.
    rests: Option<Instant>,
    ticks: Ticks,
}

impl ActiveTime {
    fn rests(&mut self, rests: bool, now: Instant) {
        match (rests, self.rests) {
            (true, None) => self.rests = Some(now),
            (false, Some(from)) => {
                self.rests = None;
                // The rest has taken up whatever was missed in it.
                self.ticks = Ticks::from(now);
                // Moves the start instead of adding up pieces, so that `active` stays one subtraction.
                self.since += now.saturating_duration_since(from);
            }
            // The driver says it after every batch, so most calls change nothing.
            (true, Some(_)) | (false, None) => {}
        }
    }

    fn active(&mut self, now: Instant) -> Duration {
        let missed = self.ticks.missed(now);
        // What is missed during a rest is part of the rest.
        if self.rests.is_none() {
            self.since += missed;
        }
        self.rests.unwrap_or(now).saturating_duration_since(self.since)
    }
}

impl Reporter {
    pub(super) fn new(inbox: SyncSender<InboxMessage>, attempt: AttemptId) -> Self {
        let now = Instant::now();
        let worked = ActiveTime { since: now, rests: None, ticks: Ticks::from(now) };
        let requests = Requests::default();
        Self { inbox, attempt, worked: Arc::new(Mutex::new(worked)), requests }
    }

    /// For an attempt of an earlier supervisor: its active time is known and does not grow.
    pub(super) fn of_lost(
        inbox: SyncSender<InboxMessage>,
        attempt: AttemptId,
        worked_ms: u64,
    ) -> Self {
        let since = Instant::now();
        // A rest that never ends: the active time stays at what the earlier supervisor had measured.
        let rests = since.checked_add(Duration::from_millis(worked_ms)).unwrap_or(since);
        let worked = ActiveTime { since, rests: Some(rests), ticks: Ticks::from(since) };
        let (worked, requests) = (Arc::new(Mutex::new(worked)), Requests::default());
        Self { inbox, attempt, worked, requests }
    }

    /// Active milliseconds so far.
    pub(super) fn active_ms(&self) -> u64 {
        let active = self.worked().active(Instant::now());
        u64::try_from(active.as_millis()).unwrap_or(u64::MAX)
    }

    /// Starts or ends a rest, while a person is awaited.
    pub(super) fn rests(&self, rests: bool) {
        self.worked().rests(rests, Instant::now());
    }

    fn worked(&self) -> MutexGuard<'_, ActiveTime> {
        self.worked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a report; if the driver is gone, it is dropped.
    pub(super) fn tell(&self, what: AttemptReport) {
        // Waits while the inbox is full: an agent that prints faster than we decide is slowed down by its pipe. An error means
        // that the driver is gone, and nobody needs the report.
        let _ = self.inbox.send(InboxMessage::Input(Box::new(self.input(what)), None));
    }

    /// Sends a report and waits for the answer; `None` if the driver is gone.
    pub(super) fn ask(&self, what: AttemptReport) -> Option<Answer> {
        self.exchange(self.input(what))
    }

    /// Passes a worker's call on and waits for the answer.
    pub(super) fn signal(&self, request: &str, signal: Signal) -> Option<Answer> {
        // An id that is reused for another call would get the stored answer of the first call.
        if let Err(why) = self.requests.check(self.attempt, request, &signal) {
            return Some(Answer::Refused(why));
        }
        let (attempt, request) = (self.attempt, request.to_owned());
        let by = By { actor: Actor::Worker(attempt), request: Some(request.clone()) };
        let what = What::Command(Command::Signal { attempt, request, signal });
        self.exchange(Input { at: clock::now(), by, what })
    }

    fn exchange(&self, input: Input) -> Option<Answer> {
        let (reply, answer) = sync_channel(1);
        self.inbox.send(InboxMessage::Input(Box::new(input), Some(reply))).ok()?;
        // No time limit: the driver answers or is gone, and then the channel is closed.
        answer.recv().ok()
    }

    fn input(&self, what: AttemptReport) -> Input {
        let active_ms = self.active_ms();
        reported(Report::Attempt { attempt: self.attempt, active_ms, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_person_is_no_work() {
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let mut worked = ActiveTime { since: began, rests: None, ticks: Ticks::from(began) };
        assert_eq!(worked.active(after(5)).as_secs(), 5);
        worked.rests(true, after(5));
        worked.rests(true, after(60));
        assert_eq!(worked.active(after(100)).as_secs(), 5);
        worked.rests(false, after(105));
        worked.rests(false, after(106));
        assert_eq!(worked.active(after(107)).as_secs(), 7);
        worked.rests(true, after(110));
        assert_eq!(worked.active(after(1_000)).as_secs(), 10);
    }

    #[test]
    fn time_in_which_the_supervisor_was_stopped_is_no_work() {
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let mut worked = ActiveTime { since: began, rests: None, ticks: Ticks::from(began) };
        assert_eq!(worked.active(after(2)).as_secs(), 2);
        assert_eq!(worked.active(after(3_602)).as_secs(), 2);
        assert_eq!(worked.active(after(3_604)).as_secs(), 4);
        // Stopped while a person is awaited: not counted twice.
        worked.rests(true, after(3_604));
        assert_eq!(worked.active(after(7_000)).as_secs(), 4);
        worked.rests(false, after(7_100));
        assert_eq!(worked.active(after(7_101)).as_secs(), 5);
    }
}
