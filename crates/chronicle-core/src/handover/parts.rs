//! Parts of a handover beside task and phase: the snapshot, recorded facts, what people said, help.

use std::ops::Range;

use crate::base::ids::{FramePath, Place};
use crate::base::limits::HANDOVER_SUMMARIES_MAX;
use crate::base::quote::{cited, plain};
use crate::event::claims::Claim;
use crate::event::trees::FileChange;
use crate::event::{AttemptWalls, Change, GateAnswer, Why};
use crate::state::claims::is_shown_later;
use crate::state::{Attempt, Frame, Note, Ran, State, Visit};
use crate::words;

use super::fit::{HandoverPart, Keeps};
use super::has_heard;
use super::why::came_from;

/// Most commands in a handover.
const COMMANDS_TOLD_MAX: usize = 20;
/// Indentation of further lines of an entry.
const ENTRY: &str = "  ";
/// No limit except the room.
const ALL: usize = usize::MAX;

/// What follows the instructions for leaving, in order. Findings are the last thing to be cut.
pub(super) fn parts(state: &State, attempt: &Attempt) -> Vec<HandoverPart> {
    let reader = attempt.intent.place.frame();
    let snapshot = state.snapshot_at(&reader);
    let custom = snapshot.custom.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let list = |title, entries: &Vec<String>, rank| {
        HandoverPart::list(title, each_cited(entries), Keeps::Last, ALL, 300, rank)
    };
    let newest = |title, entries, most, rank| {
        HandoverPart::list(title, entries, Keeps::First, most, 300, rank)
    };
    vec![
        // The last to be cut: findings are what a worker chose to pass on, and nobody else knows them.
        HandoverPart::list(
            "Found out",
            each_cited(&snapshot.findings),
            Keeps::Last,
            ALL,
            4_000,
            u8::MAX,
        ),
        list("Still to be done", &snapshot.pending, 8),
        newest("Said, but not proven", doubts(state, &reader), HANDOVER_SUMMARIES_MAX, 7),
        newest("Files that changed, by phase", files(state, &reader), ALL, 6),
        list("Files that workers named", &snapshot.files, 4),
        newest(
            "Commands that were run, newest first",
            commands(state, &reader),
            COMMANDS_TOLD_MAX,
            1,
        ),
        list("Done", &snapshot.done, 3),
        list("Also known", &custom, 5),
        newest("What people said, newest first", people(state, &reader), HANDOVER_SUMMARIES_MAX, 2),
        newest(
            "What happened before, newest first",
            before(state, &reader, told_first(state, attempt).as_ref()),
            HANDOVER_SUMMARIES_MAX,
            0,
        ),
    ]
}

/// Entries of workers, quoted for a list.
fn each_cited(entries: &[String]) -> Vec<String> {
    entries.iter().map(|entry| cited(entry, ENTRY)).collect()
}

/// Why this attempt exists, and what was added since its try began: a person's words survive a crash.
pub(super) fn reasons(state: &State, attempt: &Attempt, why: impl Fn(&Why) -> String) -> String {
    let own = [attempt.intent.why.clone()];
    let known = frame(state, attempt).map(|frame| frame.worker.reasons.as_slice());
    let reasons = known.filter(|reasons| !reasons.is_empty()).unwrap_or(&own);
    // That a phase begins is worth a word only where nothing came since.
    // All reasons of this try and not only the last: after a rejection and then a crash, the rejection still matters.
    let told = reasons.iter().filter(|why| reasons.len() == 1 || **why != Why::First);
    told.map(why).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn frame<'a>(state: &'a State, attempt: &Attempt) -> Option<&'a Frame> {
    state.frames.get(&attempt.intent.place.frame())
}

/// The task that the previous phase gave to this one.
pub(super) fn task(state: &State, attempt: &Attempt) -> String {
    let task = frame(state, attempt).and_then(|frame| frame.task.as_deref());
    cited(task.unwrap_or_default(), "")
}

/// The step of a pool that it works on.
pub(super) fn step(state: &State, attempt: &Attempt) -> String {
    let step = state.step_at(&attempt.intent.place.frame());
    step.map_or_else(String::new, |(_, pool, step)| words::step_told(pool, step))
}

/// Those among whom it chooses.
pub(super) fn race(state: &State, attempt: &Attempt) -> String {
    let judged = frame(state, attempt).and_then(|frame| state.judged_by(frame));
    judged.map_or_else(String::new, |(place, pool)| words::race_told(state, place, pool))
}

