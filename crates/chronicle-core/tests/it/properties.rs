//! No input in any state panics, and what was decided always adds up.

use std::collections::BTreeSet;

use chronicle_core::base::ids::{
    AttemptId, FolderId, FramePath, GateId, NoteId, Outcome, PhaseId, Place, SessionId, TreeId,
};
use chronicle_core::base::time::Millis;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::definition::workflow::Budget;
use chronicle_core::engine;
use chronicle_core::event::carried::{Carried, CarriedFrame};
use chronicle_core::event::input::{
    Actor, AttemptReport, Command, EndSeen, Input, Report, SaidBefore, TimerKind,
};
use chronicle_core::event::record::Line;
use chronicle_core::event::room::RoomLimit;
use chronicle_core::event::signal::Signal;
use chronicle_core::event::trees::Moment;
use chronicle_core::event::{
    Break, Call, Caller, Change, CrashClass, EdgeTaken, End, Event, FollowUp, FrameEntered,
    GrantScope, Issues, LedgerRepaired, Message, Mover, Question, SnapshotUpdate, ToolKind,
};
use chronicle_core::guard::Judgement;
use chronicle_core::state::budget::{self, Doing};
use chronicle_core::state::effect::{Action, Effect};
use chronicle_core::state::{State, Status};
use chronicle_core::{view, words};
use proptest::prelude::*;

use crate::views_told::comes_back;
use crate::world::{World, about, asks, person, report, rule, signal, tree};

const WORKFLOW: &str = "
name: Everything
budget: {tokens: 4000, time: 10m, attempts: 9}
phases:
  plan: {approval: both, next: [build, in]}
  build: {next: [plan, test], on: {crash: test}, limits: {timeout: 5m}, budget: {tokens: 900, usd: 1}}
  test: {run: command, commands: [a, b], next: [in], on: {fail: build}}
  in: {run: workflow, workflow: inner, next: [sign]}
  sign: {run: human, next: [done, plan]}
=== inner
name: Inner
phases:
  look: {next: [judge, human_intervention]}
  judge: {outcomes: [fine], next: [look], on: {fine: done}}
";

fn place() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "plan",
        "build",
        "test",
        "in",
        "in/look",
        "in/judge",
        "done",
        "human_intervention",
        "x",
        "",
    ])
}

/// Few ids and inputs, so that they meet again in other calls.
fn call() -> impl Strategy<Value = Call> {
    let tool = prop_oneof![Just("bash".to_owned()), "\\PC{0,9}"];
    let input = prop::sample::select(vec!["ls", "make", ""]);
    let kind = prop::sample::select(vec![ToolKind::Run, ToolKind::Mcp, ToolKind::Unknown]);
    let by = prop::sample::select(vec![Caller::Worker, Caller::SubAgent]);
    ("[cd]", tool, input, kind, by, any::<bool>()).prop_map(|(id, tool, input, kind, by, cut)| {
        let call = Call::new(&id, &tool, &serde_json::json!({ "command": input }), &[]);
        Call { kind, by, command_cut: cut, ..call }
    })
}

fn reach() -> impl Strategy<Value = Option<GrantScope>> {
    let reach = vec![GrantScope::Once, GrantScope::Phase, GrantScope::Run];
    prop::option::of(prop::sample::select(reach))
}

fn judgement() -> impl Strategy<Value = Judgement> {
    let deny = Judgement::Deny { rule: rule("rm", 1), why: "no".to_owned() };
    prop::sample::select(vec![Judgement::Clear, deny, asks(), asks()])
}

