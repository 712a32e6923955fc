//! A rules file, in either dialect: lists of commands and paths, or bare patterns.

use serde::{Deserialize, Serialize};

use super::in_force::BUILT_IN;
use super::pattern::Pattern;
use crate::base::quote;
use crate::definition::workflow::draft::{Field, Node, Span, Value};
use crate::definition::workflow::problem::{Finding, Problems, quoted};
use crate::definition::workflow::suggest::closest;
use crate::definition::workflow::{Problem, Severity, Source, yaml};

/// Longest pattern, in bytes.
const PATTERN_MAX: usize = 2_000;
/// Longest account of what is wrong with a pattern.
const ERROR_MAX: usize = 200;
/// Most rules of one file.
const RULES_MAX: usize = 5_000;

/// Top-level fields that are not rules.
const NO_RULES: [&str; 3] = ["version", "name", "description"];
/// A list of exceptions to the rules. It is not honoured: the rules apply everywhere, which forbids more and never less.
const EXCEPTIONS: &str = "pathOverrides";

const LISTS: [&str; 8] = [
    "bashToolPatterns",
    "zeroAccessPaths",
    "readOnlyPaths",
    "noDeletePaths",
    "askPaths",
    "freePaths",
    "destructiveCommands",
    "sensitivePaths",
];

/// Everything that one file forbids.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rules {
    /// In the file's order: the first match wins.
    pub commands: Vec<CommandRule>,
    /// Paths that may not be used at all.
    pub zero_access: Vec<PathRule>,
    /// Paths that may be read only.
    pub read_only: Vec<PathRule>,
    /// Paths that may be changed but not removed.
    pub no_delete: Vec<PathRule>,
    /// Paths that are read and changed only if a person agrees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<PathRule>,
    /// If there are any, a person is asked before anything is changed that lies neither in the project nor here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub free: Vec<PathRule>,
    /// Patterns of paths that may not be used at all.
    pub sensitive: Vec<PathRule>,
}

/// A command that is refused or needs a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRule {
    /// A regular expression; look-around is allowed.
    pub pattern: String,
    /// Shown to the agent when a call is refused.
    pub reason: String,
    /// True if a person is asked instead of refusing.
    pub ask: bool,
    /// Where it is written.
    pub at: RuleAt,
}

/// A path, or a pattern of paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathRule {
    /// As it is written.
    pub path: String,
    /// Where it is written.
    pub at: RuleAt,
}

/// Where a rule is written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RuleAt {
    /// The file, as its reader named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

impl RuleAt {
    fn of(source: &Source, span: Span) -> Self {
        let before = source.text.get(..span.start).unwrap_or(&source.text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        Self { file: source.name.clone(), line }
    }
}

impl Rules {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.commands.len()
            + self.zero_access.len()
            + self.read_only.len()
            + self.no_delete.len()
            + self.ask.len()
            + self.free.len()
            + self.sensitive.len()
    }
}

/// The result of reading a rules file.
#[derive(Debug, Clone, PartialEq)]
pub struct RulesRead {
    /// All rules of the file that can be used.
    pub rules: Rules,
    /// An error means that the file protects less than it says, so nothing may start with it.
    pub problems: Vec<Problem>,
}

impl RulesRead {
    /// True if every rule of the file can be used.
    pub fn is_usable(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity != Severity::Error)
    }
}

/// Reads a file of rules.
pub fn read_rules(source: &Source) -> RulesRead {
    let mut problems = Problems::default();
    let mut rules = Rules::default();
    // A test compiles every pattern of the built-in rules: to do so at every start of the program would cost more than all else.
    let is_sound = source.text == BUILT_IN;
    match yaml::read_part(0, &source.text, 0..source.text.len(), &mut problems) {
        Ok(Some(Node { value: Value::Map(fields), .. })) => {
            for field in fields {
                take(&mut rules, source, &field, is_sound, &mut problems);
            }
        }
        Ok(Some(node)) if node.value != Value::Null => {
            let finding = Finding::error("not-rules", node.span.first(), "not a map of rules");
            problems.push(finding.hint(format!("begin with `{}:`", LISTS[0])));
        }
        // Nothing but comments forbids nothing.
        Ok(_) | Err(yaml::AlreadyTold) => {}
    }
    RulesRead { rules, problems: problems.finish(std::slice::from_ref(source)) }
}

fn take(
    rules: &mut Rules,
    source: &Source,
    field: &Field,
    is_sound: bool,
    problems: &mut Problems,
) {
    let Some(items) = list(field, problems) else { return };
    for item in items {
        // An empty text is how a file without a value looks once a program has written it.
        if item.value == Value::Null || item.text().is_some_and(|text| text.trim().is_empty()) {
            let message = "an empty item: it forbids nothing";
            problems.push(Finding::warning("empty-value", item.span, message));
            continue;
        }
        // The rest of the list is given up: every further rule of a hostile file would be another problem.
        if rules.count() >= RULES_MAX {
            let message = format!("more than {RULES_MAX} rules");
            problems.push(Finding::error("too-many-rules", item.span, message));
            return;
        }
        let at = RuleAt::of(source, item.span);
        let rule = |path: String| PathRule { path, at: at.clone() };
        match field.name.as_str() {
            "bashToolPatterns" => rules.commands.extend(command(item, at, is_sound, problems)),
            "destructiveCommands" => rules.commands.extend(bare(item, at, is_sound, problems)),
            "zeroAccessPaths" => rules.zero_access.extend(text(item, problems).map(rule)),
            "readOnlyPaths" => rules.read_only.extend(text(item, problems).map(rule)),
            "noDeletePaths" => rules.no_delete.extend(text(item, problems).map(rule)),
            "askPaths" => rules.ask.extend(text(item, problems).map(rule)),
            "freePaths" => rules.free.extend(text(item, problems).map(rule)),
            // `list` has let through no other name than these eight, so this is the last of them.
            _ => rules.sensitive.extend(pattern(item, is_sound, problems).map(rule)),
        }
    }
}