/// How to plan, or the plan that it may change.
pub(super) fn plan(state: &State, attempt: &Attempt) -> String {
    if let Some((place, pool)) = state.replans(attempt) {
        return words::plan_told(place, pool);
    }
    let phase = state.phase_at(&attempt.intent.place);
    let plans = phase.is_some_and(|phase| phase.produces.is_some());
    let is_own = attempt.intent.persona.is_none() && attempt.intent.chore.is_none();
    if plans && is_own { words::HOW_TO_PLAN.to_owned() } else { String::new() }
}

/// What the worker that asked for help needs.
pub(super) fn help(state: &State, attempt: &Attempt) -> String {
    let helper = frame(state, attempt).and_then(Frame::helper);
    helper.filter(|_| attempt.intent.persona.is_some()).map_or_else(String::new, |wanted| {
        let (reason, context) = (cited(&wanted.reason, ""), cited(&wanted.context, ""));
        format!(
            "You are `{}`. This is asked of you:\n\n{reason}\n\n{context}",
            plain(&wanted.persona)
        )
    })
}

/// Questions asked at this visit, with their answers.
pub(super) fn answers(state: &State, attempt: &Attempt) -> Vec<String> {
    let questions = frame(state, attempt).map(|frame| frame.questions.as_slice());
    // The newest first, which is what is kept if there is no room for all.
    let gates = questions.unwrap_or_default().iter().rev().filter_map(|id| state.gate(*id));
    let said = gates.filter_map(|gate| match &gate.answered {
        Some((GateAnswer::Said(said), who, _)) => Some((gate, said, who)),
        Some(_) | None => None,
    });
    let said = said.map(|(gate, said, who)| {
        let (asked, said) = (cited(&gate.opened.about, ENTRY), cited(said, ENTRY));
        format!("You asked: {asked}\n  {who} answered: {said}")
    });
    said.chain(permissions(state, attempt)).collect()
}

/// What people said to calls of this visit that are still to be made: whoever takes over has not heard it.
fn permissions(state: &State, attempt: &Attempt) -> Vec<String> {
    let Some(visit) = frame(state, attempt).map(|frame| &frame.permissions) else {
        return Vec::new();
    };
    let call = |tool: &str, input: &str| format!("`{}` {}", plain(tool), cited(input, ENTRY));
    let grants = visit.grants.iter().rev().map(|grant| {
        let (call, how) = (call(&grant.tool, &grant.input), words::reach(grant.scope));
        format!(
            "Your call {call}\n  {} allowed it {how}: make it again if you still need it",
            grant.who
        )
    });
    let refusals = visit.refusals.iter().rev().map(|no| {
        let (call, said) = (call(&no.tool, &no.input), cited(&no.note, ENTRY));
        format!("Your call {call}\n  {} rejected it: {said}", no.who)
    });
    grants.chain(refusals).collect()
}

/// Notes of people to this worker.
pub(super) fn notes(state: &State, attempt: &Attempt) -> Vec<String> {
    let notes = frame(state, attempt).map(|frame| frame.notes.as_slice()).unwrap_or_default();
    notes.iter().filter(|note| note.told.is_some()).map(|note| told(note, attempt)).collect()
}

/// A note as a worker reads it; marked if it may have been delivered before.
pub fn told(note: &Note, attempt: &Attempt) -> String {
    let id = attempt.intent.attempt;
    // A worker that heard it in another attempt must not take it for a second wish.
    let again = match (note.told, note.given_to) {
        (Some(other), _) if other != id => " (an earlier attempt was told this too)",
        (_, Some(other)) if other != id => " (an earlier attempt may have been told this too)",
        _ => "",
    };
    format!("{}{again}: {}", note.who, cited(&note.text, ENTRY))
}

/// The walls of a worker whose session goes on behind others than it was told of before. Attempts of which nobody knows whether a worker
/// read what it was told count as well as the last that did.
pub(super) fn other_walls(state: &State, attempt: &Attempt) -> String {
    let intent = &attempt.intent;
    let before = state.attempts.iter().rev();
    let before = before.filter(|it| it.intent.attempt < intent.attempt);
    let now = told_of(intent.walls.as_deref());
    let (mut is_first, mut is_other) = (true, false);
    for before in before.filter(|it| it.intent.session == intent.session) {
        is_first = false;
        is_other |= told_of(before.intent.walls.as_deref()) != now;
        if has_heard(before) {
            break;
        }
    }
    match (is_first, is_other) {
        (true, _) => now,
        (false, false) => String::new(),
        (false, true) if now.is_empty() => words::NO_WALLS_NOW.to_owned(),
        (false, true) => format!("They are others than before. {now}"),
    }
}

