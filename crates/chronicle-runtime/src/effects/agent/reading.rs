//! What one agent says on its standard output, line by line: understood, judged, answered and handed on.

use std::borrow::Cow;
use std::process::ChildStdout;
use std::time::Duration;

use chronicle_core::base::limits::bounded;
use chronicle_core::base::redact::Stream;
use chronicle_core::event::input::{Answer, AttemptReport, SaidBefore};
use chronicle_core::event::signal::{self, Signal};
use chronicle_core::event::{Call, CrashClass, Verdict};
use chronicle_core::guard::Judgement;

use super::bills::Bills;
use super::held::{Held, goes_on, is_between, piece};
use super::verdicts::{Leave, Said, Verdicts};
use super::{AgentShared, ShownCall};
use crate::activity::Bit;
use crate::agents::{RawCall, Seen, not_kept};
use crate::effects::STOP_GRACE;
use crate::effects::transcript::From;
use crate::process::{Control, OutputLines, ReadLine};
use crate::walls;

/// Lines in a row that mean nothing before the agent is taken for something else.
const NOT_UNDERSTOOD_MAX: u32 = 1_000;
/// How much of the first of them a person is shown.
const FIRST_MAX: usize = 120;
/// How often in a row an agent may try a request again by itself, without a word of ours; then the failure is ours to mend.
const OWN_RETRIES_MAX: u32 = 2;

/// Reads one agent's standard output.
pub(super) struct AgentReader<'a> {
    shared: &'a AgentShared,
    /// Lines in a row that meant nothing, and the first of them.
    puzzled: u32,
    first: String,
    /// What it tried again by itself since it last got on.
    retries: u32,
    verdicts: Verdicts,
    /// The call whose end comes next, if nobody was asked about it.
    unasked: Option<(Call, Judgement)>,
    /// What the result of a call in this line says about a wall that stopped it.
    stopped: Option<String>,
    bills: Bills,
    /// Lines that are not in the transcript yet.
    held: Held,
    /// What it says and thinks, as far as it is shown.
    said: Stream,
    thought: Stream,
}

impl<'a> AgentReader<'a> {
    pub(super) fn of(shared: &'a AgentShared) -> Self {
        Self {
            shared,
            puzzled: 0,
            first: String::new(),
            retries: 0,
            verdicts: Verdicts::default(),
            unasked: None,
            stopped: None,
            bills: Bills::default(),
            held: Held::default(),
            said: Stream::default(),
            thought: Stream::default(),
        }
    }

    pub(super) fn all(mut self, stdout: ChildStdout, control: &Control) {
        let mut is_stopped = false;
        for line in OutputLines::new(stdout).map_while(Result::ok) {
            self.line(line, is_stopped);
            if self.puzzled >= NOT_UNDERSTOOD_MAX {
                self.puzzled = 0;
                let first = std::mem::take(&mut self.first);
                self.breach(format!(
                    "{NOT_UNDERSTOOD_MAX} lines in a row meant nothing; the first was `{first}`"
                ));
            }
            let broke = self.shared.last_words().has_broken();
            if (broke || self.retries > OWN_RETRIES_MAX) && !is_stopped {
                // It waits for an answer that never comes, ignores a verdict, retries for ever, or is not an agent at all.
                control.stop(STOP_GRACE);
                is_stopped = true;
            }
        }
        self.show_rest();
        self.held.write(&self.shared.context.redactor, &self.shared.transcript);
    }

