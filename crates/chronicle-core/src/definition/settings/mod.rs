//! What people set once instead of saying it each time: the project's `config.toml` and the user's.
//!
//! `keys.rs` is the table of all settings, `read.rs` turns a file into values and problems; this puts the files together.
//! A phase and a workflow have their own say before any setting, and a flag before all of them; that is not done here.

mod keys;
mod read;
mod write;

use std::collections::BTreeMap;
use std::fmt;

pub use keys::{Form, KEYS, Key, Whose};
pub(crate) use read::dollars;
pub use write::commented;

use crate::base::limits::{Limits, LoopCount, LoopLimit, LoopProgress};
use crate::definition::prices::Price;
use crate::definition::workflow::{Budget, Problem, Problems, Source};

/// From so many megabytes of recorded files on people are told how to free some.
const TREES_WARN_MB: u64 = 2048;
const TREES_MAX_FILE_MB: u64 = 100;

/// Whose file it is; the later one has the last word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The user's, for every project.
    User,
    /// The project's.
    Project,
}

/// All settings of a person in a project.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    said: BTreeMap<String, Said>,
}

/// What a file says about one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The value.
    pub value: Value,
    /// Whose file.
    pub layer: Layer,
    /// Which file, as it was named by the caller.
    pub file: String,
    /// From 1.
    pub line: usize,
}

/// A value of a setting.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text, or one of some words.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// A number.
    Number(u64),
    /// Millionths of a dollar.
    Micros(u64),
    /// Milliseconds; none = for ever.
    Time(Option<u64>),
    /// Texts.
    Texts(Vec<String>),
    /// When going back and forth becomes a loop.
    Loop(LoopLimit),
    /// What a model costs.
    Price(Price),
}

/// A setting as people are shown it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<'s> {
    /// Its full name.
    pub name: String,
    /// What is known about it.
    pub key: &'static Key,
    /// What a file says; none = the default holds.
    pub said: Option<&'s Said>,
}

/// Reads files, the user's before the project's. Where something is wrong, that setting is left out and told.
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
    /// The last word counts, but for secrets: what anybody calls one is one.
    fn put(&mut self, name: String, mut said: Said) {
        let before = self.said.get(&name).map(|before| &before.value);
        if let (Some(Value::Texts(before)), Value::Texts(now)) = (before, &mut said.value)
            && name.starts_with("redact.")
        {
            now.extend(before.iter().filter(|old| !now.contains(old)).cloned().collect::<Vec<_>>());
        }
        self.said.insert(name, said);
    }

    /// What files say about a setting, by its full name.
    pub fn said(&self, name: &str) -> Option<&Said> {
        self.said.get(name)
    }

    /// Every setting; those under names of the person's own only where a file says them.
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

    /// Whether a setting is said to be so.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.said(name), Some(Said { value: Value::Flag(true), .. }))
    }

    /// A setting that is a list; empty when nothing is said.
    pub fn texts(&self, name: &str) -> &[String] {
        let Some(Value::Texts(texts)) = self.said(name).map(|said| &said.value) else { return &[] };
        texts
    }

    /// Whether a supervisor stays while a person is needed.
    pub fn waits_at_gates(&self) -> bool {
        self.text("on_gate") == Some("wait")
    }

    /// The largest file that is recorded, in bytes.
    pub fn trees_max_file_bytes(&self) -> u64 {
        self.number("trees.max_file_mb").unwrap_or(TREES_MAX_FILE_MB).saturating_mul(1_000_000)
    }

    /// From how many bytes of recorded files on people are told how to free some.
    pub fn trees_warn_bytes(&self) -> u64 {
        self.number("trees.warn_mb").unwrap_or(TREES_WARN_MB).saturating_mul(1_000_000)
    }

    /// The command of an agent, where one is set.
    pub fn agent_command(&self, agent: &str) -> Option<&str> {
        self.text(&format!("agents.{agent}.command"))
    }

    /// Whether an agent is to reach the signal server by HTTP.
    pub fn prefers_http(&self, agent: &str) -> bool {
        self.text(&format!("agents.{agent}.signals")) == Some("http")
    }

    /// The names under which agents are set.
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

    /// Limits of workflows that set none.
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
            timeout_ms: self.time("limits.timeout", default.timeout_ms),
        }
    }

    fn number(&self, name: &str) -> Option<u64> {
        let (Value::Number(number) | Value::Micros(number)) = self.said(name)?.value else {
            return None;
        };
        Some(number)
    }

    /// A time as it is said, else another; none = for ever.
    fn time(&self, name: &str, otherwise: Option<u64>) -> Option<u64> {
        match self.said(name) {
            Some(Said { value: Value::Time(time), .. }) => *time,
            Some(_) | None => otherwise,
        }
    }

    /// What runs of workflows that set no budget may spend; none when nothing is said.
    pub fn budget(&self) -> Option<Budget> {
        let attempts = self.number("budget.attempts");
        let budget = Budget {
            usd_micros: self.number("budget.usd"),
            tokens: self.number("budget.tokens"),
            time_ms: self.time("budget.time", None),
            attempts: attempts.map(|it| u32::try_from(it).unwrap_or(u32::MAX)),
        };
        (budget != Budget::default()).then_some(budget)
    }
}

impl fmt::Display for Value {
    /// As a file would write it.
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
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// JSON's escapes are TOML's too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// In the largest unit that needs no fraction.
fn time(ms: u64) -> String {
    match ms {
        ms if ms % 3_600_000 == 0 => format!("{}h", ms / 3_600_000),
        ms if ms % 60_000 == 0 => format!("{}m", ms / 60_000),
        ms if ms % 1_000 == 0 => format!("{}s", ms / 1_000),
        ms => format!("{ms}ms"),
    }
}
