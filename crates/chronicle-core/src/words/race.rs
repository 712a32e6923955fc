//! Words about races: who takes part, what each made, who was taken and why.

use std::fmt::Write as _;

use super::quote::{because, saying};
use super::trees::changes;
use super::usage::spent;
use crate::base::ids::{FolderId, Place, StepId};
use crate::base::quote::{cited, line, list};
use crate::base::usage::Usage;
use crate::definition::workflow::{Phase, Racer};
use crate::event::End;
use crate::event::pool::{RaceDecided, RaceJudge};
use crate::state::{Frame, Pool, PoolStep, State, StepStage};

/// How much of what a racer or a judge says is shown to whoever chooses: 16 racers must fit beside each other.
const SAID_MAX: usize = 1_000;

pub(super) fn decided(decided: &RaceDecided) -> String {
    let RaceDecided { place, winner, by, why } = decided;
    let Some(winner) = winner else {
        return format!("{} takes no result of `{place}`{}", judge(by), saying(why));
    };
    let winner = place.of_step(winner);
    match by {
        RaceJudge::Person(_) | RaceJudge::Phase(_) => {
            format!("`{winner}` wins, as {} says{}", judge(by), saying(why))
        }
        RaceJudge::Commands => format!("`{winner}` wins: it is the first that passes"),
        RaceJudge::Alone => format!("`{winner}` wins: it is the only one that finished"),
    }
}

fn judge(by: &RaceJudge) -> String {
    match by {
        RaceJudge::Person(who) => who.clone(),
        RaceJudge::Phase(phase) => format!("`{phase}`"),
        RaceJudge::Commands => "the commands".to_owned(),
        RaceJudge::Alone => "nobody".to_owned(),
    }
}

/// Who decided, in a few words.
pub(crate) fn decided_by(by: &RaceJudge) -> String {
    match by {
        RaceJudge::Alone => "the only one that finished".to_owned(),
        RaceJudge::Person(_) | RaceJudge::Phase(_) | RaceJudge::Commands => {
            format!("taken by {}", judge(by))
        }
    }
}

/// With what a racer works, where it is not as the phase says.
pub(crate) fn racer_name(phase: &Phase, racer: &Racer) -> Option<String> {
    let agent = racer.agent.as_ref().or(phase.agent.as_ref());
    let model = racer.model.as_ref().or(phase.model.as_ref());
    let thinking = racer.thinking.as_ref().map(|level| format!("thinking {level}"));
    let is_name = |text: &&String| !text.trim().contains(char::is_whitespace);
    let persona = racer.persona.as_ref().filter(is_name).map(|name| format!("as {name}"));
    let said = agent.cloned().into_iter().chain(model.cloned()).chain(thinking).chain(persona);
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// Commands that could not judge a racer to the end: the next one has its turn.
pub(crate) fn not_judged(frame: &Frame, end: &End) -> String {
    format!("the judge did not finish, and so it does not pass: {}", super::ended(frame, end))
}

/// The question whose work is taken.
pub(crate) fn race_asks(place: &Place) -> String {
    format!("whose work does `{place}` take? `none` takes nobody's")
}

/// Why a person chooses where somebody else was to, and what each racer made: for whoever chooses.
pub(crate) fn racers(state: &State, place: &Place, phase: &Phase, pool: &Pool) -> String {
    let told = pool.steps.iter().flat_map(|step| racer(state, place, step));
    why_person(phase, pool).into_iter().chain(told).collect::<Vec<_>>().join("\n")
}

/// Why nobody was chosen by those who were to do it.
fn why_person(phase: &Phase, pool: &Pool) -> Option<String> {
    match (pool.decided(), pool.race.as_ref().and_then(|race| race.said.as_ref())) {
        (Some(_), _) => Some("the one that was taken could not be merged".to_owned()),
        (None, Some(said)) => {
            let why = line(said.summary.trim(), SAID_MAX);
            let why = if why.is_empty() { why } else { format!(": \"{why}\"") };
            Some(format!("`{}` chose none{why}", said.by))
        }
        (None, None) => {
            let is_commands = phase.judge.as_ref().is_some_and(|it| it.commands().is_some());
            is_commands.then(|| "the commands of the judge pass for none".to_owned())
        }
    }
}

/// What can be compared on one line, and what it says on another: people choose by that, so it is not cut as a quotation is.
fn racer(state: &State, place: &Place, step: &PoolStep) -> Vec<String> {
    let why = if let StepStage::Failed(why) = &step.stage { Some(why) } else { None };
    let said = line(why.unwrap_or(&step.summary).trim(), SAID_MAX);
    let facts = format!("{}: {}", step.id, facts(state, place, step));
    let says = (!said.is_empty()).then(|| format!("{} says: {said}", step.id));
    [Some(facts), says].into_iter().flatten().collect()
}

/// With what it worked, what it changed, what it cost, and where it is.
fn facts(state: &State, place: &Place, step: &PoolStep) -> String {
    let became = match &step.stage {
        StepStage::Failed(_) => Some("failed".to_owned()),
        StepStage::Dropped => Some("given up".to_owned()),
        StepStage::Skipped => Some("skipped".to_owned()),
        StepStage::Pending
        | StepStage::Making
        | StepStage::Working
        | StepStage::Finished
        | StepStage::Judging
        | StepStage::Merging(_)
        | StepStage::Done
        | StepStage::Lost => {
            let fails = step.passed == Some(false);
            fails.then(|| format!("does not pass{}", because(&super::one_line(&step.verdict))))
        }
    };
    let changed = state.raced(place, &step.id).map_or_else(|| "no changes".to_owned(), changes);
    let folder = folder_path(state, step).map(|path| format!("in `{path}`"));
    let cost = spent(&cost(state, place, step));
    let all = [step.item.name.clone(), became, Some(changed), Some(cost), folder];
    let known: Vec<String> = all.into_iter().flatten().collect();
    known.join(", ")
}

/// What all attempts of a racer spent.
fn cost(state: &State, place: &Place, step: &PoolStep) -> Usage {
    let path = place.step_frame(&step.id);
    let inside = state.places.iter().filter(|(place, _)| place.frame().is_within(&path));
    inside.fold(Usage::default(), |usage, (_, tally)| usage.plus(&tally.usage))
}

fn folder_path<'s>(state: &'s State, step: &PoolStep) -> Option<&'s str> {
    let number = step.folder.and_then(FolderId::number)?;
    state.works.get(&number)?.path.as_deref()
}

