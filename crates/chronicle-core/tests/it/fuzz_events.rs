//! Any event at all, as a ledger may hold it: it reads back, is told without control characters, and is taken in.

use std::collections::BTreeSet;
use std::sync::Arc;

use chronicle_core::base::ids::{
    AttemptId, FolderId, FramePath, GateId, NoteId, Outcome, PhaseId, Place, RunId, SessionId,
    StepId, TreeId,
};
use chronicle_core::base::time::Millis;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::definition::budget::Resource;
use chronicle_core::definition::guard::RuleAt;
use chronicle_core::definition::workflow::Budget;
use chronicle_core::event::budget::{BudgetRaised, BudgetWarned, Lack};
use chronicle_core::event::carried::{Carried, CarriedEdge, CarriedFrame, CarriedVisit};
use chronicle_core::event::claims::{Claim, Unproven};
use chronicle_core::event::fallback::FellBack;
use chronicle_core::event::input::{Actor, By};
use chronicle_core::event::notice::{About, Failed, Missed, NoticeGiven, Way};
use chronicle_core::event::pool::Plan;
use chronicle_core::event::record::{Line, VERSION};
use chronicle_core::event::room::{RoomAwaited, RoomLimit};
use chronicle_core::event::snapshot::Snapshot;
use chronicle_core::event::trees::{
    Changes, FileChange, ForbiddenChange, HeadMoved, Moment, RepositoryHead, Restored,
    TreeRecorded, Unclear, UndoStarted,
};
use chronicle_core::event::wait::{WaitBegan, WaitEnded, WaitKind};
use chronicle_core::event::{
    AttemptEnded, AttemptRewalled, AttemptStarted, AttemptWalls, Break, Call, CallHeld, CallSum,
    Caller, Change, Chore, Crash, CrashClass, Duty, EdgeTaken, End, Event, FollowUp, FrameEntered,
    GateAnswer, GateKind, GateOpened, GrantScope, Handed, Issues, Leave, LedgerRepaired, LeftPhase,
    Message, Mover, Performer, PermissionCall, Question, RunStarted, SnapshotUpdate, StopCause,
    SupervisorStarted, ToolCalled, ToolKind, Verdict, WallsFound, Why,
};
use chronicle_core::guard::{Judgement, RuleKind, RuleRef};
use chronicle_core::state::State;
use chronicle_core::{view, words};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::fuzz::cases;
use crate::world::{start, workflows};

/// Names that the workflow below knows, and any other.
pub(crate) fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(vec!["a", "b", "in", "in/a", "done", "human_intervention", "main", "inner", ""])
            .prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[\\x00-\\x1f\u{202a}-\u{202e}\u{80}-\u{9f}]{0,20}"]
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..5_u64, Just(u64::MAX), any::<u64>()]
}

pub(crate) fn small() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0..4_u32, 1 => Just(u32::MAX)]
}

pub(crate) fn attempt() -> impl Strategy<Value = AttemptId> {
    small().prop_map(AttemptId)
}

fn frame() -> impl Strategy<Value = FramePath> {
    name().prop_map(|name| Place::new(name).frame_below())
}

