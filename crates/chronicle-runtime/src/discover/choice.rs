//! Which of several definitions with the same name is used, and which of them can run.
//!
//! The first one wins, broken or not: a broken workflow of the project is never replaced by the user's or the built-in one of the
//! same name. Whatever depends on something broken is broken too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chronicle_core::definition::workflow::{
    Known, KnownPersonas, Problem, Severity, Trouble, Unit, assemble,
};

use super::Origin;

/// A workflow that was found.
#[derive(Debug, Clone)]
pub struct FoundWorkflow {
    /// The name that it is started by.
    pub key: String,
    /// The file it was read from.
    pub origin: Origin,
    /// The definition, parsed and checked by itself.
    pub unit: Arc<Unit>,
    /// True if it can run.
    pub is_usable: bool,
    /// Problems of the definition and of what it depends on.
    pub problems: Vec<Problem>,
    /// Files with the same name that are not used because this one comes first.
    pub overrides: Vec<Origin>,
    /// Why it may not run in place of an earlier one that cannot be read.
    pub hidden: Option<Problem>,
}

/// An earlier place that could not be read: it is unknown which workflows it has.
#[derive(Debug, Clone)]
pub(super) struct Blind {
    /// Its position in the search order.
    pub rank: usize,
    /// Its path, as people see it.
    pub path: String,
    /// The text that could not be parsed, if any.
    pub text: Option<String>,
}

impl Blind {
    /// True if it may have a workflow of that name, so that no other one may run in its place.
    fn may_hold(&self, key: &str) -> bool {
        // A text that cannot be parsed is searched for the name, so that one broken chain file does not block every workflow
        // after it.
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
    /// Position of its place in the search order.
    pub rank: usize,
}

/// The order of the list: that of pi-workflows among its own, with the user's first.
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

/// Candidates by key, in search order.
type ByKey<'c> = BTreeMap<&'c str, Vec<&'c Candidate>>;

/// Everything that was found, while it is decided what becomes of it.
pub(super) struct Pool<'c> {
    found: &'c [Candidate],
    by_key: ByKey<'c>,
    blind: &'c [Blind],
    personas: KnownPersonas<'c>,
}

impl<'c> Pool<'c> {
    /// Candidates in search order, unreadable places, and existing personas.
    pub(super) fn new(
        found: &'c [Candidate],
        blind: &'c [Blind],
        personas: KnownPersonas<'c>,
    ) -> Self {
        let mut by_key = ByKey::new();
        for candidate in found {
            by_key.entry(&candidate.unit.key).or_default().push(candidate);
        }
        Self { found, by_key, blind, personas }
    }

    /// The chosen workflow of each key, in the order of the list.
    pub(super) fn choose(&self) -> Vec<FoundWorkflow> {
        let broken = self.broken();
        let mut listed: Vec<&Candidate> = self.found.iter().collect();
        // Sorted for the list alone. Which definition is used was decided by the order of the search.
        listed.sort_by_key(|candidate| candidate.group);
        let mut seen = BTreeSet::new();
        listed.retain(|candidate| seen.insert(candidate.unit.key.as_str()));
        let keys = listed.into_iter().map(|candidate| candidate.unit.key.as_str());
        keys.filter_map(|key| self.described(key, broken.contains(key))).collect()
    }

    fn chosen(&self, key: &str) -> Option<&'c Candidate> {
        self.by_key.get(key)?.first().copied()
    }

    /// Keys of definitions that cannot run, by themselves or because of their sub-workflows.
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
        // Found here once for all: loading each workflow to see whether it contains itself would read the same files again
        // and again.
        all.extend(turning(&open));
        let mut waiting: Vec<&str> = all.iter().copied().collect();
        // A workflow that runs a broken one is broken too, and so is whoever runs that one.
        while let Some(key) = waiting.pop() {
            for caller in callers.get(key).into_iter().flatten() {
                if all.insert(caller) {
                    waiting.push(caller);
                }
            }
        }
        all
    }

    /// An earlier place that could not be read and may have another workflow of this name.
    fn hidden(&self, candidate: &Candidate) -> Option<&'c Blind> {
        // Only what has precedence can hide it. Something unreadable further down does not matter.
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

/// Keys that would run themselves: what remains after repeatedly removing those that run nothing and those that nothing runs.
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
