//! A ledger in a table, as a database would store it: rows keyed by run and number, one row per run for the fencing epoch, and
//! artifacts by their sum. It shares no code with the ledger in a folder: what both do is the contract, not an accident of
//! one implementation.
//!
//! A writer buffers its lines until `sync`, which is one transaction. The connection can be lost before a transaction, or after
//! the commit and before its acknowledgement.

mod database;
mod lines;
mod writer;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chronicle_runtime::for_tests::ledger::{
    ArtifactId, Head, Holder, LOCK_PATIENCE, Ledger, LedgerClaim, LedgerError, Lines, text_in,
};

use self::database::{Database, Trouble};
use self::lines::TableLines;
use self::writer::{TableClaim, TableSession};

/// One run in a table. All clones are one.
#[derive(Debug, Clone)]
pub struct Table {
    shared: Arc<TableStore>,
    run: Arc<str>,
    patience: Duration,
}

#[derive(Debug, Default)]
struct TableStore {
    database: Mutex<Database>,
    /// Notified after every change, like `LISTEN` in a database.
    changed: Condvar,
}

impl Table {
    /// A table with that run, which has no rows yet.
    pub fn with_run(run: &str) -> Self {
        let table = Self { shared: Arc::default(), run: Arc::from(run), patience: LOCK_PATIENCE };
        table.database().add_run(run);
        table
    }

    /// Another run in the same table.
    #[must_use]
    pub fn and_run(&self, run: &str) -> Self {
        self.database().add_run(run);
        Self { run: Arc::from(run), ..self.clone() }
    }

    /// Waits that long for a holder, instead of `LOCK_PATIENCE`.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Fails a writer's next statements before they take effect.
    pub fn lose_connection(&self, statements: u32) {
        self.trouble(|trouble| trouble.unreachable = statements);
    }

    /// Loses the acknowledgement of a writer's next transactions: they are committed all the same.
    pub fn lose_answers(&self, transactions: u32) {
        self.trouble(|trouble| trouble.unanswered = transactions);
    }

    /// Lets every transaction fail for good.
    pub fn fail_commits(&self) {
        self.trouble(|trouble| trouble.is_broken = true);
    }

    /// Leaves room for nothing more.
    pub fn fill(&self) {
        self.trouble(|trouble| trouble.is_full = true);
    }

    /// Makes every later write fail.
    pub fn make_read_only(&self) {
        self.trouble(|trouble| trouble.is_read_only = true);
    }

    /// Lets everything work again.
    pub fn mend(&self) {
        self.trouble(|trouble| *trouble = Trouble::default());
    }

    /// Ends every connection, as a crash of the server does: locks are gone, and so is what was not committed.
    pub fn crash(&self) {
        self.change(Database::end_connections);
    }

    /// Takes the run away.
    pub fn remove(&self) {
        self.change(|database| database.remove_run(&self.run));
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.database().last(&self.run)
    }

    /// The text of a row.
    pub fn text(&self, seq: u64) -> Option<String> {
        self.database().text(&self.run, seq)
    }

    /// Changes the text of a row behind everybody's back. Its sum stays.
    pub fn overwrite(&self, seq: u64, text: &str) {
        self.change(|database| database.overwrite(&self.run, seq, text));
    }

    /// Adds a row behind everybody's back, with the right sum, whatever it says.
    pub fn push(&self, text: &str) {
        self.change(|database| database.push(&self.run, text));
    }

    /// Takes a row away behind everybody's back.
    pub fn delete(&self, seq: u64) {
        self.change(|database| database.delete(&self.run, seq));
    }

    /// Changes a body behind everybody's back. Its name stays.
    pub fn overwrite_body(&self, id: &ArtifactId, body: &[u8]) {
        self.change(|database| database.put_body(&self.run, *id, body));
    }

    fn trouble(&self, change: impl FnOnce(&mut Trouble)) {
        change(&mut self.database().trouble);
    }

    fn database(&self) -> MutexGuard<'_, Database> {
        self.shared.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Database) -> T) -> T {
        let done = change(&mut self.database());
        // A claim that waits for the lock, or a reader that waits for a row, looks again.
        self.shared.changed.notify_all();
        done
    }

    /// Repeats a query after every change until it has a result. `None` on timeout.
    fn ask_until<T>(
        &self,
        most: Duration,
        mut ask: impl FnMut(&mut Database) -> Result<Option<T>, LedgerError>,
    ) -> Result<Option<T>, LedgerError> {
        let start = Instant::now();
        let mut database = self.database();
        loop {
            if let Some(answer) = ask(&mut database)? {
                return Ok(Some(answer));
            }
            let left = most.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            let waited = self.shared.changed.wait_timeout(database, left);
            database = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Ledger for Table {
    fn claim(&self, who: Holder) -> Result<Box<dyn LedgerClaim>, LedgerError> {
        let epoch = self.ask_until(self.patience, |database| database.claim(&self.run, &who))?;
        match epoch {
            Some(epoch) => Ok(Box::new(TableClaim::new(TableSession::new(self.clone(), epoch)))),
            None => Err(LedgerError::Held {
                place: place(&self.run),
                holder: self.holder().map(Box::new),
            }),
        }
    }

    fn holder(&self) -> Option<Holder> {
        self.database().holder(&self.run)
    }

    fn force(&self) -> Result<(), LedgerError> {
        self.change(|database| database.force(&self.run))
    }

    fn read(&self, from: Head) -> Result<Box<dyn Lines>, LedgerError> {
        self.database().check_head(&self.run, &from)?;
        Ok(Box::new(TableLines::new(self.clone(), from)))
    }

    fn artifact(&self, id: &ArtifactId) -> Result<Vec<u8>, LedgerError> {
        let kept = self.database().body(&self.run, id);
        kept.or_else(|error| text_in(self.read(Head::EMPTY)?, id).ok_or(error))
    }
}

fn place(run: &str) -> String {
    format!("table/{run}")
}
