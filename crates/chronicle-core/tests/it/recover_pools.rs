//! Every prefix of a pool's ledger resumes to the same end, in whatever order things go on.

use std::collections::BTreeMap;

use chronicle_core::base::ids::FramePath;
use chronicle_core::state::{State, Status};

use crate::world::{Order, World};

/// Scenarios: workflow, then what the world does. Gates are answered by their places, since their numbers depend on the order.
const SCENARIOS: [(&str, &str, &str); 7] = [
    (
        "dependencies, questions and crashes",
        super::decide_pools::POOL,
        "build/a/work 1: snap of a; crash x\nbuild/a/work: need which?; go done\n\
         build/b/work: usage 3; snap of b; ask which?; go done\nbuild/c/work: usage 4; continue there\n\
         build/c/work 2: go done\nship: go done\nat build/a/work: answer blue\nat build/b/work: answer red",
    ),
    (
        "a conflict, late edits and a folder that cannot be made",
        "{name: M, phases: {build: {run: pool, slots: 2, merge: in_order, steps: [{id: a}, {id: b}, {id: c}], next: [ship]}, ship: {}}}",
        "build/a/work: go done\nbuild/b/work: snap of b; go done\nbuild/c/work: go done\nship: go done\n\
         build/b~plan: conflict x.rs; clean\nat build/b: answer resolved\nbuild/a~write: late x; whole\n\
         build/c~folder: fail no room; made\nat build: retry",
    ),
    (
        "setup and verify",
        "{name: V, phases: {build: {run: pool, slots: 2, merge: {verify: true}, verify: [t], worktree: {setup: [s]}, steps: [{id: a}, {id: b}]}}}",
        "build/a/work: go done\nbuild/b/work: usage 2; go done\nbuild/b/verify 1: run 0 1",
    ),
    (
        "planned, and a worker that resolves",
        "{name: P, phases: [{id: plan, produces: steps, next: [build]}, {id: build, run: pool, slots: 3, on: {conflict: mend}, next: [done]}, {id: mend, next: [done]}]}",
        "plan: plan a b c<a; go build\nbuild/a/work: go done\nbuild/b/work: held rm x; go done\n\
         build/c/work: go done\nbuild/c~plan: conflict y; clean\nbuild/c/mend: usage 1; go done\n\
         at build/b/work: approve",
    ),
    (
        "a race that a person decides, with a conflict at its end",
        "{name: R, phases: [{id: build, run: race, workers: [{id: a}, {id: b}, {id: c}], next: [ship]}, {id: ship}]}",
        "build/a/work: usage 2; snap of a; go done\nbuild/b/work 1: crash x\nbuild/b/work: snap of b; go done\n\
         build/c/work: complete fail\nship: go done\nat build: answer b\nat build/b: answer resolved\n\
         build/b~plan: conflict x; clean\nat build/c/work: skip",
    ),
    (
        "a race that commands decide",
        "{name: R, phases: [{id: build, run: race, judge: {commands: [t]}, workers: [{id: a}, {id: b}, {id: c}]}]}",
        "build/a/work: go done\nbuild/b/work: usage 3; go done\nbuild/c/work: go done\nbuild/a/judge: run 0 1",
    ),
    (
        "a race that a phase decides",
        "{name: R, phases: [{id: build, run: race, judge: pick, workers: [{id: a}, {id: b}], next: [done]}, {id: pick, next: [done]}]}",
        "build/a/work: go done\nbuild/b/work: usage 3; go done\nbuild/pick: usage 5; complete b",
    ),
];

pub(crate) type Walked = BTreeMap<FramePath, Vec<String>>;

/// What must be the same: status, path of each frame, snapshot, how far each step is, and spending.
pub(crate) fn end_of(state: &State) -> (Status, Walked, String, Vec<String>, u64) {
    let mut walked = Walked::new();
    for visit in state.visits.iter() {
        let left = visit.left.as_ref().map(|left| (left.to.as_str(), left.summary.as_str()));
        let said = format!("{} {left:?}", visit.place);
        walked.entry(visit.place.frame()).or_default().push(said);
    }
    let steps = state.pools.values().flat_map(|pool| &pool.steps);
    let steps = steps.map(|it| format!("{} {:?} {} {:?}", it.id, it.stage, it.sent_back, it.layer));
    let snapshot = format!("{:?}", state.snapshot);
    (state.status(), walked, snapshot, steps.collect(), state.usage.tokens())
}

fn every_prefix(order: Order) {
    for (name, workflow, script) in SCENARIOS {
        let whole = World::started(workflow, script).play();
        let expected = end_of(&whole.state);
        assert_eq!(expected.0, Status::Done, "{name}:\n{}", whole.told());
        assert!(whole.state.works.is_empty(), "{name}: {:?}", whole.state.works);
        for cut in 1..whole.lines.len() {
            let mut killed = whole.killed_after(cut);
            killed.order = order;
            let resumed = killed.recovered().play();
            assert_eq!(
                end_of(&resumed.state),
                expected,
                "{name} cut after line {cut}, {order:?}:\n{}",
                resumed.told()
            );
        }
    }
}

#[test]
fn every_prefix_of_a_pool_resumes_to_the_same_end() {
    every_prefix(Order::Due);
}

#[test]
fn every_prefix_of_a_pool_resumes_to_the_same_end_backwards() {
    every_prefix(Order::Reversed);
}

#[test]
fn every_prefix_of_a_pool_resumes_to_the_same_end_all_at_once() {
    every_prefix(Order::Turns);
}

#[test]
fn a_pool_reads_back_from_its_cache() {
    for (_, workflow, script) in SCENARIOS {
        let whole = World::started(workflow, script).play();
        for cut in 1..=whole.lines.len() {
            let state = whole.killed_after(cut).state;
            let text = serde_json::to_string(&state).unwrap();
            assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
        }
    }
}
