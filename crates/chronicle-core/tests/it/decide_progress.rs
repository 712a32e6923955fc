//! Only what is new is progress, and every loop ends at a person.

use chronicle_core::base::ids::{AttemptId, GateId, PhaseId};
use chronicle_core::event::input::{AttemptReport, Command, EndSeen, Input, Report, TimerKind};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::trees::Moment;
use chronicle_core::event::{Break, Change, CrashClass, FollowUp, Issues, SnapshotUpdate, Why};
use chronicle_core::state::Status;
use chronicle_core::state::effect::Action;
use proptest::prelude::*;

use crate::world::{World, calls, person, report, signal, tree};

/// Low limits, so that what goes round is seen soon.
const WORKFLOW: &str = "
name: P
limits: {nudges: 1, retries: 1, losses: 2, waits: 2, continuations: 1, depth: 2, followups: 3, repeats: 5, standstill: 20m}
phases:
  dig: {next: [fill]}
  fill: {next: [dig, done]}
";

fn attempts(world: &World) -> usize {
    world.state.attempts.len()
}

#[test]
fn a_snapshot_with_the_same_words_is_no_progress() {
    for again in ["snap it leaks", "snap it leaks; same read a; same read a"] {
        let world = World::started(WORKFLOW, &format!("dig: {again}; finish")).play();
        assert_eq!(world.state.status(), Status::Waiting, "{}", world.told());
        // The first words are new, but nothing had gone wrong before them: one start, one reminder, one fresh start.
        assert_eq!(attempts(&world), 3, "{}", world.told());
    }
}

#[test]
fn a_snapshot_before_each_overload_does_not_make_the_wait_the_first_one() {
    let script = format!("dig: {}", vec!["snap it leaks; overload"; 20].join("; "));
    let world = World::started(WORKFLOW, &script).play();
    assert_eq!(world.state.status(), Status::Waiting);
    assert_eq!(world.state.waits().count(), 0, "{}", world.told());
    assert_eq!(attempts(&world), 3, "{}", world.told());
}

#[test]
fn a_snapshot_with_the_same_words_does_not_hide_a_circle() {
    let round = "same test all; snap it leaks";
    let script = format!("dig: {}; go fill", vec![round; 20].join("; "));
    let world = World::started(WORKFLOW, &script).play();
    assert_eq!(world.state.status(), Status::Waiting, "{}", world.told());
    assert!(world.told().contains("`test` all was asked for 6 times"), "{}", world.told());
}

#[test]
fn a_new_finding_is_progress() {
    let script = "dig 1: snap one; finish\ndig 2: snap two; finish\ndig 3: snap three; finish\n\
                  dig 4: snap four; go fill\nfill: go done";
    let world = World::started(WORKFLOW, script).play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    let whys: Vec<Why> = world.state.attempts.iter().map(|it| it.intent.why.clone()).collect();
    assert_eq!(whys[1..4], vec![Why::Nudge { number: 1 }; 3]);
}

#[test]
fn the_same_help_asked_for_again_and_again_ends_at_a_person() {
    let world = World::started(
        WORKFLOW,
        "dig: help mender; help mender; help mender; help mender; help mender; go fill
         dig@mender: complete",
    )
    .play();
    let told = world.told();
    assert!(
        told.ends_with(
            "g1 waits at `dig` for intervention: `dig` had help 3 times, which is the limit; now it asks for `mender`: \"it is broken\"\n"
        ),
        "{told}"
    );
    assert_eq!(attempts(&world), 7, "{told}");
}

#[test]
fn a_person_who_wants_it_tried_again_allows_as_much_help_again() {
    let world = World::started(
        WORKFLOW,
        "dig 1: help mender; help mender; help mender; help mender
         dig 5: help mender; go fill
         fill: go done
         dig@mender: complete
         g1: retry",
    )
    .play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
}

#[test]
fn a_command_that_changes_files_each_time_gets_no_more_tries_for_it() {
    let workflow = "{name: C, phases: {make: {run: command, commands: [a], limits: {retries: 2}}}}";
    let mut world = World::started(workflow, "make: crash");
    for _ in 0..200 {
        match world.state.due().first().map(|effect| effect.action) {
            Some(Action::RecordTree(moment)) => drop(world.step(&tree(moment, &["out.txt"]))),
            Some(_) => assert!(world.one_move()),
            None => break,
        }
    }
    assert_eq!(world.state.status(), Status::Waiting, "{}", world.told());
    assert_eq!(attempts(&world), 3, "{}", world.told());
}

