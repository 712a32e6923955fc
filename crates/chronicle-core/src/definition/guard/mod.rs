//! Rules over an agent's tool calls. They are parsed and checked here; nothing enforces them yet.

mod rules;

pub use rules::{CommandRule, Rules, RulesRead, read_rules};
