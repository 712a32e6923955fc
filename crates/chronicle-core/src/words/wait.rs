//! Words about waits that end by themselves, and about work that does not come to an end.

use super::gate::with_agent;
use super::{one_line, saying};
use crate::definition::workflow::Phase;
use crate::event::wait::{WaitBegan, WaitEnded, WaitKind};
use crate::state::{Progress, Repeat};

/// What a worker hears that makes the same call again and again.
pub(crate) const REPEATED: &str =
    "you repeated this call too often without progress, so a person is asked. End your turn now.";

/// What is waited for, and until when.
pub(crate) fn wait(began: &WaitBegan) -> String {
    let what = match began.wait_kind {
        WaitKind::Quota => "a new quota",
        WaitKind::Retry => "another try",
    };
    let again = match began.number {
        0 | 1 => String::new(),
        number => format!(", wait {number}"),
    };
    format!("{what} at {}{again}", began.until)
}

pub(super) fn began(began: &WaitBegan) -> String {
    format!("`{}` waits for {}", began.place, self::wait(began))
}

pub(super) fn ended(ended: &WaitEnded) -> String {
    let place = &ended.place;
    match &ended.who {
        None => format!("the wait at `{place}` is over"),
        Some(who) => {
            let with = with_agent(ended.agent.as_deref());
            format!("the wait at `{place}` was cut short{with} by {who}{}", saying(&ended.note))
        }
    }
}

/// Why a worker was ended that turned in a circle, with the call.
pub(crate) fn repeated(phase: &Phase, call: Option<&Repeat>) -> String {
    let Some(Repeat { tool, input, count, .. }) = call else {
        return format!("`{}` is looping", phase.name);
    };
    let (tool, input) = (one_line(tool), one_line(input));
    let input = if input.is_empty() { String::new() } else { format!(" {input}") };
    format!(
        "`{}` is looping: `{tool}`{input} was asked for {} without progress, and the limit is {}",
        phase.name,
        super::times(*count),
        phase.limits.repeats
    )
}

/// Why a worker was ended of whose work nothing came, with the call that it made most.
pub(crate) fn stands_still(phase: &Phase, still_ms: u64, call: Option<&Repeat>) -> String {
    let most = call.filter(|call| call.count > 1).map_or_else(String::new, |call| {
        let (times, input) = (call.count, one_line(&call.input));
        let input = if input.is_empty() { String::new() } else { format!(" {input}") };
        format!("; its most frequent call was `{}`{input}, {times} times", one_line(&call.tool))
    });
    format!(
        "`{}` makes no progress: it worked for {} without a changed file, a signal or a note{most}",
        phase.name,
        super::duration(still_ms)
    )
}

/// Why a worker was ended that always has something new and does not leave.
pub(crate) fn never_leaves(phase: &Phase, progress: &Progress) -> String {
    format!(
        "`{}` does not leave: it worked for {} in this visit, and its new results counted as progress {}, which is the limit",
        phase.name,
        super::duration(progress.worked_ms),
        super::times(progress.counted)
    )
}
