//! Verdicts on a corpus of calls, and on the calls that any reader of such rules must get right.

use std::fmt::Write as _;

use chronicle_core::base::tools::ToolKind;
use chronicle_core::definition::guard::{Rules, built_in, read_rules};
use chronicle_core::definition::workflow::Source;
use chronicle_core::guard::{AskedCall, Compiled, Judgement, Whereabouts, judge, look};
use serde_json::{Value, json};

use crate::guard_disk::Disk;

const CORPUS: &str = include_str!("data/guard/corpus.txt");
const KEPT: &str = include_str!("data/guard/kept.txt");
const NAMED: &str = include_str!("data/guard/named.txt");
const CALLS: &str = include_str!("data/guard/calls.json");
const SHELLS: [&str; 4] = ["bash", "Bash", "Monitor", "shell"];

fn place(project: &str, home: &str) -> Whereabouts {
    Whereabouts {
        project: project.to_owned(),
        folder: project.to_owned(),
        homes: vec![home.to_owned()],
        own: vec![format!("{home}/.config/chronicle"), format!("{home}/.local/state/chronicle")],
        ..Whereabouts::default()
    }
}

fn verdict(rules: &Compiled, disk: &Disk, tool: &str, input: &Value) -> Judgement {
    let call =
        AskedCall { tool, kind: ToolKind::Unknown, input, by_sub_agent: false, is_signal: false };
    judge(rules, None, &call, &disk.facts(look(&call, rules.place())))
}

fn word(judged: &Judgement) -> &'static str {
    match judged {
        Judgement::Clear => "clear",
        Judgement::Deny { .. } => "deny",
        Judgement::Ask { .. } => "ask",
    }
}

/// One line of the corpus.
struct Entry {
    section: String,
    expected: String,
    tool: String,
    shown: String,
    input: Value,
}

fn corpus(text: &str) -> (Disk, Vec<Entry>) {
    let (mut disk, mut entries, mut section) = (Disk::default(), Vec::new(), String::new());
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("== ") {
            name.clone_into(&mut section);
            continue;
        }
        let parts: Vec<&str> = line.split('‖').map(str::trim).collect();
        match parts.as_slice() {
            ["there", path] => disk.add(path),
            [expected, tool, shown, _why] => {
                let text = shown.replace('⏎', "\n");
                let is_json = text.starts_with("{\"") || text.starts_with("[\"");
                let is_command = SHELLS.contains(tool) && !is_json;
                let input = if is_command {
                    json!({ "command": text })
                } else {
                    serde_json::from_str(&text).unwrap()
                };
                let [expected, tool, shown] = [expected, tool, shown].map(|it| (*it).to_owned());
                entries.push(Entry { section: section.clone(), expected, tool, shown, input });
            }
            _ => panic!("not a line of the corpus: {line}"),
        }
    }
    (disk, entries)
}

#[test]
fn every_call_of_the_corpus_gets_its_verdict() {
    let (disk, entries) = corpus(CORPUS);
    let rules = Compiled::new(&[built_in()], &place("/home/ann/proj", "/home/ann")).unwrap();
    let (mut misses, mut stopped, mut others, mut ordinary) = (0, 0, 0, 0);
    let mut told = String::new();
    for Entry { section, expected, tool, shown, input } in &entries {
        let judged = verdict(&rules, &disk, tool, input);
        let is_ordinary = section.starts_with("ordinary");
        ordinary += u32::from(is_ordinary);
        if word(&judged) == expected {
            continue;
        }
        match (is_ordinary, word(&judged)) {
            (true, _) => stopped += 1,
            (false, "clear") => misses += 1,
            (false, _) => others += 1,
        }
        let _ = writeln!(told, "{section} | {tool} | {shown}\n    expected {expected}: {judged:?}");
    }
    let total = entries.len();
    let sums = format!(
        "{total} calls, {ordinary} of them ordinary: {misses} missed, {stopped} ordinary stopped, {others} too strict or too mild"
    );
    #[expect(clippy::print_stdout, reason = "the figures of the corpus")]
    {
        println!("{sums}");
    }
    assert!(total >= 300 && ordinary >= 120, "{sums}");
    assert!(misses == 0 && others == 0 && stopped * 100 < ordinary, "{sums}\n{told}");
}

/// Whatever option of which program leads to a file that a person keeps.
#[test]
fn what_a_person_keeps_is_not_missed_and_ordinary_calls_go_on() {
    let (disk, entries) = corpus(KEPT);
    let text = "zeroAccessPaths: [secret.txt, hidden/]\nreadOnlyPaths: [locked.txt, vendor/]\nnoDeletePaths: [docs/]\n";
    let (name, text) = ("rules.yaml".to_owned(), text.to_owned());
    let own = read_rules(&Source { file: None, name, key: String::new(), text }).rules;
    let rules = Compiled::new(&[own, built_in()], &place("/home/ann/proj", "/home/ann")).unwrap();
    let mut told = String::new();
    for Entry { section, expected, tool, shown, input } in &entries {
        let judged = verdict(&rules, &disk, tool, input);
        if word(&judged) != expected {
            let _ = writeln!(told, "{section} | {shown}\n    expected {expected}: {judged:?}");
        }
    }
    assert!(entries.len() > 500, "{} calls", entries.len());
    assert_eq!(told, "");
}

