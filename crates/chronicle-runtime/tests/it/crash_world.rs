//! A world in a few lines of text, driven by the real driver over a ledger in memory.
//!
//! ```text
//! plan: tool read; usage 100; go build      the same at every try
//! build 1: crash                             only at the first logical try
//! g1: approve                                what a person says at the first gate
//! ```
//!
//! Agents outlive no supervisor, but what they remember of their sessions does: [`Agents`] is kept when all else dies.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use chronicle_core::base::ids::{AttemptId, Outcome, PhaseId, Place, SessionId};
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::event::input::{
    Actor, Answer, AttemptReport, By, Command, EndSeen, Input, Report, TimerKind, What,
};
use chronicle_core::event::notice::{About, Missed, NoticeGiven, Way};
use chronicle_core::event::record::Line;
use chronicle_core::event::room::RoomLimit;
use chronicle_core::event::signal::{Signal, parse};
use chronicle_core::event::{Change, CrashClass, Duty, Issues, WallsFound};
use chronicle_core::state::effect::{Action, Effect};
use chronicle_core::state::{Attempt, State, Status};
use chronicle_runtime::for_tests::clock;
use chronicle_runtime::for_tests::driver::{InboxMessage, Watch, World, reported};
use chronicle_runtime::for_tests::fail::{self, Point};
use chronicle_runtime::for_tests::ledger::Head;

use crate::world_moves::{calls, made_again, needs_leave};
use crate::world_pools::pool_report;

/// When agents write down how far they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memorize {
    /// After each move: what nobody had read by then is not said again.
    AtOnce,
    /// After each answer: everything since the last one is said again, under the same ids.
    WhenAnswered,
}

/// What each session remembers: the next move of each list that it plays.
type Progress = BTreeMap<(SessionId, Place, u32), usize>;

/// The agents, as far as they outlive their supervisors.
pub(crate) struct Agents {
    script: BTreeMap<String, Vec<String>>,
    memorize: Memorize,
    progress: Progress,
    /// Every attempt that was ever started.
    pub(crate) started: BTreeSet<AttemptId>,
    /// Every signal to leave that was answered with yes.
    pub(crate) told: BTreeSet<(AttemptId, String)>,
    /// What people were told, by whoever lived then.
    pub(crate) notices: Vec<About>,
    /// Work folders that are there.
    pub(crate) folders: BTreeSet<u32>,
    /// The folders whose work is in the project, each once.
    pub(crate) merged: Vec<u32>,
}

impl Agents {
    pub(crate) fn new(script: &str, memorize: Memorize) -> Self {
        let moves = |text: &str| text.split(';').map(|text| text.trim().to_owned()).collect();
        let script = script.lines().map(|line| line.split_once(':').unwrap());
        Self {
            script: script.map(|(key, text)| (key.trim().to_owned(), moves(text))).collect(),
            memorize,
            progress: Progress::new(),
            started: BTreeSet::new(),
            told: BTreeSet::new(),
            notices: Vec::new(),
            folders: BTreeSet::new(),
            merged: Vec::new(),
        }
    }

    /// What the script says for that name.
    pub(crate) fn scripted(&self, name: &str) -> Option<&str> {
        self.script.get(name)?.first().map(String::as_str)
    }

    fn moves(&self, attempt: &Attempt) -> &[String] {
        let (place, number) = (&attempt.intent.place, attempt.intent.try_number);
        let helper = attempt.intent.persona.as_ref();
        let worker = helper.map_or_else(|| place.to_string(), |name| format!("{place}@{name}"));
        let exact = self.script.get(&format!("{worker} {number}"));
        exact.or_else(|| self.script.get(&worker)).map_or(&[], Vec::as_slice)
    }

    fn has_session(&self, session: &SessionId) -> bool {
        self.progress.keys().any(|(known, ..)| known == session)
    }
}

