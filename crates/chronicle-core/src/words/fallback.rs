//! Words about agents that take over from others.

use super::quote::one_line;
use super::{end, gate, times};
use crate::definition::workflow::Phase;
use crate::event::fallback::FellBack;
use crate::event::{CrashClass, End};
use crate::state::{Fallback, Frame};

pub(super) fn fell_back(fell: &FellBack) -> String {
    let FellBack { place, attempt, from, to, said } = fell;
    let (from, to) = (one_line(from), one_line(to));
    format!("`{place}` falls back to `{to}`: {attempt} with `{from}` {said}")
}

/// Who works in whose place, and why.
pub fn fallback(of: &Fallback) -> String {
    let fallen: Vec<String> = of
        .fallen
        .iter()
        .map(|fallen| format!("`{}`, which {}", one_line(&fallen.agent), fallen.said))
        .collect();
    format!("`{}` instead of {}", one_line(&of.agent), fallen.join(", and "))
}

/// Why a person is needed: how the last attempt ended, and with several agents how each of them did.
pub(crate) fn given_up(phase: &Phase, frame: &Frame, end_of: &End, said: &str) -> String {
    let waited = waited(frame, end_of) + no_verdict(phase, frame, end_of);
    let Some(fallback) = &frame.worker.fallback else {
        return gate::needs_person(phase, frame, end_of, &waited, said);
    };
    let helps = match frame.helper() {
        Some(_) => format!("{}: ", gate::last_attempt(frame)),
        None => String::new(),
    };
    let shown = gate::shown(phase, frame);
    format!("`{shown}` cannot continue: {helps}{}{waited}", each(fallback, end_of))
}

/// Where a verdict decides, what is missing has a name. A helper has none to give.
fn no_verdict(phase: &Phase, frame: &Frame, end_of: &End) -> &'static str {
    let is_silent = matches!(end_of, End::Crashed(crash) if crash.class == CrashClass::NoSignal);
    if is_silent && phase.asks_verdict() && frame.helper().is_none() {
        ", and no verdict was given"
    } else {
        ""
    }
}

/// How the last attempt ended, and with several agents how each of them did.
pub(crate) fn ended(frame: &Frame, end_of: &End) -> String {
    frame.worker.fallback.as_ref().map_or_else(|| end(end_of), |it| each(it, end_of))
}

/// How often it waited for what did not come.
fn waited(frame: &Frame, end_of: &End) -> String {
    let End::Crashed(crash) = end_of else { return String::new() };
    let waits = frame.worker.counters.waits;
    let classes = [CrashClass::Quota, CrashClass::Overload, CrashClass::Unreachable];
    if waits == 0 || !classes.contains(&crash.class) {
        return String::new();
    }
    format!(", after it waited {}, which is the limit", times(waits))
}

fn each(fallback: &Fallback, end_of: &End) -> String {
    let before = fallback.fallen.iter().map(|fallen| (&fallen.agent, fallen.said.clone()));
    let all = before.chain([(&fallback.agent, end(end_of))]);
    let all: Vec<String> =
        all.map(|(agent, said)| format!("`{}` {said}", one_line(agent))).collect();
    all.join("; then ")
}
