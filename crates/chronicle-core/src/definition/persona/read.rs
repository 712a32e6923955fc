//! Reads a persona file, whichever program it was written for.

use super::Persona;
use super::frontmatter::{self, Parts};
use super::lines::read_lines;
use super::told::Told;
use super::tool_lists::{self, ALLOWED, DENIED, Frontmatter, is_tool_list, meant_by};
use super::unenforced;
use crate::base::quote::is_deceptive;
use crate::definition::workflow::check::{List, doubt, whole_tool};
use crate::definition::workflow::draft::{Field, Named, Node, Span, Value};
use crate::definition::workflow::problem::{Finding, NOT_PLAIN, Problems, quoted};
use crate::definition::workflow::{
    FILE_MAX, Format, Problem, Severity, Source, THINKING, Tools, closest,
};

/// Longest name of a persona, in bytes.
const NAME_MAX: usize = 100;
/// Fields of other programs that have no effect here.
const OTHERS: [&str; 10] = [
    "mcpServers",
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

/// Fields that decide who works and what they may do. A slip in one of them is not ignored.
const DECISIVE: [&str; 12] = [
    "model",
    "provider",
    "thinking",
    "thinkingLevel",
    "effort",
    "isolated",
    "skills",
    "extensions",
    "max_turns",
    "maxTurns",
    "hooks",
    "permissionMode",
];

/// The result of reading a persona file.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonaRead {
    /// `None` if the file is not a persona. One that cannot be read has its name and nothing else: it keeps its place, so that no
    /// other persona of that name is used instead.
    pub persona: Option<Persona>,
    /// Problems of the file itself.
    pub problems: Vec<Problem>,
    /// Errors for runs that use it: fields that this version cannot enforce, and lists of tools that are not read.
    pub unsupported: Vec<Problem>,
    /// Fields among them that a person may accept as not enforced, as the file writes them.
    pub unenforced: Vec<String>,
    /// True if it cannot be read, and even its name is a guess.
    pub is_broken: bool,
    /// True if it has no frontmatter, so that only its folder says that it is a persona.
    pub is_plain: bool,
}

/// Reads a persona. Its name is the file's (`source.key`) unless it sets one. Chronicle's own files (`Format::Native`) are strict about
/// the names of tools; those of other programs are only warned about.
pub fn read(source: &Source, format: Format) -> PersonaRead {
    let mut told = Told::default();
    let read = persona(source, format, &mut told);
    let is_broken = read.is_err();
    let persona = read.unwrap_or_else(|Unreadable| broken(source));
    let sources = std::slice::from_ref(source);
    PersonaRead {
        persona,
        problems: told.problems.finish(sources),
        unsupported: told.unsupported.finish(sources),
        unenforced: told.unenforced,
        is_broken,
        is_plain: frontmatter::split(&source.text) == Parts::Plain,
    }
}

/// The file is a persona that cannot be read, which was told.
struct Unreadable;

/// A persona that cannot be read. Its name is searched for in what there is, with the file's name as the second guess.
fn broken(source: &Source) -> Option<Persona> {
    let text = &source.text;
    let head = match frontmatter::split(text) {
        Parts::Both { head, .. } => head,
        Parts::Unclosed { begin } => begin + 3..text.len(),
        Parts::Plain => 0..0,
    };
    let names = read_lines(text, head).into_iter().filter(|field| field.name == "name");
    let names = names.filter_map(|field| Some(field.value.text()?.trim().to_owned()));
    let mut names = names.chain([source.key.clone()]).filter(|name| !name.is_empty());
    let name = names.find(|name| why_unfit(name).is_none())?;
    Some(Persona { name, ..Persona::default() })
}

/// A file without frontmatter: the whole text is the prompt.
fn plain(source: &Source, told: &mut Told) -> Result<Option<Persona>, Unreadable> {
    let text = &source.text;
    let whole = Span { source: 0, start: 0, end: 0 };
    let prompt = frontmatter::body(text, 0..text.len());
    // People keep such pages in the same folder, and a worker with the text of a README as its persona would be a surprise.
    if PAGES.contains(&source.key.to_lowercase().as_str()) {
        let message = "no fields before the text: it is no persona";
        told.problems.push(Finding::new(Severity::Note, "not-a-persona", whole, message));
        return Ok(None);
    }
    if prompt.is_empty() {
        told.refuse(Finding::error("empty-file", whole, "the persona is empty"));
        return Err(Unreadable);
    }
    let message = "no fields before the text: every tool is allowed, and it helps only where `followups` names it";
    told.problems.push(Finding::new(Severity::Note, "plain-persona", whole, message));
    if let Some(finding) = tool_lists::misplaced(text) {
        told.refuse(finding);
    }
    named(Persona { name: source.key.clone(), prompt, ..Persona::default() }, told)
}

