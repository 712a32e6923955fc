//! Settings: the project's `config.toml` and the user's.
//!
//! `keys.rs` is the table of all settings, `read.rs` turns a file into values and problems, `edit.rs` changes one setting in a
//! file; this module merges the files. Fields of a phase or workflow override settings, and flags override both; that happens elsewhere.

mod edit;
mod keys;
mod read;
mod write;

use std::collections::BTreeMap;
use std::fmt;

pub use edit::{Target, literal, set, target, unset};
pub use keys::{Form, KEYS, Key, Whose};
pub(crate) use read::dollars;
pub use write::commented;

use crate::base::limits::{Limits, LoopCount, LoopLimit, LoopProgress};
use crate::base::redact::{REDACTED, is_secret_name};
use crate::definition::environment::EnvList;
use crate::definition::prices::Price;
use crate::definition::walls::{WallFiles, WallNetwork, Walls};
use crate::definition::workflow::{Budget, Problem, Problems, Source};

/// How many agents work at once on a machine whose user says nothing.
const MACHINE_AGENTS: u32 = 8;
/// Size of recorded files, in megabytes, from which on people are told how to free space.
const TREES_WARN_MB: u64 = 2048;
/// Size of the largest file that is recorded, in megabytes. A changed file is stored whole each time, and no attempt can start
/// while it is read: this keeps both within bounds.
pub const TREES_MAX_FILE_MB: u64 = 25;

/// Which file a value comes from; the later one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The user's file, for every project.
    User,
    /// The file in the project's `.chronicle` folder.
    Project,
}

/// The merged settings of a person in a project.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    said: BTreeMap<String, Said>,
}

/// One value that a file sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The parsed value, of the kind that the key allows.
    pub value: Value,
    /// Which of the two files.
    pub layer: Layer,
    /// The file's path, as the caller named it.
    pub file: String,
    /// Line in the file, from 1.
    pub line: usize,
}

/// A value of a setting.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text, or one of some words.
    Text(String),
    /// A boolean of a [`Form::Flag`] setting.
    Flag(bool),
    /// A whole number; the key says its unit.
    Number(u64),
    /// Millionths of a dollar.
    Micros(u64),
    /// Milliseconds; `None` for no limit.
    Time(Option<u64>),
    /// A list of strings.
    Texts(Vec<String>),
    /// Environment variables with their values.
    Variables(BTreeMap<String, String>),
    /// When going back and forth becomes a loop.
    Loop(LoopLimit),
    /// What a model costs.
    Price(Price),
}

/// A setting as people see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<'s> {
    /// With the user-chosen part filled in.
    pub name: String,
    /// Its row in the table.
    pub key: &'static Key,
    /// The value from a file; `None` if the default applies.
    pub said: Option<&'s Said>,
}

/// Reads files, the user's before the project's. An invalid setting is left out and reported.
pub fn read(files: &[(Layer, Source)]) -> (Settings, Vec<Problem>) {
    let mut problems = Problems::default();
    let mut settings = Settings::default();
    for (index, (layer, source)) in files.iter().enumerate() {
        for (name, value, line) in read::read(index, *layer, &source.text, &mut problems) {
            let file = source.name.clone();
            settings.put(name, Said { value, layer: *layer, file, line });
        }
    }
    let sources: Vec<Source> = files.iter().map(|(_, source)| source.clone()).collect();
    (settings, problems.finish(&sources))
}

impl Settings {
    /// The later file wins, except for secrets, what of them workers get, and walls: lists of both files add up.
    fn put(&mut self, name: String, mut said: Said) {
        let before = self.said.get(&name).map(|before| &before.value);
        // A project may narrow the walls of its user, and never widen them.
        if before.is_some_and(|before| is_narrower(&name, before, &said.value)) {
            return;
        }
        // Nor let more agents work on the user's machine than they want, or than the default is.
        if said.layer == Layer::Project && lets_more_work(&name, before, &said.value) {
            return;
        }
        if let (Some(Value::Texts(before)), Value::Texts(now)) = (before, &mut said.value)
            && (["redact.", "walls."].iter().any(|table| name.starts_with(table))
                || is_of_environment(&name))
        {
            // A project must not be able to take away what the user wants to be hidden, or kept from workers.
            now.extend(before.iter().filter(|old| !now.contains(old)).cloned().collect::<Vec<_>>());
        }
        self.said.insert(name, said);
    }

