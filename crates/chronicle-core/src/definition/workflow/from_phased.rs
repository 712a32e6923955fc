//! The phased format of pi-workflows: `workflow.yaml` with a list of Markdown files and of other workflows.
//!
//! It accepts and refuses what that program does, except for the differences listed in `docs/design/0003-deviations.md`.
//! Requirements of this format alone are checked here, since `check` applies the same rules to every format. Fields that only the
//! native format knows are kept: a folder may use both.

use std::collections::BTreeSet;

use super::draft::{Draft, Field, Named, Node, PhaseDraft, PhaseEntry, Phases, Span, Value};
use super::problem::{Finding, Problems, quoted};
use super::restrict::{TOOLS, unknown};
use super::yaml;
use crate::base::limits::Limits;
use crate::definition::persona::frontmatter::{self, Parts};

/// Most entries that get ids of their own.
pub(crate) const NAMED_MAX: usize = 501;
/// Texts that are ignored if they are not strings, as that program does.
const TEXTS: [&str; 6] = [
    "sessionNamePrefix",
    "roleInstruction",
    "advanceReminder",
    "blockReasonTemplate",
    "completionMessage",
    "notDoneReminder",
];
/// Fields of a workflow that are read here.
const OWN: [&str; 7] =
    ["name", "commandName", "initialMessage", "phases", "show", "loopable", "sessionNameMaxLength"];
/// Fields of a workflow that only the native format has.
const NATIVE: [&str; 11] = [
    "key",
    "description",
    "initial",
    "agent",
    "model",
    "budget",
    "limits",
    "guards",
    "verify",
    "cleanup",
    "env",
];
const PHASE_OWN: [&str; 5] = ["id", "name", "emoji", "tools", "availableProfiles"];
/// Fields of a phase that only the native format has; a phase here is always done by a worker.
const PHASE_NATIVE: [&str; 21] = [
    "description",
    "persona",
    "agent",
    "model",
    "thinking",
    "fallback",
    "next",
    "on",
    "outcomes",
    "signals",
    "followups",
    "approval",
    "requires",
    "verify",
    "cleanup",
    "env",
    "budget",
    "limits",
    "timeout_minutes",
    "isolation",
    "session",
];

/// Default for how often a workflow of this format may be started over: its users loop more often than the default for pairs of
/// phases allows. The original program has no limit.
const ROUNDS: u32 = 10;

/// Default limits of such workflows.
pub(crate) fn limits(outer: &Limits) -> Limits {
    let mut limits = outer.clone();
    // Only where nobody said otherwise: a person's own setting holds for these files too.
    if limits.loops == Limits::default().loops {
        limits.loops.max = ROUNDS;
    }
    limits
}

/// Parses the text; `None` if it cannot be read, which is reported.
pub(crate) fn read(source: usize, text: &str, problems: &mut Problems) -> Option<Draft> {
    let root = yaml::read(source, text, problems)?;
    let span = root.span.first();
    let Value::Map(fields) = root.value else {
        let finding = Finding::error("not-a-workflow", span, "not a map of fields")
            .hint("begin with `name:`, `commandName:`, `initialMessage:` and `phases:`");
        problems.push(finding);
        return None;
    };
    let mut sheet = PhasedFields { text, owner: "a workflow", at: span, fields, problems };
    sheet.drop_unknown(&[&OWN, &TEXTS, &NATIVE]);
    sheet.require("name");
    // A workflow that only others use needs no command and no opening message.
    let internal = sheet.get("show").and_then(Node::text) == Some("workflows");
    if internal {
        // Not needed here: what cannot be used is dropped without a word, as that program does.
        sheet.keep_if("commandName", |text| !text.trim().is_empty());
        sheet.keep_if("initialMessage", |_| true);
    } else {
        sheet.require("commandName");
        sheet.check_command();
        sheet.require("initialMessage");
    }
    for name in TEXTS {
        sheet.drop_unless(name, "a text", PhasedFields::is_text);
    }
    sheet.drop_unless("sessionNameMaxLength", "a number", PhasedFields::is_number);
    sheet.drop_unless("loopable", "`true` or `false`", PhasedFields::is_flag);
    if sheet.get("loopable").is_none() {
        // That program's default. Ours is the opposite, so it is written down.
        sheet.fields.push(Field::said("loopable", "true", span));
    }
    let phases = sheet.phases();
    Some(Draft { span, fields: sheet.fields, phases })
}

