//! Reads runs: status, timeline, and whether the record is intact.

use std::collections::BTreeSet;
use std::time::Duration;

use chronicle_core::event::Event;
use chronicle_core::state::{OWN_FOLDER, Standing, State};
use chronicle_core::view::{self, RunRow, RunView, TimelineEntry};
use chronicle_core::words;

use super::{HandleError, witnesses};
use crate::clock;
use crate::effects;
use crate::ledger::{self, ArtifactId, Head, Holder, Ledger, LedgerError, Lines};
use crate::process::lineage;
use crate::project::RunFolder;

/// The current view of a run, and the error if a newer Chronicle wrote lines that cannot be read.
pub fn view(folder: &RunFolder) -> Result<(RunView, Option<LedgerError>), HandleError> {
    let (state, newer) = read(folder)?;
    let holder = holder(folder);
    let mut view = view::run(&state, holder.is_some()).ok_or_else(|| not_started(folder))?;
    match holder {
        // No time passes for its workers, and nothing else that could be typed would be answered.
        Some(holder) if holder.is_stopped() => {
            view.stopped = Some(holder.pid);
            view.next.insert(0, format!("kill -CONT {}", holder.pid));
        }
        // Only under a live supervisor: without one, no worker's time passes.
        Some(_) => view.pass_until(clock::now()),
        // What was killed has worked longer than its last report says. The ledger gets that time when the run goes on.
        None => view.work(|row| effects::worked_ms(folder, row.attempt)),
    }
    for row in &mut view.folders {
        let path = folder.work(row.number).filter(|path| path.is_dir());
        row.path = path.map(|path| path.display().to_string());
    }
    if let Some(row) = &mut view.apart {
        let path = folder.work(OWN_FOLDER).filter(|path| path.is_dir());
        row.path = path.map(|path| path.display().to_string());
    }
    if let Some(run) = waits_for(folder, &state) {
        view.status = Standing::Waiting;
        view.next = vec![format!("chronicle status {run}")];
        view.waits_for = Some(run);
    }
    Ok((view, newer))
}

/// The run's row in a list.
pub fn row(folder: &RunFolder) -> Result<RunRow, HandleError> {
    let (state, _) = read(folder)?;
    let holder = holder(folder);
    let mut row = view::row(&state, holder.is_some()).ok_or_else(|| not_started(folder))?;
    row.stopped = holder.filter(Holder::is_stopped).map(|holder| holder.pid);
    if let Some(run) = waits_for(folder, &state) {
        row.status = Standing::Waiting;
        row.waits_for = Some(run);
    }
    Ok(row)
}

/// The run that a process waits for before it drives this one.
fn waits_for(folder: &RunFolder, state: &State) -> Option<String> {
    let is_due = !state.is_over() && !is_supervised(folder);
    folder.waits_for().filter(|_| is_due).map(|run| run.short().to_owned())
}

/// True if a supervisor drives the run.
pub fn is_supervised(folder: &RunFolder) -> bool {
    holder(folder).is_some()
}

/// The process that drives the run.
pub fn holder(folder: &RunFolder) -> Option<Holder> {
    folder.ledger().holder()
}

fn not_started(folder: &RunFolder) -> HandleError {
    HandleError::NotStarted { run: folder.id.short().to_owned() }
}

/// How often a record that seems to be wrong is read again.
const LOOKS_MAX: u32 = 8;

/// Whoever only looks holds no lock, so what it reads one after the other may be of several moments while a supervisor comes or goes.
/// What is wrong for good is wrong in the same words twice.
fn settled<T>(look: impl Fn() -> Result<T, HandleError>) -> Result<T, HandleError> {
    let mut found = look();
    for _ in 0..LOOKS_MAX {
        let Err(error) = &found else { break };
        let told = error.to_string();
        found = look();
        if found.as_ref().is_err_and(|error| error.to_string() == told) {
            break;
        }
    }
    found
}

