//! What must hold, judged by what a power cut could not take away: a second fold, over the disk's synced bytes alone.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead as _;
use std::path::Path;

use chronicle_core::base::ids::{
    AttemptId, COMPLETE, FramePath, GateId, PhaseId, Place, SessionId,
};
use chronicle_core::base::limits::LoopCount;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::definition::workflow::{Phase, allowed_targets};
use chronicle_core::engine;
use chronicle_core::event::input::Actor;
use chronicle_core::event::record::Line;
use chronicle_core::event::{
    AttemptStarted, CallSum, End, Event, GateAnswer, GateKind, GrantScope, ToolCalled, Verdict,
    WallsFound, Why,
};
use chronicle_core::guard::Judgement;
use chronicle_core::state::{EdgeCount, Frame, MergeStage, Pool, State, Status, StepStage};
use chronicle_runtime::for_tests::ledger::{self, Cursor, Head, SUM_DIGITS};
use chronicle_testkit::Simulated;

use super::figures::{Met, Trouble};
use super::run::LEDGER;

/// Nothing, or what does not hold.
pub(super) type Checked = Result<(), String>;

/// Fails with words unless it holds.
pub(super) fn ensure(holds: bool, words: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(words()) }
}

pub(super) struct Oracle {
    pub(super) state: State,
    pub(super) head: Head,
    pub(super) lines: u64,
    pub(super) events: u64,
    /// Whether each line is decided again.
    replays: bool,
    /// Trouble that the ledger tells of.
    pub(super) met: Met,
    /// Lines that were written and are not surely on disk yet, with the heads after them.
    written: Vec<(Head, Line)>,
    /// Sessions whose agents lie about what they use.
    pub(super) liars: BTreeSet<SessionId>,
    /// Frames whose phase was left, so that only an edge or a person makes it be worked on again.
    left: BTreeSet<FramePath>,
    answered: BTreeSet<GateId>,
    started: BTreeSet<AttemptId>,
    commands: BTreeMap<(Place, u32, u32), u32>,
    /// A call that was allowed, and how often in a row with nothing in between.
    calls: Option<(ToolCalled, u32)>,
    /// Calls that people allowed, and those that were for one call and have been used.
    grants: BTreeMap<GateId, (CallSum, GrantScope, Place)>,
    used: BTreeSet<GateId>,
    /// Work folders whose work is in the project.
    merged: BTreeSet<u32>,
}

impl Oracle {
    pub(super) fn new(replays: bool) -> Self {
        Self {
            replays,
            state: State::default(),
            head: Head::EMPTY,
            lines: 0,
            events: 0,
            met: Met::default(),
            written: Vec::new(),
            liars: BTreeSet::new(),
            left: BTreeSet::new(),
            answered: BTreeSet::new(),
            started: BTreeSet::new(),
            commands: BTreeMap::new(),
            calls: None,
            grants: BTreeMap::new(),
            used: BTreeSet::new(),
            merged: BTreeSet::new(),
        }
    }

    /// Somebody has written a line; whether it lasts is seen when it is read.
    pub(super) fn wrote(&mut self, head: Head, line: Line) {
        self.written.push((head, line));
    }

    /// A line on disk: the one that was written, if it has its sum, which stands for every byte up to its end. Whether those
    /// bytes are read as that line shows when the ledger is opened next, and at the end of every third run it is.
    fn read(&mut self, text: &[u8]) -> Result<(Line, Head), String> {
        let (seq, bytes) = (self.head.seq + 1, self.head.at.for_backend() + text.len() as u64);
        let is_it = |(head, _): &(Head, Line)| {
            (head.seq, head.at.for_backend()) == (seq, bytes) && text.ends_with(&closing(head))
        };
        if let Some(index) = self.written.iter().position(is_it) {
            let (head, line) = self.written.swap_remove(index);
            return Ok((line, head));
        }
        let (line, sum) = ledger::decode(text, &self.head.sum, seq)
            .map_err(|error| format!("line {seq} on disk cannot be read: {error}"))?;
        Ok((line, Head { seq, sum, at: Cursor::of_backend(bytes) }))
    }

