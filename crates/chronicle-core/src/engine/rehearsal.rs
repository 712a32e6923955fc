//! A dry run: the engine walks a workflow with workers that only leave, so that people see what a run would do and say.
//!
//! It is the engine itself that walks: the same decisions, the same handovers. Nothing is performed and nothing is written;
//! what only a run can know (what workers say, the run's id) stands as `‹…›`. The main way is walked first, as if all went
//! well and every person agreed; then whatever other edges lead to.

use std::collections::{BTreeSet, VecDeque};

use serde::Serialize;

use crate::base::ids::{AttemptId, DONE, HUMAN_INTERVENTION, Outcome, PhaseId, Place, RunId};
use crate::base::limits::COMMANDS_MS;
use crate::base::time::Millis;
use crate::definition::workflow::allowed_targets;
use crate::definition::workflow::{Phase, PhaseKind};
use crate::engine;
use crate::engine::work::{Work, work};
use crate::event::input::{Actor, AttemptReport, By, Command, EndSeen, Input, Report, What};
use crate::event::signal::Signal;
use crate::event::{Call, GateKind, GateOpened, Issues, RunStarted};
use crate::state::State;

/// Most phases that are shown.
pub const SCENES_MAX: usize = 300;
/// Stands for the run's id. Its last eight bytes are no text, so that it is never cut.
const RUN: &str = "‹run›";

/// What a run would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rehearsal {
    /// The phases in which something works, the main way first.
    pub scenes: Vec<Scene>,
    /// Whether the main way comes to the end; else why not.
    pub ends: Result<(), String>,
    /// Whether there are more phases than are shown.
    pub is_cut: bool,
}

/// One phase, as its first worker would find it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scene {
    /// Where.
    pub place: Place,
    /// What people read.
    pub name: String,
    /// How a run comes here, if not on the main way.
    pub through: Option<Through>,
    /// The agent; `shell` runs the commands.
    pub agent: String,
    /// Its model.
    pub model: Option<String>,
    /// How long it thinks.
    pub thinking: Option<String>,
    /// Who it is to be.
    pub persona: Option<String>,
    /// The tools that it may use; none = all but those denied.
    pub allow: Option<Vec<String>>,
    /// The tools that it may not use.
    pub deny: Vec<String>,
    /// What `run: command` runs.
    pub commands: Vec<String>,
    /// What must pass before the phase is left.
    pub verify: Vec<String>,
    /// What runs at every way out of the phase.
    pub cleanup: Vec<String>,
    /// What the worker is told; none for commands.
    pub handover: Option<String>,
    /// What a person is asked.
    pub asks: Vec<String>,
    /// Where it may lead: the outcome, if one is needed, and the target.
    pub ways: Vec<(Option<Outcome>, PhaseId)>,
    /// Milliseconds of silence after which it counts as stuck.
    pub idle_ms: Option<u64>,
    /// Milliseconds that it may work.
    pub timeout_ms: Option<u64>,
}

/// The edge by which a run leaves the main way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Through {
    /// From where.
    pub from: Place,
    /// With which outcome.
    pub outcome: Option<Outcome>,
}

/// A way that was not taken yet.
struct Branch {
    state: State,
    attempt: AttemptId,
    through: Through,
    target: PhaseId,
}

/// Walks a run that never is.
pub fn rehearse(start: RunStarted) -> Rehearsal {
    let start = RunStarted { run: RunId::from(RUN), ..start };
    let mut walk = Walk { scenes: Vec::new(), seen: BTreeSet::new(), branches: VecDeque::new() };
    let mut state = State::default();
    step(&mut state, &by_person(Command::Start(Box::new(start))));
    let ends = walk.on(state, None);
    while let Some(branch) = walk.branches.pop_front() {
        let target = branch.through.from.frame().place(&branch.target);
        if walk.seen.contains(&target) || walk.is_full() {
            continue;
        }
        let Branch { mut state, attempt, through, target } = branch;
        leave(&mut state, attempt, &target, through.outcome.as_ref());
        // How a branch ends is seen in its scenes.
        let _ = walk.on(state, Some(through));
    }
    let is_cut = walk.is_full();
    Rehearsal { scenes: walk.scenes, ends, is_cut }
}

struct Walk {
    scenes: Vec<Scene>,
    seen: BTreeSet<Place>,
    branches: VecDeque<Branch>,
}

impl Walk {
    fn is_full(&self) -> bool {
        self.scenes.len() >= SCENES_MAX
    }

