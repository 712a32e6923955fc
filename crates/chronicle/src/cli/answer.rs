//! Commands to a run: `approve`, `reject`, `answer`, `retry`, `skip`, `go`, `note`, `cancel`.
//!
//! A live supervisor acts on them at once. Otherwise they are recorded in the ledger, and `chronicle resume` acts on them.

use chronicle_core::base::ids::{GateId, Place};
use chronicle_core::event::budget::Lack;
use chronicle_core::event::input::Command;
use chronicle_core::event::{GateKind, GrantScope};
use chronicle_core::view::GateRow;
use chronicle_core::words::{self, GateWay};
use chronicle_runtime::handle::{self, RunFolder, agents, definitions};
use clap::Args;

use super::meant::{Among, Rest, SHOWN, only_a_run};
use super::tell::tell;
use super::{Setting, gate, json, merge, only_for_people};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Approve at a gate
#[derive(Debug, Args)]
#[command(
    override_usage = "chronicle approve [OPTIONS] [RUN] [GATE]",
    after_help = "Examples:
  chronicle approve                the only run that waits, its only gate
  chronicle approve 5f3a9c1e g2
  chronicle approve 5f3a9c1e g3 --for phase   this exact tool call, as often as it is made at this visit"
)]
pub(super) struct ApproveArgs {
    /// The run and the gate, as `chronicle status` shows them; each can be omitted if there is only one
    #[arg(value_name = "[RUN] [GATE]")]
    words: Vec<String>,
    /// A note for the worker
    #[arg(long, default_value = "")]
    note: String,
    /// How far the yes to a tool call reaches: this call, or every call that is exactly like it at this visit of the phase or in
    /// the run
    #[arg(long = "for", value_name = "REACH", value_enum)]
    reach: Option<Reach>,
}

/// How far a yes to a tool call reaches.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Reach {
    /// Only the call that waits
    Once,
    /// Every call like it at this visit of the phase
    Phase,
    /// Every call like it in the run
    Run,
}

impl From<Reach> for GrantScope {
    fn from(reach: Reach) -> Self {
        match reach {
            Reach::Once => Self::Once,
            Reach::Phase => Self::Phase,
            Reach::Run => Self::Run,
        }
    }
}

/// Reject at a gate; the worker is told why
#[derive(Debug, Args)]
#[command(
    override_usage = "chronicle reject [OPTIONS] [RUN] [GATE] [WHY]",
    after_help = "Examples:
  chronicle reject 5f3a9c1e g2 \"the tests are missing\"
  chronicle reject                 an agent whose price is unknown: no reason is needed"
)]
pub(super) struct RejectArgs {
    /// The run and the gate, each unless there is only one, and why not
    #[arg(value_name = "[RUN] [GATE] [WHY]")]
    words: Vec<String>,
}

/// Answer a question of a worker
#[derive(Debug, Args)]
#[command(
    override_usage = "chronicle answer [OPTIONS] [RUN] [GATE] <ANSWER>",
    after_help = "Examples:
  chronicle answer 5f3a9c1e g2 2        the option `2`, otherwise the second option
  chronicle answer 5f3a9c1e g2 2 --note \"but not on Windows\"
  chronicle answer \"use the blue one\"   the only open question of the only run that waits"
)]
pub(super) struct AnswerArgs {
    /// The run and the gate, each unless there is only one, and the answer: an option, its number, or any text
    #[arg(value_name = "[RUN] [GATE] ANSWER")]
    words: Vec<String>,
    /// A note for the worker, beside the answer
    #[arg(long, default_value = "")]
    note: String,
}

/// Skip what blocks the run: a helper's work, the phase, or a step with all its work
#[derive(Debug, Args)]
#[command(
    override_usage = "chronicle skip [OPTIONS] [RUN] [PLACE]",
    after_help = "Example:  chronicle skip 5f3a9c1e --note \"the linter may complain\""
)]
pub(super) struct SkipArgs {
    /// The run, unless there is only one, and the place; the only one that waits when omitted
    #[arg(value_name = "[RUN] [PLACE]")]
    words: Vec<String>,
    /// What the next worker should know instead
    #[arg(long, default_value = "")]
    note: String,
}

/// Send a note to a worker: at once if it is working, otherwise to the next one
#[derive(Debug, Args)]
#[command(
    override_usage = "chronicle note [OPTIONS] [RUN] <TEXT>",
    after_help = "Example:  chronicle note 5f3a9c1e \"mind the tests in e2e/ too\""
)]
pub(super) struct NoteArgs {
    /// The run, unless there is only one, and what the worker should know
    #[arg(value_name = "[RUN] TEXT")]
    words: Vec<String>,
    /// The place; where the run is when omitted
    #[arg(long)]
    place: Option<String>,
}

