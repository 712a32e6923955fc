//! Pools and races: what they say, and whether the rest of the workflow can do it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::draft::{Draft, Field, Named, Node, Span, Value};
use super::super::expand::{MERGE_VERIFY, RACE_JUDGE, SETUP};
use super::super::model::{Isolation, Phase, PhaseKind, THINKING, Workflow};
use super::super::pool::{Judge, Merge, MergeOrder, Racer, SLOTS_MAX, WorktreeSetup};
use super::super::problem::{Finding, Problems, quoted};
use super::super::suggest::closest;
use super::fields::Fields;
use super::phase::tell_bad_id;
use super::steps::{self, tell_bad_path};
use crate::base::ids::{DONE, HUMAN_INTERVENTION, KNOWN_OUTCOMES, Outcome, PhaseId, SKIPPED};

/// Fewest and most workers of a race.
const WORKERS_MIN: usize = 2;
const WORKERS_MAX: usize = 16;
/// The word of `judge` for a person.
const PERSON: &str = "person";
/// The answer of a person who takes no result.
const NONE: &str = "none";

const ISOLATIONS: &[(&str, Isolation)] =
    &[("shared", Isolation::Shared), ("worktree", Isolation::Worktree)];
const ORDERS: &[(&str, MergeOrder)] =
    &[("completion", MergeOrder::Completion), ("in_order", MergeOrder::InOrder)];

/// Fields of pools and races, and the kinds of phases that they are for.
const FITS: &[(&str, &[PhaseKind], &str)] = &[
    ("steps", &[PhaseKind::Pool], "pool"),
    ("steps_from", &[PhaseKind::Pool], "pool"),
    ("slots", &[PhaseKind::Pool], "pool"),
    ("merge", &[PhaseKind::Pool], "pool"),
    ("pause_between", &[PhaseKind::Pool], "pool"),
    ("workers", &[PhaseKind::Race], "race"),
    ("judge", &[PhaseKind::Race], "race"),
];

/// Reads all fields of pools and races, on any phase; `phase.run` is known.
pub(super) fn read(fields: &mut Fields<'_, '_>, phase: &mut Phase, at: Span) {
    phase.steps = steps::read(fields);
    phase.steps_from = fields.named("steps_from").map(|path| {
        tell_bad_path(&path, fields.problems);
        path.text
    });
    phase.slots = read_slots(fields);
    phase.merge = read_merge(fields);
    phase.pause_between = fields.flag("pause_between").unwrap_or_default();
    phase.workers = read_workers(fields);
    let judge = read_judge(fields);
    if phase.run == PhaseKind::Race {
        phase.judge = Some(judge.unwrap_or(Judge::Person));
        tell_few_workers(fields, phase, at);
    }
    read_folders(fields, phase);
    for (name, kinds, run) in FITS {
        if let (false, Some(field)) = (kinds.contains(&phase.run), fields.take(name)) {
            let message = format!("{} is for `run: {run}` only", quoted(&field.name));
            fields.problems.push(Finding::error("misplaced-field", field.at, message));
        }
    }
    if let (Some(_), Some(second)) = (fields.take("steps"), fields.take("steps_from")) {
        let message = "`steps` and `steps_from` are two sources of steps";
        let finding = Finding::error("conflicting-fields", second.at, message);
        fields.problems.push(finding.hint("remove one of them"));
    }
}

fn read_slots(fields: &mut Fields<'_, '_>) -> Option<u32> {
    let slots: u32 = fields.positive("slots")?;
    if slots > SLOTS_MAX {
        let at = fields.take("slots")?.value.span;
        let message = format!("`slots` is at most {SLOTS_MAX}, not {slots}");
        let finding = Finding::error("too-many-slots", at, message);
        fields.problems.push(finding.hint("leave it out for 3"));
        return None;
    }
    Some(slots)
}

/// A word, or `{order: …, verify: true}`.
fn read_merge(fields: &mut Fields<'_, '_>) -> Merge {
    let is_map = fields.take("merge").is_some_and(|it| matches!(it.value.value, Value::Map(_)));
    if !is_map {
        let order = fields.choice("merge", ORDERS).unwrap_or_default();
        return Merge { order, verify: false };
    }
    let said = fields.within("merge", |fields| Merge {
        order: fields.choice("order", ORDERS).unwrap_or_default(),
        verify: fields.flag("verify").unwrap_or_default(),
    });
    said.unwrap_or_default()
}

