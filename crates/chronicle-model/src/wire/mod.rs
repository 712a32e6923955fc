//! How each protocol says the same things: one file each, all of them translators.
//!
//! A protocol reads a body into [`Asked`], and writes a [`Said`] whole, as a stream, or an error. A new one is a file with a
//! [`Wire`] and one line in [`WIRES`].

mod anthropic;
mod chat;

use serde_json::{Value, json};

use crate::http::Reply;
use crate::script::{Failure, ScriptedUsage, Stop};

/// Longest piece of a text that one event of a stream carries, in characters.
const PIECE_MAX: usize = 24;

/// What the model was asked, in no protocol's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// The model that the agent asked for.
    pub model: String,
    /// The system prompt, its parts joined by line ends.
    pub system: String,
    /// The history, oldest first.
    pub messages: Vec<ChatMessage>,
    /// Names of the declared tools.
    pub tools: Vec<String>,
    /// Whether the answer is to come piece by piece.
    pub stream: bool,
}

/// One message of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// The sender of the message.
    pub role: Role,
    /// Its texts, joined by line ends.
    pub text: String,
    /// What was called in it.
    pub calls: Vec<Called>,
    /// What tools answered in it.
    pub results: Vec<ToolResult>,
}

/// The sender of a message in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The agent's own instructions.
    System,
    /// A person, or a tool.
    User,
    /// The model, in an earlier turn.
    Assistant,
}

/// A tool call of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// The agent's id of the call.
    pub id: String,
    /// Name of the tool that ran.
    pub tool: String,
    /// What it was given.
    pub input: Value,
}

/// A tool result of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The id of its call.
    pub id: String,
    /// Text that the tool returned.
    pub text: String,
    /// Whether the tool failed; not every protocol says.
    pub is_error: bool,
}

impl ChatMessage {
    /// A message without any content.
    pub fn new(role: Role) -> Self {
        Self { role, text: String::new(), calls: Vec::new(), results: Vec::new() }
    }
}

impl Asked {
    /// The first text of a person.
    pub fn first(&self) -> &str {
        let first = self.messages.iter().find(|it| it.role == Role::User);
        first.map_or("", |message| &message.text)
    }

    /// The texts of all messages, oldest first.
    pub fn texts(&self) -> String {
        self.messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// What all tools of the history answered, oldest first.
    pub fn results(&self) -> Vec<&str> {
        let results = self.messages.iter().flat_map(|message| &message.results);
        results.map(|result| result.text.as_str()).collect()
    }

    /// The last message's text and results.
    pub fn last(&self) -> String {
        let Some(message) = self.messages.last() else { return String::new() };
        let mut text = message.text.clone();
        for result in &message.results {
            text.push('\n');
            text.push_str(&result.text);
        }
        text
    }
}

/// What the model says, with everything filled in.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    /// Counts the answers of this server; ids are made from it.
    pub(crate) number: usize,
    pub(crate) model: String,
    pub(crate) think: Option<String>,
    pub(crate) say: Option<String>,
    /// Pairs of tool name and input.
    pub(crate) calls: Vec<(String, Value)>,
    pub(crate) usage: ScriptedUsage,
    pub(crate) brief: bool,
    pub(crate) stop: Stop,
}

/// A protocol between agents and models.
pub(crate) trait Wire: Sync {
    /// The end of the path that it answers.
    fn path(&self) -> &'static str;
    fn read(&self, body: &Value) -> Asked;
    fn whole(&self, said: &Said) -> Value;
    /// The events of a stream, ready to be sent.
    fn stream(&self, said: &Said, body: &Value) -> Vec<String>;
    fn failure(&self, failure: &Failure, number: usize) -> Reply;
    /// An error inside a stream that began well.
    fn failure_in_stream(&self, failure: &Failure, number: usize) -> String;
}

const WIRES: &[&dyn Wire] = &[&anthropic::Messages, &chat::Completions];

/// The protocol of a path.
pub(crate) fn find(path: &str) -> Option<&'static dyn Wire> {
    WIRES.iter().copied().find(|wire| path.ends_with(wire.path()))
}

/// What agents ask besides answers: how long something is, which models there are.
pub(crate) fn aside(method: &str, path: &str, body: &Value, models: &[String]) -> Option<Value> {
    if method == "POST" && path.ends_with("/v1/messages/count_tokens") {
        let about = body.to_string().len() / 4;
        return Some(json!({"input_tokens": about}));
    }
    if method != "GET" || !path.ends_with("/models") {
        return None;
    }
    let data: Vec<Value> = models.iter().map(|id| model(id)).collect();
    let (first, last) = (models.first(), models.last());
    Some(json!({
        "object": "list", "data": data, "has_more": false, "first_id": first, "last_id": last,
    }))
}

/// A model as both kinds of clients read it.
fn model(id: &str) -> Value {
    json!({
        "id": id, "type": "model", "object": "model", "display_name": id,
        "created_at": "2026-01-01T00:00:00Z", "created": 1_767_225_600, "owned_by": "script",
    })
}

/// A text in the pieces in which it is streamed.
fn pieces(text: &str) -> Vec<String> {
    // By characters and not by bytes: each piece is JSON of its own, which cannot hold half a character.
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(PIECE_MAX).map(|piece| piece.iter().collect()).collect()
}

/// A tool's input in the pieces in which it is streamed: never inside a path, so that a recording can replace it.
fn input_pieces(input: &Value) -> Vec<String> {
    // Pieces that are no JSON by themselves, as a real model sends them: a reader has to join them first.
    input.to_string().split_inclusive(',').map(str::to_owned).collect()
}

/// The texts of a content that is a text or a list of blocks.
fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
