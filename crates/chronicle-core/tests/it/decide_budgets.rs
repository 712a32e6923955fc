//! Decisions about budgets: who may begin, who is ended in mid-turn, and what a person's word changes.

use chronicle_core::base::ids::{AttemptId, GateId, Place};
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::definition::workflow::Budget;
use chronicle_core::event::input::{Answer, AttemptReport, Command, EndSeen, Report, TimerKind};
use chronicle_core::event::trees::Moment;
use chronicle_core::event::{End, Event, GateKind, StopCause};
use chronicle_core::state::Status;
use chronicle_core::state::budget::all_balances;
use chronicle_core::state::effect::Action;
use chronicle_core::{view, words};
use expect_test::expect;
use proptest::prelude::*;

use crate::decide::check;
use crate::world::{World, about, person, report, tree};

const TOKENS: &str = "{name: T, budget: {tokens: 100}, phases: {plan: {next: [build]}, build: {}}}";

#[test]
fn a_worker_over_its_budget_is_ended_in_mid_turn_and_goes_on_in_its_session_when_it_is_raised() {
    let world = check(
        TOKENS,
        "plan: usage 79; usage 5; usage 30; go build
         build: usage 10; go done
         g1: budget 50 tokens",
        expect![[r#"
            run started: `T` on "the task"
              workflow `main` entered
              phase `plan` entered
              a1 started at `plan` (scripted)
            a1 reported 79 tokens
            a1 reported 5 tokens
              84 % of the run's budget is spent: 84 tokens of 100 tokens
            a1 reported 30 tokens
              a1 is being stopped: its budget allows no more work
            a1 was stopped: its budget allows no more work
              g1 waits at `plan` for a budget: the run's budget is used up: 114 tokens of 100 tokens
            the run's budget raised by 50 tokens by ann
              g1 cleared by ann
              a2 resumed at `plan` (scripted): the budget allows it
            a2 leaves for `build`: "did it"
            a2 ended
              `plan` left for `build`
              phase `build` entered
              a3 started at `build` (scripted)
            a3 reported 10 tokens
              82 % of the run's budget is spent: 124 tokens of 150 tokens
            a3 leaves for `done`: "did it"
            a3 ended
              `build` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
    assert_eq!(world.state.status(), Status::Done);
    let attempts: Vec<_> = world.state.attempts.iter().map(|it| it.intent.clone()).collect();
    assert_eq!(attempts[0].session, attempts[1].session, "the same session");
    assert_eq!(attempts[1].try_number, 1, "the same try");
    assert!(attempts[1].resume);
}

#[test]
fn a_phase_whose_budget_is_used_up_does_not_start() {
    let world = check(
        "{name: P, phases: {plan: {next: [build]}, build: {budget: {tokens: 10, attempts: 1}, next: [plan, done]}}}",
        "plan: usage 500; go build
         build: usage 10; go plan
         g1: budget 5 tokens
         g2: budget 1 attempts",
        expect![[r#"
            run started: `P` on "the task"
              workflow `main` entered
              phase `plan` entered
              a1 started at `plan` (scripted)
            a1 reported 500 tokens
            a1 leaves for `build`: "did it"
            a1 ended
              `plan` left for `build`
              phase `build` entered
              a2 started at `build` (scripted)
            a2 reported 10 tokens
              a2 is being stopped: its budget allows no more work
            a2 was stopped: its budget allows no more work
              g1 waits at `build` for a budget: the budget of `build` is used up: 10 tokens of 10 tokens
            the budget of `build` raised by 5 tokens by ann
              g1 cleared by ann
              a3 resumed at `build` (scripted): the budget allows it
            a3 leaves for `plan`: "did it"
            a3 ended
              `build` left for `plan`
              phase `plan` entered
              a4 started at `plan` (scripted)
            a4 reported 500 tokens
            a4 leaves for `build`: "did it"
            a4 ended
              `plan` left for `build`
              phase `build` entered
              g2 waits at `build` for a budget: the budget of `build` is used up: 1 attempt of 1 attempt
            the budget of `build` raised by 1 attempt by ann
              g2 cleared by ann
              a5 started at `build` (scripted)
            a5 reported 10 tokens
              a5 is being stopped: its budget allows no more work
            a5 was stopped: its budget allows no more work
              g3 waits at `build` for a budget: the budget of `build` is used up: 20 tokens of 15 tokens
        "#]],
    );
    assert_eq!(world.state.status(), Status::Waiting);
}

#[test]
fn a_phase_with_a_workflow_inside_holds_all_of_it_to_its_budget() {
    check(
        "{name: O, phases: {in: {run: workflow, workflow: i, budget: {tokens: 50}, next: [ship]}, ship: {}}}
=== i
{name: I, budget: {tokens: 40}, phases: {look: {next: [judge]}, judge: {}}}",
        "in/look: usage 30; go judge
         in/judge: usage 10; usage 15; go done
         ship: usage 1000; go done
         g1: budget 100 tokens
         g2: budget 100 tokens",
        expect![[r#"
            run started: `O` on "the task"
              workflow `main` entered
              phase `in` entered
              workflow `i` entered
              phase `in/look` entered
              a1 started at `in/look` (scripted)
            a1 reported 30 tokens
            a1 leaves for `judge`: "did it"
            a1 ended
              `in/look` left for `in/judge`
              phase `in/judge` entered
              a2 started at `in/judge` (scripted)
            a2 reported 10 tokens
              80 % of the budget of `in` is spent: 40 tokens of 50 tokens
              a2 is being stopped: its budget allows no more work
            a2 was stopped: its budget allows no more work
              g1 waits at `in/judge` for a budget: the budget of the workflow in `in` is used up: 40 tokens of 40 tokens
            the budget of the workflow in `in` raised by 100 tokens by ann
              g1 cleared by ann
              a3 resumed at `in/judge` (scripted): the budget allows it
            a3 reported 15 tokens
              a3 is being stopped: its budget allows no more work
            a3 was stopped: its budget allows no more work
              g2 waits at `in/judge` for a budget: the budget of `in` is used up: 55 tokens of 50 tokens
            the budget of `in` raised by 100 tokens by ann
              g2 cleared by ann
              a4 resumed at `in/judge` (scripted): the budget allows it
            a4 leaves for `done`: "did it"
            a4 ended
              `in/judge` done, workflow complete
              the workflow in `in` ended
              `in` left for `ship`
              phase `ship` entered
              a5 started at `ship` (scripted)
            a5 reported 1,000 tokens
            a5 leaves for `done`: "did it"
            a5 ended
              `ship` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn a_raise_goes_to_the_limit_that_stopped_the_work_and_says_which() {
    let workflow = "{name: O, budget: {usd: 1}, phases: {in: {run: workflow, workflow: i, budget: {tokens: 50}}}}
=== i
{name: I, budget: {tokens: 40, attempts: 9}, phases: {look: {}}}";
    let tell = |more: &Budget, place: Option<&str>| {
        let mut world = World::started(workflow, "in/look: usage 45; go done").play();
        let place = place.map(Place::new);
        let answer = world.step(&person(Command::Budget { more: more.clone(), place }));
        let rows: Vec<String> = all_balances(&world.state)
            .iter()
            .map(|of| format!("{} {:?}", of.limit, of.place))
            .collect();
        match answer {
            Answer::Refused(text) | Answer::Accepted(text) => {
                format!("{text}\n  {}", rows.join(" "))
            }
            other => panic!("{other:?}"),
        }
    };
    let tokens = Budget { tokens: Some(100), ..Budget::default() };
    let usd = Budget { usd_micros: Some(1), ..Budget::default() };
    let attempts = Budget { attempts: Some(1), ..Budget::default() };
    let told = [
        tell(&tokens, None),
        tell(&tokens, Some("in/")),
        tell(&tokens, Some("in")),
        tell(&usd, None),
        tell(&attempts, Some("in/")),
        tell(&usd, Some("in/")),
    ];
    expect![[r#"
        the budget of the workflow in `in` raised by 100 tokens
          1000000 None 50 Some(Place("in")) 9 Some(Place("in")) 140 Some(Place("in/"))
        the budget of the workflow in `in` raised by 100 tokens
          1000000 None 50 Some(Place("in")) 9 Some(Place("in")) 140 Some(Place("in/"))
        the budget of `in` raised by 100 tokens, and that of the workflow in it
          1000000 None 150 Some(Place("in")) 9 Some(Place("in")) 140 Some(Place("in/"))
        the run's budget raised by $0.000001; still, the budget of the workflow in `in` is used up: 45 tokens of 40 tokens
          1000001 None 50 Some(Place("in")) 9 Some(Place("in")) 40 Some(Place("in/"))
        the budget of `in` raised by 1 attempt; still, the budget of the workflow in `in` is used up: 45 tokens of 40 tokens
          1000000 None 50 Some(Place("in")) 10 Some(Place("in")) 40 Some(Place("in/"))
        `in` has no limit on dollars that could be raised
          1000000 None 50 Some(Place("in")) 9 Some(Place("in")) 40 Some(Place("in/"))
    "#]]
    .assert_eq(&(told.join("\n") + "\n"));
}

#[test]
fn work_without_a_price_needs_approval_under_a_limit_in_dollars() {
    let world = check(
        "{name: U, budget: {usd: 1}, phases: {plan: {next: [build]}, build: {}}}",
        "plan: costs 10; unpriced 5; go build
         build: unpriced 5; go done
         g1: approve",
        expect![[r#"
            run started: `U` on "the task"
              workflow `main` entered
              phase `plan` entered
              a1 started at `plan` (scripted)
            a1 reported 0 tokens, $0.00001
            a1 reported 5 tokens, cost unknown
              a1 is being stopped: its budget allows no more work
            a1 was stopped: its budget allows no more work
              g1 waits at `plan` for approval: the run's budget is $1.00, and the price of `scripted` is unknown: may it work anyway?
            ann accepted unpriced work under the run's budget
              g1 cleared by ann
              a2 resumed at `plan` (scripted): the budget allows it
            a2 leaves for `build`: "did it"
            a2 ended
              `plan` left for `build`
              phase `build` entered
              a3 started at `build` (scripted)
            a3 reported 5 tokens, cost unknown
            a3 leaves for `done`: "did it"
            a3 ended
              `build` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
    assert_eq!(world.state.status(), Status::Done, "one word holds for the whole account");
}

#[test]
fn dollars_are_counted_to_the_millionth() {
    check(
        "{name: U, budget: {usd: 0.5}, phases: {plan: {}}}",
        "plan: costs 399999; costs 1; costs 99999; costs 1; go done",
        expect![[r#"
            run started: `U` on "the task"
              workflow `main` entered
              phase `plan` entered
              a1 started at `plan` (scripted)
            a1 reported 0 tokens, $0.40
            a1 reported 0 tokens, $0.000001
              80 % of the run's budget is spent: $0.40 of $0.50
            a1 reported 0 tokens, $0.10
            a1 reported 0 tokens, $0.000001
              a1 is being stopped: its budget allows no more work
            a1 was stopped: its budget allows no more work
              g1 waits at `plan` for a budget: the run's budget is used up: $0.50 of $0.50
        "#]],
    );
}

#[test]
fn time_is_counted_by_a_clock_that_fires_once() {
    let world = check(
        "{name: Z, budget: {time: 1m}, phases: {plan: {}}}",
        "plan: usage 1; time-over; go done
         g1: budget 1000 ms",
        expect![[r#"
            run started: `Z` on "the task"
              workflow `main` entered
              phase `plan` entered
              a1 started at `plan` (scripted)
            a1 reported 1 token
            a1 is being stopped: its budget allows no more work
            a1 was stopped: its budget allows no more work
              g1 waits at `plan` for a budget: the run's budget is used up: 1 min 00 s of 1 min 00 s
            the run's budget raised by 1.0 s by ann
              g1 cleared by ann
              98 % of the run's budget is spent: 1 min 00 s of 1 min 01 s
              a2 resumed at `plan` (scripted): the budget allows it
            a2 leaves for `done`: "did it"
            a2 ended
              `plan` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
    assert_eq!(world.state.active_ms(), 60_010, "the clock's minute, and what came after");
}

#[test]
fn a_signal_that_was_accepted_stands_even_if_its_turn_ends_over_the_budget() {
    let mut world = World::started(TOKENS, "plan: go build");
    while world.state.attempt(AttemptId(1)).unwrap().leave.is_none() {
        world.one_move();
    }
    let usage = Usage { input: 120, ..Usage::default() };
    world.step(&about(AttemptId(1), AttemptReport::Usage { scope: Scope::Turn, usage }));
    let world = world.play();
    let (end, _) = world.state.attempt(AttemptId(1)).unwrap().ended.clone().unwrap();
    assert_eq!(end, End::Left);
    let gate = world.state.open_gates().next().unwrap();
    assert_eq!((gate.opened.gate_kind, gate.opened.place.as_str()), (GateKind::Budget, "build"));
}

#[test]
fn only_a_budget_gate_can_be_raised_approved_or_retried() {
    let script = "plan: usage 100; go build";
    let at_gate = || World::started(TOKENS, script).play();
    let tell = |command| match at_gate().step(&person(command)) {
        Answer::Refused(text) | Answer::Accepted(text) => text,
        other => panic!("{other:?}"),
    };
    let more = |tokens| Budget { tokens: Some(tokens), ..Budget::default() };
    let budget = |more, place: Option<&str>| Command::Budget { more, place: place.map(Place::new) };
    let note = String::new;
    let gate = Some(GateId(1));
    let told = [
        tell(Command::Approve { gate, note: note(), scope: None }),
        tell(Command::Reject { gate, note: note() }),
        tell(Command::Retry { place: None, note: note(), agent: None, from: None }),
        tell(Command::Retry {
            place: None,
            note: note(),
            agent: Some("pi".to_owned()),
            from: None,
        }),
        tell(Command::Skip { place: None, note: note() }),
        tell(budget(more(0), None)),
        tell(budget(Budget { usd_micros: Some(1), ..Budget::default() }, None)),
        tell(budget(more(5), Some("build"))),
        tell(budget(more(1), None)),
    ];
    expect![[r#"
        g1 asks for a higher budget: `budget` raises it, `cancel` ends the run
        g1 asks for a higher budget: `budget` raises it, `cancel` ends the run
        g1 asks for a higher budget: `budget` raises it, `cancel` ends the run
        g1 asks for a higher budget: `budget` raises it, `cancel` ends the run
        g1 asks for a higher budget: `budget` raises it, `cancel` ends the run
        say how much more: `+50000 tokens`, `+2.50 usd`, `+30m`, `+3 attempts`
        the run has no limit on dollars that could be raised
        `build` has no limit on tokens that could be raised
        the run's budget raised by 1 token
    "#]]
    .assert_eq(&(told.join("\n") + "\n"));
    let mut low = World::started(
        "{name: L, budget: {tokens: 10}, phases: {plan: {}}}",
        "plan: usage 100; go done",
    )
    .play();
    let answer = low.step(&person(budget(more(5), None)));
    expect![[r#"Accepted("the run's budget raised by 5 tokens; still, the run's budget is used up: 100 tokens of 15 tokens")"#]].assert_eq(&format!("{answer:?}"));
    assert_eq!(low.state.status(), Status::Waiting, "five more do not help");
}

#[test]
fn a_used_up_budget_fails_a_run_started_with_on_gate_fail() {
    let mut world = World::new("plan: usage 100");
    let mut begin = crate::world::start(crate::world::workflows(TOKENS));
    begin.on_gate = Some(chronicle_core::event::OnGate::Fail);
    world.step(&person(Command::Start(Box::new(begin))));
    let world = world.play();
    assert_eq!(world.state.status(), Status::Failed);
    assert_eq!(
        world.state.failed.as_deref(),
        Some("g1 at `plan` needs a person: the run's budget is used up: 100 tokens of 100 tokens")
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever is reported, when and in whatever width: what is spent stays within the budget and one report.
    #[test]
    fn no_more_is_spent_than_the_budget_and_one_report(
        reports in prop::collection::vec((0u64..60, 0u8..6), 1..40),
        limit in 1u64..200,
        raises in prop::collection::vec(1u64..50, 0..4),
    ) {
        let workflow = format!("{{name: P, budget: {{tokens: {limit}}}, phases: {{plan: {{}}}}}}");
        let mut world = World::started(&workflow, "");
        let (mut allowed, mut largest, mut raises) = (limit, 0, raises.into_iter());
        for (index, (input, kind)) in reports.into_iter().enumerate() {
            let working = world.state.live_attempts().next().map(|it| it.intent.attempt);
            if let Some(attempt) = working {
                prop_assert!(world.state.attempt(attempt).unwrap().stop.is_none());
                let scope = if kind == 0 { Scope::Turn } else { Scope::Message(format!("m{index}")) };
                let usage = Usage { input, ..Usage::default() };
                largest = largest.max(input);
                world.step(&about(attempt, AttemptReport::Usage { scope, usage }));
                // Its supervisor dies, now and then.
                if kind == 1 {
                    world = world.killed_after(world.lines.len()).recovered();
                }
            } else if let Some(more) = raises.next() {
                allowed += more;
                let more = Budget { tokens: Some(more), ..Budget::default() };
                world.step(&person(Command::Budget { place: None, more }));
            }
            let stop = world.state.live_attempts().find_map(|it| it.stop);
            if stop.is_some() {
                prop_assert_eq!(stop, Some(StopCause::Budget));
                world.one_move();
            }
            prop_assert!(world.state.usage.tokens() <= allowed + largest);
            let works = !world.state.live.is_empty();
            prop_assert_eq!(works, world.state.usage.tokens() < allowed, "{}", world.told());
        }
        let warnings = world.lines.iter().flat_map(|line| &line.events);
        let warnings = warnings.filter(|event| matches!(event, Event::BudgetWarned(_))).count();
        prop_assert!(warnings <= 5, "once per limit: {}", world.told());
    }
}

#[test]
fn time_before_a_loss_counts_for_timeout_and_budget() {
    let workflow = "{name: T, budget: {time: 10m}, phases: {dig: {limits: {timeout: 5m}}}}";
    let left = |world: &World, kind: TimerKind| {
        world.state.due().into_iter().find_map(|effect| match effect.action {
            Action::RunTimer { timer, active_ms, .. } if timer == kind => Some(active_ms),
            _ => None,
        })
    };
    let seen = || AttemptReport::Ended(EndSeen { lost: true, ..EndSeen::default() });
    let usage = AttemptReport::Usage { scope: Scope::Turn, usage: Usage::default() };
    let at = |active_ms, what| report(Report::Attempt { attempt: AttemptId(1), active_ms, what });
    // Told by whoever finds it lost, or reported while it worked: the longer time holds.
    for reports in [vec![at(60_000, seen())], vec![at(60_000, usage), at(0, seen())]] {
        let mut world = World::started(workflow, "");
        world.one_move();
        for input in reports {
            world.step(&input);
        }
        world.step(&tree(Moment::After(AttemptId(1)), &[]));
        assert_eq!(left(&world, TimerKind::Timeout), Some(4 * 60_000), "{}", world.told());
        assert_eq!(left(&world, TimerKind::Budget), Some(9 * 60_000), "{}", world.told());
    }
}

/// What Chronicle estimates while an agent works is replaced by the agent's own price: nothing stays "about".
#[test]
fn an_estimate_leaves_no_trace_once_the_agent_has_said_its_price() {
    let mut world = World::started("{name: A, phases: {plan: {}}}", "");
    let mut spend = |scope, usage| {
        world.step(&about(AttemptId(1), AttemptReport::Usage { scope, usage }));
        let usage = world.state.usage;
        (words::spent(&usage), world.state.tally(&Place::new("plan")).unwrap().usage == usage)
    };
    let part =
        |input, usd_micros, estimated| Usage { input, usd_micros, estimated, ..Usage::default() };
    let message = |id: &str| Scope::Message(id.to_owned());
    assert_eq!(
        spend(message("m1"), part(100, 900_000, true)),
        ("100 tokens, about $0.90".to_owned(), true)
    );
    assert_eq!(
        spend(message("m2"), part(50, 400_000, true)),
        ("150 tokens, about $1.30".to_owned(), true)
    );
    assert_eq!(
        spend(Scope::Session, part(150, 1_100_000, false)),
        ("150 tokens, $1.10".to_owned(), true)
    );
}

/// A run over its limit of 100 tokens, whose worker is being stopped.
fn over() -> World {
    let mut world = World::started(TOKENS, "");
    spend(&mut world, "m1", 300);
    assert_eq!(world.state.live_attempts().next().unwrap().stop, Some(StopCause::Budget));
    world
}

fn spend(world: &mut World, message: &str, input: u64) {
    let (scope, usage) = (Scope::Message(message.to_owned()), Usage { input, ..Usage::default() });
    world.step(&about(AttemptId(1), AttemptReport::Usage { scope, usage }));
}

fn stop(world: &mut World) {
    let seen = EndSeen { stopped: true, ..EndSeen::default() };
    world.step(&about(AttemptId(1), AttemptReport::Ended(seen)));
    world.step(&tree(Moment::After(AttemptId(1)), &[]));
}

#[test]
fn what_is_reported_while_a_worker_is_being_stopped_is_counted_and_shown() {
    let mut world = over();
    spend(&mut world, "m2", 500);
    stop(&mut world);
    assert_eq!(world.state.usage.tokens(), 800);
    let view = view::run(&world.state, false).unwrap();
    assert_eq!(view.spent.tokens, 800);
    assert_eq!(
        view.needs_you[0].about,
        "the run's budget is used up: 800 tokens of 100 tokens",
        "{}",
        world.told()
    );
}

#[test]
fn a_raise_that_is_too_small_leaves_the_gate_open_with_the_new_limit() {
    let mut world = over();
    stop(&mut world);
    let more = Budget { tokens: Some(10), ..Budget::default() };
    world.step(&person(Command::Budget { place: None, more }));
    assert!(world.state.live.is_empty(), "{}", world.told());
    let gate = view::run(&world.state, false).unwrap().needs_you.remove(0);
    assert_eq!(gate.about, "the run's budget is used up: 300 tokens of 110 tokens");
    let needs = gate.needs.unwrap();
    assert!(needs.starts_with("it is 190 tokens over: only a larger raise"), "{needs}");
}
