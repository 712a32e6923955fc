//! One agent at work: its pipes, its transcript, its end.
//!
//! Threads, each with one thing to wait for: one writes to the agent, one reads what it says and hands it on, one reads
//! its standard error, one watches for silence, and one waits for its keeper and then reports the end, after all that the
//! agent said. Nothing here decides anything.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chronicle_core::event::{CrashClass, Verdict};
use chronicle_core::ids::AttemptId;
use chronicle_core::input::{Answer, AttemptReport, EndSeen, Said};
use chronicle_core::limits::{TEXT_MAX, bounded};
use chronicle_core::signal::{self, Signal};
use chronicle_core::time::Millis;
use chronicle_core::work::Work;

use super::Context;
use super::report::Reporter;
use super::transcript::{From, Transcript};
use super::voice::{Spoken, Voice};
use super::watchdog::{Bark, Watchdog};
use crate::agents::{self, GivenFile, Order, Seen};
use crate::fail::{self, Point};
use crate::ledger::{ArtifactId, Ledger as _};
use crate::process::{self, Control, KeeperEnd, KeeperOrder, Lines, ReadLine, Ring, SpawnError};

/// Most lines that wait to be written to an agent.
const OUTBOX_MAX: usize = 64;
/// Lines in a row that mean nothing before the agent is taken for something else.
const NOT_UNDERSTOOD_MAX: u32 = 1_000;
/// How much of the first of them a person is shown.
const FIRST_MAX: usize = 120;
/// How often in a row an agent may try a request again by itself, without a word of ours; then the failure is ours to mend.
const OWN_RETRIES_MAX: u32 = 2;
/// What an agent that Chronicle itself was started from leaves in the environment: another one would take itself for a part of it.
const NOT_FOR_AGENTS: [&str; 4] =
    ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID"];
/// Most calls whose verdict is remembered until they end.
const VERDICTS_MAX: usize = 1_024;
/// How much of the end of its standard error is kept for the report of a crash.
const STDERR_LINES: usize = 20;
const STDERR_BYTES: usize = 4_000;
/// How long to wait for the last output after the agent is gone: a pipe may be held by what escaped.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Reaches an agent that works: to end it, or to tell it something.
pub(super) struct Stop {
    control: Control,
    shared: Arc<Shared>,
}

impl Stop {
    /// Tells a note; whether it is on its way.
    pub(super) fn note(&self, text: &str) -> bool {
        self.said(self.shared.voice.note(text))
    }

    /// Gives the answer to a question; whether it is on its way.
    pub(super) fn answer(&self, request: &str, text: &str) -> bool {
        let is_told = self.said(self.shared.voice.answer_question(request, text));
        if is_told {
            self.shared.watchdog.answered();
        }
        is_told
    }

    /// Whether it waits for a person's answer: that time is not its own.
    pub(super) fn rests(&self, rests: bool) {
        self.shared.reporter.rests(rests);
    }

    fn said(&self, said: Spoken) -> bool {
        match said {
            Spoken::Lines(lines) => {
                for line in &lines {
                    self.shared.transcript.add(From::Supervisor, line);
                }
                true
            }
            Spoken::Nothing => false,
        }
    }

    pub(super) fn stop(&self, grace: Duration) {
        self.control.stop(grace);
    }

    pub(super) fn control(&self) -> Control {
        self.control.clone()
    }
}

/// What the threads of one attempt share.
struct Shared {
    context: Arc<Context>,
    attempt: AttemptId,
    /// The model that was asked for.
    model: Option<String>,
    reporter: Reporter,
    transcript: Transcript,
    watchdog: Watchdog,
    died_of: fn(&str) -> Option<CrashClass>,
    voice: Voice,
    end: Mutex<LastWords>,
}

