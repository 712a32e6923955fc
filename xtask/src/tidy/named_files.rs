//! Files that the documents for contributors name exist.
//!
//! A name stands in backticks, or in the map of `ARCHITECTURE.md`. It has a `/` or a known ending and no other signs than
//! paths have, so that neither code nor commands are taken for one. Pages below `docs/` also name files of the projects that
//! Chronicle works in: there only Rust files, and names that begin with a folder of ours, are looked for.

use std::path::Path;

use super::{Finding, Repo};

const PAGES: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md"];
/// The pages for everybody.
const DOCS: &str = "docs/";
/// What the documents write for a crate's folder.
const SHORT: &[(&str, &str)] = &[
    ("core", "crates/chronicle-core"),
    ("runtime", "crates/chronicle-runtime"),
    ("model", "crates/chronicle-model"),
    ("testkit", "crates/chronicle-testkit"),
    ("chronicle", "crates/chronicle"),
];
const ENDINGS: &[&str] = &[".rs", ".md", ".yaml", ".toml", ".json"];
/// What builds and runs make: it is in nobody's checkout.
const MADE: &[&str] = &[".chronicle", "target", "run.json"];
/// The section that tells what a run makes, and the one whose code block is the map.
const ON_DISK: &str = "## What is on disk";
const MAP: &str = "## The map";

/// A file or folder that a line names, and the folder where it is looked for.
#[derive(Debug, PartialEq, Eq)]
struct Name<'a> {
    line: usize,
    text: &'a str,
    /// Empty for the whole repository.
    under: String,
    /// Whether it must lie in `under` itself.
    is_direct: bool,
}

impl<'a> Name<'a> {
    fn within(line: usize, text: &'a str, under: &str) -> Self {
        Self { line, text, under: under.to_owned(), is_direct: false }
    }
}

/// Names of files and folders that do not exist.
pub(super) fn named_files(repo: &Repo) -> Vec<Finding> {
    let pages = PAGES.iter().filter_map(|path| repo.get(path));
    let own = pages.flat_map(|page| check(repo, &page.path, &page.text));
    let docs = repo.prose().filter(|it| it.path.starts_with(DOCS));
    own.chain(docs.flat_map(|page| check_docs(repo, &page.path, &page.text))).collect()
}

fn check_docs(repo: &Repo, path: &str, text: &str) -> Vec<Finding> {
    let names = in_prose(text).into_iter().filter(|name| is_ours(name.text));
    gone(repo, path, names)
}

/// Whether a page for everybody can only mean a file of this repository.
fn is_ours(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or_default();
    let folders = ["crates", "xtask", "docs", "fuzz"];
    // Workers write Rust files too; theirs are named with their folder.
    let is_rust =
        Path::new(text).extension().is_some_and(|it| it == "rs") && !text.starts_with("src/");
    is_rust
        || folders.contains(&first)
        || SHORT.iter().any(|(short, _)| text.contains('/') && *short == first)
}

fn check(repo: &Repo, path: &str, text: &str) -> Vec<Finding> {
    gone(repo, path, in_prose(text).into_iter().chain(in_map(text)))
}

fn gone<'a>(repo: &Repo, path: &str, names: impl Iterator<Item = Name<'a>>) -> Vec<Finding> {
    names
        .filter(|name| !exists(repo, name))
        .map(|name| {
            let what = format!("names `{}`, which does not exist", name.text);
            Finding::new(path, name.line, what, "name what is there now")
        })
        .collect()
}

/// Names in backticks, outside of code blocks.
fn in_prose(text: &str) -> Vec<Name<'_>> {
    let mut found = Vec::new();
    let (mut is_code, mut is_on_disk) = (false, false);
    for (line, number) in text.lines().zip(1..) {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if line.starts_with("## ") {
            is_on_disk = line == ON_DISK;
        }
        if is_code || is_on_disk {
            continue;
        }
        let spans = line.split('`').skip(1).step_by(2).filter(|span| is_file_name(span));
        found.extend(spans.map(|text| Name::within(number, text, "")));
    }
    found
}

