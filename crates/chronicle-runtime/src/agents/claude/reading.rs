//! What a line of Claude Code means. Total: what cannot be read becomes `Seen::NotUnderstood`.
//!
//! Remembered are the questions that wait for an answer, which calls were asked about, what works in the background, and the last
//! usage that was told, so that the same figure is not told once per block of a message.

use std::collections::VecDeque;
use std::path::PathBuf;

use chronicle_core::base::ids::SessionId;
use chronicle_core::base::limits::{TEXT_MAX, bounded};
use chronicle_core::base::quote::quoted;
use chronicle_core::base::time::Millis;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::event::input::Answer;
use chronicle_core::event::signal::{self, Signal};
use chronicle_core::event::{Caller, Change, CrashClass};
use serde_json::Value;

use super::after::{self, After, Returned};
use super::background::Background;
use super::lock::{self, Lock, Waiting};
use super::tools::known;
use super::totals::{self, Totals};
use super::turns::Turns;
use crate::agents::figures::{advised, class_of_failure, class_of_status, priced};
use crate::agents::line::{self, alive, fits, keep, number, puzzled, text, unanswerable};
use crate::agents::{NAME_MAX, RawCall, Seen, shown_path};

/// How our own tools begin.
const OURS: &str = "mcp__chronicle__";
/// How a call ends that it refused by itself, before anybody was asked: there is no such tool, or its input does not fit.
const NEVER_RAN: &str = "<tool_use_error>";
const NEVER_RAN_END: &str = "</tool_use_error>";
/// The kinds of ends that it gives to a call that a rule or a hook of its user kept from running. Its other kinds, `interrupted` and
/// `cancelled`, do not say that the tool had not begun.
const KEPT_FROM_RUNNING: [&str; 5] = [
    "permission-rule",
    "user-rejected",
    "automode-blocked",
    "automode-unavailable",
    "automode-parsing-error",
];
/// Most calls that are remembered with their input until they are asked about.
const ANNOUNCED_MAX: usize = 32;

/// What is remembered of one process.
#[derive(Default)]
pub(super) struct ClaudeReader {
    project: PathBuf,
    /// Calls that wait for a verdict.
    waiting: Waiting,
    /// Calls that were asked about.
    asked: VecDeque<String>,
    /// Calls of sub-agents whose end was told by a hook.
    ended: VecDeque<String>,
    /// The last calls that it announced: which, of what tool, with what input.
    announced: VecDeque<(String, String, Value)>,
    /// Whether a request to the model is on its way.
    has_request: bool,
    /// Calls of sub-agents to tools that are not theirs.
    barred: VecDeque<String>,
    /// Calls of ours that end the worker's turn, until they are answered.
    parting: VecDeque<String>,
    turns: Turns,
    background: Background,
    totals: Totals,
    told: Option<(String, Usage)>,
    /// The model of the message that is on its way.
    model: Option<String>,
    /// The last message that came in pieces, which tell what it cost.
    streamed: Option<String>,
    reset: Option<Millis>,
}

impl ClaudeReader {
    pub(super) fn of(project: PathBuf, waiting: Waiting) -> Self {
        Self { project, waiting, ..Self::default() }
    }

    pub(super) fn lock(&self) -> &Waiting {
        &self.waiting
    }

    pub(super) fn lock_mut(&mut self) -> &mut Waiting {
        &mut self.waiting
    }

    /// The line that tells a call's verdict.
    pub(super) fn answer(&mut self, call: &str, answer: &Answer) -> Option<String> {
        self.waiting.answer(call, answer)
    }

    pub(super) fn read(&mut self, line: &str) -> Vec<Seen> {
        let message = match line::parse(line) {
            Ok(message) => message,
            Err(seen) => return self.long(line).unwrap_or(seen),
        };
        let mut seen = self.waiting.begins_unproven(&message);
        seen.extend(self.understood(&message));
        seen
    }

