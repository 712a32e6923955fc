//! Telling people: what is owed, and that it is told at most once.

use std::collections::BTreeSet;

use chronicle_core::base::ids::GateId;
use chronicle_core::event::input::{Command, Report};
use chronicle_core::event::notice::{About, Failed, NoticeGiven, Way};
use chronicle_core::event::{Event, OnGate, RunStarted};
use chronicle_core::state::Status;
use chronicle_core::state::effect::Action;
use chronicle_core::view;
use expect_test::expect;

use crate::views_told::comes_back;
use crate::world::{World, person, report, start, workflows};

const APPROVED: &str =
    "{name: A, phases: {plan: {approval: after, next: [build]}, build: {next: [done]}}}";
const SCRIPT: &str = "plan: go build\nbuild: ask which?; go done\ng1: approve\ng2: answer blue";

fn supervisor(notifies: bool) -> Report {
    let (host, version) = ("here".to_owned(), "test".to_owned());
    Report::SupervisorStarted { pid: 7, host, epoch: 1, version, notifies, walls: None }
}

fn driven(workflow: &str, script: &str) -> World {
    let mut world = World::started(workflow, script);
    world.step(&report(supervisor(true)));
    world
}

fn due(world: &World) -> Vec<About> {
    let due = world.state.due().into_iter();
    let about = |action| match action {
        Action::Notify(about) => Some(about),
        _ => None,
    };
    due.filter_map(|effect| about(effect.action)).collect()
}

#[test]
fn people_are_told_of_each_gate_and_of_the_end() {
    let world = driven(APPROVED, SCRIPT).play();
    let gate = |id| About::Gate(GateId(id));
    assert_eq!(world.notices, [gate(1), gate(2), About::End], "{}", world.told());
    assert_eq!((world.state.status(), world.state.owes()), (Status::Done, false));
    let told = world.told();
    assert!(told.contains("people were notified that g1 waits: by the command"), "{told}");
    assert!(told.ends_with("people were notified that the run ended: by the command\n"), "{told}");
}

#[test]
fn a_supervisor_without_notifications_owes_no_notice() {
    let mut world = World::started(APPROVED, SCRIPT);
    world.step(&report(supervisor(false)));
    let world = world.play();
    assert_eq!((world.notices, world.state.status()), (Vec::new(), Status::Done));
}

#[test]
fn gates_opened_before_the_first_supervisor_are_notified_by_it() {
    let before = "{name: B, phases: {plan: {approval: before}}}";
    let mut world = World::started(before, "plan: go done");
    assert_eq!(due(&world), [], "nobody drives it");
    world.step(&report(supervisor(true)));
    assert_eq!(due(&world), [About::Gate(GateId(1))]);
    let mut world = world.play();
    // The next supervisor finds the same gate open, and says nothing.
    world.step(&report(supervisor(true)));
    assert_eq!((due(&world), world.notices.len()), (Vec::new(), 1));
}

#[test]
fn a_gate_that_fails_the_run_is_notified_only_as_a_failure() {
    let mut world = World::new("plan: go done");
    let before = workflows("{name: B, phases: {plan: {approval: after}}}");
    let run = RunStarted { on_gate: Some(OnGate::Fail), ..start(before) };
    world.step(&person(Command::Start(Box::new(run))));
    world.step(&report(supervisor(true)));
    let world = world.play();
    assert_eq!((world.state.status(), &*world.notices), (Status::Failed, &[About::End][..]));
    let notice = view::notice(&world.state, About::End).unwrap();
    comes_back(&notice);
    assert_eq!(notice.event, "failed");
    assert!(notice.text.contains("run failed: g1 at `plan` needs a person"), "{}", notice.text);
}

#[test]
fn no_notice_is_given_twice_wherever_a_supervisor_dies() {
    let whole = driven(APPROVED, SCRIPT).play();
    let mut unknown = BTreeSet::new();
    for cut in 1..=whole.lines.len() {
        let killed = whole.killed_after(cut);
        let owed: Vec<About> = killed.state.notices.owed.iter().map(|it| it.about).collect();
        let given = killed.lines.iter().flat_map(|line| &line.events).filter_map(|event| {
            let Event::NoticeGiven(given) = event else { return None };
            Some(given.about)
        });
        let before: BTreeSet<About> = owed.iter().copied().chain(given).collect();
        let mut resumed = killed.recovered();
        resumed.step(&report(supervisor(true)));
        let resumed = resumed.play();
        assert_eq!(resumed.state.status(), Status::Done, "cut after {cut}");
        for about in resumed.notices.iter().chain(&owed) {
            let times = resumed.notices.iter().filter(|it| *it == about).count();
            let already = usize::from(before.contains(about));
            assert!(times + already == 1, "{about} after a cut at {cut}:\n{}", resumed.told());
        }
        if !owed.is_empty() {
            let told = resumed.told();
            assert!(told.contains("a supervisor died while sending the notice"), "{told}");
            unknown.extend(owed);
        }
    }
    assert_eq!(unknown.len(), 3, "a death over each of them was tried");
}

#[test]
fn how_it_failed_is_shown_until_it_goes_well() {
    let mut world = driven(APPROVED, SCRIPT);
    while due(&world).is_empty() {
        assert!(world.one_move());
    }
    let failed = vec![Failed { way: Way::Webhook, why: "exit code 22: 404".to_owned() }];
    let (about, given, missed) = (About::Gate(GateId(1)), vec![Way::Command], None);
    let notice = NoticeGiven { about, given, failed, missed };
    world.step(&report(Report::NoticeGiven(notice.clone())));
    let untold = |world: &World| view::run(&world.state, true).unwrap().untold;
    assert_eq!(untold(&world).as_deref(), Some("the webhook failed: exit code 22: 404"));
    let lines = world.lines.len();
    world.step(&report(Report::NoticeGiven(notice)));
    assert_eq!(world.lines.len(), lines, "a report that nobody waits for says nothing new");
    let world = world.play();
    assert_eq!(untold(&world), None);
    assert!(world.told().contains(
        "people were notified that g1 waits: by the command; but the webhook failed: exit code 22: 404"
    ));
}

#[test]
fn a_notice_says_what_happened_and_what_to_type() {
    let mut world = driven(APPROVED, SCRIPT);
    while due(&world).is_empty() {
        assert!(world.one_move());
    }
    let notice = view::notice(&world.state, About::Gate(GateId(1))).unwrap();
    comes_back(&notice);
    expect![[r#"
        {
          "version": 2,
          "event": "needs_you",
          "text": "Chronicle c0ffee01 (A): g1 waits at `plan` for approval: is `plan` done? \"did it\"",
          "run": "01997f3a-0000-7000-8000-0000c0ffee01",
          "short": "c0ffee01",
          "workflow": "A",
          "task": "the task",
          "project": "/project",
          "gate": {
            "gate": "g1",
            "place": "plan",
            "kind": "approval_after",
            "about": "is `plan` done? \"did it\"",
            "since": "2026-11-15T02:30:50.000Z",
            "next": "chronicle approve c0ffee01 g1  (or: chronicle reject c0ffee01 g1 \"why\")"
          },
          "next": "chronicle approve c0ffee01 g1  (or: chronicle reject c0ffee01 g1 \"why\")"
        }"#]].assert_eq(&serde_json::to_string_pretty(&notice).unwrap());
}
