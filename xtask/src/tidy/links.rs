//! Links in Markdown lead somewhere.

use super::{Finding, Repo};

/// Links to files that do not exist; notes while the repository is not whole. Addresses and anchors are not followed.
pub(super) fn dead_links(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.prose() {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (index, line) in without_code(&file.text).lines().enumerate() {
            for target in targets(line).into_iter().filter(|target| is_file(target)) {
                let path = target.split('#').next().unwrap_or(target);
                if resolve(folder, path).is_none_or(|path| !repo.has(&path)) {
                    let what = format!("links to `{target}`, which does not exist");
                    let fix = "mend the link, or write the file";
                    let found = Finding::new(&file.path, index + 1, what, fix);
                    findings.push(if repo.is_whole() { found } else { found.note() });
                }
            }
        }
    }
    findings
}

/// Markdown with its code blanked out, each line in its place.
pub(super) fn without_code(text: &str) -> String {
    let mut kept = String::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => kept.extend(line.split('`').step_by(2)),
            (Some(_), _) => {}
        }
        kept.push('\n');
    }
    kept
}

/// What the links of a line point to: `[text](target)` and `[name]: target`.
fn targets(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("](") {
        let rest = &line[at + 2..];
        let end = rest.find([')', ' ']).unwrap_or(rest.len());
        found.push(rest[..end].trim_matches(['<', '>']));
    }
    if line.starts_with('[')
        && let Some((_, target)) = line.split_once("]: ")
    {
        found.extend(target.split_whitespace().next());
    }
    found
}

fn is_file(target: &str) -> bool {
    let has_scheme = target.contains("://") || target.starts_with("mailto:");
    !has_scheme && !target.starts_with('#') && !target.is_empty()
}

/// A path relative to the repository; none when it leads out of it.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    if target.starts_with('/') {
        parts.clear();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_links_are_found() {
        let text = "[a](glossary.md) [b](gone.md#x) `[c](gone.md)`\n```\n[d](gone.md)\n```\n\
            [e](../README.md) [f](https://example.org/x) [g](#here) [h](../../out.md)\n[i]: gone.md\n\
            [j](design/)\n";
        let repo = Repo::of(&[
            ("docs/a.md", text),
            ("docs/glossary.md", ""),
            ("docs/design/1.md", ""),
            ("README.md", ""),
        ]);
        let lines: Vec<_> = dead_links(&repo).into_iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [1, 5, 6]);
    }

    #[test]
    fn paths_are_resolved_inside_the_repository() {
        assert_eq!(resolve("docs/design", "../x.md").as_deref(), Some("docs/x.md"));
        assert_eq!(resolve("docs", "/x.md").as_deref(), Some("x.md"));
        assert_eq!(resolve("", "../x.md"), None);
    }
}
