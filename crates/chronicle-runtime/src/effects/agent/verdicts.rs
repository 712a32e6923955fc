//! Which calls of one agent may run, until they end. A hook that an agent passes over shows here: a result without a verdict.

use std::collections::VecDeque;

use chronicle_core::event::input::SaidBefore;
use chronicle_core::event::{Call, CallSum};
use chronicle_core::guard::Judgement;

/// Most calls whose verdict is remembered.
const VERDICTS_MAX: usize = 1_024;

/// Verdicts and announcements, the oldest first.
#[derive(Default)]
pub(super) struct Verdicts {
    judged: VecDeque<JudgedCall>,
    /// Calls that were announced, and that nobody was asked about yet.
    announced: VecDeque<Announced>,
}

struct JudgedCall {
    id: String,
    sum: CallSum,
    may_run: bool,
    /// The call itself, if it was ever not to run: people are shown it if it does.
    denied: Option<Box<Call>>,
    has_ended: bool,
    /// True while a person is asked about it.
    waits: bool,
}

impl JudgedCall {
    /// What was said to it, if it was not to run.
    fn denial(&self) -> SaidBefore {
        if self.waits { SaidBefore::Waits } else { SaidBefore::Denied }
    }
}

/// What was said to a call before it ran.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Nobody was asked about any call of its id.
    Nothing,
    /// Another call of its id was judged.
    OfAnother,
    /// It was judged as it ran.
    OfIt,
}

/// Whether a call that has ended had leave to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// It was allowed, whatever came of it.
    Given,
    /// It was denied, and did not run.
    Refused,
    /// It was denied, or was to wait, and ran.
    Denied(Box<Call>, SaidBefore),
    /// Nobody was asked about any call of its id.
    None,
}

/// A call, and what the rules say to it.
type Announced = (Call, Judgement);

impl Verdicts {
    /// Remembers an announcement, unless the call has a verdict. If too many are open, the end of a forgotten one is a breach.
    pub(super) fn announce(&mut self, call: Call, judged: Judgement) {
        if self.has(&call) {
            return;
        }
        if self.announced.len() >= VERDICTS_MAX {
            self.announced.pop_front();
        }
        self.announced.push_back((call, judged));
    }

    /// The calls with this id that were announced and never asked for: their end shows that they ran.
    pub(super) fn take_unasked(&mut self, id: &str) -> Vec<Announced> {
        let all = std::mem::take(&mut self.announced);
        let (unasked, others): (VecDeque<Announced>, VecDeque<Announced>) =
            all.into_iter().partition(|(call, _)| call.id == id);
        self.announced = others;
        Vec::from(unasked)
    }

    /// Remembers a verdict; the same call repeated is still one call.
    pub(super) fn add(&mut self, call: &Call, may_run: bool) {
        let (id, sum) = (call.id.clone(), call.sum);
        let denied = (!may_run).then(|| Box::new(call.clone()));
        self.announced.retain(|(call, _)| call.id != id || call.sum != sum);
        let is_it =
            |known: &&mut JudgedCall| !known.has_ended && known.sum == sum && known.id == id;
        if let Some(known) = self.judged.iter_mut().find(is_it) {
            (known.may_run, known.waits) = (may_run, false);
            known.denied = denied.or_else(|| known.denied.take());
            return;
        }
        if self.judged.len() >= VERDICTS_MAX {
            self.judged.pop_front();
        }
        let (has_ended, waits) = (false, false);
        self.judged.push_back(JudgedCall { id, sum, may_run, denied, has_ended, waits });
    }

    /// Remembers the verdict on what runs instead of everything that was asked for under this id.
    pub(super) fn replace(&mut self, call: &Call, may_run: bool) {
        self.judged.retain(|it| it.id != call.id || it.sum == call.sum || it.has_ended);
        self.add(call, may_run);
    }

    /// What was said to a call that runs or ran.
    pub(super) fn said(&self, call: &Call) -> Said {
        if self.judged.iter().any(|it| it.id == call.id && it.sum == call.sum) {
            return Said::OfIt;
        }
        let is_known = self.judged.iter().any(|it| it.id == call.id);
        if is_known { Said::OfAnother } else { Said::Nothing }
    }

    /// What was said to this very call, if it was judged and was not to run.
    pub(super) fn denial(&self, call: &Call) -> Option<SaidBefore> {
        let is_it = |it: &&JudgedCall| it.id == call.id && it.sum == call.sum;
        self.judged.iter().rfind(is_it).filter(|it| !it.may_run).map(JudgedCall::denial)
    }

    /// Remembers that a call waits for a person: until they have answered it may not run.
    pub(super) fn hold(&mut self, call: &Call) {
        self.add(call, false);
        let is_it = |it: &&mut JudgedCall| it.id == call.id && it.sum == call.sum && !it.has_ended;
        let held = self.judged.iter_mut().filter(is_it);
        held.for_each(|held| held.waits = true);
    }

    /// Whether another call waits under this id. Answers name a call by its id alone.
    pub(super) fn is_taken(&self, id: &str, sum: CallSum) -> bool {
        self.judged.iter().any(|it| it.waits && it.id == id && it.sum != sum)
    }

    /// A person has decided about the call that waits under this id.
    pub(super) fn decide(&mut self, id: &str, may_run: bool) {
        for held in self.judged.iter_mut().filter(|it| it.waits && it.id == id) {
            (held.may_run, held.waits) = (may_run, false);
        }
    }

    /// True if this call has a verdict and has not ended. An agent with two locks asks twice about a call.
    pub(super) fn has(&self, call: &Call) -> bool {
        let is_it =
            |known: &JudgedCall| !known.has_ended && known.sum == call.sum && known.id == call.id;
        self.judged.iter().any(is_it)
    }