    /// Takes in one line; from an agent that broke its word it is kept, and not heard.
    fn line(&mut self, line: ReadLine, is_stopped: bool) {
        let text = match line {
            ReadLine::Line(text) | ReadLine::NotUtf8 { text } => text,
            ReadLine::TooLong { start, bytes } => not_kept(bytes, &start),
        };
        let AgentShared { context, attempt, transcript, .. } = self.shared;
        // Redacted before it is parsed: whatever the adapter reports from this line goes to the ledger.
        let redacted = context.redactor.line(&text);
        context.activities.line(*attempt, redacted.len());
        // Two things must come from the original line. Sums of calls: two calls that differ only in a secret are different
        // calls. Pieces of text: half a secret looks harmless until the pieces are joined.
        let has_secrets = matches!(redacted, Cow::Owned(_));
        let voice = &self.shared.voice;
        let raw = if has_secrets || is_stopped { voice.glance(&text) } else { Vec::new() };
        let all = if is_stopped { Vec::new() } else { voice.read(&redacted) };
        let redactor = &context.redactor;
        let printed = if raw.is_empty() { &all } else { &raw };
        if let Some((kind, piece)) = piece(printed) {
            self.held.add(kind, piece, &text, redactor, transcript);
        } else {
            if !is_between(printed) {
                self.held.break_off(redactor, transcript);
            }
            self.held.pass(From::Agent, &text, redactor, transcript);
        }
        // Before what was seen is judged: a question for leave may wait for a person.
        for line in voice.inquire() {
            self.held.pass(From::Supervisor, &line, redactor, transcript);
        }
        self.shared.look_at_proof();
        self.stopped = all
            .iter()
            .any(|seen| matches!(seen, Seen::ToolEnd { .. }))
            .then(|| walls::refusal(&redacted, self.shared.wall.as_ref()?, &self.shared.works_in))
            .flatten();
        for seen in all {
            // What else its line says is not heard: a call that it asks for would be answered.
            if self.shared.last_words().is_over() {
                return;
            }
            match seen {
                Seen::NotUnderstood { .. } => self.puzzles(&redacted),
                Seen::Unguarded { why } => self.shared.is_unguarded(why),
                seen => self.seen(as_printed(seen, &raw)),
            }
        }
    }

    /// Shows what was held back of its words, since nothing more belongs to them.
    fn show_rest(&mut self) {
        let redactor = &self.shared.context.redactor;
        let (said, thought) = (self.said.finish(redactor), self.thought.finish(redactor));
        self.note(Bit::Thought, &thought);
        self.note(Bit::Said, &said);
    }

    /// Counted, and kept in the transcript; some lines of nonsense harm nobody.
    fn puzzles(&mut self, line: &str) {
        if self.puzzled == 0 {
            self.first = bounded(line, FIRST_MAX);
        }
        self.puzzled += 1;
        let mut last = self.shared.last_words();
        last.not_understood = last.not_understood.saturating_add(1);
        if !last.has_spoken && last.first_line.is_empty() {
            last.first_line = bounded(line, FIRST_MAX);
        }
    }

    fn seen(&mut self, seen: Seen) {
        self.puzzled = 0;
        self.shared.last_words().has_spoken = true;
        // Only lines that mean something count as a sign of life: a program that prints garbage is still silent.
        self.shared.watchdog.heard();
        if !matches!(seen, Seen::Retrying { .. } | Seen::Alive) {
            self.retries = 0;
        }
        if !goes_on(&seen) {
            self.show_rest();
        }
        match &seen {
            Seen::Text(_) | Seen::Typed(_) | Seen::Alive => {}
            Seen::Usage { scope, .. } => self.shared.last_words().counted(scope),
            _ => self.shared.last_words().break_off(),
        }
        let tell = |what| self.shared.reporter.tell(what);
        match seen {
            Seen::Text(text) => {
                self.shared.last_words().say(&text);
                let shown = self.said.push(&self.shared.context.redactor, &text);
                self.note(Bit::Said, &shown);
            }
            Seen::Thought(text) => {
                let shown = self.thought.push(&self.shared.context.redactor, &text);
                self.note(Bit::Thought, &shown);
            }
            Seen::Retrying { class, text, after_ms } => self.tries_again(class, text, after_ms),
            Seen::Session(session) => tell(AttemptReport::Session(session)),
            Seen::ToolCall(raw) => {
                self.begins_tool(&raw.call.tool);
                let judged = self.shared.judge(&raw);
                self.verdicts.announce(raw.call, judged);
            }
            Seen::Permission(raw) => self.permission(self.shared.placed(*raw)),
            Seen::Ran(raw) => self.ran(self.shared.placed(*raw)),
            Seen::HasRun(raw) => self.has_run(self.shared.placed(*raw)),
            Seen::Refused { call, why } => {
                let judged = Judgement::Clear;
                tell(AttemptReport::ToolRefused { call: call.call.into(), why, judged });
            }
            Seen::ToolEnd { call, ok } => self.tool_ended(call, ok),
            Seen::ToolGoesOn { call } => self.tool_goes_on(call),
            Seen::FileChange { path, change } => {
                self.note(Bit::File, &path);
                tell(AttemptReport::FileChanged { path, change });
            }
            Seen::Usage { scope, usage, model } => {
                let model = model.as_deref().or(self.shared.model.as_deref());
                let prices = &self.shared.context.prices;
                let usage = self.bills.priced(&scope, usage, model, prices);
                tell(AttemptReport::Usage { scope, usage });
            }
            Seen::Signal { request, signal } => self.signal(&request, signal),
            Seen::Question { request, question, options, closed, waits_ms } => {
                if let Some(ms) = waits_ms {
                    self.shared.watchdog.waits(&request, Duration::from_millis(ms));
                }
                self.signal(&request, signal::ask(&question, &options, closed));
            }
            Seen::Withdrew { request } => self.shared.withdrew(&request),
            Seen::Remark(remark) => self.shared.last_words().remark(remark),
            Seen::Error { class, text } => self.broke(class, text),
            Seen::QuotaReset { until } => self.shared.last_words().no_quota(until),
            Seen::Finished => self.finished(),
            Seen::Failed { class, text } => self.failed(class, text),
            Seen::Typed(_) | Seen::Alive | Seen::NotUnderstood { .. } | Seen::Unguarded { .. } => {}
        }
    }

