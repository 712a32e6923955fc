//! Runs that work apart: nothing begins before their folder is there, and their work is merged once they are over.

use chronicle_core::base::ids::{AttemptId, TreeId};
use chronicle_core::event::RunStarted;
use chronicle_core::event::input::{Answer, AttemptReport, Command, EndSeen, Report};
use chronicle_core::event::trees::Moment;
use chronicle_core::state::effect::Action;
use chronicle_core::state::{State, Status, WorkFate};
use chronicle_core::view;
use expect_test::{Expect, expect};

use crate::world::{Order, World, about, person, report, start, workflows};

const ONE: &str = "{name: One, phases: {work: {}}}";
const WORKS: &str = "work: usage 3; go done\n";

/// A run that works apart.
pub(crate) fn apart_from(workflow: &str, script: &str) -> World {
    let mut world = World::new(script);
    let begin = RunStarted { apart: true, ..start(workflows(workflow)) };
    world.step(&person(Command::Start(Box::new(begin))));
    world
}

/// A run that is over, and what a person says then.
fn over(script: &str) -> World {
    let world = apart_from(ONE, &format!("{WORKS}{script}")).play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    world
}

fn merge(keep: bool) -> Command {
    Command::Merge { keep }
}

fn merged(script: &str, keep: bool) -> World {
    let mut world = over(script);
    let answer = world.step(&person(merge(keep)));
    assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
    world.play()
}

fn word(state: &State) -> String {
    view::run(state, false).unwrap().apart.unwrap().state
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "an expectation reads best in its place")]
fn told(world: &World, from: usize, expected: Expect) {
    expected.assert_eq(&world.told_from(from));
}

