//! What an attempt waits for that finds no room on its machine.

use super::code;
use crate::event::room::{RoomAwaited, RoomLimit};

/// `waits for room: at most 8 agents work at once on this machine (`machine.agents`)`
pub(crate) fn waits_for_room(limit: &RoomLimit) -> String {
    let (who, setting) = match &limit.agent {
        None if limit.most == 1 => ("1 agent works".to_owned(), "machine.agents".to_owned()),
        None => (format!("{} agents work", limit.most), "machine.agents".to_owned()),
        Some(agent) => {
            let many = if limit.most == 1 { "attempt works" } else { "attempts work" };
            let who = format!("{} {many} with {}", limit.most, code(agent));
            (who, format!("agents.{agent}.at_once"))
        }
    };
    format!("waits for room: at most {who} at once on this machine ({})", code(&setting))
}

pub(super) fn room_awaited(awaited: &RoomAwaited) -> String {
    format!("{} {}", awaited.attempt, waits_for_room(&awaited.limit))
}
