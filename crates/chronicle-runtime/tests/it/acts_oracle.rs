//! Compares what is read with what a real bash runs: reading less than it runs is the fault to find.
//!
//! Every command in these scripts has a made-up name, and bash runs them in an empty folder, without any variable of ours and
//! with no program to find. `ACTS_SCRIPTS` says how many random ones are made, `ACTS_SEED` which, `ACTS_DEPTH` how deep they go.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "the figures are what this test is read for")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use chronicle_core::guard::acts::{Acts, CommandWord, Doubt, DoubtKind, ShellSetting, acts};

use crate::acts_scripts::Scripts;

/// How many scripts one bash runs.
const BATCH: usize = 200;
/// What the handler in bash puts between words, after a command, after the number of a script, and in place of a line's end.
const WORD: char = '\u{1}';
const COMMAND: char = '\u{2}';
const SCRIPT: char = '\u{3}';
const NEWLINE: char = '\u{4}';

fn bash() -> Option<&'static str> {
    let places = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"];
    places.into_iter().find(|path| Path::new(path).exists())
}

/// A path in a script could name a real program or file: only these are allowed.
fn is_made_up(text: &str) -> bool {
    let harmless = ["/dev/null", "${u//", "${u/", "${y/b/", "${x/b/", "/x}", "~/x", "a/$(zq_2)"];
    let without = harmless.iter().fold(text.to_owned(), |text, it| text.replace(it, ""));
    !without.contains('/')
}

/// A folder that nothing else uses.
struct Empty(std::path::PathBuf);

impl Empty {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("acts-oracle-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Empty {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Each script in a shell of its own; a command that is not found is written down instead.
fn driver(scripts: &[String]) -> String {
    // One write for each command, so that those that run at the same time do not mix: a line's end would flush early.
    let mut driver = String::from(
        "FUNCNEST=20
command_not_found_handle() {
  local l
  printf -v l '%s\\1' \"$@\"
  printf '%s\\3%s\\2' \"$zq_index\" \"${l//$'\\n'/$'\\4'}\" >&9
  return 1
}
",
    );
    for (index, script) in scripts.iter().enumerate() {
        assert!(is_made_up(script), "could touch something real: {script}");
        let text = script.replace('\'', "'\\''");
        let apart = format!("( ulimit -t 1; zq_index={index}; eval '{text}' )");
        writeln!(driver, "{apart} </dev/null >/dev/null 2>/dev/null").unwrap();
    }
    driver.push_str("printf end >&9\n");
    driver
}

/// Which commands each script tried to run.
fn commands_of(bash: &str, scripts: &[String]) -> Vec<Vec<Vec<String>>> {
    let folder = Empty::new();
    let driver = driver(scripts);
    let mut child = Command::new(bash)
        .args([
            "--norc",
            "--noprofile",
            "-c",
            "exec 9>&1 >/dev/null 2>/dev/null; source /dev/stdin",
        ])
        .env_clear()
        .env("PATH", "/nonexistent")
        .current_dir(&folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(driver.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("end"), "bash stopped early");
    let mut all = vec![Vec::new(); scripts.len()];
    for line in text.split(COMMAND) {
        let Some((index, words)) = line.split_once(SCRIPT) else { continue };
        // The last word of the driver may come before what still runs in the background.
        let index: usize = index.trim_start_matches("end").parse().unwrap();
        let words = words.split_terminator(WORD).map(|word| word.replace(NEWLINE, "\n"));
        all[index].push(words.collect());
    }
    all
}

/// Whether a command is among the runs. A word that is not known may stand for any number.
fn is_told(acts: &Acts, real: &[String]) -> bool {
    acts.runs.iter().any(|run| words_fit(&run.words, real))
}

fn without_number(word: &str) -> String {
    match word.split_once("/dev/fd/") {
        Some((before, _)) => format!("{before}/dev/fd/"),
        None => word.to_owned(),
    }
}

fn words_fit(words: &[CommandWord], real: &[String]) -> bool {
    match (words.split_first(), real.split_first()) {
        (None, None) => true,
        (Some((CommandWord::Unknown { begins, .. }, rest)), _) => (0..=real.len()).any(|count| {
            let begins_so = count != 1 || real[0].starts_with(begins.as_str()) || begins == "0";
            begins_so && words_fit(rest, &real[count..])
        }),
        (Some((CommandWord::Glob(_), rest)), Some((_, more))) => words_fit(rest, more),
        (Some((CommandWord::Known(word), rest)), Some((first, more))) => {
            // Which number a process gets is chosen as it runs.
            (without_number(word) == without_number(first)) && words_fit(rest, more)
        }
        _ => false,
    }
}

/// Whether a doubt is about commands themselves. With the others, the commands of these scripts are told all the same.
fn hides(doubt: &Doubt) -> bool {
    matches!(
        doubt.kind,
        DoubtKind::Command
            | DoubtKind::Variable
            | DoubtKind::Text
            | DoubtKind::Unread
            | DoubtKind::TooLarge
    )
}

/// Prints every script that runs more than was told, and then one line of figures.
fn compare(what: &str, scripts: &[String]) {
    let Some(bash) = bash() else {
        println!("SKIPPED: there is no bash on this machine");
        return;
    };
    let (mut commands, mut unknown, mut wrong) = (0, 0, 0);
    for batch in scripts.chunks(BATCH) {
        for (script, real) in batch.iter().zip(commands_of(bash, batch)) {
            let told =
                acts(script, ShellSetting { folder: Some("/project"), home: None, project: None });
            commands += real.len();
            if told.unknown.iter().any(hides) {
                unknown += 1;
                continue;
            }
            for command in real.iter().filter(|command| !is_told(&told, command)) {
                wrong += 1;
                if wrong < 20 {
                    let runs: Vec<_> = told.runs.iter().map(|run| &run.text).collect();
                    println!("NOT TOLD: {command:?}\n--- script\n{script}\n--- runs\n{runs:#?}\n");
                }
            }
        }
    }
    println!(
        "{what}: {} scripts, {commands} commands that bash ran, {unknown} scripts unknown, {wrong} mismatches",
        scripts.len()
    );
    assert_eq!(wrong, 0);
    assert!(commands >= scripts.len() / 2, "most scripts ran nothing");
    assert!(unknown * 2 < scripts.len(), "most scripts are unknown, so that nothing was compared");
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn needs_bash_nothing_that_bash_runs_is_left_out_of_random_scripts() {
    let (count, seed) = (number("ACTS_SCRIPTS", 2000), number("ACTS_SEED", 1));
    let depth = usize::try_from(number("ACTS_DEPTH", 2)).unwrap();
    let made = (0..count).map(|index| Scripts::new(seed * 1_000_000 + index).script(depth));
    compare("random scripts", &made.collect::<Vec<_>>());
}

#[test]
fn needs_bash_nothing_that_bash_runs_is_left_out_of_tricky_scripts() {
    let text = include_str!("acts_oracle.txt");
    let scripts: Vec<String> = text
        .split("\n----\n")
        .map(|script| script.trim_end_matches('\n').replace("\\TAB", "\t").replace("\\CR", "\r"))
        .collect();
    compare("tricky scripts", &scripts);
}
