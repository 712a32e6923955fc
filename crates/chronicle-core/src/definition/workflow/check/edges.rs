//! Edges of phases: omitted ones are filled in, undefined targets are reported.

use std::collections::BTreeSet;

use super::super::draft::{Named, Span};
use super::super::model::{Isolation, Phase, PhaseKind};
use super::super::problem::{Finding, Problems, quoted};
use super::super::suggest::closest;
use super::super::tools::Tools;
use super::super::unit::Format;
use super::phase::{PhaseRead, tell_bad_id};
use super::{PHASES_MAX, PhasesForm, Upon};
use crate::base::ids::{DONE, HUMAN_INTERVENTION, KNOWN_OUTCOMES, Outcome, PhaseId, REJECTED};

/// Connects phases with their edges. Phases that are only named in an edge come last.
pub(crate) fn connect(
    reads: Vec<PhaseRead>,
    shape: PhasesForm,
    upon: Upon<'_>,
    problems: &mut Problems,
) -> Vec<Phase> {
    let ids: Vec<PhaseId> = reads.iter().map(|read| read.phase.id.clone()).collect();
    let mut targets = Targets {
        defined: ids.iter().cloned().collect(),
        named: BTreeSet::new(),
        implicit: Vec::new(),
        // The Chronicle's own example names a state that it does not define.
        are_made: upon.format == Format::Template,
    };
    let mut phases = Vec::new();
    for (index, read) in reads.into_iter().enumerate() {
        let following = match shape {
            PhasesForm::List => ids.get(index + 1),
            PhasesForm::Map => None,
        };
        phases.push(with_edges(read, following, &mut targets, problems));
    }
    for id in targets.implicit {
        let persona = Some(id.as_str().to_owned());
        // Nobody wrote what this state does, so it may look and not touch.
        let tools = Tools::read_only();
        let phase = Phase::new(id, upon.limits.clone());
        phases.push(Phase { persona, tools, implicit: true, ..phase });
    }
    phases
}

fn with_edges(
    read: PhaseRead,
    following: Option<&PhaseId>,
    targets: &mut Targets,
    problems: &mut Problems,
) -> Phase {
    let PhaseRead { mut phase, at, next, on, .. } = read;
    match next {
        Some(said) => {
            for target in said {
                let target = targets.resolve(&target, problems);
                // Named twice is meant once. Counted twice, a single target would look like a choice.
                phase.next.extend(target.filter(|target| !phase.next.contains(target)));
            }
        }
        // A phase called `done` ends the frame on entry.
        None if phase.id.as_str() == DONE => {}
        // In a list the order is the path. In a map there is no order, so a phase without `next` ends the workflow.
        None => phase.next.extend(following.cloned()),
    }
    for (outcome, target) in on {
        tell_unknown_outcome(&outcome, &phase.outcomes, problems);
        tell_unsent(&outcome, &phase, problems);
        if let Some(target) = targets.resolve(&target, problems) {
            phase.on.insert(Outcome::new(outcome.text), target);
        }
    }
    tell_no_choice(&phase, at, problems);
    phase
}

/// Outcomes with which nothing is verified: there is no work that claims to be done.
const UNVERIFIED: [&str; 6] = ["fail", "crash", "stuck", "timeout", "rejected", "unverified"];

/// The workflow's `verify` must pass before the run is done, so no edge of a failure may lead past it.
pub(super) fn tell_unverified_ends(reads: &[PhaseRead], problems: &mut Problems) {
    let edges = reads.iter().flat_map(|read| &read.on);
    for (outcome, target) in edges {
        if target.text == DONE && UNVERIFIED.contains(&outcome.text.as_str()) {
            let message = format!(
                "{} leads to `done` past the workflow's `verify`, which must pass before the run is done",
                quoted(&outcome.text)
            );
            let finding = Finding::error("unverified-end", target.at, message);
            problems.push(finding.hint("name a phase, or leave it out: then a person is asked"));
        }
    }
}

/// Possible targets of edges.
struct Targets {
    defined: BTreeSet<PhaseId>,
    /// The same ids as `implicit`, for fast lookup.
    named: BTreeSet<PhaseId>,
    /// Phases that are only named as targets, in the order of their first use.
    implicit: Vec<PhaseId>,
    /// True if a phase that is only named is created.
    are_made: bool,
}

impl Targets {
    /// The phase of that name, created if necessary; `None` if the name is not a valid id.
    fn resolve(&mut self, target: &Named, problems: &mut Problems) -> Option<PhaseId> {
        let id = PhaseId::new(target.text.clone());
        let is_end = [DONE, HUMAN_INTERVENTION].contains(&id.as_str());
        if is_end || self.defined.contains(&id) {
            return Some(id);
        }
        if tell_bad_id(target, problems) {
            return None;
        }
        if !self.are_made {
            let message = format!("no phase is called {}", quoted(&target.text));
            self.tell(Finding::error("unknown-target", target.at, message), target, problems);
            return None;
        }
        if !self.named.contains(&id) {
            // Phases that only edges name count too: otherwise one phase with thousands of edges would make thousands of
            // phases.
            if self.defined.len() + self.named.len() >= PHASES_MAX {
                let message = format!("more than {PHASES_MAX} phases");
                problems.push(Finding::error("too-many-phases", target.at, message));
                return None;
            }
            self.named.insert(id.clone());
            self.implicit.push(id.clone());
        }
        let name = quoted(&target.text);
        let message = format!("no state is called {name}: a worker that may only read is added");
        self.tell(Finding::warning("implicit-phase", target.at, message), target, problems);
        Some(id)
    }

