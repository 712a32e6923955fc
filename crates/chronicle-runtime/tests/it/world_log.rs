//! Writes down in which order a driver appends, syncs, shows, answers and performs; and a hand in it at any moment.

use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chronicle_core::event::input::{Answer, Input};
use chronicle_core::event::record::Line;
use chronicle_core::state::State;
use chronicle_runtime::for_tests::driver::{InboxMessage, Watch};
use chronicle_runtime::for_tests::ledger::{
    ArtifactId, Head, Holder, Ledger, LedgerClaim, LedgerError, Lines, Torn, Writer,
};

type Hand = Box<dyn FnMut(&str) + Send>;

/// What happened, in order. All clones are one.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Book>>);

#[derive(Default)]
struct Book {
    entries: Vec<String>,
    /// Who waits for an answer.
    pending: Vec<(String, Receiver<Answer>)>,
    hand: Option<Hand>,
}

impl Log {
    /// A message whose answer is written down as soon as anything else is.
    pub(crate) fn asked(&self, name: &str, input: Input) -> InboxMessage {
        let (reply, answer) = sync_channel(1);
        self.book().pending.push((name.to_owned(), answer));
        InboxMessage::Input(Box::new(input), Some(reply))
    }

    /// Calls this before each `append` and `sync`, and after each `show` and `perform`.
    pub(crate) fn interfere(&self, hand: impl FnMut(&str) + Send + 'static) {
        self.book().hand = Some(Box::new(hand));
    }

    pub(crate) fn note(&self, text: &str) {
        self.write(text.to_owned());
        self.before(text);
    }

    fn before(&self, text: &str) {
        let hand = self.book().hand.take();
        if let Some(mut hand) = hand {
            hand(text);
            self.book().hand.get_or_insert(hand);
        }
    }

    fn write(&self, text: String) {
        let mut book = self.book();
        book.poll();
        book.entries.push(text);
    }

    /// Looks for the last answers.
    pub(crate) fn settle(&self) {
        self.book().poll();
    }

    pub(crate) fn entries(&self) -> Vec<String> {
        self.book().entries.clone()
    }

    pub(crate) fn text(&self) -> String {
        let entries = self.entries().join("\n");
        if entries.is_empty() { entries } else { entries + "\n" }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn poll(&mut self) {
        let entries = &mut self.entries;
        self.pending.retain(|(name, answer)| match answer.try_recv() {
            Ok(answer) => {
                entries.push(format!("answer {name}: {answer:?}"));
                false
            }
            Err(TryRecvError::Disconnected) => {
                entries.push(format!("unanswered {name}"));
                false
            }
            Err(TryRecvError::Empty) => true,
        });
    }
}

/// Writes down what is shown.
pub(crate) struct Recorder(pub(crate) Log);

impl Watch for Recorder {
    fn shown(&mut self, _: &State, head: Head, lines: &[Line]) {
        let seqs: Vec<String> = lines.iter().map(|line| line.seq.to_string()).collect();
        let last = lines.last().map(|line| line.seq);
        assert_eq!(last, Some(head.seq), "the head is that of the last line shown");
        self.0.note(&format!("show {}", seqs.join(" ")));
    }

    fn quiet(&mut self, state: &State, head: Head) {
        assert_eq!(state.seq, head.seq);
        self.0.write(format!("quiet {}", head.seq));
    }
}

/// A ledger that writes down what is done to it.
pub(crate) struct Recorded<L: Ledger> {
    pub(crate) ledger: L,
    pub(crate) log: Log,
}

impl<L: Ledger> Ledger for Recorded<L> {
    fn claim(&self, who: Holder) -> Result<Box<dyn LedgerClaim>, LedgerError> {
        let claim = self.ledger.claim(who)?;
        Ok(Box::new(RecordedClaim { claim, log: self.log.clone() }))
    }

    fn holder(&self) -> Option<Holder> {
        self.ledger.holder()
    }

    fn force(&self) -> Result<(), LedgerError> {
        self.ledger.force()
    }

    fn read(&self, from: Head) -> Result<Box<dyn Lines>, LedgerError> {
        self.ledger.read(from)
    }

    fn artifact(&self, id: &ArtifactId) -> Result<Vec<u8>, LedgerError> {
        self.ledger.artifact(id)
    }
}

struct RecordedClaim {
    claim: Box<dyn LedgerClaim>,
    log: Log,
}

impl LedgerClaim for RecordedClaim {
    fn epoch(&self) -> u64 {
        self.claim.epoch()
    }

    fn read(&self, from: Head) -> Result<Box<dyn Lines>, LedgerError> {
        self.claim.read(from)
    }

    fn lay_out(&self, text: &str) -> Result<(), LedgerError> {
        self.claim.lay_out(text)
    }

    fn writer(self: Box<Self>, at: Head) -> Result<Box<dyn Writer>, LedgerError> {
        let writer = self.claim.writer(at)?;
        Ok(Box::new(RecordedWriter { writer, log: self.log }))
    }
}

struct RecordedWriter {
    writer: Box<dyn Writer>,
    log: Log,
}

impl RecordedWriter {
    fn record<T>(
        &mut self,
        what: String,
        act: impl FnOnce(&mut dyn Writer) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.log.before(&what);
        let done = act(self.writer.as_mut());
        self.log.write(if done.is_ok() { what } else { format!("failed {what}") });
        done
    }
}

impl Writer for RecordedWriter {
    fn epoch(&self) -> u64 {
        self.writer.epoch()
    }

    fn head(&self) -> Head {
        self.writer.head()
    }

    fn append(&mut self, expected_seq: u64, line: &Line) -> Result<Head, LedgerError> {
        self.record(format!("append {}", line.seq), |writer| writer.append(expected_seq, line))
    }

    fn sync(&mut self) -> Result<(), LedgerError> {
        self.record("sync".to_owned(), |writer| writer.sync())
    }

    fn heartbeat(&mut self) -> Result<(), LedgerError> {
        self.writer.heartbeat()
    }

    fn torn(&self) -> Option<&Torn> {
        self.writer.torn()
    }

    fn put_artifact(&mut self, body: &[u8]) -> Result<ArtifactId, LedgerError> {
        let kept = self.writer.put_artifact(body);
        if kept.is_err() {
            self.log.write("failed to keep an artifact".to_owned());
        }
        kept
    }
}
