//! Plays a list of steps: each is done, then noted as done, then the next one.
//!
//! This is the order of things; how a step is done stands in `calls.rs` (what a good agent does) and `mischief.rs`.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use super::script::Steps;
use super::session::{Home, Session};
use super::step::Step;
use super::talk::Talk;
use super::{Stop, files, mischief};

/// How often `wait_for` looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// A script being played.
pub(super) struct Player<'a> {
    pub(super) talk: &'a mut Talk,
    pub(super) home: Home,
    pub(super) session: Session,
    pub(super) project: PathBuf,
    steps: Steps,
}

/// What follows a step.
pub(super) enum Then {
    Next,
    /// No further step: the phase was left.
    Leave,
    /// The turn ends, the phase does not: further steps wait until the session is resumed.
    Break,
    /// The turn ends; further steps wait for a prompt.
    Finish,
    /// The turn ends, and the process with this code.
    Exit(u8),
    /// The process ends with this code.
    Crash(u8),
    /// The step was interrupted, and is not done.
    Interrupted,
}

impl<'a> Player<'a> {
    pub(super) fn new(
        talk: &'a mut Talk,
        home: Home,
        session: Session,
        project: PathBuf,
        steps: Steps,
    ) -> Self {
        Self { talk, home, session, project, steps }
    }

    /// Plays until the process is to end; that is not before its input ends, unless a step says so.
    pub(super) fn play(mut self) -> Result<Infallible, Stop> {
        loop {
            let then = self.turn()?;
            if let Then::Crash(code) = then {
                return Err(Stop::Exit(code));
            }
            // A crash is silent by design: an agent that dies does not say that its turn has ended.
            self.talk.finished()?;
            if let Then::Exit(code) = then {
                return Err(Stop::Exit(code));
            }
            self.talk.next_turn()?;
        }
    }

    /// Plays to the end of a turn.
    fn turn(&mut self) -> Result<Then, Stop> {
        while let Some(step) = self.steps.get(self.session.next) {
            // Before each step: an interrupt that came during the last one must not start another tool.
            if self.talk.catch_up()? {
                return Ok(Then::Interrupted);
            }
            // Cloned: a step changes the player, which owns the list.
            let (line, step) = (step.referenced.line(), step.value.clone());
            let then = self.step(&step).map_err(|stop| at_line(stop, line))?;
            match then {
                // Not noted as done: a resumed session plays the interrupted step again.
                Then::Interrupted => return Ok(then),
                Then::Leave if !self.keeps_going() => self.done(self.steps.len())?,
                Then::Next | Then::Leave => self.done(self.session.next + 1)?,
                Then::Break | Then::Finish | Then::Exit(_) | Then::Crash(_) => {
                    self.done(self.session.next + 1)?;
                    return Ok(then);
                }
            }
        }
        Ok(Then::Finish)
    }

    /// What the last such step said: looked up, so that it holds after a kill too.
    fn keeps_going(&self) -> bool {
        let played = self.steps.iter().take(self.session.next).rev();
        let mut said = played.filter_map(|step| match step.value {
            Step::KeepGoing(keep_going) => Some(keep_going),
            _ => None,
        });
        said.next().unwrap_or(false)
    }

    fn done(&mut self, next: usize) -> Result<(), Stop> {
        self.session.next = next;
        self.session.begun = None;
        self.home.save(&self.session)
    }

    fn step(&mut self, step: &Step) -> Result<Then, Stop> {
        match step {
            Step::Say(text) => self.talk.say(text).map(next),
            Step::Think(ms) => self.think(Duration::from_millis(*ms)),
            Step::Tool(tool) => self.tool(tool),
            Step::Write(file) => self.write(file),
            Step::Append(file) => self.append(file),
            Step::Edit(edit) => self.edit(edit),
            Step::Delete(file) => self.delete(&file.path),
            Step::Shell(shell) => self.shell(&shell.command),
            Step::Usage(usage) => self.usage(usage).map(next),
            Step::Transition(with) => self.transition(with),
            Step::Complete(with) => self.complete(with),
            Step::Next(with) => self.workflow_step("next", with),
            Step::Status => self.status(),
            Step::Partial(with) => self.partial(with),
            Step::Need(with) => self.need(with),
            Step::Followup(with) => self.followup(with),
            Step::Snapshot(data) => self.signal("workflow_update_snapshot", &json!({"data": data})),
            Step::Loop(with) => self.workflow_step("loop", with),
            Step::Cancel(with) => self.workflow_step("cancel", with),
            Step::WorkflowAsk(with) => self.workflow_ask(with),
            Step::Signal(call) => self.signal(&call.tool, &call.arguments),
            Step::Ask(ask) => self.ask(ask),
            Step::Error(error) => self.talk.error(error.class.word(), &error.text).map(next),
            Step::Quota(quota) => self.quota(quota).map(next),
            Step::KeepGoing(_) => Ok(Then::Next),
            Step::Finish => Ok(Then::Finish),
            Step::Exit(code) => Ok(Then::Exit(*code)),
            Step::Crash(code) => Ok(Then::Crash(*code)),
            Step::Hang => hang(),
            Step::IgnoreTerm => {
                self.talk.ignore_interrupts();
                mischief::ignore_term().map(next)
            }
            Step::Flood(flood) => mischief::flood(self.talk, flood).map(next),
            Step::LongLine(line) => mischief::long_line(self.talk, line.bytes).map(next),
            Step::Garbage(text) | Step::Raw(text) => self.talk.line(text.as_bytes()).map(next),
            Step::Bytes(hex) => mischief::bytes(self.talk, hex).map(next),
            Step::CloseStdout => mischief::close_stdout().map(next),
            Step::Stray(stray) => mischief::stray(&self.project, stray).map(next),
            Step::WaitFor(mark) => self.wait_for(&self.project.join(&mark.file)),
            Step::Touch(mark) => files::touch(&self.project.join(&mark.file)).map(next),
        }
    }

    fn think(&mut self, time: Duration) -> Result<Then, Stop> {
        let began = Instant::now();
        loop {
            // A message ends a pause early, so what is left of the time is worked out again.
            let rest = time.saturating_sub(began.elapsed());
            if rest.is_zero() {
                return Ok(Then::Next);
            }
            if self.talk.pause(rest)? {
                return Ok(Then::Interrupted);
            }
        }
    }

    fn wait_for(&mut self, file: &Path) -> Result<Then, Stop> {
        while !file.exists() {
            if self.talk.pause(LOOK_AGAIN)? {
                return Ok(Then::Interrupted);
            }
        }
        Ok(Then::Next)
    }
}

fn hang() -> ! {
    loop {
        // May return without a reason, so it is called again and again.
        std::thread::park();
    }
}

fn next((): ()) -> Then {
    Then::Next
}

/// Gives a mistake in the script the line of its step.
fn at_line(stop: Stop, at: u64) -> Stop {
    match stop {
        Stop::Script { line: 0, why } => Stop::Script { line: at, why },
        other => other,
    }
}
