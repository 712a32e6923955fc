//! What happened in a run, or in many: figures, and which trouble they had to bear.

use chronicle_core::event::{CrashClass, End, Event, GateKind, StopCause, Verdict};

/// What happened in a run, or in many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) runs: u64,
    pub(crate) done: u64,
    pub(crate) cancelled: u64,
    pub(crate) inputs: u64,
    pub(crate) lines: u64,
    pub(crate) events: u64,
    pub(crate) attempts: u64,
    pub(crate) gates: u64,
    pub(crate) opens: u64,
    pub(crate) kills: u64,
    pub(crate) power_cuts: u64,
    pub(crate) disk_faults: u64,
    /// The most lines of one run.
    pub(crate) longest: u64,
    /// How many runs met each trouble.
    pub(crate) met: Met,
}

/// A number for each trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Met([u64; Trouble::ALL.len()]);

impl Default for Met {
    fn default() -> Self {
        Self([0; Trouble::ALL.len()])
    }
}

impl Met {
    /// Notes it, as often as it may come.
    pub(crate) fn meet(&mut self, trouble: Trouble) {
        self.0[trouble as usize] = 1;
    }

    fn of(&self, trouble: Trouble) -> u64 {
        self.0[trouble as usize]
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    /// Notes all that the other has noted.
    pub(crate) fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(here, there)| *here |= there);
    }
}

macro_rules! troubles {
    ($($name:ident: $words:literal,)*) => {
        /// Something that goes wrong, or that is asked for when nobody expects it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Trouble {
            $($name,)*
        }

        impl Trouble {
            /// Each with its words.
            pub(crate) const ALL: &[(Self, &str)] = &[$((Self::$name, $words),)*];
        }
    };
}

troubles! {
    Killed: "supervisor killed",
    KilledInDisk: "killed between two things asked of the disk",
    PowerCut: "power cut",
    Torn: "line torn and set aside",
    Full: "disk full",
    SyncFailed: "sync failed",
    SyncForgotten: "failed sync forgotten by the system",
    ReadOnly: "disk read-only",
    Damaged: "synced byte changed, and found",
    Cut: "ledger cut by a person",
    Raced: "two supervisors at once",
    Fenced: "overtaken supervisor refused",
    WroteLate: "overtaken supervisor wrote late",
    ClockJumped: "clock jumped",
    Died: "agent died",
    Lost: "attempt lost and resumed",
    NoSignal: "agent ended without a signal",
    SessionGone: "session gone",
    Idle: "agent stalled",
    TimedOut: "timeout",
    Grace: "agent lingered",
    Flooded: "agent flooded",
    Lied: "agent lied about its usage",
    Pretended: "agent pretended to be another",
    Reused: "request id used again",
    Circled: "circle: the same call too often",
    Looped: "loop: the same edge too often",
    Budget: "budget used up",
    Waited: "waited for a quota",
    Asked: "question to a person",
    Held: "call that needs a person's leave",
    Unheard: "call that nobody answered in time",
    Helped: "help from another worker",
    Unverified: "work not as it was said to be",
    Answered: "late, doubled or wrong answer",
    Paused: "paused by a person",
    Undone: "undo",
    Rewound: "taken back by a person",
    TreeMissed: "tree not recorded",
    StoodStill: "standstill: nothing came of the work",
    Told: "people told",
    Untold: "supervisor died over telling people",
    SentBack: "work that failed together with the others",
    Conflicted: "conflict between steps",
    Replanned: "steps planned anew while others worked",
    Decided: "one of several results taken",
    WroteBeside: "file changed while a merge was written",
    NoFolder: "work folder not made",
    FolderLost: "work folder removed under its worker",
    Crowded: "attempt that waited for room on the machine",
    Rewalled: "attempt started behind other walls than it was decided for",
}

