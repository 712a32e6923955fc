//! `chronicle status`: shows one run.

use chronicle_core::base::cells::pad;
use chronicle_core::base::usage::Usage;
use chronicle_core::definition::guard::BUILT_IN_NAME;
use chronicle_core::view::{
    ApartRow, AttemptRow, BudgetRow, GateRow, GuardFileRow, Mark, PhaseRow, RunView, Spent,
    WallsRow,
};
use chronicle_core::words;
use chronicle_runtime::handle::{self, Project, definitions};
use clap::Args;

use super::meant::{self, Meant};
use super::{Setting, gate, json, older, pool};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// Show the status of a run, and what to type next
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle status             the run that changed last
  chronicle status 5f3a9c1e    by the digits that `chronicle runs` shows")]
pub(super) struct StatusArgs {
    /// Id of the run; the one that changed last if omitted
    run: Option<String>,
}

pub(super) fn cmd_status(setting: &Setting, args: &StatusArgs) -> Result<Exit, Failure> {
    let folder = match meant::shown(setting, args.run.as_deref())? {
        Meant::Ours(folder) => folder,
        Meant::Older(older) => return older::status(setting, &older),
    };
    let (view, newer) = handle::view(&folder)?;
    if let Some(error) = newer {
        terminal::talk(&format!("Shown as far as it can be read: {error}"));
    }
    if setting.json {
        json::say_view(&view)?;
    } else {
        say(&view);
        warn_of_trees(&Project::at(&folder.project), view.supervised);
    }
    Ok(Exit::Done)
}

/// Recorded files grow with the project and its runs: people are told before the disk is full.
fn warn_of_trees(project: &Project, supervised: bool) {
    let limit = definitions::settings(project).settings.trees_warn_bytes();
    // A run at work may have recorded much since one last came to rest.
    let bytes = if supervised {
        handle::recorded_bytes(project)
    } else {
        handle::recorded_bytes_at_rest(project)
    };
    if let Some(bytes) = bytes.filter(|bytes| *bytes >= limit) {
        let text = words::bytes(bytes);
        terminal::talk(&format!(
            "Recorded files take {text}: `chronicle gc` frees what is no longer needed."
        ));
    }
}

/// Most gates that are shown with what answers them.
const GATES_MAX: usize = 12;

/// Cells of a phase's name in its row.
const PLACE: usize = 20;

/// What happens between attempts. It takes long in a large project, or if a large file changed.
pub(super) const RECORDING: &str = "recording the project's files";

/// The run, how it stands, and what it is about.
fn heading(paint: Paint, view: &RunView) -> Vec<String> {
    let head = format!(
        "{}  {}  {}: {}",
        paint.ink(Ink::Strong, &view.short),
        paint.standing(view.status),
        view.workflow,
        words::one_line(view.title.as_ref().unwrap_or(&view.task))
    );
    let mut lines = vec![head];
    if view.title.is_some() {
        lines.push(format!("  task: {}", words::one_line(&view.task)));
    }
    lines.extend(view.continues.as_ref().map(|file| {
        let file = words::one_line(file);
        format!("  continues a run of The Chronicle, whose file is left as it is: {file}")
    }));
    lines.push(String::new());
    lines
}

