//! A scripted world for the real driver: agents that play their moves in this process, and people who answer gates.
//!
//! ```text
//! plan: tool read; usage 100; go build      the same at every try
//! build 1: crash died                       only at the first logical try
//! g1: approve                               what a person says at the first gate
//! paused: resume                            what a person says once the run is paused
//! over: merge                               what a person says once a run that works apart is over
//! trees: same; change a; missed no git      what becomes of each tree; the last one for ever
//! ```
//!
//! Every move is a message to the driver; the next one comes after the driver has taken it. Agents outlive their
//! supervisor's death as real sessions do: one that is resumed goes on after the last move that was taken.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{SyncSender, sync_channel};

use chronicle_core::base::ids::{AttemptId, Place, RunId, SessionId, TreeId};
use chronicle_core::base::time::Millis;
use chronicle_core::definition::workflow::{Source, Workflow, expand_pools, load};
use chronicle_core::event::input::{
    Actor, AttemptReport, By, Command, EndSeen, Input, Report, TimerKind, What,
};
use chronicle_core::event::notice::{About, Failed, Missed, NoticeGiven, Way};
use chronicle_core::event::trees::{Changes, FileChange, Moment, Restored, TreeRecorded};
use chronicle_core::event::{AttemptStarted, Change, Duty, OnGate, RunStarted, WallsFound};
use chronicle_core::state::effect::{Action, Effect};
use chronicle_core::state::{State, Status};
use chronicle_core::words;
use chronicle_runtime::for_tests::driver::{INBOX_MAX, InboxMessage, Rest, Run, World, drive};
use chronicle_runtime::for_tests::ledger::{Holder, Ledger, LedgerError};

use crate::world_log::{Log, Recorder};
use crate::world_moves::{self, Move};
use crate::world_pools::pool_report;

const AT: Millis = Millis(1_794_709_850_123);

/// How far each session is with the script of its place and try.
pub(crate) type Progress = BTreeMap<(SessionId, Place, u32), usize>;

/// A workflow, what the world does with it, and what the agents remember from one supervisor to the next.
pub(crate) struct Story {
    workflow: String,
    script: BTreeMap<String, Vec<String>>,
    progress: Progress,
    /// How far the agents were when a line was the last.
    by_line: BTreeMap<u64, Progress>,
    /// How often each was asked.
    asked: BTreeMap<String, usize>,
    pub(crate) log: Log,
}

impl Story {
    pub(crate) fn new(workflow: &str, script: &str) -> Self {
        let lines = script.lines().map(str::trim).filter(|line| !line.is_empty());
        let moves = lines.map(|line| {
            let (key, moves) = line.split_once(':').unwrap();
            let moves = moves.split(';').map(|text| text.trim().to_owned()).collect();
            (key.trim().to_owned(), moves)
        });
        Self {
            workflow: workflow.to_owned(),
            script: moves.collect(),
            progress: Progress::new(),
            by_line: BTreeMap::new(),
            asked: BTreeMap::new(),
            log: Log::default(),
        }
    }

    /// The same story with agents as they were when the ledger had so many lines.
    pub(crate) fn cut_after(&self, lines: u64) -> Self {
        let before = self.by_line.range(..=lines).next_back();
        Self {
            workflow: self.workflow.clone(),
            script: self.script.clone(),
            progress: before.map(|(_, progress)| progress.clone()).unwrap_or_default(),
            by_line: BTreeMap::new(),
            asked: BTreeMap::new(),
            log: Log::default(),
        }
    }

    /// Opens the ledger and drives it until nothing follows and nobody has anything to say.
    pub(crate) fn play(&mut self, ledger: &dyn Ledger) -> Result<State, LedgerError> {
        let played = self.play_unsettled(ledger);
        self.log.settle();
        played
    }

