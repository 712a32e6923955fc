//! Words about agents that take over from others.

use super::quote::one_line;
use super::{end, gate};
use crate::definition::workflow::Phase;
use crate::event::End;
use crate::event::fallback::FellBack;
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
    let Some(fallback) = &frame.worker.fallback else {
        return gate::needs_person(phase, end_of, said);
    };
    format!("`{}` cannot continue: {}", phase.name, each(fallback, end_of))
}

/// How the last attempt ended, and with several agents how each of them did.
pub(crate) fn ended(frame: &Frame, end_of: &End) -> String {
    frame.worker.fallback.as_ref().map_or_else(|| end(end_of), |it| each(it, end_of))
}

fn each(fallback: &Fallback, end_of: &End) -> String {
    let before = fallback.fallen.iter().map(|fallen| (&fallen.agent, fallen.said.clone()));
    let all = before.chain([(&fallback.agent, end(end_of))]);
    let all: Vec<String> =
        all.map(|(agent, said)| format!("`{}` {said}", one_line(agent))).collect();
    all.join("; then ")
}
