//! The fields of `walls`, of a workflow or of a phase.

use super::{Kind, Shape, field};
use crate::definition::walls::{OPENABLE, PROCESSES_MAX};

/// Paths that no wall opens: with `..`, a zero byte or a pattern; of a shell; a whole home or disk; Chronicle's own record.
const NOT_OPENED: &str =
    r"(^|/)\.\.(/|$)|[\x00*]|^\$|^~[^/]|^[~/]/*(\./+)*\.?$|(^|/)\.chronicle(/|$)";
/// Paths that no wall hides: the same, the project, and of the record only this project's.
const NOT_HIDDEN: &str =
    r"(^|/)\.\.(/|$)|[\x00*]|^\$|^~[^/]|^[~/]?/*(\./+)*\.?$|^(\./+)*\.chronicle(/|$)";

/// What the operating system keeps workers and commands from.
pub(crate) const WALLS: Shape = Shape {
    name: "walls",
    owner: "`walls`",
    about: "What the operating system keeps workers and commands from, with everything that they start. The phase's word counts before the workflow's, and that before the settings'; lists add up, and a demand (`require`) is never taken back. Paths begin in the project, with `~/` or with `/`, and are taken to the letter.",
    fields: &[
        field(
            &["files"],
            Kind::Choice(&["read", "write"]),
            "the settings'",
            "Whether the project's files can be changed. A phase whose `tools` deny writing and commands can only read, unless it or its workflow says otherwise, or has `verify` or `cleanup` that would run there.",
        ),
        field(
            &["paths"],
            Kind::TextsNot(NOT_OPENED),
            "",
            "What can be changed in addition: with `files: read` a build folder such as `target`, or folders outside of the project.",
        ),
        field(
            &["hide"],
            Kind::TextsNot(NOT_HIDDEN),
            "",
            "What cannot be seen, in addition to credentials and the sockets of daemons.",
        ),
        field(
            &["open"],
            Kind::Choices(OPENABLE),
            "",
            "Names of what is not hidden although it usually is.",
        ),
        field(
            &["network"],
            Kind::Choice(&["on", "off", "true", "false"]),
            "the settings'",
            "Whether there is a network; with `off` not even the machine's own services can be reached. Agents that need their model need it: `off` is for commands, `command:` and `scripted:`.",
        ),
        field(
            &["processes"],
            Kind::UpTo(PROCESSES_MAX),
            "",
            "How many processes and threads there may be at once.",
        ),
        field(
            &["require"],
            Kind::Flag,
            "false",
            "Whether nothing is started where no wall stands. `false` is the same as saying nothing.",
        ),
        field(
            &["own_sandbox"],
            Kind::Flag,
            "the settings'",
            "Whether the agent brings a sandbox of its own, which a part of the wall would break; that part is left out.",
        ),
    ],
};