/// `isolation`, written out, and how its folders are made.
fn read_folders(fields: &mut Fields<'_, '_>, phase: &mut Phase) {
    let said = fields.choice("isolation", ISOLATIONS);
    let at_once = match phase.run {
        PhaseKind::Pool => phase.slots() > 1,
        PhaseKind::Race => true,
        PhaseKind::Worker
        | PhaseKind::Inline
        | PhaseKind::Command
        | PhaseKind::Workflow
        | PhaseKind::Human => false,
    };
    if let (true, Some(Isolation::Shared), Some(field)) = (at_once, said, fields.take("isolation"))
    {
        let message = "work that is done at the same time cannot share the project's files: nobody could tell who wrote what";
        let hint = match phase.run {
            PhaseKind::Pool => "take `isolation` out, or set `slots: 1`",
            PhaseKind::Race
            | PhaseKind::Worker
            | PhaseKind::Inline
            | PhaseKind::Command
            | PhaseKind::Workflow
            | PhaseKind::Human => "take `isolation` out",
        };
        fields.problems.push(Finding::error("shared-folder", field.at, message).hint(hint));
    }
    let default = if at_once { Isolation::Worktree } else { Isolation::Shared };
    phase.isolation = said.unwrap_or(default);
    let setup = fields.within("worktree", |fields| WorktreeSetup {
        setup: fields.texts("setup").unwrap_or_default(),
        carry: read_carry(fields),
    });
    phase.worktree = setup.unwrap_or_default();
    if let (Isolation::Shared, Some(field)) = (phase.isolation, fields.take("worktree")) {
        let message = "`worktree` does nothing here: the phase works on the project's own files";
        let finding = Finding::error("misplaced-field", field.at, message);
        fields.problems.push(finding.hint("add `isolation: worktree`, or remove it"));
    }
}

fn read_carry(fields: &mut Fields<'_, '_>) -> Vec<String> {
    let said = fields.named_list("carry").unwrap_or_default();
    let fit = said.into_iter().filter(|path| !tell_bad_path(path, fields.problems));
    fit.map(|path| path.text).collect()
}

/// Names of agents, or maps; each gets an id.
fn read_workers(fields: &mut Fields<'_, '_>) -> Vec<Racer> {
    let Some(field) = fields.take("workers") else { return Vec::new() };
    let Value::List(items) = &field.value.value else {
        fields.wrong("workers", &field.value, "a list");
        return Vec::new();
    };
    let mut racers: Vec<Racer> = Vec::new();
    let mut waiting = Vec::new();
    for item in items {
        let Some((id, racer)) = read_worker(fields, item) else { continue };
        let Some(id) = id else {
            waiting.push(racers.len());
            racers.push(racer);
            continue;
        };
        let is_bad = tell_bad_id(&id, fields.problems) || tell_reserved(&id, fields.problems);
        if !is_bad && racers.iter().any(|it| it.id == id.text) {
            let message = format!("another worker is called {}", quoted(&id.text));
            fields.problems.push(Finding::error("duplicate-id", id.at, message));
        }
        racers.push(Racer { id: id.text, ..racer });
    }
    // Ids that are written come first, wherever they stand: a made one gives way.
    for index in waiting {
        let id = made_id(&racers[index], index, &racers);
        racers[index].id = id;
    }
    racers
}

fn read_worker<'d>(fields: &mut Fields<'d, '_>, item: &'d Node) -> Option<(Option<Named>, Racer)> {
    if let Some(agent) = item.text().filter(|agent| !agent.trim().is_empty()) {
        return Some((None, Racer { agent: Some(agent.to_owned()), ..Racer::default() }));
    }
    fields.map("workers", item, |fields| {
        let id = fields.named("id");
        let racer = Racer {
            id: String::new(),
            agent: fields.text("agent"),
            model: fields.text("model"),
            persona: fields.text("persona"),
            thinking: fields
                .choice("thinking", &THINKING.map(|level| (level, level)))
                .map(str::to_owned),
        };
        (id, racer)
    })
}

