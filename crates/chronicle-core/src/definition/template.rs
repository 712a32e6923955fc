//! `{word}` in a workflow's texts: replaced in one pass with values of the run.
//!
//! Unknown words are left as they are, and inserted text is not expanded again: a task that contains `{phaseName}` stays as the
//! person wrote it. The field reference has a table of the words that each text may use.

use crate::base::limits::bounded;
use crate::definition::workflow::Text;

/// Longest template text after expansion, in bytes.
pub const TEMPLATE_MAX: usize = 4_000;

/// Words of `instructions`, `roleInstruction` and `advanceReminder`.
pub const AT_WORK: [&str; 12] = [
    "workflowName",
    "workflowKey",
    "description",
    "taskId",
    "phaseId",
    "phaseName",
    "previousPhaseName",
    "nextPhaseName",
    "blockedToolsList",
    "toolName",
    "breadcrumbPath",
    "globalStepCount",
];

/// The words that one of a workflow's texts may use.
pub fn known_in(text: Text) -> &'static [&'static str] {
    match text {
        Text::InitialMessage => &[
            "workflowName",
            "workflowKey",
            "description",
            "firstPhaseId",
            "firstPhaseName",
            "firstPhaseEmoji",
            "firstPhaseProfiles",
        ],
        Text::RoleInstruction | Text::AdvanceReminder => &AT_WORK,
        Text::NotDoneReminder => &[
            "workflowName",
            "workflowKey",
            "taskId",
            "phaseName",
            "taskDescription",
            "phaseEmoji",
            "phaseInstructions",
        ],
        Text::BlockReasonTemplate => &["toolName", "workflowName", "phaseName", "allowedTools"],
        Text::CompletionMessage => &["workflowName", "taskDescription", "taskId", "phaseCount"],
    }
}

/// Every word in braces of a text.
pub fn words(text: &str) -> Vec<&str> {
    text.split('{').skip(1).filter_map(word).collect()
}

/// Replaces each `{word}` that `value` knows, in one pass. The result is cut to `max` bytes with a visible mark.
pub fn expand(text: &str, max: usize, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{')
        // Checked while it grows: a text with thousands of words could otherwise become thousands of tasks long before it is
        // cut.
        && out.len() <= max
    {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let known = word(&from[1..]).and_then(|word| Some((word.len() + 2, value(word)?)));
        // Only the brace is passed over: a known word may begin right behind it.
        let (length, put) = known.unwrap_or_else(|| (1, "{".to_owned()));
        out.push_str(&put);
        rest = &from[length..];
    }
    out.push_str(rest);
    bounded(&out, max)
}

/// The word after a `{`, if a `}` closes it.
fn word(text: &str) -> Option<&str> {
    let (word, _) = text.split_once('}')?;
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (!word.is_empty() && word.bytes().all(is_word)).then_some(word)
}