/// The world of one supervisor.
pub(crate) struct Simulated<'a> {
    agents: &'a mut Agents,
    inbox: SyncSender<InboxMessage>,
    unknown: BTreeSet<AttemptId>,
    /// What an earlier supervisor owed people.
    untold: BTreeSet<About>,
    telling: BTreeSet<About>,
    working: BTreeMap<AttemptId, Working>,
    /// Who found no room at first; `full: 1` in the script lets every agent wait.
    waited: BTreeSet<AttemptId>,
    /// Which walls it puts up, if it says so.
    walls: Option<WallsFound>,
}

/// An agent that lives.
struct Working {
    next: usize,
    asked: Option<(String, Receiver<Answer>)>,
    said_session: bool,
    has_ended: bool,
    /// It waits for a person's answer.
    asks: bool,
}

impl<'a> Simulated<'a> {
    pub(crate) fn new(
        agents: &'a mut Agents,
        inbox: SyncSender<InboxMessage>,
        state: &State,
        walls: Option<WallsFound>,
    ) -> Self {
        let untold = state.notices.owed.iter().map(|it| it.about).collect();
        let (unknown, working) = (state.live.clone(), BTreeMap::new());
        let (telling, waited) = (BTreeSet::new(), BTreeSet::new());
        Self { agents, inbox, unknown, untold, telling, working, waited, walls }
    }

    fn tell(&self, input: Input) {
        self.inbox.try_send(InboxMessage::Input(Box::new(input), None)).unwrap();
    }

    fn about(&self, id: AttemptId, what: AttemptReport) {
        self.tell(reported(Report::Attempt { attempt: id, active_ms: 10, what }));
    }

    fn end(&mut self, id: AttemptId, seen: EndSeen) {
        if let Some(working) = self.working.get_mut(&id) {
            working.has_ended = true;
        }
        self.about(id, AttemptReport::Ended(seen));
    }

    fn lost(&self, id: AttemptId) {
        fail::at(Point::BeforeObserve);
        let seen = EndSeen { lost: true, ..EndSeen::default() };
        fail::at(Point::AfterObserve);
        self.about(id, AttemptReport::Ended(seen));
    }

    fn start(&mut self, attempt: &Attempt) {
        fail::at(Point::BeforeStartAgent);
        let id = attempt.intent.attempt;
        assert!(self.agents.started.insert(id), "{id} is started twice");
        let walls = self.walls.as_ref().filter(|walls| !walls.off);
        let stand = attempt.intent.walls.as_ref().is_some_and(|walls| walls.namespaces);
        assert_eq!(stand, walls.is_some(), "{id} is started behind walls of somebody else");
        let gone = attempt.intent.resume && !self.agents.has_session(&attempt.intent.session);
        let next = *self.agents.progress.entry(key(attempt)).or_default();
        let working =
            Working { next, asked: None, said_session: false, has_ended: gone, asks: false };
        self.working.insert(id, working);
        if gone {
            self.end(id, failed(CrashClass::SessionGone, "no such session"));
        }
        fail::at(Point::AfterStartAgent);
    }

    /// What is reported of the room of an attempt that is about to start.
    fn room(&mut self, attempt: &Attempt) -> Option<AttemptReport> {
        let most = self.agents.scripted("full").filter(|_| attempt.intent.agent != "shell")?;
        let limit = RoomLimit { agent: None, most: most.parse().unwrap() };
        if attempt.awaits_room() {
            self.waited.insert(attempt.intent.attempt);
            return Some(AttemptReport::RoomTaken);
        }
        let is_new = self.waited.insert(attempt.intent.attempt);
        is_new.then_some(AttemptReport::RoomAwaited(limit))
    }

    /// Lets an agent say all that it can before it must wait.
    fn work(&mut self, state: &State, attempt: &Attempt) {
        let id = attempt.intent.attempt;
        self.hear(attempt);
        let working = self.working.get_mut(&id).unwrap();
        if working.has_ended || working.asked.is_some() || working.asks {
            return;
        }
        if attempt.intent.agent == "shell" {
            return self.run_command(state, attempt);
        }
        if !std::mem::replace(&mut working.said_session, true) {
            self.about(id, AttemptReport::Session(attempt.intent.session.clone()));
        }
        while self.goes_on(id) {
            let at = self.working[&id].next;
            let next = self.agents.moves(attempt).get(at).cloned();
            match next.filter(|_| !attempt.is_leaving()) {
                Some(text) => {
                    self.perform(id, at, &text);
                    // A service that had no room has some at the next try.
                    if text == "overload" {
                        self.memorize(attempt, Memorize::WhenAnswered);
                    }
                }
                None => self.end(id, EndSeen { finished: true, ..EndSeen::default() }),
            }
            self.memorize(attempt, Memorize::AtOnce);
        }
    }

