//! Problems of definition files, each with its position and what to do.

use std::fmt;
use std::ops::Range;

use super::draft::Span;
use super::load::Source;
use super::unit::Trouble;
use crate::base::quote::is_deceptive;

/// Most problems that are shown; the others are only counted.
const PROBLEMS_MAX: usize = 100;
/// Longest name that is repeated in a message, in characters.
const QUOTED_MAX: usize = 60;
/// What is wrong with a name that could fool a reader. Unicode calls those that change the direction of text controls too.
pub(crate) const NOT_PLAIN: &str = "contains a control character";

/// One thing wrong with a workflow file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Stable name of its kind, like `unknown-field`.
    pub code: &'static str,
    /// Whether the workflow can be used anyway.
    pub severity: Severity,
    /// The file's path, as the caller named it.
    pub file: String,
    /// Byte range in the file; `None` for the whole file.
    pub span: Option<Range<usize>>,
    /// Line of the span's start, from 1.
    pub line: usize,
    /// Column of the span's start, from 1, in characters.
    pub column: usize,
    /// A lower-case fragment with names in backticks.
    pub message: String,
    /// One thing to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem with a whole file.
    pub fn of_file(file: impl Into<String>, severity: Severity, trouble: Trouble) -> Self {
        let Trouble { code, message, hint } = trouble;
        Self { code, severity, file: file.into(), span: None, line: 1, column: 1, message, hint }
    }
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Probably a mistake, but it works.
    Warning,
    /// Nothing can run with it.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}] {}", self.severity, self.code, self.file)?;
        if self.span.is_some() {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " (hint: {hint})"),
            None => Ok(()),
        }
    }
}

/// A problem before its line is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    code: &'static str,
    pub(crate) severity: Severity,
    span: Span,
    message: String,
    hint: Option<String>,
}

impl Finding {
    /// Nothing can run with it.
    pub(crate) fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, span, message)
    }

    /// Probably a mistake, but it works.
    pub(crate) fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, span, message)
    }

    /// A finding of any severity.
    pub(crate) fn new(
        severity: Severity,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
        Self { code, severity, span, message: message.into(), hint: None }
    }

    /// Adds what to do about it.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Moves it to another list of sources, after those that precede it.
    fn shifted(&self, sources: usize) -> Self {
        let span = Span { source: self.span.source + sources, ..self.span };
        Self { span, ..self.clone() }
    }

    /// Adds the likely intended name, if there is one.
    pub(crate) fn did_you_mean(self, name: Option<&str>) -> Self {
        let hint = name.map(|name| format!("did you mean {}?", quoted(name)));
        Self { hint: hint.or(self.hint.clone()), ..self }
    }
}

/// Collects findings, up to a limit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problems {
    found: Vec<Finding>,
    left_out: usize,
    /// The worst severity of those left out: a file must not become usable because it has too many problems.
    worst_left_out: Option<Severity>,
    last: Option<Span>,
}

impl Problems {
    /// Adds a finding. A duplicate, such as one from an aliased value, is kept once.
    pub(crate) fn push(&mut self, finding: Finding) {
        if !self.is_full() {
            // An alias repeats what is wrong with its anchor, and the person wrote it once.
            if !self.found.contains(&finding) {
                self.found.push(finding);
            }
            return;
        }
        self.left_out += 1;
        // An error among those left out still makes the file unusable.
        self.worst_left_out = self.worst_left_out.max(Some(finding.severity));
        self.last = Some(finding.span);
    }

    /// Turns errors of one kind, which a person accepted, into warnings.
    pub(crate) fn accept(&mut self, code: &str) {
        for finding in self.found.iter_mut().filter(|finding| finding.code == code) {
            finding.severity = Severity::Warning;
            // It said how to accept this, which has just been done.
            finding.hint = None;
        }
    }

    /// The number of errors; those left out count if the worst of them was one.
    pub(crate) fn errors(&self) -> usize {
        let found = self.found.iter().filter(|finding| finding.severity == Severity::Error);
        // Of those that are left out only the worst is known. If it was an error, each counts as one: that can only refuse too much.
        let is_error = self.worst_left_out == Some(Severity::Error);
        found.count() + if is_error { self.left_out } else { 0 }
    }

    /// Adds all of another collection whose sources follow that many others.
    pub(crate) fn absorb(&mut self, other: &Self, sources: usize) {
        for finding in &other.found {
            self.push(finding.shifted(sources));
        }
        self.left_out += other.left_out;
        self.worst_left_out = self.worst_left_out.max(other.worst_left_out);
        let last = other.last.map(|span| Span { source: span.source + sources, ..span });
        self.last = last.or(self.last);
    }

    /// True if nothing can run with it.
    pub(crate) fn has_error(&self) -> bool {
        let told = self.found.iter().map(|finding| finding.severity);
        told.chain(self.worst_left_out).any(|severity| severity == Severity::Error)
    }

    /// True if further findings would only be counted, so that hints need not be computed.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= PROBLEMS_MAX
    }

    /// All findings with their lines, in the order of files and text.
    pub(crate) fn finish(mut self, sources: &[Source]) -> Vec<Problem> {
        // In the order of the text. The sort is stable, so problems of one place stay as they were found.
        self.found.sort_by_key(|finding| finding.span);
        if let (Some(severity), Some(span)) = (self.worst_left_out, self.last) {
            let message = format!("{} more problems are not shown", self.left_out);
            self.found.push(Finding::new(severity, "too-many-problems", span, message));
        }
        self.found.into_iter().map(|finding| place(finding, sources)).collect()
    }
}

/// A finding with its file and line.
pub(crate) fn place(finding: Finding, sources: &[Source]) -> Problem {
    let Finding { code, severity, span, message, hint } = finding;
    let (file, text) = sources
        .get(span.source)
        .map_or((String::new(), ""), |source| (source.name.clone(), source.text.as_str()));
    let whole = span.start == span.end && span.start == 0;
    let (line, column) = line_and_column(text, span.start);
    let span = (!whole).then(|| on_characters(text, span.start..span.end));
    // Whatever a message repeats of the file, a terminal is safe from it.
    let message = message.chars().map(harmless).collect();
    let hint = hint.map(|hint| hint.chars().map(harmless).collect());
    Problem { code, severity, file, span, line, column, message, hint }
}

/// A span that starts and ends at character boundaries, so that it can be sliced.
fn on_characters(text: &str, span: Range<usize>) -> Range<usize> {
    // A position may be in the middle of a character, where a text cannot be cut.
    let start = text.floor_char_boundary(span.start);
    start..text.ceil_char_boundary(span.end.min(text.len())).max(start)
}

fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    // The mark has no width: editors count the letter after it as the first.
    let before = before.strip_prefix('\u{feff}').unwrap_or(before);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    (line, column)
}

/// A name from a file in backticks: bounded, and safe for a terminal.
pub(crate) fn quoted(name: &str) -> String {
    let mut shown: String = name.chars().take(QUOTED_MAX).map(harmless).collect();
    if name.chars().nth(QUOTED_MAX).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

fn harmless(letter: char) -> char {
    if is_deceptive(letter) { '\u{fffd}' } else { letter }
}
