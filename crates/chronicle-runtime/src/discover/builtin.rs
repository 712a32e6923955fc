//! Definitions that are built into the program: found last, so that files of the same name win.

use chronicle_core::definition::workflow::{Source, Trouble};

use super::workflows::FOLDER_FILE;

/// A definition that is compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its file, below the folder of its kind: `feature.yaml`, `feature/workflow.yaml`, `feature/plan.md`, `planner.md`.
    pub path: &'static str,
    /// The content of that file.
    pub text: &'static str,
}

/// Workflows, in the native format. A folder's phase files are listed like its `workflow.yaml`.
pub const WORKFLOWS: &[Builtin] = &[
    Builtin { path: "bugfix.yaml", text: include_str!("../../../../workflows/bugfix.yaml") },
    Builtin { path: "feature.yaml", text: include_str!("../../../../workflows/feature.yaml") },
    Builtin { path: "review.yaml", text: include_str!("../../../../workflows/review.yaml") },
];
/// Built-in personas, one Markdown file each.
pub const PERSONAS: &[Builtin] = &[
    Builtin {
        path: "chaoswhisperer.md",
        text: include_str!("../../../../personas/chaoswhisperer.md"),
    },
    Builtin { path: "codeweaver.md", text: include_str!("../../../../personas/codeweaver.md") },
    Builtin { path: "fixer.md", text: include_str!("../../../../personas/fixer.md") },
    Builtin { path: "implementer.md", text: include_str!("../../../../personas/implementer.md") },
    Builtin { path: "lawbringer.md", text: include_str!("../../../../personas/lawbringer.md") },
    Builtin { path: "pathseeker.md", text: include_str!("../../../../personas/pathseeker.md") },
    Builtin { path: "planner.md", text: include_str!("../../../../personas/planner.md") },
    Builtin { path: "reproducer.md", text: include_str!("../../../../personas/reproducer.md") },
    Builtin { path: "reviewer.md", text: include_str!("../../../../personas/reviewer.md") },
    Builtin { path: "siegemaster.md", text: include_str!("../../../../personas/siegemaster.md") },
    Builtin { path: "skeptic.md", text: include_str!("../../../../personas/skeptic.md") },
    Builtin { path: "spiritmender.md", text: include_str!("../../../../personas/spiritmender.md") },
];
/// Prefix of the path of a source that is not a file.
pub(super) const PREFIX: &str = "built-in ";

impl Builtin {
    /// Its name without the ending.
    pub fn stem(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(stem, _)| stem)
    }
}

/// Whether a source came with Chronicle.
pub fn is_builtin(source: &Source) -> bool {
    source.name.starts_with(PREFIX)
}

/// The key of a built-in workflow and the folder of its phases; none for a phase's file.
pub(super) fn builtin_key(path: &str) -> Option<(&str, &str)> {
    match path.rsplit_once('/') {
        Some((folder, FOLDER_FILE)) => Some((folder, folder)),
        Some(_) => None,
        None => Some((path.rsplit_once('.').map_or(path, |(stem, _)| stem), "")),
    }
}

pub(super) fn builtin_phase(
    builtin: &[Builtin],
    folder: &str,
    name: &str,
) -> Result<Source, Trouble> {
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let found = builtin.iter().find(|file| file.path == path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let file = found.ok_or_else(|| Trouble::new("not-found", "there is no such built-in file"))?;
    let (name, key) = (format!("{PREFIX}{}", file.path), stem.to_owned());
    Ok(Source { file: None, name, key, text: file.text.to_owned() })
}
