//! How an agent ends: what is known of it before, and what its keeper saw.

use chronicle_core::base::limits::TEXT_MAX;
use chronicle_core::base::redact::{Pieces, Redactor};
use chronicle_core::base::time::Millis;
use chronicle_core::base::usage::Scope;
use chronicle_core::event::CrashClass;
use chronicle_core::event::input::EndSeen;

use crate::process::{Edges, KeeperEnd, Ring, SpawnError};

/// How much of either end of its standard error is kept for the report of a crash. Some programs name the cause first, others last.
const STDERR_LINES: usize = 10;
const STDERR_BYTES: usize = 2_000;

/// Most remarks that are kept of one attempt.
const REMARKS_MAX: usize = 8;

/// How much of a secret may stand behind what is kept.
const SECRET_MAX: usize = 4_096;

/// What is known about the end before it comes.
pub(super) struct LastWords {
    pub(super) finished: bool,
    pub(super) error: Option<(CrashClass, String)>,
    /// When the quota resets.
    pub(super) quota_until: Option<Millis>,
    /// How long the service asked to wait.
    pub(super) retry_after_ms: Option<u64>,
    /// True if it ever printed something that its adapter understood.
    pub(super) has_spoken: bool,
    /// Its first line, as long as it has not.
    pub(super) first_line: String,
    pub(super) stderr: Edges,
    /// The lines of it that name the cause of its end, wherever they stand.
    pub(super) causes: Ring,
    /// Lines that its adapter could not parse.
    pub(super) not_understood: u64,
    /// What people must know about how it worked.
    pub(super) remarks: Vec<String>,
    /// What it said since its last tool, message by message, with any secrets: they are taken out when it is reported.
    said: Vec<String>,
    /// The unfinished end of what it said before that tool.
    before: String,
    /// True if what it says next is another message.
    is_apart: bool,
    /// The message whose usage was reported last.
    message: Option<String>,
}

impl LastWords {
    pub(super) fn new() -> Self {
        Self {
            finished: false,
            error: None,
            quota_until: None,
            retry_after_ms: None,
            has_spoken: false,
            first_line: String::new(),
            stderr: Edges::new(STDERR_LINES, STDERR_BYTES),
            causes: Ring::new(STDERR_LINES, STDERR_BYTES),
            not_understood: 0,
            remarks: Vec::new(),
            said: Vec::new(),
            before: String::new(),
            is_apart: false,
            message: None,
        }
    }

    /// Why it ended, if it was none that we know how to talk to: another program of that name, or another version, that does not
    /// take these options. The same again would end the same.
    pub(super) fn never_spoke(&self, stderr: &str) -> Option<(CrashClass, String)> {
        if self.has_spoken {
            return None;
        }
        let said = [stderr.trim(), self.first_line.trim()].into_iter().find(|it| !it.is_empty());
        let text = match said {
            Some(said) => format!("it ended before it took part in the run; it said: {said}"),
            None => "it ended before it took part in the run, without a word".to_owned(),
        };
        Some((CrashClass::Refused, text))
    }

    /// True if it broke its protocol, its guard is not proven or a call ran unjudged: nothing that it says later weighs more.
    pub(super) fn has_broken(&self) -> bool {
        matches!(self.error, Some((CrashClass::Protocol, _))) || self.is_over()
    }

    /// True if nothing more of it is heard, not even the rest of its line.
    pub(super) fn is_over(&self) -> bool {
        self.is_unguarded() || matches!(self.error, Some((CrashClass::Unjudged, _)))
    }

    /// True if its guard is not proven, and it may not work without.
    pub(super) fn is_unguarded(&self) -> bool {
        matches!(self.error, Some((CrashClass::Unguarded, _)))
    }

    /// Keeps the agent's own words for it, if there were any; what it broke before weighs more.
    pub(super) fn no_quota(&mut self, until: Millis) {
        self.quota_until = Some(until);
        // The agent's own quota error has the better text, and a broken protocol is the more serious finding.
        if !self.has_broken() && !matches!(self.error, Some((CrashClass::Quota, _))) {
            self.error = Some((CrashClass::Quota, format!("no quota until {until}")));
        }
    }

