//! Secrets of attempts: a signal must carry the secret of its attempt. They live as long as this supervisor, and are on disk only
//! in files that the agent itself reads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chronicle_core::base::ids::AttemptId;
use uuid::Uuid;

/// Secrets of all live attempts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets {
    known: Arc<Mutex<BTreeMap<AttemptId, String>>>,
}

impl Secrets {
    /// A new secret for an attempt, replacing an earlier one.
    pub(crate) fn issue(&self, attempt: AttemptId) -> String {
        let secret = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        self.known().insert(attempt, secret.clone());
        secret
    }

    /// Drops the secrets of attempts that are over.
    pub(crate) fn retain(&self, lives: impl Fn(AttemptId) -> bool) {
        self.known().retain(|attempt, _| lives(*attempt));
    }

    /// The attempt that a secret belongs to. Hashes are compared, so that timing reveals nothing.
    pub(super) fn attempt(&self, secret: &str) -> Option<AttemptId> {
        // Sums are compared in constant time, so that the answer's timing does not reveal how much of a guess was right.
        let said = blake3::hash(secret.as_bytes());
        let known = self.known();
        let found = known.iter().find(|(_, known)| blake3::hash(known.as_bytes()) == said);
        found.map(|(attempt, _)| *attempt)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<AttemptId, String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attempt_has_its_own_for_as_long_as_it_lives() {
        let secrets = Secrets::default();
        let (one, two) = (secrets.issue(AttemptId(1)), secrets.issue(AttemptId(2)));
        assert!(one.len() == 64 && one != two);
        assert_eq!(secrets.attempt(&one), Some(AttemptId(1)));
        assert_eq!(secrets.attempt(&two), Some(AttemptId(2)));
        assert_eq!(secrets.attempt(""), None);
        secrets.retain(|attempt| attempt == AttemptId(2));
        assert_eq!((secrets.attempt(&one), secrets.attempt(&two)), (None, Some(AttemptId(2))));
    }
}