    /// Reports a finding with the likely intended name.
    fn tell(&self, finding: Finding, target: &Named, problems: &mut Problems) {
        let known = self.defined.iter().map(PhaseId::as_str).chain([DONE, HUMAN_INTERVENTION]);
        // Suggestions compare with every name; a file with thousands of mistakes must not make this slow.
        let meant = if problems.is_full() { None } else { closest(&target.text, known) };
        problems.push(finding.did_you_mean(meant));
    }
}

fn tell_unknown_outcome(outcome: &Named, own: &[Outcome], problems: &mut Problems) {
    let own = own.iter().map(Outcome::as_str);
    let mut known = KNOWN_OUTCOMES.into_iter().chain(own);
    if known.clone().any(|known| known == outcome.text) {
        return;
    }
    let name = quoted(&outcome.text);
    let message = format!("nothing is known to end with {name}");
    let finding = Finding::warning("unknown-outcome", outcome.at, message)
        .hint(format!("add `outcomes: [{}]`", name.trim_matches('`')));
    problems.push(finding.did_you_mean(closest(&outcome.text, &mut known)));
}

/// A worker may leave with any outcome, commands and workflows only with a few, and some outcomes only come from limits.
fn tell_unsent(outcome: &Named, phase: &Phase, problems: &mut Problems) {
    let is = |known: &[&str]| known.contains(&outcome.text.as_str());
    let why = match phase.run {
        // Nobody leaves it: it ends when its steps have, whatever words their workers use.
        PhaseKind::Pool | PhaseKind::Race
            if !is(&["complete", "gaps", "conflict", "unverified", REJECTED]) =>
        {
            "it ends with `complete` or `gaps`"
        }
        PhaseKind::Pool | PhaseKind::Race
            if is(&["conflict"]) && phase.isolation == Isolation::Shared =>
        {
            "its steps work on the project's own files, and nothing is merged"
        }
        PhaseKind::Pool | PhaseKind::Race
            if is(&[REJECTED]) && !phase.approval.is_before() && !phase.approval.is_after() =>
        {
            "it needs no approval"
        }
        // A word of the workflow's own may come from any worker.
        _ if !is(&KNOWN_OUTCOMES) => return,
        PhaseKind::Worker if is(&["timeout"]) && phase.limits.timeout_ms.is_none() => {
            "no `limits.timeout` is set"
        }
        _ if is(&["unverified"]) && phase.verify.is_empty() => "it has no `verify`",
        PhaseKind::Command if is(&["stuck"]) => {
            "commands may be silent, and end with `timeout` if they take too long"
        }
        PhaseKind::Worker | PhaseKind::Command | PhaseKind::Workflow
            if is(&[REJECTED])
                && !phase.approval.is_before()
                && !phase.approval.is_after()
                // A person may refuse an agent whose price is unknown.
                && phase.budget.as_ref().is_none_or(|budget| budget.usd_micros.is_none()) =>
        {
            "it needs no approval"
        }
        PhaseKind::Command if is(&["pass", "gaps", "conflict"]) => {
            "commands end with `complete` or `fail`"
        }
        PhaseKind::Workflow if is(&["pass", "crash", "stuck", "timeout", "conflict"]) => {
            "a workflow inside ends with `complete`, `fail` or `gaps`"
        }
        PhaseKind::Worker
        | PhaseKind::Command
        | PhaseKind::Workflow
        | PhaseKind::Inline
        | PhaseKind::Pool
        | PhaseKind::Race
        | PhaseKind::Human => return,
    };
    let name = quoted(&outcome.text);
    let message = format!("{} never ends with {name}: {why}", quoted(phase.id.as_str()));
    problems.push(Finding::warning("unsent-outcome", outcome.at, message));
}

/// A worker chooses among several edges; a sub-workflow or a command cannot.
fn tell_no_choice(phase: &Phase, at: Span, problems: &mut Problems) {
    let choosing: &[&str] = match phase.run {
        PhaseKind::Workflow | PhaseKind::Pool | PhaseKind::Race => &["complete"],
        PhaseKind::Command => &["complete", "pass"],
        PhaseKind::Worker | PhaseKind::Inline | PhaseKind::Human => return,
    };
    let chosen = phase.on.keys().any(|outcome| choosing.contains(&outcome.as_str()));
    if phase.next.len() < 2 || chosen {
        return;
    }
    let id = quoted(phase.id.as_str());
    let message = format!("{id} has several `next` and no worker to choose among them");
    let first = phase.next.first().map_or("", PhaseId::as_str);
    let finding = Finding::error("no-choice", at, message);
    problems.push(finding.hint(format!("add `on: {{complete: {first}}}`")));
}
