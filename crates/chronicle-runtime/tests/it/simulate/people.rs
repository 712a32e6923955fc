//! People: they answer late, twice, wrongly or never, and rightly in the end.

use chronicle_core::base::ids::{AttemptId, GateId, PhaseId, Place, TreeId};
use chronicle_core::definition::budget::Resource;
use chronicle_core::definition::workflow::Budget;
use chronicle_core::event::budget::Lack;
use chronicle_core::event::input::{Answer, Command, Input, What};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::{GateAnswer, GateKind, GrantScope, LedgerRepaired};
use chronicle_core::state::{Gate, State};
use chronicle_runtime::for_tests::driver::Run;
use chronicle_runtime::for_tests::ledger::{Head, Ledger as _, LedgerError};

use super::figures::Trouble;
use super::oracle::{Checked, ensure};
use super::run::Sim;
use super::supervisor::{Message, Reply};

impl Sim<'_> {
    pub(super) fn somebody_asks(&mut self) -> Checked {
        let command = self.some_command();
        self.ask(command)
    }

    /// Through the supervisor if one drives the run, else into the ledger.
    pub(super) fn ask(&mut self, command: Command) -> Checked {
        let input = self.asked(command);
        if let Some(supervisor) = self.supervisors.last_mut() {
            supervisor.inbox.push_back(Message { input, reply: Reply::Person });
            return Ok(());
        }
        self.record(&input)
    }

    /// One that has every right to come, or any.
    fn some_command(&mut self) -> Command {
        let open = self.oracle.state.open_gates().next();
        if let Some(gate) = open.cloned()
            && self.rng.chance(40)
        {
            return self.right_command(&gate);
        }
        let note = String::new();
        let open = self.oracle.state.open_gates().next().map(|gate| gate.opened.gate);
        let gate = match self.rng.below(4) {
            0 => None,
            1 => Some(GateId(u32::try_from(self.rng.below(6)).unwrap_or(0))),
            _ => open,
        };
        match self.rng.below(100) {
            0..=14 => Command::Pause { reason: note },
            15..=29 => Command::Resume,
            30..=32 => Command::Cancel { reason: note },
            33..=50 => Command::Approve { gate, note, scope: None },
            51..=57 => Command::Answer { gate, text: "so".to_owned(), note: "gently".to_owned() },
            58 => Command::Skip { place: None, note },
            59 => Command::Merge { keep: false },
            60 => Command::Note { place: None, text: "mind it".to_owned() },
            61 => Command::Title { text: "second try".to_owned() },
            62..=72 => Command::Reject { gate, note },
            73..=86 => {
                let place = self.rng.chance(30).then(|| self.some_place());
                Command::Retry { place, note, agent: None, from: None }
            }
            87..=89 => Command::Go { place: self.some_place(), note },
            90 => Command::Skip { place: Some(self.some_place()), note },
            91 => Command::GiveUp { place: self.some_place(), note },
            92 => Command::Loops { place: None, more: 2 },
            93 => self.some_rewind(),
            94 => Command::Repair(LedgerRepaired { why: note, bytes: 0, file: None }),
            95 => Command::Start(Box::new(self.shape.start.clone())),
            96..=98 => {
                let (from, to) = (TreeId::from("now"), TreeId::from("then"));
                Command::Undo { what: "p0".to_owned(), from, to, back: None }
            }
            _ => {
                let (attempt, request) = (AttemptId(1), "r1".to_owned());
                Command::Signal { attempt, request, signal: Signal::Status }
            }
        }
    }

    /// Back to where it stood after some line, or was said to.
    fn some_rewind(&mut self) -> Command {
        let to = self.rng.below(self.oracle.head.seq + 2);
        let lines = self.stranger.read(Head::EMPTY).into_iter().flatten();
        let mut state = State::default();
        for (line, _) in lines.map_while(Result::ok).take_while(|(line, _)| line.seq <= to) {
            state.apply(&line);
        }
        Command::Rewind { to, carried: Box::new(state.carried()) }
    }

    fn some_place(&mut self) -> Place {
        let frames: Vec<_> = self.oracle.state.frames.keys().cloned().collect();
        let names = [
            "p0",
            "p1",
            "p2",
            "p3",
            "q0",
            "q1",
            "a",
            "clash",
            "work",
            "done",
            "nowhere",
            "human_intervention",
        ];
        let phase = PhaseId::from(*self.rng.pick(&names).unwrap_or(&"p0"));
        match self.rng.pick(&frames) {
            Some(frame) => frame.place(&phase),
            None => Place::new("p0"),
        }
    }

    /// Decides and writes, performs nothing.
    fn record(&mut self, input: &Input) -> Checked {
        let who = self.holder("recorded");
        let (process, folder) = self.process();
        let mut run = match Run::open(&folder, who, None) {
            Ok(run) => run,
            Err(error) => return self.cannot_open(&process, &error),
        };
        self.disk.garbled = false;
        let before = run.head();
        let torn = run.torn().map_or(Ok(()), |torn| run.step(&torn).map(drop));
        let stepped = torn.and_then(|()| run.step(input)).and_then(|(answer, line)| {
            if let Some(line) = line {
                self.oracle.wrote(run.head(), line);
            }
            if run.head() == before { Ok(answer) } else { run.sync().map(|()| answer) }
        });
        let answer = match stepped {
            Ok(answer) => answer,
            Err(_) if process.is_dead() => return Ok(()),
            Err(LedgerError::Full { .. } | LedgerError::Io { .. } | LedgerError::Denied { .. })
                if self.disk.failing =>
            {
                return Ok(());
            }
            Err(error) => return Err(format!("a person cannot write: {error}")),
        };
        self.tell(|| format!("recorded {:?} -> {answer:?}", input.what));
        self.oracle.catch_up(&self.platter)?;
        self.oracle.agree(run.state(), run.head())?;
        self.deliver(&Reply::Person, input, &answer, false)
    }

    /// Answers the oldest gate so that the run goes on.
    pub(super) fn answer_rightly(&mut self) -> Checked {
        let state = &self.oracle.state;
        let Some(gate) = state.open_gates().next() else {
            return Err(format!("waiting, and for nobody: {:#?}", state.frames));
        };
        let (id, command) = (gate.opened.gate, self.right_command(gate));
        // A ledger that must be cut first is asked again.
        let (before, garbled) = (self.oracle.head.seq, self.disk.garbled);
        self.ask(command)?;
        if !self.supervisors.is_empty() {
            self.work(self.supervisors.len() - 1)?;
        }
        ensure(garbled || self.oracle.head.seq > before, || format!("{id} cannot be answered"))
    }

    fn right_command(&self, gate: &Gate) -> Command {
        let (id, note) = (gate.opened.gate, String::new());
        match gate.opened.gate_kind {
            GateKind::ApprovalBefore | GateKind::ApprovalAfter => {
                Command::Approve { gate: Some(id), note, scope: None }
            }
            // Each reach in turn.
            GateKind::Permission => {
                let reach = [GrantScope::Once, GrantScope::Phase, GrantScope::Run];
                let scope = reach.get(id.0 as usize % 4).copied();
                match scope {
                    None => Command::Reject { gate: Some(id), note },
                    scope => Command::Approve { gate: Some(id), note, scope },
                }
            }
            // One side wins, or it is tried again: each leads on.
            GateKind::Conflict => {
                let options = &gate.opened.options;
                let side = options.iter().find(|option| *option == "theirs");
                let text = side.or(options.first()).cloned().unwrap_or_default();
                Command::Answer { gate: Some(id), text, note }
            }
            GateKind::Question => {
                let first = gate.opened.options.first().filter(|_| gate.opened.closed);
                let text = first.cloned().unwrap_or_else(|| "so".to_owned());
                Command::Answer { gate: Some(id), text, note }
            }
            GateKind::Budget => Command::Budget { place: None, more: more(gate.opened.lack) },
            GateKind::Intervention if gate.opened.lack == Some(Lack::Rounds) && id.0 % 2 == 0 => {
                Command::Loops { place: Some(gate.opened.place.clone()), more: 1 }
            }
            GateKind::Intervention => Command::Go { place: self.way_on(&gate.opened.place), note },
        }
    }

    fn way_on(&self, place: &Place) -> Place {
        let frame = self.oracle.state.frames.get(&place.frame());
        let workflow = frame.map_or("", |frame| frame.workflow.as_str());
        place.frame().place(&self.shape.toward(workflow, &place.phase()))
    }

    /// Gives an answer to whoever waits for it: what it says must be on disk by now.
    pub(super) fn deliver(
        &mut self,
        reply: &Reply,
        input: &Input,
        answer: &Answer,
        overtaken: bool,
    ) -> Checked {
        let What::Command(command) = &input.what else { return Ok(()) };
        match (reply, command) {
            // An overtaken one may answer from what it knew, as long as it changes nothing.
            _ if overtaken => Ok(()),
            (Reply::Worker(id, request), Command::Signal { signal, .. }) => {
                self.hear(*id, request, signal, answer)
            }
            (Reply::Pretender(id), _) => Self::hear_no(*id, answer),
            (Reply::Worker(..) | Reply::Person | Reply::Nobody, _) => {
                self.keeps_word(command, answer)
            }
        }
    }

    fn keeps_word(&mut self, command: &Command, answer: &Answer) -> Checked {
        let state = &self.oracle.state;
        if !matches!(answer, Answer::Accepted(_)) {
            if matches!(
                command,
                Command::Approve { .. } | Command::Reject { .. } | Command::Answer { .. }
            ) {
                self.figures.meet(Trouble::Answered);
            }
            return Ok(());
        }
        let answered = |id: GateId| {
            state
                .gate(id)
                .and_then(|gate| gate.answered.as_ref())
                .map(|(answer, ..)| answer.clone())
        };
        let holds = match command {
            Command::Start(_) => state.run.is_some(),
            Command::Cancel { .. } => state.cancelled.is_some(),
            Command::Approve { gate: Some(id), .. } => {
                matches!(answered(*id), Some(GateAnswer::Approved | GateAnswer::Allowed(_)))
            }
            Command::Reject { gate: Some(id), .. } => answered(*id) == Some(GateAnswer::Rejected),
            Command::Answer { gate: Some(id), .. } => {
                matches!(answered(*id), Some(GateAnswer::Said(_)))
            }
            Command::Signal { .. } => false,
            _ => true,
        };
        ensure(holds, || format!("{command:?} was answered {answer:?}, and the disk knows nothing"))
    }
}

/// As much as is lacking, and far more.
fn more(lack: Option<Lack>) -> Budget {
    const MUCH: u64 = 1_000_000_000;
    match lack {
        Some(Lack::More(Resource::Usd)) => Budget { usd_micros: Some(MUCH), ..Budget::default() },
        Some(Lack::More(Resource::Time)) => Budget { time_ms: Some(MUCH), ..Budget::default() },
        Some(Lack::More(Resource::Attempts)) => {
            Budget { attempts: Some(1_000), ..Budget::default() }
        }
        Some(Lack::More(Resource::Tokens) | Lack::Price | Lack::Rounds) | None => {
            Budget { tokens: Some(MUCH), ..Budget::default() }
        }
    }
}
