//! How a worker leaves its phase, as its handover says it: where it may go, what it must show, and which other signals there are.

use std::fmt::Write as _;

use super::artifact_at;
use super::template::Stand;
use crate::base::ids::{DONE, HUMAN_INTERVENTION, Outcome, PhaseId, Place};
use crate::base::quote::list;
use crate::definition::workflow::{CHANGED_FILES, Phase, Text, allowed_targets};
use crate::state::{Attempt, Pool, State};
use crate::words;

/// Outcomes that a worker cannot send.
const NOT_SAID: [&str; 5] = ["crash", "stuck", "timeout", "rejected", "conflict"];

/// The way out of a worker whose session knows its handover.
pub(super) fn as_before(
    state: &State,
    attempt: &Attempt,
    phase: &Phase,
    first: &Attempt,
) -> String {
    let sum = first.intent.handover.as_ref().map(|handed| handed.text.as_str());
    let whole = state.run.as_ref().zip(sum).map_or_else(String::new, |(run, sum)| {
        format!(" Your first handover is in the file `{}`.", artifact_at(&run.run, sum))
    });
    let leave = if attempt.intent.persona.is_some() {
        "Call the tool `signal_back` with `signal: complete` and a `summary`".to_owned()
    } else if judged(state, attempt).is_some() {
        "Call the tool `workflow_transition` with `outcome` (whose work you choose) and a `summary`"
            .to_owned()
    } else {
        let targets = allowed_targets(phase);
        let names: Vec<String> = targets.iter().map(|target| format!("`{target}`")).collect();
        let outcome = if phase.asks_verdict() { ", `outcome` (your verdict)" } else { "" };
        format!(
            "Call the tool `workflow_transition` with `target_state` ({}){outcome} and a `summary`",
            list(&names, ", ")
        )
    };
    format!(
        "{leave}, then end your turn.{}\nWhat you were told before holds: task, instructions and tools. \
         `workflow_status` tells them again.{whole}",
        shown_as(attempt)
    )
}

/// The race that the worker judges.
fn judged<'s>(state: &'s State, attempt: &Attempt) -> Option<(&'s Place, &'s Pool)> {
    state.judged_by(state.frames.get(&attempt.intent.place.frame())?)
}

/// How an agent displays Chronicle's tools, if it renames them.
fn shown_as(attempt: &Attempt) -> &'static str {
    // Claude Code prefixes tools of a server with its name. A worker that is told the bare name may look for it in vain.
    if attempt.intent.agent == "claude" {
        " In your list of tools the names of Chronicle's begin with `mcp__chronicle__`: `mcp__chronicle__workflow_transition`."
    } else {
        ""
    }
}

/// How to leave, and which other signals there are.
pub(super) fn way_out(state: &State, attempt: &Attempt, phase: &Phase, stand: Stand<'_>) -> String {
    if attempt.intent.persona.is_some() {
        let ours = shown_as(attempt);
        return format!(
            "Call the tool `signal_back` with `signal: complete` and a `summary` of what you did and \
             found; then end your turn. You may also say `partially-complete`, `needs-user-input` or \
             `needs-role-followup`.{ours}"
        );
    }
    if let Some((_, pool)) = judged(state, attempt) {
        let reminder = stand.text(Text::AdvanceReminder).unwrap_or_default();
        let (leaves, ours) = (words::judge_leaves(pool), shown_as(attempt));
        return format!("{leaves}{ours}\n{}{}\n\n{reminder}", demands(phase), beside(phase));
    }
    let targets = allowed_targets(phase);
    let names: Vec<String> = targets.iter().map(|target| format!("`{target}`")).collect();
    let reminder = stand.text(Text::AdvanceReminder).unwrap_or_default();
    format!(
        "Call the tool `workflow_transition` with `target_state` and a `summary`: what you did and \
         decided, what you found, which files you changed, what is open. Then end your turn. \
         Ending your turn without it does not end the phase.\n\
         You may go to: {}. For example: {}.{}\n\
         {}{}{}{}\n\n{reminder}",
        list(&names, ", "),
        example(phase, &targets),
        shown_as(attempt),
        demands(phase),
        outcomes(phase),
        over(state, attempt) + &issues(state, attempt, phase),
        beside(phase),
    )
}