    /// The value that files set, by the setting's full name.
    pub fn said(&self, name: &str) -> Option<&Said> {
        self.said.get(name)
    }

    /// Every setting. Those with user-chosen names appear only if a file sets them.
    pub fn rows(&self) -> Vec<Row<'_>> {
        let row = |key: &'static Key| -> Vec<Row<'_>> {
            if !key.name.contains('*') {
                return vec![Row { name: key.name.to_owned(), key, said: self.said(key.name) }];
            }
            let own = self.said.iter().filter(|(name, _)| key.is_own(name));
            own.map(|(name, said)| Row { name: name.clone(), key, said: Some(said) }).collect()
        };
        KEYS.iter().flat_map(row).collect()
    }

    /// A setting that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        let Value::Text(text) = &self.said(name)?.value else { return None };
        Some(text)
    }

    /// True if a flag is set to true.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.said(name), Some(Said { value: Value::Flag(true), .. }))
    }

    /// True unless the user turned the built-in rules off.
    pub fn built_in_rules(&self) -> bool {
        !matches!(self.said("guards.builtin"), Some(Said { value: Value::Flag(false), .. }))
    }

    /// A list; empty if nothing is set.
    pub fn texts(&self, name: &str) -> &[String] {
        let Some(Value::Texts(texts)) = self.said(name).map(|said| &said.value) else { return &[] };
        texts
    }

    /// True if the supervisor keeps running while a person is needed.
    pub fn waits_at_gates(&self) -> bool {
        self.text("on_gate") == Some("wait")
    }

    /// True if an agent may work that did not prove that it has its tools judged.
    pub fn guards_best_effort(&self) -> bool {
        self.text("guards.proof") == Some("best-effort")
    }

    /// Largest file that is recorded, in bytes.
    pub fn trees_max_file_bytes(&self) -> u64 {
        self.number("trees.max_file_mb").unwrap_or(TREES_MAX_FILE_MB).saturating_mul(1_000_000)
    }

    /// Size of recorded files, in bytes, from which on people are told how to free space.
    pub fn trees_warn_bytes(&self) -> u64 {
        self.number("trees.warn_mb").unwrap_or(TREES_WARN_MB).saturating_mul(1_000_000)
    }

    /// The configured command of an agent, if any.
    pub fn agent_command(&self, agent: &str) -> Option<&str> {
        self.text(&format!("agents.{agent}.command"))
    }

    /// How many agents may work at once on this machine.
    pub fn machine_agents(&self) -> u32 {
        self.number("machine.agents").map_or(MACHINE_AGENTS, small)
    }

    /// How many attempts of an agent may work at once on this machine, by each name that limits it.
    pub fn agents_at_once<'a>(&'a self, agent: &'a str) -> Vec<(&'a str, u32)> {
        let most = |name: &str| self.number(&format!("agents.{name}.at_once")).map(small);
        let named = self.names_of(agent).into_iter();
        named.filter_map(|name| Some((name, most(name)?))).collect()
    }

    /// True if an agent should reach the signal server over HTTP.
    pub fn prefers_http(&self, agent: &str) -> bool {
        self.text(&format!("agents.{agent}.signals")) == Some("http")
    }

    /// Which variables of the user the workers of an agent get.
    pub fn agent_env_names(&self, agent: &str) -> EnvList {
        let list = |name: &str, what| self.texts(&format!("agents.{name}.env.{what}")).to_vec();
        let said = self.names_of(agent).into_iter();
        let said = said.map(|name| EnvList { pass: list(name, "pass"), drop: list(name, "drop") });
        said.fold(EnvList::default(), |all, said| all.and(&said))
    }

    /// Variables that the workers of an agent get in addition.
    pub fn agent_env(&self, agent: &str) -> BTreeMap<String, String> {
        let of_name = |name: &str| {
            let said = self.said(&format!("agents.{name}.env.set"));
            match said.map(|said| &said.value) {
                Some(Value::Variables(variables)) => variables.clone(),
                Some(_) | None => BTreeMap::new(),
            }
        };
        self.names_of(agent).into_iter().flat_map(of_name).collect()
    }

    /// The names by which settings speak of an agent: its kind, such as `command` for `command:PROGRAM`, then names of the user's own for
    /// the same command, by which a run does not know it any more.
    fn names_of<'a>(&'a self, agent: &'a str) -> Vec<&'a str> {
        let Some((kind, line)) = agent.split_once(':') else { return vec![agent] };
        let is_it = |name: &&str| kind == "command" && self.agent_command(name) == Some(line);
        std::iter::once(kind).chain(self.agents().filter(is_it)).collect()
    }

    /// Walls of workers and commands whose phase and workflow say nothing else.
    pub fn walls(&self) -> Walls {
        let list = |name: &str| self.texts(name).to_vec();
        Walls {
            files: self.text("walls.files").map(|files| match files {
                "read" => WallFiles::Read,
                _ => WallFiles::Write,
            }),
            paths: list("walls.paths"),
            hide: list("walls.hide"),
            open: list("walls.open"),
            network: self.text("walls.network").map(|network| match network {
                "off" => WallNetwork::Off,
                _ => WallNetwork::On,
            }),
            processes: self.number("walls.processes"),
            require: self.flag("walls.require"),
            own_sandbox: self.said("walls.own_sandbox").map(|said| said.value == Value::Flag(true)),
        }
    }

    /// Every variable that the settings give to workers, with its value.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let set = self.said.values().filter_map(|said| {
            let Value::Variables(variables) = &said.value else { return None };
            Some(variables)
        });
        set.flatten().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Names of the configured agents.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.said.keys().filter_map(|name| name.strip_prefix("agents.")?.strip_suffix(".command"))
    }

    /// A person's own prices, by model.
    pub fn prices(&self) -> impl Iterator<Item = (&str, Price)> {
        self.said.iter().filter_map(|(name, said)| {
            let Value::Price(price) = said.value else { return None };
            Some((name.strip_prefix("prices.")?, price))
        })
    }

    /// Limits for workflows that set none.
    pub fn limits(&self) -> Limits {
        let default = Limits::default();
        let count = |name, otherwise: u32| {
            self.number(name).map_or(otherwise, |it| u32::try_from(it).unwrap_or(u32::MAX))
        };
        Limits {
            loops: match self.said("limits.loop") {
                Some(Said { value: Value::Loop(loops), .. }) => *loops,
                Some(_) | None => default.loops,
            },
            retries: count("limits.retries", default.retries),
            nudges: count("limits.nudges", default.nudges),
            losses: count("limits.losses", default.losses),
            continuations: count("limits.continuations", default.continuations),
            depth: count("limits.depth", default.depth),
            followups: count("limits.followups", default.followups),
            waits: count("limits.waits", default.waits),
            repeats: count("limits.repeats", default.repeats),
            standstill_ms: self.time("limits.standstill", default.standstill_ms),
            grace_ms: self.time("limits.grace", None).unwrap_or(default.grace_ms),
            idle_ms: self.time("limits.idle", default.idle_ms),
            tool_ms: self.time("limits.tool", default.tool_ms),
            ask_ms: self.time("limits.ask", default.ask_ms),
            timeout_ms: self.time("limits.timeout", default.timeout_ms),
            // `none` and nothing said both mean no time here, but commands have a default limit where nothing is said.
            untimed: matches!(
                self.said("limits.timeout"),
                Some(Said { value: Value::Time(None), .. })
            ),
        }
    }

    fn number(&self, name: &str) -> Option<u64> {
        let (Value::Number(number) | Value::Micros(number)) = self.said(name)?.value else {
            return None;
        };
        Some(number)
    }

    /// A time setting, or `otherwise` if unset; `None` for no limit.
    fn time(&self, name: &str, otherwise: Option<u64>) -> Option<u64> {
        match self.said(name) {
            Some(Said { value: Value::Time(time), .. }) => *time,
            Some(_) | None => otherwise,
        }
    }

    /// Budget of runs whose workflow sets none; `None` if no limit is set.
    pub fn budget(&self) -> Option<Budget> {
        let attempts = self.number("budget.attempts");
        let budget = Budget {
            usd_micros: self.number("budget.usd"),
            tokens: self.number("budget.tokens"),
            time_ms: self.time("budget.time", None),
            attempts: attempts.map(|it| u32::try_from(it).unwrap_or(u32::MAX)),
        };
        // No limit at all is no budget: a budget without limits would still be shown and counted.
        (budget != Budget::default()).then_some(budget)
    }
}