/// One phase: the frontmatter and body of a Markdown file; `None` if there is none, which is reported.
pub(crate) fn read_phase(source: usize, text: &str, problems: &mut Problems) -> Option<PhaseDraft> {
    let at = Span { source, start: 0, end: 1 };
    if text.starts_with('\u{feff}') {
        let message = "begins with a byte order mark, so that its fields are not seen";
        let finding = Finding::error("byte-order-mark", at, message);
        problems.push(finding.hint("save it as UTF-8 without a byte order mark"));
        return None;
    }
    let (head, body) = match frontmatter::split(text) {
        Parts::Both { head, body } => (head, body),
        Parts::Plain => {
            let finding = Finding::error("bad-frontmatter", at, "no fields before the text");
            problems.push(finding.hint("begin with `---`, `id:`, `name:`, `emoji:`, `---`"));
            return None;
        }
        Parts::Unclosed { begin } => {
            problems.push(frontmatter::unclosed(source, begin));
            return None;
        }
    };
    let fields = frontmatter::fields(source, text, head, problems)?;
    let mut sheet = PhasedFields { text, owner: "a phase", at, fields, problems };
    sheet.drop_unknown(&[&PHASE_OWN, &PHASE_NATIVE]);
    for name in ["id", "name", "emoji"] {
        sheet.require(name);
    }
    sheet.mend_tools();
    sheet.mend_list("availableProfiles");
    let instructions = frontmatter::body(text, body.clone());
    if instructions.is_empty() {
        let finding = Finding::error("no-instructions", at, "no instructions below the fields");
        sheet.problems.push(finding.hint("say below the second `---` what is to be done"));
    }
    let at_body = Span { source, start: body.start.min(text.len()), end: text.len() };
    sheet.fields.push(Field::said("instructions", instructions, at_body));
    Some(PhaseDraft::new(None, at, sheet.fields))
}

/// Gives every entry that runs another workflow an id of its own: the same workflow may run twice, and a phase may have the same
/// name.
pub(crate) fn name_references(draft: &mut Draft) {
    let entries = draft.entries_mut();
    let is_reference = |phase: &PhaseDraft| phase.fields.iter().any(|it| it.name == "subworkflow");
    // Phases with ids of their own come first: a reference gives way, wherever it stands in the file.
    let mut taken = BTreeSet::new();
    for entry in entries.iter() {
        if let PhaseEntry::Phase(phase) = entry
            && !is_reference(phase)
        {
            taken.extend(phase.id().map(str::to_owned));
        }
    }
    // More phases than that are refused anyway.
    for entry in entries.iter_mut().take(NAMED_MAX) {
        let PhaseEntry::Phase(phase) = entry else { continue };
        if !is_reference(phase) {
            continue;
        }
        let Some(key) = phase.id().map(str::to_owned) else { continue };
        let id = free(&key, &taken);
        if id != key {
            phase.fields.push(Field::said("id", id.clone(), phase.span));
        }
        taken.insert(id);
    }
}

/// A free name: `build`, otherwise `build-2` and so on.
pub(crate) fn free(name: &str, taken: &BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    // There are more numbers than names, so one is always free.
    names.find(|name| !taken.contains(name)).unwrap_or_default()
}

/// The fields of one file while they are converted.
struct PhasedFields<'t, 'p> {
    text: &'t str,
    owner: &'static str,
    at: Span,
    fields: Vec<Field>,
    problems: &'p mut Problems,
}

impl PhasedFields<'_, '_> {
    fn get(&self, name: &str) -> Option<&Node> {
        let field = self.fields.iter().find(|field| field.name == name)?;
        (field.value.value != Value::Null).then_some(&field.value)
    }

    fn remove(&mut self, name: &str) {
        self.fields.retain(|field| field.name != name);
    }

    /// Drops unknown fields, as that program does, but reports them.
    fn drop_unknown(&mut self, known: &[&[&str]]) {
        let known: Vec<&str> = known.iter().flat_map(|names| names.iter().copied()).collect();
        for field in std::mem::take(&mut self.fields) {
            if known.contains(&field.name.as_str()) {
                self.fields.push(field);
                continue;
            }
            self.problems.push(unknown(self.owner, &field, &known));
        }
    }

    /// Requires a non-blank text. The wording is that of `check`, so that nothing is reported twice.
    fn require(&mut self, name: &str) {
        let finding = match self.get(name) {
            None => {
                Finding::error("missing-field", self.at, format!("{} needs `{name}`", self.owner))
                    .hint(format!("add `{name}:`"))
            }
            Some(node) if !self.is_text(node) => {
                let message = format!("`{name}` must be a text, not {}", described(node));
                Finding::error("wrong-type", node.span, message).hint("put it in quotes")
            }
            Some(node) if node.text().is_some_and(|text| text.trim().is_empty()) => {
                Finding::error("empty-value", node.span, format!("`{name}` is empty"))
            }
            Some(_) => return,
        };
        self.problems.push(finding);
    }

