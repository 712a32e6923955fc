//! Every word that people read about a run, a file per concern. `sentence.rs` has the list of events, and does not compile while
//! one lacks its sentence.

mod apart;
mod attempt;
mod budget;
mod chore;
mod claims;
mod evidence;
mod fallback;
mod gate;
mod loops;
mod notice;
mod permission;
mod pool;
mod position;
mod proof;
mod quote;
mod race;
mod room;
mod said;
mod sentence;
mod step;
mod trees;
mod usage;
mod wait;
mod walls;

use crate::base::ids::{AttemptId, DONE, HUMAN_INTERVENTION, Place};
use crate::base::quote::plain;
use crate::definition::workflow::Phase;
use crate::event::{Chore, Duty, EdgeTaken, Leave, Mover};
use crate::state::{Anomaly, Frame, Impossible, State, Status};

pub use apart::own_work_stays;
pub(crate) use apart::{
    NEVER_MADE, NOT_APART, NOT_OVER, apart_word, no_own_folder, own_merge_asks, own_merge_is_asked,
};
pub use attempt::{HAD_WORK, agent_name, end};
pub(crate) use attempt::{
    command_failed, lost_too_often, must_have_leave, no_more_tools, no_tool_runs, once_only,
    once_ran, ran_unasked, refused_itself, runs_at_start, stopping, without_leave,
};
pub use budget::budget_owner;
pub(crate) use budget::{about_now, asks_for_more, balance, more, no_such_limit, raised, short};
pub use chore::performer;
pub(crate) use chore::{cannot_verify, stays_unverified, unverified};
pub(crate) use claims::unproven;
pub(crate) use evidence::{folder_gone, lack, never_proven, not_proven, work_is_gone};
pub use fallback::fallback;
pub(crate) use fallback::{ended, given_up};
pub use gate::{GateWay, gate_next};
pub(crate) use gate::{
    asked_for, bound_for_person, did, goes_on, may_begin, may_leave, needs_person, open_gates,
    rejected_before, verdict, ways, ways_in_words, why_again,
};
pub(crate) use loops::{back_and_forth, one_way, rounds_allowed, stagnates, started_over};
pub(crate) use notice::{failed as notice_failed, text as notice_text};
pub(crate) use permission::{
    ID_TAKEN, NOT_ANSWERED, SUPERVISOR, may_call, reach, rejected_call, too_many_held,
};
pub use permission::{forbidden, not_as_shown};
pub(crate) use pool::{
    HOW_TO_PLAN, ONCE_MERGED, ONCE_PUT_AWAY, REPLAN_REFUSED, conflict_files, gaps,
    kind as pool_kind, may_begin_step, merge_asks, never_fits, no_folder, no_plan,
    no_step_workflow, nobody_inside, not_planned, other_plan, plan_kept, plan_told, plans_nothing,
    pool_done, pool_in_pool, pool_rejected, step_has_begun, step_told, steps_unread, which_plan,
};
pub use position::{Breadcrumb, Mark};
pub(crate) use position::{breadcrumbs, breadcrumbs_to, mark, status_line, step_line};
pub use proof::unproven_guard;
pub use quote::{about, one_line, plain_line, whole};
use quote::{code, quote, saying};
pub(crate) use race::{
    decided_by, judge_leaves, judge_names, not_judged, race_asks, race_done, race_is_decided,
    race_told, racer_name, racers,
};
pub(crate) use room::waits_for_room;
pub use said::on_gate;
pub(crate) use said::{
    CANCEL_AGAIN, CANCELLED, accepted, breaking_off, by_hand, carried, continued_too_often,
    full_too_often, helped_too_often, nobody_stays, other_step, out_of_context, partial, parting,
    snapshot_kept, too_deep, worker_cancelled,
};
pub use sentence::sentence;
pub(crate) use step::step_state;
pub use trees::{bytes, changes, files, lines_changed};
pub use usage::{age, duration, spent, thousands, tokens, usd};
pub(crate) use wait::{REPEATED, never_leaves, repeated, stands_still, wait};
pub use walls::walls_line;
pub(crate) use walls::{NO_WALLS_NOW, wall_stopped, walls_told};

/// A run that goes round without anybody working.
pub const TURNS_WITHOUT_WORK: &str = "the workflow loops without any work";
/// When a run moves that is sent elsewhere while its files are recorded or put back.
pub(crate) const ONCE_RECORDED: &str = "once the files are recorded";

/// When a run moves that is sent elsewhere while somebody works.
pub(crate) fn once_ended(attempt: AttemptId) -> String {
    format!("once {attempt} has ended")
}

fn go_asked(place: &Place, who: &str, note: &str) -> String {
    format!("{who} sends the run to `{place}` once no attempt is live there{}", saying(note))
}

