//! What a line of Pi means. Total: what cannot be read becomes `Seen::NotUnderstood`.
//!
//! Remembered are the dialogs that wait for an answer, which calls run, which were asked about and which file they are about, and
//! how the last message ended: that alone tells whether a turn succeeded.

use std::collections::VecDeque;
use std::path::PathBuf;

use chronicle_core::base::ids::{AttemptId, SessionId};
use chronicle_core::base::limits::{TEXT_MAX, bounded};
use chronicle_core::base::tools::kind_in;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::event::signal;
use chronicle_core::event::{Caller, Change, CrashClass, ToolKind};
use serde_json::Value;

use super::proof::Proof;
use crate::agents::call::KnownTool;
use crate::agents::figures::{advised, class_of_failure, priced};
use crate::agents::line::{self, alive, fits, keep, number, puzzled, text, unanswerable};
use crate::agents::{NAME_MAX, RawCall, Seen, shown_path};

/// Most answers of a foreign dialog that are shown.
const OPTIONS_MAX: usize = 20;
/// The answers to a dialog that wants to be confirmed.
pub(super) const YES: &str = "yes";
const NO: &str = "no";
/// Most calls that are remembered with their input until they are asked about.
const ANNOUNCED_MAX: usize = 32;
/// How our extension tells which names of tools it shares with others.
const TOOLS_TOLD: &str = "chronicle:tools ";
/// How our extension tells that a call runs with another input than the one that was judged.
const RAN_TOLD: &str = "chronicle:ran ";
/// Lines that say nothing we need.
const PLAIN: [&str; 15] = [
    "agent_start",
    "agent_end",
    "turn_start",
    "turn_end",
    "tool_execution_update",
    "entry_appended",
    "queue_update",
    "auto_retry_end",
    "compaction_start",
    "compaction_end",
    "session",
    "session_info",
    "extension_error",
    "model_select",
    "thinking_level_select",
];

/// Who asks in a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialog {
    /// Our extension, before a tool.
    Permission,
    /// Our extension, for a signal.
    Signal,
    /// An extension of the user's own, for a text.
    Foreign,
    /// An extension of the user's own, for a yes or no.
    Confirm,
}

/// A dialog that waits.
struct OpenDialog {
    id: String,
    dialog: Dialog,
    request: String,
    /// The calls that ran when a dialog of the user's own extensions came. Once all of them have ended nobody waits for it: Pi
    /// closes a dialog by itself, after a time or when it is aborted, and says nothing.
    during: Vec<String>,
}

/// A call that permission was asked for.
struct AskedCall {
    id: String,
    /// The file that it would change.
    path: Option<String>,
}

/// What is remembered of one process.
#[derive(Default)]
pub(super) struct PiReader {
    project: PathBuf,
    attempt: Option<AttemptId>,
    messages: u64,
    open: VecDeque<OpenDialog>,
    calls: VecDeque<AskedCall>,
    /// The last calls that it announced: which, of what tool, with what input.
    announced: VecDeque<(String, String, Value)>,
    /// Whether a message of the model is on its way.
    has_request: bool,
    /// Calls that began and have not ended.
    running: VecDeque<String>,
    /// How the last message failed.
    failed: Option<(CrashClass, String)>,
    is_interrupted: bool,
    proof: Proof,
}

impl PiReader {
    pub(super) fn of(project: PathBuf, attempt: AttemptId, proof: Proof) -> Self {
        Self { project, attempt: Some(attempt), proof, ..Self::default() }
    }

    /// The dialog behind an id of ours; it can be answered once. A call asks for leave first, then signals.
    pub(super) fn take_dialog(&mut self, id: &str) -> Option<(Dialog, String)> {
        let at = self.open.iter().position(|open| open.id == id)?;
        self.open.remove(at).map(|open| (open.dialog, open.request))
    }

    /// It was asked to end its turn, so that an end is no failure: the dialogs that it waits for.
    pub(super) fn interrupted(&mut self) -> Vec<String> {
        self.is_interrupted = true;
        self.open.drain(..).map(|open| open.request).collect()
    }

