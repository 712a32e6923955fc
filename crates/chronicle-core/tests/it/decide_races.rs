//! Races: several workers do the same, one result is chosen, and only that one is merged.

use chronicle_core::base::ids::{AttemptId, Place, StepId};
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::event::pool::{RaceJudge, StepEnd};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::{Event, Issues};
use chronicle_core::state::{State, Status, StepStage};
use expect_test::expect;

use crate::decide::check;
use crate::decide_pools::{give_up, retry, skip, stands, turns, until};
use crate::world::{World, person, signal};

/// Two racers; who judges is filled in.
fn race(judge: &str) -> String {
    format!(
        "{{name: Race, phases: [{{id: build, run: race, {judge}workers: [{{id: a, agent: x}}, {{id: b, agent: y}}], \
         next: [ship]}}, {{id: ship, next: [done]}}, {{id: pick, next: [done]}}]}}"
    )
}

const BOTH: &str = "build/a/work: usage 2; go done\nbuild/b/work: usage 3; go done\nship: go done";

fn by_person() -> String {
    race("")
}

fn by_commands() -> String {
    race("judge: {commands: [t]}, ")
}

fn by_phase() -> String {
    race("judge: pick, ")
}

/// Who won, and by whom.
fn decided(world: &World) -> Vec<(Option<String>, RaceJudge)> {
    let events = world.lines.iter().flat_map(|line| &line.events);
    let found = events.filter_map(|event| match event {
        Event::RaceDecided(it) => {
            Some((it.winner.as_ref().map(ToString::to_string), it.by.clone()))
        }
        _ => None,
    });
    found.collect()
}

/// The racers whose work was merged.
fn merged(world: &World) -> Vec<String> {
    let events = world.lines.iter().flat_map(|line| &line.events);
    let found = events.filter_map(|event| match event {
        Event::MergeWritten(it) if it.into.is_project() && it.late.is_empty() => Some(it.folder),
        _ => None,
    });
    let of = |folder| {
        let mut events = world.lines.iter().flat_map(|line| &line.events);
        events.find_map(|event| match event {
            Event::SlotTaken(it) if it.folder.number() == Some(folder) => Some(it.step.to_string()),
            _ => None,
        })
    };
    found.filter_map(of).collect()
}

fn answer(text: &str) -> Command {
    Command::Answer { gate: None, text: text.to_owned(), note: String::new() }
}

fn is_asked(state: &State) -> bool {
    state.open_gates().any(|gate| gate.opened.place == Place::new("build"))
}

fn refused(answer: Answer) -> String {
    if let Answer::Refused(why) = answer { why } else { panic!("{answer:?}") }
}

