//! The maps that only pools and races have.

use super::{Kind, Shape, field};
use crate::definition::workflow::THINKING;

/// One step of a pool.
pub(super) const STEP: Shape = Shape {
    name: "step",
    owner: "a step",
    about: "One item of work of a pool. It may have any further fields, which its workers read.",
    fields: &[
        field(&["id"], Kind::Text, "", "Its name in the pool."),
        field(&["name"], Kind::Text, "", "What people read."),
        field(&["description"], Kind::Free, "", "What is to be done."),
        field(&["depends_on"], Kind::Texts, "", "Steps whose work must be merged first."),
        field(
            &["files"],
            Kind::TextsOr(&FILES),
            "",
            "Files that it is about. A list counts as `change`.",
        ),
    ],
};

/// The map form of a step's `files`.
const FILES: Shape = Shape {
    name: "files",
    owner: "`files`",
    about: "Files that a step is about.",
    fields: &[
        field(&["create"], Kind::Texts, "", "Files that it makes."),
        field(&["change"], Kind::Texts, "", "Files that it changes."),
    ],
};

/// Words for the order of merges.
pub(super) const ORDERS: &[&str] = &["completion", "in_order"];

/// The map form of `merge`.
pub(super) const MERGE: Shape = Shape {
    name: "merge",
    owner: "`merge`",
    about: "How the work of a pool's steps comes together.",
    fields: &[
        field(
            &["order"],
            Kind::Choice(ORDERS),
            "completion",
            "`completion`: as steps finish. `in_order`: as the plan lists them, each after those that it depends on.",
        ),
        field(
            &["verify"],
            Kind::Flag,
            "false",
            "Whether the `verify` commands of the phase, otherwise of the workflow, must pass on the merged files before the project is written.",
        ),
    ],
};

/// How folders are made ready.
pub(super) const WORKTREE: Shape = Shape {
    name: "worktree",
    owner: "`worktree`",
    about: "How a work tree is made ready before its first worker. It has the files that git knows.",
    fields: &[
        field(&["setup"], Kind::Texts, "", "Commands that run in it, in order."),
        field(
            &["carry"],
            Kind::Texts,
            "",
            "Other files of the project that are copied into it: patterns below the project, such as `.env` or `config/*.local`.",
        ),
    ],
};

/// One worker of a race.
pub(super) const RACER: Shape = Shape {
    name: "racer",
    owner: "a worker of a race",
    about: "One worker of a race. What it does not say, the phase says.",
    fields: &[
        field(&["id"], Kind::Text, "after its agent or persona", "Its name in the race."),
        field(&["agent"], Kind::Text, "the phase's", "The program that works."),
        field(&["model"], Kind::Text, "the phase's", "Its model."),
        field(&["persona"], Kind::Text, "the phase's", "Who the worker is."),
        field(&["thinking"], Kind::Choice(&THINKING), "the phase's", "How hard the agent thinks."),
    ],
};

/// The map form of `judge`.
pub(super) const JUDGE: Shape = Shape {
    name: "judge",
    owner: "`judge`",
    about: "What chooses among the results of a race.",
    fields: &[field(
        &["commands"],
        Kind::Texts,
        "",
        "Commands that run in the folder of each worker and must pass.",
    )],
};
