//! Parses an agent's lines. It never fails: what cannot be read becomes `Seen::NotUnderstood`.

use chronicle_core::base::ids::SessionId;
use chronicle_core::base::limits::{TEXT_MAX, bounded};
use chronicle_core::base::quote::quoted;
use chronicle_core::base::shell;
use chronicle_core::base::time::Millis;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::event::signal::{self, Signal};
use chronicle_core::event::{Caller, Change, CrashClass, ToolKind};
use serde::Deserialize;
use serde_json::Value;

use super::{FROM_AGENT, PROTOCOL};
use crate::agents::figures::usd_micros;
use crate::agents::long::{LongLine, long};
use crate::agents::{LINE_MAX, NAME_MAX, PATH_MAX, RawCall, Seen};

/// Most options that are shown to a person.
const OPTIONS_MAX: usize = 20;

/// Parses one line. Work before the session was named breaks the protocol: it could not be resumed.
pub(super) fn read(line: &str, session_named: bool) -> Seen {
    let read = match long(line) {
        Some(line) => understand_start(line, session_named),
        None => understand(line, session_named),
    };
    read.unwrap_or_else(|why| Seen::NotUnderstood { why })
}

/// Parses the start of a line that was too long to be kept. What waits for an answer gets one, and the end of a call is an end.
fn understand_start(line: LongLine, session_named: bool) -> Result<Seen, String> {
    let LongLine { bytes, message } = line;
    let kind = message.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let waits = ["permission", "signal", "question"].contains(&kind.as_str());
    if !waits && !["tool_call", "tool_end"].contains(&kind.as_str()) {
        return Err(format!("a line of {bytes} bytes; the limit is {LINE_MAX}"));
    }
    let seen = match by_type(&kind, message) {
        Ok(Seen::Permission(raw)) => {
            Seen::Permission(Box::new(RawCall { too_large: Some(bytes), ..*raw }))
        }
        Ok(Seen::ToolCall(raw)) => {
            Seen::ToolCall(Box::new(RawCall { too_large: Some(bytes), ..*raw }))
        }
        Ok(Seen::Signal { request, .. }) => {
            let why = format!("its arguments are too large ({bytes} bytes): say it shorter");
            Seen::Signal { request, signal: Signal::Malformed(why) }
        }
        Ok(seen) => seen,
        // It waits for an answer, and nobody knows under which id.
        Err(why) if waits => broken(format!(
            "`{kind}` of {bytes} bytes cannot be answered: {why}; its names must come before the rest"
        )),
        Err(why) => return Err(why),
    };
    Ok(if session_named { seen } else { broken(format!("`{kind}` came before `session`")) })
}

fn understand(line: &str, session_named: bool) -> Result<Seen, String> {
    if line.len() > LINE_MAX {
        return Err(format!("a line of {} bytes; the limit is {LINE_MAX}", line.len()));
    }
    let mut message: Value =
        serde_json::from_str(line).map_err(|error| format!("not a line of JSON: {error}"))?;
    if let Value::Object(fields) = &mut message {
        // What is not said may be left out or be null.
        fields.retain(|_, value| !value.is_null());
    }
    let Some(kind) = message.get("type").and_then(Value::as_str).map(str::to_owned) else {
        return Err("a message without `type`".to_owned());
    };
    if !FROM_AGENT.contains(&kind.as_str()) {
        return Err(format!("a message of unknown type `{}`", quoted(&kind)));
    }
    let seen = by_type(&kind, message).map_err(|why| format!("`{kind}`: {why}"))?;
    // Work before the session is named could not be resumed after a crash. Errors may come first: an agent that cannot start
    // has no session to name.
    if session_named || is_allowed_first(&seen) {
        Ok(seen)
    } else {
        Ok(broken(format!("`{kind}` came before `session`")))
    }
}

