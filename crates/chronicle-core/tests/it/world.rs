//! A world in a few lines of text: agents that play moves, people who answer gates, and no clock.
//!
//! ```text
//! plan: tool read; usage 100; go build      the same at every try
//! build 1: crash                             only at the first logical try
//! build!verify 1: run 0 1                    a command on the way out fails
//! g1: approve                                what a person says at the first gate
//! ```
//!
//! Like a real agent, each says first which session it works in (not told, being always the same), and one that is resumed
//! goes on after its last finished move.

use std::collections::{BTreeMap, BTreeSet};

use chronicle_core::base::ids::{
    AttemptId, GateId, Outcome, PhaseId, Place, RunId, SessionId, TreeId,
};
use chronicle_core::base::time::Millis;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::definition::guard::RuleAt;
use chronicle_core::definition::persona::Persona;
use chronicle_core::definition::workflow::{Budget, Source, Workflow, expand_pools, load};
use chronicle_core::engine;
use chronicle_core::event::input::{
    Actor, Answer, AttemptReport, By, Command, EndSeen, Input, Report, SaidBefore, TimerKind, What,
};
use chronicle_core::event::notice::{About, Missed, NoticeGiven, Way};
use chronicle_core::event::record::Line;
use chronicle_core::event::room::RoomLimit;
use chronicle_core::event::signal::Signal;
use chronicle_core::event::trees::{Changes, FileChange, Moment, Restored, TreeRecorded};
use chronicle_core::event::{
    Break, Call, Change, CrashClass, Duty, Event, FollowUp, GateKind, GateOpened, GrantScope,
    Issues, Message, Question, RunStarted, SnapshotUpdate,
};
use chronicle_core::guard::{Judgement, RuleKind, RuleRef};
use chronicle_core::state::State;
use chronicle_core::state::effect::{Action, Effect};
use chronicle_core::words;

/// More moves than any scenario needs: a world that goes on for ever is a failure.
const MOVES_MAX: usize = 5_000;

pub(crate) const NOW: Millis = Millis(1_794_709_850_000);

type Progress = BTreeMap<(SessionId, Place, u32), usize>;

/// Which of several effects that are due is performed first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// The first of the list.
    #[default]
    Due,
    /// The last of the list.
    Reversed,
    /// Another one each time, so that all go on at once.
    Turns,
    /// One attempt to its end before another one does anything: the newest first.
    Alone,
}

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) lines: Vec<Line>,
    /// What each of them wants kept beside the ledger.
    pub(crate) bodies: Vec<Vec<String>>,
    pub(crate) answers: Vec<Answer>,
    /// What people were told since the last death.
    pub(crate) notices: Vec<About>,
    pub(crate) script: BTreeMap<String, Vec<String>>,
    /// Which of several effects is performed first.
    pub(crate) order: Order,
    /// Whether each line is decided again.
    pub(crate) decides_again: bool,
    /// Attempts that found no room on the machine; `full WORKER: 8` in the script says of whose.
    waited: BTreeSet<AttemptId>,
    /// How far each session is with its script.
    progress: Progress,
    /// The same after each line.
    snapshots: Vec<Progress>,
}

/// Reads a workflow that must be right.
pub(crate) fn workflows(text: &str) -> Vec<Workflow> {
    let mut inner: BTreeMap<String, String> = BTreeMap::new();
    let mut parts = text.split("\n=== ");
    let main = parts.next().unwrap();
    for part in parts {
        let (key, body) = part.split_once('\n').unwrap();
        inner.insert(key.trim().to_owned(), body.to_owned());
    }
    let source = |key: &str, text: &str| Source {
        file: None,
        name: format!("{key}.yaml"),
        key: key.to_owned(),
        text: text.to_owned(),
    };
    let mut loaded = load(source("main", main), &mut |key| Some(source(key, inner.get(key)?)));
    // The engine runs pools; whether a whole run may have one is the loader's word.
    loaded.problems.retain(|problem| problem.code != "not-supported-yet");
    assert!(loaded.is_usable(), "{:#?}", loaded.problems);
    expand_pools(&mut loaded.workflows);
    loaded.workflows
}

