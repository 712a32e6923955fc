//! Words about attempts: what begins them, what they do, how they end.

use super::quote::{one_line, quote, saying, saying_both_ends};
use super::{chore, spent, thousands};
use crate::base::ids::AttemptId;
use crate::base::usage::Usage;
use crate::definition::workflow::Phase;
use crate::event::input::SaidBefore;
use crate::event::{
    AttemptEnded, AttemptStarted, Call, Change, Crash, CrashClass, End, StopCause, ToolCalled,
    Verdict, Why,
};
use crate::state::{Attempt, Frame, Stopping};

pub(super) fn reported(attempt: AttemptId, usage: &Usage) -> String {
    format!("{attempt} reported {}", spent(usage))
}

pub(super) fn ended_with(code: Option<i32>) -> String {
    match code {
        Some(0) => "succeeded".to_owned(),
        Some(code) => format!("failed with exit code {code}"),
        None => "was killed by a signal".to_owned(),
    }
}

pub(super) fn attempt_started(intent: &AttemptStarted) -> String {
    if let Some(chore) = &intent.chore {
        return chore::started(intent, chore);
    }
    let how = if intent.resume { "resumed" } else { "started" };
    let why = match &intent.why {
        Why::First => String::new(),
        Why::Nudge { number } => format!(": reminder {number}, no signal came"),
        Why::Again { number } => format!(": try {number} after it broke off"),
        Why::Retry { number } => format!(": fresh start {number}"),
        Why::Lost => ": the last attempt was lost".to_owned(),
        Why::SessionGone => ": its session is gone".to_owned(),
        Why::Paused => ": the run was paused".to_owned(),
        Why::Progressed => ": it had changed files".to_owned(),
        Why::Waited => ": the wait is over".to_owned(),
        Why::Raised => ": the budget allows it".to_owned(),
        Why::Rejected { note } => format!(": rejected{}", saying(note)),
        Why::Unverified { said, .. } => format!(": not verified{}", saying(said)),
        Why::Lacking { missing } => format!(": not shown by the record: {}", one_line(missing)),
        Why::Fallback { agent, .. } => format!(": takes over from `{}`", one_line(agent)),
        Why::Asked { note } => format!(": asked for{}", saying(note)),
        Why::Continued { point, .. } => format!(": continues{}", saying(point)),
        Why::Answered { gate } => format!(": {gate} was answered"),
        Why::Helps { asker } => format!(": helps `{asker}`"),
        Why::Helped { persona, .. } => format!(": `{persona}` has helped"),
    };
    let (attempt, agent) = (intent.attempt, agent_name(&intent.agent));
    let persona = intent.persona.as_ref().map_or_else(String::new, |name| format!(" as `{name}`"));
    format!("{attempt} {how} at `{}`{persona} ({agent}){why}", intent.place)
}

/// What a worker hears that calls a tool after it ended its part. Only one that has left its phase is told so.
pub(crate) fn no_more_tools(attempt: &Attempt) -> &'static str {
    if attempt.leave.is_some() {
        "the phase is being left: end your turn now"
    } else {
        "your last signal ends this turn: end it now"
    }
}

/// Why a tool may not run after the signal that ended the worker's part.
pub(crate) fn no_tool_runs(attempt: &Attempt) -> &'static str {
    if attempt.leave.is_some() {
        "the phase is being left, so no tool may run any more"
    } else {
        "its last signal ended its turn, so no tool may run any more"
    }
}

/// What a worker hears that may not run commands, and writes a file that runs them.
pub(crate) fn runs_at_start(path: &str) -> String {
    let path = one_line(path);
    format!(
        "this phase denies tools that run commands, and `{path}` can make a program run them at its next start"
    )
}

/// The command that a person wants to begin with.
pub(super) fn from_command(from: Option<u32>) -> String {
    from.map_or_else(String::new, |number| format!(", from command {number}"))
}

/// The kind of an agent, without its script or command line.
pub fn agent_name(agent: &str) -> &str {
    agent.split_once(':').map_or(agent, |(kind, _)| kind)
}