    fn goes_on(&self, id: AttemptId) -> bool {
        let working = &self.working[&id];
        !working.has_ended && working.asked.is_none()
    }

    /// Takes in the answer that it waits for.
    fn hear(&mut self, attempt: &Attempt) {
        let id = attempt.intent.attempt;
        let working = self.working.get_mut(&id).unwrap();
        let Some((request, answer)) = &working.asked else { return };
        let Ok(answer) = answer.try_recv() else { return };
        if answer == Answer::Waits {
            (working.asked, working.asks) = (None, true);
            return;
        }
        if let Answer::Accepted(_) = answer {
            self.agents.told.insert((id, request.clone()));
        }
        (working.asked, working.next) = (None, working.next + 1);
        self.memorize(attempt, Memorize::WhenAnswered);
    }

    /// A person's answer has come: only now is the question behind it.
    fn answered(&mut self, attempt: &Attempt) {
        let Some(working) = self.working.get_mut(&attempt.intent.attempt) else { return };
        if std::mem::take(&mut working.asks) {
            working.next += 1;
            self.memorize(attempt, Memorize::WhenAnswered);
        }
    }

    fn memorize(&mut self, attempt: &Attempt, when: Memorize) {
        if when == Memorize::WhenAnswered || self.agents.memorize == when {
            let next = self.working[&attempt.intent.attempt].next;
            self.agents.progress.insert(key(attempt), next);
        }
    }

    fn perform(&mut self, id: AttemptId, at: usize, text: &str) {
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        match verb {
            "go" => return self.signal(id, format!("r{at}"), rest),
            "call" => {
                let (tool, arguments) = rest.split_once(' ').unwrap();
                let arguments = serde_json::from_str(arguments).unwrap();
                return self.call(id, format!("r{at}"), parse(tool, &arguments));
            }
            "overload" => {
                self.working.get_mut(&id).unwrap().next += 1;
                return self.end(id, failed(CrashClass::Overload, rest));
            }
            "crash" => return self.end(id, failed(CrashClass::Other, rest)),
            "finish" => return self.end(id, EndSeen { finished: true, ..EndSeen::default() }),
            "timeout" | "still" => {
                self.working.get_mut(&id).unwrap().has_ended = true;
                let is_still = verb == "still";
                let timer = if is_still { TimerKind::Standstill } else { TimerKind::Timeout };
                return self.tell(reported(Report::TimerFired { attempt: id, timer }));
            }
            "usage" => self.about(
                id,
                AttemptReport::Usage {
                    scope: Scope::Message(format!("m{at}")),
                    usage: Usage { input: rest.parse().unwrap(), ..Usage::default() },
                },
            ),
            "tool" => {
                self.about(id, calls(&format!("c{at}"), rest, ""));
            }
            "held" => return self.needs_leave(id, &format!("c{at}"), rest),
            "file" => {
                let (path, change) = (rest.to_owned(), Change::Changed);
                self.about(id, AttemptReport::FileChanged { path, change });
            }
            other => panic!("no such move: {other}"),
        }
        self.working.get_mut(&id).unwrap().next += 1;
    }

    /// A call that waits for leave is over once its verdict is heard.
    fn needs_leave(&mut self, attempt: AttemptId, id: &str, command: &str) {
        let what = needs_leave(id, command);
        let input = reported(Report::Attempt { attempt, active_ms: 10, what });
        let (reply, answer) = sync_channel(1);
        self.inbox.try_send(InboxMessage::Input(Box::new(input), Some(reply))).unwrap();
        self.working.get_mut(&attempt).unwrap().asked = Some((id.to_owned(), answer));
    }

