//! Which calls of one agent may run, until they end. A hook that an agent passes over shows here: a result without a verdict.

use std::collections::VecDeque;

use chronicle_core::event::CallSum;

/// Most calls whose verdict is remembered.
const VERDICTS_MAX: usize = 1_024;

/// Verdicts, the oldest first.
#[derive(Default)]
pub(super) struct Verdicts(VecDeque<JudgedCall>);

struct JudgedCall {
    id: String,
    sum: CallSum,
    may_run: bool,
    has_ended: bool,
}

impl Verdicts {
    /// Remembers a verdict; the same call repeated is still one call.
    pub(super) fn add(&mut self, id: String, sum: CallSum, may_run: bool) {
        let is_it =
            |known: &&mut JudgedCall| !known.has_ended && known.sum == sum && known.id == id;
        if let Some(known) = self.0.iter_mut().find(is_it) {
            known.may_run = may_run;
            return;
        }
        if self.0.len() >= VERDICTS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(JudgedCall { id, sum, may_run, has_ended: false });
    }

    /// Whether a call that ended so had leave to run; one that was denied may only fail. An end names its call by the id alone.
    /// Where several bear it, a good end is taken for one that may run and a bad one for one that may not, each once: so a
    /// denied call that runs shows at the latest when all have ended.
    pub(super) fn end(&mut self, id: &str, ok: bool) -> bool {
        let open = |it: &JudgedCall| it.id == id && !it.has_ended;
        // With several open calls of one id, assume the innocent pairing; a denied call that ran is left over in the end.
        let fitting = self.0.iter().position(|it| open(it) && it.may_run == ok);
        let of_an_open_one = fitting.or_else(|| self.0.iter().position(open));
        // An agent may report the same end twice.
        let at = of_an_open_one.or_else(|| self.0.iter().rposition(|it| it.id == id));
        let Some(ended) = at.and_then(|at| self.0.get_mut(at)) else { return false };
        ended.has_ended = true;
        ended.may_run || !ok
    }
}

#[cfg(test)]
mod tests {
    use chronicle_core::event::CallSum;

    use super::Verdicts;

    fn sum(tool: &str) -> CallSum {
        CallSum::of(tool, &serde_json::Value::Null, &[])
    }

    /// Verdicts on calls, as `id tool may`, then ends, as `id ok`: whether each had leave.
    fn play(calls: &str, ends: &str) -> Vec<bool> {
        let mut verdicts = Verdicts::default();
        for call in calls.split("; ").filter(|call| !call.is_empty()) {
            let words: Vec<&str> = call.split(' ').collect();
            verdicts.add(words[0].to_owned(), sum(words[1]), words[2] == "may");
        }
        let ends = ends.split("; ").map(|end| end.split_once(' ').unwrap_or((end, "")));
        ends.map(|(id, how)| verdicts.end(id, how == "ok")).collect()
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
}
