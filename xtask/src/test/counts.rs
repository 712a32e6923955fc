//! Reads how many tests passed from what a runner prints.

use std::fmt;
use std::ops::AddAssign;

/// Results of a test run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

impl Counts {
    /// Nothing failed, and something ran.
    pub(super) fn is_good(&self) -> bool {
        self.failed == 0 && self.passed > 0
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// Whose output it is. Under nextest the lines of libtest belong to the output of a failed test and do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    Nextest,
    Libtest,
}

impl Reader {
    /// Takes one line into account. nextest says it all in one line, libtest once per binary.
    pub(super) fn read(self, line: &str, counts: &mut Counts) {
        let line = plain(line);
        match self {
            Self::Nextest => {
                if let Some((_, rest)) = line.trim_start().split_once("] ")
                    && line.trim_start().starts_with("Summary [")
                    && let Some((_, rest)) = rest.split_once("run: ")
                {
                    *counts = sum(rest);
                }
            }
            Self::Libtest => {
                if let Some(rest) = line.strip_prefix("test result: ") {
                    *counts += sum(rest);
                }
            }
        }
    }
}

/// Adds up parts as `3 passed (1 slow)`, `2 timed out`, `ok. 4 passed`.
fn sum(text: &str) -> Counts {
    let mut counts = Counts::default();
    for part in text.split([',', ';']) {
        let words: Vec<&str> = part.split_whitespace().collect();
        let Some(at) = words.iter().position(|word| word.parse::<u64>().is_ok()) else { continue };
        let number = words[at].parse().unwrap_or(0);
        match words[at + 1..] {
            ["passed", ..] => counts.passed += number,
            // `exec failed`, `timed out`
            ["failed" | "exec" | "timed", ..] => counts.failed += number,
            ["skipped" | "ignored", ..] | ["filtered", "out", ..] => counts.skipped += number,
            _ => {}
        }
    }
    counts
}

/// A line without its colours.
fn plain(line: &str) -> String {
    let mut parts = line.trim_end().split("\u{1b}[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once('m').map_or("", |(_, rest)| rest));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reader: Reader, lines: &[&str]) -> (u64, u64, u64) {
        let mut counts = Counts::default();
        for line in lines {
            reader.read(line, &mut counts);
        }
        (counts.passed, counts.failed, counts.skipped)
    }

    #[test]
    fn libtest_is_summed_over_its_binaries() {
        let lines = [
            "running 3 tests\n",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s\n",
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n",
        ];
        assert_eq!(read(Reader::Libtest, &lines), (4, 2, 3));
    }

    #[test]
    fn nextest_is_read_from_its_summary_alone() {
        let lines = [
            "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n",
            "     Summary [   0.012s] 9 tests run: 5 passed (1 slow, 1 flaky), 2 failed, 1 timed out, 1 exec failed, 4 skipped\n",
        ];
        assert_eq!(read(Reader::Nextest, &lines), (5, 4, 4));
        let coloured = "\u{1b}[32;1m     Summary\u{1b}[0m [   0.012s] \u{1b}[1m1\u{1b}[0m test run: \
            \u{1b}[1m1\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, \u{1b}[1m0\u{1b}[0m \u{1b}[33;1mskipped\u{1b}[0m";
        assert_eq!(read(Reader::Nextest, &[coloured]), (1, 0, 0));
    }

    #[test]
    fn no_test_is_not_good() {
        assert!(!Counts::default().is_good());
        assert!(!Counts { passed: 3, failed: 1, skipped: 0 }.is_good());
        assert!(Counts { passed: 3, failed: 0, skipped: 9 }.is_good());
    }

    #[test]
    fn the_last_line_is_plain() {
        let counts = Counts { passed: 3, failed: 1, skipped: 0 };
        assert_eq!(counts.to_string(), "3 passed, 1 failed, 0 skipped");
    }
}
