//! Command phases: the commands run one after the other, each under a keeper of its own.

use std::io::Read;
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chronicle_core::base::limits::bounded;
use chronicle_core::engine::work::Work;
use chronicle_core::event::CrashClass;
use chronicle_core::event::input::{AttemptReport, EndSeen};

use super::Context;
use super::agent::{cannot_start, ended_as, environment, withheld, works_in};
use super::report::Reporter;
use super::transcript::{From, Transcript};
use super::walled::{Walled, time_of, walled};
use super::watchdog::{Bark, Watchdog};
use super::worked::Worked;
use crate::activity::Bit;
use crate::fail::{self, Point};
use crate::loaded::AttemptTime;
use crate::process::{
    self, Control, KeeperEnd, KeeperOrder, Kept, OutputLines, ReadLine, Ring, SpawnError,
    shell_argv,
};
use crate::threads;
use crate::walls;

/// How much of a command is named when it cannot be started.
const COMMAND_SHOWN_MAX: usize = 200;
/// Lines of a command's output that the ledger keeps.
const OUTPUT_LINES: usize = 40;
const OUTPUT_BYTES: usize = 4_000;
/// How long to wait for the last output after the command is gone.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Kills the running command and prevents further ones.
pub(super) struct ShellStop {
    now: Arc<Mutex<Now>>,
}

#[derive(Default)]
struct Now {
    stopped: bool,
    control: Option<Control>,
}

impl ShellStop {
    pub(super) fn stop(&self, grace: Duration) {
        let mut now = lock(&self.now);
        now.stopped = true;
        if let Some(control) = &now.control {
            control.stop(grace);
        }
    }

    /// The running command; no further one starts.
    pub(super) fn control(&self) -> Option<Control> {
        let mut now = lock(&self.now);
        now.stopped = true;
        now.control.clone()
    }
}

struct Shell {
    context: Arc<Context>,
    time: AttemptTime,
    work: Work,
    /// The folder that the commands run in.
    works_in: PathBuf,
    walled: Walled,
    reporter: Reporter,
    transcript: Arc<Transcript>,
    watchdog: Watchdog,
    now: Arc<Mutex<Now>>,
}

/// Starts the commands on a thread of their own.
pub(super) fn start(context: Arc<Context>, work: Work) -> Result<ShellStop, Box<EndSeen>> {
    let id = work.intent.attempt;
    let works_in = works_in(&context, &work)?;
    let walled = walled(&context, &work, &works_in, None, &environment(&context, &work))?;
    let shell = Shell {
        time: time_of(&context, &work)?,
        works_in,
        walled,
        reporter: Reporter::new(context.inbox.clone(), id),
        transcript: Arc::new(Transcript::create(&context.folder.transcript(id))),
        watchdog: Watchdog::new(false, None),
        now: Arc::default(),
        context,
        work,
    };
    let stop = ShellStop { now: Arc::clone(&shell.now) };
    let (watchdog, reporter) = (shell.watchdog.clone(), shell.reporter.clone());
    let mut worked = Worked::new(shell.context.folder.worked(id));
    let no_thread = |error| cannot_start(format!("no thread to tend it: {error}"));
    // First, and waiting: it alone ends the watching thread, and without that one it has nothing to run and ends at once.
    let run = threads::spawn_waiting("shell", Shell::run).map_err(no_thread)?;
    let watch = move || {
        // Commands may be silent for long; they have a timeout instead.
        watchdog.watch(None, |bark| match bark {
            Bark::Moment => worked.keep(reporter.active_ms()),
            Bark::Idle | Bark::Lingers | Bark::Deaf | Bark::Unproven | Bark::TimedOut(_) => {}
        });
    };
    threads::spawn("watch", watch).map_err(no_thread)?;
    // Neither fails nor blocks: the thread waits for just this.
    let _ = run.send(shell);
    Ok(stop)
}

impl Shell {
    fn run(self) {
        let mut seen = EndSeen { finished: true, ..EndSeen::default() };
        for (index, command) in &self.work.commands {
            match self.command(command) {
                Err(text) => {
                    let text = self.cannot(*index, command, &text);
                    seen.error = Some((CrashClass::CannotStart, text));
                }
                Ok((end, output)) => {
                    // A stopped command is not reported as ended: nobody knows how far it came, so it is not done.
                    if let KeeperEnd::Ended { code, stopped: false, .. } = &end {
                        let (index, code) = (*index, *code);
                        // The ledger says first what happened, then how it ended.
                        if let Some(said) = self.refusal(&output) {
                            self.reporter.tell(AttemptReport::WallHit { call: None, said });
                        }
                        self.reporter.tell(AttemptReport::CommandEnded { index, code, output });
                    }
                    seen = ended_as(seen, end);
                }
            }
            let went_well = seen.code == Some(0) && seen.error.is_none();
            // Only `cleanup` goes on after a failure. Nothing goes on after a stop or a loss.
            if (!went_well && !self.work.goes_on()) || seen.stopped || seen.lost {
                break;
            }
        }
        // Ends the watching thread, which would go on writing down the time of an attempt that is over.
        self.watchdog.over();
        seen.transcript_bytes = self.transcript.finish();
        self.time.over();
        self.reporter.tell(AttemptReport::Ended(seen));
    }

