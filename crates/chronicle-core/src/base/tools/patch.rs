//! Patches that tools and commands are given: the files that one changes are named in it.

use super::{ToolKind, words_of};

/// What stands before the names of files in the form that models write, and whether the file is removed.
const HEADS: [(&str, bool); 4] = [
    ("*** Update File: ", false),
    ("*** Add File: ", false),
    ("*** Move to: ", false),
    ("*** Delete File: ", true),
];
/// The same in a unified diff, and in the lines that git adds to one.
const MARKS: [&str; 6] = ["--- ", "+++ ", "rename from ", "rename to ", "copy to ", "diff --git "];

/// True for a tool whose texts are patches: its name says so, and it changes files.
pub(super) fn is_for(tool: &str, kind: ToolKind) -> bool {
    let may_change =
        matches!(kind, ToolKind::Edit | ToolKind::Write | ToolKind::Mcp | ToolKind::Unknown);
    may_change && words_of(tool).iter().any(|word| ["patch", "apply"].contains(&word.as_str()))
}

/// The files that a patch names, and whether each is removed or moved away.
pub(crate) fn files(patch: &str) -> Vec<(&str, bool)> {
    let is_headed = |line: &str| HEADS.iter().any(|(head, _)| line.starts_with(head));
    // In this form a line of a file has a sign before it.
    if patch.lines().any(is_headed) { headed(patch) } else { unified(patch) }
}

fn headed(patch: &str) -> Vec<(&str, bool)> {
    let mut found: Vec<(&str, bool)> = Vec::new();
    for line in patch.lines() {
        let head = HEADS.iter().find_map(|(head, it)| Some((*head, line.strip_prefix(head)?, *it)));
        let Some((head, name, is_removed)) = head else { continue };
        if head == HEADS[2].0
            && let Some((_, is_removed)) = found.last_mut()
        {
            *is_removed = true;
        }
        found.push((name.trim(), is_removed));
    }
    found
}

fn unified(patch: &str) -> Vec<(&str, bool)> {
    let mut found: Vec<(&str, bool)> = Vec::new();
    for line in patch.lines() {
        let Some((mark, rest)) = MARKS.iter().find_map(|it| Some((*it, line.strip_prefix(it)?)))
        else {
            continue;
        };
        // A time may follow after a tab.
        let name = rest.split('\t').next().unwrap_or(rest).trim();
        let name =
            if mark == "diff --git " { name.rsplit(' ').next().unwrap_or(name) } else { name };
        let name = name.trim_matches('"');
        if name.is_empty() || name == "/dev/null" {
            // What has no new name is removed.
            if mark == "+++ "
                && let Some((_, is_removed)) = found.last_mut()
            {
                *is_removed = true;
            }
            continue;
        }
        found.push((name, mark == "rename from "));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_name_their_files() {
        let headed =
            "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n--- c\n*** End Patch";
        assert_eq!(files(headed), [("a", true), ("b", false)]);
        let unified = "diff --git a/x b/x\n--- a/x\t2024\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n";
        assert_eq!(files(unified), [("b/x", false), ("a/x", true)]);
        assert_eq!(files("rename from a\nrename to b"), [("a", true), ("b", false)]);
        assert_eq!(files("a text"), []);
    }

    #[test]
    fn a_tool_for_patches_is_known_by_its_name() {
        assert!(
            is_for("apply_patch", ToolKind::Edit) && is_for("mcp__a__applyDiff", ToolKind::Mcp)
        );
        assert!(!is_for("Write", ToolKind::Write) && !is_for("mcp__a__review", ToolKind::Mcp));
    }
}