/// A call that this phase accepts. Where a verdict decides, one for each: an example of a yes alone would suggest it.
fn example(phase: &Phase, targets: &[PhaseId]) -> String {
    let call = |target: &str, outcome: &str| {
        format!("`workflow_transition(target_state: \"{target}\", {outcome}summary: …)`")
    };
    let first = targets.first().map_or(DONE, |target| target.as_str());
    if !phase.asks_verdict() {
        return call(first, "");
    }
    let way = |outcome: &str| phase.on.get(&Outcome::from(outcome)).map(PhaseId::as_str);
    let pass = call(way("pass").unwrap_or(first), "outcome: \"pass\", ");
    // A no without an edge of its own may lead anywhere but where a pass leads.
    let elsewhere = || targets.iter().map(PhaseId::as_str).find(|it| Some(*it) != way("pass"));
    let no = way("fail").or_else(elsewhere).unwrap_or(HUMAN_INTERVENTION);
    let fail = call(no, "outcome: \"fail\", ");
    format!("{pass}, or {fail}")
}

/// What the record must show before the worker may leave.
fn demands(phase: &Phase) -> String {
    let said = phase.requires.iter().map(|wanted| match wanted.as_str() {
        CHANGED_FILES => "that files changed".to_owned(),
        command => format!("that `{command}` was run and succeeded"),
    });
    let said: Vec<String> = said.collect();
    if said.is_empty() {
        return String::new();
    }
    format!("Before that, the record must show: {}. Your word is not enough.\n", list(&said, "; "))
}

/// Outcomes that the worker may use, if they lead somewhere.
fn outcomes(phase: &Phase) -> String {
    let mut text = String::new();
    // Chronicle itself leaves with these. A worker that claimed one would be refused.
    let is_said = |outcome: &&Outcome| !NOT_SAID.contains(&outcome.as_str());
    let on = phase.on.iter().filter(|(outcome, _)| is_said(outcome));
    let ways: Vec<String> =
        on.map(|(outcome, target)| format!("`{outcome}` leads to `{target}`")).collect();
    if !ways.is_empty() {
        let _ = writeln!(text, "Say with `outcome` how it went: {}.", list(&ways, ", "));
    }
    let own: Vec<String> = phase.outcomes.iter().map(|outcome| format!("`{outcome}`")).collect();
    if !own.is_empty() {
        let _ = writeln!(text, "Outcomes of this phase: {}.", list(&own, ", "));
    }
    if phase.shows_verdict {
        text.push_str(
            "A person decides after you: end your summary with the line `Verdict: APPROVE` or \
             `Verdict: BLOCK`.\n",
        );
    } else if phase.asks_verdict() {
        text.push_str(
            "A verdict is asked for: give `outcome`, or end your summary with the line \
             `Verdict: PASS` or `Verdict: FAIL`.\n",
        );
    }
    text
}

/// How to start the workflow over, if that is allowed.
fn over(state: &State, attempt: &Attempt) -> String {
    let frame = state.frames.get(&attempt.intent.place.frame());
    let workflow = frame.and_then(|frame| state.workflow(&frame.workflow));
    workflow.filter(|workflow| workflow.loopable).map_or_else(String::new, |workflow| {
        format!(
            "`workflow_step` with `action: loop` starts the workflow over, at `{}`.\n",
            workflow.initial
        )
    })
}

/// If loops are judged by issues: how to name issues, and which are open.
fn issues(state: &State, attempt: &Attempt, phase: &Phase) -> String {
    if phase.limits.loops.progress.is_none() {
        return String::new();
    }
    let frame = state.frames.get(&attempt.intent.place.frame());
    let open = frame.into_iter().flat_map(|frame| &frame.rounds.issues);
    let open: Vec<String> = open.map(|issue| format!("\"{}\"", words::one_line(issue))).collect();
    let known = match open.as_slice() {
        [] => String::new(),
        open => format!(" Open are: {}.", list(open, ", ")),
    };
    format!(
        "Name the issues that you found with `issues_opened`, and those that are settled with \
         `issues_resolved`: the run goes round only as long as that changes.{known}\n"
    )
}

/// Signals other than leaving.
fn beside(phase: &Phase) -> String {
    let plain = |name: &str| name.trim().to_lowercase().replace('_', "-");
    let may = |signal: &str| {
        phase.signals.as_ref().is_none_or(|list| list.iter().any(|it| plain(it) == signal))
    };
    let mut text =
        "Beside that: `workflow_update_snapshot` keeps what later phases must know".to_owned();
    if may("needs-user-input") {
        text.push_str("; `workflow_ask` asks a person and waits");
    }
    if may("partially-complete") {
        text.push_str(
            "; `signal_back` with `partially-complete` lets somebody fresh go on when your \
             context is used up",
        );
    }
    if may("needs-role-followup") && phase.followups.as_ref().is_none_or(|all| !all.is_empty()) {
        text.push_str("; `signal_back` with `needs-role-followup` asks another persona for help");
        if let Some(names) = &phase.followups {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let _ = write!(text, " ({})", list(&names, ", "));
        }
    }
    text.push_str("; `workflow_status` tells where you are.");
    text
}
