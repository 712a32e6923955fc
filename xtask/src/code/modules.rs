//! The modules of a crate, each in its file, and which file imports which.

use std::collections::{BTreeMap, BTreeSet};

use super::cycles::cycles;
use super::functions::closing_brace;
use super::paths::{Named, named};
use super::repo::{File, Repo};
use super::source::{find_words, is_name, line_of};

/// Product files of one crate: what is compiled for tests alone is left out, and so are the programs in `src/bin/`.
#[derive(Debug)]
pub(crate) struct Modules<'a> {
    pub(crate) files: Vec<&'a File>,
    /// Per file: its module as names from the crate's root, which has none.
    names: Vec<Vec<&'a str>>,
    by_name: BTreeMap<Vec<&'a str>, usize>,
}

/// One path in a file that leads to another file of the crate. Files are numbered as in [`Modules::files`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Import {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) line: usize,
    pub(crate) path: String,
}

impl<'a> Modules<'a> {
    /// The modules below a folder such as `crates/chronicle-core/src/`.
    pub(crate) fn read(repo: &'a Repo, src: &'a str) -> Self {
        let is_ours =
            |file: &&File| !file.is_test_line(1) && !file.path[src.len()..].starts_with("bin/");
        let files: Vec<&File> = repo.under(src).filter(is_ours).collect();
        let has_library = files.iter().any(|file| file.path[src.len()..] == *"lib.rs");
        let names: Vec<_> =
            files.iter().map(|file| module_name(&file.path[src.len()..], has_library)).collect();
        let by_name = names.iter().cloned().zip(0..).collect();
        Self { files, names, by_name }
    }

    /// The first name of a file's module; none for the crate's root.
    pub(crate) fn top(&self, file: usize) -> Option<&'a str> {
        self.names[file].first().copied()
    }

    /// Every first name there is.
    pub(crate) fn tops(&self) -> Vec<&'a str> {
        let tops: BTreeSet<&str> =
            self.names.iter().filter_map(|name| name.first().copied()).collect();
        tops.into_iter().collect()
    }

    /// Every path that leads from one file to another.
    pub(crate) fn imports(&self) -> Vec<Import> {
        (0..self.files.len()).flat_map(|file| self.imports_of(file)).collect()
    }

    fn imports_of(&self, from: usize) -> Vec<Import> {
        let code = self.files[from].product_code();
        let inline = inline_modules(&code);
        let mut found = Vec::new();
        for Named { at, path } in named(&code) {
            let within =
                inline.iter().filter(|(body, _)| body.contains(&at)).map(|(_, name)| *name);
            let here: Vec<&str> = self.names[from].iter().copied().chain(within).collect();
            if let Some(to) = self.resolve(&here, &path).filter(|to| *to != from) {
                found.push(Import { from, to, line: line_of(&code, at), path });
            }
        }
        found
    }

    /// The file that a path leads to, seen from a module; none when it leads out of the crate.
    fn resolve(&self, here: &[&str], path: &str) -> Option<usize> {
        let names: Vec<&str> = path.split("::").collect();
        let ups = names.iter().take_while(|name| **name == "super").count();
        let (base, rest) = match names[0] {
            "crate" => (&here[..0], &names[1..]),
            "self" => (here, &names[1..]),
            "super" => (&here[..here.len().checked_sub(ups)?], &names[ups..]),
            // A module declared here can be named without `self::`.
            child if self.by_name.contains_key([here, &[child]].concat().as_slice()) => {
                (here, &names[..])
            }
            _ => return None,
        };
        let whole = [base, rest].concat();
        (0..=whole.len()).rev().find_map(|length| self.by_name.get(&whole[..length]).copied())
    }

    /// Groups of top modules that import each other, the largest first.
    pub(crate) fn top_cycles(&self) -> Vec<Vec<&'a str>> {
        let tops = self.tops();
        let number = |file| self.top(file).and_then(|top| tops.binary_search(&top).ok());
        let pairs = self.imports().into_iter().filter_map(|it| number(it.from).zip(number(it.to)));
        let edges: BTreeSet<(usize, usize)> = pairs.filter(|(from, to)| from != to).collect();
        let named = |group: Vec<usize>| group.into_iter().map(|top| tops[top]).collect();
        cycles(tops.len(), &edges).into_iter().map(named).collect()
    }

    /// Groups of files that import each other, the largest first.
    pub(crate) fn file_cycles(&self) -> Vec<Vec<usize>> {
        let edges = self.imports().into_iter().map(|import| (import.from, import.to)).collect();
        cycles(self.files.len(), &edges)
    }
}

