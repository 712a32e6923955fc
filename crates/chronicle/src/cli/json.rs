//! What `--json` prints: an object with its version, whatever the command; errors too.
//!
//! Results go to standard output. An error is the last line of standard error. `docs/reference/json.md` describes each document.

use chronicle_core::definition::workflow::Problem;
use chronicle_core::view::VIEW_VERSION;
use serde::Serialize;

use crate::failure::Failure;
use crate::terminal;

/// Gives a body its version, so that no command can forget it.
#[derive(Serialize)]
struct Document<'a, T> {
    version: u32,
    #[serde(flatten)]
    body: &'a T,
}

/// An error, as programs read it.
#[derive(Serialize)]
struct ErrorBody<'a> {
    error: ErrorRow<'a>,
}

#[derive(Serialize)]
struct ErrorRow<'a> {
    /// The exit code of the process.
    exit: u8,
    message: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    causes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<ProblemRow<'a>>,
}

/// Something wrong with a definition.
#[derive(Debug, Serialize)]
pub(super) struct ProblemRow<'a> {
    code: &'static str,
    severity: String,
    file: &'a str,
    line: usize,
    column: usize,
    /// Bytes of the file; none where the whole file is meant.
    start: Option<usize>,
    end: Option<usize>,
    message: &'a str,
    hint: Option<&'a str>,
}

impl<'a> From<&'a Problem> for ProblemRow<'a> {
    fn from(problem: &'a Problem) -> Self {
        Self {
            code: problem.code,
            severity: problem.severity.to_string(),
            file: &problem.file,
            line: problem.line,
            column: problem.column,
            start: problem.span.as_ref().map(|span| span.start),
            end: problem.span.as_ref().map(|span| span.end),
            message: &problem.message,
            hint: problem.hint.as_deref(),
        }
    }
}

/// Prints a view, which has its version already.
pub(super) fn say_view(view: &impl Serialize) -> Result<(), Failure> {
    terminal::say(&serde_json::to_string_pretty(view).map_err(|error| unserializable(&error))?);
    Ok(())
}

/// Prints a document of a command's own. `body` must be a struct with named fields.
pub(super) fn say_document(body: &impl Serialize) -> Result<(), Failure> {
    say_view(&Document { version: VIEW_VERSION, body })
}

/// A document on a line of its own, for streams.
pub(super) fn document_line(body: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(&Document { version: VIEW_VERSION, body })
        .map_err(|error| unserializable(&error))
}

fn unserializable(error: &serde_json::Error) -> Failure {
    Failure::internal("the result cannot be put into JSON", error)
}

/// A failure on one line.
pub(super) fn failure_line(failure: &Failure) -> String {
    let error = ErrorRow {
        exit: failure.exit as u8,
        message: &failure.message,
        causes: &failure.causes,
        hint: failure.hint.as_deref(),
        problems: failure.problems.iter().map(ProblemRow::from).collect(),
    };
    // It is made of texts and numbers; if that cannot be written, the words still can.
    document_line(&ErrorBody { error }).unwrap_or_else(|_| failure.to_string())
}