    /// Reads on to the end of what is on disk.
    pub(super) fn catch_up(&mut self, disk: &Simulated) -> Checked {
        let from = usize::try_from(self.head.at.for_backend()).unwrap_or(usize::MAX);
        let bytes = disk.synced(Path::new(LEDGER), from);
        let mut rest = bytes.as_slice();
        while let Some(length) = whole_line(rest) {
            let (text, after) = rest.split_at(length);
            rest = after;
            let (line, head) = self.read(text)?;
            self.judge(&line)?;
            texts_are_there(disk, &line)?;
            self.decide_again(&line)?;
            let before = self.state.usage;
            let rewalled = self.to_be_rewalled(&line)?;
            self.state.apply(&line);
            self.after(&line, &before)?;
            self.is_only_rewalled(rewalled)?;
            self.head = head;
            self.lines += 1;
            self.events += line.events.len() as u64;
            self.check_state()?;
        }
        let seq = self.head.seq;
        self.written.retain(|(head, _)| head.seq > seq);
        Ok(())
    }

    /// What was decided follows from what was written down.
    fn decide_again(&self, line: &Line) -> Checked {
        if !self.replays {
            return Ok(());
        }
        let again = engine::decide_again(&self.state, line);
        again.map_err(|why| format!("line {} is decided again as {why:#?}", line.seq))
    }

    /// The disk and the supervisor must know the same.
    pub(super) fn agree(&mut self, state: &State, head: Head) -> Checked {
        ensure(head == self.head, || {
            format!("the supervisor is at {head:?}, the disk surely has {:?}", self.head)
        })?;
        ensure(*state == self.state, || {
            format!(
                "the fold of the disk differs from the live state:\n{:#?}\n{state:#?}",
                self.state
            )
        })?;
        // They are equal, and share from here on what was frozen at the start: it need not be compared word by word again.
        self.state.clone_from(state);
        Ok(())
    }

