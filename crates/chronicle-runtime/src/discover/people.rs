//! Personas that a run freezes: those that its phases name, and those that workers may ask for help.

use std::path::PathBuf;

use chronicle_core::definition::persona::Persona;
use chronicle_core::definition::workflow::{Loaded, NOT_SUPPORTED_YET, Phase, Severity, Workflow};

use super::{Catalog, FoundPersona, Level};

/// Limits for personas that are included only because a worker might ask for them: number, and bytes of text.
const HELPERS_MAX: usize = 64;
const HELPERS_BYTES_MAX: usize = 128 * 1024;

impl Catalog {
    /// The project's own files that some workflows use beside their own: personas and rules.
    pub fn brought(&self, workflows: &[Workflow]) -> Vec<PathBuf> {
        let named = self.named_in(workflows).chain(self.helpers_of(workflows));
        let personas = named.map(|found| &found.origin);
        let origins = personas.chain(self.rules.iter().map(|found| &found.origin));
        let own = origins.filter(|origin| origin.level == Level::Project);
        own.filter_map(|origin| origin.file.clone()).collect()
    }

    /// Personas that phases of some workflows name, as worker or helper.
    pub fn personas_of(&self, workflows: &[Workflow]) -> Vec<Persona> {
        self.named_in(workflows).map(|found| found.persona.clone()).collect()
    }

    /// Personas that workers may ask for although no phase names them, to be frozen with the others.
    pub fn helpers(&self, workflows: &[Workflow]) -> Vec<Persona> {
        self.helpers_of(workflows).map(|found| found.persona.clone()).collect()
    }

    /// Fields of named personas that this version cannot enforce, in words.
    pub fn unsupported_of(&self, workflows: &[Workflow]) -> Vec<String> {
        let said = |found: &FoundPersona| -> Vec<String> {
            let name = &found.persona.name;
            found.unenforced.iter().map(|it| format!("`{it}` of persona `{name}`")).collect()
        };
        self.named_in(workflows).flat_map(said).collect()
    }

    fn named_in(&self, workflows: &[Workflow]) -> impl Iterator<Item = &FoundPersona> {
        let phases = workflows.iter().flat_map(|workflow| &workflow.phases);
        let words: Vec<&str> = phases
            .flat_map(|phase| {
                let racers = phase.workers.iter().filter_map(|racer| racer.persona.as_ref());
                phase.persona.iter().chain(phase.followups.iter().flatten()).chain(racers)
            })
            .map(String::as_str)
            .collect();
        self.personas.iter().filter(move |it| words.iter().any(|word| it.persona.is_called(word)))
    }

    fn helpers_of(&self, workflows: &[Workflow]) -> impl Iterator<Item = &FoundPersona> {
        let is_open =
            workflows.iter().flat_map(|workflow| &workflow.phases).any(Phase::may_ask_help);
        let named: Vec<&str> =
            self.named_in(workflows).map(|found| found.persona.name.as_str()).collect();
        let mut bytes = 0;
        let rest = self.personas.iter().filter(move |found| {
            is_open && found.can_help() && !named.iter().any(|name| found.persona.is_called(name))
        });
        rest.take_while(move |found| {
            // Every helper is frozen into the first line of the run, whether it is ever asked or not.
            bytes += found.persona.prompt.len();
            bytes <= HELPERS_BYTES_MAX
        })
        .take(HELPERS_MAX)
    }

    /// Reports what named personas must not be used with, such as fields that this version cannot enforce.
    pub(super) fn judge_personas(&self, loaded: &mut Loaded) {
        for found in self.named_in(&loaded.workflows) {
            let mut unsupported = found.unsupported.clone();
            if self.accepts_unenforced {
                // Only what cannot be enforced yet can be accepted: a list of tools that is not read must be mended.
                for problem in unsupported.iter_mut().filter(|it| it.code == NOT_SUPPORTED_YET) {
                    problem.severity = Severity::Warning;
                }
            }
            if !unsupported.is_empty() {
                loaded.sources.push(found.source.clone());
            }
            loaded.problems.extend(unsupported);
        }
    }
}