fn of_run() -> impl Strategy<Value = Event> {
    const WORKFLOW: &str = "
phases: {a: {next: [b, in]}, b: {run: command, commands: [x, y]}, in: {run: workflow, workflow: inner}}
=== inner
phases: {a: {next: [a]}}
";
    let started = (text(), text(), any::<bool>()).prop_map(|(task, source, odd)| {
        let workflows = if odd { Vec::new() } else { workflows(WORKFLOW) };
        Arc::new(RunStarted { task, source, ..start(workflows) })
    });
    prop_oneof![
        started.prop_map(Event::RunStarted),
        (small(), text(), number(), any::<bool>()).prop_map(|(pid, host, epoch, notifies)| {
            let version = host.clone();
            let walls = notifies.then(|| WallsFound {
                namespaces: pid > 1,
                landlock: pid > 2,
                off: pid == 0,
                why: vec![host.clone()],
                ..WallsFound::default()
            });
            let started = SupervisorStarted { pid, host, epoch, version, notifies, walls };
            Event::SupervisorStarted(started)
        }),
        notice_given(),
        (number(), text()).prop_map(|(bytes, file)| Event::TailSetAside { bytes, file }),
        (number(), text(), prop::option::of(text())).prop_map(|(bytes, why, file)| {
            Event::LedgerRepaired(LedgerRepaired { why, bytes, file })
        }),
        (text(), text()).prop_map(|(title, who)| Event::RunTitled { title, who }),
        text().prop_map(|reason| Event::RunPaused { reason }),
        text().prop_map(|reason| Event::RunCancelled { reason }),
        text().prop_map(|reason| Event::RunFailed { reason }),
        select(vec![Event::RunResumed, Event::RunDone]),
        (frame(), name(), small()).prop_map(|(frame, workflow, dice)| {
            let at = (dice % 2 == 0).then(|| Place::new(frame.as_str()));
            let step = (dice % 3 == 0).then(|| StepId::from("s"));
            Event::FrameEntered(FrameEntered { frame, workflow, at, step })
        }),
        name().prop_map(|place| Event::PhaseEntered { place: Place::new(place) }),
        (number(), prop::collection::vec(carried_frame(), 0..3), text()).prop_map(rewound),
        (frame(), text(), name()).prop_map(|(frame, summary, outcome)| {
            Event::FrameEnded { frame, outcome: Outcome::new(outcome), summary }
        }),
        (name(), text(), text()).prop_map(|(place, who, note)| {
            Event::GoAsked { place: Place::new(place), who, note }
        }),
        (frame(), name(), name(), text(), any::<bool>()).prop_map(
            |(frame, from, to, said, run)| {
                let by = if run { Mover::Run } else { Mover::Person };
                let (from, to) = (PhaseId::new(from), PhaseId::new(to));
                let outcome = Outcome::new(said.clone());
                Event::EdgeTaken(EdgeTaken {
                    frame,
                    from,
                    to,
                    outcome,
                    summary: said,
                    by,
                    task: None,
                    issues: Issues::default(),
                })
            }
        ),
    ]
}

fn carried_frame() -> impl Strategy<Value = CarriedFrame> {
    (frame(), name(), name(), text(), any::<bool>()).prop_map(
        |(frame, workflow, phase, said, inside)| CarriedFrame {
            at: inside.then(|| Place::new(said.clone())),
            step: None,
            folder: FolderId::Work(2),
            frame,
            workflow,
            phase: PhaseId::new(phase),
            inside,
            task: inside.then(|| said.clone()),
            summary: said.clone(),
            plan: inside.then(|| {
                let steps = crate::world_pools::steps("a b<a");
                Box::new(Plan { version: 1, steps })
            }),
            said,
        },
    )
}

fn rewound((to, frames, finding): (u64, Vec<CarriedFrame>, String)) -> Event {
    let edges = frames.iter().map(|it| CarriedEdge {
        frame: it.frame.clone(),
        from: it.phase.clone(),
        to: it.phase.clone(),
        taken: u32::MAX,
    });
    let snapshot = Snapshot { findings: vec![finding], ..Snapshot::default() };
    let visits = frames.iter().map(|it| CarriedVisit {
        place: it.frame.place(&it.phase),
        to: it.phase.clone(),
        outcome: Outcome::from("fail"),
        summary: String::new(),
    });
    let (edges, visits) = (edges.collect(), visits.collect());
    let carried = Carried { edges, visits, snapshot, frames };
    Event::Rewound { to, carried: Box::new(carried) }
}

fn notice_given() -> impl Strategy<Value = Event> {
    (small(), text(), any::<bool>()).prop_map(|(id, why, went_well)| {
        let about = if id == 0 { About::End } else { About::Gate(GateId(id)) };
        let failed = vec![Failed { way: Way::Webhook, why }];
        let (given, missed) = (vec![Way::Command], None);
        Event::NoticeGiven(if went_well {
            NoticeGiven { about, given, failed, missed }
        } else {
            NoticeGiven::missed(about, Missed::Unknown)
        })
    })
}