    fn signal(&mut self, attempt: AttemptId, request: String, text: &str) {
        let mut words = text.split_whitespace();
        let target = words.next().map(PhaseId::from);
        let outcome = words.next().map(Outcome::from);
        let summary = format!("{attempt} did it");
        self.call(
            attempt,
            request,
            Signal::Leave { target, outcome, summary, task: None, issues: Issues::default() },
        );
    }

    fn call(&mut self, attempt: AttemptId, request: String, signal: Signal) {
        let by = By { actor: Actor::Worker(attempt), request: Some(request.clone()) };
        let command = Command::Signal { attempt, request: request.clone(), signal };
        let input = Input { at: clock::now(), by, what: What::Command(command) };
        let (reply, answer) = sync_channel(1);
        self.inbox.try_send(InboxMessage::Input(Box::new(input), Some(reply))).unwrap();
        self.working.get_mut(&attempt).unwrap().asked = Some((request, answer));
    }

    /// One command; `run 1 2` in the script lets the second one fail with code 2.
    fn run_command(&mut self, state: &State, attempt: &Attempt) {
        let (id, place) = (attempt.intent.attempt, &attempt.intent.place);
        let (done, all, goes_on) = if let Some(chore) = &attempt.intent.chore {
            (attempt.chores_done, chore.commands.len(), chore.duty == Duty::Cleanup)
        } else {
            let done = state.frames[&place.frame()].worker.counters.commands_done;
            (done, state.phase_at(place).unwrap().commands.len(), false)
        };
        if done as usize >= all || (attempt.failed_command.is_some() && !goes_on) {
            return self.end(id, EndSeen { finished: true, ..EndSeen::default() });
        }
        let said = format!("run {done} ");
        let code = self.agents.moves(attempt).iter().find_map(|text| text.strip_prefix(&said));
        let code = code.map_or(0, |code| code.parse().unwrap());
        let (index, code, output) = (done, Some(code), String::new());
        self.about(id, AttemptReport::CommandEnded { index, code, output });
    }

    fn notify(&mut self, about: About) {
        if !self.telling.insert(about) {
            return;
        }
        if self.untold.contains(&about) {
            let missed = NoticeGiven::missed(about, Missed::Unknown);
            self.tell(reported(Report::NoticeGiven(missed)));
        } else {
            fail::at(Point::BeforeNotice);
            self.agents.notices.push(about);
            let (given, failed, missed) = (vec![Way::Command], Vec::new(), None);
            let notice = NoticeGiven { about, given, failed, missed };
            self.tell(reported(Report::NoticeGiven(notice)));
            fail::at(Point::AfterNotice);
        }
    }

    /// What becomes of the files, and outlives whoever did it.
    fn change_files(&mut self, report: &Report) {
        match report {
            Report::FolderMade(made) => {
                fail::at(Point::InWork);
                self.agents.folders.insert(made.folder);
            }
            Report::FolderDropped { folder, .. } => drop(self.agents.folders.remove(folder)),
            Report::MergePlanned(planned) => {
                assert!(
                    self.agents.folders.contains(&planned.folder),
                    "{} is gone",
                    planned.folder
                );
            }
            Report::MergeWritten(written) => {
                fail::at(Point::BeforeMergeStage);
                let merged = &mut self.agents.merged;
                // What was written and not reported is written again. Nobody else's work came in between.
                let is_again = merged.last() == Some(&written.folder);
                if written.into.is_project() && !is_again {
                    assert!(
                        !merged.contains(&written.folder),
                        "{merged:?}, then {}",
                        written.folder
                    );
                    merged.push(written.folder);
                }
                fail::at(Point::BeforeMergeEnd);
            }
            _ => {}
        }
    }

    fn stop(&mut self, id: AttemptId) {
        fail::at(Point::BeforeStop);
        let seen = EndSeen { stopped: true, ..EndSeen::default() };
        self.about(id, AttemptReport::Ended(seen));
        fail::at(Point::AfterStop);
    }
}