pub(crate) fn start(workflows: Vec<Workflow>) -> RunStarted {
    RunStarted {
        run: RunId::from("01997f3a-0000-7000-8000-0000c0ffee01"),
        task: "the task".to_owned(),
        who: "ann".to_owned(),
        project: "/project".to_owned(),
        agent: "scripted:script.yaml".to_owned(),
        model: None,
        workflows,
        source: "main.yaml".to_owned(),
        personas: helpers(),
        unenforced: Vec::new(),
        version: "test".to_owned(),
        on_gate: None,
        isolated: false,
        keep_folders: false,
        apart: false,
        inputs: true,
        rules: None,
        walls: None,
        carried: None,
    }
}

/// Everybody whom workers ask for help in these tests.
fn helpers() -> Vec<Persona> {
    let called = |name: &str| Persona { name: name.to_owned(), ..Persona::default() };
    ["mender", "seeker", "judge", "a", "b", "c"].map(called).to_vec()
}

pub(crate) fn person(what: Command) -> Input {
    let by = By { actor: Actor::Person("ann".to_owned()), request: None };
    Input { at: NOW, by, what: What::Command(what) }
}

pub(crate) fn report(what: Report) -> Input {
    let by = By { actor: Actor::Supervisor, request: None };
    Input { at: NOW, by, what: What::Report(what) }
}

/// A call as an adapter reports it. The input is JSON, or else a text; it is shown as it stands here.
pub(crate) fn calls(id: &str, tool: &str, input: &str) -> AttemptReport {
    let whole = serde_json::from_str(input).unwrap_or_else(|_| input.into());
    let call = Call { shown: input.to_owned(), ..Call::new(id, tool, &whole, &[]) };
    AttemptReport::ToolCalled { call: Box::new(call), judged: Judgement::Clear }
}

/// A shell command, and what the rules say to it.
pub(crate) fn judged(id: &str, command: &str, judged: Judgement) -> AttemptReport {
    let input = serde_json::json!({ "command": command });
    let call = Box::new(Call::new(id, "bash", &input, &[]));
    AttemptReport::ToolCalled { call, judged }
}

/// A shell command that ran although nobody was asked.
fn unasked(id: &str, command: &str) -> AttemptReport {
    let call = Box::new(Call::new(id, "bash", &serde_json::json!({ "command": command }), &[]));
    let said = SaidBefore::Nothing;
    AttemptReport::ToolUnasked { call, judged: Judgement::Clear, said, stops: true }
}

/// How a crash of that name is classed.
fn class(verb: &str) -> CrashClass {
    match verb {
        "auth" => CrashClass::Auth,
        "unguarded" => CrashClass::Unguarded,
        "unjudged" => CrashClass::Unjudged,
        "full" => CrashClass::ContextFull,
        _ => CrashClass::Other,
    }
}

/// A rule about commands.
pub(crate) fn rule(text: &str, line: usize) -> RuleRef {
    let at = Some(RuleAt { file: "rules.yaml".to_owned(), line });
    RuleRef { kind: RuleKind::Command, text: text.to_owned(), at }
}

/// A rule that wants a person asked.
pub(crate) fn asks() -> Judgement {
    Judgement::Ask { rule: rule("rm *", 3), why: "it deletes files".to_owned() }
}

/// The report of a call that waits to be decided, if the message is its verdict.
pub(crate) fn made_again(
    state: &State,
    attempt: AttemptId,
    message: Message,
) -> Option<AttemptReport> {
    let Message::Verdict(gate) = message else { return None };
    let held = state.attempt(attempt)?.held.iter().find(|held| held.gate == gate)?;
    state.made_again(held).filter(|_| held.verdict.is_none())
}

pub(crate) fn about(attempt: AttemptId, what: AttemptReport) -> Input {
    report(Report::Attempt { attempt, active_ms: 10, what })
}

/// A tree that differs from the one before it in these files.
pub(crate) fn tree(moment: Moment, paths: &[&str]) -> Input {
    let mut changes = Changes::default();
    for path in paths {
        let (path, added, removed) = ((*path).to_owned(), Some(1), Some(0));
        changes.add(FileChange { path, change: Change::Changed, from: None, added, removed });
    }
    let tree = TreeId::new(format!("{:040x}", paths.len()));
    let recorded = TreeRecorded::new(moment, tree, changes);
    report(Report::TreeRecorded(Box::new(recorded)))
}

