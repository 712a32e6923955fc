//! Dry runs: the engine walks a workflow with workers that only leave, to show what a run would do.
//!
//! It is the engine itself, with the same decisions and handovers. Nothing is performed or written; what only a run can know
//! (what workers say, the run's id) is shown as `‹…›`. The main path is walked first, as if everything succeeded and every person
//! approved; then what other edges lead to.

mod pool;

use std::collections::{BTreeSet, VecDeque};

use serde::{Serialize, Serializer};

use crate::base::ids::{AttemptId, DONE, HUMAN_INTERVENTION, Outcome, PhaseId, Place, RunId};
use crate::base::time::Millis;
use crate::definition::workflow::allowed_targets;
use crate::definition::workflow::{Phase, PhaseKind};
use crate::engine;
use crate::engine::work::{Work, work};
use crate::event::input::{Actor, AttemptReport, By, Command, EndSeen, Input, Report, What};
use crate::event::signal::Signal;
use crate::event::{Call, GateKind, GateOpened, Issues, RunStarted};
use crate::guard::Judgement;
use crate::state::State;

/// Most phases that are shown.
pub const SCENES_MAX: usize = 300;
/// Stands for the run's id. Its last eight bytes are not valid text, so that it is never cut.
const RUN: &str = "‹run›";

/// What a run would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rehearsal {
    /// The phases that have work, main path first.
    pub scenes: Vec<Scene>,
    /// `Ok` if the main path reaches the end, otherwise why not.
    #[serde(serialize_with = "as_ending")]
    pub ends: Result<(), String>,
    /// True if there are more phases than are shown.
    pub is_cut: bool,
}

/// `{"well": true}`, or `{"well": false, "why": …}`: how Rust writes a result is no format for others.
fn as_ending<S: Serializer>(ends: &Result<(), String>, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Ending<'a> {
        well: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<&'a str>,
    }
    let why = ends.as_ref().err().map(String::as_str);
    Ending { well: why.is_none(), why }.serialize(to)
}

/// One phase, as its first worker would see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scene {
    /// The phase, with the path of its frame.
    pub place: Place,
    /// The name that people see.
    pub name: String,
    /// How a run gets here, if not on the main path.
    pub through: Option<Through>,
    /// The agent's name; `shell` for commands.
    pub agent: String,
    /// Its model; `None` leaves it to the agent.
    pub model: Option<String>,
    /// The agents that take over when it cannot go on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<String>,
    /// Its thinking level; `None` leaves it to the agent.
    pub thinking: Option<String>,
    /// Its persona's name or prompt.
    pub persona: Option<String>,
    /// Tools that it may use; `None` for all but those denied.
    pub allow: Option<Vec<String>>,
    /// Tools that it may not use.
    pub deny: Vec<String>,
    /// Commands of `run: command`.
    pub commands: Vec<String>,
    /// Commands that must pass before the phase is left.
    pub verify: Vec<String>,
    /// Commands that run whenever the phase is left.
    pub cleanup: Vec<String>,
    /// Its handover; `None` for commands.
    pub handover: Option<String>,
    /// What people would be asked.
    pub asks: Vec<String>,
    /// Possible targets, each with the outcome that takes it.
    pub ways: Vec<(Option<Outcome>, PhaseId)>,
    /// Milliseconds without output after which it counts as stuck.
    pub idle_ms: Option<u64>,
    /// Milliseconds that it may take.
    pub timeout_ms: Option<u64>,
}

/// The edge that leaves the main path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Through {
    /// The phase that it leaves.
    pub from: Place,
    /// The outcome that takes it; `None` for a plain `next`.
    pub outcome: Option<Outcome>,
}

/// An edge that was not followed yet.
struct Branch {
    state: State,
    attempt: AttemptId,
    through: Through,
    target: PhaseId,
}