    pub(super) fn read(&mut self, line: &str) -> Vec<Seen> {
        let message = match line::parse(line) {
            Ok(message) => message,
            Err(seen) => return self.long(line).unwrap_or(seen),
        };
        match text(&message, "type") {
            Some("response") => {
                let mut seen = response(&message);
                // It is the first request, so that whatever extensions do at the start is over.
                let is_first = text(&message, "command") == Some("get_state");
                seen.extend(self.proof.answers().filter(|_| is_first));
                seen
            }
            Some("message_update") => delta(&message["assistantMessageEvent"]),
            Some("message_start") => {
                // A request is open until its message ends. If the agent is killed before that, what it cost stays unknown.
                self.has_request |= message["message"]["role"] == "assistant";
                alive()
            }
            Some("message_end") => self.message(&message["message"]),
            Some("tool_execution_start") => self.tool_start(&message),
            Some("tool_execution_end") => self.tool_end(&message),
            Some("extension_ui_request") => self.dialog(&message),
            Some("auto_retry_start") => {
                let (class, text) = failure(text(&message, "errorMessage").unwrap_or_default());
                let after_ms = number(&message, "delayMs");
                vec![Seen::Retrying { class, text, after_ms }]
            }
            Some("agent_settled") => vec![self.settled()],
            Some(plain) if PLAIN.contains(&plain) => alive(),
            other => line::of_unknown_type(other),
        }
    }

    pub(super) fn proof(&self) -> &Proof {
        &self.proof
    }

    pub(super) fn proof_mut(&mut self) -> &mut Proof {
        &mut self.proof
    }

    /// A whole message: what it cost, and whether it failed. Usage that is repeated elsewhere is not counted.
    fn message(&mut self, message: &Value) -> Vec<Seen> {
        if message["role"] != "assistant" {
            return alive();
        }
        self.announce(message);
        // Not reported yet: Pi may retry by itself. Only the last message before it settles decides.
        self.failed = (message["stopReason"] == "error")
            .then(|| failure(text(message, "errorMessage").unwrap_or_default()));
        let usage = &message["usage"];
        let tokens = Usage {
            input: number(usage, "input"),
            output: number(usage, "output"),
            cache_read: number(usage, "cacheRead"),
            cache_write: number(usage, "cacheWrite"),
            ..Usage::default()
        };
        // One that was aborted says nothing of what it cost.
        self.has_request = message["stopReason"] == "aborted" && tokens.tokens() == 0;
        if tokens.tokens() == 0 {
            return alive();
        }
        self.messages += 1;
        // Its own ids may be missing, and ours must not be those of another process in the same session.
        let attempt = self.attempt.map_or_else(String::new, |attempt| attempt.to_string());
        // Each message is counted once under an id of its own; Pi's totals repeat them and are not used.
        let scope = Scope::Message(format!("{attempt}-{}", self.messages));
        let usage = priced(tokens, usage["cost"]["total"].as_f64());
        let model = text(message, "model").map(|model| bounded(model, NAME_MAX));
        vec![Seen::Usage { scope, usage, model }]
    }

    /// Whether a message of the model is on its way, or was cut.
    pub(super) fn has_open_request(&self) -> bool {
        self.has_request
    }

    /// Remembers the calls in a message, in case one of them is never asked about.
    fn announce(&mut self, said: &Value) {
        let blocks = said["content"].as_array().map_or(&[][..], Vec::as_slice);
        for block in blocks.iter().filter(|block| block["type"] == "toolCall") {
            let named = |field| text(block, field).filter(|name| fits(name));
            let (Some(id), Some(tool)) = (named("id"), named("name")) else { continue };
            if self.announced.len() >= ANNOUNCED_MAX {
                self.announced.pop_front();
            }
            self.announced.push_back((id.to_owned(), tool.to_owned(), block["arguments"].clone()));
        }
    }

