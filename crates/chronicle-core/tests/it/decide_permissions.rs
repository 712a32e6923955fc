//! Decisions about calls that a rule forbids, or wants a person asked about.

use chronicle_core::base::ids::{AttemptId, GateId};
use chronicle_core::event::input::{
    Answer, AttemptReport, Command, EndSeen, Report, SaidBefore, TimerKind,
};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::{
    Call, Event, GateAnswer, GateKind, GrantScope, Issues, Message, OnGate, Question, Verdict,
};
use chronicle_core::guard::Judgement;
use chronicle_core::state::Status;
use chronicle_core::state::effect::Action;
use chronicle_core::view;
use expect_test::expect;

use crate::decide::{THREE, check};
use crate::world::{
    World, about, asks, judged, made_again, person, report, rule, signal, start, tree, workflows,
};

const A1: AttemptId = AttemptId(1);
const A2: AttemptId = AttemptId(2);
const ONE: &str = "{name: A, phases: {work: {limits: {repeats: 3}}}}";

fn approve(gate: u32, scope: GrantScope) -> Command {
    Command::Approve { gate: Some(GateId(gate)), note: String::new(), scope: Some(scope) }
}

fn reject(gate: u32, note: &str) -> Command {
    Command::Reject { gate: Some(GateId(gate)), note: note.to_owned() }
}

/// A run whose first attempt works.
fn begun(workflow: &str) -> World {
    let mut world = World::started(workflow, "");
    settle(&mut world);
    world
}

/// Records the files whenever that is due.
fn settle(world: &mut World) {
    while let Some(moment) = world.state.due().iter().find_map(|due| match due.action {
        Action::RecordTree(moment) => Some(moment),
        _ => None,
    }) {
        world.step(&tree(moment, &[]));
    }
}

/// Asks for leave for `rm WHAT`.
fn held(world: &mut World, attempt: AttemptId, id: &str, what: &str) -> Answer {
    world.step(&about(attempt, judged(id, &format!("rm {what}"), asks())))
}

fn allowed() -> Answer {
    Answer::Verdict(Verdict::Allowed)
}

fn denied(answer: &Answer) -> &str {
    let Answer::Verdict(Verdict::Denied(why)) = answer else { panic!("{answer:?}") };
    why
}

fn lost(world: &mut World, attempt: AttemptId) {
    let seen = EndSeen { lost: true, ..EndSeen::default() };
    world.step(&about(attempt, AttemptReport::Ended(seen)));
    settle(world);
}

/// What is due to be told, and telling it as a supervisor does: decided first, then delivered.
fn deliver(world: &mut World) -> Vec<Verdict> {
    let mut told = Vec::new();
    while let Some((attempt, message)) = world.state.due().iter().find_map(|due| match due.action {
        Action::Tell(attempt, message @ Message::Verdict(_)) => Some((attempt, message)),
        _ => None,
    }) {
        if let Some(again) = made_again(&world.state, attempt, message) {
            world.step(&about(attempt, again));
            continue;
        }
        let attempts = world.state.attempt(attempt).unwrap();
        let held = attempts.held.iter().find(|held| Message::Verdict(held.gate) == message);
        told.push(held.unwrap().verdict.clone().unwrap());
        world.step(&about(attempt, AttemptReport::Told(message)));
    }
    told
}

fn timers(world: &World) -> Vec<(TimerKind, u64)> {
    let timer = |action| match action {
        Action::RunTimer { timer, active_ms, .. } => Some((timer, active_ms)),
        _ => None,
    };
    world.state.due().iter().filter_map(|due| timer(due.action)).collect()
}

