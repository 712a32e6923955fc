//! Every word in the name of a public type of the core's vocabulary is in the glossary, or is ordinary English.

use std::collections::BTreeSet;

use super::names::public_type;
use super::{Finding, Repo, missing};

const GLOSSARY: &str = "docs/glossary.md";
/// Folders of the core whose types are the words that everything else is written in.
const FOLDERS: &[&str] = &[
    "crates/chronicle-core/src/definition/",
    "crates/chronicle-core/src/event/",
    "crates/chronicle-core/src/state/",
];
/// Words that mean here what they mean everywhere, and forms of words that the glossary has.
const ORDINARY: &[&str] = &[
    "action",
    "answered",
    "asker",
    "at",
    "awaited",
    "back",
    "began",
    "bound",
    "by",
    "called",
    "change",
    "changes",
    "check",
    "class",
    "commands",
    "count",
    "counters",
    "crash",
    "did",
    "doing",
    "end",
    "ended",
    "entered",
    "failed",
    "failure",
    "fell",
    "field",
    "file",
    "files",
    "final",
    "form",
    "format",
    "found",
    "given",
    "handed",
    "impossible",
    "isolation",
    "item",
    "key",
    "known",
    "leave",
    "list",
    "loaded",
    "message",
    "missed",
    "moved",
    "on",
    "open",
    "opened",
    "parted",
    "path",
    "price",
    "prices",
    "question",
    "raised",
    "ran",
    "read",
    "recorded",
    "repaired",
    "repeat",
    "repository",
    "restored",
    "row",
    "said",
    "seen",
    "sent",
    "severity",
    "shortage",
    "show",
    "source",
    "started",
    "stop",
    "stopping",
    "stretch",
    "taken",
    "target",
    "text",
    "timer",
    "unproven",
    "unsupported",
    "up",
    "update",
    "use",
    "value",
    "waited",
    "waiting",
    "warned",
    "what",
    "whose",
    "written",
];

/// Words of public types that neither the glossary nor the list of ordinary words has.
pub(super) fn every_noun_is_explained(repo: &Repo) -> Vec<Finding> {
    let Some(glossary) = repo.get(GLOSSARY) else {
        return missing(repo, GLOSSARY).into_iter().collect();
    };
    let known = explained(&glossary.text);
    let is_known = |word: &String| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        known.contains(word) || known.contains(singular) || ORDINARY.contains(&word.as_str())
    };
    let mut findings = Vec::new();
    for file in repo.rust().filter(|file| FOLDERS.iter().any(|it| file.path.starts_with(it))) {
        for (index, line) in file.source.code.lines().enumerate() {
            let Some(name) = public_type(line) else { continue };
            findings.extend(words(name).into_iter().filter(|word| !is_known(word)).map(|word| {
                let what = format!("`{word}` of the type `{name}` is in no glossary");
                let fix = format!("explain it in {GLOSSARY}, or use a word that is there");
                Finding::new(&file.path, index + 1, what, fix)
            }));
        }
    }
    findings
}

/// Words of the first column of every table.
fn explained(glossary: &str) -> BTreeSet<String> {
    let rows = glossary.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    let words = rows.flat_map(|(first, _)| first.split(|sign: char| !sign.is_ascii_alphabetic()));
    words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect()
}

/// The words of a type's name, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for sign in name.chars() {
        if sign.is_ascii_uppercase() || words.is_empty() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(sign.to_ascii_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str) -> Vec<String> {
        let glossary =
            "| word | meaning |\n|---|---|\n| gate | A stop. |\n| torn tail | Bytes. |\n";
        let files = [(GLOSSARY, glossary), ("crates/chronicle-core/src/state/a.rs", code)];
        every_noun_is_explained(&Repo::of(&files)).iter().map(Finding::to_line).collect()
    }

    #[test]
    fn a_type_is_named_with_words_of_the_glossary_or_ordinary_ones() {
        assert_eq!(found("pub struct GateOpened;\npub enum Tail {}\nstruct Gizmo;\n"), [""; 0]);
    }

    #[test]
    fn a_word_that_nobody_explains_is_found() {
        let expected = "crates/chronicle-core/src/state/a.rs:1: `gizmo` of the type `GateGizmo` is in no glossary \
                        (explain it in docs/glossary.md, or use a word that is there)";
        assert_eq!(found("pub struct GateGizmo {\n"), [expected]);
    }
}
