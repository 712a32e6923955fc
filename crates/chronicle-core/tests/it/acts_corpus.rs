//! Commands and what they would do, in `acts_corpus.txt`.

use std::collections::BTreeSet;

use chronicle_core::guard::acts::{Acts, CommandFolder, CommandWord, ShellSetting, acts};

/// Each command with the lines that are expected of it.
pub(crate) fn corpus() -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    let mut is_command = false;
    for line in include_str!("acts_corpus.txt").lines() {
        if line.starts_with("##") || line.is_empty() {
            is_command = false;
        } else if let Some(expected) = line.strip_prefix("    ") {
            is_command = false;
            let lines = &mut all.last_mut().unwrap().1;
            lines.extend(Some(expected.to_owned()).filter(|line| !line.is_empty()));
        } else if is_command {
            let text = &mut all.last_mut().unwrap().0;
            text.push('\n');
            text.push_str(line);
        } else {
            is_command = true;
            all.push((line.to_owned(), Vec::new()));
        }
    }
    for (text, _) in &mut all {
        // What an editor would not show is written as an escape.
        if let Some(escaped) = text.strip_prefix("@ ") {
            let escapes =
                [("\\r", "\r"), ("\\t", "\t"), ("\\0", "\0"), ("\\a0", "\u{a0}"), ("\\n", "\n")];
            *text = escapes
                .iter()
                .fold(escaped.to_owned(), |text, (escape, real)| text.replace(escape, real));
        }
    }
    all
}

fn place(folder: &CommandFolder) -> String {
    match folder {
        CommandFolder::Known(folder) if folder == "/project" => String::new(),
        CommandFolder::Known(folder) => format!(" @{folder}"),
        CommandFolder::Unknown => " @?".to_owned(),
    }
}

/// One line for each act.
fn lines(acts: &Acts) -> BTreeSet<String> {
    let runs = acts.runs.iter().map(|run| format!("run {}{}", run.text, place(&run.folder)));
    let touches = acts.touches.iter().map(|touch| {
        let kind = format!("{:?}", touch.kind).to_lowercase();
        let (path, is_absolute) = match &touch.path {
            CommandWord::Known(path) => (path.clone(), path.starts_with('/')),
            CommandWord::Glob(pattern) => (format!("glob:{pattern}"), pattern.starts_with('/')),
            CommandWord::Unknown { begins, .. } => (format!("?{begins}"), begins.starts_with('/')),
        };
        let place = if is_absolute { String::new() } else { place(&touch.folder) };
        let within = if touch.is_within { " within" } else { "" };
        format!("{kind} {path}{place}{within}")
    });
    let doubts = acts.unknown.iter().map(|doubt| format!("doubt {:?}", doubt.kind).to_lowercase());
    runs.chain(touches).chain(doubts).map(|line| line.replace('\r', "\\r")).collect()
}

#[test]
#[expect(clippy::print_stderr, reason = "what is wrong is for people to read")]
fn every_command_of_the_corpus_does_what_is_said() {
    let corpus = corpus();
    let mut wrong = 0;
    for (text, expected) in &corpus {
        let setting = ShellSetting {
            folder: Some("/project"),
            home: Some("/home/me"),
            project: Some("/project"),
        };
        let found = lines(&acts(text, setting));
        let expected: BTreeSet<String> = expected.iter().cloned().collect();
        if found != expected {
            wrong += 1;
            eprintln!("--- {text}");
            for line in expected.difference(&found) {
                eprintln!("  missing: {line}");
            }
            for line in found.difference(&expected) {
                eprintln!("  unexpected: {line}");
            }
        }
    }
    eprintln!("corpus: {} commands, {wrong} mismatches", corpus.len());
    assert_eq!(wrong, 0);
    assert!(corpus.len() >= 250, "the corpus was cut short");
}
