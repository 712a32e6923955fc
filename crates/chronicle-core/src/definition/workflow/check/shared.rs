//! Fields that workflows and phases share: limits and budgets.

use super::super::draft::{Field, Value};
use super::super::model::Budget;
use super::super::problem::Finding;
use super::fields::{Fields, zero};
use crate::base::limits::{Limits, LoopCount, LoopLimit, LoopProgress};

const MINUTE_MS: u64 = 60_000;
const LOOP_COUNTS: &[(&str, LoopCount)] = &[("pair", LoopCount::Pair), ("edge", LoopCount::Edge)];

/// Policies of loops, and whether they judge by resolved issues.
const LOOP_POLICIES: &[(&str, bool)] = &[("count", false), ("progress", true)];

/// All limits: those of the fields, otherwise the outer ones.
pub(crate) fn limits(fields: &mut Fields<'_, '_>, outer: &Limits) -> Limits {
    let minutes = fields.take("timeout_minutes");
    let minutes_ms = minutes.and_then(|_| fields.decimal("timeout_minutes", 3));
    let said = fields.within("limits", |fields| read(fields, outer));
    let (mut limits, timeout_said) = said.unwrap_or_else(|| (outer.clone(), false));
    if let (Some(minutes), true) = (minutes, timeout_said) {
        let message = "`timeout_minutes` and `limits.timeout` say the same";
        let finding = Finding::error("conflicting-fields", minutes.at, message);
        fields.problems.push(finding.hint("remove `timeout_minutes`"));
    }
    if let Some(thousandths) = minutes_ms {
        // Multiplied before it is divided, so that half a minute is not rounded to nothing.
        limits.timeout_ms = Some(thousandths.saturating_mul(MINUTE_MS) / 1_000);
        // A phase that sets a time of its own is timed, even if the workflow around it says `timeout: none`.
        limits.untimed = false;
    }
    limits
}

fn read(fields: &mut Fields<'_, '_>, outer: &Limits) -> (Limits, bool) {
    let timeout_said = fields.take("timeout").is_some();
    let timeout_ms = fields.duration_or_none("timeout", outer.timeout_ms);
    let limits = Limits {
        loops: read_loop(fields, outer.loops),
        retries: fields.count("retries").unwrap_or(outer.retries),
        nudges: fields.count("nudges").unwrap_or(outer.nudges),
        losses: fields.count("losses").unwrap_or(outer.losses),
        continuations: fields.count("continuations").unwrap_or(outer.continuations),
        depth: fields.count("depth").unwrap_or(outer.depth),
        followups: fields.count("followups").unwrap_or(outer.followups),
        waits: fields.count("waits").unwrap_or(outer.waits),
        repeats: fields.count("repeats").unwrap_or(outer.repeats),
        standstill_ms: fields.duration_or_none("standstill", outer.standstill_ms),
        grace_ms: fields.duration("grace").unwrap_or(outer.grace_ms),
        idle_ms: fields.duration_or_none("idle", outer.idle_ms),
        tool_ms: fields.duration_or_none("tool", outer.tool_ms),
        ask_ms: fields.duration_or_none("ask", outer.ask_ms),
        timeout_ms,
        // `none` is told from nothing said: commands have a limit of their own only where nothing was said.
        untimed: if timeout_said { timeout_ms.is_none() } else { outer.untimed },
    };
    (limits, timeout_said)
}

/// A number, `{count: pair|edge, max: N}`, or `{policy: progress, bounce: N, stagnation: N, cap: N}`.
fn read_loop(fields: &mut Fields<'_, '_>, outer: LoopLimit) -> LoopLimit {
    let Some(field) = fields.take("loop") else { return outer };
    match &field.value.value {
        Value::Scalar(text) => read_loop_max(fields, field, text, outer),
        Value::Map(_) => {
            let said = fields.map("loop", &field.value, |fields| read_loop_map(fields, outer));
            said.unwrap_or(outer)
        }
        Value::Null | Value::List(_) => {
            fields.wrong("loop", &field.value, "a whole number or `{count: edge, max: 3}`");
            outer
        }
    }
}

/// By count or by resolved issues. Fields of the other policy are reported, not ignored.
fn read_loop_map(fields: &mut Fields<'_, '_>, outer: LoopLimit) -> LoopLimit {
    let by_issues = fields.choice("policy", LOOP_POLICIES).unwrap_or(outer.progress.is_some());
    let (own, other): (&[&'static str], _) = if by_issues {
        (&["count", "max"], "progress")
    } else {
        (&["bounce", "stagnation", "cap"], "count")
    };
    for name in own {
        if let Some(field) = fields.take(name) {
            let message = format!("`{name}` means nothing with `policy: {other}`");
            fields.problems.push(Finding::error("conflicting-fields", field.at, message));
        }
    }
    let known = outer.progress.unwrap_or_default();
    let progress = LoopProgress {
        bounce: fields.positive("bounce").unwrap_or(known.bounce),
        stagnation: fields.positive("stagnation").unwrap_or(known.stagnation),
        cap: fields.positive("cap").unwrap_or(known.cap),
    };
    LoopLimit {
        count: fields.choice("count", LOOP_COUNTS).unwrap_or(outer.count),
        max: fields.positive("max").unwrap_or(outer.max),
        progress: by_issues.then_some(progress),
    }
}

fn read_loop_max(
    fields: &mut Fields<'_, '_>,
    field: &Field,
    text: &str,
    outer: LoopLimit,
) -> LoopLimit {
    match text.parse() {
        Ok(0) => fields.problems.push(zero("loop", field.value.span)),
        Ok(max) => return LoopLimit { max, progress: None, ..outer },
        Err(_) => fields.wrong("loop", &field.value, "a whole number"),
    }
    outer
}

/// What may be spent.
pub(crate) fn budget(fields: &mut Fields<'_, '_>) -> Option<Budget> {
    fields.within("budget", |fields| Budget {
        usd_micros: fields.decimal("usd", 6),
        tokens: fields.positive("tokens"),
        time_ms: fields.duration("time"),
        attempts: fields.positive("attempts"),
    })
}