/// Names in the map: folders and files one below the other, and those in the words beside them.
fn in_map(text: &str) -> Vec<Name<'_>> {
    let lines = text.lines().zip(1..).skip_while(|(line, _)| *line != MAP).skip(1);
    let block = lines.skip_while(|(line, _)| !line.starts_with("```")).skip(1);
    let mut map = Map::default();
    for (line, number) in block.take_while(|(line, _)| !line.starts_with("```")) {
        map.read(line, number);
    }
    map.found
}

/// The map, as far as it was read.
#[derive(Debug, Default)]
struct Map<'a> {
    found: Vec<Name<'a>>,
    /// Each folder that lines may still be below, with its indent.
    open: Vec<(usize, String)>,
    /// The indent of the last names.
    indent: usize,
    /// Where the words beside the last names look for theirs.
    scope: String,
}

impl<'a> Map<'a> {
    /// What stands much further right than the last names goes on with the words beside them.
    fn read(&mut self, line: &'a str, number: usize) {
        let words = line.trim_start();
        let indent = line.len() - words.len();
        if indent > self.indent + 2 {
            return self.read_words(words, number);
        }
        self.indent = indent;
        let (names, words) = words.split_once("  ").unwrap_or((words, ""));
        self.read_names(names, number);
        self.read_words(words, number);
    }

    fn read_names(&mut self, names: &'a str, line: usize) {
        self.open.retain(|(indent, _)| *indent < self.indent);
        let under = self.open.last().map_or_else(String::new, |(_, folder)| folder.clone());
        self.scope.clone_from(&under);
        if names.ends_with('/') && !names.contains(' ') {
            self.scope.push_str(names);
            // The map leaves out the `src/` of each crate.
            self.scope.push_str(if under == "crates/" { "src/" } else { "" });
            self.open.push((self.indent, self.scope.clone()));
        }
        let direct = |text| Name { is_direct: true, ..Name::within(line, text, &under) };
        self.found.extend(names.split_whitespace().map(direct));
    }

    fn read_words(&mut self, words: &'a str, line: usize) {
        let signs = ['(', ')', ',', ';', ':'];
        let words = words.split_whitespace().map(|word| word.trim_matches(signs));
        let names = words.filter(|word| is_file_name(word));
        self.found.extend(names.map(|text| Name::within(line, text, &self.scope)));
    }
}

fn is_file_name(text: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "_.-/*<>".contains(letter);
    let is_named = text.contains('/') || ENDINGS.iter().any(|ending| text.ends_with(ending));
    is_named && text.chars().all(fits) && !text.starts_with(['/', '-'])
}

fn is_made(text: &str) -> bool {
    text.split('/').next().is_some_and(|first| MADE.contains(&first))
}

fn exists(repo: &Repo, name: &Name<'_>) -> bool {
    if is_made(name.text) {
        return true;
    }
    let is_folder = name.text.ends_with('/');
    let (whole, is_rooted) = written_out(repo, name.text.trim_end_matches('/'));
    let fits = |path: &str| {
        let Some(rest) = path.strip_prefix(&name.under) else { return false };
        let is_long = rest.split('/').count() > whole.split('/').count();
        ends_like(rest, &whole) && !((name.is_direct || is_rooted) && is_long)
    };
    repo.paths().any(|path| fits(path) && (!is_folder || repo.is_folder(path)))
}

/// A name without its shorthand, and whether it begins at the repository's folder. Any other may lie anywhere.
fn written_out(repo: &Repo, text: &str) -> (String, bool) {
    let (first, rest) = text.split_once('/').unwrap_or((text, ""));
    let crate_folder = SHORT.iter().find(|(short, _)| *short == first && !rest.is_empty());
    match crate_folder {
        Some((_, folder)) => (format!("{folder}/{rest}"), true),
        None => (text.to_owned(), !rest.is_empty() && repo.has(first)),
    }
}

