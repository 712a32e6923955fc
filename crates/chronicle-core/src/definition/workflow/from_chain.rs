//! Chains: one file with several linear workflows, each a list of `agent` and `prompt`.
//!
//! A chain's agent is a persona. A step that fails ends the chain: there is no retry, and a worker that says `fail` calls for a
//! person.

use std::collections::BTreeSet;

use super::draft::{Draft, Field, Named, Node, PhaseDraft, PhaseEntry, Phases, Span, Value};
use super::from_phased::{NAMED_MAX, free};
use super::problem::{Finding, Problems, Severity, quoted};
use super::restrict::{is_said, unknown};
use super::suggest::closest;
use super::{chain_lines, yaml};
use crate::base::ids::{DONE, HUMAN_INTERVENTION};
use crate::base::quote::is_deceptive;

/// Key under which some files keep all of their chains.
const WRAPPER: &str = "chains";
/// Fields of a chain, and of a step.
const CHAIN: [&str; 3] = ["name", "description", "steps"];
const STEP: [&str; 6] = ["agent", "prompt", "name", "description", "model", "thinking"];
/// Top-level fields that are not chains.
const SETTINGS: [&str; 3] = ["default", "active", "version"];

/// Words that are replaced in a prompt, behind `$`.
const INPUT: &str = "INPUT";
const ORIGINAL: &str = "ORIGINAL";

/// One chain of a file, with its own problems.
pub(crate) struct Chain {
    /// The name that it is started by.
    pub name: Named,
    pub draft: Draft,
    pub problems: Problems,
}

/// Every chain of the file; `problems` gets what is wrong with the file as a whole.
pub(crate) fn read(source: usize, text: &str, problems: &mut Problems) -> Vec<Chain> {
    let mut doubts = Problems::default();
    let root = yaml::read(source, text, &mut doubts);
    // Written for a reader that takes each line by itself: what is no YAML is read so, if that makes sense of all of it.
    let root = match root.filter(|_| !doubts.has_error()) {
        Some(root) => Some(root),
        None => chain_lines::read(source, text),
    };
    let Some(root) = root else {
        problems.absorb(&doubts, 0);
        return Vec::new();
    };
    let Value::Map(fields) = root.value else {
        let finding = Finding::error("not-a-chain", root.span.first(), "not a map of chains");
        problems
            .push(finding.hint("write `name: {description: …, steps: [{agent: …, prompt: …}]}`"));
        return Vec::new();
    };
    let fields = unwrapped(fields, problems);
    let names: BTreeSet<String> = fields.iter().map(|field| field.name.clone()).collect();
    let chains = fields.into_iter().filter(|field| !tell_setting(field, &names, problems));
    let mut chains: Vec<Chain> = chains.map(chain).collect();
    refuse_same_names(&mut chains);
    chains
}

/// Refuses every chain whose name another one of the file has too: which of them is meant would be a guess. A map of YAML has no name
/// twice, but lists have, and so have files that are read line by line.
fn refuse_same_names(chains: &mut [Chain]) {
    let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
    for chain in chains.iter() {
        if !seen.insert(chain.name.text.clone()) {
            twice.insert(chain.name.text.clone());
        }
    }
    for chain in chains.iter_mut().filter(|chain| twice.contains(&chain.name.text)) {
        let message =
            format!("several chains of this file are called {}", quoted(&chain.name.text));
        let finding = Finding::error("duplicate-id", chain.name.at, message);
        chain.problems.push(finding.hint("give each of them a name of its own"));
    }
}

/// Chains may be below `chains`, by name or as a list whose items have names.
fn unwrapped(fields: Vec<Field>, problems: &mut Problems) -> Vec<Field> {
    let mut chains = Vec::new();
    for field in fields {
        if field.name != WRAPPER {
            chains.push(field);
            continue;
        }
        match field.value.value {
            // A chain may itself be called `chains`. With steps of its own it is one.
            Value::Map(inner) if !is_chain(&inner) => chains.extend(inner),
            Value::List(items) => {
                chains.extend(items.into_iter().filter_map(|item| named(item, problems)));
            }
            value @ (Value::Map(_) | Value::Null | Value::Scalar(_)) => {
                let value = Node { value, ..field.value };
                chains.push(Field { value, ..field });
            }
        }
    }
    chains
}

fn is_chain(fields: &[Field]) -> bool {
    fields.iter().any(|field| field.name == "steps" && matches!(field.value.value, Value::List(_)))
}

