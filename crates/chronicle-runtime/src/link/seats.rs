//! Connected clients, and which of them is disconnected when there is no room for another.
//!
//! A person's command must get through however many connections are open. So workers and watchers have limits of their own that
//! leave room, and among the others the one that was silent for longest is disconnected.

use std::collections::BTreeMap;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most clients at once.
const CLIENTS_MAX: usize = 64;
/// Most of them that are workers.
const WORKERS_MAX: usize = 32;
/// Most of them that watch.
const WATCHERS_MAX: usize = 16;

/// What a client is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It has not sent anything, or has its answer.
    Idle,
    /// It waits for an answer.
    Asking,
    /// It belongs to a worker.
    Worker,
    /// It receives updates and asks nothing more.
    Watching,
}

/// The table of all clients.
#[derive(Default)]
pub(super) struct Seats {
    taken: Mutex<TakenSeats>,
}

#[derive(Default)]
struct TakenSeats {
    /// Counts events, so that the longest silence is known without a clock.
    count: u64,
    clients: BTreeMap<u64, SeatedClient>,
}

struct SeatedClient {
    stream: UnixStream,
    is_for: Use,
    /// The count when it last sent something.
    heard: u64,
}

/// A place for one client, until it is dropped.
pub(super) struct Seat {
    seats: Arc<Seats>,
    id: u64,
}

impl Seats {
    /// A place for a client; `None` if all others are busy.
    pub(super) fn take(self: &Arc<Self>, stream: &UnixStream) -> io::Result<Option<Seat>> {
        // A second handle on the same connection, so that the listening thread can close it to make room.
        let stream = stream.try_clone()?;
        let mut taken = self.taken();
        // Only idle clients are disconnected: one that waits for an answer or watches has something to lose.
        if taken.clients.len() >= CLIENTS_MAX && !taken.make_room() {
            return Ok(None);
        }
        taken.count += 1;
        let id = taken.count;
        taken.clients.insert(id, SeatedClient { stream, is_for: Use::Idle, heard: id });
        Ok(Some(Seat { seats: Arc::clone(self), id }))
    }

    fn taken(&self) -> MutexGuard<'_, TakenSeats> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TakenSeats {
    /// Disconnects the client that was idle for longest.
    fn make_room(&mut self) -> bool {
        let idle = self.clients.iter().filter(|(_, client)| client.is_for == Use::Idle);
        // By when it was last heard, not by when it came: a connection that is used again and again must not be the one to go.
        let Some(id) = idle.min_by_key(|(_, client)| client.heard).map(|(id, _)| *id) else {
            return false;
        };
        if let Some(client) = self.clients.remove(&id) {
            // Its thread reads the end of the stream and exits.
            let _ = client.stream.shutdown(Shutdown::Both);
        }
        true
    }
}

impl Seat {
    /// Notes what the client does now. False if there is no room for that, or if it was just disconnected.
    pub(super) fn is_for(&self, wanted: Use) -> bool {
        let mut taken = self.seats.taken();
        let most = match wanted {
            Use::Idle | Use::Asking => CLIENTS_MAX,
            Use::Worker => WORKERS_MAX,
            Use::Watching => WATCHERS_MAX,
        };
        // Counted without this client: one that already watches must not be refused its own place.
        let others = taken.clients.iter().filter(|(id, _)| **id != self.id);
        let has_room = others.filter(|(_, client)| client.is_for == wanted).count() < most;
        taken.count += 1;
        let count = taken.count;
        // It may have been disconnected to make room since its last request: then it has no seat, whatever it wants.
        match taken.clients.get_mut(&self.id).filter(|_| has_room) {
            None => false,
            Some(client) => {
                (client.is_for, client.heard) = (wanted, count);
                true
            }
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.taken().clients.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    struct Room {
        seats: Arc<Seats>,
        ends: Vec<UnixStream>,
    }

    impl Room {
        fn new() -> Self {
            Self { seats: Arc::default(), ends: Vec::new() }
        }

        fn come(&mut self) -> Option<Seat> {
            let (ours, theirs) = UnixStream::pair().unwrap();
            self.ends.push(theirs);
            self.seats.take(&ours).unwrap()
        }

        /// Clients that were disconnected. All others have nothing to read and would block.
        fn gone(&self) -> Vec<usize> {
            let is_gone = |end: &UnixStream| {
                end.set_nonblocking(true).unwrap();
                matches!((&mut &*end).read(&mut [0]), Ok(0))
            };
            (0..self.ends.len()).filter(|index| is_gone(&self.ends[*index])).collect()
        }
    }

    #[test]
    fn whoever_was_silent_for_longest_makes_way() {
        let mut room = Room::new();
        let seats: Vec<Seat> = (0..CLIENTS_MAX).map(|_| room.come().unwrap()).collect();
        assert_eq!(room.gone(), [0; 0]);
        // The first two speak again, so that the third was silent for longest.
        assert!(seats[0].is_for(Use::Asking) && seats[1].is_for(Use::Idle));
        let new = room.come().unwrap();
        assert_eq!(room.gone(), [2]);
        assert!(!seats[2].is_for(Use::Asking), "what it asked for meanwhile is not done");
        assert!(new.is_for(Use::Asking) && seats[3].is_for(Use::Idle));
        drop(room.come().unwrap());
        assert_eq!(room.gone(), [2, 4, CLIENTS_MAX + 1]);
    }

    #[test]
    fn the_busy_stay_and_leave_room_for_a_person() {
        let mut room = Room::new();
        let workers: Vec<Seat> = (0..WORKERS_MAX).map(|_| room.come().unwrap()).collect();
        assert!(workers.iter().all(|seat| seat.is_for(Use::Worker)));
        let watchers: Vec<Seat> = (0..WATCHERS_MAX).map(|_| room.come().unwrap()).collect();
        assert!(watchers.iter().all(|seat| seat.is_for(Use::Watching)));
        let one_more = room.come().unwrap();
        assert!(!one_more.is_for(Use::Worker) && !one_more.is_for(Use::Watching));
        for _ in 0..CLIENTS_MAX {
            let person = room.come().unwrap();
            assert!(person.is_for(Use::Asking), "there is always room to ask");
        }
        let asking: Vec<Seat> = (0..CLIENTS_MAX - WORKERS_MAX - WATCHERS_MAX)
            .map(|_| room.come().unwrap())
            .inspect(|seat| assert!(seat.is_for(Use::Asking)))
            .collect();
        assert!(room.come().is_none(), "nobody is hung up on in the middle of an answer");
        assert!(asking[0].is_for(Use::Idle));
        assert!(room.come().is_some());
    }
}