    fn settled(&mut self) -> Seen {
        // An interrupt of ours makes the last message an error. The turn ended as it was told to.
        let interrupted = std::mem::take(&mut self.is_interrupted);
        match self.failed.take().filter(|_| !interrupted) {
            Some((class, text)) => Seen::Failed { class, text },
            None => Seen::Finished,
        }
    }

    pub(super) fn tool_start(&mut self, message: &Value) -> Vec<Seen> {
        if let Some(id) = text(message, "toolCallId").filter(|id| fits(id)) {
            keep(&mut self.running, id.to_owned());
        }
        alive()
    }

    pub(super) fn tool_end(&mut self, message: &Value) -> Vec<Seen> {
        let id = text(message, "toolCallId").unwrap_or_default();
        let ok = message["isError"] != true;
        let mut seen = self.closed_with(id);
        let asked = self.calls.iter().position(|call| call.id == id);
        let call = asked.and_then(|at| self.calls.remove(at));
        let words = message["result"]["content"][0]["text"].as_str().unwrap_or_default();
        // Pi refused the call by itself (no such tool, wrong input) and never asked. It is recorded as refused, so that people
        // see it.
        if call.is_none() && !ok && never_ran(words) {
            seen.extend(
                self.announced_call(id)
                    .map(|call| Seen::Refused { call: call.into(), why: bounded(words, TEXT_MAX) }),
            );
            return if seen.is_empty() { alive() } else { seen };
        }
        if call.is_none() {
            seen.extend(self.announced_call(id).map(|call| Seen::Ran(call.into())));
        }
        seen.push(Seen::ToolEnd { call: bounded(id, NAME_MAX), ok });
        // Pi reports no changed files. A call that may change one, names it and succeeds is as near as its lines come.
        if let Some(path) = call.and_then(|call| call.path).filter(|_| ok) {
            let path = shown_path(&path, &self.project);
            seen.push(Seen::FileChange { path, change: Change::Changed });
        }
        seen
    }

    /// A call as the model made it, if it is remembered.
    fn announced_call(&self, id: &str) -> Option<RawCall> {
        let (id, tool, input) = self.announced.iter().find(|(announced, ..)| announced == id)?;
        Some(RawCall::new(id, tool, input.clone(), &known(tool), Caller::Worker))
    }

    /// The dialogs that nobody waits for once that call has ended, too.
    fn closed_with(&mut self, call: &str) -> Vec<Seen> {
        self.running.retain(|running| running != call);
        let is_over = |open: &OpenDialog| {
            let waits = open.during.iter().any(|it| self.running.contains(it));
            // Pi prints nothing when it closes a dialog. A dialog cannot outlive the calls during which it was opened.
            open.during.iter().any(|it| it == call) && !waits
        };
        let (over, open): (VecDeque<OpenDialog>, _) =
            std::mem::take(&mut self.open).into_iter().partition(is_over);
        self.open = open;
        over.into_iter().map(|open| Seen::Withdrew { request: open.id }).collect()
    }

    pub(super) fn dialog(&mut self, message: &Value) -> Vec<Seen> {
        let request = text(message, "id").unwrap_or_default();
        let asked = text(message, "placeholder").and_then(|it| serde_json::from_str(it).ok());
        match (text(message, "method"), text(message, "title"), asked) {
            (Some("input"), Some("chronicle:permission"), Some(asked)) => {
                self.permission(request, &asked)
            }
            (Some("input"), Some("chronicle:signal"), Some(asked)) => self.signal(request, &asked),
            (Some(method @ ("input" | "select" | "confirm" | "editor")), ..) => {
                vec![self.of_others(method, request, message)]
            }
            (Some("notify"), ..) => {
                let told = text(message, "message").unwrap_or_default();
                let told_ran = || told_ran(told).unwrap_or_else(|| told_tools(told));
                self.proof.told(told).unwrap_or_else(told_ran)
            }
            _ => alive(),
        }
    }