pub(super) fn read(folder: &RunFolder) -> Result<(State, Option<LedgerError>), HandleError> {
    settled(|| read_once(folder))
}

fn read_once(folder: &RunFolder) -> Result<(State, Option<LedgerError>), HandleError> {
    let cached = cached(folder)?;
    let is_cached = cached.is_some();
    let (from, mut state) = cached.unwrap_or((Head::EMPTY, State::default()));
    let mut head = from;
    for next in folder.ledger().read(from)? {
        match next {
            Ok((line, after)) => {
                state.apply(&line);
                head = after;
            }
            // Not an error for whoever only looks: what is understood so far is shown, and the caller says that there is more.
            // The witnesses know of later lines, so they are not heard here.
            Err(newer @ (LedgerError::UnknownKind { .. } | LedgerError::NewerVersion { .. })) => {
                witnesses::check_name(folder, &state)?;
                return Ok((state, Some(newer)));
            }
            Err(error) => return Err(error.into()),
        }
    }
    // A cache that was used is a witness that was heard: the ledger has its line, as `cached` made sure.
    if is_cached {
        witnesses::check_anchor(folder, head)?;
    } else {
        witnesses::check(folder, head)?;
    }
    witnesses::check_name(folder, &state)?;
    Ok((state, None))
}

/// The cache saves parsing the lines. Their sums are verified anyway: otherwise a damaged ledger would be noticed only when the
/// run is resumed.
fn cached(folder: &RunFolder) -> Result<Option<(Head, State)>, LedgerError> {
    let Some((head, state)) = ledger::load(&folder.ledger()) else { return Ok(None) };
    // The cache says what the lines mean, not that they are still there. Checking sums is much cheaper than folding.
    folder.ledger().check_up_to(&head)?;
    Ok(Some((head, state)))
}

/// Most entries of one poll.
const POLL_MAX: usize = 1_000;

/// The timeline of a run from its first line, and then as it happens.
pub fn follow(folder: &RunFolder) -> Follow {
    Follow { lines: None, folder: folder.clone() }
}

/// Reads a run's timeline and continues as it grows.
pub struct Follow {
    /// `None` until the first poll.
    lines: Option<Box<dyn Lines>>,
    folder: RunFolder,
}

impl Follow {
    /// New entries since the last call, up to a limit. Empty if there are none.
    pub fn poll(&mut self) -> Result<Vec<TimelineEntry>, HandleError> {
        let lines = match &mut self.lines {
            Some(lines) => lines,
            none => none.insert(self.folder.ledger().read(Head::EMPTY)?),
        };
        let mut entries = Vec::new();
        // Restarts the reader, which ended at the last line of the poll before. It does not wait.
        lines.wait(Duration::ZERO)?;
        while entries.len() < POLL_MAX
            && let Some(next) = lines.next()
        {
            entries.extend(view::timeline(&next?.0));
        }
        Ok(entries)
    }

    /// True if a supervisor drives the run, so that more may come.
    pub fn is_supervised(&self) -> bool {
        is_supervised(&self.folder)
    }
}

/// Results of `chronicle audit`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Audit {
    /// Intact lines, each chained to the one before it.
    pub lines: u64,
    /// Number of events in those lines.
    pub events: u64,
    /// Size of the intact part of the ledger.
    pub bytes: u64,
    /// Sum of the last line: somebody who keeps it elsewhere can later verify that nothing before it changed.
    pub head: String,
    /// Status according to the fold of all lines.
    pub status: chronicle_core::state::Status,
    /// Live processes of this run although no supervisor drives it.
    pub orphans: Vec<u32>,
    /// Attempts without an end although no supervisor drives the run: the next resume reports them lost.
    pub open_attempts: Vec<String>,
    /// Artifacts that lines refer to and that are missing or changed.
    pub lost_artifacts: Vec<String>,
    /// Events that cannot have happened, in words: a defect, or a line that Chronicle did not write.
    pub impossible: Vec<String>,
    /// Number of tool calls that agents made without asking for permission. They prove nothing.
    pub unasked_calls: u64,
    /// True if a supervisor drives the run.
    pub supervised: bool,
    /// True if the run worked apart, and its work is neither merged nor dropped.
    pub unmerged: bool,
}

