//! What happened, line by line, since a cursor: the sequence number of the last line seen.

use serde::{Deserialize, Serialize};

use crate::base::time::Millis;
use crate::event::Event;
use crate::event::input::By;
use crate::event::record::Line;
use crate::event::trees::Moment;
use crate::words;

/// One event as people read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimelineEntry {
    /// Its line: the cursor to go on from.
    pub seq: u64,
    /// When.
    pub at: Millis,
    /// Whose input led to it.
    pub by: By,
    /// What happened, as a sentence.
    pub text: String,
    /// Whether it is one of the many small things between two decisions: tool calls, usage, file changes.
    pub detail: bool,
    /// The event itself.
    pub event: Event,
}

/// A line as people read it.
pub fn timeline(line: &Line) -> Vec<TimelineEntry> {
    line.events
        .iter()
        .map(|event| TimelineEntry {
            seq: line.seq,
            at: line.at,
            by: line.by.clone(),
            text: words::sentence(event),
            detail: is_detail(event),
            event: event.clone(),
        })
        .collect()
}

fn is_detail(event: &Event) -> bool {
    match event {
        Event::ToolCalled(_)
        | Event::ToolEnded { .. }
        | Event::FileChanged { .. }
        | Event::UsageReported { .. }
        | Event::CancelDropped { .. }
        | Event::SessionOpened { .. } => true,
        Event::TreeRecorded(recorded) => {
            let left_out = recorded.unreadable > 0 || recorded.too_large > 0;
            let also = recorded.unclear.is_some() || recorded.moved.is_some();
            recorded.changes.is_none() && !left_out && !also
        }
        Event::TreeMissed { moment, .. } => matches!(moment, Moment::Before(_)),
        Event::RunStarted(_)
        | Event::SupervisorStarted(_)
        | Event::TailSetAside { .. }
        | Event::LedgerRepaired(_)
        | Event::RunPaused { .. }
        | Event::RunResumed
        | Event::RunCancelled { .. }
        | Event::RunDone
        | Event::RunFailed { .. }
        | Event::BreakAccepted { .. }
        | Event::SnapshotUpdated { .. }
        | Event::ClaimsUnproven(_)
        | Event::CancelAsked { .. }
        | Event::FollowUpBegan { .. }
        | Event::FollowUpEnded { .. }
        | Event::NoteGiven { .. }
        | Event::MessageDelivered { .. }
        | Event::NoticeGiven(_)
        | Event::FrameEntered(_)
        | Event::PhaseEntered { .. }
        | Event::EdgeTaken(_)
        | Event::Rewound { .. }
        | Event::GoAsked { .. }
        | Event::FrameEnded { .. }
        | Event::AttemptStarted(_)
        | Event::CommandEnded { .. }
        | Event::SignalAccepted { .. }
        | Event::SignalRefused { .. }
        | Event::StopAsked { .. }
        | Event::AttemptEnded(_)
        | Event::UndoStarted(_)
        | Event::UndoEnded(_)
        | Event::GateOpened(_)
        | Event::GateAnswered { .. }
        | Event::WaitBegan(_)
        | Event::WaitEnded(_)
        | Event::BudgetWarned(_)
        | Event::BudgetRaised(_)
        | Event::LoopsAllowed { .. } => false,
    }
}
