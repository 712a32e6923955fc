//! Every prefix of every ledger resumes to the same end: nothing lost, nothing done twice.

use chronicle_core::base::ids::{DONE, Place, TreeId};
use chronicle_core::event::input::Command;
use chronicle_core::event::trees::Moment;
use chronicle_core::state::effect::Action;
use chronicle_core::state::{State, Status};

use crate::world::{World, person, tree};

/// Scenarios of every kind that the engine knows: workflow, then what the world does.
const SCENARIOS: [(&str, &str, &str); 27] = [
    (
        "straight",
        super::decide::THREE,
        "plan: tool read; usage 7; go build\nbuild: file a; go verify\nverify: go done",
    ),
    (
        "refused first",
        super::decide::THREE,
        "plan: go nowhere; go build\nbuild: go verify\nverify: go done",
    ),
    (
        "reminded",
        super::decide::THREE,
        "plan 1: usage 3; finish\nplan 2: go build\nbuild: go verify\nverify: go done",
    ),
    (
        "crashes and fresh starts",
        super::decide::THREE,
        "plan 1: crash x\nplan 2: crash x\nplan 3: crash x\nplan 4: crash x\nplan 5: go build\nbuild: go verify\nverify: go done",
    ),
    (
        "a loop and a person",
        super::decide::THREE,
        "plan: go build\nbuild: go verify\nverify 1: go build\ng1: go done",
    ),
    (
        "approvals",
        "{name: A, phases: {plan: {approval: both, next: [build]}, build: {}}}",
        "plan 1: go build\nplan 2: go build\nbuild: go done\ng1: approve\ng2: reject no\ng3: approve",
    ),
    (
        "commands",
        "{name: C, phases: {test: {run: command, commands: [a, b], next: [done], on: {fail: mend}}, mend: {next: [test]}}}",
        "test 1: run 0 0; run 1 2\nmend: go test",
    ),
    (
        "a workflow inside",
        "{name: O, phases: {plan: {next: [in]}, in: {run: workflow, workflow: i, next: [ship]}, ship: {}}}\n=== i\n{name: I, phases: {look: {next: [judge]}, judge: {}}}",
        "plan: go in\nin/look: usage 4; go judge\nin/judge: go done\nship: go done",
    ),
    (
        "a circle and a person",
        "{name: C, phases: {dig: {limits: {repeats: 2}}}}",
        "dig 1: same x y; same x y; same x y\ndig 2: same x y; go done\ng1: retry elsewhere",
    ),
    (
        "a standstill and a person",
        "{name: S, phases: {dig: {limits: {standstill: 20m}, next: [fill]}, fill: {}}}",
        "dig 1: usage 3; tool a; still\ndig 2: file a; usage 4; go fill\nfill: go done\ng1: retry elsewhere",
    ),
    (
        "a quota and a service without room",
        "{name: W, phases: {plan: {next: [build]}, build: {}}}",
        "plan: usage 3; quota 600; usage 4; go build\nbuild: overload; overload; go done",
    ),
    (
        "continued",
        "{name: L, phases: {work: {}}}",
        "work 1: usage 2; continue there\nwork 2: snap it leaks; continue here\nwork 3: go done",
    ),
    (
        "a question that ends the turn",
        "{name: A, phases: {work: {}}}",
        "work: usage 1; need which?; usage 2; go done\ng1: answer blue\ng2: answer blue",
    ),
    (
        "a question that is waited for",
        "{name: A, phases: {work: {next: [then]}, then: {}}}",
        "work: ask which?; usage 2; go then\nthen: go done\ng1: answer blue\ng2: answer blue",
    ),
    (
        "calls that need leave",
        "{name: A, phases: {work: {next: [then]}, then: {}}}",
        "work: held rm a; usage 2; held rm b; held rm b; held rm c; go then\nthen: held rm c; held rm a; go done\n\
         g1: approve\ng2: approve-phase\ng3: approve-run\ng4: approve\ng5: approve-run\ng6: approve",
    ),
    (
        "help within help",
        "{name: H, phases: {build: {next: [ship]}, ship: {}}}",
        "build: usage 1; help a; snap helped; go ship\nbuild@a: help b; usage 2; complete\n\
         build@b: usage 3; complete\nship: go done",
    ),
    (
        "help instead",
        "{name: H, phases: {build: {next: [ship]}, ship: {}}}",
        "build: replace a\nbuild@a: help b; complete\nbuild@b: replace c\nbuild@c: complete\nship: go done",
    ),
    (
        "a budget used up and raised",
        "{name: B, budget: {tokens: 10}, phases: {plan: {next: [build]}, build: {budget: {tokens: 9}}}}",
        "plan: usage 8; usage 4; go build\nbuild: usage 9; usage 1; go done\n\
         g1: budget 90 tokens\ng2: budget 90 tokens\ng3: budget 90 tokens",
    ),
    (
        "no price",
        "{name: U, budget: {usd: 1}, phases: {plan: {next: [build]}, build: {}}}",
        "plan: unpriced 8; go build\nbuild: unpriced 4; go done\ng1: approve\ng2: approve",
    ),
    (
        "verified, and put away",
        "{name: W, verify: [all], phases: {build: {verify: [lint, test], cleanup: [stop, rm], approval: after, next: [ship]}, ship: {}}}",
        "build 1: usage 1; go ship\nbuild 2: usage 2; go ship\nbuild!verify 1: run 0 0; run 1 2\n\
         build!cleanup: run 0 1; run 1 0\nship: go done\ng1: approve",
    ),
    (
        "put away after a crash, and at a person's word",
        "{name: W, cleanup: [rm], phases: {build: {limits: {nudges: 0, retries: 0}, next: [ship], on: {crash: mend}}, mend: {next: [ship]}, ship: {limits: {nudges: 0, retries: 0}}, last: {}}}",
        "build: crash x\nmend: go ship\nship: crash y\nlast: go done\ng1: go last",
    ),
    (
        "evidence and claims",
        "{name: E, phases: {build: {requires: [make], approval: after, next: [ship]}, ship: {}}}",
        "build: usage 1; shell make; tool-end c1; claim Fixed b.rs and all tests pass\nship: go done\n\
         g1: approve\ng2: approve",
    ),
    (
        "a guard that is not proven",
        "{name: G, phases: {build: {next: [ship]}, ship: {}}}",
        "build 1: unguarded no hook\nbuild 2: unproven no hook; tool a; go ship\nship: go done\ng1: retry",
    ),
    (
        "a call that nobody had judged",
        "{name: G, phases: {build: {fallback: [other], next: [ship], on: {crash: ship}}, ship: {}}}",
        "build 1: usage 1; ran rm a; unjudged it ran\nbuild 2: tool a; go ship\nship: go done\ng1: retry",
    ),
    (
        "in the background",
        "{name: B, phases: {build: {next: [ship]}, ship: {}}}",
        "build: shell make; tool-on c0; shell ls; tool-end c2; tool-end c0; go ship\nship: go done",
    ),
    (
        "by hand, and from the beginning",
        "{name: P, limits: {loop: 5}, phases: {work: {next: [sign]}, sign: {run: human, next: [done, work]}}}",
        "work 1: loop again\nwork 2: go sign\ng1: answer done",
    ),
    (
        "taken back to its beginning",
        "{name: B, phases: {plan: {cleanup: [tidy], next: [build]}, build: {approval: after, cleanup: [sweep]}}}",
        "plan 1: snap it leaks; go build\nbuild 1: go done\ng1: rewind 1\nplan 2: go build\nbuild 2: go done\ng2: approve",
    ),
];