/// Reads the whole ledger without its cache and checks everything.
pub fn audit(folder: &RunFolder) -> Result<Audit, HandleError> {
    settled(|| audit_once(folder))
}

fn audit_once(folder: &RunFolder) -> Result<Audit, HandleError> {
    // Keepers' locks are listed before the ledger is read: an attempt that starts in between is then no contradiction.
    let (ledger, started) = (folder.ledger(), witnesses::started(folder));
    let (mut state, mut head, mut events) = (State::default(), Head::EMPTY, 0u64);
    let (mut named, mut unasked_calls) = (BTreeSet::new(), 0u64);
    for next in ledger.read(Head::EMPTY)? {
        let (line, after) = next?;
        events += line.events.len() as u64;
        named.extend(line.events.iter().flat_map(artifacts));
        // A text that the line itself holds cannot be lost: whoever opens the ledger next lays its file out again.
        for text in &line.texts {
            named.remove(&ArtifactId::of(text.as_bytes()).to_string());
        }
        unasked_calls += line.events.iter().filter(|event| is_unasked(event)).count() as u64;
        state.apply(&line);
        head = after;
    }
    witnesses::check(folder, head)?;
    witnesses::check_started(folder, &started, &state)?;
    witnesses::check_name(folder, &state)?;
    if state.run.is_none() {
        return Err(not_started(folder));
    }
    let supervised = is_supervised(folder);
    // Under a live supervisor processes with the cookie are its workers.
    let orphans = if supervised { Vec::new() } else { orphans(folder, &state) };
    let open = state.live.iter().filter(|_| !supervised).map(ToString::to_string);
    // A name that is no sum cannot be looked up, so what it stands for is lost as well.
    let is_lost = |sum: &String| sum.parse().map_or(true, |id| ledger.artifact(&id).is_err());
    Ok(Audit {
        lost_artifacts: named.into_iter().filter(is_lost).collect(),
        lines: head.seq,
        events,
        bytes: ledger.bytes(&head),
        head: head.sum.to_string(),
        status: state.status(),
        impossible: state.anomalies.iter().map(words::impossible).collect(),
        orphans,
        open_attempts: open.collect(),
        unasked_calls,
        supervised,
        unmerged: state.apart.as_ref().is_some_and(|apart| apart.is_unmerged()),
    })
}

fn is_unasked(event: &Event) -> bool {
    matches!(event, Event::ToolCalled(called) if called.unasked)
}

/// The texts that an event names.
fn artifacts(event: &Event) -> impl Iterator<Item = String> {
    let handed = match event {
        Event::AttemptStarted(intent) => intent.handover.clone(),
        Event::AttemptRewalled(rewalled) => rewalled.handover.clone(),
        _ => None,
    };
    handed.into_iter().flat_map(|handed| std::iter::once(handed.text).chain(handed.rest))
}

fn orphans(folder: &RunFolder, state: &State) -> Vec<u32> {
    let cookies = folder.cookies();
    let ids = state.attempts.iter().map(|attempt| attempt.intent.attempt);
    let cookies: BTreeSet<String> = ids.map(|id| cookies.cookie(id)).collect();
    lineage::bearing(|cookie| cookies.contains(cookie))
}

/// Live processes with a cookie of this run but of another folder: a copy of the run is active. They are not killed from here.
pub fn elsewhere(folder: &RunFolder) -> Vec<u32> {
    let cookies = folder.cookies();
    lineage::bearing(|cookie| cookies.is_elsewhere(cookie))
}
