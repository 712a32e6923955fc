//! Permissions: calls that wait for a person, and what people allowed or rejected.
//!
//! Everything is for one exact call, the tool, its whole input and its folder (`CallSum`): never for a rule, and never for an id alone, which
//! agents may reuse.

use serde::{Deserialize, Serialize};

use super::{Attempt, Facts, Frame, Gate, number};
use crate::base::ids::{AttemptId, Cause, FramePath, GateId, Place};
use crate::base::limits::GRANTS_MAX;
use crate::base::time::Millis;
use crate::event::input::AttemptReport;
use crate::event::{
    Call, CallHeld, CallSum, Caller, GateAnswer, GateKind, GateOpened, GrantScope, PermissionCall,
    ToolCalled, Verdict,
};
use crate::guard::{Judgement, RuleRef};

/// A call that waits for a person, or for its agent to hear the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The agent's id of the call.
    pub call: String,
    /// The worker itself, or one of its sub-agents.
    pub by: Caller,
    /// The gate that it waits at, which has the rest of the call.
    pub gate: GateId,
    /// The event since which it waits.
    pub since: Cause,
    /// Time since which it waits.
    pub at: Millis,
    /// What its agent is to hear; `None` while that is open.
    pub verdict: Option<Verdict>,
}

/// A call that a person allowed before it is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The gate at which they did.
    pub gate: GateId,
    /// The exact call: tool, whole input and folder.
    pub sum: CallSum,
    /// How far it reaches.
    pub scope: GrantScope,
    /// Where it was asked for.
    pub place: Place,
    /// The tool, for people.
    pub tool: String,
    /// What the tool is given, for people.
    pub input: String,
    /// User name of the person.
    pub who: String,
}

/// A call that a person rejected at this visit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The gate at which they did.
    pub gate: GateId,
    /// The exact call: tool, whole input and folder.
    pub sum: CallSum,
    /// The tool, for people.
    pub tool: String,
    /// What the tool is given, for people.
    pub input: String,
    /// User name of the person.
    pub who: String,
    /// What they said to it; may be empty.
    pub note: String,
}

/// What was asked and decided about calls at one visit of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Permissions {
    /// Gates that were opened for its calls.
    pub gates: Vec<GateId>,
    /// Calls that are allowed once, or for this visit.
    pub grants: Vec<Grant>,
    /// Calls that stay rejected.
    pub refusals: Vec<Refusal>,
}

impl Permissions {
    pub(super) fn is_none(&self) -> bool {
        self.gates.is_empty() && self.grants.is_empty() && self.refusals.is_empty()
    }
}

/// What people said to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling<'s> {
    /// It may run, by what was said at this gate.
    Allowed(GateId),
    /// It may not, with the person's name and note.
    Rejected(GateId, &'s str, &'s str),
    /// Its gate was closed by something else, such as a move of the run.
    Closed(GateId),
}

