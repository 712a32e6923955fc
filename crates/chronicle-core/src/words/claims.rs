//! Words about what a worker says beyond what the record shows.

use crate::base::quote::list;
use crate::event::claims::Claim;

/// What a worker said and the record does not show; empty when that is nothing.
pub(crate) fn unproven(claims: &[Claim]) -> String {
    let said: Vec<String> = claims.iter().map(claim).collect();
    if said.is_empty() { String::new() } else { format!("not proven: {}", list(&said, "; ")) }
}

pub(super) fn claim(claim: &Claim) -> String {
    match claim {
        Claim::Changed(path) => format!("that `{path}` was changed"),
        Claim::Ran(command) => format!("that `{command}` was run"),
        Claim::Passed(command) => format!("that `{command}` succeeded"),
        Claim::TestsPass => "that tests pass".to_owned(),
    }
}