impl fmt::Display for Value {
    /// Formats the value as a file would write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Micros(micros) => f.write_str(&plain_dollars(*micros)),
            Self::Time(None) => f.write_str("\"none\""),
            Self::Time(Some(ms)) => write!(f, "\"{}\"", time(*ms)),
            Self::Texts(texts) => {
                let all: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
                write!(f, "[{}]", all.join(", "))
            }
            Self::Variables(variables) => {
                // Shown to people, and in what they pass on to others.
                let shown = |(name, value): (&String, &String)| {
                    let value = if is_secret_name(name) { REDACTED } else { value };
                    format!("{} = {}", edit::written(name), quoted(value))
                };
                let all: Vec<String> = variables.iter().map(shown).collect();
                write!(f, "{{ {} }}", all.join(", "))
            }
            Self::Loop(LoopLimit { progress: Some(progress), .. }) => {
                let LoopProgress { bounce, stagnation, cap } = progress;
                write!(
                    f,
                    "{{ policy = \"progress\", bounce = {bounce}, stagnation = {stagnation}, cap = {cap} }}"
                )
            }
            Self::Loop(LoopLimit { count, max, progress: None }) => {
                let count = match count {
                    LoopCount::Pair => "pair",
                    LoopCount::Edge => "edge",
                };
                write!(f, "{{ count = \"{count}\", max = {max} }}")
            }
            Self::Price(Price { input, output, cache_read, cache_write }) => {
                let [input, output] = [input, output].map(|it| plain_dollars(*it));
                let [read, write] = [cache_read, cache_write].map(|it| plain_dollars(*it));
                write!(
                    f,
                    "{{ input = {input}, output = {output}, cache_read = {read}, cache_write = {write} }}"
                )
            }
        }
    }
}

