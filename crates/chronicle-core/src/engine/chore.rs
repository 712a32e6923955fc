//! Commands on the way out of a phase: `verify` before it is left, `cleanup` however it is left.
//!
//! They are attempts of their own, so that they are shown, kept, stopped and found again like all others. They are not work: no
//! budget, try or session counts them. After a crash they run again.

use super::attempt::{attempt, new_session};
use super::gate::intervene;
use super::out::take;
use super::target::resolve;
use crate::base::ids::{DONE, FramePath, HUMAN_INTERVENTION, Outcome, PhaseId, SHELL, SKIPPED};
use crate::definition::workflow::{Phase, PhaseKind, Workflow};
use crate::event::{AttemptStarted, Chore, Duty, Event, Performer, Why};
use crate::state::{Check, Frame, Stage, State, Uncleaned, WayOut};
use crate::words;

/// Outcomes that claim nothing that could be verified.
const NO_CLAIM: [&str; 4] = ["fail", "gaps", "rejected", SKIPPED];

/// One step of the exit: the work passes, or its worker is told why not.
pub(super) fn verify(state: &State, frame: &Frame, phase: &Phase, way: &WayOut) -> Option<Event> {
    match &way.check {
        Check::Passed => None,
        // A worker cannot mend what is no fault of the work, and its finished work is not done again.
        Check::Failed(failure) if way.check.is_unstarted() => {
            Some(intervene(state, frame, words::cannot_verify(phase, failure)))
        }
        Check::Failed(failure) => {
            Some(unverified(state, frame, phase, &words::unverified(failure)))
        }
        Check::Due | Check::Inside => {
            let (workflow, commands) = next_to_verify(state, frame, phase, way);
            if commands.is_empty() {
                return None;
            }
            // A command that kills its own supervisor would otherwise be started for ever.
            Some(if is_lost_too_often(frame, phase) {
                intervene(state, frame, words::lost_too_often(phase, frame))
            } else {
                chore(
                    state,
                    frame,
                    &frame.phase,
                    Chore { duty: Duty::Verify, commands, of: None, workflow },
                )
            })
        }
    }
}

/// The commands that run next, with the key of the workflow inside of the phase if they are its own and need its `env` or `walls`.
fn next_to_verify(
    state: &State,
    frame: &Frame,
    phase: &Phase,
    way: &WayOut,
) -> (Option<String>, Vec<String>) {
    let mut all = to_verify(state, frame, phase, way);
    // They were put in front of the phase's own when the workflow was loaded.
    let inner = phase.workflow.as_ref().and_then(|key| state.workflow(key));
    let env = |it: &Workflow| (it.env.clone(), it.env_names.clone(), it.walls.clone());
    let own = state.workflow(&frame.workflow).map(env);
    // In the same environment both lists run in one go.
    let apart = inner.filter(|it| Some(env(it)) != own && all.starts_with(&it.verify));
    match apart.filter(|inner| !inner.verify.is_empty()) {
        Some(inner) if way.check == Check::Inside => (None, all.split_off(inner.verify.len())),
        Some(inner) => {
            all.truncate(inner.verify.len());
            (Some(inner.key.clone()), all)
        }
        None => (None, all),
    }
}

/// The phase's own commands and, before the end of the run, those of the workflow.
fn to_verify(state: &State, frame: &Frame, phase: &Phase, way: &WayOut) -> Vec<String> {
    let resolved = || resolve(phase, None, &way.outcome).ok();
    let target = way.target.clone().or_else(resolved);
    let target = target.as_ref().map_or("", PhaseId::as_str);
    // Verification tests a claim of success. These outcomes make none.
    if NO_CLAIM.contains(&way.outcome.as_str()) || target == HUMAN_INTERVENTION {
        return Vec::new();
    }
    let workflow = state.workflow(&frame.workflow);
    // The workflow's own `verify` runs once, before the run is done, not at the end of sub-workflows.
    let ends = frame.path.is_root() && target == DONE;
    let at_the_end = workflow.filter(|_| ends).into_iter().flat_map(|it| &it.verify);
    phase.verify.iter().chain(at_the_end).cloned().collect()
}