    /// A dialog of an extension of the user's own: a question to a person.
    fn of_others(&mut self, method: &str, request: &str, message: &Value) -> Seen {
        let dialog = if method == "confirm" { Dialog::Confirm } else { Dialog::Foreign };
        self.wait(request, dialog, request);
        if let Some(open) = self.open.back_mut() {
            // Without any running call nothing tells when it is closed: then only an answer or the end of the process does.
            open.during = self.running.iter().cloned().collect();
        }
        let offered = message["options"].as_array().map_or(&[][..], Vec::as_slice);
        let offered = offered.iter().filter_map(Value::as_str).take(OPTIONS_MAX);
        let options: Vec<String> = match dialog {
            Dialog::Confirm => vec![YES.to_owned(), NO.to_owned()],
            _ => offered.map(|option| bounded(option, NAME_MAX)).collect(),
        };
        let parts = ["title", "message", "placeholder", "prefill"].map(|part| text(message, part));
        let parts: Vec<&str> = parts.into_iter().flatten().filter(|it| !it.is_empty()).collect();
        Seen::Question {
            request: request.to_owned(),
            question: bounded(&parts.join("\n"), TEXT_MAX),
            // A dialog with a list of choices accepts nothing else.
            closed: !options.is_empty(),
            options,
            waits_ms: message["timeout"].as_u64().filter(|ms| *ms > 0),
        }
    }

    pub(super) fn permission(&mut self, request: &str, asked: &Value) -> Vec<Seen> {
        let Some((call, tool)) = names(asked) else { return unanswerable() };
        self.wait(call, Dialog::Permission, request);
        let changes = matches!(tool, "edit" | "write");
        let path = text(&asked["input"], "path").filter(|_| changes).map(str::to_owned);
        keep(&mut self.calls, AskedCall { id: call.to_owned(), path });
        vec![Seen::Permission(
            RawCall::new(call, tool, asked["input"].clone(), &known(tool), Caller::Worker).into(),
        )]
    }

    pub(super) fn signal(&mut self, request: &str, asked: &Value) -> Vec<Seen> {
        let Some((call, tool)) = names(asked) else { return unanswerable() };
        self.wait(call, Dialog::Signal, request);
        let signal = signal::parse(tool, &asked["input"]);
        vec![Seen::Signal { request: call.to_owned(), signal }]
    }

    fn wait(&mut self, id: &str, dialog: Dialog, request: &str) {
        let (id, request, during) = (id.to_owned(), request.to_owned(), Vec::new());
        keep(&mut self.open, OpenDialog { id, dialog, request, during });
    }
}

/// What our extension says of a call that runs otherwise than it was judged; `None` if that is something else.
fn told_ran(told: &str) -> Option<Vec<Seen>> {
    let told = told.strip_prefix(RAN_TOLD)?;
    let told: Value = serde_json::from_str(told).unwrap_or_default();
    Some(vec![match names(&told) {
        Some((call, tool)) => {
            let input = told["input"].clone();
            Seen::Ran(RawCall::new(call, tool, input, &known(tool), Caller::Worker).into())
        }
        // What cannot be read cannot be judged.
        None => Seen::Error {
            class: CrashClass::Unjudged,
            text: "a call was changed after it was judged, and what it became cannot be read"
                .to_owned(),
        },
    }])
}

/// What our extension says of names that others have, too. Of two tools with one name Pi takes the one of the extension that it
/// loaded first: ours, unless the user's own command line names another before it. Without ours there would be no way out.
fn told_tools(told: &str) -> Vec<Seen> {
    let told = told.strip_prefix(TOOLS_TOLD).and_then(|it| serde_json::from_str(it).ok());
    let Some::<Value>(told) = told else { return alive() };
    let named = |list: &str| -> Vec<String> {
        let list = Value::as_array(&told[list]).map_or(&[][..], Vec::as_slice);
        let one = |it: &Value| Some(format!("`{}` of `{}`", text(it, "tool")?, text(it, "of")?));
        list.iter().filter_map(one).map(|it| bounded(&it, TEXT_MAX)).collect()
    };
    // Without our own tools the worker could never leave its phase. It fails now instead of after hours of work.
    if let [first, ..] = named("lost").as_slice() {
        let text = format!(
            "the tool {first} stands before Chronicle's own: take that extension out of \
             `agents.pi.command`, so that it is loaded after Chronicle's"
        );
        return vec![Seen::Failed { class: CrashClass::Refused, text }];
    }
    match named("replaced").as_slice() {
        [] => alive(),
        all => vec![Seen::Remark(format!("Chronicle's own tools replaced {}", all.join(", ")))],
    }
}

