//! Traps that a run must not fall into: each was, or could have been, a way to work without end or to lose a word.

use chronicle_core::base::ids::{AttemptId, GateId, Place};
use chronicle_core::event::input::{Answer, AttemptReport, Command, EndSeen};
use chronicle_core::event::{CrashClass, End, Event, Why};
use chronicle_core::handover::handover;
use chronicle_core::state::{State, Status};
use chronicle_core::words;

use crate::world::{World, about, person};

fn ended(seen: EndSeen, id: u32) -> chronicle_core::event::input::Input {
    about(AttemptId(id), AttemptReport::Ended(seen))
}

fn last_why(state: &State) -> Why {
    state.attempts.last().unwrap().intent.why.clone()
}

fn told(state: &State) -> String {
    handover(state, state.attempts.last().unwrap())
}

#[test]
fn an_agent_that_we_end_while_nobody_paused_the_run_has_crashed() {
    let mut world =
        World::started("{name: One, phases: {work: {limits: {nudges: 1, retries: 1}}}}", "");
    for id in 1..=3 {
        let seen = EndSeen { stopped: true, finished: true, ..EndSeen::default() };
        world.step(&ended(seen, id));
    }
    assert_eq!(world.state.status(), Status::Waiting, "{}", world.told());
    assert_eq!(world.state.attempts.len(), 3);
}

#[test]
fn while_something_of_an_attempt_may_run_nobody_starts_beside_it() {
    let workflow = "{name: One, phases: {work: {next: [done], on: {crash: mend}}, mend: {}}}";
    let mut world = World::started(workflow, "");
    let seen = EndSeen { unclear: Some("1 process lives".to_owned()), ..EndSeen::default() };
    world.step(&ended(seen, 1));
    assert_eq!(world.state.status(), Status::Waiting);
    let (end, _) = world.state.attempt(AttemptId(1)).unwrap().ended.clone().unwrap();
    assert!(matches!(end, End::Unclear { .. }));
}

#[test]
fn what_a_person_said_outlives_crashes_and_losses() {
    let script = "plan 1: go build\ng1: reject TESTS ARE MISSING";
    let workflow = "{name: A, phases: {plan: {approval: after, next: [build]}, build: {}}}";
    let mut world = World::started(workflow, script);
    while last_why(&world.state) == Why::First {
        world = one_step(world);
    }
    assert!(told(&world.state).contains("TESTS ARE MISSING"));
    world.step(&ended(EndSeen { lost: true, ..EndSeen::default() }, 2));
    assert_eq!(last_why(&world.state), Why::Lost);
    assert!(told(&world.state).contains("TESTS ARE MISSING"), "{}", told(&world.state));
    let gone = Some((CrashClass::SessionGone, String::new()));
    world.step(&ended(EndSeen { error: gone, ..EndSeen::default() }, 3));
    assert_eq!(last_why(&world.state), Why::SessionGone);
    assert!(told(&world.state).contains("TESTS ARE MISSING"));
}

#[test]
fn a_session_that_is_gone_at_its_start_is_not_resumed() {
    let workflow = "{name: One, phases: {work: {limits: {nudges: 3, retries: 1}}}}";
    let mut world = World::started(workflow, "");
    let session = world.state.attempt(AttemptId(1)).unwrap().intent.session.clone();
    world.step(&about(AttemptId(1), AttemptReport::Session(session)));
    let gone =
        EndSeen { error: Some((CrashClass::SessionGone, String::new())), ..EndSeen::default() };
    world.step(&ended(gone.clone(), 1));
    let second = world.state.attempts.last().unwrap().intent.clone();
    assert_eq!((second.resume, second.why), (false, Why::Retry { number: 1 }));
    world.step(&ended(gone, 2));
    assert_eq!(world.state.status(), Status::Waiting, "{}", world.told());
}

fn one_step(mut world: World) -> World {
    assert!(world.one_move(), "{}", world.told());
    world
}

#[test]
fn what_may_run_only_once_is_never_run_again_without_a_word() {
    let workflow = "{name: D, phases: {ship: {run: command, commands: [deploy], once: true, approval: after}}}";
    for seen in [
        EndSeen { lost: true, ..EndSeen::default() },
        EndSeen { error: Some((CrashClass::Other, String::new())), ..EndSeen::default() },
    ] {
        let mut world = World::started(workflow, "");
        world.step(&ended(seen, 1));
        assert_eq!(world.state.attempts.len(), 1, "{}", world.told());
    }
    let mut world = World::started(workflow, "ship: timeout\n").play();
    assert_eq!((world.state.status(), world.state.attempts.len()), (Status::Waiting, 1));
    world.step(&person(Command::Retry {
        place: None,
        note: String::new(),
        agent: None,
        from: None,
    }));
    assert_eq!(world.state.attempts.len(), 2, "a person's word is enough");
    let mut world = World::started(workflow, "").play();
    world.step(&person(Command::Reject { gate: None, note: "no".to_owned() }));
    assert_eq!(world.state.attempts.len(), 1, "a rejection does not deploy again");
}

