//! The native format: one YAML or JSON file, phases as a list or as a map named `phases` or `states`, each of them inline or
//! the name of a Markdown file.

use super::draft::{Draft, Field, Named, Node, PhaseDraft, PhaseEntry, Phases, Span, Value};
use super::problem::{Finding, Problems};
use super::yaml;

/// Parses the text; `None` if it cannot be read, which is reported.
pub(crate) fn read(source: usize, text: &str, problems: &mut Problems) -> Option<Draft> {
    let root = yaml::read(source, text, problems)?;
    let Value::Map(mut fields) = root.value else {
        // At least one byte: an empty span at the start of a file stands for the file as a whole.
        let span = Span { end: root.span.end.max(1), ..root.span };
        let finding = Finding::error("not-a-workflow", span, "not a map of fields")
            .hint("begin with `name:` and `phases:`");
        problems.push(finding);
        return None;
    };
    // An empty one counts as left out, so it must not hide the other.
    let says = |field: &Field| is_phases(&field.name) && field.value.value != Value::Null;
    let first = fields.iter().position(says);
    let first = first.or_else(|| fields.iter().position(|field| is_phases(&field.name)));
    let phases = match first {
        Some(index) => read_phases(fields.remove(index)),
        None => Phases::Missing,
    };
    Some(Draft { span: root.span.first(), fields, phases })
}

fn is_phases(name: &str) -> bool {
    matches!(name, "phases" | "states")
}

/// Phases in either shape.
pub(crate) fn read_phases(field: Field) -> Phases {
    match field.value.value {
        Value::Null => Phases::Missing,
        Value::List(items) => Phases::List(items.into_iter().map(list_entry).collect()),
        Value::Map(fields) => Phases::Map(fields.into_iter().map(map_entry).collect()),
        Value::Scalar(_) => Phases::Other(field.value),
    }
}

fn list_entry(node: Node) -> PhaseEntry {
    match node.value {
        Value::Map(fields) => PhaseEntry::Phase(PhaseDraft::new(None, node.span.first(), fields)),
        Value::Scalar(text) => PhaseEntry::File { file: Named { text, at: node.span }, key: None },
        Value::Null | Value::List(_) => PhaseEntry::Other(node),
    }
}

/// A key without a value is a phase with all defaults.
fn map_entry(field: Field) -> PhaseEntry {
    let Field { name, at, value } = field;
    let key = Some(Named { text: name, at });
    match value.value {
        Value::Map(fields) => PhaseEntry::Phase(PhaseDraft::new(key, at, fields)),
        // In a map the key alone is enough: a worker of that name about which nothing more is said.
        Value::Null => PhaseEntry::Phase(PhaseDraft::new(key, at, Vec::new())),
        Value::Scalar(text) => PhaseEntry::File { file: Named { text, at: value.span }, key },
        Value::List(_) => PhaseEntry::Other(value),
    }
}