/// Prints a run for people.
pub(super) fn say(view: &RunView) {
    let paint = Paint::stdout();
    let mut lines = heading(paint, view);
    // Inside of workflows one wants to know first where that is.
    if view.breadcrumbs.len() > 1 {
        lines.push(format!("  {}", view.line));
    }
    for crumb in &view.breadcrumbs {
        let frame =
            if crumb.frame.is_empty() { String::new() } else { format!("{}: ", crumb.frame) };
        lines.push(format!("  {frame}{}", crumb.text));
    }
    lines.extend(stopped_line(paint, view));
    lines.push(String::new());
    let rows = view.phases.iter().filter(|phase| !pool::shows(view, phase));
    lines.extend(rows.map(|phase| phase_line(paint, phase)));
    lines.extend(pool::lines(paint, view));
    lines.extend(view.apart.as_ref().map(|apart| apart_line(paint, apart)));
    lines.extend(
        // Without a supervisor nothing works, whatever the ledger says last.
        view.working
            .iter()
            .filter(|row| view.supervised && !pool::works(view, row))
            .map(|row| working_line(paint, row)),
    );
    lines.extend(view.recording.then(|| format!("\n  {}", paint.ink(Ink::Busy, RECORDING))));
    lines.push(total(view));
    lines.extend(guards_line(paint, view));
    lines.extend(view.walls.as_ref().map(|walls| walls_line(paint, walls)));
    lines.extend(view.budgets.iter().map(budget_line));
    lines.extend(fallback_lines(paint, view));
    lines.extend(wait_lines(paint, view));
    let asked = view.needs_you.iter().take(GATES_MAX);
    lines.extend(asked.flat_map(|gate| gate_lines(paint, gate)));
    lines.extend(more_gates(paint, view));
    if let Some(on_gate) = view.on_gate {
        lines.push(String::new());
        lines.push(format!("  when a person is needed: {}", words::on_gate(on_gate)));
    }
    lines.extend(tree_lines(paint, view));
    if let Some(unproven) = &view.unproven {
        let sign = paint.ink(Ink::Bad, "guard not proven:");
        lines.push(format!("\n  {sign} {}", words::whole(&unproven.text)));
    }
    if let Some(why) = &view.untold {
        lines.push(String::new());
        lines.push(format!("  {} {why}", paint.ink(Ink::Bad, "people were not told:")));
    }
    if !view.unenforced.is_empty() {
        lines.push(String::new());
        let fields = view.unenforced.join("; ");
        lines.push(format!("  {} {fields}", paint.ink(Ink::Bad, "not enforced:")));
    }
    lines.extend(view.ending.as_ref().map(|it| format!("\n  {}", paint.ink(Ink::Busy, it))));
    if let Some(reason) = view.reason.as_ref().filter(|reason| !reason.trim().is_empty()) {
        lines.push(String::new());
        // Of a run that is not at rest yet, the line above says what it is.
        let what = if view.ending.is_some() { "reason" } else { view.status.as_str() };
        lines.push(format!("  {what}: {}", words::whole(reason)));
    }
    if let Some(completion) = &view.completion {
        lines.push(String::new());
        lines.extend(completion.lines().map(|line| format!("  {}", words::one_line(line))));
    }
    // Last, since that is where people look on a terminal.
    let (gates, others) = view.next.split_at(view.needs_you.len().min(view.next.len()));
    let shown = gates.iter().take(GATES_MAX).chain(others);
    lines.extend(shown.map(|next| format!("\n  Next: {next}")));
    terminal::say_wrapped(&lines.join("\n"));
}

/// The gates that are not shown: a pool can have many.
fn more_gates(paint: Paint, view: &RunView) -> Option<String> {
    let more = view.needs_you.len().checked_sub(GATES_MAX).filter(|more| *more > 0)?;
    let sign = paint.ink(Ink::Busy, "needs you");
    let run = &view.short;
    Some(format!("\n  {sign} {more} more times: `chronicle status {run} --json` lists them all"))
}

/// Where a run that works apart has its files, and what becomes of its work.
fn apart_line(paint: Paint, apart: &ApartRow) -> String {
    let path = apart.path.as_ref().map(|path| format!(" {}", words::one_line(path)));
    let state = if apart.half_merged {
        paint.ink(Ink::Bad, "its merge was interrupted: the project has some of its files")
    } else {
        paint.ink(Ink::Dim, &apart.state)
    };
    let kept = match apart.unrecorded.as_slice() {
        [] => String::new(),
        files => {
            format!("; has files that are not recorded: {}", words::one_line(&files.join(", ")))
        }
    };
    format!("\n  works apart:{} {state}{kept}", path.unwrap_or_default())
}

/// What a person is asked.
fn gate_lines(paint: Paint, gate: &GateRow) -> Vec<String> {
    let text =
        format!("{} at `{}`: {}", gate.gate, gate.place, words::about(gate.kind, &gate.about));
    let mut lines = vec![String::new(), format!("  {} {text}", paint.ink(Ink::Busy, "needs you"))];
    lines.extend(gate::lines(gate).into_iter().map(|line| format!("      {line}")));
    lines
}

/// A supervisor that a signal has stopped.
fn stopped_line(paint: Paint, view: &RunView) -> Option<String> {
    let sign = paint.ink(Ink::Bad, "supervisor stopped:");
    let pid = view.stopped?;
    Some(format!(
        "\n  {sign} process {pid} was stopped by a signal and answers nobody; after Ctrl-Z, type `fg` in its terminal"
    ))
}

