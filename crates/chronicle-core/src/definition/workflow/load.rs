//! Loads a workflow and every sub-workflow that it reaches.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use super::check::{NOT_SUPPORTED_YET, Places};
use super::draft::{Named, Span};
use super::expand;
use super::model::{Phase, PhaseKind, Workflow};
use super::nested;
use super::people::{self, KnownPersonas};
use super::problem::{Finding, Problem, Problems, Severity, place, quoted};
use super::suggest::closest;
use super::unit::{Format, Trouble, Unit, read};
use crate::base::ids::PhaseId;

/// Most workflows that one may reach.
const WORKFLOWS_MAX: usize = 100;

/// The text of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file to open, byte for byte: its name for people may have lost some. `None` if it has no file.
    pub file: Option<PathBuf>,
    /// The path that people see.
    pub name: String,
    /// The name that it is started by.
    pub key: String,
    /// What the file holds.
    pub text: String,
}

/// The result of loading a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The requested one first, then every sub-workflow. Unreadable ones are missing.
    pub workflows: Vec<Workflow>,
    /// All problems, in the order of `sources` and of their text.
    pub problems: Vec<Problem>,
    /// Every text that was read, for snippets in messages.
    pub sources: Vec<Source>,
    places: Vec<Places>,
}

impl Loaded {
    /// True if a run may start with it: there is no error.
    pub fn is_usable(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity != Severity::Error)
    }

    /// A problem found by a caller that knows more than the files, at a field of a workflow or of one of its phases.
    pub fn problem(
        &self,
        at: &FieldAt<'_>,
        severity: Severity,
        code: &'static str,
        message: String,
        hint: Option<String>,
    ) -> Problem {
        let finding = Finding::new(severity, code, self.span(at), message);
        let finding = match hint {
            Some(hint) => finding.hint(hint),
            None => finding,
        };
        place(finding, &self.sources)
    }

    pub(super) fn span(&self, at: &FieldAt<'_>) -> Span {
        let places = self.places.iter().find(|places| places.key == at.workflow);
        let span = places.and_then(|places| places.find(at.phase, at.field));
        span.unwrap_or(Span { source: 0, start: 0, end: 0 })
    }
}

/// A field of a loaded workflow or of one of its phases.
#[derive(Debug, Clone, Copy)]
pub struct FieldAt<'a> {
    /// Key of the workflow.
    pub workflow: &'a str,
    /// The phase; `None` for a field of the workflow itself.
    pub phase: Option<&'a PhaseId>,
    /// Name of the field.
    pub field: &'a str,
}

/// What exists beside the definitions, and what a person accepted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'k> {
    /// KnownPersonas of existing personas; `None` if they were not looked up.
    pub personas: Option<KnownPersonas<'k>>,
    /// Keys of existing workflows.
    pub workflows: &'k [&'k str],
    /// True if a person accepts that some fields are not enforced.
    pub accepts_unenforced: bool,
}

/// Which workflow runs which others, with the position of each name.
type Calls = BTreeMap<String, Vec<Named>>;

/// Loads a workflow in the native format and all that it reaches. `lookup` finds the source of a sub-workflow by its key.
pub fn load(main: Source, lookup: &mut dyn FnMut(&str) -> Option<Source>) -> Loaded {
    let mut no_files = |file: &str| {
        let message = format!("there is no phase file {} here", quoted(file));
        let hint = Some("write the phase inline: `id:`, `instructions:`".to_owned());
        Err(Trouble { code: "phase-file", message, hint })
    };
    let main = Arc::new(read(main, Format::Native, &mut no_files));
    let mut find = |key: &str| {
        let source = lookup(key)?;
        // It is known by the key that it was asked for, whatever else it answers to.
        let source = Source { key: key.to_owned(), ..source };
        Some(Arc::new(read(source, Format::Native, &mut no_files)))
    };
    assemble(&main, Known::default(), &mut find)
}

