//! Takes inputs out of bytes: ids are mostly those that exist, texts mostly nasty.

use std::sync::LazyLock;

use chronicle_core::base::ids::SHELL;
use chronicle_core::base::ids::{
    AttemptId, FolderId, GateId, NoteId, Outcome, PhaseId, Place, RunId, SessionId, TreeId,
};
use chronicle_core::base::time::Millis;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::definition::persona::Persona;
use chronicle_core::definition::workflow::{Source, Workflow, load};
use chronicle_core::event::input::{
    Actor, AttemptReport, By, Command, EndSeen, FinalText, Input, Report, TimerKind, What,
};
use chronicle_core::event::notice::{About, Missed, NoticeGiven};
use chronicle_core::event::pool::{FolderMade, MergePlanned, MergeWritten};
use chronicle_core::event::room::RoomLimit;
use chronicle_core::event::signal::Signal;
use chronicle_core::event::trees::{Changes, FileChange, Restored, TreeRecorded, Unclear};
use chronicle_core::event::{
    Break, Call, Caller, Change, CrashClass, FollowUp, GrantScope, Issues, LedgerRepaired, Message,
    OnGate, Question, RunStarted, SnapshotUpdate, ToolKind, WallsFound,
};
use chronicle_core::guard::{Judgement, RuleKind, RuleRef};
use chronicle_core::state::effect::Action;
use chronicle_core::state::{MergeStage, OWN_FOLDER, State};

/// The last moment that a ledger can write: the end of the year 9999.
const AT_MAX: u64 = 253_402_300_799_999;
const MAINS: [&str; 3] = [
    "
name: Everything
phases:
  plan: {approval: both, next: [build, in]}
  build: {next: [plan, test], on: {crash: test}, limits: {timeout: 5m}}
  test: {run: command, commands: [a, b], next: [in], on: {fail: build}}
  in: {run: workflow, workflow: inner, approval: after, next: [done]}
",
    "
name: Once
phases:
  plan: {next: [ship, ask], on: {stuck: ask}, limits: {retries: 0, nudges: 1, losses: 1}}
  ship: {run: command, once: true, approval: before, commands: [a], next: [plan], on: {rejected: ask}}
  ask: {run: human, next: [human_intervention, plan, in]}
  in: {run: workflow, workflow: inner, next: [done]}
",
    "
name: Round
phases:
  plan: {next: [build], session: continue, followups: [mender], limits: {loop: {count: edge, max: 2}, depth: 1}}
  build: {next: [plan, done], requires: [changed_files, make], tools: {deny: [bash]}, on: {timeout: plan}, limits: {timeout: 1s}}
",
];

const INNER: &str = "
name: Inner
phases:
  look: {next: [judge, human_intervention], approval: before}
  judge: {outcomes: [fine], next: [look], on: {fine: done}}
";

static WORKFLOWS: LazyLock<Vec<Vec<Workflow>>> = LazyLock::new(|| {
    let source = |key: &str, text: &str| Source {
        file: None,
        name: format!("{key}.yaml"),
        key: key.to_owned(),
        text: text.to_owned(),
    };
    let read = |text: &&str| {
        let loaded = load(source("main", text), &mut |key| Some(source(key, INNER)));
        assert!(loaded.is_usable(), "{:#?}", loaded.problems);
        loaded.workflows
    };
    MAINS.iter().map(read).collect()
});

const PLACES: [&str; 14] = [
    "plan",
    "build",
    "test",
    "ship",
    "ask",
    "in",
    "in/look",
    "in/judge",
    "done",
    "human_intervention",
    "in/done",
    "x",
    "",
    "in//look",
];

const TEXTS: [&str; 10] = [
    "",
    "read",
    "s",
    "a\nb\r\u{1b}[2J\u{7}",
    "\u{202e}\u{2066}\u{9b}31m",
    "\u{0}\u{7f}é🦀",
    "workflow_transition",
    "\"quoted\" \\ `ticks`",
    "bash",
    "Fixed a.rs and src/. `make` passes, all tests are green",
];

const NUMBERS: [u64; 6] = [0, 1, 7, 1 << 32, u64::MAX - 1, u64::MAX];

/// After the last byte everything is zero.
pub(super) struct Dice<'a> {
    pub(super) bytes: &'a [u8],
}

