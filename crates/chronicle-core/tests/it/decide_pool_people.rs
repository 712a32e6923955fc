//! What people say to pools and their steps, at every stage.

use chronicle_core::base::ids::{AttemptId, Place};
use chronicle_core::event::Event;
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::event::trees::Moment;
use chronicle_core::handover::handover;
use chronicle_core::state::{State, Status};
use chronicle_core::words;
use expect_test::expect;

use crate::decide::check;
use crate::decide_pools::{ALL, POOL, give_up, retry, skip, stands, turns, until};
use crate::world::{Order, World, person, tree};

fn refusal(answer: Answer) -> String {
    let Answer::Refused(why) = answer else { panic!("{answer:?}") };
    why
}

#[test]
fn what_steps_left_is_put_away_in_their_folders_whoever_ends_them() {
    let workflow = POOL.replace("  ship: {}", "  ship: {}\ncleanup: [rm]");
    for command in [
        give_up("build/a"),
        Command::Go { place: Place::new("ship"), note: String::new() },
        Command::Cancel { reason: String::new() },
    ] {
        let mut world = turns(&workflow, &format!("{ALL}\nat build: skip"));
        until(&mut world, |state| state.live.len() == 2);
        world.step(&person(command.clone()));
        let world = world.play();
        let of_a = |event: &&Event| {
            matches!(event, Event::AttemptStarted(it)
            if it.chore.is_some() && it.place == Place::new("build/a/work") && it.folder.number() == Some(1))
        };
        let events = world.lines.iter().flat_map(|line| &line.events);
        assert_eq!(events.filter(of_a).count(), 1, "{command:?}: {}", world.told());
        assert!(world.state.is_over(), "{command:?}: {}", world.told());
    }
}

#[test]
fn a_rejected_pool_asks_which_steps_are_done_again() {
    let workflow = POOL.replace("next: [ship]}", "approval: after, next: [ship]}");
    let mut world = World::started(&workflow, &format!("{ALL}\ng1: reject not b\ng3: approve"));
    until(&mut world, |state| state.gates.iter().count() == 2);
    let world_before = world.told();
    // Its steps are all done: begun again as a whole, it would only ask the same.
    let gate = world.state.open_gates().next().unwrap().opened.clone();
    let next = words::gate_next(&world.state, &gate, "R");
    assert!(next.starts_with("chronicle retry R build/STEP  (or: "), "{next}");
    world.step(&person(retry("build/b")));
    let world = world.play();
    assert_eq!(world.state.status(), Status::Done, "{world_before}{}", world.told());
    let merged = world.lines.iter().flat_map(|line| &line.events);
    let merged = merged.filter(|event| matches!(event, Event::MergeBegan(_))).count();
    assert_eq!(merged, 4, "{}", world.told());
}

#[test]
fn what_a_person_says_to_a_step_reaches_its_next_worker() {
    let mut world = turns(POOL, ALL);
    until(&mut world, |state| state.live.len() == 2);
    world.step(&person(Command::Pause { reason: String::new() }));
    let mut world = world.play();
    let note =
        |place: &str| Command::Note { place: Some(Place::new(place)), text: "mind x".to_owned() };
    world.step(&person(note("build/a/work")));
    world.step(&person(Command::Resume));
    let told = world.lines.iter().zip(&world.bodies).rev().find(|(line, _)| {
        line.events.iter().any(|event| {
            matches!(event, Event::AttemptStarted(it)
            if it.place == Place::new("build/a/work"))
        })
    });
    assert!(told.unwrap().1.iter().any(|text| text.contains("mind x")));
}