fn by_type(kind: &str, message: Value) -> Result<Seen, String> {
    match kind {
        "session" => session(&fields(message)?),
        "text" => Ok(text(fields(message)?)),
        "tool_call" => raw_call(fields(message)?).map(Seen::ToolCall),
        "permission" => raw_call(fields(message)?).map(Seen::Permission),
        "tool_end" => tool_end(fields(message)?),
        "file_change" => file_change(fields(message)?),
        "usage" => usage(fields(message)?),
        "question" => question(fields(message)?),
        "signal" => signal(fields(message)?),
        "error" => Ok(error(&fields(message)?)),
        "quota" => quota(&fields(message)?),
        "finished" => Ok(Seen::Finished),
        other => Err(format!("no type of this protocol: `{other}`")),
    }
}

fn fields<'de, T: Deserialize<'de>>(message: Value) -> Result<T, String> {
    T::deserialize(message).map_err(|error| bounded(&error.to_string(), TEXT_MAX))
}

fn is_allowed_first(seen: &Seen) -> bool {
    matches!(
        seen,
        Seen::Session(_)
            | Seen::Text(_)
            | Seen::Thought(_)
            | Seen::Error { .. }
            | Seen::Retrying { .. }
            | Seen::QuotaReset { .. }
    )
}

fn broken(text: String) -> Seen {
    Seen::Error { class: CrashClass::Protocol, text }
}

#[derive(Deserialize)]
struct Session {
    protocol: u64,
    session: String,
}

fn session(message: &Session) -> Result<Seen, String> {
    if message.protocol != PROTOCOL {
        let theirs = message.protocol;
        return Ok(broken(format!("the agent speaks protocol {theirs}, not {PROTOCOL}")));
    }
    Ok(Seen::Session(SessionId::new(name("session", message.session.clone())?)))
}

#[derive(Deserialize)]
struct TextMessage {
    text: String,
    #[serde(default)]
    thinking: bool,
}

fn text(message: TextMessage) -> Seen {
    if message.thinking { Seen::Thought(message.text) } else { Seen::Text(message.text) }
}

#[derive(Deserialize)]
struct ToolCallMessage {
    id: String,
    tool: String,
    #[serde(default)]
    input: Value,
    /// The call of the sub-agent that makes it, if any.
    #[serde(default)]
    parent: Option<String>,
}

/// The protocol says which names run commands; of any other tool nothing is known.
fn raw_call(message: ToolCallMessage) -> Result<Box<RawCall>, String> {
    let (id, tool) = (name("id", message.id)?, name("tool", message.tool)?);
    let is_shell = shell::is_shell_tool(&tool);
    // Only the names that the protocol lists are known for sure. Everything else may do anything.
    let kind = if is_shell { ToolKind::Run } else { ToolKind::Unknown };
    let by = if message.parent.is_some() { Caller::SubAgent } else { Caller::Worker };
    Ok(RawCall::new(&id, &tool, message.input, &kind.into(), by).into())
}

#[derive(Deserialize)]
struct ToolEnd {
    id: String,
    ok: bool,
}

fn tool_end(message: ToolEnd) -> Result<Seen, String> {
    Ok(Seen::ToolEnd { call: name("id", message.id)?, ok: message.ok })
}

#[derive(Deserialize)]
struct FileChangeMessage {
    path: String,
    change: Change,
}

fn file_change(message: FileChangeMessage) -> Result<Seen, String> {
    if message.path.is_empty() || message.path.len() > PATH_MAX {
        return Err(format!("`path` has {} bytes; 1 to {PATH_MAX} fit", message.path.len()));
    }
    Ok(Seen::FileChange { path: message.path, change: message.change })
}

#[derive(Deserialize)]
struct UsageReport {
    #[serde(default)]
    of: Of,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    cache_read: u64,
    #[serde(default)]
    cache_write: u64,
    #[serde(default)]
    usd: Option<f64>,
    #[serde(default)]
    model: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "snake_case")]
enum Of {
    #[default]
    Message,
    Turn,
    Session,
}

