//! What people are told to type at a gate is accepted there, at every kind of gate.

use chronicle_core::base::ids::{GateId, Place};
use chronicle_core::definition::budget;
use chronicle_core::engine;
use chronicle_core::event::GrantScope;
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::view;
use chronicle_core::words::GateWay;

use crate::world::{World, person};

const LOOP: &str =
    "{name: L, limits: {loop: {max: 1}}, phases: {build: {next: [check]}, check: CHECK}}";

/// A workflow, how it is played up to its gate, a phase that `go` may name, and the ways that are offered.
const GATES: &[(&str, &str, &str, &str, &str)] = &[
    ("an approval before", "{name: A, phases: {work: {approval: before}}}", "", "work", ""),
    (
        "an approval after",
        "{name: A, phases: {work: {approval: after}}}",
        "work: complete",
        "work",
        "",
    ),
    (
        "a rejection",
        "{name: A, phases: {work: {approval: before}}}",
        "g1: reject no",
        "work",
        "Retry Skip Go Cancel",
    ),
    ("a call that needs leave", "{name: Q, phases: {work: {}}}", "work: held rm a", "work", ""),
    ("a question", "{name: Q, phases: {work: {}}}", "work: ask which?", "work", ""),
    (
        "a used-up budget",
        "{name: B, budget: {tokens: 10}, phases: {work: {}}}",
        "work: usage 50; complete",
        "work",
        "",
    ),
    (
        "a used-up budget of a phase",
        "{name: B, phases: {work: {budget: {tokens: 10}}}}",
        "work: usage 50; complete",
        "work",
        "",
    ),
    (
        "an unknown price",
        "{name: B, budget: {usd: 1}, phases: {work: {}}}",
        "work: unpriced 5; complete",
        "work",
        "",
    ),
    (
        "a worker that gave up",
        "{name: C, phases: {work: {}}}",
        "work: auth",
        "work",
        "Retry Skip Go Cancel",
    ),
    (
        "one with several ways on",
        "{name: C, phases: {work: {next: [a, b]}, a: {}, b: {}}}",
        "work: auth",
        "a",
        "Retry Go Cancel",
    ),
    (
        "one that is left by a verdict",
        "{name: V, phases: {work: {on: {pass: a, fail: work}, next: [a]}, a: {}}}",
        "work: auth",
        "a",
        "Retry Go Cancel",
    ),
    (
        "a failed command",
        "{name: C, phases: {work: {run: command, commands: ['x']}}}",
        "work: run 0 1",
        "work",
        "Retry Skip Go Cancel",
    ),
    (
        "a failed command with several ways on",
        "{name: C, phases: {work: {run: command, commands: ['x'], on: {complete: a}, next: [a, b]}, a: {}, b: {}}}",
        "work: run 0 1",
        "a",
        "Retry Skip Go Cancel",
    ),
    (
        "a person who is wanted",
        "{name: P, phases: {work: {next: [done, human_intervention]}}}",
        "work: go human_intervention",
        "work",
        "Go Cancel",
    ),
    (
        "a person who is wanted inside",
        "{name: P, phases: {out: {run: workflow, workflow: in}}}\n=== in\n{name: I, phases: {look: {next: [human_intervention]}}}",
        "out/look: go human_intervention",
        "out/look",
        "Go Cancel",
    ),
    (
        "a worker's loop",
        "CHECK {next: [done], on: {fail: build}}",
        "build: complete\ncheck: go build fail",
        "build",
        "Loops Retry Go Cancel",
    ),
    (
        "a command's loop",
        "CHECK {run: command, commands: ['x'], next: [done], on: {fail: build}}",
        "build: complete\ncheck: run 0 1",
        "build",
        "Loops Retry Skip Go Cancel",
    ),
    (
        "a command's loop with several ways on",
        "CHECK {run: command, commands: ['x'], next: [done, build], on: {fail: build, complete: done}}",
        "build: complete\ncheck: run 0 1",
        "build",
        "Loops Retry Skip Go Cancel",
    ),
    (
        "a rejection's loop",
        "CHECK {approval: before, next: [done], on: {rejected: build}}",
        "build: complete\ng1: reject no\ng2: reject no",
        "build",
        "Loops Retry Skip Go Cancel",
    ),
    (
        "a loop of plain edges",
        "{name: L, limits: {loop: {max: 1}}, phases: {a: {next: [b, done]}, b: {next: [a, done]}}}",
        "a: go b\nb: go a",
        "a",
        "Loops Retry Go Cancel",
    ),
    (
        "a verification that fails",
        "{name: V, limits: {retries: 0}, phases: {work: {verify: ['x']}}}",
        "work: complete\nwork!verify: run 0 1",
        "work",
        "Retry Skip Go Cancel",
    ),
    (
        "a helper that gave up",
        "{name: H, phases: {work: {next: [a, b]}, a: {}, b: {}}}",
        "work: help mender\nwork@mender: auth",
        "a",
        "Retry Skip Go Cancel",
    ),
    (
        "too much work of one worker",
        "{name: S, limits: {continuations: 0}, phases: {work: {next: [a, b]}, a: {}, b: {}}}",
        "work: full",
        "a",
        "Retry Go Cancel",
    ),
];

