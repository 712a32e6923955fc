//! Agents: they work, die, stall, flood and lie; and their sessions, which outlive them.

use chronicle_core::base::ids::{AttemptId, Outcome, PhaseId, Place, SessionId};
use chronicle_core::base::time::Millis;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::engine::work::Work;
use chronicle_core::event::input::{
    Actor, Answer, AttemptReport, By, Command, EndSeen, Input, What,
};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::{
    Break, Change, CrashClass, Duty, FollowUp, Issues, Question, SnapshotUpdate,
};

use super::figures::Trouble;
use super::oracle::{Checked, ensure};
use super::run::Sim;
use super::supervisor::{Message, Reply, Supervisor};
use crate::world_moves::{calls, needs_leave};
use crate::world_pools::steps;

/// The habit of taking any way out.
const WANDERS: u64 = 1;
/// So many attempts of a run go wrong even when all is calm.
const EARLY: u32 = 4;

/// A process that works on an attempt.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, set and read apart")]
pub(super) struct Agent {
    /// The epoch of the supervisor that started it.
    pub(super) owner: u64,
    place: Place,
    try_number: u32,
    pub(super) session: SessionId,
    targets: Vec<PhaseId>,
    toward: PhaseId,
    /// Commands that are yet to be run, the next one last; none for a worker.
    commands: Option<Vec<u32>>,
    /// What its commands are for, if not for the phase's own work.
    chore: Option<Duty>,
    once: bool,
    stopping: bool,
    /// A signal that ends its turn was accepted.
    left: bool,
    /// It waits for a person's answer.
    pub(super) asks: bool,
    /// It helps somebody, and has no way of its own.
    helps: bool,
    /// It has yet to hand in the steps that it is to plan.
    plans: bool,
    /// The call it waits for.
    waiting: Option<(Request, Signal)>,
    requests: u32,
    heard: Vec<(String, Signal, Answer)>,
}

/// How a worker calls what it asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    id: String,
    /// Whether nothing else was asked for under that id before: else it gets the answer of that.
    is_new: bool,
}

/// What an agent remembers of a conversation.
#[derive(Default)]
pub(super) struct Session {
    /// Whose it is: no agent can resume another's.
    agent: Option<String>,
    spent: u64,
    turn: u64,
    messages: u32,
}

