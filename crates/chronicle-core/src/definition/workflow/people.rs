//! Personas that a workflow names, and what happens to unknown names.
//!
//! Native files are strict: an unknown persona would be a worker with every tool and no instructions. So are chains, as the program
//! is that they come from. Other files may name personas that were never written; such a worker may only read. No file of another
//! program means a persona that is built in here: its author never saw it.

use super::draft::{Draft, Span};
use super::model::{Phase, PhaseKind, Workflow};
use super::problem::{Finding, Problems, quoted};
use super::suggest::closest;
use super::tools::Tools;
use super::unit::Format;
use crate::base::ids::{DONE, PhaseId};

/// A persona that is referred to by name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PersonaUse {
    name: String,
    /// The phase whose worker it is; `None` if it is only named as a possible helper.
    phase: Option<PhaseId>,
    at: Span,
    format: Format,
    /// True if the phase was already reported as undefined.
    is_told: bool,
    /// True if the worker is only told that its own sub-agents may be of that persona.
    is_profile: bool,
}

/// KnownPersonas of the personas that there are.
#[derive(Debug, Clone, Copy)]
pub struct KnownPersonas<'n> {
    /// Those that the project or the user has a file of.
    pub written: &'n [&'n str],
    /// Those that are built in, and that no file replaces.
    pub builtin: &'n [&'n str],
}

impl<'n> KnownPersonas<'n> {
    /// Those that a file of that format can mean.
    fn of(self, format: Format) -> impl Iterator<Item = &'n str> {
        let builtin = if format == Format::Native { self.builtin } else { &[] };
        self.written.iter().chain(builtin).copied()
    }
}

/// Every persona that the phases of a workflow name.
pub(super) fn asked(draft: &Draft, workflow: &Workflow, format: Format) -> Vec<PersonaUse> {
    let mut asked = Vec::new();
    for phase in workflow.phases.iter().filter(|phase| phase.id.as_str() != DONE) {
        let id = phase.id.as_str();
        let name = phase.persona.as_deref().filter(|it| draft.names_persona(id) || is_name(it));
        let has_worker = matches!(phase.run, PhaseKind::Worker | PhaseKind::Pool | PhaseKind::Race);
        if let Some(name) = name.filter(|_| has_worker) {
            let at = draft.locate(Some(id), "persona");
            let phase_id = Some(phase.id.clone());
            let (name, is_told) = (name.to_owned(), phase.implicit);
            let is_profile = false;
            asked.push(PersonaUse { name, phase: phase_id, at, format, is_told, is_profile });
        }
        // Files of other programs name profiles of theirs.
        let profiles = phase.available_profiles.iter().flatten();
        asked.extend(profiles.filter(|_| format == Format::Native).map(|name| {
            let at = draft.locate(Some(id), "availableProfiles");
            let (phase, is_told, is_profile) = (None, false, true);
            PersonaUse { name: name.clone(), phase, at, format, is_told, is_profile }
        }));
        let racers = phase.workers.iter().filter_map(|racer| racer.persona.as_deref());
        asked.extend(racers.filter(|it| is_name(it)).map(|name| {
            let at = draft.locate(Some(id), "workers");
            let (phase, is_told, is_profile) = (None, false, false);
            PersonaUse { name: name.to_owned(), phase, at, format, is_told, is_profile }
        }));
        // A phase of the same workflow can help as well, without a persona of that name. Not in a pool or a race: its workers have a
        // workflow of their own.
        let is_inside = matches!(phase.run, PhaseKind::Pool | PhaseKind::Race);
        let named = phase.followups.iter().flatten();
        let helpers = named.filter(|it| is_inside || !is_done_by(workflow, it));
        asked.extend(helpers.map(|name| {
            let at = draft.locate(Some(id), "followups");
            let (phase, is_told, is_profile) = (None, false, false);
            PersonaUse { name: name.clone(), phase, at, format, is_told, is_profile }
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

fn is_there(asked: &PersonaUse, personas: KnownPersonas<'_>) -> bool {
    let mut names = personas.of(asked.format);
    names.any(|name| name.trim().eq_ignore_ascii_case(asked.name.trim()))
}

/// Reports every unknown name. Positions are shifted by the number of preceding sources.
pub(super) fn tell(
    asked: &[PersonaUse],
    sources: usize,
    personas: KnownPersonas<'_>,
    problems: &mut Problems,
) {
    for one in asked.iter().filter(|one| !one.is_told && !is_there(one, personas)) {
        let at = Span { source: one.at.source + sources, ..one.at };
        let name = quoted(&one.name);
        let finding = match one.format {
            _ if one.is_profile => {
                let message = format!("no persona is called {name}: no sub-agent can be of it");
                Finding::warning("unknown-persona", at, message)
            }
            Format::Native | Format::Chain => {
                Finding::error("unknown-persona", at, format!("no persona is called {name}"))
            }
            Format::Phased | Format::Template => {
                let then =
                    if one.phase.is_some() { "the worker may only read" } else { "it cannot help" };
                let message = format!("no persona is called {name}: {then}");
                Finding::warning("unknown-persona", at, message)
            }
        };
        let builtin = personas.builtin.iter().find(|it| it.eq_ignore_ascii_case(one.name.trim()));
        let finding = match (one.format, builtin) {
            (_, None) | (Format::Native, Some(_)) => {
                finding.hint("`chronicle list` shows the personas; a text has several words")
            }
            // Otherwise the list would seem to contradict.
            (Format::Phased | Format::Template | Format::Chain, Some(builtin)) => {
                finding.hint(format!("write `agents/{builtin}.md`: what is built in is not meant by files of other programs"))
            }
        };
        // As for fields: in a file full of mistakes, comparing every name with every other must not take long.
        let is_compared = !problems.is_full() && builtin.is_none();
        let meant = is_compared.then(|| closest(&one.name, personas.of(one.format))).flatten();
        problems.push(finding.did_you_mean(meant));
    }
}

/// Restricts workers with unknown personas to reading, and removes the unknown names.
pub(super) fn restrict(workflow: &mut Workflow, asked: &[PersonaUse], personas: KnownPersonas<'_>) {
    for one in asked.iter().filter(|one| !one.is_profile && !is_there(one, personas)) {
        match &one.phase {
            Some(id) => {
                workflow.phases.iter_mut().filter(|it| it.id == *id).for_each(restrict_phase);
            }
            // Out of the lists too: one that is built in would help in its place.
            None => workflow.phases.iter_mut().flat_map(|it| &mut it.followups).for_each(|names| {
                names.retain(|name| *name != one.name);
            }),
        }
    }
}

fn restrict_phase(phase: &mut Phase) {
    phase.persona = None;
    // A list of the phase may allow less. It cannot allow more: the persona that was meant may have denied it.
    phase.tools = phase.tools.within(&Tools::read_only());
}
