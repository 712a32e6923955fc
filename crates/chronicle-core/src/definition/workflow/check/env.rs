//! The environment of workers and commands, as a workflow or a phase says it: a map of variables to set, or `{pass, drop, set}`.

use std::collections::BTreeMap;

use super::super::draft::{Field, Named, Value};
use super::super::problem::{Finding, quoted};
use super::fields::Fields;
use crate::definition::environment::{EnvList, OURS, is_impossible, is_ours};

/// Fields of the long form.
const LONG: [&str; 3] = ["pass", "drop", "set"];

/// What is set, and which variables of the user are passed and dropped.
pub(crate) fn read(fields: &mut Fields<'_, '_>) -> (BTreeMap<String, String>, EnvList) {
    let Some(field) = fields.take("env") else { return Default::default() };
    let Value::Map(said) = &field.value.value else {
        fields.wrong(&field.name, &field.value, "a map");
        return Default::default();
    };
    if !is_long(said) {
        tell_short(fields, said);
        return (set(fields, "env"), EnvList::default());
    }
    let long = fields.map("env", &field.value, |fields| {
        let pass = names(fields, "pass");
        let drop = names(fields, "drop");
        (set(fields, "set"), EnvList { pass, drop })
    });
    long.unwrap_or_default()
}

/// A map of texts sets variables, whatever their names are: that is what it meant before there was another form.
fn is_long(said: &[Field]) -> bool {
    let is_text = |field: &Field| matches!(field.value.value, Value::Scalar(_));
    said.iter().any(|field| LONG.contains(&field.name.as_str()) && !is_text(field))
}

/// Says of `env: {pass: NAME}` that it sets a variable with the name `pass`.
fn tell_short(fields: &mut Fields<'_, '_>, said: &[Field]) {
    for field in said.iter().filter(|field| LONG.contains(&field.name.as_str())) {
        let name = &field.name;
        let meant = if name == "set" { "{NAME: value}" } else { "[NAME]" };
        let message = format!("this sets a variable with the name `{name}`");
        let finding = Finding::warning("unclear-env", field.at, message);
        fields
            .problems
            .push(finding.hint(format!("if it is not meant so, write `{name}: {meant}`")));
    }
}

fn set(fields: &mut Fields<'_, '_>, name: &'static str) -> BTreeMap<String, String> {
    let mut set = BTreeMap::new();
    for (name, value) in fields.pairs(name) {
        if is_good(fields, &name) {
            if value.text.contains('\0') {
                let message = format!("the environment cannot hold {}", quoted(&name.text));
                fields.problems.push(Finding::error("bad-env", name.at, message));
            } else {
                set.insert(name.text, value.text);
            }
        }
    }
    set
}

fn names(fields: &mut Fields<'_, '_>, name: &'static str) -> Vec<String> {
    let said = fields.named_list(name).unwrap_or_default();
    said.into_iter().filter(|name| is_good(fields, name)).map(|name| name.text).collect()
}

fn is_good(fields: &mut Fields<'_, '_>, name: &Named) -> bool {
    let finding = if is_ours(&name.text) {
        let message = format!("{} is for Chronicle itself to set", quoted(&name.text));
        let finding = Finding::error("bad-env", name.at, message);
        finding.hint(format!("take a name without `{OURS}`"))
    } else if is_impossible(&name.text) {
        let message = format!("the environment cannot hold {}", quoted(&name.text));
        Finding::error("bad-env", name.at, message)
    } else {
        return true;
    };
    fields.problems.push(finding);
    false
}
