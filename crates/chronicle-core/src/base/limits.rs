//! Every limit of a run, by name. Limits are frozen with the workflow: a later change of a default affects no run.

use serde::{Deserialize, Serialize};

/// Longest summary, reason or note in an event. Longer text is cut with a visible mark.
pub const TEXT_MAX: usize = 8_000;
/// Longest task of a run. The ledger keeps it whole; a handover has as much as fits and names the file with the rest.
pub const TASK_MAX: usize = 300_000;
/// Longest input of a tool call kept in an event.
pub const TOOL_INPUT_MAX: usize = 2_000;
/// Longest shell command of a tool call kept in an event.
pub const CALL_COMMAND_MAX: usize = 8_000;
/// Most bytes that [`bounded`] adds to say how much it cut.
pub const CUT_MARK_MAX: usize = 40;
/// Most notices that are being sent at once.
pub const NOTICES_MAX: usize = 32;
/// How often per visit new results of a worker count as progress. A worker that always finds something new and never leaves is
/// stuck as well.
pub const PROGRESS_MAX: u32 = 10;
/// Most separate time spans in which an attempt could change files. Beyond that, the closest ones are merged.
pub const HANDS_MAX: usize = 64;
/// Most events of one decision. A workflow that loops without any work stops here.
pub const DECISION_EVENTS_MAX: usize = 400;
/// Most answers to a worker's calls that are kept per attempt, to repeat them word for word.
pub const ANSWERS_MAX: usize = 64;
/// Most messages of one turn whose usage is kept separately.
pub const TURN_MESSAGES_MAX: usize = 64;
/// Most options of one question.
pub const OPTIONS_MAX: usize = 20;
/// Longest option of a question, in bytes.
pub const OPTION_MAX: usize = 200;
/// Most questions that one worker may have open at once.
pub const QUESTIONS_MAX: usize = 8;
/// Most calls that people allowed or rejected, kept per visit and per run. Those that do not fit are asked about again.
pub const GRANTS_MAX: usize = 64;
/// Longest note of a person to a worker.
pub const NOTE_MAX: usize = 4_000;
/// Most undelivered notes per worker.
pub const NOTES_MAX: usize = 32;
/// How much of a worker's last message is kept when it was stopped early.
pub const PARTIAL_MAX: usize = 1_200;
/// Most entries of the snapshot, all lists together.
pub const SNAPSHOT_ENTRIES_MAX: usize = 1_000;
/// Most bytes of the snapshot.
pub const SNAPSHOT_BYTES_MAX: usize = 64 * 1024;
/// Longest command text that is kept beside its event.
pub const COMMAND_MAX: usize = 400;
/// Most commands per visit that are kept individually.
pub const COMMANDS_MAX: usize = 64;
/// Most files per visit that are known from an agent's own tools.
pub const EVIDENCE_FILES_MAX: usize = 100;
/// Most summaries in a handover.
pub const HANDOVER_SUMMARIES_MAX: usize = 12;
/// Number of recent transitions by which a loop with the `progress` policy is judged.
pub const LOOP_WINDOW: usize = 14;
/// Most issues that one signal may open or resolve.
pub const ISSUES_MAX: usize = 50;
/// Longest name of an issue, in bytes.
pub const ISSUE_MAX: usize = 200;
/// Most open issues per workflow of a run.
pub const ISSUES_OPEN_MAX: usize = 200;
/// Longest handover text, in bytes; the rest goes to a file.
pub const HANDOVER_MAX: usize = 64_000;
/// Longest text that is kept in the line that names it: every usual handover. A longer one is an artifact with syncs of its own.
pub const LINE_TEXT_MAX: usize = 64 * 1024;
/// Most finished attempts, gates and visits that the state keeps individually. Live ones are always kept.
pub const KEPT_MAX: usize = 32;
/// Longest wait for a quota before it is tried again: services count by the week.
pub const QUOTA_WAIT_MAX_MS: u64 = 8 * 24 * 60 * 60 * 1_000;
/// First back-off for an overloaded service or a quota without a reset time. Doubles each time.
pub const BACKOFF_FIRST_MS: u64 = 2_000;
/// Longest back-off between two tries.
pub const BACKOFF_MAX_MS: u64 = 5 * 60 * 1_000;
/// Number of different calls that are watched for repetition.
pub const REPEATS_KEPT_MAX: usize = 32;
/// How much of a repeated call's input people are shown.
pub const REPEAT_INPUT_MAX: usize = 120;
/// How long a worker may continue after its leaving signal was accepted.
pub const LEAVE_GRACE_MS: u64 = 30_000;
/// How long all `cleanup` commands of a phase may take together.
pub const CLEANUP_MS: u64 = 120_000;
/// Time without output after which an attempt counts as stuck, unless the workflow says otherwise.
pub const IDLE_MS: u64 = 10 * 60 * 1_000;

/// How long one tool call of an agent may be open, unless the workflow says otherwise.
pub const TOOL_MS: u64 = 60 * 60 * 1_000;
/// How long a call waits for a person's leave, unless the workflow says otherwise.
pub const ASK_MS: u64 = 60 * 60 * 1_000;
/// How long the commands of a phase, or those that verify it, may take together where no `timeout` is set.
pub const COMMANDS_MS: u64 = 60 * 60 * 1_000;