/// The items of a known list. An unknown name would be a rule that nobody enforces.
fn list<'f>(field: &'f Field, problems: &mut Problems) -> Option<&'f [Node]> {
    if NO_RULES.contains(&field.name.as_str()) && field.value.text().is_some() {
        return None;
    }
    // A warning, since leaving out an exception only forbids more. A rule that is left out would allow more, and is an
    // error.
    if field.name == EXCEPTIONS {
        let message = format!(
            "no exceptions are made by {}: every rule holds everywhere",
            quoted(EXCEPTIONS)
        );
        problems.push(Finding::warning("unused-field", field.at, message));
        return None;
    }
    if !LISTS.contains(&field.name.as_str()) {
        let message = format!("no kind of rule is called {}", quoted(&field.name));
        let finding = Finding::error("unknown-field", field.at, message);
        problems.push(finding.did_you_mean(closest(&field.name, LISTS)));
        return None;
    }
    match &field.value.value {
        Value::Null => None,
        Value::List(items) => Some(items),
        Value::Scalar(_) | Value::Map(_) => {
            let message = format!("{} must be a list", quoted(&field.name));
            problems.push(Finding::error("wrong-type", field.value.span, message));
            None
        }
    }
}

fn text(node: &Node, problems: &mut Problems) -> Option<String> {
    let said = node.text().map(str::trim).filter(|text| !text.is_empty());
    if said.is_none() {
        problems.push(Finding::error("wrong-type", node.span, "must be a text"));
    }
    said.map(str::to_owned)
}

fn pattern(node: &Node, is_sound: bool, problems: &mut Problems) -> Option<String> {
    // Not trimmed, unlike a path: a space may be part of the pattern.
    let said = node.text().filter(|text| !text.is_empty());
    if said.is_none() {
        problems.push(Finding::error("wrong-type", node.span, "must be a pattern"));
    }
    let said = said?;
    (is_sound || compiles(said, node.span, problems)).then(|| said.to_owned())
}

fn compiles(pattern: &str, at: Span, problems: &mut Problems) -> bool {
    if pattern.len() > PATTERN_MAX {
        let message = format!("the pattern is longer than {PATTERN_MAX} bytes");
        problems.push(Finding::error("bad-pattern", at, message));
        return false;
    }
    // Compiled when it is read: a rule that fails only when it is needed would protect nothing until then.
    let Err(error) = Pattern::compile(pattern) else { return true };
    let words = quote::line(&error, ERROR_MAX);
    let message = format!("the pattern {} does not compile: {}", quoted(pattern), words);
    problems.push(Finding::error("bad-pattern", at, message));
    false
}

fn bare(node: &Node, at: RuleAt, is_sound: bool, problems: &mut Problems) -> Option<CommandRule> {
    let pattern = pattern(node, is_sound, problems)?;
    Some(CommandRule { pattern, reason: "a destructive command".to_owned(), ask: false, at })
}

fn command(
    node: &Node,
    at: RuleAt,
    is_sound: bool,
    problems: &mut Problems,
) -> Option<CommandRule> {
    let Value::Map(fields) = &node.value else {
        let message = "must be a map of `pattern`, `reason` and `ask`";
        problems.push(Finding::error("wrong-type", node.span, message));
        return None;
    };
    let mut said = None;
    let mut rule = CommandRule { pattern: String::new(), reason: String::new(), ask: false, at };
    for field in fields {
        match field.name.as_str() {
            "pattern" => said = pattern(&field.value, is_sound, problems),
            "reason" => field.value.text().unwrap_or_default().clone_into(&mut rule.reason),
            "ask" => rule.ask = flag(&field.value, problems),
            _ => {
                let message = format!("a rule has no field {}: it is ignored", quoted(&field.name));
                problems.push(Finding::warning("unknown-field", field.at, message));
            }
        }
    }
    if !fields.iter().any(|field| field.name == "pattern") {
        let finding = Finding::error("missing-field", node.span.first(), "a rule needs `pattern`");
        problems.push(finding.hint("add `pattern:`"));
    }
    said.map(|pattern| CommandRule { pattern, ..rule })
}

/// Only a boolean is accepted: anything else could turn a refusal into a question, or the reverse.
fn flag(node: &Node, problems: &mut Problems) -> bool {
    match node.text() {
        Some("true" | "True" | "TRUE") => true,
        Some("false" | "False" | "FALSE") => false,
        _ if node.value == Value::Null => false,
        _ => {
            problems.push(Finding::error(
                "wrong-type",
                node.span,
                "`ask` must be `true` or `false`",
            ));
            false
        }
    }
}