#[test]
fn a_worker_with_endless_progress_ends_at_a_person() {
    let mut world = World::started(WORKFLOW, "");
    world.one_move();
    let id = AttemptId(1);
    let mut minutes = 0;
    // A changed file every minute: each stretch of twenty minutes counts once, ten times.
    while world.state.due().iter().any(|it| it.action == Action::RunAttempt(id)) {
        minutes += 1;
        assert!(minutes < 1_000);
        let active_ms = minutes * 60_000;
        let name = format!("c{minutes}");
        let call = calls(&name, "edit", &minutes.to_string());
        world.step(&report(Report::Attempt { attempt: id, active_ms, what: call }));
        let what = AttemptReport::ToolEnded { call: name, ok: true };
        world.step(&report(Report::Attempt { attempt: id, active_ms, what }));
        let (path, change) = ("a.rs".to_owned(), Change::Changed);
        let what = AttemptReport::FileChanged { path, change };
        world.step(&report(Report::Attempt { attempt: id, active_ms, what }));
        fire_if_over(&mut world, active_ms);
    }
    assert!((200..=240).contains(&minutes), "{minutes}");
    world.step(&ended(minutes * 60_000, EndSeen { stopped: true, ..EndSeen::default() }));
    world.step(&tree(Moment::After(id), &["a.rs"]));
    let told = world.told();
    assert!(told.contains("`dig` does not leave: it worked for 3 h 4"), "{told}");
    // A person's word gives a new allowance.
    world.step(&person(Command::Retry {
        place: None,
        note: String::new(),
        agent: None,
        from: None,
    }));
    assert_eq!(world.state.frames.values().next().unwrap().progress.counted, 0);
}

fn ended(active_ms: u64, seen: EndSeen) -> Input {
    let what = AttemptReport::Ended(seen);
    report(Report::Attempt { attempt: AttemptId(1), active_ms, what })
}

/// What the clock does: every timer that has run out by then fires.
fn fire_if_over(world: &mut World, now_ms: u64) {
    let over = world.state.due().into_iter().find_map(|effect| match effect.action {
        Action::RunTimer { attempt, timer, active_ms } => {
            let known = world.state.attempt(attempt)?.active_ms;
            (known.saturating_add(active_ms) <= now_ms).then_some((attempt, timer))
        }
        _ => None,
    });
    if let Some((attempt, timer)) = over {
        world.step(&report(Report::TimerFired { attempt, timer }));
    }
}

/// A worker that wants to work for ever: it knows every limit, and plays whatever might keep it below them.
struct Attacker {
    world: World,
    /// Numbers what must be new.
    number: u64,
    /// Active time of the attempt that works.
    now_ms: u64,
    /// Whether that attempt has changed files.
    changed: bool,
}

/// What an attacker can do.
#[derive(Debug, Clone, Copy)]
enum Trick {
    SameWords,
    NewWords,
    NewTask,
    OtherCustom,
    SameHelp,
    OtherHelp,
    InsteadOfMe,
    Continue,
    SaysFile,
    ChangesFile,
    SameCall,
    OtherCall,
    EndsTurn,
    Overload,
    Crash,
    SessionGone,
    Dies,
    Silence,
    Leaves,
    Works,
}

const TRICKS: [Trick; 20] = [
    Trick::SameWords,
    Trick::NewWords,
    Trick::NewTask,
    Trick::OtherCustom,
    Trick::SameHelp,
    Trick::OtherHelp,
    Trick::InsteadOfMe,
    Trick::Continue,
    Trick::SaysFile,
    Trick::ChangesFile,
    Trick::SameCall,
    Trick::OtherCall,
    Trick::EndsTurn,
    Trick::Overload,
    Trick::Crash,
    Trick::SessionGone,
    Trick::Dies,
    Trick::Silence,
    Trick::Leaves,
    Trick::Works,
];

impl Attacker {
    fn new() -> Self {
        Self { world: World::started(WORKFLOW, ""), number: 0, now_ms: 0, changed: false }
    }

