//! What the record itself shows of the work: commands and how they ended, and what people said.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Facts, Visit, number};
use crate::base::ids::{AttemptId, Place};
use crate::base::limits::{ANSWERS_MAX, COMMAND_MAX, COMMANDS_MAX, KEPT_MAX, bounded};
use crate::base::shell;
use crate::base::usage::Usage;
use crate::event::{Event, GateAnswer, ToolCalled, Verdict};

/// Commands of one visit, each text once, the one that ran last at the end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Commands {
    /// The latest.
    pub list: Vec<Ran>,
    /// How many earlier ones are not known any more.
    pub forgotten: u32,
}

/// A command that was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// Its text, bounded.
    pub command: String,
    /// Whether it worked, the last time; none when nobody saw its end.
    pub ok: Option<bool>,
    /// How often it was run.
    pub times: u32,
}

impl Commands {
    fn begin(&mut self, command: &str) {
        let before = self.list.iter().position(|ran| ran.command == command);
        let times = before.map_or(0, |index| self.list.remove(index).times);
        if self.list.len() >= COMMANDS_MAX {
            self.list.remove(0);
            self.forgotten = self.forgotten.saturating_add(1);
        }
        let command = command.to_owned();
        self.list.push(Ran { command, ok: None, times: times.saturating_add(1) });
    }

    fn end(&mut self, command: &str, ok: bool) {
        if let Some(ran) = self.list.iter_mut().find(|ran| ran.command == command) {
            ran.ok = Some(ok);
        }
    }
}

/// What a person said: a decision without a word is in its gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// Where.
    pub place: Place,
    /// Who.
    pub who: String,
    /// What they did.
    pub did: Did,
    /// What they said with it.
    pub text: String,
}

/// What a person did when they said something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Did {
    /// They gave a note.
    Noted,
    /// They answered a gate.
    Answered {
        /// How.
        answer: GateAnswer,
        /// What it had asked.
        about: String,
    },
}

impl Facts {
    /// Takes down a command that an agent is about to run.
    pub(super) fn run_command(&mut self, called: &ToolCalled) {
        if called.verdict != Verdict::Allowed {
            return;
        }
        let Some(command) = shell::command_of(&called.tool, &called.input) else {
            return self
                .change_frame_of(called.attempt, |frame| frame.evidence.called(&called.tool));
        };
        self.prove(called.attempt, &command, None);
        self.change_commands_of(called.attempt, |commands| {
            commands.begin(&bounded(&command, COMMAND_MAX));
        });
        self.change(called.attempt, |attempt| {
            if attempt.running.len() >= ANSWERS_MAX {
                attempt.running.pop_front();
            }
            attempt.running.push_back((called.call.clone(), command));
        });
    }

    /// Takes down how a call ended, and the command that it ran.
    pub(super) fn end_call(&mut self, id: AttemptId, call: &str, ok: bool, active_ms: u64) {
        self.change(id, |attempt| attempt.calls.retain(|(open, _)| open != call));
        self.spend(id, &Usage::default(), active_ms);
        let running = self.attempt(id).map(|attempt| &attempt.running);
        let command = running.and_then(|all| all.iter().find(|(open, _)| open == call));
        if let Some((_, command)) = command.cloned() {
            self.prove(id, &command, Some(ok));
            self.change_commands_of(id, |commands| {
                commands.end(&bounded(&command, COMMAND_MAX), ok);
            });
            self.change(id, |attempt| attempt.running.retain(|(open, _)| open != call));
        }
    }

    /// Takes down a command for a phase that demands it.
    fn prove(&mut self, id: AttemptId, command: &str, ok: Option<bool>) {
        let place = self.attempt(id).map(|attempt| &attempt.intent.place);
        let demands = place.and_then(|place| Some(self.phase_at(place)?.requires.clone()));
        self.change_frame_of(id, |frame| {
            frame.evidence.ran(command, ok, &demands.unwrap_or_default());
        });
    }

    /// Takes down a command of a command phase, or of the way out.
    pub(super) fn ran_command(&mut self, id: AttemptId, index: u32, code: Option<i32>) {
        let Some(intent) = self.attempt(id).map(|attempt| &attempt.intent) else { return };
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let command = match &intent.chore {
            Some(chore) => chore.commands.get(index),
            None => self.phase_at(&intent.place).and_then(|phase| phase.commands.get(index)),
        };
        let Some(command) = command.map(|command| bounded(command, COMMAND_MAX)) else { return };
        self.change_commands_of(id, |commands| {
            commands.begin(&command);
            commands.end(&command, code == Some(0));
        });
    }

    /// The last visit of a place.
    pub(crate) fn visit_at(&self, place: &Place) -> Option<&Visit> {
        let tally = self.tally(place).filter(|tally| tally.visits > 0)?;
        self.visits.get(tally.last_visit).map(Arc::as_ref)
    }

    fn change_commands_of(&mut self, id: AttemptId, with: impl FnOnce(&mut Commands)) {
        if let Some(place) = self.attempt(id).map(|attempt| attempt.intent.place.clone()) {
            self.change_visit(&place, |visit| with(&mut visit.commands));
        }
    }

    fn change_visit(&mut self, place: &Place, with: impl FnOnce(&mut Visit)) {
        let tally = self.tally(place).filter(|tally| tally.visits > 0);
        let Some(last) = tally.map(|tally| tally.last_visit) else { return };
        if let Some(visit) = self.visits.get_mut(last) {
            with(visit);
        }
    }

    /// Takes down what an event shows of the work and of people, beside what follows from it.
    pub(super) fn take_down(&mut self, event: &Event) {
        match event {
            Event::FileChanged { attempt, path, .. } => {
                self.change_frame_of(*attempt, |frame| frame.evidence.wrote(path));
            }
            Event::ClaimsUnproven(said) => {
                self.change_visit(&said.place, |visit| visit.unproven.clone_from(&said.claims));
            }
            Event::GateAnswered { .. } | Event::NoteGiven { .. } => self.remark(event),
            _ => {}
        }
    }

    fn remark(&mut self, event: &Event) {
        let (place, who, did, text) = match event {
            Event::GateAnswered { gate, answer, who, note, .. } => {
                let Some(known) = self.gates.get(number(gate.0)) else { return };
                let text = match answer {
                    GateAnswer::Said(said) => said,
                    _ => note,
                };
                let (answer, about) = (answer.clone(), known.opened.about.clone());
                (known.opened.place.clone(), who, Did::Answered { answer, about }, text)
            }
            Event::NoteGiven { place, who, text, .. } => (place.clone(), who, Did::Noted, text),
            _ => return,
        };
        if text.trim().is_empty() {
            return;
        }
        self.remarks.push(Remark { place, who: who.clone(), did, text: text.clone() });
        self.remarks.forget(KEPT_MAX, |_, _| false);
    }
}