const OUTER: &str = "
name: Outer
phases:
  review: {run: workflow, workflow: inner, approval: after, next: [ship]}
  ship: {}
=== inner
name: Inner
phases:
  look: {next: [human_intervention]}
";

#[test]
fn a_rejected_workflow_inside_is_walked_again_from_its_beginning() {
    let workflow = OUTER.replace("[human_intervention]", "[done]");
    let script = "review/look: go done\nship: go done\ng1: reject look closer\ng2: approve";
    let world = World::started(&workflow, script).play();
    let places: Vec<_> = world.state.visits.iter().map(|visit| visit.place.as_str()).collect();
    assert_eq!(places, ["review", "review/look", "review/look", "ship"], "{}", world.told());
    let starts_second = |event: &Event| matches!(event, Event::AttemptStarted(intent) if intent.attempt == AttemptId(2));
    let at = world.lines.iter().position(|line| line.events.iter().any(starts_second)).unwrap();
    assert!(told(&world.killed_after(at + 1).state).contains("look closer"));
}

#[test]
fn what_to_type_next_can_be_typed() {
    let mut world = World::started(OUTER, "review/look: go human_intervention").play();
    let gate = &world.state.gate(GateId(1)).unwrap().opened;
    assert_eq!(
        words::gate_next(&world.state, gate, "5f3a9c1e"),
        "chronicle go 5f3a9c1e review/PHASE  (or: chronicle cancel 5f3a9c1e)"
    );
    let go = |place: &str| Command::Go { place: Place::new(place), note: String::new() };
    let Answer::Refused(_) = world.step(&person(go("review/nowhere"))) else {
        panic!("no such phase")
    };
    let mut again = world.clone();
    assert!(matches!(again.step(&person(go("review/look"))), Answer::Accepted(_)));
    assert_eq!(again.state.attempts.len(), 2);
    // And from outside: the workflow inside ends with the move.
    assert!(matches!(world.step(&person(go("ship"))), Answer::Accepted(_)));
    assert_eq!(world.state.frames.len(), 1);
    assert_eq!(world.state.open_gates().count(), 0);
    assert_eq!(world.state.attempts.last().unwrap().intent.place.as_str(), "ship");
}

#[test]
fn a_paused_run_may_be_sent_elsewhere() {
    let mut world = World::started(crate::decide::THREE, "");
    let go = || Command::Go { place: Place::new("verify"), note: String::new() };
    world.step(&person(Command::Pause { reason: String::new() }));
    let mut world = world.play();
    assert!(matches!(world.step(&person(go())), Answer::Accepted(_)));
    world.step(&person(Command::Resume));
    assert_eq!(world.state.attempts.last().unwrap().intent.place.as_str(), "verify");
}

#[test]
fn a_cancelled_run_takes_no_answers() {
    let mut world = World::started("{name: G, phases: {plan: {approval: before}}}", "");
    world.step(&person(Command::Cancel { reason: String::new() }));
    let lines = world.lines.len();
    for command in [
        Command::Approve { gate: None, note: String::new(), scope: None },
        Command::Reject { gate: None, note: String::new() },
        Command::Retry { place: None, note: String::new(), agent: None, from: None },
        Command::Pause { reason: String::new() },
    ] {
        assert!(matches!(world.step(&person(command)), Answer::Refused(_)));
    }
    assert_eq!(world.lines.len(), lines);
}

#[test]
fn a_long_task_leaves_room_for_the_instructions_and_the_way_out() {
    let workflow = "{name: L, phases: {work: {instructions: DO THIS}}}";
    let mut world = World::new("");
    let mut start = crate::world::start(crate::world::workflows(workflow));
    start.task = "x".repeat(99_000);
    world.step(&person(Command::Start(Box::new(start))));
    let text = told(&world.state);
    assert!(text.contains("DO THIS") && text.contains("workflow_transition"));
    assert!(text.len() <= chronicle_core::base::limits::HANDOVER_MAX + 100);
}

#[test]
fn words_of_agents_cannot_fool_a_terminal() {
    let event = Event::SignalRefused {
        attempt: AttemptId(1),
        request: "r".to_owned(),
        answer: "\u{1b}]0;owned\u{7}\u{1b}[2J\nrun done \u{202e}".to_owned(),
    };
    let text = words::sentence(&event);
    assert!(!text.chars().any(|char| char.is_control() || char == '\u{202e}'), "{text:?}");
}

#[test]
fn sums_beyond_all_reason_do_not_break_the_words() {
    assert_eq!(words::usd(u64::MAX), "$18446744073709.55");
}
