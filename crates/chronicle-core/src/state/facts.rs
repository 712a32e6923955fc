//! What the record shows of the work: commands and how they ended, and what people said.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Attempt, Facts, OpenCall, Visit, number, v1_calls};
use crate::base::ids::{AttemptId, Cause, GateId, Place};
use crate::base::limits::{ANSWERS_MAX, COMMAND_MAX, COMMANDS_MAX, KEPT_MAX};
use crate::base::shell::CommandLine;
use crate::base::time::Millis;
use crate::event::claims::Unproven;
use crate::event::{GateAnswer, ToolCalled, Verdict};

/// Commands of one visit, each text once, the most recent last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Commands {
    /// The most recent ones.
    pub list: Vec<Ran>,
    /// How many earlier ones were dropped.
    pub forgotten: u32,
}

/// A command that was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// Text of the command, bounded.
    pub command: String,
    /// True if only a part of it is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Whether its last run succeeded; `None` if its end was not seen.
    pub ok: Option<bool>,
    /// How many times it was run.
    pub times: u32,
}

impl Ran {
    pub(super) fn line(&self) -> CommandLine {
        CommandLine { text: self.command.clone(), is_cut: self.is_cut }
    }
}

impl Commands {
    fn begin(&mut self, line: &CommandLine) {
        let CommandLine { text: command, is_cut } = line.shortened(COMMAND_MAX);
        let before = self.list.iter().position(|ran| ran.command == command);
        // Moved to the end: the list is in the order of the last time that each was run.
        let times = before.map_or(0, |index| self.list.remove(index).times);
        if self.list.len() >= COMMANDS_MAX {
            // Counted as forgotten: from then on the record cannot tell whether a command was run.
            self.list.remove(0);
            self.forgotten = self.forgotten.saturating_add(1);
        }
        // Its end is open again: that an earlier run of it succeeded says nothing about this one.
        self.list.push(Ran { command, is_cut, ok: None, times: times.saturating_add(1) });
    }

    /// The command that began last under one text is known by another.
    fn rename(&mut self, before: &CommandLine, line: &CommandLine) {
        let before = before.shortened(COMMAND_MAX).text;
        // Taken out and begun again under the new text: its end will be reported under that one.
        self.list.retain(|ran| ran.command != before);
        self.begin(line);
    }

    fn end(&mut self, line: &CommandLine, ok: bool) {
        let command = line.shortened(COMMAND_MAX).text;
        if let Some(ran) = self.list.iter_mut().find(|ran| ran.command == command) {
            ran.ok = Some(ok);
        }
    }
}

/// A command of a call that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCommand {
    /// Id of the call, as the agent gave it.
    pub call: String,
    /// The line that it runs, as far as it is known.
    pub line: CommandLine,
}

/// A person's words. A decision without words is only in its gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// The phase it was said about.
    pub place: Place,
    /// User name of the person.
    pub who: String,
    /// A note, or an answer to a gate.
    pub did: Did,
    /// The words themselves, bounded.
    pub text: String,
}

/// What a person did when they said something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Did {
    /// They sent a note.
    Noted,
    /// They answered a gate.
    Answered {
        /// The answer that they gave.
        answer: GateAnswer,
        /// What the gate had asked.
        about: String,
    },
}

impl Attempt {
    /// The command whose end is reported with that id. If several allowed calls share the id, the end could belong to any of
    /// them: then it proves nothing, and none of their commands counts as ended.
    fn ended_command(&self, call: &str) -> Option<&CommandLine> {
        let may_run = |open: &&OpenCall| open.id == call && open.verdict == Verdict::Allowed;
        // Two open calls of the same id: nobody can tell which one ended, so neither is proven.
        if self.calls.iter().filter(may_run).count() > 1 {
            return None;
        }
        self.running.iter().find(|open| open.call == call).map(|open| &open.line)
    }
}

impl Facts {
    /// Records a command that an agent is about to run.
    pub(super) fn run_command(&mut self, called: &ToolCalled) {
        // What was denied has not run: it proves nothing, and takes back nothing that was proven.
        if called.verdict != Verdict::Allowed {
            return;
        }
        let line = match (called.sum, &called.command) {
            (Some(_), Some(text)) => {
                Some(CommandLine { text: text.clone(), is_cut: called.command_cut })
            }
            (Some(_), None) => None,
            (None, _) => v1_calls::command(called),
        };
        let Some(line) = line else {
            return self
                .change_frame_of(called.attempt, |frame| frame.evidence.called(&called.tool));
        };
        // At the start too: a run that never ends takes back what an earlier run of the same command had proven.
        self.prove(called.attempt, &line, None);
        self.change_commands_of(called.attempt, |commands| commands.begin(&line));
        self.change(called.attempt, |attempt| {
            // As for open calls: an agent that reports no ends must not make the state grow.
            if attempt.running.len() >= ANSWERS_MAX {
                attempt.running.pop_front();
            }
            attempt.running.push_back(OpenCommand { call: called.call.clone(), line });
        });
    }