/// From a path below `src/`. A `main.rs` beside a `lib.rs` is a program of its own and imports nothing of it by `crate`.
fn module_name(path: &str, has_library: bool) -> Vec<&str> {
    let mut names: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
    match names.as_slice() {
        ["lib"] => names.clear(),
        ["main"] if !has_library => names.clear(),
        [.., "mod"] => drop(names.pop()),
        _ => {}
    }
    names
}

/// The body of each `mod name { … }`, outer ones first.
fn inline_modules(code: &str) -> Vec<(std::ops::Range<usize>, &str)> {
    let mut found = Vec::new();
    for at in find_words(code, "mod") {
        let after = code[at + 3..].trim_start();
        let name = &after[..after.bytes().take_while(|byte| is_name(*byte)).count()];
        let open = code.len() - after.len() + name.len();
        let open = open + (code[open..].len() - code[open..].trim_start().len());
        if !name.is_empty()
            && code[open..].starts_with('{')
            && let Some(close) = closing_brace(code, open)
        {
            found.push((open..close, name));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRC: &str = "crates/a/src/";

    fn repo(files: &[(&str, &str)]) -> Repo {
        let files: Vec<_> =
            files.iter().map(|(path, text)| (format!("{SRC}{path}"), *text)).collect();
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        Repo::of(&files)
    }

    /// Each import as `from > to`, without the folder.
    fn imports(files: &[(&str, &str)]) -> Vec<String> {
        let repo = repo(files);
        let modules = Modules::read(&repo, SRC);
        let name = |file: usize| modules.files[file].path[SRC.len()..].to_owned();
        let imports = modules.imports();
        imports
            .iter()
            .map(|import| format!("{} > {}", name(import.from), name(import.to)))
            .collect()
    }

    #[test]
    fn paths_lead_to_the_deepest_file() {
        let text =
            "use crate::{b::c::D, b::E, gone};\nuse super::b::c;\nuse self::x;\nuse std::b::c;\n";
        let files =
            [("lib.rs", "mod a;\nmod b;\n"), ("a.rs", text), ("b/mod.rs", ""), ("b/c.rs", "")];
        let expected = ["a.rs > b/c.rs", "a.rs > b/mod.rs", "a.rs > lib.rs", "a.rs > b/c.rs"];
        assert_eq!(imports(&files), expected);
    }

    #[test]
    fn children_are_named_without_self_and_parents_by_super() {
        let files = [
            ("lib.rs", ""),
            ("b.rs", "mod c;\npub use c::D;\nfn e() { c::f() }\n"),
            ("b/c.rs", "fn f() { super::g(); super::super::h::i() }\n"),
            ("h.rs", "// crate::b\nconst A: &str = \"crate::b\";\n"),
        ];
        let expected = ["b.rs > b/c.rs", "b.rs > b/c.rs", "b/c.rs > b.rs", "b/c.rs > h.rs"];
        assert_eq!(imports(&files), expected);
    }

    #[test]
    fn super_inside_an_inline_module_is_the_file() {
        let text = "mod system {\n    use super::A;\n    use super::super::c::D;\n}\n";
        assert_eq!(imports(&[("lib.rs", ""), ("b.rs", text), ("c.rs", "")]), ["b.rs > c.rs"]);
    }

    #[test]
    fn tests_import_nothing() {
        let text = "#[cfg(test)]\nuse crate::c;\n#[cfg(test)]\nmod tests {\n    use crate::c;\n}\n";
        let files = [
            ("lib.rs", "#[cfg(test)]\nmod d;\n"),
            ("b.rs", text),
            ("c.rs", ""),
            ("d.rs", "use crate::c;\n"),
        ];
        assert!(imports(&files).is_empty());
    }

    #[test]
    fn cycles_are_found_between_modules_and_between_files() {
        let repo = repo(&[
            ("lib.rs", ""),
            ("a/mod.rs", "mod x;\nmod y;\nuse crate::b::B;\n"),
            ("a/x.rs", "use super::y::Y;\n"),
            ("a/y.rs", "use super::x::X;\n"),
            ("b.rs", "use crate::a::x::X;\n"),
            ("c.rs", "use crate::a;\n"),
        ]);
        let modules = Modules::read(&repo, SRC);
        assert_eq!(modules.tops(), ["a", "b", "c"]);
        assert_eq!(modules.top_cycles(), [["a", "b"]]);
        let files = modules.file_cycles();
        assert_eq!(files.len(), 1);
        assert_eq!(
            files[0].iter().map(|file| &*modules.files[*file].path).collect::<Vec<_>>(),
            ["crates/a/src/a/x.rs", "crates/a/src/a/y.rs"]
        );
    }
}
