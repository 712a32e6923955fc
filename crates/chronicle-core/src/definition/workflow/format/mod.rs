//! The native format: a table of every field with its names, its kind and its meaning.
//!
//! The checker reads fields by this table alone, and the JSON Schema and the field reference are generated from it, so they
//! cannot disagree. It checks nothing: that is `check/`.
//!
//! Start reading at [`WORKFLOW`] and [`PHASE`].

mod idle;
mod phase;
mod pool;
mod reference;
mod schema;
mod walls;

pub use reference::reference;
pub use schema::schema;

pub(crate) use idle::{IDLE, Idle};
pub(crate) use phase::PHASE;
use phase::TOOLS;
pub(crate) use walls::WALLS;

/// A map of the format and the fields that it may have.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Its name in the schema and the reference.
    pub name: &'static str,
    /// What messages call the owner of the fields.
    pub owner: &'static str,
    /// A one-line description for the reference.
    pub about: &'static str,
    /// In the order in which people would write them.
    pub fields: &'static [FieldInfo],
}

impl Shape {
    /// The field of that name or alias.
    pub(crate) fn field(&self, name: &str) -> Option<&'static FieldInfo> {
        self.fields.iter().find(|field| field.names.contains(&name))
    }

    /// Every name that a field may have here.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().flat_map(|field| field.names).copied()
    }
}

/// One field of a map.
#[derive(Debug)]
pub(crate) struct FieldInfo {
    /// Its name, then others that mean the same.
    pub names: &'static [&'static str],
    pub kind: Kind,
    /// The default, for people; empty if there is none.
    pub default: &'static str,
    /// What it is for, in whole sentences for people.
    pub about: &'static str,
}