fn attempt_report() -> impl Strategy<Value = AttemptReport> {
    let usage = (0u64..1000, any::<bool>()).prop_map(|(input, unpriced)| Usage {
        input,
        unpriced,
        ..Usage::default()
    });
    let scope =
        prop_oneof!["[ab]".prop_map(Scope::Message), Just(Scope::Turn), Just(Scope::Session),];
    let class = prop::sample::select(vec![
        CrashClass::NoSignal,
        CrashClass::SessionGone,
        CrashClass::Auth,
        CrashClass::Quota,
        CrashClass::Overload,
        CrashClass::Unreachable,
        CrashClass::CannotStart,
        CrashClass::Refused,
        CrashClass::Unguarded,
        CrashClass::Unjudged,
    ]);
    let ended = (any::<[bool; 3]>(), prop::option::of(class)).prop_map(|(flags, class)| EndSeen {
        finished: flags[0],
        lost: flags[1],
        stopped: flags[2],
        error: class.map(|class| (class, "text".to_owned())),
        quota_until: flags[0].then_some(Millis(1_794_709_999_000)),
        ..EndSeen::default()
    });
    prop_oneof![
        "[st]".prop_map(|id| AttemptReport::Session(SessionId::new(id))),
        "[ab]".prop_map(|why| AttemptReport::GuardUnproven { why }),
        (call(), judgement())
            .prop_map(|(call, judged)| AttemptReport::ToolCalled { call: Box::new(call), judged }),
        (call(), judgement(), 0..4, any::<bool>()).prop_map(|(call, judged, said, stops)| {
            let said = match said {
                0 => SaidBefore::Nothing,
                1 => SaidBefore::Denied,
                2 => SaidBefore::Waits,
                _ => SaidBefore::OfAnother,
            };
            AttemptReport::ToolUnasked { call: Box::new(call), judged, said, stops }
        }),
        (call(), judgement()).prop_map(|(call, judged)| AttemptReport::ToolRefused {
            call: Box::new(call),
            why: "no".to_owned(),
            judged,
        }),
        ("[cd]", any::<bool>()).prop_map(|(call, ok)| AttemptReport::ToolEnded { call, ok }),
        "[cd]".prop_map(|call| AttemptReport::ToolWentOn { call }),
        "\\PC*".prop_map(|path| AttemptReport::FileChanged { path, change: Change::Deleted }),
        (scope, usage).prop_map(|(scope, usage)| AttemptReport::Usage { scope, usage }),
        (0u32..4, prop::option::of(0i32..3)).prop_map(|(index, code)| {
            AttemptReport::CommandEnded { index, code, output: String::new() }
        }),
        Just(AttemptReport::Idle),
        (1u32..3, any::<bool>()).prop_map(|(most, is_all)| {
            let agent = (!is_all).then(|| "scripted".to_owned());
            AttemptReport::RoomAwaited(RoomLimit { agent, most })
        }),
        Just(AttemptReport::RoomTaken),
        "[cdq]".prop_map(|request| AttemptReport::Withdrew { request }),
        (0u32..6).prop_map(|gate| AttemptReport::Told(Message::Answer(GateId(gate)))),
        (0u32..6).prop_map(|gate| AttemptReport::Told(Message::Verdict(GateId(gate)))),
        (0u32..3).prop_map(|note| AttemptReport::Told(Message::Note(NoteId(note)))),
        ended.prop_map(AttemptReport::Ended),
    ]
}

/// Anything that a worker may say within its phase.
fn spoken() -> impl Strategy<Value = Signal> {
    let text = || "[ab]";
    let question = (text(), prop::collection::vec(text(), 0..3)).prop_map(|(question, options)| {
        Question { question, options, context: String::new(), closed: false }
    });
    let persona = prop::sample::select(vec!["mender", "seeker", "plan"]);
    let help = (persona, any::<bool>()).prop_map(|(persona, resume)| {
        let (persona, reason, context) = (persona.to_owned(), String::new(), String::new());
        Signal::Break(Break::FollowUp(FollowUp { persona, reason, context, resume }))
    });
    prop_oneof![
        text().prop_map(|point| Signal::Break(Break::Continue { progress: String::new(), point })),
        question.clone().prop_map(|question| Signal::Break(Break::Ask(question))),
        question.prop_map(Signal::Ask),
        help,
        Just(Signal::Loop { summary: String::new() }),
        Just(Signal::Cancel { summary: String::new() }),
        text().prop_map(|text| Signal::Snapshot(SnapshotUpdate {
            findings: vec![text],
            ..SnapshotUpdate::default()
        })),
    ]
}