fn why() -> impl Strategy<Value = Why> {
    prop_oneof![
        select(vec![
            Why::First,
            Why::Lost,
            Why::SessionGone,
            Why::Paused,
            Why::Raised,
            Why::Waited,
            Why::Progressed
        ]),
        small().prop_map(|number| Why::Nudge { number }),
        small().prop_map(|number| Why::Again { number }),
        small().prop_map(|number| Why::Retry { number }),
        text().prop_map(|note| Why::Rejected { note }),
        text().prop_map(|missing| Why::Lacking { missing }),
        text().prop_map(|note| Why::Asked { note }),
        (text(), text()).prop_map(|(agent, said)| Why::Fallback { agent, said }),
        (small(), text()).prop_map(|(number, said)| Why::Unverified { number, said }),
    ]
}

fn end() -> impl Strategy<Value = End> {
    let classes = vec![
        CrashClass::NoSignal,
        CrashClass::Died,
        CrashClass::Auth,
        CrashClass::Quota,
        CrashClass::Unjudged,
    ];
    prop_oneof![
        select(vec![End::Left, End::CommandsDone, End::Stopped, End::Lost]),
        select(vec![StopCause::Grace, StopCause::Timeout, StopCause::Idle])
            .prop_map(End::StoppedBy),
        small().prop_map(|index| End::CommandFailed { index }),
        text().prop_map(|why| End::Unclear { why }),
        (select(classes), any::<Option<i32>>(), any::<Option<i32>>(), text()).prop_map(
            |(class, code, signal, text)| End::Crashed(Crash { class, code, signal, text })
        ),
    ]
}

/// Now and then an attempt is a chore.
fn chore(number: u32) -> Option<Chore> {
    let commands = vec!["true".to_owned()];
    match number % 5 {
        0 => Some(Chore { duty: Duty::Verify, commands, of: None, workflow: None }),
        1 => Some(Chore { duty: Duty::Cleanup, commands, of: None, workflow: None }),
        2 => {
            let left = LeftPhase { place: Place::new("a/b"), workflow: "main".to_owned() };
            Some(Chore { duty: Duty::Cleanup, commands, of: Some(left), workflow: None })
        }
        _ => None,
    }
}

fn of_attempt() -> impl Strategy<Value = Event> {
    let started = (attempt(), name(), small(), text(), why(), any::<bool>());
    let started = started.prop_map(|(attempt, place, try_number, agent, why, resume)| {
        Event::AttemptStarted(AttemptStarted {
            folder: FolderId::Work(2),
            chore: chore(try_number),
            attempt,
            place: Place::new(place),
            try_number,
            session: SessionId::new(agent.clone()),
            fallback: resume.then(|| agent.clone()),
            agent,
            resume,
            why,
            first_command: try_number,
            persona: None,
            handover: resume.then(|| Handed { text: "0".repeat(64), rest: Some("x".to_owned()) }),
            recorded: resume,
            performer: if try_number == 3 { Performer::Host } else { Performer::Supervisor },
            walls: resume.then(|| {
                let namespaces = try_number > 1;
                Box::new(AttemptWalls { namespaces, ..AttemptWalls::default() })
            }),
        })
    });
    let ended = (attempt(), end(), number(), small(), number(), text());
    prop_oneof![
        4 => started,
        2 => ended.prop_map(|(attempt, end, active_ms, strays, transcript_bytes, final_text)| {
            let quota_until = (strays > 1).then_some(Millis(7));
            let not_understood = transcript_bytes;
            let name = format!("remark {strays}");
            let partial = final_text.chars().take(usize::from(strays > 0) * 40).collect();
            Event::AttemptEnded(AttemptEnded {
                attempt, end, active_ms, strays, transcript_bytes, final_text, partial, not_understood, quota_until, retry_after_ms: Some(active_ms),
                remarks: vec![name],
            })
        }),
        1 => (attempt(), small(), any::<Option<i32>>(), text()).prop_map(
            |(attempt, index, code, output)| Event::CommandEnded { attempt, index, code, output }
        ),
        1 => (name(), text()).prop_map(|(place, text)| {
            let claims = vec![Claim::Changed(text.clone()), Claim::Ran(text.clone()), Claim::Passed(text), Claim::TestsPass];
            Event::ClaimsUnproven(Unproven { place: Place::new(place), claims })
        }),
        1 => (attempt(), small(), text()).prop_map(|(attempt, index, output)| {
            Event::CommandEnded { attempt, index, code: Some(0), output }
        }),
        1 => (attempt(), name(), text(), text()).prop_map(|(attempt, to, request, summary)| {
            let (target, outcome) = (PhaseId::new(to), Outcome::new(request.clone()));
            let answer = summary.clone();
            let leave = Leave { target, outcome, summary, task: None, issues: Issues::default() };
            Event::SignalAccepted { attempt, request, leave, answer }
        }),
        1 => (attempt(), text(), text()).prop_map(|(attempt, request, answer)| {
            Event::SignalRefused { attempt, request, answer }
        }),
        1 => (attempt(), select(vec![StopCause::Grace, StopCause::Budget, StopCause::Repeats, StopCause::Standstill, StopCause::Tool, StopCause::Unjudged]), number())
            .prop_map(|(attempt, cause, active_ms)| Event::StopAsked { attempt, cause, active_ms }),
    ]
}