/// What is known about the end before it comes.
struct LastWords {
    finished: bool,
    error: Option<(CrashClass, String)>,
    /// When there is a new quota.
    quota_until: Option<Millis>,
    stderr: Ring,
    /// Lines that meant nothing.
    not_understood: u64,
    /// What it said since its last tool.
    said: String,
}

/// Starts the agent under a keeper, and the threads that tend it.
pub(super) fn start(context: Arc<Context>, work: Work) -> Result<Stop, Box<EndSeen>> {
    let id = work.intent.attempt;
    let project = context.folder.project.clone();
    let mut adapter = agents::find(&work.intent.agent, &project, &context.settings)
        .map_err(|error| cannot_start(error.to_string()))?;
    let idle = work.idle_ms.map(Duration::from_millis);
    let env = environment(&context, &work);
    let model = work.model.clone();
    let (cookie, order) = (context.cookies.cookie(id), order(&context, work));
    let launch = adapter.launch(&order, &context.chronicle);
    let given = give(&order.given, &launch.files);
    let given = given.and_then(|()| order.home.iter().try_for_each(|home| private_folder(home)));
    given.map_err(|error| {
        cannot_start(format!("`{}` cannot be written: {error}", order.given.display()))
    })?;
    let died_of = adapter.died_of();
    let mut keeper = KeeperOrder::new(cookie, context.folder.keeper(id), project, launch.argv);
    keeper.chronicle.clone_from(&context.chronicle);
    let home = order.home.iter().flat_map(|home| private_home(home));
    let own = env.into_iter().chain(home).chain(signal_variables(&order));
    keeper.env_set = own.chain(launch.env).collect();
    keeper.env_remove = NOT_FOR_AGENTS.map(str::to_owned).into();
    fail::at(Point::BeforeStartAgent);
    let kept = process::start(&keeper).map_err(|error| not_kept(&error))?;
    let opening = adapter.open(&order);
    let (outbox, to_agent) = sync_channel::<String>(OUTBOX_MAX);
    let shared = Arc::new(Shared {
        attempt: id,
        model,
        voice: Voice::new(adapter, outbox),
        reporter: Reporter::new(context.inbox.clone(), id),
        transcript: Transcript::create(&context.folder.transcript(id)),
        watchdog: Watchdog::new(),
        died_of,
        end: Mutex::new(LastWords {
            finished: false,
            error: None,
            quota_until: None,
            stderr: Ring::new(STDERR_LINES, STDERR_BYTES),
            not_understood: 0,
            said: String::new(),
        }),
        context,
    });
    let pipes = (kept.stdin, kept.stdout, kept.stderr);
    let control = kept.control.clone();
    tend(&shared, pipes, kept.control, (to_agent, opening), idle).map_err(|error| {
        control.stop(Duration::ZERO);
        cannot_start(format!("no thread to tend it: {error}"))
    })?;
    fail::at(Point::AfterStartAgent);
    Ok(Stop { control, shared })
}

/// What the ledger says that the worker is told. It is worked out anew only where it is not kept: what people and other workers
/// said since is not in it then, or is.
fn handover(context: &Context, work: &Work) -> String {
    let kept = work.intent.handover.as_ref().and_then(|handed| {
        let id: ArtifactId = handed.text.parse().ok()?;
        let is_same = ArtifactId::of(work.handover.as_bytes()) == id;
        let body = || context.folder.ledger().artifact(&id).ok();
        if is_same { None } else { String::from_utf8(body()?).ok() }
    });
    kept.unwrap_or_else(|| work.handover.clone())
}

fn order(context: &Context, work: Work) -> Order {
    Order {
        handover: handover(context, &work),
        run: context.folder.id.clone(),
        attempt: work.intent.attempt,
        place: work.intent.place,
        try_number: work.intent.try_number,
        session: work.intent.session,
        resume: work.intent.resume,
        task: work.task,
        followup: work.intent.persona,
        persona: work.persona,
        model: work.model,
        thinking: work.thinking,
        tools: work.tools,
        targets: work.targets,
        project: context.folder.project.clone(),
        chronicle: process::executable_for_others(&context.chronicle),
        run_folder: context.folder.path.clone(),
        secret: context.secrets.issue(work.intent.attempt),
        signals: context.signals.clone(),
        home: work.isolated.then(|| context.folder.home()),
        given: context.folder.given(work.intent.attempt),
    }
}

