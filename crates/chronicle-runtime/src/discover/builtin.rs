//! The workflows and personas that come with Chronicle. They are found last: whoever has their own of the same name uses it.

use chronicle_core::workflow::Source;

/// Stands before the name of a file that is no file.
const PLACE: &str = "<built-in>";

const WORKFLOWS: &[(&str, &str)] = &[
    ("bugfix", include_str!("../../../../workflows/bugfix.yaml")),
    ("feature", include_str!("../../../../workflows/feature.yaml")),
    ("review", include_str!("../../../../workflows/review.yaml")),
];

const PERSONAS: &[(&str, &str)] = &[
    ("chaoswhisperer", include_str!("../../../../personas/chaoswhisperer.md")),
    ("codeweaver", include_str!("../../../../personas/codeweaver.md")),
    ("fixer", include_str!("../../../../personas/fixer.md")),
    ("implementer", include_str!("../../../../personas/implementer.md")),
    ("lawbringer", include_str!("../../../../personas/lawbringer.md")),
    ("pathseeker", include_str!("../../../../personas/pathseeker.md")),
    ("planner", include_str!("../../../../personas/planner.md")),
    ("reproducer", include_str!("../../../../personas/reproducer.md")),
    ("reviewer", include_str!("../../../../personas/reviewer.md")),
    ("siegemaster", include_str!("../../../../personas/siegemaster.md")),
    ("skeptic", include_str!("../../../../personas/skeptic.md")),
    ("spiritmender", include_str!("../../../../personas/spiritmender.md")),
];

/// The built-in workflow of that name.
pub fn workflow(key: &str) -> Option<Source> {
    let (key, text) = WORKFLOWS.iter().find(|(name, _)| *name == key)?;
    Some(Source {
        name: format!("{PLACE}/{key}.yaml"),
        key: (*key).to_owned(),
        text: (*text).to_owned(),
    })
}

/// The names of all of them.
pub fn workflows() -> impl Iterator<Item = &'static str> {
    WORKFLOWS.iter().map(|(name, _)| *name)
}

/// The whole file of a built-in persona, by its name in any case.
pub fn persona(name: &str) -> Option<&'static str> {
    PERSONAS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, text)| *text)
}

/// The names of all of them.
pub fn personas() -> impl Iterator<Item = &'static str> {
    PERSONAS.iter().map(|(name, _)| *name)
}

/// Whether a source came with Chronicle.
pub fn is_builtin(source: &Source) -> bool {
    source.name.starts_with(PLACE)
}

/// What a persona's file says to the worker: all below its frontmatter.
pub(super) fn body(text: &str) -> &str {
    let after = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    after.map_or(text, |(_, body)| body).trim()
}