    /// Its own retries are bounded by ours: some go on for minutes without a word to anybody.
    /// What its service asked for holds for our own waits too.
    fn tries_again(&mut self, class: CrashClass, text: String, after_ms: u64) {
        self.note(Bit::Retries, &text);
        self.retries += 1;
        self.shared.last_words().retry_after_ms = Some(after_ms).filter(|ms| *ms > 0);
        if self.retries > OWN_RETRIES_MAX {
            self.failed(class, text);
        }
    }

    /// Has a call judged, and remembers whether it may run. Blocks until the decision is on disk, unless a person must answer
    /// first: the agent waits, so nothing runs without a recorded verdict.
    fn permission(&mut self, raw: RawCall) {
        self.hear_decided();
        if !self.verdicts.has(&raw.call) {
            self.begins_tool(&raw.call.tool);
        }
        let (id, sum, call) = (raw.call.id.clone(), raw.call.sum, raw.call.clone());
        let is_final = raw.is_final;
        if self.verdicts.is_taken(&id, sum) {
            // Its answer would be taken for that of the call that waits, which is another one.
            return self
                .breach(format!("the id `{id}` is used for a call while another one waits"));
        }
        let (judged, leads) = self.shared.judge_and_look(&raw);
        // Before it is reported: a person's answer may arrive through the driver before this returns.
        let may_wait = matches!(judged, Judgement::Ask { .. });
        if may_wait {
            self.verdicts.hold(&call);
            let shown = ShownCall { raw: raw.clone(), judged: judged.clone(), leads };
            self.shared.waits(shown);
            self.shared.voice.asks(&id);
            self.shared.watchdog.asks(&id);
        }
        let asked = AttemptReport::ToolCalled { call: Box::new(raw.call), judged };
        let answer = self.shared.reporter.ask(asked);
        if matches!(answer, Some(Answer::Waits)) {
            return;
        }
        if may_wait {
            self.shared.waits_no_more(&id);
            self.shared.voice.forget(&id);
            self.shared.watchdog.answered(&id);
        }
        let may_run =
            !matches!(answer, Some(Answer::Verdict(Verdict::Denied(_)) | Answer::Stopped(_)));
        if is_final {
            // Whatever was allowed under this id before is not what runs.
            self.verdicts.replace(&call, may_run);
        } else {
            self.verdicts.add(&call, may_run);
        }
        self.answer(&id, answer);
    }

    /// A call runs, or ran, with this input. Somebody else may have changed it after it was judged: then it is judged now, and what
    /// would not have been allowed ends the attempt. A person cannot be asked any more either.
    fn ran(&mut self, raw: RawCall) {
        self.hear_decided();
        let said = self.verdicts.said(&raw.call);
        if said == Said::OfIt {
            return;
        }
        let judged = self.shared.judge(&raw);
        match (said, &judged) {
            // Its end tells whether it ran.
            (Said::Nothing, _) => self.unasked = Some((raw.call, judged)),
            (_, Judgement::Clear) => self.changed(raw.call, judged),
            _ => self.unjudged(raw.call, judged, SaidBefore::OfAnother),
        }
    }

