//! Stages that an end or an answer leads to.

use super::{Attempt, Check, Stage, WayOut};
use crate::base::ids::{Outcome, PhaseId, SKIPPED};
use crate::event::{AttemptEnded, Break, End, GateAnswer, GateKind, GateOpened, Why};

/// The stage after the end of an attempt.
pub(super) fn after(ended: &AttemptEnded, attempt: &Attempt) -> Stage {
    let broken = || Stage::Broken { attempt: ended.attempt, end: ended.end.clone() };
    match &ended.end {
        // An end without its signal cannot be decided by us. A ledger that says so anyway leads to a retry, not to a phase
        // that counts as done.
        End::Left => attempt.leave.as_ref().map_or_else(broken, |(leave, _)| {
            let way = WayOut::new(leave.outcome.clone(), leave.summary.clone());
            let (target, task) = (Some(leave.target.clone()), leave.task.clone());
            Stage::Left(WayOut { target, task, issues: leave.issues.clone(), ..way })
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

/// Left without a named target.
pub(super) fn left_as(outcome: &str, summary: String) -> Stage {
    Stage::Left(WayOut::new(Outcome::from(outcome), summary))
}

/// The stage after a person's answer at a gate.
pub(super) fn answered(held: Stage, gate: &GateOpened, answer: &GateAnswer, note: &str) -> Stage {
    let note = note.to_owned();
    match (answer, held) {
        // A phase that is a person's own work: this was the work.
        (GateAnswer::Approved, Stage::Entered { .. } | Stage::Ready { .. })
            if gate.gate_kind == GateKind::ApprovalAfter =>
        {
            approved(left_as("complete", note))
        }
        // Asked where to go after a phase of a person's own: the answer is the target.
        (GateAnswer::Said(target), Stage::Entered { .. } | Stage::Ready { .. }) => {
            let target = Some(PhaseId::from(target.as_str()));
            let way = WayOut::new(Outcome::from("complete"), note);
            Stage::Left(WayOut { target, approved: true, ..way })
        }
        (GateAnswer::Approved, Stage::Entered { .. }) => Stage::Entered { approved: true },
        (GateAnswer::Approved, held @ Stage::Left(_)) => approved(held),
        (GateAnswer::Rejected, Stage::Entered { .. }) => Stage::Refused { note },
        // Nobody may work at an unknown price: without another agent there is nobody to try again with.
        (GateAnswer::Rejected, _) if gate.gate_kind == GateKind::Budget => Stage::Refused { note },
        (GateAnswer::Rejected, _) => Stage::Ready { why: Why::Rejected { note } },
        // A person said that it may not begin, and another try is not yet a word that it may.
        (GateAnswer::Retry, Stage::Refused { .. }) => Stage::Entered { approved: false },
        (GateAnswer::Retry, _) => Stage::Ready { why: Why::Asked { note } },
        // Asked whose work is taken in a race: the decision is an event of its own.
        (GateAnswer::Said(_), Stage::Inside) => Stage::Inside,
        (GateAnswer::Said(_), _) => Stage::Ready { why: Why::Answered { gate: gate.gate } },
        (GateAnswer::Skip, Stage::BrokeOff { parting: Break::FollowUp(wanted) }) => {
            Stage::Ready { why: Why::Helped { persona: wanted.persona, summary: note } }
        }
        // The worker's way stands: a person goes on without what could not be verified.
        (GateAnswer::Skip, Stage::Left(way)) => skipped(way),
        (GateAnswer::Skip, _) => skipped(WayOut::new(Outcome::from(SKIPPED), note)),
        (
            GateAnswer::Approved
            | GateAnswer::Go(_)
            | GateAnswer::Raised
            | GateAnswer::Withdrawn
            | GateAnswer::Allowed(_),
            held,
        ) => held,
    }
}

/// Continues, but never as if the work were done.
fn skipped(way: WayOut) -> Stage {
    let outcome = Outcome::from(SKIPPED);
    // Who skips has decided: neither an approval nor a verification may hold the run again.
    Stage::Left(WayOut { outcome, approved: true, check: Check::Passed, ..way })
}

fn approved(stage: Stage) -> Stage {
    if let Stage::Left(way) = stage { Stage::Left(WayOut { approved: true, ..way }) } else { stage }
}

/// Stores the result of the `verify` commands.
pub(super) fn checked(stage: Stage, check: Check) -> Stage {
    if let Stage::Left(way) = stage { Stage::Left(WayOut { check, ..way }) } else { stage }
}
