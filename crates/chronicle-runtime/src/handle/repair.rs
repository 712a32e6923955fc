//! Damaged ledgers: what is wrong, and continuing from the last trusted line at a person's request. The damaged file is kept.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::base::time::Millis;
use chronicle_core::event::LedgerRepaired;
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::event::record::Line;
use chronicle_core::state::State;
use chronicle_core::words;

use super::telling::{holder, record_in};
use super::{HandleError, witnesses};
use crate::anchor;
use crate::driver::Run;
use crate::effects::Recorder;
use crate::inbox::{self, Asker, asked};
use crate::ledger::{Head, Ledger, LedgerError};
use crate::project::RunFolder;
use crate::secrets;

/// Damage of a ledger.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Damage {
    /// The damage, for people.
    pub why: String,
    /// The line after which the run can continue.
    pub line: u64,
    /// Time of that line.
    pub at: Millis,
    /// Sentences of that line's events.
    pub says: Vec<String>,
    /// Bytes after it, which would be cut off.
    pub bytes: u64,
    /// Lines among them, intact or not.
    pub lines: u64,
    #[serde(skip)]
    head: Option<Head>,
}

/// The result of a repair.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Repaired {
    /// The line after which the run continues.
    pub line: u64,
    /// File that keeps the damaged original; `None` if nothing was cut off.
    pub kept: Option<String>,
}

/// The intact part of a ledger.
struct Read {
    state: State,
    head: Head,
    last: Option<Line>,
    /// The error for the line after the last intact one.
    broken: Option<LedgerError>,
}

/// Damage of a run's ledger; `None` if it is intact.
pub fn damage(folder: &RunFolder) -> Result<Option<Damage>, HandleError> {
    // Listed before the ledger is read: an attempt that begins in between would look like one that the ledger has lost.
    let started = witnesses::started(folder);
    let mut read = read(folder, None)?;
    let why = match read.broken.take() {
        Some(error) => error,
        None => match witnesses::check(folder, read.head)
            .and_then(|()| witnesses::check_started(folder, &started, &read.state))
        {
            Ok(()) => {
                // No line is wrong, so there is none to cut after.
                witnesses::check_name(folder, &read.state)?;
                return Ok(None);
            }
            Err(error) => error,
        },
    };
    // Whole lines that Chronicle did not write have good sums too. Only the anchor knows where they begin.
    if let Some(trusted) = witnesses::before_foreign(folder, read.head) {
        read = self::read(folder, Some(trusted))?;
    }
    let Some(last) = read.last else {
        return Err(HandleError::NothingWhole { run: short(folder), why: why.to_string() });
    };
    let (bytes, lines) = folder.ledger().beyond(&read.head)?;
    Ok(Some(Damage {
        why: why.to_string(),
        line: last.seq,
        at: last.at,
        says: last.events.iter().map(words::sentence).collect(),
        bytes,
        lines,
        head: Some(read.head),
    }))
}

/// Reads up to a line, or as far as the ledger is intact. Lines of a newer Chronicle are not damage and are not cut off.
fn read(folder: &RunFolder, to: Option<Head>) -> Result<Read, HandleError> {
    let mut lines = folder.ledger().read(Head::EMPTY)?;
    let mut read = Read { state: State::default(), head: Head::EMPTY, last: None, broken: None };
    while to.is_none_or(|to| read.head.seq < to.seq) {
        match lines.next() {
            None => break,
            Some(Ok((line, head))) => {
                read.state.apply(&line);
                (read.last, read.head) = (Some(line), head);
            }
            Some(Err(error @ LedgerError::Damaged { .. })) => {
                read.broken = Some(error);
                break;
            }
            // A line of a newer version, or a disk that cannot be read, is no damage: cutting there would destroy a good
            // ledger.
            Some(Err(error)) => return Err(error.into()),
        }
    }
    Ok(read)
}

/// Continues from the line that `damage` named. With `keep`, all intact lines stay, whoever wrote them.
pub fn repair(
    folder: &RunFolder,
    asker: &Asker,
    damage: &Damage,
    keep: bool,
) -> Result<Repaired, HandleError> {
    let ledger = folder.ledger();
    let redactor = secrets::redactor(&folder.project);
    let holder = holder(asker, &redactor);
    let head = match damage.head.filter(|_| !keep) {
        Some(head) => head,
        None => read(folder, None)?.head,
    };
    let bytes = ledger.beyond(&head)?.0;
    // Nothing to cut: the lines are whole, and only the witnesses disagree.
    let kept = if bytes > 0 { Some(ledger.cut_back(&holder, &head)?) } else { None };
    // What remembers the ledger as it was would find it damaged again.
    ledger.forget();
    let _ = std::fs::remove_file(folder.run_json());
    let mut run = Run::open(&ledger, holder, None)?;
    // Attempts after the cut get the same numbers again. Locks and transcripts of the old ones would pass for theirs.
    set_aside(folder, run.state())?;
    anchor::keep(folder, run.head());
    let line = run.state().seq;
    let repaired = LedgerRepaired { why: damage.why.clone(), bytes, file: kept.clone() };
    let world = Recorder::new(folder, run.state());
    let (command, _) = secrets::spoken(&redactor, Command::Repair(repaired));
    let (message, answer) = inbox::asking(asked(&asker.who, command));
    record_in(folder, &mut run, world, vec![message])?;
    match answer.recv() {
        Ok(Answer::Refused(why)) => Err(HandleError::Refused { why }),
        _ => Ok(Repaired { line, kept }),
    }
}

/// Renames leftovers of attempts that the run no longer knows: new attempts will get their numbers.
fn set_aside(folder: &RunFolder, state: &State) -> Result<(), HandleError> {
    let known = state.attempts.len();
    let unknown = |attempt: &AttemptId| usize::try_from(attempt.0).is_ok_and(|it| it > known);
    for attempt in witnesses::started(folder).into_iter().filter(unknown) {
        for path in [folder.keeper(attempt), folder.transcript(attempt)] {
            aside(&path)
                .map_err(|error| LedgerError::io("set aside", path.display().to_string(), error))?;
        }
    }
    Ok(())
}

fn aside(path: &std::path::Path) -> std::io::Result<()> {
    const NAMES_MAX: u32 = 1_000;
    let free = (1..=NAMES_MAX)
        .map(|number| path.with_added_extension(format!("damaged-{number}")))
        // Not `exists`, which follows links: a dangling link would count as free, and the rename would replace it.
        .find(|path| std::fs::symlink_metadata(path).is_err());
    let free = free.ok_or_else(|| std::io::Error::other("too many were set aside already"))?;
    match std::fs::rename(path, free) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn short(folder: &RunFolder) -> String {
    folder.id.short().to_owned()
}
