//! `signal_back`: one flat object, and for each signal its own required fields.

use serde_json::Value;

use super::Signal;
use super::arguments::Arguments;
use crate::base::ids::Outcome;
use crate::base::quote::quoted;
use crate::definition::workflow::SIGNALS;
use crate::event::{Break, FollowUp, Question};

pub(super) fn signal_back(arguments: &Arguments<'_>) -> Result<Signal, String> {
    let signal = signalled(arguments)?;
    Ok(match arguments.text(&["stepId", "step_id"])? {
        Some(step) => Signal::OfStep { step, signal: Box::new(signal) },
        None => signal,
    })
}

fn signalled(arguments: &Arguments<'_>) -> Result<Signal, String> {
    let known = SIGNALS.map(|signal| format!("`{signal}`")).join(", ");
    let signal = arguments.need(&["signal", "type"], &known)?;
    match signal.replace('_', "-").as_str() {
        "complete" => complete(arguments, &signal),
        "partially-complete" => Ok(Signal::Break(Break::Continue {
            progress: field(arguments, &signal, &["progress"], "what is done by now")?,
            point: field(
                arguments,
                &signal,
                &["continuationPoint", "continuation_point"],
                "where to go on",
            )?,
        })),
        "needs-user-input" => Ok(Signal::Break(Break::Ask(Question {
            question: field(arguments, &signal, &["question"], "what you want to know")?,
            context: field(arguments, &signal, &["context"], "why you ask")?,
            options: arguments.options()?,
            closed: false,
        }))),
        "needs-role-followup" => Ok(Signal::Break(Break::FollowUp(FollowUp {
            persona: field(
                arguments,
                &signal,
                &["targetRole", "target_role", "persona"],
                "who is to help",
            )?,
            reason: field(arguments, &signal, &["reason"], "what for")?,
            context: field(arguments, &signal, &["context"], "what they must know")?,
            resume: resume(arguments)?,
        }))),
        _ => Err(format!("`signal_back` takes the signals {known}, not `{}`", quoted(&signal))),
    }
}

/// Some workers send only `complete` and say in `operationStatus` how far they got.
fn complete(arguments: &Arguments<'_>, signal: &str) -> Result<Signal, String> {
    let summary = || field(arguments, signal, &["summary"], "what you did and found");
    let status = arguments.text(&["operationStatus", "operation_status"])?;
    match status.as_deref() {
        None | Some("done") => Ok(Signal::Leave {
            target: None,
            outcome: arguments.text(&["outcome"])?.map(Outcome::new),
            summary: summary()?,
            task: None,
            issues: arguments.issues()?,
        }),
        Some("partial") => {
            let point = arguments.text(&["continuationPoint", "continuation_point"])?;
            let point = point.unwrap_or_else(|| "What is left of it.".to_owned());
            Ok(Signal::Break(Break::Continue { progress: summary()?, point }))
        }
        Some("blocked") => Ok(Signal::Break(Break::Ask(Question {
            question: field(
                arguments,
                "operationStatus: blocked",
                &["blockedReason", "blocked_reason"],
                "what keeps you from going on",
            )?,
            context: arguments.text(&["summary"])?.unwrap_or_default(),
            options: Vec::new(),
            closed: false,
        }))),
        Some(other) => Err(format!(
            "`operationStatus` is `done`, `partial` or `blocked`, not `{}`",
            quoted(other)
        )),
    }
}

fn field(
    arguments: &Arguments<'_>,
    signal: &str,
    names: &[&str],
    what: &str,
) -> Result<String, String> {
    let name = names.first().copied().unwrap_or_default();
    arguments.text(names)?.ok_or_else(|| format!("the signal `{signal}` needs `{name}`: {what}"))
}

fn resume(arguments: &Arguments<'_>) -> Result<bool, String> {
    match arguments.value(&["resume"])? {
        Some(Value::Bool(resume)) => Ok(*resume),
        Some(Value::String(text)) if text == "true" => Ok(true),
        Some(Value::String(text)) if text == "false" => Ok(false),
        Some(_) | None => Err("the signal `needs-role-followup` needs `resume`: `true` if you \
            are to go on afterwards, `false` if nothing of yours is left to do"
            .to_owned()),
    }
}
