//! Payloads of gate events: what a person is needed for, and how they answer.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, GateId, PhaseId, Place, SessionId, StepId};
use crate::event::budget::Lack;
use crate::event::permission::{GrantScope, PermissionCall};

/// The run waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateOpened {
    /// Numbered per run, from `g1`.
    pub gate: GateId,
    /// The phase that waits.
    pub place: Place,
    /// Decides which answers it takes.
    pub gate_kind: GateKind,
    /// One sentence that tells the person what to decide.
    pub about: String,
    /// Suggested answers of a question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// True if only the listed options are accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// Background that the worker gave with its question.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// What is used up, if a budget or a loop limit opened the gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lack: Option<Lack>,
    /// The live worker that waits for the answer. `None` if its turn has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<GateAsker>,
    /// The call that needs a person's leave, if that is what the gate is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<Box<PermissionCall>>,
    /// The step of a pool that it is about: only that step waits. The place is the pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
}

impl GateOpened {
    /// The place as people see it: of the step, if only that one waits.
    pub fn shown_place(&self) -> Place {
        self.step.as_ref().map_or_else(|| self.place.clone(), |step| self.place.of_step(step))
    }
}

/// The option that a person means: by its text, or by its number from 1 where that cannot mean another option.
pub fn chosen<'o>(options: &'o [String], text: &str) -> Option<&'o String> {
    // By text before by number: an option may itself be a number.
    let by_text = options.iter().find(|option| option.trim().eq_ignore_ascii_case(text));
    let index = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    by_text.or_else(|| options.get(index.filter(|_| has_numbers(options))?))
}

/// True if the number of each option means that option. False where another option has that number as its text.
pub fn has_numbers(options: &[String]) -> bool {
    let place = |option: &String| option.trim().parse::<usize>().ok()?.checked_sub(1);
    let other = |option: &String| place(option).and_then(|place| options.get(place));
    options.iter().all(|option| other(option).is_none_or(|there| there == option))
}

/// A live worker that waits at a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateAsker {
    /// The attempt that asked.
    pub attempt: AttemptId,
    /// Its session. The same request with the same words in the same session is the same question.
    pub session: SessionId,
    /// Id of the call, so that a repeated call gets the same answer.
    pub request: String,
}

/// What a person is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// Asks whether the phase may begin.
    ApprovalBefore,
    /// Asks whether the phase may be left.
    ApprovalAfter,
    /// A limit was hit, or a worker asked for a person.
    Intervention,
    /// A worker or the workflow asks a question.
    Question,
    /// Asks whether more may be spent.
    Budget,
    /// Asks whether a tool call may run.
    Permission,
    /// Asks how a conflict between a step and the project is resolved.
    Conflict,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "to", rename_all = "snake_case")]
pub enum GateAnswer {
    /// Agreement: the phase begins, is left, or may spend without a known price.
    Approved,
    /// Disagreement: the note says what has to change.
    Rejected,
    /// The phase starts over in a fresh session.
    Retry,
    /// The run moves to this phase instead.
    Go(PhaseId),
    /// The text or option that answers the question.
    Said(String),
    /// The phase, or the help, is skipped.
    Skip,
    /// A budget or a loop limit was raised.
    Raised,
    /// Nobody answered: whoever asked waits no longer.
    Withdrawn,
    /// The call may run, this far.
    Allowed(GrantScope),
}
