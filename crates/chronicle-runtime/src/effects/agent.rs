//! One agent at work: its pipes, its transcript, its end.
//!
//! Threads, each with one thing to wait for: one writes to the agent, one reads what it says and hands it on, one reads
//! its standard error, one watches for silence, and one waits for its keeper and then reports the end, after all that the
//! agent said. Nothing here decides anything.

mod bills;
mod end;
mod held;
mod order;
mod proof;
mod reading;
mod tend;
mod verdicts;

use std::path::{Path, PathBuf};
use std::process::ChildStderr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chronicle_core::base::ids::AttemptId;
use chronicle_core::engine::work::Work;
use chronicle_core::event::input::{Answer, AttemptReport, EndSeen, FinalText};
use chronicle_core::event::signal::is_ours;
use chronicle_core::event::{Call, Caller, CrashClass, Verdict};
use chronicle_core::guard::{AskedCall, Judgement, RuleKind, RuleRef};
use chronicle_core::words;

use super::Context;
use super::report::Reporter;
use super::transcript::{From, Transcript};
use super::voice::{Spoken, Voice};
use super::walled::{self, walled};
use super::watchdog::Watchdog;
use crate::agents::{self, Adapter, LINE_MAX, Order, RawCall};
use crate::fail::{self, Point};
use crate::guard::{Guard, Leads};
use crate::loaded::AttemptTime;
use crate::process::wall::Wall;
use crate::process::{self, Control, KeeperEnd, KeeperOrder, OutputLines, ReadLine};
use end::{LastWords, not_kept};
use order::{order, private_folder, private_home, signal_variables};
use tend::{Outgoing, Tenders};

pub(super) use end::{cannot_start, ended_as, unclear};
pub(crate) use order::{NOT_FOR_AGENTS, give};
pub(super) use order::{environment, withheld, works_in};

/// Most messages that wait to be written to an agent.
const OUTBOX_MAX: usize = 64;

/// Reaches an agent that works: to end it, or to tell it something.
pub(super) struct AgentStop {
    control: Control,
    shared: Arc<AgentShared>,
}

impl AgentStop {
    /// Tells a note; whether it is on its way.
    pub(super) fn note(&self, text: &str) -> bool {
        self.said(self.shared.voice.note(text))
    }

    /// Gives the answer to a question; whether it is on its way.
    pub(super) fn answer(&self, request: &str, text: &str) -> bool {
        self.answer_later(request, &Answer::Accepted(text.to_owned()))
    }

    /// Gives the verdict on a call that waited; whether it is on its way.
    pub(super) fn verdict(&self, call: &str, verdict: &Verdict) -> bool {
        // It made the call once more and was answered there, or waits no longer.
        if !self.shared.voice.is_asked(call) {
            return true;
        }
        let held = self.shared.waits_no_more(call).filter(|_| *verdict == Verdict::Allowed);
        // A person allowed what they saw. Where its paths lead may have changed since.
        let forbidden = held.and_then(|held| self.shared.forbidden_now(held));
        let verdict = &forbidden.map_or_else(|| verdict.clone(), Verdict::Denied);
        let may_run = *verdict == Verdict::Allowed;
        // First: the tool may end before this returns, and its end must find the verdict.
        self.shared.decided().push((call.to_owned(), may_run));
        self.answer_later(call, &Answer::Verdict(verdict.clone()))
    }

