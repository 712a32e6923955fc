//! A workflow file and every sub-workflow that it reaches.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::check::{self, Checked};
use super::draft::Named;
use super::from_native;
use super::model::Workflow;
use super::problem::{Finding, Problem, Problems, Severity, quoted};
use crate::limits::Limits;

/// Most workflows that one may reach.
const WORKFLOWS_MAX: usize = 100;

/// The text of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path that people are shown.
    pub name: String,
    /// What the workflow is called by.
    pub key: String,
    /// What the file holds.
    pub text: String,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The one asked for first, then every sub-workflow reached. Those beyond reading are missing.
    pub workflows: Vec<Workflow>,
    /// Everything wrong with any of them, in the order of `sources` and of their text.
    pub problems: Vec<Problem>,
    /// Every text that was read, for snippets.
    pub sources: Vec<Source>,
}

impl Loaded {
    /// Whether a run may start with it: no error.
    pub fn is_usable(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity != Severity::Error)
    }
}

/// Which workflow runs which others, and where that is said.
type Calls = BTreeMap<String, Vec<Named>>;

/// Reads a workflow and all that it reaches. `lookup` finds the source of a sub-workflow by its key.
pub fn load(main: Source, lookup: &mut dyn FnMut(&str) -> Option<Source>) -> Loaded {
    load_upon(&Limits::default(), main, lookup)
}

/// The same, with the limits that hold where a workflow sets none.
pub fn load_upon(
    limits: &Limits,
    main: Source,
    lookup: &mut dyn FnMut(&str) -> Option<Source>,
) -> Loaded {
    let mut problems = Problems::default();
    let mut loaded = Loaded { workflows: Vec::new(), problems: Vec::new(), sources: Vec::new() };
    let mut calls = Calls::new();
    let mut known = BTreeMap::from([(main.key.clone(), true)]);
    let mut waiting = VecDeque::from([main]);
    while let Some(source) = waiting.pop_front() {
        let checked = read(loaded.sources.len(), &source, limits, &mut problems);
        let key = source.key.clone();
        loaded.sources.push(source);
        let Some(Checked { workflow, calls: said }) = checked else { continue };
        loaded.workflows.extend(workflow);
        for call in &said {
            let room = known.len() < WORKFLOWS_MAX;
            waiting.extend(follow(call, &mut known, room, lookup, &mut problems));
        }
        calls.insert(key, said);
    }
    let main = loaded.sources.first().map_or("", |source| source.key.as_str());
    find_cycles(main, &calls, &mut problems);
    loaded.problems = problems.finish(&loaded.sources);
    loaded
}

/// One source, by the reader of its format: there is one so far.
fn read(
    index: usize,
    source: &Source,
    limits: &Limits,
    problems: &mut Problems,
) -> Option<Checked> {
    let draft = from_native::read(index, &source.text, problems)?;
    Some(check::check(&draft, &source.key, limits, problems))
}

/// The source of a sub-workflow that was not asked for before. `known` remembers which keys were found.
fn follow(
    call: &Named,
    known: &mut BTreeMap<String, bool>,
    room: bool,
    lookup: &mut dyn FnMut(&str) -> Option<Source>,
    problems: &mut Problems,
) -> Option<Source> {
    if known.get(&call.text) == Some(&true) {
        return None;
    }
    if !room {
        let message = format!("more than {WORKFLOWS_MAX} workflows are reached");
        problems.push(Finding::error("too-many-workflows", call.at, message));
        return None;
    }
    let found = if known.contains_key(&call.text) { None } else { lookup(&call.text) };
    known.insert(call.text.clone(), found.is_some());
    if found.is_none() {
        let message = format!("no workflow is called {}", quoted(&call.text));
        let finding = Finding::error("workflow-not-found", call.at, message);
        problems.push(finding.hint("`chronicle list` shows the workflows"));
    }
    // It is known by the key that it was asked for, whatever else it answers to.
    found.map(|source| Source { key: call.text.clone(), ..source })
}

/// Everything is reached from the first one, so every cycle is.
fn find_cycles(main: &str, calls: &Calls, problems: &mut Problems) {
    walk(main, calls, &mut Vec::new(), &mut BTreeSet::new(), problems);
}

/// Depth first; as deep as there are workflows, of which `WORKFLOWS_MAX` exist.
fn walk<'c>(
    key: &'c str,
    calls: &'c Calls,
    trail: &mut Vec<&'c str>,
    finished: &mut BTreeSet<&'c str>,
    problems: &mut Problems,
) {
    if finished.contains(key) {
        return;
    }
    trail.push(key);
    for call in calls.get(key).into_iter().flatten() {
        match trail.iter().position(|before| *before == call.text) {
            Some(begin) => problems.push(cycle(call, &trail[begin..])),
            None => walk(&call.text, calls, trail, finished, problems),
        }
    }
    trail.pop();
    finished.insert(key);
}

fn cycle(call: &Named, trail: &[&str]) -> Finding {
    let names: Vec<String> = trail.iter().map(|key| quoted(key)).collect();
    let again = quoted(&call.text);
    let message = format!("{again} would run itself: {} → {again}", names.join(" → "));
    Finding::error("workflow-cycle", call.at, message)
}