    fn understood(&mut self, message: &Value) -> Vec<Seen> {
        match text(message, "type") {
            Some("system") => self.system(message),
            Some("stream_event") => self.stream(message),
            Some("assistant") => self.block(message),
            Some("user") => self.results(message),
            Some("control_request") => self.question(message),
            Some("control_cancel_request") => self.withdrawn(message),
            Some("result") => self.result(message),
            Some("rate_limit_event") => self.rate_limit(&message["rate_limit_info"]),
            Some("control_response") => {
                let of_hook = self.waiting.answered(message);
                of_hook.unwrap_or_else(|| self.totals.answered(message))
            }
            Some("tool_progress" | "tool_use_summary" | "keep_alive") => alive(),
            other => line::of_unknown_type(other),
        }
    }

    /// Whether the end of a call was told by a hook.
    pub(super) fn has_ended(&self, call: &str) -> bool {
        is_in(&self.ended, call)
    }

    /// A piece of the model's answer as it comes.
    fn stream(&mut self, message: &Value) -> Vec<Seen> {
        let event = &message["event"];
        // The cost of a request is reported before its stop. One that is killed before that has cost something that nobody
        // knows.
        self.has_request &= text(event, "type") != Some("message_stop");
        match text(event, "type") {
            Some("content_block_delta") => {
                let delta = &event["delta"];
                let piece = |field| text(delta, field).map(str::to_owned);
                let seen = piece("text").map(Seen::Text);
                let seen = seen.or_else(|| piece("thinking").map(Seen::Thought));
                let seen = seen.or_else(|| piece("partial_json").map(Seen::Typed));
                vec![seen.unwrap_or(Seen::Alive)]
            }
            Some("message_start") => {
                let begun = &event["message"];
                self.model = text(begun, "model").map(|model| bounded(model, NAME_MAX));
                self.streamed = text(begun, "id").map(|id| bounded(id, NAME_MAX));
                self.spent(text(begun, "id"), &begun["usage"], self.model.clone())
            }
            Some("message_delta") => {
                let model = self.model.clone();
                self.spent(text(message, "api_message_id"), &event["usage"], model)
            }
            _ => alive(),
        }
    }

    /// A line that asks for what is not known by now.
    pub(super) fn inquiry(&mut self) -> Option<String> {
        self.totals.question()
    }

    /// Whether a request to the model is on its way.
    pub(super) fn has_open_request(&self) -> bool {
        self.has_request
    }

    /// Remembers the calls in a message, in case one of them is never asked about.
    fn announce(&mut self, said: &Value) {
        let blocks = said["content"].as_array().map_or(&[][..], Vec::as_slice);
        for block in blocks.iter().filter(|block| block["type"] == "tool_use") {
            let named = |field| text(block, field).filter(|name| fits(name));
            let (Some(id), Some(tool)) = (named("id"), named("name")) else { continue };
            if self.announced.len() >= ANNOUNCED_MAX {
                self.announced.pop_front();
            }
            self.announced.push_back((id.to_owned(), tool.to_owned(), block["input"].clone()));
        }
    }

    /// A block of a message. The worker's own came in pieces before, which told what it cost. Of a sub-agent's message, and of one
    /// that came whole because streams fail, this may tell only how it begins; the rest is asked for.
    fn block(&mut self, message: &Value) -> Vec<Seen> {
        let said = &message["message"];
        self.announce(said);
        let is_worker = message["parent_tool_use_id"].is_null();
        if is_worker && text(said, "id") == self.streamed.as_deref() {
            return alive();
        }
        self.totals.want();
        // A total may cover this message before its line is printed: counted by itself it would count twice.
        if self.totals.are_told() {
            return alive();
        }
        let model = text(said, "model").map(|model| bounded(model, NAME_MAX));
        self.spent(text(said, "id"), &said["usage"], model)
    }

    fn spent(&mut self, id: Option<&str>, usage: &Value, model: Option<String>) -> Vec<Seen> {
        let tokens = Usage {
            input: number(usage, "input_tokens"),
            output: number(usage, "output_tokens"),
            cache_read: number(usage, "cache_read_input_tokens"),
            cache_write: number(usage, "cache_creation_input_tokens"),
            ..Usage::default()
        };
        let Some(id) = id.filter(|id| id.len() <= NAME_MAX && tokens.tokens() > 0) else {
            return alive();
        };
        // Its price comes with the total at the end of the turn.
        let told = (id.to_owned(), priced(tokens, None));
        // Claude repeats the same figure in several lines. A line of the ledger for each would be waste.
        if self.told.as_ref() == Some(&told) {
            return alive();
        }
        self.told = Some(told.clone());
        vec![Seen::Usage { scope: Scope::Message(told.0), usage: told.1, model }]
    }

