//! The steps of pools in `status`: a row each, those that need somebody first, and the rest in one line.

use std::path::PathBuf;

use chronicle_core::base::cells::pad;
use chronicle_core::base::ids::Place;
use chronicle_core::view::{AttemptRow, FolderRow, PhaseRow, PoolRow, RaceRow, RunView, StepRow};
use chronicle_core::words;

use super::status::spent;
use crate::terminal::{Ink, Paint};

/// Most rows of steps at work: a pool has up to 64 slots.
const BUSY_MAX: usize = 64;
/// Most rows of steps that wait for a person or failed.
const ROWS_MAX: usize = 12;
/// Most work folders that are shown.
const FOLDERS_MAX: usize = 16;
/// Most ids in the lines of steps that wait or are done.
const IDS_MAX: usize = 12;
/// Cells of a step's place in its row.
const PLACE: usize = 24;

/// True if the steps of a pool show the phase: its own row would be one of hundreds.
pub(super) fn shows(view: &RunView, phase: &PhaseRow) -> bool {
    is_inside(view, &phase.place)
}

/// True if the row of a step shows who works.
pub(super) fn works(view: &RunView, row: &AttemptRow) -> bool {
    is_inside(view, &row.place)
}

fn is_inside(view: &RunView, place: &Place) -> bool {
    view.pools.iter().any(|pool| {
        let below = place.as_str().strip_prefix(pool.place.as_str());
        below.is_some_and(|rest| rest.starts_with('/'))
    })
}

pub(super) fn lines(paint: Paint, view: &RunView) -> Vec<String> {
    let pools = view.pools.iter().flat_map(|pool| pool_lines(paint, pool));
    pools.chain(folder_lines(paint, view)).collect()
}

fn pool_lines(paint: Paint, pool: &PoolRow) -> Vec<String> {
    if let Some(race) = &pool.race {
        return race_lines(paint, pool, race);
    }
    let of = |group: Group| pool.steps.iter().filter(move |step| Group::of(step) == group);
    let count = |group: Group| of(group).count();
    let some = |many: usize, said: String| (many > 0).then_some(said);
    let done = count(Group::Done);
    let (busy, asking, failed) = (count(Group::Busy), count(Group::Asking), count(Group::Failed));
    // As the view says it where no supervisor is.
    let rests = ["stopped", "paused"];
    let rests = rests.into_iter().find(|word| of(Group::Busy).any(|step| step.state == *word));
    let verb = if asking == 1 { "needs" } else { "need" };
    let mut said = vec![format!("{done} of {} done", pool.steps.len())];
    said.extend(some(busy, format!("{busy} {}", rests.unwrap_or("in progress"))));
    said.extend(some(asking, paint.ink(Ink::Busy, &format!("{asking} {verb} you"))));
    said.extend(some(failed, paint.ink(Ink::Bad, &format!("{failed} not done"))));
    let slots = if pool.slots == 1 { "1 slot".to_owned() } else { format!("{} slots", pool.slots) };
    let plan = if pool.plan > 1 { format!(", plan {}", pool.plan) } else { String::new() };
    let mut lines = vec![format!("\n  {}: {} ({slots}{plan})", pool.place, said.join(", "))];
    // Who works comes first, then who waits for a person: their rows must not be looked for among hundreds.
    for (group, most) in
        [(Group::Busy, BUSY_MAX), (Group::Asking, ROWS_MAX), (Group::Failed, ROWS_MAX)]
    {
        lines.extend(of(group).take(most).map(|step| step_line(paint, step)));
        let (sign, what) = group.said(paint);
        lines.extend(ids_line(&sign, &format!("also {what}"), pool, of(group).skip(most)));
    }
    for group in [Group::Waiting, Group::Done] {
        let (sign, what) = group.said(paint);
        lines.extend(ids_line(&sign, what, pool, of(group)));
    }
    lines
}

/// How steps are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Busy,
    Asking,
    Failed,
    Waiting,
    Done,
}

impl Group {
    fn of(step: &StepRow) -> Self {
        match (step.failed, step.done, step.gate, step.live) {
            (true, ..) => Self::Failed,
            (_, true, ..) => Self::Done,
            (_, _, Some(_), _) => Self::Asking,
            (_, _, None, true) => Self::Busy,
            // Its run is over.
            (_, _, None, false) if step.state == "stopped" => Self::Failed,
            (_, _, None, false) => Self::Waiting,
        }
    }

    /// Its sign, and what is said of its steps.
    fn said(self, paint: Paint) -> (String, &'static str) {
        match self {
            Self::Busy => (paint.ink(Ink::Busy, "●"), "in progress"),
            Self::Asking => (paint.ink(Ink::Busy, "?"), "waiting for you"),
            Self::Failed => (paint.ink(Ink::Bad, "✗"), "not done"),
            Self::Waiting => (paint.ink(Ink::Dim, "·"), "waiting"),
            Self::Done => (paint.ink(Ink::Good, "✓"), "done"),
        }
    }
}

