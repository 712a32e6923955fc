//! Verdicts in what a worker says, where a phase asks for one: exactly one clear yes is a yes, all else is a no.

/// What a worker decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// A clear yes.
    Pass,
    /// A no, several, or none.
    Fail,
}

const YES: [&str; 4] = ["pass", "passed", "approve", "approved"];
const NO: [&str; 4] = ["fail", "failed", "block", "blocked"];

/// Reads `Verdict: PASS` or `Verdict: APPROVE` (bold, listed or quoted as Markdown does), else the section `# Verdict`.
/// Two that differ, both words at once, or none: no.
pub fn judged(text: &str) -> Judged {
    let lines: Vec<Judged> = text.lines().filter_map(of_line).collect();
    let said = if lines.is_empty() { section(text).map(|body| words(&body)) } else { None };
    let mut all = lines.into_iter().chain(said);
    match all.next() {
        Some(Judged::Pass) if all.all(|other| other == Judged::Pass) => Judged::Pass,
        Some(_) | None => Judged::Fail,
    }
}

/// A line that gives a verdict; none for any other line.
fn of_line(line: &str) -> Option<Judged> {
    let plain: String = line.chars().filter(|it| !matches!(it, '*' | '_' | '`')).collect();
    let plain = plain.trim_start_matches([' ', '\t', '-', '+', '>', '#', '•']).to_lowercase();
    let rest = plain.strip_prefix("verdict")?.trim_start().strip_prefix(':')?;
    Some(words(rest))
}

/// The lines below a heading `Verdict`, up to the next heading.
fn section(text: &str) -> Option<String> {
    let is_heading = |line: &&str| line.trim_start().starts_with('#');
    let name = |line: &str| line.trim_matches(|it: char| !it.is_alphanumeric()).to_lowercase();
    let mut lines = text.lines().skip_while(|line| !is_heading(line) || name(line) != "verdict");
    lines.next()?;
    Some(lines.take_while(|line| !is_heading(line)).collect::<Vec<_>>().join("\n"))
}

fn words(text: &str) -> Judged {
    let lower = text.to_lowercase();
    let said: Vec<&str> = lower.split(|it: char| !it.is_alphanumeric()).collect();
    let any = |of: &[&str]| said.iter().any(|word| of.contains(word));
    let is_denied = said.contains(&"not") || said.contains(&"no");
    if any(&YES) && !any(&NO) && !is_denied { Judged::Pass } else { Judged::Fail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_clear_yes_is_a_yes() {
        for text in [
            "Verdict: PASS",
            "all good\n- **Verdict:** approve\nthanks",
            "> verdict : `Approved`",
            "# Verdict\n\nAPPROVE, with a smile\n\n# Notes\nblock nothing",
            "Verdict: PASS\nVerdict: pass",
        ] {
            assert_eq!(judged(text), Judged::Pass, "{text}");
        }
    }

    #[test]
    fn all_else_is_a_no() {
        for text in [
            "",
            "it should pass",
            "Verdict: PASS or FAIL",
            "Verdict: FAIL\nVerdict: PASS",
            "Verdict: PASS\nVerdict: BLOCK",
            "Verdict:",
            "Verdict: not approved",
            "# Verdict\nAPPROVE or BLOCK",
            "the Verdict: PASS",
            "# Verdict\n# Notes\nPASS",
            "Verdict: passable",
        ] {
            assert_eq!(judged(text), Judged::Fail, "{text}");
        }
    }
}
