//! The handover that the next worker would get now: the engine itself continues, on a copy of the state.

use crate::base::ids::SHELL;
use crate::base::ids::{AttemptId, TreeId};
use crate::engine;
use crate::engine::work::work;
use crate::event::input::{
    Actor, AttemptReport, By, Command, EndSeen, Input, Report, TimerKind, What,
};
use crate::event::trees::{Changes, Moment, TreeRecorded};
use crate::event::{AttemptStarted, GateKind, GateOpened};
use crate::handover::{Told, told_to};
use crate::state::State;
use crate::state::effect::Action;

/// Most assumptions that are made before a worker starts.
const STEPS_MAX: usize = 16;

/// The next worker of a run, as far as it can be predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Next {
    /// Assumptions that were made, in order.
    pub assumed: Vec<String>,
    /// The attempt that would start.
    pub intent: AttemptStarted,
    /// The prompt of its persona.
    pub persona: Option<String>,
    /// The handover that it would get.
    pub told: Told,
}

/// The handover of the next worker, or why there would be none. Nothing is written.
pub fn next(state: &State) -> Result<Next, String> {
    let mut state = state.clone();
    let mut assumed = Vec::new();
    // Each round assumes one thing that usually happens next. A workflow of commands alone would go on without a worker.
    for _ in 0..STEPS_MAX {
        if state.run.is_none() {
            return Err("the run has not started".to_owned());
        }
        if state.is_over() {
            let so_far = if assumed.is_empty() { "" } else { " then" };
            return Err(format!("no worker will start: the run is over{so_far}"));
        }
        let (words, input) = assume(&state)?;
        let before = state.attempts.len();
        let Some(line) = engine::step(&state, &input).line else {
            return Err(format!("nothing follows once {words}"));
        };
        state.apply(&line);
        assumed.extend(Some(words).filter(|words| !words.is_empty()));
        let begun = state.attempts.iter().filter(|attempt| attempt.ended.is_none());
        let mut begun = begun.filter(|attempt| {
            let id = usize::try_from(attempt.intent.attempt.0).unwrap_or(usize::MAX);
            // Only one that starts in this step: those before it have their handover already.
            id > before && attempt.intent.agent != SHELL
        });
        if let Some(attempt) = begun.next() {
            let (intent, told) = (attempt.intent.clone(), told_to(&state, attempt));
            let persona = work(&state, intent.attempt).and_then(|work| work.persona);
            return Ok(Next { assumed, intent, persona, told });
        }
    }
    Err(format!("no worker starts within {STEPS_MAX} steps"))
}

/// The least that must happen for the run to continue, in words and as an input.
fn assume(state: &State) -> Result<(String, Input), String> {
    // Not worth a word to the person: recording files takes a moment and changes nothing about who comes next.
    if let Some(attempt) = state.trees.after.keys().next() {
        return Ok((String::new(), nothing_changed(state, *attempt)));
    }
    if state.paused.is_some() {
        return Ok(("the run is resumed".to_owned(), by_person(state, Command::Resume)));
    }
    if let Some(attempt) = state.live_attempts().next() {
        let id = attempt.intent.attempt;
        if attempt.intent.agent == SHELL {
            return Ok(command_ends(state, id));
        }
        // Lost and not ended: what a worker would still do cannot be assumed, and a lost one goes on in the same try.
        let seen = EndSeen { lost: true, ..EndSeen::default() };
        return Ok((format!("{id} is interrupted"), about(state, id, AttemptReport::Ended(seen))));
    }
    if let Some(effect) = state.due().first()
        && let Action::WaitUntil { attempt, .. } = effect.action
    {
        let fired = Report::TimerFired { attempt, timer: TimerKind::Wait };
        return Ok(("what is waited for comes".to_owned(), by_supervisor(state, fired)));
    }
    let gate = state.open_gates().next().ok_or("nothing follows by itself")?;
    answer(state, &gate.opened)
}

/// The next command succeeds, or all have.
fn command_ends(state: &State, id: AttemptId) -> (String, Input) {
    let place = state.attempt(id).map(|attempt| attempt.intent.place.clone());
    let frame = place.as_ref().and_then(|place| state.frames.get(&place.frame()));
    let done = frame.map_or(0, |frame| frame.worker.counters.commands_done);
    let count = place.and_then(|place| Some(state.phase_at(&place)?.commands.len()));
    if usize::try_from(done).is_ok_and(|done| done < count.unwrap_or(0)) {
        let what =
            AttemptReport::CommandEnded { index: done, code: Some(0), output: String::new() };
        return (format!("command {} of {id} ends well", done + 1), about(state, id, what));
    }
    let seen = EndSeen { finished: true, code: Some(0), ..EndSeen::default() };
    (format!("{id} ends"), about(state, id, AttemptReport::Ended(seen)))
}

fn answer(state: &State, gate: &GateOpened) -> Result<(String, Input), String> {
    let (id, note) = (gate.gate, String::new());
    let (words, command) = match gate.gate_kind {
        GateKind::ApprovalBefore | GateKind::ApprovalAfter | GateKind::Permission => {
            (format!("{id} is approved"), Command::Approve { gate: Some(id), note, scope: None })
        }
        GateKind::Question => {
            let text = gate.options.first().cloned().unwrap_or_else(|| "‹your answer›".to_owned());
            (format!("{id} is answered"), Command::Answer { gate: Some(id), text, note })
        }
        // How a person would resolve it cannot be assumed.
        GateKind::Conflict => return Err(format!("{id} is about a conflict")),
        GateKind::Budget => {
            // How much a person would grant cannot be assumed.
            return Err(format!("{id} is about a budget, which must be raised first"));
        }
        // There is nothing that could be tried again, and where a person would go cannot be assumed.
        GateKind::Intervention if state.phase_at(&gate.place).is_none() => {
            return Err(format!("{id} waits for a person, whose `go` must name the next phase"));
        }
        GateKind::Intervention => {
            let place = Some(gate.place.clone());
            (
                format!("`{}` is tried again", gate.place),
                Command::Retry { place, note, agent: None, from: None },
            )
        }
    };
    Ok((words, by_person(state, command)))
}

/// A tree without changes after an attempt.
fn nothing_changed(state: &State, attempt: AttemptId) -> Input {
    let last = state.trees.project().last.as_ref().map(|(tree, _)| tree.clone());
    let (moment, tree) = (Moment::After(attempt), last.unwrap_or_else(|| TreeId::from("")));
    let recorded = TreeRecorded {
        folder: state.folder_of(moment),
        ..TreeRecorded::new(moment, tree, Changes::default())
    };
    by_supervisor(state, Report::TreeRecorded(Box::new(recorded)))
}

fn by_person(state: &State, command: Command) -> Input {
    let by = By { actor: Actor::Person("you".to_owned()), request: None };
    // The time of the last line, since there is no clock here: a preview of the same state is always the same.
    Input { at: state.updated_at, by, what: What::Command(command) }
}

fn about(state: &State, attempt: AttemptId, what: AttemptReport) -> Input {
    by_supervisor(state, Report::Attempt { attempt, active_ms: 0, what })
}

fn by_supervisor(state: &State, report: Report) -> Input {
    let by = By { actor: Actor::Supervisor, request: None };
    Input { at: state.updated_at, by, what: What::Report(report) }
}