impl Facts {
    /// What people said to this call of an attempt, which a rule asks about; `None` if they were not asked, or have not answered. A yes
    /// is for the rule that they were shown: through a link that was changed, the same call may be another question.
    pub fn ruling(
        &self,
        attempt: &Attempt,
        id: &str,
        sum: CallSum,
        rule: &RuleRef,
    ) -> Option<Ruling<'_>> {
        let path = attempt.intent.place.frame();
        let held =
            attempt.held.iter().find(|held| held.call == id && self.is_about(held.gate, sum));
        let visit = self.frames.get(&path).map(|frame| &frame.permissions);
        // A no before a yes for more than this call: where both were said, the more careful one holds.
        let mut refusals = visit.into_iter().flat_map(|visit| &visit.refusals);
        if let Some(no) = refusals.rfind(|no| no.sum == sum) {
            return Some(Ruling::Rejected(no.gate, &no.who, &no.note));
        }
        let of_visit = visit.into_iter().flat_map(|visit| &visit.grants);
        let mut grants = of_visit.chain(&self.grants).filter(|grant| grant.sum == sum);
        let is_for = |grant: &&Grant| self.is_for(grant, id) && self.asks_by(grant.gate, rule);
        if let Some(grant) = grants.find(is_for) {
            return Some(Ruling::Allowed(grant.gate));
        }
        let gate = self.gate(held?.gate)?;
        gate.answered.as_ref().map(|_| Ruling::Closed(gate.opened.gate))
    }

    /// A yes for one call is for the call that waits for it, while there is one.
    fn is_for(&self, grant: &Grant, id: &str) -> bool {
        let waiting = self.holder(grant.gate);
        grant.scope != GrantScope::Once || waiting.is_none_or(|(_, held)| held.call == id)
    }

    /// The live call that waits at a gate.
    pub(crate) fn holder(&self, gate: GateId) -> Option<(&Attempt, &Held)> {
        self.live_attempts().find_map(|attempt| {
            let held = attempt.held.iter().find(|held| held.gate == gate)?;
            Some((attempt, held))
        })
    }

    fn is_about(&self, gate: GateId, sum: CallSum) -> bool {
        self.gate(gate).and_then(Gate::asked_sum) == Some(sum)
    }

    /// What people said to a call that waits. A gate that is not known any more was answered long ago.
    pub fn ruling_on(&self, attempt: &Attempt, held: &Held) -> Option<Ruling<'_>> {
        match self.gate(held.gate).and_then(|gate| gate.opened.asks.as_deref()) {
            Some(asks) => self.ruling(attempt, &held.call, asks.call.sum, &asks.rule),
            None => Some(Ruling::Closed(held.gate)),
        }
    }

    /// The report of a call that waits, for whoever makes it again in its agent's name once people have answered.
    pub fn made_again(&self, held: &Held) -> Option<AttemptReport> {
        let gate = self.gate(held.gate)?;
        let PermissionCall { rule, why, .. } = gate.opened.asks.as_deref()?.clone();
        let call = Box::new(gate.held_call(held)?);
        Some(AttemptReport::ToolCalled { call, judged: Judgement::Ask { rule, why } })
    }

    /// Calls of an attempt about which nobody has decided.
    pub fn undecided<'s>(&'s self, attempt: &'s Attempt) -> impl Iterator<Item = &'s Held> {
        let open = attempt.held.iter().filter(|held| held.verdict.is_none());
        open.filter(|held| self.ruling_on(attempt, held).is_none())
    }

    /// True if it was this rule that asked at a gate. One that is not known any more is trusted: whoever answered it knew.
    fn asks_by(&self, gate: GateId, rule: &RuleRef) -> bool {
        let asks = self.gate(gate).and_then(|gate| gate.opened.asks.as_ref());
        asks.is_none_or(|asks| asks.rule == *rule)
    }

    /// The open gate of this visit at which the same call may wait by the same rule: nobody else waits there.
    pub(crate) fn free_gate(
        &self,
        path: &FramePath,
        sum: CallSum,
        rule: &RuleRef,
    ) -> Option<GateId> {
        let gates = &self.frames.get(path)?.permissions.gates;
        gates.iter().copied().find(|id| {
            let is_open = self.gate(*id).is_some_and(|gate| gate.answered.is_none());
            let is_it = self.is_about(*id, sum) && self.asks_by(*id, rule);
            is_open && is_it && self.holder(*id).is_none()
        })
    }

    /// The first open gate for a call that nobody will make any more: its visit is over, or a later yes covers it.
    pub(crate) fn idle_permission(&self) -> Option<GateId> {
        let is_idle = |gate: &GateOpened| {
            let frame = self.frames.get(&gate.place.frame());
            let is_here = |frame: &Frame| {
                frame.phase == gate.place.phase() && frame.permissions.gates.contains(&gate.gate)
            };
            let covers = |grant: &Grant| {
                let asks = gate.asks.as_ref();
                asks.is_some_and(|it| {
                    it.call.sum == grant.sum && self.asks_by(grant.gate, &it.rule)
                })
            };
            let lasts = |grant: &Grant| grant.scope != GrantScope::Once && covers(grant);
            let of_visit = frame.into_iter().flat_map(|frame| &frame.permissions.grants);
            !frame.is_some_and(is_here) || of_visit.chain(&self.grants).any(lasts)
        };
        let open = self.open_gates().map(|gate| &gate.opened);
        let mut asked = open.filter(|gate| gate.gate_kind == GateKind::Permission);
        asked.find(|gate| is_idle(gate)).map(|gate| gate.gate)
    }

    pub(super) fn hold_call(&mut self, since: Cause, at: Millis, held: &CallHeld) {
        let CallHeld { attempt, call, by, gate, active_ms } = held.clone();
        self.change(attempt, |attempt| {
            attempt.held.push(Held { call, by, gate, since, at, verdict: None });
            attempt.cancel_asked = false;
        });
        self.work(attempt, active_ms);
    }

    /// Remembers what a person said to a call, for whoever makes it.
    pub(super) fn rule(&mut self, opened: &GateOpened, answer: &GateAnswer, who: &str, note: &str) {
        let Some(asks) = &opened.asks else { return };
        let (gate, sum, place) = (opened.gate, asks.call.sum, opened.place.clone());
        let (tool, input) = (asks.call.tool.clone(), asks.call.shown.clone());
        let (who, note) = (who.to_owned(), note.to_owned());
        match answer {
            GateAnswer::Allowed(scope) => {
                let scope = *scope;
                let grant = Grant { gate, sum, scope, place, tool, input, who };
                if scope == GrantScope::Run {
                    return push(&mut self.grants, grant);
                }
                if let Some(frame) = self.frames.get_mut(&opened.place.frame()) {
                    push(&mut frame.permissions.grants, grant);
                }
            }
            GateAnswer::Rejected => {
                let refusal = Refusal { gate, sum, tool, input, who, note };
                if let Some(frame) = self.frames.get_mut(&opened.place.frame()) {
                    push(&mut frame.permissions.refusals, refusal);
                }
            }
            // What closes a gate without a word about the call allows nothing.
            GateAnswer::Approved
            | GateAnswer::Retry
            | GateAnswer::Go(_)
            | GateAnswer::Said(_)
            | GateAnswer::Skip
            | GateAnswer::Raised
            | GateAnswer::Withdrawn => {}
        }
    }

    /// A call was decided that had waited, or that a yes covers. A yes for one call is used up by it.
    pub(super) fn settle_call(&mut self, called: &ToolCalled) {
        // By what it is, not by the gate of the verdict: a yes at another gate may cover it, or none at all was needed.
        let held = self.attempt(called.attempt).and_then(|attempt| {
            let same = |held: &&Held| {
                held.call == called.call
                    && called.sum.is_some_and(|sum| self.is_about(held.gate, sum))
            };
            attempt.held.iter().find(same).map(|held| held.gate)
        });
        if let Some(held) = held {
            self.change(called.attempt, |attempt| {
                for held in attempt.held.iter_mut().filter(|it| it.gate == held) {
                    held.verdict = Some(called.verdict.clone());
                }
            });
        }
        if let Some(gate) = called.gate.filter(|_| called.verdict == Verdict::Allowed) {
            self.change_frame_of(called.attempt, |frame| {
                let is_used = |it: &Grant| it.gate == gate && it.scope == GrantScope::Once;
                frame.permissions.grants.retain(|grant| !is_used(grant));
            });
        }
    }

    pub(super) fn heard_verdict(&mut self, id: AttemptId, gate: GateId) {
        if let Some(gate) = self.gates.get_mut(number(gate.0)) {
            gate.told = gate.answered.is_some();
        }
        self.change(id, |attempt| attempt.held.retain(|held| held.gate != gate));
    }
}

impl Gate {
    /// The call that it is about.
    pub(crate) fn asked_sum(&self) -> Option<CallSum> {
        self.opened.asks.as_ref().map(|asks| asks.call.sum)
    }

    /// A call that waits here, as its agent made it.
    pub fn held_call(&self, held: &Held) -> Option<Call> {
        let asks = self.opened.asks.as_ref()?;
        Some(Call { id: held.call.clone(), by: held.by, ..asks.call.clone() })
    }
}

/// The oldest goes if there are too many: then that call is asked about again.
fn push<T>(list: &mut Vec<T>, entry: T) {
    if list.len() >= GRANTS_MAX {
        list.remove(0);
    }
    list.push(entry);
}