/// Writes what the agent is given to read. Nobody else may read it: a persona may say what is nobody's business.
fn give(folder: &Path, files: &[GivenFile]) -> std::io::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    private_folder(folder)?;
    for file in files {
        let mut options = File::options();
        let open = options.write(true).create(true).truncate(true).mode(0o600);
        open.open(folder.join(file.name))?.write_all(file.text.as_bytes())?;
    }
    Ok(())
}

fn private_folder(folder: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// What every worker and command finds in its environment beside the user's own.
pub(super) fn environment(context: &Context, work: &Work) -> BTreeMap<String, String> {
    let own = [
        ("CHRONICLE_RUN", context.folder.id.to_string()),
        ("CHRONICLE_ATTEMPT", work.intent.attempt.to_string()),
        ("CHRONICLE_PLACE", work.intent.place.to_string()),
    ];
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    work.env.clone().into_iter().chain(own).collect()
}

/// What a signal server that the agent starts must know.
fn signal_variables(order: &Order) -> BTreeMap<String, String> {
    let folder = order.run_folder.to_string_lossy().into_owned();
    let known = [(agents::RUN_FOLDER, folder), (agents::SECRET, order.secret.clone())];
    let url = order.signals.clone().map(|url| (agents::SIGNALS, url));
    known.into_iter().chain(url).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Every variable that says where a person's own things are, pointed at the run's home.
fn private_home(home: &Path) -> Vec<(String, String)> {
    let places = [
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_CACHE_HOME", ".cache"),
    ];
    let named = |name: &str, path: &Path| (name.to_owned(), path.to_string_lossy().into_owned());
    let below = places.map(|(name, below)| named(name, &home.join(below)));
    std::iter::once(named("HOME", home)).chain(below).collect()
}

type Pipes = (Option<ChildStdin>, ChildStdout, ChildStderr);

fn tend(
    shared: &Arc<Shared>,
    (stdin, stdout, stderr): Pipes,
    control: Control,
    (to_agent, opening): (Receiver<String>, Vec<String>),
    idle: Option<Duration>,
) -> std::io::Result<()> {
    let (done, all_read) = sync_channel::<()>(2);
    thread("write", move || write(stdin, &opening, &to_agent))?;
    let (it, said, stopper) = (Arc::clone(shared), done.clone(), control.clone());
    thread("read", move || {
        Reading::of(&it).all(stdout, &stopper);
        it.voice.close();
        let _ = said.send(());
    })?;
    let it = Arc::clone(shared);
    thread("stderr", move || {
        it.read_stderr(stderr);
        let _ = done.send(());
    })?;
    let (it, stopper) = (Arc::clone(shared), control.clone());
    thread("watch", move || {
        it.watchdog.watch(idle, |bark| match bark {
            Bark::Idle => it.reporter.tell(AttemptReport::Idle),
            Bark::Lingers => stopper.stop(super::STOP_GRACE),
        });
    })?;
    let it = Arc::clone(shared);
    thread("wait", move || {
        let end = control.wait();
        it.watchdog.over();
        for _ in 0..2 {
            let _ = all_read.recv_timeout(LAST_WORDS);
        }
        it.reporter.tell(AttemptReport::Ended(it.seen(end)));
    })
}

pub(super) fn thread(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body).map(drop)
}

/// Writes until nobody has more to say; then the agent's standard input ends.
fn write(stdin: Option<ChildStdin>, opening: &[String], outbox: &Receiver<String>) {
    let Some(mut stdin) = stdin else { return };
    let mut say = |line: &str| stdin.write_all(format!("{line}\n").as_bytes()).is_ok();
    if opening.iter().all(|line| say(line)) {
        while let Ok(line) = outbox.recv() {
            if !say(&line) {
                return;
            }
        }
    }
}

/// Reads one agent's standard output.
struct Reading<'a> {
    shared: &'a Shared,
    /// Lines in a row that meant nothing, and the first of them.
    puzzled: u32,
    first: String,
    /// What it tried again by itself since it last got on.
    retries: u32,
    /// Which of its calls may run. A hook that an agent passes over shows here: a result without a verdict.
    verdicts: VecDeque<(String, bool)>,
}

