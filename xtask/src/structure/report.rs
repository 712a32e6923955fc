//! The figures as a table for a terminal of 100 columns.

use super::Measured;
use super::features::Feature;
use super::measure::{CRATES, Figures, median_and_p90};

const WIDTH: usize = 100;
const LABEL: usize = 46;
const COLUMN: usize = 14;
/// How many members of a cycle are named: all modules there will be, and enough files to see where it is.
const MODULES_MOST: usize = 40;
const FILES_MOST: usize = 8;

/// A row of the table: what it is called, and what stands in it.
type Row = (&'static str, fn(&Figures) -> String);

const ROWS: [Row; 11] = [
    ("source files", |it| it.files.len().to_string()),
    ("top modules", |it| it.top_modules.to_string()),
    ("cycles between top modules", |it| it.top_cycles.len().to_string()),
    ("  top modules in one", |it| members(&it.top_cycles).to_string()),
    ("  in the largest", |it| largest(&it.top_cycles).to_string()),
    ("cycles between files", |it| it.file_cycles.len().to_string()),
    ("  files in one", |it| members(&it.file_cycles).to_string()),
    ("  in the largest", |it| largest(&it.file_cycles).to_string()),
    ("public items", |it| it.public_items.to_string()),
    ("lines per function, median / p90", |it| ranks(&it.functions)),
    ("lines per file, median / p90", |it| ranks(&it.files)),
];

const NOTES: &str = "\
Tests do not count. A top module is the first name below src/. A cycle is a group of modules or
files that all import each other. A public item is a line that begins `pub fn`, `pub struct`,
`pub use` and so on: methods count, fields and `pub(crate)` do not. A feature is a commit, not a
merge, that gives `Event`, `Command`, `Report` or `Action` a variant, or the settings a row; its
count is the files in crates/*/src that it touches.
";

pub(super) fn text(columns: &[Measured]) -> String {
    let mut lines = Vec::new();
    if columns.len() > 1 {
        lines.push(row("", &["before".to_owned(), "after".to_owned()]));
    }
    lines.push(row("", &columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>()));
    for (name, _) in CRATES {
        lines.extend(one_crate(columns, name));
    }
    lines.extend(features(columns));
    lines.push(String::new());
    let mut text: String = lines.iter().flat_map(|line| [line.trim_end(), "\n"]).collect();
    text.push_str(NOTES);
    text
}

fn one_crate(columns: &[Measured], name: &str) -> Vec<String> {
    let figures: Vec<Option<&Figures>> = columns.iter().map(|column| find(column, name)).collect();
    if figures.iter().all(Option::is_none) {
        return Vec::new();
    }
    let mut lines = vec![String::new(), name.to_owned()];
    for (label, cell) in ROWS {
        let cells: Vec<String> =
            figures.iter().map(|it| it.map_or_else(|| "-".to_owned(), cell)).collect();
        lines.push(row(label, &cells));
    }
    for (column, figures) in columns.iter().zip(&figures) {
        let Some(figures) = figures else { continue };
        let name = &column.name;
        lines.extend(cycle(&format!("modules, {name}"), &figures.top_cycles, MODULES_MOST));
        lines.extend(cycle(&format!("files, {name}"), &figures.file_cycles, FILES_MOST));
    }
    lines
}

fn find<'a>(column: &'a Measured, name: &str) -> Option<&'a Figures> {
    column.crates.iter().find(|(of, _)| *of == name).map(|(_, figures)| figures)
}

fn members(cycles: &[Vec<String>]) -> usize {
    cycles.iter().map(Vec::len).sum()
}

fn largest(cycles: &[Vec<String>]) -> usize {
    cycles.first().map_or(0, Vec::len)
}

fn ranks(values: &[usize]) -> String {
    let (median, p90) = median_and_p90(values);
    format!("{median} / {p90}")
}

/// Every feature that one of the columns counts, newest first, with its files in the columns that count it.
fn features(columns: &[Measured]) -> Vec<String> {
    let mut lines = vec![String::new(), "source files per feature, at most ten".to_owned()];
    let medians = columns.iter().map(|column| {
        let files: Vec<usize> = column.features.iter().map(|feature| feature.files).collect();
        median_and_p90(&files).0.to_string()
    });
    lines.push(row("median", &medians.collect::<Vec<_>>()));
    let mut all: Vec<&Feature> = Vec::new();
    for feature in columns.iter().rev().flat_map(|column| &column.features) {
        if !all.contains(&feature) {
            all.push(feature);
        }
    }
    lines.extend(all.into_iter().map(|feature| feature_line(columns, feature)));
    lines
}

/// Its counts come first, so that the subject has room.
fn feature_line(columns: &[Measured], feature: &Feature) -> String {
    let mut line = String::from(" ");
    for column in columns {
        let files = column.features.contains(feature).then(|| feature.files.to_string());
        line.extend([format!("{:>4}", files.as_deref().unwrap_or("-"))]);
    }
    line.extend(["  ", &feature.commit, " ", &feature.subject]);
    cut(&line, WIDTH)
}

fn row(label: &str, cells: &[String]) -> String {
    let mut line = format!("  {label:LABEL$}");
    line.extend(cells.iter().map(|cell| format!("{cell:>COLUMN$}")));
    line
}

fn cut(line: &str, most: usize) -> String {
    if line.chars().count() <= most {
        return line.to_owned();
    }
    line.chars().take(most - 1).chain(['…']).collect()
}

/// The members of the largest cycle, if there is one, in lines of a terminal's width.
fn cycle(of: &str, cycles: &[Vec<String>], most: usize) -> Vec<String> {
    let Some(names) = cycles.first() else { return Vec::new() };
    let mut lines = vec![format!("  largest cycle of {of}:")];
    let more = names.len().saturating_sub(most);
    let rest = (more > 0).then(|| format!("and {more} more"));
    for name in names.iter().take(most).chain(rest.as_ref()) {
        let length = lines.last().map_or(0, |line| line.chars().count());
        if length + 1 + name.chars().count() > WIDTH {
            lines.push("   ".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            line.extend([" ", name]);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, files: &[usize], cycle: &[&str]) -> Measured {
        let cycle: Vec<String> = cycle.iter().map(|&name| name.to_owned()).collect();
        let top_cycles = if cycle.is_empty() { Vec::new() } else { vec![cycle] };
        let figures = Figures { files: files.to_vec(), top_cycles, ..Figures::default() };
        let (commit, subject) = (format!("{name}1"), "Add a thing ".repeat(20));
        let feature = Feature { commit, subject, files: files.len() };
        Measured {
            name: name.to_owned(),
            crates: vec![("chronicle-core", figures)],
            features: vec![feature],
        }
    }

    #[test]
    fn two_states_stand_side_by_side_within_a_terminal() {
        let names = ["attempt_records"; 20];
        let text = text(&[column("abc", &[10, 20], &names), column("working tree", &[10], &[])]);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let has = |words: &[&str]| {
            text.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().starts_with(words))
        };
        assert!(has(&["before", "after"]) && has(&["abc", "working", "tree"]), "{text}");
        assert!(
            has(&["source", "files", "2", "1"]) && has(&["in", "the", "largest", "20", "0"]),
            "{text}"
        );
        assert!(has(&["-", "1", "working"]) && has(&["2", "-", "abc1", "Add"]), "{text}");
    }

    #[test]
    fn one_state_stands_alone() {
        let text = text(&[column("working tree", &[10], &[])]);
        assert!(!text.contains("before") && !text.contains("largest cycle of"), "{text}");
    }
}
