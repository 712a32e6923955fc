//! `{word}` in texts and commands: a word that nothing replaces is probably a mistake.

use super::super::draft::{Draft, Span};
use super::super::fill::VERIFY;
use super::super::model::{Phase, Text, Workflow};
use super::super::pool::Judge;
use super::super::problem::{Finding, Problems, quoted};
use super::super::suggest::closest;
use crate::base::ids::PhaseId;
use crate::definition::template::{AT_WORK, known_in, words};

const TEXTS: [Text; 6] = [
    Text::InitialMessage,
    Text::RoleInstruction,
    Text::AdvanceReminder,
    Text::BlockReasonTemplate,
    Text::NotDoneReminder,
    Text::CompletionMessage,
];

/// Reports words in braces that are never replaced, unless they may be intended.
pub(crate) fn judge(workflow: &Workflow, draft: &Draft, problems: &mut Problems) {
    for text in TEXTS {
        let at = draft.locate(None, text.field());
        for word in workflow.text(text).into_iter().flat_map(words) {
            if !known_in(text).contains(&word) {
                problems.push(unknown(word, known_in(text), at));
            }
        }
    }
    of_commands(&workflow.verify, Some(VERIFY), draft.locate(None, "verify"), problems);
    of_commands(&workflow.cleanup, None, draft.locate(None, "cleanup"), problems);
    for phase in &workflow.phases {
        of_phase(phase, draft, problems);
    }
}

fn of_phase(phase: &Phase, draft: &Draft, problems: &mut Problems) {
    let place = |field: &str| draft.locate(Some(PhaseId::as_str(&phase.id)), field);
    for word in words(&phase.instructions).into_iter().filter(|word| !AT_WORK.contains(word)) {
        // Instructions may show code: only what looks like a slip is told.
        if closest(word, AT_WORK.into_iter().chain(["task"])).is_some() {
            problems.push(unknown(word, &AT_WORK, place("instructions")));
        }
    }
    of_commands(&phase.commands, Some(VERIFY), place("commands"), problems);
    of_commands(&phase.verify, Some(VERIFY), place("verify"), problems);
    of_commands(&phase.cleanup, None, place("cleanup"), problems);
    of_commands(&phase.worktree.setup, None, place("worktree"), problems);
    if let Some(Judge::Commands(commands)) = &phase.judge {
        of_commands(commands, Some(VERIFY), place("judge"), problems);
    }
}

fn unknown(word: &str, known: &[&str], at: Span) -> Finding {
    let message =
        format!("nothing replaces {} here: it stays as it is", quoted(&format!("{{{word}}}")));
    let finding = Finding::warning("unknown-word", at, message);
    let about_task = closest(word, ["task"]).is_some();
    let task = known.iter().find(|word| ["description", "taskDescription"].contains(word));
    match task.filter(|_| about_task) {
        Some(task) => finding.hint(format!("the task is `{{{task}}}`")),
        None => finding.did_you_mean(closest(word, known.iter().copied())),
    }
}

/// A command that is only a word in braces is not a shell command.
fn of_commands(commands: &[String], known: Option<&str>, at: Span, problems: &mut Problems) {
    for command in commands.iter().map(|command| command.trim()) {
        let inner = command.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let is_word = |text: &str| words(command).first() == Some(&text);
        // Braces inside a command are the shell's own. Only a command that is nothing but a word in braces is meant for us.
        if inner.is_none_or(|inner| !is_word(inner)) || Some(command) == known {
            continue;
        }
        let message = format!("no commands stand for {} here", quoted(command));
        let finding = Finding::error("unknown-word", at, message);
        problems
            .push(finding.did_you_mean(known.filter(|known| closest(command, [*known]).is_some())));
    }
}