fn before_start(attempt: AttemptId, what: AttemptReport) -> Input {
    reported(Report::Attempt { attempt, active_ms: 0, what })
}

impl World for Simulated<'_> {
    fn reconcile(&mut self, state: &State, due: &[Effect]) -> Vec<Input> {
        self.working.retain(|id, _| state.live.contains(id));
        let mut at_once = Vec::new();
        for effect in due {
            match effect.action {
                // One that nobody came to start is started now.
                Action::RunAttempt(id) | Action::StopAttempt(id)
                    if self.unknown.remove(&id) && self.agents.started.contains(&id) =>
                {
                    self.lost(id);
                }
                Action::StopAttempt(id) => self.stop(id),
                Action::RunAttempt(id) => {
                    let attempt = state.attempt(id).unwrap();
                    if self.working.contains_key(&id) {
                        self.work(state, attempt);
                    } else if self.agents.started.contains(&id) {
                        // It is lost, which is on its way to the ledger.
                    } else if state.has_other_walls(attempt) {
                        at_once.push(before_start(id, AttemptReport::OtherWalls));
                    } else if let Some(what) = self.room(attempt) {
                        at_once.push(before_start(id, what));
                    } else {
                        self.start(attempt);
                        self.work(state, attempt);
                    }
                }
                Action::Tell(id, message) => {
                    let again = made_again(state, id, message);
                    if again.is_none() {
                        self.answered(state.attempt(id).unwrap());
                    }
                    self.about(id, again.unwrap_or(AttemptReport::Told(message)));
                }
                Action::WaitUntil { attempt, .. } => {
                    let timer = TimerKind::Wait;
                    self.tell(reported(Report::TimerFired { attempt, timer }));
                }
                Action::RecordTree(moment) => {
                    fail::at(Point::BeforeTree);
                    let tree = Box::new(crate::world::same_tree(moment));
                    let input = reported(Report::TreeRecorded(tree));
                    self.inbox.try_send(InboxMessage::Input(Box::new(input), None)).unwrap();
                    fail::at(Point::AfterTree);
                }
                Action::RestoreTree => {
                    fail::at(Point::BeforeTree);
                    let restored =
                        chronicle_core::event::trees::Restored { files: 1, ..Default::default() };
                    let input = reported(Report::TreeRestored(Box::new(restored)));
                    self.inbox.try_send(InboxMessage::Input(Box::new(input), None)).unwrap();
                    fail::at(Point::AfterTree);
                }
                Action::Notify(about) => self.notify(about),
                Action::ReadSteps
                | Action::MakeFolder(_)
                | Action::DropFolder(_)
                | Action::PlanMerge(_)
                | Action::WriteMerge(_) => {
                    if let Some(report) = pool_report(state, effect.action) {
                        self.change_files(&report);
                        self.tell(reported(report));
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

impl Drop for Simulated<'_> {
    /// An answer that was sent has reached the agent, whether or not it came to act on it.
    fn drop(&mut self) {
        for (id, working) in &self.working {
            if let Some((request, answer)) = &working.asked
                && let Ok(Answer::Accepted(_)) = answer.try_recv()
            {
                self.agents.told.insert((*id, request.clone()));
            }
        }
    }
}

/// More lines than any of these runs needs.
const LINES_MAX: u64 = 1_000;

/// Nobody watches; but a run that works on nothing has failed, and so has one that never ends.
pub(crate) struct Nobody;

impl Watch for Nobody {
    fn shown(&mut self, _: &State, head: Head, lines: &[Line]) {
        assert!(head.seq < LINES_MAX, "it goes on for ever: {lines:#?}");
    }

    fn quiet(&mut self, state: &State, _: Head) {
        assert_ne!(state.status(), Status::Running, "it stands still: {:?}", state.frames);
    }
}

fn key(attempt: &Attempt) -> (SessionId, Place, u32) {
    let intent = &attempt.intent;
    (intent.session.clone(), intent.place.clone(), intent.try_number)
}

fn failed(class: CrashClass, text: &str) -> EndSeen {
    EndSeen { error: Some((class, text.to_owned())), ..EndSeen::default() }
}