fn usage(message: UsageReport) -> Result<Seen, String> {
    let scope = match (message.of, message.id) {
        (Of::Message, Some(id)) => Scope::Message(name("id", id)?),
        (Of::Message, None) => return Err("of a message needs the message's `id`".to_owned()),
        (Of::Turn, _) => Scope::Turn,
        (Of::Session, _) => Scope::Session,
    };
    let mut usage = Usage {
        input: message.input,
        output: message.output,
        cache_read: message.cache_read,
        cache_write: message.cache_write,
        usd_micros: message.usd.map(usd_micros).transpose()?.unwrap_or(0),
        ..Usage::default()
    };
    // No tokens cost nothing, so a missing price of nothing is not unknown.
    usage.unpriced = message.usd.is_none() && usage.tokens() > 0;
    let model = message.model.map(|model| bounded(&model, NAME_MAX));
    Ok(Seen::Usage { scope, usage, model })
}

#[derive(Deserialize)]
struct QuestionMessage {
    id: String,
    question: String,
    #[serde(default)]
    options: Vec<String>,
}

fn question(message: QuestionMessage) -> Result<Seen, String> {
    Ok(Seen::Question {
        request: name("id", message.id)?,
        question: bounded(&message.question, TEXT_MAX),
        options: message.options.iter().take(OPTIONS_MAX).map(|o| bounded(o, NAME_MAX)).collect(),
        closed: false,
        waits_ms: None,
    })
}

#[derive(Deserialize)]
struct SignalMessage {
    id: String,
    tool: String,
    #[serde(default)]
    arguments: Value,
    /// The call of the sub-agent that sends it, if any.
    #[serde(default)]
    parent: Option<String>,
}

fn signal(message: SignalMessage) -> Result<Seen, String> {
    let request = name("id", message.id)?;
    let tool = name("tool", message.tool)?;
    let signal = if message.parent.is_some() {
        // Refused and not ignored: the sub-agent must not wait for an answer.
        Signal::Malformed(format!(
            "a sub-agent cannot call `{tool}`: tell the agent that started you instead"
        ))
    } else {
        signal::parse(&tool, &message.arguments)
    };
    Ok(Seen::Signal { request, signal })
}

#[derive(Deserialize)]
struct ErrorMessage {
    class: String,
    #[serde(default)]
    text: String,
    /// Set if the agent retries by itself.
    #[serde(default)]
    retry_in_ms: Option<u64>,
}

fn error(message: &ErrorMessage) -> Seen {
    let text = bounded(&message.text, TEXT_MAX);
    let class = match message.class.as_str() {
        "auth" => CrashClass::Auth,
        "quota" => CrashClass::Quota,
        "overload" => CrashClass::Overload,
        "unreachable" => CrashClass::Unreachable,
        "context_full" => CrashClass::ContextFull,
        "session_gone" => CrashClass::SessionGone,
        "protocol" => CrashClass::Protocol,
        "refused" => CrashClass::Refused,
        // Later versions of the protocol may add classes. An unknown one is treated like any other crash.
        _ => CrashClass::Other,
    };
    match message.retry_in_ms {
        Some(after_ms) => Seen::Retrying { class, text, after_ms },
        None => Seen::Error { class, text },
    }
}

#[derive(Deserialize)]
struct QuotaMessage {
    until: String,
}

fn quota(message: &QuotaMessage) -> Result<Seen, String> {
    let time: jiff::Timestamp = message
        .until
        .parse()
        .map_err(|_| format!("`until` is no time: `{}`", quoted(&message.until)))?;
    let until =
        u64::try_from(time.as_millisecond()).map_err(|_| "`until` lies before 1970".to_owned())?;
    Ok(Seen::QuotaReset { until: Millis(until) })
}

/// An id or name as it is, or why the message is ignored.
fn name(field: &str, text: String) -> Result<String, String> {
    if text.is_empty() || text.len() > NAME_MAX {
        return Err(format!("`{field}` has {} bytes; 1 to {NAME_MAX} fit", text.len()));
    }
    Ok(text)
}
