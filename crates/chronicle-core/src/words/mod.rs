//! Every word that people read about a run, a file per concern. `sentence.rs` has the list of events, and does not compile while
//! one lacks its sentence.

mod attempt;
mod chore;
mod files;
mod notice;
mod position;
mod quote;
mod said;
mod sentence;
mod spent;
mod wait;

use crate::base::ids::{AttemptId, DONE, HUMAN_INTERVENTION, Outcome, PhaseId, Place};
use crate::base::limits::LoopCount;
use crate::base::quote::{list, plain};
use crate::base::usage::Usage;
use crate::definition::workflow::Phase;
use crate::event::claims::Claim;
use crate::event::{
    Crash, CrashClass, EdgeTaken, End, GateAnswer, GateKind, GateOpened, Leave, Mover, StopCause,
};
use crate::state::{Anomaly, Did, Frame, Impossible, State, Status};

pub use attempt::agent_name;
pub use chore::performer;
pub(crate) use chore::{stays_unverified, unverified};
pub use files::{bytes, changes, files, lines_changed};
pub(crate) use notice::{failed as notice_failed, text as notice_text};
pub use position::{Breadcrumb, Mark};
pub(crate) use position::{breadcrumbs, mark, status_line};
pub use quote::{about, one_line, plain_line, whole};
use quote::{because, code, quote, saying};
pub use said::on_gate;
pub(crate) use said::{
    CANCEL_AGAIN, CANCELLED, accepted, breaking_off, by_hand, carried, continued_too_often,
    nobody_stays, out_of_context, partial, parting, snapshot_kept, too_deep, worker_cancelled,
};
pub use sentence::sentence;
pub(crate) use spent::{balance, no_such_limit, raised, short};
pub(crate) use wait::{REPEATED, repeated, stands_still, wait};

/// A run that goes round without anybody working.
pub const TURNS_WITHOUT_WORK: &str = "the workflow goes round without anybody working";
/// When a run moves that is sent elsewhere while its files are recorded or put back.
pub(crate) const ONCE_RECORDED: &str = "once the files are recorded";

/// When a run moves that is sent elsewhere while somebody works.
pub(crate) fn once_ended(attempt: AttemptId) -> String {
    format!("once {attempt} has ended")
}

fn go_asked(place: &Place, who: &str, note: &str) -> String {
    format!("{who} sends the run to `{place}`, once nobody works there{}", saying(note))
}

fn edge_taken(edge: &EdgeTaken) -> String {
    let (from, to) = (edge.frame.place(&edge.from), edge.frame.place(&edge.to));
    let outcome = said::unless_complete(&edge.outcome);
    let by = match edge.by {
        Mover::Run => "",
        Mover::Person => " by a person's word",
    };
    match edge.to.as_str() {
        DONE => format!("`{from}` left, nothing follows{outcome}{by}"),
        HUMAN_INTERVENTION => format!("`{from}` left for a person{outcome}{by}"),
        _ => format!("`{from}` left for `{to}`{outcome}{by}"),
    }
}

/// How an attempt ended.
pub fn end(end: &End) -> String {
    match end {
        End::Left | End::BrokeOff => "ended".to_owned(),
        End::CommandsDone => "ran every command".to_owned(),
        End::CommandFailed { index } => format!("failed at command {}", index.saturating_add(1)),
        End::Crashed(crash) => crashed(crash),
        End::StoppedBy(cause) => format!("was ended: {}", stop(*cause)),
        End::Stopped => "was stopped".to_owned(),
        End::Lost => "was lost with its supervisor or keeper".to_owned(),
        End::Unclear { why } => format!("may still run: {}", one_line(why)),
    }
}

