//! Decisions about waits that end by themselves.

use chronicle_core::base::ids::{AttemptId, Place};
use chronicle_core::base::limits::{Limits, QUOTA_WAIT_MAX_MS};
use chronicle_core::base::time::Millis;
use chronicle_core::event::CrashClass;
use chronicle_core::event::input::{Answer, AttemptReport, Command, EndSeen, Report, TimerKind};
use chronicle_core::event::trees::Moment;
use chronicle_core::event::wait::WaitKind;
use chronicle_core::state::Status;
use chronicle_core::state::effect::Action;
use chronicle_core::view;
use expect_test::expect;

use crate::world::{NOW, World, about, person, report, tree};

const WORKFLOW: &str = "{name: W, phases: {plan: {next: [build]}, build: {}}}";

/// A run that waits, after the moves of its first attempt.
fn waiting(moves: &str) -> World {
    let script = format!("plan: {moves}; go build\nbuild: go done");
    let mut world = World::started(WORKFLOW, &script);
    while world.state.waits().next().is_none() {
        assert!(world.one_move(), "{}", world.told());
    }
    world
}

fn fired(world: &mut World, attempt: u32) {
    let (attempt, timer) = (AttemptId(attempt), TimerKind::Wait);
    world.step(&report(Report::TimerFired { attempt, timer }));
}

fn retry(note: &str, agent: Option<&str>) -> Command {
    let (note, agent) = (note.to_owned(), agent.map(str::to_owned));
    Command::Retry { place: None, note, agent, from: None }
}