fn input() -> impl Strategy<Value = Input> {
    let id = 0u32..12;
    let timer = prop::sample::select(vec![
        TimerKind::Grace,
        TimerKind::Timeout,
        TimerKind::Budget,
        TimerKind::Standstill,
        TimerKind::Wait,
        TimerKind::Tool,
        TimerKind::Ask,
    ]);
    let outcome = prop::option::of(prop::sample::select(vec!["complete", "fail", "fine", "odd"]));
    let leave = (prop::option::of(place()), outcome).prop_map(|(target, outcome)| Signal::Leave {
        target: target.map(PhaseId::from),
        outcome: outcome.map(Outcome::from),
        summary: "s".to_owned(),
        task: None,
        issues: Issues::default(),
    });
    let any_signal = prop_oneof![
        8 => leave,
        4 => spoken(),
        1 => Just(Signal::Status),
        1 => "\\PC*".prop_map(Signal::Malformed)
    ];
    let note = String::new;
    prop_oneof![
        9 => (id.clone(), attempt_report()).prop_map(|(id, what)| about(AttemptId(id), what)),
        6 => (id.clone(), "[rs]", any_signal)
            .prop_map(|(id, request, what)| signal(AttemptId(id), &request, what)),
        1 => (id.clone(), timer).prop_map(|(id, timer)| {
            report(Report::TimerFired { attempt: AttemptId(id), timer })
        }),
        9 => (id.clone(), any::<[bool; 2]>()).prop_map(|(id, [before, changed])| {
            let moment = if before { Moment::Before(AttemptId(id)) } else { Moment::After(AttemptId(id)) };
            tree(moment, if changed { &["a"] } else { &[] })
        }),
        1 => Just(report(Report::TreeRestored(Box::default()))),
        1 => Just(person(Command::Undo { what: note(), from: TreeId::from("a"), to: TreeId::from("b"), back: None })),
        1 => Just(person(Command::Repair(LedgerRepaired { why: note(), bytes: 7, file: None }))),
        1 => Just(person(Command::Pause { reason: note() })),
        2 => Just(person(Command::Resume)),
        3 => (prop::option::of(id.clone()), reach()).prop_map(move |(gate, scope)| {
            person(Command::Approve { gate: gate.map(GateId), note: note(), scope })
        }),
        1 => prop::option::of(id.clone()).prop_map(move |gate| {
            person(Command::Reject { gate: gate.map(GateId), note: note() })
        }),
        3 => (prop::option::of(id), "[ab12]").prop_map(|(gate, text)| {
            person(Command::Answer { gate: gate.map(GateId), text, note: String::new() })
        }),
        3 => (prop::option::of(place()), 0u64..2_000).prop_map(|(place, tokens)| {
            let more = Budget { tokens: Some(tokens), attempts: Some(3), ..Budget::default() };
            person(Command::Budget { place: place.map(Place::new), more })
        }),
        1 => Just(person(Command::Skip { place: None, note: note() })),
        1 => "[xy]".prop_map(|text| person(Command::Note { place: None, text })),
        1 => "[xy]?".prop_map(|text| person(Command::Title { text })),
        1 => Just(report(Report::SupervisorLeaves)),
        2 => (place(), 0..9_u64).prop_map(|(place, to)| person(rewind(place, to))),
        2 => (prop::option::of(place()), prop::option::of(0u32..4)).prop_map(move |(place, from)| {
            let place = place.map(Place::new);
            person(Command::Retry { place, note: note(), agent: None, from })
        }),
        1 => (prop::option::of(place()), 0u32..3).prop_map(|(place, more)| {
            person(Command::Loops { place: place.map(Place::new), more })
        }),
        2 => place().prop_map(move |place| person(Command::Go { place: Place::new(place), note: note() })),
    ]
}

/// Back to a place, or to one that there is not.
fn rewind(place: &str, to: u64) -> Command {
    let place = Place::new(place);
    let (root, inner) = (FramePath::root(), place.frame());
    let frame = |frame: &FramePath, workflow: &str, phase: PhaseId, inside| CarriedFrame {
        at: None,
        step: None,
        folder: FolderId::Project,
        frame: frame.clone(),
        workflow: workflow.to_owned(),
        phase,
        inside,
        task: None,
        summary: String::new(),
        said: String::new(),
        plan: None,
    };
    let frames = if inner.is_root() {
        vec![frame(&root, "main", place.phase(), false)]
    } else {
        let outer = frame(&root, "main", PhaseId::from("in"), true);
        vec![outer, frame(&inner, "inner", place.phase(), false)]
    };
    Command::Rewind { to, carried: Box::new(Carried { frames, ..Carried::default() }) }
}

/// What no sequence of inputs may lead to, judged line by line.
#[derive(Default)]
struct Judge {
    /// Phases whose work was completed, by a signal, their commands, a workflow inside, or a person.
    completed: BTreeSet<Place>,
    /// Places that an edge, a frame's beginning or a person leads to.
    expected: BTreeSet<Place>,
}

impl Judge {
    fn line(&mut self, before: &State, line: &Line) {
        let by_person = matches!(line.by.actor, Actor::Person(_));
        let rested = before.paused.is_some() || before.status() == Status::Waiting;
        // What is waited for may come by itself, and only that.
        let waited = line.events.iter().any(|event| matches!(event, Event::WaitEnded(_)));
        for event in &line.events {
            match event {
                Event::GateAnswered { gate, .. } => {
                    assert!(by_person, "{gate} passed without a person: {line:?}");
                    let opened = before.gate(*gate).map(|gate| gate.opened.place.clone());
                    self.completed.extend(opened);
                }
                Event::AttemptStarted(intent) => {
                    let may = by_person || !rested || waited;
                    assert!(may, "{intent:?} started while it rested");
                }
                Event::WaitEnded(ended) => {
                    let mut waits = before.waits();
                    assert!(waits.any(|(_, wait)| wait.began.attempt == ended.attempt));
                    assert!(by_person || before.paused.is_none(), "it went on while it rested");
                }
                Event::SignalAccepted { attempt, .. } | Event::BreakAccepted { attempt, .. } => {
                    self.completed
                        .extend(before.attempt(*attempt).map(|it| it.intent.place.clone()));
                }
                Event::AttemptEnded(ended) if ended.end == End::CommandsDone => {
                    let attempt = before.attempt(ended.attempt);
                    self.completed.extend(attempt.map(|it| it.intent.place.clone()));
                }
                Event::FrameEntered(FrameEntered { frame, workflow, .. }) => {
                    let initial = before.workflow(workflow).map(|it| frame.place(&it.initial));
                    let initial = initial.or_else(|| Some(Place::new("plan")));
                    self.expected.extend(initial);
                }
                Event::FrameEnded { frame, .. } => {
                    self.completed.insert(Place::new(frame.as_str()));
                }
                Event::PhaseEntered { place } => {
                    assert!(
                        self.expected.remove(place),
                        "`{place}` entered, and nothing led there"
                    );
                }
                Event::EdgeTaken(edge) => self.edge(before, edge),
                Event::Rewound { carried, .. } => {
                    assert!(by_person && before.live.is_empty(), "{line:?}");
                    let frame = carried.innermost().unwrap();
                    self.expected.insert(frame.frame.place(&frame.phase));
                }
                _ => {}
            }
        }
    }