type Called = (Option<CallSum>, ToolKind, Caller, Option<String>);

/// What a call has beside its texts; nothing in lines that were written before it had any of it.
fn called() -> impl Strategy<Value = Called> {
    let sum = text().prop_map(|text| CallSum::of(&text, &text.as_str().into(), &[]));
    let kind = select(vec![ToolKind::Run, ToolKind::Delete, ToolKind::Other, ToolKind::Unknown]);
    let by = select(vec![Caller::Worker, Caller::SubAgent]);
    prop_oneof![
        1 => Just((None, ToolKind::Unknown, Caller::Worker, None)),
        3 => (sum.prop_map(Some), kind, by, prop::option::of(text())),
    ]
}

fn of_work() -> impl Strategy<Value = Event> {
    let scope =
        prop_oneof![text().prop_map(Scope::Message), Just(Scope::Turn), Just(Scope::Session)];
    let usage =
        (number(), number(), number(), any::<bool>()).prop_map(|(input, output, usd, no)| Usage {
            input,
            output,
            usd_micros: usd,
            unpriced: no,
            estimated: !no,
            ..Usage::default()
        });
    let verdict = prop_oneof![Just(Verdict::Allowed), text().prop_map(Verdict::Denied)];
    let change = select(vec![Change::Created, Change::Changed, Change::Deleted]);
    prop_oneof![
        (attempt(), text()).prop_map(|(attempt, session)| {
            Event::SessionOpened { attempt, session: SessionId::new(session) }
        }),
        (attempt(), text()).prop_map(|(attempt, why)| Event::GuardUnproven { attempt, why }),
        (attempt(), prop::option::of(text()), text())
            .prop_map(|(attempt, call, said)| Event::WallHit { attempt, call, said }),
        (attempt(), prop::option::of(text()), any::<u32>()).prop_map(|(attempt, agent, most)| {
            Event::RoomAwaited(RoomAwaited { attempt, limit: RoomLimit { agent, most } })
        }),
        attempt().prop_map(|attempt| Event::RoomTaken { attempt }),
        (attempt(), any::<bool>()).prop_map(|(attempt, stands)| {
            let walls = stands.then(Box::default);
            Event::AttemptRewalled(AttemptRewalled { attempt, walls, handover: None })
        }),
        (attempt(), [text(), text(), text()], called(), verdict, number()).prop_map(
            |(attempt, [call, tool, input], (sum, kind, by, command), verdict, active_ms)| {
                Event::ToolCalled(ToolCalled {
                    attempt,
                    call,
                    tool,
                    input,
                    sum,
                    kind,
                    by,
                    command_cut: command.as_ref().is_some_and(|text| text.len() % 2 == 1),
                    background: command.as_ref().is_some_and(|text| text.len() % 3 == 1),
                    command,
                    path: None,
                    start_file: active_ms % 5 == 0,
                    folder: (active_ms % 11 == 0).then(|| "sub".to_owned()),
                    unasked: active_ms % 7 == 0 && verdict != Verdict::Allowed,
                    verdict,
                    judged: judgement(active_ms),
                    gate: (active_ms % 11 == 0).then_some(GateId(1)),
                    active_ms,
                })
            }
        ),
        (attempt(), text(), any::<[bool; 2]>(), number()).prop_map(
            |(attempt, call, [ok, goes_on], active_ms)| {
                Event::ToolEnded { attempt, call, ok, goes_on, active_ms }
            }
        ),
        (attempt(), text(), change).prop_map(|(attempt, path, change)| Event::FileChanged {
            attempt,
            path,
            change
        }),
        (attempt(), scope, usage, number()).prop_map(|(attempt, scope, usage, active_ms)| {
            Event::UsageReported { attempt, scope, usage, active_ms }
        }),
    ]
}

