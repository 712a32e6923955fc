//! Twelve steps on four slots, with everything that can come between: a question, a crash, a conflict, another plan and a budget that
//! is raised. Every prefix of its ledger resumes to the same end.

use std::collections::{BTreeMap, BTreeSet};

use chronicle_core::event::{End, Event};
use chronicle_core::state::{State, Status};
use expect_test::expect;

use crate::recover_pools::end_of;
use crate::world::{Order, World};

const WORKFLOW: &str = "
name: Everything
budget: {tokens: 50}
phases:
  - {id: plan, persona: seeker, produces: steps, next: [build]}
  - {id: build, run: pool, slots: 4, merge: in_order, persona: mender, next: [ship]}
  - {id: ship}
";

/// `base`, `left`, `right` and `join` are a diamond. The worker of `base` has the steps behind it planned again.
const SCRIPT: &str = "
plan: plan base one two three left<base right<base join<left,right four<base five<base six<base; go build
build/base/work: usage 3; help seeker; go done
build/base/work@seeker: plan @1 left<base right<base join<left,right four<base five<base seven<base eight<base nine<join; complete
build/one/work: snap of one; ask which?; go done
build/two/work 1: usage 5; crash x
build/two/work: snap of two; go done
build/three/work: snap of three; go done
build/left/work: usage 30; snap of left; go done
build/right/work: usage 30; snap of right; go done
build/join/work: usage 4; go done
build/four/work: snap of four; go done
build/five/work: go done
build/seven/work: go done
build/eight/work: snap of eight; go done
build/nine/work: go done
build/three~plan: conflict x.rs; clean
at build/one/work: answer red
at build/three: answer resolved
any budget: budget 100 tokens
ship: go done
";

fn events(world: &World) -> impl Iterator<Item = &Event> {
    world.lines.iter().flat_map(|line| &line.events)
}

fn count(world: &World, is_it: impl Fn(&Event) -> bool) -> usize {
    events(world).filter(|event| is_it(event)).count()
}

/// How many attempts worked at the same time at most: each has opened its session, and none of them has ended.
fn most_at_once(world: &World) -> usize {
    let (mut working, mut most) = (BTreeSet::new(), 0);
    for event in events(world) {
        match event {
            Event::SessionOpened { attempt, .. } => drop(working.insert(*attempt)),
            Event::AttemptEnded(ended) => drop(working.remove(&ended.attempt)),
            _ => {}
        }
        most = most.max(working.len());
    }
    most
}

/// The steps in the order in which their work came into the project.
fn merged(world: &World) -> Vec<String> {
    let mut steps = BTreeMap::new();
    let mut merged = Vec::new();
    for event in events(world) {
        match event {
            Event::MergeBegan(began) => drop(steps.insert(began.folder, began.step.to_string())),
            Event::MergeWritten(written) if written.into.is_project() => {
                merged.push(steps[&written.folder].clone());
            }
            _ => {}
        }
    }
    merged
}

/// No step begins before the work of those that it needs is merged, and none is merged twice.
fn keeps_order(world: &World) {
    let merged = merged(world);
    let once: BTreeSet<&String> = merged.iter().collect();
    assert_eq!((once.len(), merged.len()), (12, 12), "{merged:?}");
    let pool = world.state.pools.values().next().unwrap();
    for step in &pool.steps {
        let at = |id: &str| merged.iter().position(|it| it == id);
        for needed in &step.item.depends_on {
            assert!(at(needed) < at(step.id.as_str()), "{} before {needed}", step.id);
            let begun = |event: &Event| matches!(event, Event::SlotTaken(it) if it.step == step.id);
            let of = |event: &Event| matches!(event, Event::MergeBegan(it) if it.step.as_str() == needed);
            let first = events(world).position(begun);
            assert!(events(world).position(of) < first, "{} begins before {needed}", step.id);
        }
    }
}

fn whole(order: Order) -> World {
    let mut world = World::started(WORKFLOW, SCRIPT);
    world.order = order;
    let world = world.play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    world
}

#[test]
fn all_of_it_happens_and_four_work_at_once() {
    let world = whole(Order::Turns);
    assert!(most_at_once(&world) >= 4, "{}", world.told());
    expect!["base two three one left right join four five seven eight nine"]
        .assert_eq(&merged(&world).join(" "));
    assert_eq!(count(&world, |it| matches!(it, Event::PlanMade(_))), 2);
    let crashed =
        |it: &Event| matches!(it, Event::AttemptEnded(it) if matches!(it.end, End::Crashed(_)));
    assert_eq!(count(&world, crashed), 1, "{}", world.told());
    let conflict = |it: &Event| matches!(it, Event::MergePlanned(it) if it.conflicts > 0);
    assert_eq!(count(&world, conflict), 1);
    assert_eq!(count(&world, |it| matches!(it, Event::BudgetRaised(_))), 1);
    assert_eq!(world.state.usage.tokens(), 72);
    assert!(world.state.works.is_empty(), "{:?}", world.state.works);
}

/// Plays a part of all prefixes to their ends, in that order: it takes a while, so the parts are tests of their own.
fn prefixes(order: Order, part: usize, parts: usize) {
    let world = whole(Order::Turns);
    let expected = end_of(&world.state);
    for cut in (1 + part..world.lines.len()).step_by(parts) {
        let mut killed = world.killed_after(cut);
        // That each line is decided again as it was is seen in the whole run.
        (killed.order, killed.decides_again) = (order, false);
        let resumed = killed.recovered().play();
        assert_eq!(
            end_of(&resumed.state),
            expected,
            "cut after line {cut}, {order:?}:\n{}",
            resumed.told()
        );
        keeps_order(&resumed);
    }
}

/// Each prefix is cut once, in one of these parts.
mod every_prefix_resumes_to_the_same_end {
    use super::{Order, prefixes};

    const PARTS: usize = 8;

    macro_rules! parts {
        ($($name:ident: $part:literal,)*) => {
            $(#[test] fn $name() { prefixes(Order::Due, $part, PARTS); })*

            #[test]
            fn no_part_is_forgotten() {
                assert_eq!([$($part),*], std::array::from_fn::<usize, PARTS, _>(|part| part));
            }
        };
    }

    parts! { a: 0, b: 1, c: 2, d: 3, e: 4, f: 5, g: 6, h: 7, }
}

/// Some of them in other orders, other ones in each.
mod prefixes_resume_to_the_same_end {
    use super::{Order, prefixes};

    #[test]
    fn backwards() {
        prefixes(Order::Reversed, 2, 11);
    }

    #[test]
    fn all_at_once() {
        prefixes(Order::Turns, 5, 11);
    }

    #[test]
    fn one_at_a_time() {
        prefixes(Order::Alone, 8, 11);
    }
}

#[test]
fn it_reads_back_from_its_cache() {
    let world = whole(Order::Turns);
    for cut in 1..=world.lines.len() {
        let state = world.killed_after(cut).state;
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
    }
}
