//! Positions of fields, for checks that need more than the file: which agents exist, which other workflows.

use super::super::draft::{Draft, Span};
use super::super::model::Workflow;
use crate::base::ids::PhaseId;

/// Workflow fields that are checked elsewhere.
const OF_WORKFLOW: [&str; 6] = ["agent", "commandName", "name", "limits", "guards", "walls"];
/// Phase fields that are checked elsewhere.
const OF_PHASE: [&str; 8] =
    ["agent", "fallback", "persona", "id", "walls", "workers", "workflow", "on"];

/// Positions of the fields of one workflow.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Places {
    /// Key of the workflow.
    pub key: String,
    spans: Vec<(Option<PhaseId>, &'static str, Span)>,
}

impl Places {
    /// Collects positions from a draft and the workflow made from it.
    pub(crate) fn of(draft: &Draft, workflow: &Workflow) -> Self {
        let mut spans = Vec::new();
        for field in OF_WORKFLOW {
            spans.push((None, field, draft.locate(None, field)));
        }
        for phase in workflow.phases.iter().filter(|phase| !phase.implicit) {
            for field in OF_PHASE {
                let span = draft.locate(Some(phase.id.as_str()), field);
                spans.push((Some(phase.id.clone()), field, span));
            }
        }
        Self { key: workflow.key.clone(), spans }
    }

    /// The same, for sources that follow that many others.
    pub(crate) fn shifted(&self, sources: usize) -> Self {
        let mut places = self.clone();
        for (_, _, span) in &mut places.spans {
            span.source += sources;
        }
        places
    }

    /// The position of a field, or of its owner.
    pub(crate) fn find(&self, phase: Option<&PhaseId>, field: &str) -> Option<Span> {
        let own = self.spans.iter().find(|(of, name, _)| of.as_ref() == phase && *name == field);
        // A field that the file does not have is told at the workflow's first line rather than nowhere.
        own.or(self.spans.first()).map(|(_, _, span)| *span)
    }
}
