//! Patches that tools and commands are given: the files that one changes are named in it.

use std::borrow::Cow;

use serde_json::Value;

use super::{ToolKind, words_of};

/// What stands before the names of files in the form that models write, after three stars, and whether the file is removed.
const HEADS: [(&str, bool); 4] =
    [("Update File:", false), ("Add File:", false), ("Move to:", false), ("Delete File:", true)];
/// The same in a unified diff, and in the lines that git and others add to one.
const MARKS: [&str; 7] =
    ["--- ", "+++ ", "rename from ", "rename to ", "copy to ", "diff --git ", "Index: "];

/// What the patches in the input of a tool do beside changing files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Patched {
    /// They make files, or give files other names.
    pub adds: bool,
    /// They remove files, or move them away.
    pub removes: bool,
}

/// What a tool that applies patches is told to do; nothing for other tools.
pub fn patched(tool: &str, input: &Value) -> Patched {
    let mut found = Patched::default();
    if super::table::also(super::super::tool_name::unwrapped(tool)).is_empty() {
        return found;
    }
    let mut rest = vec![input];
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) => {
                found.adds |= adds(text);
                found.removes |= files(text).iter().any(|(_, is_removed)| *is_removed);
            }
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => rest.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

/// True if a patch makes a file that was not there.
fn adds(patch: &str) -> bool {
    const MARKS: [&str; 4] = ["--- /dev/null", "new file mode", "rename to ", "copy to "];
    let is_new = |line: &str| {
        head(line).is_some_and(|(at, _)| at == 1 || at == 2)
            || MARKS.iter().any(|it| line.starts_with(it))
    };
    patch.lines().any(is_new)
}

/// True for a tool whose texts are patches: its name says so, and it changes files.
pub(super) fn is_for(tool: &str, kind: ToolKind) -> bool {
    let may_change =
        matches!(kind, ToolKind::Edit | ToolKind::Write | ToolKind::Mcp | ToolKind::Unknown);
    may_change && words_of(tool).iter().any(|word| ["patch", "apply"].contains(&word.as_str()))
}

/// True for a text that is a patch, whatever holds it.
pub(super) fn is_one(text: &str) -> bool {
    let mut lines = text.lines();
    let is_headed = text.trim_start().starts_with("*** Begin Patch");
    // The old name, the new name, and where the first change is.
    is_headed
        || lines.any(|line| line.starts_with("diff --git ") || line.starts_with("--- "))
            && text.lines().any(|line| line.starts_with("+++ ") || line.starts_with("rename to "))
}

/// The files that a patch names, and whether each is removed or moved away.
pub(crate) fn files(patch: &str) -> Vec<(Cow<'_, str>, bool)> {
    // In this form a line of a file has a sign before it.
    if patch.lines().any(|line| head(line).is_some()) { headed(patch) } else { unified(patch) }
}

/// Which of the heads a line begins with, and the name after it.
fn head(line: &str) -> Option<(usize, &str)> {
    let rest = line.strip_prefix("***")?.trim_start();
    HEADS.iter().enumerate().find_map(|(at, (head, _))| Some((at, rest.strip_prefix(head)?.trim())))
}

fn headed(patch: &str) -> Vec<(Cow<'_, str>, bool)> {
    let mut found: Vec<(Cow<'_, str>, bool)> = Vec::new();
    for (at, name) in patch.lines().filter_map(head) {
        if at == 2
            && let Some((_, is_removed)) = found.last_mut()
        {
            *is_removed = true;
        }
        found.push((Cow::Borrowed(name), HEADS[at].1));
    }
    found
}

fn unified(patch: &str) -> Vec<(Cow<'_, str>, bool)> {
    let mut found: Vec<(Cow<'_, str>, bool)> = Vec::new();
    for line in patch.lines() {
        let Some((mark, rest)) = MARKS.iter().find_map(|it| Some((*it, line.strip_prefix(it)?)))
        else {
            continue;
        };
        // A time may follow after a tab.
        let name = rest.split('\t').next().unwrap_or(rest).trim();
        let name = if mark == "diff --git " { last_of(name) } else { name };
        if name.is_empty() || name == "/dev/null" {
            // What has no new name is removed.
            if mark == "+++ "
                && let Some((_, is_removed)) = found.last_mut()
            {
                *is_removed = true;
            }
            continue;
        }
        found.push((unquoted(name), mark == "rename from "));
    }
    found
}

/// The second of two names, which may be in quotes.
fn last_of(names: &str) -> &str {
    let quoted = names.strip_suffix('"').and_then(|it| it.rfind(" \""));
    match quoted {
        Some(at) => names[at..].trim_start(),
        None => names.rsplit(' ').next().unwrap_or(names),
    }
}

/// A name without its quotes, in which git writes letters as numbers.
fn unquoted(name: &str) -> Cow<'_, str> {
    let inner = name.trim_matches('"');
    if inner.len() == name.len() || !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut bytes: Vec<u8> = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let digits = rest.iter().take(3).take_while(|it| (b'0'..=b'7').contains(it)).count();
        if digits > 0 {
            let number =
                rest[..digits].iter().fold(0_u32, |sum, it| sum * 8 + u32::from(it - b'0'));
            bytes.push(u8::try_from(number & 0xff).unwrap_or_default());
            rest = &rest[digits..];
        } else if let [letter, after @ ..] = rest {
            bytes.push(match letter {
                b't' => b'\t',
                b'n' => b'\n',
                other => *other,
            });
            rest = after;
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_name_their_files() {
        let named = |patch: &str| -> Vec<(String, bool)> {
            files(patch).into_iter().map(|(name, it)| (name.into_owned(), it)).collect()
        };
        let of = |names: &[(&str, bool)]| -> Vec<(String, bool)> {
            names.iter().map(|(name, it)| ((*name).to_owned(), *it)).collect()
        };
        let headed =
            "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n--- c\n*** End Patch";
        assert_eq!(named(headed), of(&[("a", true), ("b", false)]));
        assert_eq!(named("***  Update File:a\n@@"), of(&[("a", false)]));
        let unified = "diff --git a/x b/x\n--- a/x\t2024\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n";
        assert_eq!(named(unified), of(&[("b/x", false), ("a/x", true)]));
        assert_eq!(named("rename from a\nrename to b"), of(&[("a", true), ("b", false)]));
        assert_eq!(named("a text"), of(&[]));
        let quoted = "diff --git \"a/x y\" \"b/\\303\\244 y\"\n+++ \"b/lock\\145d\"\nIndex: c";
        assert_eq!(named(quoted), of(&[("b/ä y", false), ("b/locked", false), ("c", false)]));
        assert!(is_one("--- a/x\n+++ b/x\n@@ -1 +1 @@") && is_one("*** Begin Patch\n"));
        assert!(!is_one("- a\n- b\n--- \nmore") && !is_one("a text"));
    }

    #[test]
    fn a_tool_for_patches_is_known_by_its_name() {
        assert!(
            is_for("apply_patch", ToolKind::Edit) && is_for("mcp__a__applyDiff", ToolKind::Mcp)
        );
        assert!(!is_for("Write", ToolKind::Write) && !is_for("mcp__a__review", ToolKind::Mcp));
    }
}
