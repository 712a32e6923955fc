//! What a worker claims in its summary, held against the record. No model reads it: a claim is one of a few fixed shapes.
//!
//! A claim of change is a path after a word such as `added` or `fixed` in the same sentence, or in a list below a line such as
//! `Changed files:`. A claim of a command is one in backticks (or `cargo test` and its like) beside `ran` or `passes`; that tests
//! pass, without a command, is one too. A sentence that speaks of what was not done, or is yet to be, claims nothing; nor does a
//! path that is only mentioned, read or pointed to. Rather too few marks than a wrong one: where the record cannot tell, nothing
//! is marked.

use std::collections::BTreeSet;

use super::{Facts, Frame};
use crate::base::limits::bounded;
use crate::base::shell;
use crate::event::claims::Claim;

/// Most claims of one summary that are looked at.
const CLAIMS_MAX: usize = 20;
/// Longest path or command in a claim.
const CLAIM_MAX: usize = 200;

/// Words after which a path was changed.
const CHANGED: &str = "added appended bumped changed corrected created deleted documented edited extended extracted fixed \
    generated implemented improved introduced mended modified moved patched refactored removed renamed repaired replaced \
    reworked rewritten rewrote simplified split updated wrote written";
/// Words after which a path was looked at.
const READ: &str = "checked compared examined found inspected looked read reviewed saw searched see tested traced verified";
/// Words right before a path that is only pointed to.
const POINTS: &str = "from like per see using following by via after with against than of for as under behind calling";
/// Words of sentences about what is not so, or not yet.
const NOT_SO: &str = "not no never without should would could must might may will shall need needs needed todo please next \
    cannot can't plan planned if unless instead skipped unable later pending to-do fails failed failing";
const PASSED: &str = "pass passes passed passing green succeeds succeeded clean ok";
const RAN: &str = "ran run executed running rerun";
/// Programs whose names in backticks begin a command.
const PROGRAMS: &str = "bash bazel bun bundle cargo ctest deno dotnet eslint go gradle gradlew jest just make mix mocha mvn \
    mypy nox npm npx phpunit pnpm pytest python python3 rake rspec ruff sh swift tox tsc vitest yarn";
/// Commands that are known without backticks.
const PLAIN: [&str; 6] =
    ["cargo test", "cargo clippy", "npm test", "go test", "make test", "pytest"];
/// Endings of files. A word with another one may be a method, a version or a site.
const ENDINGS: &str = "rs py js jsx ts tsx mjs cjs go md toml yaml yml json jsonl sh c h cc cpp hpp java kt rb php css scss \
    html sql txt lock cfg ini conf xml svg proto swift cs vue svelte ex exs erl hs ml scala lua r ipynb csv tf";

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// What the summary claims about the work of this visit, and the record does not show.
pub(crate) fn unproven(state: &Facts, frame: &Frame, summary: &str) -> Vec<Claim> {
    let claims = claims(summary);
    if claims.is_empty() {
        return claims;
    }
    let record = Record::of(state, frame);
    claims.into_iter().filter(|claim| !record.shows(claim)).collect()
}

/// What a summary claims, in order, each once.
pub(crate) fn claims(summary: &str) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    let mut is_list = false;
    for line in summary.lines() {
        let is_item = line.trim_start().starts_with(['-', '*', '•', '+']);
        is_list &= is_item;
        for claim in sentences(line).flat_map(|sentence| of_sentence(sentence, is_list)) {
            if claims.len() < CLAIMS_MAX && !claims.contains(&claim) {
                claims.push(claim);
            }
        }
        is_list |= !is_item && opens_list(line);
    }
    claims
}

/// `Changed files:` and the like.
fn opens_list(line: &str) -> bool {
    let lower = line.to_lowercase();
    let mut all = words(&lower);
    lower.trim_end().trim_end_matches('*').ends_with(':') && all.any(|word| is_in(CHANGED, word))
}

/// The sentences of a line: a full stop within a name ends none.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    line.split(['!', '?', ';']).flat_map(|part| part.split(". "))
}

/// The words of a text, without what stands around them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(plain).filter(|word| !word.is_empty())
}

fn plain(word: &str) -> &str {
    let word = word.trim_matches(['`', '"', '\'', '(', ')', '[', ']', ',', '*', '<', '>', ':']);
    word.strip_suffix('.').unwrap_or(word)
}