pub(crate) type EndOf = (Status, Vec<(Place, String)>, Vec<(String, String)>);

/// What must be the same: status, path, how each phase was left, and counters but attempts, time and usage.
pub(crate) fn end_of(state: &State) -> EndOf {
    let path = state
        .visits
        .iter()
        .map(|visit| {
            let left = visit.left.as_ref().map(|left| (left.to.as_str(), left.summary.as_str()));
            (visit.place.clone(), format!("{left:?}"))
        })
        .collect();
    let frames = state.frames.values().map(|frame| {
        (frame.path.as_str().to_owned(), format!("{:?} {:?}", frame.stage, frame.edges))
    });
    let carried = ("snapshot".to_owned(), format!("{:?}", state.snapshot));
    (state.status(), path, frames.chain([carried]).collect())
}

#[test]
fn every_prefix_of_every_scenario_resumes_to_the_same_end() {
    for (name, workflow, script) in SCENARIOS {
        let whole = World::started(workflow, script).play();
        let expected = end_of(&whole.state);
        assert_eq!(expected.0, Status::Done, "{name}:\n{}", whole.told());
        for cut in 1..whole.lines.len() {
            let resumed = whole.killed_after(cut).recovered().play();
            assert_eq!(
                end_of(&resumed.state),
                expected,
                "{name} cut after line {cut}:\n{}",
                resumed.told()
            );
            let usage = resumed.state.usage.tokens();
            assert_eq!(usage, whole.state.usage.tokens(), "{name} cut after line {cut}: usage");
        }
    }
}

