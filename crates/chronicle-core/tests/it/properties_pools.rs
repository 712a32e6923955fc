//! No input in any state of a pool breaks anything: people, performers and workers at any time, in any order.

use chronicle_core::base::ids::{AttemptId, FolderId, GateId, Place, TreeId};
use chronicle_core::definition::workflow::{Budget, Phase};
use chronicle_core::engine;
use chronicle_core::event::input::{AttemptReport, Command, EndSeen, Input, Report};
use chronicle_core::event::pool::{ConflictFile, FolderMade, MergePlanned, MergeWritten};
use chronicle_core::event::trees::{Changes, Moment};
use chronicle_core::state::{State, StepStage};
use proptest::prelude::*;
use proptest::sample::select;

use crate::decide_apart::apart_from;
use crate::properties::{check, read_back};
use crate::world::{Order, World, about, person, report, signal, tree};
use crate::world_pools::{plan, steps};

const WORKFLOW: &str = "
name: Everything
budget: {tokens: 40}
cleanup: [rm]
phases:
  - {id: plan, persona: seeker, produces: steps, next: [build]}
  - {id: build, run: pool, slots: 2, merge: {verify: true}, verify: [t], worktree: {setup: [s]}, approval: after, on: {conflict: mend, gaps: plan}, next: [read]}
  - {id: read, run: pool, slots: 1, pause_between: true, merge: in_order, isolation: worktree, steps_from: s.json, next: [run]}
  - {id: run, run: race, judge: pick, workers: [{id: a}, {id: b}], next: [try]}
  - {id: try, run: race, judge: {commands: [t]}, workers: [{id: a}, {id: b}, {id: c}], next: [plan]}
  - {id: pick, next: [done]}
  - {id: mend, next: [done], on: {fail: done}}
";

const SCRIPT: &str = "plan: plan a b c<a; go build\nbuild/a/work: usage 9; snap of a; go done\n\
    build/b/work: ask which?; go done\nbuild/c/work: held rm x; help seeker; go done\n\
    build/c/work@seeker: plan @1 d<a; complete\nbuild/d/work: complete fail\n\
    build/b~plan: conflict x; clean\nread~steps: a b\nread/a/work: go done\nread/b/work: continue x; go done\n\
    run/a/work: go done\nrun/b/work: go done\nrun/pick: complete a\ntry/a/work: go done\ntry/b/work: go done\n\
    try/a/judge: run 0 1";

/// What happens next: a due effect, or an input that nobody waits for.
#[derive(Debug, Clone)]
enum Next {
    Move(u8),
    Comes(Box<Input>),
}

fn place() -> impl Strategy<Value = Place> {
    let places = vec![
        "plan",
        "build",
        "read",
        "done",
        "run",
        "run/a",
        "run/pick",
        "try",
        "try/b",
        "build/a",
        "build/b",
        "build/c",
        "read/a",
        "build/a/work",
        "build/b/verify",
        "build/c/mend",
        "build/a/done",
        "x",
        "build/x",
    ];
    select(places).prop_map(Place::new)
}

fn performed() -> impl Strategy<Value = Report> {
    let tree = |name: &str| TreeId::new(name.to_owned());
    let into =
        select(vec![FolderId::Project, FolderId::Work(0), FolderId::Work(1), FolderId::Work(2)]);
    let flags = any::<[bool; 2]>();
    prop_oneof![
        (place(), select(vec!["", "a", "a b<a", "a<b b<a", "a a"]))
            .prop_map(|(place, text)| Report::StepsRead { place, steps: steps(text) }),
        place().prop_map(|place| Report::StepsUnread { place, why: "no".to_owned() }),
        (0u32..6).prop_map(move |folder| {
            Report::FolderMade(FolderMade { folder, tree: tree("p"), plain: None, path: None })
        }),
        (0u32..6).prop_map(|folder| Report::FolderFailed { folder, why: "no".to_owned() }),
        (0u32..6).prop_map(|folder| Report::FolderLost { folder }),
        (0u32..6, any::<bool>()).prop_map(|(folder, fails)| {
            Report::FolderDropped { folder, error: fails.then(|| "no".to_owned()) }
        }),
        (0u32..6, flags).prop_map(move |(folder, [conflict, same])| {
            let file = ConflictFile {
                path: "x".to_owned(),
                what: "both".to_owned(),
                is_unrecorded: false,
            };
            Report::MergePlanned(Box::new(MergePlanned {
                folder,
                ours: tree("o"),
                theirs: tree("t"),
                result: tree(if same { "o" } else { "r" }),
                changes: Changes::default(),
                conflicts: u32::from(conflict),
                conflict_files: if same { vec![file] } else { Vec::new() },
                unrecorded: Vec::new(),
            }))
        }),
        (0u32..6).prop_map(|folder| Report::MergeMissed { folder, why: "no".to_owned() }),
        (0u32..6, into, any::<[bool; 2]>()).prop_map(|(folder, into, [late, fails])| {
            let late = late.then(|| "x".to_owned()).into_iter().collect();
            let error = fails.then(|| "full".to_owned());
            Report::MergeWritten(MergeWritten { folder, into, files: 1, late, error })
        }),
    ]
}