#[test]
fn whatever_a_gate_offers_is_accepted_there() {
    for (what, workflow, script, phase, offered) in GATES {
        let workflow = workflow
            .strip_prefix("CHECK ")
            .map_or_else(|| (*workflow).to_owned(), |check| LOOP.replace("CHECK", check));
        let world = World::started(&workflow, script).play();
        let view = view::run(&world.state, false).unwrap();
        let [gate] = view.needs_you.as_slice() else {
            panic!("{what}: {:?}\n{}", view.needs_you, world.told())
        };
        let ways: Vec<String> = gate.ways.iter().map(|way| format!("{way:?}")).collect();
        assert_eq!(ways.join(" "), *offered, "{what}: {}", gate.about);
        for typed in typed(&gate.next) {
            let answer = world.clone().step(&person(command(&typed, phase)));
            assert!(matches!(answer, Answer::Accepted(_)), "{what}: `{typed}`: {answer:?}");
        }
        // And nothing is withheld: what is not offered is refused.
        if ways.is_empty() {
            continue;
        }
        for (way, typed) in
            [(GateWay::Retry, "chronicle retry R"), (GateWay::Skip, "chronicle skip R")]
        {
            let answer = world.clone().step(&person(command(typed, phase)));
            let is_accepted = matches!(answer, Answer::Accepted(_));
            assert_eq!(is_accepted, gate.ways.contains(&way), "{what}: `{typed}`: {answer:?}");
        }
    }
}

#[test]
fn a_loop_at_its_limit_shows_why_it_would_go_round_again() {
    let check = "{run: command, commands: ['make test'], next: [done], on: {fail: build}}";
    let workflow = LOOP.replace("CHECK", check);
    let world = World::started(&workflow, "build: complete\ncheck: run 0 1").play();
    let gate = view::run(&world.state, false).unwrap().needs_you.remove(0);
    assert_eq!(gate.about, "`check` was left for `build` once, which is the limit");
    assert_eq!(gate.context, "`make test` failed");
    let workflow = LOOP.replace("CHECK", "{next: [done], on: {fail: build}}");
    let world = World::started(&workflow, "build: complete\ncheck: go build fail").play();
    let gate = view::run(&world.state, false).unwrap().needs_you.remove(0);
    assert_eq!(gate.context, "it said: \"did it\"");
}

#[test]
fn a_gate_that_does_not_exist_is_answered_with_those_that_are_open() {
    let approve =
        |gate| Command::Approve { gate: Some(GateId(gate)), note: String::new(), scope: None };
    let mut world = World::started("{name: A, phases: {work: {approval: before}}}", "").play();
    let refused = world.step(&person(approve(2)));
    assert_eq!(refused, Answer::Refused("there is no gate g2; open: g1 at `work`".to_owned()));
    let mut world = World::started("{name: A, phases: {work: {}}}", "");
    let refused = world.step(&person(approve(2)));
    let none = "there is no gate g2, and nothing is being asked";
    assert_eq!(refused, Answer::Refused(none.to_owned()));
}

#[test]
fn no_next_worker_is_shown_where_a_person_must_name_the_phase() {
    let workflow = "{name: P, phases: {work: {next: [done, human_intervention]}}}";
    let world = World::started(workflow, "work: go human_intervention").play();
    let why = engine::next(&world.state).err();
    let why = why.as_deref();
    assert_eq!(why, Some("g1 waits for a person, whose `go` must name the next phase"));
}

/// The commands of a hint: the first one, and those in brackets.
fn typed(next: &str) -> Vec<String> {
    let (first, others) = next.split_once("  (").unwrap_or((next, ""));
    let others = others.trim_end_matches(')').split(", ");
    let others = others.map(|it| it.trim_start_matches("or: "));
    let others = others.filter(|it| it.starts_with("chronicle "));
    std::iter::once(first).chain(others).map(str::to_owned).collect()
}

/// What the binary makes of a command, for the run `R`.
fn command(typed: &str, phase: &str) -> Command {
    let typed = typed.replace("PHASE", phase.rsplit('/').next().unwrap());
    let words: Vec<&str> = typed.split_whitespace().collect();
    let gate = words.iter().rev().find_map(|word| word.parse::<GateId>().ok());
    let place = words.get(3).map(|place| Place::new(*place));
    let note = String::new();
    match words[1] {
        "approve" => {
            let scope = match words.last() {
                Some(&"phase") => Some(GrantScope::Phase),
                Some(&"run") => Some(GrantScope::Run),
                _ => None,
            };
            Command::Approve { gate, note, scope }
        }
        "reject" => Command::Reject { gate, note: "why".to_owned() },
        "answer" => Command::Answer { gate, text: words[4..].join(" "), note },
        "retry" => {
            let mut words = words.iter().skip_while(|word| **word != "--agent");
            let agent = words.nth(1).map(|agent| (*agent).to_owned());
            Command::Retry { place, note, agent, from: None }
        }
        "skip" => Command::Skip { place, note },
        "go" if words.contains(&"--loops") => Command::Loops { place, more: 3 },
        "go" => Command::Go { place: place.unwrap(), note },
        "cancel" => Command::Cancel { reason: note },
        "budget" => {
            let (more, place) = typed.split_once(" --place ").unwrap_or((&typed, ""));
            let more = more.splitn(4, ' ').nth(3).unwrap();
            let place = (!place.is_empty()).then(|| Place::new(place));
            Command::Budget { place, more: budget::read(more).unwrap() }
        }
        other => panic!("no such command: {other}"),
    }
}
