//! The personas that a workflow names, and what becomes of a name that nobody has.
//!
//! Our own files are held to it: a persona that is not there would be a worker of whom nothing is known, with every tool. Files
//! of other programs may name personas that were never written; such a worker may only read.

use super::draft::{Draft, Span};
use super::model::{Phase, PhaseKind, Tools, Workflow};
use super::problem::{Finding, Problems, quoted};
use super::suggest::closest;
use super::unit::Format;
use crate::base::ids::{DONE, PhaseId};

/// A persona that is asked for by its name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    /// The name.
    name: String,
    /// The phase whose worker it is; none where the phase may only ask it for help.
    phase: Option<PhaseId>,
    at: Span,
    is_native: bool,
    /// A phase that nobody wrote was told of already.
    is_told: bool,
}

/// Every persona that the phases of a workflow name.
pub(super) fn asked(draft: &Draft, workflow: &Workflow, format: Format) -> Vec<Asked> {
    let is_native = format == Format::Native;
    let mut asked = Vec::new();
    for phase in workflow.phases.iter().filter(|phase| phase.id.as_str() != DONE) {
        let id = phase.id.as_str();
        let name = phase.persona.as_deref().filter(|it| draft.names_persona(id) || is_name(it));
        if let Some(name) = name.filter(|_| phase.run == PhaseKind::Worker) {
            let at = draft.locate(Some(id), "persona");
            let phase_id = Some(phase.id.clone());
            let (name, is_told) = (name.to_owned(), phase.implicit);
            asked.push(Asked { name, phase: phase_id, at, is_native, is_told });
        }
        let helpers = phase.followups.iter().flatten().filter(|it| !is_done_by(workflow, it));
        asked.extend(helpers.map(|name| {
            let at = draft.locate(Some(id), "followups");
            Asked { name: name.clone(), phase: None, at, is_native, is_told: false }
        }));
    }
    asked
}

/// A persona of one word is a name; one of several is its own text.
pub(crate) fn is_name(persona: &str) -> bool {
    !persona.trim().contains(char::is_whitespace)
}

/// A phase's own worker can be asked for help by the phase's name.
fn is_done_by(workflow: &Workflow, persona: &str) -> bool {
    workflow.phases.iter().any(|phase| phase.is_by(persona))
}

fn is_there(asked: &Asked, personas: &[&str]) -> bool {
    personas.iter().any(|name| name.trim().eq_ignore_ascii_case(asked.name.trim()))
}

/// Tells every name that none of these personas has. The places are of sources that come after so many others.
pub(super) fn tell(asked: &[Asked], sources: usize, personas: &[&str], problems: &mut Problems) {
    for one in asked.iter().filter(|one| !one.is_told && !is_there(one, personas)) {
        let at = Span { source: one.at.source + sources, ..one.at };
        let name = quoted(&one.name);
        let finding = if one.is_native {
            Finding::error("unknown-persona", at, format!("no persona is called {name}"))
        } else {
            let then =
                if one.phase.is_some() { "the worker may only read" } else { "it cannot help" };
            let message = format!("no persona is called {name}: {then}");
            Finding::warning("unknown-persona", at, message)
        };
        let finding = finding.hint("`chronicle list` shows the personas; a text has several words");
        let meant =
            if problems.is_full() { None } else { closest(&one.name, personas.iter().copied()) };
        problems.push(finding.did_you_mean(meant));
    }
}

/// Lets workers of whom nothing is known do nothing but read, and forgets the names that mean nothing.
pub(super) fn restrict(workflow: &mut Workflow, asked: &[Asked], personas: &[&str]) {
    for one in asked.iter().filter(|one| !is_there(one, personas)) {
        let found = workflow.phases.iter_mut().find(|it| Some(&it.id) == one.phase.as_ref());
        if let Some(phase) = found {
            restrict_phase(phase);
        }
    }
}

fn restrict_phase(phase: &mut Phase) {
    phase.persona = None;
    if phase.tools.is_unsaid() {
        phase.tools = Tools::read_only();
    }
}