impl<'a> Reading<'a> {
    fn of(shared: &'a Shared) -> Self {
        Self { shared, puzzled: 0, first: String::new(), retries: 0, verdicts: VecDeque::new() }
    }

    fn all(mut self, stdout: ChildStdout, control: &Control) {
        let mut is_stopped = false;
        for line in Lines::new(stdout).map_while(Result::ok) {
            self.line(line, is_stopped);
            if self.puzzled >= NOT_UNDERSTOOD_MAX {
                self.puzzled = 0;
                let first = std::mem::take(&mut self.first);
                self.breach(format!(
                    "{NOT_UNDERSTOOD_MAX} lines in a row meant nothing; the first was `{first}`"
                ));
            }
            let broke = matches!(self.shared.last_words().error, Some((CrashClass::Protocol, _)));
            if (broke || self.retries > OWN_RETRIES_MAX) && !is_stopped {
                // It waits for an answer that it will not get, goes its own way, tries for ever, or is no agent at all.
                control.stop(super::STOP_GRACE);
                is_stopped = true;
            }
        }
    }

    /// Takes in one line; from an agent that broke its word it is kept, and not heard.
    fn line(&mut self, line: ReadLine, is_stopped: bool) {
        let text = match line {
            ReadLine::Line(text) | ReadLine::NotUtf8 { text } => text,
            ReadLine::TooLong { start, bytes } => {
                format!("[a line of {bytes} bytes, not kept] {start}")
            }
        };
        let Shared { context, attempt, transcript, .. } = self.shared;
        let text = context.redactor.redact(&text);
        context.activities.line(*attempt, text.len());
        transcript.add(From::Agent, &text);
        if is_stopped {
            return;
        }
        for seen in self.shared.voice.read(&text) {
            if let Seen::NotUnderstood { .. } = seen {
                self.puzzles(&text);
            } else {
                self.seen(seen);
            }
        }
    }

    /// Counted, and kept in the transcript; some lines of nonsense harm nobody.
    fn puzzles(&mut self, line: &str) {
        if self.puzzled == 0 {
            self.first = bounded(line, FIRST_MAX);
        }
        self.puzzled += 1;
        let mut last = self.shared.last_words();
        last.not_understood = last.not_understood.saturating_add(1);
    }

    fn seen(&mut self, seen: Seen) {
        self.puzzled = 0;
        self.shared.watchdog.heard();
        if !matches!(seen, Seen::Retrying { .. } | Seen::Alive) {
            self.retries = 0;
        }
        let tell = |what| self.shared.reporter.tell(what);
        match seen {
            Seen::Text(text) => {
                self.shared.last_words().say(&text);
                self.note(&text);
            }
            Seen::Thought(text) => self.note(&text),
            Seen::Retrying { class, text } => self.tries_again(class, text),
            Seen::Session(session) => tell(AttemptReport::Session(session)),
            Seen::ToolCall { call, tool, input } => {
                if !self.judge(call, tool.clone(), input.shown()).1 {
                    self.breach(format!("it ran `{tool}`, which is denied"));
                }
            }
            Seen::Permission { call, tool, input } => {
                let id = call.clone();
                let (answer, _) = self.judge(call, tool, input.shown());
                self.answer(&id, answer);
            }
            Seen::ToolEnd { call, ok } => self.tool_ended(call, ok),
            Seen::FileChange { path, change } => {
                self.note(&path);
                tell(AttemptReport::FileChanged { path, change });
            }
            Seen::Usage { scope, usage, model } => {
                let model = model.as_deref().or(self.shared.model.as_deref());
                let usage = self.shared.context.prices.priced(usage, model);
                tell(AttemptReport::Usage { scope, usage });
            }
            Seen::Signal { request, signal } => self.signal(&request, signal),
            Seen::Question { request, question, options } => {
                self.signal(&request, signal::ask(&question, &options));
            }
            Seen::Error { class, text } => self.shared.last_words().error = Some((class, text)),
            Seen::QuotaReset { until } => self.shared.last_words().no_quota(until),
            Seen::Finished => self.finished(),
            Seen::Failed { class, text } => self.failed(class, text),
            Seen::Alive | Seen::NotUnderstood { .. } => {}
        }
    }

