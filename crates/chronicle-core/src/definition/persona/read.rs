//! Reads a persona file, whichever program it was written for.

use super::Persona;
use super::frontmatter::{self, Parts};
use super::lines::read_lines;
use super::tool_lists::{self, ALLOWED, DENIED, Frontmatter, is_tool_list, meant_by};
use crate::base::quote::is_deceptive;
use crate::definition::workflow::check::doubt;
use crate::definition::workflow::draft::{Field, Named, Node, Span, Value};
use crate::definition::workflow::problem::{Finding, NOT_PLAIN, Problems, quoted};
use crate::definition::workflow::{
    Format, NOT_SUPPORTED_YET, Problem, Severity, Source, THINKING, Tools,
};

/// Longest name of a persona, in bytes.
const NAME_MAX: usize = 100;
/// Fields of other programs that mean nothing here. They are listed so that nobody is warned about them.
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

/// Markdown files that are commonly beside personas and are none, compared case-insensitively.
const PAGES: [&str; 9] = [
    "readme",
    "agents",
    "claude",
    "changelog",
    "contributing",
    "license",
    "index",
    "skill",
    "todo",
];
/// Fields that this version cannot enforce.
const UNSUPPORTED: [&str; 4] = ["skills", "extensions", "max_turns", "maxTurns"];

/// All other fields that are read.
const READ: [&str; 9] = [
    "name",
    "description",
    "provider",
    "model",
    "thinking",
    "thinkingLevel",
    "effort",
    "isolated",
    "color",
];

/// The result of reading a persona file.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonaRead {
    /// `None` if the file is not a persona.
    pub persona: Option<Persona>,
    /// Problems of the file itself.
    pub problems: Vec<Problem>,
    /// Errors for runs that use it: fields that this version cannot enforce, and lists of tools that are not read.
    pub unsupported: Vec<Problem>,
    /// True if it has no frontmatter, so that only its folder says that it is a persona.
    pub is_plain: bool,
}

/// Reads a persona. Its name is the file's (`source.key`) unless it sets one. Chronicle's own files (`Format::Native`) are strict about
/// the names of tools; those of other programs are only warned about.
pub fn read(source: &Source, format: Format) -> PersonaRead {
    let mut problems = Problems::default();
    let mut unsupported = Problems::default();
    let persona = persona(source, format, &mut problems, &mut unsupported);
    let sources = std::slice::from_ref(source);
    PersonaRead {
        persona,
        problems: problems.finish(sources),
        unsupported: unsupported.finish(sources),
        is_plain: frontmatter::split(&source.text) == Parts::Plain,
    }
}

/// A file without frontmatter: the whole text is the prompt.
fn plain(source: &Source, problems: &mut Problems) -> Option<Persona> {
    let whole = Span { source: 0, start: 0, end: 0 };
    let prompt = frontmatter::body(&source.text, 0..source.text.len());
    // People keep such pages in the same folder, and a worker with the text of a README as its persona would be a surprise.
    let is_page = PAGES.contains(&source.key.to_lowercase().as_str());
    if is_page || prompt.is_empty() {
        let message = "no fields before the text: it is no persona";
        problems.push(Finding::new(Severity::Note, "not-a-persona", whole, message));
        return None;
    }
    let message = "no fields before the text: every tool is allowed, and it helps only where `followups` names it";
    problems.push(Finding::new(Severity::Note, "plain-persona", whole, message));
    Some(Persona { name: source.key.clone(), prompt, ..Persona::default() })
}