    /// Records that a call returned while what it started goes on: it is still open, and its command has not ended.
    pub(super) fn leave_call(&mut self, id: AttemptId, call: &str, active_ms: u64) {
        let mut followed = None;
        self.change(id, |attempt| {
            let mut written = None;
            for open in attempt.calls.iter_mut().filter(|open| open.id == call) {
                open.in_background = true;
                written = written.or(open.written.take());
            }
            let running = attempt.running.iter_mut().find(|open| open.call == call);
            if let (Some(running), Some(written)) = (running, written) {
                let line = CommandLine::whole(written);
                followed = Some((std::mem::replace(&mut running.line, line.clone()), line));
            }
        });
        self.work(id, active_ms);
        if let Some((before, line)) = followed {
            // Its end will be seen, so the doubt about a command that nobody waits for is gone. Nothing is proven before that.
            self.prove(id, &line, None);
            self.change_commands_of(id, |commands| commands.rename(&before, &line));
        }
    }

    /// Records how a call ended, and the command that it ran.
    pub(super) fn end_call(
        &mut self,
        id: AttemptId,
        call: &str,
        ok: bool,
        at: Millis,
        active_ms: u64,
    ) {
        // Looked up before the call is dropped from those that are open, since that is where its command is.
        let ended = self.attempt(id).and_then(|attempt| attempt.ended_command(call)).cloned();
        self.change(id, |attempt| {
            // All of that id: an agent that uses one twice cannot say which has ended, and an open call would keep its hands
            // on files.
            attempt.calls.retain(|open| open.id != call);
            attempt.running.retain(|open| open.call != call);
            // Hands are off a file only when no open call can change it any more.
            let open = attempt.calls.iter().filter(|open| open.changes);
            let open: Vec<Option<&String>> = open.map(|open| open.path.as_ref()).collect();
            attempt.hands.end(at, |path| open.contains(&path));
        });
        self.work(id, active_ms);
        if let Some(line) = ended {
            self.prove(id, &line, Some(ok));
            self.change_commands_of(id, |commands| commands.end(&line, ok));
        }
    }

    /// Records a command that the phase requires.
    fn prove(&mut self, id: AttemptId, line: &CommandLine, ok: Option<bool>) {
        let place = self.attempt(id).map(|attempt| &attempt.intent.place);
        let demands = place.and_then(|place| Some(self.phase_at(place)?.requires.clone()));
        let project = self.project().to_owned();
        self.change_frame_of(id, |frame| {
            frame.evidence.ran(line, ok, &demands.unwrap_or_default(), &project);
        });
    }

    /// Absolute path of the project's folder; empty before the run started.
    pub(crate) fn project(&self) -> &str {
        self.run.as_ref().map_or("", |run| &run.project)
    }

    /// Records a command of a command phase, or a `verify` or `cleanup` command.
    pub(super) fn ran_command(&mut self, id: AttemptId, index: u32, code: Option<i32>) {
        let Some(intent) = self.attempt(id).map(|attempt| &attempt.intent) else { return };
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        // The text comes from the workflow and not from the report, which only has the command's number.
        let command = match &intent.chore {
            Some(chore) => chore.commands.get(index),
            None => self.phase_at(&intent.place).and_then(|phase| phase.commands.get(index)),
        };
        let Some(line) = command.cloned().map(CommandLine::whole) else { return };
        self.change_commands_of(id, |commands| {
            commands.begin(&line);
            commands.end(&line, code == Some(0));
        });
    }

    /// The last visit of a place.
    pub(crate) fn visit_at(&self, place: &Place) -> Option<&Visit> {
        let tally = self.tally(place).filter(|tally| tally.visits > 0)?;
        self.visits.get(tally.last_visit).map(Arc::as_ref)
    }

    fn change_commands_of(&mut self, id: AttemptId, with: impl FnOnce(&mut Commands)) {
        if let Some(place) = self.attempt(id).map(|attempt| attempt.intent.shown_place().clone()) {
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

    pub(super) fn change_file(&mut self, cause: Cause, id: AttemptId, path: &str) {
        self.change_frame_of(id, |frame| frame.evidence.wrote(path));
        self.stir(cause, id);
    }

    pub(super) fn doubt(&mut self, said: &Unproven) {
        self.change_visit(&said.place, |visit| visit.unproven.clone_from(&said.claims));
    }

    /// A person's words at a gate: their answer to a question, otherwise their note.
    pub(super) fn remark_at_gate(
        &mut self,
        id: GateId,
        answer: &GateAnswer,
        who: &str,
        note: &str,
    ) {
        let Some(known) = self.gates.get(number(id.0)) else { return };
        let text = if let GateAnswer::Said(said) = answer { said.as_str() } else { note };
        let (answer, about) = (answer.clone(), known.opened.about.clone());
        self.remark(known.opened.place.clone(), who, Did::Answered { answer, about }, text);
    }

    pub(super) fn remark(&mut self, place: Place, who: &str, did: Did, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let (who, text) = (who.to_owned(), text.to_owned());
        self.remarks.push(Remark { place, who, did, text });
        // The newest are kept, as handovers tell them. The ledger has them all.
        self.remarks.forget(KEPT_MAX, |_, _| false);
    }
}