/// Whatever a person wants of a step at any line, the run gets on with the others.
#[test]
fn a_step_is_tried_again_skipped_or_given_up_at_every_stage() {
    let workflow = POOL.replace("slots: 2", "slots: 2, merge: {verify: true}, verify: [t]");
    let script = format!(
        "{ALL}\nbuild/b~plan: conflict x.rs; clean\nat build/b: answer resolved\nat build: skip"
    );
    let whole = World::started(&workflow, &script).play();
    assert_eq!(whole.state.status(), Status::Done, "{}", whole.told());
    let mut accepted = 0;
    for cut in 1..whole.lines.len() {
        for command in [retry("build/b"), skip("build/b"), give_up("build/b")] {
            let mut world = whole.killed_after(cut).recovered();
            let answer = world.step(&person(command.clone()));
            accepted += usize::from(matches!(answer, Answer::Accepted(_)));
            let world = world.play();
            assert_eq!(world.state.status(), Status::Done, "{cut} {command:?}: {}", world.told());
        }
    }
    assert!(accepted > 40, "{accepted}");
}

/// Paused at any line nothing begins, and it ends the same afterwards; cancelled, a merge that is being written is finished.
#[test]
fn a_run_is_paused_and_cancelled_at_every_stage() {
    let script = format!("{ALL}\nbuild/b~plan: conflict x.rs; clean\nat build/b: answer resolved");
    let whole = World::started(POOL, &script).play();
    for cut in 1..whole.lines.len() {
        let mut world = whole.killed_after(cut).recovered();
        if world.state.is_over() {
            continue;
        }
        let mut cancelled = world.clone();
        world.step(&person(Command::Pause { reason: String::new() }));
        let before = world.state.attempts.len();
        let mut world = world.play();
        assert_eq!(world.state.attempts.len(), before, "{}", world.told());
        assert!(!world.state.is_writing(), "{}", world.told());
        world.step(&person(Command::Resume));
        let world = world.play();
        assert_eq!(world.state.status(), Status::Done, "{cut}: {}", world.told());
        cancelled.step(&person(Command::Cancel { reason: String::new() }));
        let cancelled = cancelled.play();
        assert_eq!(cancelled.state.status(), Status::Cancelled, "{cut}: {}", cancelled.told());
        assert!(!cancelled.state.is_writing() && cancelled.state.live.is_empty());
    }
}