/// True for a name that says something else where racers are chosen or their workflows are called.
fn is_reserved(id: &str) -> bool {
    [NONE, SKIPPED, DONE, HUMAN_INTERVENTION, RACE_JUDGE, MERGE_VERIFY, SETUP].contains(&id)
        || KNOWN_OUTCOMES.contains(&id)
}

fn tell_reserved(id: &Named, problems: &mut Problems) -> bool {
    if !is_reserved(&id.text) {
        return false;
    }
    let message = format!("no worker can be called {}: that is a word of races", quoted(&id.text));
    problems.push(Finding::error("reserved-id", id.at, message).hint("give it another `id`"));
    true
}

/// An id after the agent, persona or model, with a number if it is taken.
fn made_id(racer: &Racer, index: usize, others: &[Racer]) -> String {
    let is_name = |text: &&String| !text.trim().contains(char::is_whitespace);
    let named = racer.agent.as_ref().or(racer.persona.as_ref().filter(is_name));
    let named = named.or(racer.model.as_ref()).map_or("", |text| text.as_str());
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let plain: String = named.chars().take(40).map(plain).collect();
    let base = match plain.trim_matches('-') {
        "" => format!("worker-{}", index + 1),
        plain => plain.to_owned(),
    };
    let is_free = |id: &String| !is_reserved(id) && others.iter().all(|other| other.id != *id);
    let numbered = (2..=others.len() + 1).map(|number| format!("{base}-{number}"));
    std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base)
}

fn tell_few_workers(fields: &mut Fields<'_, '_>, phase: &Phase, at: Span) {
    let said = fields.take("workers").map(|field| field.at);
    let count = phase.workers.len();
    if !(WORKERS_MIN..=WORKERS_MAX).contains(&count) {
        let id = quoted(phase.id.as_str());
        let message = format!(
            "{id} is a race of {count}: it needs from {WORKERS_MIN} to {WORKERS_MAX} workers"
        );
        let finding = Finding::error("race-workers", said.unwrap_or(at), message);
        fields.problems.push(finding.hint("write `workers: [claude, pi]`"));
    }
}

/// A phase, `person`, or `{commands: […]}`.
fn read_judge(fields: &mut Fields<'_, '_>) -> Option<Judge> {
    let field: &Field = fields.take("judge")?;
    match &field.value.value {
        Value::Map(_) => {
            let commands = fields.within("judge", |fields| fields.texts("commands"))?;
            let commands = commands.unwrap_or_default();
            if commands.is_empty() {
                let message = "`judge` names no commands";
                let finding = Finding::error("no-commands", field.at, message);
                fields.problems.push(finding.hint("write `judge: {commands: [make test]}`"));
            }
            Some(Judge::Commands(commands))
        }
        Value::Scalar(_) | Value::List(_) | Value::Null => {
            let name = fields.text("judge")?;
            let is_person = name == PERSON;
            Some(if is_person { Judge::Person } else { Judge::Phase(PhaseId::new(name)) })
        }
    }
}

/// Reports what pools and races need of the rest of the workflow.
pub(super) fn judge(workflow: &Workflow, draft: &Draft, problems: &mut Problems) {
    for phase in &workflow.phases {
        let place = |field: &str| draft.locate(Some(phase.id.as_str()), field);
        tell_source(workflow, phase, place("run"), problems);
        if phase.merge.verify && phase.verify.is_empty() && workflow.verify.is_empty() {
            let message = "`merge.verify` has nothing to run: neither the phase nor the workflow has `verify`";
            let finding = Finding::error("nothing-to-verify", place("merge"), message);
            problems.push(finding.hint("add `verify:` to the phase"));
        }
        tell_conflict(workflow, phase, place("on"), problems);
        if let Some(Judge::Phase(judge)) = &phase.judge {
            tell_judge(workflow, phase, judge, place("judge"), problems);
        }
    }
    tell_unused(workflow, draft, problems);
}

fn plans(phase: &Phase) -> bool {
    phase.produces.is_some() && matches!(phase.run, PhaseKind::Worker | PhaseKind::Inline)
}

