//! Derives the input of a line from its events. Most inputs are fully contained in their events and are not stored twice.
//!
//! Nothing depends on a correct guess. The writer of a line compares the guess with the real input and stores the input if they
//! differ, so a kind of input may be missing here at the cost of some bytes only.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not told from an event is written whole: a new kind costs bytes, and is never misread"
)]

use crate::base::ids::{AttemptId, Outcome};
use crate::event::input::{
    Actor, AttemptReport, Command, EndSeen, FinalText, Report, TimerKind, What,
};
use crate::event::record::Line;
use crate::event::signal::Signal;
use crate::event::{
    AttemptEnded, Crash, CrashClass, End, Event, GateAnswer, GateOpened, GrantScope, Leave,
    Question, StopCause,
};

impl Line {
    /// The input of this line: as stored, otherwise as derived from the events. `None` if neither is possible.
    pub fn what(&self) -> Option<What> {
        match &self.input {
            Some(written) => Some(self.filled(written.clone())),
            None => self.told(),
        }
    }

    /// Stores the input, or only the part that the events do not contain.
    #[must_use]
    pub(crate) fn with_input(mut self, what: What) -> Self {
        // Compared with what would really be read back. A guess that is wrong in any detail is not used, so this can save bytes
        // but never lose an input.
        if self.told().as_ref() == Some(&what) {
            return self;
        }
        let short = shortened(&self.events, what.clone());
        let is_enough = self.filled(short.clone()) == what;
        self.input = Some(if is_enough { short } else { what });
        self
    }

    /// Takes the texts of a leaving signal from the event that accepted it.
    fn filled(&self, mut what: What) -> What {
        if let Some((summary, task)) = leaving(&mut what)
            && let Some(Event::SignalAccepted { leave, .. }) = self.events.first()
        {
            (*summary, *task) = (leave.summary.clone(), leave.task.clone());
        }
        what
    }

    fn told(&self) -> Option<What> {
        let by_worker = matches!(self.by.actor, Actor::Worker(_));
        let first = self.events.first()?;
        match first {
            Event::RunStarted(start) => {
                let start = Box::new(start.as_ref().clone());
                // `prepare` starts the run paused, in one line, so that a detached supervisor can begin it.
                let is_prepared =
                    self.events.iter().any(|event| matches!(event, Event::RunPaused { .. }));
                let command = if is_prepared { Command::Prepare } else { Command::Start };
                Some(What::Command(command(start)))
            }
            _ if by_worker => signal(first).map(What::Command),
            _ => {
                // A way back may begin with other events, such as the end of an attempt, so the whole line is searched for
                // it.
                let command = rewound(&self.events).or_else(|| asked(first));
                command.map(What::Command).or_else(|| report(first).map(What::Report))
            }
        }
    }
}

fn shortened(events: &[Event], mut what: What) -> What {
    if let Some((summary, task)) = leaving(&mut what)
        && matches!(events.first(), Some(Event::SignalAccepted { .. }))
    {
        (*summary, *task) = (String::new(), None);
    }
    what
}

fn leaving(what: &mut What) -> Option<(&mut String, &mut Option<String>)> {
    match what {
        What::Command(Command::Signal { signal: Signal::Leave { summary, task, .. }, .. }) => {
            Some((summary, task))
        }
        What::Command(_) | What::Report(_) => None,
    }
}

/// What a worker called.
fn signal(event: &Event) -> Option<Command> {
    let (attempt, request, signal) = match event {
        Event::SignalAccepted { attempt, request, leave, .. } => (attempt, request, left(leave)),
        Event::BreakAccepted { attempt, request, parting, .. } => {
            (attempt, request, Signal::Break(parting.clone()))
        }
        Event::SnapshotUpdated { attempt, request, update, .. } => {
            (attempt, request, Signal::Snapshot(update.clone()))
        }
        Event::SignalRefused { attempt, request, answer } => {
            // As if it was not understood: only then is the answer all that came in. Any other refusal differs, and its input is
            // stored.
            (attempt, request, Signal::Malformed(answer.clone()))
        }
        Event::GateOpened(opened @ GateOpened { asker: Some(asker), .. }) => {
            let GateOpened { about, options, context, closed, .. } = opened.clone();
            let question = Question { question: about, options, context, closed };
            (&asker.attempt, &asker.request, Signal::Ask(question))
        }
        _ => return None,
    };
    Some(Command::Signal { attempt: *attempt, request: request.clone(), signal })
}