    /// Adds a piece of text as it was said, up to what an event keeps and a little more: so that it is seen to be cut, and a secret
    /// at the cut is whole when it is looked for.
    pub(super) fn say(&mut self, text: &str) {
        let bytes: usize = self.said.iter().map(|message| message.len() + 1).sum();
        if bytes > TEXT_MAX + SECRET_MAX {
            return;
        }
        let is_apart = std::mem::take(&mut self.is_apart);
        if let Some(message) = self.said.last_mut().filter(|_| !is_apart) {
            message.push_str(text);
            return;
        }
        if let Some(message) = self.said.last_mut() {
            message.truncate(message.trim_end().len());
        }
        self.said.retain(|message| !message.is_empty());
        self.said.push(text.to_owned());
    }

    /// What it said last, without secrets. A thought or a tool call may stand between the halves of one, so the messages are also
    /// searched as if nothing did.
    pub(super) fn final_text(&self, redactor: &Redactor) -> String {
        let mut pieces = Pieces::carrying(self.before.clone());
        self.said.iter().for_each(|message| pieces.add(message));
        let said = pieces.take(redactor).unwrap_or_else(|| self.said.clone()).join("\n");
        redactor.redact(&said).into_owned()
    }

    /// What it says next is no continuation of what it said before.
    pub(super) fn break_off(&mut self) {
        self.is_apart = true;
    }

    /// The usage of a message is reported beside its text: one that was not named before shows that another message begins, or has
    /// just ended. The same one again may come in the middle of a word.
    pub(super) fn counted(&mut self, scope: &Scope) {
        if let Scope::Message(id) = scope
            && self.message.as_ref() != Some(id)
        {
            self.message = Some(id.clone());
            self.break_off();
        }
    }

    /// Keeps a remark, once, and not too many.
    pub(super) fn remark(&mut self, remark: String) {
        if self.remarks.len() < REMARKS_MAX && !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// What was said before a tool was called is not the last word.
    pub(super) fn begin_anew(&mut self, redactor: &Redactor) {
        let said = self.said.concat();
        // Two tools in a row: what was begun before the first may go on after the second.
        if !said.is_empty() {
            redactor
                .unfinished(&[self.before.as_str(), said.as_str()].concat())
                .clone_into(&mut self.before);
        }
        self.said.clear();
    }
}

/// Nothing runs, and trying again would not help.
pub(in crate::effects) fn cannot_start(why: String) -> Box<EndSeen> {
    let error = Some((CrashClass::CannotStart, why));
    Box::new(EndSeen { error, ..EndSeen::default() })
}

/// There is no keeper. One that died while it was being started is lost, as any other that dies.
pub(super) fn not_kept(error: &SpawnError) -> Box<EndSeen> {
    if error.is_death() {
        return Box::new(ended_as(EndSeen::default(), KeeperEnd::KeeperDied));
    }
    cannot_start(error.to_string())
}

/// What could not be ended may still work on the files.
pub(in crate::effects) fn unclear(survivors: u32) -> Option<String> {
    match survivors {
        0 => None,
        1 => Some("1 process could not be ended".to_owned()),
        many => Some(format!("{many} processes could not be ended")),
    }
}

/// Adds what the keeper saw.
pub(in crate::effects) fn ended_as(seen: EndSeen, end: KeeperEnd) -> EndSeen {
    match end {
        KeeperEnd::Ended { code, signal, strays, stopped, survivors } => {
            EndSeen { code, signal, strays, stopped, unclear: unclear(survivors), ..seen }
        }
        KeeperEnd::CannotStart { text } => {
            EndSeen { error: Some((CrashClass::CannotStart, text)), ..seen }
        }
        KeeperEnd::LeaseRanOut { strays, survivors } => {
            EndSeen { lost: true, strays, unclear: unclear(survivors), ..seen }
        }
        KeeperEnd::KeeperDied => EndSeen { lost: true, ..seen },
    }
}
