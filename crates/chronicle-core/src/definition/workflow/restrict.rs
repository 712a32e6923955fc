//! Unknown fields of other programs' files that were meant to restrict a worker.
//!
//! Such files may have fields of any name, which are ignored with a warning. One that is a restriction in another spelling is an
//! error: a worker must not get more than the author gave it, and no approval may be left out.

use super::draft::Field;
use super::problem::{Finding, quoted};
use super::suggest::closest;

/// Parts of names that only a restriction has, without case and separators.
const RESTRICTING: [&str; 20] = [
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
];

/// The owner of the fields in a list of tools. Whatever is said there restricts.
pub(super) const TOOLS: &str = "`tools`";

/// What to say about an unknown field of `owner`, which has the fields in `known`.
pub(super) fn unknown(owner: &str, field: &Field, known: &[&str]) -> Finding {
    let name = quoted(&field.name);
    let meant = closest(&field.name, known.iter().copied());
    let is_restriction = |name: &str| RESTRICTING.iter().any(|part| letters(name).contains(part));
    // Everything in `tools` was meant to restrict. And a misspelt restriction must not become a permission.
    if owner == TOOLS || is_restriction(&field.name) || meant.is_some_and(is_restriction) {
        let message = format!("{owner} has no field {name}, which would restrict the worker");
        let finding = Finding::error("unknown-field", field.at, message).did_you_mean(meant);
        return finding.hint("write it as this format has it, or take it out");
    }
    let message = format!("{owner} has no field {name}: it is ignored");
    Finding::warning("unknown-field", field.at, message).did_you_mean(meant)
}

/// A name without case and separators.
fn letters(name: &str) -> String {
    name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