    /// One effect is performed, as a world would; who works plays the trick. Nothing due is the end.
    fn moves(&mut self, trick: Trick) -> bool {
        let due = self.world.state.due();
        match due.first().map(|effect| effect.action) {
            Some(Action::RunAttempt(id)) => {
                // Never less than a moment, and sometimes long.
                self.now_ms += if matches!(trick, Trick::Works) { 7 * 60_000 } else { 1_000 };
                self.plays(id, trick);
                fire_if_over(&mut self.world, self.now_ms);
            }
            Some(Action::StopAttempt(id)) => {
                self.ends(id, EndSeen { stopped: true, ..EndSeen::default() });
            }
            Some(Action::WaitUntil { attempt, .. }) => {
                let timer = TimerKind::Wait;
                self.world.step(&report(Report::TimerFired { attempt, timer }));
            }
            Some(Action::RecordTree(moment)) => {
                let is_after = matches!(moment, Moment::After(_));
                let paths: &[&str] = if self.changed && is_after { &["a.rs"] } else { &[] };
                self.changed &= !is_after;
                self.world.step(&tree(moment, paths));
            }
            Some(_) => return self.world.one_move(),
            None => return false,
        }
        true
    }

    fn about(&mut self, id: AttemptId, what: AttemptReport) {
        let active_ms = self.now_ms;
        self.world.step(&report(Report::Attempt { attempt: id, active_ms, what }));
    }

    fn ends(&mut self, id: AttemptId, seen: EndSeen) {
        self.about(id, AttemptReport::Ended(seen));
        self.now_ms = 0;
    }

    fn fails(&mut self, id: AttemptId, class: CrashClass) {
        let error = Some((class, "so it says".to_owned()));
        self.ends(id, EndSeen { error, ..EndSeen::default() });
    }

    fn says(&mut self, id: AttemptId, what: Signal) {
        let request = format!("r{}", self.number);
        self.world.step(&signal(id, &request, what));
    }

    /// From each phase to the other, never to the end; who helps has helped.
    fn leaves(&mut self, id: AttemptId) {
        let intent = &self.world.state.attempt(id).unwrap().intent;
        let target = if intent.place.as_str() == "dig" { "fill" } else { "dig" };
        let target = intent.persona.is_none().then(|| PhaseId::from(target));
        let summary = String::new();
        self.says(
            id,
            Signal::Leave { target, outcome: None, summary, task: None, issues: Issues::default() },
        );
    }

    fn plays(&mut self, id: AttemptId, trick: Trick) {
        self.number += 1;
        let new = format!("finding {}", self.number);
        let snapshot = |update: SnapshotUpdate| Signal::Snapshot(update);
        let words = |texts: Vec<String>| SnapshotUpdate { findings: texts, ..Default::default() };
        match trick {
            Trick::SameWords => self.says(id, snapshot(words(vec!["the same".to_owned()]))),
            Trick::NewWords => self.says(id, snapshot(words(vec![new]))),
            Trick::NewTask => {
                let (pending, done) = (vec![new.clone()], vec![new]);
                self.says(id, snapshot(SnapshotUpdate { pending, done, ..Default::default() }));
            }
            Trick::OtherCustom => {
                let custom = serde_json::json!({ "at": self.number }).as_object().cloned().unwrap();
                self.says(id, snapshot(SnapshotUpdate { custom, ..Default::default() }));
            }
            Trick::SameHelp => self.says(id, help("mender", true)),
            Trick::OtherHelp => self.says(id, help(&format!("mender-{}", self.number), true)),
            Trick::InsteadOfMe => self.says(id, help(&format!("other-{}", self.number), false)),
            Trick::Continue => {
                let (progress, point) = (new.clone(), new);
                self.says(id, Signal::Break(Break::Continue { progress, point }));
            }
            Trick::SaysFile => {
                let (path, change) = (new, Change::Created);
                self.about(id, AttemptReport::FileChanged { path, change });
            }
            Trick::ChangesFile => self.changed = true,
            Trick::SameCall => self.about(id, calls(&new, "bash", "make")),
            Trick::OtherCall => self.about(id, calls(&new, "bash", &new)),
            Trick::EndsTurn => self.ends(id, EndSeen { finished: true, ..EndSeen::default() }),
            Trick::Overload => self.fails(id, CrashClass::Overload),
            Trick::Crash => self.fails(id, CrashClass::Other),
            Trick::SessionGone => self.fails(id, CrashClass::SessionGone),
            Trick::Dies => self.ends(id, EndSeen { lost: true, ..EndSeen::default() }),
            Trick::Silence => self.about(id, AttemptReport::Idle),
            Trick::Leaves => self.leaves(id),
            Trick::Works => {}
        }
        // Who has said that it leaves ends its turn in the end.
        if self.world.state.attempt(id).is_some_and(|it| it.is_leaving() && it.ended.is_none()) {
            self.ends(id, EndSeen { finished: true, ..EndSeen::default() });
        }
    }
}

