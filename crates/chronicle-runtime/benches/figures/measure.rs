//! How things are measured: side by side, in turns, and the median counts.
//!
//! A machine that does other things at the same time makes every figure worse; it makes both sides of a ratio worse alike
//! when they take turns.

use std::time::{Duration, Instant};

/// One line of the table.
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) ours: String,
    pub(crate) theirs: String,
    pub(crate) ratio: String,
    pub(crate) target: Target,
}

/// What a figure should be.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// Printed without a limit.
    None,
    /// As much as this, or more.
    AtLeast(f64),
    /// As much as this, or less.
    AtMost(f64),
}

impl Row {
    /// A row whose ratio is judged.
    pub(crate) fn judged(
        what: impl Into<String>,
        (ours, theirs): (String, String),
        ratio: f64,
        target: Target,
    ) -> Self {
        let mark = if target.is_met(ratio) { "" } else { " MISSED" };
        let ratio = format!("{ratio:.2}×{mark}");
        Self { what: what.into(), ours, theirs, ratio, target }
    }

    /// A row that only says something.
    pub(crate) fn told(what: impl Into<String>, ours: impl Into<String>) -> Self {
        let (theirs, ratio) = (String::new(), String::new());
        Self { what: what.into(), ours: ours.into(), theirs, ratio, target: Target::None }
    }

    /// In Markdown, as `docs/benchmarks.md` has it.
    pub(crate) fn to_line(&self) -> String {
        let Self { what, ours, theirs, ratio, .. } = self;
        let target = match self.target {
            Target::None => String::new(),
            Target::AtLeast(least) => format!("≥ {least}×"),
            Target::AtMost(most) => format!("≤ {most}×"),
        };
        format!("| {what} | {ours} | {theirs} | {ratio} | {target} |")
    }
}

impl Target {
    fn is_met(self, ratio: f64) -> bool {
        match self {
            Self::None => true,
            Self::AtLeast(least) => ratio >= least,
            Self::AtMost(most) => ratio <= most,
        }
    }
}

/// How long something takes.
pub(crate) fn time<T>(what: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = what();
    (start.elapsed(), done)
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Two things that took turns: the middle of each, and the middle of the ratios of neighbours.
pub(crate) struct Pairs(Vec<(f64, f64)>);

impl Pairs {
    /// Lets both take turns, each first every second time.
    pub(crate) fn take(
        rounds: usize,
        mut one: impl FnMut() -> Duration,
        mut other: impl FnMut() -> Duration,
    ) -> Self {
        let turn = |round: usize| {
            let first = round.is_multiple_of(2).then(&mut one);
            let second = other();
            (first.unwrap_or_else(&mut one).as_secs_f64(), second.as_secs_f64())
        };
        Self((0..rounds).map(turn).collect())
    }

    pub(crate) fn of(pairs: Vec<(Duration, Duration)>) -> Self {
        Self(
            pairs
                .into_iter()
                .map(|(one, other)| (one.as_secs_f64(), other.as_secs_f64()))
                .collect(),
        )
    }

    /// Seconds of the first.
    pub(crate) fn one(&self) -> f64 {
        median(self.0.iter().map(|pair| pair.0).collect())
    }

    /// Seconds of the second.
    pub(crate) fn other(&self) -> f64 {
        median(self.0.iter().map(|pair| pair.1).collect())
    }

    /// Time of the first for one of the second.
    pub(crate) fn time_ratio(&self) -> f64 {
        median(self.0.iter().map(|(one, other)| one / other).collect())
    }

    /// Speed of the first for one of the second.
    pub(crate) fn speed_ratio(&self) -> f64 {
        median(self.0.iter().map(|(one, other)| other / one).collect())
    }
}

/// So many in so many seconds.
pub(crate) fn rate(count: usize, seconds: f64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = count as f64 / seconds;
    if rate >= 10_000.0 { format!("{:.1} k/s", rate / 1_000.0) } else { format!("{rate:.0}/s") }
}

/// A time for people.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{seconds:.2} s"),
        0.001.. => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{:.1} µs", seconds * 1e6),
    }
}

/// A line of this process's own status, in KiB: `VmRSS`, `VmHWM`.
pub(crate) fn own_memory_kib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
}
