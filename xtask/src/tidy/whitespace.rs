//! Whitespace that nobody sees and every diff shows.

use super::{File, Finding, Repo};

/// Trailing whitespace and tabs, but not inside a text literal, where they are data.
pub(super) fn whitespace(repo: &Repo) -> Vec<Finding> {
    repo.rust().chain(repo.prose()).flat_map(in_file).collect()
}

fn in_file(file: &File) -> Vec<Finding> {
    let code = file.source.code.lines().zip(file.source.comments.lines());
    let has_tab: Vec<bool> = if file.is_rust() {
        code.map(|(code, comment)| code.contains('\t') || comment.contains('\t')).collect()
    } else {
        file.text.lines().map(|line| line.contains('\t')).collect()
    };
    let mut findings = Vec::new();
    for (index, line) in file.text.split('\n').enumerate() {
        let number = index + 1;
        if line.ends_with(char::is_whitespace) && !file.source.ends_in_literal(number) {
            let what = "ends in whitespace";
            findings.push(Finding::new(&file.path, number, what, "take it away"));
        }
        if has_tab.get(index) == Some(&true) {
            findings.push(Finding::new(&file.path, number, "has a tab", "use spaces"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let findings = whitespace(&Repo::of(&[(path, text)]));
        findings.into_iter().map(|finding| (finding.line, finding.what)).collect()
    }

    #[test]
    fn trailing_whitespace_and_tabs_are_found() {
        let both = [(1, "ends in whitespace".to_owned()), (2, "has a tab".to_owned())];
        assert_eq!(found("a.md", "a \n\tb\n"), both);
        assert_eq!(found("a.rs", "fn a() {} \n\tb!();\n"), both);
        assert_eq!(found("a.rs", "fn a() {}\r\n").len(), 1);
    }

    #[test]
    fn texts_may_hold_what_they_like() {
        assert_eq!(found("a.rs", "let a = \"one \n\ttwo\";\n"), []);
    }
}