fn persona(
    source: &Source,
    format: Format,
    problems: &mut Problems,
    unsupported: &mut Problems,
) -> Option<Persona> {
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
            let persona = plain(source, problems).filter(|it| name_fits(&it.name, problems));
            if persona.is_some() {
                refuse(tool_lists::misplaced(text), problems, unsupported);
            }
            return persona;
        }
        Parts::Unclosed => {
            problems.push(frontmatter::unclosed(0));
            return None;
        }
    };
    // Written by people for a reader that took each line by itself: what is no YAML is read so.
    let mut doubts = Problems::default();
    let fields = frontmatter::fields(0, text, head.clone(), &mut doubts);
    let fields = fields.filter(|_| !doubts.has_error());
    let is_yaml = fields.is_some();
    let fields = fields.unwrap_or_else(|| read_lines(text, head.clone()));
    let overlooked = Frontmatter { text, head, fields: &fields, is_yaml }.overlooked(is_known);
    refuse(overlooked, problems, unsupported);
    tell_unsupported(&fields, problems, unsupported);
    for name in fields.iter().filter(|field| is_tool_list(&field.name)).flat_map(said) {
        let Some(doubt) = doubt(&name, format) else { continue };
        // A name that no tool has allows or denies nothing: a run that uses such a persona must not begin.
        if doubt.severity == Severity::Error {
            unsupported.push(doubt.clone());
        }
        problems.push(doubt);
    }
    let mut sheet = PersonaFields { fields, problems };
    let mut persona = sheet.persona(&source.key);
    persona.prompt = frontmatter::body(text, body);
    sheet.finish();
    name_fits(&persona.name, problems).then_some(persona)
}

/// Reports what a run with this persona must not begin with.
fn refuse(
    findings: impl IntoIterator<Item = Finding>,
    problems: &mut Problems,
    unsupported: &mut Problems,
) {
    for finding in findings {
        unsupported.push(finding.clone());
        problems.push(finding);
    }
}

fn is_known(name: &str) -> bool {
    READ.contains(&name) || OTHERS.contains(&name) || UNSUPPORTED.contains(&name)
}

/// Reports unsupported fields twice: as a note when the file is checked, as an error when a run uses it.
fn tell_unsupported(fields: &[Field], problems: &mut Problems, unsupported: &mut Problems) {
    // A field that is there and empty promises nothing: many editors write all fields of a template.
    let is_said = |field: &&Field| match &field.value.value {
        Value::Null => false,
        Value::Scalar(text) => !text.trim().is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Map(_) => true,
    };
    let promised = |field: &&Field| UNSUPPORTED.contains(&field.name.as_str());
    for field in fields.iter().filter(promised).filter(is_said) {
        let name = quoted(&field.name);
        let message =
            format!("{name} is not supported yet: a workflow with this persona is refused");
        problems.push(Finding::new(Severity::Note, NOT_SUPPORTED_YET, field.at, message));
        let message = format!("this version cannot enforce {name}, and will not ignore it");
        let hint = "take it out, or accept that with `--accept-unenforced`";
        unsupported.push(Finding::error(NOT_SUPPORTED_YET, field.at, message).hint(hint));
    }
}

fn name_fits(name: &str, problems: &mut Problems) -> bool {
    let why = if name.len() > NAME_MAX {
        format!("is longer than {NAME_MAX} bytes")
    } else if name.contains(is_deceptive) {
        NOT_PLAIN.to_owned()
    } else {
        return true;
    };
    let at = Span { source: 0, start: 0, end: 3 };
    problems.push(Finding::error("bad-name", at, format!("the name {} {why}", quoted(name))));
    false
}

/// The names in a comma-separated list, a YAML list, or one name, each with its place.
fn said(field: &Field) -> Vec<Named> {
    let split = |node: &Node| -> Vec<Named> {
        let text = node.text().unwrap_or_default().trim();
        let text = text.trim_start_matches('[').trim_end_matches(']');
        let parts = text.split(',').map(|part| part.trim().trim_matches(['"', '\'']));
        let parts = parts.filter(|part| !part.is_empty());
        parts.map(|part| Named { text: part.to_owned(), at: node.span }).collect()
    };
    match &field.value.value {
        Value::List(items) => items.iter().flat_map(split).collect(),
        Value::Scalar(_) => split(&field.value),
        Value::Null | Value::Map(_) => Vec::new(),
    }
}

