//! Other names that code gives to what it imports: `import os as o`, `const {rename: r} = require('fs')`.
//!
//! The words that tell what code does are spelled with their modules, so that the code is read as if it had used those.

use std::fmt::Write as _;

/// Most names of one program that are followed.
const NAMES_MAX: usize = 64;

/// Functions that move or copy files by themselves, and what they are called here.
const BARE: &[(&str, &str)] = &[
    ("move", "shutil.move("),
    ("mv", "shutil.move("),
    ("renames", "os.renames("),
    ("copy", "shutil.copy("),
    ("copy2", "shutil.copy("),
    ("copyfile", "shutil.copy("),
    ("cp", "shutil.copy("),
];

/// Functions of JavaScript that change files under names which are ordinary words.
const OF_FILES: &[&str] =
    &["rename", "renameSync", "rm", "rmSync", "unlink", "unlinkSync", "cp", "copyFile", "truncate"];

/// Another name for a module, or for one of its functions.
struct Alias {
    name: String,
    full: String,
    /// What follows it where it is used.
    then: char,
}

/// The code with what it imports under the names that it has at home.
pub(super) fn spelled_out(code: &str) -> String {
    let aliases = aliases(code);
    let mut out = String::with_capacity(code.len());
    for (word, rest) in words(code) {
        let is_member = out.trim_end().ends_with('.');
        let next = rest.trim_start().chars().next();
        let is_meant = |it: &&Alias| it.name == word && next == Some(it.then) && !is_member;
        out.push_str(aliases.iter().find(is_meant).map_or(word, |it| &it.full));
    }
    out
}

/// What the code calls by names that say it all, or takes out of modules, a line each.
pub(super) fn taken_names(code: &str) -> String {
    let mut out = String::new();
    for name in called_bare(code) {
        let _ = writeln!(out, "{name}");
    }
    out
}

/// Names and what stands between them, each with what follows it.
fn words(code: &str) -> Vec<(&str, &str)> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let is_name = is_word(first);
        let end = rest.find(|it| is_word(it) != is_name).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        found.push((word, after));
        rest = after;
    }
    found
}

/// Calls of functions that move or copy files, which begin with a text: `move("a", "b")`, `mv 'a', 'b'`.
fn called_bare(code: &str) -> Vec<String> {
    let uses_files = ["fs'", "fs\"", "fs/promises", "fs-extra", "fs."];
    let uses_files = uses_files.iter().any(|it| code.contains(it));
    let (mut found, mut before) = (Vec::new(), "");
    for (word, rest) in words(code) {
        let is_other = before.ends_with(['.', '>', '$', '@', '\'', '"', '`', '/']);
        let inside = rest.trim_start().trim_start_matches('(').trim_start();
        let begins = rest.starts_with(['(', ' ']) && inside.starts_with(['"', '\'']);
        if let Some((_, full)) = BARE.iter().find(|(name, _)| *name == word && begins && !is_other)
        {
            found.push((*full).to_owned());
        }
        // Taken out of the module, or handed on under another name.
        let is_taken = before.trim_end().ends_with(['{', ',', '.']);
        if uses_files && is_taken && OF_FILES.contains(&word) {
            found.push(format!("fs.{word}("));
        }
        before = word;
    }
    found.truncate(NAMES_MAX);
    found
}

fn aliases(code: &str) -> Vec<Alias> {
    let mut found = Vec::new();
    for line in code.split(['\n', ';']).map(str::trim_start) {
        if let Some(names) = line.strip_prefix("import ") {
            found.extend(names.split(',').filter_map(module_alias));
        }
        if let Some((module, names)) =
            line.strip_prefix("from ").and_then(|it| it.split_once(" import "))
        {
            let names = names.trim_matches(['(', ')', ' ']).split(',');
            found.extend(names.filter_map(|it| function_alias(it, module.trim(), " as ")));
        }
    }
    found.extend(all_of_modules(code));
    for (names, source) in taken_out(code) {
        let Some(module) = module_of(source) else { continue };
        let names = names.split(',').map(|it| it.replace(" as ", ":"));
        found.extend(names.filter_map(|it| function_alias(&it, module, ":")));
    }
    found.extend(named_values(code));
    found.truncate(NAMES_MAX);
    found
}

/// `os as o`, and `fs from 'node:fs'`.
fn module_alias(text: &str) -> Option<Alias> {
    let text = text.trim();
    let (name, full) = match text.split_once(" as ") {
        Some((full, name)) if !text.contains(" from ") => (name, full.trim()),
        _ => {
            let (name, source) = text.split_once(" from ")?;
            (name.trim_start_matches("* as "), module_of(source)?)
        }
    };
    let name = name.split_whitespace().next()?.to_owned();
    Some(Alias { name, full: full.to_owned(), then: '.' })
}

