//! Handovers: the text that opens an attempt, a pure function of the state at its start.
//!
//! A worker starts with nothing. The handover tells it why it was started, the task, its phase, what to do, how to leave, and
//! what is known so far. It is bounded (`fit.rs`): history is cut first, findings last, and what was cut is kept whole in a file
//! that the handover names. Handovers are stored beside the ledger (`record.rs`), so that they can be read later word for word.

mod fit;
mod leave;
mod parts;
mod record;
mod status;
mod template;
mod why;

use std::fmt::Write as _;

use crate::base::ids::RunId;
use crate::base::limits::{HANDOVER_MAX, bounded};
use crate::definition::workflow::{Phase, Text, Tools};
use crate::event::{OnGate, Why};
use crate::state::chain;
use crate::state::{Attempt, State};
use crate::words;

use fit::{Fitted, HandoverPart, Keeps, fit};
use leave::{as_before, way_out};

pub use parts::{told, wall_words};
pub(crate) use record::handed;
pub(crate) use status::for_worker;
pub(crate) use template::Stand;
pub use template::completion;

/// Longest instructions after expansion, in bytes.
const INSTRUCTIONS_MAX: usize = 256_000;
/// The part before which the notice about cut text is placed.
const WAY_OUT: &str = "When you are done";

/// A handover, and what did not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The text that opens its attempt.
    pub text: String,
    /// The cut parts, whole: content of the file that the text names.
    pub rest: Option<String>,
}

/// The handover of an attempt.
pub fn handover(state: &State, attempt: &Attempt) -> String {
    told_to(state, attempt).text
}

/// The handover of an attempt, and what did not fit.
pub fn told_to(state: &State, attempt: &Attempt) -> Told {
    let Some(run) = &state.run else { return Told { text: String::new(), rest: None } };
    let stand = Stand::of(state, attempt);
    let phase = state.phase_at(&attempt.intent.place);
    let (Some(stand), Some(phase)) = (stand, phase) else {
        // The frame of an attempt may be gone by the time that its handover is asked for again. The task is what is left to
        // say.
        return Told { text: bounded(&run.task, HANDOVER_MAX), rest: None };
    };
    let parts = match known_from(state, attempt) {
        Some(first) => news(state, attempt, phase, stand, first),
        None => parts(state, attempt, phase, stand, &run.task),
    };
    let name = |rest: &str| artifact(&run.run, rest);
    let Fitted { text, rest } = fit(parts, HANDOVER_MAX, WAY_OUT, name);
    Told { text, rest }
}

/// Path of the file for a body, relative to the project's folder.
pub fn artifact(run: &RunId, body: &str) -> String {
    artifact_at(run, &blake3::hash(body.as_bytes()).to_hex())
}

/// Path of the artifact with that sum.
pub fn artifact_at(run: &RunId, sum: &str) -> String {
    format!(".chronicle/runs/{run}/artifacts/{sum}")
}

/// Every part in order, with its minimum size and its rank for cutting.
fn parts(
    state: &State,
    attempt: &Attempt,
    phase: &Phase,
    stand: Stand<'_>,
    task: &str,
) -> Vec<HandoverPart> {
    // Of the run and not of the phase: the message greets the first worker, whichever phase that is in.
    let is_first = state.places.values().all(|tally| tally.departures == 0);
    let initial = stand.initial_message().filter(|_| is_first).unwrap_or_default();
    let why = parts::reasons(state, attempt, |why| why::why(why, state, attempt, stand));
    let newest = |title, entries, floor, rank| {
        HandoverPart::list(title, entries, Keeps::First, usize::MAX, floor, rank)
    };
    let mut parts = vec![
        HandoverPart::text("", initial, 2_000, 13),
        HandoverPart::text("Why you are here", why, 4_000, 19),
        HandoverPart::text(
            "What the worker before you said last",
            why::said_last(state, attempt),
            1_300,
            15,
        ),
        HandoverPart::text("Your help is asked for", parts::help(state, attempt), 8_000, 18),
        newest("Answers to your questions", parts::answers(state, attempt), 3_000, 17),
        newest("Notes from people", parts::notes(state, attempt), 4_000, 16),
        HandoverPart::text(
            "What the phase before asks of you",
            parts::task(state, attempt),
            3_000,
            11,
        ),
        HandoverPart::text("Your step", parts::step(state, attempt), 6_000, 16),
        HandoverPart::text("The race that you judge", parts::race(state, attempt), 12_000, 17),
        HandoverPart::text("The plan", parts::plan(state, attempt), 6_000, 16),
        HandoverPart::text("Task", task, 6_000, 9),
        HandoverPart::text("Your role", role(state, attempt, phase, stand), 3_000, 12),
        HandoverPart::text("Your phase", where_it_is(phase, state, stand, attempt), 2_000, 20),
        HandoverPart::text("Instructions", instructions(state, attempt, phase, stand), 8_000, 10),
        HandoverPart::text("Tools", tools(state, attempt, phase), 3_000, 14),
        HandoverPart::text("Walls", parts::walls(attempt), 1_500, 14),
        HandoverPart::text(WAY_OUT, way_out(state, attempt, phase, stand), 8_000, 21),
    ];
    parts.extend(parts::parts(state, attempt));
    parts
}

