//! When an attempt could change files, and which: while a tool call that may do so was open.
//!
//! Changes at any other time, or of another file than the call names, are not known to be its work. The times are those of the
//! ledger's lines.

use serde::{Deserialize, Serialize};

use super::Attempt;
use crate::base::ids::SHELL;
use crate::base::limits::HANDS_MAX;
use crate::base::time::Millis;

/// Time spans in which an attempt could change files, in the order of their starts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Hands(Vec<Stretch>);

/// A time span in which an attempt could change files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// Time of the line that allowed the call.
    pub from: Millis,
    /// Time of the line that ended it; `None` while it lasts.
    pub to: Option<Millis>,
    /// The only file that it could change, as the call named it; `None` if it could change any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Hands {
    /// True if there was no such time.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// A call that may change files started: this one, or any. It may have started before others that are known.
    pub(super) fn begin(&mut self, at: Millis, path: Option<&String>) {
        let is_open = |it: &Stretch| it.to.is_none() && it.path.as_ref() == path;
        // Calls of the same kind at the same time are one stretch. It ends with the last of them.
        if let Some(open) = self.0.iter_mut().find(|it| is_open(it)) {
            open.from = open.from.min(at);
        } else {
            self.0.push(Stretch { from: at, to: None, path: path.cloned() });
        }
        self.0.sort_by_key(|it| it.from);
        self.bound();
    }

    /// A call ended. What no other open call may change is out of reach from now on.
    pub(super) fn end(&mut self, at: Millis, may_change: impl Fn(Option<&String>) -> bool) {
        let open = self.0.iter_mut().filter(|it| it.to.is_none());
        for it in open.filter(|it| !may_change(it.path.as_ref())) {
            it.to = Some(at);
        }
    }

    /// Beyond the limit, merges the two neighbours with the smallest gap. Of different files, that makes any file.
    fn bound(&mut self) {
        if self.0.len() <= HANDS_MAX {
            return;
        }
        let gap = |pair: &[Stretch]| {
            let end = pair[0].to.unwrap_or(pair[0].from);
            pair[1].from.0.saturating_sub(end.0)
        };
        let gaps = self.0.windows(2).enumerate();
        // The two stretches with the shortest gap become one. A change in that gap then counts as the worker's, which is the
        // smallest error that a bounded list can make.
        if let Some((at, _)) = gaps.min_by_key(|(_, pair)| gap(pair)) {
            let later = self.0.remove(at + 1);
            let it = &mut self.0[at];
            // Open as long as either of the two is open.
            it.to = it.to.zip(later.to).map(|(one, other)| one.max(other));
            // Joined from two files, it covers any file.
            it.path.take_if(|path| later.path.as_ref() != Some(path));
        }
    }
}

impl Attempt {
    /// When it could change files. Commands are programs of their own: they could at any time.
    pub fn hands(&self) -> Vec<Stretch> {
        if self.intent.agent == SHELL {
            // Commands run without a break, so everything that changes meanwhile is theirs.
            vec![Stretch { from: self.started_at, to: None, path: None }]
        } else {
            self.hands.0.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: u64, to: u64, path: Option<&str>) -> Stretch {
        let to = Some(Millis(to)).filter(|to| to.0 > 0);
        Stretch { from: Millis(from), to, path: path.map(str::to_owned) }
    }

    #[test]
    fn calls_that_overlap_are_one_span_and_the_number_of_spans_is_bounded() {
        let mut hands = Hands::default();
        let nothing = |_: Option<&String>| false;
        hands.begin(Millis(1), None);
        hands.begin(Millis(2), None);
        hands.end(Millis(5), nothing);
        hands.end(Millis(9), nothing);
        assert_eq!(hands.0, [span(1, 5, None)]);
        for number in 1..=HANDS_MAX as u64 {
            hands.begin(Millis(100 * number), None);
            hands.end(Millis(100 * number + 1), nothing);
        }
        assert_eq!(hands.0.len(), HANDS_MAX);
        assert_eq!(hands.0[0], span(1, 101, None), "the least time between them");
    }

    #[test]
    fn a_call_that_names_its_file_reaches_no_other() {
        let (mut hands, a, b) = (Hands::default(), "a".to_owned(), "b".to_owned());
        hands.begin(Millis(1), Some(&a));
        hands.begin(Millis(2), Some(&b));
        hands.begin(Millis(3), None);
        hands.end(Millis(4), |path| path == Some(&b));
        assert_eq!(hands.0, [span(1, 4, Some("a")), span(2, 0, Some("b")), span(3, 4, None)]);
    }

    #[test]
    fn a_call_that_is_told_late_counts_since_it_started() {
        let (mut hands, a, b) = (Hands::default(), "a".to_owned(), "b".to_owned());
        hands.begin(Millis(3), Some(&a));
        hands.begin(Millis(2), Some(&b));
        assert_eq!(hands.0, [span(2, 0, Some("b")), span(3, 0, Some("a"))]);
        hands.begin(Millis(1), Some(&a));
        assert_eq!(hands.0, [span(1, 0, Some("a")), span(2, 0, Some("b"))]);
    }
}