    pub(super) fn question(&mut self, message: &Value) -> Vec<Seen> {
        let request = &message["request"];
        let Some(by) = Lock::of(request) else { return self.told(message) };
        let (tool, input, is_sub_agent) = by.call(request);
        let id = text(message, "request_id").unwrap_or_default();
        // The call's own id, because its result is reported under that one and not under the id of the question.
        let call = text(request, "tool_use_id").unwrap_or(id);
        if !fits(id) || !fits(call) || !fits(tool) {
            return unanswerable();
        }
        if !self.waiting.add(call, id, by, request) {
            return lock::is_open();
        }
        let own = tool.strip_prefix(OURS);
        if is_sub_agent {
            self.totals.want();
        }
        if let Some(own) = own.filter(|_| is_sub_agent) {
            // Its end is ignored too: it was answered as a signal, and is no tool call of the worker.
            keep(&mut self.barred, call.to_owned());
            let why =
                format!("a sub-agent cannot call `{own}`: tell the agent that started you instead");
            return vec![Seen::Signal { request: call.to_owned(), signal: Signal::Malformed(why) }];
        }
        keep(&mut self.asked, call.to_owned());
        if own.is_some_and(|own| ends_turn(own, input)) {
            keep(&mut self.parting, call.to_owned());
        }
        let caller = if is_sub_agent { Caller::SubAgent } else { Caller::Worker };
        let name = own.unwrap_or(tool);
        let raw = RawCall::new(call, name, input.clone(), &known(tool), caller);
        let folder = self.waiting.folder(call);
        vec![Seen::Permission(raw.at(folder).finally(by.is_last()).into())]
    }

    /// A hook that is no lock.
    fn told(&mut self, message: &Value) -> Vec<Seen> {
        let request = &message["request"];
        if !after::is_after(request) {
            return self.waiting.proves(message);
        }
        self.waiting.pass(text(message, "request_id").unwrap_or_default());
        let seen = match After::of(&request["input"]) {
            Some(After::Call(returned)) => self.returned(&returned),
            Some(After::Batch(calls)) => self.never_ran(&calls),
            // What cannot be read cannot be compared with what was judged.
            None => {
                let text = "a call has run, and it cannot be read which one".to_owned();
                vec![Seen::Error { class: CrashClass::Unjudged, text }]
            }
        };
        if seen.is_empty() { alive() } else { seen }
    }

    /// A call has run. What a sub-agent's sub-agent calls ends here: its result is in no line of its own.
    fn returned(&mut self, it: &Returned) -> Vec<Seen> {
        if is_in(&self.barred, it.call) {
            return Vec::new();
        }
        let name = it.tool.strip_prefix(OURS).unwrap_or(it.tool);
        let raw = RawCall::new(it.call, name, it.input.clone(), &known(it.tool), it.by);
        let raw = raw.at(self.waiting.folder(it.call));
        // One that was interrupted may have waited for leave still.
        let mut seen: Vec<Seen> = Vec::new();
        if !it.is_interrupted {
            seen.push(Seen::HasRun(raw.into()));
        }
        if it.by == Caller::SubAgent && !is_in(&self.ended, it.call) {
            seen.push(self.end(it.call, it.ok));
            seen.extend(self.file_change(it.response).filter(|_| it.ok));
            keep(&mut self.ended, it.call.to_owned());
        }
        seen
    }

    /// All calls of one message of a sub-agent are over: those that nothing was told of did not run. Those that were announced have
    /// results of their own.
    fn never_ran(&mut self, calls: &[&str]) -> Vec<Seen> {
        let mut seen = Vec::new();
        for call in calls {
            let is_announced = self.announced.iter().any(|(id, ..)| id == call);
            if is_in(&self.asked, call) && !is_in(&self.ended, call) && !is_announced {
                seen.push(self.end(call, false));
                keep(&mut self.ended, (*call).to_owned());
            }
        }
        seen
    }