#[test]
fn a_call_that_a_rule_forbids_is_denied_with_the_rule() {
    let mut world = begun(ONE);
    let forbids =
        Judgement::Deny { rule: rule("rm -rf", 7), why: "it deletes everything.".to_owned() };
    let answer = world.step(&about(A1, judged("c1", "rm -rf /", forbids)));
    assert_eq!(
        denied(&answer),
        "it deletes everything: command rule `rm -rf` (rules.yaml:7). Do not work around it"
    );
    let Some(Event::ToolCalled(called)) = world.lines.last().unwrap().events.first() else {
        panic!("{}", world.told())
    };
    assert!(matches!(&called.judged, Judgement::Deny { rule, .. } if rule.text == "rm -rf"));
    assert!(world.lines.last().unwrap().input.is_none(), "the event says all of it");
}

#[test]
fn a_call_waits_for_leave_and_runs_once_it_is_given() {
    check(
        "{name: A, phases: {work: {}}}",
        "work: held rm a; usage 3; go done\ng1: approve",
        expect![[r#"
            run started: `A` on "the task"
              workflow `main` entered
              phase `work` entered
              a1 started at `work` (scripted)
            g1 waits at `work` for permission: may `bash` run? rm a (it deletes files: command rule `rm *` (rules.yaml:3))
              a1's call `c0` waits at g1 for leave
            g1 allowed once by ann
            a1 called `bash` {"command":"rm a"}
            a1 was told what becomes of its call at g1
            a1 reported 3 tokens
            a1 leaves for `done`: "did it"
            a1 ended
              `work` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn a_call_that_a_person_rejects_does_not_run_and_stays_rejected() {
    let mut world = begun(ONE);
    assert_eq!(held(&mut world, A1, "c1", "a"), Answer::Waits);
    world.step(&person(reject(1, "keep it")));
    let [Verdict::Denied(why)] = &deliver(&mut world)[..] else { panic!("{}", world.told()) };
    assert_eq!(
        why,
        "ann rejected this call: \"keep it\". It stays rejected in this phase: do not reach the same by another way"
    );
    assert_eq!(denied(&held(&mut world, A1, "c2", "a")), why, "nobody is asked twice");
    assert_eq!(held(&mut world, A1, "c3", "b"), Answer::Waits, "another call is another question");
    assert_eq!(world.state.gates.len(), 2);
}

#[test]
fn the_same_call_waits_at_the_same_gate_and_nothing_runs_out_meanwhile() {
    let mut world = begun("{name: A, phases: {work: {limits: {timeout: 5m}}}}");
    assert_eq!(timers(&world).len(), 2, "{:?}", timers(&world));
    assert_eq!(held(&mut world, A1, "c1", "a"), Answer::Waits);
    let lines = world.lines.len();
    assert_eq!(held(&mut world, A1, "c1", "a"), Answer::Waits);
    assert_eq!((world.lines.len(), world.state.gates.len()), (lines, 1));
    assert_eq!(world.state.status(), Status::Waiting, "whoever works waits for a person");
    assert_eq!(timers(&world), [(TimerKind::Ask, 3_600_000)]);
    world.step(&about(A1, AttemptReport::Idle));
    assert_eq!(world.state.status(), Status::Waiting, "who waits is not idle");
    world.step(&person(approve(1, GrantScope::Once)));
    assert_eq!(held(&mut world, A1, "c1", "a"), allowed(), "asked again, it hears the answer");
    assert_eq!(deliver(&mut world), [Verdict::Allowed]);
    assert_eq!(world.state.attempt(A1).unwrap().held, []);
}

#[test]
fn a_yes_reaches_as_far_as_was_said_and_only_to_the_same_call() {
    let phases = "{name: A, phases: {work: {next: [work, more]}, more: {}}}";
    for (scope, same_visit, next_visit, elsewhere) in [
        (GrantScope::Once, false, false, false),
        (GrantScope::Phase, true, false, false),
        (GrantScope::Run, true, true, true),
    ] {
        let mut world = begun(phases);
        assert_eq!(held(&mut world, A1, "c1", "a"), Answer::Waits);
        world.step(&person(approve(1, scope)));
        assert_eq!(deliver(&mut world), [Verdict::Allowed]);
        assert_eq!(held(&mut world, A1, "c1", "a"), allowed(), "the call itself");
        let probe = |world: &World, attempt, expected: bool, what: &str| {
            let answer = held(&mut world.clone(), attempt, "c9", "a");
            assert_eq!(answer == allowed(), expected, "{scope:?}, {what}: {answer:?}");
            let other = held(&mut world.clone(), attempt, "c9", "b");
            assert_eq!(other, Answer::Waits, "{scope:?}, {what}: another call");
        };
        probe(&world, A1, same_visit, "the same visit");
        lost(&mut world, A1);
        probe(&world, A2, same_visit, "another attempt of the visit");
        let mut round = world.clone();
        leave(&mut round, A2, "work");
        probe(&round, AttemptId(3), next_visit, "another visit");
        leave(&mut world, A2, "more");
        probe(&world, AttemptId(3), elsewhere, "another phase");
    }
}

fn leave(world: &mut World, attempt: AttemptId, to: &str) {
    let leave = Signal::Leave {
        target: Some(to.into()),
        outcome: None,
        summary: "did it".to_owned(),
        task: None,
        issues: Issues::default(),
    };
    let answer = world.step(&signal(attempt, "leave", leave));
    assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
    let seen = EndSeen { finished: true, ..EndSeen::default() };
    world.step(&about(attempt, AttemptReport::Ended(seen)));
    settle(world);
}

#[test]
fn a_yes_for_one_call_is_not_taken_by_another_that_is_alike() {
    let mut world = begun(ONE);
    assert_eq!(held(&mut world, A1, "c1", "a"), Answer::Waits);
    assert_eq!(held(&mut world, A1, "c2", "a"), Answer::Waits, "made at the same time");
    assert_eq!(world.state.gates.len(), 2, "each call is asked about");
    world.step(&person(approve(1, GrantScope::Once)));
    assert_eq!(held(&mut world, A1, "c3", "a"), Answer::Waits, "a third one comes first");
    assert_eq!(deliver(&mut world), [Verdict::Allowed]);
    assert_eq!(held(&mut world, A1, "c1", "a"), allowed());
    let held = &world.state.attempt(A1).unwrap().held;
    assert_eq!(held.iter().map(|held| held.call.as_str()).collect::<Vec<_>>(), ["c2", "c3"]);
    world.step(&person(approve(2, GrantScope::Phase)));
    assert_eq!(deliver(&mut world), [Verdict::Allowed, Verdict::Allowed], "a wider one covers all");
    assert_eq!(world.state.open_gates().count(), 0, "what is covered is asked no more");
}

#[test]
fn an_id_that_is_used_twice_gets_nobody_elses_leave() {
    let mut world = begun(ONE);
    assert_eq!(held(&mut world, A1, "c1", "a"), Answer::Waits);
    let other = held(&mut world, A1, "c1", "b");
    assert_eq!(denied(&other), "another call with the same id waits for a person's leave");
    world.step(&person(approve(1, GrantScope::Once)));
    assert_eq!(deliver(&mut world), [Verdict::Allowed]);
    assert_eq!(denied(&held(&mut world, A1, "c1", "b")), denied(&other));
}

#[test]
fn nobody_there_is_not_called_a_no_and_the_gate_stays_for_the_next_try() {
    for gone in [
        report(Report::SupervisorLeaves),
        report(Report::TimerFired { attempt: A1, timer: TimerKind::Ask }),
        about(A1, AttemptReport::Withdrew { request: "c1".to_owned() }),
    ] {
        let mut world = begun(ONE);
        assert_eq!(held(&mut world, A1, "c1", "a"), Answer::Waits);
        world.step(&gone);
        let told = deliver(&mut world);
        let again = held(&mut world, A1, "c1", "a");
        let why = denied(&again);
        assert!(told.is_empty() || told == [Verdict::Denied(why.to_owned())], "{told:?}");
        assert!(why.contains("nobody has answered yet") && !why.contains("rejected"), "{why}");
        assert_eq!(world.state.status(), Status::Running, "it goes on without it");
        assert_eq!(world.state.live.len(), 1);
        assert_eq!(world.state.open_gates().count(), 1);
        assert_eq!(held(&mut world, A1, "c2", "a"), Answer::Waits);
        assert_eq!(world.state.gates.len(), 1, "the same call waits at the gate that is open");
        world.step(&person(approve(1, GrantScope::Once)));
        assert_eq!(deliver(&mut world), [Verdict::Allowed]);
    }
}

#[test]
fn a_supervisor_that_leaves_ends_who_has_a_question_and_answers_who_has_a_call() {
    let mut world = begun(ONE);
    held(&mut world, A1, "c1", "a");
    let question = Question {
        question: "which?".to_owned(),
        options: Vec::new(),
        context: String::new(),
        closed: false,
    };
    world.step(&signal(A1, "r1", Signal::Ask(question)));
    world.step(&report(Report::SupervisorLeaves));
    assert!(world.state.stopping(world.state.attempt(A1).unwrap()).is_some(), "{}", world.told());
    assert_eq!(world.state.open_gates().count(), 2);
}

#[test]
fn a_late_answer_is_for_the_next_attempt_that_makes_the_call() {
    for (command, expected) in [
        (approve(1, GrantScope::Once), None),
        (approve(1, GrantScope::Phase), None),
        (reject(1, "keep it"), Some("ann rejected this call: \"keep it\"")),
    ] {
        // Whether the supervisor died first or the person answered first: nobody may use the answer up.
        for answered_first in [true, false] {
            let mut world = begun(ONE);
            assert_eq!(held(&mut world, A1, "c1", "a"), Answer::Waits);
            let mut world = world.killed_after(world.lines.len());
            if answered_first {
                world.step(&person(command.clone()));
            }
            let mut world = world.recovered();
            let handover = world.bodies.last().unwrap().join("\n");
            settle(&mut world);
            if !answered_first {
                assert_eq!(world.state.open_gates().count(), 1, "it still waits for an answer");
                world.step(&person(command.clone()));
            }
            assert_eq!(handover.contains("Your call `bash`"), answered_first, "{handover}");
            let answer = held(&mut world, A2, "c7", "a");
            match expected {
                None => assert_eq!(answer, allowed()),
                Some(why) => assert!(denied(&answer).starts_with(why), "{answer:?}"),
            }
            assert_eq!(world.state.gates.len(), 1);
            let again = held(&mut world, A2, "c8", "a");
            let is_used_up = again == Answer::Waits;
            assert_eq!(is_used_up, command == approve(1, GrantScope::Once), "{again:?}");
        }
    }
}

#[test]
fn a_call_that_waited_is_not_run_after_the_stop_or_the_leaving_signal() {
    let mut world = begun(ONE);
    held(&mut world, A1, "c1", "a");
    world.step(&person(approve(1, GrantScope::Once)));
    world.step(&person(Command::Pause { reason: String::new() }));
    assert_eq!(deliver(&mut world), [], "who is being stopped is told nothing");
    assert!(matches!(held(&mut world, A1, "c1", "a"), Answer::Stopped(_)));
    let mut world = begun("{name: A, phases: {work: {}}}");
    held(&mut world, A1, "c1", "a");
    let leave = Signal::Leave {
        target: None,
        outcome: None,
        summary: "done".to_owned(),
        task: None,
        issues: Issues::default(),
    };
    world.step(&signal(A1, "r1", leave));
    world.step(&person(approve(1, GrantScope::Run)));
    let told = deliver(&mut world);
    let [Verdict::Denied(why)] = &told[..] else { panic!("{told:?}\n{}", world.told()) };
    assert_eq!(why, "the phase is being left: end your turn now");
}

#[test]
fn a_gate_is_closed_once_its_visit_is_over() {
    let mut world = begun(THREE);
    held(&mut world, A1, "c1", "a");
    world.step(&report(Report::SupervisorLeaves));
    deliver(&mut world);
    leave(&mut world, A1, "build");
    assert_eq!(world.state.open_gates().count(), 0);
    let gate = world.state.gate(GateId(1)).unwrap();
    assert!(matches!(&gate.answered, Some((GateAnswer::Withdrawn, ..))), "{gate:?}");
    let late = world.step(&person(approve(1, GrantScope::Run)));
    assert!(matches!(&late, Answer::Refused(why) if why.contains("no longer asked")), "{late:?}");
}

#[test]
fn how_far_a_yes_reaches_is_for_calls_alone() {
    let mut world = World::started("{name: A, phases: {work: {approval: before}}}", "").play();
    let refused = world.step(&person(approve(1, GrantScope::Run)));
    let why = "g1 asks for approval, which is answered once: `approve` without `--for`";
    assert_eq!(refused, Answer::Refused(why.to_owned()));
    let mut world = begun(ONE);
    held(&mut world, A1, "c1", "a");
    let answer = Command::Answer { gate: None, text: "yes".to_owned(), note: String::new() };
    let why = "g1 asks whether a call may run: `approve` or `reject` answer it";
    assert_eq!(world.step(&person(answer)), Answer::Refused(why.to_owned()));
    let note = "only this once".to_owned();
    let yes = Command::Approve { gate: None, note, scope: None };
    let said = "approved g1 at `work`: this call, once";
    assert_eq!(world.step(&person(yes)), Answer::Accepted(said.to_owned()));
    let told: Vec<_> = world.state.due().iter().map(|due| format!("{:?}", due.action)).collect();
    assert!(told.iter().any(|it| it.contains("Note")), "what was added reaches it: {told:?}");
    let late = world.step(&person(reject(1, "no")));
    assert!(matches!(&late, Answer::Refused(why) if why.contains("already approved by ann")));
}

#[test]
fn a_person_sees_the_exact_call_and_what_was_allowed() {
    let mut world = begun(ONE);
    held(&mut world, A1, "c1", "-r \u{1b}[2Jbuild");
    let run = view::run(&world.state, true).unwrap();
    let [gate] = run.needs_you.as_slice() else { panic!("{:?}", run.needs_you) };
    assert_eq!(gate.kind, GateKind::Permission);
    let call = gate.call.as_ref().unwrap();
    assert_eq!(call.command.as_deref(), Some("rm -r \u{1b}[2Jbuild"));
    assert_eq!((call.tool.as_str(), call.why.as_str()), ("bash", "it deletes files"));
    assert_eq!(call.rule, "command rule `rm *` (rules.yaml:3)");
    assert!(!gate.about.contains('\u{1b}'), "{}", gate.about);
    assert_eq!(run.grants, []);
    world.step(&person(approve(1, GrantScope::Run)));
    let run = view::run(&world.state, true).unwrap();
    assert_eq!(run.grants.len(), 1);
    assert_eq!((run.grants[0].scope, run.grants[0].who.as_str()), (GrantScope::Run, "ann"));
}

#[test]
fn a_run_that_is_to_fail_at_gates_fails_at_this_one_and_nothing_runs() {
    let mut world = World::new("");
    let mut start = start(workflows(ONE));
    start.on_gate = Some(OnGate::Fail);
    world.step(&person(Command::Start(Box::new(start))));
    assert_eq!(held(&mut world, A1, "c1", "a"), Answer::Waits);
    assert!(world.state.failed.is_some());
    assert!(matches!(held(&mut world, A1, "c1", "a"), Answer::Stopped(_)));
}

#[test]
fn a_call_that_ran_without_asking_is_a_breach_where_a_rule_is_against_it() {
    let deny = Judgement::Deny { rule: rule("rm", 1), why: String::new() };
    for (judged, expected) in [
        (Judgement::Clear, None),
        (deny, Some("a rule forbids that call")),
        (asks(), Some("a rule wants a person asked first")),
    ] {
        let mut world = begun(ONE);
        let call = Box::new(Call::new("c1", "bash", &serde_json::json!({"command": "rm a"}), &[]));
        let (said, stops) = (SaidBefore::Nothing, false);
        let answer =
            world.step(&about(A1, AttemptReport::ToolUnasked { call, judged, said, stops }));
        match expected {
            None => assert_eq!(answer, Answer::Noted),
            Some(why) => assert_eq!(
                denied(&answer),
                format!(
                    "it ran `bash` {{\"command\":\"rm a\"}} without asking for permission; {why}"
                )
            ),
        }
    }
}

/// It is not said of a call that nobody was asked about it where somebody was.
#[test]
fn a_call_that_ran_although_it_was_denied_is_told_as_that() {
    for (said, how, why) in [
        (SaidBefore::Denied, "although it was denied", "what is denied may not run"),
        (
            SaidBefore::Waits,
            "before a person had answered",
            "what needs a person's leave may not run without",
        ),
        (
            SaidBefore::OfAnother,
            "otherwise than it was judged",
            "every call of its agent has to be judged before it runs",
        ),
    ] {
        let mut world = begun(ONE);
        let call = Box::new(Call::new("c1", "bash", &serde_json::json!({"command": "ls"}), &[]));
        let (judged, stops) = (Judgement::Clear, true);
        let answer =
            world.step(&about(A1, AttemptReport::ToolUnasked { call, judged, said, stops }));
        let ran = "`bash` {\"command\":\"ls\"}";
        assert_eq!(denied(&answer), format!("it ran {ran} {how}; {why}"));
        let told = world.told();
        assert!(told.contains(&format!("a1 ran {ran} {how}")), "{told}");
        assert!(!told.contains("without asking"), "{told}");
    }
}

/// What a person allowed, and a rule denied when their answer arrived, was not refused by its agent.
#[test]
fn a_rule_that_has_the_last_word_is_named() {
    let mut world = begun(ONE);
    let call = Box::new(Call::new("c1", "bash", &serde_json::json!({"command": "ls"}), &[]));
    let judged = Judgement::Deny { rule: rule("ls", 1), why: "not that".to_owned() };
    let why = String::new();
    world.step(&about(A1, AttemptReport::ToolRefused { call, why, judged: judged.clone() }));
    let told = world.told();
    assert!(told.contains("a1 was denied `bash`: not that: command rule `ls`"), "{told}");
    let last = world.lines.last().and_then(|line| line.events.first());
    let Some(Event::ToolCalled(called)) = last else { panic!("{last:?}") };
    assert_eq!(called.judged, judged);
}

/// What a person allowed, and what leads elsewhere when their answer arrives, is told as that.
#[test]
fn a_yes_for_what_is_no_longer_as_it_was_shown_is_told() {
    let mut world = begun(ONE);
    let call = Box::new(Call::new("c1", "bash", &serde_json::json!({"command": "ls"}), &[]));
    let judged = Judgement::Ask { rule: rule("ls", 1), why: "not that".to_owned() };
    world.step(&about(A1, AttemptReport::ToolRefused { call, why: String::new(), judged }));
    let told = world.told();
    let said = "their yes was for what they saw: not that: command rule `ls`";
    assert!(told.contains(said), "{told}");
}

/// The same call may be asked about by another rule later, where a link leads elsewhere.
#[test]
fn leave_by_one_rule_is_none_where_another_one_asks() {
    let ask = |world: &mut World, id: &str, line: usize| {
        let call = Box::new(Call::new(id, "bash", &serde_json::json!({"command": "cat x"}), &[]));
        let judged = Judgement::Ask { rule: rule("x", line), why: "look".to_owned() };
        world.step(&about(A1, AttemptReport::ToolCalled { call, judged }))
    };
    for scope in [GrantScope::Phase, GrantScope::Run] {
        let mut world = begun(ONE);
        assert_eq!(ask(&mut world, "c1", 1), Answer::Waits);
        world.step(&person(approve(1, scope)));
        assert_eq!(ask(&mut world, "c2", 1), allowed(), "{scope:?}");
        assert_eq!(ask(&mut world, "c3", 2), Answer::Waits, "{scope:?}");
        world.step(&person(approve(2, scope)));
        assert_eq!(ask(&mut world, "c4", 2), allowed(), "{scope:?}");
        assert_eq!(ask(&mut world, "c5", 1), allowed(), "{scope:?}");
    }
}

#[test]
fn leave_for_a_call_in_one_folder_is_none_for_it_in_another() {
    let input = serde_json::json!({"command": "rm -r build"});
    let call = |id: &str| Call::new(id, "bash", &input, &[]);
    let ask = |world: &mut World, call: Call| {
        let report = AttemptReport::ToolCalled { call: Box::new(call), judged: asks() };
        world.step(&about(A1, report))
    };
    for scope in [GrantScope::Phase, GrantScope::Run] {
        let mut world = begun(ONE);
        assert_eq!(ask(&mut world, call("c1")), Answer::Waits);
        world.step(&person(approve(1, scope)));
        assert_eq!(ask(&mut world, call("c2")), allowed(), "{scope:?}");
        assert_eq!(ask(&mut world, call("c3").at("sub")), Answer::Waits, "{scope:?}");
        let about = &world.state.gate(GateId(2)).unwrap().opened.about;
        assert!(about.contains("rm -r build, in `sub`"), "{about}");
        world.step(&person(approve(2, scope)));
        assert_eq!(ask(&mut world, call("c4").at("sub")), allowed());
        assert_eq!(ask(&mut world, call("c5").at("sub/sub")), Answer::Waits);
    }
}

#[test]
fn a_worker_cannot_fill_the_screen_with_calls_that_wait() {
    let mut world = begun(ONE);
    for number in 0..8 {
        assert_eq!(held(&mut world, A1, &format!("c{number}"), &number.to_string()), Answer::Waits);
    }
    let more = held(&mut world, A1, "c8", "8");
    assert_eq!(
        denied(&more),
        "8 of your calls wait for a person's leave: wait for their answers first"
    );
    assert_eq!(world.state.gates.len(), 8);
}

#[test]
fn each_call_waits_as_long_as_the_limit_says() {
    let workflow = "{name: A, phases: {work: {limits: {ask: 2m}}}}";
    let mut world = begun(workflow);
    held(&mut world, A1, "c1", "a");
    let mut later = about(A1, judged("c2", "rm b", asks()));
    later.at.0 += 50_000;
    world.step(&later);
    assert_eq!(timers(&world), [(TimerKind::Ask, 70_000)], "of the one that waits longest");
    let mut fired = report(Report::TimerFired { attempt: A1, timer: TimerKind::Ask });
    fired.at.0 += 120_000;
    world.step(&fired);
    assert_eq!(timers(&world), [(TimerKind::Ask, 50_000)], "the other one has its own time");
    let none = "{name: A, phases: {work: {limits: {ask: none, timeout: none, standstill: none}}}}";
    let mut world = begun(none);
    held(&mut world, A1, "c1", "a");
    assert_eq!(timers(&world), []);
}

#[test]
fn our_own_tools_need_no_leave() {
    let mut world = begun(ONE);
    let call = Call::new("c1", "workflow_status", &serde_json::Value::Null, &[]);
    let report = AttemptReport::ToolCalled { call: Box::new(call), judged: asks() };
    assert_eq!(world.step(&about(A1, report)), allowed());
}
