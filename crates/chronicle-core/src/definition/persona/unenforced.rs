//! Fields that restrict a worker, or promise it something, in another program and not here.
//!
//! Whatever restricts is enforced or refused: a worker must not get more than its author gave it.

use super::told::Told;
use crate::definition::workflow::draft::{Field, Value};
use crate::definition::workflow::problem::{Finding, quoted};
use crate::definition::workflow::{Severity, Tools};

/// Fields that this version cannot enforce, without case and separators. Hooks of Claude Code can refuse calls.
const UNENFORCED: [&str; 3] = ["skills", "extensions", "hooks"];
/// Parts of names that only a field has which limits or asks, without case and separators.
const LIMITING: [&str; 30] = [
    "path",
    "maxiteration",
    "restrict",
    "constraint",
    "exclud",
    "disable",
    "enabled",
    "access",
    "writable",
    "network",
    "isolation",
    "domain",
    "capabilit",
    "permission",
    "approv",
    "confirm",
    "signoff",
    "sandbox",
    "readonly",
    "askuser",
    "humanreview",
    "timeout",
    "timelimit",
    "deadline",
    "budget",
    "limit",
    "maxturn",
    "maxstep",
    "maxcost",
    "maxtoken",
];
/// Whole names of that kind, which are parts of harmless ones too.
const LIMITS: [&str; 15] = [
    "only",
    "nobash",
    "bash",
    "write",
    "edit",
    "canwrite",
    "canedit",
    "candelegate",
    "policy",
    "scope",
    "rules",
    "guards",
    "ask",
    "turns",
    "steps",
];
/// Claude Code's permission mode, without case and separators.
const MODE: &str = "permissionmode";
/// A word for modes of any kind, which restricts with one of these values.
const OTHER_MODE: &str = "mode";
const READING: [&str; 4] = ["plan", "readonly", "read", "ask"];
/// Modes of Claude Code that decide which calls a person is asked about. Here Chronicle decides on each call, and asks nobody.
const ASKING: [&str; 5] = ["default", "manual", "acceptedits", "bypasspermissions", "auto"];

/// True if the field is one of those that are judged here.
pub(super) fn is_judged(name: &str) -> bool {
    is_unenforced(name) || is_mode(name) || plain(name) == OTHER_MODE
}

fn is_unenforced(name: &str) -> bool {
    let name = plain(name);
    UNENFORCED.contains(&name.as_str())
        || LIMITS.contains(&name.as_str())
        || LIMITING.iter().any(|part| name.contains(part))
}

/// `mode: read-only` restricts; `mode: subagent` only says what kind of agent it is.
fn is_reading(field: &Field) -> bool {
    let value = field.value.text().map(plain).unwrap_or_default();
    plain(&field.name) == OTHER_MODE && READING.contains(&value.as_str())
}

fn is_mode(name: &str) -> bool {
    plain(name) == MODE
}

fn plain(text: &str) -> String {
    let letters = text.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Reports the fields that are not enforced, and gives the tools that the others leave.
pub(super) fn judge(fields: &[Field], told: &mut Told) -> Tools {
    let mut tools = Tools::default();
    for field in fields.iter().filter(|field| is_said(field)) {
        if is_mode(&field.name) {
            tools = tools.within(&of_mode(field, told));
        } else if is_unenforced(&field.name) || is_reading(field) {
            told.cannot_enforce(field, &quoted(&field.name));
        }
    }
    tools
}

/// A field that is there and empty promises nothing: many editors write all fields of a template.
fn is_said(field: &Field) -> bool {
    let name = plain(&field.name);
    match &field.value.value {
        Value::Null => false,
        // The usual state, written down.
        Value::Scalar(text) if name == "enabled" => plain(text) != "true",
        Value::Scalar(text) if name == "disabled" => plain(text) != "false",
        Value::Scalar(text) => !text.trim().is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Map(_) => true,
    }
}

/// What a permission mode of Claude Code leaves of the tools.
fn of_mode(field: &Field, told: &mut Told) -> Tools {
    let mode = field.value.text().map(str::trim);
    let said = match mode {
        Some(mode) => quoted(&format!("{}: {mode}", field.name)),
        None => quoted(&field.name),
    };
    let note = Severity::Note;
    match plain(mode.unwrap_or_default()).as_str() {
        "plan" => {
            let tools = Tools::read_only();
            let names = tools.allow.iter().flatten().map(|name| quoted(name));
            let names = names.collect::<Vec<_>>().join(", ");
            let message = format!("{said} leaves only tools that read: {names}");
            told.problems.push(Finding::new(note, "permission-mode", field.at, message));
            tools
        }
        mode if ASKING.contains(&mode) => {
            let message = format!(
                "{said} has no effect: in a run, calls are allowed by the lists of tools, and nobody is asked"
            );
            told.problems.push(Finding::new(note, "permission-mode", field.at, message));
            Tools::default()
        }
        // `dontAsk` allows only what the settings of Claude Code allow by name. What others allow is unknown.
        _ => {
            told.cannot_enforce(field, &said);
            Tools::default()
        }
    }
}