/// `8` of all agents, or `2 claude`.
pub(crate) fn room_limit(text: &str) -> RoomLimit {
    let (most, agent) = text.split_once(' ').map_or((text, None), |(most, it)| (most, Some(it)));
    RoomLimit { agent: agent.map(str::to_owned), most: most.parse().unwrap() }
}

pub(crate) fn signal(attempt: AttemptId, request: &str, signal: Signal) -> Input {
    let by = By { actor: Actor::Worker(attempt), request: Some(request.to_owned()) };
    let command = Command::Signal { attempt, request: request.to_owned(), signal };
    Input { at: NOW, by, what: What::Command(command) }
}

impl World {
    pub(crate) fn new(script: &str) -> Self {
        let script = script
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(|line| {
                let (key, moves) = line.split_once(':').unwrap();
                let moves = moves.split(';').map(|text| text.trim().to_owned()).collect();
                (key.trim().to_owned(), moves)
            })
            .collect();
        Self {
            state: State::default(),
            lines: Vec::new(),
            bodies: Vec::new(),
            answers: Vec::new(),
            notices: Vec::new(),
            script,
            order: Order::Due,
            decides_again: true,
            waited: BTreeSet::new(),
            progress: Progress::new(),
            snapshots: vec![Progress::new()],
        }
    }

    /// A run on that workflow, started.
    pub(crate) fn started(workflow: &str, script: &str) -> Self {
        Self::of(workflows(workflow), script)
    }

    /// The same with workflows that no file says so.
    pub(crate) fn of(workflows: Vec<Workflow>, script: &str) -> Self {
        let mut world = Self::new(script);
        world.step(&person(Command::Start(Box::new(start(workflows)))));
        world
    }

    /// Decide, write, apply: what the driver does.
    pub(crate) fn step(&mut self, input: &Input) -> Answer {
        let step = engine::step(&self.state, input);
        if let Some(line) = step.line {
            if self.decides_again {
                assert_eq!(engine::decide_again(&self.state, &line), Ok(()), "{line:#?}");
            }
            self.state.apply(&line);
            assert!(self.state.anomalies.is_empty(), "{:?}", self.state.anomalies);
            self.bodies.push(line.texts.iter().cloned().chain(step.bodies).collect());
            self.lines.push(line);
            self.snapshots.push(self.progress.clone());
        }
        self.answers.push(step.answer.clone());
        step.answer
    }

    /// Plays until nothing is due and nobody has anything to say.
    pub(crate) fn play(mut self) -> Self {
        for _ in 0..MOVES_MAX {
            if !self.one_move() {
                return self;
            }
        }
        panic!("the world goes on for ever:\n{}", self.told());
    }

    pub(crate) fn one_move(&mut self) -> bool {
        let due = self.state.due();
        let tell = due.iter().find_map(|effect| match effect.action {
            Action::Tell(attempt, message) => Some((attempt, message)),
            _ => None,
        });
        if let Some((attempt, message)) = tell {
            // As a supervisor does: a call that waited is decided once its agent is known to be there.
            if let Some(again) = made_again(&self.state, attempt, message) {
                self.step(&about(attempt, again));
                return true;
            }
            self.step(&about(attempt, AttemptReport::Told(message)));
            return true;
        }
        match self.choose(&due) {
            Some(Action::RunAttempt(attempt)) if self.asks(attempt) => {
                return self.person_answers();
            }
            Some(action) if self.perform_for_pool(action) => {}
            Some(Action::RunAttempt(attempt)) => self.agent_moves(attempt),
            Some(Action::StopAttempt(attempt)) => {
                let seen = EndSeen { stopped: true, ..EndSeen::default() };
                self.step(&about(attempt, AttemptReport::Ended(seen)));
            }
            Some(Action::WaitUntil { attempt, .. }) => {
                self.step(&report(Report::TimerFired { attempt, timer: TimerKind::Wait }));
            }
            Some(Action::RecordTree(moment)) => {
                self.step(&tree(moment, &[]));
            }
            Some(Action::RestoreTree) => {
                let restored = Restored { files: 1, ..Restored::default() };
                self.step(&report(Report::TreeRestored(Box::new(restored))));
            }
            Some(Action::Notify(about)) => {
                self.notices.push(about);
                let (given, failed, missed) = (vec![Way::Command], Vec::new(), None);
                let notice = NoticeGiven { about, given, failed, missed };
                self.step(&report(Report::NoticeGiven(notice)));
            }
            Some(
                Action::RunTimer { .. }
                | Action::Tell(..)
                | Action::ReadSteps
                | Action::MakeFolder(_)
                | Action::DropFolder(_)
                | Action::PlanMerge(_)
                | Action::WriteMerge(_),
            ) => unreachable!("an attempt comes first, and pools are played above"),
            None => return self.person_answers(),
        }
        true
    }

