//! What a run came to: what must be the same, however often its supervisors died.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chronicle_core::base::ids::SessionId;
use chronicle_core::base::usage::Scope;
use chronicle_core::event::Event;
use chronicle_core::event::record::Line;
use chronicle_core::state::{State, Status};
use chronicle_core::words;

/// What a run must come to, however often it died.
pub(crate) struct Whole {
    pub(crate) status: Status,
    pub(crate) path: Vec<String>,
    pub(crate) works: Vec<String>,
    pub(crate) counted: u64,
}

impl Whole {
    pub(crate) fn of(state: &State, lines: &[Line]) -> Self {
        Self {
            status: state.status(),
            path: path(state),
            works: works(state, lines),
            counted: counted(state, lines),
        }
    }
}

/// Where it went, and what was said of it; not by which attempt.
fn path(state: &State) -> Vec<String> {
    let visits = state.visits.iter().map(|visit| {
        let left =
            visit.left.as_ref().map(|left| (&left.to, &left.outcome, without_id(&left.summary)));
        (visit.place.frame().as_str().to_owned(), format!("{} {left:?}", visit.place))
    });
    let mut visits: Vec<(String, String)> = visits.collect();
    if !state.pools.is_empty() {
        // Which of several steps does something first may change: what each frame does is compared.
        visits.sort_by(|one, other| one.0.cmp(&other.0));
    }
    visits.into_iter().map(|(_, visit)| visit).collect()
}

/// Without the ids of attempts: those of steps stand within what is said of their pool.
fn without_id(summary: &str) -> String {
    let is_id =
        |word: &&str| word.strip_prefix('a').is_some_and(|number| number.parse::<u32>().is_ok());
    let words: Vec<&str> = summary.split(' ').filter(|word| !is_id(word)).collect();
    words.join(" ")
}

/// Work that was completed: leaving signals and commands, each with its place and try.
fn works(state: &State, lines: &[Line]) -> Vec<String> {
    let mut works: Vec<String> = lines
        .iter()
        .flat_map(|line| &line.events)
        .filter_map(|event| {
            let (id, what) = match event {
                Event::SignalAccepted { attempt, .. } => (attempt, "left".to_owned()),
                Event::CommandEnded { attempt, index, code, .. } => {
                    (attempt, format!("command {index} {code:?}"))
                }
                _ => return None,
            };
            let intent = &state.attempt(*id).unwrap().intent;
            // What verifies and what puts away may be done again.
            if intent.chore.is_some() {
                return None;
            }
            Some(format!("{} {} {what}", intent.place, intent.try_number))
        })
        .collect();
    works.sort_unstable();
    works
}

/// What the ledger says was used, each message of each session once.
fn counted(state: &State, lines: &[Line]) -> u64 {
    let mut messages: BTreeMap<(SessionId, String), u64> = BTreeMap::new();
    for event in lines.iter().flat_map(|line| &line.events) {
        if let Event::UsageReported { attempt, scope: Scope::Message(id), usage, .. } = event {
            let session = state.attempt(*attempt).unwrap().intent.session.clone();
            messages.insert((session, id.clone()), usage.tokens());
        }
    }
    messages.values().sum()
}

/// What happened, for whoever looks for what went wrong.
pub(crate) fn told(lines: &[Line]) -> String {
    lines.iter().fold(String::new(), |mut text, line| {
        for event in &line.events {
            let _ = writeln!(text, "{} {}", line.seq, words::sentence(event));
        }
        text
    })
}