#[test]
fn go_leads_out_of_a_pool_and_back_into_a_fresh_one() {
    let mut world = turns(POOL, ALL);
    until(&mut world, |state| state.live.len() == 2);
    let go = |place: &str| Command::Go { place: Place::new(place), note: String::new() };
    world.step(&person(go("ship")));
    until(&mut world, |state| state.frames.len() == 1 && state.live.len() == 1);
    stands(
        &world,
        expect![[r#"
            build/a: given up
            build/b: given up
            build/c: given up
        "#]],
    );
    world.step(&person(go("build")));
    let world = world.play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    assert!(world.state.works.is_empty());
    assert_eq!(world.state.folders, 5);
}

#[test]
fn a_position_inside_a_pool_is_the_pool_itself() {
    let mut world = turns(POOL, ALL);
    until(&mut world, |state| state.live.len() == 2);
    let carried = world.state.carried();
    assert_eq!((carried.frames.len(), carried.frames[0].inside), (1, false));
    let back = world.rewind(1);
    assert!(refusal(world.step(&person(back.clone()))).contains("pause the run first"));
    world.step(&person(Command::Pause { reason: String::new() }));
    let mut world = world.play();
    world.step(&person(back));
    world.step(&person(Command::Resume));
    let world = world.play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    assert_eq!(world.state.folders, 5, "{}", world.told());
}

#[test]
fn a_step_reads_what_it_builds_on_and_all_is_joined_in_the_order_of_the_plan() {
    let script = "build/a/work: tool x; snap of a; go done\nbuild/b/work: snap of b; go done\n\
                  build/c/work: tool y; snap of c; go done\nship: go done";
    let mut world = World::started(POOL, script);
    world.order = Order::Reversed;
    until(&mut world, |state| {
        state.live_attempts().any(|it| it.intent.place == Place::new("build/c/work"))
    });
    let read = world.state.snapshot_at(&Place::new("build/c/work").frame());
    assert_eq!(read.findings, ["of a"]);
    let world = world.play();
    assert_eq!(world.state.snapshot.findings, ["of a", "of b", "of c"]);
}

#[test]
fn people_are_asked_between_steps() {
    let workflow = POOL.replace("slots: 2", "slots: 2, pause_between: true");
    let script = format!("{ALL}\nat build/b: approve\nat build/c: reject not now\nat build: skip");
    check(
        &workflow,
        &script,
        expect![[r#"
            run started: `Pool` on "the task"
              workflow `main` entered
              phase `build` entered
              pool `build` entered
              `build` has 3 steps: `a`, `b`, `c`
              `build/a` works in slot 1, in work folder 1
              g1 waits at `build/b` for approval: may step `build/b` begin?
            work folder 1 made
              workflow `main.build` entered
              phase `build/a/work` entered
              a1 started at `build/a/work` (scripted)
            a1 leaves for `done`: "did it"
            a1 ended
              `build/a/work` done, workflow complete
              the workflow in `build/a` ended
              the work of `build/a` is being merged
            merging 0 files of folder 1
            the work in folder 1 is merged
            g1 approved by ann
              `build/b` works in slot 1, in work folder 2
              g2 waits at `build/c` for approval: may step `build/c` begin?
            work folder 2 made
              workflow `main.build` entered
              phase `build/b/work` entered
              a2 started at `build/b/work` (scripted)
            a2 leaves for `done`: "did it"
            a2 ended
              `build/b/work` done, workflow complete
              the workflow in `build/b` ended
              the work of `build/b` is being merged
            merging 0 files of folder 2
            the work in folder 2 is merged
            g2 rejected by ann: "not now"
              `build/c` is given up, and its work is not merged: not now
              g3 waits at `build` for intervention: not all steps of `build` are done, 1 of 3 are open: `c` was given up
            g3 answered with `skip` by ann
              `build` left for `ship` (skipped)
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
}

/// A step is called by its place; a typing mistake is told with what there is, and a note without a place is for nobody in particular.
#[test]
fn steps_that_are_not_there_are_named() {
    let mut world = turns(POOL, ALL);
    until(&mut world, |state| state.live.len() == 2);
    let note = |place: Option<&str>| Command::Note {
        place: place.map(Place::new),
        text: "mind x".to_owned(),
    };
    let go = |place: &str| Command::Go { place: Place::new(place), note: String::new() };
    let commands = [
        note(None),
        note(Some("build/typo")),
        go("build/a"),
        go("build/typo/work"),
        go("build/a/typo"),
        retry("build/typo"),
        retry("build/a/work"),
        skip("build/typo/work"),
    ];
    let told: Vec<String> = commands.map(|command| refusal(world.step(&person(command)))).into();
    expect![[r#"
        2 steps are open, say which one is meant with `--place`, such as `build/a`
        there is no step `build/typo`; there are `build/a`, `build/b`, `build/c`
        `build/a` is a step: `retry build/a` begins it again, `skip build/a` counts it as done without its work, and `cancel build/a` gives it up
        there is no step `build/typo/work`; there are `build/a`, `build/b`, `build/c`
        workflow `build` has no phase `typo`; it has `work`
        there is no step `build/typo`; there are `build/a`, `build/b`, `build/c`
        `build/a/work` does not wait for a person
        there is no step `build/typo/work`; there are `build/a`, `build/b`, `build/c`
    "#]]
    .assert_eq(&(told.join("\n") + "\n"));
    let answer = world.step(&person(note(Some("build/a"))));
    assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
}

#[test]
fn a_note_to_a_step_that_has_not_begun_is_handed_over_when_it_begins() {
    let mut world = turns(POOL, ALL);
    until(&mut world, |state| state.live.len() == 2);
    let note =
        |place: &str| Command::Note { place: Some(Place::new(place)), text: "mind x".to_owned() };
    let answer = world.step(&person(note("build/c")));
    let Answer::Accepted(said) = answer else { panic!("{answer:?}") };
    assert_eq!(said, "n1 waits for the next worker at `build/c`");
    let told = |world: &World, place: &str| {
        let started = world.lines.iter().zip(&world.bodies).find(|(line, _)| {
            line.events.iter().any(
                |event| matches!(event, Event::AttemptStarted(it) if it.place == Place::new(place)),
            )
        });
        started.unwrap().1.join("\n")
    };
    let mut world = world.play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    assert!(told(&world, "build/c/work").contains("mind x"));
    assert!(!told(&world, "build/b/work").contains("mind x"));
    // Over, nobody can be told any more.
    let why = refusal(world.step(&person(note("build/c"))));
    assert!(why.contains("over"), "{why}");
    // Given up, it is for whoever works next.
    let mut world = turns(POOL, &format!("{ALL}\nat build: skip"));
    until(&mut world, |state| state.live.len() == 2);
    world.step(&person(note("build/c")));
    world.step(&person(give_up("build/c")));
    let why = refusal(world.step(&person(note("build/c"))));
    assert!(why.contains("(given up): a note is for a step that works or is to begin"), "{why}");
    let world = world.play();
    assert!(told(&world, "ship").contains("mind x"), "{}", world.told());
}

/// Without its only phase a step would be merged as it is: what is suggested must not do that.
#[test]
fn what_is_suggested_at_a_step_merges_no_half_work() {
    let workflow = POOL.replace("slots: 2", "slots: 2, limits: {retries: 0, nudges: 0}");
    let script = ALL.replace("build/a/work: go done", "build/a/work: crash x");
    let mut world = turns(&workflow, &script);
    until(&mut world, |state| state.open_gates().next().is_some());
    let gate = world.state.open_gates().next().unwrap().opened.clone();
    expect!["chronicle retry R build/a/work  (or: chronicle skip R build/a, chronicle cancel R build/a; `skip` counts `a` as done, and merges none of its work)"].assert_eq(&words::gate_next(&world.state, &gate, "R"));
    let mut whole = world.clone();
    let said = |answer: Answer| match answer {
        Answer::Accepted(said) => said,
        other => panic!("{other:?}"),
    };
    expect!["`build/a` is skipped: it counts as done, and its work is not merged"]
        .assert_eq(&said(whole.step(&person(skip("build/a")))));
    let world = whole.play();
    let merged = |world: &World| {
        let events = world.lines.iter().flat_map(|line| &line.events);
        events.filter(|it| matches!(it, Event::MergeBegan(it) if it.step.as_str() == "a")).count()
    };
    assert_eq!((merged(&world), world.state.status()), (0, Status::Done), "{}", world.told());
    // Whoever skips the phase all the same is told what that does.
    let mut world = turns(&workflow, &script);
    until(&mut world, |state| state.open_gates().next().is_some());
    expect!["`build/a/work` is skipped, and what was done there so far is merged with the rest of `build/a`"].assert_eq(&said(world.step(&person(skip("build/a/work")))));
    assert_eq!(merged(&world.play()), 1);
}

#[test]
fn a_step_says_what_it_waits_for() {
    let script = ALL.replace("build/a/work: go done", "build/a/work: ask; go done");
    let mut world = turns(POOL, &script);
    until(&mut world, |state| state.open_gates().next().is_some());
    stands(
        &world,
        expect![[r#"
        build/a: waits for an answer
        build/b: is being merged
        build/c: waits for other steps
    "#]],
    );
    let mut paused = world.clone();
    paused.step(&person(Command::Pause { reason: String::new() }));
    stands(
        &paused.play(),
        expect![[r#"
        build/a: waits for an answer
        build/b: is being merged
        build/c: waits for other steps
    "#]],
    );
    let mut world = turns(POOL, ALL);
    until(&mut world, |state| state.live.len() == 2);
    stands(
        &world,
        expect![[r#"
        build/a: works in slot 1
        build/b: works in slot 2
        build/c: waits for other steps
    "#]],
    );
    world.step(&person(Command::Pause { reason: String::new() }));
    let world = world.play();
    stands(
        &world,
        expect![[r#"
        build/a: paused in slot 1
        build/b: paused in slot 2
        build/c: waits for other steps
    "#]],
    );
    let folders = chronicle_core::view::run(&world.state, true).unwrap().folders;
    assert!(folders.iter().all(|row| row.state == "nobody works there"), "{folders:?}");
}

fn after(id: u32) -> Moment {
    Moment::After(AttemptId(id))
}

/// Steps beside each other know nothing of each other, and what was not merged is nobody's business.
#[test]
fn workers_hear_of_what_their_step_builds_on_and_later_phases_of_what_was_merged() {
    let mut world = turns(POOL, &format!("{ALL}\nbuild/b~plan: conflict x.rs\nat build: skip"));
    until(&mut world, |state| state.live.len() == 2);
    let note =
        |place: &str| Command::Note { place: Some(Place::new(place)), text: "mind x".to_owned() };
    world.step(&person(note("build/b/work")));
    // Each changes a file of its own.
    let is_after = |state: &State| (1..=2).find(|id| state.trees.is_awaited(after(*id)));
    for _ in 0..2 {
        until(&mut world, |state| is_after(state).is_some());
        let id = is_after(&world.state).unwrap();
        let intent = &world.state.attempt(AttemptId(id)).unwrap().intent;
        let file = if intent.place.as_str().contains("/a/") { "a.rs" } else { "b.rs" };
        world.step(&tree(after(id), &[file]));
    }
    until(&mut world, |state| {
        state.live_attempts().any(|it| it.intent.place == Place::new("build/c/work"))
    });
    let of = |world: &World, place: &str| {
        let attempt = world.state.live_attempts().find(|it| it.intent.place == Place::new(place));
        handover(&world.state, attempt.unwrap())
    };
    let told = of(&world, "build/c/work");
    assert!(told.contains("build/a/work") && told.contains("a.rs"), "{told}");
    for hidden in ["build/b", "b.rs", "mind x"] {
        assert!(!told.contains(hidden), "{hidden}: {told}");
    }
    world.step(&person(give_up("build/b")));
    until(&mut world, |state| {
        state.live_attempts().any(|it| it.intent.place == Place::new("ship"))
    });
    let told = of(&world, "ship");
    assert!(told.contains("`build/a/work` →") && told.contains("`build/c/work` →"), "{told}");
    assert!(told.contains("a.rs") && told.contains("mind x"), "{told}");
    assert!(!told.contains("`build/b/work` →") && !told.contains("b.rs"), "{told}");
}

/// What others changed beside it is not what a yes inside of a step is about, and no command is named that shows something else.
#[test]
fn an_approval_inside_a_step_shows_what_that_step_changed() {
    let workflow = "
name: Pool
phases:
  build: {run: pool, slots: 2, workflow: inner, steps: [{id: a}, {id: b}], next: [ship]}
  ship: {approval: before}
=== inner
phases: {make: {next: [check]}, check: {approval: BEFORE}}
";
    let script = "build/a/make: go check\nbuild/b/make: go check\nbuild/a/check: go done\nbuild/b/check: go done\n\
                  at build/a/check: approve\nat build/b/check: approve";
    let mut all = String::new();
    for when in ["before", "after"] {
        let mut world = turns(&workflow.replace("BEFORE", when), script);
        until(&mut world, |state| state.live.len() == 2);
        let mut told = String::new();
        while told.is_empty() || !world.state.is_over() {
            let is_after = (1..=4).find(|id| world.state.trees.is_awaited(after(*id)));
            if let Some(id) = is_after {
                let intent = &world.state.attempt(AttemptId(id)).unwrap().intent;
                let step = if intent.place.as_str().contains("/a/") { "a" } else { "b" };
                let file = format!("{step}{id}.rs");
                world.step(&tree(after(id), &[&file]));
            }
            for row in chronicle_core::view::run(&world.state, true).unwrap().needs_you {
                let list = row.changes.map(|it| it.list).unwrap_or_default();
                let files: Vec<&str> = list.iter().map(|file| file.path.as_str()).collect();
                let line = format!("{when} {}: {} see {:?}\n", row.place, files.join(" "), row.see);
                if !told.contains(&line) {
                    told += &line;
                }
            }
            if !world.one_move() {
                break;
            }
        }
        all += &told;
    }
    expect![[r#"
        before build/b/check: b1.rs see None
        before build/a/check: a2.rs see None
        before ship: a2.rs a4.rs b1.rs b3.rs see Some("chronicle diff c0ffee01")
        after build/b/check: b3.rs see None
        after build/a/check: a4.rs see None
        after ship: a2.rs a4.rs b1.rs b3.rs see Some("chronicle diff c0ffee01")
    "#]]
    .assert_eq(&all);
}

#[test]
fn a_worker_hears_that_what_it_builds_on_was_skipped() {
    let mut world = turns(POOL, ALL);
    until(&mut world, |state| state.live.len() == 2);
    world.step(&person(skip("build/a")));
    until(&mut world, |state| {
        state.live_attempts().any(|it| it.intent.place == Place::new("build/c/work"))
    });
    let c = world.state.live_attempts().find(|it| it.intent.place == Place::new("build/c/work"));
    let told = handover(&world.state, c.unwrap());
    let of_a = told.lines().find(|line| line.starts_with("Step `a`")).unwrap();
    expect!["Step `a`, which this one builds on, was skipped by a person. Nothing of it is merged, so do not count on its work."].assert_eq(of_a);
}

#[test]
fn a_pool_is_no_answer_to_what_is_asked_inside_of_it() {
    let script = ALL.replace("build/a/work: go done", "build/a/work: ask; go done");
    let mut world = turns(POOL, &script);
    until(&mut world, |state| state.open_gates().next().is_some());
    let view = chronicle_core::view::run(&world.state, true).unwrap();
    let unclear = view.gate_called("build").unwrap_err();
    expect![[r#"
        `build` is a pool, and g1 waits at `build/a/work`: name that
        chronicle answer c0ffee01 g1 "your answer""#]]
    .assert_eq(&format!("{}\n{}", unclear.what, unclear.hint));
    let called = |word: &str| view.gate_called(word).unwrap().map(|gate| gate.to_string());
    assert_eq!(called("build/a").as_deref(), Some("g1"));
    assert_eq!(called("build/a/work").as_deref(), Some("g1"));
    assert_eq!((called("ship"), called("builder"), called("build/a is odd")), (None, None, None));
    assert!(view.gate_called("build/b").unwrap_err().what.contains("no gate waits"));
}

#[test]
fn nobody_is_asked_in_a_step_of_a_run_that_is_over() {
    let script = ALL.replace("build/a/work: go done", "build/a/work: ask; go done");
    let mut world = turns(POOL, &script);
    until(&mut world, |state| state.open_gates().next().is_some());
    world.step(&person(Command::Cancel { reason: String::new() }));
    let world = world.play();
    assert_eq!(world.state.status(), Status::Cancelled, "{}", world.told());
    for supervised in [true, false] {
        let view = chronicle_core::view::run(&world.state, supervised).unwrap();
        let steps = &view.pools[0].steps;
        assert!(steps.iter().all(|step| step.gate.is_none() && !step.live), "{steps:?}");
        assert_eq!(steps[0].state, "stopped");
    }
}

#[test]
fn what_a_skipped_step_changed_in_the_project_stays_there() {
    let workflow = POOL.replace("slots: 2, steps", "slots: 1, steps");
    let mut world = turns(&workflow, ALL);
    until(&mut world, |state| state.live.len() == 1);
    let answer = world.step(&person(skip("build/a")));
    let Answer::Accepted(said) = answer else { panic!("{answer:?}") };
    expect!["`build/a` is skipped: it counts as done, and what it changed stays in the project"]
        .assert_eq(&said);
    let world = world.play();
    let told = world.told();
    let line = told.lines().find(|line| line.contains("`build/a` is skipped")).unwrap();
    expect!["`build/a` is skipped, and what it changed stays in the project: not needed"]
        .assert_eq(line.trim());
}
