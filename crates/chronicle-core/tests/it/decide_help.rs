//! Decisions about help: who waits for whom, how it comes back, and what people do when it does not.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::definition::persona::Persona;
use chronicle_core::engine;
use chronicle_core::event::input::{Answer, AttemptReport, Command, EndSeen};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::{Break, FollowUp};
use chronicle_core::state::Status;
use expect_test::expect;

use crate::decide::check;
use crate::world::{World, about, person, signal, start, workflows};

const WORKFLOW: &str = "
name: Helped
phases:
  build: {persona: codeweaver, next: [check]}
  check: {persona: lawbringer, tools: {allow: [read]}, followups: [Mender], next: [done]}
";

#[test]
fn help_is_given_and_the_asker_goes_on_in_its_session() {
    let world = check(
        WORKFLOW,
        "build: usage 5; help mender; go check
         build@mender: file a.rs; complete
         check: go done",
        expect![[r#"
            run started: `Helped` on "the task"
              workflow `main` entered
              phase `build` entered
              a1 started at `build` (scripted)
            a1 reported 5 tokens
            a1 ends its turn: asks `mender` for help: "it is broken"
            a1 ended
              `mender` helps at `build`: "it is broken"
              a2 started at `build` as `mender` (scripted): helps `codeweaver`
            a2 changed `a.rs`
            a2 ends its turn: has helped: "did it"
            a2 ended
              `mender` has helped at `build`: "did it"
              a3 resumed at `build` (scripted): `mender` has helped
            a3 leaves for `check`: "did it"
            a3 ended
              `build` left for `check`
              phase `check` entered
              a4 started at `check` (scripted)
            a4 leaves for `done`: "did it"
            a4 ended
              `check` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
    assert_eq!(world.state.status(), Status::Done);
    let attempts: Vec<_> = world.state.attempts.iter().map(|it| it.intent.clone()).collect();
    assert_eq!(attempts[0].session, attempts[2].session);
    assert_ne!(attempts[0].session, attempts[1].session);
    assert_eq!((attempts[0].try_number, attempts[1].try_number, attempts[2].try_number), (1, 2, 1));
}

#[test]
fn without_resume_the_phase_is_done_when_the_help_is() {
    check(
        WORKFLOW,
        "build: replace mender
         build@mender: complete
         check: go done",
        expect![[r#"
            run started: `Helped` on "the task"
              workflow `main` entered
              phase `build` entered
              a1 started at `build` (scripted)
            a1 ends its turn: asks `mender` for help: "it is broken"
            a1 ended
              `mender` helps at `build`: "it is broken"
              a2 started at `build` as `mender` (scripted): helps `codeweaver`
            a2 ends its turn: has helped: "did it"
            a2 ended
              `mender` has helped at `build`: "did it"
              `build` left for `check`
              phase `check` entered
              a3 started at `check` (scripted)
            a3 leaves for `done`: "did it"
            a3 ended
              `check` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn help_within_help_comes_back_in_order_and_too_much_of_it_needs_a_person() {
    check(
        "{name: Deep, phases: {build: {limits: {depth: 2}}}}",
        "build: help a; go done
         build@a: help b; complete
         build@b: help c; complete
         g1: skip do it yourself",
        expect![[r#"
            run started: `Deep` on "the task"
              workflow `main` entered
              phase `build` entered
              a1 started at `build` (scripted)
            a1 ends its turn: asks `a` for help: "it is broken"
            a1 ended
              `a` helps at `build`: "it is broken"
              a2 started at `build` as `a` (scripted): helps `build`
            a2 ends its turn: asks `b` for help: "it is broken"
            a2 ended
              `b` helps at `build`: "it is broken"
              a3 started at `build` as `b` (scripted): helps `a`
            a3 ends its turn: asks `c` for help: "it is broken"
            a3 ended
              g1 waits at `build` for intervention: `build` → `a` → `b` → `c` would nest help deeper than 2 levels: "it is broken"
            g1 answered with `skip` by ann: "do it yourself"
              a4 resumed at `build` as `b` (scripted): `c` has helped
            a4 ends its turn: has helped: "did it"
            a4 ended
              `b` has helped at `build`: "did it"
              a5 resumed at `build` as `a` (scripted): `b` has helped
            a5 ends its turn: has helped: "did it"
            a5 ended
              `a` has helped at `build`: "did it"
              a6 resumed at `build` (scripted): `a` has helped
            a6 leaves for `done`: "did it"
            a6 ended
              `build` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn a_worker_can_ask_known_helpers_but_not_one_that_waits_for_it() {
    let mut world = World::started(WORKFLOW, "");
    let mut help = |request: &str, persona: &str, resume| {
        let (persona, reason, context) = (persona.to_owned(), "r".to_owned(), "c".to_owned());
        let wanted = FollowUp { persona, reason, context, resume };
        match world.step(&signal(AttemptId(1), request, Signal::Break(Break::FollowUp(wanted)))) {
            Answer::Refused(why) => why,
            other => format!("{other:?}"),
        }
    };
    expect!["`CodeWeaver` waits for you already (`codeweaver`): do it yourself, ask somebody else, or ask a person with `needs-user-input`"].assert_eq(&help("r1", "CodeWeaver", true));
    expect!["`build` waits for you already (`codeweaver`): do it yourself, ask somebody else, or ask a person with `needs-user-input`"].assert_eq(&help("r2", "build", true));
    let mut world = World::started(
        "{name: F, phases: {work: {followups: [mender], next: [a, b]}, a: {}, b: {}}}",
        "",
    );
    let mut help = |request: &str, persona: &str, resume| {
        let (persona, reason, context) = (persona.to_owned(), "r".to_owned(), "c".to_owned());
        let wanted = FollowUp { persona, reason, context, resume };
        match world.step(&signal(AttemptId(1), request, Signal::Break(Break::FollowUp(wanted)))) {
            Answer::Refused(why) => why,
            other => format!("{other:?}"),
        }
    };
    expect!["`work` may not ask `pathseeker` for help; it may ask `mender`"].assert_eq(&help(
        "r1",
        "pathseeker",
        true,
    ));
    expect!["with `resume: false` the phase is done afterwards, but `work` has several ways on: name a target; allowed: `a`, `b`; say `resume: true`"].assert_eq(&help("r2", "mender", false));
    expect![[
        r#"Accepted("accepted: `mender` is asked, and you continue afterwards. End your turn now.")"#
    ]]
    .assert_eq(&help("r3", "mender", true));
}

#[test]
fn help_that_cannot_go_on_is_tried_again_skipped_or_left() {
    for (answer, expected) in [
        (
            "retry",
            expect![[r#"
            run started: `Helped` on "the task"
              workflow `main` entered
              phase `build` entered
              a1 started at `build` (scripted)
            a1 ends its turn: asks `mender` for help: "it is broken"
            a1 ended
              `mender` helps at `build`: "it is broken"
              a2 started at `build` as `mender` (scripted): helps `codeweaver`
            a2 is not signed in
              g1 waits at `build` for intervention: `build` cannot continue: the helper `mender` is not signed in
            g1 answered with `retry` by ann
              a3 started at `build` as `mender` (scripted): asked for
            a3 ends its turn: has helped: "did it"
            a3 ended
              `mender` has helped at `build`: "did it"
              a4 resumed at `build` (scripted): `mender` has helped
            a4 leaves for `check`: "did it"
            a4 ended
              `build` left for `check`
              phase `check` entered
              a5 started at `check` (scripted)
            a5 leaves for `done`: "did it"
            a5 ended
              `check` done, workflow complete
              the workflow ended
              run done
        "#]],
        ),
        (
            "skip not needed",
            expect![[r#"
                run started: `Helped` on "the task"
                  workflow `main` entered
                  phase `build` entered
                  a1 started at `build` (scripted)
                a1 ends its turn: asks `mender` for help: "it is broken"
                a1 ended
                  `mender` helps at `build`: "it is broken"
                  a2 started at `build` as `mender` (scripted): helps `codeweaver`
                a2 is not signed in
                  g1 waits at `build` for intervention: `build` cannot continue: the helper `mender` is not signed in
                g1 answered with `skip` by ann: "not needed"
                  `mender` is not needed at `build` (skipped): "not needed"
                  a3 resumed at `build` (scripted): `mender` has helped
                a3 leaves for `check`: "did it"
                a3 ended
                  `build` left for `check`
                  phase `check` entered
                  a4 started at `check` (scripted)
                a4 leaves for `done`: "did it"
                a4 ended
                  `check` done, workflow complete
                  the workflow ended
                  run done
            "#]],
        ),
        (
            "go check",
            expect![[r#"
                run started: `Helped` on "the task"
                  workflow `main` entered
                  phase `build` entered
                  a1 started at `build` (scripted)
                a1 ends its turn: asks `mender` for help: "it is broken"
                a1 ended
                  `mender` helps at `build`: "it is broken"
                  a2 started at `build` as `mender` (scripted): helps `codeweaver`
                a2 is not signed in
                  g1 waits at `build` for intervention: `build` cannot continue: the helper `mender` is not signed in
                g1 answered with `go check` by ann
                  `build` left for `check` (skipped) by a person
                  phase `check` entered
                  a3 started at `check` (scripted)
                a3 leaves for `done`: "did it"
                a3 ended
                  `check` done, workflow complete
                  the workflow ended
                  run done
            "#]],
        ),
    ] {
        let script = format!(
            "build: help mender; go check
             build@mender 2: auth
             build@mender: complete
             check: go done
             g1: {answer}"
        );
        check(WORKFLOW, &script, expected);
    }
}

#[test]
fn help_may_be_continued_and_may_ask() {
    let world = check(
        WORKFLOW,
        "build: help mender; go check
         build@mender 2: continue at the tests
         build@mender 3: need which tests?; complete
         check: go done
         g1: answer all of them",
        expect![[r#"
            run started: `Helped` on "the task"
              workflow `main` entered
              phase `build` entered
              a1 started at `build` (scripted)
            a1 ends its turn: asks `mender` for help: "it is broken"
            a1 ended
              `mender` helps at `build`: "it is broken"
              a2 started at `build` as `mender` (scripted): helps `codeweaver`
            a2 ends its turn: to be continued: "at the tests"
            a2 ended
              a3 started at `build` as `mender` (scripted): continues: "at the tests"
            a3 ends its turn: asks: "which tests?"
            a3 ended
              g1 waits at `build` for an answer: which tests?
            g1 answered "all of them" by ann
              a4 resumed at `build` as `mender` (scripted): g1 was answered
            a4 ends its turn: has helped: "did it"
            a4 ended
              `mender` has helped at `build`: "did it"
              a5 resumed at `build` (scripted): `mender` has helped
            a5 leaves for `check`: "did it"
            a5 ended
              `build` left for `check`
              phase `check` entered
              a6 started at `check` (scripted)
            a6 leaves for `done`: "did it"
            a6 ended
              `check` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
    assert_eq!(world.state.status(), Status::Done);
}

#[test]
fn a_session_that_repeats_a_finished_request_is_told_so() {
    let mut world = World::started(WORKFLOW, "build: help mender; hang\nbuild@mender: complete");
    while world.state.attempts.len() < 3 {
        assert!(world.one_move(), "{}", world.told());
    }
    let wanted = FollowUp {
        persona: "mender".to_owned(),
        reason: "it is broken".to_owned(),
        context: "all of it".to_owned(),
        resume: true,
    };
    let again = |request: &str| {
        signal(AttemptId(3), request, Signal::Break(Break::FollowUp(wanted.clone())))
    };
    let answer = world.step(&again("r0"));
    assert_eq!(answer, Answer::Accepted(chronicle_core::event::signal::ALREADY.to_owned()));
    assert!(world.state.attempt(AttemptId(3)).is_some_and(|attempt| !attempt.is_leaving()));
    // An agent may count its calls anew: under the same id, another call is another one.
    let other = FollowUp { persona: "seeker".to_owned(), ..wanted.clone() };
    let other = signal(AttemptId(3), "r0", Signal::Break(Break::FollowUp(other)));
    let answer = engine::step(&world.state, &other).answer;
    assert!(matches!(answer, Answer::Accepted(text) if text.contains("`seeker` is asked")));
    assert!(
        matches!(world.step(&again("r7")), Answer::Accepted(text) if text.starts_with("accepted"))
    );
}

/// The order for a helper that the first worker asks for: its persona's text, and the tools it may use.
fn order_for(helper: &str) -> (Option<String>, Option<Vec<String>>, bool) {
    let workflow = "{name: H, phases: {look: {tools: {allow: [read]}, next: [build]}, \
                    build: {persona: mason, next: [paint]}, \
                    paint: {persona: You paint with great care., tools: {allow: [edit]}}}}";
    let mut started = start(workflows(workflow));
    let (name, prompt) = ("mason".to_owned(), "You lay bricks.".to_owned());
    started.personas = vec![Persona { name, prompt, isolated: true, ..Persona::default() }];
    let mut world = World::new("");
    world.step(&person(Command::Start(Box::new(started))));
    let (persona, reason, context) = (helper.to_owned(), "r".to_owned(), "c".to_owned());
    let wanted = Break::FollowUp(FollowUp { persona, reason, context, resume: true });
    let answer = world.step(&signal(AttemptId(1), "r1", Signal::Break(wanted)));
    assert!(matches!(answer, Answer::Accepted(_)), "{helper}: {answer:?}");
    world.step(&about(
        AttemptId(1),
        AttemptReport::Ended(EndSeen { finished: true, ..EndSeen::default() }),
    ));
    let Some(work) = engine::work::work(&world.state, AttemptId(2)) else { panic!("{helper}") };
    (work.persona, work.tools.allow, work.isolated)
}

#[test]
fn a_helper_brings_its_own_persona_and_is_no_way_round_a_list() {
    let reads = Some(vec!["read".to_owned()]);
    let bricks = Some("You lay bricks.".to_owned());
    // By its persona or by its phase: the same worker. It says nothing of tools, so it gets those of whoever asks.
    assert_eq!(order_for("mason"), (bricks.clone(), reads.clone(), true));
    assert_eq!(order_for("build"), (bricks, reads, true));
    let paints = Some("You paint with great care.".to_owned());
    assert_eq!(order_for("paint"), (paints, Some(vec!["edit".to_owned()]), false));
}
