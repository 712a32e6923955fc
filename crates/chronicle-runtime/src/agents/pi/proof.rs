//! The proof that our extension is in force. It greets with the attempt's nonce when the session starts, after it has put itself
//! before every tool, and before Pi answers any request. The handover waits for that.

use crate::agents::line::alive;
use crate::agents::{MissingProof, Seen};

/// How our extension greets; the nonce follows.
const GREETING: &str = "chronicle:proof ";

/// Waits for the extension. By default nothing is waited for: then only one line is looked at.
#[derive(Default)]
pub(super) struct Proof {
    nonce: String,
    is_awaited: bool,
    /// The handover, until the proof came.
    held: Vec<String>,
    has_begun: bool,
    /// Lines that are to be sent next.
    lines: Vec<String>,
}

impl Proof {
    /// Waits for the extension, and holds the handover back.
    pub(super) fn of(nonce: String, handover: Vec<String>) -> Self {
        Self { nonce, is_awaited: true, held: handover, ..Self::default() }
    }

    /// True once the handover was sent.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// What is missing, if somebody waits for it.
    pub(super) fn unproven(&self) -> Option<MissingProof> {
        let why = || unguarded("it did not load its extension");
        // Other extensions may take their time at the start, and Pi answers nothing before all are done.
        self.is_awaited.then(|| MissingProof { why: why(), is_due: false })
    }

    /// Nobody waits for it any more: what has to be sent.
    pub(super) fn waive(&mut self) -> Vec<String> {
        (self.is_awaited, self.has_begun) = (false, true);
        std::mem::take(&mut self.held)
    }

    pub(super) fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    /// What it means that an extension told something; `None` if that is no greeting.
    pub(super) fn told(&mut self, told: &str) -> Option<Vec<Seen>> {
        let nonce = told.strip_prefix(GREETING)?;
        if !self.is_awaited {
            return Some(alive());
        }
        if nonce != self.nonce {
            let why = unguarded("its extension has the nonce of another attempt");
            return Some(vec![Seen::Unguarded { why }]);
        }
        let handover = self.waive();
        self.lines.extend(handover);
        Some(alive())
    }

    /// It answers requests, so that whatever its extensions do at the start is over.
    pub(super) fn answers(&self) -> Option<Seen> {
        self.unproven().map(|MissingProof { why, .. }| Seen::Unguarded { why })
    }
}

fn unguarded(why: &str) -> String {
    format!("Pi does not let Chronicle judge its tools: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Proof {
        Proof::of("n1".to_owned(), vec!["the handover".to_owned()])
    }

    #[test]
    fn the_handover_waits_for_the_extension() {
        let mut proof = asked();
        assert!(proof.unproven().is_some() && !proof.has_begun() && proof.take_lines().is_empty());
        assert_eq!(proof.told("chronicle:tools {}"), None);
        assert_eq!(proof.told("chronicle:proof n1"), Some(alive()));
        assert_eq!((proof.unproven(), proof.answers()), (None, None));
        assert_eq!(
            (proof.take_lines(), proof.has_begun()),
            (vec!["the handover".to_owned()], true)
        );
        assert_eq!(proof.told("chronicle:proof n1"), Some(alive()), "after a reload");
        assert!(proof.take_lines().is_empty(), "the handover is sent once");
    }

    #[test]
    fn without_the_extension_nothing_is_sent() {
        let mut proof = asked();
        assert!(matches!(
            proof.told("chronicle:proof n2").as_deref(),
            Some([Seen::Unguarded { .. }])
        ));
        assert!(matches!(proof.answers(), Some(Seen::Unguarded { .. })));
        assert!(proof.take_lines().is_empty() && !proof.has_begun());
        assert_eq!(proof.waive(), ["the handover"]);
        assert_eq!((proof.answers(), proof.has_begun()), (None, true));
    }
}