    fn end(&mut self, call: &str, ok: bool) -> Seen {
        let end = self.background.returned(call, ok);
        end.unwrap_or_else(|| Seen::ToolEnd { call: bounded(call, NAME_MAX), ok })
    }

    fn withdrawn(&mut self, message: &Value) -> Vec<Seen> {
        let id = text(message, "request_id").unwrap_or_default();
        // Claude no longer waits for it, so there is nothing left to answer.
        let call = self.waiting.forget(id);
        call.map_or_else(alive, |request| vec![Seen::Withdrew { request }])
    }

    /// The ends of tools, and the files that they changed.
    fn results(&mut self, message: &Value) -> Vec<Seen> {
        let blocks = message["message"]["content"].as_array().map_or(&[][..], Vec::as_slice);
        // By now the message that called the tool is paid for, and the next one is not asked for yet.
        let is_end = |block: &Value| block["type"] == "tool_result";
        if !message["parent_tool_use_id"].is_null() && blocks.iter().any(is_end) {
            self.totals.want();
        }
        let mut seen: Vec<Seen> =
            blocks.iter().flat_map(|block| self.tool_end(message, block)).collect();
        let worked = |seen: &Seen| matches!(seen, Seen::ToolEnd { ok: true, .. });
        // Only of a call that worked: what a failed one describes is not on disk.
        if seen.iter().any(worked) {
            seen.extend(self.file_change(&message["tool_use_result"]));
        }
        if seen.is_empty() { alive() } else { seen }
    }

    fn tool_end(&mut self, message: &Value, block: &Value) -> Vec<Seen> {
        let id = text(block, "tool_use_id").filter(|_| block["type"] == "tool_result");
        let Some(call) = id else { return Vec::new() };
        let ok = block["is_error"] != true;
        if ok && self.parting.iter().any(|parting| parting == call) {
            self.turns.ends_soon();
        }
        if is_in(&self.barred, call) {
            return Vec::new();
        }
        let (was_asked, is_told) = (is_in(&self.asked, call), is_in(&self.ended, call));
        // Claude refuses some calls by itself without asking us. Such an end must not look like a tool that ran without
        // permission.
        let is_its_error = text(block, "content").is_some_and(|text| text.starts_with(NEVER_RAN));
        let was_kept = was_kept_from_running(message, call);
        let is_worker = message["parent_tool_use_id"].is_null();
        let by = if is_worker { Caller::Worker } else { Caller::SubAgent };
        let refused = || self.refused(call, text(block, "content").unwrap_or_default(), by);
        if !was_asked && !ok && (is_its_error || was_kept) {
            return refused().into_iter().collect();
        }
        let ran = (!was_asked && !is_told).then(|| self.announced_call(call, by)).flatten();
        // Allowed by us, and then forbidden by a rule or a hook of its user: the end alone would not say why.
        let forbidden = (!ok && was_kept && self.waiting.allowed(call)).then(refused).flatten();
        let end = (!is_told).then(|| self.end(call, ok));
        let ran = ran.map(|call| Seen::Ran(call.into()));
        [ran, end, forbidden].into_iter().flatten().collect()
    }

    /// A call as the model made it, if it is remembered.
    fn announced_call(&self, call: &str, by: Caller) -> Option<RawCall> {
        let (id, tool, input) = self.announced.iter().find(|(id, ..)| id == call)?;
        Some(RawCall::new(id, tool, input.clone(), &known(tool), by))
    }

    /// A call that it refused by itself, if it is known which one that was.
    fn refused(&self, call: &str, why: &str, by: Caller) -> Option<Seen> {
        let call = self.announced_call(call, by)?.into();
        let why = why.trim_start_matches(NEVER_RAN).trim_end_matches(NEVER_RAN_END);
        Some(Seen::Refused { call, why: bounded(why.trim(), TEXT_MAX) })
    }