/// Rules that people write find a command however its options and variables are put.
#[test]
fn what_a_persons_rules_name_is_found_however_it_is_put() {
    let (disk, entries) = corpus(NAMED);
    let text = include_str!("data/guard/named.yaml");
    let (name, text) = ("rules.yaml".to_owned(), text.to_owned());
    let read = read_rules(&Source { file: None, name, key: String::new(), text });
    assert_eq!(read.problems, []);
    let place = place("/home/ann/proj", "/home/ann");
    let rules = Compiled::new(&[read.rules, built_in()], &place).unwrap();
    let mut told = String::new();
    for Entry { section, expected, tool, shown, input } in &entries {
        let judged = verdict(&rules, &disk, tool, input);
        if word(&judged) != expected {
            let _ = writeln!(told, "{section} | {shown}\n    expected {expected}: {judged:?}");
        }
    }
    assert!(entries.len() > 80, "{} calls", entries.len());
    assert_eq!(told, "");
}

#[test]
fn calls_that_every_reader_of_such_rules_must_get_right() {
    let calls: Value = serde_json::from_str(&CALLS.replace("$T", "/t")).unwrap();
    let mut disk = Disk::default();
    for thing in calls["fixture"].as_array().unwrap() {
        let path = format!("/t/{}", thing["path"].as_str().unwrap());
        disk.add(
            &thing["link"].as_str().map_or(path.clone(), |target| format!("{path} -> {target}")),
        );
    }
    let rules = |name: &str, text: &str| -> Rules {
        let (name, text) = (name.to_owned(), text.to_owned());
        let read = read_rules(&Source { file: None, name, key: String::new(), text });
        assert_eq!(read.problems, []);
        read.rules
    };
    let compiled = |rules: Rules| Compiled::new(&[rules], &place("/t/proj", "/t/home")).unwrap();
    let first = compiled(rules("rules.yaml", include_str!("data/guard/rules.yaml")));
    let second =
        compiled(rules("rules-dialect2.yaml", include_str!("data/guard/rules-dialect2.yaml")));
    assert_eq!((first.count(), second.count()), (62, 20));
    let mut wrong = String::new();
    for call in calls["calls"].as_array().unwrap() {
        let rules = if call["rules"] == "rules.yaml" { &first } else { &second };
        let judged = verdict(rules, &disk, call["tool"].as_str().unwrap(), &call["input"]);
        let expected = call["verdict"].as_str().unwrap().replace("allow", "clear");
        if word(&judged) != expected {
            let _ = writeln!(
                wrong,
                "{} {}: expected {expected} ({}): {judged:?}",
                call["id"], call["input"], call["why"]
            );
        }
    }
    assert_eq!(wrong, "");
}

/// How long a command is says nothing about what it does.
#[test]
fn long_commands_are_judged_by_what_they_do() {
    let rules = Compiled::new(&[built_in()], &place("/home/ann/proj", "/home/ann")).unwrap();
    let disk = Disk::default();
    let verdict = |command: &str| {
        verdict(&rules, &disk, "bash", &json!({ "command": command, "description": "x" }))
    };
    let files: String = (0..900).fold(String::new(), |mut text, at| {
        let _ = write!(
            text,
            " src/a_module_with_a_longer_name_{}/and_a_file_with_a_longer_name_{at}.ts",
            at % 40
        );
        text
    });
    let words = "It says what was changed, and why: the old way took too long.\n".repeat(1_000);
    let code = "x = {'a': 1, 'b': [1, 2, 3]}\nprint(x)\n".repeat(1_500);
    assert!(files.len() > 60_000 && words.len() > 60_000 && code.len() > 55_000);
    for command in [
        format!("git add{files}"),
        format!("npx eslint{files}"),
        format!("git commit -m '{words}'"),
        format!("git push origin main{files}"),
        format!("python3 - <<'EOF'\n{code}EOF\n"),
        format!("cat > notes.md <<'EOF'\n{words}EOF\n"),
    ] {
        assert_eq!(verdict(&command), Judgement::Clear, "{}", &command[..40]);
    }
    for command in [
        format!("git push origin{files} --force"),
        format!("git push --force origin{files}"),
        format!("git push origin{files} +main"),
        format!("git add{files} && git push --force"),
    ] {
        assert_eq!(word(&verdict(&command)), "deny", "{}", &command[..40]);
    }
}