    /// Its own retries are bounded by ours: some go on for minutes without a word to anybody.
    fn tries_again(&mut self, class: CrashClass, text: String) {
        self.note(&text);
        self.retries += 1;
        if self.retries > OWN_RETRIES_MAX {
            self.failed(class, text);
        }
    }

    /// Has a call judged, and remembers whether it may run.
    fn judge(&mut self, call: String, tool: String, input: String) -> (Option<Answer>, bool) {
        self.note(&tool);
        self.shared.last_words().begin_anew();
        if self.verdicts.len() >= VERDICTS_MAX {
            self.verdicts.pop_front();
        }
        let id = call.clone();
        let answer = self.shared.reporter.ask(AttemptReport::ToolCalled { call, tool, input });
        let may_run = !matches!(answer, Some(Answer::Verdict(Verdict::Denied(_))));
        self.verdicts.push_back((id, may_run));
        (answer, may_run)
    }

    /// A result needs a verdict; a call that was denied has none but its failure.
    fn tool_ended(&mut self, call: String, ok: bool) {
        let verdict = self.verdicts.iter().rev().find(|(id, _)| *id == call).map(|(_, may)| *may);
        if verdict.is_none() || (verdict == Some(false) && ok) {
            self.breach(format!("the call `{call}` ran without leave"));
        }
        self.shared.reporter.tell(AttemptReport::ToolEnded { call, ok });
    }

    /// Hands a call on. A question may take days: its answer comes through the driver, and silence is no fault meanwhile.
    fn signal(&mut self, request: &str, signal: Signal) {
        // Noted first: the answer may be on its way before ours has come back.
        let is_question = matches!(signal, Signal::Ask(_));
        if is_question {
            self.shared.voice.asks(request);
            self.shared.watchdog.asks();
        }
        let answer = self.shared.reporter.signal(request, signal);
        if is_question && !matches!(answer, Some(Answer::Waits)) {
            self.shared.watchdog.answered();
        }
        self.answer(request, answer);
    }

    fn breach(&self, text: String) {
        self.shared.last_words().error = Some((CrashClass::Protocol, text));
    }

    fn note(&self, text: &str) {
        self.shared.context.activities.last(self.shared.attempt, text);
    }

    /// No answer comes when the driver is gone; then the agent is about to be ended anyway.
    fn answer(&mut self, id: &str, answer: Option<Answer>) {
        let Some(answer) = answer.filter(|answer| *answer != Answer::Waits) else { return };
        for line in self.shared.voice.answer(id, &answer) {
            self.shared.transcript.add(From::Supervisor, &line);
        }
    }

    /// The turn is over, and nothing more is said to it; what it broke before weighs more.
    fn failed(&mut self, class: CrashClass, text: String) {
        let mut last = self.shared.last_words();
        if !matches!(last.error, Some((CrashClass::Protocol, _))) {
            last.error = Some((class, text));
        }
        drop(last);
        self.shared.voice.close();
        self.shared.watchdog.finished();
    }

