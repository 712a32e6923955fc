//! Workflows that follow from pools and races: what a step, a conflict, a check after a merge or a judge runs as a frame of its own.
//!
//! They are added when a run begins and frozen with the others, so that the engine knows nothing but frames of workflows.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Approval, Isolation, Phase, PhaseKind, SessionUse, Show, Workflow};
use super::pool::{Judge, Merge, Racer, WorktreeSetup};
use crate::base::ids::{DONE, HUMAN_INTERVENTION, Outcome, PhaseId};

/// The single phase of a step's own workflow.
pub const WORK: &str = "work";
/// The single phase of the check after a merge, and the last part of its workflow's key.
pub const MERGE_VERIFY: &str = "verify";
/// The single phase of commands that make a work folder ready, and the last part of its workflow's key.
pub const SETUP: &str = "setup";
/// The single phase of commands that judge a race, and the last part of the key of whatever judges one.
pub const RACE_JUDGE: &str = "judge";

/// Outcomes of a judge that chose nobody.
const JUDGE_GIVES_UP: [&str; 6] = ["fail", "gaps", "crash", "stuck", "timeout", "unverified"];

/// The key of a workflow that follows from a phase: of its steps, or with `part` of a racer, its check or its judge.
pub fn derived_key(workflow: &str, phase: &PhaseId, part: Option<&str>) -> String {
    match part {
        Some(part) => format!("{workflow}.{phase}.{part}"),
        None => format!("{workflow}.{phase}"),
    }
}

/// Adds the workflows that follow from pools and races, and names those of steps in their pools. Twice does no more than once.
pub fn expand_pools(workflows: &mut Vec<Workflow>) {
    let mut added: Vec<Workflow> = Vec::new();
    for workflow in workflows.iter() {
        for (_, derived) in derived(workflow) {
            let has_key = |it: &Workflow| it.key == derived.key;
            if !workflows.iter().chain(&added).any(has_key) {
                added.push(derived);
            }
        }
    }
    for workflow in workflows.iter_mut() {
        let pools = workflow.phases.iter_mut().filter(|phase| phase.run == PhaseKind::Pool);
        for phase in pools.filter(|phase| phase.workflow.is_none()) {
            phase.workflow = Some(derived_key(&workflow.key, &phase.id, None));
        }
    }
    workflows.extend(added);
}

/// Keys of the workflows of those racers for which this holds, such as that they name an agent of their own.
pub fn racers_with(workflows: &[Workflow], holds: impl Fn(&Racer) -> bool) -> BTreeSet<String> {
    let phases = workflows.iter().flat_map(|it| it.phases.iter().map(move |phase| (it, phase)));
    let racers =
        phases.flat_map(|(it, phase)| phase.workers.iter().map(move |one| (it, phase, one)));
    let fit = racers.filter(|(.., racer)| holds(racer));
    fit.map(|(it, phase, racer)| derived_key(&it.key, &phase.id, Some(&racer.id))).collect()
}

/// Every workflow that follows from one, with the phase that needs it.
pub(super) fn derived(workflow: &Workflow) -> Vec<(&PhaseId, Workflow)> {
    workflow.phases.iter().flat_map(|it| of_phase(workflow, it)).collect()
}

fn of_phase<'w>(workflow: &Workflow, phase: &'w Phase) -> Vec<(&'w PhaseId, Workflow)> {
    let mut found = Vec::new();
    match phase.run {
        PhaseKind::Pool => {
            if phase.workflow.is_none() {
                found.push(of_steps(workflow, phase));
            }
        }
        PhaseKind::Race => {
            found.extend(phase.workers.iter().map(|racer| of_racer(workflow, phase, racer)));
        }
        PhaseKind::Worker
        | PhaseKind::Inline
        | PhaseKind::Command
        | PhaseKind::Workflow
        | PhaseKind::Human => return Vec::new(),
    }
    let conflict = phase.on.get(&Outcome::from("conflict"));
    found.extend(conflict.and_then(|target| of_other(workflow, target)));
    if !phase.worktree.setup.is_empty() {
        found.push(of_commands(workflow, phase, SETUP, &phase.worktree.setup));
    }
    if phase.merge.verify {
        let own = Some(&phase.verify).filter(|own| !own.is_empty());
        let commands = own.unwrap_or(&workflow.verify);
        found.push(of_commands(workflow, phase, MERGE_VERIFY, commands));
    }
    match &phase.judge {
        Some(Judge::Phase(judge)) => found.extend(of_judge(workflow, phase, judge)),
        Some(Judge::Commands(commands)) => {
            found.push(of_commands(workflow, phase, RACE_JUDGE, commands));
        }
        Some(Judge::Person) | None => {}
    }
    found.into_iter().map(|derived| (&phase.id, derived)).collect()
}

/// One worker, or commands, for each step of a pool.
fn of_steps(workflow: &Workflow, phase: &Phase) -> Workflow {
    let kind = if phase.commands.is_empty() { PhaseKind::Worker } else { PhaseKind::Command };
    let work = Phase { run: kind, ..work(phase) };
    around(workflow, phase, derived_key(&workflow.key, &phase.id, None), work)
}