    fn file_change(&self, result: &Value) -> Option<Seen> {
        let path = text(result, "filePath").filter(|_| result["structuredPatch"].is_array())?;
        let is_new = result["type"] == "create" || result["originalFile"].is_null();
        let change = if is_new { Change::Created } else { Change::Changed };
        Some(Seen::FileChange { path: shown_path(path, &self.project), change })
    }

    fn system(&mut self, message: &Value) -> Vec<Seen> {
        if message["status"] == "requesting" {
            self.has_request = true;
        }
        match text(message, "subtype") {
            Some("session_state_changed") => {
                return vec![self.turns.state(text(message, "state"))];
            }
            Some("background_tasks_changed") => self.turns.running(message),
            Some("task_started") => self.background.begin(message),
            Some("task_updated") => self.background.change(message),
            // A summary is a request of its own, whose cost no other line tells.
            Some("task_progress" | "compact_boundary") => self.totals.want(),
            Some("task_notification") => {
                self.totals.want();
                return self.background.end(message).map_or_else(alive, |end| vec![end]);
            }
            _ => {}
        }
        system(message)
    }

    fn rate_limit(&mut self, info: &Value) -> Vec<Seen> {
        let resets = info["resetsAt"].as_u64().filter(|_| info["status"] == "rejected");
        // Kept until the failure that it explains, which comes in a line of its own.
        self.reset = resets.map(|seconds| Millis(seconds.saturating_mul(1_000))).or(self.reset);
        alive()
    }

    /// It was asked to end its turn: the next end is the last.
    pub(super) fn interrupted(&mut self) {
        self.turns.ends_soon();
    }

    /// The end of a turn. What the session has spent comes first; it has its sub-agents in it, the turn's own sum has not.
    pub(super) fn result(&mut self, message: &Value) -> Vec<Seen> {
        let mut seen: Vec<Seen> = totals::at_the_end(message).into_iter().collect();
        let reason = text(message, "terminal_reason").unwrap_or_default();
        // An interrupt of ours, which Claude reports as an error. The turn has ended as it was told to.
        if reason.starts_with("aborted") {
            // It says nothing about the cost of a request that was interrupted.
            seen.push(Seen::Finished);
            return seen;
        }
        self.has_request = false;
        if message["is_error"] != true {
            seen.push(self.turns.ended(message));
            return seen;
        }
        let text = words_of(message);
        let class = class_of(message, reason, &text);
        seen.push(Seen::Failed { class, text: advised(class, text, "claude") });
        if class == CrashClass::Quota {
            seen.extend(self.reset.map(|until| Seen::QuotaReset { until }));
        }
        seen
    }
}

/// Whether it says of a call that a rule or a hook of its user kept it from running. It says so beside the result, where no tool and
/// no model can write: the words of the result could be anybody's.
fn was_kept_from_running(message: &Value, call: &str) -> bool {
    let said = message["tool_result_meta"].as_array().map_or(&[][..], Vec::as_slice);
    said.iter().filter(|it| it["id"] == call).any(|it| {
        it["permission_decision"]["decision"] == "reject"
            && text(it, "non_execution_kind").is_some_and(|kind| KEPT_FROM_RUNNING.contains(&kind))
    })
}

fn is_in(calls: &VecDeque<String>, call: &str) -> bool {
    calls.iter().any(|it| it == call)
}

/// Whether a call of ours ends the worker's turn if it is accepted.
fn ends_turn(tool: &str, input: &Value) -> bool {
    let signal = signal::parse(tool, input);
    matches!(signal.meant(), Signal::Leave { .. } | Signal::Loop { .. } | Signal::Break(_))
}

fn system(message: &Value) -> Vec<Seen> {
    match text(message, "subtype") {
        Some("init") => init(message),
        Some("api_retry") => {
            let status = message["error_status"].as_u64();
            // Without a status there was no answer at all.
            let no_answer =
                if status.is_some() { CrashClass::Overload } else { CrashClass::Unreachable };
            let class = status.and_then(class_of_status).unwrap_or(no_answer);
            let what = text(message, "error").unwrap_or("unknown");
            let status = status.map_or_else(String::new, |status| format!(" ({status})"));
            let count = number(message, "attempt");
            let text = format!("tries again, {count}: {}{status}", quoted(what));
            let after_ms = number(message, "retry_delay_ms");
            vec![Seen::Retrying { class, text, after_ms }]
        }
        Some("informational") => blocked(message).map_or_else(alive, |failed| vec![failed]),
        _ => alive(),
    }
}