/// What is wrong with the project's files, or with their record.
fn tree_lines(paint: Paint, view: &RunView) -> impl Iterator<Item = String> {
    let half = view.half_undone.as_ref().map(|what| {
        let sign = paint.ink(Ink::Bad, "interrupted undo:");
        format!("\n  {sign} of `{what}`; some files are restored and others are not")
    });
    let missed = view
        .no_trees
        .as_ref()
        .map(|why| format!("\n  {} {}", paint.ink(Ink::Bad, "no trees:"), words::one_line(why)));
    let forbidden = view.forbidden.iter().map(move |row| {
        let sign = paint.ink(Ink::Bad, "forbidden change:");
        let (path, rule) = (words::one_line(&row.path), words::one_line(&row.rule));
        let who = if row.origin_unknown {
            format!("while {} worked, somebody changed `{path}`", row.attempt)
        } else {
            format!("{} changed `{path}`", row.attempt)
        };
        format!("\n  {sign} {who} against {rule}; `{}` takes it back", row.next)
    });
    half.into_iter().chain(missed).chain(forbidden)
}

/// Who works in whose place, and why.
fn fallback_lines(paint: Paint, view: &RunView) -> impl Iterator<Item = String> {
    view.fallbacks.iter().map(move |row| {
        let sign = paint.ink(Ink::Busy, "fallback at");
        format!("\n  {sign} `{}`: {}", row.place, words::whole(&row.text))
    })
}

/// What it waits for that comes by itself.
fn wait_lines(paint: Paint, view: &RunView) -> Vec<String> {
    let busy = |word: &str| paint.ink(Ink::Busy, word);
    let files = view.waits_for.iter().map(|run| {
        format!("\n  {} run {run}, which works on the project's files", busy("waits for"))
    });
    let waits = view.waits.iter();
    let waits =
        waits.map(|wait| format!("\n  {} `{}`: {}", busy("waits at"), wait.place, wait.text));
    files.chain(waits).collect()
}

fn phase_line(paint: Paint, phase: &PhaseRow) -> String {
    let sign = match phase.mark {
        Mark::Done => paint.ink(Ink::Good, "✓"),
        Mark::Failed => paint.ink(Ink::Bad, "✗"),
        Mark::Skipped => paint.ink(Ink::Dim, "-"),
        Mark::Current => paint.ink(Ink::Busy, "●"),
        Mark::Stopped => paint.ink(Ink::Bad, "×"),
        Mark::ForPerson => paint.ink(Ink::Busy, "?"),
        Mark::Pending => paint.ink(Ink::Dim, "·"),
    };
    let said = words::one_line(&phase.summary);
    let indent = "  ".repeat(phase.place.as_str().matches('/').count() + 1);
    let said = if said.is_empty() { String::new() } else { format!("\n{indent}    {said}") };
    let uncleaned = phase.uncleaned.as_ref().map_or_else(String::new, |why| {
        format!("\n{indent}    {} {}", paint.ink(Ink::Bad, "cleanup:"), words::one_line(why))
    });
    let said = said + &uncleaned;
    // Nobody has worked there: it was not reached, waits to begin, or is a workflow with phases of its own.
    if phase.attempts == 0 {
        let inner = phase.workflow.as_ref().map_or_else(String::new, |name| {
            format!(" {}", paint.ink(Ink::Dim, &words::one_line(name)))
        });
        let place = phase.place.as_str();
        // As in a run that another program began.
        if phase.mark == Mark::ForPerson {
            let left = paint.ink(Ink::Dim, "left for a person");
            return format!("{indent}{sign} {} {left}{said}", pad(place, PLACE));
        }
        return if inner.is_empty() {
            format!("{indent}{sign} {place}{said}")
        } else {
            format!("{indent}{sign} {}{inner}{said}", pad(place, PLACE))
        };
    }
    let facts = facts(phase.attempts, &phase.spent, phase.active_ms);
    let facts = files(phase).map_or(facts.clone(), |files| format!("{facts}, {files}"));
    let left = if phase.mark == Mark::ForPerson { ", left for a person" } else { "" };
    let facts = facts + left;
    let place = pad(phase.place.as_str(), PLACE);
    format!("{indent}{sign} {place} {}{said}", paint.ink(Ink::Dim, &facts))
}