fn help(persona: &str, resume: bool) -> Signal {
    let (persona, reason, context) = (persona.to_owned(), String::new(), String::new());
    Signal::Break(Break::FollowUp(FollowUp { persona, reason, context, resume }))
}

/// Attempts of one visit: every failure that is counted, after every count of progress and for every helper, and what each
/// helper and each continuation costs. Far more than honest work needs, and far less than a night of it.
const ATTEMPTS_PER_VISIT: usize = 200;
/// Visits that a pair of phases allows, with those before and after.
const VISITS: usize = 6;
/// More moves than any of it takes.
const MOVES_MAX: usize = 40_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_worker_tries_it_ends_at_a_person(
        tricks in prop::collection::vec(prop::sample::select(TRICKS.to_vec()), 1..12)
    ) {
        let mut attacker = Attacker::new();
        let mut moves = 0;
        // Whoever only waits would never be ended by these means: the last trick makes time pass.
        for trick in tricks.iter().chain([&Trick::Works]).cycle() {
            if !attacker.moves(*trick) {
                break;
            }
            moves += 1;
            prop_assert!(moves < MOVES_MAX, "it goes on for ever: {tricks:?}");
        }
        let state = &attacker.world.state;
        let ended = matches!(state.status(), Status::Waiting | Status::Done);
        prop_assert!(ended, "{:?} after {tricks:?}", state.status());
        prop_assert!(
            attempts(&attacker.world) <= ATTEMPTS_PER_VISIT * VISITS,
            "{} attempts: {tricks:?}", attempts(&attacker.world)
        );
    }
}

#[test]
fn each_trick_alone_ends_at_a_person_soon() {
    for trick in TRICKS {
        for other in TRICKS {
            let mut attacker = Attacker::new();
            let mut moves = 0;
            for trick in [trick, other, Trick::EndsTurn].iter().cycle() {
                if !attacker.moves(*trick) {
                    break;
                }
                moves += 1;
                assert!(moves < MOVES_MAX, "{trick:?} {other:?}: {}", attacker.world.told());
            }
            let count = attempts(&attacker.world);
            assert!(count <= ATTEMPTS_PER_VISIT * VISITS, "{trick:?} {other:?}: {count} attempts");
        }
    }
}

/// A worker that has used up a part of its allowance and made the same call twice, then asks or is asked about.
fn tired(workflow: &str, then: &str) -> World {
    let script = format!(
        "dig: lost; snap found it; same read a; same read a; {then}; same read a; same read a; go done"
    );
    let mut world = World::started(workflow, &script);
    while world.state.open_gates().next().is_none() {
        assert!(world.one_move(), "{}", world.told());
    }
    let frame = world.state.frames.values().next().unwrap();
    assert_eq!(frame.progress.counted, 1, "{}", world.told());
    world
}

fn is_fresh(world: &World) -> bool {
    let frame = world.state.frames.values().next().unwrap();
    let is_clear = frame.worker.repeats.is_empty() && frame.worker.still.before_ms == 0;
    frame.progress.counted == 0 && is_clear
}

#[test]
fn whatever_a_person_answers_gives_a_new_allowance() {
    let plain = "{name: W, phases: {dig: {limits: {repeats: 2}}}}";
    let after = "{name: W, phases: {dig: {approval: after, limits: {repeats: 2}}}}";
    let gate = Some(GateId(1));
    let text = || "like this".to_owned();
    let answers = [
        (plain, "need how?", Command::Answer { gate, text: text(), note: String::new() }),
        (plain, "ask how?", Command::Answer { gate, text: text(), note: String::new() }),
        (after, "go done", Command::Reject { gate, note: text() }),
        (plain, "need how?", Command::Note { place: None, text: text() }),
    ];
    for (workflow, then, answer) in answers {
        let mut world = tired(workflow, then);
        assert!(!is_fresh(&world));
        world.step(&person(answer.clone()));
        assert!(is_fresh(&world), "{answer:?}: {}", world.told());
    }
}

#[test]
fn an_answer_allows_the_same_calls_again() {
    let workflow = "{name: W, phases: {dig: {limits: {repeats: 3}}}}";
    let mut world = tired(workflow, "ask how?");
    world.step(&person(Command::Answer {
        gate: None,
        text: "like this".to_owned(),
        note: String::new(),
    }));
    let world = world.play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
}