fn crashed(crash: &Crash) -> String {
    let what = match crash.class {
        CrashClass::NoSignal => "finished without a leaving signal",
        CrashClass::Died => "died before its turn ended",
        CrashClass::CannotStart => "could not be started",
        CrashClass::SessionGone => "could not resume: its session is gone",
        CrashClass::Auth => "is not signed in",
        CrashClass::Quota => "has used up its quota",
        CrashClass::Overload => "found no room at its model's service",
        CrashClass::ContextFull => "ran out of context",
        CrashClass::Protocol => "broke the protocol",
        CrashClass::Other => "reported an error",
    };
    let how = match (crash.signal, crash.code) {
        (Some(signal), _) => format!(" (signal {signal})"),
        (None, Some(code)) if code != 0 => format!(" (exit code {code})"),
        (None, _) => String::new(),
    };
    format!("{what}{how}{}", saying(&crash.text))
}

fn stop(cause: StopCause) -> &'static str {
    match cause {
        StopCause::Grace => "it went on after its leaving signal",
        StopCause::Timeout => "it took longer than the phase allows",
        StopCause::Idle => "nothing was heard of it for too long",
        StopCause::Budget => "it used up a budget",
        StopCause::Repeats => "it made the same call again and again",
        StopCause::Standstill => "it worked on, and nothing came of it",
        StopCause::Asks => "it waits for an answer, and nobody stays for that",
    }
}

fn gate_opened(gate: &GateOpened) -> String {
    let kind = match gate.gate_kind {
        GateKind::ApprovalBefore | GateKind::ApprovalAfter => "approval",
        GateKind::Intervention => "intervention",
        GateKind::Question => "an answer",
        GateKind::Budget => "a budget",
    };
    format!("{} waits at `{}` for {kind}: {}", gate.gate, gate.place, gate.about)
}

fn with_agent(agent: Option<&str>) -> String {
    agent.map_or_else(String::new, |agent| format!(" (with {})", agent_name(agent)))
}

fn answered(answer: &GateAnswer) -> String {
    match answer {
        GateAnswer::Approved => "approved".to_owned(),
        GateAnswer::Rejected => "rejected".to_owned(),
        GateAnswer::Retry => "answered with `retry`".to_owned(),
        GateAnswer::Go(to) => format!("answered with `go {to}`"),
        GateAnswer::Raised => "answered with `budget`".to_owned(),
        GateAnswer::Skip => "answered with `skip`".to_owned(),
        GateAnswer::Said(text) => format!("answered {}", quote(text)),
    }
}

/// What a person did at a gate, as a worker is told it later.
pub(crate) fn did(did: &Did) -> String {
    match did {
        Did::Noted => "noted".to_owned(),
        Did::Answered { answer, about } => did_at_gate(answer, about),
    }
}

fn did_at_gate(answer: &GateAnswer, about: &str) -> String {
    match answer {
        GateAnswer::Approved => "approved".to_owned(),
        GateAnswer::Rejected => "rejected".to_owned(),
        GateAnswer::Retry => "asked for another try".to_owned(),
        GateAnswer::Go(to) => format!("sent the run to `{to}`"),
        GateAnswer::Skip => "went on without it".to_owned(),
        GateAnswer::Raised => "raised the budget".to_owned(),
        GateAnswer::Said(_) => format!("answered {}", quote(about)),
    }
}

/// What to type next at a gate.
pub fn gate_next(gate: &GateOpened, run: &str) -> String {
    let id = gate.gate;
    match gate.gate_kind {
        GateKind::ApprovalBefore | GateKind::ApprovalAfter => {
            format!("chronicle approve {run} {id}  (or: chronicle reject {run} {id} \"why\")")
        }
        GateKind::Budget => {
            format!("{}  (or: chronicle cancel {run})", spent::next(gate, run))
        }
        GateKind::Question if gate.options.is_empty() => {
            format!("chronicle answer {run} {id} \"your answer\"")
        }
        // By its number: what an agent wrote is not to be pasted into a shell.
        GateKind::Question => {
            format!("chronicle answer {run} {id} 1  (or: any text; {})", choices(gate))
        }
        // The worker asked for a person: there is no phase to try again.
        GateKind::Intervention if gate.place.phase().as_str() == HUMAN_INTERVENTION => {
            format!("chronicle go {run} {}  (or: chronicle cancel {run})", some_phase(gate))
        }
        GateKind::Intervention => format!(
            "chronicle retry {run} {}  (or: chronicle skip {run}, chronicle go {run} {}, chronicle cancel {run})",
            gate.place,
            some_phase(gate)
        ),
    }
}

