//! The timeline: what happened, line by line, after a sequence number.

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
    /// Number of its line: the cursor to continue from.
    pub seq: u64,
    /// Wall-clock time of its line.
    pub at: Millis,
    /// The sender of the input that led to it.
    pub by: By,
    /// The event as a sentence.
    pub text: String,
    /// True for the many small events between decisions: tool calls, usage, file changes.
    pub detail: bool,
    /// The event as data.
    pub event: Event,
}

/// The events of a line as people read them.
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
        | Event::FellBack(_)
        | Event::WaitBegan(_)
        | Event::WaitEnded(_)
        | Event::BudgetWarned(_)
        | Event::BudgetRaised(_)
        | Event::LoopsAllowed { .. } => false,
    }
}