fn of_trees() -> impl Strategy<Value = Event> {
    let moment = || {
        prop_oneof![
            attempt().prop_map(Moment::Before),
            attempt().prop_map(Moment::After),
            Just(Moment::Undo),
        ]
    };
    let recorded =
        (moment(), text(), number(), small()).prop_map(|(moment, path, lines, unreadable)| {
            let mut changes = Changes::default();
            let from = (lines > 2).then(|| path.clone());
            let (added, removed) = (Some(lines), (lines > 1).then_some(lines));
            let change = Change::Changed;
            changes.add(FileChange { path: path.clone(), change, from, added, removed });
            let (tree, unreadable_files) = (TreeId::new(path.clone()), vec![path]);
            let unclear =
                (lines > 2).then(|| Unclear { tree: tree.clone(), changes: changes.clone() });
            let head = RepositoryHead { commit: "c".to_owned(), branch: None };
            let moved = HeadMoved { from: head.clone(), commits: unreadable_files.clone() };
            Event::TreeRecorded(TreeRecorded {
                unclear: unclear.map(Box::new),
                unreadable,
                unreadable_files: unreadable_files.clone(),
                too_large: unreadable,
                too_large_files: unreadable_files,
                head: Some(head),
                moved: (lines > 1).then(|| Box::new(moved)),
                ..TreeRecorded::new(moment, tree, changes)
            })
        });
    prop_oneof![
        3 => recorded,
        1 => (moment(), text()).prop_map(|(moment, why)| Event::TreeMissed { moment, folder: FolderId::Work(1), why }),
        1 => text().prop_map(|what| {
            let tree = TreeId::new(what.clone());
            let (folder, back) = (FolderId::Project, (what.len() % 2 == 0).then_some(3));
            let undo = UndoStarted { what, folder, from: tree.clone(), to: tree, back };
            Event::UndoStarted(undo)
        }),
        1 => (small(), text(), any::<bool>()).prop_map(|(files, text, failed)| {
            let error = failed.then(|| text.clone());
            let left = failed.then(|| TreeId::new(text.clone()));
            let [list, kept, edited, failed] = [(); 4].map(|()| vec![text.clone()]);
            let (folder, is_unclear) = (FolderId::Project, files % 2 == 0);
            let change = ForbiddenChange { path: text.clone(), rule: text, is_unclear };
            Event::UndoEnded(Restored {
                folder,
                files,
                list,
                kept,
                edited,
                failed,
                left,
                forbidden_files: vec![change],
                error,
            })
        }),
    ]
}

/// What the rules say, one of all three.
fn judgement(number: u64) -> Judgement {
    let at = (number > 9).then(|| RuleAt { file: "rules\u{1b}.yaml".to_owned(), line: 3 });
    let rule = RuleRef { kind: RuleKind::Command, text: "rm\u{1b}".to_owned(), at };
    let why = "not\u{7}there".to_owned();
    match number % 3 {
        0 => Judgement::Clear,
        1 => Judgement::Deny { rule, why },
        _ => Judgement::Ask { rule, why },
    }
}

fn asked() -> PermissionCall {
    let Judgement::Ask { rule, why } = judgement(2) else { unreachable!() };
    let call = Call::new("c1", "bash", &serde_json::json!({"command": "rm \u{1b}[2J"}), &[]);
    PermissionCall { call, rule, why }
}