fn said() -> impl Strategy<Value = Command> {
    let note = || "why".to_owned();
    let gate = || prop::option::of((1u32..9).prop_map(GateId));
    let words = vec!["resolved", "ours", "theirs", "drop", "again", "blue"];
    prop_oneof![
        2 => prop::option::of(place()).prop_map(move |place| {
            Command::Retry { place, note: note(), agent: None, from: None }
        }),
        2 => prop::option::of(place()).prop_map(move |place| Command::Skip { place, note: note() }),
        1 => place().prop_map(move |place| Command::GiveUp { place, note: note() }),
        1 => place().prop_map(move |place| Command::Go { place, note: note() }),
        1 => Just(Command::Pause { reason: String::new() }),
        2 => any::<bool>().prop_map(|keep| Command::Merge { keep }),
        1 => Just(Command::DropWork),
        2 => Just(Command::Resume),
        4 => gate().prop_map(move |gate| Command::Approve { gate, note: note(), scope: None }),
        1 => gate().prop_map(move |gate| Command::Reject { gate, note: note() }),
        4 => (gate(), select(words)).prop_map(|(gate, text)| {
            Command::Answer { gate, text: text.to_owned(), note: String::new() }
        }),
        2 => Just(Command::Budget {
            place: None,
            more: Budget { tokens: Some(50), ..Budget::default() },
        }),
        1 => place().prop_map(|place| Command::Note { place: Some(place), text: "hm".to_owned() }),
        1 => Just(Command::Undo {
            what: "plan".to_owned(),
            from: TreeId::from("a"),
            to: TreeId::from("b"),
            back: None,
        }),
    ]
}

fn next() -> impl Strategy<Value = Next> {
    let comes = |input: Input| Next::Comes(Box::new(input));
    prop_oneof![
        30 => any::<u8>().prop_map(Next::Move),
        4 => said().prop_map(move |command| comes(person(command))),
        2 => performed().prop_map(move |it| comes(report(it))),
        1 => (1u32..12).prop_map(move |id| {
            let seen = EndSeen { lost: true, ..EndSeen::default() };
            comes(about(AttemptId(id), AttemptReport::Ended(seen)))
        }),
        1 => (1u32..12).prop_map(move |id| comes(tree(Moment::After(AttemptId(id)), &["x"]))),
        1 => (1u32..12, select(vec!["a", "@1 a d<a", "@2 b<x"])).prop_map(move |(id, text)| {
            comes(signal(AttemptId(id), "p", plan(text)))
        }),
        1 => Just(comes(report(Report::SupervisorLeaves))),
    ]
}

/// What holds in a pool at any time.
fn check_pools(state: &State) {
    for (place, pool) in state.pools.iter().filter(|(_, pool)| !pool.left) {
        let slots: Vec<u32> = pool.steps.iter().filter_map(|step| step.slot).collect();
        let most = state.phase_at(place).map_or(0, Phase::slots);
        let mut once = slots.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), slots.len(), "a slot is taken twice: {slots:?}");
        assert!(slots.iter().all(|slot| (1..=most).contains(slot)), "{slots:?} of {most}");
        for step in &pool.steps {
            let has_slot = step.slot.is_some();
            assert!(!(step.stage.is_settled() && has_slot), "{} is over in a slot", step.id);
            let begun = step.stage != StepStage::Pending;
            let done = |id: &String| pool.steps.iter().any(|it| it.item.id == *id);
            assert!(!begun || step.item.depends_on.iter().all(done), "{}", step.id);
        }
    }
    // One merge at a time writes the project.
    let writing =
        state.merges().filter(|(.., it)| it.at == chronicle_core::state::MergeStage::Writing);
    assert!(writing.count() <= 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_input_in_any_state_of_a_pool_breaks_anything(all in prop::collection::vec(next(), 1..120), apart in any::<bool>()) {
        let mut world = if apart { apart_from(WORKFLOW, SCRIPT) } else { World::started(WORKFLOW, SCRIPT) };
        for next in &all {
            match next {
                Next::Move(byte) => {
                    world.order = [Order::Due, Order::Reversed, Order::Turns][usize::from(byte % 3)];
                    world.one_move();
                }
                Next::Comes(input) => {
                    world.step(input);
                }
            }
            check(&world.state);
            check_pools(&world.state);
        }
        let mut folded = State::default();
        for line in &world.lines {
            read_back(line);
            folded.apply(line);
        }
        prop_assert_eq!(&folded, &world.state);
        let input = person(Command::Resume);
        prop_assert_eq!(engine::step(&folded, &input), engine::step(&world.state, &input));
    }
}
