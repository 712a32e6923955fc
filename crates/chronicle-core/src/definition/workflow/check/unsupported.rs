//! Fields that this version cannot enforce. It refuses to start rather than ignore them.

use std::fmt;

use super::super::model::{Isolation, Phase, PhaseKind, Workflow};
use crate::base::ids::PhaseId;

/// A field that nothing would enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// The phase that has it; `None` for the workflow itself.
    pub phase: Option<PhaseId>,
    /// Name of the field, as in the native format.
    pub field: &'static str,
    /// The field with its value, if only that value is unsupported.
    pub said: &'static str,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.phase {
            Some(phase) => write!(f, "`{}` of phase `{phase}`", self.said),
            None => write!(f, "`{}`", self.said),
        }
    }
}

/// Every field that would be silently ignored otherwise.
pub fn unsupported(workflow: &Workflow) -> Vec<Unsupported> {
    workflow.phases.iter().flat_map(of_phase).collect()
}

fn of_phase(phase: &Phase) -> impl Iterator<Item = Unsupported> {
    let id = phase.id.clone();
    let has_folders = matches!(phase.run, PhaseKind::Pool | PhaseKind::Race);
    let is_isolated = phase.isolation == Isolation::Worktree && !has_folders;
    let found = [
        kind(phase.run),
        promise("extra_skills", !phase.extra_skills.is_empty()),
        value("isolation", "isolation: worktree", is_isolated),
    ];
    found.into_iter().flatten().map(move |found| Unsupported { phase: Some(id.clone()), ..found })
}

fn kind(run: PhaseKind) -> Option<Unsupported> {
    match run {
        PhaseKind::Worker
        | PhaseKind::Command
        | PhaseKind::Workflow
        | PhaseKind::Human
        | PhaseKind::Pool
        | PhaseKind::Race => None,
        PhaseKind::Inline => value("run", "run: inline", true),
    }
}

fn promise(field: &'static str, is_said: bool) -> Option<Unsupported> {
    value(field, field, is_said)
}

fn value(field: &'static str, said: &'static str, is_said: bool) -> Option<Unsupported> {
    is_said.then_some(Unsupported { phase: None, field, said })
}
