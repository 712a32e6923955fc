//! Statements for databases, as rules read them: on one line and without comments.

/// Programs that are given statements, in which comments and line ends are blanks.
pub(super) fn is_database(name: &str) -> bool {
    const NAMES: [&str; 11] = [
        "psql",
        "mysql",
        "mariadb",
        "sqlite3",
        "sqlcmd",
        "clickhouse-client",
        "cockroach",
        "duckdb",
        "snowsql",
        "bq",
        "mycli",
    ];
    NAMES.contains(&name)
}

/// Statements on one line, without what a database does not read in them.
pub(super) fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        out.push(' ');
        rest = after.split_once("*/").map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    // A dash before a letter begins an option.
    let lines = out.lines().map(|line| line.split_once("-- ").map_or(line, |(line, _)| line));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_line_ends_are_blanks() {
        for (text, expected) in [
            ("drop /* a */\n table b", "drop table b"),
            ("drop/**/table b", "drop table b"),
            ("delete from a -- where b\n;", "delete from a ;"),
            ("psql --command x", "psql --command x"),
            ("a /* b", "a"),
        ] {
            assert_eq!(without_comments(text), expected, "{text}");
        }
        assert!(is_database("psql") && !is_database("cat"));
    }
}