/// Combines a definition with all that it reaches. `lookup` finds a definition by its key.
pub fn assemble(
    main: &Arc<Unit>,
    known: Known<'_>,
    lookup: &mut dyn FnMut(&str) -> Option<Arc<Unit>>,
) -> Loaded {
    let mut problems = Problems::default();
    let mut loaded = Loaded {
        workflows: Vec::new(),
        problems: Vec::new(),
        sources: Vec::new(),
        places: Vec::new(),
    };
    let mut broken = BTreeSet::new();
    let mut calls = Calls::new();
    // Each workflow is read once, however often it is called; a name that was not found is remembered too.
    let mut found = BTreeMap::from([(main.key.clone(), true)]);
    // Breadth first, so that problems are told in the order in which a reader meets the files.
    let mut waiting = VecDeque::from([Arc::clone(main)]);
    while let Some(unit) = waiting.pop_front() {
        let before = loaded.sources.len();
        // Compared afterwards: a unit may be sound by itself and broken by the personas or workflows that are missing here.
        let errors = problems.errors();
        let mut own = unit.problems.clone();
        if known.accepts_unenforced {
            // Made a warning and not removed: the person accepted it, and should still see what they accepted.
            own.accept(NOT_SUPPORTED_YET);
        }
        problems.absorb(&own, before);
        let mut workflow = unit.workflow.clone();
        if let Some(personas) = known.personas {
            people::tell(&unit.asked, before, personas, &mut problems);
            if let Some(workflow) = &mut workflow {
                people::restrict(workflow, &unit.asked, personas);
            }
        }
        loaded.sources.extend(unit.sources.iter().cloned());
        loaded.workflows.extend(workflow);
        // A place names its file by number, and among the files of all workflows that is another number.
        loaded.places.extend(unit.places.as_ref().map(|places| places.shifted(before)));
        let said: Vec<Named> = unit.calls.iter().map(|call| shifted(call, before)).collect();
        for call in &said {
            let next = follow(call, &mut found, lookup, &mut problems);
            match next {
                Ok(next) => waiting.extend(next),
                Err(finding) => {
                    let meant = closest(&call.text, known.workflows.iter().copied());
                    problems.push(finding.did_you_mean(meant));
                }
            }
        }
        if problems.errors() > errors {
            broken.insert(unit.key.clone());
        }
        calls.insert(unit.key.clone(), said);
    }
    tell_broken(&calls, broken, &mut problems);
    find_cycles(&main.key, &calls, &mut problems);
    tell_taken(&loaded, &mut problems);
    nested::tell_nested(&loaded, &mut problems);
    loaded.problems = problems.finish(&loaded.sources);
    // Last, since it changes phases: problems were found in what the person wrote.
    verify_inside(&mut loaded.workflows);
    loaded
}

/// Reports pools and races whose steps would run as a workflow that is something else.
fn tell_taken(loaded: &Loaded, problems: &mut Problems) {
    let mut others: Vec<Workflow> = loaded.workflows.clone();
    for workflow in &loaded.workflows {
        for (phase, derived) in expand::derived(workflow) {
            // The same one may be needed by several phases.
            match others.iter().find(|other| other.key == derived.key) {
                Some(same) if *same == derived => {}
                None => others.push(derived),
                Some(_) => {
                    let at = FieldAt { workflow: &workflow.key, phase: Some(phase), field: "id" };
                    let key = quoted(&derived.key);
                    let message = format!("{key}, as work at this phase is called, is taken");
                    let finding = Finding::error("taken-key", loaded.span(&at), message);
                    problems.push(finding.hint("give the phase another id"));
                }
            }
        }
    }
}

