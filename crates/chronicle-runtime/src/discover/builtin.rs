//! What is shipped inside the program: found last, so that anybody's own file of the same name wins.

/// A definition that is compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its file, below the folder of its kind: `feature.yaml`, `feature/workflow.yaml`, `feature/plan.md`, `planner.md`.
    pub path: &'static str,
    /// What it holds.
    pub text: &'static str,
}

/// Workflows, in the native format. A folder's phase files are listed like its `workflow.yaml`.
pub(super) const WORKFLOWS: &[Builtin] = &[];
/// Personas.
pub(super) const PERSONAS: &[Builtin] = &[];
