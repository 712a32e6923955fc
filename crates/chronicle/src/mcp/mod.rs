//! The signal server: `chronicle mcp`, which an agent starts below itself, on standard input and output; `http.rs` for agents that
//! prefer an address.
//!
//! A thin proxy. It knows the tools by name and hands every call on to the supervisor of its run, over the link, with the secret
//! of the attempt. The link also finds out from the system which attempt this process belongs to: no word of the agent is
//! believed. Each call has a thread and a connection of its own, so that a question to a person keeps nothing else waiting.

mod http;
mod wire;

use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use chronicle_core::event::signal::ASK_SUPERVISOR;
use chronicle_runtime::handle::signals::{
    CallOutcome, LINE_MAX, RUN_FOLDER, SECRET, ToolCall, hand_on, signal_tools,
};
use chronicle_runtime::handle::{new_run_id, threads};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

pub(crate) use http::Http;
use wire::{Call, McpRequest};

/// Most calls that wait for an answer at once.
const CALLS_MAX: usize = 16;
/// How much of the end of a line that is too long is looked at.
const END_MAX: usize = 256;
/// How often somebody who reads the answers is looked for, once nothing more is asked.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// What an agent with no supervisor is to do.
const GONE: &str = "the supervisor of this run is gone: nothing was done. End your turn now; \
    `chronicle resume` goes on from here";

/// What the threads share.
struct SignalServer {
    run_folder: Option<PathBuf>,
    secret: String,
    /// Tells the calls of this process from those of one before it.
    name: String,
    calls: AtomicUsize,
    output: Mutex<io::Stdout>,
    /// Wakes who waits for the last answer.
    answered: Condvar,
}