/// A hook of the user that lets no prompt through. Claude calls the turn that never was a success, and would wait for another
/// prompt for ever; every further try would meet the same hook.
fn blocked(message: &Value) -> Option<Seen> {
    let said = text(message, "content").filter(|said| said.starts_with(PROMPT_BLOCKED))?;
    // Behind that comes the whole prompt.
    let said = said.split("\n\nOriginal prompt:").next().unwrap_or(said);
    let text = bounded(said.trim(), TEXT_MAX);
    Some(Seen::Failed { class: CrashClass::Refused, text })
}

/// How Claude begins to tell that a hook has blocked the prompt.
const PROMPT_BLOCKED: &str = "UserPromptSubmit operation blocked by hook";

/// The session; one without our server could never signal, so it ends here.
fn init(message: &Value) -> Vec<Seen> {
    let Some(session) = text(message, "session_id").filter(|id| id.len() <= NAME_MAX) else {
        return puzzled("`init` without a session".to_owned());
    };
    let mut seen = vec![Seen::Session(SessionId::new(session))];
    let servers = message["mcp_servers"].as_array().map_or(&[][..], Vec::as_slice);
    let ours = servers.iter().find(|server| server["name"] == "chronicle");
    if ours.is_some_and(|server| server["status"] == "failed") {
        let text = "its signal server `chronicle mcp` could not be started".to_owned();
        seen.push(Seen::Failed { class: CrashClass::Other, text });
    }
    if ours.is_some_and(|server| server["status"] == "connected") && lacks_ours(message) {
        seen.push(Seen::Failed { class: CrashClass::Refused, text: HIDDEN.to_owned() });
    }
    seen
}

/// Whether it offers its model none of our tools, though it has reached our server.
fn lacks_ours(message: &Value) -> bool {
    let is_ours = |tool: &Value| tool.as_str().is_some_and(|tool| tool.starts_with(OURS));
    // An older version may not list them: that says nothing.
    message["tools"].as_array().is_some_and(|tools| !tools.iter().any(is_ours))
}

/// What hides our tools from a worker, which could then never leave its phase.
const HIDDEN: &str = "your settings of Claude Code keep Chronicle's tools from the worker, so that it could never leave its phase: \
    take the rule on `mcp__chronicle` out of `permissions.deny` (`~/.claude/settings.json`, `.claude/settings.json`, \
    `.claude/settings.local.json`), or use `--isolated`";

fn words_of(message: &Value) -> String {
    let errors = message["errors"].as_array().map_or(&[][..], Vec::as_slice);
    let errors: Vec<&str> = errors.iter().filter_map(Value::as_str).collect();
    let told = text(message, "result").map_or_else(|| errors.join("; "), str::to_owned);
    bounded(&told, TEXT_MAX)
}