/// A phase that runs a workflow is left only if that workflow's own `verify` passes, and then its own.
fn verify_inside(workflows: &mut [Workflow]) {
    let inner: BTreeMap<String, Vec<String>> =
        workflows.iter().map(|it| (it.key.clone(), it.verify.clone())).collect();
    let phases = workflows.iter_mut().flat_map(|workflow| &mut workflow.phases);
    let runs_one = |phase: &&mut Phase| matches!(phase.run, PhaseKind::Workflow | PhaseKind::Pool);
    for phase in phases.filter(runs_one) {
        let inner = phase.workflow.as_ref().and_then(|key| inner.get(key));
        // In front of the phase's own: the workflow inside must hold by itself before anything outside judges it.
        phase.verify.splice(0..0, inner.into_iter().flatten().cloned());
    }
}

fn shifted(named: &Named, sources: usize) -> Named {
    let mut named = named.clone();
    named.at.source += sources;
    named
}

/// The definition of a sub-workflow that was not looked up before; reports an error if there is none. `known` collects the keys
/// that were found.
fn follow(
    call: &Named,
    known: &mut BTreeMap<String, bool>,
    lookup: &mut dyn FnMut(&str) -> Option<Arc<Unit>>,
    problems: &mut Problems,
) -> Result<Option<Arc<Unit>>, Finding> {
    // Read already, or waiting to be: a workflow that several phases run is checked once.
    if known.get(&call.text) == Some(&true) {
        return Ok(None);
    }
    if known.len() >= WORKFLOWS_MAX {
        let message = format!("more than {WORKFLOWS_MAX} workflows are reached");
        problems.push(Finding::error("too-many-workflows", call.at, message));
        return Ok(None);
    }
    // A name that was not found is told at each place that uses it, and looked up once.
    let found = if known.contains_key(&call.text) { None } else { lookup(&call.text) };
    known.insert(call.text.clone(), found.is_some());
    if found.is_some() {
        return Ok(found);
    }
    let message = format!("no workflow is called {}", quoted(&call.text));
    let finding = Finding::error("workflow-not-found", call.at, message);
    Err(finding.hint("`chronicle list` shows the workflows"))
}

/// Reports every workflow that depends, however indirectly, on one that cannot run.
fn tell_broken(calls: &Calls, mut broken: BTreeSet<String>, problems: &mut Problems) {
    let mut told = BTreeSet::new();
    loop {
        let before = told.len();
        for (key, said) in calls {
            // A workflow that runs itself is told as a cycle, which says more.
            for call in said.iter().filter(|call| call.text != *key) {
                if broken.contains(&call.text) && told.insert(call.at) {
                    let message = format!("{} cannot run: it has errors", quoted(&call.text));
                    problems.push(Finding::error("broken-workflow", call.at, message));
                    broken.insert(key.clone());
                }
            }
        }
        // Nothing new was told in this round: errors have spread to every workflow that depends on them.
        if told.len() == before {
            return;
        }
    }
}

/// Finds cycles: everything is reachable from the first workflow, so every cycle is.
fn find_cycles(main: &str, calls: &Calls, problems: &mut Problems) {
    walk(main, calls, &mut Vec::new(), &mut BTreeSet::new(), problems);
}

/// Depth-first; at most `WORKFLOWS_MAX` deep.
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
    // The recursion is bounded: at most `WORKFLOWS_MAX` workflows were read.
    trail.push(key);
    for call in calls.get(key).into_iter().flatten() {
        match trail.iter().position(|before| *before == call.text) {
            Some(begin) => problems.push(cycle(call, &trail[begin..])),
            None => walk(&call.text, calls, trail, finished, problems),
        }
    }
    trail.pop();
    // A workflow that leads to no cycle is not walked again. Without this, files that call each other widely would take for
    // ever.
    finished.insert(key);
}

fn cycle(call: &Named, trail: &[&str]) -> Finding {
    let names: Vec<String> = trail.iter().map(|key| quoted(key)).collect();
    let again = quoted(&call.text);
    let message = format!("{again} would run itself: {} → {again}", names.join(" → "));
    Finding::error("workflow-cycle", call.at, message)
}