    /// Goes on until the end, a person, or a phase that was seen.
    fn on(&mut self, mut state: State, mut through: Option<Through>) -> Result<(), String> {
        let mut asks = Vec::new();
        while !state.done {
            let gate = state.open_gates().next().map(|gate| gate.opened.clone());
            if let Some(opened) = gate {
                if matches!(opened.gate_kind, GateKind::Intervention | GateKind::Budget) {
                    return Err(format!("at `{}` {}", opened.place, opened.about));
                }
                let answer = self.answer(&state, &opened)?;
                match opened.gate_kind {
                    GateKind::ApprovalAfter => self.asks_after(&opened),
                    GateKind::ApprovalBefore
                    | GateKind::Intervention
                    | GateKind::Question
                    | GateKind::Budget => {
                        asks.push(opened.about);
                    }
                }
                step(&mut state, &by_person(answer));
                continue;
            }
            let Some(work) = state.live.first().and_then(|id| work(&state, *id)) else {
                return Err("nothing follows".to_owned());
            };
            if let Some(chore) = &work.intent.chore {
                pass(&mut state, work.intent.attempt, chore.commands.len());
                continue;
            }
            let place = work.intent.place.clone();
            if !self.seen.insert(place.clone()) {
                return Err(format!("it goes back to `{place}`"));
            }
            if self.is_full() {
                return Err(format!("more than {SCENES_MAX} phases"));
            }
            let Some(phase) = state.phase_at(&place).cloned() else {
                return Err(format!("there is no phase at `{place}`"));
            };
            self.scenes.push(scene(&work, &phase, through.take(), std::mem::take(&mut asks)));
            self.remember(&state, &work, &phase);
            match main_way(&phase, &place, &self.seen) {
                Some(target) => leave(&mut state, work.intent.attempt, &target, None),
                None => return Err(format!("from `{place}` every way goes back, or to a person")),
            }
        }
        Ok(())
    }

    /// What a person says who wants the run to go on: yes, or the way of a phase that is theirs to do.
    fn answer(&self, state: &State, opened: &GateOpened) -> Result<Command, String> {
        let (gate, place) = (Some(opened.gate), &opened.place);
        if opened.gate_kind != GateKind::Question {
            return Ok(Command::Approve { gate, note: String::new() });
        }
        let phase = state.phase_at(place);
        let target = phase.and_then(|phase| main_way(phase, place, &self.seen));
        let target = target.ok_or_else(|| format!("from `{place}` every way goes back"))?;
        Ok(Command::Answer { gate, text: target.to_string() })
    }

    /// Who is asked after the work stands with the work; after a workflow inside, with its last phase.
    fn asks_after(&mut self, gate: &GateOpened) {
        let own = self.scenes.iter().position(|scene| scene.place == gate.place);
        let index = own.unwrap_or(self.scenes.len().saturating_sub(1));
        if let Some(scene) = self.scenes.get_mut(index)
            && !scene.asks.contains(&gate.about)
        {
            scene.asks.push(gate.about.clone());
        }
    }

    /// The ways that the main one does not take.
    fn remember(&mut self, state: &State, work: &Work, phase: &Phase) {
        for (outcome, target) in ways(phase) {
            if [DONE, HUMAN_INTERVENTION].contains(&target.as_str()) {
                continue;
            }
            self.branches.push_back(Branch {
                state: state.clone(),
                attempt: work.intent.attempt,
                through: Through { from: work.intent.place.clone(), outcome },
                target,
            });
        }
    }
}

fn scene(work: &Work, phase: &Phase, through: Option<Through>, asks: Vec<String>) -> Scene {
    Scene {
        place: work.intent.place.clone(),
        name: phase.name.clone(),
        through,
        agent: work.intent.agent.clone(),
        model: work.model.clone(),
        thinking: work.thinking.clone(),
        persona: work.persona.clone(),
        allow: work.tools.allow.clone(),
        deny: work.tools.deny.clone(),
        commands: phase.commands.clone(),
        verify: phase.verify.clone(),
        cleanup: phase.cleanup.clone(),
        handover: (!work.is_shell()).then(|| work.handover.clone()),
        asks,
        ways: ways(phase),
        idle_ms: work.idle_ms,
        timeout_ms: phase.limits.timeout_ms.or(work.is_shell().then_some(COMMANDS_MS)),
    }
}

/// Every edge of a phase, with the outcome that takes it.
fn ways(phase: &Phase) -> Vec<(Option<Outcome>, PhaseId)> {
    let on = phase.on.iter().map(|(outcome, target)| (Some(outcome.clone()), target.clone()));
    let named: Vec<&PhaseId> = phase.on.values().collect();
    let plain = allowed_targets(phase).into_iter();
    let plain = plain.filter(|it| phase.next.contains(it) || !named.contains(&it));
    plain.map(|target| (None, target)).chain(on).collect()
}

