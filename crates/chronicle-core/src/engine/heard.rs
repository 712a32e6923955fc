//! Cuts an input to what is kept: texts within their limits, without what no decision needs.
//!
//! No decision may depend on what is cut off here, because a line is decided again from what it stores.

use super::end::{end_of, said_last};
use crate::base::ids::AttemptId;
use crate::base::limits::{
    self, CALL_COMMAND_MAX, CUT_MARK_MAX, ISSUE_MAX, ISSUES_MAX, QUOTA_WAIT_MAX_MS, TEXT_MAX,
    TOOL_INPUT_MAX, bounded,
};
use crate::base::time::Millis;
use crate::definition::workflow::STEPS_MAX;
use crate::event::command::{TextBound, Written};
use crate::event::input::{AttemptReport, Command, EndSeen, FinalText, Input, Report, What};
use crate::event::pool::{CONFLICT_FILES_MAX, MergePlanned};
use crate::event::signal::Signal;
use crate::event::trees::{
    Changes, ForbiddenChange, Restored, TREE_FILES_MAX, TREE_PATH_MAX, TREE_UNREADABLE_MAX,
    TreeRecorded,
};
use crate::event::{Call, End};
use crate::guard::Judgement;
use crate::state::State;

/// Longest id of a request that is kept.
const REQUEST_MAX: usize = 200;
/// Longest name of a tool, call or file, and longest reason of a failed notice, kept in an event.
const NAME_MAX: usize = 400;

/// Most remarks about one attempt.
const REMARKS_MAX: usize = 8;

pub(super) fn heard(state: &State, input: &Input) -> Input {
    // Everything below only shortens and bounds. A decision on the cut input is the same when it is made again from the ledger,
    // where only the cut input is.
    let mut heard = input.clone();
    cut_some(heard.by.request.as_mut(), REQUEST_MAX);
    match &mut heard.what {
        What::Command(command) => hear_command(command),
        What::Report(report) => hear_report(state, report),
    }
    heard
}

fn cut(text: &mut String, max: usize) {
    if text.len() > max {
        *text = bounded(text, max);
    }
}

fn cut_some(text: Option<&mut String>, max: usize) {
    if let Some(text) = text {
        cut(text, max);
    }
}

fn hear_command(command: &mut Command) {
    for Written { text, bound } in command.written() {
        match bound {
            TextBound::Start(max) => cut(text, max),
            TextBound::Trimmed(max) => {
                trim(text);
                cut(text, max);
            }
            TextBound::Whole => trim(text),
        }
    }
    if let Command::Start(start) | Command::Prepare(start) = command {
        // Marks the ledger: from this version on every line records its input.
        start.inputs = true;
    } else if let Command::Undo { what, .. } = command {
        cut(what, TREE_PATH_MAX);
    } else if let Command::Signal { request, signal, .. } = command {
        cut(request, REQUEST_MAX);
        hear_signal(signal);
    } else if let Command::Repair(repaired) = command {
        cut(&mut repaired.why, TEXT_MAX);
        cut_some(repaired.file.as_mut(), NAME_MAX);
    }
}

fn trim(text: &mut String) {
    let trimmed = text.trim();
    if trimmed.len() < text.len() {
        *text = trimmed.to_owned();
    }
}

/// Cuts the texts of a signal. `parse` already enforces these limits; this is for signals that did not come through it.
fn hear_signal(signal: &mut Signal) {
    match signal {
        Signal::Leave { summary, issues, .. } => {
            cut(summary, TEXT_MAX);
            for named in [&mut issues.opened, &mut issues.resolved] {
                named.truncate(ISSUES_MAX);
                for issue in named {
                    cut(issue, ISSUE_MAX);
                }
            }
        }
        Signal::Loop { summary: text }
        | Signal::Cancel { summary: text }
        | Signal::Malformed(text) => cut(text, TEXT_MAX),
        Signal::OfStep { step, signal } => {
            cut(step, NAME_MAX);
            hear_signal(signal);
        }
        Signal::Plan { steps, .. } => steps.truncate(STEPS_MAX + 1),
        Signal::Break(_) | Signal::Snapshot(_) | Signal::Ask(_) | Signal::Status => {}
    }
}