/// Try a waiting phase again, with a fresh worker
#[derive(Debug, Args)]
#[command(
    override_usage = "chronicle retry [OPTIONS] [RUN] [PLACE]",
    after_help = "Examples:
  chronicle retry 5f3a9c1e --note \"use the other library\"
  chronicle retry 5f3a9c1e --from 3    the first two commands are not run again"
)]
pub(super) struct RetryArgs {
    /// The run, unless there is only one, and the place; the only one that waits when omitted
    #[arg(value_name = "[RUN] [PLACE]")]
    words: Vec<String>,
    /// What the worker should know
    #[arg(long, default_value = "")]
    note: String,
    /// The agent that works at this place from now on
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// The command to begin with, where the phase runs commands: 1 is the first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    from: Option<u32>,
}

/// Move a run to a phase, even without an edge that leads there
#[derive(Debug, Args)]
#[command(
    override_usage = "chronicle go [OPTIONS] [RUN] <PLACE>",
    after_help = "Examples:
  chronicle go 5f3a9c1e verify
  chronicle go 5f3a9c1e --loops +3    stay, and let it go round three more times"
)]
pub(super) struct GoArgs {
    /// The run, unless there is only one, and the phase as a place: `verify`, `review/look`, or `done`
    #[arg(value_name = "[RUN] PLACE")]
    words: Vec<String>,
    /// What is to be remembered about it
    #[arg(long, default_value = "", conflicts_with = "loops")]
    note: String,
    /// Allow this many more rounds in the workflow of that phase, without moving the run
    #[arg(long, value_name = "+N", value_parser = more_rounds)]
    loops: Option<u32>,
}

/// `+3`, or just `3`.
fn more_rounds(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix('+').unwrap_or(text);
    number.parse().map_err(|_| "say how many more: `+3`".to_owned())
}

/// Cancel a run for good, or give up one step of a pool; the ledger is kept
#[derive(Debug, Args)]
#[command(
    override_usage = "chronicle cancel [OPTIONS] [RUN] [STEP] [REASON]",
    after_help = "Examples:
  chronicle cancel 5f3a9c1e \"not needed any more\"
  chronicle cancel 5f3a9c1e build/step-2   gives up that step, and the others go on"
)]
pub(super) struct CancelArgs {
    /// The run, unless there is only one, the step if only that one is meant, and why
    #[arg(value_name = "[RUN] [STEP] [REASON]")]
    words: Vec<String>,
}

pub(super) fn cmd_approve(setting: &Setting, args: ApproveArgs) -> Result<Exit, Failure> {
    let (folder, words) = meant(setting, &args.words, Among::Asked(is_approval), Rest::Optional)?;
    let (gate, rest) = gate_and_words(&folder, &words)?;
    if !rest.is_empty() {
        return Err(Failure::usage(format!("`{rest}` is no gate: they are called g1, g2, …"))
            .hint("say more with `--note \"…\"`"));
    }
    if !setting.json {
        show_approved(&folder, gate);
    }
    tell(
        setting,
        &folder,
        &Command::Approve { gate, note: args.note, scope: args.reach.map(Into::into) },
    )
}

/// Whether `approve` and `reject` answer it.
fn is_approval(row: &GateRow) -> bool {
    match row.kind {
        GateKind::ApprovalBefore | GateKind::ApprovalAfter | GateKind::Permission => true,
        GateKind::Budget => row.lack == Some(Lack::Price),
        GateKind::Question | GateKind::Intervention | GateKind::Conflict => false,
    }
}

/// Shows what a yes is said to, before it is said.
fn show_approved(folder: &RunFolder, gate: Option<GateId>) {
    let Ok((view, _)) = handle::view(folder) else { return };
    let kinds =
        [GateKind::ApprovalBefore, GateKind::ApprovalAfter, GateKind::Budget, GateKind::Permission];
    let is_meant =
        |row: &&GateRow| gate.is_none_or(|gate| gate == row.gate) && kinds.contains(&row.kind);
    let Some(row) = view.needs_you.iter().find(is_meant) else { return };
    terminal::talk(&format!(
        "{} at `{}`: {}",
        row.gate,
        row.place,
        words::about(row.kind, &row.about)
    ));
    for line in gate::lines(row) {
        terminal::talk(&format!("  {line}"));
    }
}

