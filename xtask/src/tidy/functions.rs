//! How long functions may be.

use super::exceptions::{LONG_FUNCTION, excepted};
use super::{File, Finding, Repo};
use crate::code::functions::{body_start, closing_brace, functions};

/// From the line of `fn` to its closing brace; lines of a text literal do not count.
const LINES_MOST: usize = 70;

/// Every function, tests too. A flat table is no burden: one `match` whose arms are a line each may be as long as it likes.
pub(super) fn function_sizes(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        for (name, line, length) in long_functions(file) {
            let what = format!("`{name}` has {length} lines");
            let fix = format!("{LINES_MOST} is the most: give a part of it a name");
            findings.push(match excepted(LONG_FUNCTION, &file.path, name) {
                Some(reason) => Finding::new(&file.path, line, what, reason).note(),
                None => Finding::new(&file.path, line, what, fix),
            });
        }
    }
    findings
}

/// Name, line and length of what is too long.
pub(super) fn long_functions(file: &File) -> Vec<(&str, usize, usize)> {
    let code = &file.source.code;
    let mut long = Vec::new();
    for function in functions(code) {
        let counted = function.lines(&file.source);
        if counted > LINES_MOST && !is_flat_match(&code[function.body.clone()]) {
            long.push((function.name, function.line, counted));
        }
    }
    long
}

/// Whether a body is one `match` and nothing else, each arm one line: on its own, or alone in braces where it is too long.
fn is_flat_match(body: &str) -> bool {
    let body = body.trim();
    let Some(open) = body.strip_prefix("match ").and_then(|_| body_start(body, 0)) else {
        return false;
    };
    let is_whole = closing_brace(body, open) == Some(body.len() - 1);
    let lines: Vec<&str> = body[open + 1..body.len() - 1].lines().map(str::trim).collect();
    is_whole && has_flat_arms(&lines)
}

fn has_flat_arms(lines: &[&str]) -> bool {
    match lines {
        [] => true,
        [opens, inside, "}", rest @ ..] if opens.ends_with("=> {") => {
            is_closed(inside) && !inside.contains("=>") && has_flat_arms(rest)
        }
        [line, rest @ ..] => is_one_line_arm(line) && has_flat_arms(rest),
    }
}

fn is_closed(line: &str) -> bool {
    line.matches(['{', '(', '[']).count() == line.matches(['}', ')', ']']).count()
}

fn is_one_line_arm(line: &str) -> bool {
    let is_arm = line.contains("=>") && line.ends_with([',', '}']);
    // A long list of alternatives is broken before each `|`.
    line.is_empty() || is_closed(line) && (is_arm || line.starts_with('|') || !line.contains("=>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(text: &str) -> Vec<String> {
        let found = function_sizes(&Repo::of(&[("a.rs", text)]));
        found.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_function_of_71_lines_is_too_long() {
        let body = |lines| format!("fn a() {{\n{}}}\n", "    b();\n".repeat(lines));
        assert!(long(&body(68)).is_empty());
        assert_eq!(long(&body(69)), ["`a` has 71 lines"]);
    }

    #[test]
    fn braces_in_texts_do_not_mislead() {
        let text = format!("fn a() {{ b(\"}}\");\n{}}}\n", "    b();\n".repeat(70));
        assert_eq!(long(&text), ["`a` has 72 lines"]);
    }

    #[test]
    fn a_flat_match_may_be_long() {
        let arms = "        A::B { .. } => \"b\",\n".repeat(90);
        let flat = format!("fn a(x: A) -> &'static str {{\n    match x {{\n{arms}    }}\n}}\n");
        assert!(long(&flat).is_empty());
        let braced = flat.replacen("=> \"b\",", "=> {\n            b()\n        }", 1);
        assert!(long(&braced).is_empty());
        let deep =
            flat.replacen("=> \"b\",", "=> {\n            c();\n            b()\n        }", 1);
        assert_eq!(long(&deep).len(), 1);
        let more = flat.replacen("    match", "    let y = x;\n    match", 1);
        assert_eq!(long(&more).len(), 1);
    }

    #[test]
    fn lines_of_a_text_do_not_count() {
        let text = format!("fn a() {{\n    b(\"\n{}\");\n}}\n", "line\n".repeat(90));
        assert!(long(&text).is_empty());
    }
}
