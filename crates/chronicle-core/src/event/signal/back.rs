//! `signal_back`: one flat object, and for each signal its own required fields.

use serde_json::Value;

use super::Signal;
use super::arguments::Arguments;
use crate::base::ids::Outcome;
use crate::base::quote::quoted;
use crate::definition::workflow::SIGNALS;
use crate::event::{Break, FollowUp, Question};

pub(super) fn signal_back(arguments: &Arguments<'_>) -> Result<Signal, String> {
    let known = SIGNALS.map(|signal| format!("`{signal}`")).join(", ");
    let signal = arguments.need(&["signal", "type"], &known)?;
    // Models write such names either way, and neither can be mistaken for another.
    match signal.replace('_', "-").as_str() {
        "complete" => complete(arguments, &signal),
        "partially-complete" => {
            let point = (&["continuationPoint", "continuation_point"][..], "where to go on");
            let fields = [(&["progress"][..], "what is done by now"), point];
            let [progress, point] = needed(arguments, &signal, fields, None)?;
            Ok(Signal::Break(Break::Continue { progress, point }))
        }
        "needs-user-input" => {
            let fields =
                [(&["question"][..], "what you want to know"), (&["context"][..], "why you ask")];
            let [question, context] = needed(arguments, &signal, fields, None)?;
            let options = arguments.options()?;
            Ok(Signal::Break(Break::Ask(Question { question, context, options, closed: false })))
        }
        "needs-role-followup" => {
            let fields = [
                (&["targetRole", "target_role", "persona"][..], "who is to help"),
                (&["reason"][..], "what for"),
                (&["context"][..], "what they must know"),
            ];
            let resume = resume(arguments);
            let lacks = resume.as_ref().err().cloned();
            let [persona, reason, context] = needed(arguments, &signal, fields, lacks)?;
            Ok(Signal::Break(Break::FollowUp(FollowUp {
                persona,
                reason,
                context,
                resume: resume?,
            })))
        }
        _ => Err(format!("`signal_back` takes the signals {known}, not `{}`", quoted(&signal))),
    }
}

/// Some workers send only `complete` and say in `operationStatus` how far they got.
fn complete(arguments: &Arguments<'_>, signal: &str) -> Result<Signal, String> {
    let summary = || {
        let [summary] =
            needed(arguments, signal, [(&["summary"][..], "what you did and found")], None)?;
        Ok::<_, String>(summary)
    };
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
        Some("blocked") => {
            let reason = (&["blockedReason", "blocked_reason"][..], "what keeps you from going on");
            let [question] = needed(arguments, "operationStatus: blocked", [reason], None)?;
            let context = arguments.text(&["summary"])?.unwrap_or_default();
            let (options, closed) = (Vec::new(), false);
            Ok(Signal::Break(Break::Ask(Question { question, options, context, closed })))
        }
        Some(other) => Err(format!(
            "`operationStatus` is `done`, `partial` or `blocked`, not `{}`",
            quoted(other)
        )),
    }
}

/// The names of a field, the usual one first, and what it says.
type Field<'a> = (&'a [&'a str], &'a str);

/// The texts of all these fields. What is missing is told at once, together with `lacks`: a worker that hears of one field at a
/// time needs a turn for each.
fn needed<const N: usize>(
    arguments: &Arguments<'_>,
    signal: &str,
    fields: [Field<'_>; N],
    lacks: Option<String>,
) -> Result<[String; N], String> {
    let mut texts = [const { String::new() }; N];
    // All that is missing at once: told one field at a time, a worker would need a call for each.
    let mut missing = Vec::new();
    for ((names, what), text) in fields.into_iter().zip(&mut texts) {
        match arguments.text(names)? {
            Some(said) => *text = said,
            None => missing.push(format!("`{}`: {what}", names.first().unwrap_or(&""))),
        }
    }
    missing.extend(lacks);
    if missing.is_empty() {
        return Ok(texts);
    }
    Err(format!("the signal `{signal}` needs {}", missing.join("; ")))
}

/// Whether the worker goes on after the help, or what is wrong with that field.
fn resume(arguments: &Arguments<'_>) -> Result<bool, String> {
    match arguments.value(&["resume"])? {
        Some(Value::Bool(resume)) => Ok(*resume),
        Some(Value::String(text)) if text == "true" => Ok(true),
        Some(Value::String(text)) if text == "false" => Ok(false),
        Some(_) | None => Err("`resume`: `true` if you are to go on afterwards, `false` if \
            nothing of yours is left to do"
            .to_owned()),
    }
}