    fn check_command(&mut self) {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        let Some(node) = self.get("commandName") else { return };
        let Some(text) =
            node.text().filter(|text| !text.trim().is_empty() && !text.chars().all(fits))
        else {
            return;
        };
        let message = format!("the command {} has a letter that no command has", quoted(text));
        let finding = Finding::error("bad-command", node.span, message);
        self.problems.push(finding.hint("use `a`–`z`, `0`–`9`, `_` and `-`"));
    }

    fn keep_if(&mut self, name: &str, keep: impl Fn(&str) -> bool) {
        let is_kept =
            self.get(name).is_some_and(|node| self.is_text(node) && node.text().is_some_and(&keep));
        if !is_kept {
            self.remove(name);
        }
    }

    /// Ignores a value of another type, and reports it.
    fn drop_unless(&mut self, name: &str, expected: &str, fits: impl Fn(&Self, &Node) -> bool) {
        // A name with nothing behind it says nothing, and goes without a word.
        let Some(node) = self.get(name) else { return self.remove(name) };
        if fits(self, node) {
            return;
        }
        let message =
            format!("`{name}` must be {expected}, not {}: it is ignored", described(node));
        let finding = Finding::warning("wrong-type", node.span, message);
        self.problems.push(finding);
        self.remove(name);
    }

    fn is_text(&self, node: &Node) -> bool {
        node.text().is_some_and(|said| self.is_quoted(node) || kind(said) == ScalarKind::Text)
    }

    fn is_number(&self, node: &Node) -> bool {
        node.text().is_some_and(|said| !self.is_quoted(node) && kind(said) == ScalarKind::Number)
    }

    fn is_flag(&self, node: &Node) -> bool {
        node.text().is_some_and(|said| !self.is_quoted(node) && kind(said) == ScalarKind::Flag)
    }

    fn is_quoted(&self, node: &Node) -> bool {
        let said = self.text.get(node.span.start..node.span.end).unwrap_or_default();
        // The parser gives every scalar as a text. Whether it was quoted decides whether that program would read `12` as a
        // number.
        said.starts_with(['"', '\'', '|', '>'])
    }

    fn phases(&mut self) -> Phases {
        let at = self.fields.iter().position(|field| field.name == "phases");
        let Some(field) = at.map(|at| self.fields.remove(at)) else { return Phases::Missing };
        match field.value.value {
            Value::Null => Phases::Missing,
            Value::List(items) => {
                Phases::List(items.into_iter().map(|node| self.entry(node)).collect())
            }
            Value::Map(_) | Value::Scalar(_) => {
                let message = "`phases` must be a list of files and of `{subworkflow: key}`";
                let finding = Finding::error("wrong-type", field.value.span, message);
                self.problems.push(finding);
                // Told already: an entry that says nothing more keeps `check` from saying it again.
                Phases::List(vec![PhaseEntry::Told])
            }
        }
    }

    fn entry(&mut self, node: Node) -> PhaseEntry {
        let span = node.span;
        if self.is_text(&node)
            && let Value::Scalar(text) = node.value
        {
            return PhaseEntry::File { file: Named { text, at: span }, key: None };
        }
        if let Value::Map(fields) = &node.value
            && let Some(field) = fields.iter().find(|field| field.name == "subworkflow")
            && self.is_text(&field.value)
        {
            let at = field.value.span;
            return PhaseEntry::Phase(PhaseDraft::new(None, at, self.reference(fields)));
        }
        let message = format!(
            "a phase must be the name of a file or `{{subworkflow: key}}`, not {}",
            described(&node)
        );
        self.problems.push(Finding::error("wrong-type", span, message));
        PhaseEntry::Told
    }

    /// The fields of an entry that runs another workflow: that program knows only one, and whatever else is said there is kept as
    /// the native format has it, or told.
    fn reference(&mut self, fields: &[Field]) -> Vec<Field> {
        let known: Vec<&str> = ["subworkflow"].into_iter().chain(PHASE_NATIVE).collect();
        let (kept, others): (Vec<&Field>, Vec<&Field>) =
            fields.iter().partition(|field| known.contains(&field.name.as_str()));
        for field in others {
            self.problems.push(unknown("an entry that runs a workflow", field, &known));
        }
        kept.into_iter().cloned().collect()
    }

