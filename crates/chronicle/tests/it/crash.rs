//! The real binary is killed at every point that it has, in every scenario below `tests/crash`, and the run comes to the
//! same end. One test per scenario and point; each dies at the first, a middle and the last hit.
//!
//! With `CHRONICLE_CRASH_ALL` at every hit. With `CHRONICLE_CRASH_REPORT` each test leaves a row in that folder, which
//! `cargo xtask crash-matrix` prints.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use chronicle_runtime::for_tests::fail::Point;

use crate::crash_check::Ended;
use crate::crash_site::{Site, Stay};

/// A test for each point, and for each that is only reached behind a wall.
macro_rules! points {
    ($scenario:ident: $($point:ident)*; $($walled:ident)*; $($merge:ident)*) => {
        mod $scenario {
            $(#[test] fn $point() { super::every_death(stringify!($scenario), stringify!($point)); })*

            $(#[test] fn $merge() { super::every_death(stringify!($scenario), stringify!($merge)); })*

            mod needs_namespaces {
                $(#[test] fn $walled() {
                    super::super::every_death(stringify!($scenario), stringify!($walled));
                })*
            }

            #[test]
            fn no_point_is_forgotten() {
                super::are_all(
                    &[$(stringify!($point)),*],
                    &[$(stringify!($walled)),*],
                    &[$(stringify!($merge)),*],
                );
            }
        }
    };
}

macro_rules! scenarios {
    ($($scenario:ident)*; $merges:tt) => { $(scenarios! { @ $scenario; $merges })* };
    (@ $scenario:ident; ($($merge:ident)*)) => {
        points! { $scenario:
            before_append torn_append after_write before_sync after_sync before_answer after_set_aside
            before_start_agent after_start_agent before_start_command after_start_command
            before_stop after_stop before_timer after_timer before_observe after_observe
            before_first_report keeper_after_lock keeper_after_start keeper_before_report
            in_cache_write in_run_json_write in_file_write before_tree after_tree
            before_notice after_notice link_before_answer;
            keeper_after_wall keeper_after_init;
            $($merge)*
        }
    };
}

scenarios! { edits commands inside; () }

/// Steps in work folders, which are merged: without git there is no such run.
mod needs_git {
    use super::{are_all, every_death};

    scenarios! {
        pool;
        (in_work before_merge_stage before_merge_write in_merge_write in_merge_swap before_merge_end)
    }
}

/// What a person says while nobody drives the run is decided for the walls of the last supervisor, and the next has others. It dies at
/// each of its first lines, of which one gives an attempt its walls, and around the start.
mod walls {
    macro_rules! dies_at {
        ($($point:ident)*) => {
            $(#[test] fn $point() { super::every_death("walls", stringify!($point)); })*
        };
    }

    dies_at! {
        before_append torn_append after_sync before_start_agent after_start_agent keeper_after_lock
        before_start_command after_start_command
    }

    #[test]
    fn other_walls_are_needed() {
        let unharmed = super::unharmed("walls", super::Stay::Unwalled, None);
        assert_eq!(unharmed.ended.rewalled, 2);
    }
}

/// The scenario with steps that are merged.
pub(crate) const POOL: &str = "pool";

/// How many lines a supervisor that resumes writes until its attempt works.
const LINES_TO_START: usize = 5;

/// Points inside the writing of trees, where a machine without git never comes: `cmd_trees_killed.rs` dies there.
mod trees {
    use crate::cmd_trees_killed::{in_restore, in_tree};

    #[test]
    fn needs_git_in_tree() {
        super::held("two phases", "in-tree", in_tree);
    }

    #[test]
    fn needs_git_in_restore() {
        super::held("two phases", "in-restore", in_restore);
    }
}

/// Runs a test that fails unless everything held, and counts its deaths.
fn held(scenario: &str, point: &str, die: fn() -> usize) {
    let began = Instant::now();
    let died = die();
    report(("trees", scenario), point, died > 0, died, began);
}

const WITH_GIT: [Point; 2] = [Point::InTree, Point::InRestore];
const WITH_WALLS: [Point; 2] = [Point::KeeperAfterWall, Point::KeeperAfterInit];
/// Points in work folders and merges, which only the scenario `pool` has.
const WITH_MERGES: [Point; 6] = [
    Point::InWork,
    Point::BeforeMergeStage,
    Point::BeforeMergeWrite,
    Point::InMergeWrite,
    Point::InMergeSwap,
    Point::BeforeMergeEnd,
];

fn are_all(points: &[&str], walled: &[&str], merges: &[&str]) {
    let name = |it: &Point| it.name().replace('-', "_");
    let apart = [&WITH_GIT[..], &WITH_WALLS, &WITH_MERGES].concat();
    let all = Point::ALL.iter().filter(|it| !apart.contains(it));
    assert_eq!(points, all.map(name).collect::<Vec<String>>());
    assert_eq!(walled, WITH_WALLS.each_ref().map(name));
    assert!(merges.is_empty() || merges == WITH_MERGES.each_ref().map(name));
}

fn every_death(scenario: &'static str, point: &str) {
    let point = point.replace('_', "-");
    let began = Instant::now();
    let (stay, prelude) = match scenario {
        "walls" => (Stay::Unwalled, None),
        _ => way_to(&point),
    };
    let count = unharmed(scenario, stay, prelude).counts.get(&point).copied().unwrap_or(0);
    let calm = if stay == Stay::Unwalled { stay } else { Stay::Leave };
    let unharmed = unharmed(scenario, calm, None);
    assert!(count > 0, "`{scenario}` never comes to `{point}`");
    let mut died = 0;
    let mut failures = Vec::new();
    for (nth, cut) in chosen(scenario, stay, &point, count) {
        match die_near(scenario, stay, prelude, (&point, nth, cut), &unharmed.ended) {
            Ok(has_died) => died += usize::from(has_died),
            Err(why) => failures.push(format!("{point}:{nth}{cut}: {why}")),
        }
    }
    let held = failures.is_empty() && died > 0;
    report(("real", scenario), &point, held, died, began);
    assert!(held, "`{scenario}`, {died} deaths:\n{}", failures.join("\n"));
}

/// Most points are reached by themselves; some only after an earlier death, or while somebody waits.
fn way_to(point: &str) -> (Stay, Option<&'static str>) {
    match point {
        "link-before-answer" => (Stay::Wait, None),
        "before-notice" | "after-notice" => (Stay::Tell, None),
        "before-observe" | "after-observe" => (Stay::Leave, Some("after-start-agent:2")),
        "after-set-aside" => (Stay::Leave, Some("torn-append:9:half")),
        _ => (Stay::Leave, None),
    }
}

/// At which hits to die, and how much of a torn line is written.
fn chosen(scenario: &str, stay: Stay, point: &str, count: usize) -> Vec<(usize, &'static str)> {
    let cuts = [":1", ":half", ":-1"];
    let is_torn = point == "torn-append";
    if std::env::var_os("CHRONICLE_CRASH_ALL").is_some() {
        let cuts: &[&str] = if is_torn { &cuts } else { &[""] };
        return (1..=count).flat_map(|nth| cuts.iter().map(move |cut| (nth, *cut))).collect();
    }
    if stay == Stay::Unwalled {
        let cut = if is_torn { cuts[1] } else { "" };
        return (1..=count.min(LINES_TO_START)).map(|nth| (nth, cut)).collect();
    }
    // What a pool has in common with all others is tried there.
    if scenario == POOL && !WITH_MERGES.iter().any(|it| it.name() == point) {
        return vec![(count.div_ceil(2), if is_torn { cuts[1] } else { "" })];
    }
    let mut nths = vec![1, count.div_ceil(2), count];
    nths.dedup();
    if is_torn {
        nths.into_iter().zip(cuts).collect()
    } else {
        nths.into_iter().map(|nth| (nth, "")).collect()
    }
}

/// Dies at that hit. How often some points are hit depends on who was faster: where it is not reached any more, the
/// one before it is taken, unless every one is tried anyway.
fn die_near(
    scenario: &str,
    stay: Stay,
    prelude: Option<&str>,
    (point, nth, cut): (&str, usize, &str),
    unharmed: &Ended,
) -> Result<bool, String> {
    for nth in (1..=nth).rev() {
        let arms = prelude.map(str::to_owned).into_iter().chain([format!("{point}:{nth}{cut}")]);
        let mut site = Site::new(scenario, stay, arms.collect());
        let view = site.play()?;
        Ended::of(&site, &view)?.compare(unharmed)?;
        if site.is_all_over() {
            return Ok(true);
        }
        if std::env::var_os("CHRONICLE_CRASH_ALL").is_some() {
            return Ok(false);
        }
    }
    Err("nothing died".to_owned())
}

/// A run that nobody harmed, or only on the way to a point: then its hits are counted from there on.
struct Unharmed {
    ended: Ended,
    counts: BTreeMap<String, usize>,
}

type Way = (&'static str, Stay, Option<&'static str>);

/// Plays it once for each way; tests that come later find it here.
fn unharmed(scenario: &'static str, stay: Stay, prelude: Option<&'static str>) -> Arc<Unharmed> {
    static KNOWN: Mutex<BTreeMap<Way, Arc<Unharmed>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let way = (scenario, stay, prelude);
    if let Some(unharmed) = known.get(&way) {
        return Arc::clone(unharmed);
    }
    let arms = prelude.into_iter().chain(["count"]).map(str::to_owned);
    let mut site = Site::new(scenario, stay, arms.collect());
    let view = site.play().unwrap();
    let ended = Ended::of(&site, &view).unwrap();
    let unharmed = Arc::new(Unharmed { ended, counts: site.counts() });
    known.insert(way, Arc::clone(&unharmed));
    unharmed
}

/// Leaves a row for the certificate.
fn report((kind, scenario): (&str, &str), point: &str, held: bool, deaths: usize, began: Instant) {
    let Some(folder) = std::env::var_os("CHRONICLE_CRASH_REPORT") else { return };
    let word = if held { "held" } else { "BROKEN" };
    let row =
        format!("{kind}\t{scenario}\t{point}\t{word}\t{deaths}\t{}\n", began.elapsed().as_millis());
    std::fs::write(Path::new(&folder).join(format!("{kind}.{scenario}.{point}")), row).unwrap();
}
