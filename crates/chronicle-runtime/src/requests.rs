//! Ids of workers' calls. A repeated call has the same id and gets the same answer; another call with a known id would get the
//! answer of the first and be lost.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::signal::Signal;

/// How many calls are remembered. An attempt makes few, and only its own ids matter.
const CALLS_MAX: usize = 4_096;

/// What each id was used for, as long as this supervisor lives: no attempt lives longer. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Requests {
    known: Arc<Mutex<VecDeque<KnownRequest>>>,
}

#[derive(Debug)]
struct KnownRequest {
    attempt: AttemptId,
    request: String,
    content: blake3::Hash,
}

impl Requests {
    /// Remembers a call. Refuses an id that another call of this attempt has.
    pub(crate) fn check(
        &self,
        attempt: AttemptId,
        request: &str,
        signal: &Signal,
    ) -> Result<(), String> {
        // Only a sum is kept: arguments may be long, and all that matters is whether they are the same.
        let content = blake3::hash(format!("{signal:?}").as_bytes());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.iter().find(|it| it.attempt == attempt && it.request == request);
        match before {
            // A repetition is passed on: the engine has its answer.
            Some(before) if before.content == content => Ok(()),
            Some(_) => Err(format!(
                "`{request}` is the id of another call of yours: nothing was done. Give each call an id of its own"
            )),
            None => {
                if known.len() >= CALLS_MAX {
                    known.pop_front();
                }
                known.push_back(KnownRequest { attempt, request: request.to_owned(), content });
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_means_one_call_of_one_attempt() {
        let requests = Requests::default();
        let summary = |text: &str| Signal::Cancel { summary: text.to_owned() };
        let check = |attempt, signal: &Signal| requests.check(AttemptId(attempt), "r1", signal);
        assert_eq!(check(1, &summary("x")), Ok(()));
        assert_eq!(check(1, &summary("x")), Ok(()), "the same call again");
        assert_eq!(check(2, &summary("y")), Ok(()), "another attempt's");
        assert!(
            check(1, &summary("y"))
                .is_err_and(|why| why.contains("`r1` is the id of another call"))
        );
    }
}