    fn play_unsettled(&mut self, ledger: &dyn Ledger) -> Result<State, LedgerError> {
        let mut run = Run::open(ledger, who(), None)?;
        let (inbox, messages) = sync_channel(INBOX_MAX);
        let mut first: Vec<Input> = introduction(
            &run,
            self.script.contains_key("notices"),
            self.script.contains_key("walls"),
        );
        if run.state().run.is_none() {
            first.insert(0, person(Command::Start(Box::new(start(&self.workflow)))));
        }
        let mut watch = Recorder(self.log.clone());
        let unknown = run.state().live.clone();
        let mut untold: BTreeSet<About> =
            run.state().notices.owed.iter().map(|it| it.about).collect();
        loop {
            let batch = first.drain(..).map(|input| self.log.asked("first", input)).collect();
            let mut agents = Agents {
                story: self,
                inbox: inbox.clone(),
                unknown: unknown.clone(),
                untold: std::mem::take(&mut untold),
                begun: BTreeSet::new(),
                sent: Vec::new(),
            };
            let before = run.state().seq;
            drive(&mut run, batch, Rest::AtGates, &messages, &mut agents, &mut watch)?;
            assert_ne!(run.state().seq, before, "the answer was refused:\n{}", self.log.text());
            match self.answer(run.state()) {
                Some(command) => {
                    if matches!(command, Command::Undo { .. }) {
                        first.push(reported(Report::TreeRecorded(Box::new(same_tree(
                            Moment::Undo,
                        )))));
                    }
                    // Somebody removed the folder meanwhile.
                    if matches!(command, Command::Merge { .. }) {
                        first.push(reported(Report::FolderLost { folder: 0 }));
                    }
                    first.push(person(command));
                }
                None => return Ok(run.state().clone()),
            }
        }
    }

    /// What the script has for the next time that it is asked; the last one for ever.
    fn next_of(&mut self, key: &str) -> Option<String> {
        let moves = self.script.get(key)?;
        let count = self.asked.entry(key.to_owned()).or_default();
        let text = moves.get(*count).or_else(|| moves.last()).cloned();
        *count += 1;
        text
    }

    /// What becomes of a tree.
    fn tree(&mut self, moment: Moment) -> Report {
        let text = self.next_of("trees").unwrap_or_else(|| "same".to_owned());
        let mut recorded = same_tree(moment);
        match text.split_once(' ') {
            Some(("missed", why)) => return Report::TreeMissed { moment, why: why.to_owned() },
            Some(("change", path)) => {
                let (path, change) = (path.to_owned(), Change::Changed);
                let (added, removed) = (Some(2), Some(1));
                recorded.changes.add(FileChange { path, change, from: None, added, removed });
            }
            _ => {}
        }
        Report::TreeRecorded(Box::new(recorded))
    }

    /// How people are told: `told`, `failed` and why, `nobody` or `unknown`.
    fn notice(&mut self, about: About) -> NoticeGiven {
        let text = self.next_of("notices").unwrap_or_default();
        match text.as_str() {
            "nobody" => return NoticeGiven::missed(about, Missed::NobodyDrove),
            "unknown" => return NoticeGiven::missed(about, Missed::Unknown),
            _ => {}
        }
        let why = text.strip_prefix("failed ").map(str::to_owned);
        let failed = why.map(|why| Failed { way: Way::Webhook, why }).into_iter().collect();
        NoticeGiven { about, given: vec![Way::Command], failed, missed: None }
    }

    /// What a person says to a run that rests.
    fn answer(&mut self, state: &State) -> Option<Command> {
        let gate = state.open_gates().next().map(|gate| gate.opened.gate);
        let mut said = |key: &str| self.next_of(key);
        match (state.status(), gate) {
            (Status::Paused, _) => said("paused").map(|text| world_moves::command(&text, None)),
            (Status::Waiting, Some(gate)) => {
                said(&gate.to_string()).map(|text| world_moves::command(&text, Some(gate)))
            }
            // The work of a run that worked apart is merged once it is over.
            (Status::Done, None) if is_unmerged(state) => {
                said("over").map(|text| world_moves::command(&text, None))
            }
            (Status::Done, Some(gate)) => {
                said(&gate.to_string()).map(|text| world_moves::command(&text, Some(gate)))
            }
            _ => None,
        }
    }
}