/// Who works now, for how long, and how busily.
fn working_line(paint: Paint, row: &AttemptRow) -> String {
    let what = match (row.stopping, row.asks, &row.room) {
        (true, ..) => "is being stopped",
        (false, true, _) => "waits for an answer",
        (false, false, Some(room)) => room,
        (false, false, None) => "is working",
    };
    let tools = match row.tools {
        1 => "1 tool call".to_owned(),
        many => format!("{many} tool calls"),
    };
    format!(
        "\n  {} ({}) {} at `{}`: {}, {tools}",
        row.attempt,
        words::one_line(&row.agent),
        paint.ink(Ink::Busy, what),
        row.place,
        words::duration(row.active_ms)
    )
}

/// `3 files +10 -2`; of very many, at least so many.
fn files(phase: &PhaseRow) -> Option<String> {
    let count = phase.files.len() as u64;
    let more = if phase.more_files { "over " } else { "" };
    let changed = words::lines_changed(&words::files(count), phase.added, phase.removed);
    (count > 0).then(|| format!("{more}{changed}"))
}

fn total(view: &RunView) -> String {
    if view.attempts == 0 {
        return "\n  no attempts".to_owned();
    }
    let facts = facts(view.attempts, &view.spent, view.active_ms);
    let of_work = if view.active_ms > 0 { " of work" } else { "" };
    format!("\n  {facts}{of_work}")
}

/// How many rules guard its workers' calls.
fn guards_line(paint: Paint, view: &RunView) -> Option<String> {
    let guards = view.guards.as_ref()?;
    if guards.rules == 0 {
        let none = "no rules: the built-in ones are turned off in your settings";
        return Some(format!("  {} {none}", paint.ink(Ink::Bad, "guards:")));
    }
    let file = |it: &GuardFileRow| match it.file.as_str() {
        BUILT_IN_NAME => format!("{} built in", it.rules),
        file => format!("{} of {}", it.rules, words::one_line(file)),
    };
    let files: Vec<String> = guards.files.iter().filter(|it| it.rules > 0).map(file).collect();
    let many = if guards.rules == 1 { "rule" } else { "rules" };
    Some(format!("  guards: {} {many} ({})", guards.rules, files.join(", ")))
}

/// Which walls stand around its workers, and how often they held somebody.
fn walls_line(paint: Paint, walls: &WallsRow) -> String {
    let is_bad = !walls.namespaces && !walls.landlock;
    let label = if is_bad { paint.ink(Ink::Bad, "walls:") } else { "walls:".to_owned() };
    let hits = match walls.hits {
        0 => String::new(),
        1 => ", which stopped a worker once".to_owned(),
        many => format!(", which stopped workers {many} times"),
    };
    format!("  {label} {}{hits}", walls.text)
}

fn budget_line(row: &BudgetRow) -> String {
    let whose = row
        .place
        .as_ref()
        .map_or_else(String::new, |place| format!(" of {}", words::budget_owner(place)));
    format!("  budget{whose}: {}", row.text)
}

/// What a command phase spends is time alone.
fn facts(attempts: usize, cost: &Spent, active_ms: u64) -> String {
    let attempts =
        if attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
    let cost = (cost.tokens > 0).then(|| spent(cost));
    // Time is counted when an attempt reports or ends. Of one that was killed before that, nothing is known.
    let time = (active_ms > 0).then(|| words::duration(active_ms));
    let parts = std::iter::once(attempts).chain(cost).chain(time);
    parts.collect::<Vec<_>>().join(", ")
}

/// Tokens and dollars, with "about" or "at least" where the price is not exact.
pub(super) fn spent(spent: &Spent) -> String {
    words::spent(&Usage {
        input: spent.tokens,
        usd_micros: spent.usd_micros,
        unpriced: !spent.priced,
        estimated: spent.estimated,
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_nobody_counted_is_not_shown() {
        let none = Spent { tokens: 0, usd_micros: 0, priced: true, estimated: false };
        assert_eq!(facts(1, &none, 0), "1 attempt");
        assert_eq!(facts(2, &none, 1_500), "2 attempts, 1.5 s");
    }
}