/// What a field holds.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A text that is not blank.
    Text,
    /// A text, possibly empty.
    Free,
    /// A text, or a list of texts.
    Texts,
    /// A map from name to text.
    Pairs,
    /// A map from the name of an environment variable to its value.
    Env,
    /// Such a map, or a map with fields of its own.
    EnvOr(&'static Shape),
    /// Names of environment variables, with `*` for any characters; a single one counts as a list.
    EnvNames,
    /// A text, or a list of texts, that do not fit a pattern.
    TextsNot(&'static str),
    /// Some of some words; a single one counts as a list.
    Choices(&'static [&'static str]),
    Flag,
    /// A whole number, 0 included.
    Count,
    /// A whole number above 0.
    Positive,
    /// A whole number above 0, and at most this.
    UpTo(u64),
    /// A number above 0.
    Decimal,
    /// A time above 0.
    Duration,
    /// A time above 0, or `none`.
    DurationOrNone,
    /// One of some words.
    Choice(&'static [&'static str]),
    /// A map with fields of its own.
    Map(&'static Shape),
    /// A whole number above 0, or a map.
    PositiveOr(&'static Shape),
    /// A list of maps that may have any further fields.
    Open(&'static Shape),
    /// A list of names or of maps.
    ListOr(&'static Shape),
    /// A text, or a map.
    TextOr(&'static Shape),
    /// A text, a list of texts, or a map.
    TextsOr(&'static Shape),
    /// One of some words, or a map.
    ChoiceOr(&'static [&'static str], &'static Shape),
    /// Phases, as a list or as a map.
    Phases,
}

impl Kind {
    /// The map that it may be or consist of.
    pub(crate) fn inside(&self) -> Option<&'static Shape> {
        match self {
            Self::Map(shape)
            | Self::PositiveOr(shape)
            | Self::Open(shape)
            | Self::ListOr(shape)
            | Self::TextOr(shape)
            | Self::TextsOr(shape)
            | Self::ChoiceOr(_, shape)
            | Self::EnvOr(shape) => Some(shape),
            Self::Text
            | Self::Free
            | Self::Texts
            | Self::Pairs
            | Self::Env
            | Self::EnvNames
            | Self::TextsNot(_)
            | Self::Choices(_)
            | Self::Flag
            | Self::Count
            | Self::Positive
            | Self::UpTo(_)
            | Self::Decimal
            | Self::Duration
            | Self::DurationOrNone
            | Self::Choice(_)
            | Self::Phases => None,
        }
    }
}

/// A field that has one name.
const fn field(
    names: &'static [&'static str],
    kind: Kind,
    default: &'static str,
    about: &'static str,
) -> FieldInfo {
    FieldInfo { names, kind, default, about }
}

/// The fields of a workflow file.
pub(crate) const WORKFLOW: Shape = Shape {
    name: "workflow",
    owner: "a workflow",
    about: "A workflow file: named phases and the edges between them.",
    fields: &[
        field(
            &["$schema"],
            Kind::Free,
            "",
            "Where an editor finds this schema; nothing else reads it.",
        ),
        field(&["name"], Kind::Text, "the key", "What people read."),
        field(
            &["key"],
            Kind::Text,
            "the file's name",
            "The name that the workflow is started by. It is the name of the file or folder. Another name here is a warning, and has no effect.",
        ),
        field(&["description"], Kind::Free, "", "One line about it, shown by `chronicle list`."),
        field(&["commandName", "command_name"], Kind::Text, "", "Another name to start it by."),
        field(
            &["show"],
            Kind::Choice(&["user", "workflows"]),
            "user",
            "Who may start it: people, or only other workflows.",
        ),
        field(&["initial"], Kind::Text, "the first phase", "The phase where it begins."),
        field(
            &["phases", "states"],
            Kind::Phases,
            "",
            "The phases. In a list, each leads to the following one unless it says otherwise. In a map, each leads to `done` unless it says otherwise.",
        ),
        field(
            &["agent"],
            Kind::Text,
            "the run's `--agent`",
            "The program that works, unless a phase names its own.",
        ),
        field(
            &["model"],
            Kind::Text,
            "the run's `--model`",
            "The model of that program, unless a phase names its own.",
        ),
        field(
            &["budget"],
            Kind::Map(&BUDGET),
            "",
            "What the whole run may spend; in a workflow inside another, what the phase that runs it may spend.",
        ),
        field(
            &["limits"],
            Kind::Map(&LIMITS),
            "",
            "How often things may go wrong, and how long they may take, in phases that set no limits of their own.",
        ),
        field(&["timeout_minutes"], Kind::Decimal, "", "The same as `limits.timeout`, in minutes."),
        field(
            &["guards"],
            Kind::Map(&GUARDS),
            "",
            "Rules about which tools agents may call, and with what input.",
        ),
        field(
            &["verify"],
            Kind::Texts,
            "",
            "Commands that must pass before the run is done, unless a person ends it with `go` or `skip`; in a workflow inside another, before the phase that runs it is left, and before that phase's own `verify`.",
        ),
        field(
            &["cleanup"],
            Kind::Texts,
            "",
            "Commands that run whenever one of its phases is left, unless that phase has its own `cleanup`; also after a workflow inside a phase has ended.",
        ),
        field(
            &["env"],
            Kind::EnvOr(&ENV),
            "",
            "The environment of workers and commands. A map of texts sets variables in addition to the user's; `{pass, drop, set}` also says which of the user's they get. A workflow inside another has its own; the same is true of `limits`, `cleanup`, `agent` and `model`.",
        ),
        field(
            &["walls"],
            Kind::Map(&WALLS),
            "",
            "What the operating system keeps workers and commands from. A workflow inside another has its own.",
        ),
        field(&["loopable"], Kind::Flag, "false", "Whether a worker may start the workflow over."),
        field(
            &["initialMessage"],
            Kind::Free,
            "",
            "Opens the first handover. Words in braces are replaced.",
        ),
        field(
            &["roleInstruction"],
            Kind::Free,
            "",
            "Part of each handover: who the worker is. Words in braces are replaced.",
        ),
        field(
            &["advanceReminder"],
            Kind::Free,
            "",
            "Part of each handover, next to how to leave the phase. Words in braces are replaced.",
        ),
        field(
            &["notDoneReminder"],
            Kind::Free,
            "",
            "What a worker is told if it ends its turn without a leaving signal. Words in braces are replaced.",
        ),
        field(
            &["blockReasonTemplate"],
            Kind::Free,
            "",
            "What a worker is told if it calls a tool that the phase does not allow. Words in braces are replaced.",
        ),
        field(
            &["completionMessage"],
            Kind::Free,
            "",
            "What people are shown when the run is done. Words in braces are replaced.",
        ),
        field(
            &["sessionNamePrefix"],
            Kind::Free,
            "",
            "Prefix of the name of the host's session, before the task. Kept for hosts that name sessions.",
        ),
        field(
            &["sessionNameMaxLength"],
            Kind::Free,
            "",
            "Maximum length of the task in that name.",
        ),
    ],
};

/// The environment of workers and commands.
pub(crate) const ENV: Shape = Shape {
    name: "env",
    owner: "`env`",
    about: "Which environment variables workers and commands get. In this order: the user's; without those that look like secrets of other services, except the keys of the agent that works; with what `pass` names; without what `drop` names, whoever passes it; with what `set` sets; with Chronicle's own. The lists of the agent's settings, the workflow and the phase add up; of what they set, the phase's counts before the workflow's, and that before the agent's.",
    fields: &[
        field(
            &["pass"],
            Kind::EnvNames,
            "",
            "Variables of the user that they get although they look like secrets. `*` stands for any characters: `AWS_*`.",
        ),
        field(
            &["drop"],
            Kind::EnvNames,
            "",
            "Variables of the user that they do not get, even if they are passed.",
        ),
        field(&["set"], Kind::Env, "", "Variables that they get in any case, with their values."),
    ],
};

/// Limits of a workflow or of a phase.
pub(crate) const LIMITS: Shape = Shape {
    name: "limits",
    owner: "`limits`",
    about: "How often things may go wrong at one phase, and how long they may take. When a limit is reached, a person is asked.",
    fields: &[
        field(
            &["loop"],
            Kind::PositiveOr(&LOOP),
            "3",
            "How often a run may loop before a person is asked. An edge of `on` is counted by itself, and so is starting over (`loop`); the edges that lead back to them are not counted. A cycle of `next` edges is counted by pairs of phases, both ways together.",
        ),
        field(
            &["retries"],
            Kind::Count,
            "2",
            "Fresh starts after crashes, once the reminders (`nudges`) are used up. With 0 a worker is still reminded.",
        ),
        field(
            &["nudges"],
            Kind::Count,
            "3",
            "How often the same session goes on after a turn that ended without a leaving signal, or broke off. With 0 nobody is reminded.",
        ),
        field(
            &["losses"],
            Kind::Count,
            "20",
            "Restarts after a supervisor or keeper died, without progress in between.",
        ),
        field(&["continuations"], Kind::Count, "5", "Continuations after `partially-complete`."),
        field(&["depth"], Kind::Count, "3", "How many workers may wait for each other's help."),
        field(
            &["followups"],
            Kind::Count,
            "10",
            "Follow-ups at one visit of a phase, no matter which worker asks for them.",
        ),
        field(
            &["waits"],
            Kind::Count,
            "20",
            "Waits in a row for a new quota, or for a service that is overloaded or cannot be reached.",
        ),
        field(
            &["repeats"],
            Kind::Count,
            "30",
            "How often a worker may make the same call with the same input without progress; 0 means no limit.",
        ),
        field(
            &["standstill"],
            Kind::DurationOrNone,
            "60m",
            "How long a worker may work without a changed file, a signal or a note.",
        ),
        field(
            &["grace"],
            Kind::Duration,
            "30s",
            "How long a worker may continue after its leaving signal was accepted.",
        ),
        field(
            &["idle"],
            Kind::DurationOrNone,
            "10m",
            "How long an agent may print nothing before it counts as stuck. Silence is allowed while a tool call is open.",
        ),
        field(
            &["tool"],
            Kind::DurationOrNone,
            "60m",
            "How long one tool call of an agent may be open.",
        ),
        field(
            &["ask"],
            Kind::DurationOrNone,
            "60m",
            "How long a tool call waits for a person's leave. Then its worker goes on without it, and the gate stays open.",
        ),
        field(
            &["timeout"],
            Kind::DurationOrNone,
            "none, 60m for commands",
            "How long one try may work; for commands and `verify`, how long they may take together. `none` is no limit, for commands too.",
        ),
    ],
};

/// The map form of `limits.loop`.
pub(crate) const LOOP: Shape = Shape {
    name: "loop",
    owner: "`limits.loop`",
    about: "When going back and forth becomes a loop.",
    fields: &[
        field(
            &["policy"],
            Kind::Choice(&["count", "progress"]),
            "count",
            "`count`: an edge may be taken this often. `progress`: the run may continue as long as its workers open or resolve issues (`issues_opened`, `issues_resolved` of `workflow_transition`).",
        ),
        field(
            &["count"],
            Kind::Choice(&["pair", "edge"]),
            "pair",
            "How a cycle of `next` edges is counted: per pair of phases, in both directions, or per edge, in one direction.",
        ),
        field(
            &["max"],
            Kind::Positive,
            "3",
            "How often it may be taken; the next time a person is asked. `chronicle go RUN --loops +3` allows more.",
        ),
        field(
            &["bounce"],
            Kind::Positive,
            "6",
            "With `progress`: a person is asked when there were this many transitions between two phases among the last 14, `stagnation` is reached and an issue is open.",
        ),
        field(
            &["stagnation"],
            Kind::Positive,
            "3",
            "With `progress`: transitions in a row that neither opened nor resolved an issue.",
        ),
        field(
            &["cap"],
            Kind::Positive,
            "12",
            "With `progress`: how often one phase may be left for another, even if issues are resolved.",
        ),
    ],
};

/// What may be spent.
pub(crate) const BUDGET: Shape = Shape {
    name: "budget",
    owner: "`budget`",
    about: "What may be spent. There are no defaults.",
    fields: &[
        field(&["usd"], Kind::Decimal, "", "Dollars."),
        field(&["tokens"], Kind::Positive, "", "Tokens of every kind."),
        field(&["time"], Kind::Duration, "", "Time that agents work."),
        field(&["attempts"], Kind::Positive, "", "Starts of agents."),
    ],
};

/// Rules over tool calls.
pub(crate) const GUARDS: Shape = Shape {
    name: "guards",
    owner: "`guards`",
    about: "Rules about the calls of workers' tools.",
    fields: &[field(
        &["rules"],
        Kind::Texts,
        "",
        "Names of files of rules that hold for runs of this workflow beside all others: `NAME.yaml` in `.chronicle/rules/`, otherwise in \
             `~/.config/chronicle/rules/`.",
    )],
};

#[cfg(test)]
mod tests {
    use super::{PHASE, Shape, WORKFLOW};

    /// Every map of the format, once each.
    fn shapes() -> Vec<&'static Shape> {
        let mut all: Vec<&'static Shape> = vec![&WORKFLOW, &PHASE];
        let mut index = 0;
        while let Some(shape) = all.get(index) {
            index += 1;
            for field in shape.fields {
                if let Some(inner) = field.kind.inside()
                    && all.iter().all(|known| known.name != inner.name)
                {
                    all.push(inner);
                }
            }
        }
        all
    }

    #[test]
    fn a_name_stands_for_one_field() {
        for shape in shapes() {
            let mut names: Vec<&str> = shape.names().collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{}", shape.name);
        }
    }

    #[test]
    fn every_field_says_what_it_is_for() {
        for field in shapes().into_iter().flat_map(|shape| shape.fields) {
            assert!(field.about.ends_with('.'), "{:?}", field.names);
            assert!(!field.names.is_empty() && !field.about.contains('\n'), "{:?}", field.names);
        }
    }
}