    /// A worker goes where the workflow allows, or begins it anew; a phase that is complete was completed by somebody.
    fn edge(&mut self, before: &State, edge: &EdgeTaken) {
        let place = edge.frame.place(&edge.from);
        let workflow = before.frames.get(&edge.frame).map(|frame| frame.workflow.as_str());
        let workflow = before.workflow(workflow.unwrap_or("inner"));
        if edge.by == Mover::Run
            && let Some(workflow) = workflow
            && let Some(phase) = workflow.phase(&edge.from)
        {
            let allowed =
                chronicle_core::definition::workflow::allowed_targets(phase).contains(&edge.to);
            assert!(allowed || edge.to == workflow.initial, "no edge allows {edge:?}");
        }
        let is_success = !edge.outcome.is_failure() && edge.by == Mover::Run;
        assert!(!is_success || self.completed.remove(&place), "nobody completed {edge:?}");
        self.expected.insert(edge.frame.place(&edge.to));
    }
}

/// Who is over a budget is being stopped: at most the report that told so comes on top.
fn check_budgets(state: &State) {
    for attempt in state.live_attempts() {
        let short = budget::shortage(state, &attempt.intent.place, Doing::Works(attempt));
        let runs = Action::RunAttempt(attempt.intent.attempt);
        let works = state.due().iter().any(|effect| effect.action == runs);
        assert!(short.is_none() || !works, "{short:?}, and {:?} works", attempt.intent);
    }
}

/// What must hold after every line.
pub(crate) fn check(state: &State) {
    check_budgets(state);
    for attempt in &state.live {
        assert!(state.attempt(*attempt).is_some_and(|attempt| attempt.ended.is_none()));
    }
    let due = state.due();
    // Whose folder is gone waits until it is made again, which nothing is while a merge writes the project.
    let makes = |it: &Effect| matches!(it.action, Action::MakeFolder(_) | Action::WriteMerge(_));
    let is_making = due.iter().any(makes);
    for attempt in &state.live {
        assert!(
            is_making
                || due.iter().any(|effect| format!("{:?}", effect.action)
                    .contains(&format!("({})", attempt.0))
                    || format!("{:?}", effect.action)
                        .contains(&format!("AttemptId({})", attempt.0)))
        );
    }
    if state.status() == Status::Running {
        assert!(!state.due().is_empty(), "running, and nothing is due: stuck for ever\n{state:#?}");
    }
    comes_back(&view::run(state, true).unwrap());
    comes_back(&view::row(state, false).unwrap());
    assert!(view::run_json(state).is_some());
}

pub(crate) fn read_back(line: &Line) {
    let text = serde_json::to_string(line).unwrap();
    assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), *line);
    for event in &line.events {
        assert!(!words::sentence(event).is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_input_in_any_state_breaks_anything(inputs in prop::collection::vec(input(), 1..60)) {
        let mut world = World::started(WORKFLOW, "");
        let mut judge = Judge::default();
        world.lines.iter().for_each(|line| judge.line(&State::default(), line));
        for input in &inputs {
            let before = world.state.clone();
            let lines = world.lines.len();
            world.step(input);
            check(&world.state);
            world.lines[lines..].iter().for_each(|line| judge.line(&before, line));
            prop_assert!(world.state.usage.tokens() >= before.usage.tokens());
        }
        let mut folded = State::default();
        for line in &world.lines {
            read_back(line);
            folded.apply(line);
        }
        prop_assert_eq!(&folded, &world.state);
        let again = engine::step(&folded, &inputs[0]);
        prop_assert_eq!(again, engine::step(&world.state, &inputs[0]));
    }
}