    fn finished(&mut self) {
        let mut last = self.shared.last_words();
        last.finished = true;
        last.error.take_if(|(class, _)| *class != CrashClass::Protocol);
        last.quota_until = None;
        drop(last);
        self.shared.voice.close();
        self.shared.watchdog.finished();
    }
}

impl LastWords {
    /// Keeps the agent's own words for it, if there were any; what it broke before weighs more.
    fn no_quota(&mut self, until: Millis) {
        self.quota_until = Some(until);
        if !matches!(self.error, Some((CrashClass::Quota | CrashClass::Protocol, _))) {
            self.error = Some((CrashClass::Quota, format!("no quota until {until}")));
        }
    }

    /// Adds a piece of text, up to what an event keeps and a little more, so that it is seen to be cut.
    fn say(&mut self, text: &str) {
        if self.said.len() <= TEXT_MAX {
            self.said.push_str(text);
        }
    }

    /// What was said before a tool was called is not the last word.
    fn begin_anew(&mut self) {
        self.said.clear();
    }
}

impl Shared {
    fn last_words(&self) -> MutexGuard<'_, LastWords> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_stderr(&self, stderr: ChildStderr) {
        let mut inside_key = false;
        for line in Lines::new(stderr).map_while(Result::ok) {
            let text = match &line {
                ReadLine::Line(text) | ReadLine::NotUtf8 { text } => text,
                ReadLine::TooLong { start, .. } => start,
            };
            let text = self.context.redactor.redact_line(text, &mut inside_key);
            self.transcript.add(From::Stderr, &text);
            self.last_words().stderr.push(text.into_owned());
        }
    }

    fn seen(&self, end: KeeperEnd) -> EndSeen {
        let last = self.last_words();
        let stderr = last.stderr.text();
        let died_of = || Some(((self.died_of)(&stderr)?, stderr.clone()));
        let error = last.error.clone().or_else(|| if last.finished { None } else { died_of() });
        let seen = EndSeen {
            finished: last.finished,
            error,
            quota_until: last.quota_until,
            transcript_bytes: self.transcript.finish(),
            not_understood: last.not_understood,
            stderr: stderr.clone(),
            final_text: Some(Box::new(Said(last.said.clone()))),
            ..EndSeen::default()
        };
        ended_as(seen, end)
    }
}

/// Nothing runs, and trying again would not help.
pub(super) fn cannot_start(why: String) -> Box<EndSeen> {
    let error = Some((CrashClass::CannotStart, why));
    Box::new(EndSeen { error, ..EndSeen::default() })
}

/// There is no keeper. One that died while it was being started is lost, as any other that dies.
fn not_kept(error: &SpawnError) -> Box<EndSeen> {
    if error.is_death() {
        return Box::new(ended_as(EndSeen::default(), KeeperEnd::KeeperDied));
    }
    cannot_start(error.to_string())
}

/// What could not be ended may still work on the files.
pub(super) fn unclear(survivors: u32) -> Option<String> {
    match survivors {
        0 => None,
        1 => Some("1 process could not be ended".to_owned()),
        many => Some(format!("{many} processes could not be ended")),
    }
}

/// Adds what the keeper saw.
pub(super) fn ended_as(seen: EndSeen, end: KeeperEnd) -> EndSeen {
    match end {
        KeeperEnd::Ended { code, signal, strays, stopped, survivors } => {
            EndSeen { code, signal, strays, stopped, unclear: unclear(survivors), ..seen }
        }
        KeeperEnd::CannotStart { text } => {
            EndSeen { error: Some((CrashClass::CannotStart, text)), ..seen }
        }
        KeeperEnd::LeaseRanOut { strays, survivors } => {
            EndSeen { lost: true, strays, unclear: unclear(survivors), ..seen }
        }
        KeeperEnd::KeeperDied => EndSeen { lost: true, ..seen },
    }
}
