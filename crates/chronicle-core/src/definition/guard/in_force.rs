//! Which rules hold: how the files of a project, those of the user and the built-in set combine.

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

/// The rules that hold for a run, each set by itself: in one set the first command rule that matches decides, among sets the strictest.
///
/// The project's files replace the user's as a whole. The built-in rules stay unless the user's own settings say otherwise, so
/// nothing in a project can weaken them.
pub fn in_force(project: &[Rules], user: &[Rules], with_built_in: bool) -> Vec<Rules> {
    let own = if project.is_empty() { user } else { project };
    let built_in = with_built_in.then(built_in);
    own.iter().cloned().chain(built_in).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::guard::Pattern;

    fn one(path: &str) -> Rules {
        let text = format!("zeroAccessPaths: [{path}]");
        let source = Source { file: None, name: path.to_owned(), key: String::new(), text };
        read_rules(&source).rules
    }

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

    #[test]
    fn the_projects_rules_replace_the_users_and_the_built_in_ones_stay() {
        let names = |rules: Vec<Rules>| -> Vec<String> {
            rules.iter().map(|rules| rules.zero_access[0].at.file.clone()).collect()
        };
        let (project, user) = ([one("p")], [one("u")]);
        assert_eq!(names(in_force(&project, &user, true)), ["p", BUILT_IN_NAME]);
        assert_eq!(names(in_force(&[], &user, true)), ["u", BUILT_IN_NAME]);
        assert_eq!(names(in_force(&[], &user, false)), ["u"]);
        assert_eq!(names(in_force(&[], &[], true)), [BUILT_IN_NAME]);
        // A project's file without rules still replaces the user's.
        let none = [Rules::default()];
        assert_eq!(in_force(&none, &user, false).iter().map(Rules::count).sum::<usize>(), 0);
    }
}