    fn answer_later(&self, request: &str, answer: &Answer) -> bool {
        let is_told = self.said(self.shared.voice.answer_later(request, answer));
        if is_told {
            self.shared.watchdog.answered(request);
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

    /// Ends it: first it is asked in the words of its own protocol, so that it can abort its tools and its request, then by a signal,
    /// then by force. May be called again and again; the first time counts.
    pub(super) fn stop(&self) {
        // The effect stays due until the attempt has ended. A second interrupt would abort the agent's own clean-up.
        if self.shared.is_stopped.swap(true, Ordering::SeqCst) {
            return;
        }
        if self.said(self.shared.voice.interrupt()) {
            // Its own protocol comes first: after an interrupt an agent makes no further request, after a signal it may. If it
            // does not react, the watchdog has the keeper send signals.
            self.shared.watchdog.told_to_end();
        } else {
            self.control.stop(super::STOP_GRACE);
        }
    }

    pub(super) fn control(&self) -> Control {
        self.control.clone()
    }
}

/// What the threads of one attempt share.
struct AgentShared {
    context: Arc<Context>,
    time: AttemptTime,
    /// The wall around it; `None` if none stands.
    wall: Option<Wall>,
    attempt: AttemptId,
    /// The model that was asked for.
    model: Option<String>,
    /// Where it was started, with links followed.
    works_in: PathBuf,
    reporter: Reporter,
    transcript: Transcript,
    watchdog: Watchdog,
    /// Whether it was told to end, in whatever way.
    is_stopped: AtomicBool,
    /// Whether its guard is proven, or was found not to be.
    is_settled: AtomicBool,
    died_of: fn(&str) -> Option<(CrashClass, String)>,
    /// Tells lines of its standard error that name the cause of its end.
    is_cause: fn(&str) -> bool,
    /// Tells lines of its standard error that explain no end.
    is_noise: fn(&str) -> bool,
    voice: Voice,
    guard: Arc<Guard>,
    /// Calls that a person is asked about, as the agent printed them.
    waiting: Mutex<Vec<ShownCall>>,
    /// Verdicts on calls that waited, which its reader has not seen yet.
    decided: Mutex<Vec<(String, bool)>>,
    end: Mutex<LastWords>,
}

/// A call that a person is asked about, and what they were shown of it.
struct ShownCall {
    raw: RawCall,
    judged: Judgement,
    leads: Leads,
}

/// Starts the threads that tend the agent, and then the agent under a keeper.
pub(super) fn start(
    context: Arc<Context>,
    guard: Arc<Guard>,
    work: &Work,
) -> Result<AgentStop, Box<EndSeen>> {
    let id = work.intent.attempt;
    let works_in = works_in(&context, work)?;
    let time = walled::time_of(&context, work)?;
    context.loaded.refusal(work.folder).map_or(Ok(()), |why| Err(cannot_start(why)))?;
    // Scripts and programs are named relative to the project, wherever the attempt works.
    let mut adapter = agents::find(&work.intent.agent, &context.folder.project, &context.settings)
        .map_err(|error| cannot_start(error.to_string()))?;
    let idle = work.idle_ms.map(Duration::from_millis);
    let model = work.model.clone();
    let (order, keeper) = ordered(&context, &*adapter, work, &works_in)?;
    let (died_of, is_cause) = (adapter.died_of(), adapter.is_cause());
    let is_noise = adapter.is_noise();
    let begins_in = works_in.canonicalize().unwrap_or_else(|_| works_in.clone());
    let tenders = Tenders::start(idle)
        .map_err(|error| cannot_start(format!("no thread to tend it: {error}")))?;
    fail::at(Point::BeforeStartAgent);
    let kept = process::start(&keeper).map_err(|error| not_kept(&error))?;
    // Written by a thread of its own, below: an agent that does not read must not block the start of others.
    let opening = adapter.open(&order);
    let (outbox, to_agent) = sync_channel(OUTBOX_MAX);
    let shared = Arc::new(AgentShared {
        attempt: id,
        time,
        wall: keeper.wall,
        model,
        works_in: begins_in,
        watchdog: Watchdog::new(adapter.unproven().is_some(), idle),
        voice: Voice::new(adapter, outbox),
        is_settled: AtomicBool::new(false),
        reporter: Reporter::new(context.inbox.clone(), id),
        transcript: Transcript::create(&context.folder.transcript(id)),
        is_stopped: AtomicBool::new(false),
        died_of,
        is_cause,
        is_noise,
        guard,
        waiting: Mutex::default(),
        decided: Mutex::default(),
        end: Mutex::new(LastWords::new()),
        context,
    });
    let control = kept.control.clone();
    tenders.tend(&shared, kept, Outgoing { opening, outbox: to_agent });
    fail::at(Point::AfterStartAgent);
    Ok(AgentStop { control, shared })
}

/// The order for the adapter, and the one for the keeper. The files that the agent reads are written.
fn ordered(
    context: &Context,
    adapter: &dyn Adapter,
    work: &Work,
    works_in: &Path,
) -> Result<(Order, KeeperOrder), Box<EndSeen>> {
    let id = work.intent.attempt;
    let (env, withheld) = (environment(context, work), withheld(context, work));
    let program = walled::program(context, work)?;
    let order = order(context, work.clone(), works_in, program);
    let launch = adapter.launch(&order, &order.chronicle);
    // The files must exist before the process: an agent reads them in its first moments.
    let given = give(&order.given, &launch.files);
    let given = given.and_then(|()| order.home.iter().try_for_each(|home| private_folder(home)));
    given.map_err(|error| {
        cannot_start(format!("`{}` cannot be written: {error}", order.given.display()))
    })?;
    let cookie = context.cookies.cookie(id);
    let mut keeper =
        KeeperOrder::new(cookie, context.folder.keeper(id), works_in.to_owned(), launch.argv);
    // The last one wins in this chain: a workflow's `env` cannot replace the home, the secret or what the adapter needs.
    let home = order.home.iter().flat_map(|home| private_home(home));
    let own = env.into_iter().chain(home).chain(signal_variables(&order));
    keeper.env_set = own.chain(launch.env).collect();
    keeper.env_remove = withheld.into_iter().chain(NOT_FOR_AGENTS.map(Into::into)).collect();
    let walled = walled(context, work, works_in, order.home.as_deref(), &keeper.env_set)?;
    // From the image that is seen behind the wall: everything of ours there is then the same file.
    keeper.chronicle =
        if walled.wall.is_some() { order.chronicle.clone() } else { context.chronicle.clone() };
    keeper.env_set.extend(walled.env);
    keeper.wall = walled.wall;
    Ok((order, keeper))
}

impl AgentShared {
    /// It waits no longer for the answer to that question. Nothing to do if it was answered meanwhile, or withdrawn before.
    fn withdrew(&self, request: &str) {
        if self.voice.forget(request) {
            self.waits_no_more(request);
            self.watchdog.answered(request);
            let request = request.to_owned();
            self.reporter.tell(AttemptReport::Withdrew { request });
        }
    }

    /// What the rules say to a call. It is judged on the thread that reads the agent, never on the driver's.
    fn judge(&self, raw: &RawCall) -> Judgement {
        self.judge_and_look(raw).0
    }

    /// The same, and where the call's paths lead.
    fn judge_and_look(&self, raw: &RawCall) -> (Judgement, Leads) {
        if let Some(bytes) = raw.too_large {
            return (too_large(bytes), Leads::default());
        }
        let call = AskedCall {
            tool: &raw.call.tool,
            kind: raw.call.kind,
            input: &raw.input,
            by_sub_agent: raw.call.by == Caller::SubAgent,
            is_signal: is_ours(&raw.call.tool),
        };
        // The lists are the engine's: only it knows where the worker stands.
        let (judged, leads) = self.guard.judge_and_look(&call, None, raw.folder.as_deref());
        // It was judged by what the agent printed. What is said of it goes to the ledger and to people.
        (judged.said(|why| self.context.redactor.redact(why).into_owned()), leads)
    }

    /// A call with the folder that it begins in, if it is another one than its worker's: leave for one is none for the other.
    fn placed(&self, raw: RawCall) -> RawCall {
        let folder = raw.folder.as_deref().and_then(|folder| elsewhere(folder, &self.works_in));
        let Some(folder) = folder else { return raw };
        let call = raw.call.at(&folder);
        let folder = call.folder.map(|it| self.context.redactor.redact(&it).into_owned());
        RawCall { call: Call { folder, ..call }, ..raw }
    }

    /// Remembers a call, and what is shown of it, until a person has answered.
    fn waits(&self, shown: ShownCall) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // An agent with two locks asks twice about a call, and a person is shown the first time.
        let is_it = |it: &ShownCall| {
            it.raw.call.id == shown.raw.call.id && it.raw.call.sum == shown.raw.call.sum
        };
        if !waiting.iter().any(is_it) {
            waiting.retain(|it| it.raw.call.id != shown.raw.call.id);
            waiting.push(shown);
        }
    }

    /// A call that waits no longer for a person.
    fn waits_no_more(&self, call: &str) -> Option<ShownCall> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let at = waiting.iter().position(|it| it.raw.call.id == call)?;
        Some(waiting.swap_remove(at))
    }