/// The usual `workflow_transition`: a target, and the outcome `complete` left out.
fn left(leave: &Leave) -> Signal {
    let outcome = leave.outcome.clone();
    Signal::Leave {
        target: Some(leave.target.clone()),
        // The usual worker names no outcome, and the engine fills in `complete`. If it was named, the guess differs and the
        // input is kept whole.
        outcome: Some(outcome).filter(|outcome| *outcome != Outcome::from("complete")),
        summary: leave.summary.clone(),
        task: leave.task.clone(),
        issues: leave.issues.clone(),
    }
}

/// A rewind answers open gates first, so its own event is not the first one.
fn rewound(events: &[Event]) -> Option<Command> {
    events.iter().find_map(|event| match event {
        Event::Rewound { to, carried } => {
            Some(Command::Rewind { to: *to, carried: carried.clone() })
        }
        _ => None,
    })
}

/// What a person asked for.
fn asked(event: &Event) -> Option<Command> {
    match event {
        Event::RunPaused { reason } => Some(Command::Pause { reason: reason.clone() }),
        Event::RunResumed => Some(Command::Resume),
        Event::LedgerRepaired(repaired) => Some(Command::Repair(repaired.clone())),
        Event::RunCancelled { reason } => Some(Command::Cancel { reason: reason.clone() }),
        Event::UndoStarted(undo) => Some(Command::Undo {
            what: undo.what.clone(),
            from: undo.from.clone(),
            to: undo.to.clone(),
            back: undo.back,
        }),
        Event::GateAnswered { gate, answer, note, .. } => {
            let (gate, note) = (Some(*gate), note.clone());
            match answer {
                GateAnswer::Approved => Some(Command::Approve { gate, note, scope: None }),
                GateAnswer::Allowed(scope) => {
                    let scope = Some(*scope).filter(|it| *it != GrantScope::Once);
                    Some(Command::Approve { gate, note, scope })
                }
                GateAnswer::Rejected => Some(Command::Reject { gate, note }),
                GateAnswer::Said(text) => Some(Command::Answer { gate, text: text.clone(), note }),
                GateAnswer::Retry
                | GateAnswer::Go(_)
                | GateAnswer::Skip
                | GateAnswer::Raised
                | GateAnswer::Withdrawn => None,
            }
        }
        _ => None,
    }
}

/// What the world reported.
fn report(event: &Event) -> Option<Report> {
    match event {
        Event::SupervisorStarted(started) => Some(Report::SupervisorStarted {
            pid: started.pid,
            host: started.host.clone(),
            epoch: started.epoch,
            version: started.version.clone(),
            notifies: started.notifies,
            walls: started.walls.clone(),
        }),
        Event::TailSetAside { bytes, file } => {
            Some(Report::TailSetAside { bytes: *bytes, file: file.clone() })
        }
        Event::NoticeGiven(given) => Some(Report::NoticeGiven(given.clone())),
        Event::TreeRecorded(recorded) => Some(Report::TreeRecorded(Box::new(recorded.clone()))),
        Event::TreeMissed { moment, why, .. } => {
            Some(Report::TreeMissed { moment: *moment, why: why.clone() })
        }
        Event::UndoEnded(restored) => Some(Report::TreeRestored(Box::new(restored.clone()))),
        Event::StopAsked { attempt, cause, .. } => stopped(*attempt, *cause),
        Event::WaitEnded(ended) => {
            Some(Report::TimerFired { attempt: ended.attempt, timer: TimerKind::Wait })
        }
        _ => {
            let (attempt, active_ms, what) = seen(event)?;
            Some(Report::Attempt { attempt, active_ms, what })
        }
    }
}

fn stopped(attempt: AttemptId, cause: StopCause) -> Option<Report> {
    let timer = match cause {
        StopCause::Grace => TimerKind::Grace,
        StopCause::Timeout => TimerKind::Timeout,
        StopCause::Budget => TimerKind::Budget,
        StopCause::Standstill => TimerKind::Standstill,
        StopCause::Tool => TimerKind::Tool,
        StopCause::Idle => {
            let (active_ms, what) = (0, AttemptReport::Idle);
            return Some(Report::Attempt { attempt, active_ms, what });
        }
        StopCause::Asks => return Some(Report::SupervisorLeaves),
        // Such a line begins with the tool call that was one too many, or that nobody had judged: this is never its first event.
        StopCause::Repeats | StopCause::Unjudged => return None,
    };
    Some(Report::TimerFired { attempt, timer })
}

