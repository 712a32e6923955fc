//! What one sentence of a summary claims.
//!
//! A claim of change is a path behind a verb such as `added` or `fixed` of which the worker is the subject: one that opens the
//! sentence or stands behind `I`, `and`, a comma. It reaches as far as the sentence speaks of what was done, and ends at words such
//! as `described`, `so that` or `to match`. Other shapes: `src/a.rs was fixed`, `src/a.rs: fixed …`, and lists below `Changed files:`.
//! A claim of a command is one in backticks, or `cargo test` and its like, beside `ran` or `passes`; that tests pass is one too.

use super::{CLAIM_MAX, Claim};
use crate::base::limits::bounded;

/// Verbs whose object is a changed path.
const CHANGED: &str = "added appended bumped changed corrected created deleted documented edited extended extracted fixed \
    generated implemented improved introduced mended modified moved patched refactored removed renamed repaired replaced \
    reworked rewritten rewrote simplified split updated wrote written adjusted";
/// Words before a verb that make the worker its subject.
const SUBJECTS: &str = "i we and then also have has i've we've now just finally but";
/// Words after which a sentence no longer describes what was changed.
const ENDS: &str = "as so that which where who because since when while if like per by using use uses following follow with \
    against than via after before match matches matching mirror mention call calls calling see according based under behind \
    checked compared examined found inspected looked read reviewed saw searched tested traced verified described reported \
    mentioned defined listed caused covered covers relies expects";
/// Words directly before a path that is only pointed to.
const POINTS: &str = "from of for about";
/// Things that are added for something else: the path after `for` is that other thing.
const ABOUT: &str = "test tests spec specs coverage documentation docs comment comments example examples benchmark mock";
/// Words that may be between `to` and the path that something was added to.
const ARTICLES: &str = "the a an our its file module";
/// Words of sentences about what is not, not yet, or no longer true.
const NOT_SO: &str = "not no never without should would could must might may will shall need needs needed todo please next \
    cannot can't can plan planned if unless instead skipped unable later pending to-do fails failed failing fail recommend \
    previous previously earlier last once nothing none remains remaining";
const PASSED: &str = "pass passes passed passing green succeeds succeeded clean ok works";
const RAN: &str = "ran executed rerun verified validated confirmed checked running";
/// Words before `run` that make it past tense.
const WAS: &str = "was were have has been successfully";
/// Words before a noun.
const NOUN_BEFORE: &str = "the a an this that our my its";
/// Counts of zero, which negate nothing.
const NONE_OF: [&str; 3] = ["0", "no", "without"];
const FAILURES: &str =
    "failed failures failure failing errors error warnings regressions issues problems fails";
/// Programs whose names in backticks begin a command.
const PROGRAMS: &str = "bash bazel biome black brakeman bun bundle cargo ctest deno docker dotnet eslint flake8 go golangci-lint \
    gradle gradlew helm isort jest just kubectl make mix mocha mvn mypy next nox npm npx phpunit pnpm poetry pre-commit prettier \
    pytest python python3 rails rake rspec rubocop ruff sh staticcheck swift terraform tox tsc uv vite vitest yarn";
/// Commands that are known without backticks.
const PLAIN: [&str; 8] = [
    "cargo test",
    "cargo clippy",
    "cargo nextest",
    "npm test",
    "go test",
    "go vet",
    "make test",
    "pytest",
];
/// File extensions. A word with another one may be a method, a version or a domain.
const ENDINGS: &str = "rs py js jsx ts tsx mjs cjs go md toml yaml yml json jsonl sh c h cc cpp hpp java kt rb php css scss \
    html sql txt lock cfg ini conf xml svg proto swift cs vue svelte ex exs erl hs ml scala lua r ipynb csv tf mod sum";

/// Files that have no extension.
const NAMES: &str = "Makefile Dockerfile Containerfile Justfile Procfile Jenkinsfile Gemfile Rakefile Vagrantfile CODEOWNERS .gitignore \
    .gitattributes .dockerignore .editorconfig .npmrc .nvmrc .prettierrc .eslintrc";

fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// True for headings such as `Changed files:`.
pub(super) fn opens_list(line: &str) -> bool {
    let lower = line.to_lowercase();
    let mut all = words(&lower);
    let is_heading = lower.trim_end().trim_end_matches('*').ends_with(':')
        || lower.starts_with('#')
        || (lower.starts_with("**") && lower.trim_end().ends_with("**"));
    is_heading && all.any(|word| is_in(CHANGED, word))
}

/// The sentences of a line; a full stop within a name does not end one.
pub(super) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    line.split(['!', '?', ';']).flat_map(|part| part.split(". "))
}

/// The words of a text, without punctuation around them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(plain).filter(|word| !word.is_empty())
}

fn plain(word: &str) -> &str {
    let around = ['`', '"', '\'', '(', ')', '[', ']', ',', '*', '<', '>', ':'];
    let word = word.trim_matches(around);
    // The full stop may stand behind what surrounds the word: "`src/a.rs`."
    word.strip_suffix('.').map_or(word, |word| word.trim_end_matches(around))
}

/// The claims of a sentence; in a list of changed files, each path is one.
pub(super) fn of_sentence(sentence: &str, is_list: bool) -> Vec<Claim> {
    let lower = sentence.to_lowercase();
    let all: Vec<&str> = words(&lower).collect();
    // One negation drops the whole sentence. A missed claim costs little; an honest worker marked as lying costs trust.
    if is_denied(&all) {
        return Vec::new();
    }
    let mut claims = changes(sentence, is_list);
    claims.extend(of_commands(sentence, &all));
    claims
}

/// True if it describes what is not the case. `0 failed` negates nothing.
fn is_denied(all: &[&str]) -> bool {
    let denies = |word: &str| is_in(NOT_SO, word) || word.ends_with("n't");
    (0..all.len()).any(|at| {
        let counts_none = |count: usize, what: usize| {
            let failures = all.get(what).is_some_and(|word| is_in(FAILURES, word));
            failures && all.get(count).is_some_and(|word| NONE_OF.contains(word))
        };
        let is_none = counts_none(at, at + 1)
            || at.checked_sub(1).is_some_and(|before| counts_none(before, at));
        // "Wrote the plan" speaks of a thing, not of an intention.
        let is_noun = all[at] == "plan"
            && at.checked_sub(1).is_some_and(|before| is_in(NOUN_BEFORE, all[before]));
        denies(all[at]) && !is_none && !is_noun
    })
}

/// A word of a sentence.
struct SentenceWord<'a> {
    text: &'a str,
    lower: String,
    /// True if a new part begins after it: it ends with a comma, a colon or a bracket.
    breaks: bool,
}

fn walk(sentence: &str) -> Vec<SentenceWord<'_>> {
    let read = |word| {
        let text = plain(word);
        let breaks = text.is_empty() || word.ends_with([',', ':', ')']);
        SentenceWord { text, lower: text.to_lowercase(), breaks }
    };
    sentence.split_whitespace().map(read).collect()
}

/// Paths that the sentence says were changed.
fn changes(sentence: &str, is_list: bool) -> Vec<Claim> {
    let words = walk(sentence);
    let mut found: Vec<&str> = Vec::new();
    let opens_with_path =
        words.first().is_some_and(|word| word.breaks && path(word.text).is_some());
    let (mut changes, mut is_about) = (is_list, false);
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &words[before]);
        if is_in(CHANGED, &word.lower) {
            // "the recently added file" describes something; "added file" and "I added file" claim it.
            let is_own = before.is_none_or(|it| it.breaks || is_in(SUBJECTS, &it.lower));
            if is_own && opens_with_path {
                found.extend(path(words[0].text));
            }
            (changes, is_about) = (is_own || (changes && is_list), false);
            // `the bug in a.rs was introduced` tells where something came from, and not that the worker wrote it.
            found.extend(passive(&words[..at]).filter(|_| word.lower != "introduced"));
        } else if is_in(ENDS, &word.lower)
            || (word.lower == "for" && is_about)
            || leads_away(&words[at..])
        {
            changes = false;
        }
        is_about |= is_in(ABOUT, &word.lower);
        // "fixed the typo from a.rs" says where something came from, not what was changed.
        let is_pointed = before.is_some_and(|it| is_in(POINTS, &it.lower));
        if changes && !is_pointed {
            found.extend(path(word.text));
        }
    }
    found.into_iter().map(|path| Claim::Changed(bounded(path, CLAIM_MAX))).collect()
}