struct PersonaFields<'p> {
    fields: Vec<Field>,
    problems: &'p mut Problems,
}

impl PersonaFields<'_> {
    fn persona(&mut self, stem: &str) -> Persona {
        let provider = self.text(&["provider"]);
        // Claude Code's word for "the same as the session", which is what no model means here.
        let model = self.text(&["model"]).filter(|model| model != "inherit");
        Persona {
            name: self.text(&["name"]).unwrap_or_else(|| stem.to_owned()),
            description: self.text(&["description"]).unwrap_or_default(),
            prompt: String::new(),
            tools: Tools {
                // `*` allows everything, which is no list at all.
                allow: self.names(&ALLOWED).filter(|names| !names.iter().any(|it| it == "*")),
                deny: self.names(&DENIED).unwrap_or_default(),
                own_only: false,
            },
            model: model.map(|model| match provider {
                // A model with a slash names its provider already.
                Some(provider) if !model.contains('/') => format!("{provider}/{model}"),
                Some(_) | None => model,
            }),
            thinking: self.thinking(),
            skills: self.names(&["skills"]).unwrap_or_default(),
            extensions: self.names(&["extensions"]).unwrap_or_default(),
            max_turns: self.text(&["max_turns", "maxTurns"]).and_then(|text| text.parse().ok()),
            isolated: self.flag("isolated"),
            color: self.text(&["color"]),
        }
    }

    /// Another program may know more levels than the agents that we start. Nobody would notice that such a one does nothing.
    fn thinking(&mut self) -> Option<String> {
        let names = ["thinking", "thinkingLevel", "effort"];
        let field =
            self.fields.iter().find(|field| names.contains(&field.name.as_str())).cloned()?;
        let level = self.text(&names)?.to_ascii_lowercase();
        if !THINKING.contains(&level.as_str()) {
            self.wrong(&field, &format!("one of {}", THINKING.join(", ")));
            return None;
        }
        Some(level)
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

    /// Any value that is not a boolean counts as true, which is the stricter choice.
    fn flag(&mut self, name: &str) -> bool {
        let Some(field) = self.take(&[name]) else { return false };
        match field.value.text().map(|text| text.trim().to_lowercase()).as_deref() {
            Some("true") => true,
            Some("false" | "") => false,
            _ if field.value.value == Value::Null => false,
            _ => {
                let message =
                    format!("{} must be `true` or `false`: it counts as `true`", quoted(name));
                self.problems.push(Finding::warning("wrong-type", field.value.span, message));
                true
            }
        }
    }

    /// A comma-separated list, a YAML list, or one name.
    fn names(&mut self, names: &[&str]) -> Option<Vec<String>> {
        let field = self.take(names)?;
        match &field.value.value {
            Value::Null => None,
            Value::Scalar(_) | Value::List(_) => {
                Some(said(&field).into_iter().map(|name| name.text).collect())
            }
            // An error already.
            Value::Map(_) if is_tool_list(&field.name) => None,
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
        let mut told: Vec<String> = Vec::new();
        for Field { name, at, .. } in self.fields {
            let is_read = READ.contains(&name.as_str());
            // What is or looks like a list of tools is an error already.
            let is_list = is_tool_list(&name) || !is_known(&name) && meant_by(&name).is_some();
            if is_list || is_known(&name) && !is_read || told.contains(&name) {
                continue;
            }
            let what = quoted(&name);
            let note = if is_read {
                let message = format!("{what} is said twice: the first one counts");
                Finding::new(Severity::Note, "duplicate-key", at, message)
            } else {
                let message = format!("a persona has no field {what}: it is ignored");
                Finding::new(Severity::Note, "unknown-field", at, message)
            };
            self.problems.push(note);
            told.push(name);
        }
    }
}
