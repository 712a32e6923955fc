//! The Chronicle's JSON templates: `states` by name, with an `agent` or `persona` each.
//!
//! There, `agent` names a persona file; the program that works is not named. Fields that the native format has under the same
//! name are kept.

use super::draft::{Draft, Field, Node, PhaseDraft, PhaseEntry, Span, Value};
use super::format::{PHASE, Shape, WORKFLOW};
use super::from_native;
use super::problem::{Finding, Problems};
use super::restrict::{is_said, unknown};
use super::tools::Tools;
use crate::base::ids::{DONE, HUMAN_INTERVENTION};

/// Fields that no file for another program has a meaning for.
const NATIVE_ALONE: [&str; 1] = ["walls"];

/// Parses the text; `None` if it cannot be read, which is reported.
pub(crate) fn read(source: usize, text: &str, problems: &mut Problems) -> Option<Draft> {
    let mut draft = from_native::read(source, text, problems)?;
    // A template that names a program would surprise: nothing of that format does.
    draft.fields.retain(|field| keep(field, &["agent"], problems));
    draft.fields.iter_mut().filter(|it| it.name == "loop_policy").for_each(loop_policy);
    drop_unknown(&WORKFLOW, &["loop_policy"], &mut draft.fields, problems);
    for entry in draft.entries_mut() {
        if let PhaseEntry::Phase(phase) = entry {
            mend(phase, problems);
        }
    }
    Some(draft)
}

/// Renames that format's loop policy and its fields to the native ones.
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
        // That format has no other policy, and does not name it.
        said.push(Field::said("policy", "progress", at));
    }
    let span = field.value.span;
    let said = std::mem::replace(&mut field.value.value, Value::Null);
    let inner = Field { name: "loop".to_owned(), at, value: Node { span, value: said } };
    *field = Field::with("limits", Value::Map(vec![inner]), at);
}

/// Its own loader ignores unknown fields; here they are reported.
fn drop_unknown(
    shape: &Shape,
    own: &[&'static str],
    fields: &mut Vec<Field>,
    problems: &mut Problems,
) {
    fields.retain(|field| {
        let is_ours = |name: &str| NATIVE_ALONE.contains(&name);
        let is_known = shape.field(&field.name).is_some() && !is_ours(&field.name);
        if !is_known {
            let known = shape.names().chain(own.iter().copied());
            let known: Vec<&str> = known.filter(|name| !is_ours(name)).collect();
            problems.push(unknown(shape.owner, field, &known));
        }
        is_known
    });
}

fn mend(phase: &mut PhaseDraft, problems: &mut Problems) {
    let errors = problems.errors();
    drop_unknown(&PHASE, &[], &mut phase.fields, problems);
    // Told here, since the checks would call it `persona`.
    phase.fields.retain(|field| {
        field.name != "agent" || field.value.value == Value::Null || is_said(field, problems)
    });
    // An unknown field that is an error may be the `agent` that is missing.
    if problems.errors() == errors {
        read_only_without_agent(phase, problems);
    }
    if phase.says("agent") {
        // A file is meant there, even where the word could be the text of a persona.
        phase.names_persona = true;
        phase.fields.retain(|field| {
            if field.name == "persona" && field.value.value != Value::Null {
                let message = "`agent` names the persona: this text is not used";
                problems.push(Finding::warning("conflicting-fields", field.at, message));
            }
            field.name != "persona"
        });
    }
    for field in &mut phase.fields {
        match field.name.as_str() {
            // In that format `agent` names a persona file. Our `agent` is a program.
            "agent" => "persona".clone_into(&mut field.name),
            // A list there is a list of what is allowed, and nothing else.
            "tools" => allow(&mut field.value),
            _ => {}
        }
    }
}

/// A state that names nobody has the tools that it lists. Without a list it may only read, as in that program.
fn read_only_without_agent(phase: &mut PhaseDraft, problems: &mut Problems) {
    // The end and the person work without anybody; so do commands and other workflows.
    let is_end = [DONE, HUMAN_INTERVENTION].into_iter().any(|id| phase.id() == Some(id));
    let others = ["run", "commands", "workflow", "subworkflow"];
    if is_end || others.into_iter().any(|name| phase.says(name)) {
        return;
    }
    if ["agent", "persona", "tools"].into_iter().any(|name| phase.says(name)) {
        return;
    }
    let at = phase.key.as_ref().map_or(phase.span, |key| key.at);
    let message = "a state without `agent` and `persona`: the worker may only read";
    let finding = Finding::warning("missing-field", at, message);
    problems.push(finding.hint("add `agent`, the name of a persona file"));
    let names = Tools::read_only().allow.unwrap_or_default();
    phase.fields.retain(|field| field.name != "tools");
    phase.fields.push(Field::said("tools", names.join(","), at));
}

/// Reports and drops fields that nothing here would use.
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
        // A map says itself what it allows and denies.
        Value::Null | Value::Map(_) => return,
    };
    node.value = Value::Map(vec![Field::with("allow", names, span)]);
}

/// Names with commas between them.
fn comma_list(text: &str, span: Span) -> Vec<Node> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(|name| Node { span, value: Value::Scalar(name.to_owned()) }).collect()
}