    /// What is performed next. In a pool everything goes on before a person is asked.
    fn choose(&self, due: &[Effect]) -> Option<Action> {
        let first = due.first().map(|effect| effect.action);
        if self.state.pools.is_empty() {
            return first;
        }
        let is_act = |action: &Action| match action {
            Action::RunTimer { .. } | Action::Tell(..) => false,
            Action::RunAttempt(attempt) => !self.asks(*attempt),
            _ => true,
        };
        let acts = due.iter().map(|effect| effect.action).filter(is_act);
        let acts: Vec<Action> = acts.collect();
        let at = match self.order {
            Order::Due => 0,
            Order::Reversed => acts.len().saturating_sub(1),
            Order::Turns => self.lines.len() % acts.len().max(1),
            Order::Alone => {
                let is_work = |action: &Action| matches!(action, Action::RunAttempt(_));
                acts.iter().rposition(is_work).unwrap_or_default()
            }
        };
        acts.get(at).copied().or(first)
    }

    /// The world as it was after so many lines, its supervisor dead and every agent with it.
    pub(crate) fn killed_after(&self, lines: usize) -> Self {
        let mut world = Self::new("");
        world.script.clone_from(&self.script);
        world.order = self.order;
        world.lines = self.lines[..lines].to_vec();
        world.bodies = self.bodies[..lines].to_vec();
        for line in &world.lines {
            world.state.apply(line);
        }
        world.progress.clone_from(&self.snapshots[lines]);
        world.snapshots = self.snapshots[..=lines].to_vec();
        world
    }

    /// What a new supervisor does first: everything that lived is lost, and the files are recorded.
    pub(crate) fn recovered(mut self) -> Self {
        for attempt in self.state.live.clone() {
            let seen = EndSeen { lost: true, ..EndSeen::default() };
            self.step(&about(attempt, AttemptReport::Ended(seen)));
        }
        for owed in self.state.notices.owed.clone() {
            let missed = NoticeGiven::missed(owed.about, Missed::Unknown);
            self.step(&report(Report::NoticeGiven(missed)));
        }
        while let Some(attempt) = self.state.trees.after.keys().next().copied() {
            self.step(&tree(Moment::After(attempt), &[]));
        }
        self
    }

    /// Forgets every session, as an agent whose home was wiped.
    pub(crate) fn forgetful(mut self) -> Self {
        self.progress.clear();
        self
    }

    fn asks(&self, id: AttemptId) -> bool {
        self.state.attempt(id).is_some_and(|attempt| self.state.is_asking(attempt))
    }