#[test]
fn a_person_chooses_among_those_that_finished() {
    let world = check(
        &by_person(),
        &format!("{BOTH}\nat build: answer b"),
        expect![[r#"
            run started: `Race` on "the task"
              workflow `main` entered
              phase `build` entered
              race `build` entered
              `build` has 2 workers: `a`, `b`
              `build/a` works in slot 1, in work folder 1
              `build/b` works in slot 2, in work folder 2
            work folder 1 made
              workflow `main.build.a` entered
              phase `build/a/work` entered
              a1 started at `build/a/work` (x)
            a1 reported 2 tokens
            a1 leaves for `done`: "did it"
            a1 ended
              `build/a/work` done, workflow complete
              the workflow in `build/a` ended
            work folder 2 made
              workflow `main.build.b` entered
              phase `build/b/work` entered
              a2 started at `build/b/work` (y)
            a2 reported 3 tokens
            a2 leaves for `done`: "did it"
            a2 ended
              `build/b/work` done, workflow complete
              the workflow in `build/b` ended
              g1 waits at `build` for an answer: whose work does `build` take? `none` takes nobody's
            g1 answered "b" by ann
              `build/b` wins, as ann says
              the work of `build/b` is being merged
            merging 0 files of folder 2
            the work in folder 2 is merged
              `build/a` lost, and its work is kept in tree 000000000000
              race `build` ended
              `build` left for `ship`
              phase `ship` entered
              a3 started at `ship` (scripted)
            a3 leaves for `done`: "did it"
            a3 ended
              `ship` done, workflow complete
              the workflow ended
              run done
            work folder 1 removed
            work folder 2 removed
        "#]],
    );
    assert_eq!(world.state.status(), Status::Done);
    assert_eq!(merged(&world), ["b"]);
    assert!(world.state.works.is_empty(), "{:?}", world.state.works);
    let settled = world.lines.iter().flat_map(|line| &line.events).find_map(|event| match event {
        Event::StepSettled(it) if it.how == StepEnd::Lost => Some(it.clone()),
        _ => None,
    });
    let settled = settled.expect("the other one is put away");
    assert_eq!(settled.step, StepId::from("a"));
    assert!(settled.tree.is_some(), "its work is kept");
}

#[test]
fn a_person_is_shown_every_racer_and_may_take_none() {
    let mut world = World::started(&by_person(), BOTH);
    until(&mut world, is_asked);
    let gate = world.state.open_gates().next().unwrap().opened.clone();
    assert_eq!(gate.options, ["a", "b", "none"]);
    assert!(gate.closed);
    for shown in ["a: x", "b: y", "2 tokens", "3 tokens", "/folders/w1", "did it"] {
        assert!(gate.context.contains(shown), "{shown} in {}", gate.context);
    }
    let mut none = world.clone();
    assert!(refused(none.step(&person(answer("c")))).contains("must be answered with one of"));
    none.step(&person(answer("none")));
    let none = none.play();
    assert_eq!(decided(&none), [(None, RaceJudge::Person("ann".to_owned()))]);
    assert_eq!(none.state.status(), Status::Waiting, "{}", none.told());
    assert_eq!(merged(&none), Vec::<String>::new());
    stands(
        &none,
        expect![[r#"
            build/a: given up
            build/b: given up
        "#]],
    );
}

#[test]
fn the_first_that_passes_is_taken_and_the_others_are_not_judged() {
    let script = format!("{BOTH}\nbuild/a/judge: run 0 1");
    let world = World::started(&by_commands(), &script).play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    assert_eq!(decided(&world), [(Some("b".to_owned()), RaceJudge::Commands)]);
    assert_eq!(merged(&world), ["b"]);
    let world = World::started(&by_commands(), BOTH).play();
    assert_eq!(decided(&world), [(Some("a".to_owned()), RaceJudge::Commands)]);
    let judged = world.state.visits.iter().filter(|it| it.place == Place::new("build/b/judge"));
    assert_eq!(judged.count(), 0, "{}", world.told());
}

#[test]
fn a_person_is_asked_if_commands_pass_for_none() {
    let script =
        format!("{BOTH}\nbuild/a/judge: run 0 1\nbuild/b/judge: run 0 1\nat build: answer a");
    let world = World::started(&by_commands(), &script).play();
    assert_eq!(decided(&world), [(Some("a".to_owned()), RaceJudge::Person("ann".to_owned()))]);
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
}

/// What keeps the commands from judging one racer says nothing of the others.
#[test]
fn commands_that_do_not_come_to_an_end_leave_the_race_to_the_next_one() {
    for broken in ["timeout", "crash x"] {
        let script = format!("{BOTH}\nbuild/a/judge: {broken}");
        let world = World::started(&by_commands(), &script).play();
        assert_eq!(world.state.status(), Status::Done, "{broken}: {}", world.told());
        assert_eq!(decided(&world), [(Some("b".to_owned()), RaceJudge::Commands)]);
        let told = world.told();
        assert!(told.contains("the judge did not finish, and so it does not pass"), "{told}");
    }
}

/// By these words a person chooses: they are not cut like a quotation.
#[test]
fn what_racers_say_is_shown_to_whoever_chooses() {
    let mut world = turns(&by_person(), BOTH);
    until(&mut world, |state| state.live.len() == 2);
    let summary = "word ".repeat(100);
    let leaves = Signal::Leave {
        target: Some("done".into()),
        outcome: None,
        summary: summary.clone(),
        task: None,
        issues: Issues::default(),
    };
    world.step(&signal(AttemptId(1), "long", leaves));
    until(&mut world, is_asked);
    let gate = world.state.open_gates().next().unwrap().opened.clone();
    assert_eq!(gate.about, "whose work does `build` take? `none` takes nobody's");
    assert!(gate.context.contains(&format!(" says: {}", summary.trim())), "{}", gate.context);
    let view = chronicle_core::view::run(&world.state, true).unwrap();
    assert!(view.line.ends_with("2 of 2 workers finished"), "{}", view.line);
}

#[test]
fn a_phase_chooses_by_its_outcome_or_target() {
    for said in ["complete b", "go b", "go done b"] {
        let script = format!("{BOTH}\nbuild/pick: {said}");
        let world = World::started(&by_phase(), &script).play();
        assert_eq!(world.state.status(), Status::Done, "{said}: {}", world.told());
        assert_eq!(decided(&world), [(Some("b".to_owned()), RaceJudge::Phase("pick".into()))]);
        assert_eq!(merged(&world), ["b"]);
    }
}

#[test]
fn a_phase_that_names_nobody_is_corrected() {
    let script = format!("{BOTH}\nbuild/pick: go done; go c; go a b; complete b");
    let world = World::started(&by_phase(), &script).play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    let refusals = world.answers.iter().filter(|it| matches!(it, Answer::Refused(_)));
    let refusals: Vec<String> = refusals.cloned().map(refused).collect();
    assert_eq!(refusals.len(), 3, "{refusals:?}");
    assert!(refusals.iter().all(|why| why.contains("one of `a`, `b`")), "{refusals:?}");
}

#[test]
fn a_person_is_asked_if_the_judge_gives_up_or_crashes() {
    for said in ["complete fail", "crash x"] {
        let script = format!("{BOTH}\nbuild/pick: {said}\nat build: answer a");
        let world = World::started(&by_phase(), &script).play();
        assert_eq!(world.state.status(), Status::Done, "{said}: {}", world.told());
        assert_eq!(decided(&world), [(Some("a".to_owned()), RaceJudge::Person("ann".to_owned()))]);
    }
}

#[test]
fn who_finishes_alone_wins_unless_commands_say_otherwise() {
    let script =
        "build/a/work: crash x\nat build/a/work: skip\nbuild/b/work: go done\nship: go done";
    let script = script.replace("crash x\nat build/a/work: skip", "go done");
    for judge in [by_person(), by_phase()] {
        let mut world = turns(&judge, &script);
        until(&mut world, |state| state.live.len() == 2);
        world.step(&person(give_up("build/a")));
        let world = world.play();
        assert_eq!(world.state.status(), Status::Done, "{}", world.told());
        assert_eq!(decided(&world), [(Some("b".to_owned()), RaceJudge::Alone)]);
        assert_eq!(merged(&world), ["b"]);
    }
    let mut world = turns(&by_commands(), &format!("{script}\nbuild/b/judge: run 0 1"));
    until(&mut world, |state| state.live.len() == 2);
    world.step(&person(give_up("build/a")));
    let world = world.play();
    assert!(is_asked(&world.state), "{}", world.told());
    assert_eq!(decided(&world), []);
}

#[test]
fn a_race_that_nobody_finishes_has_gaps() {
    let mut world = turns(&by_person(), BOTH);
    until(&mut world, |state| state.live.len() == 2);
    world.step(&person(give_up("build/a")));
    world.step(&person(skip("build/b")));
    let mut world = world.play();
    let gate = world.state.open_gates().next().unwrap().opened.clone();
    let told = "no work of `build` can be taken: `a` was given up; `b` was skipped";
    assert!(gate.about.contains(told), "{}", gate.about);
    // Tried again, it is a race again.
    world.step(&person(retry("build/a")));
    let world = world.play();
    assert_eq!(decided(&world), [(Some("a".to_owned()), RaceJudge::Alone)], "{}", world.told());
    assert_eq!(world.state.status(), Status::Done);
}

#[test]
fn a_winner_that_cannot_be_merged_leaves_the_choice_to_a_person() {
    let script = format!(
        "{BOTH}\nbuild/pick: complete b\nbuild/b~plan: conflict x\nat build/b: answer drop\nat build: answer a"
    );
    let world = World::started(&by_phase(), &script).play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    let by = [RaceJudge::Phase("pick".into()), RaceJudge::Person("ann".to_owned())];
    assert_eq!(decided(&world).into_iter().map(|(_, by)| by).collect::<Vec<_>>(), by);
    assert_eq!(merged(&world), ["a"]);
}

#[test]
fn a_racer_is_changed_while_the_race_is_judged_and_nothing_is_left_behind() {
    // Whoever is asked says `b`, so that it stays in the race where somebody may be asked.
    let some = vec![retry("build/a"), give_up("build/a"), retry("build/b")];
    let all = vec![retry("build/a"), give_up("build/a"), retry("build/b"), skip("build/b")];
    for (judge, commands) in [(by_person(), some.clone()), (by_commands(), all), (by_phase(), some)]
    {
        let script = format!(
            "{BOTH}\nbuild/pick: complete b\nat build: answer b\nat build/b: answer resolved\nbuild/b~plan: conflict x; clean"
        );
        let whole = World::started(&judge, &script).play();
        assert_eq!(whole.state.status(), Status::Done, "{}", whole.told());
        let mut accepted = 0;
        for cut in 1..whole.lines.len() {
            for command in commands.clone() {
                let mut world = whole.killed_after(cut).recovered();
                let answer = world.step(&person(command.clone()));
                accepted += usize::from(matches!(answer, Answer::Accepted(_)));
                let world = world.play();
                assert_eq!(
                    world.state.status(),
                    Status::Done,
                    "{cut} {command:?}: {}",
                    world.told()
                );
                assert_eq!(merged(&world).len(), 1, "{cut} {command:?}: {}", world.told());
                assert!(world.state.live.is_empty() && world.state.anomalies.is_empty());
            }
        }
        assert!(accepted > 20, "{accepted}");
    }
}

#[test]
fn who_lost_cannot_come_back_once_another_one_is_taken() {
    let script = format!("{BOTH}\nat build: answer b\nbuild/b~plan: conflict x");
    let mut world = World::started(&by_person(), &script);
    until(&mut world, |state| {
        state.pools.values().any(|pool| pool.winner().is_some_and(|it| it.gate.is_some()))
    });
    let why = refused(world.step(&person(retry("build/a"))));
    assert!(why.contains("`build/b` was taken"), "{why}");
    // As long as the winner is not merged, it can be given up.
    world.step(&person(give_up("build/b")));
    let pool = world.state.pools.values().next().unwrap();
    assert!(pool.steps.iter().any(|step| step.stage == StepStage::Finished), "{}", world.told());
    assert!(is_asked(&world.state));
}

#[test]
fn what_is_merged_is_what_was_judged() {
    let world = World::started(&by_commands(), BOTH).play();
    let began = world.lines.iter().flat_map(|line| &line.events).find_map(|event| match event {
        Event::MergeBegan(it) => Some(it.clone()),
        _ => None,
    });
    let tree = world.state.pools.values().next().unwrap().steps[0].tree.clone();
    assert!(tree.is_some(), "{}", world.told());
    assert_eq!(began.unwrap().theirs, tree);
}