/// What the worker that judges is told of those whose work it may choose.
pub(crate) fn race_told(state: &State, place: &Place, pool: &Pool) -> String {
    let mut text = format!(
        "Several workers did the same at `{place}`, each in a copy of the project. You choose one of them: its work is merged into the \
         project, and that of the others is not. You can read their folders, and change nothing there. They may have failed, or say \
         more than they did: look at the files, and compare."
    );
    for step in pool.finishers() {
        let _ = write!(text, "\n\n`{}`: {}", step.id, facts(state, place, step));
        if !step.summary.trim().is_empty() {
            let _ = write!(text, "\n\n{}", cited(step.summary.trim(), ""));
        }
    }
    let others = pool.steps.iter().filter(|step| step.stage != StepStage::Finished);
    for step in others {
        let _ = write!(text, "\n\n`{}` did not finish and cannot be chosen.", step.id);
    }
    text
}

fn choices(pool: &Pool) -> String {
    let ids: Vec<String> = pool.finishers().map(|step| format!("`{}`", step.id)).collect();
    list(&ids, ", ")
}

/// How the worker that judges leaves.
pub(crate) fn judge_leaves(pool: &Pool) -> String {
    let first = pool.finishers().next().map_or("", |step| step.id.as_str());
    format!(
        "Call the tool `workflow_transition` with `target_state: \"done\"`, with `outcome`, which names the one that you choose ({}), and \
         with a `summary` that says why. For example: `workflow_transition(target_state: \"done\", outcome: \"{first}\", summary: …)`. If none of them will do, say `outcome: \"fail\"`: then a \
         person chooses. Then end your turn. Ending your turn without it does not end the phase.",
        choices(pool)
    )
}

/// What a worker is told that judges and names nobody who can be chosen.
pub(crate) fn judge_names(pool: &Pool) -> String {
    format!(
        "you judge a race: say with `outcome` whose work is taken, one of {}, or `outcome: fail` if none of it will do",
        choices(pool)
    )
}

/// Why a racer cannot be changed any more.
pub(crate) fn race_is_decided(place: &Place, winner: &StepId, step: &StepId) -> String {
    let (step, winner) = (place.of_step(step), place.of_step(winner));
    format!(
        "`{winner}` was taken, so `{step}` is out of the race: `cancel {winner}` lets another one be chosen as long as it is not \
         merged, and `go {place}` begins the race again"
    )
}

/// The summary of a race that somebody won.
pub(crate) fn race_done(pool: &Pool) -> String {
    let Some(winner) = pool.winner() else { return String::new() };
    let said = super::one_line(winner.summary.trim());
    let of = pool.steps.len();
    if said.is_empty() {
        format!("`{}` won, of {of}", winner.id)
    } else {
        format!("`{}` won, of {of}: {said}", winner.id)
    }
}