    /// Each line on its own, before it is applied.
    fn judge(&mut self, line: &Line) -> Checked {
        for event in &line.events {
            self.met.meet_event(event);
            self.judge_call(event)?;
            self.judge_pool(event)?;
            self.judge_leave(event)?;
            match event {
                Event::GateAnswered { gate, answer, .. } => {
                    self.judge_answer(line, *gate, answer)?;
                }
                Event::PhaseEntered { place } => {
                    self.left.remove(&place.frame());
                }
                // What verifies and what puts away comes after the work.
                Event::AttemptStarted(intent) if intent.chore.is_some() => {}
                Event::AttemptStarted(intent)
                    if matches!(intent.why, Why::Unverified { .. } | Why::Lacking { .. }) =>
                {
                    self.left.remove(&intent.place.frame());
                }
                Event::AttemptStarted(intent) => {
                    let (id, frame) = (intent.attempt, intent.place.frame());
                    ensure(!self.left.contains(&frame), || {
                        format!("{id} works on `{}`, which was left already", intent.place)
                    })?;
                }
                Event::AttemptEnded(ended) => {
                    let Some(attempt) = self.state.attempt(ended.attempt) else { continue };
                    ensure((ended.end == End::Left) == attempt.leave.is_some(), || {
                        format!(
                            "{} ended as {:?}, its signal was {:?}",
                            ended.attempt, ended.end, attempt.leave
                        )
                    })?;
                    ensure((ended.end == End::BrokeOff) == attempt.parting.is_some(), || {
                        format!("{} ended as {:?}", ended.attempt, ended.end)
                    })?;
                    let is_work = attempt.duty().is_none();
                    if is_work && matches!(ended.end, End::Left | End::CommandsDone) {
                        self.left.insert(attempt.intent.place.frame());
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Nobody who may be stopped is let make the same call more often than its phase allows.
    fn judge_call(&mut self, event: &Event) -> Checked {
        let called = match event {
            Event::ToolCalled(called) => called,
            Event::ToolEnded { .. } | Event::UsageReported { .. } => return Ok(()),
            _ => {
                self.calls = None;
                return Ok(());
            }
        };
        let is_same = |(before, _): &(ToolCalled, u32)| {
            (before.attempt, before.sum) == (called.attempt, called.sum)
        };
        let before = self.calls.take().filter(is_same);
        let Some(attempt) = self.state.attempt(called.attempt) else { return Ok(()) };
        if called.verdict != Verdict::Allowed
            || attempt.stop.is_some()
            || self.state.is_asking(attempt)
        {
            return Ok(());
        }
        let count = before.map_or(0, |(_, count)| count) + 1;
        let phase = self.state.phase_at(&attempt.intent.place);
        let limit = phase.map_or(0, |phase| phase.limits.repeats);
        ensure(limit == 0 || count <= limit, || {
            format!(
                "{} may call `{}` {count} times, {limit} are allowed",
                called.attempt, called.tool
            )
        })?;
        self.calls = Some((called.clone(), count));
        Ok(())
    }

    /// No call that needs leave runs without a person's yes to that very call, and one yes for one call lets one run.
    fn judge_leave(&mut self, event: &Event) -> Checked {
        let (Event::ToolCalled(called), state) = (event, &self.state) else { return Ok(()) };
        if called.verdict != Verdict::Allowed || !matches!(called.judged, Judgement::Ask { .. }) {
            return Ok(());
        }
        let (id, tool) = (called.attempt, &called.tool);
        let said = called.gate.and_then(|gate| Some((gate, self.grants.get(&gate)?)));
        let Some((gate, (sum, scope, place))) = said else {
            return Err(format!(
                "{id} may call `{tool}`, and nobody said yes at {:?}",
                called.gate
            ));
        };
        ensure(Some(*sum) == called.sum, || {
            format!("{id} runs another call than {gate} was about")
        })?;
        let here = state.attempt(id).map(|attempt| attempt.intent.place.clone());
        ensure(*scope == GrantScope::Run || here.as_ref() == Some(place), || {
            format!("{id} at {here:?} uses the yes of {gate} at `{place}`")
        })?;
        ensure(*scope != GrantScope::Once || self.used.insert(gate), || {
            format!("{id} uses the yes of {gate} once more")
        })
    }

    /// The work of each folder comes into the project once.
    fn judge_pool(&mut self, event: &Event) -> Checked {
        match event {
            Event::MergeWritten(written)
                if written.into.is_project()
                    && written.late.is_empty()
                    && written.error.is_none() =>
            {
                self.is_taken(written.folder)?;
                ensure(self.merged.insert(written.folder), || {
                    format!("folder {} is merged twice", written.folder)
                })
            }
            // From here on it is as it was then.
            Event::Rewound { .. } => {
                self.merged.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Of a race, only the work of the one that was taken comes into the project.
    fn is_taken(&self, folder: u32) -> Checked {
        let Some((place, step)) = self.state.step_in(folder) else { return Ok(()) };
        let race = self.state.pools.get(place).filter(|pool| pool.race.is_some());
        let is_taken = |race: &Pool| race.winner().is_some_and(|it| it.id == step.id);
        ensure(race.is_none_or(|race| is_taken(race)), || {
            format!("`{}` of the race `{place}` is merged, and was not taken", step.id)
        })
    }

    /// A pool that is complete has lost no step, and a race has the work of one.
    fn has_no_gap(&self, event: &Event) -> Checked {
        let Event::PoolEnded { place, outcome, .. } = event else { return Ok(()) };
        let pool = self.state.pools.get(place).filter(|_| outcome.as_str() == COMPLETE);
        if let Some(race) = pool.filter(|pool| pool.race.is_some()) {
            let is_whole = race.winner().is_some_and(|it| it.stage == StepStage::Done);
            return ensure(is_whole, || format!("the race `{place}` is complete without a result"));
        }
        let mut steps = pool.into_iter().flat_map(|pool| &pool.steps);
        let gap = steps.find(|step| !step.stage.is_done());
        ensure(gap.is_none(), || format!("`{place}` is complete without {gap:?}"))
    }

    /// No slot has two steps, and one merge at a time changes the project.
    fn check_pools(&self) -> Checked {
        for (place, pool) in self.state.pools.iter().filter(|(_, pool)| !pool.left) {
            let most = self.state.phase_at(place).map_or(0, Phase::slots);
            let mut taken = BTreeSet::new();
            for slot in pool.steps.iter().filter_map(|step| step.slot) {
                ensure((1..=most).contains(&slot) && taken.insert(slot), || {
                    format!("slot {slot} of {most} is taken twice at `{place}`")
                })?;
            }
            let over =
                pool.steps.iter().find(|step| step.stage.is_settled() && step.slot.is_some());
            ensure(over.is_none(), || format!("{over:?} is over in a slot"))?;
        }
        let writing = self.state.merges().filter(|(.., it)| it.at == MergeStage::Writing).count();
        ensure(writing <= 1, || format!("{writing} merges are written at once"))
    }

    fn judge_answer(&mut self, line: &Line, id: GateId, answer: &GateAnswer) -> Checked {
        let gate = self.state.gate(id).map(|gate| gate.opened.gate_kind);
        let is_call = gate == Some(GateKind::Permission);
        // A gate for a call that nobody will make any more closes by itself.
        let by_itself = is_call && *answer == GateAnswer::Withdrawn;
        ensure(by_itself || matches!(line.by.actor, Actor::Person(_)), || {
            format!("{id} was answered by {:?}", line.by.actor)
        })?;
        ensure(self.answered.insert(id), || format!("{id} was answered twice"))?;
        if let (Some(gate), GateAnswer::Allowed(scope)) = (self.state.gate(id), answer)
            && let Some(asks) = &gate.opened.asks
        {
            let place = gate.opened.place.clone();
            self.grants.insert(id, (asks.call.sum, *scope, place));
        }
        if let Some(gate) = self.state.gate(id)
            && matches!(answer, GateAnswer::Rejected | GateAnswer::Retry)
            && !is_call
        {
            self.left.remove(&gate.opened.place.frame());
        }
        Ok(())
    }

    /// Usage never falls, grows by no more than was reported, and is exact where the agent is.
    fn after(&mut self, line: &Line, before: &Usage) -> Checked {
        let mut steps = self.state.pools.values().flat_map(|pool| &pool.steps);
        if steps.any(|step| step.sent_back > 0) {
            self.met.meet(Trouble::SentBack);
        }
        line.events.iter().try_for_each(|event| self.has_no_gap(event))?;
        let now = self.state.usage;
        let mut reported = 0u64;
        for event in &line.events {
            let Event::UsageReported { attempt, scope, usage, .. } = event else { continue };
            reported += usage.tokens();
            let session = self.state.attempt(*attempt).map(|attempt| &attempt.intent.session);
            let Some(session) = session.filter(|session| !self.liars.contains(session)) else {
                continue;
            };
            let sum = self.state.sessions.get(session).map_or(0, |session| session.sum().tokens());
            ensure(*scope != Scope::Session || sum == usage.tokens(), || {
                format!("session {session} used {} and is counted with {sum}", usage.tokens())
            })?;
        }
        ensure(now.tokens() >= before.tokens(), || {
            format!("usage fell from {before:?} to {now:?}")
        })?;
        ensure(now.tokens() - before.tokens() <= reported, || {
            format!("usage grew from {before:?} to {now:?} with {reported} reported")
        })
    }

    /// The state before an attempt gets other walls. Nobody has started it.
    fn to_be_rewalled(&self, line: &Line) -> Result<Option<(AttemptId, State)>, String> {
        let [Event::AttemptRewalled(rewalled)] = &line.events[..] else { return Ok(None) };
        let id = rewalled.attempt;
        ensure(!self.started.contains(&id), || format!("{id} works, and gets other walls"))?;
        Ok(Some((id, self.state.clone())))
    }

    /// With other walls it is the same attempt: nothing is counted again, and nothing forgotten.
    fn is_only_rewalled(&self, rewalled: Option<(AttemptId, State)>) -> Checked {
        let Some((id, before)) = rewalled else { return Ok(()) };
        let now = &self.state;
        let counted = (&now.frames, &now.places, &now.sessions, &now.budgets, &now.live)
            == (&before.frames, &before.places, &before.sessions, &before.budgets, &before.live);
        let attempts = now.attempts.len() == before.attempts.len();
        let (Some(then), Some(attempt)) = (before.attempt(id), now.attempt(id)) else {
            return Err(format!("nobody knows {id}, which gets other walls"));
        };
        let mut same = attempt.clone();
        same.intent.walls.clone_from(&then.intent.walls);
        same.intent.handover.clone_from(&then.intent.handover);
        ensure(counted && attempts && same == *then, || {
            format!("{id} gets more than other walls: {then:#?} {attempt:#?}")
        })?;
        ensure(!now.has_other_walls(attempt), || format!("{id} has other walls still"))
    }

    fn check_state(&self) -> Checked {
        let state = &self.state;
        ensure(
            state.status() != Status::Running || state.run.is_none() || !state.due().is_empty(),
            || format!("running, and nothing is due: {:#?}", state.frames),
        )?;
        let sessions = state.sessions.values().map(|session| session.sum().tokens()).sum::<u64>();
        let attempts = state.attempts.iter().map(|attempt| attempt.usage.tokens()).sum::<u64>();
        let places = state.places.values().map(|tally| tally.usage.tokens()).sum::<u64>();
        let all = state.usage.tokens();
        let known = sessions == all && attempts == all
            || state.attempts.forgotten() > 0 && sessions.max(attempts) <= all;
        ensure(known && places == all, || {
            format!(
                "{all} used in all, {sessions} by session, {attempts} by attempt, {places} by place"
            )
        })?;
        let mut frames = BTreeSet::new();
        for attempt in state.live_attempts() {
            ensure(frames.insert(attempt.intent.place.frame()), || {
                format!("two live attempts at `{}`", attempt.intent.place)
            })?;
        }
        self.check_pools()?;
        state.frames.values().try_for_each(|frame| self.check_counters(frame))
    }

    fn check_counters(&self, frame: &Frame) -> Checked {
        let Some(phase) = self.state.phase_at(&frame.place()) else { return Ok(()) };
        let (counters, limits) = (&frame.worker.counters, &phase.limits);
        let within = counters.nudges <= limits.nudges
            && counters.retries <= limits.retries
            && counters.losses <= limits.losses + 1
            && counters.continuations <= limits.continuations
            && frame.stack.len() <= limits.depth as usize;
        ensure(within, || format!("{counters:?} at `{}` beyond {limits:?}", frame.place()))?;
        let max = limits.loops.max + frame.more_rounds;
        for edge in &frame.edges {
            let count = self.rounds(frame, edge, limits.loops.count);
            ensure(count <= max, || format!("{edge:?} taken {count} times"))?;
        }
        Ok(())
    }

    /// What an edge counts for. The way that leads round to an edge which is counted by itself is free.
    fn rounds(&self, frame: &Frame, edge: &EdgeCount, count: LoopCount) -> u32 {
        let workflow = self.state.workflow(&frame.workflow);
        let by_itself = |from: &PhaseId, to: &PhaseId| {
            workflow.and_then(|it| it.phase(from)).is_some_and(|phase| {
                phase.on.values().any(|on| on == to) || !allowed_targets(phase).contains(to)
            })
        };
        let is_end = ["done", "human_intervention"].contains(&edge.to.as_str());
        let back = if edge.from == edge.to { 0 } else { frame.taken(&edge.to, &edge.from) };
        match count {
            _ if is_end => 0,
            _ if by_itself(&edge.from, &edge.to) => edge.taken,
            // Without a way straight back there may be a longer one, of whatever edges.
            _ if back == 0 || by_itself(&edge.to, &edge.from) => 0,
            LoopCount::Pair => edge.taken + back,
            LoopCount::Edge => edge.taken,
        }
    }

    /// An agent is about to be started, by a supervisor whose machine has these walls.
    pub(super) fn start(&mut self, intent: &AttemptStarted, found: Option<&WallsFound>) -> Checked {
        let id = intent.attempt;
        let known = self.state.attempt(id);
        let run = self.state.run.as_ref().and_then(|run| run.walls.as_ref());
        // One that did not look goes by what the first one found. What is required is not given up by a flag.
        let found = found.or_else(|| run.map(|walls| &walls.found));
        let is_required = run.is_some_and(|walls| walls.said.require);
        let found = found.filter(|found| !found.off || is_required);
        let layers = found.map(|found| (found.namespaces, found.landlock));
        let walls = intent.walls.as_ref().map(|walls| (walls.namespaces, walls.landlock));
        ensure(walls == layers, || format!("{id} starts behind {walls:?}, here is {layers:?}"))?;
        ensure(known.is_some_and(|attempt| attempt.ended.is_none()), || {
            format!("{id} is started, and the disk does not say so")
        })?;
        ensure(self.started.insert(id), || format!("{id} is started twice"))
    }

    /// A command is about to be run.
    pub(super) fn command(
        &mut self,
        place: &Place,
        try_number: u32,
        index: u32,
        once: bool,
    ) -> Checked {
        let count = self.commands.entry((place.clone(), try_number, index)).or_default();
        *count += 1;
        let count = *count;
        ensure(!once || count == 1, || {
            format!("command {index} of `{place}`, to be run once, runs for the {count}. time")
        })
    }
}

/// How long the first line is, if it is whole.
fn whole_line(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    let length = rest.skip_until(b'\n').ok()?;
    bytes[..length].ends_with(b"\n").then_some(length)
}

/// How the line ends that has this sum.
fn closing(head: &Head) -> [u8; SUM_DIGITS + 3] {
    let mut end = [b'"'; SUM_DIGITS + 3];
    end[..SUM_DIGITS].copy_from_slice(&head.sum.hex());
    end[SUM_DIGITS + 1..].copy_from_slice(b"}\n");
    end
}

/// Whatever a line names is on disk when the line is.
fn texts_are_there(disk: &Simulated, line: &Line) -> Checked {
    for event in &line.events {
        let (attempt, handed) = match event {
            Event::AttemptStarted(intent) => (intent.attempt, &intent.handover),
            Event::AttemptRewalled(rewalled) => (rewalled.attempt, &rewalled.handover),
            _ => continue,
        };
        let handed = handed.iter().flat_map(|it| [Some(&it.text), it.rest.as_ref()]);
        let is_in_line = |name: &&String| {
            line.texts.iter().any(|text| blake3::hash(text.as_bytes()).to_hex().as_str() == *name)
        };
        for name in handed.flatten().filter(|name| !is_in_line(name)) {
            let path = Path::new(LEDGER).with_file_name("artifacts").join(name);
            let sum = blake3::hash(&disk.synced(&path, 0)).to_hex();
            ensure(sum.as_str() == name, || format!("{attempt} has lost what it was told"))?;
        }
    }
    Ok(())
}