/// Active time without a changed file, a signal or a note after which a worker counts as making no progress, unless the workflow
/// says otherwise.
pub const STANDSTILL_MS: u64 = 60 * 60 * 1_000;

/// How often things may go wrong at one phase, and how long they may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Transitions between the same two phases.
    #[serde(rename = "loop")]
    pub loops: LoopLimit,
    /// Fresh sessions after crashes.
    pub retries: u32,
    /// Reminders in the same session after a turn without a signal.
    pub nudges: u32,
    /// Restarts after a supervisor or keeper died, without progress in between.
    pub losses: u32,
    /// Fresh sessions after `partially-complete`, per visit.
    pub continuations: u32,
    /// Depth of nested follow-ups: helpers that ask for help.
    pub depth: u32,
    /// Follow-ups per visit of a phase, whoever asks for them.
    #[serde(default = "followups")]
    pub followups: u32,
    /// Waits for a quota or an overloaded service, without progress in between.
    #[serde(default = "waits")]
    pub waits: u32,
    /// Active milliseconds that a worker may continue after its leaving signal was accepted.
    #[serde(default = "grace_ms")]
    pub grace_ms: u64,
    /// How often a worker may make the same call without progress.
    #[serde(default = "repeats")]
    pub repeats: u32,
    /// Active milliseconds without a changed file, a signal or a note; `None` for no limit.
    #[serde(default)]
    pub standstill_ms: Option<u64>,
    /// Active milliseconds without output from the agent while no tool call is open; `None` for no limit.
    pub idle_ms: Option<u64>,
    /// Active milliseconds that one tool call may be open; `None` for no limit.
    #[serde(default = "tool_ms")]
    pub tool_ms: Option<u64>,
    /// Milliseconds that a call waits for a person's leave before its worker goes on without it; `None` for no limit.
    #[serde(default = "ask_ms")]
    pub ask_ms: Option<u64>,
    /// Active milliseconds of one attempt. `None` for no limit; commands then use [`COMMANDS_MS`] unless `untimed`.
    pub timeout_ms: Option<u64>,
    /// Whether `timeout: none` was said. What nobody said anything about has a limit where it is commands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untimed: bool,
}

impl Limits {
    /// Active milliseconds that commands may take together; none = for ever.
    pub fn commands_ms(&self) -> Option<u64> {
        self.timeout_ms.or((!self.untimed).then_some(COMMANDS_MS))
    }
}

/// Limit for workflows that were frozen before waits existed.
fn waits() -> u32 {
    20
}

fn followups() -> u32 {
    10
}

fn grace_ms() -> u64 {
    LEAVE_GRACE_MS
}

#[expect(clippy::unnecessary_wraps, reason = "the field's type")]
fn tool_ms() -> Option<u64> {
    Some(TOOL_MS)
}

#[expect(clippy::unnecessary_wraps, reason = "the field's type")]
fn ask_ms() -> Option<u64> {
    Some(ASK_MS)
}

fn repeats() -> u32 {
    30
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            loops: LoopLimit { count: LoopCount::Pair, max: 3, progress: None },
            retries: 2,
            nudges: 3,
            losses: 20,
            continuations: 5,
            depth: 3,
            followups: followups(),
            waits: waits(),
            grace_ms: LEAVE_GRACE_MS,
            repeats: repeats(),
            standstill_ms: Some(STANDSTILL_MS),
            idle_ms: Some(IDLE_MS),
            tool_ms: tool_ms(),
            ask_ms: ask_ms(),
            timeout_ms: None,
            untimed: false,
        }
    }
}

/// When repeated transitions count as a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopLimit {
    /// Which transitions are added up.
    pub count: LoopCount,
    /// The transition after this many opens an intervention gate.
    pub max: u32,
    /// If set, loops are judged by the issues that they resolve instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<LoopProgress>,
}

/// When a loop that is judged by its issues must stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopProgress {
    /// Transitions between the same two phases, either way, among the last [`LOOP_WINDOW`].
    pub bounce: u32,
    /// Transitions in a row that neither opened nor resolved an issue while one is open. Both limits must be reached.
    pub stagnation: u32,
    /// Most transitions from one phase to another, whatever they resolve.
    pub cap: u32,
}

impl Default for LoopProgress {
    fn default() -> Self {
        Self { bounce: 6, stagnation: 3, cap: 12 }
    }
}

/// What counts as the same transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopCount {
    /// Transitions between two phases, in both directions together.
    Pair,
    /// Each direction is counted separately.
    Edge,
}

/// Cuts a text to a number of bytes at a character boundary, with a visible mark. The mark is for readers: whoever must know
/// whether a text is whole keeps that beside it. States contain marked texts, so the mark is frozen like a format.
pub fn bounded(text: &str, max: usize) -> String {
    let kept = cut(text, max);
    match text.len() - kept.len() {
        0 => text.to_owned(),
        bytes => format!("{kept}… [{bytes} bytes cut]"),
    }
}

/// The longest prefix of a text that fits into a number of bytes, cut at a character boundary.
pub fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_a_cut_text_never_changes() {
        assert_eq!(bounded("ééé", 5), "éé… [2 bytes cut]");
        assert_eq!(bounded("ééé", 6), "ééé");
    }
}