fn edge_taken(edge: &EdgeTaken) -> String {
    let (from, to) = (edge.frame.place(&edge.from), edge.frame.place(&edge.to));
    let outcome = said::unless_complete(&edge.outcome);
    let by = match edge.by {
        Mover::Run => "",
        Mover::Person => " by a person",
    };
    match edge.to.as_str() {
        DONE if outcome.is_empty() => format!("`{from}` done, workflow complete{by}"),
        DONE => format!("`{from}` left, workflow ended{outcome}{by}"),
        HUMAN_INTERVENTION => format!("`{from}` left for a person{outcome}{by}"),
        _ => format!("`{from}` left for `{to}`{outcome}{by}"),
    }
}

/// What to type next for a run that no gate holds; none when nothing is to be done.
pub fn standing_next(state: &State, supervised: bool, run: &str) -> Option<String> {
    match (state.status(), supervised) {
        (Status::Waiting, false) if state.goes_on() => Some(format!("chronicle resume {run}")),
        (Status::Running | Status::Ending, false) | (Status::Paused, _) => {
            Some(format!("chronicle resume {run}"))
        }
        (Status::Running | Status::Ending, true) => Some(format!("chronicle log {run} --follow")),
        (Status::Waiting | Status::Done | Status::Cancelled | Status::Failed, _) => None,
    }
}

/// What is still done before a run that was paused, cancelled or has failed is at rest.
pub(crate) fn ending(state: &State, supervised: bool) -> Option<String> {
    if state.status() != Status::Ending {
        return None;
    }
    let what = match (&state.failed, &state.cancelled) {
        (Some(_), _) => "failed",
        (None, Some(_)) => "cancelled",
        (None, None) => "paused",
    };
    let cleanup = |chore: &Chore| chore.duty == Duty::Cleanup;
    let cleans = state.live_attempts().find(|it| it.intent.chore.as_ref().is_some_and(cleanup));
    let rest = match (cleans.map(|attempt| attempt.intent.shown_place()), supervised) {
        (Some(place), true) => format!("the cleanup of `{place}` is running"),
        (Some(place), false) => format!("the cleanup of `{place}` has still to run"),
        (None, true) => "what still works is being stopped and recorded".to_owned(),
        (None, false) => {
            "its supervisor ended before everything was stopped and recorded".to_owned()
        }
    };
    Some(format!("{what}: {rest}"))
}

/// The answer to an accepted leaving signal.
pub fn leaving(leave: &Leave) -> String {
    match leave.target.as_str() {
        DONE if leave.outcome.is_failure() => format!(
            "accepted: the workflow ends here, and has failed (`{}`). End your turn now.",
            leave.outcome
        ),
        DONE => "accepted: the work is done. End your turn now.".to_owned(),
        target => format!("accepted: leaving for `{target}`. End your turn now."),
    }
}

/// What a line of the ledger names that is not there.
pub fn impossible(anomaly: &Anomaly) -> String {
    let what = match &anomaly.what {
        Impossible::Attempt(id) => format!("attempt {id}, which is not known there"),
        Impossible::Frame(path) if path.is_root() => "a workflow that was not entered".to_owned(),
        Impossible::Frame(path) => {
            format!("the workflow in `{}`, which was not entered", path.as_str())
        }
        Impossible::Gate(id) => format!("gate {id}, which was not opened"),
        Impossible::Workflow(key) => {
            format!("workflow `{}`, which the run does not have", one_line(key))
        }
        Impossible::AnsweredGate(id) => format!("gate {id}, which was answered before"),
        Impossible::EndedAttempt(id) => format!("attempt {id}, which ended before"),
        Impossible::Wait(place) => format!("a wait at `{place}` that did not begin"),
        Impossible::Undo(_) => "an undo that did not begin".to_owned(),
        Impossible::Left(place) => format!("`{place}` as left, where the run was not"),
        Impossible::Pool(place) => format!("pool `{place}`, which was not entered"),
        Impossible::Step(place, step) => {
            format!("step `{}` of `{place}`, which it does not have", one_line(step.as_str()))
        }
        Impossible::Folder(number) => format!("work folder {number}, which the run does not have"),
        Impossible::Help(path) => format!("help in `{}` that no worker asked for", path.as_str()),
    };
    format!("line {} names {what}", anomaly.seq)
}

/// Why a run failed whose workflow came to its end.
pub(crate) fn ended_badly(root: &Frame) -> String {
    let (phase, outcome) = match &root.left {
        Some((phase, outcome)) => (phase.as_str(), outcome.as_str()),
        None => ("", ""),
    };
    format!("`{phase}` ended with `{outcome}`{}", saying(&root.summary))
}

/// How often, in words.
fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        many => format!("{many} times"),
    }
}

pub(crate) fn no_such_phase(place: &Place) -> String {
    format!("the workflow has no phase at `{place}`")
}

pub(crate) fn cannot_run(phase: &Phase) -> String {
    format!("`{}` is of a kind that cannot run here", phase.name)
}
