//! The fields of a phase.

use super::pool::{JUDGE, MERGE, ORDERS, RACER, STEP, WORKTREE};
use super::{BUDGET, ENV, FieldInfo, Kind, LIMITS, Shape, WALLS, field};
use crate::definition::workflow::THINKING;

const OUTCOMES: &str = "Where an outcome leads: `complete`, `pass`, `fail`, `gaps`, `crash`, `stuck`, `timeout`, `rejected`, `conflict`, `unverified`, or a word of `outcomes`. Without an edge of its own, `fail` or `gaps` at the end of a workflow fails it: the phase around it takes its own `on`, else the run fails.";

/// The fields that every phase may have.
pub(crate) const PHASE: Shape = Shape {
    name: "phase",
    owner: "a phase",
    about: "One node of a workflow: one kind of work with one goal.",
    fields: PHASE_FIELDS,
};

const PHASE_FIELDS: &[FieldInfo] = &[
    field(&["id"], Kind::Text, "", "Its name in the workflow. In a map of phases, it is the key."),
    field(&["name"], Kind::Text, "the id", "What people read."),
    field(&["emoji"], Kind::Free, "", "A sign beside the name."),
    field(&["description"], Kind::Free, "", "One line about it; the worker reads it too."),
    field(
        &["instructions"],
        Kind::Free,
        "",
        "What the worker is told to do. Words in braces are replaced.",
    ),
    field(
        &["run"],
        Kind::Choice(&["worker", "inline", "command", "pool", "race", "workflow", "human"]),
        "worker",
        "Who does it: a fresh agent, the host's own session, shell commands, steps in parallel, several agents that do the same, another workflow, or a person. `commands` implies `command`, `workflow` implies `workflow`.",
    ),
    field(
        &["persona"],
        Kind::Text,
        "",
        "Who the worker is: the name of a persona, or a text of several words.",
    ),
    field(&["agent"], Kind::Text, "the workflow's", "The program that works here."),
    field(&["model"], Kind::Text, "the workflow's", "Its model."),
    field(&["thinking"], Kind::Choice(&THINKING), "", "How hard the agent thinks."),
    field(
        &["fallback"],
        Kind::Texts,
        "",
        "Agents that take over, in this order, when this one cannot continue: its retries or its quota are used up, or it fails with an error that does not go away by waiting. `claude:MODEL` also names a model.",
    ),
    field(
        &["extra_skills"],
        Kind::Texts,
        "",
        "Skills of the worker, in addition to its own. Not supported yet: a run with it is refused.",
    ),
    field(
        &["tools"],
        Kind::Map(&TOOLS),
        "every tool",
        "Which tools the worker may call. If its persona has a list too, both hold.",
    ),
    field(
        &["availableProfiles", "available_profiles"],
        Kind::Texts,
        "",
        "Personas that the worker may use for its own sub-agents.",
    ),
    field(
        &["next"],
        Kind::Texts,
        "in a list the following phase, in a map `done`",
        "Where the worker may go. `done` ends the workflow, `human_intervention` asks a person.",
    ),
    field(&["on"], Kind::Pairs, "", OUTCOMES),
    field(&["outcomes"], Kind::Texts, "", "Outcomes of its own with which the worker may leave."),
    field(
        &["signals"],
        Kind::Texts,
        "all",
        "Which signals the worker may send: `complete`, `partially-complete`, `needs-user-input`, `needs-role-followup`.",
    ),
    field(&["followups"], Kind::Texts, "all", "Which personas it may ask for."),
    field(
        &["approval"],
        Kind::Choice(&["none", "before", "after", "both", "false", "true"]),
        "none",
        "Where a person must agree: before the work begins, after it, or both. `true` means after.",
    ),
    field(
        &["requires_approval"],
        Kind::Flag,
        "",
        "The Chronicle's way to say `approval: before`, or with `approval_mode: post` `after`.",
    ),
    field(
        &["approval_mode"],
        Kind::Choice(&["pre", "post"]),
        "",
        "Whether `requires_approval` asks before the work or after it. After it, the worker's verdict (`Verdict: APPROVE` or `Verdict: BLOCK`) is shown to whoever decides.",
    ),
    field(
        &["requires"],
        Kind::Texts,
        "",
        "What the record must show before the worker may leave, unless it leaves with a failure: `changed_files`, or a command as it is typed, such as `cargo test`, that was run here and succeeded the last time, in a line whose exit code shows that.",
    ),
    field(&["verify"], Kind::Texts, "", "Commands that must pass before the phase is left."),
    field(
        &["cleanup"],
        Kind::Texts,
        "",
        "Commands that run at every way out of the phase once its work has begun.",
    ),
    field(
        &["env"],
        Kind::EnvOr(&ENV),
        "",
        "The environment of its worker or its commands, and of `verify` and `cleanup`, beside what the workflow says.",
    ),
    field(
        &["walls"],
        Kind::Map(&WALLS),
        "",
        "What the operating system keeps its worker or its commands from, and `verify` and `cleanup`, beside what the workflow says.",
    ),
    field(&["budget"], Kind::Map(&BUDGET), "", "What this phase may spend."),
    field(
        &["limits"],
        Kind::Map(&LIMITS),
        "the workflow's",
        "How often things may go wrong here, and how long they may take.",
    ),
    field(&["timeout_minutes"], Kind::Decimal, "", "The same as `limits.timeout`, in minutes."),
    field(
        &["isolation"],
        Kind::Choice(&["shared", "worktree"]),
        "`worktree` for races and for pools with several slots, otherwise `shared`",
        "Whose files it works on: the project's, or a work tree of its own. Steps at the same time cannot share files: nobody could tell who wrote what.",
    ),
    field(
        &["session"],
        Kind::Choice(&["fresh", "continue"]),
        "fresh",
        "Whether it continues the session of the previous phase.",
    ),
    field(
        &["produces"],
        Kind::Choice(&["steps"]),
        "",
        "`steps` when the worker plans the steps of a pool that follows.",
    ),
    field(
        &["commands"],
        Kind::Texts,
        "",
        "What `run: command` runs, in order, in a shell. In a pool, what each step runs in place of an agent.",
    ),
    field(
        &["once"],
        Kind::Flag,
        "false",
        "The commands never run twice by themselves, neither after a crash nor when the run comes back to the phase: a person is asked.",
    ),
    field(
        &["workflow", "subworkflow"],
        Kind::Text,
        "",
        "The workflow inside: of `run: workflow`, or of each step of a pool. Without it, one worker does a step, as the pool's own fields say.",
    ),
    field(
        &["steps"],
        Kind::Open(&STEP),
        "",
        "A pool's steps. Without `steps` and `steps_from`, a phase before the pool must plan them (`produces: steps`).",
    ),
    field(
        &["steps_from"],
        Kind::Text,
        "",
        "A JSON file of the project with a pool's steps, which an earlier phase wrote.",
    ),
    field(&["slots"], Kind::UpTo(64), "3", "How many steps of a pool are worked on at once."),
    field(
        &["merge"],
        Kind::ChoiceOr(ORDERS, &MERGE),
        "completion",
        "How a pool's work comes together.",
    ),
    field(
        &["worktree"],
        Kind::Map(&WORKTREE),
        "",
        "How work trees are made ready. Only with `isolation: worktree`.",
    ),
    field(
        &["pause_between"],
        Kind::Flag,
        "false",
        "Whether a pool rests after each step until a person lets it continue.",
    ),
    field(
        &["workers"],
        Kind::ListOr(&RACER),
        "",
        "Who takes part in a race, from 2 to 16. A plain name is an agent.",
    ),
    field(
        &["judge"],
        Kind::TextOr(&JUDGE),
        "person",
        "Who chooses among the results of a race: a worker phase of this workflow, commands, or a `person`.",
    ),
];

/// Which tools a worker may call.
pub(super) const TOOLS: Shape = Shape {
    name: "tools",
    owner: "`tools`",
    about: "Which tools the worker may call: one of the two lists.",
    fields: &[
        field(&["allow", "whitelist"], Kind::Texts, "", "These and no others."),
        field(
            &["deny", "blacklist"],
            Kind::Texts,
            "",
            "All but these. `*` in a name stands for any characters: `mcp__github__*`, or `mcp__github` for all tools of that server. \
             A word for what tools do means all of them, whatever an agent calls them: `bash` also `shell`, `exec`, `Monitor` or \
             `mcp__box__bash`; `edit` also `MultiEdit` and `NotebookEdit`; `agent` also `Task`; and `read`, `write`, `delete`, `search`, \
             `fetch`, `mcp`. Each of them also denies a tool that Chronicle does not know. All hold below a namespace too, as in \
             `functions.bash`. With \
             either list, a call whose name has other letters than those of ASCII, digits and `_ - . : /` is denied.",
        ),
        field(
            &["subagents"],
            Kind::Choice(&["bound", "free"]),
            "bound",
            "Whether the list holds for the worker's sub-agents too. In pi-workflows' folders it does not.",
        ),
    ],
};