/// `to handle`, `to what`: not a place that something is added to.
fn leads_away(words: &[SentenceWord<'_>]) -> bool {
    let [to, next, ..] = words else { return false };
    to.lower == "to" && path(next.text).is_none() && !is_in(ARTICLES, &next.lower)
}

/// The path in `src/a.rs was`, `src/a.rs has been`, where a verb of change follows.
fn passive<'a>(before: &[SentenceWord<'a>]) -> Option<&'a str> {
    let [.., third, second, first] = before else {
        let [second, first] = before else { return None };
        return path(second.text).filter(|_| is_in("was is", &first.lower));
    };
    if is_in("was is", &first.lower) {
        return path(second.text);
    }
    path(third.text).filter(|_| first.lower == "been" && second.lower == "has")
}

/// A word that is a path in the project: it has a file extension or ends with a slash.
fn path(word: &str) -> Option<&str> {
    // The target of a Markdown link: `[a.rs](src/a.rs`, without the bracket that ended the word.
    let word = word.split_once("](").map_or(word, |(_, target)| target);
    let word = word.strip_prefix("./").unwrap_or(word);
    // `src/main.rs:12` names a line.
    let word = word.split_once(':').map_or(word, |(path, _)| path);
    let is_odd = word.contains("//") || word.contains(['*', '(', '{', '$', '=', '\\', '@']);
    // The record knows files of the project alone, so it can neither show nor deny what is elsewhere.
    let is_outside = ["/", "~", ".."].iter().any(|begin| word.starts_with(begin));
    let ending = word.rsplit('/').next()?.rsplit_once('.');
    let is_file = ending.is_some_and(|(name, ending)| {
        is_in(ENDINGS, ending) && (!name.is_empty() || word.contains('/'))
    });
    let is_file = is_file || word.rsplit('/').next().is_some_and(|name| is_in(NAMES, name));
    let is_folder = word.len() > 1 && word.ends_with('/');
    ((is_file || is_folder) && !is_odd && !is_outside).then_some(word)
}

fn of_commands(sentence: &str, all: &[&str]) -> Vec<Claim> {
    let passed = all.iter().any(|word| is_in(PASSED, word));
    let ran = all.iter().any(|word| is_in(RAN, word)) || was_run(all);
    if !passed && !ran {
        return Vec::new();
    }
    let said = |command: &str, passed: bool| {
        let command = bounded(command.trim(), CLAIM_MAX);
        if passed { Claim::Passed(command) } else { Claim::Ran(command) }
    };
    let pieces: Vec<&str> = sentence.split('`').collect();
    // In backticks a command is unmistakable. Elsewhere only the few commands that nobody uses as ordinary words are
    // recognised.
    let quoted = pieces.windows(3).step_by(2).filter(|around| is_command(around[1]));
    let quoted: Vec<Claim> =
        quoted.map(|around| said(around[1], passed && !only_ran(around[0], around[2]))).collect();
    // Commands in backticks are what the sentence is about. Looking for more would find the same ones again as plain words.
    if !quoted.is_empty() {
        return quoted;
    }
    let joined = format!(" {} ", all.join(" "));
    if let Some(known) = PLAIN.iter().find(|command| joined.contains(&format!(" {command} "))) {
        return vec![said(known, passed)];
    }
    let is_tests = passed && all.iter().any(|word| is_in("tests test suite specs", word));
    if is_tests { vec![Claim::TestsPass] } else { Vec::new() }
}

fn was_run(all: &[&str]) -> bool {
    all.windows(2).any(|pair| is_in(WAS, pair[0]) && pair[1] == "run")
}

/// True if a sentence says no more about a command than that it ran.
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