fn hear_report(state: &State, report: &mut Report) {
    match report {
        Report::NoticeGiven(given) => {
            for failed in &mut given.failed {
                cut(&mut failed.why, NAME_MAX);
            }
        }
        Report::TreeRecorded(recorded) => hear_tree(recorded),
        Report::TreeRestored(restored) => hear_restored(restored),
        Report::Attempt { attempt, active_ms, what } => {
            hear_attempt(state, *attempt, active_ms, what);
        }
        Report::SupervisorStarted { walls, .. } => {
            for why in walls.iter_mut().flat_map(|walls| &mut walls.why) {
                cut(why, NAME_MAX);
            }
        }
        // One more than fit, so that they are refused and not taken for fewer.
        Report::StepsRead { steps, .. } => steps.truncate(STEPS_MAX + 1),
        Report::FolderMade(made) => cut_some(made.plain.as_mut(), TEXT_MAX),
        Report::TreeMissed { why, .. }
        | Report::StepsUnread { why, .. }
        | Report::FolderFailed { why, .. }
        | Report::MergeMissed { why, .. } => cut(why, TEXT_MAX),
        Report::FolderDropped { error, .. } => cut_some(error.as_mut(), TEXT_MAX),
        Report::MergePlanned(planned) => hear_merge(planned),
        Report::MergeWritten(written) => {
            hear_names(&mut written.late);
            cut_some(written.error.as_mut(), TEXT_MAX);
        }
        Report::TailSetAside { .. }
        | Report::SupervisorLeaves
        | Report::FolderLost { .. }
        | Report::TimerFired { .. } => {}
    }
}

fn hear_tree(recorded: &mut TreeRecorded) {
    hear_changes(&mut recorded.changes);
    if let Some(unclear) = &mut recorded.unclear {
        hear_changes(&mut unclear.changes);
    }
    hear_names(&mut recorded.unreadable_files);
    hear_names(&mut recorded.too_large_files);
    hear_forbidden(&mut recorded.forbidden_files);
    if let Some(moved) = &mut recorded.moved {
        hear_names(&mut moved.commits);
    }
}

fn hear_merge(planned: &mut MergePlanned) {
    hear_changes(&mut planned.changes);
    hear_names(&mut planned.unrecorded);
    planned.conflict_files.truncate(CONFLICT_FILES_MAX);
    for file in &mut planned.conflict_files {
        cut(&mut file.path, TREE_PATH_MAX);
        cut(&mut file.what, NAME_MAX);
    }
}

fn hear_forbidden(files: &mut Vec<ForbiddenChange>) {
    files.truncate(TREE_UNREADABLE_MAX);
    for file in files {
        cut(&mut file.path, TREE_PATH_MAX);
        cut(&mut file.rule, TREE_PATH_MAX);
    }
}

fn hear_changes(changes: &mut Changes) {
    // The counts beside the list stay, so that it is known to be cut.
    changes.list.truncate(TREE_FILES_MAX);
    for file in &mut changes.list {
        cut(&mut file.path, TREE_PATH_MAX);
        cut_some(file.from.as_mut(), TREE_PATH_MAX);
    }
}

fn hear_restored(restored: &mut Restored) {
    restored.list.truncate(TREE_FILES_MAX);
    for name in &mut restored.list {
        cut(name, TREE_PATH_MAX);
    }
    for list in [&mut restored.kept, &mut restored.edited, &mut restored.failed] {
        hear_names(list);
    }
    hear_forbidden(&mut restored.forbidden_files);
    cut_some(restored.error.as_mut(), TEXT_MAX);
}

fn hear_names(list: &mut Vec<String>) {
    list.truncate(TREE_UNREADABLE_MAX);
    for name in list {
        cut(name, TREE_PATH_MAX);
    }
}

