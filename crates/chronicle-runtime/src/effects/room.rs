//! Attempts that wait for room on this machine, in the order in which they asked. One thread looks for all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::input::{AttemptReport, Input, Report};
use chronicle_core::event::room::RoomLimit;

use super::agent::cannot_start;
use crate::inbox::{InboxMessage, reported};
use crate::room::{self, Bound, Mark, Room};
use crate::threads;

/// How often whoever waits looks whether another run gave room back. Room that this run gives back is seen at once.
const LOOK: Duration = Duration::from_millis(250);
/// How long a run that gave room back leaves it to others that wait: long enough for each of them to look.
const YIELD: Duration = Duration::from_millis(600);
/// How often it is reported that an attempt waits for another limit than before. Two that change places would fill the ledger.
const CHANGES_MAX: u32 = 10;

/// Who works, and who waits.
pub(super) struct Rooms {
    shared: Arc<RoomState>,
}

struct RoomState {
    board: Mutex<RoomBoard>,
    changed: Condvar,
    inbox: SyncSender<InboxMessage>,
}

#[derive(Default)]
struct RoomBoard {
    waiting: Vec<Waiting>,
    /// Room of those who work, or are about to.
    held: BTreeMap<AttemptId, Held>,
    /// Those of them who waited: that they begin is reported by whoever looked for them, after all that was reported of their wait.
    given: BTreeSet<AttemptId>,
    /// What others see of who waits, by the names of limits.
    marks: BTreeMap<String, Mark>,
    /// When this run gave room back that others may want, until it has looked for itself again.
    freed: Option<Instant>,
    /// Set by whatever is a reason to look at once.
    is_news: bool,
    has_thread: bool,
    is_over: bool,
}

/// Somebody who has begun, or is about to.
struct Held {
    bounds: Vec<Bound>,
    /// `None` while it waits for a person, and from then on until there is room again: it goes on without.
    room: Option<Room>,
    /// True while it waits for a person.
    rests: bool,
}

impl Held {
    fn new(bounds: Vec<Bound>, room: Room) -> Self {
        Self { bounds, room: Some(room), rests: false }
    }
}

struct Waiting {
    attempt: AttemptId,
    bounds: Vec<Bound>,
    /// The limit that it waits for.
    lacks: Bound,
    /// How often that was another one than before.
    changes: u32,
}

/// How an attempt stands that wants to begin.
pub(super) enum Standing {
    Has,
    /// It waited and has room, which is on its way to the ledger.
    Given,
    /// It waits, and is the first time that it is said.
    Waits(RoomLimit),
    /// It waits still, as was said before.
    Known,
}

impl Rooms {
    pub(super) fn new(inbox: SyncSender<InboxMessage>) -> Self {
        let (board, changed) = (Mutex::default(), Condvar::new());
        Self { shared: Arc::new(RoomState { board, changed, inbox }) }
    }

    /// Takes room for an attempt, or lets it wait.
    pub(super) fn ask(
        &self,
        attempt: AttemptId,
        bounds: impl FnOnce() -> Vec<Bound>,
    ) -> io::Result<Standing> {
        let mut board = self.shared.lock();
        if board.held.contains_key(&attempt) {
            let is_given = board.given.contains(&attempt);
            return Ok(if is_given { Standing::Given } else { Standing::Has });
        }
        if board.waiting.iter().any(|it| it.attempt == attempt) {
            return Ok(Standing::Known);
        }
        let bounds = bounds();
        let lacks = match board.in_the_way(&bounds)? {
            Some(bound) => bound,
            None => match room::take(&room::folder()?, &bounds)? {
                Ok(room) => {
                    board.held.insert(attempt, Held::new(bounds, room));
                    return Ok(Standing::Has);
                }
                Err(lacks) => lacks,
            },
        };
        // Before anybody counts on it: without the thread nobody would look.
        if !board.has_thread {
            let shared = Arc::clone(&self.shared);
            let no_thread = |error| io::Error::other(format!("no thread to wait for it: {error}"));
            threads::spawn("room", move || shared.watch()).map_err(no_thread)?;
            board.has_thread = true;
        }
        let limit = lacks.limit.clone();
        board.waiting.push(Waiting { attempt, bounds, lacks, changes: 0 });
        board.is_news = true;
        self.shared.changed.notify_one();
        Ok(Standing::Waits(limit))
    }