    /// A call was changed after it was judged, and no rule is against what became of it: on record as it ran.
    fn changed(&mut self, call: Call, judged: Judgement) {
        self.verdicts.replace(&call, true);
        let tool = &call.tool;
        self.shared.last_words().remark(format!(
            "calls of `{tool}` were changed after they were judged, and judged again"
        ));
        let (again, said) = (judged.clone(), SaidBefore::OfAnother);
        let ran =
            AttemptReport::ToolUnasked { call: Box::new(call.clone()), judged, said, stops: false };
        if let Some(Answer::Verdict(Verdict::Denied(_))) = self.shared.reporter.ask(ran) {
            self.unjudged(call, again, said);
        }
    }

    /// A call has run for certain. How it ended says nothing then: a denied one that failed has run all the same.
    fn has_run(&mut self, raw: RawCall) {
        self.hear_decided();
        if let Some(said) = self.verdicts.denial(&raw.call) {
            let judged = self.shared.judge(&raw);
            return self.unjudged(raw.call, judged, said);
        }
        self.ran(raw);
    }

    /// A call ran that nobody had judged as it ran: on record first, then the attempt ends.
    fn unjudged(&mut self, call: Call, judged: Judgement, said: SaidBefore) {
        let ran = AttemptReport::ToolUnasked { call: Box::new(call), judged, said, stops: true };
        let why = match self.shared.reporter.ask(ran) {
            Some(Answer::Verdict(Verdict::Denied(why))) => why,
            // Without a driver the attempt is about to be ended anyway.
            _ => "a tool ran without leave".to_owned(),
        };
        self.broke(CrashClass::Unjudged, why);
    }

    /// Takes in what people decided about calls that waited.
    fn hear_decided(&mut self) {
        let decided = std::mem::take(&mut *self.shared.decided());
        for (call, may_run) in decided {
            self.verdicts.decide(&call, may_run);
        }
    }

    fn begins_tool(&self, tool: &str) {
        self.note(Bit::Tool, tool);
        self.shared.last_words().begin_anew(&self.shared.context.redactor);
    }

    fn tool_ended(&mut self, call: String, ok: bool) {
        self.needs_leave(&call, ok);
        self.hits_wall(&call);
        self.shared.reporter.tell(AttemptReport::ToolEnded { call, ok });
    }

    /// Tells that a wall stopped a call, if its result shows it.
    fn hits_wall(&mut self, call: &str) {
        if let Some(said) = self.stopped.take() {
            let call = Some(call.to_owned());
            self.shared.reporter.tell(AttemptReport::WallHit { call, said });
        }
    }

    /// What goes on has begun, so it needs leave as what has ended does.
    fn tool_goes_on(&mut self, call: String) {
        self.needs_leave(&call, true);
        self.shared.reporter.tell(AttemptReport::ToolWentOn { call });
    }

    /// A result needs a verdict; a call that was denied has none but its failure.
    fn needs_leave(&mut self, call: &str, ok: bool) {
        self.hear_decided();
        let unasked = self.verdicts.take_unasked(call);
        match self.verdicts.end(call, ok) {
            Leave::Denied(denied, said) if unasked.is_empty() => {
                return self.unjudged(*denied, Judgement::Clear, said);
            }
            // One that is told to end fails its calls, also those that it has not asked about yet.
            Leave::None if unasked.is_empty() && (ok || !self.shared.is_told_to_end()) => {
                let known = self.unasked.take().filter(|(known, _)| known.id == call);
                let unknown = || (Call::unknown(call), Judgement::Clear);
                let (call, judged) = known.unwrap_or_else(unknown);
                return self.unjudged(call, judged, SaidBefore::Nothing);
            }
            // It was asked about under this id, and told no: what failed is that, and none of its other inputs ran.
            Leave::Refused => return,
            Leave::Given | Leave::Denied(..) | Leave::None => {}
        }
        for (call, judged) in unasked {
            let (call, said, stops) = (Box::new(call), SaidBefore::Nothing, false);
            let ran = AttemptReport::ToolUnasked { call, judged, said, stops };
            if let Some(Answer::Verdict(Verdict::Denied(why))) = self.shared.reporter.ask(ran) {
                self.broke(CrashClass::Unjudged, why);
            }
        }
    }