pub(super) fn tool_called(called: &ToolCalled) -> String {
    let ToolCalled { attempt, tool, input, .. } = called;
    match &called.verdict {
        Verdict::Denied(why) if called.unasked => {
            let given =
                if input.is_empty() { String::new() } else { format!(" {}", one_line(input)) };
            let how = why.strip_prefix(IT_RAN).unwrap_or(UNASKED);
            format!("{attempt} ran `{tool}`{given} {how}")
        }
        Verdict::Allowed if input.is_empty() => format!("{attempt} called `{tool}`"),
        Verdict::Allowed => format!("{attempt} called `{tool}` {}", one_line(input)),
        Verdict::Denied(why) => format!("{attempt} was denied `{tool}`: {why}"),
    }
}

/// How the verdict on a call begins that ran without leave.
const IT_RAN: &str = "it ran ";
const UNASKED: &str = "without asking for permission";

/// Why a call that ran had no leave to.
fn how_it_ran(said: SaidBefore) -> &'static str {
    match said {
        SaidBefore::Nothing => UNASKED,
        SaidBefore::Denied => "although it was denied",
        SaidBefore::Waits => "before a person had answered",
        SaidBefore::OfAnother => "otherwise than it was judged",
    }
}

/// The verdict on a call that ran without leave.
pub(crate) fn without_leave(said: SaidBefore) -> String {
    format!("{IT_RAN}{}", how_it_ran(said))
}

/// What an agent did that ran a tool without leave, and why that is not tolerated.
pub(crate) fn ran_unasked(call: &Call, said: SaidBefore, why: &str) -> String {
    format!("{IT_RAN}{} {}; {why}", shown_call(call), how_it_ran(said))
}

/// Why a call that ran without leave is not tolerated, whatever the rules say to it.
pub(crate) fn must_have_leave(said: SaidBefore) -> &'static str {
    match said {
        SaidBefore::Nothing | SaidBefore::OfAnother => {
            "every call of its agent has to be judged before it runs"
        }
        SaidBefore::Denied => "what is denied may not run",
        SaidBefore::Waits => "what needs a person's leave may not run without",
    }
}

/// A tool and what it is given, as far as it is known.
fn shown_call(call: &Call) -> String {
    match call.shown.as_str() {
        "" => format!("`{}`", one_line(&call.tool)),
        shown => format!("`{}` {}", one_line(&call.tool), one_line(shown)),
    }
}

/// Why a call did not run that the agent refused by itself: there is no such tool, its input does not fit, or its user's own settings
/// forbid it.
pub(crate) fn refused_itself(why: &str) -> String {
    format!("the agent itself refused it{}", saying(why))
}

pub(super) fn changed(change: Change) -> &'static str {
    match change {
        Change::Created => "created",
        Change::Changed => "changed",
        Change::Deleted => "deleted",
    }
}

pub(super) fn attempt_ended(ended: &AttemptEnded) -> String {
    let strays = match ended.strays {
        0 => String::new(),
        1 => "; 1 process that it left behind was killed".to_owned(),
        n => format!("; {n} processes that it left behind were killed"),
    };
    let puzzling = match ended.not_understood {
        0 => String::new(),
        1 => "; 1 line of its output was not understood".to_owned(),
        many => format!("; {} lines of its output were not understood", thousands(many)),
    };
    let remarks: Vec<String> =
        ended.remarks.iter().map(|it| format!("; {}", one_line(it))).collect();
    let remarks = remarks.concat();
    format!("{} {}{strays}{puzzling}{remarks}", ended.attempt, end(&ended.end))
}

/// How an attempt ended.
pub fn end(end: &End) -> String {
    match end {
        End::Left | End::BrokeOff => "ended".to_owned(),
        End::CommandsDone => "ran every command".to_owned(),
        End::CommandFailed { index } => format!("failed at command {}", index.saturating_add(1)),
        End::Crashed(crash) => crashed(crash),
        End::StoppedBy(cause) => format!("was stopped: {}", stop(*cause)),
        End::Stopped => "was stopped".to_owned(),
        End::Lost => "was lost with its supervisor or keeper".to_owned(),
        End::Unclear { why } => format!("may still run: {}", one_line(why)),
    }
}

/// How the words about an agent begin whose guard is not proven, and which has its handover by then.
pub const HAD_WORK: &str = "it had its handover already: ";