/// What is known of a tool: those that it brings, and ours. Any other is an extension's or a server's.
fn known(tool: &str) -> KnownTool {
    let kind = if signal::is_ours(tool) {
        ToolKind::Other
    } else {
        kind_in("pi", None, tool).unwrap_or_default()
    };
    kind.into()
}

fn response(message: &Value) -> Vec<Seen> {
    match (text(message, "command"), message["success"] == true) {
        (Some("get_state"), true) => match text(&message["data"], "sessionId") {
            Some(id) if id.len() <= NAME_MAX => vec![Seen::Session(SessionId::new(id))],
            _ => puzzled("a state without a session".to_owned()),
        },
        // Every later line of such a process would be silence: the turn has never begun.
        (Some("prompt"), false) => {
            let why = text(message, "error").unwrap_or("the prompt was refused");
            let (class, text) = failure(why);
            vec![Seen::Failed { class, text }]
        }
        _ => alive(),
    }
}

fn delta(event: &Value) -> Vec<Seen> {
    let piece = text(event, "delta").map(str::to_owned);
    match (text(event, "type"), piece) {
        (Some("text_delta"), Some(piece)) => vec![Seen::Text(piece)],
        (Some("thinking_delta"), Some(piece)) => vec![Seen::Thought(piece)],
        (Some("toolcall_delta"), Some(piece)) => vec![Seen::Typed(piece)],
        _ => alive(),
    }
}

/// Its words for what went wrong begin with the status, where there was one: `429: {…}`.
fn failure(words: &str) -> (CrashClass, String) {
    let digits = words.split(|c: char| !c.is_ascii_digit()).next();
    // Pi reports failures as text, such as `429: {json}`. The number is the only part that is the same for all providers.
    let status = digits.filter(|digits| digits.len() == 3).and_then(|it| it.parse().ok());
    let lower = words.to_ascii_lowercase();
    let is_full = ["context_length_exceeded", "context length", "prompt is too long"];
    let is_unsigned = ["no api key", "not logged in", "/login"];
    // A bill that nobody paid is no quota that comes back by itself.
    let is_unpaid = ["insufficient_quota", "credit balance is too low"];
    let class = if is_full.iter().any(|it| lower.contains(it)) {
        CrashClass::ContextFull
    } else if is_unsigned.iter().any(|it| lower.contains(it)) {
        CrashClass::Auth
    } else if is_unpaid.iter().any(|it| lower.contains(it)) {
        CrashClass::Refused
    } else if lower.contains("terminated") {
        CrashClass::Overload
    } else {
        class_of_failure(status, words)
    };
    (class, advised(class, bounded(words, TEXT_MAX), "pi"))
}

/// Whether a call failed before anybody was asked: there is no such tool, or its input makes no sense.
fn never_ran(words: &str) -> bool {
    words.starts_with("Tool ") && words.contains("not found")
        || words.starts_with("Validation failed")
}

pub(super) fn names(asked: &Value) -> Option<(&str, &str)> {
    let named = |field| text(asked, field).filter(|name| fits(name));
    Some((named("id")?, named("tool")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unpaid_bill_and_a_missing_model_are_not_waited_for() {
        for (words, class) in [
            ("402: {\"error\":\"payment required\"}", CrashClass::Refused),
            ("404: {\"error\":\"no such model\"}", CrashClass::Refused),
            ("400: Your credit balance is too low to access the API", CrashClass::Refused),
            ("429: {\"code\":\"insufficient_quota\"}", CrashClass::Refused),
            ("429: {\"error\":\"rate limit\"}", CrashClass::Quota),
        ] {
            assert_eq!(failure(words).0, class, "{words}");
        }
    }
}