/// A row for each racer, whatever became of it: people compare them.
fn race_lines(paint: Paint, pool: &PoolRow, race: &RaceRow) -> Vec<String> {
    let by = if race.by.is_empty() { String::new() } else { format!(", {}", race.by) };
    let decided = match &race.winner {
        Some(winner) => format!("`{}` won{by}", words::one_line(winner)),
        None if race.by.is_empty() => format!("judged by {}", words::one_line(&race.judge)),
        None => "undecided".to_owned(),
    };
    let worker = race.worker.as_ref().map(|worker| format!(", {worker} chooses"));
    let spends = (race.spent.tokens > 0).then(|| format!(", judge: {}", spent(&race.spent)));
    let beside = format!("{}{}", worker.unwrap_or_default(), spends.unwrap_or_default());
    let head = format!("\n  {}: race of {}, {decided}{beside}", pool.place, pool.steps.len());
    let rows = pool.steps.iter().take(ROWS_MAX).map(|step| step_line(paint, step));
    std::iter::once(head).chain(rows).collect()
}

fn ids_line<'p>(
    sign: &str,
    what: &str,
    pool: &'p PoolRow,
    steps: impl Iterator<Item = &'p StepRow>,
) -> Option<String> {
    let ids: Vec<&str> = steps.map(|step| id(pool, step)).collect();
    let more = ids.len().saturating_sub(IDS_MAX);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let shown: Vec<String> = ids.iter().take(IDS_MAX).map(|id| words::one_line(id)).collect();
    (!ids.is_empty()).then(|| format!("    {sign} {what}: {}{rest}", shown.join(", ")))
}

fn id<'s>(pool: &PoolRow, step: &'s StepRow) -> &'s str {
    let place = step.place.as_str();
    place.strip_prefix(pool.place.as_str()).map_or(place, |rest| rest.trim_start_matches('/'))
}

/// Where it is, who works there, and what that has cost so far.
fn step_line(paint: Paint, step: &StepRow) -> String {
    let (sign, _) = Group::of(step).said(paint);
    let at = if step.line.is_empty() { String::new() } else { format!(" at {}", step.line) };
    let slot = step.slot.map(|slot| format!("slot {slot}"));
    let (state, at) = match (&step.worker, step.gate) {
        (Some(worker), None) if step.state == "works" => (None, Some(format!("{worker}{at}"))),
        (Some(worker), _) => (Some(step.state.clone()), Some(format!("{worker}{at}"))),
        (None, Some(gate)) => (Some(format!("{}{at}, needs you ({gate})", step.state)), None),
        (None, None) => (Some(format!("{}{at}", step.state)), None),
    };
    let tokens = (step.spent.tokens > 0).then(|| spent(&step.spent));
    let time = (step.active_ms > 0).then(|| words::duration(step.active_ms));
    let changes = step.changes.as_ref().map(words::changes);
    let facts: Vec<String> =
        [slot, state, at, changes, tokens, time].into_iter().flatten().collect();
    let why = words::one_line(&step.summary);
    let why = if step.failed && !why.is_empty() { format!("\n      {why}") } else { String::new() };
    let name = step.name.as_ref().map(|name| format!("{}: ", words::one_line(name)));
    let place = pad(&words::one_line(step.place.as_str()), PLACE);
    let facts = paint.ink(Ink::Dim, &(name.unwrap_or_default() + &facts.join(", ")));
    format!("    {sign} {place} {facts}{why}")
}

/// Where steps work, so that people can look at it. Those of steps that are done say nothing any more.
fn folder_lines(paint: Paint, view: &RunView) -> Vec<String> {
    let is_done = |place: &Place| {
        let mut steps = view.pools.iter().filter(|pool| !pool.left).flat_map(|pool| &pool.steps);
        steps.any(|step| step.place == *place && step.done)
    };
    let is_there = |row: &FolderRow| ["in use", "nobody works there"].contains(&row.state.as_str());
    let is_plain = |row: &FolderRow| row.unrecorded.is_empty() && is_there(row);
    let wanted: Vec<&FolderRow> =
        view.folders.iter().filter(|row| !(is_plain(row) && is_done(&row.place))).collect();
    let Some(first) = wanted.first() else { return Vec::new() };
    // They lie beside each other: what they share is said once.
    let path = |row: &FolderRow| row.path.as_ref().map(PathBuf::from);
    let around = path(first).and_then(|path| Some(path.parent()?.parent()?.to_owned()));
    let heading = match &around {
        Some(around) => format!("\n  work folders in {}:", around.display()),
        None => "\n  work folders:".to_owned(),
    };
    let shown = wanted.iter().take(FOLDERS_MAX).map(|row| {
        let path = path(row).map_or_else(
            || "(not on this machine)".to_owned(),
            |path| {
                let below = around.as_ref().and_then(|around| path.strip_prefix(around).ok());
                below.unwrap_or(&path).display().to_string()
            },
        );
        let kept = match row.unrecorded.as_slice() {
            [] => String::new(),
            files => format!("; has files that are not recorded: {}", files.join(", ")),
        };
        let facts = format!("{}, {}{kept}", row.place, row.state);
        format!("    {path} {}", paint.ink(Ink::Dim, &facts))
    });
    let mut lines: Vec<String> = std::iter::once(heading).chain(shown).collect();
    let more = view.folders.len().saturating_sub(wanted.len().min(FOLDERS_MAX));
    let all = format!("    and {more} more: `chronicle status {} --json` has them all", view.short);
    lines.extend((more > 0).then(|| paint.ink(Ink::Dim, &all)));
    lines
}
