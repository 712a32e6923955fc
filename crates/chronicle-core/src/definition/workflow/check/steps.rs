//! Steps of a pool in a workflow file. What they must be like is in `steps.rs`, for plans too.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::super::draft::{Field, Named, Node, Span, Value};
use super::super::pool::{STEPS_MAX, StepFiles, StepItem};
use super::super::problem::{Finding, Problems, quoted};
use super::super::steps::{At, faults, is_odd, nearly};
use super::fields::Fields;

/// One step, with its positions.
struct StepRead {
    item: StepItem,
    id: Option<Named>,
    depends_on: Vec<Named>,
    span: Span,
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
    let reads: Vec<StepRead> = items.filter_map(|item| read_step(fields, item)).collect();
    judge(reads, fields.problems)
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
                files: read_files(fields),
                more: read_more(fields),
            },
            id,
            depends_on,
            span: item.span,
        }
    })?;
    if step.id.is_none() {
        let finding = Finding::error("missing-id", item.span, "a step without an id");
        fields.problems.push(finding.hint("add `id:`"));
    }
    Some(step)
}

fn read_files(fields: &mut Fields<'_, '_>) -> StepFiles {
    let is_map = fields.take("files").is_some_and(|it| matches!(it.value.value, Value::Map(_)));
    if !is_map {
        return StepFiles { create: Vec::new(), change: fields.texts("files").unwrap_or_default() };
    }
    let said = fields.within("files", |fields| StepFiles {
        create: fields.texts("create").unwrap_or_default(),
        change: fields.texts("change").unwrap_or_default(),
    });
    said.unwrap_or_default()
}

/// Every further field. One that is nearly a field of steps, or no plain name, is left to be told as unknown.
fn read_more(fields: &mut Fields<'_, '_>) -> BTreeMap<String, Json> {
    let others = fields.others();
    let meant = |field: &&Field| {
        field.name != "<<" && nearly(&field.name).is_none() && !is_odd(&field.name)
    };
    let mut more = BTreeMap::new();
    for field in others.into_iter().filter(meant) {
        fields.pass(field);
        more.insert(field.name.clone(), json(&field.value));
    }
    more
}

/// A value of a file as a worker reads it. The depth is that of the file, which is bounded.
fn json(node: &Node) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Scalar(text) => Json::String(text.clone()),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(fields) => fields.iter().map(|it| (it.name.clone(), json(&it.value))).collect(),
    }
}

fn judge(reads: Vec<StepRead>, problems: &mut Problems) -> Vec<StepItem> {
    let (mut items, mut places) = (Vec::new(), Vec::new());
    for StepRead { item, id, depends_on, span } in reads {
        let depends: Vec<Span> = depends_on.iter().map(|named| named.at).collect();
        places.push((id.map(|id| id.at), depends, span));
        items.push(item);
    }
    for fault in faults(&items, &|_| false) {
        let at = match fault.at {
            // A missing id was told as such.
            At::Step(index) if fault.code == "bad-id" => places[index].0,
            At::Step(index) => Some(places[index].0.unwrap_or(places[index].2)),
            At::Depends(index, nth) => places[index].1.get(nth).copied(),
        };
        if let Some(at) = at {
            let finding = Finding::error(fault.code, at, fault.message);
            problems.push(finding.did_you_mean(fault.meant.as_deref()));
        }
    }
    items
}

/// Reports a path that does not lead to something below the project. Returns true if it did.
pub(super) fn tell_bad_path(path: &Named, problems: &mut Problems) -> bool {
    let text = path.text.as_str();
    let leads_up = text.split('/').any(|name| name == "..");
    let why = if text.starts_with(['/', '~', '$']) || text.contains('\\') {
        "must be relative to the project"
    } else if leads_up {
        "leads out of the project"
    } else if text.split('/').any(|name| name.eq_ignore_ascii_case(".git")) {
        "is git's own, and every work tree has a repository of its own"
    } else if text.chars().any(char::is_control) {
        "contains a control character"
    } else if text.split('/').find(|name| !["", "."].contains(name)) == Some(".chronicle") {
        "is Chronicle's own record of runs"
    } else {
        return false;
    };
    problems.push(Finding::error("bad-path", path.at, format!("{} {why}", quoted(text))));
    true
}
