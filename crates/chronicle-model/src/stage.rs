//! Which turn answers which request, and what is kept of it. No IO: the server asks, and waits where it is told to.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::fill::Fill;
use crate::http::Incoming;
use crate::script::{Conversation, Failure, FailureKind, Script, ScriptedUsage, Stop, Turn, When};
use crate::wire::{Asked, Said};

/// Most requests that one server takes; an agent that never stops must not fill the memory.
const REQUESTS_MAX: usize = 5_000;
/// Headers whose value is a secret.
const KEYS: &[&str] = &["authorization", "x-api-key", "api-key", "cookie"];

/// One request and what came of it.
#[derive(Debug, Clone)]
pub struct Request {
    /// HTTP method, such as `POST`.
    pub method: String,
    /// Without what follows `?`.
    pub path: String,
    /// Names in lower case; keys are replaced.
    pub headers: BTreeMap<String, String>,
    /// The body; null when it is no JSON.
    pub body: Value,
    /// What it asks of the model, if it does.
    pub asked: Option<Asked>,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is being answered, or stalled.
    Open,
    /// A turn was played whole.
    Played {
        /// Of this conversation; none for a side request.
        conversation: Option<String>,
        /// What it was told to have cost.
        usage: ScriptedUsage,
    },
    /// An error was given.
    Failed(u16),
    /// The connection was broken on purpose.
    Cut,
    /// The agent hung up first.
    Gone,
    /// It asked for a number or a list, and got it.
    Aside,
}

/// Everything that changes while a server runs.
pub(crate) struct Stage {
    script: Script,
    /// Per conversation: the turn that comes next, and how often it was played already.
    cursors: Vec<(usize, u32)>,
    pub(crate) requests: Vec<Request>,
    pub(crate) complaints: Vec<String>,
    pub(crate) stalled: BTreeSet<String>,
    pub(crate) released: BTreeSet<String>,
    pub(crate) is_closed: bool,
}

/// What to do with a request.
pub(crate) struct Scene {
    pub(crate) number: usize,
    pub(crate) conversation: Option<String>,
    pub(crate) turn: Turn,
    pub(crate) said: Said,
}

impl Stage {
    pub(crate) fn new(script: Script) -> Self {
        Self {
            cursors: vec![(0, 0); script.conversations.len()],
            script,
            requests: Vec::new(),
            complaints: Vec::new(),
            stalled: BTreeSet::new(),
            released: BTreeSet::new(),
            is_closed: false,
        }
    }

    pub(crate) fn models(&self) -> &[String] {
        &self.script.models
    }

    /// Keeps a request; none when there were too many.
    pub(crate) fn keep(
        &mut self,
        incoming: &Incoming,
        body: Value,
        asked: Option<Asked>,
    ) -> Option<usize> {
        if self.requests.len() >= REQUESTS_MAX {
            return None;
        }
        let headers = incoming.headers.iter().map(|(name, value)| {
            let value = if KEYS.contains(&name.as_str()) { "(hidden)" } else { value };
            (name.clone(), value.to_owned())
        });
        self.requests.push(Request {
            method: incoming.method.clone(),
            path: incoming.path.clone(),
            headers: headers.collect(),
            body,
            asked,
            outcome: Outcome::Open,
        });
        Some(self.requests.len() - 1)
    }

    pub(crate) fn settle(&mut self, number: usize, outcome: Outcome) {
        if let Some(request) = self.requests.get_mut(number) {
            request.outcome = outcome;
        }
    }

    /// What answers a request that was kept.
    pub(crate) fn scene(&mut self, number: usize, path: &str, asked: &Asked) -> Scene {
        let (conversation, turn) = self.take(path, asked);
        let fill = Fill { asked, words: &self.script.words };
        let (turn, said) = match said(number, &turn, asked, &fill) {
            Ok(said) => (turn, said),
            Err(why) => {
                self.complaints.push(why.clone());
                (refusal(why), Said { calls: Vec::new(), ..plain(number, asked, String::new()) })
            }
        };
        Scene { number, conversation, turn, said }
    }