/// The attempt whose handover is already in this session; `None` if the text must be complete. A session in which nothing
/// happened may have been stopped before it got the text.
fn known_from<'s>(state: &'s State, attempt: &Attempt) -> Option<&'s Attempt> {
    let intent = &attempt.intent;
    // A session that continues in another phase knows nothing of this one, so it is told everything.
    if !intent.resume || intent.why == Why::First {
        return None;
    }
    let is_it = |it: &&Attempt| {
        let it = &it.intent;
        it.attempt < intent.attempt && it.session == intent.session && it.place == intent.place
    };
    let before = || state.attempts.iter().map(std::convert::AsRef::as_ref).filter(is_it);
    before().next().filter(|_| before().any(has_heard))
}

/// True if the worker has surely read its handover. A session that was named and killed before its first request exists, and has never
/// seen it.
fn has_heard(attempt: &Attempt) -> bool {
    attempt.usage.tokens() > 0 || attempt.tools > 0 || !attempt.said.is_empty()
}

/// What is new to a worker whose session continues, and where it finds the rest.
fn news(
    state: &State,
    attempt: &Attempt,
    phase: &Phase,
    stand: Stand<'_>,
    first: &Attempt,
) -> Vec<HandoverPart> {
    let why = parts::reasons(state, attempt, |why| why::why(why, state, attempt, stand));
    let newest = |title, entries, floor, rank| {
        HandoverPart::list(title, entries, Keeps::First, usize::MAX, floor, rank)
    };
    vec![
        HandoverPart::text("Why you are here", why, 4_000, 19),
        newest("Answers to your questions", parts::answers(state, attempt), 3_000, 17),
        newest("Notes from people", parts::notes(state, attempt), 4_000, 16),
        HandoverPart::text("Walls", parts::other_walls(state, attempt), 1_500, 14),
        HandoverPart::text(WAY_OUT, as_before(state, attempt, phase, first), 8_000, 21),
    ]
}

/// Who the worker is. Its persona is its system prompt; if it continues the session of another worker, it is repeated here.
fn role(state: &State, attempt: &Attempt, phase: &Phase, stand: Stand<'_>) -> String {
    let mut text = String::new();
    let persona = match &attempt.intent.persona {
        Some(name) => state.persona_called(name),
        None => state.persona_of(phase),
    };
    if let Some(persona) = persona {
        let about = persona.description.trim();
        let about = if about.is_empty() { String::new() } else { format!(": {about}") };
        let _ = write!(text, "You are `{}`{about}\n\n", persona.name);
        // A continued session keeps the system prompt that it was started with, so the persona of this phase has to be in the
        // text.
        if attempt.intent.resume && attempt.intent.why == Why::First {
            let _ = write!(text, "{}\n\n", persona.prompt.trim());
        }
    }
    text.push_str(&stand.text(Text::RoleInstruction).unwrap_or_default());
    text
}

fn where_it_is(phase: &Phase, state: &State, stand: Stand<'_>, attempt: &Attempt) -> String {
    let intent = &attempt.intent;
    let mut text = format!("`{}`: {}", intent.place, phase.name);
    if let Some(description) = &phase.description {
        let _ = write!(text, ". {description}");
    }
    let done: usize = state.places.values().map(|tally| tally.completed).sum();
    text.push('\n');
    if let Some((index, count, workflow)) = stand.progress() {
        let _ = write!(text, "Phase {index} of {count} in `{workflow}`. ");
    }
    let _ = writeln!(
        text,
        "Phases completed so far: {done}. You are {}, try {}.",
        intent.attempt, intent.try_number
    );
    text.push_str(&who_is_there(state, phase));
    for crumb in words::breadcrumbs_to(state, &intent.place) {
        let frame = crumb.frame.as_str();
        let within =
            if frame.is_empty() { "The way".to_owned() } else { format!("Within `{frame}`") };
        let _ = writeln!(text, "{within}: {}", crumb.text);
    }
    text
}

/// Who reads the worker's messages, and who can answer.
fn who_is_there(state: &State, phase: &Phase) -> String {
    let fails = state.run.as_ref().is_some_and(|run| run.on_gate == Some(OnGate::Fail));
    let mut text = "Nobody watches you work: only what you say by Chronicle's tools and what you change in files is \
        known to others."
        .to_owned();
    if phase.approval.is_after() {
        text.push_str(" A person reviews your work before the run continues.");
    }
    if fails {
        text.push_str(" No person is available: a question to a person ends the run.");
    }
    text.push('\n');
    text
}

/// Instructions of the phase; in a chain, without Chronicle's additions.
fn instructions(state: &State, attempt: &Attempt, phase: &Phase, stand: Stand<'_>) -> String {
    if phase.chained {
        let text = chain::instructions(state, &attempt.intent.place, phase);
        return bounded(&text, INSTRUCTIONS_MAX);
    }
    stand.instructions(INSTRUCTIONS_MAX)
}

fn tools(state: &State, attempt: &Attempt, phase: &Phase) -> String {
    let list = |names: &[String]| names.join(", ");
    let own = state.tools_for(&attempt.intent).map(|tools| match &*tools {
        Tools { allow: Some(allow), .. } => format!("You may use only: {}.", list(allow)),
        Tools { deny, .. } if deny.is_empty() => String::new(),
        Tools { deny, .. } => format!("You may not use: {}.", list(deny)),
    });
    let profiles = phase.available_profiles.as_deref().filter(|names| !names.is_empty());
    let profiles =
        profiles.map(|names| format!("\nProfiles for your own sub-agents: {}.", list(names)));
    format!("{}{}", own.unwrap_or_default(), profiles.unwrap_or_default())
}