fn of_sentence(sentence: &str, is_list: bool) -> Vec<Claim> {
    let lower = sentence.to_lowercase();
    let all: Vec<&str> = words(&lower).collect();
    if all.iter().any(|word| is_in(NOT_SO, word) || word.ends_with("n't")) {
        return Vec::new();
    }
    let mut claims = changes(sentence, is_list);
    claims.extend(of_commands(sentence, &all));
    claims
}

/// Paths after a word of change, unless they are pointed to, or something was only looked at since.
fn changes(sentence: &str, is_list: bool) -> Vec<Claim> {
    let mut claims = Vec::new();
    let (mut changes, mut before) = (is_list, String::new());
    for word in words(sentence) {
        let lower = word.to_lowercase();
        changes = (changes || is_in(CHANGED, &lower)) && !is_in(READ, &lower);
        if changes
            && !is_in(POINTS, &before)
            && let Some(path) = path(word)
        {
            claims.push(Claim::Changed(bounded(path, CLAIM_MAX)));
        }
        before = lower;
    }
    claims
}

/// A word that is a path in the project: it ends as files do, or with a slash.
fn path(word: &str) -> Option<&str> {
    let word = word.strip_prefix("./").unwrap_or(word);
    let word = word.split_once(':').map_or(word, |(path, _)| path);
    let is_odd = word.contains("//") || word.contains(['*', '(', '{', '$', '=', '\\', '@']);
    let is_outside = ["/", "~", ".."].iter().any(|begin| word.starts_with(begin));
    let ending = word.rsplit('/').next()?.rsplit_once('.');
    let is_file = ending.is_some_and(|(name, ending)| {
        is_in(ENDINGS, ending) && (!name.is_empty() || word.contains('/'))
    });
    let is_folder = word.len() > 1 && word.ends_with('/');
    ((is_file || is_folder) && !is_odd && !is_outside).then_some(word)
}

fn of_commands(sentence: &str, all: &[&str]) -> Vec<Claim> {
    let passed = all.iter().any(|word| is_in(PASSED, word));
    let ran = all.iter().any(|word| is_in(RAN, word));
    if !passed && !ran {
        return Vec::new();
    }
    let said = |command: &str, passed: bool| {
        let command = bounded(command.trim(), CLAIM_MAX);
        if passed { Claim::Passed(command) } else { Claim::Ran(command) }
    };
    let pieces: Vec<&str> = sentence.split('`').collect();
    let quoted = pieces.windows(3).step_by(2).filter(|around| is_command(around[1]));
    let quoted: Vec<Claim> =
        quoted.map(|around| said(around[1], passed && !only_ran(around[0], around[2]))).collect();
    if !quoted.is_empty() {
        return quoted;
    }
    let joined = format!(" {} ", all.join(" "));
    if let Some(known) = PLAIN.iter().find(|command| joined.contains(&format!(" {command} "))) {
        return vec![said(known, passed)];
    }
    let is_tests = passed && all.iter().any(|word| is_in("tests test suite", word));
    if is_tests { vec![Claim::TestsPass] } else { Vec::new() }
}

/// Whether of a command nothing more is said than that it ran.
fn only_ran(before: &str, after: &str) -> bool {
    let (before, after) = (before.to_lowercase(), after.to_lowercase());
    let ran = words(&before).last().is_some_and(|word| is_in(RAN, word));
    ran && !words(&after).any(|word| is_in(PASSED, word))
}

fn is_command(text: &str) -> bool {
    let program = text.split_whitespace().next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or(program);
    is_in(PROGRAMS, name) || (program.starts_with("./") && !name.is_empty())
}

/// What the record shows, as far as it can be told.
struct Record<'s> {
    /// Every file that differed after an attempt of this run, or that an agent's tools changed here.
    files: BTreeSet<&'s str>,
    /// Whether that is all.
    knows_files: bool,
    /// Commands of this visit, and whether they ended well.
    commands: Vec<(&'s str, Option<bool>)>,
    knows_commands: bool,
}

impl<'s> Record<'s> {
    fn of(state: &'s Facts, frame: &'s Frame) -> Self {
        let mut files: BTreeSet<&str> = frame.evidence.files.iter().map(String::as_str).collect();
        for file in state.places.values().flat_map(|tally| &tally.changes.list) {
            files.insert(&file.path);
            files.extend(file.from.as_deref());
        }
        let is_cut = state.places.values().any(|tally| tally.changes.is_cut());
        let commands = state.visit_at(&frame.place()).map(|visit| &visit.commands);
        Self {
            files,
            knows_files: state.trees.last.is_some() && state.trees.missed.is_none() && !is_cut,
            commands: commands.map_or_else(Vec::new, |commands| {
                commands.list.iter().map(|ran| (ran.command.as_str(), ran.ok)).collect()
            }),
            knows_commands: commands.is_some_and(|commands| commands.forgotten == 0),
        }
    }