fn class_of(message: &Value, reason: &str, text: &str) -> CrashClass {
    if reason == "prompt_too_long" {
        CrashClass::ContextFull
    } else if text.starts_with("No conversation found with session ID") {
        CrashClass::SessionGone
    // By its words, since Claude gives no code: it names the command that signs in.
    } else if text.contains("/login") {
        CrashClass::Auth
    } else if text.contains("Credit balance is too low") {
        CrashClass::Refused
    } else {
        class_of_failure(message["api_error_status"].as_u64(), text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What is seen of a call that nobody was asked about, when it ends so.
    fn end_of_unasked(parent: Option<&str>, is_error: bool, meta: &Value) -> Vec<Seen> {
        let mut reader = ClaudeReader::default();
        let call =
            json!({"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}});
        let message = json!({"role": "assistant", "content": [call]});
        let said = json!({"type": "assistant", "message": message, "parent_tool_use_id": parent});
        reader.read(&said.to_string());
        // The words are those of a refusal in each case: they prove nothing.
        let words = "PreToolUse:Bash hook error: not today";
        let block = json!({"type": "tool_result", "content": words, "is_error": is_error, "tool_use_id": "c1"});
        let message = json!({"role": "user", "content": [block]});
        let ended = json!({"type": "user", "message": message, "parent_tool_use_id": parent, "tool_result_meta": [meta]});
        reader.read(&ended.to_string())
    }

    #[test]
    fn only_what_its_user_kept_from_running_is_refused_by_itself() {
        let meta = |id: &str, kind: &str, decision: &str| json!({"id": id, "non_execution_kind": kind, "permission_decision": {"decision": decision, "source": "hook"}});
        for (parent, caller) in [(None, Caller::Worker), (Some("c0"), Caller::SubAgent)] {
            let seen = end_of_unasked(parent, true, &meta("c1", "permission-rule", "reject"));
            let [Seen::Refused { call, why }] = &seen[..] else { panic!("{seen:?}") };
            assert_eq!((call.call.tool.as_str(), call.call.by), ("Bash", caller));
            assert_eq!(why, "PreToolUse:Bash hook error: not today");
        }
        let ran = [
            (false, meta("c1", "permission-rule", "reject")),
            (true, meta("c2", "permission-rule", "reject")),
            (true, meta("c1", "permission-rule", "accept")),
            (true, meta("c1", "interrupted", "reject")),
            (true, meta("c1", "cancelled", "reject")),
            (true, json!({"id": "c1", "permission_decision": {"decision": "reject"}})),
            (true, Value::Null),
        ];
        for (is_error, meta) in ran {
            let seen = end_of_unasked(None, is_error, &meta);
            let [Seen::Ran(raw), Seen::ToolEnd { .. }] = &seen[..] else {
                panic!("{meta}: {seen:?}")
            };
            assert_eq!(raw.call.command.as_deref(), Some("ls"));
        }
    }

    /// A hook of ours is called, about a call of a sub-agent.
    fn hooked(id: &str, event: &str, more: &Value) -> String {
        let mut input = json!({"agent_id": "a1", "hook_event_name": event, "tool_name": "Bash", "tool_use_id": "c1",
            "tool_input": {"command": "ls"}});
        let more = more.as_object().unwrap().clone();
        input.as_object_mut().unwrap().extend(more);
        let request = json!({"subtype": "hook_callback", "callback_id": id, "input": input, "tool_use_id": "c1"});
        json!({"type": "control_request", "request_id": "r1", "request": request}).to_string()
    }

    #[test]
    fn a_call_that_has_no_result_ends_with_its_hook() {
        let no_more = json!({});
        for (event, ok) in [("PostToolUse", true), ("PostToolUseFailure", false)] {
            let mut reader = ClaudeReader::default();
            reader.read(&hooked("chronicle", "PreToolUse", &json!({"cwd": "/sub"})));
            let changed = json!({"tool_input": {"command": "rm x"}});
            let seen = reader.read(&hooked(after::HOOK, event, &changed));
            let [Seen::HasRun(raw), end] = &seen[..] else { panic!("{seen:?}") };
            assert_eq!(*end, Seen::ToolEnd { call: "c1".to_owned(), ok });
            assert_eq!(raw.call.command.as_deref(), Some("rm x"), "as it ran");
            assert_eq!((raw.call.by, raw.folder.as_deref()), (Caller::SubAgent, Some("/sub")));
            let lines = reader.lock_mut().take_lines();
            assert!(matches!(&lines[..], [line] if line.contains("\"r1\"")), "{lines:?}");
            // A sub-agent of the worker's own has a result, too.
            let block = json!({"type": "tool_result", "is_error": !ok, "tool_use_id": "c1"});
            let result = json!({"type": "user", "message": {"content": [block]}, "parent_tool_use_id": "c0",
                "tool_use_result": {"filePath": "a", "structuredPatch": []}});
            assert_eq!(reader.read(&result.to_string()), alive(), "it ends once");
            assert_eq!(reader.read(&hooked(after::HOOK, event, &no_more)).len(), 1);
        }
        let mut reader = ClaudeReader::default();
        let own = reader.read(&hooked(after::HOOK, "PostToolUse", &json!({"agent_id": null})));
        assert!(matches!(&own[..], [Seen::HasRun(_)]), "its result is to come: {own:?}");
        let stopped = hooked(after::HOOK, "PostToolUseFailure", &json!({"is_interrupt": true}));
        assert!(matches!(&reader.read(&stopped)[..], [Seen::ToolEnd { ok: false, .. }]));
        let unknown = hooked(after::HOOK, "PostToolUse", &json!({"tool_use_id": ""}));
        assert!(matches!(&reader.read(&unknown)[..], [Seen::Error { .. }]));
        assert_eq!(reader.lock_mut().take_lines().len(), 3, "each is answered");
    }

    #[test]
    fn a_call_that_never_ran_ends_with_its_message() {
        let batch = hooked(
            after::HOOK,
            "PostToolBatch",
            &json!({"tool_calls": [{"tool_use_id": "c1"}, {"tool_use_id": "c2"}]}),
        );
        let mut reader = ClaudeReader::default();
        assert_eq!(reader.read(&batch), alive(), "nobody was asked about them");
        reader.read(&hooked("chronicle", "PreToolUse", &json!({})));
        let end = Seen::ToolEnd { call: "c1".to_owned(), ok: false };
        assert_eq!(reader.read(&batch), [end]);
        assert_eq!(reader.read(&batch), alive(), "it ends once");
    }

    #[test]
    fn what_a_sub_agent_spends_counts_once() {
        let mut reader = ClaudeReader::default();
        let said = |id: &str| {
            let usage = json!({"input_tokens": 10, "output_tokens": 1});
            let message = json!({"id": id, "usage": usage});
            json!({"type": "assistant", "message": message, "parent_tool_use_id": "c"}).to_string()
        };
        let has_usage = |seen: &[Seen]| matches!(seen, [Seen::Usage { .. }]);
        assert!(has_usage(&reader.read(&said("m1"))), "nothing else tells of it yet");
        let question: Value = serde_json::from_str(&reader.inquiry().unwrap()).unwrap();
        let session = json!({"model_usage": {"m": {"inputTokens": 20, "outputTokens": 5_000}}});
        let response = json!({
            "subtype": "success",
            "request_id": question["request_id"],
            "response": {"session": session},
        });
        let answer = json!({"type": "control_response", "response": response}).to_string();
        assert!(has_usage(&reader.read(&answer)));
        assert_eq!(reader.inquiry(), None, "nothing was done since");
        assert_eq!(reader.read(&said("m2")), alive(), "the total may have it already");
        assert!(reader.inquiry().is_some());
    }

    #[test]
    fn a_prompt_that_a_hook_blocks_is_no_silence() {
        let said = "UserPromptSubmit operation blocked by hook:\n[x.py]: not today\n\n\nOriginal prompt: go";
        let line = json!({"type": "system", "subtype": "informational", "content": said});
        let seen = ClaudeReader::default().read(&line.to_string());
        let text = "UserPromptSubmit operation blocked by hook:\n[x.py]: not today".to_owned();
        assert_eq!(seen, [Seen::Failed { class: CrashClass::Refused, text }]);
        let other = json!({"type": "system", "subtype": "informational", "content": "by the way"});
        assert_eq!(ClaudeReader::default().read(&other.to_string()), alive());
    }

    #[test]
    fn an_unpaid_bill_and_a_missing_model_are_not_waited_for() {
        let class = |status: Option<u64>, text: &str| {
            class_of(&json!({ "api_error_status": status }), "", text)
        };
        assert_eq!(class(None, "Credit balance is too low"), CrashClass::Refused);
        assert_eq!(class(Some(402), "API Error: 402"), CrashClass::Refused);
        assert_eq!(class(Some(404), "API Error: 404 no such model"), CrashClass::Refused);
        assert_eq!(class(Some(429), "API Error: 429"), CrashClass::Quota);
    }
}