/// One worker of a race.
fn of_racer(workflow: &Workflow, phase: &Phase, racer: &Racer) -> Workflow {
    let own = work(phase);
    let work = Phase {
        persona: racer.persona.clone().or(own.persona),
        agent: racer.agent.clone().or(own.agent),
        model: racer.model.clone().or(own.model),
        thinking: racer.thinking.clone().or(own.thinking),
        ..own
    };
    around(workflow, phase, derived_key(&workflow.key, &phase.id, Some(&racer.id)), work)
}

/// The phase of a single step: all that the pool says of its worker. Gates, budgets, checks and edges stay with the pool.
fn work(phase: &Phase) -> Phase {
    Phase {
        id: PhaseId::from(WORK),
        run: PhaseKind::Worker,
        next: Vec::new(),
        on: BTreeMap::new(),
        approval: Approval::None,
        shows_verdict: false,
        verify: Vec::new(),
        cleanup: Vec::new(),
        budget: None,
        isolation: Isolation::Shared,
        session: SessionUse::Fresh,
        produces: None,
        steps: Vec::new(),
        steps_from: None,
        slots: None,
        workflow: None,
        merge: Merge::default(),
        worktree: WorktreeSetup::default(),
        pause_between: false,
        workers: Vec::new(),
        judge: None,
        // Accepted as not enforced at the pool.
        extra_skills: Vec::new(),
        ..phase.clone()
    }
}

/// Another phase of the workflow by itself. Its edges lead to phases that are not there; only ends are kept.
fn of_other(workflow: &Workflow, id: &PhaseId) -> Option<Workflow> {
    let is_end = |target: &PhaseId| [DONE, HUMAN_INTERVENTION].contains(&target.as_str());
    let found = workflow.phase(id)?;
    // Refused when the workflow is checked.
    let mut phase =
        Some(found).filter(|it| !matches!(it.run, PhaseKind::Pool | PhaseKind::Race))?.clone();
    phase.next.retain(is_end);
    phase.on.retain(|_, target| is_end(target));
    let cleanup = workflow.cleanup.clone();
    let key = derived_key(&workflow.key, id, None);
    let name = phase.name.clone();
    Some(Workflow { name, cleanup, ..plain(workflow, key, phase) })
}

/// The phase that judges a race. It is left by the name of a racer; whatever else it ends with, a person chooses.
fn of_judge(workflow: &Workflow, race: &Phase, judge: &PhaseId) -> Option<Workflow> {
    let mut found = of_other(workflow, judge)?;
    found.key = derived_key(&workflow.key, &race.id, Some(RACE_JUDGE));
    let phase = found.phases.first_mut()?;
    let racers = race.workers.iter().map(|racer| Outcome::from(racer.id.as_str()));
    let badly = JUDGE_GIVES_UP.into_iter().map(Outcome::from);
    phase.outcomes = racers.clone().collect();
    phase.on = racers.chain(badly).map(|outcome| (outcome, PhaseId::from(DONE))).collect();
    phase.next = Vec::new();
    (phase.produces, phase.shows_verdict) = (None, false);
    phase.session = SessionUse::Fresh;
    Some(found)
}

fn of_commands(workflow: &Workflow, phase: &Phase, part: &str, commands: &[String]) -> Workflow {
    let key = derived_key(&workflow.key, &phase.id, Some(part));
    let own = Phase {
        run: PhaseKind::Command,
        commands: commands.to_vec(),
        env: phase.env.clone(),
        env_names: phase.env_names.clone(),
        walls: phase.walls.clone(),
        ..Phase::new(PhaseId::from(part), phase.limits.clone())
    };
    plain(workflow, key, own)
}

fn around(workflow: &Workflow, phase: &Phase, key: String, work: Phase) -> Workflow {
    // The workflow's `cleanup` is for phases without their own, and the pool's own is for the pool.
    let is_own = !phase.cleanup.is_empty();
    let cleanup = if is_own { Vec::new() } else { workflow.cleanup.clone() };
    Workflow { name: phase.name.clone(), cleanup, ..plain(workflow, key, work) }
}

/// A workflow of one phase, in the surroundings of another. Rules hold for the whole run, and texts come from the workflow around.
fn plain(workflow: &Workflow, key: String, phase: Phase) -> Workflow {
    Workflow {
        name: key.clone(),
        key,
        description: None,
        command_name: None,
        show: Show::Workflows,
        initial: phase.id.clone(),
        phases: vec![phase],
        agent: workflow.agent.clone(),
        model: workflow.model.clone(),
        budget: None,
        limits: workflow.limits.clone(),
        guards: None,
        verify: Vec::new(),
        cleanup: Vec::new(),
        env: workflow.env.clone(),
        env_names: workflow.env_names.clone(),
        walls: workflow.walls.clone(),
        loopable: false,
        templates: BTreeMap::new(),
    }
}
