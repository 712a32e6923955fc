//! Rules over an agent's tool calls, as people write them: read, checked and combined. `crate::guard` judges calls by them.

mod frozen;
mod in_force;
mod pattern;
mod relaxed;
mod rules;

pub use frozen::{FrozenRules, RuleFile};
pub use in_force::{BUILT_IN_NAME, built_in};
pub use pattern::{Found, Pattern};
pub use rules::{CommandRule, PathRule, RuleAt, Rules, RulesRead, read_rules};