pub(super) fn crashed(crash: &Crash) -> String {
    let what = match crash.class {
        CrashClass::NoSignal => "finished without a leaving signal",
        CrashClass::Died => "died before its turn ended",
        CrashClass::CannotStart => "could not be started",
        CrashClass::SessionGone => "could not resume: its session is gone",
        CrashClass::Auth => "is not signed in",
        CrashClass::Quota => "has used up its quota",
        CrashClass::Overload => "found its model's service overloaded",
        // How Node says that a file is locked: of what an agent cannot reach for some seconds, the only one that is here.
        CrashClass::Unreachable if crash.text.contains("ELOCKED") => {
            "found a file of its own locked"
        }
        CrashClass::Unreachable => "could not reach its model's service",
        CrashClass::ContextFull => "ran out of context",
        CrashClass::Protocol => "broke the protocol",
        CrashClass::Refused => "failed in a way that a retry does not fix",
        CrashClass::Unguarded if crash.text.starts_with(HAD_WORK) => {
            "was stopped, since its guard is not proven"
        }
        CrashClass::Unguarded => "was given nothing to do, since its guard is not proven",
        CrashClass::Unjudged => "was stopped: a call ran without a verdict",
        CrashClass::Other => "reported an error",
    };
    let how = match (crash.signal, crash.code) {
        // A process that was killed by a signal has no exit code of its own.
        (Some(signal), _) => format!(" (signal {signal})"),
        (None, Some(code)) if code != 0 => format!(" (exit code {code})"),
        (None, _) => String::new(),
    };
    format!("{what}{how}{}", saying_both_ends(&crash.text))
}

pub(super) fn stop(cause: StopCause) -> &'static str {
    match cause {
        StopCause::Grace => "it kept working after its leaving signal",
        StopCause::Timeout => "it took longer than the phase allows",
        StopCause::Idle => "it printed nothing for too long",
        StopCause::Budget => "its budget allows no more work",
        StopCause::Repeats => "it repeated the same call without progress",
        StopCause::Standstill => "it made no progress",
        StopCause::Tool => "one of its tool calls took longer than the phase allows",
        StopCause::Unjudged => "a call ran without a verdict; `log --tools` shows it",
        StopCause::Asks => "it waits for an answer, and the supervisor is about to exit",
    }
}

/// What an attempt hears that goes on calling and signalling while it is being stopped.
pub(crate) fn stopping(why: Stopping) -> String {
    let why = match why {
        Stopping::Limit(cause) => format!("this attempt is being stopped: {}", stop(cause)),
        Stopping::Cancelled => "the run was cancelled".to_owned(),
        Stopping::Failed => "the run has failed".to_owned(),
        Stopping::Paused => "the run was paused".to_owned(),
        Stopping::Sent => "a person sent the run elsewhere".to_owned(),
    };
    format!("{why}. Nothing was done, and nothing more will be: end your turn now")
}

pub(crate) fn lost_too_often(phase: &Phase, frame: &Frame) -> String {
    let often = match phase.limits.losses {
        0 => String::new(),
        losses => format!(" more than {}", super::times(losses)),
    };
    let helps = match frame.helper() {
        Some(helper) => format!("the helper `{}` at ", one_line(&helper.persona)),
        None => String::new(),
    };
    format!("{helps}`{}` was lost{often} without progress", phase.name)
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

/// The run came back to a phase that may run only once.
pub(crate) fn once_ran(phase: &Phase) -> String {
    format!(
        "`{}` may run only once, and it ran before: {} without it, `retry` runs it again",
        phase.name,
        super::goes_on(phase)
    )
}

/// Names the command that is in doubt: those before it succeeded, and the person must find out about this one.
pub(crate) fn once_only(phase: &Phase, frame: &Frame) -> String {
    let index = frame.worker.counters.commands_done as usize;
    let (number, count) = (index + 1, phase.commands.len());
    // With a single command its number says nothing.
    let doubtful = phase.commands.get(index).filter(|_| count > 1);
    let what = match index {
        0 => "runs it again".to_owned(),
        1 => "runs it again and not the one before it, which ended well".to_owned(),
        before => format!("runs it again and not the {before} before it, which ended well"),
    };
    let past = match number {
        last if last == count => format!("{} if it did run", super::goes_on(phase)),
        _ => format!("`retry --from {}` goes on behind it if it did run", number + 1),
    };
    match doubtful {
        None => format!("`{}` may run only once, and it is unknown whether it did", phase.name),
        Some(command) => format!(
            "`{}` may run only once, and it is unknown whether command {number} of {count} did: {}. `retry` \
             {what}; {past}; `--from 1` begins anew",
            phase.name,
            quote(command),
        ),
    }
}