fn is_unmerged(state: &State) -> bool {
    state.apart.as_ref().is_some_and(|apart| apart.is_unmerged() && apart.merging.is_none())
}

/// What plays while one supervisor lives.
struct Agents<'a> {
    story: &'a mut Story,
    inbox: SyncSender<InboxMessage>,
    /// Attempts of a supervisor that died.
    unknown: BTreeSet<AttemptId>,
    /// What it owed people.
    untold: BTreeSet<About>,
    begun: BTreeSet<AttemptId>,
    /// Whose moves are on their way.
    sent: Vec<(SessionId, Place, u32)>,
}

impl World for Agents<'_> {
    fn reconcile(&mut self, state: &State, due: &[Effect]) -> Vec<Input> {
        // The driver has taken what was on its way, or it would not ask what is due.
        // Who waits for an answer has not finished its move.
        let waiting = state.live_attempts().filter(|attempt| state.is_asking(attempt));
        let waiting: Vec<_> = waiting.map(|attempt| key_of(&attempt.intent)).collect();
        for key in self.sent.drain(..).filter(|key| !waiting.contains(key)) {
            *self.story.progress.entry(key).or_default() += 1;
        }
        self.story.by_line.insert(state.seq, self.story.progress.clone());
        let mut at_once = Vec::new();
        for effect in due {
            match effect.action {
                Action::RunAttempt(id) | Action::StopAttempt(id) if self.unknown.remove(&id) => {
                    self.end(id, EndSeen { lost: true, ..EndSeen::default() });
                }
                Action::RunAttempt(id) => self.play(state, id),
                Action::StopAttempt(id) => {
                    self.story.log.note(&format!("stop {id}"));
                    self.end(id, EndSeen { stopped: true, ..EndSeen::default() });
                }
                Action::Tell(id, message) => {
                    let again = world_moves::made_again(state, id, message);
                    self.send(id, Move::Report(again.unwrap_or(AttemptReport::Told(message))));
                }
                Action::WaitUntil { attempt, .. } => {
                    self.send(attempt, Move::Timer(TimerKind::Wait));
                }
                Action::RecordTree(moment) => {
                    let input = reported(self.story.tree(moment));
                    self.inbox.send(self.story.log.asked("tree", input)).unwrap();
                }
                Action::RestoreTree => {
                    let kept = vec!["kept".to_owned()];
                    let restored = Restored { files: 2, kept, ..Restored::default() };
                    let input = reported(Report::TreeRestored(Box::new(restored)));
                    self.inbox.send(self.story.log.asked("tree", input)).unwrap();
                }
                Action::Notify(about) => {
                    let given = if self.untold.remove(&about) {
                        NoticeGiven::missed(about, Missed::Unknown)
                    } else {
                        self.story.notice(about)
                    };
                    let input = reported(Report::NoticeGiven(given));
                    self.inbox.send(self.story.log.asked("notice", input)).unwrap();
                }
                Action::ReadSteps
                | Action::MakeFolder(_)
                | Action::DropFolder(_)
                | Action::PlanMerge(_)
                | Action::WriteMerge(_) => {
                    if let Some(report) = pool_report(state, effect.action) {
                        let input = reported(report);
                        // What is done after the end is done while the command that wants it is at work.
                        if state.is_over() {
                            at_once.push(input);
                        } else {
                            self.inbox.send(self.story.log.asked("pool", input)).unwrap();
                        }
                    }
                }
                Action::RunTimer { .. } => {}
            }
        }
        at_once
    }

    fn is_idle(&self) -> bool {
        false
    }
}

