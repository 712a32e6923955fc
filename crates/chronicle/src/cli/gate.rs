//! What a person is shown of a gate before they answer: why it is asked, what may be answered, what a yes would run, and what
//! was changed.

use chronicle_core::event::trees::{Changes, FileChange};
use chronicle_core::event::{Change, GateKind, has_numbers};
use chronicle_core::view::{CallRow, GateRow};
use chronicle_core::words;

/// Most commands and files that are shown; the rest is counted.
const SHOWN_MAX: usize = 10;

/// Everything about a gate that its first line does not say.
pub(super) fn lines(gate: &GateRow) -> Vec<String> {
    let mut lines: Vec<String> = context(gate);
    lines.extend(gate.call.iter().flat_map(call));
    let is_numbered = has_numbers(&gate.options);
    lines.extend((1..).zip(&gate.options).map(|(number, option)| {
        let option = words::one_line(option);
        // A number that would be taken for another option is not offered.
        if is_numbered { format!("{number}  {option}") } else { format!("-  {option}") }
    }));
    lines.extend(gate.needs.clone());
    // Shown before the files: commands are what a yes sets going.
    lines.extend(commands(&gate.commands));
    if let Some(changes) = &gate.changes {
        lines.extend(changed(changes, gate.see.as_deref()));
    }
    lines
}

/// Why it is asked. What can be chosen among, and files in conflict, are shown line by line; a worker's question is one quotation.
fn context(gate: &GateRow) -> Vec<String> {
    let is_choice =
        gate.kind == GateKind::Conflict || gate.closed && gate.kind == GateKind::Question;
    let told: Vec<String> = if is_choice {
        gate.context.lines().map(words::whole).collect()
    } else {
        vec![words::about(gate.kind, &gate.context)]
    };
    told.into_iter().filter(|text| !text.is_empty()).collect()
}

/// The whole call: what is said yes to must be seen, in as many lines as it has.
fn call(call: &CallRow) -> Vec<String> {
    let text = call.command.as_deref().unwrap_or(&call.input);
    let mut lines = vec![format!("`{}` would get:", words::plain_line(&call.tool))];
    lines.extend(text.lines().map(|line| format!("  {}", words::plain_line(line))));
    if call.command_cut {
        lines.push("  … and more: the command is longer than what is kept of it".to_owned());
    }
    lines
}

fn commands(commands: &[String]) -> Vec<String> {
    let shown = commands.iter().take(SHOWN_MAX);
    let mut lines: Vec<String> =
        shown.map(|it| format!("a yes runs: {}", words::one_line(it))).collect();
    if commands.len() > SHOWN_MAX {
        lines.push(format!("and {} more commands", commands.len() - SHOWN_MAX));
    }
    lines
}

fn changed(changes: &Changes, see: Option<&str>) -> Vec<String> {
    let count = words::files(changes.files.into());
    let count = words::lines_changed(&count, changes.added, changes.removed);
    let more = if changes.is_cut() { "over " } else { "" };
    let mut lines = vec![format!("changed: {more}{count}")];
    let shown = changes.list.iter().take(SHOWN_MAX);
    lines.extend(shown.map(|file| format!("  {}", file_line(file))));
    let more = match changes.list.len().saturating_sub(SHOWN_MAX) {
        0 => None,
        more => Some(format!("and {more} more")),
    };
    let see = see.map(|see| format!("see: {see}"));
    let last: Vec<String> = more.into_iter().chain(see).collect();
    if !last.is_empty() {
        lines.push(format!("  {}", last.join("; ")));
    }
    lines
}

/// `M src/a.rs  +3 -1`.
fn file_line(file: &FileChange) -> String {
    let sign = match file.change {
        Change::Created => "A",
        Change::Changed => "M",
        Change::Deleted => "D",
    };
    let counts = match (file.added, file.removed) {
        (None, None) => "binary".to_owned(),
        (added, removed) => format!("+{} -{}", added.unwrap_or(0), removed.unwrap_or(0)),
    };
    format!("{sign} {}  {counts}", words::plain_line(&file.path))
}