impl Met {
    /// What a line of the ledger tells of trouble.
    pub(crate) fn meet_event(&mut self, event: &Event) {
        let trouble = match event {
            Event::TailSetAside { .. } => Trouble::Torn,
            Event::WaitBegan(_) => Trouble::Waited,
            Event::UndoEnded(_) => Trouble::Undone,
            Event::Rewound { .. } => Trouble::Rewound,
            Event::AttemptRewalled(_) => Trouble::Rewalled,
            Event::RoomAwaited(_) => Trouble::Crowded,
            Event::TreeMissed { .. } => Trouble::TreeMissed,
            Event::RunPaused { .. } => Trouble::Paused,
            Event::MergePlanned(planned) if planned.conflicts > 0 => Trouble::Conflicted,
            Event::MergeWritten(written) if !written.late.is_empty() => Trouble::WroteBeside,
            Event::PlanMade(made) if made.pool.is_some() => Trouble::Replanned,
            Event::RaceDecided(_) => Trouble::Decided,
            Event::FolderFailed { .. } => Trouble::NoFolder,
            Event::FolderLost { .. } => Trouble::FolderLost,
            Event::NoticeGiven(given) if given.missed.is_some() => Trouble::Untold,
            Event::NoticeGiven(_) => Trouble::Told,
            Event::FollowUpEnded { .. } => Trouble::Helped,
            Event::GateOpened(gate) if gate.gate_kind == GateKind::Budget => Trouble::Budget,
            Event::GateOpened(gate) if gate.gate_kind == GateKind::Question => Trouble::Asked,
            Event::GateOpened(gate) if gate.gate_kind == GateKind::Permission => Trouble::Held,
            Event::ToolCalled(called)
                if called.gate.is_some() && called.verdict != Verdict::Allowed =>
            {
                Trouble::Unheard
            }
            Event::GateOpened(gate) if gate.about.contains("which is the limit") => Trouble::Looped,
            Event::AttemptStarted(intent)
                if matches!(intent.why, chronicle_core::event::Why::Unverified { .. }) =>
            {
                Trouble::Unverified
            }
            Event::AttemptEnded(ended) => match &ended.end {
                End::Lost => Trouble::Lost,
                End::StoppedBy(StopCause::Repeats) => Trouble::Circled,
                End::StoppedBy(StopCause::Standstill) => Trouble::StoodStill,
                End::StoppedBy(StopCause::Idle) => Trouble::Idle,
                End::StoppedBy(StopCause::Timeout) => Trouble::TimedOut,
                End::Crashed(crash) => match crash.class {
                    CrashClass::Died => Trouble::Died,
                    CrashClass::NoSignal => Trouble::NoSignal,
                    CrashClass::SessionGone => Trouble::SessionGone,
                    _ => return,
                },
                _ => return,
            },
            Event::StopAsked { cause: StopCause::Grace, .. } => Trouble::Grace,
            _ => return,
        };
        self.meet(trouble);
    }
}

impl Figures {
    pub(crate) fn meet(&mut self, trouble: Trouble) {
        self.met.meet(trouble);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.done += other.done;
        self.cancelled += other.cancelled;
        self.inputs += other.inputs;
        self.lines += other.lines;
        self.events += other.events;
        self.attempts += other.attempts;
        self.gates += other.gates;
        self.opens += other.opens;
        self.kills += other.kills;
        self.power_cuts += other.power_cuts;
        self.disk_faults += other.disk_faults;
        self.longest = self.longest.max(other.lines);
        self.met.add(&other.met);
    }

    /// Trouble that none of the runs met.
    pub(crate) fn unmet(&self) -> Vec<&'static str> {
        let all = Trouble::ALL.iter().filter(|(trouble, _)| self.met.of(*trouble) == 0);
        all.map(|(_, words)| *words).collect()
    }

    /// How many runs met each trouble, the rarest first.
    pub(crate) fn troubles(&self) -> String {
        let mut all: Vec<(u64, &str)> =
            Trouble::ALL.iter().map(|(trouble, words)| (self.met.of(*trouble), *words)).collect();
        all.sort_unstable();
        let all: Vec<String> =
            all.iter().map(|(runs, words)| format!("  {runs:>8}  {words}")).collect();
        all.join("\n")
    }
}