    /// Whether a call that ended so had leave to run; one that was denied may only fail. An end names its call by the id alone.
    /// Where several bear it, a good end is taken for one that may run and a bad one for one that may not, each once: so a
    /// denied call that runs shows at the latest when all have ended.
    pub(super) fn end(&mut self, id: &str, ok: bool) -> Leave {
        let open = |it: &JudgedCall| it.id == id && !it.has_ended;
        // With several open calls of one id, assume the innocent pairing; a denied call that ran is left over in the end.
        let fitting = self.judged.iter().position(|it| open(it) && it.may_run == ok);
        let of_an_open_one = fitting.or_else(|| self.judged.iter().position(open));
        // An agent may report the same end twice.
        let at = of_an_open_one.or_else(|| self.judged.iter().rposition(|it| it.id == id));
        let Some(ended) = at.and_then(|at| self.judged.get_mut(at)) else { return Leave::None };
        ended.has_ended = true;
        if ended.may_run {
            return Leave::Given;
        }
        if !ok {
            return Leave::Refused;
        }
        let denied = ended.denied.clone().unwrap_or_else(|| Box::new(Call::unknown(id)));
        Leave::Denied(denied, ended.denial())
    }
}

#[cfg(test)]
mod tests {
    use chronicle_core::event::input::SaidBefore;
    use chronicle_core::event::{Call, CallSum};
    use chronicle_core::guard::Judgement;

    use super::{Leave, Said, Verdicts};

    fn sum(tool: &str) -> CallSum {
        CallSum::of(tool, &serde_json::Value::Null, &[])
    }

    fn call(id: &str, tool: &str) -> Call {
        Call::new(id, tool, &serde_json::Value::Null, &[])
    }

    /// Verdicts on calls, as `id tool may`, then ends, as `id ok`: whether each had leave.
    fn play(calls: &str, ends: &str) -> Vec<bool> {
        let mut verdicts = Verdicts::default();
        for said in calls.split("; ").filter(|said| !said.is_empty()) {
            let words: Vec<&str> = said.split(' ').collect();
            verdicts.add(&call(words[0], words[1]), words[2] == "may");
        }
        let ends = ends.split("; ").map(|end| end.split_once(' ').unwrap_or((end, "")));
        ends.map(|(id, how)| verdicts.end(id, how == "ok"))
            .map(|it| matches!(it, Leave::Given | Leave::Refused))
            .collect()
    }

    #[test]
    fn a_result_needs_leave() {
        assert_eq!(play("", "x ok"), [false]);
        assert_eq!(play("x read may", "x ok; x ok; y ok"), [true, true, false]);
        assert_eq!(play("x bash not", "x failed"), [true]);
        assert_eq!(play("x bash not", "x ok"), [false]);
    }

    #[test]
    fn leave_for_one_call_is_no_leave_for_another_under_its_id() {
        for calls in ["x read may; x bash not", "x bash not; x read may"] {
            assert_eq!(play(calls, "x ok; x failed"), [true, true], "{calls}");
            assert_eq!(play(calls, "x failed; x ok"), [true, true], "{calls}");
            assert_eq!(play(calls, "x ok; x ok"), [true, false], "{calls}");
        }
        assert_eq!(play("x read may; x read may; x bash not", "x ok; x ok"), [true, false]);
    }

    #[test]
    fn a_call_that_waits_has_no_leave_until_a_person_gave_it() {
        let mut verdicts = Verdicts::default();
        verdicts.hold(&call("x", "bash"));
        assert!(verdicts.is_taken("x", sum("read")) && !verdicts.is_taken("x", sum("bash")));
        let early = Leave::Denied(Box::new(call("x", "bash")), SaidBefore::Waits);
        assert_eq!(verdicts.end("x", true), early, "it ran before anybody answered");
        let mut verdicts = Verdicts::default();
        verdicts.hold(&call("x", "bash"));
        verdicts.decide("x", true);
        assert!(!verdicts.is_taken("x", sum("read")));
        assert_eq!(verdicts.end("x", true), Leave::Given);
    }

    #[test]
    fn what_runs_instead_of_what_was_judged_has_a_verdict_of_its_own() {
        let mut verdicts = Verdicts::default();
        assert_eq!(verdicts.said(&call("x", "bash")), Said::Nothing);
        verdicts.add(&call("x", "read"), true);
        assert_eq!(verdicts.said(&call("x", "read")), Said::OfIt);
        assert_eq!(verdicts.said(&call("x", "bash")), Said::OfAnother);
        verdicts.replace(&call("x", "bash"), false);
        assert_eq!(verdicts.denial(&call("x", "bash")), Some(SaidBefore::Denied));
        assert_eq!(verdicts.denial(&call("x", "read")), None);
        let ran = Leave::Denied(Box::new(call("x", "bash")), SaidBefore::Denied);
        assert_eq!(verdicts.end("x", true), ran);
        verdicts.add(&call("x", "bash"), true);
        assert_eq!(verdicts.denial(&call("x", "bash")), None, "the last verdict counts");
    }

    #[test]
    fn an_announced_call_is_asked_for_or_shows_as_unasked_when_it_ends() {
        let mut verdicts = Verdicts::default();
        verdicts.announce(call("x", "bash"), Judgement::Clear);
        verdicts.announce(call("y", "read"), Judgement::Clear);
        verdicts.add(&call("y", "read"), true);
        verdicts.announce(call("y", "read"), Judgement::Clear);
        verdicts.add(&call("x", "read"), true);
        assert_eq!(verdicts.take_unasked("y"), []);
        assert_eq!(
            verdicts.take_unasked("x"),
            [(call("x", "bash"), Judgement::Clear)],
            "leave for another call is none"
        );
        assert_eq!(verdicts.take_unasked("x"), []);
    }
}