fn told_of(walls: Option<&AttemptWalls>) -> String {
    walls.map(words::walls_told).unwrap_or_default()
}

/// The walls around the worker, if any stand.
pub(super) fn walls(attempt: &Attempt) -> String {
    attempt.intent.walls.as_ref().map(|walls| words::walls_told(walls)).unwrap_or_default()
}

/// What a worker that ran into its walls is told.
pub fn wall_words(attempt: &Attempt) -> String {
    attempt.intent.walls.as_ref().map(|walls| words::wall_stopped(walls)).unwrap_or_default()
}

/// What people said and decided anywhere in the run.
fn people(state: &State, reader: &FramePath) -> Vec<String> {
    let remarks = state.remarks.iter().rev();
    let remarks = remarks.filter(|remark| state.may_hear(reader, &remark.place)).map(|remark| {
        format!(
            "at `{}` {} {}: {}",
            remark.place,
            remark.who,
            words::did(&remark.did),
            cited(&remark.text, ENTRY)
        )
    });
    let silent = state.gates.iter().rev().filter(|gate| {
        let is_approved = matches!(gate.answered, Some((GateAnswer::Approved, ..)));
        is_approved
            && gate.note.trim().is_empty()
            && state.may_hear(reader, &gate.opened.shown_place())
    });
    let silent: Vec<String> = silent
        .take(HANDOVER_SUMMARIES_MAX)
        .map(|gate| format!("`{}` ({})", gate.opened.place, gate.opened.gate))
        .collect();
    let silent =
        (!silent.is_empty()).then(|| format!("approved without a word: {}", silent.join(", ")));
    remarks.chain(silent).chain(forgotten(state.remarks.forgotten(), "remark")).collect()
}

/// The place whose summary is at the top of the handover, because it led here.
fn told_first(state: &State, attempt: &Attempt) -> Option<Place> {
    let is_first = attempt.intent.why == Why::First;
    came_from(state, &attempt.intent.place).filter(|_| is_first).map(|came| came.place)
}

/// How phases were left, most recent first, without the summary that is told at the top.
pub(super) fn before(state: &State, reader: &FramePath, at_the_top: Option<&Place>) -> Vec<String> {
    let ordered = in_order_of_leaving(state, reader);
    let at_the_top = at_the_top.map_or(0..0, |place| told_at_the_top(&ordered, place));
    let told = ordered.iter().enumerate().rev().filter_map(|(index, visit)| {
        let left = visit.left.as_ref()?;
        let inner = index.checked_sub(1).map(|before| ordered[before]);
        let summary = match left.summary.trim() {
            "" => "(nothing said)".to_owned(),
            _ if at_the_top.contains(&index) => "(see the top)".to_owned(),
            _ if inner.is_some_and(|inner| ends_with(visit, inner)) => {
                "(as its last phase)".to_owned()
            }
            summary => cited(summary, ENTRY),
        };
        Some(format!("`{}` → `{}` ({}): {summary}", visit.place, left.to, left.outcome))
    });
    told.chain(forgotten(state.visits.forgotten(), "visit")).collect()
}

/// The visits with the summary of what led here, which would only take room if it were repeated. If that has a workflow inside,
/// the summary is also that of the workflow's last phase.
fn told_at_the_top(ordered: &[&Visit], came: &Place) -> Range<usize> {
    let is_it = |visit: &&Visit| visit.left.is_some() && visit.place == *came;
    let Some(last) = ordered.iter().rposition(is_it) else { return 0..0 };
    let mut first = last;
    while let Some(inner) =
        first.checked_sub(1).filter(|it| ends_with(ordered[first], ordered[*it]))
    {
        first = inner;
    }
    first..last + 1
}

/// True if a workflow inside of a phase ended with that visit: then both have the same summary.
fn ends_with(outer: &Visit, inner: &Visit) -> bool {
    let (Some(one), Some(other)) = (&outer.left, &inner.left) else { return false };
    inner.place.frame().is_within(&outer.place.frame_below()) && one.summary == other.summary
}

