//! The files that a patch names, in the forms of `diff`, of git, and of the tool `apply_patch`.

/// The files that the heads of a patch name, and whether each is removed.
pub(super) fn named_in(patch: &str) -> Vec<(&str, bool)> {
    const MARKS: [&str; 10] = [
        "--- ",
        "+++ ",
        "rename from ",
        "rename to ",
        "copy to ",
        "diff --git ",
        "*** Update File: ",
        "*** Add File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
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
        found.push((name, ["rename from ", "*** Delete File: "].contains(&mark)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_names_its_files() {
        let unified = "--- a/x\t2026-01-01\n+++ b/x\n@@ -1 +1 @@\n--- a/gone\n+++ /dev/null\n";
        assert_eq!(named_in(unified), [("a/x", false), ("b/x", false), ("a/gone", true)]);
        let git = "diff --git a/p b/q\nrename from p\nrename to q\n";
        assert_eq!(named_in(git), [("b/q", false), ("p", true), ("q", false)]);
        let codex = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** Delete File: c\n*** Add File: d\n+x\n*** End Patch";
        assert_eq!(named_in(codex), [("a", false), ("b", false), ("c", true), ("d", false)]);
    }
}