#[test]
fn a_quota_is_waited_for_and_the_same_session_goes_on() {
    let world = World::started(WORKFLOW, "plan: usage 3; quota 600; go build\nbuild: go done");
    expect![[r#"
        run started: `W` on "the task"
          workflow `main` entered
          phase `plan` entered
          a1 started at `plan` (scripted)
        a1 reported 3 tokens
        a1 has used up its quota
          `plan` waits for a new quota at 2026-11-15T02:40:50.000Z
        the wait at `plan` is over
          a2 resumed at `plan` (scripted): the wait is over
        a2 leaves for `build`: "did it"
        a2 ended
          `plan` left for `build`
          phase `build` entered
          a3 started at `build` (scripted)
        a3 leaves for `done`: "did it"
        a3 ended
          `build` done, workflow complete
          the workflow ended
          run done
    "#]]
    .assert_eq(&world.play().told());
}

#[test]
fn a_wait_is_seen_with_its_end_and_is_all_that_is_due() {
    let world = waiting("quota 600");
    let until = Millis(NOW.0 + 600_000);
    let due: Vec<Action> = world.state.due().iter().map(|effect| effect.action).collect();
    assert_eq!(due, [Action::WaitUntil { attempt: AttemptId(1), until }]);
    assert_eq!(world.state.status(), Status::Waiting);
    assert!(world.state.goes_on(), "nobody is asked");
    let seen = view::run(&world.state, true).unwrap();
    assert_eq!((seen.status.as_str(), seen.needs_you.len()), ("waiting", 0));
    assert_eq!((seen.waits[0].kind, seen.waits[0].until), (WaitKind::Quota, until));
    assert_eq!(seen.waits[0].text, "a new quota at 2026-11-15T02:40:50.000Z");
    assert!(seen.next.is_empty(), "{:?}", seen.next);
    // Without a supervisor nothing would come of it.
    let alone = view::run(&world.state, false).unwrap();
    assert_eq!(alone.status.as_str(), "interrupted");
    assert_eq!(alone.next, ["chronicle resume c0ffee01"]);
    assert_eq!(view::run_json(&world.state).unwrap()["status"], "paused");
}

#[test]
fn a_service_without_room_is_tried_again_ever_later_and_at_last_a_person_is_asked() {
    let moves = vec!["overload"; 30].join("; ");
    let mut world = World::started(WORKFLOW, &format!("plan: {moves}"));
    let mut pauses = Vec::new();
    while world.one_move() {
        pauses.extend(world.state.waits().map(|(_, wait)| (wait.began.until.0 - NOW.0) / 1_000));
        pauses.dedup();
    }
    assert_eq!(pauses, [2, 4, 8, 16, 32, 64, 128, 256, 300]);
    let gate = world.state.open_gates().next().unwrap();
    assert_eq!(
        gate.opened.about,
        "`plan` cannot continue: the last attempt found its model's service overloaded, after it waited 20 times, which is the limit"
    );
    assert_eq!(world.state.attempts.len(), usize::try_from(Limits::default().waits + 1).unwrap());
    // What a person wants tried has all its chances again.
    world.step(&person(retry("", None)));
    while world.state.waits().next().is_none() {
        assert!(world.one_move());
    }
    assert_eq!(world.state.waits().next().unwrap().1.began.number, 1);
}

#[test]
fn progress_begins_the_waits_anew() {
    let world = waiting("overload; overload; snap found it; overload").play();
    let told = world.told();
    let waits: Vec<&str> = told.lines().filter(|line| line.contains(" waits for ")).collect();
    assert_eq!(
        waits,
        [
            "  `plan` waits for another try at 2026-11-15T02:30:52.000Z",
            "  `plan` waits for another try at 2026-11-15T02:30:54.000Z, wait 2",
            "  `plan` waits for another try at 2026-11-15T02:30:52.000Z",
        ]
    );
    assert_eq!(world.state.status(), Status::Done);
}

#[test]
fn a_time_that_has_passed_or_never_comes_is_not_waited_for() {
    let world = waiting("quota 0");
    let (_, wait) = world.state.waits().next().unwrap();
    assert_eq!(wait.began.wait_kind, WaitKind::Retry);
    assert_eq!(wait.began.until.0, NOW.0 + 2_000);
    let world = waiting("quota 99999999999");
    let (_, wait) = world.state.waits().next().unwrap();
    assert_eq!(wait.began.until.0, NOW.0 + QUOTA_WAIT_MAX_MS);
}

#[test]
fn the_workflows_own_answer_to_a_crash_comes_after_the_waits() {
    let workflow = "{name: W, phases: {plan: {next: [build], on: {crash: build}}, build: {}}}";
    let moves = vec!["overload"; 30].join("; ");
    let world = World::started(workflow, &format!("plan: {moves}\nbuild: go done")).play();
    assert!(world.told().contains("`plan` left for `build` (crash)"), "{}", world.told());
    assert_eq!(world.state.status(), Status::Done);
}

#[test]
fn a_person_can_end_a_wait_early() {
    let mut world = waiting("quota 600");
    let answer = world.step(&person(retry("mind the tests", None)));
    assert_eq!(answer, Answer::Accepted("`plan` is tried again".to_owned()));
    let lines = world.lines.len();
    let told = world.told();
    let last: Vec<&str> = told.lines().rev().take(3).collect();
    assert_eq!(
        last,
        [
            "  a2 resumed at `plan` (scripted): the wait is over",
            "  the wait at `plan` was cut short by ann",
            "n1 from ann to `plan`: \"mind the tests\"",
        ]
    );
    // The timer that was running by then says nothing new.
    fired(&mut world, 1);
    assert_eq!(world.lines.len(), lines);
}

#[test]
fn a_wait_can_be_ended_with_another_agent() {
    let mut world = waiting("quota 600");
    world.step(&person(retry("you do it", Some("scripted:other.yaml"))));
    expect![[r#"
        the wait at `plan` was cut short (with scripted) by ann: "you do it"
          a2 started at `plan` (scripted): asked for: "you do it"
    "#]]
    .assert_eq(
        &world
            .told()
            .lines()
            .rev()
            .take(2)
            .fold(String::new(), |all, line| format!("{line}\n{all}")),
    );
    assert_eq!(world.state.attempt(AttemptId(2)).unwrap().intent.agent, "scripted:other.yaml");
}

#[test]
fn a_person_may_go_somewhere_else_meanwhile() {
    let mut world = waiting("quota 600");
    let go = Command::Go { place: Place::new("build"), note: String::new() };
    assert!(matches!(world.step(&person(go)), Answer::Accepted(_)));
    assert!(world.state.waits().next().is_none());
    let played = world.play();
    assert_eq!(played.state.status(), Status::Done, "{}", played.told());
}

#[test]
fn a_wait_continues_after_a_pause() {
    let mut world = waiting("quota 600");
    world.step(&person(Command::Pause { reason: String::new() }));
    assert_eq!(world.state.status(), Status::Paused);
    assert!(world.state.due().is_empty());
    fired(&mut world, 1);
    assert!(world.state.waits().next().is_some(), "it has not ended");
    world.step(&person(Command::Resume));
    assert_eq!(world.state.due().len(), 1);
    let mut given_up = world.clone();
    given_up.step(&person(Command::Cancel { reason: String::new() }));
    assert_eq!(given_up.state.status(), Status::Cancelled);
    assert!(given_up.state.due().is_empty());
    assert!(view::run(&given_up.state, true).unwrap().waits.is_empty());
    assert_eq!(world.play().state.status(), Status::Done);
}

#[test]
fn only_a_current_wait_can_end() {
    let mut world = waiting("quota 600");
    let lines = world.lines.len();
    fired(&mut world, 2);
    fired(&mut world, 9);
    assert_eq!(world.lines.len(), lines);
    let timer = TimerKind::Timeout;
    world.step(&report(Report::TimerFired { attempt: AttemptId(1), timer }));
    assert_eq!(world.lines.len(), lines);
    fired(&mut world, 1);
    assert!(world.told().ends_with("a2 resumed at `plan` (scripted): the wait is over\n"));
}

#[test]
fn a_helper_waits_as_anybody_does() {
    let script = "plan: help mender; go build\nplan@mender: quota 60; complete\nbuild: go done";
    let world = World::started(WORKFLOW, script).play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    assert!(world.told().contains("a3 resumed at `plan` as `mender` (scripted): the wait is over"));
}

/// An attempt that ends with an error of that class.
fn fails(world: &mut World, class: CrashClass, retry_after_ms: Option<u64>) {
    let error = Some((class, "404 no such model".to_owned()));
    let seen = EndSeen { error, retry_after_ms, ..EndSeen::default() };
    let id = *world.state.live.last().unwrap();
    world.step(&about(id, AttemptReport::Ended(seen)));
    world.step(&tree(Moment::After(id), &[]));
}

#[test]
fn a_service_is_left_alone_for_as_long_as_it_asks() {
    for (class, asked, waited) in [
        (CrashClass::Overload, Some(20_000), 20_000),
        (CrashClass::Quota, Some(20_000), 20_000),
        (CrashClass::Overload, Some(500), 2_000),
        (CrashClass::Overload, None, 2_000),
        (CrashClass::Unreachable, None, 2_000),
        (CrashClass::Overload, Some(u64::MAX), QUOTA_WAIT_MAX_MS),
    ] {
        let mut world = World::started(WORKFLOW, "");
        world.one_move();
        fails(&mut world, class, asked);
        let until = world.state.waits().next().map(|(_, wait)| wait.began.until);
        assert_eq!(until, Some(NOW.after(waited)), "{}", world.told());
    }
}

#[test]
fn what_will_not_pass_by_itself_is_asked_about_at_once_in_the_agents_words() {
    for class in [CrashClass::Refused, CrashClass::CannotStart, CrashClass::Auth] {
        let mut world = World::started(WORKFLOW, "");
        world.one_move();
        fails(&mut world, class, None);
        assert_eq!(world.state.attempts.len(), 1, "{}", world.told());
        let about = world.state.open_gates().next().unwrap().opened.about.clone();
        assert!(about.ends_with(": \"404 no such model\""), "{about}");
    }
    let own = "{name: W, phases: {plan: {next: [build], on: {crash: build}}, build: {}}}";
    let mut world = World::started(own, "");
    world.one_move();
    fails(&mut world, CrashClass::Refused, None);
    assert!(world.told().contains("`plan` left for `build` (crash)"), "{}", world.told());
}

#[test]
fn what_broke_the_protocol_is_tried_again_in_a_fresh_session() {
    let mut world = World::started(WORKFLOW, "");
    world.one_move();
    fails(&mut world, CrashClass::Protocol, None);
    let attempts: Vec<_> = world.state.attempts.iter().map(|it| it.intent.clone()).collect();
    assert_eq!(attempts.len(), 2, "{}", world.told());
    assert!(!attempts[1].resume && attempts[0].session != attempts[1].session, "{attempts:?}");
    assert_eq!(attempts[1].why, chronicle_core::event::Why::Retry { number: 1 });
}
