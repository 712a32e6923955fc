//! What a good agent does: it asks before each tool, changes files, reports usage, signals.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use chronicle_core::base::limits::bounded;
use chronicle_core::event::signal::{self, Signal};
use chronicle_runtime::handle;
use serde_json::{Value, json};

use super::files::{self, ChangeWord};
use super::play::{Player, Then};
use super::session::Begun;
use super::step::{
    Ask, Complete, Edit, FileText, Followup, Need, Next, Partial, Quota, Tool, Transition,
    UsageStep,
};
use super::{Stop, talk::Reply};

/// Longest output of a tool that is reported.
const OUTPUT_MAX: usize = 64_000;

/// What a signal says that must say something.
const NO_CONTEXT: &str = "nothing more is known";

/// Whether a tool may run.
enum Permit {
    Granted,
    Refused(Then),
}

impl Player<'_> {
    pub(super) fn tool(&mut self, tool: &Tool) -> Result<Then, Stop> {
        // As an agent does that asks nobody: it reports a call that has been made already.
        if tool.unasked {
            let id = self.session.step_id();
            self.talk.send(
                &json!({"type": "tool_call", "id": id, "tool": tool.name, "input": tool.input}),
            )?;
        } else if let Permit::Refused(then) = self.permission(&tool.name, &tool.input)? {
            return Ok(then);
        }
        self.tool_end(!tool.fails, &tool.output)
    }

    pub(super) fn write(&mut self, step: &FileText) -> Result<Then, Stop> {
        let input = json!({"path": step.path, "content": step.text});
        self.change("write", &step.path, &input, |file, begun| {
            files::write(file, step, begun.before).map(Ok)
        })
    }

    pub(super) fn append(&mut self, step: &FileText) -> Result<Then, Stop> {
        let input = json!({"path": step.path, "append": step.text});
        self.change("edit", &step.path, &input, |file, begun| {
            files::append(file, step, begun.before).map(Ok)
        })
    }

    pub(super) fn edit(&mut self, step: &Edit) -> Result<Then, Stop> {
        let input = json!({"path": step.path, "find": step.find, "replace": step.replace});
        self.change("edit", &step.path, &input, |file, begun| {
            files::edit(file, step, begun.repeated)
        })
    }

    pub(super) fn delete(&mut self, path: &str) -> Result<Then, Stop> {
        let input = json!({"path": path});
        self.change("delete", path, &input, |file, begun| files::delete(file, path, begun.repeated))
    }

    pub(super) fn shell(&mut self, command: &str) -> Result<Then, Stop> {
        if let Permit::Refused(then) = self.permission("bash", &json!({"command": command}))? {
            return Ok(then);
        }
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(&self.project)
            // The agent's own input is the protocol: a command that reads it would swallow the supervisor's answers.
            .stdin(Stdio::null())
            .output()
            .map_err(Stop::io(format!("run `{command}`")))?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        self.tool_end(output.status.success(), &text)
    }

    pub(super) fn usage(&mut self, step: &UsageStep) -> Result<(), Stop> {
        // The step's own id, so that a report repeated after a kill replaces the first.
        let id = step.id.clone().unwrap_or_else(|| self.session.step_id());
        self.talk.send(&without_null(json!({
            "type": "usage", "of": step.of.word(), "id": id, "input": step.input,
            "output": step.output, "cache_read": step.cache_read,
            "cache_write": step.cache_write, "usd": step.usd,
        })))
    }

    pub(super) fn quota(&mut self, quota: &Quota) -> Result<(), Stop> {
        let soon = || Some(handle::now().after(quota.in_ms?).to_string());
        let Some(until) = quota.until.clone().or_else(soon) else {
            let why = "`quota` needs `until` or `in_ms`".to_owned();
            return Err(Stop::Script { line: 0, why });
        };
        self.talk.send(&json!({"type": "quota", "until": until}))
    }

    pub(super) fn transition(&mut self, with: &Transition) -> Result<Then, Stop> {
        let arguments = json!({
            "target_state": with.to, "summary": with.summary, "outcome": with.outcome,
            "task": with.task,
        });
        self.signal("workflow_transition", &without_null(arguments))
    }

    pub(super) fn complete(&mut self, with: &Complete) -> Result<Then, Stop> {
        let arguments = json!({
            "signal": "complete", "summary": with.summary, "outcome": with.outcome,
        });
        self.signal("signal_back", &without_null(arguments))
    }

    pub(super) fn workflow_step(&mut self, action: &str, with: &Next) -> Result<Then, Stop> {
        self.signal("workflow_step", &json!({"action": action, "summary": with.summary}))
    }

    pub(super) fn partial(&mut self, with: &Partial) -> Result<Then, Stop> {
        self.signal_back(&json!({
            "signal": "partially-complete", "progress": with.progress,
            "continuationPoint": with.point,
        }))
    }

    pub(super) fn need(&mut self, with: &Need) -> Result<Then, Stop> {
        self.signal_back(&json!({
            "signal": "needs-user-input", "question": with.question,
            "context": with.context.as_deref().unwrap_or(NO_CONTEXT), "options": with.options,
        }))
    }

    pub(super) fn followup(&mut self, with: &Followup) -> Result<Then, Stop> {
        self.signal_back(&json!({
            "signal": "needs-role-followup", "targetRole": with.persona, "reason": with.reason,
            "context": with.context.as_deref().unwrap_or(NO_CONTEXT), "resume": with.resume,
        }))
    }

    pub(super) fn workflow_ask(&mut self, with: &Need) -> Result<Then, Stop> {
        self.signal(
            "workflow_ask",
            &without_null(json!({
                "question": with.question, "context": with.context, "options": with.options,
            })),
        )
    }

    fn signal_back(&mut self, arguments: &Value) -> Result<Then, Stop> {
        self.signal("signal_back", arguments)
    }

    pub(super) fn status(&mut self) -> Result<Then, Stop> {
        self.signal("workflow_status", &json!({}))
    }

    pub(super) fn signal(&mut self, tool: &str, arguments: &Value) -> Result<Then, Stop> {
        let reply = self.wait_for_answer(json!({
            "type": "signal", "tool": tool, "arguments": arguments,
        }))?;
        if self.talk.is_interrupted() {
            return Ok(Then::Interrupted);
        }
        if !reply.is_accepted() {
            self.talk.say(&format!("`{tool}` was refused: {}", reply.text))?;
            return Ok(Then::Next);
        }
        match signal::parse(tool, arguments).meant() {
            Signal::Leave { .. } | Signal::Loop { .. } => Ok(Then::Leave),
            // Already answered before the kill: what was asked for has come, so the script continues.
            Signal::Break(_) if reply.text != signal::ALREADY => Ok(Then::Break),
            _ => self.talk.say(&reply.text).map(|()| Then::Next),
        }
    }

    pub(super) fn ask(&mut self, ask: &Ask) -> Result<Then, Stop> {
        let reply = self.wait_for_answer(json!({
            "type": "question", "question": ask.question, "options": ask.options,
        }))?;
        if self.talk.is_interrupted() {
            return Ok(Then::Interrupted);
        }
        self.talk.say(&format!("the answer is: {}", reply.text)).map(|()| Then::Next)
    }

    /// Changes a file for real: asks, notes that it begins, changes, reports.
    fn change(
        &mut self,
        tool: &str,
        path: &str,
        input: &Value,
        make: impl FnOnce(&Path, &Beginning) -> io::Result<Result<ChangeWord, String>>,
    ) -> Result<Then, Stop> {
        let file = files::below(&self.project, path)?;
        if let Permit::Refused(then) = self.permission(tool, input)? {
            return Ok(then);
        }
        let begun = self.begin(&file)?;
        let change = make(&file, &begun)
            .map_err(Stop::io(format!("change `{path}`")))?
            .map_err(Stop::script)?;
        self.talk.send(&json!({"type": "file_change", "path": path, "change": change}))?;
        self.tool_end(true, "")
    }

    /// Notes how the file is before it is changed, unless that was noted before a kill.
    fn begin(&mut self, file: &Path) -> Result<Beginning, Stop> {
        let step = self.session.next;
        // The step was begun by a process that was killed. How long the file was before it is known, so that it can be done
        // exactly once.
        if let Some(begun) = &self.session.begun
            && begun.step == step
        {
            return Ok(Beginning { before: begun.length, repeated: true });
        }
        let before =
            files::length(file).map_err(Stop::io(format!("look at `{}`", file.display())))?;
        self.session.begun = Some(Begun { step, length: before });
        // Before the file is touched: after a kill the next process must know that the step may have happened.
        self.home.save(&self.session)?;
        Ok(Beginning { before, repeated: false })
    }

    /// Asks whether a tool may run, and ends the call at once when it may not.
    fn permission(&mut self, tool: &str, input: &Value) -> Result<Permit, Stop> {
        let reply = self.wait_for_answer(json!({
            "type": "permission", "tool": tool, "input": input,
        }))?;
        if self.talk.is_interrupted() {
            return Ok(Permit::Refused(Then::Interrupted));
        }
        if reply.is_allowed() {
            return Ok(Permit::Granted);
        }
        self.tool_end(false, &reply.text).map(Permit::Refused)
    }

    fn tool_end(&mut self, ok: bool, output: &str) -> Result<Then, Stop> {
        let (id, output) = (self.session.step_id(), bounded(output, OUTPUT_MAX));
        self.talk.send(&json!({"type": "tool_end", "id": id, "ok": ok, "output": output}))?;
        Ok(Then::Next)
    }

    /// Sends a message under the step's own id, and waits.
    fn wait_for_answer(&mut self, mut message: Value) -> Result<Reply, Stop> {
        let id = self.session.step_id();
        // The same id each time that a step is played: after a kill the supervisor repeats its answer instead of deciding
        // twice.
        message["id"] = json!(id);
        self.talk.ask(&id, &message)
    }
}

/// How a file was before its change.
struct Beginning {
    before: Option<u64>,
    repeated: bool,
}

fn without_null(mut message: Value) -> Value {
    if let Value::Object(fields) = &mut message {
        fields.retain(|_, value| !value.is_null());
    }
    message
}