    /// Why a call that a person allowed may not run after all: it is judged again with the paths as they are now. They allowed what they
    /// were shown, so that another question is not answered by it.
    fn forbidden_now(&self, shown: ShownCall) -> Option<String> {
        let (judged, leads) = self.judge_and_look(&shown.raw);
        let told = match &judged {
            Judgement::Clear => return None,
            Judgement::Ask { .. } if judged == shown.judged && leads == shown.leads => return None,
            Judgement::Ask { rule, why } => words::not_as_shown(rule, why),
            Judgement::Deny { rule, why } => words::forbidden(rule, why),
        };
        let call = Box::new(shown.raw.call);
        self.reporter.tell(AttemptReport::ToolRefused { call, why: told.clone(), judged });
        Some(told)
    }

    /// Whether it was told to end, in whatever way.
    fn is_told_to_end(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }

    fn decided(&self) -> MutexGuard<'_, Vec<(String, bool)>> {
        self.decided.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_words(&self) -> MutexGuard<'_, LastWords> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_stderr(&self, stderr: ChildStderr) {
        let mut inside_key = false;
        for line in OutputLines::new(stderr).map_while(Result::ok) {
            let text = match &line {
                ReadLine::Line(text) | ReadLine::NotUtf8 { text } => text,
                ReadLine::TooLong { start, .. } => start,
            };
            let text = self.context.redactor.redact_line(text, &mut inside_key);
            self.transcript.add(From::Stderr, &text);
            if (self.is_cause)(&text) {
                self.last_words().causes.push(text.clone().into_owned());
            }
            if !(self.is_noise)(&text) {
                self.last_words().stderr.push(text.into_owned());
            }
        }
    }

    fn seen(&self, end: KeeperEnd) -> EndSeen {
        let mut last = self.last_words();
        if self.voice.has_open_request() {
            last.remark("what its last request cost is not known".to_owned());
        }
        let redacted = |text: &str| self.context.redactor.redact(text).into_owned();
        let (causes, stderr) = (redacted(&last.causes.text()), redacted(&last.stderr.text()));
        let died_of = || (self.died_of)(&causes).or_else(|| (self.died_of)(&stderr));
        // A killed agent may have had no time to print anything, so silence is only a clue if it exited by itself.
        let was_told = self.is_stopped.load(Ordering::SeqCst);
        let by_itself = !was_told
            && matches!(end, KeeperEnd::Ended { code: Some(_), stopped: false, survivors: 0, .. });
        let never_spoke = || last.never_spoke(&stderr).filter(|_| by_itself);
        // What the agent said itself is the better explanation than what its standard error looks like.
        let of_itself = || if last.finished { None } else { died_of().or_else(never_spoke) };
        let error = last.error.clone().or_else(of_itself);
        let seen = EndSeen {
            finished: last.finished,
            error,
            quota_until: last.quota_until,
            retry_after_ms: last.retry_after_ms,
            transcript_bytes: self.transcript.finish(),
            not_understood: last.not_understood,
            remarks: last.remarks.clone(),
            stderr: stderr.clone(),
            // It arrived in pieces; only the joined text shows a secret.
            final_text: Some(Box::new(FinalText(last.final_text(&self.context.redactor)))),
            ..EndSeen::default()
        };
        let seen = ended_as(seen, end);
        // One that ends its turn when it is asked to needs no signal, and was stopped all the same.
        EndSeen { stopped: seen.stopped || (was_told && !seen.lost), ..seen }
    }
}

/// What is said to a call whose line was too long to be read: nobody knows what is in it.
fn too_large(bytes: u64) -> Judgement {
    let text = format!("at most {LINE_MAX} bytes can be judged");
    let rule = RuleRef { kind: RuleKind::Unclear, text, at: None };
    let why =
        format!("its input is too large to be judged ({bytes} bytes); make it in smaller parts");
    Judgement::Deny { rule, why }
}

/// A folder as people are shown it, if it is not the one that the worker was started in: relative to that one if it is below.
fn elsewhere(folder: &str, works_in: &Path) -> Option<String> {
    let below = Path::new(folder).strip_prefix(works_in);
    let shown = below.map_or(folder, |below| below.to_str().unwrap_or(folder));
    (!shown.is_empty()).then(|| shown.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_told_if_it_is_not_the_workers_own() {
        let at = |folder: &str| elsewhere(folder, Path::new("/project"));
        assert_eq!((at("/project"), at("/project/")), (None, None));
        assert_eq!(at("/project/sub/x").as_deref(), Some("sub/x"));
        assert_eq!(at("/elsewhere").as_deref(), Some("/elsewhere"));
    }
}