    fn shows(&self, claim: &Claim) -> bool {
        match claim {
            Claim::Changed(path) => !self.knows_files || self.changed(path),
            Claim::Ran(command) => !self.knows_commands || self.ran(command).next().is_some(),
            Claim::Passed(command) => {
                !self.knows_commands || self.ran(command).any(|ok| ok == Some(true))
            }
            Claim::TestsPass => {
                !self.knows_commands || self.commands.iter().any(|(_, ok)| *ok == Some(true))
            }
        }
    }

    /// By its whole path or by the end of it; a folder by what is below it.
    fn changed(&self, path: &str) -> bool {
        let within = format!("/{path}");
        self.files.iter().any(|file| {
            let is_below = file.starts_with(path) || file.contains(&within);
            *file == path
                || file.ends_with(&within)
                || path.ends_with(&format!("/{file}"))
                || (path.ends_with('/') && is_below)
        })
    }

    /// Options may be told otherwise than they were typed: the words before them count.
    fn ran(&self, command: &str) -> impl Iterator<Item = Option<bool>> {
        let words = command.split_whitespace().take_while(|word| !word.starts_with('-'));
        let wanted = words.take(2).collect::<Vec<_>>().join(" ");
        let ran = self.commands.iter().filter(move |(line, _)| shell::runs(line, &wanted));
        ran.map(|(_, ok)| *ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(summary: &str) -> String {
        let claims = claims(summary);
        let told = claims.iter().map(|claim| match claim {
            Claim::Changed(path) => format!("changed {path}"),
            Claim::Ran(command) => format!("ran {command}"),
            Claim::Passed(command) => format!("passed {command}"),
            Claim::TestsPass => "tests pass".to_owned(),
        });
        told.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn claims_are_found_in_the_words_that_workers_use() {
        for (summary, expected) in [
            (
                "Fixed the bug in `src/parse.rs` and added tests/parse_test.rs.",
                "changed src/parse.rs, changed tests/parse_test.rs",
            ),
            (
                "Changed files:\n- src/a.rs: the fix\n- `docs/`\n\nSee b.rs.",
                "changed src/a.rs, changed docs/",
            ),
            ("`cargo test` passes; all green.", "passed cargo test"),
            ("I ran `npm run lint -- --fix`, and it passed", "passed npm run lint -- --fix"),
            ("Ran `./check.sh`.", "ran ./check.sh"),
            ("`make` passes, and I ran `cargo test`", "passed make, ran cargo test"),
            ("Ran `cargo test`: all passed", "passed cargo test"),
            ("All tests pass.", "tests pass"),
            ("cargo test is green", "passed cargo test"),
            ("Updated README.md:12 too", "changed README.md"),
            ("Moved the code from a.rs to b.rs", "changed b.rs"),
        ] {
            assert_eq!(told(summary), expected, "{summary}");
        }
    }

    #[test]
    fn what_is_no_claim_is_not_taken_for_one() {
        for summary in [
            "",
            "Read src/parse.rs and docs/design.md; the bug is in src/lex.rs.",
            "Did not change src/a.rs.",
            "Next: fixed width in a.rs should be added",
            "You must run `cargo test` next.",
            "`cargo test` failed, see log.txt",
            "Added a field like the one of b.rs",
            "Fixed what was found in review of src/x.rs",
            "Changed and/or read/write and std.io and v1.2.3 and https://example.com/a.rs",
            "Updated /etc/passwd and ~/a.rs and ../b.rs and src/*.rs",
            "The tests are in tests/",
            "fixed foo.bar() and self.baz",
        ] {
            assert_eq!(told(summary), "", "{summary}");
        }
    }

    #[test]
    fn however_much_is_claimed_it_is_bounded() {
        let many: String = (0..500).map(|it| it.to_string() + ".rs ").collect();
        assert_eq!(claims(&format!("changed {many}")).len(), CLAIMS_MAX);
        let long = claims(&format!("changed {}.rs", "x".repeat(5_000)));
        assert!(matches!(&long[0], Claim::Changed(path) if path.len() < CLAIM_MAX + 40));
    }
}
