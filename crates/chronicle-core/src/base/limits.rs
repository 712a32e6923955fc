//! Every limit of a run, by name. Frozen with the workflow: a default changed later changes no run.

use serde::{Deserialize, Serialize};

/// Longest text of a summary, reason or note kept in an event; the rest is cut and said so.
pub const TEXT_MAX: usize = 8_000;
/// Longest task of a run.
pub const TASK_MAX: usize = 100_000;
/// Longest input of a tool call kept in an event.
pub const TOOL_INPUT_MAX: usize = 2_000;
/// Longest shell command of a tool call kept in an event.
pub const CALL_COMMAND_MAX: usize = 8_000;
/// Most bytes that [`bounded`] adds to say how much it cut.
pub const CUT_MARK_MAX: usize = 40;
/// Most notices to people that are on their way at once.
pub const NOTICES_MAX: usize = 32;
/// How often at one visit what a worker produces counts as progress: one that always finds something new and never leaves is
/// stuck all the same.
pub const PROGRESS_MAX: u32 = 10;
/// Most stretches of time in which one attempt could change files that are told apart; beyond that, near ones count as one.
pub const HANDS_MAX: usize = 64;
/// Most events that one decision may have: a workflow that turns without working ends here.
pub const DECISION_EVENTS_MAX: usize = 400;
/// Most answers to a worker's calls that are remembered per attempt, to repeat them word for word.
pub const ANSWERS_MAX: usize = 64;
/// Most messages of one turn whose usage is kept apart.
pub const TURN_MESSAGES_MAX: usize = 64;
/// Most answers that a question may offer, and the longest of them.
pub const OPTIONS_MAX: usize = 20;
/// Longest answer that a question may offer.
pub const OPTION_MAX: usize = 200;
/// Most questions that one worker may have open at once.
pub const QUESTIONS_MAX: usize = 8;
/// Longest note of a person to a worker.
pub const NOTE_MAX: usize = 4_000;
/// Most notes that wait for one worker.
pub const NOTES_MAX: usize = 32;
/// How much of what a worker said last is kept when it ended before it was done.
pub const PARTIAL_MAX: usize = 1_200;
/// Most entries of the snapshot, all lists together.
pub const SNAPSHOT_ENTRIES_MAX: usize = 1_000;
/// Most bytes of the snapshot.
pub const SNAPSHOT_BYTES_MAX: usize = 64 * 1024;
/// Longest text of a command that is kept beside its event.
pub const COMMAND_MAX: usize = 400;
/// Most commands of one visit that are known one by one.
pub const COMMANDS_MAX: usize = 64;
/// Most files of one visit that are known from an agent's own tools.
pub const EVIDENCE_FILES_MAX: usize = 100;
/// Most summaries that a handover tells.
pub const HANDOVER_SUMMARIES_MAX: usize = 12;
/// Most transitions that a loop is judged by which is judged by its issues.
pub const LOOP_WINDOW: usize = 14;
/// Most issues that one signal may open, or resolve, and the longest name of one.
pub const ISSUES_MAX: usize = 50;
/// Longest name of an issue.
pub const ISSUE_MAX: usize = 200;
/// Most issues that are known to be open in one workflow of a run.
pub const ISSUES_OPEN_MAX: usize = 200;
/// Longest handover.
pub const HANDOVER_MAX: usize = 64_000;
/// Most attempts, gates and visits of a run that its state knows one by one, beside those that are still going on.
pub const KEPT_MAX: usize = 32;
/// The longest wait for a quota before it is asked for again: services count by the week.
pub const QUOTA_WAIT_MAX_MS: u64 = 8 * 24 * 60 * 60 * 1_000;
/// The first wait for a service that has no room, and for a quota of which nobody said when it is renewed; each is twice as long.
pub const BACKOFF_FIRST_MS: u64 = 2_000;
/// The longest of them.
pub const BACKOFF_MAX_MS: u64 = 5 * 60 * 1_000;
/// How many different calls are watched for being made again and again.
pub const REPEATS_KEPT_MAX: usize = 32;
/// How much of such a call's input people are shown.
pub const REPEAT_INPUT_MAX: usize = 120;
/// How long a worker may go on after its leaving signal was accepted.
pub const LEAVE_GRACE_MS: u64 = 30_000;
/// How long the commands may take together that put away what a phase leaves behind.
pub const CLEANUP_MS: u64 = 120_000;
/// Idle time after which an attempt is taken as stuck, unless the workflow says otherwise.
pub const IDLE_MS: u64 = 10 * 60 * 1_000;