pub(super) fn cmd_reject(setting: &Setting, args: &RejectArgs) -> Result<Exit, Failure> {
    let (folder, words) = meant(setting, &args.words, Among::Asked(is_approval), Rest::Said)?;
    let (gate, note) = gate_and_words(&folder, &words)?;
    if words.is_empty() && args.words.iter().any(|word| word.len() < SHOWN) {
        // A short word is as likely the reason as the beginning of an id.
        let run = folder.id.short();
        return Err(only_a_run("reason", &args.words, &folder)
            .hint(format!("chronicle reject {run} \"why not\"")));
    }
    tell(setting, &folder, &Command::Reject { gate, note })
}

pub(super) fn cmd_retry(setting: &Setting, args: RetryArgs) -> Result<Exit, Failure> {
    let (folder, words) = meant(setting, &args.words, Among::Waiting, Rest::Said)?;
    let place = place(&words)?;
    if let Some(agent) = &args.agent {
        let settings = definitions::settings(&setting.project).settings;
        agents::check(agent, &setting.project, &settings)
            .and_then(|()| agents::check_there(agent, &setting.project))
            .map_err(|error| Failure::usage(error.to_string()).hint(error.hint))?;
    }
    // Checked before the command is recorded: a retry with an agent that cannot start would use up the gate and wait again.
    let RetryArgs { note, agent, from, .. } = args;
    tell(setting, &folder, &Command::Retry { place, note, agent, from })
}

pub(super) fn cmd_answer(setting: &Setting, args: AnswerArgs) -> Result<Exit, Failure> {
    let is_question = |row: &GateRow| matches!(row.kind, GateKind::Question | GateKind::Conflict);
    let (folder, words) = meant(setting, &args.words, Among::Asked(is_question), Rest::Said)?;
    let (gate, text) = gate_and_words(&folder, &words)?;
    if text.is_empty() {
        let named = gate.and_then(|gate| what_to_say(&folder, gate));
        let run = folder.id.short();
        let hint = named.unwrap_or_else(|| format!("chronicle answer {run} \"your answer\""));
        return Err(only_a_run("answer", &args.words, &folder).hint(hint));
    }
    let command = Command::Answer { gate, text, note: args.note };
    // What follows from it is done at once, while the project's files are held: nobody drives a run that is over.
    if handle::is_own_gate(&folder, gate)? {
        only_for_people()?;
        return merge::give(setting, &folder, command);
    }
    tell(setting, &folder, &command)
}

/// What can be typed at a gate that was named without an answer.
fn what_to_say(folder: &RunFolder, gate: GateId) -> Option<String> {
    let (view, _) = handle::view(folder).ok()?;
    let row = view.needs_you.iter().find(|row| row.gate == gate)?;
    let options: Vec<String> =
        row.options.iter().map(|it| format!("`{}`", words::one_line(it))).collect();
    Some(match options.as_slice() {
        [] => row.next.clone(),
        options => format!("one of {}: {}", options.join(", "), row.next),
    })
}

pub(super) fn cmd_skip(setting: &Setting, args: SkipArgs) -> Result<Exit, Failure> {
    let (folder, words) = meant(setting, &args.words, Among::Waiting, Rest::Said)?;
    tell(setting, &folder, &Command::Skip { place: place(&words)?, note: args.note })
}

pub(super) fn cmd_note(setting: &Setting, args: NoteArgs) -> Result<Exit, Failure> {
    let (folder, words) = meant(setting, &args.words, Among::Open, Rest::Said)?;
    if words.is_empty() {
        return Err(only_a_run("note", &args.words, &folder)
            .hint(format!("chronicle note {} \"what it should know\"", folder.id.short())));
    }
    let place = args.place.map(Place::new);
    tell(setting, &folder, &Command::Note { place, text: words.join(" ") })
}

/// A gate where the first word is its id, or the place of a step that waits at it; and the rest.
fn gate_and_words(
    folder: &RunFolder,
    words: &[String],
) -> Result<(Option<GateId>, String), Failure> {
    let Some(first) = words.first() else { return Ok((None, String::new())) };
    let gate = match first.parse() {
        Ok(gate) => Some(gate),
        Err(_) => gate_in_step(folder, first)?,
    };
    Ok((gate, words.get(usize::from(gate.is_some())..).unwrap_or_default().join(" ")))
}

/// The gate that is called by a place in a pool. `None` if the word is no such place.
fn gate_in_step(folder: &RunFolder, word: &str) -> Result<Option<GateId>, Failure> {
    let Ok((view, _)) = handle::view(folder) else { return Ok(None) };
    view.gate_called(word).map_err(|unclear| Failure::usage(unclear.what).hint(unclear.hint))
}