    /// Gives back the room of all others, and of those who wait for a person: without an answer they would keep everybody from working,
    /// also whoever the person waits for. Lets none of the others wait any longer.
    pub(super) fn keep(
        &self,
        is_live: impl Fn(AttemptId) -> bool,
        rests: impl Fn(AttemptId) -> bool,
    ) {
        let mut board = self.shared.lock();
        let before = board.rooms();
        board.held.retain(|attempt, _| is_live(*attempt));
        board.given.retain(|attempt| is_live(*attempt));
        let (mut gave, mut is_back) = (board.rooms() < before, false);
        for (attempt, held) in &mut board.held {
            let rested = std::mem::replace(&mut held.rests, rests(*attempt));
            if held.rests {
                gave |= held.room.take().is_some();
            } else {
                is_back |= rested;
            }
        }
        if gave || is_back {
            board.take_again();
        }
        if gave {
            board.free();
            board.is_news = true;
        }
        let waiting = board.waiting.len();
        board.waiting.retain(|it| is_live(it.attempt));
        board.is_news |= board.waiting.len() < waiting;
        if board.is_news {
            self.shared.changed.notify_one();
        }
    }

    /// It does not begin any more.
    pub(super) fn forget(&self, attempt: AttemptId) {
        let mut board = self.shared.lock();
        board.given.remove(&attempt);
        if board.held.remove(&attempt).is_some_and(|held| held.room.is_some()) {
            board.take_again();
            board.free();
        }
        board.waiting.retain(|it| it.attempt != attempt);
        board.is_news = true;
        self.shared.changed.notify_one();
    }
}

impl Drop for Rooms {
    fn drop(&mut self) {
        let mut board = self.shared.lock();
        // Now, and not when the thread ends.
        *board = RoomBoard { is_over: true, ..RoomBoard::default() };
        self.shared.changed.notify_one();
    }
}