/// How long one tool call of an agent may be open, unless the workflow says otherwise.
pub const TOOL_MS: u64 = 60 * 60 * 1_000;
/// How long the commands of a phase, or those that verify it, may take together where no `timeout` is set.
pub const COMMANDS_MS: u64 = 60 * 60 * 1_000;

/// Active time without a changed file, a signal or a note after which a worker stands still, unless the workflow says otherwise.
pub const STANDSTILL_MS: u64 = 60 * 60 * 1_000;

/// How often things may go wrong at one phase, and how long they may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Transitions between the same two phases.
    #[serde(rename = "loop")]
    pub loops: LoopLimit,
    /// Fresh starts after crashes.
    pub retries: u32,
    /// Reminders in the same session after an end without a signal.
    pub nudges: u32,
    /// Restarts after a supervisor or keeper died, without progress in between.
    pub losses: u32,
    /// Continuations after `partially-complete`.
    pub continuations: u32,
    /// Follow-ups upon follow-ups.
    pub depth: u32,
    /// Follow-ups at one visit of a phase, whoever asks for them.
    #[serde(default = "followups")]
    pub followups: u32,
    /// Waits for a quota or for room at a model's service, without progress in between.
    #[serde(default = "waits")]
    pub waits: u32,
    /// Active milliseconds that a worker may go on for after its leaving signal was accepted.
    #[serde(default = "grace_ms")]
    pub grace_ms: u64,
    /// How often a worker may make the same call without progress.
    #[serde(default = "repeats")]
    pub repeats: u32,
    /// Active milliseconds without a changed file, a signal or a note; none = for ever.
    #[serde(default)]
    pub standstill_ms: Option<u64>,
    /// Active milliseconds without a line from the agent while none of its tool calls is open; none = for ever.
    pub idle_ms: Option<u64>,
    /// Active milliseconds that one tool call of an agent may be open; none = for ever.
    #[serde(default = "tool_ms")]
    pub tool_ms: Option<u64>,
    /// Active milliseconds of one attempt; none = for ever, and [`COMMANDS_MS`] for commands.
    pub timeout_ms: Option<u64>,
}

/// What a workflow that was frozen before there were such waits is held to.
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
            timeout_ms: None,
        }
    }
}

/// When going back and forth becomes a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopLimit {
    /// What is counted.
    pub count: LoopCount,
    /// The transition after this many goes to intervention.
    pub max: u32,
    /// Judges loops by the issues that they resolve instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<LoopProgress>,
}

/// When a loop that may go on as long as it resolves issues must not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopProgress {
    /// Transitions between the same two phases, either way, among the last [`LOOP_WINDOW`].
    pub bounce: u32,
    /// Transitions in a row that opened and resolved nothing, while an issue is open. Both must be reached.
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
    /// Two phases, either way.
    Pair,
    /// One direction alone.
    Edge,
}

/// Cuts a text to a number of bytes at a character, and says so.
pub fn bounded(text: &str, max: usize) -> String {
    let kept = cut(text, max);
    match text.len() - kept.len() {
        0 => text.to_owned(),
        bytes => format!("{kept}… [{bytes} bytes cut]"),
    }
}

/// The beginning of a text that fits into a number of bytes, up to a character.
pub fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}