fn hear_attempt(state: &State, id: AttemptId, active_ms: &mut u64, what: &mut AttemptReport) {
    match what {
        AttemptReport::ToolCalled { call, judged }
        | AttemptReport::ToolUnasked { call, judged, .. } => {
            hear_call(call);
            hear_judgement(judged);
        }
        AttemptReport::ToolRefused { call, why, judged } => {
            hear_call(call);
            hear_judgement(judged);
            cut(why, TEXT_MAX);
        }
        AttemptReport::ToolEnded { call, .. } | AttemptReport::ToolWentOn { call } => {
            cut(call, NAME_MAX);
        }
        AttemptReport::Usage { .. } => {}
        AttemptReport::Ended(seen) => hear_end(state, id, active_ms, seen),
        AttemptReport::Withdrew { request } => {
            cut(request, REQUEST_MAX);
            *active_ms = 0;
        }
        AttemptReport::WallHit { call, said } => {
            if let Some(call) = call {
                cut(call, NAME_MAX);
            }
            cut(said, NAME_MAX);
            *active_ms = 0;
        }
        AttemptReport::RoomAwaited(limit) => {
            cut_some(limit.agent.as_mut(), NAME_MAX);
            *active_ms = 0;
        }
        AttemptReport::GuardUnproven { why } => {
            cut(why, TEXT_MAX);
            *active_ms = 0;
        }
        AttemptReport::FileChanged { path, .. } => {
            cut(path, NAME_MAX);
            *active_ms = 0;
        }
        AttemptReport::CommandEnded { output, .. } => {
            cut(output, TEXT_MAX);
            *active_ms = 0;
        }
        // Their events do not take the time, and no decision uses it. Kept, the whole input would have to be stored beside its
        // event.
        AttemptReport::Session(_)
        | AttemptReport::OtherWalls
        | AttemptReport::RoomTaken
        | AttemptReport::Told(_)
        | AttemptReport::Idle => *active_ms = 0,
    }
}

/// What an adapter made is already within these limits and stays unchanged.
fn hear_call(call: &mut Call) {
    cut(&mut call.id, NAME_MAX);
    cut(&mut call.tool, NAME_MAX);
    cut(&mut call.shown, TOOL_INPUT_MAX + CUT_MARK_MAX);
    // A path that is too long is none, not a shorter one: that would be another file.
    call.path.take_if(|path| path.len() > TREE_PATH_MAX);
    // Shown to people alone: its sum has the whole of it.
    if let Some(folder) = &mut call.folder {
        cut(folder, TREE_PATH_MAX);
    }
    if let Some(command) = call.command.as_mut().filter(|text| text.len() > CALL_COMMAND_MAX) {
        *command = limits::cut(command, CALL_COMMAND_MAX).to_owned();
        // Said beside the text: the end of a command decides whether its success proves anything.
        call.command_cut = true;
    }
}

/// Rules and reasons are people's own words, of any length.
fn hear_judgement(judged: &mut Judgement) {
    let (Judgement::Deny { rule, why } | Judgement::Ask { rule, why }) = judged else { return };
    cut(&mut rule.text, NAME_MAX);
    cut_some(rule.at.as_mut().map(|at| &mut at.file), NAME_MAX);
    cut(why, TOOL_INPUT_MAX);
}

/// Last messages are long, and few ends need them.
fn hear_end(state: &State, id: AttemptId, active_ms: &mut u64, seen: &mut EndSeen) {
    cut_some(seen.unclear.as_mut(), TEXT_MAX);
    cut_some(seen.error.as_mut().map(|(_, text)| text), TEXT_MAX);
    cut(&mut seen.stderr, TEXT_MAX);
    seen.remarks.truncate(REMARKS_MAX);
    for remark in &mut seen.remarks {
        cut(remark, TEXT_MAX);
    }
    seen.quota_until = seen.quota_until.map(|until| until.min(Millis::LATEST));
    seen.retry_after_ms = seen.retry_after_ms.map(|ms| ms.min(QUOTA_WAIT_MAX_MS));
    // The end of an attempt that is over is ignored and leaves no line, so there is nothing more to cut.
    let Some(attempt) = state.attempt(id).filter(|attempt| attempt.ended.is_none()) else { return };
    // The time never goes back: after a crash, the report may come from a file that is a few seconds old.
    *active_ms = (*active_ms).max(attempt.active_ms);
    // The decision's own functions say which texts it will use; the others are dropped before they are stored.
    let end = end_of(state, attempt, seen);
    let said = said_last(state, attempt, &end, seen);
    seen.final_text =
        Some(said).filter(|said| !said.is_empty()).map(|said| Box::new(FinalText(said)));
    let is_told = seen.error.as_ref().is_some_and(|(_, text)| !text.is_empty());
    if is_told || !matches!(end, End::Crashed(_)) {
        seen.stderr.clear();
    }
}
