//! Every path that code names: in a `use`, and in place.

use super::source::is_name;

/// A path of at least two names, or one that a `use` brings in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The byte where it stands; for a `use`, where that begins.
    pub(crate) at: usize,
    /// Groups written out, without a leading `::` and a trailing `::self`.
    pub(crate) path: String,
}

impl Named {
    /// Whether it is this path, or one below it.
    pub(crate) fn is_below(&self, path: &str) -> bool {
        let rest = self.path.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }
}

/// In the order in which they stand. The code has neither comments nor literals.
pub(crate) fn named(code: &str) -> Vec<Named> {
    read(code).0
}

/// The same with the names that a `use` gives to something replaced by what it is: after `use std::process as p`, `p::Command` is
/// `std::process::Command`. A name counts in the whole file, wherever its `use` stands.
pub(crate) fn resolved(code: &str) -> Vec<Named> {
    let (mut found, names) = read(code);
    for named in &mut found {
        // Names may be made of names, but not for ever: `use a as b; use b as a;` is nonsense.
        for _ in 0..NESTING_MAX {
            let first = named.path.split("::").next().unwrap_or_default();
            let Some(known) = names.iter().find(|it| it.name == first && it.path != first) else {
                break;
            };
            named.path = format!("{}{}", known.path, &named.path[first.len()..]);
        }
    }
    found
}

/// Most names that are made of one another.
const NESTING_MAX: usize = 4;

/// What a `use` calls something.
struct Local {
    name: String,
    path: String,
}

fn read(code: &str) -> (Vec<Named>, Vec<Local>) {
    let bytes = code.as_bytes();
    let (mut found, mut names) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        if !is_name(bytes[at]) {
            at += 1;
            continue;
        }
        let end = path_end(bytes, at);
        if let Some(tree) = used(code, at, end) {
            let mut paths = Vec::new();
            write_out("", tree, &mut paths);
            names.extend(paths.iter().map(|(path, alias)| {
                let own = path.rsplit("::").next().unwrap_or_default();
                Local { name: alias.as_deref().unwrap_or(own).to_owned(), path: path.clone() }
            }));
            found.extend(paths.into_iter().map(|(path, _)| Named { at, path }));
            at = end + tree.len();
            continue;
        }
        if is_whole(code, at, end) {
            found.push(Named { at, path: code[at..end].to_owned() });
        }
        at = end;
    }
    (found, names)
}

/// Where a path of names and `::` ends.
fn path_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        at += bytes[at..].iter().take_while(|byte| is_name(**byte)).count();
        let goes_on =
            bytes[at..].starts_with(b"::") && bytes.get(at + 2).is_some_and(|b| is_name(*b));
        if !goes_on {
            return at;
        }
        at += 2;
    }
}

/// What stands between `use` and its `;`.
fn used(code: &str, at: usize, end: usize) -> Option<&str> {
    let after = &code[end..];
    let is_use = &code[at..end] == "use" && after.starts_with(char::is_whitespace);
    is_use.then(|| &after[..after.find(';').unwrap_or(after.len())])
}

/// Whether a path in place begins here, and names something: `pub(in crate::a)` only says who may.
fn is_whole(code: &str, at: usize, end: usize) -> bool {
    let before = &code[..at];
    code[at..end].contains("::") && !before.ends_with(">::") && !before.ends_with("pub(in ")
}

/// Each path of a tree, and what it is called if not by its own last name.
fn write_out(before: &str, tree: &str, paths: &mut Vec<(String, Option<String>)>) {
    let tree = tree.trim();
    if let Some((head, group)) = tree.split_once('{') {
        let group = group.rsplit_once('}').map_or(group, |(group, _)| group);
        let before = format!("{before}{}", head.trim());
        for branch in branches(group) {
            write_out(&before, branch, paths);
        }
    } else if !tree.is_empty() {
        let name = tree.bytes().take_while(|byte| is_name(*byte) || b":*".contains(byte)).count();
        let path = format!("{before}{}", &tree[..name]);
        let alias = tree[name..].trim().strip_prefix("as ").map(|alias| alias.trim().to_owned());
        let path = path.trim_start_matches("::").trim_end_matches("::self").to_owned();
        paths.push((path, alias));
    }
}

/// Splits a group at its own commas.
fn branches(group: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let is_own_comma = |byte: char| {
        depth += i32::from(byte == '{') - i32::from(byte == '}');
        byte == ',' && depth == 0
    };
    group.split(is_own_comma).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(code: &str) -> Vec<String> {
        named(code).into_iter().map(|named| named.path).collect()
    }

    #[test]
    fn groups_are_written_out() {
        let code = "use std::{fs::{self, File as F}, io};\npub(crate) use ::a::*;\nuse clap;";
        assert_eq!(paths(code), ["std::fs", "std::fs::File", "std::io", "a::*", "clap"]);
    }

    #[test]
    fn paths_in_place_are_found_whole() {
        let code = "fn a(b: &c::D) -> impl E + use<'a> { Vec::<super::f::G>::new(); ::h::i() }";
        assert_eq!(paths(code), ["c::D", "super::f::G", "h::i"]);
        assert!(paths("pub(in crate::a) fn b(c: D) { e.f() }").is_empty());
    }

    #[test]
    fn names_that_a_use_gives_are_replaced() {
        let code = "use std as s;\nuse s::process as p;\nuse std::{io, fs::{self as f, File}};\n\
            fn a() { p::Command::new(b); f::read(c); io::stdin(); File::open(d); own::e() }";
        let paths: Vec<_> = resolved(code).into_iter().map(|named| named.path).collect();
        let used = ["std", "std::process", "std::io", "std::fs", "std::fs::File"];
        let in_place = [
            "std::process::Command::new",
            "std::fs::read",
            "std::io::stdin",
            "std::fs::File::open",
            "own::e",
        ];
        assert_eq!(paths, [used, in_place].concat());
        assert_eq!(resolved("use a as b; use b as a; fn c() { a::d() }").len(), 3);
    }

    #[test]
    fn a_path_is_below_itself_and_its_parents() {
        let named = Named { at: 0, path: "std::fs::File".to_owned() };
        assert!(named.is_below("std::fs::File") && named.is_below("std::fs"));
        assert!(!named.is_below("std::f") && !named.is_below("std::fs::File::open"));
    }
}