impl Dice<'_> {
    pub(super) fn is_over(&self) -> bool {
        self.bytes.is_empty()
    }

    fn byte(&mut self) -> u8 {
        let (first, rest) =
            self.bytes.split_first().map_or((0, self.bytes), |(b, rest)| (*b, rest));
        self.bytes = rest;
        first
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.byte()) % from.len()]
    }

    fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    fn number(&mut self) -> u64 {
        self.pick(&NUMBERS)
    }

    fn text(&mut self) -> String {
        let text = self.pick(&TEXTS);
        // Now and then longer than anything that is kept.
        if self.byte() == 255 { text.repeat(5_000) } else { text.to_owned() }
    }

    fn place(&mut self) -> Place {
        Place::new(self.pick(&PLACES))
    }

    /// Mostly one that lives.
    fn attempt(&mut self, state: &State) -> AttemptId {
        let byte = self.byte();
        let live: Vec<AttemptId> = state.live.iter().copied().collect();
        match live.len() {
            _ if byte > 230 => AttemptId(u32::from(byte) - 230),
            0 => AttemptId(u32::from(byte % 4)),
            count => live[usize::from(byte) % count],
        }
    }

    fn gate(&mut self, state: &State) -> Option<GateId> {
        let byte = self.byte();
        let open = state.open_gates().next().map(|gate| gate.opened.gate);
        match byte % 4 {
            0 => None,
            1 => Some(GateId(u32::from(byte / 4))),
            _ => open,
        }
    }

    fn usage(&mut self) -> AttemptReport {
        let scope = match self.byte() % 4 {
            0 => Scope::Turn,
            1 => Scope::Session,
            2 => Scope::Message("m".to_owned()),
            _ => Scope::Message(self.text()),
        };
        let usage = Usage {
            input: self.number(),
            output: self.number(),
            cache_read: self.number(),
            cache_write: self.number(),
            usd_micros: self.number(),
            unpriced: self.flag(),
            estimated: self.flag(),
            ..Usage::default()
        };
        AttemptReport::Usage { scope, usage }
    }

    fn end(&mut self) -> AttemptReport {
        let classes = [
            CrashClass::NoSignal,
            CrashClass::SessionGone,
            CrashClass::Auth,
            CrashClass::Quota,
            CrashClass::CannotStart,
            CrashClass::Protocol,
            CrashClass::Refused,
        ];
        let flags = self.byte();
        AttemptReport::Ended(EndSeen {
            finished: flags & 1 != 0,
            lost: flags & 2 != 0,
            stopped: flags & 4 != 0,
            unclear: (flags & 0x18 == 0x18).then(|| self.text()),
            error: (flags & 32 != 0).then(|| (self.pick(&classes), self.text())),
            quota_until: (flags & 0x21 == 0x21).then_some(Millis(AT_MAX)),
            retry_after_ms: (flags & 0x22 == 0x22).then(|| self.number()),
            code: (flags & 64 != 0).then_some(i32::MIN),
            signal: (flags & 128 != 0).then_some(9),
            strays: 2,
            not_understood: self.number(),
            transcript_bytes: self.number(),
            remarks: vec![self.text()],
            stderr: self.text(),
            final_text: self.flag().then(|| Box::new(FinalText(self.text()))),
        })
    }

    /// Also one that no adapter would make: nothing about it fits together.
    fn call(&mut self) -> Call {
        let input = self.text();
        let whole = serde_json::from_str(&input).unwrap_or_else(|_| input.as_str().into());
        let call = Call::new(&self.text(), &self.text(), &whole, &["description"]);
        Call {
            kind: self.pick(&[ToolKind::Unknown, ToolKind::Run, ToolKind::Mcp]),
            by: self.pick(&[Caller::Worker, Caller::SubAgent]),
            shown: self.text(),
            command: self.flag().then(|| self.text()),
            command_cut: self.flag(),
            background: self.flag(),
            ..call
        }
    }

    /// Any of the three, with any words.
    fn judgement(&mut self) -> Judgement {
        let (text, why) = (self.text(), self.text());
        let rule = RuleRef { kind: RuleKind::Command, text, at: None };
        match self.byte() % 4 {
            0 | 1 => Judgement::Clear,
            2 => Judgement::Deny { rule, why },
            _ => Judgement::Ask { rule, why },
        }
    }

    fn attempt_report(&mut self, state: &State, id: AttemptId) -> AttemptReport {
        // Of commands it is mostly told how they ended.
        let commands = state.attempt(id).is_some_and(|attempt| attempt.intent.agent == SHELL);
        match self.byte() % if commands { 34 } else { 18 } {
            0 => AttemptReport::Session(SessionId::new(self.text())),
            1 => {
                let judged = self.judgement();
                AttemptReport::ToolCalled { call: Box::new(self.call()), judged }
            }
            2 => AttemptReport::ToolEnded { call: self.text(), ok: self.flag() },
            13 => AttemptReport::ToolWentOn { call: self.text() },
            14 => {
                let call = self.flag().then(|| self.text());
                AttemptReport::WallHit { call, said: self.text() }
            }
            15 => AttemptReport::OtherWalls,
            3 => AttemptReport::FileChanged { path: self.text(), change: Change::Deleted },
            4 => self.usage(),
            16 => {
                let agent = self.flag().then(|| self.text());
                AttemptReport::RoomAwaited(RoomLimit { agent, most: self.pick(&[1, 8, u32::MAX]) })
            }
            17 => AttemptReport::RoomTaken,
            5..8 | 18.. => {
                let place = state.attempt(id).map(|attempt| attempt.intent.place.frame());
                let frame = place.and_then(|frame| state.frames.get(&frame));
                let due = frame.map_or(0, |frame| frame.worker.counters.commands_done);
                AttemptReport::CommandEnded {
                    index: self.pick(&[due, due, due, due, 1, u32::MAX]),
                    code: self.pick(&[Some(0), Some(0), Some(0), Some(1), None]),
                    output: self.text(),
                }
            }
            8 => AttemptReport::Idle,
            12 => AttemptReport::Told(self.message(state)),
            _ => self.end(),
        }
    }

    fn signal(&mut self) -> Signal {
        let outcomes = [None, Some("complete"), Some("fail"), Some("fine"), Some("odd\n")];
        match self.byte() % 26 {
            0 => Signal::Status,
            1 => Signal::Malformed(self.text()),
            2 => Signal::Break(Break::Continue { progress: self.text(), point: self.text() }),
            3 => Signal::Break(Break::Ask(self.question())),
            4..6 => Signal::Break(Break::FollowUp(FollowUp {
                persona: self.pick(&["plan", "build", "mender", "judge", ""]).to_owned(),
                reason: self.text(),
                context: self.text(),
                resume: self.flag(),
            })),
            6 => Signal::Break(Break::Helped {
                outcome: Outcome::from(self.pick(&["complete", "fail"])),
                summary: self.text(),
            }),
            7 => Signal::Loop { summary: self.text() },
            8 => Signal::Cancel { summary: self.text() },
            9 => Signal::Snapshot(SnapshotUpdate {
                findings: vec![self.text()],
                done: vec![self.text()],
                ..SnapshotUpdate::default()
            }),
            10 | 11 => Signal::Ask(self.question()),
            _ => Signal::Leave {
                target: self.flag().then(|| PhaseId::from(self.pick(&PLACES))),
                outcome: self.pick(&outcomes).map(Outcome::from),
                summary: self.text(),
                task: self.flag().then(|| self.text()),
                issues: Issues::default(),
            },
        }
    }

    fn question(&mut self) -> Question {
        let options = if self.flag() { vec![self.text(), "yes".to_owned()] } else { Vec::new() };
        Question { question: self.text(), options, context: self.text(), closed: false }
    }

    fn message(&mut self, state: &State) -> Message {
        let gate = self.gate(state).unwrap_or(GateId(1));
        match self.byte() % 5 {
            0 => Message::Answer(gate),
            1 => Message::Verdict(gate),
            2 => Message::Wall,
            _ => Message::Note(NoteId(u32::from(self.byte() % 4))),
        }
    }

    fn command(&mut self, state: &State) -> Command {
        let note = self.text();
        match self.byte() % 14 {
            0 => Command::Pause { reason: note },
            1 | 2 => Command::Resume,
            3 | 4 => {
                let reach =
                    [None, Some(GrantScope::Once), Some(GrantScope::Phase), Some(GrantScope::Run)];
                let scope = self.pick(&reach);
                Command::Approve { gate: self.gate(state), note, scope }
            }
            5 => Command::Reject { gate: self.gate(state), note },
            6 => {
                let (place, agent) =
                    (self.flag().then(|| self.place()), self.flag().then(|| self.text()));
                let from = self.flag().then(|| u32::from(self.byte() % 4));
                Command::Retry { place, note, agent, from }
            }
            8..11 => Command::Answer { gate: self.gate(state), text: note.clone(), note },
            11 => Command::Skip { place: self.flag().then(|| self.place()), note },
            12 if self.flag() => Command::Title { text: note },
            12 => Command::Note { place: self.flag().then(|| self.place()), text: note },
            7 if self.flag() => {
                let place = self.flag().then(|| self.place());
                Command::Loops { place, more: u32::from(self.byte()) }
            }
            7 => Command::Go { place: self.place(), note },
            _ if self.byte() > 220 => {
                let (from, to, back) = (TreeId::from("a"), TreeId::from("b"), None);
                Command::Undo { what: note, from, to, back }
            }
            _ if self.byte() > 240 => {
                Command::Repair(LedgerRepaired { why: note, bytes: 7, file: None })
            }
            _ if self.byte() > 230 => Command::Merge { keep: self.flag() },
            _ if self.byte() > 250 => Command::DropWork,
            _ if self.byte() > 250 => Command::Cancel { reason: note },
            _ => self.first(),
        }
    }

    /// What makes a run.
    pub(super) fn first(&mut self) -> Command {
        let which = usize::from(self.byte()) % MAINS.len();
        let start = Box::new(RunStarted {
            run: RunId::from("01997f3a-0000-7000-8000-0000c0ffee01"),
            task: self.text(),
            who: self.text(),
            project: "/project".to_owned(),
            agent: "scripted:script.yaml".to_owned(),
            model: None,
            workflows: WORKFLOWS[which].clone(),
            source: self.text(),
            personas: ["mender", "judge"].map(called).to_vec(),
            unenforced: Vec::new(),
            version: self.text(),
            on_gate: self.pick(&[None, None, None, Some(OnGate::Wait), Some(OnGate::Fail)]),
            isolated: self.flag(),
            keep_folders: self.flag(),
            apart: self.byte() > 200,
            inputs: false,
            rules: None,
            walls: None,
            carried: None,
        });
        if self.flag() { Command::Prepare(start) } else { Command::Start(start) }
    }

    /// What becomes of the folder of a run that works apart, and of its merge. Mostly it costs one byte.
    fn due_own(&mut self, state: &State) -> Option<Report> {
        let mut due = state.due().into_iter().map(|effect| effect.action);
        let (folder, why) = (OWN_FOLDER, "no".to_owned());
        let is_own = |action: &Action| {
            [
                Action::MakeFolder(folder),
                Action::DropFolder(folder),
                Action::PlanMerge(folder),
                Action::WriteMerge(folder),
            ]
            .contains(action)
        };
        let due = due.find(is_own)?;
        let byte = self.byte();
        let tree = |name: &str| TreeId::from(name);
        let report = match due {
            _ if byte < 30 => return None,
            Action::MakeFolder(_) if byte > 240 => Report::FolderFailed { folder, why },
            Action::MakeFolder(_) => {
                Report::FolderMade(FolderMade { folder, tree: tree("a"), plain: None, path: None })
            }
            Action::DropFolder(_) => {
                Report::FolderDropped { folder, error: (byte > 240).then_some(why) }
            }
            Action::PlanMerge(_) if byte > 240 => Report::MergeMissed { folder, why },
            Action::PlanMerge(_) => Report::MergePlanned(Box::new(MergePlanned {
                folder,
                ours: tree("a"),
                theirs: tree("b"),
                result: tree("c"),
                changes: Changes::default(),
                conflicts: u32::from(byte.is_multiple_of(3)),
                conflict_files: Vec::new(),
                unrecorded: Vec::new(),
            })),
            _ => {
                let merging = state.merging_of(folder)?;
                let is_result = merging.at == MergeStage::Writing;
                let into = if is_result { FolderId::Project } else { FolderId::Work(folder) };
                let late = (byte > 240).then_some(why).into_iter().collect();
                Report::MergeWritten(MergeWritten { folder, into, files: 1, late, error: None })
            }
        };
        Some(report)
    }

    /// What becomes of a tree that is due. Mostly it costs one byte.
    fn due_tree(&mut self, state: &State) -> Option<Report> {
        let due = state
            .due()
            .into_iter()
            .map(|effect| effect.action)
            .find(|action| matches!(action, Action::RecordTree(_) | Action::RestoreTree))?;
        let byte = self.byte();
        let text = if byte > 235 { self.text() } else { "a".to_owned() };
        match due {
            _ if byte < 30 => None,
            Action::RecordTree(moment) if byte > 245 => {
                Some(Report::TreeMissed { moment, why: text })
            }
            Action::RecordTree(moment) => {
                let mut changes = Changes::default();
                if byte.is_multiple_of(8) {
                    let (path, change) = (text.clone(), Change::Changed);
                    let (added, removed) = (Some(u64::MAX), None);
                    changes.add(FileChange { path, change, from: None, added, removed });
                }
                let (tree, unreadable) = (TreeId::new(text.clone()), u32::from(byte % 2));
                let unclear = Unclear { tree: tree.clone(), changes: changes.clone() };
                let unreadable_files = vec![text];
                Some(Report::TreeRecorded(Box::new(TreeRecorded {
                    unclear: byte.is_multiple_of(3).then(|| Box::new(unclear)),
                    unreadable,
                    too_large_files: unreadable_files.clone(),
                    unreadable_files,
                    ..TreeRecorded::new(moment, tree, changes)
                })))
            }
            _ => {
                let error = byte.is_multiple_of(2).then(|| text.clone());
                let [kept, edited, failed] = [(); 3].map(|()| vec![text.clone()]);
                let restored =
                    Restored { files: 7, kept, edited, failed, error, ..Restored::default() };
                Some(Report::TreeRestored(Box::new(restored)))
            }
        }
    }

    /// Which walls a machine has.
    fn walls(&mut self) -> Option<WallsFound> {
        let dice = self.byte();
        let (namespaces, landlock) = (dice & 1 > 0, dice & 2 > 0);
        let found = WallsFound { namespaces, landlock, off: dice & 4 > 0, ..WallsFound::default() };
        (dice & 8 > 0).then_some(found)
    }

    pub(super) fn input(&mut self, state: &State) -> Input {
        let (mut actor, mut request) = (Actor::Supervisor, None);
        if let Some(report) = self.due_own(state).or_else(|| self.due_tree(state)) {
            let what = What::Report(report);
            return Input { at: Millis(1), by: By { actor, request }, what };
        }
        let what = match self.byte() % 16 {
            0 => What::Report(Report::SupervisorStarted {
                pid: u32::MAX,
                host: self.text(),
                epoch: self.number(),
                version: self.text(),
                notifies: self.byte() > 60,
                walls: self.walls(),
            }),
            1 if self.byte() > 220 => {
                let owed = state.notices.owed.first().map(|owed| owed.about);
                let about = owed.unwrap_or(About::End);
                What::Report(Report::NoticeGiven(NoticeGiven::missed(about, Missed::Unknown)))
            }
            1 if self.byte() > 200 => What::Report(Report::SupervisorLeaves),
            1 => What::Report(Report::TailSetAside { bytes: self.number(), file: self.text() }),
            2 => What::Report(Report::TimerFired {
                attempt: self.attempt(state),
                timer: self.pick(&[
                    TimerKind::Grace,
                    TimerKind::Timeout,
                    TimerKind::Budget,
                    TimerKind::Standstill,
                    TimerKind::Tool,
                    TimerKind::Wait,
                    TimerKind::Ask,
                ]),
            }),
            3..8 => {
                let (attempt, active_ms) = (self.attempt(state), self.number());
                let what = self.attempt_report(state, attempt);
                What::Report(Report::Attempt { attempt, active_ms, what })
            }
            8..12 => {
                let attempt = self.attempt(state);
                let name = self.text();
                actor = Actor::Worker(attempt);
                request = Some(name.clone());
                let attempt = if self.byte() > 240 { AttemptId(1) } else { attempt };
                let signal = self.signal();
                What::Command(Command::Signal { attempt, request: name, signal })
            }
            kind => {
                let command = self.command(state);
                let worker = kind == 15 && self.byte() > 200;
                actor =
                    if worker { Actor::Worker(AttemptId(1)) } else { Actor::Person(self.text()) };
                What::Command(command)
            }
        };
        Input { at: Millis(self.number().min(AT_MAX)), by: By { actor, request }, what }
    }
}

/// Somebody who can be asked for help.
fn called(name: &str) -> Persona {
    Persona { name: name.to_owned(), ..Persona::default() }
}