#[track_caller]
fn refused(world: &mut World, command: Command, words: &str) {
    let before = world.lines.len();
    match world.step(&person(command)) {
        Answer::Refused(why) => assert!(why.contains(words), "{why}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.lines.len(), before);
}

#[test]
fn nothing_begins_before_the_folder_is_there_and_the_work_is_merged_at_the_end() {
    let mut world = apart_from(ONE, WORKS);
    let due: Vec<Action> = world.state.due().iter().map(|effect| effect.action).collect();
    assert_eq!(due, [Action::MakeFolder(0)]);
    assert!(world.state.attempts.iter().next().is_none());
    refused(&mut world, merge(false), "the run is not over");
    let mut world = world.play();
    let view = view::run(&world.state, false).unwrap();
    assert_eq!(view.next, ["chronicle merge c0ffee01"]);
    assert!(view::row(&world.state, false).unwrap().unmerged);
    assert_eq!(word(&world.state), "not merged yet");
    world.step(&person(merge(false)));
    let world = world.play();
    told(
        &world,
        0,
        expect![[r#"
        run started: `One` on "the task"
          workflow `main` entered
        the run's own folder made
          phase `work` entered
          a1 started at `work` (scripted)
        a1 reported 3 tokens
        a1 leaves for `done`: "did it"
        a1 ended
          `work` done, workflow complete
          the workflow ended
          run done
        ann merges the work of the run into the project
        merging 0 files of the run
        the work of the run is merged
        the run's own folder removed
    "#]],
    );
    let apart = world.state.apart.as_ref().unwrap();
    assert_eq!((apart.fate, &apart.folder), (Some(WorkFate::Merged), &None));
    assert_eq!(world.state.status(), Status::Done);
    assert!(!view::row(&world.state, false).unwrap().unmerged);
}

#[test]
fn a_folder_that_cannot_be_made_pauses_the_run_and_resume_tries_again() {
    let world = apart_from(ONE, &format!("{WORKS}own~folder: fail no room; made\n"));
    let mut world = world.play();
    assert_eq!(world.state.status(), Status::Paused);
    world.step(&person(Command::Resume));
    let world = world.play();
    told(
        &world,
        0,
        expect![[r#"
        run started: `One` on "the task"
          workflow `main` entered
        the run's own folder could not be made: no room
          paused: the run's own folder could not be made: no room
        resumed
        the run's own folder made
          phase `work` entered
          a1 started at `work` (scripted)
        a1 reported 3 tokens
        a1 leaves for `done`: "did it"
        a1 ended
          `work` done, workflow complete
          the workflow ended
          run done
    "#]],
    );
    assert_eq!(world.state.status(), Status::Done);
}

#[test]
fn a_conflict_is_answered_after_the_end() {
    for (word_said, fate) in [
        ("resolved", WorkFate::Merged),
        ("ours", WorkFate::Merged),
        ("theirs", WorkFate::Merged),
        ("drop", WorkFate::Dropped),
    ] {
        let script = format!("own~plan: conflict x.rs; clean\ng1: answer {word_said}\n");
        let world = merged(&script, false);
        let apart = world.state.apart.as_ref().unwrap();
        assert_eq!(apart.fate, Some(fate), "{word_said}:\n{}", world.told());
        assert_eq!(world.state.status(), Status::Done);
        assert!(apart.gate.is_none() && apart.folder.is_none());
    }
}

#[test]
fn while_a_conflict_waits_nothing_else_is_taken() {
    let mut world = over("own~plan: conflict x.rs; clean\n");
    let before = world.lines.len();
    world.step(&person(merge(false)));
    let mut world = world.play();
    told(
        &world,
        before,
        expect![[r#"
            ann merges the work of the run into the project
            the run's own folder and the project are in conflict: `x.rs` (both)
            the run's own folder has the project's side in it now
              g1 waits at `done` for a decision on a conflict: the work of the run and the project do not go together: resolve it in the run's own folder and answer `resolved`, or let one side win with `ours` (the project) or `theirs` (the run), or `drop` it
        "#]],
    );
    assert_eq!(word(&world.state), "in conflict with the project");
    let view = view::run(&world.state, false).unwrap();
    assert_eq!(view.needs_you.len(), 1);
    let next = "chronicle answer c0ffee01 g1 resolved  (or: `ours`, `theirs`, `drop`)";
    assert_eq!(view.next, [next]);
    refused(&mut world, merge(false), "g1 asks about the merge");
    let (from, to, back) = (TreeId::from("a"), TreeId::from("b"), None);
    refused(
        &mut world,
        Command::Undo { what: "work".to_owned(), from, to, back },
        "is being merged",
    );
    let retry = Command::Retry { place: None, note: String::new(), agent: None, from: None };
    refused(&mut world, retry, "over");
}

#[test]
fn an_edit_meanwhile_begins_the_merge_again_and_too_many_ask() {
    let world = merged("own~write: late x.rs; whole\n", false);
    assert_eq!(world.state.apart.as_ref().unwrap().fate, Some(WorkFate::Merged));
    let world = merged("own~write: late x.rs\n", false);
    assert_eq!(word(&world.state), "could not be merged");
    assert_eq!(view::run(&world.state, false).unwrap().needs_you[0].options, ["again", "drop"]);
}

#[test]
fn what_cannot_be_worked_out_or_written_asks_and_is_tried_again() {
    for trouble in ["own~plan: missed no git; clean\n", "own~write: error full; whole\n"] {
        let world = merged(&format!("{trouble}g1: answer again\n"), false);
        let apart = world.state.apart.as_ref().unwrap();
        assert_eq!(apart.fate, Some(WorkFate::Merged), "{trouble}:\n{}", world.told());
    }
}

#[test]
fn the_folder_stays_if_it_is_to_or_has_files_that_no_tree_has() {
    let world = merged("", true);
    assert_eq!(word(&world.state), "merged, its folder is kept");
    let world = merged("own~plan: unrecorded big.bin\n", false);
    assert_eq!(word(&world.state), "merged, its folder is kept");
    // Dropped by a person it goes all the same.
    let mut world = world;
    world.step(&person(Command::DropWork));
    assert_eq!(word(&world.play().state), "merged");
}

#[test]
fn a_folder_that_is_gone_is_made_again_before_anything_else() {
    let mut world = over("");
    world.step(&report(Report::FolderLost { folder: 0 }));
    assert!(world.state.due().is_empty(), "the run is over and nobody needs it");
    world.step(&person(merge(false)));
    let due: Vec<Action> = world.state.due().iter().map(|effect| effect.action).collect();
    assert_eq!(due, [Action::MakeFolder(0)]);
    assert_eq!(word(&world.play().state), "merged");
    // While it works, its attempt waits for the folder.
    let mut world = apart_from(ONE, WORKS);
    while world.state.live.is_empty() {
        assert!(world.one_move());
    }
    world.step(&report(Report::FolderLost { folder: 0 }));
    let due: Vec<Action> = world.state.due().iter().map(|effect| effect.action).collect();
    assert_eq!(due, [Action::MakeFolder(0)]);
    assert_eq!(world.play().state.status(), Status::Done);
}

/// A world that is about to do that.
fn until(mut world: World, action: Action) -> World {
    while !world.state.due().iter().any(|effect| effect.action == action) {
        assert!(world.one_move(), "{}", world.told());
    }
    world
}

#[test]
fn a_worker_whose_folder_was_removed_does_the_work_again() {
    let after = |attempt| Action::RecordTree(Moment::After(AttemptId(attempt)));
    // It ended well, and what it left is gone before it was recorded.
    let mut world = until(apart_from(ONE, "work: go done; go done\n"), after(1));
    let from = world.lines.len();
    world.step(&report(Report::FolderLost { folder: 0 }));
    let world = world.play();
    assert_eq!(world.state.status(), Status::Done);
    told(
        &world,
        from,
        expect![[r#"
        the run's own folder is gone, and is made again from the files that were recorded last
          the files were not recorded: the folder was removed, with all that was changed in it
        the run's own folder made
          a2 resumed at `work` (scripted): not shown by the record: the work itself (the folder was removed under it, and is made again without the changes since the attempt began: do the work again)
        a2 leaves for `done`: "did it"
        a2 ended
          `work` done, workflow complete
          the workflow ended
          run done
    "#]],
    );
    // It was at work when its supervisor was killed. The conversation goes on without a word, so it is sent back once more.
    let mut world = until(
        apart_from(ONE, "work: usage 3; go done; go done\n"),
        Action::RunAttempt(AttemptId(1)),
    );
    world.one_move();
    world.step(&report(Report::FolderLost { folder: 0 }));
    let seen = EndSeen { lost: true, ..EndSeen::default() };
    world.step(&about(AttemptId(1), AttemptReport::Ended(seen)));
    let from = world.lines.len();
    let world = world.play();
    told(
        &world,
        from,
        expect![[r#"
            the run's own folder made
              a2 resumed at `work` (scripted): the last attempt was lost
            a2 reported 3 tokens
            a2 leaves for `done`: "did it"
            a2 ended
              a3 resumed at `work` (scripted): not shown by the record: the work itself (the folder was removed under it, and is made again without the changes since the attempt began: do the work again)
            a3 reported 3 tokens
            a3 leaves for `done`: "did it"
            a3 ended
              `work` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
    // Commands begin with the first of them again: what it made is gone.
    let commands = "{name: One, phases: {work: {run: command, commands: [one, two]}}}";
    let mut world = until(apart_from(commands, ""), Action::RunAttempt(AttemptId(1)));
    let (code, output) = (Some(0), String::new());
    world.step(&about(AttemptId(1), AttemptReport::CommandEnded { index: 0, code, output }));
    world.step(&report(Report::FolderLost { folder: 0 }));
    let seen = EndSeen { lost: true, ..EndSeen::default() };
    world.step(&about(AttemptId(1), AttemptReport::Ended(seen)));
    let world = until(world, Action::RunAttempt(AttemptId(2)));
    assert_eq!(world.state.attempt(AttemptId(2)).unwrap().intent.first_command, 0);
    // Who never does anything about it is not believed without end.
    let mut world = apart_from(ONE, "work: go done\n");
    for attempt in 1..=4 {
        world = until(world, after(attempt));
        world.step(&report(Report::FolderLost { folder: 0 }));
    }
    let from = world.lines.len();
    told(
        &world.play(),
        from,
        expect![[r#"
        the run's own folder made
          g1 waits at `work` for intervention: `work` was left without what it requires: the work itself (the folder was removed under it, and is made again without the changes since the attempt began: do the work again)
    "#]],
    );
}

#[test]
fn work_is_dropped_only_once_and_merged_never_after_that() {
    let mut world = over("");
    world.step(&person(Command::DropWork));
    let mut world = world.play();
    assert_eq!(word(&world.state), "dropped");
    refused(&mut world, merge(false), "its work was dropped");
    assert_eq!(
        world.step(&person(Command::DropWork)),
        Answer::Accepted("its folder is gone already".to_owned())
    );
    let mut world = merged("", false);
    let before = world.lines.len();
    let answer = world.step(&person(merge(false)));
    assert_eq!(answer, Answer::Accepted("its work is merged already".to_owned()));
    assert_eq!(world.lines.len(), before);
}

#[test]
fn a_cancelled_run_is_merged_too_and_one_in_the_project_never() {
    let mut world = apart_from(ONE, WORKS);
    while world.state.live.is_empty() {
        assert!(world.one_move());
    }
    world.step(&person(Command::Cancel { reason: String::new() }));
    let mut world = world.play();
    assert_eq!(world.state.status(), Status::Cancelled);
    world.step(&person(merge(false)));
    assert_eq!(word(&world.play().state), "merged");
    let mut world = apart_from(ONE, "");
    world.step(&person(Command::Cancel { reason: String::new() }));
    refused(&mut world, merge(false), "before its folder was made");
    let mut world = World::started(ONE, WORKS).play();
    refused(&mut world, merge(false), "works in the project itself");
    refused(&mut world, Command::DropWork, "works in the project itself");
}

/// What must be the same however often it was interrupted.
fn end_of(state: &State) -> (Status, Option<WorkFate>, String, u64) {
    let fate = state.apart.as_ref().and_then(|apart| apart.fate);
    (state.status(), fate, word(state), state.usage.tokens())
}

#[test]
fn every_prefix_of_a_run_apart_resumes_to_the_same_end() {
    let scripts = [
        "",
        "own~plan: conflict x.rs; clean\ng1: answer resolved\n",
        "own~write: late x.rs; whole\n",
        "own~plan: missed no git; clean\ng1: answer again\n",
        "own~plan: conflict x.rs\ng1: answer drop\n",
    ];
    for order in [Order::Due, Order::Reversed, Order::Turns] {
        for script in scripts {
            let whole = merged(script, false);
            let expected = end_of(&whole.state);
            for cut in 1..whole.lines.len() {
                let mut killed = whole.killed_after(cut);
                killed.order = order;
                let mut resumed = killed.recovered().play();
                let apart = resumed.state.apart.as_ref().unwrap();
                if apart.fate.is_none() && apart.merging.is_none() {
                    resumed.step(&person(merge(false)));
                    resumed = resumed.play();
                }
                assert_eq!(
                    end_of(&resumed.state),
                    expected,
                    "{script} cut after line {cut}, {order:?}:\n{}",
                    resumed.told()
                );
                let text = serde_json::to_string(&resumed.state).unwrap();
                assert_eq!(serde_json::from_str::<State>(&text).unwrap(), resumed.state);
            }
        }
    }
}

#[test]
fn pools_work_inside_of_a_run_apart() {
    let script = format!(
        "{}\nbuild/b~plan: conflict x; clean\nat build/b: answer resolved\n",
        crate::decide_pools::ALL
    );
    let mut world = apart_from(crate::decide_pools::POOL, &script);
    world.order = Order::Turns;
    let mut world = world.play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    world.step(&person(merge(false)));
    assert_eq!(word(&world.play().state), "merged");
}