    fn agent_moves(&mut self, id: AttemptId) {
        let attempt = self.state.attempt(id).unwrap();
        let intent = attempt.intent.clone();
        let left = attempt.is_leaving();
        let key = (intent.session.clone(), intent.place.clone(), intent.try_number);
        if intent.resume && !self.progress.keys().any(|(session, ..)| *session == intent.session) {
            return self.end(id, Some((CrashClass::SessionGone, "no such session")));
        }
        if intent.agent != "shell" && !attempt.session_seen && self.waits_for_room(id) {
            return;
        }
        if intent.agent != "shell" && !self.state.attempt(id).unwrap().session_seen {
            self.progress.entry(key).or_default();
            self.step(&about(id, AttemptReport::Session(intent.session)));
            return;
        }
        let at = *self.progress.entry(key.clone()).or_default();
        // Who helps plays a list of its own.
        let worker = match (&intent.persona, &intent.chore) {
            (Some(persona), _) => format!("{}@{persona}", intent.place),
            (None, Some(_)) => format!("{}!{}", intent.place, words::performer(&intent)),
            (None, None) => intent.place.to_string(),
        };
        let exact = format!("{worker} {}", intent.try_number);
        let moves = self.script.get(&exact).or_else(|| self.script.get(&worker));
        let next = moves.and_then(|moves| moves.get(at)).cloned();
        // Ending a turn is no move of the script.
        self.progress.insert(key.clone(), at + usize::from(!left));
        let command = (intent.agent == "shell").then(|| self.next_command(id));
        match (next, command) {
            _ if left => self.end(id, None),
            (_, Some(None)) | (None, None) => self.end(id, None),
            (Some(text), _) => {
                self.perform(id, at, &text);
                // Who waits for an answer has not finished its move.
                if (text.starts_with("ask ") || text.starts_with("held ")) && self.asks(id) {
                    self.progress.insert(key, at);
                    self.snapshots.pop();
                    self.snapshots.push(self.progress.clone());
                }
            }
            // A command that the script does not know ends well.
            (None, Some(Some(index))) => self.perform(id, at, &format!("run {index} 0")),
        }
    }

    /// Whether an attempt that has not begun waits for room, or has it now.
    fn waits_for_room(&mut self, id: AttemptId) -> bool {
        let attempt = self.state.attempt(id).unwrap();
        if attempt.awaits_room() {
            self.step(&about(id, AttemptReport::RoomTaken));
            return true;
        }
        let said = self.script.get(&format!("full {}", attempt.intent.place));
        let Some(said) = said.filter(|_| self.waited.insert(id)) else { return false };
        let limit = room_limit(&said[0]);
        self.step(&about(id, AttemptReport::RoomAwaited(limit)));
        true
    }

    /// The command that a shell runs next; none after the last, or after one that failed.
    fn next_command(&self, id: AttemptId) -> Option<u32> {
        let attempt = self.state.attempt(id)?;
        if let Some(chore) = &attempt.intent.chore {
            let more = (attempt.chores_done as usize) < chore.commands.len();
            let fails = attempt.failed_command.is_some() && chore.duty == Duty::Verify;
            return (more && !fails).then_some(attempt.chores_done);
        }
        let place = &attempt.intent.place;
        let done = self.state.frames.get(&place.frame())?.worker.counters.commands_done;
        let more = (done as usize) < self.state.phase_at(place)?.commands.len();
        (more && attempt.failed_command.is_none()).then_some(done)
    }

    fn perform(&mut self, id: AttemptId, at: usize, text: &str) {
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let request = format!("r{at}");
        let what = match verb {
            "usage" => AttemptReport::Usage {
                scope: Scope::Message(format!("m{at}")),
                usage: Usage { input: rest.parse().unwrap(), ..Usage::default() },
            },
            "unpriced" => AttemptReport::Usage {
                scope: Scope::Message(format!("m{at}")),
                usage: Usage { input: rest.parse().unwrap(), unpriced: true, ..Usage::default() },
            },
            "costs" => AttemptReport::Usage {
                scope: Scope::Message(format!("m{at}")),
                usage: Usage { usd_micros: rest.parse().unwrap(), ..Usage::default() },
            },
            "tool" => calls(&format!("c{at}"), rest, ""),
            "shell" => {
                let input = serde_json::json!({ "command": rest }).to_string();
                calls(&format!("c{at}"), "bash", &input)
            }
            // A command that needs leave.
            "held" => judged(&format!("c{at}"), rest, asks()),
            // `same read a.txt`: the same call under another id.
            "same" => {
                let (tool, input) = rest.split_once(' ').unwrap();
                calls(&format!("c{at}"), tool, input)
            }
            "unproven" => AttemptReport::GuardUnproven { why: rest.to_owned() },
            // A command that nobody was asked about.
            "ran" => unasked(&format!("c{at}"), rest),
            "tool-on" => AttemptReport::ToolWentOn { call: rest.to_owned() },
            "tool-end" => AttemptReport::ToolEnded { call: rest.to_owned(), ok: true },
            "file" => AttemptReport::FileChanged { path: rest.to_owned(), change: Change::Changed },
            "session" => AttemptReport::Session(SessionId::from(rest)),
            "run" => {
                let (index, code) = rest.split_once(' ').unwrap();
                let (index, code) = (index.parse().unwrap(), code.parse().ok());
                AttemptReport::CommandEnded { index, code, output: String::new() }
            }
            "idle" => AttemptReport::Idle,
            "plan" | "go" | "complete" | "claim" | "continue" | "need" | "help" | "replace"
            | "ask" | "snap" | "loop" | "cancel" | "status" => {
                let signal = signalled(verb, rest);
                self.step(&self::signal(id, &request, signal));
                return;
            }
            "timeout" | "still" | "time-over" | "tool-over" => {
                let timer = match verb {
                    "timeout" => TimerKind::Timeout,
                    "tool-over" => TimerKind::Tool,
                    "still" => TimerKind::Standstill,
                    _ => TimerKind::Budget,
                };
                self.step(&report(Report::TimerFired { attempt: id, timer }));
                return;
            }
            "crash" | "auth" | "unguarded" | "unjudged" | "full" => {
                return self.end(id, Some((class(verb), rest)));
            }
            "quota" | "overload" => return self.no_room(id, verb, rest),
            "finish" => return self.end(id, None),
            "lost" => {
                let seen = EndSeen { lost: true, ..EndSeen::default() };
                AttemptReport::Ended(seen)
            }
            other => panic!("no such move: {other}"),
        };
        self.step(&about(id, what));
    }

