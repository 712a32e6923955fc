//! What programs print when a wall stops them.

/// Most bytes of a line that are kept.
const SAID_MAX: usize = 300;
/// The kernel's words, and the names by which Node.js and others call the same. What Landlock refuses looks like any other file without
/// rights, and tells nothing.
/// A file that is mounted cannot be replaced: git says so of its settings.
const WORDS: [&str; 4] = [
    "Read-only file system",
    "EROFS",
    "read-only file system",
    ".git/config: Device or resource busy",
];

/// The line of an output that shows a refusal, if one does. Its lines may be escaped, as in JSON.
pub(crate) fn refusal(output: &str) -> Option<String> {
    let at = WORDS.iter().filter_map(|word| output.find(word)).min()?;
    let from = output.ceil_char_boundary(at.saturating_sub(SAID_MAX));
    let to = output.floor_char_boundary(output.len().min(at + SAID_MAX));
    let ends = ["\n", "\\n", "\"", "\\\""];
    let before = &output[from..at];
    let begin = ends.iter().filter_map(|end| Some(before.rfind(end)? + end.len())).max();
    let after = &output[at..to];
    let end = ends.iter().filter_map(|end| after.find(end)).min().unwrap_or(after.len());
    let said = output[from + begin.unwrap_or(0)..at + end].trim();
    (!said.is_empty()).then(|| said.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_shows_a_refusal_is_found() {
        let found = |output: &str| refusal(output).unwrap_or_default();
        let plain = "touch: x: Read-only file system";
        assert_eq!(found(&format!("a\n{plain}\nb")), plain);
        assert_eq!(found("Read-only file system"), "Read-only file system");
        let json = r#"{"content":"one\ntouch: 'x': Read-only file system\ntwo","ok":false}"#;
        assert_eq!(found(json), "touch: 'x': Read-only file system");
        let node = r#"{"text":"EROFS: read-only file system, open 'a'"}"#;
        assert_eq!(found(node), "EROFS: read-only file system, open 'a'");
        assert_eq!(found("Permission denied"), "");
        let long = format!("{}Read-only file system{}", "é".repeat(400), "é".repeat(400));
        assert!(found(&long).contains("Read-only") && found(&long).len() < 700);
    }
}