    /// What the output shows of a wall that stopped the command, however it ended.
    fn refusal(&self, output: &str) -> Option<String> {
        walls::refusal(output, self.walled.wall.as_ref()?, &self.works_in)
    }

    /// Why a command was not started. Those before it have run: whoever tries again needs its number.
    fn cannot(&self, index: u32, command: &str, why: &str) -> String {
        let command = self.context.redactor.redact(command);
        // An attempt that begins later in the list has only the rest of it.
        let last = self.work.commands.last().map_or(index, |(last, _)| *last);
        let (number, all) = (index.saturating_add(1), last.saturating_add(1));
        format!("command {number} of {all}, `{}`: {why}", bounded(&command, COMMAND_SHOWN_MAX))
    }

    /// Runs one command to its end. The text is the end of its output.
    fn command(&self, command: &str) -> Result<(KeeperEnd, String), String> {
        let shown = self.context.redactor.redact(command);
        self.transcript.add(From::Supervisor, &shown);
        self.context.activities.add(self.work.intent.attempt, Bit::Ran, &shown);
        let output = Arc::new(Mutex::new(Ring::new(OUTPUT_LINES, OUTPUT_BYTES)));
        let (done, all_read) = sync_channel(2);
        // Before the command: one that has begun may not be told as one that could not be started.
        let stdout = self.follow(From::Agent, &output, done.clone())?;
        let stderr = self.follow(From::Stderr, &output, done)?;
        let mut kept = match self.begin(command) {
            Ok(Some(kept)) => kept,
            Ok(None) => return Ok((stopped_before(), String::new())),
            // The keeper died before it started anything. That is a loss and no fault of the command, so the same try goes on.
            Err(error) if error.is_death() => return Ok((KeeperEnd::KeeperDied, String::new())),
            Err(error) => return Err(error.to_string()),
        };
        // Closed at once: a command that reads its input must not wait for ever.
        drop(kept.stdin.take());
        let _ = stdout.send(kept.stdout);
        let _ = stderr.send(kept.stderr);
        let end = kept.control.wait();
        // One for each pipe, and not without a limit: a process that escaped its keeper may hold a pipe open for ever.
        for _ in 0..2 {
            let _ = all_read.recv_timeout(LAST_WORDS);
        }
        // A stop from here on is for the next command. This one is gone.
        lock(&self.now).control = None;
        let text = output.lock().unwrap_or_else(PoisonError::into_inner).text();
        // Each line was redacted by itself. A secret that goes over several lines shows only in the joined text.
        Ok((end, self.context.redactor.redact(&text).into_owned()))
    }

    /// Starts a command, unless the attempt was stopped meanwhile.
    fn begin(&self, command: &str) -> Result<Option<Kept>, SpawnError> {
        let folder = &self.context.folder;
        let mut order = KeeperOrder::new(
            self.context.cookies.cookie(self.work.intent.attempt),
            folder.keeper(self.work.intent.attempt),
            self.works_in.clone(),
            shell_argv(command),
        );
        order.chronicle.clone_from(&self.context.chronicle);
        order.env_remove = withheld(&self.context, &self.work);
        order.env_set = environment(&self.context, &self.work);
        order.env_set.extend(self.walled.env.clone());
        order.wall.clone_from(&self.walled.wall);
        let mut now = lock(&self.now);
        if now.stopped {
            return Ok(None);
        }
        // The lock is held across the start: a stop that comes now either prevents it or finds its control.
        fail::at(Point::BeforeStartCommand);
        let kept = process::start(&order)?;
        now.control = Some(kept.control.clone());
        fail::at(Point::AfterStartCommand);
        Ok(Some(kept))
    }

    /// Starts a thread that reads a pipe to its end, once it is given one.
    fn follow<P: Read + Send + 'static>(
        &self,
        from: From,
        output: &Arc<Mutex<Ring>>,
        done: SyncSender<()>,
    ) -> Result<SyncSender<P>, String> {
        let (context, id) = (Arc::clone(&self.context), self.work.intent.attempt);
        let transcript = Arc::clone(&self.transcript);
        let output = Arc::clone(output);
        let body = move |pipe: P| {
            let mut inside_key = false;
            for line in OutputLines::new(pipe).map_while(Result::ok) {
                let text = match line {
                    ReadLine::Line(text) | ReadLine::NotUtf8 { text } => text,
                    ReadLine::TooLong { start, .. } => start,
                };
                let text = context.redactor.redact_line(&text, &mut inside_key);
                context.activities.line(id, text.len());
                context.activities.add(id, Bit::Printed, &text);
                transcript.add(from, &text);
                output.lock().unwrap_or_else(PoisonError::into_inner).push(text.into_owned());
            }
            let _ = done.send(());
        };
        threads::spawn_waiting("output", body)
            .map_err(|error| format!("no thread to read it: {error}"))
    }
}

fn stopped_before() -> KeeperEnd {
    KeeperEnd::Ended { code: None, signal: None, strays: 0, survivors: 0, stopped: true }
}

fn lock(now: &Mutex<Now>) -> MutexGuard<'_, Now> {
    now.lock().unwrap_or_else(PoisonError::into_inner)
}