fn plain_dollars(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    // Zeros first and then the point: the other way round `10` would lose its zero.
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Whether what was said about walls before lets workers do less than what is said now.
fn is_narrower(name: &str, before: &Value, now: &Value) -> bool {
    let narrowest = match name {
        "walls.files" => "read",
        "walls.network" => "off",
        "walls.processes" => {
            return matches!((before, now), (Value::Number(before), Value::Number(now)) if before < now);
        }
        _ => return false,
    };
    matches!(before, Value::Text(text) if text == narrowest) && before != now
}

/// Whether a project says more than its user or the default about how many agents may work at once.
fn lets_more_work(name: &str, before: Option<&Value>, now: &Value) -> bool {
    let default = (name == "machine.agents").then_some(u64::from(MACHINE_AGENTS));
    let is_limit = default.is_some() || name.starts_with("agents.") && name.ends_with(".at_once");
    let before = match before {
        Some(Value::Number(before)) => Some(*before),
        Some(_) | None => default,
    };
    matches!((before, now), (Some(before), Value::Number(now)) if is_limit && *now > before)
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn is_of_environment(name: &str) -> bool {
    name.starts_with("agents.") && (name.ends_with(".env.pass") || name.ends_with(".env.drop"))
}

/// JSON's escapes are TOML's too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Uses the largest unit that needs no fraction.
fn time(ms: u64) -> String {
    match ms {
        ms if ms % 3_600_000 == 0 => format!("{}h", ms / 3_600_000),
        ms if ms % 60_000 == 0 => format!("{}m", ms / 60_000),
        ms if ms % 1_000 == 0 => format!("{}s", ms / 1_000),
        ms => format!("{ms}ms"),
    }
}
