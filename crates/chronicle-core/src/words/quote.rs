//! What was said elsewhere, within our sentences: quotations are cut, sentences are not.

use crate::base::quote::{both_ends, line, plain, quoted};
use crate::event::GateKind;

/// Longest text of a gate on one line. Sentences whose quotations are bounded are shorter: only output at their end is cut.
const ABOUT_MAX: usize = 1_000;
/// Longest sentence on one line: what a gate is about, and which gate it is.
const SENTENCE_MAX: usize = 1_200;

/// A name between backticks.
pub(super) fn code(name: impl std::fmt::Display) -> String {
    format!("`{name}`")
}

pub(super) fn because(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {}", whole(reason)) }
}

pub(super) fn saying(text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { format!(": {}", quote(text)) }
}

/// What a program printed: it may name the cause first or last, so that a long text is cut in its middle.
pub(super) fn saying_both_ends(text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { format!(": \"{}\"", both_ends(text)) }
}

pub(super) fn quote(text: &str) -> String {
    format!("\"{}\"", one_line(text))
}

/// Text from outside on one line, cut as a quotation is, without control characters that could fool a terminal.
pub fn one_line(text: &str) -> String {
    quoted(text)
}

/// A sentence of ours on one line, such as why a run failed. Its quotations are bounded already: cut as one of them, it would
/// lose what is to be done.
pub fn whole(sentence: &str) -> String {
    line(sentence, SENTENCE_MAX)
}

/// What a gate is about, on one line: a worker's question is a quotation, all else a sentence of ours.
pub fn about(kind: GateKind, text: &str) -> String {
    match kind {
        GateKind::Question => one_line(text),
        GateKind::ApprovalBefore
        | GateKind::ApprovalAfter
        | GateKind::Intervention
        | GateKind::Permission
        | GateKind::Conflict
        | GateKind::Budget => line(text, ABOUT_MAX),
    }
}

/// A line of any length, without what could fool a terminal.
pub fn plain_line(text: &str) -> String {
    plain(text)
}