/// Whether a pool takes its steps from a phase that plans them.
fn takes_plan(phase: &Phase) -> bool {
    phase.run == PhaseKind::Pool && phase.steps.is_empty() && phase.steps_from.is_none()
}

/// A pool without steps of its own needs a phase before it that plans them.
fn tell_source(workflow: &Workflow, phase: &Phase, at: Span, problems: &mut Problems) {
    let planned = |before: &Phase| plans(before) && leads_to(workflow, before, &phase.id);
    if takes_plan(phase) && !workflow.phases.iter().any(planned) {
        let id = quoted(phase.id.as_str());
        let message = format!("{id} has no steps, and no phase before it plans any");
        let finding = Finding::error("no-steps", at, message);
        let hint =
            "add `steps:` or `steps_from:`, or `produces: steps` to the phase that plans them";
        problems.push(finding.hint(hint));
    }
}

/// A plan that nobody takes is probably a pool that is missing.
fn tell_unused(workflow: &Workflow, draft: &Draft, problems: &mut Problems) {
    for phase in workflow.phases.iter().filter(|phase| plans(phase)) {
        let mut pools = workflow.phases.iter().filter(|pool| takes_plan(pool));
        if !pools.any(|pool| leads_to(workflow, phase, &pool.id)) {
            let at = draft.locate(Some(phase.id.as_str()), "produces");
            let message =
                format!("no pool takes the steps that {} plans", quoted(phase.id.as_str()));
            let finding = Finding::warning("unused-steps", at, message);
            problems.push(finding.hint("add a phase with `run: pool` after it, without `steps`"));
        }
    }
}

/// Whether edges lead from a phase to another one.
fn leads_to(workflow: &Workflow, from: &Phase, to: &PhaseId) -> bool {
    let by_id: BTreeMap<&PhaseId, &Phase> =
        workflow.phases.iter().map(|phase| (&phase.id, phase)).collect();
    let mut seen = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(phase) = waiting.pop() {
        for target in phase.next.iter().chain(phase.on.values()) {
            if target == to {
                return true;
            }
            if seen.insert(target) {
                waiting.extend(by_id.get(target));
            }
        }
    }
    false
}

/// Conflicts are resolved in the folder of a step, where no other steps can begin.
fn tell_conflict(workflow: &Workflow, phase: &Phase, at: Span, problems: &mut Problems) {
    let is_one = matches!(phase.run, PhaseKind::Pool | PhaseKind::Race);
    let target = phase.on.get(&Outcome::from("conflict")).filter(|_| is_one);
    let target = target.and_then(|target| workflow.phase(target));
    if let Some(target) = target.filter(|it| matches!(it.run, PhaseKind::Pool | PhaseKind::Race)) {
        let id = quoted(target.id.as_str());
        let message = format!("{id} cannot resolve conflicts: it would begin steps of its own");
        let finding = Finding::error("bad-conflict", at, message);
        problems.push(finding.hint("name a worker phase, or leave it out: then a person is asked"));
    }
}

fn tell_judge(
    workflow: &Workflow,
    phase: &Phase,
    judge: &PhaseId,
    at: Span,
    problems: &mut Problems,
) {
    let name = quoted(judge.as_str());
    if phase.workers.iter().any(|racer| racer.id == judge.as_str()) {
        let message = format!("{name} is a worker of the race and the phase that judges it");
        let finding = Finding::error("duplicate-id", at, message);
        return problems.push(finding.hint("give the worker another `id`"));
    }
    let message = match workflow.phase(judge) {
        Some(found) if found.id == phase.id => format!("{name} cannot judge itself"),
        Some(found) if found.run == PhaseKind::Worker => return,
        Some(_) => format!("{name} cannot judge: no worker of its own does it"),
        None => format!("no phase is called {name}, which is to judge"),
    };
    let workers = workflow.phases.iter().filter(|it| it.run == PhaseKind::Worker);
    let meant = closest(judge.as_str(), workers.map(|it| it.id.as_str()).chain([PERSON]));
    let finding = Finding::error("unknown-judge", at, message);
    let finding = finding.hint("name a worker phase, or write `judge: person`");
    problems.push(finding.did_you_mean(meant.filter(|meant| *meant != judge.as_str())));
}
