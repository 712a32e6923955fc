//! The tables, and what one statement or transaction does to them.

use std::collections::BTreeMap;
use std::io;

use chronicle_runtime::for_tests::ledger::{ArtifactId, Cursor, Head, Holder, LedgerError, Sum};

use super::place;

/// What shall go wrong.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    pub(super) unreachable: u32,
    pub(super) unanswered: u32,
    pub(super) is_broken: bool,
    pub(super) is_full: bool,
    pub(super) is_read_only: bool,
}

#[derive(Debug, Default)]
pub(super) struct Database {
    runs: BTreeMap<String, WriterTurn>,
    rows: BTreeMap<(String, u64), LineRow>,
    bodies: BTreeMap<(String, ArtifactId), Vec<u8>>,
    pub(super) trouble: Trouble,
}

/// Who may write a run. Statements with another epoch are refused.
#[derive(Debug, Default)]
struct WriterTurn {
    epoch: u64,
    holder: Option<Holder>,
}

/// A row of the table: one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineRow {
    pub(super) epoch: u64,
    pub(super) sum: Sum,
    pub(super) text: String,
}

impl Database {
    pub(super) fn add_run(&mut self, run: &str) {
        self.runs.entry(run.to_owned()).or_default();
    }

    pub(super) fn remove_run(&mut self, run: &str) {
        self.runs.remove(run);
        self.rows.retain(|(of, _), _| of != run);
        self.bodies.retain(|(of, _), _| of != run);
    }

    pub(super) fn end_connections(&mut self) {
        self.runs.values_mut().for_each(|turn| turn.holder = None);
    }

    /// The next epoch; none while somebody else holds the run.
    pub(super) fn claim(&mut self, run: &str, who: &Holder) -> Result<Option<u64>, LedgerError> {
        self.turn(run)?;
        self.check_writable(run, "claim")?;
        let turn = self.runs.entry(run.to_owned()).or_default();
        if turn.holder.is_some() {
            return Ok(None);
        }
        // Never used twice: what an earlier holder still sends is refused by its number, even if nobody holds the run.
        turn.epoch += 1;
        turn.holder = Some(who.clone());
        Ok(Some(turn.epoch))
    }

    pub(super) fn release(&mut self, run: &str, epoch: u64) {
        // A writer that was forced out must not release what its successor holds.
        if let Some(turn) = self.runs.get_mut(run).filter(|turn| turn.epoch == epoch) {
            turn.holder = None;
        }
    }

    pub(super) fn holder(&self, run: &str) -> Option<Holder> {
        self.runs.get(run)?.holder.clone()
    }

    pub(super) fn force(&mut self, run: &str) -> Result<(), LedgerError> {
        self.turn(run)?;
        self.runs.entry(run.to_owned()).or_default().holder = None;
        Ok(())
    }

    fn turn(&self, run: &str) -> Result<&WriterTurn, LedgerError> {
        let what = || format!("run `{run}` in the table");
        self.runs.get(run).ok_or_else(|| LedgerError::Missing { what: what() })
    }

    pub(super) fn check_turn(&self, run: &str, epoch: u64) -> Result<(), LedgerError> {
        let turn = self.turn(run)?;
        let is_ours = turn.epoch == epoch && turn.holder.is_some();
        if is_ours { Ok(()) } else { Err(LedgerError::Fenced { place: place(run) }) }
    }

    /// The first part of every statement of a writer.
    pub(super) fn reach(&mut self, run: &str, epoch: u64) -> Result<(), LedgerError> {
        if self.trouble.unreachable > 0 {
            self.trouble.unreachable -= 1;
            return Err(unavailable(run, "the connection was lost"));
        }
        self.check_turn(run, epoch)
    }

    /// One transaction: all of these rows or none.
    pub(super) fn commit(&mut self, run: &str, rows: &[(u64, LineRow)]) -> Result<(), LedgerError> {
        let (Some((first, _)), Some((last, _))) = (rows.first(), rows.last()) else {
            return Ok(());
        };
        self.check_writable(run, "commit to")?;
        let found = self.last(run);
        // A repeated commit finds some or all of its rows there. A gap, or rows beyond, are not its own work.
        if found + 1 < *first || found > *last {
            let why = format!("it has {found} rows, and rows {first} to {last} are to be added");
            return Err(LedgerError::Conflict { place: place(run), why });
        }
        for (seq, row) in rows {
            // Equal rows are our own: only the acknowledgement was lost.
            if self.row(run, *seq).is_some_and(|kept| kept != row) {
                let why = format!("row {seq} is somebody else's");
                return Err(LedgerError::Conflict { place: place(run), why });
            }
        }
        for (seq, row) in rows {
            self.rows.insert((run.to_owned(), *seq), row.clone());
        }
        self.answer(run)
    }

