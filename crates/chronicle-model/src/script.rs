//! What the model says: conversations, each with the turns that it takes in order.
//!
//! ```yaml
//! conversations:
//!   - name: main
//!     when: {first: add a login page}     # each given text must occur; without `when`, any request with tools
//!     turns:
//!       - think: Let me write it.
//!         say: Writing.
//!         calls: [{tool: Write, input: {file_path: "{{project}}/a.txt", content: hi}}]
//!         usage: {input: 1200, output: 34, cache_read: 800, cache_write: 300}
//!       - fail: {kind: rate_limited, retry_after: 1}
//!         times: 2
//!       - {say: Done., stall: {name: late, at: middle}}
//!       - {say: As slow as a real one., pace_ms: 25}
//! ```
//!
//! A turn is used up by the request that it answers, also when it fails, is cut or stalls: a retry gets the next one. A
//! request that declares no tools is a side request of the agent (a title, a warm-up) and uses up nothing, unless a
//! conversation asks for it with `when: {tools: false}`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// What side requests get when the script does not say.
const SIDE: &str = "OK";
/// The model that is listed when the script names none.
const MODEL: &str = "scripted-model";

/// A script of turns that the model plays.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The first one that fits a request answers it.
    #[serde(default)]
    pub conversations: Vec<Conversation>,
    /// What a list of models names.
    #[serde(default = "models")]
    pub models: Vec<String>,
    /// What side requests are told.
    #[serde(default = "side")]
    pub side: String,
    /// What `{{name}}` stands for, besides results and prompts.
    #[serde(default)]
    pub words: BTreeMap<String, String>,
}

/// Turns that answer the same line of talk.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    /// How records and complaints name it.
    pub name: String,
    /// Which requests belong to it.
    #[serde(default)]
    pub when: When,
    /// What is said, in order.
    pub turns: Vec<Turn>,
}

/// What a request must contain. What is not given does not matter.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// In the path before `/v1`, which an agent takes from its base address.
    pub path: Option<String>,
    /// In the system prompt.
    pub system: Option<String>,
    /// In the first message of a person.
    pub first: Option<String>,
    /// In the last message.
    pub last: Option<String>,
    /// In the model's name.
    pub model: Option<String>,
    /// Whether tools are declared: yes, unless said otherwise.
    pub tools: Option<bool>,
}

/// One answer of the model, in no protocol's words.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// Its thoughts, which come first.
    pub think: Option<String>,
    /// Its text, which comes next.
    pub say: Option<String>,
    /// The tools that it wants, which come last.
    pub calls: Vec<ScriptedCall>,
    /// What the turn is said to have cost.
    pub usage: ScriptedUsage,
    /// Whether the end of a stream reports only what came out. The published API repeats what went in; some gateways do not.
    pub brief: bool,
    /// Why it ends; by itself, because it said all or wants tools.
    pub stop: Option<Stop>,
    /// Waits until it is let go.
    pub stall: Option<Stall>,
    /// Milliseconds before each event of the stream: a model takes its time. None where the answer is not streamed.
    pub pace_ms: u64,
    /// Whether the connection breaks in the middle.
    pub cut: bool,
    /// An error instead of an answer.
    pub fail: Option<Failure>,
    /// How often it is played; 0 is for ever.
    pub times: Option<u32>,
}

/// A tool that the model wants to use.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// Its name, as the agent declared it.
    pub tool: String,
    /// What it is given; texts in it may have `{{…}}`.
    #[serde(default)]
    pub input: Value,
}

/// Tokens. The four kinds do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptedUsage {
    /// Read, and not from the cache.
    pub input: u64,
    /// Output tokens of the turn.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Read, and put into the cache.
    pub cache_write: u64,
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model finished its message.
    End,
    /// The model wants to call tools.
    Tools,
    /// It would have been too long.
    Length,
    /// The model refused to answer.
    Refusal,
}

/// A wait that only [`crate::Server::release`] ends.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// How it is let go.
    pub name: String,
    /// Where in the turn it waits.
    #[serde(default)]
    pub at: StallAt,
}

