//! What a workflow file said: every value with its span, nothing judged.
//!
//! A reader of another format gives its fields the names of the native one and keeps the spans of its own text, so that
//! `check` can judge them all alike and a problem still points at what the person wrote.

/// Bytes of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// Index of the source: the phases of one draft may come from several files.
    pub source: usize,
    /// First byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

/// One value of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub value: Value,
}

/// What a value is, before anybody asked for a type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// A text, a number, a yes or no: whoever reads it decides.
    Scalar(String),
    /// Values in order.
    List(Vec<Node>),
    /// Named values in the file's order.
    Map(Vec<Field>),
}

/// A named value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub at: Span,
    /// What it says.
    pub value: Node,
}

/// A text and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Named {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub at: Span,
}

/// A whole workflow as said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    /// Where to point when something is missing.
    pub span: Span,
    /// Everything but the phases.
    pub fields: Vec<Field>,
    /// The phases.
    pub phases: Phases,
}

/// The phases as said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Phases {
    /// Not a word about them.
    Missing,
    /// In order: each leads to the following one unless it says otherwise.
    List(Vec<Entry>),
    /// By name: none leads anywhere unless it says so.
    Map(Vec<Entry>),
    /// Something that is neither.
    Other(Node),
}

/// One phase as said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Entry {
    /// Its fields.
    Phase(PhaseDraft),
    /// The name of a file that holds it, and the name that it has in a map.
    File {
        /// The file, as it is named beside the workflow.
        file: Named,
        /// The name it has in a map.
        key: Option<Named>,
    },
    /// Something else.
    Other(Node),
    /// Something that was told as a problem already.
    Told,
}

/// The fields of one phase.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PhaseDraft {
    /// The name it has in a map.
    pub key: Option<Named>,
    /// Where to point when something is missing.
    pub span: Span,
    /// What it says.
    pub fields: Vec<Field>,
    /// Whether its `persona` names a file, whatever it looks like: in other formats `agent` does.
    pub names_persona: bool,
}

impl Draft {
    /// Where a field stands: of the workflow, or of the phase with that id. The phase's own place when it lacks the field.
    pub(crate) fn locate(&self, phase: Option<&str>, field: &str) -> Span {
        let Some(id) = phase else { return locate(&self.fields, field).unwrap_or(self.span) };
        let found = self.entries().iter().find_map(|entry| match entry {
            Entry::Phase(phase) if phase.id() == Some(id) => Some(phase),
            Entry::Phase(_) | Entry::File { .. } | Entry::Other(_) | Entry::Told => None,
        });
        found.map_or(self.span, |phase| locate(&phase.fields, field).unwrap_or(phase.span))
    }

    /// Whether the persona of the phase with that id is a name, however many words it has.
    pub(crate) fn names_persona(&self, id: &str) -> bool {
        self.entries().iter().any(|entry| match entry {
            Entry::Phase(phase) => phase.names_persona && phase.id() == Some(id),
            Entry::File { .. } | Entry::Other(_) | Entry::Told => false,
        })
    }

    fn entries(&self) -> &[Entry] {
        match &self.phases {
            Phases::List(entries) | Phases::Map(entries) => entries,
            Phases::Missing | Phases::Other(_) => &[],
        }
    }

    /// The phases, to be changed.
    pub(crate) fn entries_mut(&mut self) -> &mut [Entry] {
        match &mut self.phases {
            Phases::List(entries) | Phases::Map(entries) => entries,
            Phases::Missing | Phases::Other(_) => &mut [],
        }
    }
}

impl Field {
    /// A field with a text that stands at the same place as its name: said by a reader, not by the file.
    pub(crate) fn said(name: &str, text: impl Into<String>, at: Span) -> Self {
        Self::with(name, Value::Scalar(text.into()), at)
    }

    /// A field with a value that stands at the same place as its name.
    pub(crate) fn with(name: &str, value: Value, at: Span) -> Self {
        Self { name: name.to_owned(), at, value: Node { span: at, value } }
    }
}

impl Span {
    /// Its first letter: something missing is told where the thing begins, not all over it.
    pub(crate) fn first(self) -> Self {
        Self { end: self.start + 1, ..self }
    }
}

impl PhaseDraft {
    /// A phase whose `persona` is a name or a text, as it looks.
    pub(crate) fn new(key: Option<Named>, span: Span, fields: Vec<Field>) -> Self {
        Self { key, span, fields, names_persona: false }
    }

    /// A field that says something.
    pub(crate) fn says(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name && field.value.value != Value::Null)
    }

    /// The id it will have if it is sound: of the map, its own, or that of the workflow which it runs.
    pub(crate) fn id(&self) -> Option<&str> {
        let own = ["id", "workflow", "subworkflow"];
        let said = |name| self.fields.iter().find(|field| field.name == name);
        match &self.key {
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