/// While files are put back nothing follows, wherever it is cut; a new supervisor finishes it first.
#[test]
fn every_prefix_of_an_undo_is_finished_and_resumes_to_the_same_end() {
    let workflow = "{name: A, phases: {plan: {next: [build]}, build: {approval: before}}}";
    let mut whole = World::started(workflow, "plan: go build\nbuild: go done\ng1: approve");
    while whole.state.status() != Status::Waiting {
        assert!(whole.one_move());
    }
    whole.step(&tree(Moment::Undo, &["mine"]));
    let (from, to) = (TreeId::from("now"), TreeId::from("then"));
    whole.step(&person(Command::Undo { what: "plan".to_owned(), from, to, back: None }));
    let begun = whole.lines.len();
    let whole = whole.play();
    let expected = end_of(&whole.state);
    assert_eq!(expected.0, Status::Done, "{}", whole.told());
    for cut in 1..whole.lines.len() {
        let killed = whole.killed_after(cut);
        let is_due = killed.state.due().iter().any(|it| it.action == Action::RestoreTree);
        assert_eq!(is_due, cut == begun, "cut after line {cut}");
        let resumed = killed.recovered().play();
        assert_eq!(end_of(&resumed.state), expected, "cut after line {cut}:\n{}", resumed.told());
        let told = resumed.told();
        assert_eq!(told.contains("is being undone"), told.contains("1 file restored"), "{told}");
    }
}

#[test]
fn every_prefix_resumes_even_when_the_agents_forgot_their_sessions() {
    for (name, workflow, script) in SCENARIOS {
        let whole = World::started(workflow, script).play();
        for cut in 1..whole.lines.len() {
            let resumed = whole.killed_after(cut).forgetful().recovered().play();
            assert_eq!(
                end_of(&resumed.state),
                end_of(&whole.state),
                "{name} cut after line {cut}:\n{}",
                resumed.told()
            );
        }
    }
}

#[test]
fn a_run_killed_again_and_again_ends_the_same() {
    for (name, workflow, script) in SCENARIOS {
        let whole = World::started(workflow, script).play();
        let mut world = World::started(workflow, script);
        // Killed after every fourth line: the files after the lost attempt, the next one's session, and one that gets further.
        while world.state.status() != Status::Done {
            let before = world.lines.len();
            let played = world.clone().play();
            assert!(played.lines.len() > before, "{name} stands still:\n{}", played.told());
            world = played.killed_after(played.lines.len().min(before + 4)).recovered();
            assert!(world.lines.len() < 500, "{name}:\n{}", world.told());
        }
        assert_eq!(end_of(&world.state).1, end_of(&whole.state).1, "{name}:\n{}", world.told());
    }
}

#[test]
fn a_phase_that_was_left_is_never_worked_on_again() {
    for (name, workflow, script) in SCENARIOS {
        let whole = World::started(workflow, script).play();
        for cut in 1..whole.lines.len() {
            let resumed = whole.killed_after(cut).recovered().play();
            for place in resumed.state.visits.iter().map(|visit| &visit.place) {
                let done = |world: &World| {
                    let attempts = world.state.attempts.iter();
                    attempts.filter(|a| a.intent.place == *place && a.leave.is_some()).count()
                };
                assert_eq!(done(&resumed), done(&whole), "{name} cut after line {cut}, `{place}`");
            }
        }
        assert!(whole.state.visits.iter().all(|visit| visit.place.as_str() != DONE));
    }
}

#[test]
fn a_state_reads_back_from_its_cache() {
    for (_, workflow, script) in SCENARIOS {
        let whole = World::started(workflow, script).play();
        for cut in 1..=whole.lines.len() {
            let state = whole.killed_after(cut).state;
            let text = serde_json::to_string(&state).unwrap();
            assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
        }
    }
}