fn choices(gate: &GateOpened) -> String {
    let options = (1..).zip(&gate.options);
    let options = options.map(|(number, option)| format!("{number} = {}", one_line(option)));
    options.collect::<Vec<_>>().join(", ")
}

fn some_phase(gate: &GateOpened) -> Place {
    gate.place.frame().place(&PhaseId::from("PHASE"))
}

/// A run's status in a word, knowing whether a supervisor lives.
/// One that would go on by itself needs a supervisor for that.
pub fn standing(state: &State, supervised: bool) -> &'static str {
    match (state.status(), supervised) {
        (Status::Waiting, false) if state.goes_on() => "interrupted",
        // What is given up is never called anything else, also while the last of it is being ended or put away.
        (Status::Running, true) if state.is_given_up() => "ending",
        (Status::Running, false) if state.cancelled.is_some() => "cancelled",
        (Status::Running, false) if state.failed.is_some() => "failed",
        (Status::Running, true) => "running",
        (Status::Running, false) => "interrupted",
        (Status::Waiting, _) => "waiting",
        (Status::Paused, _) => "paused",
        (Status::Done, _) => "done",
        (Status::Cancelled, _) => "cancelled",
        (Status::Failed, _) => "failed",
    }
}

/// Where a run stands, as it is shown: what was given up and waits only to be put away is not called running.
pub(crate) fn shown_status(state: &State, supervised: bool) -> Status {
    let status = state.status();
    if status != Status::Running || supervised {
        return status;
    }
    let cancelled = state.cancelled.as_ref().map(|_| Status::Cancelled);
    cancelled.or_else(|| state.failed.as_ref().map(|_| Status::Failed)).unwrap_or(status)
}

/// What to type next for a run that no gate holds; none when nothing is to be done.
pub fn standing_next(state: &State, supervised: bool, run: &str) -> Option<String> {
    match (state.status(), supervised) {
        (Status::Waiting, false) if state.goes_on() => Some(format!("chronicle resume {run}")),
        (Status::Running, false) | (Status::Paused, _) => Some(format!("chronicle resume {run}")),
        (Status::Running, true) => Some(format!("chronicle log {run} --follow")),
        (Status::Waiting | Status::Done | Status::Cancelled | Status::Failed, _) => None,
    }
}