    fn end(&mut self, id: AttemptId, error: Option<(CrashClass, &str)>) {
        let finished = error.is_none();
        let error = error.map(|(class, text)| (class, text.to_owned()));
        let seen = EndSeen { finished, error, code: Some(0), ..EndSeen::default() };
        self.step(&about(id, AttemptReport::Ended(seen)));
    }

    /// `quota 600` is a quota that is renewed in ten minutes.
    fn no_room(&mut self, id: AttemptId, verb: &str, rest: &str) {
        let class = if verb == "quota" { CrashClass::Quota } else { CrashClass::Overload };
        let quota_until = rest.parse().ok().map(|seconds: u64| Millis(NOW.0 + seconds * 1_000));
        let error = Some((class, String::new()));
        let seen = EndSeen { error, quota_until, ..EndSeen::default() };
        self.step(&about(id, AttemptReport::Ended(seen)));
    }

    /// What the script says to the first open gate; in a pool, to any of them.
    fn known_answer(&self) -> Option<(GateId, String)> {
        let known = |gate: &GateOpened| {
            let at = format!("at {}", gate.shown_place());
            let moves = self.script.get(&gate.gate.to_string()).or_else(|| self.script.get(&at));
            // Which of several workers meets the limit first depends on the order.
            let any =
                || self.script.get("any budget").filter(|_| gate.gate_kind == GateKind::Budget);
            Some((gate.gate, moves.or_else(any)?.first()?.clone()))
        };
        let most = if self.state.pools.is_empty() { 1 } else { usize::MAX };
        self.state.open_gates().take(most).find_map(|gate| known(&gate.opened))
    }

    fn person_answers(&mut self) -> bool {
        // After the end only the merge of a whole run is asked about.
        let own = self.state.apart.as_ref().and_then(|apart| apart.gate);
        if self.state.is_over() && own.is_none() {
            return false;
        }
        let Some((gate, text)) = self.known_answer() else { return false };
        let text = &text;
        let command = match text.split_once(' ') {
            Some(("rewind", to)) => self.rewind(to.parse().unwrap()),
            _ => answer(gate, text),
        };
        self.step(&person(command));
        true
    }

    /// Back to where it stood after that line.
    pub(crate) fn rewind(&self, to: u64) -> Command {
        let mut state = State::default();
        self.lines.iter().take_while(|line| line.seq <= to).for_each(|line| state.apply(line));
        Command::Rewind { to, carried: Box::new(state.carried()) }
    }

    /// What happened, a sentence a line; an indented one followed from the one before.
    pub(crate) fn told(&self) -> String {
        self.told_from(0)
    }

