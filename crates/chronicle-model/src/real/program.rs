//! An agent that runs: lines in, lines out, and it never outlives its owner.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::mem;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

/// How long an agent may be silent before it is taken for dead. The runner's own limit comes first in tests.
const SILENCE_MOST: Duration = Duration::from_mins(1);
/// Longest line, and longest standard error, that is kept.
const LINE_MAX: u64 = 16 * 1024 * 1024;
/// Lines that wait to be read.
const LINES_MAX: usize = 1024;

/// A running agent with both ends of its talk.
pub struct Program {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    arguments: Vec<String>,
    /// Everything that was said, in order: `Ok` by the agent, `Err` by us.
    talk: Vec<Result<String, String>>,
}

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// Exit status of the process.
    pub status: ExitStatus,
    /// What it said on standard error.
    pub errors: String,
    /// What followed the program's name when it was started.
    pub arguments: Vec<String>,
    /// Everything that was said, in order: `Ok` by the agent, `Err` by us.
    pub talk: Vec<Result<String, String>>,
}

impl Program {
    /// Starts the process with piped streams.
    pub fn start(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let arguments = command.get_args().map(|it| it.to_string_lossy().into_owned()).collect();
        let mut child = command.spawn()?;
        let (sender, lines) = sync_channel(LINES_MAX);
        let output = child.stdout.take();
        // Both pipes are read at all times: an agent whose pipe is full stands still.
        thread::spawn(move || output.map(|it| pass_on(it, &sender)));
        let errors = child.stderr.take().map(|from| {
            thread::spawn(move || {
                let mut text = Vec::new();
                // Half of what it said is better than nothing.
                let _ = from.take(LINE_MAX).read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            })
        });
        let input = child.stdin.take();
        Ok(Self { child, input, lines, errors, arguments, talk: Vec::new() })
    }

    /// Process id of the program.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes one message as a line of JSON.
    pub fn send(&mut self, message: &Value) -> io::Result<()> {
        let line = message.to_string();
        if let Some(input) = &mut self.input {
            input.write_all(format!("{line}\n").as_bytes())?;
            input.flush()?;
        }
        self.talk.push(Err(line));
        Ok(())
    }

    /// Reads until a line is what is wanted. What is no JSON is read as null. It fails when the output ends before, or when
    /// the agent is silent for too long, with the last that was said.
    pub fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Result<Value, String> {
        loop {
            let line = match self.lines.recv_timeout(SILENCE_MOST) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return Err(self.complaint("fell silent")),
                Err(RecvTimeoutError::Disconnected) => return Err(self.complaint("ended")),
            };
            let value = serde_json::from_str(&line).unwrap_or(Value::Null);
            self.talk.push(Ok(line));
            if is_wanted(&value) {
                return Ok(value);
            }
        }
    }

    fn complaint(&self, what: &str) -> String {
        let last = self.talk.iter().rev().take(3).rev();
        let last: Vec<String> = last.map(|it| format!("{it:.400?}")).collect();
        format!("the agent {what} before the line that was wanted; last: {}", last.join("\n"))
    }

    /// Tells it that nothing more will come.
    pub fn close(&mut self) {
        self.input = None;
    }

    /// Closes its input, reads what is left and waits for its end; one that does not end is killed.
    pub fn end(mut self) -> io::Result<Ended> {
        self.close();
        loop {
            match self.lines.recv_timeout(SILENCE_MOST) {
                Ok(line) => self.talk.push(Ok(line)),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.child.kill()?;
                    break;
                }
            }
        }
        let status = self.child.wait()?;
        let errors = self.errors.take().and_then(|it| it.join().ok()).unwrap_or_default();
        let (arguments, talk) = (mem::take(&mut self.arguments), mem::take(&mut self.talk));
        Ok(Ended { status, errors, arguments, talk })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// What the agent said, parsed; what is no JSON is left out.
    pub fn said(&self) -> Vec<Value> {
        let lines = self.talk.iter().filter_map(|it| it.as_ref().ok());
        lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

fn pass_on(from: impl Read, to: &SyncSender<String>) {
    let mut reader = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        let read = (&mut reader).take(LINE_MAX).read_until(b'\n', &mut line);
        if !read.is_ok_and(|length| length > 0) {
            return;
        }
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        if to.send(line).is_err() {
            return;
        }
    }
}
