//! The files that tidy and structure look at, read once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use super::product::without_tests;
use super::source::Source;

/// Folders that hold nothing of ours, or that are made by builds and runs.
const SKIPPED: &[&str] = &[".git", "target", "node_modules", ".chronicle"];
/// Folders below `tests/` whose files are inputs: nobody tidies them.
const DATA: &[&str] = &["data", "ledgers", "scenarios"];

/// One text file of the repository.
#[derive(Debug)]
pub(crate) struct File {
    /// Relative to the repository, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Empty for anything but Rust.
    pub(crate) source: Source,
    /// The line where test code begins; 1 in a file that is nothing else.
    tests_from: Option<usize>,
}

impl File {
    fn new(path: &str, text: String) -> Self {
        let source = if is_rust(path) { Source::read(&text) } else { Source::default() };
        let tests_from = if is_test(path) { Some(1) } else { source.test_tail() };
        Self { path: path.to_owned(), text, source, tests_from }
    }

    pub(crate) fn is_rust(&self) -> bool {
        is_rust(&self.path)
    }

    /// Whether a line (from 1) is compiled for tests alone.
    pub(crate) fn is_test_line(&self, line: usize) -> bool {
        self.tests_from.is_some_and(|from| line >= from)
    }

    /// Its code without its tests, each line where it was.
    pub(crate) fn product_code(&self) -> String {
        if self.tests_from == Some(1) { String::new() } else { without_tests(&self.source.code) }
    }

    /// How many lines there are before the unit tests at the end.
    pub(crate) fn product_lines(&self) -> usize {
        let all = self.text.lines().count();
        self.source.test_tail().map_or(all, |tail| tail - 1)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Repo {
    files: BTreeMap<String, File>,
    /// Every path there is, folders and other kinds of files too.
    paths: BTreeSet<String>,
}

impl Repo {
    pub(crate) fn load(root: &Path) -> io::Result<Self> {
        let mut repo = Self::default();
        repo.walk(root, "")?;
        repo.mark_test_files();
        Ok(repo)
    }

    /// A repository of these files alone.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut repo = Self::default();
        for (path, text) in files {
            let parents = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
            repo.paths.extend(parents);
            repo.add(path, (*text).to_owned());
        }
        repo.mark_test_files();
        repo
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &File> {
        self.files.values()
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files().filter(|file| file.is_rust())
    }

    /// Markdown for people; a phase or a persona in Markdown is input.
    pub(crate) fn prose(&self) -> impl Iterator<Item = &File> {
        self.files().filter(|file| is_prose(&file.path))
    }

    pub(crate) fn get(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    /// The Rust files whose path begins so.
    pub(crate) fn under(&self, prefix: &str) -> impl Iterator<Item = &File> {
        self.rust().filter(move |file| file.path.starts_with(prefix))
    }

    /// Whether there is such a file or folder.
    pub(crate) fn has(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }

    /// Every file and folder there is.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Whether there is something inside.
    pub(crate) fn is_folder(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        self.paths.range(inside.clone()..).next().is_some_and(|path| path.starts_with(&inside))
    }

    /// Whether the repository claims to be whole: then what a check looks at must exist.
    pub(crate) fn is_whole(&self) -> bool {
        self.has("README.md")
    }

    fn walk(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if SKIPPED.contains(&name.as_str()) {
                continue;
            }
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.paths.insert(path.clone());
                self.walk(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_file() && (is_rust(&path) || is_markdown(&path)) && !is_data(&path) {
                self.add(&path, fs::read_to_string(entry.path())?);
            } else {
                self.paths.insert(path);
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &str, text: String) {
        self.paths.insert(path.to_owned());
        self.files.insert(path.to_owned(), File::new(path, text));
    }

    /// Follows `#[cfg(test)] mod name;` to the file it names.
    fn mark_test_files(&mut self) {
        let mut marked = Vec::new();
        for file in self.rust() {
            let folder = module_folder(&file.path);
            marked.extend(file.source.test_files().iter().map(|name| format!("{folder}{name}")));
        }
        for file in self.files.values_mut() {
            let is_marked = |module: &String| {
                let rest = file.path.strip_prefix(module.as_str());
                rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            };
            if marked.iter().any(is_marked) {
                file.tests_from = Some(1);
            }
        }
    }
}

/// The folder, with its `/`, where the modules of a file live.
pub(crate) fn module_folder(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => folder,
        other => format!("{folder}{}/", other.trim_end_matches(".rs")),
    }
}

fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "md")
}

fn is_test(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs")
}

fn is_data(path: &str) -> bool {
    let folders = path.split('/').skip_while(|part| *part != "tests");
    folders.skip(1).any(|part| DATA.contains(&part))
}

fn is_prose(path: &str) -> bool {
    let inputs = ["workflows/", "personas/", "crates/"];
    let is_input = inputs.iter().any(|folder| path.starts_with(folder));
    is_markdown(path) && (path.ends_with("/README.md") || !is_input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_behind_cfg_test_is_a_test() {
        let repo = Repo::of(&[
            ("crates/a/src/lib.rs", "mod ledger;\n"),
            ("crates/a/src/ledger/mod.rs", "#[cfg(test)]\nmod contract;\nmod folder;\n"),
            ("crates/a/src/ledger/contract.rs", "fn a() {}\n"),
            ("crates/a/src/ledger/folder.rs", "fn a() {}\n"),
        ]);
        let is_test = |path| repo.get(path).is_some_and(|file| file.is_test_line(1));
        assert!(is_test("crates/a/src/ledger/contract.rs"));
        assert!(!is_test("crates/a/src/ledger/folder.rs"));
    }

    #[test]
    fn inputs_of_tests_are_data() {
        assert!(is_data("crates/a/tests/it/data/x.md"));
        assert!(!is_data("crates/a/tests/it/x.rs") && !is_data("docs/data/x.md"));
    }

    #[test]
    fn phases_are_not_prose() {
        assert!(is_prose("README.md") && is_prose("crates/a/README.md") && is_prose("docs/x.md"));
        assert!(!is_prose("workflows/quest/plan.md") && !is_prose("crates/a/src/demo/plan.md"));
    }
}