fn of_gates() -> impl Strategy<Value = Event> {
    let approvals = vec![GateKind::ApprovalBefore, GateKind::ApprovalAfter];
    let others =
        vec![GateKind::Intervention, GateKind::Budget, GateKind::Permission, GateKind::Conflict];
    let kinds = [approvals, others].concat();
    let answer = prop_oneof![
        select(vec![
            GateAnswer::Approved,
            GateAnswer::Rejected,
            GateAnswer::Retry,
            GateAnswer::Raised,
            GateAnswer::Withdrawn,
            GateAnswer::Allowed(GrantScope::Once),
            GateAnswer::Allowed(GrantScope::Phase),
            GateAnswer::Allowed(GrantScope::Run),
        ]),
        name().prop_map(|to| GateAnswer::Go(PhaseId::new(to))),
    ];
    prop_oneof![
        (small(), name(), select(kinds), text()).prop_map(|(gate, place, gate_kind, about)| {
            let (gate, place) = (GateId(gate), Place::new(place));
            Event::GateOpened(GateOpened {
                gate,
                place,
                gate_kind,
                about: about.clone(),
                options: vec![about.clone()],
                closed: about.len() > 3,
                context: about,
                lack: Some(Lack::Price),
                asker: None,
                asks: (gate_kind == GateKind::Permission).then(|| Box::new(asked())),
                step: None,
            })
        }),
        (prop::option::of(name()), number(), number(), text(), any::<bool>()).prop_map(
            |(place, spent, limit, who, unpriced)| {
                let place = place.map(Place::new);
                if unpriced {
                    let resource = Resource::Tokens;
                    return Event::BudgetWarned(BudgetWarned { place, resource, spent, limit });
                }
                let more =
                    Budget { tokens: Some(spent), time_ms: Some(limit), ..Budget::default() };
                Event::BudgetRaised(BudgetRaised { place, more, unpriced, who })
            }
        ),
        (small(), name(), text()).prop_map(|(more, place, who)| Event::LoopsAllowed {
            place: Place::new(place),
            more,
            who,
        }),
        (attempt(), small(), text(), number()).prop_map(|(attempt, gate, call, active_ms)| {
            let (by, gate) = (Caller::SubAgent, GateId(gate));
            Event::CallHeld(CallHeld { attempt, call, by, gate, active_ms })
        }),
        (small(), answer, text(), text()).prop_map(|(gate, answer, who, note)| {
            Event::GateAnswered {
                gate: GateId(gate),
                answer,
                agent: Some(note.clone()),
                from: None,
                who,
                note,
            }
        }),
    ]
}

/// Waits, and agents that take over.
fn of_waits() -> impl Strategy<Value = Event> {
    prop_oneof![
        (small(), name(), number(), text(), any::<bool>()).prop_map(
            |(number, place, until, note, begins)| {
                let (attempt, place) = (AttemptId(number), Place::new(place));
                if begins {
                    let (wait_kind, until) = (WaitKind::Quota, Millis(until % 253_402_300_800_000));
                    return Event::WaitBegan(WaitBegan {
                        place,
                        attempt,
                        wait_kind,
                        until,
                        number,
                    });
                }
                let (who, agent) = (Some(note.clone()), Some(note.clone()));
                Event::WaitEnded(WaitEnded { place, attempt, who, agent, note })
            }
        ),
        (small(), name(), text(), text()).prop_map(|(attempt, place, agent, said)| {
            let (attempt, place) = (AttemptId(attempt), Place::new(place));
            let (from, to) = (agent.clone(), agent);
            Event::FellBack(FellBack { place, attempt, from, to, said })
        }),
    ]
}

fn parting() -> impl Strategy<Value = Break> {
    (text(), name(), small()).prop_map(|(said, name, dice)| match dice {
        0 => Break::Continue { progress: said.clone(), point: said },
        1 => {
            let options = vec![said.clone()];
            Break::Ask(Question { question: said.clone(), options, context: said, closed: true })
        }
        2 => Break::Helped { outcome: Outcome::new(name), summary: said },
        _ => Break::FollowUp(follow_up(name, said)),
    })
}

fn follow_up(persona: String, said: String) -> FollowUp {
    FollowUp { persona, reason: said.clone(), resume: said.len().is_multiple_of(2), context: said }
}