fn named(item: Node, problems: &mut Problems) -> Option<Field> {
    let name = match &item.value {
        Value::Map(fields) => fields.iter().find(|field| field.name == "name"),
        Value::Null | Value::Scalar(_) | Value::List(_) => None,
    };
    let Some((at, name)) = name.and_then(|field| Some((field.value.span, field.value.text()?)))
    else {
        let finding = Finding::error("missing-field", item.span.first(), "a chain needs `name`");
        problems.push(finding.hint("add `name:`"));
        return None;
    };
    Some(Field { name: name.to_owned(), at, value: item })
}

/// Reports settings of another program, such as its default chain.
fn tell_setting(field: &Field, names: &BTreeSet<String>, problems: &mut Problems) -> bool {
    // Only as a text: a chain may be called `default` too, and is a map.
    let Some(said) = field.value.text().filter(|_| SETTINGS.contains(&field.name.as_str())) else {
        return false;
    };
    let name = quoted(&field.name);
    let finding = if field.name != "version" && !names.contains(said) {
        let message = format!("no chain is called {}", quoted(said));
        let meant = closest(said, names.iter().map(String::as_str));
        Finding::warning("unknown-chain", field.value.span, message).did_you_mean(meant)
    } else {
        let message = format!("{name} is not used here: `run` names the chain");
        Finding::new(Severity::Note, "unused-field", field.at, message)
    };
    problems.push(finding);
    true
}

fn chain(field: Field) -> Chain {
    let Field { name, at, value } = field;
    let mut problems = Problems::default();
    let name = Named { text: name, at };
    let mut draft = Draft { span: at, fields: Vec::new(), phases: Phases::Missing };
    // As in the program that this format comes from: a step that fails is not tried again by itself.
    draft.fields.push(Field::with("limits", no_retries(at), at));
    match value.value {
        Value::Map(said) => {
            for field in said {
                match field.name.as_str() {
                    "description" | "name" => draft.fields.push(field),
                    "steps" => draft.phases = steps(field.value, &mut problems),
                    _ => problems.push(unknown("a chain", &field, &CHAIN)),
                }
            }
        }
        Value::List(_) => draft.phases = steps(value, &mut problems),
        Value::Null | Value::Scalar(_) => {
            let message = format!("the chain {} must be a map", quoted(&name.text));
            problems.push(Finding::error("wrong-type", value.span, message));
            draft.phases = Phases::List(vec![PhaseEntry::Told]);
        }
    }
    Chain { name, draft, problems }
}

fn no_retries(at: Span) -> Value {
    Value::Map(vec![Field::said("retries", "0", at)])
}

fn steps(node: Node, problems: &mut Problems) -> Phases {
    let items = match node.value {
        Value::List(items) => items,
        Value::Null => return Phases::Missing,
        Value::Scalar(_) | Value::Map(_) => {
            problems.push(Finding::error("wrong-type", node.span, "`steps` must be a list"));
            return Phases::List(vec![PhaseEntry::Told]);
        }
    };
    let mut taken = BTreeSet::new();
    // One more than a workflow may have: the check must still see that there are too many.
    let items = items.into_iter().take(NAMED_MAX);
    let mut steps: Vec<PhaseEntry> = items.map(|item| step(item, &mut taken, problems)).collect();
    // Said, so that a worker is shown this way out before the one for failures.
    if let Some(PhaseEntry::Phase(last)) = steps.last_mut() {
        last.fields.push(Field::said("next", DONE, last.span));
    }
    Phases::List(steps)
}

