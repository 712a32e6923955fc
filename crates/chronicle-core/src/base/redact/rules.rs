//! The rules of `rules.yaml`, ready to search with.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};
use serde::Deserialize;

use super::looks;

/// Where a word begins: at the start, behind a sign that no key has in it, or behind an escape as JSON writes it.
const LEFT: &str = r"(?:\A|[^A-Za-z0-9_]|\\[nrtbf])";
/// The group of a rule's expression that is the secret.
const SECRET: &str = "secret";
/// The group of the whole rule, where nothing smaller is the secret.
const WHOLE: &str = "whole";

/// The file, as it is written.
#[derive(Deserialize)]
struct File {
    rule: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[cfg_attr(not(test), expect(dead_code, reason = "names the rule for whoever reads the file"))]
    id: String,
    regex: String,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    keywords_any_case: Vec<String>,
    #[serde(default)]
    anywhere: bool,
    #[serde(default)]
    check: Check,
}

/// What must hold beside the shape.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Check {
    #[default]
    Plain,
    Random,
    Strong,
    Assigned,
    Basic,
    Address,
}

struct Rule {
    regex: Regex,
    check: Check,
}

/// Every rule, and one search for the keywords of all of them: most texts have none.
pub(super) struct Rules {
    keywords: RegexSet,
    rules: Vec<Rule>,
}

/// Without rules nothing could be trusted to have no secrets, so a file that cannot be read is `None`; a test reads it.
pub(super) static RULES: LazyLock<Option<Rules>> = LazyLock::new(|| {
    let file: File = serde_saphyr::from_str(include_str!("rules.yaml")).ok()?;
    let keywords = RegexSet::new(file.rule.iter().map(keywords)).ok()?;
    let rules: Option<Vec<Rule>> = file.rule.iter().map(Rule::new).collect();
    Some(Rules { keywords, rules: rules? })
});

fn keywords(rule: &Written) -> String {
    let escaped = |list: &[String]| list.iter().map(|it| regex::escape(it)).collect::<Vec<_>>();
    let mut all = escaped(&rule.keywords);
    all.extend(escaped(&rule.keywords_any_case).iter().map(|it| format!("(?i:{it})")));
    all.join("|")
}

impl Rule {
    fn new(written: &Written) -> Option<Self> {
        let left = if written.anywhere { "" } else { LEFT };
        let regex = Regex::new(&format!("{left}(?P<{WHOLE}>{})", written.regex)).ok()?;
        Some(Self { regex, check: written.check })
    }

    fn find(&self, text: &str, found: &mut Vec<Range<usize>>) {
        for captures in self.regex.captures_iter(text) {
            let secret = captures.name(SECRET).or_else(|| captures.name(WHOLE));
            let name = captures.name("name").map_or("", |name| name.as_str());
            found.extend(
                secret.filter(|it| self.check.holds(name, it.as_str())).map(|it| it.range()),
            );
        }
    }
}

impl Check {
    fn holds(self, name: &str, secret: &str) -> bool {
        match self {
            Self::Plain => !looks::is_placeholder(secret),
            Self::Random => looks::is_random(secret),
            Self::Strong => looks::is_strong(secret),
            Self::Assigned => looks::is_assigned(secret),
            Self::Basic => looks::is_basic(secret),
            Self::Address => looks::is_password(name, secret),
        }
    }
}

impl Rules {
    /// Whether a text has a keyword of any rule.
    pub(super) fn may_match(&self, text: &str) -> bool {
        self.keywords.is_match(text)
    }

    /// Where secrets stand in a text.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Range<usize>>) {
        for index in &self.keywords.matches(text) {
            if let Some(rule) = self.rules.get(index) {
                rule.find(text, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_can_be_read() {
        let file: Result<File, _> = serde_saphyr::from_str(include_str!("rules.yaml"));
        for rule in file.unwrap_or_else(|error| panic!("{error}")).rule {
            let (id, regex) = (rule.id.clone(), rule.regex.clone());
            assert!(!rule.keywords.is_empty() || !rule.keywords_any_case.is_empty(), "{id}");
            assert!(Rule::new(&rule).is_some(), "{id}: {regex}");
        }
        assert!(RULES.is_some());
    }
}