/// What workers say without leaving, and what is said to them.
fn of_talk() -> impl Strategy<Value = Event> {
    prop_oneof![
        (attempt(), text(), parting(), text()).prop_map(|(attempt, request, parting, answer)| {
            Event::BreakAccepted { attempt, request, parting, answer }
        }),
        (attempt(), text(), text()).prop_map(|(attempt, said, answer)| {
            let (findings, done) = (vec![said.clone()], vec![answer.clone()]);
            let update = SnapshotUpdate { findings, done, ..SnapshotUpdate::default() };
            Event::SnapshotUpdated { attempt, request: said, update, answer }
        }),
        (attempt(), text(), text()).prop_map(|(attempt, request, answer)| {
            Event::CancelAsked { attempt, request, answer }
        }),
        attempt().prop_map(|attempt| Event::CancelDropped { attempt }),
        (name(), name(), text()).prop_map(|(place, persona, said)| Event::FollowUpBegan {
            place: Place::new(place),
            follow_up: follow_up(persona, said),
        }),
        (name(), name(), text()).prop_map(|(place, persona, summary)| Event::FollowUpEnded {
            place: Place::new(place),
            outcome: Outcome::new(persona.clone()),
            persona,
            summary,
            by: Mover::Run,
        }),
        (small(), name(), text(), prop::option::of(attempt())).prop_map(
            |(note, place, text, attempt)| {
                let (note, place, who) = (NoteId(note), Place::new(place), text.clone());
                Event::NoteGiven { note, place, who, text, attempt }
            }
        ),
        (attempt(), small(), any::<[bool; 2]>()).prop_map(|(attempt, id, [note, repeated])| {
            let message = match id % 4 {
                _ if note => Message::Note(NoteId(id)),
                0 => Message::Verdict(GateId(id)),
                3 => Message::Wall,
                _ => Message::Answer(GateId(id)),
            };
            Event::MessageDelivered { attempt, message, repeated }
        }),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    // Boxed: thirty of them side by side are larger than a thread's stack.
    prop_oneof![
        3 => of_run().boxed(),
        3 => of_attempt().boxed(),
        1 => of_work().boxed(),
        2 => of_gates().boxed(),
        1 => of_waits().boxed(),
        2 => of_trees().boxed(),
        3 => crate::fuzz_pools::of_pools().boxed(),
        2 => of_talk().boxed(),
    ]
}

/// Every kind of event that a ledger may hold. Only serde knows them all, and says so when it meets another one.
fn all_kinds() -> BTreeSet<String> {
    let error = serde_json::from_str::<Event>(r#"{"kind": "no such kind"}"#).unwrap_err();
    let error = error.to_string();
    let (_, kinds) = error.split_once("expected one of ").unwrap();
    kinds.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_kind_of_event_is_made() {
    let mut runner = TestRunner::deterministic();
    let events = event();
    let kinds: BTreeSet<String> = (0..5_000)
        .map(|_| serde_json::to_value(events.new_tree(&mut runner).unwrap().current()).unwrap())
        .map(|event| event["kind"].as_str().unwrap().to_owned())
        .collect();
    let all = all_kinds();
    assert!(all.len() > 40, "{all:?}");
    let missing: Vec<_> = all.difference(&kinds).collect();
    assert!(missing.is_empty(), "`event` above does not make {missing:?}");
}

fn line(seq: u64, events: Vec<Event>) -> Line {
    let by = By { actor: Actor::Person("ann".to_owned()), request: None };
    Line { seq, at: Millis(seq), v: VERSION, by, input: None, events, texts: Vec::new() }
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn any_event_is_told_and_reads_back(event in event()) {
        let sentence = words::sentence(&event);
        prop_assert!(!sentence.chars().any(char::is_control), "{sentence:?}");
        let turns = sentence.chars().any(|it| matches!(it, '\u{202a}'..='\u{202e}'));
        prop_assert!(!turns, "{:?}", sentence);
        let text = serde_json::to_string(&event).unwrap();
        prop_assert!(!text.contains('\n'));
        prop_assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
    }

    #[test]
    fn any_events_are_taken_in(
        first in of_run(),
        events in prop::collection::vec(event(), 0..30),
    ) {
        let mut state = State::default();
        state.apply(&line(1, vec![first]));
        for (seq, event) in (2..).zip(events) {
            state.apply(&line(seq, vec![event]));
            let _ = (state.due(), state.status(), view::run_json(&state));
            let _ = (view::run(&state, true), view::row(&state, false));
        }
        let text = serde_json::to_string(&state).unwrap();
        prop_assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
    }
}

#[test]
fn a_run_id_of_any_length_has_its_short_form() {
    assert_eq!(RunId::from("ééééé").short(), "éééé");
    assert_eq!(RunId::from("aéééé").short(), "éééé");
    assert_eq!(RunId::from("é1234567").short(), "é1234567");
}