    /// The same without the first lines.
    pub(crate) fn told_from(&self, first: usize) -> String {
        let mut out = String::new();
        for line in &self.lines[first..] {
            let shown = |event: &Event| match event {
                Event::SessionOpened { .. } => false,
                Event::TreeRecorded(recorded) => !recorded.changes.is_none(),
                _ => true,
            };
            for (index, event) in line.events.iter().enumerate().filter(|(_, event)| shown(event)) {
                let indent = if index == 0 { "" } else { "  " };
                out.push_str(indent);
                out.push_str(&words::sentence(event));
                out.push('\n');
            }
        }
        out
    }
}

fn signalled(verb: &str, rest: &str) -> Signal {
    let text = rest.to_owned();
    let help = |resume| {
        let (persona, context) = (rest.to_owned(), "all of it".to_owned());
        let reason = "it is broken".to_owned();
        Signal::Break(Break::FollowUp(FollowUp { persona, reason, context, resume }))
    };
    let question = || Question {
        question: rest.to_owned(),
        options: Vec::new(),
        context: String::new(),
        closed: false,
    };
    match verb {
        "continue" => Signal::Break(Break::Continue { progress: "half".to_owned(), point: text }),
        "need" => Signal::Break(Break::Ask(question())),
        "help" => help(true),
        "replace" => help(false),
        "ask" => Signal::Ask(question()),
        "snap" => {
            Signal::Snapshot(SnapshotUpdate { findings: vec![text], ..SnapshotUpdate::default() })
        }
        "loop" => Signal::Loop { summary: text },
        "cancel" => Signal::Cancel { summary: text },
        "status" => Signal::Status,
        "plan" => crate::world_pools::plan(rest),
        "claim" => Signal::Leave {
            target: None,
            outcome: None,
            summary: text,
            task: None,
            issues: Issues::default(),
        },
        verb => {
            // `go test fail +found -settled` names issues.
            let named =
                |mark: char| rest.split_whitespace().filter_map(move |it| it.strip_prefix(mark));
            let issues = Issues {
                opened: named('+').map(str::to_owned).collect(),
                resolved: named('-').map(str::to_owned).collect(),
            };
            let mut words = rest.split_whitespace().filter(|it| !it.starts_with(['+', '-']));
            let target = (verb == "go").then(|| words.next().map(PhaseId::from)).flatten();
            let outcome = words.next().map(Outcome::from);
            Signal::Leave { target, outcome, summary: "did it".to_owned(), task: None, issues }
        }
    }
}

/// `5 tokens`, `5 usd` (in millionths), `5 ms`, `5 attempts`.
fn more(text: &str) -> Budget {
    let (number, unit) = text.split_once(' ').unwrap();
    let number: u64 = number.parse().unwrap();
    match unit {
        "tokens" => Budget { tokens: Some(number), ..Budget::default() },
        "usd" => Budget { usd_micros: Some(number), ..Budget::default() },
        "ms" => Budget { time_ms: Some(number), ..Budget::default() },
        "attempts" => Budget { attempts: u32::try_from(number).ok(), ..Budget::default() },
        other => panic!("no such unit: {other}"),
    }
}

fn answer(gate: GateId, text: &str) -> Command {
    let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
    let note = rest.to_owned();
    match verb {
        "approve" => Command::Approve { gate: Some(gate), note, scope: None },
        "approve-phase" => {
            Command::Approve { gate: Some(gate), note, scope: Some(GrantScope::Phase) }
        }
        "approve-run" => Command::Approve { gate: Some(gate), note, scope: Some(GrantScope::Run) },
        "reject" => Command::Reject { gate: Some(gate), note },
        "retry" => Command::Retry { place: None, note, agent: None, from: None },
        "retry-from" => {
            let from = rest.parse().ok();
            Command::Retry { place: None, note: String::new(), agent: None, from }
        }
        "skip" => Command::Skip { place: None, note },
        "answer" => Command::Answer { gate: Some(gate), text: note, note: String::new() },
        "go" => Command::Go { place: Place::new(rest), note: String::new() },
        "cancel" => Command::Cancel { reason: note },
        "give-up" => Command::GiveUp { place: Place::new(rest), note: String::new() },
        "budget" => Command::Budget { place: None, more: more(rest) },
        "merge" => Command::Merge { keep: false },
        "loops" => Command::Loops { place: None, more: rest.parse().unwrap() },
        other => panic!("no such answer: {other}"),
    }
}
