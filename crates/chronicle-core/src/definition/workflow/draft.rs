//! A parsed workflow file: every value with its span, nothing checked yet.
//!
//! Readers of other formats rename fields to the native names and keep the spans of their own text, so that `check` treats all
//! formats alike and a problem still points at what the person wrote.

/// A byte range of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// Index of the source: the phases of one draft may come from several files.
    pub source: usize,
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

/// One value of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub span: Span,
    pub value: Value,
}

/// A value, before a type is expected.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// A string, number or boolean; the field that reads it decides.
    Scalar(String),
    List(Vec<Node>),
    /// Named values in the file's order.
    Map(Vec<Field>),
}

/// A named value of a map.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub name: String,
    /// Position of the name.
    pub at: Span,
    pub value: Node,
}

/// A text with its position.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Named {
    pub text: String,
    pub at: Span,
}

/// A whole workflow as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    /// Where to point when something is missing.
    pub span: Span,
    /// Everything but the phases.
    pub fields: Vec<Field>,
    pub phases: Phases,
}

/// The phases as said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Phases {
    /// The file has no phases.
    Missing,
    /// In order: each leads to the next one unless it says otherwise.
    List(Vec<PhaseEntry>),
    /// By name: none leads anywhere unless it says so.
    Map(Vec<PhaseEntry>),
    /// Neither a list nor a map.
    Other(Node),
}

/// One phase as said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PhaseEntry {
    /// Given inline, or read from its file.
    Phase(PhaseDraft),
    /// A file that holds the phase.
    File {
        /// The file's name, relative to the workflow.
        file: Named,
        /// The phase's key in a map.
        key: Option<Named>,
    },
    /// A value that is not a phase; reported by the checks.
    Other(Node),
    /// Already reported as a problem.
    Told,
}

/// The fields of one phase.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PhaseDraft {
    /// The phase's key in a map.
    pub key: Option<Named>,
    /// Where to point when something is missing.
    pub span: Span,
    pub fields: Vec<Field>,
    /// True if its `persona` is always a name, whatever it looks like: in other formats `agent` is one.
    pub names_persona: bool,
}

impl Draft {
    /// Position of a field: of the workflow, or of the phase with that id. The phase's own position if it lacks the field.
    pub(crate) fn locate(&self, phase: Option<&str>, field: &str) -> Span {
        let Some(id) = phase else { return locate(&self.fields, field).unwrap_or(self.span) };
        let found = self.entries().iter().find_map(|entry| match entry {
            PhaseEntry::Phase(phase) if phase.id() == Some(id) => Some(phase),
            PhaseEntry::Phase(_)
            | PhaseEntry::File { .. }
            | PhaseEntry::Other(_)
            | PhaseEntry::Told => None,
        });
        found.map_or(self.span, |phase| locate(&phase.fields, field).unwrap_or(phase.span))
    }

    /// True if the persona of that phase is a name, however many words it has.
    pub(crate) fn names_persona(&self, id: &str) -> bool {
        self.entries().iter().any(|entry| match entry {
            PhaseEntry::Phase(phase) => phase.names_persona && phase.id() == Some(id),
            PhaseEntry::File { .. } | PhaseEntry::Other(_) | PhaseEntry::Told => false,
        })
    }

    fn entries(&self) -> &[PhaseEntry] {
        match &self.phases {
            Phases::List(entries) | Phases::Map(entries) => entries,
            Phases::Missing | Phases::Other(_) => &[],
        }
    }

    /// The phases, for changes.
    pub(crate) fn entries_mut(&mut self) -> &mut [PhaseEntry] {
        match &mut self.phases {
            Phases::List(entries) | Phases::Map(entries) => entries,
            Phases::Missing | Phases::Other(_) => &mut [],
        }
    }
}

impl Field {
    /// A field with a text, made by a reader: its value has the position of the name.
    pub(crate) fn said(name: &str, text: impl Into<String>, at: Span) -> Self {
        Self::with(name, Value::Scalar(text.into()), at)
    }

    /// A field with a value, made by a reader: its value has the position of the name.
    pub(crate) fn with(name: &str, value: Value, at: Span) -> Self {
        Self { name: name.to_owned(), at, value: Node { span: at, value } }
    }
}

impl Span {
    /// Only its first character: something missing is reported at the start of its owner.
    pub(crate) fn first(self) -> Self {
        Self { end: self.start + 1, ..self }
    }
}

impl PhaseDraft {
    /// A phase whose `persona` may be a name or a text.
    pub(crate) fn new(key: Option<Named>, span: Span, fields: Vec<Field>) -> Self {
        Self { key, span, fields, names_persona: false }
    }

    /// True if the field is present and not null.
    pub(crate) fn says(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name && field.value.value != Value::Null)
    }

    /// The id it will have if it is valid: the key of the map, its own, or that of the workflow that it runs.
    pub(crate) fn id(&self) -> Option<&str> {
        let own = ["id", "workflow", "subworkflow"];
        let said = |name| self.fields.iter().find(|field| field.name == name);
        match &self.key {
            // The key of a map before a field in it: the key is what edges name.
            Some(key) => Some(&key.text),
            None => own.into_iter().find_map(|name| said(name)?.value.text()),
        }
    }
}

impl Node {
    /// Its text, if it is a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text) => Some(text),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }
}

fn locate(fields: &[Field], name: &str) -> Option<Span> {
    fields.iter().find(|field| field.name == name).map(|field| field.at)
}
