//! The table of all settings: what a file may contain, the default, and what it does.

use crate::definition::walls::{OPENABLE, PROCESSES_MAX};

/// One setting of `config.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its full name; `*` stands for a name that the user chooses.
    pub name: &'static str,
    /// Which values are valid.
    pub form: Form,
    /// The default, as a file would write it; empty if there is none.
    pub default: &'static str,
    /// What it does, for people. A setting that nothing uses yet says so.
    pub about: &'static str,
    /// Which files may contain it.
    pub whose: Whose,
}

/// What a setting may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A string that is not blank.
    Text,
    /// An address on the web.
    Address,
    /// A boolean, without quotes.
    Flag,
    /// A whole number, 0 included.
    Count,
    /// A whole number above 0.
    Positive,
    /// An amount of dollars above 0.
    Dollars,
    /// A time above 0.
    Time,
    /// A time above 0, or `none`.
    TimeOrNone,
    /// Texts; a single one counts as a list.
    Texts,
    /// Regular expressions; a single one counts as a list.
    Patterns,
    /// Absolute paths of folders.
    Folders,
    /// Names of environment variables, with `*` for any characters; a single one counts as a list.
    EnvNames,
    /// Environment variables with their values.
    Env,
    /// Paths that a wall can open for changes; a single one counts as a list.
    OpenedPaths,
    /// Paths that a wall can hide; a single one counts as a list.
    HiddenPaths,
    /// A whole number above 0, and at most this.
    UpTo(u64),
    /// Some of some words; a single one counts as a list.
    Choices(&'static [&'static str]),
    /// A number of transitions, or `{count, max}`.
    Loop,
    /// What a model costs.
    Price,
    /// One of some words.
    Choice(&'static [&'static str]),
}

/// Which files may set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The project's and the user's.
    Both,
    /// Only the user's: a project must not set it for them.
    User,
    /// The project's may only say `true`: it may ask for more, and must not take back what the user asks for.
    UsersFalse,
}

/// Most agents that may be allowed to work at once: more than any machine bears, and few enough to look for a free place among them.
const AGENTS_MAX: u64 = 1_024;

/// What `on_gate` may be.
pub(super) const ON_GATE: &[&str] = &["rest", "wait"];

/// What `agents.*.signals` may be.
pub(super) const SIGNALS: &[&str] = &["stdio", "http"];

/// What `guards.proof` may be.
pub(super) const PROOF: &[&str] = &["required", "best-effort"];

/// What `walls.files` may be.
pub(super) const WALL_FILES: &[&str] = &["read", "write"];

/// What `walls.network` may be.
pub(super) const WALL_NETWORKS: &[&str] = &["on", "off"];

