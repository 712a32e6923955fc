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
    let bytes = code.as_bytes();
    let mut found = Vec::new();
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
            found.extend(paths.into_iter().map(|path| Named { at, path }));
            at = end + tree.len();
            continue;
        }
        if is_whole(code, at, end) {
            found.push(Named { at, path: code[at..end].to_owned() });
        }
        at = end;
    }
    found
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

fn write_out(before: &str, tree: &str, paths: &mut Vec<String>) {
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
        paths.push(path.trim_start_matches("::").trim_end_matches("::self").to_owned());
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
    fn a_path_is_below_itself_and_its_parents() {
        let named = Named { at: 0, path: "std::fs::File".to_owned() };
        assert!(named.is_below("std::fs::File") && named.is_below("std::fs"));
        assert!(!named.is_below("std::f") && !named.is_below("std::fs::File::open"));
    }
}