/// Sends the worker back as often as retries allow; then the workflow's own edge, or a person.
fn unverified(state: &State, frame: &Frame, phase: &Phase, said: &str) -> Event {
    let outcomes = ["unverified", "fail"].map(Outcome::from);
    let is_worker = phase.run == PhaseKind::Worker;
    let number = frame.worker.counters.unverified.saturating_add(1);
    // The session that said it was done knows best what to repair. Commands have no session, and would fail the same way.
    if is_worker && number <= phase.limits.retries {
        return attempt(state, frame, Why::Unverified { number, said: said.to_owned() });
    }
    // For a worker `fail` is a word of its own, which it has not said. Commands have no words, so either edge is meant.
    let own = outcomes.iter().take(if is_worker { 1 } else { 2 });
    let mut own = own.filter_map(|outcome| Some((outcome, phase.on.get(outcome)?)));
    if let Some((outcome, to)) = own.next() {
        return take(state, frame, to, &WayOut::new(outcome.clone(), said.to_owned()));
    }
    intervene(state, frame, words::stays_unverified(phase, said))
}

/// The cleanup that must run before the phase is left; `None` if it is done.
pub(super) fn cleanup(state: &State, frame: &Frame) -> Option<Event> {
    let phase = state.phase_at(&frame.place())?;
    let commands = state.cleanup_of(frame);
    // Clean-up that kills its own supervisor again and again is given up: the run must be able to end.
    let is_due = frame.is_uncleaned() && !is_lost_too_often(frame, phase) && !commands.is_empty();
    let cleanup =
        Chore { duty: Duty::Cleanup, commands: commands.to_vec(), of: None, workflow: None };
    is_due.then(|| chore(state, frame, &frame.phase, cleanup))
}

/// The next cleanup of the phases that a person moved the frame away from: each with the environment of its own workflow.
pub(super) fn behind(state: &State, frame: &Frame) -> Option<Event> {
    let Uncleaned { phase, commands } = frame.behind.first()?;
    let definition = state.workflow(&phase.workflow)?.phase(&phase.place.phase())?;
    // Then the next phase is entered without it: the run must be able to go on.
    if is_lost_too_often(frame, definition) {
        return None;
    }
    let cleanup =
        Chore { of: None, duty: Duty::Cleanup, commands: commands.clone(), workflow: None };
    if phase.place.frame() == frame.path {
        return Some(chore(state, frame, &phase.place.phase(), cleanup));
    }
    // Its own frame may be gone, so the attempt belongs to the frame that waits for it.
    let from = frame.left.as_ref().map_or(&frame.phase, |(from, _)| from);
    Some(chore(state, frame, from, Chore { of: Some(phase.clone()), ..cleanup }))
}

/// The cleanup of a cancelled or failed run, innermost first, one after the other.
pub(super) fn given_up(state: &State) -> Option<Event> {
    // Cleanup must not run beside live attempts or before their files are recorded.
    if !state.live.is_empty() || state.trees.is_busy() || state.is_writing() {
        return None;
    }
    put_away(state, |_| true)
}

/// The next cleanup of steps that a person takes the run away from, in the folder that each works in: what is left behind must not be
/// put away anywhere else.
pub(super) fn of_steps(state: &State, path: &FramePath) -> Option<Event> {
    put_away(state, |frame| frame.path.is_within(path) && state.step_at(&frame.path).is_some())
}

/// The next cleanup of a worker that judges and is stopped.
pub(super) fn of_judge(state: &State, path: &FramePath) -> Option<Event> {
    put_away(state, |frame| frame.path == *path)
}

fn put_away(state: &State, counts: impl Fn(&Frame) -> bool) -> Option<Event> {
    let is_broken = |frame: &&Frame| !matches!(frame.stage, Stage::Chore { .. }) && counts(frame);
    // Innermost frames first, as they would have been left one after the other.
    let mut frames = state.frames.values().rev().filter(is_broken);
    frames.find_map(|frame| {
        if frame.stage == Stage::Bound { behind(state, frame) } else { cleanup(state, frame) }
    })
}

fn is_lost_too_often(frame: &Frame, phase: &Phase) -> bool {
    frame.worker.counters.losses > phase.limits.losses
}

fn chore(state: &State, frame: &Frame, phase: &PhaseId, chore: Chore) -> Event {
    let id = state.next_attempt();
    let place = frame.path.place(phase);
    Event::AttemptStarted(AttemptStarted {
        folder: frame.folder,
        attempt: id,
        walls: state.walls_for(&place, Some(&chore)).map(Box::new),
        place,
        try_number: frame.worker.try_number,
        // An attempt, although it is nobody's work: it needs a keeper, a transcript and an end that survives a crash, like all
        // others.
        agent: SHELL.to_owned(),
        session: new_session(state, id),
        resume: false,
        // Never another reason: these commands have no tries, and after a loss they simply run again from the start.
        why: Why::First,
        first_command: 0,
        fallback: None,
        persona: None,
        // Its changes are recorded as those of any attempt: otherwise they would be taken for the next worker's.
        recorded: true,
        handover: None,
        performer: Performer::Supervisor,
        chore: Some(chore),
    })
}
