//! The Chronicle's JSON templates: `states` by name, who does them in `agent` or `persona`.
//!
//! There `agent` names a persona's file; the program that works is named nowhere. What the native format knows under the
//! same name is kept as it is.

use super::draft::{Draft, Entry, Field, Node, PhaseDraft, Span, Value};
use super::from_native;
use super::problem::{Finding, Problems};

/// What the text says; none when it cannot be read, which is told.
pub(crate) fn read(source: usize, text: &str, problems: &mut Problems) -> Option<Draft> {
    let mut draft = from_native::read(source, text, problems)?;
    // A template that names a program would surprise: nothing of that format does.
    draft.fields.retain(|field| keep(field, &["agent"], problems));
    draft.fields.iter_mut().filter(|it| it.name == "loop_policy").for_each(loop_policy);
    for entry in draft.entries_mut() {
        if let Entry::Phase(phase) = entry {
            mend(phase, problems);
        }
    }
    Some(draft)
}

/// That format's own name for loops that are judged by the issues that they resolve, and for its fields.
fn loop_policy(field: &mut Field) {
    let at = field.at;
    if let Value::Map(said) = &mut field.value.value {
        for field in said.iter_mut() {
            let name = match field.name.as_str() {
                "pair_bounce_threshold" => "bounce",
                "stagnation_threshold" => "stagnation",
                "hard_transition_cap" => "cap",
                _ => continue,
            };
            name.clone_into(&mut field.name);
        }
        said.push(Field::said("policy", "progress", at));
    }
    let span = field.value.span;
    let said = std::mem::replace(&mut field.value.value, Value::Null);
    let inner = Field { name: "loop".to_owned(), at, value: Node { span, value: said } };
    *field = Field::with("limits", Value::Map(vec![inner]), at);
}

fn mend(phase: &mut PhaseDraft, problems: &mut Problems) {
    phase.fields.retain(|field| keep(field, &["extra_skills"], problems));
    let says = |field: &Field, name: &str| field.name == name && field.value.value != Value::Null;
    if phase.fields.iter().any(|field| says(field, "agent")) {
        phase.fields.retain(|field| {
            if says(field, "persona") {
                let message = "`agent` names the persona: this text is not used";
                problems.push(Finding::warning("conflicting-fields", field.at, message));
            }
            field.name != "persona"
        });
    }
    for field in &mut phase.fields {
        match field.name.as_str() {
            "agent" => "persona".clone_into(&mut field.name),
            "tools" => allow(&mut field.value),
            _ => {}
        }
    }
}

/// Told and left out: nothing here would use it.
fn keep(field: &Field, unused: &[&str], problems: &mut Problems) -> bool {
    let is_kept = !unused.contains(&field.name.as_str());
    if !is_kept && field.value.value != Value::Null {
        let message = format!("`{}` is not used here", field.name);
        problems.push(Finding::warning("unused-field", field.at, message));
    }
    is_kept
}

/// A comma list, or a list, of the tools that are allowed.
fn allow(node: &mut Node) {
    let span = node.span;
    let names = match &node.value {
        Value::Scalar(text) => Value::List(comma_list(text, span)),
        Value::List(items) => Value::List(items.clone()),
        Value::Null | Value::Map(_) => return,
    };
    node.value = Value::Map(vec![Field::with("allow", names, span)]);
}

/// Names with commas between them.
fn comma_list(text: &str, span: Span) -> Vec<Node> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(|name| Node { span, value: Value::Scalar(name.to_owned()) }).collect()
}