    pub(super) fn keep_body(&mut self, run: &str, body: &[u8]) -> Result<ArtifactId, LedgerError> {
        self.check_writable(run, "keep an artifact of")?;
        let id = ArtifactId::of(body);
        self.put_body(run, id, body);
        self.answer(run).map(|()| id)
    }

    pub(super) fn put_body(&mut self, run: &str, id: ArtifactId, body: &[u8]) {
        self.bodies.insert((run.to_owned(), id), body.to_owned());
    }

    pub(super) fn body(&self, run: &str, id: &ArtifactId) -> Result<Vec<u8>, LedgerError> {
        let wrong = |why| LedgerError::Artifact { place: place(run), id: *id, why };
        let body = self.bodies.get(&(run.to_owned(), *id)).ok_or_else(|| wrong("is not there"))?;
        let is_it = ArtifactId::of(body) == *id;
        if is_it { Ok(body.clone()) } else { Err(wrong("is damaged: its sum is another")) }
    }

    fn answer(&mut self, run: &str) -> Result<(), LedgerError> {
        if self.trouble.unanswered == 0 {
            return Ok(());
        }
        self.trouble.unanswered -= 1;
        Err(unavailable(run, "the connection was lost before the answer"))
    }

    fn check_writable(&self, run: &str, doing: &'static str) -> Result<(), LedgerError> {
        let Trouble { is_broken, is_full, is_read_only, .. } = self.trouble;
        let refused = match (is_read_only, is_full, is_broken) {
            (true, ..) => io::Error::from(io::ErrorKind::PermissionDenied),
            (_, true, _) => io::ErrorKind::StorageFull.into(),
            (.., true) => io::Error::other("the transaction was rolled back"),
            _ => return Ok(()),
        };
        Err(LedgerError::io(doing, place(run), refused))
    }

    pub(super) fn row(&self, run: &str, seq: u64) -> Option<&LineRow> {
        self.rows.get(&(run.to_owned(), seq))
    }

    pub(super) fn last(&self, run: &str) -> u64 {
        let all = (run.to_owned(), 0)..=(run.to_owned(), u64::MAX);
        self.rows.range(all).next_back().map_or(0, |((_, seq), _)| *seq)
    }

    /// Whether the run is there, and has the row that a reader stands at.
    pub(super) fn check_head(&self, run: &str, head: &Head) -> Result<(), LedgerError> {
        self.turn(run)?;
        let stands = match self.row(run, head.seq) {
            Some(row) => row.sum == head.sum && head.at == Cursor::of_backend(head.seq),
            None => *head == Head::EMPTY,
        };
        let why = || format!("it has no such row {}", head.seq);
        if stands { Ok(()) } else { Err(LedgerError::Conflict { place: place(run), why: why() }) }
    }

    pub(super) fn text(&self, run: &str, seq: u64) -> Option<String> {
        self.row(run, seq).map(|row| row.text.clone())
    }

    pub(super) fn overwrite(&mut self, run: &str, seq: u64, text: &str) {
        if let Some(row) = self.rows.get_mut(&(run.to_owned(), seq)) {
            text.clone_into(&mut row.text);
        }
    }

    pub(super) fn push(&mut self, run: &str, text: &str) {
        let last = self.last(run);
        let sum = self.row(run, last).map_or(Sum::ZERO, |row| row.sum).then(text.as_bytes());
        let row = LineRow { epoch: 0, sum, text: text.to_owned() };
        self.rows.insert((run.to_owned(), last + 1), row);
    }

    pub(super) fn delete(&mut self, run: &str, seq: u64) {
        self.rows.remove(&(run.to_owned(), seq));
    }
}

fn unavailable(run: &str, what: &str) -> LedgerError {
    LedgerError::Unavailable { place: place(run), what: what.to_owned() }
}
