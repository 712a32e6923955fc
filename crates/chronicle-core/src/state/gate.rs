//! Gates: what a person is asked, and what their answer changes.

use serde::{Deserialize, Serialize};

use super::anomaly::Impossible;
use super::stages::{answered, checked};
use super::{Check, Facts, Frame, Stage, number};
use crate::base::ids::{Cause, GateId, Outcome, REJECTED};
use crate::base::time::Millis;
use crate::event::notice::About;
use crate::event::{GateAnswer, GateKind, GateOpened};

/// A gate, open or answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// The event that opened it.
    pub opened: GateOpened,
    /// Time when it opened.
    pub at: Millis,
    /// The answer, the person's user name, and the time.
    pub answered: Option<(GateAnswer, String, Millis)>,
    /// The person's note; may be empty.
    pub note: String,
    /// True if the live worker that waited for it received the answer.
    pub told: bool,
}

/// What a person said beside their answer.
pub(super) struct Spoken<'e> {
    pub(super) who: &'e str,
    pub(super) note: &'e str,
    /// Who is to work from now on.
    pub(super) agent: &'e Option<String>,
    /// The command to begin with, from 1.
    pub(super) from: &'e Option<u32>,
}

impl Facts {
    /// Nobody waits for the answer any more, so that nobody is told it later.
    fn forget_question(&mut self, opened: &GateOpened) {
        if let Some(asker) = &opened.asker {
            self.change(asker.attempt, |attempt| {
                attempt.asking.retain(|(_, asked)| *asked != opened.gate);
            });
        }
        self.change_frame(&opened.place.frame(), |frame| {
            frame.questions.retain(|asked| *asked != opened.gate);
        });
    }

    pub(super) fn open_gate(&mut self, cause: Cause, at: Millis, opened: &GateOpened) {
        let gate =
            Gate { opened: opened.clone(), at, answered: None, note: String::new(), told: false };
        self.gates.push(gate);
        self.forget_gates();
        if self.concerns_own(opened) {
            self.ask_at_own(Some(opened.gate));
            // The run is over: no frame of it is held.
            return self.owe(cause, About::Gate(opened.gate));
        }
        let is_call = opened.gate_kind == GateKind::Permission;
        // A call that waits is held by an event of its own: another attempt may wait at the same gate later.
        if let Some(asker) = opened.asker.as_ref().filter(|_| !is_call) {
            self.change(asker.attempt, |attempt| {
                attempt.asking.push((asker.request.clone(), opened.gate));
                attempt.cancel_asked = false;
            });
        }
        if let Some(step) = &opened.step {
            self.ask_at_step(&opened.place, step, opened.gate);
            // Only that step waits, so no frame is held.
            return self.owe(cause, About::Gate(opened.gate));
        }
        self.change_frame(&opened.place.frame(), |frame| {
            if opened.gate_kind == GateKind::Question {
                frame.questions.push(opened.gate);
            }
            if is_call {
                frame.permissions.gates.push(opened.gate);
            }
            // Who waits without leaving still works.
            if opened.asker.is_none() {
                let held = Box::new(frame.stage.hold());
                frame.stage = Stage::Gated { gate: opened.gate, held };
            }
        });
        // In the fold and not as an effect of its own: after a crash the notice is still owed.
        self.owe(cause, About::Gate(opened.gate));
    }

    pub(super) fn answer_gate(
        &mut self,
        cause: Cause,
        at: Millis,
        id: GateId,
        answer: &GateAnswer,
        &Spoken { who, note, agent, from }: &Spoken<'_>,
    ) {
        let is_answered = self.gates.get(number(id.0)).map(|gate| gate.answered.is_some());
        match is_answered {
            Some(false) => self.remark_at_gate(id, answer, who, note),
            Some(true) => return self.impossible(Impossible::AnsweredGate(id)),
            None => return self.impossible(Impossible::Gate(id)),
        }
        let Some(gate) = self.gates.get_mut(number(id.0)) else { return };
        gate.answered = Some((answer.clone(), who.to_owned(), at));
        note.clone_into(&mut gate.note);
        let (frame, opened) = (gate.opened.place.frame(), gate.opened.clone());
        if self.concerns_own(&opened) {
            return self.ask_at_own(None);
        }
        if opened.gate_kind == GateKind::Permission {
            self.rule(&opened, answer, who, note);
            if *answer != GateAnswer::Withdrawn {
                self.renew(cause, &opened.place);
            }
            // No frame was held by it, and its phase may be left by now.
            return;
        }
        if let Some(step) = &opened.step {
            return self.answer_at_step(&opened, step, answer);
        }
        if *answer == GateAnswer::Withdrawn {
            self.forget_question(&opened);
        }
        let rejected = Outcome::from(REJECTED);
        let phase = self.phase_at(&opened.place);
        let has_edge = phase.is_some_and(|phase| phase.on.contains_key(&rejected));
        self.change_frame(&frame, |frame| {
            // The worker that asked still works and takes the answer itself. Its frame was never held.
            if opened.asker.is_some() {
                return;
            }
            let Stage::Gated { held, .. } = std::mem::replace(&mut frame.stage, Stage::Bound)
            else {
                return;
            };
            frame.stage = match (answer, &*held) {
                // The workflow says where a no leads; without that, the worker hears it and goes on.
                (GateAnswer::Rejected, Stage::Left(_)) if has_edge => {
                    Stage::Refused { note: note.to_owned() }
                }
                // The work is done and only its verification is missing, unless the person names another agent for the work.
                (GateAnswer::Retry, Stage::Left(way))
                    if way.check.is_unstarted() && agent.is_none() && from.is_none() =>
                {
                    checked(*held, Check::Due)
                }
                _ => answered(*held, &opened, answer, note),
            };
            if *answer == GateAnswer::Retry {
                frame.begin_again(agent.as_ref(), *from);
            }
        });
        // A worker that takes its question back must not renew its own allowance that way.
        if *answer != GateAnswer::Withdrawn {
            self.renew(cause, &opened.place);
        }
    }
}

impl Frame {
    /// A person asks for another try, perhaps with another agent or from another command.
    fn begin_again(&mut self, agent: Option<&String>, from: Option<u32>) {
        let counters = &mut self.worker.counters;
        // What `renew` leaves alone. A person who asks for another try gives the whole allowance again.
        (counters.continuations, counters.unverified) = (0, 0);
        // Whoever asks for another try wants the first agent again, or the one that they name.
        self.worker.fallback = None;
        self.worker.begins_with = from;
        // A choice that they made before at this visit stays, unless they name another.
        self.agent = agent.cloned().or_else(|| self.agent.take());
    }
}