/// The answer to an accepted leaving signal.
pub fn leaving(leave: &Leave) -> String {
    match leave.target.as_str() {
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
        Impossible::Help(path) => format!("help in `{}` that nobody asked for", path.as_str()),
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

/// Why a frame bound for `human_intervention` waits.
pub(crate) fn worker_asked(summary: &str) -> String {
    format!("the worker asks for a person{}", saying(summary))
}

pub(crate) fn no_such_phase(place: &Place) -> String {
    format!("the workflow has no phase at `{place}`")
}

pub(crate) fn may_begin(phase: &Phase) -> String {
    format!("may `{}` begin?", phase.name)
}

pub(crate) fn may_leave(phase: &Phase, outcome: &Outcome, summary: &str) -> String {
    let said =
        if summary.trim().is_empty() { String::new() } else { format!(" {}", quote(summary)) };
    format!("is `{}` done?{}{said}", phase.name, said::unless_complete(outcome))
}

/// Why a worker may not leave yet.
pub(crate) fn not_proven(phase: &Phase, missing: &[String]) -> String {
    format!(
        "`{}` cannot be left yet: it demands {}, which the record does not show. Do it, then send \
         the signal again; if it cannot be done, leave with the outcome `fail`, or ask a person",
        phase.id,
        list(missing, ", ")
    )
}

/// Why a person is asked about a worker that does not do what its phase demands.
pub(crate) fn never_proven(phase: &Phase, missing: &[String]) -> String {
    format!("`{}` was left without what it demands: {}", phase.name, list(missing, ", "))
}

/// What a worker said and the record does not show; empty when that is nothing.
pub(crate) fn unproven(claims: &[Claim]) -> String {
    let said: Vec<String> = claims.iter().map(claim).collect();
    if said.is_empty() { String::new() } else { format!("not proven: {}", list(&said, "; ")) }
}

fn claim(claim: &Claim) -> String {
    match claim {
        Claim::Changed(path) => format!("that `{path}` was changed"),
        Claim::Ran(command) => format!("that `{command}` was run"),
        Claim::Passed(command) => format!("that `{command}` ended well"),
        Claim::TestsPass => "that tests pass".to_owned(),
    }
}

pub(crate) fn cannot_run(phase: &Phase) -> String {
    format!("`{}` is of a kind that cannot run here", phase.name)
}

pub(crate) fn once_only(phase: &Phase) -> String {
    format!("`{}` may run only once, and nobody saw whether it did", phase.name)
}

pub(crate) fn lost_too_often(phase: &Phase) -> String {
    format!("`{}` was lost more than {} times without progress", phase.name, phase.limits.losses)
}

pub(crate) fn rejected_before(note: &str) -> String {
    format!("a person said no{}", saying(note))
}

pub(crate) fn needs_person(phase: &Phase, end_of: &End) -> String {
    format!("`{}` cannot go on: the last attempt {}", phase.name, end(end_of))
}

/// Which command of a phase failed, with the end of what it printed.
pub(crate) fn command_failed(phase: &Phase, failed: Option<&(u32, String)>) -> String {
    let Some((index, output)) = failed else { return format!("`{}` failed", phase.name) };
    let command = usize::try_from(*index).ok().and_then(|index| phase.commands.get(index));
    let command = one_line(command.map_or("", String::as_str));
    match output.trim() {
        "" => format!("`{command}` failed"),
        output => format!("`{command}` failed: {output}"),
    }
}

pub(crate) fn looping(from: &PhaseId, to: &PhaseId, taken: u32, count: LoopCount) -> String {
    match count {
        _ if from == to => format!("`{from}` was begun anew {taken} times, as often as allowed"),
        LoopCount::Pair => format!(
            "`{from}` and `{to}` were left for each other {taken} times, as often as allowed"
        ),
        LoopCount::Edge => {
            format!("`{from}` was left for `{to}` {taken} times, as often as allowed")
        }
    }
}

/// `1 token`, `1,200 tokens`.
pub fn tokens(count: u64) -> String {
    if count == 1 { "1 token".to_owned() } else { format!("{} tokens", thousands(count)) }
}

/// Tokens and dollars; a price that is not known is said, never taken as zero.
pub fn spent(usage: &Usage) -> String {
    let tokens = tokens(usage.tokens());
    let dollars = usd(usage.usd_micros);
    match (usage.unpriced, usage.usd_micros) {
        (false, 0) => tokens,
        (false, _) if usage.estimated => format!("{tokens}, about {dollars}"),
        (false, _) => format!("{tokens}, {dollars}"),
        (true, 0) => format!("{tokens}, cost unknown"),
        (true, _) => format!("{tokens}, at least {dollars}"),
    }
}

/// `$1.25`; small sums with as many digits as they need.
pub fn usd(micros: u64) -> String {
    match micros {
        0 => "$0.00".to_owned(),
        1..10_000 => format!("${}.{:06}", micros / 1_000_000, micros % 1_000_000),
        _ => {
            let cents = micros.saturating_add(5_000) / 10_000;
            format!("${}.{:02}", cents / 100, cents % 100)
        }
    }
}

/// `12,345`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `850 ms`, `4.2 s`, `3 min 20 s`, `2 h 05 min`.
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds}.{} s", ms % 1_000 / 100),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
    }
}