    fn mend_tools(&mut self) {
        let Some(at) = self.fields.iter().position(|field| field.name == "tools") else { return };
        let field = self.fields.remove(at);
        let Value::Map(lists) = field.value.value else {
            if field.value.value != Value::Null {
                let message = format!("`tools` must be a map, not {}", described(&field.value));
                let finding = Finding::error("wrong-type", field.value.span, message);
                self.problems.push(finding.hint("write `tools: {whitelist: [read]}`"));
            }
            return;
        };
        // The same helpers work on the inner map for a moment.
        let outer = std::mem::replace(&mut self.fields, lists);
        let owner = std::mem::replace(&mut self.owner, TOOLS);
        self.drop_unknown(&[&["blacklist", "whitelist", "subagents"]]);
        self.mend_list("blacklist");
        self.mend_list("whitelist");
        // There the lists gate the session that walks the workflow: one that may not edit sends out workers that do.
        let has_list = self.get("blacklist").is_some() || self.get("whitelist").is_some();
        if has_list && self.get("subagents").is_none() {
            self.fields.push(Field::said("subagents", "free", field.at));
        }
        self.owner = owner;
        let lists = std::mem::replace(&mut self.fields, outer);
        let value = Node { span: field.value.span, value: Value::Map(lists) };
        self.fields.push(Field { value, ..field });
    }

    /// A list of names: any scalar counts by its spelling, and a single name as a list of one.
    fn mend_list(&mut self, name: &str) {
        let Some(field) = self.fields.iter_mut().find(|field| field.name == name) else { return };
        let span = field.value.span;
        match &mut field.value.value {
            Value::List(items) => {
                items.iter_mut().for_each(spell);
                *items = items.iter().flat_map(apart).collect();
            }
            Value::Scalar(said) => {
                let message = format!("`{name}` must be a list: {} counts as one", quoted(said));
                let finding = Finding::warning("wrong-type", span, message);
                let hint = format!("write `{name}: [{}]`", quoted(said).trim_matches('`'));
                self.problems.push(finding.hint(hint));
                field.value.value = Value::List(apart(&field.value));
            }
            Value::Null => {}
            Value::Map(_) => {
                let message = format!("`{name}` must be a list, not a map");
                let finding = Finding::error("wrong-type", span, message);
                self.problems.push(finding.hint(format!("write `{name}: [bash]`")));
                self.remove(name);
            }
        }
    }
}

fn spell(node: &mut Node) {
    if node.value == Value::Null {
        // Lists of names: `null` in one is a name like any other, and no item may disappear from a list of what is forbidden.
        node.value = Value::Scalar("null".to_owned());
    }
}

/// `edit, write` in one text is two names: as one it would be the name of no tool, and forbid nothing.
fn apart(node: &Node) -> Vec<Node> {
    let Some(text) = node.text().filter(|text| text.contains(',')) else {
        return vec![node.clone()];
    };
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let one = |name: &str| Node { span: node.span, value: Value::Scalar(name.to_owned()) };
    names.map(one).collect()
}

/// The type of an unquoted scalar in YAML 1.2.
#[derive(Debug, PartialEq, Eq)]
enum ScalarKind {
    Text,
    Number,
    Flag,
}

fn kind(said: &str) -> ScalarKind {
    if matches!(said, "true" | "True" | "TRUE" | "false" | "False" | "FALSE") {
        return ScalarKind::Flag;
    }
    let bare = said.strip_prefix(['-', '+']).unwrap_or(said);
    let radix = |prefix: &str, radix: u32| {
        let digits = said.strip_prefix(prefix).unwrap_or_default();
        !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix))
    };
    let special =
        matches!(bare, ".inf" | ".Inf" | ".INF") || matches!(said, ".nan" | ".NaN" | ".NAN");
    // `inf` and `nan` are numbers to Rust and texts to YAML.
    let begins = bare.trim_start_matches('.').starts_with(|digit: char| digit.is_ascii_digit());
    let digits = bare.chars().all(|it| it.is_ascii_digit() || "+-.eE".contains(it));
    let decimal = begins && digits && bare.parse::<f64>().is_ok();
    if special || decimal || radix("0x", 16) || radix("0o", 8) {
        ScalarKind::Number
    } else {
        ScalarKind::Text
    }
}

fn described(node: &Node) -> String {
    match &node.value {
        Value::Null => "nothing".to_owned(),
        Value::Scalar(text) => quoted(text),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a map".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{ScalarKind, free, kind};

    #[test]
    fn what_a_word_without_quotes_is() {
        for number in ["1", "-1", "+1.5", "1e3", ".5", "0x1F", "0o17", ".inf", "-.Inf", ".nan"] {
            assert_eq!(kind(number), ScalarKind::Number, "{number}");
        }
        for text in ["a", "1a", "e3", "-", ".", "0x", "yes", "nan", "inf", "1.2.3", "1_000", ""] {
            assert_eq!(kind(text), ScalarKind::Text, "{text}");
        }
        assert_eq!(kind("True"), ScalarKind::Flag);
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        let taken = ["a", "a-2"].map(str::to_owned).into();
        assert_eq!(free("a", &taken), "a-3");
        assert_eq!(free("b", &taken), "b");
    }
}
