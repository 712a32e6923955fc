//! A persona's file, whoever it was written for.

use super::Persona;
use super::frontmatter::{self, Parts};
use crate::definition::workflow::draft::{Field, Node, Span, Value};
use crate::definition::workflow::problem::{Finding, Problems, quoted};
use crate::definition::workflow::{Problem, Severity, Source, Tools};

/// Longest name of a persona, in bytes.
const NAME_MAX: usize = 100;
/// Fields of other programs that mean nothing to a supervisor: known, so that nobody is warned of them.
const OTHERS: [&str; 12] = [
    "permissionMode",
    "mcpServers",
    "hooks",
    "memory",
    "background",
    "isolation",
    "initialPrompt",
    "temperature",
    "mode",
    "schema",
    "output",
    "version",
];

/// What became of a persona's file.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonaRead {
    /// The persona; none when the file is none.
    pub persona: Option<Persona>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// Reads a persona. It is called as its file (`source.key`) unless it says otherwise.
pub fn read(source: &Source) -> PersonaRead {
    let mut problems = Problems::default();
    let persona = persona(source, &mut problems);
    PersonaRead { persona, problems: problems.finish(std::slice::from_ref(source)) }
}

fn persona(source: &Source, problems: &mut Problems) -> Option<Persona> {
    let text = &source.text;
    let whole = Span { source: 0, start: 0, end: 0 };
    if text.len() > crate::definition::workflow::FILE_MAX {
        let message = format!("larger than {} bytes", crate::definition::workflow::FILE_MAX);
        problems.push(Finding::error("too-large", whole, message));
        return None;
    }
    let (head, body) = match frontmatter::split(text) {
        Parts::Both { head, body } => (head, body),
        Parts::Plain => {
            let message = "no fields before the text: it is no persona";
            problems.push(Finding::new(Severity::Note, "not-a-persona", whole, message));
            return None;
        }
        Parts::Unclosed => {
            problems.push(frontmatter::unclosed(0));
            return None;
        }
    };
    // Written by people for a reader that took each line by itself: what is no YAML is read so.
    let mut doubts = Problems::default();
    let fields = frontmatter::fields(0, text, head.clone(), &mut doubts);
    let fields = match fields.filter(|_| !doubts.has_error()) {
        Some(fields) => fields,
        None => lines(text, head),
    };
    let mut sheet = Sheet { fields, problems };
    let mut persona = sheet.persona(&source.key);
    persona.prompt = frontmatter::body(text, body);
    sheet.finish();
    name_fits(&persona.name, problems).then_some(persona)
}

fn name_fits(name: &str, problems: &mut Problems) -> bool {
    let why = if name.len() > NAME_MAX {
        format!("is longer than {NAME_MAX} bytes")
    } else if name.chars().any(char::is_control) {
        "contains a control character".to_owned()
    } else {
        return true;
    };
    let at = Span { source: 0, start: 0, end: 3 };
    problems.push(Finding::error("bad-name", at, format!("the name {} {why}", quoted(name))));
    false
}

/// `key: value` at the first colon of each line; `- item` below a key that says nothing.
fn lines(text: &str, head: std::ops::Range<usize>) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let mut start = head.start;
    for line in text.get(head).unwrap_or_default().split_inclusive('\n') {
        let span = Span { source: 0, start, end: start + line.trim_end().len() };
        start += line.len();
        let item = line.trim().strip_prefix("- ").map(str::trim);
        if let (Some(item), Some(last)) = (item, fields.last_mut()) {
            add(last, item, span);
        } else if let Some((key, value)) = line.split_once(':')
            && !line.starts_with([' ', '\t', '#'])
            && !key.trim().is_empty()
            && !fields.iter().any(|field| field.name == key.trim())
        {
            fields.push(Field::said(key.trim(), value.trim().trim_matches(['"', '\'']), span));
        }
    }
    fields
}

fn add(field: &mut Field, item: &str, span: Span) {
    let item = Node { span, value: Value::Scalar(item.to_owned()) };
    match &mut field.value.value {
        Value::List(items) => items.push(item),
        Value::Scalar(text) if text.is_empty() => field.value.value = Value::List(vec![item]),
        Value::Null | Value::Scalar(_) | Value::Map(_) => {}
    }
}

struct Sheet<'p> {
    fields: Vec<Field>,
    problems: &'p mut Problems,
}

impl Sheet<'_> {
    fn persona(&mut self, stem: &str) -> Persona {
        let provider = self.text(&["provider"]);
        let model = self.text(&["model"]).filter(|model| model != "inherit");
        Persona {
            name: self.text(&["name"]).unwrap_or_else(|| stem.to_owned()),
            description: self.text(&["description"]).unwrap_or_default(),
            prompt: String::new(),
            tools: Tools {
                allow: self.names(&["tools"]).filter(|names| !names.iter().any(|it| it == "*")),
                deny: self.names(&["disallowedTools"]).unwrap_or_default(),
            },
            model: model.map(|model| match provider {
                Some(provider) if !model.contains('/') => format!("{provider}/{model}"),
                Some(_) | None => model,
            }),
            thinking: self.text(&["thinking", "thinkingLevel", "effort"]),
            skills: self.names(&["skills"]).unwrap_or_default(),
            extensions: self.names(&["extensions"]).unwrap_or_default(),
            max_turns: self.text(&["max_turns", "maxTurns"]).and_then(|text| text.parse().ok()),
            isolated: self
                .text(&["isolated"])
                .is_some_and(|text| text.eq_ignore_ascii_case("true")),
            color: self.text(&["color"]),
        }
    }

    fn take(&mut self, names: &[&str]) -> Option<Field> {
        let at = self.fields.iter().position(|field| names.contains(&field.name.as_str()))?;
        Some(self.fields.remove(at))
    }

    fn text(&mut self, names: &[&str]) -> Option<String> {
        let field = self.take(names)?;
        match field.value.value {
            Value::Scalar(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            Value::Scalar(_) | Value::Null => None,
            Value::List(_) | Value::Map(_) => {
                self.wrong(&field, "a text");
                None
            }
        }
    }

    /// A comma list, a YAML list, or one name.
    fn names(&mut self, names: &[&str]) -> Option<Vec<String>> {
        let field = self.take(names)?;
        let split = |text: &str| -> Vec<String> {
            let text = text.trim().trim_start_matches('[').trim_end_matches(']');
            let parts = text.split(',').map(|part| part.trim().trim_matches(['"', '\'']));
            parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        match &field.value.value {
            Value::Null => None,
            Value::Scalar(text) => Some(split(text)),
            Value::List(items) => {
                Some(items.iter().filter_map(Node::text).flat_map(split).collect())
            }
            Value::Map(_) => {
                self.wrong(&field, "a list of names");
                None
            }
        }
    }

    fn wrong(&mut self, field: &Field, expected: &str) {
        let message = format!("{} must be {expected}: it is ignored", quoted(&field.name));
        self.problems.push(Finding::warning("wrong-type", field.value.span, message));
    }

    fn finish(self) {
        for field in self.fields {
            if !OTHERS.contains(&field.name.as_str()) {
                let message =
                    format!("a persona has no field {}: it is ignored", quoted(&field.name));
                self.problems.push(Finding::new(
                    Severity::Note,
                    "unknown-field",
                    field.at,
                    message,
                ));
            }
        }
    }
}
