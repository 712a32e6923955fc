//! Which of several definitions of one name is used, and which of them can run.
//!
//! The first one wins, broken or not: a broken workflow of the project never runs as the user's or the built-in one of the
//! same name. What depends on something broken is broken too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chronicle_core::definition::workflow::{Known, Problem, Severity, Trouble, Unit, assemble};

use super::Origin;

/// A workflow that is here.
#[derive(Debug, Clone)]
pub struct FoundWorkflow {
    /// What it is called by.
    pub key: String,
    /// Where it is from.
    pub origin: Origin,
    /// Its definition.
    pub unit: Arc<Unit>,
    /// Whether it can run.
    pub is_usable: bool,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// Files of the same name that are not used because this one comes first.
    pub overrides: Vec<Origin>,
    /// Why it may not run in place of one that comes first and cannot be read.
    pub hidden: Option<Problem>,
}

/// A place that comes before others and could not be read: nobody knows which workflows it holds.
#[derive(Debug, Clone)]
pub(super) struct Blind {
    /// Which place it is, in the order of the search.
    pub rank: usize,
    /// As people are shown it.
    pub path: String,
    /// The text, where there is one that could not be understood.
    pub text: Option<String>,
}

impl Blind {
    /// Whether the workflow of that name may be there, so that no other one may run in its place.
    fn may_hold(&self, key: &str) -> bool {
        let names = |text: &String| text.contains(&format!("{key}:"));
        self.text.as_ref().is_none_or(names)
    }
}

/// One file or folder that defines a workflow.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub origin: Origin,
    pub unit: Arc<Unit>,
    pub group: Group,
    /// Which place it was found in, in the order of the search.
    pub rank: usize,
}

/// The order in which workflows are listed: that of pi-workflows among its own, with the user's first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Own,
    PiUser,
    PiOwn,
    Templates,
    Chains,
    User,
    Builtin,
}

/// Candidates of each key, those that come first first.
type ByKey<'c> = BTreeMap<&'c str, Vec<&'c Candidate>>;

/// Everything that was found, while it is decided what becomes of it.
pub(super) struct Pool<'c> {
    found: &'c [Candidate],
    by_key: ByKey<'c>,
    blind: &'c [Blind],
    personas: &'c [&'c str],
}

impl<'c> Pool<'c> {
    /// Candidates in the order of the search, places that could not be read, and the personas there are.
    pub(super) fn new(found: &'c [Candidate], blind: &'c [Blind], personas: &'c [&'c str]) -> Self {
        let mut by_key = ByKey::new();
        for candidate in found {
            by_key.entry(&candidate.unit.key).or_default().push(candidate);
        }
        Self { found, by_key, blind, personas }
    }

    /// The workflow of each key, in the order of the list.
    pub(super) fn choose(&self) -> Vec<FoundWorkflow> {
        let broken = self.broken();
        let mut listed: Vec<&Candidate> = self.found.iter().collect();
        listed.sort_by_key(|candidate| candidate.group);
        let mut seen = BTreeSet::new();
        listed.retain(|candidate| seen.insert(candidate.unit.key.as_str()));
        let keys = listed.into_iter().map(|candidate| candidate.unit.key.as_str());
        keys.filter_map(|key| self.described(key, broken.contains(key))).collect()
    }

    fn chosen(&self, key: &str) -> Option<&'c Candidate> {
        self.by_key.get(key)?.first().copied()
    }

    /// Keys whose definitions cannot run by themselves, or because of something that they run inside them.
    fn broken(&self) -> BTreeSet<&'c str> {
        let mut callers: BTreeMap<&str, Vec<&'c str>> = BTreeMap::new();
        let mut open: BTreeMap<&'c str, BTreeSet<&str>> = BTreeMap::new();
        let mut all = BTreeSet::new();
        for key in self.by_key.keys() {
            let Some(candidate) = self.chosen(key) else { continue };
            let calls: BTreeSet<&str> = candidate.unit.calls().collect();
            let lacks = calls.iter().any(|call| !self.by_key.contains_key(call));
            let is_sound = candidate.unit.is_sound_among(self.personas);
            if lacks || !is_sound || self.hidden(candidate).is_some() {
                all.insert(*key);
            }
            for call in &calls {
                callers.entry(call).or_default().push(key);
            }
            open.insert(key, calls);
        }
        all.extend(turning(&open));
        let mut waiting: Vec<&str> = all.iter().copied().collect();
        while let Some(key) = waiting.pop() {
            for caller in callers.get(key).into_iter().flatten() {
                if all.insert(caller) {
                    waiting.push(caller);
                }
            }
        }
        all
    }

    /// A place that comes before the candidate's own, could not be read, and may hold another workflow of its name.
    fn hidden(&self, candidate: &Candidate) -> Option<&'c Blind> {
        let mut before = self.blind.iter().filter(|place| place.rank < candidate.rank);
        before.find(|place| place.may_hold(&candidate.unit.key))
    }

    fn described(&self, key: &str, is_broken: bool) -> Option<FoundWorkflow> {
        let (used, after) = self.by_key.get(key)?.split_first()?;
        let mut problems = if is_broken {
            let mut find = |key: &str| self.chosen(key).map(|it| Arc::clone(&it.unit));
            let known = Known { personas: Some(self.personas), ..Known::default() };
            assemble(&used.unit, known, &mut find).problems
        } else {
            used.unit.problems_among(self.personas)
        };
        let hidden = self.hidden(used).map(|place| {
            let path = &place.path;
            let message = format!("`{path}` comes first, cannot be read, and may hold `{key}`");
            let trouble = Trouble::new("hidden-workflow", message).hint("make that one readable");
            Problem::of_file(&used.origin.path, Severity::Error, trouble)
        });
        problems.extend(hidden.clone());
        Some(FoundWorkflow {
            key: key.to_owned(),
            origin: used.origin.clone(),
            unit: Arc::clone(&used.unit),
            is_usable: !is_broken,
            problems,
            overrides: after.iter().map(|it| it.origin.clone()).collect(),
            hidden,
        })
    }
}

/// Keys that would run themselves: what is left when those that run nothing, and those that nothing runs, are taken away
/// again and again.
fn turning<'c>(calls: &BTreeMap<&'c str, BTreeSet<&str>>) -> BTreeSet<&'c str> {
    let mut left: BTreeSet<&'c str> = calls.keys().copied().collect();
    loop {
        let called: BTreeSet<&str> =
            left.iter().filter_map(|key| calls.get(key)).flatten().copied().collect();
        let before = left.len();
        let stays = |key: &&str| {
            let runs = calls.get(key).into_iter().flatten();
            called.contains(key) && runs.into_iter().any(|call| left.contains(call))
        };
        let next: BTreeSet<&'c str> = left.iter().copied().filter(|key| stays(key)).collect();
        if next.len() == before {
            return next;
        }
        left = next;
    }
}
