//! Every kind of event has its paragraph, its sentence and its effect on the state.

use super::{File, Finding, Repo, missing};
use crate::code::source::find_words;
use crate::code::variants::variants;

/// The module whose file has `enum Event`: this name with `.rs`, or a folder.
const EVENTS: &str = "crates/chronicle-core/src/event";
const FORMAT: &str = "docs/ledger-format.md";
/// The folders or files where each kind must occur as `Event::Kind`, and what it gets there.
const CODE: &[(&str, &str)] = &[
    ("crates/chronicle-core/src/words", "a sentence for people"),
    ("crates/chronicle-core/src/state", "its effect on the state"),
];

/// Compares the kinds of events with the places that tell of them.
pub(super) fn every_event_is_told(repo: &Repo) -> Vec<Finding> {
    let module: Vec<&File> = repo.rust().filter(|file| is_in(EVENTS, &file.path)).collect();
    if module.is_empty() {
        return missing(repo, &format!("{EVENTS}.rs")).into_iter().collect();
    }
    let has_kinds = |file: &&&File| !variants(&file.source.code, "Event").is_empty();
    let Some(events) = module.iter().find(has_kinds) else {
        let fix = "keep it there, or move the check in xtask/src/tidy/events.rs with it";
        return vec![Finding::new(&module[0].path, 1, "no `enum Event` was found", fix)];
    };
    let kinds = variants(&events.source.code, "Event");
    let mut findings: Vec<Finding> = missing(repo, FORMAT).into_iter().collect();
    if let Some(format) = repo.get(FORMAT) {
        for (kind, line) in &kinds {
            let heading = snake_case(kind);
            if !has_heading(&format.text, &heading) {
                let what = format!("`{kind}` is not told");
                let fix = format!("describe it in {FORMAT} under `### {heading}`");
                findings.push(Finding::new(&events.path, *line, what, fix));
            }
        }
    }
    for (place, what) in CODE {
        findings.extend(untold(repo, &events.path, &kinds, place, what));
    }
    findings
}

/// Whether a path is the file of a module, or below its folder.
fn is_in(module: &str, path: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

fn untold(
    repo: &Repo,
    events: &str,
    kinds: &[(&str, usize)],
    place: &str,
    what: &str,
) -> Vec<Finding> {
    let told_in = repo.rust().filter(|file| is_in(place, &file.path));
    let codes: Vec<String> = told_in.map(File::product_code).collect();
    if codes.is_empty() {
        return missing(repo, &format!("{place}.rs")).into_iter().collect();
    }
    let is_told = |kind: &str| {
        let name = format!("Event::{kind}");
        codes.iter().any(|code| find_words(code, &name).next().is_some())
    };
    let silent = kinds.iter().filter(|(kind, _)| !is_told(kind));
    silent
        .map(|(kind, line)| {
            let what_is = format!("`{kind}` has no `Event::{kind}` in {place}");
            Finding::new(events, *line, what_is, format!("give it {what}"))
        })
        .collect()
}

fn snake_case(kind: &str) -> String {
    let mut text = String::new();
    for letter in kind.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

fn has_heading(text: &str, heading: &str) -> bool {
    let headings = text.lines().filter_map(|line| line.strip_prefix("### "));
    headings.into_iter().any(|line| line.trim().trim_matches('`') == heading)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENUM: &str = "/// Facts.\npub enum Event {\n    /// One.\n    RunStarted(Arc<RunStarted>),\n\
        \x20   #[serde(rename = \"x\")]\n    TailSetAside {\n        /// Bytes.\n        bytes: Kind,\n    },\n\
        \x20   RunDone,\n}\npub enum Other { A }\n";

    #[test]
    fn a_heading_is_the_kind_in_snake_case() {
        assert_eq!(snake_case("TailSetAside"), "tail_set_aside");
    }

    #[test]
    fn a_kind_without_its_paragraph_sentence_or_effect_is_found() {
        let all = "Event::RunStarted(_) => a, Event::TailSetAside { .. } => b, Event::RunDone => c";
        let words = all.replace("Event::RunDone", "Event::RunDoneAgain");
        let repo = Repo::of(&[
            ("crates/chronicle-core/src/event/mod.rs", "mod kinds;\n"),
            ("crates/chronicle-core/src/event/kinds.rs", ENUM),
            (FORMAT, "### run_started\n### `tail_set_aside`\n#### run_done\n"),
            ("crates/chronicle-core/src/words.rs", &words),
            ("crates/chronicle-core/src/words/tests.rs", all),
            ("crates/chronicle-core/src/state/apply.rs", all),
        ]);
        let lines: Vec<_> = every_event_is_told(&repo).iter().map(Finding::to_line).collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines.iter().all(|line| line.contains(":10: `RunDone`")), "{lines:?}");
    }

    #[test]
    fn an_enum_that_cannot_be_read_is_found() {
        let path = "crates/chronicle-core/src/event.rs";
        assert_eq!(every_event_is_told(&Repo::of(&[(path, "pub struct Event;\n")])).len(), 1);
    }
}
