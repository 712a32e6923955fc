//! Fields that say something, on a phase of a kind that does not use them.

use super::super::draft::{Field, Value};
use super::super::format::{IDLE, Idle, LIMITS};
use super::super::model::PhaseKind;
use super::super::problem::{Finding, Severity, quoted};
use super::super::unit::Format;
use super::fields::Fields;

/// Reports fields that would be ignored. Files of other programs may have them: those programs ignore them too.
pub(super) fn tell(fields: &mut Fields<'_, '_>, run: PhaseKind, format: Format) {
    let severity = if format == Format::Native { Severity::Error } else { Severity::Warning };
    let mut has_beside = false;
    for idle in IDLE.iter().filter(|idle| idle.kind == run) {
        // The first name stands for the others. Of two fields that say who works, the first one is told about.
        if let Some(name) = idle.beside.first() {
            if has_beside || fields.take(name).is_none() {
                continue;
            }
            has_beside = true;
        }
        for name in idle.fields() {
            if let Some(field) = fields.take(name) {
                let said = quoted(&field.name);
                fields.problems.push(ignored(severity, field, &said, idle));
            }
        }
        // Only what this phase says itself. Limits that it inherits are meant for other kinds of phases as well.
        let limits = fields.take("limits").map(|field| &field.value.value);
        let said = if let Some(Value::Map(said)) = limits { said.as_slice() } else { &[] };
        for field in said.iter().filter(|field| is_idle_limit(field, idle)) {
            let said = format!("`limits.{}`", field.name);
            fields.problems.push(ignored(severity, field, &said, idle));
        }
    }
}

fn is_idle_limit(field: &Field, idle: &Idle) -> bool {
    let info = LIMITS.field(&field.name);
    let is_idle = info.is_some_and(|info| info.names.iter().any(|it| idle.limits.contains(it)));
    // `none` says what holds there anyway.
    let is_none = field.value.value == Value::Null || field.value.text() == Some("none");
    is_idle && !is_none
}

fn ignored(severity: Severity, field: &Field, said: &str, idle: &Idle) -> Finding {
    let message = format!("{said} does nothing on a phase with `run: {}`", idle.run);
    Finding::new(severity, "misplaced-field", field.at, message).hint(idle.hint)
}
