//! Unknown fields of other programs' files that were meant to restrict a worker, or to say who it is.
//!
//! Such files may have fields of any name, which are ignored with a warning. One that is a restriction in another spelling, or a
//! known field of that kind with a slip, is an error: a worker must not get more than the author gave it, nor be somebody else, and
//! no approval may be left out.

use super::check::described;
use super::draft::{Field, Value};
use super::problem::{Finding, Problems, quoted};
use super::suggest::closest;

/// Parts of names that only a restriction has, without case and separators.
const RESTRICTING: [&str; 32] = [
    "tools",
    "blacklist",
    "whitelist",
    "denylist",
    "allowlist",
    "blocklist",
    "allow",
    "deny",
    "denied",
    "forbid",
    "readonly",
    "permission",
    "approv",
    "confirm",
    "signoff",
    "requireshuman",
    "requiresreview",
    "humanreview",
    "askuser",
    "sandbox",
    "timeout",
    "timelimit",
    "deadline",
    "budget",
    "maxturn",
    "maxstep",
    "maxcost",
    "maxtoken",
    "maxiteration",
    "maxloop",
    "maxround",
    "maxvisit",
];
/// Whole names of that kind, which are parts of harmless ones too.
const WHOLE: [&str; 3] = ["gate", "wall", "walls"];
/// Known fields that say who works, what holds for the work, or where it begins. A slip in one of them is never a field of
/// somebody else's.
const DECISIVE: [&str; 22] = [
    "agent",
    "persona",
    "model",
    "fallback",
    "followups",
    "availableProfiles",
    "available_profiles",
    "extra_skills",
    "signals",
    "outcomes",
    "requires",
    "verify",
    "guards",
    "limits",
    "loop_policy",
    "loopable",
    "isolation",
    "initial",
    "states",
    "phases",
    "steps",
    "prompt",
];
/// Known fields that are for people alone, in any spelling.
const FOR_PEOPLE: [&str; 5] = ["name", "key", "emoji", "description", "$schema"];

/// The owner of the fields in a list of tools. Whatever is said there restricts.
pub(super) const TOOLS: &str = "`tools`";

/// What to say about an unknown field of `owner`, which has the fields in `known`.
pub(crate) fn unknown(owner: &str, field: &Field, known: &[&str]) -> Finding {
    let name = quoted(&field.name);
    let meant = closest(&field.name, known.iter().copied());
    let is_restriction = |name: &str| {
        let name = letters(name);
        WHOLE.contains(&name.as_str()) || RESTRICTING.iter().any(|part| name.contains(part))
    };
    // Everything in `tools` was meant to restrict. And a misspelt restriction must not become a permission.
    if owner == TOOLS || is_restriction(&field.name) || meant.is_some_and(is_restriction) {
        let message = format!("{owner} has no field {name}, which would restrict the worker");
        let finding = Finding::error("unknown-field", field.at, message);
        let finding = finding.hint("write it as this format has it, or take it out");
        return finding.did_you_mean(meant);
    }
    // The same letters are the same word, whatever it is for.
    let is_decisive = |meant: &str| {
        DECISIVE.contains(&meant)
            || letters(meant) == letters(&field.name) && !FOR_PEOPLE.contains(&meant)
    };
    if meant.is_some_and(is_decisive) {
        let message = format!("{owner} has no field {name}");
        return Finding::error("unknown-field", field.at, message).did_you_mean(meant);
    }
    let message = format!("{owner} has no field {name}: it is ignored");
    Finding::warning("unknown-field", field.at, message).did_you_mean(meant)
}

/// True if the field is a text that is not blank. Otherwise it is told under the name that the file has for it, since the checks
/// know only the native one.
pub(super) fn is_said(field: &Field, problems: &mut Problems) -> bool {
    let name = quoted(&field.name);
    let finding = match &field.value.value {
        Value::Scalar(text) if text.trim().is_empty() => {
            Finding::error("empty-value", field.value.span, format!("{name} is empty"))
        }
        Value::Scalar(_) => return true,
        Value::Null | Value::List(_) | Value::Map(_) => {
            let message = format!("{name} must be a text, not {}", described(&field.value));
            Finding::error("wrong-type", field.value.span, message)
        }
    };
    problems.push(finding);
    false
}

/// A name without case and separators.
fn letters(name: &str) -> String {
    name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