/// Where a turn waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StallAt {
    /// Before anything is sent, headers included.
    #[default]
    Start,
    /// After half of the stream; an answer that is not streamed waits at the start.
    Middle,
}

/// An error in the words of the protocol.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Kind of failure that is played.
    pub kind: FailureKind,
    /// Seconds until a retry is welcome.
    #[serde(default)]
    pub retry_after: Option<u32>,
    /// When the limit is lifted: RFC 3339, as the real headers say it.
    #[serde(default)]
    pub reset: Option<String>,
    /// Other words than the usual ones.
    #[serde(default)]
    pub message: Option<String>,
    /// Whether it comes inside a stream that began well.
    #[serde(default)]
    pub midway: bool,
}

/// Errors that real servers give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// 400: a request that makes no sense.
    BadRequest,
    /// 400: more than the model can read.
    ContextOverflow,
    /// 401: a key that is not known.
    Unauthorized,
    /// 403: a key that may not.
    Forbidden,
    /// 404: a model that does not exist.
    NotFound,
    /// 429: too much in a short time.
    RateLimited,
    /// 429: nothing left until a reset.
    QuotaSpent,
    /// 500: broken over there.
    ServerError,
    /// 529, or 503: too many want something.
    Overloaded,
}

/// A script that cannot be read.
#[derive(Debug, Error)]
#[error("the script cannot be read: {0}")]
pub struct ScriptError(String);

impl Script {
    /// Parses a script from YAML.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let script: Self =
            serde_saphyr::from_str(text).map_err(|it| ScriptError(it.to_string()))?;
        for conversation in &script.conversations {
            if let Some(turn) = conversation.turns.iter().position(Turn::is_empty) {
                let name = &conversation.name;
                let why = format!("turn {} of `{name}` says nothing and calls nothing", turn + 1);
                return Err(ScriptError(why));
            }
        }
        Ok(script)
    }

    /// Says what `{{name}}` stands for.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.words.insert(name.to_owned(), value.into());
        self
    }
}

impl Turn {
    fn is_empty(&self) -> bool {
        let says = self.think.is_some() || self.say.is_some() || !self.calls.is_empty();
        !says && self.fail.is_none() && !self.cut && self.stall.is_none()
    }

    /// Why the turn ends, as protocols report it.
    pub fn stop(&self) -> Stop {
        let natural = if self.calls.is_empty() { Stop::End } else { Stop::Tools };
        self.stop.unwrap_or(natural)
    }
}

impl Default for ScriptedUsage {
    fn default() -> Self {
        Self { input: 100, output: 10, cache_read: 0, cache_write: 0 }
    }
}

impl ScriptedUsage {
    /// No tokens of any kind.
    pub const NONE: Self = Self { input: 0, output: 0, cache_read: 0, cache_write: 0 };

    /// Adds both, kind by kind.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            output: self.output + other.output,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
        }
    }

    /// Everything that was read, from the cache or not.
    pub fn read(self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }
}

fn models() -> Vec<String> {
    vec![MODEL.to_owned()]
}

fn side() -> String {
    SIDE.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_does_nothing_is_refused_with_its_place() {
        let text = "conversations: [{name: main, turns: [{say: hi}, {times: 2}]}]";
        let error = Script::parse(text).unwrap_err().to_string();
        assert!(error.ends_with("turn 2 of `main` says nothing and calls nothing"), "{error}");
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(Script::parse("conversations: [{name: a, turns: [{sai: hi}]}]").is_err());
        assert!(Script::parse("conversations: [{name: a, turns: [{fail: {kind: odd}}]}]").is_err());
    }

    #[test]
    fn a_turn_with_calls_stops_for_them() {
        let script = "conversations: [{name: a, turns: [{calls: [{tool: x}]}, {say: y}]}]";
        let turns = &Script::parse(script).unwrap().conversations[0].turns;
        assert_eq!((turns[0].stop(), turns[1].stop()), (Stop::Tools, Stop::End));
    }
}