impl Sim<'_> {
    pub(super) fn start(&mut self, supervisor: &mut Supervisor, order: Work) -> Checked {
        let intent = order.intent;
        let id = intent.attempt;
        self.oracle.start(&intent, supervisor.walls.as_ref())?;
        self.keepers.insert(id);
        let frame = intent.place.frame();
        let beside = self.agents.iter().find(|(_, agent)| agent.place.frame() == frame);
        ensure(beside.is_none(), || {
            format!("{id} is started beside {:?}", beside.map(|(id, _)| id))
        })?;
        self.tell(|| format!("{id} starts at `{}`", intent.place));
        if intent.resume && !self.sessions.contains_key(&intent.session) {
            let error = Some((CrashClass::SessionGone, "no such session".to_owned()));
            let input =
                self.about(id, AttemptReport::Ended(EndSeen { error, ..EndSeen::default() }));
            supervisor.inbox.push_back(Message::new(input));
            return Ok(());
        }
        let session = self.sessions.entry(intent.session.clone()).or_default();
        let owner = session.agent.get_or_insert_with(|| intent.agent.clone());
        ensure(*owner == intent.agent, || {
            format!("{id} with `{}` goes on in a session of `{owner}`", intent.agent)
        })?;
        let state = supervisor.run.state();
        let workflow = state.frames.get(&frame).map_or("", |frame| frame.workflow.as_str());
        let is_shell = intent.agent == chronicle_core::base::ids::SHELL;
        let phase = state.phase_at(&intent.place);
        let plans = phase.is_some_and(|phase| phase.produces.is_some()) && !is_shell;
        let commands = order.commands.iter().rev().map(|(index, _)| *index).collect();
        let agent = Agent {
            owner: supervisor.epoch,
            toward: self.shape.toward(workflow, &intent.place.phase()),
            once: state.phase_at(&intent.place).is_some_and(|phase| phase.once),
            place: intent.place,
            try_number: intent.try_number,
            session: intent.session,
            targets: order.targets,
            commands: is_shell.then_some(commands),
            chore: intent.chore.as_ref().map(|chore| chore.duty),
            stopping: false,
            left: false,
            asks: false,
            helps: intent.persona.is_some(),
            plans,
            waiting: None,
            requests: 0,
            heard: Vec::new(),
        };
        self.agents.insert(id, agent);
        Ok(())
    }

    pub(super) fn stop(&mut self, id: AttemptId) {
        if let Some(agent) = self.agents.get_mut(&id) {
            agent.stopping = true;
        }
    }

    pub(super) fn some_agent_acts(&mut self) -> Checked {
        let ids: Vec<AttemptId> = self.agents.keys().copied().collect();
        match self.rng.pick(&ids) {
            Some(id) => self.act(*id),
            // Nobody works: somebody decides.
            None => self.some_supervisor_works(),
        }
    }

    pub(super) fn act(&mut self, id: AttemptId) -> Checked {
        let Some(agent) = self.agents.get(&id) else { return Ok(()) };
        let is_orphan = !self.supervisors.iter().any(|one| one.epoch == agent.owner);
        let (stopping, left, shell) = (agent.stopping, agent.left, agent.commands.is_some());
        let asks = agent.asks;
        let waiting = agent.waiting.clone();
        if is_orphan {
            // Its keeper ends it, sooner or later.
            if self.rng.chance(50) {
                self.agents.remove(&id);
            }
        } else if stopping && (self.calm || self.rng.chance(80)) {
            self.end(id, EndSeen { stopped: true, signal: Some(15), ..EndSeen::default() });
        } else if shell {
            self.run_command(id)?;
        } else if let Some((request, signal)) = waiting {
            match self.rng.below(20) {
                0..=2 if !self.calm => self.call(id, request, signal),
                3 if !self.calm => self.die(id),
                _ => {}
            }
        } else if asks {
            if !self.calm && self.rng.chance(10) {
                self.die(id);
            }
        } else if self.calm {
            match left {
                true => self.finish_turn(id),
                false if self.is_early(id) && self.habit() == WANDERS => self.leave_anyhow(id),
                // A plan changes while others work only if somebody among them asks for it in time.
                false if self.shape.is_pool && self.is_early(id) && self.rng.chance(30) => {
                    self.plan_anew(id);
                }
                false => self.leave_rightly(id),
            }
        } else if left {
            self.linger(id);
        } else {
            self.misbehave(id);
        }
        Ok(())
    }

    /// After its leaving signal was accepted.
    fn linger(&mut self, id: AttemptId) {
        match self.rng.below(10) {
            0..=5 => self.finish_turn(id),
            6 => self.call_tool(id),
            7 => self.leave_anyhow(id),
            8 => self.die(id),
            _ => {}
        }
    }

    /// Agents of a world have a habit; all of them do everything now and then.
    fn misbehave(&mut self, id: AttemptId) {
        let helps = self.agents.get(&id).is_some_and(|agent| agent.helps);
        if self.shape.is_pool && self.rng.chance(if helps { 70 } else { 25 }) {
            return self.plan_anew(id);
        }
        if self.rng.chance(50) {
            match self.habit() {
                0 => return self.turn_in_circles(id),
                WANDERS => return self.leave_anyhow(id),
                2 => return self.speak(id),
                3 => return self.break_down(id),
                4 => return self.finish_turn(id),
                5 => return self.use_tokens(id),
                _ => {}
            }
        }
        match self.rng.below(100) {
            5..=8 => self.needs_leave(id),
            9..=11 => self.turn_in_circles(id),
            // In place of one of the many calls.
            0 => self.say(id, AttemptReport::GuardUnproven { why: "no hook".to_owned() }),
            1 => {
                let said = "touch: x: Read-only file system".to_owned();
                self.say(id, AttemptReport::WallHit { call: Some("c1".to_owned()), said });
            }
            2..=4 => self.call_tool(id),
            12 => self.say(id, AttemptReport::ToolWentOn { call: "c1".to_owned() }),
            13..=17 => self.say(id, AttemptReport::ToolEnded { call: "c1".to_owned(), ok: true }),
            18..=21 => {
                let (path, change) = ("a.rs".to_owned(), Change::Changed);
                self.say(id, AttemptReport::FileChanged { path, change });
            }
            22..=39 => self.use_tokens(id),
            40..=43 => self.name_session(id),
            44..=64 => self.leave_rightly(id),
            65..=68 => self.leave_anyhow(id),
            69..=74 => self.speak(id),
            75..=77 => self.signal(id, Signal::Malformed("no".to_owned())),
            78 | 79 => self.signal(id, Signal::Status),
            80..=82 => self.pretend(id),
            83..=85 => self.say(id, AttemptReport::Idle),
            86 | 87 => {
                self.figures.meet(Trouble::Flooded);
                (0..12).for_each(|_| self.use_tokens(id));
            }
            88..=91 => self.finish_turn(id),
            92..=94 => self.die(id),
            95..=97 => self.break_down(id),
            _ => {}
        }
    }

    fn habit(&self) -> u64 {
        self.wrongs >> 32 & 15
    }

    /// One of the first attempts of a calm run, whose workers may still take wrong ways: there must be an end of it.
    fn is_early(&mut self, id: AttemptId) -> bool {
        id.0 <= EARLY && self.rng.chance(50)
    }

    fn say(&mut self, id: AttemptId, what: AttemptReport) {
        let input = self.about(id, what);
        self.send(id, Message::new(input));
    }

    fn send(&mut self, id: AttemptId, message: Message) {
        if let Some(owner) = self.agents.get(&id).map(|agent| agent.owner) {
            self.report_to(owner, message);
        }
    }

    fn call_tool(&mut self, id: AttemptId) {
        let call = format!("c{}", self.rng.below(3));
        self.say(id, calls(&call, "read", ""));
    }

    /// One of few calls that need leave, made by few ids: they meet in every way.
    fn needs_leave(&mut self, id: AttemptId) {
        let call = format!("h{}", self.rng.below(3));
        if self.rng.chance(10) {
            return self.say(id, AttemptReport::Withdrew { request: call });
        }
        let command = format!("rm {}", self.rng.below(2));
        self.say(id, needs_leave(&call, &command));
    }

    /// The very same call again and again, whatever comes of it.
    fn turn_in_circles(&mut self, id: AttemptId) {
        for number in 0..2 + self.rng.below(6) {
            let call = format!("again{number}");
            self.say(id, calls(&call, "bash", r#"{"command":"ls"}"#));
            self.say(id, AttemptReport::ToolEnded { call, ok: true });
        }
    }

    fn name_session(&mut self, id: AttemptId) {
        let Some(agent) = self.agents.get_mut(&id) else { return };
        if self.rng.chance(30) {
            agent.session = SessionId::new(format!("own-{id}"));
            self.sessions.entry(agent.session.clone()).or_default();
        }
        let session = agent.session.clone();
        self.say(id, AttemptReport::Session(session));
    }

    fn use_tokens(&mut self, id: AttemptId) {
        let amount = self.rng.below(1_000);
        let Some(agent) = self.agents.get(&id) else { return };
        let lies = self.rng.chance(8);
        if lies {
            self.figures.meet(Trouble::Lied);
            self.oracle.liars.insert(agent.session.clone());
        }
        let session = self.sessions.entry(agent.session.clone()).or_default();
        session.spent += amount;
        session.turn += amount;
        session.messages += 1;
        let (scope, input) = match self.rng.below(10) {
            0..=5 => (Scope::Message(format!("m{}", session.messages)), amount),
            6 | 7 => (Scope::Turn, std::mem::take(&mut session.turn)),
            _ => (Scope::Session, session.spent),
        };
        // As agents do: all of a session is told when a turn ends, after the turn.
        let turn = if scope == Scope::Session { std::mem::take(&mut session.turn) } else { 0 };
        if turn > 0 {
            let usage = Usage { input: turn, ..Usage::default() };
            self.say(id, AttemptReport::Usage { scope: Scope::Turn, usage });
        }
        let input = if lies { amount / 2 } else { input };
        let usage = Usage { input, ..Usage::default() };
        self.say(id, AttemptReport::Usage { scope, usage });
    }

    fn leave_rightly(&mut self, id: AttemptId) {
        let Some(agent) = self.agents.get(&id) else { return };
        if agent.plans && !agent.helps {
            return self.plan(id);
        }
        let target = (!agent.helps).then(|| agent.toward.clone());
        let state = &self.oracle.state;
        let judged = state.frames.get(&agent.place.frame()).and_then(|it| state.judged_by(it));
        let taken = judged.and_then(|(_, race)| race.finishers().last());
        let outcome = taken.map(|step| Outcome::from(step.id.as_str()));
        self.signal(
            id,
            Signal::Leave {
                target,
                outcome,
                summary: "did it".to_owned(),
                task: None,
                issues: Issues::default(),
            },
        );
    }

    /// Some steps, or others than before: those that have begun, what nobody can follow, and ones with bad luck among them.
    fn plan(&mut self, id: AttemptId) {
        let plans = ["a b<a", "a clash c<a", "a b c d<a", "nofolder b", "a d<b", "e f<e", ""];
        let helps = self.agents.get(&id).is_some_and(|agent| agent.helps);
        let text = match (self.calm, helps) {
            (true, false) => plans[0],
            (true, true) => "a b<a c",
            (false, _) => *self.rng.pick(&plans).unwrap_or(&"a"),
        };
        let open = self.oracle.state.pools.values().find(|pool| !pool.left);
        let version = open.map(|pool| pool.version);
        let late = !self.calm && self.rng.chance(20);
        let version = if late { Some(7) } else { version };
        self.signal(id, Signal::Plan { version, steps: steps(text) });
    }

    /// Asks whoever plans the steps for help, and plans anew where it is that one.
    fn plan_anew(&mut self, id: AttemptId) {
        if self.agents.get(&id).is_some_and(|agent| agent.helps) {
            return self.plan(id);
        }
        let (persona, reason) = ("seeker".to_owned(), "so".to_owned());
        let ask = FollowUp { persona, context: reason.clone(), reason, resume: true };
        self.signal(id, Signal::Break(Break::FollowUp(ask)));
    }

    fn leave_anyhow(&mut self, id: AttemptId) {
        let Some(agent) = self.agents.get(&id) else { return };
        let target = match self.rng.below(5) {
            0..=2 => self.rng.pick(&agent.targets).cloned(),
            3 => Some(PhaseId::from("nowhere")),
            _ => None,
        };
        let words = ["complete", "fail", "gaps", "rejected", "odd"];
        let outcome = self.rng.pick(&words).map(|word| Outcome::from(*word));
        self.signal(
            id,
            Signal::Leave {
                target,
                outcome,
                summary: "well".to_owned(),
                task: None,
                issues: Issues::default(),
            },
        );
    }

    /// Anything that a worker may say within its phase.
    fn speak(&mut self, id: AttemptId) {
        if self.shape.is_pool && self.rng.chance(40) {
            return self.plan_anew(id);
        }
        let text = || "so".to_owned();
        let question =
            || Question { question: text(), options: Vec::new(), context: text(), closed: false };
        let signal = match self.rng.below(10) {
            0 | 1 => Signal::Break(Break::Continue { progress: text(), point: text() }),
            2 => Signal::Break(Break::Ask(question())),
            3..=5 => {
                let personas = ["mender", "seeker", "weaver", "p0"];
                let persona = (*self.rng.pick(&personas).unwrap_or(&"mender")).to_owned();
                let resume = self.rng.chance(60);
                let (reason, context) = (text(), text());
                Signal::Break(Break::FollowUp(FollowUp { persona, reason, context, resume }))
            }
            6 => {
                let findings = vec![format!("finding {}", self.rng.below(9))];
                Signal::Snapshot(SnapshotUpdate { findings, ..SnapshotUpdate::default() })
            }
            7 => Signal::Loop { summary: text() },
            _ => Signal::Ask(question()),
        };
        self.signal(id, signal);
    }

    /// A request's id is its own, but for one in five that is used again.
    fn signal(&mut self, id: AttemptId, signal: Signal) {
        let again = self.rng.chance(20);
        let Some(agent) = self.agents.get_mut(&id) else { return };
        let is_new = !again || agent.requests == 0;
        if !is_new {
            self.figures.meet(Trouble::Reused);
        }
        agent.requests += u32::from(is_new);
        let request = Request { id: format!("r{}", agent.requests), is_new };
        agent.waiting = Some((request.clone(), signal.clone()));
        self.call(id, request, signal);
    }

    fn call(&mut self, id: AttemptId, request: Request, signal: Signal) {
        let input = self.called(id, id, request.id.clone(), signal);
        self.send(id, Message { input, reply: Reply::Worker(id, request) });
    }

    fn called(
        &mut self,
        by: AttemptId,
        attempt: AttemptId,
        request: String,
        signal: Signal,
    ) -> Input {
        let by = By { actor: Actor::Worker(by), request: Some(request.clone()) };
        let command = Command::Signal { attempt, request, signal };
        Input { at: self.at(), by, what: What::Command(command) }
    }

    /// Signals for another, or gives a person's commands.
    fn pretend(&mut self, id: AttemptId) {
        let other = AttemptId(1 + u32::try_from(self.rng.below(5)).unwrap_or(0));
        let note = String::new();
        let mut input = match self.rng.below(3) {
            0 => self.asked(Command::Approve { gate: None, note, scope: None }),
            1 => self.asked(Command::Cancel { reason: note }),
            _ if other == id => return,
            _ => self.called(
                id,
                other,
                "r1".to_owned(),
                Signal::Leave {
                    target: None,
                    outcome: None,
                    summary: note,
                    task: None,
                    issues: Issues::default(),
                },
            ),
        };
        input.by.actor = Actor::Worker(id);
        self.figures.meet(Trouble::Pretended);
        self.send(id, Message { input, reply: Reply::Pretender(id) });
    }

    fn finish_turn(&mut self, id: AttemptId) {
        self.end(id, EndSeen { finished: true, code: Some(0), ..EndSeen::default() });
    }

    fn die(&mut self, id: AttemptId) {
        let lost = self.rng.chance(30);
        self.end(id, EndSeen { lost, signal: Some(9), ..EndSeen::default() });
    }

    fn break_down(&mut self, id: AttemptId) {
        let classes = [
            CrashClass::SessionGone,
            CrashClass::Auth,
            CrashClass::Quota,
            CrashClass::Overload,
            CrashClass::CannotStart,
            CrashClass::Other,
        ];
        let class = self.rng.pick(&classes).copied().unwrap_or(CrashClass::Other);
        let error = Some((class, "no".to_owned()));
        let quota_until = self.rng.chance(50).then_some(Millis(u64::MAX / 2));
        self.end(id, EndSeen { error, quota_until, ..EndSeen::default() });
    }

    /// The process is gone and its keeper says so; now and then something is said after the end.
    fn end(&mut self, id: AttemptId, seen: EndSeen) {
        self.say(id, AttemptReport::Ended(seen.clone()));
        if !self.calm && self.rng.chance(10) {
            self.use_tokens(id);
            self.say(id, AttemptReport::Ended(seen));
        }
        self.agents.remove(&id);
    }

    fn run_command(&mut self, id: AttemptId) -> Checked {
        let Some(agent) = self.agents.get_mut(&id) else { return Ok(()) };
        let Some(index) = agent.commands.as_mut().and_then(Vec::pop) else {
            self.finish_turn(id);
            return Ok(());
        };
        let (place, once, goes_on) =
            (agent.place.clone(), agent.once, agent.chore == Some(Duty::Cleanup));
        let verifies = agent.chore == Some(Duty::Verify);
        if agent.chore.is_none() {
            self.oracle.command(&place, agent.try_number, index, once)?;
        }
        let wrong = !self.calm || verifies && self.is_early(id);
        let roll = if wrong { self.rng.below(20) } else { 0 };
        // Steps that pass by themselves and fail together are rare enough.
        let checks_merge = self.shape.is_pool && place.phase().as_str() == "verify";
        let code = match roll {
            0..=9 if !self.calm && checks_merge => Some(1),
            0..=14 => Some(0),
            15 | 16 => Some(1),
            17 => None,
            18 => {
                self.die(id);
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.say(id, AttemptReport::CommandEnded { index, code, output: String::new() });
        if code != Some(0) && !goes_on {
            self.end(id, EndSeen { finished: true, code, ..EndSeen::default() });
        }
        Ok(())
    }

    /// What one hears who signals for another, or gives a person's commands.
    pub(super) fn hear_no(id: AttemptId, answer: &Answer) -> Checked {
        ensure(matches!(answer, Answer::Refused(_)), || {
            format!("{id} pretended and was answered {answer:?}")
        })
    }

    /// The same call gets the same answer, and what was accepted is on disk.
    pub(super) fn hear(
        &mut self,
        id: AttemptId,
        request: &Request,
        signal: &Signal,
        answer: &Answer,
    ) -> Checked {
        let known = self.oracle.state.attempt(id);
        let lives = known.is_some_and(|attempt| attempt.ended.is_none());
        if request.is_new
            && let (Signal::Leave { target, .. }, Answer::Accepted(_)) = (signal, answer)
        {
            let leave = known.and_then(|attempt| attempt.leave.as_ref());
            let helped = known.is_some_and(|attempt| attempt.parting.is_some());
            ensure(leave.is_some() || helped, || {
                format!("{id} hears {answer:?}, the disk has no signal")
            })?;
            let fits = |target: &PhaseId| leave.is_some_and(|(leave, _)| leave.target == *target);
            ensure(helped || target.as_ref().is_none_or(fits), || {
                format!("{id} asked for {target:?} and got {leave:?}")
            })?;
        }
        let Some(agent) = self.agents.get_mut(&id) else { return Ok(()) };
        let waits = agent.waiting.as_ref().is_some_and(|(waiting, _)| waiting.id == request.id);
        if *signal == Signal::Status {
            agent.waiting = agent.waiting.take().filter(|_| !waits);
            return Ok(());
        }
        if *answer == Answer::Waits {
            agent.asks = lives;
            agent.waiting = None;
            return Ok(());
        }
        // The same call: one that says something else under an id used before gets any answer that changes nothing.
        let is_same =
            |(heard, said, _): &&(String, Signal, Answer)| *heard == request.id && said == signal;
        let before = agent.heard.iter().find(is_same).map(|(.., answer)| answer);
        ensure(!lives || before.is_none_or(|before| before == answer), || {
            format!("{id} asked {} twice: {before:?}, then {answer:?}", request.id)
        })?;
        agent.heard.push((request.id.clone(), signal.clone(), answer.clone()));
        // Who asked twice has heard it once it hears it.
        agent.asks &= !matches!(signal, Signal::Ask(_));
        if waits {
            let ends =
                matches!(signal, Signal::Leave { .. } | Signal::Break(_) | Signal::Loop { .. });
            agent.left |= ends && matches!(answer, Answer::Accepted(_));
            let planned = matches!(signal, Signal::Plan { .. });
            agent.plans &= !(planned && matches!(answer, Answer::Accepted(_)));
            agent.waiting = None;
        }
        Ok(())
    }
}
