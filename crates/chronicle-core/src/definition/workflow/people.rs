//! Personas that a workflow names, and what happens to unknown names.
//!
//! Native files are strict: an unknown persona would be a worker with every tool and no instructions. Files of other programs may
//! name personas that were never written; such a worker may only read.

use super::draft::{Draft, Span};
use super::model::{Phase, PhaseKind, Tools, Workflow};
use super::problem::{Finding, Problems, quoted};
use super::suggest::closest;
use super::unit::Format;
use crate::base::ids::{DONE, PhaseId};

/// A persona that is referred to by name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PersonaUse {
    name: String,
    /// The phase whose worker it is; `None` if it is only named as a possible helper.
    phase: Option<PhaseId>,
    at: Span,
    is_native: bool,
    /// True if the phase was already reported as undefined.
    is_told: bool,
}

/// Every persona that the phases of a workflow name.
pub(super) fn asked(draft: &Draft, workflow: &Workflow, format: Format) -> Vec<PersonaUse> {
    let is_native = format == Format::Native;
    let mut asked = Vec::new();
    for phase in workflow.phases.iter().filter(|phase| phase.id.as_str() != DONE) {
        let id = phase.id.as_str();
        let name = phase.persona.as_deref().filter(|it| draft.names_persona(id) || is_name(it));
        if let Some(name) = name.filter(|_| phase.run == PhaseKind::Worker) {
            let at = draft.locate(Some(id), "persona");
            let phase_id = Some(phase.id.clone());
            let (name, is_told) = (name.to_owned(), phase.implicit);
            asked.push(PersonaUse { name, phase: phase_id, at, is_native, is_told });
        }
        // A phase of the same workflow can help as well, without a persona of that name.
        let helpers = phase.followups.iter().flatten().filter(|it| !is_done_by(workflow, it));
        asked.extend(helpers.map(|name| {
            let at = draft.locate(Some(id), "followups");
            PersonaUse { name: name.clone(), phase: None, at, is_native, is_told: false }
        }));
    }
    asked
}

/// A persona of one word is a name; several words are its text.
pub(crate) fn is_name(persona: &str) -> bool {
    !persona.trim().contains(char::is_whitespace)
}

/// The worker of a phase can be asked for help by the phase's name.
fn is_done_by(workflow: &Workflow, persona: &str) -> bool {
    workflow.phases.iter().any(|phase| phase.is_by(persona))
}

fn is_there(asked: &PersonaUse, personas: &[&str]) -> bool {
    personas.iter().any(|name| name.trim().eq_ignore_ascii_case(asked.name.trim()))
}

/// Reports every unknown name. Positions are shifted by the number of preceding sources.
pub(super) fn tell(
    asked: &[PersonaUse],
    sources: usize,
    personas: &[&str],
    problems: &mut Problems,
) {
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
            // As for fields: in a file full of mistakes, comparing every name with every other must not take long.
            if problems.is_full() { None } else { closest(&one.name, personas.iter().copied()) };
        problems.push(finding.did_you_mean(meant));
    }
}

/// Restricts workers with unknown personas to reading, and removes the unknown names.
pub(super) fn restrict(workflow: &mut Workflow, asked: &[PersonaUse], personas: &[&str]) {
    for one in asked.iter().filter(|one| !is_there(one, personas)) {
        let found = workflow.phases.iter_mut().find(|it| Some(&it.id) == one.phase.as_ref());
        if let Some(phase) = found {
            restrict_phase(phase);
        }
    }
}

fn restrict_phase(phase: &mut Phase) {
    phase.persona = None;
    // A list of the phase may allow less. It cannot allow more: the persona that was meant may have denied it.
    phase.tools = phase.tools.within(&Tools::read_only());
}
