//! Does a step cost more when much has happened before? It must not.

use std::path::Path;
use std::time::Duration;

use chronicle_core::event::input::Input;
use chronicle_core::view;
use chronicle_runtime::for_tests::driver::Run;

use crate::measure::{Row, Target, median, seconds, time};
use crate::{scene, steps};

/// Steps in one turn: enough rounds of all three kinds of reports, few enough not to change a short history.
const STEPS: u64 = 30;
const TURNS: u64 = 41;
/// Events of one attempt before the turn.
const EVENTS: [u64; 3] = [10, 1_000, 100_000];
/// Attempts before the turn, each of them short.
const ATTEMPTS: [u32; 3] = [10, 100, 3_000];
const SHORT: u64 = 3;

/// Without the sync, which costs the same always and would hide everything else.
fn step_all(run: &mut Run, inputs: &[Input]) {
    for input in inputs {
        run.step(input).unwrap();
    }
}

fn work(from: u64, count: u64) -> Vec<Input> {
    (from..from + count).map(|number| scene::work(1, number)).collect()
}

pub(crate) fn rows(folder: &Path) -> Vec<Row> {
    let mut rows = in_one_attempt(&folder.join("events"));
    rows.extend(over_attempts(&folder.join("attempts")));
    rows
}

/// Tool calls and usage figures of one live attempt. The shortest history is begun anew at each turn.
fn in_one_attempt(folder: &Path) -> Vec<Row> {
    let at = |name: &str, events: u64| {
        let mut run = steps::open_at_work(&folder.join(name));
        step_all(&mut run, &work(0, events));
        run
    };
    let mut longer: Vec<Run> =
        EVENTS[1..].iter().map(|events| at(&events.to_string(), *events)).collect();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); EVENTS.len()];
    for turn in 0..TURNS {
        let mut short = at(&format!("short-{turn}"), EVENTS[0]);
        let runs = std::iter::once(&mut short).chain(&mut longer);
        for ((run, events), times) in runs.zip(EVENTS).zip(&mut times) {
            let done = if events == EVENTS[0] { events } else { events + turn * STEPS };
            let inputs = work(done, STEPS);
            times.push(per_step(time(|| step_all(run, &inputs)).0));
        }
    }
    compare(
        &times,
        EVENTS.map(|events| {
            format!("a step without sync after {events} events, against {}", EVENTS[0])
        }),
        Target::AtMost(1.5),
    )
}

/// The decision with the most consequences: an attempt ends, an edge is taken, the next attempt is due.
fn over_attempts(folder: &Path) -> Vec<Row> {
    let mut runs: Vec<(Run, u32)> =
        ATTEMPTS.iter().map(|count| circle(&folder.join(count.to_string()), *count)).collect();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); ATTEMPTS.len()];
    let mut views = times.clone();
    for _ in 0..TURNS {
        for (((run, live), times), views) in runs.iter_mut().zip(&mut times).zip(&mut views) {
            let inputs = whole_attempt(*live);
            let (last, before) = inputs.split_last().unwrap();
            step_all(run, before);
            times.push(time(|| run.step(last).unwrap()).0.as_secs_f64());
            views.push(time(|| view::run(run.state(), true)).0.as_secs_f64());
            *live += 1;
        }
    }
    let name = |what: &str| {
        ATTEMPTS.map(|count| format!("{what} after {count} attempts, against {}", ATTEMPTS[0]))
    };
    let mut rows = compare(&times, name("the step from attempt to attempt"), Target::AtMost(2.0));
    rows.extend(compare(&views, name("the view for people"), Target::None));
    rows
}

/// A run that has gone round so often, and its live attempt.
fn circle(folder: &Path, attempts: u32) -> (Run, u32) {
    let mut run = steps::open_at_work(folder);
    for number in 1..=attempts {
        step_all(&mut run, &whole_attempt(number));
    }
    (run, attempts + 1)
}

fn whole_attempt(number: u32) -> Vec<Input> {
    scene::attempt(number, SHORT, scene::round_target(number)).collect()
}

fn per_step(time: Duration) -> f64 {
    let steps = u32::try_from(STEPS).unwrap_or(u32::MAX);
    time.as_secs_f64() / f64::from(steps)
}

/// Each beside the first.
fn compare(times: &[Vec<f64>], what: [String; 3], target: Target) -> Vec<Row> {
    let first = median(times[0].clone());
    let row = |(times, what): (&Vec<f64>, String)| {
        let own = median(times.clone());
        Row::judged(what, (seconds(own), seconds(first)), own / first, target)
    };
    times.iter().zip(what).skip(1).map(row).collect()
}
