//! A program that is asked one thing, and ended as soon as it has answered or its time is over.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::{Edges, OutputLines, ReadLine, programs};
use crate::threads;

/// OutputLines that wait to be looked at.
const LINES_MAX: usize = 64;
/// How much of either end of what it says is kept, for whoever must know why it did not answer.
const KEPT: (usize, usize) = (3, 500);
/// How long its last words are waited for once it is ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What to start, and what it is asked.
#[derive(Debug, Clone)]
pub(crate) struct ProgramQuestion<'a> {
    /// The program and its arguments.
    pub(crate) argv: &'a [OsString],
    /// The folder that it works in.
    pub(crate) cwd: &'a Path,
    /// Variables beside those of the user.
    pub(crate) env: &'a BTreeMap<String, String>,
    /// Variables that it must not see.
    pub(crate) without: &'a [&'a str],
    /// What is written to it; its input stays open.
    pub(crate) input: &'a str,
    /// How long it may take.
    pub(crate) time: Duration,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// It cannot be started.
    NotStarted(String),
    /// It ended before; what it said, its standard error first.
    Ended(String),
    /// It took too long; what it said until then.
    TooLong(String),
}

/// Starts it, and returns the first line of its standard output that is an answer. It has a process group of its own, all of which is
/// ended; it is not waited for beyond the time, whoever holds its output open.
pub(crate) fn ask(
    question: &ProgramQuestion<'_>,
    is_answer: impl Fn(&str) -> bool,
) -> Result<String, Unanswered> {
    let not_started = |error: io::Error| Unanswered::NotStarted(error.to_string());
    let mut child = start(question).map_err(not_started)?;
    let until = Instant::now() + question.time;
    // Kept open until the end: some programs end with their input.
    let mut stdin = child.stdin.take();
    let input = question.input.to_owned();
    let (lines, open) = (sync_channel(LINES_MAX), sync_channel::<()>(0));
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let complaints = Arc::new(Mutex::new(Edges::new(KEPT.0, KEPT.1)));
    // Kept as it comes and not passed on: nobody listens to it before the program has ended, and one that prints more than a
    // channel holds would wait for a reader instead of answering.
    let heard = (Arc::clone(&complaints), open.0);
    let keep = move |line| {
        heard.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        true
    };
    let reading = read("asked", stdout, move |line| lines.0.send(line).is_ok())
        .and_then(|()| read("asked-errors", stderr, keep));
    if let Err(error) = reading {
        end(&mut child);
        return Err(not_started(error));
    }
    // One that reads nothing must not keep us: a pipe has room for so little.
    let _ = stdin.as_mut().map(|stdin| stdin.write_all(input.as_bytes()));
    let mut said = Edges::new(KEPT.0, KEPT.1);
    let answer = first(&lines.1, until, &mut said, is_answer);
    end(&mut child);
    answer.map_err(|is_over| {
        // The program is dead, but its last words may still be on their way through the pipe: the reader's end of this channel
        // goes with the reader.
        let _ = open.1.recv_timeout(LAST_WORDS);
        let complaints = complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let words = [complaints.text(), said.text()].join("\n").trim().to_owned();
        if is_over { Unanswered::Ended(words) } else { Unanswered::TooLong(words) }
    })
}

fn start(question: &ProgramQuestion<'_>) -> io::Result<Child> {
    let (program, rest) = question.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let program = programs::find(program).ok_or(io::ErrorKind::NotFound)?;
    let mut command = Command::new(program);
    // A group of its own, so that `end` reaches what the program started as well.
    command.args(rest).current_dir(question.cwd).envs(question.env).process_group(0);
    for name in question.without {
        command.env_remove(name);
    }
    let stdin = if question.input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// Hands lines on until there are none or, as `take` says, nobody wants them.
fn read(
    name: &str,
    from: Option<impl io::Read + Send + 'static>,
    mut take: impl FnMut(String) -> bool + Send + 'static,
) -> io::Result<()> {
    let Some(from) = from else { return Ok(()) };
    let pass_on = move || {
        for line in OutputLines::new(from).map_while(Result::ok) {
            let (ReadLine::Line(text)
            | ReadLine::NotUtf8 { text }
            | ReadLine::TooLong { start: text, .. }) = line;
            // Nobody listens any more, since the answer has come or the time is over.
            if !take(text) {
                return;
            }
        }
    };
    threads::spawn(name, pass_on).map(drop)
}

/// The first line that is an answer, or whether the output was over before the time was.
fn first(
    lines: &Receiver<String>,
    until: Instant,
    said: &mut Edges,
    is_answer: impl Fn(&str) -> bool,
) -> Result<String, bool> {
    loop {
        match lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) if is_answer(&line) => return Ok(line),
            // Checked for each line too: a program that prints all the time would never let the wait time out.
            Ok(line) if Instant::now() < until => said.push(line),
            Ok(_) | Err(RecvTimeoutError::Timeout) => return Err(false),
            Err(RecvTimeoutError::Disconnected) => return Err(true),
        }
    }
}

fn end(child: &mut Child) {
    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
        // No grace period: the program was started only to be asked, and has nothing of ours to save.
        let _ = kill_process_group(group, Signal::KILL);
    }
    // Reaped, or it would stay as a zombie for as long as this process lives.
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(script: &str) -> Result<String, Unanswered> {
        let argv = ["sh", "-c", script].map(OsString::from);
        let (cwd, env, time) = (Path::new("/"), &BTreeMap::new(), Duration::from_mins(10));
        let question = ProgramQuestion { argv: &argv, cwd, env, without: &[], input: "", time };
        ask(&question, |line| line == "yes")
    }

    #[test]
    fn however_much_it_complains_first_its_answer_is_heard() {
        let script = "i=0; while [ $i -lt 20000 ]; do echo complaint $i >&2; i=$((i+1)); done";
        assert_eq!(asked(&format!("{script}; echo yes")), Ok("yes".to_owned()));
        let Err(Unanswered::Ended(words)) = asked(script) else { panic!("it said nothing") };
        assert!(words.contains("complaint 0") && words.contains("complaint 19999"), "{words}");
    }
}
