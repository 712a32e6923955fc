//! Steps of a pool: unique ids, dependencies that exist, and no cycles.

use std::collections::{BTreeMap, BTreeSet};

use super::super::draft::{Named, Node, Value};
use super::super::model::StepItem;
use super::super::problem::{Finding, Problems, quoted};
use super::super::suggest::closest;
use super::fields::Fields;

/// Most steps of one pool.
const STEPS_MAX: usize = 500;

/// One step, with its positions.
struct StepRead {
    item: StepItem,
    id: Option<Named>,
    depends_on: Vec<Named>,
}

/// Reads the steps of a phase.
pub(super) fn read(fields: &mut Fields<'_, '_>) -> Vec<StepItem> {
    let Some(field) = fields.take("steps") else { return Vec::new() };
    let Value::List(items) = &field.value.value else {
        fields.wrong("steps", &field.value, "a list");
        return Vec::new();
    };
    if let Some(beyond) = items.get(STEPS_MAX) {
        let message = format!("more than {STEPS_MAX} steps");
        fields.problems.push(Finding::error("too-many-steps", beyond.span, message));
    }
    let items = items.iter().take(STEPS_MAX);
    let steps: Vec<StepRead> = items.filter_map(|item| read_step(fields, item)).collect();
    judge(&steps, fields.problems);
    steps.into_iter().map(|step| step.item).collect()
}

fn read_step<'d>(fields: &mut Fields<'d, '_>, item: &'d Node) -> Option<StepRead> {
    let step = fields.map("steps", item, |fields| {
        let id = fields.named("id");
        let depends_on = fields.named_list("depends_on").unwrap_or_default();
        StepRead {
            item: StepItem {
                id: id.as_ref().map_or_else(String::new, |id| id.text.clone()),
                name: fields.text("name"),
                description: fields.text_or_blank("description"),
                depends_on: depends_on.iter().map(|named| named.text.clone()).collect(),
                files: fields.texts("files").unwrap_or_default(),
            },
            id,
            depends_on,
        }
    })?;
    if step.id.is_none() {
        let finding = Finding::error("missing-id", item.span, "a step without an id");
        fields.problems.push(finding.hint("add `id:`"));
    }
    Some(step)
}

fn judge(steps: &[StepRead], problems: &mut Problems) {
    let mut ids = BTreeSet::new();
    for id in steps.iter().filter_map(|step| step.id.as_ref()) {
        if !ids.insert(id.text.as_str()) {
            let message = format!("another step is called {}", quoted(&id.text));
            problems.push(Finding::error("duplicate-id", id.at, message));
        }
    }
    for wanted in steps.iter().flat_map(|step| &step.depends_on) {
        if !ids.contains(wanted.text.as_str()) {
            let message = format!("no step is called {}", quoted(&wanted.text));
            let finding = Finding::error("unknown-step", wanted.at, message);
            problems.push(finding.did_you_mean(closest(&wanted.text, ids.iter().copied())));
        }
    }
    tell_circle(steps, problems);
}

/// Reports cycles: what remains after repeatedly removing steps that depend on nothing left.
fn tell_circle(steps: &[StepRead], problems: &mut Problems) {
    let mut left: BTreeMap<&str, &StepRead> =
        steps.iter().map(|step| (step.item.id.as_str(), step)).collect();
    loop {
        let before = left.len();
        let waits = |step: &StepRead| {
            step.depends_on.iter().any(|wanted| left.contains_key(wanted.text.as_str()))
        };
        let free: Vec<&str> =
            left.iter().filter(|(_, step)| !waits(step)).map(|(id, _)| *id).collect();
        for id in free {
            left.remove(id);
        }
        // Nothing more can be removed: what is left waits for itself.
        if left.len() == before {
            break;
        }
    }
    // Told once, at the first of them: the others are the same circle, or wait for it.
    let first = steps.iter().find(|step| left.contains_key(step.item.id.as_str()));
    let Some(at) = first.and_then(|step| step.depends_on.first()).map(|wanted| wanted.at) else {
        return;
    };
    let names: Vec<String> = left.keys().take(5).map(|id| quoted(id)).collect();
    let message = format!("steps that wait for each other never begin: {}", names.join(", "));
    problems.push(Finding::error("step-circle", at, message));
}