fn persona(
    source: &Source,
    format: Format,
    told: &mut Told,
) -> Result<Option<Persona>, Unreadable> {
    let text = &source.text;
    let whole = Span { source: 0, start: 0, end: 0 };
    if text.len() > FILE_MAX {
        let message = format!("larger than {FILE_MAX} bytes");
        told.refuse(Finding::error("too-large", whole, message));
        return Err(Unreadable);
    }
    let (head, body) = match frontmatter::split(text) {
        Parts::Both { head, body } => (head, body),
        Parts::Plain => return plain(source, told),
        Parts::Unclosed { begin } => {
            told.refuse(frontmatter::unclosed(0, begin));
            return Err(Unreadable);
        }
    };
    // Written by people for a reader that took each line by itself: what is no YAML is read so.
    let mut doubts = Problems::default();
    let fields = frontmatter::fields(0, text, head.clone(), &mut doubts);
    let fields = fields.filter(|_| !doubts.has_error());
    let is_yaml = fields.is_some();
    let fields = fields.unwrap_or_else(|| read_lines(text, head.clone()));
    let overlooked = Frontmatter { text, head, fields: &fields, is_yaml }.overlooked(is_known);
    for finding in overlooked {
        told.refuse(finding);
    }
    if let Some(finding) = tool_lists::below(text, body.clone()) {
        told.refuse(finding);
    }
    let left = unenforced::judge(&fields, told);
    doubt_tools(&fields, format, told);
    let mut sheet = PersonaFields { fields, told };
    let mut persona = sheet.persona(&source.key);
    persona.tools = persona.tools.within(&left);
    persona.prompt = frontmatter::body(text, body);
    sheet.finish();
    if persona.prompt.is_empty() {
        let message = "no text below the fields: its workers are told nothing but their phase";
        let finding = Finding::warning("no-instructions", whole, message);
        told.refuse(finding.hint("say below the second `---` who they are"));
    }
    named(persona, told)
}

/// Reports names that no tool has.
fn doubt_tools(fields: &[Field], format: Format, told: &mut Told) {
    for field in fields.iter().filter(|field| is_tool_list(&field.name)) {
        let list = if DENIED.contains(&field.name.as_str()) { List::Deny } else { List::Allow };
        for doubt in said(field).iter().filter_map(|name| doubt(name, list, format)) {
            // A name that no tool has allows or denies nothing: a run that uses such a persona must not begin.
            if doubt.severity == Severity::Error {
                told.unsupported.push(doubt.clone());
            }
            told.problems.push(doubt);
        }
    }
}

fn is_known(name: &str) -> bool {
    READ.contains(&name) || OTHERS.contains(&name) || unenforced::is_judged(name)
}

/// Gives the persona, unless nobody could refer to it by its name.
fn named(persona: Persona, told: &mut Told) -> Result<Option<Persona>, Unreadable> {
    let Some(why) = why_unfit(&persona.name) else { return Ok(Some(persona)) };
    let at = Span { source: 0, start: 0, end: 3 };
    let message = format!("the name {} {why}", quoted(&persona.name));
    told.refuse(Finding::error("bad-name", at, message));
    Err(Unreadable)
}

fn why_unfit(name: &str) -> Option<String> {
    if name.len() > NAME_MAX {
        return Some(format!("is longer than {NAME_MAX} bytes"));
    }
    name.contains(is_deceptive).then(|| NOT_PLAIN.to_owned())
}

/// The names in a comma-separated list, a YAML list, or one name, each with its place.
fn said(field: &Field) -> Vec<Named> {
    let split = |node: &Node| -> Vec<Named> {
        let text = node.text().unwrap_or_default().trim();
        let text = text.trim_start_matches('[').trim_end_matches(']');
        let mut depth = 0_usize;
        // The commas in `Bash(rm, mv)` separate no tools.
        let parts = text.split(|letter| {
            match letter {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            letter == ',' && depth == 0
        });
        let parts = parts.map(|part| part.trim().trim_matches(['"', '\'']));
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
    told: &'p mut Told,
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
                // What denies some calls denies the tool: nothing here looks at what it is called with.
                deny: self.names(&DENIED).unwrap_or_default().iter().map(whole_tool).collect(),
                own_only: false,
                names_only: false,
            },
            model: model.map(|model| match provider {
                // A model with a slash names its provider already.
                Some(provider) if !model.contains('/') => format!("{provider}/{model}"),
                Some(_) | None => model,
            }),
            thinking: self.thinking(),
            skills: self.names(&["skills"]).unwrap_or_default(),
            extensions: self.names(&["extensions"]).unwrap_or_default(),
            max_turns: self
                .text(&["max_turns", "maxTurns", "max-turns"])
                .and_then(|text| text.parse().ok()),
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
                let warning = Finding::warning("wrong-type", field.value.span, message);
                self.told.problems.push(warning);
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
        self.told.problems.push(Finding::warning("wrong-type", field.value.span, message));
    }

    /// Reports the fields that nothing was made of.
    fn finish(self) {
        let mut names: Vec<&str> = Vec::new();
        for field in &self.fields {
            let name = field.name.as_str();
            // What is or looks like a list of tools is an error already.
            let is_list = is_tool_list(name) || !is_known(name) && meant_by(name).is_some();
            if is_list || unenforced::is_judged(name) || names.contains(&name) {
                continue;
            }
            let what = quoted(name);
            if READ.contains(&name) {
                let message = format!("{what} is said twice: the first one counts");
                self.told.note(field, "duplicate-key", message);
            } else if OTHERS.contains(&name) {
                self.told.unused(field);
            } else if let Some(meant) = closest(name, DECISIVE) {
                let message = format!("a persona has no field {what}");
                let finding = Finding::error("unknown-field", field.at, message);
                self.told.refuse(finding.did_you_mean(Some(meant)));
            } else {
                let message = format!("a persona has no field {what}: it is ignored");
                self.told.note(field, "unknown-field", message);
            }
            names.push(name);
        }
    }
}
