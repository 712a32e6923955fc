//! Where an end or an answer leaves a frame.

use super::{Attempt, Check, Stage};
use crate::base::ids::{Outcome, PhaseId};
use crate::event::{AttemptEnded, Break, End, GateAnswer, GateKind, GateOpened, Why};

/// Where the end of an attempt leaves its frame.
pub(super) fn after(ended: &AttemptEnded, attempt: &Attempt) -> Stage {
    let broken = || Stage::Broken { attempt: ended.attempt, end: ended.end.clone() };
    match &ended.end {
        End::Left => attempt.leave.as_ref().map_or_else(broken, |(leave, _)| Stage::Left {
            target: Some(leave.target.clone()),
            outcome: leave.outcome.clone(),
            summary: leave.summary.clone(),
            approved: false,
            task: leave.task.clone(),
            check: Check::Due,
        }),
        End::BrokeOff => attempt
            .parting
            .as_ref()
            .map_or_else(broken, |(parting, _)| Stage::BrokeOff { parting: parting.clone() }),
        End::CommandsDone => left_as("complete", String::new()),
        End::CommandFailed { .. }
        | End::Crashed(_)
        | End::StoppedBy(_)
        | End::Stopped
        | End::Lost
        | End::Unclear { .. } => broken(),
    }
}

/// Left without a word about where to.
pub(super) fn left_as(outcome: &str, summary: String) -> Stage {
    let outcome = Outcome::from(outcome);
    let (target, task, check) = (None, None, Check::Due);
    Stage::Left { target, outcome, summary, approved: false, task, check }
}

/// Where a person's answer leaves a frame that was held at a gate.
pub(super) fn answered(held: Stage, gate: &GateOpened, answer: &GateAnswer, note: &str) -> Stage {
    let note = note.to_owned();
    match (answer, held) {
        // A phase that is a person's own work: this was the work.
        (GateAnswer::Approved, Stage::Entered { .. } | Stage::Ready { .. })
            if gate.gate_kind == GateKind::ApprovalAfter =>
        {
            approved(left_as("complete", note))
        }
        (GateAnswer::Said(target), Stage::Entered { .. } | Stage::Ready { .. }) => {
            approved(match left_as("complete", note) {
                Stage::Left { outcome, summary, approved, task, check, .. } => {
                    let target = Some(PhaseId::from(target.as_str()));
                    Stage::Left { target, outcome, summary, approved, task, check }
                }
                other => other,
            })
        }
        (GateAnswer::Approved, Stage::Entered { .. }) => Stage::Entered { approved: true },
        (GateAnswer::Approved, held @ Stage::Left { .. }) => approved(held),
        (GateAnswer::Rejected, Stage::Entered { .. }) => Stage::Refused { note },
        (GateAnswer::Rejected, _) => Stage::Ready { why: Why::Rejected { note } },
        (GateAnswer::Retry, _) => Stage::Ready { why: Why::Asked { note } },
        (GateAnswer::Said(_), _) => Stage::Ready { why: Why::Answered { gate: gate.gate } },
        (GateAnswer::Skip, Stage::BrokeOff { parting: Break::FollowUp(wanted) }) => {
            Stage::Ready { why: Why::Helped { persona: wanted.persona, summary: note } }
        }
        // The worker's way stands: a person goes on without what could not be verified.
        (GateAnswer::Skip, held @ Stage::Left { .. }) => approved(checked(held, Check::Passed)),
        (GateAnswer::Skip, _) => approved(checked(left_as("complete", note), Check::Passed)),
        (GateAnswer::Approved | GateAnswer::Go(_) | GateAnswer::Raised, held) => held,
    }
}

fn approved(stage: Stage) -> Stage {
    match stage {
        Stage::Left { target, outcome, summary, task, check, .. } => {
            Stage::Left { target, outcome, summary, approved: true, task, check }
        }
        other => other,
    }
}

/// What the commands found out about the work.
pub(super) fn checked(stage: Stage, check: Check) -> Stage {
    match stage {
        Stage::Left { target, outcome, summary, approved, task, .. } => {
            Stage::Left { target, outcome, summary, approved, task, check }
        }
        other => other,
    }
}