/// Walks a run that is never started.
pub fn rehearse(start: RunStarted) -> Rehearsal {
    // A made-up id: ids of sessions follow from it, and a rehearsal must not look like a run that exists.
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

    /// Continues until the end, a person, or a phase that was already shown.
    fn on(&mut self, mut state: State, mut through: Option<Through>) -> Result<(), String> {
        let mut asks = Vec::new();
        while !state.done {
            let gate = state.open_gates().next().map(|gate| gate.opened.clone());
            if let Some(opened) = gate {
                // No answer of a person can be assumed here: what follows depends on what they decide.
                if matches!(opened.gate_kind, GateKind::Intervention | GateKind::Budget) {
                    return Err(format!("at `{}` {}", opened.place, opened.about));
                }
                let answer = self.answer(&state, &opened)?;
                match opened.gate_kind {
                    GateKind::ApprovalAfter => self.asks_after(&opened),
                    // Behind the last of those who race, and not before whatever comes next.
                    GateKind::Question if pool::taken(&state, &opened).is_some() => {
                        self.asks_after(&opened);
                    }
                    GateKind::ApprovalBefore
                    | GateKind::Intervention
                    | GateKind::Question
                    | GateKind::Permission
                    | GateKind::Conflict
                    | GateKind::Budget => {
                        asks.push(opened.about);
                    }
                }
                step(&mut state, &by_person(answer));
                continue;
            }
            if let Some(done) = pool::performed(&state) {
                let what = What::Report(done?);
                let by = by(Actor::Supervisor);
                step(&mut state, &Input { at: Millis(0), by, what });
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
            // Each place once. A loop would never end, and shows nothing new.
            if !self.seen.insert(place.clone()) {
                return Err(format!("it goes back to `{place}`"));
            }
            if self.is_full() {
                return Err(format!("more than {SCENES_MAX} phases"));
            }
            let Some(phase) = state.phase_at(&place).cloned() else {
                return Err(format!("there is no phase at `{place}`"));
            };
            let shown = scene(&work, &phase, through.take(), std::mem::take(&mut asks));
            // The worker of a step leaves for the end of its step. Where that leads is up to the pool.
            let around = pool::around(&state, &place).map(ways);
            self.scenes.push(Scene { ways: around.unwrap_or_else(|| ways(&phase)), ..shown });
            self.remember(&state, &work, &phase);
            match main_way(&phase, &place, &self.seen) {
                Some(target) => leave(&mut state, work.intent.attempt, &target, None),
                None => return Err(format!("from `{place}` every way goes back, or to a person")),
            }
        }
        Ok(())
    }

    /// The answer of a person who wants the run to continue: approval, or a target for a phase of their own.
    fn answer(&self, state: &State, opened: &GateOpened) -> Result<Command, String> {
        let (gate, place) = (Some(opened.gate), &opened.place);
        if opened.gate_kind != GateKind::Question {
            return Ok(Command::Approve { gate, note: String::new(), scope: None });
        }
        if let Some(text) = pool::taken(state, opened) {
            return Ok(Command::Answer { gate, text, note: String::new() });
        }
        let phase = state.phase_at(place);
        let target = phase.and_then(|phase| main_way(phase, place, &self.seen));
        let target = target.ok_or_else(|| format!("from `{place}` every way goes back"))?;
        Ok(Command::Answer { gate, text: target.to_string(), note: String::new() })
    }

    /// An approval after the work is shown with the work; after a sub-workflow, with its last phase.
    fn asks_after(&mut self, gate: &GateOpened) {
        let own = self.scenes.iter().position(|scene| scene.place == gate.place);
        let index = own.unwrap_or(self.scenes.len().saturating_sub(1));
        if let Some(scene) = self.scenes.get_mut(index)
            && !scene.asks.contains(&gate.about)
        {
            scene.asks.push(gate.about.clone());
        }
    }

    /// Remembers edges that the main path does not take.
    fn remember(&mut self, state: &State, work: &Work, phase: &Phase) {
        for (outcome, target) in ways(phase) {
            if [DONE, HUMAN_INTERVENTION].contains(&target.as_str()) {
                continue;
            }
            // The state is kept as it was here, so that the other edges can be walked from the same point later.
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
        fallback: phase.fallback.iter().filter(|it| **it != work.intent.agent).cloned().collect(),
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
        timeout_ms: if work.is_shell() {
            phase.limits.commands_ms()
        } else {
            phase.limits.timeout_ms
        },
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

/// The edge of the main path: for `complete`, otherwise the first `next` that is new.
fn main_way(phase: &Phase, place: &Place, seen: &BTreeSet<Place>) -> Option<PhaseId> {
    let good = ["complete", "pass"].into_iter().filter_map(|it| phase.on.get(&Outcome::from(it)));
    let ways: Vec<&PhaseId> = good.chain(phase.next.iter()).collect();
    let is_new = |target: &&&PhaseId| {
        target.as_str() != HUMAN_INTERVENTION && !seen.contains(&place.frame().place(target))
    };
    // Commands cannot choose: they take the edge of their outcome. If that leads back, the rehearsal ends there.
    if phase.run == PhaseKind::Command {
        return Some(ways.first().map_or_else(|| PhaseId::from(DONE), |it| (*it).clone()));
    }
    let end = PhaseId::from(DONE);
    let may_end = ways.is_empty() || ways.contains(&&end);
    let on = ways.iter().find(is_new).map(|it| (*it).clone());
    on.or(may_end.then_some(end))
}

/// Leaves a phase: a worker signals, or commands end.
fn leave(state: &mut State, attempt: AttemptId, target: &PhaseId, outcome: Option<&Outcome>) {
    let Some(intent) = state.attempt(attempt).map(|it| it.intent.clone()) else { return };
    let failed = outcome.is_some_and(|outcome| outcome.as_str() == "fail");
    let phase = state.phase_at(&intent.place);
    let commands = phase.filter(|it| it.run == PhaseKind::Command).map(|it| it.commands.len());
    if let Some(count) = commands.filter(|_| outcome.is_none() || failed) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        // The first command that fails ends the list.
        for index in 0..if failed { 1 } else { count } {
            let output = "‹what the command prints›".to_owned();
            let what = AttemptReport::CommandEnded { index, code: Some(i32::from(failed)), output };
            step(state, &report(attempt, what));
        }
    } else {
        let demands = phase.map(|phase| phase.requires.clone()).unwrap_or_default();
        let judged = || pool::judged(state, &intent.place);
        let outcome = outcome.cloned().or_else(judged).or_else(|| verdict(phase?, target));
        let plans = phase.is_some_and(|phase| phase.produces.is_some());
        // The real engine checks evidence. The rehearsed worker has to bring some, or it could not leave.
        do_what_is_demanded(state, attempt, &demands);
        if plans {
            signal(state, attempt, "rehearsed plan", pool::planned());
        }
        let summary = format!("‹what the worker of `{}` says›", intent.place);
        // The target is always named: which way a real worker would choose is not known, and each way is walked once.
        let (target, task) = (Some(target.clone()), None);
        let issues = Issues::default();
        let leaves = Signal::Leave { target, outcome, summary, task, issues };
        signal(state, attempt, "rehearsal", leaves);
    }
    let seen = EndSeen { finished: true, code: Some(0), ..EndSeen::default() };
    step(state, &report(attempt, AttemptReport::Ended(seen)));
}

fn signal(state: &mut State, attempt: AttemptId, request: &str, signal: Signal) {
    let command = Command::Signal { attempt, request: request.to_owned(), signal };
    step(state, &Input { by: by(Actor::Worker(attempt)), ..by_person(command) });
}

/// Lets every `verify` or `cleanup` command succeed.
fn pass(state: &mut State, attempt: AttemptId, commands: usize) {
    for index in 0..u32::try_from(commands).unwrap_or(u32::MAX) {
        let what = AttemptReport::CommandEnded { index, code: Some(0), output: String::new() };
        step(state, &report(attempt, what));
    }
    let seen = EndSeen { finished: true, code: Some(0), ..EndSeen::default() };
    step(state, &report(attempt, AttemptReport::Ended(seen)));
}

/// Fulfils what a phase requires before it is left.
fn do_what_is_demanded(state: &mut State, attempt: AttemptId, demands: &[String]) {
    for (index, wanted) in demands.iter().enumerate() {
        let call = format!("rehearsal-{index}");
        let asked = Call::new(&call, "bash", &serde_json::json!({ "command": wanted }), &[]);
        step(
            state,
            &report(
                attempt,
                AttemptReport::ToolCalled { call: Box::new(asked), judged: Judgement::Clear },
            ),
        );
        step(state, &report(attempt, AttemptReport::ToolEnded { call, ok: true }));
    }
}

/// The outcome that leads to the chosen target, if the phase asks for a verdict.
fn verdict(phase: &Phase, target: &PhaseId) -> Option<Outcome> {
    let is_said = |outcome: &&Outcome| !outcome.is_supervisors();
    let pass = Outcome::from("pass");
    let leads = |outcome: &&Outcome| phase.on.get(*outcome) == Some(target);
    let by_edge = std::iter::once(&pass).chain(phase.on.keys()).filter(is_said).find(leads);
    // A target without an edge of its own is reached by a pass where the workflow names no way of a pass, otherwise by a no.
    let other = if phase.on.contains_key(&pass) { Outcome::from("fail") } else { pass.clone() };
    phase.asks_verdict().then(|| by_edge.cloned().unwrap_or(other))
}

/// Decides and applies, without a ledger.
fn step(state: &mut State, input: &Input) {
    if let Some(line) = engine::step(state, input).line {
        state.apply(&line);
    }
}

fn report(attempt: AttemptId, what: AttemptReport) -> Input {
    let what = What::Report(Report::Attempt { attempt, active_ms: 0, what });
    // No time passes in a dry run, so no limit of time can end it.
    Input { at: Millis(0), by: by(Actor::Supervisor), what }
}

fn by_person(command: Command) -> Input {
    Input { at: Millis(0), by: by(Actor::Person(String::new())), what: What::Command(command) }
}

fn by(actor: Actor) -> By {
    By { actor, request: None }
}