/// Whether the last parts of a path are like these: `*` and `<name>` stand for anything but a `/`.
fn ends_like(path: &str, pattern: &str) -> bool {
    let mut parts = path.rsplit('/');
    pattern.rsplit('/').all(|wanted| parts.next().is_some_and(|part| is_like(part, wanted)))
}

fn is_like(part: &str, pattern: &str) -> bool {
    let Some(open) = pattern.find(['*', '<']) else { return part == pattern };
    let after = if pattern[open..].starts_with('<') {
        pattern[open..].split_once('>').map_or("", |(_, after)| after)
    } else {
        &pattern[open + 1..]
    };
    let Some(rest) = part.strip_prefix(&pattern[..open]) else { return false };
    rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| is_like(&rest[at..], after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repo() -> Repo {
        Repo::of(&[
            ("crates/chronicle-core/src/event.rs", ""),
            ("crates/chronicle-core/src/engine/follow.rs", ""),
            ("crates/chronicle-core/tests/it/decide_gates.rs", ""),
            ("crates/chronicle/src/cli/log.rs", ""),
            ("docs/guide/settings.md", ""),
        ])
    }

    /// Each finding's line and name.
    fn gone(text: &str) -> Vec<String> {
        told(&check(&repo(), "ARCHITECTURE.md", text))
    }

    fn told(findings: &[Finding]) -> Vec<String> {
        let name = |what: &str| what.split('`').nth(1).unwrap_or_default().to_owned();
        findings.iter().map(|it| format!("{} {}", it.line, name(&it.what))).collect()
    }

    #[test]
    fn names_in_prose_are_looked_for() {
        let text = "`core/src/event.rs` `engine/follow.rs` `engine/` `chronicle/src/cli/<verb>.rs`\n\
            `core/tests/it/decide*.rs` `*/tests/it/decide*.rs` `docs/guide/` `follow.rs`\n\
            `core/src/follow.rs` `engine/follows.rs` `follow.rs/` `cli/x<verb>.rs`\n\
            `docs/settings.md` `*/tests/it/fuzz*.rs` `gone.rs`\n";
        let third =
            ["3 core/src/follow.rs", "3 engine/follows.rs", "3 follow.rs/", "3 cli/x<verb>.rs"];
        let fourth = ["4 docs/settings.md", "4 */tests/it/fuzz*.rs", "4 gone.rs"];
        assert_eq!(gone(text), [&third[..], &fourth[..]].concat());
    }

    #[test]
    fn code_commands_and_what_runs_make_are_no_names() {
        let text = "`cargo x a/b.rs` `--a/b` `a::b` `Event` `/dev/null` `.chronicle/runs/<run>/` `target/agents`\n\
            ```\n`gone.rs`\n```\n## What is on disk\n`artifacts/`\n## Next\n`gone/`\n";
        assert_eq!(gone(text), ["8 gone/"]);
    }

    #[test]
    fn pages_for_everybody_name_our_files_and_those_of_projects() {
        let text = "`engine/follow.rs` `engine/gone.rs` `core/src/gone.rs` `docs/guide/gone.md`\n\
            `src/lib.rs` `notes.md` `a/b.yaml` `run.json` `core`\n";
        let found = check_docs(&repo(), "docs/design/0004.md", text);
        assert_eq!(
            told(&found),
            ["1 engine/gone.rs", "1 core/src/gone.rs", "1 docs/guide/gone.md"]
        );
    }

    #[test]
    fn the_map_is_read_with_its_folders() {
        let text = "## The map\n\n```\ncrates/\n  chronicle-core/   PURE\n    event.rs          facts, follow.rs\n\
            \x20   engine/           decides: follow.rs (event.rs)\n\
            \x20                     and gone.rs\n    follow.rs view/   x\n  chronicle/        FACES\n    cli/  log.rs run.json\n\
            docs/   guide/ gone/ settings.md\n```\n";
        let expected = ["7 event.rs", "8 gone.rs", "9 follow.rs", "9 view/", "12 gone/"];
        assert_eq!(gone(text), expected);
    }
}
