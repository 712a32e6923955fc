//! Statements for databases in the input of a tool.

use super::words_of;

/// Fields whose text is a statement, whatever it says.
const STATEMENTS: &[&str] = &["sql", "statement", "statements", "sqlquery"];
/// Fields that may also hold a question in plain words.
const QUERIES: &[&str] = &["query", "queries"];
/// What statements begin with, and one of the words that must follow; none if any may.
const BEGINNINGS: &[(&str, &[&str])] = &[
    ("select", &[]),
    ("with", &[]),
    ("insert", &["into", "overwrite"]),
    ("update", &[]),
    ("delete", &["from"]),
    ("truncate", &[]),
    (
        "drop",
        &[
            "table",
            "database",
            "schema",
            "view",
            "index",
            "role",
            "user",
            "owned",
            "materialized",
            "column",
        ],
    ),
    ("alter", &["table", "database", "schema", "role", "user", "system"]),
    ("copy", &[]),
    ("grant", &[]),
    ("revoke", &[]),
];

/// True if the text of a field is a statement. A tool that searches is asked in words.
pub(super) fn is_in(tool: &str, field: &str, text: &str) -> bool {
    const SEARCHERS: [&str; 6] = ["search", "find", "lookup", "grep", "ask", "web"];
    let searches = words_of(tool).iter().any(|word| SEARCHERS.contains(&word.as_str()));
    STATEMENTS.contains(&field)
        || QUERIES.contains(&field) && !searches && text.split(';').any(begins_so)
}

fn begins_so(text: &str) -> bool {
    let text = without_comments(text).to_lowercase();
    let mut words = text.split(|letter: char| letter.is_whitespace() || letter == '(');
    let mut next = || words.by_ref().find(|word| !word.is_empty()).unwrap_or_default();
    let (first, second) = (next(), next());
    let is_one = |(word, others): &(&str, &[&str])| {
        *word == first && !second.is_empty() && (others.is_empty() || others.contains(&second))
    };
    BEGINNINGS.iter().any(is_one)
}

/// A text without comments, as far as its first words need it.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        out.push(' ');
        rest = after.split_once("*/").map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    let lines = out.lines().map(|line| line.split_once("--").map_or(line, |(line, _)| line));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_told_from_a_question() {
        for text in
            ["DROP TABLE a", "-- x\ndrop/**/table a", "select 1; delete from a", "(select 1)"]
        {
            assert!(is_in("mcp__db__query", "query", text), "{text}");
        }
        for text in ["how to drop a table", "drop the ball", "delete key", "select"] {
            assert!(!is_in("mcp__db__query", "query", text), "{text}");
        }
        assert!(is_in("mcp__db__run", "sql", "anything"));
        assert!(!is_in("mcp__docs__search", "query", "drop table a"));
    }
}
