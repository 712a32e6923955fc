//! Runs every test that this machine can run, and says in one line how that went.
//!
//! nextest where it is installed, else `cargo test`; then the doctests. What a program is missing for is left out by name
//! and counted as skipped, never as passed. The last line is always `N passed, N failed, N skipped`.

mod counts;
mod needs;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

use crate::agents;
use counts::{Counts, Reader};
pub(crate) use needs::Need;

/// Tests read from this variable which programs are missing, separated by commas.
const WITHOUT: &str = "CHRONICLE_TEST_WITHOUT";

/// Says whether at least one test ran and none failed.
pub(crate) fn run(root: &Path) -> bool {
    let mut missing = needs::missing();
    missing.extend(agents::missing(root));
    for need in &missing {
        println!("SKIPPED: {}", need.why());
    }
    let mut total = Counts::default();
    let has_nextest = has_nextest(root);
    if !has_nextest {
        println!("cargo-nextest is not installed: cargo's own runner has no timeout per test.");
    }
    let (reader, tests) = if has_nextest { nextest(&missing) } else { libtest(&missing) };
    total += run_one(root, reader, &tests, &missing);
    let doctests = ["test", "--workspace", "--doc", "--no-fail-fast"].map(String::from);
    total += run_one(root, Reader::Libtest, &doctests, &missing);
    total.skipped = total.skipped.max(missing.len() as u64);
    for need in &missing {
        println!("SKIPPED: {}", need.why());
    }
    if total.passed == 0 && total.failed == 0 {
        println!("No test ran.");
    }
    println!("{total}");
    total.is_good()
}

fn has_nextest(root: &Path) -> bool {
    let mut command = Command::new("cargo");
    command.args(["nextest", "--version"]).current_dir(root);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn nextest(missing: &[&Need]) -> (Reader, Vec<String>) {
    let fixed = ["nextest", "run", "--workspace", "--no-fail-fast", "--no-tests=pass"];
    let mut arguments = fixed.map(String::from).to_vec();
    arguments.extend(["--config-file", "xtask/nextest.toml"].map(String::from));
    if !missing.is_empty() {
        let unwanted: Vec<_> =
            missing.iter().map(|need| format!("test({})", need.mark())).collect();
        arguments.extend(["-E".to_owned(), format!("not ({})", unwanted.join(" | "))]);
    }
    (Reader::Nextest, arguments)
}

fn libtest(missing: &[&Need]) -> (Reader, Vec<String>) {
    let fixed = ["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast", "--"];
    let mut arguments = fixed.map(String::from).to_vec();
    arguments.extend(missing.iter().flat_map(|need| ["--skip".to_owned(), need.mark()]));
    (Reader::Libtest, arguments)
}

/// Runs cargo, passes on what it prints while it prints it, and counts.
fn run_one(root: &Path, reader: Reader, arguments: &[String], missing: &[&Need]) -> Counts {
    println!("$ cargo {}", arguments.join(" "));
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(root);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if !missing.is_empty() {
        let names: Vec<_> = missing.iter().map(|need| need.program).collect();
        command.env(WITHOUT, names.join(","));
    }
    let (counts, status) = match command.spawn() {
        Ok(child) => watch(child, reader),
        Err(error) => {
            eprintln!("Error: cargo cannot be started: {error}");
            return Counts { failed: 1, ..Counts::default() };
        }
    };
    if status.is_ok_and(|status| status.success()) || counts.failed > 0 {
        return counts;
    }
    eprintln!(
        "Error: `cargo {}` failed without naming a test; counted as one",
        arguments.join(" ")
    );
    Counts { failed: 1, ..counts }
}

fn watch(mut child: Child, reader: Reader) -> (Counts, io::Result<ExitStatus>) {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let counts = thread::scope(|scope| {
        let said = scope.spawn(move || stderr.map(|from| pass_on(from, io::stderr(), reader)));
        let printed = stdout.map(|from| pass_on(from, io::stdout(), reader));
        let mut counts = printed.unwrap_or_default();
        counts += said.join().ok().flatten().unwrap_or_default();
        counts
    });
    (counts, child.wait())
}

/// Copies line by line; a text that is not UTF-8 is passed on as it is.
fn pass_on(from: impl Read, mut to: impl Write, reader: Reader) -> Counts {
    let mut lines = BufReader::new(from);
    let mut counts = Counts::default();
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        // Nobody to tell: the reader of our own output is gone, but the tests are still to be counted.
        let _ = to.write_all(&line).and_then(|()| to.flush());
        reader.read(&String::from_utf8_lossy(&line), &mut counts);
        line.clear();
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_passed_on_and_counted() {
        let text = b"one\n\xff\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured\nend";
        let mut copy = Vec::new();
        let counts = pass_on(text.as_slice(), &mut copy, Reader::Libtest);
        assert_eq!(copy, text);
        assert_eq!(counts, Counts { passed: 2, failed: 0, skipped: 1 });
    }

    #[test]
    fn tests_that_need_a_missing_program_are_left_out_by_name() {
        let need = Need { program: "git", about: "trees" };
        let (_, arguments) = nextest(&[&need]);
        assert!(arguments.ends_with(&["-E".into(), "not (test(needs_git))".into()]));
        let (_, arguments) = libtest(&[&need]);
        assert!(arguments.ends_with(&["--skip".into(), "needs_git".into()]));
        let (_, arguments) = nextest(&[]);
        assert!(!arguments.contains(&"-E".to_owned()));
    }
}