/// Every setting, in the order in which people see them.
pub const KEYS: &[Key] = &[
    both("agent", Form::Text, "", "The agent of phases and workflows that name none."),
    both("model", Form::Text, "", "The model of phases and workflows that name none."),
    both(
        "on_gate",
        Form::Choice(ON_GATE),
        "\"rest\"",
        "What `run` and `resume` do while a person is needed: `rest` ends with exit code 4, `wait` stays.",
    ),
    both(
        "verify",
        Form::Texts,
        "",
        "The commands that check the project; `{verify}` in workflows stands for them. \
         If unset, they are found from the project's build files.",
    ),
    both(
        "limits.loop",
        Form::Loop,
        "{ count = \"pair\", max = 3 }",
        "How often a run may loop before a person is asked. Edges of `on` and starting over count by themselves, cycles of `next` edges by pairs of phases (`pair`) or per direction (`edge`).",
    ),
    both("limits.retries", Form::Count, "2", "Fresh starts of a phase after crashes."),
    both("limits.nudges", Form::Count, "3", "Reminders to a worker that ends without a signal."),
    both(
        "limits.losses",
        Form::Count,
        "20",
        "Restarts without progress after a supervisor or keeper died.",
    ),
    both(
        "limits.continuations",
        Form::Count,
        "5",
        "Fresh sessions after `partially-complete` or a full context.",
    ),
    both("limits.depth", Form::Count, "3", "How many workers may wait for each other's help."),
    both(
        "limits.followups",
        Form::Count,
        "10",
        "Follow-ups at one visit of a phase before a person is asked.",
    ),
    both(
        "limits.waits",
        Form::Count,
        "20",
        "Waits in a row for a new quota, or for a service that is overloaded or cannot be reached, before a person is asked.",
    ),
    both(
        "limits.repeats",
        Form::Count,
        "30",
        "How often a worker may make the same call without progress before a person is asked; 0 means no limit.",
    ),
    both(
        "limits.standstill",
        Form::TimeOrNone,
        "\"60m\"",
        "Working time of a worker without a changed file, a signal or a note before a person is asked.",
    ),
    both(
        "limits.grace",
        Form::Time,
        "\"30s\"",
        "How long a worker may continue after its leaving signal was accepted.",
    ),
    both("limits.idle", Form::TimeOrNone, "\"10m\"", "Silence after which a worker is stuck."),
    both("limits.tool", Form::TimeOrNone, "\"60m\"", "Time that one tool call may be open."),
    both(
        "limits.ask",
        Form::TimeOrNone,
        "\"60m\"",
        "Time that a tool call waits for a person's leave before its worker goes on without it.",
    ),
    both(
        "limits.timeout",
        Form::TimeOrNone,
        "",
        "Time that one attempt may take. Without it agents have no limit, and commands 60 minutes.",
    ),
    both(
        "budget.usd",
        Form::Dollars,
        "",
        "Dollars that a run may spend, if its workflow sets no budget.",
    ),
    both(
        "budget.tokens",
        Form::Positive,
        "",
        "Tokens that a run may use, if its workflow sets no budget.",
    ),
    both(
        "budget.time",
        Form::Time,
        "",
        "Working time that a run may take, if its workflow sets no budget.",
    ),
    both(
        "budget.attempts",
        Form::Positive,
        "",
        "Attempts that a run may make, if its workflow sets no budget.",
    ),
    both(
        "trees.max_file_mb",
        Form::Positive,
        "25",
        "Megabytes of the largest file that is recorded. Larger ones are named in the log, and `undo` leaves them alone.",
    ),
    both(
        "trees.warn_mb",
        Form::Positive,
        "2048",
        "If recorded files take more megabytes than this, `status` and `doctor` say how to free some.",
    ),
    both(
        "redact.variables",
        Form::Texts,
        "[]",
        "Environment variables whose values are secrets, in addition to those whose names say so. The project's are added to the user's.",
    ),
    both(
        "redact.patterns",
        Form::Patterns,
        "[]",
        "Regular expressions for secrets, in addition to the built-in ones. The project's are added to the user's.",
    ),
    user(
        "notify.command",
        Form::Text,
        "",
        "A command to run when a run needs you, fails or ends. It reads a JSON object that says what happened.",
    ),
    user(
        "notify.webhook",
        Form::Address,
        "",
        "An `http` or `https` address that the same object is posted to, by `curl`.",
    ),
    both(
        "notify.bell",
        Form::Flag,
        "false",
        "Ring the bell as well, and send OSC 9, on the terminal of `run` or `resume`.",
    ),
    both(
        "agents.*.command",
        Form::Text,
        "",
        "The command that starts an agent: another place for `claude`, `pi`, `codex`, `gemini` or `opencode` \
         (looked at by `doctor`), or under a name of your own any program that speaks the agent protocol.",
    ),
    both(
        "agents.*.at_once",
        Form::UpTo(AGENTS_MAX),
        "",
        "How many attempts of that agent work at once on this machine, over all your runs. Without it there is no limit of its own. A project can only say less.",
    ),
    both(
        "agents.*.signals",
        Form::Choice(SIGNALS),
        "",
        "How `claude` reaches the signal server: `stdio` (it starts `chronicle mcp`), or `http` on loopback.",
    ),
    both(
        "agents.*.env.pass",
        Form::EnvNames,
        "",
        "Environment variables of yours that workers of `claude`, `pi`, `scripted` or `command` get although they look like secrets of other \
         services; `*` stands for any characters. The project's are added to the user's.",
    ),
    both(
        "agents.*.env.drop",
        Form::EnvNames,
        "",
        "Environment variables of yours that they do not get, even where a workflow passes them. The project's are added to the user's.",
    ),
    both(
        "agents.*.env.set",
        Form::Env,
        "",
        "Environment variables that they get in addition: a table of texts. What a workflow or a phase sets counts before it.",
    ),
    both(
        "machine.agents",
        Form::UpTo(AGENTS_MAX),
        "8",
        "How many agents work at once on this machine, over all your runs. Others wait, and `status` says so. A project can only say less.",
    ),
    both(
        "walls.files",
        Form::Choice(WALL_FILES),
        "\"write\"",
        "Whether workers and commands can change the project's files, if their phase and workflow do not say it. A project can only say `read`.",
    ),
    user(
        "walls.paths",
        Form::OpenedPaths,
        "[]",
        "What they can change in addition: paths in the project, or ones that begin with `~/` or `/`.",
    ),
    both(
        "walls.hide",
        Form::HiddenPaths,
        "[]",
        "What they cannot see, in addition to credentials and the sockets of daemons. The project's are added to the user's.",
    ),
    user(
        "walls.open",
        Form::Choices(OPENABLE),
        "[]",
        "Names of what is not hidden from them although it usually is, such as `ssh` or `docker`.",
    ),
    both(
        "walls.network",
        Form::Choice(WALL_NETWORKS),
        "\"on\"",
        "Whether they have a network, if their phase and workflow do not say it. Agents that need their model need it. A project can only say `off`.",
    ),
    both(
        "walls.processes",
        Form::UpTo(PROCESSES_MAX),
        "4096",
        "How many processes and threads of one attempt there may be at once, if its phase and workflow do not say it. A project can only say less.",
    ),
    Key {
        name: "walls.require",
        form: Form::Flag,
        default: "false",
        about: "Whether nothing is started where no wall stands. A project can only say `true`.",
        whose: Whose::UsersFalse,
    },
    user(
        "walls.own_sandbox",
        Form::Flag,
        "false",
        "Whether agents bring a sandbox of their own, which a part of the wall would break; that part is left out.",
    ),
    user(
        "prices.*",
        Form::Price,
        "",
        "What a model costs, in dollars per million tokens, if the agent does not report it: \
         `{ input, output, cache_read, cache_write }`. It takes precedence over the built-in table.",
    ),
    user(
        "trust.folders",
        Form::Folders,
        "[]",
        "Projects in or below these folders are trusted without a question.",
    ),
    user(
        "guards.builtin",
        Form::Flag,
        "true",
        "Whether the built-in rules about tool calls apply to new runs.",
    ),
    user(
        "guards.proof",
        Form::Choice(PROOF),
        "\"required\"",
        "Whether an agent must prove that it has its tools judged before it is given anything to do. \
         With `best-effort` it works without a proof, and `status` says so.",
    ),
];