    /// Hands a call on. A question may take days: its answer comes through the driver, and silence is no fault meanwhile.
    fn signal(&mut self, request: &str, signal: Signal) {
        // Before the signal is sent: a person's answer may arrive through the driver before this call returns.
        let is_question = matches!(signal, Signal::Ask(_));
        if is_question {
            self.shared.voice.asks(request);
            self.shared.watchdog.asks(request);
        }
        let answer = self.shared.reporter.signal(request, signal);
        if is_question && !matches!(answer, Some(Answer::Waits)) {
            self.shared.voice.forget(request);
            self.shared.watchdog.answered(request);
        }
        self.answer(request, answer);
    }

    fn breach(&self, text: String) {
        self.broke(CrashClass::Protocol, text);
    }

    /// Ends the attempt. That a call ran unjudged weighs more than anything else.
    fn broke(&self, class: CrashClass, text: String) {
        let mut last = self.shared.last_words();
        if !matches!(last.error, Some((CrashClass::Unjudged, _))) {
            last.error = Some((class, text));
        }
    }

    fn note(&self, bit: fn(String) -> Bit, text: &str) {
        self.shared.context.activities.add(self.shared.attempt, bit, text);
    }

    /// No answer comes when the driver is gone; then the agent is about to be ended anyway.
    fn answer(&mut self, id: &str, answer: Option<Answer>) {
        let is_told = |answer: &Answer| !matches!(answer, Answer::Waits | Answer::Stopped(_));
        let Some(answer) = answer.filter(is_told) else { return };
        let AgentShared { context, transcript, .. } = self.shared;
        for line in self.shared.voice.answer(id, &answer) {
            self.held.pass(From::Supervisor, &line, &context.redactor, transcript);
        }
    }

    /// The turn is over, and nothing more is said to it; what it broke before weighs more.
    fn failed(&mut self, class: CrashClass, text: String) {
        let mut last = self.shared.last_words();
        if !last.has_broken() {
            last.error = Some((class, text));
        }
        drop(last);
        self.shared.voice.close();
        self.shared.watchdog.finished();
    }

    fn finished(&mut self) {
        let mut last = self.shared.last_words();
        last.finished = true;
        // The agent recovered from the error, except for a broken protocol: that stays a crash. Nor does it recover from what its
        // user's own settings refuse: the same again would end the same.
        last.error.take_if(|(class, _)| {
            let stays = [CrashClass::Protocol, CrashClass::Unguarded, CrashClass::Unjudged];
            !stays.contains(class) && *class != CrashClass::Refused
        });
        (last.quota_until, last.retry_after_ms) = (None, None);
        drop(last);
        self.shared.voice.close();
        self.shared.watchdog.finished();
    }
}

/// What was seen, with the sum of a call and the piece of a text as the agent printed them.
fn as_printed(mut seen: Seen, raw: &[Seen]) -> Seen {
    for printed in raw {
        match (&mut seen, printed) {
            (
                Seen::ToolCall(seen)
                | Seen::Permission(seen)
                | Seen::Ran(seen)
                | Seen::HasRun(seen)
                | Seen::Refused { call: seen, .. },
                Seen::ToolCall(printed)
                | Seen::Permission(printed)
                | Seen::Ran(printed)
                | Seen::HasRun(printed)
                | Seen::Refused { call: printed, .. },
            ) => {
                seen.call.sum = printed.call.sum;
                // For the guard alone: what is reported and recorded of the call stays redacted.
                seen.input.clone_from(&printed.input);
                if printed.folder.is_some() {
                    seen.folder.clone_from(&printed.folder);
                }
            }
            (Seen::Text(seen), Seen::Text(printed))
            | (Seen::Thought(seen), Seen::Thought(printed)) => seen.clone_from(printed),
            _ => {}
        }
    }
    seen
}