/// Visits in the order in which they were left: a phase with a workflow inside is entered before its phases and left after them.
fn in_order_of_leaving<'s>(state: &'s State, reader: &FramePath) -> Vec<&'s Visit> {
    let (mut ordered, mut open): (Vec<&Visit>, Vec<&Visit>) = (Vec::new(), Vec::new());
    for visit in state.visits.iter().filter(|visit| state.may_know(reader, &visit.place)) {
        while let Some(last) =
            open.pop_if(|last| !visit.place.frame().is_within(&last.place.frame_below()))
        {
            ordered.push(last);
        }
        open.push(visit);
    }
    // Phases around the others are left after them, so the innermost comes first.
    ordered.extend(open.into_iter().rev());
    ordered
}

/// Unproven claims of workers, newest first. Claims that the record shows by now are left out.
fn doubts(state: &State, reader: &FramePath) -> Vec<String> {
    let doubted = |visit: &Visit| -> Vec<Claim> {
        // What a later worker made true is no longer worth a doubt.
        let claims = visit.unproven.iter().filter(|claim| !is_shown_later(state, claim));
        claims.cloned().collect()
    };
    let visits = state.visits.iter().rev();
    let visits = visits.filter(|visit| state.may_know(reader, &visit.place));
    visits
        .map(|visit| (visit, doubted(visit)))
        .filter(|(_, claims)| !claims.is_empty())
        .map(|(visit, claims)| format!("at `{}`, {}", visit.place, words::unproven(&claims)))
        .collect()
}

/// Files that changed at each place, as the trees show it, most recent place first. Of steps, only what is in the files that the reader has.
fn files(state: &State, reader: &FramePath) -> Vec<String> {
    let known = state.places.iter().filter(|(_, tally)| !tally.changes.is_none());
    let mut places: Vec<_> = known.filter(|(place, _)| state.may_know(reader, place)).collect();
    places.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.last_visit));
    let told = places.into_iter().map(|(place, tally)| {
        let changes = &tally.changes;
        let names: Vec<String> = changes.list.iter().map(file).collect();
        let known = u32::try_from(changes.list.len()).unwrap_or(u32::MAX);
        let more = match changes.files.saturating_sub(known) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let (added, removed) = (changes.added, changes.removed);
        format!("`{place}` (+{added} −{removed} lines): {}{more}", names.join(", "))
    });
    let missed = state.trees.project().missed.as_ref();
    let missed =
        missed.map(|why| format!("not all is known: the last look at the files failed: {why}"));
    told.chain(unclear(state)).chain(missed).collect()
}

/// Files with changes of unknown origin: a person may be working on them.
fn unclear(state: &State) -> Option<String> {
    let changes = &state.trees.project().unclear;
    let names: Vec<String> = changes.list.iter().map(file).collect();
    let told = format!("changed meanwhile, and not known to be a worker's: {}", names.join(", "));
    (!changes.is_none()).then_some(told)
}

fn file(changed: &FileChange) -> String {
    let how = match (changed.change, &changed.from) {
        (_, Some(from)) => format!("was `{from}`"),
        (Change::Created, None) => "new".to_owned(),
        (Change::Deleted, None) => "deleted".to_owned(),
        (Change::Changed, None) => String::new(),
    };
    let lines = match (changed.added, changed.removed) {
        (None, None) => "binary".to_owned(),
        (added, removed) => format!("+{} −{}", added.unwrap_or(0), removed.unwrap_or(0)),
    };
    let facts: Vec<String> = [how, lines].into_iter().filter(|fact| !fact.is_empty()).collect();
    format!("`{}` ({})", plain(&changed.path), facts.join(", "))
}

/// Commands from the record: what ran, and how it ended.
fn commands(state: &State, reader: &FramePath) -> Vec<String> {
    let visits = state.visits.iter().rev();
    visits
        .filter(|visit| state.may_know(reader, &visit.place))
        .flat_map(|visit| {
            let ran = visit.commands.list.iter().rev();
            let ran = ran.map(|ran| format!("at `{}` {}", visit.place, command(ran)));
            let count = usize::try_from(visit.commands.forgotten).unwrap_or(usize::MAX);
            ran.chain(forgotten(count, "command"))
        })
        .collect()
}

fn command(ran: &Ran) -> String {
    let how = match ran.ok {
        Some(true) => "succeeded",
        Some(false) => "failed",
        None => "was not seen to end",
    };
    let times = match ran.times {
        0 | 1 => String::new(),
        times => format!(", the last of {times} times"),
    };
    format!("`{}` {how}{times}", words::one_line(&ran.command))
}

fn forgotten(count: usize, what: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 earlier {what} is only in the run's ledger")),
        many => Some(format!("{many} earlier {what}s are only in the run's ledger")),
    }
}
