//! Words about attempts: what begins them, what they do, how they end.

use super::{chore, end, one_line, saying, spent, thousands};
use crate::base::ids::AttemptId;
use crate::base::usage::Usage;
use crate::event::{AttemptEnded, AttemptStarted, Change, ToolCalled, Verdict, Why};

pub(super) fn reported(attempt: AttemptId, usage: &Usage) -> String {
    format!("{attempt} reported {}", spent(usage))
}

pub(super) fn ended_with(code: Option<i32>) -> String {
    match code {
        Some(0) => "ended well".to_owned(),
        Some(code) => format!("failed with exit code {code}"),
        None => "was ended by a signal".to_owned(),
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
        Why::Retry { number } => format!(": fresh start {number}"),
        Why::Lost => ": the last attempt was lost".to_owned(),
        Why::SessionGone => ": its session is gone".to_owned(),
        Why::Paused => ": the run was paused".to_owned(),
        Why::Progressed => ": it had changed files".to_owned(),
        Why::Waited => ": it has waited".to_owned(),
        Why::Raised => ": there is more to spend".to_owned(),
        Why::Rejected { note } => format!(": rejected{}", saying(note)),
        Why::Unverified { said, .. } => format!(": not verified{}", saying(said)),
        Why::Lacking { missing } => format!(": not shown by the record: {}", one_line(missing)),
        Why::Asked { note } => format!(": asked for{}", saying(note)),
        Why::Continued { point, .. } => format!(": goes on{}", saying(point)),
        Why::Answered { gate } => format!(": {gate} was answered"),
        Why::Helps { asker } => format!(": helps `{asker}`"),
        Why::Helped { persona, .. } => format!(": `{persona}` has helped"),
    };
    let (attempt, agent) = (intent.attempt, agent_name(&intent.agent));
    let persona = intent.persona.as_ref().map_or_else(String::new, |name| format!(" as `{name}`"));
    format!("{attempt} {how} at `{}`{persona} ({agent}){why}", intent.place)
}

/// The kind of an agent, without its script or command line.
pub fn agent_name(agent: &str) -> &str {
    agent.split_once(':').map_or(agent, |(kind, _)| kind)
}

pub(super) fn tool_called(called: &ToolCalled) -> String {
    let ToolCalled { attempt, tool, input, .. } = called;
    match &called.verdict {
        Verdict::Allowed if input.is_empty() => format!("{attempt} called `{tool}`"),
        Verdict::Allowed => format!("{attempt} called `{tool}` {}", one_line(input)),
        Verdict::Denied(why) => format!("{attempt} was denied `{tool}`: {why}"),
    }
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
        1 => "; 1 process that it left behind was ended".to_owned(),
        n => format!("; {n} processes that it left behind were ended"),
    };
    let puzzling = match ended.not_understood {
        0 => String::new(),
        1 => "; 1 line of it meant nothing".to_owned(),
        many => format!("; {} lines of it meant nothing", thousands(many)),
    };
    format!("{} {}{strays}{puzzling}", ended.attempt, end(&ended.end))
}
