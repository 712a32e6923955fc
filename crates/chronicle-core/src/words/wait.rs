//! Words about waits that end by themselves.

use super::{saying, with_agent};
use crate::wait::{WaitBegan, WaitEnded, WaitKind};

/// What is waited for, and until when.
pub(crate) fn wait(began: &WaitBegan) -> String {
    let what = match began.wait_kind {
        WaitKind::Quota => "a new quota",
        WaitKind::Retry => "another try",
    };
    let again = match began.number {
        0 | 1 => String::new(),
        number => format!(", wait {number}"),
    };
    format!("{what} at {}{again}", began.until)
}

pub(super) fn began(began: &WaitBegan) -> String {
    format!("`{}` waits for {}", began.place, self::wait(began))
}

pub(super) fn ended(ended: &WaitEnded) -> String {
    let place = &ended.place;
    match &ended.who {
        None => format!("`{place}` has waited long enough"),
        Some(who) => {
            let with = with_agent(ended.agent.as_deref());
            format!("the wait at `{place}` was cut short{with} by {who}{}", saying(&ended.note))
        }
    }
}
