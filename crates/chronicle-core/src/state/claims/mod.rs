//! Claims of a worker's summary, compared with the record. No model is involved: a claim has one of a few fixed shapes.
//!
//! Parsing is in `sentence.rs`, the record in `record.rs`. A sentence about what was not done, is still to be done, or was done
//! before claims nothing; nor does a path that is only mentioned, read or pointed to. In doubt nothing is marked: a missed claim
//! is better than a wrong mark. `tests/it/data/claims/` has real summaries and the hit rates.

mod record;
mod sentence;

#[cfg(test)]
mod corpus;

use super::{Facts, Frame};
use crate::event::claims::Claim;
use record::{Record, is_of};
use sentence::{of_sentence, opens_list, sentences};

/// Most claims of one summary that are checked.
const CLAIMS_MAX: usize = 20;
/// Longest path or command in a claim.
const CLAIM_MAX: usize = 200;

/// Claims of the summary about this visit that the record does not show.
pub(crate) fn unproven(state: &Facts, frame: &Frame, summary: &str) -> Vec<Claim> {
    let claims = claims(summary);
    // The record is gathered from all places of the run, which is spared where nothing is claimed.
    if claims.is_empty() {
        return claims;
    }
    let record = Record::of(state, frame);
    claims.into_iter().filter(|claim| !record.shows(claim)).collect()
}

/// True if the files show by now what they did not show when it was claimed. Commands of a visit cannot change later.
pub(crate) fn is_shown_later(state: &Facts, claim: &Claim) -> bool {
    let Claim::Changed(path) = claim else { return false };
    let files = state.places.values().flat_map(|tally| &tally.changes.list);
    let mut names = files.flat_map(|file| [Some(file.path.as_str()), file.from.as_deref()]);
    names.any(|file| file.is_some_and(|file| is_of(file, path)))
}

/// The claims of a summary, in order, without duplicates.
fn claims(summary: &str) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    let mut is_list = false;
    for line in summary.lines() {
        let item = line.trim_start();
        let is_item = item.starts_with(['-', '*', '•', '+']);
        is_list &= is_item;
        let item = item.trim_start_matches(['-', '*', '•', '+', ' ']);
        for claim in sentences(item).flat_map(|sentence| of_sentence(sentence, is_list)) {
            if claims.len() < CLAIMS_MAX && !claims.contains(&claim) {
                claims.push(claim);
            }
        }
        // Only for the lines after it: the heading itself is no entry of the list.
        is_list |= !is_item && opens_list(line);
    }
    claims
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
            ("Updated `src/x.rs` and `src/y.rs`.", "changed src/x.rs, changed src/y.rs"),
            ("Refactored the parser (src/parse.rs).", "changed src/parse.rs"),
            ("Fixed [the lexer](src/lex.rs).", "changed src/lex.rs"),
            ("Fixed [lex.rs](src/lex.rs).", "changed src/lex.rs"),
            ("### Files changed\n- src/a.rs\n- Makefile", "changed src/a.rs, changed Makefile"),
            ("Updated the Dockerfile and .gitignore", "changed Dockerfile, changed .gitignore"),
            ("Wrote the plan to PLAN.md", "changed PLAN.md"),
            ("Moved the code from a.rs to b.rs", "changed b.rs"),
        ] {
            assert_eq!(told(summary), expected, "{summary}");
        }
    }

    #[test]
    fn sentences_without_a_claim_are_not_claims() {
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