impl RoomState {
    fn lock(&self) -> MutexGuard<'_, RoomBoard> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for all who wait, until the run is over.
    fn watch(&self) {
        let mut board = self.lock();
        while !board.is_over {
            board.is_news = false;
            let reports = board.look();
            if !reports.is_empty() {
                drop(board);
                for report in reports {
                    // Without the lock: the inbox may be full, and the driver, which alone makes room in it, takes this lock.
                    if self.inbox.send(InboxMessage::Input(Box::new(report), None)).is_err() {
                        return;
                    }
                }
                board = self.lock();
            }
            if board.is_news || board.is_over {
                continue;
            }
            board = if board.waiting.is_empty() {
                self.changed.wait(board).unwrap_or_else(PoisonError::into_inner)
            } else {
                let woken = self.changed.wait_timeout(board, LOOK);
                woken.unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }
}

impl RoomBoard {
    /// The limit that somebody else comes first at: whoever of this run waits for it already, or another run that waits while this one
    /// has just given room back.
    fn in_the_way(&mut self, bounds: &[Bound]) -> io::Result<Option<Bound>> {
        let waits = |bound: &&Bound| self.waiting.iter().any(|it| it.lacks.stem == bound.stem);
        if let Some(bound) = bounds.iter().find(waits) {
            return Ok(Some(bound.clone()));
        }
        self.yields(bounds)
    }

    /// How many have room.
    fn rooms(&self) -> usize {
        self.held.values().filter(|held| held.room.is_some()).count()
    }

    /// Room for those who go on after an answer, before anybody else begins. Where there is none they go on beyond the limit: an agent that
    /// has begun cannot be halted in the middle of its turn.
    fn take_again(&mut self) {
        let lack = self.held.values_mut().filter(|held| !held.rests && held.room.is_none());
        for held in lack {
            // Where it cannot be looked at, it is looked at again with the next room.
            if let Ok(Ok(room)) =
                room::folder().and_then(|folder| room::take(&folder, &held.bounds))
            {
                held.room = Some(room);
            }
        }
    }

    /// Room was given back. A time that has not passed stays: a run whose attempts end all the time would never look for itself.
    fn free(&mut self) {
        let is_over = |freed: Instant| self.waiting.is_empty() && freed.elapsed() >= YIELD;
        if self.freed.is_none_or(is_over) {
            self.freed = Some(Instant::now());
        }
    }

    /// The limit at which another run may look first.
    fn yields(&mut self, bounds: &[Bound]) -> io::Result<Option<Bound>> {
        let Some(freed) = self.freed else { return Ok(None) };
        if freed.elapsed() >= YIELD {
            return Ok(None);
        }
        let folder = room::folder()?;
        for bound in bounds {
            // Its own mark would look like another's.
            self.marks.remove(&bound.stem);
            if room::is_awaited(&folder, bound)? {
                return Ok(Some(bound.clone()));
            }
        }
        Ok(None)
    }

    /// Takes room for whoever waits, the first first. What is to be reported of it.
    fn look(&mut self) -> Vec<Input> {
        let (mut reports, mut full) = (Vec::new(), Vec::new());
        self.take_again();
        for mut waiting in std::mem::take(&mut self.waiting) {
            let attempt = waiting.attempt;
            match self.look_for(&waiting, &mut full) {
                Ok(Ok(room)) => {
                    self.held.insert(attempt, Held::new(waiting.bounds, room));
                    self.given.insert(attempt);
                    reports.push(about(attempt, AttemptReport::RoomTaken));
                    continue;
                }
                Ok(Err(lacks)) if lacks == waiting.lacks => {}
                Ok(Err(lacks)) => {
                    if waiting.changes < CHANGES_MAX {
                        let limit = lacks.limit.clone();
                        reports.push(about(attempt, AttemptReport::RoomAwaited(limit)));
                    }
                    (waiting.lacks, waiting.changes) = (lacks, waiting.changes.saturating_add(1));
                }
                Err(error) => {
                    reports.push(about(attempt, AttemptReport::Ended(*no_room(&error))));
                    continue;
                }
            }
            self.waiting.push(waiting);
        }
        // This run has looked for itself: the next room that it gives back is left to others first again.
        self.freed = self.freed.filter(|freed| freed.elapsed() < YIELD);
        self.mark();
        reports
    }

    fn look_for(
        &mut self,
        waiting: &Waiting,
        full: &mut Vec<String>,
    ) -> io::Result<Result<Room, Bound>> {
        // Nobody before it found any: it need not try all places once more.
        if let Some(bound) = waiting.bounds.iter().find(|bound| full.contains(&bound.stem)) {
            return Ok(Err(bound.clone()));
        }
        let taken = match self.yields(&waiting.bounds)? {
            Some(bound) => Err(bound),
            None => room::take(&room::folder()?, &waiting.bounds)?,
        };
        if let Err(bound) = &taken {
            full.push(bound.stem.clone());
        }
        Ok(taken)
    }

    /// Shows others what this run waits for. Where that fails they do not leave room to it, and it waits longer.
    fn mark(&mut self) {
        let waiting = &self.waiting;
        self.marks.retain(|stem, _| waiting.iter().any(|it| it.lacks.stem == *stem));
        let Ok(folder) = room::folder() else { return };
        for it in &self.waiting {
            if !self.marks.contains_key(&it.lacks.stem)
                && let Ok(Some(mark)) = Mark::set(&folder, &it.lacks)
            {
                self.marks.insert(it.lacks.stem.clone(), mark);
            }
        }
    }
}

/// The end of an attempt for which no room can be taken at all.
pub(super) fn no_room(error: &io::Error) -> Box<chronicle_core::event::input::EndSeen> {
    cannot_start(format!("no room for it on this machine can be taken: {error}"))
}

fn about(attempt: AttemptId, what: AttemptReport) -> Input {
    reported(Report::Attempt { attempt, active_ms: 0, what })
}
