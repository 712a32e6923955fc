//! The table as a page for people.

use std::fmt::Write as _;

use super::{Kind, PHASE, Shape, WORKFLOW};

const HEAD: &str = "\
# Workflow files

Every field of the native format. `cargo xtask reference` writes this page and [workflow.schema.json](workflow.schema.json) from the
table that the checker uses. Editors use the schema to complete and check a file as you type; `chronicle schema` prints it. All
problems that a file can have are in [problems.md](problems.md).

A workflow is `.chronicle/workflows/NAME.yaml` (or `.yml`, `.json`). A field without a value counts as left out. A time is
`500ms`, `90s`, `10m`, `1.5h`, or a number of seconds.
";

const WORDS: &str = "
## Words in braces

`{word}` is replaced in `instructions` and in the six texts of a workflow (`initialMessage` to `completionMessage`), in one pass: words in
braces inside the replacement stay as they are, and so does a word that is not known in that field.

| word | known in | what it becomes |
|---|---|---|
| `workflowName` | all of them | the outermost workflow's name |
| `workflowKey` | all but `blockReasonTemplate`, `completionMessage` | its key |
| `description` | `initialMessage`, `instructions`, `roleInstruction`, `advanceReminder` | the task |
| `taskDescription` | `notDoneReminder`, `completionMessage` | the task |
| `taskId` | all but `initialMessage`, `blockReasonTemplate` | the run's short id |
| `firstPhaseId` `firstPhaseName` `firstPhaseEmoji` `firstPhaseProfiles` | `initialMessage` | of the phase where work begins, through workflows inside |
| `phaseId` | `instructions`, `roleInstruction`, `advanceReminder` | the phase's id |
| `phaseName` | all but `initialMessage`, `completionMessage` | its name |
| `phaseEmoji` `phaseInstructions` | `notDoneReminder` | its sign; its instructions as written |
| `previousPhaseName` | `instructions`, `roleInstruction`, `advanceReminder` | the phase left last in the same workflow; at first `(start)` |
| `nextPhaseName` | the same | where `next` leads, several joined by `or`; at the end `DONE` |
| `blockedToolsList` | the same | the tools in `deny`, or `(none)` |
| `toolName` | the same, `blockReasonTemplate` | `workflow_step`; the tool that was refused |
| `allowedTools` | `blockReasonTemplate` | the tools in `allow`, or `all except: …` |
| `breadcrumbPath` | `instructions`, `roleInstruction`, `advanceReminder` | the names of the workflows around the phase, joined by ` > ` |
| `globalStepCount` | the same | how many phases were left so far |
| `phaseCount` | `completionMessage` | how many phases the outermost workflow has |

`initialMessage` and `completionMessage` are those of the outermost workflow. The others are those of the workflow that the
phase is in, or of the nearest one around it that has them.
";

/// The field reference, as it stands in `docs/reference/workflow.md`.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    let mut waiting: Vec<&'static Shape> = vec![&WORKFLOW, &PHASE];
    let mut index = 0;
    while let Some(shape) = waiting.get(index).copied() {
        index += 1;
        table(shape, &mut page);
        for inner in shape.fields.iter().filter_map(|field| field.kind.inside()) {
            // A map that several fields share is described once.
            if waiting.iter().all(|known| known.name != inner.name) {
                waiting.push(inner);
            }
        }
    }
    page + WORDS
}

fn table(shape: &Shape, page: &mut String) {
    let _ = write!(page, "\n## {}\n\n{}\n\n", shape.name, shape.about);
    page.push_str("| field | holds | default | |\n|---|---|---|---|\n");
    for field in shape.fields {
        let names: Vec<String> = field.names.iter().map(|name| format!("`{name}`")).collect();
        let (names, kind) = (names.join(", "), kind(&field.kind));
        let _ = writeln!(page, "| {names} | {kind} | {} | {} |", field.default, field.about);
    }
}

fn kind(of: &Kind) -> String {
    match of {
        Kind::Text | Kind::Free => "text".to_owned(),
        Kind::Texts | Kind::EnvNames | Kind::TextsNot(_) => "text or list".to_owned(),
        Kind::Choices(words) => format!("some of {}", in_code(words)),
        Kind::Pairs | Kind::Env => "map of texts".to_owned(),
        Kind::Flag => "`true`, `false`".to_owned(),
        Kind::Count => "number".to_owned(),
        Kind::Positive => "number above 0".to_owned(),
        Kind::UpTo(most) => format!("number from 1 to {most}"),
        Kind::Decimal => "decimal number".to_owned(),
        Kind::Duration => "time".to_owned(),
        Kind::DurationOrNone => "time or `none`".to_owned(),
        Kind::Choice(words) => in_code(words),
        Kind::Map(shape) => format!("[{0}](#{0})", shape.name),
        Kind::EnvOr(shape) => format!("map of texts, or [{0}](#{0})", shape.name),
        Kind::PositiveOr(shape) => format!("number, or [{0}](#{0})", shape.name),
        Kind::Open(shape) => format!("list of [{0}](#{0})", shape.name),
        Kind::ListOr(shape) => format!("list of names or of [{0}](#{0})", shape.name),
        Kind::TextOr(shape) => format!("text, or [{0}](#{0})", shape.name),
        Kind::TextsOr(shape) => format!("text or list, or [{0}](#{0})", shape.name),
        Kind::ChoiceOr(words, shape) => format!("{}, or [{1}](#{1})", in_code(words), shape.name),
        Kind::Phases => "list or map of [phase](#phase)".to_owned(),
    }
}

fn in_code(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