/// Answers until the agent closes its end.
pub(crate) fn main() -> ExitCode {
    let server = Arc::new(SignalServer {
        run_folder: std::env::var_os(RUN_FOLDER).map(PathBuf::from),
        secret: std::env::var(SECRET).unwrap_or_default(),
        name: new_run_id(),
        calls: AtomicUsize::new(0),
        output: Mutex::new(io::stdout()),
        answered: Condvar::new(),
    });
    let ended = server.serve(&mut io::stdin().lock());
    // Who closes its end may still read: `printf CALL | chronicle mcp`.
    server.see_off();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Skips the rest of a line, and returns how it ends.
fn skip_line(input: &mut impl BufRead, begun: &[u8]) -> io::Result<Vec<u8>> {
    let mut end: Vec<u8> = begun[begun.len().saturating_sub(END_MAX)..].to_vec();
    while end.last() != Some(&b'\n') {
        let mut part = Vec::new();
        if input.by_ref().take(LINE_MAX).read_until(b'\n', &mut part)? == 0 {
            break;
        }
        end.extend_from_slice(&part[part.len().saturating_sub(END_MAX)..]);
        end.drain(..end.len().saturating_sub(END_MAX));
    }
    Ok(end)
}

impl SignalServer {
    fn serve(self: &Arc<Self>, input: &mut impl BufRead) -> io::Result<()> {
        loop {
            let mut line = Vec::new();
            // One byte more than the limit: otherwise a line that just fits could not be told from one that was cut.
            if input.by_ref().take(LINE_MAX + 1).read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            if line.len() as u64 > LINE_MAX {
                // The rest of it would be read as another line.
                let end = skip_line(input, &line)?;
                let why = format!("the call is longer than {LINE_MAX} bytes: say it shorter");
                // As an answer to the call, so that its model reads it, and the server lives on.
                match wire::id_of_long(&line, &end) {
                    Value::Null => self.say(&wire::error(&Value::Null, wire::PARSE, &why))?,
                    id => self.answer(&id, Err(why))?,
                }
                continue;
            }
            // Some clients separate messages by empty lines.
            if line.trim_ascii().is_empty() {
                continue;
            }
            match wire::read(&line) {
                Ok(None) => {}
                Ok(Some(McpRequest::Call(call))) => self.begin(call)?,
                Ok(Some(McpRequest::Plain { id, result })) => {
                    self.say(&wire::result(&id, &result))?;
                }
                Err((id, code, why)) => self.say(&wire::error(&id, code, &why))?,
            }
        }
    }

    /// Takes a call in hand.
    fn begin(self: &Arc<Self>, call: Call) -> io::Result<()> {
        if let Some(why) = unknown(&call) {
            return self.say(&why);
        }
        // Each call has a thread that may wait for a person for days.
        if self.calls.fetch_add(1, Ordering::SeqCst) >= CALLS_MAX {
            self.calls.fetch_sub(1, Ordering::SeqCst);
            let answer = Err(format!("{CALLS_MAX} calls wait already: wait for their answers"));
            return self.answer(&call.id, answer);
        }
        let (it, id) = (Arc::clone(self), call.id.clone());
        let work = move || {
            let answer = it.ask(&call);
            // An agent that does not read any more has no use for it.
            let _ = it.answer(&call.id, answer);
            it.end();
        };
        match threads::spawn("call", work) {
            Ok(_) => Ok(()),
            Err(error) => {
                // The thread never ran, so nobody else counts this call down.
                self.end();
                self.answer(&id, Err(no_thread(&error)))
            }
        }
    }

    /// A call has its answer.
    fn end(&self) {
        // The lock of the condition: otherwise `see_off` could look, miss this, and wait for another second.
        let _output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        self.calls.fetch_sub(1, Ordering::SeqCst);
        self.answered.notify_all();
    }

    /// Waits until every call has its answer, or nobody is left to read it: a question to a person may take days.
    fn see_off(&self) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        while self.calls.load(Ordering::SeqCst) > 0 && !has_no_reader(&output) {
            let waited = self.answered.wait_timeout(output, LOOK_AGAIN);
            output = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn ask(&self, call: &Call) -> Result<String, String> {
        let Some(folder) = &self.run_folder else {
            return Err(format!("no run is named: `{RUN_FOLDER}` is not set"));
        };
        ask(folder, &self.secret, &self.name, call)
    }

    fn answer(&self, id: &Value, answer: Result<String, String>) -> io::Result<()> {
        self.say(&wire::answer(id, answer))
    }

    fn say(&self, message: &Value) -> io::Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        // The whole line under one lock: answers of several threads must not mix.
        output.write_all(format!("{message}\n").as_bytes())?;
        output.flush()
    }
}

/// What a worker is told when its call cannot even be passed on.
fn no_thread(error: &io::Error) -> String {
    format!(
        "the call cannot be passed on: no thread can be started ({error}). Nothing was done: call again"
    )
}

/// Whether the other end of our output is closed.
fn has_no_reader(output: &io::Stdout) -> bool {
    let mut ends = [PollFd::new(output, PollFlags::empty())];
    let no_time = Timespec { tv_sec: 0, tv_nsec: 0 };
    // Looked at without writing: a probe would be a message to a client that still reads.
    poll(&mut ends, Some(&no_time)).is_ok()
        && ends[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Hands a call on to the supervisor and waits for its answer. `name` tells the calls of this server from those of another.
fn ask(folder: &Path, secret: &str, name: &str, call: &Call) -> Result<String, String> {
    // Ids of the protocol begin at 1 in each process. With the server's own name they are unique for the attempt.
    let own = || format!("{name}-{}", call.id);
    let call = ToolCall {
        request: call.name.clone().unwrap_or_else(own),
        tool: call.tool.clone(),
        arguments: call.arguments.clone(),
        secret: secret.to_owned(),
    };
    match hand_on(folder, call) {
        CallOutcome::Accepted(text) => Ok(text),
        CallOutcome::Refused(why) => Err(why),
        CallOutcome::Gone => Err(GONE.to_owned()),
    }
}

/// Whether the tool is one of ours; what to say of another.
fn unknown(call: &Call) -> Option<Value> {
    let is_known =
        call.tool == ASK_SUPERVISOR || signal_tools().iter().any(|it| it.name == call.tool);
    let why = || format!("there is no tool `{}`", call.tool);
    (!is_known).then(|| wire::error(&call.id, wire::PARAMS, &why()))
}
