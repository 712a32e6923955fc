//! Words about calls that need a person's leave.

use super::quote::{one_line, saying};
use crate::base::ids::GateId;
use crate::event::{CallHeld, GrantScope, PermissionCall};
use crate::guard::RuleRef;

/// Who closes a gate without a person.
pub(crate) const SUPERVISOR: &str = "the supervisor";

/// What a worker hears whose call nobody has answered. Never that a person was against it: nobody was.
pub(crate) const NOT_ANSWERED: &str = "this call needs a person's leave, and nobody has answered yet, so it did not run. The question \
     stays open. Go on with what does not need it, and do not reach the same by another way";

/// What a worker hears that makes another call under the id of one that waits.
pub(crate) const ID_TAKEN: &str = "another call with the same id waits for a person's leave";

/// What a worker hears whose call a rule forbids.
pub fn forbidden(rule: &RuleRef, why: &str) -> String {
    format!("{}. Do not work around it", reason(rule, why))
}

/// What a worker hears whose call a person has allowed, and that would do something else by now than they were shown.
pub fn not_as_shown(rule: &RuleRef, why: &str) -> String {
    format!(
        "it did not run: what it leads to has changed since a person was shown it, and their yes was for what they saw: {}. Make it \
         again if you still need it: they are asked anew",
        reason(rule, why)
    )
}

/// What a worker hears whose call a person has rejected.
pub(crate) fn rejected_call(who: &str, note: &str) -> String {
    format!(
        "{who} rejected this call{}. It stays rejected in this phase: do not reach the same by another way",
        saying(note)
    )
}

/// What a worker hears that has too many calls waiting.
pub(crate) fn too_many_held(many: usize) -> String {
    format!("{many} of your calls wait for a person's leave: wait for their answers first")
}

/// What a person is asked about a call.
pub(crate) fn may_call(asks: &PermissionCall) -> String {
    let call = &asks.call;
    let what = one_line(call.command.as_deref().unwrap_or(&call.shown));
    let why = reason(&asks.rule, &asks.why);
    let at = call.folder.as_ref().map(|folder| format!(", in `{}`", one_line(folder)));
    format!("may `{}` run? {what}{} ({why})", one_line(&call.tool), at.unwrap_or_default())
}

/// Why a rule is against a call, and which one it is.
fn reason(rule: &RuleRef, why: &str) -> String {
    let (why, rule) = (one_line(why), one_line(&rule.to_string()));
    match why.trim_end_matches('.') {
        "" => rule,
        why => format!("{why}: {rule}"),
    }
}

pub(super) fn held(held: &CallHeld) -> String {
    format!("{}'s call `{}` waits at {} for leave", held.attempt, held.call, held.gate)
}

/// How far a yes reaches.
pub(crate) fn reach(scope: GrantScope) -> &'static str {
    match scope {
        GrantScope::Once => "once",
        GrantScope::Phase => "for this phase",
        GrantScope::Run => "for this run",
    }
}

/// What to type at a gate that asks for leave.
pub(super) fn next(run: &str, gate: GateId) -> String {
    let approve = format!("chronicle approve {run} {gate}");
    format!(
        "{approve}  (or: {approve} --for phase, {approve} --for run, chronicle reject {run} {gate} \"why\")"
    )
}