fn step(node: Node, taken: &mut BTreeSet<String>, problems: &mut Problems) -> PhaseEntry {
    let span = node.span.first();
    let Value::Map(said) = node.value else {
        let message = "a step must be a map of `agent` and `prompt`";
        problems.push(Finding::error("wrong-type", node.span, message));
        return PhaseEntry::Told;
    };
    let mut phase = PhaseDraft { names_persona: true, ..PhaseDraft::new(None, span, Vec::new()) };
    let mut told = Vec::new();
    for field in said.into_iter().filter(|field| field.value.value != Value::Null) {
        match field.name.as_str() {
            "agent" | "prompt" if !is_said(&field, problems) => told.push(field.name),
            "agent" => phase.fields.push(Field { name: "persona".to_owned(), ..field }),
            "prompt" => phase.fields.push(prompt(field, problems)),
            "name" | "description" | "model" | "thinking" => phase.fields.push(field),
            _ => problems.push(unknown("a step", &field, &STEP)),
        }
    }
    for (name, said) in [("persona", "agent"), ("instructions", "prompt")] {
        if !phase.says(name) && !told.iter().any(|name| name == said) {
            let finding = Finding::error("missing-field", span, format!("a step needs `{said}`"));
            problems.push(finding.hint(format!("add `{said}:`")));
        }
    }
    let persona = phase.fields.iter().find(|field| field.name == "persona");
    let (name, at) = persona
        .map_or(("step", span), |field| (field.value.text().unwrap_or("step"), field.value.span));
    // The same persona may work in several steps, and each place needs its own name.
    let id = free(&id_of(name), taken);
    taken.insert(id.clone());
    phase.fields.push(Field::said("id", id, at));
    // A chain knows only forward. A step that fails must not feed its failure to the next one as a result.
    let fail = Field::said("fail", HUMAN_INTERVENTION, at);
    phase.fields.push(Field::with("on", Value::Map(vec![fail]), at));
    PhaseEntry::Phase(phase)
}

/// A valid phase id for a persona, whose name may contain anything.
fn id_of(name: &str) -> String {
    let plain = |letter: char| if letter == '/' || is_deceptive(letter) { '-' } else { letter };
    // A name of a persona may have signs that no place can have.
    let id: String = name.trim().chars().take(40).map(plain).collect();
    if id.trim().is_empty() || [HUMAN_INTERVENTION, DONE].contains(&id.as_str()) {
        "step".to_owned()
    } else {
        id.trim().to_owned()
    }
}

/// Turns `\n` in a one-line prompt into line ends.
fn prompt(field: Field, problems: &mut Problems) -> Field {
    for word in field.value.text().into_iter().flat_map(unknown_words) {
        let message = format!("nothing replaces {} here", quoted(&format!("${word}")));
        let finding = Finding::error("unknown-word", field.value.span, message);
        let meant = if word.starts_with(ORIGINAL) { ORIGINAL } else { INPUT };
        problems.push(finding.did_you_mean(Some(&format!("${meant}"))));
    }
    for (written, meant) in field.value.text().into_iter().flat_map(other_spellings) {
        let message = format!("nothing replaces {} here", quoted(&written));
        // Not an error: a prompt may speak of a shell's or a program's own variable.
        let finding = Finding::warning("unknown-word", field.value.span, message);
        problems.push(finding.did_you_mean(Some(&format!("${meant}"))));
    }
    let value = match field.value.value {
        // The reader of that format takes `\n` in a line for a line end. A text that has real ones was written as YAML and
        // means what it says.
        Value::Scalar(text) if !text.trim_end().contains('\n') => {
            Value::Scalar(text.replace("\\n", "\n"))
        }
        value @ (Value::Null | Value::Scalar(_) | Value::List(_) | Value::Map(_)) => value,
    };
    let value = Node { span: field.value.span, value };
    Field { name: "instructions".to_owned(), value, ..field }
}

/// Words that are replaced, written as a shell or another case has them: `${INPUT}`, `$input`. They would stay as they are.
fn other_spellings(text: &str) -> impl Iterator<Item = (String, &'static str)> {
    text.split('$').skip(1).filter_map(|rest| {
        let (is_braced, word) = match rest.strip_prefix('{') {
            Some(inside) => (true, inside.split_once('}')?.0),
            None => (false, first_word(rest)),
        };
        let is_it = |known: &&str| known.eq_ignore_ascii_case(word.trim());
        let known = [INPUT, ORIGINAL].into_iter().find(is_it)?;
        let written = if is_braced { format!("${{{word}}}") } else { format!("${word}") };
        (is_braced || word != known).then_some((written, known))
    })
}

fn first_word(text: &str) -> &str {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let end = text.find(|letter| !is_letter(letter)).unwrap_or(text.len());
    &text[..end]
}

/// Words behind `$` that begin with one that is replaced and are longer, such as `INPUT_1`: half of such a word would be replaced.
fn unknown_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split('$').skip(1).map(first_word);
    let is_known = |word: &&str| [INPUT, ORIGINAL].contains(word);
    let begins = |word: &&str| [INPUT, ORIGINAL].iter().any(|known| word.starts_with(known));
    words.filter(begins).filter(move |word| !is_known(word))
}
