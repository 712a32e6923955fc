//! The rules that Chronicle brings.

use super::rules::{Rules, read_rules};
use crate::definition::workflow::Source;

/// The built-in rules, in the same dialect as everybody's.
pub(super) const BUILT_IN: &str = include_str!("builtin.yaml");
/// What the built-in rules are called where a file would be named.
pub const BUILT_IN_NAME: &str = "built-in rules";

/// The rules that Chronicle brings.
pub fn built_in() -> Rules {
    let source = Source {
        file: None,
        name: BUILT_IN_NAME.to_owned(),
        key: "builtin".to_owned(),
        text: BUILT_IN.to_owned(),
    };
    read_rules(&source).rules
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::guard::Pattern;

    #[test]
    fn the_built_in_rules_are_sound_and_say_where_they_are() {
        let text = BUILT_IN.to_owned();
        let name = BUILT_IN_NAME.to_owned();
        let read = read_rules(&Source { file: None, name, key: String::new(), text });
        assert_eq!(read.problems, []);
        let rules = built_in();
        assert!(rules.count() > 50, "{}", rules.count());
        for rule in &rules.commands {
            assert!(!rule.reason.is_empty(), "{}", rule.pattern);
            let compiled = Pattern::compile(&rule.pattern);
            assert!(compiled.is_ok(), "{}: {compiled:?}", rule.pattern);
            let line = BUILT_IN.lines().nth(rule.at.line - 1).unwrap_or_default();
            assert!(line.contains("pattern:"), "{}: {line}", rule.at.line);
        }
    }
}