/// What was seen of an attempt; the time is 0 where no decision uses it.
fn seen(event: &Event) -> Option<(AttemptId, u64, AttemptReport)> {
    Some(match event {
        Event::SessionOpened { attempt, session } => {
            (*attempt, 0, AttemptReport::Session(session.clone()))
        }
        Event::GuardUnproven { attempt, why } => {
            (*attempt, 0, AttemptReport::GuardUnproven { why: why.clone() })
        }
        Event::AttemptRewalled(it) => (it.attempt, 0, AttemptReport::OtherWalls),
        Event::RoomAwaited(it) => (it.attempt, 0, AttemptReport::RoomAwaited(it.limit.clone())),
        Event::RoomTaken { attempt } => (*attempt, 0, AttemptReport::RoomTaken),
        Event::WallHit { attempt, call, said } => {
            (*attempt, 0, AttemptReport::WallHit { call: call.clone(), said: said.clone() })
        }
        Event::ToolCalled(called) => {
            let call = Box::new(called.reported()?);
            let judged = called.judged.clone();
            (called.attempt, called.active_ms, AttemptReport::ToolCalled { call, judged })
        }
        Event::ToolEnded { attempt, call, ok, goes_on, active_ms } => {
            let call = call.clone();
            let report = if *goes_on {
                AttemptReport::ToolWentOn { call }
            } else {
                AttemptReport::ToolEnded { call, ok: *ok }
            };
            (*attempt, *active_ms, report)
        }
        Event::FileChanged { attempt, path, change } => {
            (*attempt, 0, AttemptReport::FileChanged { path: path.clone(), change: *change })
        }
        Event::UsageReported { attempt, scope, usage, active_ms } => {
            let (scope, usage) = (scope.clone(), *usage);
            (*attempt, *active_ms, AttemptReport::Usage { scope, usage })
        }
        Event::CommandEnded { attempt, index, code, output } => {
            let (index, code, output) = (*index, *code, output.clone());
            (*attempt, 0, AttemptReport::CommandEnded { index, code, output })
        }
        Event::MessageDelivered { attempt, message, .. } => {
            (*attempt, 0, AttemptReport::Told(*message))
        }
        Event::AttemptEnded(ended) => {
            (ended.attempt, ended.active_ms, AttemptReport::Ended(end(ended)))
        }
        _ => return None,
    })
}

/// The end of an attempt as it usually looks.
fn end(ended: &AttemptEnded) -> EndSeen {
    let said = Some(ended.final_text.clone()).filter(|said| !said.is_empty());
    let seen = EndSeen {
        strays: ended.strays,
        not_understood: ended.not_understood,
        remarks: ended.remarks.clone(),
        transcript_bytes: ended.transcript_bytes,
        quota_until: ended.quota_until,
        retry_after_ms: ended.retry_after_ms,
        final_text: said.map(|said| Box::new(FinalText(said))),
        ..EndSeen::default()
    };
    match &ended.end {
        End::Left | End::BrokeOff | End::CommandsDone => {
            EndSeen { finished: true, code: Some(0), ..seen }
        }
        End::CommandFailed { .. } => EndSeen { finished: true, code: Some(1), ..seen },
        End::Crashed(crash) => crashed(crash, seen),
        End::StoppedBy(_) | End::Stopped => EndSeen { stopped: true, ..seen },
        End::Lost => EndSeen { lost: true, ..seen },
        End::Unclear { why } => EndSeen { unclear: Some(why.clone()), ..seen },
    }
}

fn crashed(crash: &Crash, seen: EndSeen) -> EndSeen {
    let (code, signal) = (crash.code, crash.signal);
    match crash.class {
        CrashClass::NoSignal | CrashClass::Died => {
            let (finished, stderr) = (crash.class == CrashClass::NoSignal, crash.text.clone());
            EndSeen { finished, code, signal, stderr, ..seen }
        }
        class => EndSeen { error: Some((class, crash.text.clone())), code, signal, ..seen },
    }
}