/// Where a run goes if all is well: where `complete` leads, else the first `next` that is new.
fn main_way(phase: &Phase, place: &Place, seen: &BTreeSet<Place>) -> Option<PhaseId> {
    let good = ["complete", "pass"].into_iter().filter_map(|it| phase.on.get(&Outcome::from(it)));
    let ways: Vec<&PhaseId> = good.chain(phase.next.iter()).collect();
    let is_new = |target: &&&PhaseId| {
        target.as_str() != HUMAN_INTERVENTION && !seen.contains(&place.frame().place(target))
    };
    // What runs commands cannot choose.
    if phase.run == PhaseKind::Command {
        return Some(ways.first().map_or_else(|| PhaseId::from(DONE), |it| (*it).clone()));
    }
    let end = PhaseId::from(DONE);
    let may_end = ways.is_empty() || ways.contains(&&end);
    let on = ways.iter().find(is_new).map(|it| (*it).clone());
    on.or(may_end.then_some(end))
}

/// Leaves a phase: a worker signals, commands end.
fn leave(state: &mut State, attempt: AttemptId, target: &PhaseId, outcome: Option<&Outcome>) {
    let Some(intent) = state.attempt(attempt).map(|it| it.intent.clone()) else { return };
    let failed = outcome.is_some_and(|outcome| outcome.as_str() == "fail");
    let phase = state.phase_at(&intent.place);
    let commands = phase.filter(|it| it.run == PhaseKind::Command).map(|it| it.commands.len());
    if let Some(count) = commands.filter(|_| outcome.is_none() || failed) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        for index in 0..if failed { 1 } else { count } {
            let output = "‹what the command prints›".to_owned();
            let what = AttemptReport::CommandEnded { index, code: Some(i32::from(failed)), output };
            step(state, &report(attempt, what));
        }
    } else {
        let demands = phase.map(|phase| phase.requires.clone()).unwrap_or_default();
        let outcome = outcome.cloned().or_else(|| verdict(phase?, target));
        do_what_is_demanded(state, attempt, &demands);
        let summary = format!("‹what the worker of `{}` says›", intent.place);
        let (target, task) = (Some(target.clone()), None);
        let issues = Issues::default();
        let signal = Signal::Leave { target, outcome, summary, task, issues };
        let command = Command::Signal { attempt, request: "rehearsal".to_owned(), signal };
        step(state, &Input { by: by(Actor::Worker(attempt)), ..by_person(command) });
    }
    let seen = EndSeen { finished: true, code: Some(0), ..EndSeen::default() };
    step(state, &report(attempt, AttemptReport::Ended(seen)));
}

/// Lets every command on the way out end well.
fn pass(state: &mut State, attempt: AttemptId, commands: usize) {
    for index in 0..u32::try_from(commands).unwrap_or(u32::MAX) {
        let what = AttemptReport::CommandEnded { index, code: Some(0), output: String::new() };
        step(state, &report(attempt, what));
    }
    let seen = EndSeen { finished: true, code: Some(0), ..EndSeen::default() };
    step(state, &report(attempt, AttemptReport::Ended(seen)));
}

/// What a phase demands is done before it is left.
fn do_what_is_demanded(state: &mut State, attempt: AttemptId, demands: &[String]) {
    for (index, wanted) in demands.iter().enumerate() {
        let call = format!("rehearsal-{index}");
        let asked = Call::new(&call, "bash", &serde_json::json!({ "command": wanted }), &[]);
        step(state, &report(attempt, AttemptReport::ToolCalled { call: Box::new(asked) }));
        step(state, &report(attempt, AttemptReport::ToolEnded { call, ok: true }));
    }
}

/// What a worker says where a verdict is asked for: that the way it takes is the right one.
fn verdict(phase: &Phase, target: &PhaseId) -> Option<Outcome> {
    let pass = Outcome::from("pass");
    let leads = phase.on.get(&pass) == Some(target);
    phase.asks_verdict().then(|| if leads { pass } else { Outcome::from("complete") })
}

/// Decides and applies; no ledger.
fn step(state: &mut State, input: &Input) {
    if let Some(line) = engine::step(state, input).line {
        state.apply(&line);
    }
}

fn report(attempt: AttemptId, what: AttemptReport) -> Input {
    let what = What::Report(Report::Attempt { attempt, active_ms: 0, what });
    Input { at: Millis(0), by: by(Actor::Supervisor), what }
}

fn by_person(command: Command) -> Input {
    Input { at: Millis(0), by: by(Actor::Person(String::new())), what: What::Command(command) }
}

fn by(actor: Actor) -> By {
    By { actor, request: None }
}