impl Agents<'_> {
    fn play(&mut self, state: &State, id: AttemptId) {
        let attempt = state.attempt(id).unwrap();
        let is_told =
            state.due().iter().any(|it| matches!(it.action, Action::Tell(to, _) if to == id));
        if state.is_asking(attempt) || (is_told && self.begun.contains(&id)) {
            return;
        }
        let intent = &attempt.intent;
        let key = key_of(intent);
        if self.begun.insert(id) {
            self.story.log.note(&format!("perform {id}"));
            let known = self.story.progress.keys().any(|(session, ..)| *session == intent.session);
            if intent.resume && !known {
                return self.send(id, Move::session_gone());
            }
        }
        let at = *self.story.progress.entry(key.clone()).or_default();
        let text = self.move_at(intent, at);
        // A question that is given up, or a call that is answered at once: who waits does nothing else.
        let waits = text.as_ref().is_some_and(|text| text.starts_with("held "));
        let withdrawn = self
            .move_at(intent, at + 1)
            .filter(|text| text.starts_with("withdraw") || (waits && text.starts_with("person ")));
        let goes_on = text.as_ref().is_some_and(|text| Move::is_after_leaving(text));
        // Ending a turn is no move of the script.
        if !attempt.is_leaving() || goes_on {
            self.sent.extend(withdrawn.iter().map(|_| key.clone()));
            self.sent.push(key);
        }
        let command = (intent.agent == "shell").then(|| next_command(state, id));
        match (text, command) {
            _ if attempt.is_leaving() && !goes_on => self.send(id, Move::finish()),
            (_, Some(None)) | (None, None) => self.send(id, Move::finish()),
            (Some(text), _) => {
                self.send(id, Move::read(id, at, &text));
                if let Some(text) = withdrawn {
                    self.send(id, Move::read(id, at, &text));
                }
            }
            // A command that the script does not know ends well.
            (None, Some(Some(index))) => {
                self.send(id, Move::read(id, at, &format!("run {index} 0")));
            }
        }
    }

    /// What the script says that this worker does then.
    fn move_at(&self, intent: &AttemptStarted, at: usize) -> Option<String> {
        let chore = intent.chore.as_ref().map(|_| format!("!{}", words::performer(intent)));
        let helper = intent.persona.as_ref().map(|name| format!("@{name}"));
        let helper = helper.or(chore).unwrap_or_default();
        let worker = format!("{}{helper}", intent.place);
        let moves = self.story.script.get(&format!("{worker} {}", intent.try_number));
        let moves = moves.or_else(|| self.story.script.get(&worker));
        moves.and_then(|moves| moves.get(at)).cloned()
    }

    fn end(&mut self, id: AttemptId, seen: EndSeen) {
        self.send(id, Move::Report(AttemptReport::Ended(seen)));
    }

    fn send(&mut self, id: AttemptId, made: Move) {
        let input = match made {
            Move::Nothing => return,
            Move::Report(what) => reported(Report::Attempt { attempt: id, active_ms: 10, what }),
            Move::Timer(timer) => reported(Report::TimerFired { attempt: id, timer }),
            Move::Person(command) => person(command),
            Move::Signal(request, signal) => {
                let by = By { actor: Actor::Worker(id), request: Some(request.clone()) };
                let what = What::Command(Command::Signal { attempt: id, request, signal });
                Input { at: AT, by, what }
            }
        };
        self.inbox.send(self.story.log.asked(&id.to_string(), input)).unwrap();
    }
}

/// Whose moves they are.
fn key_of(intent: &AttemptStarted) -> (SessionId, Place, u32) {
    (intent.session.clone(), intent.place.clone(), intent.try_number)
}