    fn take(&mut self, path: &str, asked: &Asked) -> (Option<String>, Turn) {
        let fits = |it: &Conversation| it.when.fits(path, asked);
        let Some(index) = self.script.conversations.iter().position(fits) else {
            return (None, self.beside(asked));
        };
        let conversation = &self.script.conversations[index];
        let name = conversation.name.clone();
        let (at, played) = &mut self.cursors[index];
        let Some(turn) = conversation.turns.get(*at).cloned() else {
            let why = format!("`{name}` has no turn left for request {}", self.requests.len());
            self.complaints.push(why.clone());
            return (Some(name), refusal(why));
        };
        *played += 1;
        let times = turn.times.unwrap_or(1);
        // 0 means for ever: the last turn of a conversation that an agent may continue as long as it likes.
        if times != 0 && *played >= times {
            (*at, *played) = (*at + 1, 0);
        }
        (Some(name), turn)
    }

    /// A side request gets a harmless answer; one with tools should have had a conversation.
    fn beside(&mut self, asked: &Asked) -> Turn {
        // Agents ask for titles and summaries beside the conversation, without tools and at any time. No script could
        // foresee them.
        if asked.tools.is_empty() {
            return Turn {
                say: Some(self.script.side.clone()),
                usage: ScriptedUsage { input: 1, output: 1, ..ScriptedUsage::NONE },
                ..Turn::default()
            };
        }
        let why = format!("no conversation fits request {}", self.requests.len());
        self.complaints.push(why.clone());
        refusal(why)
    }

    /// Turns that nobody asked for, and what went wrong.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let mut found = self.complaints.clone();
        for (conversation, (at, _)) in self.script.conversations.iter().zip(&self.cursors) {
            let left = conversation.turns[*at..].iter().filter(|it| it.times != Some(0)).count();
            if left > 0 {
                found.push(format!("`{}` still has turns: {left}", conversation.name));
            }
        }
        found
    }
}

/// What a script's own mistake looks like to the agent: an error that none of them retries.
fn refusal(why: String) -> Turn {
    let failure = Failure {
        kind: FailureKind::BadRequest,
        retry_after: None,
        reset: None,
        message: Some(why),
        midway: false,
    };
    Turn { fail: Some(failure), ..Turn::default() }
}

fn said(number: usize, turn: &Turn, asked: &Asked, fill: &Fill<'_>) -> Result<Said, String> {
    let text = |it: &Option<String>| it.as_deref().map(|it| fill.text(it)).transpose();
    let calls = turn.calls.iter().map(|it| Ok((it.tool.clone(), fill.value(&object(&it.input))?)));
    Ok(Said {
        think: text(&turn.think)?,
        say: text(&turn.say)?,
        calls: calls.collect::<Result<_, String>>()?,
        usage: turn.usage,
        brief: turn.brief,
        stop: turn.stop(),
        ..plain(number, asked, String::new())
    })
}

fn plain(number: usize, asked: &Asked, say: String) -> Said {
    Said {
        number,
        model: asked.model.clone(),
        think: None,
        say: Some(say),
        calls: Vec::new(),
        usage: ScriptedUsage::NONE,
        brief: false,
        stop: Stop::End,
    }
}

/// Tools take objects; a call without input takes an empty one.
fn object(input: &Value) -> Value {
    if input.is_null() { Value::Object(serde_json::Map::new()) } else { input.clone() }
}

impl When {
    fn fits(&self, path: &str, asked: &Asked) -> bool {
        let has = |wanted: &Option<String>, text: &str| {
            wanted.as_deref().is_none_or(|wanted| text.contains(wanted))
        };
        let has_tools = !asked.tools.is_empty();
        has(&self.path, path)
            && has(&self.system, &asked.system)
            && has(&self.first, asked.first())
            && has(&self.last, &asked.last())
            && has(&self.model, &asked.model)
            && has_tools == self.tools.unwrap_or(true)
    }
}