/// The place, where one is named.
fn place(words: &[String]) -> Result<Option<Place>, Failure> {
    match words {
        [] => Ok(None),
        [place] => Ok(Some(Place::new(place.as_str()))),
        [_, more, ..] => Err(Failure::usage(format!("`{more}` is one word too many"))
            .hint("say more with `--note \"…\"`")),
    }
}

pub(super) fn cmd_go(setting: &Setting, args: GoArgs) -> Result<Exit, Failure> {
    let (folder, words) = meant(setting, &args.words, Among::Open, Rest::Said)?;
    let command = match (place(&words)?, args.loops) {
        (place, Some(more)) => {
            check_rounds(&folder, place.as_ref())?;
            Command::Loops { place, more }
        }
        (Some(place), None) => Command::Go { place, note: args.note },
        (None, None) => return Err(no_place(&folder)),
    };
    tell(setting, &folder, &command)
}

/// More rounds are of no use to a place that waits for something else: whoever allows them there means something else, too.
fn check_rounds(folder: &RunFolder, place: Option<&Place>) -> Result<(), Failure> {
    let Some((place, (view, _))) = place.zip(handle::view(folder).ok()) else { return Ok(()) };
    let waits = |row: &&GateRow| row.place == *place && row.kind == GateKind::Intervention;
    match view.needs_you.iter().find(waits) {
        Some(row) if !row.ways.contains(&GateWay::Loops) => Err(Failure::usage(format!(
            "{} at `{place}` does not wait for more rounds: {}",
            row.gate,
            words::about(row.kind, &row.about)
        ))
        .hint(row.next.clone())),
        _ => Ok(()),
    }
}

/// `go` without a place: where the run can go.
fn no_place(folder: &RunFolder) -> Failure {
    let phases = handle::view(folder).map(|(view, _)| view.phases).unwrap_or_default();
    let places: Vec<String> = phases.iter().map(|row| format!("`{}`", row.place)).collect();
    let known = match places.as_slice() {
        [] => String::new(),
        places => format!(": {}, or `done` to end it", places.join(", ")),
    };
    Failure::usage(format!("say where to go{known}"))
        .hint(format!("chronicle go {} PHASE", folder.id.short()))
}

pub(super) fn cmd_cancel(setting: &Setting, args: &CancelArgs) -> Result<Exit, Failure> {
    let (folder, words) = meant(setting, &args.words, Among::Left, Rest::Optional)?;
    // Killed before its first line: there is nothing to write that it was given up.
    if handle::discard(&folder)? {
        return say_removed(setting, folder.id.short());
    }
    // A place has a slash, and no reason is one word with a slash in it: a mistyped step must not cancel the run.
    let is_place = |word: &String| word.contains('/') && !word.contains(char::is_whitespace);
    if let Some((place, note)) = words.split_first().filter(|(first, _)| is_place(first)) {
        let (place, note) = (Place::new(place.clone()), note.join(" "));
        return tell(setting, &folder, &Command::GiveUp { place, note });
    }
    if let [place] = words.as_slice() {
        check_reason(&folder, place)?;
    }
    tell(setting, &folder, &Command::Cancel { reason: words.join(" ") })
}

/// A single word that names a phase is not taken for a reason: whoever typed it did not mean the whole run.
fn check_reason(folder: &RunFolder, word: &str) -> Result<(), Failure> {
    let phases = handle::view(folder).map(|(view, _)| view.phases).unwrap_or_default();
    if !phases.iter().any(|row| row.place.as_str() == word) {
        return Ok(());
    }
    let run = folder.id.short();
    Err(Failure::usage(format!(
        "`{word}` is a phase, and only a run or a step of a pool can be cancelled"
    ))
    .hint(format!(
        "chronicle cancel {run} ends the run; chronicle skip {run} {word} goes on without the phase"
    )))
}

/// The run that a person's command is for, and the words behind it.
pub(super) fn meant(
    setting: &Setting,
    words: &[String],
    among: Among,
    rest: Rest,
) -> Result<(RunFolder, Vec<String>), Failure> {
    only_for_people()?;
    super::meant::split(setting, words, among, rest)
}

/// A run that is gone has no view to show.
fn say_removed(setting: &Setting, run: &str) -> Result<Exit, Failure> {
    if setting.json {
        json::say_document(&serde_json::json!({ "run": run, "removed": true }))?;
    } else {
        terminal::say(&format!("Run {run}: removed, since it never started."));
    }
    Ok(Exit::Done)
}