/// `rename as r` of a module.
fn function_alias(text: &str, module: &str, sign: &str) -> Option<Alias> {
    let (own, name) = text.split_once(sign).unwrap_or((text, text));
    let (own, name) = (own.trim(), name.split_whitespace().next()?);
    let is_name =
        |it: &str| !it.is_empty() && it.chars().all(|it| it.is_alphanumeric() || it == '_');
    let is_one = is_name(own) && is_name(name);
    is_one.then(|| Alias { name: name.to_owned(), full: format!("{module}.{own}"), then: '(' })
}

/// `from os import *`: each function that is called may be one of the module.
fn all_of_modules(code: &str) -> Vec<Alias> {
    const MODULES: [&str; 3] = ["os", "shutil", "subprocess"];
    let is_whole = |it: &&&str| code.contains(&format!("from {it} import *"));
    let mut found = Vec::new();
    for module in MODULES.iter().filter(is_whole) {
        for name in [
            "remove",
            "unlink",
            "rmdir",
            "removedirs",
            "rename",
            "renames",
            "replace",
            "move",
            "rmtree",
            "copy",
            "copy2",
            "copyfile",
            "copytree",
            "system",
            "popen",
            "run",
            "call",
            "Popen",
            "check_call",
            "check_output",
            "open",
            "truncate",
        ] {
            let full = format!("{module}.{name}");
            found.push(Alias { name: name.to_owned(), full, then: '(' });
        }
    }
    found
}

/// What stands in braces before `= require(…)` or `from …`, with what follows.
fn taken_out(code: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices('{') {
        let Some((names, after)) = code[at + 1..].split_once('}') else { break };
        let after = after.trim_start();
        let source = after.strip_prefix('=').or_else(|| after.strip_prefix("from"));
        found.extend(source.map(|source| (names, source)));
        if found.len() >= NAMES_MAX {
            break;
        }
    }
    found
}

/// `r = require('fs').rename`, and `f = require('fs')`.
fn named_values(code: &str) -> Vec<Alias> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices('=').take(NAMES_MAX) {
        let (before, after) = (code[..at].trim_end(), code[at + 1..].trim_start());
        let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
        let name = before.rsplit(|it| !is_word(it)).next().unwrap_or_default();
        let Some(module) = module_of(after).filter(|_| !name.is_empty()) else { continue };
        let value = after.split([';', '\n']).next().unwrap_or_default();
        let rest = value.split_once(')').map_or(value.strip_prefix("fs").unwrap_or(""), |it| it.1);
        let rest = rest.strip_prefix(".promises").unwrap_or(rest);
        let own: String =
            rest.strip_prefix('.').unwrap_or("").chars().take_while(|it| is_word(*it)).collect();
        let (full, then) = match own.as_str() {
            "" => (module.to_owned(), '.'),
            own => (format!("{module}.{own}"), '('),
        };
        found.push(Alias { name: name.to_owned(), full, then });
    }
    found
}

/// The module of files, if that is what a text requires or imports.
fn module_of(source: &str) -> Option<&'static str> {
    let source = source.trim_start();
    let source = source.strip_prefix("await ").unwrap_or(source).trim_start();
    if source.starts_with("fs.") {
        return Some("fs");
    }
    let named = ["require(", "import("].iter().find_map(|it| source.strip_prefix(it));
    let inner = named.unwrap_or(source).trim_start();
    let quote = inner.chars().next().filter(|it| ['"', '\'', '`'].contains(it))?;
    let name = inner.get(1..)?.split(quote).next()?;
    let name = name.strip_prefix("node:").unwrap_or(name);
    ["fs", "fs/promises", "fs-extra", "graceful-fs"].contains(&name).then_some("fs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_are_spelled_out() {
        for (code, expected) in [
            ("import os as o; o.replace('a', 'b')", "os.replace("),
            ("import json, shutil as s\ns.move('a', 'b')", "shutil.move("),
            ("from os import replace as r\nr(a, b)", "os.replace("),
            ("from shutil import *; move(a, b)", "shutil.move("),
            ("const {rename:r}=require(\"fs/promises\"); r(a, b)", "fs.rename("),
            ("import {rename as r} from 'node:fs'; r(a, b)", "fs.rename("),
            ("const r = require('fs').rename; r(a, b)", "fs.rename("),
            ("const r = require('fs').promises.rm; r(a)", "fs.rm("),
            ("const f = require('fs'); f.rename(a, b)", "fs.rename("),
            ("import f from 'fs'; f.rm(a)", "fs.rm("),
            ("mv 'a', 'b'", "shutil.move("),
        ] {
            let all = format!("{}\n{}", spelled_out(code), taken_names(code));
            assert!(all.contains(expected), "{code}: {all}");
        }
        for code in ["x.move('left')", "a = o.replace('x', 'y')", "d.copy('a')", "move_to('a')"] {
            assert_eq!((spelled_out(code).as_str(), taken_names(code).as_str()), (code, ""));
        }
    }
}