const fn both(name: &'static str, form: Form, default: &'static str, about: &'static str) -> Key {
    Key { name, form, default, about, whose: Whose::Both }
}

const fn user(name: &'static str, form: Form, default: &'static str, about: &'static str) -> Key {
    Key { name, form, default, about, whose: Whose::User }
}

impl Key {
    /// Whether this is the setting at a path of names.
    pub(super) fn is_at(&self, path: &[&str]) -> bool {
        self.name.split('.').count() == path.len() && self.is_under(path)
    }

    /// True if this is the setting of that full name, whose user-chosen part may contain dots.
    pub(super) fn is_own(&self, name: &str) -> bool {
        let part = self.name.split_once('*').and_then(|(before, after)| {
            name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after))
        });
        part.is_some_and(|part| !part.is_empty())
    }

    /// Whether this setting is at or below a path of names.
    pub(super) fn is_under(&self, path: &[&str]) -> bool {
        let names = self.name.split('.');
        self.name.split('.').count() >= path.len()
            && names.zip(path).all(|(name, said)| name == "*" || name == *said)
    }

    /// Its name right below a path of names.
    pub(super) fn name_below(&self, path: &[&str]) -> Option<&'static str> {
        let name = self.is_under(path).then(|| self.name.split('.').nth(path.len())).flatten();
        name.filter(|name| *name != "*")
    }
}