/// The command that a shell runs next; none after the last, or after one that failed.
fn next_command(state: &State, id: AttemptId) -> Option<u32> {
    let attempt = state.attempt(id)?;
    let place = &attempt.intent.place;
    if let Some(chore) = &attempt.intent.chore {
        let more = (attempt.chores_done as usize) < chore.commands.len();
        let fails = attempt.failed_command.is_some() && chore.duty == Duty::Verify;
        return (more && !fails).then_some(attempt.chores_done);
    }
    let done = state.frames.get(&place.frame())?.worker.counters.commands_done;
    let more = (done as usize) < state.phase_at(place)?.commands.len();
    (more && attempt.failed_command.is_none()).then_some(done)
}

/// Files that nobody ever changes.
pub(crate) fn same_tree(moment: Moment) -> TreeRecorded {
    let tree = TreeId::from("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    TreeRecorded::new(moment, tree, Changes::default())
}

/// A supervisor that is the same on every machine.
pub(crate) fn who() -> Holder {
    Holder {
        pid: 4_711,
        host: "forge".to_owned(),
        started: 1,
        command: "chronicle run".to_owned(),
        since: AT,
    }
}

/// What a supervisor says first, at a time that is always the same.
pub(crate) fn introduction(run: &Run, notifies: bool, has_walls: bool) -> Vec<Input> {
    let (namespaces, own_proc, landlock) = (true, true, true);
    let found = WallsFound { namespaces, own_proc, landlock, ..WallsFound::default() };
    run.introduce(&who(), notifies, has_walls.then_some(found))
        .into_iter()
        .map(|input| Input { at: AT, ..input })
        .collect()
}

pub(crate) fn person(command: Command) -> Input {
    let by = By { actor: Actor::Person("ann".to_owned()), request: None };
    Input { at: AT, by, what: What::Command(command) }
}

pub(crate) fn reported(report: Report) -> Input {
    let by = By { actor: Actor::Supervisor, request: None };
    Input { at: AT, by, what: What::Report(report) }
}

pub(crate) fn start(workflow: &str) -> RunStarted {
    RunStarted {
        run: RunId::from("01997f3a-0000-7000-8000-0000c0ffee01"),
        task: "the task".to_owned(),
        who: "ann".to_owned(),
        project: "/project".to_owned(),
        agent: "scripted:script.yaml".to_owned(),
        model: Some("large".to_owned()),
        on_gate: workflow.contains("name: Fails").then_some(OnGate::Fail),
        isolated: false,
        keep_folders: false,
        apart: workflow.contains("name: Apart"),
        inputs: true,
        rules: None,
        walls: None,
        carried: None,
        workflows: workflows(workflow),
        source: "main.yaml".to_owned(),
        personas: Vec::new(),
        unenforced: Vec::new(),
        version: "0.1.0".to_owned(),
    }
}

/// Reads a workflow that must be right; those inside it follow after `=== key`.
fn workflows(text: &str) -> Vec<Workflow> {
    let mut parts = text.split("\n=== ");
    let main = parts.next().unwrap();
    let inner: BTreeMap<&str, &str> = parts.map(|part| part.split_once('\n').unwrap()).collect();
    let source = |key: &str, text: &str| Source {
        file: None,
        name: format!("{key}.yaml"),
        key: key.to_owned(),
        text: text.to_owned(),
    };
    let loaded = load(source("main", main), &mut |key| Some(source(key, inner.get(key)?)));
    assert!(loaded.is_usable(), "{:#?}", loaded.problems);
    let mut workflows = loaded.workflows;
    expand_pools(&mut workflows);
    workflows
}

/// What must be the same however often a run was interrupted: status, path, how each phase was left, edges.
pub(crate) fn end_of(state: &State) -> String {
    let path = state.visits.iter().map(|visit| {
        let left = visit.left.as_ref().map(|left| (left.to.as_str(), left.summary.as_str()));
        format!("{} {left:?}", visit.place)
    });
    let frames = state.frames.values().map(|frame| {
        format!("frame `{}` {:?} {:?}", frame.path.as_str(), frame.stage, frame.edges)
    });
    let told: Vec<String> = path.chain(frames).collect();
    format!("{:?}\n{}", state.status(), told.join("\n"))
}
